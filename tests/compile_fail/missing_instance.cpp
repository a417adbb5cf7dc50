// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: no matching function for call to .transform\(

#include <lanewise/sequence/transform.hpp>

void copy(const Kokkos::View<unsigned*, Kokkos::HostSpace>& in,
          const Kokkos::View<unsigned*, Kokkos::HostSpace>& out) {
  lanewise::transform(in, out, lanewise::identity{}, lanewise::call_options{});
}
