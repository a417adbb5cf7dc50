// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/merging.hpp>
#include <lanewise/options.hpp>

#include <utility>

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

/// The items of a lane are an odd number, which spreads lanes over the banks of scratch, and those
/// of a team take 32 KiB at most where they are small.
template <class T>
struct merge_sort_policy : launch_policy {
  static constexpr int items_per_lane = sizeof(T) <= 4    ? 23
                                        : sizeof(T) <= 8  ? 15
                                        : sizeof(T) <= 16 ? 7
                                                          : 3;
  static constexpr int warps = sizeof(T) <= 32 ? 8 : (sizeof(T) <= 64 ? 4 : 1);
  static constexpr int teams_per_multiprocessor = sizeof(T) <= 4 ? 4 : (sizeof(T) <= 8 ? 3 : 1);
};

/// Stands for the values where there are none.
struct no_values {};

template <class Values, class ValueSink>
struct value_mover {
  static constexpr bool exists = true;
  Values in;
  ValueSink out;
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
template <class Source, class Move, class Less>
struct sort_tiles_kernel {
  using item = typename Source::value_type;
  using policy = merge_sort_policy<item>;
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
    for_each_tile(team, divide_up(count, tile), [&](std::int64_t t) {
      const std::int64_t first = t * tile, left = count - first;
      merging<Team>::template sort<Move::exists>(
          team, shared, in, first, static_cast<int>(left < tile ? left : tile), less, out, move);
    });
  }
};

/// Merges groups of runs.
template <class T, class Move, class Less>
struct merge_runs_kernel {
  using policy = merge_sort_policy<T>;
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
    for_each_tile(team, divide_up(runs.n, std::int64_t{merging<Team>::items}), [&](std::int64_t t) {
      merging<Team>::template merge<Move::exists>(team, shared, in, runs, cuts, t, less, out, move);
    });
  }
};

/// Where runs are cut for every tile, by a lane for each.
template <class T, int tile, class Less>
struct cut_runs_kernel {
  struct policy : launch_policy {
    static constexpr int warps = 1;
  };
  template <class Team>
  struct scratch {};

  array_source<T, identity> in;
  item_count n;
  std::int64_t run;
  std::int64_t* cuts;
  Less less;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    constexpr std::int64_t width = Team::warp_type::width;
    const detail::equal_runs runs{run, n(), 4};
    const std::int64_t tiles = divide_up(runs.n, std::int64_t{tile});
    const auto warp = team.warp();
    auto lane = warp.lane();
    for_each_tile(team, divide_up(tiles, width), [&](std::int64_t w) {
      const std::int64_t left = tiles - w * width;
      warp.each(
          warp.first(static_cast<int>(left < width ? left : width)),
          [&](std::uint32_t l) { runs.template cut<tile>(in, cuts, w * width + l, less); }, lane);
    });
  }
};

/// Where the parts of a merge sort's workspace lie.
template <class T, class Exec>
struct merge_sort_layout {
  using merging = detail::merging_t<team_t<Exec, merge_sort_policy<T>>, T, merge_sort_policy<T>>;
  std::size_t values_at;
  std::size_t cuts_at;
  workspace_size need;

  merge_sort_layout(std::int64_t n, std::size_t value_bytes) {
    const auto items = static_cast<std::size_t>(n);
    const auto tiles = static_cast<std::size_t>(divide_up(n, std::int64_t{merging::items}));
    const bool alone = tiles <= 1 && value_bytes == 0;
    values_at = alone ? 0 : round_up(items * sizeof(T));
    cuts_at = values_at + (alone ? 0 : round_up(items * value_bytes));
    need = {0, cuts_at + (merging::ways > 2 && tiles > 1 ? 4 * tiles * sizeof(std::int64_t) : 0)};
  }
  static std::size_t round_up(std::size_t bytes) { return (bytes + 255) / 256 * 256; }
};

/// Up to so many tiles are merged in pairs: a warp that searches takes a few rounds of loads, and
/// fewer launches do not make up for a lane's many.
inline constexpr std::int64_t few_tiles = 10000;

template <class Exec, class Source, class Sink, class Values, class ValueSink, class Less>
void merge_sort(const Exec& exec, const char* algorithm, const Source& keys, const Sink& keys_out,
                const Values& values, const ValueSink& values_out, bool in_place, const Less& less,
                const options& with, std::int64_t few = few_tiles) {
  using item = typename Source::value_type;
  using backend = backend_of<Exec>;
  using layout_type = merge_sort_layout<item, Exec>;
  using merging = typename layout_type::merging;
  constexpr bool paired = !std::is_same_v<Values, no_values>;
  const auto beside = beside_keys(values_out);
  using value = typename decltype(beside)::raw_type;
  using array = array_source<item, identity>;
  const item_count n = detail::count_of<Exec>(keys.extent, with, algorithm);
  if (n.bound == 0) return;
  const layout_type layout(n.bound, paired ? sizeof(value) : 0);
  auto work = call_workspace::make<backend>(exec, with.work, layout.need, algorithm);
  auto* const memory = static_cast<char*>(work.get().plain());
  auto* const cuts = reinterpret_cast<std::int64_t*>(memory + layout.cuts_at);
  const std::int64_t tiles = divide_up(n.bound, std::int64_t{merging::items});

  struct memory_of_pairs {
    item* keys;
    value* values;
  };
  memory_of_pairs to{keys_out.data, beside.data};
  memory_of_pairs from{reinterpret_cast<item*>(memory),
                       reinterpret_cast<value*>(memory + layout.values_at)};

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
  using first_move = decltype(mover_to<paired>(values, beside.data));
  using first = sort_tiles_kernel<Source, first_move, Less>;
  launch(exec, "Lanewise::merge_sort::tiles",
         backend::template league_for_tiles<first>(exec, tiles),
         first{keys, to.keys, mover_to<paired>(values, to.values), n, less});
  const int all = passes();
  std::int64_t run = merging::items;
  for (int pass = 0; pass < all; ++pass) {
    std::swap(from, to);
    const int ways = pass < fours ? 4 : 2;
    const array given{from.keys, n.bound, {}};
    const array_source<value, identity> given_values{from.values, n.bound, {}};
    if constexpr (merging::ways == 4) {
      using cutting = cut_runs_kernel<item, merging::items, Less>;
      if (ways == 4)
        launch(exec, "Lanewise::merge_sort::cut",
               backend::template league_for_tiles<cutting>(
                   exec, divide_up(tiles, std::int64_t{warp_t<Exec>::width})),
               cutting{given, n, run, cuts, less});
    }
    using next_move = decltype(mover_to<paired>(given_values, to.values));
    using next = merge_runs_kernel<item, next_move, Less>;
    launch(exec, "Lanewise::merge_sort::merge",
           backend::template league_for_tiles<next>(exec, tiles),
           next{from.keys, to.keys, mover_to<paired>(given_values, to.values), n, run, ways,
                ways == 4 ? cuts : nullptr, less});
    run *= ways;
  }
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

template <class T>
inline constexpr bool is_array_argument =
    Kokkos::is_view_v<T> || detail::is_source<T>::value || detail::is_sink<T>::value;

}  // namespace kernels

/// The workspace that merge_sort needs for n items of type T, and merge_sort_by_key with values of
/// `value_bytes` bytes beside them. Needs no device.
template <class T, class Exec>
workspace_size merge_sort_workspace(std::int64_t n, std::size_t value_bytes = 0) {
  return kernels::merge_sort_layout<T, Exec>(n, value_bytes).need;
}

/// Writes the items of in to out in ascending order: no item is less than one in front of it, and
/// equal items keep their order (stable).
template <execution_space Exec, class In, class Out, class Less = less>
requires(kernels::is_array_argument<Out>) void merge_sort(const Exec& exec, const In& in,
                                                          const Out& out, const Less& less = {},
                                                          const options& with = {}) {
  const auto source = detail::as_source<Exec>(in);
  const auto sink = detail::as_sink<Exec>(out);
  kernels::expects_sortable<Exec>(source, sink, "merge_sort", "in", "out");
  detail::expects_no_partial_overlap(source, sink, "merge_sort", "in", "out");
  using item = typename decltype(source)::value_type;
  if constexpr (detail::check_less<Exec, Less, item>() &&
                kernels::check_sorted_output<item, std::decay_t<decltype(sink)>>())
    kernels::merge_sort(exec, "merge_sort", source, sink, kernels::no_values{},
                        kernels::no_values{}, false, less, with);
}

/// The same in place.
template <execution_space Exec, class T, class... P, class Less = less>
requires(!kernels::is_array_argument<Less>) void merge_sort(const Exec& exec,
                                                            const Kokkos::View<T, P...>& data,
                                                            const Less& less = {},
                                                            const options& with = {}) {
  merge_sort(exec, data, data, less, with);
}

/// The same for pairs: values, of any type, go the way of their keys.
template <execution_space Exec, class Keys, class Values, class KeysOut, class ValuesOut,
          class Less = less>
requires(kernels::is_array_argument<KeysOut>) void merge_sort_by_key(
    const Exec& exec, const Keys& keys, const Values& values, const KeysOut& keys_out,
    const ValuesOut& values_out, const Less& less = {}, const options& with = {}) {
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
  if constexpr (detail::check_less<Exec, Less, item>() &&
                kernels::check_sorted_output<item, std::decay_t<decltype(sink)>>() &&
                kernels::check_sorted_output<typename decltype(value)::value_type,
                                             std::decay_t<decltype(value_sink)>>()) {
    const auto values_memory = detail::bytes_of(value), out_memory = detail::bytes_of(value_sink);
    kernels::merge_sort(exec, name, source, sink, value, value_sink,
                        values_memory.begin == out_memory.begin, less, with);
  }
}

/// The same in place.
template <execution_space Exec, class K, class... KP, class V, class... VP, class Less = less>
requires(!kernels::is_array_argument<Less>) void merge_sort_by_key(
    const Exec& exec, const Kokkos::View<K, KP...>& keys, const Kokkos::View<V, VP...>& values,
    const Less& less = {}, const options& with = {}) {
  merge_sort_by_key(exec, keys, values, keys, values, less, with);
}

LANEWISE_END_TARGET_NAMESPACE
