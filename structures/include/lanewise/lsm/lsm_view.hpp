// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/detail/table_warp_face.hpp>
#include <lanewise/lsm/detail/lsm_cursor.hpp>
#include <lanewise/warp/warp.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE

/// A map inside kernels: the levels as they were when view() was called. Copied by value, valid
/// while a map or snapshot has these levels: until the map is changed, for one.
///
/// The warp face: the whole warp calls, and every active lane has a query. lanes<T> is
/// Warp::lanes<T>. Queries of one lane alone go to a warp of one lane, Warp::part<1>, or to
/// table_scalar_face.
template <class Key, class Value>
class lsm_view : public detail::table_warp_face<lsm_view<Key, Value>, Key, Value> {
 public:
  using levels = detail::lsm_levels_of<Key, Value>;
  using cursor = detail::lsm_cursor<Key, Value>;

  lsm_view() = default;
  explicit lsm_view(const levels& all) : all_(all) {}

  template <class Warp, class T>
  using lanes = lanes_t<Warp, T>;

  /// How many keys there are in [k1, k2], as lanes<std::int64_t>; none where k1 > k2. Every
  /// candidate is read, stale ones included, unless there is but one clean level. A lane works on
  /// few candidates alone, and the warp together on the others of a query.
  template <class Warp, class Mask>
  LANEWISE_FUNCTION auto count(const Warp& warp, Mask active, const lanes<Warp, Key>& k1,
                               const lanes<Warp, Key>& k2) const {
    lanes<Warp, std::int64_t> number(0);
    const auto nobody = [](std::int64_t, const Key&, int, std::int64_t) {};
    visit<false>(warp, active, k1, k2, number, nobody);
    return number;
  }

  /// Calls f(i, key, level, index) for the live elements with keys in [k1, k2] of every lane's
  /// query, by any lane: i is first, and one more for each of the query, in ascending order of
  /// keys. value_of(level, index) is the value. first becomes what is after the last.
  ///
  /// A sink f may have begin(warp, i) and end(warp, i), which the whole warp calls before and after
  /// some calls of f. These are all for numbers from i of begin on, and most of them below that of
  /// end.
  template <class Warp, class Mask, class F>
  LANEWISE_FUNCTION void for_each(const Warp& warp, Mask active, const lanes<Warp, Key>& k1,
                                  const lanes<Warp, Key>& k2, lanes<Warp, std::int64_t>& first,
                                  const F& f) const {
    visit<true>(warp, active, k1, k2, first, f);
  }

  // Below: what the calls on whole maps are made of.

  static constexpr int teams_of_queries = 5;

  /// A search begins in every level anew, so there is nothing to find out in advance.
  template <class Warp>
  struct located {};
  template <bool, class Warp, class Mask>
  LANEWISE_FUNCTION located<Warp> locate_active(const Warp&, Mask, const lanes<Warp, Key>&) const {
    return {};
  }
  template <bool, int k, class Warp>
  LANEWISE_FUNCTION void locate(const Warp&, const lanes<Warp, Key> (&)[k],
                                located<Warp> (&)[k]) const {}
  /// Levels are searched from the newest on, for all lanes that have not met their keys. A level
  /// takes a node of 64 bytes for each level of its search tree, log2(n) / 4 or so for keys of 4
  /// bytes. Then it takes a load of the value, and one of the tombstone's bit where the level has
  /// tombstones.
  template <class Warp, class Mask>
  LANEWISE_FUNCTION auto find_at(const Warp& warp, Mask active, const located<Warp>&,
                                 const lanes<Warp, Key>& key, lanes<Warp, Value>& value) const {
    lanes<Warp, std::uint32_t> came(0u);
    for (int j = 0; j < all_.count; ++j) {
      const auto left = active & (came == 0u);
      if (!warp.any(left)) break;
      find_in(warp, left, all_.level[j], key, value, came);
    }
    return detail::found_where<Warp>(warp, active, active & (came == 1u));
  }
  /// How many elements, stale ones included, all levels have with keys in [k1, k2].
  template <class Warp>
  LANEWISE_FUNCTION auto candidates(const Warp& warp, const lanes<Warp, Key>& k1,
                                    const lanes<Warp, Key>& k2) const {
    const auto asked = !(k2 < k1);
    lanes<Warp, std::int64_t> sum(0);
    for (int j = 0; j < all_.count; ++j) {
      const auto begin = all_.level[j].tree.template bound<false>(warp, asked, k1);
      const auto end = all_.level[j].tree.template bound<true>(warp, asked, k2);
      sum = lanewise::select(asked, sum + end - begin, sum);
    }
    return sum;
  }
  /// The position of a lane's key, or of the next one, in the only level.
  template <class Warp, class Mask>
  LANEWISE_FUNCTION auto first_position(const Warp& warp, Mask active,
                                        const lanes<Warp, Key>& key) const {
    return all_.level[0].tree.template bound<false>(warp, active, key);
  }

  /// All elements, and the level with most of them.
  LANEWISE_FUNCTION int open_all(cursor& part) const {
    int largest = 0;
    for (int j = 0; j < all_.count; ++j) {
      part.at[j] = 0;
      part.end[j] = all_.level[j].size();
      if (part.end[j] > part.end[largest]) largest = j;
    }
    return largest;
  }
  /// By a lane: calls f as for_each does for what lies between elements `first` and `first` + each
  /// of the largest level. It does so by their keys, in a part of all levels. A piece at the part's
  /// begin or end has what lies before it or after it, too. Returns the number after the last.
  template <class F>
  LANEWISE_FUNCTION std::int64_t piece(const cursor& part, int largest, std::int64_t first,
                                       std::int64_t each, std::int64_t number, const F& f) const {
    const Key* const keys = all_.level[largest].keys();
    const std::int64_t end = part.end[largest];
    if (first >= end) return number;
    const bool has_stop = first + each < end;
    const Key stop = has_stop ? keys[first + each] : Key{};
    cursor c;
    for (int j = 0; j < all_.count; ++j) {
      const std::int64_t low = part.at[j];
      c.end[j] = part.end[j];
      c.at[j] = first == part.at[largest]
                    ? low
                    : low + lanewise::lower_bound(all_.level[j].keys() + low, part.end[j] - low,
                                                  keys[first]);
    }
    return walk(c, has_stop, stop, number, f);
  }

  LANEWISE_FUNCTION const Value& value_of(int level, std::int64_t index) const {
    return all_.level[level].values[index];
  }
  LANEWISE_FUNCTION const levels& all() const { return all_; }
  /// Tombstones and stale elements on the way are stepped over one by one.
  template <bool forward, bool strict, class Warp, class Mask>
  LANEWISE_FUNCTION auto neighbour_at(const Warp& warp, Mask active, const located<Warp>&,
                                      const lanes<Warp, Key>& key, lanes<Warp, Key>& found,
                                      lanes<Warp, Value>& value) const {
    lanes<Warp, cursor> from;
    for (int j = 0; j < all_.count; ++j) {
      const auto& level = all_.level[j];
      auto at = level.tree.template bound<forward == strict>(warp, active, key);
      warp.each(
          active,
          [j, n = level.size()](cursor& c, std::int64_t position) {
            c.at[j] = position;
            c.end[j] = n;
          },
          from, at);
    }
    lanes<Warp, std::uint32_t> came(0u);
    warp.each(
        active,
        [&](cursor& c, Key& k, Value& v, std::uint32_t& status) {
          Key best{};
          int level = 0;
          std::int64_t index = 0;
          const bool is_there = forward ? c.next_live(all_, false, Key{}, best, level, index)
                                        : c.previous_live(all_, best, level, index);
          status =
              static_cast<std::uint32_t>(is_there ? table_status::found : table_status::absent);
          if (!is_there) return;
          k = best;
          v = value_of(level, index);
        },
        from, found, value, came);
    return detail::statuses_of<Warp>(warp, came);
  }

 private:
  /// Candidates that a lane works on alone.
  static constexpr std::int64_t few = 64;
  static constexpr std::int64_t candidates_of_all = std::numeric_limits<std::int64_t>::max();
  /// The most candidates of the largest level that a lane takes in a round of its warp: few, so
  /// that neighbouring lanes read neighbours, and what a round gives fits in a sink's room.
  static constexpr std::int64_t most_in_round = 4;

  template <class Warp, class Mask>
  LANEWISE_FUNCTION void find_in(const Warp& warp, Mask left,
                                 const detail::lsm_level<Key, Value>& level,
                                 const lanes<Warp, Key>& key, lanes<Warp, Value>& value,
                                 lanes<Warp, std::uint32_t>& came) const {
    const auto at = level.tree.template bound<false>(warp, left, key);
    const auto inside = left & (at < level.size());
    const auto equal = inside & (warp.gather(inside, level.keys(), at, Key{}) == key);
    auto index = at;
    warp.each(
        equal,
        [&level](std::int64_t i, Value& v, std::uint32_t& c) {
          const bool is_dead = level.is_dead(i);
          if (!is_dead) v = level.values[i];
          c = is_dead ? 2 : 1;
        },
        index, value, came);
  }

  template <bool calls, class Warp, class Mask, class F>
  LANEWISE_FUNCTION void visit(const Warp& warp, Mask active, const lanes<Warp, Key>& k1,
                               const lanes<Warp, Key>& k2, lanes<Warp, std::int64_t>& number,
                               const F& f) const {
    const auto asked = active & !(k2 < k1);
    lanes<Warp, cursor> part;
    lanes<Warp, std::int64_t> candidates(0);
    for (int j = 0; j < all_.count; ++j) {
      auto begin = all_.level[j].tree.template bound<false>(warp, asked, k1);
      auto end = all_.level[j].tree.template bound<true>(warp, asked, k2);
      warp.each(
          asked,
          [j](cursor& c, std::int64_t& sum, std::int64_t b, std::int64_t e) {
            c.at[j] = b;
            c.end[j] = e;
            sum += e - b;
          },
          part, candidates, begin, end);
    }
    if (!calls && all_.is_clean) {
      number = lanewise::select(asked, number + candidates, number);
      return;
    }
    const auto alone = asked & (candidates <= (Warp::width > 1 ? few : candidates_of_all));
    if (const auto by_lanes = warp.ballot(alone); by_lanes != 0) {
      begin_sink(warp, f, warp.broadcast(number, Warp::lowest(by_lanes)));
      warp.each(
          alone, [&](cursor& c, std::int64_t& m) { m = walk(c, false, Key{}, m, f); }, part,
          number);
      end_sink(warp, f, warp.broadcast(number, Warp::highest(by_lanes)));
    }
    for (auto left = warp.ballot(asked & !alone); left != 0; left &= left - 1) {
      const int q = Warp::lowest(left);
      cursor of{};  // all of it: g++ does not see that no more than all_.count is read
      for (int j = 0; j < all_.count; ++j) {
        of.at[j] = warp.broadcast(warp.map([j](const cursor& c) { return c.at[j]; }, part), q);
        of.end[j] = warp.broadcast(warp.map([j](const cursor& c) { return c.end[j]; }, part), q);
      }
      const std::int64_t end = visit_by_warp<calls>(warp, of, warp.broadcast(number, q), f);
      number = lanewise::select(warp.lane() == static_cast<std::uint32_t>(q),
                                lanes<Warp, std::int64_t>(end), number);
    }
  }

  template <class Warp, class F>
  static LANEWISE_FUNCTION void begin_sink(const Warp& warp, const F& f, std::int64_t i) {
    if constexpr (requires { f.begin(warp, i); }) f.begin(warp, i);
  }
  template <class Warp, class F>
  static LANEWISE_FUNCTION void end_sink(const Warp& warp, const F& f, std::int64_t i) {
    if constexpr (requires { f.end(warp, i); }) f.end(warp, i);
  }

  /// Calls f for the live elements of a cursor's part with keys below `stop`. Returns the number
  /// after the last.
  template <class F>
  LANEWISE_FUNCTION std::int64_t walk(cursor& c, bool has_stop, Key stop, std::int64_t number,
                                      const F& f) const {
    Key key{};
    int level = 0;
    std::int64_t index = 0;
    while (c.next_live(all_, has_stop, stop, key, level, index)) f(number++, key, level, index);
    return number;
  }

  /// The part of one query by all lanes: in each round every lane takes some neighbours of the
  /// largest level's part, and what lies between the same keys in the other levels.
  template <bool calls, class Warp, class F>
  LANEWISE_FUNCTION std::int64_t visit_by_warp(const Warp& warp, const cursor& part,
                                               std::int64_t number, const F& f) const {
    int largest = 0;
    for (int j = 1; j < all_.count; ++j)
      if (part.end[j] - part.at[j] > part.end[largest] - part.at[largest]) largest = j;
    const std::int64_t begin = part.at[largest], end = part.end[largest];
    std::int64_t each = (end - begin + Warp::width - 1) / Warp::width;
    each = each < most_in_round ? each : most_in_round;
    for (std::int64_t round = begin; round < end; round += each * Warp::width) {
      lanes<Warp, std::int64_t> counts(0);
      const auto lane = warp.lane();
      counts = warp.map(
          [&](std::uint32_t l) {
            return piece(part, largest, round + l * each, each, 0,
                         [](std::int64_t, const Key&, int, std::int64_t) {});
          },
          lane);
      if constexpr (calls) {
        const auto before = warp.exclusive_scan(counts, plus{}, number);
        begin_sink(warp, f, number);
        (void)warp.map(
            [&](std::uint32_t l, std::int64_t from) {
              return piece(part, largest, round + l * each, each, from, f);
            },
            lane, before);
        end_sink(warp, f, number + warp.reduce(counts, plus{}));
      }
      number += warp.reduce(counts, plus{});
    }
    return number;
  }

  levels all_{};
};

LANEWISE_END_NAMESPACE
