// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The family of graphs: files, generators, searches and sums.

#include <lanewise/graphs/bfs.hpp>
#include <lanewise/graphs/bfs_batch.hpp>
#include <lanewise/graphs/build_csr.hpp>
#include <lanewise/graphs/check_graph.hpp>
#include <lanewise/graphs/connected_components.hpp>
#include <lanewise/graphs/csr_graph.hpp>
#include <lanewise/graphs/edge_list.hpp>
#include <lanewise/graphs/for_each_edge.hpp>
#include <lanewise/graphs/graph_file.hpp>
#include <lanewise/graphs/graph_generators.hpp>
#include <lanewise/graphs/pagerank.hpp>
#include <lanewise/graphs/spmv.hpp>
#include <lanewise/graphs/sssp.hpp>
#include <lanewise/graphs/sssp_parents.hpp>
