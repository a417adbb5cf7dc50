// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: keep is a function object with bool operator\(\)\(item of in\) const

#include <lanewise/select/select.hpp>

struct is_empty {
  KOKKOS_FUNCTION bool operator()(const char* text) const { return *text == 0; }
};

std::int64_t select(const Kokkos::View<double*, Kokkos::HostSpace>& in,
                    const Kokkos::View<double*, Kokkos::HostSpace>& out) {
  return lanewise::select_if(Kokkos::Serial(), in, out, is_empty{});
}
