// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/detail/table_memory.hpp>
#include <lanewise/data/message.hpp>
#include <lanewise/lsm/lsm_view.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

LANEWISE_BEGIN_NAMESPACE

/// How a dictionary keeps its elements.
enum class lsm_growth {
  levels,       ///< runs of growing size, which are merged as a counter carries
  one_level,    ///< one run, with which every batch is merged
  sorted_again  ///< one run, which is sorted again with every batch
};

/// What lsm_map and sorted_array are: a list of sorted runs, newest first (Ashkiani, chapter 4).
///
/// A run is never changed; runs are counted. So snapshot() copies the list and nothing else, and
/// both dictionaries may be changed from there on, each by itself.
///
/// Calls of one instance need no waiting. Before another instance uses what one has changed, wait
/// for the first; before a change, wait for the instances that read this very object. Instances
/// that read a snapshot need not be waited for: what it has is freed when all instances are done.
template <class Key, class Value, class MemorySpace, lsm_growth growth>
class lsm_dictionary {
  static_assert(std::is_integral_v<Key> && !std::is_same_v<Key, bool> &&
                    (sizeof(Key) == 4 || sizeof(Key) == 8),
                "lanewise: keys of an LSM are integers of 4 or 8 bytes");
  static_assert(std::is_trivially_copyable_v<Value> && std::is_default_constructible_v<Value>,
                "lanewise: values of an LSM are trivially copyable and default constructible");

 public:
  static constexpr auto family = table_family::lsm;
  using key_type = Key;
  using mapped_type = Value;
  using memory_space = MemorySpace;
  using view_type = lsm_view<Key, Value>;
  using run = detail::lsm_run<Key, Value>;
  static constexpr bool has_one_level = growth != lsm_growth::levels;
  static constexpr bool sorts_again = growth == lsm_growth::sorted_again;

  /// Empty; has no memory.
  lsm_dictionary() = default;
  lsm_dictionary(lsm_dictionary&&) noexcept = default;
  lsm_dictionary& operator=(lsm_dictionary&&) noexcept = default;

  /// What is there now, as a dictionary of its own. O(levels), no memory of the device.
  lsm_dictionary snapshot() const {
    lsm_dictionary s;
    s.runs_ = runs_;
    s.is_clean_ = is_clean_;
    for (const run& r : runs_) r.memory->share();
    return s;
  }

  /// For kernels.
  view_type view() const {
    detail::lsm_levels_of<Key, Value> all;
    for (const run& r : runs_) all.level[all.count++] = r.level;
    all.is_clean = is_clean_;
    return view_type(all);
  }

  /// A copy in another memory space. **Blocks.**
  template <class Other, class Exec>
  lsm_dictionary<Key, Value, Other, growth> copy_to(const Exec& exec) const {
    exec.fence("Lanewise::lsm: the levels are copied");
    std::vector<run> copies;
    copies.reserve(runs_.size());
    for (const run& r : runs_) {
      copies.push_back(run::template allocated<Other>(
          "Lanewise::lsm", r.room, r.level.values != nullptr, r.level.dead != nullptr));
      const auto& memory = *copies.back().memory;
      Kokkos::deep_copy(
          detail::memory_array<char, Other>(memory.data(), memory.bytes()),
          detail::memory_array<const char, MemorySpace>(r.memory->data(), memory.bytes()));
      copies.back().shrink(r.level.size());
    }
    lsm_dictionary<Key, Value, Other, growth> other;
    other.take(std::move(copies), is_clean_);
    return other;
  }

  /// How many levels there are, and how many elements in all of them, stale ones and tombstones
  /// included.
  int levels() const { return static_cast<int>(runs_.size()); }
  std::int64_t elements() const {
    std::int64_t n = 0;
    for (const run& r : runs_) n += r.level.size();
    return n;
  }

  // Below: for the calls.

  const std::vector<run>& runs() const { return runs_; }
  /// Whether there is at most one level, which has every key once and no tombstone.
  bool is_clean() const { return is_clean_; }
  void take(std::vector<run>&& runs, bool is_clean) noexcept {
    runs_ = std::move(runs);
    is_clean_ = is_clean || runs_.empty();
  }
  /// Memory that came from another instance is not freed in the order of that one.
  template <class Exec>
  void used_by(const Exec& exec) const {
    for (const run& r : runs_)
      if (!r.memory->is_of(exec)) r.memory->share();
  }

 private:
  std::vector<run> runs_;
  bool is_clean_ = true;
};

template <class T>
concept any_lsm = table_of_family<T, table_family::lsm>;

LANEWISE_END_NAMESPACE
