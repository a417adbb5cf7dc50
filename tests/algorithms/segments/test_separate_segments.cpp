// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/segments/segmented_reduce.hpp>

#include <catch2/catch_template_test_macros.hpp>

#include <algorithms/select/check_compact.hpp>
#include <limits>

// Segments by begins and ends: in any order, with gaps, overlaps and errors.

namespace {

using namespace test;
using u32 = std::uint32_t;
using i64 = std::int64_t;

struct segments_of_items {
  std::vector<i64> begin;
  std::vector<i64> end;
};

/// `many` segments in `items` items, with lengths that warps and teams take.
segments_of_items some_segments(i64 many, i64 items) {
  auto random = make_random(static_cast<std::uint64_t>(many));
  segments_of_items all;
  for (i64 s = 0; s < many; ++s) {
    const auto most = s % 37 == 5 ? items : (s % 11 == 3 ? 2000 : 70);
    const auto length = static_cast<i64>(
        random_number(random, static_cast<std::uint64_t>(std::min<i64>(most, items))));
    const auto begin =
        static_cast<i64>(random_number(random, static_cast<std::uint64_t>(items - length)));
    all.begin.push_back(begin);
    all.end.push_back(begin + length);
  }
  return all;
}

template <class T, class Op>
std::vector<T> reduced(const std::vector<T>& items, const segments_of_items& segments, Op op,
                       T init) {
  const auto n = static_cast<i64>(items.size());
  std::vector<T> out;
  for (std::size_t s = 0; s < segments.begin.size(); ++s) {
    T sum = init;
    const i64 begin = segments.begin[s], end = segments.end[s];
    if (begin >= 0 && begin <= end && end <= n) {
      for (i64 i = begin; i < end; ++i) sum = op(sum, items[static_cast<std::size_t>(i)]);
    }
    out.push_back(sum);
  }
  return out;
}

template <class T, class Op>
void check(const std::vector<T>& items, const segments_of_items& segments, Op op, const T& init,
           std::uint64_t bad) {
  const auto many = static_cast<i64>(segments.begin.size());
  const array<T> in(items, 1), out(many + 1, item_of<T>(77));
  const array<i64> begins(segments.begin), ends(segments.end);
  const cell<lanewise::status> errors;
  lanewise::segmented_reduce(make_space(), in.const_view(), begins.const_view(), ends.const_view(),
                             out.view(), op, init, {.errors = errors.view()});
  check_front(out, reduced(items, segments, op, init));
  CHECK(errors.get().bad_items == bad);
  CHECK(in.unchanged());
}

}  // namespace

TEMPLATE_TEST_CASE("Segments may lie anywhere", "[separate_segments][sanitize]", u32,
                   affine MORE_TYPES(std::uint8_t, double)) {
  using T = TestType;
  const i64 items = is_emulated ? 6000 : 50'000;
  const auto all = random_items<T>(items, most_summand<T>());
  for (const i64 many : {1, 31, 32, 33, is_emulated ? 300 : 3000}) {
    CAPTURE(many);
    if constexpr (std::is_same_v<T, affine>) {
      check(all, some_segments(many, items), then{}, affine{1, 2, 3}, 0);
    } else {
      check(all, some_segments(many, items), lanewise::plus{}, T(3), 0);
      check(all, some_segments(many, items), last_nonzero{}, T(3), 0);
    }
  }
  check(std::vector<u32>(), {{0, 0}, {0, 0}}, lanewise::plus{}, 7u, 0);
}

TEST_CASE("Segments that are none are counted and empty", "[separate_segments][sanitize]") {
  const i64 n = 5000, far = std::numeric_limits<i64>::max();
  auto segments = some_segments(100, n);
  const std::vector<std::pair<i64, i64>> bad = {
      {5, 4}, {-1, 3}, {-1, -1}, {n, n + 1}, {0, far}, {far, far}, {-far, far}, {n + 1, n + 1},
  };
  for (std::size_t i = 0; i < bad.size(); ++i) {
    segments.begin[12 * i] = bad[i].first;
    segments.end[12 * i] = bad[i].second;
  }
  check(random_items<u32>(n), segments, lanewise::plus{}, 9u, bad.size());
}

TEST_CASE("Begins and ends are of any integers, and options hold", "[separate_segments]") {
  const auto exec = make_space();
  const array<std::uint8_t> in(300, std::uint8_t{1});
  const array<int> begins(std::vector<int>{0, 100, 299, 301});
  const array<std::size_t> ends(std::vector<std::size_t>{300, 90, 300, ~std::size_t{0}});
  const array<u32> out(4, 77u);
  const cell<int> count(3);
  lanewise::workspace work;
  lanewise::segmented_reduce(exec, in.view(), begins.view(), ends.view(), out.view(),
                             lanewise::accumulate_as<u32>(lanewise::plus{}), std::uint8_t{5},
                             {.work = &work, .count = count.view()});
  CHECK(out.items() == std::vector<u32>{305, 5, 6, 77});
  std::string seen;
  try {
    lanewise::check(exec, work);
  } catch (const std::runtime_error& error) {
    seen = error.what();
  }
  CHECK(seen.find("1 items") != std::string::npos);

  const array<u32> narrow(3, 77u);
  CHECK(refusal([&] {
          lanewise::segmented_reduce(exec, in.view(), begins.view(), ends.view(), narrow.view(),
                                     lanewise::plus{}, 0u);
        }) == "lanewise::segmented_reduce: out has 3 places, begins has 4 items");
  const array<int> fewer(3, 0);
  CHECK(refusal([&] {
          lanewise::segmented_reduce(exec, in.view(), begins.view(), fewer.view(), out.view(),
                                     lanewise::plus{}, 0u);
        }) == "lanewise::segmented_reduce: ends has 3 items, begins has 4");
}
