// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/detail/table_call.hpp>
#include <lanewise/ordered/ordered_table.hpp>
#include <lanewise/search/search_index.hpp>

// How the leaves of an ordered table are written where another table was edited: one lane for each
// of their slots, which asks what stands there. Elements that are in order as they are, in arrays
// or in other leaves, are moved line by line (ordered/detail/ordered_leaf_builder.hpp).

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// The number of positions, which do not descend, that are not greater than each of a window of
/// ascending numbers. A warp that goes on from window to window looks only at the positions after
/// those it has passed.
template <class Index>
struct positions_passed {
  const Index* position;
  std::int64_t n;

  /// How many are not greater than x.
  template <class Warp>
  LANEWISE_FUNCTION std::int64_t begin(const Warp& warp, Index x) const {
    return lanewise::partition_point(warp, std::int64_t{0}, n,
                                     [&](std::int64_t i) { return position[i] <= x; });
  }
  /// As `begin`, for every lane; the lanes' numbers ascend up to `last`. `passed` positions are
  /// known not to be greater than any of them; `passed` becomes the number of positions that are
  /// not greater than the last.
  template <class Warp>
  LANEWISE_FUNCTION auto next(const Warp& warp, std::int64_t& passed, const lanes_t<Warp, Index>& x,
                              Index last) const {
    std::int64_t after = passed, step = Warp::width;
    while (after < n && position[after] <= last) {
      after = n - after < step ? n : after + step;
      step *= 2;
    }
    const auto count =
        lanewise::upper_bound(warp, warp.first(Warp::width), position + passed,
                              static_cast<std::uint32_t>(after - passed), x) +
        typename Warp::template lanes<std::uint32_t>(static_cast<std::uint32_t>(passed));
    passed = std::int64_t{warp.broadcast(count, Warp::width - 1)};
    return count;
  }
};

/// Changes of a table, sorted by where they are. Edit j takes `removed` elements away, the first of
/// them at a position of the old table, and puts one there, or none.
template <class Key, class Value>
struct ordered_edits {
  const std::uint32_t* position;  // where in the new table
  const std::uint32_t* after;  // the position after what it puts there: position, or position + 1
  const std::uint32_t*
      forward;  // new position i >= after has the element of old position i + forward
  const Key* keys;
  const typename detail::ordered_layout<Key, Value>::value_word* values;
  std::int64_t n;
};

/// Element i is that of a table after edits.
template <class Key, class Value>
struct edited_elements {
  using view_type = ordered_view<Key, Value>;
  using layout = typename view_type::layout;

  view_type old;
  ordered_edits<Key, Value> edits;

  LANEWISE_FUNCTION positions_passed<std::uint32_t> positions() const {
    return {edits.position, edits.n};
  }
  template <class Warp>
  LANEWISE_FUNCTION std::int64_t begin(const Warp& warp, std::uint32_t first) const {
    return positions().begin(warp, first);
  }
  template <class Warp>
  LANEWISE_FUNCTION void load(const Warp& warp, std::int64_t& passed,
                              mask_t<Warp, std::uint32_t> active, std::uint32_t first,
                              lanes_t<Warp, typename layout::word>& key,
                              lanes_t<Warp, typename layout::value_word>& value) const {
    using numbers = lanes_t<Warp, std::uint32_t>;
    using mask = mask_t<Warp, std::uint32_t>;
    const numbers position = warp.lane() + numbers(first);
    const numbers count = positions().next(warp, passed, position, first + (Warp::width - 1));
    const mask edited = active & (count > 0u);
    const numbers edit = count - numbers(1u);
    const mask put = edited & (position < warp.gather(edited, edits.after, edit, 0u));
    const mask kept = active & !put;
    numbers from = position + warp.gather(edited & kept, edits.forward, edit, 0u);
    // Edits of keys that were said to be sorted, and are not, lead anywhere.
    const mask exists = kept & (from < old.size());
    key =
        lanewise::select(put, detail::bits_of<Key>(warp, warp.gather(put, edits.keys, edit, Key{})),
                         old.key_words(warp, exists, from));
    if constexpr (layout::has_values)
      value = lanewise::select(put,
                               warp.gather(put, edits.values, edit, typename layout::value_word{0}),
                               old.value_words(warp, exists, from));
  }
};

/// Writes all leaves of an edited table and their first keys.
template <class Key, class Value>
struct write_leaves_kernel {
  using policy = window_policy<1>;
  template <class Team>
  struct scratch {};

  using layout = detail::ordered_layout<Key, Value>;
  using word = typename layout::word;
  using value_word = typename layout::value_word;

  edited_elements<Key, Value> source;
  detail::ordered_leaf* leaves;
  word* lows;
  std::uint32_t elements;
  std::uint32_t slots;  // of all leaves

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    using numbers = lanes_t<warp_type, std::uint32_t>;
    constexpr std::uint32_t width = warp_type::width;
    const auto warp = team.warp();
    const index_range mine =
        kernels::share_of_warp(team, divide_up(std::int64_t{slots}, std::int64_t{width}));
    if (mine.begin >= mine.end) return;
    auto state = source.begin(warp, static_cast<std::uint32_t>(mine.begin) * width);
    for (std::int64_t w = mine.begin; w < mine.end; ++w) {
      const std::uint32_t first = static_cast<std::uint32_t>(w) * width;
      lanes_t<warp_type, word> key(layout::padding);
      lanes_t<warp_type, value_word> value(value_word{0});
      source.load(warp, state, warp.first(below(elements, first, width)), first, key, value);
      const numbers position = warp.lane() + numbers(first);
      const auto here = warp.first(below(slots, first, width));
      warp.scatter(here, reinterpret_cast<word*>(leaves),
                   warp.map([](std::uint32_t i) { return layout::key_at(i); }, position), key);
      if constexpr (layout::has_values)
        warp.scatter(here, first_value(),
                     warp.map([](std::uint32_t i) { return layout::value_at(i); }, position),
                     value);
      const auto leaf = warp.map([](std::uint32_t i) { return i / layout::elements; }, position);
      warp.scatter(here & (position == leaf * numbers(layout::elements)), lows, leaf, key);
    }
  }

 private:
  static LANEWISE_FUNCTION int below(std::uint32_t n, std::uint32_t first, std::uint32_t width) {
    return n <= first ? 0 : static_cast<int>(n - first < width ? n - first : width);
  }
  LANEWISE_FUNCTION value_word* first_value() const {
    return reinterpret_cast<value_word*>(reinterpret_cast<char*>(leaves) +
                                         layout::elements * layout::key_bytes);
  }
};

/// Memory of a table as calls have it, in the order of the instance: a View would wait for the
/// device, 60 us for each.
template <class Exec>
std::shared_ptr<char> table_block(const Exec& exec, std::size_t bytes) {
  void* const block = backend_of<Exec>::allocate(exec, bytes);
  std::shared_ptr<char> owned(static_cast<char*>(block),
                              [exec](char* p) { backend_of<Exec>::deallocate(exec, p); });
  detail::use_huge_pages<typename Exec::memory_space>(block, bytes);
  return owned;
}
/// Samples the keys of a table for its search tree.
template <class Exec, class Table>
void sample_lows(const Exec& exec, const Table& table) {
  auto tree = table.tree();
  kernels::sample_keys(exec, tree, table.sampled_lows().samples());
}
/// A table of `elements` elements, whose leaves and their first keys `write(table)` writes. Throws
/// if there cannot be that number of elements.
template <class Table, class Exec, class Write>
Table make_ordered_table(const Exec& exec, const char* name, std::int64_t elements,
                         const Write& write) {
  static_assert(std::is_same_v<typename Exec::memory_space, typename Table::memory_space>,
                "lanewise: an ordered table is changed by instances whose memory space is its own");
  detail::expects(elements <= Table::most_elements, name, ": the table would have ", elements,
                  " elements, the most is ", Table::most_elements);
  const auto n = static_cast<std::uint32_t>(elements);
  if (n == 0) return Table();
  Table table(n, kernels::table_block(exec, Table::bytes_for(n)));
  write(table);
  kernels::sample_lows(exec, table);
  return table;
}

/// A table of the elements of another one after edits.
template <class Table, class Exec, class Key, class Value>
Table make_edited_table(const Exec& exec, const char* name, std::int64_t elements,
                        const edited_elements<Key, Value>& source) {
  using kernel = write_leaves_kernel<Key, Value>;
  return kernels::make_ordered_table<Table>(exec, name, elements, [&](const Table& table) {
    const std::uint32_t slots = table.view().leaves() * Table::layout::elements;
    lanewise::launch(
        exec, "Lanewise::ordered::write_leaves", kernels::league_for_windows<kernel>(exec, slots),
        kernel{source, table.leaves(), table.lows(), static_cast<std::uint32_t>(elements), slots});
  });
}

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
