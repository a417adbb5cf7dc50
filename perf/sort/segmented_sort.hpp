// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sorts of many segments: the problem. bench_segmented_sort.<where>.cpp add Lanewise's variants and
// the peers.

#include "segment_lengths.hpp"
#include <lanewise/tile/expansion.hpp>

#include <string>
#include <utility>

namespace lanewise::perf {

/// Every segment of out = that of in, in order, and values the same way, which are the numbers of
/// the items; V may be no_value.
template <class Exec, class T, class V>
struct segments_problem {
  using exec_space = Exec;
  using item = T;
  using value = V;
  static constexpr bool has_values = !std::is_same_v<V, no_value>;

  Exec exec{};
  std::int64_t n, segments;
  array<Exec, std::int64_t> offsets{"perf::offsets", static_cast<std::size_t>(segments + 1)};
  array<Exec, T> in, out;
  array<Exec, V> values, values_out;
  array<Exec, std::uint8_t> begins;
  std::uint64_t total;

  explicit segments_problem(const segments_point& p) : n(p.n), segments(p.segments) {
    const auto all = offsets_of(p);
    Kokkos::deep_copy(exec, offsets,
                      Kokkos::View<const std::int64_t*, Kokkos::HostSpace>(all.data(), all.size()));
    exec.fence();
    const auto items = static_cast<std::size_t>(n);
    in = array<Exec, T>("perf::in", items);
    out = array<Exec, T>("perf::out", items);
    begins = array<Exec, std::uint8_t>("perf::begins", items);
    values = array<Exec, V>("perf::values", has_values ? items : 0);
    values_out = array<Exec, V>("perf::values_out", has_values ? items : 0);
    fill(exec, in, input_key<T>(p.keys, n));
    if constexpr (has_values) fill(exec, values, number{});
    Kokkos::parallel_for("perf::begins", range<Exec>(exec, 0, segments), mark{offsets, begins, n});
    total = sum<std::uint64_t>(exec, n, hash_of{in});
  }
  static std::vector<segments_point> points() {
    using enum segment_lengths;
    constexpr input few{"distinct2^4", input_kind::distinct, 4};
    if constexpr (on_host<Exec>) {
      std::vector<segments_point> all;
      for (const input& keys : {uniform_input, few, input{"sorted", input_kind::sorted},
                                input{"reversed", input_kind::reversed},
                                input{"zipf1_hashed", input_kind::zipf, 100, true}})
        for (const auto& [lengths, segments] :
             {std::pair{len8, 100'000}, std::pair{len30_35, 30'000}, std::pair{len100, 10'000},
              std::pair{equal256, 4'000}, std::pair{len1000, 1'000}, std::pair{len4000_5299, 200},
              std::pair{sparse, 1'000'000}, std::pair{giant, 60'000}, std::pair{powerlaw, 10'000}})
          all.push_back(segments_of(segments, lengths, keys));
      all.push_back(segments_of(100'000, len100));
      all.push_back(segments_of(10'000, len1000));
      all.push_back(segments_of(100'000, powerlaw));
      return all;
    }
    return {segments_of(1'000'000, len100),      segments_of(1'000'000, powerlaw),
            segments_of(10'000'000, len8),       segments_of(100'000, len1000),
            segments_of(10'000, len100),         segments_of(10'000, powerlaw),
            segments_of(30, len4000_5299),       segments_of(2'000, len4000_5299),
            segments_of(20'000, len4000_5299),   segments_of(2'000, len30_35),
            segments_of(300'000, len30_35),      segments_of(40'000, equal256),
            segments_of(1'000'000, sparse),      segments_of(60'000, giant),
            segments_of(1'000'000, len100, few), segments_of(1'000'000, powerlaw, few)};
  }
  static row name(const segments_point& p) {
    std::string type = type_name<T>();
    if constexpr (has_values) type += "." + type_name<V>();
    return {std::string("segmented_sort.") + name_of(p.lengths),
            backend_name<Exec>(),
            "",
            type,
            std::string(p.keys.name),
            p.n};
  }
  /// What one reading and one writing move.
  std::int64_t bytes() const {
    return 2 * n * (sizeof(T) + (has_values ? sizeof(V) : 0)) + segments * 8;
  }
  bool correct() const {
    return sum<std::int64_t>(exec, n, wrong{in, out, values_out, begins}) == 0 &&
           sum<std::uint64_t>(exec, n, hash_of{out}) == total;
  }
  /// What is sorted in place begins with this.
  void begin_in_place() const { Kokkos::deep_copy(exec, out, in); }

  struct number {
    KOKKOS_FUNCTION V operator()(std::int64_t i) const { return static_cast<V>(i); }
  };
  struct mark {
    array<Exec, std::int64_t> offsets;
    array<Exec, std::uint8_t> begins;
    std::int64_t n;
    KOKKOS_FUNCTION void operator()(std::int64_t s) const {
      if (offsets(s) < n) begins(offsets(s)) = 1;
    }
  };
  struct hash_of {
    array<Exec, T> items;
    KOKKOS_FUNCTION std::uint64_t operator()(std::int64_t i) const { return hash(items(i)); }
  };
  /// Out of order, not the key of its value, or not stable.
  struct wrong {
    array<Exec, T> in, out;
    array<Exec, V> values;
    array<Exec, std::uint8_t> begins;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const {
      if constexpr (has_values) {
        if (in(values(i)) != out(i)) return true;
      }
      if (begins(i) != 0) return false;
      if constexpr (has_values) {
        if (out(i) == out(i - 1) && !(values(i - 1) < values(i))) return true;
      }
      return out(i) < out(i - 1);
    }
  };
};

void add_segmented_sort_host();
void add_segmented_sort_cuda();

}  // namespace lanewise::perf
