// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/sequence/reduce.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

// The threads of the emulated backend where a process ends, and where it forks.

namespace {

using namespace test;

/// Whether a launch of several teams does what it should.
bool launches() {
  std::vector<std::uint32_t> items(30'000, 3u);
  const Kokkos::View<std::uint32_t*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> in(items.data(),
                                                                                    items.size());
  return lanewise::reduce(make_space(), in, lanewise::plus{}, 5u) == 90'005u;
}

/// Launches when the program ends: it was made before anything was launched, and goes after all
/// that was made then.
struct launches_at_the_end {
  bool asked = false;
  bool ends_here = false;
  ~launches_at_the_end() {
    if (!asked) return;
    const bool right = launches();
    if (!right) std::fputs("a launch of a static destructor went wrong\n", stderr);
    if (ends_here) _exit(right ? 0 : 1);
    if (!right) std::_Exit(1);
  }
} at_the_end;

/// What f() ends a child with; -1 if it does not end by itself.
[[maybe_unused]] int exit_code_of_child(const std::function<int()>& f) {
  std::fflush(nullptr);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(60);
    _exit(f());
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("Static destructors launch", "[thread_pool]") {
  CHECK(launches());
  at_the_end.asked = true;
}

// A child of several threads has no others for ThreadSanitizer.
#if !LANEWISE_THREAD_SANITIZER
TEST_CASE("A forked child launches, and its children, and the parent goes on", "[thread_pool]") {
  CHECK(launches());
  const auto launch_twice = [] { return launches() && launches() ? 0 : 1; };
  CHECK(exit_code_of_child(launch_twice) == 0);
  CHECK(exit_code_of_child([&] {
          if (!launches()) return 1;
          return exit_code_of_child(launch_twice) + exit_code_of_child(launch_twice);
        }) == 0);
  CHECK(launches());
}

// AddressSanitizer's allocator does not unlock in a child what other threads had locked (g++ 12):
// the child's first allocations may wait for ever. Without it the case runs as well.
#if !LANEWISE_ADDRESS_SANITIZER
TEST_CASE("A child launches that was forked while others do", "[thread_pool]") {
  std::atomic<bool> goes_on = true;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> others;
  for (int t = 0; t < 3; ++t) {
    others.emplace_back([&] {
      while (goes_on) wrong += !launches();
    });
  }
  for (int child = 0; child < 10; ++child)
    CHECK(exit_code_of_child([] { return launches() ? 0 : 1; }) == 0);
  goes_on = false;
  for (auto& t : others) t.join();
  CHECK(wrong == 0);
}
#endif

TEST_CASE("A forked child ends as others do, and its static destructors launch", "[thread_pool]") {
  CHECK(launches());
  CHECK(exit_code_of_child([]() -> int {
          at_the_end.asked = at_the_end.ends_here = true;
          std::exit(2);
        }) == 0);
}
#endif
