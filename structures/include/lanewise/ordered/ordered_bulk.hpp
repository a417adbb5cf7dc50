// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/ordered/detail/ordered_leaf_builder.hpp>
#include <lanewise/ordered/ordered_query.hpp>
#include <lanewise/sequence/is_sorted.hpp>

// Bulk calls that change ordered tables. The effects are those of the call's items one after the
// other, in the order of the arrays. Each call sorts its items (radix_sort) and then reads and
// writes the whole table once, 32 bytes per element of 16: it takes O(n + elements) work, and
// memory for the new leaves beside the old ones while it runs. All of them **block**. Where one
// throws, the table is as before.

LANEWISE_BEGIN_NAMESPACE

/// What becomes of several items with one key when a map or set is built.
enum class ordered_duplicates {
  first,   ///< the first stays
  last,    ///< the last stays
  refused  ///< std::invalid_argument
};

/// Options of build and build_sorted.
struct ordered_build_options {
  /// As in table_options.
  workspace_ref work = {};
  /// For build of maps and sets.
  ordered_duplicates duplicates = ordered_duplicates::first;
  /// For build_sorted: whether the call looks whether the keys are sorted. If they are not, and it
  /// does not look, what searches find is unspecified; no memory but the table's is touched.
  bool checked = true;
};

LANEWISE_END_NAMESPACE

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// The memory of a call that changes a table by n items at most.
template <class Exec, class Table>
class update_workspace {
 public:
  using key_type = typename Table::key_type;
  using word = typename Table::layout::value_word;
  using value_type = typename Table::view_type::value_type;
  template <class T>
  using view = items_view<T, Exec>;

  update_workspace(const Exec& exec, const table_options& options, std::int64_t n, const char* name)
      : n_(std::max(n, std::int64_t{1})),
        items_(parts_.add<key_type>(n_)),
        keys_(parts_.add<key_type>(n_)),
        values_(parts_.add<word>(n_)),
        combined_(parts_.add<value_type>(n_)),
        sorted_values_(parts_.add<value_type>(n_)),
        status_(parts_.add<table_status>(options.status.is_given() ? 0 : n_)),
        numbers_(parts_.add<std::uint32_t>(7 * n_ + 1)),
        work_(call_workspace::make<backend_of<Exec>>(exec, options.work, parts_.size(), name)) {}

  view<key_type> items() { return items_.template view<Exec>(work_.get()); }
  view<key_type> keys() { return keys_.template view<Exec>(work_.get()); }
  view<word> values() { return values_.template view<Exec>(work_.get()); }
  view<value_type> combined() { return combined_.template view<Exec>(work_.get()); }
  view<value_type> sorted_values() { return sorted_values_.template view<Exec>(work_.get()); }
  view<table_status> status() { return status_.template view<Exec>(work_.get()); }
  view<std::uint32_t> order() { return number(0); }
  view<std::uint32_t> begins() { return number(1); }
  view<std::uint32_t> position() { return number(2); }
  view<std::uint32_t> removed() { return number(3); }
  view<std::uint32_t> put() { return number(4); }
  view<std::uint32_t> after() { return number(5); }
  view<std::uint32_t> forward() { return number(6); }
  std::uint32_t* added() { return number(7).data(); }

 private:
  view<std::uint32_t> number(std::int64_t i) {
    return view<std::uint32_t>(numbers_.data(work_.get()) + i * n_, static_cast<std::size_t>(n_));
  }

  workspace_layout parts_;
  std::int64_t n_;
  workspace_array<key_type> items_, keys_;
  workspace_array<word> values_;
  workspace_array<value_type> combined_, sorted_values_;
  workspace_array<table_status> status_;
  workspace_array<std::uint32_t> numbers_;
  call_workspace work_;
};

/// A call that changes a table: its arguments, and the steps that calls are made of.
template <class Exec, class Table>
class ordered_change {
 public:
  using key_type = typename Table::key_type;
  using value_type = typename Table::view_type::value_type;
  using batch_type = sorted_batch<key_type>;

  /// values go with the keys and nowhere else, or are null. They are sorted with the keys where no
  /// statuses are wanted, which spares a random read for each (2^24 into 2^24 elements of 4 + 4
  /// bytes on an H100: 0.8 of 2.3 ms).
  ordered_change(const Exec& exec, const char* name, Table& table, const key_type* keys,
                 const value_type* values, std::int64_t n, bool may_grow,
                 const table_options& options)
      : exec_(exec),
        name_(name),
        table_(table),
        n_(n),
        options_(options),
        memory_(exec, options, checked(name, table, n, may_grow, options), name),
        values_(values) {
    if (n == 0) return;
    const array_source<key_type, identity> source{keys, n, {}};
    if constexpr (Table::layout::has_values) {
      if (values != nullptr && !options.status.is_given() && !options.tally.is_given()) {
        lanewise::radix_sort(exec, source, array_source<value_type, identity>{values, n, {}},
                             memory_.items(), memory_.sorted_values());
        values_ = memory_.sorted_values().data();
        return;
      }
    }
    order_ = memory_.order().data();
    lanewise::radix_sort(exec, source, generated(n, number_of_item{}), memory_.items(),
                         memory_.order());
  }
  /// Values of the call: of item i in the order of the keys, values()[i] or, where there is an
  /// order, values()[order()[i]].
  const value_type* values() const { return values_; }
  const std::uint32_t* order() const { return order_; }

  /// The sorted items, each for itself.
  batch_type all_items() {
    return {memory_.items().data(), order_, memory_.items().data(), nullptr, n_, n_};
  }
  /// The sorted items by key.
  batch_type by_key() {
    return batch(lanewise::reduce_by_key(exec_, memory_.items(), generated(n_, number_of_item{}),
                                         memory_.keys(), memory_.begins(), keep_first{},
                                         equal_bits{}));
  }
  /// As `by_key`, with the values of each key combined in their order.
  template <class Values, class Combine>
  batch_type combined_by_key(const Values& values, const Combine& combine) {
    return batch(lanewise::reduce_by_key(exec_, memory_.items(), lanewise::generated(n_, values),
                                         memory_.keys(), memory_.combined(), combine,
                                         equal_bits{}));
  }
  update_workspace<Exec, Table>& memory() { return memory_; }
  table_status* status() {
    return options_.status.is_given() ? options_.status.data() : memory_.status().data();
  }

  /// Makes the table new.
  template <class Change>
  void run(const Change& change) {
    edit(change);
    Table changed = changed_table();
    if (options_.status.is_given() || options_.tally.is_given()) {
      kernels::launch_windows(
          exec_, "Lanewise::ordered::status", n_,
          item_status_body<Table, Change>{table_.view(), memory_.items().data(),
                                          memory_.order().data(), n_, status()});
      tally();
    }
    publish(std::move(changed));
  }
  template <class Change>
  void edit(const Change& change) {
    edits_ = change.batch.m;
    keys_ = change.batch.keys;
    kernels::launch_windows(
        exec_, "Lanewise::ordered::edit", edits_,
        edit_body<Table, Change>{table_.view(), change, keys_, memory_.position().data(),
                                 memory_.removed().data(), memory_.put().data(),
                                 memory_.values().data()});
  }
  /// Edits that were written to the memory.
  void set_edits(std::int64_t n) {
    edits_ = n;
    keys_ = memory_.keys().data();
  }
  Table changed_table() {
    const std::uint32_t *removed = memory_.removed().data(), *put = memory_.put().data();
    std::uint32_t *position = memory_.position().data(), *after = memory_.after().data(),
                  *forward = memory_.forward().data();
    lanewise::exclusive_scan(exec_, generated(edits_ + 1, edit_balance{removed, put, edits_}),
                             consumed(edits_ + 1, move_edit{removed, put, edits_, position, after,
                                                            forward, memory_.added()}),
                             plus{}, 0u);
    std::uint32_t added = 0;
    detail::copy_to_host<std::uint32_t>(exec_, &added, memory_.added());
    const auto elements = static_cast<std::uint32_t>(table_.size()) + added;
    using source = edited_elements<key_type, typename Table::mapped_type>;
    return kernels::make_edited_table<Table>(
        exec_, name_, elements,
        source{table_.view(), {position, after, forward, keys_, memory_.values().data(), edits_}});
  }
  void tally() { kernels::tally_statuses(exec_, status(), n_, options_.tally.data()); }
  void publish(Table&& changed) {
    exec_.fence("Lanewise::ordered: the new leaves are written");
    table_ = std::move(changed);
  }

 private:
  batch_type batch(std::int64_t m) {
    return {memory_.items().data(), order_, memory_.keys().data(), memory_.begins().data(), n_, m};
  }
  static std::int64_t checked(const char* name, const Table& table, std::int64_t n, bool may_grow,
                              const table_options& options) {
    kernels::expects_options<Exec>(name, options, n);
    detail::expects(n + (may_grow ? table.size() : 0) <= Table::most_elements, name,
                    ": the table has ", table.size(), " elements and the call ", n,
                    " items, together there may be ", Table::most_elements);
    return n;
  }

  const Exec& exec_;
  const char* name_;
  Table& table_;
  std::int64_t n_;
  table_options options_;
  update_workspace<Exec, Table> memory_;
  const value_type* values_;
  const std::uint32_t* order_ = nullptr;
  std::int64_t edits_ = 0;
  const key_type* keys_ = nullptr;
};

/// Values of a batch in its order.
template <class Value>
struct values_in_order {
  const Value* given;
  const std::uint32_t* order;
  LANEWISE_FUNCTION Value operator()(std::int64_t i) const {
    return given[order == nullptr ? i : std::int64_t{order[i]}];
  }
};

template <template <class> class Change, class Exec, class Table>
void change_by_key(const Exec& exec, const char* name, Table& table,
                   const table_arrays<Table>& arrays, bool may_grow, const table_options& options) {
  ordered_change<Exec, Table> call(exec, name, table, arrays.keys, arrays.given, arrays.n, may_grow,
                                   options);
  if (arrays.n == 0) return;
  if constexpr (Change<Table>::after) {
    call.run(Change<Table>{{call.all_items(), call.values()}});
  } else {
    call.run(Change<Table>{{call.by_key(), call.values()}});
  }
}
template <class Exec, class Table, class Combine>
void combine_by_key(const Exec& exec, Table& table, const table_arrays<Table>& arrays,
                    const Combine& combine, const table_options& options) {
  ordered_change<Exec, Table> call(exec, "upsert", table, arrays.keys, arrays.given, arrays.n, true,
                                   options);
  if (arrays.n == 0) return;
  const values_in_order<table_value<Table>> values{call.values(), call.order()};
  const auto batch = call.combined_by_key(values, combine);
  call.run(combine_change<Table, Combine>{
      {{batch, call.values()}}, call.memory().combined().data(), combine});
}
template <class Table>
using erase_oldest = erase_change<Table, false>;
template <class Table>
using erase_every = erase_change<Table, true>;

}  // namespace kernels

/// Puts pairs into a map, or keys into a set, unless the key is there: of several items with one
/// key the first. Puts pairs into a multimap after what is there, items with one key in their
/// order.
///
/// keys and values are Views of the table's types; values is std::nullopt for sets. Throws
/// std::invalid_argument on wrong extents, Views with items and no memory, options that cannot be
/// reached, and more elements than positions (2^32 - 64).
template <class Exec, any_ordered_table Table, class Keys, class Values = std::nullopt_t>
void insert(const Exec& exec, Table& table, const Keys& keys, const Values& values = std::nullopt,
            const table_options& options = {}) {
  const auto arrays = kernels::pairs_of<Exec, Table>("insert", keys, values);
  if constexpr (unique_ordered_table<Table>) {
    kernels::change_by_key<kernels::insert_change>(exec, "insert", table, arrays, true, options);
  } else {
    kernels::change_by_key<kernels::add_change>(exec, "insert", table, arrays, true, options);
  }
}

/// Puts pairs into a map; they replace the values of keys that are there. Of several items with one
/// key the last stays. Errors as insert.
template <class Exec, unique_ordered_table Table, class Keys, class Values>
void assign(const Exec& exec, Table& table, const Keys& keys, const Values& values,
            const table_options& options = {}) {
  const auto arrays = kernels::pairs_of<Exec, Table>("assign", keys, values);
  kernels::change_by_key<kernels::assign_change>(exec, "assign", table, arrays, true, options);
}

/// Puts pairs into a map; where a key is there, its value becomes combine(value there, value
/// given). combine is a pure scalar function object, and associative: values of one key that come
/// with one call are combined with each other first, in their order. Errors as insert.
template <class Exec, unique_ordered_table Table, class Keys, class Values, class Combine>
void upsert(const Exec& exec, Table& table, const Keys& keys, const Values& values,
            const Combine& combine, const table_options& options = {}) {
  kernels::expects_combine<Exec, kernels::table_value<Table>, Combine>();
  const auto arrays = kernels::pairs_of<Exec, Table>("upsert", keys, values);
  kernels::combine_by_key(exec, table, arrays, combine, options);
}

/// Deletes keys; of several elements with one key the oldest, for each time that the key is given.
/// Errors as insert.
template <class Exec, any_ordered_table Table, class Keys>
void erase(const Exec& exec, Table& table, const Keys& keys, const table_options& options = {}) {
  kernels::change_by_key<kernels::erase_oldest>(
      exec, "erase", table, kernels::arrays_of<Exec, Table>("erase", keys), false, options);
}
/// Deletes all elements with the keys. Of several items with one key the first has the status
/// erased. Errors as insert.
template <class Exec, repeated_ordered_table Table, class Keys>
void erase_all(const Exec& exec, Table& table, const Keys& keys,
               const table_options& options = {}) {
  kernels::change_by_key<kernels::erase_every>(
      exec, "erase_all", table, kernels::arrays_of<Exec, Table>("erase_all", keys), false, options);
}

namespace kernels {

/// One edit that takes elements away: those with keys in [first, last], or the first ones.
template <class Table>
struct remove_run_kernel {
  struct policy : launch_policy {};
  template <class Team>
  struct scratch {};

  using key_type = typename Table::key_type;

  typename Table::view_type table;
  key_type first;
  key_type last;
  bool by_key;
  std::uint32_t number;  // unless by key
  std::uint32_t* position;
  std::uint32_t* removed;
  std::uint32_t* put;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    const auto warp = team.warp();
    if (team.index() != 0 || team.warp_index() != 0) return;
    std::uint32_t begin = 0, count = number;
    if (by_key) {
      using keys = lanes_t<warp_type, key_type>;
      begin = warp.broadcast(table.lower_bound(warp, warp.first(1), keys(first)), 0);
      const std::uint32_t end =
          warp.broadcast(table.upper_bound(warp, warp.first(1), keys(last)), 0);
      count = end > begin ? end - begin : 0;
    }
    warp.once([&] {
      *position = begin;
      *removed = count;
      *put = 0;
    });
  }
};

template <class Exec, class Table>
std::int64_t remove_run(const Exec& exec, const char* name, Table& table,
                        const typename Table::key_type& first, const typename Table::key_type& last,
                        bool by_key, std::int64_t number) {
  if (table.size() == 0) return 0;
  ordered_change<Exec, Table> call(exec, name, table, nullptr, nullptr, 0, false, table_options{});
  auto& memory = call.memory();
  lanewise::launch(exec, "Lanewise::ordered::remove_run", 1,
                   remove_run_kernel<Table>{
                       table.view(), first, last, by_key,
                       static_cast<std::uint32_t>(std::min(number, table.size())),
                       memory.position().data(), memory.removed().data(), memory.put().data()});
  call.set_edits(1);
  Table changed = call.changed_table();
  const std::int64_t gone = table.size() - changed.size();
  call.publish(std::move(changed));
  return gone;
}

}  // namespace kernels

/// Deletes the elements with keys in [first, last] and returns how many there were. None where last
/// < first.
template <class Exec, any_ordered_table Table>
std::int64_t erase_range(const Exec& exec, Table& table, const typename Table::key_type& first,
                         const typename Table::key_type& last) {
  return kernels::remove_run(exec, "erase_range", table, first, last, true, 0);
}

/// Takes the first k elements out of the table, or all: keys_out(i) and values_out(i) become these.
/// Returns how many. Where the outputs have fewer places, that many are taken out. Throws
/// std::invalid_argument where k < 0.
template <class Exec, any_ordered_table Table, class KeysOut, class ValuesOut = std::nullopt_t>
std::int64_t pop_first(const Exec& exec, Table& table, std::int64_t k, const KeysOut& keys_out,
                       const ValuesOut& values_out = std::nullopt) {
  detail::expects(k >= 0, "pop_first: k is ", k, ", less than 0");
  std::int64_t number = std::min({k, table.size(), static_cast<std::int64_t>(keys_out.extent(0))});
  if constexpr (Kokkos::is_view_v<ValuesOut>)
    number = std::min(number, static_cast<std::int64_t>(values_out.extent(0)));
  kernels::store_elements(exec, "pop_first", table, number, keys_out, values_out);
  return kernels::remove_run(exec, "pop_first", table, {}, {}, false, number);
}

/// Removes all elements and frees their memory.
template <class Exec, any_ordered_table Table>
void clear(const Exec& exec, Table& table) {
  exec.fence("Lanewise::ordered: clear");
  table = {};
}

namespace kernels {

/// Items of one key are done one after the other, by one lane.
template <class Table, class Combine>
struct apply_change : change_of<Table> {
  using typename change_of<Table>::edit;
  using typename change_of<Table>::word;
  using value_type = typename change_of<Table>::value_type;
  static constexpr bool reads_values = true;
  const table_operation* operations;
  value_type* values;
  table_status* status;
  Combine combine;

  LANEWISE_FUNCTION edit operator()(std::int64_t j, std::uint32_t stored, word old) const {
    bool present = stored != 0;
    value_type value = detail::from_word<value_type>(old);
    for (std::uint32_t i = this->batch.begins[j]; i < this->batch.end(j); ++i) {
      const std::uint32_t item = this->batch.order[i];
      status[item] = one(operations[item], values[item], present, value);
    }
    return {stored, present, detail::to_word<word>(value)};
  }

 private:
  LANEWISE_FUNCTION table_status one(table_operation operation, value_type& given, bool& present,
                                     value_type& value) const {
    const bool before = present;
    switch (operation) {
      case table_operation::find:
        if (before) given = value;
        return before ? table_status::found : table_status::absent;
      case table_operation::insert:
        if (before) return table_status::present;
        value = given;
        present = true;
        return table_status::inserted;
      case table_operation::assign:
      case table_operation::combine:
        value = before && operation == table_operation::combine
                    ? static_cast<value_type>(combine(value, given))
                    : given;
        present = true;
        return before ? table_status::updated : table_status::inserted;
      case table_operation::erase:
        present = false;
        return before ? table_status::erased : table_status::absent;
      default:
        return table_status::none;
    }
  }
};

template <class Exec, class Table, class Combine>
void apply_by_key(const Exec& exec, Table& table, const table_arrays<Table>& arrays,
                  const Combine& combine, const table_options& options) {
  ordered_change<Exec, Table> call(exec, "apply", table, arrays.keys, nullptr, arrays.n, true,
                                   options);
  if (arrays.n == 0) return;
  call.edit(apply_change<Table, Combine>{
      {call.by_key(), arrays.given}, arrays.operations, arrays.found, call.status(), combine});
  auto changed = call.changed_table();
  call.tally();
  call.publish(std::move(changed));
}

/// Whether a key may not follow another in a sorted array of unique keys.
struct not_greater_bits {
  template <class Key>
  LANEWISE_FUNCTION bool operator()(const Key& a, const Key& b) const {
    return lanewise::to_bits(a) <= lanewise::to_bits(b);
  }
};

}  // namespace kernels

/// An operation of its own for every item of a map: operations is a View of table_operation. It may
/// have find, insert, assign, combine and erase; others have the status none. values(i) is given to
/// what takes a value, and receives what find finds. The effects are those of the items one after
/// the other. Items with one key are done by one lane, so a call in which very many have the same
/// key takes long. Errors as insert; where memory for the leaves is lacking, options.status and
/// values may have been written.
template <class Exec, unique_ordered_table Table, class Operations, class Keys, class Values,
          class Combine = detail::keep_given>
void apply(const Exec& exec, Table& table, const Operations& operations, const Keys& keys,
           const Values& values, const table_options& options = {}, const Combine& combine = {}) {
  kernels::expects_combine<Exec, kernels::table_value<Table>, Combine>();
  const auto arrays = kernels::arrays_of_apply<Exec, Table>(operations, keys, values);
  kernels::apply_by_key(exec, table, arrays, combine, options);
}

/// The table becomes one of these pairs, in any order, or of keys alone, for which values is
/// std::nullopt: of several items with one key the one that options.duplicates says, in a multimap
/// all in their order. Errors as insert.
template <class Exec, any_ordered_table Table, class Keys, class Values = std::nullopt_t>
void build(const Exec& exec, Table& table, const Keys& keys, const Values& values = std::nullopt,
           const ordered_build_options& options = {}) {
  const auto arrays = kernels::pairs_of<Exec, Table>("build", keys, values);
  Table built;
  kernels::ordered_change<Exec, Table> call(exec, "build", built, arrays.keys, arrays.given,
                                            arrays.n, true, {.work = options.work});
  if (arrays.n > 0) {
    if constexpr (Table::kind == key_multiplicity::repeated) {
      call.run(kernels::add_change<Table>{{call.all_items(), call.values()}});
    } else {
      const auto batch = call.by_key();
      detail::expects(options.duplicates != ordered_duplicates::refused || batch.m == arrays.n,
                      "build: keys has ", arrays.n, " items, of which ", batch.m,
                      " are different, and options.duplicates is refused");
      if (options.duplicates == ordered_duplicates::last) {
        call.run(kernels::assign_change<Table>{{batch, call.values()}});
      } else {
        call.run(kernels::insert_change<Table>{{batch, call.values()}});
      }
    }
  }
  table = std::move(built);
}

/// As `build`, from pairs whose keys ascend, or in a multimap, where they may be equal, do not
/// descend. One pass over the items, and one to look whether they are sorted. If they are not,
/// throws std::invalid_argument with the index of the first item that is not.
template <class Exec, any_ordered_table Table, class Keys, class Values = std::nullopt_t>
void build_sorted(const Exec& exec, Table& table, const Keys& keys,
                  const Values& values = std::nullopt, const ordered_build_options& options = {}) {
  const auto arrays = kernels::pairs_of<Exec, Table>("build_sorted", keys, values);
  if (options.checked && arrays.n > 0) {
    using order = std::conditional_t<Table::kind == key_multiplicity::unique,
                                     kernels::not_greater_bits, kernels::less_bits>;
    const std::int64_t sorted = lanewise::is_sorted_until(
        exec, array_source<typename Table::key_type, identity>{arrays.keys, arrays.n, {}}, order{},
        {.work = options.work});
    detail::expects(sorted == arrays.n, "build_sorted: keys(", sorted, ") is ",
                    Table::kind == key_multiplicity::unique ? "not greater" : "less", " than keys(",
                    sorted - 1, ")");
  }
  using source = kernels::arrays_as_lines<typename Table::key_type, typename Table::mapped_type>;
  Table built = kernels::make_table_of_lines<Table>(exec, "build_sorted", arrays.n,
                                                    source{arrays.keys, arrays.given, arrays.n});
  exec.fence("Lanewise::ordered: the leaves are written");
  table = std::move(built);
}

LANEWISE_END_TARGET_NAMESPACE
