// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The family of warps: what lanes do together, and searches by warps.

#include <lanewise/warp/column_search.hpp>
#include <lanewise/warp/ranges_in_lanes.hpp>
#include <lanewise/warp/search.hpp>
#include <lanewise/warp/search_tree.hpp>
#include <lanewise/warp/sorting_network.hpp>
#include <lanewise/warp/warp.hpp>
