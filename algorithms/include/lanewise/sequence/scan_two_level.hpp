// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sequence/scan.hpp>
#include <lanewise/tile/tile.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

/// How the sweeps are cut: no tile waits for its turn.
template <class T>
struct two_level_policy : tuning::scan<tuning::item_class(sizeof(T))> {
  static constexpr int parked_tiles = 0;
};

/// Every team folds its share of the tiles.
template <class Source, class Op, class T>
struct upsweep_kernel {
  using policy = two_level_policy<T>;
  template <class Team>
  using tile_of = tile_t<Team, T, policy>;
  template <class Team>
  using scratch = reduce_scratch<Team, T>;

  Source in;
  Op op;
  item_count n;
  T* totals;  // one per team

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    constexpr std::int64_t items = tile_of<Team>::items;
    const std::int64_t count = n();
    const auto [begin, end] = team.share(divide_up(count, items));
    if (begin == end) return;
    const std::int64_t last = end * items < count ? end * items : count;
    const maybe<T> mine =
        lanewise::reduce_range<T, policy>(team, shared, in, begin * items, last, op);
    team.once([&] { totals[team.index()] = mine.value; });
  }
};

/// Every team scans its share of the tiles, one after the other, after `first`. If there are seeds
/// and it is not the first team, it scans after the seed of the team before it.
template <bool exclusive, class Source, class Sink, class Op, class T, class Count>
struct downsweep_kernel {
  using policy = two_level_policy<T>;
  template <class Team>
  using tile_of = tile_t<Team, T, policy>;
  template <class Team>
  using scratch = typename tile_of<Team>::scratch;

  Source in;
  Sink out;
  Op op;
  maybe<T> first;
  Count n;
  const T* seeds;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    constexpr std::int64_t items = tile_of<Team>::items;
    const std::int64_t count = n();
    const auto [begin, end] = team.share(divide_up(count, items));
    if (begin == end) return;
    maybe<T> before = first;
    if (seeds != nullptr && team.index() > 0) before = {seeds[team.index() - 1], true};
    for (std::int64_t t = begin; t < end; ++t) {
      auto tile = lanewise::load_tile<T, policy>(team, shared, in, t * items, count);
      tile.prepare(op);
      store(tile, before);
      before = {tile.end(before, op), true};
      team.barrier();
    }
  }

  template <class Tile>
  LANEWISE_FUNCTION void store(Tile& tile, const maybe<T>& before) const {
    if constexpr (exclusive) {
      tile.store_exclusive(out, before, op);
    } else {
      tile.store_inclusive(out, before, op);
    }
  }
};

/// How many teams of the upsweep have a total: the first ones.
struct shares_with_items {
  item_count n;
  std::int64_t items_per_tile;
  std::int64_t league;

  LANEWISE_FUNCTION std::int64_t operator()() const {
    const std::int64_t tiles = divide_up(n(), items_per_tile);
    return tiles < league ? tiles : league;
  }
};

template <bool exclusive, class Exec, class In, class Out, class Init, class Given>
void two_level_scan(const Exec& exec, const char* label, const char* algorithm, const In& in,
                    const Out& out, const Init& init, const Given& given,
                    const call_options& options) {
  using T = detail::accumulated<Given, Init>;
  const auto without = detail::without_accumulation(given);
  static_assert(
      !detail::in_fixed_order<std::decay_t<decltype(without)>, T>,
      "lanewise::two_level: sums depend on the number of teams; use the scans of scan.hpp");
  kernels::with_checked_arrays<T, Exec>(
      algorithm, in, out, options, [&](const auto& source, const auto& sink, const item_count& n) {
        const auto op = detail::plain_operator(without);
        using source_type = std::decay_t<decltype(source)>;
        using sink_type = std::decay_t<decltype(sink)>;
        using op_type = std::decay_t<decltype(op)>;
        using backend = backend_of<Exec>;
        using policy = two_level_policy<T>;
        using upsweep = upsweep_kernel<source_type, op_type, T>;
        using spine = downsweep_kernel<false, array_source<T, identity>, array_sink<T>, op_type, T,
                                       shares_with_items>;
        using downsweep =
            downsweep_kernel<exclusive, source_type, sink_type, op_type, T, item_count>;
        constexpr std::int64_t items = tile_t<team_t<Exec, policy>, T, policy>::items;
        const maybe<T> first{static_cast<T>(init), exclusive};
        const std::int64_t league = backend::template resident_league<downsweep>(
            exec, kernels::scan_tiles<T, Exec, policy>(n.bound));
        auto work = call_workspace::make<backend>(
            exec, options.work, {0, static_cast<std::size_t>(league) * sizeof(T)}, algorithm);
        T* totals = static_cast<T*>(work.get().plain());
        if (league > 1) {
          lanewise::launch(exec, label, league, upsweep{source, op, n, totals});
          lanewise::launch(
              exec, label, 1,
              spine{
                  {totals, league, {}}, {totals, league}, op, first, {n, items, league}, nullptr});
        }
        lanewise::launch(exec, label, league,
                         downsweep{source, sink, op, first, n, league > 1 ? totals : nullptr});
      });
}

}  // namespace kernels

/// The scans of two sweeps: every team folds a share of the tiles, one team scans the teams'
/// totals, and every team scans its share. 2n reads, n writes, three launches (one for a single
/// share), and as many items of plain workspace as there are teams. No team waits for another, so
/// that it needs no promise about scheduling; the scans of scan.hpp, which wait for tiles in front,
/// move two thirds of the bytes. Arguments and errors are theirs, but op must not be
/// deterministic(op): sums depend on the number of teams. (Merrill, 4.3.3.)
namespace two_level {

template <execution_space Exec, class In, class Out, class Op>
void inclusive_scan(const Exec& exec, const In& in, const Out& out, const Op& op,
                    const call_options& options = {}) {
  using T = typename decltype(detail::as_source<Exec>(in))::value_type;
  if constexpr (detail::check_scan<Exec, In, Out, Op, T, false>())
    kernels::two_level_scan<false>(exec, "Lanewise::two_level::inclusive_scan",
                                   "two_level::inclusive_scan", in, out, T{}, op, options);
}

template <execution_space Exec, class In, class Out, class T, class Op>
void exclusive_scan(const Exec& exec, const In& in, const Out& out, const Op& op, const T& init,
                    const call_options& options = {}) {
  if constexpr (detail::check_exclusive_scan<Exec, In, Out, T, Op, false>())
    kernels::two_level_scan<true>(exec, "Lanewise::two_level::exclusive_scan",
                                  "two_level::exclusive_scan", in, out, init, op, options);
}

}  // namespace two_level

LANEWISE_END_TARGET_NAMESPACE
