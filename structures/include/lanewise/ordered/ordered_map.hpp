// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/ordered/ordered_bulk.hpp>

LANEWISE_BEGIN_NAMESPACE

/// A map in the order of its keys, which are unique: a B+ tree of 128-byte leaves, all full, under
/// an implicit index over their first keys (Hubaut, 5.7, has inner nodes of 32 keys and pointers).
/// Keys are integers, enumerations or floating-point numbers of 4 or 8 bytes, ordered as radix_sort
/// orders them; values are trivially copyable and have 4 or 8 bytes. Every key and value is
/// allowed.
///
/// Bulk calls change it (ordered_bulk.hpp: build, insert, assign, upsert, erase, apply,
/// erase_range, pop_first, clear) and read it (common/table_queries.hpp: find, contains,
/// neighbours; ordered_query.hpp: the bounds, count, range, for_each, to_sorted, first, last,
/// statistics). Kernels read it by warps (view()) and by single threads (table_scalar_face_t).
template <class Key, class Value, class MemorySpace>
using ordered_map = ordered_table<Key, Value, key_multiplicity::unique, MemorySpace>;

LANEWISE_END_NAMESPACE
