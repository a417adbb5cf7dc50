// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/allocate.hpp>
#include <lanewise/detail/open_sum.hpp>

#include <limits>

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

/// Segments by their offsets, as the path through them sees it: segment r ends in front of item
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
    const auto b = static_cast<std::uint64_t>(begin), e = static_cast<std::uint64_t>(end);
    return b > e || e > static_cast<std::uint64_t>(extent);  // also what is negative
  }

 private:
  LANEWISE_FUNCTION std::int64_t within(std::int64_t i) const {
    return i < 0 ? 0 : (i < extent ? i : extent);
  }
};

/// Every team takes pieces of the path through the segments' ends and their items: on devices one,
/// on the host tiles of it. What a piece leaves open goes to the next one through the chain. Or,
/// where there are few and all teams see that equally many have about equally many items, so many
/// segments as they are: by a kernel of its own, for what it has more in it costs the other 1 us
/// (H200, 2^24 items).
template <class Source, class Offsets, class Sink, class Op, class T, bool are_few = false>
struct segmented_reduce_kernel {
  struct policy : launch_policy {
    static constexpr int items_per_lane = sizeof(T) > 16
                                              ? 4
                                              : (sizeof(T) > 8 ? 8 : (sizeof(T) > 4 ? 16 : 32));
    static constexpr int teams_per_multiprocessor = 3;
  };
  using state = detail::open_sum<T>;

  template <class Team>
  using tile = typename Team::template sums<T, policy>;
  template <class Team>
  struct scratch {
    typename tile<Team>::scratch sums;
    chain_scratch<state> link;
  };

  Source in;
  Offsets offsets;
  Sink out;
  Op op;
  T init;
  item_count n;
  chain<state> link;
  status* errors;
  detail::range_shares equal{};  // of few segments

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const offset_ranges<Offsets> ranges(offsets, in.extent, n());
    if constexpr (are_few) {
      std::uint64_t bad = 0;
      if (tile<Team>::whole::reduce(team, shared.sums.apart, ranges, equal, in, out, init, op,
                                    bad)) {
        count_bad(team, bad);
        return;
      }
    }
    const std::int64_t path = tile<Team>::path(ranges.count, ranges.items);
    const std::int64_t pieces = tile<Team>::pieces(path, team.league());
    for_each_ticket(team, link, static_cast<std::uint32_t>(pieces), shared.link, [&](auto mine) {
      tile<Team> sums(team, shared.sums, ranges, even_share(path, mine.ticket, pieces));
      sums.reduce(ranges, in, out, init, op);
      count_bad(team, sums.bad());
      const maybe<state> front = exchange(team, link, mine, shared.link, sums.total(),
                                          detail::join_sums<T, Op>{op}, maybe<state>{{}, false});
      sums.write_first(out, front, init, op);
    });
  }

  template <class Team>
  LANEWISE_FUNCTION void count_bad(const Team& team, std::uint64_t bad) const {
    if (bad != 0 && errors != nullptr) team.warp().fetch_add(errors->bad_items, bad);
  }
};

}  // namespace kernels

/// The workspace that segmented_reduce needs for n items combined as T in so many segments. Needs
/// no device.
template <class T, class Exec>
workspace_size segmented_reduce_workspace(std::int64_t n, std::int64_t segments) {
  using kernel = kernels::segmented_reduce_kernel<
      array_source<T, identity>, array_source<std::int64_t, identity>, array_sink<T>, plus, T>;
  using policy = typename kernel::policy;
  using sums = typename team_t<Exec, policy>::template sums<T, policy>;
  const std::int64_t tiles = divide_up(sums::path(segments, n), sums::steps);
  return {tiles, chain<typename kernel::state>::payload_bytes(tiles)};
}

/// Writes out(s) = init op in(offsets(s)) op ... op in(offsets(s+1) - 1) for every segment s in
/// [0, offsets.extent - 1), and init where a segment is empty.
///
/// op is an associative function object on the type of init; it need not commute and needs no
/// identity. in and offsets are contiguous rank-1 Views or sources, offsets of integers that do not
/// decrease and lie in [0, n], n being in's extent; out is a View or a sink with a place for every
/// segment, and overlaps neither. Items in front of the first offset and behind the last belong to
/// no segment. options.count is the number of segments. One launch and one pass over the path
/// through segments' ends and items, of which every team gets an equal piece, so the segments'
/// lengths do not matter; on devices, where segments are few and lie evenly, teams take equally
/// many. O(n + segments) work; items are read once, offsets once, and more often
/// from cache; one write per segment. A source's functor is called once per item. Floating-point
/// sums depend on the number of teams. A segment that begins behind its end, or whose ends do not
/// lie in [0, n], is counted in options.errors, else in options.work; then the results are
/// unspecified. Does not block. Throws std::invalid_argument on wrong extents, overlap, or an
/// option that cannot be reached. (Merrill, 3.4; the pieces of the path are those of Merrill and
/// Garland's merge-based sparse matrix-vector product, with look-back instead of a second kernel.)
template <class Exec, class In, class Offsets, class Out, class Op, class T>
void segmented_reduce(const Exec& exec, const In& in, const Offsets& offsets, const Out& out,
                      const Op& op, const T& init, const checked_options& with = {}) {
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
  const item_count n = kernels::count_of<Exec>(segments, with, "segmented_reduce");
  if (segments == 0) return;
  using backend = backend_of<Exec>;
  using kernel = kernels::segmented_reduce_kernel<std::decay_t<decltype(source)>,
                                                  std::decay_t<decltype(offset)>,
                                                  std::decay_t<decltype(sink)>, Op, T>;
  using whole = typename kernel::template tile<team_t<Exec, typename kernel::policy>>::whole;
  const workspace_size need = segmented_reduce_workspace<T, Exec>(source.extent, segments);
  auto work = call_workspace::make<backend>(exec, with.work, need, "segmented_reduce");
  const auto link = work.get().template make_chain<typename kernel::state>(0);
  status* const errors = kernels::errors_of<Exec>(with, work.get());
  if constexpr (whole::most_beyond > 0) {
    using kernel_of_few =
        kernels::segmented_reduce_kernel<std::decay_t<decltype(source)>,
                                         std::decay_t<decltype(offset)>,
                                         std::decay_t<decltype(sink)>, Op, T, true>;
    const std::int64_t resident = backend::template resident_league<kernel_of_few>(
        exec, std::numeric_limits<std::int64_t>::max());
    const detail::range_shares equal = whole::equal_shares(segments, source.extent, resident);
    if (equal.ranges > 0) {
      const std::int64_t league = Kokkos::max(need.tickets, divide_up(segments, equal.ranges));
      launch(exec, "Lanewise::segmented_reduce", Kokkos::min(league, resident),
             kernel_of_few{source, offset, sink, op, init, n, link, errors, equal});
      return;
    }
  }
  launch(exec, "Lanewise::segmented_reduce",
         backend::template resident_league<kernel>(exec, need.tickets),
         kernel{source, offset, sink, op, init, n, link, errors});
}

LANEWISE_END_TARGET_NAMESPACE
