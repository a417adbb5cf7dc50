// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/strings/detail/mismatch_block.hpp>
#include <lanewise/strings/string_search.hpp>

#include <string_view>

// Finds the positions where a pattern occurs in a text but for a few bytes (Hamming distance), such
// as primers and adapters in reads.

LANEWISE_BEGIN_NAMESPACE

/// A pattern in which some bytes may differ: made once, used on many texts.
///
/// It is cut into most + 1 fragments of equal length: wherever the pattern is near, one fragment is
/// in the text as it is. So the longer the fragments, the fewer positions are compared. If all have
/// ten bytes without wildcards, the text is searched at every word, else at every byte. Memory as
/// pattern.
template <class MemorySpace>
class mismatch_pattern {
 public:
  using memory_space = MemorySpace;
  /// The greatest number of bytes that may differ.
  static constexpr int most_mismatches = detail::mismatch_windows::most_fragments - 1;

  /// O(m). Throws std::invalid_argument where `most` is negative, more than most_mismatches or no
  /// fewer than the bytes, and as pattern does. **Blocks.**
  mismatch_pattern(std::string_view bytes, int most, const pattern_options& options = {})
      : pattern_(bytes, options), most_(most) {
    detail::expects(most >= 0 && most <= most_mismatches, "mismatch_pattern: most is ", most,
                    ", it may be 0 to ", most_mismatches);
    detail::expects(most < pattern_.size(), "mismatch_pattern: most is ", most,
                    ", the pattern has ", pattern_.size(), " bytes");
    std::vector<detail::pattern_bytes> fragments;
    const auto all = static_cast<std::size_t>(most) + 1;
    for (std::size_t p = 0; p < all; ++p) {
      const auto begin = bytes.size() * p / all, end = bytes.size() * (p + 1) / all;
      fragments.emplace_back(bytes.substr(begin, end - begin), options);
    }
    windows_ = detail::windows_of(fragments);
  }

  std::int64_t size() const { return pattern_.size(); }
  int most() const { return most_; }
  std::string_view bytes() const { return pattern_.bytes(); }
  /// A copy in another memory space. **Blocks.**
  template <class Other>
  mismatch_pattern<Other> copy_to() const {
    return mismatch_pattern<Other>(pattern_.bytes(), most_, pattern_.options());
  }
  detail::mismatch_pattern_view view() const { return {pattern_.view(), most_, windows_}; }

 private:
  pattern<MemorySpace> pattern_;
  int most_;
  detail::mismatch_windows windows_;
};

LANEWISE_END_NAMESPACE

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// A search with mismatches after its filter, with what kernels need (pattern_matches).
struct mismatch_matches : mismatch_searcher {
  template <class Team>
  using block = mismatch_block<Team>;
  using count_policy = search_policy;
  using positions_policy = search_policy;

  std::int64_t blocks;  ///< of the text

  template <class Team>
  LANEWISE_FUNCTION block<Team> block_of(const Team& team, typename block<Team>::scratch& shared,
                                         std::int64_t index) const {
    return block<Team>(team, shared, *this, index);
  }
  LANEWISE_FUNCTION std::int64_t found_before() const { return 0; }
  LANEWISE_FUNCTION void finish(std::int64_t) const {}
};

/// What the workspace of a search with mismatches holds.
template <class Exec>
struct mismatch_workspace : workspace_layout {
  explicit mismatch_workspace(std::int64_t n)
      : workspace_layout(
            {blocks_of(n), look_back_chain<std::int64_t>::payload_bytes(blocks_of(n))}),
        passed(add<std::uint32_t>(mismatch_searcher::steps<warp_t<Exec>>(n))) {}
  static std::int64_t blocks_of(std::int64_t n) {
    return mismatch_block<team_t<Exec, search_policy>>::blocks(n);
  }

  workspace_array<std::uint32_t> passed;
};

template <>
struct matcher_search<detail::mismatch_pattern_view> {
  template <class Exec>
  static void count(const Exec& exec, const detail::text_bytes& text,
                    const detail::mismatch_pattern_view& what, std::int64_t* result,
                    const string_search_options& options) {
    kernels::begin_result(exec, result, 0);
    if (text.n < what.pattern.size) return;
    const mismatch_workspace<Exec> memory(text.n);
    auto work = call_workspace::make<backend_of<Exec>>(exec, options.work, memory.size(),
                                                       "count_mismatches");
    const auto search = filtered(exec, text, what, memory, work.get());
    using kernel = text_count_kernel<mismatch_matches>;
    lanewise::launch(exec, "Lanewise::count_mismatches",
                     backend_of<Exec>::template resident_league<kernel>(exec, search.blocks),
                     kernel{search, result});
  }
  template <class Exec, class Sink>
  static void find_all(const Exec& exec, const char* algorithm, const detail::text_bytes& text,
                       const detail::mismatch_pattern_view& what, const Sink& sink,
                       const detail::integers& number, const string_search_options& options) {
    const mismatch_workspace<Exec> memory(text.n);
    auto work =
        call_workspace::make<backend_of<Exec>>(exec, options.work, memory.size(), algorithm);
    const auto search = filtered(exec, text, what, memory, work.get());
    using kernel = text_positions_kernel<mismatch_matches, Sink>;
    lanewise::launch(
        exec, "Lanewise::find_mismatches",
        backend_of<Exec>::template league_for_tiles<kernel>(exec, search.blocks),
        kernel{search, sink, work.get().template make_look_back_chain<std::int64_t>(0), number});
  }

 private:
  /// Runs the filter, and returns what the kernel after it needs.
  template <class Exec>
  static mismatch_matches filtered(const Exec& exec, const detail::text_bytes& text,
                                   const detail::mismatch_pattern_view& what,
                                   const mismatch_workspace<Exec>& memory, const workspace& work) {
    using kernel = mismatch_filter_kernel;
    const int steps_per_turn = text_partition::make<warp_t<Exec>>(text.n, true).steps_per_word;
    const mismatch_searcher search{
        {text.data, text.n}, what, memory.passed.data(work), steps_per_turn};
    const std::int64_t teams =
        lanewise::divide_up(mismatch_searcher::steps<warp_t<Exec>>(text.n),
                            std::int64_t{steps_per_turn} * team_t<Exec, kernel::policy>::warps);
    lanewise::launch(exec, "Lanewise::mismatches::filter",
                     backend_of<Exec>::template resident_league<kernel>(exec, teams),
                     kernel{search});
    return {search, memory.blocks_of(text.n)};
  }
};

}  // namespace kernels

/// The workspace that count_mismatches and find_mismatches need for a text of n bytes and a pattern
/// that allows up to `most` different bytes: 4 bytes for each KiB, and 24 for each 256 KiB. Needs
/// no device.
template <class Exec>
workspace_size mismatches_workspace(std::int64_t n, int /*most*/) {
  return kernels::mismatch_workspace<Exec>(n).size();
}

/// At how many positions of a text up to what.most() bytes of the pattern differ: stored in the
/// rank-0 View result. Overlapping positions count; bytes that stand for any never differ.
///
/// text as for count (string_search.hpp). Two launches: a filter reads the text once, and the
/// second compares what the filter passes. A lane compares the first 128 bytes of each position,
/// and a warp compares all bytes: O(m) work for each position. These may be all positions where
/// fragments are short. Does not block.
template <execution_space Exec, class Text, class Memory, class... P>
void count_mismatches(const Exec& exec, const Text& text, const mismatch_pattern<Memory>& what,
                      const Kokkos::View<std::int64_t, P...>& result,
                      const string_search_options& options = {}) {
  kernels::count_positions(exec, "count_mismatches", text, what, result, options);
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

/// Writes these positions, in order, and their number to the rank-0 View number. places as for
/// find_all: where it has fewer places than there are results, the first are written; number counts
/// all of them. As count_mismatches.
template <execution_space Exec, class Text, class Memory, class Places, class T, class... P>
void find_mismatches(const Exec& exec, const Text& text, const mismatch_pattern<Memory>& what,
                     const Places& places, const Kokkos::View<T, P...>& number,
                     const string_search_options& options = {}) {
  kernels::find_positions(exec, "find_mismatches", text, what, places, number, options);
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
