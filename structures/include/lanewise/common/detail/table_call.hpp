// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/common/detail/table_memory.hpp>
#include <lanewise/common/detail/table_words.hpp>
#include <lanewise/common/table_options.hpp>
#include <lanewise/data/source.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <type_traits>

// What bulk calls on tables have in common: arguments, kernels with an item for each lane, and the
// count of what came of the items.

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// n items in memory of Exec.
template <class T, class Exec>
using items_view = detail::memory_array<T, typename Exec::memory_space>;

struct number_of_item {
  LANEWISE_FUNCTION std::uint32_t operator()(std::int64_t i) const {
    return static_cast<std::uint32_t>(i);
  }
};
template <class T>
struct item_at {
  const T* items;
  LANEWISE_FUNCTION T operator()(const std::uint32_t& i) const { return items[i]; }
};
/// The first items of a View.
template <class View>
auto first_items(const View& v, std::int64_t n) {
  return Kokkos::subview(v, Kokkos::make_pair(std::int64_t{0}, n));
}

/// A View of T that calls of Exec can reach.
template <class T, class Exec, class V>
array_sink<T> array_of(const char* name, const char* which, const V& view) {
  static_assert(Kokkos::is_view_v<V> && std::is_convertible_v<typename V::pointer_type, T*>,
                "lanewise: an array argument is a View of the structure's type of keys or values");
  detail::check_view_type<V>();
  detail::check_reachable<Exec, V>();
  const array_sink<T> array{view.data(), static_cast<std::int64_t>(view.extent(0))};
  detail::expects_memory(array, name, which);
  return array;
}
/// One of as many items as there are keys. Null for std::nullopt.
template <class T, class Exec, class V>
T* array_of(const char* name, const char* which, const V& view, std::int64_t n) {
  if constexpr (std::is_same_v<V, std::nullopt_t>) {
    return nullptr;
  } else {
    const auto array = kernels::array_of<T, Exec>(name, which, view);
    detail::expects(array.extent >= n, name, ": ", which, " has ", array.extent,
                    " items, keys has ", n);
    return array.data;
  }
}
/// The type of the values that go to an output: void where there are none to store.
template <class Value, class Values>
using stored_value = std::conditional_t<Kokkos::is_view_v<Values>, Value, void>;

template <class Exec, class Table>
constexpr void expects_reachable_table() {
  static_assert(Kokkos::SpaceAccessibility<typename Exec::memory_space,
                                           typename Table::memory_space>::accessible,
                "lanewise: this execution space cannot reach the memory of a table");
}

/// The arrays that elements are written to. Where no values are wanted they are null, and have as
/// many items as the keys.
template <class Key, class Value>
struct element_outputs {
  array_sink<Key> keys;
  array_sink<Value> values;

  std::int64_t room() const { return std::min(keys.extent, values.extent); }
  bool are_given() const { return keys.extent > 0 || values.extent > 0; }
  /// Throws std::length_error where there is less room than for n elements.
  void expects_room(const char* name, std::int64_t n) const {
    detail::expects_room(name, "keys_out", keys.extent, n);
    detail::expects_room(name, "values_out", values.extent, n);
  }
};
template <class Table, class Exec, class KeysOut, class ValuesOut>
auto outputs_of(const char* name, const KeysOut& keys_out, const ValuesOut& values_out) {
  using key = typename Table::key_type;
  using value = typename Table::view_type::value_type;
  element_outputs<key, value> to{kernels::array_of<key, Exec>(name, "keys_out", keys_out), {}};
  if constexpr (Kokkos::is_view_v<ValuesOut>) {
    to.values = kernels::array_of<value, Exec>(name, "values_out", values_out);
  } else {
    to.values = {nullptr, to.keys.extent};
  }
  return to;
}

/// The arrays of a bulk call. All but keys may be null.
template <class Key, class Value>
struct call_arrays {
  const Key* keys = nullptr;
  std::int64_t n = 0;
  const table_operation* operations = nullptr;
  const Value* given = nullptr;
  Value* found = nullptr;
  std::uint32_t* numbers = nullptr;

  /// Items [first, first + count).
  call_arrays part(std::int64_t first, std::int64_t count) const {
    const auto from = [first](auto* p) { return p == nullptr ? p : p + first; };
    return {keys + first, count, from(operations), from(given), from(found), from(numbers)};
  }
};
template <class Table>
using table_arrays = call_arrays<typename Table::key_type, typename Table::view_type::value_type>;
template <class Table>
using table_value = typename Table::view_type::value_type;

template <class Exec, class Table, class Keys>
table_arrays<Table> arrays_of(const char* name, const Keys& keys, const char* which = "keys") {
  kernels::expects_reachable_table<Exec, Table>();
  const auto array = kernels::array_of<const typename Table::key_type, Exec>(name, which, keys);
  table_arrays<Table> arrays;
  arrays.keys = array.data;
  arrays.n = array.extent;
  return arrays;
}
/// Those of a call that is given values, too: std::nullopt for sets.
template <class Exec, class Table, class Keys, class Values>
table_arrays<Table> pairs_of(const char* name, const Keys& keys, const Values& values) {
  static_assert(Kokkos::is_view_v<Values> != std::is_void_v<typename Table::mapped_type>,
                "lanewise: values are a View for maps, and std::nullopt for sets");
  auto arrays = kernels::arrays_of<Exec, Table>(name, keys);
  arrays.given =
      kernels::array_of<const table_value<Table>, Exec>(name, "values", values, arrays.n);
  return arrays;
}
/// Those of a call with an operation for every item; values are given and found.
template <class Exec, class Table, class Operations, class Keys, class Values>
table_arrays<Table> arrays_of_apply(const Operations& operations, const Keys& keys,
                                    const Values& values) {
  auto arrays = kernels::arrays_of<Exec, Table>("apply", keys);
  arrays.operations =
      kernels::array_of<const table_operation, Exec>("apply", "operations", operations, arrays.n);
  arrays.found = kernels::array_of<table_value<Table>, Exec>("apply", "values", values, arrays.n);
  arrays.given = arrays.found;
  return arrays;
}
/// Checks what options.status and options.tally are for a call of n items.
template <class Exec, class Options>
void expects_options(const char* name, const Options& options, std::int64_t n) {
  options.status.template expects_reachable<Exec>(name, "options.status", 0);
  options.tally.template expects_reachable<Exec>(name, "options.tally");
  detail::expects(!options.status.is_given() || options.status.extent() >= n, name,
                  ": options.status has ", options.status.extent(), " places, there are ", n,
                  " items");
}
/// Whether combine is one for values of this type. It does not compile where it is not.
template <class Exec, class Value, class Combine>
constexpr bool expects_combine() {
  constexpr bool fitting = detail::fits<Exec, Value, Combine, Value, Value>();
  static_assert(fitting,
                "lanewise: combine is a function object with Value operator()(Value there, Value "
                "given) const");
  return fitting;
}

/// The league for the windows of a warp that `items` items make.
template <class Kernel, class Exec>
auto league_for_windows(const Exec& exec, std::int64_t items) {
  const std::int64_t windows = divide_up(items, std::int64_t{warp_t<Exec>::width});
  return backend_of<Exec>::template resident_league<Kernel>(
      exec, lanewise::divide_up(windows, team_t<Exec, typename Kernel::policy>::warps));
}

/// The part of n windows or lines that a warp of a league takes.
template <class Team>
LANEWISE_FUNCTION index_range share_of_warp(const Team& team, std::int64_t n) {
  return lanewise::even_share(n, std::int64_t{team.index()} * Team::warps + team.warp_index(),
                              std::int64_t{team.league()} * Team::warps);
}
/// Calls f(warp, active, first) for windows of n items: lane l has item first + l.
template <class Team, class F>
LANEWISE_FUNCTION void for_windows(const Team& team, std::int64_t n, const F& f) {
  constexpr std::int64_t width = Team::warp_type::width;
  const auto warp = team.warp();
  const auto mine = team.share(divide_up(n, width));
  for (std::int64_t w = mine.begin + team.warp_index(); w < mine.end; w += Team::warps) {
    const std::int64_t first = w * width, left = n - first;
    f(warp, warp.first(left), first);
  }
}

/// Kernels of windows, with registers for `teams` teams on a multiprocessor.
template <int teams>
struct window_policy : launch_policy {
  static constexpr int teams_per_multiprocessor = teams;
  static constexpr int host_teams_per_thread = 16;
};

/// body(warp, active, first) for windows of n items.
template <class Body, int teams = 1>
struct windows_kernel {
  using policy = window_policy<teams>;
  template <class Team>
  struct scratch {};

  Body body;
  std::int64_t n;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    kernels::for_windows(team, n, body);
  }
};

template <int teams = 1, class Exec, class Body>
void launch_windows(const Exec& exec, const char* label, std::int64_t n, const Body& body) {
  using kernel = windows_kernel<Body, teams>;
  if (n > 0)
    lanewise::launch(exec, label, kernels::league_for_windows<kernel>(exec, n), kernel{body, n});
}

/// What came of the items of a warp: lane s knows how often status s did.
template <class Warp>
class warp_tally {
 public:
  using numbers = lanes_t<Warp, std::uint32_t>;

  /// `status` has numbers of table_status.
  template <class Mask>
  LANEWISE_FUNCTION void add(const Warp& warp, Mask active, const numbers& status) {
    came_ = came_ + warp.histogram(active, status, statuses);
  }
  /// Items without room are counted in `lacking`, unless it is null, and all others in `tally`.
  LANEWISE_FUNCTION void add_up(const Warp& warp, status_counts* tally,
                                std::uint64_t* lacking = nullptr) const {
    constexpr auto no_room = static_cast<std::uint32_t>(table_status::no_room);
    auto told =
        warp.template mask_of<std::uint32_t>((1u << statuses) - 2);  // not table_status::none
    if (lacking != nullptr) {
      const std::uint32_t without_room = warp.broadcast(came_, static_cast<int>(no_room));
      if (without_room != 0) warp.fetch_add(*lacking, std::uint64_t{without_room});
      told = told & (warp.lane() != no_room);
    }
    if (tally != nullptr)
      warp.fetch_add(told & (came_ != 0u), tally->count, warp.lane(),
                     warp.template cast<std::uint64_t>(came_));
  }

 private:
  static constexpr int statuses = 8;
  numbers came_{0u};
};

struct tally_kernel {
  using policy = launch_policy;
  template <class Team>
  struct scratch {};

  const table_status* status;
  std::int64_t n;
  status_counts* tally;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    warp_tally<typename Team::warp_type> came;
    kernels::for_windows(team, n, [&](const auto& warp, const auto& active, std::int64_t first) {
      came.add(warp, active,
               detail::numbers_of(warp, warp.load(active, status + first, table_status::none)));
    });
    came.add_up(team.warp(), tally);
  }
};
/// Adds up n statuses, unless tally is null.
template <class Exec>
void tally_statuses(const Exec& exec, const table_status* status, std::int64_t n,
                    status_counts* tally) {
  if (tally != nullptr)
    lanewise::launch(exec, "Lanewise::table::tally",
                     kernels::league_for_windows<tally_kernel>(exec, n),
                     tally_kernel{status, n, tally});
}

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
