// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/detail/by_index.hpp>
#include <lanewise/merge/merge_sort.hpp>
#include <lanewise/select/select.hpp>
#include <lanewise/sort/detail/device/device_within_bins.hpp>
#include <lanewise/sort/detail/host/host_within_bins.hpp>

#include <type_traits>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// How a space sorts numbers that lie in the order of bins by an order of items, bin by bin, but
/// for large bins. Members, all static:
///
///   most_items(exec, n)                              of a small bin
///   sort(exec, given, n, bins, to, room, less)       `to` and `room` have the numbers
template <class Exec, class BinOf, class Less>
using within_bins_t =
    std::conditional_t<team_t<Exec, launch_policy>::is_single_thread, host_within_bins<BinOf, Less>,
                       device_within_bins<BinOf, Less>>;

/// Sorts the numbers of bins, which lie one after the other; large bins are listed, and merged
/// together. bin_of(numbers) is a function from a place to its bin, by a copy of the numbers.
template <class Exec, class BinOf, class Less>
void sort_within_bins(const Exec& exec, std::uint32_t* numbers, std::int64_t n,
                      const std::uint32_t* offsets, std::int64_t bins, const BinOf& bin_of,
                      const Less& less, workspace_ref work) {
  using view = Kokkos::View<std::uint32_t*, typename Exec::memory_space, Kokkos::MemoryUnmanaged>;
  call_memory<Exec> memory(exec, static_cast<std::size_t>(3 * n + 1) * sizeof(std::uint32_t),
                           "bin_sort");
  std::uint32_t* const room = memory.template view<std::uint32_t>(3 * n + 1).data();
  const view copy(room, n), list(room + n, n), sorted(room + 2 * n, n);
  lanewise::transform(exec, view(numbers, n), copy, identity{});
  using bin_of_place = decltype(bin_of(room));
  using within = within_bins_t<Exec, bin_of_place, Less>;
  const binned_numbers<bin_of_place> given{room, offsets, bin_of(room),
                                           within::most_items(exec, n)};
  within::sort(exec, given, n, bins, numbers, room, less);
  if (n <= given.most_items) return;
  const Kokkos::View<std::uint32_t, typename Exec::memory_space, Kokkos::MemoryUnmanaged> count(
      room + 3 * n);
  lanewise::select_if(exec, lanewise::generated(n, as_index<std::uint32_t>{}), list, count, given);
  lanewise::merge_sort(exec, list, sorted, less_of_places<bin_of_place, Less>{given, less},
                       {.work = work, .count = count});
  lanewise::transform(exec, sorted,
                      lanewise::consumed(n, numbers_to_places{room, list.data(), numbers}),
                      identity{}, {.count = count});
}

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
