// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/papers/detail/multisplit_methods/matrix.hpp>
#include <lanewise/papers/detail/names.hpp>

#include <type_traits>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {
namespace kernels {

// The post-scan with tiles that are reordered: see place_directly.hpp.

/// Items of a tile are brought into the order of their buckets in scratch, and leave from there.
template <class Cut, class Source, class Sink, class Values, class ValueSink, class Bucket>
struct place_reordered_kernel {
  using policy = typename Cut::policy;
  using key_type = typename Source::value_type;
  static constexpr bool pairs = !std::is_same_v<Values, std::nullptr_t>;
  using value_type = typename detail::value_of<Values>::type;

  template <class Team>
  struct scratch {
    static constexpr int rows = Cut::by_team ? Team::warps : 1;
    static constexpr int items = Team::warps * Cut::windows * Team::warp_type::width;
    std::uint32_t count[rows][Cut::template room<Team>];
    std::uint32_t total[Cut::by_team ? Cut::template room<Team> : 1];
    alignas(16) alignas(key_type) unsigned char keys[sizeof(key_type) * items];
    alignas(16) alignas(value_type) unsigned char values[pairs ? sizeof(value_type) * items : 1];
  };

  Source keys;
  Sink keys_out;
  Values values;
  ValueSink values_out;
  std::int64_t n;
  Bucket bucket;
  std::uint32_t buckets;
  scanned_matrix begins;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using registers = typename Cut::template registers<Team>;
    Cut::for_each(team, n, [&](std::int64_t s) LANEWISE_INLINE_LAMBDA {
      auto next = begins.template column<registers>(team.warp(), s, buckets);
      Cut::template for_each_tile<Team>(s, n, [&](std::int64_t first) LANEWISE_INLINE_LAMBDA {
        place_tile(team, shared, first, next);
      });
    });
  }

 private:
  /// Warps that share a tile see afterwards what each wrote to scratch.
  template <class Team>
  static LANEWISE_FUNCTION void synchronise(const Team& team) {
    if constexpr (Cut::by_team) {
      team.barrier();
    } else {
      team.warp().fence();
    }
  }

  template <class Team, class Registers>
  LANEWISE_FUNCTION void place_tile(const Team& team, scratch<Team>& shared, std::int64_t first,
                                    Registers& next) const {
    constexpr int width = Registers::width, windows = Cut::windows;
    constexpr int warps = Cut::template warps_of_tile<Team>;
    using u32s = typename Registers::u32s;
    const auto warp = team.warp();
    const int of_warp = Cut::by_team ? 0 : team.warp_index() * windows * width;
    key_type* const staged = reinterpret_cast<key_type*>(shared.keys) + of_warp;
    value_type* const staged_values = reinterpret_cast<value_type*>(shared.values) + of_warp;

    lanes_t<typename Team::warp_type, key_type> key[windows];
    lanes_t<typename Team::warp_type, value_type> value[pairs ? windows : 1];
    u32s slot[windows], b[windows];
    Registers own;
    LANEWISE_UNROLL
    for (int w = 0; w < windows; ++w) {
      const std::int64_t at = Cut::window(team, first, w);
      const auto exists = kernels::lanes_with_items(warp, n - at);
      key[w] = kernels::load_window(warp, exists, keys, at);
      if constexpr (pairs) value[w] = kernels::load_window(warp, exists, values, at);
    }
    LANEWISE_UNROLL
    for (int w = 0; w < windows; ++w) {
      const auto exists = kernels::lanes_with_items(warp, n - Cut::window(team, first, w));
      b[w] = kernels::buckets_of(warp, exists, key[w], bucket);
      Registers count;
      slot[w] = count.vote(warp, exists, b[w], buckets) + own.look_up(warp, b[w], buckets);
      own.add(count);
    }
    Registers total = own, in_front;
    if constexpr (Cut::by_team) add_up_warps(team, shared, own, in_front, total);
    const Registers begin = total.scanned(warp, buckets);
    in_front.add(begin);
    LANEWISE_UNROLL
    for (int w = 0; w < windows; ++w) {
      const auto exists = kernels::lanes_with_items(warp, n - Cut::window(team, first, w));
      const auto to = slot[w] + in_front.look_up(warp, b[w], buckets);
      warp.scatter(exists, staged, to, key[w]);
      if constexpr (pairs) warp.scatter(exists, staged_values, to, value[w]);
    }
    synchronise(team);
    next.subtract(begin);
    LANEWISE_UNROLL
    for (int w = 0; w < windows; ++w) {
      const int row = (w * warps + (Cut::by_team ? team.warp_index() : 0)) * width;
      const auto exists = kernels::lanes_with_items(warp, n - first - row);
      auto k = warp.load(exists, staged + row, key_type{});
      auto place = next.look_up(warp, kernels::buckets_of(warp, exists, k, bucket), buckets) +
                   warp.lane() + u32s(static_cast<std::uint32_t>(row));
      const auto& key_sink = keys_out;
      warp.each(
          exists, [&](std::uint32_t to, const auto& x) LANEWISE_INLINE_LAMBDA { key_sink(to, x); },
          place, k);
      if constexpr (pairs) {
        auto v = warp.load(exists, staged_values + row, value_type{});
        const auto& value_sink = values_out;
        warp.each(
            exists,
            [&](std::uint32_t to, const auto& x) LANEWISE_INLINE_LAMBDA { value_sink(to, x); },
            place, v);
      }
    }
    next.add(begin);
    next.add(total);
    synchronise(team);
  }

  /// From each warp's counts what the warps in front have, and what all have. One warp adds up a
  /// warp's worth of buckets, one row after the other.
  template <class Team, class Registers>
  LANEWISE_FUNCTION void add_up_warps(const Team& team, scratch<Team>& shared, const Registers& own,
                                      Registers& in_front, Registers& total) const {
    constexpr int width = Registers::width;
    const auto warp = team.warp();
    std::uint32_t* const mine = shared.count[team.warp_index()];
    Registers::for_each(warp, buckets, [&](int q, const auto&, const auto&) LANEWISE_INLINE_LAMBDA {
      warp.store(mine + q * width, own.of[q]);
    });
    team.barrier();
    Registers::for_each(warp, buckets, [&](int q, const auto&, const auto&) LANEWISE_INLINE_LAMBDA {
      if (q % Team::warps != team.warp_index()) return;
      typename Registers::u32s sum(0u);
      for (int w = 0; w < Team::warps; ++w) {
        const auto count = warp.load(shared.count[w] + q * width);
        warp.store(shared.count[w] + q * width, sum);
        sum = sum + count;
      }
      warp.store(shared.total + q * width, sum);
    });
    team.barrier();
    Registers::for_each(warp, buckets, [&](int q, const auto&, const auto&) LANEWISE_INLINE_LAMBDA {
      in_front.of[q] = warp.load(mine + q * width);
      total.of[q] = warp.load(shared.total + q * width);
    });
  }
};

}  // namespace kernels
}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
