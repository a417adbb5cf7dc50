// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/merge/detail/merged_runs.hpp>
#include <lanewise/team/policy.hpp>
#include <lanewise/tile/merge_tile.hpp>
#include <lanewise/tile/tile_sort.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Runs of a sort by teams of several warps. The pieces of up to four of them come to scratch and
/// are merged there in pairs, twice.
///
/// Items move in packs of up to 16 bytes, so a piece lies in scratch as it lies in its array: the
/// items beside it that are in the same packs come along.
template <class Team, class T, class Policy>
class device_merging {
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;
  static constexpr int k = Policy::items_per_lane;
  static constexpr int merged = Team::warps * width * k;
  static constexpr int per_pack = items_of_pack<T>;
  /// Either pair of pieces begins with a lane, and every piece with a pack.
  static constexpr int places = (merged + 8 * per_pack + 2 * k) / per_pack * per_pack;
  template <class U>
  using lanes = lanes_t<warp_type, U>;
  using place = place_for<places>;
  using sorts = device_tile_sort<Team, T, merged>;

 public:
  static constexpr int ways = 4;
  static constexpr int items = merged - k + 1 < 32 ? merged - k + 1 : (merged - k + 1) / 32 * 32;

  template <bool ordered>
  struct scratch {
    alignas(alignof(T) > 16 ? alignof(T) : 16) raw_array<T, places> item;
    place from[ordered ? places : 1];
    run_pieces piece;
  };

  /// Sorts items [first, first + n) of a source to the same places of out. move(i, j) is told that
  /// item i was item j.
  template <bool ordered, class Source, class Less, class Move>
  static LANEWISE_FUNCTION void sort(const Team& team, scratch<ordered>& shared,
                                     const Source& source, std::int64_t first, int n,
                                     const Less& less, T* out, const Move& move) {
    T* const item = shared.item.data();
    detail::fetch_rows<k>(team, item, n, [&](int i) -> T { return source(first + i); });
    if constexpr (ordered) {
      sorts::template sort<true>(team, shared.from, item, n, less);
      detail::put_in_two_steps<k>(
          team, static_cast<const place*>(shared.from), n,
          [&](place from) LANEWISE_INLINE_LAMBDA { return move.load(first + from); },
          [&](int i, place, const auto& value)
              LANEWISE_INLINE_LAMBDA { move.store(first + i, value); });
    } else {
      sorts::template sort<true>(team, item, n, less);
    }
    detail::store_packs(team, item, n, out + first);
    team.barrier();
  }

  /// Merges what belongs to tile t of the output. Without cuts a warp searches, for runs in pairs.
  template <bool ordered, class Less, class Move>
  static LANEWISE_FUNCTION void merge(const Team& team, scratch<ordered>& shared, const T* in,
                                      const equal_runs& runs, const std::int64_t* cuts,
                                      std::int64_t t, const Less& less, T* out, const Move& move) {
    const auto warp = team.warp();
    const array_source<T, identity> source{in, runs.n, {}};
    if (team.warp_index() == 0) {
      const run_pieces found =
          cuts != nullptr ? runs.pieces<items>(cuts, t) : runs.pieces<items>(warp, source, t, less);
      warp.once([&] { shared.piece = found; });
    }
    team.barrier();
    const run_pieces piece = shared.piece;
    T* const item = shared.item.data();
    const int n = piece.end[3];
    array_piece<T> pieces[4];
    LANEWISE_UNROLL
    for (int q = 0; q < 4; ++q) {
      const int before = q == 0 ? 0 : piece.end[q - 1];
      pieces[q] = {in, runs.n, piece.shift[q] + before, piece.end[q] - before};
    }
    // As many rows at once as pieces of equal lengths have.
    constexpr int threads = Team::warps * width;
    constexpr int rows = (places / per_pack / 4 + threads - 1) / threads;
    const auto at = detail::fetch_packs<rows>(team, item, pieces);
    team.barrier();

    auto own = (lanes<int>(team.warp_index() * width) + warp.template cast<int>(warp.lane())) *
               lanes<int>(k);
    const int half = piece.end[1];
    const bool is_pair = half == n;
    // The second pair goes to places from `second` on, where a lane begins.
    const int second = is_pair ? n : (half + k - 1) / k * k;
    merge_pairs<ordered, false>(
        team, shared, own, second + n - half,
        [&](int first, int& skip) {
          skip = first < second ? first : first - second;
          return first < second ? run_pair{at.begin[0], at.end[0], at.begin[1], at.end[1]}
                                : run_pair{at.begin[2], at.end[2], at.begin[3], at.end[3]};
        },
        less);
    if (!is_pair) {
      merge_pairs<ordered, true>(
          team, shared, own, n,
          [&](int first, int& skip) {
            skip = first;
            return run_pair{0, half, second, second + n - half};
          },
          less);
    }
    if constexpr (ordered) {
      // What the index of an item in scratch needs to become its index in the input.
      std::int64_t shift[4];
      LANEWISE_UNROLL
      for (int q = 0; q < 4; ++q)
        shift[q] = piece.shift[q] + (q == 0 ? 0 : piece.end[q - 1]) - at.begin[q];
      detail::put_in_two_steps<k>(
          team, static_cast<const place*>(shared.from), n,
          [&](place from) LANEWISE_INLINE_LAMBDA {
            const int pack = from / per_pack;
            const std::int64_t front = pack < at.packs[0] ? shift[0] : shift[1];
            const std::int64_t after = pack < at.packs[2] ? shift[2] : shift[3];
            return move.load(from + (pack < at.packs[1] ? front : after));
          },
          [&](int i, place, const auto& value)
              LANEWISE_INLINE_LAMBDA { move.store(piece.first + i, value); });
    }
    detail::store_packs(team, item, n, out + piece.first);
    team.barrier();
  }

 private:
  /// Every lane with a place before `end` merges k items to the places from its own first on:
  /// of the runs that runs_of(first, skip) returns, `skip` items after their beginning. again:
  /// places of items have been noted before.
  template <bool ordered, bool again, class Runs, class Less>
  static LANEWISE_FUNCTION void merge_pairs(const Team& team, scratch<ordered>& shared,
                                            lanes<int>& own, int end, const Runs& runs_of,
                                            const Less& less) {
    using items_of_lane = pack<T, k>;
    using places_of_lane = pack<place, ordered ? k : 1>;
    const auto warp = team.warp();
    T* const item = shared.item.data();
    place* const from = shared.from;
    const auto exists = own < end;
    lanes<items_of_lane> x;
    lanes<places_of_lane> p;
    warp.each(
        exists,
        [&](items_of_lane& y, [[maybe_unused]] places_of_lane& q, int first) {
          int skip;
          run_pair runs = runs_of(first, skip);
          detail::skip_items<places>(static_cast<const T*>(item), runs, skip, less);
          detail::merge_items<k, true>(static_cast<const T*>(item), runs, less,
                                       [&](int c, const T& z, [[maybe_unused]] int at, bool)
                                           LANEWISE_INLINE_LAMBDA {
                                             y[c] = z;
                                             if constexpr (ordered)
                                               q[c] = again ? from[at] : static_cast<place>(at);
                                           });
        },
        x, p, own);
    team.barrier();
    warp.each(
        exists,
        [&](const items_of_lane& y, [[maybe_unused]] const places_of_lane& q, int first) {
          LANEWISE_UNROLL
          for (int c = 0; c < k; ++c) {
            item[first + c] = y[c];
            if constexpr (ordered) from[first + c] = q[c];
          }
        },
        x, p, own);
    team.barrier();
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
