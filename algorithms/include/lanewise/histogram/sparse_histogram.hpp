// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/call/workspace_layout.hpp>
#include <lanewise/segments/run_length.hpp>
#include <lanewise/sort/radix_sort.hpp>
#include <lanewise/sort/sorted_unique.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// Whether keys are compared by the same bits, with these options.
template <class T>
same_radix_key<T> same_bits(const sort_options& options, const char* algorithm) {
  const detail::radix_range range = kernels::range_of<T>(options, algorithm);
  return {range.low == range.high ? radix_bits_t<T>{0}
                                  : detail::ordering_bits<radix_bits_t<T>>(range)};
}

/// What is asked of the outputs of a call that reads its inputs before it writes.
template <class KeySink, class Sink>
void expects_outputs(const KeySink& keys_out, const Sink& out, const char* algorithm,
                     const char* name) {
  detail::expects_memory(keys_out, algorithm, "keys_out");
  detail::expects_memory(out, algorithm, name);
  detail::expects_no_partial_overlap(keys_out, out, algorithm, "keys_out", name, false);
}

template <class T, class Exec>
workspace_size sparse_histogram_inner(std::int64_t n) {
  return lanewise::max(lanewise::radix_sort_workspace<T, Exec>(n),
                       lanewise::compact_workspace<T, Exec>(n));
}

}  // namespace kernels

/// The workspace that sparse_histogram needs for n items of type T. Needs no device.
template <class T, class Exec>
workspace_size sparse_histogram_workspace(std::int64_t n) {
  workspace_layout parts(kernels::sparse_histogram_inner<T, Exec>(n));
  parts.add<T>(n);
  return parts.size();
}

/// Counts items by value, whatever values there are: keys_out has every value that in has, once and
/// in the order of radix_sort. counts_out(j) is the number of i with in(i) = keys_out(j). The
/// rank-0 View number of integers receives how many there are (docs/algorithms.md).
///
/// Items are keys of radix_sort. in is a contiguous rank-1 View or a source, as transformed(items,
/// bin_of) if few bins have items; keys_out is a View or a sink, counts_out a View of integers. The
/// outputs overlap neither each other nor number; each of them may overlap in, or be it. Where an
/// output has fewer places than there are results, the first are written; number counts all of
/// them. A count that its type cannot express is the greatest integer of the type. Items are the
/// same where they are the same in bits [begin_bit, end_bit): so -0.0 and +0.0 are two values, and
/// NaN is one for each of its bit patterns. Of items that differ in other bits the first one is
/// written.
///
/// A radix_sort into the workspace and a run_length_encode: their launches and work, O(n). Memory
/// traffic: that of the sort, another n reads, and two writes per value. Where values are the
/// integers of a small range, histogram takes much less. The result is the same on every backend.
/// Does not block. Throws std::invalid_argument where the outputs overlap, on bits that items do
/// not have, or an option that cannot be reached. (Merrill, 4.5.4.)
template <execution_space Exec, class In, class KeysOut, class CountsOut, class C, class... P>
void sparse_histogram(const Exec& exec, const In& in, const KeysOut& keys_out,
                      const CountsOut& counts_out, const Kokkos::View<C, P...>& number,
                      const sort_options& options = {}) {
  constexpr const char* name = "sparse_histogram";
  const auto source = detail::as_source<Exec>(in);
  using T = typename decltype(source)::value_type;
  if constexpr (kernels::check_radix_key<T>()) {
    detail::expects_memory(source, name, "in");
    kernels::expects_outputs(detail::as_sink<Exec>(keys_out), detail::as_sink<Exec>(counts_out),
                             name, "counts_out");
    options.count.template expects_reachable<Exec>(name, "options.count");
    kernels::count_place<Exec>(number, name);
    const auto same = kernels::same_bits<T>(options, name);
    const std::int64_t n = source.extent;
    workspace_layout parts(kernels::sparse_histogram_inner<T, Exec>(n));
    const auto at = parts.add<T>(n);
    auto work = call_workspace::make<backend_of<Exec>>(exec, options.work, parts.size(), name);
    const auto sorted = at.template view<Exec>(work.get());
    sort_options inner = options;
    inner.work = &work.get();
    kernels::radix_sort(exec, source, sorted, inner, name);
    lanewise::run_length_encode(exec, sorted, keys_out, counts_out, number, same,
                                {.work = &work.get(), .count = options.count});
  }
}

/// Overload that returns the number of values. **Blocks.** Throws std::length_error where an output
/// has fewer places than there are results: the first are written.
template <execution_space Exec, class In, class KeysOut, class CountsOut>
std::int64_t sparse_histogram(const Exec& exec, const In& in, const KeysOut& keys_out,
                              const CountsOut& counts_out, const sort_options& options = {}) {
  return kernels::blocking_number(
      exec, "sparse_histogram",
      [&](const auto& number) {
        lanewise::sparse_histogram(exec, in, keys_out, counts_out, number, options);
      },
      "keys_out", keys_out, "counts_out", counts_out);
}

LANEWISE_END_TARGET_NAMESPACE
