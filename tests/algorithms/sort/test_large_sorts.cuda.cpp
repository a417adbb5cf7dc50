// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/sort/radix_sort.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>

#include <vector>

// Enough keys that counts need 64 bits, or that three levels are launched: only where a GPU has the
// memory, and when asked for.

namespace {

using namespace test;
using u32 = std::uint32_t;
using large_range = Kokkos::RangePolicy<space, Kokkos::IndexType<std::int64_t>>;
using large_view = Kokkos::View<u32*, memory>;

KOKKOS_FUNCTION u32 mixed(std::uint64_t x) {
  x = (x ^ (x >> 31)) * 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 29)) * 0xBF58476D1CE4E5B9u;
  return static_cast<u32>(x >> 32);
}
/// Key i; every bit is set in one of 2^sparse keys.
struct key_of {
  int sparse;
  KOKKOS_FUNCTION u32 operator()(std::int64_t i) const {
    u32 key = ~u32{0};
    for (int k = 0; k <= sparse; ++k) key &= mixed(static_cast<std::uint64_t>(i) * 4 + k);
    return key;
  }
};
struct write_keys {
  key_of key;
  u32* keys;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { keys[i] = key(i); }
};
struct write_numbers {
  u32* values;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { values[i] = static_cast<u32>(i); }
};
struct hashes_of_keys {
  const u32* keys;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::uint64_t& sum) const {
    sum += mixed(keys[i] + (std::uint64_t{1} << 32));
  }
};
struct descents_of_keys {
  const u32* keys;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& sum) const {
    sum += keys[i + 1] < keys[i];
  }
};
/// A value that is not the number of its key (it has 32 bits of that number), or equal keys out of
/// order.
struct strays {
  key_of key;
  std::int64_t n;
  const u32* keys;
  const u32* values;
  KOKKOS_FUNCTION bool is_wrapped(u32 value) const { return value + wrap < n; }
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& sum) const {
    const u32 value = values[i];
    sum += key(value) != keys[i] && !(is_wrapped(value) && key(value + wrap) == keys[i]);
    if (i + 1 == n || keys[i + 1] != keys[i]) return;
    const u32 next = values[i + 1];
    sum += next <= value && !is_wrapped(next);
  }
  static constexpr std::int64_t wrap = std::int64_t{1} << 32;
};

large_view uninitialised(std::int64_t n) {
  return large_view(Kokkos::view_alloc("keys", Kokkos::WithoutInitializing), n);
}
std::uint64_t hash_sum(const large_view& keys) {
  std::uint64_t sum = 0;
  Kokkos::parallel_reduce("hashes", large_range(0, keys.extent(0)), hashes_of_keys{keys.data()},
                          sum);
  return sum;
}
std::int64_t descents_in(const large_view& keys) {
  std::int64_t wrong = 0;
  Kokkos::parallel_reduce("descents", large_range(0, keys.extent(0) - 1),
                          descents_of_keys{keys.data()}, wrong);
  return wrong;
}

void check_pairs(std::int64_t n, const std::vector<int>& sparsities) {
  const auto keys = uninitialised(n), values = uninitialised(n);
  const space exec;
  for (const int sparse : sparsities) {
    CAPTURE(sparse, n);
    const key_of key{sparse};
    Kokkos::parallel_for("write", large_range(0, n), write_keys{key, keys.data()});
    Kokkos::parallel_for("write", large_range(0, n), write_numbers{values.data()});
    lanewise::radix_sort(exec, keys, values, keys, values);
    exec.fence();
    CHECK(descents_in(keys) == 0);
    std::int64_t wrong = 0;
    Kokkos::parallel_reduce("strays", large_range(0, n), strays{key, n, keys.data(), values.data()},
                            wrong);
    CHECK(wrong == 0);
  }
}

}  // namespace

TEST_CASE("radix_sort sorts more keys than fit 32 bits", "[.large]") {
  const std::int64_t n = (std::int64_t{1} << 32) + 12345;
  const auto keys = uninitialised(n);
  Kokkos::parallel_for("write", large_range(0, n), write_keys{{1}, keys.data()});
  const std::uint64_t sum = hash_sum(keys);
  const space exec;
  lanewise::radix_sort(exec, keys, keys);
  exec.fence();
  CHECK(descents_in(keys) == 0);
  CHECK(hash_sum(keys) == sum);
}

TEST_CASE("radix_sort sorts many pairs of uniform and of sparse keys", "[.large]") {
  check_pairs((std::int64_t{5} << 28) + 12345, {0, 1, 4});
}

TEST_CASE("radix_sort sorts more pairs than fit 32 bits", "[.large]") {
  check_pairs((std::int64_t{1} << 32) + 12345, {0});
}
