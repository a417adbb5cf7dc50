// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/scratch_items.hpp>
#include <lanewise/team/team.hpp>
#include <lanewise/tile/stream/selection.hpp>
#include <lanewise/tile/stream/tile.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// A tile in which some items are kept, left where it is. A first pass marks and counts. A second
/// pass, which finds the items in cache, writes.
template <class Team, class Source, std::int64_t most_items>
class host_compaction {
  using warp_type = typename Team::warp_type;
  using bits = typename warp_type::bits;
  static constexpr int width = warp_type::width;

 public:
  static constexpr bool stores_unscanned = false;
  struct scratch {
    bits kept[(most_items + width - 1) / width];
  };

  template <class Selector>
  LANEWISE_FUNCTION host_compaction(const Team& team, scratch& shared, const Source& source,
                                    const Selector& marks, std::int64_t first, std::int64_t n)
      : team_(team),
        kept_(shared.kept),
        source_(source),
        first_(first),
        items_(first + most_items < n ? most_items : (first < n ? n - first : 0)),
        count_(detail::select_windows(team.warp(), marks, source, first, items_, n, kept_)) {}

  /// A tile whose windows the caller marks, each once: keep(w, chosen).
  LANEWISE_FUNCTION host_compaction(const Team& team, scratch& shared, const Source& source,
                                    std::int64_t first, std::int64_t n)
      : team_(team),
        kept_(shared.kept),
        source_(source),
        first_(first),
        items_(first + most_items < n ? most_items : (first < n ? n - first : 0)),
        count_(0) {}
  LANEWISE_FUNCTION void keep(std::int64_t w, bits chosen) {
    kept_[w] = chosen;
    count_ += warp_type::popcount(chosen);
  }

  LANEWISE_FUNCTION std::int64_t first() const { return first_; }
  LANEWISE_FUNCTION std::int64_t count() const { return count_; }

  /// How many items of the tile are kept, and where the last of them is.
  template <class State>
  LANEWISE_FUNCTION State total() const {
    std::int64_t end = 0;
    for (std::int64_t w = (items_ + width - 1) / width; w > 0 && end == 0; --w) {
      if (kept_[w - 1] != 0) end = first_ + (w - 1) * width + warp_type::highest(kept_[w - 1]) + 1;
    }
    return State::of(count_, end);
  }

  /// Writes the columns: start items were kept before this tile, the last of them before index
  /// `end`. Places beyond a sink's extent are left out. Returns how many items were kept up to the
  /// end of this tile.
  template <class First, class Second>
  LANEWISE_FUNCTION std::int64_t write(const First& one, const Second& two, std::int64_t start,
                                       std::int64_t end) const {
    put_tile(one, start, end);
    put_tile(two, start, end);
    return start + count_;
  }

 private:
  template <class U>
  using lanes = lanes_t<warp_type, U>;
  template <class Column>
  static constexpr bool is_distance = Column::needs_previous && !Column::is_of_runs;

  /// The kept items of window w, the items that are not kept, or the items after kept items.
  /// `follows`: the first item of the tile follows a kept item.
  template <class Column>
  LANEWISE_FUNCTION bits chosen(std::int64_t w, bool follows) const {
    const std::int64_t here = items_ - w * width;
    const bits exists =
        here >= width ? ~bits{0} >> (sizeof(bits) * 8 - width) : (bits{1} << here) - 1;
    if constexpr (Column::is_of_runs) {
      const bits in_front = w > 0 ? kept_[w - 1] >> (width - 1) : bits{follows};
      return (kept_[w] << 1 | in_front) & exists;
    } else {
      return Column::needs_rejected ? ~kept_[w] & exists : kept_[w];
    }
  }
  LANEWISE_FUNCTION bool last_is_kept() const {
    return items_ > 0 && ((kept_[(items_ - 1) / width] >> ((items_ - 1) % width)) & 1) != 0;
  }

  LANEWISE_FUNCTION void put_tile(const no_column&, std::int64_t, std::int64_t) const {}
  template <class Column>
  LANEWISE_FUNCTION void put_tile(const Column& column, std::int64_t start,
                                  std::int64_t end) const {
    constexpr bool rejected = Column::needs_rejected;
    // Runs are written where they begin. The one that began before the tile has its place.
    const bool follows = items_ > 0 && end == first_;
    const std::int64_t begun = count_ + (follows ? 1 : 0) - (last_is_kept() ? 1 : 0);
    const std::int64_t begin =
        rejected ? first_ - start : start + (Column::is_of_runs && !follows ? 1 : 0);
    // Up to here places are this tile's, so that whole vectors may be written.
    const std::int64_t mine =
        begin + (rejected ? items_ - count_ : (Column::is_of_runs ? begun : count_));
    const std::int64_t limit = mine < column.sink.extent ? mine : column.sink.extent;
    std::int64_t to = begin;
    std::int64_t w = 0;
    // While a window's width of places is left, so are as many items, and the window is whole.
    for (; to + width <= limit; ++w) {
      const bits here = chosen<Column>(w, follows);
      detail::prefetch_places<width / 2>(team_.warp(), column.sink, to);
      put_window(column, w, here, to);
      to += warp_type::popcount(here);
    }
    for (; to < limit; ++w) {
      for (bits todo = chosen<Column>(w, follows); todo != 0 && to < limit; todo &= todo - 1)
        column.sink(to++, value_at(column, w, warp_type::lowest(todo)));
    }
    if constexpr (is_distance<Column>) subtract_previous(column.sink, begin, limit, end - first_);
  }

  /// One window, where a window's width of places may be overwritten.
  template <class Column>
  LANEWISE_FUNCTION void put_window(const Column& column, std::int64_t w, bits here,
                                    std::int64_t to) const {
    const auto warp = team_.warp();
    if constexpr (is_distance<Column>) {
      using out = typename sink_value<typename Column::sink_type>::type;
      const auto index = warp.lane() + lanes<std::uint32_t>(static_cast<std::uint32_t>(w * width));
      detail::compress_window_over(warp, column.sink, to, here, warp.template cast<out>(index));
    } else {
      detail::compress_window_over(
          warp, column.sink, to, here,
          detail::load_window(warp, values_of(column), first_ + w * width));
    }
  }

  template <class Column>
  LANEWISE_FUNCTION auto value_at(const Column& column, std::int64_t w, int lane) const {
    if constexpr (is_distance<Column>) {
      return w * width + lane;
    } else {
      return values_of(column)(first_ + w * width + lane);
    }
  }

  /// Turns indices into distances from the index before; before the first one lies `before`.
  /// From the back, so that every index is read before it is replaced.
  template <class Sink>
  LANEWISE_FUNCTION void subtract_previous(const Sink& sink, std::int64_t begin, std::int64_t end,
                                           std::int64_t before) const {
    using out = typename sink_value<Sink>::type;
    const auto warp = team_.warp();
    out* place = sink.data;
    std::int64_t k = end;
    for (; k - width > begin; k -= width)
      warp.store(place + k - width,
                 warp.load(place + k - width) - warp.load(place + k - width - 1));
    for (; k - 1 > begin; --k) place[k - 1] = static_cast<out>(place[k - 1] - place[k - 2]);
    if (begin < end) place[begin] = static_cast<out>(place[begin] + 1 - before);
  }

  /// The source of a column's values.
  template <class Column>
  LANEWISE_FUNCTION const auto& values_of(const Column& column) const {
    if constexpr (requires { column.source; }) {
      return column.source;
    } else {
      return source_;
    }
  }

 protected:
  const Team& team_;
  bits* kept_;
  const Source& source_;
  std::int64_t first_;
  std::int64_t items_;
  std::int64_t count_;
};

/// A host_compaction whose kept items go to the array that they come from. They are brought
/// together in scratch before the tile says how many they are.
template <class Team, class Source, std::int64_t most_items>
class staged_compaction : public host_compaction<Team, Source, most_items> {
  using base = host_compaction<Team, Source, most_items>;
  using T = typename Source::value_type;
  static constexpr int width = Team::warp_type::width;

 public:
  struct scratch : base::scratch {
    raw_array<T, most_items + width> item;
  };

  template <class Selector>
  LANEWISE_FUNCTION staged_compaction(const Team& team, scratch& shared, const Source& source,
                                      const Selector& marks, std::int64_t first, std::int64_t n)
      : base(team, shared, source, marks, first, n), item_(shared.item.data()) {
    const array_sink<T> staged{item_, most_items + width};
    const std::int64_t whole = items_ / width;
    std::int64_t to = 0;
    for (std::int64_t w = 0; w < whole; ++w) {
      detail::compress_window_over(team.warp(), staged, to, kept_[w],
                                   detail::load_window(team.warp(), source, first + w * width));
      to += Team::warp_type::popcount(kept_[w]);
    }
    for (auto rest = items_ > whole * width ? kept_[whole] : 0; rest != 0; rest &= rest - 1)
      item_[to++] = source(first + whole * width + Team::warp_type::lowest(rest));
  }

  template <class Sink>
  LANEWISE_FUNCTION std::int64_t write(const items_in_place<Sink>& column, const no_column&,
                                       std::int64_t start, std::int64_t) const {
    const Sink& sink = column.sink;
    team_.warp().fence();
    const bool all_stay = start == first_ && count_ == items_;
    const std::int64_t room = sink.extent - start;
    const std::int64_t last = all_stay ? 0 : (count_ < room ? count_ : room);
    std::int64_t k = 0;
    for (; k + width <= last; k += width)
      detail::store_window(team_.warp(), sink, start + k, team_.warp().load(item_ + k));
    for (; k < last; ++k) sink(start + k, item_[k]);
    return start + count_;
  }

 private:
  using base::count_;
  using base::first_;
  using base::items_;
  using base::kept_;
  using base::team_;
  T* item_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
