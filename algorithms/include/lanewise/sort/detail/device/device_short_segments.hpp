// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sort/detail/device/device_block_sort.hpp>
#include <lanewise/sort/detail/segment_plan.hpp>
#include <lanewise/warp/sorting_network.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Sorts the short segments that begin in a window of the path, in a team's scratch. A lane takes
/// 32 keys of a segment into registers and exchanges them by Batcher's network. It puts them back,
/// merged with the keys of the segment that it has sorted before. The network is that of the
/// longest segment in a warp. A few longer segments wait until warps of the team share them, a warp
/// for each. apart: segments do not lie one after the other in memory.
template <class Team, class Bits, class Key, class Value, bool apart>
class device_short_segments {
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;
  static constexpr int threads = Team::warps * width;
  template <class U>
  using lanes = lanes_t<warp_type, U>;
  using u32s = lanes<std::uint32_t>;
  using i64s = lanes<std::int64_t>;
  static constexpr bool has_values = !std::is_empty_v<Value>;
  static constexpr bool bare = std::is_same_v<Key, bare_key<Bits>>;

  static constexpr std::uint32_t at_once = 32;  ///< keys of a lane
  /// Longer segments wait for a warp each if a warp has few of them, or one has many keys more.
  /// Measured: H200, 2 * 10^7 u32 keys, all segments of 64 keys: 262 us by lanes, 177 by warps; of
  /// 33 keys: 161 and 250.
  static constexpr int few = 8;
  static constexpr std::uint32_t many_more = 8;
  static constexpr int items = segment_windows::steps + segment_windows::most_length;
  static_assert(items < 1 << 16);
  /// After 128 bytes of keys, four are left out: lanes that begin 8 or 16 keys apart do not meet
  /// in a bank.
  static constexpr std::uint32_t line = sizeof(Bits) < 128 ? 128 / sizeof(Bits) : 1;
  static constexpr std::uint32_t gap = sizeof(Bits) < 4 ? 4 / sizeof(Bits) : 1;
  static LANEWISE_FUNCTION std::uint32_t padded(std::uint32_t i) { return i + i / line * gap; }

 public:
  struct scratch {
    std::uint16_t begin[segment_windows::steps + 1];
    raw_array<Bits, items + (items / line + 1) * gap> keys;
    std::uint16_t from[bare ? 1 : items];
    raw_array<Value, has_values ? items : 1> values;
    std::uint16_t segment[apart ? items : 1];                    ///< of an item
    std::uint16_t waiting[Team::warps][width];                   ///< segments of a warp
    std::uint16_t longer[segment_windows::steps / at_once + 1];  ///< segments that wait
    std::uint32_t longer_count;
  };

  /// Takes segments [job.first, job.last).
  LANEWISE_FUNCTION device_short_segments(const Team& team, scratch& shared,
                                          const segment_list& list, const segment_job& job)
      : team_(team),
        shared_(shared),
        offset_(list.offset + job.first),
        shift_(apart ? list.shift + job.first : nullptr),
        segments_(static_cast<int>(job.last - job.first)),
        first_(*offset_),
        n_(static_cast<int>(list.items(job.first, job.last))) {}

  LANEWISE_FUNCTION void load(const Bits* keys, const key_map<Bits>& reads, const Value* values) {
    const auto warp = team_.warp();
    team_.once([&] { shared_.longer_count = 0; });
    each_window(segments_ + 1, [&](const auto& there, int i) LANEWISE_INLINE_LAMBDA {
      warp.store(there, shared_.begin + i,
                 warp.template cast<std::uint16_t>(warp.load(there, offset_ + i, std::int64_t{0}) -
                                                   i64s(first_)));
    });
    if constexpr (apart) find_segments();
    constexpr int together = 8;
    for (int i = team_.warp_index() * width; i < n_; i += together * threads) {
      lanes<Bits> x[together];
      [[maybe_unused]] lanes<Value> v[has_values ? together : 1];
      LANEWISE_UNROLL
      for (int j = 0; j < together; ++j) {
        const int at = i + j * threads;
        x[j] = load_items(warp.first(n_ - at), keys, at);
        if constexpr (has_values) v[j] = load_items(warp.first(n_ - at), values, at);
      }
      LANEWISE_UNROLL
      for (int j = 0; j < together; ++j) {
        const int at = i + j * threads;
        warp.scatter(warp.first(n_ - at), shared_.keys.data(), place(at), warp.map(reads, x[j]));
        if constexpr (has_values) warp.store(warp.first(n_ - at), shared_.values.data() + at, v[j]);
      }
    }
    team_.barrier();
  }

  LANEWISE_FUNCTION void sort(radix_range range) {
    const auto warp = team_.warp();
    const Bits ordering = detail::ordering_bits<Bits>(range);
    std::uint16_t* const waiting = shared_.waiting[team_.warp_index()];
    int waits = 0;
    for (int s = team_.warp_index() * width; s < segments_ || waits > 0; s += threads) {
      auto which =
          warp.template cast<std::uint16_t>(warp.lane() + u32s(static_cast<std::uint32_t>(s)));
      auto there = warp.first(segments_ - s);
      auto begin = warp.load(there, shared_.begin + s, std::uint16_t{0});
      auto end = warp.load(there, shared_.begin + s + 1, std::uint16_t{0});
      const auto some = warp.ballot(begin < end);
      if (warp_type::popcount(some) <= width / 2) {
        // Most are empty: the segments with items wait for others.
        warp.scatter(warp.template mask_of<std::uint32_t>(some), waiting + waits, ranks_in(some),
                     which);
        waits += warp_type::popcount(some);
        if (waits <= width / 2 && s + threads < segments_) continue;
        warp.fence();
        there = warp.first(waits);
        which = warp.load(there, waiting, std::uint16_t{0});
        const auto at = warp.template cast<std::uint32_t>(which);
        begin = warp.gather(there, shared_.begin, at, std::uint16_t{0});
        end = warp.gather(there, shared_.begin + 1, at, std::uint16_t{0});
        warp.fence();
        waits = 0;
      }
      const auto first = warp.template cast<std::uint32_t>(begin);
      sort_segments(which, first, warp.template cast<std::uint32_t>(end) - first, ordering);
    }
    team_.barrier();
    const auto longer = static_cast<int>(shared_.longer_count);
    if (longer == 0) return;
    for (int i = team_.warp_index(); i < longer; i += Team::warps) {
      const std::uint32_t begin = shared_.begin[shared_.longer[i]];
      sort_by_warp(begin, shared_.begin[shared_.longer[i] + 1] - begin, ordering);
    }
    team_.barrier();
  }

  LANEWISE_FUNCTION void store(Bits* keys, const key_map<Bits>& writes, Value* values) {
    const auto warp = team_.warp();
    each_window(n_, [&](const auto& there, int i) LANEWISE_INLINE_LAMBDA {
      auto from = place(i);
      if constexpr (!bare) {
        const auto at =
            warp.template cast<std::uint32_t>(warp.load(there, shared_.from + i, std::uint16_t{0}));
        from = warp.map(padded, at);
        if constexpr (has_values)
          store_items(there, values, i, warp.gather(there, shared_.values.data(), at, Value{}));
      }
      store_items(there, keys, i,
                  warp.map([&](Bits x) LANEWISE_INLINE_LAMBDA { return writes.item_of(x); },
                           warp.gather(there, shared_.keys.data(), from, Bits{})));
    });
  }

 private:
  const Team& team_;
  scratch& shared_;
  const std::int64_t* offset_;
  const std::int64_t* shift_;
  int segments_;
  std::int64_t first_;
  int n_;

  /// f(mask, first) for the windows of n things that this warp has.
  template <class F>
  LANEWISE_FUNCTION void each_window(int n, F f) const {
    for (int i = team_.warp_index() * width; i < n; i += threads) f(team_.warp().first(n - i), i);
  }
  LANEWISE_FUNCTION u32s place(int i) const {
    return team_.warp().map(
        [i](std::uint32_t l) { return padded(static_cast<std::uint32_t>(i) + l); },
        team_.warp().lane());
  }

  /// Reads and writes what is in memory where items from i on come from and go to.
  template <class Mask, class U>
  LANEWISE_FUNCTION lanes<U> load_items(const Mask& there, const U* from, int i) const {
    if constexpr (apart) {
      return team_.warp().gather(there, from + first_ + i, places_apart(i), U{});
    } else {
      return team_.warp().load(there, from + first_ + i, U{});
    }
  }
  template <class Mask, class U>
  LANEWISE_FUNCTION void store_items(const Mask& there, U* to, int i, const lanes<U>& x) const {
    if constexpr (apart) {
      team_.warp().scatter(there, to + first_ + i, places_apart(i), x);
    } else {
      team_.warp().store(there, to + first_ + i, x);
    }
  }
  /// Places of items i, i + 1, ..., from first_ + i on.
  LANEWISE_FUNCTION i64s places_apart(int i) const {
    return team_.warp().map(
        team_.warp().first(n_ - i),
        [&](std::uint32_t l) { return shift_[shared_.segment[i + static_cast<int>(l)]] + l; },
        std::int64_t{0}, team_.warp().lane());
  }
  LANEWISE_FUNCTION void find_segments() const {
    team_.barrier();
    each_window(segments_, [&](const auto& there, int s) LANEWISE_INLINE_LAMBDA {
      auto lane = team_.warp().lane();
      team_.warp().each(
          there,
          [&](std::uint32_t l) LANEWISE_INLINE_LAMBDA {
            const std::uint32_t mine = static_cast<std::uint32_t>(s) + l;
            for (int i = shared_.begin[mine]; i < shared_.begin[mine + 1]; ++i)
              shared_.segment[i] = static_cast<std::uint16_t>(mine);
          },
          lane);
    });
    team_.barrier();
  }

  LANEWISE_FUNCTION u32s ranks_in(typename warp_type::bits set) const {
    return team_.warp().map(
        [set](typename warp_type::bits below) {
          return static_cast<std::uint32_t>(warp_type::popcount(set & below));
        },
        team_.warp().lanes_below());
  }
  LANEWISE_FUNCTION void sort_segments(const lanes<std::uint16_t>& which, u32s begin, u32s length,
                                       Bits ordering) {
    const auto warp = team_.warp();
    const auto longer = warp.ballot(length > u32s(at_once));
    if (longer != 0 &&
        (warp_type::popcount(longer) <= few || warp.any(length > u32s(at_once + many_more)))) {
      const std::uint32_t place = warp.template fetch_add<order::relaxed, scope::team>(
          shared_.longer_count, static_cast<std::uint32_t>(warp_type::popcount(longer)));
      warp.scatter(warp.template mask_of<std::uint32_t>(longer), shared_.longer + place,
                   ranks_in(longer), which);
      length = lanewise::select(length > u32s(at_once), u32s(0u), length);
    }
    const std::uint32_t longest = warp.reduce(length, maximum{});
    for (std::uint32_t sorted = 0; sorted < longest; sorted += at_once) {
      auto here = team_.warp().map(
          [=](std::uint32_t n) {
            return n <= sorted ? 0 : (n - sorted < at_once ? n - sorted : at_once);
          },
          length);
      const std::uint32_t most = longest - sorted;
      sort_by_lanes<2>(most < at_once ? most : at_once, begin, here, ordering, sorted);
      begin = begin + u32s(at_once);
    }
  }

  /// Every lane sorts its `length` keys from `begin` on, and merges them with the `sorted` ones
  /// before them.
  template <std::uint32_t most>
  LANEWISE_FUNCTION void sort_by_lanes(std::uint32_t longest, u32s& begin, u32s& length,
                                       Bits ordering, std::uint32_t sorted) {
    if constexpr (most < at_once) {
      if (longest > most) {
        sort_by_lanes<2 * most>(longest, begin, length, ordering, sorted);
        return;
      }
    }
    const lane_keys keys{shared_.keys.data(), shared_.from, ordering};
    team_.warp().each(
        [=](std::uint32_t b, std::uint32_t n) LANEWISE_INLINE_LAMBDA {
          word x[most];
          LANEWISE_UNROLL
          for (std::uint32_t c = 0; c < most; ++c) x[c] = c < n ? keys(b + c) : lane_keys::last();
          detail::sort_in_registers(x);
          if (sorted == 0) {
            LANEWISE_UNROLL
            for (std::uint32_t c = 0; c < most; ++c) {
              if (c < n) keys.put(b + c, x[c]);
            }
            return;
          }
          // From the back, so that sorted keys make room for later ones.
          const std::uint32_t first = b - sorted;
          std::uint32_t left = sorted;
          LANEWISE_UNROLL
          for (std::uint32_t c = most; c-- > 0;) {
            if (c >= n) continue;
            for (; left > 0; --left) {
              const word other = keys.sorted(first + left - 1);
              if (!(x[c] < other)) break;
              keys.put(first + left + c, other);
            }
            keys.put(first + left + c, x[c]);
          }
        },
        begin, length);
  }

  using word = std::conditional_t<bare, Bits, Key>;
  /// The keys of a lane: bare ones are sorted where they are; of others, their places are.
  struct lane_keys {
    Bits* keys;
    std::uint16_t* from;
    Bits ordering;

    static LANEWISE_FUNCTION word last() {
      if constexpr (bare) {
        return static_cast<Bits>(~Bits{0});
      } else {
        return Key(static_cast<Bits>(~Bits{0}), 0xffffu);
      }
    }
    LANEWISE_FUNCTION word operator()(std::uint32_t i) const {
      if constexpr (bare) {
        return keys[padded(i)];
      } else {
        return Key(static_cast<Bits>(keys[padded(i)] & ordering), i);
      }
    }
    LANEWISE_FUNCTION word sorted(std::uint32_t i) const { return (*this)(bare ? i : from[i]); }
    LANEWISE_FUNCTION void put(std::uint32_t i, const word& x) const {
      if constexpr (bare) {
        keys[padded(i)] = x;
      } else {
        from[i] = static_cast<std::uint16_t>(x.from());
      }
    }
  };

  /// A warp sorts the n keys of a segment, from `begin` on.
  LANEWISE_FUNCTION void sort_by_warp(std::uint32_t begin, std::uint32_t n, Bits ordering) const {
    constexpr int own = segment_windows::most_length / width;
    const auto warp = team_.warp();
    const lane_keys keys{shared_.keys.data(), shared_.from, ordering};
    lanes<word> x[own];
    const auto index = [&](int k) {
      return warp.lane() + u32s(static_cast<std::uint32_t>(k * width));
    };
    LANEWISE_UNROLL
    for (int k = 0; k < own; ++k)
      x[k] = warp.map(
          [=](std::uint32_t i)
              LANEWISE_INLINE_LAMBDA { return i < n ? keys(begin + i) : lane_keys::last(); },
          index(k));
    detail::sort_across(warp, x);
    warp.fence();
    LANEWISE_UNROLL
    for (int k = 0; k < own; ++k) {
      auto i = index(k);
      warp.each(
          i < u32s(n),
          [=](std::uint32_t at, const word& key)
              LANEWISE_INLINE_LAMBDA { keys.put(begin + at, key); },
          i, x[k]);
    }
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
