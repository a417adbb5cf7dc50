// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kmer_census {

/// A k-mer as a number: 2 bits per base, A = 0, C = 1, G = 2, T = 3, the first base highest, so
/// that the order of the numbers is the order of the alphabet.
using kmer = std::uint64_t;

inline constexpr int min_k = 1;

/// How k-mers are counted.
enum class method {
  sort,   ///< by sorting them with multisplits: census.hpp
  radix,  ///< with a radix sort: radix_census.hpp
  hash    ///< in a hash map: hash_census.hpp
};
inline constexpr int max_k(method how) {
  return how == method::sort ? 16 : 31;
}

/// The buckets of the last multisplit: one for each choice of the first (up to four) bases.
inline constexpr int bucket_bases(int k) {
  return k < 4 ? k : 4;
}

struct ranked_kmer {
  kmer which;
  std::uint32_t count;
  bool operator==(const ranked_kmer&) const = default;
};

/// Everything a census finds out. Two runs over the same letters must agree in all of it.
struct census_result {
  std::uint64_t total = 0;                 // windows without a break
  std::uint64_t seen_once = 0;             // distinct k-mers with a count of 1
  std::vector<kmer> kmers;                 // distinct canonical k-mers, ascending
  std::vector<std::uint32_t> counts;       // of kmers[i]
  std::vector<std::uint64_t> buckets;      // windows by the first bases of their canonical k-mer
  std::vector<ranked_kmer> most_frequent;  // by count, then by alphabet
  bool operator==(const census_result&) const = default;
};

struct stage_time {
  std::string name;
  std::string unit;     // what is counted
  std::uint64_t items;  // how many of them the stage works on
  double seconds;
};

inline std::string spell(kmer which, int k) {
  std::string bases(static_cast<std::size_t>(k), 'A');
  for (auto base = bases.rbegin(); base != bases.rend(); ++base, which >>= 2) {
    *base = "ACGT"[which & 3];
  }
  return bases;
}

}  // namespace kmer_census
