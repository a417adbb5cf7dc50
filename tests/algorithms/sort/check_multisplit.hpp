// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sort/multisplit.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>

#include <numeric>

namespace test {

template <class Key>
constexpr std::int64_t split_tile =
    lanewise::detail::split_t<lanewise::team_t<space, lanewise::kernels::split_policy<Key>>, Key,
                              lanewise::kernels::split_policy<Key>>::items;

/// The number of buckets that are tested with keys of a type: kernels for more than 256 take the
/// compiler long.
template <class Key>
using tested_count =
    lanewise::at_most<std::is_same_v<Key, std::uint32_t> || std::is_same_v<Key, affine> ? 65'536
                                                                                        : 256>;

/// Places, offsets and errors of a multisplit by modulo{divisor} are those of the stable sequential
/// one; the values are the keys' indices. A divisor above m makes bad items.
template <class Key>
void check_pairs(const std::vector<Key>& items, std::uint32_t m, std::uint32_t divisor) {
  const auto exec = make_space();
  const auto n = static_cast<std::int64_t>(items.size());
  std::vector<std::uint32_t> indices(items.size());
  std::iota(indices.begin(), indices.end(), 0u);
  const array<Key> keys(items, 1);
  const array<std::uint32_t> values(indices, 2);
  const array<Key> keys_out(n, item_of<Key>(77), 3);
  const array<std::uint32_t> values_out(n, 77u);
  const array<std::int64_t> offsets(m + 1, -1);
  const cell<lanewise::status> errors;

  lanewise::multisplit(exec, keys.const_view(), values.const_view(), keys_out.view(),
                       values_out.view(), tested_count<Key>{m}, modulo{divisor},
                       {.offsets = offsets.view(), .errors = errors.view()});

  const auto expected = oracle::multisplit(items, m, modulo{divisor});
  CHECK(difference(keys_out.items(), oracle::gather(items, expected.index), keys_out.original()) ==
        "");
  CHECK(difference(values_out.items(), oracle::gather(indices, expected.index),
                   values_out.original()) == "");
  CHECK(difference(offsets.items(), expected.offsets) == "");
  CHECK(errors.get().bad_items == expected.bad_items);
  CHECK(keys_out.guards_intact());
  CHECK(values_out.guards_intact());
  CHECK(offsets.guards_intact());
  CHECK(keys.unchanged());
  CHECK(values.unchanged());
}

/// As above for keys alone, without offsets and errors.
template <class Key>
void check_keys(const std::vector<Key>& items, std::uint32_t m, std::uint32_t divisor) {
  const auto exec = make_space();
  const array<Key> keys(items);
  const array<Key> keys_out(static_cast<std::int64_t>(items.size()), item_of<Key>(77));

  lanewise::multisplit(exec, keys.const_view(), keys_out.view(), tested_count<Key>{m},
                       modulo{divisor});

  const auto expected = oracle::multisplit(items, m, modulo{divisor});
  CHECK(difference(keys_out.items(), oracle::gather(items, expected.index), keys_out.original()) ==
        "");
  CHECK(keys_out.guards_intact());
  CHECK(keys.unchanged());
}

}  // namespace test
