// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>

#include <cstddef>
#include <cstdint>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// Arrays that a call keeps after the workspace of the calls that it is made of.
class workspace_arrays {
 public:
  explicit workspace_arrays(const workspace_size& inner) : size_(inner) {}
  /// The place of n items of type T.
  template <class T>
  std::size_t add(std::int64_t n) {
    const std::size_t at = (size_.bytes + 255) / 256 * 256;
    size_.bytes = at + static_cast<std::size_t>(n) * sizeof(T);
    return at;
  }
  const workspace_size& size() const { return size_; }

  template <class T, class Exec>
  static auto view(const workspace& work, std::size_t at, std::int64_t n) {
    return Kokkos::View<T*, typename Exec::memory_space, Kokkos::MemoryUnmanaged>(
        reinterpret_cast<T*>(static_cast<char*>(work.plain()) + at), n);
  }

 private:
  workspace_size size_;
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
