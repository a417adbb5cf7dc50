// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Selections of the k first items: the problems, and Lanewise's variants of them.
// bench_top_k.<where>.cpp add the peers.

#include "support.hpp"
#include <lanewise/sequence/is_sorted.hpp>
#include <lanewise/sort/nth_element.hpp>
#include <lanewise/sort/top_k.hpp>

#include <string>

namespace lanewise::perf {

/// Items by a distribution: uniform, sorted, equal, or band8: 8 bits vary.
template <class T>
struct ranked_item {
  int distribution;
  std::int64_t n;
  static constexpr const char* names[] = {"uniform", "sorted", "equal", "band8"};

  KOKKOS_FUNCTION T operator()(std::int64_t i) const {
    const std::uint64_t x = hash(static_cast<std::uint64_t>(i));
    if constexpr (std::is_floating_point_v<T>) {
      if (distribution == 1) return static_cast<T>(i) / static_cast<T>(n);
      if (distribution == 2) return T(77);
      if (distribution == 3) return static_cast<T>(x & 255) / T(256);
      return static_cast<T>(x >> 40) / static_cast<T>(1 << 24);
    } else {
      if (distribution == 1) return static_cast<T>(static_cast<T>(~T{0} / n) * static_cast<T>(i));
      if (distribution == 2) return T(77);
      if (distribution == 3) return static_cast<T>((x & 255) << 12 | 5);
      return static_cast<T>(x);
    }
  }
};

struct ranked_point {
  std::int64_t n;
  std::int64_t k;
  int distribution;
  bool sorted = false;
};
template <class Exec, class T>
std::vector<ranked_point> ranked_points(std::initializer_list<std::int64_t> ks) {
  std::vector<ranked_point> result;
  for (const std::int64_t k : ks) {
    for (int d = 0; d < 4; ++d) {
      for (const std::int64_t n : sizes<Exec>(sizeof(T)))
        if (k < n && (d == 0 || n >= (1 << 24))) result.push_back({n, k, d});
    }
  }
  return result;
}

/// The k largest.
template <class Exec, class T>
struct top_k_problem {
  using exec_space = Exec;
  using item = T;

  Exec exec{};
  std::int64_t n;
  std::int64_t k;
  array<Exec, T> in{"perf::in", static_cast<std::size_t>(n)};
  array<Exec, T> out{"perf::out", static_cast<std::size_t>(n)};

  bool sorted;
  static std::vector<ranked_point> points() {
    auto all = ranked_points<Exec, T>({16, 65536});
    for (const int e : {12, 16, 20}) {
      const auto items = std::int64_t{1} << e;
      for (int d = 0; d < 4; ++d) {
        for (const bool sorted : {false, true}) all.push_back({items, items / 2, d, sorted});
      }
    }
    return all;
  }
  static row name(const ranked_point& p) {
    return {(p.sorted ? "top_k_sorted." : "top_k.") +
                (2 * p.k == p.n ? std::string("half") : "k" + std::to_string(p.k)),
            backend_name<Exec>(),
            "",
            type_name<T>(),
            ranked_item<T>::names[p.distribution],
            p.n};
  }
  explicit top_k_problem(const ranked_point& p) : n(p.n), k(p.k), sorted(p.sorted) {
    fill(exec, in, ranked_item<T>{p.distribution, n});
  }
  std::int64_t bytes() const { return (n + k) * static_cast<std::int64_t>(sizeof(T)); }

  /// All results are at least the least of them, and what is greater is among them: as sums tell.
  bool correct() const {
    T least{};
    Kokkos::parallel_reduce("perf::least", range<Exec>(exec, 0, k), least_item{out},
                            Kokkos::Min<T>(least));
    const std::int64_t greater = sum<std::int64_t>(exec, n, is_greater{in, least});
    const std::uint64_t expected = sum<std::uint64_t>(exec, n, hash_of_greater{{in, least}}) +
                                   static_cast<std::uint64_t>(k - greater) * hash(least);
    return greater < k && expected == sum<std::uint64_t>(exec, k, hash_of{out}) &&
           sum<std::int64_t>(exec, n, is_least{in, least}) >= k - greater;
  }
  struct least_item {
    array<Exec, T> items;
    KOKKOS_FUNCTION void operator()(std::int64_t i, T& x) const {
      if (items(i) < x) x = items(i);
    }
  };
  struct is_greater {
    array<Exec, T> items;
    T least;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const { return items(i) > least; }
  };
  struct is_least {
    array<Exec, T> items;
    T least;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const { return items(i) == least; }
  };
  /// For numbers in floating point the hash is that of 2^24 times as much, as a whole number.
  static KOKKOS_FUNCTION std::uint64_t hash(const T& x) {
    if constexpr (std::is_floating_point_v<T>) {
      return perf::hash(static_cast<std::uint64_t>(x * static_cast<T>(1 << 24)));
    } else {
      return perf::hash(x);
    }
  }
  struct hash_of_greater {
    is_greater is;
    KOKKOS_FUNCTION std::uint64_t operator()(std::int64_t i) const {
      return is(i) ? hash(is.items(i)) : 0;
    }
  };
  struct hash_of {
    array<Exec, T> items;
    KOKKOS_FUNCTION std::uint64_t operator()(std::int64_t i) const { return hash(items(i)); }
  };
};

/// The item in the middle of the order.
template <class Exec, class T>
struct nth_problem {
  using exec_space = Exec;
  using item = T;

  Exec exec{};
  std::int64_t n;
  std::int64_t nth;
  array<Exec, T> in{"perf::in", static_cast<std::size_t>(n)};
  Kokkos::View<T, typename Exec::memory_space> result{"perf::result"};

  static std::vector<ranked_point> points() {
    std::vector<ranked_point> result;
    for (const std::int64_t n : sizes<Exec>(sizeof(T))) result.push_back({n, n / 2, 0});
    return result;
  }
  static row name(const ranked_point& p) {
    return {"nth_element", backend_name<Exec>(), "", type_name<T>(), "uniform", p.n};
  }
  explicit nth_problem(const ranked_point& p) : n(p.n), nth(p.k) {
    fill(exec, in, ranked_item<T>{p.distribution, n});
  }
  std::int64_t bytes() const { return n * static_cast<std::int64_t>(sizeof(T)); }
  bool correct() const {
    T x{};
    Kokkos::deep_copy(x, result);
    const std::int64_t equal =
        sum<std::int64_t>(exec, n, typename top_k_problem<Exec, T>::is_least{in, x});
    const std::int64_t greater =
        sum<std::int64_t>(exec, n, typename top_k_problem<Exec, T>::is_greater{in, x});
    return n - greater - equal <= nth && nth < n - greater;
  }
};

/// Whether items are sorted, which they are.
template <class Exec, class T>
struct is_sorted_problem {
  using exec_space = Exec;
  using item = T;

  Exec exec{};
  std::int64_t n;
  array<Exec, T> in{"perf::in", static_cast<std::size_t>(n)};
  Kokkos::View<std::int32_t, typename Exec::memory_space> result{"perf::result"};

  static std::vector<ranked_point> points() {
    std::vector<ranked_point> result;
    for (const std::int64_t n : sizes<Exec>(sizeof(T))) result.push_back({n, 0, 1});
    return result;
  }
  static row name(const ranked_point& p) {
    return {"is_sorted", backend_name<Exec>(), "", type_name<T>(), "sorted", p.n};
  }
  explicit is_sorted_problem(const ranked_point& p) : n(p.n) {
    fill(exec, in, ranked_item<T>{p.distribution, n});
  }
  std::int64_t bytes() const { return n * static_cast<std::int64_t>(sizeof(T)); }
  bool correct() const {
    std::int32_t is = 0;
    Kokkos::deep_copy(is, result);
    return is == 1;
  }
};

template <class Exec, class T>
void add_lanewise_top_k_of() {
  using top = top_k_problem<Exec, T>;
  add<top>("lanewise", [](top& p, auto time) {
    lanewise::workspace work;
    time([&] { lanewise::top_k(p.exec, p.in, p.k, p.out, {.work = &work, .sorted = p.sorted}); });
  });
}
template <class Exec>
void add_lanewise_top_k() {
  add_lanewise_top_k_of<Exec, std::uint32_t>();
  add_lanewise_top_k_of<Exec, float>();
  add_lanewise_top_k_of<Exec, std::uint64_t>();
  using nth = nth_problem<Exec, std::uint32_t>;
  add<nth>("lanewise", [](nth& p, auto time) {
    lanewise::workspace work;
    time([&] { lanewise::nth_element(p.exec, p.in, p.nth, p.result, {.work = &work}); });
  });
  using sorted = is_sorted_problem<Exec, std::uint32_t>;
  add<sorted>("lanewise", [](sorted& p, auto time) {
    lanewise::workspace work;
    time([&] { lanewise::is_sorted(p.exec, p.in, p.result, lanewise::less{}, {.work = &work}); });
  });
}

void add_top_k_cuda();
void add_top_k_host();

}  // namespace lanewise::perf
