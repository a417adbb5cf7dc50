// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The family of B+ trees that are changed in place.

#include <lanewise/btree/btree_bulk.hpp>
#include <lanewise/btree/btree_map.hpp>
#include <lanewise/btree/btree_table.hpp>
#include <lanewise/btree/btree_view.hpp>
