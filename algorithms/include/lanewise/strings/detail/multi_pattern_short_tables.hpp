// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/strings/detail/multi_pattern_bucket_tables.hpp>
#include <lanewise/strings/detail/multi_pattern_normal_form.hpp>
#include <lanewise/strings/detail/multi_pattern_view.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// The tables of short_pairs, on the host. Empty where no pattern has 1 to 3 bytes.
struct multi_pattern_short_tables {
  bucket_tables buckets;
  std::vector<std::uint32_t> pairs;
  std::vector<short_triple> triples;
  int triples_bits = 1;

  explicit multi_pattern_short_tables(const multi_pattern_normal_form& set) {
    const std::uint32_t pairs_from = set.first_of(2), triples_from = set.first_of(3),
                        end = set.first_of(short_pairs::most_bytes + 1);
    if (end == 1) return;
    // Ranks of equal sizes are in the order of their bytes.
    buckets.put({set.patterns.begin() + 1, set.patterns.begin() + end}, short_pairs::most_bytes);
    pairs.resize(std::size_t{1} << 16);
    while (std::size_t{1} << triples_bits < 4 * std::size_t{end - triples_from}) ++triples_bits;
    triples.resize(std::size_t{1} << triples_bits);
    for (std::uint32_t r = 1; r < pairs_from; ++r)
      for (std::uint32_t next = 0; next < 256; ++next) pairs[byte(set, r, 0) | next << 8] = r;
    for (std::uint32_t r = pairs_from; r < triples_from; ++r) pairs[pair(set, r)] = r;
    for (std::uint32_t r = triples_from; r < end; ++r) put_triple(set, r);
  }

 private:
  static std::uint32_t byte(const multi_pattern_normal_form& set, std::uint32_t rank,
                            std::size_t i) {
    return static_cast<unsigned char>(set.patterns[rank][i]);
  }
  static std::uint32_t pair(const multi_pattern_normal_form& set, std::uint32_t rank) {
    return byte(set, rank, 0) | byte(set, rank, 1) << 8;
  }
  void put_triple(const multi_pattern_normal_form& set, std::uint32_t rank) {
    pairs[pair(set, rank)] |= short_pairs::begins_triple;
    const std::uint32_t key = short_pairs::key(pair(set, rank) | byte(set, rank, 2) << 16);
    std::size_t s = short_pairs::slot(key, triples_bits);
    while (triples[s].key != 0) s = (s + 1) & (triples.size() - 1);
    triples[s] = {key, rank};
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
