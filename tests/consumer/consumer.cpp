// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#include <lanewise/sequence/scan.hpp>
#include <lanewise/version.hpp>

#include <Kokkos_Core.hpp>

#include <cstdio>

static_assert(LANEWISE_VERSION >= 100);

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard guard(argc, argv);
  const Kokkos::DefaultExecutionSpace exec;

  constexpr unsigned n = 100'000;
  Kokkos::View<unsigned*> ones("ones", n);
  Kokkos::View<unsigned*> sums("sums", n);
  Kokkos::deep_copy(exec, ones, 1u);
  lanewise::exclusive_scan(exec, ones, sums, lanewise::plus{}, 0u);

  const auto result = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, sums);
  for (unsigned i = 0; i < n; ++i) {
    if (result(i) != i) {
      std::printf("sums(%u) is %u\n", i, result(i));
      return 1;
    }
  }
  std::printf("Lanewise %d: scanned %u items\n", LANEWISE_VERSION, n);
}
