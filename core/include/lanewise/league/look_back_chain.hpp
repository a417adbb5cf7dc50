// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/memory.hpp>
#include <lanewise/warp/warp.hpp>

#include <cstdint>
#include <cstring>

LANEWISE_BEGIN_NAMESPACE

/// A value that may be missing: operators need not have an identity.
template <class T>
struct maybe {
  T value;
  bool present;
};

/// One place per ticket in which a tile publishes its total and later its prefix. The tag is always
/// the last word, so that every format recognises leftovers of every other one.
struct alignas(16) look_back_slot {
  std::uint32_t word[3];
  std::uint32_t tag;
};

/// Whether what a tile does before it publishes a T is ordered before what tiles after it do once
/// they know of it: types say so by `orders_memory`. Else values tell nothing but themselves.
template <class T>
inline constexpr bool orders_memory = requires {
  T::orders_memory;
};

/// Ordered hand-over of a running value from tile to tile (decoupled look-back; Merrill, 3 as a
/// single pass). Tiles take tickets. A tile publishes its total before it waits for its
/// predecessors. So the tile with the lowest ticket never waits, and progress needs no assumption
/// about scheduling. Memory is cleared once, when it is allocated: a tag carries the epoch of its
/// launch, and the warp that draws the last ticket of a launch starts the next epoch. A tag has 30
/// bits for the epoch, which come again. Therefore every launch also clears a few slots that it
/// does not use, in rotation: no slot keeps a tag for more than 2^29 launches.
///
/// Values of up to 4 bytes share a 64-bit word with their tag, on backends with 16-byte atomic
/// words values of up to 12 bytes do; larger ones, and those with orders_memory<T>, are written
/// beside and published by a release store of the tag.
template <class T>
class look_back_chain {
 public:
  /// Control word: epoch << 32 | next ticket.
  std::uint64_t* control;
  look_back_slot* slots;
  /// Two places per ticket, for values that do not fit a slot.
  T* payload;
  /// The number of slots in memory.
  std::uint32_t places;
  /// A power of two that is at least `places`, less one: the rotation goes so far.
  std::uint32_t rotation;

  static constexpr std::size_t payload_bytes(std::int64_t tickets) {
    return sizeof(T) <= 4 ? 0 : 2 * sizeof(T) * static_cast<std::size_t>(tickets);
  }

  struct drawn {
    std::uint32_t ticket;
    std::uint32_t epoch;
  };

  /// Takes the next ticket for the calling warp. draws is the number of draws of the whole launch,
  /// of whose tickets those below `used` may be exchanged from here on.
  template <class W>
  LANEWISE_FUNCTION drawn draw(const W& warp, std::uint32_t draws, std::uint32_t used) const {
    // Relaxed: what tiles tell each other travels with their tags.
    const std::uint64_t word = warp.fetch_add(*control, 1);
    const drawn mine{static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32)};
    if (mine.ticket + 1 == draws) {
      clear_some(warp, mine.epoch, used);
      warp.store(*control, std::uint64_t{mine.epoch + 1} << 32);
    }
    return mine;
  }

  /// Publishes the tile's total and returns the combination of everything before it, starting with
  /// first if that is present: combined one total after the other if one_by_one, which gives the
  /// same bits wherever the prefixes happened to be. Called by one warp of the team.
  template <bool one_by_one = false, class W, class Op>
  LANEWISE_FUNCTION maybe<T> publish_and_look_back(const W& warp, drawn mine, const T& total, Op op,
                                                   maybe<T> first) const {
    announce(warp, mine, total, op, first);
    return resolve<one_by_one>(warp, mine, total, op, first);
  }

  /// The two halves of it, between which the caller may do what does not need the result.
  template <class W, class Op>
  LANEWISE_FUNCTION void announce(const W& warp, drawn mine, const T& total, Op op,
                                  maybe<T> first) const {
    if (mine.ticket == 0) {
      publish(warp, mine, has_prefix, first.present ? op(first.value, total) : total);
    } else {
      publish(warp, mine, stands_alone(op, total) ? has_prefix : has_total, total);
    }
  }
  template <bool one_by_one = false, class W, class Op>
  LANEWISE_FUNCTION maybe<T> resolve(const W& warp, drawn mine, const T& total, Op op,
                                     maybe<T> first) const {
    if (mine.ticket == 0) return first;
    const T before = one_by_one ? look_back_one_by_one(warp, mine, op) : look_back(warp, mine, op);
    if (!stands_alone(op, total)) publish(warp, mine, has_prefix, op(before, total));
    return {before, true};
  }

 private:
  /// Whether the total is a prefix already: op may have stands_alone(b), true where op(a, b) is b
  /// for every a.
  template <class Op>
  static LANEWISE_FUNCTION bool stands_alone(const Op& op, const T& total) {
    if constexpr (requires { op.stands_alone(total); }) {
      return op.stands_alone(total);
    } else {
      return false;
    }
  }

  enum state : std::uint32_t { empty = 0, has_total = 1, has_prefix = 2 };

  /// Clears as many neighbouring slots as the warp has lanes, but none that is used. Epochs count
  /// modulo 2^32, a multiple of the rotation's length: it goes on where they begin again.
  template <class W>
  LANEWISE_FUNCTION void clear_some(const W& warp, std::uint32_t epoch, std::uint32_t used) const {
    using numbers = lanes_t<W, std::uint32_t>;
    constexpr std::uint32_t width = W::width;
    numbers slot = warp.lane() + numbers((epoch * width) & rotation);
    const auto unused = (slot >= numbers(used)) & (slot < numbers(places));
    warp.each(
        unused, [all = slots](std::uint32_t s) { all[s].tag = 0; }, slot);
  }

  template <class W>
  static constexpr bool in_word = sizeof(T) <= 4 ||
                                  (sizeof(T) <= 12 && W::has_wide_words && !orders_memory<T>);

  static LANEWISE_FUNCTION std::uint32_t tag_of(drawn mine, state s) { return mine.epoch << 2 | s; }

  template <class W>
  LANEWISE_FUNCTION void publish(const W& warp, drawn mine, state s, const T& value) const {
    look_back_slot slot{};
    slot.tag = tag_of(mine, s);
    if constexpr (sizeof(T) <= 4) {
      std::uint64_t word = 0;
      std::uint32_t bits = 0;
      std::memcpy(&bits, &value, sizeof(T));
      word = std::uint64_t{slot.tag} << 32 | bits;
      warp.store(*narrow_word(mine.ticket), word);
    } else if constexpr (in_word<W>) {
      std::memcpy(slot.word, &value, sizeof(T));
      warp.store(slots[mine.ticket], slot);
    } else {
      warp.once([&] { payload[2 * std::size_t{mine.ticket} + (s == has_prefix)] = value; });
      warp.template store<order::release>(slots[mine.ticket].tag, slot.tag);
    }
  }

  /// Folds the totals of the nearest predecessors, a warp's width at a time, back to one that has
  /// published its prefix.
  template <class W, class Op>
  LANEWISE_FUNCTION T look_back(const W& warp, drawn mine, Op op) const {
    maybe<T> sum{{}, false};
    // Lane W-1 looks at the nearest predecessor. Lanes beyond ticket 0 look at nothing; ticket 0
    // always publishes a prefix.
    for (std::int64_t begin = std::int64_t{mine.ticket} - W::width;; begin -= W::width) {
      const int outside = begin < 0 ? static_cast<int>(-begin) : 0;
      const auto inside = !warp.template first<std::uint32_t>(outside);
      const auto index =
          warp.map([begin](std::uint32_t i) { return begin + std::int64_t{i}; }, warp.lane());
      lanes_t<W, T> value;
      int last_prefix = -1;
      for (;;) {
        const auto state_now = read(warp, inside, index, mine, value);
        const auto prefixes = warp.ballot(
            inside & (state_now == typename W::template lanes<std::uint32_t>(has_prefix)));
        const auto missing =
            warp.ballot(inside & (state_now == typename W::template lanes<std::uint32_t>(empty)));
        last_prefix = prefixes != 0 ? W::highest(prefixes) : -1;
        const int last_missing = missing != 0 ? W::highest(missing) : -1;
        if (last_missing < last_prefix || missing == 0) break;
        warp.pause();
      }
      const T window = warp.reduce_from(last_prefix >= 0 ? last_prefix : outside, value, op);
      sum.value = sum.present ? op(window, sum.value) : window;
      sum.present = true;
      if (last_prefix >= 0) return sum.value;
    }
  }

  /// Goes back to the nearest prefix, a warp's width at a time, and from there forward again, one
  /// total after the other. A prefix found on the way is what this would have computed. The totals
  /// passed by are kept, so that none is waited for twice: how many tiles may hear of one prefix at
  /// a time decides how fast prefixes travel. Further back than that it waits for one to come.
  template <class W, class Op>
  LANEWISE_FUNCTION T look_back_one_by_one(const W& warp, drawn mine, Op op) const {
    using states = lanes_t<W, std::uint32_t>;
    // A prefix travels 256 tiles in the time of one look and 256 operations. An H200 scans 2^28
    // doubles at 213 Gitems/s like this, and at 200 by 4 windows with a condition in every
    // operation.
    constexpr int windows = 8;
    lanes_t<W, T> value[windows];
    int last_prefix = -1;
    int farthest = 0;
    LANEWISE_UNROLL
    for (int w = 0; w < windows; ++w) {
      if (last_prefix >= 0) continue;
      farthest = w;
      const std::int64_t begin = std::int64_t{mine.ticket} - (w + 1) * W::width;
      const int outside = begin < 0 ? static_cast<int>(-begin) : 0;
      const auto inside = !warp.template first<std::uint32_t>(outside);
      const auto index =
          warp.map([begin](std::uint32_t i) { return begin + std::int64_t{i}; }, warp.lane());
      for (;;) {
        const auto state_now = read(warp, inside, index, mine, value[w]);
        const auto prefixes = warp.ballot(inside & (state_now == states(has_prefix)));
        const auto missing = warp.ballot(inside & (state_now == states(empty)));
        last_prefix = prefixes != 0 ? W::highest(prefixes) : -1;
        const bool complete = missing == 0 || W::highest(missing) < last_prefix;
        if (complete && (last_prefix >= 0 || w + 1 < windows)) break;
        warp.pause();
      }
    }
    auto with_prefix = value[0];
    LANEWISE_UNROLL
    for (int w = 1; w < windows; ++w) {
      if (w == farthest) with_prefix = value[w];
    }
    T sum = warp.fold(warp.broadcast(with_prefix, last_prefix), with_prefix, op, last_prefix + 1,
                      W::width);
    // All totals of the windows in between are needed: no operation waits for a condition.
    LANEWISE_UNROLL
    for (int w = windows - 2; w >= 0; --w) {
      if (w < farthest) sum = warp.fold(sum, value[w], op, 0, W::width);
    }
    return sum;
  }

  /// State of every looked-at slot, and its value where there is one.
  template <class W, class Mask, class Index>
  LANEWISE_FUNCTION auto read(const W& warp, const Mask& inside, const Index& index, drawn mine,
                              lanes_t<W, T>& value) const {
    using states = lanes_t<W, std::uint32_t>;
    const auto decode = [mine](std::uint32_t tag) -> std::uint32_t {
      return tag >> 2 == (mine.epoch & 0x3fffffffu) ? tag & 3 : std::uint32_t{empty};
    };
    if constexpr (sizeof(T) <= 4) {
      const auto words = warp.load_relaxed(inside, narrow_word(0),
                                           warp.map([](std::int64_t i) { return 2 * i; }, index),
                                           std::uint64_t{0});
      value = warp.map(
          [](std::uint64_t w) {
            const auto bits = static_cast<std::uint32_t>(w);
            T x;
            std::memcpy(&x, &bits, sizeof(T));
            return x;
          },
          words);
      return states(warp.map(
          [decode](std::uint64_t w) { return decode(static_cast<std::uint32_t>(w >> 32)); },
          words));
    } else if constexpr (in_word<W>) {
      const auto words = warp.load_relaxed(inside, slots, index, look_back_slot{});
      value = warp.map(
          [](const look_back_slot& s) {
            T x;
            std::memcpy(&x, s.word, sizeof(T));
            return x;
          },
          words);
      return states(warp.map([decode](const look_back_slot& s) { return decode(s.tag); }, words));
    } else {
      const auto tags = warp.load_acquire(
          inside, &slots[0].tag, warp.map([](std::int64_t i) { return 4 * i; }, index), 0u);
      const auto found = states(warp.map(decode, tags));
      const auto place = warp.map(
          [](std::int64_t i, std::uint32_t s) { return 2 * i + (s == has_prefix); }, index, found);
      const auto ready = inside & (found != states(empty));
      value = warp.map(
          ready, [data = payload](std::int64_t i) { return data[i]; }, T{}, place);
      return found;
    }
  }

  /// The upper half of a slot as one 64-bit word: tag above, value below.
  LANEWISE_FUNCTION std::uint64_t* narrow_word(std::size_t ticket) const {
    return reinterpret_cast<std::uint64_t*>(slots + ticket) + 1;
  }
};

/// What a team shares while it works on a chain.
template <class T>
struct look_back_scratch {
  typename look_back_chain<T>::drawn drawn;
  maybe<T> before;
};

/// Calls f(drawn) for the tickets below count that this team draws. Tickets are drawn in order, so
/// the tile with the lowest unfinished ticket is always being worked on.
template <class Team, class T, class F>
LANEWISE_FUNCTION void for_each_ticket(const Team& team, const look_back_chain<T>& chain,
                                       std::uint32_t count, look_back_scratch<T>& shared, F f) {
  const std::uint32_t draws = Team::one_ticket ? team.league() : count + team.league();
  // One team may do without the chain, and has no ticket left when it draws for the last time.
  const std::uint32_t used = !Team::one_ticket && team.league() == 1 ? 0 : count;
  for (;;) {
    if (team.warp_index() == 0) {
      const auto mine = chain.draw(team.warp(), draws, used);
      team.warp().once([&] { shared.drawn = mine; });
    }
    team.barrier();
    const auto mine = shared.drawn;
    if (mine.ticket >= count) return;
    f(mine);
    if constexpr (Team::one_ticket) return;
    team.barrier();
  }
}

/// look_back_chain::publish_and_look_back for a whole team: its first warp talks to the chain,
/// every warp learns the result.
template <bool one_by_one = false, class Team, class T, class Op>
LANEWISE_FUNCTION maybe<T> publish_and_look_back(const Team& team, const look_back_chain<T>& chain,
                                                 typename look_back_chain<T>::drawn mine,
                                                 look_back_scratch<T>& shared, const T& total,
                                                 Op op, const maybe<T>& first) {
  if constexpr (Team::warps == 1) {
    return chain.template publish_and_look_back<one_by_one>(team.warp(), mine, total, op, first);
  } else {
    if (team.warp_index() == 0) {
      const maybe<T> before =
          chain.template publish_and_look_back<one_by_one>(team.warp(), mine, total, op, first);
      team.warp().once([&] { shared.before = before; });
    }
    team.barrier();
    return shared.before;
  }
}

LANEWISE_END_NAMESPACE
