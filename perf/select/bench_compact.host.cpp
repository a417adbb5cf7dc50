// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Selections and calls on runs on the host spaces, with the standard library and its parallel modes
// as peers. What the standard library lacks is a plain loop, named std too.

#include "compact.hpp"
#include <lanewise/host.hpp>

#include <algorithm>
#include <iterator>

#if defined(LANEWISE_PERF_TBB)
#include <execution>
#include <tbb/global_control.h>
#endif

namespace lanewise::perf {
namespace {

/// The peer by one thread.
template <class Exec, class T>
void add_sequential_of() {
  using select = select_problem<Exec, T>;
  add<select>("std", [](select& p, auto time) {
    const T *begin = p.in.data(), *end = begin + p.n;
    time([&] { p.count() = std::copy_if(begin, end, p.out.data(), p.keep) - p.out.data(); });
  });
  using unique = unique_problem<Exec, T>;
  add<unique>("std", [](unique& p, auto time) {
    const T *begin = p.keys.data(), *end = begin + p.n;
    time([&] { p.count() = std::unique_copy(begin, end, p.keys_out.data()) - p.keys_out.data(); });
  });
}

/// f(result, key, value) for every item; a run's result begins with its first value.
template <class Problem, class ValueOf>
std::int64_t combine_runs(const Problem& p, const ValueOf& value_of) {
  const auto* keys = p.keys.data();
  auto* keys_out = p.keys_out.data();
  auto* results = p.results.data();
  std::int64_t run = -1;
  std::uint32_t sum = 0;
  for (std::int64_t i = 0; i < p.n; ++i) {
    if (i > 0 && keys[i] == keys[i - 1]) {
      sum += value_of(i);
      continue;
    }
    if (run >= 0) results[run] = sum;
    keys_out[++run] = keys[i];
    sum = value_of(i);
  }
  if (run >= 0) results[run] = sum;
  return run + 1;
}

template <class Exec>
void add_sequential() {
  using u32 = std::uint32_t;
  add_sequential_of<Exec, std::uint8_t>();
  add_sequential_of<Exec, u32>();
  add_sequential_of<Exec, std::uint64_t>();
  using partition = partition_problem<Exec, u32>;
  add<partition>("std", [](partition& p, auto time) {
    const u32 *begin = p.in.data(), *end = begin + p.n;
    time([&] {
      p.count() = std::partition_copy(begin, end, p.out.data(), p.rejected.data(), p.keep).first -
                  p.out.data();
    });
  });
  using encode = run_length_problem<Exec, u32>;
  add<encode>("std", [](encode& p, auto time) {
    time([&] { p.count() = combine_runs(p, [](std::int64_t) { return 1u; }); });
  });
  using reduce = reduce_by_key_problem<Exec, u32>;
  add<reduce>("std", [](reduce& p, auto time) {
    const u32* values = p.values.data();
    time([&] { p.count() = combine_runs(p, [=](std::int64_t i) { return values[i]; }); });
  });
  using scan = scan_by_key_problem<Exec, u32>;
  add<scan>("std", [](scan& p, auto time) {
    const u32 *keys = p.keys.data(), *values = p.values.data();
    u32* sums = p.results.data();
    time([&] {
      u32 sum = 0;
      for (std::int64_t i = 0; i < p.n; ++i) {
        sum = i > 0 && keys[i] == keys[i - 1] ? sum + values[i] : values[i];
        sums[i] = sum;
      }
    });
  });
}

/// What the parallel standard library has, beside the space with as many threads.
template <class Exec>
void add_parallel() {
#if defined(LANEWISE_PERF_TBB)
  static const tbb::global_control as_many(tbb::global_control::max_allowed_parallelism,
                                           Exec().concurrency());
  using u32 = std::uint32_t;
  using select = select_problem<Exec, u32>;
  add<select>("std", [](select& p, auto time) {
    const u32 *begin = p.in.data(), *end = begin + p.n;
    time([&] {
      p.count() =
          std::copy_if(std::execution::par_unseq, begin, end, p.out.data(), p.keep) - p.out.data();
    });
  });
  using partition = partition_problem<Exec, u32>;
  add<partition>("std", [](partition& p, auto time) {
    const u32 *begin = p.in.data(), *end = begin + p.n;
    time([&] {
      p.count() = std::partition_copy(std::execution::par_unseq, begin, end, p.out.data(),
                                      p.rejected.data(), p.keep)
                      .first -
                  p.out.data();
    });
  });
  using unique = unique_problem<Exec, u32>;
  add<unique>("std", [](unique& p, auto time) {
    const u32 *begin = p.keys.data(), *end = begin + p.n;
    time([&] {
      p.count() = std::unique_copy(std::execution::par_unseq, begin, end, p.keys_out.data()) -
                  p.keys_out.data();
    });
  });
#endif
}

}  // namespace

void add_compact_host() {
#if defined(KOKKOS_ENABLE_SERIAL)
  add_copies<Kokkos::Serial>();
  add_lanewise_compact<Kokkos::Serial>();
  add_sequential<Kokkos::Serial>();
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
  add_copies<Kokkos::OpenMP>();
  add_lanewise_compact<Kokkos::OpenMP>();
  add_parallel<Kokkos::OpenMP>();
#endif
}

}  // namespace lanewise::perf
