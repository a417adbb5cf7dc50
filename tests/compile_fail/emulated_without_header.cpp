// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect only: call on lanewise::emulated include <lanewise/emulated.hpp>

#include <lanewise/sequence/scan.hpp>

void scan(const Kokkos::View<unsigned*, Kokkos::HostSpace>& both) {
  lanewise::inclusive_scan(lanewise::emulated(), both, both, lanewise::plus{});
}
