// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/message.hpp>
#include <lanewise/macros.hpp>
#include <lanewise/papers/detail/names.hpp>

#include <cstdint>
#include <string_view>

// Fingerprints that are the letters themselves (Ashkiani, 2.6.2 and 2.7.1: DRK without modulo).

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {
namespace detail {

/// m letters in the bits of a word, which must have room for all: the oldest one in front.
///
/// The paper masks out bit m of a binary string and then shifts; the oldest letter is at m - 1.
template <class Word>
class exact_fingerprint {
 public:
  using value_type = Word;
  static constexpr int width = 8 * static_cast<int>(sizeof(Word));
  static constexpr std::int64_t most_staged = width;

  exact_fingerprint(std::string_view pattern, int bits)
      : bits_(bits), size_(static_cast<std::int64_t>(pattern.size())) {
    const auto in_front = static_cast<int>(bits * (size_ - 1));
    kept_ = static_cast<Word>(~(((Word{1} << bits) - 1) << in_front));
    for (const char c : pattern) wanted_ = append(wanted_, static_cast<unsigned char>(c));
  }

  LANEWISE_FUNCTION std::int64_t size() const { return size_; }
  LANEWISE_FUNCTION Word append(Word value, unsigned char letter) const {
    return value << bits_ | (letter & ((1u << bits_) - 1));
  }
  LANEWISE_FUNCTION Word drop(Word value, unsigned char) const { return value & kept_; }
  LANEWISE_FUNCTION Word wanted() const { return wanted_; }

 private:
  int bits_;
  std::int64_t size_;
  Word kept_;  ///< all bits but those of the oldest letter
  Word wanted_ = 0;
};

template <class Word, class Policy>
exact_fingerprint<Word> exact_print(std::string_view pattern, const Policy& how) {
  constexpr int width = exact_fingerprint<Word>::width;
  detail::expects(pattern.size() <= static_cast<std::size_t>(width / how.bits),
                  "by_fingerprints::exact<", width, ">: ", pattern.size(), " letters of ", how.bits,
                  " bits do not fit");
  return {pattern, how.bits};
}

}  // namespace detail
}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
