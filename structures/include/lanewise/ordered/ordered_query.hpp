// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/table_queries.hpp>
#include <lanewise/common/table_scalar_face.hpp>
#include <lanewise/ordered/detail/ordered_batch.hpp>

#include <optional>

// Bulk calls that read ordered tables, beside those of common/table_queries.hpp. They do not block
// unless they return something, and may run beside each other, and beside changes of other copies
// of the table.

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

template <bool upper>
struct bound_query {
  static constexpr const char* label =
      upper ? "Lanewise::ordered::upper_bound" : "Lanewise::ordered::lower_bound";
  static constexpr bool right = upper;
  std::int64_t* positions;
  template <class Warp, class View, class Active, class Leaves, class Keys>
  LANEWISE_FUNCTION auto operator()(const Warp& warp, const View& table, const Active& active,
                                    const Leaves& leaf, std::int64_t first, const Keys& key) const {
    const auto position = table.template bound_at<upper>(warp, active, leaf, key);
    warp.store(active, positions + first, warp.template cast<std::int64_t>(position));
    return typename Warp::template lanes<table_status>(table_status::none);
  }
};

template <bool upper, class Exec, class Table, class Keys, class Positions>
void find_bounds(const Exec& exec, const char* name, const Table& table, const Keys& keys,
                 const Positions& positions) {
  const auto arrays = kernels::arrays_of<Exec, Table>(name, keys);
  auto* const to = kernels::array_of<std::int64_t, Exec>(name, "positions", positions, arrays.n);
  kernels::query_table(exec, name, table, arrays, bound_query<upper>{to}, table_options{});
}

struct count_query {
  static constexpr const char* label = "Lanewise::ordered::count";
  static constexpr bool right = false;
  std::uint32_t* numbers;
  template <class Warp, class View, class Active, class Leaves, class Keys>
  LANEWISE_FUNCTION auto operator()(const Warp& warp, const View& table, const Active& active,
                                    const Leaves& leaf, std::int64_t first, const Keys& key) const {
    const auto number = table.upper_bound(warp, active, key) -
                        table.template bound_at<false>(warp, active, leaf, key);
    warp.store(active, numbers + first, number);
    return detail::found_where<Warp>(warp, active, active & (number > 0u));
  }
};

/// f(position, key, value) for elements from position `first` on, or f(position, key) of a set.
template <class View, class F>
struct visit_elements_body {
  View table;
  std::uint32_t first;
  F f;

  template <class Warp, class Mask>
  LANEWISE_FUNCTION void operator()(const Warp& warp, const Mask& active,
                                    std::int64_t begin) const {
    using numbers = lanes_t<Warp, std::uint32_t>;
    numbers position = warp.lane() + numbers(first + static_cast<std::uint32_t>(begin));
    auto key = table.key(warp, active, position);
    if constexpr (View::layout::has_values) {
      auto value = table.value(warp, active, position);
      warp.each(
          active,
          [this](std::uint32_t i, const auto& k, const auto& v) { f(std::int64_t{i}, k, v); },
          position, key, value);
    } else {
      warp.each(
          active, [this](std::uint32_t i, const auto& k) { f(std::int64_t{i}, k); }, position, key);
    }
  }
};

template <class Exec, class Table, class F>
void visit_elements(const Exec& exec, const Table& table, std::int64_t first, std::int64_t last,
                    const F& f) {
  kernels::launch_windows(exec, "Lanewise::ordered::visit", last - first,
                          visit_elements_body<typename Table::view_type, F>{
                              table.view(), static_cast<std::uint32_t>(first), f});
}

/// Stores elements from position `first` on.
template <class Key, class Value>
struct store_element {
  Key* keys;
  Value* values;  // null for none
  std::int64_t first;
  LANEWISE_FUNCTION void operator()(std::int64_t i, const Key& k, const Value& v) const {
    keys[i - first] = k;
    if (values != nullptr) values[i - first] = v;
  }
  LANEWISE_FUNCTION void operator()(std::int64_t i, const Key& k) const { keys[i - first] = k; }
};

template <class Exec, class Table, class KeysOut, class ValuesOut>
std::int64_t store_elements(const Exec& exec, const char* name, const Table& table,
                            std::int64_t last, const KeysOut& keys_out,
                            const ValuesOut& values_out) {
  using value = typename Table::view_type::value_type;
  const auto to = kernels::outputs_of<Table, Exec>(name, keys_out, values_out);
  kernels::visit_elements(
      exec, table, 0, std::min(last, to.room()),
      store_element<typename Table::key_type, value>{to.keys.data, to.values.data, 0});
  to.expects_room(name, last);
  return last;
}

/// How many elements have keys in [keys, lasts], and where the first of them is.
template <class Key>
struct measure_range {
  static constexpr const char* label = "Lanewise::ordered::measure_range";
  static constexpr bool right = false;
  const Key* lasts;
  std::int64_t* positions;
  std::int64_t* lengths;
  template <class Warp, class View, class Active, class Leaves, class Keys>
  LANEWISE_FUNCTION auto operator()(const Warp& warp, const View& table, const Active& active,
                                    const Leaves& leaf, std::int64_t first, const Keys& key) const {
    const auto begin = table.template bound_at<false>(warp, active, leaf, key);
    const auto end = table.upper_bound(warp, active, warp.load(active, lasts + first, Key{}));
    const auto length =
        warp.map([](std::uint32_t b, std::uint32_t e) { return std::int64_t{e > b ? e - b : 0}; },
                 begin, end);
    warp.store(active, positions + first, warp.template cast<std::int64_t>(begin));
    warp.store(active, lengths + first, length);
    return detail::found_where<Warp>(warp, active, active & (begin < end));
  }
};

/// The elements of ranges one after the other: outputs [0, n), in which range r begins at
/// offsets[r]. Warps take equal parts of the outputs, whatever the ranges' lengths are.
template <class Table>
struct write_ranges_kernel {
  using policy = window_policy<1>;
  template <class Team>
  struct scratch {};

  using view_type = typename Table::view_type;
  using key_type = typename Table::key_type;
  using value_type = typename view_type::value_type;

  view_type table;
  const std::int64_t* offsets;
  const std::int64_t* positions;
  std::int64_t ranges;
  std::int64_t n;
  key_type* keys;
  value_type* values;  // null for none

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    using numbers = lanes_t<warp_type, std::uint32_t>;
    using indices = lanes_t<warp_type, std::int64_t>;
    constexpr int width = warp_type::width;
    const auto warp = team.warp();
    const index_range mine = kernels::share_of_warp(team, divide_up(n, width));
    if (mine.begin >= mine.end) return;
    const positions_passed<std::int64_t> begins{offsets, ranges};
    std::int64_t passed = begins.begin(warp, mine.begin * width);
    for (std::int64_t w = mine.begin; w < mine.end; ++w) {
      const std::int64_t first = w * width;
      const auto active = warp.first(n - first);
      const indices output = warp.template cast<std::int64_t>(warp.lane()) + indices(first);
      const numbers range = begins.next(warp, passed, output, first + (width - 1)) - numbers(1u);
      const auto position = warp.template cast<std::uint32_t>(
          output - warp.gather(active, offsets, range, std::int64_t{0}) +
          warp.gather(active, positions, range, std::int64_t{0}));
      warp.store(active, keys + first, table.key(warp, active, position));
      if constexpr (view_type::layout::has_values) {
        if (values != nullptr)
          warp.store(active, values + first, table.value(warp, active, position));
      }
    }
  }
};

}  // namespace kernels

/// positions(i) = the position of the first element whose key is not less than keys(i); size()
/// where there is none. This is the number of keys that are less (the rank of keys(i)). Cost and
/// errors as find.
template <class Exec, any_ordered_table Table, class Keys, class Positions>
void lower_bound(const Exec& exec, const Table& table, const Keys& keys,
                 const Positions& positions) {
  kernels::find_bounds<false>(exec, "lower_bound", table, keys, positions);
}
/// As `lower_bound`, for the first element whose key is greater.
template <class Exec, any_ordered_table Table, class Keys, class Positions>
void upper_bound(const Exec& exec, const Table& table, const Keys& keys,
                 const Positions& positions) {
  kernels::find_bounds<true>(exec, "upper_bound", table, keys, positions);
}

/// positions(i) = how many keys are less than keys(i): lower_bound by the name that says so.
template <class Exec, any_ordered_table Table, class Keys, class Positions>
void rank(const Exec& exec, const Table& table, const Keys& keys, const Positions& positions) {
  lanewise::lower_bound(exec, table, keys, positions);
}
/// firsts(i) and lasts(i) = the lower and the upper bound of keys(i): the elements at positions
/// [firsts(i), lasts(i)) have that key. Two calls.
template <class Exec, any_ordered_table Table, class Keys, class Firsts, class Lasts>
void equal_range(const Exec& exec, const Table& table, const Keys& keys, const Firsts& firsts,
                 const Lasts& lasts) {
  lanewise::lower_bound(exec, table, keys, firsts);
  lanewise::upper_bound(exec, table, keys, lasts);
}

/// numbers(i) = how many elements have the key keys(i). Cost and errors as find.
template <class Exec, any_ordered_table Table, class Keys, class Numbers>
void count(const Exec& exec, const Table& table, const Keys& keys, const Numbers& numbers,
           const table_options& options = {}) {
  const auto arrays = kernels::arrays_of<Exec, Table>("count", keys);
  auto* const to = kernels::array_of<std::uint32_t, Exec>("count", "numbers", numbers, arrays.n);
  kernels::query_table(exec, "count", table, arrays, kernels::count_query{to}, options);
}

/// The elements with keys in [firsts(i), lasts(i)], in order, are keys_out(j) and values_out(j) for
/// j in [offsets(i), offsets(i + 1)). Returns how many there are in all, offsets(n): outputs
/// without any places ask for that number. offsets is a View of std::int64_t with n + 1 items. A
/// range with lasts(i) < firsts(i) is empty. values_out is std::nullopt for sets, or where values
/// are not wanted.
///
/// Two searches for each range, a scan, and one read and write for each output, in equal parts for
/// all warps. Memory for 16 bytes per range. **Blocks.** Errors as find, and std::length_error
/// where an output that has places has fewer than there are results: the first are written, offsets
/// tell about all.
template <class Exec, any_ordered_table Table, class Firsts, class Lasts, class Offsets,
          class KeysOut, class ValuesOut = std::nullopt_t>
std::int64_t range(const Exec& exec, const Table& table, const Firsts& firsts, const Lasts& lasts,
                   const Offsets& offsets, const KeysOut& keys_out,
                   const ValuesOut& values_out = std::nullopt, const table_options& options = {}) {
  using key = typename Table::key_type;
  const auto arrays = kernels::arrays_of<Exec, Table>("range", firsts, "firsts");
  const std::int64_t n = arrays.n;
  const key* const ends = kernels::array_of<const key, Exec>("range", "lasts", lasts, n);
  std::int64_t* const begins =
      kernels::array_of<std::int64_t, Exec>("range", "offsets", offsets, n + 1);
  const auto to = kernels::outputs_of<Table, Exec>("range", keys_out, values_out);
  workspace_layout parts;
  const auto position_array = parts.add<std::int64_t>(n);
  const auto length_array = parts.add<std::int64_t>(n + 1);
  auto work = call_workspace::make<backend_of<Exec>>(exec, options.work, parts.size(), "range");
  const auto positions = position_array.template view<Exec>(work.get());
  const auto lengths = length_array.template view<Exec>(work.get());
  backend_of<Exec>::zero(exec, lengths.data() + n, sizeof(std::int64_t));
  kernels::query_table(exec, "range", table, arrays,
                       kernels::measure_range<key>{ends, positions.data(), lengths.data()},
                       options);
  lanewise::exclusive_scan(exec, lengths, kernels::items_view<std::int64_t, Exec>(begins, n + 1),
                           plus{}, std::int64_t{0});
  std::int64_t wanted = 0;
  detail::copy_to_host<std::int64_t>(exec, &wanted, begins + n);
  const std::int64_t outputs = std::min(wanted, to.room());
  using kernel = kernels::write_ranges_kernel<Table>;
  if (outputs > 0)
    lanewise::launch(
        exec, "Lanewise::ordered::range", kernels::league_for_windows<kernel>(exec, outputs),
        kernel{table.view(), begins, positions.data(), n, outputs, to.keys.data, to.values.data});
  if (to.are_given()) to.expects_room("range", wanted);
  return wanted;
}

/// Calls f(position, key, value), or f(position, key) for a set, for every element; position is its
/// std::int64_t number in the order. By many threads, in any order. Reads all leaves. Does not
/// block.
template <class Exec, any_ordered_table Table, class F>
void for_each(const Exec& exec, const Table& table, const F& f) {
  kernels::visit_elements(exec, table, 0, table.size(), f);
}

/// keys_out(i) and values_out(i) = the elements in order. Returns how many elements there are.
/// values_out as in range. Does not block. Throws std::length_error where an output has fewer
/// places than there are elements: the first are written.
template <class Exec, any_ordered_table Table, class KeysOut, class ValuesOut = std::nullopt_t>
std::int64_t to_sorted(const Exec& exec, const Table& table, const KeysOut& keys_out,
                       const ValuesOut& values_out = std::nullopt) {
  return kernels::store_elements(exec, "to_sorted", table, table.size(), keys_out, values_out);
}

/// The element at a position, or nothing where there is none. **Blocks.**
template <class Key, class Value>
struct ordered_element {
  Key key;
  Value value;
};
template <class Exec, any_ordered_table Table>
auto element_at(const Exec& exec, const Table& table, std::int64_t position) {
  using key = typename Table::key_type;
  using value = typename Table::view_type::value_type;
  using element = ordered_element<key, value>;
  std::optional<element> result;
  if (position < 0 || position >= table.size()) return result;
  result = kernels::blocking_result<element>(exec, [&](const auto& to) {
    kernels::visit_elements(
        exec, table, position, position + 1,
        kernels::store_element<key, value>{&to.data()->key, &to.data()->value, position});
  });
  return result;
}
/// The elements with the least and the greatest key, or nothing where there is none. **Block.**
template <class Exec, any_ordered_table Table>
auto first(const Exec& exec, const Table& table) {
  return lanewise::element_at(exec, table, 0);
}
template <class Exec, any_ordered_table Table>
auto last(const Exec& exec, const Table& table) {
  return lanewise::element_at(exec, table, table.size() - 1);
}

LANEWISE_END_TARGET_NAMESPACE

LANEWISE_BEGIN_NAMESPACE

/// How an ordered table is filled.
struct ordered_statistics {
  std::int64_t elements = 0;
  std::int64_t leaves = 0;
  int height = 0;          ///< nodes that a search reads, the leaf included
  double fill = 0;         ///< elements / slots of the leaves
  std::int64_t bytes = 0;  ///< of leaves and index
  double bytes_per_element = 0;
};

/// Needs no device.
template <any_ordered_table Table>
ordered_statistics statistics(const Table& table) {
  using layout = typename Table::layout;
  ordered_statistics s;
  s.elements = table.size();
  s.leaves = table.view().leaves();
  s.height = table.height();
  s.bytes = table.bytes();
  if (s.elements > 0) {
    s.fill = static_cast<double>(s.elements) / static_cast<double>(s.leaves * layout::elements);
    s.bytes_per_element = static_cast<double>(s.bytes) / static_cast<double>(s.elements);
  }
  return s;
}

LANEWISE_END_NAMESPACE
