// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/pack.hpp>
#include <lanewise/strings/detail/matches.hpp>
#include <lanewise/strings/detail/multi_pattern_view.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// What one lane needs of a text and a set.
struct multi_pattern_text {
  const text_bytes& text;
  const pattern_set_view& set;

  /// Returns the four bytes from a position on; bytes outside of the text are 0.
  LANEWISE_FUNCTION std::uint32_t word(std::int64_t position) const {
    if (position >= 4 && position + 8 <= text.n) {
      const unsigned char* const at = text.data + position;
      const auto past = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(at) % 4);
      const auto* const low = reinterpret_cast<const std::uint32_t*>(at - past);
      return past == 0 ? low[0] : low[0] >> 8 * past | low[1] << (32 - 8 * past);
    }
    std::uint32_t w = 0;
    for (int k = 0; k < 4; ++k)
      if (position + k >= 0 && position + k < text.n)
        w |= std::uint32_t{text.data[position + k]} << 8 * k;
    return w;
  }
  LANEWISE_FUNCTION std::uint32_t folded(std::uint32_t word) const {
    return set.folds_case ? small_letters(word) : word;
  }

  /// Returns the slot of the window of a kind that begins at a position, or of the long window. The
  /// number is 0 if no pattern has it. The text has 16 bytes more on either side.
  LANEWISE_FUNCTION window_slot slot_of(std::int64_t position, int kind, bool is_long) const {
    const text_words words(text_of(position));
    const std::uint32_t letters = set.letters;
    const text_words after(text_of(position + window_kind{kind}.bytes())),
        front(text_of(position - 4));
    const window_key key =
        window_key::of(kind, words[0] & letters, words[1] & letters)
            .with(is_long ? after[0] & letters : set.around.mixed(front[0], after[0]), is_long);
    const std::uint32_t mask = (1u << set.slots_bits) - 1;
    for (std::uint32_t s = window_slot::index(key.hash(), set.slots_bits);; ++s) {
      const window_slot slot = set.slots[s & mask];
      if (slot.number == 0 || slot.key == key) return slot;
    }
  }

  /// As slot_of, for the windows of stride4_windows. Windows of list 1 have two bytes before them.
  LANEWISE_FUNCTION window_slot probe_slot_of(std::int64_t position, int list) const {
    std::uint32_t in[4];
    if (position >= 4 && position + 16 <= text.n) {
      const text_words front(text_of(position - 2)), words(text_of(position));
      in[0] = front[0];
      for (std::uint32_t i = 0; i < 3; ++i) in[i + 1] = words[i];
    } else {
      in[0] = word(position - 2);
      for (int i = 0; i < 3; ++i) in[i + 1] = word(position + 4 * i);
    }
    const std::uint32_t letters = set.letters;
    const window_key key =
        set.probes.key(in[0] & letters, in[1] & letters, in[2] & letters, in[3] & letters, list);
    const std::uint32_t mask = (1u << set.probes_slots_bits) - 1;
    for (std::uint32_t s = stride4_windows::slot(key, set.probes_slots_bits);; s += 2) {
      const window_slot one = set.probes_slots[s & mask], other = set.probes_slots[(s & mask) + 1];
      if (one.number == 0 || one.key == key) return one;
      if (other.number == 0 || other.key == key) return other;
    }
  }

  enum outcome : std::uint32_t { differs, agrees, agrees_so_far };
  /// A lane compares up to this number of bytes by itself.
  static constexpr std::uint32_t most_compared = 256;
  /// Whether a pattern of `size` bytes, from `pattern` on, is at a position where there is room.
  LANEWISE_FUNCTION std::uint32_t compare(std::int64_t position, const std::uint32_t* pattern,
                                          std::uint32_t size) const {
    if (position < 4 || position + size + 8 > text.n)
      return compare(pattern, size, [&](std::uint32_t i) { return word(position + 4 * i); });
    const text_words words(text_of(position));
    return compare(pattern, size, [&](std::uint32_t i) { return words[i]; });
  }
  /// As `compare`, for a pattern's record, whose words are loaded together with the text's.
  LANEWISE_FUNCTION std::uint32_t compare_record(std::int64_t position, const std::uint32_t* record,
                                                 std::uint32_t& rank) const {
    using four = pack<std::uint32_t, 4>;
    constexpr std::uint32_t at_once = 6;
    const four first = reinterpret_cast<const four*>(record)[0],
               next = reinterpret_cast<const four*>(record)[1];
    const std::uint32_t size = first[1];
    const bool is_inside = position >= 4 && position + 4 * at_once + 8 <= text.n;
    std::uint32_t different = 0;
    if (is_inside) {
      const text_words words(text_of(position));
      LANEWISE_UNROLL
      for (int k = 0; k < static_cast<int>(at_once); ++k) {
        const auto i = static_cast<std::uint32_t>(k);
        const std::uint32_t counting = size >= 4 * i + 4 ? ~0u
                                       : size > 4 * i    ? ~0u >> (32 - 8 * (size - 4 * i))
                                                         : 0u;
        different |= (folded(words[i]) ^ (k < 2 ? first[k + 2] : next[k - 2])) & counting;
      }
    }
    rank = first[0];
    if (different != 0 || position + size > text.n) return differs;
    return is_inside && size <= 4 * at_once ? std::uint32_t{agrees}
                                            : compare(position, record + 2, size);
  }
  /// Whether all of a pattern is at a position, by one lane.
  LANEWISE_FUNCTION bool is_at(std::int64_t position, std::uint32_t rank) const {
    const std::uint32_t* const pattern = set.records + set.record[rank] + 2;
    const std::uint32_t size = set.size[rank];
    if (position + size > text.n) return false;
    for (std::uint32_t i = 0; i < size; i += most_compared) {
      const std::uint32_t left = size - i;
      if (compare(position + i, pattern + i / 4, left < most_compared ? left : most_compared) !=
          agrees)
        return false;
    }
    return true;
  }

  /// Returns the state of the automaton after the byte at `position`. It reads a text backwards.
  LANEWISE_FUNCTION std::uint32_t next(std::uint32_t state, std::int64_t position) const {
    const std::uint32_t byte = folded(text.data[position]);
    while (state != 0) {
      const set_state here = set.states[state];
      std::uint32_t child = here.first, end = here.first + here.children;
      while (child + 1 < end) {
        const std::uint32_t middle = (child + end) / 2;
        (set.labels[middle] <= byte ? child : end) = middle;
      }
      if (child < end && set.labels[child] == byte) return child;
      state = here.shorter;
    }
    return set.roots[byte];
  }

 private:
  /// Words that begin anywhere in a text, each from two words of memory.
  struct text_words {
    const std::uint32_t* at;
    std::uint32_t past;

    explicit LANEWISE_FUNCTION text_words(const unsigned char* text)
        : at(reinterpret_cast<const std::uint32_t*>(text -
                                                    reinterpret_cast<std::uintptr_t>(text) % 4)),
          past(8 * static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(text) % 4)) {}
    LANEWISE_FUNCTION std::uint32_t operator[](std::uint32_t i) const {
      const std::uint64_t both = std::uint64_t{at[i + 1]} << 32 | at[i];
      return static_cast<std::uint32_t>(both >> past);
    }
  };
  LANEWISE_FUNCTION const unsigned char* text_of(std::int64_t position) const {
    return text.data + position;
  }
  /// The text's words are word(0), word(1), ...
  template <class Word>
  LANEWISE_FUNCTION std::uint32_t compare(const std::uint32_t* pattern, std::uint32_t size,
                                          Word word) const {
    for (std::uint32_t i = 0; i < size; i += 4) {
      if (i == most_compared) return agrees_so_far;
      const std::uint32_t counting = size - i < 4 ? ~0u >> (32 - 8 * (size - i)) : ~0u;
      if (((folded(word(i / 4)) ^ pattern[i / 4]) & counting) != 0) return differs;
    }
    return agrees;
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
