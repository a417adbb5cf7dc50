// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/multisplit.hpp>
#include <lanewise/reduce.hpp>
#include <lanewise/scan.hpp>
#include <lanewise/transform.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <atomic>
#include <chrono>
#include <thread>

// Streams of others, graphs, other devices, and calls that must not wait.

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using u32 = std::uint32_t;
using backend = lanewise::backend_of<Kokkos::Cuda>;

#define CUDA_OK(call) REQUIRE((call) == cudaSuccess)

/// A stream that Kokkos did not make.
class stream {
 public:
  stream() { CUDA_OK(cudaStreamCreateWithFlags(&handle_, cudaStreamNonBlocking)); }
  ~stream() { cudaStreamDestroy(handle_); }
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;
  cudaStream_t get() const { return handle_; }

 private:
  cudaStream_t handle_ = nullptr;
};

/// Calls of every algorithm, and what they should give.
struct calls {
  static constexpr std::int64_t n = 100'003;
  array<u32> in{random_items<u32>(n)};
  array<u32> twisted{n, 77u};
  array<u32> scanned{n, 77u};
  array<affine> maps{random_items<affine>(n)};
  array<affine> composed{n, affine{}};
  array<u32> split{n, 77u};
  array<std::int64_t> offsets{41, -1};
  cell<u32> sum;

  void run(const Kokkos::Cuda& exec, lanewise::workspace* work) const {
    lanewise::transform(exec, in.const_view(), twisted.view(), square_plus_one{}, {.work = work});
    lanewise::exclusive_scan(exec, twisted.const_view(), scanned.view(), 5u, lanewise::plus{},
                             {.work = work});
    lanewise::inclusive_scan(exec, maps.const_view(), composed.view(), then{}, {.work = work});
    lanewise::reduce(exec, twisted.const_view(), sum.view(), lanewise::plus{}, 7u, {.work = work});
    lanewise::multisplit(exec, twisted.const_view(), split.view(), 40, modulo{40},
                         {.work = work, .offsets = offsets.view()});
  }

  static lanewise::workspace_size need(const Kokkos::Cuda& exec) {
    return max(max(lanewise::scan_workspace<u32, Kokkos::Cuda>(n),
                   lanewise::scan_workspace<affine, Kokkos::Cuda>(n)),
               max(lanewise::reduce_workspace<u32>(exec),
                   lanewise::multisplit_workspace<u32, Kokkos::Cuda>(n, 40)));
  }

  void new_input(std::uint64_t salt) const {
    in.assign(random_items<u32>(n, most_number<u32>(), salt));
  }

  void check() const {
    const auto items = oracle::transform<u32>(in.items(), square_plus_one{});
    const auto expected = oracle::multisplit(items, 40, modulo{40});
    CHECK(difference(twisted.items(), items) == "");
    CHECK(difference(scanned.items(), oracle::exclusive_scan(items, 5u, lanewise::plus{})) == "");
    CHECK(difference(composed.items(), oracle::inclusive_scan(maps.original(), then{})) == "");
    CHECK(sum.get() == oracle::reduce(items, lanewise::plus{}, 7u));
    CHECK(difference(split.items(), oracle::gather(items, expected.index)) == "");
    CHECK(difference(offsets.items(), expected.offsets) == "");
  }
};

}  // namespace

TEST_CASE("Calls run on a stream that Kokkos did not make", "[cuda][sanitize]") {
  const stream foreign;
  const Kokkos::Cuda exec(foreign.get());
  const calls all;
  lanewise::workspace work;

  all.run(exec, &work);
  all.run(exec, nullptr);
  CUDA_OK(cudaStreamSynchronize(foreign.get()));

  all.check();
}

TEST_CASE("A captured graph with a reserved workspace is replayed", "[cuda]") {
  const stream foreign;
  const Kokkos::Cuda exec(foreign.get());
  const calls all;
  lanewise::workspace work;
  work.reserve_for<backend>(exec, calls::need(exec), "test");
  const auto bytes = work.bytes();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t program = nullptr;

  CUDA_OK(cudaStreamBeginCapture(foreign.get(), cudaStreamCaptureModeThreadLocal));
  all.run(exec, &work);
  CUDA_OK(cudaStreamEndCapture(foreign.get(), &graph));
  CUDA_OK(cudaGraphInstantiate(&program, graph, 0));

  for (std::uint64_t replay = 0; replay < 10; ++replay) {
    CAPTURE(replay);
    all.new_input(replay);
    CUDA_OK(cudaGraphLaunch(program, foreign.get()));
    CUDA_OK(cudaStreamSynchronize(foreign.get()));
    all.check();
  }
  // The workspace still serves ordinary calls.
  all.new_input(100);
  all.run(exec, &work);
  CUDA_OK(cudaStreamSynchronize(foreign.get()));
  all.check();
  CHECK(work.bytes() == bytes);
  CUDA_OK(cudaGraphExecDestroy(program));
  CUDA_OK(cudaGraphDestroy(graph));
}

TEST_CASE("A captured graph without a workspace allocates for itself", "[cuda]") {
  const stream foreign;
  const Kokkos::Cuda exec(foreign.get());
  const calls all;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t program = nullptr;

  CUDA_OK(cudaStreamBeginCapture(foreign.get(), cudaStreamCaptureModeThreadLocal));
  all.run(exec, nullptr);
  CUDA_OK(cudaStreamEndCapture(foreign.get(), &graph));
  CUDA_OK(cudaGraphInstantiate(&program, graph, 0));

  for (std::uint64_t replay = 0; replay < 10; ++replay) {
    CAPTURE(replay);
    all.new_input(replay);
    CUDA_OK(cudaGraphLaunch(program, foreign.get()));
    CUDA_OK(cudaStreamSynchronize(foreign.get()));
    all.check();
  }
  CUDA_OK(cudaGraphExecDestroy(program));
  CUDA_OK(cudaGraphDestroy(graph));
}

TEST_CASE("A workspace that is too small refuses to grow during capture, and says why", "[cuda]") {
  const stream foreign;
  const Kokkos::Cuda exec(foreign.get());
  const calls all;
  lanewise::workspace work;
  work.reserve_for<backend>(exec, {0, 16}, "test");
  cudaGraph_t graph = nullptr;

  CUDA_OK(cudaStreamBeginCapture(foreign.get(), cudaStreamCaptureModeThreadLocal));
  std::string message;
  try {
    lanewise::inclusive_scan(exec, all.in.const_view(), all.scanned.view(), lanewise::plus{},
                             {.work = &work});
  } catch (const std::runtime_error& error) {
    message = error.what();
  }
  CUDA_OK(cudaStreamEndCapture(foreign.get(), &graph));

  CHECK_THAT(message,
             ContainsSubstring("lanewise::inclusive_scan: the workspace has ") &&
                 ContainsSubstring("cannot grow while a graph is captured; reserve it before"));
  CUDA_OK(cudaGraphDestroy(graph));
}

TEST_CASE("Calls return while their stream is still busy", "[cuda]") {
  struct gate {
    std::atomic<bool> open{false};
    std::atomic<bool> gave_up{false};
    static void wait(void* self) {
      auto& g = *static_cast<gate*>(self);
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
      while (!g.open) {
        if (std::chrono::steady_clock::now() > end) {
          g.gave_up = true;
          return;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
  };
  const stream foreign;
  const Kokkos::Cuda exec(foreign.get());
  const calls all;
  lanewise::workspace work;
  // Loading code may wait; a second call finds it loaded.
  all.run(exec, &work);
  all.run(exec, nullptr);
  CUDA_OK(cudaStreamSynchronize(foreign.get()));
  gate closed;

  CUDA_OK(cudaLaunchHostFunc(foreign.get(), gate::wait, &closed));
  all.run(exec, &work);
  all.run(exec, nullptr);
  CHECK(cudaStreamQuery(foreign.get()) == cudaErrorNotReady);
  closed.open = true;
  CUDA_OK(cudaStreamSynchronize(foreign.get()));

  CHECK(!closed.gave_up);
  all.check();
}

TEST_CASE("Calls run on the instance's device, whichever is current", "[cuda]") {
  int devices = 0;
  CUDA_OK(cudaGetDeviceCount(&devices));
  if (devices < 2) SKIP("one device only");
  const int home = space().cuda_device();
  const int other = home == 0 ? 1 : 0;
  using there = Kokkos::View<u32*, Kokkos::CudaSpace, Kokkos::MemoryUnmanaged>;
  constexpr std::int64_t n = 100'003;
  const auto items = random_items<u32>(n);
  CUDA_OK(cudaSetDevice(other));
  u32* memory = nullptr;  // input, scanned, split, and the sum
  cudaStream_t stream_there = nullptr;
  CUDA_OK(cudaMalloc(&memory, (3 * n + 1) * sizeof(u32)));
  CUDA_OK(cudaMemcpy(memory, items.data(), n * sizeof(u32), cudaMemcpyHostToDevice));
  CUDA_OK(cudaStreamCreate(&stream_there));
  {
    const Kokkos::Cuda exec(stream_there);
    CUDA_OK(cudaSetDevice(home));
    const there in(memory, n), scanned(memory + n, n), split(memory + 2 * n, n);
    const Kokkos::View<u32, Kokkos::CudaSpace, Kokkos::MemoryUnmanaged> sum(memory + 3 * n);

    lanewise::inclusive_scan(exec, in, scanned, lanewise::plus{});
    lanewise::multisplit(exec, scanned, split, 40, modulo{40});
    lanewise::reduce(exec, split, sum, lanewise::plus{}, 7u);

    int current = -1;
    CUDA_OK(cudaGetDevice(&current));
    CHECK(current == home);
    CUDA_OK(cudaStreamSynchronize(stream_there));
  }
  std::vector<u32> result(3 * n + 1);
  CUDA_OK(cudaMemcpy(result.data(), memory, result.size() * sizeof(u32), cudaMemcpyDeviceToHost));
  const auto at = result.begin();
  const auto scanned = oracle::inclusive_scan(items, lanewise::plus{});
  const auto expected = oracle::multisplit(scanned, 40, modulo{40});
  CHECK(difference(std::vector<u32>(at + n, at + 2 * n), scanned) == "");
  CHECK(difference(std::vector<u32>(at + 2 * n, at + 3 * n),
                   oracle::gather(scanned, expected.index)) == "");
  CHECK(result.back() == oracle::reduce(scanned, lanewise::plus{}, 7u));
  CUDA_OK(cudaSetDevice(other));
  CUDA_OK(cudaStreamDestroy(stream_there));
  CUDA_OK(cudaFree(memory));
  CUDA_OK(cudaSetDevice(home));
}
