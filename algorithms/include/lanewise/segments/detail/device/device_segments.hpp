// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/segments/detail/segment_state.hpp>
#include <lanewise/tile/register/ranks.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// A tile in registers whose segments have been scanned inclusively, as far as the tile goes back.
/// The scans are stored after what comes before the tile.
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

  /// What is before this warp's segment, given what is before the tile.
  template <class Op>
  LANEWISE_FUNCTION maybe<T> before_segment(const maybe<T>& before_tile, Op op) const {
    if (!before_warp_.present) return before_tile;
    const T value = before_warp_.value.value();
    if (before_warp_.value.heads() != 0 || !before_tile.present) return {value, true};
    return {op(before_tile.value, value), true};
  }

  lanes<std::uint32_t> heads_;
  /// What the tile has before this warp's segment.
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
    alignas(16) alignas(T) raw_array<T, Rows::items> item;
    std::uint32_t heads[team::warps * width];
    raw_array<maybe<state>, team::warps> before_warp;
    std::int64_t first;
    std::int64_t n;
  };

  LANEWISE_FUNCTION parked_segments(const team& t, parked& place)
      : base(t, place.first, place.n), place_(place) {
    heads_ = t.warp().load(place.heads + t.warp_index() * width);
    before_warp_ = place.before_warp.data()[t.warp_index()];
  }

  /// Writes every item's scan of its segment up to and with the item, given what is before the
  /// tile.
  template <class Sink, class Op>
  LANEWISE_FUNCTION void store_inclusive(const Sink& sink, const maybe<T>& before, Op op) {
    put(sink, before, op, [](int, auto&) {});
  }

  /// As store_inclusive, without the item; init at heads.
  template <class Sink, class Op>
  LANEWISE_FUNCTION void store_exclusive(const Sink& sink, const T& init, const maybe<T>& before,
                                         Op op) {
    const auto warp = this->team_.warp();
    T carry = this->before_segment(before, op).value;
    put(sink, before, op, [&](int j, auto& row) {
      const auto last = warp.map([](const packs& p) { return p[v - 1]; }, row);
      const auto left =
          lanewise::select(lane_index_ == 0u, lanes<T>(carry), warp.shuffle_up(last, 1));
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
  /// Writes the rows after finish(j, row), what is before the tile having been added to the
  /// items before its first head.
  template <class Sink, class Op, class Finish>
  LANEWISE_FUNCTION void put(const Sink& sink, const maybe<T>& before, Op op, Finish finish) {
    const auto warp = this->team_.warp();
    bool open = before.present && !(before_warp_.present && before_warp_.value.heads() != 0);
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      lanes<packs> row = warp.load(packs_of(this->team_, place_) + j * width);
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

/// What is left of a tile for reduce_by_key: the results and the keys of the segments that end in
/// it. If keys have to be the first ones, they are the keys of the segments that begin in it.
template <class Rows, class Key, bool any_key>
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

  LANEWISE_FUNCTION parked_ends(const team& t, parked& place) : team_(t), place_(place) {}

  LANEWISE_FUNCTION const state& total() const { return place_.total; }

  /// Writes key and result of the segments that end in the tile; `before` is what is before
  /// the tile. Places beyond a sink's extent are left out.
  template <class Heads, class KeySink, class Sink, class Op>
  LANEWISE_FUNCTION void write_ends(const Heads&, const KeySink& key_sink, const Sink& sink,
                                    const state& before, Op op) const {
    const bool open = place_.starts_open;
    const std::int64_t start = before.heads() - (open ? 1 : 0);
    const Key* key = place_.key.data();
    const T* value = place_.value.data();
    const std::int64_t key_start = any_key ? start : before.heads();
    const auto keys = any_key ? place_.ended : static_cast<std::uint32_t>(place_.total.heads());
    detail::for_each_place(team_, key_sink, key_start, 0, keys,
                           [&](int k) { key_sink(key_start + k, key[k]); });
    // What is before the tile belongs to the first result alone.
    const int whole = open && place_.ended > 0 ? 1 : 0;
    if (whole == 1 && start < sink.extent)
      team_.once([&] { sink(start, op(before.value(), value[0])); });
    detail::for_each_place(team_, sink, start, whole, place_.ended,
                           [&](int k) { sink(start + k, value[k]); });
  }

 private:
  const team& team_;
  parked& place_;
};

/// A tile in registers that is scanned anew at every head. The first item of all is a head, and
/// at_head(item) replaces the item at a head. `ends`: the caller wants the results of segments, not
/// of items.
template <class Team, class T, int items_per_lane, class Heads, class AtHead, bool ends>
class device_segments : public scanned_segments<register_tile<Team, T, items_per_lane>> {
  using row_type = register_tile<Team, T, items_per_lane>;
  using base = scanned_segments<row_type>;
  using typename base::state;

  template <class H>
  struct ends_of {
    static constexpr bool any_key = true;
  };
  template <class Keys, class Equal>
  struct ends_of<key_differing<Keys, Equal>> {
    static constexpr bool any_key = key_differing<Keys, Equal>::any_key_will_do;
    using type = parked_ends<row_type, typename Keys::value_type, any_key>;
  };
  static constexpr bool any_key = ends_of<Heads>::any_key;

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
  using resumed = typename std::conditional_t<ends, ends_of<Heads>,
                                              std::type_identity<parked_segments<row_type>>>::type;
  using parked = typename resumed::parked;

  /// What every warp has: how many heads, and the value of the last segment. For results of
  /// segments, whether the first item of the tile is a head, and whether the last one ends a
  /// segment.
  static constexpr bool stores_unscanned = false;
  struct scratch {
    std::uint32_t heads[Team::warps];
    raw_array<T, Team::warps> value;
    std::uint32_t begins_segment;
    std::uint32_t ends_segment;
  };

  template <class Source>
  LANEWISE_FUNCTION device_segments(const Team& team, scratch& shared, const Source& source,
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
    if constexpr (can_sum_up<Op>) sums_up_ = is_one_piece();
    if (sums_up_) {
      sum_up(op);
    } else {
      scan_rows(op);
      if constexpr (ends) ranks_ = segment_ranks<row_type>(team_.warp(), heads_);
    }
    fold_warps(op);
  }

  /// What the tile hands on; needs count() > 0.
  LANEWISE_FUNCTION const state& total() const { return total_; }

  /// Leaves in scratch what is known without what is before the tile. A barrier must follow.
  template <class Op>
  LANEWISE_FUNCTION void park(parked& place, const join_segments<T, Op>& join) {
    const maybe<T> before = this->before_segment({{}, false}, join.op);
    if constexpr (ends) {
      if (sums_up_) {
        park_sum(place, before, join.op);
      } else {
        if (this->whole_segment()) {
          find_prefixes<true>(before, join.op);
        } else {
          find_prefixes<false>(before, join.op);
        }
        park_ends(place, before.present, join.op);
      }
      team_.once([&] {
        place.starts_open = begins_ == 0;
        place.ended = ended_;
        place.total = total_;
      });
    } else {
      combine(before, join.op);
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

  /// Brings the results of the segments that end in the tile together, after find_prefixes.
  template <class Op>
  LANEWISE_FUNCTION void park_ends(parked& place, bool present, Op op) {
    const auto warp = team_.warp();
    // The number of segments that have ended before a pack is the number that have begun up to and
    // with its first item. A segment that begins with the tile does not count.
    const auto last = last_items();
    ranks_.for_each_row(in_front_ - begins_, [&](int j, const auto& before) {
      const parking<Op> row{place, j * v, begins_, j > 0 || present, op};
      warp.each(row, row_[j], inputs_.keys().row(j), lane_sum_[j], heads_, last, before,
                lane_index_);
    });
  }

  /// As park_ends, for a warp's segment in which nothing begins. It has one result at most.
  template <class Op>
  LANEWISE_FUNCTION void park_sum(parked& place, const maybe<T>& before, Op op) {
    if (!closed_) return;
    const auto warp = team_.warp();
    const T sum = before.present ? op(before.value, segment_value_) : segment_value_;
    warp.once([&] { place.value.data()[in_front_ - begins_] = sum; });
    if constexpr (any_key) {
      const auto last =
          warp.map([](const auto& k) { return k[v - 1]; }, inputs_.keys().row(rows - 1));
      const auto key = warp.broadcast(last, width - 1);
      warp.once([&] { place.key.data()[in_front_ - begins_] = key; });
    }
  }

  /// Parks a lane's pack of a row.
  template <class Op>
  struct parking {
    parked& place;
    int first_bit;
    /// Whether a segment begins with the tile: 0 or 1.
    std::uint32_t tile_begins;
    /// Whether the first lane has a prefix too.
    bool all_have_prefix;
    Op op;

    template <class Values, class Keys>
    LANEWISE_FUNCTION void operator()(const Values& p, const Keys& keys, const T& prefix,
                                      std::uint32_t heads, std::uint32_t last, std::uint32_t before,
                                      std::uint32_t lane) const {
      T* const value = place.value.data();
      auto* const key = place.key.data();
      const std::uint32_t begins = (heads >> first_bit) & 1;
      std::uint32_t to = before + begins;
      T* const first = value + to;
      if constexpr (!any_key) {
        auto* begun = key + (before + tile_begins);
        LANEWISE_UNROLL
        for (int c = 0; c < v; ++c) {
          if (((heads >> (first_bit + c)) & 1) != 0) *begun++ = keys[c];
        }
      }
      LANEWISE_UNROLL
      for (int c = 0; c < v; ++c) {
        if (((last >> (first_bit + c)) & 1) == 0) continue;
        value[to] = p[c];
        if constexpr (any_key) key[to] = keys[c];
        ++to;
      }
      // What lies before the pack belongs to the segment that ends in it first.
      const bool ends_one = ((last >> first_bit) & base::row_mask) != 0;
      if (ends_one && begins == 0 && (all_have_prefix || lane > 0)) *first = op(prefix, *first);
    }
  };

  /// Selector of the items that end a segment: those before a head, and the last of all.
  LANEWISE_FUNCTION auto last_items() const {
    const auto warp = team_.warp();
    // The first bit of every row in the next lane; after the last lane comes the next row.
    constexpr int last_row = (rows - 1) * v;
    const std::uint32_t next_rows =
        (v < 32 ? warp.broadcast(heads_, 0) >> (v % 32) : 0u) | std::uint32_t{closed_} << last_row;
    const auto next =
        lanewise::select(lane_index_ == std::uint32_t{width - 1}, lanes<std::uint32_t>(next_rows),
                         warp.shuffle_down(heads_, 1));
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
        [mine](std::uint32_t heads, std::uint32_t after, std::uint32_t lane) {
          std::uint32_t last = 0;
          LANEWISE_UNROLL
          for (int j = 0; j < rows; ++j) {
            const int at = j * row_items + static_cast<int>(lane) * v;
            std::uint32_t row =
                ((heads >> (j * v)) & base::row_mask) >> 1 | ((after >> (j * v)) & 1) << (v - 1);
            // Nothing lies after the last item of a ragged segment.
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
    closed_ = is_last_ || inputs_.is_selected_after();
    if (first_ == 0 && team_.warp_index() == 0 && mine_ > 0) {
      heads_ = heads_ | lanewise::select(lane_index_ == 0u, lanes<std::uint32_t>(1u),
                                         lanes<std::uint32_t>(0u));
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

  /// Adds what comes before this warp's segment to the items before its first head; afterwards
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
    const bool all_have_prefix = before.present;
    find_prefixes<full>(before, op);
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      const int n = full ? row_items : row_count(j);
      team_.warp().each(
          [&](packs& p, const T& prefix, std::uint32_t heads, std::uint32_t lane) {
            const int valid = n - static_cast<int>(lane) * v;
            bool open = j > 0 || all_have_prefix || lane > 0;
            LANEWISE_UNROLL
            for (int c = 0; c < v; ++c) {
              open = open && !base::is_head(heads, j, c) && (full || c < valid);
              if (open) p[c] = op(prefix, p[c]);
            }
          },
          row_[j], lane_sum_[j], heads_, lane_index_);
    }
  }

  /// The lanes' sums become what lies before every lane's pack, back to the last head: the
  /// first lane of all has something only if `before` is present.
  template <bool full, class Op>
  LANEWISE_FUNCTION void find_prefixes(maybe<T> before, Op op) {
    const auto warp = team_.warp();
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      const int n = full ? row_items : row_count(j);
      if (!full && n == 0) return;
      const bits row_heads = row_heads_[j];
      const T row_total = warp.broadcast(lane_sum_[j], (n + v - 1) / v - 1);
      const auto left = warp.shuffle_up(lane_sum_[j], 1);
      // Lanes with a head to their left do not see what is before the row.
      const auto fresh = warp.lanes_below() & lanes<bits>(row_heads);
      lane_sum_[j] = warp.map(
          [&](const T& sum_of_lanes, bits heads_to_the_left, std::uint32_t lane) -> T {
            if (lane == 0) return before.value;
            return before.present && heads_to_the_left == 0 ? op(before.value, sum_of_lanes)
                                                            : sum_of_lanes;
          },
          left, fresh, lane_index_);
      before.value = before.present && row_heads == 0 ? op(before.value, row_total) : row_total;
      before.present = true;
    }
  }

  /// If only results of segments are wanted, items between heads need no scan.
  template <class Op>
  static constexpr bool can_sum_up = ends ? is_commutative<Op, T> : false;

  /// Whether all of this warp's segment belongs to one segment that began before it.
  LANEWISE_FUNCTION bool is_one_piece() const {
    return this->whole_segment() && !team_.warp().any(heads_ != lanes<std::uint32_t>(0u));
  }
  template <class Op>
  LANEWISE_FUNCTION void sum_up(Op op) {
    const auto warp = team_.warp();
    lanes<T> sum;
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      warp.each(
          [op, j](T& s, const packs& p) {
            s = j == 0 ? p[0] : op(s, p[0]);
            LANEWISE_UNROLL
            for (int c = 1; c < v; ++c) s = op(s, p[c]);
          },
          sum, row_[j]);
    }
    segment_value_ = warp.reduce(sum, op);
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
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      const int n = full ? row_items : row_count(j);
      if (n > 0) {
        const T row_total = warp.broadcast(lane_sum_[j], (n + v - 1) / v - 1);
        segment_value_ = j == 0 || row_heads_[j] != 0 ? row_total : op(segment_value_, row_total);
      }
    }
  }

  /// Finds what the tile comes to, and what it has before this warp's segment. All warps of
  /// the team meet here.
  template <class Op>
  LANEWISE_FUNCTION void fold_warps(Op op) {
    const auto warp = team_.warp();
    const int here = team_.warp_index();
    constexpr int warps = Team::warps;
    std::uint32_t mine;
    if constexpr (ends) {
      mine = ranks_.count();
    } else {
      mine = warp.reduce(
          warp.map(
              [](std::uint32_t m) { return static_cast<std::uint32_t>(warp_type::popcount(m)); },
              heads_),
          plus{});
    }
    const int used = (count_ + segment - 1) / segment;
    T* const value = shared_.value.data();
    const auto begins = warp.broadcast(heads_, 0) & 1;
    warp.once([&] {
      shared_.heads[here] = mine;
      if (here < used) value[here] = segment_value_;
      if (ends && here == 0) shared_.begins_segment = begins;
      if (ends && here == used - 1) shared_.ends_segment = closed_ ? 1 : 0;
    });
    team_.barrier();
    const auto heads = warp.load(warp.first(warps), shared_.heads, 0u);
    const std::uint32_t all = warp.reduce(heads, plus{});
    in_front_ =
        warp.reduce(lanewise::select(warp.first(here), heads, lanes<std::uint32_t>(0u)), plus{});
    if (used == 0) return;
    const auto values = warp.load(warp.template first<T>(used), value, T{});
    const auto sums = warp.template segmented_scan<warps>(
        values, warp.ballot(heads != lanes<std::uint32_t>(0u)), op, used);
    total_ = state::of(all, warp.broadcast(sums, used - 1));
    if constexpr (ends) {
      begins_ = shared_.begins_segment;
      ended_ = all - begins_ + shared_.ends_segment;
    }
    before_warp_.present = here > 0;
    if (here > 0)
      before_warp_.value =
          state::of(in_front_, warp.broadcast(sums, (here < used ? here : used) - 1));
  }

  scratch& shared_;
  selection_inputs<row_type, Heads> inputs_;
  const AtHead& at_head_;
  /// Whether there are no items after this warp's segment.
  bool is_last_;
  /// Whether a segment begins after this warp's, or nothing does.
  bool closed_;
  bits row_heads_[rows];
  lanes<T> lane_sum_[rows];
  T segment_value_{};
  /// If results of segments are wanted: heads before packs, and before this warp.
  std::conditional_t<ends, segment_ranks<row_type>, identity> ranks_;
  std::uint32_t in_front_ = 0;
  /// Whether this warp's segment is summed up and not scanned.
  bool sums_up_ = false;
  /// Whether a segment begins with the tile, and how many end in it.
  std::uint32_t begins_ = 0;
  std::uint32_t ended_ = 0;
  state total_ = state::of(0, T{});
};

}  // namespace detail
LANEWISE_END_NAMESPACE
