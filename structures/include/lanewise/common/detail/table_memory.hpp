// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>
#include <lanewise/warp/search_tree.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

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

/// The memory of a View, not initialised. **Blocks.**
template <class MemorySpace>
std::shared_ptr<char> block_of_view(const std::string& label, std::size_t bytes) {
  using memory = Kokkos::View<char*, MemorySpace>;
  auto owner =
      std::make_shared<memory>(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), bytes);
  detail::use_huge_pages<MemorySpace>(owner->data(), bytes);
  char* const block = owner->data();
  return {std::move(owner), block};
}
/// What lies at an offset of a block. Null without a block.
template <class T>
T* at_offset(const std::shared_ptr<char>& block, std::size_t offset) {
  return block == nullptr ? nullptr : reinterpret_cast<T*>(block.get() + offset);
}

/// The members of a table. Those of a table that was moved from are those of an empty one.
template <class Members>
struct emptied_by_move : Members {
  emptied_by_move() = default;
  explicit emptied_by_move(Members&& members) : Members(std::move(members)) {}
  emptied_by_move(const emptied_by_move&) = default;
  emptied_by_move(emptied_by_move&& other) noexcept
      : Members(std::exchange(static_cast<Members&>(other), Members{})) {}
  emptied_by_move& operator=(emptied_by_move other) noexcept {
    std::swap(static_cast<Members&>(*this), static_cast<Members&>(other));
    return *this;
  }
};

/// n keys in order with a search tree over them, whose samples begin at a whole number of nodes.
template <class Word>
struct sampled_keys {
  Word* keys;  // null for a size alone
  std::int64_t n;

  search_tree<Word> tree() const {
    auto t = search_tree<Word>::over(keys, n);
    t.samples = samples();
    return t;
  }
  Word* samples() const { return keys == nullptr ? nullptr : keys + samples_begin(); }
  std::size_t bytes() const {
    return (samples_begin() + static_cast<std::size_t>(tree().sample_keys())) * sizeof(Word);
  }

 private:
  std::size_t samples_begin() const {
    constexpr std::int64_t node = search_tree<Word>::node_keys;
    return static_cast<std::size_t>(lanewise::divide_up(n, node) * node);
  }
};

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
