// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>

#include <cstddef>
#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Places of arrays in one block of memory, each on lines of its own.
struct memory_places {
  std::size_t bytes = 0;  // so far

  std::size_t place(std::int64_t items, std::size_t size) {
    const std::size_t here = bytes;
    bytes += (static_cast<std::size_t>(items) * size + 127) / 128 * 128;
    return here;
  }
};
template <class T>
T* at_place(char* memory, std::size_t place) {
  return reinterpret_cast<T*>(memory + place);
}

}  // namespace detail
LANEWISE_END_NAMESPACE
