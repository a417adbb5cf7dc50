// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Every candidate policy on the GPU, or, without CUDA, on the host. Run by perf/tune.

#include "support.hpp"

#if !defined(KOKKOS_ENABLE_CUDA)
#include "tune.hpp"
#include <lanewise/host.hpp>
#endif

namespace lanewise::perf {

#if defined(KOKKOS_ENABLE_CUDA)
void add_all_rows();  // in bench_tune.cuda.cpp
#else
namespace {

/// From a quarter of the tile that ships to four times as much.
template <class Shipped>
struct host_rows {
  static constexpr table_row with(int host_kib) {
    table_row row = row_of<Shipped>;
    row.host_kib = host_kib;
    return row;
  }
  static constexpr int shipped = row_of<Shipped>.host_kib;
  static constexpr candidate_rows<4> list{
      row_of<Shipped>,
      {with(shipped / 4), with(shipped / 2), with(shipped * 2), with(shipped * 4)}};
};

struct host_lists {
  template <class Shipped, int>
  using reduce = host_rows<Shipped>;
  template <class Shipped, int>
  using scan = host_rows<Shipped>;
  template <class Shipped, int>
  using split = host_rows<Shipped>;
};

void add_all_rows() {
  for_each_backend([]<class Exec>(const Exec&) { add_rows<Exec, host_lists>(); });
}

}  // namespace
#endif

}  // namespace lanewise::perf

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  lanewise::perf::add_all_rows();
  return lanewise::perf::run(argc, argv);
}
