// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sort/detail/multisplit_kernels.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// The items of a source from `first` on.
template <class Source>
struct source_from {
  using value_type = typename Source::value_type;
  static constexpr bool contiguous = false;
  Source source;
  std::int64_t first;
  LANEWISE_FUNCTION value_type operator()(std::int64_t i) const { return source(first + i); }
};
template <class Source>
LANEWISE_FUNCTION source_from<Source> read_from(const Source& source, std::int64_t first) {
  return {source, first};
}
LANEWISE_FUNCTION std::nullptr_t read_from(std::nullptr_t, std::int64_t) {
  return nullptr;
}

/// The places of a sink from `first` on.
template <class Sink>
struct sink_from {
  static constexpr bool contiguous = false;
  Sink sink;
  std::int64_t first;
  template <class T>
  LANEWISE_FUNCTION void operator()(std::int64_t i, const T& x) const {
    sink(first + i, x);
  }
};
template <class Sink>
LANEWISE_FUNCTION sink_from<Sink> write_from(const Sink& sink, std::int64_t first) {
  return {sink, first};
}
LANEWISE_FUNCTION std::nullptr_t write_from(std::nullptr_t, std::int64_t) {
  return nullptr;
}

/// Says where the buckets of a segment begin. The last bucket has the items of no bucket.
struct put_segment_begin {
  detail::integers offsets;
  status* errors;
  std::uint32_t last;
  std::int64_t number, begin, items;

  LANEWISE_FUNCTION void operator()(std::uint32_t b, std::int64_t place) const {
    if (offsets.exist()) offsets.put(number * (std::int64_t{last} + 1) + b, begin + place);
    if (b == last && place < items && errors != nullptr)
      Kokkos::atomic_add(&errors->bad_items, static_cast<std::uint64_t>(items - place));
  }
};

/// A team splits a segment, whatever its length. It asks all segments whether one is bad.
/// bucket_of(key) is at most `last`.
template <class Source, class Sink, class Values, class ValueSink, class Segments, class BucketOf>
struct segment_split_kernel {
  using key_type = typename Source::value_type;
  using policy = few_policy<key_type>;
  static constexpr int value_bytes = detail::value_bytes<Values>;
  template <class Team>
  using split = split_tile_t<Team, key_type, policy>;
  template <class Team>
  struct scratch {
    typename split<Team>::template all_scratch<value_bytes> split;
    std::uint32_t bad;
  };

  Source keys;
  Sink keys_out;
  Values values;
  ValueSink values_out;
  Segments segments;
  item_count count;
  BucketOf bucket_of;
  std::uint32_t last;
  detail::integers offsets;
  status* errors;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const std::int64_t all = count();
    if (has_bad(team, shared.bad, all)) return;
    for (std::int64_t s = team.index(); s < all; s += team.league()) {
      const std::int64_t begin = segments.offset(s), items = segments.offset(s + 1) - begin;
      split<Team>::split_all(team, shared.split, kernels::read_from(keys, begin), items, bucket_of,
                             last + 1, put_segment_begin{offsets, errors, last, s, begin, items},
                             kernels::write_from(keys_out, begin),
                             kernels::read_from(values, begin),
                             kernels::write_from(values_out, begin));
      team.barrier();
    }
  }

 private:
  /// The first team counts bad segments.
  template <class Team>
  LANEWISE_FUNCTION bool has_bad(const Team& team, std::uint32_t& bad, std::int64_t all) const {
    constexpr std::int64_t width = Team::warp_type::width;
    const auto warp = team.warp();
    team.once([&] { bad = 0; });
    team.barrier();
    for (std::int64_t s = team.warp_index() * width; s < all; s += Team::warps * width) {
      const auto wrong = warp.map(
          warp.first(all - s),
          [&](std::uint32_t l) {
            const std::int64_t begin = segments.offset(s + l), end = segments.offset(s + l + 1);
            return segments.is_bad(s + l, begin, end) ? 1u : 0u;
          },
          0u, warp.lane());
      const int found = warp.count(wrong != 0u);
      if (found == 0) continue;
      warp.template store<order::relaxed>(bad, 1u);
      if (team.index() == 0 && errors != nullptr)
        warp.fetch_add(errors->bad_items, static_cast<std::uint64_t>(found));
    }
    team.barrier();
    return bad != 0;
  }
};

/// The most items and segments of one launch. More items may be one segment, which has one team.
inline constexpr std::int64_t few_split_items = std::int64_t{1} << 17, few_split_segments = 1024;

/// The least items of a segment on average. Hosts clear counters for each segment, which the sort
/// of bucket numbers does not. (Zen 5, one thread, 1,000 segments into 8 buckets: of 4 keys 63 us,
/// by the sort 35, of 64 keys 119 and 94, of 100 keys 156 and 163.)
template <class Split>
inline constexpr std::int64_t least_split_items = Split::few_per_bucket == 0 ? 0 : 96;

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
