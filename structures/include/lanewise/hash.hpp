// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The family of slab hash tables.

#include <lanewise/hash/slab_allocator.hpp>
#include <lanewise/hash/slab_bulk.hpp>
#include <lanewise/hash/slab_file.hpp>
#include <lanewise/hash/slab_growth.hpp>
#include <lanewise/hash/slab_hash_map.hpp>
#include <lanewise/hash/slab_hash_multimap.hpp>
#include <lanewise/hash/slab_hash_set.hpp>
#include <lanewise/hash/slab_hash_table.hpp>
#include <lanewise/hash/slab_list.hpp>
#include <lanewise/hash/slab_sort.hpp>
#include <lanewise/hash/slab_statistics.hpp>
