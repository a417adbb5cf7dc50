// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: a bucket function returns an integer

#include <lanewise/sort/multisplit.hpp>

struct halves {
  KOKKOS_FUNCTION double operator()(unsigned k) const { return k / 2.0; }
};

void split(const Kokkos::View<unsigned*, Kokkos::HostSpace>& in,
           const Kokkos::View<unsigned*, Kokkos::HostSpace>& out) {
  lanewise::multisplit(Kokkos::Serial(), in, out, 8, halves{});
}
