// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/strings/detail/multi_pattern_view.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Makes the tables of byte_buckets on the host.
struct bucket_tables {
  std::vector<std::uint32_t> rows;
  int number = 0;

  /// Puts the first `bytes` bytes of each string, or all of a shorter string, into the tables. The
  /// strings are sorted by length and then by their bytes, so strings of a bucket are alike.
  /// Strings of different lengths below `bytes` share no bucket.
  void put(const std::vector<std::string_view>& strings, std::size_t bytes) {
    const std::size_t n = strings.size(),
                      of_all = std::min<std::size_t>(n, byte_buckets::most - bytes + 1);
    std::size_t sizes = 0;
    rows.assign(bytes * byte_buckets::rows, 0);
    for (std::size_t i = 0; i < n; ++i) {
      if (i > 0 && std::min(strings[i].size(), bytes) != std::min(strings[i - 1].size(), bytes))
        ++sizes;
      number = static_cast<int>(i * of_all / n + sizes) + 1;
      put(strings[i], bytes, 1u << (number - 1));
    }
  }

 private:
  void put(std::string_view string, std::size_t bytes, std::uint32_t bucket) {
    for (std::size_t b = 0; b < bytes; ++b)
      for (std::size_t row = 0; row < byte_buckets::rows; ++row)
        if (b >= string.size() || row == static_cast<unsigned char>(string[b]) % byte_buckets::rows)
          rows[b * byte_buckets::rows + row] |= bucket;
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
