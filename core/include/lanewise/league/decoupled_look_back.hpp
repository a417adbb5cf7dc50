// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/league/look_back_chain.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE

namespace detail {

/// What a team shares while it works on a chain. Tiles that wait for their turn are parked here.
/// Every slot has the scratch that a tile is begun with too: warps may be a tile apart.
template <class Team, class T, class Tile, int tiles = Team::parked_tiles>
struct parked_tiles {
  struct slot {
    typename Tile::scratch scratch;
    typename Tile::parked tile;
    typename look_back_chain<T>::drawn mine;
    T total;
    maybe<T> before;
    // Raised for every tile that uses the slot. All warps but one raise it when its total is known;
    // then none reads what that one said of the tile before. Then that one raises it.
    typename Team::template signal<Team::warps> announced;
    typename Team::template signal<1> resolved;
  };
  slot slots[tiles];
  typename look_back_chain<T>::drawn next[2];
};
template <class Team, class T, class Tile>
struct parked_tiles<Team, T, Tile, 0> {
  typename Tile::scratch scratch;
  look_back_scratch<T> chain;
};

/// The work of the warp that looks back for its team.
template <bool one_by_one, class Team, class T, class Scratch, class Op>
LANEWISE_FUNCTION void look_back_for(const Team& team, const look_back_chain<T>& chain,
                                     std::uint32_t count, Scratch& shared, Op op,
                                     const maybe<T>& first) {
  constexpr std::uint32_t slots = Team::parked_tiles;
  const auto warp = team.warp();
  for (std::uint32_t k = 0;; ++k) {
    auto& slot = shared.slots[k % slots];
    slot.announced.wait(warp, k / slots + 1);
    const auto mine = slot.mine;
    if (mine.ticket >= count) return;
    const maybe<T> before = chain.template resolve<one_by_one>(warp, mine, slot.total, op, first);
    warp.once([&] { slot.before = before; });
    slot.resolved.raise(warp);
  }
}

/// The work of the other warps. A tile is stored when the slot that it waits in is needed, while
/// the items of the next one are on their way.
template <class Team, class T, class Scratch, class Op, class Load, class Total, class Store>
LANEWISE_FUNCTION void begin_and_store(const Team& team, const look_back_chain<T>& chain,
                                       std::uint32_t count, Scratch& shared, Op op,
                                       const maybe<T>& first, Load load, Total total, Store store) {
  using tile_type = decltype(load(0u, shared.slots[0].scratch));
  constexpr std::uint32_t slots = Team::parked_tiles;
  const std::uint32_t draws = count + team.league();
  const auto warp = team.warp();
  const bool speaks = team.warp_index() == 0;
  const auto announce = [&](auto& slot, auto mine) {
    if (speaks) warp.once([&] { slot.mine = mine; });
    slot.announced.raise(warp);
  };
  const auto store_parked = [&](auto& slot, std::uint32_t k) {
    if (k < slots) return;
    slot.resolved.wait(warp, k / slots);
    typename tile_type::resumed tile(team, slot.tile);
    store(tile, slot.mine.ticket, slot.before);
  };

  std::uint32_t k = 0;
  auto mine = shared.next[0];
  for (; mine.ticket < count; mine = shared.next[++k % 2]) {
    auto& slot = shared.slots[k % slots];
    auto tile = load(mine.ticket, slot.scratch);
    if (speaks) {
      const auto next = chain.draw(warp, draws, count);
      warp.once([&] { shared.next[(k + 1) % 2] = next; });
    }
    if constexpr (slots == 1) team.barrier();
    store_parked(slot, k);
    // total() has a barrier: no warp is still in a slot of the tiles before, or one tile after.
    const T sum = total(tile);
    if (speaks) {
      chain.announce(warp, mine, sum, op, first);
      warp.once([&] { slot.total = sum; });
    }
    tile.park(slot.tile, op);
    announce(slot, mine);
  }
  team.barrier();
  // The warp that looks back learns of the end in the place of one more tile.
  store_parked(shared.slots[k % slots], k);
  team.barrier();
  announce(shared.slots[k % slots], mine);
  for (std::uint32_t later = k + 1; later < k + slots; ++later)
    store_parked(shared.slots[later % slots], later);
}

}  // namespace detail

/// What a team shares for decoupled_look_back with tiles of that type, their scratch included.
template <class Team, class T, class Tile>
using decoupled_look_back_scratch = detail::parked_tiles<Team, T, Tile>;

/// The skeleton of everything that allocates cooperatively: for every tile that this team gets,
///
///   auto tile = load(ticket, scratch)   begins it
///   total(tile)                         what it comes to; all warps of the team meet in it
///   store(tile, ticket, before)         ends it, given what comes before it: the totals of the
///                                       tiles in front combined by op, beginning with `first`
///
/// Totals are published as soon as they are known. If the policy says so, a team has parked_tiles
/// tiles wait while it begins more. One more warp of the team finds out what is before them, so
/// that no other warp waits for tiles that are late. What is left of a waiting tile is parked in
/// scratch by tile.park(place, op), and store is called with a Tile::resumed. What load() asks of
/// memory should be used in total() only: another tile is stored in between. A league of one team
/// knows what is before a tile without asking. If a tile can say what it comes to while it is
/// stored, such a league stores it without total(). one_by_one: see
/// look_back_chain::publish_and_look_back. All warps of the team call it once.
template <bool one_by_one = false, class Team, class T, class Scratch, class Op, class Load,
          class Total, class Store>
LANEWISE_FUNCTION void decoupled_look_back(const Team& team, const look_back_chain<T>& chain,
                                           std::uint32_t count, Scratch& shared, Op op,
                                           const maybe<T>& first, Load load, Total total,
                                           Store store) {
  if constexpr (Team::parked_tiles > 0) {
    if (team.warp_index() == 0) {
      const auto mine = chain.draw(team.warp(), count + team.league(), count);
      team.warp().once([&] {
        shared.next[0] = mine;
        for (auto& slot : shared.slots) {
          slot.announced.init();
          slot.resolved.init();
        }
      });
    }
    team.barrier_all();
    if (team.is_look_back_warp()) {
      detail::look_back_for<one_by_one>(team, chain, count, shared, op, first);
    } else {
      detail::begin_and_store(team, chain, count, shared, op, first, load, total, store);
    }
    team.barrier_all();
  } else {
    lanewise::for_each_ticket(
        team, chain, count, shared.chain, [&](auto mine) LANEWISE_INLINE_LAMBDA {
          auto tile = load(mine.ticket, shared.scratch);
          if constexpr (decltype(tile)::stores_unscanned) {
            if (team.league() == 1) {
              const maybe<T> before = mine.ticket == 0 ? first : shared.chain.before;
              store(tile, mine.ticket, before);
              shared.chain.before = {tile.end(before, op), true};
              return;
            }
          }
          const T sum = total(tile);
          store(tile, mine.ticket,
                lanewise::publish_and_look_back<one_by_one>(team, chain, mine, shared.chain, sum,
                                                            op, first));
        });
  }
}

LANEWISE_END_NAMESPACE
