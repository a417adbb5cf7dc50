// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A stable merge sort of pairs by any order, from Lanewise's parts. Teams sort tiles in scratch.
// Then every pass merges a run for each lane of a warp. A warp finds what each run adds to a tile
// of the output (cut_many). The team brings these pieces together in scratch, one after the other
// (range_expansion_t), and sorts them there. A pass reads and writes every pair once, and 32 lanes
// need one pass where merges of two runs need five.

#include <lanewise/backend.hpp>
#include <lanewise/team/team_algorithms.hpp>
#include <lanewise/tile/expansion.hpp>
#include <lanewise/tile/tile_sort.hpp>
#include <lanewise/warp/search.hpp>

#include <Kokkos_Core.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace merges {

/// Pairs of a tile, which are sorted in scratch.
inline constexpr int tile = 2048;

template <class Key, class Value>
struct pairs {
  Key* keys;
  Value* values;
};

template <class Team, class Key, class Value>
struct tile_of_pairs {
  alignas(8) Key keys[tile];
  alignas(8) Value values[tile];
  sort_scratch<Team, Key, tile> sort;
};

/// Sorts the pairs of a tile and writes them to the places from `first` on.
template <class Team, class Key, class Value, class Less>
LANEWISE_FUNCTION void sort_and_write(const Team& team, tile_of_pairs<Team, Key, Value>& shared,
                                      int n, const pairs<Key, Value>& to, std::int64_t first,
                                      const Less& less) {
  team.barrier();
  sort_pairs(team, shared.sort, shared.keys, shared.values, n, less);
  copy(team, shared.keys, n, to.keys + first);
  copy(team, shared.values, n, to.values + first);
  team.barrier();
}

/// Makes every tile a sorted run.
template <class Key, class Value, class Less>
struct sort_tiles {
  struct policy : launch_policy {};
  template <class Team>
  using scratch = tile_of_pairs<Team, Key, Value>;

  pairs<Key, Value> from;
  pairs<Key, Value> to;
  std::int64_t n;
  Less less;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const auto [begin, end] = team.share(divide_up(n, tile));
    for (std::int64_t t = begin; t < end; ++t) {
      const std::int64_t first = t * tile, left = n - first;
      const int count = static_cast<int>(left < tile ? left : tile);
      copy(team, from.keys + first, count, shared.keys);
      copy(team, from.values + first, count, shared.values);
      sort_and_write(team, shared, count, to, first, less);
    }
  }
};

/// Merges groups of neighbouring runs, a run for each lane of a warp.
template <class Key, class Value, class Less>
struct merge_runs {
  struct policy : launch_policy {};
  template <class Team>
  using expansion = range_expansion_t<Team>;
  template <class Team>
  struct scratch {
    tile_of_pairs<Team, Key, Value> pairs;
    typename expansion<Team>::scratch expand;
  };

  pairs<Key, Value> from;
  pairs<Key, Value> to;
  std::int64_t n;
  std::int64_t run;  // pairs of a run, whole tiles
  Less less;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using warp_type = typename Team::warp_type;
    using places = typename warp_type::template lanes<std::int64_t>;
    const auto [begin, end] = team.share(divide_up(n, tile));
    for (std::int64_t t = begin; t < end; ++t) {
      const std::int64_t first = t * tile;
      places piece(0), length(0);
      if (team.warp_index() == 0) find_pieces(team.warp(), first, piece, length);
      auto& here = shared.pairs;
      const std::int64_t count = expansion<Team>::by_team(
          team, shared.expand, piece, length, {},
          [&](const warp_type& warp, const auto& exist, const auto&, const places& item,
              std::int64_t rank) {
            warp.store(exist, here.keys + rank, warp.gather(exist, from.keys, item, Key{}));
            warp.store(exist, here.values + rank, warp.gather(exist, from.values, item, Value{}));
          });
      sort_and_write(team, here, static_cast<int>(count), to, first, less);
    }
  }

 private:
  /// Which items of every run of the group, one in each lane, lie in the tile from `first` on of
  /// the output.
  template <class W, class Places>
  LANEWISE_FUNCTION void find_pieces(const W& warp, std::int64_t first, Places& piece,
                                     Places& length) const {
    const std::int64_t group = first - first % (run * W::width);
    const std::int64_t last = first + tile < n ? first + tile : n;
    const auto start_of = [=, this](std::uint32_t q) {
      const std::int64_t start = group + q * run;
      return start < n ? start : n;
    };
    const auto starts = warp.map(start_of, warp.lane());
    const auto lengths =
        warp.map([&](std::uint32_t q) { return start_of(q + 1) - start_of(q); }, warp.lane());
    const auto item = [&](std::uint32_t q, std::int64_t i) { return from.keys[start_of(q) + i]; };
    const auto in_front = cut_many<Key>(warp, lengths, item, first - group, less);
    piece = starts + in_front;
    length = cut_many<Key>(warp, lengths, item, last - group, less) - in_front;
  }
};

/// Sorts pairs by their keys, stably; `other` is memory for as many. Does not block.
template <class Exec, class Key, class Value, class Less = less>
void sort(const Exec& exec, pairs<Key, Value> given, pairs<Key, Value> other, std::int64_t n,
          Less less = {}) {
  using backend = backend_of<Exec>;
  using first_kernel = sort_tiles<Key, Value, Less>;
  using kernel = merge_runs<Key, Value, Less>;
  constexpr int runs = team_t<Exec, typename kernel::policy>::warp_type::width;
  const std::int64_t tiles = divide_up(n, tile);
  int passes = 0;
  for (std::int64_t run = tile; run < n; run *= runs) ++passes;
  // The last pass ends in the memory that was given.
  auto from = given, to = passes % 2 == 0 ? given : other;
  launch(exec, "merge_sort::tiles", backend::template league_for_tiles<first_kernel>(exec, tiles),
         first_kernel{from, to, n, less});
  for (std::int64_t run = tile; run < n; run *= runs) {
    from = to;
    to = from.keys == given.keys ? other : given;
    launch(exec, "merge_sort::merge", backend::template league_for_tiles<kernel>(exec, tiles),
           kernel{from, to, n, run, less});
  }
}

}  // namespace merges
LANEWISE_END_TARGET_NAMESPACE
