// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/call/workspace_layout.hpp>
#include <lanewise/common/detail/by_index.hpp>
#include <lanewise/common/options.hpp>
#include <lanewise/sort/detail/device/device_rounds.hpp>
#include <lanewise/sort/detail/host/host_shares.hpp>
#include <lanewise/tile/expansion.hpp>

#include <limits>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

template <class Key, class Exec, class Policy = split_policy<Key>>
using split_of = detail::split_t<team_t<Exec, Policy>, Key, Policy>;

inline std::size_t whole_lines(std::size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

/// The places of the parts of the workspace of a split into at most 256 buckets. There is room for
/// the most columns possible, as the size must not depend on the number of teams.
template <class Key, class Exec, class Policy = split_policy<Key>>
struct split_layout : workspace_layout {
  using split = split_of<Key, Exec, Policy>;

  std::int64_t tiles;
  workspace_array<std::uint32_t> counts, tile_counts;
  workspace_array<std::int64_t> starts;

  split_layout(std::int64_t n, std::uint32_t buckets)
      : workspace_layout({1, 0}, 64),
        tiles(n > 0 ? lanewise::divide_up(n, split::tile_items(n)) : 1) {
    const std::int64_t entries = buckets * split::most_columns(tiles);
    add(counts, entries);
    add(tile_counts, split::tile_counters(tiles, buckets));
    add(starts, entries + buckets + 2);
  }
};

/// An array in the workspace, between two rounds; of nothing, where there are no values.
template <class T>
struct split_buffer {
  T* data;
  std::int64_t extent;

  LANEWISE_FUNCTION array_sink<T> sink() const { return {data, extent}; }
  LANEWISE_FUNCTION array_source<T, identity> source() const { return {data, extent, {}}; }
};
template <>
struct split_buffer<no_value> {
  void* data;
  std::int64_t extent;

  LANEWISE_FUNCTION std::nullptr_t sink() const { return nullptr; }
  LANEWISE_FUNCTION std::nullptr_t source() const { return nullptr; }
};

template <class Values>
struct moved_value {
  using type = typename Values::value_type;
};
template <>
struct moved_value<std::nullptr_t> {
  using type = no_value;
};
template <class T>
inline constexpr std::size_t moved_bytes = std::is_same_v<T, no_value> ? 0 : sizeof(T);

/// The least items of a share for each of its counters, where there is more than one share.
inline constexpr std::int64_t items_per_share_counter = 16;
/// What counters take where a split is in one round, on hosts.
inline std::size_t share_counter_bytes(std::int64_t n, std::uint32_t buckets) {
  const std::int64_t counters = std::max<std::int64_t>(n / items_per_share_counter, buckets);
  return 2 * static_cast<std::size_t>(counters) * sizeof(std::uint32_t);
}

/// This layout for a split into more buckets, by two rounds, or on hosts by one.
template <class Key, class Value, class Exec, class Policy>
struct two_rounds_layout : workspace_layout {
  bucket_digits digits;
  workspace_array<std::int64_t> begins;  // of the buckets of both rounds
  workspace_array<Key> keys;
  workspace_array<Value> values;
  workspace_array<char> round;
  // On devices, and zero: the second round's counts, its tickets, and the words of its tiles.
  workspace_array<char> later;
  workspace_array<Key> sorted;  // a round's results that cannot be read again

  static constexpr bool counts_once = split_of<Key, Exec, Policy>::few_per_bucket == 0;
  static constexpr std::size_t words_after = (most_buckets + 1) * sizeof(std::uint64_t);
  static bool has_wide_words(std::int64_t n) { return n >= look_back_counts<std::uint32_t>::limit; }

  two_rounds_layout(std::int64_t n, std::uint32_t buckets, bool keeps)
      : workspace_layout({1, 0}, 64), digits(buckets) {
    add(begins, 2 * (most_buckets + 1));
    add(keys, n);
    add(values, std::is_same_v<Value, no_value> ? 0 : n);
    workspace_size need;
    for (const std::uint32_t b : digits.buckets)
      need = lanewise::max(need, split_layout<Key, Exec, Policy>(n, b).size());
    round = add_call(need);
    std::size_t later_bytes = 0;
    if constexpr (counts_once)
      later_bytes =
          words_after + static_cast<std::size_t>(split_layout<Key, Exec, Policy>(n, 1).tiles) *
                            digits.buckets[1] *
                            (has_wide_words(n) ? sizeof(std::uint64_t) : sizeof(std::uint32_t));
    add(later, static_cast<std::int64_t>(later_bytes));
    add(sorted, keeps ? n : 0);
    if constexpr (!counts_once) or_call({1, share_counter_bytes(n, buckets)});
  }
};

/// What a split moves.
template <class Source, class Sink, class Values, class ValueSink>
struct split_arrays {
  using key_type = typename Source::value_type;
  using value_type = typename moved_value<Values>::type;
  static constexpr int value_bytes = detail::value_bytes<Values>;
  static constexpr bool can_read_results = std::is_same_v<Sink, array_sink<key_type>>;

  Source keys;
  Sink keys_out;
  Values values;
  ValueSink values_out;
};

template <class Source, class Sink, class Values, class ValueSink>
split_arrays<Source, Sink, Values, ValueSink> arrays_of(const Source& keys, const Sink& keys_out,
                                                        const Values& values,
                                                        const ValueSink& values_out) {
  return {keys, keys_out, values, values_out};
}

/// What else it is told.
struct split_call {
  item_count n;
  std::uint32_t buckets;
  detail::integers offsets;
  status* errors;
};

/// Whether one team takes all items.
template <class Policy, class Arrays, class Exec>
bool is_few(const Exec& exec, std::int64_t n, std::uint32_t buckets) {
  using key = typename Arrays::key_type;
  using split = split_of<key, Exec, Policy>;
  bool alone = false;
  if constexpr (split::few_per_bucket != 0) {
    using counting = count_kernel<Policy, array_source<key, identity>, identity>;
    alone = backend_of<Exec>::template resident_teams<counting>(exec) == 1;
  }
  return n <= kernels::few_items<split, Policy>(buckets, sizeof(key) + Arrays::value_bytes, alone);
}

/// How many columns a launch counts, and where in memory what it counts.
template <class Counting, class Layout, class Exec>
split_columns columns_of(const Exec& exec, const Layout& layout, char* memory) {
  using split = typename Layout::split;
  return {layout.tiles,
          split::columns(layout.tiles, layout.tiles <= split::few_tiles
                                           ? layout.tiles
                                           : backend_of<Exec>::template resident_league<Counting>(
                                                 exec, layout.tiles)),
          layout.counts.data(memory), layout.tile_counts.data(memory)};
}

/// A split into at most 256 buckets, by three launches.
template <class Policy, class Exec, class Source, class Sink, class Values, class ValueSink,
          class BucketOf>
void split_by_columns(const Exec& exec, workspace& work, char* memory,
                      const split_arrays<Source, Sink, Values, ValueSink>& arrays,
                      const split_call& call, const BucketOf& bucket_of) {
  using backend = backend_of<Exec>;
  using counting = count_kernel<Policy, Source, BucketOf>;
  using placing = place_kernel<Policy, Source, Sink, Values, ValueSink, BucketOf>;
  const split_layout<typename Source::value_type, Exec, Policy> layout(call.n.bound, call.buckets);
  using split = typename decltype(layout)::split;
  auto* starts = layout.starts.data(memory);
  const split_columns grid = kernels::columns_of<counting>(exec, layout, memory);
  lanewise::launch(exec, "Lanewise::multisplit::count",
                   backend::template league_for_tiles<counting>(exec, grid.columns),
                   counting{arrays.keys, call.n, bucket_of, call.buckets, grid, call.errors});
  lanewise::launch(exec, "Lanewise::multisplit::scan",
                   backend::template league_for_tiles<starts_kernel>(exec, call.buckets),
                   starts_kernel{call.buckets, grid, starts,
                                 work.template make_look_back_chain<std::int64_t>(0).control,
                                 call.offsets, call.n});
  lanewise::launch(
      exec, "Lanewise::multisplit::place",
      backend::template league_for_tiles<placing>(exec, split::pieces(layout.tiles, grid.columns)),
      placing{arrays.keys, arrays.keys_out, arrays.values, arrays.values_out, bucket_of,
              call.buckets, grid, starts});
}

/// Results that go to another sink, and to an array, if there is one.
template <class Sink, class T>
struct kept_sink {
  static constexpr bool contiguous = false;

  std::int64_t extent;
  Sink sink;
  T* copy;

  LANEWISE_FUNCTION void operator()(std::int64_t i, const T& x) const {
    sink(i, x);
    if (copy != nullptr) copy[i] = x;
  }
};

/// Two rounds on a device, by four launches: by lower digits to arrays between, from there by upper
/// ones. kept is where the number of items in buckets is left.
template <class Policy, class Word, class Exec, class Layout, class Source, class Sink,
          class Values, class ValueSink, class BucketOf>
void split_counting_once(const Exec& exec, workspace& work, char* memory, const Layout& parts,
                         const split_arrays<Source, Sink, Values, ValueSink>& arrays,
                         const split_call& call, const digit_of_bucket<BucketOf> (&digit)[2],
                         const split_buffer<typename Source::value_type>& keys,
                         const split_buffer<typename moved_value<Values>::type>& values,
                         std::int64_t* begins) {
  using backend = backend_of<Exec>;
  using key = typename Source::value_type;
  using counting = count_twice_kernel<Policy, Source, BucketOf>;
  const auto between = kernels::arrays_of(arrays.keys, keys.sink(), arrays.values, values.sink());
  const std::uint32_t buckets = parts.digits.buckets[0];
  const split_layout<key, Exec, Policy> layout(call.n.bound, buckets);
  char* const round = parts.round.data(memory);
  char* const later_memory = parts.later.data(memory);
  const later_buckets later{reinterpret_cast<std::uint64_t*>(later_memory),
                            parts.digits.buckets[1]};
  auto* const starts = layout.starts.data(round);
  const split_columns grid = kernels::columns_of<counting>(exec, layout, round);
  backend::zero(exec, later_memory, static_cast<std::size_t>(parts.later.extent));
  lanewise::launch(exec, "Lanewise::multisplit::count",
                   backend::template league_for_tiles<counting>(exec, grid.columns),
                   counting{arrays.keys, call.n, digit[0].bucket_of, call.buckets, parts.digits,
                            grid, later, call.errors});
  lanewise::launch(exec, "Lanewise::multisplit::scan",
                   backend::template league_for_tiles<starts_kernel>(exec, buckets),
                   starts_kernel{buckets, grid, starts,
                                 work.template make_look_back_chain<std::int64_t>(0).control,
                                 detail::integers(begins), call.n, later});
  using placing =
      place_kernel<Policy, Source, std::decay_t<decltype(between.keys_out)>, Values,
                   std::decay_t<decltype(between.values_out)>, digit_of_bucket<BucketOf>>;
  lanewise::launch(exec, "Lanewise::multisplit::place",
                   backend::template league_for_tiles<placing>(exec, layout.tiles),
                   placing{between.keys, between.keys_out, between.values, between.values_out,
                           digit[0], buckets, grid, starts});
  const auto source = keys.source();
  const auto value_source = values.source();
  using placing_later =
      place_later_kernel<Policy, Word, std::decay_t<decltype(source)>, Sink,
                         std::decay_t<decltype(value_source)>, ValueSink, BucketOf>;
  lanewise::launch(exec, "Lanewise::multisplit::place_later",
                   backend::template league_for_tiles<placing_later>(exec, layout.tiles),
                   placing_later{source, arrays.keys_out, value_source, arrays.values_out, digit[1],
                                 later, reinterpret_cast<Word*>(later_memory + Layout::words_after),
                                 reinterpret_cast<std::uint32_t*>(later.begins + most_buckets),
                                 begins + buckets});
}

/// A split into more, by two rounds, the lower digits of buckets first. keys_out can be read again,
/// or else `sorted` is an array for what goes there, unless the call does not ask where buckets
/// begin.
template <class Policy, class Exec, class Source, class Sink, class Values, class ValueSink,
          class BucketOf>
void split_by_digits(const Exec& exec, workspace& work, char* memory,
                     const split_arrays<Source, Sink, Values, ValueSink>& arrays,
                     const split_call& call, const BucketOf& bucket_of,
                     const typename Source::value_type* sorted) {
  using key = typename Source::value_type;
  using value = typename moved_value<Values>::type;
  const std::int64_t n = call.n.bound;
  const two_rounds_layout<key, value, Exec, Policy> layout(n, call.buckets, false);
  const bucket_digits& digits = layout.digits;
  const split_buffer<key> keys{layout.keys.data(memory), n};
  const split_buffer<value> values{layout.values.data(memory), n};
  auto* const lower_begins = layout.begins.data(memory);
  auto* const upper_begins = lower_begins + (most_buckets + 1);
  const digit_of_bucket<BucketOf> lower{bucket_of, call.buckets, 0, digits.buckets[0] - 1};
  const digit_of_bucket<BucketOf> upper{bucket_of, call.buckets, digits.lower_bits, ~0u};
  const std::int64_t* kept_at = upper_begins + digits.buckets[1];
  if (kernels::is_few<Policy, split_arrays<Source, Sink, Values, ValueSink>>(
          exec, n, std::max(digits.buckets[0], digits.buckets[1]))) {
    kept_at = upper_begins;
    lanewise::launch(
        exec, "Lanewise::multisplit", 1,
        single_team_split_twice_kernel<Source, Sink, Values, ValueSink, BucketOf, split_buffer<key>,
                                       split_buffer<value>>{arrays.keys,
                                                            arrays.keys_out,
                                                            arrays.values,
                                                            arrays.values_out,
                                                            call.n,
                                                            {lower, upper},
                                                            {digits.buckets[0], digits.buckets[1]},
                                                            keys,
                                                            values,
                                                            upper_begins,
                                                            call.errors});
  } else if constexpr (decltype(layout)::counts_once) {
    kept_at = lower_begins + digits.buckets[0];
    const auto run = [&]<class Word>(Word) {
      kernels::split_counting_once<Policy, Word>(exec, work, memory, layout, arrays, call,
                                                 {lower, upper}, keys, values, lower_begins);
    };
    if (layout.has_wide_words(n)) {
      run(std::uint64_t{});
    } else {
      run(std::uint32_t{});
    }
  } else {
    char* const round = layout.round.data(memory);
    kernels::split_by_columns<Policy>(
        exec, work, round,
        kernels::arrays_of(arrays.keys, keys.sink(), arrays.values, values.sink()),
        {call.n, digits.buckets[0], detail::integers(lower_begins), call.errors}, lower);
    kernels::split_by_columns<Policy>(
        exec, work, round,
        kernels::arrays_of(keys.source(), arrays.keys_out, values.source(), arrays.values_out),
        {{n, detail::integers(lower_begins + digits.buckets[0])},
         digits.buckets[1],
         detail::integers(upper_begins),
         nullptr},
        upper);
  }
  if (call.offsets.exist()) {
    using begins = begins_kernel<key, BucketOf>;
    lanewise::launch(
        exec, "Lanewise::multisplit::begins",
        backend_of<Exec>::template league_for_tiles<begins>(exec, divide_up(call.buckets + 1, 128)),
        begins{sorted, {n, detail::integers(kept_at)}, bucket_of, call.buckets, call.offsets});
  }
}

/// A split into more than 256 buckets by two rounds, to any sink.
template <class Policy, class Exec, class Source, class Sink, class Values, class ValueSink,
          class BucketOf>
void split_by_rounds(const Exec& exec, workspace& work, char* memory,
                     const split_arrays<Source, Sink, Values, ValueSink>& arrays,
                     const split_call& call, const BucketOf& bucket_of) {
  using key = typename Source::value_type;
  if constexpr (split_arrays<Source, Sink, Values, ValueSink>::can_read_results) {
    kernels::split_by_digits<Policy>(exec, work, memory, arrays, call, bucket_of,
                                     arrays.keys_out.data);
  } else {
    using layout = two_rounds_layout<key, typename moved_value<Values>::type, Exec, Policy>;
    key* const sorted = call.offsets.exist()
                            ? layout(call.n.bound, call.buckets, true).sorted.data(memory)
                            : nullptr;
    const kept_sink<Sink, key> sink{arrays.keys_out.extent, arrays.keys_out, sorted};
    kernels::split_by_digits<Policy>(
        exec, work, memory, kernels::arrays_of(arrays.keys, sink, arrays.values, arrays.values_out),
        call, bucket_of, sorted);
  }
}

/// How many shares a split in one round on hosts has, by as many threads: 0 where two rounds are
/// faster, as one thread scans the counters of all, some three in the time of an item.
template <class Kernel, class Exec>
std::int64_t shares_of(const Exec& exec, std::int64_t n, std::uint32_t buckets, bool one) {
  const std::int64_t threads = backend_of<Exec>::template resident_teams<Kernel>(exec);
  if (n > std::numeric_limits<std::int32_t>::max()) return 0;
  if (one || threads == 1) return 2 * n >= buckets ? 1 : 0;
  const std::int64_t items_per_counter = std::max(items_per_share_counter, 4 * threads);
  return n / (items_per_counter * buckets) >= threads ? threads : 0;
}

/// Whether a second-level cache keeps what a split in one round writes, however it is scattered: a
/// line for each bucket, or all results, with fewer counters than these.
template <class Policy, class Arrays>
constexpr bool is_cached(std::int64_t n, std::uint32_t buckets) {
  constexpr std::int64_t bytes = sizeof(typename Arrays::key_type) + Arrays::value_bytes;
  constexpr std::uint32_t most_lines = 4096, lines = Arrays::value_bytes > 0 ? 2 : 1;
  return buckets * lines <= most_lines ||
         (n * bytes <= 2 * Policy::host_bytes_staged && n >= 8 * std::int64_t{buckets});
}

/// A split into many buckets on hosts, in one round. False where two are faster.
template <class Policy, class Exec, class Source, class Sink, class Values, class ValueSink,
          class BucketOf>
bool split_by_shares(const Exec& exec, char* memory,
                     const split_arrays<Source, Sink, Values, ValueSink>& arrays,
                     const split_call& call, const BucketOf& bucket_of) {
  using kernel = share_kernel<Source, Sink, Values, ValueSink, BucketOf>;
  using types = split_arrays<Source, Sink, Values, ValueSink>;
  const bool one = kernels::is_few<Policy, types>(exec, call.n.bound, most_buckets);
  const std::int64_t shares = kernels::shares_of<kernel>(exec, call.n.bound, call.buckets, one);
  if (shares == 0) return false;
  if (!kernels::is_cached<Policy, types>(call.n.bound, call.buckets)) {
    bool scattered = false;
    lanewise::launch(exec, "Lanewise::multisplit::sample", 1,
                     scattered_kernel<Source, BucketOf>{arrays.keys, call.n, bucket_of,
                                                        call.buckets >> 14, &scattered});
    if (scattered) return false;
  }
  const auto run = [&](const char* label, std::int64_t league, const share_steps& steps) {
    lanewise::launch(exec, label, league,
                     kernel{arrays.keys, arrays.keys_out, arrays.values, arrays.values_out, call.n,
                            bucket_of, call.buckets, call.offsets, call.errors, shares,
                            reinterpret_cast<std::uint32_t*>(memory), steps});
  };
  if (shares == 1) {
    run("Lanewise::multisplit", 1, {true, true, true});
  } else {
    run("Lanewise::multisplit::count", shares, {true, false, false});
    run("Lanewise::multisplit::scan", 1, {false, true, false});
    run("Lanewise::multisplit::place", shares, {false, false, true});
  }
  return true;
}

/// A split with all it needs in `memory`, in the size that split_size says. most: a constant that
/// the number of buckets does not exceed, so that less has to be compiled.
template <class Policy, std::int64_t most, class Exec, class Source, class Sink, class Values,
          class ValueSink, class BucketOf>
void split_in(const Exec& exec, workspace& work, char* memory,
              const split_arrays<Source, Sink, Values, ValueSink>& arrays, const split_call& call,
              const BucketOf& bucket_of) {
  using key = typename Source::value_type;
  using types = split_arrays<Source, Sink, Values, ValueSink>;
  if (call.buckets <= most_buckets) {
    if (kernels::is_few<Policy, types>(exec, call.n.bound, call.buckets)) {
      lanewise::launch(exec, "Lanewise::multisplit", 1,
                       single_team_split_kernel<Source, Sink, Values, ValueSink, BucketOf>{
                           arrays.keys, arrays.keys_out, arrays.values, arrays.values_out, call.n,
                           bucket_of, call.buckets, call.offsets, call.errors});
    } else {
      kernels::split_by_columns<Policy>(exec, work, memory, arrays, call, bucket_of);
    }
  } else if constexpr (most <= most_buckets) {
    return;
  } else {
    using layout = two_rounds_layout<key, typename moved_value<Values>::type, Exec, Policy>;
    if constexpr (!layout::counts_once) {
      if (kernels::split_by_shares<Policy>(exec, memory, arrays, call, bucket_of)) return;
    }
    kernels::split_by_rounds<Policy>(exec, work, memory, arrays, call, bucket_of);
  }
}

/// What split_in needs. keeps: buckets' begins are asked for, and keys_out cannot be read again.
template <class Policy, class Exec, class Key, class Value>
workspace_size split_size(std::int64_t n, std::uint32_t buckets, bool keeps) {
  if (buckets <= most_buckets) return split_layout<Key, Exec, Policy>(n, buckets).size();
  return two_rounds_layout<Key, Value, Exec, Policy>(n, buckets, keeps).size();
}

/// Values of more bytes stay where they are until they are written: their numbers move.
inline constexpr std::size_t most_moved_bytes = 16;
template <class Values>
inline constexpr bool moves_by_index = [] {
  if constexpr (std::is_same_v<Values, std::nullptr_t>) return false;
  if constexpr (!std::is_same_v<Values, std::nullptr_t>)
    return sizeof(typename Values::value_type) > most_moved_bytes;
}();

/// Results fetched from a source by number.
template <class Source, class Sink>
struct fetching_sink {
  static constexpr bool contiguous = false;

  std::int64_t extent;
  Source source;
  Sink sink;

  template <class I>
  LANEWISE_FUNCTION void operator()(std::int64_t i, const I& from) const {
    sink(i, source(static_cast<std::int64_t>(from)));
  }
};

/// f(arrays) with the arrays as they move.
template <class Source, class Sink, class Values, class ValueSink, class F>
void with_moved_values(const split_arrays<Source, Sink, Values, ValueSink>& arrays, const F& f) {
  if constexpr (!moves_by_index<Values>) {
    f(arrays);
  } else {
    const fetching_sink<Values, ValueSink> sink{arrays.values_out.extent, arrays.values,
                                                arrays.values_out};
    const auto by = [&](auto index) {
      using numbers = as_index<decltype(index)>;
      f(kernels::arrays_of(arrays.keys, arrays.keys_out,
                           generated_source<numbers>{arrays.keys.extent, {}}, sink));
    };
    if (arrays.keys.extent <= std::numeric_limits<std::uint32_t>::max()) {
      by(std::uint32_t{});
    } else {
      by(std::uint64_t{});
    }
  }
}

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
