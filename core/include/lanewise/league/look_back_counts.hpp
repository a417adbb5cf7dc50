// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/warp/warp.hpp>

#include <cstdint>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE

/// Ordered hand-over of a vector of counts, one per bucket, from tile to tile: decoupled look-back
/// for every bucket at once. A look_back_chain hands over one value of any type; this one hands
/// over numbers, a lane for each, in words that say by their two upper bits what they are. So a
/// word is read and written without any order among words, and a window of buckets is a line of
/// memory.
///
/// The memory, one word per tile and bucket, is zero before the launch. Counts and their sums need
/// two bits less than Word has. Tiles are taken in the order of tickets, so that the tile in front
/// is under way. Memory traffic per tile and bucket: two words written, and as many read as tiles
/// are under way before the nearest one that knows its prefix, mostly from cache. (Merrill, 3, for
/// vectors; the order of the papers' scans of a matrix of counters, in one pass.)
template <class Word>
class look_back_counts {
  static_assert(std::is_same_v<Word, std::uint32_t> || std::is_same_v<Word, std::uint64_t>);

 public:
  Word* words;
  std::uint32_t buckets;

  /// Sums below this can be told.
  static constexpr std::int64_t limit = std::int64_t{1} << (8 * sizeof(Word) - 2);

  static constexpr std::size_t bytes(std::int64_t tiles, std::uint32_t buckets) {
    return static_cast<std::size_t>(tiles) * buckets * sizeof(Word);
  }

  /// Says how many items of the buckets from `first` on, one per lane, the tile has.
  template <class W>
  LANEWISE_FUNCTION void publish(const W& warp, std::int64_t tile, std::uint32_t first,
                                 const lanes_t<W, Word>& count) const {
    put(warp, tile, first, count, tile == 0 ? is_prefix : is_count);
  }

  /// How many items of these buckets the tiles in front have, and publishes their sum with the
  /// tile's own, for the tiles after. After publish, by the same warp. Waits for tiles in front.
  template <class W>
  LANEWISE_FUNCTION lanes_t<W, Word> look_back(const W& warp, std::int64_t tile,
                                               std::uint32_t first,
                                               const lanes_t<W, Word>& count) const {
    using words_type = lanes_t<W, Word>;
    words_type sum(Word{0});
    if (tile == 0) return sum;
    // Tiles that are asked at a time: their loads are in flight together.
    constexpr int together = 4;
    const words_type none(Word{0}), value_bits(count_mask);
    const std::int64_t stride = buckets;
    auto waiting = there(warp, first);
    auto at =
        warp.map([=](std::uint32_t l) { return (tile - 1) * stride + first + l; }, warp.lane());
    for (;;) {
      words_type word[together];
      LANEWISE_UNROLL
      for (int k = 0; k < together; ++k) {
        const auto exists = waiting & (at >= k * stride);
        word[k] = warp.load_relaxed(exists, words, at - index(warp, k * stride), Word{0});
      }
      auto goes_on = waiting;
      LANEWISE_UNROLL
      for (int k = 0; k < together; ++k) {
        goes_on = goes_on & (word[k] != none);
        sum = lanewise::select(goes_on, sum + (word[k] & value_bits), sum);
        at = lanewise::select(goes_on, at - index(warp, stride), at);
        const auto ends = goes_on & (word[k] >= words_type(is_prefix));
        waiting = waiting & !ends;
        goes_on = goes_on & !ends;
      }
      if (!warp.any(waiting)) break;
      if (!warp.any(goes_on)) warp.pause();
    }
    put(warp, tile, first, sum + count, is_prefix);
    return sum;
  }

 private:
  static constexpr Word is_count = Word{1} << (8 * sizeof(Word) - 2);
  static constexpr Word is_prefix = Word{2} << (8 * sizeof(Word) - 2);
  static constexpr Word count_mask = is_count - 1;

  template <class W>
  static LANEWISE_FUNCTION auto index(const W&, std::int64_t i) {
    return typename W::template lanes<std::int64_t>(i);
  }
  template <class W>
  LANEWISE_FUNCTION auto there(const W& warp, std::uint32_t first) const {
    return warp.template first<Word>(buckets > first ? static_cast<int>(buckets - first) : 0);
  }
  template <class W, class Words>
  LANEWISE_FUNCTION void put(const W& warp, std::int64_t tile, std::uint32_t first, const Words& x,
                             Word state) const {
    warp.store_relaxed(there(warp, first), words + tile * std::int64_t{buckets} + first,
                       x | Words(state));
  }
};

/// Calls f(t) for tiles [0, count), each by one team, in the order in which teams take tickets: so
/// the tiles before t are under way. `tickets` is 0 before the launch, `ticket` in the team's
/// scratch. launched: the launch has a team for each tile.
template <bool launched, class Team, class F>
LANEWISE_FUNCTION void for_each_tile_in_order(const Team& team, std::uint32_t& ticket,
                                              std::uint32_t& tickets, std::uint32_t count,
                                              const F& f) {
  const auto warp = team.warp();
  for (;;) {
    if (team.warp_index() == 0) {
      const std::uint32_t next = warp.fetch_add(tickets, 1u);
      warp.once([&] { ticket = next; });
    }
    team.barrier();
    const std::uint32_t t = ticket;
    if (t >= count) return;
    f(t);
    if constexpr (launched && Team::one_ticket) return;
    team.barrier();
  }
}

/// For split_tile: where the runs of a tile begin, after the first place of each bucket and after
/// the tiles in front.
template <class Word>
struct look_back_offsets {
  static constexpr bool waits = true;

  look_back_counts<Word> counts;
  const std::uint64_t* starts;  // of the buckets, in the output
  std::int64_t tile;

  template <class W>
  LANEWISE_FUNCTION auto ask(const W& warp, std::uint32_t first, std::uint32_t buckets) const {
    const auto exists = warp.lane() + typename W::template lanes<std::uint32_t>(first) < buckets;
    return warp.load(exists, starts + first, std::uint64_t{0});
  }
  template <class W, class Counts>
  LANEWISE_FUNCTION void tell(const W& warp, std::uint32_t first, std::uint32_t,
                              const Counts& own) const {
    counts.publish(warp, tile, first, warp.template cast<Word>(own));
  }
  template <class W, class Starts, class Counts>
  LANEWISE_FUNCTION auto get(const W& warp, std::uint32_t first, std::uint32_t, const Starts& start,
                             const Counts& own) const {
    const auto before = counts.look_back(warp, tile, first, warp.template cast<Word>(own));
    return warp.template cast<std::int64_t>(start + warp.template cast<std::uint64_t>(before));
  }
};

LANEWISE_END_NAMESPACE
