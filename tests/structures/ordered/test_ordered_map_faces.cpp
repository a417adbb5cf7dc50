// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/ordered/ordered_map.hpp>

#include <structures/ordered/check_ordered.hpp>

// Ordered maps read inside kernels, by warps and by single threads, against bulk calls.

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace test_kernels {

using ordered_u32 = ordered_map<std::uint32_t, std::uint32_t, test::memory>;

/// What a query finds: all that the faces can say.
struct ordered_answer {
  table_status found = table_status::none, above = table_status::none, below = table_status::none;
  std::uint32_t value = 1, lower = 1, upper = 1, above_key = 1, above_value = 1, below_key = 1,
                below_value = 1;
  std::uint32_t sum = 0;  // of keys in [query, query + 100]
  friend bool operator==(const ordered_answer&, const ordered_answer&) = default;
};

/// By warps; every third lane has no query.
struct ask_by_warps {
  using policy = two_warps;
  template <class Team>
  struct scratch {};

  ordered_u32::view_type map;
  const std::uint32_t* queries;
  ordered_answer* answers;
  std::uint32_t n;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    using numbers = typename warp_type::template lanes<std::uint32_t>;
    const auto warp = team.warp();
    each_number(team, n, [&](auto number, auto in_range, std::uint32_t) {
      const auto third = warp.map([](std::uint32_t i) { return i % 3; }, number);
      const typename warp_type::template mask_for<std::uint32_t> active = in_range & (third != 2u);
      auto query = warp.gather(active, queries, number, 0u);
      numbers value(1u), above(1u), above_value(1u), below(1u), below_value(1u);
      auto found = map.find(warp, active, query, value);
      auto lower = map.rank(warp, active, query);
      auto upper = lower + map.count(warp, active, query);
      auto next = map.strict_successor(warp, active, query, above, above_value);
      auto before = map.predecessor(warp, active, query, below, below_value);
      // A cursor for each lane.
      numbers sum(0u), place = lower;
      const auto last = map.upper_bound(
          warp, active,
          warp.map([](std::uint32_t q) { return q + 100 < q ? ~std::uint32_t{0} : q + 100; },
                   query));
      for (auto inside = active & (place < last); warp.any(inside);
           inside = active & (place < last)) {
        sum = sum + select(inside, map.key(warp, inside, place), numbers(0u));
        place = place + numbers(1u);
      }
      ordered_answer* const to = answers;
      warp.each(
          active,
          [to](std::uint32_t i, table_status f, table_status a, table_status b, std::uint32_t v,
               std::uint32_t l, std::uint32_t u, std::uint32_t ak, std::uint32_t av,
               std::uint32_t bk, std::uint32_t bv,
               std::uint32_t s) { to[i] = {f, a, b, v, l, u, ak, av, bk, bv, s}; },
          number, found, next, before, value, lower, upper, above, above_value, below, below_value,
          sum);
    });
  }
};

/// Asks by a thread for each query.
struct ask_by_threads {
  ordered_u32::view_type map;
  const std::uint32_t* queries;
  ordered_answer* answers;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::uint32_t q = queries[i];
    const table_scalar_face_t<test::space, ordered_u32> face(map);
    ordered_answer a;
    a.found = face.find(q, a.value);
    a.lower = face.lower_bound(q);
    a.upper = face.rank(q) + face.count(q);
    a.above = face.strict_successor(q, a.above_key, a.above_value);
    a.below = face.predecessor(q, a.below_key, a.below_value);
    const std::uint32_t last = face.upper_bound(q + 100 < q ? ~std::uint32_t{0} : q + 100);
    for (std::uint32_t place = a.lower; place < last; ++place) a.sum += face.key(place);
    answers[i] = a;
  }
};

}  // namespace test_kernels
LANEWISE_END_TARGET_NAMESPACE

namespace {

using namespace test;
using u32 = std::uint32_t;
using lanewise::test_kernels::ordered_answer;

/// f(i) for i below n, by threads of the space.
template <class Exec, class F>
void for_threads(const Exec& exec, u32 n, const F& f) {
  if constexpr (Kokkos::is_execution_space_v<Exec>) {
    Kokkos::parallel_for("ask", Kokkos::RangePolicy<Exec>(exec, 0, n), f);
  } else {
    for (u32 i = 0; i < n; ++i) f(i);
  }
}

TEST_CASE("ordered_map: warps and threads read", "[ordered][sanitize]") {
  auto random = make_random(21);
  const auto exec = make_space();
  for (const std::size_t n : {0, 1, 16, 17, 300, is_emulated ? 700 : 9000}) {
    std::map<u32, u32> model;
    std::vector<u32> keys, values, queries = {0, 1, ~u32{0}, ~u32{0} - 1};
    for (std::size_t i = 0; i < n; ++i) {
      keys.push_back(i == 7 ? 0 : (i == 8 ? ~u32{0} : static_cast<u32>(random() % (4 * n))));
      values.push_back(static_cast<u32>(random()));
      model.emplace(keys.back(), values.back());
    }
    for (int i = 0; i < 200; ++i) queries.push_back(static_cast<u32>(random() % (4 * n + 3)));
    lanewise::test_kernels::ordered_u32 map;
    lanewise::insert(exec, map, array<u32>(keys).view(), array<u32>(values).view());
    const array<u32> q(queries);
    const auto many = static_cast<u32>(queries.size());
    const array<ordered_answer> by_warps(many, ordered_answer{}),
        by_threads(many, ordered_answer{});
    lanewise::launch(
        exec, "ask", 3,
        lanewise::test_kernels::ask_by_warps{map.view(), q.data(), by_warps.data(), many});
    const lanewise::test_kernels::ask_by_threads ask{map.view(), q.data(), by_threads.data()};
    for_threads(exec, many, ask);
    const auto w = by_warps.items(), t = by_threads.items();
    for (u32 i = 0; i < many; ++i) {
      const auto at = model.lower_bound(queries[i]), after = model.upper_bound(queries[i]);
      ordered_answer expected;
      expected.found = at != after ? table_status::found : table_status::absent;
      if (at != after) expected.value = at->second;
      expected.lower = static_cast<u32>(std::distance(model.begin(), at));
      expected.upper = static_cast<u32>(std::distance(model.begin(), after));
      expected.above = after != model.end() ? table_status::found : table_status::absent;
      if (after != model.end()) {
        expected.above_key = after->first;
        expected.above_value = after->second;
      }
      expected.below = after != model.begin() ? table_status::found : table_status::absent;
      if (after != model.begin()) {
        expected.below_key = std::prev(after)->first;
        expected.below_value = std::prev(after)->second;
      }
      const u32 last = queries[i] + 100 < queries[i] ? ~u32{0} : queries[i] + 100;
      for (auto e = at; e != model.end() && e->first <= last; ++e) expected.sum += e->first;
      REQUIRE((t[i] == expected));
      REQUIRE((w[i] == (i % 3 == 2 ? ordered_answer{} : expected)));
    }
    CHECK((by_warps.guards_intact() && by_threads.guards_intact()));
  }
}

}  // namespace
