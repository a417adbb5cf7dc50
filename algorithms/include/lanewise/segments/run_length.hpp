// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/select/detail/compact.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

/// The column of the runs' first items, each run being kept by its last.
template <class Equal, class Source, class Sink>
auto keys_of_runs(const Source& source, const Sink& sink) {
  if constexpr (detail::are_interchangeable<typename Source::value_type, Equal>) {
    return detail::selected_items<Sink>(sink);
  } else {
    return detail::selected_run_begins<Source, Sink>(source, sink);
  }
}

}  // namespace kernels

/// For every run of equal neighbours of in, in input order, stores its first item in keys_out and
/// its length in lengths_out; stores the number of runs in the rank-0 View count of integers
/// (docs/algorithms.md).
///
/// A run is kept by its last item: then its length is the distance from the last item of the run
/// before, which the chain hands on. equal is a pure scalar equivalence, called up to twice per
/// pair of neighbours. in is a contiguous rank-1 View or a source, keys_out a View or a sink,
/// lengths_out a View of integers; they do not overlap in or each other. Lengths are stored in the
/// type of lengths_out, which must be wide enough. Where an output has fewer places than there are
/// results, the first are written; count counts all of them. One launch and one pass: n reads
/// and two writes per run. O(n) work, n < 2^48. The result is the same on every backend. Does not
/// block. Throws std::invalid_argument on overlap or an option that cannot be reached.
/// (Merrill, 3.6; a single pass with look-back.)
template <execution_space Exec, class In, class KeysOut, class LengthsOut, class T, class... P,
          class Equal = equal_to>
void run_length_encode(const Exec& exec, const In& in, const KeysOut& keys_out,
                       const LengthsOut& lengths_out, const Kokkos::View<T, P...>& count,
                       const Equal& equal = {}, const call_options& options = {}) {
  const auto source = detail::as_source<Exec>(in);
  const auto sink = detail::as_sink<Exec>(keys_out);
  const auto lengths = detail::as_sink<Exec>(lengths_out);
  static_assert(
      std::is_integral_v<typename detail::sink_value<std::decay_t<decltype(lengths)>>::type>,
      "lanewise::run_length_encode: lengths_out is a View of integers");
  detail::expects_memory(source, "run_length_encode", "in");
  detail::expects_memory(sink, "run_length_encode", "keys_out");
  detail::expects_memory(lengths, "run_length_encode", "lengths_out");
  detail::expects_no_partial_overlap(source, sink, "run_length_encode", "in", "keys_out", false);
  detail::expects_no_partial_overlap(source, lengths, "run_length_encode", "in", "lengths_out",
                                     false);
  detail::expects_no_partial_overlap(sink, lengths, "run_length_encode", "keys_out", "lengths_out",
                                     false);
  using item = typename decltype(source)::value_type;
  using sink_type = std::decay_t<decltype(sink)>;
  if constexpr (detail::check_equal<Exec, Equal, item>() &&
                detail::check_results<Exec, item, sink_type>())
    kernels::compact(exec, "Lanewise::run_length_encode", "run_length_encode", source,
                     detail::selected_where_differing<+1, Equal>{equal},
                     kernels::keys_of_runs<Equal>(source, sink),
                     detail::selected_distances<std::decay_t<decltype(lengths)>>(lengths),
                     kernels::count_place<Exec>(count, "run_length_encode"), options,
                     lanewise::compact_workspace<item, Exec>(source.extent));
}

/// Overload that returns the number of runs. **Blocks.** Throws std::length_error where an output
/// has fewer places than there are results: the first are written.
template <execution_space Exec, class In, class KeysOut, class LengthsOut, class Equal = equal_to>
requires(!Kokkos::is_view_v<Equal>) std::int64_t
    run_length_encode(const Exec& exec, const In& in, const KeysOut& keys_out,
                      const LengthsOut& lengths_out, const Equal& equal = {},
                      const call_options& options = {}) {
  return kernels::blocking_number(
      exec, "run_length_encode",
      [&](const auto& count) {
        lanewise::run_length_encode(exec, in, keys_out, lengths_out, count, equal, options);
      },
      "keys_out", keys_out, "lengths_out", lengths_out);
}

LANEWISE_END_TARGET_NAMESPACE
