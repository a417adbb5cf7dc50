// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/call/workspace_layout.hpp>
#include <lanewise/segments/segmented_reduce.hpp>
#include <lanewise/sequence/scan.hpp>
#include <lanewise/sort/detail/segmented_sorter.hpp>
#include <lanewise/sort/radix_sort.hpp>

LANEWISE_BEGIN_NAMESPACE

/// Options of segmented_sort and segmented_sort_by_key.
struct segmented_sort_options {
  /// Memory for temporaries; without it the call allocates in the order of its instance.
  workspace_ref work = {};
  /// A rank-0 View of integers, read on the device when the call runs: the number of segments. The
  /// extents are the upper bound.
  option_view<const std::int64_t> count = {};
  /// Counts bad segments.
  option_view<status> errors = {};
  sort_order order = sort_order::ascending;
  /// Keys are compared by bits [begin_bit, end_bit) of the integers that radix_key makes of them,
  /// and keys that agree there keep their order. end_bit < 0: all bits from begin_bit on. It is at
  /// most 8 * sizeof(key), for bool, too.
  int begin_bit = 0;
  int end_bit = -1;
};

LANEWISE_END_NAMESPACE
LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// Segments that lie one after the other in memory.
template <class Offsets>
struct adjoining_segments {
  static constexpr bool apart = false;
  static constexpr const std::int64_t* shifts = nullptr;
  /// Whether the offsets lie in memory as they are.
  static constexpr bool in_memory = std::is_same_v<Offsets, array_source<std::int64_t, identity>>;
  Offsets offsets;
  std::int64_t extent;  ///< of the keys
  const std::int64_t* begin_of_offsets() const requires in_memory { return offsets.data; }
  LANEWISE_FUNCTION std::int64_t offset(std::int64_t s) const {
    return static_cast<std::int64_t>(offsets(s));
  }
  /// Whether segment s, which has items [begin, end), is none.
  LANEWISE_FUNCTION bool is_bad(std::int64_t, std::int64_t begin, std::int64_t end) const {
    return kernels::is_bad_segment(begin, end, extent);
  }
};

/// Segments that may lie apart, in any order.
template <class Begins, class Ends>
struct separate_segments {
  static constexpr bool apart = true;
  static constexpr bool in_memory = true;
  Begins begins;
  Ends ends;
  std::int64_t extent;    ///< of the keys
  std::int64_t* offsets;  ///< of a segment: how many items the segments before it have
  std::int64_t* shifts;   ///< and how much farther it begins in memory
  const std::int64_t* begin_of_offsets() const { return offsets; }
  LANEWISE_FUNCTION std::int64_t offset(std::int64_t s) const { return offsets[s]; }
  LANEWISE_FUNCTION void note_shift(std::int64_t s) const { shifts[s] = begin(s) - offsets[s]; }
  /// Segments of more items than there are keys overlap.
  LANEWISE_FUNCTION bool is_bad(std::int64_t s, std::int64_t, std::int64_t end_of_items) const {
    return kernels::is_bad_segment(begin(s), end(s), extent) || end_of_items > extent;
  }
  LANEWISE_FUNCTION std::int64_t length(std::int64_t s) const {
    return kernels::is_bad_segment(begin(s), end(s), extent) ? 0 : end(s) - begin(s);
  }

 private:
  LANEWISE_FUNCTION std::int64_t begin(std::int64_t s) const {
    return static_cast<std::int64_t>(begins(s));
  }
  LANEWISE_FUNCTION std::int64_t end(std::int64_t s) const {
    return static_cast<std::int64_t>(ends(s));
  }
};
template <class Begins, class Ends>
struct length_of_segment {
  separate_segments<Begins, Ends> segments;
  LANEWISE_FUNCTION std::int64_t operator()(std::int64_t s) const {
    return s < segments.begins.extent ? segments.length(s) : 0;
  }
};

/// Layout of the workspace: the offsets, whether there are bad segments, and what the sort needs.
struct segmented_sort_layout : workspace_layout {
  workspace_array<std::int64_t> offsets;
  workspace_array<std::uint32_t> bad;
  workspace_array<char> sort;

  segmented_sort_layout(std::int64_t segments, std::size_t sort_bytes)
      : workspace_layout(128),
        offsets(add<std::int64_t>(segments + 1)),
        bad(add<std::uint32_t>(1)),
        sort(add_call({0, sort_bytes})) {}
};

/// Sorts segments of keys of type T, and what moves with them, from array to array.
template <class T, class Value, class Exec, class Segments>
void sort_segments(const Exec& exec, const T* in, T* out, const Value* values_in, Value* values_out,
                   std::int64_t n, const Segments& given, item_count segments,
                   const segmented_sort_options& options, const char* algorithm) {
  using bits = radix_bits_t<T>;
  using backend = backend_of<Exec>;
  const detail::radix_range range =
      kernels::range_of<T>({.begin_bit = options.begin_bit, .end_bit = options.end_bit}, algorithm);
  const auto map = detail::key_map_of<T>(options.order == sort_order::descending);
  // Keys that are more than what they are compared by keep their order, too.
  const bool ordered = !std::is_empty_v<Value> || range.high - range.low < radix_key<T>::width;
  const auto run = [&](auto keeps_order) {
    using sorter =
        segmented_sort_t<Exec, bits, Value, decltype(keeps_order)::value, Segments::apart>;
    const segmented_sort_layout parts(segments.bound,
                                      sorter::template bytes<Exec>(n, segments.bound, range));
    auto work = call_workspace::make<backend>(exec, options.work, parts.size(), algorithm);
    char* const memory = static_cast<char*>(work.get().plain());
    auto* const bad = parts.bad.data(memory);
    auto* const copy = parts.offsets.data(memory);
    status* const errors =
        options.errors.data() != nullptr ? options.errors.data() : work.get().errors();
    backend::zero(exec, bad,
                  parts.sort.offset - parts.bad.offset +
                      sorter::template zeroed_bytes<Exec>(n, segments.bound, range));
    const detail::segment_windows windows =
        sorter::template windows_of<Exec>(n, segments.bound, range, parts.sort.data(memory));
    using kernel = typename sorter::template offsets_kernel<Segments>;
    const std::int64_t rounds = lanewise::divide_up(segments.bound, warp_t<Exec>::width);
    lanewise::launch(
        exec, "Lanewise::segmented_sort::offsets",
        backend::template resident_league<kernel>(
            exec, lanewise::divide_up(rounds, team_t<Exec, typename kernel::policy>::warps)),
        kernel{given, segments, copy, bad, errors, windows});
    if (range.low == range.high) return;
    sorter::sort(exec, reinterpret_cast<const bits*>(in), reinterpret_cast<bits*>(out), values_in,
                 values_out, n, {kernel::where(given, copy), given.shifts, segments, bad}, map,
                 range, parts.sort.data(memory));
  };
  if (range.low == range.high) {
    using space = typename Exec::memory_space;
    const auto copy = [&](const auto* from, auto* to) {
      using item = std::remove_pointer_t<decltype(to)>;
      const Kokkos::View<item*, space, Kokkos::MemoryUnmanaged> target(to, n);
      if (from != to)
        lanewise::transform(exec, array_source<item, identity>{from, n, {}}, target, identity{});
    };
    copy(in, out);
    if constexpr (!std::is_empty_v<Value>) copy(values_in, values_out);
  }
  if (ordered) {
    run(std::true_type{});
  } else if constexpr (std::is_empty_v<Value>) {
    run(std::false_type{});
  }
}

/// Sorts pairs whose values do not move as words: sorts their numbers, and fetches them.
template <class Index, class T, class V, class Exec, class Segments>
void sort_segments_by_index(const Exec& exec, const T* in, T* out, const V* values_in,
                            V* values_out, std::int64_t n, const Segments& given,
                            item_count segments, const segmented_sort_options& options,
                            const char* algorithm) {
  call_memory<Exec> index_memory(exec, static_cast<std::size_t>(n) * sizeof(Index), algorithm);
  const auto index = index_memory.template view<Index>(n);
  lanewise::transform(exec, lanewise::generated(n, as_index<Index>{}), index, identity{});
  using word = typename detail::unsigned_of_size<sizeof(Index)>::type;
  kernels::sort_segments<T, word>(exec, in, out, index.data(), index.data(), n, given, segments,
                                  options, algorithm);
  kernels::fetch_by_index(exec, index, values_in, values_out, n, {}, algorithm);
}

/// Offsets, begins or ends as a source of integers that a sink does not overlap.
template <class Exec, class Places, class Sink>
auto places_of_segments(const Places& places, const char* algorithm, const char* name,
                        const Sink& sink, const char* sink_name) {
  const auto source = detail::as_source<Exec>(places);
  static_assert(std::is_integral_v<typename decltype(source)::value_type>,
                "lanewise: offsets of segments are integers");
  detail::expects_memory(source, algorithm, name);
  detail::expects_no_partial_overlap(source, sink, algorithm, name, sink_name, false);
  return source;
}

/// The offsets of a call as a source.
template <class Exec, class Offsets, class Sink>
auto offsets_of_segments(const Offsets& offsets, const Sink& sink,
                         const segmented_sort_options& options, const char* algorithm) {
  options.errors.template expects_reachable<Exec>(algorithm, "options.errors");
  options.count.template expects_reachable<Exec>(algorithm, "options.count");
  return kernels::places_of_segments<Exec>(offsets, algorithm, "offsets", sink, "keys_out");
}

/// Segments as a call gives them: use(..., f) checks them, and calls f with segments of keys, if
/// there are any, and their number.
template <class Offsets>
struct by_offsets {
  const Offsets& offsets;

  template <class Exec, class Sink, class ValueSink, class F>
  void use(const Exec&, std::int64_t extent, const Sink& sink, const ValueSink& value_sink,
           const segmented_sort_options& options, const char* algorithm, const F& f) const {
    const auto source = kernels::offsets_of_segments<Exec>(offsets, sink, options, algorithm);
    kernels::places_of_segments<Exec>(offsets, algorithm, "offsets", value_sink, "values_out");
    if (source.extent < 2) return;
    f(adjoining_segments<std::decay_t<decltype(source)>>{source, extent},
      item_count{source.extent - 1, options.count.data()});
  }
};
template <class Begins, class Ends>
struct by_begins_and_ends {
  const Begins& begins;
  const Ends& ends;

  template <class Exec, class Sink, class ValueSink, class F>
  void use(const Exec& exec, std::int64_t extent, const Sink& sink, const ValueSink& value_sink,
           const segmented_sort_options& options, const char* algorithm, const F& f) const {
    const auto begin =
        kernels::places_of_segments<Exec>(begins, algorithm, "begins", sink, "keys_out");
    const auto end = kernels::places_of_segments<Exec>(ends, algorithm, "ends", sink, "keys_out");
    kernels::places_of_segments<Exec>(begins, algorithm, "begins", value_sink, "values_out");
    kernels::places_of_segments<Exec>(ends, algorithm, "ends", value_sink, "values_out");
    const std::int64_t count = begin.extent;
    detail::expects(end.extent == count, algorithm, ": ends has ", end.extent,
                    " items, begins has ", count);
    options.errors.template expects_reachable<Exec>(algorithm, "options.errors");
    options.count.template expects_reachable<Exec>(algorithm, "options.count");
    if (count == 0) return;
    call_memory<Exec> memory(exec, static_cast<std::size_t>(2 * count + 1) * sizeof(std::int64_t),
                             algorithm);
    std::int64_t* const offsets = memory.template view<std::int64_t>(2 * count + 1).data();
    using begin_type = std::decay_t<decltype(begin)>;
    using end_type = std::decay_t<decltype(end)>;
    const separate_segments<begin_type, end_type> segments{begin, end, extent, offsets,
                                                           offsets + count + 1};
    lanewise::exclusive_scan(
        exec, lanewise::generated(count + 1, length_of_segment<begin_type, end_type>{segments}),
        memory.template view<std::int64_t>(count + 1), plus{}, std::int64_t{0});
    f(segments, item_count{count, options.count.data()});
  }
};

/// The offsets of segments of equal lengths.
template <class Exec, class Keys, class Length>
auto equal_segments(const Keys& keys, Length length, const char* algorithm) {
  const std::int64_t extent = detail::as_source<Exec>(keys).extent;
  const std::int64_t each = kernels::length_of_segments(length, extent, algorithm);
  return generated(divide_up(extent, each) + 1, equal_offsets{each, extent});
}

template <class Exec, class Keys, class Given, class KeysOut>
void segmented_sort(const Exec& exec, const Keys& keys, const Given& given, const KeysOut& keys_out,
                    const segmented_sort_options& options, const char* algorithm) {
  const auto source = detail::as_source<Exec>(keys);
  const auto sink = detail::as_sink<Exec>(keys_out);
  using T = typename decltype(source)::value_type;
  if constexpr (kernels::check_radix_key<T>() &&
                kernels::check_sorted_array<std::decay_t<decltype(source)>,
                                            std::decay_t<decltype(sink)>>()) {
    kernels::expects_arrays<Exec>(source, sink, algorithm, "keys", "keys_out");
    kernels::range_of<T>({.begin_bit = options.begin_bit, .end_bit = options.end_bit}, algorithm);
    given.use(exec, source.extent, sink, sink, options, algorithm,
              [&](const auto& segments, item_count count) {
                const T* const from = kernels::in_memory(exec, source, sink, {});
                kernels::sort_segments<T, no_value>(exec, from, sink.data, nullptr, nullptr,
                                                    source.extent, segments, count, options,
                                                    algorithm);
              });
  }
}

template <class Exec, class Keys, class Values, class Given, class KeysOut, class ValuesOut>
void segmented_sort(const Exec& exec, const Keys& keys, const Values& values, const Given& given,
                    const KeysOut& keys_out, const ValuesOut& values_out,
                    const segmented_sort_options& options, const char* algorithm) {
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
    kernels::range_of<T>({.begin_bit = options.begin_bit, .end_bit = options.end_bit}, algorithm);
    given.use(exec, source.extent, sink, value_sink, options, algorithm,
              [&](const auto& segments, item_count count) {
                const std::int64_t n = source.extent;
                const T* const from = kernels::in_memory(exec, source, sink, {});
                const V* const values_from = kernels::in_memory(exec, value_source, value_sink, {});
                if constexpr (moves_as_word<V>) {
                  using word = typename value_word<V>::type;
                  kernels::sort_segments<T, word>(exec, from, sink.data,
                                                  reinterpret_cast<const word*>(values_from),
                                                  reinterpret_cast<word*>(value_sink.data), n,
                                                  segments, count, options, algorithm);
                } else if (n <= std::numeric_limits<std::uint32_t>::max()) {
                  kernels::sort_segments_by_index<std::uint32_t>(exec, from, sink.data, values_from,
                                                                 value_sink.data, n, segments,
                                                                 count, options, algorithm);
                } else {
                  kernels::sort_segments_by_index<std::uint64_t>(exec, from, sink.data, values_from,
                                                                 value_sink.data, n, segments,
                                                                 count, options, algorithm);
                }
              });
  }
}

}  // namespace kernels

/// The workspace that segmented_sort and segmented_sort_by_key need for n keys of type T in
/// `segments` segments, with values of type Value or without. Needs no device.
template <class T, class Exec, class Value = no_value>
workspace_size segmented_sort_workspace(std::int64_t n, std::int64_t segments) {
  using bits = radix_bits_t<T>;
  using word = typename kernels::value_word<Value>::type;
  const detail::radix_range all{0, radix_key<T>::width};
  const auto ordered =
      kernels::segmented_sort_t<Exec, bits, word, true>::template bytes<Exec>(n, segments, all);
  const auto loose = kernels::segmented_sort_t<Exec, bits, no_value, false>::template bytes<Exec>(
      n, segments, all);
  return kernels::segmented_sort_layout(segments, std::max(ordered, loose)).size();
}

/// Sorts the keys of every segment on its own. For every s in [0, offsets.extent - 1),
/// keys_out(offsets(s)) to keys_out(offsets(s+1) - 1) are the keys at these places, sorted. The
/// order is that in which the integers that radix_key makes of them ascend or, by options.order,
/// descend.
///
/// Keys are those of radix_sort, in the same order. keys is a contiguous rank-1 View or a source,
/// keys_out a View of the same type of items, at least as long; they may be the same View. offsets
/// is a View or a source of integers that do not decrease and lie in [0, n], n being the extent of
/// keys; options.count is the number of segments. Segments may be empty, and of any lengths: many
/// small ones and few huge ones are sorted together. Items before the first offset and after
/// the last belong to no segment: they stay where they are if keys_out is keys, and are unspecified
/// in another output. Keys that are equal in bits [begin_bit, end_bit) keep their order. The result
/// is the same on every backend. Does not block. A segment that begins after its end, or whose
/// ends do not lie in [0, n], is counted once in options.errors, else in options.work; then no
/// segment is sorted. Throws std::invalid_argument on wrong extents, overlap, bits that keys do not
/// have, or an option that cannot be reached.
///
/// O(n + segments) work. On devices neighbouring segments of together up to 4608 keys are sorted in
/// a team's scratch: their keys are read once and written once; those of up to 64 keys each, while
/// no longer one is near, by a lane each. Where segments have 1024 keys or more on average, one of
/// up to 9216 keys is sorted in the scratch of a wider team. Larger segments take levels of
/// radix_sort, all of them the same ones. One launch for up to 4608 keys, 5 for up to 589,824, and
/// 7 to 17 beyond. On hosts a thread sorts the segments of an equal part of the items. All threads
/// together sort a segment of more than half of a thread's part. The workspace has room for the n
/// keys (and values), the offsets in 8 bytes each, and up to a third as much for counters. (The
/// segments and their cuts are those of merge path, as in segmented_reduce; Merrill, 2.13.)
template <execution_space Exec, class Keys, class Offsets, class KeysOut>
requires(!std::integral<Offsets>) void segmented_sort(const Exec& exec, const Keys& keys,
                                                      const Offsets& offsets,
                                                      const KeysOut& keys_out,
                                                      const segmented_sort_options& options = {}) {
  kernels::segmented_sort(exec, keys, kernels::by_offsets<Offsets>{offsets}, keys_out, options,
                          "segmented_sort");
}

/// Overload for segments of `length` items each, the last one of what is left. Throws where length
/// is less than 1.
template <execution_space Exec, class Keys, std::integral Length, class KeysOut>
void segmented_sort(const Exec& exec, const Keys& keys, const Length& length,
                    const KeysOut& keys_out, const segmented_sort_options& options = {}) {
  lanewise::segmented_sort(
      exec, keys, kernels::equal_segments<Exec>(keys, length, "segmented_sort"), keys_out, options);
}

/// Overload for segments that may lie apart, and come in any order. Segment s has the items from
/// begins(s) to ends(s) - 1, for every s in [0, begins.extent).
///
/// begins and ends are Views or sources of integers, of equal extent. Segments must not overlap:
/// where they do, memory beside the outputs may be written.
///
/// Items of no segment stay where they are if keys_out is keys. In another output their places are
/// not written if all of this holds: keys and values are Views, no output is an input, values have
/// 1, 2, 4 or 8 bytes, and keys are compared by one bit or more. Otherwise these places are
/// unspecified.
///
/// A bad segment ends before it begins or does not lie in [0, n]. A segment is bad, too, if the
/// segments up to it have more than n items. Bad segments are counted as above, and then no segment
/// is sorted. Throws std::invalid_argument where the extents of begins and ends differ, too.
///
/// The call takes a scan of the lengths more, and on devices a look at the segment of every item.
/// It allocates 16 bytes for each segment in the order of its instance.
template <execution_space Exec, class Keys, class Begins, class Ends, class KeysOut>
requires(!std::convertible_to<KeysOut, segmented_sort_options>) void segmented_sort(
    const Exec& exec, const Keys& keys, const Begins& begins, const Ends& ends,
    const KeysOut& keys_out, const segmented_sort_options& options = {}) {
  kernels::segmented_sort(exec, keys, kernels::by_begins_and_ends<Begins, Ends>{begins, ends},
                          keys_out, options, "segmented_sort");
}

/// For pairs: values go the way of their keys, and of equal keys in the order of the input
/// (stable). Values are those of radix_sort. values_out may be values; otherwise it overlaps no
/// other array.
template <execution_space Exec, class Keys, class Values, class Offsets, class KeysOut,
          class ValuesOut>
requires(!std::integral<Offsets>) void segmented_sort_by_key(
    const Exec& exec, const Keys& keys, const Values& values, const Offsets& offsets,
    const KeysOut& keys_out, const ValuesOut& values_out,
    const segmented_sort_options& options = {}) {
  kernels::segmented_sort(exec, keys, values, kernels::by_offsets<Offsets>{offsets}, keys_out,
                          values_out, options, "segmented_sort_by_key");
}

/// Overload for segments of `length` items each, the last one of what is left. Throws where length
/// is less than 1.
template <execution_space Exec, class Keys, class Values, std::integral Length, class KeysOut,
          class ValuesOut>
void segmented_sort_by_key(const Exec& exec, const Keys& keys, const Values& values,
                           const Length& length, const KeysOut& keys_out,
                           const ValuesOut& values_out,
                           const segmented_sort_options& options = {}) {
  lanewise::segmented_sort_by_key(
      exec, keys, values, kernels::equal_segments<Exec>(keys, length, "segmented_sort_by_key"),
      keys_out, values_out, options);
}

/// Overload for segments that may lie apart, as in segmented_sort.
template <execution_space Exec, class Keys, class Values, class Begins, class Ends, class KeysOut,
          class ValuesOut>
requires(!std::convertible_to<ValuesOut, segmented_sort_options>) void segmented_sort_by_key(
    const Exec& exec, const Keys& keys, const Values& values, const Begins& begins,
    const Ends& ends, const KeysOut& keys_out, const ValuesOut& values_out,
    const segmented_sort_options& options = {}) {
  kernels::segmented_sort(exec, keys, values,
                          kernels::by_begins_and_ends<Begins, Ends>{begins, ends}, keys_out,
                          values_out, options, "segmented_sort_by_key");
}

LANEWISE_END_TARGET_NAMESPACE
