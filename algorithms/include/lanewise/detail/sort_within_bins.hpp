// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/by_index.hpp>
#include <lanewise/detail/split.hpp>
#include <lanewise/merge_sort.hpp>
#include <lanewise/search.hpp>
#include <lanewise/select.hpp>

#include <cstdint>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

// Numbers of items that lie in the order of bins are sorted by an order of items, bin by bin. On
// devices a lane takes an item of a small bin, and compares it with the others; on hosts a thread
// sorts a bin. Large bins are listed, and merged together.

/// Numbers in the order of bins, where bins begin, and the bin of a place.
template <class BinOf>
struct binned_numbers {
  const std::uint32_t* numbers;
  const std::uint32_t* offsets;
  BinOf bin_of;
  std::int64_t most_items;  ///< of a small bin

  LANEWISE_FUNCTION std::int64_t items(std::int64_t bin) const {
    return static_cast<std::int64_t>(offsets[bin + 1]) - offsets[bin];
  }
  /// Whether a place is in a large bin.
  LANEWISE_FUNCTION bool operator()(const std::uint32_t& place) const {
    return items(bin_of(place)) > most_items;
  }
};

/// The order of places by bins, and within bins by the items.
template <class BinOf, class Less>
struct less_of_places {
  binned_numbers<BinOf> given;
  Less less;
  LANEWISE_FUNCTION bool operator()(const std::uint32_t& p, const std::uint32_t& q) const {
    const auto a = given.bin_of(p), b = given.bin_of(q);
    return a == b ? less(given.numbers[p], given.numbers[q]) : a < b;
  }
};

/// Numbers of a list of places go to the places of another.
struct numbers_to_places {
  const std::uint32_t* numbers;
  const std::uint32_t* places;
  std::uint32_t* to;
  LANEWISE_FUNCTION void operator()(std::int64_t i, const std::uint32_t& from) const {
    to[places[i]] = numbers[from];
  }
};

template <class BinOf, class Less>
struct rank_within_bins_kernel {
  struct policy : launch_policy {
    static constexpr int warps = 4;
  };
  template <class Team>
  struct scratch {};

  binned_numbers<BinOf> given;
  std::int64_t n;
  std::uint32_t* to;
  Less less;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    constexpr std::int64_t width = warp_type::width;
    const auto warp = team.warp();
    auto lane = warp.lane();
    lanewise::for_each_tile(team, lanewise::divide_up(n, Team::warps * width), [&](std::int64_t t) {
      const std::int64_t first = (t * Team::warps + team.warp_index()) * width, left = n - first;
      warp.each(
          warp.first(static_cast<int>(left < width ? Kokkos::max(left, std::int64_t{0}) : width)),
          [&](std::uint32_t l) { place(static_cast<std::uint32_t>(first) + l); }, lane);
    });
  }

 private:
  /// An item's place is that of its bin and the number of the bin's items that come before it.
  LANEWISE_FUNCTION void place(std::uint32_t own) const {
    const auto bin = given.bin_of(own);
    if (given.items(bin) > given.most_items) return;
    const std::uint32_t number = given.numbers[own], end = given.offsets[bin + 1];
    std::uint32_t at = given.offsets[bin];
    for (std::uint32_t i = at; i < own; ++i) at += less(number, given.numbers[i]) ? 0 : 1;
    for (std::uint32_t i = own + 1; i < end; ++i) at += less(given.numbers[i], number) ? 1 : 0;
    to[at] = number;
  }
};

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
  std::uint32_t* room;  ///< as many as there are numbers, and these, too
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
  /// Of n numbers the first `a` are a run, and the others one.
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

/// Up to so many items a lane compares its item with all others of a bin.
inline constexpr std::int64_t most_ranked_items = 256;

/// Sorts the numbers of bins, which lie one behind the other. bin_of(numbers) is a function from a
/// place to its bin, by a copy of the numbers.
template <class Exec, class BinOf, class Less>
void sort_within_bins(const Exec& exec, std::uint32_t* numbers, std::int64_t n,
                      const std::uint32_t* offsets, std::int64_t bins, const BinOf& bin_of,
                      const Less& less, workspace_ref work) {
  using view = Kokkos::View<std::uint32_t*, typename Exec::memory_space, Kokkos::MemoryUnmanaged>;
  constexpr bool by_threads = detail::is_one_thread<team_t<Exec, launch_policy>>;
  call_memory<Exec> memory(exec, static_cast<std::size_t>(3 * n + 1) * sizeof(std::uint32_t),
                           "bin_sort");
  std::uint32_t* const room = memory.template view<std::uint32_t>(3 * n + 1).data();
  const view copy(room, n), list(room + n, n), sorted(room + 2 * n, n), count(room + 3 * n, 1);
  lanewise::transform(exec, view(numbers, n), copy, identity{});
  using bin_of_place = decltype(bin_of(room));
  binned_numbers<bin_of_place> given{room, offsets, bin_of(room), most_ranked_items};
  if constexpr (by_threads) {
    using kernel = sort_within_bins_kernel<bin_of_place, Less>;
    const std::int64_t threads = lanewise::resident_teams<kernel>(exec);
    given.most_items = threads == 1 ? n : std::max(n / (2 * threads), std::int64_t{1} << 14);
    lanewise::launch(exec, "Lanewise::bin_sort::within",
                     backend_of<Exec>::template league_for_tiles<kernel>(
                         exec, lanewise::divide_up(n + bins, kernel::piece)),
                     kernel{given, bins, numbers, room, less});
  } else {
    using kernel = rank_within_bins_kernel<bin_of_place, Less>;
    constexpr std::int64_t tile =
        team_t<Exec, typename kernel::policy>::warps * warp_t<Exec>::width;
    lanewise::launch(
        exec, "Lanewise::bin_sort::within",
        backend_of<Exec>::template league_for_tiles<kernel>(exec, lanewise::divide_up(n, tile)),
        kernel{given, n, numbers, less});
  }
  if (n <= given.most_items) return;
  const Kokkos::View<std::uint32_t, typename Exec::memory_space, Kokkos::MemoryUnmanaged> listed(
      count.data());
  lanewise::select_if(exec, lanewise::generated(n, as_index<std::uint32_t>{}), list, listed, given);
  lanewise::merge_sort(exec, list, sorted, less_of_places<bin_of_place, Less>{given, less},
                       {.work = work, .count = listed});
  lanewise::transform(exec, sorted,
                      lanewise::consumed(n, numbers_to_places{room, list.data(), numbers}),
                      identity{}, {.count = listed});
}

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
