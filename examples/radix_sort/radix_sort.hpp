// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A radix sort from Lanewise's parts: all digits are counted in one pass over the keys, then every
// pass over a digit reads and writes each key once (one sweep). A team takes the next tile, ranks
// and places it by split_tile, and learns from the tiles in front where its runs begin, by
// look_back_counts. Stable; unsigned keys, ascending.

#include <lanewise/backend.hpp>
#include <lanewise/league/look_back_counts.hpp>
#include <lanewise/team/bucket_counts.hpp>
#include <lanewise/tile/split_tile.hpp>

#include <Kokkos_Core.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace radix {

inline constexpr int radixes = 256;

template <class Key>
struct digit {
  int shift;
  LANEWISE_FUNCTION std::uint32_t operator()(Key key) const {
    return static_cast<std::uint32_t>(key >> shift) & (radixes - 1);
  }
};

/// Adds to totals[d * radixes + r] the keys whose digit d is r.
template <class Key>
struct count_kernel {
  struct policy : launch_policy {
    static constexpr int teams_per_multiprocessor = 4;
  };
  static constexpr int digits = sizeof(Key);
  template <class Team>
  using scratch = bucket_counters<digits, radixes>;

  array_source<Key, identity> keys;
  std::uint64_t* totals;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const auto warp = team.warp();
    const index_range mine = team.share(keys.extent);
    clear(team, shared);
    team.barrier();
    count(team, shared, keys, mine.begin, mine.end,
          [](Key key, int d) { return digit<Key>{8 * d}(key); });
    team.barrier();
    for_each_window(team, shared, [&](int first, const auto& counted) {
      const auto sum = warp.template cast<std::uint64_t>(counted);
      warp.fetch_add(sum != std::uint64_t{0}, totals + first, warp.lane(), sum);
    });
  }
};

/// Turns the totals of every digit into where its runs begin.
struct starts_kernel {
  struct policy : launch_policy {};
  template <class Team>
  struct scratch {};

  int digits;
  std::uint64_t* totals;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    const auto warp = team.warp();
    for (int d = team.warp_index(); d < digits; d += Team::warps) {
      std::uint64_t before = 0;
      for (std::uint32_t r = 0; r < radixes; r += Team::warp_type::width) {
        const auto total = warp.load(totals + d * radixes + r);
        const auto upto = warp.inclusive_scan(total, plus{});
        warp.store(totals + d * radixes + r, upto - total + decltype(total)(before));
        before += warp.broadcast(upto, Team::warp_type::width - 1);
      }
    }
  }
};

/// Sends every key to its place among the keys in order of one digit.
template <class Key, class Word>
struct pass_kernel {
  struct policy : launch_policy {
    static constexpr int items_per_lane = 32 * 4 / sizeof(Key);
    static constexpr int teams_per_multiprocessor = 2;
  };
  template <class Team>
  using split = split_tile_t<Team, Key, policy>;
  template <class Team>
  struct scratch {
    typename split<Team>::template scratch<0> tile;
    std::uint32_t ticket;
  };

  array_source<Key, identity> keys;
  array_sink<Key> out;
  digit<Key> digit_of;
  look_back_offsets<Word> places;
  std::uint32_t* tickets;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const auto warp = team.warp();
    for (;;) {
      if (team.warp_index() == 0) {
        const std::uint32_t next = warp.fetch_add(*tickets, 1u);
        warp.once([&] { shared.ticket = next; });
      }
      team.barrier();
      const std::int64_t first = shared.ticket * std::int64_t{split<Team>::items};
      if (first >= keys.extent) return;
      auto here = places;
      here.tile = shared.ticket;
      split<Team>::place(team, shared.tile, keys, first, keys.extent, digit_of, radixes, true, here,
                         keys.extent, out, nullptr, nullptr);
      if constexpr (Team::one_ticket) return;
      team.barrier();
    }
  }
};

template <class Word, class Exec, class Key>
void sort(const Exec& exec, Key* keys, Key* other, std::int64_t n, const workspace_ref& given) {
  using kernel = pass_kernel<Key, Word>;
  using backend = backend_of<Exec>;
  constexpr int digits = sizeof(Key);
  const std::int64_t tiles =
      divide_up(n, kernel::template split<team_t<Exec, typename kernel::policy>>::items);
  // Totals, then a counter of tickets in a line of its own, then the tiles' words.
  constexpr std::size_t total_bytes = digits * radixes * sizeof(std::uint64_t), line = 128;
  const std::size_t word_bytes = line + look_back_counts<Word>::bytes(tiles, radixes);
  auto work =
      call_workspace::make<backend>(exec, given, {1, total_bytes + word_bytes}, "radix_sort");
  auto* const totals = static_cast<std::uint64_t*>(work.get().plain());
  auto* const tickets = reinterpret_cast<std::uint32_t*>(totals + digits * radixes);
  auto* const words = reinterpret_cast<Word*>(reinterpret_cast<char*>(tickets) + line);
  backend::zero(exec, totals, total_bytes);
  launch(exec, "radix_sort::count",
         backend::template resident_league<count_kernel<Key>>(exec, divide_up(n, 1 << 14)),
         count_kernel<Key>{{keys, n, {}}, totals});
  launch(exec, "radix_sort::starts", 1, starts_kernel{digits, totals});
  for (int d = 0; d < digits; ++d) {
    backend::zero(exec, tickets, word_bytes);
    launch(exec, "radix_sort::pass", backend::template league_for_tiles<kernel>(exec, tiles),
           kernel{{keys, n, {}},
                  {other, n},
                  {8 * d},
                  {{words, radixes}, totals + d * radixes, 0},
                  tickets});
    std::swap(keys, other);
  }
}

/// Sorts keys; `other` is memory for as many. Both are contiguous Views. Does not block.
template <class Exec, class Keys>
void sort(const Exec& exec, const Keys& keys, const Keys& other, const workspace_ref& work = {}) {
  const auto n = static_cast<std::int64_t>(keys.extent(0));
  if (n < look_back_counts<std::uint32_t>::limit) {
    sort<std::uint32_t>(exec, keys.data(), other.data(), n, work);
  } else {
    sort<std::uint64_t>(exec, keys.data(), other.data(), n, work);
  }
}

}  // namespace radix
LANEWISE_END_TARGET_NAMESPACE
