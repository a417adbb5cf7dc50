// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/segments/reduce_by_key.hpp>
#include <lanewise/segments/run_length.hpp>
#include <lanewise/segments/run_length_decode.hpp>
#include <lanewise/segments/segmented_reduce.hpp>
#include <lanewise/select/select.hpp>
#include <lanewise/sequence/allocate.hpp>
#include <lanewise/sequence/min_max_element.hpp>
#include <lanewise/sequence/reduce.hpp>
#include <lanewise/sequence/scan.hpp>
#include <lanewise/sequence/scan_reverse.hpp>
#include <lanewise/sequence/transform.hpp>
#include <lanewise/sort/multisplit.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
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

struct is_odd {
  KOKKOS_FUNCTION bool operator()(const u32& x) const { return x % 2 != 0; }
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
  array<u32> odd{n, 77u};
  array<u32> keys{n, 77u}, lengths{n, 77u};
  array<u32> keys_of_sums{n, 77u}, sums{n, 77u};
  array<u32> sums_of_split{40, 77u};
  array<u32> begins{n, 77u};
  array<u32> decoded{2 * n, 77u};
  array<u32> from_back{n, 77u};
  cell<std::int64_t> odds, runs, runs_summed, allocated, places;
  cell<lanewise::indexed<u32>> greatest;

  void run(const Kokkos::Cuda& exec, lanewise::workspace* work) const {
    lanewise::transform(exec, in.const_view(), twisted.view(), square_plus_one{}, {.work = work});
    lanewise::exclusive_scan(exec, twisted.const_view(), scanned.view(), lanewise::plus{}, 5u,
                             {.work = work});
    lanewise::inclusive_scan(exec, maps.const_view(), composed.view(), then{}, {.work = work});
    lanewise::reduce(exec, twisted.const_view(), sum.view(), lanewise::plus{}, 7u, {.work = work});
    lanewise::multisplit(exec, twisted.const_view(), split.view(), lanewise::at_most<256>{40},
                         modulo{40}, {.work = work, .offsets = offsets.view()});
    run_counted(exec, work);
    lanewise::segmented_reduce(exec, split.const_view(), offsets.const_view(), sums_of_split.view(),
                               lanewise::plus{}, 3u, {.work = work});
    lanewise::inclusive_scan_reverse(exec, in.const_view(), from_back.view(), lanewise::plus{},
                                     {.work = work});
    lanewise::max_element(exec, in.const_view(), greatest.view(), lanewise::natural_order{},
                          {.work = work});
  }

  /// What stores on the device how many results there are.
  void run_counted(const Kokkos::Cuda& exec, lanewise::workspace* work) const {
    const auto few = lanewise::transformed(in.const_view(), modulo{4});
    const lanewise::equal_to equal;
    lanewise::select_if(exec, twisted.const_view(), odd.view(), odds.view(), is_odd{},
                        {.work = work});
    lanewise::run_length_encode(exec, few, keys.view(), lengths.view(), runs.view(), equal,
                                {.work = work});
    lanewise::reduce_by_key(exec, few, in.const_view(), keys_of_sums.view(), sums.view(),
                            runs_summed.view(), lanewise::plus{}, equal, {.work = work});
    lanewise::allocate(exec, few, begins.view(), allocated.view(), {.work = work});
    lanewise::run_length_decode(exec, in.const_view(), few, decoded.view(), places.view(),
                                {.work = work});
  }

  static lanewise::workspace_size need(const Kokkos::Cuda& exec) {
    using cuda = Kokkos::Cuda;
    lanewise::workspace_size most;
    for (const lanewise::workspace_size& size :
         {lanewise::scan_workspace<u32, cuda>(n), lanewise::scan_workspace<affine, cuda>(n),
          lanewise::reduce_workspace<u32>(exec),
          lanewise::reduce_workspace<lanewise::indexed<u32>>(exec),
          lanewise::multisplit_workspace<u32, cuda>(n, 40),
          lanewise::compact_workspace<u32, cuda>(n),
          lanewise::reduce_by_key_workspace<u32, cuda>(n), lanewise::allocate_workspace<cuda>(n),
          lanewise::run_length_decode_workspace<cuda>(n),
          lanewise::segmented_reduce_workspace<u32, cuda>(n, 40)})
      most = max(most, size);
    return most;
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
    check_rest(oracle::gather(items, expected.index), expected.offsets);
    check_counted(items);
  }

  void check_rest(const std::vector<u32>& parted, const std::vector<std::int64_t>& begin) const {
    std::vector<u32> parts;
    for (std::size_t b = 0; b + 1 < begin.size(); ++b)
      parts.push_back(
          std::accumulate(parted.begin() + begin[b], parted.begin() + begin[b + 1], 3u));
    CHECK(difference(sums_of_split.items(), parts) == "");
    auto backward = in.items();
    const auto most = std::max_element(backward.begin(), backward.end());
    CHECK(greatest.get().value == *most);
    CHECK(greatest.get().index == most - backward.begin());
    std::reverse(backward.begin(), backward.end());
    auto sums_back = oracle::inclusive_scan(backward, lanewise::plus{});
    std::reverse(sums_back.begin(), sums_back.end());
    CHECK(difference(from_back.items(), sums_back) == "");
  }

  void check_counted(const std::vector<u32>& items) const {
    const auto given = in.items();
    std::vector<u32> kept, key, length, sum, few, repeated;
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (is_odd{}(items[i])) kept.push_back(items[i]);
      few.push_back(given[i] % 4);
      repeated.insert(repeated.end(), few[i], given[i]);
      if (i == 0 || few[i] != few[i - 1]) {
        key.push_back(few[i]);
        length.push_back(0);
        sum.push_back(0);
      }
      ++length.back();
      sum.back() += given[i];
    }
    check_front(odd, odds, kept);
    check_front(keys, runs, key);
    check_front(lengths, runs, length);
    check_front(keys_of_sums, runs_summed, key);
    check_front(sums, runs_summed, sum);
    check_front(decoded, places, repeated);
    CHECK(difference(begins.items(), oracle::exclusive_scan(few, 0u, lanewise::plus{})) == "");
    CHECK(allocated.get() == static_cast<std::int64_t>(repeated.size()));
  }

  /// After the results is what another replay left.
  static void check_front(const array<u32>& out, const cell<std::int64_t>& count,
                          const std::vector<u32>& expected) {
    CHECK(count.get() == static_cast<std::int64_t>(expected.size()));
    auto found = out.items();
    found.resize(expected.size());
    CHECK(difference(found, expected) == "");
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
    lanewise::multisplit(exec, scanned, split, lanewise::at_most<256>{40}, modulo{40});
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
