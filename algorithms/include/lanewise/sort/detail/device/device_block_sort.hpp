// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/scratch_items.hpp>
#include <lanewise/sort/detail/device/adaptive_bins.hpp>
#include <lanewise/sort/detail/device/device_radix_place.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

// What is sorted in scratch in place of keys.

/// A key and where it was: what orders equal keys, where values move with them. One word, if there
/// is one.
template <class Bits, bool wide = (sizeof(Bits) > 4)>
struct placed_key {
  std::uint64_t word;
  static constexpr int most_bits = 8 * sizeof(Bits);
  placed_key() = default;
  LANEWISE_FUNCTION placed_key(Bits key, std::uint32_t from)
      : word(std::uint64_t{key} << 16 | from) {}
  LANEWISE_FUNCTION Bits key() const { return static_cast<Bits>(word >> 16); }
  LANEWISE_FUNCTION std::uint32_t from() const { return static_cast<std::uint32_t>(word) & 0xffff; }
  friend LANEWISE_FUNCTION bool operator<(const placed_key& a, const placed_key& b) {
    return a.word < b.word;
  }
};
template <class Bits>
struct placed_key<Bits, true> {
  static constexpr int most_bits = 8 * sizeof(Bits);
  Bits bits;
  std::uint32_t place;
  placed_key() = default;
  LANEWISE_FUNCTION placed_key(Bits key, std::uint32_t from) : bits(key), place(from) {}
  LANEWISE_FUNCTION Bits key() const { return bits; }
  LANEWISE_FUNCTION std::uint32_t from() const { return place; }
  friend LANEWISE_FUNCTION bool operator<(const placed_key& a, const placed_key& b) {
    return a.bits < b.bits || (a.bits == b.bits && a.place < b.place);
  }
};
/// A placed key in half a word, for keys that differ in their lowest 19 bits only. These keys have
/// been sorted by their other bits before.
template <class Bits>
struct narrow_key {
  static constexpr int place_bits = 13;
  static constexpr int most_bits = 32 - place_bits;
  std::uint32_t word;
  narrow_key() = default;
  LANEWISE_FUNCTION narrow_key(Bits key, std::uint32_t from)
      : word(static_cast<std::uint32_t>(key) << place_bits | (from & ((1u << place_bits) - 1))) {}
  LANEWISE_FUNCTION Bits key() const { return static_cast<Bits>(word >> place_bits); }
  LANEWISE_FUNCTION std::uint32_t from() const { return word & ((1u << place_bits) - 1); }
  friend LANEWISE_FUNCTION bool operator<(const narrow_key& a, const narrow_key& b) {
    return a.word < b.word;
  }
};
/// A key that needs no place: equal keys are the same.
template <class Bits>
struct bare_key {
  static constexpr int most_bits = 8 * sizeof(Bits);
  Bits bits;
  bare_key() = default;
  LANEWISE_FUNCTION bare_key(Bits key, std::uint32_t) : bits(key) {}
  LANEWISE_FUNCTION Bits key() const { return bits; }
  LANEWISE_FUNCTION std::uint32_t from() const { return 0; }
  friend LANEWISE_FUNCTION bool operator<(const bare_key& a, const bare_key& b) {
    return a.bits < b.bits;
  }
};

/// Sorts up to `items` keys in a team's scratch.
///
/// By bins: the upper twelve of the bits in which keys differ choose one of 4096 bins (thirteen and
/// 8192 for more than 16 warps). So a bin has one key on average. Bins are brought together in
/// scratch, by atomic additions. What is left are small disorders within bins, which exchanges of
/// neighbours repair, in registers: a round for each key of the largest bin. Larger bins are sorted
/// key by key, by comparing with all others of the bin. Keys are refused if many of them are in one
/// bin.
///
/// By shares: the upper eight of the differing bits are counted first, and each of their values
/// gets bins for the keys that it has. Rows of a graph are so sorted like keys in no order, even if
/// a few rows have most of the keys.
///
/// By digits: eight differing bits at a time from the lowest up, keys of a digit in their order. It
/// takes as long whatever the keys are.
template <class Team, class Bits, class Key, class Value>
class device_radix_job {
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;
  static constexpr int threads = Team::warps * width;
  template <class U>
  using lanes = lanes_t<warp_type, U>;
  using u32s = lanes<std::uint32_t>;
  using bits = typename warp_type::bits;

  static constexpr bool has_values = !std::is_empty_v<Value>;
  static constexpr bool bare = std::is_same_v<Key, bare_key<Bits>>;
  static constexpr int rows = 9;
  static constexpr int segment = rows * width;
  static constexpr int bin_bits = Team::warps <= 16 ? 12 : 13;
  static constexpr int bins = 1 << bin_bits;
  static constexpr int bins_per_lane = bins / threads;

  /// Neighbours of a lane in the last step, and how far beyond its own part a warp looks.
  static constexpr int neighbours = 10;
  static constexpr int halo = 8;
  static constexpr int window = neighbours * width;
  static constexpr int core = window - 2 * halo;
  /// For each key, with others of its bin, on average.
  static constexpr std::uint32_t most_comparisons = 16;
  /// Expected comparisons for each key by bins; above this, digits take less time.
  static constexpr std::uint32_t most_expected = 8;
  /// A factor. Bins of shares are worth a try if enough pairs of keys that agree in a digit differ
  /// in the next eight bits. Pairs that agree in these, too, have to be fewer by this factor. Keys
  /// in no order: 256.
  static constexpr std::uint32_t spread = 64;
  /// What a row with a frequent key and many others counts for.
  static constexpr std::uint32_t mixed_row = 8;
  /// Keys of a bin that are compared with each other. A row of keys of a larger bin takes its warp
  /// longer than sorting by digits.
  static constexpr std::uint32_t most_compared = 48;
  struct bin_sizes {
    std::uint32_t largest;
    std::uint32_t comparisons;  ///< of all keys with all others of their bins
  };
  /// A flag in the begin of a bin: its keys are not all equal.
  static constexpr std::uint32_t mixed = std::uint32_t{1} << 31;
  struct index_pair {
    std::uint32_t begin, end;
  };
  static constexpr int most(int a, int b) { return a < b ? a : b; }
  static constexpr int groups = radix_buckets / width;
  struct digit_counts {
    std::uint16_t count[Team::warps][radix_buckets];
    std::uint32_t group_total[groups];
  };

 public:
  static constexpr int items = most(segment, core) * Team::warps;
  static_assert(items < 1 << 16);

  struct scratch {
    union {
      alignas(16) std::uint32_t bin[bins + 4];
      digit_counts digits;
    };
    std::uint32_t share[radix_buckets + 1];
    Bits differing[Team::warps];
    std::uint32_t warp_total[Team::warps];
    std::uint32_t warp_largest[Team::warps];
    std::uint32_t warp_comparisons[Team::warps];
    alignas(16) raw_array<Key, halo + items + window> keys;
    raw_array<Value, has_values ? items : 1> values;
  };

  /// The ways to sort that may be tried, in this order. Where by_digits is one of them, some keys
  /// say whether the others are worth a try.
  struct ways {
    bool by_bins, by_shares, by_digits;
  };
  /// Sorts keys [begin, begin + n) of `from`, which may be `to`. Returns whether they are sorted;
  /// otherwise nothing is written.
  static LANEWISE_FUNCTION bool sort(const Team& team, scratch& shared, const Bits* from, Bits* to,
                                     const Value* values_from, Value* values_to, int n,
                                     const key_map<Bits>& reads, const key_map<Bits>& writes,
                                     radix_range range, ways may) {
    device_radix_job job(team, shared, n);
    job.load(from, values_from, reads, range);
    if (job.top_ > Key::most_bits) return false;
    if (!job.sort_in_scratch(from, reads, range, may)) return false;
    job.store(from, to, values_to, reads, writes, range);
    return true;
  }

 private:
  LANEWISE_FUNCTION device_radix_job(const Team& team, scratch& shared, int n)
      : team_(team), shared_(shared), n_(n), mine_(n - team.warp_index() * segment) {}

  const Team& team_;
  scratch& shared_;
  int n_;
  int mine_;  ///< from this warp's first key on
  lanes<Bits> key_[rows];
  Bits ordering_;   ///< the bits that order keys
  Bits differing_;  ///< those of them that differ
  Bits common_;     ///< the bits above, of all keys
  int top_;

  /// A warp has neighbouring keys. f(true) if it has all that it has room for, as most warps do;
  /// f(false) if it has some.
  template <class F>
  LANEWISE_FUNCTION void by_rows(F f) const {
    if (mine_ >= segment) {
      f(std::true_type{});
    } else if (mine_ > 0) {
      f(std::false_type{});
    }
  }
  template <bool full>
  LANEWISE_FUNCTION auto exists(int j) const {
    return full ? team_.warp().first(width) : team_.warp().first(mine_ - j * width);
  }
  LANEWISE_FUNCTION int first() const { return team_.warp_index() * segment; }
  LANEWISE_FUNCTION Key* keys() const { return shared_.keys.data() + halo; }
  /// Whether a key is more than what it is ordered by.
  static LANEWISE_FUNCTION bool is_partial(radix_range range) {
    return range.high - range.low < static_cast<int>(8 * sizeof(Bits));
  }

  /// Loads the keys, and finds out which bits differ among them.
  LANEWISE_FUNCTION void load(const Bits* from, const Value* values, const key_map<Bits>& reads,
                              radix_range range) {
    const auto warp = team_.warp();
    ordering_ = detail::ordering_bits<Bits>(range);
    // What does not exist is like a key that does.
    const Bits any_key = from[0];
    lanes<Bits> differing(Bits{0});
    by_rows([&](auto full) LANEWISE_INLINE_LAMBDA {
      LANEWISE_UNROLL
      for (int j = 0; j < rows; ++j)
        key_[j] = warp.load(exists<full>(j), from + first() + j * width, any_key);
      LANEWISE_UNROLL
      for (int j = 0; j < rows; ++j) differing = differing | (key_[j] ^ lanes<Bits>(any_key));
      if (reads.is_identity()) return;
      // If signs differ, all bits may.
      LANEWISE_UNROLL
      for (int j = 0; j < rows; ++j) {
        key_[j] = warp.map(reads, key_[j]);
        differing = differing | (key_[j] ^ lanes<Bits>(reads(any_key)));
      }
    });
    const Bits all = warp.reduce(differing, bit_or{});
    warp.once([&] { shared_.differing[team_.warp_index()] = all; });
    if constexpr (has_values) {
      by_rows([&](auto full) LANEWISE_INLINE_LAMBDA {
        lanes<Value> value[rows];
        LANEWISE_UNROLL
        for (int j = 0; j < rows; ++j)
          value[j] = warp.load(exists<full>(j), values + first() + j * width, Value{});
        LANEWISE_UNROLL
        for (int j = 0; j < rows; ++j)
          warp.store(exists<full>(j), shared_.values.data() + first() + j * width, value[j]);
      });
    }
    clear();
    team_.barrier();
    differing_ = static_cast<Bits>(
        warp.reduce(warp.load(warp.template first<Bits>(Team::warps), shared_.differing, Bits{0}),
                    bit_or{}) &
        ordering_);
    top_ = detail::radix_bit_width(differing_);
    common_ = 0;
    if (top_ < static_cast<int>(8 * sizeof(Bits)))
      common_ = static_cast<Bits>(reads(any_key) & static_cast<Bits>(~Bits{0} << top_));
  }
  /// What is sorted in place of a key.
  LANEWISE_FUNCTION lanes<Key> word_of(int j) const {
    const auto warp = team_.warp();
    return warp.map(
        [mask = static_cast<Bits>(ordering_ & ~common_bits())](Bits x, std::uint32_t i) {
          return Key(bare ? x : static_cast<Bits>(x & mask), i);
        },
        key_[j], warp.lane() + u32s(static_cast<std::uint32_t>(first() + j * width)));
  }
  /// The bits that a word leaves out because all keys have the same there.
  LANEWISE_FUNCTION Bits common_bits() const {
    constexpr int all = 8 * sizeof(Bits);
    if constexpr (Key::most_bits >= all) {
      return 0;
    } else {
      return static_cast<Bits>(~Bits{0} << Key::most_bits);
    }
  }
  LANEWISE_FUNCTION Bits key_of(const Key& k) const {
    return static_cast<Bits>(k.key() | (common_ & common_bits()));
  }
  LANEWISE_FUNCTION void clear() const {
    using four = pack<std::uint32_t, 4>;
    const auto warp = team_.warp();
    four* const bins_here = reinterpret_cast<four*>(shared_.bin) + team_.warp_index() * width;
    LANEWISE_UNROLL
    for (int k = 0; k < bins_per_lane / 4; ++k)
      warp.store(bins_here + k * threads, lanes<four>(four{}));
    team_.once([&] { shared_.bin[bins] = 0; });
    // What lies before the first key and after the last one stays there.
    if (team_.warp_index() == 0)
      warp.store(warp.first(halo), shared_.keys.data(), lanes<Key>(Key(Bits{0}, 0)));
    for (int i = team_.warp_index() * width; i < window; i += threads)
      warp.store(keys() + n_ + i, lanes<Key>(Key(static_cast<Bits>(~Bits{0}), 0xffff)));
  }

  LANEWISE_FUNCTION bool sort_in_scratch(const Bits* from, const key_map<Bits>& reads,
                                         radix_range range, ways may) {
    // Bins of bare keys, or a digit, take all differing bits at once.
    const bool at_once = top_ - range.low <= (bare ? bin_bits : radix_digit_bits);
    if (!bare && at_once && may.by_digits) may.by_bins = may.by_shares = false;
    // ptxas 13.0 has no predicates left where keys of 16 bytes are looked at.
    if constexpr (sizeof(Bits) <= 8) {
      if (may.by_digits && !at_once && (may.by_bins || may.by_shares) && n_ >= threads) {
        const promise some = look_at_some(from, reads);
        may.by_bins = may.by_bins && some.bins;
        may.by_shares = may.by_shares && some.shares;
      }
    }
    if (may.by_bins && sort_by_bins(range, may.by_digits)) return true;
    if (may.by_shares && sort_by_shares(range, may.by_digits)) return true;
    if (may.by_digits) sort_by_digits();
    return may.by_digits;
  }

  /// Whether bins, and shares, leave few keys to compare.
  struct promise {
    bool bins;
    bool shares;
  };
  /// What some keys of all parts say: how many pairs of them differ and agree in the upper 8, 12
  /// and 16 of the differing bits.
  LANEWISE_FUNCTION promise look_at_some(const Bits* from, const key_map<Bits>& reads) const {
    const auto warp = team_.warp();
    const auto all = warp.first(width);
    const auto key = warp.map(
        [&](std::uint32_t l) {
          const auto i = (l * Team::warps + static_cast<std::uint32_t>(team_.warp_index())) *
                         static_cast<std::uint32_t>(n_) / threads;
          return static_cast<Bits>(reads(from[i]) & ordering_ & ~common_);
        },
        warp.lane());
    const auto upper = warp.map(
        [top = top_](Bits x) {
          return static_cast<std::uint32_t>(top > 16 ? x >> (top - 16)
                                                     : static_cast<Bits>(x) << (16 - top)) &
                 0xffffu;
        },
        key);
    const auto eight = warp.template peers<8>(all, upper >> u32s(8u));
    const auto twelve = eight & warp.template peers<4>(all, (upper >> u32s(4u)) & u32s(15u));
    const auto sixteen = twelve & warp.template peers<4>(all, upper & u32s(15u));
    const auto size_of = [&](const lanes<bits>& peers) {
      return warp.map([](bits set) { return static_cast<std::uint32_t>(warp_type::popcount(set)); },
                      peers);
    };
    // Pairs of keys that agree, except equal ones that need no order.
    const auto pairs_of = [&](const lanes<bits>& peers) {
      auto others = size_of(peers) - u32s(1u);
      if constexpr (bare) {
        const auto first = warp.map(
            [](bits set) { return static_cast<std::uint32_t>(warp_type::lowest(set)); }, peers);
        others = lanewise::select(warp.shuffle(key, first) == key, u32s(0u), others);
      }
      return warp.reduce(others, plus{});
    };
    const std::uint32_t agree8 = pairs_of(eight);
    std::uint32_t agree12 = pairs_of(twelve), agree16 = pairs_of(sixteen);
    // The bin of a frequent key has others, too, where there are many.
    const auto sizes = size_of(twelve);
    if (bare && warp.any(sizes > 3u) && warp.count(sizes == 1u) > width / 4) {
      agree12 += mixed_row;
      agree16 += mixed_row;
    }
    const int w = team_.warp_index();
    warp.once([&] {
      shared_.warp_total[w] = agree8;
      shared_.warp_largest[w] = agree12;
      shared_.warp_comparisons[w] = agree16;
    });
    team_.barrier();
    const auto warps = warp.first(Team::warps);
    const auto sum = [&](const std::uint32_t* of) {
      return warp.reduce(warp.load(warps, of, 0u), plus{});
    };
    constexpr std::uint32_t pairs = threads * (width - 1);
    return {sum(shared_.warp_largest) * static_cast<std::uint32_t>(n_) <= most_expected * pairs,
            sum(shared_.warp_comparisons) * spread <= sum(shared_.warp_total)};
  }

  /// By the upper differing bits.
  LANEWISE_FUNCTION bool sort_by_bins(radix_range range, bool by_digits) {
    const int shift = top_ - bin_bits > range.low ? top_ - bin_bits : range.low;
    const int digits = range.high - shift < bin_bits ? range.high - shift : bin_bits;
    return bring_together(radix_digit_of<Bits>{shift, (std::uint32_t{1} << digits) - 1},
                          shift == range.low, by_digits, most_comparisons);
  }
  /// By bins that the upper eight of them have shares of.
  LANEWISE_FUNCTION bool sort_by_shares(radix_range range, bool by_digits) {
    const auto warp = team_.warp();
    const int shift = top_ - radix_digit_bits > range.low ? top_ - radix_digit_bits : range.low;
    const adaptive_bins<Bits> shares{ordering_, shift, shared_.share};
    clear();
    for (int b = team_.warp_index() * width; b < radix_buckets; b += threads)
      warp.store(shared_.share + b, u32s(0u));
    team_.once([&] { shared_.share[radix_buckets] = 0; });
    team_.barrier();
    if (mine_ > 0) {
      unstable_ranks<Team, rows>(
          warp, shared_.share,
          [&](int j) LANEWISE_INLINE_LAMBDA {
            return lanewise::select(exists<false>(j),
                                    warp.map([&](Bits x) { return shares.digit(x); }, key_[j]),
                                    u32s(static_cast<std::uint32_t>(radix_buckets)));
          },
          [&](int j) LANEWISE_INLINE_LAMBDA { return j * width < mine_; });
    }
    team_.barrier();
    if (team_.warp_index() == 0) shares.share_out(warp, static_cast<std::uint32_t>(n_), bins);
    team_.barrier();
    return bring_together(shares, shift == range.low, by_digits, 3 * most_comparisons);
  }

  /// Brings the keys into the order of bins, and then of keys. False if too many are in one bin.
  /// exact: keys of a bin are equal.
  template <class Bin>
  LANEWISE_FUNCTION bool bring_together(const Bin& bin_of, bool exact, bool by_digits,
                                        std::uint32_t most) {
    const auto warp = team_.warp();
    using ranks = unstable_ranks<Team, rows>;
    ranks rank;
    const auto bin = [&](auto full, int j) LANEWISE_INLINE_LAMBDA {
      const auto b = warp.map(bin_of, key_[j]);
      if constexpr (full) return b;
      // What does not exist is in a bin of its own, after all others.
      if constexpr (!full)
        return lanewise::select(exists<false>(j), b, u32s(static_cast<std::uint32_t>(bins)));
    };
    by_rows([&](auto full) LANEWISE_INLINE_LAMBDA {
      rank = ranks(
          warp, shared_.bin, [&](int j) LANEWISE_INLINE_LAMBDA { return bin(full, j); },
          [&](int j) LANEWISE_INLINE_LAMBDA { return full || j * width < mine_; });
    });
    team_.barrier();
    const bin_sizes sizes = scan_bins();
    by_rows([&](auto full) LANEWISE_INLINE_LAMBDA {
      LANEWISE_UNROLL
      for (int j = 0; j < rows; ++j) {
        const auto slot = warp.gather(shared_.bin, bin(full, j)) + rank(j);
        warp.scatter(exists<full>(j), keys(), slot, word_of(j));
      }
    });
    team_.barrier();
    if (bare && exact) return true;
    if (sizes.largest <= halo + 1) {
      if (sizes.largest > 1) exchange_neighbours(static_cast<int>(sizes.largest));
      return true;
    }
    if (by_digits) return compare_different_in_bins(bin_of);
    if (sizes.comparisons > most * static_cast<std::uint32_t>(n_)) return false;
    compare_in_bins(bin_of);
    return true;
  }

  /// Turns counts of bins into where they begin.
  LANEWISE_FUNCTION bin_sizes scan_bins() {
    using four = pack<std::uint32_t, 4>;
    static_assert(bins_per_lane % 4 == 0);
    constexpr int fours = bins_per_lane / 4;
    const auto warp = team_.warp();
    const auto mine = (warp.lane() + u32s(static_cast<std::uint32_t>(team_.warp_index() * width))) *
                      u32s(static_cast<std::uint32_t>(fours));
    four* const packs = reinterpret_cast<four*>(shared_.bin);
    lanes<four> count[fours];
    u32s sum(0u), largest(0u), comparisons(0u);
    LANEWISE_UNROLL
    for (int k = 0; k < fours; ++k) {
      count[k] = warp.gather(packs, mine + u32s(static_cast<std::uint32_t>(k)));
      warp.each(
          [](four& c, std::uint32_t& s, std::uint32_t& m, std::uint32_t& q) {
            LANEWISE_UNROLL
            for (int i = 0; i < 4; ++i) {
              const std::uint32_t x = c[i];
              m = x > m ? x : m;
              q += x * x;
              c[i] = s;
              s += x;
            }
          },
          count[k], sum, largest, comparisons);
    }
    const auto upto = warp.inclusive_scan(sum, plus{});
    const std::uint32_t total = warp.broadcast(upto, width - 1);
    const std::uint32_t warps_largest = warp.reduce(largest, maximum{});
    const std::uint32_t warps_comparisons = warp.reduce(comparisons, plus{});
    warp.once([&] {
      shared_.warp_total[team_.warp_index()] = total;
      shared_.warp_largest[team_.warp_index()] = warps_largest;
      shared_.warp_comparisons[team_.warp_index()] = warps_comparisons;
    });
    team_.barrier();
    const auto totals = warp.load(warp.first(team_.warp_index()), shared_.warp_total, 0u);
    const std::uint32_t before = warp.reduce(totals, plus{});
    const auto all = warp.first(Team::warps);
    const bin_sizes sizes{warp.reduce(warp.load(all, shared_.warp_largest, 0u), maximum{}),
                          warp.reduce(warp.load(all, shared_.warp_comparisons, 0u), plus{})};
    const auto first = upto - sum + u32s(before);
    LANEWISE_UNROLL
    for (int k = 0; k < fours; ++k) {
      warp.scatter(packs, mine + u32s(static_cast<std::uint32_t>(k)),
                   warp.map(
                       [](four c, std::uint32_t f) {
                         LANEWISE_UNROLL
                         for (int i = 0; i < 4; ++i) c[i] += f;
                         return c;
                       },
                       count[k], first));
    }
    team_.once([&] { shared_.bin[bins] = static_cast<std::uint32_t>(n_); });
    team_.barrier();
    return sizes;
  }

  LANEWISE_FUNCTION std::uint32_t largest_of_warps() const {
    const auto warp = team_.warp();
    return warp.reduce(warp.load(warp.first(Team::warps), shared_.warp_largest, 0u), maximum{});
  }

  /// Every warp takes its part of the keys and `halo` more on both sides. So it sees all of every
  /// bin that reaches into its part. A lane has neighbouring keys.
  LANEWISE_FUNCTION void exchange_neighbours(int rounds) {
    struct alignas(sizeof(Key) <= 8 ? 2 * sizeof(Key) : alignof(Key)) two {
      Key key[2];
    };
    const auto warp = team_.warp();
    const int begin = team_.warp_index() * core;
    const bool takes_part = begin < n_;
    lanes<Key> x[neighbours];
    if (takes_part) {
      const two* const pairs = reinterpret_cast<const two*>(keys() + begin - halo);
      LANEWISE_UNROLL
      for (int j = 0; j < neighbours; j += 2) {
        const auto pair = warp.map(
            [=](std::uint32_t l) {
              return pairs[l * (neighbours / 2) + static_cast<std::uint32_t>(j / 2)];
            },
            warp.lane());
        x[j] = warp.map([](const two& p) { return p.key[0]; }, pair);
        x[j + 1] = warp.map([](const two& p) { return p.key[1]; }, pair);
      }
      const auto first = warp.lane() == std::uint32_t{0};
      const auto last = warp.lane() == static_cast<std::uint32_t>(width - 1);
      for (int r = 0; r < rounds; r += 2) {
        warp.fence();  // else the shuffles below went one lane at a time
        LANEWISE_UNROLL
        for (int j = 0; j + 1 < neighbours; j += 2) put_in_order(warp, x[j], x[j + 1]);
        LANEWISE_UNROLL
        for (int j = 1; j + 1 < neighbours; j += 2) put_in_order(warp, x[j], x[j + 1]);
        const auto after = warp.shuffle_down(x[0], 1);
        const auto in_front = warp.shuffle_up(x[neighbours - 1], 1);
        x[0] = lanewise::select(first, x[0], later(warp, in_front, x[0]));
        x[neighbours - 1] =
            lanewise::select(last, x[neighbours - 1], earlier(warp, x[neighbours - 1], after));
      }
    }
    team_.barrier();
    if (takes_part) {
      Key* const to = keys() + begin - halo;
      LANEWISE_UNROLL
      for (int j = 0; j < neighbours; ++j) {
        const auto at = warp.lane() * u32s(static_cast<std::uint32_t>(neighbours)) +
                        u32s(static_cast<std::uint32_t>(j));
        const auto own = (at >= static_cast<std::uint32_t>(halo)) &
                         (at < static_cast<std::uint32_t>(halo + core));
        warp.scatter(own, to, at, x[j]);
      }
    }
    team_.barrier();
  }
  static LANEWISE_FUNCTION lanes<Key> earlier(const warp_type& warp, const lanes<Key>& a,
                                              const lanes<Key>& b) {
    return warp.map([](const Key& p, const Key& q) { return q < p ? q : p; }, a, b);
  }
  static LANEWISE_FUNCTION lanes<Key> later(const warp_type& warp, const lanes<Key>& a,
                                            const lanes<Key>& b) {
    return warp.map([](const Key& p, const Key& q) { return q < p ? p : q; }, a, b);
  }
  static LANEWISE_FUNCTION void put_in_order(const warp_type& warp, lanes<Key>& a, lanes<Key>& b) {
    const auto low = earlier(warp, a, b);
    b = later(warp, a, b);
    a = low;
  }

  /// A key's place is the begin of its bin and the number of the bin's keys before it.
  template <class Bin>
  LANEWISE_FUNCTION void compare_in_bins(const Bin& bin_of) {
    const auto warp = team_.warp();
    const Key* const all = keys();
    const std::uint32_t* const bin = shared_.bin;
    lanes<Key> x[rows];
    u32s place[rows];
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      x[j] = warp.load(exists<false>(j), all + first() + j * width, Key{});
      const auto at = warp.lane() + u32s(static_cast<std::uint32_t>(first() + j * width));
      place[j] = warp.map(
          exists<false>(j),
          [&](const Key& key, std::uint32_t i) {
            const std::uint32_t b = bin_of(key_of(key));
            std::uint32_t to = bin[b];
            const std::uint32_t end = bin[b + 1];
            for (std::uint32_t k = to; k < end; ++k) {
              const Key other = all[k];
              to += other < key || (k < i && !(key < other)) ? 1 : 0;
            }
            return to;
          },
          std::uint32_t{0}, x[j], at);
    }
    team_.barrier();
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) warp.scatter(exists<false>(j), keys(), place[j], x[j]);
    team_.barrier();
  }

  /// As compare_in_bins, but bins whose keys are all equal are in order. False if one of the other
  /// bins is too large.
  template <class Bin>
  LANEWISE_FUNCTION bool compare_different_in_bins(const Bin& bin_of) {
    const auto warp = team_.warp();
    Key* const all = keys();
    const std::uint32_t* const bin = shared_.bin;
    lanes<Key> x[rows];
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j)
      x[j] = warp.load(exists<false>(j), all + first() + j * width, Key{});
    if constexpr (bare) mark_mixed_bins(bin_of, x);
    // The begin and the end of a key's bin; both are the begin if the key stays.
    const auto bin_range = [&](const Key& key) {
      const std::uint32_t b = bin_of(key_of(key));
      const bool moves = !bare || (bin[b] & mixed) != 0;
      return index_pair{bin[b] & ~mixed, moves ? bin[b + 1] & ~mixed : bin[b]};
    };
    u32s largest(0u);
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      const auto size = warp.map(
          exists<false>(j),
          [&](const Key& key) {
            const index_pair range = bin_range(key);
            return range.end - range.begin;
          },
          0u, x[j]);
      largest = lanewise::select(size > largest, size, largest);
    }
    const std::uint32_t mine = warp.reduce(largest, maximum{});
    warp.once([&] { shared_.warp_largest[team_.warp_index()] = mine; });
    team_.barrier();
    if (largest_of_warps() > most_compared) return false;
    u32s place[rows];
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      const auto at = warp.lane() + u32s(static_cast<std::uint32_t>(first() + j * width));
      place[j] = warp.map(
          exists<false>(j),
          [&](const Key& key, std::uint32_t i) {
            const index_pair range = bin_range(key);
            if (range.begin == range.end) return i;
            std::uint32_t to = range.begin;
            for (std::uint32_t k = range.begin; k < range.end; ++k) {
              const Key other = all[k];
              to += other < key || (k < i && !(key < other)) ? 1 : 0;
            }
            return to;
          },
          std::uint32_t{0}, x[j], at);
    }
    team_.barrier();
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) warp.scatter(exists<false>(j), all, place[j], x[j]);
    team_.barrier();
    return true;
  }
  /// Marks the bins whose keys are not all equal.
  template <class Bin>
  LANEWISE_FUNCTION void mark_mixed_bins(const Bin& bin_of, const lanes<Key> (&x)[rows]) {
    const auto warp = team_.warp();
    const Key* const all = keys();
    std::uint32_t* const bin = shared_.bin;
    u32s number[rows], differs[rows];
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      number[j] = warp.map(
          exists<false>(j), [&](const Key& key) { return bin_of(key_of(key)); }, 0u, x[j]);
      differs[j] = warp.map(
          exists<false>(j),
          [&](const Key& key, std::uint32_t b) {
            const Key first_of_bin = all[bin[b]];
            return first_of_bin < key || key < first_of_bin ? 1u : 0u;
          },
          0u, x[j], number[j]);
    }
    team_.barrier();
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j)
      warp.template fetch_or<order::relaxed, scope::team>(differs[j] != 0u, bin, number[j],
                                                          u32s(mixed));
    team_.barrier();
  }

  /// Brings the keys into order by digits of their differing bits.
  LANEWISE_FUNCTION void sort_by_digits() {
    const auto warp = team_.warp();
    lanes<Key> x[rows];
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) x[j] = word_of(j);
    bool in_scratch = false;
    for (Bits left = differing_; warp.anywhere(left != 0);) {
      const int shift = detail::radix_bit_width(static_cast<Bits>(left & (~left + 1))) - 1;
      const radix_digit_of<Bits> digit{shift, radix_buckets - 1u};
      left = static_cast<Bits>(left & ~static_cast<Bits>(Bits{radix_buckets - 1} << shift));
      if (in_scratch) {
        by_rows([&](auto full) LANEWISE_INLINE_LAMBDA {
          LANEWISE_UNROLL
          for (int j = 0; j < rows; ++j)
            x[j] = warp.load(exists<full>(j), keys() + first() + j * width, Key{});
        });
      }
      place_by_digit(digit, x);
      in_scratch = true;
    }
    if (in_scratch) return;
    by_rows([&](auto full) LANEWISE_INLINE_LAMBDA {
      LANEWISE_UNROLL
      for (int j = 0; j < rows; ++j)
        warp.store(exists<full>(j), keys() + first() + j * width, x[j]);
    });
    team_.barrier();
  }
  /// Sends keys to scratch in the order of a digit, keys of a digit in their order.
  LANEWISE_FUNCTION void place_by_digit(const radix_digit_of<Bits>& digit,
                                        const lanes<Key> (&x)[rows]) {
    const auto warp = team_.warp();
    std::uint16_t* const count = shared_.digits.count[team_.warp_index()];
    for (int b = 0; b < radix_buckets; b += width)
      warp.store(count + b, lanes<std::uint16_t>(std::uint16_t{0}));
    warp.fence();
    u32s slot[rows];
    const auto digit_of = [&](int j) LANEWISE_INLINE_LAMBDA {
      return warp.map([&](const Key& k) { return digit(k.key()); }, x[j]);
    };
    const auto last_of = ~(warp.lanes_below() + warp.lanes_below() + lanes<bits>(bits{1}));
    by_rows([&](auto full) LANEWISE_INLINE_LAMBDA {
      LANEWISE_UNROLL
      for (int j = 0; j < rows; ++j) {
        const auto there = exists<full>(j);
        const auto d = digit_of(j);
        const auto peers = warp.template peers<radix_digit_bits>(there, d);
        const auto before = warp.gather(there, count, d, std::uint16_t{0});
        warp.fence();
        slot[j] = warp.map(
            [](std::uint16_t c, bits e) { return c + std::uint32_t(warp_type::popcount(e)); },
            before, peers & warp.lanes_below());
        warp.scatter(there & ((peers & last_of) == bits{0}), count, d,
                     warp.template cast<std::uint16_t>(slot[j] + u32s(1u)));
        warp.fence();
      }
    });
    team_.barrier();
    scan_digits();
    by_rows([&](auto full) LANEWISE_INLINE_LAMBDA {
      LANEWISE_UNROLL
      for (int j = 0; j < rows; ++j) {
        const auto there = exists<full>(j);
        const auto begin = warp.gather(there, count, digit_of(j), std::uint16_t{0});
        warp.scatter(there, keys(), slot[j] + warp.template cast<std::uint32_t>(begin), x[j]);
      }
    });
    team_.barrier();
  }
  /// Turns the warps' counts into where their keys of each digit begin.
  LANEWISE_FUNCTION void scan_digits() {
    static_assert(groups <= Team::warps);
    const auto warp = team_.warp();
    const int g = team_.warp_index();
    u32s before[Team::warps], total(0u), upto(0u);
    if (g < groups) {
      LANEWISE_UNROLL
      for (int w = 0; w < Team::warps; ++w) {
        before[w] = total;
        total = total +
                warp.template cast<std::uint32_t>(warp.load(shared_.digits.count[w] + g * width));
      }
      upto = warp.inclusive_scan(total, plus{});
      const std::uint32_t sum = warp.broadcast(upto, width - 1);
      warp.once([&] { shared_.digits.group_total[g] = sum; });
    }
    team_.barrier();
    if (g < groups) {
      std::uint32_t in_front = 0;
      for (int q = 0; q < g; ++q) in_front += shared_.digits.group_total[q];
      LANEWISE_UNROLL
      for (int w = 0; w < Team::warps; ++w)
        warp.store(shared_.digits.count[w] + g * width,
                   warp.template cast<std::uint16_t>(before[w] + upto - total + u32s(in_front)));
    }
    team_.barrier();
  }

  /// Writes the keys, and the values that move with them.
  LANEWISE_FUNCTION void store(const Bits* from, Bits* to, Value* values_to,
                               const key_map<Bits>& reads, const key_map<Bits>& writes,
                               radix_range range) {
    // The other bits are where the keys came from, which may be where they go to.
    if (!bare && is_partial(range)) {
      fetch_keys<false>(from, reads);
      team_.barrier();
      by_rows([&](auto full) LANEWISE_INLINE_LAMBDA { put<full, true>(to, values_to, writes); });
    } else {
      by_rows([&](auto full) LANEWISE_INLINE_LAMBDA { put<full, false>(to, values_to, writes); });
    }
  }
  template <bool full>
  LANEWISE_FUNCTION void fetch_keys(const Bits* from, const key_map<Bits>& reads) {
    const auto warp = team_.warp();
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j)
      key_[j] = warp.map(
          exists<full>(j), [&](const Key& k) { return reads(from[k.from()]); }, Bits{},
          warp.load(exists<full>(j), keys() + first() + j * width, Key{}));
  }
  template <bool full, bool has_keys>
  LANEWISE_FUNCTION void put(Bits* to, [[maybe_unused]] Value* values_to,
                             const key_map<Bits>& writes) {
    const auto warp = team_.warp();
    lanes<Key> x[rows];
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      x[j] = warp.load(exists<full>(j), keys() + first() + j * width, Key{});
      if (!has_keys) key_[j] = warp.map([&](const Key& k) { return key_of(k); }, x[j]);
    }
    if (!writes.is_identity()) {
      LANEWISE_UNROLL
      for (int j = 0; j < rows; ++j)
        key_[j] = warp.map([&](Bits b) { return writes.item_of(b); }, key_[j]);
    }
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      warp.store(exists<full>(j), to + first() + j * width, key_[j]);
      if constexpr (has_values) {
        const Value* const values = shared_.values.data();
        warp.store(
            exists<full>(j), values_to + first() + j * width,
            warp.map(
                exists<full>(j), [=](const Key& k) { return values[k.from()]; }, Value{}, x[j]));
      }
    }
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
