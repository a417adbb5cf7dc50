// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/btree/btree_bulk.hpp>
#include <lanewise/ordered/ordered_map.hpp>
#include <lanewise/ordered/ordered_set.hpp>

LANEWISE_BEGIN_NAMESPACE

/// A map in the order of its keys, which are unique, that kernels read and change at the same time:
/// a B+ tree whose nodes are changed in place. ordered_map is written anew by each bulk call, and
/// is a snapshot in between. This one leaves a fifth or so of the slots in its leaves free. Types
/// of keys and values are those of ordered_map.
///
/// node_bytes is 128, or 256 for the thesis's nodes: a line of keys, and one of values or children
/// (Hubaut, 5.7).
template <class Key, class Value, class MemorySpace, int node_bytes = 128>
using btree_map = btree_table<Key, Value, MemorySpace, node_bytes>;
/// A set: keys without values.
template <class Key, class MemorySpace, int node_bytes = 128>
using btree_set = btree_table<Key, void, MemorySpace, node_bytes>;

LANEWISE_END_NAMESPACE
