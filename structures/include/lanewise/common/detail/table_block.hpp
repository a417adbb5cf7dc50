// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/detail/table_memory.hpp>
#include <lanewise/warp/search_tree.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

// The block of memory that a table in order owns, and what lies in it.

LANEWISE_BEGIN_NAMESPACE
namespace detail {

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

}  // namespace detail
LANEWISE_END_NAMESPACE
