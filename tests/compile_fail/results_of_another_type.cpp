// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: results do not convert to the items of an output View

#include <lanewise/sequence/transform.hpp>

struct point {
  float x, y;
};
struct diagonal {
  KOKKOS_FUNCTION point operator()(float x) const { return {x, x}; }
};

void transform(const Kokkos::View<float*, Kokkos::HostSpace>& both) {
  lanewise::transform(Kokkos::Serial(), both, both, diagonal{});
}
