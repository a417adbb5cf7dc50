// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/sequence/reduce.hpp>

using space = Kokkos::DefaultExecutionSpace;
float sum(const space& exec, const Kokkos::View<float*, space>& items) {
  return lanewise::reduce(exec, items, lanewise::plus{}, 0.0f);
}
