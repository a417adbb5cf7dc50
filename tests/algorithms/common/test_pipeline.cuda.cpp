// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/segments/reduce_by_key.hpp>
#include <lanewise/select/select.hpp>
#include <lanewise/sequence/scan.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>

// A pipeline whose numbers of items stay on the device, captured in a graph.

namespace {

using namespace test;
using u32 = std::uint32_t;

struct less_than {
  u32 limit;
  KOKKOS_FUNCTION bool operator()(u32 x) const { return x < limit; }
};
struct leading_bit {
  KOKKOS_FUNCTION u32 operator()(u32 x) const { return x >> 30; }
};

/// Selects, scans what was selected, and takes the largest result for either leading bit.
struct pipeline {
  static constexpr std::int64_t n = 100'003;
  array<u32> in{n, 1u};
  array<u32> kept{n, 77u};
  array<u32> positions{n, 77u};
  array<u32> keys{n, 77u};
  array<u32> largest{n, 77u};
  cell<std::int64_t> selected{-1};
  cell<std::int64_t> runs{-1};

  static lanewise::workspace_size need() {
    return max(max(lanewise::compact_workspace<u32, Kokkos::Cuda>(n),
                   lanewise::scan_workspace<u32, Kokkos::Cuda>(n)),
               lanewise::reduce_by_key_workspace<u32, Kokkos::Cuda>(n));
  }

  void run(const Kokkos::Cuda& exec, lanewise::workspace& work) const {
    lanewise::call_options all;
    all.work = &work;
    lanewise::call_options some = all;
    some.count = selected.view();
    lanewise::select_if(exec, in.const_view(), kept.view(), selected.view(), less_than{1u << 31},
                        all);
    lanewise::exclusive_scan(exec, kept.const_view(), positions.view(), lanewise::plus{}, 0u, some);
    lanewise::reduce_by_key(exec, lanewise::transformed(kept.const_view(), leading_bit{}),
                            positions.const_view(), keys.view(), largest.view(), runs.view(),
                            lanewise::maximum{}, lanewise::equal_to{}, some);
  }

  void check() const {
    std::vector<u32> expected;
    for (const u32 x : in.items()) {
      if (x < (1u << 31)) expected.push_back(x);
    }
    const auto scanned = oracle::exclusive_scan(expected, 0u, lanewise::plus{});
    std::vector<u32> results;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const bool head = i == 0 || (expected[i] >> 30) != (expected[i - 1] >> 30);
      if (head) results.push_back(0);
      results.back() = std::max(results.back(), scanned[i]);
    }
    auto found = largest.items();
    found.resize(results.size());
    CHECK(selected.get() == static_cast<std::int64_t>(expected.size()));
    CHECK(runs.get() == static_cast<std::int64_t>(results.size()));
    CHECK(difference(found, results) == "");
  }
};

}  // namespace

TEST_CASE("A pipeline with counts on the device is captured and replayed", "[cuda]") {
  const Kokkos::Cuda exec;
  const cudaStream_t stream = exec.cuda_stream();
  const pipeline calls;
  lanewise::workspace work;
  lanewise::reserve(exec, work, pipeline::need());
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t program = nullptr;
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
  calls.run(exec, work);
  REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  REQUIRE(cudaGraphInstantiate(&program, graph, 0) == cudaSuccess);
  for (std::uint64_t replay = 0; replay < 3; ++replay) {
    CAPTURE(replay);
    calls.in.assign(random_items<u32>(pipeline::n, most_number<u32>(), replay));
    REQUIRE(cudaGraphLaunch(program, stream) == cudaSuccess);
    REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
    calls.check();
  }
  CHECK(cudaGraphExecDestroy(program) == cudaSuccess);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
}
