// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/papers/bfs_by_frontiers.hpp>
#include <lanewise/papers/detail/names.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {

/// What a search has done in all.
struct bfs_totals {
  bfs_level_counts counts;
  std::int64_t levels = 0;  ///< that have vertices

  bfs_totals(const bfs_level_counts* rows, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      const bfs_level_counts& row = rows[i];
      if (row.vertices != 0) levels = i + 1;
      counts.vertices += row.vertices;
      counts.edges += row.edges;
      counts.examined += row.examined;
      counts.after_bitmap += row.after_bitmap;
      counts.after_levels += row.after_levels;
      counts.after_warp_cull += row.after_warp_cull;
      counts.expanded += row.expanded;
      counts.expanded_edges += row.expanded_edges;
      counts.words += row.words;
    }
  }

  /// Edges that were expanded for each that there is: 1 where no vertex came twice.
  double redundancy() const { return ratio(counts.expanded_edges, counts.edges); }
  std::uint64_t duplicates() const { return counts.expanded - counts.vertices; }

  /// Edges that are after a cull and lead to no new vertex, as a part of all that are looked up
  /// and lead to none.
  double false_negatives_of_bitmap() const { return false_negatives(counts.after_bitmap); }
  double false_negatives_of_levels() const { return false_negatives(counts.after_levels); }
  double false_negatives_of_warp_cull() const { return false_negatives(counts.after_warp_cull); }
  double false_negatives_of_history() const { return false_negatives(counts.expanded); }

  double bytes_per_edge(std::int64_t word_bytes) const {
    return ratio(counts.words, counts.edges) * static_cast<double>(word_bytes);
  }

 private:
  static double ratio(std::uint64_t a, std::uint64_t b) {
    return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
  }
  double false_negatives(std::uint64_t after) const {
    return ratio(after - counts.vertices, counts.examined - counts.vertices);
  }
};

/// bfs_by_frontiers, and what it does for each level. `counts` is a View of bfs_level_counts that
/// the call adds to. Row l gets what belongs to the vertices of level l, and the last row all
/// further levels, too. bfs_totals sums rows up on the host.
///
/// The search is that of the policy, and counts beside: the calls without counts have no code for
/// it. Throws std::invalid_argument where there is no row. Merrill, 6.3.2, 6.4.1 and 6.4.3.
template <class Policy = bfs_policy, execution_space Exec, class M, class V, class O, class W,
          class Source, class L, class... Pl, class C, class... Pc>
void bfs_statistics(const Exec& exec, const csr_graph<M, V, O, W>& graph, const Source& source,
                    const Kokkos::View<L, Pl...>& levels, const Kokkos::View<C, Pc...>& counts,
                    const bfs_by_frontiers_options& options = {}) {
  const auto rows = detail::as_sink<Exec>(counts);
  static_assert(std::is_same_v<typename Kokkos::View<C, Pc...>::value_type, bfs_level_counts>,
                "lanewise: counts is a View of bfs_level_counts");
  detail::expects(rows.extent > 0, "bfs_statistics: counts has ", rows.extent, " rows");
  detail::expects_memory(rows, "bfs_statistics", "counts");
  kernels::bfs_by_frontiers<Policy, false, true>(
      exec, graph, source,
      detail::vertex_results<Exec, std::int32_t>("bfs_statistics", levels, graph.vertices(),
                                                 "levels"),
      static_cast<detail::number<V>*>(nullptr), rows.data, rows.extent, options);
}

}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
