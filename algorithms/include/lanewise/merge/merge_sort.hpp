// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/call/workspace_layout.hpp>
#include <lanewise/common/options.hpp>
#include <lanewise/merge/detail/merging.hpp>
#include <lanewise/sequence/transform.hpp>

#include <algorithm>
#include <utility>

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

/// The items of a lane are an odd number, which spreads lanes over the banks of scratch. H200, 2^28
/// u32: 23 items of 8 warps are as fast as 31, and faster than 17, or 15 of 16 warps.
template <class T, bool few = false>
struct merge_sort_policy : launch_policy {
  static constexpr int items_per_lane = sizeof(T) <= 4     ? 23
                                        : sizeof(T) <= 8   ? 15
                                        : sizeof(T) <= 16  ? 7
                                        : sizeof(T) <= 512 ? 3
                                                           : 1;
  static constexpr int warps = sizeof(T) <= 32 ? 8 : (sizeof(T) <= 64 ? 4 : 1);
  static constexpr int teams_per_multiprocessor = sizeof(T) <= 4 ? 4 : (sizeof(T) <= 8 ? 3 : 1);
};

/// Few items: more lanes with less to do.
template <class T>
struct merge_sort_policy<T, true> : launch_policy {
  static constexpr bool narrow = sizeof(T) <= 4;
  static constexpr int items_per_lane = narrow ? 11 : merge_sort_policy<T>::items_per_lane;
  static constexpr int warps = narrow ? 16 : merge_sort_policy<T>::warps;
  static constexpr int teams_per_multiprocessor =
      narrow ? 2 : merge_sort_policy<T>::teams_per_multiprocessor;
};

/// Stands for the values where there are none.
struct no_values {};

template <class Values, class ValueSink>
struct value_mover {
  static constexpr bool exists = true;
  Values in;
  ValueSink out;
  LANEWISE_FUNCTION auto load(std::int64_t from) const { return in(from); }
  template <class V>
  LANEWISE_FUNCTION void store(std::int64_t i, const V& value) const {
    out(i, value);
  }
  LANEWISE_FUNCTION void operator()(std::int64_t i, std::int64_t from) const { out(i, in(from)); }
};
template <>
struct value_mover<no_values, no_values> {
  static constexpr bool exists = false;
  LANEWISE_FUNCTION void operator()(std::int64_t, std::int64_t) const {}
};

/// Moves values to an array.
template <bool paired, class Values, class V>
auto mover_to(const Values& in, V* out) {
  if constexpr (paired) {
    return value_mover<Values, array_sink<V>>{in, {out, in.extent}};
  } else {
    return value_mover<no_values, no_values>{};
  }
}
/// The array of values, one of none where there are none.
template <class ValueSink>
auto beside_keys(const ValueSink& values_out) {
  if constexpr (std::is_same_v<ValueSink, no_values>) {
    return array_sink<std::byte>{nullptr, 0};
  } else {
    return values_out;
  }
}

/// Makes every tile a sorted run.
template <class Policy, class Source, class Move, class Less>
struct sort_tiles_kernel {
  using item = typename Source::value_type;
  using policy = Policy;
  template <class Team>
  using merging = detail::merging_t<Team, item, policy>;
  template <class Team>
  using scratch = typename merging<Team>::template scratch<Move::exists>;

  Source in;
  item* out;
  Move move;
  item_count n;
  Less less;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    constexpr std::int64_t tile = merging<Team>::items;
    const std::int64_t count = n();
    lanewise::for_each_tile(team, divide_up(count, tile), [&](std::int64_t t) {
      const std::int64_t first = t * tile, left = count - first;
      merging<Team>::template sort<Move::exists>(
          team, shared, in, first, static_cast<int>(left < tile ? left : tile), less, out, move);
    });
  }
};

/// Merges groups of runs.
template <class Policy, class T, class Move, class Less>
struct merge_runs_kernel {
  using policy = Policy;
  template <class Team>
  using merging = detail::merging_t<Team, T, policy>;
  template <class Team>
  using scratch = typename merging<Team>::template scratch<Move::exists>;

  const T* in;
  T* out;
  Move move;
  item_count n;
  std::int64_t run;
  int ways;
  const std::int64_t* cuts;
  Less less;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const detail::equal_runs runs{run, n(), ways};
    lanewise::for_each_tile(team, divide_up(runs.n, std::int64_t{merging<Team>::items}),
                            [&](std::int64_t t) {
                              merging<Team>::template merge<Move::exists>(team, shared, in, runs,
                                                                          cuts, t, less, out, move);
                            });
  }
};

/// From this number of tiles on, lanes cut: loads that wait for each other then have company (H200,
/// 2^28 u32: 9.6 ms for the whole sort, 11.9 with cuts by warps).
inline constexpr std::int64_t many_tiles = 10000;

/// Finds the cuts of runs for every tile: by a warp, or four runs for many tiles by a lane each.
template <class T, int tile, class Less>
struct cut_runs_kernel {
  struct policy : launch_policy {
    static constexpr int warps = 2;
  };
  template <class Team>
  struct scratch {};

  array_source<T, identity> in;
  item_count n;
  std::int64_t run;
  int ways;
  std::int64_t* cuts;
  Less less;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    const detail::equal_runs runs{run, n(), ways};
    const std::int64_t tiles = divide_up(runs.n, std::int64_t{tile});
    const auto warp = team.warp();
    auto lane = warp.lane();
    const bool by_lanes = ways == 4 && tiles > many_tiles;
    const std::int64_t each = by_lanes ? Team::warp_type::width : 1;
    const auto [first, last] = team.share(lanewise::divide_up(divide_up(tiles, each), Team::warps));
    for (std::int64_t w = first; w < last; ++w) {
      const std::int64_t t = (w * Team::warps + team.warp_index()) * each, left = tiles - t;
      if (left <= 0) continue;
      if (!by_lanes) {
        runs.template cut<tile>(warp, in, cuts, t, less);
      } else {
        warp.each(
            warp.first(static_cast<int>(left < each ? left : each)),
            [&](std::uint32_t l) { runs.template cut<tile>(in, cuts, t + l, less); }, lane);
      }
    }
  }
};

/// Layout of a merge sort's workspace.
template <class T, class Exec>
struct merge_sort_layout : workspace_layout {
  template <class Policy>
  using merging_by = detail::merging_t<team_t<Exec, Policy>, T, Policy>;
  using merging = merging_by<merge_sort_policy<T>>;
  static constexpr std::int64_t least_tile =
      std::min(merging::items, merging_by<merge_sort_policy<T, true>>::items);
  workspace_array<T> keys;
  workspace_array<char> values;
  workspace_array<std::int64_t> cuts;

  merge_sort_layout(std::int64_t n, std::size_t value_bytes) {
    const std::int64_t tiles = divide_up(n, std::int64_t{merging::items});
    const bool alone = n <= least_tile && value_bytes == 0;
    add(keys, alone ? 0 : n);
    add(values, alone ? 0 : n * static_cast<std::int64_t>(value_bytes));
    add(cuts, merging::ways > 2 && tiles > 1 ? 4 * tiles : 0);
  }
};

/// Up to this number of tiles, tiles are merged in pairs, as cuts of four runs take longer (H200:
/// 2^22 u32, 712 tiles, 213 us in pairs and 227 by four; u64, 1424 tiles, 468 and 387).
inline constexpr std::int64_t few_tiles = 1000;
/// Up to this number of tiles, teams search for their cuts themselves (H200, u32: 716 tiles take
/// 214 us so, and 238 with a launch before every pass; 2865 tiles 923 and 918).
inline constexpr std::int64_t tiles_at_once = 2000;
/// Up to this number of items, tiles are small.
inline constexpr std::int64_t few_items_of_sort = 1 << 18;

template <class Policy, class Exec, class Source, class Sink, class Values, class ValueSink,
          class Less>
void merge_sort_by(const Exec& exec, const char* algorithm, const Source& keys,
                   const Sink& keys_out, const Values& values, const ValueSink& values_out,
                   bool in_place, const Less& less, const call_options& options, std::int64_t few) {
  using item = typename Source::value_type;
  using backend = backend_of<Exec>;
  using layout_type = merge_sort_layout<item, Exec>;
  using merging = detail::merging_t<team_t<Exec, Policy>, item, Policy>;
  constexpr bool paired = !std::is_same_v<Values, no_values>;
  const auto beside = kernels::beside_keys(values_out);
  using value = typename decltype(beside)::raw_type;
  using array = array_source<item, identity>;
  const item_count n = detail::count_of<Exec>(keys.extent, options, algorithm);
  if (n.bound == 0) return;
  const layout_type layout(n.bound, paired ? sizeof(value) : 0);
  auto work = call_workspace::make<backend>(exec, options.work, layout.size(), algorithm);
  auto* const memory = static_cast<char*>(work.get().plain());
  auto* const cuts = layout.cuts.data(memory);
  const std::int64_t tiles = divide_up(n.bound, std::int64_t{merging::items});

  struct memory_of_pairs {
    item* keys;
    value* values;
  };
  memory_of_pairs to{keys_out.data, beside.data};
  memory_of_pairs from{layout.keys.data(memory),
                       reinterpret_cast<value*>(layout.values.data(memory))};

  // The ways of the passes: the last one ends in what was given. A tile of pairs cannot be sorted
  // where it is, as its values are read while others are written.
  int pairings = 0;
  for (std::int64_t run = 1; run < tiles; run *= 2) ++pairings;
  const bool by_four = merging::ways == 4 && tiles > few;
  int fours = by_four ? pairings / 2 : 0;
  const auto passes = [&] { return pairings - fours; };
  const bool must_move = paired && in_place;
  if (must_move && passes() % 2 == 0) {
    if (fours > 0) {
      --fours;
    } else {
      ++pairings;
    }
  }
  if (passes() % 2 != 0) std::swap(from, to);
  using first_move = decltype(kernels::mover_to<paired>(values, beside.data));
  using first = sort_tiles_kernel<Policy, Source, first_move, Less>;
  lanewise::launch(exec, "Lanewise::merge_sort::tiles",
                   backend::template league_for_tiles<first>(exec, tiles),
                   first{keys, to.keys, kernels::mover_to<paired>(values, to.values), n, less});
  const int all = passes();
  std::int64_t run = merging::items;
  for (int pass = 0; pass < all; ++pass) {
    std::swap(from, to);
    const int ways = pass < fours ? 4 : 2;
    const array given{from.keys, n.bound, {}};
    const array_source<value, identity> given_values{from.values, n.bound, {}};
    const bool cuts_ahead = merging::ways == 4 && (ways == 4 || tiles > tiles_at_once);
    if constexpr (merging::ways == 4) {
      using cutting = cut_runs_kernel<item, merging::items, Less>;
      const std::int64_t each = ways == 4 && tiles > many_tiles ? 2 * warp_t<Exec>::width : 2;
      if (cuts_ahead)
        lanewise::launch(exec, "Lanewise::merge_sort::cut",
                         backend::template league_for_tiles<cutting>(exec, divide_up(tiles, each)),
                         cutting{given, n, run, ways, cuts, less});
    }
    using next_move = decltype(kernels::mover_to<paired>(given_values, to.values));
    using next = merge_runs_kernel<Policy, item, next_move, Less>;
    lanewise::launch(exec, "Lanewise::merge_sort::merge",
                     backend::template league_for_tiles<next>(exec, tiles),
                     next{from.keys, to.keys, kernels::mover_to<paired>(given_values, to.values), n,
                          run, ways, cuts_ahead ? cuts : nullptr, less});
    run *= ways;
  }
}

/// Few items by the policy for few, where there is another.
template <class Exec, class Source, class Sink, class Values, class ValueSink, class Less>
void merge_sort(const Exec& exec, const char* algorithm, const Source& keys, const Sink& keys_out,
                const Values& values, const ValueSink& values_out, bool in_place, const Less& less,
                const call_options& options, std::int64_t few = few_tiles) {
  using item = typename Source::value_type;
  using policy = merge_sort_policy<item>;
  using small_policy = merge_sort_policy<item, true>;
  if constexpr (merge_sort_layout<item, Exec>::merging::ways == 4 && small_policy::narrow) {
    if (keys.extent <= few_items_of_sort && few == few_tiles)
      return kernels::merge_sort_by<small_policy>(exec, algorithm, keys, keys_out, values,
                                                  values_out, in_place, less, options, few);
  }
  kernels::merge_sort_by<policy>(exec, algorithm, keys, keys_out, values, values_out, in_place,
                                 less, options, few);
}

/// What is checked of either form.
template <class Exec, class Source, class Sink>
void expects_sortable(const Source& in, const Sink& out, const char* algorithm, const char* in_name,
                      const char* out_name) {
  detail::expects(out.extent >= in.extent, algorithm, ": ", out_name, " has ", out.extent,
                  " places, ", in_name, " has ", in.extent, " items");
  detail::expects_memory(in, algorithm, in_name);
  detail::expects_memory(out, algorithm, out_name);
}

/// Whether sorted items can be kept in an output: in an array of their own type.
template <class T, class Sink>
constexpr bool check_sorted_output() {
  using place = typename detail::sink_value<Sink>::type;
  constexpr bool same = std::is_same_v<T, place> || detail::is_refused<T, place>;
  static_assert(same, "lanewise: the output of a merge sort is a View of the type of the items");
  return same && !detail::is_refused<T, place>;
}
/// As `check_sorted_output`, or whether sorted items can go to a sink.
template <class Exec, class T, class Sink>
constexpr bool check_sorted_results() {
  if constexpr (std::is_void_v<typename detail::sink_value<Sink>::type>) {
    return detail::check_results<Exec, T, Sink>();
  } else {
    return kernels::check_sorted_output<T, Sink>();
  }
}

/// Calls f with an array for n sorted items: the output, or memory of the call's own, whose items
/// go to the output, a sink, when f has returned.
template <class T, class Exec, class Sink, class F>
void with_sorted_array(const Exec& exec, const char* algorithm, const Sink& sink, std::int64_t n,
                       const call_options& options, const F& f) {
  if constexpr (std::is_same_v<Sink, array_sink<T>>) {
    f(sink);
  } else {
    call_memory<Exec> memory(exec, static_cast<std::size_t>(n) * sizeof(T), algorithm);
    const auto sorted = memory.template view<T>(n);
    f(array_sink<T>{sorted.data(), n});
    lanewise::transform(exec, sorted, sink, identity{}, {.count = options.count});
  }
}

template <class T>
inline constexpr bool is_array_argument =
    Kokkos::is_view_v<T> || detail::is_source<T>::value || detail::is_sink<T>::value;

}  // namespace kernels

/// The workspace that merge_sort needs for n items of type T, and merge_sort_by_key with values of
/// `value_bytes` bytes beside them. Needs no device.
template <class T, class Exec>
workspace_size merge_sort_workspace(std::int64_t n, std::size_t value_bytes = 0) {
  return kernels::merge_sort_layout<T, Exec>(n, value_bytes).size();
}

/// Writes the items of in to out in ascending order: no item is less than one before it, and
/// equal items keep their order (stable).
///
/// less is a pure scalar function object, a strict weak order of the items. in is a contiguous
/// rank-1 View or a source, whose functor is called once per item. out is a View of the items' type
/// that does not overlap in, or is the same array. It may also be a sink, whose items the call
/// sorts in memory that it allocates, and writes at the end. Tiles of 5856 items of 4 bytes are
/// sorted (devices; on hosts 128 KiB of items), then runs are merged: beyond 1000 tiles four at a
/// time on devices, else two; on hosts in streaks, where items are nearly in order or reversed. A
/// pass reads and writes every item once, and is a launch, or two beyond 2000 tiles. One launch for
/// one tile. O(n log n) work. As much memory as the items have. The result is the same on every
/// backend. Where less is no strict weak order, NaN among floating-point numbers included, the
/// items of out are unspecified, and nothing outside is read or written. Does not block. Throws
/// std::invalid_argument on wrong extents, overlap, or an option that cannot be reached.
template <execution_space Exec, class In, class Out, class Less = less>
requires(kernels::is_array_argument<Out>) void merge_sort(const Exec& exec, const In& in,
                                                          const Out& out, const Less& less = {},
                                                          const call_options& options = {}) {
  const auto source = detail::as_source<Exec>(in);
  const auto sink = detail::as_sink<Exec>(out);
  kernels::expects_sortable<Exec>(source, sink, "merge_sort", "in", "out");
  detail::expects_no_partial_overlap(source, sink, "merge_sort", "in", "out");
  using item = typename decltype(source)::value_type;
  if constexpr (detail::check_less<Exec, Less, item>() &&
                kernels::check_sorted_results<Exec, item, std::decay_t<decltype(sink)>>())
    kernels::with_sorted_array<item>(
        exec, "merge_sort", sink, source.extent, options, [&](const auto& sorted) {
          kernels::merge_sort(exec, "merge_sort", source, sorted, kernels::no_values{},
                              kernels::no_values{}, false, less, options);
        });
}

/// Overload that works in place.
template <execution_space Exec, class T, class... P, class Less = less>
requires(!kernels::is_array_argument<Less>) void merge_sort(const Exec& exec,
                                                            const Kokkos::View<T, P...>& data,
                                                            const Less& less = {},
                                                            const call_options& options = {}) {
  lanewise::merge_sort(exec, data, data, less, options);
}

/// For pairs: values, of any type, go the way of their keys, and are read and written once more in
/// every pass. In place it takes an even number of passes, so one more where needed.
template <execution_space Exec, class Keys, class Values, class KeysOut, class ValuesOut,
          class Less = less>
requires(kernels::is_array_argument<KeysOut>) void merge_sort_by_key(
    const Exec& exec, const Keys& keys, const Values& values, const KeysOut& keys_out,
    const ValuesOut& values_out, const Less& less = {}, const call_options& options = {}) {
  constexpr const char* name = "merge_sort_by_key";
  const auto source = detail::as_source<Exec>(keys);
  const auto sink = detail::as_sink<Exec>(keys_out);
  const auto value = detail::as_source<Exec>(values);
  const auto value_sink = detail::as_sink<Exec>(values_out);
  detail::expects(value.extent == source.extent, name, ": values has ", value.extent,
                  " items, keys has ", source.extent);
  kernels::expects_sortable<Exec>(source, sink, name, "keys", "keys_out");
  kernels::expects_sortable<Exec>(value, value_sink, name, "values", "values_out");
  detail::expects_no_partial_overlap(source, sink, name, "keys", "keys_out");
  detail::expects_no_partial_overlap(value, value_sink, name, "values", "values_out");
  detail::expects_no_partial_overlap(value, sink, name, "values", "keys_out", false);
  detail::expects_no_partial_overlap(source, value_sink, name, "keys", "values_out", false);
  detail::expects_no_partial_overlap(sink, value_sink, name, "keys_out", "values_out", false);
  using item = typename decltype(source)::value_type;
  using value_type = typename decltype(value)::value_type;
  if constexpr (detail::check_less<Exec, Less, item>() &&
                kernels::check_sorted_results<Exec, item, std::decay_t<decltype(sink)>>() &&
                kernels::check_sorted_results<Exec, value_type,
                                              std::decay_t<decltype(value_sink)>>()) {
    const auto sort_to = [&](const auto& sorted, const auto& sorted_values) {
      const auto values_memory = detail::bytes_of(value);
      const auto out_memory = detail::bytes_of(sorted_values);
      kernels::merge_sort(exec, name, source, sorted, value, sorted_values,
                          values_memory.begin == out_memory.begin, less, options);
    };
    kernels::with_sorted_array<item>(
        exec, name, sink, source.extent, options, [&](const auto& sorted) {
          kernels::with_sorted_array<value_type>(
              exec, name, value_sink, value.extent, options,
              [&](const auto& sorted_values) { sort_to(sorted, sorted_values); });
        });
  }
}

/// Overload that works in place.
template <execution_space Exec, class K, class... KP, class V, class... VP, class Less = less>
requires(!kernels::is_array_argument<Less>) void merge_sort_by_key(
    const Exec& exec, const Kokkos::View<K, KP...>& keys, const Kokkos::View<V, VP...>& values,
    const Less& less = {}, const call_options& options = {}) {
  lanewise::merge_sort_by_key(exec, keys, values, keys, values, less, options);
}

LANEWISE_END_TARGET_NAMESPACE
