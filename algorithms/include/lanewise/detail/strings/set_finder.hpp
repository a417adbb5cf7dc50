// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/strings/set_text.hpp>
#include <lanewise/operators.hpp>
#include <lanewise/pack.hpp>
#include <lanewise/warp.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// The places of a text where patterns of a set begin, and the longest of each: a warp looks at the
/// windows that begin among 32 W bytes (1024), a step, at a time.
///
/// The filter, a table in scratch, rules out most windows. Those that pass are looked up in the
/// table of windows, a lane each, and compared with the patterns that have them. The best rank of
/// each place is kept in scratch, so that hits may come in any order. Where there is too much to
/// compare, the automaton does the step instead, and the next few.
///
/// Windows begin up to `reach` bytes behind the places of their patterns. So a step that looks at
/// the bytes from b on ends what is known of the places from about b - reach on:
///
///   bytes of a step         |<------------ 32 W ------------>|
///   places that are known  |<-- reach -->|<-- 32 W - reach -->|
///   places of later steps                                      |<-- reach -->|
template <class Warp>
class set_finder {
 public:
  static constexpr int width = Warp::width;
  static constexpr int places = 32 * width;     ///< of a step
  static constexpr int reach = 64;              ///< 48 bytes, and those to the grid of 16 bytes
  static constexpr int bands = places / reach;  ///< of `reach` places
  using words = typename Warp::template lanes<std::uint32_t>;
  using mask = typename Warp::template mask_for<std::uint32_t>;

  /// Of a warp: the best ranks of places.
  struct scratch {
    std::uint32_t best[places + reach];
  };

  /// For the places [first, first + steps 32 W), where first is a multiple of 32 W.
  LANEWISE_FUNCTION set_finder(const Warp& warp, const text_bytes& text,
                               const pattern_set_view& set, const std::uint32_t* table,
                               int table_bits, scratch& shared, std::int64_t first, int steps)
      : warp_(warp),
        text_(text),
        set_(set),
        table_(table),
        table_bits_(table_bits),
        best_(shared.best),
        first_(first),
        steps_(steps),
        past_(static_cast<int>(reinterpret_cast<std::uintptr_t>(text.data) % (4 * k))) {
    for (int i = 0; i < places + reach; i += width) warp_.store(best_ + i, words(0u));
    warp_.fence();
  }

  /// Calls f(place, hit) for each step: what is known of the 32 W places from one on, where bit b
  /// of hit says that there are hits among those of band b.
  template <class F>
  LANEWISE_FUNCTION void find(F f) const {
    std::uint32_t hit = 0;
    int by_automaton = 0;
    for (int step = 0; step <= steps_ && first_of(step) - reach < text_.n; ++step) {
      hit |= find_step(step, by_automaton);
      f(first_of(step) - reach, hit & ((1u << bands) - 1));
      if (hit == 0) continue;
      forget(hit);
      hit >>= bands;
      for (int i = 0; i < reach && hit != 0; i += width) {
        warp_.store(best_ + i, warp_.load(best_ + places + i));
        warp_.store(best_ + places + i, words(0u));
      }
      warp_.fence();
    }
  }
  /// The ranks of W places, from number i of a step on.
  LANEWISE_FUNCTION words ranks(int i) const { return warp_.load(best_ + i); }

 private:
  static constexpr int k = Warp::words_of_text;
  static constexpr int rows = 8 / k;
  /// So many times for a step, lanes look up windows or compare, up to 64 words each; else, and in
  /// so many steps behind, the automaton is asked.
  static constexpr int most_turns = 64, steps_by_automaton = 7;

  struct row_of_words {
    words own[k];
    words behind[3];
    LANEWISE_FUNCTION const words& operator[](int j) const {
      return j < k ? own[j < k ? j : 0] : behind[j < k ? 0 : j - k];
    }
  };

  LANEWISE_FUNCTION std::int64_t first_of(int step) const {
    return first_ + std::int64_t{step} * places;
  }
  LANEWISE_FUNCTION void forget(std::uint32_t hit) const {
    for (hit &= (1u << bands) - 1; hit != 0; hit &= hit - 1)
      for (int i = 0; i < reach; i += width)
        warp_.store(best_ + Warp::lowest(hit) * reach + i, words(0u));
  }

  /// The bands in which something was found. At the ends of the text the automaton looks at bytes
  /// one by one.
  LANEWISE_FUNCTION std::uint32_t find_step(int step, int& by_automaton) const {
    const std::int64_t from = first_of(step) - past_;
    words hits(0u);
    bool asks = by_automaton > 0 || from < 0 || from + places + 16 > text_.n;
    if (by_automaton > 0) --by_automaton;
    if (!asks) {
      const auto* const at = reinterpret_cast<const std::uint32_t*>(text_.data + from);
      int turns = 0;
      for (std::uint32_t rest = set_.probed; rest != 0 && turns <= most_turns; rest &= rest - 1) {
        const int kind = Warp::lowest(rest);
        // Loaded for each kind: so many registers are not kept while windows are looked up.
        row_of_words in[rows];
        load(at, in);
        const words passed = probe(kind, in);
        if (warp_.any(passed != 0u)) look_up(kind, step, passed, turns, hits);
      }
      asks = turns > most_turns;
      if (asks) by_automaton = steps_by_automaton;
    }
    if (asks) ask_automaton(step, hits);
    if (!warp_.any(hits != 0u)) return 0;
    warp_.fence();
    return warp_.reduce(hits, bit_or{});
  }

  /// The words of the bytes from one on, of which only the bits that count are set, and up to three
  /// words behind.
  LANEWISE_FUNCTION void load(const std::uint32_t* at, row_of_words (&in)[rows]) const {
    const auto* const packs_at = reinterpret_cast<const pack<std::uint32_t, k>*>(at);
    const auto mine = warp_.lane() * words(std::uint32_t{k});
    const int behind = set_.probed >> 7 != 0 ? 3 : 1;
    LANEWISE_UNROLL
    for (int r = 0; r < rows; ++r) {
      const auto packs = warp_.load(packs_at + r * width);
      LANEWISE_UNROLL
      for (int j = 0; j < k; ++j)
        in[r].own[j] = warp_.map([j](const pack<std::uint32_t, k>& x) { return x[j]; }, packs) &
                       words(set_.letters);
      LANEWISE_UNROLL
      for (int i = 0; i < 3; ++i) {
        in[r].behind[i] = words(0u);
        if (i >= behind) continue;
        const std::uint32_t* const next = at + r * width * k + k + i;
        in[r].behind[i] =
            (k == 1 ? warp_.load(next) : warp_.gather(next, mine)) & words(set_.letters);
      }
    }
  }
  /// The windows that pass the filter: bit 4 k r + b of a lane is byte b of its words of row r.
  LANEWISE_FUNCTION words probe(int kind, const row_of_words (&in)[rows]) const {
    switch (kind) {
      case 0:
        return probe<0>(in);
      case 1:
        return probe<1>(in);
      case 2:
        return probe<2>(in);
      case 3:
        return probe<3>(in);
      case 4:
        return probe<4>(in);
      case 5:
        return probe<5>(in);
      default:
        return probe<7>(in);
    }
  }
  template <int kind>
  LANEWISE_FUNCTION words probe(const row_of_words (&in)[rows]) const {
    words passed(0u);
    LANEWISE_UNROLL
    for (int r = 0; r < rows; ++r) {
      LANEWISE_UNROLL
      for (int j = 0; j < k; ++j) {
        const words &a = in[r][j], &b = in[r][j + 1];
        const int i = 4 * (k * r + j);
        if constexpr (kind == 7) {
          add_if_passed<kind>(mixed(a, in[r][j + 2]), mixed(b, in[r][j + 3]), i, passed);
        } else if constexpr (kind == 5) {
          add_if_passed<kind>(a, b, i, passed);
        } else if constexpr (kind == 4) {
          add_if_passed<kind>(a, b & words(0xffffu), i, passed);
          add_if_passed<kind>(across<2>(a, b), b >> 16, i + 2, passed);
        } else {
          const words own(~0u >> (24 - 8 * kind)), nothing(0u);
          add_if_passed<kind>(a & own, nothing, i, passed);
          add_if_passed<kind>(across<1>(a, b) & own, nothing, i + 1, passed);
          add_if_passed<kind>(across<2>(a, b) & own, nothing, i + 2, passed);
          add_if_passed<kind>(across<3>(a, b) & own, nothing, i + 3, passed);
        }
      }
    }
    return passed;
  }
  static LANEWISE_FUNCTION words mixed(const words& near, const words& far) {
    return near * words(window_key::mixed(1, 0)) + far;
  }
  template <int r>
  static LANEWISE_FUNCTION words across(const words& a, const words& b) {
    return a >> 8 * r | b << (32 - 8 * r);
  }
  template <int kind>
  LANEWISE_FUNCTION void add_if_passed(const words& low, const words& high, int i,
                                       words& passed) const {
    const auto hash = warp_.map(
        [](std::uint32_t a, std::uint32_t b) {
          return window_key{a ^ static_cast<std::uint32_t>(kind) * 0x6b43a9b5u, b}.hash();
        },
        low, high);
    const auto word = warp_.gather(
        table_,
        warp_.map([bits = table_bits_](std::uint32_t h) { return filter_place::word(h, bits); },
                  hash));
    passed = passed | warp_.map([i](std::uint32_t w,
                                    std::uint32_t h) { return filter_place::bits_set(w, h) << i; },
                                word, hash);
  }

  /// What lanes have a number of each, as tasks of lanes: from which lane a task is, and which of
  /// that lane's it is.
  struct tasks {
    words upto;
    words number;
    std::uint32_t total;
  };
  LANEWISE_FUNCTION tasks tasks_of(const words& number) const {
    const words upto = warp_.inclusive_scan(number, plus{});
    return {upto, number, warp_.broadcast(upto, width - 1)};
  }
  LANEWISE_FUNCTION words owner_of(const tasks& all, const words& task) const {
    words owner(0u);
    LANEWISE_UNROLL
    for (std::uint32_t half = width / 2; half != 0; half /= 2) {
      const words upto = warp_.shuffle(all.upto, owner + words(half - 1));
      owner = select(upto <= task, owner + words(half), owner);
    }
    return owner;
  }
  LANEWISE_FUNCTION words number_of(const tasks& all, const words& owner, const words& task) const {
    return task - warp_.shuffle(all.upto - all.number, owner);
  }

  /// Looks up the windows that passed, a lane each. Gives up where there are too many.
  LANEWISE_RARE_FUNCTION void look_up(int kind, int step, const words& passed, int& turns,
                                      words& hits) const {
    const tasks all = tasks_of(bits_set(warp_, passed));
    for (std::uint32_t i = 0; i < all.total && turns <= most_turns; i += width) {
      const words task = warp_.lane() + words(i), owner = owner_of(all, task);
      const mask exists = task < all.total;
      words bits = warp_.shuffle(passed, owner), at = owner, skipped = number_of(all, owner, task);
      warp_.each(
          exists,
          [](std::uint32_t& x, std::uint32_t word, std::uint32_t n) {
            for (; n != 0; --n) word &= word - 1;
            const auto b = static_cast<std::uint32_t>(Warp::popcount((word & ~(word - 1)) - 1));
            x = b / (4 * k) * (4 * k * width) + 4 * k * x + b % (4 * k);
          },
          at, bits, skipped);
      ++turns;
      look_up_with_longer(kind, step, exists, at, turns, hits);
    }
  }
  /// Windows that begin at bytes of a step, and then longer ones that begin there, and those that
  /// lie around them.
  LANEWISE_FUNCTION void look_up_with_longer(int kind, int step, const mask& exists,
                                             const words& at, int& turns, words& hits) const {
    constexpr int longer = long_kinds_end - long_kinds_begin;
    words also(0u);
    for (int t = 0; t <= longer + windows_around(kind); ++t) {
      const int here = t == 0 ? kind : t <= longer ? long_kinds_begin + t - 1 : kind_around(kind);
      const mask active = t == 0 ? exists : (also & words(also_of(here))) != 0u;
      if (t != 0 && !warp_.any(active)) continue;
      const words more =
          compare_lists(here, t <= longer ? 0 : t - longer - 1, step, active, at, turns, hits);
      if (t == 0) also = more;
      if (t == 0 && !warp_.any(also != 0u)) return;
    }
  }
  /// Compares all patterns that have the windows that begin so many bytes in front of bytes of a
  /// step. Returns what else is to be looked up.
  LANEWISE_FUNCTION words compare_lists(int kind, int back, int step, const mask& active,
                                        const words& at, int& turns, words& hits) const {
    const set_text mine{text_, set_};
    const std::int64_t from = first_of(step) - past_ - back, base = first_of(step) - reach;
    typename Warp::template lanes<std::uint64_t> list(std::uint64_t{0});
    words place = at;
    warp_.each(
        active, [=](std::uint64_t& l, std::uint32_t x) { l = mine.list_of(from + x, kind); }, list,
        place);
    if (!warp_.any(list != std::uint64_t{0})) return words(0u);
    const words first = warp_.template cast<std::uint32_t>(list);
    const tasks all = tasks_of(
        warp_.map([](std::uint64_t l) { return static_cast<std::uint32_t>(l >> 40); }, list));
    for (std::uint32_t i = 0; i < all.total; i += width) {
      if (++turns > most_turns) break;
      const words task = warp_.lane() + words(i), owner = owner_of(all, task);
      const auto entry = warp_.gather(task < all.total, set_.entries,
                                      warp_.shuffle(first, owner) + number_of(all, owner, task),
                                      window_entry{0, 0});
      const words index = warp_.map(
          [past = past_ + back](std::uint32_t x, const window_entry& e) {
            return x - static_cast<std::uint32_t>(past) + reach - e.offset;
          },
          warp_.shuffle(at, owner), entry);
      const words rank = warp_.map([](const window_entry& e) { return e.rank; }, entry);
      take(compared(base, rank, index, turns), index, hits);
    }
    return warp_.map([](std::uint64_t l) { return static_cast<std::uint32_t>(l >> 32) & 0xff; },
                     list);
  }
  /// Compares a pattern of each lane with the text at place base + index, if it has a rank.
  LANEWISE_FUNCTION words compared(std::int64_t base, const words& rank, const words& index,
                                   int& turns) const {
    const set_text mine{text_, set_};
    const std::int64_t begin = first_, end = first_ + std::int64_t{steps_} * places;
    words outcome(std::uint32_t{set_text::differs}), of = rank, from = index;
    warp_.each(
        rank != 0u,
        [=](std::uint32_t& o, std::uint32_t r, std::uint32_t i) {
          const std::int64_t place = base + i;
          if (place >= begin && place < end && place + mine.set.size[r] <= mine.text.n)
            o = mine.compare(place, r);
        },
        outcome, of, from);
    for (auto todo = warp_.ballot(outcome == std::uint32_t{set_text::agrees_so_far}); todo != 0;
         todo &= todo - 1) {
      const int lane = Warp::lowest(todo);
      const bool agrees =
          agrees_behind(base + warp_.broadcast(index, lane), warp_.broadcast(rank, lane), turns);
      outcome = select(warp_.lane() == static_cast<std::uint32_t>(lane),
                       words(agrees ? set_text::agrees : set_text::differs), outcome);
    }
    return select(outcome != std::uint32_t{set_text::differs}, rank, words(0u));
  }
  /// The rest of a long pattern, by the whole warp.
  LANEWISE_RARE_FUNCTION bool agrees_behind(std::int64_t place, std::uint32_t rank,
                                            int& turns) const {
    const set_text mine{text_, set_};
    const std::uint32_t size = set_.size[rank];
    const std::uint32_t* const pattern = set_.bytes + set_.words[rank];
    for (std::uint32_t i = set_text::most_compared; i < size; i += 4 * width, ++turns) {
      const auto different = warp_.map(
          [=](std::uint32_t lane) {
            const std::uint32_t b = i + 4 * lane;
            if (b >= size) return 0u;
            const std::uint32_t counting = size - b < 4 ? ~0u >> (32 - 8 * (size - b)) : ~0u;
            return (mine.folded(mine.word(place + b)) ^ pattern[b / 4]) & counting;
          },
          warp_.lane());
      if (warp_.any(different != 0u)) return false;
    }
    return true;
  }
  LANEWISE_FUNCTION void take(const words& rank, const words& index, words& hits) const {
    warp_.template fetch_max<order::relaxed, scope::team>(rank != 0u, best_, index, rank);
    hits = select(rank != 0u,
                  hits | warp_.map([](std::uint32_t i) { return 1u << i / reach; }, index), hits);
  }

  /// The best of all places whose windows may begin in a step: each lane those of neighbours. It
  /// begins `depth` bytes behind them, as its state depends on no more.
  LANEWISE_RARE_FUNCTION void ask_automaton(int step, words& hits) const {
    constexpr int each = (places + reach) / width;
    const set_text mine{text_, set_};
    const std::int64_t base = first_of(step) - reach;
    const auto end = warp_.map(
        [=](std::uint32_t lane) { return base + static_cast<std::int64_t>(lane + 1) * each; },
        warp_.lane());
    words state = warp_.map(
        [=](std::int64_t to) {
          std::uint32_t s = 0;
          for (std::int64_t p = to + mine.set.depth - 2; p >= to; --p)
            if (p >= 0 && p < mine.text.n) s = mine.next(s, p);
          return s;
        },
        end);
    const words first = warp_.lane() * words(std::uint32_t{each});
    for (words index = first + words(std::uint32_t{each}); warp_.any(index != first);) {
      index = index - words(1u);
      state = warp_.map(
          [=](std::uint32_t s, std::uint32_t x) {
            const std::int64_t p = base + x;
            return p >= 0 && p < mine.text.n ? mine.next(s, p) : s;
          },
          state, index);
      take_value(base, warp_.map([=](std::uint32_t s) { return mine.set.states[s].value; }, state),
                 index, hits);
    }
  }
  /// What the automaton says of places that are in the text and this finder's.
  LANEWISE_FUNCTION void take_value(std::int64_t base, const words& value, const words& index,
                                    words& hits) const {
    const std::int64_t begin = first_, end = first_ + std::int64_t{steps_} * places;
    words rank = warp_.map(
        [=, n = text_.n](std::uint32_t v, std::uint32_t i) {
          const std::int64_t p = base + i;
          return p >= begin && p < end && p < n ? v : 0u;
        },
        value, index);
    if (warp_.any(rank >= set_state::is_group)) rank = longest_of_groups(base, rank, index);
    take(rank, index, hits);
  }
  LANEWISE_RARE_FUNCTION words longest_of_groups(std::int64_t base, const words& value,
                                                 const words& index) const {
    const set_text mine{text_, set_};
    const mask is_group = value >= set_state::is_group;
    const auto group = warp_.map(
        is_group, [=](std::uint32_t v) { return mine.set.groups[v & ~set_state::is_group]; },
        long_group{0, 0, 0}, value);
    words rank = select(is_group, words(0u), value),
          at = warp_.map([](const long_group&g) { return g.begin; }, group);
    for (;;) {
      const words tried = warp_.map(
          [=](std::uint32_t r, std::uint32_t i, const long_group& g) {
            return r == 0 && i < g.end ? mine.set.longs[i] : 0u;
          },
          rank, at, group);
      if (!warp_.any(tried != 0u)) break;
      int turns = 0;
      const words found = compared(base, tried, index, turns);
      rank = select(found != 0u, found, rank);
      at = at + words(1u);
    }
    return select(is_group & (rank == 0u),
                  warp_.map([](const long_group& g) { return g.otherwise; }, group), rank);
  }

  const Warp& warp_;
  const text_bytes& text_;
  const pattern_set_view& set_;
  const std::uint32_t* table_;
  int table_bits_;
  std::uint32_t* best_;
  std::int64_t first_;
  int steps_;
  int past_;  // how far the bytes of a step are in front of its places, to begin in the grid
};

}  // namespace detail
LANEWISE_END_NAMESPACE
