// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/backend.hpp>
#include <lanewise/tile/windows.hpp>
#include <support/oracle.hpp>
#include <support/orders.hpp>
#include <support/space.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace test_kernels {

struct three_warps : launch_policy {
  static constexpr int warps = 3;
};

/// Stores what windows of the items [first, last) bring; how often lanes have an item.
template <class Source, bool by_team>
struct store_windows {
  using policy = three_warps;
  using T = typename Source::value_type;
  template <class Team>
  struct scratch {};

  bordered<Source> in;
  std::int64_t first;
  std::int64_t last;
  T* item;
  T* before;
  T* after;
  std::uint32_t* visits;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    const auto warp = team.warp();
    const auto mine = team.share(last - first);
    const std::int64_t begin = first + mine.begin, end = first + mine.end;
    const auto store = [&](std::int64_t at, const auto& exists, const auto& x, const auto& left,
                           const auto& right) {
      warp.store(exists, item + at, x);
      warp.store(exists, before + at, left);
      warp.store(exists, after + at, right);
      using counts = typename Team::warp_type::template lanes<std::uint32_t>;
      warp.store(exists, visits + at, warp.load(exists, visits + at, 0u) + counts(1u));
    };
    if constexpr (by_team) {
      windows_of_team(team, in, begin, end, store);
    } else {
      const auto part = even_share(end - begin, team.warp_index(), Team::warps);
      windows_of_warp(team, in, begin + part.begin, begin + part.end, store);
    }
  }
};

/// Which items begin a run of equal ones, and how many of them every warp has.
template <class T>
struct mark_heads {
  using policy = three_warps;
  template <class Team>
  struct scratch {};

  const T* items;
  std::int64_t n;
  std::uint8_t* heads;
  std::int64_t* runs;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    const auto warp = team.warp();
    std::int64_t count = 0;
    const auto mine = team.share(n);
    const array_source<T, identity> source{items, n, {}};
    windows_of_team(
        team, bordered<array_source<T, identity>>{source, n, T{}, T{}}, mine.begin, mine.end,
        [&](std::int64_t at, const auto& exists, const auto& x, const auto& left, const auto&) {
          const auto lane = warp.lane();
          const auto head = warp.map(
              exists,
              [at](const T& here, const T& there, std::uint32_t l) -> std::uint8_t {
                return at + l == 0 || !(here == there);
              },
              std::uint8_t{0}, x, left, lane);
          warp.store(exists, heads + at, head);
          count += warp.count(head != std::uint8_t{0});
        });
    warp.once([&] { runs[team.index() * Team::warps + team.warp_index()] = count; });
  }
};

/// The sum of three neighbours, the first and the last item standing for the missing ones: a
/// stencil.
struct smooth {
  using policy = three_warps;
  template <class Team>
  struct scratch {};

  const double* items;
  std::int64_t n;
  double* out;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using source = array_source<double, identity>;
    const auto warp = team.warp();
    const auto mine = team.share(n);
    const bordered<source> in{{items, n, {}}, n, items[0], items[n - 1]};
    windows_of_team(team, in, mine.begin, mine.end,
                    [&](std::int64_t at, const auto& exists, const auto& x, const auto& left,
                        const auto& right) { warp.store(exists, out + at, left + x + right); });
  }
};

}  // namespace test_kernels
LANEWISE_END_NAMESPACE

namespace {

using namespace test;

template <bool by_team, class T, class Source>
void check_windows(const Source& source, const std::vector<T>& seen, std::int64_t first,
                   std::int64_t last, std::int64_t league) {
  const auto n = static_cast<std::int64_t>(seen.size());
  CAPTURE(n, first, last, league, by_team);
  const T none = item_of<T>(77), front = item_of<T>(5), back = item_of<T>(6);
  const array<T> item(n, none, 1), before(n, none), after(n, none, 2);
  const array<std::uint32_t> visits(n, 0u);

  lanewise::launch(make_space(), "Lanewise::test::windows", league,
                   lanewise::test_kernels::store_windows<Source, by_team>{{source, n, front, back},
                                                                          first,
                                                                          last,
                                                                          item.data(),
                                                                          before.data(),
                                                                          after.data(),
                                                                          visits.data()});

  std::vector<T> expected(seen.size(), none), left(seen.size(), none), right(seen.size(), none);
  std::vector<std::uint32_t> once(seen.size(), 0);
  for (std::int64_t i = first; i < last; ++i) {
    const auto k = static_cast<std::size_t>(i);
    expected[k] = seen[k];
    left[k] = i > 0 ? seen[k - 1] : front;
    right[k] = i + 1 < n ? seen[k + 1] : back;
    once[k] = 1;
  }
  CHECK(difference(item.items(), expected) == "");
  CHECK(difference(before.items(), left) == "");
  CHECK(difference(after.items(), right) == "");
  CHECK(difference(visits.items(), once) == "");
  CHECK(item.guards_intact());
  CHECK(after.guards_intact());
}

struct index_squared {
  KOKKOS_FUNCTION std::uint32_t operator()(std::int64_t i) const {
    return static_cast<std::uint32_t>(i * i);
  }
};

}  // namespace

TEMPLATE_TEST_CASE("Windows bring items and their neighbours", "[windows][sanitize]", std::uint32_t,
                   affine MORE_TYPES(std::uint8_t, std::uint64_t, double)) {
  using source = lanewise::array_source<TestType, lanewise::identity>;
  constexpr std::int64_t width = lanewise::warp_t<space>::width;
  for (const std::int64_t n :
       {std::int64_t{1}, std::int64_t{2}, width - 1, width, width + 1, 2 * width - 1, 2 * width,
        2 * width + 1, 5 * width, std::int64_t{1000}}) {
    const auto items = random_items<TestType>(n);
    const array<TestType> in(items, 3);
    for (const std::int64_t first : {std::int64_t{0}, std::int64_t{1}, n / 2}) {
      for (const std::int64_t last : {first, (first + n) / 2, n - 1, n}) {
        if (last < first) continue;
        check_windows<true>(source{in.data(), n, {}}, items, first, last, 2);
        check_windows<false>(source{in.data(), n, {}}, items, first, last, 1);
      }
    }
    CHECK(in.unchanged());
  }
}

TEST_CASE("Windows of a source that computes its items", "[windows]") {
  std::vector<std::uint32_t> squares;
  for (std::int64_t i = 0; i < 700; ++i) squares.push_back(index_squared{}(i));
  check_windows<true>(lanewise::generated(700, index_squared{}), squares, 0, 700, 2);
  check_windows<true>(lanewise::generated(700, index_squared{}), squares, 3, 650, 2);
}

TEST_CASE("Windows find the heads of runs", "[windows][sanitize]") {
  for (const std::int64_t n : {1, 31, 32, 33, 1000}) {
    for (const std::uint64_t distinct : {1, 2, 100}) {
      CAPTURE(n, distinct);
      const auto items = items_with_equals<std::uint32_t>(n, distinct, 3);
      const std::int64_t league = 2;
      const array<std::uint32_t> in(items, 1);
      const array<std::uint8_t> heads(n, std::uint8_t{7});
      const array<std::int64_t> runs(3 * league, 0);

      lanewise::launch(make_space(), "Lanewise::test::heads", league,
                       lanewise::test_kernels::mark_heads<std::uint32_t>{in.data(), n, heads.data(),
                                                                         runs.data()});

      std::vector<std::uint8_t> expected;
      for (std::size_t i = 0; i < items.size(); ++i)
        expected.push_back(i == 0 || items[i] != items[i - 1]);
      std::int64_t total = 0;
      for (const std::int64_t r : runs.items()) total += r;
      CHECK(difference(heads.items(), expected) == "");
      CHECK(total == std::count(expected.begin(), expected.end(), 1));
      CHECK(heads.guards_intact());
    }
  }
}

TEST_CASE("Windows serve a stencil", "[windows][sanitize]") {
  for (const std::int64_t n : {1, 2, 33, 500}) {
    CAPTURE(n);
    const auto items = random_items<double>(n, 1000);
    const array<double> in(items), out(n, -1.0);

    lanewise::launch(make_space(), "Lanewise::test::smooth", 2,
                     lanewise::test_kernels::smooth{in.data(), n, out.data()});

    std::vector<double> expected;
    const auto at = [&](std::int64_t i) {
      return items[static_cast<std::size_t>(std::clamp<std::int64_t>(i, 0, n - 1))];
    };
    for (std::int64_t i = 0; i < n; ++i) expected.push_back(at(i - 1) + at(i) + at(i + 1));
    CHECK(difference(out.items(), expected) == "");
  }
}
