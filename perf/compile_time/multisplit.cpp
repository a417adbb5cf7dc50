// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/sort/multisplit.hpp>

using space = Kokkos::DefaultExecutionSpace;
struct last_digit {
  KOKKOS_FUNCTION unsigned operator()(unsigned x) const { return x % 10; }
};
void split(const space& exec, const Kokkos::View<unsigned*, space>& in,
           const Kokkos::View<unsigned*, space>& out) {
  lanewise::multisplit(exec, in, out, 10, last_digit{});
}
