// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: items must be default constructible

#include <lanewise/sequence/transform.hpp>

struct only_from_int {
  int value;
  only_from_int() = delete;
};
void copy(const Kokkos::View<only_from_int*, Kokkos::HostSpace>& in,
          const Kokkos::View<only_from_int*, Kokkos::HostSpace>& out) {
  lanewise::transform(Kokkos::Serial(), in, out, lanewise::identity{});
}
