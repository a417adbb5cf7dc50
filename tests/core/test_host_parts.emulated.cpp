// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Searches, merges, sorts and windows as they are mapped for hosts.
#define LANEWISE_TEST_HOST_MAPPING
#include "test_merge_tile.cpp"
#include "test_search.cpp"
#include "test_tile_sort.cpp"
#include "test_windows.cpp"
