// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/zip.hpp>
#include <lanewise/sequence/transform.hpp>
#include <lanewise/sort/detail/multisplit_call.hpp>

LANEWISE_BEGIN_NAMESPACE

/// The most buckets of a multisplit.
inline constexpr std::int64_t most_multisplit_buckets = 1 << 16;

/// For multisplit, in place of a number of buckets: at_most<256>{m} are m buckets, and m is no more
/// than 256. The call then has no kernels for more, and compiles in half the time.
template <std::int64_t most>
struct at_most {
  static_assert(most >= 1 && most <= most_multisplit_buckets,
                "lanewise: at_most takes a number in [1, 65536]");
  std::int64_t count;
  constexpr operator std::int64_t() const { return count; }
};

/// See bucket_ids.
template <class Ids>
struct bucket_id_array {
  Ids ids;
};

/// See costly.
template <class BucketOf>
struct costly_function {
  BucketOf bucket_of;
};

/// For multisplit, in place of a function of keys: item i is in bucket ids(i). ids is a contiguous
/// rank-1 View or a source of integers, as long as the keys.
template <class Ids>
bucket_id_array<Ids> bucket_ids(const Ids& ids) {
  return {ids};
}

/// For multisplit, a function of keys that takes longer than memory needs for a few bytes, as a
/// search does: it is called once per key, and its results are kept meanwhile, in 1 byte for up to
/// 255 buckets, in 4 for more.
template <class BucketOf>
costly_function<BucketOf> costly(const BucketOf& bucket_of) {
  return {bucket_of};
}

LANEWISE_END_NAMESPACE
LANEWISE_BEGIN_TARGET_NAMESPACE

/// Options of multisplit.
struct multisplit_options {
  /// Memory for temporaries; without it the call allocates in the order of its instance.
  workspace_ref work = {};
  /// A rank-0 View of integers, read on the device when the call runs: the number of items. The
  /// extents are the upper bound.
  option_view<const std::int64_t> count = {};
  /// A View of integers. Receives bucket_count + 1 entries: where every bucket begins, and the
  /// number of items kept; the greatest integer of the type where these are greater.
  option_view<std::int64_t> offsets = {};
  /// Counts items whose bucket is out of range; such items are skipped.
  option_view<status> errors = {};
};

namespace kernels {

/// The number of a bucket in an integer that has room for `buckets` as well, which stands for none.
template <class Id, class BucketOf>
struct bucket_id_of {
  BucketOf bucket_of;
  std::uint32_t buckets;
  template <class Key>
  LANEWISE_FUNCTION Id operator()(const Key& key) const {
    const std::uint32_t b = detail::bucket_number(bucket_of(key));
    return static_cast<Id>(b < buckets ? b : buckets);
  }
};
/// f(id) with an integer of that type.
template <class F>
auto with_id_type(std::uint32_t buckets, const F& f) {
  return buckets <= std::numeric_limits<std::uint8_t>::max() ? f(std::uint8_t{})
                                                             : f(std::uint32_t{});
}

/// A sink of pairs: if ids take the place of keys, keys and values are what moves.
template <class KeySink, class ValueSink>
struct pair_sink {
  static constexpr bool contiguous = false;

  std::int64_t extent;
  KeySink keys;
  ValueSink values;

  template <class K, class V>
  LANEWISE_FUNCTION void operator()(std::int64_t i, const tuple<K, V>& x) const {
    keys(i, lanewise::get<0>(x));
    values(i, lanewise::get<1>(x));
  }
};
template <class Ids, class Source, class Sink, class Values, class ValueSink>
auto arrays_by_ids(const Ids& ids, const split_arrays<Source, Sink, Values, ValueSink>& arrays) {
  const detail::no_sink nowhere{ids.extent};
  if constexpr (std::is_same_v<Values, std::nullptr_t>) {
    return kernels::arrays_of(ids, nowhere, arrays.keys, arrays.keys_out);
  } else {
    return kernels::arrays_of(
        ids, nowhere,
        zipped_source<detail::into_tuple, Source, Values>{
            arrays.keys.extent, {arrays.keys, arrays.values}, {}},
        pair_sink<Sink, ValueSink>{arrays.keys_out.extent, arrays.keys_out, arrays.values_out});
  }
}

/// Ids of any integers as what is split.
struct bucket_number_of {
  template <class B>
  LANEWISE_FUNCTION std::uint32_t operator()(const B& b) const {
    return detail::bucket_number(b);
  }
};
template <class Exec, class Ids>
auto id_source(const Ids& ids) {
  const auto source = detail::as_source<Exec>(ids);
  using id = typename decltype(source)::value_type;
  constexpr bool integer = std::is_integral_v<id> || std::is_enum_v<id> || detail::is_refused<id>;
  static_assert(integer, "lanewise: bucket_ids takes a View or a source of integers");
  if constexpr (integer && sizeof(id) > sizeof(std::uint32_t)) {
    return detail::compose(source, bucket_number_of{});
  } else {
    return source;
  }
}

/// What a split of keys that are ids, or others, needs, with values of type Value or no_value.
template <class Exec, class Key, class Value, bool are_ids>
workspace_size size_of_split(std::int64_t n, std::uint32_t buckets, bool keeps) {
  if constexpr (moved_bytes < Value >> most_moved_bytes) {
    return n <= std::numeric_limits<std::uint32_t>::max()
               ? kernels::size_of_split<Exec, Key, std::uint32_t, are_ids>(n, buckets, keeps)
               : kernels::size_of_split<Exec, Key, std::uint64_t, are_ids>(n, buckets, keeps);
  } else {
    return kernels::split_size<split_policy_for<Key, moved_bytes<Value>, are_ids>, Exec, Key,
                               Value>(n, buckets, keeps);
  }
}
/// What moves beside ids of keys.
template <class Key, class Value>
struct moved_by_id {
  using type = tuple<Key, Value>;
};
template <class Key>
struct moved_by_id<Key, no_value> {
  using type = Key;
};

/// What a call needs, by how it tells buckets. keeps: offsets are asked for, and the results cannot
/// be read.
template <class Exec, class Key, class Value, class BucketOf>
struct split_needs {
  static workspace_size of(std::int64_t n, std::uint32_t buckets, bool keeps) {
    return kernels::size_of_split<Exec, Key, Value, false>(n, buckets, keeps);
  }
};
template <class Exec, class Key, class Value, class Ids>
struct split_needs<Exec, Key, Value, bucket_id_array<Ids>> {
  static workspace_size of(std::int64_t n, std::uint32_t buckets, bool offsets) {
    using id = typename decltype(id_source<Exec>(std::declval<const Ids&>()))::value_type;
    return kernels::size_of_split<Exec, id, typename moved_by_id<Key, Value>::type, true>(
        n, buckets, offsets);
  }
};
template <class Exec, class Key, class Value, class BucketOf>
struct split_needs<Exec, Key, Value, costly_function<BucketOf>> {
  /// The offset of the ids in the workspace.
  static std::size_t ids_at(std::int64_t n, std::uint32_t buckets, bool offsets) {
    return kernels::with_id_type(buckets, [&](auto id) {
      using moved = typename moved_by_id<Key, Value>::type;
      return kernels::whole_lines(
          kernels::size_of_split<Exec, decltype(id), moved, true>(n, buckets, offsets).bytes);
    });
  }
  static workspace_size of(std::int64_t n, std::uint32_t buckets, bool offsets) {
    return kernels::with_id_type(buckets, [&](auto id) {
      return workspace_size{1,
                            ids_at(n, buckets, offsets) + static_cast<std::size_t>(n) * sizeof(id)};
    });
  }
};

/// What a number of buckets cannot exceed, by its type.
template <class Count>
inline constexpr std::int64_t most_of = most_multisplit_buckets;
template <std::int64_t most>
inline constexpr std::int64_t most_of<at_most<most>> = most;

/// What is asked of arguments that are there for any function of buckets.
template <class Exec, class Arrays>
void expects_split(const Arrays& arrays, std::int64_t buckets, std::int64_t most,
                   const multisplit_options& options) {
  detail::expects(buckets >= 1 && buckets <= most, "multisplit: bucket_count is ", buckets,
                  ", not in [1, ", most, "]");
  detail::expects(arrays.keys_out.extent >= arrays.keys.extent, "multisplit: keys_out has ",
                  arrays.keys_out.extent, " places, keys has ", arrays.keys.extent, " items");
  detail::expects_memory(arrays.keys, "multisplit", "keys");
  detail::expects_memory(arrays.keys_out, "multisplit", "keys_out");
  detail::expects_no_partial_overlap(arrays.keys, arrays.keys_out, "multisplit", "keys", "keys_out",
                                     false);
  detail::expects(!options.offsets.is_given() || options.offsets.extent() >= buckets + 1,
                  "multisplit: options.offsets has ", options.offsets.extent(),
                  " entries, bucket_count + 1 is ", buckets + 1);
  options.count.expects_reachable<Exec>("multisplit", "options.count");
  options.offsets.expects_reachable<Exec>("multisplit", "options.offsets", 0);
  options.errors.expects_reachable<Exec>("multisplit", "options.errors");
}

/// Values beside keys, if there are any.
template <class Exec, class Values, class ValueSink>
constexpr bool check_values() {
  if constexpr (std::is_same_v<Values, std::nullptr_t>) {
    return true;
  } else {
    return detail::check_results<Exec, typename Values::value_type, ValueSink>();
  }
}

/// A call with arguments that were looked at, by this policy or the default one.
template <class Policy, std::int64_t most, class Exec, class Arrays, class BucketOf>
void split_with(const Exec& exec, workspace& work, const Arrays& arrays, std::int64_t buckets,
                const BucketOf& bucket_of, const multisplit_options& options) {
  kernels::split_in<Policy, most>(
      exec, work, static_cast<char*>(work.plain()), arrays,
      split_call{{arrays.keys.extent, options.count.data()},
                 static_cast<std::uint32_t>(buckets),
                 options.offsets.data(),
                 options.errors.data() != nullptr ? options.errors.data() : work.errors()},
      bucket_of);
}
template <std::int64_t most, class Exec, class Source, class Sink, class Values, class ValueSink,
          class BucketOf>
void split_moved(const Exec& exec, workspace& work,
                 const split_arrays<Source, Sink, Values, ValueSink>& arrays, std::int64_t buckets,
                 const BucketOf& bucket_of, const multisplit_options& options) {
  kernels::with_moved_values(arrays, [&](const auto& moved) {
    using policy =
        split_policy_for<typename Source::value_type, std::decay_t<decltype(moved)>::value_bytes,
                         std::is_same_v<Sink, detail::no_sink>>;
    kernels::split_with<policy, most>(exec, work, moved, buckets, bucket_of, options);
  });
}

/// Splits by a function of keys, by bucket_ids, or by a costly function.
template <std::int64_t most, class Exec, class Arrays, class BucketOf>
struct split_by {
  static constexpr bool keeps_results = !Arrays::can_read_results;
  static constexpr bool fits() {
    return detail::check_bucket_of<Exec, BucketOf, typename Arrays::key_type>();
  }
  static void run(const Exec& exec, workspace& work, const Arrays& arrays, std::int64_t buckets,
                  const BucketOf& bucket_of, const multisplit_options& options) {
    kernels::split_moved<most>(exec, work, arrays, buckets, bucket_of, options);
  }
};
template <std::int64_t most, class Exec, class Arrays, class Ids>
struct split_by<most, Exec, Arrays, bucket_id_array<Ids>> {
  static constexpr bool keeps_results = true;
  static constexpr bool fits() { return true; }
  static void run(const Exec& exec, workspace& work, const Arrays& arrays, std::int64_t buckets,
                  const bucket_id_array<Ids>& by, const multisplit_options& options) {
    const auto ids = kernels::id_source<Exec>(by.ids);
    detail::expects(ids.extent == arrays.keys.extent, "multisplit: bucket_ids has ", ids.extent,
                    " items, keys has ", arrays.keys.extent);
    detail::expects_memory(ids, "multisplit", "bucket_ids");
    detail::expects_no_partial_overlap(ids, arrays.keys_out, "multisplit", "bucket_ids", "keys_out",
                                       false);
    if constexpr (Arrays::value_bytes > 0)
      detail::expects_no_partial_overlap(ids, arrays.values_out, "multisplit", "bucket_ids",
                                         "values_out", false);
    kernels::split_moved<most>(exec, work, kernels::arrays_by_ids(ids, arrays), buckets, identity{},
                               options);
  }
};
template <std::int64_t most, class Exec, class Arrays, class BucketOf>
struct split_by<most, Exec, Arrays, costly_function<BucketOf>> {
  static constexpr bool keeps_results = true;
  static constexpr bool fits() {
    return detail::check_bucket_of<Exec, BucketOf, typename Arrays::key_type>();
  }
  static void run(const Exec& exec, workspace& work, const Arrays& arrays, std::int64_t buckets,
                  const costly_function<BucketOf>& costly, const multisplit_options& options) {
    const std::int64_t n = arrays.keys.extent;
    const auto m = static_cast<std::uint32_t>(buckets);
    using needs = split_needs<Exec, typename Arrays::key_type, typename Arrays::value_type,
                              costly_function<BucketOf>>;
    kernels::with_id_type(m, [&](auto type) {
      using id = decltype(type);
      auto* const ids = reinterpret_cast<id*>(static_cast<char*>(work.plain()) +
                                              needs::ids_at(n, m, options.offsets.is_given()));
      lanewise::transform(exec, arrays.keys, array_sink<id>{ids, n},
                          bucket_id_of<id, BucketOf>{costly.bucket_of, m},
                          {.count = options.count});
      constexpr std::int64_t most_here =
          sizeof(id) == 1 ? std::min<std::int64_t>(most, most_buckets) : most;
      kernels::split_moved<most_here>(
          exec, work, kernels::arrays_by_ids(array_source<id, identity>{ids, n, {}}, arrays),
          buckets, identity{}, options);
    });
  }
};

template <std::int64_t most, class Exec, class Source, class Sink, class Values, class ValueSink,
          class BucketOf>
void multisplit(const Exec& exec, const split_arrays<Source, Sink, Values, ValueSink>& arrays,
                std::int64_t buckets, const BucketOf& bucket_of,
                const multisplit_options& options) {
  using by = split_by<most, Exec, split_arrays<Source, Sink, Values, ValueSink>, BucketOf>;
  using key = typename Source::value_type;
  kernels::expects_split<Exec>(arrays, buckets, most, options);
  if constexpr (by::fits() && detail::check_results<Exec, key, Sink>() &&
                kernels::check_values<Exec, Values, ValueSink>()) {
    using needs = split_needs<Exec, key, typename moved_value<Values>::type, BucketOf>;
    const bool keeps = options.offsets.is_given() && by::keeps_results;
    auto work = call_workspace::make<backend_of<Exec>>(
        exec, options.work,
        needs::of(arrays.keys.extent, static_cast<std::uint32_t>(buckets), keeps), "multisplit");
    by::run(exec, work.get(), arrays, buckets, bucket_of, options);
  }
}

}  // namespace kernels

/// The workspace that multisplit needs for n keys of type Key, with values of type Value or
/// without, and this many buckets; BucketOf is the type of bucket_of where that is bucket_ids(...)
/// or costly(...). Needs no device.
template <class Key, class Exec, class Value = no_value, class BucketOf = identity>
workspace_size multisplit_workspace(std::int64_t n, std::int64_t buckets) {
  const auto m = static_cast<std::uint32_t>(buckets);
  const auto need = [&]<class V>(const V*) {
    using by = std::remove_const_t<BucketOf>;
    return kernels::split_needs<Exec, Key, V, by>::of(n, m, !std::is_same_v<by, identity>);
  };
  constexpr const no_value* without = nullptr;
  const auto all = lanewise::max(need(without), need(static_cast<const Value*>(nullptr)));
  if (m > most_buckets || !std::is_same_v<Value, no_value>) return all;
  // Whatever values there are.
  return lanewise::max(all, lanewise::max(need(static_cast<const std::uint32_t*>(nullptr)),
                                          need(static_cast<const std::uint64_t*>(nullptr))));
}

/// Permutes keys so that the keys of every bucket lie together, buckets in ascending order, and
/// keys of one bucket in input order (stable): keys_out is the concatenation over b of the keys
/// with bucket_of(key) == b.
///
/// bucket_of is a pure scalar function object from a key to a bucket in [0, bucket_count), with 1
/// <= bucket_count <= 65,536 (an integer, or at_most). It is called up to three times per key, and
/// for more than 256 buckets up to six times; see costly and bucket_ids. A key with any other
/// bucket is skipped and counted in options.errors, else in options.work, so the output is shorter.
/// keys and keys_out are contiguous rank-1 Views (keys may be a source) that do not overlap.
///
/// Three launches, or one for up to 2^14 items (on hosts up to 2^13 to 2^15, or 512 KiB where there
/// is one thread); 2 n key reads, n key writes, and for the counts 8 bytes per bucket and tile;
/// O(n) work. More than 256 buckets take two rounds, by the lower and by the upper half of the
/// digits of a bucket's number. They go through a copy of the keys in the workspace. On devices
/// this is one launch more and 3 n key reads, as the first round counts for both. On hosts each
/// round takes as many launches and as much traffic (one launch for few items). For offsets two
/// rounds take one launch more, of a binary search for each bucket, which calls bucket_of, too.
/// Hosts may take one round, with two counters for each bucket and thread. They do if the counters
/// are few beside the items and what is written stays in a cache. A sample of neighbours decides
/// this: bucket_of is called up to 1024 times for it. The result is the same on every backend. Does
/// not block. Throws std::invalid_argument on a wrong bucket_count, wrong extents, overlap, or an
/// option that cannot be reached. (GPU Multisplit, sections 4 and 5.2.2; Ashkiani, chapter 3.)
template <execution_space Exec, class Keys, class KeysOut, std::convertible_to<std::int64_t> Count,
          class BucketOf>
void multisplit(const Exec& exec, const Keys& keys, const KeysOut& keys_out,
                const Count& bucket_count, const BucketOf& bucket_of,
                const multisplit_options& options = {}) {
  kernels::multisplit<kernels::most_of<Count>>(
      exec,
      kernels::arrays_of(detail::as_source<Exec>(keys), detail::as_sink<Exec>(keys_out), nullptr,
                         nullptr),
      bucket_count, bucket_of, options);
}

/// For pairs: values go the way of their keys. values_out must not overlap any other array; the
/// values are read and written once more in every round. Values are of any trivially copyable type.
/// If they have more than 16 bytes, their numbers go through the rounds, and the values are fetched
/// when they are written.
template <execution_space Exec, class Keys, class Values, class KeysOut, class ValuesOut,
          std::convertible_to<std::int64_t> Count, class BucketOf>
void multisplit(const Exec& exec, const Keys& keys, const Values& values, const KeysOut& keys_out,
                const ValuesOut& values_out, const Count& bucket_count, const BucketOf& bucket_of,
                const multisplit_options& options = {}) {
  const auto key_source = detail::as_source<Exec>(keys);
  const auto source = detail::as_source<Exec>(values);
  const auto sink = detail::as_sink<Exec>(values_out);
  detail::expects(source.extent == key_source.extent, "multisplit: values has ", source.extent,
                  " items, keys has ", key_source.extent);
  detail::expects(sink.extent >= source.extent, "multisplit: values_out has ", sink.extent,
                  " places, values has ", source.extent, " items");
  detail::expects_memory(source, "multisplit", "values");
  detail::expects_memory(sink, "multisplit", "values_out");
  detail::expects_no_partial_overlap(source, sink, "multisplit", "values", "values_out", false);
  detail::expects_no_partial_overlap(key_source, sink, "multisplit", "keys", "values_out", false);
  const auto key_sink = detail::as_sink<Exec>(keys_out);
  detail::expects_no_partial_overlap(source, key_sink, "multisplit", "values", "keys_out", false);
  detail::expects_no_partial_overlap(key_sink, sink, "multisplit", "keys_out", "values_out", false);
  kernels::multisplit<kernels::most_of<Count>>(
      exec, kernels::arrays_of(key_source, key_sink, source, sink), bucket_count, bucket_of,
      options);
}

LANEWISE_END_TARGET_NAMESPACE
