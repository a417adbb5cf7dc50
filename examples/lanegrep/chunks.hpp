// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

namespace lanegrep {

/// Calls f(lines) with chunks of a file, each of whole lines: about so many bytes, or one line that
/// is longer. A last line without a line feed gets one.
template <class F>
void for_each_chunk(std::FILE* file, std::size_t chunk, F f) {
  std::string text;
  std::size_t n = 0;  // bytes in text
  const auto give = [&](std::size_t end) {
    f(std::string_view(text).substr(0, end));
    text.erase(0, end);
    n -= end;
  };
  for (;;) {
    text.resize(n + chunk);
    const std::size_t got = std::fread(text.data() + n, 1, chunk, file);
    if (got == 0) break;
    const auto end = std::string_view(text).substr(n, got).rfind('\n');
    const std::size_t before = n;
    n += got;
    text.resize(n);
    if (end != std::string_view::npos) give(before + end + 1);
  }
  if (std::ferror(file) != 0) throw std::runtime_error(std::strerror(errno));
  text.resize(n);
  if (n == 0) return;
  text += '\n';
  f(text);
}

}  // namespace lanegrep
