// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Selections of the k first items on the host spaces, with the standard library and its parallel
// modes as peers. They select in a copy of the items, which is made untimed.

#include "top_k.hpp"
#include <lanewise/host.hpp>

#include <algorithm>
#include <functional>

#if defined(LANEWISE_PERF_TBB)
#include <execution>
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
#include <parallel/algorithm>
#endif

namespace lanewise::perf {
namespace {

/// Brings the k largest to the front of out by select(begin, middle, end). Sorts them there by
/// sort(begin, middle) where that is asked for.
template <class Problem, class Select, class Sort>
void add_top_k_peer(const char* variant, Select select, Sort sort) {
  add<Problem>(variant, [select, sort](Problem& p, auto time) {
    const auto *begin = p.in.data(), *end = begin + p.n;
    auto* out = p.out.data();
    time([=] { std::copy(begin, end, out); },
         [&, out] {
           select(out, out + p.k, out + p.n);
           if (p.sorted) sort(out, out + p.k);
         });
  });
}

template <class Exec, class T>
void add_host_of() {
  using top = top_k_problem<Exec, T>;
  if constexpr (std::is_same_v<Exec, Kokkos::Serial>) {
    add_top_k_peer<top>(
        "std",
        [](T* begin, T* middle, T* end) {
          std::nth_element(begin, middle - 1, end, std::greater<T>());
        },
        [](T* begin, T* end) { std::sort(begin, end, std::greater<T>()); });
  } else {
#if defined(LANEWISE_PERF_TBB)
    add_top_k_peer<top>(
        "std",
        [](T* begin, T* middle, T* end) {
          std::nth_element(std::execution::par, begin, middle - 1, end, std::greater<T>());
        },
        [](T* begin, T* end) { std::sort(std::execution::par, begin, end, std::greater<T>()); });
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
    add_top_k_peer<top>(
        "gnu",
        [](T* begin, T* middle, T* end) {
          __gnu_parallel::nth_element(begin, middle - 1, end, std::greater<T>());
        },
        [](T* begin, T* end) { __gnu_parallel::sort(begin, end, std::greater<T>()); });
#endif
  }
}

template <class Exec>
void add_sorted() {
  using sorted = is_sorted_problem<Exec, std::uint32_t>;
  add<sorted>("std", [](sorted& p, auto time) {
    const std::uint32_t *begin = p.in.data(), *end = begin + p.n;
    time([&] {
#if defined(LANEWISE_PERF_TBB)
      if constexpr (!std::is_same_v<Exec, Kokkos::Serial>) {
        p.result() = std::is_sorted(std::execution::par_unseq, begin, end);
        return;
      }
#endif
      p.result() = std::is_sorted(begin, end);
    });
  });
}

}  // namespace

void add_top_k_host() {
  for_each_backend([](auto exec) {
    using space = decltype(exec);
    if constexpr (on_host<space>) {
      add_lanewise_top_k<space>();
      add_host_of<space, std::uint32_t>();
      add_host_of<space, float>();
      add_host_of<space, std::uint64_t>();
      add_sorted<space>();
    }
  });
}

}  // namespace lanewise::perf
