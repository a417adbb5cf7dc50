// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/multisplit.hpp>
#include <lanewise/reduce.hpp>
#include <lanewise/scan.hpp>
#include <lanewise/transform.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>

#include <atomic>
#include <cstdlib>
#include <new>

// Every allocation of a call fails once. On CUDA device memory is not had from operator new; there
// the host's part of a call is tested, and what is too large for the device.

namespace {

/// Allocations that nobody has freed.
std::atomic<long> outstanding{0};
/// This thread's allocations until one fails; none does below zero.
thread_local long until_failure = -1;

void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (until_failure == 0) return nullptr;
  if (until_failure > 0) --until_failure;
  if (bytes == 0) bytes = 1;
  void* p = alignment <= alignof(std::max_align_t)
                ? std::malloc(bytes)
                : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (p != nullptr) outstanding.fetch_add(1, std::memory_order_relaxed);
  return p;
}
void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  void* p = allocate(bytes, alignment);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
void release(void* p) noexcept {
  if (p != nullptr) outstanding.fetch_sub(1, std::memory_order_relaxed);
  std::free(p);
}

}  // namespace

#if defined(__CUDACC__)
#pragma nv_diag_suppress 20011  // nvcc takes these for functions of both sides
#endif
void* operator new(std::size_t n) {
  return allocate_or_throw(n, 0);
}
void* operator new[](std::size_t n) {
  return allocate_or_throw(n, 0);
}
void* operator new(std::size_t n, std::align_val_t a) {
  return allocate_or_throw(n, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t n, std::align_val_t a) {
  return allocate_or_throw(n, static_cast<std::size_t>(a));
}
void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
  return allocate(n, 0);
}
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept {
  return allocate(n, 0);
}
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(n, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(n, static_cast<std::size_t>(a));
}
void operator delete(void* p) noexcept {
  release(p);
}
void operator delete[](void* p) noexcept {
  release(p);
}
void operator delete(void* p, std::size_t) noexcept {
  release(p);
}
void operator delete[](void* p, std::size_t) noexcept {
  release(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
  release(p);
}
void operator delete[](void* p, std::align_val_t) noexcept {
  release(p);
}
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  release(p);
}
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept {
  release(p);
}
void operator delete(void* p, const std::nothrow_t&) noexcept {
  release(p);
}
void operator delete[](void* p, const std::nothrow_t&) noexcept {
  release(p);
}
void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept {
  release(p);
}
void operator delete[](void* p, std::align_val_t, const std::nothrow_t&) noexcept {
  release(p);
}

namespace {

using namespace test;
using u32 = std::uint32_t;

constexpr std::int64_t tile = tile_items<u32, lanewise::kernels::scan_policy<u32>>;
/// Enough for a chain. On the emulated backend, which allocates for every warp, calls fail often.
const std::int64_t n = is_emulated ? tile + 77 : some_tiles(tile);

/// Calls f(work) with a new workspace, again and again, with the first, the second, ... allocation
/// failing, until nothing fails. Then the same for calls without a workspace. done() checks the
/// results, and is told whether they should be there.
template <class F, class Done>
void every_allocation_fails_once(F f, Done done) {
  for (const bool with_workspace : {true, false}) {
    f(nullptr);  // what is allocated once and for all
    make_space().fence();
    for (long failing = 0;; ++failing) {
      CAPTURE(with_workspace, failing);
      REQUIRE(failing < 1000);
      bool failed = false;
      std::string surprise;
      {
        lanewise::workspace work;
        const long before = outstanding;
        long held = 0;
        until_failure = failing;
        try {
          f(with_workspace ? &work : nullptr);
        } catch (const std::exception&) {
          failed = true;
        } catch (...) {
          surprise = "not a std::exception";
        }
        until_failure = -1;
        make_space().fence();
        CHECK(surprise == "");
        // Without a workspace nothing remains; with one what release() frees.
        work.release();
        held = outstanding - before;
        CHECK(held == 0);
        if (failed) f(with_workspace ? &work : nullptr);
        make_space().fence();
        done();
      }
      if (!failed) break;
    }
  }
}

}  // namespace

TEST_CASE("Scans survive that an allocation fails", "[allocation][sanitize]") {
  const auto items = random_items<affine>(n);
  const array<affine> in(items);
  const array<affine> out(n, affine{});
  const auto expected = oracle::inclusive_scan(items, then{});

  every_allocation_fails_once(
      [&](lanewise::workspace* work) {
        lanewise::inclusive_scan(make_space(), in.const_view(), out.view(), then{}, {.work = work});
      },
      [&] {
        CHECK(difference(out.items(), expected) == "");
        out.assign(out.original());
      });
}

TEST_CASE("Reductions survive that an allocation fails", "[allocation][sanitize]") {
  const auto items = random_items<u32>(n);
  const array<u32> in(items);
  u32 sum = 0;

  every_allocation_fails_once(
      [&](lanewise::workspace* work) {
        sum = lanewise::reduce(make_space(), in.const_view(), lanewise::plus{}, 3u, {.work = work});
      },
      [&] {
        CHECK(sum == oracle::reduce(items, lanewise::plus{}, 3u));
        sum = 0;
      });
}

TEST_CASE("Multisplits survive that an allocation fails", "[allocation]") {
  const auto items = random_items<u32>(n);
  const array<u32> in(items);
  const array<u32> out(n, 0u);
  const auto expected = oracle::gather(items, oracle::multisplit(items, 40, modulo{40}).index);

  every_allocation_fails_once(
      [&](lanewise::workspace* work) {
        lanewise::multisplit(make_space(), in.const_view(), out.view(), 40, modulo{40},
                             {.work = work});
      },
      [&] {
        CHECK(difference(out.items(), expected) == "");
        out.assign(out.original());
      });
}

TEST_CASE("A workspace that could not grow still serves", "[allocation][sanitize]") {
  const auto exec = make_space();
  const auto items = random_items<u32>(n);
  const array<u32> in(items);
  const array<u32> out(n, 0u);
  lanewise::workspace work;
  const auto scan = [&] {
    lanewise::inclusive_scan(exec, in.const_view(), out.view(), lanewise::plus{}, {.work = &work});
    exec.fence();
    CHECK(difference(out.items(), oracle::inclusive_scan(items, lanewise::plus{})) == "");
  };
  scan();

  const bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, memory>::accessible;
  for (const lanewise::workspace_size much :
       {lanewise::workspace_size{0, std::size_t{1} << 46}, {std::int64_t{1} << 42, 0}}) {
    bool refused = false;
    until_failure = on_host ? 0 : -1;  // sanitizers abort when they are asked for that much
    try {
      lanewise::reserve(exec, work, much);
    } catch (const std::exception&) {
      refused = true;
    }
    until_failure = -1;
    CHECK(refused);
    scan();
  }
}
