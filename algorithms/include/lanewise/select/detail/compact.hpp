// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/detail/tuning.hpp>
#include <lanewise/common/options.hpp>
#include <lanewise/select/detail/compaction.hpp>
#include <lanewise/tile/tile.hpp>

#include <bit>
#include <type_traits>

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

/// `alone`: items are all that a tile has in registers and parks. Then there is room for larger
/// teams: on an H200 partition moves 450 Gitems/s of 4 bytes by 16 warps of 24 items per lane, 441
/// by 16 of 16, 430 by 8 of 32; run_length_encode, which parks indices too, 561 by 8 of 32 and 541
/// by 16 of 16. Items of 8 bytes are as fast by 16 warps of 8 as by 8 of 16. Items whose size is no
/// power of two are neither words nor packs, and always go by the rows of runs.
template <class T, bool alone>
using compaction_tuning = std::conditional_t<alone && std::has_single_bit(sizeof(T)),
                                             tuning::compaction<tuning::item_class(sizeof(T))>,
                                             tuning::runs<tuning::item_class(sizeof(T))>>;

template <class T, bool alone = true, class Row = compaction_tuning<T, alone>>
struct compact_policy : Row {
  static constexpr int items_per_lane =
      lanewise::items_that_fit(Row::items_per_lane, Row::warps, sizeof(T));
};

/// Whether kept items are alone in a tile's registers and scratch.
template <class Selector, class First, class Second>
inline constexpr bool stages_items_only =
    !First::needs_index && !Second::needs_index && !detail::is_flagged<Selector> &&
    !detail::is_keyed<Selector>;

/// The skeleton of selection, unique and run-length coding: load a tile, count what is kept,
/// allocate places through the chain, write (Merrill, 3.5 and 3.6 as a single pass).
template <class Source, class Selector, class First, class Second,
          class Policy = compact_policy<typename Source::value_type,
                                        stages_items_only<Selector, First, Second>>>
struct compact_kernel {
  using item = typename Source::value_type;
  struct policy : Policy {
    // 16-bit indices of items that are kept, where a column asks for them.
    static constexpr int parked_bytes =
        (First::needs_item || Second::needs_item || Second::needs_rejected ? sizeof(item) : 0) +
        (First::needs_index || Second::needs_index ? 2 : 0);
    static constexpr int parked_tiles = [] {
      const int most =
          lanewise::tiles_that_wait(parked_bytes * 32 * policy::warps * policy::items_per_lane);
      return most > 0 ? most : 1;
    }();
  };
  static constexpr bool needs_previous = First::needs_previous || Second::needs_previous;
  using count_state =
      std::conditional_t<First::in_place, detail::ordered_selection_count, detail::selection_count>;
  using add_counts = std::conditional_t<First::in_place, detail::add_ordered_selection_counts,
                                        detail::add_selection_counts>;
  using state = std::conditional_t<needs_previous, detail::selection_state, count_state>;
  using add = std::conditional_t<needs_previous, detail::add_selections, add_counts>;

  template <class Team>
  using tile = detail::compaction_t<Team, item, policy, Selector, First, Second, Source>;
  template <class Team>
  using scratch = decoupled_look_back_scratch<Team, state, tile<Team>>;

  Source in;
  Selector marks;
  First one;
  Second two;
  item_count n;
  look_back_chain<state> chain;
  detail::integers kept;
  detail::integers rejected;  // none where their number is not asked for

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const std::int64_t count = n();
    constexpr std::int64_t items = tile_t<Team, item, policy>::items;
    // There is a tile without items when there are none, so that somebody writes the count.
    const auto tiles = static_cast<std::uint32_t>(count > 0 ? divide_up(count, items) : 1);
    lanewise::decoupled_look_back(
        team, chain, tiles, shared, add{}, maybe<state>{state::of(0, 0), true},
        [&](std::uint32_t ticket, auto& place) LANEWISE_INLINE_LAMBDA {
          return tile<Team>(team, place, in, marks, ticket * items, count);
        },
        [&](auto& chosen) LANEWISE_INLINE_LAMBDA { return chosen.template total<state>(); },
        [&](auto& chosen, std::uint32_t ticket, const maybe<state>& before) LANEWISE_INLINE_LAMBDA {
          const std::int64_t so_far =
              chosen.write(one, two, before.value.count(), before.value.end());
          if (ticket + 1 == tiles)
            team.once([&] {
              kept.put(0, so_far);
              if constexpr (Second::needs_rejected)
                if (rejected.exist()) rejected.put(0, count - so_far);
            });
        });
  }
};

template <class T, class Exec, class Policy>
std::int64_t compact_tiles(std::int64_t n) {
  constexpr std::int64_t items = tile_t<team_t<Exec, Policy>, T, Policy>::items;
  return n > 0 ? divide_up(n, items) : 1;
}

/// The place for the number of kept items: checked, and reachable.
template <class Exec, class T, class... P>
detail::integers count_place(const Kokkos::View<T, P...>& count, const char* algorithm) {
  using view = Kokkos::View<T, P...>;
  static_assert(
      view::rank() == 0 && std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_const_v<T>,
      "lanewise: the number of results is a View of rank 0 of integers, not const");
  detail::check_reachable<Exec, view>();
  detail::expects(count.data() != nullptr, algorithm, ": count has no memory");
  return detail::integers(count.data());
}

/// Whether kept items may go to the array that they come from: as they are.
template <class Source, class Sink>
inline constexpr bool may_be_in_place = false;
template <class T>
inline constexpr bool may_be_in_place<array_source<T, identity>, array_sink<T>> = true;

template <class... T>
inline constexpr bool
    may_be_in_place<zipped_source<detail::into_tuple, array_source<T, identity>...>,
                    unzipped_sink<array_sink<T>...>> = true;

template <class T>
bool is_in_place(const array_source<T, identity>& source, const array_sink<T>& sink) {
  return source.data == sink.data && source.extent > 0;
}
/// All arrays of a zip, each its own.
template <class... T>
bool is_in_place(const zipped_source<detail::into_tuple, array_source<T, identity>...>& source,
                 const unzipped_sink<array_sink<T>...>& sink) {
  return [&]<std::size_t... k>(std::index_sequence<k...>) {
    return (kernels::is_in_place(lanewise::get<k>(source.parts), lanewise::get<k>(sink.parts)) &&
            ...);
  }
  (std::index_sequence_for<T...>());
}

/// in and out are the same array, or do not overlap. Arrays of a zip are all in place, or none.
template <class Source, class Sink>
void expects_in_place_or_apart(const Source& source, const Sink& sink, const char* algorithm) {
  if constexpr (!may_be_in_place<Source, Sink>) {
    detail::expects_no_partial_overlap(source, sink, algorithm, "in", "out", false);
  } else if constexpr (Source::contiguous) {
    detail::expects_no_partial_overlap(source, sink, algorithm, "in", "out", true);
  } else {
    detail::expects_no_partial_overlap(source, sink, algorithm, "in", "out",
                                       kernels::is_in_place(source, sink));
  }
}

template <class Exec, class Source, class Selector, class First, class Second,
          class Policy = compact_policy<typename Source::value_type,
                                        stages_items_only<Selector, First, Second>>>
void compact(const Exec& exec, const char* label, const char* algorithm, const Source& source,
             const Selector& marks, const First& one, const Second& two, detail::integers kept,
             const call_options& options, workspace_size need, detail::integers rejected = {},
             const Policy& = {}) {
  using kernel = compact_kernel<Source, Selector, First, Second, Policy>;
  using state = typename kernel::state;
  using backend = backend_of<Exec>;
  const item_count n = detail::count_of<Exec>(source.extent, options, algorithm);
  auto work = call_workspace::make<backend>(exec, options.work, need, algorithm);
  const std::int64_t tiles =
      kernels::compact_tiles<typename kernel::item, Exec, typename kernel::policy>(source.extent);
  lanewise::launch(exec, label, backend::template league_for_tiles<kernel>(exec, tiles),
                   kernel{source, marks, one, two, n,
                          work.get().template make_look_back_chain<state>(0), kept, rejected});
}

/// One column of kept items, which may be the items' own array.
template <class Exec, class Source, class Selector, class Sink>
void compact_items(const Exec& exec, const char* label, const char* algorithm, const Source& source,
                   const Selector& marks, const Sink& sink, detail::integers kept,
                   const call_options& options, workspace_size need) {
  if constexpr (may_be_in_place<Source, Sink>) {
    if (kernels::is_in_place(source, sink)) {
      kernels::compact(exec, label, algorithm, source, marks, detail::items_in_place<Sink>(sink),
                       detail::no_column{}, kept, options, need);
      return;
    }
  }
  kernels::compact(exec, label, algorithm, source, marks, detail::selected_items<Sink>(sink),
                   detail::no_column{}, kept, options, need);
}

}  // namespace kernels

/// The workspace that select_if, select_flagged, the partitions, unique, unique_by_key and
/// run_length_encode need for n items of type T. Needs no device.
template <class T, class Exec>
workspace_size compact_workspace(std::int64_t n) {
  const std::int64_t large = kernels::compact_tiles<T, Exec, kernels::compact_policy<T, true>>(n);
  const std::int64_t small = kernels::compact_tiles<T, Exec, kernels::compact_policy<T, false>>(n);
  const std::int64_t tiles = large < small ? small : large;
  return {tiles, look_back_chain<detail::selection_state>::payload_bytes(tiles)};
}

LANEWISE_END_TARGET_NAMESPACE
