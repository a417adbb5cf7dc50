// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Radix sorts on CUDA: pairs of 4 and 4 bytes.

#include "sort_cuda.hpp"

namespace lanewise::perf {

void add_sort_u32_u32() {
  add_lanewise_sort<std::uint32_t, std::uint32_t>();
}

}  // namespace lanewise::perf
