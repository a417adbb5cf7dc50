// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/operators.hpp>
#include <lanewise/data/source.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

// Which items of a source are kept. `side` says what the answer depends on beside the item itself:
// the item before it (-1), the item after it (+1), or nothing (0).

/// Items for which keep(item) holds.
template <class Predicate>
struct selected_where {
  static constexpr int side = 0;
  Predicate keep;

  template <class T>
  LANEWISE_FUNCTION bool operator()(const T& item) const {
    return keep(item);
  }
};

/// Items whose flag is not zero.
template <class Flags>
struct selected_by_flags {
  static constexpr int side = 0;
  Flags flags;
};

/// Whether equal items have the same bits, so that any item of a run stands for it. Not numbers in
/// floating point: zeros differ in their signs.
template <class T, class Equal>
inline constexpr bool are_interchangeable = std::is_same_v<Equal, equal_to> &&
                                            (std::is_integral_v<T> || std::is_enum_v<T>);

/// Items that differ from their neighbour on that side; an item without a neighbour is kept.
template <int side_, class Equal>
struct selected_where_differing {
  static constexpr int side = side_;
  Equal equal;

  template <class T>
  LANEWISE_FUNCTION bool operator()(const T& item, const T& neighbour) const {
    return side < 0 ? !equal(neighbour, item) : !equal(item, neighbour);
  }
};

/// Items whose key differs from the key before; used where items are values beside keys.
template <class Keys, class Equal>
struct key_differing {
  static constexpr int side = -1;
  static constexpr bool any_key_will_do = are_interchangeable<typename Keys::value_type, Equal>;
  Keys keys;
  Equal equal;
};

template <class Selector>
inline constexpr bool is_flagged = false;
template <class Flags>
inline constexpr bool is_flagged<selected_by_flags<Flags>> = true;

template <class Selector>
inline constexpr bool is_keyed = false;
template <class Keys, class Equal>
inline constexpr bool is_keyed<key_differing<Keys, Equal>> = true;

/// Whether item i of the first n of a source is kept.
template <class Selector, class Source>
LANEWISE_FUNCTION bool is_selected(const Selector& marks, const Source& source, std::int64_t i,
                                   std::int64_t n) {
  if constexpr (is_flagged<Selector>) {
    return marks.flags(i) != typename decltype(marks.flags)::value_type(0);
  } else if constexpr (is_keyed<Selector>) {
    return i == 0 || !marks.equal(marks.keys(i - 1), marks.keys(i));
  } else if constexpr (Selector::side == 0) {
    return marks(source(i));
  } else {
    const std::int64_t neighbour = i + Selector::side;
    return neighbour < 0 || neighbour >= n || marks(source(i), source(neighbour));
  }
}

// What is written for every kept item, in order. The k-th kept item goes to place k of its sink.

struct no_column {
  static constexpr bool in_place = false;
  static constexpr bool needs_item = false;
  static constexpr bool needs_index = false;
  static constexpr bool needs_rejected = false;
  static constexpr bool needs_previous = false;
  static constexpr bool is_of_runs = false;
};

/// The item itself.
template <class Sink>
struct selected_items : no_column {
  static constexpr bool needs_item = true;
  using sink_type = Sink;
  Sink sink;
  LANEWISE_FUNCTION explicit selected_items(const Sink& s) : sink(s) {}
};

/// The item itself, where the sink is the array that items come from. A tile's items are read
/// before its total is published, and that orders memory: tiles after it, which write to the places
/// of its items, have acquired the total. A tile whose items all stay where they are writes
/// nothing: the next tile may be reading the last of them.
template <class Sink>
struct items_in_place : selected_items<Sink> {
  static constexpr bool in_place = true;
  using selected_items<Sink>::selected_items;
};

/// The items that are not kept.
template <class Sink>
struct rejected_items : no_column {
  static constexpr bool needs_rejected = true;
  using sink_type = Sink;
  Sink sink;
  LANEWISE_FUNCTION explicit rejected_items(const Sink& s) : sink(s) {}
};

/// The item of another source at the kept item's index.
template <class Source, class Sink>
struct selected_values : no_column {
  static constexpr bool needs_index = true;
  Source source;
  using sink_type = Sink;
  Sink sink;
  LANEWISE_FUNCTION selected_values(const Source& from, const Sink& to) : source(from), sink(to) {}
};

/// How far the kept item lies after the kept item before it; the first one, after index -1.
template <class Sink>
struct selected_distances : no_column {
  static constexpr bool needs_index = true;
  static constexpr bool needs_previous = true;
  using sink_type = Sink;
  Sink sink;
  LANEWISE_FUNCTION explicit selected_distances(const Sink& s) : sink(s) {}
};

/// The item of the source after the kept item before it, which is the first of the run that ends
/// with the kept item. The source is that of the items.
template <class Source, class Sink>
struct selected_run_begins : no_column {
  static constexpr bool needs_index = true;
  static constexpr bool needs_previous = true;
  static constexpr bool is_of_runs = true;
  Source source;
  using sink_type = Sink;
  Sink sink;
  LANEWISE_FUNCTION selected_run_begins(const Source& from, const Sink& to)
      : source(from), sink(to) {}
};

/// How many items were kept, and the index after the last of them, 0 when there is none. Twelve
/// bytes: a word of the chain. Indices stay below 2^48.
struct selection_state {
  std::uint32_t count_low;
  std::uint32_t end_low;
  std::uint16_t count_high;
  std::uint16_t end_high;

  static LANEWISE_FUNCTION selection_state of(std::int64_t count, std::int64_t end) {
    return {static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(end),
            static_cast<std::uint16_t>(count >> 32), static_cast<std::uint16_t>(end >> 32)};
  }
  LANEWISE_FUNCTION std::int64_t count() const {
    return std::int64_t{count_high} << 32 | count_low;
  }
  LANEWISE_FUNCTION std::int64_t end() const { return std::int64_t{end_high} << 32 | end_low; }
};

struct add_selections {
  LANEWISE_FUNCTION selection_state operator()(const selection_state& a,
                                               const selection_state& b) const {
    return selection_state::of(a.count() + b.count(), b.end() != 0 ? b.end() : a.end());
  }
};

/// The state without the index, for columns that do not ask for it.
struct selection_count {
  std::int64_t number;

  static LANEWISE_FUNCTION selection_count of(std::int64_t count, std::int64_t) { return {count}; }
  LANEWISE_FUNCTION std::int64_t count() const { return number; }
  LANEWISE_FUNCTION std::int64_t end() const { return 0; }
};

struct add_selection_counts {
  LANEWISE_FUNCTION selection_count operator()(const selection_count& a,
                                               const selection_count& b) const {
    return {a.number + b.number};
  }
};

/// As selection_count, for columns in place.
struct ordered_selection_count {
  static constexpr bool orders_memory = true;
  std::int64_t number;

  static LANEWISE_FUNCTION ordered_selection_count of(std::int64_t count, std::int64_t) {
    return {count};
  }
  LANEWISE_FUNCTION std::int64_t count() const { return number; }
  LANEWISE_FUNCTION std::int64_t end() const { return 0; }
};

struct add_ordered_selection_counts {
  LANEWISE_FUNCTION ordered_selection_count operator()(const ordered_selection_count& a,
                                                       const ordered_selection_count& b) const {
    return {a.number + b.number};
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
