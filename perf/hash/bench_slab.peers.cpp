// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What slab.hpp's problems are to others: the maps of the standard library, TBB, libcuckoo and
// Kokkos, and malloc inside kernels.

#include "slab.hpp"
#include <lanewise/host.hpp>

#include <Kokkos_UnorderedMap.hpp>

#include <cstdlib>
#include <memory>
#include <unordered_map>

#if defined(LANEWISE_PERF_TBB)
#include <tbb/concurrent_hash_map.h>
#endif
#if defined(LANEWISE_PERF_LIBCUCKOO)
#include <libcuckoo/cuckoohash_map.hh>
#endif

namespace lanewise::perf {
namespace {

/// Maps of the host, with the same three calls.
template <class T>
class std_map {
 public:
  explicit std_map(std::int64_t n) { map_.reserve(static_cast<std::size_t>(n)); }
  void put(T key, T value) { map_.emplace(key, value); }
  void look(T key, T& value) const {
    const auto at = map_.find(key);
    if (at != map_.end()) value = at->second;
  }
  void remove(T key) { map_.erase(key); }
  std::int64_t size() const { return static_cast<std::int64_t>(map_.size()); }

 private:
  std::unordered_map<T, T> map_;
};

#if defined(LANEWISE_PERF_TBB)
template <class T>
class tbb_map {
 public:
  explicit tbb_map(std::int64_t n) : map_(static_cast<std::size_t>(n)) {}
  void put(T key, T value) { map_.insert({key, value}); }
  void look(T key, T& value) const {
    typename tbb::concurrent_hash_map<T, T>::const_accessor at;
    if (map_.find(at, key)) value = at->second;
  }
  void remove(T key) { map_.erase(key); }
  std::int64_t size() const { return static_cast<std::int64_t>(map_.size()); }

 private:
  tbb::concurrent_hash_map<T, T> map_;
};
#endif

#if defined(LANEWISE_PERF_LIBCUCKOO)
template <class T>
class cuckoo_map {
 public:
  explicit cuckoo_map(std::int64_t n) : map_(static_cast<std::size_t>(n)) {}
  void put(T key, T value) { map_.insert(key, value); }
  void look(T key, T& value) const { map_.find(key, value); }
  void remove(T key) { map_.erase(key); }
  std::int64_t size() const { return static_cast<std::int64_t>(map_.size()); }

 private:
  libcuckoo::cuckoohash_map<T, T> map_;
};
#endif

/// One of them as the peer of all calls, every thread of Exec with a share.
template <class Exec, class T, template <class> class Map>
void add_map(const char* variant) {
  const auto shared = [](const auto& p, const auto& one) {
    in_shares(p.exec, p.n, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) one(i);
    });
  };
  const auto put_all = [shared](const auto& p, Map<T>& map) {
    shared(p, [&](std::int64_t i) { map.put(p.keys(i), p.values(i)); });
  };
  const auto expect_size = [](const Map<T>& map, std::int64_t n) {
    if (map.size() != n) throw std::runtime_error("the peer's map has a wrong size");
  };
  const auto look = [=](auto& p, auto time) {
    Map<T> map(p.n);
    put_all(p, map);
    time([&] { shared(p, [&](std::int64_t i) { map.look(p.queries(i), p.answers(i)); }); });
  };
  const auto put = [=](auto& p, auto time) {
    auto map = std::make_unique<Map<T>>(p.n);
    time([&] { map = std::make_unique<Map<T>>(p.n); }, [&] { put_all(p, *map); });
    expect_size(*map, p.n);
  };
  const auto remove = [=](auto& p, auto time) {
    erase(p.exec, p.table, p.queries);  // what the check looks at
    Map<T> map(p.n);
    time([&] { put_all(p, map); },
         [&] { shared(p, [&](std::int64_t i) { map.remove(p.queries(i)); }); });
    expect_size(map, 0);
  };
  add<find_problem<Exec, T, true, false>>(variant, look);
  add<find_problem<Exec, T, false, false>>(variant, look);
  add<find_problem<Exec, T, true, true>>(variant, look);
  add<change_problem<Exec, T, change::insert>>(variant, put);
  add<change_problem<Exec, T, change::build>>(variant, put);
  add<change_problem<Exec, T, change::erase>>(variant, remove);
}

// Kokkos::UnorderedMap, in every space.

template <class Map, class Keys>
struct kokkos_insert {
  Map map;
  Keys keys, values;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { map.insert(keys(i), values(i)); }
};
template <class Map, class Keys>
struct kokkos_find {
  Map map;
  Keys queries, answers;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto at = map.find(queries(i));
    if (map.valid_at(at)) answers(i) = map.value_at(at);
  }
};

template <class Exec, class T>
void add_kokkos_map() {
  using map = Kokkos::UnorderedMap<T, T, Exec>;
  constexpr std::int64_t most = 100'000'000;
  const auto put_all = [](const auto& p, const map& m) {
    Kokkos::parallel_for("perf::insert", range<Exec>(p.exec, 0, p.n),
                         kokkos_insert<map, array<Exec, T>>{m, p.keys, p.values});
  };
  const auto look = [put_all](auto& p, auto time) {
    const map m(static_cast<typename map::size_type>(p.n));
    put_all(p, m);
    time([&] {
      Kokkos::parallel_for("perf::find", range<Exec>(p.exec, 0, p.n),
                           kokkos_find<map, array<Exec, T>>{m, p.queries, p.answers});
    });
  };
  const auto put = [put_all](auto& p, auto time) {
    map m(static_cast<typename map::size_type>(p.n));
    time([&] { m.clear(); }, [&] { put_all(p, m); });
    if (m.size() != static_cast<typename map::size_type>(p.n))
      throw std::runtime_error("the peer's map has a wrong size");
  };
  add<find_problem<Exec, T, true, false>>("kokkos", look, most);
  add<find_problem<Exec, T, false, false>>("kokkos", look, most);
  add<find_problem<Exec, T, true, true>>("kokkos", look, most);
  add<change_problem<Exec, T, change::insert>>("kokkos", put, most);
  add<change_problem<Exec, T, change::build>>("kokkos", put, most);
}

// malloc, by single threads.

using device = Kokkos::DefaultExecutionSpace;
using pointers = array<device, std::uintptr_t>;  // a View of pointers would have rank 2

struct take_memory {
  pointers units;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    units(i) = reinterpret_cast<std::uintptr_t>(malloc(sizeof(slab_unit)));
  }
};
struct free_memory {
  pointers units;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    free(reinterpret_cast<void*>(units(i)));
    units(i) = 0;
  }
};
struct is_null {
  pointers units;
  KOKKOS_FUNCTION bool operator()(std::int64_t i) const { return units(i) == 0; }
};

struct malloc_problem : allocator_problem<device, false> {
  pointers units{"perf::units", static_cast<std::size_t>(n)};

  using allocator_problem::allocator_problem;
  ~malloc_problem() { give_back(); }
  void take() const {
    Kokkos::parallel_for("perf::malloc", range<device>(exec, 0, n), take_memory{units});
  }
  void give_back() const {
    Kokkos::parallel_for("perf::free", range<device>(exec, 0, n), free_memory{units});
  }
  bool correct() const { return sum<std::int64_t>(exec, n, is_null{units}) == 0; }
};

void add_malloc() {
#if defined(KOKKOS_ENABLE_CUDA)
  // Before the first kernel that has malloc.
  expect_success(cudaDeviceSetLimit(cudaLimitMallocHeapSize, std::size_t{1} << 30));
#endif
  add<malloc_problem>(
      "malloc", [](auto& p, auto time) { time([&] { p.give_back(); }, [&] { p.take(); }); },
      std::int64_t{1} << 20);
}

template <class Exec, class T>
void add_maps() {
  add_kokkos_map<Exec, T>();
  if constexpr (on_host<Exec>) {
#if defined(LANEWISE_PERF_TBB)
    add_map<Exec, T, tbb_map>("tbb");
#endif
#if defined(LANEWISE_PERF_LIBCUCKOO)
    add_map<Exec, T, cuckoo_map>("libcuckoo");
#endif
  }
}

}  // namespace

void add_slab_peers() {
  add_malloc();
#if defined(KOKKOS_ENABLE_CUDA)
  add_maps<Kokkos::Cuda, std::uint32_t>();
  add_maps<Kokkos::Cuda, std::uint64_t>();
#endif
#if defined(KOKKOS_ENABLE_SERIAL)
  add_maps<Kokkos::Serial, std::uint32_t>();
  add_maps<Kokkos::Serial, std::uint64_t>();
  add_map<Kokkos::Serial, std::uint32_t, std_map>("std");
  add_map<Kokkos::Serial, std::uint64_t, std_map>("std");
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
  add_maps<Kokkos::OpenMP, std::uint32_t>();
  add_maps<Kokkos::OpenMP, std::uint64_t>();
#endif
#if defined(KOKKOS_ENABLE_THREADS)
  add_maps<Kokkos::Threads, std::uint32_t>();
  add_maps<Kokkos::Threads, std::uint64_t>();
#endif
}

}  // namespace lanewise::perf
