// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sort/detail/top_k_call.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE

/// What top_k accepts beside its arrays.
struct top_k_options {
  /// Memory for temporaries; without it the call allocates in the order of its instance.
  workspace_ref work = {};
  /// A rank-0 View of integers, read on the device when the call runs: the number of items. The
  /// extents are the upper bound.
  option_view<const std::int64_t> count = {};
  /// The k smallest items instead of the k largest.
  bool smallest = false;
  /// Results in the order of their keys, equal keys in input order. Else all are in input order.
  bool sorted = false;
};

namespace kernels {

/// What is written of a selected item, at a place of the output.
template <class Sink>
struct selected_item {
  Sink out;
  template <class T>
  LANEWISE_FUNCTION void operator()(std::int64_t place, std::int64_t, const T& item) const {
    out(place, item);
  }
  template <class W, class Items>
  LANEWISE_FUNCTION void window(const W& warp, std::int64_t place, typename W::bits chosen,
                                std::int64_t, const Items& items) const {
    detail::compress_window_over(warp, out, place, chosen, items);
  }
};
template <class Sink, class Values, class ValueSink>
struct selected_pair {
  Sink out;
  Values values;
  ValueSink values_out;
  template <class T>
  LANEWISE_FUNCTION void operator()(std::int64_t place, std::int64_t index, const T& item) const {
    out(place, item);
    values_out(place, values(index));
  }
  template <class W, class Items>
  LANEWISE_FUNCTION void window(const W& warp, std::int64_t place, typename W::bits chosen,
                                std::int64_t index, const Items& items) const {
    detail::compress_window_over(warp, out, place, chosen, items);
    detail::compress_window_over(warp, values_out, place, chosen,
                                 detail::load_window(warp, values, index));
  }
};
template <class Sink>
struct selected_index {
  Sink out;
  template <class T>
  LANEWISE_FUNCTION void operator()(std::int64_t place, std::int64_t index, const T&) const {
    using stored = typename detail::sink_value<Sink>::type;
    if constexpr (std::is_void_v<stored>) {
      out(place, index);
    } else {
      out(place, static_cast<stored>(index));
    }
  }
  template <class W, class Items>
  LANEWISE_FUNCTION void window(const W& warp, std::int64_t place, typename W::bits chosen,
                                std::int64_t index, const Items&) const {
    using stored = typename detail::sink_value<Sink>::type;
    const auto indices = kernels::window_indices(warp, index);
    if constexpr (std::is_void_v<stored>) {
      detail::compress_window_over(warp, out, place, chosen, indices);
    } else {
      detail::compress_window_over(warp, out, place, chosen, warp.template cast<stored>(indices));
    }
  }
};

inline constexpr selection_names top_k_names = {"top_k",
                                                "Lanewise::top_k",
                                                "Lanewise::top_k::sample",
                                                "Lanewise::top_k::filter",
                                                "Lanewise::top_k::digit",
                                                "Lanewise::top_k::choose",
                                                "Lanewise::top_k::offsets",
                                                "Lanewise::top_k::write",
                                                "Lanewise::top_k::sort",
                                                "Lanewise::top_k::merge"};

/// Whether key_of(item) is a key that radix_key.hpp knows.
template <class Exec, class KeyOf, class T>
constexpr bool check_key_of() {
  constexpr bool fitting = detail::fits<Exec, void, KeyOf, T>();
  static_assert(fitting || detail::is_refused<T>,
                "lanewise: key_of is a function object that is called with an item of in, and its "
                "operator() is const");
  if constexpr (fitting) {
    constexpr bool sortable =
        radix_sortable<std::decay_t<std::invoke_result_t<const KeyOf&, const T&>>>;
    static_assert(
        sortable,
        "lanewise: keys are integers, enumerations, float, double or the like; key_of(item) says "
        "the key of other items");
    return sortable;
  }
  return false;
}

template <class Exec, class Source, class KeyOf, class Columns>
void top_k(const Exec& exec, const char* algorithm, const Source& source, std::int64_t k,
           const Columns& columns, const KeyOf& key_of, const top_k_options& options,
           const selection_limits& limits = kernels::limits_on<Exec>()) {
  detail::expects_memory(source, algorithm, "in");
  detail::expects(k >= 0, algorithm, ": k is ", k, ", less than 0");
  detail::expects(k <= source.extent, algorithm, ": k is ", k, ", in has ", source.extent,
                  " items");
  using key = selection_bits<KeyOf, typename Source::value_type>;
  selection_names names = top_k_names;
  names.algorithm = algorithm;
  kernels::select_first(exec, names, source,
                        key{key_of, options.smallest ? key::all : typename key::bits{0}}, k,
                        columns, options.sorted, static_cast<typename key::key_type*>(nullptr),
                        call_options{options.work, options.count}, limits);
}

}  // namespace kernels

/// Stores the k largest items of in (options.smallest: the k smallest) in out(0) to out(k-1).
///
/// The order is that of key_of(item), an integer, enumeration, float, double or the like, as
/// radix_key.hpp has it: NaN with the sign bit set is less than all numbers, other NaN greater, and
/// -0.0 less than +0.0. Of items with equal keys the earliest are taken. Results are in input
/// order, or with options.sorted in the order of their keys; results with equal keys are in input
/// order. in is a contiguous rank-1 View or a source. out is a View or a sink that does not overlap
/// it and has at least k places. key_of is a pure scalar function object, called up to twice per
/// item and once more per reading; so is a source's functor.
///
/// O(n) work. Where n is large and k less than n / 600 or so, items are read once, and notes of 72
/// bytes for 1024 items (of 4 bytes; 104 for 8) are written. Blocks of 1024 items with more than
/// eight results are read again. Elsewhere items are read once for every eleven bits of the key,
/// and once to write. Inputs on which the sample misleads take both. On hosts items are read once
/// for any k, and again in blocks with items close to the k-th and in blocks with results. Up to
/// 8192 items take one launch, others one for every eleven bits of the key (on hosts nine) and up
/// to five more; with options.sorted one more, and one for every doubling beyond 4096 results (on
/// hosts those of radix_sort and two). The result is the same on every backend. Does not block.
/// Throws std::invalid_argument if k is negative or greater than the extent of in, or where out has
/// fewer places. It throws, too, on overlap or an option that cannot be reached. (Selection with
/// Merrill's digit counting, 2.13.)
template <execution_space Exec, class In, class Out, class KeyOf = identity>
void top_k(const Exec& exec, const In& in, std::int64_t k, const Out& out,
           const top_k_options& options = {}, const KeyOf& key_of = {}) {
  const auto source = detail::as_source<Exec>(in);
  const auto sink = detail::as_sink<Exec>(out);
  using item = typename decltype(source)::value_type;
  using sink_type = std::decay_t<decltype(sink)>;
  detail::expects_memory(sink, "top_k", "out");
  detail::expects(sink.extent >= k, "top_k: out has ", sink.extent, " places, k is ", k);
  detail::expects_no_partial_overlap(source, sink, "top_k", "in", "out", false);
  if constexpr (kernels::check_key_of<Exec, KeyOf, item>() &&
                detail::check_results<Exec, item, sink_type>())
    kernels::top_k(exec, "top_k", source, k, kernels::selected_item<sink_type>{sink}, key_of,
                   options);
}

/// As `top_k`, and stores the value beside each of these items.
template <execution_space Exec, class Keys, class Values, class KeysOut, class ValuesOut,
          class KeyOf = identity>
void top_k_by_key(const Exec& exec, const Keys& keys, const Values& values, std::int64_t k,
                  const KeysOut& keys_out, const ValuesOut& values_out,
                  const top_k_options& options = {}, const KeyOf& key_of = {}) {
  const auto source = detail::as_source<Exec>(keys);
  const auto sink = detail::as_sink<Exec>(keys_out);
  const auto value = detail::as_source<Exec>(values);
  const auto value_sink = detail::as_sink<Exec>(values_out);
  using item = typename decltype(source)::value_type;
  using sink_type = std::decay_t<decltype(sink)>;
  using value_type = std::decay_t<decltype(value)>;
  using value_sink_type = std::decay_t<decltype(value_sink)>;
  const char* const name = "top_k_by_key";
  detail::expects(value.extent == source.extent, name, ": values has ", value.extent,
                  " items, keys has ", source.extent);
  detail::expects_memory(value, name, "values");
  detail::expects_memory(sink, name, "keys_out");
  detail::expects_memory(value_sink, name, "values_out");
  detail::expects(sink.extent >= k, name, ": keys_out has ", sink.extent, " places, k is ", k);
  detail::expects(value_sink.extent >= k, name, ": values_out has ", value_sink.extent,
                  " places, k is ", k);
  detail::expects_no_partial_overlap(source, sink, name, "keys", "keys_out", false);
  detail::expects_no_partial_overlap(value, sink, name, "values", "keys_out", false);
  detail::expects_no_partial_overlap(source, value_sink, name, "keys", "values_out", false);
  detail::expects_no_partial_overlap(value, value_sink, name, "values", "values_out", false);
  detail::expects_no_partial_overlap(sink, value_sink, name, "keys_out", "values_out", false);
  if constexpr (kernels::check_key_of<Exec, KeyOf, item>() &&
                detail::check_results<Exec, item, sink_type>() &&
                detail::check_results<Exec, typename value_type::value_type, value_sink_type>())
    kernels::top_k(
        exec, name, source, k,
        kernels::selected_pair<sink_type, value_type, value_sink_type>{sink, value, value_sink},
        key_of, options);
}

/// Stores the indices of these items, in out, a View of integers or a sink.
template <execution_space Exec, class In, class Out, class KeyOf = identity>
void arg_top_k(const Exec& exec, const In& in, std::int64_t k, const Out& out,
               const top_k_options& options = {}, const KeyOf& key_of = {}) {
  const auto source = detail::as_source<Exec>(in);
  const auto sink = detail::as_sink<Exec>(out);
  using item = typename decltype(source)::value_type;
  using sink_type = std::decay_t<decltype(sink)>;
  detail::expects_memory(sink, "arg_top_k", "out");
  detail::expects(sink.extent >= k, "arg_top_k: out has ", sink.extent, " places, k is ", k);
  detail::expects_no_partial_overlap(source, sink, "arg_top_k", "in", "out", false);
  if constexpr (kernels::check_key_of<Exec, KeyOf, item>() &&
                detail::check_results<Exec, std::int64_t, sink_type>())
    kernels::top_k(exec, "arg_top_k", source, k, kernels::selected_index<sink_type>{sink}, key_of,
                   options);
}

/// The workspace that top_k, top_k_by_key and arg_top_k need for n items whose keys have the type
/// Key, and k results. Needs no device.
template <class Key>
workspace_size top_k_workspace(std::int64_t n, std::int64_t k, bool sorted = false) {
  using key = kernels::selection_bits<identity, Key>;
  return kernels::selection_layout<key>(n, k, true, sorted, {}).size();
}

LANEWISE_END_TARGET_NAMESPACE
