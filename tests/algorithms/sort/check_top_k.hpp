// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sort/nth_element.hpp>
#include <lanewise/sort/partial_sort.hpp>
#include <lanewise/sort/top_k.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstring>
#include <numeric>

// The k first items, on every backend.

namespace top_k_checks {

using namespace test;
using lanewise::kernels::selection_limits;

/// Inputs of some thousand items take the ways that calls take where there are millions: one with a
/// sample, and one without.
constexpr selection_limits with_sample{100, 1000, 128, 600};
constexpr selection_limits without_sample{100, std::int64_t{1} << 60, 128, 4};

/// The indices of the k first items by their bits: the largest, or the smallest; sorted, or in
/// input order.
template <class T, class KeyOf = lanewise::identity>
std::vector<std::int64_t> first_indices(const std::vector<T>& items, std::int64_t k, bool smallest,
                                        bool sorted, KeyOf key_of = {}) {
  std::vector<std::int64_t> index(items.size());
  std::iota(index.begin(), index.end(), std::int64_t{0});
  std::stable_sort(index.begin(), index.end(), [&](std::int64_t a, std::int64_t b) {
    const auto x = lanewise::to_bits(key_of(items[static_cast<std::size_t>(a)]));
    const auto y = lanewise::to_bits(key_of(items[static_cast<std::size_t>(b)]));
    return smallest ? x < y : y < x;
  });
  index.resize(static_cast<std::size_t>(k));
  if (!sorted) std::sort(index.begin(), index.end());
  return index;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

struct itself {
  KOKKOS_FUNCTION std::int64_t operator()(std::int64_t i) const { return i; }
};

/// Values, keys and indices of the k first, with an input and outputs that begin anywhere.
template <class T, class KeyOf = lanewise::identity>
void check_top_k(const std::vector<T>& items, std::int64_t k, bool smallest, bool sorted,
                 const selection_limits& limits, KeyOf key_of = {}) {
  CAPTURE(items.size(), k, smallest, sorted, limits.one_team, limits.sampled_from);
  const auto expected = first_indices(items, k, smallest, sorted, key_of);
  const array<T> in(items, 1);
  const array<T> out(k + 3, T{}, 1);
  const array<std::int64_t> index(k + 3, std::int64_t{-7});
  using source = lanewise::array_source<T, lanewise::identity>;
  using sink = lanewise::array_sink<T>;
  using index_sink = lanewise::array_sink<std::int64_t>;
  const auto number = lanewise::generated(static_cast<std::int64_t>(items.size()), itself{});
  lanewise::kernels::top_k(
      make_space(), "top_k", source{in.data(), static_cast<std::int64_t>(items.size()), {}}, k,
      lanewise::kernels::selected_pair<sink, std::decay_t<decltype(number)>, index_sink>{
          {out.data(), k + 3}, number, {index.data(), k + 3}},
      key_of, {.smallest = smallest, .sorted = sorted}, limits);
  std::vector<std::int64_t> found = index.items();
  CHECK(difference(found, expected, index.original()) == "");
  auto keys = oracle::gather(items, expected);
  keys.resize(static_cast<std::size_t>(k + 3), T{});
  CHECK(same_bits(out.items(), keys));
  CHECK((in.unchanged() && out.guards_intact() && index.guards_intact()));
}

template <class T>
void check_nth_element(const std::vector<T>& items, std::int64_t nth,
                       const selection_limits& limits) {
  CAPTURE(items.size(), nth, limits.one_team, limits.sampled_from);
  const auto expected = first_indices(items, nth + 1, true, true).back();
  const array<T> in(items, 1);
  const cell<T> result;
  lanewise::kernels::nth_element(make_space(),
                                 lanewise::array_source<T, lanewise::identity>{
                                     in.data(), static_cast<std::int64_t>(items.size()), {}},
                                 nth, result.data(), {}, limits);
  const T found = result.get();
  CHECK(std::memcmp(&found, &items[static_cast<std::size_t>(expected)], sizeof(T)) == 0);
}

/// Any bits, NaN and both zeros among them.
template <class T>
std::vector<T> any_keys(std::int64_t n, std::uint64_t salt = 5) {
  auto random = make_random(salt + static_cast<std::uint64_t>(n));
  std::vector<T> items;
  for (std::int64_t i = 0; i < n; ++i)
    items.push_back(lanewise::from_bits<T>(static_cast<lanewise::radix_bits_t<T>>(random())));
  return items;
}

/// How many that are selected: none, one, few, half, all but one, all.
inline std::vector<std::int64_t> counts_up_to(std::int64_t n) {
  std::vector<std::int64_t> k;
  for (const std::int64_t x : {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{33},
                               n / 100, n / 2, n - 1, n}) {
    if (x >= 0 && x <= n && std::find(k.begin(), k.end(), x) == k.end()) k.push_back(x);
  }
  return k;
}

/// Items in which a sample, that of with_sample, sees none but `seen`.
inline std::vector<std::uint32_t> misleading_items(std::int64_t n, std::uint32_t seen,
                                                   std::uint64_t others,
                                                   std::int64_t size = with_sample.most_sampled) {
  auto items = random_items<std::uint32_t>(n, others);
  for (std::int64_t i = 0; i < size; ++i)
    items[static_cast<std::size_t>(lanewise::kernels::sampled_place(i, n / size))] = seen;
  return items;
}

}  // namespace top_k_checks
