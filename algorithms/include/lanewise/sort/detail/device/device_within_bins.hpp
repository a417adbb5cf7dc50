// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sort/detail/bins_of_numbers.hpp>
#include <lanewise/tile/tile.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// A lane takes an item of a small bin, and compares it with the others of the bin.
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
          warp.first(left), [&](std::uint32_t l) { place(static_cast<std::uint32_t>(first) + l); },
          lane);
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
struct device_within_bins {
  using kernel = rank_within_bins_kernel<BinOf, Less>;

  template <class Exec>
  static std::int64_t most_items(const Exec&, std::int64_t) {
    return 256;
  }
  template <class Exec>
  static void sort(const Exec& exec, const binned_numbers<BinOf>& given, std::int64_t n,
                   std::int64_t, std::uint32_t* to, std::uint32_t*, const Less& less) {
    constexpr std::int64_t tile =
        team_t<Exec, typename kernel::policy>::warps * warp_t<Exec>::width;
    lanewise::launch(
        exec, "Lanewise::bin_sort::within",
        backend_of<Exec>::template league_for_tiles<kernel>(exec, lanewise::divide_up(n, tile)),
        kernel{given, n, to, less});
  }
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
