// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>

#include <cstdint>

// The words that all tables share: operations, what came of them, and how often.

LANEWISE_BEGIN_NAMESPACE

/// What an operation does.
enum class table_operation : std::uint8_t {
  find,       ///< look the key up
  insert,     ///< put the pair there unless the key is there
  assign,     ///< put the pair there, or replace the key's value (the paper's REPLACE)
  combine,    ///< put the pair there, or replace the value by combine(value there, value given)
  add,        ///< put the pair there, beside others of the same key (the paper's INSERT)
  erase,      ///< delete the key; of several, the oldest
  erase_all,  ///< delete all elements of the key
  count       ///< count them
};

/// What came of it.
enum class table_status : std::uint8_t {
  none,      ///< nothing was asked
  found,     ///< it is there (find, and count of more than none)
  absent,    ///< it is not there (find, erase, erase_all, count)
  inserted,  ///< it was put there
  present,   ///< insert found the key there, and left it
  updated,   ///< assign or combine replaced the value
  erased,    ///< it was deleted
  no_room    ///< the pool is exhausted; nothing changed
};

/// How often each table_status came out.
struct status_counts {
  std::uint64_t count[8] = {};
  LANEWISE_FUNCTION std::uint64_t operator[](table_status s) const {
    return count[static_cast<int>(s)];
  }
};

/// Whether a key stands in a table once, or as often as it was put there.
enum class key_multiplicity { unique, repeated };

/// What tables are made of. Tables say theirs as Table::family.
enum class table_family { ordered, btree, lsm, slab };

/// A table of a family, and how often keys may stand in it.
template <class T, table_family family>
concept table_of_family = T::family == family;
template <class T>
concept table_of_unique_keys = T::kind == key_multiplicity::unique;
template <class T>
concept table_of_repeated_keys = T::kind == key_multiplicity::repeated;

namespace detail {

/// Whether an operation puts elements where there are none.
LANEWISE_FUNCTION constexpr bool needs_room(table_operation operation) {
  return operation == table_operation::insert || operation == table_operation::assign ||
         operation == table_operation::combine || operation == table_operation::add;
}

}  // namespace detail
LANEWISE_END_NAMESPACE
