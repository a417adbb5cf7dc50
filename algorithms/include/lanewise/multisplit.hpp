// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/bucket_counts.hpp>
#include <lanewise/detail/split.hpp>
#include <lanewise/detail/tuning.hpp>
#include <lanewise/options.hpp>
#include <lanewise/status.hpp>

#include <algorithm>

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

// Multisplit in the paper's three steps: count every column's buckets into the matrix H (bucket by
// column), scan H in bucket-major order, and send every item to the place that the scan reserved
// for its bucket and column. A column is a run of tiles that one team counts. On the host it is a
// thread's share, which that thread places too. On a GPU there are a few for every team; tiles are
// placed one by one, so what precedes a tile in its column is written down when it is counted.
// split_tile_t does the work in a tile: ranking, and bringing neighbours of the output together.

/// On the host a tile is 2^15 keys: staged with as many values of 8 bytes it takes half a
/// second-level cache.
template <class Key>
struct split_policy : tuning::split<tuning::item_class(sizeof(Key))> {
  // Below, what comes next finds the results in a cache (docs/measurements.md).
  static constexpr std::int64_t host_bytes_past_caches = 16 << 20;
  // 16 cores beside an H200, 2^26 u32, m = 8 and 256: 5.3 and 4.8 Gkeys/s, with one team per thread
  // 4.5 and 3.6.
  static constexpr int host_teams_per_thread = 4;
};

/// For pairs values wait in registers beside keys. Two teams then leave each thread enough of them
/// for a tile that is larger by a third, so that more items go to each bucket at a time, where keys
/// and values are of 4 bytes; larger ones go to more warps.
template <class Key, int value_bytes>
struct split_pairs_policy : split_policy<Key> {
  static constexpr int own_warps = split_policy<Key>::warps;
  static constexpr int own_items = split_policy<Key>::items_per_lane;
  static constexpr int per_warp = own_warps * own_items;
  static constexpr bool grows = sizeof(Key) == 4 && value_bytes <= 4 && own_items % 3 == 0;
  static constexpr bool divides = per_warp % 12 == 0;
  static constexpr int warps = grows || !divides ? own_warps : 12;
  static constexpr int items_per_lane = grows     ? own_items / 3 * 4
                                        : divides ? per_warp / 12
                                                  : own_items;
  static constexpr int teams_per_multiprocessor =
      grows || divides ? 2 : split_policy<Key>::teams_per_multiprocessor;
};

/// The tiles of every column, and what was counted in them.
struct split_columns {
  std::int64_t tiles;
  std::int64_t columns;
  std::uint32_t* counts;       // H[b * columns + c]: items of column c in bucket b
  std::uint32_t* tile_counts;  // what split keeps of each tile and bucket: [tile * buckets + b]
};

template <class Policy, class Source, class BucketOf>
struct count_kernel {
  using key_type = typename Source::value_type;
  using policy = Policy;

  template <class Team>
  using scratch = typename detail::split_t<Team, key_type, policy>::count_scratch;

  Source keys;
  item_count n;
  BucketOf bucket_of;
  std::uint32_t buckets;
  split_columns grid;
  status* errors;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using split = detail::split_t<Team, key_type, policy>;
    const std::int64_t count = n();
    const auto [begin, end] = team.share(grid.columns);
    for (std::int64_t c = begin; c < end; ++c) {
      std::uint32_t* column = grid.counts + c;
      split::count(
          team, shared, keys, grid.tiles, c, grid.columns, count, bucket_of, buckets,
          grid.tile_counts,
          [column, stride = grid.columns](std::uint32_t b, std::uint32_t x) {
            column[b * stride] = x;
          },
          [&](std::uint32_t bad) {
            if (errors != nullptr) team.warp().fetch_add(errors->bad_items, bad);
          });
      team.barrier();
    }
  }
};

/// Where the items of every column and bucket begin: starts[c * buckets + b], counted from the
/// first place of bucket b, which is starts[columns * buckets + b]; behind that the number of all
/// items that are in buckets. A team scans rows of H, the team that finishes last the rows' sums.
/// Much smaller than the general scan, which has to come from memory before it runs.
struct starts_kernel {
  struct policy : launch_policy {};
  template <class Team>
  struct scratch {
    std::uint64_t sum[Team::warps];
    std::uint64_t control;
  };

  std::uint32_t buckets;
  split_columns grid;
  std::int64_t* starts;
  std::uint64_t* control;  // a chain's control word; its lower half counts teams that have finished
  detail::integers offsets;
  item_count n;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using warp_type = typename Team::warp_type;
    using u64s = typename warp_type::template lanes<std::uint64_t>;
    constexpr std::int64_t width = warp_type::width;
    const auto warp = team.warp();
    std::int64_t* const first = starts + grid.columns * buckets;
    const auto [begin, end] = team.share(buckets);
    const index_range mine = even_share(grid.columns, team.warp_index(), Team::warps);
    for (std::int64_t b = begin; b < end; ++b) {
      const std::uint32_t* const row = grid.counts + b * grid.columns;
      const auto window = [&](std::int64_t c) LANEWISE_INLINE_LAMBDA {
        const std::int64_t left = mine.end - c;
        const auto exists =
            warp.template first<std::uint32_t>(static_cast<int>(left < width ? left : width));
        return warp.template cast<std::uint64_t>(warp.load(exists, row + c, 0u));
      };
      u64s sums(std::uint64_t{0});
      for (std::int64_t c = mine.begin; c < mine.end; c += width) sums = sums + window(c);
      const std::uint64_t sum = warp.reduce(sums, plus{});
      warp.once([&] { shared.sum[team.warp_index()] = sum; });
      team.barrier();
      std::uint64_t before = 0;
      for (int w = 0; w < team.warp_index(); ++w) before += shared.sum[w];
      if (team.warp_index() == Team::warps - 1)
        warp.once([&] { first[b] = static_cast<std::int64_t>(before + sum); });
      for (std::int64_t c = mine.begin; c < mine.end; c += width) {
        const auto count = window(c);
        const auto upto = warp.inclusive_scan(count, plus{});
        auto place = upto - count + u64s(before);
        auto column =
            warp.template cast<std::uint64_t>(warp.lane()) + u64s(static_cast<std::uint64_t>(c));
        warp.each(
            column < static_cast<std::uint64_t>(mine.end),
            [&](std::uint64_t i, std::uint64_t x) {
              starts[i * buckets + static_cast<std::uint64_t>(b)] = static_cast<std::int64_t>(x);
            },
            column, place);
        before += warp.broadcast(upto, static_cast<int>(width) - 1);
      }
      team.barrier();
    }
    if (team.warp_index() == 0) {
      const std::uint64_t word = warp.template fetch_add<order::acq_rel>(*control, 1);
      warp.once([&] { shared.control = word + 1; });
    }
    team.barrier();
    if (static_cast<std::uint32_t>(shared.control) != team.league()) return;
    if (team.warp_index() != 0) return;
    std::int64_t before = 0;
    for (std::uint32_t b = 0; b < buckets; b += width) {
      auto bucket = warp.lane() + typename warp_type::template lanes<std::uint32_t>(b);
      const auto exists = bucket < buckets;
      const auto total = warp.load(exists, first + b, std::int64_t{0});
      const auto upto = warp.inclusive_scan(total, plus{});
      auto place = upto - total + typename warp_type::template lanes<std::int64_t>(before);
      warp.each(
          exists,
          [&](std::uint32_t i, std::int64_t x) {
            first[i] = x;
            if (offsets.exist()) offsets.put(i, x);
          },
          bucket, place);
      before += warp.broadcast(upto, static_cast<int>(width) - 1);
    }
    warp.once([&] {
      first[buckets] = before;
      first[buckets + 1] = n();
      if (offsets.exist()) offsets.put(buckets, before);
      *control = shared.control >> 32 << 32;
    });
  }
};

/// Sends every item to its place.
template <class Policy, class Source, class Sink, class Values, class ValueSink, class BucketOf>
struct place_kernel {
  using key_type = typename Source::value_type;
  using policy = Policy;
  static constexpr int value_bytes = detail::value_bytes<Values>;

  template <class Team>
  using scratch = typename detail::split_t<Team, key_type, policy>::template scratch<value_bytes>;

  Source keys;
  Sink keys_out;
  Values values;
  ValueSink values_out;
  BucketOf bucket_of;
  std::uint32_t buckets;
  split_columns grid;
  const std::int64_t* starts;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using split = detail::split_t<Team, key_type, policy>;
    const std::int64_t kept = starts[(grid.columns + 1) * buckets];
    const std::int64_t count = starts[(grid.columns + 1) * buckets + 1];
    const auto [begin, end] = team.share(split::pieces(grid.tiles, grid.columns));
    for (std::int64_t piece = begin; piece < end; ++piece) {
      split::place(team, shared, keys, grid.tiles, piece, grid.columns, count, bucket_of, buckets,
                   kept == count, grid.tile_counts, starts, kept, keys_out, values, values_out);
      team.barrier();
    }
  }
};

/// One team of 16 warps, a tile of which takes up to 40 KiB of scratch.
template <class Key>
struct few_policy : launch_policy {
  static constexpr int warps = 16;
  static constexpr int items_per_lane = sizeof(Key) <= 4    ? 16
                                        : sizeof(Key) >= 64 ? 1
                                                            : 64 / sizeof(Key);
};

/// One team takes all items if they are at most so many, as three launches would take longer. On
/// hosts the limit grows with the buckets: threads with few items of each bucket wait for each
/// other's lines. (Xeon, 16 cores, us for 2^14 keys into 8, 32 and 256 buckets: one thread 37, 36
/// and 37, a plain loop 47, the same loop by 16 threads 22, 23 and 75. 2^16 keys into 256 buckets
/// take one thread 137 and 16 threads 90.) A thread that is alone takes more where it counts and
/// spreads items in one pass.
template <class Split, class Policy>
constexpr std::int64_t few_items(std::int64_t buckets, std::size_t bytes, bool alone = false) {
  if (Split::few_per_bucket == 0) return 1 << 14;
  constexpr std::int64_t few = 1 << 13, more = 1 << 15;
  const std::int64_t unstaged = (Policy::host_bytes_staged - 1) / static_cast<std::int64_t>(bytes);
  const std::int64_t most = unstaged < more ? unstaged : more;
  const std::int64_t wanted = alone ? more : std::max(few, Split::few_per_bucket * buckets);
  return std::min(wanted, most);
}

/// One team counts and places all items.
template <class Source, class Sink, class Values, class ValueSink, class BucketOf>
struct few_kernel {
  using key_type = typename Source::value_type;
  using policy = few_policy<key_type>;
  static constexpr int value_bytes = detail::value_bytes<Values>;
  template <class Team>
  using split = split_tile_t<Team, key_type, policy>;

  template <class Team>
  struct scratch {
    bucket_counters<1, most_buckets> counters;
    std::int64_t next[most_buckets];
    std::int64_t kept;
    typename split<Team>::template scratch<value_bytes> tile;
  };

  Source keys;
  Sink keys_out;
  Values values;
  ValueSink values_out;
  item_count n;
  BucketOf bucket_of;
  std::uint32_t buckets;
  detail::integers offsets;
  status* errors;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const std::int64_t items = n();
    clear(team, shared.counters);
    team.barrier();
    split<Team>::count_all(team, shared.tile, shared.counters, keys, items, bucket_of, buckets,
                           values);
    team.barrier();
    if (team.warp_index() == 0) scan(team.warp(), shared, items);
    team.barrier();
    split<Team>::place_all(team, shared.tile, keys, items, bucket_of, buckets, shared.kept == items,
                           shared.next, keys_out, values, values_out);
  }

 private:
  template <class W, class Scratch>
  LANEWISE_FUNCTION void scan(const W& warp, Scratch& shared, std::int64_t items) const {
    std::int64_t before = 0;
    for (std::uint32_t b = 0; b < buckets; b += W::width) {
      auto bucket = warp.lane() + typename W::template lanes<std::uint32_t>(b);
      const auto total = warp.template cast<std::int64_t>(warp.load(shared.counters.count + b));
      const auto upto = warp.inclusive_scan(total, plus{});
      auto place = upto - total + decltype(total)(before);
      warp.store(shared.next + b, place);
      warp.each(
          bucket < buckets,
          [&](std::uint32_t i, std::int64_t x) {
            if (offsets.exist()) offsets.put(i, x);
          },
          bucket, place);
      before += warp.broadcast(upto, W::width - 1);
    }
    warp.once([&] {
      shared.kept = before;
      if (offsets.exist()) offsets.put(buckets, before);
    });
    if (before != items && errors != nullptr) warp.fetch_add(errors->bad_items, items - before);
  }
};

template <class Key, class Exec, class Policy = split_policy<Key>>
using split_of = detail::split_t<team_t<Exec, Policy>, Key, Policy>;

/// Where the parts of multisplit's workspace lie: for as many columns as there may be, as the size
/// must not depend on the number of teams.
template <class Key, class Exec, class Policy = split_policy<Key>>
struct split_layout {
  using split = split_of<Key, Exec, Policy>;

  std::int64_t tiles;
  std::size_t counts_at = 0;
  std::size_t tile_counts_at;
  std::size_t starts_at;
  workspace_size need;

  split_layout(std::int64_t n, std::uint32_t buckets)
      : tiles(n > 0 ? divide_up(n, split::tile_items(n)) : 1) {
    const std::int64_t entries = buckets * split::most_columns(tiles);
    tile_counts_at = round_up(entries * sizeof(std::uint32_t));
    starts_at =
        tile_counts_at + round_up(split::tile_counters(tiles, buckets) * sizeof(std::uint32_t));
    need = {1, starts_at + (entries + buckets + 2) * sizeof(std::int64_t)};
  }
  static std::size_t round_up(std::size_t bytes) { return (bytes + 63) / 64 * 64; }
};

}  // namespace kernels

/// Options of multisplit.
struct multisplit_options {
  /// Memory for temporaries; without it the call allocates in the order of its instance.
  workspace_ref work = {};
  /// A rank-0 View of integers, read on the device when the call runs: the number of items. The
  /// extents are the upper bound.
  option_view<const std::int64_t> count = {};
  /// A View of integers. Receives bucket_count + 1 entries: where every bucket begins, and the
  /// number of items kept; the greatest integer of the type where these are greater.
  option_view<std::int64_t> offsets = {};
  /// Counts items whose bucket is out of range; such items are skipped.
  option_view<status> errors = {};
};

/// The workspace that multisplit needs for n keys of type Key, with values or without, and
/// this many buckets. Needs no device.
template <class Key, class Exec>
workspace_size multisplit_workspace(std::int64_t n, std::uint32_t buckets) {
  const auto pairs = [&](auto bytes) {
    using policy = kernels::split_pairs_policy<Key, decltype(bytes)::value>;
    return kernels::split_layout<Key, Exec, policy>(n, buckets).need;
  };
  return max(kernels::split_layout<Key, Exec>(n, buckets).need,
             max(pairs(std::integral_constant<int, 4>{}), pairs(std::integral_constant<int, 8>{})));
}

namespace kernels {

/// Values beside keys, if there are any.
template <class Exec, class Values, class ValueSink>
constexpr bool check_values() {
  if constexpr (std::is_same_v<Values, std::nullptr_t>) {
    return true;
  } else {
    return detail::check_results<Exec, typename Values::value_type, ValueSink>();
  }
}

template <class Policy, class Exec, class Source, class Sink, class Values, class ValueSink,
          class BucketOf>
void multisplit(const Exec& exec, const Source& keys, const Sink& keys_out, const Values& values,
                const ValueSink& values_out, std::int64_t buckets, const BucketOf& bucket_of,
                const multisplit_options& with) {
  using key_type = typename Source::value_type;
  detail::expects(buckets >= 1 && buckets <= most_buckets, "multisplit: bucket_count is ", buckets,
                  ", not in [1, ", most_buckets, "]");
  detail::expects(keys_out.extent >= keys.extent, "multisplit: keys_out has ", keys_out.extent,
                  " places, keys has ", keys.extent, " items");
  detail::expects_memory(keys, "multisplit", "keys");
  detail::expects_memory(keys_out, "multisplit", "keys_out");
  detail::expects_no_partial_overlap(keys, keys_out, "multisplit", "keys", "keys_out", false);
  detail::expects(!with.offsets.is_given() || with.offsets.extent() >= buckets + 1,
                  "multisplit: options.offsets has ", with.offsets.extent(),
                  " entries, bucket_count + 1 is ", buckets + 1);
  with.count.expects_reachable<Exec>("multisplit", "options.count");
  with.offsets.expects_reachable<Exec>("multisplit", "options.offsets", 0);
  with.errors.expects_reachable<Exec>("multisplit", "options.errors");
  const item_count n{keys.extent, with.count.data()};
  using backend = backend_of<Exec>;
  const auto m = static_cast<std::uint32_t>(buckets);
  const split_layout<key_type, Exec, Policy> layout(keys.extent, m);
  auto work = call_workspace::make<backend>(exec, with.work, layout.need, "multisplit");
  auto* memory = static_cast<char*>(work.get().plain());
  auto* starts = reinterpret_cast<std::int64_t*>(memory + layout.starts_at);
  using counting = count_kernel<Policy, Source, BucketOf>;
  using placing = place_kernel<Policy, Source, Sink, Values, ValueSink, BucketOf>;
  using split = typename decltype(layout)::split;
  const std::int64_t columns = split::columns(
      layout.tiles, layout.tiles <= split::few_tiles
                        ? layout.tiles
                        : backend::template resident_league<counting>(exec, layout.tiles));
  const split_columns grid{layout.tiles, columns,
                           reinterpret_cast<std::uint32_t*>(memory + layout.counts_at),
                           reinterpret_cast<std::uint32_t*>(memory + layout.tile_counts_at)};
  if constexpr (detail::check_bucket_of<Exec, BucketOf, key_type>() &&
                detail::check_results<Exec, key_type, Sink>() &&
                check_values<Exec, Values, ValueSink>()) {
    status* const errors = with.errors.data() != nullptr ? with.errors.data() : work.get().errors();
    if (keys.extent <=
        few_items<split, Policy>(m, sizeof(key_type) + detail::value_bytes<Values>,
                                 backend::template resident_teams<counting>(exec) == 1)) {
      launch(exec, "Lanewise::multisplit", 1,
             few_kernel<Source, Sink, Values, ValueSink, BucketOf>{
                 keys, keys_out, values, values_out, n, bucket_of, m, with.offsets.data(), errors});
      return;
    }
    launch(exec, "Lanewise::multisplit::count",
           backend::template league_for_tiles<counting>(exec, columns),
           counting{keys, n, bucket_of, m, grid, errors});
    launch(exec, "Lanewise::multisplit::scan",
           backend::template league_for_tiles<starts_kernel>(exec, buckets),
           starts_kernel{m, grid, starts,
                         work.get().template make_look_back_chain<std::int64_t>(0).control,
                         with.offsets.data(), n});
    launch(exec, "Lanewise::multisplit::place",
           backend::template league_for_tiles<placing>(exec, split::pieces(layout.tiles, columns)),
           placing{keys, keys_out, values, values_out, bucket_of, m, grid, starts});
  }
}

}  // namespace kernels

/// Permutes keys so that the keys of every bucket lie together, buckets in ascending order, and
/// keys of one bucket in input order (stable): keys_out is the concatenation over b of the keys
/// with bucket_of(key) == b.
///
/// bucket_of is a pure scalar function object from a key to a bucket in [0, bucket_count), 1 <=
/// bucket_count <= 256, called up to three times per key. A key with any other bucket is skipped
/// and counted in options.errors, else in options.work, so the output is shorter. keys and keys_out
/// are contiguous rank-1 Views (keys may be a source) that do not overlap. Three launches, or one
/// for up to 2^14 items (on hosts up to 2^13 to 2^15); 2 n key reads, n key writes,
/// and for the counts 8 bytes per bucket and tile; O(n) work. The result is the same on every
/// backend. Does not block. Throws std::invalid_argument on a wrong bucket_count, wrong extents,
/// overlap, or an option that cannot be reached. (GPU Multisplit, sections 4 and 5.2.2; Ashkiani,
/// chapter 3.)
template <execution_space Exec, class Keys, class KeysOut, class BucketOf>
void multisplit(const Exec& exec, const Keys& keys, const KeysOut& keys_out,
                std::int64_t bucket_count, const BucketOf& bucket_of,
                const multisplit_options& with = {}) {
  const auto source = detail::as_source<Exec>(keys);
  using policy = kernels::split_policy<typename decltype(source)::value_type>;
  kernels::multisplit<policy>(exec, source, detail::as_sink<Exec>(keys_out), nullptr, nullptr,
                              bucket_count, bucket_of, with);
}

/// The same for pairs: values go the way of their keys. values_out must not overlap any other
/// array; the values are read and written once more.
template <execution_space Exec, class Keys, class Values, class KeysOut, class ValuesOut,
          class BucketOf>
void multisplit(const Exec& exec, const Keys& keys, const Values& values, const KeysOut& keys_out,
                const ValuesOut& values_out, std::int64_t bucket_count, const BucketOf& bucket_of,
                const multisplit_options& with = {}) {
  const auto key_source = detail::as_source<Exec>(keys);
  const auto source = detail::as_source<Exec>(values);
  const auto sink = detail::as_sink<Exec>(values_out);
  detail::expects(source.extent == key_source.extent, "multisplit: values has ", source.extent,
                  " items, keys has ", key_source.extent);
  detail::expects(sink.extent >= source.extent, "multisplit: values_out has ", sink.extent,
                  " places, values has ", source.extent, " items");
  detail::expects_memory(source, "multisplit", "values");
  detail::expects_memory(sink, "multisplit", "values_out");
  detail::expects_no_partial_overlap(source, sink, "multisplit", "values", "values_out", false);
  detail::expects_no_partial_overlap(key_source, sink, "multisplit", "keys", "values_out", false);
  const auto key_sink = detail::as_sink<Exec>(keys_out);
  detail::expects_no_partial_overlap(source, key_sink, "multisplit", "values", "keys_out", false);
  detail::expects_no_partial_overlap(key_sink, sink, "multisplit", "keys_out", "values_out", false);
  using policy =
      kernels::split_pairs_policy<typename decltype(key_source)::value_type,
                                  static_cast<int>(sizeof(typename decltype(source)::value_type))>;
  kernels::multisplit<policy>(exec, key_source, key_sink, source, sink, bucket_count, bucket_of,
                              with);
}

LANEWISE_END_TARGET_NAMESPACE
