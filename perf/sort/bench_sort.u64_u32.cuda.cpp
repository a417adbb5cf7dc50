// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Radix sorts on CUDA: pairs of 8 and 4 bytes.

#include "radix_sort_rows.hpp"

namespace lanewise::perf {

void add_sort_u64_u32() {
  add_lanewise_sort<Kokkos::Cuda, std::uint64_t, std::uint32_t>();
}

}  // namespace lanewise::perf
