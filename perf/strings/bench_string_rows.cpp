// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Searches for a pattern of 16 bytes in rows of a text, on every backend of this Kokkos: 2^30 bytes
// on devices, 2^26 on hosts, of words of letters. Rows are in bytes of the text; own bytes are
// those, the offsets of 4 bytes and the results. len32 and len1024: lengths are uniform from 0 to
// twice the mean; skew: 1 % of the rows have 16 KiB, the others as len32; even: all have skew's
// mean. reduce is the sum of as many bytes as words of 8.

#include "string_texts.hpp"
#include <lanewise/host.hpp>
#include <lanewise/strings/string_rows.hpp>

#include <algorithm>
#include <string>

namespace lanewise::perf {
namespace {

constexpr std::int64_t part_bytes = std::int64_t{1} << 22;

/// A text that is repeated.
std::string part_of_text() {
  std::string text;
  for (std::uint64_t i = 0; static_cast<std::int64_t>(text.size()) < part_bytes; ++i) {
    const std::uint64_t word = hash(i) % 20'000;
    for (std::uint64_t k = 0; k < 1 + hash(word) % 9; ++k)
      text += static_cast<char>('a' + hash(100 * word + k + 1) % 26);
    text += ' ';
  }
  text.resize(static_cast<std::size_t>(part_bytes));
  return text;
}

struct rows_point {
  std::string kind;
  std::int64_t n;
};

std::vector<std::int32_t> offsets_of(const rows_point& p) {
  std::vector<std::int32_t> offsets{0};
  for (std::uint64_t r = 0; offsets.back() < p.n - 1; ++r) {
    std::int64_t length = static_cast<std::int64_t>(hash(r) % (p.kind == "len1024" ? 2049 : 65));
    if (p.kind == "even") length = 196;
    if (p.kind == "skew" && hash(r + 1) % 100 == 0) length = 16384;
    offsets.push_back(static_cast<std::int32_t>(std::min(p.n - 1, offsets.back() + length)));
  }
  return offsets;
}

template <class Exec, bool counts>
struct rows_problem {
  using exec_space = Exec;
  using item = char;
  using memory = typename Exec::memory_space;
  using result = std::conditional_t<counts, std::int32_t, std::uint8_t>;

  Exec exec{};
  std::int64_t n;
  std::string part = part_of_text();
  std::string bytes_of_pattern = part.substr(1'234'567, 16);
  std::vector<std::int32_t> host_offsets;
  array<Exec, char> text{Kokkos::view_alloc("perf::text", Kokkos::WithoutInitializing),
                         static_cast<std::size_t>(n)};
  array<Exec, std::int32_t> offsets{"perf::offsets", host_offsets.size()};
  array<Exec, result> out{"perf::out", host_offsets.size() - 1};
  pattern<memory> searched{bytes_of_pattern};
  workspace work;

  explicit rows_problem(const rows_point& p) : n(p.n), host_offsets(offsets_of(p)) {
    const Kokkos::View<const char*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> from(part.data(),
                                                                                     part.size());
    for (std::int64_t at = 0; at < n; at += part_bytes)
      Kokkos::deep_copy(Kokkos::subview(text, Kokkos::make_pair(at, at + part_bytes)), from);
    Kokkos::deep_copy(offsets,
                      Kokkos::View<const std::int32_t*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                          host_offsets.data(), host_offsets.size()));
  }
  static std::vector<rows_point> points() {
    const std::int64_t n = std::int64_t{1} << (on_host<Exec> ? 26 : 30);
    if (counts) return {{"len32", n}, {"len1024", n}};
    return {{"len32", n}, {"len1024", n}, {"skew", n}, {"even", n}};
  }
  static row name(const rows_point& p) {
    return {(counts ? "rows_count." : "rows_contains.") + p.kind,
            backend_name<Exec>(),
            "",
            "u8",
            "words",
            p.n};
  }
  std::int64_t bytes() const {
    return n + static_cast<std::int64_t>(4 * offsets.extent(0) + sizeof(result) * out.extent(0));
  }
  /// The number of occurrences that lie in rows, or of rows that have one.
  std::int64_t expected() const {
    const std::string twice = part + part.substr(0, bytes_of_pattern.size() - 1);
    const auto m = static_cast<std::int64_t>(bytes_of_pattern.size());
    std::int64_t number = 0, before = -1;
    for (std::int64_t first = 0; first < n; first += part_bytes) {
      for (auto at = twice.find(bytes_of_pattern); at != std::string::npos;
           at = twice.find(bytes_of_pattern, at + 1)) {
        const std::int64_t place = first + static_cast<std::int64_t>(at);
        const auto end = std::upper_bound(host_offsets.begin(), host_offsets.end(), place);
        if (end == host_offsets.end() || place + m > *end) continue;
        const std::int64_t row = end - host_offsets.begin();
        number += counts || row != before ? 1 : 0;
        before = row;
      }
    }
    return number;
  }
  bool correct() const {
    const auto all = out;
    return sum<std::int64_t>(exec, static_cast<std::int64_t>(all.extent(0)), results_of{all}) ==
           expected();
  }
  struct results_of {
    array<Exec, result> out;
    KOKKOS_FUNCTION std::int64_t operator()(std::int64_t i) const { return out(i); }
  };
};

template <class Exec>
void add_rows() {
  add_read_rate<Exec>();
  add<rows_problem<Exec, false>>("lanewise", [](auto& p, auto time) {
    const string_rows rows(p.text, p.offsets);
    time([&] { rows_contains(p.exec, rows, p.searched, p.out, {.work = &p.work}); });
  });
  add<rows_problem<Exec, true>>("lanewise", [](auto& p, auto time) {
    const string_rows rows(p.text, p.offsets);
    time([&] { rows_count(p.exec, rows, p.searched, p.out, {.work = &p.work}); });
  });
}

}  // namespace
}  // namespace lanewise::perf

int main(int argc, char** argv) {
  using namespace lanewise::perf;
  Kokkos::ScopeGuard kokkos(argc, argv);
  for_each_backend([](auto exec) { add_rows<decltype(exec)>(); });
  return run(argc, argv);
}
