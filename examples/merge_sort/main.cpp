// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// merge_sort [n]: sorts n pairs on every backend, compares with std::stable_sort and prints rates.

#include "merge_sort.hpp"
#include <lanewise/emulated.hpp>
#include <lanewise/host.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

namespace {

using key = std::uint32_t;

/// Descending by the upper half alone, so that order among equals can be seen.
struct by_upper_half {
  KOKKOS_FUNCTION bool operator()(key a, key b) const { return a >> 16 > b >> 16; }
};

/// The number of pairs that are not where they should be.
template <class Exec>
int check_and_time(const Exec& exec, const std::vector<key>& keys) {
  using memory = typename Exec::memory_space;
  const auto n = static_cast<std::int64_t>(keys.size());
  std::vector<key> order(keys.size());
  std::iota(order.begin(), order.end(), 0u);
  const Kokkos::View<const key*, Kokkos::HostSpace> given(keys.data(), keys.size()),
      given_order(order.data(), order.size());
  const auto k = Kokkos::create_mirror_view_and_copy(memory(), given);
  const Kokkos::View<key*, memory> a("keys", keys.size()), b("other keys", keys.size()),
      v("values", keys.size()), w("other values", keys.size());
  Kokkos::deep_copy(a, k);
  Kokkos::deep_copy(v, Kokkos::create_mirror_view_and_copy(memory(), given_order));
  Kokkos::fence();
  const Kokkos::Timer timer;
  lanewise::merges::sort(exec, lanewise::merges::pairs<key, key>{a.data(), v.data()},
                         {b.data(), w.data()}, n, by_upper_half{});
  exec.fence();
  const double seconds = timer.seconds();
  const auto sorted = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), a);
  const auto from = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), v);
  std::stable_sort(order.begin(), order.end(),
                   [&](key i, key j) { return by_upper_half{}(keys[i], keys[j]); });
  int wrong = 0;
  for (std::size_t i = 0; i < keys.size(); ++i)
    wrong += from(i) != order[i] || sorted(i) != keys[order[i]];
  std::printf("%s, %lld pairs: %.3f Gpairs/s; %d wrong\n", Exec::name(), static_cast<long long>(n),
              static_cast<double>(n) / seconds * 1e-9, wrong);
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
    for (int i = 0; i < 3; ++i)
      wrong += check_and_time(Kokkos::DefaultExecutionSpace(),
                              random_keys(std::atoll(argv[1]), ~key{0}));
  } else {
    for (const std::int64_t n : {0, 1, 31, 2047, 2048, 2049, 32'769, 65'537, 200'000}) {
      for (const key most : {~key{0}, key{0x30000}, key{0}}) {
        const auto keys = random_keys(n, most);
        wrong += check_and_time(Kokkos::DefaultExecutionSpace(), keys);
        if (n < 100'000) wrong += check_and_time(lanewise::emulated(7), keys);
      }
    }
  }
  return wrong == 0 ? 0 : 1;
}
