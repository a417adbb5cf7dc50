// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/league/league_barrier.hpp>
#include <lanewise/league/look_back_counts.hpp>
#include <lanewise/sort/detail/radix_plan.hpp>
#include <lanewise/team/team.hpp>
#include <lanewise/tile/split_tile.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// What f makes of items in [begin, end) of an array goes to the same places of another, or of the
/// same.
template <class Team, class T, class F>
LANEWISE_FUNCTION void copy_items(const Team& team, const T* from, T* to, std::int64_t begin,
                                  std::int64_t end, F f) {
  constexpr int width = Team::warp_type::width;
  const auto warp = team.warp();
  for (std::int64_t i = begin + team.warp_index() * width; i < end; i += Team::warps * width) {
    const std::int64_t left = end - i;
    const auto exist = warp.first(left);
    warp.store(exist, to + i, warp.map(f, warp.load(exist, from + i, T{})));
  }
}

/// A digit of the integer that a key becomes. Keys that need no look at their sign have no
/// `negative`.
template <class Bits, bool signs>
struct radix_digit_of_key {
  detail::radix_digit_of<Bits> digit;
  std::uint32_t flip;
  Bits negative;
  LANEWISE_FUNCTION radix_digit_of_key(const detail::radix_digit_of<Bits>& d,
                                       const detail::key_map<Bits>& map)
      : digit(d), flip(static_cast<std::uint32_t>(map.flip >> d.shift)), negative(map.negative) {}
  LANEWISE_FUNCTION std::uint32_t operator()(Bits x) const {
    if constexpr (signs) x = detail::key_map<Bits>{0, negative}(x);
    return (static_cast<std::uint32_t>(x >> digit.shift) ^ flip) & digit.mask;
  }
};

template <class Bits>
struct radix_writer {
  Bits* data;
  detail::key_map<Bits> map;
  LANEWISE_FUNCTION void operator()(std::int64_t i, Bits x) const { data[i] = map.item_of(x); }
};

/// Keys of a lane where an array has few keys: small tiles keep all teams busy.
inline constexpr int few_per_lane = 8;

/// How a pass ranks and places keys, with values of value_bytes bytes.
template <class Bits, int value_bytes, bool few>
struct ordered_policy : launch_policy {
  static constexpr int bytes = static_cast<int>(sizeof(Bits)) + value_bytes;
  // H200, a pass over 2^28 u32: three teams with 24 keys per lane 1.22 ms, with 20 1.39, two with
  // 32 1.25, two of 12 warps with 20 1.32. Pairs of 4 and 4 bytes: two teams with 32 1.63 ms, three
  // with 24 2.05. Pairs of 8 and 4 bytes: two teams with 24 2.35, of 12 warps with 16 2.9.
  static constexpr int items_per_lane = few || bytes > 16 || sizeof(Bits) > 8 ? few_per_lane
                                        : value_bytes == 0 ? (bytes <= 4 ? 24 : 16)
                                        : bytes <= 8       ? 32
                                        : bytes <= 12      ? 24
                                                           : 16;
  static constexpr int teams_per_multiprocessor = value_bytes > 0 || sizeof(Bits) > 8 ? 2 : 3;
  // H200, two passes over 2^28 pairs of 4 and 4 bytes 3.85 ms, aligned 4.00; of 8 and 4 bytes 5.29
  // and 5.80, of 10^7 pairs of 4 and 4 bytes 247 and 257 us.
  static constexpr bool aligns_runs = false;
};

/// A radix sort from the least significant digit up. It takes as long whatever the keys are. So it
/// is for few digits, and for keys that gather in few buckets: a sort from the most significant
/// digit down would move such keys many times.
///
/// One reading counts all digits. Then every pass over a digit reads and writes each key once: a
/// team takes the next tile, ranks and places it, and learns from the tiles before it where its
/// runs begin. Digits in which no keys differ are left out.
template <class Bits, class Value, class Word, bool few>
struct radix_digit_passes {
  static constexpr bool has_values = !std::is_empty_v<Value>;
  static constexpr int value_bytes = has_values ? static_cast<int>(sizeof(Value)) : 0;
  struct policy : ordered_policy<Bits, value_bytes, few> {};
  template <class Team>
  using split = split_tile_t<Team, Bits, policy>;
  /// Counters of a bucket for the lanes to choose from, so that fewer meet.
  static constexpr int copies = sizeof(Bits) > 8 ? 1 : 4;
  using counters = pack<std::uint32_t, copies>;
  struct count_scratch {
    alignas(16) counters count[sizeof(Bits) * detail::radix_buckets];
  };
  template <class Team>
  struct place_scratch {
    typename split<Team>::template scratch<value_bytes> tile;
    std::uint32_t ticket;
  };

  detail::radix_arrays<Bits> keys;
  detail::radix_arrays<Value> values;
  detail::key_map<Bits> map;
  detail::radix_range range;
  item_count n;
  const detail::radix_level* first;  ///< says whether keys are left to passes; null: they are
  const void* first_counts;          ///< of the first level's buckets, numbers of 4 or 8 bytes
  bool wide_counts;
  const std::uint64_t* differing;  ///< the bits in which mapped keys differ; null: all may
  detail::radix_pass* passes;      ///< by number; 0 before the sort
  std::uint64_t* starts;     ///< of the buckets of every pass: [pass * radix_buckets + bucket]; 0
                             ///< before the sort
  Word* words;               ///< two for every bucket of every tile
  detail::radix_array* end;  ///< where keys are after all passes
  std::int64_t tile_items;

  LANEWISE_FUNCTION bool have_keys() const { return first == nullptr || first->by_passes != 0; }
  /// Whether keys may be elsewhere than in the output when passes have moved them.
  LANEWISE_FUNCTION bool may_end_elsewhere() const { return keys.overwrites() || !is_apart(); }

  /// What comes before all passes.
  template <class Team>
  LANEWISE_FUNCTION void begin(const Team& team, count_scratch& shared,
                               const league_barrier& meeting) const {
    count(team, shared);
    clear_words(team);
    meeting.wait(team);
    prepare(team);
  }

  /// Pass p, if it moves keys. narrows: ranks no more buckets than the digit has. signs: what
  /// orders keys depends on their signs.
  template <bool launched, bool signs, class Team>
  LANEWISE_FUNCTION void place(const Team& team, place_scratch<Team>& shared, int p) const {
    detail::radix_pass& pass = passes[p];
    if (pass.moves == 0) return;
    const radix_digit_of_key<Bits, signs> digit({pass.shift, pass.mask}, map);
    const std::int64_t all = n();
    const array_source<Bits, identity> source{keys(pass.from), all, {}};
    const array_sink<Bits> sink{keys.to(pass.to), all};
    // split_tile ranks 8, 32 or 256 buckets. (With mask + 1, and in a kernel that counts, too,
    // ptxas 13.0 runs out of predicates.)
    std::uint32_t buckets = detail::radix_buckets;
    if constexpr (launched) buckets = pass.mask < 8 ? 8 : (pass.mask < 32 ? 32 : buckets);
    const look_back_counts<Word> counts{words_of(pass.number, pass.tiles), buckets};
    Word* const next_words = words_of(pass.number + 1, pass.tiles);
    const std::uint64_t* const start = starts + p * detail::radix_buckets;
    lanewise::for_each_tile_in_order<launched>(
        team, shared.ticket, pass.tickets, pass.tiles, [&](std::uint32_t t) LANEWISE_INLINE_LAMBDA {
          clear_words(team, next_words, t);
          const std::int64_t first_item = t * tile_items;
          const look_back_offsets<Word> places{counts, start, t};
          if constexpr (has_values) {
            split<Team>::place(team, shared.tile, source, first_item, all, digit, buckets, true,
                               places, all, sink,
                               array_source<Value, identity>{values(pass.from), all, {}},
                               array_sink<Value>{values.to(pass.to), all});
          } else {
            split<Team>::place(team, shared.tile, source, first_item, all, digit, buckets, true,
                               places, all, sink, nullptr, nullptr);
          }
        });
  }

  /// All passes after `begin`, by teams that meet after each.
  template <bool signs, class Team>
  LANEWISE_FUNCTION void place_all(const Team& team, place_scratch<Team>& shared,
                                   const league_barrier& meeting) const {
    for (int p = 0; p < static_cast<int>(sizeof(Bits)); ++p) {
      if (passes[p].moves == 0) continue;
      place<false, signs>(team, shared, p);
      meeting.wait(team);
    }
    copy(team);
  }

  /// Copies what has ended elsewhere, when all passes are done.
  template <class Team>
  LANEWISE_FUNCTION void copy(const Team& team) const {
    copy(team, keys(*end), keys.out);
    if constexpr (has_values) copy(team, values(*end), values.out);
  }

 private:
  /// Counts this team's share of the keys by all digits in which keys differ.
  template <class Team>
  LANEWISE_FUNCTION void count(const Team& team, count_scratch& shared) const {
    using warp_type = typename Team::warp_type;
    using u32s = lanes_t<warp_type, std::uint32_t>;
    constexpr int width = warp_type::width;
    constexpr int buckets = detail::radix_buckets;
    const auto warp = team.warp();
    const detail::radix_range looked_at = bits();
    const int counted = detail::radix_digits(looked_at) - (highest_is_counted() ? 1 : 0);
    for (int b = team.warp_index() * width; b < counted * buckets; b += Team::warps * width)
      warp.store(shared.count + b, typename warp_type::template lanes<counters>(counters{}));
    team.barrier();
    const u32s copy = warp.lane() & u32s(copies - 1u), stride(static_cast<std::uint32_t>(copies));
    const Bits differ = differing_bits();
    const auto add = [&](const auto& exists, const auto& digit, int p, const auto& key)
                         LANEWISE_INLINE_LAMBDA {
                           warp.template fetch_add<order::relaxed, scope::team>(
                               exists, reinterpret_cast<std::uint32_t*>(shared.count + p * buckets),
                               warp.map(digit, key) * stride + copy, u32s(1u));
                         };
    // In flight together.
    constexpr int rows = sizeof(Bits) <= 4 ? 16 : 64 / static_cast<int>(sizeof(Bits));
    const index_range mine = team.share(n());
    std::int64_t i = mine.begin + team.warp_index() * rows * width;
    for (; i + rows * width <= mine.end; i += Team::warps * rows * width) {
      lanes_t<warp_type, Bits> key[rows];
      LANEWISE_UNROLL
      for (int j = 0; j < rows; ++j) key[j] = warp.load(keys.in + i + j * width);
      for (int p = 0; p < counted; ++p) {
        const radix_digit_of_key<Bits, true> digit(detail::radix_digit_at<Bits>(looked_at, p), map);
        if (digit.digit(differ) == 0) continue;
        LANEWISE_UNROLL
        for (int j = 0; j < rows; ++j) add(warp.first(width), digit, p, key[j]);
      }
    }
    for (const std::int64_t last = i + rows * width; i < last && i < mine.end; i += width) {
      const auto exists = warp.first(mine.end - i);
      const auto key = warp.load(exists, keys.in + i, Bits{});
      for (int p = 0; p < counted; ++p)
        add(exists, radix_digit_of_key<Bits, true>(detail::radix_digit_at<Bits>(looked_at, p), map),
            p, key);
    }
    team.barrier();
    for (int b = team.warp_index() * width; b < counted * buckets; b += Team::warps * width) {
      const auto sum = warp.map(
          [](const counters& x) {
            std::uint64_t all = 0;
            LANEWISE_UNROLL
            for (int c = 0; c < copies; ++c) all += x[c];
            return all;
          },
          warp.load(shared.count + b));
      warp.fetch_add(sum != std::uint64_t{0}, starts + b, warp.lane(), sum);
    }
  }

  /// Turns the counts of every pass into where buckets begin, and says what the passes do. The
  /// first team does so.
  template <class Team>
  LANEWISE_FUNCTION void prepare(const Team& team) const {
    if (team.index() != 0) return;
    const detail::radix_range looked_at = bits();
    const int digits = detail::radix_digits(looked_at);
    for (int p = team.warp_index(); p < digits; p += Team::warps)
      find_starts(team.warp(), p, digits);
    team.barrier();
    team.once([&] {
      int all = 0, done = 0;
      for (int p = 0; p < digits; ++p) all += static_cast<int>(passes[p].moves);
      // Keys that do not differ are copied by a pass.
      if (all == 0 && first == nullptr) all = passes[0].moves = 1;
      for (int p = 0; p < digits; ++p) {
        detail::radix_pass& pass = passes[p];
        if (pass.moves == 0) continue;
        const auto digit = detail::radix_digit_at<Bits>(looked_at, p);
        pass.tiles = static_cast<std::uint32_t>(divide_up(n(), tile_items));
        pass.mask = digit.mask;
        pass.shift = static_cast<std::uint8_t>(digit.shift);
        pass.number = static_cast<std::uint8_t>(done);
        pass.from = array_after(done, all);
        pass.to = array_after(++done, all);
      }
      *end = array_after(all, all);
    });
  }

  /// The words of tiles are 0 before any tile publishes: those of the first pass that moves keys.
  template <class Team>
  LANEWISE_FUNCTION void clear_words(const Team& team) const {
    const std::int64_t tiles = divide_up(n(), tile_items);
    for (std::int64_t t = team.index(); t < tiles; t += team.league()) clear_words(team, words, t);
  }

  /// The range of the bits that passes look at.
  LANEWISE_FUNCTION detail::radix_range bits() const {
    if (differing == nullptr) return range;
    return detail::radix_range_of(differing_bits());
  }
  LANEWISE_FUNCTION Bits differing_bits() const {
    const Bits all = differing == nullptr ? static_cast<Bits>(~Bits{0})
                                          : detail::radix_bits_of_words<Bits>(differing);
    return static_cast<Bits>(all & detail::ordering_bits<Bits>(range));
  }
  /// Whether the first level has counted the digit of the last pass.
  LANEWISE_FUNCTION bool highest_is_counted() const {
    const detail::radix_range looked_at = bits();
    return first != nullptr && looked_at.high == range.high &&
           looked_at.high - looked_at.low >= detail::radix_digit_bits;
  }
  template <class W>
  LANEWISE_FUNCTION auto first_count(const W& warp, int bucket) const {
    if (wide_counts) return warp.load(static_cast<const std::uint64_t*>(first_counts) + bucket);
    return warp.template cast<std::uint64_t>(
        warp.load(static_cast<const std::uint32_t*>(first_counts) + bucket));
  }
  template <class W>
  LANEWISE_FUNCTION void find_starts(const W& warp, int p, int digits) const {
    using u64s = lanes_t<W, std::uint64_t>;
    std::uint64_t* const start = starts + p * detail::radix_buckets;
    const bool counted_before = p == digits - 1 && highest_is_counted();
    std::uint64_t before = 0;
    bool differ = true;
    for (int b = 0; b < detail::radix_buckets; b += W::width) {
      const auto here = counted_before ? first_count(warp, b) : warp.load(start + b);
      const auto upto = warp.inclusive_scan(here, plus{});
      differ = differ && !warp.any(here == static_cast<std::uint64_t>(n()));
      warp.store(start + b, upto - here + u64s(before));
      before += warp.broadcast(upto, W::width - 1);
    }
    // Digits that were not counted have no keys.
    const std::uint32_t moves = differ && before != 0 ? 1 : 0;
    warp.once([&] { passes[p].moves = moves; });
  }
  LANEWISE_FUNCTION bool is_apart() const {
    return keys.in != keys.out && (!has_values || values.in != values.out);
  }
  /// The array that has the keys after `done` of `all` passes.
  LANEWISE_FUNCTION detail::radix_array array_after(int done, int all) const {
    if (done == 0) return detail::radix_array::in;
    // An odd number of passes that begins with the output also ends there.
    const bool begins_out = keys.overwrites() || (all % 2 == 1 && is_apart());
    return (done % 2 == 1) == begins_out ? detail::radix_array::out : detail::radix_array::room;
  }
  /// Two passes, one after the other, never wait on the same words.
  LANEWISE_FUNCTION Word* words_of(int number, std::int64_t tiles) const {
    return words + (number % 2) * tiles * detail::radix_buckets;
  }
  template <class Team>
  static LANEWISE_FUNCTION void clear_words(const Team& team, Word* of_all, std::int64_t tile) {
    constexpr int width = Team::warp_type::width;
    Word* const here = of_all + tile * detail::radix_buckets;
    for (int b = team.warp_index() * width; b < detail::radix_buckets; b += Team::warps * width)
      team.warp().store(here + b, typename Team::warp_type::template lanes<Word>(Word{0}));
  }
  template <class Team, class T>
  LANEWISE_FUNCTION void copy(const Team& team, const T* from, T* to) const {
    if (from == to) return;
    const index_range mine = team.share(n());
    kernels::copy_items(team, from, to, mine.begin, mine.end, identity{});
  }
};

/// A pass.
template <class Passes, bool signs>
struct radix_pass_kernel {
  using policy = typename Passes::policy;
  template <class Team>
  using scratch = typename Passes::template place_scratch<Team>;

  Passes passes;
  int number;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    passes.template place<true, signs>(team, shared, number);
  }
};

/// What comes after all passes.
template <class Passes>
struct radix_pass_copy_kernel {
  struct policy : launch_policy {};
  template <class Team>
  struct scratch {};

  Passes passes;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    if (passes.have_keys()) passes.copy(team);
  }
};

/// All passes, and the copy after them.
template <class Passes, bool signs>
struct radix_passes_kernel {
  using policy = typename Passes::policy;
  template <class Team>
  using scratch = typename Passes::template place_scratch<Team>;

  Passes passes;
  league_barrier meeting;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    if (passes.have_keys()) passes.template place_all<signs>(team, shared, meeting);
  }
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
