// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/host.hpp>

#include <structures/hash/check_slab.hpp>
#include <type_traits>

// The scalar face in lambdas of Kokkos, which nvcc compiles for the host too. They stand in
// functions with a name that is known outside: nvcc asks for that.

namespace test_slab_scalar_face {

using namespace test;

template <class Exec, class F>
void for_each_number(const Exec& exec, std::int64_t n, const F& f) {
  if constexpr (Kokkos::is_execution_space_v<Exec>) {
    Kokkos::parallel_for("test", Kokkos::RangePolicy<Exec>(exec, 0, n), f);
    exec.fence();
  } else {
    for (std::int64_t i = 0; i < n; ++i) f(i);
  }
}

template <class Exec, class T>
using view_of = Kokkos::View<T*, typename Exec::memory_space>;

template <class View, class T>
void set_items(const View& view, const std::vector<T>& items) {
  Kokkos::deep_copy(view, Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                              items.data(), items.size()));
}
template <class View>
auto items_of(const View& view) {
  std::vector<typename View::non_const_value_type> items(view.extent(0));
  Kokkos::deep_copy(Kokkos::View<typename View::non_const_value_type*, Kokkos::HostSpace,
                                 Kokkos::MemoryUnmanaged>(items.data(), items.size()),
                    view);
  return items;
}

constexpr std::int64_t n = 3000;  // threads; every key belongs to two of them

/// Every thread inserts its key, adds 1 to its value, looks it up, and deletes it if it is asked
/// to.
template <class Exec, class Key, class Value>
void run_map(const Exec& exec,
             lanewise::slab_hash_map<Key, Value, typename Exec::memory_space>& map,
             const view_of<Exec, Key>& keys, const view_of<Exec, Value>& values,
             const view_of<Exec, std::int32_t>& came) {
  using face = lanewise::slab_scalar_face_t<Exec, std::decay_t<decltype(map)>>;
  const auto table = map.view();
  const auto in_step = [&](const auto& f) { for_each_number(exec, n, f); };
  in_step(KOKKOS_LAMBDA(std::int64_t i) {
    face mine(table, static_cast<std::uint64_t>(i));
    Value v = static_cast<Value>(7);
    came(i) = mine.insert(keys(i), v) == table_status::inserted ? 1 : 0;
  });
  in_step(KOKKOS_LAMBDA(std::int64_t i) {
    face mine(table, static_cast<std::uint64_t>(i));
    Value v = static_cast<Value>(1);
    if (mine.upsert(keys(i), v, lanewise::plus{}) == table_status::updated) came(i) += 10;
  });
  in_step(KOKKOS_LAMBDA(std::int64_t i) {
    face mine(table, static_cast<std::uint64_t>(i));
    if (mine.find(keys(i), values(i)) == table_status::found) came(i) += 100;
    if (table.where().bucket_of(keys(i)) <= table.buckets()) came(i) += 1000;
  });
  in_step(KOKKOS_LAMBDA(std::int64_t i) {
    face mine(table, static_cast<std::uint64_t>(i));
    if (i % 3 == 0 && mine.erase(keys(i)) == table_status::erased) came(i) += 10000;
  });
}

template <class Exec, class Key, class Value>
void check_map(const Exec& exec) {
  lanewise::slab_hash_map<Key, Value, typename Exec::memory_space> map(
      exec, {.buckets = 30, .units = 500});
  std::vector<Key> k(n);
  for (std::int64_t i = 0; i < n; ++i) k[i] = key_number<Key>(static_cast<std::uint64_t>(i / 2));
  const view_of<Exec, Key> keys("keys", n);
  const view_of<Exec, Value> values("values", n);
  const view_of<Exec, std::int32_t> came("came", n);
  set_items(keys, k);
  run_map(exec, map, keys, values, came);

  const auto v = items_of(values);
  const auto c = items_of(came);
  for (std::int64_t i = 0; i < n; i += 2) {
    CAPTURE(i);
    REQUIRE(v[i] == Value{9});
    REQUIRE(v[i + 1] == Value{9});
    REQUIRE(c[i] % 10 + c[i + 1] % 10 == 1);
    REQUIRE(c[i] / 10 % 1000 == 111);
    REQUIRE(c[i + 1] / 10 % 1000 == 111);
    REQUIRE(c[i] / 10000 + c[i + 1] / 10000 == (i % 3 == 0 || (i + 1) % 3 == 0 ? 1 : 0));
  }
  CHECK(lanewise::statistics(exec, map).elements == n / 2 - n / 3);
  check_no_leak(exec, map);
}

/// Every thread adds two elements to a key that it has with another one, counts them and adds them
/// up. Then every other thread deletes them.
template <class Exec>
void run_multimap(
    const Exec& exec,
    lanewise::slab_hash_multimap<std::uint32_t, std::uint64_t, typename Exec::memory_space>& map,
    const view_of<Exec, std::uint64_t>& sums, const view_of<Exec, std::uint32_t>& counts) {
  using face = lanewise::slab_scalar_face_t<Exec, std::decay_t<decltype(map)>>;
  const auto table = map.view();
  const auto in_step = [&](const auto& f) { for_each_number(exec, n, f); };
  in_step(KOKKOS_LAMBDA(std::int64_t i) {
    face mine(table, static_cast<std::uint64_t>(i));
    for (std::uint64_t j = 1; j <= 2; ++j) {
      std::uint64_t value = j * 1000;
      mine.insert(static_cast<std::uint32_t>(i / 2), value);
    }
  });
  in_step(KOKKOS_LAMBDA(std::int64_t i) {
    face mine(table, static_cast<std::uint64_t>(i));
    mine.count(static_cast<std::uint32_t>(i / 2), counts(i));
    std::uint64_t sum = 0;
    mine.find_all(static_cast<std::uint32_t>(i / 2), [&](std::uint64_t value) { sum += value; });
    sums(i) = sum;
  });
  in_step(KOKKOS_LAMBDA(std::int64_t i) {
    face mine(table, static_cast<std::uint64_t>(i));
    std::uint32_t gone = 0;
    if (i % 2 == 0) mine.erase_all(static_cast<std::uint32_t>(i / 2), gone);
    counts(i) += 10 * gone;
  });
}

template <class Exec>
void check_multimap(const Exec& exec) {
  lanewise::slab_hash_multimap<std::uint32_t, std::uint64_t, typename Exec::memory_space> map(
      exec, {.buckets = 70, .units = 1500});
  const view_of<Exec, std::uint64_t> sums("sums", n);
  const view_of<Exec, std::uint32_t> counts("counts", n);
  run_multimap(exec, map, sums, counts);
  const auto s = items_of(sums);
  const auto c = items_of(counts);
  for (std::int64_t i = 0; i < n; ++i) {
    CAPTURE(i);
    REQUIRE(s[i] == 6000);
    REQUIRE(c[i] == (i % 2 == 0 ? 44 : 4));
  }
  CHECK(lanewise::statistics(exec, map).elements == 0);
}

}  // namespace test_slab_scalar_face

TEST_CASE("The scalar face of a map in lambdas", "[slab_scalar_face]") {
  const auto exec = test::make_space();
  test_slab_scalar_face::check_map<test::space, std::uint32_t, std::uint32_t>(exec);
  test_slab_scalar_face::check_map<test::space, std::uint64_t, std::uint64_t>(exec);
}

TEST_CASE("The scalar face of a multimap in lambdas", "[slab_scalar_face]") {
  test_slab_scalar_face::check_multimap(test::make_space());
}

TEST_CASE("The scalar face on the host in lambdas that are for a device too",
          "[slab_scalar_face]") {
  const Kokkos::DefaultHostExecutionSpace exec;
  test_slab_scalar_face::check_map<Kokkos::DefaultHostExecutionSpace, std::uint64_t, std::uint32_t>(
      exec);
}
