// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/histogram/sparse_histogram.hpp>
#include <lanewise/segments/reduce_by_key.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// The key and the value that a map makes of an item, or nothing.
template <class Result>
struct mapped_types {
  static constexpr bool are_pairs = false;
};
template <class K, class V>
struct mapped_types<tuple<K, V>> {
  static constexpr bool are_pairs = true;
  using key = K;
  using value = V;
};
template <class Exec, class Map, class Item>
struct map_result {
  using type = void;
};
template <class Exec, class Map, class Item>
requires(detail::called_by_items<Exec, Map, Item>::holds) struct map_result<Exec, Map, Item> {
  using type = typename detail::called_by_items<Exec, Map, Item>::result;
};
template <class Exec, class Map, class Item>
requires(!detail::called_by_items<Exec, Map, Item>::holds &&
         detail::takes<Map, Item>) struct map_result<Exec, Map, Item> {
  using type = std::decay_t<std::invoke_result_t<const Map&, const Item&>>;
};

template <class Exec, class Map, class Item>
constexpr bool check_map() {
  using types = mapped_types<typename map_result<Exec, Map, Item>::type>;
  static_assert(types::are_pairs || detail::is_refused<Item>,
                "lanewise::map_reduce: map is a function object that is called with an item of in "
                "and returns lanewise::tuple(key, value), and its operator() is const");
  if constexpr (types::are_pairs) return kernels::check_radix_key<typename types::key>();
  return false;
}

template <class Key, class Value, class T, class Exec>
workspace_size map_reduce_inner(std::int64_t n) {
  return lanewise::max(lanewise::radix_sort_workspace<Key, Exec, Value>(n),
                       lanewise::reduce_by_key_workspace<T, Exec, Key>(n));
}

}  // namespace kernels

/// The workspace that map_reduce needs for n items from which a map makes keys and values of these
/// types, values being combined as T. Needs no device.
template <class Key, class Value, class Exec, class T = Value>
workspace_size map_reduce_workspace(std::int64_t n) {
  workspace_layout parts(kernels::map_reduce_inner<Key, Value, T, Exec>(n));
  parts.add<Key>(n);
  parts.add<Value>(n);
  return parts.size();
}

/// Makes a key and a value of every item, and combines the values of every key. With (k(i), v(i)) =
/// map(in(i)), keys_out has every key once, in the order of radix_sort. values_out(j) is the
/// combination by op of the v(i) with k(i) = keys_out(j), in the order of i. The rank-0 View number
/// of integers receives how many keys there are (docs/algorithms.md).
///
/// map is a pure scalar function object, called once per item, which returns lanewise::tuple(key,
/// value); that of a zip takes the items one by one, or their tuple. Keys are those of radix_sort,
/// and the same where all bits are: so -0.0 and +0.0 are two keys, and NaN is one for each of its
/// bit patterns. Values are of any trivially copyable type. op is an associative function object on
/// the type of values_out's items, or on A where it is accumulate_as<A>(op). Values are converted
/// to that type. It need not commute and needs no identity. in is a contiguous rank-1 View or a
/// source, keys_out a View or a sink, values_out a View. The outputs overlap neither each other nor
/// number; each of them may overlap in, or be it. Where an output has fewer places than there are
/// results, the first are written; number counts all of them.
///
/// A transform into the workspace, a radix_sort of pairs there and a reduce_by_key: their launches
/// and work, O(n). Memory traffic: n reads of items, n writes of keys and values, the sort's, n
/// reads of keys and values, and two writes per key. Values that are not of 1, 2, 4 or 8 bytes are
/// sorted by their numbers, in memory that the sort allocates. Where sums are of integers, the
/// result is the same on every backend; floating-point sums may differ from run to run by
/// association. Does not block. Throws std::invalid_argument where the outputs overlap, or on an
/// option that cannot be reached. (Merrill, 2.13: map, sort, reduce by key.)
template <execution_space Exec, class In, class Map, class KeysOut, class ValuesOut, class C,
          class... P, class Op>
requires(!Kokkos::is_view_v<Op>) void map_reduce(const Exec& exec, const In& in, const Map& map,
                                                 const KeysOut& keys_out,
                                                 const ValuesOut& values_out,
                                                 const Kokkos::View<C, P...>& number, const Op& op,
                                                 const call_options& options = {}) {
  constexpr const char* name = "map_reduce";
  const auto source = detail::as_source<Exec>(in);
  using item = typename decltype(source)::value_type;
  if constexpr (kernels::check_map<Exec, Map, item>()) {
    using types = kernels::mapped_types<typename kernels::map_result<Exec, Map, item>::type>;
    using key = typename types::key;
    using value = typename types::value;
    const auto sink = detail::as_sink<Exec>(values_out);
    using result = typename detail::sink_value<std::decay_t<decltype(sink)>>::type;
    static_assert(!std::is_void_v<result>, "lanewise::map_reduce: values_out is a View");
    detail::expects_memory(source, name, "in");
    kernels::expects_outputs(detail::as_sink<Exec>(keys_out), sink, name, "values_out");
    options.count.template expects_reachable<Exec>(name, "options.count");
    kernels::count_place<Exec>(number, name);
    const std::int64_t n = source.extent;
    using T = detail::accumulated<Op, result>;
    workspace_layout parts(kernels::map_reduce_inner<key, value, T, Exec>(n));
    const auto key_array = parts.add<key>(n);
    const auto value_array = parts.add<value>(n);
    auto work = call_workspace::make<backend_of<Exec>>(exec, options.work, parts.size(), name);
    const auto keys = key_array.template view<Exec>(work.get());
    const auto values = value_array.template view<Exec>(work.get());
    const call_options inner{.work = &work.get(), .count = options.count};
    lanewise::transform(exec, source, lanewise::unzipped(keys, values), map, inner);
    kernels::radix_sort(exec, keys, values, keys, values,
                        sort_options{.work = inner.work, .count = inner.count}, name);
    lanewise::reduce_by_key(exec, keys, values, keys_out, values_out, number, op,
                            kernels::same_bits<key>({}, name), inner);
  }
}

/// Overload that returns the number of keys. **Blocks.** Throws std::length_error where an output
/// has fewer places than there are results: the first are written.
template <execution_space Exec, class In, class Map, class KeysOut, class ValuesOut, class Op>
requires(!Kokkos::is_view_v<Op>) std::int64_t
    map_reduce(const Exec& exec, const In& in, const Map& map, const KeysOut& keys_out,
               const ValuesOut& values_out, const Op& op, const call_options& options = {}) {
  return kernels::blocking_number(
      exec, "map_reduce",
      [&](const auto& number) {
        lanewise::map_reduce(exec, in, map, keys_out, values_out, number, op, options);
      },
      "keys_out", keys_out, "values_out", values_out);
}

LANEWISE_END_TARGET_NAMESPACE
