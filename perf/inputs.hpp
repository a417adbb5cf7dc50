// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The grid of inputs: keys that are skewed, repeated, clustered or nearly in order, by name.

#include "support.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace lanewise::perf {

enum class input_kind {
  uniform,
  zipf,         // ranks by Zipf's law: exponent `amount` / 100, in order or hashed
  log_uniform,  // the number of bits is uniform
  distinct,     // 2^amount values, hashed
  joined,       // `amount` random words joined by and
  timestamps,   // grow by 4, with a jitter of 10 bits, as they arrive
  clusters,     // 1,024 centres, and 12 bits around them
  shared_high,  // the upper half is the same; of `amount` in 100 keys it is random
  two_heavy,    // 45 % each of two values, else uniform
  constant,
  sorted,
  reversed,
  displaced,  // sorted, but for 1 % of the keys
  swapped,    // sorted halves in the wrong order
  staggered,  // 1,024 sorted sequences, by turns
  band,       // `amount` random bits in the middle, all others are the same
  special     // floating point: an eighth each NaN, -NaN, -0.0, 0.0, infinities; else uniform
};

struct input {
  std::string_view name;
  input_kind kind;
  int amount = 0;
  bool hashed = false;
};

inline constexpr input uniform_input{"uniform", input_kind::uniform};

/// Every input of the grid but the uniform one.
inline constexpr input grid_inputs[] = {
    {"zipf0.5", input_kind::zipf, 50},
    {"zipf0.75", input_kind::zipf, 75},
    {"zipf1", input_kind::zipf, 100},
    {"zipf1.25", input_kind::zipf, 125},
    {"zipf0.5_hashed", input_kind::zipf, 50, true},
    {"zipf0.75_hashed", input_kind::zipf, 75, true},
    {"zipf1_hashed", input_kind::zipf, 100, true},
    {"zipf1.25_hashed", input_kind::zipf, 125, true},
    {"log_uniform", input_kind::log_uniform},
    {"distinct2^1", input_kind::distinct, 1},
    {"distinct2^4", input_kind::distinct, 4},
    {"distinct2^8", input_kind::distinct, 8},
    {"distinct2^10", input_kind::distinct, 10},
    {"distinct2^12", input_kind::distinct, 12},
    {"distinct2^14", input_kind::distinct, 14},
    {"distinct2^16", input_kind::distinct, 16},
    {"distinct2^18", input_kind::distinct, 18},
    {"distinct2^20", input_kind::distinct, 20},
    {"distinct2^22", input_kind::distinct, 22},
    {"distinct2^24", input_kind::distinct, 24},
    {"entropy544", input_kind::joined, 2},
    {"and4", input_kind::joined, 4},
    {"entropy201", input_kind::joined, 5},
    {"timestamps", input_kind::timestamps},
    {"clusters", input_kind::clusters},
    {"shared_high", input_kind::shared_high, 0},
    {"outliers", input_kind::shared_high, 1},
    {"two_heavy", input_kind::two_heavy},
    {"equal", input_kind::constant},
    {"sorted", input_kind::sorted},
    {"reversed", input_kind::reversed},
    {"displaced", input_kind::displaced},
    {"swapped", input_kind::swapped},
    {"staggered", input_kind::staggered},
    {"band8", input_kind::band, 8},
    {"band16", input_kind::band, 16},
    {"band24", input_kind::band, 24},
};
inline constexpr input special_input{"special", input_kind::special};

/// The integer with the bits of a key.
template <class T>
using key_word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// Key i of n. Floats lose a bit of their exponent, so that all but `special` are numbers.
template <class T>
struct input_key {
  input_kind kind;
  int amount;
  bool hashed;
  std::int64_t n;
  input_key(const input& of, std::int64_t count)
      : kind(of.kind), amount(of.amount), hashed(of.hashed), n(count) {}

  KOKKOS_FUNCTION T operator()(std::int64_t i) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (kind == input_kind::special) return special(i);
      return Kokkos::bit_cast<T>(static_cast<word>(bits(i) & ~(word{1} << (8 * sizeof(T) - 2))));
    } else {
      return bits(i);
    }
  }

 private:
  using word = key_word<T>;
  static constexpr int width = 8 * sizeof(T);

  /// The k-th random number of item i.
  static KOKKOS_FUNCTION word random(std::int64_t i, int k = 0) {
    return static_cast<word>(hash(i + (std::int64_t{k} << 40)));
  }
  static KOKKOS_FUNCTION double fraction(std::int64_t i) {
    return (static_cast<double>(hash(i + (std::int64_t{9} << 40)) >> 11) + 0.5) * 0x1p-53;
  }
  static KOKKOS_FUNCTION word value(std::uint64_t number) {
    return static_cast<word>(hash(static_cast<std::int64_t>(number) + (std::int64_t{11} << 40)));
  }
  KOKKOS_FUNCTION word zipf(std::int64_t i) const {
    const double e = 1 - amount * 0.01, ranks = static_cast<double>(n), u = fraction(i);
    const double rank = amount == 100 ? Kokkos::pow(ranks, u)
                                      : Kokkos::pow((Kokkos::pow(ranks, e) - 1) * u + 1, 1 / e);
    const auto number = static_cast<std::uint64_t>(rank);
    return hashed ? value(number) : static_cast<word>(number);
  }
  KOKKOS_FUNCTION word bits(std::int64_t i) const {
    constexpr int middle = width / 2;
    switch (kind) {
      case input_kind::zipf:
        return zipf(i);
      case input_kind::log_uniform:
        return random(i) >> (hash(i + (std::int64_t{9} << 40)) % width);
      case input_kind::distinct:
        return value(random(i) & ((std::uint64_t{1} << amount) - 1));
      case input_kind::joined: {
        word all = random(i);
        for (int k = 1; k < amount; ++k) all &= random(i, k);
        return all;
      }
      case input_kind::timestamps:
        return static_cast<word>(hash(0) >> 8) + static_cast<word>(4 * i + (random(i) & 1023));
      case input_kind::clusters:
        return value(random(i) & 1023) + (random(i, 1) & 4095);
      case input_kind::shared_high:
        if (random(i, 1) % 100 < static_cast<word>(amount)) return random(i);
        return (word{0x5a} << (width - 8)) | (random(i) >> middle);
      case input_kind::two_heavy: {
        const word dice = random(i, 1) % 100;
        return dice < 90 ? value(dice % 2) : random(i);
      }
      case input_kind::constant:
        return static_cast<word>(hash(0));
      case input_kind::sorted:
        return static_cast<word>(i);
      case input_kind::reversed:
        return static_cast<word>(n - 1 - i);
      case input_kind::displaced:
        return random(i, 1) % 100 == 0 ? static_cast<word>(random(i) % n) : static_cast<word>(i);
      case input_kind::swapped:
        return static_cast<word>((i + n / 2) % n);
      case input_kind::staggered:
        return static_cast<word>(i % 1024 * (n / 1024) + i / 1024);
      case input_kind::band:
        return (random(i) & ((word{1} << amount) - 1)) << (middle - amount / 2);
      default:
        return random(i);
    }
  }
  KOKKOS_FUNCTION T special(std::int64_t i) const {
    constexpr word sign = word{1} << (width - 1);
    const T number = Kokkos::bit_cast<T>(static_cast<word>(random(i) & ~(word{1} << (width - 2))));
    constexpr int fraction_bits = width == 32 ? 23 : 52;
    constexpr word infinity = sign - (word{1} << fraction_bits);
    constexpr word nan = infinity | (word{1} << (fraction_bits - 1));
    switch (random(i, 1) % 8) {
      case 0:
        return Kokkos::bit_cast<T>(nan);
      case 1:
        return Kokkos::bit_cast<T>(static_cast<word>(nan | sign));
      case 2:
        return Kokkos::bit_cast<T>(sign);
      case 3:
        return T{0};
      case 4:
        return Kokkos::bit_cast<T>(infinity);
      case 5:
        return Kokkos::bit_cast<T>(static_cast<word>(infinity | sign));
      default:
        return number;
    }
  }
};

/// The sizes of the grid.
template <class Exec>
std::vector<std::int64_t> grid_sizes() {
  if constexpr (on_host<Exec>)
    return {std::int64_t{1} << 12, std::int64_t{1} << 16, 1000000, std::int64_t{1} << 24};
  return {std::int64_t{1} << 12, std::int64_t{1} << 16, 1000000, 10000000, std::int64_t{1} << 28};
}

}  // namespace lanewise::perf
