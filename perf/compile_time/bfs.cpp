// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/graphs/bfs.hpp>

using space = Kokkos::DefaultExecutionSpace;
void search(const space& exec, const lanewise::csr_graph<space::memory_space>& graph,
            const Kokkos::View<int*, space>& levels) {
  lanewise::bfs(exec, graph, 0, levels);
}
