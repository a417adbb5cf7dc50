// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/sequence/adjacent_difference.hpp>
#include <lanewise/sequence/reduce.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithms/select/check_compact.hpp>

// Selections, unique and differences whose results take the places of their items.

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;

constexpr std::uint8_t placed_flag = 255;

template <class T>
std::vector<std::uint8_t> flags_of(const std::vector<T>& items, some_of keep) {
  std::vector<std::uint8_t> flags;
  for (const T& x : items) flags.push_back(keep(x) ? placed_flag : 0);
  return flags;
}

template <class T>
std::vector<T> firsts_of_runs(const std::vector<T>& items) {
  return oracle::gather(items, runs_of(items).first);
}

/// What a call in place leaves: the results, and after them what was there.
template <class T>
void check_replaced(const array<T>& both, const std::vector<T>& expected, std::int64_t found) {
  CHECK(found == static_cast<std::int64_t>(expected.size()));
  check_front(both, expected);
}

template <class T>
void check_in_place(const std::vector<T>& items, some_of keep) {
  const auto exec = make_space();
  const auto n = static_cast<std::int64_t>(items.size());
  std::vector<T> kept;
  std::copy_if(items.begin(), items.end(), std::back_inserter(kept), keep);
  shifts shift(static_cast<std::uint64_t>(n) + keep.p);
  const array<std::uint8_t> flags(flags_of(items, keep), shift.next());
  const array<T> one(items, shift.next()), two(items, shift.next());
  const cell<std::int64_t> found(-1);

  lanewise::select_if(exec, one.const_view(), one.view(), found.view(), keep);
  check_replaced(one, kept, found.get());

  found.set(-1);
  lanewise::select_flagged(exec, two.view(), flags.const_view(), two.view(), found.view());
  check_replaced(two, kept, found.get());
  CHECK(flags.unchanged());
}

template <class T>
void check_runs_in_place(const std::vector<T>& items) {
  const auto exec = make_space();
  shifts shift(items.size());
  const array<T> one(items, shift.next());
  const cell<std::int64_t> found(-1);

  lanewise::unique(exec, one.view(), one.view(), found.view());
  check_replaced(one, firsts_of_runs(items), found.get());
}

/// Keeps all items up to some place and none after it, or the other way round: tiles that stay
/// where they are beside tiles that move far.
struct kept_up_to {
  std::uint64_t most;
  bool turned;
  template <class T>
  KOKKOS_FUNCTION bool operator()(const T& x) const {
    return (number_of(x) < most) != turned;
  }
};

/// i modulo 5, or the low byte of i squared.
struct byte_of_index {
  int kind;
  KOKKOS_FUNCTION std::uint8_t operator()(std::int64_t i) const {
    return static_cast<std::uint8_t>(kind == 0 ? i % 5 : i * i);
  }
};
struct is_not_four {
  KOKKOS_FUNCTION bool operator()(std::uint8_t x) const { return x != 4; }
};
/// 1 where a byte is not what is left of those: without the fours, or differences of squares.
struct wrong_byte {
  const std::uint8_t* bytes;
  int kind;
  KOKKOS_FUNCTION std::int64_t operator()(std::int64_t i) const {
    return bytes[i] != static_cast<std::uint8_t>(kind == 0 ? i % 4 : (i == 0 ? 0 : 2 * i - 1));
  }
};

template <class T>
using adjacent_policy_of =
    lanewise::kernels::adjacent_policy<lanewise::array_source<T, lanewise::identity>>;
template <class T>
constexpr std::int64_t placed_tile = tile_items<T, adjacent_policy_of<T>>;

struct minus_before {
  KOKKOS_FUNCTION affine operator()(const affine& x, const affine& before) const {
    return then{}(before, x);
  }
  template <class T>
  KOKKOS_FUNCTION T operator()(const T& x, const T& before) const {
    return static_cast<T>(x - (before + before + before));  // no product to contract
  }
};

template <class T>
void check_differences_in_place(const std::vector<T>& items, int shift) {
  std::vector<T> expected;
  for (std::size_t i = 0; i < items.size(); ++i)
    expected.push_back(i == 0 ? items[0] : minus_before{}(items[i], items[i - 1]));
  const array<T> both(items, shift);
  lanewise::adjacent_difference(make_space(), both.const_view(), both.view(), minus_before{});
  CHECK(difference(both.items(), expected) == "");
  CHECK(both.guards_intact());
}

}  // namespace

TEMPLATE_TEST_CASE("Selections in place keep what the predicate says, at every size", "[in_place]",
                   std::uint32_t, affine MORE_TYPES(std::uint8_t, double)) {
  for (const std::int64_t n : compact_sizes<TestType>()) {
    for (const std::uint32_t share : {0u, 3u, 128u, 253u, 256u}) {
      CAPTURE(n, share);
      check_in_place(random_items<TestType>(n), some_of{share});
    }
  }
}

TEMPLATE_TEST_CASE("unique in place keeps the first of every run, at every size", "[in_place]",
                   std::uint32_t, affine MORE_TYPES(std::uint8_t)) {
  for (const std::int64_t n : compact_sizes<TestType>()) {
    for (const int mean : {1, 4, 100}) {
      CAPTURE(n, mean);
      check_runs_in_place(items_in_runs<TestType>(n, mean));
    }
  }
}

// Many tiles and teams that overtake each other: a store that comes too early shows.
TEST_CASE("Selections in place of many tiles lose nothing", "[in_place][sanitize]") {
  const auto exec = make_space();
  const std::int64_t n = (is_emulated ? 5 : 200) * compact_tile<std::uint32_t> + 77;
  for (int round = 0; round < (is_emulated ? 3 : 20); ++round) {
    CAPTURE(round);
    auto random = make_random(static_cast<std::uint64_t>(round));
    const auto share = static_cast<std::uint32_t>(random_number(random, 256));
    check_in_place(random_items<std::uint32_t>(n, most_number<std::uint32_t>(), round),
                   some_of{share});
    check_runs_in_place(items_in_runs<std::uint32_t>(n, 1 + round % 5, round));
    // All are runs of their own up to some place: tiles that stay, and neighbours that look at
    // them.
    std::vector<std::uint32_t> items;
    for (std::int64_t i = 0; i < n; ++i) items.push_back(static_cast<std::uint32_t>(i));
    const std::uint64_t border = random_number(random, static_cast<std::uint64_t>(n));
    auto runs = items;
    for (auto& x : runs) x = x < border ? x : (x & 1);
    check_runs_in_place(runs);
    for (const bool turned : {false, true}) {
      const kept_up_to keep{border, turned};
      const array<std::uint32_t> both(items, 1);
      std::vector<std::uint32_t> kept;
      std::copy_if(items.begin(), items.end(), std::back_inserter(kept), keep);
      check_replaced(both, kept, lanewise::select_if(exec, both.view(), both.view(), keep));
    }
  }
}

TEST_CASE("Selections in place read the number of items on the device, and find no place for some",
          "[in_place][sanitize]") {
  const auto exec = make_space();
  const std::int64_t most = some_tiles(compact_tile<std::uint32_t>);
  const auto items = random_items<std::uint32_t>(most);
  const cell<std::int64_t> n(most - 1234), found(-1);
  std::vector<std::uint32_t> kept;
  std::copy_if(items.begin(), items.end() - 1234, std::back_inserter(kept), some_of{128});
  const array<std::uint32_t> both(items);
  lanewise::select_if(exec, both.view(), both.view(), found.view(), some_of{128},
                      {.count = n.view()});
  check_replaced(both, kept, found.get());

  // Only `room` places of the same array.
  const array<std::uint32_t> again(items);
  const std::int64_t room = most / 3;
  const auto front =
      Kokkos::subview(again.view(), Kokkos::pair<std::int64_t, std::int64_t>(0, room));
  lanewise::select_if(exec, again.view(), front, found.view(), some_of{128}, {.count = n.view()});
  CHECK(found.get() == static_cast<std::int64_t>(kept.size()));
  const auto written = again.items();
  CHECK(std::equal(kept.begin(), kept.begin() + room, written.begin()));
  CHECK(std::equal(items.begin() + room, items.end(), written.begin() + room));
}

TEMPLATE_TEST_CASE("adjacent_difference in place is exact at every size", "[in_place]",
                   std::uint32_t, affine MORE_TYPES(std::uint8_t, double)) {
  for (const std::int64_t n : sizes_around(placed_tile<TestType>)) {
    CAPTURE(n);
    check_differences_in_place(random_items<TestType>(n), static_cast<int>(n % 5));
  }
}

TEST_CASE("adjacent_difference in place of arrays that begin anywhere", "[in_place][sanitize]") {
  for (int shift = 0; shift < 16; ++shift) {
    CAPTURE(shift);
    check_differences_in_place(
        random_items<std::uint8_t>((is_emulated ? 2 : 5) * placed_tile<std::uint8_t> + 5), shift);
    check_differences_in_place(
        random_items<std::uint32_t>((is_emulated ? 3 : 20) * placed_tile<std::uint32_t> + 5),
        shift);
  }
}

TEST_CASE("adjacent_difference in place with a workspace, and within the count",
          "[in_place][sanitize]") {
  const auto exec = make_space();
  const std::int64_t n = some_tiles(placed_tile<std::uint32_t>);
  const auto items = random_items<std::uint32_t>(n);
  lanewise::workspace work;
  lanewise::reserve(exec, work, lanewise::adjacent_difference_workspace<std::uint32_t, space>(n));
  const std::size_t bytes = work.bytes();
  CHECK(bytes > 0);
  for (const std::int64_t given : {std::int64_t{-3}, std::int64_t{1}, n - 131, n + 1}) {
    CAPTURE(given);
    const cell<std::int64_t> count(given);
    const array<std::uint32_t> both(items, 2);
    lanewise::adjacent_difference(exec, both.view(), both.view(), lanewise::minus{},
                                  {.work = &work, .count = count.view()});
    auto expected = items;
    for (std::int64_t i = std::min(given, n) - 1; i > 0; --i)
      expected[static_cast<std::size_t>(i)] -= expected[static_cast<std::size_t>(i) - 1];
    CHECK(difference(both.items(), expected) == "");
  }
  CHECK(work.bytes() == bytes);
}

TEST_CASE("What is not in place but overlaps is refused", "[in_place]") {
  const auto exec = make_space();
  const array<std::uint32_t> all(100, 1u);
  const auto part = [&](int from, int to) {
    return Kokkos::subview(all.view(), Kokkos::pair<int, int>(from, to));
  };
  const Kokkos::View<float*, memory, Kokkos::MemoryUnmanaged> floats(
      reinterpret_cast<float*>(all.data()), 100);
  CHECK_THAT(
      refusal([&] { lanewise::select_if(exec, part(0, 60), part(1, 61), some_of{128}); }),
      ContainsSubstring("lanewise::select_if: in [") && ContainsSubstring("not the same array"));
  CHECK_THAT(refusal([&] { lanewise::select_if(exec, all.view(), floats, some_of{128}); }),
             ContainsSubstring("lanewise::select_if: in [") && ContainsSubstring("overlap"));
  CHECK_THAT(refusal([&] {
               lanewise::select_if(exec, lanewise::transformed(all.view(), square_plus_one{}),
                                   all.view(), some_of{128});
             }),
             ContainsSubstring("overlap"));
  CHECK_THAT(
      refusal([&] { lanewise::select_flagged(exec, part(0, 50), part(50, 100), part(50, 100)); }),
      ContainsSubstring("select_flagged: flags ["));
  CHECK_THAT(refusal([&] {
               lanewise::partition(exec, part(0, 50), part(0, 50), part(50, 100), some_of{128});
             }),
             ContainsSubstring("partition: in ["));
  CHECK_THAT(refusal([&] { lanewise::unique(exec, part(1, 61), part(0, 60)); }),
             ContainsSubstring("lanewise::unique: in ["));
  CHECK_THAT(refusal([&] { lanewise::adjacent_difference(exec, part(0, 60), part(1, 61)); }),
             ContainsSubstring("lanewise::adjacent_difference: in ["));
  CHECK_THAT(refusal([&] { lanewise::adjacent_difference(exec, all.view(), floats); }),
             ContainsSubstring("adjacent_difference: in [") && ContainsSubstring("overlap"));
  CHECK(all.unchanged());
}

// More items than 32 bits can count.
TEST_CASE("More than 2^31 items are selected, and subtracted, in place", "[.large]") {
  const auto exec = make_space();
  const std::int64_t n = (std::int64_t{1} << 31) + 12'345;
  const Kokkos::View<std::uint8_t*, memory> bytes(
      Kokkos::view_alloc("test::bytes", Kokkos::WithoutInitializing), n);
  const auto wrong = [&](std::int64_t end, int kind) {
    return lanewise::reduce(exec, lanewise::generated(end, wrong_byte{bytes.data(), kind}),
                            lanewise::plus{}, std::int64_t{0});
  };
  lanewise::transform(exec, lanewise::generated(n, byte_of_index{0}), bytes, lanewise::identity{});
  const std::int64_t kept = lanewise::select_if(exec, bytes, bytes, is_not_four{});
  CHECK(kept == n - n / 5);
  CHECK(wrong(kept, 0) == 0);

  lanewise::transform(exec, lanewise::generated(n, byte_of_index{1}), bytes, lanewise::identity{});
  lanewise::adjacent_difference(exec, bytes, bytes);
  CHECK(wrong(n, 1) == 0);
}
