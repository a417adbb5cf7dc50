// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "check_top_k.hpp"

// Keys of all kinds.

using namespace top_k_checks;

namespace {

template <class T>
void check_keys() {
  const auto items = any_keys<T>(6000);
  for (const std::int64_t k : {1, 40, 3000}) {
    check_top_k(items, k, k == 1, k == 40, with_sample);
    check_top_k(items, k, k != 1, k == 3000, without_sample);
  }
  check_top_k(any_keys<T>(500), 77, true, true, {});
  check_nth_element(items, 60, with_sample);
  check_nth_element(items, 3000, without_sample);
}

}  // namespace

TEMPLATE_TEST_CASE("Keys of all kinds are selected", "[top_k]", std::int8_t, std::uint16_t,
                   std::int64_t, std::uint64_t, float) {
  check_keys<TestType>();
}

#if defined(LANEWISE_HAS_INT128)
TEST_CASE("Keys of 128 bits are selected", "[top_k]") {
  check_keys<lanewise::int128>();
  check_keys<lanewise::uint128>();
}
#endif
