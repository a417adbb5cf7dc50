// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "cub_call.hpp"
#include "graphs.hpp"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

namespace lanewise::perf {
namespace {

using exec_type = Kokkos::Cuda;
using keys_type = array<exec_type, std::uint64_t>;
using vertices_type = array<exec_type, std::uint32_t>;

/// Both directions of an edge as numbers; self loops are beyond all.
struct edge_keys {
  vertices_type from, to;
  keys_type keys;
  int bits;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::uint64_t a = from(i), b = to(i), none = std::uint64_t{1} << (2 * bits);
    keys(2 * i) = a == b ? none : a << bits | b;
    keys(2 * i + 1) = a == b ? none : b << bits | a;
  }
};
struct count_rows {
  keys_type keys;
  vertices_type counts;
  int bits;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::uint64_t row = keys(i) >> bits;
    if (row < counts.extent(0) - 1) Kokkos::atomic_inc(&counts(row));
  }
};
struct copy_columns {
  keys_type keys;
  vertices_type columns;
  std::uint64_t mask;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    columns(i) = static_cast<std::uint32_t>(keys(i) & mask);
  }
};

template <class F>
void call_cub(const keys_type& storage, const F& f) {
  std::size_t bytes = storage.extent(0) * sizeof(std::uint64_t);
  expect_success(f(storage.data(), bytes));
}

/// CUB's sort, unique and scan, with its temporary storage allocated beforehand.
void build_by_cub(build_problem<exec_type>& p, const keys_type (&keys)[2],
                  const vertices_type& counts, const keys_type& storage,
                  const Kokkos::View<std::int64_t, Kokkos::CudaSpace>& left) {
  const std::int64_t m = 2 * static_cast<std::int64_t>(p.from.extent(0));
  const auto rows = static_cast<std::int64_t>(counts.extent(0));
  const int bits = std::bit_width(static_cast<std::uint64_t>(p.n - 1));
  const auto stream = p.exec.cuda_stream();
  Kokkos::parallel_for("perf::keys", range<exec_type>(p.exec, 0, m / 2),
                       edge_keys{p.from, p.to, keys[0], bits});
  cub::DoubleBuffer<std::uint64_t> sorted(keys[0].data(), keys[1].data());
  call_cub(storage, [&](void* s, std::size_t& b) {
    return cub::DeviceRadixSort::SortKeys(s, b, sorted, m, 0, 2 * bits + 1, stream);
  });
  const bool second = sorted.Current() == keys[1].data();
  const keys_type &all = second ? keys[1] : keys[0], &merged = second ? keys[0] : keys[1];
  call_cub(storage, [&](void* s, std::size_t& b) {
    return cub::DeviceSelect::Unique(s, b, all.data(), merged.data(), left.data(), m, stream);
  });
  std::int64_t unique = 0;
  Kokkos::deep_copy(p.exec, unique, left);
  p.exec.fence();
  Kokkos::deep_copy(p.exec, counts, 0u);
  Kokkos::parallel_for("perf::rows", range<exec_type>(p.exec, 0, unique),
                       count_rows{merged, counts, bits});
  const vertices_type begins(Kokkos::view_alloc("perf::begins", Kokkos::WithoutInitializing), rows);
  call_cub(storage, [&](void* s, std::size_t& b) {
    return cub::DeviceScan::ExclusiveSum(s, b, counts.data(), begins.data(), rows, stream);
  });
  std::uint32_t edges = 0;
  Kokkos::deep_copy(p.exec, edges, Kokkos::subview(begins, rows - 1));
  p.exec.fence();
  const vertices_type columns(Kokkos::view_alloc("perf::columns", Kokkos::WithoutInitializing),
                              edges);
  Kokkos::parallel_for("perf::columns", range<exec_type>(p.exec, 0, edges),
                       copy_columns{merged, columns, (std::uint64_t{1} << bits) - 1});
  p.built_edges = edges;
}

}  // namespace

void add_graphs_cuda() {
  add_graphs<exec_type>();
  add<build_problem<exec_type>>("cub", [](auto& p, auto time) {
    const std::size_t m = 2 * p.from.extent(0);
    const keys_type keys[2] = {keys_type("perf::keys", m), keys_type("perf::keys", m)};
    const vertices_type counts("perf::counts", static_cast<std::size_t>(p.n) + 1);
    const keys_type storage("perf::storage", m / 8 + (std::size_t{1} << 20));
    const Kokkos::View<std::int64_t, Kokkos::CudaSpace> left("perf::left");
    time([&] { build_by_cub(p, keys, counts, storage, left); });
  });
}

}  // namespace lanewise::perf
