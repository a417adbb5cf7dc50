// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// lsm_map on every backend of this Kokkos: batches, queries, cleanup. The peers are std::map on one
// thread, and what CUB makes of a sorted array.

#include "lsm.hpp"
#include <lanewise/host.hpp>

#include <map>

namespace lanewise::perf {
namespace {

template <class Exec, class T>
void add_lsm_of() {
  add<lsm_insert_problem<Exec, T>>("lanewise", [](auto& p, auto time) {
    time([&] { clear(p.exec, p.map); }, [&] { p.put_all(p.map); });
  });
  const auto look = [](auto& p, auto time) {
    time([&] { find(p.exec, p.map, p.queries, p.answers); });
  };
  add<lsm_find_problem<Exec, T, true>>("lanewise", look);
  add<lsm_find_problem<Exec, T, false>>("lanewise", look);
  add<lsm_range_problem<Exec, T, true>>("lanewise", [](auto& p, auto time) {
    time([&] { count(p.exec, p.map, p.k1, p.k2, p.numbers); });
  });
  add<lsm_range_problem<Exec, T, false>>("lanewise", [](auto& p, auto time) {
    time([&] {
      lanewise::range(p.exec, p.map, p.k1, p.k2, p.numbers, p.keys_out, p.values_out,
                      {.work = &p.work});
    });
  });
  add<lsm_cleanup_problem<Exec, T>>("lanewise", [](auto& p, auto time) {
    time([&] { p.map = p.full.snapshot(); }, [&] { cleanup(p.exec, p.map, {.work = &p.work}); });
  });
  add<lsm_build_problem<Exec, T>>("lanewise", [](auto& p, auto time) {
    time([&] { clear(p.exec, p.map); },
         [&] { build(p.exec, p.map, p.keys, p.values, {.work = &p.work}); });
  });
  add<lsm_build_problem<Exec, T>>("radix_sort", [](auto& p, auto time) {
    p.is_peer = true;
    time(
        [&] { radix_sort(p.exec, p.keys, p.values, p.keys_out, p.values_out, {.work = &p.work}); });
  });
}

/// std::map, one by one, on one thread.
template <class Exec, class T>
void add_std() {
  using problem = lsm_find_problem<Exec, T, true>;
  const auto make = [](const auto& p) {
    std::map<T, T> m;
    for (std::int64_t i = 0; i < p.elements; ++i) m[p.keys(i)] = p.values(i);
    return m;
  };
  add<problem>("std", [make](auto& p, auto time) {
    const auto m = make(p);
    time([&] {
      for (std::int64_t i = 0; i < p.n; ++i) p.answers(i) = m.at(p.queries(i));
    });
  });
  add<lsm_insert_problem<Exec, T>>("std", [make](auto& p, auto time) {
    p.put_all(p.map);  // what is looked at afterwards
    std::map<T, T> m;
    time([&] { m.clear(); }, [&] { m = make(p); });
  });
}

template <class Exec>
void add_lsm() {
  add_lsm_of<Exec, std::uint32_t>();
  add_lsm_of<Exec, std::uint64_t>();
#if defined(KOKKOS_ENABLE_SERIAL)
  if constexpr (std::is_same_v<Exec, Kokkos::Serial>) {
    add_std<Exec, std::uint32_t>();
    add_std<Exec, std::uint64_t>();
  }
#endif
}

}  // namespace

#if !defined(KOKKOS_ENABLE_CUDA)
void add_lsm_peers() {}
void add_lsm_tables() {}
#endif

}  // namespace lanewise::perf

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  lanewise::perf::for_each_backend([](auto exec) { lanewise::perf::add_lsm<decltype(exec)>(); });
  lanewise::perf::add_lsm_peers();
  lanewise::perf::add_lsm_tables();
  return lanewise::perf::run(argc, argv);
}
