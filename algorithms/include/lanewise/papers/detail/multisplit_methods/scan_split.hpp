// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/papers/detail/multisplit_methods/labels.hpp>
#include <lanewise/papers/detail/names.hpp>
#include <lanewise/sequence/scan.hpp>
#include <lanewise/sequence/transform.hpp>
#include <lanewise/sort/detail/multisplit_call.hpp>

#include <bit>
#include <utility>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {
namespace kernels {

// Splits by one digit of the bucket's number, from an inclusive scan of the items whose digit is 0.

/// 1 where the digit is 0.
struct write_flag {
  std::uint32_t* flags;
  int digit;
  template <class Key>
  LANEWISE_FUNCTION void operator()(std::int64_t i, const Key&, std::uint32_t b) const {
    flags[i] = ~(b >> digit) & 1;
  }
};

/// The ranges of items that are split, each in itself: all items, or the items of each prefix of
/// bucket numbers.
struct ranges_to_split {
  const std::uint32_t* zeros;   // the scanned flags
  const std::uint32_t* begins;  // null: there is one range, [0, n)
  std::int64_t n;

  LANEWISE_FUNCTION std::int64_t begin(std::int64_t range) const {
    return begins == nullptr ? (range == 0 ? 0 : n) : begins[range];
  }
  LANEWISE_FUNCTION std::int64_t zeros_below(std::int64_t i) const {
    return i > 0 ? zeros[i - 1] : 0;
  }
  /// The first place of the range's items with digit 1.
  LANEWISE_FUNCTION std::int64_t middle(std::int64_t range) const {
    const std::int64_t first = begin(range);
    return first + zeros_below(begin(range + 1)) - zeros_below(first);
  }
  LANEWISE_FUNCTION std::int64_t place(std::int64_t range, std::int64_t i, std::int64_t upto,
                                       bool is_zero) const {
    const std::int64_t first = begin(range);
    const std::int64_t zeros_in_front = upto - zeros_below(first);
    return is_zero ? first + zeros_in_front - 1 : middle(range) + (i - first) - zeros_in_front;
  }
};

/// The begins of ranges that are half as large.
struct begin_of_half {
  ranges_to_split ranges;
  LANEWISE_FUNCTION std::uint32_t operator()(std::int64_t half) const {
    return static_cast<std::uint32_t>(half % 2 == 0 ? ranges.begin(half / 2)
                                                    : ranges.middle(half / 2));
  }
};

/// Sends an item to its place, given the flags up to it.
template <class Bucket, class Sink, class Values, class ValueSink>
struct split_item {
  ranges_to_split ranges;
  Bucket bucket;
  int digit;
  Sink keys_out;
  Values values;
  ValueSink values_out;

  template <class Key>
  LANEWISE_FUNCTION void operator()(std::int64_t i, const tuple<Key, std::uint32_t>& item) const {
    const Key key = lanewise::get<0>(item);
    const std::uint32_t b = bucket(key) >> digit;
    const std::int64_t range = ranges.begins == nullptr ? 0 : b >> 1;
    const std::int64_t to = ranges.place(range, i, lanewise::get<1>(item), (b & 1) == 0);
    keys_out(to, key);
    if constexpr (!std::is_same_v<Values, std::nullptr_t>) values_out(to, values(i));
  }
};

template <class Exec, class Source, class Sink, class Values, class ValueSink, class Bucket>
void split_ranges(const Exec& exec, workspace& work, std::uint32_t* flags,
                  const std::uint32_t* begins, int digit, const Bucket& bucket,
                  const split_arrays<Source, Sink, Values, ValueSink>& arrays, status* errors) {
  const std::int64_t n = arrays.keys.extent;
  const array_source<std::uint32_t, identity> scanned{flags, n, {}};
  kernels::label(exec, arrays.keys, n, bucket, write_flag{flags, digit}, errors);
  lanewise::inclusive_scan(exec, scanned, array_sink<std::uint32_t>{flags, n}, plus{},
                           {.work = &work});
  lanewise::transform(
      exec,
      zipped_source<detail::into_tuple, Source, array_source<std::uint32_t, identity>>{
          n, {arrays.keys, scanned}, {}},
      lanewise::consumed(n, split_item<Bucket, Sink, Values, ValueSink>{{flags, begins, n},
                                                                        bucket,
                                                                        digit,
                                                                        arrays.keys_out,
                                                                        arrays.values,
                                                                        arrays.values_out}),
      identity{});
}

/// Rounds of splits, by the digits of the bucket's number: from the lowest to the highest all items
/// are split together, from the highest to the lowest ranges, each in itself.
template <bool by_ranges>
struct scan_splits {
  template <class Key, class Value>
  struct layout {
    int rounds;
    std::size_t flags_at, keys_at, values_at, begins_at, bytes;
    layout(std::size_t front, std::int64_t n, std::uint32_t buckets)
        : rounds(static_cast<int>(std::bit_width(buckets - 1))), flags_at(front) {
      const auto items = static_cast<std::size_t>(n);
      keys_at = flags_at + whole_lines(items * sizeof(std::uint32_t));
      values_at = keys_at + whole_lines(items * sizeof(Key));
      begins_at = values_at + kernels::whole_lines(items * moved_bytes<Value>);
      bytes = begins_at + (by_ranges ? 2 * half_bytes() : 0);
    }
    /// The bytes of the begins of a round.
    std::size_t half_bytes() const {
      return whole_lines(((std::size_t{1} << rounds) + 1) * sizeof(std::uint32_t));
    }
  };

  template <class Exec, class Key, class Value>
  static workspace_size need(std::int64_t n, std::uint32_t buckets) {
    const workspace_size scan = lanewise::scan_workspace<std::uint32_t, Exec>(n);
    return {scan.tickets, layout<Key, Value>(whole_lines(scan.bytes), n, buckets).bytes};
  }

  template <class Exec, class Source, class Sink, class Values, class ValueSink, class Bucket>
  static void run(const Exec& exec, workspace& work,
                  const split_arrays<Source, Sink, Values, ValueSink>& arrays,
                  std::uint32_t buckets, const Bucket& bucket, status* errors) {
    using key = typename Source::value_type;
    using value = typename moved_value<Values>::type;
    const std::int64_t n = arrays.keys.extent;
    const layout<key, value> at(
        kernels::whole_lines(lanewise::scan_workspace<std::uint32_t, Exec>(n).bytes), n, buckets);
    char* const memory = static_cast<char*>(work.plain());
    auto* const flags = reinterpret_cast<std::uint32_t*>(memory + at.flags_at);
    const split_buffer<key> keys{reinterpret_cast<key*>(memory + at.keys_at), n};
    const split_buffer<value> values{reinterpret_cast<value*>(memory + at.values_at), n};
    const auto out = [&] {
      if constexpr (std::is_same_v<Values, std::nullptr_t>) {
        return kernels::arrays_of(as_array(arrays.keys_out), keys.sink(), nullptr, nullptr);
      } else {
        return kernels::arrays_of(as_array(arrays.keys_out), keys.sink(),
                                  as_array(arrays.values_out), values.sink());
      }
    }();
    const auto back =
        kernels::arrays_of(keys.source(), arrays.keys_out, values.source(), arrays.values_out);
    auto* begins = reinterpret_cast<std::uint32_t*>(memory + at.begins_at);
    auto* halves = begins + at.half_bytes() / sizeof(std::uint32_t);
    // A single bucket has no digit; all items are split by one that is 0.
    const int rounds = at.rounds > 0 ? at.rounds : 1;
    for (int r = 0; r < rounds; ++r) {
      const int digit = by_ranges ? rounds - 1 - r : r;
      const std::uint32_t* const ranges = by_ranges && r > 0 ? begins : nullptr;
      const auto round = [&](const auto& moved) {
        kernels::split_ranges(exec, work, flags, ranges, digit, bucket, moved,
                              r == 0 ? errors : nullptr);
      };
      // The last round ends in the results.
      const bool ends_there = (rounds - 1 - r) % 2 == 0;
      if (r > 0) {
        ends_there ? round(back) : round(out);
      } else if (ends_there) {
        round(arrays);
      } else {
        round(kernels::arrays_of(arrays.keys, keys.sink(), arrays.values, values.sink()));
      }
      if (by_ranges && r + 1 < rounds) {
        const std::int64_t count = (std::int64_t{2} << r) + 1;
        lanewise::transform(exec, generated(count, begin_of_half{{flags, ranges, n}}),
                            array_sink<std::uint32_t>{halves, count}, identity{});
        std::swap(begins, halves);
      }
    }
  }

 private:
  template <class T>
  static array_source<T, identity> as_array(const array_sink<T>& sink) {
    return {sink.data, sink.extent, {}};
  }
};

}  // namespace kernels
}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
