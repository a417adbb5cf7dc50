// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/lsm/lsm_changes.hpp>
#include <lanewise/lsm/lsm_queries.hpp>
#include <lanewise/lsm/lsm_ranges.hpp>

LANEWISE_BEGIN_NAMESPACE

/// An ordered map that is changed by batches and asked in bulk, by warps and by single threads: a
/// log-structured merge tree (Ashkiani, chapter 4; the errata there are fixed). A batch of any
/// length becomes a sorted run, and runs of like lengths are merged. So an element moves log2 (n /
/// batch) times at most, and a query looks at the same number of levels at most.
///
/// Keys are integers of 4 or 8 bytes, all of them; values are trivially copyable, of any size.
/// There are no keys or values that users must avoid: tombstones are bits beside the keys.
///
/// Calls: insert, erase, apply, build, clear, cleanup (lsm_changes.hpp); find, contains,
/// predecessor, successor (common/table_queries.hpp); size, statistics (lsm_queries.hpp); count,
/// range (lsm_ranges.hpp). Kernels take view(). snapshot() costs nothing.
template <class Key, class Value, class MemorySpace>
using lsm_map = lsm_dictionary<Key, Value, MemorySpace, lsm_growth::levels>;

/// As lsm_map, with one level, with which every batch is merged: queries are faster, and a batch
/// costs O(elements). What the papers compare with.
template <class Key, class Value, class MemorySpace>
using sorted_array = lsm_dictionary<Key, Value, MemorySpace, lsm_growth::one_level>;

/// As sorted_array, with every batch and all that is there sorted again, which needs no merge: at
/// most 2^32 - 1 elements, stale ones included.
template <class Key, class Value, class MemorySpace>
using resorted_array = lsm_dictionary<Key, Value, MemorySpace, lsm_growth::sorted_again>;

LANEWISE_END_NAMESPACE
