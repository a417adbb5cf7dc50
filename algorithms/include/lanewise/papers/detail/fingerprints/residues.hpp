// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/message.hpp>
#include <lanewise/macros.hpp>
#include <lanewise/papers/detail/names.hpp>

#include <cstdint>
#include <string_view>

// Fingerprints of the first class: a string is a number, its letters the digits of it, modulo a
// prime (Ashkiani, 2.3 and 2.7.1).

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {
namespace detail {

/// Remainders by multiplication with the reciprocal. p < 2^31.
class modulus {
 public:
  explicit modulus(std::uint32_t p)
      : p_(p),
        reciprocal_(static_cast<std::uint32_t>((std::uint64_t{1} << 32) / p)),
        wide_reciprocal_(~std::uint64_t{0} / p) {}

  LANEWISE_FUNCTION std::uint32_t p() const { return p_; }
  LANEWISE_FUNCTION std::uint32_t of(std::uint32_t x) const {
    // The quotient is right, or too small by one.
    const auto q = static_cast<std::uint32_t>(std::uint64_t{x} * reciprocal_ >> 32);
    const std::uint32_t r = x - q * p_;
    return r < p_ ? r : r - p_;
  }
  LANEWISE_FUNCTION std::uint32_t of_wide(std::uint64_t x) const {
    __extension__ using wide = unsigned __int128;
    const auto q = static_cast<std::uint64_t>(wide{x} * wide_reciprocal_ >> 64);
    const std::uint64_t r = x - q * p_;
    return static_cast<std::uint32_t>(r < p_ ? r : r - p_);
  }

 private:
  std::uint32_t p_;
  std::uint32_t reciprocal_;
  std::uint64_t wide_reciprocal_;
};

/// By trial division.
inline bool is_prime(std::uint64_t x) {
  for (std::uint64_t d = 2; d * d <= x; ++d)
    if (x % d == 0) return false;
  return x >= 2;
}
/// A random prime in (limit / 2, limit]: prime number `which` of a seed. A string fits another one
/// by chance with probability 1 / p or so, which half of the primes keep below 2 / limit.
inline std::uint32_t draw_prime(std::uint64_t limit, std::uint64_t seed, std::uint64_t which) {
  for (std::uint64_t i = 0;; ++i) {
    // The finaliser of splitmix64.
    std::uint64_t x = seed + (which << 32 | (i + 1)) * 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    x = limit - (x ^ (x >> 31)) % (limit / 2);
    if (is_prime(x)) return static_cast<std::uint32_t>(x);
  }
}
/// The prime that the caller gives, or one that is drawn.
inline std::uint32_t prime_of(std::uint32_t given, std::uint64_t limit, std::uint64_t seed,
                              std::uint64_t which = 0) {
  if (given == 0) return draw_prime(limit, seed, which);
  expects(given <= limit, "by_fingerprints::pattern: prime is ", given, ", the greatest is ",
          limit);
  expects(is_prime(given), "by_fingerprints::pattern: prime is ", given, ", which is none");
  return given;
}
/// Throws unless all bytes are letters of `bits` bits, and there are some.
inline void expects_letters(std::string_view pattern, int bits) {
  expects(bits >= 1 && bits <= 8, "by_fingerprints::pattern: bits is ", bits, ", not 1 to 8");
  expects(!pattern.empty(), "by_fingerprints::pattern: it has no bytes");
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const int byte = static_cast<unsigned char>(pattern[i]);
    expects(byte >> bits == 0, "by_fingerprints::pattern: byte ", i, " is ", byte, ", a letter of ",
            bits, " bits is less than ", 1 << bits);
  }
}
/// Modulo such a prime nothing overflows 32 bits: 2 p letters, and 2^bits - 1.
constexpr std::uint64_t most_prime(int bits) {
  return std::uint64_t{1} << (31 - bits);
}

/// The fingerprint of m letters of `bits` bits: x_0 2^(bits (m-1)) + ... + x_(m-1) modulo p. drop()
/// takes the oldest letter away and append() adds one. In between it is less than 2 p.
class residue_fingerprint {
 public:
  using value_type = std::uint32_t;
  /// Texts of longer patterns do not come to scratch.
  static constexpr std::int64_t most_staged = 8192;

  residue_fingerprint(std::string_view pattern, int bits, std::uint32_t prime)
      : modulus_(prime), bits_(bits), size_(static_cast<std::int64_t>(pattern.size())) {
    for (const char c : pattern) wanted_ = append(wanted_, static_cast<unsigned char>(c));
    base_ = modulus_.of(1);
    for (std::int64_t i = 1; i < size_; ++i) base_ = append(base_, 0);
  }

  LANEWISE_FUNCTION std::int64_t size() const { return size_; }
  LANEWISE_FUNCTION std::uint32_t append(std::uint32_t value, unsigned char letter) const {
    return modulus_.of((value << bits_) + letter_of(letter));
  }
  LANEWISE_FUNCTION std::uint32_t drop(std::uint32_t value, unsigned char letter) const {
    return value + modulus_.p() - modulus_.of(base_ * letter_of(letter));
  }
  LANEWISE_FUNCTION std::uint32_t wanted() const { return wanted_; }

 private:
  LANEWISE_FUNCTION std::uint32_t letter_of(unsigned char byte) const {
    return byte & ((1u << bits_) - 1);
  }
  modulus modulus_;
  int bits_;
  std::int64_t size_;
  std::uint32_t base_ = 0;  ///< of the oldest letter
  std::uint32_t wanted_ = 0;
};

template <class Policy>
residue_fingerprint residue_print(std::string_view pattern, const Policy& how) {
  return {pattern, how.bits, detail::prime_of(how.prime, detail::most_prime(how.bits), how.seed)};
}

}  // namespace detail
}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
