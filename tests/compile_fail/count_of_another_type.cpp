// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: an option View has the wrong value type \(integers for count and offsets, status for
// errors

#include <lanewise/common/options.hpp>

lanewise::call_options count_of_doubles(const Kokkos::View<double, Kokkos::HostSpace>& count) {
  return {.count = count};
}
