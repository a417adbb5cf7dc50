// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/hash/detail/slab_lists.hpp>

// How a slab table is filled: statistics, size.

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

struct statistics_action {
  static constexpr int lengths = 8;
  std::uint64_t* slabs;  // slabs, elements, deleted, longest, and lists by their length

  struct counts {
    std::uint64_t slabs = 0, elements = 0, taken = 0, longest = 0;
    std::uint64_t lists[lengths] = {};
  };
  template <class Sub>
  LANEWISE_FUNCTION counts begin(const Sub&, std::uint64_t) const {
    return {};
  }
  template <class Sub, class Walk, class View>
  LANEWISE_FUNCTION void operator()(const Sub& sub, const Walk& walk, counts& c, const View& table,
                                    std::uint32_t bucket) const {
    using layout = typename View::layout;
    std::uint64_t length = 0;
    for (slab_unit* s = table.head(bucket); s != nullptr; s = walk.next(table.units(), s)) {
      ++length;
      walk.visit(s, [&](const auto& exists, const auto& keys, const auto&) {
        c.elements += static_cast<std::uint64_t>(sub.count(exists));
        c.taken += static_cast<std::uint64_t>(
            sub.count(exists | (keys == static_cast<typename Walk::word>(layout::deleted))));
      });
    }
    c.slabs += length;
    c.longest = length > c.longest ? length : c.longest;
    LANEWISE_UNROLL
    for (std::uint64_t l = 1; l < lengths; ++l) c.lists[l - 1] += length == l;
    c.lists[lengths - 1] += length >= lengths;
  }
  template <class Sub>
  LANEWISE_FUNCTION void end(const Sub& sub, const counts& c) const {
    sub.fetch_add(slabs[0], c.slabs);
    sub.fetch_add(slabs[1], c.elements);
    sub.fetch_add(slabs[2], c.taken - c.elements);
    for (int l = 0; l < lengths; ++l) sub.fetch_add(slabs[4 + l], c.lists[l]);
    std::uint64_t seen = sub.load(slabs[3]);
    while (seen < c.longest) {
      const std::uint64_t before = sub.compare_exchange(slabs[3], seen, c.longest);
      if (before == seen) break;
      seen = before;
    }
  }
};

}  // namespace kernels

/// How the table is filled. No kernel may be changing it. Reads all slabs. **Blocks.**
template <class Exec, any_slab_table Table>
slab_statistics statistics(const Exec& exec, const Table& table) {
  using layout = typename Table::layout;
  constexpr int lengths = kernels::statistics_action::lengths;
  const kernels::counters<Exec> counted(exec);
  kernels::for_lists(exec, "Lanewise::slab_hash::statistics", table,
                     kernels::statistics_action{counted.data()});
  const auto c = counted.read(exec);
  slab_statistics s;
  s.buckets = table.buckets();
  s.slabs = static_cast<std::int64_t>(c[0]);
  s.elements = static_cast<std::int64_t>(c[1]);
  s.deleted = static_cast<std::int64_t>(c[2]);
  s.longest = static_cast<std::int64_t>(c[3]);
  for (int l = 0; l < lengths; ++l) s.lists[l] = static_cast<std::int64_t>(c[4 + l]);
  s.units = table.pool().units();
  s.load = static_cast<double>(s.elements) / static_cast<double>(table.slots());
  s.utilisation = static_cast<double>(s.elements * layout::element_bytes) /
                  static_cast<double>(s.slabs * static_cast<std::int64_t>(sizeof(slab_unit)));
  return s;
}

/// How many elements there are, equal keys of a multimap each for itself. No kernel may be changing
/// the table. Reads all slabs: nothing counts the elements that kernels put there, as the number
/// would be one word that all warps add to. **Blocks.**
template <class Exec, any_slab_table Table>
std::int64_t size(const Exec& exec, const Table& table) {
  return lanewise::statistics(exec, table).elements;
}

LANEWISE_END_TARGET_NAMESPACE
