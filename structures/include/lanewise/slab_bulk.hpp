// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/detail/slab_build.hpp>
#include <lanewise/multisplit.hpp>
#include <lanewise/scan.hpp>
#include <lanewise/slab_whole.hpp>
#include <lanewise/status.hpp>
#include <lanewise/workspace.hpp>

#include <algorithm>

LANEWISE_BEGIN_NAMESPACE

/// In which order a bulk call works on its items.
enum class slab_order {
  automatic,  ///< by_region where that is faster
  as_given,   ///< in the order of the arrays
  by_region   ///< sorted by regions of the table, so that each is worked on while it is in the
              ///< cache; insert and assign that may grow build regions in scratch (docs/slab.md)
};

/// Options of the bulk calls on slab tables.
struct slab_options {
  /// Memory for temporaries; without it a call that may grow allocates in the order of its
  /// instance.
  workspace_ref work = {};
  /// Receives what came of every item.
  option_view<slab_status> status = {};
  /// Is added what came of the items. A rank-0 View.
  option_view<slab_tally> tally = {};
  /// Whether the table grows until all items are in: its pool, and, unless buckets were given when
  /// it was made, the number of its lists. The call then **blocks**, and nothing else may be using
  /// the table. Otherwise it does not, and items without room have the status no_room.
  bool grow = true;
  slab_order order = slab_order::automatic;
};

namespace detail {

/// Operations whose kind is read for every item.
struct each_its_own {};

}  // namespace detail
LANEWISE_END_NAMESPACE

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

/// The arrays' items that a window of a warp works on: neighbours, or those whose places are given.
template <class Warp>
class item_places {
 public:
  template <class Mask>
  LANEWISE_FUNCTION item_places(const Warp& warp, Mask items, const std::uint32_t* places,
                                std::int64_t first)
      : warp_(warp), first_(first), given_(places != nullptr) {
    if (given_) places_ = warp.load(items, places + first, std::uint32_t{0});
  }
  template <class Mask, class T>
  LANEWISE_FUNCTION auto load(Mask m, T* p, std::remove_const_t<T> otherwise) const {
    return given_ ? warp_.gather(m, p, places_, otherwise) : warp_.load(m, p + first_, otherwise);
  }
  template <class Mask, class T>
  LANEWISE_FUNCTION void store(Mask m, T* p, const typename Warp::template lanes<T>& values) const {
    if (given_) {
      warp_.scatter(m, p, places_, values);
    } else {
      warp_.store(m, p + first_, values);
    }
  }

 private:
  const Warp& warp_;
  std::int64_t first_;
  bool given_;
  typename Warp::template lanes<std::uint32_t> places_{0u};
};

struct own_place {
  LANEWISE_FUNCTION std::uint32_t operator()(std::int64_t i) const {
    return static_cast<std::uint32_t>(i);
  }
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
  using lanes = typename Warp::template lanes<std::uint32_t>;
  using word = typename View::word;
  using value = typename View::value_type;
  static constexpr std::uint32_t statuses = 8;
  static constexpr bool mixed = std::is_same_v<Operation, detail::each_its_own>;

  View table;
  Combine combine;
  const Key* keys;
  const slab_operation* operations;  // of each item, if mixed
  const value* given;                // null for none
  value* found;                      // values that are found; null for none
  std::uint32_t* numbers;            // how many; null for none
  slab_status* status;               // null for none
  slab_tally* tally;                 // null for none
  std::uint64_t* lacking;            // items without room; null for none
  item_count items;
  bool again;                   // only the items that had no room
  bool by_region;               // keys are sorted by region
  const std::uint32_t* places;  // where items stand in all arrays but keys; null if as keys do

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
    const bool together = by_region && Team::warps > 1;
    const index_range mine =
        together ? index_range{id * ahead, windows} : even_share(windows, id, warps);
    const std::int64_t step = together ? warps * ahead : ahead;
    slab_resident<warp_type> resident(warp, static_cast<std::uint64_t>(id));
    lanes<warp_type> came(0u);  // lane s: how often status s
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
    add_up(warp, came);
  }

 private:
  template <class Warp>
  static LANEWISE_FUNCTION auto items_of(const Warp& warp, std::int64_t n, const index_range& mine,
                                         std::int64_t window) {
    const std::int64_t left = window < mine.end ? n - window * Warp::width : 0;
    return warp.first(static_cast<int>(left < Warp::width ? left : Warp::width));
  }

  template <class Warp, class Mask, class Located>
  LANEWISE_FUNCTION void window(const Warp& warp, slab_resident<Warp>& resident, Mask items,
                                const Located& at, std::int64_t first, lanes<Warp>& came) const {
    using words = typename Warp::template lanes<word>;
    const item_places<Warp> at_items(warp, items, places, first);
    auto active = items;
    if (again) {
      const auto before = warp.map(
          items, [](slab_status s) { return static_cast<std::uint32_t>(s); }, std::uint32_t{0},
          at_items.load(items, status, slab_status::none));
      active = items & (before == static_cast<std::uint32_t>(slab_status::no_room));
      if (!warp.any(active)) return;
    }
    words values(word{0});
    if (given != nullptr)
      values = warp.map([](const value& v) { return detail::to_word<word>(v); },
                        at_items.load(active, given, value{}));
    lanes<Warp> result;
    if constexpr (mixed) {
      const auto kinds = warp.map([](slab_operation o) { return static_cast<std::uint32_t>(o); },
                                  at_items.load(active, operations, slab_operation::find));
      result = table.operate(warp, resident, active, at, values,
                             detail::operation_of_lane<lanes<Warp>>{kinds}, combine);
    } else {
      result = table.operate(warp, resident, active, at, values, Operation{}, combine);
    }
    if (found != nullptr) {
      const auto hit = active & (result == static_cast<std::uint32_t>(slab_status::found));
      at_items.store(hit, found,
                     warp.map([](word w) { return detail::from_word<value>(w); }, values));
    }
    if (numbers != nullptr)
      at_items.store(active, numbers, warp.template cast<std::uint32_t>(values));
    if (status != nullptr)
      at_items.store(active, status,
                     warp.map([](std::uint32_t s) { return static_cast<slab_status>(s); }, result));
    if (tally != nullptr || lacking != nullptr)
      came = came + warp.histogram(active, result, statuses);
  }

  /// Items without room are counted in lacking, where they are tried again, and else as the others.
  template <class Warp>
  LANEWISE_FUNCTION void add_up(const Warp& warp, const lanes<Warp>& came) const {
    constexpr auto no_room = static_cast<std::uint32_t>(slab_status::no_room);
    auto told =
        warp.template mask_of<std::uint32_t>((1u << statuses) - 2);  // not slab_status::none
    if (lacking != nullptr) {
      const std::uint32_t without_room = warp.broadcast(came, no_room);
      if (without_room != 0) warp.fetch_add(*lacking, std::uint64_t{without_room});
      told = told & (warp.lane() != no_room);
    }
    if (tally != nullptr)
      warp.fetch_add(told & (came != 0u), tally->count, warp.lane(),
                     warp.template cast<std::uint64_t>(came));
  }
};

/// values(offsets(i)), values(offsets(i) + 1), ... = the values of keys(i), old to new, as far as
/// there are places.
template <class View, class Key>
struct collect_kernel {
  struct policy : launch_policy {};
  template <class Team>
  struct scratch {};

  using value = typename View::value_type;

  View table;
  const Key* keys;
  const std::int64_t* offsets;
  value* values;
  std::int64_t n;
  std::int64_t places;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    constexpr int width = warp_type::width;
    const auto warp = team.warp();
    const index_range mine = team.share(divide_up(n, width));
    for (std::int64_t w = mine.begin + team.warp_index(); w < mine.end; w += Team::warps) {
      const std::int64_t left = n - w * width;
      const auto active = warp.first(static_cast<int>(left < width ? left : width));
      const auto key = warp.load(active, keys + w * width, Key{});
      auto next = warp.load(active, offsets + w * width, std::int64_t{0});
      table.find_all(
          warp, active, key, next,
          [this](const auto& sub, int lane, const auto& found, const auto& which, auto& cursor) {
            const auto chosen = sub.ballot(found);
            const std::int64_t begin = sub.broadcast(cursor, lane);
            const auto place = sub.map(
                [chosen, begin](auto below) {
                  return begin + std::decay_t<decltype(sub)>::popcount(chosen & below);
                },
                sub.lanes_below());
            sub.scatter(found & (place < places), values, place, which);
            const auto me = sub.lane() == static_cast<std::uint32_t>(lane);
            cursor =
                select(me, std::decay_t<decltype(cursor)>(begin + sub.popcount(chosen)), cursor);
          });
    }
  }
};

/// The arrays of a bulk call.
template <class Table>
struct slab_arrays {
  using value = typename Table::view_type::value_type;
  const typename Table::key_type* keys = nullptr;
  std::int64_t n = 0;
  const slab_operation* operations = nullptr;
  const value* given = nullptr;
  value* found = nullptr;
  std::uint32_t* numbers = nullptr;

  /// Items [first, first + many).
  slab_arrays part(std::int64_t first, std::int64_t many) const {
    const auto from = [first](auto* p) { return p == nullptr ? p : p + first; };
    return {keys + first, many, from(operations), from(given), from(found), from(numbers)};
  }
};

/// Operations of which many at once are done piece by piece of the table.
template <class Operation>
inline constexpr bool builds = false;
template <slab_operation operation>
inline constexpr bool builds<detail::same_operation<operation>> =
    operation == slab_operation::insert || operation == slab_operation::assign ||
    operation == slab_operation::add;

/// Regions of a table, runs of 2^k neighbouring lists: at most as many as multisplit sorts into at
/// once, and more than half of them.
inline constexpr std::int64_t table_regions = most_buckets;

/// Whether a call sorts its items by region. It pays where the table is larger than the cache, and
/// the items are so many that lists are met several times.
template <class Exec, class Table>
bool works_by_region(const Exec& exec, const Table& table, std::int64_t n, slab_order order) {
  const std::int64_t lists = table.buckets() + 1;
  if (n >= std::int64_t{1} << 32 || lists < 2 * table_regions) return false;
  if (order != slab_order::automatic) return order == slab_order::by_region;
  return backend_of<Exec>::sorting_pays(exec,
                                        lists * static_cast<std::int64_t>(sizeof(slab_unit))) &&
         n >= 4 * lists;
}

/// What goes with the keys where a call sorts them by region: an array of values that is all there
/// is, or else the items' places in all arrays. Sorted values save reading one by one.
enum class sorted_along { nothing, values, places };

template <class Table>
sorted_along what_goes_along(const slab_arrays<Table>& arrays, const slab_status* status) {
  const bool only_read = arrays.operations == nullptr && arrays.found == nullptr &&
                         arrays.numbers == nullptr && status == nullptr;
  if (!only_read) return sorted_along::places;
  return arrays.given != nullptr ? sorted_along::values : sorted_along::nothing;
}

/// Writes the keys sorted by a digit of the number of their list, and what goes along: values, or
/// the items' places where they have none yet.
template <class Exec, class Table, class Digit>
void sort_by_digit(const Exec& exec, const slab_arrays<Table>& arrays, sorted_along what,
                   std::int64_t digits, const Digit& digit, const std::uint32_t* places,
                   typename Table::key_type* keys, void* along) {
  using key = typename Table::key_type;
  using value = typename slab_arrays<Table>::value;
  const std::int64_t n = arrays.n;
  const array_source<key, identity> from{arrays.keys, n, {}};
  const array_sink<key> to{keys, n};
  const array_sink<std::uint32_t> places_to{static_cast<std::uint32_t*>(along), n};
  if (what == sorted_along::nothing) {
    multisplit(exec, from, to, digits, digit);
  } else if (what == sorted_along::values) {
    multisplit(exec, from, array_source<value, identity>{arrays.given, n, {}}, to,
               array_sink<value>{static_cast<value*>(along), n}, digits, digit);
  } else if (places == nullptr) {
    multisplit(exec, from, generated(n, own_place{}), to, places_to, digits, digit);
  } else {
    multisplit(exec, from, array_source<std::uint32_t, identity>{places, n, {}}, to, places_to,
               digits, digit);
  }
}

/// Sorted by region.
template <class Exec, class Table>
void sort_by_region(const Exec& exec, const Table& table, const slab_arrays<Table>& arrays,
                    sorted_along what, typename Table::key_type* keys, void* along) {
  const std::int64_t lists = table.buckets() + 1;
  int shift = 0;
  while (divide_up(lists, std::int64_t{1} << shift) > table_regions) ++shift;
  const list_digit<typename Table::key_type, typename Table::hasher> region(table.view().where(),
                                                                            shift);
  sort_by_digit<Exec, Table>(exec, arrays, what, divide_up(lists, std::int64_t{1} << shift), region,
                             nullptr, keys, along);
}

/// Makes the lists of a table shorter that chooses how many it has: as many as it needs, where it
/// and `coming` further elements are too many; or without gaps, where more elements were deleted
/// than are there. Returns whether anything was done.
template <class Exec, class Table>
bool shorten_lists(const Exec& exec, Table& table, std::int64_t coming) {
  const slab_statistics s = statistics(exec, table);
  const std::int64_t all = s.elements + coming;
  table.set_taken(all + s.deleted);
  if (all > places_before_long(table)) {
    rehash(exec, table, lists_for(table, all));
  } else if (s.deleted > s.elements) {
    flush(exec, table);
  } else {
    return false;
  }
  table.set_taken(all);  // deleted ones count until they are gone: both calls may throw
  return true;
}

/// Room for items that have found none: shorter lists, or a larger pool.
template <class Exec, class Table>
void make_room(const Exec& exec, Table& table, std::int64_t lacking) {
  if (table.load() > 0 && shorten_lists(exec, table, lacking)) return;
  // Enough for what is lacking if it is spread evenly, and at least half of what there is: units of
  // a pool that is almost full take long to find.
  constexpr std::int64_t elements = Table::layout::elements;
  table.grow_pool(exec, std::max(lacking / elements + 1, table.pool().units() / 2));
}

/// What a bulk call has in its workspace: counters, then items twice, then statuses.
template <class Table>
struct slab_memory {
  using key = typename Table::key_type;
  using value = typename slab_arrays<Table>::value;

  std::size_t n;
  std::size_t each_along;
  std::size_t bytes = 64;
  std::size_t at[5] = {};  // keys and what goes along, once and twice; statuses

  slab_memory(std::int64_t items, sorted_along what, int times, bool own_status)
      : n(static_cast<std::size_t>(items)),
        each_along(what == sorted_along::nothing  ? 0
                   : what == sorted_along::values ? sizeof(value)
                                                  : sizeof(std::uint32_t)) {
    for (int t = 0; t < times; ++t) {
      at[2 * t] = take(sizeof(key));
      at[2 * t + 1] = take(each_along);
    }
    if (own_status) at[4] = take(sizeof(slab_status));
  }
  /// Items, the first time or the second.
  slab_items<key, value> items(char* memory, sorted_along what, int time) const {
    slab_items<key, value> i;
    i.keys = reinterpret_cast<key*>(memory + at[2 * time]);
    char* along = memory + at[2 * time + 1];
    if (what == sorted_along::values) i.values = reinterpret_cast<value*>(along);
    if (what == sorted_along::places) i.places = reinterpret_cast<std::uint32_t*>(along);
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
template <slab_operation operation, class Exec, class Table>
void build_pieces(const Exec& exec, const char* label, const Table& table,
                  const slab_arrays<Table>& arrays, sorted_along what,
                  const slab_items<typename Table::key_type, typename slab_arrays<Table>::value>& a,
                  const slab_items<typename Table::key_type, typename slab_arrays<Table>::value>& b,
                  std::int64_t* lefts, slab_status* status, slab_tally* tally) {
  using key = typename Table::key_type;
  using value = typename slab_arrays<Table>::value;
  using kernel = slab_build_kernel<typename Table::view_type, key, operation>;
  using backend = backend_of<Exec>;
  const auto view = table.view();
  using digit = list_digit<key, typename Table::hasher>;
  const auto cut = slab_classes::of(table.buckets() + 1, kernel::piece_shift);
  const auto along = [](const slab_items<key, value>& i) {
    return i.values != nullptr ? static_cast<void*>(i.values) : static_cast<void*>(i.places);
  };
  auto from = arrays;
  const std::uint32_t* places = nullptr;
  if (cut.low_bits > 0) {
    const auto mask = static_cast<std::uint32_t>(cut.low_digits() - 1);
    sort_by_digit<Exec, Table>(exec, from, what, cut.low_digits(),
                               digit(view.where(), cut.class_shift, mask), places, b.keys,
                               along(b));
    from.keys = b.keys;
    if (b.values != nullptr) from.given = b.values;
    places = b.places;
  }
  sort_by_digit<Exec, Table>(exec, from, what, cut.high_digits(),
                             digit(view.where(), cut.class_shift + cut.low_bits), places, a.keys,
                             along(a));
  backend::zero(exec, lefts, sizeof(std::int64_t));
  // Four times what a class has if keys spread evenly; an even number.
  const std::int64_t most = 2 * std::max(2 * divide_up(arrays.n, cut.classes), std::int64_t{512});
  launch(exec, label, backend::template league_for_tiles<kernel>(exec, cut.classes),
         kernel{view,
                cut,
                {a.keys, a.values, a.places},
                what == sorted_along::places ? arrays.given : nullptr,
                b,
                lefts,
                status,
                tally,
                arrays.n,
                most});
}

/// Whether a call builds: it does where it is alone with the table, the lists' first slabs have
/// room, and the items are so many that whole slabs are worth fetching and writing.
template <class Exec, class Table>
bool builds_pieces(const Exec& exec, const Table& table, std::int64_t n, bool grows,
                   slab_order order) {
  if (!grows || n >= std::int64_t{1} << 32 || order == slab_order::as_given) return false;
  return order == slab_order::by_region ||
         backend_of<Exec>::building_pays(exec, n, table.buckets() + 1);
}

/// Runs an operation on all items; where it may grow, again on those without room.
template <class Operation, class Exec, class Table, class Combine>
void slab_part(const Exec& exec, const char* label, const char* name, Table& table,
               const slab_arrays<Table>& arrays, const Combine& combine, bool grows,
               const slab_options& with, slab_status* status) {
  using key = typename Table::key_type;
  using value = typename slab_arrays<Table>::value;
  using combine_words =
      detail::combine_words<typename Table::mapped_type, typename Table::layout::word, Combine>;
  using kernel = slab_kernel<typename Table::view_type, key, Operation, combine_words>;
  using backend = backend_of<Exec>;
  bool builds_first = false;
  if constexpr (builds<Operation>)
    builds_first = builds_pieces(exec, table, arrays.n, grows, with.order);
  const bool sorts = !builds_first && works_by_region(exec, table, arrays.n, with.order);
  const sorted_along what = what_goes_along(arrays, status);
  const bool own_status = grows && status == nullptr;
  const slab_memory<Table> layout(arrays.n, what, builds_first ? 2 : sorts ? 1 : 0, own_status);
  auto work =
      call_workspace::make<backend>(exec, with.work, {0, grows || sorts ? layout.bytes : 0}, name);
  char* memory = static_cast<char*>(work.get().plain());
  auto* lacking = grows ? reinterpret_cast<std::uint64_t*>(memory) : nullptr;
  if (own_status) status = reinterpret_cast<slab_status*>(memory + layout.at[4]);
  slab_items<const key, const value> items{arrays.keys, arrays.given};
  item_count many{arrays.n};
  if (sorts || builds_first) {
    auto sorted = layout.items(memory, what, 0);
    if constexpr (builds<Operation>) {
      if (builds_first) {
        many.resident = detail::integers(reinterpret_cast<std::int64_t*>(memory + 8));
        const auto left = layout.items(memory, what, 1);
        build_pieces<Operation::operation>(exec, label, table, arrays, what, sorted, left,
                                           reinterpret_cast<std::int64_t*>(memory + 8),
                                           own_status ? nullptr : status, with.tally.data());
        sorted = left;
      }
    }
    if (sorts)
      sort_by_region(exec, table, arrays, what, sorted.keys,
                     what == sorted_along::values ? static_cast<void*>(sorted.values)
                                                  : static_cast<void*>(sorted.places));
    items.keys = sorted.keys;
    if (what == sorted_along::values) items.values = sorted.values;
    items.places = sorted.places;
  }
  const std::int64_t windows = divide_up(arrays.n, warp_t<Exec>::width);
  const auto league = backend::template resident_league<kernel>(
      exec, divide_up(windows, team_t<Exec, typename kernel::policy>::warps));
  std::uint64_t without_room = ~std::uint64_t{0};
  for (bool again = false;; again = true) {
    if (grows) backend::zero(exec, lacking, sizeof(std::uint64_t));
    launch(exec, label, league,
           kernel{table.view(), combine_words{combine}, items.keys, arrays.operations, items.values,
                  arrays.found, arrays.numbers, status, with.tally.data(), lacking, many, again,
                  sorts, items.places});
    if (!grows) return;
    std::uint64_t left = 0;
    detail::copy_to_host(
        exec, &left,
        Kokkos::View<std::uint64_t, typename Exec::memory_space, Kokkos::MemoryUnmanaged>(lacking));
    if (left == 0) return;
    // Who comes second to the end of a list has a unit for a moment that is not needed. If that is
    // what was lacking, there is room now.
    const slab_usage used = usage(exec, table.pool());
    if (left >= without_room || used.allocated > used.units - used.units / 8)
      make_room(exec, table, static_cast<std::int64_t>(left));
    without_room = left;
  }
}

/// A bulk call. Where new elements may come into a table that chooses how many lists it has, as
/// many items at a time as lists stay short for, whatever was expected: their keys may all be the
/// same, so that more lists at once could be too many.
template <class Operation, class Exec, class Table, class Combine>
void slab_call(const Exec& exec, const char* label, const char* name, Table& table,
               const slab_arrays<Table>& arrays, const Combine& combine, bool needs_room,
               const slab_options& with) {
  detail::functor_rules<Exec>::template called_with<typename Table::hasher,
                                                    typename Table::key_type>();
  expects_reachable_table<Exec, Table>();
  table.expects_memory();
  with.status.template expects_reachable<Exec>(name, "options.status", 0);
  with.tally.template expects_reachable<Exec>(name, "options.tally");
  slab_status* status = with.status.data();
  detail::expects(!with.status.is_given() || with.status.extent() >= arrays.n, name,
                  ": options.status has ", with.status.extent(), " places, there are ", arrays.n,
                  " items");
  const bool grows = needs_room && with.grow;
  const bool in_parts = grows && table.load() > 0;
  std::int64_t many = arrays.n;
  for (std::int64_t first = 0; first < arrays.n; first += many) {
    if (in_parts) {
      constexpr std::int64_t least = 1 << 16;
      many = std::min(arrays.n - first, std::max(least, 2 * table.places()));
      const std::int64_t taken = table.taken_at_most() + many;
      table.set_taken(taken);
      if (taken > places_before_long(table)) shorten_lists(exec, table, many);
    }
    slab_part<Operation>(exec, label, name, table, arrays.part(first, many), combine, grows, with,
                         status == nullptr ? nullptr : status + first);
  }
}

template <class Exec, class Table, class Keys>
slab_arrays<Table> arrays_of(const char* name, const Keys& keys) {
  const auto source = detail::as_source<Exec>(keys);
  static_assert(std::is_same_v<std::decay_t<decltype(source)>,
                               array_source<typename Table::key_type, identity>>,
                "lanewise: keys are a View of the table's type of keys");
  detail::expects_memory(source, name, "keys");
  slab_arrays<Table> arrays;
  arrays.keys = source.data;
  arrays.n = source.extent;
  return arrays;
}
/// A further array.
template <class T, class Exec, class V>
array_sink<T> array_of(const char* name, const char* which, const V& view) {
  static_assert(Kokkos::is_view_v<V> && std::is_convertible_v<typename V::pointer_type, T*>,
                "lanewise: an array argument is a View of the table's type of values");
  detail::check_view_type<V>();
  detail::check_reachable<Exec, V>();
  const array_sink<T> array{view.data(), static_cast<std::int64_t>(view.extent(0))};
  detail::expects_memory(array, name, which);
  return array;
}
/// One of as many items as there are keys.
template <class T, class Exec, class V>
T* array_of(const char* name, const char* which, const V& view, std::int64_t n) {
  const auto array = array_of<T, Exec>(name, which, view);
  detail::expects(array.extent >= n, name, ": ", which, " has ", array.extent, " items, keys has ",
                  n);
  return array.data;
}

}  // namespace kernels

/// values(i) = the value of keys(i) where it is there; other values are left as they are, so that
/// the caller chooses what they hold. Of several elements with one key, the oldest.
///
/// O(n (1 + slabs per list)) work, a line of 128 bytes for each of them. Does not block. Throws
/// std::invalid_argument on wrong extents, Views with items and no memory, options that cannot be
/// reached, and a table that was moved from.
template <class Exec, class Key, class Value, slab_keys kind, class Memory, class Hash, class Keys,
          class Values>
void find(const Exec& exec, const slab_hash_table<Key, Value, kind, Memory, Hash>& table,
          const Keys& keys, const Values& values, const slab_options& with = {}) {
  using table_type = slab_hash_table<Key, Value, kind, Memory, Hash>;
  auto arrays = kernels::arrays_of<Exec, table_type>("find", keys);
  arrays.found = kernels::array_of<Value, Exec>("find", "values", values, arrays.n);
  kernels::slab_call<detail::same_operation<slab_operation::find>>(
      exec, "Lanewise::slab_hash::find", "find", const_cast<table_type&>(table), arrays,
      detail::keep_given{}, false, with);
}
/// Whether keys are there: in options.status and options.tally.
template <class Exec, class Key, class Value, slab_keys kind, class Memory, class Hash, class Keys>
void find(const Exec& exec, const slab_hash_table<Key, Value, kind, Memory, Hash>& table,
          const Keys& keys, const slab_options& with) {
  using table_type = slab_hash_table<Key, Value, kind, Memory, Hash>;
  kernels::slab_call<detail::same_operation<slab_operation::find>>(
      exec, "Lanewise::slab_hash::find", "find", const_cast<table_type&>(table),
      kernels::arrays_of<Exec, table_type>("find", keys), detail::keep_given{}, false, with);
}

/// Puts pairs into the table: into one of unique keys unless the key is there, which of several
/// pairs of the call with one key keeps one of them; into one of repeated keys beside what is
/// there.
///
/// Cost as find, and one exchange of a word for each item that is put there. Grows the table
/// as needed, and then **blocks**; with options.grow = false it does not do either. Many items that
/// may grow a large table are sorted first (options.order), which takes memory for the items twice.
/// Throws as find.
template <class Exec, class Key, class Value, slab_keys kind, class Memory, class Hash, class Keys,
          class Values>
requires(!std::is_void_v<Value>) void insert(const Exec& exec,
                                             slab_hash_table<Key, Value, kind, Memory, Hash>& table,
                                             const Keys& keys, const Values& values,
                                             const slab_options& with = {}) {
  using table_type = slab_hash_table<Key, Value, kind, Memory, Hash>;
  constexpr auto operation =
      kind == slab_keys::unique ? slab_operation::insert : slab_operation::add;
  auto arrays = kernels::arrays_of<Exec, table_type>("insert", keys);
  arrays.given = kernels::array_of<const Value, Exec>("insert", "values", values, arrays.n);
  kernels::slab_call<detail::same_operation<operation>>(exec, "Lanewise::slab_hash::insert",
                                                        "insert", table, arrays,
                                                        detail::keep_given{}, true, with);
}
/// Puts keys into a set.
template <class Exec, class Key, slab_keys kind, class Memory, class Hash, class Keys>
void insert(const Exec& exec, slab_hash_table<Key, void, kind, Memory, Hash>& table,
            const Keys& keys, const slab_options& with = {}) {
  using table_type = slab_hash_table<Key, void, kind, Memory, Hash>;
  kernels::slab_call<detail::same_operation<slab_operation::insert>>(
      exec, "Lanewise::slab_hash::insert", "insert", table,
      kernels::arrays_of<Exec, table_type>("insert", keys), detail::keep_given{}, true, with);
}

/// Puts pairs into a map; they replace the values of keys that are there. Of several pairs of the
/// call with one key, one stays. Cost, growth and errors as insert.
template <class Exec, class Key, class Value, class Memory, class Hash, class Keys, class Values>
void assign(const Exec& exec, slab_hash_table<Key, Value, slab_keys::unique, Memory, Hash>& table,
            const Keys& keys, const Values& values, const slab_options& with = {}) {
  using table_type = slab_hash_table<Key, Value, slab_keys::unique, Memory, Hash>;
  auto arrays = kernels::arrays_of<Exec, table_type>("assign", keys);
  arrays.given = kernels::array_of<const Value, Exec>("assign", "values", values, arrays.n);
  kernels::slab_call<detail::same_operation<slab_operation::assign>>(
      exec, "Lanewise::slab_hash::assign", "assign", table, arrays, detail::keep_given{}, true,
      with);
}

/// Puts pairs into a map; where a key is there, its value becomes combine(value there, value
/// given), with no value lost. combine is a pure scalar function object, called again when somebody
/// else changes the value meanwhile. Cost, growth and errors as insert.
template <class Exec, class Key, class Value, class Memory, class Hash, class Keys, class Values,
          class Combine>
void upsert(const Exec& exec, slab_hash_table<Key, Value, slab_keys::unique, Memory, Hash>& table,
            const Keys& keys, const Values& values, const Combine& combine,
            const slab_options& with = {}) {
  using table_type = slab_hash_table<Key, Value, slab_keys::unique, Memory, Hash>;
  auto arrays = kernels::arrays_of<Exec, table_type>("upsert", keys);
  arrays.given = kernels::array_of<const Value, Exec>("upsert", "values", values, arrays.n);
  constexpr bool fitting = detail::fits<Exec, Value, Combine, Value, Value>();
  static_assert(fitting,
                "lanewise::upsert: combine is a function object with Value operator()(Value there, "
                "Value given) const");
  if constexpr (fitting)
    kernels::slab_call<detail::same_operation<slab_operation::combine>>(
        exec, "Lanewise::slab_hash::upsert", "upsert", table, arrays, combine, true, with);
}

/// Deletes keys; of several elements with one key the oldest, for each time that the key is given.
/// Their places are free again after flush. Cost and errors as find. Does not block.
template <class Exec, class Key, class Value, slab_keys kind, class Memory, class Hash, class Keys>
void erase(const Exec& exec, slab_hash_table<Key, Value, kind, Memory, Hash>& table,
           const Keys& keys, const slab_options& with = {}) {
  using table_type = slab_hash_table<Key, Value, kind, Memory, Hash>;
  kernels::slab_call<detail::same_operation<slab_operation::erase>>(
      exec, "Lanewise::slab_hash::erase", "erase", table,
      kernels::arrays_of<Exec, table_type>("erase", keys), detail::keep_given{}, false, with);
}

/// Deletes all elements with the keys. Cost and errors as find. Does not block.
template <class Exec, class Key, class Value, class Memory, class Hash, class Keys>
void erase_all(const Exec& exec,
               slab_hash_table<Key, Value, slab_keys::repeated, Memory, Hash>& table,
               const Keys& keys, const slab_options& with = {}) {
  using table_type = slab_hash_table<Key, Value, slab_keys::repeated, Memory, Hash>;
  kernels::slab_call<detail::same_operation<slab_operation::erase_all>>(
      exec, "Lanewise::slab_hash::erase_all", "erase_all", table,
      kernels::arrays_of<Exec, table_type>("erase_all", keys), detail::keep_given{}, false, with);
}

/// numbers(i) = how many elements have the key keys(i). Cost and errors as find. Does not block.
template <class Exec, class Key, class Value, class Memory, class Hash, class Keys, class Numbers>
void count(const Exec& exec,
           const slab_hash_table<Key, Value, slab_keys::repeated, Memory, Hash>& table,
           const Keys& keys, const Numbers& numbers, const slab_options& with = {}) {
  using table_type = slab_hash_table<Key, Value, slab_keys::repeated, Memory, Hash>;
  auto arrays = kernels::arrays_of<Exec, table_type>("count", keys);
  arrays.numbers = kernels::array_of<std::uint32_t, Exec>("count", "numbers", numbers, arrays.n);
  kernels::slab_call<detail::same_operation<slab_operation::count>>(
      exec, "Lanewise::slab_hash::count", "count", const_cast<table_type&>(table), arrays,
      detail::keep_given{}, false, with);
}

/// All values of all keys: values(offsets(i)) ... values(offsets(i + 1) - 1) are those of keys(i),
/// old to new. offsets has one entry more than keys. If values has fewer places than the last
/// offset says, the rest is not written.
///
/// Twice the work of count, and a scan. No kernel may be changing the table. Does not block. Throws
/// as find.
template <class Exec, class Key, class Value, class Memory, class Hash, class Keys, class Offsets,
          class Values>
void find_all(const Exec& exec,
              const slab_hash_table<Key, Value, slab_keys::repeated, Memory, Hash>& table,
              const Keys& keys, const Offsets& offsets, const Values& values,
              workspace* work = nullptr) {
  using table_type = slab_hash_table<Key, Value, slab_keys::repeated, Memory, Hash>;
  using backend = backend_of<Exec>;
  using kernel = kernels::collect_kernel<typename table_type::view_type, Key>;
  auto arrays = kernels::arrays_of<Exec, table_type>("find_all", keys);
  const std::int64_t n = arrays.n;
  const auto begins = kernels::array_of<std::int64_t, Exec>("find_all", "offsets", offsets);
  detail::expects(begins.extent > n, "find_all: offsets has ", begins.extent, " items, keys has ",
                  n, ", offsets needs one more");
  const auto found = kernels::array_of<Value, Exec>("find_all", "values", values);

  const workspace_size scan = scan_workspace<std::int64_t, Exec>(n + 1);
  const std::size_t numbers_bytes = (static_cast<std::size_t>(n + 1) * 4 + 63) / 64 * 64;
  auto temporary = call_workspace::make<backend>(
      exec, work, {scan.tickets, numbers_bytes + scan.bytes}, "find_all");
  arrays.numbers = static_cast<std::uint32_t*>(temporary.get().plain());
  backend::zero(exec, arrays.numbers + n, sizeof(std::uint32_t));
  kernels::slab_call<detail::same_operation<slab_operation::count>>(
      exec, "Lanewise::slab_hash::count", "find_all", const_cast<table_type&>(table), arrays,
      detail::keep_given{}, false, {});
  const auto numbers = array_source<std::uint32_t, identity>{arrays.numbers, n + 1, {}};
  kernels::scan<true, kernels::scan_policy<std::int64_t>>(
      exec, "Lanewise::slab_hash::scan", "find_all", detail::as<std::int64_t>(numbers),
      array_sink<std::int64_t>{begins.data, n + 1}, plus{}, std::int64_t{0}, item_count{n + 1},
      &temporary.get(), numbers_bytes, {scan.tickets, numbers_bytes + scan.bytes});
  const std::int64_t windows = divide_up(n, warp_t<Exec>::width);
  launch(exec, "Lanewise::slab_hash::find_all",
         backend::template resident_league<kernel>(
             exec, divide_up(windows, team_t<Exec, typename kernel::policy>::warps)),
         kernel{table.view(), arrays.keys, begins.data, found.data, n, found.extent});
}

/// An operation of its own for every item: operations is a View of slab_operation (see
/// slab_table_view::apply). values(i) is given to what takes a value, and receives what find finds.
/// The operations of one call run in any order, also those on one key. Cost, growth and errors as
/// insert.
template <class Exec, class Key, class Value, slab_keys kind, class Memory, class Hash,
          class Operations, class Keys, class Values, class Combine = detail::keep_given>
void apply(const Exec& exec, slab_hash_table<Key, Value, kind, Memory, Hash>& table,
           const Operations& operations, const Keys& keys, const Values& values,
           const slab_options& with = {}, const Combine& combine = {}) {
  using table_type = slab_hash_table<Key, Value, kind, Memory, Hash>;
  auto arrays = kernels::arrays_of<Exec, table_type>("apply", keys);
  arrays.operations =
      kernels::array_of<const slab_operation, Exec>("apply", "operations", operations, arrays.n);
  arrays.found = kernels::array_of<Value, Exec>("apply", "values", values, arrays.n);
  arrays.given = arrays.found;
  constexpr bool fitting = detail::fits<Exec, Value, Combine, Value, Value>();
  static_assert(fitting,
                "lanewise::apply: combine is a function object with Value operator()(Value there, "
                "Value given) const");
  if constexpr (fitting)
    kernels::slab_call<detail::each_its_own>(exec, "Lanewise::slab_hash::apply", "apply", table,
                                             arrays, combine, true, with);
}

/// The scalar face of a table for threads of an execution space.
template <class Exec, class Table>
using slab_scalar_face_t =
    slab_scalar_face<typename Table::view_type, typename warp_t<Exec>::template part<1>>;

LANEWISE_END_TARGET_NAMESPACE
