// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/detail/structure_file.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace test {

/// A file's words of 4 bytes, to be changed one by one.
struct words_of_file {
  std::vector<std::uint32_t> header, data;
  /// Words of each array of the data: a checksum takes each for itself, in units of 8 bytes.
  std::vector<std::size_t> arrays;

  words_of_file(std::vector<std::uint32_t> h, std::vector<std::uint32_t> d,
                std::vector<std::size_t> a = {})
      : header(std::move(h)), data(std::move(d)), arrays(std::move(a)) {}
  /// Reads a file whose header has `header_words` words.
  words_of_file(const std::string& file, std::size_t header_words, std::vector<std::size_t> a = {})
      : header(header_words), data(file.size() / 4 - header_words - 4), arrays(std::move(a)) {
    REQUIRE(file.size() % 4 == 0);
    std::memcpy(header.data(), file.data(), 4 * header_words);
    std::memcpy(data.data(), file.data() + 4 * header_words + 8, 4 * data.size());
  }
  /// The words with right checksums.
  std::string file() const {
    std::ostringstream out(std::ios::binary);
    lanewise::detail::file_writer writer(out);
    writer.write(header.data(), 4 * header.size());
    writer.seal();
    std::size_t first = 0;
    for (const std::size_t n : arrays) {
      writer.write(data.data() + first, 4 * n);
      first += n;
    }
    writer.write(data.data() + first, 4 * (data.size() - first));
    writer.seal();
    return out.str();
  }
};

}  // namespace test
