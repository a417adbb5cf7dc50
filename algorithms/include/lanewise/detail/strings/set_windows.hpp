// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/strings/set_normal_form.hpp>
#include <lanewise/detail/strings/set_view.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// The windows of a set's patterns, on the host: for each pattern a place, so chosen that its
/// windows are those of few others. (What is in most patterns is in most texts, too: of 800
/// patterns a...axa...a all have aaaaaaaa.)
class set_windows {
 public:
  /// How far behind a pattern's begin a window may begin.
  static constexpr std::size_t most_offset = 48;

  /// From so many patterns of 7 bytes on longer windows are worth another look-up.
  static constexpr std::size_t many_patterns = 256;

  std::uint32_t probed = 0;

  int slots_bits = 1;
  bool has_many = false;
  std::vector<std::uint32_t> few = std::vector<std::uint32_t>(1 << filter_place::few_words_bits);
  std::vector<std::uint32_t> many = std::vector<std::uint32_t>(1 << filter_place::many_words_bits);
  std::vector<window_slot> slots;
  std::vector<window_entry> entries = std::vector<window_entry>(1);

  /// letters: the bits of a word that count. O(48 windows for each pattern).
  set_windows(const set_normal_form& set, std::uint32_t letters) : letters_(letters) {
    std::size_t places = 0;
    for (const std::string_view p : set.patterns) {
      if (p.size() < 7) continue;
      shortest_ = std::min(shortest_, p.size());
      ++number_of_long_;
    }
    for (const std::string_view p : set.patterns) places += std::min(p.size(), most_offset);
    counts_.resize(std::bit_ceil(std::clamp<std::size_t>(places, 1 << 8, 1 << 22)));
    choose(set);
    put_longer_windows(set);
    make_tables();
  }

 private:
  /// A pattern's, whose filter looks at windows of kind `first`.
  struct choice {
    window_key key;  ///< of kind `first`
    std::uint32_t kind, first, rank, offset, beyond;
    auto order() const { return std::tuple(key.low, key.high); }
  };
  /// Of a pattern, or of none where it only tells of others.
  struct window {
    window_key key;
    std::uint32_t also, rank, offset;
    auto order() const { return std::tuple(key.low, key.high, ~rank, offset, also); }
    bool operator==(const window& other) const { return order() == other.order(); }
  };
  /// So many patterns of a window are compared; of more, longer windows are looked up.
  static constexpr std::size_t most_compared = 4;

  std::uint32_t kind_of(std::string_view p) const {
    if (p.size() < 7) return static_cast<std::uint32_t>(std::min<std::size_t>(p.size(), 4)) - 1;
    if (shortest_ >= 19) return 7;
    const bool has_many_long = number_of_long_ >= many_patterns;
    if (shortest_ < 11) return has_many_long && p.size() >= 11 ? 8 : 4;
    return !has_many_long || p.size() < 15 ? 5 : p.size() < 19 ? 6 : 7;
  }
  static std::size_t stride_of(std::uint32_t kind) {
    return static_cast<std::size_t>(window_kinds[kind].stride);
  }
  /// The kind that the filter looks at first.
  std::uint32_t first_kind(std::uint32_t kind) const {
    return shortest_ >= 19 ? kind : static_cast<std::uint32_t>(window_kinds[kind].first);
  }
  /// The first window may begin at bytes [0, n) of a pattern.
  static std::size_t choices(std::string_view p, const window_kind& kind) {
    const auto span = static_cast<std::size_t>(kind.span());
    return std::min(p.size() - span, most_offset - static_cast<std::size_t>(kind.stride) + 1) + 1;
  }
  window_key key_at(std::string_view p, std::size_t i, std::uint32_t kind) const {
    return window_key::of(static_cast<int>(kind), [&](std::size_t w) {
      std::uint32_t word = 0;
      for (std::size_t b = 0; b < 4 && i + 4 * w + b < p.size(); ++b)
        word |= std::uint32_t{static_cast<unsigned char>(p[i + 4 * w + b])} << 8 * b;
      return word & letters_;
    });
  }
  std::uint32_t& count_of(std::string_view p, std::size_t i, std::uint32_t kind) {
    const std::uint32_t hash = key_at(p, i, kind).hash();
    return counts_[hash * 0x2545f491u >> 7 & (counts_.size() - 1)];
  }
  /// Counts the windows that a pattern may have, and those that the filter looks at.
  void count_windows(std::string_view p, std::uint32_t kind) {
    const std::uint32_t first = first_kind(kind);
    const std::size_t n = choices(p, window_kinds[kind]) + stride_of(kind) - 1;
    for (std::size_t i = 0; i < n; ++i) {
      ++count_of(p, i, kind);
      if (first != kind) ++count_of(p, i, first);
    }
  }
  static int different(std::string_view bytes) {
    std::uint64_t seen[4] = {};
    for (const char c : bytes)
      seen[static_cast<unsigned char>(c) / 64] |= std::uint64_t{1} << (c & 63);
    return std::popcount(seen[0]) + std::popcount(seen[1]) + std::popcount(seen[2]) +
           std::popcount(seen[3]);
  }
  /// Where the first window of a pattern begins.
  struct place {
    std::uint32_t kind;
    std::size_t at;
    std::uint32_t most;  ///< how often the most frequent window is in the patterns
    bool is_run;         ///< whether a window has one byte repeated
  };
  /// The place whose windows are in the fewest patterns; of these, that with the most different
  /// bytes.
  place best_place(std::string_view p, std::uint32_t kind) {
    const std::uint32_t first = first_kind(kind);
    const std::size_t stride = stride_of(kind), n = choices(p, window_kinds[kind]);
    const auto bytes = static_cast<std::size_t>(window_kinds[kind].bytes);
    std::uint32_t counts[most_offset + 4];
    for (std::size_t i = 0; i < n + stride - 1; ++i)
      counts[i] = count_of(p, i, kind) + (first != kind ? count_of(p, i, first) : 0);
    place best{kind, 0, 0, false};
    std::uint64_t least = ~std::uint64_t{0};
    for (std::size_t i = 0; i < n; ++i) {
      std::uint64_t value = 0;
      for (std::size_t o = 0; o < stride; ++o) value += counts[i + o];
      value =
          value << 5 | static_cast<std::uint64_t>(31 - different(p.substr(i, bytes + stride - 1)));
      if (value >= least) continue;
      least = value;
      best.at = i;
    }
    for (std::size_t o = 0; o < stride; ++o) {
      best.most = std::max(best.most, counts[best.at + o]);
      best.is_run = best.is_run || different(p.substr(best.at + o, bytes)) == 1;
    }
    return best;
  }
  /// In a pattern xaaa...a all windows but the first are runs, which patterns that are mostly such
  /// have in common with texts that are: it is looked for by xaaa at every byte instead.
  void choose(const set_normal_form& set) {
    constexpr std::uint32_t many_alike = 16;
    std::vector<place> places(1);
    std::vector<std::uint32_t> by_runs;
    for (std::uint32_t r = 1; r <= set.ranks(); ++r)
      count_windows(set.patterns[r], kind_of(set.patterns[r]));
    for (std::uint32_t r = 1; r <= set.ranks(); ++r) {
      places.push_back(best_place(set.patterns[r], kind_of(set.patterns[r])));
      if (places[r].kind > 3 && places[r].is_run && places[r].most >= many_alike)
        by_runs.push_back(r);
    }
    for (const std::uint32_t r : by_runs) count_windows(set.patterns[r], 3);
    for (const std::uint32_t r : by_runs) {
      const place at_every_byte = best_place(set.patterns[r], 3);
      if (!at_every_byte.is_run && 8 * at_every_byte.most <= places[r].most)
        places[r] = at_every_byte;
    }
    for (std::uint32_t r = 1; r <= set.ranks(); ++r) add_choices(set.patterns[r], r, places[r]);
  }
  void add_choices(std::string_view p, std::uint32_t rank, const place& chosen) {
    const std::uint32_t first = first_kind(chosen.kind);
    probed |= 1u << first;
    for (std::size_t o = 0; o < stride_of(chosen.kind); ++o)
      choices_.push_back({key_at(p, chosen.at + o, first), chosen.kind, first, rank,
                          static_cast<std::uint32_t>(chosen.at + o),
                          static_cast<std::uint32_t>(o)});
  }
  /// Makes windows of what was chosen: of the filter's kind, or longer ones.
  void put_longer_windows(const set_normal_form& set) {
    std::sort(choices_.begin(), choices_.end(),
              [](const choice& a, const choice& b) { return a.order() < b.order(); });
    std::size_t number = 0;
    for (std::size_t i = 0, end = 0; i < choices_.size(); i = end, ++number) {
      std::size_t own = 0;
      for (; end < choices_.size() && choices_[end].key == choices_[i].key; ++end)
        own += choices_[end].kind == choices_[end].first ? 1 : 0;
      let_pass(choices_[i].key);
      for (std::size_t k = i; k < end; ++k) put(set, choices_[k], own > most_compared);
    }
    has_many = number > most_with_few;
  }
  void put(const set_normal_form& set, const choice& c, bool has_too_many) {
    const std::string_view p = set.patterns[c.rank];
    const auto put_longer = [&](std::uint32_t kind, std::uint32_t offset) {
      windows_.push_back({c.key, also_of(static_cast<int>(kind)), 0, 0});
      windows_.push_back({key_at(p, offset, kind), 0, c.rank, offset});
    };
    if (c.kind != c.first) {
      put_longer(c.kind, c.offset);
    } else if (has_too_many && (c.kind == 4 || c.kind == 5)) {
      put_longer(static_cast<std::uint32_t>(kind_around(static_cast<int>(c.kind))),
                 c.offset - c.beyond);
    } else {
      windows_.push_back({c.key, 0, c.rank, c.offset});
    }
  }
  void let_pass(const window_key& key) {
    const std::uint32_t hash = key.hash();
    few[filter_place::word(hash, filter_place::few_words_bits)] |= filter_place::bits(hash);
    many[filter_place::word(hash, filter_place::many_words_bits)] |= filter_place::bits(hash);
  }
  void make_tables() {
    std::sort(windows_.begin(), windows_.end(),
              [](const window& a, const window& b) { return a.order() < b.order(); });
    windows_.erase(std::unique(windows_.begin(), windows_.end()), windows_.end());
    std::size_t number = 0;
    for (std::size_t i = 0; i < windows_.size(); ++i)
      number += i == 0 || !(windows_[i].key == windows_[i - 1].key) ? 1 : 0;
    while (std::size_t{1} << slots_bits < 2 * number) ++slots_bits;
    slots.resize(std::size_t{1} << slots_bits);
    for (std::size_t i = 0, end = 0; i < windows_.size(); i = end) {
      window_slot slot{windows_[i].key, static_cast<std::uint32_t>(entries.size()), 0};
      for (; end < windows_.size() && windows_[end].key == slot.key; ++end) {
        slot.length_and_also |= windows_[end].also;
        if (windows_[end].rank == 0) continue;
        slot.length_and_also += 1 << 8;
        entries.push_back({windows_[end].rank, windows_[end].offset});
      }
      std::size_t s = window_slot::place(slot.key.hash(), slots_bits);
      while (slots[s].first != 0) s = (s + 1) & (slots.size() - 1);
      slots[s] = slot;
    }
  }

  /// So many windows leave seven of eight bits of the short table unset.
  static constexpr std::size_t most_with_few = 6000;

  std::uint32_t letters_;
  std::size_t shortest_ = ~std::size_t{0}, number_of_long_ = 0;  // of the patterns from 7 bytes on
  std::vector<std::uint32_t> counts_;
  std::vector<choice> choices_;
  std::vector<window> windows_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
