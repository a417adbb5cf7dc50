// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The warp layer alone, without Kokkos or a test framework: every case of warp_cases.hpp on every
// backend that this compiler and this machine have. One line per backend; a non-zero exit status
// when a case failed.
//
// On a GPU and the host:   nvcc -std=c++20 -O3 -arch=sm_90 -cudart static -I core/include -I
// backends/emulated/include
//                            -I backends/simd/include -I backends/cuda/include -Xcompiler
//                            -march=icelake-server tests/leaf/warp_leaf.cu
// On the host:             g++ -std=c++20 -O2 -march=... -I ... -x c++ tests/leaf/warp_leaf.cu
//
// LANEWISE_LEAF_FULL=1 adds emulated warps of 8 and 64 lanes, and every type on emulated warps,
// which take the compiler minutes; LANEWISE_TEST_FEW_TYPES=1 takes a type of each size on all. Each
// run has fresh random data; LANEWISE_TEST_SEED=<number> repeats one.

// Lanewise's headers come before anything of Highway: they set it up for nvcc.
#include <lanewise/emulated/warp.hpp>
#if __has_include(<ucontext.h>) && !defined(__CUDACC__)
#include <lanewise/emulated/lane_warp.hpp>
#define LANEWISE_LEAF_LANES 1
#endif
#if __has_include(<hwy/highway.h>) && __has_include(<lanewise/simd/warp.hpp>)
#include <lanewise/simd/warp.hpp>
#define LANEWISE_LEAF_SIMD 1
#endif
#if defined(__CUDACC__)
#include <lanewise/cuda/warp.hpp>
// The cases call functions of the host's warps from host-device templates, and device functions of
// the other.
#pragma nv_diag_suppress 20011, 20014
#endif

#include "host_memory.hpp"
#include "warp_cases.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <signal.h>
#include <unistd.h>
#include <vector>

namespace leaf = lanewise::leaf;

namespace {

#if defined(LANEWISE_LEAF_FULL)
constexpr bool full = true;
#else
constexpr bool full = false;
#endif
#if defined(LANEWISE_TEST_FEW_TYPES)
constexpr bool every_type = false;
#else
constexpr bool every_type = true;
#endif

constexpr int pattern = 0xa5;  // what outputs hold before a case

const char* volatile now_backend = "";
const char* volatile now_case = "";
const char* volatile now_type = "";

void say(const char* text) {
  if (write(STDERR_FILENO, text, std::strlen(text)) < 0) _exit(2);
}
/// A wrong memory access is a failure with a name.
void on_signal(int) {
  for (const char* text :
       {"FAILED warp_leaf.", static_cast<const char*>(now_backend), ": ",
        static_cast<const char*>(now_case), "<", static_cast<const char*>(now_type),
        ">: crashed (LANEWISE_TEST_SEED repeats the run)\n"}) {
    say(text);
  }
  _exit(1);
}

leaf::u64 seed_of(leaf::u64 seed, const char* name, const char* type, int width) {
  leaf::u64 h = seed ^ (static_cast<leaf::u64>(width) << 32);
  for (const char* s : {name, type}) {
    for (; *s; ++s) h = (h ^ static_cast<unsigned char>(*s)) * 0x100000001b3u;
  }
  return h;
}

using leaf::random_source;

/// A case for one type of warp, with the types erased: what surrounds the cases is compiled once.
struct any_case {
  const char* name;
  const char* type;
  int width, instances;
  std::size_t in_bytes, out_bytes;
  void (*fill)(random_source&, int, void*);
  void (*expect)(const void*, void*);
  void (*compare)(leaf::checker&, const void*, const void*);
  void (*apply)(leaf::u32 seed, int instances, const void* in, void* out);
};

template <class Case>
any_case describe(int width, decltype(any_case::apply) apply) {
  using input = typename Case::input;
  using output = typename Case::output;
  static_assert(std::is_trivially_copyable_v<input> && std::is_trivially_copyable_v<output>);
  static_assert(alignof(input) <= 64 && alignof(output) <= 64);
  return {Case::name,
          leaf::type_name<typename Case::type>(),
          width,
          Case::instances,
          sizeof(input),
          sizeof(output),
          [](random_source& rng, int i, void* in) { Case::fill(rng, i, *static_cast<input*>(in)); },
          [](const void* in, void* out) {
            Case::expect(*static_cast<const input*>(in), *static_cast<output*>(out));
          },
          [](leaf::checker& c, const void* want, const void* got) {
            Case::compare(c, *static_cast<const output*>(want), *static_cast<const output*>(got));
          },
          apply};
}

/// Bytes at any alignment that a case may ask for.
class buffer {
 public:
  buffer(std::size_t bytes, int value) : chunks_((bytes + sizeof(chunk) - 1) / sizeof(chunk)) {
    std::memset(chunks_.data(), value, chunks_.size() * sizeof(chunk));
  }
  char* at(std::size_t offset) { return reinterpret_cast<char*>(chunks_.data()) + offset; }

 private:
  struct alignas(64) chunk {
    char bytes[64];
  };
  std::vector<chunk> chunks_;
};

/// Inputs, expected and computed outputs of all instances of a case.
struct instances {
  const any_case& what;
  leaf::report& to;
  buffer in, want, got;

  instances(const any_case& c, leaf::report& to)
      : what(c),
        to(to),
        in(c.instances * c.in_bytes, 0),
        want(c.instances * c.out_bytes, pattern),
        got(c.instances * c.out_bytes, pattern) {
    now_backend = to.backend;
    now_case = c.name;
    now_type = c.type;
    random_source rng{seed_of(to.seed, c.name, c.type, c.width)};
    for (int i = 0; i < c.instances; ++i) {
      c.fill(rng, i, in.at(i * c.in_bytes));
      c.expect(in.at(i * c.in_bytes), want.at(i * c.out_bytes));
    }
  }
  void compare() {
    for (int i = 0; i < what.instances; ++i) {
      leaf::checker c{to, what.name, what.type, what.width, i};
      what.compare(c, want.at(i * what.out_bytes), got.at(i * what.out_bytes));
      ++(c.good ? to.passed : to.failed);
    }
  }
};

/// Collects the cases of a host backend's warp.
template <class Warp>
struct host_cases {
  std::vector<any_case> list;

  template <class Case>
  void one() {
    list.push_back(describe<Case>(Warp::width, seeded ? slowly<Case> : swiftly<Case>));
  }

 private:
  static constexpr bool seeded = requires {
    Warp::run(0u, [](const Warp&) {});
  };

  template <class Case>
  static void run(leaf::u32 seed, int instances, const void* in, void* out) {
    for (int i = 0; i < instances; ++i) {
      const auto& from = static_cast<const typename Case::input*>(in)[i];
      auto& result = static_cast<typename Case::output*>(out)[i];
      if constexpr (seeded) {
        Warp::run(seed + static_cast<leaf::u32>(i) * 0x9e3779b9u,
                  [&](const Warp& warp) { Case{}(warp, from, result); });
      } else {
        Case{}(Warp(), from, result);
      }
    }
  }
  // The emulated backend is not there to be fast, and being cold compiles in half the time.
  template <class Case>
  LANEWISE_LEAF_COLD static void slowly(leaf::u32 seed, int instances, const void* in, void* out) {
    if constexpr (seeded) run<Case>(seed, instances, in, out);
  }
  template <class Case>
  static void swiftly(leaf::u32 seed, int instances, const void* in, void* out) {
    if constexpr (!seeded) run<Case>(seed, instances, in, out);
  }
};

template <class T, class Warp>
void memory_of(leaf::report& to, const Warp& warp) {
  now_backend = to.backend;
  now_case = "memory of inactive lanes";
  now_type = leaf::type_name<T>();
  leaf::random_source rng{to.seed};
  leaf::touch_only_active_lanes<T>(warp, rng, now_case);
  ++to.passed;
  if constexpr (std::is_same_v<T, leaf::u32>) {
    now_case = "gather(m) with indices beyond 2^31";
    const bool good = leaf::reaches_far_words(warp);
    ++(good ? to.passed : to.failed);
    if (!good) std::printf("FAILED warp_leaf.%s: %s\n", to.backend, now_case);
  }
  if constexpr (std::is_integral_v<T>) {
    const int lost = leaf::lost_updates_of_neighbours<T>(warp);
    ++(lost == 0 ? to.passed : to.failed);
    if (lost != 0) {
      std::printf(
          "FAILED warp_leaf.%s: store(m)<%s>: undid %d updates of neighbours by another thread\n",
          to.backend, now_type, lost);
    }
  }
}

int finish(const leaf::report& to) {
  std::printf("warp_leaf.%s: %llu passed, %llu failed\n", to.backend,
              static_cast<unsigned long long>(to.passed),
              static_cast<unsigned long long>(to.failed));
  return to.failed != 0;
}

template <int width, bool all, class Cases>
void collect(Cases& cases) {
  if constexpr (all) {
    leaf::all_cases<width>(cases);
  } else {
    leaf::some_cases<width>(cases);
  }
}

template <class Warp, bool all>
int on_host(const char* backend, leaf::u64 seed) {
  leaf::report to{backend, seed};
  host_cases<Warp> cases;
  collect<Warp::width, all>(cases);
  for (const any_case& c : cases.list) {
    instances data(c, to);
    c.apply(static_cast<leaf::u32>(seed), c.instances, data.in.at(0), data.got.at(0));
    data.compare();
  }
  if constexpr (std::is_default_constructible_v<Warp>) {
    const Warp warp;
    memory_of<leaf::u8>(to, warp);
    memory_of<leaf::u16>(to, warp);
    memory_of<leaf::u32>(to, warp);
    memory_of<leaf::u64>(to, warp);
    memory_of<double>(to, warp);
    memory_of<leaf::triple>(to, warp);
    memory_of<leaf::record>(to, warp);
    memory_of<leaf::quad>(to, warp);
  }
  return finish(to);
}

#if defined(__CUDACC__)
bool succeeded(cudaError_t e, const char* what) {
  if (e == cudaSuccess) return true;
  std::printf("FAILED warp_leaf.%s: %s<%s>: %s: %s\n", now_backend, now_case, now_type, what,
              cudaGetErrorString(e));
  return false;
}

/// One warp per block, one instance per block.
template <class Case>
__global__ void run_case(const typename Case::input* in, typename Case::output* out) {
  Case{}(lanewise::backends::cuda::warp<32>(), in[blockIdx.x], out[blockIdx.x]);
}

struct device_cases {
  std::vector<any_case> list;

  template <class Case>
  void one() {
    list.push_back(describe<Case>(32, [](leaf::u32, int instances, const void* in, void* out) {
      run_case<Case><<<instances, 32>>>(static_cast<const typename Case::input*>(in),
                                        static_cast<typename Case::output*>(out));
    }));
  }
};

/// False after an error of the device, which stays: nothing further can run.
bool run_on_device(const any_case& c, instances& data) {
  void *in = nullptr, *out = nullptr;
  const std::size_t in_bytes = c.instances * c.in_bytes, out_bytes = c.instances * c.out_bytes;
  bool good =
      succeeded(cudaMalloc(&in, in_bytes), "cudaMalloc") &&
      succeeded(cudaMalloc(&out, out_bytes), "cudaMalloc") &&
      succeeded(cudaMemcpy(in, data.in.at(0), in_bytes, cudaMemcpyHostToDevice), "cudaMemcpy") &&
      succeeded(cudaMemcpy(out, data.got.at(0), out_bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  if (good) {
    c.apply(0, c.instances, in, out);
    good =
        succeeded(cudaGetLastError(), "launch") && succeeded(cudaDeviceSynchronize(), "kernel") &&
        succeeded(cudaMemcpy(data.got.at(0), out, out_bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
  }
  // After an error these only repeat it.
  const bool freed_in = succeeded(cudaFree(in), "cudaFree"),
             freed_out = succeeded(cudaFree(out), "cudaFree");
  return good && freed_in && freed_out;
}

int on_device(leaf::u64 seed) {
  int devices = 0;
  const cudaError_t e = cudaGetDeviceCount(&devices);
  if (e != cudaSuccess || devices == 0) {
    std::printf("warp_leaf.cuda: not here (no device)\n");
    return 0;
  }
  leaf::report to{"cuda", seed};
  device_cases cases;
  collect<32, every_type>(cases);
  bool usable = true;
  for (const any_case& c : cases.list) {
    instances data(c, to);
    usable = usable && run_on_device(c, data);
    if (usable) {
      data.compare();
    } else {
      to.failed += c.instances;
    }
  }
  return finish(to);
}
#endif

leaf::u64 choose_seed() {
  if (const char* text = std::getenv("LANEWISE_TEST_SEED")) return std::strtoull(text, nullptr, 0);
  return (static_cast<leaf::u64>(std::random_device{}()) << 16) ^
         static_cast<leaf::u64>(std::chrono::steady_clock::now().time_since_epoch().count());
}

}  // namespace

int main() {
  setvbuf(stdout, nullptr, _IOLBF, 1 << 12);  // a crash loses no line
  for (const int s : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) signal(s, on_signal);
  const leaf::u64 seed = choose_seed();
  std::printf("warp_leaf: LANEWISE_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  int failed = 0;
  if (!leaf::oracle_agrees_with_the_papers()) {
    std::printf("FAILED warp_leaf: the oracle disagrees with the papers' vectors\n");
    failed = 1;
  }
  namespace emulated = lanewise::backends::emulated;
  failed |= on_host<emulated::warp<32>, full>("emulated32", seed);
#if defined(LANEWISE_LEAF_FULL)
  failed |= on_host<emulated::warp<8>, false>("emulated8", seed);
  failed |= on_host<emulated::warp<64>, false>("emulated64", seed);
#endif
#if defined(LANEWISE_LEAF_LANES)
  failed |= on_host<emulated::lane_warp<32>, full>("emulated_lanes", seed);
#endif
#if defined(LANEWISE_LEAF_SIMD)
  failed |= on_host<lanewise::backends::simd::warp<32>, every_type>("simd", seed);
#else
  std::printf("warp_leaf.simd: not here (no Highway)\n");
#endif
#if defined(__CUDACC__)
  failed |= on_device(seed);
#else
  std::printf("warp_leaf.cuda: not here (not built by nvcc)\n");
#endif
  return failed;
}
