// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <stdexcept>
#include <string>

// Function objects that throw when they are called for a certain time. Not for spaces whose threads
// an exception must not leave.

namespace test {

class functor_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Counts calls of all copies of a functor, and throws at one of them, or also at all after it.
struct fuse {
  static constexpr long never = 1L << 40;
  std::atomic<long> left{never};
  bool for_good = false;

  void set(long calls, bool all_after) {
    for_good = all_after;
    left = calls;
  }
  void burn() {
    const long before = left.fetch_sub(1, std::memory_order_relaxed);
    if (before == 0 || (for_good && before < 0)) throw functor_error("from a functor");
  }
};

/// f, with a fuse.
template <class F>
struct throwing {
  fuse* at;
  F f;

  template <class... T>
  auto operator()(const T&... x) const {
    at->burn();
    return f(x...);
  }
};
template <class F>
throwing(fuse*, F) -> throwing<F>;

}  // namespace test
