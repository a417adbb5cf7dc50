// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// bench [items]: the time of segmented_dot, with 4, 8 and 32 lanes for a segment, and how much of
// the rate of a copy it reaches. Segments of 3, 30, 300, and one of half of all items.

#include "segmented_dot.hpp"
#include <lanewise/host.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using exec_space = Kokkos::DefaultExecutionSpace;
using memory = exec_space::memory_space;

/// The median of nine runs, after one that warms up.
template <class F>
double seconds(const exec_space& exec, const F& f) {
  std::vector<double> times;
  for (int run = 0; run < 10; ++run) {
    exec.fence();
    const Kokkos::Timer timer;
    f();
    exec.fence();
    if (run > 0) times.push_back(timer.seconds());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

template <int w>
void measure(const exec_space& exec, const Kokkos::View<const std::int64_t*, memory>& begins,
             const Kokkos::View<const float*, memory>& x, double bytes_per_second) {
  const Kokkos::View<float*, memory> out("out", begins.extent(0));
  lanewise::workspace work;
  const double time =
      seconds(exec, [&] { my::segmented_dot<w>(exec, begins, x, x, out, {.work = &work}); });
  const double bytes =
      4.0 * static_cast<double>(x.extent(0)) + 12.0 * static_cast<double>(out.extent(0));
  std::printf("  %2d lanes: %8.3f ms, %.2f of the copy\n", w, 1e3 * time,
              bytes / time / bytes_per_second);
}

}  // namespace

int main(int argc, char* argv[]) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  const exec_space exec;
  const std::int64_t n = argc > 1 ? std::atoll(argv[1]) : std::int64_t{1} << 22;
  const Kokkos::View<float*, memory> x("x", n), y("y", n);
  const double copy = seconds(exec, [&] { Kokkos::deep_copy(exec, y, x); });
  for (const std::int64_t length : {std::int64_t{3}, std::int64_t{30}, std::int64_t{300}, n / 2}) {
    std::vector<std::int64_t> begins = {0};
    while (begins.back() < n)
      begins.push_back(
          std::min(n, begins.back() + (length == n / 2 && begins.size() > 1 ? 30 : length)));
    const Kokkos::View<const std::int64_t*, Kokkos::HostSpace> host(begins.data(), begins.size());
    const auto device = Kokkos::create_mirror_view_and_copy(memory(), host);
    std::printf("%s, %lld items, segments of %lld:\n", exec_space::name(),
                static_cast<long long>(n), static_cast<long long>(length));
    const double rate = 8.0 * static_cast<double>(n) / copy;
    measure<4>(exec, device, x, rate);
    measure<8>(exec, device, x, rate);
    measure<32>(exec, device, x, rate);
  }
}
