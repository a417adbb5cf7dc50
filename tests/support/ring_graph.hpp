// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/graphs/csr_graph.hpp>
#include <lanewise/sequence/transform.hpp>
#include <support/space.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace test {

/// A ring whose vertices have edges to as many neighbours on both sides.
struct ring_column {
  std::int64_t n, reach;
  LANEWISE_FUNCTION std::uint32_t operator()(std::int64_t e) const {
    const std::int64_t v = e / (2 * reach), i = e % (2 * reach);
    const std::int64_t to = i < reach ? v + i + 1 : v - (i - reach + 1);
    return static_cast<std::uint32_t>(to < 0 ? to + n : to < n ? to : to - n);
  }
};
template <class Offset>
struct ring_begin {
  std::int64_t reach;
  LANEWISE_FUNCTION Offset operator()(std::int64_t v) const {
    return static_cast<Offset>(2 * reach * v);
  }
};

template <class Offset>
auto ring_graph(const space& exec, std::int64_t n, std::int64_t reach) {
  const Kokkos::View<Offset*, memory> begins("begins", static_cast<std::size_t>(n) + 1);
  const Kokkos::View<std::uint32_t*, memory> columns(
      Kokkos::view_alloc(std::string("columns"), Kokkos::WithoutInitializing),
      static_cast<std::size_t>(2 * reach * n));
  lanewise::transform(exec, lanewise::generated(n + 1, ring_begin<Offset>{reach}), begins,
                      lanewise::identity{});
  lanewise::transform(exec, lanewise::generated(2 * reach * n, ring_column{n, reach}), columns,
                      lanewise::identity{});
  return lanewise::csr_graph(begins, columns);
}
/// The level of vertex v from the last one.
inline std::int64_t ring_level(std::int64_t n, std::int64_t reach, std::int64_t v) {
  return (std::min(v + 1, n - 1 - v) + reach - 1) / reach;
}

}  // namespace test
