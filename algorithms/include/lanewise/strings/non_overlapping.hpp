// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/call/workspace_layout.hpp>
#include <lanewise/select/select.hpp>
#include <lanewise/strings/string_search.hpp>
#include <lanewise/warp/search.hpp>

#include <cmath>
#include <limits>

// From matches that overlap, the selection that a scan from left to right makes: the first one,
// then the first one that begins where it has ended or later, and so on.

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Matches in the order of their positions.
template <class Places, class Lengths>
struct sorted_matches {
  Places place;
  Lengths length;

  LANEWISE_FUNCTION std::int64_t begin(std::int64_t i) const {
    return static_cast<std::int64_t>(place(i));
  }
  LANEWISE_FUNCTION std::int64_t end(std::int64_t i) const {
    constexpr std::int64_t most = 0x7fff'ffff'ffff'ffff;
    const std::int64_t at = begin(i), n = static_cast<std::int64_t>(length(i));
    return n > 0 && at > most - n ? most : at + n;
  }
  /// Returns the first of n matches, from `from` on, that begins at `at` or later. It doubles its
  /// steps, as the match is mostly near.
  LANEWISE_FUNCTION std::int64_t first_after(std::int64_t from, std::int64_t at,
                                             std::int64_t n) const {
    std::int64_t step = 1;
    for (; from + step <= n && begin(from + step - 1) < at; step *= 2) from += step;
    const std::int64_t last = from + step - 1;
    return lanewise::partition_point(from, last < n ? last : n,
                                     [&](std::int64_t i) { return begin(i) < at; });
  }
};

/// One length for all.
struct one_length {
  std::int64_t length;
  LANEWISE_FUNCTION std::int64_t operator()(std::int64_t) const { return length; }
};

}  // namespace detail
LANEWISE_END_NAMESPACE

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// A group of neighbouring matches, which a warp works on row by row. Every match has one that
/// follows it, the first that does not overlap it; the matches that are taken are a path from the
/// first match on. Numbers of matches have 32 bits.
template <class Warp, class Matches>
class match_group {
 public:
  static constexpr int width = Warp::width;
  static constexpr int rows = 4;  ///< loaded at once
  using numbers = lanes_t<Warp, std::uint32_t>;
  using bits = typename Warp::bits;

  LANEWISE_FUNCTION match_group(const Warp& warp, const Matches& matches, std::int64_t n,
                                std::int64_t groups, std::int64_t group)
      : warp_(warp),
        matches_(matches),
        n_(n),
        blocks_(divide_up(divide_up(n, block), groups)),
        first_(group * blocks_ * block) {}

  static LANEWISE_FUNCTION std::int64_t matches_of_group(std::int64_t n, std::int64_t groups) {
    return divide_up(divide_up(n, block), groups) * block;
  }
  /// Sets exit[i] to the first match after the group on the path from match i, or to n.
  LANEWISE_FUNCTION void find_exits(std::uint32_t* exit) const {
    for (std::int64_t b = blocks_ - 1; b >= 0; --b) {
      const std::int64_t at = first_ + b * block;
      if (at >= n_) continue;
      numbers next[rows];
      find_next(at, next);
      LANEWISE_UNROLL
      for (int r = rows - 1; r >= 0; --r) find_exits_of_row(at + r * width, next[r], exit);
    }
  }
  /// Calls put(i, flag) for all matches, those set that are on the path from match `on_path`.
  template <class Put>
  LANEWISE_FUNCTION void mark(std::int64_t on_path, Put put) const {
    for (std::int64_t b = 0; b < blocks_; ++b) {
      const std::int64_t at = first_ + b * block;
      if (at >= n_) return;
      numbers next[rows];
      if (on_path < at + block) find_next(at, next);
      LANEWISE_UNROLL
      for (int r = 0; r < rows; ++r) {
        const std::int64_t row = at + r * width;
        const bits taken = walk(row, next[r], on_path);
        numbers lane = warp_.lane(),
                flag = lanewise::select(warp_.mask_of(taken), numbers(1u), numbers(0u));
        warp_.each(
            exist(row), [&](std::uint32_t l, std::uint32_t f) { put(row + l, f); }, lane, flag);
      }
    }
  }

 private:
  static constexpr std::int64_t block = rows * width;

  LANEWISE_FUNCTION std::int64_t end_of_row(std::int64_t row) const {
    return row + width < n_ ? row + width : n_;
  }
  LANEWISE_FUNCTION auto exist(std::int64_t row) const {
    const std::int64_t left = n_ - row;
    return warp_.first(left);
  }
  /// The matches of a row that are on the path, which goes on after the row then. One step for all
  /// up to the next one that is not followed by its neighbour.
  LANEWISE_FUNCTION bits walk(std::int64_t row, const numbers& next, std::int64_t& on_path) const {
    const std::int64_t end = end_of_row(row);
    if (on_path >= end) return 0;
    constexpr bits all = static_cast<bits>(~bits{0});
    const bits leaps =
        warp_.ballot(next != warp_.lane() + numbers(static_cast<std::uint32_t>(row + 1)));
    bits taken = 0;
    while (on_path < end) {
      const int first = static_cast<int>(on_path - row);
      const bits after = static_cast<bits>(all << first), ahead = leaps & after;
      const int last = ahead != 0 ? Warp::lowest(ahead) : static_cast<int>(end - row) - 1;
      taken |= after & static_cast<bits>(all >> (static_cast<int>(8 * sizeof(bits)) - 1 - last));
      on_path = ahead != 0 ? warp_.broadcast(next, last) : end;
    }
    return taken;
  }
  /// The matches that follow those of some rows: mostly their neighbours.
  LANEWISE_FUNCTION void find_next(std::int64_t at, numbers (&next)[rows]) const {
    lanes_t<Warp, std::int64_t> end[rows], neighbour[rows];
    LANEWISE_UNROLL
    for (int r = 0; r < rows; ++r) {
      const std::int64_t row = at + r * width;
      end[r] = warp_.map(
          exist(row), [&](std::uint32_t l) { return matches_.end(row + l); }, std::int64_t{0},
          warp_.lane());
      neighbour[r] = warp_.map(
          exist(row + 1), [&](std::uint32_t l) { return matches_.begin(row + l + 1); },
          std::int64_t{0}, warp_.lane());
    }
    LANEWISE_UNROLL
    for (int r = 0; r < rows; ++r) {
      const std::int64_t row = at + r * width;
      next[r] = warp_.lane() + numbers(static_cast<std::uint32_t>(row + 1));
      const mask_t<Warp, std::uint32_t> overlaps = neighbour[r] < end[r];
      if (!warp_.any(overlaps & exist(row + 1))) continue;
      const auto after = warp_.map(
          overlaps & exist(row + 1),
          [&](std::uint32_t l, std::int64_t e) {
            return static_cast<std::uint32_t>(matches_.first_after(row + l + 2, e, n_));
          },
          0u, warp_.lane(), end[r]);
      next[r] = lanewise::select(overlaps & exist(row + 1), after, next[r]);
    }
  }
  /// Paths in the row by doubling; after it they are known.
  LANEWISE_FUNCTION void find_exits_of_row(std::int64_t row, numbers v, std::uint32_t* exit) const {
    if (row >= n_) return;
    const numbers begin(static_cast<std::uint32_t>(row));
    const auto end = static_cast<std::uint32_t>(end_of_row(row));
    for (int d = 1; d < width; d *= 2)
      v = lanewise::select(v < end, warp_.shuffle(v, v - begin), v);
    const std::int64_t after = first_ + blocks_ * block;
    const auto inside = exist(row) & (v < static_cast<std::uint32_t>(after < n_ ? after : n_));
    v = lanewise::select(inside, warp_.gather(inside, exit, v, 0u), v);
    warp_.store(exist(row), exit + row, v);
    warp_.fence();
  }

  const Warp& warp_;
  const Matches& matches_;
  std::int64_t n_;
  std::int64_t blocks_;
  std::int64_t first_;
};

/// Calls f(group, number) for the groups of a warp.
template <class Matches, class Team, class F>
LANEWISE_FUNCTION void for_each_match_group(const Team& team, const Matches& matches,
                                            std::int64_t n, std::int64_t groups, F f) {
  const auto warp = team.warp();
  for (std::int64_t g = std::int64_t{team.index()} * Team::warps + team.warp_index(); g < groups;
       g += std::int64_t{team.league()} * Team::warps)
    f(match_group<typename Team::warp_type, Matches>(warp, matches, n, groups, g), g);
}

struct match_policy : launch_policy {
  static constexpr int teams_per_multiprocessor = 3;
};
inline constexpr std::uint32_t no_match = ~0u;

/// The exits of all matches from their groups.
template <class Matches>
struct match_exits_kernel {
  struct policy : match_policy {};
  template <class Team>
  struct scratch {};

  Matches matches;
  item_count number;
  std::int64_t groups;
  std::uint32_t* exit;
  std::uint32_t* entry;  // of every group: none

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    kernels::for_each_match_group(team, matches, number(), groups,
                                  [&](const auto& group, std::int64_t g) {
                                    group.find_exits(exit);
                                    team.warp().once([&] { entry[g] = no_match; });
                                  });
  }
};

/// The path from group to group, step by step.
template <class Warp>
struct match_entries_kernel {
  struct policy : launch_policy {
    static constexpr int warps = 1;
  };
  template <class Team>
  struct scratch {};

  item_count number;
  std::int64_t groups;
  const std::uint32_t* exit;
  std::uint32_t* entry;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    const std::int64_t n = number();
    const std::int64_t each = match_group<Warp, std::nullptr_t>::matches_of_group(n, groups);
    for (std::uint32_t i = 0; i < n; i = exit[i]) team.warp().once([&] { entry[i / each] = i; });
  }
};

/// The path in every group.
template <class Matches, class Sink>
struct match_flags_kernel {
  struct policy : match_policy {};
  template <class Team>
  struct scratch {};

  Matches matches;
  item_count number;
  std::int64_t groups;
  const std::uint32_t* entry;
  Sink flags;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    kernels::for_each_match_group(
        team, matches, number(), groups, [&](const auto& group, std::int64_t g) {
          group.mark(groups == 1 ? 0 : entry[g],
                     [&](std::int64_t i, std::uint32_t flag) { flags(i, flag); });
        });
  }
};

/// The number of groups with which a walk over the groups and one in a group are as long.
inline std::int64_t match_groups(std::int64_t n) {
  return static_cast<std::int64_t>(std::sqrt(static_cast<double>(n) / 32)) + 1;
}

template <class Exec, class Lengths>
auto lengths_of(const Lengths& lengths, std::int64_t n, const char* algorithm) {
  if constexpr (std::is_integral_v<Lengths>) {
    return generated(n, detail::one_length{static_cast<std::int64_t>(lengths)});
  } else {
    const auto source = detail::as_source<Exec>(lengths);
    static_assert(std::is_integral_v<typename decltype(source)::value_type>,
                  "lanewise: lengths are integers");
    detail::expects(source.extent >= n, algorithm, ": lengths has ", source.extent,
                    " items, places has ", n);
    detail::expects_memory(source, algorithm, "lengths");
    return source;
  }
}

template <class Exec, class Places, class Lengths>
auto matches_of(const Places& places, const Lengths& lengths, const char* algorithm) {
  const auto place = detail::as_source<Exec>(places);
  using source = std::decay_t<decltype(place)>;
  static_assert(std::is_integral_v<typename source::value_type>, "lanewise: places are integers");
  detail::expects(place.extent < std::numeric_limits<std::uint32_t>::max(), algorithm,
                  ": places has ", place.extent, " items, the most is 4294967294");
  detail::expects_memory(place, algorithm, "places");
  const auto length = kernels::lengths_of<Exec>(lengths, place.extent, algorithm);
  return detail::sorted_matches<source, std::decay_t<decltype(length)>>{place, length};
}

/// What is kept of n matches, after the workspace of another call: numbers for each, and for each
/// group.
struct match_arrays {
  workspace_layout layout;
  workspace_array<std::uint32_t> exit, entry;

  explicit match_arrays(std::int64_t n, const workspace_size& inner = {})
      : layout(inner),
        exit(layout.add<std::uint32_t>(n)),
        entry(layout.add<std::uint32_t>(match_groups(n))) {}
};

/// Marks the matches. flags may be the exits' own array.
template <class Exec, class Matches, class Sink>
void mark_matches(const Exec& exec, const Matches& matches, const item_count& n,
                  std::uint32_t* exit, std::uint32_t* entry, const Sink& flags) {
  using exits = match_exits_kernel<Matches>;
  using marks = match_flags_kernel<Matches, Sink>;
  constexpr std::int64_t warps = team_t<Exec, match_policy>::warps;
  std::int64_t groups = match_groups(n.bound);
  const std::int64_t teams =
      backend_of<Exec>::template resident_league<exits>(exec, divide_up(groups, warps));
  if (teams * warps == 1) groups = 1;
  if (groups > 1) {
    lanewise::launch(exec, "Lanewise::non_overlapping::exits", teams,
                     exits{matches, n, groups, exit, entry});
    lanewise::launch(exec, "Lanewise::non_overlapping::entries", 1,
                     match_entries_kernel<warp_t<Exec>>{n, groups, exit, entry});
  }
  lanewise::launch(
      exec, "Lanewise::non_overlapping",
      backend_of<Exec>::template resident_league<marks>(exec, divide_up(groups, warps)),
      marks{matches, n, groups, entry, flags});
}

}  // namespace kernels

/// The workspace that mark_non_overlapping needs for up to n matches: 4 bytes each. Needs no
/// device.
inline workspace_size mark_non_overlapping_workspace(std::int64_t n) {
  return kernels::match_arrays(n).layout.size();
}

/// Sets flags(i) to 1 for the matches that a scan from left to right takes, and to 0 for others.
/// Match 0 is taken, then the first match j with places(j) >= places(i) + length(i), and so on.
/// Here i is the match that was taken before. If matches have one position, the first is taken.
///
/// places is a View or source of integers in ascending order, at most 2^32 - 2 of them; lengths an
/// integer, which is that of all matches, or a View or source with one for each. Lengths below 1
/// overlap nothing. flags is a View of integers, or a sink, with as many places. With
/// options::count fewer matches are looked at, and the other flags are not written. Places that are
/// out of order give unspecified flags.
///
/// Three launches (one thread: one). O(n log d) work, where a match overlaps d others after it;
/// the longest chain of dependent steps is O(sqrt(n) log d). Traffic: places and lengths twice or
/// more, 8 bytes a match more. The result is the same on every backend. Does not block.
template <execution_space Exec, class Places, class Lengths, class Flags>
void mark_non_overlapping(const Exec& exec, const Places& places, const Lengths& lengths,
                          const Flags& flags, const call_options& options = {}) {
  constexpr const char* algorithm = "mark_non_overlapping";
  const auto matches = kernels::matches_of<Exec>(places, lengths, algorithm);
  const auto sink = detail::as_sink<Exec>(flags);
  const std::int64_t n = matches.place.extent;
  detail::expects(sink.extent >= n, algorithm, ": flags has ", sink.extent, " places, places has ",
                  n);
  detail::expects_memory(sink, algorithm, "flags");
  if constexpr (detail::check_results<Exec, std::uint32_t, std::decay_t<decltype(sink)>>()) {
    const kernels::match_arrays all(n);
    auto work =
        call_workspace::make<backend_of<Exec>>(exec, options.work, all.layout.size(), algorithm);
    kernels::mark_matches(exec, matches, detail::count_of<Exec>(n, options, algorithm),
                          all.exit.data(work.get()), all.entry.data(work.get()), sink);
  }
}

/// The workspace that select_non_overlapping needs for up to n places of type T: 4 bytes each and
/// those of select_flagged. Needs no device.
template <class T, class Exec>
workspace_size select_non_overlapping_workspace(std::int64_t n) {
  return kernels::match_arrays(n, lanewise::compact_workspace<T, Exec>(n)).layout.size();
}

/// Copies the positions of the matches that mark_non_overlapping marks to the front of out, in
/// order, and stores their number in the rank-0 View number. out may be places itself; otherwise as
/// select_flagged and mark_non_overlapping. number is not options::count. One launch more than the
/// latter.
template <execution_space Exec, class Places, class Lengths, class Out, class T, class... P>
void select_non_overlapping(const Exec& exec, const Places& places, const Lengths& lengths,
                            const Out& out, const Kokkos::View<T, P...>& number,
                            const call_options& options = {}) {
  constexpr const char* algorithm = "select_non_overlapping";
  const auto matches = kernels::matches_of<Exec>(places, lengths, algorithm);
  using place = typename std::decay_t<decltype(matches.place)>::value_type;
  const std::int64_t n = matches.place.extent;
  kernels::count_place<Exec>(number, algorithm);
  const kernels::match_arrays all(n, lanewise::compact_workspace<place, Exec>(n));
  auto work =
      call_workspace::make<backend_of<Exec>>(exec, options.work, all.layout.size(), algorithm);
  const auto flags = all.exit.template view<Exec>(work.get());
  kernels::mark_matches(exec, matches, detail::count_of<Exec>(n, options, algorithm), flags.data(),
                        all.entry.data(work.get()), detail::as_sink<Exec>(flags));
  lanewise::select_flagged(exec, places, flags, out, number,
                           {.work = &work.get(), .count = options.count});
}
/// Overload that returns how many are taken. **Blocks.** Throws std::length_error where an output
/// has fewer places than there are results: the first are written.
template <execution_space Exec, class Places, class Lengths, class Out>
std::int64_t select_non_overlapping(const Exec& exec, const Places& places, const Lengths& lengths,
                                    const Out& out, const call_options& options = {}) {
  return kernels::blocking_number(
      exec, "select_non_overlapping",
      [&](const auto& number) {
        lanewise::select_non_overlapping(exec, places, lengths, out, number, options);
      },
      "out", out);
}

/// The workspace that find_non_overlapping needs for a text of n bytes and a View of `places`
/// places of type T. Needs no device.
template <class T, class Exec>
workspace_size find_non_overlapping_workspace(std::int64_t n, std::int64_t places) {
  return lanewise::max(lanewise::string_search_workspace<Exec>(n),
                       lanewise::select_non_overlapping_workspace<T, Exec>(places));
}

/// Writes the positions where the pattern is found from left to right, each search beginning where
/// the last occurrence ended: find_all and select_non_overlapping in places, a View of integers,
/// which needs room for all occurrences, overlapping ones included.
///
/// The rank-0 View occurrences receives the number of all occurrences, overlapping ones included;
/// number receives how many of them are taken. Where places has fewer items than there are
/// occurrences, the call takes from the first occurrences only. A second call finds the others:
/// give it room for all, or the text after the last occurrence. places after the first `number` are
/// unspecified. Does not block.
template <execution_space Exec, class Text, class Memory, class Places, class T, class... P,
          class O, class... Q>
void find_non_overlapping(const Exec& exec, const Text& text, const pattern<Memory>& what,
                          const Places& places, const Kokkos::View<T, P...>& number,
                          const Kokkos::View<O, Q...>& occurrences,
                          const string_search_options& options = {}) {
  static_assert(Kokkos::is_view_v<Places>, "lanewise: places is a View of integers");
  kernels::count_place<Exec>(number, "find_non_overlapping");
  lanewise::find_all(exec, text, what, places, occurrences, options);
  lanewise::select_non_overlapping(exec, places, what.size(), places, number,
                                   {.work = options.work, .count = occurrences});
}

/// What find_non_overlapping has found.
struct non_overlapping_number {
  std::int64_t number;
  std::int64_t occurrences;  ///< overlapping ones included
};
/// Overload that returns the result. **Blocks.** Throws std::length_error where places has fewer
/// places than there are occurrences: the first are looked at.
template <execution_space Exec, class Text, class Memory, class Places>
non_overlapping_number find_non_overlapping(const Exec& exec, const Text& text,
                                            const pattern<Memory>& what, const Places& places,
                                            const string_search_options& options = {}) {
  non_overlapping_number found{};
  found.number = kernels::blocking_result<std::int64_t>(exec, [&](const auto& number) {
    found.occurrences = kernels::blocking_result<std::int64_t>(exec, [&](const auto& occurrences) {
      lanewise::find_non_overlapping(exec, text, what, places, number, occurrences, options);
    });
  });
  kernels::expects_rooms<Exec>("find_non_overlapping", found.occurrences, "places", places);
  return found;
}

LANEWISE_END_TARGET_NAMESPACE
