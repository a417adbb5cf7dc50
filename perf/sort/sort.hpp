// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sorts by all bits of keys: the problem. bench_sort.<where>.cpp add Lanewise's variants and the
// peers.

#include "inputs.hpp"
#include <lanewise/tile/expansion.hpp>

#include <string>

namespace lanewise::perf {

/// Keys that are sorted by bits [low, high); high 0: by all.
struct sort_point {
  std::int64_t n;
  input keys;
  int low = 0;
  int high = 0;
};

/// Bits [low, high) of a key, which keys are compared by. Floats are compared as a whole.
template <class T>
struct key_part {
  int low, high;
  KOKKOS_FUNCTION T operator()(const T& x) const {
    if constexpr (std::is_floating_point_v<T>) return x;
    if constexpr (!std::is_floating_point_v<T>) {
      constexpr int width = 8 * sizeof(T);
      return static_cast<T>(static_cast<T>(x << (width - high)) >> (width - high + low));
    }
  }
};

/// out = keys in order, and values the same way, which are the numbers of the items; Value may be
/// no_value.
template <class Exec, class T, class V>
struct sort_problem {
  using exec_space = Exec;
  using item = T;
  using value = V;
  static constexpr bool has_values = !std::is_same_v<V, no_value>;

  Exec exec{};
  std::int64_t n;
  int low, high;
  array<Exec, T> in{"perf::in", static_cast<std::size_t>(n)};
  array<Exec, T> out{"perf::out", static_cast<std::size_t>(n)};
  array<Exec, V> values{"perf::values", static_cast<std::size_t>(has_values ? n : 0)};
  array<Exec, V> values_out{"perf::values_out", static_cast<std::size_t>(has_values ? n : 0)};
  std::uint64_t total;

  explicit sort_problem(const sort_point& p)
      : n(p.n), low(p.low), high(p.high > 0 ? p.high : 8 * sizeof(T)) {
    fill(exec, in, input_key<T>(p.keys, n));
    if constexpr (has_values) fill(exec, values, number{});
    total = sum<std::uint64_t>(exec, n, hash_of{in});
  }
  static std::vector<sort_point> points() {
    std::vector<sort_point> result;
    std::vector<std::int64_t> all = sizes<Exec>(sizeof(T));
    for (const int e : {12, 14}) all.insert(all.begin(), std::int64_t{1} << e);
    for (const std::int64_t n : grid_sizes<Exec>()) {
      if (std::find(all.begin(), all.end(), n) == all.end()) all.push_back(n);
    }
    for (const std::int64_t n : all) result.push_back({n, uniform_input});
    for (const input& keys : grid_inputs) {
      for (const std::int64_t n : grid_sizes<Exec>()) result.push_back({n, keys});
    }
    if constexpr (std::is_floating_point_v<T>) {
      for (const std::int64_t n : grid_sizes<Exec>()) result.push_back({n, special_input});
      return result;
    }
    // Low, middle and high bits.
    constexpr int width = 8 * sizeof(T);
    for (const int bits : {1, 3, 8, 16, 20, 23, 24, 28}) {
      for (const int low : {0, (width - bits) / 2, width - bits}) {
        for (const std::int64_t n : grid_sizes<Exec>())
          result.push_back({n, uniform_input, low, low + bits});
      }
    }
    return result;
  }
  static row name(const sort_point& p) {
    std::string type = type_name<T>();
    if constexpr (has_values) type += "." + type_name<V>();
    std::string algorithm = "radix_sort";
    if (p.high > 0) algorithm += ".bits" + std::to_string(p.low) + "_" + std::to_string(p.high);
    return {algorithm, backend_name<Exec>(), "", type, std::string(p.keys.name), p.n};
  }
  /// What one reading and one writing move.
  std::int64_t bytes() const { return 2 * n * (sizeof(T) + (has_values ? sizeof(V) : 0)); }
  bool correct() const {
    return sum<std::int64_t>(exec, n, wrong{in, out, values_out, {low, high}}) == 0 &&
           sum<std::uint64_t>(exec, n, hash_of{out}) == total;
  }
  /// What is sorted in place begins with this.
  void begin_in_place() const {
    Kokkos::deep_copy(exec, out, in);
    if constexpr (has_values) Kokkos::deep_copy(exec, values_out, values);
  }

  struct number {
    KOKKOS_FUNCTION V operator()(std::int64_t i) const { return static_cast<V>(i); }
  };
  struct hash_of {
    array<Exec, T> items;
    KOKKOS_FUNCTION std::uint64_t operator()(std::int64_t i) const {
      return hash(Kokkos::bit_cast<key_word<T>>(items(i)));
    }
  };
  /// Out of order, not the key of its value, or not stable.
  struct wrong {
    array<Exec, T> in, out;
    array<Exec, V> values;
    key_part<T> part;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const {
      const bool first = i == 0;
      if (!first && part(out(i)) < part(out(i - 1))) return true;
      if constexpr (has_values) {
        if (in(values(i)) != out(i)) return true;
        if (!first && part(out(i)) == part(out(i - 1)) && !(values(i - 1) < values(i))) return true;
      }
      return false;
    }
  };
};

void add_sort_host();
void add_sort_cuda();
void add_sort_u32();
void add_sort_u64();
void add_sort_u32_u32();
void add_sort_u64_u32();
void add_sort_u64_u64();

}  // namespace lanewise::perf
