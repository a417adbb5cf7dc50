// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/detail/tuning.hpp>
#include <lanewise/segments/detail/segmented_scan_tile.hpp>
#include <lanewise/segments/segmented_scan.hpp>
#include <lanewise/select/detail/compact.hpp>
#include <lanewise/tile/tile.hpp>

#include <algorithm>
#include <type_traits>
#include <utility>

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

/// Results of segments wait together with their keys. Ten warps have just the registers that values
/// and keys of 4 bytes need: 349 Gitems/s with runs of 4 on an H200, by 8 warps 317, by 12 warps
/// 322.
template <class T, class Key,
          class Row = tuning::reduce_by_key<tuning::pair_class(sizeof(T) + sizeof(Key))>>
struct ends_policy : Row {
  static constexpr int items_per_lane =
      lanewise::items_that_fit(Row::items_per_lane, Row::warps, sizeof(T) + sizeof(Key));
  static constexpr int parked_tiles = [] {
    const int most = lanewise::tiles_that_wait((sizeof(T) + sizeof(Key)) * 32 * ends_policy::warps *
                                               items_per_lane);
    return most > 0 ? most : 1;
  }();
};

/// A scan by key that keeps only the last result of every run; the runs that begin before a tile
/// say where its results go.
template <class Keys, class Values, class KeySink, class Sink, class Op, class Equal,
          class Policy = ends_policy<typename Values::value_type, typename Keys::value_type>>
struct reduce_by_key_kernel {
  using T = typename Values::value_type;
  using policy = Policy;
  using state = detail::segment_state<T>;
  using heads_type = detail::key_differing<Keys, Equal>;

  template <class Team>
  using tile = detail::segmented_scan_tile<Team, T, policy, Values, heads_type, identity, true>;
  template <class Team>
  using scratch = decoupled_look_back_scratch<Team, state, tile<Team>>;

  heads_type heads;
  Values values;
  KeySink keys_out;
  Sink values_out;
  Op op;
  item_count n;
  look_back_chain<state> chain;
  detail::integers runs;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    constexpr std::int64_t items = tile_t<Team, T, policy>::items;
    const std::int64_t count = n();
    // There is a tile without items when there are none, so that a team writes the count.
    const auto tiles = static_cast<std::uint32_t>(count > 0 ? divide_up(count, items) : 1);
    const identity as_it_is;
    lanewise::decoupled_look_back(
        team, chain, tiles, shared, detail::join_segments<T, Op>{op}, maybe<state>{{}, false},
        [&](std::uint32_t ticket, auto& place) LANEWISE_INLINE_LAMBDA {
          return tile<Team>(team, place, values, heads, as_it_is, ticket * items, count);
        },
        [&](auto& segments) LANEWISE_INLINE_LAMBDA {
          segments.scan(op);
          return segments.total();
        },
        [&](auto& segments, std::uint32_t ticket, const maybe<state>& front)
            LANEWISE_INLINE_LAMBDA {
              const state before = front.present ? front.value : state::of(0, T{});
              segments.write_ends(heads, keys_out, values_out, before, op);
              if (ticket + 1 == tiles)
                team.once([&] { runs.put(0, before.heads() + segments.total().heads()); });
            });
  }
};

template <class Exec, class Keys, class Values, class KeySink, class Sink, class Op, class Equal,
          class Policy = ends_policy<typename Values::value_type, typename Keys::value_type>>
void reduce_runs(const Exec& exec, const detail::key_differing<Keys, Equal>& heads,
                 const Values& values, const KeySink& keys_out, const Sink& values_out,
                 const Op& op, const item_count& n, detail::integers runs, workspace* given,
                 workspace_size need, const Policy& = {}) {
  using kernel = reduce_by_key_kernel<Keys, Values, KeySink, Sink, Op, Equal, Policy>;
  using state = typename kernel::state;
  using backend = backend_of<Exec>;
  auto work = call_workspace::make<backend>(exec, given, need, "reduce_by_key");
  lanewise::launch(exec, "Lanewise::reduce_by_key",
                   backend::template league_for_tiles<kernel>(exec, need.tickets),
                   kernel{heads, values, keys_out, values_out, op, n,
                          work.get().template make_look_back_chain<state>(0), runs});
}

template <class T, class Key, class Exec, class Policy = ends_policy<T, Key>>
std::int64_t ends_tiles(std::int64_t n) {
  return n > 0 ? lanewise::divide_up(n, tile_t<team_t<Exec, Policy>, T, Policy>::items) : 1;
}
/// Makes tiles as small as they get with keys of up to 16 bytes, by whatever row of the table.
struct large_key {
  std::uint64_t words[2];
};
template <class T, class Exec, int... row>
std::int64_t most_ends_tiles(std::int64_t n, std::integer_sequence<int, row...>) {
  return std::max(
      {kernels::ends_tiles<T, large_key, Exec,
                           ends_policy<T, large_key, tuning::reduce_by_key<row>>>(n)...});
}

}  // namespace kernels

/// The workspace that reduce_by_key needs for n values combined as T, with keys of type Key: where
/// it is not named, of any type of up to 16 bytes. Needs no device.
template <class T, class Exec, class Key = kernels::large_key>
workspace_size reduce_by_key_workspace(std::int64_t n) {
  const std::int64_t tiles =
      std::is_same_v<Key, kernels::large_key>
          ? kernels::most_ends_tiles<T, Exec>(n, std::integer_sequence<int, 8, 16, 32>{})
          : kernels::ends_tiles<T, Key, Exec>(n);
  return {tiles, look_back_chain<detail::segment_state<T>>::payload_bytes(tiles)};
}

/// For every run of equal neighbouring keys, in input order, stores its key in keys_out and the
/// combination of the values beside it in values_out; stores the number of runs in the rank-0 View
/// count of integers (docs/algorithms.md).
///
/// op is an associative function object on the type of values_out's items, or on A where it is
/// accumulate_as<A>(op). Values are converted to that type. op need not commute and needs no
/// identity. equal is a pure scalar equivalence, called up to three times per pair of neighbours;
/// the key that is stored is the first of its run. keys and values are contiguous rank-1 Views or
/// sources of the same extent. keys_out and values_out are Views, or a sink for keys, that overlap
/// none of them. Where an output has fewer places than there are results, the first are written;
/// count counts all of them. One launch and one pass: n reads of keys and of values, two writes per
/// run, and another read of the runs' keys from cache; O(n) work, whatever the lengths of runs.
/// Floating-point sums may differ from run to run by association. Does not block. Throws
/// std::invalid_argument on wrong extents, overlap, or an option that cannot be reached. (Merrill,
/// 3.6; a single pass with look-back.)
template <execution_space Exec, class Keys, class Values, class KeysOut, class ValuesOut, class C,
          class... P, class Op, class Equal = equal_to>
requires(!Kokkos::is_view_v<Op>) void reduce_by_key(const Exec& exec, const Keys& keys,
                                                    const Values& values, const KeysOut& keys_out,
                                                    const ValuesOut& values_out,
                                                    const Kokkos::View<C, P...>& count,
                                                    const Op& op, const Equal& equal = {},
                                                    const call_options& options = {}) {
  const auto sink = detail::as_sink<Exec>(values_out);
  using result = typename detail::sink_value<std::decay_t<decltype(sink)>>::type;
  static_assert(!std::is_void_v<result>, "lanewise::reduce_by_key: values_out is a View");
  using T = detail::accumulated<Op, result>;
  const auto combine = detail::without_accumulation(op);
  const auto key = detail::as_source<Exec>(keys);
  const auto value = detail::as<T>(detail::as_source<Exec>(values));
  const auto key_sink = detail::as_sink<Exec>(keys_out);
  detail::expects(value.extent == key.extent, "reduce_by_key: values has ", value.extent,
                  " items, keys has ", key.extent);
  detail::expects_memory(key, "reduce_by_key", "keys");
  detail::expects_memory(value, "reduce_by_key", "values");
  detail::expects_memory(key_sink, "reduce_by_key", "keys_out");
  detail::expects_memory(sink, "reduce_by_key", "values_out");
  detail::expects_no_partial_overlap(key, key_sink, "reduce_by_key", "keys", "keys_out", false);
  detail::expects_no_partial_overlap(key, sink, "reduce_by_key", "keys", "values_out", false);
  detail::expects_no_partial_overlap(value, key_sink, "reduce_by_key", "values", "keys_out", false);
  detail::expects_no_partial_overlap(value, sink, "reduce_by_key", "values", "values_out", false);
  detail::expects_no_partial_overlap(key_sink, sink, "reduce_by_key", "keys_out", "values_out",
                                     false);
  const item_count n = detail::count_of<Exec>(key.extent, options, "reduce_by_key");
  const detail::integers runs = kernels::count_place<Exec>(count, "reduce_by_key");
  using key_item = typename decltype(key)::value_type;
  if constexpr (detail::check_operator<Exec, Op, result>() &&
                detail::check_items<detail::item_of<Exec, Values>, T, detail::says_type<Op>>() &&
                detail::check_equal<Exec, Equal, key_item>() &&
                detail::check_results<Exec, key_item, std::decay_t<decltype(key_sink)>>())
    kernels::reduce_runs(exec,
                         detail::key_differing<std::decay_t<decltype(key)>, Equal>{key, equal},
                         value, key_sink, sink, combine, n, runs, options.work,
                         lanewise::reduce_by_key_workspace<T, Exec, key_item>(key.extent));
}

/// Overload that returns the number of runs. **Blocks.** Throws std::length_error where an output
/// has fewer places than there are results: the first are written.
template <execution_space Exec, class Keys, class Values, class KeysOut, class ValuesOut, class Op,
          class Equal = equal_to>
requires(!Kokkos::is_view_v<Op>) std::int64_t
    reduce_by_key(const Exec& exec, const Keys& keys, const Values& values, const KeysOut& keys_out,
                  const ValuesOut& values_out, const Op& op, const Equal& equal = {},
                  const call_options& options = {}) {
  return kernels::blocking_number(
      exec, "reduce_by_key",
      [&](const auto& count) {
        lanewise::reduce_by_key(exec, keys, values, keys_out, values_out, count, op, equal,
                                options);
      },
      "keys_out", keys_out, "values_out", values_out);
}

LANEWISE_END_TARGET_NAMESPACE
