// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Sorts on the host spaces, with the standard library, its parallel modes, TBB, Kokkos and Highway
// as peers.

#include "radix_sort_rows.hpp"
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

constexpr std::int64_t any_size = std::numeric_limits<std::int64_t>::max();

/// The points of a problem that sort by all bits, or the points that sort by some.
template <class Problem, bool by_all>
struct points_of : Problem {
  using Problem::Problem;
  static std::vector<sort_point> points() {
    auto result = Problem::points();
    std::erase_if(result, [](const sort_point& p) { return (p.high == 0) != by_all; });
    return result;
  }
};

/// Adds sort(begin, end) of keys.
template <class Problem, class Sort>
void add_in_place(const char* variant, const Sort& sort, std::int64_t most = any_size) {
  using problem = points_of<Problem, true>;
  add<problem>(
      variant,
      [sort](problem& p, auto time) {
        auto* const begin = p.out.data();
        time([&] { p.begin_in_place(); }, [&] { sort(begin, begin + p.n); });
      },
      most);
}

/// Adds sort(begin, end, less), which keeps the order of equal parts, for keys by some bits.
template <class Problem, class Sort>
void add_by_part(const char* variant, const Sort& sort, std::int64_t most = any_size) {
  using problem = points_of<Problem, false>;
  add<problem>(
      variant,
      [sort](problem& p, auto time) {
        auto* const begin = p.out.data();
        const key_part<typename Problem::item> part{p.low, p.high};
        const auto less = [part](auto a, auto b) { return part(a) < part(b); };
        time([&] { p.begin_in_place(); }, [&] { sort(begin, begin + p.n, less); });
      },
      most);
}

template <class Problem>
void add_kokkos() {
  using problem = points_of<Problem, true>;
  // It sorts by std::sort: half a minute for 2^26 keys.
  constexpr std::int64_t most = std::int64_t{1} << 24;
  add<problem>(
      "kokkos",
      [](problem& p, auto time) {
        time([&] { p.begin_in_place(); }, [&] { Kokkos::sort(p.exec, p.out); });
      },
      most);
}

template <class Exec, class T>
void add_sequential() {
  using problem = sort_problem<Exec, T, no_value>;
  constexpr std::int64_t most = std::int64_t{1} << 24;
  add_in_place<problem>(
      "std", [](T* begin, T* end) { std::sort(begin, end); }, most);
  add_by_part<problem>(
      "std", [](T* begin, T* end, auto less) { std::stable_sort(begin, end, less); }, most);
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
  add_by_part<problem>("std", [](T* begin, T* end, auto less) {
    std::stable_sort(std::execution::par_unseq, begin, end, less);
  });
  add_in_place<problem>("tbb", [](T* begin, T* end) { tbb::parallel_sort(begin, end); });
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
  add_in_place<problem>("gnu", [](T* begin, T* end) { __gnu_parallel::sort(begin, end); });
  add_by_part<problem>(
      "gnu", [](T* begin, T* end, auto less) { __gnu_parallel::stable_sort(begin, end, less); });
#endif
  add_kokkos<problem>();
}

template <class Exec>
void add_lanewise_sorts() {
  using u32 = std::uint32_t;
  using u64 = std::uint64_t;
  add_lanewise_sort<Exec, u32>();
  add_lanewise_sort<Exec, u64>();
  add_lanewise_sort<Exec, u32, u32>();
  add_lanewise_sort<Exec, u64, u64>();
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
