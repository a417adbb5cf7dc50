// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/options.hpp>
#include <lanewise/tile.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

template <class Source, class Sink, class Op>
struct adjacent_kernel {
  using value_type = typename Source::value_type;
  struct policy : launch_policy {
    static constexpr int items_per_lane = items_in_passing<Source>();
    static constexpr int teams_per_multiprocessor = sizeof(value_type) <= 16 ? 8 : 4;
    static constexpr int host_teams_per_thread = 16;
  };

  template <class Team>
  struct scratch {
    typename tile_t<Team, value_type, policy>::scratch tile;
  };

  Source in;
  Sink out;
  Op op;
  cut_items n;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const shared_source<Source> source{in};
    const tile_cuts<Team, value_type, policy> cuts(n);
    for_each_tile(team, cuts.tiles(), [&](std::int64_t t) {
      load_tile<value_type, policy>(team, shared.tile, source, cuts.first(t), cuts.below(t))
          .store_adjacent(source, out, op);
    });
  }
};

}  // namespace kernels

/// Writes out(0) = in(0) and out(i) = op(in(i), in(i-1)) for i in [1, n), n being in's extent or
/// options.count.
///
/// op is a pure scalar function object, called once per pair of neighbours. in and out are
/// contiguous rank-1 Views, or a source and a sink, that do not overlap; out has at least as many
/// places as in has items; results are converted to its type, in(0) first to op's. A source's
/// functor is called up to twice per item. One launch and one pass: n reads, n writes, O(n) work,
/// no workspace. Does not block. Throws std::invalid_argument on wrong extents, overlap, or an
/// option that cannot be reached.
template <execution_space Exec, class In, class Out, class Op = minus>
void adjacent_difference(const Exec& exec, const In& in, const Out& out, const Op& op = {},
                         const options& with = {}) {
  const auto source = detail::as_source<Exec>(in);
  const auto sink = detail::as_sink<Exec>(out);
  detail::expects(sink.extent >= source.extent, "adjacent_difference: out has ", sink.extent,
                  " places, in has ", source.extent, " items");
  detail::expects_memory(source, "adjacent_difference", "in");
  detail::expects_memory(sink, "adjacent_difference", "out");
  detail::expects_no_partial_overlap(source, sink, "adjacent_difference", "in", "out", false);
  const item_count n = detail::count_of<Exec>(source.extent, with, "adjacent_difference");
  if (source.extent == 0) return;
  using kernel =
      kernels::adjacent_kernel<std::decay_t<decltype(source)>, std::decay_t<decltype(sink)>, Op>;
  using policy = typename kernel::policy;
  using cuts = tile_cuts<team_t<Exec, policy>, typename kernel::value_type, policy>;
  if constexpr (detail::check_difference<Exec, Op, typename kernel::value_type,
                                         std::decay_t<decltype(sink)>>())
    launch(
        exec, "Lanewise::adjacent_difference",
        backend_of<Exec>::template league_for_tiles<kernel>(exec, cuts::most_tiles(source.extent)),
        kernel{source, sink, op, cuts::cut(source, sink, n)});
}

LANEWISE_END_TARGET_NAMESPACE
