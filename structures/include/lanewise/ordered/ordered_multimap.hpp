// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/ordered/ordered_bulk.hpp>

LANEWISE_BEGIN_NAMESPACE

/// An ordered_map in which a key may stand any number of times. Elements with one key keep the
/// order in which they were inserted: find and erase take the oldest, and predecessor the newest.
///
/// insert adds; erase_all and count treat all elements of a key, and range finds them. There is no
/// assign, upsert or apply: of several values of a key none is the one to replace or to combine
/// with. To change all of them, erase them with erase_all and insert; to change one, keep a map.
template <class Key, class Value, class MemorySpace>
using ordered_multimap = ordered_table<Key, Value, key_multiplicity::repeated, MemorySpace>;

LANEWISE_END_NAMESPACE
