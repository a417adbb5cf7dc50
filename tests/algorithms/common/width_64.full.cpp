// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Whole suites, with --full only.
#if !defined(LANEWISE_TEST_FEW_TYPES)
#define LANEWISE_TEST_WIDTH 64
#include <algorithms/segments/test_run_length_decode.cpp>
#include <algorithms/segments/test_segmented_reduce.cpp>
#endif
