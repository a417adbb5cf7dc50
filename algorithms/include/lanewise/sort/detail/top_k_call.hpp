// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/call/workspace_layout.hpp>
#include <lanewise/sort/detail/top_k_bounds.hpp>
#include <lanewise/sort/detail/top_k_digits.hpp>
#include <lanewise/sort/detail/top_k_few.hpp>
#include <lanewise/sort/detail/top_k_filter.hpp>
#include <lanewise/sort/detail/top_k_sort.hpp>
#include <lanewise/team/team.hpp>

#include <algorithm>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// Whether the threshold is found between bounds.
template <class Exec, class Key>
inline constexpr bool bounded_on = team_t<Exec, launch_policy>::is_single_thread&& Key::can_sample;

/// On hosts launches take little, and bounds serve any k.
template <class Exec>
constexpr selection_limits limits_on() {
  selection_limits limits;
  if constexpr (team_t<Exec, launch_policy>::is_single_thread)
    limits.sampled_from = limits.one_team;
  return limits;
}

/// Layout of the workspace. Key: a selection_bits.
template <class Key>
struct selection_layout : workspace_layout {
  using bits = typename Key::bits;
  workspace_array<selection_totals> totals;
  workspace_array<std::uint64_t> histograms;
  std::size_t cleared = 0;
  workspace_array<selection_plan<bits>> plan;
  workspace_array<std::uint32_t> notes, chosen;
  workspace_array<std::uint16_t> places;
  workspace_array<bits> noted;
  workspace_array<selection_offset> offsets;
  workspace_array<std::int64_t> indices;
  workspace_array<ranked_index<bits>> runs[2];
  workspace_array<char> board, payload;
  std::int64_t tiles;

  /// selects: more than the key of the k-th is wanted.
  selection_layout(std::int64_t n, std::int64_t k, bool selects, bool sorted,
                   const selection_limits& limits) {
    const bool small = n <= limits.one_team;
    const std::int64_t units = small ? 0 : divide_up(n, unit_items);
    tiles = selects ? divide_up(units, selection_tile_units) : 0;
    if (!small) {
      add(totals, 1);
      add(histograms, (Key::passes + 1) * digit_values);
      cleared = next();
      add(plan, 1);
    }
    add(notes, units);
    add(places, units * unit_slots);
    add(noted, units * unit_slots);
    add(chosen, selects ? units : 0);
    add(offsets, selects ? units : 0);
    add(indices, sorted ? k : 0);
    for (auto& run : runs) add(run, sorted ? k : 0);
    if constexpr (Key::can_sample)
      add(board,
          sorted ? static_cast<std::int64_t>(selected_sort_memory<bits>::board_bytes(k)) : 0);
    payload = add_call({tiles, look_back_chain<detail::selection_state>::payload_bytes(tiles)});
  }
};

/// Writes the selected items in their order. `indices` has their indices in input order.
template <class Exec, class Selection, class Columns>
void sort_selected(const Exec& exec, const selection_names& names, const Selection& all,
                   const Columns& columns, const std::int64_t* indices,
                   ranked_index<typename Selection::bits>* runs,
                   ranked_index<typename Selection::bits>* others) {
  using backend = backend_of<Exec>;
  using sort_runs = sort_selected_kernel<Selection, Columns>;
  using merge_runs = merge_selected_kernel<Selection, Columns>;
  const bool several = all.k > sorted_run;
  lanewise::launch(
      exec, names.sort,
      backend::template resident_league<sort_runs>(exec, lanewise::divide_up(all.k, sorted_run)),
      sort_runs{all, columns, indices, several ? runs : nullptr});
  for (std::int64_t run = sorted_run; run < all.k; run *= 2, std::swap(runs, others))
    lanewise::launch(
        exec, names.merge,
        backend::template resident_league<merge_runs>(exec, lanewise::divide_up(all.k, 1024)),
        merge_runs{all, columns, runs, 2 * run < all.k ? others : nullptr, run});
}

/// Selects between bounds.
template <class Exec, class Selection, class Put>
void select_bounded(const Exec& exec, const selection_names& names, const Selection& all,
                    typename decltype(Selection::key)::key_type* result, const Put& put,
                    const selection_limits& limits) {
  if (all.n.bound <= limits.one_team)
    return lanewise::launch(exec, names.whole, 1,
                            few_bounded_kernel<Selection, Put>{all, result, put});
  using bounded = bounded_selection<Selection>;
  using pass = bounds_pass_kernel<bounded>;
  using write = bounded_write_kernel<bounded, Put>;
  const bounded bound{all, reinterpret_cast<typename bounded::bounds_type*>(all.plan),
                      reinterpret_cast<typename bounded::totals_type*>(all.totals),
                      reinterpret_cast<bounded_parts<std::uint16_t>*>(all.places)};
  const std::int64_t units = lanewise::divide_up(all.n.bound, unit_items);
  const auto league = [&]<class Kernel>(std::type_identity<Kernel>) {
    return backend_of<Exec>::template resident_league<Kernel>(exec, lanewise::divide_up(units, 8));
  };
  const bool samples = all.n.bound >= limits.sampled_from;
  lanewise::launch(
      exec, names.sample, 1,
      bounds_kernel<bounded>{
          bound, samples ? std::min(limits.most_sampled, bounds_kernel<bounded>::most) : 0});
  for (int p = 0; p < pass::passes; ++p)
    lanewise::launch(exec, p == 0 ? names.filter : names.digit, league(std::type_identity<pass>{}),
                     pass{bound, result});
  if (result == nullptr)
    lanewise::launch(exec, names.write, league(std::type_identity<write>{}), write{bound, put});
}

/// Selects the first k of n items, in the order of key, greatest bits first. result: only the key
/// of the k-th is wanted.
template <class Exec, class Source, class Key, class Columns>
void select_first(const Exec& exec, const selection_names& names, const Source& source,
                  const Key& key, std::int64_t k, const Columns& columns, bool sorted,
                  typename Key::key_type* result, const call_options& options,
                  const selection_limits& limits) {
  using backend = backend_of<Exec>;
  using all_type = selection<Source, Key>;
  using put = put_selected<Columns>;
  const item_count n = detail::count_of<Exec>(source.extent, options, names.algorithm);
  if (k == 0 || n.bound == 0) return;
  const bool selects = result == nullptr;
  const selection_layout<Key> layout(n.bound, k, selects, sorted, limits);
  auto work = call_workspace::make<backend>(exec, options.work, layout.size(), names.algorithm);
  auto* const memory = static_cast<char*>(work.get().plain());
  all_type all{source, key, n, k};
  all.totals = layout.totals.data(memory);
  all.histograms = layout.histograms.data(memory);
  all.plan = layout.plan.data(memory);
  all.notes = layout.notes.data(memory);
  all.places = layout.places.data(memory);
  all.noted = layout.noted.data(memory);
  all.chosen = layout.chosen.data(memory);
  all.offsets = layout.offsets.data(memory);
  std::int64_t* indices = nullptr;
  if (sorted) indices = layout.indices.data(memory);
  const put results{columns, indices};
  if (n.bound > limits.one_team) backend::zero(exec, memory, layout.cleared);
  if constexpr (bounded_on<Exec, Key>) {
    kernels::select_bounded(exec, names, all, result, results, limits);
  } else if (n.bound <= limits.one_team) {
    lanewise::launch(exec, names.whole, 1,
                     small_selection_kernel<all_type, put>{all, result, results});
  } else {
    const std::int64_t units = divide_up(n.bound, unit_items);
    const auto league = [&]<class Kernel>(std::type_identity<Kernel>, std::int64_t per_team) {
      return backend::template resident_league<Kernel>(exec, divide_up(units, per_team));
    };
    if constexpr (Key::can_sample) {
      using sample = sample_kernel<all_type>;
      using filter = filter_kernel<all_type>;
      all.samples = n.bound >= limits.sampled_from;
      if (all.samples) {
        lanewise::launch(exec, names.sample, 1,
                         sample{all, std::min({limits.most_sampled, sample::most, n.bound / 16}),
                                limits.most_per_unit});
        lanewise::launch(exec, names.filter, league(std::type_identity<filter>{}, 16),
                         filter{all, result});
      }
    }
    using digit = digit_kernel<all_type>;
    for (int pass = 0; pass < Key::passes; ++pass)
      lanewise::launch(exec, names.digit, league(std::type_identity<digit>{}, 16),
                       digit{all, pass, result});
    if (selects) {
      using choose = choose_kernel<all_type>;
      using offsets = offsets_kernel<all_type>;
      using selected = selected_kernel<all_type, put>;
      lanewise::launch(exec, names.choose, league(std::type_identity<choose>{}, 8), choose{all});
      lanewise::launch(
          exec, names.offsets, backend::template league_for_tiles<offsets>(exec, layout.tiles),
          offsets{all, work.get().template make_look_back_chain<detail::selection_state>(
                           layout.payload.offset)});
      lanewise::launch(exec, names.write, league(std::type_identity<selected>{}, 8),
                       selected{all, results});
    }
  }
  if (sorted) {
    ranked_index<typename Key::bits>* runs[2];
    for (int r = 0; r < 2; ++r) runs[r] = layout.runs[r].data(memory);
    if constexpr (bounded_on<Exec, Key>) {
      using sort_memory = selected_sort_memory<typename Key::bits>;
      auto* const keys = reinterpret_cast<typename sort_memory::word*>(runs[0]);
      kernels::sort_by_bits(exec, names, all, columns, reinterpret_cast<std::uint64_t*>(indices),
                            sort_memory{keys, keys + k, reinterpret_cast<std::uint64_t*>(runs[1]),
                                        layout.board.data(memory)});
    } else {
      kernels::sort_selected(exec, names, all, columns, indices, runs[0], runs[1]);
    }
  }
}

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
