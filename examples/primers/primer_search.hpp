// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/strings/mismatch_search.hpp>
#include <lanewise/strings/string_set_search.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace primers {

/// The other strand, read in its own direction.
inline std::string reverse_complement(std::string_view letters) {
  std::string other(letters.rbegin(), letters.rend());
  for (char& c : other) c = c == 'A' ? 'T' : c == 'C' ? 'G' : c == 'G' ? 'C' : 'A';
  return other;
}

/// A word begins at a place of the genome.
struct hit {
  std::uint32_t place, word;
};

/// Searches a genome of less than 2^32 letters. Letters of either case are equal.
template <class Exec>
class primer_search {
  using memory = typename Exec::memory_space;
  using numbers = Kokkos::View<std::uint32_t*, memory>;

 public:
  explicit primer_search(std::string_view genome) : genome_("primers::genome", genome.size()) {
    Kokkos::deep_copy(genome_,
                      Kokkos::View<const char*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                          genome.data(), genome.size()));
  }

  /// Finds the places of the words, up to `most` letters differing; in the order of places, then of
  /// words.
  std::vector<hit> find(const std::vector<std::string>& words, int most) {
    std::vector<hit> hits;
    if (most == 0) {
      const lanewise::pattern_set<memory> set(words, {.fold_case = true});
      take(hits, [&] {
        lanewise::find_all(exec_, genome_, set, places_, ids_, number_, {.work = &work_});
      });
    } else {
      for (std::uint32_t w = 0; w < words.size(); ++w) {
        const lanewise::mismatch_pattern<memory> word(words[w], most, {.fold_case = true});
        const std::size_t before = hits.size();
        take(hits, [&] {
          lanewise::find_mismatches(exec_, genome_, word, places_, number_, {.work = &work_});
        });
        for (std::size_t i = before; i < hits.size(); ++i) hits[i].word = w;
      }
    }
    std::sort(hits.begin(), hits.end(), [](const hit& a, const hit& b) {
      return std::tuple(a.place, a.word) < std::tuple(b.place, b.word);
    });
    return hits;
  }

 private:
  /// Adds what a search finds, which is made once more where there was too little room.
  template <class Search>
  void take(std::vector<hit>& hits, Search search) {
    const auto number_of_hits = [&] {
      search();
      std::int64_t n = 0;
      Kokkos::deep_copy(exec_, n, number_);
      return static_cast<std::size_t>(n);
    };
    std::size_t n = number_of_hits();
    if (n > places_.extent(0)) {
      Kokkos::realloc(places_, n + n / 4);
      Kokkos::realloc(ids_, n + n / 4);
      n = number_of_hits();
    }
    const auto front = Kokkos::make_pair(std::size_t{0}, n);
    const auto places = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(),
                                                            Kokkos::subview(places_, front)),
               ids = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(),
                                                         Kokkos::subview(ids_, front));
    for (std::size_t i = 0; i < n; ++i) hits.push_back({places(i), ids(i)});
  }

  Exec exec_{};
  Kokkos::View<char*, memory> genome_;
  numbers places_{"primers::places", 1 << 16}, ids_{"primers::ids", 1 << 16};
  Kokkos::View<std::int64_t, memory> number_{"primers::number"};
  lanewise::workspace work_;
};

}  // namespace primers
