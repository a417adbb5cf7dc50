// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/merge/merge.hpp>
#include <lanewise/merge/merge_sort.hpp>
#include <lanewise/sequence/allocate.hpp>

#include <utility>

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

/// Counts runs that end before their beginning or lie outside of the items; and that the runs
/// do not begin with the first item, or do not end after the last.
template <class Offsets>
struct check_runs_kernel {
  struct policy : launch_policy {};
  template <class Team>
  struct scratch {};

  Offsets offsets;
  item_count n;
  std::int64_t runs;
  status* errors;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    constexpr std::int64_t width = warp_type::width;
    const auto warp = team.warp();
    const std::int64_t count = n();
    const auto at = [&](std::int64_t r) { return static_cast<std::int64_t>(offsets(r)); };
    const auto [first, last] = team.share(divide_up(runs, width));
    for (std::int64_t w = first + team.warp_index(); w < last; w += Team::warps) {
      const std::int64_t left = runs - w * width;
      const auto is_bad = warp.map(
          warp.first(left),
          [&](std::uint32_t l) -> std::uint32_t {
            const std::int64_t r = w * width + l, begin = at(r), end = at(r + 1);
            return begin < 0 || end < begin || end > count || (r == 0 && begin != 0) ||
                   (r + 1 == runs && end != count);
          },
          0u, warp.lane());
      const int bad = warp.count(is_bad != 0u);
      if (bad != 0) warp.fetch_add(errors->bad_items, static_cast<std::uint64_t>(bad));
    }
  }
};

/// The offsets as the merges need them: in [0, n], none less than one in front, the first 0 and the
/// last n. One team, whose warps take 8 rows each at a time.
template <class Offsets>
struct order_runs_kernel {
  struct policy : launch_policy {};
  static constexpr int rows = 8;
  template <class Team>
  struct scratch {
    std::int64_t greatest[2][Team::warps];
  };

  Offsets offsets;
  item_count n;
  std::int64_t runs;
  std::int64_t* bounds;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using warp_type = typename Team::warp_type;
    using indices = lanes_t<warp_type, std::int64_t>;
    constexpr std::int64_t width = warp_type::width, each = rows * width;
    const auto warp = team.warp();
    const std::int64_t count = n();
    std::int64_t before = 0;
    int turn = 0;
    for (std::int64_t first = 0; first <= runs; first += each * Team::warps, turn ^= 1) {
      const std::int64_t mine = first + team.warp_index() * each;
      indices x[rows];
      LANEWISE_UNROLL
      for (int j = 0; j < rows; ++j) {
        const std::int64_t at = mine + j * width, left = runs + 1 - at;
        x[j] = warp.map(
            warp.first(left),
            [&](std::uint32_t l) -> std::int64_t {
              const std::int64_t r = at + l, given = static_cast<std::int64_t>(offsets(r));
              return r == runs || given > count ? count : (r == 0 || given < 0 ? 0 : given);
            },
            std::int64_t{0}, warp.lane());
      }
      std::int64_t greatest = 0;
      LANEWISE_UNROLL
      for (int j = 0; j < rows; ++j) {
        const auto upto = warp.inclusive_scan(x[j], maximum{});
        x[j] = warp.map(maximum{}, upto, indices(greatest));
        greatest = warp.broadcast(x[j], static_cast<int>(width) - 1);
      }
      warp.once([&] { shared.greatest[turn][team.warp_index()] = greatest; });
      team.barrier();
      std::int64_t in_front = before;
      for (int w = 0; w < Team::warps; ++w) {
        const std::int64_t of = shared.greatest[turn][w];
        if (w < team.warp_index()) in_front = of > in_front ? of : in_front;
        before = of > before ? of : before;
      }
      LANEWISE_UNROLL
      for (int j = 0; j < rows; ++j) {
        const std::int64_t at = mine + j * width, left = runs + 1 - at;
        const auto y = warp.map(maximum{}, x[j], indices(in_front));
        warp.store(warp.first(left), bounds + at, y);
      }
    }
  }
};

/// Merges pairs of groups of runs, `group` neighbours each.
template <class Source, class Move, class Less>
struct merge_groups_kernel {
  using item = typename Source::value_type;
  using policy = merge_policy<item>;
  template <class Team>
  using tile = merge_tile_t<Team, item, policy>;
  template <class Team>
  struct scratch {
    typename tile<Team>::scratch tile;
  };

  Source in;
  item* out;
  Move move;
  item_count n;
  const std::int64_t* bounds;
  std::int64_t runs;
  std::int64_t group;
  Less less;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    constexpr std::int64_t items = tile<Team>::items;
    const std::int64_t count = n(), pairs = divide_up(runs, 2 * group);
    const auto bound = [&](std::int64_t r) { return bounds[r < runs ? r : runs]; };
    lanewise::for_each_tile(team, divide_up(count, items), [&](std::int64_t t) {
      const std::int64_t last = t * items + items < count ? t * items + items : count;
      std::int64_t pair = 0;
      for (std::int64_t at = t * items; at < last; ++pair) {
        pair = lanewise::partition_point(team.warp(), pair, pairs, [&](std::int64_t p) {
          return bound((p + 1) * 2 * group) <= at;
        });
        const std::int64_t a = bound(pair * 2 * group), b = bound(pair * 2 * group + group),
                           end = bound((pair + 1) * 2 * group), to = end < last ? end : last;
        lanewise::merge_tile<item, policy>(
            team, shared.tile, [&](std::int64_t i) { return in(a + i); }, b - a,
            [&](std::int64_t i) { return in(b + i); }, end - b, at - a, to - a,
            [&](std::int64_t i, const item& x, const merge_origin& from) LANEWISE_INLINE_LAMBDA {
              out[a + i] = x;
              move(a + i, (from.sequence == 0 ? a : b) + from.index);
            },
            less);
        at = to;
      }
    });
  }
};

/// Whether a sort of all items takes less time, as there are many runs: it needs the same number of
/// passes for any runs. A pass of a sort merges four runs for some 1.3 times the time of two; tiles
/// are sorted in the time of four.
template <class T, class Exec>
bool sorts_runs(std::int64_t n, std::int64_t runs) {
  constexpr std::int64_t items = merge_sort_layout<T, Exec>::merging::items;
  int pairings = 0, of_tiles = 0;
  for (std::int64_t r = 1; r < runs; r *= 2) ++pairings;
  for (std::int64_t r = items; r < n; r *= 2) ++of_tiles;
  return pairings > 4 + 2 * of_tiles / 3;
}

template <class T, class Exec>
struct merge_runs_layout : workspace_layout {
  bool sorts;
  int passes = 0;
  workspace_array<T> keys;
  workspace_array<char> values;
  workspace_array<std::int64_t> bounds;

  merge_runs_layout(std::int64_t n, std::int64_t runs, std::size_t value_bytes)
      : sorts(kernels::sorts_runs<T, Exec>(n, runs)) {
    for (std::int64_t r = 1; r < runs; r *= 2) ++passes;
    passes = passes > 0 ? passes : 1;
    if (sorts) {
      add_call(merge_sort_layout<T, Exec>(n, value_bytes).size());
      return;
    }
    const std::int64_t items = passes > 1 ? n : 0;
    add(keys, items);
    add(values, items * static_cast<std::int64_t>(value_bytes));
    add(bounds, runs + 1);
  }
};

template <class Exec, class Source, class Offsets, class Sink, class Values, class ValueSink,
          class Less>
void merge_runs(const Exec& exec, const char* algorithm, const Source& keys, const Offsets& offsets,
                const Sink& keys_out, const Values& values, const ValueSink& values_out,
                const Less& less, const checked_options& options) {
  using item = typename Source::value_type;
  using backend = backend_of<Exec>;
  constexpr bool paired = !std::is_same_v<Values, no_values>;
  const auto beside = kernels::beside_keys(values_out);
  using value = typename decltype(beside)::raw_type;
  const item_count n = kernels::count_of<Exec>(keys.extent, options, algorithm);
  const std::int64_t runs = offsets.extent > 0 ? offsets.extent - 1 : 0;
  const merge_runs_layout<item, Exec> layout(n.bound, runs, paired ? sizeof(value) : 0);
  auto work = call_workspace::make<backend>(exec, options.work, layout.size(), algorithm);
  if (n.bound == 0 && runs == 0) return;
  using checking = check_runs_kernel<Offsets>;
  status* const errors = kernels::errors_of<Exec>(options, work.get());
  if (errors != nullptr && runs > 0)
    lanewise::launch(exec, "Lanewise::merge_runs::check",
                     backend::template resident_league<checking>(exec, divide_up(runs, 256)),
                     checking{offsets, n, runs, errors});
  if (n.bound == 0) return;
  if (layout.sorts) {
    kernels::merge_sort(exec, algorithm, keys, keys_out, values, values_out, false, less,
                        {.work = &work.get(), .count = options.count});
    return;
  }
  auto* const memory = static_cast<char*>(work.get().plain());
  auto* const bounds = layout.bounds.data(memory);
  using ordering = order_runs_kernel<Offsets>;
  lanewise::launch(exec, "Lanewise::merge_runs::order", 1, ordering{offsets, n, runs, bounds});
  const std::int64_t tiles = lanewise::divide_up(n.bound, merge_tile_items<item, Exec>);
  item* to = keys_out.data;
  value* values_to = beside.data;
  item* from = layout.keys.data(memory);
  value* values_from = reinterpret_cast<value*>(layout.values.data(memory));
  if (layout.passes % 2 == 0) {
    std::swap(from, to);
    std::swap(values_from, values_to);
  }
  const auto pass = [&](const auto& source, const auto& move, std::int64_t group) {
    using kernel =
        merge_groups_kernel<std::decay_t<decltype(source)>, std::decay_t<decltype(move)>, Less>;
    lanewise::launch(exec, "Lanewise::merge_runs::merge",
                     backend::template league_for_tiles<kernel>(exec, tiles),
                     kernel{source, to, move, n, bounds, runs, group, less});
  };
  pass(keys, kernels::mover_to<paired>(values, values_to), 1);
  for (int p = 1; p < layout.passes; ++p) {
    std::swap(from, to);
    std::swap(values_from, values_to);
    pass(array_source<item, identity>{from, n.bound, {}},
         kernels::mover_to<paired>(array_source<value, identity>{values_from, n.bound, {}},
                                   values_to),
         std::int64_t{1} << p);
  }
}

template <class Exec, class Offsets>
constexpr bool check_run_offsets() {
  constexpr bool integers = std::is_integral_v<typename Offsets::value_type>;
  static_assert(integers || detail::is_refused<typename Offsets::value_type>,
                "lanewise::merge_runs: offsets are integers");
  return integers;
}

}  // namespace kernels

/// The workspace that merge_runs needs for n items of type T in `runs` runs, and merge_runs_by_key
/// with values of `value_bytes` bytes beside them. Needs no device.
template <class T, class Exec>
workspace_size merge_runs_workspace(std::int64_t n, std::int64_t runs,
                                    std::size_t value_bytes = 0) {
  return kernels::merge_runs_layout<T, Exec>(n, runs, value_bytes).size();
}

/// Merges k sorted runs of neighbours into one sorted sequence (k-way merge): run r is
/// in(offsets(r))
/// ... in(offsets(r + 1) - 1), for r in [0, k), k = offsets.extent - 1. Stable: equal items are in
/// out in the order that they have in in.
///
/// less is a pure scalar function object, a strict weak order. in is a contiguous rank-1 View or a
/// source. out is a View of the type of its items that does not overlap it, offsets a View or
/// source of integers: offsets(0) = 0, offsets(k) = n, and none is less than one before it. Runs
/// may be empty, and of any lengths. ceil(log2 k) passes: each is a launch that reads and writes
/// every item once. If there are enough runs that a sort takes less time, the call is a merge_sort.
/// O(n log k) work. The result is the same on every backend. A run that ends before its beginning,
/// or lies outside, is counted in options.errors, else in options.work. The items of out are not
/// specified then, as where runs are not sorted or less is no strict weak order; nothing outside is
/// read or written. Does not block. Throws std::invalid_argument on wrong extents, overlap, or an
/// option that cannot be reached.
template <execution_space Exec, class In, class Offsets, class Out, class Less = less>
void merge_runs(const Exec& exec, const In& in, const Offsets& offsets, const Out& out,
                const Less& less = {}, const checked_options& options = {}) {
  constexpr const char* name = "merge_runs";
  const auto source = detail::as_source<Exec>(in);
  const auto offset = detail::as_source<Exec>(offsets);
  const auto sink = detail::as_sink<Exec>(out);
  kernels::expects_sortable<Exec>(source, sink, name, "in", "out");
  detail::expects_memory(offset, name, "offsets");
  detail::expects_no_partial_overlap(source, sink, name, "in", "out", false);
  detail::expects_no_partial_overlap(offset, sink, name, "offsets", "out", false);
  detail::expects(offset.extent > 1 || source.extent == 0, name, ": offsets has ", offset.extent,
                  " items, of no run, in has ", source.extent);
  using item = typename decltype(source)::value_type;
  if constexpr (kernels::check_run_offsets<Exec, std::decay_t<decltype(offset)>>() &&
                detail::check_less<Exec, Less, item>() &&
                kernels::check_sorted_output<item, std::decay_t<decltype(sink)>>())
    kernels::merge_runs(exec, name, source, offset, sink, kernels::no_values{},
                        kernels::no_values{}, less, options);
}

/// For pairs: values, of any type, go the way of their keys.
template <execution_space Exec, class Keys, class Values, class Offsets, class KeysOut,
          class ValuesOut, class Less = less>
void merge_runs_by_key(const Exec& exec, const Keys& keys, const Values& values,
                       const Offsets& offsets, const KeysOut& keys_out, const ValuesOut& values_out,
                       const Less& less = {}, const checked_options& options = {}) {
  constexpr const char* name = "merge_runs_by_key";
  const auto source = detail::as_source<Exec>(keys);
  const auto value = detail::as_source<Exec>(values);
  const auto offset = detail::as_source<Exec>(offsets);
  const auto sink = detail::as_sink<Exec>(keys_out);
  const auto value_sink = detail::as_sink<Exec>(values_out);
  detail::expects(value.extent == source.extent, name, ": values has ", value.extent,
                  " items, keys has ", source.extent);
  kernels::expects_sortable<Exec>(source, sink, name, "keys", "keys_out");
  kernels::expects_sortable<Exec>(value, value_sink, name, "values", "values_out");
  detail::expects_memory(offset, name, "offsets");
  detail::expects_no_partial_overlap(source, sink, name, "keys", "keys_out", false);
  detail::expects_no_partial_overlap(value, value_sink, name, "values", "values_out", false);
  detail::expects_no_partial_overlap(value, sink, name, "values", "keys_out", false);
  detail::expects_no_partial_overlap(source, value_sink, name, "keys", "values_out", false);
  detail::expects_no_partial_overlap(offset, sink, name, "offsets", "keys_out", false);
  detail::expects_no_partial_overlap(offset, value_sink, name, "offsets", "values_out", false);
  detail::expects_no_partial_overlap(sink, value_sink, name, "keys_out", "values_out", false);
  detail::expects(offset.extent > 1 || source.extent == 0, name, ": offsets has ", offset.extent,
                  " items, of no run, keys has ", source.extent);
  using item = typename decltype(source)::value_type;
  if constexpr (kernels::check_run_offsets<Exec, std::decay_t<decltype(offset)>>() &&
                detail::check_less<Exec, Less, item>() &&
                kernels::check_sorted_output<item, std::decay_t<decltype(sink)>>() &&
                kernels::check_sorted_output<typename decltype(value)::value_type,
                                             std::decay_t<decltype(value_sink)>>())
    kernels::merge_runs(exec, name, source, offset, sink, value, value_sink, less, options);
}

LANEWISE_END_TARGET_NAMESPACE
