// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sort/detail/host/host_radix_place.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Sorts items that already lie in few runs, by one thread: runs ascend or descend, and are merged
/// in pairs. Items with equal keys keep their order.
template <class Item, class Value, class Key>
class host_runs {
 public:
  using place = sort_place<Item, Value>;

  LANEWISE_FUNCTION explicit host_runs(const Key& key) : key_(key) {}

  /// to[0, n) = from[0, n) in order, as host_range_sort::sort has it. Returns false where there are
  /// more runs, or a run is short, and has done nothing then: random items cost a few comparisons.
  LANEWISE_FUNCTION bool sort(const place& from, std::int64_t n, const place& to,
                              const place& other) {
    if (!find(from.keys, n)) return false;
    int merges = 0;
    while ((1 << merges) < runs_) ++merges;
    // Merges go back and forth, the last one to `to`.
    const place& begin = merges % 2 == 1 ? other : to;
    const place& next = merges % 2 == 1 ? to : other;
    const place* at = &from;
    if (descends() || from == next || merges == 0) {
      at = from == begin && descends() ? &next : &begin;
      straighten(from, *at);
      if (at != &begin) begin.copy(*at, n);
      at = &begin;
    }
    for (; merges > 0; --merges) {
      const place& target = merges % 2 == 1 ? to : other;
      merge_pairs(*at, target);
      at = &target;
    }
    return true;
  }

 private:
  static constexpr int most = 4;
  static constexpr std::int64_t shortest_part = 16;  // of all items

  LANEWISE_FUNCTION bool find(const Item* items, std::int64_t n) {
    for (std::int64_t at = 0; at < n; ++runs_) {
      if (runs_ == most) return false;
      begin_[runs_] = at;
      std::int64_t end = end_of_run<false>(items, at, n);
      descends_[runs_] = end - at == 1 && end < n;
      if (descends_[runs_]) end = end_of_run<true>(items, at, n);
      if (end < n && end - at < n / shortest_part) return false;
      at = end;
    }
    begin_[runs_] = n;
    return true;
  }
  template <bool descending>
  LANEWISE_LOOP_FUNCTION std::int64_t end_of_run(const Item* items, std::int64_t begin,
                                                 std::int64_t n) const {
    const Key key = key_;
    const auto breaks = [&](std::int64_t i) LANEWISE_INLINE_LAMBDA {
      return descending ? key(items[i - 1]) < key(items[i]) : key(items[i]) < key(items[i - 1]);
    };
    constexpr std::int64_t block = 64;
    std::int64_t at = begin + 1;
    for (; at + block <= n; at += block) {
      int broken = 0;
      for (std::int64_t i = at; i < at + block; ++i) broken |= breaks(i) ? 1 : 0;
      if (broken != 0) break;
    }
    while (at < n && !breaks(at)) ++at;
    return at < n ? at : n;
  }
  LANEWISE_FUNCTION bool descends() const {
    bool any = false;
    for (int r = 0; r < runs_; ++r) any = any || descends_[r];
    return any;
  }

  /// Copies runs, all ascending.
  LANEWISE_FUNCTION void straighten(const place& from, const place& to) const {
    for (int r = 0; r < runs_; ++r) {
      const std::int64_t at = begin_[r], size = begin_[r + 1] - at;
      if (descends_[r]) {
        reverse(from + at, size, to + at);
      } else {
        (to + at).copy(from + at, size);
      }
    }
  }
  /// From the end on, equal items in their order, unless nothing tells them apart.
  LANEWISE_LOOP_FUNCTION void reverse(place from, std::int64_t n, place to) const {
    const Key key = key_;
    std::int64_t out = 0;
    for (std::int64_t end = n; end > 0;) {
      std::int64_t begin = end - 1;
      if constexpr (!Key::is_plain)
        while (begin > 0 && key(from.keys[begin - 1]) == key(from.keys[end - 1])) --begin;
      for (std::int64_t i = begin; i < end; ++i) to.take(out++, from, i);
      end = begin;
    }
  }

  LANEWISE_FUNCTION void merge_pairs(const place& from, const place& to) {
    int left = 0;
    for (int r = 0; r < runs_; r += 2) {
      const std::int64_t begin = begin_[r], middle = begin_[r + 1];
      const std::int64_t end = r + 1 < runs_ ? begin_[r + 2] : middle;
      merge(from + begin, middle - begin, end - begin, to + begin);
      begin_[left++] = begin;
      begin_[left] = end;
    }
    runs_ = left;
  }
  LANEWISE_LOOP_FUNCTION void merge(place from, std::int64_t middle, std::int64_t n,
                                    place to) const {
    const Key key = key_;
    std::int64_t a = 0, b = middle, i = 0;
    while (a < middle && b < n) {
      const bool second = key(from.keys[b]) < key(from.keys[a]);
      to.take(i++, from, second ? b : a);
      b += second ? 1 : 0;
      a += second ? 0 : 1;
    }
    (to + i).copy(from + a, middle - a);
    (to + i).copy(from + b, n - b);
  }

  Key key_;
  std::int64_t begin_[most + 1];
  bool descends_[most];
  int runs_ = 0;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
