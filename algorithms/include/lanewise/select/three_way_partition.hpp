// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/select/detail/compact.hpp>
#include <lanewise/select/detail/three_way_tile.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

/// The skeleton of selection with two counts on the chain.
template <class Source, class Ways, class One, class Two, class Three>
struct three_way_kernel {
  using item = typename Source::value_type;
  using state = detail::selection_state;
  struct policy : compact_policy<item, false> {
    static constexpr int parked_tiles = [] {
      const int most =
          lanewise::tiles_that_wait(sizeof(item) * 32 * policy::warps * policy::items_per_lane);
      return most > 0 ? most : 1;
    }();
  };

  template <class Team>
  using tile = detail::three_way_tile<Team, item, policy, Ways, Source>;
  template <class Team>
  using scratch = decoupled_look_back_scratch<Team, state, tile<Team>>;

  Source in;
  Ways ways;
  One one;
  Two two;
  Three rest;
  item_count n;
  look_back_chain<state> chain;
  detail::integers counts;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const std::int64_t count = n();
    constexpr std::int64_t items = tile_t<Team, item, policy>::items;
    // There is a tile without items when there are none, so that a team writes the counts.
    const auto tiles = static_cast<std::uint32_t>(count > 0 ? divide_up(count, items) : 1);
    lanewise::decoupled_look_back(
        team, chain, tiles, shared, detail::add_two_ways{}, maybe<state>{state::of(0, 0), true},
        [&](std::uint32_t ticket, auto& place) LANEWISE_INLINE_LAMBDA {
          return tile<Team>(team, place, in, ways, ticket * items, count);
        },
        [&](auto& parted) LANEWISE_INLINE_LAMBDA { return parted.total(); },
        [&](auto& parted, std::uint32_t ticket, const maybe<state>& before) LANEWISE_INLINE_LAMBDA {
          parted.write(one, two, rest, before.value);
          if (ticket + 1 == tiles) {
            const state all = detail::add_two_ways{}(before.value, parted.total());
            team.once([&] {
              counts.put(0, all.count());
              counts.put(1, all.end());
              counts.put(2, count - all.count() - all.end());
            });
          }
        });
  }
};

}  // namespace kernels

/// The workspace that three_way_partition needs for n items of type T. Needs no device.
template <class T, class Exec>
workspace_size three_way_partition_workspace(std::int64_t n) {
  return lanewise::compact_workspace<T, Exec>(n);
}

/// Copies the items for which in_first(item) holds to the front of first. Copies others for which
/// in_second(item) holds to the front of second, and the rest to the front of rest. All are in
/// input order. Stores how many items of each there are in counts(0), counts(1) and counts(2).
///
/// in_first and in_second are pure scalar function objects, called up to twice per item, and
/// in_second only where in_first does not hold. in is a contiguous rank-1 View or a source; first,
/// second and rest are Views or sinks that overlap neither in nor each other; counts is a View of
/// rank 1 of integers. Where an output has fewer places than there are results, the first are
/// written; counts count all of them. Nothing is written beyond the results. One launch and one
/// pass: n reads and n writes (on hosts items are read again from cache). O(n) work, n < 2^48. The
/// result is the same on every backend. Does not block. Throws std::invalid_argument on overlap, on
/// less than 3 counts, or on an option that cannot be reached. (Merrill, 3.5; a single pass with
/// look-back.)
template <execution_space Exec, class In, class First, class Second, class Rest, class T,
          class... P, class InFirst, class InSecond>
void three_way_partition(const Exec& exec, const In& in, const First& first, const Second& second,
                         const Rest& rest, const Kokkos::View<T, P...>& counts,
                         const InFirst& in_first, const InSecond& in_second,
                         const call_options& options = {}) {
  constexpr const char* algorithm = "three_way_partition";
  using view = Kokkos::View<T, P...>;
  static_assert(view::rank() == 1 && std::is_integral_v<typename view::value_type> &&
                    !std::is_const_v<typename view::value_type>,
                "lanewise::three_way_partition: counts is a View of rank 1 of integers, not const");
  detail::check_view_type<view>();
  detail::check_reachable<Exec, view>();
  const auto source = detail::as_source<Exec>(in);
  const auto one = detail::as_sink<Exec>(first);
  const auto two = detail::as_sink<Exec>(second);
  const auto three = detail::as_sink<Exec>(rest);
  detail::expects(counts.extent(0) >= 3, algorithm, ": counts has ", counts.extent(0),
                  " places, not 3");
  detail::expects(counts.data() != nullptr, algorithm, ": counts has no memory");
  detail::expects_memory(source, algorithm, "in");
  detail::expects_memory(one, algorithm, "first");
  detail::expects_memory(two, algorithm, "second");
  detail::expects_memory(three, algorithm, "rest");
  detail::expects_no_partial_overlap(source, one, algorithm, "in", "first", false);
  detail::expects_no_partial_overlap(source, two, algorithm, "in", "second", false);
  detail::expects_no_partial_overlap(source, three, algorithm, "in", "rest", false);
  detail::expects_no_partial_overlap(one, two, algorithm, "first", "second", false);
  detail::expects_no_partial_overlap(one, three, algorithm, "first", "rest", false);
  detail::expects_no_partial_overlap(two, three, algorithm, "second", "rest", false);
  using item = typename decltype(source)::value_type;
  if constexpr (detail::check_predicate<Exec, InFirst, item>() &&
                detail::check_predicate<Exec, InSecond, item>() &&
                detail::check_results<Exec, item, std::decay_t<decltype(one)>>() &&
                detail::check_results<Exec, item, std::decay_t<decltype(two)>>() &&
                detail::check_results<Exec, item, std::decay_t<decltype(three)>>()) {
    using ways = detail::two_ways<InFirst, InSecond>;
    using kernel =
        kernels::three_way_kernel<std::decay_t<decltype(source)>, ways, std::decay_t<decltype(one)>,
                                  std::decay_t<decltype(two)>, std::decay_t<decltype(three)>>;
    using backend = backend_of<Exec>;
    const item_count n = detail::count_of<Exec>(source.extent, options, algorithm);
    auto work = call_workspace::make<backend>(
        exec, options.work, lanewise::three_way_partition_workspace<item, Exec>(source.extent),
        algorithm);
    const std::int64_t tiles =
        kernels::compact_tiles<item, Exec, typename kernel::policy>(source.extent);
    lanewise::launch(exec, "Lanewise::three_way_partition",
                     backend::template league_for_tiles<kernel>(exec, tiles),
                     kernel{source, ways{in_first, in_second}, one, two, three, n,
                            work.get().template make_look_back_chain<detail::selection_state>(0),
                            detail::integers(counts.data())});
  }
}

/// Overload that returns how many items of each there are. **Blocks.** Throws std::length_error
/// where an output has fewer places than there are results: the first are written.
template <execution_space Exec, class In, class First, class Second, class Rest, class InFirst,
          class InSecond>
requires(!Kokkos::is_view_v<InFirst>) Kokkos::Array<std::int64_t, 3> three_way_partition(
    const Exec& exec, const In& in, const First& first, const Second& second, const Rest& rest,
    const InFirst& in_first, const InSecond& in_second, const call_options& options = {}) {
  using numbers = Kokkos::Array<std::int64_t, 3>;
  const auto n = kernels::blocking_result<numbers>(exec, [&](const auto& result) {
    const Kokkos::View<std::int64_t*, typename Exec::memory_space, Kokkos::MemoryUnmanaged> counts(
        result.data()->data(), 3);
    lanewise::three_way_partition(exec, in, first, second, rest, counts, in_first, in_second,
                                  options);
  });
  kernels::expects_rooms<Exec>("three_way_partition", n[0], "first", first);
  kernels::expects_rooms<Exec>("three_way_partition", n[1], "second", second);
  kernels::expects_rooms<Exec>("three_way_partition", n[2], "rest", rest);
  return n;
}

LANEWISE_END_TARGET_NAMESPACE
