// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/sequence/scan.hpp>

using space = Kokkos::DefaultExecutionSpace;
void scan(const space& exec, const Kokkos::View<unsigned*, space>& items) {
  lanewise::inclusive_scan(exec, items, items, lanewise::plus{});
}
