// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/team/fold_warps.hpp>
#include <lanewise/tile/register/rows.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// A tile whose inclusive scan is known, to be stored after what comes before the tile.
template <class Rows>
class scanned_rows : public Rows {
  using T = typename Rows::value_type;

 public:
  using Rows::Rows;

 protected:
  using typename Rows::packs;
  template <class U>
  using lanes = typename Rows::template lanes<U>;
  using Rows::lane_index_;
  using Rows::row_count;
  using Rows::rows;
  using Rows::team_;
  using Rows::v;

  /// row_at(j) is row j of the tile's scan.
  template <bool exclusive, class Sink, class Op, class RowAt>
  LANEWISE_FUNCTION void put(const Sink& sink, const maybe<T>& before, Op op, RowAt row_at) {
    if (this->whole_segment()) {
      put_rows<exclusive, true>(sink, before, op, row_at);
    } else {
      put_rows<exclusive, false>(sink, before, op, row_at);
    }
  }

  /// The tile's scan up to the item before this warp's segment.
  maybe<T> in_front_{{}, false};

 private:
  template <bool exclusive, bool full, class Sink, class Op, class RowAt>
  LANEWISE_FUNCTION void put_rows(const Sink& sink, const maybe<T>& before, Op op, RowAt row_at) {
    const auto warp = team_.warp();
    T in_front = before.value;
    if (in_front_.present)
      in_front = before.present ? op(before.value, in_front_.value) : in_front_.value;
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      const int n = full ? Rows::row_items : row_count(j);
      lanes<packs> row = row_at(j);
      if (before.present) {
        warp.each(
            [&](packs& p, std::uint32_t lane) {
              LANEWISE_UNROLL
              for (int c = 0; c < v; ++c) {
                if (full || static_cast<int>(lane) * v + c < n) p[c] = op(before.value, p[c]);
              }
            },
            row, lane_index_);
      }
      if constexpr (exclusive) {
        // Every item moves one place on.
        const auto last = warp.map([](const packs& p) { return p[v - 1]; }, row);
        const auto left =
            lanewise::select(lane_index_ == 0u, lanes<T>(in_front), warp.shuffle_up(last, 1));
        in_front = warp.broadcast(last, Rows::width - 1);
        warp.each(
            [&](packs& p, const T& neighbour) {
              LANEWISE_UNROLL
              for (int c = v - 1; c > 0; --c) p[c] = p[c - 1];
              p[0] = neighbour;
            },
            row, left);
      }
      this->write(sink, j, row);
    }
  }
};

/// Such a tile that was parked in scratch and is taken up again.
template <class Rows>
class parked_sums : public scanned_rows<Rows> {
  using base = scanned_rows<Rows>;
  using team = typename Rows::team_type;
  using T = typename Rows::value_type;
  using typename base::packs;
  static constexpr int width = Rows::width;

 public:
  struct parked {
    alignas(16) alignas(T) raw_array<T, Rows::items> item;
    T total;
    std::int64_t first;
    std::int64_t n;
  };

  static LANEWISE_FUNCTION void fill(const Rows& rows, parked& place, const T& total) {
    const auto warp = rows.team().warp();
    packs* to = packs_of(rows.team(), place);
    LANEWISE_UNROLL
    for (int j = 0; j < Rows::rows; ++j) warp.store(to + j * width, rows.row(j));
    rows.team().once([&] {
      place.total = total;
      place.first = rows.first();
      place.n = rows.first() + rows.count();
    });
  }

  LANEWISE_FUNCTION parked_sums(const team& t, parked& place)
      : base(t, place.first, place.n), place_(place) {
    if (t.warp_index() > 0 && this->mine_ > 0)
      this->in_front_ = {place.item.data()[t.warp_index() * Rows::segment - 1], true};
  }

  template <class Op>
  LANEWISE_FUNCTION T end(const maybe<T>& before, Op op) const {
    return before.present ? op(before.value, place_.total) : place_.total;
  }

  template <class Sink, class Op>
  LANEWISE_FUNCTION void store_inclusive(const Sink& sink, const maybe<T>& before, Op op) {
    this->template put<false>(sink, before, op, parked_row{*this});
  }
  template <class Sink, class Op>
  LANEWISE_FUNCTION void store_exclusive(const Sink& sink, const maybe<T>& before, Op op) {
    this->template put<true>(sink, before, op, parked_row{*this});
  }

 private:
  struct parked_row {
    const parked_sums& tile;
    LANEWISE_FUNCTION auto operator()(int j) const {
      return tile.team_.warp().load(packs_of(tile.team_, tile.place_) + j * width);
    }
  };
  static LANEWISE_FUNCTION packs* packs_of(const team& team, parked& place) {
    return reinterpret_cast<packs*>(place.item.data()) +
           team.warp_index() * (Rows::segment / Rows::v);
  }

  parked& place_;
};

/// A tile in registers that can be scanned.
template <class Team, class T, int items_per_lane>
class device_tile : public scanned_rows<register_tile<Team, T, items_per_lane>> {
  using row_type = register_tile<Team, T, items_per_lane>;
  using base = scanned_rows<row_type>;

 public:
  using base::items;
  using base::row_items;
  using base::rows;
  using base::segment;
  using base::store;
  using base::v;
  using base::width;

  struct scratch {
    raw_array<T, Team::warps> per_warp;
    raw_array<T, Team::warps> last;
  };
  using resumed = parked_sums<row_type>;
  using parked = typename resumed::parked;

  template <class Source>
  LANEWISE_FUNCTION device_tile(const Team& team, scratch& shared, const Source& source,
                                std::int64_t first, std::int64_t n)
      : base(team, source, first, n), shared_(shared) {}

  /// Scans the tile within each row and finds the total. Call before store_inclusive or
  /// store_exclusive.
  template <class Op>
  LANEWISE_FUNCTION void scan(Op op) {
    if (whole_tile_) {
      scan_rows<true>(op);
    } else {
      scan_rows<false>(op);
    }
    if constexpr (Team::warps == 1) {
      total_ = segment_total_;
    } else {
      const auto warp = team_.warp();
      T* per_warp = shared_.per_warp.data();
      if (mine_ > 0) warp.once([&] { per_warp[team_.warp_index()] = segment_total_; });
      team_.barrier();
      const int warps = (count_ + segment - 1) / segment;
      if (warps > 0) detail::fold_warps(team_, per_warp, warps, op, before_warp_, total_);
    }
  }

  /// The ordered combination of all items; needs count() > 0.
  LANEWISE_FUNCTION const T& total() const { return total_; }
  /// What the stores need where the total is not asked for.
  static constexpr bool stores_unscanned = false;
  template <class Op>
  LANEWISE_FUNCTION void prepare(Op op) {
    scan(op);
  }
  /// The combination of `before` and the tile, after a store.
  template <class Op>
  LANEWISE_FUNCTION T end(const maybe<T>& before, Op op) const {
    return before.present ? op(before.value, total_) : total_;
  }

  /// Leaves the scan of the tile in scratch. Call after scan(op).
  template <class Op>
  LANEWISE_FUNCTION void park(parked& place, Op op) {
    combine_rows(op);
    resumed::fill(*this, place, total_);
  }

  /// store_adjacent to the array that the items come from; `before` is the item before the
  /// tile. All warps of the team call it.
  template <class Sink, class Op>
  LANEWISE_FUNCTION void store_adjacent_in_place(const T& before, const Sink& sink, Op op) {
    find_in_front();
    const T& in_front = this->in_front_.present ? this->in_front_.value : before;
    if (whole_segment_ && this->row_first(0) > 0) {
      this->template store_neighbours<true>(in_front, sink, op);
    } else {
      this->template store_neighbours<false>(in_front, sink, op);
    }
  }

  template <class Sink, class Op>
  LANEWISE_FUNCTION void store_inclusive(const Sink& sink, const maybe<T>& before, Op op) {
    combine_rows(op);
    this->template put<false>(sink, before, op, [&](int j) { return row_[j]; });
  }
  template <class Sink, class Op>
  LANEWISE_FUNCTION void store_exclusive(const Sink& sink, const maybe<T>& before, Op op) {
    combine_rows(op);
    find_in_front();
    this->template put<true>(sink, before, op, [&](int j) { return row_[j]; });
  }

 private:
  using typename base::packs;
  template <class U>
  using lanes = typename base::template lanes<U>;
  using base::count_;
  using base::lane_index_;
  using base::mine_;
  using base::row_;
  using base::row_count;
  using base::team_;
  using base::whole_segment_;
  using base::whole_tile_;

  /// In every row: items become inclusive scans within their lane, lane_sum_ the inclusive scan
  /// over the lanes' totals.
  template <bool full, class Op>
  LANEWISE_FUNCTION void scan_rows(Op op) {
    const auto warp = team_.warp();
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      const int n = full ? row_items : row_count(j);
      warp.each(
          [&](packs& p, std::uint32_t lane) {
            const int valid = full ? v : n - static_cast<int>(lane) * v;
            LANEWISE_UNROLL
            for (int c = 1; c < v; ++c) {
              if (full || c < valid) p[c] = op(p[c - 1], p[c]);
            }
          },
          row_[j], lane_index_);
    }
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      const int n = full ? row_items : row_count(j);
      lane_sum_[j] = warp.scan_by_doubling(warp.map(
                                               [&](const packs& p, std::uint32_t lane) {
                                                 if constexpr (full) return p[v - 1];
                                                 const int valid = n - static_cast<int>(lane) * v;
                                                 T last = p[0];
                                                 LANEWISE_UNROLL
                                                 for (int c = 1; c < v; ++c) {
                                                   if (c < valid) last = p[c];
                                                 }
                                                 return last;
                                               },
                                               row_[j], lane_index_),
                                           op, full ? width : (n + v - 1) / v);
    }
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      const int n = full ? row_items : row_count(j);
      if (n > 0) {
        const T row_total = warp.broadcast(lane_sum_[j], full ? width - 1 : (n + v - 1) / v - 1);
        segment_total_ = j == 0 ? row_total : op(segment_total_, row_total);
      }
    }
  }

  /// Asks the warp in front for its last item. All warps of the team meet here.
  LANEWISE_FUNCTION void find_in_front() {
    if constexpr (Team::warps > 1) {
      const auto warp = team_.warp();
      T* last = shared_.last.data();
      if (whole_segment_) {
        const T mine = warp.broadcast(
            warp.map([](const packs& p) { return p[v - 1]; }, row_[rows - 1]), width - 1);
        warp.once([&] { last[team_.warp_index()] = mine; });
      }
      team_.barrier();
      if (team_.warp_index() > 0 && mine_ > 0)
        this->in_front_ = {last[team_.warp_index() - 1], true};
    }
  }

  /// Items become the inclusive scan of the tile.
  template <class Op>
  LANEWISE_FUNCTION void combine_rows(Op op) {
    if (whole_tile_) {
      combine_rows<true>(op);
    } else {
      combine_rows<false>(op);
    }
  }
  template <bool full, class Op>
  LANEWISE_FUNCTION void combine_rows(Op op) {
    const auto warp = team_.warp();
    maybe<T> before = before_warp_;
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      const int n = full ? row_items : row_count(j);
      if (!full && n == 0) return;
      const T row_total = warp.broadcast(lane_sum_[j], full ? width - 1 : (n + v - 1) / v - 1);
      const auto left = warp.shuffle_up(lane_sum_[j], 1);
      warp.each(
          [&](packs& p, const T& sum_of_lanes, std::uint32_t lane) {
            const int valid = full ? v : n - static_cast<int>(lane) * v;
            if ((!full && valid <= 0) || (!before.present && lane == 0)) return;
            T prefix = lane > 0 ? sum_of_lanes : before.value;
            if (before.present && lane > 0) prefix = op(before.value, sum_of_lanes);
            LANEWISE_UNROLL
            for (int c = 0; c < v; ++c) {
              if (full || c < valid) p[c] = op(prefix, p[c]);
            }
          },
          row_[j], left, lane_index_);
      before.value = before.present ? op(before.value, row_total) : row_total;
      before.present = true;
    }
  }

  scratch& shared_;
  lanes<T> lane_sum_[rows];
  T segment_total_;
  T total_;
  /// What the tile has before this warp's segment.
  maybe<T> before_warp_{{}, false};
};

/// What a lane loads of a source for each item: the item, unless the source computes more.
template <class Source>
struct loaded {
  using type = typename Source::value_type;
};

/// Item i of an array source, which lies in memory as raw.
template <class Source, class Raw>
LANEWISE_FUNCTION auto item_from(const Source& source, const Raw& raw, std::int64_t i) {
  if constexpr (requires { source.from_raw(raw, i); }) {
    return source.from_raw(raw, i);
  } else {
    return source.from_raw(raw);
  }
}

/// Adds a lane's items of the rows that begin at item `at` to its running value, or begins with
/// them. A source that is folded in another way specialises this.
template <class Source>
struct row_fold {
  template <class Rows, class W, class Raws, std::size_t rows, class Sums, class Op>
  static LANEWISE_FUNCTION void add(const W& warp, const Source& source, const Raws (&in)[rows],
                                    std::int64_t at, bool begins, Sums& sum, Op op) {
    const auto lane = warp.lane();
    LANEWISE_UNROLL
    for (int j = 0; j < Rows::rows; ++j) {
      const bool fresh = begins && j == 0;
      warp.each(
          [&](auto& s, const auto& raw, std::uint32_t l) {
            const std::int64_t i = at + j * Rows::row_items + l * Rows::v;
            const auto item = [&](int c) { return detail::item_from(source, raw[c], i + c); };
            s = fresh ? item(0) : op(s, item(0));
            LANEWISE_UNROLL
            for (int c = 1; c < Rows::v; ++c) s = op(s, item(c));
          },
          sum, in[j], lane);
    }
  }
};

/// Adds few items [first, last) to what the team's lanes have summed up, if that is present, and
/// combines all of it.
template <class Team, class T, class Source, class Op>
LANEWISE_FUNCTION maybe<T> reduce_lanes(const Team& team, T* per_warp, const Source& source,
                                        std::int64_t first, std::int64_t last, bool present,
                                        lanes_t<typename Team::warp_type, T>& sum, Op op) {
  constexpr int width = Team::warp_type::width;
  constexpr int threads = Team::warps * width;
  const auto warp = team.warp();
  const auto lane = warp.lane();
  const std::int64_t mine = first + std::int64_t{team.warp_index()} * width;
  for (std::int64_t at = mine; at < last; at += threads) {
    warp.each(
        [&](T& s, std::uint32_t l) {
          if (at + l < last) {
            const T x = source(at + l);
            s = present || at != mine ? op(s, x) : x;
          }
        },
        sum, lane);
  }
  const std::int64_t left = last - mine;
  const int used = present || left >= width ? width : static_cast<int>(left < 0 ? 0 : left);
  if (used > 0) {
    const T warp_sum = warp.reduce(sum, op, used);
    warp.once([&] { per_warp[team.warp_index()] = warp_sum; });
  }
  team.barrier();
  const std::int64_t warps = divide_up(last - first, width);
  const int parts = present || warps > Team::warps ? Team::warps : static_cast<int>(warps);
  if (parts == 0) return {{}, false};
  maybe<T> before;
  maybe<T> total{{}, true};
  detail::fold_warps(team, per_warp, parts, op, before, total.value);
  team.barrier();
  return total;
}

/// Reduces items [first, last) of a source, which may span many tiles, in registers. The result is
/// the team's; present when the range is not empty. Commutative operators keep one running value
/// per lane and meet once at the end.
template <class T, int items_per_lane, class Team, class Source, class Op>
LANEWISE_FUNCTION maybe<T> device_reduce_range(const Team& team, T* per_warp, const Source& source,
                                               std::int64_t first, std::int64_t last, Op op) {
  const auto warp = team.warp();
  // Wide items leave room for fewer.
  constexpr auto per_lane = [](std::size_t bytes) {
    return bytes >= 16 && items_per_lane % 4 == 0 ? 4 : items_per_lane;
  };
  if constexpr (has_arrays<Source> && is_commutative<Op, T>) {
    using rows_type = register_tile<Team, T, per_lane(sizeof(T))>;
    lanes_t<typename Team::warp_type, T> sum;
    const std::int64_t whole_tiles = (last - first) / rows_type::items;
    for (std::int64_t tile = 0; tile < whole_tiles; ++tile) {
      const rows_type rows(team, source, first + tile * rows_type::items, last);
      LANEWISE_UNROLL
      for (int j = 0; j < rows_type::rows; ++j) {
        const bool fresh = tile == 0 && j == 0;
        warp.each(
            [&](T& s, const auto& p) {
              s = fresh ? p[0] : op(s, p[0]);
              LANEWISE_UNROLL
              for (int c = 1; c < rows_type::v; ++c) s = op(s, p[c]);
            },
            sum, rows.row(j));
      }
    }
    const std::int64_t loose = first + whole_tiles * rows_type::items;
    return detail::reduce_lanes(team, per_warp, source, loose, last, whole_tiles > 0, sum, op);
  } else if constexpr (Source::contiguous && is_commutative<Op, T>) {
    using item = typename loaded<Source>::type;
    using tile_type = device_tile<Team, item, per_lane(sizeof(item))>;
    constexpr int v = tile_type::v;
    constexpr int width = tile_type::width;
    lanes_t<typename Team::warp_type, T> sum;
    using raw = pack<typename Source::raw_type, v>;
    using raw_lanes = lanes_t<typename Team::warp_type, raw>;
    // The ragged ends go item by item, so that everything between is aligned.
    const auto misaligned = reinterpret_cast<std::uintptr_t>(source.data + first) % alignof(raw);
    const bool alignable = misaligned % sizeof(typename Source::raw_type) == 0;
    std::int64_t body = misaligned == 0
                            ? first
                            : first + static_cast<std::int64_t>((alignof(raw) - misaligned) /
                                                                sizeof(typename Source::raw_type));
    if (!alignable || body > last) body = last;
    const std::int64_t whole_tiles = (last - body) / tile_type::items;
    const std::int64_t body_end = body + whole_tiles * tile_type::items;
    bool present = whole_tiles > 0;
    for (std::int64_t tile = 0; tile < whole_tiles; ++tile) {
      const std::int64_t at =
          body + tile * tile_type::items + team.warp_index() * tile_type::segment;
      const auto* address = reinterpret_cast<const raw*>(source.data + at);
      raw_lanes in[tile_type::rows];
      LANEWISE_UNROLL
      for (int j = 0; j < tile_type::rows; ++j) in[j] = warp.load_streaming(address + j * width);
      row_fold<Source>::template add<tile_type>(warp, source, in, at, tile == 0, sum, op);
    }
    const int threads = Team::warps * width;
    const std::int64_t loose = (body - first) + (last - body_end);
    const auto place =
        warp.map([&](std::uint32_t lane) { return std::int64_t{team.warp_index()} * width + lane; },
                 warp.lane());
    for (std::int64_t base = 0; base < loose; base += threads) {
      warp.each(
          [&](T& s, std::int64_t i) {
            i += base;
            if (i < loose) {
              const T x = source(i < body - first ? first + i : body_end + (i - (body - first)));
              s = present || base > 0 ? op(s, x) : x;
            }
          },
          sum, place);
    }
    const std::int64_t lanes_used = present ? threads : (loose < threads ? loose : threads);
    if (lanes_used == 0) return {{}, false};
    const std::int64_t left = lanes_used - std::int64_t{team.warp_index()} * width;
    const int mine = static_cast<int>(left < 0 ? 0 : (left < width ? left : width));
    if (mine > 0) {
      const T warp_sum = warp.reduce(sum, op, mine);
      warp.once([&] { per_warp[team.warp_index()] = warp_sum; });
    }
    team.barrier();
    maybe<T> before;
    maybe<T> total{{}, true};
    detail::fold_warps(team, per_warp, static_cast<int>((lanes_used + width - 1) / width), op,
                       before, total.value);
    team.barrier();
    return total;
  } else {
    using tile_type = device_tile<Team, T, per_lane(sizeof(T))>;
    maybe<T> total{{}, false};
    for (std::int64_t at = first; at < last; at += tile_type::items) {
      tile_type tile(team, *reinterpret_cast<typename tile_type::scratch*>(per_warp), source, at,
                     last);
      tile.scan(op);
      total.value = total.present ? op(total.value, tile.total()) : tile.total();
      total.present = true;
      team.barrier();
    }
    return total;
  }
}

}  // namespace detail
LANEWISE_END_NAMESPACE
