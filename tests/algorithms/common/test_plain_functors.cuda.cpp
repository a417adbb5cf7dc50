// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// A call on a device refuses functors that are functions of the host alone: tests/compile_fail. A
// call on the host takes them in a unit that nvcc compiles, too, without a word of nvcc's.
#pragma nv_diag_error 20011, 20013, 20014, 20015

#include <lanewise/host.hpp>
#include <lanewise/select/select.hpp>
#include <lanewise/sequence/reduce.hpp>
#include <lanewise/sequence/transform.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>

#include <functional>

namespace test {

struct above_three {
  bool operator()(unsigned x) const { return x > 3; }
};
struct squared {
  template <class T>
  T operator()(const T& x) const {
    return x * x;
  }
};
struct on_both {
  template <class T>
  KOKKOS_FUNCTION T operator()(const T& x) const {
    return x + 1;
  }
};

template <class Memory>
Kokkos::View<unsigned*, Memory> zero_to_seven() {
  const Kokkos::View<unsigned*, Memory> items("items", 8);
  const auto there = Kokkos::create_mirror_view(items);
  for (unsigned i = 0; i < 8; ++i) there(i) = i;
  Kokkos::deep_copy(items, there);
  return items;
}

TEST_CASE("Calls on the host take functors of the host alone", "[plain_functors]") {
  const Kokkos::DefaultHostExecutionSpace exec;
  const auto in = zero_to_seven<Kokkos::HostSpace>();
  const Kokkos::View<unsigned*, Kokkos::HostSpace> out("out", 8);
  CHECK(lanewise::select_if(exec, in, out, above_three{}) == 4);
  CHECK(lanewise::reduce(exec, lanewise::transformed(in, squared{}), std::plus<>{}, 0u) == 140);
  lanewise::transform(exec, in, out, [](unsigned x) { return x + 2; });
  exec.fence();
  CHECK(out(7) == 9);
}

TEST_CASE("Calls on a device take functors of both sides", "[plain_functors]") {
  const Kokkos::Cuda exec;
  const auto in = zero_to_seven<Kokkos::CudaSpace>();
  const Kokkos::View<unsigned*, Kokkos::CudaSpace> out("out", 8);
  lanewise::transform(
      exec, lanewise::transformed(in, on_both{}), out, KOKKOS_LAMBDA(unsigned x) { return 2 * x; });
  CHECK(lanewise::reduce(exec, out, lanewise::plus{}, 0u) == 72);
}

}  // namespace test
