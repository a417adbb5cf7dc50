// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/segments/detail/segmented_reduction.hpp>
#include <lanewise/sequence/allocate.hpp>
#include <lanewise/tile/tile.hpp>

#include <concepts>
#include <limits>

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

/// Whether items [begin, end) are not a segment of `extent` items.
LANEWISE_FUNCTION bool is_bad_segment(std::int64_t begin, std::int64_t end, std::int64_t extent) {
  const auto b = static_cast<std::uint64_t>(begin), e = static_cast<std::uint64_t>(end);
  return b > e || e > static_cast<std::uint64_t>(extent);  // also what is negative
}

/// Segments by their offsets, as the path through them sees it: segment r ends before item
/// (*this)(r) of the items from `first` on. Offsets that lead outside of the items are cut.
template <class Offsets>
struct offset_ranges {
  Offsets offsets;
  std::int64_t extent;  // of the items
  std::int64_t count;
  std::int64_t first = 0;
  std::int64_t items = 0;

  LANEWISE_FUNCTION offset_ranges(const Offsets& o, std::int64_t n, std::int64_t segments)
      : offsets(o), extent(n), count(segments) {
    if (count == 0) return;
    first = within(offset(0));
    items = (*this)(count - 1);
  }
  LANEWISE_FUNCTION std::int64_t operator()(std::int64_t r) const {
    const std::int64_t end = within(offset(r + 1));
    return end < first ? 0 : end - first;
  }
  /// As it is in memory: segment r ends at offset r + 1.
  LANEWISE_FUNCTION std::int64_t offset(std::int64_t r) const {
    return static_cast<std::int64_t>(offsets(r));
  }
  /// Whether a segment with these offsets is none.
  LANEWISE_FUNCTION bool is_bad(std::int64_t begin, std::int64_t end) const {
    return is_bad_segment(begin, end, extent);
  }
  /// How many of some segments are none. Numbers are as wide as in memory, so that a host compares
  /// as many at once as its vectors have of them.
  LANEWISE_LOOP_FUNCTION std::uint64_t count_bad(index_range some) const {
    constexpr auto greatest = static_cast<std::uint64_t>(std::numeric_limits<offset_type>::max());
    const auto all = static_cast<std::uint64_t>(extent);
    const auto most = static_cast<number>(all < greatest ? all : greatest);
    const Offsets at = offsets;
    number n = 0;
    for (std::int64_t r = some.begin; r < some.end; ++r) {
      const auto begin = static_cast<number>(at(r)), end = static_cast<number>(at(r + 1));
      n += static_cast<number>((begin > end) | (end > most));  // also what is negative
    }
    return n;
  }
  /// The number of the segments `some` that are not as long as the one before them; the first of
  /// all segments is not among them.
  LANEWISE_LOOP_FUNCTION std::uint64_t count_uneven(index_range some) const {
    const Offsets at = offsets;
    number n = 0;
    for (std::int64_t r = some.begin; r < some.end; ++r) {
      const auto before = static_cast<number>(at(r - 1)), begin = static_cast<number>(at(r));
      n += static_cast<number>(static_cast<number>(at(r + 1)) - begin != begin - before);
    }
    return n;
  }

 private:
  using offset_type = typename Offsets::value_type;
  using number = std::conditional_t<sizeof(offset_type) == 8, std::uint64_t, std::uint32_t>;

  LANEWISE_FUNCTION std::int64_t within(std::int64_t i) const {
    return i < 0 ? 0 : (i < extent ? i : extent);
  }
};

/// Every team takes pieces of the path through the segments' ends and their items: on devices one,
/// on the host tiles of it. What a piece leaves open goes to the next one through the chain. If
/// segments are few, and all teams see that equal numbers of them have about equal numbers of
/// items, teams take whole segments. A kernel of its own does this, as its code would cost the
/// other kernel 1 us (H200, 2^24 items).
template <class Source, class Offsets, class Sink, class Op, class T, bool are_few = false>
struct segmented_reduce_kernel {
  struct policy : launch_policy {
    static constexpr int items_per_lane = sizeof(T) > 16
                                              ? 4
                                              : (sizeof(T) > 8 ? 8 : (sizeof(T) > 4 ? 16 : 32));
    static constexpr int teams_per_multiprocessor = 3;
  };
  using state = detail::segment_carry<T>;

  template <class Team>
  using tile = detail::segmented_reduction<Team, T, policy>;
  template <class Team>
  struct scratch {
    typename tile<Team>::scratch sums;
    look_back_scratch<state> chain;
  };

  Source in;
  Offsets offsets;
  Sink out;
  Op op;
  T init;
  item_count n;
  look_back_chain<state> chain;
  status* errors;
  detail::range_shares equal{};  // of few segments

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const offset_ranges<Offsets> ranges(offsets, in.extent, n());
    if constexpr (are_few) {
      std::uint64_t bad = 0;
      if (tile<Team>::whole::reduce(team, shared.sums.apart, ranges, equal, in, out, init, op,
                                    bad)) {
        if (errors != nullptr) count_bad(team, bad);
        return;
      }
    }
    const std::int64_t path = tile<Team>::path(ranges.count, ranges.items);
    const std::int64_t pieces = tile<Team>::pieces(path, team.league());
    lanewise::for_each_ticket(team, chain, static_cast<std::uint32_t>(pieces), shared.chain,
                              [&](auto mine) {
                                tile<Team> sums(team, shared.sums, ranges,
                                                lanewise::even_share(path, mine.ticket, pieces));
                                sums.reduce(ranges, in, out, init, op);
                                const maybe<state> front = lanewise::publish_and_look_back(
                                    team, chain, mine, shared.chain, sums.total(),
                                    detail::join_carries<T, Op>{op}, maybe<state>{{}, false});
                                sums.write_first(out, front, init, op);
                                if (errors != nullptr)
                                  count_bad(team, sums.bad(ranges, mine.ticket, pieces));
                              });
  }

  template <class Team>
  LANEWISE_FUNCTION void count_bad(const Team& team, std::uint64_t bad) const {
    if (bad != 0) team.warp().fetch_add(errors->bad_items, bad);
  }
};

}  // namespace kernels

/// The workspace that segmented_reduce needs for n items combined as T in `segments` segments.
/// Needs no device.
template <class T, class Exec>
workspace_size segmented_reduce_workspace(std::int64_t n, std::int64_t segments) {
  using kernel = kernels::segmented_reduce_kernel<
      array_source<T, identity>, array_source<std::int64_t, identity>, array_sink<T>, plus, T>;
  using policy = typename kernel::policy;
  using sums = detail::segmented_reduction<team_t<Exec, policy>, T, policy>;
  const std::int64_t tiles = lanewise::divide_up(sums::path(segments, n), sums::steps);
  return {tiles, look_back_chain<typename kernel::state>::payload_bytes(tiles)};
}

/// Writes out(s) = init op in(offsets(s)) op ... op in(offsets(s+1) - 1) for every segment s in
/// [0, offsets.extent - 1), and init where a segment is empty.
///
/// op is an associative function object on the type of init, or on A where it is
/// accumulate_as<A>(op); it need not commute and needs no identity. in and offsets are contiguous
/// rank-1 Views or sources, offsets of integers that do not decrease and lie in [0, n], n being
/// in's extent; out is a View or a sink with a place for every segment, and overlaps neither. Items
/// before the first offset and after the last belong to no segment. options.count is the number of
/// segments. One launch and one pass over the path through segments' ends and items: every team
/// gets an equal piece, so the segments' lengths do not matter. On devices, if segments are few and
/// lie evenly, teams take equal numbers of segments. O(n + segments) work; items are read once,
/// offsets once, and more often from cache; one write per segment. A source's functor is called
/// once per item. Floating-point sums depend on the number of teams. A segment that begins after
/// its end, or whose ends do not lie in [0, n], is counted once in options.errors, else in
/// options.work; then the results are unspecified. Does not block. Throws std::invalid_argument on
/// wrong extents, overlap, or an option that cannot be reached. (Merrill, 3.4; the pieces of the
/// path are those of Merrill and Garland's merge-based sparse matrix-vector product, with look-back
/// instead of a second kernel.)
template <execution_space Exec, class In, class Offsets, class Out, class Op, class Init>
void segmented_reduce(const Exec& exec, const In& in, const Offsets& offsets, const Out& out,
                      const Op& op, const Init& init, const checked_options& options = {}) {
  if constexpr (detail::check_reduction<Exec, In, Op, Init>() &&
                detail::check_combined<Exec, detail::accumulated<Op, Init>,
                                       detail::sink_of<Exec, Out>, detail::says_type<Op>>()) {
    using T = detail::accumulated<Op, Init>;
    const auto combine = detail::without_accumulation(op);
    const auto first = static_cast<T>(init);
    const auto source = detail::as<T>(detail::as_source<Exec>(in));
    const auto offset = detail::as_source<Exec>(offsets);
    const auto sink = detail::as_sink<Exec>(out);
    static_assert(std::is_integral_v<typename decltype(offset)::value_type>,
                  "lanewise::segmented_reduce: offsets are integers");
    const std::int64_t segments = offset.extent > 0 ? offset.extent - 1 : 0;
    detail::expects(sink.extent >= segments, "segmented_reduce: out has ", sink.extent,
                    " places, offsets has ", offset.extent, " items for ", segments, " segments");
    detail::expects_memory(source, "segmented_reduce", "in");
    detail::expects_memory(offset, "segmented_reduce", "offsets");
    detail::expects_memory(sink, "segmented_reduce", "out");
    detail::expects_no_partial_overlap(source, sink, "segmented_reduce", "in", "out", false);
    detail::expects_no_partial_overlap(offset, sink, "segmented_reduce", "offsets", "out", false);
    const item_count n = kernels::count_of<Exec>(segments, options, "segmented_reduce");
    if (segments == 0) return;
    using backend = backend_of<Exec>;
    using kernel = kernels::segmented_reduce_kernel<
        std::decay_t<decltype(source)>, std::decay_t<decltype(offset)>,
        std::decay_t<decltype(sink)>, std::decay_t<decltype(combine)>, T>;
    using whole = typename kernel::template tile<team_t<Exec, typename kernel::policy>>::whole;
    const workspace_size need =
        lanewise::segmented_reduce_workspace<T, Exec>(source.extent, segments);
    auto work = call_workspace::make<backend>(exec, options.work, need, "segmented_reduce");
    const auto chain = work.get().template make_look_back_chain<typename kernel::state>(0);
    status* const errors = kernels::errors_of<Exec>(options, work.get());
    if constexpr (whole::most_beyond > 0) {
      using kernel_of_few = kernels::segmented_reduce_kernel<
          std::decay_t<decltype(source)>, std::decay_t<decltype(offset)>,
          std::decay_t<decltype(sink)>, std::decay_t<decltype(combine)>, T, true>;
      const std::int64_t resident = backend::template resident_league<kernel_of_few>(
          exec, std::numeric_limits<std::int64_t>::max());
      const detail::range_shares equal = whole::equal_shares(segments, source.extent, resident);
      if (equal.ranges > 0) {
        const std::int64_t league = Kokkos::max(need.tickets, divide_up(segments, equal.ranges));
        lanewise::launch(
            exec, "Lanewise::segmented_reduce", Kokkos::min(league, resident),
            kernel_of_few{source, offset, sink, combine, first, n, chain, errors, equal});
        return;
      }
    }
    lanewise::launch(exec, "Lanewise::segmented_reduce",
                     backend::template resident_league<kernel>(exec, need.tickets),
                     kernel{source, offset, sink, combine, first, n, chain, errors});
  }
}

namespace kernels {

/// The begins of segments of equal lengths, as far as there are items.
struct equal_offsets {
  std::int64_t length;
  std::int64_t extent;
  LANEWISE_FUNCTION std::int64_t operator()(std::int64_t s) const {
    const std::int64_t first = s * length;
    return first < extent ? first : extent;
  }
};

}  // namespace kernels

/// Overload for segments of `length` items each, the last one of what is left: segment s has items
/// [s length, (s+1) length) of in. No offsets are read. Throws where length is less than 1.
template <execution_space Exec, class In, std::integral Length, class Out, class Op, class Init>
void segmented_reduce(const Exec& exec, const In& in, const Length& length, const Out& out,
                      const Op& op, const Init& init, const checked_options& options = {}) {
  const std::int64_t extent = detail::as_source<Exec>(in).extent;
  const std::int64_t each = kernels::length_of_segments(length, extent, "segmented_reduce");
  const std::int64_t segments = divide_up(extent, each);
  const std::int64_t places = detail::as_sink<Exec>(out).extent;
  detail::expects(places >= segments, "segmented_reduce: out has ", places, " places, in has ",
                  extent, " items for ", segments, " segments of ", each);
  lanewise::segmented_reduce(exec, in,
                             generated(segments + 1, kernels::equal_offsets{each, extent}), out, op,
                             init, options);
}

namespace kernels {

/// Segments that have nothing to do with each other. A team looks at a window with a segment for
/// each lane of a warp, or fewer. So few segments keep all teams busy, too. Its warps take the
/// short ones in turn, and all of them the long ones one after the other.
template <class Source, class Begins, class Ends, class Sink, class Op, class T>
struct separate_segments_kernel {
  struct policy : launch_policy {
    static constexpr int items_per_lane = sizeof(T) > 16
                                              ? 4
                                              : (sizeof(T) > 8 ? 8 : (sizeof(T) > 4 ? 16 : 32));
    static constexpr int teams_per_multiprocessor = 3;
    static constexpr int host_teams_per_thread = 16;
  };

  template <class Team>
  struct scratch {
    reduce_scratch<Team, T> reduce;
  };

  Source in;
  Begins begins;
  Ends ends;
  Sink out;
  Op op;
  T init;
  item_count n;
  status* errors;
  std::int64_t window;  // segments

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using warp_type = typename Team::warp_type;
    // A team of one warp has no other warp to share with.
    constexpr std::int64_t most_of_a_warp = Team::warps > 1 ? 16 * warp_type::width : 0;
    const std::int64_t count = n();
    const auto warp = team.warp();
    lanewise::for_each_tile(team, divide_up(count, window), [&](std::int64_t number) {
      const std::int64_t first = number * window;
      const int here = static_cast<int>(count - first < window ? count - first : window);
      const auto begin = offsets_of(warp, begins, first, here);
      const auto end = offsets_of(warp, ends, first, here);
      const auto bad =
          warp.ballot(warp.map(
                          [extent = in.extent](std::int64_t b, std::int64_t e) -> std::uint32_t {
                            return kernels::is_bad_segment(b, e, extent) ? 1 : 0;
                          },
                          begin, end) != 0u);
      if (bad != 0 && errors != nullptr && team.warp_index() == 0)
        warp.fetch_add(errors->bad_items, std::uint64_t(warp_type::popcount(bad)));
      for (int s = 0; s < here; ++s) {
        const std::int64_t b = warp.broadcast(begin, s);
        const std::int64_t e = (bad >> s & 1) != 0 ? b : warp.broadcast(end, s);
        if (e - b > most_of_a_warp) {
          const maybe<T> sum = lanewise::reduce_range<T, policy>(team, shared.reduce, in, b, e, op);
          team.once([&] { out(first + s, op(init, sum.value)); });
          team.barrier();
        } else if (s % Team::warps == team.warp_index()) {
          const T sum = fold(warp, b, e);
          warp.once([&] { out(first + s, sum); });
        }
      }
    });
  }

 private:
  template <class W, class Offsets>
  static LANEWISE_FUNCTION auto offsets_of(const W& warp, const Offsets& offsets,
                                           std::int64_t first, int here) {
    return warp.map(
        warp.first(here),
        [&](std::uint32_t l) { return static_cast<std::int64_t>(offsets(first + l)); },
        std::int64_t{0}, warp.lane());
  }

  /// init op the items [begin, end), by one warp.
  template <class W>
  LANEWISE_FUNCTION T fold(const W& warp, std::int64_t begin, std::int64_t end) const {
    T sum = init;
    for (std::int64_t i = begin; i < end; i += W::width) {
      const int here = static_cast<int>(end - i < W::width ? end - i : W::width);
      const auto items = warp.map(
          warp.first(here), [&](std::uint32_t l) { return in(i + l); }, T{}, warp.lane());
      sum = op(sum, warp.reduce(items, op, here));
    }
    return sum;
  }
};

}  // namespace kernels

/// Writes out(s) = init op in(begins(s)) op ... op in(ends(s) - 1) for every segment s in
/// [0, begins.extent), and init where a segment is empty.
///
/// Segments may come in any order, leave gaps and overlap. op is an associative function object on
/// the type of init, or on A where it is accumulate_as<A>(op); it need not commute and needs no
/// identity. in, begins and ends are contiguous rank-1 Views or sources, begins and ends of
/// integers and of equal extent; out is a View or a sink with a place for every segment, and
/// overlaps none of them. options.count is the number of segments. One launch, no workspace;
/// O(items + segments) work, items being those of all segments. Teams take equally many segments
/// whatever their lengths, and on devices their warps up to 512 items each. So the call takes as
/// long as the team with the longest segments: segments that lie one after the other are better
/// given by offsets. A source's functor is called once per item and segment that has it, those of
/// begins and ends once per warp of a team. Floating-point sums do not depend on the number of
/// teams. A segment that begins after its end, or whose ends do not lie in [0, n], has the result
/// init; n is in's extent. It is counted in options.errors, else in options.work. Does not block.
/// Throws std::invalid_argument on wrong extents, overlap, or an option that cannot be reached.
/// (Merrill, 3.4.)
template <execution_space Exec, class In, class Begins, class Ends, class Out, class Op, class Init>
void segmented_reduce(const Exec& exec, const In& in, const Begins& begins, const Ends& ends,
                      const Out& out, const Op& op, const Init& init,
                      const checked_options& options = {}) {
  if constexpr (detail::check_reduction<Exec, In, Op, Init>() &&
                detail::check_combined<Exec, detail::accumulated<Op, Init>,
                                       detail::sink_of<Exec, Out>, detail::says_type<Op>>()) {
    using T = detail::accumulated<Op, Init>;
    const auto combine = detail::without_accumulation(op);
    const auto source = detail::as<T>(detail::as_source<Exec>(in));
    const auto begin = detail::as_source<Exec>(begins);
    const auto end = detail::as_source<Exec>(ends);
    const auto sink = detail::as_sink<Exec>(out);
    static_assert(std::is_integral_v<typename decltype(begin)::value_type> &&
                      std::is_integral_v<typename decltype(end)::value_type>,
                  "lanewise::segmented_reduce: begins and ends are integers");
    detail::expects(end.extent == begin.extent, "segmented_reduce: ends has ", end.extent,
                    " items, begins has ", begin.extent);
    detail::expects(sink.extent >= begin.extent, "segmented_reduce: out has ", sink.extent,
                    " places, begins has ", begin.extent, " items");
    detail::expects_memory(source, "segmented_reduce", "in");
    detail::expects_memory(begin, "segmented_reduce", "begins");
    detail::expects_memory(end, "segmented_reduce", "ends");
    detail::expects_memory(sink, "segmented_reduce", "out");
    detail::expects_no_partial_overlap(source, sink, "segmented_reduce", "in", "out", false);
    detail::expects_no_partial_overlap(begin, sink, "segmented_reduce", "begins", "out", false);
    detail::expects_no_partial_overlap(end, sink, "segmented_reduce", "ends", "out", false);
    const item_count n = kernels::count_of<Exec>(begin.extent, options, "segmented_reduce");
    if (begin.extent == 0) return;
    using backend = backend_of<Exec>;
    using kernel = kernels::separate_segments_kernel<
        std::decay_t<decltype(source)>, std::decay_t<decltype(begin)>, std::decay_t<decltype(end)>,
        std::decay_t<decltype(sink)>, std::decay_t<decltype(combine)>, T>;
    // Bad segments are counted here if there is no status.
    auto work = call_workspace::make<backend>(exec, options.work, {}, "segmented_reduce");
    const std::int64_t resident = backend::template resident_league<kernel>(exec, begin.extent);
    const std::int64_t window =
        Kokkos::min(lanewise::divide_up(begin.extent, resident), std::int64_t{warp_t<Exec>::width});
    lanewise::launch(
        exec, "Lanewise::segmented_reduce",
        backend::template league_for_tiles<kernel>(exec, lanewise::divide_up(begin.extent, window)),
        kernel{source, begin, end, sink, combine, static_cast<T>(init), n,
               kernels::errors_of<Exec>(options, work.get()), window});
  }
}

LANEWISE_END_TARGET_NAMESPACE
