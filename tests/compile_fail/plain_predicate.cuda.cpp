// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: calling a __host__ function\("above_three.*needs_KOKKOS_FUNCTION.*is not allowed

#include <lanewise/select/select.hpp>

struct above_three {
  bool operator()(unsigned x) const { return x > 3; }
};

std::int64_t select(const Kokkos::View<unsigned*, Kokkos::CudaSpace>& in,
                    const Kokkos::View<unsigned*, Kokkos::CudaSpace>& out) {
  return lanewise::select_if(Kokkos::Cuda(), in, out, above_three{});
}
