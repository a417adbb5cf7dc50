// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What takes the place of Kokkos' sorts on CUDA, where those are Thrust's, and BinSort Kokkos' own.

#include "drop_ins.hpp"

namespace lanewise::perf {

void add_drop_ins_cuda() {
  add_drop_ins<Kokkos::Cuda>();
}

}  // namespace lanewise::perf
