// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/register_ranks.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// A tile in registers of which some items are kept. Kept items are brought together in scratch, so
/// that neighbouring lanes write neighbours.
template <class Team, class T, int items_per_lane, class First, class Second>
class register_compaction : public register_rows<Team, T, items_per_lane> {
  using base = register_rows<Team, T, items_per_lane>;
  using ranks = register_ranks<base, First::needs_previous || Second::needs_previous>;
  static_assert(items_per_lane <= 32, "a lane's marks are one word");

 public:
  using base::items;
  using base::v;

  static constexpr bool stages_rejected = First::needs_rejected || Second::needs_rejected;
  static constexpr bool stages_items = First::needs_item || Second::needs_item || stages_rejected;
  static constexpr bool stages_indices = First::needs_index || Second::needs_index;

  struct scratch {
    typename ranks::scratch rank;
    raw_array<T, stages_items ? items : 1> item;
    std::uint32_t index[stages_indices ? items : 1];
  };

  template <class Source, class Marks>
  LANEWISE_FUNCTION register_compaction(const Team& team, scratch& shared, const Source& source,
                                        const Marks& marks, std::int64_t first, std::int64_t n)
      : base(team, source, first, n),
        shared_(shared),
        kept_(*this, shared.rank, mark_rows(*this, source, marks, n)) {}

  /// How many items of the tile are kept, and where the last of them is.
  template <class State>
  LANEWISE_FUNCTION State total() const {
    return State::of(kept_.count(), kept_.end() == 0 ? 0 : first_ + kept_.end());
  }

  /// Brings the kept items together in scratch. A barrier must follow.
  LANEWISE_FUNCTION void stage() {
    const auto warp = team_.warp();
    kept_.for_each([&](int j, int c, const auto& kept, const auto& place, const auto& index) {
      if constexpr (stages_items) {
        const auto item = warp.map([c](const packs& p) { return p[c]; }, row_[j]);
        warp.scatter(kept, shared_.item.data(), place, item);
        if constexpr (stages_rejected) {
          // As many items were rejected as lie before this one and were not kept.
          const auto behind = lanes<std::uint32_t>(kept_.count()) + index - place;
          const auto exists = index < static_cast<std::uint32_t>(this->count());
          warp.scatter(exists & !kept, shared_.item.data(), behind, item);
        }
      }
      if constexpr (stages_indices) warp.scatter(kept, shared_.index, place, index);
    });
  }

  /// Writes the columns: start items were kept before this tile, the last of them in front of index
  /// `end`. Places beyond a sink's extent are left out. Returns how many items were kept up to the
  /// end of this tile.
  LANEWISE_FUNCTION std::int64_t write(const First& one, const Second& two, std::int64_t start,
                                       std::int64_t end) {
    put(one, start, end);
    put(two, start, end);
    return start + kept_.count();
  }

 private:
  using typename base::packs;
  template <class U>
  using lanes = typename base::template lanes<U>;
  using base::first_;
  using base::row_;
  using base::team_;

  LANEWISE_FUNCTION void put(const no_column&, std::int64_t, std::int64_t) {}
  template <class Sink>
  LANEWISE_FUNCTION void put(const kept_items<Sink>& column, std::int64_t start, std::int64_t) {
    const T* item = shared_.item.data();
    for_each_place(team_, column.sink, start, kept_.count(),
                   [&](std::uint32_t k) { column.sink(start + k, item[k]); });
  }
  template <class Sink>
  LANEWISE_FUNCTION void put(const rejected_items<Sink>& column, std::int64_t start, std::int64_t) {
    const T* item = shared_.item.data() + kept_.count();
    const std::int64_t rejected_before = first_ - start;
    for_each_place(team_, column.sink, rejected_before,
                   static_cast<std::uint32_t>(this->count()) - kept_.count(),
                   [&](std::uint32_t k) { column.sink(rejected_before + k, item[k]); });
  }
  template <class Source, class Sink>
  LANEWISE_FUNCTION void put(const kept_values<Source, Sink>& column, std::int64_t start,
                             std::int64_t) {
    for_each_place(team_, column.sink, start, kept_.count(), [&](std::uint32_t k) {
      column.sink(start + k, column.source(first_ + shared_.index[k]));
    });
  }
  template <class Sink>
  LANEWISE_FUNCTION void put(const kept_distances<Sink>& column, std::int64_t start,
                             std::int64_t end) {
    for_each_place(team_, column.sink, start, kept_.count(), [&](std::uint32_t k) {
      const std::int64_t here = shared_.index[k];
      column.sink(start + k, k == 0 ? first_ + here + 1 - end : here - shared_.index[k - 1]);
    });
  }

  scratch& shared_;
  ranks kept_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
