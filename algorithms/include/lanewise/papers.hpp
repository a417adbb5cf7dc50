// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The family of what the papers describe and the library does otherwise, for comparisons.

#include <lanewise/papers/ballot_histogram.hpp>
#include <lanewise/papers/bellman_ford.hpp>
#include <lanewise/papers/bfs_by_frontiers.hpp>
#include <lanewise/papers/bfs_policy.hpp>
#include <lanewise/papers/bfs_references.hpp>
#include <lanewise/papers/bfs_statistics.hpp>
#include <lanewise/papers/lsd_radix_sort.hpp>
#include <lanewise/papers/multisplit_methods.hpp>
#include <lanewise/papers/radix_pass_cost.hpp>
#include <lanewise/papers/scan_recursive.hpp>
#include <lanewise/papers/sssp_by_buckets.hpp>
#include <lanewise/papers/string_search_by_fingerprints.hpp>
#include <lanewise/papers/team_reduce.hpp>
