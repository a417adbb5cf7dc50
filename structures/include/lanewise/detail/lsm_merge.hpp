// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/lsm_runs.hpp>
#include <lanewise/merge.hpp>

#include <cstdint>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// What goes the way of a key.
template <class Value>
struct lsm_payload {
  Value value;
  bool is_dead;
};

/// Where a merge of two levels, a being the newer one, puts its elements.
template <class Key, class Value, class Solo>
struct lsm_merged {
  detail::lsm_level<Key, Value> a, b;
  Key* keys;
  Value* values;        // null where all are tombstones
  std::uint32_t* dead;  // null where none is, or all are

  LANEWISE_FUNCTION lsm_payload<Value> load(const merge_origin& from) const {
    const auto& level = from.sequence == 0 ? a : b;
    const bool is_dead = level.is_dead(from.index);
    return {is_dead ? Value{} : level.values[from.index], is_dead};
  }
  LANEWISE_FUNCTION void store(std::int64_t i, const Key& key,
                               const lsm_payload<Value>& payload) const {
    keys[i] = key;
    if (values != nullptr) values[i] = payload.value;
    if (payload.is_dead && dead != nullptr)
      Solo().template fetch_or<order::relaxed>(dead[i / 32], std::uint32_t{1} << (i % 32));
  }
};

/// Merges two runs; of equal keys those of a come first. One launch, or two beyond 600 tiles: every
/// element is read and written once.
template <class Exec, class Key, class Value>
detail::lsm_run<Key, Value> lsm_merge(const Exec& exec, const detail::lsm_run<Key, Value>& a,
                                      const detail::lsm_run<Key, Value>& b, workspace_ref given) {
  using backend = backend_of<Exec>;
  using solo = typename warp_t<Exec>::template part<1>;
  const auto &of_a = a.level, &of_b = b.level;
  const std::int64_t n = of_a.size() + of_b.size();
  const bool has_values = of_a.values != nullptr || of_b.values != nullptr;
  const bool has_dead = has_values && (of_a.has_tombstones() || of_b.has_tombstones());
  const auto merged =
      detail::lsm_run<Key, Value>::template make<backend>(exec, n, has_values, has_dead);
  auto work =
      call_workspace::make<backend>(exec, given, merge_workspace<Key, Exec>(n), "lsm_merge");
  merge(exec, "Lanewise::lsm::merge", array_source<Key, identity>{of_a.keys(), of_a.size(), {}},
        array_source<Key, identity>{of_b.keys(), of_b.size(), {}},
        lsm_merged<Key, Value, solo>{of_a, of_b, merged.keys(), merged.values(), merged.dead()},
        item_count{of_a.size()}, item_count{of_b.size()}, work.get().plain(), less{});
  return merged;
}

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
