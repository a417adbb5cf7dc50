// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/pack.hpp>
#include <lanewise/data/scratch_items.hpp>
#include <lanewise/team/fetch_packs.hpp>
#include <lanewise/team/team.hpp>
#include <lanewise/warp/search.hpp>

#include <bit>
#include <cstdint>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// A place in a team's scratch.
template <int places>
using place_for = std::conditional_t<(places <= 1 << 16), std::uint16_t, std::uint32_t>;

/// Two sorted runs of a lane in an array in scratch: places [a, a_end) and [b, b_end).
struct run_pair {
  int a;
  int a_end;
  int b;
  int b_end;
};

/// Whether an order may be asked of items that do not exist: numbers, by their own.
template <class T, class Less>
inline constexpr bool compares_anything =
    std::is_same_v<Less, lanewise::less>&& std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

/// Merge path by a lane: leaves out the first `distance` items of the merge of its runs, which have
/// at most `most` items together. No run has more than `longest` items that are searched, which all
/// lanes know.
template <int most, class T, class Less>
LANEWISE_FUNCTION void skip_items(const T* items, run_pair& runs, int distance, const Less& less,
                                  int longest = most) {
  const int n_a = runs.a_end - runs.a, n_b = runs.b_end - runs.b;
  const int least = distance > n_b ? distance - n_b : 0;
  const int from_a = distance < n_a ? distance : n_a;
  const T* const a = items + (runs.a + from_a - 1);
  const T* const b = items + (runs.b + distance - from_a);
  // At most `behind` of the first from_a items of run a come after the cut.
  int after = from_a - least;
  constexpr int first = static_cast<int>(std::bit_floor(static_cast<unsigned>(most / 2)));
  if (after > 0) {
    LANEWISE_UNROLL
    for (int step = first; step > 0; step /= 2) {
      if (step > longest) continue;
      const int next = after - step, fewer = next > 0 ? next : 0;
      after = less(b[fewer], a[-fewer]) ? after : fewer;
    }
  }
  runs.a += from_a - after;
  runs.b += distance - (from_a - after);
}

/// The next k items of the merge of a lane's runs, which have at least one: f(c, item, place, is_b)
/// gets the items c = 0 ... k-1, where they are, and whether in run b. Where no item is left, all
/// are meaningless. No branch on which run comes next. padded: there is something to read after
/// either run.
template <int k, bool padded, class T, class Less, class F>
LANEWISE_FUNCTION void merge_items(const T* items, const run_pair& runs, const Less& less,
                                   const F& f) {
  // An item is read in every step; the last one, where there is none.
  [[maybe_unused]] const int last = (runs.a_end > runs.b_end ? runs.a_end : runs.b_end) - 1;
  const auto read = [&](int at) LANEWISE_INLINE_LAMBDA -> T {
    if constexpr (padded) return items[at];
    return items[at < last ? at : last];
  };
  const int sum = runs.a + runs.b;
  int a = runs.a, b = runs.b;
  T x = read(a), y = read(b);
  LANEWISE_UNROLL
  for (int c = 0; c < k; ++c) {
    const bool has_a = a < runs.a_end, has_b = b < runs.b_end;
    bool b_first;
    if constexpr (compares_anything<T, Less>) {
      b_first = has_b & (!has_a | (y < x));
    } else {
      b_first = has_b && (!has_a || less(y, x));
    }
    const int at = b_first ? b : a;
    f(c, b_first ? y : x, at, b_first);
    if (c + 1 < k) {
      const T next = read(at + 1);
      x = b_first ? x : next;
      y = b_first ? next : y;
      b += b_first ? 1 : 0;
      a = sum + c + 1 - b;
    }
  }
}

/// Brings item(0) ... item(n - 1) to the team's scratch, k rows of every warp at most and some of
/// them in flight at once.
template <int k, class Team, class T, class Item>
LANEWISE_FUNCTION void fetch_rows(const Team& team, T* to, int n, const Item& item) {
  constexpr int width = Team::warp_type::width;
  constexpr int most = sizeof(T) < 32 ? 32 / sizeof(T) : 1;
  constexpr int at_once = k < most ? k : most;
  const auto warp = team.warp();
  const auto row = [&](int j) { return (j * Team::warps + team.warp_index()) * width; };
  for (int begin = 0; begin < k && row(begin) < n; begin += at_once) {
    lanes_t<typename Team::warp_type, T> x[at_once];
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

/// store(i, from[i], load(from[i])) for every i below n. Some rows of what is loaded are on their
/// way at once.
template <int k, class Team, class Place, class Load, class Store>
LANEWISE_FUNCTION void put_in_two_steps(const Team& team, const Place* from, int n,
                                        const Load& load, const Store& store) {
  using warp_type = typename Team::warp_type;
  using value = std::decay_t<decltype(load(Place{}))>;
  constexpr int width = warp_type::width;
  constexpr int rows = sizeof(value) <= 4 ? 6 : (sizeof(value) <= 16 ? 3 : 1);
  const auto warp = team.warp();
  auto lane = warp.template cast<int>(warp.lane());
  for (int first = team.warp_index() * width; first < n; first += rows * Team::warps * width) {
    lanes_t<warp_type, Place> p[rows];
    lanes_t<warp_type, value> x[rows];
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      const int at = first + j * Team::warps * width;
      p[j] = warp.load(warp.first(n - at), from + at, Place{});
      x[j] = warp.map(warp.first(n - at), load, value{}, p[j]);
    }
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      const int at = first + j * Team::warps * width;
      warp.each(
          warp.first(n - at),
          [&](Place q, const value& y, int l) LANEWISE_INLINE_LAMBDA { store(at + l, q, y); }, p[j],
          x[j], lane);
    }
  }
}

template <class S>
inline constexpr bool is_array_of_items = false;
template <class T>
inline constexpr bool is_array_of_items<array_source<T, identity>> = true;

/// The merge tile of a team of several warps: both parts come to scratch, one after the other, in
/// packs where they are arrays;
/// every lane merges k neighbouring items of the result there and notes where they are; windows of
/// neighbouring lanes fetch them.
template <class Team, class T, int k>
class device_merge_tile {
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;

 public:
  static constexpr int items = Team::warps * width * k;

 private:
  static constexpr int per_pack = items_of_pack<T>;
  /// Two pieces in packs, and one after all.
  static constexpr int places =
      static_cast<int>(divide_up(items + 4 * (per_pack - 1) + 1, per_pack)) * per_pack;
  using place = place_for<places>;
  template <class U>
  using lanes = lanes_t<warp_type, U>;

 public:
  struct scratch {
    alignas(alignof(T) > 16 ? alignof(T) : 16) raw_array<T, places> item;
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
      const merge_piece piece = lanewise::cut_merge(warp, a, n_a, b, n_b, first, last, less);
      warp.once([&] { shared.piece = piece; });
    }
    team.barrier();
    return shared.piece;
  }

  /// ordered: put is told where items come from.
  template <bool ordered, class A, class B, class Put, class Less>
  static LANEWISE_FUNCTION void merge(const Team& team, scratch& shared, const A& a, const B& b,
                                      const merge_piece& piece, const Put& put, const Less& less) {
    const auto warp = team.warp();
    T* const item = shared.item.data();
    const int n_a = static_cast<int>(piece.count_a());
    const int n = static_cast<int>(piece.count());
    run_pair all{0, n_a, n_a, n};
    if constexpr (is_array_of_items<A> && is_array_of_items<B>) {
      // As many rows at once as pieces of equal lengths have.
      constexpr int threads = Team::warps * width;
      constexpr int rows = static_cast<int>(divide_up(places / per_pack, 2 * threads));
      const array_piece<T> pieces[2] = {{a.data, a.extent, piece.begin.from_a, n_a},
                                        {b.data, b.extent, piece.begin.from_b, n - n_a}};
      const auto at = detail::fetch_packs<rows>(team, item, pieces);
      all = {at.begin[0], at.end[0], at.begin[1], at.end[1]};
    } else {
      detail::fetch_rows<k>(team, item, n_a, [&](int i) -> T { return a(piece.begin.from_a + i); });
      detail::fetch_rows<k>(team, item + n_a, n - n_a,
                            [&](int i) -> T { return b(piece.begin.from_b + i); });
    }
    team.barrier();

    auto own = (lanes<int>(team.warp_index() * width) + warp.template cast<int>(warp.lane())) *
               lanes<int>(k);
    const auto exists = own < n;
    const auto merged = [&](int first, const auto& f) LANEWISE_INLINE_LAMBDA {
      run_pair runs = all;
      detail::skip_items<items>(static_cast<const T*>(item), runs, first, less);
      detail::merge_items<k, true>(static_cast<const T*>(item), runs, less, f);
    };
    if constexpr (ordered) {
      lanes<pack<place, k>> from;
      warp.each(
          exists,
          [&](pack<place, k>& f, int first) {
            merged(first, [&](int c, const T&, int at, bool)
                              LANEWISE_INLINE_LAMBDA { f[c] = static_cast<place>(at); });
          },
          from, own);
      warp.store(shared.from + team.warp_index() * width, from);
      team.barrier();
      const auto* const origin = reinterpret_cast<const place*>(shared.from);
      const auto index = [&](place p) LANEWISE_INLINE_LAMBDA {
        return p + (p < all.b ? piece.begin.from_a - all.a : piece.begin.from_b - all.b);
      };
      if constexpr (requires { put.load(std::int64_t{0}, true); }) {
        detail::put_in_two_steps<k>(
            team, origin, n,
            [&](place p) LANEWISE_INLINE_LAMBDA { return put.load(index(p), p >= all.b); },
            [&](int i, place p, const auto& value)
                LANEWISE_INLINE_LAMBDA { put.store(piece.first() + i, item[p], value); });
      } else {
        detail::put_rows(team, origin, n, [&](int i, place p) {
          put(piece.first() + i, item[p], index(p), p >= all.b);
        });
      }
    } else {
      lanes<pack<T, k>> x;
      warp.each(
          exists,
          [&](pack<T, k>& y, int first) {
            merged(first, [&](int c, const T& z, int, bool) LANEWISE_INLINE_LAMBDA { y[c] = z; });
          },
          x, own);
      team.barrier();
      warp.each(
          exists,
          [&](const pack<T, k>& y, int first) {
            LANEWISE_UNROLL
            for (int c = 0; c < k; ++c) item[first + c] = y[c];
          },
          x, own);
      team.barrier();
      if constexpr (requires { put.array(); }) {
        detail::store_packs(team, static_cast<const T*>(item), n, put.array() + piece.first());
      } else {
        detail::put_rows(team, static_cast<const T*>(item), n,
                         [&](int i, const T& y) { put(piece.first() + i, y, 0, false); });
      }
    }
    team.barrier();
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
