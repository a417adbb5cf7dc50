// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/multisplit.hpp>
#include <lanewise/reduce.hpp>
#include <lanewise/scan.hpp>
#include <lanewise/transform.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>

// More items than 32 bits can count. Hidden: ask for [large]. Sources and sinks keep most of it out
// of memory.

namespace {

using namespace test;
using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr std::int64_t beyond_int = (std::int64_t{1} << 31) + 12'345;
constexpr std::int64_t beyond_unsigned = (std::int64_t{1} << 32) + 12'345;

struct one_for_each {
  KOKKOS_FUNCTION u64 operator()(std::int64_t) const { return 1; }
};

struct own_index {
  KOKKOS_FUNCTION u64 operator()(std::int64_t i) const { return static_cast<u64>(i); }
};

/// Raises a flag unless result i is i + 1.
struct expect_next {
  int* wrong;
  KOKKOS_FUNCTION void operator()(std::int64_t i, u64 x) const {
    if (x != static_cast<u64>(i) + 1) *wrong = 1;
  }
};

struct modulo_eight {
  KOKKOS_FUNCTION u32 operator()(const u64& k) const { return static_cast<u32>(k & 7); }
};

/// Raises a flag unless the stable result of splitting 0, 1, ..., n-1 by modulo_eight has this key
/// at place p.
struct expect_split {
  int* wrong;
  std::int64_t n;
  KOKKOS_FUNCTION void operator()(std::int64_t p, u64 key) const {
    std::int64_t bucket = 0;
    std::int64_t begin = 0;
    for (; bucket < 7; ++bucket) {
      const std::int64_t count = (n - bucket + 7) / 8;
      if (p < begin + count) break;
      begin += count;
    }
    if (key != static_cast<u64>((p - begin) * 8 + bucket)) *wrong = 1;
  }
};

struct low_byte_of {
  KOKKOS_FUNCTION u8 operator()(std::int64_t i) const {
    return static_cast<u8>(i * 2654435761u >> 13);
  }
};

void check_scan(std::int64_t n) {
  CAPTURE(n);
  const cell<int> wrong;

  lanewise::inclusive_scan(make_space(), lanewise::generated(n, one_for_each{}),
                           lanewise::consumed(n, expect_next{wrong.data()}), lanewise::plus{});

  CHECK(wrong.get() == 0);
}

void check_split(std::int64_t n) {
  CAPTURE(n);
  const cell<int> wrong;
  const array<std::int64_t> offsets(9, -1);

  lanewise::multisplit(make_space(), lanewise::generated(n, own_index{}),
                       lanewise::consumed(n, expect_split{wrong.data(), n}), 8, modulo_eight{},
                       {.offsets = offsets.view()});

  CHECK(wrong.get() == 0);
  const auto found = offsets.items();
  for (std::int64_t b = 0; b < 8; ++b) CHECK(found[b + 1] - found[b] == (n - b + 7) / 8);
}

}  // namespace

TEST_CASE("reduce sums more items than fit 32 bits", "[.large]") {
  const auto exec = make_space();

  CHECK(lanewise::reduce(exec, lanewise::generated(beyond_int, one_for_each{}), lanewise::plus{},
                         u64{0}) == static_cast<u64>(beyond_int));
  CHECK(lanewise::reduce(exec, lanewise::generated(beyond_unsigned, own_index{}),
                         lanewise::maximum{}, u64{0}) == static_cast<u64>(beyond_unsigned - 1));
}

TEST_CASE("Scans of more items than fit 32 bits", "[.large]") {
  check_scan(beyond_int);
  check_scan(beyond_unsigned);
}

TEST_CASE("multisplit places more items than fit 32 bits", "[.large]") {
  check_split(beyond_int);
}

// The closed forms themselves, where they are cheap.
TEST_CASE("Fused scans and multisplits agree with closed forms", "[scan][multisplit]") {
  for (const std::int64_t n : {1, 9, 20'011}) {
    check_scan(n);
    check_split(n);
  }
}

TEST_CASE("Arrays of more than 2^31 items: written, scanned in place, and undone", "[.large]") {
  const auto exec = make_space();
  const std::int64_t n = beyond_int;
  const Kokkos::View<u8*, memory> bytes(
      Kokkos::view_alloc("test::bytes", Kokkos::WithoutInitializing), n);

  lanewise::transform(exec, lanewise::generated(n, low_byte_of{}), bytes, lanewise::identity{});
  const u8 all = lanewise::reduce(exec, bytes, lanewise::bit_xor{}, u8{0});
  lanewise::inclusive_scan(exec, bytes, bytes, lanewise::bit_xor{});

  // The running xor of the running xor's neighbours gives the bytes back: check a few and the last.
  exec.fence();
  for (const std::int64_t at : {std::int64_t{1}, std::int64_t{1} << 20, (std::int64_t{1} << 31) - 1,
                                std::int64_t{1} << 31, n - 1}) {
    const auto pair = to_host(bytes.data() + at - 1, 2);
    CHECK((pair[0] ^ pair[1]) == low_byte_of{}(at));
  }
  CHECK(to_host(bytes.data() + n - 1, 1)[0] == all);
}
