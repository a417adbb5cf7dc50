// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Ordered maps on every backend of this Kokkos, and std::map on one thread.

#include "ordered_map.hpp"
#include <lanewise/host.hpp>

#include <map>

namespace lanewise::perf {
namespace {

template <class Exec, class T>
void add_ordered_map() {
  add<ordered_build_problem<Exec, T, false>>("lanewise", [](auto& p, auto time) {
    time([&] { build(p.exec, p.table, p.keys, p.values, {.work = &p.work}); });
  });
  add<ordered_build_problem<Exec, T, true>>("lanewise", [](auto& p, auto time) {
    time([&] {
      build_sorted(p.exec, p.table, p.keys, p.values, {.work = &p.work, .checked = false});
    });
  });
  const auto look = [](auto& p, auto time) {
    time([&] { find(p.exec, p.table, p.keys, p.answers); });
  };
  add<ordered_find_problem<Exec, T, true>>("lanewise", look);
  add<ordered_find_problem<Exec, T, false>>("lanewise", look);
  const auto put = [](auto& p, auto time) {
    time([&] { p.table = p.full; },
         [&] { insert(p.exec, p.table, p.batch_keys, p.batch_values, {.work = &p.work}); });
  };
  add<ordered_batch_problem<Exec, T, ordered_batch::insert, true>>("lanewise", put);
  add<ordered_batch_problem<Exec, T, ordered_batch::insert, false>>("lanewise", put);
  add<ordered_batch_problem<Exec, T, ordered_batch::erase, false>>(
      "lanewise", [](auto& p, auto time) {
        time([&] { p.table = p.full; },
             [&] { erase(p.exec, p.table, p.batch_keys, {.work = &p.work}); });
      });
  add<ordered_batch_problem<Exec, T, ordered_batch::mixed, false>>("lanewise", [](auto& p,
                                                                                  auto time) {
    time([&] { p.table = p.full; },
         [&] {
           apply(p.exec, p.table, p.operations, p.batch_keys, p.batch_values, {.work = &p.work});
         });
  });
  add<ordered_range_problem<Exec, T>>("lanewise", [](auto& p, auto time) {
    time([&] {
      p.wanted = lanewise::range(p.exec, p.table, p.keys, p.lasts, p.offsets, p.keys_out,
                                 p.values_out, {.work = &p.work});
    });
  });
}

#if defined(KOKKOS_ENABLE_SERIAL)
template <class T>
void add_std_map() {
  using exec = Kokkos::Serial;
  add<ordered_find_problem<exec, T, true>>("std", [](auto& p, auto time) {
    std::map<T, T> map;
    for (std::int64_t i = 0; i < p.n; ++i)
      map.emplace_hint(map.end(), ordered_sorted_key<T>{}(i), p.values(i));
    time([&] {
      for (std::int64_t i = 0; i < p.n; ++i) p.answers(i) = map.find(p.keys(i))->second;
    });
  });
  add<ordered_batch_problem<exec, T, ordered_batch::insert, true>>("std", [](auto& p, auto time) {
    std::map<T, T> map;
    for (std::int64_t i = 0; i < p.elements; ++i)
      map.emplace_hint(map.end(), ordered_sorted_key<T>{}(i), p.values(i));
    time(
        [&] {
          for (std::int64_t i = 0; i < p.n; ++i) map.erase(p.batch_keys(i));
        },
        [&] {
          for (std::int64_t i = 0; i < p.n; ++i) map.emplace(p.batch_keys(i), p.batch_values(i));
        });
    p.table = p.full;
    insert(p.exec, p.table, p.batch_keys, p.batch_values);
  });
}
#endif

}  // namespace
}  // namespace lanewise::perf

int main(int argc, char** argv) {
  using namespace lanewise::perf;
  Kokkos::ScopeGuard kokkos(argc, argv);
  for_each_backend([](auto exec) {
    add_ordered_map<decltype(exec), std::uint32_t>();
    add_ordered_map<decltype(exec), std::uint64_t>();
  });
#if defined(KOKKOS_ENABLE_SERIAL)
  add_std_map<std::uint32_t>();
#endif
#if defined(KOKKOS_ENABLE_CUDA)
  add_ordered_map_cuda();
#endif
  return run(argc, argv);
}
