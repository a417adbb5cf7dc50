// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/papers/detail/fingerprints/residues.hpp>
#include <lanewise/papers/detail/names.hpp>

// Fingerprints of the second class: a string is a product of matrices, one for each letter, modulo
// a prime (Ashkiani, 2.3 and 2.7.1; Karp and Rabin).

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {
namespace detail {

/// | a b |
/// | c d |
struct alignas(16) matrix {
  std::uint32_t a, b, c, d;
  LANEWISE_FUNCTION friend bool operator==(const matrix& x, const matrix& y) {
    return x.a == y.a && x.b == y.b && x.c == y.c && x.d == y.d;
  }
};
LANEWISE_FUNCTION constexpr matrix unit_matrix() {
  return {1, 0, 0, 1};
}

/// x y modulo p < 2^31; associative, not commutative.
struct matrix_product {
  modulus by;
  LANEWISE_FUNCTION matrix operator()(const matrix& x, const matrix& y) const {
    return {sum(x.a, y.a, x.b, y.c), sum(x.a, y.b, x.b, y.d), sum(x.c, y.a, x.d, y.c),
            sum(x.c, y.b, x.d, y.d)};
  }

 private:
  LANEWISE_FUNCTION std::uint32_t sum(std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                      std::uint32_t d) const {
    return by.of_wide(std::uint64_t{a} * b + std::uint64_t{c} * d);
  }
};
/// y x: products that grow on their left.
struct left_matrix_product {
  matrix_product product;
  LANEWISE_FUNCTION matrix operator()(const matrix& x, const matrix& y) const {
    return product(y, x);
  }
};

/// The matrices of letters of `bits` bits, the highest bit first, and their inverses. For a bit:
///
///   K(0) = | 1 0 |    K(1) = | 1 1 |
///          | 1 1 |           | 0 1 |
///
/// Made as they are asked for: to multiply by K adds a column to the other.
class letter_matrices {
 public:
  letter_matrices(int bits, std::uint32_t prime) : product{modulus(prime)}, bits_(bits) {}

  const matrix_product product;

  LANEWISE_FUNCTION matrix of(unsigned char letter) const {
    matrix m = unit_matrix();
    for (int i = bits_ - 1; i >= 0; --i) {
      if ((letter >> i & 1) != 0) {
        m.b += m.a;
        m.d += m.c;
      } else {
        m.a += m.b;
        m.c += m.d;
      }
    }
    const modulus& by = product.by;  // entries are less than 2^8 so far, p may be less
    return {by.of(m.a), by.of(m.b), by.of(m.c), by.of(m.d)};
  }
  /// All determinants are 1.
  LANEWISE_FUNCTION matrix inverse_of(unsigned char letter) const {
    const matrix m = of(letter);
    const std::uint32_t p = product.by.p();
    return {m.d, m.b == 0 ? 0 : p - m.b, m.c == 0 ? 0 : p - m.c, m.a};
  }
  matrix of(std::string_view string) const {
    const modulus& by = product.by;
    matrix m{by.of(1), 0, 0, by.of(1)};
    for (const char c : string) m = product(m, of(static_cast<unsigned char>(c)));
    return m;
  }

 private:
  int bits_;
};

/// The pattern's matrix, and how letters become matrices.
struct matrix_fingerprint {
  letter_matrices letters;
  std::int64_t size;
  matrix wanted;

  matrix_fingerprint(std::string_view pattern, int bits, std::uint32_t prime)
      : letters(bits, prime),
        size(static_cast<std::int64_t>(pattern.size())),
        wanted(letters.of(pattern)) {}
};

/// What makes products of two entries, and their sum, fit 64 bits.
inline constexpr std::uint64_t most_wide_prime = (std::uint64_t{1} << 31) - 1;

template <class Policy>
matrix_fingerprint matrix_print(std::string_view pattern, const Policy& how) {
  return {pattern, how.bits, detail::prime_of(how.prime, most_wide_prime, how.seed)};
}

}  // namespace detail
}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
