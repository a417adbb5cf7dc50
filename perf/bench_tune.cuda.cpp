// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "tune.hpp"

namespace lanewise::perf {

void add_cuda_candidates() {
  // Tiles that wait for their turn take the scratch: two or three teams fit a multiprocessor.
  using sums =
      candidates<candidate<8, 16, 2, 128>, candidate<8, 16, 3, 128>, candidate<8, 32, 2, 128>,
                 candidate<8, 32, 3, 128>, candidate<16, 8, 2, 128>, candidate<16, 16, 1, 128>,
                 candidate<16, 16, 2, 128>, candidate<12, 16, 2, 128>>;
  // Keys are staged in scratch: more per lane than fit 227 KiB of a multiprocessor are no use.
  using splits =
      candidates<candidate<8, 12, 4, 128>, candidate<8, 16, 3, 128>, candidate<8, 16, 4, 128>,
                 candidate<8, 20, 3, 128>, candidate<8, 24, 3, 128>, candidate<12, 16, 2, 128>,
                 candidate<16, 12, 2, 128>>;
  add_tuned_sums<Kokkos::Cuda>(sums{});
  add_tuned_splits<Kokkos::Cuda>(splits{});
}

}  // namespace lanewise::perf
