// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: this execution space cannot reach the memory of a table

#include <lanewise/hash/slab_hash_set.hpp>

void flush(lanewise::slab_hash_set<unsigned, Kokkos::HostSpace>& set) {
  lanewise::flush(Kokkos::Cuda(), set);
}
