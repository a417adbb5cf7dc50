// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/scratch_items.hpp>
#include <lanewise/search.hpp>
#include <lanewise/team.hpp>

#include <cstdint>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// A place in a team's scratch.
template <int places>
using place_for = std::conditional_t<(places <= 1 << 16), std::uint16_t, std::uint32_t>;

/// Two sorted runs of every lane in an array in scratch: places [a, a_end) and [b, b_end).
template <class W>
struct lane_runs {
  using places = typename W::template lanes<int>;
  places a;
  places a_end;
  places b;
  places b_end;
};

/// Merge path by lanes: every active lane leaves out the first `distance` items of the merge of its
/// runs. Rounds until the last lane is there; gathers keep step.
template <class T, class W, class Mask, class Less>
LANEWISE_FUNCTION void skip_by_lanes(const W& warp, const Mask& active, const T* items,
                                     lane_runs<W>& runs,
                                     const typename lane_runs<W>::places& distance,
                                     const Less& less) {
  using places = typename lane_runs<W>::places;
  const auto smaller = [&](const places& x, const places& y) { return warp.map(minimum{}, x, y); };
  places most = smaller(distance, runs.a_end - runs.a);
  places least = warp.map(maximum{}, distance - (runs.b_end - runs.b), places(0));
  for (auto open = active & (least < most); warp.any(open); open = active & (least < most)) {
    const places middle = (least + most) >> places(1);
    const auto x = warp.gather(open, items, runs.a + middle, T{});
    const auto y = warp.gather(open, items, runs.b + distance - places(1) - middle, T{});
    const auto behind = less_by_lanes<W, Mask, Less, T>(warp, open, less, y, x);
    most = select(behind, middle, most);
    least = select(open & !behind, middle + places(1), least);
  }
  runs.a = runs.a + least;
  runs.b = runs.b + (distance - least);
}

/// Merges the next items of every active lane's runs: f(c, item, place) gets the items c = 0 ...
/// k-1 and where in the array they are. Where no item is left, both are meaningless. As many steps
/// for every lane, a gather each.
template <int k, class T, class W, class Mask, class Less, class F>
LANEWISE_FUNCTION void merge_by_lanes(const W& warp, const Mask& active, const T* items,
                                      lane_runs<W> runs, const Less& less, F f) {
  using places = typename lane_runs<W>::places;
  auto has_a = active & (runs.a < runs.a_end);
  auto has_b = active & (runs.b < runs.b_end);
  auto x = warp.gather(has_a, items, runs.a, T{});
  auto y = warp.gather(has_b, items, runs.b, T{});
  LANEWISE_UNROLL
  for (int c = 0; c < k; ++c) {
    const auto b_first =
        has_b & (less_by_lanes<W, Mask, Less, T>(warp, has_a & has_b, less, y, x) | !has_a);
    f(c, select(b_first, y, x), select(b_first, runs.b, runs.a));
    if (c + 1 < k) {
      runs.a = select(b_first, runs.a, runs.a + places(1));
      runs.b = select(b_first, runs.b + places(1), runs.b);
      has_a = active & (runs.a < runs.a_end);
      has_b = active & (runs.b < runs.b_end);
      const auto next = warp.gather((b_first & has_b) | (has_a & !b_first), items,
                                    select(b_first, runs.b, runs.a), T{});
      x = select(b_first, x, next);
      y = select(b_first, next, y);
    }
  }
}

/// Brings item(0) ... item(n - 1) to the team's scratch, k rows of every warp at most and some of
/// them in flight at once.
template <int k, class Team, class T, class Item>
LANEWISE_FUNCTION void fetch_rows(const Team& team, T* to, int n, const Item& item) {
  constexpr int width = Team::warp_type::width;
  constexpr int at_once = sizeof(T) * k <= 64 ? k : (sizeof(T) < 64 ? 64 / sizeof(T) : 1);
  const auto warp = team.warp();
  const auto row = [&](int j) { return (j * Team::warps + team.warp_index()) * width; };
  for (int begin = 0; begin < k && row(begin) < n; begin += at_once) {
    typename Team::warp_type::template lanes<T> x[at_once];
    LANEWISE_UNROLL
    for (int j = 0; j < at_once; ++j) {
      const int at = row(begin + j);
      x[j] = warp.map(
          warp.first(begin + j < k ? n - at : 0),
          [&](std::uint32_t l) -> T { return item(at + static_cast<int>(l)); }, T{}, warp.lane());
    }
    LANEWISE_UNROLL
    for (int j = 0; j < at_once; ++j) {
      const int at = row(begin + j);
      warp.store(warp.first(begin + j < k ? n - at : 0), to + at, x[j]);
    }
  }
}

/// put(i, items[i]) for every i below n: neighbouring lanes for neighbouring i.
template <class Team, class T, class Put>
LANEWISE_FUNCTION void put_rows(const Team& team, const T* items, int n, const Put& put) {
  constexpr int width = Team::warp_type::width;
  const auto warp = team.warp();
  auto lane = warp.template cast<int>(warp.lane());
  for (int at = team.warp_index() * width; at < n; at += Team::warps * width) {
    const auto here = warp.first(n - at);
    auto x = warp.load(here, items + at, T{});
    warp.each(
        here, [&](const T& item, int l) { put(at + l, item); }, x, lane);
  }
}

/// The merge tile of a team of several warps: both parts come to scratch, one behind the other;
/// every lane merges k neighbouring items of the result there and notes where they are; windows of
/// neighbouring lanes fetch them.
template <class Team, class T, int k>
class device_merge_tile {
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;

 public:
  static constexpr int items = Team::warps * width * k;

 private:
  using place = place_for<items>;
  template <class U>
  using lanes = typename warp_type::template lanes<U>;

 public:
  struct scratch {
    raw_array<T, items> item;
    alignas(16) pack<place, k> from[items / k];
    merge_piece piece;
  };

  /// The piece of items [first, last): one warp searches.
  template <class A, class B, class Less>
  static LANEWISE_FUNCTION merge_piece cut(const Team& team, scratch& shared, const A& a,
                                           std::int64_t n_a, const B& b, std::int64_t n_b,
                                           std::int64_t first, std::int64_t last,
                                           const Less& less) {
    if (team.warp_index() == 0) {
      const auto warp = team.warp();
      const merge_piece piece = cut_merge(warp, a, n_a, b, n_b, first, last, less);
      warp.once([&] { shared.piece = piece; });
    }
    team.barrier();
    return shared.piece;
  }

  template <class A, class B, class Put, class Less>
  static LANEWISE_FUNCTION void merge(const Team& team, scratch& shared, const A& a, const B& b,
                                      const merge_piece& piece, const Put& put, const Less& less) {
    const auto warp = team.warp();
    const auto lane = warp.template cast<int>(warp.lane());
    T* const item = shared.item.data();
    const int n_a = static_cast<int>(piece.count_a());
    const int n = static_cast<int>(piece.count());
    const auto row = [&](int j) { return (j * Team::warps + team.warp_index()) * width; };

    fetch_rows<k>(team, item, n, [&](int i) -> T {
      return i < n_a ? a(piece.begin.from_a + i) : b(piece.begin.from_b + (i - n_a));
    });
    team.barrier();

    const auto own = (lanes<int>(team.warp_index() * width) + lane) * lanes<int>(k);
    const auto exists = own < n;
    lane_runs<warp_type> runs{lanes<int>(0), lanes<int>(n_a), lanes<int>(n_a), lanes<int>(n)};
    skip_by_lanes(warp, exists, static_cast<const T*>(item), runs, own, less);
    lanes<pack<place, k>> from;
    merge_by_lanes<k>(warp, exists, static_cast<const T*>(item), runs, less,
                      [&](int c, const auto&, auto at) LANEWISE_INLINE_LAMBDA {
                        warp.each([c](auto& f, int p)
                                      LANEWISE_INLINE_LAMBDA { f[c] = static_cast<place>(p); },
                                  from, at);
                      });
    warp.store(shared.from + team.warp_index() * width, from);
    team.barrier();

    const auto* const places = reinterpret_cast<const place*>(shared.from);
    LANEWISE_UNROLL
    for (int j = 0; j < k; ++j) {
      const int at = row(j);
      if (at >= n) break;
      const auto here = warp.first(n - at);
      auto p = warp.load(here, places + at, place{0});
      auto x = warp.gather(here, item, p, T{});
      auto l = lane;
      warp.each(
          here,
          [&](const T& found, place q, int i) {
            const bool is_b = q >= n_a;
            put(piece.first() + at + i, found,
                is_b ? piece.begin.from_b + (q - n_a) : piece.begin.from_a + q, is_b);
          },
          x, p, l);
    }
    team.barrier();
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
