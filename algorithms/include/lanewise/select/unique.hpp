// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/select/detail/compact.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE

/// Stores the first item of every run of equal neighbours of in at the front of out, in input
/// order. Stores the number of runs in the rank-0 View count of integers (docs/algorithms.md).
///
/// equal is a pure scalar equivalence, called up to twice per pair of neighbours; a source's
/// functor is called up to four times per item. in is a contiguous rank-1 View or a source. out is
/// a View or a sink that does not overlap it, or the same View as in. Where out has fewer places
/// than there are results, the first are written; count counts all of them. One launch and one
/// pass: n reads and one write per run (on the host with several threads the items are read again
/// from cache). O(n) work. The result is the same on every backend. Does not block. Throws
/// std::invalid_argument on overlap or an option that cannot be reached. (Merrill, 3.5; a single
/// pass with look-back.)
template <execution_space Exec, class In, class Out, class T, class... P, class Equal = equal_to>
void unique(const Exec& exec, const In& in, const Out& out, const Kokkos::View<T, P...>& count,
            const Equal& equal = {}, const call_options& options = {}) {
  const auto source = detail::as_source<Exec>(in);
  const auto sink = detail::as_sink<Exec>(out);
  detail::expects_memory(source, "unique", "in");
  detail::expects_memory(sink, "unique", "out");
  using item = typename decltype(source)::value_type;
  using sink_type = std::decay_t<decltype(sink)>;
  kernels::expects_in_place_or_apart(source, sink, "unique");
  if constexpr (detail::check_equal<Exec, Equal, item>() &&
                detail::check_results<Exec, item, sink_type>())
    kernels::compact_items(exec, "Lanewise::unique", "unique", source,
                           detail::selected_where_differing<-1, Equal>{equal}, sink,
                           kernels::count_place<Exec>(count, "unique"), options,
                           lanewise::compact_workspace<item, Exec>(source.extent));
}

/// Overload that returns the number of runs. **Blocks.** Throws std::length_error where an output
/// has fewer places than there are results: the first are written.
template <execution_space Exec, class In, class Out, class Equal = equal_to>
requires(!Kokkos::is_view_v<Equal>) std::int64_t
    unique(const Exec& exec, const In& in, const Out& out, const Equal& equal = {},
           const call_options& options = {}) {
  return kernels::blocking_number(
      exec, "unique",
      [&](const auto& count) { lanewise::unique(exec, in, out, count, equal, options); }, "out",
      out);
}

namespace kernels {

/// Equality of pairs whose keys are equal.
template <class Equal>
struct equal_keys {
  Equal equal;
  template <class Pair>
  LANEWISE_FUNCTION bool operator()(const Pair& a, const Pair& b) const {
    return equal(lanewise::get<0>(a), lanewise::get<0>(b));
  }
};

}  // namespace kernels

/// For every run of equal neighbouring keys, stores its key and the value beside its first key.
/// Otherwise like unique; the values are read where runs begin. In place, keys_out is keys and
/// values_out is values, all values are read, and the workspace is that of tuple<Key, Value>.
template <execution_space Exec, class Keys, class Values, class KeysOut, class ValuesOut, class T,
          class... P, class Equal = equal_to>
void unique_by_key(const Exec& exec, const Keys& keys, const Values& values,
                   const KeysOut& keys_out, const ValuesOut& values_out,
                   const Kokkos::View<T, P...>& count, const Equal& equal = {},
                   const call_options& options = {}) {
  const auto source = detail::as_source<Exec>(keys);
  const auto sink = detail::as_sink<Exec>(keys_out);
  const auto value = detail::as_source<Exec>(values);
  const auto value_sink = detail::as_sink<Exec>(values_out);
  detail::expects(value.extent == source.extent, "unique_by_key: values has ", value.extent,
                  " items, keys has ", source.extent);
  detail::expects_memory(source, "unique_by_key", "keys");
  detail::expects_memory(value, "unique_by_key", "values");
  detail::expects_memory(sink, "unique_by_key", "keys_out");
  detail::expects_memory(value_sink, "unique_by_key", "values_out");
  using key_type = typename decltype(source)::value_type;
  using value_source = std::decay_t<decltype(value)>;
  using sink_type = std::decay_t<decltype(sink)>;
  using value_sink_type = std::decay_t<decltype(value_sink)>;
  using value_type = typename value_source::value_type;
  const detail::integers runs = kernels::count_place<Exec>(count, "unique_by_key");
  constexpr bool fitting = detail::check_equal<Exec, Equal, key_type>() &&
                           detail::check_results<Exec, key_type, sink_type>() &&
                           detail::check_results<Exec, value_type, value_sink_type>();
  // In place pairs are selected: values are read with their keys, and not where runs begin.
  using pairs = zipped_source<detail::into_tuple, std::decay_t<decltype(source)>, value_source>;
  using pair_sink = unzipped_sink<sink_type, value_sink_type>;
  if constexpr (fitting && kernels::may_be_in_place<pairs, pair_sink>) {
    const pairs in{source.extent, {source, value}, {}};
    const pair_sink out{Kokkos::min(sink.extent, value_sink.extent), {sink, value_sink}};
    if (kernels::is_in_place(in, out) && sink.extent == value_sink.extent) {
      detail::expects_parts_apart(out, "unique_by_key: keys_out and values_out");
      detail::expects_no_partial_overlap(in, out, "unique_by_key", "keys, values",
                                         "keys_out, values_out", true);
      kernels::compact(
          exec, "Lanewise::unique_by_key", "unique_by_key", in,
          detail::selected_where_differing<-1, kernels::equal_keys<Equal>>{{equal}},
          detail::items_in_place<pair_sink>(out), detail::no_column{}, runs, options,
          lanewise::compact_workspace<typename pairs::value_type, Exec>(source.extent));
      return;
    }
  }
  detail::expects_no_partial_overlap(source, sink, "unique_by_key", "keys", "keys_out", false);
  detail::expects_no_partial_overlap(value, sink, "unique_by_key", "values", "keys_out", false);
  detail::expects_no_partial_overlap(source, value_sink, "unique_by_key", "keys", "values_out",
                                     false);
  detail::expects_no_partial_overlap(value, value_sink, "unique_by_key", "values", "values_out",
                                     false);
  detail::expects_no_partial_overlap(sink, value_sink, "unique_by_key", "keys_out", "values_out",
                                     false);
  if constexpr (fitting)
    kernels::compact(exec, "Lanewise::unique_by_key", "unique_by_key", source,
                     detail::selected_where_differing<-1, Equal>{equal},
                     detail::selected_items<sink_type>(sink),
                     detail::selected_values<value_source, value_sink_type>(value, value_sink),
                     runs, options, lanewise::compact_workspace<key_type, Exec>(source.extent));
}

/// Overload that returns the number of runs. **Blocks.** Throws std::length_error where an output
/// has fewer places than there are results: the first are written.
template <execution_space Exec, class Keys, class Values, class KeysOut, class ValuesOut,
          class Equal = equal_to>
requires(!Kokkos::is_view_v<Equal>) std::int64_t
    unique_by_key(const Exec& exec, const Keys& keys, const Values& values, const KeysOut& keys_out,
                  const ValuesOut& values_out, const Equal& equal = {},
                  const call_options& options = {}) {
  return kernels::blocking_number(
      exec, "unique_by_key",
      [&](const auto& count) {
        lanewise::unique_by_key(exec, keys, values, keys_out, values_out, count, equal, options);
      },
      "keys_out", keys_out, "values_out", values_out);
}

LANEWISE_END_TARGET_NAMESPACE
