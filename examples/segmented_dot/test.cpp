// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Compares segmented_dot with the plainest loop: on lanes that run as threads, on lanes that run
// each for itself, and on the default execution space. Returns the number of wrong results.

#include "segmented_dot.hpp"
#include <lanewise/emulated.hpp>
#include <lanewise/emulated_lanes.hpp>
#include <lanewise/host.hpp>

#include <cstdio>
#include <random>
#include <vector>

namespace {

/// Lengths around those of sub-warps and warps, empty ones, and one that a team takes.
std::vector<std::int64_t> begins_of(int segments, std::int64_t longest) {
  std::mt19937 random(7);
  std::vector<std::int64_t> begins = {0};
  for (int s = 0; s < segments; ++s)
    begins.push_back(begins.back() + (s == segments / 2 ? longest : random() % 70));
  return begins;
}

template <class T, class Memory>
auto copy_of(const std::vector<T>& items) {
  const Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> view(items.data(),
                                                                                items.size());
  return Kokkos::create_mirror_view_and_copy(Memory(), view);
}

/// Items are whole numbers, so that sums are exact in any order.
template <class Exec>
int wrong_results(const Exec& exec, int segments, std::int64_t longest) {
  using memory = typename Exec::memory_space;
  const auto begins = begins_of(segments, longest);
  std::vector<float> items(static_cast<std::size_t>(begins.back()));
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = static_cast<float>(i % 5);
  const auto x = copy_of<float, memory>(items);
  const Kokkos::View<float*, memory> out("out", begins.size());
  lanewise::workspace work;
  for (int run = 0; run < 2; ++run)  // the second one finds the workspace as the first left it
    my::segmented_dot(exec, copy_of<std::int64_t, memory>(begins), x, x, out, {.work = &work});
  lanewise::check(exec, work);  // waits, and throws if there was a bad segment
  const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out);
  int wrong = 0;
  for (std::size_t s = 0; s + 1 < begins.size(); ++s) {
    float sum = 0;
    for (std::int64_t i = begins[s]; i < begins[s + 1]; ++i)
      sum += items[static_cast<std::size_t>(i)] * items[static_cast<std::size_t>(i)];
    wrong += found(s) != sum;
  }
  std::printf("%s, %d segments, the longest %lld: %d wrong\n", Exec::name(), segments,
              static_cast<long long>(longest), wrong);
  return wrong;
}

/// A segment beyond the items gives 0 and is counted; arrays that do not fit are refused.
template <class Exec>
int unseen_errors(const Exec& exec) {
  using memory = typename Exec::memory_space;
  const std::vector<float> items(10, 1.0f);
  const auto x = copy_of<float, memory>(items);
  const Kokkos::View<float*, memory> out("out", 3);
  int unseen = 2;
  lanewise::workspace work;
  my::segmented_dot(exec, copy_of<std::int64_t, memory>({0, 4, 11, 10}), x, x, out,
                    {.work = &work});
  try {
    lanewise::check(exec, work);
  } catch (const std::runtime_error&) {
    --unseen;
  }
  try {
    my::segmented_dot(exec, copy_of<std::int64_t, memory>({0, 1, 2, 3, 4}), x, x, out);
  } catch (const std::invalid_argument&) {
    --unseen;
  }
  return unseen;
}

template <class Exec>
int failures(const Exec& exec) {
  return wrong_results(exec, 0, 0) + wrong_results(exec, 1, 40) + wrong_results(exec, 1000, 4097) +
         unseen_errors(exec);
}

}  // namespace

int main(int argc, char* argv[]) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  return failures(lanewise::emulated(7)) + failures(lanewise::emulated_lanes(7)) +
         failures(Kokkos::DefaultExecutionSpace());
}
