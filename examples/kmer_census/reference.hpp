// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "result.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace kmer_census {

/// The census by one sequential pass over the letters and one std::sort. It shares nothing with the
/// device pipeline but the meaning of its result: the two k-mers of a window roll along base by
/// base.
inline census_result reference_census(std::string_view letters, int k, std::size_t top) {
  std::vector<kmer> all;
  all.reserve(letters.size());
  const std::uint64_t mask = (std::uint64_t{1} << (2 * k)) - 1;
  std::uint64_t forward = 0;   // the last k bases
  std::uint64_t backward = 0;  // their complements, last base first
  int run = 0;                 // bases since the last break
  for (const char letter : letters) {
    const std::size_t code = std::string_view("ACGTacgt").find(letter);
    if (code == std::string_view::npos) {
      run = 0;
      continue;
    }
    forward = (forward << 2 | code % 4) & mask;
    backward = backward >> 2 | (3 - code % 4) << (2 * (k - 1));
    if (++run >= k) all.push_back(static_cast<kmer>(std::min(forward, backward)));
  }
  std::sort(all.begin(), all.end());

  census_result result;
  result.total = all.size();
  result.buckets.resize(std::size_t{1} << (2 * bucket_bases(k)));
  std::vector<ranked_kmer> ranking;
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    while (end < all.size() && all[end] == all[begin]) ++end;
    const auto count = static_cast<std::uint32_t>(end - begin);
    result.kmers.push_back(all[begin]);
    result.counts.push_back(count);
    result.seen_once += count == 1;
    result.buckets[all[begin] >> (2 * (k - bucket_bases(k)))] += count;
    ranking.push_back({all[begin], count});
  }
  top = std::min(top, ranking.size());
  std::partial_sort(ranking.begin(), ranking.begin() + static_cast<std::ptrdiff_t>(top),
                    ranking.end(), [](const ranked_kmer& a, const ranked_kmer& b) {
                      return a.count != b.count ? a.count > b.count : a.which < b.which;
                    });
  ranking.resize(top);
  result.most_frequent = std::move(ranking);
  return result;
}

}  // namespace kmer_census
