// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/select/detail/three_ways.hpp>
#include <lanewise/tile/register/ranks.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// The items of a tile, brought together by their ways in scratch.
template <class Rows>
class parked_three_ways {
  using T = typename Rows::value_type;
  using team = typename Rows::team_type;

 public:
  struct parked {
    alignas(16) alignas(T) raw_array<T, Rows::items> item;
    std::int64_t first;
    std::uint32_t end[3];  // of the items of every way
  };

  LANEWISE_FUNCTION parked_three_ways(const team& t, parked& place) : team_(t), place_(place) {}

  LANEWISE_FUNCTION selection_state total() const {
    return selection_state::of(place_.end[0], place_.end[1] - place_.end[0]);
  }

  template <class One, class Two, class Three>
  LANEWISE_FUNCTION void write(const One& one, const Two& two, const Three& rest,
                               const selection_state& before) const {
    put(one, before.count(), 0, place_.end[0]);
    put(two, before.end(), place_.end[0], place_.end[1]);
    put(rest, place_.first - before.count() - before.end(), place_.end[1], place_.end[2]);
  }

 private:
  template <class Sink>
  LANEWISE_FUNCTION void put(const Sink& sink, std::int64_t start, std::uint32_t from,
                             std::uint32_t to) const {
    const T* item = place_.item.data() + from;
    detail::for_each_place(team_, sink, start, 0, to - from,
                           [&](int k) { sink(start + k, item[k]); });
  }

  const team& team_;
  parked& place_;
};

/// A tile in registers whose items go three ways.
template <class Team, class T, int items_per_lane, class Ways>
class device_three_ways : public register_tile<Team, T, items_per_lane> {
  using base = register_tile<Team, T, items_per_lane>;
  using ranks = device_ranks<base, false>;
  static_assert(items_per_lane <= 32, "a lane's marks are one word");

 public:
  using base::v;
  static constexpr bool stores_unscanned = false;
  struct scratch {
    typename ranks::scratch one, two;
  };
  using resumed = parked_three_ways<base>;
  using parked = typename resumed::parked;

  template <class Source>
  LANEWISE_FUNCTION device_three_ways(const Team& team, scratch& shared, const Source& source,
                                      const Ways& ways, std::int64_t first, std::int64_t n)
      : base(team, source, first, n), shared_(shared), ways_(ways), n_(n) {}

  /// All warps of the team call it once, before the rest.
  LANEWISE_FUNCTION selection_state total() {
    one_ = ranks(*this, shared_.one, detail::bits_of(*this, ways_.one(), T{}, n_));
    two_ = ranks(*this, shared_.two, detail::bits_of(*this, ways_.two(), T{}, n_));
    return selection_state::of(one_.count(), two_.count());
  }

  /// Brings the items of every way together in scratch. A barrier must follow.
  template <class Op>
  LANEWISE_FUNCTION void park(parked& place, Op) {
    const auto warp = team_.warp();
    lanes<std::uint32_t> in_front[base::rows];
    one_.for_each_row([&](int j, const auto& before) { in_front[j] = before; });
    two_.for_each_row([&](int j, const auto& before) {
      const parking row{
          place, one_.count(), one_.count() + two_.count(),
          static_cast<std::uint32_t>(team_.warp_index() * base::segment + j * base::row_items),
          j * v};
      warp.each(row, row_[j], one_.marks(), two_.marks(), in_front[j], before, lane_index_);
    });
    team_.once([&] {
      place.first = first_;
      place.end[0] = one_.count();
      place.end[1] = one_.count() + two_.count();
      place.end[2] = static_cast<std::uint32_t>(this->count());
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
    std::uint32_t first_of_two, first_of_rest;
    std::uint32_t row_first;
    int first_bit;

    LANEWISE_FUNCTION void operator()(const packs& p, std::uint32_t one, std::uint32_t two,
                                      std::uint32_t before_one, std::uint32_t before_two,
                                      std::uint32_t lane) const {
      const std::uint32_t index = row_first + lane * v;
      T* to_one = place.item.data() + before_one;
      T* to_two = place.item.data() + (first_of_two + before_two);
      // Items that do not exist find places after all others.
      T* to_rest = place.item.data() + (first_of_rest + index - before_one - before_two);
      LANEWISE_UNROLL
      for (int c = 0; c < v; ++c) {
        if (((one >> (first_bit + c)) & 1) != 0) {
          *to_one++ = p[c];
        } else if (((two >> (first_bit + c)) & 1) != 0) {
          *to_two++ = p[c];
        } else {
          *to_rest++ = p[c];
        }
      }
    }
  };

  scratch& shared_;
  const Ways& ways_;
  std::int64_t n_;
  ranks one_, two_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
