// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithms/sort/check_segmented_sort.hpp>
#include <limits>

// Keys alone; and what calls accept and refuse.

using namespace test;

TEMPLATE_TEST_CASE("segmented_sort sorts segments of any lengths", "[segmented_sort]",
                   std::uint32_t MORE_TYPES(std::uint8_t, std::int64_t, float, double,
                                            unsigned __int128)) {
  for (const auto& lengths : sorting_lengths(2 * job_items<TestType>() + 77)) {
    CAPTURE(lengths.size(), lengths.front());
    const auto offsets = offsets_of_lengths(lengths);
    check_segments_sorted(sorting_keys<TestType>(distribution::uniform, offsets.back()), offsets);
  }
}

TEST_CASE("segmented_sort sorts at every number and mean length", "[segmented_sort]") {
  for (const std::int64_t segments : sizes_around(job_items<std::uint32_t>() / 4)) {
    for (const std::uint64_t mean : {1u, 5u, 100u}) {
      if (segments * static_cast<std::int64_t>(mean) > (is_emulated ? 20'000 : 400'000)) continue;
      CAPTURE(segments, mean);
      std::vector<std::int64_t> lengths;
      for (const auto x : numbers(distribution::uniform, segments, 2 * mean, 256, 5))
        lengths.push_back(static_cast<std::int64_t>(x));
      const auto offsets = offsets_of_lengths(lengths);
      check_segments_sorted(sorting_keys<std::uint32_t>(distribution::uniform, offsets.back()),
                            offsets);
    }
  }
}

TEST_CASE("segmented_sort sorts keys of every distribution", "[segmented_sort][sanitize]") {
  const std::int64_t n = job_items<std::uint32_t>() + 500;
  for (const distribution d : all_distributions) {
    for (const std::int64_t length : {std::int64_t{3}, std::int64_t{70}, std::int64_t{1000}, n}) {
      CAPTURE(d, length);
      std::vector<std::int64_t> lengths(static_cast<std::size_t>(n / length), length);
      lengths.push_back(n % length);
      check_segments_sorted(sorting_keys<std::uint32_t>(d, n), offsets_of_lengths(lengths));
    }
  }
}

TEST_CASE("segmented_sort sorts short segments by windows", "[segmented_sort][sanitize]") {
  using windows = lanewise::detail::segment_windows;
  constexpr std::int64_t steps = windows::steps * windows::group;
  for (const std::int64_t longest : {1, 2, 3, 5, 8, 9, 16, 17, 32, 33, 35, 64, 65}) {
    const std::int64_t segments = 2 * steps / (longest + 2) + 3;
    // Alone, one that is too long, and one that ends groups of windows after its own.
    for (const std::int64_t other : {std::int64_t{2}, std::int64_t{100}, 3 * steps}) {
      if (other > 100 && longest % 4 != 0) continue;
      if (is_emulated && !full() && other == 100 && longest % 2 == 0) continue;
      CAPTURE(longest, other);
      const auto offsets = offsets_of_lengths(
          short_lengths(segments, static_cast<std::uint64_t>(longest), other), longest % 3);
      const auto keys = sorting_keys<std::uint32_t>(distribution::uniform, offsets.back());
      check_segments_sorted(keys, offsets);
      check_segments_sorted(keys, offsets, {.begin_bit = 30, .end_bit = 32});
    }
  }
}

TEST_CASE("segmented_sort sorts long segments among short ones", "[segmented_sort]") {
  // A window of 32 segments has 1, 7, 8, 11 or 32 long ones. Lanes sort many of up to 40 keys.
  for (const int every : {32, 5, 4, 3, 1}) {
    for (const std::int64_t longest : {33, 40, 42, 64}) {
      CAPTURE(every, longest);
      std::vector<std::int64_t> lengths;
      for (int i = 0; i < 2000; ++i)
        lengths.push_back(i % every == every / 2 ? longest - i % 3 : i % 4);
      const auto offsets = offsets_of_lengths(lengths);
      check_segments_sorted(sorting_keys<std::uint32_t>(distribution::uniform, offsets.back()),
                            offsets);
      const auto few_bits = sorting_keys<std::uint32_t>(distribution::uniform, offsets.back());
      check_segments_sorted(few_bits, offsets, {.begin_bit = 30, .end_bit = 32});
    }
  }
}

TEST_CASE("segmented_sort finds windows where paths end at their edges", "[segmented_sort]") {
  using windows = lanewise::detail::segment_windows;
  for (const std::int64_t end : {std::int64_t{windows::steps}, 2 * std::int64_t{windows::steps},
                                 std::int64_t{windows::steps} * windows::group}) {
    for (const std::int64_t more : {-1, 0, 1}) {
      CAPTURE(end, more);
      // Segments of three items take four steps.
      std::vector<std::int64_t> lengths(static_cast<std::size_t>(end / 4), 3);
      lengths.back() += more;
      lengths.insert(lengths.end(), static_cast<std::size_t>(more + 1), 0);
      const auto offsets = offsets_of_lengths(lengths);
      check_segments_sorted(sorting_keys<std::uint32_t>(distribution::uniform, offsets.back()),
                            offsets);
    }
  }
}

/// Item i of n that ascend (even kinds) or descend: strictly, in pairs, or but for the last two.
template <class T>
T ordered_item(std::int64_t i, std::int64_t n, int kind) {
  const bool swapped = kind >= 4 && i + 2 >= n;
  const std::int64_t at = swapped ? 2 * n - 3 - i : i;
  const std::int64_t number = kind % 2 == 0 ? at : n - 1 - at;
  const std::int64_t step = kind / 2 == 1 ? number / 2 : number;
  return static_cast<T>(step + 5 - (std::is_unsigned_v<T> ? 0 : n / 4));
}

TEMPLATE_TEST_CASE("segmented_sort sorts segments that are in order, in either way",
                   "[segmented_sort][sanitize]", std::uint32_t MORE_TYPES(std::int64_t, float)) {
  using lanewise::sort_order;
  std::vector<std::int64_t> lengths;
  for (std::int64_t length = 0; length <= 140; ++length)
    lengths.insert(lengths.end(), {length, length, length, 0, length, length, length});
  const auto offsets = offsets_of_lengths(lengths);
  std::vector<TestType> keys;
  for (std::size_t s = 0; s < lengths.size(); ++s)
    for (std::int64_t i = 0; i < lengths[s]; ++i)
      keys.push_back(ordered_item<TestType>(i, lengths[s], static_cast<int>(s % 7 % 6)));
  for (const sort_order order : {sort_order::ascending, sort_order::descending}) {
    check_segments_sorted(keys, offsets, {.order = order});
    if constexpr (std::is_same_v<TestType, std::uint32_t>)
      check_segments_sorted_by_key(keys, places(keys.size()), offsets, {.order = order});
  }
}

/// A number: few values are frequent, or it lies close to others of its segment.
std::uint32_t gathered(std::uint32_t x, std::size_t i, int kind) {
  switch (kind) {
    case 0:
      return x % 4 == 0 ? x : 0x55aa0000u;  // most are equal
    case 1:
      return (x % 2 == 0 ? 0x7fffffffu : 0x80000000u) + x % 5;  // around the middle
    case 2:
      return static_cast<std::uint32_t>(i / 50) * 1000 + x % 100;  // as places of a sparse matrix
    case 3:
      return std::uint32_t{1} << (x % 32);  // as floating point
    case 4:
      return x % 2 == 0 ? 0u : ~0u;
    default:
      return x % 100 == 0 ? x : x % 1000;  // crowded at one end
  }
}

TEST_CASE("segmented_sort sorts keys that gather in few bins", "[segmented_sort][sanitize]") {
  const std::int64_t n = job_items<std::uint32_t>() * 5 / 2;
  for (const int kind : {0, 1, 2, 3, 4, 5}) {
    auto random = make_random(kind);
    std::vector<std::uint32_t> keys(static_cast<std::size_t>(n) + 2);
    for (std::size_t i = 0; i < keys.size(); ++i)
      keys[i] = gathered(static_cast<std::uint32_t>(random()), i, kind);
    for (const std::int64_t length : {std::int64_t{100}, std::int64_t{700}, n - 3}) {
      CAPTURE(kind, length);
      std::vector<std::int64_t> lengths(static_cast<std::size_t>(n / length), length);
      check_segments_sorted(keys, offsets_of_lengths(lengths, 2));
      check_segments_sorted_by_key(keys, places(keys.size()), offsets_of_lengths(lengths, 1));
    }
  }
}

TEST_CASE("segmented_sort sorts few items, and many, by other launches", "[segmented_sort][long]") {
  const std::int64_t few = few_items<std::uint32_t>(), team = job_items<std::uint32_t>();
  for (const std::int64_t n : {few, few + 1}) {
    if (is_emulated && !full() && n == few) continue;  // as all other tests
    // Segments for jobs alone; for wide teams, too; for levels, too.
    for (const auto& some : std::vector<std::vector<std::int64_t>>{
             {team / 9, 20}, {2 * team - 7, team - 1, team + 1}, {team, 3 * team, 2 * team + 1}}) {
      std::vector<std::int64_t> lengths;
      std::int64_t left = n;
      for (std::size_t i = 0; left > 0; ++i) {
        lengths.push_back(std::min(some[i % some.size()], left));
        left -= lengths.back();
      }
      CAPTURE(n, some.front());
      auto random = make_random(some.front());
      std::vector<std::uint32_t> keys(static_cast<std::size_t>(n));
      for (std::size_t i = 0; i < keys.size(); ++i)
        keys[i] = gathered(static_cast<std::uint32_t>(random()), i, i < keys.size() / 2 ? 5 : 2);
      check_segments_sorted(keys, offsets_of_lengths(lengths));
    }
  }
}

TEST_CASE("segmented_sort leaves items of no segment, and descends", "[segmented_sort]") {
  const std::int64_t n = 2 * job_items<std::uint32_t>() + 77;
  for (const auto& lengths : sorting_lengths(n)) {
    CAPTURE(lengths.size(), lengths.front());
    const auto offsets = offsets_of_lengths(lengths, 5);
    const auto keys = sorting_keys<std::uint32_t>(distribution::uniform, offsets.back() + 9);
    check_segments_sorted(keys, offsets, {.order = lanewise::sort_order::descending});
  }
}

TEST_CASE("segmented_sort looks at a range of bits alone", "[segmented_sort][sanitize]") {
  const std::int64_t n = job_items<std::uint32_t>() + 900;
  const auto keys = sorting_keys<std::uint32_t>(distribution::uniform, n);
  for (const auto& lengths : {std::vector<std::int64_t>{n},
                              std::vector<std::int64_t>(static_cast<std::size_t>(n / 30), 30)}) {
    for (const auto& [begin, end] :
         {std::pair{0, 5}, {28, 32}, {3, 14}, {4, 29}, {7, 7}, {31, -1}}) {
      CAPTURE(lengths.size(), begin, end);
      check_segments_sorted(keys, offsets_of_lengths(lengths),
                            {.begin_bit = begin, .end_bit = end});
    }
  }
}

#if !defined(LANEWISE_TEST_FEW_TYPES)
TEST_CASE("segmented_sort sorts doubles in IEEE's total order", "[segmented_sort]") {
  using limits = std::numeric_limits<double>;
  std::vector<double> keys = {0.0,
                              -0.0,
                              1.0,
                              -1.0,
                              limits::infinity(),
                              -limits::infinity(),
                              limits::quiet_NaN(),
                              -limits::quiet_NaN(),
                              limits::denorm_min(),
                              -limits::denorm_min(),
                              limits::max(),
                              limits::lowest()};
  for (int copies = 0; copies < 6; ++copies) keys.insert(keys.end(), keys.begin(), keys.end());
  const auto offsets = offsets_of_lengths({12, 0, 24, 5, 36, 600}, 3);
  check_segments_sorted(keys, offsets);
  check_segments_sorted(keys, offsets, {.order = lanewise::sort_order::descending});
}
#endif

TEST_CASE("segmented_sort takes one length for all segments", "[segmented_sort]") {
  const std::int64_t n = job_items<std::uint32_t>() + 301;
  const auto items = sorting_keys<std::uint32_t>(distribution::uniform, n);
  for (const std::int64_t length : {std::int64_t{1}, std::int64_t{100}, n - 1, n, 5 * n}) {
    CAPTURE(length);
    std::vector<std::int64_t> offsets;
    for (std::int64_t i = 0; i < n; i += length) offsets.push_back(i);
    offsets.push_back(n);
    const array<std::uint32_t> keys(items), values(places(items.size()));
    const auto order = sorted_segments(items, offsets, {});
    lanewise::segmented_sort_by_key(make_space(), keys.const_view(), values.const_view(), length,
                                    keys.view(), values.view());
    CHECK(difference_in_bits(values.items(), places(items.size()), order) == "");
    keys.assign(items);
    lanewise::segmented_sort(make_space(), keys.const_view(), length, keys.view());
    CHECK(difference_in_bits(keys.items(), items, order) == "");
  }
}

TEST_CASE("segmented_sort reads its number of segments on the device", "[segmented_sort]") {
  for (const std::int64_t segments : {50, 2000}) {
    const std::int64_t n = 10 * segments;
    const auto items = sorting_keys<std::uint32_t>(distribution::uniform, n);
    const auto offsets =
        offsets_of_lengths(std::vector<std::int64_t>(static_cast<std::size_t>(segments), 10));
    for (const std::int64_t count :
         {std::int64_t{-3}, std::int64_t{0}, std::int64_t{1}, segments - 7, segments + 5}) {
      CAPTURE(segments, count);
      auto some = offsets;
      some.resize(static_cast<std::size_t>(std::clamp(count, std::int64_t{0}, segments)) + 1);
      const array<std::uint32_t> keys(items);
      const array<std::int64_t> offset(offsets);
      const cell<std::int64_t> number(count);
      lanewise::segmented_sort(make_space(), keys.const_view(), offset.const_view(), keys.view(),
                               {.count = number.view()});
      CHECK(difference_in_bits(keys.items(), items, sorted_segments(items, some, {})) == "");
    }
  }
}

TEST_CASE("segmented_sort counts bad segments and sorts none then", "[segmented_sort][sanitize]") {
  using i64s = std::vector<std::int64_t>;
  for (const std::int64_t n : {std::int64_t{100}, 2 * job_items<std::uint32_t>()}) {
    const auto items = sorting_keys<std::uint32_t>(distribution::uniform, n);
    i64s many(3000, 0);
    for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<std::int64_t>(i) % 7 * n;
    std::int64_t bad = 0;
    for (std::size_t i = 1; i < many.size(); ++i)
      bad += many[i - 1] > many[i] || many[i - 1] > n || many[i] > n ? 1 : 0;
    for (const auto& [offsets, wrong] : {std::pair{i64s{0, n + 1}, std::int64_t{1}},
                                         {{-1, n}, 1},
                                         {{0, 50, 20, n}, 1},
                                         {{0, std::numeric_limits<std::int64_t>::max(), 5, n}, 2},
                                         {{n, std::numeric_limits<std::int64_t>::min(), 5}, 2},
                                         {many, bad}}) {
      CAPTURE(n, offsets.size(), wrong);
      const array<std::uint32_t> keys(items);
      const array<std::int64_t> offset(offsets);
      const cell<lanewise::status> errors;
      lanewise::segmented_sort(make_space(), keys.const_view(), offset.const_view(), keys.view(),
                               {.errors = errors.view()});
      CHECK(errors.get().bad_items == static_cast<std::uint64_t>(wrong));
      CHECK(keys.unchanged());
      lanewise::workspace work;
      lanewise::segmented_sort(make_space(), keys.const_view(), offset.const_view(), keys.view(),
                               {.work = &work});
      CHECK_THROWS_AS(lanewise::check(make_space(), work), std::runtime_error);
      // Neither errors nor a workspace are given.
      lanewise::segmented_sort(make_space(), keys.const_view(), offset.const_view(), keys.view());
      CHECK(keys.unchanged());
    }
  }
}

struct scattered_number {
  KOKKOS_FUNCTION std::uint32_t operator()(std::int64_t i) const {
    return static_cast<std::uint32_t>(i) * 2654435761u;
  }
};

TEST_CASE("segmented_sort takes sources and other offsets, and calls share a workspace",
          "[segmented_sort]") {
  const std::int64_t n = 2 * job_items<std::uint32_t>() + 5;
  const auto exec = make_space();
  const std::vector<int> offsets = {0, 10, 10, static_cast<int>(n - 100), static_cast<int>(n)};
  lanewise::workspace work;
  lanewise::reserve(exec, work,
                    lanewise::segmented_sort_workspace<std::uint32_t, space, std::uint32_t>(n, 4));
  std::vector<std::uint32_t> expected;
  for (std::int64_t i = 0; i < n; ++i) expected.push_back(scattered_number{}(i));
  for (std::size_t s = 0; s + 1 < offsets.size(); ++s)
    std::sort(expected.begin() + offsets[s], expected.begin() + offsets[s + 1]);
  const array<int> offset(offsets);
  const array<std::uint32_t> out(n, 0u), values(n, 0u);
  for (int again = 0; again < 2; ++again) {
    lanewise::segmented_sort(exec, lanewise::generated(n, scattered_number{}), offset.const_view(),
                             out.view(), {.work = &work});
    CHECK(out.items() == expected);
    lanewise::segmented_sort_by_key(exec, lanewise::generated(n, scattered_number{}),
                                    lanewise::generated(n, scattered_number{}), offset.const_view(),
                                    out.view(), values.view(), {.work = &work});
    CHECK(out.items() == expected);
    CHECK(values.items() == expected);
  }
}

TEST_CASE("segmented_sort sorts segments that lie apart, in any order",
          "[segmented_sort][sanitize]") {
  for (const auto& lengths : sorting_lengths(2 * job_items<std::uint32_t>() + 77)) {
    CAPTURE(lengths.size(), lengths.front());
    const segments_apart segments(lengths);
    check_segments_apart_sorted(sorting_keys<std::uint32_t>(distribution::uniform, segments.n),
                                segments);
  }
}

TEST_CASE("segmented_sort sorts short segments that lie apart", "[segmented_sort][sanitize]") {
  for (const std::int64_t longest : {1, 2, 9, 32}) {
    for (const std::int64_t other : {2, 100}) {
      CAPTURE(longest, other);
      const segments_apart segments(
          short_lengths(40'000 / (longest + 2) + 3, static_cast<std::uint64_t>(longest), other));
      const auto keys = sorting_keys<std::uint32_t>(distribution::uniform, segments.n);
      check_segments_apart_sorted(keys, segments, {.order = lanewise::sort_order::descending});
      check_segments_apart_sorted(keys, segments, {.begin_bit = 28});
    }
  }
}

TEST_CASE("segmented_sort counts bad segments that lie apart", "[segmented_sort][sanitize]") {
  using i64s = std::vector<std::int64_t>;
  for (const std::int64_t n : {std::int64_t{100}, 2 * job_items<std::uint32_t>()}) {
    const auto items = sorting_keys<std::uint32_t>(distribution::uniform, n);
    const array<std::uint32_t> keys(items);
    constexpr auto least = std::numeric_limits<std::int64_t>::min();
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    for (const auto& [begins, ends, wrong] :
         {std::tuple{i64s{3, 50, 7}, i64s{2, n, 9}, 1},  // an end before its begin
          {i64s{50, -1}, i64s{n + 1, 20}, 2},
          {i64s{least, 4, most}, i64s{0, 9, most}, 2},
          {i64s{0, 4, 0, 2}, i64s{n, 4, n, 3}, 2},  // more items than there are
          {i64s(3000, 2), i64s(3000, n), 2999}}) {
      CAPTURE(n, begins.size(), wrong);
      const array<std::int64_t> begin(begins), end(ends);
      const cell<lanewise::status> errors;
      lanewise::segmented_sort(make_space(), keys.const_view(), begin.const_view(),
                               end.const_view(), keys.view(), {.errors = errors.view()});
      CHECK(errors.get().bad_items == static_cast<std::uint64_t>(wrong));
      CHECK(keys.unchanged());
    }
    // The number of segments is on the device: the last one is bad.
    const i64s begins = {60, 10, 5}, ends = {n, 50, 4};
    const array<std::int64_t> begin(begins), end(ends);
    const cell<std::int64_t> count(2);
    lanewise::segmented_sort(make_space(), keys.const_view(), begin.const_view(), end.const_view(),
                             keys.view(), {.count = count.view()});
    CHECK(difference_in_bits(keys.items(), items, sorted_segments(items, {60, 10}, {n, 50}, {})) ==
          "");
  }
}

TEST_CASE("segmented_sort takes nothing", "[segmented_sort]") {
  const array<std::uint32_t> keys(std::vector<std::uint32_t>{}), some(3, 7u);
  const array<std::int64_t> none(std::vector<std::int64_t>{}), one(1, 0), two(2, 0);
  for (const auto* offsets : {&none, &one, &two}) {
    lanewise::segmented_sort(make_space(), keys.const_view(), offsets->const_view(), keys.view());
    lanewise::segmented_sort(make_space(), some.const_view(), offsets->const_view(), some.view());
  }
  lanewise::segmented_sort(make_space(), keys.const_view(), 3, keys.view());
  lanewise::segmented_sort(make_space(), some.const_view(), none.view(), none.view(), some.view());
  CHECK(some.unchanged());
}

TEST_CASE("segmented_sort refuses what does not fit", "[segmented_sort]") {
  const auto exec = make_space();
  const array<std::uint32_t> keys(10, 1u), few(9, 0u), values(11, 0u), out(10, 0u);
  const array<std::int64_t> offsets(3, 0);
  using Catch::Matchers::ContainsSubstring;
  CHECK_THROWS_WITH(lanewise::segmented_sort(exec, keys.view(), offsets.view(), few.view()),
                    ContainsSubstring("segmented_sort: keys_out has 9 places, keys has 10 items"));
  CHECK_THROWS_WITH(lanewise::segmented_sort_by_key(exec, keys.view(), values.view(),
                                                    offsets.view(), out.view(), values.view()),
                    ContainsSubstring("segmented_sort_by_key: values has 11 items, keys has 10"));
  CHECK_THROWS_WITH(
      lanewise::segmented_sort(exec, keys.view(), offsets.view(), out.view(), {.end_bit = 33}),
      ContainsSubstring("segmented_sort: options.end_bit is 33, keys have 32 bits"));
  CHECK_THROWS_WITH(lanewise::segmented_sort(exec, keys.view(), 0, out.view()),
                    ContainsSubstring("segmented_sort: length is 0, less than 1"));
  CHECK_THROWS_WITH(
      lanewise::segmented_sort(exec, keys.view(), offsets.view(),
                               Kokkos::subview(offsets.view(), std::pair{0, 2}), out.view()),
      ContainsSubstring("segmented_sort: ends has 2 items, begins has 3"));
  const auto part = Kokkos::subview(keys.view(), std::pair{1, 6});
  CHECK_THROWS_WITH(lanewise::segmented_sort(exec, Kokkos::subview(keys.view(), std::pair{0, 5}),
                                             offsets.view(), part),
                    ContainsSubstring("overlap"));
  CHECK(keys.unchanged());
}
