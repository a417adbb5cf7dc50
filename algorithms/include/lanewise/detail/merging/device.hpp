// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/merging/runs.hpp>
#include <lanewise/merge_tile.hpp>
#include <lanewise/policy.hpp>
#include <lanewise/tile_sort.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Runs of a sort by teams of several warps. The pieces of up to four of them come to scratch and
/// are merged there in pairs, twice.
template <class Team, class T, class Policy>
class device_merging {
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;
  static constexpr int k = Policy::items_per_lane;
  static constexpr int places = Team::warps * width * k;
  template <class U>
  using lanes = typename warp_type::template lanes<U>;
  using place = place_for<places>;
  using lane_runs = detail::lane_runs<warp_type>;
  using sorts = device_tile_sort<Team, T, places>;

 public:
  static constexpr int ways = 4;
  /// Fewer than places by a lane's: either pair of pieces begins with a lane.
  static constexpr int items = places - k + 1 < 32 ? places - k + 1 : (places - k + 1) / 32 * 32;

  template <bool ordered>
  struct scratch {
    raw_array<T, places> item;
    place from[ordered ? places : 1];
    run_pieces piece;
  };

  /// Sorts items [first, first + n) of a source: put(i, x, from) for every item x, which was number
  /// `from` and is number i.
  template <bool ordered, class Source, class Less, class Put>
  static LANEWISE_FUNCTION void sort(const Team& team, scratch<ordered>& shared,
                                     const Source& source, std::int64_t first, int n,
                                     const Less& less, const Put& put) {
    T* const item = shared.item.data();
    fetch_rows<k>(team, item, n, [&](int i) -> T { return source(first + i); });
    if constexpr (ordered) {
      sorts::sort(team, shared.from, item, n, less);
    } else {
      sorts::sort(team, item, n, less);
    }
    hand_over(team, shared, n,
              [&](int i, const T& x, int from) { put(first + i, x, first + from); });
  }

  /// Merges what belongs to tile t of the output. Without cuts a warp searches, for runs in pairs.
  template <bool ordered, class Source, class Less, class Put>
  static LANEWISE_FUNCTION void merge(const Team& team, scratch<ordered>& shared,
                                      const Source& source, const equal_runs& runs,
                                      const std::int64_t* cuts, std::int64_t t, const Less& less,
                                      const Put& put) {
    const auto warp = team.warp();
    if (team.warp_index() == 0) {
      const run_pieces found =
          cuts != nullptr ? runs.pieces<items>(cuts, t) : runs.pieces<items>(warp, source, t, less);
      warp.once([&] { shared.piece = found; });
    }
    team.barrier();
    const run_pieces piece = shared.piece;
    const int n = piece.end[3];
    fetch_rows<k>(team, shared.item.data(), n, [&](int i) -> T { return source(piece.index(i)); });
    team.barrier();

    const lanes<int> own =
        (lanes<int>(team.warp_index() * width) + warp.template cast<int>(warp.lane())) *
        lanes<int>(k);
    if (piece.end[1] == n) {
      const lane_runs pair{lanes<int>(0), lanes<int>(piece.end[0]), lanes<int>(piece.end[0]),
                           lanes<int>(n)};
      merge_pair<ordered, false>(team, shared, pair, own, own, lanes<int>(n), less);
    } else {
      // The second pair goes to places from `second` on, where a lane begins.
      const int half = piece.end[1], second = (half + k - 1) / k * k, end = second + n - half;
      const auto in_front = own < second;
      const lane_runs pairs{select(in_front, lanes<int>(0), lanes<int>(half)),
                            select(in_front, lanes<int>(piece.end[0]), lanes<int>(piece.end[2])),
                            select(in_front, lanes<int>(piece.end[0]), lanes<int>(piece.end[2])),
                            select(in_front, lanes<int>(half), lanes<int>(n))};
      merge_pair<ordered, false>(team, shared, pairs, own,
                                 own - select(in_front, lanes<int>(0), lanes<int>(second)),
                                 select(in_front, lanes<int>(half), lanes<int>(end)), less);
      const lane_runs both{lanes<int>(0), lanes<int>(half), lanes<int>(second), lanes<int>(end)};
      merge_pair<ordered, true>(team, shared, both, own, own, lanes<int>(n), less);
    }
    hand_over(team, shared, n,
              [&](int i, const T& x, int from) { put(piece.first + i, x, piece.index(from)); });
  }

 private:
  /// Every lane merges k items of its pair of runs, `distance` behind their beginning, to the
  /// places from `own` on that lie in front of `end`. again: places of items have been noted
  /// before.
  template <bool ordered, bool again, class Less>
  static LANEWISE_FUNCTION void merge_pair(const Team& team, scratch<ordered>& shared,
                                           lane_runs runs, const lanes<int>& own,
                                           const lanes<int>& distance, const lanes<int>& end,
                                           const Less& less) {
    const auto warp = team.warp();
    T* const item = shared.item.data();
    const auto exists = [&](int c) LANEWISE_INLINE_LAMBDA { return own + lanes<int>(c) < end; };
    lanes<T> x[k];
    lanes<place> p[ordered ? k : 1];
    skip_by_lanes(warp, exists(0), static_cast<const T*>(item), runs, distance, less);
    merge_by_lanes<k>(warp, exists(0), static_cast<const T*>(item), runs, less,
                      [&](int c, const lanes<T>& y, [[maybe_unused]] const lanes<int>& at)
                          LANEWISE_INLINE_LAMBDA {
                            x[c] = y;
                            if constexpr (ordered && again) {
                              p[c] = warp.gather(exists(c), shared.from, at, place{0});
                            } else if constexpr (ordered) {
                              p[c] = warp.template cast<place>(at);
                            }
                          });
    team.barrier();
    LANEWISE_UNROLL
    for (int c = 0; c < k; ++c) {
      warp.scatter(exists(c), item + c, own, x[c]);
      if constexpr (ordered) warp.scatter(exists(c), shared.from + c, own, p[c]);
    }
    team.barrier();
  }

  /// put(i, x, place) for every place i of the tile.
  template <bool ordered, class Put>
  static LANEWISE_FUNCTION void hand_over(const Team& team, scratch<ordered>& shared, int n,
                                          const Put& put) {
    const T* const item = shared.item.data();
    if constexpr (ordered) {
      const auto warp = team.warp();
      auto lane = warp.template cast<int>(warp.lane());
      for (int at = team.warp_index() * width; at < n; at += Team::warps * width) {
        const auto here = warp.first(n - at);
        auto x = warp.load(here, item + at, T{});
        auto from = warp.load(here, shared.from + at, place{0});
        warp.each(
            here, [&](const T& y, place p, int l) { put(at + l, y, static_cast<int>(p)); }, x, from,
            lane);
      }
    } else {
      put_rows(team, item, n, [&](int i, const T& x) { put(i, x, 0); });
    }
    team.barrier();
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
