// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sort/radix_sort.hpp>
#include <support/generators.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace test {

/// The most keys that one team sorts by itself; some number on hosts.
template <class T>
std::int64_t few_sorted() {
  using sorter =
      lanewise::kernels::radix_sort_t<space, lanewise::radix_bits_t<T>, lanewise::no_value, false>;
  if constexpr (requires { sorter::template capacity<space>; }) {
    return sorter::template capacity<space>;
  } else {
    return 4096;
  }
}

/// A number of keys for which levels are launches of their own; many on hosts.
inline constexpr std::int64_t launched_keys = (std::int64_t{1} << 20) + 4711;

/// A number whose bits are set with probability 2^-k.
inline std::uint64_t sparse(random_engine& random, int k) {
  std::uint64_t x = ~std::uint64_t{0};
  for (int i = 0; i < k; ++i) x &= random();
  return x;
}
/// The greater k, the fewer distinct keys.
inline std::vector<std::uint32_t> sparse_keys(std::int64_t n, int k) {
  auto random = make_random(k);
  std::vector<std::uint32_t> keys(static_cast<std::size_t>(n));
  for (auto& key : keys) key = static_cast<std::uint32_t>(sparse(random, k));
  return keys;
}

/// Keys with all kinds of bits.
template <class T>
std::vector<T> sorting_keys(distribution d, std::int64_t n, std::uint64_t salt = 0) {
  const auto number =
      numbers(d, n, ~std::uint64_t{0} >> (8 * (8 - std::min<int>(sizeof(T), 8))), 256, salt);
  std::vector<T> keys(number.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    lanewise::radix_bits_t<T> bits = static_cast<lanewise::radix_bits_t<T>>(number[i]);
    if constexpr (sizeof(T) > 8) bits = bits << 64 | number[keys.size() - 1 - i] % 3;
    if constexpr (std::is_same_v<T, bool>) bits &= 1;
    keys[i] = lanewise::from_bits<T>(bits);
  }
  return keys;
}

/// The sorted order of the keys: stable, by bits [begin, end).
template <class T>
std::vector<std::size_t> sorted_order(const std::vector<T>& keys,
                                      const lanewise::sort_options& with) {
  using bits = lanewise::radix_bits_t<T>;
  const int width = lanewise::radix_key<T>::width;
  const int end = with.end_bit < 0 ? width : with.end_bit;
  const auto part = [&](std::size_t i) {
    bits x = lanewise::radix_key<T>::to_bits(keys[i]);
    if (with.order == lanewise::sort_order::descending) x = static_cast<bits>(~x);
    bits mask = 0;
    for (int b = with.begin_bit; b < end; ++b)
      mask = static_cast<bits>(mask | static_cast<bits>(bits{1} << b));
    return static_cast<bits>(x & mask);
  };
  std::vector<bits> parts(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) parts[i] = part(i);
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return parts[a] < parts[b]; });
  return order;
}

/// The first place where items differ in any bit, as a message; "" where they are the same.
template <class T>
std::string difference_in_bits(const std::vector<T>& found, const std::vector<T>& from,
                               const std::vector<std::size_t>& order) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    const T a = found[i], b = from[order[i]];
    if (std::memcmp(&a, &b, sizeof(T)) != 0) return "place " + std::to_string(i) + " is wrong";
  }
  return "";
}

/// The workspace that sorts of n keys need whose input may be overwritten.
template <class T, class V = lanewise::no_value>
void reserve_counters(lanewise::workspace& work, std::int64_t n) {
  lanewise::reserve(make_space(), work, lanewise::radix_sort_workspace<T, space, V>(n, true));
}

/// Sorts between the two Views.
template <class T>
void check_sort_overwriting(const std::vector<T>& items, const std::vector<std::size_t>& order,
                            lanewise::sort_options with) {
  const array<T> keys(items, 2), keys_out(static_cast<std::int64_t>(items.size()), T{}, 1);
  lanewise::workspace work;
  reserve_counters<T>(work, static_cast<std::int64_t>(items.size()));
  with.work = &work;
  with.overwrite_input = true;
  lanewise::radix_sort(make_space(), keys.view(), keys_out.view(), with);
  CHECK(difference_in_bits(keys_out.items(), items, order) == "");
  CHECK(keys.guards_intact());
  CHECK(keys_out.guards_intact());
}

/// The call that takes no options, and has kernels for all of a key's bits alone.
template <class T>
void check_sort_without_options(const std::vector<T>& items) {
  const array<T> keys(items, 1), keys_out(static_cast<std::int64_t>(items.size()), T{}, 2);
  lanewise::radix_sort(make_space(), keys.const_view(), keys_out.view());
  CHECK(difference_in_bits(keys_out.items(), items, sorted_order(items, {})) == "");
  CHECK(keys.unchanged());
  CHECK(keys_out.guards_intact());
}

template <class T>
void check_sort(const std::vector<T>& items, lanewise::sort_options with = {}) {
  const auto exec = make_space();
  const array<T> keys(items, 1), keys_out(static_cast<std::int64_t>(items.size()), T{}, 3);
  lanewise::radix_sort(exec, keys.const_view(), keys_out.view(), with);
  const auto order = sorted_order(items, with);
  CHECK(difference_in_bits(keys_out.items(), items, order) == "");
  CHECK(keys.unchanged());
  CHECK(keys_out.guards_intact());
  check_sort_overwriting(items, order, with);
  const bool all_bits = with.begin_bit == 0 && with.end_bit < 0;
  if (all_bits && with.order == lanewise::sort_order::ascending && !with.count.is_given())
    check_sort_without_options(items);
}

template <class T>
void check_sort_in_place(const std::vector<T>& items, lanewise::sort_options with = {}) {
  const array<T> keys(items, 2);
  lanewise::radix_sort(make_space(), keys.const_view(), keys.view(), with);
  CHECK(difference_in_bits(keys.items(), items, sorted_order(items, with)) == "");
  CHECK(keys.guards_intact());
}

template <class T, class V>
void check_sort_pairs_overwriting(const std::vector<T>& items, const std::vector<V>& beside,
                                  const std::vector<std::size_t>& order,
                                  lanewise::sort_options with) {
  const auto n = static_cast<std::int64_t>(items.size());
  const array<T> keys(items, 1), keys_out(n, T{});
  const array<V> values(beside), values_out(n, V{}, 1);
  lanewise::workspace work;
  reserve_counters<T, V>(work, n);
  with.work = &work;
  with.overwrite_input = true;
  lanewise::radix_sort(make_space(), keys.view(), values.view(), keys_out.view(), values_out.view(),
                       with);
  CHECK(difference_in_bits(keys_out.items(), items, order) == "");
  CHECK(difference_in_bits(values_out.items(), beside, order) == "");
  CHECK(keys.guards_intact());
  CHECK(values.guards_intact());
  CHECK(keys_out.guards_intact());
  CHECK(values_out.guards_intact());
}

template <class T, class V>
void check_sort_pairs(const std::vector<T>& items, const std::vector<V>& beside,
                      lanewise::sort_options with = {}) {
  const auto exec = make_space();
  const auto n = static_cast<std::int64_t>(items.size());
  const array<T> keys(items), keys_out(n, T{}, 1);
  const array<V> values(beside, 1), values_out(n, V{});
  lanewise::radix_sort(exec, keys.const_view(), values.const_view(), keys_out.view(),
                       values_out.view(), with);
  const auto order = sorted_order(items, with);
  CHECK(difference_in_bits(keys_out.items(), items, order) == "");
  CHECK(difference_in_bits(values_out.items(), beside, order) == "");
  CHECK(keys.unchanged());
  CHECK(values.unchanged());
  CHECK(keys_out.guards_intact());
  CHECK(values_out.guards_intact());
  check_sort_pairs_overwriting(items, beside, order, with);
  lanewise::radix_sort(exec, keys.const_view(), values.const_view(), keys.view(), values.view(),
                       with);
  CHECK(difference_in_bits(keys.items(), items, order) == "");
  CHECK(difference_in_bits(values.items(), beside, order) == "");
}

inline std::vector<std::uint32_t> places(std::size_t n) {
  std::vector<std::uint32_t> place(n);
  std::iota(place.begin(), place.end(), 0u);
  return place;
}

}  // namespace test
