// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: the functor of consumed is called as f\(std::int64_t, result\)

#include <lanewise/sequence/transform.hpp>

struct drop {
  KOKKOS_FUNCTION void operator()(float) const {}
};

void transform(const Kokkos::View<float*, Kokkos::HostSpace>& in) {
  lanewise::transform(Kokkos::Serial(), in, lanewise::consumed(8, drop{}), lanewise::identity{});
}
