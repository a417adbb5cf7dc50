// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <support/environment.hpp>
#include <support/items.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ostream>
#include <random>
#include <vector>

namespace test {

enum class distribution {
  uniform,
  sorted,
  reversed,
  equal,
  few_distinct,
  one_bucket,
  zipf,
  binomial,
  quarter_uniform,
  alternating
};

inline constexpr distribution all_distributions[] = {
    distribution::uniform,    distribution::sorted,       distribution::reversed,
    distribution::equal,      distribution::few_distinct, distribution::one_bucket,
    distribution::zipf,       distribution::binomial,     distribution::quarter_uniform,
    distribution::alternating};

inline std::ostream& operator<<(std::ostream& out, distribution d) {
  constexpr const char* names[] = {"uniform",         "sorted",     "reversed", "equal",
                                   "few distinct",    "one bucket", "Zipf",     "binomial",
                                   "quarter uniform", "alternating"};
  return out << names[static_cast<int>(d)];
}

using random_engine = std::mt19937_64;

/// A random engine of its own for every salt.
inline random_engine make_random(std::uint64_t salt) {
  return random_engine(seed() * 0x9e3779b97f4a7c15u + salt);
}

/// A number in [0, most].
inline std::uint64_t random_number(random_engine& random, std::uint64_t most) {
  return std::uniform_int_distribution<std::uint64_t>(0, most)(random);
}

/// n numbers in [0, most]. The distribution is one of numbers, or one of their remainders modulo
/// groups, the rest being uniform.
inline std::vector<std::uint64_t> numbers(distribution d, std::int64_t n, std::uint64_t most,
                                          std::uint64_t groups, std::uint64_t salt = 0) {
  auto random = make_random(salt + 1000003 * static_cast<std::uint64_t>(d) +
                            7919 * static_cast<std::uint64_t>(n));
  groups = std::min(groups, most == ~std::uint64_t{0} ? most : most + 1);
  const auto any = [&] { return random_number(random, most); };
  const auto of_group = [&](std::uint64_t g) {
    return g + groups * random_number(random, (most - g) / groups);
  };
  const std::uint64_t first = random_number(random, groups - 1);
  std::vector<std::uint64_t> few = {any(), any(), any(), any()};
  std::binomial_distribution<std::uint64_t> half(groups - 1, 0.5);
  std::vector<std::uint64_t> result(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < result.size(); ++i) {
    switch (d) {
      case distribution::uniform:
      case distribution::sorted:
      case distribution::reversed:
        result[i] = any();
        break;
      case distribution::equal:
        result[i] = few[0];
        break;
      case distribution::few_distinct:
        result[i] = few[random() % 4];
        break;
      case distribution::one_bucket:
        result[i] = of_group(first);
        break;
      case distribution::zipf: {
        // Group g with probability nearly proportional to 1 / (g + 1).
        const double u = std::generate_canonical<double, 53>(random);
        const auto rank = static_cast<std::uint64_t>(std::pow(static_cast<double>(groups), u)) - 1;
        result[i] = of_group(std::min(rank, groups - 1));
        break;
      }
      case distribution::binomial:
        result[i] = of_group(half(random));
        break;
      case distribution::quarter_uniform:
        result[i] = random() % 4 == 0 ? any() : of_group(first);
        break;
      case distribution::alternating:
        result[i] = of_group(i % groups);
        break;
    }
  }
  if (d == distribution::sorted) std::sort(result.begin(), result.end());
  if (d == distribution::reversed) std::sort(result.rbegin(), result.rend());
  return result;
}

template <class T>
std::vector<T> items_of(const std::vector<std::uint64_t>& from) {
  std::vector<T> result;
  result.reserve(from.size());
  for (const std::uint64_t number : from) result.push_back(item_of<T>(number));
  return result;
}

/// Any items of type T.
template <class T>
std::vector<T> random_items(std::int64_t n, std::uint64_t most = most_number<T>(),
                            std::uint64_t salt = 1) {
  return items_of<T>(numbers(distribution::uniform, n, most, 256, salt));
}

}  // namespace test
