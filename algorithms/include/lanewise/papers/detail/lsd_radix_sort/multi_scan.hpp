// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/papers/detail/lsd_radix_sort/sweeps.hpp>
#include <lanewise/papers/detail/names.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {
namespace kernels {

/// Sends a team's share of the tiles to the places of their digits, one tile after the other
/// (multi-scan: Merrill, 5.3). A lane has runs of neighbouring keys, so that most of a scan is done
/// in its registers. Keys of a tile are brought into the order of their digits in scratch, and go
/// out from there in rows.
template <class Bits, class Value, int words>
struct downsweep_digits_kernel {
  using policy = multi_scan_policy<Bits>;
  static constexpr bool pairs = !std::is_empty_v<Value>;
  template <class Team>
  static constexpr int tile_items = policy::items_per_lane* Team::warp_type::width* Team::warps;

  template <class Team>
  struct scratch {
    std::int64_t next[detail::digit_slots<Team>];  // where the tile's keys of a digit go
    std::int64_t base[detail::digit_slots<Team>];  // what to add to a slot to get its place
    std::uint32_t count[Team::warps][detail::digit_slots<Team>];
    std::uint32_t first[Team::warps][detail::digit_slots<Team>];  // a warp's first slot
    alignas(16) Bits key[tile_items<Team>];
    alignas(16) Value value[pairs ? tile_items<Team> : 1];
  };

  digit_pass<Bits, Value> pass;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    if (pass.states[pass.number].stays) return;
    constexpr int width = Team::warp_type::width;
    constexpr std::int64_t items = tile_items<Team>;
    const auto warp = team.warp();
    if (team.warp_index() == 0) {
      for (int g = 0; g < most_digits; g += width) {
        const auto digit = warp.lane() + u32s<Team>(static_cast<std::uint32_t>(g));
        const auto at =
            warp.map([league = team.league(), t = team.index()](
                         std::uint32_t d) { return static_cast<std::int64_t>(d) * league + t; },
                     digit);
        warp.store(shared.next + g,
                   warp.gather(digit <= pass.digit.digit.mask, pass.counts, at, std::int64_t{0}));
      }
    }
    const std::int64_t n = pass.n();
    const auto [begin, end] = team.share(divide_up(n, items));
    for (std::int64_t t = begin; t < end; ++t) {
      if (n - t * items >= items) {
        move<true>(team, shared, t * items, items);
      } else {
        move<false>(team, shared, t * items, n - t * items);
      }
      team.barrier();
    }
  }

 private:
  static constexpr int most_digits = 4 * words;
  template <class Team>
  using u32s = lanes_t<typename Team::warp_type, std::uint32_t>;

  /// A key's rank and its digit in one word: digits that are read from keys again, or kept beside
  /// ranks, take registers that a team of 256 threads does not have.
  template <class Team>
  static LANEWISE_FUNCTION u32s<Team> ranked(const u32s<Team>& rank, const u32s<Team>& digit) {
    return (rank << u32s<Team>(5u)) | digit;
  }
  template <class Team>
  static LANEWISE_FUNCTION u32s<Team> digit_of(const u32s<Team>& x) {
    return x & u32s<Team>(detail::most_scanned_digits - 1u);
  }
  template <class Team>
  static LANEWISE_FUNCTION u32s<Team> rank_of(const u32s<Team>& x) {
    return x >> u32s<Team>(5u);
  }

  /// slot = the ranks of a warp's 256 keys among its keys of their digits. `own` counts the keys
  /// before these, and then these, too.
  template <class Team, class W, class Exists, class Keys, int run>
  LANEWISE_FUNCTION void rank(const W& warp, std::uint32_t* own, Exists exists,
                              const Keys (&key)[run], u32s<Team> (&slot)[run]) const {
    using counters = detail::packed_counters<W, words>;
    counters some;
    LANEWISE_UNROLL
    for (int c = 0; c < run; ++c) {
      const auto digit = warp.map(pass.digit, key[c]);
      slot[c] = ranked<Team>(counters::counter_of(some.word_of(digit), digit), digit);
      some.add(exists(c), digit);
    }
    const auto front = some.in_front(warp);
    LANEWISE_UNROLL
    for (int c = 0; c < run; ++c) {
      const auto digit = digit_of<Team>(slot[c]);
      const auto before =
          counters::counter_of(front.word_of(digit), digit) + warp.gather(own, digit);
      slot[c] = slot[c] + ranked<Team>(before, u32s<Team>(0u));
    }
    warp.fence();
    const auto all = some.sum(warp);
    for (int g = 0; g < most_digits; g += W::width) {
      const auto digit = warp.lane() + u32s<Team>(static_cast<std::uint32_t>(g));
      warp.store(own + g, warp.load(own + g) + all.of_digit(digit));
    }
    warp.fence();
  }

  /// Moves the tile of `count` items from `first` on.
  template <bool full, class Team>
  LANEWISE_FUNCTION void move(const Team& team, scratch<Team>& shared, std::int64_t first,
                              std::int64_t count) const {
    using warp_type = typename Team::warp_type;
    constexpr int run = detail::packed_counters<warp_type, words>::run;
    constexpr int rows = policy::items_per_lane / run;
    constexpr int row_items = run * warp_type::width;
    const auto warp = team.warp();
    const std::int64_t segment = team.warp_index() * rows * row_items;
    const int mine = static_cast<int>(count > segment ? count - segment : 0);
    const auto exists = [&](int r, int c) {
      return full ? warp.first(warp_type::width)
                  : warp.lane() * u32s<Team>(static_cast<std::uint32_t>(run)) +
                            u32s<Team>(static_cast<std::uint32_t>(r * row_items + c)) <
                        static_cast<std::uint32_t>(mine);
    };
    const detail::radix_array array = pass.from();
    const std::int64_t at = first + segment;
    lanes_t<warp_type, Bits> key[rows][run];
    u32s<Team> slot[rows][run];
    LANEWISE_UNROLL
    for (int r = 0; r < rows; ++r)
      detail::load_runs<full>(warp, pass.keys(array) + at + r * row_items, mine - r * row_items,
                              key[r]);
    std::uint32_t* const own = shared.count[team.warp_index()];
    for (int g = 0; g < most_digits; g += warp_type::width) warp.store(own + g, u32s<Team>(0u));
    warp.fence();
    LANEWISE_UNROLL
    for (int r = 0; r < rows; ++r)
      rank<Team>(
          warp, own, [&](int c) { return exists(r, c); }, key[r], slot[r]);
    lanes_t<warp_type, Value> value[pairs ? rows : 1][run];
    if constexpr (pairs) {
      LANEWISE_UNROLL
      for (int r = 0; r < rows; ++r)
        detail::load_runs<full>(warp, pass.values(array) + at + r * row_items, mine - r * row_items,
                                value[r]);
    }
    team.barrier();
    find_slots(team, shared);
    const std::uint32_t* const begins = shared.first[team.warp_index()];
    LANEWISE_UNROLL
    for (int r = 0; r < rows; ++r) {
      LANEWISE_UNROLL
      for (int c = 0; c < run; ++c) {
        const auto to = rank_of<Team>(slot[r][c]) + warp.gather(begins, digit_of<Team>(slot[r][c]));
        warp.scatter(exists(r, c), shared.key, to, key[r][c]);
        if constexpr (pairs) warp.scatter(exists(r, c), shared.value, to, value[r][c]);
      }
    }
    team.barrier();
    write<full>(team, shared, static_cast<std::uint32_t>(count));
  }

  /// Finds where every warp's keys of a digit begin in the tile, and the tile's in the output.
  template <class Team>
  LANEWISE_FUNCTION void find_slots(const Team& team, scratch<Team>& shared) const {
    constexpr int width = Team::warp_type::width;
    const auto warp = team.warp();
    std::uint32_t before = 0;
    for (int g = 0; g < most_digits; g += width) {
      u32s<Team> total(0u), in_front(0u);
      LANEWISE_UNROLL
      for (int w = 0; w < Team::warps; ++w) {
        if (w == team.warp_index()) in_front = total;
        total = total + warp.load(shared.count[w] + g);
      }
      const auto upto = warp.inclusive_scan(total, plus{});
      const auto slot = upto - total + u32s<Team>(before);
      warp.store(shared.first[team.warp_index()] + g, slot + in_front);
      if (team.warp_index() == 0) {
        const auto next = warp.load(shared.next + g);
        warp.store(shared.base + g, next - warp.template cast<std::int64_t>(slot));
        warp.store(shared.next + g, next + warp.template cast<std::int64_t>(total));
      }
      before += warp.broadcast(upto, width - 1);
    }
    warp.fence();
  }

  /// Writes the tile, which lies in scratch in the order of digits.
  template <bool full, class Team>
  LANEWISE_FUNCTION void write(const Team& team, const scratch<Team>& shared,
                               std::uint32_t count) const {
    constexpr int width = Team::warp_type::width;
    const auto warp = team.warp();
    const detail::radix_array to = pass.states[pass.number + 1].at;
    Bits* const keys = pass.keys.to(to);
    Value* const values = pass.values.to(to);
    LANEWISE_UNROLL
    for (int j = 0; j < policy::items_per_lane; ++j) {
      auto slot =
          warp.lane() +
          u32s<Team>(static_cast<std::uint32_t>((j * Team::warps + team.warp_index()) * width));
      warp.each(
          full ? warp.first(width) : slot < count,
          [&](std::uint32_t i) {
            const Bits key = shared.key[i];
            const std::int64_t place = shared.base[pass.digit(key)] + i;
            keys[place] = key;
            if constexpr (pairs) values[place] = shared.value[i];
          },
          slot);
    }
  }
};

}  // namespace kernels
}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
