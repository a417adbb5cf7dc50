// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/call/workspace_layout.hpp>
#include <lanewise/data/tuple.hpp>
#include <lanewise/sort/radix_sort.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// One or several keys as one unsigned integer of `width` bits, in their order; the first key has
/// the highest bits.
template <class Key>
struct packed_keys {
  static constexpr int width = 0;
};
template <radix_sortable Key>
struct packed_keys<Key> {
  static constexpr int width = radix_key<Key>::width;
  using word = radix_bits_t<Key>;
  static LANEWISE_FUNCTION word pack(const Key& key) { return lanewise::to_bits(key); }
};
template <radix_sortable... Keys>
requires(sizeof...(Keys) > 0) struct packed_keys<tuple<Keys...>> {
  static constexpr int width = (radix_key<Keys>::width + ...);
  using word = typename detail::unsigned_of_size<(width <= 8    ? 1
                                                  : width <= 16 ? 2
                                                  : width <= 32 ? 4
                                                  : width <= 64 ? 8
                                                                : 16)>::type;
  static LANEWISE_FUNCTION word pack(const tuple<Keys...>& keys) {
    word packed = 0;
    detail::call_with(
        [&](const Keys&... key) {
          ((packed = static_cast<word>(shifted<radix_key<Keys>::width>(packed) |
                                       lanewise::to_bits(key))),
           ...);
        },
        keys);
    return packed;
  }

 private:
  /// For the first key nothing is shifted, however wide it is.
  template <int bits>
  static LANEWISE_FUNCTION word shifted(word x) {
    if constexpr (bits >= static_cast<int>(8 * sizeof(word))) return 0;
    return static_cast<word>(x << (bits % static_cast<int>(8 * sizeof(word))));
  }
};

template <class KeyOf, class Item>
struct keys_of_item {
  using type = void;
};
template <class KeyOf, class Item>
requires(detail::takes<KeyOf, Item>) struct keys_of_item<KeyOf, Item> {
  using type = std::decay_t<std::invoke_result_t<const KeyOf&, const Item&>>;
};

template <class KeyOf>
struct packed_keys_of {
  KeyOf key_of;
  template <class Item>
  LANEWISE_FUNCTION auto operator()(const Item& item) const {
    return packed_keys<typename keys_of_item<KeyOf, Item>::type>::pack(key_of(item));
  }
};

template <class KeyOf, class Item>
constexpr bool check_key_of() {
  constexpr int width = packed_keys<typename keys_of_item<KeyOf, Item>::type>::width;
  static_assert(width > 0 || detail::is_refused<Item>,
                "lanewise::radix_sort_by: key_of is a function object that is called with an item "
                "and returns a key of radix_sort, or a lanewise::tuple of keys, and its operator() "
                "is const");
  static_assert(width <= 128, "lanewise::radix_sort_by: the keys of an item have up to 128 bits");
  return width > 0 && width <= 128;
}

/// Sorts the numbers of items by their keys, and fetches items and values by them.
template <class Index, class T, class V, class Exec, class Keys>
void sort_both_by_index(const Exec& exec, const Keys& keys, const T* in, T* out, const V* values_in,
                        V* values_out, const sort_options& options, const char* algorithm) {
  const auto n = static_cast<std::int64_t>(keys.extent(0));
  call_memory<Exec> memory(exec, static_cast<std::size_t>(n) * sizeof(Index), algorithm);
  const auto index = memory.template view<Index>(n);
  kernels::radix_sort(exec, keys, lanewise::generated(n, as_index<Index>{}), keys, index, options,
                      algorithm);
  const call_options counted{.count = options.count};
  kernels::fetch_by_index(exec, index, in, out, n, counted, algorithm);
  kernels::fetch_by_index(exec, index, values_in, values_out, n, counted, algorithm);
}

/// The options of the sort of the keys that an item has.
template <class Packed>
sort_options options_of_packed(const sort_options& options, const char* algorithm) {
  sort_options inner = options;
  if (inner.end_bit < 0) inner.end_bit = Packed::width;
  detail::expects(inner.end_bit <= Packed::width, algorithm, ": options.end_bit is ",
                  options.end_bit, ", keys have ", Packed::width, " bits");
  return inner;
}

/// Calls sort(keys, options of the sort) with the keys of a source's items. The workspace has what
/// a sort with values of type Value needs.
template <class Value, class Exec, class Source, class KeyOf, class Sort>
void with_packed_keys(const Exec& exec, const Source& source, const KeyOf& key_of,
                      const sort_options& options, const char* algorithm, const Sort& sort) {
  using packed = packed_keys<typename keys_of_item<KeyOf, typename Source::value_type>::type>;
  using word = typename packed::word;
  options.count.template expects_reachable<Exec>(algorithm, "options.count");
  sort_options inner = kernels::options_of_packed<packed>(options, algorithm);
  const std::int64_t n = source.extent;
  workspace_layout parts(lanewise::radix_sort_workspace<word, Exec, Value>(n));
  const auto at = parts.add<word>(n);
  auto work = call_workspace::make<backend_of<Exec>>(exec, options.work, parts.size(), algorithm);
  const auto keys = at.template view<Exec>(work.get());
  inner.work = &work.get();
  lanewise::transform(exec, source, keys, packed_keys_of<KeyOf>{key_of}, {.count = options.count});
  sort(keys, inner);
}

}  // namespace kernels

/// The workspace that radix_sort_by needs for n items of type T, if key_of makes a Key, or a tuple
/// of keys, of each. Needs no device.
template <class Key, class T, class Exec>
workspace_size radix_sort_by_workspace(std::int64_t n) {
  using word = typename kernels::packed_keys<Key>::word;
  workspace_layout parts(lanewise::radix_sort_workspace<word, Exec, T>(n));
  parts.add<word>(n);
  return parts.size();
}

/// Sorts items, as structs, by keys that a function makes of them: out has the items of in in the
/// order in which key_of(item) ascends or, by options.order, descends. Of items with equal keys
/// the order is that of the input (stable).
///
/// key_of is a pure scalar function object, called once per item. It returns a key of radix_sort,
/// or a lanewise::tuple of several: the first of them is compared first, and all together have up
/// to 128 bits (bool has one). in is a contiguous rank-1 View or a source, out a View of the same
/// type of items, at least as long; they may be the same View. Items are of any trivially copyable
/// type. begin_bit and end_bit are bits of the keys one after the other, those of the last key
/// lowest. The result is the same on every backend. Does not block. Throws std::invalid_argument on
/// wrong extents, partial overlap, bits that keys do not have, or an option that cannot be reached.
///
/// A transform that writes the keys, and a radix_sort of pairs: their launches and work, O(n).
/// Memory traffic: n reads of items, n writes of keys, and the sort's. Items of 1, 2, 4 and 8 bytes
/// move with the keys; of others the call sorts the numbers, in memory that it allocates, and
/// fetches the items at the end. The workspace has room for the keys, after that of the sort.
/// (Merrill, 2.13.)
template <execution_space Exec, class In, class Out, class KeyOf>
requires(Kokkos::is_view_v<Out>) void radix_sort_by(const Exec& exec, const In& in, const Out& out,
                                                    const KeyOf& key_of,
                                                    const sort_options& options = {}) {
  constexpr const char* name = "radix_sort_by";
  const auto source = detail::as_source<Exec>(in);
  const auto sink = detail::as_sink<Exec>(out);
  using item = typename decltype(source)::value_type;
  if constexpr (kernels::check_key_of<KeyOf, item>() &&
                kernels::check_sorted_array<std::decay_t<decltype(source)>,
                                            std::decay_t<decltype(sink)>>()) {
    kernels::expects_arrays<Exec>(source, sink, name, "in", "out");
    kernels::with_packed_keys<item>(exec, source, key_of, options, name,
                                    [&](const auto& keys, const sort_options& inner) {
                                      kernels::radix_sort(exec, keys, in, keys, out, inner, name);
                                    });
  }
}

/// For pairs: values, of any trivially copyable type, go the way of the items that key_of looks at.
/// As radix_sort of such items does, the call sorts numbers, in memory that it allocates, and
/// fetches items and values at the end: 2 n reads of numbers and n of each, in any order. Where an
/// output is its input, these take another read and write. Outputs overlap nothing else.
template <execution_space Exec, class In, class Values, class Out, class ValuesOut, class KeyOf>
requires(Kokkos::is_view_v<Out>) void radix_sort_by(const Exec& exec, const In& in,
                                                    const Values& values, const Out& out,
                                                    const ValuesOut& values_out,
                                                    const KeyOf& key_of,
                                                    const sort_options& options = {}) {
  constexpr const char* name = "radix_sort_by";
  const auto source = detail::as_source<Exec>(in);
  const auto sink = detail::as_sink<Exec>(out);
  const auto value_source = detail::as_source<Exec>(values);
  const auto value_sink = detail::as_sink<Exec>(values_out);
  using item = typename decltype(source)::value_type;
  if constexpr (kernels::check_key_of<KeyOf, item>() &&
                kernels::check_sorted_array<std::decay_t<decltype(source)>,
                                            std::decay_t<decltype(sink)>>() &&
                kernels::check_sorted_array<std::decay_t<decltype(value_source)>,
                                            std::decay_t<decltype(value_sink)>>()) {
    kernels::expects_pairs<Exec>(source, value_source, sink, value_sink, name);
    detail::expects(!options.overwrite_input, name, ": options.overwrite_input is for radix_sort");
    const std::int64_t n = source.extent;
    const auto sort_by = [&](auto number) {
      using index = decltype(number);
      kernels::with_packed_keys<index>(
          exec, source, key_of, options, name, [&](const auto& keys, const sort_options& inner) {
            kernels::sort_both_by_index<index>(
                exec, keys, kernels::in_memory(exec, source, sink, options), sink.data,
                kernels::in_memory(exec, value_source, value_sink, options), value_sink.data, inner,
                name);
          });
    };
    if (n <= std::numeric_limits<std::uint32_t>::max()) {
      sort_by(std::uint32_t{});
    } else {
      sort_by(std::uint64_t{});
    }
  }
}

/// Overload that works in place.
template <execution_space Exec, class T, class... P, class KeyOf>
requires(!Kokkos::is_view_v<KeyOf>) void radix_sort_by(const Exec& exec,
                                                       const Kokkos::View<T, P...>& data,
                                                       const KeyOf& key_of,
                                                       const sort_options& options = {}) {
  lanewise::radix_sort_by(exec, data, data, key_of, options);
}

LANEWISE_END_TARGET_NAMESPACE
