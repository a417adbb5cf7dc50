// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/ordered/ordered_bulk.hpp>

LANEWISE_BEGIN_NAMESPACE

/// The keys of an ordered_map without values: a leaf holds 32 keys of 4 bytes, or 16 of 8.
template <class Key, class MemorySpace>
using ordered_set = ordered_table<Key, void, key_multiplicity::unique, MemorySpace>;

LANEWISE_END_NAMESPACE
