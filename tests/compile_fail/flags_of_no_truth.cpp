// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: flags are of a type that converts to bool

#include <lanewise/select/select.hpp>

struct no_flag {
  int value;
};
void select(const Kokkos::View<int*, Kokkos::HostSpace>& in,
            const Kokkos::View<no_flag*, Kokkos::HostSpace>& flags,
            const Kokkos::View<int*, Kokkos::HostSpace>& out) {
  lanewise::select_flagged(Kokkos::Serial(), in, flags, out);
}
