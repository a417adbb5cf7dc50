// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/papers/detail/lsd_radix_sort/call.hpp>
#include <lanewise/papers/detail/names.hpp>
#include <lanewise/papers/radix_pass_cost.hpp>
#include <lanewise/sort/radix_sort.hpp>

#include <concepts>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {
namespace lsd_passes {

/// A pass takes the number of bits that the way's cost model finds cheapest.
inline constexpr int automatic = 0;

/// Passes are multisplits by a digit: a warp ranks 32 items at a time by ballots.
struct split_tiles {
  static constexpr int most_bits = 8;
  int bits = automatic;
  radix_pass_cost cost = radix_pass_costs::h200_split_tiles;
};

/// Passes are two sweeps: teams count the digits of even shares of the items, one team scans the
/// counts, and teams move their shares. A warp ranks 256 items at a time by a scan of packed
/// counters, four of eight bits to a word. A pass in which all keys have the same digit moves
/// nothing.
struct multi_scan {
  static constexpr int most_bits = 5;
  int bits = automatic;
  radix_pass_cost cost = radix_pass_costs::h200_multi_scan;
};

template <class T>
concept way = std::same_as<T, split_tiles> || std::same_as<T, multi_scan>;

/// The bits that a pass takes from keys that are compared by `key_bits` bits.
template <lsd_passes::way Way>
int bits_of_pass(const Way& how, int key_bits) {
  return how.bits != automatic ? how.bits
                               : lanewise::papers::best_bits(how.cost, key_bits, Way::most_bits);
}

}  // namespace lsd_passes

namespace kernels {

template <class Way>
using passes_by = std::conditional_t<std::is_same_v<Way, lsd_passes::multi_scan>,
                                     passes_by_multi_scans, passes_by_splits>;

template <class Way, class Bits, class Value, class Exec>
workspace_size passes_workspace(std::int64_t n) {
  workspace_size need = passes_by<Way>::template need<Bits, Value, Exec>(n);
  need.bytes += passes_layout<Bits, Value>(n).rest_at;
  return need;
}

/// Whether arguments can be sorted by passes. Says in one line what does not fit.
template <class T, class V>
constexpr bool check_passes() {
  constexpr bool narrow = sizeof(T) <= 8 || detail::is_refused<T>;
  constexpr bool moves = std::is_empty_v<V> || moves_as_word<V> || detail::is_refused<V>;
  static_assert(narrow, "lanewise: lsd_radix_sort takes keys of 1 to 8 bytes");
  static_assert(moves, "lanewise: lsd_radix_sort takes values of 1, 2, 4 or 8 bytes");
  return narrow && moves;
}

template <class T, class Value, class Exec, class Way>
void sort_by_passes(const Exec& exec, const T* in, T* out, const Value* values_in,
                    Value* values_out, std::int64_t n, const Way& how,
                    const sort_options& options) {
  constexpr const char* algorithm = "lsd_radix_sort";
  using bits = radix_bits_t<T>;
  detail::expects(how.bits >= 0 && how.bits <= Way::most_bits, algorithm, ": bits is ", how.bits,
                  ", not in [1, ", Way::most_bits, "] and not automatic");
  detail::expects(!options.overwrite_input, algorithm,
                  ": options.overwrite_input is for radix_sort");
  const detail::radix_range range = kernels::range_of<T>(options, algorithm);
  if (n == 0) return;
  auto work = call_workspace::make<backend_of<Exec>>(
      exec, options.work, kernels::passes_workspace<Way, bits, Value, Exec>(n), algorithm);
  const passes_layout<bits, Value> layout(n);
  char* const memory = static_cast<char*>(work.get().plain());
  const passes_call<bits, Value> call{
      {reinterpret_cast<const bits*>(in), reinterpret_cast<bits*>(out),
       reinterpret_cast<bits*>(memory)},
      {values_in, values_out, reinterpret_cast<Value*>(memory + layout.values_at)},
      {n, options.count.data()},
      options.count,
      detail::key_map_of<T>(options.order == sort_order::descending),
      range,
      lsd_passes::bits_of_pass(how, range.high - range.low)};
  passes_by<Way>::sort(exec, work.get(), memory + layout.rest_at, call);
}

}  // namespace kernels

/// The workspace of a sort by passes of n keys of type T, with values of type Value or without,
/// whatever the bits are. Needs no device.
template <lsd_passes::way Way, class T, class Exec, class Value = no_value>
workspace_size lsd_radix_sort_workspace(std::int64_t n) {
  using word = typename kernels::value_word<Value>::type;
  return kernels::passes_workspace<Way, radix_bits_t<T>, word, Exec>(n);
}

/// Sorts keys by passes from the least significant digit up, as the dissertation does. keys_out has
/// them in the order in which the integers that radix_key makes of them ascend or, by
/// options.order, descend. k bits take ceil(k / d) passes of d bits. Each pass brings all keys into
/// the order of a digit and keeps the order that they have; the last one takes the bits that are
/// left.
///
/// how is split_tiles{d}, d from 1 to 8, or multi_scan{d}, d from 1 to 5. Without d it is the one
/// that the way's cost model finds cheapest for as many bits (radix_pass_cost.hpp).
///
/// Keys are those of lanewise::radix_sort, of up to 8 bytes; shapes, options, aliasing and errors
/// are the same, and so is the result. Stable; the same result on every backend. Does not block.
/// Throws std::invalid_argument on d that the way does not have, too.
///
/// O(n k / d) work. Every pass reads keys twice, values once, and writes both once, by three
/// launches. A pass of multi_scan whose digit all keys share reads keys once and writes nothing. As
/// keys are mapped where a digit is read, that holds for the first and the last pass of signed and
/// floating-point keys, too. The dissertation excludes these. What ended elsewhere is copied to
/// keys_out: after an odd number of passes in place, and with multi_scan where passes had nothing
/// to do. The workspace has room for n keys and values, and counters: 1 MiB for multi_scan. This is
/// for comparison, and for machines where another width pays: on an H200 2^28 random keys of 4
/// bytes take lanewise::radix_sort 3.6 ms, split_tiles{8} 5.7 and multi_scan{4} 13.6. (Merrill, 5.3
/// to 5.5.)
template <execution_space Exec, class Keys, class KeysOut, lsd_passes::way Way>
void lsd_radix_sort(const Exec& exec, const Keys& keys, const KeysOut& keys_out, const Way& how,
                    const sort_options& options = {}) {
  constexpr const char* algorithm = "lsd_radix_sort";
  const auto source = detail::as_source<Exec>(keys);
  const auto sink = detail::as_sink<Exec>(keys_out);
  using T = typename decltype(source)::value_type;
  if constexpr (kernels::check_radix_key<T>() && kernels::check_passes<T, no_value>() &&
                kernels::check_sorted_array<std::decay_t<decltype(source)>,
                                            std::decay_t<decltype(sink)>>()) {
    kernels::expects_arrays<Exec>(source, sink, algorithm, "keys", "keys_out");
    options.count.expects_reachable<Exec>(algorithm, "options.count");
    const T* const from = kernels::in_memory(exec, source, sink, options);
    kernels::sort_by_passes<T, no_value>(exec, from, sink.data, nullptr, nullptr, source.extent,
                                         how, options);
  }
}

/// For pairs, whose values are of 1, 2, 4 or 8 bytes and go the way of their keys. values_out may
/// be values; otherwise it overlaps no other array.
template <execution_space Exec, class Keys, class Values, class KeysOut, class ValuesOut,
          lsd_passes::way Way>
void lsd_radix_sort(const Exec& exec, const Keys& keys, const Values& values,
                    const KeysOut& keys_out, const ValuesOut& values_out, const Way& how,
                    const sort_options& options = {}) {
  constexpr const char* algorithm = "lsd_radix_sort";
  const auto source = detail::as_source<Exec>(keys);
  const auto sink = detail::as_sink<Exec>(keys_out);
  const auto value_source = detail::as_source<Exec>(values);
  const auto value_sink = detail::as_sink<Exec>(values_out);
  using T = typename decltype(source)::value_type;
  using V = typename decltype(value_source)::value_type;
  if constexpr (kernels::check_radix_key<T>() && kernels::check_passes<T, V>() &&
                kernels::check_sorted_array<std::decay_t<decltype(source)>,
                                            std::decay_t<decltype(sink)>>() &&
                kernels::check_sorted_array<std::decay_t<decltype(value_source)>,
                                            std::decay_t<decltype(value_sink)>>()) {
    kernels::expects_pairs<Exec>(source, value_source, sink, value_sink, algorithm);
    options.count.expects_reachable<Exec>(algorithm, "options.count");
    const T* const from = kernels::in_memory(exec, source, sink, options);
    const V* const values_from = kernels::in_memory(exec, value_source, value_sink, options);
    using word = typename kernels::value_word<V>::type;
    kernels::sort_by_passes<T, word>(
        exec, from, sink.data, reinterpret_cast<const word*>(values_from),
        reinterpret_cast<word*>(value_sink.data), source.extent, how, options);
  }
}

}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
