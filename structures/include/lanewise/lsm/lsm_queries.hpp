// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/table_queries.hpp>
#include <lanewise/common/table_scalar_face.hpp>
#include <lanewise/lsm/detail/lsm_calls.hpp>
#include <lanewise/lsm/lsm_dictionary.hpp>

#include <cstdint>

// What LSMs tell about themselves: size, statistics. common/table_queries.hpp has find, contains
// and neighbours, lsm_ranges.hpp count and range.

LANEWISE_BEGIN_NAMESPACE

/// What there is in a dictionary.
struct lsm_statistics {
  std::int64_t levels = 0;
  std::int64_t elements = 0;    ///< in all levels, stale ones and tombstones included
  std::int64_t tombstones = 0;  ///< of these
  std::int64_t bytes = 0;       ///< of all levels
};

LANEWISE_END_NAMESPACE

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// Counts what is there, in pieces of the largest level, one for each lane.
template <class Key, class Value>
struct lsm_size_kernel {
  using policy = window_policy<lsm_view<Key, Value>::teams_of_queries>;
  static constexpr std::int64_t each = 32;
  template <class Team>
  struct scratch {};

  lsm_view<Key, Value> map;
  std::uint64_t* total;
  std::int64_t pieces;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    detail::lsm_cursor<Key, Value> all;
    const int largest = map.open_all(all);
    kernels::for_windows(
        team, pieces, [&](const auto& warp, const auto& exists, std::int64_t begin) {
          const auto counts = warp.map(
              exists,
              [&](std::uint32_t l) {
                return map.piece(all, largest, (begin + l) * each, each, 0,
                                 [](std::int64_t, const Key&, int, std::int64_t) {});
              },
              std::int64_t{0}, warp.lane());
          const auto sum = static_cast<std::uint64_t>(warp.reduce(counts, plus{}));
          if (sum != 0) warp.template fetch_add<order::relaxed>(*total, sum);
        });
  }
};

}  // namespace kernels

/// How many keys there are. Merges all levels without writing them: O(elements) work. **Blocks.**
template <execution_space Exec, any_lsm Map>
std::int64_t size(const Exec& exec, const Map& map, workspace_ref work = {}) {
  using kernel = kernels::lsm_size_kernel<typename Map::key_type, typename Map::mapped_type>;
  kernels::expects_reachable_table<Exec, Map>();
  if (map.is_clean()) return map.elements();
  map.used_by(exec);
  using backend = backend_of<Exec>;
  auto memory = call_workspace::make<backend>(exec, work, {0, sizeof(std::uint64_t)}, "size");
  auto* const total = static_cast<std::uint64_t*>(memory.get().plain());
  backend::zero(exec, total, sizeof *total);
  std::int64_t largest = 0;
  for (const auto& r : map.runs()) largest = largest < r.level.size() ? r.level.size() : largest;
  const std::int64_t pieces = lanewise::divide_up(largest, kernel::each);
  lanewise::launch(exec, "Lanewise::lsm::size", kernels::league_for_windows<kernel>(exec, pieces),
                   kernel{map.view(), total, pieces});
  std::uint64_t all = 0;
  detail::copy_to_host<std::uint64_t>(exec, &all, total);
  return static_cast<std::int64_t>(all);
}

/// What the dictionary is made of. Counts bits where levels have tombstones. **Blocks.**
template <execution_space Exec, any_lsm Map>
lsm_statistics statistics(const Exec& exec, const Map& map, workspace_ref work = {}) {
  kernels::expects_reachable_table<Exec, Map>();
  map.used_by(exec);
  lsm_statistics s;
  s.levels = map.levels();
  s.elements = map.elements();
  for (const auto& r : map.runs()) s.bytes += static_cast<std::int64_t>(r.memory->bytes());
  s.tombstones = kernels::lsm_tombstones(exec, map.view().all(), work);
  return s;
}

LANEWISE_END_TARGET_NAMESPACE
