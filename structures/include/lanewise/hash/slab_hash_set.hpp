// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/hash/slab_bulk.hpp>

LANEWISE_BEGIN_NAMESPACE

/// The keys of a slab_hash_map without values: a slab holds 30 keys of 4 bytes, or 15 of 8.
template <class Key, class MemorySpace, class Hash = slab_hash<Key>>
using slab_hash_set = slab_hash_table<Key, void, key_multiplicity::unique, MemorySpace, Hash>;

LANEWISE_END_NAMESPACE
