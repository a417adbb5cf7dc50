// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sort/detail/device/device_block_sort.hpp>
#include <lanewise/sort/detail/segment_plan.hpp>
#include <lanewise/tile/tile_sort.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// The bits of keys that choose bins: 32 of keys of up to 4 bytes, else 64.
template <class Bits>
using bin_word = std::conditional_t<(sizeof(Bits) > 4), std::uint64_t, std::uint32_t>;

/// A key and its segment, for merging.
template <class Bits>
struct segment_key {
  Bits key;
  std::uint32_t segment;
  friend LANEWISE_FUNCTION bool operator<(const segment_key& a, const segment_key& b) {
    return a.segment < b.segment || (a.segment == b.segment && a.key < b.key);
  }
};

/// How keys of a segment find their bins: bin floor((word - low) * length / (range + 1)), about, so
/// that bins are in order, and one is chosen by a key on average.
struct bin_scale {
  std::uint32_t word;

  bin_scale() = default;
  template <class Word>
  LANEWISE_FUNCTION bin_scale(Word range, std::uint32_t length, bool whole) {
    if (range == 0) {
      word = whole ? exact : 0;
      return;
    }
    const int shift = Kokkos::countl_zero(range);
    const std::uint64_t top = upper(static_cast<Word>(range << shift));
    const auto factor = static_cast<std::uint32_t>((std::uint64_t{length} << 32) / (top + 1));
    word = factor | static_cast<std::uint32_t>(shift) << 16 | (whole && range < length ? exact : 0);
  }
  /// Keys of a bin are equal.
  LANEWISE_FUNCTION bool is_exact() const { return (word & exact) != 0; }
  template <class Word>
  LANEWISE_FUNCTION std::uint32_t operator()(Word distance) const {
    const std::uint64_t top = upper(static_cast<Word>(distance << (word >> 16 & 63)));
    return static_cast<std::uint32_t>(top * (word & 0xffff) >> 32);
  }

 private:
  static constexpr std::uint32_t exact = 1u << 31;
  template <class Word>
  static LANEWISE_FUNCTION std::uint32_t upper(Word x) {
    return static_cast<std::uint32_t>(x >> (8 * sizeof(Word) - 32));
  }
};

/// Sorts neighbouring segments, up to `items` keys together, in a team's scratch. A segment has as
/// many bins as keys, at its own place. Each of its keys chooses one by where it lies between the
/// segment's least and greatest key. Keys are brought together by bins, by atomic additions, and
/// compared with the others of their bin. If too many keys meet in bins, the keys are refused, and
/// merged. Where bins have equal keys that must keep their order, and many, warps count them one
/// after the other. apart: segments do not lie one after the other in memory.
template <class Team, class Bits, class Key, class Value, bool apart>
class device_segment_job {
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;
  static constexpr int threads = Team::warps * width;
  template <class U>
  using lanes = lanes_t<warp_type, U>;
  using u32s = lanes<std::uint32_t>;
  using i64s = lanes<std::int64_t>;
  using bits = typename warp_type::bits;
  using word = bin_word<Bits>;

  static constexpr bool has_values = !std::is_empty_v<Value>;
  static constexpr bool bare = std::is_same_v<Key, bare_key<Bits>>;
  /// More keys of 16 bytes do not fit a team's scratch twice, with their segments.
  static constexpr int rows = sizeof(Bits) <= 8 ? 9 : 4;
  static constexpr int all_rows = rows * Team::warps;
  /// For each key, with others of its bin, on average. Merging takes as long.
  static constexpr std::uint32_t most_comparisons = 48;
  /// This limit for comparisons of equal keys. Counting takes less from there on.
  static constexpr std::uint32_t most_comparisons_of_equals = 12;

 public:
  static constexpr int items = threads * rows;
  static constexpr int most_segments = 2 * threads;
  static_assert(2 * items < 1 << 16);

  struct scratch {
    bits marks[all_rows];            ///< where segments with items begin
    std::uint32_t before[all_rows];  ///< segments that begin before a row
    std::uint32_t segments;          ///< with items
    std::uint32_t begin[most_segments + 1];
    word low[most_segments], high[most_segments];
    bin_scale scale[most_segments];
    Bits differing[Team::warps];
    std::uint32_t warp_total[Team::warps];
    std::uint32_t warp_comparisons[Team::warps];
    std::uint32_t warp_equals[Team::warps];
    std::uint16_t of_job[apart ? most_segments : 1];  ///< numbers in the job of those with items
    union {
      std::uint32_t bin[items + 1];
      raw_array<Value, has_values ? items : 1> values;
    };
    union {
      raw_array<Key, items> keys;
      raw_array<Bits, items> staged;
    };
  };
  struct merging_scratch {
    raw_array<segment_key<Bits>, items> keys;
    std::uint16_t place[items];
    sort_scratch<Team, segment_key<Bits>, items> more;
  };

  LANEWISE_FUNCTION device_segment_job(const Team& team, scratch& shared, const segment_list& list,
                                       const segment_job& job)
      : team_(team),
        shared_(shared),
        list_(list),
        job_(job),
        n_(static_cast<int>(list.items(job.first, job.last))),
        mine_(n_ - team.warp_index() * rows * width) {}

  /// Finds out where segments begin, and loads the keys.
  LANEWISE_FUNCTION void load(const Bits* from, const key_map<Bits>& reads) {
    find_segments();
    any_ = reads(from[list_.begin(job_.first + (apart ? shared_.of_job[0] : 0))]);
    each_row([&](int j) LANEWISE_INLINE_LAMBDA { key_[j] = load_row(from, j); });
    if (reads.is_identity()) return;
    each_row([&](int j) LANEWISE_INLINE_LAMBDA { key_[j] = team_.warp().map(reads, key_[j]); });
  }

  /// Finds the place of every key. False, and nothing is known, where too many keys are in few
  /// bins.
  LANEWISE_FUNCTION bool choose_places(radix_range range) {
    const auto warp = team_.warp();
    const Bits ordering = detail::ordering_bits<Bits>(range);
    fill(shared_.bin, items + 1, 0u);
    const int shift = first_bit(range);
    const auto words = [&](int j) LANEWISE_INLINE_LAMBDA {
      return warp.map([=](Bits x) { return static_cast<word>((x & ordering) >> shift); }, key_[j]);
    };
    find_ranges(words);
    team_.barrier();
    const bool whole = shift == range.low;
    each_segment([&](const auto& there, u32s r) LANEWISE_INLINE_LAMBDA {
      warp.scatter(there, shared_.scale, r,
                   warp.map(
                       there,
                       [&](std::uint32_t s) {
                         return bin_scale(static_cast<word>(shared_.high[s] - shared_.low[s]),
                                          shared_.begin[s + 1] - shared_.begin[s], whole);
                       },
                       bin_scale{}, r));
    });
    team_.barrier();
    u32s rank[rows];
    each_row([&](int j) LANEWISE_INLINE_LAMBDA {
      place_[j] = bin_of(j, words(j));
      rank[j] = warp.template fetch_add<order::relaxed, scope::team>(exists(j), shared_.bin,
                                                                     place_[j], u32s(1u));
    });
    team_.barrier();
    scan_bins();
    u32s comparisons(0u), equals(0u);
    each_row([&](int j) LANEWISE_INLINE_LAMBDA {
      const auto begin = warp.gather(exists(j), shared_.bin, place_[j], 0u);
      const auto end = warp.gather(exists(j), shared_.bin, place_[j] + u32s(1u), 0u);
      const auto slot = begin + rank[j];
      const auto exact = is_exact(j);
      comparisons = comparisons + lanewise::select(exact == 0u, end - begin, u32s(0u));
      if constexpr (!bare) equals = equals + lanewise::select(exact == 0u, u32s(0u), end - begin);
      warp.scatter(
          exists(j), shared_.keys.data(), slot,
          warp.map([=](Bits x, std::uint32_t i) { return Key(static_cast<Bits>(x & ordering), i); },
                   key_[j], number(j)));
      rank[j] = lanewise::select(exact == 0u, slot, slot | u32s(among_equals));
    });
    const std::uint32_t of_warp = warp.reduce(comparisons, plus{});
    const std::uint32_t equals_of_warp = bare ? 0 : warp.reduce(equals, plus{});
    warp.once([&] {
      shared_.warp_comparisons[team_.warp_index()] = of_warp;
      shared_.warp_equals[team_.warp_index()] = equals_of_warp;
    });
    team_.barrier();
    const auto of_all = [&](const std::uint32_t* of_warps) {
      return warp.reduce(warp.load(warp.first(Team::warps), of_warps, 0u), plus{});
    };
    const auto n = static_cast<std::uint32_t>(n_);
    if (of_all(shared_.warp_comparisons) > most_comparisons * n) return false;
    const bool counts = !bare && of_all(shared_.warp_equals) > most_comparisons_of_equals * n;
    each_row([&](int j) LANEWISE_INLINE_LAMBDA { compare(j, rank[j], ordering, counts); });
    team_.barrier();
    if constexpr (!bare) {
      if (counts) count_equals(rank);
    }
    return true;
  }

  /// Chooses places by merging, whatever the keys.
  LANEWISE_FUNCTION void merge(merging_scratch& more, radix_range range) {
    const auto warp = team_.warp();
    const Bits ordering = detail::ordering_bits<Bits>(range);
    each_row([&](int j) LANEWISE_INLINE_LAMBDA {
      warp.scatter(exists(j), more.keys.data(), number(j),
                   warp.map(
                       [=](Bits x, std::uint32_t s) {
                         return segment_key<Bits>{static_cast<Bits>(x & ordering), s};
                       },
                       key_[j], segment_of(j)));
    });
    std::uint16_t* const place = more.place;
    lanewise::sort(team_, more.more, more.keys.data(), n_, less{},
                   [=](int i, const segment_key<Bits>&, auto from) {
                     place[from] = static_cast<std::uint16_t>(i);
                   });
    team_.barrier();
    each_row([&](int j) LANEWISE_INLINE_LAMBDA {
      place_[j] = warp.template cast<std::uint32_t>(
          warp.gather(exists(j), more.place, number(j), std::uint16_t{0}));
    });
  }

  /// Writes keys, and the values that are beside them, to their places.
  LANEWISE_FUNCTION void store(Bits* to, const key_map<Bits>& writes, const Value* values_from,
                               Value* values_to) {
    const auto warp = team_.warp();
    each_row([&](int j) LANEWISE_INLINE_LAMBDA {
      warp.scatter(exists(j), shared_.staged.data(), place_[j],
                   warp.map([&](Bits x) { return writes.item_of(x); }, key_[j]));
      if constexpr (has_values)
        warp.scatter(exists(j), shared_.values.data(), place_[j], load_row(values_from, j));
    });
    team_.barrier();
    each_row([&](int j) LANEWISE_INLINE_LAMBDA {
      store_row(to, j, warp.load(exists(j), at_row(shared_.staged, j), Bits{}));
      if constexpr (has_values)
        store_row(values_to, j, warp.load(exists(j), at_row(shared_.values, j), Value{}));
    });
  }

 private:
  /// Marks the slot of a key whose bin has equal keys only.
  static constexpr std::uint32_t among_equals = 1u << 31;

  const Team& team_;
  scratch& shared_;
  const segment_list& list_;
  segment_job job_;
  int n_;
  int mine_;  ///< from this warp's first key on
  Bits any_;  ///< one of the keys
  lanes<Bits> key_[rows];
  u32s place_[rows];  ///< or the bin

  template <class F>
  LANEWISE_FUNCTION void each_row(F f) const {
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      if (j * width < mine_) f(j);
    }
  }
  LANEWISE_FUNCTION auto exists(int j) const { return team_.warp().first(mine_ - j * width); }
  LANEWISE_FUNCTION int row(int j) const { return team_.warp_index() * rows + j; }
  /// The numbers of a row's keys in the job.
  LANEWISE_FUNCTION u32s number(int j) const {
    return team_.warp().lane() + u32s(static_cast<std::uint32_t>(row(j) * width));
  }
  /// Reads and writes what is in memory where a row's keys come from and go to.
  template <class U>
  LANEWISE_FUNCTION lanes<U> load_row(const U* from, int j) const {
    from += list_.offset[job_.first] + row(j) * width;
    if constexpr (apart) {
      return team_.warp().gather(exists(j), from, places_apart(j), U{});
    } else {
      return team_.warp().load(exists(j), from, U{});
    }
  }
  template <class U>
  LANEWISE_FUNCTION void store_row(U* to, int j, const lanes<U>& x) const {
    to += list_.offset[job_.first] + row(j) * width;
    if constexpr (apart) {
      team_.warp().scatter(exists(j), to, places_apart(j), x);
    } else {
      team_.warp().store(exists(j), to, x);
    }
  }
  /// Places of a row's keys, from where the row would begin if segments did not lie apart.
  LANEWISE_FUNCTION i64s places_apart(int j) const {
    return team_.warp().map(
        exists(j),
        [&](std::uint32_t s, std::uint32_t l) {
          return list_.shift[job_.first + shared_.of_job[s]] + l;
        },
        std::int64_t{0}, segment_of(j), team_.warp().lane());
  }
  template <class Array>
  LANEWISE_FUNCTION auto* at_row(Array& all, int j) const {
    return all.data() + row(j) * width;
  }
  template <class U>
  LANEWISE_FUNCTION void fill(U* to, int n, U x) const {
    for (int i = team_.warp_index() * width; i < n; i += threads)
      team_.warp().store(team_.warp().first(n - i), to + i, lanes<U>(x));
  }
  /// Marks where segments begin, and numbers those with items.
  LANEWISE_FUNCTION void find_segments() {
    const auto warp = team_.warp();
    fill(shared_.marks, all_rows, bits{0});
    team_.barrier();
    const auto each = [&](auto f) LANEWISE_INLINE_LAMBDA {
      for (std::int64_t s = job_.first + team_.warp_index() * width; s < job_.last; s += threads) {
        const std::int64_t left = job_.last - s;
        const auto there = warp.first(left);
        const auto begin = warp.load(there, list_.offset + s, std::int64_t{0});
        const auto end = warp.load(there, list_.offset + s + 1, std::int64_t{0});
        const auto from = warp.template cast<std::uint32_t>(begin - i64s(list_.offset[job_.first]));
        f(there & (begin < end), from, static_cast<std::uint32_t>(s - job_.first));
      }
    };
    constexpr auto w = static_cast<std::uint32_t>(width);
    each([&](const auto& some, const u32s& from, std::uint32_t) LANEWISE_INLINE_LAMBDA {
      warp.template fetch_or<order::relaxed, scope::team>(
          some, shared_.marks, warp.map([](std::uint32_t i) { return i / w; }, from),
          warp.map([](std::uint32_t i) { return bits{1} << (i % w); }, from));
    });
    team_.barrier();
    if (team_.warp_index() == 0) number_marks();
    team_.barrier();
    each([&](const auto& some, const u32s& from, std::uint32_t first) LANEWISE_INLINE_LAMBDA {
      const auto r = warp.map(
          some,
          [&](std::uint32_t i) {
            const bits below = (bits{1} << (i % w)) - 1;
            return shared_.before[i / w] + size_of(shared_.marks[i / w] & below);
          },
          0u, from);
      warp.scatter(some, shared_.begin, r, from);
      if constexpr (apart)
        warp.scatter(some, shared_.of_job, r,
                     warp.template cast<std::uint16_t>(warp.lane() + u32s(first)));
      warp.scatter(some, shared_.low, r, lanes<word>(static_cast<word>(~word{0})));
      warp.scatter(some, shared_.high, r, lanes<word>(word{0}));
    });
    team_.barrier();
  }
  LANEWISE_FUNCTION void number_marks() {
    const auto warp = team_.warp();
    std::uint32_t total = 0;
    for (int i = 0; i < all_rows; i += width) {
      const auto there = warp.first(all_rows - i);
      const auto count =
          warp.map([](bits m) { return size_of(m); }, warp.load(there, shared_.marks + i, bits{0}));
      const auto upto = warp.inclusive_scan(count, plus{});
      warp.store(there, shared_.before + i, upto - count + u32s(total));
      total += warp.broadcast(upto, width - 1);
    }
    warp.once([&] {
      shared_.segments = total;
      shared_.begin[total] = static_cast<std::uint32_t>(n_);
    });
  }
  static LANEWISE_FUNCTION std::uint32_t size_of(bits set) {
    return static_cast<std::uint32_t>(warp_type::popcount(set));
  }
  /// f(mask, numbers) for all segments with items.
  template <class F>
  LANEWISE_FUNCTION void each_segment(F f) const {
    const auto warp = team_.warp();
    const auto n = static_cast<int>(shared_.segments);
    for (int i = team_.warp_index() * width; i < n; i += threads)
      f(warp.first(n - i), warp.lane() + u32s(static_cast<std::uint32_t>(i)));
  }
  /// The segments of a row's keys.
  LANEWISE_FUNCTION u32s segment_of(int j) const {
    const bits marks = shared_.marks[row(j)];
    const std::uint32_t before = shared_.before[row(j)];
    return team_.warp().map(
        [=](bits below) { return before + size_of(marks & static_cast<bits>(below << 1 | 1)) - 1; },
        team_.warp().lanes_below());
  }
  /// The first bit of the words that choose bins. Keys of more than 64 bits have too many.
  LANEWISE_FUNCTION int first_bit(radix_range range) {
    if constexpr (sizeof(Bits) > 8) {
      const auto warp = team_.warp();
      lanes<Bits> differing(Bits{0});
      each_row([&](int j) LANEWISE_INLINE_LAMBDA {
        differing = differing |
                    lanewise::select(exists(j), key_[j] ^ lanes<Bits>(any_), lanes<Bits>(Bits{0}));
      });
      const Bits here = warp.reduce(differing, bit_or{});
      warp.once([&] { shared_.differing[team_.warp_index()] = here; });
      team_.barrier();
      const auto all =
          warp.load(warp.template first<Bits>(Team::warps), shared_.differing, Bits{0});
      const auto upper = static_cast<std::uint64_t>(
          static_cast<Bits>(warp.reduce(all, bit_or{}) & detail::ordering_bits<Bits>(range)) >> 64);
      const int top = upper == 0 ? 64 : 128 - Kokkos::countl_zero(upper);
      return top - 64 > range.low ? top - 64 : range.low;
    } else {
      return range.low;
    }
  }

  /// Finds the least and the greatest word of every segment.
  template <class Words>
  LANEWISE_FUNCTION void find_ranges(const Words& words) {
    const auto warp = team_.warp();
    const auto put = [&](const auto& which, const u32s& segment, const lanes<word>& low,
                         const lanes<word>& high) LANEWISE_INLINE_LAMBDA {
      warp.template fetch_min<order::relaxed, scope::team>(which, shared_.low, segment, low);
      warp.template fetch_max<order::relaxed, scope::team>(which, shared_.high, segment, high);
    };
    each_row([&](int j) LANEWISE_INLINE_LAMBDA {
      const auto x = words(j);
      const auto segment = segment_of(j);
      const int here = mine_ - j * width < width ? mine_ - j * width : width;
      const bits heads = shared_.marks[row(j)];
      if ((heads & ~bits{1}) == 0) {
        put(warp.first(1), segment, lanes<word>(warp.reduce(x, minimum{}, here)),
            lanes<word>(warp.reduce(x, maximum{}, here)));
      } else {
        const bits last = heads >> 1 | bits{1} << (here - 1);
        put(warp.template mask_of<std::uint32_t>(last), segment,
            warp.segmented_scan(x, heads, minimum{}, here),
            warp.segmented_scan(x, heads, maximum{}, here));
      }
    });
  }
  LANEWISE_FUNCTION u32s bin_of(int j, const lanes<word>& x) const {
    return team_.warp().map(
        exists(j),
        [&](word w, std::uint32_t s) {
          return shared_.begin[s] + shared_.scale[s](static_cast<word>(w - shared_.low[s]));
        },
        0u, x, segment_of(j));
  }
  LANEWISE_FUNCTION u32s is_exact(int j) const {
    return team_.warp().map(
        exists(j), [&](std::uint32_t s) { return shared_.scale[s].is_exact() ? 1u : 0u; }, 0u,
        segment_of(j));
  }

  /// Turns counts of bins into where they begin.
  LANEWISE_FUNCTION void scan_bins() {
    const auto warp = team_.warp();
    const auto first =
        (warp.lane() + u32s(static_cast<std::uint32_t>(team_.warp_index() * width))) *
        u32s(static_cast<std::uint32_t>(rows));
    u32s before[rows], sum(0u);
    LANEWISE_UNROLL
    for (int k = 0; k < rows; ++k) {
      before[k] = sum;
      sum = sum + warp.gather(shared_.bin, first + u32s(static_cast<std::uint32_t>(k)));
    }
    const auto upto = warp.inclusive_scan(sum, plus{});
    const std::uint32_t total = warp.broadcast(upto, width - 1);
    warp.once([&] { shared_.warp_total[team_.warp_index()] = total; });
    team_.barrier();
    const auto totals = warp.load(warp.first(team_.warp_index()), shared_.warp_total, 0u);
    const auto from = upto - sum + u32s(warp.reduce(totals, plus{}));
    LANEWISE_UNROLL
    for (int k = 0; k < rows; ++k)
      warp.scatter(shared_.bin, first + u32s(static_cast<std::uint32_t>(k)), from + before[k]);
    team_.once([&] { shared_.bin[items] = static_cast<std::uint32_t>(n_); });
    team_.barrier();
  }
  /// A key's place is the begin of its bin and the number of the bin's keys before it. Keys
  /// among equals have the place of their slot; if they are counted, place_ stays their bin.
  LANEWISE_FUNCTION void compare(int j, const u32s& slot, Bits ordering, bool counts) {
    const Key* const keys = shared_.keys.data();
    const std::uint32_t* const bin = shared_.bin;
    place_[j] = team_.warp().map(
        exists(j),
        [=](Bits x, std::uint32_t i, std::uint32_t b, std::uint32_t own) {
          if ((own & among_equals) != 0) {
            own &= ~among_equals;
            if (bare) return own;
            if (counts) return b;
          }
          const Key key(static_cast<Bits>(x & ordering), i);
          const std::uint32_t end = bin[b + 1];
          std::uint32_t to = bin[b];
          for (std::uint32_t k = to; k < end; ++k) {
            const Key other = keys[k];
            to += other < key || (k < own && !(key < other)) ? 1 : 0;
          }
          return to;
        },
        0u, key_[j], number(j), place_[j], slot);
  }
  /// The places of keys among equals: the bin's begin is where the next one of them goes, and warps
  /// take theirs in order.
  LANEWISE_FUNCTION void count_equals(const u32s (&slot)[rows]) {
    const auto warp = team_.warp();
    const auto counted = [&](int j) LANEWISE_INLINE_LAMBDA {
      return exists(j) & ((slot[j] & u32s(among_equals)) != 0u);
    };
    lanes<bits> same[rows];
    u32s first[rows];
    each_row([&](int j)
                 LANEWISE_INLINE_LAMBDA { same[j] = warp.match_any(counted(j), place_[j]); });
    for (int w = 0; w < Team::warps; ++w) {
      if (w == team_.warp_index()) {
        each_row([&](int j) LANEWISE_INLINE_LAMBDA {
          const auto leads = counted(j) & ((same[j] & warp.lanes_below()) == bits{0});
          first[j] = warp.template fetch_add<order::relaxed, scope::team>(
              leads, shared_.bin, place_[j], warp.map(size_of, same[j]));
          warp.fence();
        });
      }
      team_.barrier();
    }
    each_row([&](int j) LANEWISE_INLINE_LAMBDA {
      const auto leader = warp.map(
          [](bits b) { return b == 0 ? 0u : static_cast<std::uint32_t>(warp_type::lowest(b)); },
          same[j]);
      const auto before = warp.map(size_of, same[j] & warp.lanes_below());
      place_[j] = lanewise::select((slot[j] & u32s(among_equals)) == 0u, place_[j],
                                   warp.shuffle(first[j], leader) + before);
    });
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
