// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Every allocation of a call fails once, and those after it too. Included by one file of a
// program, before the library.

#include <support/failing_allocations.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>

namespace test {

/// Within what every_allocation_fails_once() calls: f() has all the memory it asks for.
template <class F>
void without_failures(F f) {
  const long failing = std::exchange(until_failure, -1);
  f();
  until_failure = failing;
}

/// Calls f(work) with a new workspace, again and again, with the first, the second, ... allocation
/// failing, until nothing fails. Then the same for calls without a workspace. After every call
/// that failed comes one that does not, in turns with what the workspace holds then, and with
/// nothing. done() checks its results.
template <class F, class Done>
void every_allocation_fails_once(F f, Done done) {
  for (const bool with_workspace : {true, false}) {
    f(nullptr);  // what is allocated once and for all
    make_space().fence();
    for (long failing = 0;; failing = next_failing(failing)) {
      CAPTURE(with_workspace, failing);
      REQUIRE(failing < 1000);
      bool failed = false;
      std::string surprise;
      {
        lanewise::workspace work;
        const long before = outstanding;
        long held = 0;
        until_failure = failing;
        try {
          f(with_workspace ? &work : nullptr);
        } catch (const std::exception&) {
          failed = true;
        } catch (...) {
          surprise = "not a std::exception";
        }
        until_failure = -1;
        make_space().fence();
        CHECK(surprise == "");
        const auto once_more = [&] {
          if (failed) f(with_workspace ? &work : nullptr);
          make_space().fence();
        };
        if (failing % 2 != 0) once_more();
        // Without a workspace nothing remains; with one what release() frees.
        work.release();
        held = outstanding - before;
        CHECK(held == 0);
        if (failing % 2 == 0) once_more();
        done();
      }
      if (!failed) break;
    }
  }
}

}  // namespace test
