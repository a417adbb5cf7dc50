// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: f is a function object that is called with an item of the View

#include <lanewise/sequence/reduce.hpp>

struct length {
  KOKKOS_FUNCTION int operator()(const char* text) const { return *text != 0; }
};

int sum(const Kokkos::View<float*, Kokkos::HostSpace>& in) {
  return lanewise::reduce(Kokkos::Serial(), lanewise::transformed(in, length{}), lanewise::plus{},
                          0);
}
