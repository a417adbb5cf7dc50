// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>
#include <lanewise/papers/detail/names.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {

/// What a pass of a radix sort takes for every item, by its number of digits r = 2^bits:
///
///   item(bits) = alpha + beta 2^bits
///
/// alpha is what moving and ranking an item takes whatever r is, beta what every counter adds.
/// Units are the caller's: instructions in the paper, picoseconds where a machine was measured. As
/// passes are whole, sorting k bits takes ceil(k / bits) item(bits) for every item. (Merrill, 5.5.)
struct radix_pass_cost {
  double alpha;
  double beta;

  constexpr double item(int bits) const { return alpha + beta * static_cast<double>(1 << bits); }
};

/// The number of passes of `bits` bits that keys of `key_bits` bits take; the last one takes what
/// is left.
constexpr int radix_passes(int key_bits, int bits) {
  return (key_bits + bits - 1) / bits;
}

/// n (alpha + beta 2^bits) for every pass: what a sort takes by the model.
constexpr double radix_sort_cost(const radix_pass_cost& cost, int key_bits, int bits, double n) {
  return radix_passes(key_bits, bits) * n * cost.item(bits);
}

/// The bits per pass, from 1 to most, that the model finds cheapest; of several the fewest. The
/// number of keys does not matter.
constexpr int best_bits(const radix_pass_cost& cost, int key_bits, int most) {
  int best = 1;
  for (int bits = 2; bits <= most; ++bits) {
    if (radix_sort_cost(cost, key_bits, bits, 1) < radix_sort_cost(cost, key_bits, best, 1))
      best = bits;
  }
  return best;
}

namespace radix_pass_costs {

/// Instructions of the scanning kernel on GT200, for pairs of 4 + 4 bytes (Merrill, 5.5).
inline constexpr radix_pass_cost gt200{51.4, 1.0};

/// Picoseconds on an H200, for 2^28 keys of 4 bytes, of passes by multi-scans and by multisplits:
/// within 7 % of every width. (Pairs of 4 + 4 bytes: {5.2, 0.13} and {6.0, 0.0071}; the same widths
/// are the cheapest.)
inline constexpr radix_pass_cost h200_multi_scan{3.5, 0.157};
inline constexpr radix_pass_cost h200_split_tiles{4.2, 0.005};

}  // namespace radix_pass_costs

}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
