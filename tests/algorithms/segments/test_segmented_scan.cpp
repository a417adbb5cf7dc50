// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/segments/segmented_scan.hpp>

#include <catch2/catch_template_test_macros.hpp>

#include <algorithms/select/check_compact.hpp>

// Scans that begin anew: at flags, and where keys change.

namespace {

using namespace test;
using u8 = std::uint8_t;
using u32 = std::uint32_t;

template <class T>
constexpr std::int64_t segments_tile = tile_items<T, lanewise::kernels::segments_policy<T>>;

/// Inclusive and exclusive scans, by flags and by keys, of these items; a segment begins where the
/// key changes.
template <class T, class Op>
void check(const std::vector<T>& items, const std::vector<u32>& keys, const T& init, Op op) {
  const auto exec = make_space();
  const auto n = static_cast<std::int64_t>(items.size());
  std::vector<T> inclusive, exclusive;
  std::vector<u8> flag;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const bool head = i == 0 || keys[i - 1] != keys[i];
    // The first item begins a segment whatever its flag.
    flag.push_back(head && i != 0 ? 1 : 0);
    exclusive.push_back(head ? init : op(exclusive.back(), items[i - 1]));
    inclusive.push_back(head ? items[i] : op(inclusive.back(), items[i]));
  }
  shifts shift(static_cast<std::uint64_t>(n + std::count(flag.begin(), flag.end(), u8{1})));
  const array<T> in(items, shift.next());
  const array<u32> key(keys, shift.next());
  const array<u8> heads(flag, shift.next());
  const array<T> one(n, item_of<T>(77), shift.next()), two(n, item_of<T>(77), shift.next()),
      three(n, item_of<T>(77), shift.next()), four(n, item_of<T>(77), shift.next());

  lanewise::inclusive_segmented_scan(exec, in.const_view(), heads.const_view(), one.view(), op);
  lanewise::exclusive_segmented_scan(exec, in.const_view(), heads.const_view(), two.view(), op,
                                     init);
  lanewise::inclusive_scan_by_key(exec, key.const_view(), in.const_view(), three.view(), op);
  lanewise::exclusive_scan_by_key(exec, key.const_view(), in.const_view(), four.view(), op, init);

  CHECK(difference(one.items(), inclusive) == "");
  CHECK(difference(two.items(), exclusive) == "");
  CHECK(difference(three.items(), inclusive) == "");
  CHECK(difference(four.items(), exclusive) == "");
  for (const auto* out : {&one, &two, &three, &four}) CHECK(out->guards_intact());
  CHECK(in.unchanged());
  CHECK(key.unchanged());
  CHECK(heads.unchanged());
}

}  // namespace

TEMPLATE_TEST_CASE("Segmented sums are exact at every size and length", "[segmented]",
                   u32 MORE_TYPES(u8, std::uint64_t, double)) {
  for (const std::int64_t n : sizes_around(segments_tile<TestType>)) {
    for (const int mean : {1, 4, 100}) {
      CAPTURE(n, mean);
      check(random_items<TestType>(n, most_summand<TestType>()), items_in_runs<u32>(n, mean),
            TestType(5), lanewise::plus{});
    }
  }
}

TEMPLATE_TEST_CASE("Segments may span tiles", "[segmented][sanitize]", u32 MORE_TYPES(u8)) {
  const std::int64_t n = some_tiles(segments_tile<TestType>);
  for (const int mean : {40, 1000, 100'000'000}) {
    CAPTURE(mean);
    check(random_items<TestType>(n), items_in_runs<u32>(n, mean), TestType(5), lanewise::plus{});
  }
}

TEST_CASE("Segmented scans accept operators that do not commute", "[segmented][sanitize]") {
  for (const std::int64_t n : sizes_around(segments_tile<affine>)) {
    for (const int mean : {4, 1000}) {
      CAPTURE(n, mean);
      check(random_items<affine>(n), items_in_runs<u32>(n, mean), affine{3, 1, 0}, then{});
    }
  }
  const std::int64_t n = some_tiles(segments_tile<u32>);
  check(random_items<u32>(n), items_in_runs<u32>(n, 30), u32{7}, last_nonzero{});
}

TEST_CASE("Segmented scan of the example of the dissertation", "[segmented]") {
  // Merrill, figure 25d.
  const auto exec = make_space();
  const array<u32> in({8, 6, 7, 5, 3, 0, 9});
  const array<u32> flags({1, 0, 0, 1, 0, 1, 0});
  const array<u32> out(7, 77u);
  lanewise::exclusive_segmented_scan(exec, in.const_view(), flags.const_view(), out.view(),
                                     lanewise::plus{}, 0u);
  CHECK(out.items() == std::vector<u32>{0, 8, 14, 0, 5, 0, 0});
  lanewise::inclusive_segmented_scan(exec, in.const_view(), flags.const_view(), out.view(),
                                     lanewise::plus{});
  CHECK(out.items() == std::vector<u32>{8, 14, 21, 5, 8, 0, 9});
}
