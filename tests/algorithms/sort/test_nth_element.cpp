// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "check_top_k.hpp"

namespace {

using namespace top_k_checks;
using Catch::Matchers::ContainsSubstring;
using u32 = std::uint32_t;

}  // namespace

TEMPLATE_TEST_CASE("The nth of items", "[nth_element]", u32, double MORE_TYPES(std::int16_t)) {
  for (const std::int64_t n : {1, 2, 33, 1000, 5000}) {
    const auto items = any_keys<TestType>(n);
    for (const std::int64_t nth : {std::int64_t{0}, n / 50, n / 2, n - 1 - n / 50, n - 1}) {
      check_nth_element(items, nth, {});
      check_nth_element(items, nth, with_sample);
      check_nth_element(items, nth, without_sample);
    }
  }
}

TEST_CASE("The nth item is returned, or stored on the device", "[nth_element]") {
  const array<u32> in(std::vector<u32>{5, 3, 9, 3, 7});
  const u32 sorted[] = {3, 3, 5, 7, 9};
  const cell<u32> result;
  for (std::int64_t nth = 0; nth < 5; ++nth) {
    CHECK(lanewise::nth_element(make_space(), in.const_view(), nth) == sorted[nth]);
    lanewise::nth_element(make_space(), in.const_view(), nth, result.view());
    CHECK(result.get() == sorted[nth]);
  }
  const cell<std::int64_t> count(3);
  CHECK(lanewise::nth_element(make_space(), in.const_view(), 1, {.count = count.view()}) == 5);
  CHECK(lanewise::nth_element(make_space(), in.const_view(), 4, {.count = count.view()}) == 9);
  count.set(0);
  result.set(77);
  lanewise::nth_element(make_space(), in.const_view(), 0, result.view(), {.count = count.view()});
  CHECK(result.get() == 77);
}

TEST_CASE("Samples that mislead nth_element", "[nth_element]") {
  for (const std::int64_t k : {100, 129, 300, 1000}) {
    check_nth_element(misleading_items(30'000, 0u, 1000), k, with_sample);
    check_nth_element(misleading_items(30'000, ~0u, 1000), k, with_sample);
  }
}

TEST_CASE("nth_element needs the workspace that it says", "[nth_element]") {
  for (const std::int64_t n : {100, 9000, 300'000}) {
    const array<u32> in(random_items<u32>(n));
    lanewise::workspace work;
    lanewise::reserve(make_space(), work, lanewise::nth_element_workspace<u32>(n));
    const std::size_t bytes = work.bytes();
    lanewise::nth_element(make_space(), in.const_view(), n / 2, {.work = &work});
    CHECK(work.bytes() == bytes);
  }
}

TEST_CASE("nth_element refuses what there is not", "[nth_element]") {
  const array<u32> in(50, 1u);
  CHECK_THAT(refusal([&] { lanewise::nth_element(make_space(), in.const_view(), 50); }),
             ContainsSubstring("nth_element: nth is 50, in has 50 items"));
  CHECK_THAT(refusal([&] { lanewise::nth_element(make_space(), in.const_view(), -1); }),
             ContainsSubstring("nth_element: nth is -1, less than 0"));
}
