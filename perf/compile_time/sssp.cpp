// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/graphs/sssp.hpp>

using space = Kokkos::DefaultExecutionSpace;
using graph_type =
    lanewise::csr_graph<space::memory_space, std::uint32_t, std::uint32_t, std::uint32_t>;
void search(const space& exec, const graph_type& graph,
            const Kokkos::View<std::uint32_t*, space>& distances) {
  lanewise::sssp(exec, graph, 0, distances);
}
