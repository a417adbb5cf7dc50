// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithms/check_radix_sort.hpp>

// Keys that have fewer bits than their type, or are no numbers of the language.

using namespace test;

namespace {

using truths = Kokkos::View<bool*, memory, Kokkos::MemoryUnmanaged>;

truths as_truths(const array<std::uint8_t>& bytes) {
  return truths(reinterpret_cast<bool*>(bytes.data()), bytes.original().size());
}

}  // namespace

TEST_CASE("radix_sort takes all bits of a bool's byte as its bits", "[radix_sort][sanitize]") {
  std::vector<std::uint8_t> bytes;
  for (const auto x : numbers(distribution::uniform, 900, 1, 256))
    bytes.push_back(static_cast<std::uint8_t>(x));
  const array<std::uint8_t> keys(bytes), out(900, std::uint8_t{0});
  const array<std::uint32_t> values(places(900)), values_out(900, 0u);
  const auto sort = [&](const lanewise::sort_options& with) {
    lanewise::radix_sort(make_space(), as_truths(keys), values.view(), as_truths(out),
                         values_out.view(), with);
  };
  using lanewise::sort_order;
  for (const lanewise::sort_options& with :
       {lanewise::sort_options{.end_bit = 8},
        lanewise::sort_options{.order = sort_order::descending, .end_bit = 2},
        lanewise::sort_options{.end_bit = 0}, lanewise::sort_options{.begin_bit = 1, .end_bit = 8},
        lanewise::sort_options{.begin_bit = 5}}) {
    CAPTURE(with.begin_bit, with.end_bit);
    sort(with);
    const auto order = sorted_order(bytes, with);
    CHECK(difference_in_bits(out.items(), bytes, order) == "");
    CHECK(difference_in_bits(values_out.items(), values.original(), order) == "");
  }
  CHECK_THROWS_WITH(sort({.end_bit = 9}),
                    Catch::Matchers::ContainsSubstring("end_bit is 9, keys have 8 bits"));
}
