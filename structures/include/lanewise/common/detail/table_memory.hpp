// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__linux__)
#include <sys/mman.h>
#endif

// Memory of long-lived structures.

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Asks for huge pages before memory of the host is first touched: random accesses to a large table
/// would miss the TLB every time. A hint; other spaces need none.
template <class MemorySpace>
void use_huge_pages([[maybe_unused]] void* p, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
  if constexpr (std::is_same_v<MemorySpace, Kokkos::HostSpace>) {
    constexpr std::uintptr_t page = std::uintptr_t{2} << 20;
    const auto begin = (reinterpret_cast<std::uintptr_t>(p) + page - 1) / page * page;
    const auto end = (reinterpret_cast<std::uintptr_t>(p) + bytes) / page * page;
    if (begin < end) (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
  }
#endif
}

/// n items that something else owns.
template <class T, class MemorySpace>
using memory_array = Kokkos::View<T*, MemorySpace, Kokkos::MemoryUnmanaged>;

struct fill_word {
  std::uint64_t* words;
  std::uint64_t value;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { words[i] = value; }
};

/// Sets n words, in the order of the instance. One kernel; Kokkos::deep_copy compiles six.
template <class MemorySpace, class Exec>
void fill_words(const Exec& exec, std::uint64_t* p, std::size_t n, std::uint64_t value) {
  if constexpr (Kokkos::is_execution_space_v<Exec>) {
    using range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
    Kokkos::parallel_for("Lanewise::slab::fill", range(exec, 0, static_cast<std::int64_t>(n)),
                         fill_word{p, value});
  } else {
    for (std::size_t i = 0; i < n; ++i) p[i] = value;
  }
}

/// Copies n items of one View to another, in the order of the instance.
template <class Exec, class V>
void copy_units(const Exec& exec, const V& to, const V& from, std::size_t to_first,
                std::size_t from_first, std::size_t n) {
  if (n == 0) return;
  const auto target = Kokkos::subview(to, Kokkos::make_pair(to_first, to_first + n));
  const auto source = Kokkos::subview(from, Kokkos::make_pair(from_first, from_first + n));
  if constexpr (Kokkos::is_execution_space_v<Exec>) {
    Kokkos::deep_copy(exec, target, source);
  } else {
    Kokkos::deep_copy(target, source);
  }
}

}  // namespace detail
LANEWISE_END_NAMESPACE
