// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/call/workspace_layout.hpp>
#include <lanewise/sequence/reduce.hpp>
#include <lanewise/sort/detail/segment_split.hpp>
#include <lanewise/sort/multisplit.hpp>
#include <lanewise/sort/segmented_sort.hpp>

#include <bit>

LANEWISE_BEGIN_NAMESPACE

/// The most buckets of a segmented_multisplit.
inline constexpr std::int64_t most_segmented_buckets = (1 << 16) - 1;

/// Options of segmented_multisplit.
struct segmented_multisplit_options {
  /// Memory for temporaries; without it the call allocates in the order of its instance.
  workspace_ref work = {};
  /// A rank-0 View of integers, read on the device when the call runs: the number of segments. The
  /// extents are the upper bound.
  option_view<const std::int64_t> count = {};
  /// A View of integers. Entry s * (bucket_count + 1) + b receives where bucket b of segment s
  /// begins, and the last one of every segment where its last bucket ends; the greatest integer of
  /// the type where these are greater.
  option_view<std::int64_t> offsets = {};
  /// Counts bad segments, and items whose bucket is out of range.
  option_view<status> errors = {};
};

LANEWISE_END_NAMESPACE
LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// Has room for a number after the buckets', which those out of range get.
using segment_bucket = std::uint16_t;

/// Finds where bucket b begins in its segment, among ids that are sorted there. Looks at no item
/// outside, whatever the offsets are.
template <class Offsets>
struct segment_buckets {
  const segment_bucket* ids;
  Offsets offsets;
  std::int64_t n;

  LANEWISE_FUNCTION std::int64_t begin(std::int64_t s, std::uint32_t b) const {
    std::int64_t low = bounded(s);
    std::int64_t high = bounded(s + 1);
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (ids[middle] < b) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
  LANEWISE_FUNCTION std::int64_t bounded(std::int64_t s) const {
    const auto at = static_cast<std::int64_t>(offsets(s));
    return at < 0 ? 0 : (at < n ? at : n);
  }
};

template <class Offsets>
struct begin_of_bucket {
  segment_buckets<Offsets> in;
  std::uint32_t buckets;
  LANEWISE_FUNCTION std::int64_t operator()(std::int64_t i) const {
    const std::int64_t entries = std::int64_t{buckets} + 1;
    return in.begin(i / entries, static_cast<std::uint32_t>(i % entries));
  }
};
struct put_integer {
  detail::integers to;
  LANEWISE_FUNCTION void operator()(std::int64_t i, std::int64_t x) const { to.put(i, x); }
};

template <class Offsets>
struct items_out_of_range {
  segment_buckets<Offsets> in;
  std::uint32_t buckets;
  LANEWISE_FUNCTION std::uint64_t operator()(std::int64_t s) const {
    const std::int64_t bad = in.bounded(s + 1) - in.begin(s, buckets);
    return bad > 0 ? static_cast<std::uint64_t>(bad) : 0;
  }
};
struct add_bad_items {
  status* errors;
  LANEWISE_FUNCTION void operator()(std::int64_t, std::uint64_t bad) const {
    if (bad != 0) Kokkos::atomic_add(&errors->bad_items, bad);
  }
};

/// Room for the buckets' numbers, and for a status that is not read.
struct segmented_multisplit_layout : workspace_layout {
  workspace_array<segment_bucket> ids;
  workspace_array<status> unread;

  segmented_multisplit_layout(const workspace_size& inner, std::int64_t n)
      : workspace_layout(inner), ids(add<segment_bucket>(n)), unread(add<status>(1)) {}
};
template <class Offsets>
std::int64_t segments_of(const Offsets& offsets) {
  return offsets.extent < 2 ? 0 : offsets.extent - 1;
}
template <class Exec, class... Moved>
workspace_size segmented_multisplit_inner(const Exec& exec, std::int64_t n, std::int64_t segments) {
  workspace_size need = lanewise::reduce_workspace<std::uint64_t>(exec);
  ((need = lanewise::max(
        need, lanewise::segmented_sort_workspace<segment_bucket, Exec, Moved>(n, segments))),
   ...);
  return need;
}

/// Moves one array by its buckets' numbers, which are computed here, and sorted with it.
template <class Exec, class Keys, class Offsets, class In, class Out, class BucketOf>
void split_segments(const Exec& exec, const Keys& keys, const Offsets& offsets, const In& in,
                    const Out& out, std::uint32_t buckets, const BucketOf& bucket_of,
                    segment_bucket* ids, const segmented_sort_options& options) {
  const Kokkos::View<segment_bucket*, typename Exec::memory_space, Kokkos::MemoryUnmanaged> id(
      ids, keys.extent);
  lanewise::transform(exec, keys, id, bucket_id_of<segment_bucket, BucketOf>{bucket_of, buckets});
  kernels::segmented_sort(exec, id, in, kernels::by_offsets<Offsets>{offsets}, id, out, options,
                          "segmented_multisplit");
}

/// What is asked of all arguments.
template <class Exec, class Keys, class Offsets, class Sink>
void expects_segmented_split(const Keys& keys, const Offsets& offsets, const Sink& keys_out,
                             std::int64_t buckets, const segmented_multisplit_options& options) {
  constexpr const char* name = "segmented_multisplit";
  detail::expects(buckets >= 1 && buckets <= most_segmented_buckets, name, ": bucket_count is ",
                  buckets, ", not in [1, ", most_segmented_buckets, "]");
  kernels::expects_arrays<Exec>(keys, keys_out, name, "keys", "keys_out");
  detail::expects_memory(offsets, name, "offsets");
  detail::expects_no_partial_overlap(offsets, keys_out, name, "offsets", "keys_out", false);
  options.count.template expects_reachable<Exec>(name, "options.count");
  options.errors.template expects_reachable<Exec>(name, "options.errors");
  options.offsets.template expects_reachable<Exec>(name, "options.offsets", 0);
  const std::int64_t segments = kernels::segments_of(offsets);
  detail::expects(
      !options.offsets.is_given() || options.offsets.extent() >= segments * (buckets + 1), name,
      ": options.offsets has ", options.offsets.extent(), " entries, ", segments,
      " segments of bucket_count + 1 have ", segments * (buckets + 1));
}

/// Splits few segments by one launch, from arrays to others, and returns whether they are few.
template <class Exec, class Source, class Sink, class Values, class ValueSink, class Offsets,
          class BucketOf>
bool split_few_segments(const Exec& exec,
                        const split_arrays<Source, Sink, Values, ValueSink>& arrays,
                        const Offsets& offsets, std::uint32_t buckets, const BucketOf& bucket_of,
                        const segmented_multisplit_options& options, const char* algorithm) {
  using key = typename Source::value_type;
  using split = split_of<key, Exec, few_policy<key>>;
  const std::int64_t segments = kernels::segments_of(offsets), n = arrays.keys.extent;
  if (segments > few_split_segments || n < least_split_items<split> * segments ||
      n > few_split_items || buckets >= most_buckets ||
      !detail::are_apart(detail::bytes_of(arrays.keys), detail::bytes_of(arrays.keys_out)))
    return false;
  if constexpr (!std::is_same_v<Values, std::nullptr_t>) {
    if (!detail::are_apart(detail::bytes_of(arrays.values), detail::bytes_of(arrays.values_out)))
      return false;
  }
  if (segments == 0) return true;
  auto work = call_workspace::make<backend_of<Exec>>(exec, options.work, {}, algorithm);
  status* const errors =
      options.errors.data() != nullptr ? options.errors.data() : work.get().errors();
  using bucket_or_last = bucket_id_of<std::uint32_t, BucketOf>;
  using kernel = segment_split_kernel<Source, Sink, Values, ValueSink, adjoining_segments<Offsets>,
                                      bucket_or_last>;
  lanewise::launch(exec, "Lanewise::segmented_multisplit",
                   backend_of<Exec>::template resident_league<kernel>(exec, segments),
                   kernel{arrays.keys,
                          arrays.keys_out,
                          arrays.values,
                          arrays.values_out,
                          {offsets, n},
                          {segments, options.count.data()},
                          {bucket_of, buckets},
                          buckets,
                          options.offsets.data(),
                          errors});
  return true;
}

/// move(options) splits the keys last.
template <class Exec, class Keys, class Offsets, class Move>
void segmented_multisplit(const Exec& exec, const Keys& keys, const Offsets& offsets,
                          std::uint32_t buckets, const segmented_multisplit_options& options,
                          const workspace_size& inner, const Move& move) {
  const std::int64_t segments = kernels::segments_of(offsets);
  if (segments == 0) return;
  const segmented_multisplit_layout parts(inner, keys.extent);
  auto work = call_workspace::make<backend_of<Exec>>(exec, options.work, parts.size(),
                                                     "segmented_multisplit");
  char* const memory = static_cast<char*>(work.get().plain());
  auto* const ids = parts.ids.data(memory);
  move(ids, parts.unread.data(memory),
       segmented_sort_options{.work = &work.get(),
                              .count = options.count,
                              .errors = options.errors,
                              .begin_bit = 0,
                              .end_bit = static_cast<int>(std::bit_width(buckets))});
  const segment_buckets<Offsets> split{ids, offsets, keys.extent};
  if (options.offsets.data().exist())
    lanewise::transform(
        exec,
        lanewise::generated(segments * (std::int64_t{buckets} + 1),
                            begin_of_bucket<Offsets>{split, buckets}),
        consumed(segments * (std::int64_t{buckets} + 1), put_integer{options.offsets.data()}),
        identity{});
  status* const errors =
      options.errors.data() != nullptr ? options.errors.data() : work.get().errors();
  if (errors != nullptr)
    lanewise::reduce(exec,
                     lanewise::generated(segments, items_out_of_range<Offsets>{split, buckets}),
                     consumed(1, add_bad_items{errors}), plus{}, std::uint64_t{0},
                     {.work = &work.get(), .count = options.count});
}

}  // namespace kernels

/// The workspace that segmented_multisplit needs for n keys of type Key in `segments` segments,
/// with values of type Value or without.
template <class Key, class Exec, class Value = Key>
workspace_size segmented_multisplit_workspace(const Exec& exec, std::int64_t n,
                                              std::int64_t segments) {
  return kernels::segmented_multisplit_layout(
             kernels::segmented_multisplit_inner<Exec, Key, Value>(exec, n, segments), n)
      .size();
}

/// Splits every segment into buckets on its own. For every s in [0, offsets.extent - 1),
/// keys_out(offsets(s)) to keys_out(offsets(s+1) - 1) are the keys at these places. Keys of every
/// bucket are together, buckets in ascending order, and keys of one bucket in input order (stable).
///
/// bucket_of is a pure scalar function object from a key to a bucket in [0, bucket_count), 1 <=
/// bucket_count <= 65,535, called at most three times per key. Keys with any other bucket lie after
/// the buckets of their segment, in input order, and are counted in options.errors, else in
/// options.work. keys is a contiguous rank-1 View or a source, keys_out a View of the same type of
/// items, at least as long; they may be the same View. Keys are of any trivially copyable type.
/// offsets, segments, and items in no segment are as in segmented_sort: segments may be empty, as
/// many and of any lengths, many small ones and few huge ones together. A bad segment is counted as
/// there; then no segment is split, and what else is counted, and where buckets begin, is
/// unspecified.
///
/// One launch splits up to 2^17 keys of up to 1,024 segments into fewer than 256 buckets. keys_out
/// is not keys then, and on hosts segments have 96 keys or more on average. A team takes a
/// segment, reads its keys once or twice, and writes them once. Else the buckets' numbers are
/// written in 2 bytes each, and segmented_sort_by_key moves the keys by them, by as many bits as
/// bucket_count has: its launches, work and traffic, n reads of keys, n writes of numbers. Offsets
/// of buckets take one launch more, of a binary search for each. Bad items take one, of a search
/// for each segment. For one segment multisplit takes less. Keys that are not of 1, 2, 4 or 8 bytes
/// are moved by their numbers, in memory that the sort allocates. The result is the same on every
/// backend. Does not block. Throws std::invalid_argument on a wrong bucket_count, wrong extents,
/// overlap, or an option that cannot be reached. (Ashkiani, chapter 3, of segments; a composition.)
template <execution_space Exec, class Keys, class Offsets, class KeysOut, class BucketOf>
void segmented_multisplit(const Exec& exec, const Keys& keys, const Offsets& offsets,
                          const KeysOut& keys_out, std::int64_t bucket_count,
                          const BucketOf& bucket_of,
                          const segmented_multisplit_options& options = {}) {
  const auto source = detail::as_source<Exec>(keys);
  const auto sink = detail::as_sink<Exec>(keys_out);
  using key = typename decltype(source)::value_type;
  if constexpr (detail::check_bucket_of<Exec, BucketOf, key>() &&
                kernels::check_sorted_array<std::decay_t<decltype(source)>,
                                            std::decay_t<decltype(sink)>>()) {
    const auto offset =
        kernels::offsets_of_segments<Exec>(offsets, sink, {}, "segmented_multisplit");
    kernels::expects_segmented_split<Exec>(source, offset, sink, bucket_count, options);
    const auto buckets = static_cast<std::uint32_t>(bucket_count);
    if (kernels::split_few_segments(exec, kernels::arrays_of(source, sink, nullptr, nullptr),
                                    offset, buckets, bucket_of, options, "segmented_multisplit"))
      return;
    kernels::segmented_multisplit(
        exec, source, offset, buckets, options,
        kernels::segmented_multisplit_inner<Exec, key>(exec, source.extent,
                                                       kernels::segments_of(offset)),
        [&](kernels::segment_bucket* ids, status*, const segmented_sort_options& sorting) {
          kernels::split_segments(exec, source, offset, source, keys_out, buckets, bucket_of, ids,
                                  sorting);
        });
  }
}

/// For pairs: values go the way of their keys. Where more than one launch splits, the two are moved
/// one after the other: bucket_of is called twice per key, and the rest comes twice, too.
/// values_out may be values; otherwise it overlaps no other array.
template <execution_space Exec, class Keys, class Values, class Offsets, class KeysOut,
          class ValuesOut, class BucketOf>
void segmented_multisplit_by_key(const Exec& exec, const Keys& keys, const Values& values,
                                 const Offsets& offsets, const KeysOut& keys_out,
                                 const ValuesOut& values_out, std::int64_t bucket_count,
                                 const BucketOf& bucket_of,
                                 const segmented_multisplit_options& options = {}) {
  const auto source = detail::as_source<Exec>(keys);
  const auto sink = detail::as_sink<Exec>(keys_out);
  const auto value_source = detail::as_source<Exec>(values);
  const auto value_sink = detail::as_sink<Exec>(values_out);
  using key = typename decltype(source)::value_type;
  using value = typename decltype(value_source)::value_type;
  constexpr const char* name = "segmented_multisplit_by_key";
  if constexpr (detail::check_bucket_of<Exec, BucketOf, key>() &&
                kernels::check_sorted_array<std::decay_t<decltype(source)>,
                                            std::decay_t<decltype(sink)>>() &&
                kernels::check_sorted_array<std::decay_t<decltype(value_source)>,
                                            std::decay_t<decltype(value_sink)>>()) {
    const auto offset = kernels::offsets_of_segments<Exec>(offsets, sink, {}, name);
    kernels::expects_segmented_split<Exec>(source, offset, sink, bucket_count, options);
    kernels::expects_pairs<Exec>(source, value_source, sink, value_sink, name);
    detail::expects_no_partial_overlap(source, value_sink, name, "keys", "values_out", false);
    detail::expects_no_partial_overlap(offset, value_sink, name, "offsets", "values_out", false);
    const auto buckets = static_cast<std::uint32_t>(bucket_count);
    if (kernels::split_few_segments(exec,
                                    kernels::arrays_of(source, sink, value_source, value_sink),
                                    offset, buckets, bucket_of, options, name))
      return;
    kernels::segmented_multisplit(
        exec, source, offset, buckets, options,
        kernels::segmented_multisplit_inner<Exec, key, value>(exec, source.extent,
                                                              kernels::segments_of(offset)),
        [&](kernels::segment_bucket* ids, status* unread, segmented_sort_options sorting) {
          const auto errors = sorting.errors;
          // Bad segments are counted once.
          sorting.errors =
              Kokkos::View<status, typename Exec::memory_space, Kokkos::MemoryUnmanaged>(unread);
          kernels::split_segments(exec, source, offset, value_source, values_out, buckets,
                                  bucket_of, ids, sorting);
          sorting.errors = errors;
          kernels::split_segments(exec, source, offset, source, keys_out, buckets, bucket_of, ids,
                                  sorting);
        });
  }
}

LANEWISE_END_TARGET_NAMESPACE
