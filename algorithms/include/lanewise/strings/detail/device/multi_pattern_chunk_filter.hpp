// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/data/pack.hpp>
#include <lanewise/strings/detail/stride4_windows.hpp>
#include <lanewise/strings/detail/text_scan.hpp>
#include <lanewise/team/policy.hpp>
#include <lanewise/team/team_algorithms.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// A text in chunks of 32 bytes, each with a mark. Windows of chunk c begin at positions 32 c + 4
/// to 32 c + 35: the word before them can be read, too. Every W chunks, a step, have a word of
/// marks.
struct text_chunks {
  aligned_text text;
  stride4_windows probes;

  static LANEWISE_FUNCTION text_chunks make(const text_bytes& text, const stride4_windows& probes) {
    return {{text.data, text.n, 4}, probes};
  }
  static LANEWISE_FUNCTION std::int64_t most_steps(std::int64_t n, std::int64_t width) {
    return divide_up(n + 31, 32 * width);
  }
  LANEWISE_FUNCTION std::int64_t chunks() const {
    return divide_up(text.n + text.past() - 4, std::int64_t{32});
  }
  /// The chunk of the windows at a byte of the text.
  LANEWISE_FUNCTION std::int64_t chunk_of(std::int64_t byte) const {
    return (byte + text.past() - 4) / 32;
  }
  /// At which byte of the text its windows begin.
  LANEWISE_FUNCTION std::int64_t byte_of(std::int64_t chunk) const {
    return 32 * chunk + 4 - text.past();
  }

  using four = pack<std::uint32_t, 4>;
  /// Loads the words of one chunk for each lane: chunk first + index. All lie in the text.
  template <class Warp, class Words>
  LANEWISE_FUNCTION void load(const Warp& warp, std::int64_t first, const Words& index,
                              Words (&row)[12]) const {
    const auto* const at = reinterpret_cast<const four*>(text.at(32 * first));
    LANEWISE_UNROLL
    for (int p = 0; p < 3; ++p) {
      const auto words = warp.gather(at + p, index + index);
      LANEWISE_UNROLL
      for (int i = 0; i < 4; ++i)
        row[4 * p + i] =
            warp.map([i](const four& x) { return x[i]; }, words) & Words(probes.letters);
    }
  }
  template <class Warp, class Words>
  LANEWISE_RARE_FUNCTION void load_at_edge(const Warp& warp, std::int64_t first, const Words& index,
                                           Words (&row)[12]) const {
    for (int i = 0; i < 12; ++i)
      row[i] = warp.map(
          [this, first, i](std::uint32_t c) {
            return text.word(32 * (first + c) + 4 * i) & probes.letters;
          },
          index);
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// Marks the chunks of a text with windows that may be of a set's patterns. It is a kernel of its
/// own as it takes few registers. Measured on an H100: with 32 it reads 98 % of what a sum reads,
/// where one kernel for all of a search read 40.
template <bool many, detail::stride4_windows::kind how>
struct chunk_filter_kernel {
  struct policy : launch_policy {
    static constexpr int warps = many ? 32 : 16;
    static constexpr int teams_per_multiprocessor = many ? 1 : 4;
    static constexpr int host_teams_per_thread = 4;
  };
  template <class Team>
  struct scratch {
    std::uint32_t filter[1 << (many ? detail::filter_word::many_words_bits
                                    : detail::filter_word::few_words_bits)];
  };

  detail::text_chunks chunks;
  const std::uint32_t* filter;
  std::uint32_t* marks;
  int steps_per_turn;  ///< steps that a warp scans one after the other

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using warp_type = typename Team::warp_type;
    const auto warp = team.warp();
    lanewise::copy(team, filter, std::int64_t{1} << chunks.probes.filter_bits, shared.filter);
    team.barrier();
    const std::int64_t steps = divide_up(chunks.chunks(), std::int64_t{warp_type::width});
    const std::int64_t mine = team.index() * std::int64_t{Team::warps} + team.warp_index();
    for (std::int64_t t = mine; t * steps_per_turn < steps; t += team.league() * Team::warps) {
      const std::int64_t begin = t * steps_per_turn;
      const auto number =
          static_cast<int>(steps - begin < steps_per_turn ? steps - begin : steps_per_turn);
      warp.store(warp.first(number), marks + begin, scan(warp, shared.filter, begin, number));
    }
  }

 private:
  template <class Warp>
  using words = lanes_t<Warp, std::uint32_t>;

  template <class Warp>
  LANEWISE_FUNCTION words<Warp> scan(const Warp& warp, const std::uint32_t* table,
                                     std::int64_t begin, int number) const {
    words<Warp> found(0u);
    for (int s = 0; s < number; ++s) {
      const std::int64_t first = (begin + s) * Warp::width;
      words<Warp> row[12];
      if (chunks.text.has(32 * first, 32 * Warp::width + 16)) {
        chunks.load(warp, first, warp.lane(), row);
      } else {
        chunks.load_at_edge(warp, first, warp.lane(), row);
      }
      words<Warp> any(0u);
      detail::each_probe<how>(warp, chunks.probes, table, row,
                              [&](int, int, const words<Warp>& passed)
                                  LANEWISE_INLINE_LAMBDA { any = any | passed; });
      const auto lanes = static_cast<std::uint32_t>(warp.ballot((any & words<Warp>(1u)) != 0u));
      found =
          lanewise::select(warp.lane() == static_cast<std::uint32_t>(s), words<Warp>(lanes), found);
    }
    return found;
  }
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
