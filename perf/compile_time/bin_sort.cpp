// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/sort/bin_sort.hpp>

using space = Kokkos::DefaultExecutionSpace;
struct cell_of {
  KOKKOS_FUNCTION unsigned operator()(float x) const { return static_cast<unsigned>(x); }
};
void sort(const space& exec, const Kokkos::View<float*, space>& places,
          const Kokkos::View<float*, space>& masses) {
  const auto by_cell = lanewise::bin_sort(exec, places, 1000, cell_of{});
  by_cell.sort(exec, places);
  by_cell.sort(exec, masses);
}
