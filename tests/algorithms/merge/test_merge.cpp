// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/merge/merge.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/orders.hpp>
#include <support/space.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <iterator>
#include <numeric>

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

template <class T>
constexpr std::int64_t merge_tile_of = lanewise::kernels::merge_tile_items<T, space>;

/// The origins of the items of the merge: numbers below a.size() are of a.
template <class T>
std::vector<std::int64_t> merged_order(const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<std::int64_t> order(a.size() + b.size());
  std::iota(order.begin(), order.end(), 0);
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(a.size());
  const auto item = [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    return at < a.size() ? a[at] : b[at - a.size()];
  };
  std::inplace_merge(order.begin(), middle, order.end(), [&](std::int64_t i, std::int64_t j) {
    return order_of<T>{}(item(i), item(j));
  });
  return order;
}

template <class V, class T>
void check_merge_calls(const std::vector<T>& a, const std::vector<T>& b, int shift = 0) {
  const auto n_a = static_cast<std::int64_t>(a.size()), n_b = static_cast<std::int64_t>(b.size());
  CAPTURE(n_a, n_b, shift);
  const auto order = merged_order(a, b);
  std::vector<T> both = a;
  both.insert(both.end(), b.begin(), b.end());
  std::vector<V> values, values_a, values_b;
  for (std::int64_t i = 0; i < n_a + n_b; ++i) values.push_back(item_of<V>(static_cast<u64>(i)));
  values_a.assign(values.begin(), values.begin() + n_a);
  values_b.assign(values.begin() + n_a, values.end());
  const array<T> in_a(a, shift), in_b(b), out(n_a + n_b, item_of<T>(77), shift),
      keys(n_a + n_b, item_of<T>(77), 1 - shift);
  const array<V> with_a(values_a), with_b(values_b, 1 - shift),
      out_values(n_a + n_b, item_of<V>(77));
  lanewise::merge(make_space(), in_a.const_view(), in_b.const_view(), out.view(), order_of<T>{});
  lanewise::merge_by_key(make_space(), in_a.const_view(), with_a.const_view(), in_b.const_view(),
                         with_b.const_view(), keys.view(), out_values.view(), order_of<T>{});
  const auto expected = oracle::gather(both, order);
  CHECK(difference(out.items(), expected) == "");
  CHECK(difference(keys.items(), expected) == "");
  CHECK(difference(out_values.items(), oracle::gather(values, order)) == "");
  CHECK((out.guards_intact() && keys.guards_intact() && out_values.guards_intact()));
  CHECK((in_a.unchanged() && in_b.unchanged() && with_a.unchanged() && with_b.unchanged()));
}

/// Nothing is written beside the output, whatever the input is.
void check_merge_bounds(const std::vector<u32>& a, const std::vector<u32>& b) {
  const auto n = static_cast<std::int64_t>(a.size() + b.size());
  const array<u32> in_a(a), in_b(b, 1), out(n, 77u);
  lanewise::merge(make_space(), in_a.const_view(), in_b.const_view(), out.view());
  (void)out.items();
  CHECK(out.guards_intact());
  CHECK((in_a.unchanged() && in_b.unchanged()));
}

struct store_to {
  u32* out;
  KOKKOS_FUNCTION void operator()(std::int64_t i, u32 x) const { out[i] = x; }
};

}  // namespace

TEMPLATE_TEST_CASE("merge is stable at every size", "[merge]", u32,
                   affine MORE_TYPES(std::uint8_t, double)) {
  const std::int64_t tile = merge_tile_of<TestType>;
  for (const std::int64_t n_a :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{33}, tile - 1, 2 * tile + 5}) {
    for (const std::int64_t n_b : {std::int64_t{0}, std::int64_t{1}, tile, tile + 31})
      for (const std::uint64_t distinct : {1, 100})
        check_merge_calls<u32>(sorted_items<TestType>(n_a, distinct, 7),
                               sorted_items<TestType>(n_b, distinct, 8), static_cast<int>(n_a % 2));
  }
  check_merge_calls<counters>(sorted_items<TestType>(tile + 7, 200, 1),
                              sorted_items<TestType>(300, 200, 2));
}

TEST_CASE("merge cuts many tiles ahead", "[merge]") {
  if (is_emulated) return;
  const std::int64_t n = lanewise::kernels::few_merge_tiles * merge_tile_of<u32>;
  check_merge_calls<u32>(sorted_items<u32>(n / 2 + 77, n, 3), sorted_items<u32>(n / 2, n, 4));
  check_merge_calls<u32>(sorted_items<u32>(n + 1, 5, 3), sorted_items<u32>(700, 5, 4));
}

TEST_CASE("merge of what is not sorted stays in its arrays", "[merge][sanitize]") {
  const std::int64_t n = merge_tile_of<u32> + 77;
  check_merge_bounds(random_items<u32>(n), random_items<u32>(2 * n, most_number<u32>(), 5));
  check_merge_bounds(random_items<u32>(300), {});
}

TEST_CASE("merge reads sources, and as many items as counts say", "[merge][sanitize]") {
  const std::int64_t n = 700;
  const auto a = sorted_items<u32>(n, 90, 1), b = sorted_items<u32>(n, 90, 2);
  const array<u32> in_a(a), in_b(b), out(2 * n, 77u);
  const cell<std::int64_t> count_a(n - 50), count_b(13);
  lanewise::merge(make_space(), lanewise::transformed(in_a.const_view(), lanewise::identity{}),
                  in_b.const_view(), lanewise::consumed(2 * n, store_to{out.data()}),
                  lanewise::less{}, {.count_a = count_a.view(), .count_b = count_b.view()});
  std::vector<u32> expected;
  std::merge(a.begin(), a.end() - 50, b.begin(), b.begin() + 13, std::back_inserter(expected));
  CHECK(difference(out.items(), expected, out.original()) == "");
}

TEST_CASE("Many tiles of a merge are cut by lanes", "[merge][sanitize]") {
  constexpr std::int64_t n_a = 17'000, n_b = 9'001, items = 3;
  const auto a = sorted_items<u32>(n_a, 300, 1), b = sorted_items<u32>(n_b, 300, 2);
  const array<u32> in_a(a), in_b(b);
  using source = lanewise::array_source<u32, lanewise::identity>;
  using kernel = lanewise::kernels::cut_merge_kernel<source, source, lanewise::less>;
  constexpr std::int64_t all = (n_a + n_b + items - 1) / items + 1;
  static_assert(all > kernel::most_by_warps);
  const array<std::int64_t> cuts(all, -1);
  lanewise::launch(
      make_space(), "test::cut", kernel::teams(all),
      kernel{{in_a.data(), n_a, {}}, {in_b.data(), n_b, {}}, {n_a}, {n_b}, items, cuts.data(), {}});
  const auto less = [&](std::int64_t i, std::int64_t j) {
    return b[static_cast<std::size_t>(j)] < a[static_cast<std::size_t>(i)];
  };
  std::vector<std::int64_t> expected;
  for (std::int64_t i = 0, j = 0; i + j <= n_a + n_b;) {
    if ((i + j) % items == 0 || i + j == n_a + n_b) expected.push_back(i);
    if (i + j == n_a + n_b) break;
    (j == n_b || (i < n_a && !less(i, j))) ? ++i : ++j;
  }
  CHECK(difference(cuts.items(), expected) == "");
}

TEST_CASE("merge refuses what it cannot do", "[merge]") {
  const auto exec = make_space();
  const array<u32> a(12, 1u), b(5, 1u), out(16, 77u);
  CHECK_THAT(refusal([&] { lanewise::merge(exec, a.const_view(), b.const_view(), out.view()); }),
             ContainsSubstring("lanewise::merge: out has 16 places, a has 12 items, b has 5"));
  const auto part = Kokkos::subview(out.view(), std::pair<int, int>(0, 3));
  CHECK_THAT(refusal([&] { lanewise::merge(exec, part, b.const_view(), out.view()); }),
             ContainsSubstring("overlap"));
  CHECK_THAT(refusal([&] {
               lanewise::merge_by_key(exec, a.const_view(), b.const_view(), b.const_view(),
                                      b.const_view(), out.view(), out.view());
             }),
             ContainsSubstring("values_a has 5 items, keys_a has 12"));
  CHECK((a.unchanged() && b.unchanged() && out.unchanged()));
}
