// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/strings/detail/mismatch_block.hpp>
#include <lanewise/strings/string_search.hpp>

#include <string_view>

// Finds the places where a pattern occurs in a text but for a few bytes: by Hamming distance, as
// primers and adapters are looked for in reads.

LANEWISE_BEGIN_NAMESPACE

/// A pattern in which some bytes may differ: made once, used on many texts.
///
/// It is cut into most + 1 parts of equal length: wherever the pattern is near, one part is in the
/// text as it is. So the longer the parts, the fewer places are compared: if all have ten bytes
/// without wildcards they are looked for at every word, else at every byte. Memory as pattern.
template <class MemorySpace>
class mismatch_pattern {
 public:
  using memory_space = MemorySpace;
  /// The greatest number of bytes that may differ.
  static constexpr int most_mismatches = detail::mismatch_windows::most_parts - 1;

  /// O(m). Throws std::invalid_argument where `most` is negative, more than most_mismatches or no
  /// fewer than the bytes, and as pattern does. **Blocks.**
  mismatch_pattern(std::string_view bytes, int most, const pattern_options& options = {})
      : whole_(bytes, options), most_(most) {
    detail::expects(most >= 0 && most <= most_mismatches, "mismatch_pattern: most is ", most,
                    ", it may be 0 to ", most_mismatches);
    detail::expects(most < whole_.size(), "mismatch_pattern: most is ", most, ", the pattern has ",
                    whole_.size(), " bytes");
    std::vector<detail::pattern_bytes> parts;
    const auto all = static_cast<std::size_t>(most) + 1;
    for (std::size_t p = 0; p < all; ++p) {
      const auto begin = bytes.size() * p / all, end = bytes.size() * (p + 1) / all;
      parts.emplace_back(bytes.substr(begin, end - begin), options);
    }
    windows_ = detail::windows_of(parts);
  }

  std::int64_t size() const { return whole_.size(); }
  int most() const { return most_; }
  std::string_view bytes() const { return whole_.bytes(); }
  /// A copy in another memory space. **Blocks.**
  template <class Other>
  mismatch_pattern<Other> copy_to() const {
    return mismatch_pattern<Other>(whole_.bytes(), most_, whole_.options());
  }
  detail::mismatch_pattern_view view() const { return {whole_.view(), most_, windows_}; }

 private:
  pattern<MemorySpace> whole_;
  int most_;
  detail::mismatch_windows windows_;
};

LANEWISE_END_NAMESPACE

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// Counts the places where few enough bytes differ.
struct mismatch_count_kernel {
  struct policy : search_policy {};
  template <class Team>
  using scratch = typename mismatch_block<Team>::scratch;

  mismatch_searcher search;
  std::int64_t* result;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const auto warp = team.warp();
    typename mismatch_block<Team>::words number(0u);
    const std::int64_t pieces = mismatch_block<Team>::pieces(search.text.n);
    for (std::int64_t p = team.index(); p < pieces; p += team.league())
      mismatch_block<Team>(team, shared, search, p)
          .find([&](int, std::int64_t, const auto& bits)
                    LANEWISE_INLINE_LAMBDA { number = number + detail::bits_set(warp, bits); });
    const std::uint64_t all = warp.reduce(number, plus{});
    if (all != 0) warp.fetch_add(*reinterpret_cast<std::uint64_t*>(result), all);
  }
};

/// Writes the places where few enough bytes differ, in order: as search_places_kernel.
template <class Sink>
struct mismatch_places_kernel {
  struct policy : search_policy {};
  template <class Team>
  using found_by = found_places<Team, mismatch_block<Team>>;
  template <class Team>
  using scratch = decoupled_look_back_scratch<Team, std::int64_t, found_by<Team>>;

  mismatch_searcher search;
  Sink places;
  look_back_chain<std::int64_t> link;
  detail::integers number;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const auto pieces = static_cast<std::uint32_t>(mismatch_block<Team>::pieces(search.text.n));
    std::int64_t mine = 0;
    lanewise::decoupled_look_back(
        team, link, pieces, shared, plus{}, maybe<std::int64_t>{0, true},
        [&](std::uint32_t ticket, auto& place) LANEWISE_INLINE_LAMBDA {
          return found_by<Team>(team, place,
                                mismatch_block<Team>(team, place.piece, search, ticket));
        },
        [&](auto& found) LANEWISE_INLINE_LAMBDA { return mine = found.total(); },
        [&](auto& found, std::uint32_t ticket, const maybe<std::int64_t>& before)
            LANEWISE_INLINE_LAMBDA {
              found.store(places, before.value);
              if (ticket + 1 == pieces) team.once([&] { number.put(0, before.value + mine); });
            });
  }
};

/// What the workspace of a search with mismatches holds.
template <class Exec>
struct mismatch_workspace : workspace_arrays {
  explicit mismatch_workspace(std::int64_t n)
      : workspace_arrays(
            {pieces_of(n), look_back_chain<std::int64_t>::payload_bytes(pieces_of(n))}),
        passed_at(add<std::uint32_t>(mismatch_searcher::steps<warp_t<Exec>>(n))) {}
  static std::int64_t pieces_of(std::int64_t n) {
    return mismatch_block<team_t<Exec, search_policy>>::pieces(n);
  }

  std::size_t passed_at;
};

/// Runs the filter, and gives what the kernel after it needs.
template <class Exec>
mismatch_searcher filtered(const Exec& exec, const detail::text_bytes& text,
                           const detail::mismatch_pattern_view& what,
                           const mismatch_workspace<Exec>& memory, const workspace& work) {
  const int of_turn = text_cuts::make<warp_t<Exec>>(text.n, true).of_word;
  const mismatch_searcher search{
      {text.data, text.n},
      what,
      workspace_arrays::view<std::uint32_t, Exec>(work, memory.passed_at, 1).data(),
      of_turn};
  const std::int64_t teams = lanewise::divide_up(
      mismatch_searcher::steps<warp_t<Exec>>(text.n),
      std::int64_t{of_turn} * team_t<Exec, mismatch_filter_kernel::policy>::warps);
  lanewise::launch(exec, "Lanewise::mismatches::filter",
                   backend_of<Exec>::template resident_league<mismatch_filter_kernel>(exec, teams),
                   mismatch_filter_kernel{search});
  return search;
}

}  // namespace kernels

/// The workspace that count_mismatches and find_mismatches need for a text of n bytes and a pattern
/// that allows up to `most` different bytes: 4 bytes for each KiB, and 24 for each 256 KiB. Needs
/// no device.
template <class Exec>
workspace_size mismatches_workspace(std::int64_t n, int /*most*/) {
  return kernels::mismatch_workspace<Exec>(n).size();
}

/// At how many places of a text up to what.most() bytes of the pattern differ: stored in the rank-0
/// View result. Overlapping places count; bytes that stand for any never differ.
///
/// text as for count (string_search.hpp). Two launches: a filter reads the text once, and the
/// second compares what the filter passes. A lane compares the first 128 bytes of each place, and a
/// warp compares all bytes: O(m) work for each place. These may be all places where parts are
/// short. Does not block.
template <execution_space Exec, class Text, class Memory, class... P>
void count_mismatches(const Exec& exec, const Text& text, const mismatch_pattern<Memory>& what,
                      const Kokkos::View<std::int64_t, P...>& result,
                      const string_search_options& options = {}) {
  const auto bytes = kernels::text_of<Exec>("count_mismatches", text, what);
  std::int64_t* const place = kernels::result_place<Exec>("count_mismatches", result);
  lanewise::launch(exec, "Lanewise::string_search::begin", 1,
                   kernels::search_begin_kernel{place, 0});
  if (bytes.n < what.size()) return;
  const kernels::mismatch_workspace<Exec> memory(bytes.n);
  auto work =
      call_workspace::make<backend_of<Exec>>(exec, options.work, memory.size(), "count_mismatches");
  const auto search = kernels::filtered(exec, bytes, what.view(), memory, work.get());
  using kernel = kernels::mismatch_count_kernel;
  lanewise::launch(exec, "Lanewise::count_mismatches",
                   backend_of<Exec>::template resident_league<kernel>(
                       exec, kernels::mismatch_workspace<Exec>::pieces_of(bytes.n)),
                   kernel{search, place});
}
/// Overload that returns the result. **Blocks.**
template <execution_space Exec, class Text, class Memory>
std::int64_t count_mismatches(const Exec& exec, const Text& text,
                              const mismatch_pattern<Memory>& what,
                              const string_search_options& options = {}) {
  return kernels::blocking_result<std::int64_t>(exec, [&](const auto& result) {
    lanewise::count_mismatches(exec, text, what, result, options);
  });
}

/// These places, in order, and their number in the rank-0 View number. places as for find_all:
/// where it has fewer places than there are results, the first are written; number counts all of
/// them. As count_mismatches.
template <execution_space Exec, class Text, class Memory, class Places, class T, class... P>
void find_mismatches(const Exec& exec, const Text& text, const mismatch_pattern<Memory>& what,
                     const Places& places, const Kokkos::View<T, P...>& number,
                     const string_search_options& options = {}) {
  const auto bytes = kernels::text_of<Exec>("find_mismatches", text, what);
  const auto sink = detail::as_sink<Exec>(places);
  detail::expects_memory(sink, "find_mismatches", "places");
  if constexpr (detail::check_results<Exec, std::int64_t, std::decay_t<decltype(sink)>>()) {
    using kernel = kernels::mismatch_places_kernel<std::decay_t<decltype(sink)>>;
    const auto count = kernels::count_place<Exec>(number, "find_mismatches");
    const kernels::mismatch_workspace<Exec> memory(bytes.n);
    auto work = call_workspace::make<backend_of<Exec>>(exec, options.work, memory.size(),
                                                       "find_mismatches");
    const auto search = kernels::filtered(exec, bytes, what.view(), memory, work.get());
    lanewise::launch(
        exec, "Lanewise::find_mismatches",
        backend_of<Exec>::template league_for_tiles<kernel>(
            exec, kernels::mismatch_workspace<Exec>::pieces_of(bytes.n)),
        kernel{search, sink, work.get().template make_look_back_chain<std::int64_t>(0), count});
  }
}
/// Overload that returns how many there are. **Blocks.** Throws std::length_error where an output
/// has fewer places than there are results: the first are written.
template <execution_space Exec, class Text, class Memory, class Places>
std::int64_t find_mismatches(const Exec& exec, const Text& text,
                             const mismatch_pattern<Memory>& what, const Places& places,
                             const string_search_options& options = {}) {
  return kernels::blocking_number(
      exec, "find_mismatches",
      [&](const auto& number) {
        lanewise::find_mismatches(exec, text, what, places, number, options);
      },
      "places", places);
}

LANEWISE_END_TARGET_NAMESPACE
