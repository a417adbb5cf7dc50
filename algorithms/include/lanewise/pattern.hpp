// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/message.hpp>
#include <lanewise/execution_space.hpp>
#include <lanewise/macros.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

LANEWISE_BEGIN_NAMESPACE

namespace detail {

/// The words of a pattern, by which most places of a text are ruled out at once.
///
/// Words that begin at every fourth byte of the text are enough for a pattern that has eleven bytes
/// from some byte on: whatever text an occurrence lies in, one of its words begins at one of four
/// bytes of the pattern. A word and the one behind it are mixed, and compared with four mixtures.
/// Other patterns are looked for at every byte, by up to three words of theirs.
///
///   pattern    h e l l o   w o r l d !
///   ahead = 3  window[0] is of "hello wo", [1] of "ello wor", [2] of "llo worl", [3] of "lo world"
struct pattern_filter {
  enum class kind {
    every_word,         ///< four windows of eight bytes, mixed
    every_byte,         ///< a window of 4 bytes, and what comes behind it
    four_bytes,         ///< the same, where that is the pattern
    up_to_three_bytes,  ///< the same, where that is more than the pattern
  };
  kind how = kind::every_byte;
  std::int64_t ahead = 0;  ///< where the (last) window begins in the pattern
  std::uint32_t window[4] = {};
  std::uint32_t care[3] = {};  ///< at every byte: the bits of a word that count

  static LANEWISE_FUNCTION constexpr std::uint32_t mixed(std::uint32_t word, std::uint32_t next) {
    return word ^ (next << 13 | next >> 19);
  }
};

/// A pattern as kernels have it: whole warps' rows of words, with zeros behind the last byte.
struct pattern_view {
  const std::uint32_t* words;
  std::int64_t size;
  pattern_filter filter;

  /// Whether the filter looks at all bytes.
  LANEWISE_FUNCTION bool is_exact() const {
    return filter.how != pattern_filter::kind::every_word && size <= 12;
  }
};

/// The word of up to 4 bytes from the one at i on, and which of its bits there are.
inline std::uint32_t word_at(std::string_view bytes, std::size_t i, std::uint32_t* care = nullptr) {
  std::uint32_t word = 0, cares = 0;
  for (std::size_t k = 0; k < 4 && i + k < bytes.size(); ++k) {
    word |= std::uint32_t{static_cast<unsigned char>(bytes[i + k])} << 8 * k;
    cares |= std::uint32_t{0xff} << 8 * k;
  }
  if (care != nullptr) *care = cares;
  return word;
}

inline int different_bytes(std::string_view bytes) {
  std::array<bool, 256> seen{};
  for (const char c : bytes) seen[static_cast<unsigned char>(c)] = true;
  return static_cast<int>(std::count(seen.begin(), seen.end(), true));
}

/// How many of the places of a long pattern are looked at for the one whose bytes differ most.
inline constexpr std::size_t places_looked_at = 4096;

/// The four windows in which the least number of different bytes is greatest. Of fewer than three
/// a window is too likely to be anywhere: none then.
inline bool choose_words(std::string_view bytes, pattern_filter& filter) {
  constexpr std::size_t span = 11, window = 8;
  int best = 2;
  std::size_t first = 0;
  for (std::size_t i = 0; i + span <= bytes.size() && i < places_looked_at; ++i) {
    int least = window;
    for (std::size_t o = 0; o < 4; ++o)
      least = std::min(least, different_bytes(bytes.substr(i + o, window)));
    if (least > best) {
      best = least;
      first = i;
    }
  }
  if (best == 2) return false;
  filter.how = pattern_filter::kind::every_word;
  filter.ahead = static_cast<std::int64_t>(first) + 3;
  for (std::size_t o = 0; o < 4; ++o)
    filter.window[o] =
        pattern_filter::mixed(word_at(bytes, first + o), word_at(bytes, first + o + 4));
  return true;
}
/// Up to 12 bytes, from which on the most bytes differ. Of these the last ones: what differs at the
/// end of a pattern of one letter comes last.
inline void choose_bytes(std::string_view bytes, pattern_filter& filter) {
  filter.how = bytes.size() < 4    ? pattern_filter::kind::up_to_three_bytes
               : bytes.size() == 4 ? pattern_filter::kind::four_bytes
                                   : pattern_filter::kind::every_byte;
  std::size_t at = 0;
  int most = 0;
  for (std::size_t i = 0; bytes.size() > 12 && i < places_looked_at && i + 4 <= bytes.size();
       i += 4) {
    const std::size_t here = (bytes.size() - 4 - i) / 4 * 4;
    const int differ = different_bytes(bytes.substr(here, 12));
    if (differ > most) {
      most = differ;
      at = here;
    }
  }
  filter.ahead = static_cast<std::int64_t>(at);
  for (std::size_t k = 0; k < 3; ++k)
    filter.window[k] = word_at(bytes, at + 4 * k, &filter.care[k]);
}
inline pattern_filter filter_of(std::string_view bytes) {
  pattern_filter filter;
  if (!choose_words(bytes, filter)) choose_bytes(bytes, filter);
  return filter;
}

}  // namespace detail

/// Bytes to look for in texts (string_search.hpp): made once, used on many texts.
///
/// One byte or more, of any values. They lie in the memory space, rounded up to 256.
template <class MemorySpace>
class pattern {
 public:
  using memory_space = MemorySpace;

  /// Throws std::invalid_argument where there are no bytes. **Blocks.**
  explicit pattern(std::string_view bytes) : bytes_(bytes.begin(), bytes.end()) {
    detail::expects(!bytes.empty(), "pattern: it has no bytes");
    constexpr std::size_t row = 64;
    const std::size_t rows = (bytes.size() + 4 * row - 1) / (4 * row);
    words_ =
        view_type(Kokkos::view_alloc("lanewise::pattern", Kokkos::WithoutInitializing), rows * row);
    const auto host = Kokkos::create_mirror_view(words_);
    for (std::size_t i = 0; i < rows * row; ++i) host(i) = detail::word_at(bytes, 4 * i);
    Kokkos::deep_copy(words_, host);
    filter_ = detail::filter_of(bytes);
  }

  std::int64_t size() const { return static_cast<std::int64_t>(bytes_.size()); }
  std::string_view bytes() const { return {bytes_.data(), bytes_.size()}; }
  /// The same in another memory space. **Blocks.**
  template <class Other>
  pattern<Other> copy_to() const {
    return pattern<Other>(bytes());
  }
  detail::pattern_view view() const { return {words_.data(), size(), filter_}; }

 private:
  using view_type = Kokkos::View<std::uint32_t*, MemorySpace>;
  std::vector<char> bytes_;
  view_type words_;
  detail::pattern_filter filter_;
};

LANEWISE_END_NAMESPACE
