// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Ordered maps on every backend of this Kokkos.

#include "ordered_map.hpp"
#include <lanewise/host.hpp>

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

}  // namespace
}  // namespace lanewise::perf

int main(int argc, char** argv) {
  using namespace lanewise::perf;
  Kokkos::ScopeGuard kokkos(argc, argv);
  for_each_backend([](auto exec) {
    add_ordered_map<decltype(exec), std::uint32_t>();
    add_ordered_map<decltype(exec), std::uint64_t>();
  });
  add_ordered_map_peers();
#if defined(KOKKOS_ENABLE_CUDA)
  add_ordered_map_cuda();
#endif
  return run(argc, argv);
}
