// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/marks.hpp>
#include <lanewise/detail/register_tile.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// A tile in registers of which some items are kept. Kept items are brought together in scratch, so
/// that neighbouring lanes write neighbours.
template <class Team, class T, int items_per_lane, class First, class Second>
class register_compaction : public register_rows<Team, T, items_per_lane> {
  using base = register_rows<Team, T, items_per_lane>;
  static_assert(items_per_lane <= 32, "a lane's marks are one word");

 public:
  using base::items;
  using base::row_items;
  using base::rows;
  using base::segment;
  using base::v;
  using base::width;
  using typename base::warp_type;

  static constexpr bool stages_rejected = First::needs_rejected || Second::needs_rejected;
  static constexpr bool stages_items = First::needs_item || Second::needs_item || stages_rejected;
  static constexpr bool stages_indices = First::needs_index || Second::needs_index;

  /// What a warp keeps of its segment, and the tile-local index behind the last such item.
  struct part {
    std::uint32_t count;
    std::uint32_t end;
  };
  struct scratch {
    part per_warp[Team::warps];
    raw_array<T, stages_items ? items : 1> item;
    std::uint32_t index[stages_indices ? items : 1];
  };

  template <class Source, class Marks>
  LANEWISE_FUNCTION register_compaction(const Team& team, scratch& shared, const Source& source,
                                        const Marks& marks, std::int64_t first, std::int64_t n)
      : base(team, source, first, n), shared_(shared) {
    mark(source, marks, n);
    rank();
    fold();
  }

  /// How many items of the tile are kept, and where the last of them is.
  template <class State>
  LANEWISE_FUNCTION State total() const {
    return State::of(total_.count, total_.end == 0 ? 0 : first_ + total_.end);
  }

  /// Brings the kept items together in scratch. A barrier must follow.
  LANEWISE_FUNCTION void stage() {
    const auto warp = team_.warp();
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      auto place = lanes<std::uint32_t>(before_row_[j]) + before_lane_[j];
      const int n = row_count(j);
      LANEWISE_UNROLL
      for (int c = 0; c < v; ++c) {
        const auto kept = marked(j, c);
        const auto local = local_index(j, c);
        if constexpr (stages_items) {
          const auto item = warp.map([c](const packs& p) { return p[c]; }, row_[j]);
          warp.scatter(kept, shared_.item.data(), place, item);
          if constexpr (stages_rejected) {
            // As many items were rejected as lie before this one and were not kept.
            const auto behind = lanes<std::uint32_t>(total_.count) + local - place;
            const auto exists =
                lane_index_ * std::uint32_t{v} + std::uint32_t(c) < static_cast<std::uint32_t>(n);
            warp.scatter(exists & !kept, shared_.item.data(), behind, item);
          }
        }
        if constexpr (stages_indices) warp.scatter(kept, shared_.index, place, local);
        place = place + select(kept, lanes<std::uint32_t>(1u), lanes<std::uint32_t>(0u));
      }
    }
  }

  /// Writes the columns: start items were kept before this tile, the last of them in front of index
  /// `end`. Places beyond a sink's extent are left out. Returns how many items were kept up to the
  /// end of this tile.
  LANEWISE_FUNCTION std::int64_t write(const First& one, const Second& two, std::int64_t start,
                                       std::int64_t end) {
    put(one, start, end);
    put(two, start, end);
    return start + total_.count;
  }

 private:
  using typename base::packs;
  template <class U>
  using lanes = typename base::template lanes<U>;
  using base::first_;
  using base::lane_index_;
  using base::row_;
  using base::row_count;
  using base::row_first;
  using base::team_;
  using base::whole_segment_;

  struct add_parts {
    LANEWISE_FUNCTION part operator()(const part& a, const part& b) const {
      return {a.count + b.count, b.end != 0 ? b.end : a.end};
    }
  };

  // Counts of a row fit so many bits, so that one scan serves several rows.
  static constexpr int field_bits = row_items < 256 ? 8 : 16;
  static constexpr int fields = 32 / field_bits;
  static constexpr int words = (rows + fields - 1) / fields;
  static constexpr std::uint32_t field_mask = (1u << field_bits) - 1;

  LANEWISE_FUNCTION auto marked(int j, int c) const {
    return (marks_ & lanes<std::uint32_t>(1u << (j * v + c))) != lanes<std::uint32_t>(0u);
  }
  LANEWISE_FUNCTION lanes<std::uint32_t> local_index(int j, int c) const {
    return lane_index_ * std::uint32_t{v} +
           static_cast<std::uint32_t>(team_.warp_index() * segment + j * row_items + c);
  }

  /// Bit j * v + c of a lane's marks says whether item c of its pack in row j is kept.
  template <class Source, class Marks>
  LANEWISE_FUNCTION void mark(const Source& source, const Marks& marks, std::int64_t n) {
    const auto warp = team_.warp();
    marks_ = lanes<std::uint32_t>(0u);
    if constexpr (is_flagged<Marks>) {
      const register_rows<Team, typename decltype(marks.flags)::value_type, items_per_lane, v>
          flags(team_, marks.flags, first_, n);
      LANEWISE_UNROLL
      for (int j = 0; j < rows; ++j)
        add_marks(
            j, [](const auto& flag, int c) { return flag[c] != 0; }, flags.row(j));
    } else if constexpr (Marks::side == 0) {
      LANEWISE_UNROLL
      for (int j = 0; j < rows; ++j)
        add_marks(
            j, [&](const packs& p, int c) { return marks(p[c]); }, row_[j]);
    } else {
      LANEWISE_UNROLL
      for (int j = 0; j < rows; ++j) {
        // Each pack's outer neighbour: from the next lane, from the next row, or from memory.
        constexpr int side = Marks::side;
        constexpr int inner = side < 0 ? v - 1 : 0;
        const auto edge = warp.map([](const packs& p) { return p[inner]; }, row_[j]);
        auto outer = side < 0 ? warp.shuffle_up(edge, 1) : warp.shuffle_down(edge, 1);
        const int beyond = j + side;
        T at_the_end{};
        const std::int64_t index = side < 0 ? row_first(j) - 1 : row_first(j) + row_items;
        if (beyond >= 0 && beyond < rows) {
          const auto& next = row_[beyond < 0 || beyond >= rows ? j : beyond];
          at_the_end = warp.broadcast(warp.map([](const packs& p) { return p[inner]; }, next),
                                      side < 0 ? width - 1 : 0);
        } else if (index >= 0 && index < n) {
          at_the_end = source(index);
        }
        const auto last = lane_index_ == lanes<std::uint32_t>(side < 0 ? 0u : width - 1u);
        outer = select(last, lanes<T>(at_the_end), outer);
        const std::int64_t at = row_first(j);
        add_marks(
            j,
            [&](const packs& p, int c, const T& neighbour, std::uint32_t lane) {
              const std::int64_t i = at + std::int64_t{lane} * v + c;
              if (i + side < 0 || i + side >= n) return true;
              if (side < 0) return c > 0 ? marks(p[c], p[c - 1]) : marks(p[c], neighbour);
              return c < v - 1 ? marks(p[c], p[c + 1]) : marks(p[c], neighbour);
            },
            row_[j], outer, lane_index_);
      }
    }
  }

  /// Adds the marks of row j: keep(pack, c, more...) for the items that exist.
  template <class Keep, class Packs, class... More>
  LANEWISE_FUNCTION void add_marks(int j, Keep keep, const Packs& pack_of_lane,
                                   const More&... more) {
    const auto warp = team_.warp();
    const int n = row_count(j);
    const bool full = whole_segment_;
    marks_ = marks_ | warp.map(
                          [&](std::uint32_t lane, const auto& p, const auto&... others) {
                            const int valid = n - static_cast<int>(lane) * v;
                            std::uint32_t bits = 0;
                            LANEWISE_UNROLL
                            for (int c = 0; c < v; ++c) {
                              if ((full || c < valid) && keep(p, c, others...))
                                bits |= 1u << (j * v + c);
                            }
                            return bits;
                          },
                          lane_index_, pack_of_lane, more...);
  }

  /// Within the warp's segment: how many kept items lie in earlier rows, and in earlier lanes of
  /// the same row.
  LANEWISE_FUNCTION void rank() {
    const auto warp = team_.warp();
    std::uint32_t before = 0;
    LANEWISE_UNROLL
    for (int w = 0; w < words; ++w) {
      const auto own = warp.map(
          [w](std::uint32_t m) {
            std::uint32_t counts = 0;
            LANEWISE_UNROLL
            for (int f = 0; f < fields; ++f) {
              const int j = w * fields + f;
              if (j < rows)
                counts |= static_cast<std::uint32_t>(
                              warp_type::popcount((m >> (j * v % 32)) & ((1u << (v - 1)) * 2 - 1)))
                          << (f * field_bits);
            }
            return counts;
          },
          marks_);
      const auto upto = warp.inclusive_scan(own, plus{});
      const std::uint32_t all = warp.broadcast(upto, width - 1);
      const auto earlier = upto - own;
      LANEWISE_UNROLL
      for (int f = 0; f < fields; ++f) {
        const int j = w * fields + f;
        if (j < rows) {
          before_lane_[j] = (earlier >> (f * field_bits)) & lanes<std::uint32_t>(field_mask);
          before_row_[j] = before;
          before += (all >> (f * field_bits)) & field_mask;
        }
      }
    }
    mine_kept_.count = before;
    mine_kept_.end = 0;
    if constexpr (First::needs_previous || Second::needs_previous) {
      mine_kept_.end = warp.reduce(
          warp.map(
              [](std::uint32_t m, std::uint32_t i0) {
                if (m == 0) return 0u;
                const int bit = 31 - Kokkos::countl_zero(m);
                return i0 + static_cast<std::uint32_t>(bit / v * row_items + bit % v) + 1;
              },
              marks_, local_index(0, 0)),
          maximum{});
    }
  }

  LANEWISE_FUNCTION void fold() {
    const auto warp = team_.warp();
    warp.once([&] { shared_.per_warp[team_.warp_index()] = mine_kept_; });
    team_.barrier();
    maybe<part> before{{0, 0}, false};
    fold_warps(team_, shared_.per_warp, Team::warps, add_parts{}, before, total_);
    if (before.present) {
      LANEWISE_UNROLL
      for (int j = 0; j < rows; ++j) before_row_[j] += before.value.count;
    }
  }

  LANEWISE_FUNCTION void put(const no_column&, std::int64_t, std::int64_t) {}
  template <class Sink>
  LANEWISE_FUNCTION void put(const kept_items<Sink>& column, std::int64_t start, std::int64_t) {
    const T* item = shared_.item.data();
    for_each_place(column.sink, start, total_.count,
                   [&](std::uint32_t k) { column.sink(start + k, item[k]); });
  }
  template <class Sink>
  LANEWISE_FUNCTION void put(const rejected_items<Sink>& column, std::int64_t start, std::int64_t) {
    const T* item = shared_.item.data() + total_.count;
    const std::int64_t rejected_before = first_ - start;
    for_each_place(column.sink, rejected_before,
                   static_cast<std::uint32_t>(this->count()) - total_.count,
                   [&](std::uint32_t k) { column.sink(rejected_before + k, item[k]); });
  }
  template <class Source, class Sink>
  LANEWISE_FUNCTION void put(const kept_values<Source, Sink>& column, std::int64_t start,
                             std::int64_t) {
    for_each_place(column.sink, start, total_.count, [&](std::uint32_t k) {
      column.sink(start + k, column.source(first_ + shared_.index[k]));
    });
  }
  template <class Sink>
  LANEWISE_FUNCTION void put(const kept_distances<Sink>& column, std::int64_t start,
                             std::int64_t end) {
    for_each_place(column.sink, start, total_.count, [&](std::uint32_t k) {
      const std::int64_t here = shared_.index[k];
      column.sink(start + k, k == 0 ? first_ + here + 1 - end : here - shared_.index[k - 1]);
    });
  }

  /// f(k) for k < count by the whole team, as far as place start + k exists.
  template <class Sink, class F>
  LANEWISE_FUNCTION void for_each_place(const Sink& sink, std::int64_t start, std::uint32_t count,
                                        F f) {
    const auto warp = team_.warp();
    const std::int64_t room = sink.extent - start;
    if (room < count) count = room < 0 ? 0 : static_cast<std::uint32_t>(room);
    for (std::uint32_t k = team_.warp_index() * width; k < count; k += Team::warps * width) {
      const auto place = lane_index_ + k;
      warp.each(place < count, f, place);
    }
  }

  scratch& shared_;
  lanes<std::uint32_t> marks_;
  lanes<std::uint32_t> before_lane_[rows];
  std::uint32_t before_row_[rows];
  part mine_kept_;
  part total_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
