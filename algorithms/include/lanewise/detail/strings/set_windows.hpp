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

  std::uint32_t kinds = 0;
  int slots_bits = 1;
  bool has_many = false;
  std::vector<std::uint32_t> few = std::vector<std::uint32_t>(1 << filter_place::few_words_bits);
  std::vector<std::uint32_t> many = std::vector<std::uint32_t>(1 << filter_place::many_words_bits);
  std::vector<window_slot> slots;
  std::vector<window_entry> entries = std::vector<window_entry>(1);

  /// letters: the bits of a word that count. O(48 windows for each pattern).
  set_windows(const set_normal_form& set, std::uint32_t letters) : letters_(letters) {
    std::size_t shortest = ~std::size_t{0}, places = 0;
    for (const std::string_view p : set.patterns)
      if (p.size() >= 7) shortest = std::min(shortest, p.size());
    kind_of_long_ = shortest < 11 ? 4 : shortest < 19 ? 5 : 6;
    for (const std::string_view p : set.patterns) places += std::min(p.size(), most_offset);
    counts_.resize(std::bit_ceil(std::clamp<std::size_t>(places, 1 << 8, 1 << 22)));
    for_all_windows(set);
    choose(set);
    make_tables();
  }

 private:
  struct window {
    window_key key;
    std::uint32_t kind, rank, offset;
    auto order() const { return std::tuple(kind, key.low, key.high, ~rank, offset); }
    bool is_as(const window& other) const {
      return kind == other.kind && key.low == other.key.low && key.high == other.key.high;
    }
  };

  std::uint32_t kind_of(std::string_view p) const {
    return p.size() < 7 ? static_cast<std::uint32_t>(std::min<std::size_t>(p.size(), 4)) - 1
                        : kind_of_long_;
  }
  /// The first window may begin at bytes [0, n) of a pattern.
  static std::size_t choices(std::string_view p, const window_kind& kind) {
    const auto span = static_cast<std::size_t>(kind.span());
    return std::min(p.size() - span, most_offset - static_cast<std::size_t>(kind.stride) + 1) + 1;
  }
  window_key key_at(std::string_view p, std::size_t i, int bytes) const {
    const auto word = [&](std::size_t from, int n) {
      std::uint32_t w = 0;
      for (int k = 0; k < n && k < 4; ++k)
        w |= std::uint32_t{static_cast<unsigned char>(p[i + from + static_cast<std::size_t>(k)])}
             << 8 * k;
      return w & letters_;
    };
    if (bytes <= 8) return {word(0, bytes), word(4, bytes - 4)};
    return {window_key::mixed(word(0, 4), word(8, 4)), window_key::mixed(word(4, 4), word(12, 4))};
  }
  std::uint32_t& count_of(const window_key& key, std::uint32_t kind) {
    return counts_[key.hash(static_cast<int>(kind)) * 0x2545f491u >> 7 & (counts_.size() - 1)];
  }
  void for_all_windows(const set_normal_form& set) {
    for (const std::string_view p : set.patterns) {
      if (p.empty()) continue;
      const std::uint32_t kind = kind_of(p);
      const auto& how = window_kinds[kind];
      const std::size_t n = choices(p, how) + static_cast<std::size_t>(how.stride) - 1;
      for (std::size_t i = 0; i < n; ++i) ++count_of(key_at(p, i, how.bytes), kind);
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
      const std::uint32_t kind = kind_of(p);
      const auto& how = window_kinds[kind];
      const auto stride = static_cast<std::size_t>(how.stride);
      kinds |= 1u << kind;
      std::size_t best = 0;
      std::uint64_t least = ~std::uint64_t{0};
      for (std::size_t i = 0, n = choices(p, how); i < n; ++i) {
        std::uint64_t many = 0;
        for (std::size_t o = 0; o < stride; ++o)
          many += count_of(key_at(p, i + o, how.bytes), kind);
        const int bytes = different(p.substr(i, static_cast<std::size_t>(how.span())));
        const std::uint64_t value = many << 5 | static_cast<std::uint64_t>(31 - bytes);
        if (value < least) {
          least = value;
          best = i;
        }
      }
      for (std::size_t o = 0; o < stride; ++o)
        windows_.push_back(
            {key_at(p, best + o, how.bytes), kind, r, static_cast<std::uint32_t>(best + o)});
    }
  }
  void make_tables() {
    std::sort(windows_.begin(), windows_.end(),
              [](const window& a, const window& b) { return a.order() < b.order(); });
    std::size_t number = 0;
    for (std::size_t i = 0; i < windows_.size(); ++i)
      number += i == 0 || !windows_[i].is_as(windows_[i - 1]) ? 1 : 0;
    while (std::size_t{1} << slots_bits < 2 * number) ++slots_bits;
    slots.resize(std::size_t{1} << slots_bits);
    has_many = number > std::size_t{1} << 10;
    for (std::size_t i = 0; i < windows_.size(); ++i) {
      const window& w = windows_[i];
      if (i == 0 || !w.is_as(windows_[i - 1])) put(w);
      entries.push_back({w.rank, w.offset});
      if (i + 1 == windows_.size() || !w.is_as(windows_[i + 1]))
        entries.back().offset |= window_entry::last;
    }
  }
  /// A window whose list begins with the next entry.
  void put(const window& w) {
    const std::uint32_t hash = w.key.hash(static_cast<int>(w.kind));
    few[filter_place::word(hash, filter_place::few_words_bits)] |= filter_place::bits(hash);
    many[filter_place::word(hash, filter_place::many_words_bits)] |= filter_place::bits(hash);
    std::size_t s = window_slot::place(hash, slots_bits);
    while (slots[s].first != 0) s = (s + 1) & (slots.size() - 1);
    slots[s] = {w.key, static_cast<std::uint32_t>(entries.size()), w.kind};
  }

  std::uint32_t letters_;
  std::uint32_t kind_of_long_;
  std::vector<std::uint32_t> counts_;
  std::vector<window> windows_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
