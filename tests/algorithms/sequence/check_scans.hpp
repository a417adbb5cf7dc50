// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sequence/scan.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>

namespace test {

template <class T>
constexpr std::int64_t scan_tile = tile_items<T, lanewise::kernels::scan_policy<T>>;

/// Both scans of these items equal the sequential ones, and touch nothing but their output. Arrays
/// begin `in_shift` and `out_shift` items after where packs do.
template <class T, class Op>
void check_scans(const std::vector<T>& items, const T& init, Op op, int in_shift = 0,
                 int out_shift = 0) {
  const auto exec = make_space();
  const auto n = static_cast<std::int64_t>(items.size());
  const array<T> in(items, in_shift);
  const array<T> inclusive(n, item_of<T>(77), out_shift);
  const array<T> exclusive(n, item_of<T>(77), out_shift);

  lanewise::inclusive_scan(exec, in.const_view(), inclusive.view(), op);
  lanewise::exclusive_scan(exec, in.const_view(), exclusive.view(), op, init);

  CHECK(difference(inclusive.items(), oracle::inclusive_scan(items, op)) == "");
  CHECK(difference(exclusive.items(), oracle::exclusive_scan(items, init, op)) == "");
  CHECK(inclusive.guards_intact());
  CHECK(exclusive.guards_intact());
  CHECK(in.unchanged());
}

template <class T, class Op>
void check_all_sizes(const T& init, Op op, std::uint64_t most = most_summand<T>()) {
  for (const std::int64_t n : sizes_around(scan_tile<T>)) {
    CAPTURE(n);
    check_scans(random_items<T>(n, most), init, op);
  }
}

}  // namespace test
