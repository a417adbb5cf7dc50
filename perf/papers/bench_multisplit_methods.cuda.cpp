// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The papers' methods of multisplit on CUDA, with CUB's radix sort on the bits of the bucket beside
// them.

#include "cub_call.hpp"
#include "multisplit_methods.hpp"

#include <cub/cub.cuh>

namespace lanewise::perf {
namespace {

template <class Problem>
void add_cub_sort() {
  add<Problem>("cub", [](Problem& p, auto time) {
    time_cub(time, [&](void* storage, std::size_t& bytes) {
      const auto stream = p.exec.cuda_stream();
      if constexpr (Problem::pairs) {
        return cub::DeviceRadixSort::SortPairs(storage, bytes, p.keys.data(), p.keys_out.data(),
                                               p.values.data(), p.values_out.data(), p.n,
                                               p.bucket_of.shift, 32, stream);
      } else {
        return cub::DeviceRadixSort::SortKeys(storage, bytes, p.keys.data(), p.keys_out.data(), p.n,
                                              p.bucket_of.shift, 32, stream);
      }
    });
  });
}

}  // namespace

void add_methods_cuda() {
  add_methods<Kokkos::Cuda>();
  add_cub_sort<methods_problem<Kokkos::Cuda, false>>();
  add_cub_sort<methods_problem<Kokkos::Cuda, true>>();
}

}  // namespace lanewise::perf
