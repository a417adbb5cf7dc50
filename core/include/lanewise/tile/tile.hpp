// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/team/team.hpp>
#include <lanewise/tile/fixed_tree.hpp>
#include <lanewise/tile/register/tile.hpp>
#include <lanewise/tile/stream/fixed_tree.hpp>
#include <lanewise/tile/stream/tile.hpp>

#include <cstdint>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE

// A tile is an ordered run of items in a team's closest memory. That is the cache that they are in
// already if Team::is_single_thread, else registers. docs/warp.md has the table.

namespace detail {

/// What is known of a host's tile without its source.
template <class T, class Policy>
struct host_tile_layout {
  static constexpr std::int64_t items =
      Policy::deterministic ? fixed_tree<T>::block : host_tile_items<T, Policy>;
  struct scratch {};
};

template <class Team, class T>
struct value_per_warp {
  raw_array<T, Team::warps> value;
};
struct no_scratch {};

template <class T, class W, class Source, class Op>
LANEWISE_FUNCTION maybe<T> host_reduce_range(const W& warp, const Source& source,
                                             std::int64_t first, std::int64_t last, Op op) {
  return detail::reduce_stream<T>(warp, source, first, last, op);
}

}  // namespace detail

/// `items` of a tile, and the `scratch` that it needs of the team's.
template <class Team, class T, class Policy>
using tile_t = std::conditional_t<Team::is_single_thread, detail::host_tile_layout<T, Policy>,
                                  detail::device_tile<Team, T, Policy::items_per_lane>>;

/// The tile of items [first, first + items) of the source that exist below n. All warps of the team
/// call it. The tile refers to team, scratch and, on hosts, source.
///
///   count()                      how many items exist
///   scan(op), then total()       prepares the stores; the ordered combination of all items. Both
///                                need count() > 0
///   prepare(op)                  prepares the stores alone: on hosts it reads nothing
///   store(sink)                  the items as they are
///   store_adjacent(source, sink, op)
///                                op(item, the item before it); item 0 of the source as it is
///   store_adjacent_in_place(before, sink, op)
///                                the same to the array that the items come from; `before` is the
///                                item before the tile
///   store_inclusive(sink, before, op)  store_exclusive(sink, before, op)
///                                the scan, after `before`, a maybe<T>; the first place of an
///                                exclusive one after nothing is before.value
///   end(before, op)              after a store: the combination of before and the tile
///   park(place, op)              where the team has parked_tiles: leaves in scratch what a store
///                                needs
template <class T, class Policy, class Team, class Source>
LANEWISE_FUNCTION auto load_tile(const Team& team,
                                 typename tile_t<Team, T, Policy>::scratch& shared,
                                 const Source& source, std::int64_t first, std::int64_t n) {
  if constexpr (!Team::is_single_thread) {
    using tile = tile_t<Team, T, Policy>;
    if constexpr (Policy::deterministic) {
      static_assert(tile::segment == detail::fixed_tree<T>::segment,
                    "lanewise: deterministic operators need warps of 32 lanes");
      return tile(team, shared, detail::rounded_source<Source>{source}, first, n);
    } else {
      return tile(team, shared, source, first, n);
    }
  } else if constexpr (Policy::deterministic) {
    return detail::host_fixed_tree_tile<Team, T, Source>(team, source, first, n);
  } else {
    return detail::host_tile<Team, T, Policy, Source, tile_t<Team, T, Policy>::items>(team, source,
                                                                                      first, n);
  }
}

/// How many items a call has, and how many fewer than the other tiles the first one has. A kernel
/// takes cut_items as an argument, because arguments need no registers.
struct cut_items {
  item_count n;
  int missing = 0;
};

/// How the items of a call are cut into tiles of tile_t::items. If the output does not begin a line
/// of memory, the first tile has only the items before the next line. All other tiles are then
/// written in whole packs. If the output is no array, the lines of the input count. (H200, scans of
/// 2^28 items to Views that begin anywhere: 0.88 to 1.02 of the aligned rate, before 0.36 to
/// 1.01.)
template <class Team, class T, class Policy>
class tile_cuts {
  static constexpr std::int64_t items = tile_t<Team, T, Policy>::items;
  // The tiles of the fixed tree depend on n alone. Hosts write vectors that begin anywhere.
  static constexpr bool have_lines =
      !Team::is_single_thread && !Policy::deterministic && items > detail::line_bytes;

 public:
  template <class Source, class Sink>
  static LANEWISE_FUNCTION cut_items cut([[maybe_unused]] const Source& source,
                                         [[maybe_unused]] const Sink& sink, const item_count& n) {
    int in_first = 0;
    if constexpr (have_lines && detail::has_lines<Sink>) {
      in_first = detail::items_before_line(sink);
    } else if constexpr (have_lines && detail::has_lines<Source>) {
      in_first = detail::items_before_line(source);
    }
    return {n, in_first > 0 && n.bound > items ? static_cast<int>(items) - in_first : 0};
  }
  /// No call on n items has more tiles.
  static std::int64_t most_tiles(std::int64_t n) {
    return divide_up(n, items) + (have_lines && n > items ? 1 : 0);
  }

  LANEWISE_FUNCTION explicit tile_cuts(const cut_items& all) : all_(all) {}

  LANEWISE_FUNCTION std::int64_t tiles() const {
    const std::int64_t n = all_.n();
    return n > 0 ? divide_up(n + all_.missing, items) : 0;
  }
  /// load_tile takes these two for tile t.
  LANEWISE_FUNCTION std::int64_t first(std::int64_t t) const {
    return t > 0 ? t * items - all_.missing : 0;
  }
  LANEWISE_FUNCTION std::int64_t below(std::int64_t t) const {
    const std::int64_t n = all_.n(), in_first = items - all_.missing;
    return have_lines && t == 0 && in_first < n ? in_first : n;
  }

 private:
  const cut_items& all_;
};

/// What reduce_range needs of the team's scratch.
template <class Team, class T>
using reduce_scratch =
    std::conditional_t<Team::is_single_thread, detail::no_scratch, detail::value_per_warp<Team, T>>;

/// The ordered combination of items [first, last) of the source, streamed, however many they are;
/// absent if there are none. All warps of the team call it and get it; the scratch is free again
/// when it returns.
template <class T, class Policy, class Team, class Source, class Op>
LANEWISE_FUNCTION maybe<T> reduce_range(const Team& team,
                                        [[maybe_unused]] reduce_scratch<Team, T>& shared,
                                        const Source& source, std::int64_t first, std::int64_t last,
                                        Op op) {
  if constexpr (!Team::is_single_thread) {
    return detail::device_reduce_range<T, Policy::items_per_lane>(team, shared.value.data(), source,
                                                                  first, last, op);
  } else {
    return detail::host_reduce_range<T>(team.warp(), source, first, last, op);
  }
}

/// By one warp alone: the total of the block of the fixed tree that begins with item first < n.
template <class T, class Team, class Source, class Op>
LANEWISE_FUNCTION T block_total(const Team& team, const Source& source, std::int64_t first,
                                std::int64_t n, Op op) {
  if constexpr (!Team::is_single_thread) {
    return detail::device_block_total<T>(team.warp(), source, first, n, op);
  } else {
    detail::host_fixed_tree_tile<Team, T, Source> block(team, source, first, n);
    block.scan(op);
    return block.total();
  }
}

LANEWISE_END_NAMESPACE
