// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sequence/scan.hpp>
#include <lanewise/tile/tile.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

/// The operator with its operands exchanged.
template <class Op>
struct flipped {
  Op op;
  template <class T>
  LANEWISE_FUNCTION constexpr T operator()(const T& a, const T& b) const {
    return op(b, a);
  }
};

/// What scans backward: operators known to commute stay what they are, which keeps them vectors.
template <class T, class Op>
auto backward_operator(const Op& op) {
  if constexpr (is_commutative<Op, T>) {
    return op;
  } else {
    return flipped<Op>{op};
  }
}

/// The scan with source and sink turned around. Item numbers in here count from the end.
template <bool exclusive, class Source, class Sink, class Op, class T>
struct scan_reverse_kernel {
  using policy = scan_policy<T>;

  template <class Team>
  using tile_of = tile_t<Team, T, policy>;
  template <class Team>
  using scratch = decoupled_look_back_scratch<Team, T, tile_of<Team>>;

  Source in;
  Sink out;
  Op op;
  T init;
  item_count n;
  look_back_chain<T> chain;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const std::int64_t count = n();
    const reversed_source<Source> source{in, count};
    const reversed_sink<Sink> sink{out, count};
    // Cut here: the host does not know where the arrays end if the count is on the device.
    const cut_items all = tile_cuts<Team, T, policy>::cut(source, sink, {count});
    const tile_cuts<Team, T, policy> cuts(all);
    lanewise::decoupled_look_back(
        team, chain, static_cast<std::uint32_t>(cuts.tiles()), shared, op,
        maybe<T>{init, exclusive},
        [&](std::uint32_t ticket, auto& place) LANEWISE_INLINE_LAMBDA {
          return lanewise::load_tile<T, policy>(team, place, source, cuts.first(ticket),
                                                cuts.below(ticket));
        },
        [&](auto& tile) LANEWISE_INLINE_LAMBDA {
          tile.scan(op);
          return tile.total();
        },
        [&](auto& tile, std::uint32_t, const maybe<T>& before) LANEWISE_INLINE_LAMBDA {
          if constexpr (exclusive) {
            tile.store_exclusive(sink, before, op);
          } else {
            tile.store_inclusive(sink, before, op);
          }
        });
  }
};

template <bool exclusive, class Exec, class In, class Out, class Init, class Op>
void scan_reverse(const Exec& exec, const char* label, const char* algorithm, const In& in,
                  const Out& out, const Init& init, const Op& op, const call_options& options) {
  using T = detail::accumulated<Op, Init>;
  const auto source = detail::as<T>(detail::as_source<Exec>(in));
  const auto sink = detail::as_sink<Exec>(out);
  detail::expects(sink.extent >= source.extent, algorithm, ": out has ", sink.extent,
                  " places, in has ", source.extent, " items");
  detail::expects_memory(source, algorithm, "in");
  detail::expects_memory(sink, algorithm, "out");
  detail::expects_no_partial_overlap(source, sink, algorithm, "in", "out");
  const item_count n = detail::count_of<Exec>(source.extent, options, algorithm);
  if (source.extent == 0) return;
  const auto backward = kernels::backward_operator<T>(detail::without_accumulation(op));
  using kernel =
      scan_reverse_kernel<exclusive, std::decay_t<decltype(source)>, std::decay_t<decltype(sink)>,
                          std::decay_t<decltype(backward)>, T>;
  auto work = call_workspace::make<backend_of<Exec>>(
      exec, options.work, lanewise::scan_workspace<T, Exec>(source.extent), algorithm);
  lanewise::launch(exec, label,
                   backend_of<Exec>::template league_for_tiles<kernel>(
                       exec, kernels::scan_tiles<T, Exec, typename kernel::policy>(source.extent)),
                   kernel{source, sink, backward, static_cast<T>(init), n,
                          work.get().template make_look_back_chain<T>(0)});
}

}  // namespace kernels

/// Writes out(i) = in(i) op ... op in(n-1) for i in [0, n): inclusive_scan from the back, which
/// reads and writes the arrays backward and is as fast. Otherwise like inclusive_scan.
template <execution_space Exec, class In, class Out, class Op>
void inclusive_scan_reverse(const Exec& exec, const In& in, const Out& out, const Op& op,
                            const call_options& options = {}) {
  using T = typename decltype(detail::as_source<Exec>(in))::value_type;
  if constexpr (detail::check_scan<Exec, In, Out, Op, T>())
    kernels::scan_reverse<false>(exec, "Lanewise::inclusive_scan_reverse", "inclusive_scan_reverse",
                                 in, out, T{}, op, options);
}

/// Writes out(i) = in(i+1) op ... op in(n-1) op init for i in [0, n); items are converted to the
/// type of init. Otherwise like inclusive_scan_reverse.
template <execution_space Exec, class In, class Out, class T, class Op>
void exclusive_scan_reverse(const Exec& exec, const In& in, const Out& out, const Op& op,
                            const T& init, const call_options& options = {}) {
  if constexpr (detail::check_exclusive_scan<Exec, In, Out, T, Op>())
    kernels::scan_reverse<true>(exec, "Lanewise::exclusive_scan_reverse", "exclusive_scan_reverse",
                                in, out, init, op, options);
}

LANEWISE_END_TARGET_NAMESPACE
