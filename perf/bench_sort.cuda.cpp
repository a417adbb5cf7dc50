// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Radix sorts on CUDA, with CUB as peer.

#include "sort_cuda.hpp"

namespace lanewise::perf {

void add_sort_cuda() {
  add_sort<std::uint32_t>();
  add_sort<float>();
  add_sort<std::uint64_t>();
  add_sort<std::uint32_t, std::uint32_t>();
  add_wide_pairs();
}

}  // namespace lanewise::perf
