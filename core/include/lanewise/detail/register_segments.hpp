// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/register_ranks.hpp>
#include <lanewise/detail/segments.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// A tile in registers that is scanned anew at every head. The first item of all is a head.
/// at_head(item) replaces the item at a head.
template <class Team, class T, int items_per_lane>
class register_segments : public register_rows<Team, T, items_per_lane> {
  using base = register_rows<Team, T, items_per_lane>;
  static_assert(items_per_lane <= 32, "a lane's heads are one word");

 public:
  using base::items;
  using base::row_count;
  using base::row_first;
  using base::row_items;
  using base::rows;
  using base::segment;
  using base::v;
  using base::width;
  using typename base::warp_type;
  using state = segment_state<T>;
  using bits = typename warp_type::bits;

  using ranks = register_ranks<base, false>;

  struct scratch {
    raw_array<state, Team::warps> per_warp;
  };
  /// What reduce_by_key needs beside: the results of the segments that end in the tile.
  struct ends_scratch {
    typename ranks::scratch rank;
    raw_array<T, items> value;
    std::uint32_t index[items];
    bool starts_open;
  };

  template <class Source, class Heads, class AtHead>
  LANEWISE_FUNCTION register_segments(const Team& team, scratch& shared, const Source& source,
                                      const Heads& heads, const AtHead& at_head, std::int64_t first,
                                      std::int64_t n)
      : base(team, source, first, n), shared_(shared), heads_(mark_rows(*this, source, heads, n)) {
    const std::int64_t behind = row_first(0) + segment;
    closed_ = behind >= n || is_kept(heads, source, behind, n);
    if (first == 0 && team.warp_index() == 0 && mine_ > 0) {
      heads_ =
          heads_ | select(lane_index_ == 0u, lanes<std::uint32_t>(1u), lanes<std::uint32_t>(0u));
    }
    map_heads(at_head);
  }

  /// Scans within rows and finds the total.
  template <class Op>
  LANEWISE_FUNCTION void scan(Op op) {
    scan_rows(op);
    const auto warp = team_.warp();
    state* per_warp = shared_.per_warp.data();
    if (mine_ > 0) {
      const auto mine = state::of(segment_heads_, segment_value_);
      warp.once([&] { per_warp[team_.warp_index()] = mine; });
    }
    team_.barrier();
    const int warps = (count_ + segment - 1) / segment;
    if (warps > 0)
      fold_warps(team_, per_warp, warps, join_segments<T, Op>{op}, before_warp_, total_);
  }

  /// What the tile hands on; needs count() > 0.
  LANEWISE_FUNCTION const state& total() const { return total_; }

  /// Brings the results of the segments that end in the tile together in scratch, as far as they
  /// are known without what is in front of the tile. A barrier must follow.
  template <class Op>
  LANEWISE_FUNCTION void stage_ends(ends_scratch& ends, Op op) {
    const auto warp = team_.warp();
    combine(before_segment({{}, false}, op), op);
    if (team_.warp_index() == 0) {
      const bool open = (warp.broadcast(heads_, 0) & 1) == 0;
      warp.once([&] { ends.starts_open = open; });
    }
    const ranks ended(*this, ends.rank, last_items());
    ended.for_each([&](int j, int c, const auto& last, const auto& place, const auto& index) {
      const auto item = warp.map([c](const packs& p) { return p[c]; }, row_[j]);
      warp.scatter(last, ends.value.data(), place, item);
      warp.scatter(last, ends.index, place, index);
    });
    ended_ = ended.count();
  }

  /// Writes key and result of the segments that end in the tile; `before` is what is in front of
  /// the tile. Places beyond a sink's extent are left out.
  template <class Keys, class KeySink, class Sink, class Op>
  LANEWISE_FUNCTION void write_ends(const ends_scratch& ends, const Keys& keys,
                                    const KeySink& key_sink, const Sink& sink, const state& before,
                                    Op op) {
    const bool open = ends.starts_open;
    const std::int64_t start = before.heads() - (open ? 1 : 0);
    const T* value = reinterpret_cast<const T*>(ends.value.bytes);
    for_each_place(team_, key_sink, start, ended_,
                   [&](std::uint32_t k) { key_sink(start + k, keys(first_ + ends.index[k])); });
    for_each_place(team_, sink, start, ended_, [&](std::uint32_t k) {
      sink(start + k, open && k == 0 ? op(before.value(), value[k]) : value[k]);
    });
  }

  /// Writes every item's scan of its segment up to and with the item, given what is in front of the
  /// tile.
  template <class Sink, class Op>
  LANEWISE_FUNCTION void store_inclusive(const Sink& sink, const maybe<T>& before, Op op) {
    combine(before_segment(before, op), op);
    base::store(sink);
  }

  /// The same without the item; init at heads.
  template <class Sink, class Op>
  LANEWISE_FUNCTION void store_exclusive(const Sink& sink, const T& init, const maybe<T>& before,
                                         Op op) {
    const maybe<T> front = before_segment(before, op);
    combine(front, op);
    const auto warp = team_.warp();
    T carry = front.value;
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      const auto last = warp.map([](const packs& p) { return p[v - 1]; }, row_[j]);
      const auto left = select(lane_index_ == 0u, lanes<T>(carry), warp.shuffle_up(last, 1));
      carry = warp.broadcast(last, width - 1);
      warp.each(
          [&](packs& p, const T& previous, std::uint32_t heads) {
            LANEWISE_UNROLL
            for (int c = v - 1; c >= 0; --c)
              p[c] = is_head(heads, j, c) ? init : (c > 0 ? p[c > 0 ? c - 1 : 0] : previous);
          },
          row_[j], left, heads_);
    }
    base::store(sink);
  }

 private:
  /// Marks of the items that end a segment: those in front of a head, and the last of all.
  LANEWISE_FUNCTION auto last_items() const {
    const auto warp = team_.warp();
    // The first bit of every row in the next lane; behind the last lane comes the next row.
    constexpr std::uint32_t row_mask = (1u << (v - 1)) * 2 - 1;
    constexpr int last_row = (rows - 1) * v;
    const std::uint32_t next_rows =
        (v < 32 ? warp.broadcast(heads_, 0) >> (v % 32) : 0u) | std::uint32_t{closed_} << last_row;
    const auto next = select(lane_index_ == std::uint32_t{width - 1},
                             lanes<std::uint32_t>(next_rows), warp.shuffle_down(heads_, 1));
    const int mine = mine_;
    return warp.map(
        [mine](std::uint32_t heads, std::uint32_t behind, std::uint32_t lane) {
          std::uint32_t last = 0;
          LANEWISE_UNROLL
          for (int j = 0; j < rows; ++j) {
            const int at = j * row_items + static_cast<int>(lane) * v;
            std::uint32_t row = ((heads >> (j * v)) & row_mask) >> 1 | ((behind >> (j * v)) & 1)
                                                                           << (v - 1);
            // Nothing lies behind the last item of a ragged segment.
            if (mine < segment && mine - 1 >= at && mine - 1 < at + v) row |= 1u << (mine - 1 - at);
            if (at + v > mine) row &= at >= mine ? 0u : (1u << (mine - at)) - 1;
            last |= row << (j * v);
          }
          return last;
        },
        heads_, next, lane_index_);
  }

  using typename base::packs;
  template <class U>
  using lanes = typename base::template lanes<U>;
  using base::count_;
  using base::first_;
  using base::lane_index_;
  using base::mine_;
  using base::row_;
  using base::team_;

  static LANEWISE_FUNCTION bool is_head(std::uint32_t heads, int j, int c) {
    return ((heads >> (j * v + c)) & 1) != 0;
  }

  template <class F>
  LANEWISE_FUNCTION void map_heads(const F& f) {
    if constexpr (!std::is_same_v<F, identity>) {
      LANEWISE_UNROLL
      for (int j = 0; j < rows; ++j) {
        team_.warp().each(
            [&](packs& p, std::uint32_t heads) {
              LANEWISE_UNROLL
              for (int c = 0; c < v; ++c) {
                if (is_head(heads, j, c)) p[c] = f(p[c]);
              }
            },
            row_[j], heads_);
      }
    }
  }

  /// Adds what comes before this warp's segment to the items in front of its first head; afterwards
  /// items are the inclusive scan of their segment, as far as `before` goes back.
  template <class Op>
  LANEWISE_FUNCTION void combine(maybe<T> before, Op op) {
    const auto warp = team_.warp();
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      const int n = row_count(j);
      if (n == 0) return;
      const int lanes_used = (n + v - 1) / v;
      const bits row_heads = row_heads_[j];
      const auto left = warp.shuffle_up(lane_sum_[j], 1);
      // Lanes with a head to their left do not see what is in front of the row.
      const auto fresh = warp.lanes_below() & lanes<bits>(row_heads);
      warp.each(
          [&](packs& p, const T& sum_of_lanes, bits heads_to_the_left, std::uint32_t heads,
              std::uint32_t lane) {
            const int valid = n - static_cast<int>(lane) * v;
            T prefix = before.value;
            bool present = before.present;
            if (lane > 0) {
              prefix =
                  present && heads_to_the_left == 0 ? op(before.value, sum_of_lanes) : sum_of_lanes;
              present = true;
            }
            bool open = present;
            LANEWISE_UNROLL
            for (int c = 0; c < v; ++c) {
              open = open && !is_head(heads, j, c) && c < valid;
              if (open) p[c] = op(prefix, p[c]);
            }
          },
          row_[j], left, fresh, heads_, lane_index_);
      const T row_total = warp.broadcast(lane_sum_[j], lanes_used - 1);
      before.value = before.present && row_heads == 0 ? op(before.value, row_total) : row_total;
      before.present = true;
    }
  }

  /// What is in front of this warp's segment, given what is in front of the tile.
  template <class Op>
  LANEWISE_FUNCTION maybe<T> before_segment(const maybe<T>& before_tile, Op op) const {
    if (!before_warp_.present) return before_tile;
    const T value = before_warp_.value.value();
    if (before_warp_.value.heads() != 0 || !before_tile.present) return {value, true};
    return {op(before_tile.value, value), true};
  }

  template <class Op>
  LANEWISE_FUNCTION void scan_rows(Op op) {
    const auto warp = team_.warp();
    constexpr std::uint32_t row_mask = (1u << (v - 1)) * 2 - 1;
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      const int n = row_count(j);
      warp.each(
          [&](packs& p, std::uint32_t heads, std::uint32_t lane) {
            const int valid = n - static_cast<int>(lane) * v;
            LANEWISE_UNROLL
            for (int c = 1; c < v; ++c) {
              if (c < valid && !is_head(heads, j, c)) p[c] = op(p[c - 1], p[c]);
            }
          },
          row_[j], heads_, lane_index_);
    }
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      const int n = row_count(j);
      row_heads_[j] = warp.ballot((heads_ & lanes<std::uint32_t>(row_mask << (j * v))) !=
                                  lanes<std::uint32_t>(0u));
      const auto last = warp.map(
          [&](const packs& p, std::uint32_t lane) {
            const int valid = n - static_cast<int>(lane) * v;
            T x = p[0];
            LANEWISE_UNROLL
            for (int c = 1; c < v; ++c) {
              if (c < valid) x = p[c];
            }
            return x;
          },
          row_[j], lane_index_);
      lane_sum_[j] = warp.segmented_scan(last, row_heads_[j], op, (n + v - 1) / v);
    }
    segment_heads_ = static_cast<std::int64_t>(warp.reduce(
        warp.map([](std::uint32_t m) { return static_cast<std::uint32_t>(warp_type::popcount(m)); },
                 heads_),
        plus{}));
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      const int n = row_count(j);
      if (n > 0) {
        const T row_total = warp.broadcast(lane_sum_[j], (n + v - 1) / v - 1);
        segment_value_ = j == 0 || row_heads_[j] != 0 ? row_total : op(segment_value_, row_total);
      }
    }
  }

  scratch& shared_;
  lanes<std::uint32_t> heads_;
  /// Whether a segment begins behind this warp's, or nothing does.
  bool closed_;
  std::uint32_t ended_ = 0;
  bits row_heads_[rows];
  lanes<T> lane_sum_[rows];
  std::int64_t segment_heads_ = 0;
  T segment_value_{};
  state total_ = state::of(0, T{});
  maybe<state> before_warp_{{}, false};
};

}  // namespace detail
LANEWISE_END_NAMESPACE
