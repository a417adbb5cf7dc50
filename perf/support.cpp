// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#include "support.hpp"

#include <cstdlib>
#include <fstream>
#include <string_view>
#include <tuple>
#include <unistd.h>
#include <utility>
#if defined(KOKKOS_ENABLE_CUDA)
#include <cuda_profiler_api.h>
#endif
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace lanewise::perf {
namespace {

using benchmark_entry = std::pair<row, std::function<void(benchmark::State&)>>;

std::vector<benchmark_entry>& entries() {
  static std::vector<benchmark_entry> all;
  return all;
}

std::string to_string(const row& r) {
  return r.algorithm + "/" + r.backend + "/" + r.variant + "/" + r.type + "/" + r.distribution +
         "/n:" + std::to_string(r.n);
}

bool is_bound(const row& r) {
  return r.algorithm == "copy" || r.algorithm == "read";
}

/// Bounds come first, variants of one case side by side with Lanewise in front.
auto order(const row& r) {
  return std::tuple(!is_bound(r), r.backend, r.algorithm, r.type, r.distribution, r.n,
                    r.variant != "lanewise", r.variant);
}

/// Google Benchmark adds how it was told to measure to every name; the names here are a contract.
template <class Reporter>
struct plain_names : Reporter {
  using Reporter::Reporter;
  using run = typename Reporter::Run;
  void ReportRuns(const std::vector<run>& runs) override {
    auto plain = runs;
    for (run& r : plain) r.run_name.iterations = r.run_name.time_type = "";
    Reporter::ReportRuns(plain);
  }
};

/// The first line of a file with this beginning, or what follows its colon.
std::string first_line(const char* file, std::string_view beginning = "") {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!std::string_view(line).starts_with(beginning)) continue;
    const auto colon = line.find(": ");
    return colon == line.npos ? line : line.substr(colon + 2);
  }
  return "unknown";
}

void describe_machine() {
  std::string spaces;
#if defined(KOKKOS_ENABLE_CUDA)
  spaces += " Cuda";
  cudaDeviceProp gpu{};
  int runtime = 0, driver = 0;
  expect_success(cudaGetDeviceProperties(&gpu, Kokkos::Cuda().cuda_device()));
  expect_success(cudaRuntimeGetVersion(&runtime));
  expect_success(cudaDriverGetVersion(&driver));
  describe("gpu", gpu.name);
  describe("driver", first_line("/sys/module/nvidia/version") + ", CUDA " +
                         std::to_string(driver / 1000) + "." + std::to_string(driver % 1000 / 10));
  describe("cuda_runtime",
           std::to_string(runtime / 1000) + "." + std::to_string(runtime % 1000 / 10));
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
  spaces += " OpenMP";
#endif
#if defined(KOKKOS_ENABLE_THREADS)
  spaces += " Threads";
#endif
#if defined(KOKKOS_ENABLE_SERIAL)
  spaces += " Serial";
#endif
  describe("cpu", first_line("/proc/cpuinfo", "model name"));
  describe("kokkos", std::to_string(KOKKOS_VERSION / 10000) + "." +
                         std::to_string(KOKKOS_VERSION / 100 % 100) + "." +
                         std::to_string(KOKKOS_VERSION % 100) + spaces);
  describe("threads", std::to_string(Kokkos::DefaultHostExecutionSpace().concurrency()));
  const char* commit = std::getenv("LANEWISE_COMMIT");
  describe("commit", commit != nullptr ? commit : "unknown");
}

}  // namespace

void add(row name, std::function<void(benchmark::State&)> body) {
  entries().emplace_back(std::move(name), std::move(body));
}

void describe(const std::string& key, const std::string& value) {
  benchmark::AddCustomContext(key, value);
}

void copy_streaming(const std::uint32_t* in, std::uint32_t* out, std::int64_t n) {
  std::int64_t i = 0;
#if defined(__SSE2__)
  constexpr std::int64_t line = 64 / sizeof(*out), vector = 16 / sizeof(*out);
  for (; i < n && reinterpret_cast<std::uintptr_t>(out + i) % 64 != 0; ++i) out[i] = in[i];
  for (; i + line <= n; i += line) {
    for (std::int64_t v = i; v < i + line; v += vector) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(out + v),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + v)));
    }
  }
  _mm_sfence();
#endif
  for (; i < n; ++i) out[i] = in[i];
}

std::uint32_t plain_sum(const std::uint32_t* in, std::int64_t n) {
  std::uint32_t sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += in[i];
  return sum;
}

bool is_profiled() {
  static const bool set = std::getenv("LANEWISE_PERF_PROFILE") != nullptr;
  return set;
}
void begin_profile() {
#if defined(KOKKOS_ENABLE_CUDA)
  expect_success(cudaProfilerStart());
#endif
}
void end_profile() {
#if defined(KOKKOS_ENABLE_CUDA)
  expect_success(cudaProfilerStop());
#endif
}

int run(int argc, char** argv) {
  for_each_backend([](auto exec) { add_bounds<decltype(exec)>(); });
  auto& all = entries();
  std::stable_sort(all.begin(), all.end(), [](const benchmark_entry& a, const benchmark_entry& b) {
    return order(a.first) < order(b.first);
  });
  for (const auto& [name, body] : all) {
    benchmark::RegisterBenchmark(to_string(name), body)
        ->Iterations(1)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  }
  const bool to_file = std::any_of(argv, argv + argc, [](const char* argument) {
    return std::string_view(argument).starts_with("--benchmark_out=");
  });
  describe_machine();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  using console = benchmark::ConsoleReporter;
  plain_names<console> display(isatty(STDOUT_FILENO) != 0 ? console::OO_ColorTabular
                                                          : console::OO_Tabular);
  plain_names<benchmark::JSONReporter> file;
  benchmark::RunSpecifiedBenchmarks(&display, to_file ? &file : nullptr);
  benchmark::Shutdown();
  return 0;
}

}  // namespace lanewise::perf
