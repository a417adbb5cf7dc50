// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/papers/detail/multisplit_methods/place_directly.hpp>
#include <lanewise/papers/detail/multisplit_methods/place_reordered.hpp>
#include <lanewise/papers/detail/multisplit_methods/reduced_bit_sort.hpp>
#include <lanewise/papers/detail/multisplit_methods/scan_split.hpp>
#include <lanewise/papers/detail/names.hpp>
#include <lanewise/segments/segmented_scan.hpp>
#include <lanewise/sort/multisplit.hpp>

#include <limits>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {

/// The methods of the papers that multisplit is compared with: policies for multisplit_by.
namespace methods {

/// How the matrix of counts, a row per bucket and a column per subproblem, is scanned: as one
/// sequence of all its rows, or every row in itself and then the rows' totals.
enum class matrix_scan { at_once, by_rows };

/// The papers count with 32 bits.
inline constexpr std::int64_t most_items = std::numeric_limits<std::uint32_t>::max();

/// Every warp takes `windows` windows of an item per lane, and sends items from where they are to
/// their places. Up to 32 buckets. (GPU Multisplit, 5.1: one window; Ashkiani, 3.5.)
template <int windows_ = 1, int warps_ = 8, matrix_scan scan_ = matrix_scan::at_once>
struct direct {
  static constexpr const char* name = "direct";
  static constexpr std::int64_t most_buckets = 32;
  static constexpr int windows = windows_, warps = warps_;
  static constexpr matrix_scan scan = scan_;
};

/// As `direct`, but a warp first brings the items of a tile, `windows` windows, into the order of
/// their buckets. Up to 32 buckets. (GPU Multisplit, 5.2.1: one window; Ashkiani, 3.5: 4 windows,
/// and up to 3 tiles beside each other in one subproblem.)
template <int windows_ = 4, int tiles_ = 1, int warps_ = 8,
          matrix_scan scan_ = matrix_scan::at_once>
struct warp_level {
  static constexpr const char* name = "warp_level";
  static constexpr std::int64_t most_buckets = 32;
  static constexpr int windows = windows_, tiles = tiles_, warps = warps_;
  static constexpr matrix_scan scan = scan_;
};

/// As `warp_level`, by a team: a tile is `windows` windows of each of its warps. Up to 256 buckets.
/// (GPU Multisplit, 5.2.2 and 6.4: 8 warps x 1 window; Ashkiani, 3.5: 4 x 7 for keys into up to 32
/// buckets, else 8 x 4.)
template <int warps_ = 8, int windows_ = 4, int tiles_ = 1,
          matrix_scan scan_ = matrix_scan::at_once>
struct block_level {
  static constexpr const char* name = "block_level";
  static constexpr std::int64_t most_buckets = 256;
  static constexpr int windows = windows_, tiles = tiles_, warps = warps_;
  static constexpr matrix_scan scan = scan_;
};

/// A radix sort of the buckets' numbers, as 4-byte labels: only ceil(log2 m) bits of them are
/// sorted. Keys move with their labels; a key and its value move as one word of 8 bytes, so they
/// are of up to 4 bytes each. (GPU Multisplit, 3.4; Ashkiani, 3.3.)
struct reduced_bit_sort {
  static constexpr const char* name = "reduced_bit_sort";
  static constexpr std::int64_t most_buckets = most_multisplit_buckets;
};

/// As `reduced_bit_sort`, with the items' numbers beside the labels; keys and values are fetched at
/// the end. (GPU Multisplit, 3.4; Ashkiani, 3.3.)
struct reduced_bit_sort_by_index {
  static constexpr const char* name = "reduced_bit_sort_by_index";
  static constexpr std::int64_t most_buckets = most_multisplit_buckets;
};

/// In which order scan_split takes the digits of the buckets' numbers. recursive: every round
/// splits every range of buckets into two halves, the highest digit first. iterative: every round
/// splits all items, the lowest digit first; no range has to be known, and the result is the same.
/// GPU Multisplit calls the first both recursive and iterative. Ashkiani calls iterative what takes
/// a round for each bucket, which is not here.
enum class split_order { iterative, recursive };

/// ceil(log2 m) rounds of a split in two, of flags, their scan, and the split. (GPU
/// Multisplit, 3.2; Ashkiani, 3.3. The papers measured one round and multiplied.)
template <split_order order_ = split_order::iterative>
struct scan_split {
  static constexpr const char* name = "scan_split";
  static constexpr std::int64_t most_buckets = most_multisplit_buckets;
  static constexpr split_order order = order_;
};

/// Two rounds of block_level for more than 256 buckets: by a bucket's number in its super-bucket,
/// then by the super-bucket. Being stable, the first round may come first whatever the function of
/// buckets is; in the paper it comes second, within each super-bucket. (Ashkiani, 3.6: m > 256.)
struct super_buckets {
  static constexpr const char* name = "super_buckets";
  static constexpr std::int64_t most_buckets = most_multisplit_buckets;
};

}  // namespace methods

/// Options of multisplit_by.
struct multisplit_by_options {
  /// Memory for temporaries; without it the call allocates in the order of its instance.
  workspace_ref work = {};
  /// Counts keys whose bucket is out of range; such keys go to the last bucket.
  option_view<status> errors = {};
};

namespace kernels {

/// A split by the matrix of counts: pre-scan, scan, post-scan.
template <class Cut, bool reorders, methods::matrix_scan how>
struct matrix_split {
  static constexpr bool by_rows = how == methods::matrix_scan::by_rows;
  template <class Exec>
  using team = team_t<Exec, typename Cut::policy>;

  template <class Exec>
  static workspace_size scan_need(std::int64_t entries, std::uint32_t buckets) {
    if (!by_rows) return lanewise::scan_workspace<std::uint32_t, Exec>(entries);
    return lanewise::max(lanewise::segmented_scan_workspace<std::uint32_t, Exec>(entries),
                         lanewise::scan_workspace<std::uint32_t, Exec>(buckets));
  }
  template <class Exec, class Key, class Value>
  static workspace_size need(std::int64_t n, std::uint32_t buckets) {
    const std::int64_t entries = buckets * Cut::template count<team<Exec>>(n);
    const workspace_size scan = scan_need<Exec>(entries, buckets);
    const auto numbers = static_cast<std::size_t>(entries + (by_rows ? buckets : 0));
    return {scan.tickets, whole_lines(scan.bytes) + numbers * sizeof(std::uint32_t)};
  }

  template <class Exec, class Source, class Sink, class Values, class ValueSink, class Bucket>
  static void run(const Exec& exec, workspace& work,
                  const split_arrays<Source, Sink, Values, ValueSink>& arrays,
                  std::uint32_t buckets, const Bucket& bucket, status* errors) {
    using backend = backend_of<Exec>;
    using counting = count_subproblems_kernel<Cut, Source, Bucket>;
    using placing =
        std::conditional_t<reorders,
                           place_reordered_kernel<Cut, Source, Sink, Values, ValueSink, Bucket>,
                           place_directly_kernel<Cut, Source, Sink, Values, ValueSink, Bucket>>;
    const std::int64_t n = arrays.keys.extent;
    const std::int64_t columns = Cut::template count<team<Exec>>(n);
    const std::int64_t pieces = Cut::template pieces<team<Exec>>(n);
    const std::int64_t entries = buckets * columns;
    auto* const matrix = reinterpret_cast<std::uint32_t*>(
        static_cast<char*>(work.plain()) +
        kernels::whole_lines(scan_need<Exec>(entries, buckets).bytes));
    lanewise::launch(exec, "Lanewise::multisplit_by::count",
                     backend::template league_for_tiles<counting>(exec, pieces),
                     counting{arrays.keys, n, bucket, buckets, matrix, columns, errors});
    const array_source<std::uint32_t, identity> counts{matrix, entries, {}};
    const array_sink<std::uint32_t> scanned{matrix, entries};
    const call_options options{.work = &work};
    if constexpr (by_rows) {
      lanewise::inclusive_segmented_scan(exec, counts, columns, scanned, plus{}, options);
      lanewise::exclusive_scan(exec, generated(buckets, row_total{matrix, columns}),
                               array_sink<std::uint32_t>{matrix + entries, buckets}, plus{}, 0u,
                               options);
    } else {
      lanewise::exclusive_scan(exec, counts, scanned, plus{}, 0u, options);
    }
    lanewise::launch(exec, "Lanewise::multisplit_by::place",
                     backend::template league_for_tiles<placing>(exec, pieces),
                     placing{arrays.keys,
                             arrays.keys_out,
                             arrays.values,
                             arrays.values_out,
                             n,
                             bucket,
                             buckets,
                             {matrix, columns, by_rows ? matrix + entries : nullptr}});
  }
};

/// f(split) with what splits into `buckets` buckets by a policy.
template <class Method>
struct method_of {
  static constexpr bool exists = false;
};
template <class Split>
struct method_is {
  static constexpr bool exists = true;
  template <class F>
  static auto with(std::uint32_t, const F& f) {
    return f(Split{});
  }
};
template <int windows, int warps, methods::matrix_scan scan>
struct method_of<methods::direct<windows, warps, scan>>
    : method_is<matrix_split<subproblems<false, warps, windows, 1, 32>, false, scan>> {};
template <int windows, int tiles, int warps, methods::matrix_scan scan>
struct method_of<methods::warp_level<windows, tiles, warps, scan>>
    : method_is<matrix_split<subproblems<false, warps, windows, tiles, 32>, true, scan>> {};
template <>
struct method_of<methods::reduced_bit_sort> : method_is<reduced_bit_sorts<false>> {};
template <>
struct method_of<methods::reduced_bit_sort_by_index> : method_is<reduced_bit_sorts<true>> {};
template <methods::split_order order>
struct method_of<methods::scan_split<order>>
    : method_is<scan_splits<order == methods::split_order::recursive>> {};
template <int warps, int windows, int tiles, methods::matrix_scan scan>
struct method_of<methods::block_level<warps, windows, tiles, scan>> {
  static constexpr bool exists = true;
  template <int most>
  using split = matrix_split<subproblems<true, warps, windows, tiles, most>, true, scan>;
  /// Few buckets need one register.
  template <class F>
  static auto with(std::uint32_t buckets, const F& f) {
    return buckets <= 32 ? f(split<32>{}) : f(split<256>{});
  }
};

/// Two rounds, through an array of the workspace.
struct super_bucket_split {
  using round =
      matrix_split<subproblems<true, 8, 4, 1, most_buckets>, true, methods::matrix_scan::at_once>;

  template <class Exec, class Key, class Value>
  static workspace_size round_need(std::int64_t n, const bucket_digits& digits) {
    return lanewise::max(round::need<Exec, Key, Value>(n, digits.buckets[0]),
                         round::need<Exec, Key, Value>(n, digits.buckets[1]));
  }
  template <class Exec, class Key, class Value>
  static workspace_size need(std::int64_t n, std::uint32_t buckets) {
    const workspace_size round = round_need<Exec, Key, Value>(n, bucket_digits(buckets));
    const auto items = static_cast<std::size_t>(n);
    return {round.tickets, whole_lines(round.bytes) + whole_lines(items * sizeof(Key)) +
                               items * moved_bytes<Value>};
  }

  template <class Exec, class Source, class Sink, class Values, class ValueSink, class Bucket>
  static void run(const Exec& exec, workspace& work,
                  const split_arrays<Source, Sink, Values, ValueSink>& arrays,
                  std::uint32_t buckets, const Bucket& bucket, status* errors) {
    using key = typename Source::value_type;
    using value = typename moved_value<Values>::type;
    const std::int64_t n = arrays.keys.extent;
    const bucket_digits digits(buckets);
    char* const memory = static_cast<char*>(work.plain()) +
                         kernels::whole_lines(round_need<Exec, key, value>(n, digits).bytes);
    const split_buffer<key> keys{reinterpret_cast<key*>(memory), n};
    const split_buffer<value> values{
        reinterpret_cast<value*>(memory + whole_lines(static_cast<std::size_t>(n) * sizeof(key))),
        n};
    round::run(
        exec, work, kernels::arrays_of(arrays.keys, keys.sink(), arrays.values, values.sink()),
        digits.buckets[0], digit_of_number<Bucket>{bucket, 0, digits.buckets[0] - 1}, errors);
    round::run(
        exec, work,
        kernels::arrays_of(keys.source(), arrays.keys_out, values.source(), arrays.values_out),
        digits.buckets[1], digit_of_number<Bucket>{bucket, digits.lower_bits, ~0u}, nullptr);
  }
};
template <>
struct method_of<methods::super_buckets> : method_is<super_bucket_split> {};

/// Whether arguments can be split by a policy. Says in one line what does not fit.
template <class Method, class Exec, class Arrays, class Sink, class BucketOf>
constexpr bool check_multisplit_by() {
  using key = typename Arrays::key_type;
  constexpr bool known = method_of<Method>::exists;
  constexpr bool small = detail::is_refused<key> || sizeof(key) <= 8;
  constexpr bool to_view = std::is_same_v<Sink, array_sink<key>> || detail::is_refused<key>;
  static_assert(known, "lanewise: multisplit_by takes a policy of lanewise::papers::methods");
  static_assert(small, "lanewise: multisplit_by takes keys of up to 8 bytes");
  static_assert(to_view, "lanewise: multisplit_by writes to Views of the same types of items");
  return known && small && to_view && detail::check_bucket_of<Exec, BucketOf, key>();
}

template <class Method, class Exec, class Source, class Sink, class Values, class ValueSink,
          class BucketOf>
void multisplit_by(const Exec& exec, const split_arrays<Source, Sink, Values, ValueSink>& arrays,
                   std::int64_t buckets, const BucketOf& bucket_of,
                   const multisplit_by_options& options) {
  using arrays_type = split_arrays<Source, Sink, Values, ValueSink>;
  if constexpr (kernels::check_multisplit_by<Method, Exec, arrays_type, Sink, BucketOf>()) {
    const std::int64_t n = arrays.keys.extent;
    detail::expects(buckets >= 1 && buckets <= Method::most_buckets,
                    "multisplit_by: bucket_count is ", buckets, ", ", Method::name, " takes 1 to ",
                    Method::most_buckets);
    detail::expects(n <= methods::most_items, "multisplit_by: keys has ", n, " items, more than ",
                    methods::most_items);
    detail::expects(arrays.keys_out.extent >= n, "multisplit_by: keys_out has ",
                    arrays.keys_out.extent, " places, keys has ", n, " items");
    detail::expects_memory(arrays.keys, "multisplit_by", "keys");
    detail::expects_memory(arrays.keys_out, "multisplit_by", "keys_out");
    detail::expects_no_partial_overlap(arrays.keys, arrays.keys_out, "multisplit_by", "keys",
                                       "keys_out", false);
    options.errors.expects_reachable<Exec>("multisplit_by", "options.errors");
    if (n == 0) return;
    const auto m = static_cast<std::uint32_t>(buckets);
    method_of<Method>::with(m, [&](auto split) {
      using how = decltype(split);
      auto work = call_workspace::make<backend_of<Exec>>(
          exec, options.work,
          how::template need<Exec, typename arrays_type::key_type,
                             typename arrays_type::value_type>(n, m),
          "multisplit_by");
      how::run(exec, work.get(), arrays, m, bucket_or_last<BucketOf>{bucket_of, m - 1},
               options.errors.data() != nullptr ? options.errors.data() : work.get().errors());
    });
  }
}

}  // namespace kernels

/// The workspace that multisplit_by needs for n keys of type Key, with values of type Value or
/// without, and this many buckets. Needs no device.
template <class Method, class Key, class Exec, class Value = no_value>
workspace_size multisplit_by_workspace(std::int64_t n, std::int64_t buckets) {
  const auto m = static_cast<std::uint32_t>(buckets);
  return kernels::method_of<Method>::with(
      m, [&](auto split) { return decltype(split)::template need<Exec, Key, Value>(n, m); });
}

/// What multisplit does, by one of the papers' methods, so that their comparison can be made again:
/// multisplit_by(exec, methods::warp_level<4>{}, keys, keys_out, m, bucket_of). multisplit itself
/// is for programs. keys_out is the concatenation over b of the keys with bucket_of(key) == b, in
/// input order (stable).
///
/// Keys are of any trivially copyable type of up to 8 bytes. bucket_of is a pure scalar function
/// object from a key to a bucket in [0, bucket_count). bucket_count is from 1 to
/// Method::most_buckets (32, 256 or 65,536). bucket_of is called up to four times per key.
/// super_buckets calls it up to seven times, scan_split up to three times in the first round and
/// twice in others. A key with any other bucket goes to the last one and is counted in
/// options.errors, else in options.work. keys is a contiguous rank-1 View or a source, keys_out a
/// View of the same type of items, at least as long; they do not overlap. There are less than 2^32
/// keys.
///
/// direct, warp_level and block_level: three launches (four by rows); 2 n key reads, n key writes,
/// and 4 m L words of the matrix, L being the number of subproblems: n / 32 windows for direct and
/// warp_level, n / (32 warps windows) for block_level, divided by the tiles of a subproblem.
/// super_buckets: twice that. reduced_bit_sort: a launch that writes labels, a radix_sort of pairs,
/// and for pairs a launch that unpacks. scan_split: three launches in each of ceil(log2 m) rounds,
/// four if it is recursive; in each 2 n key reads, n key writes, and 4 n numbers. The result is the
/// same on every backend and by every method. On hosts a team has one warp, and a tile its windows.
/// Does not block. Throws std::invalid_argument on a bucket_count beyond the method, wrong extents,
/// overlap, too many keys, or an option that cannot be reached. (GPU Multisplit, 3 to 5; Ashkiani,
/// 3.3 to 3.6.)
template <class Method, execution_space Exec, class Keys, class KeysOut, class BucketOf>
void multisplit_by(const Exec& exec, const Method&, const Keys& keys, const KeysOut& keys_out,
                   std::int64_t bucket_count, const BucketOf& bucket_of,
                   const multisplit_by_options& options = {}) {
  kernels::multisplit_by<Method>(
      exec,
      kernels::arrays_of(detail::as_source<Exec>(keys), detail::as_sink<Exec>(keys_out), nullptr,
                         nullptr),
      bucket_count, bucket_of, options);
}

/// For pairs: values, of a trivially copyable type of up to 8 bytes, go the way of their keys.
/// values_out is a View and must not overlap any other array. The values are read and written once
/// more in every round.
template <class Method, execution_space Exec, class Keys, class Values, class KeysOut,
          class ValuesOut, class BucketOf>
void multisplit_by(const Exec& exec, const Method&, const Keys& keys, const Values& values,
                   const KeysOut& keys_out, const ValuesOut& values_out, std::int64_t bucket_count,
                   const BucketOf& bucket_of, const multisplit_by_options& options = {}) {
  const auto key_source = detail::as_source<Exec>(keys);
  const auto key_sink = detail::as_sink<Exec>(keys_out);
  const auto source = detail::as_source<Exec>(values);
  const auto sink = detail::as_sink<Exec>(values_out);
  using value = typename decltype(source)::value_type;
  constexpr bool fits =
      sizeof(value) <= 8 && std::is_same_v<decltype(sink), const array_sink<value>>;
  static_assert(fits || detail::is_refused<value>,
                "lanewise: multisplit_by takes values of up to 8 bytes, which go to a View of the "
                "same type");
  if constexpr (fits) {
    const char* const name = "multisplit_by";
    detail::expects(source.extent == key_source.extent, name, ": values has ", source.extent,
                    " items, keys has ", key_source.extent);
    detail::expects(sink.extent >= source.extent, name, ": values_out has ", sink.extent,
                    " places, values has ", source.extent, " items");
    detail::expects_memory(source, name, "values");
    detail::expects_memory(sink, name, "values_out");
    detail::expects_no_partial_overlap(source, sink, name, "values", "values_out", false);
    detail::expects_no_partial_overlap(key_source, sink, name, "keys", "values_out", false);
    detail::expects_no_partial_overlap(source, key_sink, name, "values", "keys_out", false);
    detail::expects_no_partial_overlap(key_sink, sink, name, "keys_out", "values_out", false);
    kernels::multisplit_by<Method>(exec, kernels::arrays_of(key_source, key_sink, source, sink),
                                   bucket_count, bucket_of, options);
  }
}

}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
