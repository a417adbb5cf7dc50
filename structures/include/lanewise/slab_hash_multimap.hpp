// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/slab_bulk.hpp>

LANEWISE_BEGIN_NAMESPACE

/// A slab_hash_map in which a key may stand any number of times. Elements with one key keep the
/// order in which they were inserted: find and erase take the oldest, find_all goes from old to
/// new. (The paper says so too, but lets insertions fill the holes of deletions, with which it is
/// not true; here holes stay until flush.)
///
/// insert adds; erase_all, count and find_all treat all elements of a key.
template <class Key, class Value, class MemorySpace, class Hash = slab_hash<Key>>
using slab_hash_multimap = slab_hash_table<Key, Value, slab_keys::repeated, MemorySpace, Hash>;

LANEWISE_END_NAMESPACE
