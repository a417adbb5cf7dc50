// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// radix_sort [n]: sorts n keys on every backend, compares with std::sort and prints rates.

#include "radix_sort.hpp"
#include <lanewise/emulated.hpp>
#include <lanewise/host.hpp>
#include <lanewise/sort/multisplit.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace {

using key = std::uint32_t;

/// Seconds of the fastest of some calls of f, each after `before`.
template <class Exec, class Before, class F>
double fastest(const Exec& exec, int calls, Before before, F f) {
  double best = 1e30;
  for (int i = 0; i < calls; ++i) {
    before();
    exec.fence();
    const Kokkos::Timer timer;
    f();
    exec.fence();
    best = std::min(best, timer.seconds());
  }
  return best;
}

/// The number of keys that are not where they should be.
template <class Exec>
int check_and_time(const Exec& exec, const std::vector<key>& keys, int calls) {
  using memory = typename Exec::memory_space;
  const auto n = static_cast<std::int64_t>(keys.size());
  const Kokkos::View<const key*, Kokkos::HostSpace> given(keys.data(), keys.size());
  const Kokkos::View<key*, memory> original("original", keys.size()), a("a", keys.size()),
      b("b", keys.size());
  Kokkos::deep_copy(original, Kokkos::create_mirror_view_and_copy(memory(), given));
  lanewise::workspace work;
  const double sort = fastest(
      exec, calls, [&] { Kokkos::deep_copy(a, original); },
      [&] { lanewise::radix::sort(exec, a, b, &work); });
  const auto sorted = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), a);
  auto expected = keys;
  std::sort(expected.begin(), expected.end());
  int wrong = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) wrong += sorted(i) != expected[i];

  const double splits = fastest(
      exec, calls, [&] { Kokkos::deep_copy(a, original); },
      [&] {
        auto from = a, to = b;
        for (int d = 0; d < 4; ++d) {
          lanewise::multisplit(exec, from, to, 256, lanewise::radix::digit<key>{8 * d},
                               {.work = &work});
          std::swap(from, to);
        }
      });
  work.release();
  std::printf("%s, %lld keys: %.3f Gkeys/s, four multisplits %.3f; %d wrong\n", Exec::name(),
              static_cast<long long>(n), n / sort * 1e-9, n / splits * 1e-9, wrong);
  return wrong;
}

std::vector<key> random_keys(std::int64_t n, key most) {
  std::mt19937 random(static_cast<unsigned>(n));
  std::vector<key> keys(static_cast<std::size_t>(n));
  for (auto& k : keys) k = static_cast<key>(random()) & most;
  return keys;
}

}  // namespace

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  int wrong = 0;
  if (argc > 1) {
    const auto keys = random_keys(std::atoll(argv[1]), ~key{0});
    wrong += check_and_time(Kokkos::DefaultExecutionSpace(), keys, 5);
  } else {
    for (const std::int64_t n : {0, 1, 31, 1000, 6143, 6144, 6145, 32'833, 100'000}) {
      for (const key most : {~key{0}, key{0xff00ff}, key{0}}) {
        const auto keys = random_keys(n, most);
        wrong += check_and_time(Kokkos::DefaultExecutionSpace(), keys, 1);
        wrong += check_and_time(lanewise::emulated(7), keys, 1);
      }
    }
  }
  return wrong == 0 ? 0 : 1;
}
