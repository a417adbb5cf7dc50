// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/hash/detail/slab_build.hpp>
#include <lanewise/hash/slab_bulk.hpp>
#include <lanewise/sort/multisplit.hpp>

#include <algorithm>

// Bulk calls that sort their items by where they live in the table. A header of its own, as sorting
// is most of the code: inserting pairs of 4 bytes and finding them takes 94 KB of instructions for
// an H200, with slab_sorted 0.9 MB.

LANEWISE_BEGIN_NAMESPACE

/// In which order a bulk call works on its items.
enum class slab_order {
  automatic,  ///< by_region where that is faster
  as_given,   ///< in the order of the arrays
  by_region   ///< sorted by regions of the table, so that each is worked on while it is in the
              ///< cache; insert and assign that may grow build regions in scratch (docs/slab.md)
};

/// Options of a bulk call that sorts its items where that is faster: slab_options, and in which
/// order it works on them. Any bulk call takes them:
///
///     lanewise::insert(exec, map, keys, values, lanewise::slab_sorted{.tally = tally});
///
/// Sorting takes memory for the items once; building, twice.
struct slab_sorted {
  /// As in slab_options.
  workspace_ref work = {};
  option_view<table_status> status = {};
  option_view<status_counts> tally = {};
  bool grow = true;

  slab_order order = slab_order::automatic;
};

namespace detail {
template <>
struct slab_order_of<slab_sorted> {
  using type = slab_sorted;
};
}  // namespace detail

LANEWISE_END_NAMESPACE

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

/// Operations that are done piece by piece of the table if there are many at once.
template <class Operation>
inline constexpr bool builds = false;
template <table_operation operation>
inline constexpr bool builds<detail::same_operation<operation>> =
    operation == table_operation::insert || operation == table_operation::assign ||
    operation == table_operation::add;

/// Regions of a table, runs of 2^k neighbouring lists: at most the number that multisplit sorts
/// into at once, and more than half of it.
inline constexpr std::int64_t table_regions = most_buckets;

/// Whether a call's items can be sorted by region.
template <class Table>
bool has_regions(const Table& table, std::int64_t n) {
  return n < std::int64_t{1} << 32 && table.buckets() + 1 >= 2 * table_regions;
}

/// What goes with the keys where a call sorts them by region: an array of values that is all there
/// is, or else the items' indices in all arrays. Sorted values save reading one by one.
enum class sorted_along { nothing, values, indices };

template <class Key, class Value>
sorted_along what_goes_along(const call_arrays<Key, Value>& arrays, const table_status* status) {
  const bool only_read = arrays.operations == nullptr && arrays.found == nullptr &&
                         arrays.numbers == nullptr && status == nullptr;
  if (!only_read) return sorted_along::indices;
  return arrays.given != nullptr ? sorted_along::values : sorted_along::nothing;
}

/// Writes the keys sorted by a digit of the number of their list, and what goes along: values, or
/// the items' indices where they have none yet.
template <class Exec, class Table, class Digit>
void sort_by_digit(const Exec& exec, const table_arrays<Table>& arrays, sorted_along what,
                   at_most<table_regions> digits, const Digit& digit, const std::uint32_t* indices,
                   typename Table::key_type* keys, void* along) {
  using key = typename Table::key_type;
  using value = kernels::table_value<Table>;
  const std::int64_t n = arrays.n;
  const array_source<key, identity> from{arrays.keys, n, {}};
  const array_sink<key> to{keys, n};
  const array_sink<std::uint32_t> indices_to{static_cast<std::uint32_t*>(along), n};
  if (what == sorted_along::nothing) {
    lanewise::multisplit(exec, from, to, digits, digit);
  } else if (what == sorted_along::values) {
    lanewise::multisplit(exec, from, array_source<value, identity>{arrays.given, n, {}}, to,
                         array_sink<value>{static_cast<value*>(along), n}, digits, digit);
  } else if (indices == nullptr) {
    lanewise::multisplit(exec, from, generated(n, number_of_item{}), to, indices_to, digits, digit);
  } else {
    lanewise::multisplit(exec, from, array_source<std::uint32_t, identity>{indices, n, {}}, to,
                         indices_to, digits, digit);
  }
}

/// Sorted by region.
template <class Exec, class Table>
void sort_by_region(const Exec& exec, const Table& table, const table_arrays<Table>& arrays,
                    sorted_along what, typename Table::key_type* keys, void* along) {
  const std::int64_t lists = table.buckets() + 1;
  int shift = 0;
  while (divide_up(lists, std::int64_t{1} << shift) > table_regions) ++shift;
  const list_digit<typename Table::key_type, typename Table::hasher> region(table.view().where(),
                                                                            shift);
  kernels::sort_by_digit<Exec, Table>(exec, arrays, what,
                                      {divide_up(lists, std::int64_t{1} << shift)}, region, nullptr,
                                      keys, along);
}

/// What sorting has in the workspace: items, once or twice.
template <class Table>
struct slab_memory {
  using key = typename Table::key_type;
  using value = kernels::table_value<Table>;

  std::size_t n;
  std::size_t each_along;
  std::size_t bytes = 0;
  std::size_t at[4] = {};  // keys and what goes along, once and twice

  slab_memory(std::int64_t items, sorted_along what, int times)
      : n(static_cast<std::size_t>(items)),
        each_along(what == sorted_along::nothing  ? 0
                   : what == sorted_along::values ? sizeof(value)
                                                  : sizeof(std::uint32_t)) {
    for (int t = 0; t < times; ++t) {
      at[2 * t] = take(sizeof(key));
      at[2 * t + 1] = take(each_along);
    }
  }
  /// Items, the first time or the second.
  slab_items<key, value> items(char* memory, sorted_along what, int time) const {
    slab_items<key, value> i;
    i.keys = reinterpret_cast<key*>(memory + at[2 * time]);
    char* along = memory + at[2 * time + 1];
    if (what == sorted_along::values) i.values = reinterpret_cast<value*>(along);
    if (what == sorted_along::indices) i.indices = reinterpret_cast<std::uint32_t*>(along);
    return i;
  }

 private:
  std::size_t take(std::size_t each) {
    const std::size_t begin = bytes;
    bytes += (n * each + 63) / 64 * 64;
    return begin;
  }
};

/// Puts all items into the table that find room in the first slabs. The others become `left`, whose
/// number is written to lefts.
template <table_operation operation, class Exec, class Table>
void build_pieces(const Exec& exec, const char* label, const Table& table,
                  const table_arrays<Table>& arrays, sorted_along what,
                  const slab_items<typename Table::key_type, kernels::table_value<Table>>& a,
                  const slab_items<typename Table::key_type, kernels::table_value<Table>>& b,
                  std::int64_t* lefts, table_status* status, status_counts* tally) {
  using key = typename Table::key_type;
  using value = kernels::table_value<Table>;
  using kernel = slab_build_kernel<typename Table::view_type, key, operation>;
  using backend = backend_of<Exec>;
  const auto view = table.view();
  using digit = list_digit<key, typename Table::hasher>;
  const auto cut = slab_classes::of(table.buckets() + 1, kernel::piece_shift);
  const auto along = [](const slab_items<key, value>& i) {
    return i.values != nullptr ? static_cast<void*>(i.values) : static_cast<void*>(i.indices);
  };
  auto from = arrays;
  const std::uint32_t* indices = nullptr;
  if (cut.low_bits > 0) {
    const auto mask = static_cast<std::uint32_t>(cut.low_digits() - 1);
    kernels::sort_by_digit<Exec, Table>(exec, from, what, {cut.low_digits()},
                                        digit(view.where(), cut.class_shift, mask), indices, b.keys,
                                        along(b));
    from.keys = b.keys;
    if (b.values != nullptr) from.given = b.values;
    indices = b.indices;
  }
  kernels::sort_by_digit<Exec, Table>(exec, from, what, {cut.high_digits()},
                                      digit(view.where(), cut.class_shift + cut.low_bits), indices,
                                      a.keys, along(a));
  backend::zero(exec, lefts, sizeof(std::int64_t));
  // Four times what a class has if keys spread evenly; an even number.
  const std::int64_t most =
      2 * std::max(2 * lanewise::divide_up(arrays.n, cut.classes), std::int64_t{512});
  lanewise::launch(exec, label, backend::template league_for_tiles<kernel>(exec, cut.classes),
                   kernel{view,
                          cut,
                          {a.keys, a.values, a.indices},
                          what == sorted_along::indices ? arrays.given : nullptr,
                          b,
                          lefts,
                          status,
                          tally,
                          arrays.n,
                          most});
}

/// Whether n new elements for a table are worth sorting by pieces of it that fit into scratch. They
/// are where teams share scratch, and the table is far larger than the cache. H200, lists of 4.5 to
/// 13 elements: 2^24 pairs of 4 bytes 22.5 G/s instead of 14.9, in 1.3 million lists 20.5 instead
/// of 14.3; 2^28 25.4 instead of 12.7; 2^24 of 8 bytes 14.5 instead of 11.7. They are not at 2^22,
/// in 0.5 and 0.9 million lists: 15.1 instead of 18.0, 10.8 instead of 12.3. On one core of a host,
/// of a machine with more work than cores, 2^22 and 2^24 pairs took 0.85 to 1.0 times as long. That
/// is not worth the memory.
template <class Exec, class Kernel, class Table>
bool building_pays(const Exec& exec, const Table& table, std::int64_t n) {
  if constexpr (team_t<Exec, typename Kernel::policy>::warps == 1) {
    return false;
  } else {
    const std::int64_t lists = table.buckets() + 1;
    const std::int64_t bytes = lists * static_cast<std::int64_t>(sizeof(slab_unit));
    return bytes >= backend_of<Exec>::cache_bytes(exec) / 2 * 5 && n >= 4 * lists;
  }
}

/// What a call with slab_sorted does with its items. It builds pieces of the table if it is alone
/// with it and the lists' first slabs have room. There must also be enough items that whole slabs
/// are worth fetching and writing. It sorts by region where it is told to, and not by itself: finds
/// that go straight to random lines run at what an H200's memory gives for such, 29.4 G/s, and at
/// 13.5 sorted; on one core of a Zen 5 prefetching hides the same latency (2^24 finds that hit 65
/// -> 41, insertions 44 -> 25 M/s, finds that miss 54 -> 67).
template <class Operation, class Exec, class Table>
struct slab_plan<slab_sorted, Operation, Exec, Table> {
  bool builds_first = false, sorts = false;
  sorted_along what;
  slab_memory<Table> layout;
  std::size_t bytes;

  slab_plan(const Exec& exec, const Table& table, const table_arrays<Table>& arrays, bool grows,
            const slab_sorted& options, const table_status* status)
      : builds_first(chooses_to_build(exec, table, arrays.n, grows, options.order)),
        sorts(!builds_first && options.order == slab_order::by_region &&
              kernels::has_regions(table, arrays.n)),
        what(kernels::what_goes_along(arrays, status)),
        layout(arrays.n, what,
               builds_first ? 2
               : sorts      ? 1
                            : 0),
        bytes(layout.bytes) {}

  /// `counter` receives how many items building has left.
  slab_ordered<Table> order(const Exec& exec, const char* label, const Table& table,
                            const table_arrays<Table>& arrays, char* memory, std::int64_t* counter,
                            table_status* status, status_counts* tally) const {
    slab_ordered<Table> result{arrays.keys, arrays.given, nullptr, {arrays.n}, sorts};
    if (!sorts && !builds_first) return result;
    auto sorted = layout.items(memory, what, 0);
    if constexpr (builds<Operation>) {
      if (builds_first) {
        const auto left = layout.items(memory, what, 1);
        kernels::build_pieces<Operation::operation>(exec, label, table, arrays, what, sorted, left,
                                                    counter, status, tally);
        result.count.resident = detail::integers(counter);
        sorted = left;
      }
    }
    if (sorts)
      kernels::sort_by_region(exec, table, arrays, what, sorted.keys,
                              what == sorted_along::values ? static_cast<void*>(sorted.values)
                                                           : static_cast<void*>(sorted.indices));
    result.keys = sorted.keys;
    if (what == sorted_along::values) result.given = sorted.values;
    result.indices = sorted.indices;
    return result;
  }

 private:
  static bool chooses_to_build(const Exec& exec, const Table& table, std::int64_t n, bool grows,
                               slab_order order) {
    if constexpr (builds<Operation>) {
      using kernel = slab_build_kernel<typename Table::view_type, typename Table::key_type,
                                       Operation::operation>;
      if (!grows || n >= std::int64_t{1} << 32 || order == slab_order::as_given) return false;
      return order == slab_order::by_region || kernels::building_pays<Exec, kernel>(exec, table, n);
    } else {
      return false;
    }
  }
};

}  // namespace kernels

LANEWISE_END_TARGET_NAMESPACE
