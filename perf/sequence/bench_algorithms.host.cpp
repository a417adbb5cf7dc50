// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The algorithms on the host spaces, with the standard library, its parallel modes and TBB as
// peers.

#include "algorithms.hpp"
#include <lanewise/host.hpp>

#include <memory>
#include <numeric>

#if defined(KOKKOS_ENABLE_OPENMP)
#include <parallel/algorithm>
#include <parallel/numeric>
#endif
#if defined(LANEWISE_PERF_TBB)
#include <execution>
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/parallel_scan.h>
#endif

namespace lanewise::perf {
namespace {

template <class Exec, class T, class Library>
void add_sums(const char* variant) {
  using reduce = reduce_problem<Exec, T>;
  add<reduce>(variant, [](reduce& p, auto time) {
    const T *begin = p.in.data(), *end = begin + p.n;
    time([&] { p.result() = Library::template reduce<T>(begin, end); });
  });
  using inclusive = scan_problem<Exec, T, false>;
  add<inclusive>(variant, [](inclusive& p, auto time) {
    const T *begin = p.in.data(), *end = begin + p.n;
    time([&] { Library::inclusive_scan(begin, end, p.out.data()); });
  });
  if constexpr (requires(const T* in, T* out) { Library::exclusive_scan(in, in, out); }) {
    using exclusive = scan_problem<Exec, T, true>;
    add<exclusive>(variant, [](exclusive& p, auto time) {
      const T *begin = p.in.data(), *end = begin + p.n;
      time([&] { Library::exclusive_scan(begin, end, p.out.data()); });
    });
  }
}

/// Adds what a library offers as functions of (begin, end, out); it may lack exclusive_scan.
template <class Exec, class Library>
void add_library(const char* variant) {
  using transform = transform_problem<Exec, std::uint32_t>;
  add<transform>(variant, [](transform& p, auto time) {
    const auto *begin = p.in.data(), *end = begin + p.n;
    time([&] { Library::transform(begin, end, p.out.data(), affine<std::uint32_t>{}); });
  });
  for_each_type(
      [variant](auto type) { add_sums<Exec, typename decltype(type)::type, Library>(variant); });
}

struct sequential_std {
  template <class T, class F>
  static void transform(const T* begin, const T* end, T* out, F f) {
    std::transform(begin, end, out, f);
  }
  template <class T>
  static T reduce(const T* begin, const T* end) {
    return std::reduce(begin, end, T{}, std::plus<T>{});
  }
  template <class T>
  static void inclusive_scan(const T* begin, const T* end, T* out) {
    std::inclusive_scan(begin, end, out, std::plus<T>{});
  }
  template <class T>
  static void exclusive_scan(const T* begin, const T* end, T* out) {
    std::exclusive_scan(begin, end, out, T{}, std::plus<T>{});
  }
};

#if defined(KOKKOS_ENABLE_OPENMP)
/// libstdc++'s parallel mode; its partial_sum is inclusive.
struct gnu {
  template <class T, class F>
  static void transform(const T* begin, const T* end, T* out, F f) {
    __gnu_parallel::transform(begin, end, out, f);
  }
  template <class T>
  static T reduce(const T* begin, const T* end) {
    return __gnu_parallel::accumulate(begin, end, T{}, std::plus<T>{});
  }
  template <class T>
  static void inclusive_scan(const T* begin, const T* end, T* out) {
    __gnu_parallel::partial_sum(begin, end, out, std::plus<T>{});
  }
};
#endif

#if defined(LANEWISE_PERF_TBB)
struct parallel_std {
  template <class T, class F>
  static void transform(const T* begin, const T* end, T* out, F f) {
    std::transform(std::execution::par_unseq, begin, end, out, f);
  }
  template <class T>
  static T reduce(const T* begin, const T* end) {
    return std::reduce(std::execution::par_unseq, begin, end, T{}, std::plus<T>{});
  }
  template <class T>
  static void inclusive_scan(const T* begin, const T* end, T* out) {
    std::inclusive_scan(std::execution::par_unseq, begin, end, out, std::plus<T>{});
  }
  template <class T>
  static void exclusive_scan(const T* begin, const T* end, T* out) {
    std::exclusive_scan(std::execution::par_unseq, begin, end, out, T{}, std::plus<T>{});
  }
};

struct plain_tbb {
  template <class T>
  static auto blocks(const T* begin, const T* end) {
    return tbb::blocked_range<std::int64_t>(0, end - begin, 1 << 14);
  }
  template <class T, class F>
  static void transform(const T* begin, const T* end, T* out, F f) {
    tbb::parallel_for(blocks(begin, end), [=](const auto& block) {
      std::transform(begin + block.begin(), begin + block.end(), out + block.begin(), f);
    });
  }
  template <class T>
  static T reduce(const T* begin, const T* end) {
    return tbb::parallel_reduce(
        blocks(begin, end), T{},
        [=](const auto& block, T sum) {
          return std::reduce(begin + block.begin(), begin + block.end(), sum, std::plus<T>{});
        },
        std::plus<T>{});
  }
  template <bool exclusive, class T>
  static void scan(const T* begin, const T* end, T* out) {
    tbb::parallel_scan(
        blocks(begin, end), T{},
        [=](const auto& block, T sum, bool final) {
          const T *b = begin + block.begin(), *e = begin + block.end();
          if (!final) return std::reduce(b, e, sum, std::plus<T>{});
          T* o = out + block.begin();
          for (; b != e; ++b, ++o) {
            const T with = static_cast<T>(sum + *b);
            *o = exclusive ? sum : with;
            sum = with;
          }
          return sum;
        },
        std::plus<T>{});
  }
  template <class T>
  static void inclusive_scan(const T* begin, const T* end, T* out) {
    scan<false>(begin, end, out);
  }
  template <class T>
  static void exclusive_scan(const T* begin, const T* end, T* out) {
    scan<true>(begin, end, out);
  }
};
#endif

/// A counting sort in plain C++, every thread a share: no library has one.
template <class Problem>
void counting_sort(const Problem& p, std::int64_t* counts) {
  const std::int64_t shares = p.exec.concurrency(), m = p.buckets;
  const auto *keys = p.keys.data(), *values = p.values.data();
  auto *keys_out = p.keys_out.data(), *values_out = p.values_out.data();
  const auto bucket_of = p.bucket_of;
  in_shares(p.exec, p.n, [=](std::int64_t share, std::int64_t begin, std::int64_t end) {
    std::vector<std::int64_t> local(static_cast<std::size_t>(m));
    for (std::int64_t i = begin; i < end; ++i) ++local[bucket_of(keys[i])];
    std::copy(local.begin(), local.end(), counts + share * m);
  });
  std::int64_t before = 0;
  for (std::int64_t b = 0; b < m; ++b) {
    for (std::int64_t share = 0; share < shares; ++share) {
      before += std::exchange(counts[share * m + b], before);
    }
  }
  in_shares(p.exec, p.n, [=](std::int64_t share, std::int64_t begin, std::int64_t end) {
    std::vector<std::int64_t> next(counts + share * m, counts + (share + 1) * m);
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t place = next[bucket_of(keys[i])]++;
      keys_out[place] = keys[i];
      if constexpr (Problem::pairs) values_out[place] = values[i];
    }
  });
}

template <class Problem>
void add_counting_sort() {
  add<Problem>("std", [](Problem& p, auto time) {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(p.exec.concurrency()) * p.buckets);
    time([&] { counting_sort(p, counts.data()); });
  });
}

template <class Exec>
void add_space() {
  add_common<Exec>();
  for_each_multisplit<Exec>(
      []<class Problem>(std::type_identity<Problem>) { add_counting_sort<Problem>(); });
}

/// What runs on threads of its own is measured beside the space with as many.
template <class Exec>
void add_parallel_libraries() {
#if defined(LANEWISE_PERF_TBB)
  static const tbb::global_control as_many(tbb::global_control::max_allowed_parallelism,
                                           Exec().concurrency());
  add_library<Exec, parallel_std>("std");
  add_library<Exec, plain_tbb>("tbb");
#endif
}

}  // namespace

void add_host() {
#if defined(KOKKOS_ENABLE_SERIAL)
  add_space<Kokkos::Serial>();
  add_library<Kokkos::Serial, sequential_std>("std");
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
  add_space<Kokkos::OpenMP>();
  add_library<Kokkos::OpenMP, gnu>("gnu");
  add_parallel_libraries<Kokkos::OpenMP>();
#endif
#if defined(KOKKOS_ENABLE_THREADS)
  add_space<Kokkos::Threads>();
  add_parallel_libraries<Kokkos::Threads>();
#endif
#define LANEWISE_PERF_STRING(x) #x
#define LANEWISE_PERF_EXPANDED_STRING(x) LANEWISE_PERF_STRING(x)
  describe("simd_target", LANEWISE_PERF_EXPANDED_STRING(LANEWISE_TARGET));
}

}  // namespace lanewise::perf
