// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/league/look_back_counts.hpp>
#include <lanewise/league/warp_allocate.hpp>
#include <lanewise/sort/detail/radix_plan.hpp>
#include <lanewise/team/team.hpp>
#include <lanewise/tile/register/rows.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Counts a level's keys by digit, segment by segment.
template <class Team, class Bits, class Counter>
class device_radix_count {
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;
  /// Counters of a bucket for the lanes to choose from, so that fewer meet.
  static constexpr int copies = 4;
  using counters = pack<std::uint32_t, copies>;
  template <class U>
  using lanes = lanes_t<warp_type, U>;
  using u32s = lanes<std::uint32_t>;
  using rows =
      register_tile<Team, Bits, static_cast<int>(sizeof(Bits) <= 4 ? 16 : 64 / sizeof(Bits))>;

 public:
  struct scratch {
    alignas(16) counters count[radix_buckets];
  };

  /// Counts a level's tiles, `together` of them before it adds up.
  static LANEWISE_FUNCTION void count_level(const Team& team, scratch& shared,
                                            const radix_plan<Bits, Counter>& plan, int level,
                                            std::int64_t together) {
    const std::int64_t tiles = plan.tile_count(level);
    for (std::int64_t t = team.index() * together; t < tiles; t += team.league() * together)
      count(team, shared, plan, level, t, t + together < tiles ? t + together : tiles);
  }

 private:
  /// Counts tiles [begin, end).
  static LANEWISE_FUNCTION void count(const Team& team, scratch& shared,
                                      const radix_plan<Bits, Counter>& plan, int level,
                                      std::int64_t begin, std::int64_t end) {
    const auto warp = team.warp();
    const auto copy = warp.lane() & u32s(copies - 1u);
    const u32s one(1u), stride(copies);
    bool in_order = level == 0;
    clear(team, shared);
    for (std::int64_t tile = begin; tile < end;) {
      const std::uint32_t number = plan.segment_of(level, static_cast<std::uint32_t>(tile));
      const radix_segment s = plan.segment(level, number);
      const auto digit = plan.digit(s);
      const array_source<Bits, key_map<Bits>> keys{plan.keys(s.array), s.begin + s.count,
                                                   plan.reads(s.array)};
      const std::int64_t first = plan.tile_begin(s, static_cast<std::uint32_t>(tile));
      const std::int64_t tiles = lanewise::divide_up(s.begin + s.count - first, plan.tile_items);
      const std::int64_t mine = tiles < end - tile ? tiles : end - tile;
      const std::int64_t last = plan.tile_end(s, first + (mine - 1) * plan.tile_items);
      const Bits any_key = keys(s.begin);
      lanes<Bits> differing(Bits{0});
      team.barrier();
      for (std::int64_t i = first; i < last; i += rows::items) {
        rows some(team, keys, i, last);
        if (warp.anywhere(in_order)) in_order = are_in_order(warp, plan, some, keys);
        some.for_each_window([&](const auto& exists, const lanes<Bits>& key) {
          differing = differing |
                      lanewise::select(exists, key ^ lanes<Bits>(any_key), lanes<Bits>(Bits{0}));
          const auto d = warp.map(exists, digit, std::uint32_t{0}, key);
          warp.template fetch_add<order::relaxed, scope::team>(
              exists, reinterpret_cast<std::uint32_t*>(shared.count), d * stride + copy, one);
        });
      }
      const Bits bits = warp.reduce(differing, bit_or{});
      for (int w = 0; w < radix_words<Bits>; ++w) {
        const std::uint64_t word = detail::radix_word(bits, w);
        if (warp.anywhere(word != 0))
          warp.fetch_or(plan.differing[level & 1][std::int64_t{number} * radix_words<Bits> + w],
                        word);
      }
      team.barrier();
      add(team, shared, plan.counts[level & 1] + std::int64_t{number} * radix_buckets);
      tile += mine;
    }
    if (level == 0 && !in_order)
      warp.template store<order::relaxed>(plan.levels[0].descents, std::uint32_t{1});
  }

  /// Whether none of a warp's keys is less than the one before it. Keys in no order are found out
  /// by the first look; only keys that may be in order are read twice.
  template <class Source>
  static LANEWISE_FUNCTION bool are_in_order(const warp_type& warp,
                                             const radix_plan<Bits, Counter>& plan,
                                             const rows& some, const Source& keys) {
    const Bits ordering = detail::ordering_bits<Bits>(plan.range);
    for (int j = 0; j < rows::rows; ++j) {
      for (int w = 0; w < some.row_count(j); w += width) {
        const std::int64_t at = some.row_first(j) + w;
        const auto descends = warp.map(
            warp.first(some.row_count(j) - w),
            [&](std::uint32_t l) {
              const std::int64_t i = at + l;
              return static_cast<std::uint32_t>(i > 0 &&
                                                (keys(i) & ordering) < (keys(i - 1) & ordering));
            },
            std::uint32_t{0}, warp.lane());
        if (warp.anywhere(warp.any(descends != 0u))) return false;
      }
    }
    return true;
  }

  static LANEWISE_FUNCTION void clear(const Team& team, scratch& shared) {
    for (int b = team.warp_index() * width; b < radix_buckets; b += Team::warps * width)
      team.warp().store(shared.count + b, lanes<counters>(counters{}));
  }
  /// Adds the counters to those of the segment, and clears them.
  static LANEWISE_FUNCTION void add(const Team& team, scratch& shared, Counter* total) {
    const auto warp = team.warp();
    for (int b = team.warp_index() * width; b < radix_buckets; b += Team::warps * width) {
      const auto sum = warp.map(
          [](const counters& x) {
            std::uint32_t all = 0;
            LANEWISE_UNROLL
            for (int i = 0; i < copies; ++i) all += x[i];
            return static_cast<Counter>(all);
          },
          warp.load(shared.count + b));
      warp.fetch_add(sum != Counter{0}, total + b, warp.lane(), sum);
      warp.fence();
      warp.store(shared.count + b, lanes<counters>(counters{}));
    }
  }
};

/// Keys that are in order go to the output.
template <class W, class Bits, class Counter>
LANEWISE_FUNCTION void take_along(const W& warp, const radix_plan<Bits, Counter>& plan,
                                  std::int64_t begin, std::int64_t count, radix_array array,
                                  bool mapped, std::int64_t capacity) {
  using u32s = lanes_t<W, std::uint32_t>;
  if (count == 0) return;
  const auto pieces = static_cast<std::uint32_t>(divide_up(count, capacity));
  const std::uint32_t first = warp.fetch_add(*plan.job_count, pieces);
  block_sort_task* const jobs = plan.jobs + first;
  for (std::uint32_t p = 0; p < pieces; p += W::width) {
    auto piece = warp.lane() + u32s(p);
    warp.each(
        piece < pieces,
        [&](std::uint32_t i) {
          const std::int64_t at = i * capacity;
          const std::int64_t left = count - at;
          jobs[i] = {begin + at, static_cast<std::uint32_t>(left < capacity ? left : capacity),
                     array,      radix_work::copies,
                     mapped,     0};
        },
        piece);
  }
}

/// Turns a segment's counts into where its buckets begin, and says what becomes of the buckets:
/// segments of the next level if they are too many for one team, else jobs. Neighbouring buckets
/// are one job while they fit a team.
template <class Team, class Bits, class Counter>
class device_radix_starts {
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;
  template <class U>
  using lanes = lanes_t<warp_type, U>;
  using u32s = lanes<std::uint32_t>;
  using i64s = lanes<std::int64_t>;
  using mask = mask_t<warp_type, std::int64_t>;

 public:
  static constexpr int groups = radix_buckets / width;
  /// Keys that gather in few bins, too.
  static constexpr float gathered = 2;
  /// The square of the distance of two counts, for each of their keys.
  static constexpr float most_roughness = 8;
  /// What keys that occur often cost levels and jobs, in readings and writings of all: buckets that
  /// they make too large, and bins. H200, 2^28 keys of 2^20 values: 4.1 ms of 8, and of pairs 16 of
  /// 23.
  static constexpr int repeated = sizeof(Counter) > 4 ? 13 : 7;
  struct scratch {
    std::int64_t group_total[groups];
    float group_squares[groups];  ///< of the buckets' shares of the keys
    float group_used[groups];     ///< buckets that have keys
    float group_spread[groups];   ///< how far apart neighbours are, in roots of their keys
    int group_pairs[groups];      ///< neighbouring buckets that have keys
    int group_rough[groups];      ///< of these, such as differ much
    std::uint32_t stays;
  };

  static LANEWISE_FUNCTION void start_level(const Team& team, scratch& shared,
                                            const radix_plan<Bits, Counter>& plan, int level,
                                            std::int64_t capacity) {
    const std::uint32_t segments = plan.segment_count(level);
    for (std::uint32_t s = team.index(); s < segments; s += team.league()) {
      start(team, shared, plan, level, s, capacity);
      team.barrier();
    }
  }

 private:
  static LANEWISE_FUNCTION void start(const Team& team, scratch& shared,
                                      const radix_plan<Bits, Counter>& plan, int level,
                                      std::uint32_t number, std::int64_t capacity) {
    const auto warp = team.warp();
    const radix_segment s = plan.segment(level, number);
    Counter* const counts = plan.counts[level & 1] + std::int64_t{number} * radix_buckets;
    team.once([&] { shared.stays = 0; });
    team.barrier();
    for (int g = team.warp_index(); g < groups; g += Team::warps) {
      const auto count = warp.template cast<std::int64_t>(warp.load(counts + g * width));
      const std::int64_t total = warp.reduce(count, plus{});
      const bool all = warp.any(count == s.count);
      const float squares = warp.reduce(warp.map(
                                            [n = static_cast<float>(s.count)](std::int64_t c) {
                                              const float share = static_cast<float>(c) / n;
                                              return share * share;
                                            },
                                            count),
                                        plus{});
      const int used = warp.count(count > std::int64_t{0});
      // Lane 0 has itself as neighbour.
      const auto own = warp.template cast<float>(count), before = warp.shuffle_up(own, 1);
      const int pairs = warp.count((own + before > 0.0f) & (warp.lane() > 0u));
      const int rough = warp.count((own - before) * (own - before) >
                                   (own + before) * lanes<float>(most_roughness));
      const auto spread = warp.map(
          [](float a, float b) { return a + b > 0 ? Kokkos::abs(a - b) / Kokkos::sqrt(a + b) : 0; },
          own, before);
      const float spreads = warp.reduce(spread, plus{});
      warp.once([&] {
        shared.group_spread[g] = spreads;
        shared.group_pairs[g] = pairs;
        shared.group_rough[g] = rough;
        shared.group_total[g] = total;
        shared.group_squares[g] = squares;
        shared.group_used[g] = static_cast<float>(used);
      });
      if (all) warp.template store<order::relaxed, scope::team>(shared.stays, 1u);
    }
    team.barrier();
    const bool in_order = level == 0 && plan.levels[0].descents == 0;
    const int bottom = plan.bottom(s);
    const int top = plan.differ_below(level, number, s.top);
    const bool narrow =
        level == 0 && bottom > plan.range.low && takes_a_level_more(s, top - bottom, capacity);
    const bool by_passes =
        level == 0 && !in_order && gains_by_passes(shared, plan, s, narrow, capacity);
    if (by_passes) {
      team.once([&] { plan.levels[0].stays = plan.levels[0].by_passes = 1; });
      return;
    }
    const bool stays = in_order || narrow || shared.stays != 0;
    radix_segment next = s;
    next.top = static_cast<std::uint8_t>(
        in_order ? plan.range.low : (narrow ? top : plan.differ_below(level, number, bottom)));
    const bool last = next.top == plan.range.low;
    if (team.warp_index() == 0) {
      warp.once([&] {
        if (level > 0) {
          plan.segments[level & 1][number].stays = stays;
          plan.segments[level & 1][number].last = last;
        } else {
          plan.levels[0].stays = stays;
          plan.levels[0].last = last;
        }
      });
    }
    if (stays) {
      if (team.warp_index() != 0) return;
      if (!last) {
        append(warp, plan, level + 1, warp.template first<std::int64_t>(1), i64s(s.begin),
               i64s(s.count), next);
      } else {
        const bool mapped = s.array != radix_array::in;
        if (plan.keys(s.array) != plan.keys.out || (!mapped && plan.values_apart) ||
            (mapped && !plan.map.is_identity()))
          detail::take_along(warp, plan, s.begin, s.count, s.array, mapped, capacity);
      }
      return;
    }
    next.array = plan.keys.next(s.array);
    const radix_work work =
        gathering(shared) > gathered ? radix_work::sorts_gathered : radix_work::sorts;
    for (int g = team.warp_index(); g < groups; g += Team::warps) {
      std::int64_t begin = s.begin;
      for (int q = 0; q < g; ++q) begin += shared.group_total[q];
      const auto count = warp.template cast<std::int64_t>(warp.load(counts + g * width));
      const auto upto = warp.inclusive_scan(count, plus{}) + i64s(begin);
      const auto from = upto - count;
      warp.store(counts + g * width, warp.template cast<Counter>(from));
      if (last) {
        // Each bucket is in order now; the last placing has turned the integers back into keys.
        if (next.array == radix_array::room)
          detail::take_along(warp, plan, begin, shared.group_total[g], next.array, false, capacity);
        continue;
      }
      const auto large = count > capacity;
      append(warp, plan, level + 1, large, from, count, next);
      make_jobs(warp, plan, (count > std::int64_t{0}) & (count <= capacity), from, upto, next, work,
                bottom, capacity);
    }
  }

  /// Whether s has too many keys for jobs after two levels, and would not if its first digit began
  /// at the highest bit that differs. `bits`: how many bits of the first digit differ.
  static LANEWISE_FUNCTION bool takes_a_level_more(const radix_segment& s, int bits,
                                                   std::int64_t capacity) {
    const auto fits = [&](int known) { return s.count >> known <= capacity - capacity / 16; };
    return bits > 0 && bits < radix_digit_bits && !fits(bits + radix_digit_bits) &&
           fits(2 * radix_digit_bits);
  }

  /// Whether passes read and write keys less often than levels and jobs. Deeper levels are taken to
  /// spread keys as the first one does.
  static LANEWISE_FUNCTION bool gains_by_passes(const scratch& shared,
                                                const radix_plan<Bits, Counter>& plan,
                                                const radix_segment& s, bool narrow,
                                                std::int64_t capacity) {
    const auto differing = static_cast<Bits>(detail::radix_bits_of_words<Bits>(plan.differing[0]) &
                                             detail::ordering_bits<Bits>(plan.range));
    const int digits = detail::radix_digits(detail::radix_range_of(differing));
    float squares = 0;
    for (int g = 0; g < groups; ++g) squares += shared.group_squares[g];
    // The first digit says little: keys may gather in the others or not. Pairs that are
    // nearly in order take passes longer.
    const bool has_wide_words = s.count >= look_back_counts<std::uint32_t>::limit;
    if (narrow) return digits <= (sizeof(Counter) > 4 || has_wide_words ? 3 : 4);
    // How many keys there are in the bucket of a key, on average.
    float keys = static_cast<float>(s.count) * squares;
    int levels = 1;
    for (; levels < digits && keys > static_cast<float>(capacity - capacity / 16); ++levels)
      keys *= squares;
    // Jobs, or a copy of what does not end in the output.
    const bool ends = levels == digits && levels % 2 == 0;
    int by_levels = 3 * levels + (ends ? 0 : 2);
    if (is_rough(shared)) {
      // Buckets of repeated keys differ in size, unless one value has all of one: many are too
      // large for jobs.
      const float copies = copies_of(shared), room = static_cast<float>(capacity) - keys;
      const bool overflows = 4 * copies < keys && room * room < 2.25f * copies * keys;
      by_levels += repeated + (overflows ? 3 : 0);
    }
    return 2 * digits + 1 + (has_wide_words ? digits / 2 : 0) < by_levels;
  }

  /// Whether neighbouring buckets differ more than buckets of keys that are in them by chance. Such
  /// have keys that occur often, six times or more: smooth densities do not look so.
  static LANEWISE_FUNCTION bool is_rough(const scratch& shared) {
    int pairs = 0, rough = 0;
    for (int g = 0; g < groups; ++g) {
      pairs += shared.group_pairs[g];
      rough += shared.group_rough[g];
    }
    return 4 * rough > pairs;
  }

  /// How often keys occur, if all occur as often: by so much buckets vary more than by chance.
  static LANEWISE_FUNCTION float copies_of(const scratch& shared) {
    constexpr float by_chance = 0.8f;  // of a spread
    float spread = 0, pairs = 0;
    for (int g = 0; g < groups; ++g) {
      spread += shared.group_spread[g];
      pairs += static_cast<float>(shared.group_pairs[g]);
    }
    const float of_pair = spread / (by_chance * pairs);
    return of_pair * of_pair;
  }

  /// How many times as many pairs of keys are in one bucket as if all buckets that are not empty
  /// had as many keys.
  static LANEWISE_FUNCTION float gathering(const scratch& shared) {
    float squares = 0, used = 0;
    for (int g = 0; g < groups; ++g) {
      squares += shared.group_squares[g];
      used += shared.group_used[g];
    }
    return squares * used;
  }

 public:
  /// Lanes of `which` append segments to a level.
  template <class W>
  static LANEWISE_FUNCTION void append(const W& warp, const radix_plan<Bits, Counter>& plan,
                                       int level, const mask& which, const i64s& begin,
                                       const i64s& count, const radix_segment& like) {
    if (!warp.any(which)) return;
    const u32s none(0u);
    const std::int64_t tile_items = plan.tile_items;
    auto tiles = lanewise::select(
        which,
        warp.map(
            [=](std::int64_t c) { return static_cast<std::uint32_t>(divide_up(c, tile_items)); },
            count),
        none);
    radix_level& to = plan.levels[level];
    const auto place =
        lanewise::reserve(warp, to.segments, lanewise::select(which, u32s(1u), none));
    const auto first_tile = lanewise::reserve(warp, to.tiles, tiles);
    radix_segment* const list = plan.segments[level & 1];
    auto number = place.offset;
    auto tile = first_tile.offset;
    auto from = begin, size = count;
    warp.each(
        which,
        [&](std::uint32_t i, std::uint32_t t, std::int64_t b, std::int64_t c) {
          list[i] = {b, c, t, like.top, like.array, false, false};
        },
        number, tile, from, size);
    for (typename W::bits left = warp.ballot(which); warp.anywhere(left != 0); left &= left - 1) {
      const int l = W::lowest(left);
      const std::uint32_t own = warp.broadcast(number, l);
      const std::uint32_t first = warp.broadcast(tile, l);
      const std::uint32_t tiles_here = warp.broadcast(tiles, l);
      Counter* const counts = plan.counts[level & 1] + std::int64_t{own} * radix_buckets;
      for (int b = 0; b < radix_buckets; b += width)
        warp.store(counts + b, lanes<Counter>(Counter{0}));
      warp.store(warp.first(radix_words<Bits>),
                 plan.differing[level & 1] + std::int64_t{own} * radix_words<Bits>,
                 lanes<std::uint64_t>(std::uint64_t{0}));
      std::uint32_t* const owners = plan.tile_segment[level & 1] + first;
      for (std::uint32_t t = 0; t < tiles_here; t += width) {
        const std::uint32_t rest = tiles_here - t;
        warp.store(warp.first(rest), owners + t, u32s(own));
      }
    }
  }

 private:
  /// Lanes of `which` have buckets [from, upto) that fit a team: runs of them become jobs.
  template <class W>
  static LANEWISE_FUNCTION void make_jobs(const W& warp, const radix_plan<Bits, Counter>& plan,
                                          const mask& which, const i64s& from, const i64s& upto,
                                          const radix_segment& like, radix_work work, int bottom,
                                          std::int64_t capacity) {
    using bits = typename W::bits;
    i64s size(std::int64_t{0});
    u32s top(0u);
    bits begins = 0;
    for (bits left = warp.ballot(which); left != 0;) {
      const int l = W::lowest(left);
      const std::int64_t begin = warp.broadcast(from, l);
      // Buckets before `begin` are not in `left` any more, and after a large one all end too
      // far away.
      const bits fitting = warp.ballot(upto <= begin + capacity) & left;
      const int last = W::highest(fitting);
      const std::int64_t end = warp.broadcast(upto, last);
      size = lanewise::select(warp.template cast<std::int64_t>(warp.lane()) == std::int64_t{l},
                              i64s(end - begin), size);
      const int differ = 32 - Kokkos::countl_zero(static_cast<std::uint32_t>(l ^ last));
      const int below = differ > 0 ? bottom + differ : like.top;
      top = lanewise::select(warp.lane() == static_cast<std::uint32_t>(l),
                             u32s(static_cast<std::uint32_t>(below)), top);
      begins |= bits{1} << l;
      left &= ~fitting;
    }
    if (begins == 0) return;
    const auto first = warp.template mask_of<std::uint32_t>(begins);
    const auto place =
        lanewise::reserve(warp, *plan.job_count, lanewise::select(first, u32s(1u), u32s(0u)));
    block_sort_task* const jobs = plan.jobs;
    auto number = place.offset;
    auto begin = from;
    warp.each(
        first,
        [&](std::uint32_t i, std::int64_t b, std::int64_t c, std::uint32_t t) {
          jobs[i] = {b,    static_cast<std::uint32_t>(c), like.array, work,
                     true, static_cast<std::uint8_t>(t)};
        },
        number, begin, size, top);
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
