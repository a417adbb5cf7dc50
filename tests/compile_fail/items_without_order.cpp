// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: less is a function object with bool operator\(\)\(item, item\) const

#include <lanewise/sequence/min_max_element.hpp>

struct point {
  float x, y;
};

std::int64_t least(const Kokkos::View<point*, Kokkos::HostSpace>& in) {
  return lanewise::min_element(Kokkos::Serial(), in).index;
}
