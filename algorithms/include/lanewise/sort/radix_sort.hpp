// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/detail/by_index.hpp>
#include <lanewise/sequence/transform.hpp>
#include <lanewise/sort/detail/radix_sorter.hpp>
#include <lanewise/tile/expansion.hpp>

#include <limits>

LANEWISE_BEGIN_NAMESPACE

enum class sort_order { ascending, descending };

/// Options of radix_sort, sort, sort_by_key and argsort.
struct sort_options {
  /// Memory for temporaries; without it the call allocates in the order of its instance.
  workspace_ref work = {};
  /// A rank-0 View of integers, read on the device when the call runs: the number of items. The
  /// extents are the upper bound.
  option_view<const std::int64_t> count = {};
  sort_order order = sort_order::ascending;
  /// Keys are compared by bits [begin_bit, end_bit) of the integers that radix_key makes of them,
  /// and keys that agree there keep their order. end_bit < 0: all bits from begin_bit on. It is at
  /// most 8 * sizeof(key), for bool, too.
  int begin_bit = 0;
  int end_bit = -1;
  /// Keys and values may be overwritten. The sort then needs no memory for items, as it moves them
  /// between inputs and outputs. What inputs hold at the end is not specified. For radix_sort of
  /// Views whose items are not const, and which are not the outputs.
  bool overwrite_input = false;
};

LANEWISE_END_NAMESPACE
LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// Values of these sizes move with their keys, as unsigned integers. Of others the numbers do, and
/// the values are fetched at the end.
template <class V>
inline constexpr bool moves_as_word = (sizeof(V) == 1 || sizeof(V) == 2 || sizeof(V) == 4 ||
                                       sizeof(V) == 8) &&
                                      alignof(V) == sizeof(V);
template <class V>
struct value_word {
  using type = std::uint32_t;
};
template <class V>
requires(moves_as_word<V>) struct value_word<V> {
  using type = typename detail::unsigned_of_size<sizeof(V)>::type;
};
template <>
struct value_word<no_value> {
  using type = no_value;
};

/// The bits that keys of type T are compared by. Bits of a bool beyond its one are 0 in all keys.
template <class T>
detail::radix_range range_of(const sort_options& options, const char* algorithm) {
  constexpr int width = radix_key<T>::width, bits = 8 * sizeof(T);
  const int end = options.end_bit < 0 ? bits : options.end_bit;
  detail::expects(end <= bits, algorithm, ": options.end_bit is ", end, ", keys have ", bits,
                  " bits");
  detail::expects(options.begin_bit >= 0 && options.begin_bit <= end, algorithm,
                  ": options.begin_bit is ", options.begin_bit, ", options.end_bit is ", end);
  return {options.begin_bit < width ? options.begin_bit : width, end < width ? end : width};
}

/// The arrays of a sort, seen as Bits. Its input is its room if it may be overwritten.
template <class Bits, class T>
detail::radix_arrays<Bits> arrays_of(const T* in, T* out, const sort_options& options) {
  const auto bits = reinterpret_cast<const Bits*>(in);
  return {bits, reinterpret_cast<Bits*>(out),
          options.overwrite_input ? const_cast<Bits*>(bits) : nullptr};
}

/// The ranges of a key's bits that a call is compiled for.
enum class bit_ranges { any, whole };

/// Sorts n keys of type T, and what moves with them, from array to array.
template <class T, class Value, bit_ranges ranges = bit_ranges::any, class Exec>
void sort_arrays(const Exec& exec, const T* in, T* out, const Value* values_in, Value* values_out,
                 item_count n, const sort_options& options, const char* algorithm) {
  using bits = radix_bits_t<T>;
  const detail::radix_range range = kernels::range_of<T>(options, algorithm);
  if (n.bound == 0) return;
  const auto map = detail::key_map_of<T>(options.order == sort_order::descending);
  const auto run = [&](auto ordered) {
    kernels::sort_bits<Exec, bits, Value, decltype(ordered)::value>(
        exec, kernels::arrays_of<bits>(in, out, options),
        kernels::arrays_of<Value>(values_in, values_out, options), n, map, range, options.work);
  };
  if constexpr (!std::is_empty_v<Value>) {
    run(std::true_type{});
  } else if constexpr (ranges == bit_ranges::whole) {
    run(std::false_type{});
  } else if (range.high - range.low == radix_key<T>::width) {
    run(std::false_type{});
  } else {
    // Keys that are more than what they are compared by keep their order, too.
    run(std::true_type{});
  }
}

/// out(i) = in(index(i)) of arrays of n items, which may be one.
template <class V, class Exec, class Index>
void fetch_by_index(const Exec& exec, const Index& index, const V* in, V* out, std::int64_t n,
                    const call_options& counted, const char* algorithm) {
  const auto fetched = lanewise::transformed(index, fetch_value<V>{in});
  using values = Kokkos::View<V*, typename Exec::memory_space, Kokkos::MemoryUnmanaged>;
  if (in != out) {
    lanewise::transform(exec, fetched, values(out, n), identity{}, counted);
    return;
  }
  call_memory<Exec> value_memory(exec, static_cast<std::size_t>(n) * sizeof(V), algorithm);
  const auto copy = value_memory.template view<V>(n);
  lanewise::transform(exec, fetched, copy, identity{}, counted);
  lanewise::transform(exec, copy, values(out, n), identity{}, counted);
}

/// Sorts pairs whose values are in memory and do not move as words.
template <class Index, class T, class V, class Exec>
void sort_by_index(const Exec& exec, const T* in, T* out, const V* values_in, V* values_out,
                   item_count n, const sort_options& options, const char* algorithm) {
  const call_options counted{.count = options.count};
  // Numbers are apart where keys are to be.
  const std::int64_t apart = options.overwrite_input ? n.bound : 0;
  call_memory<Exec> index_memory(exec, static_cast<std::size_t>(n.bound + apart) * sizeof(Index),
                                 algorithm);
  const auto numbers = index_memory.template view<Index>(n.bound + apart);
  const auto index = Kokkos::subview(numbers, std::pair(apart, n.bound + apart));
  lanewise::transform(exec, lanewise::generated(n.bound, as_index<Index>{}),
                      Kokkos::subview(numbers, std::pair(std::int64_t{0}, n.bound)), identity{},
                      counted);
  using word = typename detail::unsigned_of_size<sizeof(Index)>::type;
  kernels::sort_arrays<T, word>(exec, in, out, numbers.data(), index.data(), n, options, algorithm);
  kernels::fetch_by_index(exec, index, values_in, values_out, n.bound, counted, algorithm);
}

/// An array that holds a source's items: its own, or else the results, to which they are copied.
template <class Exec, class Source, class T>
const T* in_memory(const Exec& exec, const Source& source, const array_sink<T>& sink,
                   const sort_options& options) {
  if constexpr (requires { source.data; }) {
    if constexpr (std::is_same_v<Source, array_source<T, identity>>) return source.data;
  }
  lanewise::transform(exec, source,
                      Kokkos::View<T*, typename Exec::memory_space, Kokkos::MemoryUnmanaged>(
                          sink.data, source.extent),
                      identity{}, {.count = options.count});
  return sink.data;
}

/// What an input must be that may be overwritten.
template <class In, class T>
void expects_overwritable(const In& in, const array_sink<T>& sink, const sort_options& options,
                          const char* algorithm, const char* in_name, const char* out_name) {
  if (!options.overwrite_input) return;
  if constexpr (Kokkos::is_view_v<In>) {
    if constexpr (!std::is_const_v<typename In::value_type>) {
      detail::expects(in.size() == 0 || in.data() != sink.data, algorithm,
                      ": options.overwrite_input is set, but ", out_name, " is ", in_name);
      return;
    }
  }
  detail::expects(false, algorithm, ": options.overwrite_input is set, but ", in_name,
                  " is not a View of items that are not const");
}

/// What is asked of an array of keys or values, and of the array that it goes to.
template <class Exec, class Source, class Sink>
void expects_arrays(const Source& source, const Sink& sink, const char* algorithm,
                    const char* in_name, const char* out_name) {
  detail::expects(sink.extent >= source.extent, algorithm, ": ", out_name, " has ", sink.extent,
                  " places, ", in_name, " has ", source.extent, " items");
  detail::expects_memory(source, algorithm, in_name);
  detail::expects_memory(sink, algorithm, out_name);
  detail::expects_no_partial_overlap(source, sink, algorithm, in_name, out_name);
}

/// As `expects_arrays`, for pairs.
template <class Exec, class Source, class Values, class Sink, class ValueSink>
void expects_pairs(const Source& source, const Values& values, const Sink& sink,
                   const ValueSink& values_out, const char* algorithm) {
  using T = typename Source::value_type;
  kernels::expects_arrays<Exec>(source, sink, algorithm, "keys", "keys_out");
  detail::expects(values.extent == source.extent, algorithm, ": values has ", values.extent,
                  " items, keys has ", source.extent);
  kernels::expects_arrays<Exec>(values, values_out, algorithm, "values", "values_out");
  // Keys that are made of something are copied before anything is moved.
  if constexpr (std::is_same_v<Source, array_source<T, identity>>)
    detail::expects_no_partial_overlap(source, values_out, algorithm, "keys", "values_out", false);
  detail::expects_no_partial_overlap(values, sink, algorithm, "values", "keys_out", false);
  detail::expects_no_partial_overlap(sink, values_out, algorithm, "keys_out", "values_out", false);
}

/// Whether arguments can be sorted. Says in one line what does not fit.
template <class Source, class Sink>
constexpr bool check_sorted_array() {
  using item = typename Source::value_type;
  constexpr bool same = std::is_same_v<typename detail::sink_value<Sink>::type, item>;
  static_assert(same || detail::is_refused<item>,
                "lanewise: what is sorted goes to a View of the same type of items");
  return same;
}
template <class T>
constexpr bool check_radix_key() {
  static_assert(
      radix_sortable<T> || detail::is_refused<T>,
      "lanewise: radix_sort takes integers, bool, characters, enumerations, float, double, "
      "and types of which lanewise::is_ieee_float says so as keys");
  return radix_sortable<T>;
}

template <bit_ranges ranges = bit_ranges::any, class Exec, class Keys, class KeysOut>
void radix_sort(const Exec& exec, const Keys& keys, const KeysOut& keys_out,
                const sort_options& options, const char* algorithm) {
  const auto source = detail::as_source<Exec>(keys);
  const auto sink = detail::as_sink<Exec>(keys_out);
  using T = typename decltype(source)::value_type;
  if constexpr (kernels::check_radix_key<T>() &&
                kernels::check_sorted_array<std::decay_t<decltype(source)>,
                                            std::decay_t<decltype(sink)>>()) {
    kernels::expects_arrays<Exec>(source, sink, algorithm, "keys", "keys_out");
    kernels::expects_overwritable(keys, sink, options, algorithm, "keys", "keys_out");
    options.count.expects_reachable<Exec>(algorithm, "options.count");
    kernels::range_of<T>(options, algorithm);
    const item_count n{source.extent, options.count.data()};
    const T* const from = kernels::in_memory(exec, source, sink, options);
    kernels::sort_arrays<T, no_value, ranges>(exec, from, sink.data, nullptr, nullptr, n, options,
                                              algorithm);
  }
}

template <class Exec, class Keys, class Values, class KeysOut, class ValuesOut>
void radix_sort(const Exec& exec, const Keys& keys, const Values& values, const KeysOut& keys_out,
                const ValuesOut& values_out, const sort_options& options, const char* algorithm) {
  const auto source = detail::as_source<Exec>(keys);
  const auto sink = detail::as_sink<Exec>(keys_out);
  const auto value_source = detail::as_source<Exec>(values);
  const auto value_sink = detail::as_sink<Exec>(values_out);
  using T = typename decltype(source)::value_type;
  using V = typename decltype(value_source)::value_type;
  if constexpr (kernels::check_radix_key<T>() &&
                kernels::check_sorted_array<std::decay_t<decltype(source)>,
                                            std::decay_t<decltype(sink)>>() &&
                kernels::check_sorted_array<std::decay_t<decltype(value_source)>,
                                            std::decay_t<decltype(value_sink)>>()) {
    kernels::expects_pairs<Exec>(source, value_source, sink, value_sink, algorithm);
    kernels::expects_overwritable(keys, sink, options, algorithm, "keys", "keys_out");
    kernels::expects_overwritable(values, value_sink, options, algorithm, "values", "values_out");
    options.count.expects_reachable<Exec>(algorithm, "options.count");
    kernels::range_of<T>(options, algorithm);
    const item_count n{source.extent, options.count.data()};
    const T* const from = kernels::in_memory(exec, source, sink, options);
    const V* const values_from = kernels::in_memory(exec, value_source, value_sink, options);
    if constexpr (moves_as_word<V>) {
      using word = typename value_word<V>::type;
      kernels::sort_arrays<T, word>(
          exec, from, sink.data, reinterpret_cast<const word*>(values_from),
          reinterpret_cast<word*>(value_sink.data), n, options, algorithm);
    } else if (n.bound <= std::numeric_limits<std::uint32_t>::max()) {
      kernels::sort_by_index<std::uint32_t>(exec, from, sink.data, values_from, value_sink.data, n,
                                            options, algorithm);
    } else {
      kernels::sort_by_index<std::uint64_t>(exec, from, sink.data, values_from, value_sink.data, n,
                                            options, algorithm);
    }
  }
}

}  // namespace kernels

/// The workspace that radix_sort, sort and sort_by_key need for n keys of type T, with values of
/// type Value or without; overwrites: with options.overwrite_input. Needs no device.
template <class T, class Exec, class Value = no_value>
workspace_size radix_sort_workspace(std::int64_t n, bool overwrites = false) {
  using bits = radix_bits_t<T>;
  using word = typename kernels::value_word<Value>::type;
  const detail::radix_range all{0, radix_key<T>::width};
  const auto of = [&](auto sort) {
    return decltype(sort)::type::template workspace<Exec>(n, all, overwrites);
  };
  return lanewise::max(
      of(std::type_identity<kernels::radix_sort_t<Exec, bits, word, true>>{}),
      of(std::type_identity<kernels::radix_sort_t<Exec, bits, no_value, false>>{}));
}

/// Sorts keys: keys_out has them in the order in which the integers that radix_key makes of them
/// ascend or, by options.order, descend.
///
/// Keys are integers of 8 to 128 bits, bool, characters, enumerations, float, double, or types for
/// which is_ieee_float is true, as Kokkos' half_t and bhalf_t. Floating point is in IEEE 754's
/// total order: -0.0 comes before +0.0, NaN with the sign bit set before all other numbers, and
/// other NaN after them. keys is a contiguous rank-1 View or a
/// source, keys_out a View of the same type of items, at least as long. They may be the same View.
/// Keys that are equal in bits [begin_bit, end_bit) keep their order. The result is the same on
/// every backend. Does not block. Throws std::invalid_argument on wrong extents, partial overlap,
/// bits that keys do not have, or an option that cannot be reached.
///
/// O(n) work. On devices a sort goes from the most significant digit down, 8 bits at a time, and
/// ends where keys fit a team's scratch: up to about 2^28 random keys of any size are read five
/// times and written three times; one launch up to 2^20 keys (beyond 4608 after a clearing of
/// counters), and 8 to 12 beyond. Digits that all keys share move nothing, and keys in order are
/// copied. More than 2^20 keys that gather in few buckets of their highest digit go from the lowest
/// digit up. Each digit takes two reads and a write. On hosts the most significant digits come
/// first, too, at 3 n reads and 2 n writes. The workspace has room for the n keys (and values), and
/// up to two fifths as much for counters. With options.overwrite_input it has counters alone, and
/// keys move between the two Views of the caller (a double buffer; where they gather, with a copy
/// at the end). (Merrill, 2.13; Ashkiani, 3.7.)
///
/// Without options a call compiles in two thirds of the time: it has kernels for whole keys alone.
template <execution_space Exec, class Keys, class KeysOut>
void radix_sort(const Exec& exec, const Keys& keys, const KeysOut& keys_out,
                const sort_options& options) {
  kernels::radix_sort(exec, keys, keys_out, options, "radix_sort");
}
template <execution_space Exec, class Keys, class KeysOut>
void radix_sort(const Exec& exec, const Keys& keys, const KeysOut& keys_out) {
  kernels::radix_sort<kernels::bit_ranges::whole>(exec, keys, keys_out, {}, "radix_sort");
}

/// For pairs: values go the way of their keys, and of equal keys in the order of the input
/// (stable). Values are of any trivially copyable type: those of 1, 2, 4 and 8 bytes move with the
/// keys; of others the call sorts the numbers, in memory that it allocates, and fetches the values
/// at the end. values_out may be values; otherwise it overlaps no other array.
template <execution_space Exec, class Keys, class Values, class KeysOut, class ValuesOut>
void radix_sort(const Exec& exec, const Keys& keys, const Values& values, const KeysOut& keys_out,
                const ValuesOut& values_out, const sort_options& options = {}) {
  kernels::radix_sort(exec, keys, values, keys_out, values_out, options, "radix_sort");
}

LANEWISE_END_TARGET_NAMESPACE
