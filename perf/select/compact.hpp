// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Selections and calls on runs: the problems, and Lanewise's variants of them.
// bench_compact.<where>.cpp add the peers.

#include "support.hpp"
#include <lanewise/segments/reduce_by_key.hpp>
#include <lanewise/segments/run_length.hpp>
#include <lanewise/segments/segmented_scan.hpp>
#include <lanewise/select/select.hpp>
#include <lanewise/select/unique.hpp>

#include <string>

namespace lanewise::perf {

/// A size, and the share of items kept in percent or the mean length of runs.
struct share_point {
  std::int64_t n;
  int parameter;
};

template <class Exec, class T>
std::vector<share_point> share_points(std::initializer_list<int> parameters) {
  std::vector<share_point> result;
  for (const int parameter : parameters) {
    for (const std::int64_t n : sizes<Exec>(sizeof(T))) result.push_back({n, parameter});
  }
  return result;
}

/// Keeps about `percent` of 100 random items.
template <class T>
struct below {
  T limit;
  explicit below(int percent)
      : limit(static_cast<T>(static_cast<double>(std::numeric_limits<T>::max()) * percent / 100)) {}
  KOKKOS_FUNCTION bool operator()(const T& x) const { return x < limit; }
};

template <class Exec, class T>
struct selection_problem {
  using exec_space = Exec;
  using item = T;

  Exec exec{};
  std::int64_t n;
  below<T> keep;
  array<Exec, T> in{"perf::in", static_cast<std::size_t>(n)};
  array<Exec, T> out{"perf::out", static_cast<std::size_t>(n)};
  Kokkos::View<std::int64_t, typename Exec::memory_space> count{"perf::count"};
  std::int64_t kept;

  explicit selection_problem(const share_point& p) : n(p.n), keep(p.parameter) {
    fill(exec, in, random_item<T>{});
    kept = sum<std::int64_t>(exec, n, chosen{in, keep});
  }
  std::int64_t bytes() const { return (n + kept) * sizeof(T); }
  /// The kept items are there, as far as sums can tell; the tests check their order.
  bool correct() const {
    std::int64_t found = -1;
    Kokkos::deep_copy(found, count);
    return found == kept && sum<std::uint64_t>(exec, n, hash_of_chosen{{in, keep}}) ==
                                sum<std::uint64_t>(exec, kept, hash_of{out});
  }

  struct chosen {
    array<Exec, T> items;
    below<T> keep;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const { return keep(items(i)); }
  };
  struct hash_of_chosen {
    chosen is;
    KOKKOS_FUNCTION std::uint64_t operator()(std::int64_t i) const {
      return is(i) ? hash(is.items(i)) : 0;
    }
  };
  struct hash_of {
    array<Exec, T> items;
    KOKKOS_FUNCTION std::uint64_t operator()(std::int64_t i) const { return hash(items(i)); }
  };
};

template <class Exec, class T>
struct select_problem : selection_problem<Exec, T> {
  using selection_problem<Exec, T>::selection_problem;
  static std::vector<share_point> points() { return share_points<Exec, T>({1, 50, 99}); }
  static row name(const share_point& p) {
    return {"select_if.p" + std::to_string(p.parameter),
            backend_name<Exec>(),
            "",
            type_name<T>(),
            "uniform",
            p.n};
  }
};

template <class Exec, class T>
struct partition_problem : selection_problem<Exec, T> {
  array<Exec, T> rejected{"perf::rejected", static_cast<std::size_t>(this->n)};
  using selection_problem<Exec, T>::selection_problem;
  static std::vector<share_point> points() { return share_points<Exec, T>({50}); }
  static row name(const share_point& p) {
    return {"partition.p" + std::to_string(p.parameter),
            backend_name<Exec>(),
            "",
            type_name<T>(),
            "uniform",
            p.n};
  }
  std::int64_t bytes() const { return 2 * this->n * sizeof(T); }
};

/// Items 2 b r, ..., 2 (b + 1) r - 1 are runs number 2 b and 2 b + 1; where one ends is random.
struct run_number {
  std::int64_t mean;
  KOKKOS_FUNCTION std::int64_t operator()(std::int64_t i) const {
    const std::int64_t pair = i / (2 * mean);
    const std::int64_t first = 1 + static_cast<std::int64_t>(hash(pair) % (2 * mean - 1));
    return 2 * pair + (i % (2 * mean) >= first ? 1 : 0);
  }
};
template <class T>
struct run_key {
  run_number number;
  KOKKOS_FUNCTION T operator()(std::int64_t i) const { return static_cast<T>(number(i)); }
};

/// Keys in runs of a mean length, values beside them, and a result of either kind per run. Sizes
/// are powers of two, and so are mean lengths, so that the last pair of runs is whole.
template <class Exec, class T>
struct runs_problem {
  using exec_space = Exec;
  using item = T;
  using value = std::uint32_t;

  Exec exec{};
  std::int64_t n;
  std::int64_t mean;
  std::int64_t runs = n / mean;
  array<Exec, T> keys{"perf::keys", static_cast<std::size_t>(n)};
  array<Exec, T> keys_out{"perf::keys_out", static_cast<std::size_t>(n)};
  Kokkos::View<std::int64_t, typename Exec::memory_space> count{"perf::count"};

  explicit runs_problem(const share_point& p) : n(p.n), mean(p.parameter) {
    fill(exec, keys, run_key<T>{{mean}});
  }
  bool keys_correct() const {
    std::int64_t found = -1;
    Kokkos::deep_copy(found, count);
    return found == runs && sum<std::int64_t>(exec, runs, wrong_key{keys_out}) == 0;
  }

  struct wrong_key {
    array<Exec, T> keys;
    KOKKOS_FUNCTION bool operator()(std::int64_t r) const { return keys(r) != static_cast<T>(r); }
  };
};

inline std::string with_mean(const char* algorithm, const share_point& p) {
  return algorithm + std::string(".r") + std::to_string(p.parameter);
}

template <class Exec, class T>
struct unique_problem : runs_problem<Exec, T> {
  using runs_problem<Exec, T>::runs_problem;
  static std::vector<share_point> points() { return share_points<Exec, T>({1, 4, 64, 4096}); }
  static row name(const share_point& p) {
    return {with_mean("unique", p), backend_name<Exec>(), "", type_name<T>(), "uniform", p.n};
  }
  std::int64_t bytes() const { return (this->n + this->runs) * sizeof(T); }
  bool correct() const { return this->keys_correct(); }
};

/// Results per run that add up to what the values of two neighbouring runs add up to.
template <class Exec, class T, class Value>
struct run_results_problem : runs_problem<Exec, T> {
  using value = std::uint32_t;
  array<Exec, value> results{"perf::results", static_cast<std::size_t>(this->n)};

  using runs_problem<Exec, T>::runs_problem;
  bool correct() const {
    return this->keys_correct() &&
           sum<std::int64_t>(this->exec, this->runs / 2, wrong_pair{results, this->mean, {}}) == 0;
  }
  struct wrong_pair {
    array<Exec, value> results;
    std::int64_t mean;
    Value value_of;
    KOKKOS_FUNCTION bool operator()(std::int64_t pair) const {
      value expected = 0;
      for (std::int64_t i = 2 * pair * mean; i < 2 * (pair + 1) * mean; ++i)
        expected += value_of(i);
      return results(2 * pair) + results(2 * pair + 1) != expected;
    }
  };
};

struct always_one {
  KOKKOS_FUNCTION std::uint32_t operator()(std::int64_t) const { return 1; }
};
struct small_value {
  KOKKOS_FUNCTION std::uint32_t operator()(std::int64_t i) const { return hash(i) & 1023; }
};

template <class Exec, class T>
struct run_length_problem : run_results_problem<Exec, T, always_one> {
  using run_results_problem<Exec, T, always_one>::run_results_problem;
  static std::vector<share_point> points() { return share_points<Exec, T>({1, 4, 64, 4096}); }
  static row name(const share_point& p) {
    return {with_mean("run_length_encode", p),
            backend_name<Exec>(),
            "",
            type_name<T>(),
            "uniform",
            p.n};
  }
  std::int64_t bytes() const {
    return this->n * sizeof(T) + this->runs * (sizeof(T) + sizeof(std::uint32_t));
  }
};

template <class Exec, class T>
struct reduce_by_key_problem : run_results_problem<Exec, T, small_value> {
  array<Exec, std::uint32_t> values{"perf::values", static_cast<std::size_t>(this->n)};
  explicit reduce_by_key_problem(const share_point& p)
      : run_results_problem<Exec, T, small_value>(p) {
    fill(this->exec, values, small_value{});
  }
  static std::vector<share_point> points() { return share_points<Exec, T>({1, 4, 64, 4096}); }
  static row name(const share_point& p) {
    return {with_mean("reduce_by_key", p),
            backend_name<Exec>(),
            "",
            type_name<T>() + ".u32",
            "uniform",
            p.n};
  }
  std::int64_t bytes() const {
    return (this->n + this->runs) * (sizeof(T) + sizeof(std::uint32_t));
  }
};

/// Sums that begin anew at every run.
template <class Exec, class T>
struct scan_by_key_problem : reduce_by_key_problem<Exec, T> {
  using reduce_by_key_problem<Exec, T>::reduce_by_key_problem;
  static std::vector<share_point> points() { return share_points<Exec, T>({8, 4096}); }
  static row name(const share_point& p) {
    return {"segmented_scan.len" + std::to_string(p.parameter),
            backend_name<Exec>(),
            "",
            type_name<T>() + ".u32",
            "uniform",
            p.n};
  }
  std::int64_t bytes() const { return this->n * (sizeof(T) + 2 * sizeof(std::uint32_t)); }
  bool correct() const {
    return sum<std::int64_t>(this->exec, this->n, wrong{this->keys, this->values, this->results}) ==
           0;
  }
  struct wrong {
    array<Exec, T> keys;
    array<Exec, std::uint32_t> values, sums;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const {
      const bool head = i == 0 || keys(i - 1) != keys(i);
      return sums(i) != values(i) + (head ? 0 : sums(i - 1));
    }
  };
};

template <class Exec, class T>
void add_lanewise_compact_of() {
  using select = select_problem<Exec, T>;
  add<select>("lanewise", [](select& p, auto time) {
    lanewise::workspace work;
    time([&] { lanewise::select_if(p.exec, p.in, p.out, p.count, p.keep, {.work = &work}); });
  });
  using unique = unique_problem<Exec, T>;
  add<unique>("lanewise", [](unique& p, auto time) {
    lanewise::workspace work;
    time([&] {
      lanewise::unique(p.exec, p.keys, p.keys_out, p.count, lanewise::equal_to{}, {.work = &work});
    });
  });
}

template <class Exec>
void add_lanewise_compact() {
  add_lanewise_compact_of<Exec, std::uint8_t>();
  add_lanewise_compact_of<Exec, std::uint32_t>();
  add_lanewise_compact_of<Exec, std::uint64_t>();
  using u32 = std::uint32_t;
  using partition = partition_problem<Exec, u32>;
  add<partition>("lanewise", [](partition& p, auto time) {
    lanewise::workspace work;
    time([&] {
      lanewise::partition(p.exec, p.in, p.out, p.rejected, p.count, p.keep, {.work = &work});
    });
  });
  using encode = run_length_problem<Exec, u32>;
  add<encode>("lanewise", [](encode& p, auto time) {
    lanewise::workspace work;
    time([&] {
      lanewise::run_length_encode(p.exec, p.keys, p.keys_out, p.results, p.count,
                                  lanewise::equal_to{}, {.work = &work});
    });
  });
  using reduce = reduce_by_key_problem<Exec, u32>;
  add<reduce>("lanewise", [](reduce& p, auto time) {
    lanewise::workspace work;
    time([&] {
      lanewise::reduce_by_key(p.exec, p.keys, p.values, p.keys_out, p.results, p.count,
                              lanewise::plus{}, lanewise::equal_to{}, {.work = &work});
    });
  });
  using scan = scan_by_key_problem<Exec, u32>;
  add<scan>("lanewise", [](scan& p, auto time) {
    lanewise::workspace work;
    time([&] {
      lanewise::inclusive_scan_by_key(p.exec, p.keys, p.values, p.results, lanewise::plus{},
                                      lanewise::equal_to{}, {.work = &work});
    });
  });
}

// Each in a unit of its own, beside the peers that exist there.
void add_compact_cuda();
void add_compact_host();

}  // namespace lanewise::perf
