// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Radix sorts on CUDA: keys of 8 bytes.

#include "radix_sort_rows.hpp"

namespace lanewise::perf {

void add_sort_u64() {
  add_lanewise_sort<Kokkos::Cuda, std::uint64_t>();
}

}  // namespace lanewise::perf
