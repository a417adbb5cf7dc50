// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is measured of ordered maps: problems, which bench_ordered_map.cpp adds Lanewise's variants
// of, bench_ordered_map.peers.cpp maps of hosts, and bench_ordered_map.cuda.cpp sorted arrays by
// CUB.

#include "support.hpp"
#include <lanewise/ordered/ordered_map.hpp>

#include <cmath>
#include <string>

namespace lanewise::perf {

/// The order, or the distribution, in which keys come.
enum class key_order { uniform, ascending, zipf };

struct ordered_point {
  std::int64_t n;
  key_order order;
};

template <class Exec>
std::vector<ordered_point> ordered_points(bool in_all_orders) {
  std::vector<ordered_point> points;
  std::vector<std::int64_t> sizes = {std::int64_t{1} << 20, std::int64_t{1} << 24,
                                     std::int64_t{1} << 28};
  if (on_host<Exec>) sizes = {1'000'000, 10'000'000};
  for (const std::int64_t n : sizes) {
    points.push_back({n, key_order::uniform});
    if (!in_all_orders || n == sizes.back()) continue;
    points.push_back({n, key_order::ascending});
    points.push_back({n, key_order::zipf});
  }
  return points;
}

/// Item i has number i, shuffled, or as in a Zipf distribution of exponent near 1 (numbers are
/// n^u with u uniform in [0, 1)): several items may have one number. Keys in the table are even.
template <class T>
struct ordered_key {
  key_order order;
  std::int64_t n;
  std::uint32_t missing;

  KOKKOS_FUNCTION std::int64_t number(std::int64_t i) const {
    if (order == key_order::ascending) return i;
    if (order == key_order::zipf) {
      const double u =
          static_cast<double>(hash(static_cast<std::uint64_t>(i)) >> 11) / 9007199254740992.0;
      return static_cast<std::int64_t>(Kokkos::exp(u * Kokkos::log(static_cast<double>(n)))) - 1;
    }
    return static_cast<std::int64_t>(i * 2654435761 % n);
  }
  KOKKOS_FUNCTION T of_number(std::int64_t number) const {
    return static_cast<T>(2 * static_cast<T>(number) + missing);
  }
  KOKKOS_FUNCTION T operator()(std::int64_t i) const { return of_number(number(i)); }
};
template <class T>
struct ordered_value {
  KOKKOS_FUNCTION T operator()(std::int64_t i) const { return static_cast<T>(3 * i + 1); }
};
template <class T>
struct ordered_sorted_key {
  KOKKOS_FUNCTION T operator()(std::int64_t i) const { return static_cast<T>(2 * i); }
};

template <class Exec, class T>
struct ordered_problem {
  using exec_space = Exec;
  using item = T;
  using point = ordered_point;
  using map = ordered_map<T, T, typename Exec::memory_space>;

  Exec exec{};
  std::int64_t n;
  key_order order;
  workspace work;
  array<Exec, T> keys{"perf::keys", static_cast<std::size_t>(n)};
  array<Exec, T> values{"perf::values", static_cast<std::size_t>(n)};

  explicit ordered_problem(const point& p, std::uint32_t missing = 0) : n(p.n), order(p.order) {
    fill(exec, keys, ordered_key<T>{order, n, missing});
    fill(exec, values, ordered_value<T>{});
  }
  static row name(const std::string& algorithm, const point& p) {
    const char* order = p.order == key_order::uniform     ? "uniform"
                        : p.order == key_order::ascending ? "ascending"
                                                          : "zipf";
    return {"ordered_map." + algorithm,
            backend_name<Exec>(),
            "",
            type_name<T>() + "." + type_name<T>(),
            order,
            p.n};
  }
  std::int64_t bytes() const { return n * static_cast<std::int64_t>(4 * sizeof(T)); }
  /// All even keys below 2n.
  map full_map() {
    map m;
    const array<Exec, T> sorted("perf::sorted", static_cast<std::size_t>(n));
    fill(exec, sorted, ordered_sorted_key<T>{});
    build_sorted(exec, m, sorted, values, {.checked = false});
    return m;
  }
};

/// Builds a table of the pairs, in any order or sorted.
template <class Exec, class T, bool sorted>
struct ordered_build_problem : ordered_problem<Exec, T> {
  using base = ordered_problem<Exec, T>;
  typename base::map table;

  explicit ordered_build_problem(const ordered_point& p) : base(p) {
    if (sorted) fill(this->exec, this->keys, ordered_sorted_key<T>{});
  }
  static std::vector<ordered_point> points() { return ordered_points<Exec>(!sorted); }
  static row name(const ordered_point& p) {
    return base::name(sorted ? "build_sorted" : "build", p);
  }
  bool correct() const {
    return this->order == key_order::zipf ? table.size() > 0 : table.size() == this->n;
  }
  void record(benchmark::UserCounters& counters) const {
    counters["bytes_per_element"] = statistics(table).bytes_per_element;
  }
};

/// Finds keys that are there, or others.
template <class Exec, class T, bool hit>
struct ordered_find_problem : ordered_problem<Exec, T> {
  using base = ordered_problem<Exec, T>;
  typename base::map table = base::full_map();
  array<Exec, T> answers{"perf::answers", static_cast<std::size_t>(this->n)};

  explicit ordered_find_problem(const ordered_point& p) : base(p, hit ? 0 : 1) {}
  static std::vector<ordered_point> points() { return ordered_points<Exec>(hit); }
  static row name(const ordered_point& p) { return base::name(hit ? "find_hit" : "find_miss", p); }
  bool correct() const {
    return sum<std::int64_t>(this->exec, this->n,
                             wrong{answers, {this->order, this->n, hit ? 0u : 1u}}) == 0;
  }
  struct wrong {
    array<Exec, T> answers;
    ordered_key<T> key;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const {
      return answers(i) != (hit ? ordered_value<T>{}(key.number(i)) : T{0});
    }
  };
};

/// Changes a full map by a batch: puts odd keys beside, erases even ones, or a tenth each of
/// insertions and deletions and finds.
enum class ordered_batch { insert, erase, mixed };
template <class Exec, class T, ordered_batch what, bool small>
struct ordered_batch_problem : ordered_problem<Exec, T> {
  using base = ordered_problem<Exec, T>;
  using map = typename base::map;
  std::int64_t n;  // of the batch
  std::int64_t elements = base::n;
  map full = base::full_map();
  map table;
  array<Exec, T> batch_keys{"perf::batch_keys", static_cast<std::size_t>(n)};
  array<Exec, T> batch_values{"perf::batch_values", static_cast<std::size_t>(n)};
  array<Exec, table_operation> operations{"perf::operations", static_cast<std::size_t>(n)};

  explicit ordered_batch_problem(const ordered_point& p)
      : base(p, what == ordered_batch::insert ? 1 : 0),
        n(small ? std::min(p.n, std::int64_t{1} << (on_host<Exec> ? 16 : 20)) : p.n) {
    fill(this->exec, batch_keys, first_keys{this->keys});
    fill(this->exec, batch_values, ordered_value<T>{});
    fill(this->exec, operations, operation{});
  }
  struct first_keys {
    array<Exec, T> keys;
    KOKKOS_FUNCTION T operator()(std::int64_t i) const { return keys(i); }
  };
  struct operation {
    KOKKOS_FUNCTION table_operation operator()(std::int64_t i) const {
      const auto x = hash(static_cast<std::uint64_t>(i)) % 10;
      return x == 0   ? table_operation::insert
             : x == 1 ? table_operation::erase
                      : table_operation::find;
    }
  };
  static std::vector<ordered_point> points() { return ordered_points<Exec>(small); }
  static row name(const ordered_point& p) {
    const std::string call = what == ordered_batch::insert  ? "insert"
                             : what == ordered_batch::erase ? "erase"
                                                            : "mixed10_10_80";
    return base::name(small ? call + "_batch20" : call, p);
  }
  std::int64_t bytes() const { return n * static_cast<std::int64_t>(4 * sizeof(T)); }
  void record(benchmark::UserCounters& counters) const {
    counters["batch"] = static_cast<double>(n);
  }
  bool correct() const {
    if (what == ordered_batch::mixed || this->order == key_order::zipf) return table.size() > 0;
    return table.size() == elements + (what == ordered_batch::insert ? n : -n);
  }
};

/// Ranges of 8 elements each.
template <class Exec, class T>
struct ordered_range_problem : ordered_problem<Exec, T> {
  using base = ordered_problem<Exec, T>;
  static constexpr std::int64_t length = 8;
  typename base::map table = base::full_map();
  array<Exec, T> lasts{"perf::lasts", static_cast<std::size_t>(this->n)};
  array<Exec, std::int64_t> offsets{"perf::offsets", static_cast<std::size_t>(this->n + 1)};
  array<Exec, T> keys_out{"perf::keys_out", static_cast<std::size_t>(length* this->n)};
  array<Exec, T> values_out{"perf::values_out", static_cast<std::size_t>(length* this->n)};
  std::int64_t wanted = 0;

  explicit ordered_range_problem(const ordered_point& p) : base(p) {
    fill(this->exec, lasts, last{this->keys});
  }
  struct last {
    array<Exec, T> keys;
    KOKKOS_FUNCTION T operator()(std::int64_t i) const {
      return static_cast<T>(keys(i) + 2 * length - 1);
    }
  };
  static std::vector<ordered_point> points() {
    auto points = ordered_points<Exec>(false);
    if (!on_host<Exec>) points.pop_back();
    return points;
  }
  static row name(const ordered_point& p) { return base::name("range8", p); }
  std::int64_t bytes() const { return length * base::bytes(); }
  bool correct() const { return wanted == length * this->n - length * (length - 1) / 2; }
};

void add_ordered_map_peers();
void add_ordered_map_cuda();

}  // namespace lanewise::perf
