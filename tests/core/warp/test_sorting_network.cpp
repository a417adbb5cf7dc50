// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/backend.hpp>
#include <lanewise/warp/sorting_network.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>

LANEWISE_BEGIN_NAMESPACE
namespace test_kernels {

/// A warp sorts k windows of items as one run, and notes how many they are.
template <class T, int k>
struct sort_windows {
  struct policy : launch_policy {};
  template <class Team>
  struct scratch {};

  T* items;
  std::int64_t runs;
  int* run;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    constexpr int width = warp_type::width;
    const auto warp = team.warp();
    team.once([&] { *run = k * width; });
    const auto mine = team.share(runs);
    for (std::int64_t r = mine.begin + team.warp_index(); r < mine.end; r += Team::warps) {
      T* const from = items + r * k * width;
      lanes_t<warp_type, T> x[k];
      LANEWISE_UNROLL
      for (int c = 0; c < k; ++c) x[c] = warp.load(from + c * width);
      detail::sort_across(warp, x);
      LANEWISE_UNROLL
      for (int c = 0; c < k; ++c) warp.store(from + c * width, x[c]);
    }
  }
};

}  // namespace test_kernels
LANEWISE_END_NAMESPACE

namespace {

template <class T, int k>
void check_windows_sorted(int bits) {
  using namespace test;
  const std::int64_t runs = 37, most = runs * k * 64;
  std::vector<T> items;
  auto random = make_random(static_cast<std::uint64_t>(bits));
  for (std::int64_t i = 0; i < most; ++i) items.push_back(static_cast<T>(random() >> (64 - bits)));
  const array<T> sorted(items);
  const cell<int> run;
  lanewise::launch(make_space(), "Lanewise::test::sort_windows", 1,
                   lanewise::test_kernels::sort_windows<T, k>{sorted.data(), runs, run.data()});
  const int length = run.get();
  REQUIRE(length <= k * 64);
  for (std::int64_t r = 0; r < runs; ++r)
    std::sort(items.begin() + r * length, items.begin() + (r + 1) * length);
  CHECK(sorted.items() == items);
}

}  // namespace

TEMPLATE_TEST_CASE("Items of a warp are sorted across lanes", "[sorting_network]", std::uint16_t,
                   std::uint32_t, std::uint64_t) {
  constexpr int all = 8 * sizeof(TestType);
  for (const int bits : {1, 4, 9, all}) {
    CAPTURE(bits);
    check_windows_sorted<TestType, 1>(bits);
    check_windows_sorted<TestType, 2>(bits);
    check_windows_sorted<TestType, 4>(bits);
  }
}
