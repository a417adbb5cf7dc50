// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/sort/sort.hpp>

using space = Kokkos::DefaultExecutionSpace;
void sort(const space& exec, const Kokkos::View<unsigned*, space>& keys) {
  lanewise::sort(exec, keys);
}
