// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Sorts on the host spaces, with the standard library, its parallel modes, TBB, Kokkos and Highway
// as peers.

#include "sort.hpp"
#include <lanewise/detail/radix_sort/host.hpp>
#include <lanewise/host.hpp>

#include <Kokkos_Sort.hpp>

#include <algorithm>

#if defined(KOKKOS_ENABLE_OPENMP)
#include <parallel/algorithm>
#endif
#if defined(LANEWISE_PERF_TBB)
#include <execution>
#include <tbb/global_control.h>
#include <tbb/parallel_sort.h>
#endif
#if defined(LANEWISE_PERF_VQSORT)
#include <hwy/contrib/sort/vqsort.h>
#endif

namespace lanewise::perf {
namespace {

template <class Problem>
void add_lanewise_sort() {
  using T = typename Problem::item;
  using V = typename Problem::value;
  add<Problem>("lanewise", [](Problem& p, auto time) {
    using memory = typename Problem::exec_space::memory_space;
    const Kokkos::View<T*, memory> keys("perf::work", p.in.extent(0));
    const Kokkos::View<V*, memory> values("perf::work", p.values.extent(0));
    const Kokkos::View<char*, memory> work(
        "perf::work", kernels::host_radix_sort_bytes<identity, T, V>(p.n) + 64);
    char* const aligned = work.data() + (64 - reinterpret_cast<std::uintptr_t>(work.data()) % 64);
    const kernels::host_sort_arrays<T, V> arrays{p.in.data(),         p.out.data(),
                                                 keys.data(),         p.values.data(),
                                                 p.values_out.data(), values.data()};
    time([&] {
      kernels::host_radix_sort(p.exec, arrays, {p.n}, 0, static_cast<int>(8 * sizeof(T)),
                               identity{}, aligned);
    });
  });
}

/// Adds sort(begin, end) of keys.
template <class Problem, class Sort>
void add_in_place(const char* variant, const Sort& sort,
                  std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
  add<Problem>(
      variant,
      [sort](Problem& p, auto time) {
        auto* const begin = p.out.data();
        time([&] { p.begin_in_place(); }, [&] { sort(begin, begin + p.n); });
      },
      most);
}

template <class Problem>
void add_kokkos() {
  // It sorts by std::sort: half a minute for 2^26 keys.
  constexpr std::int64_t most = std::int64_t{1} << 24;
  add<Problem>(
      "kokkos",
      [](Problem& p, auto time) {
        time([&] { p.begin_in_place(); }, [&] { Kokkos::sort(p.exec, p.out); });
      },
      most);
}

template <class Exec, class T>
void add_sequential() {
  using problem = sort_problem<Exec, T, no_value>;
  add_in_place<problem>(
      "std", [](T* begin, T* end) { std::sort(begin, end); }, std::int64_t{1} << 24);
  add_kokkos<problem>();
#if defined(LANEWISE_PERF_VQSORT)
  add_in_place<problem>("vqsort", [](T* begin, T* end) {
    hwy::VQSort(begin, static_cast<std::size_t>(end - begin), hwy::SortAscending());
  });
#endif
}

/// Beside the space with as many threads.
template <class Exec, class T>
void add_parallel() {
  using problem = sort_problem<Exec, T, no_value>;
#if defined(LANEWISE_PERF_TBB)
  static const tbb::global_control as_many(tbb::global_control::max_allowed_parallelism,
                                           Exec().concurrency());
  add_in_place<problem>("std",
                        [](T* begin, T* end) { std::sort(std::execution::par_unseq, begin, end); });
  add_in_place<problem>("tbb", [](T* begin, T* end) { tbb::parallel_sort(begin, end); });
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
  add_in_place<problem>("gnu", [](T* begin, T* end) { __gnu_parallel::sort(begin, end); });
#endif
  add_kokkos<problem>();
}

template <class Exec>
void add_lanewise_sorts() {
  using u32 = std::uint32_t;
  using u64 = std::uint64_t;
  add_lanewise_sort<sort_problem<Exec, u32, no_value>>();
  add_lanewise_sort<sort_problem<Exec, u64, no_value>>();
  add_lanewise_sort<sort_problem<Exec, u32, u32>>();
  add_lanewise_sort<sort_problem<Exec, u64, u64>>();
}

}  // namespace

void add_sort_host() {
#if defined(KOKKOS_ENABLE_SERIAL)
  add_lanewise_sorts<Kokkos::Serial>();
  add_sequential<Kokkos::Serial, std::uint32_t>();
  add_sequential<Kokkos::Serial, std::uint64_t>();
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
  add_lanewise_sorts<Kokkos::OpenMP>();
  add_parallel<Kokkos::OpenMP, std::uint32_t>();
  add_parallel<Kokkos::OpenMP, std::uint64_t>();
#endif
}

}  // namespace lanewise::perf
