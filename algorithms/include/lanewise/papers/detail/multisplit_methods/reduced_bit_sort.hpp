// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/papers/detail/multisplit_methods/labels.hpp>
#include <lanewise/papers/detail/names.hpp>
#include <lanewise/sort/detail/multisplit_call.hpp>
#include <lanewise/sort/radix_sort.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {
namespace kernels {

struct write_label {
  std::uint32_t* labels;
  template <class Key>
  LANEWISE_FUNCTION void operator()(std::int64_t i, const Key&, std::uint32_t b) const {
    labels[i] = b;
  }
};
struct write_label_and_index {
  std::uint32_t* labels;
  std::uint32_t* index;
  template <class Key>
  LANEWISE_FUNCTION void operator()(std::int64_t i, const Key&, std::uint32_t b) const {
    labels[i] = b;
    index[i] = static_cast<std::uint32_t>(i);
  }
};

/// A key and its value in a word.
template <class Key, class Value>
struct alignas(8) packed_pair {
  Key key;
  Value value;
};
template <class Key, class Values>
struct write_label_and_pair {
  using pair = packed_pair<Key, typename Values::value_type>;
  std::uint32_t* labels;
  pair* packed;
  Values values;
  LANEWISE_FUNCTION void operator()(std::int64_t i, const Key& key, std::uint32_t b) const {
    labels[i] = b;
    packed[i] = {key, values(i)};
  }
};
template <class Sink, class ValueSink>
struct unpack_pair {
  Sink keys_out;
  ValueSink values_out;
  template <class Pair>
  LANEWISE_FUNCTION void operator()(std::int64_t i, const Pair& pair) const {
    keys_out(i, pair.key);
    values_out(i, pair.value);
  }
};
/// Fetches what belongs to place i.
template <class Source, class Sink, class Values, class ValueSink>
struct fetch_item {
  split_arrays<Source, Sink, Values, ValueSink> arrays;
  LANEWISE_FUNCTION void operator()(std::int64_t i, std::uint32_t from) const {
    arrays.keys_out(i, arrays.keys(from));
    if constexpr (!std::is_same_v<Values, std::nullptr_t>)
      arrays.values_out(i, arrays.values(from));
  }
};

/// Sorts labels, and with them the keys, the pairs as words, or the numbers of the items.
template <bool by_index>
struct reduced_bit_sorts {
  /// What moves with the labels. Of packed pairs only the size matters.
  template <class Key, class Value>
  struct moved {
    static constexpr bool is_key = !by_index && std::is_same_v<Value, no_value>;
    using type =
        std::conditional_t<by_index, std::uint32_t, std::conditional_t<is_key, Key, std::uint64_t>>;
  };

  template <class Exec, class Key, class Value>
  static workspace_size sort_need(std::int64_t n) {
    return lanewise::radix_sort_workspace<std::uint32_t, Exec, typename moved<Key, Value>::type>(n);
  }
  template <class Exec, class Key, class Value>
  static workspace_size need(std::int64_t n, std::uint32_t) {
    using moving = moved<Key, Value>;
    const workspace_size sort = sort_need<Exec, Key, Value>(n);
    const auto items = static_cast<std::size_t>(n);
    const std::size_t beside = moving::is_key ? 0 : items * sizeof(typename moving::type);
    return {sort.tickets,
            whole_lines(sort.bytes) + whole_lines(items * sizeof(std::uint32_t)) + beside};
  }

  template <class Exec, class Source, class Sink, class Values, class ValueSink, class Bucket>
  static void run(const Exec& exec, workspace& work,
                  const split_arrays<Source, Sink, Values, ValueSink>& arrays,
                  std::uint32_t buckets, const Bucket& bucket, status* errors) {
    using key = typename Source::value_type;
    using value = typename moved_value<Values>::type;
    const std::int64_t n = arrays.keys.extent;
    char* const memory = static_cast<char*>(work.plain()) +
                         kernels::whole_lines(sort_need<Exec, key, value>(n).bytes);
    auto* const labels = reinterpret_cast<std::uint32_t*>(memory);
    char* const beside = memory + whole_lines(static_cast<std::size_t>(n) * sizeof(std::uint32_t));
    const auto sort = [&](const auto& from, const auto& to) {
      kernels::radix_sort(
          exec, array_source<std::uint32_t, identity>{labels, n, {}}, from,
          array_sink<std::uint32_t>{labels, n}, to,
          sort_options{.work = &work, .end_bit = static_cast<int>(std::bit_width(buckets - 1))},
          "multisplit_by");
    };
    const auto sort_in_place = [&](auto* items) {
      using item = std::remove_pointer_t<decltype(items)>;
      const array_source<item, identity> sorted{items, n, {}};
      sort(sorted, array_sink<item>{items, n});
      return sorted;
    };
    if constexpr (by_index) {
      auto* const index = reinterpret_cast<std::uint32_t*>(beside);
      kernels::label(exec, arrays.keys, n, bucket, write_label_and_index{labels, index}, errors);
      lanewise::transform(
          exec, sort_in_place(index),
          lanewise::consumed(n, fetch_item<Source, Sink, Values, ValueSink>{arrays}), identity{});
    } else if constexpr (std::is_same_v<Values, std::nullptr_t>) {
      kernels::label(exec, arrays.keys, n, bucket, write_label{labels}, errors);
      sort(arrays.keys, arrays.keys_out);
    } else {
      using pair = packed_pair<key, value>;
      constexpr bool fits = sizeof(pair) == 8;
      static_assert(fits,
                    "lanewise: reduced_bit_sort packs pairs of up to 8 bytes; of others "
                    "reduced_bit_sort_by_index moves the numbers");
      if constexpr (fits) {
        auto* const packed = reinterpret_cast<pair*>(beside);
        kernels::label(exec, arrays.keys, n, bucket,
                       write_label_and_pair<key, Values>{labels, packed, arrays.values}, errors);
        lanewise::transform(
            exec, sort_in_place(packed),
            lanewise::consumed(n, unpack_pair<Sink, ValueSink>{arrays.keys_out, arrays.values_out}),
            identity{});
      }
    }
  }
};

}  // namespace kernels
}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
