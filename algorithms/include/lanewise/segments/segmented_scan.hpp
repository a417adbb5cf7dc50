// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/segments/detail/segmented_scan_tile.hpp>
#include <lanewise/sequence/scan.hpp>
#include <lanewise/tile/tile.hpp>

#include <concepts>

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

template <class T>
struct segments_policy : launch_policy {
  // H200, 4 bytes beside keys of 4: 300 Gitems/s by 10 warps, 284 by 8, 269 by 12.
  static constexpr int warps = sizeof(T) <= 4 ? 10 : 8;
  static constexpr int items_per_lane =
      items_that_fit(sizeof(T) <= 8 ? 16 : (sizeof(T) <= 16 ? 8 : 4), warps, sizeof(T));
  static constexpr int teams_per_multiprocessor = 2;
  static constexpr int parked_tiles = [] {
    const int most = tiles_that_wait(sizeof(T) * 32 * segments_policy::warps * items_per_lane);
    return most > 0 ? most : 1;
  }();
};

/// init op x, for the first item of a segment.
template <class T, class Op>
struct begin_with {
  T init;
  Op op;
  LANEWISE_FUNCTION T operator()(const T& x) const { return op(init, x); }
};

/// The skeleton of scan, where a tile's total says whether a segment begins in it.
template <bool exclusive, class Source, class Heads, class Sink, class Op, class AtHead, class T>
struct segmented_scan_kernel {
  using policy = segments_policy<T>;
  using state = detail::segment_state<T>;

  template <class Team>
  using tile = detail::segmented_scan_tile<Team, T, policy, Source, Heads, AtHead, false>;
  template <class Team>
  using scratch = decoupled_look_back_scratch<Team, state, tile<Team>>;

  Source in;
  Heads heads;
  Sink out;
  Op op;
  AtHead at_head;
  T init;
  cut_items n;
  look_back_chain<state> chain;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const tile_cuts<Team, T, policy> cuts(n);
    lanewise::decoupled_look_back(
        team, chain, static_cast<std::uint32_t>(cuts.tiles()), shared,
        detail::join_segments<T, Op>{op}, maybe<state>{{}, false},
        [&](std::uint32_t ticket, auto& place) LANEWISE_INLINE_LAMBDA {
          return tile<Team>(team, place, in, heads, at_head, cuts.first(ticket),
                            cuts.below(ticket));
        },
        [&](auto& segments) LANEWISE_INLINE_LAMBDA {
          segments.scan(op);
          return segments.total();
        },
        [&](auto& segments, std::uint32_t, const maybe<state>& front) LANEWISE_INLINE_LAMBDA {
          const maybe<T> before{front.present ? front.value.value() : T{}, front.present};
          if constexpr (exclusive) {
            segments.store_exclusive(out, init, before, op);
          } else {
            segments.store_inclusive(out, before, op);
          }
        });
  }
};

template <class T, class Exec>
std::int64_t segment_tiles(std::int64_t n) {
  using policy = segments_policy<T>;
  return tile_cuts<team_t<Exec, policy>, T, policy>::most_tiles(n);
}

/// Heads from flags beside the items.
template <class Exec, class Flags>
auto heads_of_flags(const Flags& flags, std::int64_t n, const char* algorithm) {
  const auto source = detail::as_flags<Exec>(flags);
  detail::expects(source.extent == n, algorithm, ": heads has ", source.extent, " items, in has ",
                  n);
  detail::expects_memory(source, algorithm, "heads");
  return detail::selected_by_flags<std::decay_t<decltype(source)>>{source};
}

/// Whether an index is a multiple of a length, by one multiplication. Let the length be 2^shift
/// times an odd number. Then the inverse of that number (modulo 2^64) takes multiples to 2^shift
/// times a number of at most (2^64 - 1) / length.
class is_multiple {
 public:
  explicit is_multiple(std::uint64_t length) : most_(~std::uint64_t{0} / length) {
    for (; length % 2 == 0; length /= 2) ++shift_;
    inverse_ = length;  // right in 3 bits, and in twice as many after every step
    for (int bits = 3; bits < 64; bits *= 2) inverse_ *= 2 - length * inverse_;
  }
  LANEWISE_FUNCTION std::uint8_t operator()(std::int64_t i) const {
    const std::uint64_t x = static_cast<std::uint64_t>(i) * inverse_;
    return (x >> shift_ | x << 1 << (63 - shift_)) <= most_ ? 1 : 0;
  }

 private:
  std::uint64_t inverse_;
  std::uint64_t most_;
  int shift_ = 0;
};

/// Heads of segments of equal lengths.
template <class Length>
auto heads_of_length(Length length, std::int64_t n, const char* algorithm) {
  const std::int64_t each = kernels::length_of_segments(length, n, algorithm);
  return generated(n, is_multiple(static_cast<std::uint64_t>(each)));
}

/// Heads where a key differs from the key before.
template <class Exec, class Keys, class Equal>
auto heads_of_keys(const Keys& keys, const Equal& equal, std::int64_t n, const char* algorithm) {
  const auto source = detail::as_source<Exec>(keys);
  detail::expects(source.extent == n, algorithm, ": keys has ", source.extent, " items, in has ",
                  n);
  detail::expects_memory(source, algorithm, "keys");
  return detail::key_differing<std::decay_t<decltype(source)>, Equal>{source, equal};
}

}  // namespace kernels

/// The workspace that the segmented scans and scans by key need for n items combined as T. Needs no
/// device.
template <class T, class Exec>
workspace_size segmented_scan_workspace(std::int64_t n) {
  const std::int64_t tiles = kernels::segment_tiles<T, Exec>(n);
  return {tiles, look_back_chain<detail::segment_state<T>>::payload_bytes(tiles)};
}

namespace kernels {

template <bool exclusive, class Exec, class Source, class Heads, class Out, class T, class Op,
          class AtHead>
void segmented_scan(const Exec& exec, const char* label, const char* algorithm,
                    const Source& source, const Heads& heads, const Out& out, const T& init,
                    const Op& op, const AtHead& at_head, const call_options& options) {
  const auto sink = detail::as_sink<Exec>(out);
  using kernel =
      segmented_scan_kernel<exclusive, Source, Heads, std::decay_t<decltype(sink)>, Op, AtHead, T>;
  using backend = backend_of<Exec>;
  using cuts = tile_cuts<team_t<Exec, segments_policy<T>>, T, segments_policy<T>>;
  detail::expects(sink.extent >= source.extent, algorithm, ": out has ", sink.extent,
                  " places, in has ", source.extent, " items");
  detail::expects_memory(source, algorithm, "in");
  detail::expects_memory(sink, algorithm, "out");
  detail::expects_no_partial_overlap(source, sink, algorithm, "in", "out");
  if constexpr (detail::is_flagged<Heads>) {
    detail::expects_no_partial_overlap(heads.flags, sink, algorithm, "heads", "out", false);
  } else {
    detail::expects_no_partial_overlap(heads.keys, sink, algorithm, "keys", "out", false);
  }
  const item_count n = detail::count_of<Exec>(source.extent, options, algorithm);
  if (source.extent == 0) return;
  auto work = call_workspace::make<backend>(
      exec, options.work, lanewise::segmented_scan_workspace<T, Exec>(source.extent), algorithm);
  lanewise::launch(exec, label,
                   backend::template league_for_tiles<kernel>(
                       exec, kernels::segment_tiles<T, Exec>(source.extent)),
                   kernel{source, heads, sink, op, at_head, init, cuts::cut(source, sink, n),
                          work.get().template make_look_back_chain<detail::segment_state<T>>(0)});
}

}  // namespace kernels

/// Writes out(i) = in(h) op ... op in(i), where h <= i is the last index with heads(h) set, or 0.
///
/// heads is a View or source of flags, one per item, of any type that converts to bool. op is an
/// associative function object on the value type of in; it need not commute and needs no identity.
/// in and out are contiguous rank-1 Views, or a source and a sink; out has at least as many places
/// as in has items and may be the same View as in, not as heads. One launch and one pass: n reads
/// of items and of flags, n writes; O(n) work, whatever the lengths of segments. Functors are
/// called up to twice per item. Floating-point sums may differ from run to run by association. Does
/// not block. Throws std::invalid_argument on wrong extents, overlap, or an option that cannot be
/// reached. (Merrill, 3.4; a single pass with look-back.)
template <execution_space Exec, class In, class Heads, class Out, class Op>
void inclusive_segmented_scan(const Exec& exec, const In& in, const Heads& heads, const Out& out,
                              const Op& op, const call_options& options = {}) {
  using item = typename decltype(detail::as_source<Exec>(in))::value_type;
  if constexpr (detail::check_scan<Exec, In, Out, Op, item>()) {
    using T = detail::accumulated<Op, item>;
    const auto source = detail::as<T>(detail::as_source<Exec>(in));
    const char* algorithm = "inclusive_segmented_scan";
    kernels::segmented_scan<false>(exec, "Lanewise::inclusive_segmented_scan", algorithm, source,
                                   kernels::heads_of_flags<Exec>(heads, source.extent, algorithm),
                                   out, T{}, detail::without_accumulation(op), identity{}, options);
  }
}

/// Writes out(i) = init op in(h) op ... op in(i-1), and init at heads; items are converted to the
/// type of init, or to A. Otherwise like inclusive_segmented_scan.
template <execution_space Exec, class In, class Heads, class Out, class T, class Op>
void exclusive_segmented_scan(const Exec& exec, const In& in, const Heads& heads, const Out& out,
                              const Op& op, const T& init, const call_options& options = {}) {
  if constexpr (detail::check_exclusive_scan<Exec, In, Out, T, Op>()) {
    using sum = detail::accumulated<Op, T>;
    const auto source = detail::as<sum>(detail::as_source<Exec>(in));
    const auto combine = detail::without_accumulation(op);
    const auto first = static_cast<sum>(init);
    const char* algorithm = "exclusive_segmented_scan";
    kernels::segmented_scan<true>(
        exec, "Lanewise::exclusive_segmented_scan", algorithm, source,
        kernels::heads_of_flags<Exec>(heads, source.extent, algorithm), out, first, combine,
        kernels::begin_with<sum, std::decay_t<decltype(combine)>>{first, combine}, options);
  }
}

/// inclusive_segmented_scan of segments of `length` items each: h is the greatest multiple of
/// length that is at most i. No flags are read. Throws where length is less than 1.
template <execution_space Exec, class In, std::integral Length, class Out, class Op>
void inclusive_segmented_scan(const Exec& exec, const In& in, const Length& length, const Out& out,
                              const Op& op, const call_options& options = {}) {
  const std::int64_t n = detail::as_source<Exec>(in).extent;
  lanewise::inclusive_segmented_scan(
      exec, in, kernels::heads_of_length(length, n, "inclusive_segmented_scan"), out, op, options);
}

/// exclusive_segmented_scan of segments of `length` items each.
template <execution_space Exec, class In, std::integral Length, class Out, class T, class Op>
void exclusive_segmented_scan(const Exec& exec, const In& in, const Length& length, const Out& out,
                              const Op& op, const T& init, const call_options& options = {}) {
  const std::int64_t n = detail::as_source<Exec>(in).extent;
  lanewise::exclusive_segmented_scan(
      exec, in, kernels::heads_of_length(length, n, "exclusive_segmented_scan"), out, op, init,
      options);
}

/// inclusive_segmented_scan where a segment is a run of equal neighbouring keys. equal is a pure
/// scalar equivalence.
template <execution_space Exec, class Keys, class In, class Out, class Op, class Equal = equal_to>
void inclusive_scan_by_key(const Exec& exec, const Keys& keys, const In& in, const Out& out,
                           const Op& op, const Equal& equal = {},
                           const call_options& options = {}) {
  using item = typename decltype(detail::as_source<Exec>(in))::value_type;
  if constexpr (detail::check_scan<Exec, In, Out, Op, item>() &&
                detail::check_equal<Exec, Equal, detail::item_of<Exec, Keys>>()) {
    using T = detail::accumulated<Op, item>;
    const auto source = detail::as<T>(detail::as_source<Exec>(in));
    const char* algorithm = "inclusive_scan_by_key";
    kernels::segmented_scan<false>(
        exec, "Lanewise::inclusive_scan_by_key", algorithm, source,
        kernels::heads_of_keys<Exec>(keys, equal, source.extent, algorithm), out, T{},
        detail::without_accumulation(op), identity{}, options);
  }
}

/// exclusive_segmented_scan where a segment is a run of equal neighbouring keys.
template <execution_space Exec, class Keys, class In, class Out, class T, class Op,
          class Equal = equal_to>
void exclusive_scan_by_key(const Exec& exec, const Keys& keys, const In& in, const Out& out,
                           const Op& op, const T& init, const Equal& equal = {},
                           const call_options& options = {}) {
  if constexpr (detail::check_exclusive_scan<Exec, In, Out, T, Op>() &&
                detail::check_equal<Exec, Equal, detail::item_of<Exec, Keys>>()) {
    using sum = detail::accumulated<Op, T>;
    const auto source = detail::as<sum>(detail::as_source<Exec>(in));
    const auto combine = detail::without_accumulation(op);
    const auto first = static_cast<sum>(init);
    const char* algorithm = "exclusive_scan_by_key";
    kernels::segmented_scan<true>(
        exec, "Lanewise::exclusive_scan_by_key", algorithm, source,
        kernels::heads_of_keys<Exec>(keys, equal, source.extent, algorithm), out, first, combine,
        kernels::begin_with<sum, std::decay_t<decltype(combine)>>{first, combine}, options);
  }
}

LANEWISE_END_TARGET_NAMESPACE
