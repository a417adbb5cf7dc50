// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/detail/tuning.hpp>
#include <lanewise/common/options.hpp>
#include <lanewise/tile/tile.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

/// Bytes that are loaded for an item.
template <class Source>
constexpr std::size_t bytes_loaded() {
  if constexpr (requires { Source::loaded_bytes; }) {
    return Source::loaded_bytes;
  } else {
    return sizeof(typename detail::loaded<Source>::type);
  }
}

/// By what a lane loads.
template <class Source>
struct reduce_policy : tuning::reduce<tuning::item_class(bytes_loaded<Source>())> {
  // 16 cores beside an H200, 2^26 u32: 76 to 83 Gitems/s, with one team per thread 47.
  static constexpr int host_teams_per_thread = 16;
};

/// Stores the result of a reduction: in memory, or in a sink as its result 0.
template <class Result, class T>
LANEWISE_FUNCTION void put_result(Result* place, const T& x) {
  *place = static_cast<Result>(x);
}
template <class F, class T>
LANEWISE_FUNCTION void put_result(const function_sink<F>& sink, const T& x) {
  sink(0, x);
}
template <class Result>
void expects_place(const Result* place, const char* algorithm) {
  detail::expects(place != nullptr, algorithm, ": result has no memory");
}
template <class F>
void expects_place(const function_sink<F>& sink, const char* algorithm) {
  detail::expects(sink.extent > 0, algorithm, ": result has ", sink.extent, " places, not 1");
}

/// Every team folds a contiguous share of the items; the team that finishes last folds the teams'
/// results, in order.
template <class Source, class Op, class T, class Place = T*, class Policy = reduce_policy<Source>>
struct reduce_kernel {
  using policy = Policy;

  template <class Team>
  struct scratch {
    reduce_scratch<Team, T> reduce;
    std::uint64_t control;
  };

  Source in;
  Op op;
  maybe<T> init;
  item_count n;
  T* partial;  // one per team
  std::uint64_t*
      control;  // a chain's control word; its lower half counts the teams that have finished
  Place result;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const std::int64_t count = n();
    const auto [begin, end] = team.share(count);
    const maybe<T> mine =
        lanewise::reduce_range<T, policy>(team, shared.reduce, in, begin, end, op);
    if (team.warp_index() == 0) {
      const auto warp = team.warp();
      warp.once([&] {
        if (mine.present) partial[team.index()] = mine.value;
      });
      const std::uint64_t before = warp.template fetch_add<order::acq_rel>(*control, 1);
      warp.once([&] { shared.control = before + 1; });
    }
    team.barrier();
    if (static_cast<std::uint32_t>(shared.control) != team.league()) return;
    // Shares are dealt evenly, so the teams with items are the first ones.
    const std::int64_t parts = count < team.league() ? count : team.league();
    const auto parts_in_order = array_source<T, identity>{partial, parts, identity{}};
    const maybe<T> all =
        lanewise::reduce_range<T, policy>(team, shared.reduce, parts_in_order, 0, parts, op);
    team.once([&] {
      kernels::put_result(result, all.present && init.present
                                      ? op(init.value, all.value)
                                      : (all.present ? all.value : init.value));
      *control = shared.control >> 32 << 32;
    });
  }
};

/// Every warp finds the totals of whole blocks of the fixed tree; if blocks are few, all warps of a
/// team find the totals of one after the other. The team that finishes last does the same with
/// those totals as items, and folds what is left one by one. So the order is a function of n and
/// sizeof(T).
template <class Source, class Op, class T, class Place>
struct deterministic_reduce_kernel {
  using tree = detail::fixed_tree<T>;
  // Not measured yet.
  struct policy : launch_policy {
    static constexpr int warps = 8;
    static constexpr int teams_per_multiprocessor = sizeof(T) <= 4 ? 3 : 2;
    static constexpr int host_teams_per_thread = 16;
  };

  /// Whether a block is a tile of the team.
  template <class Team>
  static constexpr bool has_tiles = Team::warps == tree::segments;
  template <class Team, bool = has_tiles<Team>>
  struct scratch {
    std::uint64_t control;
  };
  template <class Team>
  struct scratch<Team, true> {
    std::uint64_t control;
    typename tile_t<Team, T, tree>::scratch tile;
  };

  Source in;
  Op op;
  T init;
  item_count n;
  T* block_totals;
  T* totals_of_totals;
  std::uint64_t* control;
  Place result;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const std::int64_t count = n();
    const std::int64_t blocks = lanewise::divide_up(count, tree::block);
    find_totals(team, shared, team.share(blocks), in, count, block_totals);
    team.barrier();
    if (team.warp_index() == 0) {
      const auto warp = team.warp();
      const std::uint64_t before = warp.template fetch_add<order::acq_rel>(*control, 1);
      warp.once([&] { shared.control = before + 1; });
    }
    team.barrier();
    if (static_cast<std::uint32_t>(shared.control) != team.league()) return;
    const std::int64_t last_blocks = lanewise::divide_up(blocks, tree::block);
    find_totals(team, shared, {0, last_blocks}, array_source<T, identity>{block_totals, blocks, {}},
                blocks, totals_of_totals);
    team.barrier();
    if (team.warp_index() == 0) {
      const auto warp = team.warp();
      constexpr std::int64_t width = Team::warp_type::width;
      T sum = init;
      for (std::int64_t at = 0; at < last_blocks; at += width) {
        const int here = static_cast<int>(last_blocks - at < width ? last_blocks - at : width);
        const auto totals = warp.load(warp.template first<T>(here), totals_of_totals + at, T{});
        sum = warp.fold(sum, totals, op, 0, here);
      }
      warp.once([&] {
        kernels::put_result(result, sum);
        *control = shared.control >> 32 << 32;
      });
    }
  }

  template <class Team, class Items>
  LANEWISE_FUNCTION void find_totals(const Team& team, scratch<Team>& shared,
                                     const index_range& blocks, const Items& items,
                                     std::int64_t count, T* totals) const {
    if constexpr (has_tiles<Team>) {
      // 2^20 doubles take 15 us on an H200 instead of 23; with four blocks per team every block by
      // one warp is faster.
      if (blocks.end - blocks.begin < 4) {
        for (std::int64_t b = blocks.begin; b < blocks.end; ++b) {
          auto tile =
              lanewise::load_tile<T, tree>(team, shared.tile, items, b * tree::block, count);
          tile.scan(op);
          team.once([&] { totals[b] = tile.total(); });
          team.barrier();
        }
        return;
      }
    }
    for (std::int64_t b = blocks.begin + team.warp_index(); b < blocks.end; b += Team::warps) {
      const T total = lanewise::block_total<T>(team, items, b * tree::block, count, op);
      team.warp().once([&] { totals[b] = total; });
    }
  }
};

}  // namespace kernels

/// The workspace that reduce needs for results of type T on this execution space, by any operator
/// but deterministic ones; independent of n.
template <class T, class Exec>
workspace_size reduce_workspace(const Exec& exec) {
  (void)exec;
  return {1, 4096 * sizeof(T)};
}

/// The workspace that reduce needs for n items combined as T by a deterministic operator.
template <class T>
workspace_size deterministic_reduce_workspace(std::int64_t n) {
  constexpr std::int64_t block = detail::fixed_tree<T>::block;
  const std::int64_t blocks = divide_up(n, block);
  return {1, static_cast<std::size_t>(blocks + divide_up(blocks, block)) * sizeof(T)};
}

namespace kernels {

/// init is combined with the items if it is present; without items it is the result.
/// Lanewise::compiled holds instantiations for numbers by plus, minimum and maximum.
template <class Exec, class Source, class Op, class T, class Place>
void reduce(const Exec& exec, const char* label, const char* algorithm, const Source& source,
            const Place& result, const Op& op, const maybe<T>& init, const call_options& options) {
  detail::expects_memory(source, algorithm, "in");
  kernels::expects_place(result, algorithm);
  const item_count n = detail::count_of<Exec>(source.extent, options, algorithm);
  using backend = backend_of<Exec>;
  using kernel = reduce_kernel<Source, Op, T, Place>;
  using policy = typename kernel::policy;
  using tile = tile_t<team_t<Exec, policy>, T, policy>;
  const workspace_size need = lanewise::reduce_workspace<T>(exec);
  const auto most_teams = static_cast<std::int64_t>(need.bytes / sizeof(T));
  const std::int64_t wanted =
      lanewise::divide_up(source.extent > 0 ? source.extent : 1, tile::items);
  const std::int64_t league =
      backend::template resident_league<kernel>(exec, wanted < most_teams ? wanted : most_teams);
  auto work = call_workspace::make<backend>(exec, options.work, need, algorithm);
  lanewise::launch(exec, label, league,
                   kernel{source, op, init, n, static_cast<T*>(work.get().plain()),
                          work.get().template make_look_back_chain<T>(0).control, result});
}

template <class Exec, class Source, class Op, class T, class Place>
void reduce(const Exec& exec, const char* label, const char* algorithm, const Source& source,
            const Place& result, const deterministic_operator<Op>& op, const maybe<T>& init,
            const call_options& options) {
  using backend = backend_of<Exec>;
  using kernel = deterministic_reduce_kernel<Source, Op, T, Place>;
  detail::expects_memory(source, algorithm, "in");
  kernels::expects_place(result, algorithm);
  const item_count n = detail::count_of<Exec>(source.extent, options, algorithm);
  const std::int64_t blocks = lanewise::divide_up(n.bound, kernel::tree::block);
  const std::int64_t league =
      backend::template resident_league<kernel>(exec, blocks > 0 ? blocks : 1);
  auto work = call_workspace::make<backend>(
      exec, options.work, lanewise::deterministic_reduce_workspace<T>(n.bound), algorithm);
  T* totals = static_cast<T*>(work.get().plain());
  lanewise::launch(exec, label, league,
                   kernel{source, op.op, init.value, n, totals, totals + blocks,
                          work.get().template make_look_back_chain<T>(0).control, result});
}

#if defined(LANEWISE_COMPILED_TEMPLATE)
#define LANEWISE_COMPILED_REDUCE(Exec, T, Op)                                                    \
  LANEWISE_COMPILED_TEMPLATE void reduce(const Exec&, const char*, const char*,                  \
                                         const array_source<T, identity>&, T* const&, const Op&, \
                                         const maybe<T>&, const call_options&);
#define LANEWISE_COMPILED_REDUCES_OF(Exec, T) \
  LANEWISE_COMPILED_REDUCE(Exec, T, plus)     \
  LANEWISE_COMPILED_REDUCE(Exec, T, minimum)  \
  LANEWISE_COMPILED_REDUCE(Exec, T, maximum)
#define LANEWISE_COMPILED_REDUCES(Exec) LANEWISE_FOR_NUMBERS(LANEWISE_COMPILED_REDUCES_OF, Exec)
LANEWISE_FOR_ALL_SPACES(LANEWISE_COMPILED_REDUCES)
#undef LANEWISE_COMPILED_REDUCES
#undef LANEWISE_COMPILED_REDUCES_OF
#undef LANEWISE_COMPILED_REDUCE
#endif

/// Items are combined as Value unless the operator says otherwise.
template <class Value, class Exec, class In, class Place, class Op>
void reduce_to(const Exec& exec, const In& in, const Place& result, const Op& op, const Value& init,
               const call_options& options) {
  using sum = detail::accumulated<Op, Value>;
  const auto source = detail::as<sum>(detail::as_source<Exec>(in));
  const auto combine = detail::without_accumulation(op);
  const maybe<sum> begin{static_cast<sum>(init), true};
  if constexpr (detail::in_fixed_order<std::decay_t<decltype(combine)>, sum>) {
    kernels::reduce(exec, "Lanewise::reduce", "reduce", source, result, combine, begin, options);
  } else {
    kernels::reduce(exec, "Lanewise::reduce", "reduce", source, result,
                    detail::plain_operator(combine), begin, options);
  }
}

}  // namespace kernels

/// Stores init op in(0) op ... op in(n-1) in the rank-0 View result.
///
/// op is an associative function object on T, the value type of result, or on A where it is
/// accumulate_as<A>(op); it need not commute. in is a contiguous rank-1 View or a source; its items
/// are converted to that type. O(n) work, n reads, nothing
/// written but the result. Floating-point sums depend on the number of teams, unless op is
/// deterministic(op). Does not block.
/// Throws std::invalid_argument on an option that cannot be reached.
template <execution_space Exec, class In, class T, class... P, class Op,
          class Init = typename Kokkos::View<T, P...>::non_const_value_type>
void reduce(const Exec& exec, const In& in, const Kokkos::View<T, P...>& result, const Op& op,
            const Init& init, const call_options& options = {}) {
  using view = Kokkos::View<T, P...>;
  using value = typename view::non_const_value_type;
  static_assert(view::rank() == 0, "lanewise::reduce: the result is a View of rank 0");
  detail::check_reachable<Exec, view>();
  if constexpr (detail::check_reduction<Exec, In, Op, Init, value, false>())
    kernels::reduce_to<value>(exec, in, result.data(), op, static_cast<value>(init), options);
}

/// Overload with a sink, consumed(1, f): f(0, result) is called once, by the kernel. Items are
/// combined as the type of init, or as A.
template <execution_space Exec, class In, class F, class Op, class Init>
void reduce(const Exec& exec, const In& in, const function_sink<F>& result, const Op& op,
            const Init& init, const call_options& options = {}) {
  if constexpr (detail::check_reduction<Exec, In, Op, Init, Init, false>() &&
                detail::check_results<Exec, detail::accumulated<Op, Init>, function_sink<F>>())
    kernels::reduce_to<Init>(exec, in, result, op, init, options);
}

/// Returns init op in(0) op ... op in(n-1) as described above. **Blocks.**
template <execution_space Exec, class In, class Op, class T>
requires(!Kokkos::is_view_v<Op>) T reduce(const Exec& exec, const In& in, const Op& op,
                                          const T& init, const call_options& options = {}) {
  if constexpr (detail::check_reduction<Exec, In, Op, T, T, false>()) {
    return kernels::blocking_result<T>(
        exec, [&](const auto& result) { lanewise::reduce(exec, in, result, op, init, options); });
  } else {
    return init;
  }
}

LANEWISE_END_TARGET_NAMESPACE
