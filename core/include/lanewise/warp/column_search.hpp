// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/warp/search.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE

// Searches of many lanes in one sorted list in the team's scratch (Karsin, Casanova and Sitchinava:
// batched predecessor search). Lanes that halve one list ask for the same few banks: 4,096 keys
// take 146 rounds of scratch for 32 random queries, and 255 for the worst (the paper's PBS). So the
// list is seen as columns, one for each bank. Every lane first halves the column of its own bank,
// whose keys no other lane asks for. Then it searches the less than `columns` keys that are left.

/// What follows the search in a column: halving what is left (the paper's PBS-CL), or one key after
/// the other, in step with all lanes and so without conflicts (PBS-CF).
enum class window_search { halving, linear };

/// A list in columns. One column is no columns: all lanes halve the whole list (PBS). 32 columns
/// fit the 32 banks of 4 bytes of a GPU, for keys of 4 and of 8 bytes.
template <int columns_ = 32, window_search window_ = window_search::halving>
struct column_search {
  static_assert(columns_ == 1 || columns_ == 16 || columns_ == 32,
                "lanewise: column_search: 1, 16 or 32 columns");
  static constexpr int columns = columns_;
  static constexpr window_search window = window_;

  /// How many keys of room a list of n keys takes: full rows, and one more before and after.
  static LANEWISE_FUNCTION constexpr std::int64_t room_for(std::int64_t n) {
    return columns == 1 ? n : ((n + columns - 1) / columns + 2) * columns;
  }

  /// Brings keys(0) ... keys(n - 1) to room for room_for(n) keys in scratch. All warps of the team
  /// call it, and a barrier afterwards. Rows are filled up with the first and with the last key.
  /// The copies compare as these keys do, so that no type needs a least and a greatest key.
  template <class T, class Team, class Keys>
  static LANEWISE_FUNCTION void load(const Team& team, const Keys& keys, std::uint32_t n, T* room) {
    using warp_type = typename Team::warp_type;
    constexpr std::uint32_t in_front = columns == 1 ? 0 : columns;
    constexpr std::uint32_t width = warp_type::width;
    const auto all = static_cast<std::uint32_t>(room_for(n));
    const auto warp = team.warp();
    if (n == 0) return;
    for (auto i = static_cast<std::uint32_t>(team.warp_index()) * width; i < all;
         i += Team::warps * width) {
      const auto exist = warp.first(all - i);
      const auto x = warp.map(
          exist,
          [&](std::uint32_t l) LANEWISE_INLINE_LAMBDA -> T {
            const std::uint32_t place = i + l, k = place > in_front ? place - in_front : 0;
            return keys(static_cast<std::int64_t>(k < n ? k : n - 1));
          },
          T{}, warp.lane());
      warp.store(exist, room + i, x);
    }
  }

  /// rank[a] becomes how many of the n keys of the list are less than a lane's key[a], or, where
  /// upper, not greater: for k keys of every lane, whose searches take the same steps side by side.
  /// All lanes have keys. ceil(log2(n / columns + 1)) + log2(columns) rounds. `less` is called with
  /// keys of the list and of the lanes.
  template <bool upper, int k, class W, class T, class Less = less>
  static LANEWISE_FUNCTION void ranks(const W& warp, const T* room, std::uint32_t n,
                                      const lanes_t<W, T> (&key)[k],
                                      lanes_t<W, std::uint32_t> (&rank)[k], Less less = {}) {
    using places = lanes_t<W, std::uint32_t>;
    // The key `by` places on decides whether the place moves there.
    const auto step = [&](std::uint32_t by) LANEWISE_INLINE_LAMBDA {
      LANEWISE_UNROLL
      for (int a = 0; a < k; ++a) {
        const places there = rank[a] + places(by);
        rank[a] = lanewise::select(holds<upper, T>(warp, warp.gather(room, there), key[a], less),
                                   there, rank[a]);
      }
    };
    if constexpr (columns == 1) {
      // A place is that after the keys that are known to hold.
      LANEWISE_UNROLL
      for (int a = 0; a < k; ++a) rank[a] = places(0u);
      for (std::uint32_t left = n; left > 0; left /= 2) {
        const std::uint32_t by = left - left / 2;
        LANEWISE_UNROLL
        for (int a = 0; a < k; ++a)
          rank[a] = lanewise::select(
              holds<upper, T>(warp, warp.gather(room + (by - 1), rank[a]), key[a], less),
              rank[a] + places(by), rank[a]);
      }
    } else {
      // The place of the last key that is known to hold, or in the row before all.
      const places column = warp.lane() & places(std::uint32_t{columns - 1});
      LANEWISE_UNROLL
      for (int a = 0; a < k; ++a) rank[a] = column;
      for (std::uint32_t left = (n + columns - 1) / columns; left > 0; left /= 2)
        step((left - left / 2) * columns);
      if constexpr (window == window_search::halving) {
        LANEWISE_UNROLL
        for (std::uint32_t left = columns - 1; left > 0; left /= 2) step(left - left / 2);
      } else {
        LANEWISE_UNROLL
        for (int a = 0; a < k; ++a)
          rank[a] = rank[a] + count_after<upper>(warp, room, rank[a], key[a], less);
      }
      LANEWISE_UNROLL
      for (int a = 0; a < k; ++a)
        rank[a] = warp.map(
            [n](std::uint32_t place) LANEWISE_INLINE_LAMBDA {
              const std::uint32_t r = place < columns ? 0 : place - (columns - 1);
              return r < n ? r : n;
            },
            rank[a]);
    }
  }
  /// As `ranks`, for one key of every lane.
  template <bool upper, class W, class T, class Less = less>
  static LANEWISE_FUNCTION lanes_t<W, std::uint32_t> rank(
      const W& warp, const T* room, std::uint32_t n, const lanes_t<W, std::type_identity_t<T>>& key,
      Less less = {}) {
    const lanes_t<W, T> keys[1] = {key};
    lanes_t<W, std::uint32_t> result[1];
    ranks<upper, 1>(warp, room, n, keys, result, less);
    return result[0];
  }

 private:
  /// How many of the columns - 1 keys after a place hold.
  template <bool upper, class W, class T, class Less>
  static LANEWISE_FUNCTION auto count_after(const W& warp, const T* room,
                                            const lanes_t<W, std::uint32_t>& place,
                                            const lanes_t<W, std::type_identity_t<T>>& key,
                                            const Less& less) {
    using places = lanes_t<W, std::uint32_t>;
    places count(0u);
    LANEWISE_UNROLL
    for (std::uint32_t i = 1; i < std::uint32_t{columns}; ++i)
      count = lanewise::select(holds<upper, T>(warp, warp.gather(room + i, place), key, less),
                               places(i), count);
    return count;
  }
  template <bool upper, class T, class W, class Less>
  static LANEWISE_FUNCTION auto holds(const W& warp, const lanes_t<W, T>& x,
                                      const lanes_t<W, T>& key, const Less& less) {
    const auto all = warp.template first<T>(W::width);
    if constexpr (upper) {
      return !detail::less_by_lanes<W, decltype(all), Less, T>(warp, all, less, key, x);
    } else {
      return detail::less_by_lanes<W, decltype(all), Less, T>(warp, all, less, x, key);
    }
  }
};

LANEWISE_END_NAMESPACE
