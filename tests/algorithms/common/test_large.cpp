// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/segments/reduce_by_key.hpp>
#include <lanewise/segments/run_length_decode.hpp>
#include <lanewise/segments/segmented_reduce.hpp>
#include <lanewise/select/select.hpp>
#include <lanewise/sequence/min_max_element.hpp>
#include <lanewise/sequence/reduce.hpp>
#include <lanewise/sequence/scan.hpp>
#include <lanewise/sequence/transform.hpp>
#include <lanewise/sort/multisplit.hpp>
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
                       lanewise::consumed(n, expect_split{wrong.data(), n}),
                       lanewise::at_most<256>{8}, modulo_eight{}, {.offsets = offsets.view()});

  CHECK(wrong.get() == 0);
  const auto found = offsets.items();
  for (std::int64_t b = 0; b < 8; ++b) CHECK(found[b + 1] - found[b] == (n - b + 7) / 8);
}

// For GPUs alone: on hosts these take minutes, and daily builds do without them.
#if defined(LANEWISE_TEST_SPACE_CUDA)

constexpr std::int64_t twice_unsigned = (std::int64_t{1} << 33) + 12'345;

/// The number of an item by its last digits.
struct modulo_thousand {
  KOKKOS_FUNCTION u32 operator()(const u64& key) const { return static_cast<u32>(key % 1000); }
};
constexpr std::int64_t of_each_thousandth = beyond_int / 1000 + 1;
/// Raises a flag unless key is at its place among those of 1000 buckets, each of `of_each` keys. It
/// is a sink that divides numbers of 64 bits, which took nvcc 13.0 more registers than there are.
struct expect_thousand {
  int* wrong;
  std::int64_t of_each;
  KOKKOS_FUNCTION void operator()(std::int64_t p, u64 key) const {
    const std::int64_t bucket = p / of_each;
    if (key != static_cast<u64>((p - bucket * of_each) * 1000 + bucket)) *wrong = 1;
  }
};

/// Keeps three of four.
struct not_of_four {
  KOKKOS_FUNCTION bool operator()(const u64& x) const { return x % 4 != 0; }
};

/// Raises a flag unless this is what not_of_four keeps of 0, 1, ... at place p.
struct expect_kept {
  int* wrong;
  KOKKOS_FUNCTION void operator()(std::int64_t p, u64 x) const {
    if (x != static_cast<u64>(p / 3 * 4 + p % 3 + 1)) *wrong = 1;
  }
};

void check_selection(std::int64_t n) {
  CAPTURE(n);
  const cell<int> wrong;

  const auto kept =
      lanewise::select_if(make_space(), lanewise::generated(n, own_index{}),
                          lanewise::consumed(n, expect_kept{wrong.data()}), not_of_four{});

  CHECK(wrong.get() == 0);
  CHECK(kept == n - (n + 3) / 4);
}

struct pair_of {
  KOKKOS_FUNCTION u64 operator()(std::int64_t i) const { return static_cast<u64>(i / 2); }
};

/// Raises a flag unless result i is i.
struct expect_index {
  int* wrong;
  KOKKOS_FUNCTION void operator()(std::int64_t i, u64 x) const {
    if (x != static_cast<u64>(i)) *wrong = 1;
  }
};

/// 1 where the sum of a pair's bytes is not what it should be.
struct wrong_sum {
  const u8* sums;
  std::int64_t n;
  KOKKOS_FUNCTION u64 operator()(std::int64_t r) const {
    const low_byte_of byte;
    const int second = 2 * r + 1 < n ? byte(2 * r + 1) : 0;
    return sums[r] != static_cast<u8>(byte(2 * r) + second);
  }
};

/// Pairs of equal keys: sums of bytes, the only ones in memory.
void check_pairs(std::int64_t n) {
  CAPTURE(n);
  const auto exec = make_space();
  const std::int64_t pairs = (n + 1) / 2;
  const cell<int> wrong;
  const Kokkos::View<u8*, memory> sums("test::sums", static_cast<std::size_t>(pairs));

  const auto runs = lanewise::reduce_by_key(
      exec, lanewise::generated(n, pair_of{}), lanewise::generated(n, low_byte_of{}),
      lanewise::consumed(pairs, expect_index{wrong.data()}), sums, lanewise::plus{});

  CHECK(wrong.get() == 0);
  CHECK(runs == pairs);
  CHECK(lanewise::reduce(exec, lanewise::generated(pairs, wrong_sum{sums.data(), n}),
                         lanewise::plus{}, u64{0}) == 0);
}

/// The begins of segments of equal lengths, but for the last.
struct equal_segments {
  std::int64_t length, n;
  KOKKOS_FUNCTION std::int64_t operator()(std::int64_t s) const {
    return s * length < n ? s * length : n;
  }
};

/// Raises a flag unless this is the sum of the numbers in segment s.
struct expect_sum {
  int* wrong;
  equal_segments begin;
  KOKKOS_FUNCTION void operator()(std::int64_t s, u64 sum) const {
    const auto b = static_cast<u64>(begin(s)), e = static_cast<u64>(begin(s + 1));
    const u64 count = e - b, ends = b + e - 1;
    if (sum != (count % 2 == 0 ? count / 2 * ends : count * (ends / 2))) *wrong = 1;
  }
};

void check_segments(std::int64_t n, std::int64_t length) {
  CAPTURE(n, length);
  const cell<int> wrong;
  const equal_segments begin{length, n};
  const std::int64_t segments = (n + length - 1) / length;

  lanewise::segmented_reduce(
      make_space(), lanewise::generated(n, own_index{}), lanewise::generated(segments + 1, begin),
      lanewise::consumed(segments, expect_sum{wrong.data(), begin}), lanewise::plus{}, u64{0});

  CHECK(wrong.get() == 0);
}

struct always {
  std::int64_t length;
  KOKKOS_FUNCTION std::int64_t operator()(std::int64_t) const { return length; }
};

/// Raises a flag unless place p is in this run.
struct expect_run {
  int* wrong;
  std::int64_t length;
  KOKKOS_FUNCTION void operator()(std::int64_t p, u64 run) const {
    if (run != static_cast<u64>(p / length)) *wrong = 1;
  }
};

void check_decoded(std::int64_t runs, std::int64_t length) {
  CAPTURE(runs, length);
  const cell<int> wrong;

  const auto places = lanewise::run_length_decode(
      make_space(), lanewise::generated(runs, own_index{}),
      lanewise::generated(runs, always{length}),
      lanewise::consumed(runs * length, expect_run{wrong.data(), length}));

  CHECK(wrong.get() == 0);
  CHECK(places == runs * length);
}

/// Small numbers but for two.
struct two_peaks {
  std::int64_t at;
  KOKKOS_FUNCTION u32 operator()(std::int64_t i) const {
    return i == at || i == at + 2 ? 1000 : static_cast<u32>(i % 999);
  }
};

void check_peak(std::int64_t n, std::int64_t at) {
  CAPTURE(n, at);
  const auto found = lanewise::max_element(make_space(), lanewise::generated(n, two_peaks{at}));
  CHECK(found.value == 1000);
  CHECK(found.index == at);
}

#endif

}  // namespace

#if defined(LANEWISE_TEST_SPACE_CUDA)

TEST_CASE("multisplit places more items than fit 32 bits in many buckets", "[.large]") {
  const std::int64_t n = 1000 * of_each_thousandth;
  const cell<int> wrong;
  lanewise::multisplit(make_space(), lanewise::generated(n, own_index{}),
                       lanewise::consumed(n, expect_thousand{wrong.data(), of_each_thousandth}),
                       1000, modulo_thousand{});
  CHECK(wrong.get() == 0);
}

TEST_CASE("Selections of more items than fit 32 bits", "[.large]") {
  check_selection(beyond_int);
  check_selection(twice_unsigned);  // places beyond 32 bits too
}

TEST_CASE("Runs of more values than fit 32 bits are reduced", "[.large]") {
  check_pairs(beyond_int);
  check_pairs(beyond_unsigned + beyond_int);
}

TEST_CASE("Segments of more items than fit 32 bits are reduced", "[.large]") {
  check_segments(beyond_unsigned, 2);
  check_segments(twice_unsigned, beyond_int);
  check_segments(twice_unsigned, beyond_unsigned);
}

TEST_CASE("Runs are decoded to more places than fit 32 bits", "[.large]") {
  check_decoded(1'000'003, 4300);
  check_decoded(3, beyond_int);
  check_decoded(2, beyond_unsigned);
}

TEST_CASE("Extrema lie behind more items than fit 32 bits", "[.large]") {
  check_peak(beyond_unsigned, beyond_int - 7);
  check_peak(beyond_unsigned, beyond_unsigned - 3);
}

TEST_CASE("Fused selections, segments and runs agree with closed forms", "[select][segmented]") {
  for (const std::int64_t n : {5, 20'011}) {
    check_selection(n);
    check_pairs(n);
    check_segments(n, 2);
    check_segments(n, 7000);
    check_decoded(n, 3);
    check_peak(n, n - 3);
  }
}

#endif

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
