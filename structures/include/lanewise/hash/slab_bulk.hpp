// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/call/status.hpp>
#include <lanewise/call/workspace.hpp>
#include <lanewise/common/detail/table_call.hpp>
#include <lanewise/hash/detail/slab_maintenance.hpp>
#include <lanewise/hash/slab_growth.hpp>

#include <algorithm>

LANEWISE_BEGIN_NAMESPACE

/// Options of the bulk calls on slab tables. Items are worked on in the order of the arrays; with
/// slab_sorted (slab_sort.hpp) instead of these options they are sorted first where that is faster.
/// What grows is the table's pool, and, unless buckets were given when it was made, the number of
/// its lists. Only a call that may grow takes memory for temporaries.
using slab_options = growing_table_options;

namespace detail {

/// Operations whose kind is read for every item.
struct each_its_own {};

/// How calls with options of that type order their items; slab_sort.hpp adds another.
template <class Options>
struct slab_order_of;
struct slab_as_given;
template <>
struct slab_order_of<slab_options> {
  using type = slab_as_given;
};
template <class T>
concept slab_options_type = requires {
  typename slab_order_of<T>::type;
};

}  // namespace detail
LANEWISE_END_NAMESPACE

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

/// The arrays' items that a window of a warp works on: neighbours, or those whose indices are
/// given.
template <class Warp>
class item_indices {
 public:
  template <class Mask>
  LANEWISE_FUNCTION item_indices(const Warp& warp, Mask items, const std::uint32_t* indices,
                                 std::int64_t first)
      : warp_(warp), first_(first), given_(indices != nullptr) {
    if (given_) indices_ = warp.load(items, indices + first, std::uint32_t{0});
  }
  template <class Mask, class T>
  LANEWISE_FUNCTION auto load(Mask m, T* p, std::remove_const_t<T> otherwise) const {
    return given_ ? warp_.gather(m, p, indices_, otherwise) : warp_.load(m, p + first_, otherwise);
  }
  template <class Mask, class T>
  LANEWISE_FUNCTION void store(Mask m, T* p, const lanes_t<Warp, T>& values) const {
    if (given_) {
      warp_.scatter(m, p, indices_, values);
    } else {
      warp_.store(m, p + first_, values);
    }
  }

 private:
  const Warp& warp_;
  std::int64_t first_;
  bool given_;
  lanes_t<Warp, std::uint32_t> indices_{0u};
};

/// An operation for each item. A warp takes windows of as many items as it has lanes; it has
/// fetched the lists' first slabs for several of them before it works on the first one.
template <class View, class Key, class Operation, class Combine>
struct slab_kernel {
  // Warps that wait for slabs are what hides the wait: five teams leave 48 registers for a thread.
  struct policy : launch_policy {
    static constexpr int teams_per_multiprocessor = 5;
    static constexpr int host_teams_per_thread = 16;
  };
  template <class Team>
  struct scratch {};

  template <class Warp>
  using lanes = lanes_t<Warp, std::uint32_t>;
  using word = typename View::word;
  using value = typename View::value_type;
  static constexpr bool mixed = std::is_same_v<Operation, detail::each_its_own>;

  View table;
  Combine combine;
  const Key* keys;
  const table_operation* operations;  // of each item, if mixed
  const value* given;                 // null for none
  value* found;                       // values that are found; null for none
  std::uint32_t* numbers;             // how many; null for none
  table_status* status;               // null for none
  status_counts* tally;               // null for none
  std::uint64_t* lacking;             // items without room; null for none
  item_count items;
  bool again;                    // only the items that had no room
  bool by_region;                // keys are sorted by region
  const std::uint32_t* indices;  // where items stand in all arrays but keys; null if as keys do

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    using located = typename View::template located_keys<warp_type>;
    constexpr int ahead = Team::windows_in_flight;
    constexpr int width = warp_type::width;
    const auto warp = team.warp();
    const std::int64_t n = items();
    const std::int64_t windows = divide_up(n, width);
    const std::int64_t id = std::int64_t{team.index()} * Team::warps + team.warp_index();
    const std::int64_t warps = std::int64_t{team.league()} * Team::warps;
    // Shares of their own keep threads of a host apart. Warps that share a cache go through the
    // regions together: warp `id` takes every warps-th group of windows.
    const bool by_team = by_region && Team::warps > 1;
    const index_range mine =
        by_team ? index_range{id * ahead, windows} : even_share(windows, id, warps);
    const std::int64_t step = by_team ? warps * ahead : ahead;
    slab_resident<warp_type> resident(warp, static_cast<std::uint64_t>(id));
    warp_tally<warp_type> came;
    for (std::int64_t begin = mine.begin; begin < mine.end; begin += step) {
      located at[ahead];
      LANEWISE_UNROLL
      for (int a = 0; a < ahead; ++a) {
        const auto active = items_of(warp, n, mine, begin + a);
        at[a] = table.locate(warp, active, warp.load(active, keys + (begin + a) * width, Key{}));
        table.prefetch(warp, active, at[a]);
      }
      for (int a = 0; a < ahead; ++a) {
        const std::int64_t first = (begin + a) * width;
        window(warp, resident, items_of(warp, n, mine, begin + a), at[a], first, came);
      }
    }
    came.add_up(warp, tally, lacking);
  }

 private:
  template <class Warp>
  static LANEWISE_FUNCTION auto items_of(const Warp& warp, std::int64_t n, const index_range& mine,
                                         std::int64_t window) {
    const std::int64_t left = window < mine.end ? n - window * Warp::width : 0;
    return warp.first(left);
  }

  template <class Warp, class Mask, class Located>
  LANEWISE_FUNCTION void window(const Warp& warp, slab_resident<Warp>& resident, Mask exist,
                                const Located& at, std::int64_t first,
                                warp_tally<Warp>& came) const {
    using words = lanes_t<Warp, word>;
    const item_indices<Warp> at_items(warp, exist, indices, first);
    auto active = exist;
    if (again) {
      const auto before = warp.map(
          exist, [](table_status s) { return static_cast<std::uint32_t>(s); }, std::uint32_t{0},
          at_items.load(exist, status, table_status::none));
      active = exist & (before == static_cast<std::uint32_t>(table_status::no_room));
      if (!warp.any(active)) return;
    }
    words values(word{0});
    if (given != nullptr)
      values = warp.map([](const value& v) { return detail::to_word<word>(v); },
                        at_items.load(active, given, value{}));
    lanes<Warp> result;
    if constexpr (mixed) {
      const auto kinds = warp.map([](table_operation o) { return static_cast<std::uint32_t>(o); },
                                  at_items.load(active, operations, table_operation::find));
      result = table.operate(warp, resident, active, at, values,
                             detail::operation_of_lane<lanes<Warp>>{kinds}, combine);
    } else {
      result = table.operate(warp, resident, active, at, values, Operation{}, combine);
    }
    if (found != nullptr) {
      const auto hit = active & (result == static_cast<std::uint32_t>(table_status::found));
      at_items.store(hit, found,
                     warp.map([](word w) { return detail::from_word<value>(w); }, values));
    }
    if (numbers != nullptr)
      at_items.store(active, numbers, warp.template cast<std::uint32_t>(values));
    if (status != nullptr)
      at_items.store(
          active, status,
          warp.map([](std::uint32_t s) { return static_cast<table_status>(s); }, result));
    if (tally != nullptr || lacking != nullptr) came.add(warp, active, result);
  }
};

/// What the kernel works on: the arrays, or some of their items in another order.
template <class Table>
struct slab_ordered {
  using key = typename Table::key_type;
  using value = kernels::table_value<Table>;

  const key* keys = nullptr;
  const value* given = nullptr;
  const std::uint32_t* indices = nullptr;  // where items stand in all arrays but keys
  item_count count{0};
  bool by_region = false;
};

/// The order of a call's items, made before its workspace: its bytes are what it needs there.
template <class Order, class Operation, class Exec, class Table>
struct slab_plan;

template <class Operation, class Exec, class Table>
struct slab_plan<detail::slab_as_given, Operation, Exec, Table> {
  std::size_t bytes = 0;

  slab_plan(const Exec&, const Table&, const table_arrays<Table>&, bool, const slab_options&,
            const table_status*) {}
  slab_ordered<Table> order(const Exec&, const char*, const Table&,
                            const table_arrays<Table>& arrays, char*, std::int64_t*, table_status*,
                            status_counts*) const {
    return {arrays.keys, arrays.given, nullptr, {arrays.n}, false};
  }
};

/// The tables of unique keys that Lanewise::compiled has kernels of.
template <class Exec, class Key, class Value>
using plain_slab_table = slab_hash_table<Key, Value, key_multiplicity::unique,
                                         typename Exec::memory_space, slab_hash<Key>>;

/// Runs an operation on all items; where it may grow, again on those without room.
template <class Operation, class Exec, class Table, class Combine, class Options>
void slab_part(const Exec& exec, const char* label, const char* name, Table& table,
               const table_arrays<Table>& arrays, const Combine& combine, bool grows,
               const Options& options, table_status* status) {
  using key = typename Table::key_type;
  using combine_words =
      detail::combine_words<typename Table::mapped_type, typename Table::layout::word, Combine>;
  using kernel = slab_kernel<typename Table::view_type, key, Operation, combine_words>;
  using backend = backend_of<Exec>;
  using plan_type =
      slab_plan<typename detail::slab_order_of<Options>::type, Operation, Exec, Table>;
  const plan_type plan(exec, table, arrays, grows, options, status);
  // Two counters, statuses where the call needs its own, then what the order needs.
  const std::size_t own_statuses =
      grows && status == nullptr ? static_cast<std::size_t>(arrays.n) * sizeof(table_status) : 0;
  const std::size_t own = 64 + (own_statuses + 63) / 64 * 64;
  auto work = call_workspace::make<backend>(
      exec, options.work, {0, grows || plan.bytes > 0 ? own + plan.bytes : 0}, name);
  char* memory = static_cast<char*>(work.get().plain());
  auto* lacking = grows ? reinterpret_cast<std::uint64_t*>(memory) : nullptr;
  const slab_ordered<Table> items =
      plan.order(exec, label, table, arrays, memory + own,
                 reinterpret_cast<std::int64_t*>(memory + 8), status, options.tally.data());
  if (own_statuses > 0) status = reinterpret_cast<table_status*>(memory + 64);
  const auto league = kernels::league_for_windows<kernel>(exec, arrays.n);
  std::uint64_t without_room = ~std::uint64_t{0};
  for (bool again = false;; again = true) {
    if (grows) backend::zero(exec, lacking, sizeof(std::uint64_t));
    lanewise::launch(exec, label, league,
                     kernel{table.view(), combine_words{combine}, items.keys, arrays.operations,
                            items.given, arrays.found, arrays.numbers, status, options.tally.data(),
                            lacking, items.count, again, items.by_region, items.indices});
    if (!grows) return;
    std::uint64_t left = 0;
    detail::copy_to_host<std::uint64_t>(exec, &left, lacking);
    if (left == 0) return;
    // An insertion that comes second to the end of a list has a unit for a moment that is not
    // needed. If that is what was lacking, there is room now.
    const slab_usage used = lanewise::usage(exec, table.pool());
    if (left >= without_room || used.allocated > used.units - used.units / 8)
      kernels::make_room(exec, table, static_cast<std::int64_t>(left));
    without_room = left;
  }
}

#if defined(LANEWISE_COMPILED_TEMPLATE)
#define LANEWISE_COMPILED_SLAB(Exec, Key, Value, operation)                                      \
  LANEWISE_COMPILED_TEMPLATE void slab_part<detail::same_operation<table_operation::operation>>( \
      const Exec&, const char*, const char*, plain_slab_table<Exec, Key, Value>&,                \
      const table_arrays<plain_slab_table<Exec, Key, Value>>&, const detail::keep_given&, bool,  \
      const slab_options&, table_status*);
#define LANEWISE_COMPILED_SLABS(Exec, Key, Value)                                                 \
  LANEWISE_COMPILED_TEMPLATE bool shorten_lists(const Exec&, plain_slab_table<Exec, Key, Value>&, \
                                                std::int64_t);                                    \
  LANEWISE_COMPILED_TEMPLATE std::int64_t make_lists_for(                                         \
      const Exec&, const char*, plain_slab_table<Exec, Key, Value>&, const Key*, std::int64_t);   \
  LANEWISE_COMPILED_SLAB(Exec, Key, Value, find)                                                  \
  LANEWISE_COMPILED_SLAB(Exec, Key, Value, insert)                                                \
  LANEWISE_COMPILED_SLAB(Exec, Key, Value, erase)
#define LANEWISE_COMPILED_SLABS_OF(Exec, Key) \
  LANEWISE_COMPILED_SLABS(Exec, Key, void)    \
  LANEWISE_COMPILED_SLABS(Exec, Key, Key)     \
  LANEWISE_COMPILED_SLAB(Exec, Key, Key, assign)
// The component has units for some of them.
#if !defined(LANEWISE_COMPILED_SLAB_TABLES)
#define LANEWISE_COMPILED_SLAB_TABLES(Exec)       \
  LANEWISE_COMPILED_SLABS_OF(Exec, std::uint32_t) \
  LANEWISE_COMPILED_SLABS_OF(Exec, std::uint64_t)
#endif
LANEWISE_FOR_ALL_SPACES(LANEWISE_COMPILED_SLAB_TABLES)
#undef LANEWISE_COMPILED_SLAB_TABLES
#undef LANEWISE_COMPILED_SLABS_OF
#undef LANEWISE_COMPILED_SLABS
#undef LANEWISE_COMPILED_SLAB
#endif

/// A bulk call. A table that chooses how many lists it has gets the number of lists that the call's
/// different keys take. It works on as many items at a time as its lists stay short for, whatever
/// they are.
template <class Operation, class Exec, class Table, class Combine, class Options>
void slab_call(const Exec& exec, const char* label, const char* name, Table& table,
               const table_arrays<Table>& arrays, const Combine& combine, bool needs_room,
               const Options& options) {
  detail::functor_rules<Exec>::template called_with<typename Table::hasher,
                                                    typename Table::key_type>();
  table.expects_memory();
  kernels::expects_options<Exec>(name, options, arrays.n);
  table_status* status = options.status.data();
  const bool grows = needs_room && options.grow;
  const bool in_parts = grows && table.load() > 0;
  std::int64_t count = arrays.n, new_ones = arrays.n;
  if (in_parts && arrays.operations == nullptr)
    new_ones = kernels::make_lists_for(exec, name, table, arrays.keys, arrays.n);
  for (std::int64_t first = 0; first < arrays.n; first += count) {
    if (in_parts) {
      count = std::min(arrays.n - first, kernels::items_at_a_time(table));
      const std::int64_t coming = std::min(count, new_ones);
      const std::int64_t taken = table.taken_at_most() + coming;
      table.set_taken(taken);
      if (taken > kernels::slots_before_long(table)) kernels::shorten_lists(exec, table, coming);
    }
    kernels::slab_part<Operation>(exec, label, name, table, arrays.part(first, count), combine,
                                  grows, options, status == nullptr ? nullptr : status + first);
  }
}

}  // namespace kernels

/// values(i) = the value of keys(i) where it is there; other values are left as they are, so that
/// the caller chooses what they hold. Of several elements with one key, the oldest. values is
/// std::nullopt for sets, or where options.status and options.tally tell enough.
///
/// O(n (1 + slabs per list)) work, a line of 128 bytes for each of them. Does not block. Throws
/// std::invalid_argument on wrong extents, Views with items and no memory, options that cannot be
/// reached, and a table that was moved from.
template <class Exec, any_slab_table Table, class Keys, class Values = std::nullopt_t,
          detail::slab_options_type Options = slab_options>
void find(const Exec& exec, const Table& table, const Keys& keys,
          const Values& values = std::nullopt, const Options& options = {}) {
  using value = typename Table::view_type::value_type;
  auto arrays = kernels::arrays_of<Exec, Table>("find", keys);
  arrays.found = kernels::array_of<value, Exec>("find", "values", values, arrays.n);
  kernels::slab_call<detail::same_operation<table_operation::find>>(
      exec, "Lanewise::slab_hash::find", "find", const_cast<Table&>(table), arrays,
      detail::keep_given{}, false, options);
}

/// Puts pairs, or the keys of a set, into the table: into one of unique keys unless the key is
/// there, which of several pairs of the call with one key keeps one of them; into one of repeated
/// keys beside what is there. values is std::nullopt for sets.
///
/// Cost as find, and one exchange of a word for each item that is put there. Grows the table
/// as needed, and then **blocks**; with options.grow = false it does not do either. On CUDA, many
/// items for a large table come in up to twice as fast with slab_sorted (slab_sort.hpp) as options.
/// Throws as find.
template <class Exec, any_slab_table Table, class Keys, class Values = std::nullopt_t,
          detail::slab_options_type Options = slab_options>
void insert(const Exec& exec, Table& table, const Keys& keys, const Values& values = std::nullopt,
            const Options& options = {}) {
  constexpr auto operation =
      Table::view_type::unique ? table_operation::insert : table_operation::add;
  kernels::slab_call<detail::same_operation<operation>>(
      exec, "Lanewise::slab_hash::insert", "insert", table,
      kernels::pairs_of<Exec, Table>("insert", keys, values), detail::keep_given{}, true, options);
}

/// Puts pairs into a map; they replace the values of keys that are there. Of several pairs of the
/// call with one key, one stays. Cost, growth and errors as insert.
template <class Exec, unique_slab_table Table, class Keys, class Values,
          detail::slab_options_type Options = slab_options>
void assign(const Exec& exec, Table& table, const Keys& keys, const Values& values,
            const Options& options = {}) {
  const auto arrays = kernels::pairs_of<Exec, Table>("assign", keys, values);
  kernels::slab_call<detail::same_operation<table_operation::assign>>(
      exec, "Lanewise::slab_hash::assign", "assign", table, arrays, detail::keep_given{}, true,
      options);
}

/// Puts pairs into a map; where a key is there, its value becomes combine(value there, value
/// given), with no value lost. combine is a pure scalar function object, called again when another
/// operation changes the value meanwhile. Cost, growth and errors as insert.
template <class Exec, unique_slab_table Table, class Keys, class Values, class Combine,
          detail::slab_options_type Options = slab_options>
void upsert(const Exec& exec, Table& table, const Keys& keys, const Values& values,
            const Combine& combine, const Options& options = {}) {
  const auto arrays = kernels::pairs_of<Exec, Table>("upsert", keys, values);
  if constexpr (kernels::expects_combine<Exec, typename Table::mapped_type, Combine>())
    kernels::slab_call<detail::same_operation<table_operation::combine>>(
        exec, "Lanewise::slab_hash::upsert", "upsert", table, arrays, combine, true, options);
}

/// Deletes keys; of several elements with one key the oldest, for each time that the key is given.
/// Their slots are free again after flush. Cost and errors as find. Does not block.
template <class Exec, any_slab_table Table, class Keys,
          detail::slab_options_type Options = slab_options>
void erase(const Exec& exec, Table& table, const Keys& keys, const Options& options = {}) {
  kernels::slab_call<detail::same_operation<table_operation::erase>>(
      exec, "Lanewise::slab_hash::erase", "erase", table,
      kernels::arrays_of<Exec, Table>("erase", keys), detail::keep_given{}, false, options);
}

/// An operation of its own for every item: operations is a View of table_operation (see
/// slab_table_view::apply). values(i) is given to what takes a value, and receives what find finds.
/// The operations of one call run in any order, also those on one key. Cost, growth and errors as
/// insert.
template <class Exec, any_slab_table Table, class Operations, class Keys, class Values,
          class Combine = detail::keep_given, detail::slab_options_type Options = slab_options>
void apply(const Exec& exec, Table& table, const Operations& operations, const Keys& keys,
           const Values& values, const Options& options = {}, const Combine& combine = {}) {
  const auto arrays = kernels::arrays_of_apply<Exec, Table>(operations, keys, values);
  if constexpr (kernels::expects_combine<Exec, typename Table::mapped_type, Combine>())
    kernels::slab_call<detail::each_its_own>(exec, "Lanewise::slab_hash::apply", "apply", table,
                                             arrays, combine, true, options);
}

/// The scalar face of a table for threads of an execution space.
template <class Exec, class Table>
using slab_scalar_face_t =
    slab_scalar_face<typename Table::view_type, typename warp_t<Exec>::template part<1>>;

LANEWISE_END_TARGET_NAMESPACE
