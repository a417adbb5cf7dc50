// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/detail/tuning.hpp>
#include <lanewise/common/options.hpp>
#include <lanewise/tile/tile.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

/// By the narrower of what is read and what becomes of it; the registers of the latter say how many
/// teams there are.
template <class Source>
struct copy_policy : tuning::copy<tuning::item_class(bytes_in_passing<Source>())> {
  static constexpr int items_per_lane =
      tuning::items_per_lane_of<tuning::copy, bytes_in_passing<Source>()>;
  static constexpr int teams_per_multiprocessor = tuning::copy<tuning::item_class(
      sizeof(typename Source::value_type))>::teams_per_multiprocessor;
  static constexpr int host_teams_per_thread = 16;
};

template <class Source, class Sink, class Policy = copy_policy<Source>>
struct transform_kernel {
  using value_type = typename Source::value_type;
  using policy = Policy;

  template <class Team>
  struct scratch {
    typename tile_t<Team, value_type, policy>::scratch tile;
  };

  Source in;
  Sink out;
  cut_items n;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const tile_cuts<Team, value_type, policy> cuts(n);
    lanewise::for_each_tile(team, cuts.tiles(), [&](std::int64_t t) {
      lanewise::load_tile<value_type, policy>(team, shared.tile, in, cuts.first(t), cuts.below(t))
          .store(out);
    });
  }
};

/// Writes the items of a source to a sink.
template <class Exec, class Source, class Sink, class Policy = copy_policy<Source>>
void store_all(const Exec& exec, const char* label, const Source& source, const Sink& sink,
               const item_count& n, const Policy& = {}) {
  using kernel = transform_kernel<Source, Sink, Policy>;
  using cuts = tile_cuts<team_t<Exec, Policy>, typename kernel::value_type, Policy>;
  lanewise::launch(
      exec, label,
      backend_of<Exec>::template league_for_tiles<kernel>(exec, cuts::most_tiles(n.bound)),
      kernel{source, sink, cuts::cut(source, sink, n)});
}

}  // namespace kernels

/// Writes out(i) = f(in(i)) for i in [0, n), n being in's extent or options.count.
///
/// in and out are contiguous rank-1 Views, or a source and a sink; out has at least as many places
/// as in has items. They may be the same View when the item sizes agree. f is a pure scalar
/// function object, called once per item. n reads and n writes; O(n) work. Does not block. Throws
/// std::invalid_argument on wrong extents, partial overlap, or an option that cannot be reached.
template <execution_space Exec, class In, class Out, class F>
void transform(const Exec& exec, const In& in, const Out& out, const F& f,
               const call_options& options = {}) {
  const auto raw = detail::as_source<Exec>(in);
  const auto sink = detail::as_sink<Exec>(out);
  detail::expects(sink.extent >= raw.extent, "transform: out has ", sink.extent, " places, in has ",
                  raw.extent, " items");
  detail::expects_memory(raw, "transform", "in");
  detail::expects_memory(sink, "transform", "out");
  detail::expects_no_partial_overlap(raw, sink, "transform", "in", "out");
  const item_count n = detail::count_of<Exec>(raw.extent, options, "transform");
  if (raw.extent == 0) return;
  if constexpr (detail::check_transformation<Exec, F, typename decltype(raw)::value_type,
                                             std::decay_t<decltype(sink)>>())
    kernels::store_all(exec, "Lanewise::transform", detail::compose(raw, f), sink, n);
}

/// Writes out(i) = f(a(i), b(i)) for i in [0, n): transform of zipped(a, b). out may be the same
/// View as an input when the item sizes agree.
template <execution_space Exec, class A, class B, class Out, class F>
requires(detail::is_input<A>&& detail::is_input<B>&& detail::is_output<Out>) void transform(
    const Exec& exec, const A& a, const B& b, const Out& out, const F& f,
    const call_options& options = {}) {
  detail::check_views_reachable<Exec, A, B>();
  lanewise::transform(exec, lanewise::zipped(a, b), out, f, options);
}

/// Writes out(i) = f(a(i), b(i), c(i)) for i in [0, n). More inputs go as zipped(a, b, c, ...).
template <execution_space Exec, class A, class B, class C, class Out, class F>
requires(detail::is_input<A>&& detail::is_input<B>&& detail::is_input<C>&&
             detail::is_output<Out>) void transform(const Exec& exec, const A& a, const B& b,
                                                    const C& c, const Out& out, const F& f,
                                                    const call_options& options = {}) {
  detail::check_views_reachable<Exec, A, B, C>();
  lanewise::transform(exec, lanewise::zipped(a, b, c), out, f, options);
}

LANEWISE_END_TARGET_NAMESPACE
