// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/register_ranks.hpp>
#include <lanewise/detail/segments.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// A tile in registers that is scanned anew at every head. The first item of all is a head.
/// at_head(item) replaces the item at a head.
/// A tile of which the inclusive scans of segments are known as far as the tile goes back, to be
/// stored behind what comes before the tile.
template <class Rows>
class scanned_segments : public Rows {
 protected:
  using T = typename Rows::value_type;
  using state = segment_state<T>;
  using typename Rows::packs;
  template <class U>
  using lanes = typename Rows::template lanes<U>;
  using bits = typename Rows::warp_type::bits;
  using Rows::lane_index_;
  using Rows::row_count;
  using Rows::rows;
  using Rows::team_;
  using Rows::v;
  static_assert(rows * v <= 32, "a lane's heads are one word");
  static constexpr std::uint32_t row_mask = (1u << (v - 1)) * 2 - 1;

  using Rows::Rows;

  static LANEWISE_FUNCTION bool is_head(std::uint32_t heads, int j, int c) {
    return ((heads >> (j * v + c)) & 1) != 0;
  }
  /// The lanes that have a head in row j.
  LANEWISE_FUNCTION bits heads_of_row(int j) const {
    return team_.warp().ballot((heads_ & lanes<std::uint32_t>(row_mask << (j * v))) !=
                               lanes<std::uint32_t>(0u));
  }

  /// What is in front of this warp's segment, given what is in front of the tile.
  template <class Op>
  LANEWISE_FUNCTION maybe<T> before_segment(const maybe<T>& before_tile, Op op) const {
    if (!before_warp_.present) return before_tile;
    const T value = before_warp_.value.value();
    if (before_warp_.value.heads() != 0 || !before_tile.present) return {value, true};
    return {op(before_tile.value, value), true};
  }

  lanes<std::uint32_t> heads_;
  /// What the tile has in front of this warp's segment.
  maybe<state> before_warp_{{}, false};
};

/// Such a tile that was parked in scratch and is taken up again.
template <class Rows>
class parked_segments : public scanned_segments<Rows> {
  using base = scanned_segments<Rows>;
  using team = typename Rows::team_type;
  using typename base::bits;
  using typename base::packs;
  using typename base::state;
  using typename base::T;
  template <class U>
  using lanes = typename base::template lanes<U>;
  using base::before_warp_;
  using base::heads_;
  using base::lane_index_;
  using base::rows;
  using base::v;
  static constexpr int width = Rows::width;

 public:
  struct parked {
    alignas(16) raw_array<T, Rows::items> item;
    std::uint32_t heads[team::warps * width];
    raw_array<maybe<state>, team::warps> before_warp;
    std::int64_t first;
    std::int64_t n;
  };

  LANEWISE_FUNCTION parked_segments(const team& team, parked& place)
      : base(team, place.first, place.n), place_(place) {
    heads_ = team.warp().load(place.heads + team.warp_index() * width);
    before_warp_ = place.before_warp.data()[team.warp_index()];
  }

  /// Writes every item's scan of its segment up to and with the item, given what is in front of the
  /// tile.
  template <class Sink, class Op>
  LANEWISE_FUNCTION void store_inclusive(const Sink& sink, const maybe<T>& before, Op op) {
    put(sink, before, op, [](int, auto&) {});
  }

  /// The same without the item; init at heads.
  template <class Sink, class Op>
  LANEWISE_FUNCTION void store_exclusive(const Sink& sink, const T& init, const maybe<T>& before,
                                         Op op) {
    const auto warp = this->team_.warp();
    T carry = this->before_segment(before, op).value;
    put(sink, before, op, [&](int j, auto& row) {
      const auto last = warp.map([](const packs& p) { return p[v - 1]; }, row);
      const auto left = select(lane_index_ == 0u, lanes<T>(carry), warp.shuffle_up(last, 1));
      carry = warp.broadcast(last, width - 1);
      warp.each(
          [&](packs& p, const T& previous, std::uint32_t heads) {
            LANEWISE_UNROLL
            for (int c = v - 1; c >= 0; --c)
              p[c] = base::is_head(heads, j, c) ? init : (c > 0 ? p[c > 0 ? c - 1 : 0] : previous);
          },
          row, left, heads_);
    });
  }

  static LANEWISE_FUNCTION packs* packs_of(const team& team, parked& place) {
    return reinterpret_cast<packs*>(place.item.data()) +
           team.warp_index() * (Rows::segment / Rows::v);
  }

 private:
  /// Writes the rows after finish(j, row), what is in front of the tile having been added to the
  /// items in front of its first head.
  template <class Sink, class Op, class Finish>
  LANEWISE_FUNCTION void put(const Sink& sink, const maybe<T>& before, Op op, Finish finish) {
    const auto warp = this->team_.warp();
    const packs* from = packs_of(this->team_, place_);
    bool open = before.present && !(before_warp_.present && before_warp_.value.heads() != 0);
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      lanes<packs> row = warp.load(from + j * width);
      if (open) {
        const int n = this->row_count(j);
        const bits row_heads = this->heads_of_row(j);
        const auto to_the_left = warp.lanes_below() & lanes<bits>(row_heads);
        warp.each(
            [&](packs& p, bits heads_to_the_left, std::uint32_t heads, std::uint32_t lane) {
              bool joins = heads_to_the_left == 0;
              LANEWISE_UNROLL
              for (int c = 0; c < v; ++c) {
                joins = joins && !base::is_head(heads, j, c) && static_cast<int>(lane) * v + c < n;
                if (joins) p[c] = op(before.value, p[c]);
              }
            },
            row, to_the_left, heads_, lane_index_);
        open = row_heads == 0;
      }
      finish(j, row);
      this->write(sink, j, row);
    }
  }

  parked& place_;
};

/// What is left of a tile for reduce_by_key: the results of the segments that end in it.
template <class Rows, class Key>
class parked_ends {
  using team = typename Rows::team_type;
  using T = typename Rows::value_type;
  using state = segment_state<T>;

 public:
  struct parked {
    raw_array<T, Rows::items> value;
    raw_array<Key, Rows::items> key;
    std::uint32_t ended;
    bool starts_open;
    state total;
  };

  LANEWISE_FUNCTION parked_ends(const team& team, parked& place) : team_(team), place_(place) {}

  LANEWISE_FUNCTION const state& total() const { return place_.total; }

  /// Writes key and result of the segments that end in the tile; `before` is what is in front of
  /// the tile. Places beyond a sink's extent are left out.
  template <class Keys, class KeySink, class Sink, class Op>
  LANEWISE_FUNCTION void write_ends(const Keys&, const KeySink& key_sink, const Sink& sink,
                                    const state& before, Op op) const {
    const bool open = place_.starts_open;
    const std::int64_t start = before.heads() - (open ? 1 : 0);
    const Key* key = place_.key.data();
    const T* value = place_.value.data();
    for_each_place(team_, key_sink, start, place_.ended,
                   [&](std::uint32_t k) { key_sink(start + k, key[k]); });
    for_each_place(team_, sink, start, place_.ended, [&](std::uint32_t k) {
      sink(start + k, open && k == 0 ? op(before.value(), value[k]) : value[k]);
    });
  }

 private:
  const team& team_;
  parked& place_;
};

/// A tile in registers that is scanned anew at heads. `ends`: what is wanted are the results of
/// segments, not of items.
template <class Team, class T, int items_per_lane, class Heads, class AtHead, bool ends>
class register_segments : public scanned_segments<register_rows<Team, T, items_per_lane>> {
  using row_type = register_rows<Team, T, items_per_lane>;
  using base = scanned_segments<row_type>;
  using typename base::state;

  template <class H>
  struct ends_of {};
  template <class Keys, class Equal>
  struct ends_of<key_differing<Keys, Equal>> {
    using type = parked_ends<row_type, typename Keys::value_type>;
  };

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
  using ranks = register_ranks<row_type, false>;
  using resumed = typename std::conditional_t<ends, ends_of<Heads>,
                                              std::type_identity<parked_segments<row_type>>>::type;
  using parked = typename resumed::parked;

  struct scratch {
    raw_array<state, Team::warps> per_warp;
    typename ranks::scratch rank;
  };

  template <class Source>
  LANEWISE_FUNCTION register_segments(const Team& team, scratch& shared, const Source& source,
                                      const Heads& heads, const AtHead& at_head, std::int64_t first,
                                      std::int64_t n)
      : base(team, source, first, n),
        shared_(shared),
        inputs_(*this, source, heads, n),
        at_head_(at_head),
        is_last_(row_first(0) + segment >= n) {}

  /// Scans within rows and finds the total.
  template <class Op>
  LANEWISE_FUNCTION void scan(Op op) {
    find_heads();
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

  /// Leaves in scratch what is known without what is in front of the tile. A barrier must follow.
  template <class Op>
  LANEWISE_FUNCTION void park(parked& place, const join_segments<T, Op>& join) {
    combine(this->before_segment({{}, false}, join.op), join.op);
    if constexpr (ends) {
      park_ends(place);
    } else {
      park_items(place);
    }
  }

 private:
  LANEWISE_FUNCTION void park_items(parked& place) {
    const auto warp = team_.warp();
    packs* to = resumed::packs_of(team_, place);
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) warp.store(to + j * width, row_[j]);
    warp.store(place.heads + team_.warp_index() * width, heads_);
    warp.once([&] { place.before_warp.data()[team_.warp_index()] = before_warp_; });
    team_.once([&] {
      place.first = first_;
      place.n = first_ + count_;
    });
  }

  /// Brings the results of the segments that end in the tile together. All warps meet here.
  LANEWISE_FUNCTION void park_ends(parked& place) {
    const auto warp = team_.warp();
    const ranks ended(*this, shared_.rank, last_items());
    ended.for_each([&](int j, int c, const auto& last, const auto& to, const auto&) {
      const auto item = warp.map([c](const packs& p) { return p[c]; }, row_[j]);
      warp.scatter(last, place.value.data(), to, item);
      const auto key = warp.map([c](const auto& p) { return p[c]; }, inputs_.keys().row(j));
      warp.scatter(last, place.key.data(), to, key);
    });
    if (team_.warp_index() > 0) return;
    const bool open = (warp.broadcast(heads_, 0) & 1) == 0;
    warp.once([&] {
      place.starts_open = open;
      place.ended = ended.count();
      place.total = total_;
    });
  }

  /// Marks of the items that end a segment: those in front of a head, and the last of all.
  LANEWISE_FUNCTION auto last_items() const {
    const auto warp = team_.warp();
    // The first bit of every row in the next lane; behind the last lane comes the next row.
    constexpr std::uint32_t row_mask = base::row_mask;
    constexpr int last_row = (rows - 1) * v;
    const std::uint32_t next_rows =
        (v < 32 ? warp.broadcast(heads_, 0) >> (v % 32) : 0u) | std::uint32_t{closed_} << last_row;
    const auto next = select(lane_index_ == std::uint32_t{width - 1},
                             lanes<std::uint32_t>(next_rows), warp.shuffle_down(heads_, 1));
    if (this->whole_segment()) {
      // An item ends its segment if the next one is a head: within the pack that is the next bit.
      constexpr std::uint32_t first_bits = [] {
        std::uint32_t m = 0;
        for (int j = 0; j < rows; ++j) m |= 1u << (j * v);
        return m;
      }();
      return ((heads_ & lanes<std::uint32_t>(~first_bits)) >> 1) |
             ((next & lanes<std::uint32_t>(first_bits)) << (v - 1));
    }
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
  using base::before_warp_;
  using base::count_;
  using base::first_;
  using base::heads_;
  using base::lane_index_;
  using base::mine_;
  using base::row_;
  using base::team_;
  using typename base::bits;

  LANEWISE_FUNCTION void find_heads() {
    heads_ = inputs_.bits(*this);
    closed_ = is_last_ || inputs_.is_marked_behind();
    if (first_ == 0 && team_.warp_index() == 0 && mine_ > 0) {
      heads_ =
          heads_ | select(lane_index_ == 0u, lanes<std::uint32_t>(1u), lanes<std::uint32_t>(0u));
    }
    if constexpr (!std::is_same_v<AtHead, identity>) {
      LANEWISE_UNROLL
      for (int j = 0; j < rows; ++j) {
        team_.warp().each(
            [&](packs& p, std::uint32_t heads) {
              LANEWISE_UNROLL
              for (int c = 0; c < v; ++c) {
                if (base::is_head(heads, j, c)) p[c] = at_head_(p[c]);
              }
            },
            row_[j], heads_);
      }
    }
  }

  /// Adds what comes before this warp's segment to the items in front of its first head; afterwards
  /// items are the inclusive scan of their segment, as far as `before` goes back.
  template <class Op>
  LANEWISE_FUNCTION void combine(const maybe<T>& before, Op op) {
    if (this->whole_segment()) {
      combine<true>(before, op);
    } else {
      combine<false>(before, op);
    }
  }
  template <bool full, class Op>
  LANEWISE_FUNCTION void combine(maybe<T> before, Op op) {
    const auto warp = team_.warp();
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      const int n = full ? row_items : row_count(j);
      if (!full && n == 0) return;
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
              open = open && !base::is_head(heads, j, c) && (full || c < valid);
              if (open) p[c] = op(prefix, p[c]);
            }
          },
          row_[j], left, fresh, heads_, lane_index_);
      const T row_total = warp.broadcast(lane_sum_[j], lanes_used - 1);
      before.value = before.present && row_heads == 0 ? op(before.value, row_total) : row_total;
      before.present = true;
    }
  }

  template <class Op>
  LANEWISE_FUNCTION void scan_rows(Op op) {
    if (this->whole_segment()) {
      scan_rows<true>(op);
    } else {
      scan_rows<false>(op);
    }
  }
  template <bool full, class Op>
  LANEWISE_FUNCTION void scan_rows(Op op) {
    const auto warp = team_.warp();
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      const int n = full ? row_items : row_count(j);
      warp.each(
          [&](packs& p, std::uint32_t heads, std::uint32_t lane) {
            const int valid = n - static_cast<int>(lane) * v;
            LANEWISE_UNROLL
            for (int c = 1; c < v; ++c) {
              if ((full || c < valid) && !base::is_head(heads, j, c)) p[c] = op(p[c - 1], p[c]);
            }
          },
          row_[j], heads_, lane_index_);
    }
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      const int n = full ? row_items : row_count(j);
      row_heads_[j] = this->heads_of_row(j);
      const auto last = warp.map(
          [&](const packs& p, std::uint32_t lane) {
            if constexpr (full) return p[v - 1];
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
      const int n = full ? row_items : row_count(j);
      if (n > 0) {
        const T row_total = warp.broadcast(lane_sum_[j], (n + v - 1) / v - 1);
        segment_value_ = j == 0 || row_heads_[j] != 0 ? row_total : op(segment_value_, row_total);
      }
    }
  }

  scratch& shared_;
  mark_inputs<row_type, Heads> inputs_;
  const AtHead& at_head_;
  /// Whether there are no items behind this warp's segment.
  bool is_last_;
  /// Whether a segment begins behind this warp's, or nothing does.
  bool closed_;
  bits row_heads_[rows];
  lanes<T> lane_sum_[rows];
  std::int64_t segment_heads_ = 0;
  T segment_value_{};
  state total_ = state::of(0, T{});
};

}  // namespace detail
LANEWISE_END_NAMESPACE
