// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/hash/slab_bulk.hpp>

LANEWISE_BEGIN_NAMESPACE

/// A hash map that any number of warps and threads may read and change at the same time: an array
/// of slab lists (Ashkiani, chapter 5; the errata there are fixed). Keys and values are trivially
/// copyable and have 4 or 8 bytes; keys are equal when their bytes are. There are no keys or values
/// that users must avoid.
///
/// Three faces, which may be mixed freely: bulk calls on Views (slab_bulk.hpp: insert, assign,
/// upsert, find, erase, apply; slab_whole.hpp, slab_statistics.hpp and slab_growth.hpp: for_each,
/// flush, clear, statistics, size, rehash, reserve; slab_sort.hpp: sorted building),
/// operations of warps (view()), and of single threads (slab_scalar_face).
template <class Key, class Value, class MemorySpace, class Hash = slab_hash<Key>>
using slab_hash_map = slab_hash_table<Key, Value, key_multiplicity::unique, MemorySpace, Hash>;

LANEWISE_END_NAMESPACE
