// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The systems of Ashkiani's dissertation, chapter 2, beside the library's search, on every backend
// of this Kokkos: its tables 2.2 (bits1), 2.3 (bits8), 2.4 (bits1 to bits8) and 2.5 to 2.7 (texts
// that stand for enwik8, E. coli and proteins), in the order of their places.

#include "strings/string_texts.hpp"
#include <lanewise/host.hpp>
#include <lanewise/papers/string_search_by_fingerprints.hpp>

#include <map>
#include <tuple>

namespace lanewise::perf {
namespace {

namespace by = lanewise::papers::by_fingerprints;

struct fingerprint_point {
  std::string kind;
  std::int64_t m;
  std::int64_t n;

  bool is_real() const { return !kind.starts_with("bits"); }
  int bits() const { return is_real() ? 8 : kind.back() - '0'; }
  bool operator<(const fingerprint_point& other) const {
    return std::tie(kind, m, n) < std::tie(other.kind, other.m, other.n);
  }
};

/// Texts are made once, and so are the numbers of matches. 2^22 bytes are repeated.
const std::string& shared_text(const fingerprint_point& p) {
  static std::string text, kind;
  if (kind != p.kind || text.size() != static_cast<std::size_t>(p.n)) {
    text = text_of(p.kind, std::size_t{1} << 22);
    const std::string part = text;
    while (text.size() < static_cast<std::size_t>(p.n)) text += part;
    text.resize(static_cast<std::size_t>(p.n));
    kind = p.kind;
  }
  return text;
}
std::string pattern_of(const fingerprint_point& p) {
  return shared_text(p).substr(1'234'567, static_cast<std::size_t>(p.m));
}
std::int64_t number_of_matches(const fingerprint_point& p) {
  static std::map<fingerprint_point, std::int64_t> numbers;
  const auto [number, is_new] = numbers.try_emplace(p, 0);
  if (is_new) {
    const std::string &text = shared_text(p), pattern = pattern_of(p);
    for (auto at = text.find(pattern); at != std::string::npos; at = text.find(pattern, at + 1))
      ++number->second;
  }
  return number->second;
}

// Variants: which points they take, and the policy. is_exact: they find matches alone.

struct library {};
struct by_default {
  static constexpr const char* name = "lanewise";
  static constexpr bool is_exact = true;
  static bool takes(const fingerprint_point&) { return true; }
  static auto policy(int) { return library{}; }
};
bool drk_takes(const fingerprint_point& p) {
  return p.is_real() || p.kind == "bits1" || p.kind == "bits8";
}
struct srk {
  static constexpr const char* name = "lanewise.srk";
  static constexpr bool is_exact = false;
  /// Hosts alone: other texts are longer.
  static bool takes(const fingerprint_point& p) { return drk_takes(p) && p.n == 1 << 22; }
  static auto policy(int bits) { return by::sequential{.bits = bits}; }
};
struct crk {
  static constexpr const char* name = "lanewise.crk";
  static constexpr bool is_exact = false;
  static bool takes(const fingerprint_point& p) {
    return (p.kind == "bits1" || p.kind == "bits8") && p.n <= (1 << 25);
  }
  static auto policy(int bits) { return by::cooperative{.bits = bits}; }
};
struct crk_recurrence : crk {
  static constexpr const char* name = "lanewise.crk_recurrence";
  static auto policy(int bits) { return by::recurrence{.bits = bits}; }
};
struct drk {
  static constexpr const char* name = "lanewise.drk";
  static constexpr bool is_exact = false;
  static bool takes(const fingerprint_point& p) { return drk_takes(p); }
  static auto policy(int bits) { return by::divided{.bits = bits}; }
};
template <int width>
struct wom {
  static constexpr const char* name = width == 32 ? "lanewise.wom32" : "lanewise.wom64";
  static constexpr bool is_exact = true;
  static bool takes(const fingerprint_point& p) { return drk_takes(p) && p.m * p.bits() <= width; }
  static auto policy(int bits) { return by::exact<width>{.bits = bits}; }
};
struct hrk {
  static constexpr const char* name = "lanewise.hrk";
  static constexpr bool is_exact = false;
  static bool takes(const fingerprint_point& p) {
    return crk::takes(p) && p.m <= by::hybrid::most_letters;
  }
  static auto policy(int bits) { return by::hybrid{.bits = bits}; }
};
struct drk2s {
  static constexpr const char* name = "lanewise.drk2s";
  static constexpr bool is_exact = true;
  static bool takes(const fingerprint_point&) { return true; }
  static auto policy(int bits) { return by::two_stage{.bits = bits}; }
};
struct drk2s_128 : drk2s {
  static constexpr const char* name = "lanewise.drk2s_128";
  static bool takes(const fingerprint_point& p) { return p.m > 8 && p.bits() == 8; }
  static auto policy(int bits) { return by::two_stage{.bits = bits, .chunk = 128}; }
};
struct drk2s_hash : drk2s {
  static constexpr const char* name = "lanewise.drk2s_hash";
  static bool takes(const fingerprint_point& p) { return drk2s_128::takes(p); }
  static auto policy(int bits) { return by::two_stage{.bits = bits, .by_hash = true}; }
};
/// The places of a lane; 28 is the default.
template <int g>
struct drk2s_by : drk2s {
  static constexpr const char* name = g == 12   ? "lanewise.drk2s_g12"
                                      : g == 20 ? "lanewise.drk2s_g20"
                                      : g == 36 ? "lanewise.drk2s_g36"
                                                : "lanewise.drk2s_g44";
  static bool takes(const fingerprint_point& p) {
    return p.kind == "bits8" && (p.m == 4 || p.m == 16);
  }
  static auto policy(int bits) { return by::two_stage{.bits = bits, .places_of_lane = g}; }
};

/// The windows of a team.
template <int windows>
struct drk2s_windows : drk2s_by<12> {
  static constexpr const char* name = windows == 8    ? "lanewise.drk2s_w8"
                                      : windows == 16 ? "lanewise.drk2s_w16"
                                                      : "lanewise.drk2s_w32";
  static auto policy(int bits) { return by::two_stage{.bits = bits, .windows = windows}; }
};

template <class Exec, class Variant>
struct fingerprint_problem {
  using exec_space = Exec;
  using item = char;
  using memory = typename Exec::memory_space;

  Exec exec{};
  fingerprint_point point;
  std::int64_t n = point.n;
  std::string bytes_of_pattern = pattern_of(point);
  std::int64_t expected = number_of_matches(point);
  array<Exec, char> text{Kokkos::view_alloc("perf::text", Kokkos::WithoutInitializing),
                         static_cast<std::size_t>(n)};
  Kokkos::View<std::int64_t, memory> result{"perf::result"};
  /// With room for what is no match.
  array<Exec, std::int64_t> places{"perf::places", static_cast<std::size_t>(expected + 1000)};
  workspace work;

  explicit fingerprint_problem(const fingerprint_point& p) : point(p) {
    const std::string& from = shared_text(p);
    Kokkos::deep_copy(text, Kokkos::View<const char*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                                from.data(), from.size()));
  }
  static std::vector<fingerprint_point> points() {
    const std::int64_t n = std::int64_t{1} << (on_host<Exec> ? 22 : 25);
    std::vector<fingerprint_point> all;
    for (int bits = 1; bits <= 8; ++bits)
      for (const std::int64_t m : {4, 8, 16, 32, 64, 256, 1024})
        all.push_back({"bits" + std::to_string(bits), m, n});
    // Beyond the caches.
    for (const std::int64_t m : {4, 16, 1024})
      if (!on_host<Exec>) all.push_back({"bits8", m, std::int64_t{1} << 28});
    // As many bytes as the paper's texts have.
    for (const std::int64_t m : {4, 8, 16, 32, 64, 256, 1024}) {
      all.push_back({"english", m, 100'000'000});
      all.push_back({"dna", m, 4'638'690});
      all.push_back({"protein", m, 3'295'751});
    }
    std::vector<fingerprint_point> taken;
    for (const auto& p : all)
      if (Variant::takes(p)) taken.push_back(p);
    return taken;
  }
  static row name(const fingerprint_point& p) {
    return {"find_all.m" + std::to_string(p.m), backend_name<Exec>(), "", "u8", p.kind, p.n};
  }
  /// The text, and the results.
  std::int64_t bytes() const { return n + 8 * expected; }
  bool correct() const {
    std::int64_t found = 0;
    Kokkos::deep_copy(found, result);
    return Variant::is_exact ? found == expected : found >= expected && found < expected + 1000;
  }
};

template <class Problem, class Time>
void time_search(Problem& p, const Time& time, const library&) {
  const pattern<typename Problem::memory> searched(p.bytes_of_pattern);
  time([&] { find_all(p.exec, p.text, searched, p.places, p.result, {.work = &p.work}); });
}
template <class Problem, class Time, class Policy>
void time_search(Problem& p, const Time& time, const Policy& how) {
  const by::pattern<typename Problem::memory, Policy> searched(p.bytes_of_pattern, how);
  time([&] { by::find_all(p.exec, p.text, searched, p.places, p.result, {.work = &p.work}); });
}

template <class Exec, class Variant>
void add_variant() {
  add<fingerprint_problem<Exec, Variant>>(Variant::name, [](auto& p, auto time) {
    time_search(p, time, Variant::policy(p.point.bits()));
  });
}

template <class Exec>
void add_systems() {
  add_variant<Exec, by_default>();
  add_variant<Exec, srk>();
  add_variant<Exec, crk>();
  add_variant<Exec, crk_recurrence>();
  add_variant<Exec, drk>();
  add_variant<Exec, wom<32>>();
  add_variant<Exec, wom<64>>();
  add_variant<Exec, hrk>();
  add_variant<Exec, drk2s>();
  add_variant<Exec, drk2s_128>();
  add_variant<Exec, drk2s_hash>();
  add_variant<Exec, drk2s_by<12>>();
  add_variant<Exec, drk2s_by<20>>();
  add_variant<Exec, drk2s_by<36>>();
  add_variant<Exec, drk2s_by<44>>();
  add_variant<Exec, drk2s_windows<8>>();
  add_variant<Exec, drk2s_windows<16>>();
  add_variant<Exec, drk2s_windows<32>>();
}

}  // namespace
}  // namespace lanewise::perf

int main(int argc, char** argv) {
  using namespace lanewise::perf;
  Kokkos::ScopeGuard kokkos(argc, argv);
  for_each_backend([](auto exec) { add_systems<decltype(exec)>(); });
  return run(argc, argv);
}
