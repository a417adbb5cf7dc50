// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sorts by all bits of keys: the problem. bench_sort.<where>.cpp add Lanewise's variants and the
// peers.

#include "support.hpp"
#include <lanewise/expansion.hpp>

#include <string>

namespace lanewise::perf {

/// Keys of a sort, by number.
enum class sort_keys {
  uniform,
  sorted,      // in order already
  entropy201,  // every bit is set in one of 32 keys (2.01 of 10 bits of entropy in 10 bits)
  entropy544,  // in one of four
  equal,       // all alike
  band8        // 256 values: eight bits in the middle differ
};

inline const char* name_of(sort_keys keys) {
  constexpr const char* names[] = {"uniform",    "sorted", "entropy201",
                                   "entropy544", "equal",  "band8"};
  return names[static_cast<int>(keys)];
}

struct sort_point {
  std::int64_t n;
  sort_keys keys;
};

/// The integer with the bits of a key, and back. Floats lose a bit of their exponent, so that all
/// are numbers.
template <class T>
using sort_word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
template <class T>
KOKKOS_FUNCTION T sort_key_from(sort_word<T> bits) {
  if constexpr (std::is_floating_point_v<T>) {
    return Kokkos::bit_cast<T>(bits & ~(sort_word<T>{1} << (8 * sizeof(T) - 2)));
  } else {
    return bits;
  }
}

template <class T>
struct sort_key_of {
  sort_keys keys;
  KOKKOS_FUNCTION T operator()(std::int64_t i) const { return sort_key_from<T>(bits(i)); }

 private:
  using bits_type = sort_word<T>;
  KOKKOS_FUNCTION bits_type bits(std::int64_t i) const {
    const auto word = [i](int k) {
      return static_cast<bits_type>(hash(i + (std::int64_t{k} << 40)));
    };
    switch (keys) {
      case sort_keys::sorted:
        return static_cast<bits_type>(i);
      case sort_keys::entropy201:
        return word(0) & word(1) & word(2) & word(3) & word(4);
      case sort_keys::entropy544:
        return word(0) & word(1);
      case sort_keys::equal:
        return static_cast<bits_type>(hash(0));
      case sort_keys::band8:
        return (word(0) & 255) << (sizeof(T) * 4 - 4);
      default:
        return word(0);
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
  array<Exec, T> in{"perf::in", static_cast<std::size_t>(n)};
  array<Exec, T> out{"perf::out", static_cast<std::size_t>(n)};
  array<Exec, V> values{"perf::values", static_cast<std::size_t>(has_values ? n : 0)};
  array<Exec, V> values_out{"perf::values_out", static_cast<std::size_t>(has_values ? n : 0)};
  std::uint64_t total;

  explicit sort_problem(const sort_point& p) : n(p.n) {
    fill(exec, in, sort_key_of<T>{p.keys});
    if constexpr (has_values) fill(exec, values, number{});
    total = sum<std::uint64_t>(exec, n, hash_of{in});
  }
  static std::vector<sort_point> points() {
    std::vector<sort_point> result;
    const auto add_sizes = [&](sort_keys keys, const std::vector<std::int64_t>& all) {
      for (const std::int64_t n : all) result.push_back({n, keys});
    };
    std::vector<std::int64_t> all = sizes<Exec>(sizeof(T)), some = all;
    for (const int e : {12, 14}) all.insert(all.begin(), std::int64_t{1} << e);
    if constexpr (on_host<Exec>) some = {std::int64_t{1} << 24};
    add_sizes(sort_keys::uniform, all);
    for (const sort_keys keys : {sort_keys::sorted, sort_keys::entropy544, sort_keys::entropy201,
                                 sort_keys::equal, sort_keys::band8})
      add_sizes(keys, some);
    return result;
  }
  static row name(const sort_point& p) {
    std::string type = type_name<T>();
    if constexpr (has_values) type += "." + type_name<V>();
    return {"radix_sort", backend_name<Exec>(), "", type, name_of(p.keys), p.n};
  }
  /// What one reading and one writing move.
  std::int64_t bytes() const { return 2 * n * (sizeof(T) + (has_values ? sizeof(V) : 0)); }
  bool correct() const {
    return sum<std::int64_t>(exec, n, wrong{in, out, values_out}) == 0 &&
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
      return hash(Kokkos::bit_cast<sort_word<T>>(items(i)));
    }
  };
  /// Out of order, not the key of its value, or not stable.
  struct wrong {
    array<Exec, T> in, out;
    array<Exec, V> values;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const {
      const bool first = i == 0;
      if (!first && out(i) < out(i - 1)) return true;
      if constexpr (has_values) {
        if (in(values(i)) != out(i)) return true;
        if (!first && out(i) == out(i - 1) && !(values(i - 1) < values(i))) return true;
      }
      return false;
    }
  };
};

void add_sort_host();
void add_sort_cuda();
void add_wide_pairs();

}  // namespace lanewise::perf
