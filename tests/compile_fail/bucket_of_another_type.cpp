// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: bucket_of is a function object that is called with a key

#include <lanewise/sort/multisplit.hpp>

struct of_text {
  KOKKOS_FUNCTION unsigned operator()(const char* text) const { return *text; }
};

void split(const Kokkos::View<unsigned*, Kokkos::HostSpace>& in,
           const Kokkos::View<unsigned*, Kokkos::HostSpace>& out) {
  lanewise::multisplit(Kokkos::Serial(), in, out, 8, of_text{});
}
