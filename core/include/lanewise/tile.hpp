// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The family of tiles: what a team does with a contiguous piece of items.

#include <lanewise/tile/expansion.hpp>
#include <lanewise/tile/fixed_tree.hpp>
#include <lanewise/tile/merge_tile.hpp>
#include <lanewise/tile/selection.hpp>
#include <lanewise/tile/split_tile.hpp>
#include <lanewise/tile/tile.hpp>
#include <lanewise/tile/tile_sort.hpp>
#include <lanewise/tile/windows.hpp>
