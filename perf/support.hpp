// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What every benchmark program shares: names, inputs, clocks, and the copies and reads that
// bandwidth is measured against. A program describes its problems (see algorithms.hpp), adds
// variants of them, and calls run().

#include <Kokkos_Core.hpp>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace lanewise::perf {

/// A row of the result, printed as algorithm/backend/variant/type/distribution/n:<n>.
struct row {
  std::string algorithm, backend, variant, type, distribution;
  std::int64_t n;
};

/// Collects a benchmark. Rows that differ only in their variant run one after the other, whichever
/// unit adds them. So a drifting clock does not enter their ratio.
void add(row name, std::function<void(benchmark::State&)> body);

/// Adds a line to what is recorded about the machine and the build.
void describe(const std::string& key, const std::string& value);

/// If LANEWISE_PERF_PROFILE is set, as perf/instructions does, rows are not timed: a profiler that
/// begins and ends where it is told sees one call of each.
bool is_profiled();
void begin_profile();
void end_profile();

/// Runs what was added and the bounds of every backend, with Google Benchmark's command line.
/// Returns main's result.
int run(int argc, char** argv);

/// add(exec) with an instance of every backend of this Kokkos. CUDA first, while the time limit of
/// a run is far.
template <class Add>
void for_each_backend(Add add) {
#if defined(KOKKOS_ENABLE_CUDA)
  add(Kokkos::Cuda());
#endif
#if defined(KOKKOS_ENABLE_SERIAL)
  add(Kokkos::Serial());
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
  add(Kokkos::OpenMP());
#endif
#if defined(KOKKOS_ENABLE_THREADS)
  add(Kokkos::Threads());
#endif
}

/// "cuda", "serial", "openmp" or "threads".
template <class Exec>
std::string backend_name() {
  std::string name = Exec::name();
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return name;
}

/// "u8", "f64", ...
template <class T>
std::string type_name() {
  std::string name(1, std::is_floating_point_v<T> ? 'f' : 'u');
  name += std::to_string(8 * sizeof(T));
  return name;
}

// Inputs, and what checks results: written with Kokkos alone, so that nothing tests itself.

template <class Exec, class T>
using array = Kokkos::View<T*, typename Exec::memory_space>;

template <class Exec>
using range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;

/// A random number for every index (the finaliser of splitmix64).
KOKKOS_INLINE_FUNCTION std::uint64_t hash(std::uint64_t i) {
  i = (i + 1) * 0x9E3779B97F4A7C15u;
  i = (i ^ (i >> 30)) * 0xBF58476D1CE4E5B9u;
  i = (i ^ (i >> 27)) * 0x94D049BB133111EBu;
  return i ^ (i >> 31);
}

/// Random items. Floating-point ones are small whole numbers with mean zero: their sums are exact
/// in any order, so that results can be compared for equality.
template <class T>
struct random_item {
  KOKKOS_FUNCTION T operator()(std::int64_t i) const {
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(2 * static_cast<int>(hash(i) & 15) - 15);
    } else {
      return static_cast<T>(hash(i));
    }
  }
};

template <class View, class F>
struct fill_functor {
  View out;
  F item;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { out(i) = item(i); }
};
template <class Exec, class T, class F>
void fill(const Exec& exec, const Kokkos::View<T*, typename Exec::memory_space>& out,
          const F& item) {
  Kokkos::parallel_for("perf::fill", range<Exec>(exec, 0, out.extent(0)),
                       fill_functor<array<Exec, T>, F>{out, item});
}

template <class F, class R>
struct sum_functor {
  F item;
  KOKKOS_FUNCTION void operator()(std::int64_t i, R& sum) const { sum += static_cast<R>(item(i)); }
};
/// The sum of item(i) over i in [0, n), in type R.
template <class R, class Exec, class F>
R sum(const Exec& exec, std::int64_t n, const F& item) {
  R result{};
  Kokkos::parallel_reduce("perf::sum", range<Exec>(exec, 0, n), sum_functor<F, R>{item}, result);
  return result;
}

template <class Exec>
constexpr bool on_host =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Exec::memory_space>::accessible;

// Clocks, for a call on an idle instance.

/// Wall time around a call and a fence.
template <class Exec>
class stopwatch {
 public:
  explicit stopwatch(const Exec& exec) : exec_(exec) {}

  template <class Call>
  double seconds(const Call& call) const {
    const auto begin = std::chrono::steady_clock::now();
    call();
    exec_.fence();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

 private:
  Exec exec_;
};

#if defined(KOKKOS_ENABLE_CUDA)
inline void expect_success(cudaError_t result) {
  if (result != cudaSuccess) throw std::runtime_error(cudaGetErrorString(result));
}

/// Device time between two events on the instance's stream.
template <>
class stopwatch<Kokkos::Cuda> {
 public:
  explicit stopwatch(const Kokkos::Cuda& exec) : exec_(exec) {
    expect_success(cudaEventCreate(&begin_));
    expect_success(cudaEventCreate(&end_));
  }
  stopwatch(const stopwatch&) = delete;
  stopwatch& operator=(const stopwatch&) = delete;
  ~stopwatch() {
    (void)cudaEventDestroy(begin_);
    (void)cudaEventDestroy(end_);
  }

  template <class Call>
  double seconds(const Call& call) const {
    expect_success(cudaEventRecord(begin_, exec_.cuda_stream()));
    call();
    expect_success(cudaEventRecord(end_, exec_.cuda_stream()));
    expect_success(cudaEventSynchronize(end_));
    float milliseconds = 0;
    expect_success(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return 1e-3 * milliseconds;
  }

 private:
  Kokkos::Cuda exec_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};
#endif

/// The median time of a call. Every sample is one call on an idle instance: at small n it contains
/// the launches. prepare() comes before each, untimed, and has ended when the clock starts: kernels
/// of its own in the queue would hide the call's launches.
template <class Exec, class Prepare, class Call>
double median_seconds(const Exec& exec, const Prepare& prepare, const Call& call) {
  // Seconds. Times of devices differ less.
  constexpr double warm_up = 0.01, enough = on_host<Exec> ? 0.5 : 0.1;
  constexpr std::size_t least = 3, most = 101;  // samples
  const stopwatch<Exec> clock(exec);
  double total = 0;
  const auto sample = [&] {
    prepare();
    exec.fence();
    return clock.seconds(call);
  };
  for (int i = 0; i < 10 && total < warm_up; ++i) total += sample();
  std::vector<double> samples;
  total = 0;
  while (samples.size() < least || (samples.size() < most && total < enough)) {
    samples.push_back(sample());
    total += samples.back();
  }
  const auto middle = samples.begin() + samples.size() / 2;
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

template <class Exec, class Call>
double median_seconds(const Exec& exec, const Call& call) {
  return median_seconds(
      exec, [] {}, call);
}

// Copies and reads.

template <class F>
struct share_functor {
  F f;
  std::int64_t n, shares;
  void operator()(std::int64_t s) const { f(s, n * s / shares, n * (s + 1) / shares); }
};
/// f(share, begin, end) on every thread of a host space, for its share of n items.
template <class Exec, class F>
void in_shares(const Exec& exec, std::int64_t n, const F& f) {
  const std::int64_t shares = exec.concurrency();
  const Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>, Kokkos::Schedule<Kokkos::Static>>
      one_each(exec, 0, shares, Kokkos::ChunkSize(1));
  Kokkos::parallel_for("perf::in_shares", one_each, share_functor<F>{f, n, shares});
}

/// The sizes to measure: in the caches, and far beyond. Four-byte items go on to 2^30 where the
/// device has the memory for every variant.
template <class Exec>
std::vector<std::int64_t> sizes([[maybe_unused]] std::size_t item_bytes) {
  constexpr auto power = [](int e) { return std::int64_t{1} << e; };
  if constexpr (on_host<Exec>) {
    return {power(16), power(20), power(24), power(26)};
  } else {
    std::vector<std::int64_t> result{power(16), power(20), power(24), power(28)};
#if defined(KOKKOS_ENABLE_CUDA)
    std::size_t free = 0, total = 0;
    expect_success(cudaMemGetInfo(&free, &total));
    if (item_bytes == 4 && free >= (std::size_t{48} << 30)) result.push_back(power(30));
#endif
    return result;
  }
}

/// What bounds are measured with: 1 GiB of four-byte items, well beyond every cache.
inline constexpr std::int64_t bound_items = std::int64_t{1} << 28;

/// out = in. Problems have this form: what a row is named after, what a call must at least move,
/// and whether the result is right; record(counters), if there is one, adds to what is recorded.
template <class Exec>
struct copy_problem {
  using item = std::uint32_t;

  Exec exec{};
  std::int64_t n;
  array<Exec, item> in{"perf::in", static_cast<std::size_t>(n)};
  array<Exec, item> out{"perf::out", static_cast<std::size_t>(n)};

  struct point {
    std::int64_t n;
  };
  /// Without the size of the bound, which every program has.
  static std::vector<point> points() {
    std::vector<point> result;
    for (const std::int64_t n : sizes<Exec>(sizeof(item))) {
      if (n != bound_items) result.push_back({n});
    }
    return result;
  }
  static row name(const point& p) {
    return {"copy", backend_name<Exec>(), "", type_name<item>(), "uniform", p.n};
  }

  explicit copy_problem(const point& p) : n(p.n) { fill(exec, in, random_item<item>{}); }
  std::int64_t bytes() const { return 2 * n * sizeof(item); }
  bool correct() const { return sum<std::int64_t>(exec, n, wrong{in, out}) == 0; }

  struct wrong {
    array<Exec, item> in, out;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const { return in(i) != out(i); }
  };
};

/// The copy that is a bound.
template <class Exec>
struct bound_copy_problem : copy_problem<Exec> {
  using typename copy_problem<Exec>::point;
  using copy_problem<Exec>::copy_problem;
  static std::vector<point> points() { return {{bound_items}}; }
};

/// The sum of in; every thread of a host space makes a share of it: the bound of what reads and
/// hardly writes.
template <class Exec>
struct read_problem {
  using item = std::uint32_t;

  Exec exec{};
  std::int64_t n;
  array<Exec, item> in{"perf::in", static_cast<std::size_t>(n)};
  std::vector<item> sums = std::vector<item>(exec.concurrency());

  struct point {
    std::int64_t n;
  };
  static std::vector<point> points() { return {{bound_items}}; }
  static row name(const point& p) {
    return {"read", backend_name<Exec>(), "", type_name<item>(), "uniform", p.n};
  }

  explicit read_problem(const point& p) : n(p.n) { fill(exec, in, random_item<item>{}); }
  std::int64_t bytes() const { return n * sizeof(item); }
  bool correct() const {
    return std::accumulate(sums.begin(), sums.end(), item{0}) ==
           sum<item>(exec, n, random_item<item>{});
  }
};

/// Plain loops over one thread's share, compiled once: a copy whose stores pass the caches by,
/// where the compiler offers such, and a sum.
#if defined(__SSE2__)
inline constexpr bool has_streaming_stores = true;
#else
inline constexpr bool has_streaming_stores = false;
#endif
void copy_streaming(const std::uint32_t* in, std::uint32_t* out, std::int64_t n);
std::uint32_t plain_sum(const std::uint32_t* in, std::int64_t n);

/// The copies that a space offers, by the name of who makes them.
struct kokkos_copy {
  static constexpr const char* variant = "kokkos";
  template <class Problem>
  static void call(const Problem& p) {
    Kokkos::deep_copy(p.exec, p.out, p.in);
  }
};
struct std_copy {
  static constexpr const char* variant = "std";
  template <class Problem>
  static void call(const Problem& p) {
    auto* out = p.out.data();
    const auto* in = p.in.data();
    in_shares(p.exec, p.n, [=](std::int64_t, std::int64_t begin, std::int64_t end) {
      std::memcpy(out + begin, in + begin, (end - begin) * sizeof(*in));
    });
  }
};
struct stream_copy {
  static constexpr const char* variant = "stream";
  template <class Problem>
  static void call(const Problem& p) {
    auto* out = p.out.data();
    const auto* in = p.in.data();
    in_shares(p.exec, p.n, [=](std::int64_t, std::int64_t begin, std::int64_t end) {
      copy_streaming(in + begin, out + begin, end - begin);
    });
  }
};

/// f(how) for every copy of a space.
template <class Exec, class F>
void for_each_copy(const F& f) {
  f(kokkos_copy{});
  if constexpr (on_host<Exec>) {
    f(std_copy{});
    if constexpr (has_streaming_stores) f(stream_copy{});
  }
}

/// Bytes read and written per second by the fastest copy of bound_items, measured once in every
/// run: what bw_util is relative to in every row, whether it writes as much as it reads or not.
template <class Exec>
double copy_rate() {
  static const double rate = [] {
    const copy_problem<Exec> problem({bound_items});
    double seconds = std::numeric_limits<double>::infinity();
    for_each_copy<Exec>([&](auto how) {
      seconds = std::min(seconds, median_seconds(problem.exec, [&] { how.call(problem); }));
    });
    return problem.bytes() / seconds;
  }();
  return rate;
}

// Variants.

/// Given to a variant's body, which prepares its temporaries and then calls this with what is to be
/// timed.
template <class Problem>
class meter {
 public:
  meter(benchmark::State& state, Problem& problem) : state_(state), problem_(problem) {}

  template <class Call>
  void operator()(const Call& call) const {
    (*this)([] {}, call);
  }
  /// Overload for calls that change what they work on: prepare() comes before each, untimed.
  template <class Prepare, class Call>
  void operator()(const Prepare& prepare, const Call& call) const {
    prepare();
    call();
    problem_.exec.fence();
    if (!problem_.correct()) return state_.SkipWithError("wrong result");
    if (is_profiled()) return profile(prepare, call);
    const double rate = copy_rate<decltype(problem_.exec)>();
    const double seconds = median_seconds(problem_.exec, prepare, call);
    for (auto _ : state_) state_.SetIterationTime(seconds);
    state_.SetBytesProcessed(problem_.bytes());
    state_.SetItemsProcessed(problem_.n);
    state_.counters["bw_util"] = problem_.bytes() / seconds / rate;
    if constexpr (requires { problem_.record(state_.counters); }) problem_.record(state_.counters);
  }

 private:
  template <class Prepare, class Call>
  void profile(const Prepare& prepare, const Call& call) const {
    prepare();
    problem_.exec.fence();
    begin_profile();
    call();
    problem_.exec.fence();
    end_profile();
    for (auto _ : state_) state_.SetIterationTime(1);
  }

  benchmark::State& state_;
  Problem& problem_;
};

/// Adds body(problem, time) as a variant of a problem at all of its points with n <= most.
template <class Problem, class Body>
void add(const char* variant, const Body& body,
         std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
  for (const auto& point : Problem::points()) {
    if (point.n > most) continue;
    row name = Problem::name(point);
    name.variant = variant;
    add(name, [point, body](benchmark::State& state) {
      try {
        Problem problem(point);
        body(problem, meter<Problem>(state, problem));
      } catch (const std::exception& error) {
        state.SkipWithError(error.what());
      }
    });
  }
}

/// Adds the copies of a problem that is one.
template <class Problem>
void add_copies_of() {
  for_each_copy<decltype(Problem::exec)>([](auto how) {
    add<Problem>(how.variant, [how](auto& p, auto time) { time([&] { how.call(p); }); });
  });
}

/// Copies of every size. Those of bound_items are added by run().
template <class Exec>
void add_copies() {
  add_copies_of<copy_problem<Exec>>();
}

template <class Exec>
void add_bounds() {
  add_copies_of<bound_copy_problem<Exec>>();
  if constexpr (on_host<Exec>) {
    add<read_problem<Exec>>("std", [](auto& p, auto time) {
      const auto* in = p.in.data();
      auto* sums = p.sums.data();
      const auto sum_share = [=](std::int64_t share, std::int64_t begin, std::int64_t end) {
        sums[share] = plain_sum(in + begin, end - begin);
      };
      time([&] { in_shares(p.exec, p.n, sum_share); });
    });
  }
}

}  // namespace lanewise::perf
