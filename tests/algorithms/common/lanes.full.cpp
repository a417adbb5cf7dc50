// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Whole suites, with --full only.
#if !defined(LANEWISE_TEST_FEW_TYPES)
#define LANEWISE_TEST_LANES
#include <algorithms/papers/test_scan_recursive.cpp>
#include <algorithms/segments/test_run_length_decode.cpp>
#include <algorithms/segments/test_segmented_reduce.cpp>
#include <algorithms/sequence/test_allocate.cpp>
#include <algorithms/sequence/test_scan_reverse.cpp>
#include <algorithms/sequence/test_scan_two_level.cpp>
#include <algorithms/sequence/test_transform.cpp>
#endif
