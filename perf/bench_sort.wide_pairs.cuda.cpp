// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Sorts of pairs of 8 and 8 bytes, in a unit of their own: nvcc takes minutes for all.

#include "sort_cuda.hpp"

namespace lanewise::perf {

void add_wide_pairs() {
  add_sort<std::uint64_t, std::uint64_t>();
}

}  // namespace lanewise::perf
