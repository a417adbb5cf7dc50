// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: an option View has the wrong value type \(std::int64_t for count, status for status\)

#include <lanewise/options.hpp>

lanewise::options count_in_32_bits(const Kokkos::View<int, Kokkos::HostSpace>& count) {
  return {.count = count};
}
