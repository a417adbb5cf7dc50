// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/call/workspace.hpp>

#include <cstddef>
#include <cstdint>

LANEWISE_BEGIN_NAMESPACE

/// An array in a call's temporary memory.
template <class T>
struct workspace_array {
  std::size_t offset = 0;  ///< in bytes
  std::int64_t extent = 0;

  T* data(void* memory) const { return reinterpret_cast<T*>(static_cast<char*>(memory) + offset); }
  T* data(const workspace& work) const { return data(work.plain()); }
  template <class Exec>
  auto view(const workspace& work) const {
    return Kokkos::View<T*, typename Exec::memory_space, Kokkos::MemoryUnmanaged>(
        data(work), static_cast<std::size_t>(extent));
  }
};

/// The arrays of a call's temporary memory, each declared once: its size and its pointer follow.
class workspace_layout {
 public:
  /// Begins after the memory of an inner call. All arrays are aligned to `alignment` bytes.
  explicit workspace_layout(const workspace_size& inner = {}, std::size_t alignment = 256)
      : size_(inner), alignment_(alignment) {}
  explicit workspace_layout(std::size_t alignment) : workspace_layout({}, alignment) {}

  /// An array of n items.
  template <class T>
  workspace_array<T> add(std::int64_t n) {
    const std::size_t offset = next();
    size_.bytes = offset + static_cast<std::size_t>(n) * sizeof(T);
    return {offset, n};
  }
  /// Adds an array that was declared before.
  template <class T>
  void add(workspace_array<T>& array, std::int64_t n) {
    array = add<T>(n);
  }
  /// Memory that an inner call uses while the arrays before it live.
  workspace_array<char> add_call(const workspace_size& inner) {
    size_.tickets = size_.tickets < inner.tickets ? inner.tickets : size_.tickets;
    return add<char>(static_cast<std::int64_t>(inner.bytes));
  }
  /// Makes room for another call, that uses none of the arrays.
  void or_call(const workspace_size& other) { size_ = max(size_, other); }
  /// The offset of an array that would be added now.
  std::size_t next() const { return (size_.bytes + alignment_ - 1) / alignment_ * alignment_; }
  const workspace_size& size() const { return size_; }

 private:
  workspace_size size_;
  std::size_t alignment_;
};

LANEWISE_END_NAMESPACE
