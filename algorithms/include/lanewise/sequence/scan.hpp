// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/detail/tuning.hpp>
#include <lanewise/common/options.hpp>
#include <lanewise/tile/tile.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

template <class T>
struct scan_policy : tuning::scan<tuning::item_class(sizeof(T))> {
  static constexpr int parked_tiles =
      lanewise::tiles_that_wait(sizeof(T) * 32 * scan_policy::warps * scan_policy::items_per_lane);
};

/// One pass: load a tile, find its total, allocate through the chain, write. `begins`: with init.
template <bool exclusive, class Source, class Sink, class Op, class T,
          class Policy = scan_policy<T>, bool begins = exclusive>
struct scan_kernel {
  using policy = Policy;

  template <class Team>
  using tile_of = tile_t<Team, T, policy>;
  template <class Team>
  using scratch = decoupled_look_back_scratch<Team, T, tile_of<Team>>;

  Source in;
  Sink out;
  Op op;
  T init;
  cut_items n;
  look_back_chain<T> chain;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const tile_cuts<Team, T, policy> cuts(n);
    lanewise::decoupled_look_back<policy::deterministic>(
        team, chain, static_cast<std::uint32_t>(cuts.tiles()), shared, op, maybe<T>{init, begins},
        [&](std::uint32_t ticket, auto& place) LANEWISE_INLINE_LAMBDA {
          return lanewise::load_tile<T, policy>(team, place, in, cuts.first(ticket),
                                                cuts.below(ticket));
        },
        [&](auto& tile) LANEWISE_INLINE_LAMBDA {
          tile.scan(op);
          return tile.total();
        },
        [&](auto& tile, std::uint32_t, const maybe<T>& before) LANEWISE_INLINE_LAMBDA {
          if constexpr (exclusive) {
            tile.store_exclusive(out, before, op);
          } else {
            tile.store_inclusive(out, before, op);
          }
        });
  }
};

template <class T, class Exec, class Policy>
std::int64_t scan_tiles(std::int64_t n) {
  return tile_cuts<team_t<Exec, Policy>, T, Policy>::most_tiles(n);
}

/// Policy says how the tiles are cut. Lanewise::compiled holds instantiations for sums of numbers.
template <bool exclusive, class Policy, bool begins = exclusive, class Exec, class Source,
          class Sink, class Op, class T>
void scan(const Exec& exec, const char* label, const char* algorithm, const Source& source,
          const Sink& sink, const Op& op, const T& init, item_count n, workspace* given,
          std::size_t plain_offset, workspace_size need) {
  using kernel = scan_kernel<exclusive, Source, Sink, Op, T, Policy, begins>;
  using cuts = tile_cuts<team_t<Exec, Policy>, T, Policy>;
  auto work = call_workspace::make<backend_of<Exec>>(exec, given, need, algorithm);
  lanewise::launch(exec, label,
                   backend_of<Exec>::template league_for_tiles<kernel>(
                       exec, kernels::scan_tiles<T, Exec, Policy>(n.bound)),
                   kernel{source, sink, op, init, cuts::cut(source, sink, n),
                          work.get().template make_look_back_chain<T>(plain_offset)});
}

#if defined(LANEWISE_COMPILED_TEMPLATE)
#define LANEWISE_COMPILED_SCAN(exclusive, Exec, T)                                      \
  LANEWISE_COMPILED_TEMPLATE void scan<exclusive, scan_policy<T>, exclusive>(           \
      const Exec&, const char*, const char*, const array_source<T, identity>&,          \
      const array_sink<T>&, const plus&, const T&, item_count, workspace*, std::size_t, \
      workspace_size);
#define LANEWISE_COMPILED_SCANS_OF(Exec, T) \
  LANEWISE_COMPILED_SCAN(false, Exec, T)    \
  LANEWISE_COMPILED_SCAN(true, Exec, T)
#define LANEWISE_COMPILED_SCANS(Exec) LANEWISE_FOR_NUMBERS(LANEWISE_COMPILED_SCANS_OF, Exec)
LANEWISE_FOR_ALL_SPACES(LANEWISE_COMPILED_SCANS)
#undef LANEWISE_COMPILED_SCANS
#undef LANEWISE_COMPILED_SCANS_OF
#undef LANEWISE_COMPILED_SCAN
#endif

}  // namespace kernels

/// The workspace that inclusive_scan and exclusive_scan need for n items combined as T, by any
/// operator. Needs no device.
template <class T, class Exec>
workspace_size scan_workspace(std::int64_t n) {
  const std::int64_t usual = kernels::scan_tiles<T, Exec, kernels::scan_policy<T>>(n);
  const std::int64_t fixed = kernels::scan_tiles<T, Exec, detail::fixed_tree<T>>(n);
  const std::int64_t tiles = usual < fixed ? fixed : usual;
  return {tiles, look_back_chain<T>::payload_bytes(tiles)};
}

namespace kernels {

/// Calls f(source, sink, n) for arguments of a scan that are as they should be, unless there are no
/// items.
template <class T, class Exec, class In, class Out, class F>
void with_checked_arrays(const char* algorithm, const In& in, const Out& out,
                         const call_options& options, F f) {
  const auto source = detail::as<T>(detail::as_source<Exec>(in));
  const auto sink = detail::as_sink<Exec>(out);
  detail::expects(sink.extent >= source.extent, algorithm, ": out has ", sink.extent,
                  " places, in has ", source.extent, " items");
  detail::expects_memory(source, algorithm, "in");
  detail::expects_memory(sink, algorithm, "out");
  detail::expects_no_partial_overlap(source, sink, algorithm, "in", "out");
  const item_count n = detail::count_of<Exec>(source.extent, options, algorithm);
  if (source.extent > 0) f(source, sink, n);
}

/// Items are combined as Init unless the operator says otherwise.
template <bool exclusive, bool begins = exclusive, class Exec, class In, class Out, class Init,
          class Given>
void checked_scan(const Exec& exec, const char* label, const char* algorithm, const In& in,
                  const Out& out, const Init& init, const Given& given,
                  const call_options& options) {
  using T = detail::accumulated<Given, Init>;
  const auto op = detail::without_accumulation(given);
  using Op = std::decay_t<decltype(op)>;
  using policy =
      std::conditional_t<detail::in_fixed_order<Op, T>, detail::fixed_tree<T>, scan_policy<T>>;
  kernels::with_checked_arrays<T, Exec>(
      algorithm, in, out, options, [&](const auto& source, const auto& sink, const item_count& n) {
        kernels::scan<exclusive, policy, begins>(
            exec, label, algorithm, source, sink, detail::plain_operator(op), static_cast<T>(init),
            n, options.work, 0, lanewise::scan_workspace<T, Exec>(n.bound));
      });
}

}  // namespace kernels

/// Writes out(i) = in(0) op ... op in(i) for i in [0, n), n being in's extent or options.count.
///
/// op is an associative function object on the value type of in, or on A where it is
/// accumulate_as<A>(op); it need not commute and needs no identity. in and out are contiguous
/// rank-1 Views, or a source and a sink; out has at least as many places as in has items and may be
/// the same View. One pass: n reads, n writes, O(n) work,
/// one launch. Floating-point sums may differ from run to run by association, unless op is
/// deterministic(op). A source's functor may be called twice per item. Does not block. Throws
/// std::invalid_argument on wrong extents, partial overlap, or an option that cannot be reached.
/// (Merrill, chapter 3; a single pass with look-back.)
template <execution_space Exec, class In, class Out, class Op>
void inclusive_scan(const Exec& exec, const In& in, const Out& out, const Op& op,
                    const call_options& options = {}) {
  using T = typename decltype(detail::as_source<Exec>(in))::value_type;
  if constexpr (detail::check_scan<Exec, In, Out, Op, T, false>())
    kernels::checked_scan<false>(exec, "Lanewise::inclusive_scan", "inclusive_scan", in, out, T{},
                                 op, options);
}

/// Writes out(i) = init op in(0) op ... op in(i) for i in [0, n); items are converted to the type
/// of init, or to A. Otherwise the same.
template <execution_space Exec, class In, class Out, class T, class Op>
requires(!std::is_same_v<T, call_options>) void inclusive_scan(const Exec& exec, const In& in,
                                                               const Out& out, const Op& op,
                                                               const T& init,
                                                               const call_options& options = {}) {
  if constexpr (detail::check_exclusive_scan<Exec, In, Out, T, Op, false>())
    kernels::checked_scan<false, true>(exec, "Lanewise::inclusive_scan", "inclusive_scan", in, out,
                                       init, op, options);
}

/// Writes out(i) = init op in(0) op ... op in(i-1) for i in [0, n); items are converted to the type
/// of init, or to A. Otherwise like inclusive_scan.
template <execution_space Exec, class In, class Out, class T, class Op>
void exclusive_scan(const Exec& exec, const In& in, const Out& out, const Op& op, const T& init,
                    const call_options& options = {}) {
  if constexpr (detail::check_exclusive_scan<Exec, In, Out, T, Op, false>())
    kernels::checked_scan<true>(exec, "Lanewise::exclusive_scan", "exclusive_scan", in, out, init,
                                op, options);
}

LANEWISE_END_TARGET_NAMESPACE
