// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Segmented sorts on the host spaces, with std::sort of every segment as peer, by a loop over
// segments on as many threads.

#include "segmented_sort.hpp"
#include <lanewise/host.hpp>
#include <lanewise/sort/segmented_sort.hpp>

#include <algorithm>

namespace lanewise::perf {
namespace {

template <class T>
struct sort_segment {
  const std::int64_t* offsets;
  T* items;
  void operator()(std::int64_t s) const { std::sort(items + offsets[s], items + offsets[s + 1]); }
};

template <class Exec, class T>
void add_segmented_sort() {
  using problem = segments_problem<Exec, T, no_value>;
  add<problem>("lanewise", [](problem& p, auto time) {
    workspace work;
    reserve(p.exec, work, segmented_sort_workspace<T, Exec>(p.n, p.segments));
    time([&] { segmented_sort(p.exec, p.in, p.offsets, p.out, {.work = &work}); });
  });
  add<problem>("std", [](problem& p, auto time) {
    using policy = Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>,
                                       Kokkos::IndexType<std::int64_t>>;
    time([&] { p.begin_in_place(); },
         [&] {
           Kokkos::parallel_for("perf::sort", policy(p.exec, 0, p.segments),
                                sort_segment<T>{p.offsets.data(), p.out.data()});
         });
  });
}

}  // namespace

void add_segmented_sort_host() {
#if defined(KOKKOS_ENABLE_SERIAL)
  add_segmented_sort<Kokkos::Serial, std::uint32_t>();
  add_segmented_sort<Kokkos::Serial, std::uint64_t>();
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
  add_segmented_sort<Kokkos::OpenMP, std::uint32_t>();
  add_segmented_sort<Kokkos::OpenMP, std::uint64_t>();
#endif
}

}  // namespace lanewise::perf
