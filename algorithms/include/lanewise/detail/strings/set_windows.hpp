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
    count_all(set);
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
  void count_all(const set_normal_form& set) {
    for (const std::string_view p : set.patterns) {
      if (p.empty()) continue;
      const std::uint32_t kind = kind_of(p), first = first_kind(kind);
      const auto& how = window_kinds[kind];
      const std::size_t n = choices(p, how) + static_cast<std::size_t>(how.stride) - 1;
      for (std::size_t i = 0; i < n; ++i) {
        ++count_of(p, i, kind);
        if (first != kind) ++count_of(p, i, first);
      }
    }
  }
  static int different(std::string_view bytes) {
    std::uint64_t seen[4] = {};
    for (const char c : bytes)
      seen[static_cast<unsigned char>(c) / 64] |= std::uint64_t{1} << (c & 63);
    return std::popcount(seen[0]) + std::popcount(seen[1]) + std::popcount(seen[2]) +
           std::popcount(seen[3]);
  }
  /// The place whose windows are in the fewest patterns; of these, that with the most different
  /// bytes.
  void choose(const set_normal_form& set) {
    for (std::uint32_t r = 1; r <= set.ranks(); ++r) {
      const std::string_view p = set.patterns[r];
      const std::uint32_t kind = kind_of(p), first = first_kind(kind);
      const auto& how = window_kinds[kind];
      const auto stride = static_cast<std::size_t>(how.stride);
      probed |= 1u << first;
      std::size_t best = 0;
      std::uint64_t least = ~std::uint64_t{0};
      for (std::size_t i = 0, n = choices(p, how); i < n; ++i) {
        std::uint64_t many = 0;
        for (std::size_t o = 0; o < stride; ++o)
          many += count_of(p, i + o, kind) + count_of(p, i + o, first);
        const int bytes = different(p.substr(i, static_cast<std::size_t>(how.span())));
        const std::uint64_t value = many << 5 | static_cast<std::uint64_t>(31 - bytes);
        if (value < least) {
          least = value;
          best = i;
        }
      }
      for (std::size_t o = 0; o < stride; ++o)
        choices_.push_back({key_at(p, best + o, first), kind, first, r,
                            static_cast<std::uint32_t>(best + o), static_cast<std::uint32_t>(o)});
    }
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
