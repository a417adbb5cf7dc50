// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Allocations that fail: all of the host's, and on CUDA what calls get from the device's pool. It
// replaces operator new, so that it is included by one file of a program, before the library's
// calls. Kokkos' own memory on the device is not made to fail.

#include <lanewise/macros.hpp>
#include <support/environment.hpp>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace test {

/// Allocations that nobody has freed.
inline std::atomic<long> outstanding{0};
/// This thread's allocations until one fails; none does below zero.
inline thread_local long until_failure = -1;
/// Smaller ones neither count nor fail.
inline thread_local std::size_t least_counted = 0;
/// Whether those after it fail, too.
inline thread_local bool fails_for_good = true;

/// Which allocation fails after this one. Where AddressSanitizer makes calls slow it is one in
/// three, and the seed says which; the first always does.
inline long next_failing(long failing) {
  if (!LANEWISE_ADDRESS_SANITIZER || full()) return failing + 1;
  return failing + (failing == 0 ? 1 + static_cast<long>(seed() % 3) : 3);
}

inline bool fails_now(std::size_t bytes) noexcept {
  if (until_failure < 0 || bytes < least_counted) return false;
  if (until_failure > 0) {
    --until_failure;
    return false;
  }
  if (!fails_for_good) until_failure = -1;
  return true;
}

inline void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (fails_now(bytes)) return nullptr;
  if (bytes == 0) bytes = 1;
  void* p = alignment <= alignof(std::max_align_t)
                ? std::malloc(bytes)
                : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (p != nullptr) outstanding.fetch_add(1, std::memory_order_relaxed);
  return p;
}
inline void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  void* p = allocate(bytes, alignment);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
inline void release(void* p) noexcept {
  if (p != nullptr) outstanding.fetch_sub(1, std::memory_order_relaxed);
  std::free(p);
}

}  // namespace test

#if defined(LANEWISE_TEST_SPACE_CUDA)
#include <Kokkos_Core.hpp>
#include <cuda_runtime.h>

namespace test {

inline cudaError_t allocate_from_pool(void** p, std::size_t bytes, cudaMemPool_t pool,
                                      cudaStream_t stream) {
  if (fails_now(bytes)) return cudaErrorMemoryAllocation;
  const cudaError_t result = cudaMallocFromPoolAsync(p, bytes, pool, stream);
  if (result == cudaSuccess) outstanding.fetch_add(1, std::memory_order_relaxed);
  return result;
}
inline cudaError_t release_to_pool(void* p, cudaStream_t stream) {
  outstanding.fetch_sub(1, std::memory_order_relaxed);
  return cudaFreeAsync(p, stream);
}

}  // namespace test

// What the library calls from here on.
#define cudaMallocFromPoolAsync ::test::allocate_from_pool
#define cudaFreeAsync ::test::release_to_pool
#endif

#if defined(__CUDACC__)
#pragma nv_diag_suppress 20011, 20014  // nvcc takes these for functions of both sides
#endif
void* operator new(std::size_t n) {
  return test::allocate_or_throw(n, 0);
}
void* operator new[](std::size_t n) {
  return test::allocate_or_throw(n, 0);
}
void* operator new(std::size_t n, std::align_val_t a) {
  return test::allocate_or_throw(n, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t n, std::align_val_t a) {
  return test::allocate_or_throw(n, static_cast<std::size_t>(a));
}
void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
  return test::allocate(n, 0);
}
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept {
  return test::allocate(n, 0);
}
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return test::allocate(n, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return test::allocate(n, static_cast<std::size_t>(a));
}
void operator delete(void* p) noexcept {
  test::release(p);
}
void operator delete[](void* p) noexcept {
  test::release(p);
}
void operator delete(void* p, std::size_t) noexcept {
  test::release(p);
}
void operator delete[](void* p, std::size_t) noexcept {
  test::release(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
  test::release(p);
}
void operator delete[](void* p, std::align_val_t) noexcept {
  test::release(p);
}
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  test::release(p);
}
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept {
  test::release(p);
}
void operator delete(void* p, const std::nothrow_t&) noexcept {
  test::release(p);
}
void operator delete[](void* p, const std::nothrow_t&) noexcept {
  test::release(p);
}
void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept {
  test::release(p);
}
void operator delete[](void* p, std::align_val_t, const std::nothrow_t&) noexcept {
  test::release(p);
}
