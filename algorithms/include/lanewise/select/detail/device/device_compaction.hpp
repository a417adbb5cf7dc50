// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/tile/register/ranks.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// The kept items of a tile, brought together in scratch, so that neighbouring lanes write
/// neighbours.
template <class Rows, class First, class Second>
class parked_compaction {
  using T = typename Rows::value_type;
  using team = typename Rows::team_type;

 public:
  static constexpr bool stages_rejected = First::needs_rejected || Second::needs_rejected;
  static constexpr bool stages_items = First::needs_item || Second::needs_item || stages_rejected;
  static constexpr bool stages_indices = First::needs_index || Second::needs_index;
  static_assert(Rows::items <= 1 << 16, "indices within a tile have 16 bits");

  struct parked {
    alignas(16) alignas(T) raw_array<T, stages_items ? Rows::items : 1> item;
    std::uint16_t index[stages_indices ? Rows::items : 1];
    std::int64_t first;
    std::uint32_t count;
    std::uint32_t kept;
  };

  LANEWISE_FUNCTION parked_compaction(const team& t, parked& place) : team_(t), place_(place) {}

  /// Writes the columns: start items were kept before this tile, the last of them before index
  /// `end`. Places beyond a sink's extent are left out. Returns how many items were kept up to the
  /// end of this tile.
  LANEWISE_FUNCTION std::int64_t write(const First& one, const Second& two, std::int64_t start,
                                       std::int64_t end) const {
    put(one, start, end);
    put(two, start, end);
    return start + place_.kept;
  }

 private:
  LANEWISE_FUNCTION void put(const no_column&, std::int64_t, std::int64_t) const {}
  template <class Sink>
  LANEWISE_FUNCTION void put(const selected_items<Sink>& column, std::int64_t start,
                             std::int64_t) const {
    const T* item = place_.item.data();
    detail::for_each_place(team_, column.sink, start, 0, place_.kept,
                           [&](int k) { column.sink(start + k, item[k]); });
  }
  template <class Sink>
  LANEWISE_FUNCTION void put(const items_in_place<Sink>& column, std::int64_t start,
                             std::int64_t end) const {
    if (start == place_.first && place_.kept == place_.count) return;
    put(static_cast<const selected_items<Sink>&>(column), start, end);
  }
  template <class Sink>
  LANEWISE_FUNCTION void put(const rejected_items<Sink>& column, std::int64_t start,
                             std::int64_t) const {
    const T* item = place_.item.data() + place_.kept;
    const std::int64_t rejected_before = place_.first - start;
    detail::for_each_place(team_, column.sink, rejected_before, 0, place_.count - place_.kept,
                           [&](int k) { column.sink(rejected_before + k, item[k]); });
  }
  template <class Source, class Sink>
  LANEWISE_FUNCTION void put(const selected_values<Source, Sink>& column, std::int64_t start,
                             std::int64_t) const {
    const std::int64_t first = place_.first;
    detail::for_each_place(team_, column.sink, start, 0, place_.kept, [&](int k) {
      column.sink(start + k, column.source(first + place_.index[k]));
    });
  }
  template <class Sink>
  LANEWISE_FUNCTION void put(const selected_distances<Sink>& column, std::int64_t start,
                             std::int64_t end) const {
    const std::int64_t first = place_.first;
    detail::for_each_place(team_, column.sink, start, 0, place_.kept, [&](int k) {
      const std::int64_t here = place_.index[k];
      column.sink(start + k, k == 0 ? first + here + 1 - end : here - place_.index[k - 1]);
    });
  }

  template <class Source, class Sink>
  LANEWISE_FUNCTION void put(const selected_run_begins<Source, Sink>& column, std::int64_t start,
                             std::int64_t end) const {
    const std::int64_t after = place_.first + 1;
    detail::for_each_place(team_, column.sink, start, 0, place_.kept, [&](int k) {
      column.sink(start + k, column.source(k == 0 ? end : after + place_.index[k - 1]));
    });
  }

  const team& team_;
  parked& place_;
};

/// A tile in registers in which some items are kept.
template <class Team, class T, int items_per_lane, class First, class Second, class Selector>
class device_compaction : public register_tile<Team, T, items_per_lane> {
  using base = register_tile<Team, T, items_per_lane>;
  using ranks = device_ranks<base, First::needs_previous || Second::needs_previous>;
  static_assert(items_per_lane <= 32, "a lane's marks are one word");

 public:
  using base::items;
  using base::v;
  static constexpr bool stores_unscanned = false;
  using scratch = typename ranks::scratch;
  using resumed = parked_compaction<base, First, Second>;
  using parked = typename resumed::parked;

  template <class Source>
  LANEWISE_FUNCTION device_compaction(const Team& team, scratch& shared, const Source& source,
                                      const Selector& marks, std::int64_t first, std::int64_t n)
      : base(team, source, first, n), shared_(shared), marks_(*this, source, marks, n) {}

  /// How many items of the tile are kept, and where the last of them is. All warps of the team
  /// call it once, before the rest.
  template <class State>
  LANEWISE_FUNCTION State total() {
    kept_ = ranks(*this, shared_, marks_.bits(*this));
    return State::of(kept_.count(), kept_.end() == 0 ? 0 : first_ + kept_.end());
  }

  /// Brings the kept items together in scratch. A barrier must follow.
  template <class Op>
  LANEWISE_FUNCTION void park(parked& place, Op) {
    const auto warp = team_.warp();
    const auto marks = kept_.marks();
    kept_.for_each_row([&](int j, const auto& before) {
      const parking row{
          place, kept_.count(),
          static_cast<std::uint32_t>(team_.warp_index() * base::segment + j * base::row_items),
          j * v};
      warp.each(row, row_[j], marks, before, lane_index_);
    });
    team_.once([&] {
      place.first = first_;
      place.count = static_cast<std::uint32_t>(this->count());
      place.kept = kept_.count();
    });
  }

 private:
  using typename base::packs;
  template <class U>
  using lanes = typename base::template lanes<U>;
  using base::first_;
  using base::lane_index_;
  using base::row_;
  using base::team_;

  /// Parks a lane's pack of a row whose first item is that of the tile.
  struct parking {
    parked& place;
    std::uint32_t kept_of_tile;
    std::uint32_t row_first;
    int first_bit;

    LANEWISE_FUNCTION void operator()(const packs& p, std::uint32_t marks, std::uint32_t before,
                                      std::uint32_t lane) const {
      const std::uint32_t index = row_first + lane * v;
      T* kept = place.item.data() + before;
      // Rejected before this item are the items before it less the kept ones. Items that do not
      // exist find places after all others.
      T* rejected = place.item.data() + (kept_of_tile + index - before);
      std::uint16_t* kept_index = nullptr;
      if constexpr (resumed::stages_indices) kept_index = place.index + before;
      LANEWISE_UNROLL
      for (int c = 0; c < v; ++c) {
        if (((marks >> (first_bit + c)) & 1) != 0) {
          if constexpr (resumed::stages_items) *kept++ = p[c];
          if constexpr (resumed::stages_indices)
            *kept_index++ = static_cast<std::uint16_t>(index + static_cast<std::uint32_t>(c));
        } else {
          if constexpr (resumed::stages_rejected) *rejected++ = p[c];
        }
      }
    }
  };

  scratch& shared_;
  selection_inputs<base, Selector> marks_;
  ranks kept_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
