// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/call/execution_space.hpp>
#include <lanewise/data/message.hpp>
#include <lanewise/macros.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

LANEWISE_BEGIN_NAMESPACE

/// What a pattern's bytes stand for.
struct pattern_options {
  /// Whether letters of ASCII stand for both cases of theirs.
  bool fold_case = false;
  /// A byte that stands for any byte.
  std::optional<char> wildcard = {};
};

namespace detail {

/// The words of a pattern, by which most positions of a text are ruled out at once.
///
/// Words at every fourth byte of the text are enough for a pattern that has ten bytes in a row
/// without wildcards: one of them begins at one of four bytes of the pattern. A word and the next
/// one are mixed, and compared with four mixtures: of 7 bytes, of 8 if there are eleven bytes, of
/// three words if there are fifteen. Texts are searched for other patterns at every byte, by up to
/// two words.
///
///   pattern    h e l l o   w o r l d !
///   ahead = 3  window[0] is of "hello wo", [1] of "ello wor", [2] of "llo worl", [3] of "lo world"
struct pattern_filter {
  enum class kind {
    every_word,         ///< four windows of 7, 8 or 12 bytes, mixed
    every_folded_word,  ///< the same, of bytes without the bit that tells the case
    four_bytes,         ///< at every byte, a window of 4 bytes
    up_to_four_bytes,   ///< the same, but only some bits count
    up_to_eight_bytes,  ///< the same, and up to 4 bytes more
    one_byte            ///< one byte; only some bits count
  };
  static constexpr std::uint32_t folded = 0xdfdfdfdf;

  kind how = kind::up_to_four_bytes;
  std::int64_t ahead = 0;  ///< where the (last) window begins in the pattern
  /// The number of bytes that are compared at the ends of the text, from the first window on.
  std::int64_t bytes = 15;
  std::uint32_t window[4] = {};
  /// The five bits from this one on say which of four windows a word may be.
  int shift = 0;
  /// At every byte: the bits of a word that count. At words: those of the second and third word, as
  /// they are in the mixture.
  std::uint32_t care[2] = {};

  LANEWISE_FUNCTION bool at_every_byte() const {
    return how != kind::every_word && how != kind::every_folded_word;
  }
  template <class Words>
  static LANEWISE_FUNCTION Words second(const Words& word) {
    return word << 13 | word >> 19;
  }
  template <class Words>
  static LANEWISE_FUNCTION Words third(const Words& word) {
    return word << 26 | word >> 6;
  }
};

/// A periodic stretch of a pattern: `pairs` bytes from its first one on equal the bytes that lie
/// `period` bytes further on. Texts with shorter such stretches pass any filter that tests some
/// bytes.
///
///   pattern    b a a a a a a a a a a c      begin = 1, period = 1, pairs = 9
struct pattern_stretch {
  static constexpr std::int64_t most_period = 8;
  static constexpr std::int64_t most_others = 8;
  /// Shorter ones are no better than the filter.
  static constexpr std::int64_t least_pairs = 8;

  std::int64_t begin = 0;
  std::int64_t period = 1;
  std::int64_t pairs = 0;       ///< 0 if there is no stretch
  std::uint32_t byte = 0;       ///< its first byte
  std::uint32_t care = 0;       ///< the bits of each of its bytes that count
  bool covers_pattern = false;  ///< whether it is all of the pattern
  bool is_decisive = false;     ///< whether so few bytes are outside that each is tested

  LANEWISE_FUNCTION bool exists() const { return pairs != 0; }
  /// Whether byte i of the pattern has its equal in the stretch before it.
  LANEWISE_FUNCTION bool repeats_at(std::int64_t i) const {
    return i >= begin + period && i < begin + period + pairs;
  }
};

/// A pattern as kernels have it: whole warps' rows of words, with only the bits set that count.
/// After the last byte none counts.
struct pattern_view {
  const std::uint32_t* words;
  const std::uint32_t* cares;  ///< the bits that count
  /// For byte d, the number of bytes from there on that equal those at the pattern's begin. Null
  /// where bytes stand for any, so that bytes that fit one need not fit each other.
  const std::uint32_t* repeats;
  std::int64_t
      period;  ///< the least number of bytes after which it repeats; its size if it does not
  std::int64_t size;
  pattern_filter filter;
  /// Every `stride`-th word, modulo the number of words, comes to all of them, and any few in a row
  /// lie far from each other.
  std::uint32_t stride;
  std::int64_t long_period;  ///< the least number of periods that is whole packs of 32 bytes
  pattern_stretch stretch;

  /// Whether the filter tests all bytes.
  LANEWISE_FUNCTION bool is_exact() const { return filter.at_every_byte() && size <= 8; }
  /// Whether it is a run of equal bytes without a filter (searched_by).
  LANEWISE_FUNCTION bool is_run() const {
    return filter.how == pattern_filter::kind::one_byte && size > 1;
  }
  /// Whether all bytes are tested at once: of patterns of one word, and of runs.
  LANEWISE_FUNCTION bool is_short() const { return size <= 4 || is_run(); }
};

/// Bytes of a pattern on the host, and the bits of each that count.
struct pattern_bytes {
  std::string bytes, cares;

  pattern_bytes(std::string_view given, const pattern_options& options) : bytes(given) {
    for (char& c : bytes) {
      const char lower = static_cast<char>(c | 0x20);
      const bool is_letter = lower >= 'a' && lower <= 'z';
      const bool is_any = options.wildcard.has_value() && c == *options.wildcard;
      cares += is_any ? '\0' : options.fold_case && is_letter ? '\xdf' : '\xff';
      c = static_cast<char>(c & cares.back());
    }
  }
  std::size_t size() const { return bytes.size(); }
  /// The word of up to 4 bytes from the one at i on; the bits of it that count.
  std::uint32_t word(std::size_t i) const { return word_of(bytes, i); }
  std::uint32_t care(std::size_t i) const { return word_of(cares, i); }
  /// Whether all bits of some bytes count, except for the bit that tells the case of a letter.
  bool counts(std::size_t i, std::size_t n) const {
    return std::string_view(cares).substr(i, n).find('\0') == std::string_view::npos;
  }
  int different(std::size_t i, std::size_t n) const {
    std::array<bool, 256> seen{};
    for (const char c : std::string_view(bytes).substr(i, n))
      seen[static_cast<unsigned char>(c) & 0xdf] = true;
    return static_cast<int>(std::count(seen.begin(), seen.end(), true));
  }

  bool has_wildcards() const { return cares.find('\0') != std::string::npos; }
  /// pattern_view::repeats (the Z function).
  std::vector<std::uint32_t> repeats() const {
    const std::size_t m = size();
    std::vector<std::uint32_t> z(m, 0);
    std::size_t begin = 0, end = 0;  // bytes [begin, end) equal the first ones of the pattern
    for (std::size_t d = 1; d < m; ++d) {
      std::size_t n = d < end ? std::min<std::size_t>(z[d - begin], end - d) : 0;
      while (d + n < m && bytes[n] == bytes[d + n]) ++n;
      if (d + n > end) {
        begin = d;
        end = d + n;
      }
      z[d] = static_cast<std::uint32_t>(n);
    }
    return z;
  }

 private:
  static std::uint32_t word_of(const std::string& from, std::size_t i) {
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 4 && i + k < from.size(); ++k)
      word |= std::uint32_t{static_cast<unsigned char>(from[i + k])} << 8 * k;
    return word;
  }
};

/// Windows of a long pattern are chosen among this number of positions.
inline constexpr std::size_t most_window_positions = 4096;

/// Finds where the four windows of `window` bytes begin: at the position where the least number of
/// different bytes is greatest. There is no such position if that number is less than three, or
/// less than two in twelve bytes. Such a window is too likely to be anywhere. (A stretch is loaded
/// at once where its windows are.)
inline std::optional<std::size_t> position_of_windows(const pattern_bytes& pattern,
                                                      std::size_t window, bool is_stretch) {
  const std::size_t span = window + 3;
  int best = is_stretch ? 0 : window == 12 ? 1 : 2;
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i + span <= pattern.size() && i < most_window_positions; ++i) {
    if (!pattern.counts(i, span)) continue;
    int least = static_cast<int>(window);
    for (std::size_t o = 0; o < 4; ++o) least = std::min(least, pattern.different(i + o, window));
    if (least > best) {
      best = least;
      first = i;
    }
  }
  return first;
}
inline bool choose_shift(pattern_filter& filter) {
  const auto& w = filter.window;
  for (int s = 0; s <= 27; ++s) {
    bool differ = true;
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < i; ++j)
        differ = differ && (w[i] == w[j] || (w[i] >> s & 31) != (w[j] >> s & 31));
    filter.shift = s;
    if (differ) return true;
  }
  return false;
}
inline bool choose_words(const pattern_bytes& pattern, bool is_stretch, pattern_filter& filter) {
  std::optional<std::size_t> first;
  std::size_t window = 0;
  for (const std::size_t bytes : {12u, 8u, 7u}) {
    window = bytes;
    first = position_of_windows(pattern, bytes, is_stretch);
    if (first) break;
  }
  if (!first) return false;
  const bool is_folded = pattern.cares.find('\xdf') != std::string::npos;
  const std::uint32_t bits = is_folded ? pattern_filter::folded : ~0u;
  filter.how =
      is_folded ? pattern_filter::kind::every_folded_word : pattern_filter::kind::every_word;
  filter.ahead = static_cast<std::int64_t>(*first) + 3;
  filter.care[0] = pattern_filter::second(window == 7 ? bits & 0xffffff : bits);
  filter.care[1] = window == 12 ? pattern_filter::third(bits) : 0;
  for (std::size_t o = 0; o < 4; ++o) {
    const std::size_t at = *first + o;
    filter.window[o] = (pattern.word(at) & bits) ^
                       (pattern_filter::second(pattern.word(at + 4)) & filter.care[0]) ^
                       (pattern_filter::third(pattern.word(at + 8)) & filter.care[1]);
  }
  return choose_shift(filter);
}
/// Up to 8 bytes: their first four have the most bits that count, and among them the most are
/// different. The filter looks at these first. Of such positions the last one, as what differs in a
/// pattern of one letter comes last.
inline void choose_bytes(const pattern_bytes& pattern, pattern_filter& filter) {
  constexpr std::size_t word = 4, window = 8;
  std::size_t at = 0;
  int most = -1;
  for (std::size_t i = 0;
       pattern.size() > window && i < most_window_positions && i + word <= pattern.size(); ++i) {
    const std::size_t here = pattern.size() - word - i;
    const int value = 16 * std::popcount(pattern.care(here)) + 8 * pattern.different(here, word) +
                      pattern.different(here, window);
    if (value > most) {
      most = value;
      at = here;
    }
  }
  filter.ahead = static_cast<std::int64_t>(at);
  for (std::size_t w = 0; w < 2; ++w) {
    filter.window[w] = pattern.word(at + 4 * w);
    filter.care[w] = pattern.care(at + 4 * w);
  }
  using kind = pattern_filter::kind;
  filter.how = pattern.size() == 1     ? kind::one_byte
               : filter.care[0] == ~0u ? kind::four_bytes
                                       : kind::up_to_four_bytes;
}
inline pattern_filter filter_of(const pattern_bytes& pattern, bool is_stretch) {
  pattern_filter filter;
  if (!choose_words(pattern, is_stretch, filter)) choose_bytes(pattern, filter);
  return filter;
}

/// The longest stretch of a pattern; of as long ones that of the shortest period.
inline pattern_stretch stretch_of(const pattern_bytes& pattern) {
  pattern_stretch best;
  const auto n = static_cast<std::int64_t>(pattern.size());
  const auto at = [&pattern](std::int64_t i) {
    return std::pair(pattern.bytes[static_cast<std::size_t>(i)],
                     pattern.cares[static_cast<std::size_t>(i)]);
  };
  for (std::int64_t period = 1; period <= pattern_stretch::most_period; ++period) {
    std::int64_t begin = 0;
    for (std::int64_t i = 0; i + period < n; ++i) {
      // In a stretch the same bits of all bytes count.
      const bool goes_on = at(i) == at(i + period) && at(i).second == at(begin).second;
      if (!goes_on) begin = i + 1;
      const std::int64_t pairs = i + 1 - begin;
      const auto care = static_cast<unsigned char>(at(i).second);
      if (care == 0 || pairs < std::max(pattern_stretch::least_pairs, 2 * period) ||
          pairs + period <= best.pairs + best.period)
        continue;
      best = {begin,
              period,
              pairs,
              static_cast<unsigned char>(at(begin).first),
              care,
              pairs + period == n,
              pairs + period + pattern_stretch::most_others >= n};
    }
  }
  return best;
}

/// pattern_view::stride, for `words` words: near their golden section, whose multiples are as
/// evenly spread as any.
inline std::uint32_t stride_of(std::size_t words) {
  auto stride = std::max(std::size_t{1}, words * 618 / 1000);
  while (std::gcd(stride, words) != 1) ++stride;
  return static_cast<std::uint32_t>(stride);
}

}  // namespace detail

/// Bytes to look for in texts (string_search.hpp): made once, used on many texts.
///
/// One byte or more, of any values. The memory space has up to 6 bytes for each, and 510 more.
template <class MemorySpace>
class pattern {
 public:
  using memory_space = MemorySpace;
  static constexpr std::size_t most_bytes = std::size_t{1} << 31;

  /// O(m). Throws std::invalid_argument where there are no bytes, or too many. **Blocks.**
  explicit pattern(std::string_view bytes, const pattern_options& options = {})
      : bytes_(bytes), options_(options) {
    detail::expects(!bytes.empty(), "pattern: it has no bytes");
    const detail::pattern_bytes all(bytes, options);
    detail::expects(bytes.size() <= most_bytes, "pattern: it has ", bytes.size(),
                    " bytes, the most is ", most_bytes);
    has_repeats_ = !all.has_wildcards();
    period_ = has_repeats_ ? 1 : size();
    const std::size_t n = words();
    words_ = view_type(Kokkos::view_alloc("lanewise::pattern", Kokkos::WithoutInitializing),
                       2 * n + (has_repeats_ ? bytes.size() : 0));
    const auto host = Kokkos::create_mirror_view(words_);
    for (std::size_t i = 0; i < n; ++i) {
      host(i) = all.word(4 * i);
      host(n + i) = all.care(4 * i);
    }
    if (has_repeats_) {
      const auto repeats = all.repeats();
      for (std::size_t i = 0; i < bytes.size(); ++i) host(2 * n + i) = repeats[i];
      while (period_ < size() && period_ + repeats[static_cast<std::size_t>(period_)] < size())
        ++period_;
    }
    Kokkos::deep_copy(words_, host);
    stretch_ = detail::stretch_of(all);
    filter_ = detail::filter_of(all, stretch_.covers_pattern);
  }

  std::int64_t size() const { return static_cast<std::int64_t>(bytes_.size()); }
  std::string_view bytes() const { return bytes_; }
  const pattern_options& options() const { return options_; }
  /// A copy in another memory space. **Blocks.**
  template <class Other>
  pattern<Other> copy_to() const {
    return pattern<Other>(bytes_, options_);
  }
  detail::pattern_view view() const {
    const std::uint32_t* const first = words_.data();
    return {first,
            first + words(),
            has_repeats_ ? first + 2 * words() : nullptr,
            period_,
            size(),
            filter_,
            detail::stride_of((bytes_.size() + 3) / 4),
            std::lcm(period_, std::int64_t{32}),
            stretch_};
  }

 private:
  using view_type = Kokkos::View<std::uint32_t*, MemorySpace>;
  /// The number of words of the bytes: whole rows of a warp.
  std::size_t words() const { return (bytes_.size() + 255) / 256 * 64; }
  std::string bytes_;
  pattern_options options_;
  view_type words_;
  bool has_repeats_ = false;
  std::int64_t period_ = 1;
  detail::pattern_filter filter_;
  detail::pattern_stretch stretch_;
};

namespace detail {
template <class T>
inline constexpr bool is_text_matcher = false;
template <class MemorySpace>
inline constexpr bool is_text_matcher<pattern<MemorySpace>> = true;
}  // namespace detail

/// What texts and rows are searched for: a pattern, or a pattern_set.
template <class T>
concept text_matcher = detail::is_text_matcher<T>;

LANEWISE_END_NAMESPACE
