// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/segments/reduce_by_key.hpp>

#include <catch2/catch_template_test_macros.hpp>

#include <algorithms/select/check_compact.hpp>

// One result for every run of equal keys.

namespace {

using namespace test;
using u8 = std::uint8_t;
using u32 = std::uint32_t;

/// Whether two keys differ in their last digit at most.
struct alike {
  template <class T>
  KOKKOS_FUNCTION bool operator()(const T& a, const T& b) const {
    return number_of(a) / 10 == number_of(b) / 10;
  }
};

template <class T>
constexpr std::int64_t by_key_tile = tile_items<T, lanewise::kernels::ends_policy<T, u32>>;

template <class Key, class T, class Op>
void check_by_key(const std::vector<Key>& keys, const std::vector<T>& values, Op op) {
  const auto exec = make_space();
  const auto n = static_cast<std::int64_t>(keys.size());
  const runs expected = runs_of(keys);
  std::vector<T> results;
  for (std::size_t r = 0; r < expected.first.size(); ++r) {
    const T* item = values.data() + expected.first[r];
    T sum = item[0];
    for (std::int64_t i = 1; i < expected.length[r]; ++i) sum = op(sum, item[i]);
    results.push_back(sum);
  }
  shifts shift(static_cast<std::uint64_t>(n) + results.size());
  const array<Key> key(keys, shift.next());
  const array<T> value(values, shift.next());
  const array<Key> keys_out(n, item_of<Key>(77), shift.next());
  const array<T> values_out(n, item_of<T>(77), shift.next());
  const cell<std::int64_t> found(-1);

  lanewise::reduce_by_key(exec, key.const_view(), value.const_view(), keys_out.view(),
                          values_out.view(), found.view(), op);

  CHECK(found.get() == static_cast<std::int64_t>(results.size()));
  check_front(keys_out, oracle::gather(keys, expected.first));
  check_front(values_out, results);
  CHECK(key.unchanged());
  CHECK(value.unchanged());
}

}  // namespace

TEMPLATE_TEST_CASE("Runs are summed at every size and length", "[reduce_by_key]",
                   u32 MORE_TYPES(u8, std::uint64_t, double)) {
  for (const std::int64_t n : sizes_around(by_key_tile<TestType>)) {
    for (const int mean : {1, 4, 100}) {
      CAPTURE(n, mean);
      check_by_key(items_in_runs<u32>(n, mean), random_items<TestType>(n, most_summand<TestType>()),
                   lanewise::plus{});
    }
  }
}

TEMPLATE_TEST_CASE("Runs that are summed may span tiles", "[reduce_by_key][sanitize]",
                   u32 MORE_TYPES(u8)) {
  const std::int64_t n = some_tiles(by_key_tile<TestType>);
  for (const int mean : {40, 1000, 100'000'000}) {
    CAPTURE(mean);
    check_by_key(items_in_runs<std::uint64_t>(n, mean), random_items<TestType>(n),
                 lanewise::plus{});
  }
}

TEST_CASE("Runs of keys of any type are reduced by any operator", "[reduce_by_key][sanitize]") {
  for (const std::int64_t n : sizes_around(by_key_tile<affine>)) {
    for (const int mean : {1, 4, 1000}) {
      CAPTURE(n, mean);
      check_by_key(items_in_runs<affine>(n, mean), random_items<affine>(n), then{});
    }
  }
  const std::int64_t n = some_tiles(by_key_tile<u32>);
  check_by_key(items_in_runs<u8>(n, 30), random_items<u32>(n), last_nonzero{});
  check_by_key(items_in_runs<u8>(n, 30), random_items<u32>(n), lanewise::maximum{});
}

template <int bytes>
struct key_of_bytes {
  char bytes_of[bytes];
};

TEST_CASE("The workspace for any key is enough for every key of up to 16 bytes",
          "[reduce_by_key][sanitize]") {
  const auto enough = []<int bytes>(std::integral_constant<int, bytes>) {
    for (const std::int64_t n : {0, 1, 1024, 1025, 5'121, 1 << 24}) {
      CAPTURE(bytes, n);
      CHECK(lanewise::reduce_by_key_workspace<u32, space>(n).tickets >=
            lanewise::reduce_by_key_workspace<u32, space, key_of_bytes<bytes>>(n).tickets);
      CHECK(lanewise::reduce_by_key_workspace<affine, space>(n).tickets >=
            lanewise::reduce_by_key_workspace<affine, space, key_of_bytes<bytes>>(n).tickets);
    }
  };
  [&]<int... k>(std::integer_sequence<int, k...>) {
    (enough(std::integral_constant<int, k + 1>{}), ...);
  }
  (std::make_integer_sequence<int, 16>{});
}

TEST_CASE("Runs may end where packs, rows, warps and tiles do", "[reduce_by_key][sanitize]") {
  const std::int64_t tile = tile_items<u32, lanewise::kernels::ends_policy<u32, u32>>;
  const std::int64_t n = 3 * tile + 5;
  for (const std::int64_t length :
       {std::int64_t{4}, tile / 32, tile / 8, tile / 8 + 1, tile / 4, tile - 1, tile, tile + 1}) {
    CAPTURE(length);
    std::vector<u32> keys;
    for (std::int64_t i = 0; i < n; ++i) keys.push_back(static_cast<u32>(i / length));
    check_by_key(keys, random_items<u32>(n), lanewise::plus{});
    check_by_key(keys, random_items<u32>(n), last_nonzero{});
  }
}

TEST_CASE("Results that find no place are counted and left out", "[reduce_by_key][sanitize]") {
  const auto exec = make_space();
  const std::int64_t n = some_tiles(by_key_tile<u32>);
  const auto keys = items_in_runs<u32>(n, 4);
  const runs expected = runs_of(keys);
  const auto all = static_cast<std::int64_t>(expected.first.size());
  const array<u32> key(keys), value(n, 1u);
  for (const std::int64_t room : {std::int64_t{0}, std::int64_t{1}, all / 2, all - 1, all}) {
    CAPTURE(room, all);
    const array<u32> keys_out(room, 77u), values_out(room, 77u);
    const cell<std::int64_t> count;
    lanewise::reduce_by_key(exec, key.const_view(), value.const_view(), keys_out.view(),
                            values_out.view(), count.view(), lanewise::plus{});
    CHECK(count.get() == all);
    std::vector<u32> lengths(expected.length.begin(), expected.length.begin() + room);
    auto first = oracle::gather(keys, expected.first);
    first.resize(static_cast<std::size_t>(room));
    CHECK(difference(values_out.items(), lengths) == "");
    CHECK(difference(keys_out.items(), first) == "");
    CHECK(keys_out.guards_intact());
    CHECK(values_out.guards_intact());
  }
}

TEMPLATE_TEST_CASE("A run has the key of its first item", "[reduce_by_key][sanitize]", u32,
                   affine MORE_TYPES(u8)) {
  using T = TestType;
  const auto exec = make_space();
  const std::int64_t n = some_tiles(by_key_tile<u32>);
  for (const std::int64_t mean :
       {std::int64_t{1}, std::int64_t{4}, std::int64_t{100}, n / 2, 3 * n}) {
    CAPTURE(mean);
    // Keys of a run are equal but for their last digit.
    auto keys = items_in_runs<T>(n, static_cast<int>(mean));
    std::vector<T> firsts;
    std::vector<u32> lengths;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      keys[i] = item_of<T>(number_of(keys[i]) / 10 % 20 * 10 + i % 10);
      if (i == 0 || !alike{}(keys[i - 1], keys[i])) {
        firsts.push_back(keys[i]);
        lengths.push_back(0);
      }
      ++lengths.back();
    }
    const auto all = static_cast<std::int64_t>(firsts.size());
    const array<T> key(keys);
    const array<u32> ones(n, 1u);
    for (const std::int64_t room : {n, all - 1, all / 2}) {
      CAPTURE(room, all);
      const array<T> keys_out(room, item_of<T>(77));
      const array<u32> sums(n, 77u);
      const cell<std::int64_t> count;
      lanewise::reduce_by_key(exec, key.const_view(), ones.const_view(), keys_out.view(),
                              sums.view(), count.view(), lanewise::plus{}, alike{});
      CHECK(count.get() == all);
      auto expected = firsts;
      expected.resize(static_cast<std::size_t>(std::min(all, room)));
      check_front(keys_out, expected);
      check_front(sums, lengths);
    }
  }
}
