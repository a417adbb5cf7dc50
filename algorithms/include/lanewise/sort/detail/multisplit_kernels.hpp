// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/call/status.hpp>
#include <lanewise/common/options.hpp>
#include <lanewise/sort/detail/multisplit_policy.hpp>
#include <lanewise/sort/detail/split.hpp>
#include <lanewise/team/bucket_counts.hpp>
#include <lanewise/team/team_scan.hpp>
#include <lanewise/warp/search.hpp>

#include <algorithm>
#include <bit>

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

// Multisplit in the paper's three steps. Count every column's buckets into the matrix H (bucket by
// column). Scan H in bucket-major order. Send every item to the place that the scan reserved for
// its bucket and column. A column is a run of tiles that one team counts. On the host it is a
// thread's share, which that thread places too. On a GPU there are a few for every team; tiles are
// placed one by one, so what precedes a tile in its column is written down when it is counted.
// split_tile_t does the work in a tile: ranking, and bringing neighbours of the output together.

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

/// Scans numbers of_row(b) for b in [0, rows) by a team: put(b, before). Returns the sum.
template <class T, class Team, class Scratch, class OfRow, class Put>
LANEWISE_FUNCTION T scan_rows(const Team& team, Scratch& shared, std::uint32_t rows, OfRow of_row,
                              Put put) {
  using warp_type = typename Team::warp_type;
  constexpr std::uint32_t width = warp_type::width;
  const auto warp = team.warp();
  T sum = 0;
  for (std::uint32_t first = 0; first < rows; first += Team::warps * width) {
    auto row = warp.lane() + lanes_t<warp_type, std::uint32_t>(
                                 first + static_cast<std::uint32_t>(team.warp_index()) * width);
    const auto exists = row < rows;
    auto scan =
        scan_by_shuffles::scan(team, shared, warp.map(exists, of_row, T{0}, row), plus{}, sum);
    warp.each(exists, put, row, scan.before);
    sum = scan.total;
  }
  return sum;
}

/// The items of every bucket of a second round, which the first round counts, and from its scan on
/// where they begin.
struct later_buckets {
  std::uint64_t* begins;  // nullptr: there is no such round
  std::uint32_t buckets;

  /// By a team.
  template <class Team, class Scratch>
  LANEWISE_FUNCTION void scan(const Team& team, Scratch& shared) const {
    if (begins == nullptr) return;
    kernels::scan_rows<std::uint64_t>(
        team, shared, buckets, [&](std::uint32_t b) { return begins[b]; },
        [&](std::uint32_t b, std::uint64_t before) { begins[b] = before; });
  }
};

/// Finds where the items of every column and bucket begin. starts[c * buckets + b] is counted from
/// the first place of bucket b, which is starts[columns * buckets + b]; after that the number of
/// all items that are in buckets. A team scans rows of H; the team that finishes last scans the
/// rows' sums. Much smaller than the general scan, which has to come from memory before it runs.
struct starts_kernel {
  struct policy : launch_policy {};
  template <class Team>
  struct scratch {
    std::uint64_t sum[Team::warps];
    scan_by_shuffles::scratch<Team, std::int64_t> scan;
    scan_by_shuffles::scratch<Team, std::uint64_t> later_scan;
    std::uint64_t control;
  };

  std::uint32_t buckets;
  split_columns grid;
  std::int64_t* starts;
  std::uint64_t* control;  // a chain's control word; its lower half counts teams that have finished
  detail::integers offsets;
  item_count n;
  later_buckets later = {};

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using warp_type = typename Team::warp_type;
    using u64s = lanes_t<warp_type, std::uint64_t>;
    constexpr std::int64_t width = warp_type::width;
    const auto warp = team.warp();
    std::int64_t* const first = starts + grid.columns * buckets;
    const auto [begin, end] = team.share(buckets);
    const index_range mine = lanewise::even_share(grid.columns, team.warp_index(), Team::warps);
    for (std::int64_t b = begin; b < end; ++b) {
      const std::uint32_t* const row = grid.counts + b * grid.columns;
      const auto window = [&](std::int64_t c) LANEWISE_INLINE_LAMBDA {
        const std::int64_t left = mine.end - c;
        const auto exists = warp.template first<std::uint32_t>(left);
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
    later.scan(team, shared.later_scan);
    const std::int64_t kept = kernels::scan_rows<std::int64_t>(
        team, shared.scan, buckets, [&](std::uint32_t b) { return first[b]; },
        [&](std::uint32_t b, std::int64_t x) {
          first[b] = x;
          if (offsets.exist()) offsets.put(b, x);
        });
    team.once([&] {
      first[buckets] = kept;
      first[buckets + 1] = n();
      if (offsets.exist()) offsets.put(buckets, kept);
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
    const auto place = [&](std::int64_t piece) LANEWISE_INLINE_LAMBDA {
      split::place(team, shared, keys, grid.tiles, piece, grid.columns, count, bucket_of, buckets,
                   kept == count, grid.tile_counts, starts, kept, keys_out, values, values_out);
      team.barrier();
    };
    const std::int64_t pieces = split::pieces(grid.tiles, grid.columns);
    if constexpr (Sink::contiguous) {
      // As the loop of a share pairs go into 256 buckets 4 % faster, keys 1.5 %.
      const auto [begin, end] = team.share(pieces);
      for (std::int64_t piece = begin; piece < end; ++piece) place(piece);
    } else {
      // A function that divides beside the share's division took nvcc 13.0 more registers than
      // there are.
      lanewise::for_each_tile(team, pieces, place);
    }
  }
};

/// One team of 16 warps. A tile takes up to 40 KiB of its scratch.
template <class Key>
struct few_policy : launch_policy {
  static constexpr int warps = 16;
  static constexpr int items_per_lane = sizeof(Key) <= 4    ? 16
                                        : sizeof(Key) >= 64 ? 1
                                                            : 64 / sizeof(Key);
};

/// One team takes all items if they are at most few_items, as three launches would take longer. On
/// hosts the limit grows with the buckets: threads with few items of each bucket wait for each
/// other's lines. (Xeon, 16 cores, us for 2^14 keys into 8, 32 and 256 buckets: one thread 37, 36
/// and 37, a plain loop 47, the same loop by 16 threads 22, 23 and 75. 2^16 keys into 256 buckets
/// take one thread 137 and 16 threads 90.) A thread that is alone takes all that is not staged.
template <class Split, class Policy>
constexpr std::int64_t few_items(std::int64_t buckets, std::size_t bytes, bool alone = false) {
  if (Split::few_per_bucket == 0) return 1 << 14;
  constexpr std::int64_t few = 1 << 13, more = 1 << 15;
  const std::int64_t unstaged = (Policy::host_bytes_staged - 1) / static_cast<std::int64_t>(bytes);
  if (alone) return unstaged;
  return std::min({std::max(few, Split::few_per_bucket * buckets), more, unstaged});
}

/// Stores where a bucket begins, if anybody wants to know.
struct put_begin {
  detail::integers offsets;
  LANEWISE_FUNCTION void operator()(std::uint32_t b, std::int64_t place) const {
    if (offsets.exist()) offsets.put(b, place);
  }
};

struct forget_begin {
  LANEWISE_FUNCTION void operator()(std::uint32_t, std::int64_t) const {}
};

/// What is known when a team has split all items: by one warp, to put(kept).
template <class W, class Put>
LANEWISE_FUNCTION void report_kept(const W& warp, std::int64_t kept, std::int64_t items,
                                   status* errors, Put put) {
  warp.once([&] { put(kept); });
  if (kept != items && errors != nullptr)
    warp.fetch_add(errors->bad_items, static_cast<std::uint64_t>(items - kept));
}

/// One team counts and places all items.
template <class Source, class Sink, class Values, class ValueSink, class BucketOf>
struct single_team_split_kernel {
  using key_type = typename Source::value_type;
  using policy = few_policy<key_type>;
  static constexpr int value_bytes = detail::value_bytes<Values>;
  template <class Team>
  using split = split_tile_t<Team, key_type, policy>;
  template <class Team>
  using scratch = typename split<Team>::template all_scratch<value_bytes>;

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
    const put_begin begins{offsets};
    const std::int64_t kept = split<Team>::split_all(team, shared, keys, items, bucket_of, buckets,
                                                     begins, keys_out, values, values_out);
    if (team.warp_index() == 0)
      kernels::report_kept(team.warp(), kept, items, errors,
                           [&](std::int64_t k) { begins(buckets, k); });
  }
};

/// The digits of a bucket's number: buckets of the first and of the second round of a split that
/// takes two.
struct bucket_digits {
  int lower_bits;
  std::uint32_t buckets[2];

  /// 4096 buckets are 64 x 64, 65,536 are 256 x 256.
  explicit bucket_digits(std::uint32_t all)
      : lower_bits(std::bit_width(all - 1) / 2),
        buckets{std::uint32_t{1} << lower_bits, ((all - 1) >> lower_bits) + 1} {}
};

/// A digit of a key's bucket; of no bucket, if that is none.
template <class BucketOf>
struct digit_of_bucket {
  BucketOf bucket_of;
  std::uint32_t buckets;  // all
  int shift;
  std::uint32_t mask;

  template <class Key>
  LANEWISE_FUNCTION std::uint32_t operator()(const Key& key) const {
    const std::uint32_t b = detail::bucket_number(bucket_of(key));
    return b < buckets ? b >> shift & mask : ~std::uint32_t{0};
  }
};

/// One team sends all items by the lower digits of their buckets to Between, and from there by the
/// upper ones. Between has the sinks and sources of an array.
template <class Source, class Sink, class Values, class ValueSink, class BucketOf, class Between,
          class ValuesBetween>
struct single_team_split_twice_kernel {
  using key_type = typename Source::value_type;
  using policy = few_policy<key_type>;
  static constexpr int value_bytes = detail::value_bytes<Values>;
  template <class Team>
  using split = split_tile_t<Team, key_type, policy>;
  template <class Team>
  using scratch = typename split<Team>::template all_scratch<value_bytes>;

  Source keys;
  Sink keys_out;
  Values values;
  ValueSink values_out;
  item_count n;
  digit_of_bucket<BucketOf> digit[2];
  std::uint32_t buckets[2];
  Between between;
  ValuesBetween values_between;
  std::int64_t* kept_at;
  status* errors;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const std::int64_t items = n();
    const forget_begin nothing;
    const std::int64_t kept =
        split<Team>::split_all(team, shared, keys, items, digit[0], buckets[0], nothing,
                               between.sink(), values, values_between.sink());
    team.barrier();
    split<Team>::split_all(team, shared, between.source(), kept, digit[1], buckets[1], nothing,
                           keys_out, values_between.source(), values_out);
    if (team.warp_index() == 0)
      kernels::report_kept(team.warp(), kept, items, errors, [&](std::int64_t k) { *kept_at = k; });
  }
};

/// Finds where buckets begin in an array that is in their order.
template <class Key, class BucketOf>
struct begins_kernel {
  struct policy : launch_policy {
    static constexpr int warps = 4;
  };
  template <class Team>
  struct scratch {};

  const Key* sorted;
  item_count n;
  BucketOf bucket_of;
  std::uint32_t buckets;
  detail::integers offsets;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    constexpr std::int64_t width = warp_type::width;
    const auto warp = team.warp();
    const std::int64_t kept = n();
    const index_range mine = team.share(buckets + std::int64_t{1});
    const std::int64_t begin = mine.begin, end = mine.end;
    if constexpr (Team::is_single_thread) {
      // One thread finds a bucket from where the one before begins, as most are near. Those up to
      // that of the item there begin there, too.
      warp.once([&] {
        std::int64_t at = begin_of(begin, 0, kept), b = begin;
        while (b < end) {
          std::int64_t upto = at;
          for (std::int64_t step = 1; upto < kept && is_before(upto, b); step *= 2) {
            at = upto + 1;
            upto = upto + step < kept ? upto + step : kept;
          }
          at = begin_of(b, at, upto);
          const std::int64_t next = at < kept ? Kokkos::min(bucket(at) + 1, end) : end;
          offsets.fill(b, next, at);
          b = next;
        }
      });
    } else {
      // A warp finds where its buckets begin, and its lanes each of them in between.
      for (std::int64_t b = begin + team.warp_index() * width; b < end; b += Team::warps * width) {
        const std::int64_t left = end - b;
        const std::int64_t first = lanewise::partition_point(
            warp, std::int64_t{0}, kept, [&](std::int64_t i) { return is_before(i, b); });
        const std::int64_t last = lanewise::partition_point(
            warp, first, kept, [&](std::int64_t i) { return is_before(i, b + width); });
        auto number = warp.template cast<std::int64_t>(warp.lane()) +
                      typename warp_type::template lanes<std::int64_t>(b);
        warp.each(
            warp.template first<std::int64_t>(left),
            [&](std::int64_t own) { offsets.put(own, begin_of(own, first, last)); }, number);
      }
    }
  }

 private:
  LANEWISE_FUNCTION std::int64_t bucket(std::int64_t i) const {
    return static_cast<std::int64_t>(detail::bucket_number(bucket_of(sorted[i])));
  }
  LANEWISE_FUNCTION bool is_before(std::int64_t i, std::int64_t b) const { return bucket(i) < b; }
  LANEWISE_FUNCTION std::int64_t begin_of(std::int64_t bucket, std::int64_t first,
                                          std::int64_t last) const {
    return lanewise::partition_point(first, last,
                                     [&](std::int64_t i) { return is_before(i, bucket); });
  }
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
