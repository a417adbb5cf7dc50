// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/call/workspace_layout.hpp>
#include <lanewise/common/detail/table_call.hpp>
#include <lanewise/ordered/detail/ordered_leaves.hpp>
#include <lanewise/segments/reduce_by_key.hpp>
#include <lanewise/sequence/scan.hpp>
#include <lanewise/sort/radix_sort.hpp>

#include <algorithm>

// How a bulk call changes an ordered table: its items are sorted by key, in the order of the call
// where keys are equal; those of one key become one edit; and the leaves are written anew.

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

struct keep_first {
  template <class T>
  LANEWISE_FUNCTION T operator()(const T& x, const T&) const {
    return x;
  }
};
/// Keys are equal when their bits are.
struct equal_bits {
  template <class Key>
  LANEWISE_FUNCTION bool operator()(const Key& a, const Key& b) const {
    return lanewise::to_bits(a) == lanewise::to_bits(b);
  }
};
struct less_bits {
  template <class Key>
  LANEWISE_FUNCTION bool operator()(const Key& a, const Key& b) const {
    return lanewise::to_bits(a) < lanewise::to_bits(b);
  }
};

/// The items of a call, sorted, and the different keys among them.
template <class Key>
struct sorted_batch {
  const Key* items;             // n keys
  const std::uint32_t* order;   // where they stood; null where values are sorted as keys are
  const Key* keys;              // m different ones
  const std::uint32_t* begins;  // the first item of each
  std::int64_t n;
  std::int64_t m;

  LANEWISE_FUNCTION std::uint32_t end(std::int64_t j) const {
    return j + 1 < m ? begins[j + 1] : static_cast<std::uint32_t>(n);
  }
};

/// What becomes of the `stored` elements with one key; the first one, if any, has the value `old`.
template <class Word>
struct ordered_edit {
  std::uint32_t removed;
  std::uint32_t put;
  Word value;
};

// Kinds of changes: the edit for key j of the batch, and the status of an item that is number
// `rank` among those of its key.

template <class Table>
struct change_of {
  using layout = typename Table::layout;
  using word = typename layout::value_word;
  using value_type = typename Table::view_type::value_type;
  using edit = ordered_edit<word>;
  static constexpr bool reads_values = false;  // edits depend on the old value
  static constexpr bool after = false;         // new elements come after those of the same key

  sorted_batch<typename Table::key_type> batch;
  const value_type* given;

  LANEWISE_FUNCTION word given_word(std::uint32_t item) const {
    if constexpr (layout::has_values) {
      return detail::to_word<word>(given[batch.order == nullptr ? item : batch.order[item]]);
    } else {
      return 0;
    }
  }
};

template <class Table>
struct insert_change : change_of<Table> {
  using typename change_of<Table>::edit;
  using typename change_of<Table>::word;
  LANEWISE_FUNCTION edit operator()(std::int64_t j, std::uint32_t stored, word) const {
    return {0, stored == 0, this->given_word(this->batch.begins[j])};
  }
  static LANEWISE_FUNCTION table_status status(std::uint32_t rank, std::uint32_t stored) {
    return rank > 0 || stored > 0 ? table_status::present : table_status::inserted;
  }
};
template <class Table>
struct assign_change : change_of<Table> {
  using typename change_of<Table>::edit;
  using typename change_of<Table>::word;
  LANEWISE_FUNCTION edit operator()(std::int64_t j, std::uint32_t stored, word) const {
    return {stored, 1, this->given_word(this->batch.end(j) - 1)};
  }
  static LANEWISE_FUNCTION table_status status(std::uint32_t rank, std::uint32_t stored) {
    return rank > 0 || stored > 0 ? table_status::updated : table_status::inserted;
  }
};
/// The values of one key have been combined.
template <class Table, class Combine>
struct combine_change : assign_change<Table> {
  using typename change_of<Table>::edit;
  using typename change_of<Table>::word;
  using value_type = typename change_of<Table>::value_type;
  static constexpr bool reads_values = true;
  const value_type* combined;
  Combine combine;

  LANEWISE_FUNCTION edit operator()(std::int64_t j, std::uint32_t stored, word old) const {
    const value_type all =
        stored != 0
            ? static_cast<value_type>(combine(detail::from_word<value_type>(old), combined[j]))
            : combined[j];
    return {stored, 1, detail::to_word<word>(all)};
  }
};
template <class Table>
struct add_change : change_of<Table> {
  using typename change_of<Table>::edit;
  using typename change_of<Table>::word;
  static constexpr bool after = true;
  LANEWISE_FUNCTION edit operator()(std::int64_t j, std::uint32_t, word) const {
    return {0, 1, this->given_word(static_cast<std::uint32_t>(j))};
  }
  static LANEWISE_FUNCTION table_status status(std::uint32_t, std::uint32_t) {
    return table_status::inserted;
  }
};
/// Deletes as many of the elements with a key as there are items with it, or all.
template <class Table, bool all>
struct erase_change : change_of<Table> {
  using typename change_of<Table>::edit;
  using typename change_of<Table>::word;
  LANEWISE_FUNCTION edit operator()(std::int64_t j, std::uint32_t stored, word) const {
    const std::uint32_t items = this->batch.end(j) - this->batch.begins[j];
    return {all || stored < items ? stored : items, 0, 0};
  }
  static LANEWISE_FUNCTION table_status status(std::uint32_t rank, std::uint32_t stored) {
    return rank < stored && (!all || rank == 0) ? table_status::erased : table_status::absent;
  }
};

/// The elements with each active lane's key: the position of the first, and how many there are.
template <class Table, class Warp>
LANEWISE_FUNCTION auto elements_with(const Warp& warp, const typename Table::view_type& table,
                                     mask_t<Warp, std::uint32_t> active,
                                     const lanes_t<Warp, typename Table::key_type>& key,
                                     lanes_t<Warp, std::uint32_t>& stored) {
  using numbers = lanes_t<Warp, std::uint32_t>;
  const auto words = detail::bits_of<typename Table::key_type>(warp, key);
  const numbers position = table.template bound<false, false>(warp, active, words);
  if constexpr (Table::kind == key_multiplicity::unique) {
    stored = lanewise::select(table.is_at(warp, active, words, position), numbers(1u), numbers(0u));
  } else {
    stored = table.template bound<true, true>(warp, active, words) - position;
  }
  return position;
}

/// Edits for keys: what each removes and puts, and where, in positions of the old table.
template <class Table, class Change>
struct edit_body {
  using view_type = typename Table::view_type;
  using key_type = typename Table::key_type;
  using word = typename view_type::value_word;

  view_type table;
  Change change;
  const key_type* keys;
  std::uint32_t* position;
  std::uint32_t* removed;
  std::uint32_t* put;
  word* values;

  template <class Warp, class Mask>
  LANEWISE_FUNCTION void operator()(const Warp& warp, const Mask& active,
                                    std::int64_t first) const {
    using numbers = lanes_t<Warp, std::uint32_t>;
    numbers stored(0u), taken(0u), given(0u);
    lanes_t<Warp, word> value(word{0});
    const numbers at = kernels::elements_with<Table>(
        warp, table, active, warp.load(active, keys + first, key_type{}), stored);
    if constexpr (Change::reads_values) value = table.value_words(warp, active & (stored > 0u), at);
    auto item = warp.lane();
    warp.each(
        active,
        [&](std::uint32_t& i, std::uint32_t& t, std::uint32_t& r, std::uint32_t& p, word& v) {
          const auto edit = change(first + i, t, v);
          r = edit.removed;
          p = edit.put;
          v = edit.value;
        },
        item, stored, taken, given, value);
    warp.store(active, position + first, Change::after ? at + stored : at);
    warp.store(active, removed + first, taken);
    warp.store(active, put + first, given);
    if constexpr (view_type::layout::has_values) warp.store(active, values + first, value);
  }
};

/// The status of every item of a batch, on the table as it was.
template <class Table, class Change>
struct item_status_body {
  using key_type = typename Table::key_type;

  typename Table::view_type table;
  const key_type* items;
  const std::uint32_t* order;
  std::int64_t n;
  table_status* status;

  template <class Warp, class Mask>
  LANEWISE_FUNCTION void operator()(const Warp& warp, const Mask& active,
                                    std::int64_t first) const {
    using numbers = lanes_t<Warp, std::uint32_t>;
    const auto key = warp.load(active, items + first, key_type{});
    numbers stored(0u);
    kernels::elements_with<Table>(warp, table, active, key, stored);
    const numbers rank =
        warp.lane() + numbers(static_cast<std::uint32_t>(first)) -
        lanewise::lower_bound(warp, active, items, static_cast<std::uint32_t>(n), key, less_bits{});
    warp.scatter(active, status, warp.load(active, order + first, std::uint32_t{0}),
                 warp.map([](std::uint32_t r, std::uint32_t t) { return Change::status(r, t); },
                          rank, stored));
  }
};

/// How many elements an edit adds; after the last edit none, so that its position is their sum.
struct edit_balance {
  const std::uint32_t* removed;
  const std::uint32_t* put;
  std::int64_t n;
  LANEWISE_FUNCTION std::uint32_t operator()(std::int64_t j) const {
    return j < n ? put[j] - removed[j] : 0;
  }
};
/// Moves edits to their positions in the new table, given how many elements are added before.
struct move_edit {
  const std::uint32_t* removed;
  const std::uint32_t* put;
  std::int64_t n;
  std::uint32_t* position;
  std::uint32_t* after;
  std::uint32_t* forward;
  std::uint32_t* added;
  LANEWISE_FUNCTION void operator()(std::int64_t j, std::uint32_t before) const {
    if (j == n) {
      *added = before;
      return;
    }
    const std::uint32_t old = position[j];
    position[j] = old + before;
    after[j] = old + before + put[j];
    forward[j] = old + removed[j] - after[j];
  }
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
