// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/options.hpp>
#include <lanewise/warp/search_tree.hpp>

#include <type_traits>
#include <utility>

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

/// Every sample of a search tree, from the array itself: all levels at once.
template <class Key>
struct sample_keys_kernel {
  struct policy : launch_policy {
    static constexpr int host_teams_per_thread = 16;
  };
  template <class Team>
  struct scratch {};

  search_tree<Key> tree;
  Key* samples;
  std::int64_t count;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    constexpr std::int64_t width = Team::warp_type::width;
    const auto warp = team.warp();
    // Several windows at once: their reads are far from each other, and wait for memory.
    constexpr int rows = 4;
    const auto [first, last] = team.share(divide_up(count, rows * width));
    for (std::int64_t w = first + team.warp_index(); w < last; w += Team::warps) {
      lanes_t<typename Team::warp_type, Key> key[rows];
      LANEWISE_UNROLL
      for (int r = 0; r < rows; ++r) {
        const std::int64_t at = (w * rows + r) * width;
        key[r] = warp.map(
            [&](std::uint32_t l)
                LANEWISE_INLINE_LAMBDA { return tree.sample(at + l < count ? at + l : count - 1); },
            warp.lane());
      }
      LANEWISE_UNROLL
      for (int r = 0; r < rows; ++r) {
        const std::int64_t at = (w * rows + r) * width, left = count - at;
        if (left > 0) warp.store(warp.first(left), samples + at, key[r]);
      }
    }
  }
};

inline constexpr std::int64_t most_searched_keys = std::int64_t{1} << 34;

/// Fills the samples of a tree, for which there is memory of tree.sample_keys() keys, aligned to 64
/// bytes. One launch, which reads a key of every node.
template <class Exec, class Key>
void sample_keys(const Exec& exec, search_tree<Key>& tree, Key* samples) {
  using kernel = sample_keys_kernel<Key>;
  tree.samples = samples;
  const std::int64_t count = tree.sample_keys();
  if (count == 0) return;
  const std::int64_t league = backend_of<Exec>::template resident_league<kernel>(
      exec, lanewise::divide_up(count, 4 * 32 * team_t<Exec, typename kernel::policy>::warps));
  lanewise::launch(exec, "Lanewise::search_index::sample", league, kernel{tree, samples, count});
}

}  // namespace kernels

/// A static search tree over a sorted View, which stays where it is. The index holds the View and
/// the sampled keys of its levels (search_tree.hpp): 1/15 of the memory of 4-byte keys, and 1/7 for
/// keys of 8 bytes and more. lower_bound and its kin (sorted_search.hpp) take it in place of the
/// View; view() is for kernels.
///
/// The tree knows places and not the order: it serves any less that the keys are sorted by. When
/// keys are changed, build() makes it anew. Keys are trivially copyable, of any size; at most 2^34.
template <class Key, class MemorySpace = Kokkos::DefaultExecutionSpace::memory_space>
class search_index {
  static_assert(std::is_same_v<Key, std::remove_cv_t<Key>> && std::is_trivially_copyable_v<Key>,
                "lanewise: search_index: keys are trivially copyable, and not const");

 public:
  using key_type = Key;
  using memory_space = MemorySpace;
  using keys_type = Kokkos::View<const Key*, MemorySpace>;
  using view_type = search_tree<Key>;

  search_index() = default;
  /// Over a sorted View. Allocates a View of its own, and reads a key of every node in one launch.
  /// Throws std::invalid_argument where a View with keys has no memory, or more than 2^34 keys.
  template <execution_space Exec>
  search_index(const Exec& exec, const keys_type& keys) : keys_(keys) {
    build(exec);
  }

  /// Samples the keys of the View again.
  template <execution_space Exec>
  void build(const Exec& exec) {
    static_assert(Kokkos::SpaceAccessibility<typename Exec::memory_space, MemorySpace>::accessible,
                  "lanewise: this execution space cannot reach the memory of a search_index");
    const auto n = static_cast<std::int64_t>(keys_.extent(0));
    detail::expects(n == 0 || keys_.data() != nullptr, "search_index: keys has ", n,
                    " items and no memory");
    detail::expects(n <= kernels::most_searched_keys, "search_index: keys has ", n,
                    " items, more than ", kernels::most_searched_keys);
    tree_ = view_type::over(keys_.data(), n);
    const auto need = static_cast<std::size_t>(tree_.sample_keys());
    if (samples_.extent(0) < need) {
      samples_ = {};
      samples_ = samples_type(
          Kokkos::view_alloc("Lanewise::search_index", Kokkos::WithoutInitializing), need);
    }
    kernels::sample_keys(exec, tree_, samples_.data());
  }

  const keys_type& keys() const { return keys_; }
  std::int64_t size() const { return tree_.n; }
  /// Bytes of the samples, beside the keys.
  std::int64_t bytes() const { return static_cast<std::int64_t>(samples_.extent(0) * sizeof(Key)); }
  /// Levels of nodes, the array included.
  int levels() const { return tree_.levels + 1; }
  /// For kernels; valid as long as the index and its keys are.
  const view_type& view() const { return tree_; }

 private:
  using samples_type = Kokkos::View<Key*, MemorySpace>;

  keys_type keys_;
  samples_type samples_;
  view_type tree_ = view_type::over(nullptr, 0);
};

LANEWISE_END_TARGET_NAMESPACE
