// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Merge sorts, merges and set operations on the host spaces, with the standard library, its
// parallel modes and libstdc++'s as peers.

#include "merging.hpp"
#include <lanewise/host.hpp>

#include <algorithm>
#include <functional>
#include <vector>

#if defined(_OPENMP) && defined(__GLIBCXX__)
#include <parallel/algorithm>
#endif
#if defined(LANEWISE_PERF_TBB)
#include <execution>
#include <tbb/global_control.h>
#endif

namespace lanewise::perf {
namespace {

using u32 = std::uint32_t;

/// Sorts and merges of keys alone by a library's functions.
template <class Exec, class Library>
void add_library(const char* variant) {
  using sort = merge_sort_problem<Exec, u32, void>;
  add<sort>(variant, [](sort& p, auto time) {
    const u32* in = p.in.data();
    u32* out = p.out.data();
    time([&] { std::copy(in, in + p.n, out); }, [&] { Library::stable_sort(out, out + p.n); });
  });
  using merge = merge_problem<Exec, u32, void>;
  add<merge>(variant, [](merge& p, auto time) {
    const u32 *a = p.a.data(), *b = p.b.data();
    time([&] { Library::merge(a, a + p.half, b, b + p.half, p.out.data()); });
  });
}

struct plain {
  static void stable_sort(u32* begin, u32* end) { std::stable_sort(begin, end); }
  static void merge(const u32* a, const u32* a_end, const u32* b, const u32* b_end, u32* out) {
    std::merge(a, a_end, b, b_end, out);
  }
};

/// The end of the results.
template <set_kind kind, class In, class Out, class Less>
Out* std_set_operation(const In* a, const In* a_end, const In* b, const In* b_end, Out* out,
                       Less less) {
  if constexpr (kind == set_kind::unite) return std::set_union(a, a_end, b, b_end, out, less);
  if constexpr (kind == set_kind::intersect)
    return std::set_intersection(a, a_end, b, b_end, out, less);
  return std::set_difference(a, a_end, b, b_end, out, less);
}

template <class Exec, set_kind kind, class T>
void add_set_of() {
  using problem = set_problem<Exec, T, kind>;
  add<problem>("std", [](problem& p, auto time) {
    const T *a = p.a.data(), *b = p.b.data(), *a_end = a + p.a.extent(0),
            *b_end = b + p.b.extent(0);
    T* const out = p.out.data();
    time(
        [&] { p.count() = std_set_operation<kind>(a, a_end, b, b_end, out, std::less<>{}) - out; });
  });
}

/// The standard library takes keys and values as structs.
template <class Exec, set_kind kind>
void add_paired_set_of() {
  using problem = set_problem<Exec, u32, kind, u32>;
  struct pair {
    u32 key, value;
  };
  add<problem>("std", [](problem& p, auto time) {
    const auto pairs = [](const auto& keys, const auto& values) {
      std::vector<pair> result;
      for (std::size_t i = 0; i < keys.extent(0); ++i) result.push_back({keys(i), values(i)});
      return result;
    };
    const std::vector<pair> a = pairs(p.a, p.values_a), b = pairs(p.b, p.values_b);
    std::vector<pair> out(static_cast<std::size_t>(p.n));
    const auto call = [&] {
      const pair* const end = std_set_operation<kind>(
          a.data(), a.data() + a.size(), b.data(), b.data() + b.size(), out.data(),
          [](const pair& x, const pair& y) { return x.key < y.key; });
      p.count() = end - out.data();
    };
    call();
    for (std::int64_t i = 0; i < p.count(); ++i) {
      p.out(i) = out[static_cast<std::size_t>(i)].key;
      p.values_out(i) = out[static_cast<std::size_t>(i)].value;
    }
    time(call);
  });
}

template <class Exec, set_kind kind>
void add_sets() {
  add_set_of<Exec, kind, u32>();
  add_set_of<Exec, kind, std::uint64_t>();
  add_paired_set_of<Exec, kind>();
}

template <class Exec>
void add_sequential() {
  add_library<Exec, plain>("std");
  add_sets<Exec, set_kind::unite>();
  add_sets<Exec, set_kind::intersect>();
  add_sets<Exec, set_kind::subtract>();
}

#if defined(_OPENMP) && defined(__GLIBCXX__)
struct gnu {
  static void stable_sort(u32* begin, u32* end) { __gnu_parallel::stable_sort(begin, end); }
  static void merge(const u32* a, const u32* a_end, const u32* b, const u32* b_end, u32* out) {
    // It takes no pointers to const.
    __gnu_parallel::merge(const_cast<u32*>(a), const_cast<u32*>(a_end), const_cast<u32*>(b),
                          const_cast<u32*>(b_end), out);
  }
};
#endif
#if defined(LANEWISE_PERF_TBB)
struct parallel_std {
  static void stable_sort(u32* begin, u32* end) {
    std::stable_sort(std::execution::par_unseq, begin, end);
  }
  static void merge(const u32* a, const u32* a_end, const u32* b, const u32* b_end, u32* out) {
    std::merge(std::execution::par_unseq, a, a_end, b, b_end, out);
  }
};
#endif

template <class Exec>
void add_parallel() {
#if defined(LANEWISE_PERF_TBB)
  static const tbb::global_control as_many(tbb::global_control::max_allowed_parallelism,
                                           Exec().concurrency());
  add_library<Exec, parallel_std>("std");
#endif
#if defined(_OPENMP) && defined(__GLIBCXX__)
  add_library<Exec, gnu>("gnu");
#endif
}

}  // namespace

void add_merges_host() {
#if defined(KOKKOS_ENABLE_SERIAL)
  add_lanewise_merges<Kokkos::Serial>();
  add_sequential<Kokkos::Serial>();
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
  add_lanewise_merges<Kokkos::OpenMP>();
  add_parallel<Kokkos::OpenMP>();
#endif
}

}  // namespace lanewise::perf
