// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/ordered/detail/ordered_leaves.hpp>

// How elements that are in order move from lines of one length to leaves of another: from arrays to
// the leaves of an ordered table, from these to the leaves of a B+ tree, and back. Every line knows
// the position of its first element, so that lines are independent. A sub-warp loads a line, keys
// and values with an instruction each. It stores the line in pieces, one for each leaf that it
// falls into. In an example a source's lines have 5 elements, and leaves have 3:
//
//   line     0              1              2
//   position 0 1 2  3 4     5  6 7 8  9    10 11  12 ...
//   leaf     0      1          2      3           4
//
// Line 1 is stored in three pieces: one element after those of line 0 in leaf 1, three that are
// leaf 2, one that begins leaf 3. The lane that begins a leaf writes its first key among those
// of the search tree.

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// `count` elements of a line, which go to positions from `position` on.
struct line_part {
  std::uint32_t position;
  int count;

  /// The part of this line that has `most` elements at most, from element `from` on.
  LANEWISE_FUNCTION line_part cut(int from, int most) const {
    const int left = count > from ? count - from : 0;
    return {position + static_cast<std::uint32_t>(from), left < most ? left : most};
  }
};

// Sources. `width` lanes hold a line; load() gives a sub-warp the part of a line from an element
// on.

/// Arrays in order.
template <class Key, class Value>
struct arrays_as_lines {
  using layout = detail::ordered_layout<Key, Value>;
  using value_type = typename ordered_view<Key, Value>::value_type;
  static constexpr int width = 16;
  const Key* keys;
  const value_type* values;
  std::int64_t n;

  LANEWISE_FUNCTION std::int64_t lines() const { return divide_up(n, std::int64_t{width}); }
  template <class Warp>
  LANEWISE_FUNCTION line_part load(const Warp& warp, std::int64_t line, int from,
                                   lanes_t<Warp, typename layout::word>& key,
                                   lanes_t<Warp, typename layout::value_word>& value) const {
    const std::int64_t first = line * width, left = n - first;
    const auto part =
        line_part{static_cast<std::uint32_t>(first), static_cast<int>(left < width ? left : width)}
            .cut(from, Warp::width);
    const auto exists = warp.first(part.count);
    key = detail::bits_of<Key>(warp, warp.load(exists, keys + part.position, Key{}));
    if constexpr (layout::has_values)
      value = warp.map(
          [](const value_type& v) { return detail::to_word<typename layout::value_word>(v); },
          warp.load(exists, values + part.position, value_type{}));
    return part;
  }
};

/// The leaves of an ordered table.
template <class Key, class Value>
struct table_as_lines {
  using view_type = ordered_view<Key, Value>;
  using layout = typename view_type::layout;
  static constexpr int width = layout::elements > 16 ? 32 : layout::elements > 8 ? 16 : 8;
  view_type table;

  LANEWISE_FUNCTION std::int64_t lines() const { return std::int64_t{table.leaves()}; }
  template <class Warp>
  LANEWISE_FUNCTION line_part load(const Warp& warp, std::int64_t line, int from,
                                   lanes_t<Warp, typename layout::word>& key,
                                   lanes_t<Warp, typename layout::value_word>& value) const {
    const auto first = static_cast<std::uint32_t>(line) * layout::elements;
    const std::uint32_t left = table.size() - first;
    const auto part =
        line_part{first, static_cast<int>(left < layout::elements ? left : layout::elements)}.cut(
            from, Warp::width);
    const auto exists = warp.first(part.count);
    key = warp.load(exists, table.keys_from(part.position), typename layout::word{0});
    if constexpr (layout::has_values)
      value = warp.load(exists, table.values_from(part.position), typename layout::value_word{0});
    return part;
  }
};

// Targets: leaves of `elements` elements each.

/// Those of an ordered table. After the last element there are keys of ones.
template <class Key, class Value>
struct ordered_target {
  using layout = detail::ordered_layout<Key, Value>;
  using word = typename layout::word;
  using value_word = typename layout::value_word;
  static constexpr std::uint32_t elements = layout::elements;
  detail::ordered_leaf* leaves;
  word* lows;
  std::uint32_t n;

  template <class Warp>
  LANEWISE_FUNCTION void begin(const Warp& warp) const {
    const std::uint32_t after = n % elements;
    if (after == 0) return;
    for (std::uint32_t i = after; i < elements; i += Warp::width) {
      const auto left = warp.first(static_cast<int>(elements - i));
      warp.store(left, key_from(n / elements, i),
                 typename Warp::template lanes<word>(layout::padding));
      if constexpr (layout::has_values)
        warp.store(left, value_from(n / elements, i),
                   typename Warp::template lanes<value_word>(value_word{0}));
    }
  }
  /// Lane first_lane + j has element i + j of a leaf.
  template <class Warp, class Mask, class Keys, class Values>
  LANEWISE_FUNCTION void store(const Warp& warp, Mask exists, std::uint32_t leaf, std::uint32_t i,
                               int first_lane, const Keys& key, const Values& value) const {
    warp.store(exists, key_from(leaf, i) - first_lane, key);
    if constexpr (layout::has_values) warp.store(exists, value_from(leaf, i) - first_lane, value);
  }
  template <class Warp>
  LANEWISE_FUNCTION void begin_leaf(const Warp&, std::uint32_t) const {}

 private:
  LANEWISE_FUNCTION word* key_from(std::uint32_t leaf, std::uint32_t i) const {
    return reinterpret_cast<word*>(leaves + leaf) + i;
  }
  LANEWISE_FUNCTION value_word* value_from(std::uint32_t leaf, std::uint32_t i) const {
    return reinterpret_cast<value_word*>(reinterpret_cast<char*>(leaves + leaf) +
                                         elements * layout::key_bytes) +
           i;
  }
};

/// Moves all lines of a source to a target.
template <class Source, class Target>
struct move_lines_kernel {
  struct policy : launch_policy {
    static constexpr int host_teams_per_thread = 16;
  };
  template <class Team>
  struct scratch {};

  Source source;
  Target target;

  /// How many lanes move a line, or a part of one, and how many lines a warp moves at a time.
  template <class Warp>
  static constexpr int lanes = Source::width < Warp::width ? Source::width : Warp::width;
  template <class Warp>
  static LANEWISE_FUNCTION std::int64_t windows(std::int64_t lines) {
    return divide_up(lines, std::int64_t{Warp::width / lanes<Warp>});
  }

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    constexpr int width = lanes<warp_type>, lines_of_warp = warp_type::width / width;
    const auto warp = team.warp();
    if (team.index() == 0 && team.warp_index() == 0) target.begin(warp);
    const std::int64_t lines = source.lines();
    const index_range mine = kernels::share_of_warp(team, windows<warp_type>(lines));
    const auto number = warp.map([](std::uint32_t lane) { return lane / width; }, warp.lane());
    for (std::int64_t w = mine.begin; w < mine.end; ++w)
      warp.template split<width>([&](const auto& sub) LANEWISE_INLINE_LAMBDA {
        const std::int64_t line = w * lines_of_warp + sub.broadcast(sub.take(number), 0);
        if (line < lines)
          for (int from = 0; from < Source::width; from += width) move(sub, line, from);
      });
  }

 private:
  template <class Warp>
  LANEWISE_FUNCTION void move(const Warp& warp, std::int64_t line, int from) const {
    lanes_t<Warp, typename Target::word> key;
    lanes_t<Warp, typename Target::value_word> value;
    const line_part part = source.load(warp, line, from, key, value);
    for (int done = 0; done < part.count;) {
      const std::uint32_t position = part.position + static_cast<std::uint32_t>(done);
      const std::uint32_t leaf = position / Target::elements, i = position % Target::elements;
      const int end = done + static_cast<int>(Target::elements - i);
      const auto exists = warp.first(end < part.count ? end : part.count) & !warp.first(done);
      target.store(warp, exists, leaf, i, done, key, value);
      if (i == 0) {
        warp.scatter(exists & warp.first(done + 1), target.lows,
                     typename Warp::template lanes<std::uint32_t>(leaf), key);
        target.begin_leaf(warp, leaf);
      }
      done = end;
    }
  }
};
template <class Exec, class Source, class Target>
void move_lines(const Exec& exec, const char* name, const Source& source, const Target& target) {
  using kernel = move_lines_kernel<Source, Target>;
  const std::int64_t windows = kernel::template windows<warp_t<Exec>>(source.lines());
  lanewise::launch(exec, name,
                   backend_of<Exec>::template resident_league<kernel>(
                       exec, lanewise::divide_up(std::max(windows, std::int64_t{1}),
                                                 team_t<Exec, typename kernel::policy>::warps)),
                   kernel{source, target});
}

/// A table of the `elements` elements in the lines of a source.
template <class Table, class Exec, class Source>
Table make_table_of_lines(const Exec& exec, const char* name, std::int64_t elements,
                          const Source& source) {
  return kernels::make_ordered_table<Table>(exec, name, elements, [&](const Table& table) {
    using target = ordered_target<typename Table::key_type, typename Table::mapped_type>;
    kernels::move_lines(exec, "Lanewise::ordered::move_lines", source,
                        target{table.leaves(), table.lows(), static_cast<std::uint32_t>(elements)});
  });
}

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
