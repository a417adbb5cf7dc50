// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

// Parallel prefix circuits for any n >= 1 (Merrill, 4.1 and figure 26): those of 2^k inputs without
// the gates after input n - 1.

namespace test {

/// x[to] = op(x[from], x[to]), from < to.
struct gate {
  int from;
  int to;
};

/// All gates of a step read before one of them writes.
struct scan_circuit {
  int n;
  std::vector<std::vector<gate>> steps;

  void begin_step() { steps.emplace_back(); }
  void add(int from, int to) {
    if (from >= 0 && to < n) steps.back().push_back({from, to});
  }

  std::int64_t size() const {
    std::size_t gates = 0;
    for (const auto& step : steps) gates += step.size();
    return static_cast<std::int64_t>(gates);
  }
  /// Gates on the longest path from an input to an output; a step may be part of none.
  int depth() const {
    std::vector<int> depth_of(static_cast<std::size_t>(n), 0);
    for (const auto& step : steps) {
      const auto before = depth_of;
      for (const auto& [from, to] : step) depth_of[to] = 1 + std::max(before[from], before[to]);
    }
    return *std::max_element(depth_of.begin(), depth_of.end());
  }

  template <class T, class Op>
  std::vector<T> operator()(std::vector<T> x, Op op) const {
    for (const auto& step : steps) {
      const auto before = x;
      for (const auto& [from, to] : step) x[to] = op(before[from], before[to]);
    }
    return x;
  }
};

/// One gate after the other.
inline scan_circuit sequential_circuit(int n) {
  scan_circuit c{n, {}};
  for (int to = 1; to < n; ++to) {
    c.begin_step();
    c.add(to - 1, to);
  }
  return c;
}

/// Every value with the one 1, 2, 4, ... places before it.
inline scan_circuit kogge_stone_circuit(int n) {
  scan_circuit c{n, {}};
  for (int distance = 1; distance < n; distance *= 2) {
    c.begin_step();
    for (int to = distance; to < n; ++to) c.add(to - distance, to);
  }
  return c;
}

/// The right halves of blocks of 2, 4, 8, ... with the last value of the left halves.
inline scan_circuit sklansky_circuit(int n) {
  scan_circuit c{n, {}};
  for (int half = 1; half < n; half *= 2) {
    c.begin_step();
    for (int to = 0; to < n; ++to) {
      if ((to & half) != 0) c.add((to & -half) - 1, to);
    }
  }
  return c;
}

/// A tree of reductions, and back from its root.
inline scan_circuit brent_kung_circuit(int n) {
  scan_circuit c{n, {}};
  int distance = 1;
  for (; distance < n; distance *= 2) {
    c.begin_step();
    for (int to = 2 * distance - 1; to < n; to += 2 * distance) c.add(to - distance, to);
  }
  for (distance /= 2; distance > 0; distance /= 2) {
    c.begin_step();
    for (int to = 3 * distance - 1; to < n; to += 2 * distance) c.add(to - distance, to);
  }
  return c;
}

/// Kogge and Stone's circuit on every second value, with a step in front and one after.
inline scan_circuit han_carlson_circuit(int n) {
  scan_circuit c{n, {}};
  for (int distance = 1; distance < n; distance *= 2) {
    c.begin_step();
    for (int to = 1; to < n; to += 2) c.add(to - distance, to);
  }
  c.begin_step();
  for (int to = 2; to < n; to += 2) c.add(to - 1, to);
  return c;
}

}  // namespace test
