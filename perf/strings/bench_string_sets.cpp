// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Searches for sets of patterns in a text, on every backend of this Kokkos: 2^30 bytes on devices,
// 2^26 on hosts. Rows are in bytes of the text, and of the places and ids that are written; reduce
// is the sum of as many bytes as words of 8, the bound of what reads a text once. Peers on one core
// count: memmem, one pattern after the other; Hyperscan or Vectorscan where installed.

#include "string_texts.hpp"
#include <lanewise/host.hpp>
#include <lanewise/strings/string_set_search.hpp>

#if defined(LANEWISE_PERF_HYPERSCAN)
#include "hyperscan.hpp"
#endif

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace lanewise::perf {
namespace {

struct set_point {
  std::string kind;
  std::size_t patterns;
  std::int64_t n;

  std::string text() const {
    return kind == "dna" ? "dna" : kind == "axa" ? "match_all" : "english";
  }
};

/// The number of letters of the i-th word in a dictionary of `words` words. Up to 1,000 words are
/// as long as common words of English: 62 in 1,000 have up to 3 letters. More words are as long as
/// those of a dictionary: 12 in 1,000 have up to 3 letters.
std::size_t letters_of(std::size_t i, std::size_t words) {
  constexpr std::size_t common[] = {2,   12,  62,  182, 322, 472, 622,
                                    742, 837, 907, 952, 977, 990, 1000};
  constexpr std::size_t all[] = {0, 2, 12, 47, 112, 222, 372, 542, 697, 812, 892, 942, 972, 1000};
  const auto& upto = words > 1000 ? all : common;
  std::size_t m = 1;
  while ((2 * i + 1) * 500 >= upto[m - 1] * words) ++m;
  return m;
}

/// Different parts of the text: phrases of 12 to 24 bytes, words of 7 to 16 letters (7 to 9 of the
/// text's, and some that are not in it), 24 bases. axa: 40 bytes a, one of them x, and longer ones.
/// dictionary: words and their beginnings, with the lengths of words of English; dictionary4,
/// dictionary7: the words of dictionary that have at least 4 or 7 letters.
std::vector<std::string> set_of(const set_point& p, const std::string& text) {
  std::vector<std::string> all;
  std::set<std::string> seen;
  if (p.kind.starts_with("dictionary")) {
    const std::size_t least = p.kind.size() > 10 ? static_cast<std::size_t>(p.kind[10] - '0') : 1;
    for (std::uint64_t i = 0; i < p.patterns; ++i) {
      std::string word;
      // If a word has few letters, the text may have no other: then it is one more letter.
      for (std::uint64_t t = 0; word.empty() || !seen.insert(word).second; ++t) {
        const std::size_t space = text.find(' ', hash(100 * i + t) % (text.size() - 64));
        word = text.substr(space + 1, letters_of(i, p.patterns) + t / 20);
        std::replace(word.begin(), word.end(), ' ', 'e');
      }
      if (word.size() >= least) all.push_back(word);
    }
    return all;
  }
  for (std::uint64_t i = 0; all.size() < p.patterns; ++i) {
    const std::uint64_t h = hash(i * 7919 + 17);
    if (p.kind == "axa") {
      all.emplace_back(40 + i / 40, 'a');
      all.back()[i % 40] = 'x';
      continue;
    }
    const std::size_t m = p.kind == "dna" ? 24 : p.kind == "words" ? 7 + h % 10 : 12 + h % 13;
    std::string bytes = text.substr((h >> 8) % (text.size() - m), m);
    if (p.kind == "words") std::replace(bytes.begin(), bytes.end(), ' ', 'e');
    if (seen.insert(bytes).second) all.push_back(bytes);
  }
  return all;
}

enum class wanted { all, number };

template <class Exec, wanted what>
struct set_problem {
  using exec_space = Exec;
  using item = char;
  using memory = typename Exec::memory_space;

  Exec exec{};
  std::int64_t n;
  std::string part;
  std::vector<std::string> patterns;
  array<Exec, char> text{Kokkos::view_alloc("perf::text", Kokkos::WithoutInitializing),
                         static_cast<std::size_t>(n)};
  pattern_set<memory> searched;
  Kokkos::View<std::int64_t, memory> result{"perf::result"};
  array<Exec, std::int64_t> places;
  array<Exec, std::uint32_t> ids;
  workspace work;

  explicit set_problem(const set_point& p)
      : n(p.n),
        part(text_of(p.text(), std::size_t{1} << 22)),
        patterns(set_of(p, part)),
        searched(patterns) {
    const Kokkos::View<const char*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> from(part.data(),
                                                                                     part.size());
    for (std::int64_t at = 0; at < n; at += static_cast<std::int64_t>(part.size()))
      Kokkos::deep_copy(Kokkos::subview(text, Kokkos::make_pair(at, at + std::int64_t{1 << 22})),
                        from);
    if (what == wanted::all) {
      Kokkos::realloc(places, static_cast<std::size_t>(expected()));
      Kokkos::realloc(ids, static_cast<std::size_t>(expected()));
    }
  }
  static std::vector<set_point> points() {
    const std::int64_t n = std::int64_t{1} << (on_host<Exec> ? 26 : 30);
    std::vector<set_point> all;
    for (const char* kind : {"phrases", "words", "dna"})
      for (const std::size_t k : {10, 1000, 10'000, 100'000}) all.push_back({kind, k, n});
    for (const std::size_t k : {10, 100, 800}) all.push_back({"axa", k, n});
    for (const char* kind : {"dictionary", "dictionary4", "dictionary7"})
      for (const std::size_t k : {10, 1000, 100'000}) all.push_back({kind, k, n});
    return all;
  }
  static row name(const set_point& p) {
    return {(what == wanted::all ? "find_many.k" : "count_many.k") + std::to_string(p.patterns),
            backend_name<Exec>(),
            "",
            "u8",
            p.kind,
            p.n};
  }
  /// The text, and the results.
  std::int64_t bytes() const {
    return n + static_cast<std::int64_t>(8 * places.extent(0) + 4 * ids.extent(0));
  }
  /// By sizes of patterns, which are different: each part of the text in a table of those of its
  /// size, in the text that is repeated, and over its end.
  std::int64_t expected() const {
    std::map<std::size_t, std::unordered_set<std::string_view>> by_size;
    for (const std::string& p : patterns) by_size[p.size()].insert(p);
    const std::string twice = part + part.substr(0, by_size.rbegin()->first);
    std::int64_t whole = 0, last = 0;
    for (const auto& [m, all] : by_size) {
      for (std::size_t at = 0; at < part.size(); ++at) {
        if (!all.contains(std::string_view(twice).substr(at, m))) continue;
        ++whole;
        if (at + m <= part.size()) ++last;
      }
    }
    return whole * (n / static_cast<std::int64_t>(part.size()) - 1) + last;
  }
  bool correct() const {
    std::int64_t found = 0;
    Kokkos::deep_copy(found, result);
    return found == expected();
  }
};

template <class Exec>
void add_set_searches() {
  add_read_rate<Exec>();
  add<set_problem<Exec, wanted::all>>("lanewise", [](auto& p, auto time) {
    time([&] {
      find_all(p.exec, p.text, p.searched, p.places, p.ids, p.result, {.work = &p.work});
    });
  });
  add<set_problem<Exec, wanted::number>>("lanewise", [](auto& p, auto time) {
    time([&] { count(p.exec, p.text, p.searched, p.result, {.work = &p.work}); });
  });
}

#if defined(KOKKOS_ENABLE_SERIAL)
using serial_problem = set_problem<Kokkos::Serial, wanted::number>;
struct few_patterns_problem : serial_problem {
  using serial_problem::serial_problem;
  static std::vector<set_point> points() {
    std::vector<set_point> all = serial_problem::points();
    std::erase_if(all, [](const set_point& p) { return p.patterns > 10; });
    return all;
  }
};
void add_peers() {
  add<few_patterns_problem>("memmem", [](auto& p, auto time) {
    time([&] {
      p.result() = 0;
      for (const std::string& pattern : p.patterns) {
        const char *at = p.text.data(), *const end = at + p.n;
        while ((at = static_cast<const char*>(memmem(at, static_cast<std::size_t>(end - at),
                                                     pattern.data(), pattern.size()))) != nullptr)
          ++p.result(), ++at;
      }
    });
  });
#if defined(LANEWISE_PERF_HYPERSCAN)
  add<serial_problem>(hyperscan_name, [](auto& p, auto time) {
    const hyperscan_literals literals(p.patterns);
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
  for_each_backend([](auto exec) { add_set_searches<decltype(exec)>(); });
#if defined(KOKKOS_ENABLE_SERIAL)
  add_peers();
#endif
  return run(argc, argv);
}
