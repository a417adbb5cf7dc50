// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "tune.hpp"

namespace lanewise::perf {

void add_cuda_candidates() {
  // Teams x warps fill a multiprocessor of 64 warps by half at least.
  using sums =
      candidates<candidate<8, 16, 4, 128>, candidate<8, 16, 6, 128>, candidate<8, 32, 3, 128>,
                 candidate<8, 32, 4, 128>, candidate<16, 8, 2, 128>, candidate<16, 16, 2, 128>,
                 candidate<16, 16, 3, 128>, candidate<16, 32, 2, 128>>;
  // Keys are staged in scratch: more per lane than fit 227 KiB of a multiprocessor are no use.
  using splits =
      candidates<candidate<4, 20, 6, 128>, candidate<8, 12, 4, 128>, candidate<8, 16, 3, 128>,
                 candidate<8, 16, 4, 128>, candidate<8, 20, 3, 128>, candidate<8, 24, 3, 128>,
                 candidate<16, 12, 2, 128>>;
  add_tuned_sums<Kokkos::Cuda>(sums{});
  add_tuned_splits<Kokkos::Cuda>(splits{});
}

}  // namespace lanewise::perf
