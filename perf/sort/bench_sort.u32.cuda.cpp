// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Radix sorts on CUDA: keys of 4 bytes.

#include "radix_sort_rows.hpp"

namespace lanewise::perf {

void add_sort_u32() {
  add_lanewise_sort<Kokkos::Cuda, std::uint32_t>();
  add_lanewise_sort<Kokkos::Cuda, float>();
}

}  // namespace lanewise::perf
