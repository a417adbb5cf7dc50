// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/options.hpp>
#include <lanewise/tile/merge_tile.hpp>

#include <algorithm>
#include <type_traits>

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

template <class T>
struct merge_policy : launch_policy {
  static constexpr int items_per_lane = sizeof(T) <= 4     ? 15
                                        : sizeof(T) <= 8   ? 10
                                        : sizeof(T) <= 16  ? 7
                                        : sizeof(T) <= 512 ? 3
                                                           : 1;
  static constexpr int warps = sizeof(T) <= 32 ? 8 : (sizeof(T) <= 64 ? 4 : 1);
  // H200, 2^28 u64: 10 items a lane and six teams 1.15 ms, 11 and five, which spill, 1.40, 9 and
  // six 1.18, 7 and eight 1.19. 2^28 u32: 15 and five 0.66, 19 and four 0.66, 16 and five 1.14.
  static constexpr int teams_per_multiprocessor = sizeof(T) <= 4 ? 5 : (sizeof(T) <= 8 ? 6 : 1);
};

template <class T, class Exec, class Policy = merge_policy<T>>
inline constexpr std::int64_t merge_tile_items =
    merge_tile_t<team_t<Exec, Policy>, T, Policy>::items;

/// Items [first, last) of a merge, tile t of it, where cuts says how many items of a are before
/// every tile. Whatever the cuts are, a piece has as many items.
LANEWISE_FUNCTION merge_piece piece_of_cuts(const std::int64_t* cuts, std::int64_t t,
                                            std::int64_t first, std::int64_t last) {
  const std::int64_t begin = cuts[t], most = last - first;
  std::int64_t from_a = cuts[t + 1] - begin;
  from_a = from_a < 0 ? 0 : (from_a < most ? from_a : most);
  const std::int64_t end = begin + from_a;
  return {{begin, first - begin}, {end, last - end}};
}

/// The items of two sorted sequences go to out(i, x), or to out(i, x, from).
template <class A, class B, class Out, class Less>
struct merge_kernel {
  using item = typename A::value_type;
  using policy = merge_policy<item>;
  template <class Team>
  using tile = merge_tile_t<Team, item, policy>;
  template <class Team>
  struct scratch {
    typename tile<Team>::scratch tile;
  };

  A a;
  B b;
  Out out;
  item_count n_a, n_b;
  const std::int64_t* cuts;  // how many items of a are before every tile, or null
  Less less;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const std::int64_t count_a = n_a(), count_b = n_b(), n = count_a + count_b;
    constexpr std::int64_t items = tile<Team>::items;
    lanewise::for_each_tile(team, divide_up(n, items), [&](std::int64_t t) {
      const std::int64_t first = t * items, last = first + items < n ? first + items : n;
      if (cuts == nullptr) {
        lanewise::merge_tile<item, policy>(team, shared.tile, a, count_a, b, count_b, first, last,
                                           out, less);
      } else {
        lanewise::merge_tile<item, policy>(team, shared.tile, a, b,
                                           piece_of_cuts(cuts, t, first, last), out, less);
      }
    });
    if constexpr (requires { out.end(n); }) {
      if (team.index() == 0) team.once([&] { out.end(n); });
    }
  }
};

/// Finds the cut of the merge for every tile: by a lane for each, or by a warp while there are so
/// few that all warps run at once.
template <class A, class B, class Less>
struct cut_merge_kernel {
  static constexpr std::int64_t most_by_warps = 3000;
  struct policy : launch_policy {
    static constexpr int warps = 2;
  };
  template <class Team>
  struct scratch {};

  A a;
  B b;
  item_count n_a, n_b;
  std::int64_t items;
  std::int64_t* cuts;
  Less less;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    constexpr std::int64_t width = Team::warp_type::width;
    const std::int64_t count_a = n_a(), count_b = n_b(), n = count_a + count_b;
    const std::int64_t all = divide_up(n, items) + 1;
    const auto warp = team.warp();
    auto lane = warp.lane();
    const auto distance = [&](std::int64_t t) { return t * items < n ? t * items : n; };
    const std::int64_t each = all <= most_by_warps ? 1 : width;
    const auto [first, last] = team.share(lanewise::divide_up(divide_up(all, each), Team::warps));
    for (std::int64_t w = first; w < last; ++w) {
      const std::int64_t t = (w * Team::warps + team.warp_index()) * each, left = all - t;
      if (left <= 0) continue;
      if (each == 1) {
        const std::int64_t cut =
            lanewise::merge_path(warp, a, count_a, b, count_b, distance(t), less).from_a;
        warp.once([&] { cuts[t] = cut; });
      } else {
        // All lanes search for the first and the last of their cuts. Between these, loads are near
        // each other: alone, lanes took 76 us for 70,000 cuts of 2^28 items on an H200.
        const std::int64_t here = left < width ? left : width;
        const merge_piece piece = lanewise::cut_merge(warp, a, count_a, b, count_b, distance(t),
                                                      distance(t + here - 1), less);
        const std::int64_t first_a = piece.begin.from_a, first_b = piece.begin.from_b;
        warp.each(
            warp.first(static_cast<int>(here)),
            [&](std::uint32_t l) {
              const std::int64_t from_a =
                  lanewise::merge_path([&](std::int64_t i) { return a(first_a + i); },
                                       piece.count_a(),
                                       [&](std::int64_t i) { return b(first_b + i); },
                                       piece.count_b(), distance(t + l) - piece.first(), less)
                      .from_a;
              cuts[t + l] = first_a + from_a;
            },
            lane);
      }
    }
  }

  /// The number of teams that are worth a launch for `all` cuts.
  static std::int64_t teams(std::int64_t all) {
    return divide_up(all, 2 * (all <= most_by_warps ? 1 : 32));
  }
};

/// With more tiles than these, a launch of its own finds where they are cut.
inline constexpr std::int64_t few_merge_tiles = 600;

template <class T, class Exec, class Policy = merge_policy<T>>
std::size_t merge_cut_bytes(std::int64_t n) {
  const std::int64_t tiles = lanewise::divide_up(n, merge_tile_items<T, Exec, Policy>);
  return tiles > few_merge_tiles ? static_cast<std::size_t>(tiles + 1) * sizeof(std::int64_t) : 0;
}

/// Finds where the merge is cut, in tiles of merge_tile_items.
template <class Policy, class Exec, class A, class B, class Less>
void cut_tiles(const Exec& exec, const A& a, const B& b, item_count n_a, item_count n_b,
               std::int64_t* cuts, const Less& less) {
  using cutting = cut_merge_kernel<A, B, Less>;
  constexpr std::int64_t items = merge_tile_items<typename A::value_type, Exec, Policy>;
  const std::int64_t all = divide_up(n_a.bound + n_b.bound, items) + 1;
  lanewise::launch(exec, "Lanewise::merge::cut",
                   backend_of<Exec>::template league_for_tiles<cutting>(exec, cutting::teams(all)),
                   cutting{a, b, n_a, n_b, items, cuts, less});
}

/// Starts the merge; cuts is memory of merge_cut_bytes.
template <class Exec, class A, class B, class Out, class Less>
void merge(const Exec& exec, const char* label, const A& a, const B& b, const Out& out,
           item_count n_a, item_count n_b, void* memory, const Less& less) {
  using item = typename A::value_type;
  using backend = backend_of<Exec>;
  using kernel = merge_kernel<A, B, Out, Less>;
  constexpr std::int64_t items = merge_tile_items<item, Exec>;
  // One for a call of no items, which may have to say so.
  const std::int64_t tiles = std::max<std::int64_t>(divide_up(n_a.bound + n_b.bound, items), 1);
  std::int64_t* cuts = nullptr;
  if (tiles > few_merge_tiles) {
    cuts = static_cast<std::int64_t*>(memory);
    kernels::cut_tiles<merge_policy<item>>(exec, a, b, n_a, n_b, cuts, less);
  }
  lanewise::launch(exec, label, backend::template league_for_tiles<kernel>(exec, tiles),
                   kernel{a, b, out, n_a, n_b, cuts, less});
}

/// Keys alone.
template <class Sink>
struct merged_items {
  Sink out;
  template <class T>
  LANEWISE_FUNCTION void operator()(std::int64_t i, const T& x) const {
    out(i, x);
  }
  LANEWISE_FUNCTION auto array() const requires requires(const Sink& s) { s.data; }
  { return out.data; }
};

/// Keys, and values from where their keys were.
template <class Sink, class ValuesA, class ValuesB, class ValueSink>
struct merged_pairs {
  Sink out;
  ValuesA a;
  ValuesB b;
  ValueSink values_out;
  LANEWISE_FUNCTION typename ValuesA::value_type load(const merge_origin& from) const {
    if constexpr (detail::is_array_of_items<ValuesA> && detail::is_array_of_items<ValuesB>) {
      return (from.sequence == 0 ? a.data : b.data)[from.index];
    } else {
      return from.sequence == 0 ? a(from.index) : b(from.index);
    }
  }
  template <class T, class V>
  LANEWISE_FUNCTION void store(std::int64_t i, const T& x, const V& value) const {
    out(i, x);
    values_out(i, value);
  }
  /// The values of a sequence.
  LANEWISE_FUNCTION const typename ValuesA::value_type* array_of(int sequence) const
      requires(detail::is_array_of_items<ValuesA>&& detail::is_array_of_items<ValuesB>) {
    return sequence == 0 ? a.data : b.data;
  }
};

template <class Exec, class A, class B>
constexpr bool check_merged() {
  using item = typename A::value_type;
  constexpr bool same = std::is_same_v<item, typename B::value_type> ||
                        detail::is_refused<item, typename B::value_type>;
  static_assert(same, "lanewise: both inputs have items of the same type");
  return same;
}

/// What both forms check of the keys.
template <class A, class B, class Sink>
void expects_mergeable(const A& a, const B& b, const Sink& out, const char* algorithm,
                       const char* a_name, const char* b_name, const char* out_name) {
  detail::expects(out.extent - a.extent >= b.extent, algorithm, ": ", out_name, " has ", out.extent,
                  " places, ", a_name, " has ", a.extent, " items, ", b_name, " has ", b.extent);
  detail::expects_memory(a, algorithm, a_name);
  detail::expects_memory(b, algorithm, b_name);
  detail::expects_memory(out, algorithm, out_name);
  detail::expects_no_partial_overlap(a, out, algorithm, a_name, out_name, false);
  detail::expects_no_partial_overlap(b, out, algorithm, b_name, out_name, false);
}

}  // namespace kernels

/// Options of merge and of the set operations.
struct merge_options {
  /// Memory for temporaries; without it the call allocates in the order of its instance.
  workspace_ref work = {};
  /// Rank-0 Views of integers, read on the device when the call runs: how many items a and b have.
  /// The extents are the upper bounds.
  option_view<const std::int64_t> count_a = {};
  option_view<const std::int64_t> count_b = {};
};

namespace kernels {

struct merge_counts {
  item_count a;
  item_count b;
};
template <class Exec, class A, class B>
merge_counts merge_counts_of(const A& a, const B& b, const merge_options& options,
                             const char* algorithm) {
  options.count_a.template expects_reachable<Exec>(algorithm, "options.count_a");
  options.count_b.template expects_reachable<Exec>(algorithm, "options.count_b");
  return {{a.extent, options.count_a.data()}, {b.extent, options.count_b.data()}};
}

}  // namespace kernels

/// The workspace that merge and merge_by_key need for n items of type T in both inputs together.
/// Needs no device.
template <class T, class Exec>
workspace_size merge_workspace(std::int64_t n) {
  return {0, kernels::merge_cut_bytes<T, Exec>(n)};
}

/// Writes the items of a and b, both sorted by less, to out as one sorted sequence. Stable: equal
/// items keep their order, and those of a come before those of b.
///
/// less is a pure scalar function object, a strict weak order, called O(log n) times per tile and
/// about twice per item. a and b are contiguous rank-1 Views or sources with items of one type; out
/// is a View or a sink of at least as many places as both have items, and does not overlap them.
/// Every item is read once and written once; a source's functor is called about twice per item. One
/// launch, or two beyond 600 tiles; O(n) work. The result is the same on every backend. If an input
/// is not sorted, or less is no strict weak order, the items of out are unspecified; nothing
/// outside is read or written. Does not block. Throws std::invalid_argument on wrong extents,
/// overlap, or an option that cannot be reached. (Merge path: Odeh, Green, Mwassi, Shmueli and
/// Birk, 2012.)
template <execution_space Exec, class A, class B, class Out, class Less = less>
void merge(const Exec& exec, const A& a, const B& b, const Out& out, const Less& less = {},
           const merge_options& options = {}) {
  const auto source_a = detail::as_source<Exec>(a);
  const auto source_b = detail::as_source<Exec>(b);
  const auto sink = detail::as_sink<Exec>(out);
  kernels::expects_mergeable(source_a, source_b, sink, "merge", "a", "b", "out");
  const auto n = kernels::merge_counts_of<Exec>(source_a, source_b, options, "merge");
  using item = typename decltype(source_a)::value_type;
  using sink_type = std::decay_t<decltype(sink)>;
  if constexpr (kernels::check_merged<Exec, std::decay_t<decltype(source_a)>,
                                      std::decay_t<decltype(source_b)>>() &&
                detail::check_less<Exec, Less, item>() &&
                detail::check_results<Exec, item, sink_type>()) {
    auto work = call_workspace::make<backend_of<Exec>>(
        exec, options.work, lanewise::merge_workspace<item, Exec>(n.a.bound + n.b.bound), "merge");
    kernels::merge(exec, "Lanewise::merge", source_a, source_b,
                   kernels::merged_items<sink_type>{sink}, n.a, n.b, work.get().plain(), less);
  }
}

/// For pairs: values, of any type, go the way of their keys, and are read and written once.
template <execution_space Exec, class KeysA, class ValuesA, class KeysB, class ValuesB,
          class KeysOut, class ValuesOut, class Less = less>
void merge_by_key(const Exec& exec, const KeysA& keys_a, const ValuesA& values_a,
                  const KeysB& keys_b, const ValuesB& values_b, const KeysOut& keys_out,
                  const ValuesOut& values_out, const Less& less = {},
                  const merge_options& options = {}) {
  constexpr const char* name = "merge_by_key";
  const auto source_a = detail::as_source<Exec>(keys_a);
  const auto source_b = detail::as_source<Exec>(keys_b);
  const auto sink = detail::as_sink<Exec>(keys_out);
  const auto value_a = detail::as_source<Exec>(values_a);
  const auto value_b = detail::as_source<Exec>(values_b);
  const auto value_sink = detail::as_sink<Exec>(values_out);
  detail::expects(value_a.extent == source_a.extent, name, ": values_a has ", value_a.extent,
                  " items, keys_a has ", source_a.extent);
  detail::expects(value_b.extent == source_b.extent, name, ": values_b has ", value_b.extent,
                  " items, keys_b has ", source_b.extent);
  kernels::expects_mergeable(source_a, source_b, sink, name, "keys_a", "keys_b", "keys_out");
  kernels::expects_mergeable(value_a, value_b, value_sink, name, "values_a", "values_b",
                             "values_out");
  detail::expects_no_partial_overlap(value_a, sink, name, "values_a", "keys_out", false);
  detail::expects_no_partial_overlap(value_b, sink, name, "values_b", "keys_out", false);
  detail::expects_no_partial_overlap(source_a, value_sink, name, "keys_a", "values_out", false);
  detail::expects_no_partial_overlap(source_b, value_sink, name, "keys_b", "values_out", false);
  detail::expects_no_partial_overlap(sink, value_sink, name, "keys_out", "values_out", false);
  const auto n = kernels::merge_counts_of<Exec>(source_a, source_b, options, name);
  using item = typename decltype(source_a)::value_type;
  using value = typename decltype(value_a)::value_type;
  using sink_type = std::decay_t<decltype(sink)>;
  using value_sink_type = std::decay_t<decltype(value_sink)>;
  using a_type = std::decay_t<decltype(value_a)>;
  using b_type = std::decay_t<decltype(value_b)>;
  if constexpr (kernels::check_merged<Exec, std::decay_t<decltype(source_a)>,
                                      std::decay_t<decltype(source_b)>>() &&
                kernels::check_merged<Exec, a_type, b_type>() &&
                detail::check_less<Exec, Less, item>() &&
                detail::check_results<Exec, item, sink_type>() &&
                detail::check_results<Exec, value, value_sink_type>()) {
    auto work = call_workspace::make<backend_of<Exec>>(
        exec, options.work, lanewise::merge_workspace<item, Exec>(n.a.bound + n.b.bound), name);
    using pairs = kernels::merged_pairs<sink_type, a_type, b_type, value_sink_type>;
    kernels::merge(exec, "Lanewise::merge_by_key", source_a, source_b,
                   pairs{sink, value_a, value_b, value_sink}, n.a, n.b, work.get().plain(), less);
  }
}

LANEWISE_END_TARGET_NAMESPACE
