// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect only: Lanewise has no backend for this execution space

#include <lanewise/sequence/transform.hpp>

#include <string>

struct elsewhere {
  using memory_space = Kokkos::HostSpace;
  static const char* name() { return "elsewhere"; }
  void fence(const std::string&) const {}
};

void copy(const Kokkos::View<unsigned*, Kokkos::HostSpace>& in,
          const Kokkos::View<unsigned*, Kokkos::HostSpace>& out) {
  lanewise::transform(elsewhere(), in, out, lanewise::identity{});
}
