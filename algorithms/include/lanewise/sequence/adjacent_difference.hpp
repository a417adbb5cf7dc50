// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sequence/transform.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

template <class Source>
struct adjacent_policy : launch_policy {
  using value_type = typename Source::value_type;
  static constexpr int items_per_lane = lanewise::items_in_passing<Source>();
  static constexpr int teams_per_multiprocessor = sizeof(value_type) <= 16 ? 8 : 4;
  static constexpr int host_teams_per_thread = 16;
};

/// Calls f(source, sink, how they are cut) with the arrays of a call; turned around for differences
/// to the right, which are those to the left from the back.
template <bool right, class Cuts, class Source, class Sink, class F>
LANEWISE_FUNCTION void with_arrays(const Source& in, const Sink& out, const cut_items& n, F f) {
  if constexpr (right) {
    // Cut here: the host does not know where the arrays end if the count is on the device.
    const std::int64_t count = n.n();
    const reversed_source<Source> source{in, count};
    const reversed_sink<Sink> sink{out, count};
    f(source, sink, Cuts::cut(source, sink, {count}));
  } else {
    f(in, out, n);
  }
}

template <class Source, class Sink, class Op, bool right = false>
struct adjacent_kernel {
  using value_type = typename Source::value_type;
  using policy = adjacent_policy<Source>;

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
    using cuts_type = tile_cuts<Team, value_type, policy>;
    kernels::with_arrays<right, cuts_type>(
        shared_source<Source>{in}, out, n,
        [&](const auto& source, const auto& sink, const cut_items& all) LANEWISE_INLINE_LAMBDA {
          const cuts_type cuts(all);
          lanewise::for_each_tile(team, cuts.tiles(), [&](std::int64_t t) {
            lanewise::load_tile<value_type, policy>(team, shared.tile, source, cuts.first(t),
                                                    cuts.below(t))
                .store_adjacent(source, sink, op);
          });
        });
  }
};

/// In place, in and out being the same array: the items before tiles have been put aside.
template <class Source, class Sink, class Op, bool right = false>
struct adjacent_in_place_kernel {
  using value_type = typename Source::value_type;
  using policy = adjacent_policy<Source>;
  template <class Team>
  using scratch = typename adjacent_kernel<Source, Sink, Op>::template scratch<Team>;

  Source in;
  Sink out;
  Op op;
  cut_items n;
  const value_type* in_front;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using cuts_type = tile_cuts<Team, value_type, policy>;
    kernels::with_arrays<right, cuts_type>(
        in, out, n,
        [&](const auto& source, const auto& sink, const cut_items& all) LANEWISE_INLINE_LAMBDA {
          const cuts_type cuts(all);
          lanewise::for_each_tile(team, cuts.tiles(), [&](std::int64_t t) {
            lanewise::load_tile<value_type, policy>(team, shared.tile, source, cuts.first(t),
                                                    cuts.below(t))
                .store_adjacent_in_place(in_front[t], sink, op);
            team.barrier();
          });
        });
  }
};

/// The item before tile t. For t == 0 and for tiles without items it is any item.
template <bool right, class Cuts, class Source, class Sink>
struct item_in_front {
  using value_type = typename Source::value_type;

  Source in;
  Sink out;
  cut_items n;
  LANEWISE_FUNCTION value_type operator()(std::int64_t t) const {
    value_type item = in(0);
    kernels::with_arrays<right, Cuts>(in, out, n,
                                      [&](const auto& source, const auto&, const cut_items& all) {
                                        const std::int64_t first = Cuts(all).first(t);
                                        if (first > 0 && first <= source.extent)
                                          item = source(first - 1);
                                      });
    return item;
  }
};

template <class Exec, class Source>
std::int64_t adjacent_tiles(std::int64_t n) {
  using policy = adjacent_policy<Source>;
  return tile_cuts<team_t<Exec, policy>, typename Source::value_type, policy>::most_tiles(n);
}

/// Whose tiles both kinds of differences have.
template <bool right, class Exec, class In, class Out, class Op>
void adjacent_difference(const Exec& exec, const char* algorithm, const In& in, const Out& out,
                         const Op& op, const call_options& options) {
  const auto source = detail::as_source<Exec>(in);
  const auto sink = detail::as_sink<Exec>(out);
  using source_type = std::decay_t<decltype(source)>;
  using sink_type = std::decay_t<decltype(sink)>;
  constexpr bool may_be_in_place = detail::are_of_one_array<source_type, sink_type>;
  detail::expects(sink.extent >= source.extent, algorithm, ": out has ", sink.extent,
                  " places, in has ", source.extent, " items");
  detail::expects_memory(source, algorithm, "in");
  detail::expects_memory(sink, algorithm, "out");
  detail::expects_no_partial_overlap(source, sink, algorithm, "in", "out", may_be_in_place);
  const item_count n = detail::count_of<Exec>(source.extent, options, algorithm);
  if (source.extent == 0) return;
  using backend = backend_of<Exec>;
  using kernel = adjacent_kernel<source_type, sink_type, Op, right>;
  using policy = typename kernel::policy;
  using item = typename kernel::value_type;
  using cuts = tile_cuts<team_t<Exec, policy>, item, policy>;
  constexpr const char* label =
      right ? "Lanewise::adjacent_difference_right" : "Lanewise::adjacent_difference";
  const std::int64_t tiles = cuts::most_tiles(source.extent);
  const cut_items all = right ? cut_items{n} : cuts::cut(source, sink, n);
  if constexpr (detail::check_difference<Exec, Op, item, sink_type>()) {
    if constexpr (may_be_in_place) {
      if (source.data == sink.data) {
        using in_place = adjacent_in_place_kernel<source_type, sink_type, Op, right>;
        auto work = call_workspace::make<backend>(
            exec, options.work, {0, static_cast<std::size_t>(tiles) * sizeof(item)}, algorithm);
        auto* const in_front = static_cast<item*>(work.get().plain());
        const auto borders = lanewise::generated(
            tiles, item_in_front<right, cuts, source_type, sink_type>{source, sink, all});
        kernels::store_all(exec,
                           right ? "Lanewise::adjacent_difference_right::borders"
                                 : "Lanewise::adjacent_difference::borders",
                           borders, array_sink<item>{in_front, tiles}, item_count{tiles});
        lanewise::launch(exec, label, backend::template league_for_tiles<in_place>(exec, tiles),
                         in_place{source, sink, op, all, in_front});
        return;
      }
    }
    lanewise::launch(exec, label, backend::template league_for_tiles<kernel>(exec, tiles),
                     kernel{source, sink, op, all});
  }
}

}  // namespace kernels

/// The workspace that adjacent_difference and adjacent_difference_right need in place, for n items
/// of type T in a View; else they need none. Needs no device.
template <class T, class Exec>
workspace_size adjacent_difference_workspace(std::int64_t n) {
  return {0, static_cast<std::size_t>(kernels::adjacent_tiles<Exec, array_source<T, identity>>(n)) *
                 sizeof(T)};
}

/// Writes out(0) = in(0) and out(i) = op(in(i), in(i-1)) for i in [1, n), n being in's extent or
/// options.count.
///
/// op is a pure scalar function object, called once per pair of neighbours. in and out are
/// contiguous rank-1 Views, or a source and a sink; out has at least as many places as in has items
/// and may be the same View, of the same type; results are converted to its type, in(0) first to
/// op's. A source's functor is called up to twice per item. One launch and one pass: n reads, n
/// writes, O(n) work, no workspace. In place it takes two launches. The first puts the items before
/// tiles aside in the workspace. That is an item for each 4 KiB of items on devices and for each
/// 128 KiB on hosts. Does not block. Throws std::invalid_argument on wrong extents, partial
/// overlap, or an option that cannot be reached.
template <execution_space Exec, class In, class Out, class Op = minus>
void adjacent_difference(const Exec& exec, const In& in, const Out& out, const Op& op = {},
                         const call_options& options = {}) {
  kernels::adjacent_difference<false>(exec, "adjacent_difference", in, out, op, options);
}

/// Writes out(i) = op(in(i), in(i+1)) for i in [0, n-1) and out(n-1) = in(n-1): differences to the
/// right, found from the back. Otherwise like adjacent_difference.
template <execution_space Exec, class In, class Out, class Op = minus>
void adjacent_difference_right(const Exec& exec, const In& in, const Out& out, const Op& op = {},
                               const call_options& options = {}) {
  kernels::adjacent_difference<true>(exec, "adjacent_difference_right", in, out, op, options);
}

LANEWISE_END_TARGET_NAMESPACE
