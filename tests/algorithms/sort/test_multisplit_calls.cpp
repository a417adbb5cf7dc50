// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <support/functors.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithms/sort/check_multisplit.hpp>

// How multisplit may be called: the papers' examples, sources and sinks, options, and what it
// refuses.

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

struct is_composite {
  KOKKOS_FUNCTION u32 operator()(const u32& k) const {
    for (u32 d = 2; d * d <= k; ++d) {
      if (k % d == 0) return 1;
    }
    return k < 2 ? 1 : 0;
  }
};

struct three_ranges {
  KOKKOS_FUNCTION int operator()(const u32& k) const { return k < 6 ? 0 : (k < 14 ? 1 : 2); }
};

/// Buckets as wide numbers: outside [0, m) they must not be mistaken for others.
struct signed_bucket {
  KOKKOS_FUNCTION std::int64_t operator()(const u32& k) const {
    constexpr std::int64_t buckets[] = {
        0, 1, -1, 2, std::int64_t{1} << 32, 3, 4, -(std::int64_t{1} << 32), INT64_MAX, INT64_MIN};
    return buckets[k % 10];
  }
};

/// Which digit of the key, eight bits or fewer.
struct digit {
  int shift;
  u32 mask;
  KOKKOS_FUNCTION u32 operator()(const u32& k) const { return k >> shift & mask; }
};

struct lowest_three_bits {
  KOKKOS_FUNCTION u32 operator()(const u64& k) const { return static_cast<u32>(k & 7); }
};

struct index_as_value {
  KOKKOS_FUNCTION u32 operator()(std::int64_t i) const { return static_cast<u32>(i); }
};

/// Counts how often it sees every key; keys are their indices.
struct counting_modulo {
  int* calls;
  std::int64_t n;
  KOKKOS_FUNCTION u32 operator()(const u32& k) const {
    if (k >= n) {
      calls[n] = 1;
    } else {
      ++calls[k];
    }
    return k * 2654435761u >> 27;
  }
};

struct store_key {
  u32* out;
  KOKKOS_FUNCTION void operator()(std::int64_t i, u32 k) const { out[i] = k; }
};

const std::vector<u32> figure_1 = {9, 12, 4, 11, 3, 5, 16, 2, 1, 10, 13, 6, 15, 8, 14, 7};
const std::int64_t one_tile = split_tile<u32>;
const std::int64_t ragged_split = some_tiles(one_tile);

}  // namespace

namespace {
struct store_value_to {
  std::uint32_t* data;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::uint32_t x) const { data[i] = x; }
};
}  // namespace

TEST_CASE("multisplit reproduces figure 1 of GPU Multisplit", "[multisplit][sanitize]") {
  const auto exec = make_space();
  const array<u32> keys(figure_1);
  const array<u32> out(16, 0u);
  const array<u32> positions(16, 0u);
  const array<std::int64_t> offsets(4, -1);

  lanewise::multisplit(exec, keys.const_view(), lanewise::generated(16, index_as_value{}),
                       out.view(), positions.view(), lanewise::at_most<256>{2}, is_composite{},
                       {.offsets = offsets.view()});
  CHECK(out.items() == std::vector<u32>{11, 3, 5, 2, 13, 7, 9, 12, 4, 16, 1, 10, 6, 15, 8, 14});
  CHECK(offsets.items() == std::vector<std::int64_t>{0, 6, 16, -1});
  std::vector<u32> place_of(16);
  auto inputs = positions.items();
  for (u32 p = 0; p < 16; ++p) place_of[inputs[p]] = p;
  CHECK(place_of == std::vector<u32>{6, 7, 8, 0, 1, 2, 9, 3, 10, 11, 4, 12, 13, 14, 15, 5});

  lanewise::multisplit(exec, keys.const_view(), lanewise::generated(16, index_as_value{}),
                       out.view(), positions.view(), lanewise::at_most<256>{3}, three_ranges{},
                       {.offsets = offsets.view()});
  CHECK(out.items() == std::vector<u32>{4, 3, 5, 2, 1, 9, 12, 11, 10, 13, 6, 8, 7, 16, 15, 14});
  CHECK(offsets.items() == std::vector<std::int64_t>{0, 5, 13, 16});
  inputs = positions.items();
  for (u32 p = 0; p < 16; ++p) place_of[inputs[p]] = p;
  CHECK(place_of == std::vector<u32>{5, 6, 0, 7, 1, 2, 13, 3, 4, 8, 9, 10, 14, 11, 15, 12});
}

TEST_CASE("A radix sort made of multisplits equals std::stable_sort", "[multisplit][sanitize]") {
  const auto exec = make_space();
  const auto items = random_items<u32>(ragged_split);
  std::vector<u32> order(items.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](u32 a, u32 b) { return items[a] < items[b]; });
  std::vector<u32> sorted;
  for (const u32 i : order) sorted.push_back(items[i]);
  for (int bits = 4; bits <= 8; ++bits) {
    CAPTURE(bits);
    std::vector<u32> indices(items.size());
    std::iota(indices.begin(), indices.end(), 0u);
    array<u32> keys(items), values(indices), other_keys(items), other_values(indices);
    lanewise::workspace work;

    for (int shift = 0; shift < 32; shift += bits) {
      const u32 m = u32{1} << std::min(bits, 32 - shift);
      lanewise::multisplit(exec, keys.view(), values.view(), other_keys.view(), other_values.view(),
                           lanewise::at_most<256>{m}, digit{shift, m - 1}, {.work = &work});
      std::swap(keys, other_keys);
      std::swap(values, other_values);
    }

    CHECK(difference(keys.items(), sorted) == "");
    CHECK(difference(values.items(), order) == "");
  }
}

TEST_CASE("multisplit counts bucket numbers of any width and sign as bad, not as others",
          "[multisplit][sanitize]") {
  const auto exec = make_space();
  const auto items = random_items<u32>(one_tile + 131);
  const array<u32> keys(items);
  const array<u32> out(one_tile + 131, 77u);
  const cell<lanewise::status> errors;

  lanewise::multisplit(exec, keys.const_view(), out.view(), lanewise::at_most<256>{5},
                       signed_bucket{}, {.errors = errors.view()});

  const auto expected = oracle::multisplit(items, 5, signed_bucket{});
  CHECK(errors.get().bad_items == expected.bad_items);
  CHECK(difference(out.items(), oracle::gather(items, expected.index), out.original()) == "");
}

TEST_CASE("multisplit adds bad items up over calls, and check throws", "[multisplit]") {
  const auto exec = make_space();
  const array<u32> keys(std::vector<u32>{0, 1, 2, 3, 4, 5, 6, 7});
  const array<u32> out(8, 77u);
  const cell<lanewise::status> errors;

  CHECK_NOTHROW(lanewise::check(exec, errors.view()));
  lanewise::multisplit(exec, keys.const_view(), out.view(), 3, modulo{4},
                       {.errors = errors.view()});
  lanewise::multisplit(exec, keys.const_view(), out.view(), 3, modulo{8},
                       {.errors = errors.view()});

  CHECK(errors.get().bad_items == 7);
  CHECK_THROWS_WITH(lanewise::check(exec, errors.view()), ContainsSubstring("7 items"));
}

TEST_CASE("multisplit counts bad items in its workspace when it is given no status",
          "[multisplit]") {
  const auto exec = make_space();
  const array<u32> keys(std::vector<u32>{0, 1, 2, 3, 4, 5, 6, 7});
  const array<u32> more(random_items<u32>(3 * one_tile));
  const array<u32> out(3 * one_tile, 77u);
  lanewise::workspace work;

  CHECK_NOTHROW(lanewise::check(exec, work));
  lanewise::multisplit(exec, keys.const_view(), out.view(), 3, modulo{4}, {.work = &work});
  lanewise::multisplit(exec, more.const_view(), out.view(), 256, modulo{256}, {.work = &work});
  lanewise::multisplit(exec, keys.const_view(), out.view(), 3, modulo{8}, {.work = &work});

  CHECK_THROWS_WITH(lanewise::check(exec, work), ContainsSubstring("7 items"));
  work.release();
  CHECK_NOTHROW(lanewise::check(exec, work));
}

TEST_CASE("multisplit reads the number of items on the device", "[multisplit][sanitize]") {
  const auto exec = make_space();
  const auto items = random_items<u32>(ragged_split);
  const array<u32> keys(items);
  const cell<std::int64_t> count;
  for (const std::int64_t given :
       {std::int64_t{-5}, std::int64_t{0}, std::int64_t{1}, one_tile - 1, one_tile, one_tile + 1,
        ragged_split - 1, ragged_split, ragged_split + 5}) {
    CAPTURE(given);
    count.set(given);
    const auto n = std::clamp<std::int64_t>(given, 0, ragged_split);
    const std::vector<u32> used(items.begin(), items.begin() + n);
    const array<u32> out(ragged_split, 77u);
    const array<u32> values_out(ragged_split, 77u);
    const array<std::int64_t> offsets(10, -1);
    const cell<lanewise::status> errors;

    lanewise::multisplit(
        exec, keys.const_view(), keys.const_view(), out.view(), values_out.view(), 9, modulo{10},
        {.count = count.view(), .offsets = offsets.view(), .errors = errors.view()});

    const auto expected = oracle::multisplit(used, 9, modulo{10});
    CHECK(difference(out.items(), oracle::gather(used, expected.index), out.original()) == "");
    CHECK(difference(values_out.items(), oracle::gather(used, expected.index),
                     values_out.original()) == "");
    CHECK(difference(offsets.items(), expected.offsets) == "");
    CHECK(errors.get().bad_items == expected.bad_items);
  }
}

TEST_CASE("multisplit fuses sources and sinks, and never looks beyond the last item",
          "[multisplit][sanitize]") {
  const auto exec = make_space();
  for (const std::int64_t n :
       {std::int64_t{1}, std::int64_t{33}, one_tile - 1, one_tile, one_tile + 1, ragged_split}) {
    CAPTURE(n);
    const auto items = random_items<u64>(n, 1000);
    const cell<int> trapped;
    const array<u64> keys(items, 1);
    const array<u64> out(n, u64{77});
    const array<int> calls(n, 0);
    const array<u32> consumed_keys(n, 77u);

    lanewise::multisplit(exec,
                         lanewise::transformed(keys.const_view(), trap_poison{trapped.data()}),
                         out.view(), lanewise::at_most<256>{8}, lowest_three_bits{});
    lanewise::multisplit(exec, lanewise::generated(n, index_as_value{}),
                         lanewise::consumed(n, store_key{consumed_keys.data()}),
                         lanewise::at_most<256>{32}, counting_modulo{calls.data(), n});

    const auto shifted = oracle::transform<u64>(items, plus_three{});
    CHECK(difference(
              out.items(),
              oracle::gather(shifted, oracle::multisplit(shifted, 8, lowest_three_bits{}).index)) ==
          "");
    CHECK(trapped.get() == 0);
    const auto seen = calls.items();
    CHECK(std::all_of(seen.begin(), seen.end(), [](int k) { return k >= 1 && k <= 3; }));
    CHECK(calls.guards_intact());
    std::vector<u32> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), 0u);
    std::vector<int> ignored(all.size() + 1);
    const auto expected = oracle::multisplit(all, 32, counting_modulo{ignored.data(), n});
    CHECK(difference(consumed_keys.items(), oracle::gather(all, expected.index)) == "");
  }
}

TEST_CASE("multisplit writes keys to an array and hands values to a function", "[multisplit]") {
  const auto exec = make_space();
  const auto keys = random_items<std::uint32_t>(200'000);
  std::vector<std::uint32_t> indices(keys.size());
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<std::uint32_t>(i);
  const auto n = static_cast<std::int64_t>(keys.size());
  const array<std::uint32_t> in(keys), values(indices), keys_out(n, 77u), values_out(n, 77u);
  lanewise::multisplit(exec, in.const_view(), values.const_view(), keys_out.view(),
                       lanewise::consumed(n, store_value_to{values_out.data()}),
                       lanewise::at_most<256>{200}, modulo{200});
  const auto expected = oracle::multisplit(keys, 200, modulo{200});
  CHECK(difference(keys_out.items(), oracle::gather(keys, expected.index)) == "");
  CHECK(difference(values_out.items(), oracle::gather(indices, expected.index)) == "");
}

TEMPLATE_TEST_CASE("multisplit moves values of other sizes with their keys",
                   "[multisplit][sanitize]", affine MORE_TYPES(std::uint8_t, u64)) {
  const auto exec = make_space();
  for (const u32 divisor : {40u, 41u}) {
    for (const std::int64_t n : {std::int64_t{33}, one_tile, ragged_split}) {
      CAPTURE(divisor, n);
      const auto items = random_items<u32>(n);
      const auto moved = random_items<TestType>(n);
      const array<u32> keys(items);
      const array<TestType> values(moved);
      const array<u32> out(n, 77u);
      const array<TestType> values_out(n, item_of<TestType>(77));

      lanewise::multisplit(exec, keys.const_view(), values.const_view(), out.view(),
                           values_out.view(), lanewise::at_most<256>{40}, modulo{divisor});

      const auto expected = oracle::multisplit(items, 40, modulo{divisor});
      CHECK(difference(out.items(), oracle::gather(items, expected.index), out.original()) == "");
      CHECK(difference(values_out.items(), oracle::gather(moved, expected.index),
                       values_out.original()) == "");
      CHECK(out.guards_intact());
      CHECK(values_out.guards_intact());
    }
  }
}

TEST_CASE("multisplit of no items writes zero offsets", "[multisplit]") {
  const auto exec = make_space();
  const Kokkos::View<u32*, memory> none;
  const array<std::int64_t> offsets(34, -1);

  lanewise::multisplit(exec, none, none, 33, modulo{33}, {.offsets = offsets.view()});

  CHECK(offsets.items() == std::vector<std::int64_t>(34, 0));
}

TEST_CASE("multisplit refuses a number of buckets outside [1, 65536]", "[multisplit]") {
  const auto exec = make_space();
  const array<u32> keys(4, 1u);
  const array<u32> out(4, 77u);
  for (const std::int64_t m :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{65'537}, std::int64_t{1} << 32}) {
    CAPTURE(m);
    CHECK_THAT(
        refusal([&] { lanewise::multisplit(exec, keys.const_view(), out.view(), m, modulo{3}); }),
        ContainsSubstring("lanewise::multisplit: bucket_count is " + std::to_string(m) +
                          ", not in [1, 65536]"));
  }
  CHECK_THAT(refusal([&] {
               lanewise::multisplit(exec, keys.const_view(), out.view(),
                                    lanewise::at_most<256>{257}, modulo{3});
             }),
             ContainsSubstring("lanewise::multisplit: bucket_count is 257, not in [1, 256]"));
  CHECK(out.unchanged());
}

TEST_CASE("multisplit refuses wrong extents", "[multisplit]") {
  const auto exec = make_space();
  const array<u32> four(4, 1u);
  const array<u32> also_four(4, 2u);
  const array<u32> five(5, 3u);
  const array<u32> also_five(5, 4u);
  const array<std::int64_t> offsets(3, -1);

  CHECK_THAT(refusal([&] { lanewise::multisplit(exec, five.view(), four.view(), 3, modulo{3}); }),
             ContainsSubstring("lanewise::multisplit: keys_out has 4 places, keys has 5 items"));
  CHECK_THAT(refusal([&] {
               lanewise::multisplit(exec, five.view(), four.view(), also_five.view(),
                                    also_four.view(), 3, modulo{3});
             }),
             ContainsSubstring("lanewise::multisplit: values has 4 items, keys has 5"));
  CHECK_THAT(
      refusal([&] {
        lanewise::multisplit(exec, five.view(), five.view(), also_five.view(), also_four.view(), 3,
                             modulo{3});
      }),
      ContainsSubstring("lanewise::multisplit: values_out has 4 places, values has 5 items"));
  CHECK_THAT(refusal([&] {
               lanewise::multisplit(exec, five.view(), also_five.view(), 3, modulo{3},
                                    {.offsets = offsets.view()});
             }),
             ContainsSubstring(
                 "lanewise::multisplit: options.offsets has 3 entries, bucket_count + 1 is 4"));
  CHECK(four.unchanged());
  CHECK(also_four.unchanged());
  CHECK(five.unchanged());
  CHECK(also_five.unchanged());
  CHECK(offsets.unchanged());
}

TEST_CASE("multisplit refuses overlap, even in place", "[multisplit]") {
  const auto exec = make_space();
  const array<u32> a(8, 1u), b(8, 2u), c(8, 3u);
  const auto front = Kokkos::subview(a.view(), Kokkos::pair<int, int>(0, 5));
  const auto back = Kokkos::subview(a.view(), Kokkos::pair<int, int>(3, 8));
  const auto overlaps = [](const std::string& message, const std::string& one,
                           const std::string& other) {
    const auto first = message.find("lanewise::multisplit: " + one + " [");
    const auto second = message.find(" and " + other + " [");
    return first == 0 && second != std::string::npos &&
           message.find("overlap", second) != std::string::npos;
  };

  CHECK(overlaps(refusal([&] { lanewise::multisplit(exec, a.view(), a.view(), 3, modulo{3}); }),
                 "keys", "keys_out"));
  CHECK(overlaps(refusal([&] { lanewise::multisplit(exec, front, back, 3, modulo{3}); }), "keys",
                 "keys_out"));
  CHECK(overlaps(refusal([&] {
                   lanewise::multisplit(exec, a.view(), b.view(), c.view(), b.view(), 3, modulo{3});
                 }),
                 "values", "values_out"));
  CHECK(overlaps(refusal([&] {
                   lanewise::multisplit(exec, a.view(), b.view(), c.view(), a.view(), 3, modulo{3});
                 }),
                 "keys", "values_out"));
  CHECK(overlaps(refusal([&] {
                   lanewise::multisplit(exec, a.view(), b.view(), b.view(), c.view(), 3, modulo{3});
                 }),
                 "values", "keys_out"));
  CHECK(overlaps(refusal([&] {
                   lanewise::multisplit(exec, a.view(), b.view(), c.view(), c.view(), 3, modulo{3});
                 }),
                 "keys_out", "values_out"));
  CHECK(a.unchanged());
  CHECK(b.unchanged());
  CHECK(c.unchanged());
}

TEST_CASE("multisplit refuses Views without memory", "[multisplit]") {
  const auto exec = make_space();
  const Kokkos::View<u32*, memory, Kokkos::MemoryUnmanaged> nothing(nullptr, 5);
  const array<u32> a(5, 1u), b(5, 2u), c(5, 3u);

  CHECK_THAT(refusal([&] { lanewise::multisplit(exec, nothing, a.view(), 3, modulo{3}); }),
             ContainsSubstring("keys has 5 items and no memory"));
  CHECK_THAT(refusal([&] { lanewise::multisplit(exec, a.view(), nothing, 3, modulo{3}); }),
             ContainsSubstring("keys_out has 5 items and no memory"));
  CHECK_THAT(refusal([&] {
               lanewise::multisplit(exec, a.view(), nothing, b.view(), c.view(), 3, modulo{3});
             }),
             ContainsSubstring("values has 5 items and no memory"));
  CHECK_THAT(refusal([&] {
               lanewise::multisplit(exec, a.view(), b.view(), c.view(), nothing, 3, modulo{3});
             }),
             ContainsSubstring("values_out has 5 items and no memory"));
}
