// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Segments of many lengths, which several programs have.

#include "inputs.hpp"
#include "support.hpp"

#include <algorithm>
#include <vector>

namespace lanewise::perf {

/// Lengths of segments, by number.
enum class segment_lengths {
  len8,          // 0 to 16
  len100,        // 0 to 200
  len1000,       // 0 to 2000
  len1024,       // all
  len30_35,      // 30 to 35
  len4000_5299,  // 4000 to 5299
  equal256,      // 256 each
  sparse,        // one in 64 has 64, all others are empty
  giant,         // one of 500,000, all others 0 to 16
  powerlaw  // x or more with probability 6 / x, up to 2^24: 95 on average, half of them below 12
};

inline const char* name_of(segment_lengths lengths) {
  constexpr const char* names[] = {"len8",         "len100",   "len1000", "len1024", "len30_35",
                                   "len4000_5299", "equal256", "sparse",  "giant",   "powerlaw"};
  return names[static_cast<int>(lengths)];
}

struct segments_point {
  std::int64_t n;
  std::int64_t segments;
  segment_lengths lengths;
  input keys = uniform_input;
};

inline std::int64_t length_of(segment_lengths lengths, std::int64_t s) {
  const auto x = static_cast<std::int64_t>(hash(s) >> 32);
  switch (lengths) {
    case segment_lengths::len8:
      return x % 17;
    case segment_lengths::len100:
      return x % 201;
    case segment_lengths::len1000:
      return x % 2001;
    case segment_lengths::len1024:
      return 1024;
    case segment_lengths::len30_35:
      return 30 + x % 6;
    case segment_lengths::len4000_5299:
      return 4000 + x % 1300;
    case segment_lengths::equal256:
      return 256;
    case segment_lengths::sparse:
      return s % 64 == 0 ? 64 : 0;
    case segment_lengths::giant:
      return s == 1000 ? 500'000 : x % 17;
    default:
      return std::min(6 * (std::int64_t{1} << 32) / (x + 1), std::int64_t{1} << 24);
  }
}
inline std::vector<std::int64_t> offsets_of(const segments_point& p) {
  std::vector<std::int64_t> offsets = {0};
  for (std::int64_t s = 0; s < p.segments; ++s)
    offsets.push_back(offsets.back() + length_of(p.lengths, s));
  return offsets;
}
inline segments_point segments_of(std::int64_t segments, segment_lengths lengths,
                                  const input& keys = uniform_input) {
  std::int64_t n = 0;
  for (std::int64_t s = 0; s < segments; ++s) n += length_of(lengths, s);
  return {n, segments, lengths, keys};
}

}  // namespace lanewise::perf
