// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/lsm/lsm_map.hpp>
#include <lanewise/ordered/ordered_map.hpp>
#include <support/generators.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

// Readers of other instances see a whole number of batches: of an ordered_map by copies, of an
// lsm_map by snapshots, which are taken while the batches are applied.

namespace {

using namespace test;
using u32 = std::uint32_t;

constexpr u32 reader_keys = is_emulated ? 90 : 5000;
constexpr u32 reader_batches = is_emulated ? 12 : 60;

#if defined(LANEWISE_TEST_SPACE_EMULATED)
using reader_space = space;
#elif defined(LANEWISE_TEST_SPACE_CUDA)
using reader_space = space;
#elif defined(KOKKOS_ENABLE_SERIAL)
// Host threads of their own; those of other spaces would have to share OpenMP's.
using reader_space = Kokkos::Serial;
#endif

/// An instance of its own; of the emulated backend with delays where warps meet others.
reader_space reader_instance([[maybe_unused]] std::uint64_t salt) {
#if defined(LANEWISE_TEST_SPACE_EMULATED)
  return space(seed() + salt, 2, lanewise::interleaving::delayed);
#elif defined(LANEWISE_TEST_SPACE_CUDA)
  return Kokkos::Experimental::partition_space(space(), 1)[0];
#else
  return reader_space(Kokkos::NewInstance{});
#endif
}

std::vector<u32> keys_of_readers() {
  std::vector<u32> all(2 * reader_keys);
  for (u32 i = 0; i < 2 * reader_keys; ++i) all[i] = i;
  return all;
}
/// How many keys do not have what they have after a whole number of batches, and that number.
std::int64_t torn_keys(const u32* got, u32& batch) {
  batch = 0;
  for (u32 i = 0; i < 2 * reader_keys; ++i) batch = std::max(batch, got[i]);
  std::int64_t torn = 0;
  for (u32 i = 0; i < 2 * reader_keys; ++i) torn += got[i] != (i % 2 == batch % 2 ? batch : 0);
  return torn;
}

/// What a writer publishes and readers copy. The lock guards the object, and not what it shares
/// with others.
template <class Map, class Copy>
class published {
 public:
  explicit published(const Copy& copy) : copy_(copy) {}
  void put(const Map& map) {
    Map shared = copy_(map);
    const std::lock_guard<std::mutex> lock(mutex_);
    std::swap(map_, shared);
  }
  Map get() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return copy_(map_);
  }

 private:
  Copy copy_;
  std::mutex mutex_;
  Map map_;
};

// Batch b puts keys i with i % 2 == b % 2, with value b, and erases the others, which the batch
// before has put. So after b batches the keys of b % 2 are there, each with value b, and no other.
//
// write(instance, map, b) applies a batch, find(instance, map, keys, values) looks all keys up.

/// Kernels of another instance read copies, one of each batch, while the next batches are applied.
template <class Map, class Copy, class Write, class Find>
void check_queued_readers(const Copy& copy, const Write& write, const Find& find) {
  const array<u32> keys(keys_of_readers());
  std::vector<array<u32>> values;
  for (u32 b = 0; b < reader_batches; ++b) values.emplace_back(2 * reader_keys, 0u);
  const reader_space writer = reader_instance(80), reader = reader_instance(81);
  Map map;
  std::vector<Map> copies;
  for (u32 b = 1; b <= reader_batches; ++b) {
    write(writer, map, b);
    copies.push_back(copy(map));
    find(reader, copies.back(), keys, values[b - 1]);
  }
  reader.fence();
  std::int64_t wrong = 0;
  for (u32 b = 1; b <= reader_batches; ++b) {
    u32 batch = 0;
    wrong += torn_keys(values[b - 1].items().data(), batch);
    wrong += batch != b;
  }
  CHECK(wrong == 0);
}

#if !defined(LANEWISE_TEST_SPACE_CUDA)
constexpr int readers = 2;

/// Host threads take copies at any time.
template <class Map, class Copy, class Write, class Find>
void check_reader_threads(const Copy& copy, const Write& write, const Find& find) {
  // Kokkos::View allocates in the main thread only.
  const array<u32> keys(keys_of_readers());
  std::vector<array<u32>> values;
  std::vector<reader_space> instances;
  for (int r = 0; r < readers; ++r) {
    values.emplace_back(2 * reader_keys, 0u);
    instances.push_back(reader_instance(static_cast<std::uint64_t>(70 + r)));
  }
  published<Map, Copy> shared(copy);
  std::atomic<bool> is_done{false};
  std::atomic<std::int64_t> torn{0}, backwards{0}, seen{0};
  const auto read = [&](std::size_t me) {
    const reader_space& exec = instances[me];
    u32* const got = values[me].data();
    u32 batch = 0, before = 0;
    for (bool is_last = false; !is_last; before = batch) {
      is_last = is_done.load();
      const Map map = shared.get();
      std::fill_n(got, 2 * reader_keys, 0u);
      find(exec, map, keys, values[me]);
      exec.fence();
      torn += torn_keys(got, batch);
      backwards += batch < before;
      seen += batch != before;
    }
    torn += batch != reader_batches;  // the last look comes after the last batch
  };
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < readers; ++r) threads.emplace_back(read, r);
  const reader_space writer = reader_instance(79);
  Map map;
  for (u32 b = 1; b <= reader_batches; ++b) {
    write(writer, map, b);
    writer.fence();
    shared.put(map);
  }
  is_done = true;
  for (auto& t : threads) t.join();
  CHECK(torn.load() == 0);
  CHECK(backwards.load() == 0);
  CHECK(seen.load() >= readers);
}
#endif

/// Both.
template <class Map, class Copy, class Write>
void check_readers_see_batches(const Copy& copy, const Write& write) {
  const auto find = [](const reader_space& exec, const Map& map, const auto& keys,
                       const auto& values) {
    lanewise::find(exec, map, keys.const_view(), values.view());
  };
  check_queued_readers<Map>(copy, write, find);
#if !defined(LANEWISE_TEST_SPACE_CUDA)
  check_reader_threads<Map>(copy, write, find);
#endif
}

/// Keys and operations of a batch: 2 i + come % 2 with a value, and the others to be erased.
template <class Operation>
struct reader_batch {
  std::vector<u32> keys, values;
  std::vector<Operation> operations;

  reader_batch(u32 b, Operation put, Operation erase) {
    for (u32 i = 0; i < 2 * reader_keys; ++i) {
      keys.push_back(i * 7 % (2 * reader_keys));
      operations.push_back(keys[i] % 2 == b % 2 ? put : erase);
      values.push_back(b);
    }
  }
};

}  // namespace

TEST_CASE("Copies of an ordered_map have a whole number of batches", "[ordered_readers]") {
  using map = lanewise::ordered_map<u32, u32, memory>;
  using lanewise::table_operation;
  check_readers_see_batches<map>([](const map& m) { return m; },
                                 [](const reader_space& exec, map& m, u32 b) {
                                   const reader_batch<table_operation> batch(
                                       b, table_operation::assign, table_operation::erase);
                                   lanewise::apply(exec, m, array(batch.operations).const_view(),
                                                   array(batch.keys).const_view(),
                                                   array(batch.values).view());
                                 });
}
TEST_CASE("Snapshots of an lsm_map have a whole number of batches", "[ordered_readers]") {
  using map = lanewise::lsm_map<u32, u32, memory>;
  using lanewise::table_operation;
  check_readers_see_batches<map>([](const map& m) { return m.snapshot(); },
                                 [](const reader_space& exec, map& m, u32 b) {
                                   const reader_batch<table_operation> batch(
                                       b, table_operation::insert, table_operation::erase);
                                   const array<table_operation> operations(batch.operations);
                                   const array<u32> keys(batch.keys), values(batch.values);
                                   lanewise::apply(exec, m, operations.const_view(),
                                                   keys.const_view(), values.const_view());
                                   if (b % 5 == 0) lanewise::cleanup(exec, m);
                                   exec.fence();
                                 });
}
