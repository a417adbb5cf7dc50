// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/tile/register/split.hpp>
#include <lanewise/tile/stream/split.hpp>

#include <type_traits>

LANEWISE_BEGIN_NAMESPACE

/// Count, rank and place: how a team sends the items of a tile to buckets. Items of a bucket keep
/// their order, and neighbours of the output are written together: a bucket's items of a tile are a
/// run. Members, all static:
///
///   items                     of a tile.
///   scratch<value_bytes>      what place needs; 0: keys without values.
///   place(team, scratch, keys, first, n, bucket_of, buckets, all_good, places, end, keys_out,
///         values, values_out)
///       sends items [first, first + items) of the source keys. Items from n on do not exist. There
///       are at most most_buckets buckets; items of other buckets go nowhere, and all_good promises
///       that there are none. All places are below end. values and values_out are a source and a
///       sink, or nullptr. All warps of the team call it; the scratch is free again after a
///       barrier.
///
///   all_scratch<value_bytes>  what split_all needs.
///   split_all(team, all_scratch, keys, n, bucket_of, buckets, begins, keys_out, values,
///   values_out)
///       splits items [0, n), so few that one team takes them all. It calls begins(b, place) for
///       every bucket, and returns how many items are in buckets. The scratch is free again after a
///       barrier.
///
/// places says where runs begin, for windows of buckets, one per lane, from `first` on:
///
///   ask(warp, first, buckets)               begins to load, and its result is handed to get. It is
///                                           called before items are ranked, on hosts before get.
///   tell(warp, first, buckets, counts)      is called when the tile's counts are known.
///   get(warp, first, buckets, asked, counts)
///                                           lanes<std::int64_t>: where the runs begin. Follows ask
///                                           and tell, and is called once or, if it does not wait,
///                                           twice.
///   waits                                   whether get waits for other teams: it is called as
///                                           late as possible then.
///
/// The functor of buckets is called twice per key on devices, sources once; on hosts twice both.
/// (GPU Multisplit, 5.2.2.)
template <class Team, class Key, class Policy>
using split_tile_t = std::conditional_t<
    Team::is_single_thread,
    detail::host_split_tile<Team, Key, Policy, detail::host_tile_items<Key, Policy>>,
    detail::device_split_tile<Team, Key, Policy::items_per_lane, Policy::aligns_runs>>;

LANEWISE_END_NAMESPACE
