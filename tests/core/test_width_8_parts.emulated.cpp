// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Searches, merges, sorts, windows, scans and reductions by teams by warps of 8 lanes.
#define LANEWISE_TEST_WIDTH 8
#include "test_merge_tile.cpp"
#include "test_scan_circuits.cpp"
#include "test_search.cpp"
#include "test_team_reduce.cpp"
#include "test_team_scan.cpp"
#include "test_tile_sort.cpp"
#include "test_windows.cpp"
