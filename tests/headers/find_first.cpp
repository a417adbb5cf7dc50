// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// g++ sees bounds of arrays of lanes where a lane's number comes from bits.
#include <lanewise/strings/string_search.hpp>

using space = Kokkos::DefaultHostExecutionSpace;
using text = Kokkos::View<const char*, Kokkos::HostSpace>;

std::int64_t first_place(const space& exec, const text& t,
                         const lanewise::pattern<Kokkos::HostSpace>& p);
std::int64_t first_place(const space& exec, const text& t,
                         const lanewise::pattern<Kokkos::HostSpace>& p) {
  return lanewise::find_first(exec, t, p);
}
