// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: items must be default constructible

#include <lanewise/sequence/transform.hpp>

struct only_from_int {
  int value;
  only_from_int() = delete;
  explicit only_from_int(int x) : value(x) {}
};
struct make {
  only_from_int operator()(int x) const { return only_from_int(x); }
};
struct drop {
  void operator()(std::int64_t, const only_from_int&) const {}
};
void to_sink(const Kokkos::View<int*, Kokkos::HostSpace>& in) {
  lanewise::transform(Kokkos::Serial(), in, lanewise::consumed(in.extent(0), drop{}), make{});
}
