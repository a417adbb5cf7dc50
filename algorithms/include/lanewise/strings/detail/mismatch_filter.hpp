// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/strings/detail/mismatch_windows.hpp>
#include <lanewise/strings/detail/text_scan.hpp>
#include <lanewise/team/policy.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Calls f(b, mixture) for the windows that begin with a word. Window o of a fragment with four
/// belongs to position b + 3 - o, the window of a fragment with one to position b.
template <bool at_every_byte, class Words, class F>
LANEWISE_FUNCTION void each_mixture(const mismatch_windows& windows, const Words& a, const Words& b,
                                    const Words& c, F f) {
  if constexpr (!at_every_byte) {
    f(0, windows.mixed(a, b, c));
  } else {
    LANEWISE_UNROLL
    for (int o = 0; o < 4; ++o)
      f(o, windows.mixed(detail::word_across(a, b, o), detail::word_across(b, c, o), Words(0u)));
  }
}

}  // namespace detail
LANEWISE_END_NAMESPACE

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// A search with mismatches.
struct mismatch_searcher {
  detail::aligned_text text;
  detail::mismatch_pattern_view pattern;
  /// A word for each step of 32 W positions: bit l says whether a window begins in the bytes of
  /// lane l, in rows of k words as in text_steps.
  std::uint32_t* passed;
  int steps_per_turn;  ///< steps that a warp filters one after the other

  template <class Warp>
  static LANEWISE_FUNCTION std::int64_t steps(std::int64_t n) {
    return divide_up(n + 31, std::int64_t{detail::text_steps<Warp>::positions});
  }
};

/// Finds where windows of a pattern's fragments may be. It reads the text once for all fragments.
/// Measured: counts run at 3.2 TB/s on an H200 with six teams and 40 registers, at 3.0 with four
/// and 61.
struct mismatch_filter_kernel {
  struct policy : launch_policy {
    static constexpr int teams_per_multiprocessor = 6;
    static constexpr int host_teams_per_thread = 16;
  };
  template <class Team>
  struct scratch {
    std::uint32_t slots[detail::mismatch_windows::most_slots];
  };

  mismatch_searcher search;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using warp_type = typename Team::warp_type;
    const auto warp = team.warp();
    fill(team, shared.slots);
    const std::int64_t steps = mismatch_searcher::steps<warp_type>(search.text.n);
    const std::int64_t mine = team.index() * std::int64_t{Team::warps} + team.warp_index();
    for (std::int64_t t = mine; t * search.steps_per_turn < steps;
         t += team.league() * Team::warps) {
      const std::int64_t begin = t * search.steps_per_turn;
      const auto number = static_cast<int>(
          steps - begin < search.steps_per_turn ? steps - begin : search.steps_per_turn);
      warp.store(warp.first(number), search.passed + begin,
                 filter(warp, shared.slots, begin, number));
    }
  }

 private:
  template <class Warp>
  using words = lanes_t<Warp, std::uint32_t>;

  /// Fills the table. Empty slots hold a window of another slot, so lookups never match there.
  template <class Team>
  LANEWISE_FUNCTION void fill(const Team& team, std::uint32_t* slots) const {
    using warp_type = typename Team::warp_type;
    const auto& windows = search.pattern.windows;
    const auto warp = team.warp();
    constexpr int width = warp_type::width;
    for (int i = team.warp_index() * width; i < windows.slots(); i += Team::warps * width)
      warp.store(warp.first(windows.slots() - i), slots + i,
                 words<warp_type>(windows.window[0][0]));
    team.barrier();
    if (team.warp_index() == 0)
      for (int p = 0; p < windows.fragments; ++p)
        for (int o = 0; o < windows.windows_of_fragment(); ++o)
          warp.once([&] { slots[windows.slot(windows.window[p][o])] = windows.window[p][o]; });
    team.barrier();
  }
  template <class Warp>
  LANEWISE_FUNCTION words<Warp> filter(const Warp& warp, const std::uint32_t* slots,
                                       std::int64_t begin, int number) const {
    return search.pattern.windows.at_every_byte ? filter<true>(warp, slots, begin, number)
                                                : filter<false>(warp, slots, begin, number);
  }
  template <bool at_every_byte, class Warp>
  LANEWISE_FUNCTION words<Warp> filter(const Warp& warp, const std::uint32_t* slots,
                                       std::int64_t begin, int number) const {
    using steps = detail::text_steps<Warp>;
    words<Warp> passed(0u);
    for (int s = 0; s < number; ++s) {
      const std::int64_t first = (begin + s) * steps::positions;
      const bool is_inside = search.text.has(first, steps::positions + 8);
      std::uint32_t lanes = 0;
      for (int r = 0; r < steps::rows; ++r) {
        const std::int64_t at = first + r * steps::row_positions;
        words<Warp> row[steps::k + 2];
        if (is_inside) {
          load(warp, at, row);
        } else {
          load_at_edge(warp, at, row);
        }
        lanes |=
            static_cast<std::uint32_t>(warp.ballot(any_window<at_every_byte>(warp, slots, row)));
      }
      passed = lanewise::select(warp.lane() == static_cast<std::uint32_t>(s), words<Warp>(lanes),
                                passed);
    }
    return passed;
  }
  /// Words after a lane's own come from the nearest cache (text_steps).
  template <class Warp>
  LANEWISE_FUNCTION void load(const Warp& warp, std::int64_t position, words<Warp>* row) const {
    constexpr int k = detail::text_steps<Warp>::k;
    const std::uint32_t* const at = search.text.at(position);
    const auto packs = warp.load(reinterpret_cast<const pack<std::uint32_t, k>*>(at));
    LANEWISE_UNROLL
    for (int j = 0; j < k; ++j)
      row[j] = warp.map([j](const pack<std::uint32_t, k>& x) { return x[j]; }, packs);
    LANEWISE_UNROLL
    for (int i = k; i < k + 2; ++i)
      row[i] = k == 1 ? warp.load(at + i)
                      : warp.gather(at + i, warp.lane() * words<Warp>(std::uint32_t{k}));
  }
  template <class Warp>
  LANEWISE_RARE_FUNCTION void load_at_edge(const Warp& warp, std::int64_t position,
                                           words<Warp>* row) const {
    constexpr int k = detail::text_steps<Warp>::k;
    LANEWISE_UNROLL
    for (int i = 0; i < k + 2; ++i)
      row[i] = warp.map(
          [&text = search.text, position, i](std::uint32_t lane) {
            return text.word(position + 4 * (k * std::int64_t{lane} + i));
          },
          warp.lane());
  }
  template <bool at_every_byte, class Warp>
  LANEWISE_FUNCTION auto any_window(const Warp& warp, const std::uint32_t* slots,
                                    const words<Warp>* row) const {
    const auto& windows = search.pattern.windows;
    auto fits = row[0] != row[0];
    LANEWISE_UNROLL
    for (int j = 0; j < detail::text_steps<Warp>::k; ++j)
      detail::each_mixture<at_every_byte>(
          windows, row[j], row[j + 1], row[j + 2],
          [&](int, const words<Warp>& mixture) LANEWISE_INLINE_LAMBDA {
            fits = fits | (mixture == warp.gather(slots, windows.slot(mixture)));
          });
    return fits;
  }
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
