// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sort/detail/top_k_plan.hpp>
#include <lanewise/tile/merge_tile.hpp>
#include <lanewise/tile/stream/selection.hpp>
#include <lanewise/tile/tile_sort.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// The indices of a window.
template <class W>
LANEWISE_FUNCTION auto window_indices(const W& warp, std::int64_t first) {
  return warp.map([=](std::uint32_t l) -> std::int64_t { return first + l; }, warp.lane());
}

/// Puts results into columns, or their indices into a list that is sorted afterwards.
template <class Columns>
struct put_selected {
  Columns columns;
  std::int64_t* indices;

  template <class T>
  LANEWISE_FUNCTION void operator()(std::int64_t place, std::int64_t index, const T& item) const {
    if (indices != nullptr) {
      indices[place] = index;
    } else {
      columns(place, index, item);
    }
  }
  /// Those of a window from index on, to places from place on, as compress_window_over.
  template <class W, class Items>
  LANEWISE_FUNCTION void window(const W& warp, std::int64_t place, typename W::bits chosen,
                                std::int64_t index, const Items& items) const {
    if (indices != nullptr) {
      detail::compress_window_over(warp, array_sink<std::int64_t>{indices, 0}, place, chosen,
                                   kernels::window_indices(warp, index));
    } else {
      columns.window(warp, place, chosen, index, items);
    }
  }
};

/// The bits of a selected item, and where it was.
template <class Bits>
struct ranked_index {
  Bits bits;
  std::int64_t index;
};

struct greater_first {
  template <class T>
  LANEWISE_FUNCTION bool operator()(const T& a, const T& b) const {
    if constexpr (requires { a.bits; }) {
      return b.bits < a.bits;
    } else {
      return b < a;
    }
  }
};

/// Sorts runs of up to sorted_run selected items, which come in input order, stably by their bits.
/// One run is written to the columns.
template <class Selection, class Columns>
struct sort_selected_kernel {
  using bits = typename Selection::bits;
  struct policy : launch_policy {
    static constexpr int warps = 16;
  };
  template <class Team>
  struct scratch {
    sort_scratch<Team, bits, static_cast<int>(sorted_run)> sort;
    bits item[sorted_run];
  };

  Selection all;
  Columns columns;
  const std::int64_t* indices;
  ranked_index<bits>* runs;  // null where there is one

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    constexpr std::int64_t width = Team::warp_type::width;
    const auto warp = team.warp();
    const std::int64_t k = all.wanted();
    const index_range mine = team.share(divide_up(k, sorted_run));
    for (std::int64_t r = mine.begin; r < mine.end; ++r) {
      const std::int64_t first = r * sorted_run;
      const std::int64_t here = k - first < sorted_run ? k - first : sorted_run;
      for (std::int64_t i = team.warp_index() * width; i < here; i += Team::warps * width) {
        const auto exist = warp.first(here - i);
        warp.store(exist, shared.item + i,
                   warp.map(
                       exist,
                       [&](std::uint32_t l) LANEWISE_INLINE_LAMBDA {
                         return all.key(all.in(indices[first + i + l]));
                       },
                       bits{}, warp.lane()));
      }
      lanewise::sort(team, shared.sort, shared.item, static_cast<int>(here), greater_first{},
                     [&](int i, const bits& x, int from) {
                       const std::int64_t at = indices[first + from];
                       if (runs != nullptr) {
                         runs[first + i] = {x, at};
                       } else {
                         columns(i, at, all.in(at));
                       }
                     });
    }
  }
};

/// Merges neighbouring runs in pairs. The last pass writes to the columns.
template <class Selection, class Columns>
struct merge_selected_kernel {
  using ranked = ranked_index<typename Selection::bits>;
  struct policy : launch_policy {
    static constexpr int warps = 4;
    static constexpr int items_per_lane = 9;
  };
  template <class Team>
  using tile = merge_tile_t<Team, ranked, policy>;
  template <class Team>
  struct scratch {
    typename tile<Team>::scratch merge;
  };

  Selection all;
  Columns columns;
  const ranked* from;
  ranked* to;  // null in the last pass
  std::int64_t run;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    // Pieces of pairs of runs, each within one.
    constexpr std::int64_t piece = [] {
      std::int64_t items = sorted_run;
      while (items > tile<Team>::items) items /= 2;
      return items;
    }();
    const std::int64_t k = all.wanted();
    const index_range mine = team.share(divide_up(k, piece));
    for (std::int64_t p = mine.begin; p < mine.end; ++p) {
      const std::int64_t first = p * piece, pair = first / (2 * run) * (2 * run);
      const std::int64_t last = first + piece < k ? first + piece : k;
      const std::int64_t n_a = k - pair < run ? k - pair : run;
      const std::int64_t n_b = k - pair - n_a < run ? k - pair - n_a : run;
      using source = array_source<ranked, identity>;
      lanewise::merge_tile<ranked, policy>(
          team, shared.merge, source{from + pair, n_a, {}}, n_a, source{from + pair + n_a, n_b, {}},
          n_b, first - pair, last - pair,
          [&](std::int64_t i, const ranked& x) {
            if (to != nullptr) {
              to[pair + i] = x;
            } else {
              columns(pair + i, x.index, all.in(x.index));
            }
          },
          greater_first{});
    }
  }
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
