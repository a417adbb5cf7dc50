// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/league/look_back_chain.hpp>
#include <lanewise/team/team_scan.hpp>
#include <lanewise/tile/merge_tile.hpp>
#include <lanewise/tile/register/ranks.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// What a set operation keeps of two sequences that are merged, equal items of the first in front.
/// Every item of the second that finds one of the first waiting, an equal one that no other took,
/// takes it.
struct set_rule {
  bool first;  ///< items of the first
  bool taker;  ///< items of the second that took one
  bool other;  ///< the others of the second
};

/// The first of the sorted items [low, high) that is not less than x, searched for from the back:
/// by steps of doubling length, then by halves.
template <class T, class Less>
LANEWISE_FUNCTION int equals_begin(const T* items, int low, int high, const T& x,
                                   const Less& less) {
  int step = 1;
  while (step <= high - low && !less(items[high - step], x)) step *= 2;
  return lanewise::partition_point(step <= high - low ? high - step + 1 : low, high - step / 2,
                                   [&](int i) { return less(items[i], x); });
}

/// The item of a merge before a cut, if there is one.
template <class First, class Second, class Less>
LANEWISE_FUNCTION maybe<typename First::value_type> last_in_front(
    const merge_cut<std::int64_t>& cut, const First& first, const Second& second,
    const Less& less) {
  using T = typename First::value_type;
  if (cut.from_a == 0 && cut.from_b == 0) return {T{}, false};
  if (cut.from_b == 0) return {T(first(cut.from_a - 1)), true};
  const T x = second(cut.from_b - 1);
  if (cut.from_a == 0) return {x, true};
  const T y = first(cut.from_a - 1);
  return {less(x, y) ? y : x, true};
}

/// A tile of a set operation: a piece of the merge of two sequences in scratch. Every lane walks k
/// neighbouring items of it and marks the items that are kept.
///
/// A lane has to know how many items of the first sequence wait where it begins: those equal to the
/// last one before it, less those of the second that are equal, too. It counts both in
/// scratch. Where the last one lies before the tile, a warp has counted for the tile.
///
/// with_origins: put asks where items were. Else items that are small are kept in registers, and
/// lie side by side in scratch when all lanes have walked.
template <class Team, class T, int k, bool with_origins>
class device_set_tile {
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;
  static constexpr int per_pack = items_of_pack<T>;

 public:
  static constexpr int items = Team::warps * width * k;

 private:
  /// Two pieces in packs, one item in front, and one after all.
  static constexpr int places =
      static_cast<int>(divide_up(items + 4 * (per_pack - 1) + 2, per_pack)) * per_pack;
  using place = place_for<places>;
  static constexpr bool holds_items = !with_origins && sizeof(T) <= 16;
  /// What a lane notes of an item.
  using note = std::conditional_t<holds_items, T, place>;
  using notes = pack<note, k>;
  template <class U>
  using lanes = lanes_t<warp_type, U>;

 public:
  struct scratch {
    alignas(alignof(T) > 16 ? alignof(T) : 16) raw_array<T, places> item;
    place from[holds_items ? 1 : items];
    scan_by_shuffles::scratch<Team, std::uint32_t> counts;
    merge_piece piece;
    int waiting;
  };

  template <class First, class Second>
  LANEWISE_FUNCTION device_set_tile(const Team& team, scratch& shared, const First& first,
                                    const Second& second, const merge_piece& piece)
      : team_(team), shared_(shared), piece_(piece), in_front_(piece.begin.from_a > 0 ? 1 : 0) {
    T* const item = shared.item.data();
    const std::int64_t begin = piece.begin.from_a - in_front_;
    const int n = static_cast<int>(piece.count()) + in_front_;
    const int n_first = static_cast<int>(piece.count_a()) + in_front_;
    if constexpr (is_array_of_items<First> && is_array_of_items<Second>) {
      constexpr int threads = Team::warps * width;
      constexpr int rows = static_cast<int>(divide_up(places / per_pack, 2 * threads));
      const array_piece<T> pieces[2] = {
          {first.data, first.extent, begin, n_first},
          {second.data, second.extent, piece.begin.from_b, n - n_first}};
      const auto at = detail::fetch_packs<rows>(team, item, pieces);
      all_ = {at.begin[0] + in_front_, at.end[0], at.begin[1], at.end[1]};
    } else {
      detail::fetch_rows<k + 1>(team, item, n_first, [&](int i) -> T { return first(begin + i); });
      detail::fetch_rows<k + 1>(team, item + n_first, n - n_first,
                                [&](int i) -> T { return second(piece.begin.from_b + i); });
      all_ = {in_front_, n_first, n_first, n};
    }
  }

  /// Brings together where the kept items lie, and returns how many there are. All warps call it.
  template <set_rule rule, class First, class Second, class Less>
  LANEWISE_FUNCTION std::uint32_t mark(const First& first, const Second& second, const Less& less) {
    if (team_.warp_index() == 0) {
      const int n = waiting(first, second, less);
      team_.warp().once([&] { shared_.waiting = n; });
    }
    team_.barrier();
    return bring_together([&](notes& kept, int begin, int left) LANEWISE_INLINE_LAMBDA {
      return walk<rule>(kept, begin, left, less);
    });
  }

  /// As `mark`, for another rule. An item is kept that differs from the one before it in the merge,
  /// if keep(index, is_second) holds. keep is asked after a barrier.
  template <class First, class Second, class Keep, class Less>
  LANEWISE_FUNCTION std::uint32_t mark_firsts(const First& first, const Second& second,
                                              const Keep& keep, const Less& less) {
    static_assert(with_origins);
    team_.barrier();
    return bring_together([&](notes& from, int begin, int left) LANEWISE_INLINE_LAMBDA {
      const auto last =
          begin > 0 ? maybe<T>{} : detail::last_in_front(piece_.begin, first, second, less);
      const std::uint32_t firsts = walk_firsts(from, begin, left, last, less);
      std::uint32_t marks = 0;
      LANEWISE_UNROLL
      for (int c = 0; c < k; ++c) {
        if (((firsts >> c) & 1u) != 0 && keep(index_of(from[c]), from[c] >= all_.b))
          marks |= 1u << c;
      }
      return marks;
    });
  }

  /// Writes them from place `start` on, as far as there are `room` places. A barrier lies between.
  template <class Put>
  LANEWISE_FUNCTION void write(const Put& put, std::int64_t start, std::int64_t room) const {
    const T* const item = shared_.item.data();
    [[maybe_unused]] const place* const from = shared_.from;
    if constexpr (holds_items) {
      detail::for_each_place(team_, places_of{room}, start, 0, kept_,
                             [&](int i) { put(start + i, item[i]); });
    } else if constexpr (requires { put.load(std::int64_t{0}, true); }) {
      const std::int64_t left = room - start;
      const int n =
          left < kept_ ? (left < 0 ? 0 : static_cast<int>(left)) : static_cast<int>(kept_);
      const auto here = *this;
      detail::put_in_two_steps<k>(
          team_, from, n,
          [&](place p)
              LANEWISE_INLINE_LAMBDA { return put.load(here.index_of(p), p >= here.all_.b); },
          [&](int i, place p, const auto& value)
              LANEWISE_INLINE_LAMBDA { put.store(start + i, item[p], value); });
    } else {
      detail::for_each_place(team_, places_of{room}, start, 0, kept_,
                             [&](int i) { put(start + i, item[from[i]]); });
    }
  }

 private:
  struct places_of {
    std::int64_t extent;
  };

  /// The index that an item of scratch had in its sequence.
  LANEWISE_FUNCTION std::int64_t index_of(place p) const {
    return p + (p < all_.b ? piece_.begin.from_a - all_.a : piece_.begin.from_b - all_.b);
  }

  /// walk(notes, begin, left) marks the items of a lane, number `begin` of the tile and on, and
  /// notes them. There are `left` of them.
  template <class Walk>
  LANEWISE_FUNCTION std::uint32_t bring_together(const Walk& walk) {
    const auto warp = team_.warp();
    const int n = static_cast<int>(piece_.count());
    auto own = (lanes<int>(team_.warp_index() * width) + warp.template cast<int>(warp.lane())) *
               lanes<int>(k);
    lanes<std::uint32_t> marks(0u);
    lanes<notes> noted;
    warp.each(
        own < n,
        [&](std::uint32_t& m, notes& f, int begin)
            LANEWISE_INLINE_LAMBDA { m = walk(f, begin, n - begin); },
        marks, noted, own);
    const auto count = warp.map(
        [](std::uint32_t m) { return static_cast<std::uint32_t>(Kokkos::popcount(m)); }, marks);
    // After its barrier all lanes have walked.
    const auto prefix =
        scan_by_shuffles::scan(team_, shared_.counts, count, plus{}, std::uint32_t{0});
    auto before = prefix.before;
    warp.each(
        [&](std::uint32_t m, const notes& f, std::uint32_t first) {
          note* to = kept_notes() + first;
          LANEWISE_UNROLL
          for (int c = 0; c < k; ++c) {
            if (((m >> c) & 1u) != 0) *to++ = f[c];
          }
        },
        marks, noted, before);
    kept_ = prefix.total;
    return kept_;
  }
  LANEWISE_FUNCTION note* kept_notes() const {
    if constexpr (holds_items) {
      return shared_.item.data();
    } else {
      return shared_.from;
    }
  }

  /// How many items of the first sequence wait where the tile begins, by a warp.
  template <class First, class Second, class Less>
  LANEWISE_FUNCTION int waiting(const First& first, const Second& second, const Less& less) const {
    const std::int64_t i = piece_.begin.from_a, j = piece_.begin.from_b;
    if (i == 0) return 0;
    const T x = first(i - 1), in_front = i > 1 ? T(first(i - 2)) : x,
            other = j > 0 ? T(second(j - 1)) : x;
    const bool has_equals = (i > 1 && !less(in_front, x)) || (j > 0 && !less(other, x));
    if (!has_equals) return 1;
    std::int64_t begin[2] = {0, 0}, end[2] = {i - 1, j};
    lanewise::partition_points(team_.warp(), begin, end, [&](int q, std::int64_t at) {
      return less(q == 0 ? T(first(at)) : T(second(at)), x);
    });
    const std::int64_t n = i - begin[0] - (j - begin[1]);
    return n < 0 ? 0 : (n < items ? static_cast<int>(n) : items);
  }

  /// The items of a lane that are kept, `left` at most; all of them are noted.
  template <set_rule rule, class Less>
  LANEWISE_FUNCTION std::uint32_t walk(notes& noted, int begin, int left, const Less& less) const {
    const T* const item = shared_.item.data();
    run_pair runs = all_;
    detail::skip_items<items>(item, runs, begin, less);
    const int low = all_.a - in_front_;
    const bool follows = runs.a > low;
    T last = item[follows ? runs.a - 1 : low];
    int open = follows ? open_after(runs, last, less) : 0;
    std::uint32_t marks = 0;
    detail::merge_items<k, true>(
        item, runs, less, [&](int c, const T& x, int at, bool is_second) LANEWISE_INLINE_LAMBDA {
          bool equal;
          if constexpr (compares_anything<T, Less>) {
            equal = (open > 0) & !(last < x);
          } else {
            equal = c < left && open > 0 && !less(last, x);
          }
          const bool keep = is_second ? (equal ? rule.taker : rule.other) : rule.first;
          marks |= keep ? 1u << c : 0u;
          // What waits for an item before this one waits in vain.
          open = (equal ? open : 0) + (is_second ? -static_cast<int>(equal) : 1);
          last = is_second ? last : x;
          if constexpr (holds_items) {
            noted[c] = x;
          } else {
            noted[c] = static_cast<place>(at);
          }
        });
    return left < k ? marks & ((1u << left) - 1) : marks;
  }
  /// How many items equal to `last`, before runs.a, wait where a lane begins.
  template <class Less>
  LANEWISE_FUNCTION int open_after(const run_pair& runs, const T& last, const Less& less) const {
    const T* const item = shared_.item.data();
    const int low = all_.a - in_front_;
    const bool is_alone = runs.a > all_.a && (runs.a - 1 == low || less(item[runs.a - 2], last));
    // As mostly: one item, which the last one of the other sequence took, or is past.
    if (is_alone) return runs.b > all_.b && !less(item[runs.b - 1], last) ? 0 : 1;
    const int first = detail::equals_begin(item, low, runs.a - 1, last, less);
    const int open = runs.a - first + (first < all_.a ? shared_.waiting - 1 : 0) -
                     (runs.b - detail::equals_begin(item, all_.b, runs.b, last, less));
    return open < 0 ? 0 : open;
  }

  /// The items of a lane that differ from the one before them; of the tile's first lane that
  /// is `last`, if there is one.
  template <class Less>
  LANEWISE_FUNCTION std::uint32_t walk_firsts(notes& from, int begin, int left, maybe<T> last,
                                              const Less& less) const {
    const T* const item = shared_.item.data();
    run_pair runs = all_;
    detail::skip_items<items>(item, runs, begin, less);
    if (begin > 0) {
      const bool has_a = runs.a > all_.a, has_b = runs.b > all_.b;
      const T of_a = item[has_a ? runs.a - 1 : runs.b - 1];
      const T of_b = item[has_b ? runs.b - 1 : runs.a - 1];
      last = {less(of_b, of_a) ? of_a : of_b, true};
    }
    std::uint32_t marks = last.present ? 0 : 1;
    detail::merge_items<k, true>(item, runs, less,
                                 [&](int c, const T& x, int at, bool) LANEWISE_INLINE_LAMBDA {
                                   marks |= less(last.value, x) ? 1u << c : 0u;
                                   last.value = x;
                                   from[c] = static_cast<place>(at);
                                 });
    return left < k ? marks & ((1u << left) - 1) : marks;
  }

  const Team& team_;
  scratch& shared_;
  merge_piece piece_;
  int in_front_;
  run_pair all_;
  std::uint32_t kept_ = 0;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
