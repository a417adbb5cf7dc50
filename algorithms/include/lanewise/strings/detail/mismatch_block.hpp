// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/strings/detail/mismatch_filter.hpp>

#include <cstdint>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// A block of a text. Scratch has a bit for each position where, by the filter, the pattern may
/// begin. Then each lane compares at positions of its own, and keeps the bits of those where few
/// enough bytes differ.
template <class Team>
class mismatch_block {
 public:
  using warp_type = typename Team::warp_type;
  using steps_type = detail::text_steps<warp_type>;
  using word = std::uint32_t;
  using words = lanes_t<warp_type, std::uint32_t>;
  static constexpr int steps_per_block = 256;  ///< steps
  static constexpr int kept_steps = 64;        ///< by found_places

  /// What a block has of the team's scratch.
  struct scratch {
    std::uint32_t bits[steps_per_block * warp_type::width];
  };

  static LANEWISE_FUNCTION std::int64_t blocks(std::int64_t n) {
    return lanewise::divide_up(mismatch_searcher::steps<warp_type>(n),
                               std::int64_t{steps_per_block});
  }

  /// All warps of the team call it.
  LANEWISE_FUNCTION mismatch_block(const Team& team, scratch& shared,
                                   const mismatch_searcher& search, std::int64_t block)
      : team_(team), shared_(shared), search_(search), begin_(block * steps_per_block * positions) {
    const auto warp = team.warp();
    for (int s = 0; s < steps(); ++s) warp.store(mine() + s * width, words(0u));
    team.barrier();
    note_candidates(warp);
    team.barrier();
    keep_near(warp);
  }

  LANEWISE_FUNCTION int steps() const { return steps_per_block / Team::warps; }
  LANEWISE_FUNCTION std::int64_t first() const {
    return begin_ + std::int64_t{team_.warp_index()} * steps() * positions - search_.text.past();
  }
  LANEWISE_FUNCTION int places_of_lane() const { return 32; }
  static LANEWISE_FUNCTION const words& in_order(const warp_type&, const words& bits) {
    return bits;
  }
  /// Calls f(step, first, bits) for the steps of this warp.
  template <class F>
  LANEWISE_FUNCTION void find(F f) const {
    const auto warp = team_.warp();
    for (int s = 0; s < steps(); ++s)
      f(s, first() + std::int64_t{s} * positions, warp.load(mine() + s * width));
  }

 private:
  static constexpr int width = warp_type::width;
  static constexpr int positions = steps_type::positions;
  static constexpr int k = steps_type::k;
  static constexpr int steps_of_fragment = steps_per_block + 1;
  /// A lane compares this number of bytes, a warp all.
  static constexpr int beginning = 128;

  LANEWISE_FUNCTION std::uint32_t* mine() const {
    return shared_.bits + team_.warp_index() * steps() * width;
  }
  /// A fragment's windows of this block lie in one step more than the block has. These steps are
  /// dealt out to all lanes of the team. Each lane searches its next step that the filter passed.
  LANEWISE_FUNCTION void note_candidates(const warp_type& warp) const {
    constexpr std::uint32_t lanes_of_team = Team::warps * width;
    const auto number =
        static_cast<std::uint32_t>(search_.pattern.windows.fragments * steps_of_fragment);
    const std::int64_t end = mismatch_searcher::steps<warp_type>(search_.text.n);
    words next = warp.lane() + words(static_cast<std::uint32_t>(team_.warp_index() * width));
    words item(0u), lanes(0u);
    for (;;) {
      warp.each((lanes == 0u) & (next < number),
                [&](std::uint32_t& l, std::uint32_t& now, std::uint32_t& x) {
                  for (; l == 0 && x < number; x += lanes_of_team) {
                    now = x;
                    if (step_of(x) < end) l = search_.passed[step_of(x)];
                  }
                },
                lanes, item, next);
      if (!warp.any(lanes != 0u)) return;
      note(warp, item, lanes);
      lanes = lanes & (lanes - words(1u));
    }
  }
  LANEWISE_FUNCTION std::int64_t step_of(std::uint32_t item) const {
    return (begin_ + search_.pattern.windows.ahead[item / steps_of_fragment]) / positions +
           item % steps_of_fragment;
  }
  /// Returns where the bytes of the lowest of `lanes` begin.
  LANEWISE_FUNCTION std::int64_t bytes_of(std::uint32_t item, std::uint32_t lanes) const {
    return step_of(item) * positions + 4 * k * warp_type::lowest(lanes);
  }
  /// Sets the bits of positions that have windows of a fragment in the bytes of one lane of the
  /// filter.
  LANEWISE_FUNCTION void note(const warp_type& warp, const words& item, const words& lanes) const {
    const words found = warp.map(
        lanes != 0u,
        [&](std::uint32_t x, std::uint32_t l) {
          const int fragment = static_cast<int>(x / steps_of_fragment);
          return search_.pattern.windows.at_every_byte
                     ? windows_at<true>(fragment, bytes_of(x, l))
                     : windows_at<false>(fragment, bytes_of(x, l));
        },
        0u, item, lanes);
    for (int r = 0; r < steps_type::rows; ++r) {
      const words bits =
          warp.map([r](std::uint32_t x) { return x >> 4 * k * r & steps_type::row_bits; }, found);
      if (!warp.any(bits != 0u)) continue;
      // Index in the block at which the bits begin; a large number for positions before the block.
      const words from = warp.map(
          bits != 0u,
          [&](std::uint32_t x, std::uint32_t l) {
            return static_cast<std::uint32_t>(bytes_of(x, l) + r * steps_type::row_positions -
                                              search_.pattern.windows.ahead[x / steps_of_fragment] -
                                              begin_);
          },
          0u, item, lanes);
      for (std::uint32_t w = 0; w < 2; ++w) {
        const words index =
            warp.map([w](std::uint32_t f) { return (f / 32 + w) % (1u << 27); }, from);
        const words here = warp.map(
            [w](std::uint32_t x, std::uint32_t f) {
              return static_cast<std::uint32_t>((std::uint64_t{x} << f % 32) >> 32 * w);
            },
            bits, from);
        warp.template fetch_or<order::relaxed, scope::team>(
            (here != 0u) & (index < static_cast<std::uint32_t>(steps_per_block * width)),
            shared_.bits, index, here);
      }
    }
  }
  /// The positions of windows of a fragment in a lane's bytes: bits as text_steps has them.
  template <bool at_every_byte>
  LANEWISE_FUNCTION std::uint32_t windows_at(int fragment, std::int64_t position) const {
    const auto& windows = search_.pattern.windows;
    const std::uint32_t* const window = windows.window[fragment];
    std::uint32_t bits = 0;
    for (int r = 0; r < steps_type::rows; ++r) {
      std::uint32_t in[k + 2];
      search_.text.words(position + r * steps_type::row_positions, in);
      LANEWISE_UNROLL
      for (int j = 0; j < k; ++j) {
        const int bit = 4 * (k * r + j);
        detail::each_mixture<at_every_byte>(
            windows, in[j], in[j + 1], in[j + 2],
            [&](int o, std::uint32_t mixture) LANEWISE_INLINE_LAMBDA {
              LANEWISE_UNROLL
              for (int i = 0; i < (at_every_byte ? 1 : 4); ++i)
                bits |= static_cast<std::uint32_t>(mixture == window[i])
                        << (at_every_byte ? bit + o : bit + 3 - i);
            });
      }
    }
    return bits;
  }
  /// Keeps the bits where few enough bytes differ. A lane goes along its own words of all steps.
  LANEWISE_FUNCTION void keep_near(const warp_type& warp) const {
    const auto number = static_cast<std::uint32_t>(steps());
    std::uint32_t* const bits = mine();
    words step(0u), rest = warp.load(bits);
    auto lane = warp.lane();
    for (;;) {
      warp.each((rest == 0u) & (step < number),
                [&](std::uint32_t& r, std::uint32_t& s, std::uint32_t& l) {
                  while (r == 0 && ++s < number) r = bits[s * width + l];
                },
                rest, step, lane);
      if (!warp.any(rest != 0u)) break;
      const auto position = warp.map(
          rest != 0u,
          [from = first()](std::uint32_t r, std::uint32_t s, std::uint32_t l) {
            return from + s * positions + 32 * l + warp_type::lowest(r);
          },
          std::int64_t{0}, rest, step, lane);
      auto near = warp.ballot(is_near(warp, rest != 0u, position));
      if (search_.pattern.pattern.size > beginning)
        for (auto todo = near; todo != 0; todo &= todo - 1)
          if (!is_near_after(warp, warp.broadcast(position, warp_type::lowest(todo))))
            near &= ~(todo & (~todo + 1));
      warp.each((rest != 0u) & !warp.template mask_of<std::uint32_t>(near),
                [&](std::uint32_t& r, std::uint32_t& s, std::uint32_t& l) {
                  bits[s * width + l] &= ~(r & (~r + 1));
                },
                rest, step, lane);
      rest = rest & (rest - words(1u));
    }
    warp.fence();
  }
  /// Whether few enough of the pattern's first bytes differ, at positions that may be outside of
  /// the text.
  template <class Mask, class Places>
  LANEWISE_FUNCTION auto is_near(const warp_type& warp, const Mask& there, const Places& at) const {
    const auto most = static_cast<std::uint32_t>(search_.pattern.most);
    return warp.map(
               there,
               [&](std::int64_t position) {
                 const std::int64_t size = search_.pattern.pattern.size;
                 if (position < 0 || position + size > search_.text.n) return most + 1;
                 std::uint32_t differ = 0;
                 for (std::int64_t i = 0; i < size && i < beginning && differ <= most; i += 16)
                   differ += differing(position, i);
                 return differ;
               },
               most + 1, at) <= most;
  }
  /// As is_near, for all bytes of the pattern and one position, by all lanes.
  LANEWISE_RARE_FUNCTION bool is_near_after(const warp_type& warp, std::int64_t position) const {
    const std::int64_t size = search_.pattern.pattern.size;
    std::uint32_t differ = 0;
    for (std::int64_t i = 0; i < size; i += 16 * width) {
      differ += warp.reduce(warp.map(
                                [&](std::uint32_t l) {
                                  const std::int64_t at = i + 16 * l;
                                  return at < size ? differing(position, at) : 0u;
                                },
                                warp.lane()),
                            plus{});
      if (differ > static_cast<std::uint32_t>(search_.pattern.most)) return false;
    }
    return true;
  }
  /// Returns how many of the pattern's 16 bytes from i on differ, if the pattern begins at
  /// `position`.
  LANEWISE_FUNCTION std::uint32_t differing(std::int64_t position, std::int64_t i) const {
    const auto& pattern = search_.pattern.pattern;
    const std::int64_t at = position + i + search_.text.past();
    const int past = static_cast<int>(at % 4);
    std::uint32_t in[5], differ = 0;
    search_.text.words(at - past, in);
    LANEWISE_UNROLL
    for (int w = 0; w < 4; ++w) {
      const auto here =
          static_cast<std::uint32_t>((std::uint64_t{in[w + 1]} << 32 | in[w]) >> 8 * past);
      const std::uint32_t x = (here & pattern.cares[i / 4 + w]) ^ pattern.words[i / 4 + w];
      differ += static_cast<std::uint32_t>(
          warp_type::popcount((((x & 0x7f7f7f7f) + 0x7f7f7f7f) | x) & 0x80808080));
    }
    return differ;
  }

  const Team& team_;
  scratch& shared_;
  const mismatch_searcher& search_;
  std::int64_t begin_;  ///< the block's first position, in the grid
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
