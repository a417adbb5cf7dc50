// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sort/top_k.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE

/// Stores the k smallest items of in, sorted, in out(0) to out(k-1): what a stable sort by
/// key_of(item) would have at its front. in is left as it is.
///
/// This is top_k with smallest and sorted; shapes, keys, cost and errors are the same. The
/// workspace is that of top_k for sorted results. Does not block.
template <execution_space Exec, class In, class Out, class KeyOf = identity>
void partial_sort(const Exec& exec, const In& in, std::int64_t k, const Out& out,
                  const call_options& options = {}, const KeyOf& key_of = {}) {
  const auto source = detail::as_source<Exec>(in);
  const auto sink = detail::as_sink<Exec>(out);
  using item = typename decltype(source)::value_type;
  using sink_type = std::decay_t<decltype(sink)>;
  detail::expects_memory(sink, "partial_sort", "out");
  detail::expects(sink.extent >= k, "partial_sort: out has ", sink.extent, " places, k is ", k);
  detail::expects_no_partial_overlap(source, sink, "partial_sort", "in", "out", false);
  if constexpr (kernels::check_key_of<Exec, KeyOf, item>() &&
                detail::check_results<Exec, item, sink_type>())
    kernels::top_k(exec, "partial_sort", source, k, kernels::selected_item<sink_type>{sink}, key_of,
                   {options.work, options.count, true, true});
}

LANEWISE_END_TARGET_NAMESPACE
