// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "bfs_policies.hpp"

namespace lanewise::perf {

void add_bfs_policies_cuda() {
  add_bfs_policies<Kokkos::Cuda>();
}

}  // namespace lanewise::perf
