// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/strings/detail/multi_pattern_automaton.hpp>
#include <lanewise/strings/detail/multi_pattern_normal_form.hpp>
#include <lanewise/strings/detail/multi_pattern_probe_windows.hpp>
#include <lanewise/strings/detail/multi_pattern_short_tables.hpp>
#include <lanewise/strings/detail/multi_pattern_transitions.hpp>
#include <lanewise/strings/detail/multi_pattern_view.hpp>
#include <lanewise/strings/detail/multi_pattern_windows.hpp>
#include <lanewise/strings/pattern.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// A set in one block of memory: where each array begins, in words of 4 bytes.
struct multi_pattern_image {
  pattern_set_view view{};  ///< without addresses
  std::size_t size = 0, record = 0, prefix = 0, number = 0, ids_from = 0, ids = 0, rank_of = 0,
              records = 0, filter = 0, slots = 0, entries = 0, probes_filter = 0, probes_slots = 0,
              probes_entries = 0, window_rows = 0, short_rows = 0, pairs = 0, triples = 0,
              states = 0, labels = 0, roots = 0, groups = 0, longs = 0, classes = 0,
              transitions = 0;
  std::vector<std::uint32_t> memory;

  multi_pattern_image() = default;
  multi_pattern_image(const multi_pattern_normal_form& set, bool folds_case) {
    const std::uint32_t letters = folds_case ? pattern_filter::folded : ~0u;
    const std::vector<std::uint32_t> record_of = put_patterns(set);
    const multi_pattern_windows windows(set, letters, record_of);
    const multi_pattern_probe_windows probes(set, letters, record_of);
    const multi_pattern_short_tables shorts(set);
    const multi_pattern_automaton automaton(set);
    const multi_pattern_transitions by_bytes(set, automaton, folds_case);
    view.ranks = set.ranks();
    view.kinds = windows.kinds;
    view.window_buckets.number = windows.buckets.number;
    view.short_buckets.number = shorts.buckets.number;
    view.triples_bits = shorts.triples_bits;
    view.uses_surroundings = windows.uses_surroundings;
    view.around = windows.around;
    view.letters = letters;
    view.folds_case = folds_case;
    view.has_many = windows.has_many;
    view.depth = automaton.depth;
    view.slots_bits = windows.slots_bits;
    view.probes = probes.probes;
    view.probes_slots_bits = probes.slots_bits;
    view.transitions = by_bytes.how;
    prefix = put(set.prefix);
    number = put(set.number);
    ids_from = put(set.ids_from);
    ids = put(set.ids);
    rank_of = put(set.rank_of);
    filter = put(windows.filter);
    slots = put(windows.slots);
    entries = put(windows.entries);
    probes_filter = put(probes.filter);
    probes_slots = put(probes.slots);
    probes_entries = put(probes.entries);
    window_rows = put(windows.buckets.rows);
    short_rows = put(shorts.buckets.rows);
    pairs = put(shorts.pairs);
    triples = put(shorts.triples);
    states = put(automaton.states);
    labels = put(automaton.labels);
    roots = put(automaton.roots);
    groups = put(automaton.groups);
    longs = put(automaton.longs);
    classes = put(by_bytes.classes);
    transitions = put(by_bytes.entries);
  }
  /// The view with addresses, in memory from `begin` on.
  pattern_set_view at(const std::uint32_t* begin) const {
    pattern_set_view v = view;
    v.size = begin + size;
    v.record = begin + record;
    v.prefix = begin + prefix;
    v.number = begin + number;
    v.ids_from = begin + ids_from;
    v.ids = begin + ids;
    v.rank_of = begin + rank_of;
    v.records = begin + records;
    v.filter = begin + filter;
    v.slots = reinterpret_cast<const window_slot*>(begin + slots);
    v.entries = reinterpret_cast<const window_entry*>(begin + entries);
    v.probes_filter = begin + probes_filter;
    v.probes_slots = reinterpret_cast<const window_slot*>(begin + probes_slots);
    v.probes_entries = reinterpret_cast<const window_entry*>(begin + probes_entries);
    v.window_buckets.row = begin + window_rows;
    v.short_buckets.row = begin + short_rows;
    v.pairs = begin + pairs;
    v.triples = reinterpret_cast<const short_triple*>(begin + triples);
    v.states = reinterpret_cast<const set_state*>(begin + states);
    v.labels = reinterpret_cast<const unsigned char*>(begin + labels);
    v.roots = begin + roots;
    v.groups = reinterpret_cast<const long_group*>(begin + groups);
    v.longs = begin + longs;
    v.transitions.classes = begin + classes;
    v.transitions.entries = begin + transitions;
    return v;
  }

 private:
  /// Returns where each rank's record begins.
  std::vector<std::uint32_t> put_patterns(const multi_pattern_normal_form& set) {
    std::vector<std::uint32_t> sizes, firsts, all;
    for (const std::string_view p : set.patterns) {
      const auto rank = static_cast<std::uint32_t>(sizes.size());
      sizes.push_back(static_cast<std::uint32_t>(p.size()));
      firsts.push_back(static_cast<std::uint32_t>(all.size()));
      all.push_back(rank);
      all.push_back(sizes.back());
      all.resize((all.size() + (p.size() + 3) / 4 + 3) / 4 * 4);
      if (!p.empty()) std::memcpy(all.data() + firsts.back() + 2, p.data(), p.size());
    }
    size = put(sizes);
    record = put(firsts);
    records = put(all);
    return firsts;
  }
  /// After what is there, in the grid of 16 bytes.
  template <class T>
  std::size_t put(const std::vector<T>& items) {
    const std::size_t from = (memory.size() + 3) / 4 * 4, n = items.size() * sizeof(T);
    memory.resize(from + (n + 3) / 4);
    if (n != 0) std::memcpy(memory.data() + from, items.data(), n);
    return from;
  }
};

}  // namespace detail

/// Patterns to look for in texts, all at once (string_set_search.hpp): made once, used on many
/// texts.
///
/// 1 to 2^20 patterns of one byte or more, of any values, which may equal, begin with or contain
/// each other. A pattern's id is its number in what was given. With options.fold_case letters of
/// ASCII stand for both cases. Up to 64 bytes of memory for each byte of the patterns, and 100 KiB.
/// Some sets take up to 192 bytes for each, and 650 KiB: those with a pattern of less than seven
/// bytes, and those of 200 patterns and more with one of less than eleven.
template <class MemorySpace>
class pattern_set {
 public:
  using memory_space = MemorySpace;
  static constexpr std::size_t most_patterns = std::size_t{1} << 20;
  static constexpr std::size_t most_bytes = std::size_t{1} << 31;

  /// O(m) for m bytes in all, and two sorts of the patterns. Throws std::invalid_argument where a
  /// pattern has no bytes, where there are none or too many, and where there is a wildcard.
  /// **Blocks.**
  explicit pattern_set(std::span<const std::string_view> patterns,
                       const pattern_options& options = {})
      : number_(patterns.size()), options_(options) {
    detail::expects(!patterns.empty(), "pattern_set: there are no patterns");
    detail::expects(patterns.size() <= most_patterns, "pattern_set: there are ", patterns.size(),
                    " patterns, the most is ", most_patterns);
    detail::expects(!options.wildcard.has_value(),
                    "pattern_set: options.wildcard is given, but sets have no wildcards");
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      detail::expects(!patterns[i].empty(), "pattern_set: pattern ", i, " has no bytes");
      bytes += patterns[i].size();
    }
    detail::expects(bytes <= most_bytes, "pattern_set: the patterns have ", bytes,
                    " bytes, the most is ", most_bytes);
    const std::string small = options.fold_case ? small_letters(patterns, bytes) : std::string();
    std::vector<std::string_view> all(patterns.begin(), patterns.end());
    std::size_t at = 0;
    for (std::string_view& p : all) {
      if (options.fold_case) p = std::string_view(small).substr(at, p.size());
      at += p.size();
    }
    image_ = detail::multi_pattern_image(detail::multi_pattern_normal_form(all), options.fold_case);
    memory_ = view_type(Kokkos::view_alloc("lanewise::pattern_set", Kokkos::WithoutInitializing),
                        image_.memory.size());
    Kokkos::deep_copy(
        memory_, Kokkos::View<const std::uint32_t*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                     image_.memory.data(), image_.memory.size()));
    image_.memory = {};
  }
  explicit pattern_set(const std::vector<std::string>& patterns,
                       const pattern_options& options = {})
      : pattern_set(std::span<const std::string_view>(
                        std::vector<std::string_view>(patterns.begin(), patterns.end())),
                    options) {}

  /// The number of patterns, equal ones included.
  std::int64_t size() const { return static_cast<std::int64_t>(number_); }
  const pattern_options& options() const { return options_; }
  /// Bytes that the set takes in the memory space.
  std::size_t memory_bytes() const { return memory_.size() * sizeof(std::uint32_t); }
  /// A copy in another memory space. **Blocks.**
  template <class Other>
  pattern_set<Other> copy_to() const {
    return pattern_set<Other>(*this);
  }
  detail::pattern_set_view view() const { return image_.at(memory_.data()); }

 private:
  using view_type = Kokkos::View<std::uint32_t*, MemorySpace>;
  template <class>
  friend class pattern_set;

  template <class Other>
  explicit pattern_set(const pattern_set<Other>& other)
      : number_(other.number_),
        options_(other.options_),
        image_(other.image_),
        memory_(Kokkos::view_alloc("lanewise::pattern_set", Kokkos::WithoutInitializing),
                other.memory_.size()) {
    Kokkos::deep_copy(memory_, other.memory_);
  }
  static std::string small_letters(std::span<const std::string_view> patterns, std::size_t bytes) {
    std::string all;
    all.reserve(bytes);
    for (const std::string_view p : patterns)
      for (const char c : p) all += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return all;
  }

  std::size_t number_;
  pattern_options options_;
  detail::multi_pattern_image image_;
  view_type memory_;
};

namespace detail {
template <class MemorySpace>
inline constexpr bool is_text_matcher<pattern_set<MemorySpace>> = true;
}  // namespace detail

LANEWISE_END_NAMESPACE
