// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: op is a function object with T operator\(\)\(T, T\) const

#include <lanewise/sequence/scan.hpp>

#include <functional>

void scan(const Kokkos::View<double*, Kokkos::HostSpace>& both) {
  lanewise::inclusive_scan(Kokkos::Serial(), both, both, std::less<int*>{});
}
