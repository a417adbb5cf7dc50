// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/search/sorted_search.hpp>
#include <lanewise/sequence/transform.hpp>
#include <support/functors.hpp>
#include <support/generators.hpp>
#include <support/items.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <limits>

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;

struct greater_first {
  template <class T>
  KOKKOS_FUNCTION bool operator()(const T& x, const T& y) const {
    return y < x;
  }
};

struct thrice {
  KOKKOS_FUNCTION std::uint32_t operator()(std::int64_t i) const {
    return static_cast<std::uint32_t>(3 * i);
  }
};

struct sixteenth {
  KOKKOS_FUNCTION std::uint32_t operator()(std::int64_t i) const {
    return static_cast<std::uint32_t>(i / 16);
  }
};
struct spread_queries {
  KOKKOS_FUNCTION std::uint32_t operator()(std::int64_t i) const {
    return static_cast<std::uint32_t>(i * 271 % ((std::int64_t{1} << 28) + 70));
  }
};

/// n keys in order among few or many numbers.
template <class T>
std::vector<T> sorted_keys(std::int64_t n, std::uint64_t most) {
  auto keys = random_items<T>(n, std::min<std::uint64_t>(most, most_number<T>()));
  std::sort(keys.begin(), keys.end());
  return keys;
}

/// Keys themselves, their neighbours, and the ends of the type.
template <class T>
std::vector<T> queries_near(const std::vector<T>& keys, std::int64_t q, std::uint64_t most) {
  auto queries = random_items<T>(q, std::min<std::uint64_t>(most, most_number<T>()), 5);
  auto random = make_random(99);
  for (std::size_t i = 0; i < queries.size() && !keys.empty(); i += 2) {
    const T key = keys[random() % keys.size()];
    const auto way = random() % 3;
    queries[i] = way == 0 ? key : static_cast<T>(way == 1 ? key + T(1) : key - T(1));
  }
  if (q > 3) {
    queries[0] = std::numeric_limits<T>::lowest();
    queries[1] = std::numeric_limits<T>::max();
  }
  return queries;
}

template <class T, class Less = lanewise::less>
struct expected_places {
  std::vector<std::int64_t> lower, upper;
  expected_places(const std::vector<T>& keys, const std::vector<T>& queries, Less less = {}) {
    for (const T& q : queries) {
      lower.push_back(std::lower_bound(keys.begin(), keys.end(), q, less) - keys.begin());
      upper.push_back(std::upper_bound(keys.begin(), keys.end(), q, less) - keys.begin());
    }
  }
};

/// All calls, on a View and on an index over it, which begin at any place of a line.
template <class T, class Less = lanewise::less>
void check_searches(const std::vector<T>& keys, const std::vector<T>& queries, int shift = 0,
                    Less less = {}, bool sorted = false) {
  CAPTURE(keys.size(), queries.size(), shift, sorted);
  const expected_places<T, Less> expected(keys, queries, less);
  const auto q = static_cast<std::int64_t>(queries.size());
  const array<T> in(keys, shift), asked(queries, 1);
  const array<std::int64_t> out(q, -7);
  const array<std::uint32_t> last(q, 7u);
  const lanewise::search_options with{.sorted_queries = sorted};
  const lanewise::search_index<T, memory> index(make_space(), in.const_view());
  lanewise::lower_bound(make_space(), in.const_view(), asked.const_view(), out.view(), less, with);
  CHECK(out.items() == expected.lower);
  out.assign(out.original());
  lanewise::lower_bound(make_space(), index, asked.const_view(), out.view(), less, with);
  CHECK(out.items() == expected.lower);
  CHECK(out.guards_intact());
  out.assign(out.original());
  lanewise::equal_range(make_space(), index, asked.const_view(), out.view(), last.view(), less,
                        with);
  CHECK(out.items() == expected.lower);
  const auto upper = last.items();
  CHECK(std::equal(upper.begin(), upper.end(), expected.upper.begin(), expected.upper.end()));
  CHECK(last.guards_intact());
  CHECK(in.unchanged());
  CHECK(asked.unchanged());
}

}  // namespace

TEMPLATE_TEST_CASE("Bounds of queries of any number in arrays of any size", "[sorted_search][long]",
                   std::uint32_t MORE_TYPES(std::uint64_t, double, std::uint8_t)) {
  int shift = 0;
  for (const std::int64_t n : {0,  1,   2,   7,   8,    9,    15,   16,   17,   31,    33,
                               63, 255, 256, 257, 1000, 4000, 4096, 4097, 9999, 70'000}) {
    for (const std::uint64_t most : {std::uint64_t{6}, std::uint64_t{3} * n + 1}) {
      const auto keys = sorted_keys<TestType>(n, most);
      shift = (shift + 5) % 17;
      check_searches(keys, queries_near(keys, 301, most), shift);
    }
  }
  const auto keys = sorted_keys<TestType>(1000, 2000);
  for (const std::int64_t q : {0, 1, 31, 32, 33, 64, 65, 127, 129, 1025, 9000})
    check_searches(keys, queries_near(keys, q, 2000));
}

TEMPLATE_TEST_CASE("Bounds of sorted queries, merged with the keys", "[sorted_search][sanitize]",
                   std::uint32_t MORE_TYPES(std::uint64_t)) {
  for (const std::int64_t n : {0, 1, 100, 5000}) {
    for (const std::int64_t q : {1, 90, 4000, 10'000}) {
      for (const std::uint64_t most : {6, 20'000}) {
        const auto keys = sorted_keys<TestType>(n, most);
        auto queries = queries_near(keys, q, most);
        std::sort(queries.begin(), queries.end());
        check_searches(keys, queries, 3, lanewise::less{}, true);
      }
    }
  }
}

TEST_CASE("More queries than the level in scratch costs", "[sorted_search]") {
  for (const std::int64_t n : {20'000, 300'000}) {
    if (is_emulated && n > 20'000) continue;
    const auto keys = sorted_keys<std::uint32_t>(n, 1u << 30);
    check_searches(keys, queries_near(keys, 66'000, 1u << 30), 3);
  }
}

TEST_CASE("Descending keys, keys of 12 bytes, floats that are no numbers", "[sorted_search]") {
  auto keys = sorted_keys<std::uint32_t>(5000, 9000);
  const auto queries = queries_near(keys, 999, 9000);
  std::reverse(keys.begin(), keys.end());
  check_searches(keys, queries, 2, greater_first{});

  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> floats = {-infinity, -1, -0.0f, 0.0f, 2, infinity, infinity};
  check_searches(floats, {nan, -infinity, infinity, 0.0f, -0.0f, 1.5f});
}

namespace {
struct by_sum_of_affine {
  KOKKOS_FUNCTION bool operator()(const affine& x, const affine& y) const { return x.b < y.b; }
};
}  // namespace

TEST_CASE("Keys of 12 bytes by an order of the caller's", "[sorted_search]") {
  for (const std::int64_t n : {5, 900, 20'000}) {
    std::vector<affine> keys(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < keys.size(); ++i)
      keys[i] = {7, static_cast<std::uint32_t>(i / 3 * 2), static_cast<std::uint32_t>(i)};
    std::vector<affine> queries(700);
    auto random = make_random(3);
    for (auto& q : queries) q = {1, static_cast<std::uint32_t>(random() % (n + 3)), 1};
    check_searches(keys, queries, 1, by_sum_of_affine{});
  }
}

TEST_CASE("Predecessors and successors, and what is contained", "[sorted_search][sanitize]") {
  const std::vector<std::uint32_t> keys = {1, 3, 3, 3, 7, 7, 9, 20, 20, 41};
  const std::vector<std::uint32_t> queries = {0, 1, 2, 3, 7, 8, 20, 40, 41, 100};
  const array<std::uint32_t> in(keys), asked(queries);
  const array<std::int32_t> out(10, 77);
  const array<std::uint8_t> is(10, 9);
  const Kokkos::View<bool*, memory> flags("flags", 10);
  const auto space = make_space();
  lanewise::predecessor(space, in.const_view(), asked.const_view(), out.view());
  CHECK(out.items() == std::vector<std::int32_t>{-1, 0, 0, 3, 5, 5, 8, 8, 9, 9});
  lanewise::strict_predecessor(space, in.const_view(), asked.const_view(), out.view());
  CHECK(out.items() == std::vector<std::int32_t>{-1, -1, 0, 0, 3, 5, 6, 8, 8, 9});
  lanewise::successor(space, in.const_view(), asked.const_view(), out.view());
  CHECK(out.items() == std::vector<std::int32_t>{0, 0, 1, 1, 4, 6, 7, 9, 9, 10});
  lanewise::strict_successor(space, in.const_view(), asked.const_view(), out.view());
  CHECK(out.items() == std::vector<std::int32_t>{0, 1, 1, 4, 6, 6, 9, 9, 10, 10});
  lanewise::contains(space, in.const_view(), asked.const_view(), is.view());
  CHECK(is.items() == std::vector<std::uint8_t>{0, 1, 0, 1, 1, 0, 1, 0, 1, 0});
  lanewise::contains(space, in.const_view(), asked.const_view(), flags, lanewise::less{},
                     {.sorted_queries = true});
  Kokkos::fence();
  const auto on_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), flags);
  for (int i = 0; i < 10; ++i) CHECK(on_host(i) == (is.items()[static_cast<std::size_t>(i)] == 1));
}

TEST_CASE("The count of queries on the device, sources and sinks", "[sorted_search]") {
  const auto keys = sorted_keys<std::uint32_t>(3000, 5000);
  const array<std::uint32_t> in(keys);
  const array<std::int64_t> out(100, -7);
  const cell<std::int32_t> count(33);
  lanewise::lower_bound(make_space(), in.const_view(), lanewise::generated(100, thrice{}),
                        out.view(), lanewise::less{}, {.count = count.view()});
  const auto places = out.items();
  for (std::int64_t i = 0; i < 100; ++i) {
    const auto lower =
        std::lower_bound(keys.begin(), keys.end(), static_cast<std::uint32_t>(3 * i));
    CHECK(places[static_cast<std::size_t>(i)] == (i < 33 ? lower - keys.begin() : -7));
  }
}

TEST_CASE("Lists in scratch, by each of the paper's methods, from every lane",
          "[sorted_search][sanitize]") {
  const auto check_all = [](const std::vector<std::uint32_t>& keys,
                            const std::vector<std::uint32_t>& queries) {
    CAPTURE(keys.size());
    const expected_places<std::uint32_t> expected(keys, queries);
    const array<std::uint32_t> in(keys), asked(queries);
    const array<std::int64_t> out(static_cast<std::int64_t>(queries.size()), -7);
    const auto check_one = [&](const auto& method) {
      out.assign(out.original());
      lanewise::lower_bound_in_scratch(make_space(), method, in.const_view(), asked.const_view(),
                                       out.view());
      CHECK(out.items() == expected.lower);
      CHECK(out.guards_intact());
    };
    check_one(lanewise::column_search<1>{});
    check_one(lanewise::column_search<32>{});
    check_one(lanewise::column_search<32, lanewise::window_search::linear>{});
  };
  for (const std::int64_t n : {0,   1,   2,    3,    31,   32,   33,   63,   64,   65,
                               127, 129, 1000, 1024, 1056, 4000, 4064, 4096, 4097, 8192}) {
    std::vector<std::uint32_t> keys(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<std::uint32_t>(2 * i + 1);
    // Every answer from every lane, or some of them.
    std::vector<std::uint32_t> queries;
    const std::int64_t step = n / 40 + 1;
    for (std::int64_t answer = 0; answer <= n; answer += step)
      queries.insert(queries.end(), 32, static_cast<std::uint32_t>(2 * answer));
    for (std::uint32_t l = 0; l < 65; ++l) queries.push_back(2 * l);
    check_all(keys, queries);
  }
  const auto least = std::numeric_limits<std::uint32_t>::min();
  const auto most = std::numeric_limits<std::uint32_t>::max();
  check_all({least, least, 5, most, most}, {least, 1, 5, 6, most});
  check_all(std::vector<std::uint32_t>(40, most), {least, most});
}

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace test_search {

/// Every other lane of a window has a key, and asks by the warp, and on its own.
struct ask_tree_kernel {
  struct policy : launch_policy {};
  template <class Team>
  struct scratch {};

  search_tree<std::uint32_t> tree;
  const std::uint32_t* queries;
  std::int64_t n;
  std::int64_t *lower, *upper;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    constexpr std::int64_t width = warp_type::width;
    using solo = typename warp_type::template part<1>;
    const auto warp = team.warp();
    const auto [first, last] = team.share(divide_up(n, width));
    for (std::int64_t w = first + team.warp_index(); w < last; w += Team::warps) {
      const std::int64_t at = w * width, left = n - at;
      const auto exist = warp.first(left) & ((warp.lane() & decltype(warp.lane())(1u)) == 0u);
      const auto key = warp.load(exist, queries + at, 7u);
      warp.store(exist, lower + at, tree.template bound<false>(warp, exist, key));
      warp.store(exist, upper + at,
                 warp.map(
                     exist, [&](std::uint32_t k) { return tree.template bound_of<true, solo>(k); },
                     std::int64_t{0}, key));
    }
  }
};

}  // namespace test_search
LANEWISE_END_TARGET_NAMESPACE

TEST_CASE("The tree in a kernel, by the warp and by single lanes", "[sorted_search][sanitize]") {
  for (const std::int64_t n : {0, 5, 16, 17, 300, 5000}) {
    CAPTURE(n);
    const auto keys = sorted_keys<std::uint32_t>(n, 2 * static_cast<std::uint64_t>(n) + 3);
    const auto queries = queries_near(keys, 333, 2 * static_cast<std::uint64_t>(n) + 3);
    const expected_places<std::uint32_t> expected(keys, queries);
    const array<std::uint32_t> in(keys, 3), asked(queries);
    const array<std::int64_t> lower(333, -7), upper(333, -7);
    const lanewise::search_index<std::uint32_t, memory> index(make_space(), in.const_view());
    lanewise::launch(make_space(), "test::ask_tree", 3,
                     lanewise::test_search::ask_tree_kernel{index.view(), asked.data(), 333,
                                                            lower.data(), upper.data()});
    const auto l = lower.items(), u = upper.items();
    for (std::size_t i = 0; i < l.size(); ++i) {
      CHECK(l[i] == (i % 2 == 0 ? expected.lower[i] : -7));
      CHECK(u[i] == (i % 2 == 0 ? expected.upper[i] : -7));
    }
  }
}

TEST_CASE("An index is no larger than it says, and is built again", "[sorted_search]") {
  auto keys = sorted_keys<std::uint32_t>(10'000, 20'000);
  const array<std::uint32_t> in(keys);
  lanewise::search_index<std::uint32_t, memory> index(make_space(), in.const_view());
  CHECK(index.size() == 10'000);
  CHECK(index.levels() == 4);
  // 625 or 626 samples of the array, 40 of these, 3 of these: in whole nodes.
  CHECK(index.bytes() <= 4 * (640 + 48 + 16));
  for (auto& k : keys) k += 5;
  in.assign(keys);
  index.build(make_space());
  const auto queries = queries_near(keys, 500, 20'000);
  const array<std::uint32_t> asked(queries);
  const array<std::int64_t> out(500, -7);
  lanewise::upper_bound(make_space(), index, asked.const_view(), out.view());
  CHECK(out.items() == expected_places<std::uint32_t>(keys, queries).upper);
  const lanewise::search_index<std::uint32_t, memory> none;
  lanewise::upper_bound(make_space(), none, asked.const_view(), out.view());
  CHECK(out.items() == std::vector<std::int64_t>(500, 0));
}

TEST_CASE("The first descent is named", "[sorted_search]") {
  auto keys = sorted_keys<std::uint32_t>(1000, 3000);
  keys[700] = 1;
  keys[801] = 0;
  const array<std::uint32_t> in(keys);
  CHECK_THROWS_WITH(lanewise::expects_sorted(make_space(), in.const_view()),
                    ContainsSubstring("item 700 is less than the item before it"));
  keys.resize(700);
  const array<std::uint32_t> sorted(keys);
  lanewise::expects_sorted(make_space(), sorted.const_view());
}

TEST_CASE("Keys that are not sorted lead to no place outside", "[sorted_search][sanitize]") {
  for (const std::int64_t n : {40, 3000, 40'000}) {
    const array<std::uint32_t> in(random_items<std::uint32_t>(n));
    const array<std::uint32_t> asked(random_items<std::uint32_t>(2000, ~0u, 9));
    const array<std::int64_t> out(2000, -7);
    const auto all_inside = [&] {
      for (const std::int64_t place : out.items()) {
        if (place < 0 || place > n) return false;
      }
      return true;
    };
    const lanewise::search_index<std::uint32_t, memory> index(make_space(), in.const_view());
    lanewise::lower_bound(make_space(), index, asked.const_view(), out.view());
    CHECK(all_inside());
    lanewise::lower_bound(make_space(), in.const_view(), asked.const_view(), out.view(),
                          lanewise::less{}, {.sorted_queries = true});
    CHECK(all_inside());
    CHECK(out.guards_intact());
  }
}

TEST_CASE("More keys than fit 32 bits", "[.large]") {
  // Keys i / 16: every key 16 times.
  const std::int64_t n = (std::int64_t{1} << 32) + 999;
  const Kokkos::View<std::uint32_t*, memory> keys(
      Kokkos::view_alloc("keys", Kokkos::WithoutInitializing), n);
  lanewise::transform(make_space(), lanewise::generated(n, sixteenth{}), keys,
                      lanewise::identity{});
  const std::int64_t q = 1'000'003;
  const Kokkos::View<std::uint32_t*, memory> queries("queries", q);
  lanewise::transform(make_space(), lanewise::generated(q, spread_queries{}), queries,
                      lanewise::identity{});
  const array<std::int64_t> out(q, -7);
  const auto check_places = [&] {
    std::int64_t wrong = 0;
    const auto places = out.items();
    for (std::int64_t i = 0; i < q; ++i) {
      const std::int64_t first = std::int64_t{16} * spread_queries{}(i);
      wrong += places[static_cast<std::size_t>(i)] != std::min(first, n);
    }
    return wrong;
  };
  const lanewise::search_index<std::uint32_t, memory> index(make_space(), keys);
  lanewise::lower_bound(make_space(), index, queries, out.view());
  CHECK(check_places() == 0);
  out.assign(out.original());
  lanewise::lower_bound(make_space(), keys, queries, out.view());
  CHECK(check_places() == 0);
}

TEST_CASE("What a search refuses", "[sorted_search]") {
  const array<std::uint32_t> keys(10, 1u), queries(10, 1u);
  const array<std::int64_t> few(9, 0);
  const auto call = [](const auto& k, const auto& q, const auto& o) {
    lanewise::lower_bound(make_space(), k, q, o);
  };
  CHECK_THROWS_WITH(call(keys.const_view(), queries.const_view(), few.view()),
                    ContainsSubstring("out has 9 places, queries has 10"));
  const Kokkos::View<const std::uint32_t*, memory, Kokkos::MemoryUnmanaged> none(nullptr, 5);
  CHECK_THROWS_WITH(call(none, queries.const_view(), few.view()),
                    ContainsSubstring("keys has 5 items and no memory"));
  CHECK_THROWS_WITH(
      lanewise::lower_bound(make_space(), keys.const_view(), queries.const_view(), queries.view()),
      ContainsSubstring("overlap"));
  const array<std::uint32_t> long_list(20'000, 1u);
  CHECK_THROWS_WITH(lanewise::lower_bound_in_scratch(make_space(), lanewise::column_search<>{},
                                                     long_list.const_view(), queries.const_view(),
                                                     array<std::int64_t>(10, 0).view()),
                    ContainsSubstring("bytes of scratch"));
  const Kokkos::View<const std::uint32_t*, memory, Kokkos::MemoryUnmanaged> huge(
      keys.data(), (std::int64_t{1} << 34) + 1);
  CHECK_THROWS_WITH(call(huge, queries.const_view(), few.view()),
                    ContainsSubstring("items, more than 17179869184"));
}
