// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

// A model of memory in banks.

namespace test {

struct memory_banks {
  int banks;
  int bank_bytes;
};

/// The most words of one bank that an access wants at once, its lanes being at these bytes. Lanes
/// whose items fill a row of banks take part at a time, as with items of 8 bytes half of 32 lanes.
inline int conflict_degree(const std::vector<std::int64_t>& at, int item_bytes,
                           const memory_banks& memory) {
  const int words = std::max(item_bytes, memory.bank_bytes) / memory.bank_bytes;
  const auto at_once = static_cast<std::size_t>(std::max(memory.banks / words, 1));
  std::size_t degree = 0;
  for (std::size_t begin = 0; begin < at.size(); begin += at_once) {
    std::vector<std::set<std::int64_t>> wanted(static_cast<std::size_t>(memory.banks));
    for (std::size_t i = begin; i < std::min(begin + at_once, at.size()); ++i) {
      const std::int64_t last = (at[i] + item_bytes - 1) / memory.bank_bytes;
      for (std::int64_t word = at[i] / memory.bank_bytes; word <= last; ++word)
        wanted[static_cast<std::size_t>(word % memory.banks)].insert(word);
    }
    for (const auto& of_bank : wanted) degree = std::max(degree, of_bank.size());
  }
  return static_cast<int>(degree);
}

}  // namespace test
