// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/team/team.hpp>
#include <lanewise/tile/stream/windows.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// f(i, t) for every i of the range in order, t going around from 0 to 3: tables of a t each do not
/// wait for each other.
template <class F>
LANEWISE_FUNCTION void for_each_by_four(index_range range, const F& f) {
  std::int64_t i = range.begin;
  for (; i + 4 <= range.end; i += 4) {
    f(i, 0);
    f(i + 1, 1);
    f(i + 2, 2);
    f(i + 3, 3);
  }
  for (; i < range.end; ++i) f(i, 0);
}

/// f(i) for every i of the range in order, where f loads a cursor and stores the next one. A core
/// guesses by an instruction whether what it loads was just stored. If one serves all items, AMD's
/// wait for the store before each (Zen 3, u32 keys to 8 buckets: 3.0 ns a key, by four 1.2). Others
/// learn from it, and guess wrong more often by four if few cursors take turns (Intel Xeon, family
/// 6, model 207, u64 keys to 16 buckets: 1.4 ns, by four 2.8).
template <class W, class F>
LANEWISE_FUNCTION void for_each_by_cursors(index_range range, bool few, const F& f) {
  if (few && !W::guesses_by_instruction()) {
    for (std::int64_t i = range.begin; i < range.end; ++i) f(i);
  } else {
    detail::for_each_by_four(range, [&](std::int64_t i, int) LANEWISE_INLINE_LAMBDA { f(i); });
  }
}

/// Items of a tile on hosts: they stay in a core's second-level cache.
template <class T, class Policy>
inline constexpr std::int64_t host_tile_items = Policy::host_tile_bytes /
                                                    static_cast<std::int64_t>(sizeof(T)) / 64 * 64 +
                                                64;

/// A tile that a team of one warp leaves where it is: operations stream over it, and the second one
/// finds it in cache.
template <class Team, class T, class Policy, class Source, std::int64_t most_items>
class host_tile {
 public:
  LANEWISE_FUNCTION host_tile(const Team& team, const Source& source, std::int64_t first,
                              std::int64_t n)
      : team_(team),
        source_(source),
        first_(first),
        last_(first + most_items < n ? first + most_items : n),
        n_(n) {}

  LANEWISE_FUNCTION std::int64_t count() const { return last_ > first_ ? last_ - first_ : 0; }

  template <class Op>
  LANEWISE_FUNCTION void scan(Op op) {
    total_ = detail::reduce_stream<T>(team_.warp(), source_, first_, last_, op).value;
    ahead_ = most_items * team_.league();
  }
  LANEWISE_FUNCTION const T& total() const { return total_; }
  /// The stores need nothing where the total is not asked for.
  static constexpr bool stores_unscanned = true;
  template <class Op>
  LANEWISE_FUNCTION void prepare(Op) {}

  template <class Sink>
  LANEWISE_FUNCTION void store(const Sink& sink) {
    const bool past_caches = detail::pays_past_caches<T, Policy>(source_, sink, n_);
    const auto warp = team_.warp();
    std::int64_t i = first_;
    const auto up_to = [&](std::int64_t end) LANEWISE_INLINE_LAMBDA {
      for (; i < end; ++i) sink(i, source_(i));
    };
    if (past_caches) up_to(detail::first_aligned(sink, i, last_));
    for (; i + width <= last_; i += width) {
      detail::store_window(warp, sink, i, detail::load_window(warp, source_, i), past_caches);
    }
    up_to(last_);
  }

  /// Writes op(item, the item before it); item 0 of the source as it is.
  template <class Sink, class Op>
  LANEWISE_FUNCTION void store_adjacent(const Source&, const Sink& sink, Op op) {
    using result = decltype(op(source_(0), source_(0)));
    const auto warp = team_.warp();
    const bool past_caches = detail::pays_past_caches<result, Policy>(source_, sink, n_);
    std::int64_t i = first_;
    if (i == 0 && i < last_) sink(i++, static_cast<result>(source_(0)));
    const auto up_to = [&](std::int64_t end) LANEWISE_INLINE_LAMBDA {
      for (; i < end; ++i) sink(i, op(source_(i), source_(i - 1)));
    };
    if (past_caches) up_to(detail::first_aligned(sink, i, last_));
    for (; i + width <= last_; i += width) {
      const auto left = detail::load_window(warp, source_, i - 1);
      detail::store_window(warp, sink, i, warp.map(op, detail::load_window(warp, source_, i), left),
                           past_caches);
    }
    up_to(last_);
  }

  /// As store_adjacent, to the array that the items come from. It goes from the back, so that every
  /// item is read before it is replaced; `before` is the item before the tile.
  template <class Sink, class Op>
  LANEWISE_FUNCTION void store_adjacent_in_place(const T& before, const Sink& sink, Op op) {
    using result = decltype(op(before, before));
    const auto warp = team_.warp();
    std::int64_t i = last_;
    for (; i - width > first_; i -= width) {
      const auto left = detail::load_window(warp, source_, i - width - 1);
      detail::store_window(warp, sink, i - width,
                           warp.map(op, detail::load_window(warp, source_, i - width), left));
    }
    for (; i - 1 > first_; --i) sink(i - 1, op(source_(i - 1), source_(i - 2)));
    if (i <= first_) return;
    if (first_ == 0) {
      sink(0, static_cast<result>(source_(0)));
    } else {
      sink(first_, op(source_(first_), before));
    }
  }

  template <class Sink, class Op>
  LANEWISE_FUNCTION void store_inclusive(const Sink& sink, const maybe<T>& before, Op op) {
    store_after<false>(sink, before, op);
  }
  template <class Sink, class Op>
  LANEWISE_FUNCTION void store_exclusive(const Sink& sink, const maybe<T>& before, Op op) {
    store_after<true>(sink, before, op);
  }

  /// The combination of `before` and the tile, after a store: a team that knows what comes before
  /// needs no scan().
  template <class Op>
  LANEWISE_FUNCTION const T& end(const maybe<T>&, Op) const {
    return carry_;
  }

 private:
  using lanes = lanes_t<typename Team::warp_type, T>;
  static constexpr int width = Team::warp_type::width;

  template <bool exclusive, class Sink, class Op>
  LANEWISE_FUNCTION void store_after(const Sink& sink, const maybe<T>& before, Op op) {
    std::int64_t i = first_;
    carry_ = before.value;
    if (!before.present && i < last_) {
      carry_ = source_(i);
      sink(i, exclusive ? before.value : carry_);
      ++i;
    }
    store_scan<exclusive>(sink, i, op);
  }

  /// Scans items [i, last), after carry_.
  template <bool exclusive, class Sink, class Op>
  LANEWISE_FUNCTION void store_scan(const Sink& sink, std::int64_t i, Op op) {
    T sum = carry_;
    const auto up_to = [&](std::int64_t end) LANEWISE_INLINE_LAMBDA {
      for (; i < end; ++i) {
        const T options = op(sum, source_(i));
        sink(i, exclusive ? sum : options);
        sum = options;
      }
    };
    if constexpr (is_commutative<Op, T>) {
      const bool past_caches = detail::pays_past_caches<T, Policy>(source_, sink, n_);
      const auto warp = team_.warp();
      if (past_caches) up_to(detail::first_aligned(sink, i, last_));
      for (; i + width <= last_; i += width) {
        const auto here =
            warp.inclusive_scan(detail::load_window<true>(warp, source_, i, ahead_), op);
        auto result = warp.map(op, lanes(sum), here);
        if constexpr (exclusive) {
          result =
              lanewise::select(warp.template first<T>(1), lanes(sum), warp.shuffle_up(result, 1));
        }
        sum = op(sum, warp.broadcast(here, width - 1));
        detail::store_window(warp, sink, i, result, past_caches);
      }
    }
    up_to(last_);
    carry_ = sum;
  }

  const Team& team_;
  const Source& source_;
  std::int64_t first_;
  std::int64_t last_;
  std::int64_t n_;
  T total_{};
  T carry_{};
  /// How far ahead of a scan its items are asked for: a page or, if the tile has been read before,
  /// the tile that this team will probably draw next: reads alone do not fill the bus.
  std::int64_t ahead_ = 0;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
