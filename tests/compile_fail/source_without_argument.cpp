// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: f is a function object that is called with a std::int64_t

#include <lanewise/sequence/transform.hpp>

struct one {
  KOKKOS_FUNCTION float operator()() const { return 1; }
};

void transform(const Kokkos::View<float*, Kokkos::HostSpace>& out) {
  lanewise::transform(Kokkos::Serial(), lanewise::generated(8, one{}), out, lanewise::identity{});
}
