// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <structures/ordered/ordered_histories.hpp>

// Ordered maps of wide pairs, and of pairs whose values are the wider ones.

namespace {

TEST_CASE("ordered_map_wide_full: histories", "[ordered]") {
  test::check_histories<std::uint64_t, std::uint64_t>(600, 3);
  test::check_histories<std::uint32_t, std::uint64_t>(600, 4);
}

}  // namespace
