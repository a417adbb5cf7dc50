// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sort/segmented_sort.hpp>

#include <algorithms/sort/check_radix_sort.hpp>

namespace test {

/// The sort of keys of type T, which says its limits on devices.
template <class T>
using segments_sorter = lanewise::kernels::segmented_sort_t<space, lanewise::radix_bits_t<T>,
                                                            lanewise::no_value, false>;

/// What one team sorts together at most; some number on hosts.
template <class T>
std::int64_t job_items() {
  if constexpr (requires { segments_sorter<T>::template most_items<space>; }) {
    return segments_sorter<T>::template most_items<space>;
  } else {
    return 4608;
  }
}

/// The most items whose jobs are one launch; some number on hosts.
template <class T>
std::int64_t few_items() {
  if constexpr (requires { segments_sorter<T>::template few_items<space>; }) {
    return segments_sorter<T>::template few_items<space>;
  } else {
    return 100'000;
  }
}

inline std::vector<std::int64_t> offsets_of_lengths(const std::vector<std::int64_t>& lengths,
                                                    std::int64_t first = 0) {
  std::vector<std::int64_t> offsets = {first};
  for (const std::int64_t length : lengths) offsets.push_back(offsets.back() + length);
  return offsets;
}

/// Lengths that make trouble, of about n items in all.
inline std::vector<std::vector<std::int64_t>> sorting_lengths(std::int64_t n) {
  std::vector<std::vector<std::int64_t>> result = {{n}, {0, n}, {n, 0}, {0, 0, n, 0, 0, 1, 0}};
  result.emplace_back(n / 8, 0);  // only empty ones
  result.emplace_back(n, 1);
  result.emplace_back(n / 2, 0).back() = 5;
  result.emplace_back(n / 2, 2).front() = n / 2;
  auto& edges = result.emplace_back();
  for (const std::int64_t length :
       {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 287, 288, 289, 511, 512})
    edges.push_back(length);
  // What a team takes, and a wide one, if n is twice the one and 77.
  result.push_back({(n - 77) / 2, (n - 77) / 2 + 1, n - 78, n - 77, n - 76});
  auto& mixed = result.emplace_back();
  for (std::int64_t i = 0, total = 0; total < n; ++i) {
    mixed.push_back(i % 61 == 7 ? n / 3 : (i % 5 < 2 ? 0 : i % 40));
    total += mixed.back();
  }
  auto& power = result.emplace_back();
  for (std::int64_t i = 1, total = 0; total < n; ++i) {
    power.push_back(n / (1 + (i * 7919) % 997));
    total += power.back();
  }
  return result;
}

/// `segments` lengths of up to `longest`, and one more of `other` in the middle.
inline std::vector<std::int64_t> short_lengths(std::int64_t segments, std::uint64_t longest,
                                               std::int64_t other) {
  std::vector<std::int64_t> lengths;
  for (const auto x : numbers(distribution::uniform, segments, longest + 1, 256, 7))
    lengths.push_back(static_cast<std::int64_t>(x));
  lengths[lengths.size() / 2] = other;
  return lengths;
}

/// Segments that lie apart, in another order than their own, and how many items there are.
struct segments_apart {
  std::vector<std::int64_t> begins, ends;
  std::int64_t n = 0;

  explicit segments_apart(const std::vector<std::int64_t>& lengths) {
    std::vector<std::size_t> in_memory(lengths.size());
    std::iota(in_memory.begin(), in_memory.end(), std::size_t{0});
    auto random = make_random(static_cast<int>(lengths.size()));
    std::shuffle(in_memory.begin(), in_memory.end(), random);
    begins.resize(lengths.size());
    ends.resize(lengths.size());
    for (const std::size_t s : in_memory) {
      n += static_cast<std::int64_t>(random() % 4) * 3;
      begins[s] = n;
      ends[s] = n += lengths[s];
    }
    n += 5;
  }
};

/// The sorted order of the keys: stable, segment by segment, by bits [begin, end).
template <class T>
std::vector<std::size_t> sorted_segments(const std::vector<T>& keys,
                                         const std::vector<std::int64_t>& begins,
                                         const std::vector<std::int64_t>& ends,
                                         const lanewise::segmented_sort_options& with) {
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t s = 0; s < begins.size(); ++s) {
    const std::vector<T> segment(keys.begin() + begins[s], keys.begin() + ends[s]);
    const auto here = sorted_order(
        segment, {.order = with.order, .begin_bit = with.begin_bit, .end_bit = with.end_bit});
    for (std::size_t i = 0; i < here.size(); ++i)
      order[static_cast<std::size_t>(begins[s]) + i] =
          static_cast<std::size_t>(begins[s]) + here[i];
  }
  return order;
}
template <class T>
std::vector<std::size_t> sorted_segments(const std::vector<T>& keys,
                                         const std::vector<std::int64_t>& offsets,
                                         const lanewise::segmented_sort_options& with) {
  return sorted_segments(keys, std::vector(offsets.begin(), offsets.end() - 1),
                         std::vector(offsets.begin() + 1, offsets.end()), with);
}

/// Sorts in place, and, where every item is in a segment, to another output.
template <class T>
void check_segments_sorted(const std::vector<T>& items, const std::vector<std::int64_t>& offsets,
                           lanewise::segmented_sort_options with = {}) {
  const auto exec = make_space();
  const auto n = static_cast<std::int64_t>(items.size());
  const array<std::int64_t> offset(offsets);
  const cell<lanewise::status> errors;
  with.errors = errors.view();
  const auto order = sorted_segments(items, offsets, with);
  const array<T> keys(items, 1);
  if (offsets.front() == 0 && offsets.back() == n) {
    const array<T> out(n, T{}, 3);
    lanewise::segmented_sort(exec, keys.const_view(), offset.const_view(), out.view(), with);
    CHECK(difference_in_bits(out.items(), items, order) == "");
    CHECK(keys.unchanged());
    CHECK(out.guards_intact());
  }
  lanewise::segmented_sort(exec, keys.const_view(), offset.const_view(), keys.view(), with);
  CHECK(difference_in_bits(keys.items(), items, order) == "");
  CHECK(keys.guards_intact());
  CHECK(offset.unchanged());
  CHECK(errors.get().bad_items == 0);
}

template <class T, class V>
void check_segments_sorted_by_key(const std::vector<T>& items, const std::vector<V>& beside,
                                  const std::vector<std::int64_t>& offsets,
                                  lanewise::segmented_sort_options with = {}) {
  const auto exec = make_space();
  const auto n = static_cast<std::int64_t>(items.size());
  const array<std::int64_t> offset(offsets);
  const auto order = sorted_segments(items, offsets, with);
  const array<T> keys(items), keys_out(n, T{}, 1);
  const array<V> values(beside, 1), values_out(n, V{});
  if (offsets.front() == 0 && offsets.back() == n) {
    lanewise::segmented_sort_by_key(exec, keys.const_view(), values.const_view(),
                                    offset.const_view(), keys_out.view(), values_out.view(), with);
    CHECK(difference_in_bits(keys_out.items(), items, order) == "");
    CHECK(difference_in_bits(values_out.items(), beside, order) == "");
    CHECK(keys.unchanged());
    CHECK(values.unchanged());
    CHECK(keys_out.guards_intact());
    CHECK(values_out.guards_intact());
  }
  lanewise::segmented_sort_by_key(exec, keys.const_view(), values.const_view(), offset.const_view(),
                                  keys.view(), values.view(), with);
  CHECK(difference_in_bits(keys.items(), items, order) == "");
  CHECK(difference_in_bits(values.items(), beside, order) == "");
}

/// What is expected in `before` when items have gone there in this order, but for those in no
/// segment, which have not.
template <class T>
std::vector<T> written_by_segments(std::vector<T> before, const std::vector<T>& items,
                                   const std::vector<std::size_t>& order,
                                   const segments_apart& segments) {
  for (std::size_t s = 0; s < segments.begins.size(); ++s) {
    for (auto i = static_cast<std::size_t>(segments.begins[s]);
         i < static_cast<std::size_t>(segments.ends[s]); ++i)
      before[i] = items[order[i]];
  }
  return before;
}

/// Sorts segments that lie apart, to another output and in place.
template <class T>
void check_segments_apart_sorted(const std::vector<T>& items, const segments_apart& segments,
                                 lanewise::segmented_sort_options with = {}) {
  const auto exec = make_space();
  const array<std::int64_t> begins(segments.begins), ends(segments.ends);
  const cell<lanewise::status> errors;
  with.errors = errors.view();
  const auto order = sorted_segments(items, segments.begins, segments.ends, with);
  const array<T> keys(items, 1), out(segments.n, T{7}, 3);
  lanewise::segmented_sort(exec, keys.const_view(), begins.const_view(), ends.const_view(),
                           out.view(), with);
  CHECK(out.items() ==
        written_by_segments(std::vector<T>(items.size(), T{7}), items, order, segments));
  CHECK(out.guards_intact());
  CHECK(keys.unchanged());
  lanewise::segmented_sort(exec, keys.const_view(), begins.const_view(), ends.const_view(),
                           keys.view(), with);
  CHECK(difference_in_bits(keys.items(), items, order) == "");
  CHECK(keys.guards_intact());
  CHECK(begins.unchanged());
  CHECK(ends.unchanged());
  CHECK(errors.get().bad_items == 0);
}

template <class T, class V>
void check_segments_apart_sorted_by_key(const std::vector<T>& items, const std::vector<V>& beside,
                                        const segments_apart& segments,
                                        const lanewise::segmented_sort_options& with = {}) {
  const auto exec = make_space();
  const array<std::int64_t> begins(segments.begins), ends(segments.ends);
  const auto order = sorted_segments(items, segments.begins, segments.ends, with);
  const array<T> keys(items), keys_out(segments.n, T{7}, 1);
  const array<V> values(beside, 1), values_out(segments.n, V{});
  lanewise::segmented_sort_by_key(exec, keys.const_view(), values.const_view(), begins.const_view(),
                                  ends.const_view(), keys_out.view(), values_out.view(), with);
  // If values are no words, other places are unspecified.
  constexpr bool words = lanewise::kernels::moves_as_word<V>;
  const auto before = words ? std::vector<T>(items.size(), T{7}) : keys_out.items();
  const auto values_before = words ? std::vector<V>(items.size()) : values_out.items();
  CHECK(keys_out.items() == written_by_segments(before, items, order, segments));
  CHECK(values_out.items() == written_by_segments(values_before, beside, order, segments));
  CHECK(keys_out.guards_intact());
  CHECK(values_out.guards_intact());
  lanewise::segmented_sort_by_key(exec, keys.const_view(), values.const_view(), begins.const_view(),
                                  ends.const_view(), keys.view(), values.view(), with);
  CHECK(difference_in_bits(keys.items(), items, order) == "");
  CHECK(difference_in_bits(values.items(), beside, order) == "");
}

}  // namespace test
