// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Whole suites, with --full only.
#if !defined(LANEWISE_TEST_FEW_TYPES)
#define LANEWISE_TEST_LANES
#include "test_slab_allocator.cpp"
#include "test_slab_hash_map.cpp"
#endif
