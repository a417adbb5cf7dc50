// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithms/sort/check_multisplit.hpp>

// Buckets that are told by ids beside the keys, functions that are called once per key, and values
// of any size.

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

const std::int64_t few_by_id = 1000;
const std::int64_t many_by_id = std::max<std::int64_t>(some_tiles(split_tile<u32>), (1 << 15) + 77);

/// What the sequential multisplit makes of ids, which are compared as the numbers that they are.
struct as_they_are {
  template <class Id>
  std::int64_t operator()(const Id& id) const {
    return static_cast<std::int64_t>(id);
  }
};

template <class Id>
using count_by_ids = lanewise::at_most<(std::is_same_v<Id, u32> ? 65'536 : 256)>;

/// Keys, and pairs, by ids, which are bucket numbers from 0 to most.
template <class Id>
void check_by_ids(std::int64_t n, u32 m, u32 most) {
  CAPTURE(n, m, most, sizeof(Id));
  const auto exec = make_space();
  std::vector<Id> numbers;
  for (const u32 x : random_items<u32>(n)) numbers.push_back(static_cast<Id>(x % (most + 1)));
  const auto expected = oracle::multisplit(numbers, m, as_they_are{});
  const auto items = random_items<u32>(n);
  const auto more = random_items<double>(n);
  const array<Id> ids(numbers, 1);
  const array<u32> keys(items, 2);
  const array<double> values(more);
  const array<u32> keys_out(n, 77u, 3);
  const array<double> values_out(n, 77.0);
  const array<std::int64_t> offsets(m + 1, -1);
  const cell<lanewise::status> errors;
  const auto check = [&] {
    CHECK(difference(keys_out.items(), oracle::gather(items, expected.index),
                     keys_out.original()) == "");
    CHECK(difference(offsets.items(), expected.offsets) == "");
    CHECK(errors.get().bad_items == expected.bad_items);
    CHECK(keys_out.guards_intact());
    CHECK(offsets.guards_intact());
    CHECK(keys.unchanged());
    CHECK(ids.unchanged());
    keys_out.assign(keys_out.original());
    offsets.assign(offsets.original());
    errors.set({});
  };

  lanewise::multisplit(exec, keys.const_view(), keys_out.view(), count_by_ids<Id>{m},
                       lanewise::bucket_ids(ids.const_view()),
                       {.offsets = offsets.view(), .errors = errors.view()});
  check();
  lanewise::multisplit(exec, keys.const_view(), values.const_view(), keys_out.view(),
                       values_out.view(), count_by_ids<Id>{m},
                       lanewise::bucket_ids(ids.const_view()),
                       {.offsets = offsets.view(), .errors = errors.view()});
  check();
  CHECK(difference(values_out.items(), oracle::gather(more, expected.index),
                   values_out.original()) == "");
  CHECK(values_out.guards_intact());
}

/// Its first call for a key is noted.
struct once_modulo {
  int* calls;
  u32 m;
  KOKKOS_FUNCTION u32 operator()(const u32& k) const {
    ++calls[k];
    return k * 2654435761u % m;
  }
};

template <int words>
struct large_item {
  u32 word[words];
  friend bool operator==(const large_item& a, const large_item& b) {
    return std::equal(a.word, a.word + words, b.word);
  }
  friend std::ostream& operator<<(std::ostream& to, const large_item& x) {
    return to << x.word[0] << " ...";
  }
};

template <int words>
void check_large_values(std::int64_t n, u32 m) {
  using value = large_item<words>;
  CAPTURE(n, m, sizeof(value));
  const auto exec = make_space();
  const auto items = random_items<u32>(n);
  std::vector<value> given(items.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    for (int w = 0; w < words; ++w) given[i].word[w] = static_cast<u32>(i) * words + w;
  }
  const array<u32> keys(items), keys_out(n, 77u);
  const array<value> values(given), values_out(n, value{});
  lanewise::multisplit(exec, keys.const_view(), values.const_view(), keys_out.view(),
                       values_out.view(), m, modulo{m + 1});
  const auto expected = oracle::multisplit(items, m, modulo{m + 1});
  CHECK(difference(keys_out.items(), oracle::gather(items, expected.index), keys_out.original()) ==
        "");
  CHECK(difference(values_out.items(), oracle::gather(given, expected.index),
                   values_out.original()) == "");
  CHECK(values_out.guards_intact());
}

struct hundred_ids {
  KOKKOS_FUNCTION std::int64_t operator()(std::int64_t i) const { return i * 7919 % 101 - 1; }
};

}  // namespace

TEMPLATE_TEST_CASE("multisplit takes buckets from an array of ids", "[multisplit][sanitize]",
                   std::uint8_t, u32 MORE_TYPES(std::int16_t, u64)) {
  for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1}, few_by_id, many_by_id}) {
    check_by_ids<TestType>(n, 1, 0);
    check_by_ids<TestType>(n, 100, 99);
    check_by_ids<TestType>(n, 33, 45);
    if constexpr (std::is_same_v<TestType, u32>) check_by_ids<TestType>(n, 3000, 3100);
  }
  check_by_ids<TestType>(many_by_id, 256, 255);
}

TEST_CASE("multisplit takes huge ids for bad ones", "[multisplit]") {
  const auto exec = make_space();
  const array<u64> ids(std::vector<u64>{3, u64{1} << 32, ~u64{0}, 0, u64{1} << 40 | 2});
  const array<u32> keys(std::vector<u32>{10, 11, 12, 13, 14});
  const array<u32> out(5, 77u);
  lanewise::multisplit(exec, keys.const_view(), out.view(), lanewise::at_most<256>{4},
                       lanewise::bucket_ids(ids.const_view()));
  CHECK(out.items() == std::vector<u32>{13, 10, 77, 77, 77});
}

TEST_CASE("multisplit takes ids from a source, and the number of items from the device",
          "[multisplit][sanitize]") {
  const auto exec = make_space();
  for (const std::int64_t n : {few_by_id, many_by_id}) {
    std::vector<std::int64_t> numbers;
    for (std::int64_t i = 0; i < n - 5; ++i) numbers.push_back(hundred_ids{}(i));
    const auto items = random_items<u32>(n);
    const array<u32> keys(items), out(n, 77u);
    const cell<std::int64_t> count;
    count.set(n - 5);
    lanewise::multisplit(exec, keys.const_view(), out.view(), lanewise::at_most<256>{100},
                         lanewise::bucket_ids(lanewise::generated(n, hundred_ids{})),
                         {.count = count.view()});
    const auto expected = oracle::multisplit(numbers, 100, as_they_are{});
    CHECK(difference(out.items(), oracle::gather(items, expected.index), out.original()) == "");
  }
}

TEST_CASE("multisplit calls a costly function once per key", "[multisplit][sanitize]") {
  const auto exec = make_space();
  for (const std::int64_t n : {few_by_id, many_by_id}) {
    for (const u32 m : {1u, 100u, 255u, 256u, 3000u, 65'535u, 65'536u}) {
      CAPTURE(n, m);
      std::vector<u32> items(static_cast<std::size_t>(n));
      std::iota(items.begin(), items.end(), 0u);
      std::reverse(items.begin(), items.end());
      const array<u32> keys(items), out(n, 77u), values_out(n, 77u);
      const array<int> calls(n, 0);
      const array<std::int64_t> offsets(m + 1, -1);
      const cell<lanewise::status> errors;
      const u32 most = m + m / 5;
      std::vector<int> ignored(items.size());
      const auto expected = oracle::multisplit(items, m, once_modulo{ignored.data(), most});

      lanewise::multisplit(exec, keys.const_view(), out.view(), m,
                           lanewise::costly(once_modulo{calls.data(), most}),
                           {.offsets = offsets.view(), .errors = errors.view()});
      CHECK(calls.items() == std::vector<int>(items.size(), 1));
      CHECK(difference(out.items(), oracle::gather(items, expected.index), out.original()) == "");
      CHECK(difference(offsets.items(), expected.offsets) == "");
      CHECK(errors.get().bad_items == expected.bad_items);

      lanewise::multisplit(exec, keys.const_view(), keys.const_view(), out.view(),
                           values_out.view(), m, lanewise::costly(once_modulo{calls.data(), most}));
      CHECK(calls.items() == std::vector<int>(items.size(), 2));
      CHECK(difference(values_out.items(), oracle::gather(items, expected.index),
                       values_out.original()) == "");
    }
  }
}

TEST_CASE("multisplit moves values of any size", "[multisplit][sanitize]") {
  for (const std::int64_t n : {few_by_id, many_by_id}) {
    for (const u32 m : {40u, 1000u}) {
      check_large_values<4>(n, m);
      check_large_values<5>(n, m);
    }
  }
}

TEST_CASE("multisplit_workspace is what calls by ids need", "[multisplit]") {
  const auto exec = make_space();
  const std::int64_t n = many_by_id;
  const array<u32> keys(random_items<u32>(n)), out(n, 77u), values_out(n, 77u);
  const auto ids = lanewise::bucket_ids(keys.const_view());
  const auto once = lanewise::costly(modulo{70'000});
  for (const std::int64_t m : {100, 256, 70, 3000, 65'536}) {
    CAPTURE(m);
    lanewise::workspace work;
    lanewise::reserve(exec, work,
                      max(lanewise::multisplit_workspace<u32, space, u32, decltype(ids)>(n, m),
                          lanewise::multisplit_workspace<u32, space, u32, decltype(once)>(n, m)));
    const std::size_t bytes = work.bytes();
    lanewise::multisplit(exec, keys.const_view(), out.view(), m, ids, {.work = &work});
    lanewise::multisplit(exec, keys.const_view(), keys.const_view(), out.view(), values_out.view(),
                         m, ids, {.work = &work});
    lanewise::multisplit(exec, keys.const_view(), keys.const_view(), out.view(), values_out.view(),
                         m, once, {.work = &work});
    exec.fence();
    CHECK(work.bytes() == bytes);
  }
}

TEST_CASE("multisplit refuses ids that do not fit", "[multisplit]") {
  const auto exec = make_space();
  const array<u32> keys(5, 1u), out(5, 77u), more(5, 5u), values_out(5, 3u), four(4, 0u);
  CHECK_THAT(refusal([&] {
               lanewise::multisplit(exec, keys.const_view(), out.view(), 3,
                                    lanewise::bucket_ids(four.const_view()));
             }),
             ContainsSubstring("lanewise::multisplit: bucket_ids has 4 items, keys has 5"));
  CHECK_THAT(refusal([&] {
               lanewise::multisplit(exec, keys.const_view(), out.view(), 3,
                                    lanewise::bucket_ids(out.const_view()));
             }),
             ContainsSubstring("lanewise::multisplit: bucket_ids ["));
  CHECK_THAT(refusal([&] {
               lanewise::multisplit(exec, keys.const_view(), more.const_view(), out.view(),
                                    values_out.view(), 3,
                                    lanewise::bucket_ids(values_out.const_view()));
             }),
             ContainsSubstring("lanewise::multisplit: bucket_ids ["));
  CHECK(out.unchanged());
  CHECK(values_out.unchanged());
}
