// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: f is a function object that is called with an item of in, and its operator\(\) is const

#include <lanewise/sequence/transform.hpp>

struct counts {
  unsigned calls = 0;
  KOKKOS_FUNCTION unsigned operator()(unsigned x) { return x + calls++; }
};

void transform(const Kokkos::View<unsigned*, Kokkos::HostSpace>& both) {
  lanewise::transform(Kokkos::Serial(), both, both, counts{});
}
