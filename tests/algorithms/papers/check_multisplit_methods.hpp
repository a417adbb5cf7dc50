// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/papers/multisplit_methods.hpp>
#include <support/functors.hpp>

#include <algorithms/sort/check_multisplit.hpp>

// What every method of the papers is tested by: it does what multisplit does.

namespace test {

namespace methods = lanewise::papers::methods;

/// Results and errors of keys alone and of pairs; values are the keys' numbers, so that a result is
/// stable or wrong. What has no bucket goes to the last one.
template <class Method, class Key, class Value = std::uint32_t, class BucketOf>
void check_method(const std::vector<Key>& items, std::uint32_t m, BucketOf bucket_of) {
  const auto exec = make_space();
  const auto n = static_cast<std::int64_t>(items.size());
  std::vector<Value> numbers(items.size());
  std::iota(numbers.begin(), numbers.end(), Value{});
  const array<Key> keys(items, 1), keys_out(n, item_of<Key>(77), 3), alone(n, item_of<Key>(77), 2);
  const array<Value> values(numbers, 1), values_out(n, Value{77});
  const cell<lanewise::status> errors;
  lanewise::workspace work;
  const auto most = lanewise::papers::multisplit_by_workspace<Method, Key, space, Value>(n, m);
  lanewise::reserve(exec, work, most);
  const std::size_t reserved = work.bytes();

  lanewise::papers::multisplit_by(exec, Method{}, keys.const_view(), values.const_view(),
                                  keys_out.view(), values_out.view(), m, bucket_of,
                                  {.work = &work, .errors = errors.view()});
  lanewise::papers::multisplit_by(exec, Method{}, keys.const_view(), alone.view(), m, bucket_of);

  std::int64_t bad = 0;
  const auto or_last = [&](const Key& key) {
    const std::uint32_t b = bucket_of(key);
    bad += b >= m ? 1 : 0;
    return std::min(b, m - 1);
  };
  const auto expected = oracle::multisplit(items, m, or_last);
  const auto sorted = oracle::gather(items, expected.index);
  CHECK(difference(keys_out.items(), sorted, keys_out.original()) == "");
  CHECK(difference(values_out.items(), oracle::gather(numbers, expected.index),
                   values_out.original()) == "");
  CHECK(difference(alone.items(), sorted, alone.original()) == "");
  CHECK(errors.get().bad_items == static_cast<std::uint64_t>(bad));
  CHECK(work.bytes() == reserved);
  CHECK(keys_out.guards_intact());
  CHECK(values_out.guards_intact());
  CHECK(alone.guards_intact());
  CHECK(keys.unchanged());
  CHECK(values.unchanged());
}

template <class Method>
std::vector<std::uint32_t> counts_of_buckets() {
  std::vector<std::uint32_t> result;
  for (const std::uint32_t m : {1u, 2u, 3u, 31u, 32u, 33u, 255u, 256u, 257u, 1000u})
    if (m <= Method::most_buckets) result.push_back(m);
  return result;
}

struct prime_or_composite {
  KOKKOS_FUNCTION std::uint32_t operator()(std::uint32_t k) const {
    const bool prime = k == 2 || k == 3 || k == 5 || k == 7 || k == 11 || k == 13;
    return prime ? 0 : 1;
  }
};
struct papers_range {
  KOKKOS_FUNCTION std::uint32_t operator()(std::uint32_t k) const {
    return k < 6 ? 0 : (k < 14 ? 1 : 2);
  }
};

template <class Method>
void check_numbers_of_buckets() {
  for (const std::uint32_t m : counts_of_buckets<Method>()) {
    CAPTURE(m);
    check_method<Method>(random_items<std::uint32_t>(2 * 1024 + 17), m, modulo{m});
  }
}

/// Round windows, warps' tiles, tiles of 256, 896 and 1024 items, and subproblems of 384 and 2048.
template <class Method>
void check_method_sizes() {
  for (const std::int64_t n : {0, 1, 31, 32, 33, 127, 128, 129, 257, 383, 385, 895, 897, 1023, 1024,
                               1025, 2047, 2049, 7 * 896 + 5}) {
    CAPTURE(n);
    check_method<Method>(random_items<std::uint32_t>(n), 29, modulo{29});
  }
}

template <class Method>
void check_method_distributions() {
  const std::int64_t n = is_emulated ? 3 * 1024 + 131 : (takes_long_inputs() ? 300'007 : 30'011);
  for (const distribution d : all_distributions) {
    for (const std::uint32_t m : {7u, 32u, 200u}) {
      if (m > Method::most_buckets) continue;
      CAPTURE(d, m);
      check_method<Method>(items_of<std::uint32_t>(numbers(d, n, most_number<std::uint32_t>(), m)),
                           m, modulo{m});
    }
  }
}

template <class Method>
void check_bad_keys() {
  for (const std::uint32_t m : {1u, 5u, 32u}) {
    CAPTURE(m);
    check_method<Method>(random_items<std::uint32_t>(1500), m, modulo{2 * m + 1});
  }
}

/// GPU Multisplit, figure 1.
template <class Method>
void check_papers_example() {
  const std::vector<std::uint32_t> keys{9, 12, 4, 11, 3, 5, 16, 2, 1, 10, 13, 6, 15, 8, 14, 7};
  const auto exec = make_space();
  const array<std::uint32_t> in(keys), out(16, 77u);
  lanewise::papers::multisplit_by(exec, Method{}, in.const_view(), out.view(), 2,
                                  prime_or_composite{});
  CHECK(out.items() ==
        std::vector<std::uint32_t>{11, 3, 5, 2, 13, 7, 9, 12, 4, 16, 1, 10, 6, 15, 8, 14});
  lanewise::papers::multisplit_by(exec, Method{}, in.const_view(), out.view(), 3, papers_range{});
  CHECK(out.items() ==
        std::vector<std::uint32_t>{4, 3, 5, 2, 1, 9, 12, 11, 10, 13, 6, 8, 7, 16, 15, 14});
}

}  // namespace test
