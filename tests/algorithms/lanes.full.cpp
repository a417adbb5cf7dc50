// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Whole suites, with --full only.
#if !defined(LANEWISE_TEST_FEW_TYPES)
#define LANEWISE_TEST_LANES
#include "test_allocate.cpp"
#include "test_run_length_decode.cpp"
#include "test_scan_recursive.cpp"
#include "test_scan_reverse.cpp"
#include "test_scan_two_level.cpp"
#include "test_segmented_reduce.cpp"
#include "test_transform.cpp"
#endif
