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

/// Calls f(lines) with chunks of a file, each of whole lines: about `chunk` bytes, or one line that
/// is longer. A last line without a line feed gets one.
template <class F>
void for_each_chunk(std::FILE* file, std::size_t chunk, F f) {
  std::string room;
  std::size_t n = 0;  // bytes of text in it
  for (;;) {
    if (n >> 31 != 0) throw std::runtime_error("a line has 2^31 bytes or more");
    if (room.size() < n + chunk) room.resize(n + chunk);
    const std::size_t got = std::fread(room.data() + n, 1, chunk, file);
    if (got == 0) break;
    const auto feed = std::string_view(room).substr(n, got).rfind('\n');
    const std::size_t end = feed == std::string_view::npos ? 0 : n + feed + 1;
    n += got;
    if (end == 0) continue;
    f(std::string_view(room).substr(0, end));
    n -= end;
    std::memmove(room.data(), room.data() + end, n);
  }
  if (std::ferror(file) != 0) throw std::runtime_error(std::strerror(errno));
  if (n == 0) return;
  room[n] = '\n';
  f(std::string_view(room).substr(0, n + 1));
}

}  // namespace lanegrep
