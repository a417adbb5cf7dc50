// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/call/execution_space.hpp>
#include <lanewise/macros.hpp>
#include <lanewise/warp/search_tree.hpp>

#include <Kokkos_Core.hpp>

#include <any>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

// The memory of an LSM: runs that do not change once they are made, and that are counted.

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Elements sorted by key. Of equal keys the first one counts. Where there are no values, all
/// elements are tombstones; else bit i % 32 of dead[i / 32] says whether element i is one, and
/// without such words none is.
template <class Key, class Value>
struct lsm_level {
  search_tree<Key> tree{};
  const Value* values = nullptr;
  const std::uint32_t* dead = nullptr;

  LANEWISE_FUNCTION const Key* keys() const { return tree.keys; }
  LANEWISE_FUNCTION std::int64_t size() const { return tree.n; }

  LANEWISE_FUNCTION bool is_dead(std::int64_t i) const {
    if (dead != nullptr) return (dead[i / 32] >> (i % 32) & 1u) != 0;
    return values == nullptr;
  }
  LANEWISE_FUNCTION bool has_tombstones() const { return dead != nullptr || values == nullptr; }
};

/// Memory that came from a backend, in the order of an instance.
class lsm_block {
 public:
  template <class Backend, class Exec>
  lsm_block(std::in_place_type_t<Backend>, const Exec& exec, std::size_t bytes)
      : owner_(exec), bytes_(bytes), free_([](const std::any& owner, void* p, bool is_shared) {
          const Exec& of = *std::any_cast<Exec>(&owner);
          // Other instances may still be reading.
          if (is_shared) Kokkos::fence("Lanewise: memory of a snapshot is freed");
          Backend::deallocate(of, p);
        }) {
    data_ = Backend::allocate(exec, bytes);
  }
  /// Memory of a View.
  template <class V>
  explicit lsm_block(const V& view) : owner_(view), data_(view.data()), bytes_(view.size()) {}
  ~lsm_block() {
    if (free_ != nullptr) free_(owner_, data_, shared_.load(std::memory_order_relaxed));
  }
  lsm_block(const lsm_block&) = delete;
  lsm_block& operator=(const lsm_block&) = delete;

  char* data() const { return static_cast<char*>(data_); }
  std::size_t bytes() const { return bytes_; }
  /// More than the instance that it came from uses it: it is freed when all are done.
  void share() { shared_.store(true, std::memory_order_relaxed); }
  template <class Exec>
  bool is_of(const Exec& exec) const {
    const Exec* of = std::any_cast<Exec>(&owner_);
    return of != nullptr && *of == exec;
  }

 private:
  std::any owner_;
  void* data_ = nullptr;
  std::size_t bytes_;
  void (*free_)(const std::any&, void*, bool) = nullptr;
  std::atomic<bool> shared_{false};
};

/// A run may have room for a ninth more elements than there are: with the samples of the search
/// tree 1.15 times the bytes of pairs of 4 + 4.
inline constexpr std::int64_t lsm_spare = 9;

/// Layout of a run's memory: the offsets of its arrays.
template <class Key, class Value>
struct lsm_layout {
  std::size_t samples_at, values_at, dead_at, bytes;

  lsm_layout(std::int64_t n, bool has_values, bool has_dead) {
    const auto items = static_cast<std::size_t>(n);
    samples_at = round_up(items * sizeof(Key));
    const auto samples = static_cast<std::size_t>(tree_over(nullptr, n).sample_keys());
    values_at = samples_at + round_up(samples * sizeof(Key));
    dead_at = values_at + (has_values ? round_up(items * sizeof(Value)) : 0);
    bytes = dead_at + (has_dead ? dead_bytes(n) : 0);
  }
  static search_tree<Key> tree_over(const Key* keys, std::int64_t n) {
    return search_tree<Key>::over(keys, n);
  }
  static std::size_t dead_bytes(std::int64_t n) {
    return (static_cast<std::size_t>(n) + 31) / 32 * sizeof(std::uint32_t);
  }

 private:
  static std::size_t round_up(std::size_t bytes) { return (bytes + 255) / 256 * 256; }
};

template <class Key, class Value>
struct lsm_run {
  using key_type = Key;
  using mapped_type = Value;

  std::shared_ptr<lsm_block> memory;
  lsm_level<Key, Value> level;
  std::int64_t room = 0;  ///< what its memory is laid out for

  lsm_run() = default;
  /// Over memory of the layout.
  lsm_run(std::shared_ptr<lsm_block> m, const lsm_layout<Key, Value>& at, std::int64_t n,
          bool has_values, bool has_dead)
      : memory(std::move(m)), room(n) {
    char* const p = memory->data();
    level.tree = lsm_layout<Key, Value>::tree_over(reinterpret_cast<const Key*>(p), n);
    level.tree.samples = reinterpret_cast<const Key*>(p + at.samples_at);
    if (has_values) level.values = reinterpret_cast<const Value*>(p + at.values_at);
    if (has_dead) level.dead = reinterpret_cast<const std::uint32_t*>(p + at.dead_at);
  }
  /// Room for n elements, uninitialised but for the words of tombstones, which are 0; in memory
  /// that has enough bytes, or of its own.
  template <class Backend, class Exec>
  static lsm_run make(const Exec& exec, std::int64_t n, bool has_values, bool has_dead,
                      std::shared_ptr<lsm_block> memory = nullptr) {
    const lsm_layout<Key, Value> at(n, has_values, has_dead);
    if (memory == nullptr)
      memory = std::make_shared<lsm_block>(std::in_place_type<Backend>, exec, at.bytes);
    lsm_run run(std::move(memory), at, n, has_values, has_dead);
    if (has_dead) Backend::zero(exec, run.dead(), at.dead_bytes(n));
    return run;
  }
  /// A run in the memory of a View; nothing is initialised. **Blocks.**
  template <class MemorySpace>
  static lsm_run allocated(const std::string& label, std::int64_t n, bool has_values,
                           bool has_dead) {
    const lsm_layout<Key, Value> at(n, has_values, has_dead);
    const Kokkos::View<char*, MemorySpace> bytes(
        Kokkos::view_alloc(label, Kokkos::WithoutInitializing), at.bytes);
    return lsm_run(std::make_shared<lsm_block>(bytes), at, n, has_values, has_dead);
  }
  /// Leaves the first n elements.
  void shrink(std::int64_t n) {
    const auto* const samples = level.tree.samples;
    level.tree = lsm_layout<Key, Value>::tree_over(level.tree.keys, n);
    level.tree.samples = samples;
  }
  Key* keys() const { return const_cast<Key*>(level.tree.keys); }
  Key* samples() const { return const_cast<Key*>(level.tree.samples); }
  Value* values() const { return const_cast<Value*>(level.values); }
  std::uint32_t* dead() const { return const_cast<std::uint32_t*>(level.dead); }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
