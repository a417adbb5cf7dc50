// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/call/resident.hpp>
#include <lanewise/cuda/functors.hpp>
#include <lanewise/cuda/team.hpp>

#include <Kokkos_Core.hpp>

#include <atomic>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>

LANEWISE_BEGIN_NAMESPACE
namespace backends::cuda {

namespace detail {

inline void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  cudaGetLastError();  // leave no sticky error of ours after
  const std::string text = std::string("lanewise: ") + what + ": " + cudaGetErrorString(result);
  if (result == cudaErrorMemoryAllocation)
    throw std::runtime_error(text + " (out of device memory)");
  throw std::runtime_error(text);
}

/// Makes the instance's device current for a scope.
class device_guard {
 public:
  explicit device_guard(const Kokkos::Cuda& exec) {
    check(cudaGetDevice(&before_), "cudaGetDevice");
    if (before_ != exec.cuda_device()) check(cudaSetDevice(exec.cuda_device()), "cudaSetDevice");
    now_ = exec.cuda_device();
  }
  ~device_guard() {
    if (before_ != now_) cudaSetDevice(before_);
  }
  device_guard(const device_guard&) = delete;
  device_guard& operator=(const device_guard&) = delete;

 private:
  int before_ = 0;
  int now_ = 0;
};

#if defined(__CUDACC_DEBUG__)
/// The driver knows how much stack a kernel needs, unless it calls through pointers. Without
/// optimisation, constructors of a user's items are called so, in arrays of them.
inline void raise_stack_limit() {
  constexpr std::size_t needed = 8 << 10;
  std::size_t limit = 0;
  check(cudaDeviceGetLimit(&limit, cudaLimitStackSize), "cudaDeviceGetLimit");
  if (limit < needed)
    check(cudaDeviceSetLimit(cudaLimitStackSize, needed),
          "kernels compiled with -G may need cudaDeviceSetLimit(cudaLimitStackSize, 8192), which "
          "failed");
}
#endif

constexpr int most_devices = 64;

inline void expects_device(int device) {
  if (device >= most_devices)
    throw std::runtime_error("lanewise: the device is number " + std::to_string(device) +
                             ", the most devices are " + std::to_string(most_devices));
}

/// A pool of our own, one per device, which keeps freed memory: the device's default pool gives
/// memory back at every synchronisation, and changing that would change other libraries' behaviour.
inline cudaMemPool_t pool_of(int device) {
  static cudaMemPool_t pools[most_devices] = {};
  static std::mutex guard;
  const std::lock_guard lock(guard);
  expects_device(device);
  if (pools[device] == nullptr) {
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = device;
    check(cudaMemPoolCreate(&pools[device], &properties), "cudaMemPoolCreate");
    std::uint64_t keep = ~std::uint64_t{0};
    check(cudaMemPoolSetAttribute(pools[device], cudaMemPoolAttrReleaseThreshold, &keep),
          "cudaMemPoolSetAttribute");
  }
  return pools[device];
}

template <class Kernel>
using team_for = team<Kernel::policy::warps, Kernel::policy::parked_tiles>;

/// Whether teams may be on the device while the launch before ends, and when they allow the next
/// launch the same: after or before they have waited for that end. From compute capability 9.0 on.
/// If before, several launches wait on the device, and each costs less. This is for few teams,
/// whose launches cost most. (H200, if all launches do so, by turns: 2^12 to 2^16 keys are sorted
/// in 0.94 to 0.99 of the time, 2^28 in 1.00.)
enum class early_begin : std::uint8_t { none, allows_after, allows_before };

/// Waits until the launch before this one is done and its results can be seen.
__device__ inline void wait_for_launch_before([[maybe_unused]] early_begin how) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  if (how == early_begin::allows_before)
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  asm volatile("griddepcontrol.wait;" ::: "memory");
  if (how == early_begin::allows_after)
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

template <class Kernel>
__global__ void __launch_bounds__(team_for<Kernel>::threads,
                                  Kernel::policy::teams_per_multiprocessor)
    run(const __grid_constant__ Kernel kernel, const early_begin early) {
  extern __shared__ __align__(most_alignment) uint4 lanewise_cuda_scratch[];
  if (early != early_begin::none) wait_for_launch_before(early);
  const team_for<Kernel> mine;
  kernel(mine, *reinterpret_cast<typename Kernel::template scratch<team_for<Kernel>>*>(
                   lanewise_cuda_scratch));
}

template <class Kernel>
constexpr std::size_t scratch_bytes() {
  return sizeof(typename Kernel::template scratch<team_for<Kernel>>);
}

/// What is known of a kernel on a device.
struct kernel_facts {
  int teams_per_multiprocessor = 0;
  bool may_begin_early = false;  ///< its code has wait_for_launch_before
};

/// What the current device says of a kernel; allows the scratch that the kernel needs. The driver
/// is asked once per device: calls on few items would take a fifth longer (segmented_reduce of 2^20
/// items on an H200, 16.1 us instead of 14.1). static: since CUDA 13 every unit has a kernel of its
/// own, and what is allowed to one is not to another. A function that the linker keeps once would
/// allow its own unit's alone, and remember that for all.
template <class Kernel>
static kernel_facts facts_of(int device) {
  static std::atomic<kernel_facts> known[most_devices] = {};
  expects_device(device);
  kernel_facts facts = known[device].load(std::memory_order_acquire);
  if (facts.teams_per_multiprocessor > 0) return facts;
#if defined(__CUDACC_DEBUG__)
  raise_stack_limit();
#endif
  int most = 0;
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
        "cudaDeviceGetAttribute");
  if (scratch_bytes<Kernel>() <= static_cast<std::size_t>(most)) {
    if constexpr (scratch_bytes<Kernel>() > 48 * 1024) {
      check(cudaFuncSetAttribute(run<Kernel>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 scratch_bytes<Kernel>()),
            "cudaFuncSetAttribute");
    }
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&facts.teams_per_multiprocessor,
                                                        run<Kernel>, team_for<Kernel>::threads,
                                                        scratch_bytes<Kernel>()),
          "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  }
  if (facts.teams_per_multiprocessor == 0)
    throw std::runtime_error("lanewise: a kernel of " + std::to_string(team_for<Kernel>::threads) +
                             " threads and " + std::to_string(scratch_bytes<Kernel>()) +
                             " bytes of scratch does not fit device " + std::to_string(device));
  cudaFuncAttributes code;
  check(cudaFuncGetAttributes(&code, run<Kernel>), "cudaFuncGetAttributes");
  facts.may_begin_early = code.ptxVersion >= 90;  // what it was compiled for, not the device's
  known[device].store(facts, std::memory_order_release);
  return facts;
}

}  // namespace detail

/// What algorithms ask of the backend.
struct backend {
  static constexpr const char* name = "cuda";
  static constexpr bool launch_waits = false;
  template <class Policy>
  using team = cuda::team<Policy::warps, Policy::parked_tiles>;

  /// Starts league teams of the kernel on the instance's stream. Does not block.
  template <class Kernel>
  static void launch(const Kokkos::Cuda& exec, const char* label, std::int64_t league,
                     const Kernel& kernel) {
    if (league == 0) return;
    const detail::device_guard device(exec);
    start(exec, label, league, kernel, false);
  }

  /// As `launch`, by a cooperative launch: it begins when all teams have a place, whatever else the
  /// device is doing.
  template <class Kernel>
  static void launch_resident(const Kokkos::Cuda& exec, const char* label, std::int64_t league,
                              const Kernel& kernel) {
    if (league == 0) return;
    const detail::device_guard device(exec);
    start(exec, label, league, kernel, true);
  }
  template <class Kernel>
  static std::int64_t resident_teams(const Kokkos::Cuda& exec) {
    const detail::device_guard device(exec);
    return std::int64_t{detail::facts_of<Kernel>(exec.cuda_device()).teams_per_multiprocessor} *
           exec.cuda_device_prop().multiProcessorCount;
  }

  /// Teams whose tiles wait for their turn stay; otherwise there is one team per tile, and the
  /// hardware hands them out as they fit.
  template <class Kernel>
  static std::int64_t league_for_tiles(const Kokkos::Cuda& exec, std::int64_t tiles) {
    return Kernel::policy::parked_tiles > 0 ? resident_league<Kernel>(exec, tiles) : tiles;
  }
  /// As many teams as are resident at once, and no more than there are tiles.
  template <class Kernel>
  static std::int64_t resident_league(const Kokkos::Cuda& exec, std::int64_t tiles) {
    const std::int64_t resident = resident_teams<Kernel>(exec);
    return tiles < resident ? tiles : resident;
  }

  /// The bytes of the last cache before the memory.
  static std::int64_t cache_bytes(const Kokkos::Cuda& exec) {
    return exec.cuda_device_prop().l2CacheSize;
  }

  /// The most that a team can have.
  static std::int64_t scratch_bytes(const Kokkos::Cuda& exec) {
    return static_cast<std::int64_t>(exec.cuda_device_prop().sharedMemPerBlockOptin);
  }

  static void* allocate(const Kokkos::Cuda& exec, std::size_t bytes) {
    const detail::device_guard device(exec);
    void* p = nullptr;
    detail::check(
        cudaMallocFromPoolAsync(&p, bytes, detail::pool_of(exec.cuda_device()), exec.cuda_stream()),
        "cudaMallocFromPoolAsync");
    return p;
  }
  static void deallocate(const Kokkos::Cuda& exec, void* p) noexcept {
    try {
      const detail::device_guard device(exec);
      cudaFreeAsync(p, exec.cuda_stream());
    } catch (...) {
    }
  }
  static void zero(const Kokkos::Cuda& exec, void* p, std::size_t bytes) {
    const detail::device_guard device(exec);
    detail::check(cudaMemsetAsync(p, 0, bytes, exec.cuda_stream()), "cudaMemsetAsync");
  }
  /// While a stream is captured, memory that outlives the graph cannot be had.
  static bool is_capturing(const Kokkos::Cuda& exec) {
    cudaStreamCaptureStatus state = cudaStreamCaptureStatusNone;
    detail::check(cudaStreamIsCapturing(exec.cuda_stream(), &state), "cudaStreamIsCapturing");
    return state != cudaStreamCaptureStatusNone;
  }

 private:
  /// Teams that begin early save a launch on few items 1 to 2 us of 30 (H200, radix sorts). Where
  /// many short teams follow each other, the wait of each costs more: 3 % of 2^28 keys.
  static constexpr std::int64_t most_turns_of_early = 4;
  template <class Kernel>
  static void start(const Kokkos::Cuda& exec, const char* label, std::int64_t league,
                    const Kernel& kernel, bool resident) {
    const detail::kernel_facts facts = detail::facts_of<Kernel>(exec.cuda_device());
    const std::int64_t multiprocessors = exec.cuda_device_prop().multiProcessorCount;
    const std::int64_t at_once = facts.teams_per_multiprocessor * multiprocessors;
    using detail::early_begin;
    const early_begin early = !facts.may_begin_early || league > most_turns_of_early * at_once
                                  ? early_begin::none
                              : league > multiprocessors ? early_begin::allows_after
                                                         : early_begin::allows_before;
    cudaLaunchAttribute attributes[2] = {};
    unsigned count = 0;
    if (resident) {
      attributes[count].id = cudaLaunchAttributeCooperative;
      attributes[count++].val.cooperative = 1;
    }
    if (early != early_begin::none) {
      attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
      attributes[count++].val.programmaticStreamSerializationAllowed = 1;
    }
    cudaLaunchConfig_t how = {};
    how.gridDim = dim3(static_cast<unsigned>(league));
    how.blockDim = dim3(detail::team_for<Kernel>::threads);
    how.dynamicSmemBytes = detail::scratch_bytes<Kernel>();
    how.stream = exec.cuda_stream();
    how.attrs = attributes;
    how.numAttrs = count;
    cudaError_t started;
    {
      const told tools(exec, label);
      started = cudaLaunchKernelEx(&how, detail::run<Kernel>, kernel, early);
    }
    detail::check(started, label);
  }

  /// A launch as tools see it: a parallel_for, which ends also where none started.
  class told {
   public:
    told(const Kokkos::Cuda& exec, const char* label) {
      if (begun_)
        Kokkos::Tools::beginParallelFor(label, Kokkos::Tools::Experimental::device_id(exec), &id_);
    }
    ~told() {
      if (begun_) Kokkos::Tools::endParallelFor(id_);
    }
    told(const told&) = delete;
    told& operator=(const told&) = delete;

   private:
    bool begun_ = Kokkos::Tools::profileLibraryLoaded();
    std::uint64_t id_ = 0;
  };
};

}  // namespace backends::cuda
LANEWISE_END_NAMESPACE
