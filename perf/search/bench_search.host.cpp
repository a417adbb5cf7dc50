// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Searches in sorted keys on the host spaces, with std::lower_bound, called for a share of the
// queries by every thread, as a peer.

#include "search.hpp"
#include <lanewise/host.hpp>

#include <algorithm>

namespace lanewise::perf {
namespace {

template <class Exec, class T, class Tag>
void add_std_of() {
  add<search_problem<Exec, T, Tag>>("std", [](auto& p, auto time) {
    const T *keys = p.keys.data(), *queries = p.queries.data();
    auto* const out = p.out.data();
    const std::int64_t count = p.count;
    time([&] {
      in_shares(p.exec, p.n, [=](std::int64_t, std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
          out[i] =
              static_cast<std::uint32_t>(std::lower_bound(keys, keys + count, queries[i]) - keys);
      });
    });
  });
}

template <class Exec>
void add_host() {
  add_lanewise_searches<Exec>();
  const auto add_type = [](auto example) {
    using T = decltype(example);
    add_std_of<Exec, T, random_search>();
    add_std_of<Exec, T, plain_search>();
    add_std_of<Exec, T, few_searches>();
    add_std_of<Exec, T, sorted_search>();
  };
  add_type(std::uint32_t{});
  add_type(std::uint64_t{});
}

}  // namespace

void add_searches_host() {
#if defined(KOKKOS_ENABLE_SERIAL)
  add_host<Kokkos::Serial>();
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
  add_host<Kokkos::OpenMP>();
#endif
#if defined(KOKKOS_ENABLE_THREADS)
  add_host<Kokkos::Threads>();
#endif
}

}  // namespace lanewise::perf
