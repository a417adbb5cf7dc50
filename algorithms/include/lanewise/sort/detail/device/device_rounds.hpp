// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/league/look_back_counts.hpp>
#include <lanewise/sort/detail/multisplit_kernels.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

// Two rounds on a device: the first counts the digits of both, so that the second need not read the
// items once more before it places them. What is before one of its tiles it hears from the
// tiles in front.

/// Counts columns by the digit of the first round, and all items by that of the second.
template <class Policy, class Source, class BucketOf>
struct count_twice_kernel {
  using key_type = typename Source::value_type;
  using policy = Policy;
  template <class Team>
  using split = detail::split_t<Team, key_type, policy>;
  template <class Team>
  struct scratch {
    typename split<Team>::count_scratch columns;
    bucket_counters<1, most_buckets> later;
  };

  Source keys;
  item_count n;
  BucketOf bucket_of;
  std::uint32_t all;
  bucket_digits digits;
  split_columns grid;
  later_buckets later;
  status* errors;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using u32s = lanes_t<typename Team::warp_type, std::uint32_t>;
    const auto warp = team.warp();
    const std::int64_t count = n();
    const auto shift = static_cast<std::uint32_t>(digits.lower_bits);
    lanewise::clear(team, shared.later);
    // count begins with a barrier.
    const auto [begin, end] = team.share(grid.columns);
    for (std::int64_t c = begin; c < end; ++c) {
      std::uint32_t* const column = grid.counts + c;
      split<Team>::count_by(
          team, shared.columns, keys, grid.tiles, c, grid.columns, count, bucket_of, all,
          digits.buckets[0],
          [&](const auto& good, const u32s& bucket) LANEWISE_INLINE_LAMBDA {
            warp.template fetch_add<order::relaxed, scope::team>(good, shared.later.count,
                                                                 bucket >> u32s(shift), u32s(1u));
            return bucket & u32s(digits.buckets[0] - 1);
          },
          grid.tile_counts,
          [column, stride = grid.columns](std::uint32_t b, std::uint32_t x) {
            column[b * stride] = x;
          },
          [&](std::uint32_t bad) {
            if (errors != nullptr) warp.fetch_add(errors->bad_items, bad);
          });
      team.barrier();
    }
    lanewise::for_each_window(team, shared.later, [&](int b, const u32s& x) LANEWISE_INLINE_LAMBDA {
      const auto sum = warp.template cast<std::uint64_t>(x);
      warp.fetch_add(sum != std::uint64_t{0}, later.begins + b, warp.lane(), sum);
    });
  }
};

/// Sends every item to its place of the second round. Tiles are taken in their order.
template <class Policy, class Word, class Source, class Sink, class Values, class ValueSink,
          class BucketOf>
struct place_later_kernel {
  using key_type = typename Source::value_type;
  using policy = Policy;
  static constexpr int value_bytes = detail::value_bytes<Values>;
  template <class Team>
  using split = split_tile_t<Team, key_type, policy>;
  template <class Team>
  struct scratch {
    typename split<Team>::template scratch<value_bytes> tile;
    std::uint32_t ticket;
  };

  Source keys;
  Sink keys_out;
  Values values;
  ValueSink values_out;
  digit_of_bucket<BucketOf> digit;
  later_buckets later;
  Word* words;  // 0
  std::uint32_t* tickets;
  const std::int64_t* kept_at;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const std::int64_t kept = *kept_at;
    const auto tiles =
        static_cast<std::uint32_t>(divide_up(kept, std::int64_t{split<Team>::items}));
    lanewise::for_each_tile_in_order<true>(
        team, shared.ticket, *tickets, tiles, [&](std::uint32_t t) {
          const look_back_offsets<Word> places{{words, later.buckets}, later.begins, t};
          split<Team>::place(team, shared.tile, keys, std::int64_t{t} * split<Team>::items, kept,
                             digit, later.buckets, true, places, kept, keys_out, values,
                             values_out);
        });
  }
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
