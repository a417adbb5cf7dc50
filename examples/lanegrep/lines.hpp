// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/search/sorted_search.hpp>
#include <lanewise/select/select.hpp>
#include <lanewise/select/unique.hpp>
#include <lanewise/sequence/transform.hpp>
#include <lanewise/strings/non_overlapping.hpp>
#include <lanewise/strings/string_search.hpp>
#include <lanewise/strings/string_set_search.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

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
/// The length of match i, which is of pattern id(i).
template <class Places>
struct length_of_match {
  Places id, lengths;
  LANEWISE_FUNCTION place operator()(std::int64_t i) const { return lengths(id(i)); }
};
/// Match i.
template <class Places>
struct match_in_line {
  Places line, places;
  length_of_match<Places> length;
  LANEWISE_FUNCTION selected operator()(std::int64_t i) const {
    return {line(i), places(i), places(i) + length(i)};
  }
};

/// Finds the lines of chunks of text in which any of some patterns occurs.
template <class Exec>
class line_search {
  using memory = typename Exec::memory_space;
  using places = Kokkos::View<place*, memory>;

 public:
  line_search(const std::vector<std::string>& patterns, bool fold_case)
      : lengths_("lanegrep::lengths", patterns.size()) {
    if (patterns.size() == 1) {
      one_.emplace(patterns.front(), lanewise::pattern_options{.fold_case = fold_case});
    } else {
      many_.emplace(patterns, lanewise::pattern_options{.fold_case = fold_case});
    }
    const auto lengths = Kokkos::create_mirror_view(lengths_);
    for (std::size_t i = 0; i < patterns.size(); ++i)
      lengths(i) = static_cast<place>(patterns[i].size());
    Kokkos::deep_copy(lengths_, lengths);
  }

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
    find_matches();
    find_lines_of_matches();
    return matches_.extent(0) == 0 ? 0
                                   : lanewise::unique(exec_, lines_of_matches_, lines_of_matches_);
  }
  /// These lines, on the host.
  auto select_lines() {
    const std::int64_t n = matching_lines();
    return on_host(n, whole_line<places>{lines_of_matches_, ends_});
  }
  /// The matches from left to right that do not overlap, on the host: if several begin at one
  /// place, the longest.
  auto select_matches() {
    find_matches();
    drop_overlapping();
    find_lines_of_matches();
    return on_host(static_cast<std::int64_t>(matches_.extent(0)),
                   match_in_line<places>{lines_of_matches_, matches_, {ids_, lengths_}});
  }

 private:
  /// The places where patterns begin, and the id of the longest one there.
  void find_matches() {
    std::int64_t n = find_all(matches_room_, ids_room_);
    if (n > static_cast<std::int64_t>(matches_room_.extent(0))) {
      Kokkos::realloc(matches_room_, static_cast<std::size_t>(n + n / 4));
      Kokkos::realloc(ids_room_, static_cast<std::size_t>(n + n / 4));
      n = find_all(matches_room_, ids_room_);
    }
    keep(n);
  }
  /// Returns how many there are, whether all have room or not.
  std::int64_t find_all(places& room, places& ids) {
    if (one_) {
      lanewise::find_all(exec_, text_, *one_, room, number_, {.work = &work_});
    } else {
      lanewise::find_longest(exec_, text_, *many_, room, ids, number_, {.work = &work_});
    }
    return number_on_host();
  }
  std::int64_t find_ends() {
    lanewise::find_all(exec_, text_, line_feed_, ends_room_, number_, {.work = &work_});
    return number_on_host();
  }
  std::int64_t number_on_host() const {
    std::int64_t n = 0;
    Kokkos::deep_copy(exec_, n, number_);
    return n;
  }
  void keep(std::int64_t n) {
    const auto front = Kokkos::make_pair(std::int64_t{0}, n);
    matches_ = Kokkos::subview(matches_room_, front);
    ids_ = Kokkos::subview(ids_room_, front);
  }
  void drop_overlapping() {
    const auto n = static_cast<std::int64_t>(matches_.extent(0));
    if (n == 0) return;
    const Kokkos::View<std::uint8_t*, memory> flags("lanegrep::flags", matches_.extent(0));
    lanewise::mark_non_overlapping(exec_, matches_,
                                   lanewise::generated(n, length_of_match<places>{ids_, lengths_}),
                                   flags, {.work = &work_});
    keep(lanewise::select_flagged(exec_, lanewise::zipped(matches_, ids_), flags,
                                  lanewise::unzipped(matches_, ids_), {.work = &work_}));
  }
  void know_lines() {
    if (are_lines_known_) return;
    std::int64_t n = find_ends();
    if (n > static_cast<std::int64_t>(ends_room_.extent(0))) {
      Kokkos::realloc(ends_room_, static_cast<std::size_t>(n + n / 4));
      n = find_ends();
    }
    ends_ = Kokkos::subview(ends_room_, Kokkos::make_pair(std::int64_t{0}, n));
    are_lines_known_ = true;
  }
  /// A match is in the line whose end is the first after it.
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
  std::optional<lanewise::pattern<memory>> one_;
  std::optional<lanewise::pattern_set<memory>> many_;
  places lengths_;  // of the patterns
  lanewise::pattern<memory> line_feed_{"\n"};
  lanewise::workspace work_;
  Kokkos::View<std::int64_t, memory> number_{"lanegrep::number"};  // of what is found
  Kokkos::View<char*, memory> room_;
  Kokkos::View<const char*, memory, Kokkos::MemoryUnmanaged> text_;
  places matches_room_{"lanegrep::matches", 1 << 16}, ids_room_{"lanegrep::ids", 1 << 16},
      ends_room_{"lanegrep::ends", 1 << 16}, lines_room_, matches_, ids_, ends_, lines_of_matches_;
  bool are_lines_known_ = false;
};

}  // namespace lanegrep
