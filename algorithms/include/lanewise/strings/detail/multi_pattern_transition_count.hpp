// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/data/operators.hpp>
#include <lanewise/data/pack.hpp>
#include <lanewise/strings/detail/multi_pattern_view.hpp>
#include <lanewise/strings/detail/text_scan.hpp>
#include <lanewise/team/policy.hpp>
#include <lanewise/team/team_algorithms.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// A text in packs of 16 bytes of memory. Each lane has some neighbouring packs.
struct text_packs {
  static constexpr int words = 4, bytes = 4 * words;

  aligned_text text;
  std::uint32_t other;  ///< a byte for positions where there is no text

  LANEWISE_FUNCTION std::int64_t number() const {
    return divide_up(text.n + text.past(), std::int64_t{bytes});
  }
  LANEWISE_FUNCTION bool are_inside(std::int64_t begin, std::int64_t end) const {
    return bytes * begin >= text.past() && bytes * end <= text.past() + text.n;
  }
  template <class Warp, class Words>
  LANEWISE_FUNCTION void load(const Warp& warp, std::int64_t first, const Words& index,
                              Words (&in)[words]) const {
    using four = pack<std::uint32_t, words>;
    const auto loaded = warp.gather(reinterpret_cast<const four*>(text.at(bytes * first)), index);
    LANEWISE_UNROLL
    for (int i = 0; i < words; ++i) in[i] = warp.map([i](const four& x) { return x[i]; }, loaded);
  }
  template <class Warp, class Words>
  LANEWISE_RARE_FUNCTION void load_at_edge(const Warp& warp, std::int64_t first, const Words& index,
                                           Words (&in)[words]) const {
    for (int i = 0; i < words; ++i)
      in[i] = warp.map(
          [this, first, i](std::uint32_t pack_index) {
            return word(bytes * (first + pack_index) + 4 * i);
          },
          index);
  }

 private:
  LANEWISE_FUNCTION std::uint32_t word(std::int64_t position) const {
    if (text.has(position, 4)) return *text.at(position);
    std::uint32_t word = 0;
    for (int b = 0; b < 4; ++b)
      word |= (text.has(position + b, 1) ? text.data[position + b - text.past()] : other) << 8 * b;
    return word;
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// Counts how many patterns begin at the positions of a text, by byte_transitions. A lane reads its
/// packs backwards, after the packs on which its state depends. in_scratch: the table is in
/// scratch.
template <bool in_scratch>
struct transition_count_kernel {
  struct policy : launch_policy {
    static constexpr int warps = in_scratch ? 32 : 16;
    static constexpr int teams_per_multiprocessor = in_scratch ? 1 : 4;
  };
  static constexpr std::uint32_t most_entries = 1u << 15;
  template <class Team>
  struct scratch {
    std::uint32_t classes[256];
    std::uint32_t entries[in_scratch ? most_entries : 1];
  };

  detail::text_packs text;
  detail::byte_transitions automaton;
  int packs_per_lane;  ///< packs
  std::uint64_t* result;

  /// Returns the number of a lane's packs, so that there are some thousand blocks.
  template <class Warp>
  static int packs_of_lane(std::int64_t n) {
    constexpr std::int64_t blocks = 8192;
    const std::int64_t packs = n / (detail::text_packs::bytes * Warp::width * blocks);
    return packs < 4 ? 4 : packs > 64 ? 64 : static_cast<int>(packs);
  }
  template <class Warp>
  LANEWISE_FUNCTION std::int64_t blocks() const {
    return divide_up(text.number(), std::int64_t{Warp::width} * packs_per_lane);
  }

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using warp_type = typename Team::warp_type;
    const auto warp = team.warp();
    lanewise::copy(team, automaton.classes, 256, shared.classes);
    if constexpr (in_scratch)
      lanewise::copy(team, automaton.entries, std::int64_t{automaton.number}, shared.entries);
    team.barrier();
    lanes_t<warp_type, std::uint64_t> found(0u);
    const std::int64_t all = blocks<warp_type>();
    for (std::int64_t p = team.index() * std::int64_t{Team::warps} + team.warp_index(); p < all;
         p += team.league() * Team::warps)
      found = found + warp.template cast<std::uint64_t>(count(warp, shared, p));
    const std::uint64_t sum = warp.reduce(found, plus{});
    if (sum != 0) warp.fetch_add(*result, sum);
  }

 private:
  template <class Warp>
  using words = lanes_t<Warp, std::uint32_t>;

  template <class Warp, class Scratch>
  LANEWISE_FUNCTION words<Warp> count(const Warp& warp, const Scratch& shared,
                                      std::int64_t block) const {
    using packs_type = detail::text_packs;
    const std::int64_t first = block * Warp::width * packs_per_lane;
    const int packs =
        packs_per_lane + (automaton.depth + packs_type::bytes - 2) / packs_type::bytes;
    const bool is_inside =
        text.are_inside(first, first + std::int64_t{Warp::width - 1} * packs_per_lane + packs);
    const words<Warp> index = warp.lane() * words<Warp>(static_cast<std::uint32_t>(packs_per_lane));
    words<Warp> next[packs_type::words], row(0u), number(0u);
    const auto load = [&](int pack_index) LANEWISE_INLINE_LAMBDA {
      is_inside ? text.load(warp, first + pack_index, index, next)
                : text.load_at_edge(warp, first + pack_index, index, next);
    };
    load(packs - 1);
    for (int pack_index = packs; pack_index-- > 0;) {
      words<Warp> in[packs_type::words];
      LANEWISE_UNROLL
      for (int i = 0; i < packs_type::words; ++i) in[i] = next[i];
      if (pack_index > 0) load(pack_index - 1);
      if (pack_index == packs_per_lane - 1) number = words<Warp>(0u);
      LANEWISE_UNROLL
      for (int i = packs_type::words - 1; i >= 0; --i) {
        LANEWISE_UNROLL
        for (int b = 3; b >= 0; --b) {
          const words<Warp> at =
              row + warp.gather_scratch(shared.classes, in[i] >> 8 * b & words<Warp>(0xffu));
          const words<Warp> entry = in_scratch ? warp.gather_scratch(shared.entries, at)
                                               : warp.gather(automaton.entries, at);
          row = detail::byte_transitions::row_of(entry);
          number = number + detail::byte_transitions::patterns_of(entry);
        }
      }
    }
    return number;
  }
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
