// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <support/space.hpp>

#include <Kokkos_Core.hpp>

#include <utility>

#if defined(LANEWISE_TEST_SPACE_OPENMP)
#include <omp.h>
#endif

namespace test {

/// Two instances of the tested space; the same one twice where it has only one.
inline std::pair<space, space> two_instances() {
#if defined(LANEWISE_TEST_SPACE_EMULATED)
  return {space(seed()), space(seed() + 1, 3)};
#else
#if defined(LANEWISE_TEST_SPACE_OPENMP)
  // Kokkos partitions OpenMP only where parallel regions may nest, and only if there are threads to
  // share.
  omp_set_max_active_levels(2);
  if (space().concurrency() < 2) return {space(), space()};
#endif
  const auto parts = Kokkos::Experimental::partition_space(space(), 1, 1);
  return {parts[0], parts[1]};
#endif
}

}  // namespace test
