// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sort/detail/bins_of_numbers.hpp>
#include <lanewise/tile/tile.hpp>
#include <lanewise/warp/search.hpp>

#include <algorithm>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// A thread sorts a small bin.
template <class BinOf, class Less>
struct sort_within_bins_kernel {
  struct policy : launch_policy {
    static constexpr int host_teams_per_thread = 16;
  };
  template <class Team>
  struct scratch {};
  static constexpr std::int64_t piece = std::int64_t{1} << 13;  ///< bins and items
  static constexpr std::int64_t few = 8;  ///< items that are sorted by insertion

  binned_numbers<BinOf> given;
  std::int64_t bins;
  std::uint32_t* to;
  std::uint32_t* room;  ///< for as many numbers as there are, and these, too
  Less less;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    team.once([&] {
      const auto mine = team.share(lanewise::divide_up(step(bins), piece));
      const std::int64_t end = first_bin(mine.end);
      for (std::int64_t b = first_bin(mine.begin); b < end; ++b) {
        const std::int64_t n = given.items(b);
        if (n > 1 && n <= given.most_items) sort(to + given.offsets[b], room + given.offsets[b], n);
      }
    });
  }

 private:
  LANEWISE_FUNCTION std::int64_t step(std::int64_t bin) const { return given.offsets[bin] + bin; }
  LANEWISE_FUNCTION std::int64_t first_bin(std::int64_t p) const {
    return lanewise::partition_point(std::int64_t{0}, bins,
                                     [&](std::int64_t b) { return step(b) < p * piece; });
  }
  LANEWISE_FUNCTION void sort(std::uint32_t* all, std::uint32_t* beside, std::int64_t n) const {
    for (std::int64_t i = 0; i < n; i += few) insert(all + i, n - i < few ? n - i : few);
    std::uint32_t *from = all, *into = beside;
    for (std::int64_t run = few; run < n; run *= 2) {
      for (std::int64_t i = 0; i < n; i += 2 * run)
        merge(from + i, n - i < run ? n - i : run, n - i < 2 * run ? n - i : 2 * run, into + i);
      std::uint32_t* const before = from;
      from = into;
      into = before;
    }
    if (from == all) return;
    for (std::int64_t i = 0; i < n; ++i) all[i] = from[i];
  }
  LANEWISE_FUNCTION void insert(std::uint32_t* x, std::int64_t n) const {
    for (std::int64_t i = 1; i < n; ++i) {
      const std::uint32_t number = x[i];
      std::int64_t at = i;
      for (; at > 0 && less(number, x[at - 1]); --at) x[at] = x[at - 1];
      x[at] = number;
    }
  }
  /// Merges two runs into one: the first `a` of n numbers, and the others.
  LANEWISE_FUNCTION void merge(const std::uint32_t* x, std::int64_t a, std::int64_t n,
                               std::uint32_t* into) const {
    std::int64_t i = 0, j = a;
    while (i < a && j < n) {
      const std::uint32_t p = x[i], q = x[j];
      const bool second = less(q, p);
      *into++ = second ? q : p;
      j += second;
      i += !second;
    }
    while (i < a) *into++ = x[i++];
    while (j < n) *into++ = x[j++];
  }
};

template <class BinOf, class Less>
struct host_within_bins {
  using kernel = sort_within_bins_kernel<BinOf, Less>;

  /// Half of what a thread has to do.
  template <class Exec>
  static std::int64_t most_items(const Exec& exec, std::int64_t n) {
    const std::int64_t threads = lanewise::resident_teams<kernel>(exec);
    return threads == 1 ? n : std::max(n / (2 * threads), std::int64_t{1} << 14);
  }
  template <class Exec>
  static void sort(const Exec& exec, const binned_numbers<BinOf>& given, std::int64_t n,
                   std::int64_t bins, std::uint32_t* to, std::uint32_t* room, const Less& less) {
    lanewise::launch(exec, "Lanewise::bin_sort::within",
                     backend_of<Exec>::template league_for_tiles<kernel>(
                         exec, lanewise::divide_up(n + bins, kernel::piece)),
                     kernel{given, bins, to, room, less});
  }
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
