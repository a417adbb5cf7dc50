// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/non_overlapping.hpp>
#include <lanewise/sorted_search.hpp>
#include <lanewise/string_search.hpp>
#include <lanewise/transform.hpp>
#include <lanewise/unique.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace lanegrep {

/// Places in a chunk, which is shorter than 2^32 bytes.
using place = std::uint32_t;

/// What is printed: a line, or a match in it. Bytes [begin, end) of the chunk, of its line number
/// `line` from 0 on.
struct selected {
  place line, begin, end;
};

/// Line i of those whose numbers and ends are given.
template <class Places>
struct whole_line {
  Places line, ends;
  LANEWISE_FUNCTION selected operator()(std::int64_t i) const {
    const place l = line(i);
    return {l, l == 0 ? 0 : ends(l - 1) + 1, ends(l)};
  }
};
/// Match i.
template <class Places>
struct match_in_line {
  Places line, places;
  place length;
  LANEWISE_FUNCTION selected operator()(std::int64_t i) const {
    return {line(i), places(i), places(i) + length};
  }
};

/// Finds the lines of chunks of text in which a pattern occurs.
template <class Exec>
class line_search {
  using memory = typename Exec::memory_space;
  using places = Kokkos::View<place*, memory>;

 public:
  explicit line_search(const lanewise::pattern<memory>& searched) : searched_(searched) {}

  /// Takes a chunk of whole lines, each with its line feed, which is there until the next one
  /// comes.
  void load(std::string_view text) {
    const Kokkos::View<const char*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> from(text.data(),
                                                                                     text.size());
    if constexpr (std::is_same_v<memory, Kokkos::HostSpace>) {
      text_ = from;
    } else {
      if (room_.extent(0) < text.size()) Kokkos::realloc(room_, text.size());
      const auto to = Kokkos::subview(room_, Kokkos::make_pair(std::size_t{0}, text.size()));
      Kokkos::deep_copy(exec_, to, from);
      text_ = to;
    }
    are_lines_known_ = false;
  }
  /// How many lines the chunk has.
  std::int64_t lines() {
    know_lines();
    return static_cast<std::int64_t>(ends_.extent(0));
  }
  /// How many of them have a match.
  std::int64_t matching_lines() {
    matches_ = find(searched_, matches_room_);
    find_lines_of_matches();
    return matches_.extent(0) == 0 ? 0
                                   : lanewise::unique(exec_, lines_of_matches_, lines_of_matches_);
  }
  /// These lines, on the host.
  auto select_lines() {
    const std::int64_t n = matching_lines();
    return on_host(n, whole_line<places>{lines_of_matches_, ends_});
  }
  /// The matches from left to right that do not overlap, on the host.
  auto select_matches() {
    matches_ = find(searched_, matches_room_);
    const auto m = static_cast<place>(searched_.size());
    const std::int64_t n =
        matches_.extent(0) == 0
            ? 0
            : lanewise::select_non_overlapping(exec_, matches_, m, matches_, {.work = &work_});
    matches_ = Kokkos::subview(matches_, Kokkos::make_pair(std::int64_t{0}, n));
    find_lines_of_matches();
    return on_host(n, match_in_line<places>{lines_of_matches_, matches_, m});
  }

 private:
  /// All places of a pattern in the chunk, in a View that grows if they are too many.
  places find(const lanewise::pattern<memory>& searched, places& room) {
    std::int64_t n = lanewise::find_all(exec_, text_, searched, room, {.work = &work_});
    if (n > static_cast<std::int64_t>(room.extent(0))) {
      Kokkos::realloc(room, static_cast<std::size_t>(n + n / 4));
      n = lanewise::find_all(exec_, text_, searched, room, {.work = &work_});
    }
    return Kokkos::subview(room, Kokkos::make_pair(std::int64_t{0}, n));
  }
  void know_lines() {
    if (!are_lines_known_) ends_ = find(line_feed_, ends_room_);
    are_lines_known_ = true;
  }
  /// A match is in the line whose end is the first behind it.
  void find_lines_of_matches() {
    const auto n = matches_.extent(0);
    if (lines_room_.extent(0) < n) Kokkos::realloc(lines_room_, n + n / 4);
    lines_of_matches_ = Kokkos::subview(lines_room_, Kokkos::make_pair(std::size_t{0}, n));
    if (n == 0) return;
    know_lines();
    lanewise::lower_bound(exec_, ends_, matches_, lines_of_matches_, lanewise::less{},
                          {.sorted_queries = true});
  }
  template <class F>
  auto on_host(std::int64_t n, const F& f) {
    const Kokkos::View<selected*, memory> all("lanegrep::selected", static_cast<std::size_t>(n));
    if (n > 0) lanewise::transform(exec_, lanewise::generated(n, f), all, lanewise::identity{});
    exec_.fence();
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), all);
  }

  Exec exec_{};
  lanewise::pattern<memory> searched_, line_feed_{"\n"};
  lanewise::workspace work_;
  Kokkos::View<char*, memory> room_;
  Kokkos::View<const char*, memory, Kokkos::MemoryUnmanaged> text_;
  places matches_room_{"lanegrep::matches", 1 << 16}, ends_room_{"lanegrep::ends", 1 << 16},
      lines_room_, matches_, ends_, lines_of_matches_;
  bool are_lines_known_ = false;
};

}  // namespace lanegrep
