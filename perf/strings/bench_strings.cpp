// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Searches for one pattern in a text, on every backend of this Kokkos: 2^30 bytes on devices, 2^26
// on hosts. Rows are in bytes of the text; reduce is the sum of as many bytes as words of 8, the
// bound of what reads a text once. Peers on one core count: memmem and std::string_view::find from
// match to match, naive compares at every byte; Hyperscan or Vectorscan where installed.

#include "string_texts.hpp"
#include <lanewise/host.hpp>
#include <lanewise/strings/mismatch_search.hpp>
#include <lanewise/strings/search_stream.hpp>
#include <lanewise/strings/string_search.hpp>

#if defined(LANEWISE_PERF_HYPERSCAN)
#include "hyperscan.hpp"
#endif

#include <cstring>
#include <string>
#include <string_view>

namespace lanewise::perf {
namespace {

enum class wanted { all, bitmap, number, first, last };

struct text_point {
  std::string kind;
  std::int64_t m;
  std::int64_t n;
};

template <class Exec, wanted what>
struct text_problem {
  using exec_space = Exec;
  using item = char;
  using memory = typename Exec::memory_space;

  Exec exec{};
  std::int64_t n;
  std::string part;
  std::string bytes_of_pattern;
  array<Exec, char> text{Kokkos::view_alloc("perf::text", Kokkos::WithoutInitializing),
                         static_cast<std::size_t>(n)};
  pattern<memory> searched;
  Kokkos::View<std::int64_t, memory> result{"perf::result"};
  array<Exec, std::int64_t> places;
  array<Exec, std::uint32_t> bits;
  workspace work;

  explicit text_problem(const text_point& p)
      : n(p.n),
        part(text_of(p.kind, std::size_t{1} << 22, static_cast<std::size_t>(p.m))),  // repeated
        bytes_of_pattern(pattern_of(p.kind, part, static_cast<std::size_t>(p.m))),
        searched(bytes_of_pattern) {
    const Kokkos::View<const char*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> from(part.data(),
                                                                                     part.size());
    for (std::int64_t at = 0; at < n; at += static_cast<std::int64_t>(part.size()))
      Kokkos::deep_copy(Kokkos::subview(text, Kokkos::make_pair(at, at + std::int64_t{1 << 22})),
                        from);
    if (what == wanted::first) {
      // Once, at the end: all of the text is looked at.
      Kokkos::deep_copy(text, '\1');
      Kokkos::deep_copy(
          Kokkos::subview(text, Kokkos::make_pair(n - p.m, n)),
          Kokkos::subview(from, Kokkos::make_pair(std::int64_t{1'234'567}, 1'234'567 + p.m)));
    }
    if (what == wanted::all) Kokkos::realloc(places, static_cast<std::size_t>(expected()));
    if (what == wanted::bitmap) Kokkos::realloc(bits, static_cast<std::size_t>(n / 32));
  }
  static std::vector<text_point> points() {
    const std::int64_t n = std::int64_t{1} << (on_host<Exec> ? 26 : 30);
    std::vector<text_point> all;
    for (const char* kind : {"english", "dna", "random"})
      for (const std::int64_t m : {1, 4, 16, 64, 1024, 65536})
        if (what == wanted::all || m == (what == wanted::last ? 1 : 16))
          all.push_back({kind, m, n});
    // What makes other searches slow, in a quarter of the bytes.
    for (const char* kind : {"a_b_end", "a_b_mid", "match_all", "period3", "thue_morse"})
      for (const std::int64_t m : {16, 64, 1024})
        if (what == wanted::all || (what == wanted::number && m == 16))
          all.push_back({kind, m, n / 4});
    for (const char* kind : {"short_runs_a", "short_runs_ab"})
      for (const std::int64_t m : {10, 16, 64, 1024})
        if (what == wanted::all || what == wanted::number) all.push_back({kind, m, n / 4});
    return all;
  }
  static row name(const text_point& p) {
    const std::string call = what == wanted::all      ? "find_all"
                             : what == wanted::bitmap ? "find_bitmap"
                             : what == wanted::number ? "count"
                             : what == wanted::last   ? "find_last"
                                                      : "find_first";
    return {call + ".m" + std::to_string(p.m), backend_name<Exec>(), "", "u8", p.kind, p.n};
  }
  /// The text, and the results.
  std::int64_t bytes() const {
    return n + static_cast<std::int64_t>(8 * places.extent(0) + 4 * bits.extent(0));
  }
  std::int64_t expected() const {
    if (what == wanted::first) return n - static_cast<std::int64_t>(bytes_of_pattern.size());
    if (what == wanted::last)
      return n - static_cast<std::int64_t>(part.size() - part.rfind(bytes_of_pattern));
    // In the text that is repeated, and over its end.
    const std::string twice = part + part.substr(0, bytes_of_pattern.size() - 1);
    std::int64_t whole = 0, last = 0;
    for (auto at = twice.find(bytes_of_pattern); at != std::string::npos;
         at = twice.find(bytes_of_pattern, at + 1)) {
      ++whole;
      if (at + bytes_of_pattern.size() <= part.size()) ++last;
    }
    return whole * (n / static_cast<std::int64_t>(part.size()) - 1) + last;
  }
  bool correct() const {
    if (what == wanted::bitmap) {
      const auto all = bits;
      return sum<std::int64_t>(exec, n / 32, bits_of{all}) == expected();
    }
    std::int64_t found = 0;
    Kokkos::deep_copy(found, result);
    return found == expected();
  }
  struct bits_of {
    array<Exec, std::uint32_t> bits;
    KOKKOS_FUNCTION std::int64_t operator()(std::int64_t i) const {
      std::int64_t n = 0;
      for (std::uint32_t w = bits(i); w != 0; w &= w - 1) ++n;
      return n;
    }
  };
};

/// A text that comes in 16 chunks: of 2^26 bytes on devices.
template <class Exec>
struct stream_problem : text_problem<Exec, wanted::all> {
  using base = text_problem<Exec, wanted::all>;
  search_stream<typename base::memory> stream{base::searched};

  using base::base;
  static std::vector<text_point> points() {
    std::vector<text_point> all = base::points();
    std::erase_if(all, [](const text_point& p) {
      return p.m != 16 || (p.kind != "english" && p.kind != "dna" && p.kind != "random");
    });
    return all;
  }
  static row name(const text_point& p) {
    row all = base::name(p);
    all.algorithm = "search_stream.m16";
    return all;
  }
  /// Calls push(chunk) for the chunks of the text.
  template <class Push>
  void push_chunks(Push push) {
    const std::int64_t chunk = base::n / 16;
    stream.reset();
    for (std::int64_t at = 0; at < base::n; at += chunk)
      push(Kokkos::subview(base::text, Kokkos::make_pair(at, at + chunk)));
  }
};

/// 32 bytes: two may differ. The bytes of the text that is repeated are there as they are.
template <class Exec>
struct mismatch_problem : text_problem<Exec, wanted::all> {
  using base = text_problem<Exec, wanted::all>;
  mismatch_pattern<typename base::memory> near{base::bytes_of_pattern, 2};

  using base::base;
  static std::vector<text_point> points() {
    std::vector<text_point> all;
    for (const char* kind : {"english", "dna", "random"})
      all.push_back({kind, 32, std::int64_t{1} << (on_host<Exec> ? 26 : 30)});
    return all;
  }
  static row name(const text_point& p) {
    row all = base::name(p);
    all.algorithm = "find_mismatches.m32k2";
    return all;
  }
};

template <class Exec>
void add_searches() {
  add_read_rate<Exec>();
  add<text_problem<Exec, wanted::all>>("lanewise", [](auto& p, auto time) {
    time([&] { find_all(p.exec, p.text, p.searched, p.places, p.result, {.work = &p.work}); });
  });
  add<mismatch_problem<Exec>>("lanewise", [](auto& p, auto time) {
    time([&] { find_mismatches(p.exec, p.text, p.near, p.places, p.result, {.work = &p.work}); });
  });
  add<stream_problem<Exec>>("lanewise", [](auto& p, auto time) {
    time([&] {
      p.push_chunks([&](const auto& chunk) {
        p.stream.find_all(p.exec, chunk, p.places, p.result, {.work = &p.work});
      });
    });
  });
  add<stream_problem<Exec>>("lanewise.count", [](auto& p, auto time) {
    time([&] {
      p.push_chunks([&](const auto& chunk) { p.stream.count(p.exec, chunk, p.result); });
    });
  });
  add<text_problem<Exec, wanted::bitmap>>("lanewise", [](auto& p, auto time) {
    time([&] { find_bitmap(p.exec, p.text, p.searched, p.bits, {.work = &p.work}); });
  });
  add<text_problem<Exec, wanted::number>>("lanewise", [](auto& p, auto time) {
    time([&] { count(p.exec, p.text, p.searched, p.result, {.work = &p.work}); });
  });
  add<text_problem<Exec, wanted::first>>("lanewise", [](auto& p, auto time) {
    time([&] { find_first(p.exec, p.text, p.searched, p.result); });
  });
  add<text_problem<Exec, wanted::last>>("lanewise", [](auto& p, auto time) {
    time([&] { find_last(p.exec, p.text, p.searched, p.result); });
  });
}

#if defined(KOKKOS_ENABLE_SERIAL)
/// Counts from match to match, by a function that finds the next one.
template <class Next>
auto count_by(Next next) {
  return [next](auto& p, auto time) {
    time([&] {
      const char *at = p.text.data(), *const end = at + p.n;
      std::int64_t found = 0;
      while ((at = next(at, end, p.bytes_of_pattern)) != nullptr) ++found, ++at;
      p.result() = found;
    });
  };
}
#if defined(LANEWISE_PERF_HYPERSCAN)
struct hyperscan_problem : text_problem<Kokkos::Serial, wanted::all> {
  using text_problem::text_problem;
  static std::vector<text_point> points() {
    std::vector<text_point> all = text_problem::points();
    std::erase_if(all, [](const text_point& p) {
      return p.m > static_cast<std::int64_t>(hyperscan_literals::most_bytes);
    });
    return all;
  }
};
#endif
void add_peers() {
  using problem = text_problem<Kokkos::Serial, wanted::all>;
  add<problem>("memmem", count_by([](const char* at, const char* end, const std::string& pattern) {
                 return static_cast<const char*>(memmem(at, static_cast<std::size_t>(end - at),
                                                        pattern.data(), pattern.size()));
               }));
  add<problem>("std", count_by([](const char* at, const char* end, const std::string& pattern) {
                 const auto found =
                     std::string_view(at, static_cast<std::size_t>(end - at)).find(pattern);
                 return found == std::string_view::npos ? nullptr : at + found;
               }));
  add<problem>("naive", count_by([](const char* at, const char* end, const std::string& pattern) {
                 const auto m = static_cast<std::ptrdiff_t>(pattern.size());
                 while (end - at >= m && std::memcmp(at, pattern.data(), pattern.size()) != 0) ++at;
                 return end - at >= m ? at : nullptr;
               }));
#if defined(LANEWISE_PERF_HYPERSCAN)
  add<hyperscan_problem>(hyperscan_name, [](auto& p, auto time) {
    const hyperscan_literals literals({p.bytes_of_pattern});
    time([&] { p.result() = literals.count(p.text.data(), p.n); });
  });
#endif
}
#endif

}  // namespace
}  // namespace lanewise::perf

int main(int argc, char** argv) {
  using namespace lanewise::perf;
  Kokkos::ScopeGuard kokkos(argc, argv);
  for_each_backend([](auto exec) { add_searches<decltype(exec)>(); });
#if defined(KOKKOS_ENABLE_SERIAL)
  add_peers();
#endif
  return run(argc, argv);
}
