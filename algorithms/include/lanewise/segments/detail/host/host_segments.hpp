// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/segments/detail/segment_state.hpp>
#include <lanewise/tile/stream/selection.hpp>
#include <lanewise/tile/stream/tile.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// A tile that is scanned anew at every head, left where it is. The first item of all is a head.
/// at_head(item) replaces the item at a head.
template <class Team, class T, class Source, class AtHead, std::int64_t most_items>
class host_segments {
  using warp_type = typename Team::warp_type;
  using bits = typename warp_type::bits;
  static constexpr int width = warp_type::width;
  template <class U>
  using lanes = lanes_t<warp_type, U>;

 public:
  using state = segment_state<T>;
  static constexpr bool stores_unscanned = false;
  struct scratch {
    bits heads[(most_items + width - 1) / width];
  };

  template <class Heads>
  LANEWISE_FUNCTION host_segments(const Team& team, scratch& shared, const Source& source,
                                  const Heads& heads, const AtHead& at_head, std::int64_t first,
                                  std::int64_t n)
      : team_(team),
        heads_(shared.heads),
        source_(source),
        at_head_(at_head),
        first_(first),
        items_(first + most_items < n ? most_items : (first < n ? n - first : 0)),
        count_(detail::select_windows(team.warp(), heads, source, first, items_, n, heads_)) {
    const std::int64_t after = first + items_;
    closed_ = after >= n || detail::is_selected(heads, source, after, n);
    if (first == 0 && items_ > 0 && (heads_[0] & 1) == 0) {
      heads_[0] |= 1;
      ++count_;
    }
  }

  LANEWISE_FUNCTION std::int64_t count() const { return items_; }

  /// Finds the total: only what lies after the last head matters.
  template <class Op>
  LANEWISE_FUNCTION void scan(Op op) {
    if (items_ == 0) return;
    std::int64_t w = (items_ - 1) / width;
    while (w > 0 && heads_[w] == 0) --w;
    if (heads_[w] == 0) {
      open_ = detail::reduce_stream<T>(team_.warp(), source_, first_, first_ + items_, op).value;
      return;
    }
    const std::int64_t head = first_ + w * width + warp_type::highest(heads_[w]);
    const maybe<T> rest =
        detail::reduce_stream<T>(team_.warp(), source_, head + 1, first_ + items_, op);
    open_ = at_head_(source_(head));
    if (rest.present) open_ = op(open_, rest.value);
  }
  LANEWISE_FUNCTION state total() const { return state::of(count_, open_); }

  /// Writes key and result of the segments that end in the tile; `before` is what is before
  /// the tile. Places beyond a sink's extent are left out.
  template <class Heads, class KeySink, class Sink, class Op>
  LANEWISE_FUNCTION void write_ends(const Heads& by, const KeySink& key_sink, const Sink& sink,
                                    const state& before, Op op) const {
    constexpr bool any_key = Heads::any_key_will_do;
    const auto& keys = by.keys;
    if (items_ == 0) return;
    if constexpr (!any_key) write_first_keys(keys, key_sink, before.heads());
    const auto warp = team_.warp();
    const bool open = (heads_[0] & 1) == 0;
    std::int64_t to = before.heads() - (open ? 1 : 0);
    // Up to here places are this tile's, so that whole vectors may be written.
    const std::int64_t mine = to + count_ + (open ? 1 : 0) - (closed_ ? 0 : 1);
    const auto put = [&](std::int64_t i, const T& scan) LANEWISE_INLINE_LAMBDA {
      if (any_key && to < key_sink.extent) key_sink(to, keys(i));
      if (to < sink.extent) sink(to, scan);
      ++to;
    };
    const auto ends_at = [&](std::int64_t k) LANEWISE_INLINE_LAMBDA {
      return k + 1 < items_ ? ((heads_[(k + 1) / width] >> ((k + 1) % width)) & 1) != 0 : closed_;
    };
    for_each_scanned(
        {before.value(), first_ > 0}, op,
        [&](std::int64_t k, bits heads)
            LANEWISE_INLINE_LAMBDA { return heads != 0 || ends_at(k + width - 1); },
        [&](std::int64_t i, const auto& scan, bits heads, const T&) LANEWISE_INLINE_LAMBDA {
          const bits last = heads >> 1 | bits{ends_at(i - first_ + width - 1)} << (width - 1);
          if (to + width <= mine && (!any_key || to + width <= key_sink.extent) &&
              to + width <= sink.extent) {
            if constexpr (any_key) {
              detail::prefetch_places<1>(warp, key_sink, to);
              detail::compress_window_over(warp, key_sink, to, last,
                                           detail::load_window(warp, keys, i));
            }
            detail::prefetch_places<1>(warp, sink, to);
            detail::compress_window_over(warp, sink, to, last, scan);
            to += warp_type::popcount(last);
          } else {
            for (bits todo = last; todo != 0; todo &= todo - 1) {
              const int l = warp_type::lowest(todo);
              put(i + l, warp.broadcast(scan, l));
            }
          }
        },
        [&](std::int64_t i, const T& scan, bool, const T&) LANEWISE_INLINE_LAMBDA {
          if (ends_at(i - first_)) put(i, scan);
        });
  }

  /// Writes the keys of the segments that begin in the tile, to places from `to` on.
  template <class Keys, class KeySink>
  LANEWISE_FUNCTION void write_first_keys(const Keys& keys, const KeySink& sink,
                                          std::int64_t to) const {
    const auto warp = team_.warp();
    const std::int64_t limit = to + count_ < sink.extent ? to + count_ : sink.extent;
    for (std::int64_t w = 0; to < limit; ++w) {
      const std::int64_t i = first_ + w * width;
      // While a window's width of places is left, so are as many items, and the window is whole.
      if (to + width <= limit) {
        detail::compress_window_over(warp, sink, to, heads_[w], detail::load_window(warp, keys, i));
        to += warp_type::popcount(heads_[w]);
      } else {
        for (bits todo = heads_[w]; todo != 0 && to < limit; todo &= todo - 1)
          sink(to++, keys(i + warp_type::lowest(todo)));
      }
    }
  }

  template <class Sink, class Op>
  LANEWISE_FUNCTION void store_inclusive(const Sink& sink, const maybe<T>& before, Op op) const {
    for_each_scanned(
        before, op, [](std::int64_t, bits) { return true; },
        [&](std::int64_t i, const auto& scan, bits, const T&)
            LANEWISE_INLINE_LAMBDA { detail::store_window(team_.warp(), sink, i, scan, false); },
        [&](std::int64_t i, const T& scan, bool, const T&)
            LANEWISE_INLINE_LAMBDA { sink(i, scan); });
  }

  template <class Sink, class Op>
  LANEWISE_FUNCTION void store_exclusive(const Sink& sink, const T& init, const maybe<T>& before,
                                         Op op) const {
    const auto warp = team_.warp();
    for_each_scanned(
        before, op, [](std::int64_t, bits) { return true; },
        [&](std::int64_t i, const auto& scan, bits heads, const T& previous)
            LANEWISE_INLINE_LAMBDA {
              const auto left = lanewise::select(warp.template first<T>(1), lanes<T>(previous),
                                                 warp.shuffle_up(scan, 1));
              detail::store_window(
                  warp, sink, i,
                  lanewise::select(warp.template mask_of<T>(heads), lanes<T>(init), left), false);
            },
        [&](std::int64_t i, const T&, bool head, const T& previous)
            LANEWISE_INLINE_LAMBDA { sink(i, head ? init : previous); });
  }

 private:
  /// window(i, scans, heads, previous) for whole windows and item(i, scan, head, previous) for the
  /// others, in order; previous is the scan before them. Windows without heads for which
  /// needed(k, heads), k being the place in the tile, does not hold are left out.
  template <class Op, class Needed, class Window, class Item>
  LANEWISE_FUNCTION void for_each_scanned(const maybe<T>& before, Op op, Needed needed,
                                          Window window, Item item) const {
    const auto warp = team_.warp();
    T sum = before.value;
    std::int64_t i = 0;
    if constexpr (is_commutative<Op, T>) {
      for (; i + width <= items_; i += width) {
        const bits heads = heads_[i / width];
        auto x = detail::load_window<true>(warp, source_, first_ + i);
        if (!needed(i, heads)) {
          sum = op(sum, warp.reduce(x, op));
          continue;
        }
        if constexpr (!std::is_same_v<AtHead, identity>)
          x = lanewise::select(warp.template mask_of<T>(heads), warp.map(at_head_, x), x);
        const auto scan = warp.segmented_scan(x, heads, op);
        // Lanes before the first head go on with what came before. The next window depends on
        // this one by scalars alone.
        const bits open = heads != 0 ? (heads & (~heads + 1)) - 1 : ~bits{0};
        const T last = warp.broadcast(scan, width - 1);
        window(first_ + i,
               lanewise::select(warp.template mask_of<T>(open), warp.map(op, lanes<T>(sum), scan),
                                scan),
               heads, sum);
        sum = heads != 0 ? last : op(sum, last);
      }
    }
    for (; i < items_; ++i) {
      const bool head = ((heads_[i / width] >> (i % width)) & 1) != 0;
      const T previous = sum;
      const T x = source_(first_ + i);
      sum = head ? at_head_(x) : op(sum, x);
      item(first_ + i, sum, head, previous);
    }
  }

  const Team& team_;
  bits* heads_;
  const Source& source_;
  const AtHead& at_head_;
  std::int64_t first_;
  std::int64_t items_;
  std::int64_t count_;
  /// Whether a segment begins after the tile, or nothing does.
  bool closed_;
  T open_{};
};

}  // namespace detail
LANEWISE_END_NAMESPACE
