// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is measured of LSMs: problems, which bench_lsm.cpp adds Lanewise's variants of and
// bench_lsm.cuda.cpp CUB's.

#include "support.hpp"
#include <lanewise/lsm/lsm_map.hpp>

#include <string>

namespace lanewise::perf {

enum class lsm_order { uniform, ascending, zipf };

/// A total of elements that come in batches of 2^e, and how many queries there are.
struct lsm_point {
  std::int64_t n;
  int e;
  std::int64_t elements;
  std::int64_t length = 0;  // expected, of a range
  lsm_order order = lsm_order::uniform;
};

/// Even keys are in the map, odd ones are not. Random; or in the order that they come in; or key k
/// of 2^24 with a probability of about 1 / k.
template <class T>
struct lsm_key {
  bool missing;
  std::uint64_t salt;
  lsm_order order = lsm_order::uniform;
  KOKKOS_FUNCTION T operator()(std::int64_t i) const {
    const std::uint64_t random = hash(static_cast<std::uint64_t>(i) + salt);
    T x = static_cast<T>(random) & ~T{1};
    if (order == lsm_order::ascending) x = static_cast<T>(2 * i);
    if (order == lsm_order::zipf)
      x = static_cast<T>(hash(static_cast<std::uint64_t>(
              Kokkos::exp2(24 * (static_cast<double>(random >> 11) * 0x1p-53))))) &
          ~T{1};
    return missing ? x | T{1} : x;
  }
};
template <class T>
KOKKOS_INLINE_FUNCTION T lsm_value_of(T key) {
  return static_cast<T>(3 * key + 1);
}

/// Arrays of `elements` pairs, and a map of them.
template <class Exec, class T>
struct lsm_problem {
  using exec_space = Exec;
  using item = T;
  using point = lsm_point;
  using map_type = lsm_map<T, T, typename Exec::memory_space>;

  Exec exec{};
  std::int64_t n;
  std::int64_t batch;
  std::int64_t elements;
  workspace work;
  array<Exec, T> keys{"perf::keys", static_cast<std::size_t>(elements)};
  array<Exec, T> values{"perf::values", static_cast<std::size_t>(elements)};
  map_type map;

  explicit lsm_problem(const point& p)
      : n(p.n), batch(std::int64_t{1} << p.e), elements(p.elements) {
    fill(exec, keys, lsm_key<T>{false, 0, p.order});
    fill(exec, values, value_at{keys});
    exec.fence();
  }
  struct value_at {
    array<Exec, T> keys;
    KOKKOS_FUNCTION T operator()(std::int64_t i) const { return lsm_value_of(keys(i)); }
  };
  static row name(const std::string& algorithm, const point& p) {
    return {"lsm_map." + algorithm,
            backend_name<Exec>(),
            "",
            type_name<T>() + "." + type_name<T>(),
            p.order == lsm_order::uniform     ? "uniform"
            : p.order == lsm_order::ascending ? "ascending"
                                              : "zipf",
            p.n};
  }
  static std::string of_batch(const std::string& algorithm, const point& p) {
    return algorithm + ".b" + std::to_string(p.e);
  }
  template <class Map>
  void put(Map& to, std::int64_t begin, std::int64_t end) {
    const auto part = Kokkos::make_pair(begin, end);
    insert(exec, to, Kokkos::subview(keys, part), Kokkos::subview(values, part), {.work = &work});
  }
  template <class Map>
  void put_all(Map& to) {
    for (std::int64_t at = 0; at < elements; at += batch) put(to, at, at + batch);
  }
};

/// All batches one after the other: the harmonic mean over all numbers of batches.
template <class Exec, class T>
struct lsm_insert_problem : lsm_problem<Exec, T> {
  using base = lsm_problem<Exec, T>;
  using base::base;
  static std::vector<lsm_point> points() {
    const std::int64_t all = std::int64_t{1} << (on_host<Exec> ? 23 : 27);
    std::vector<lsm_point> p{{all, 16, all}, {all, 20, all}};
    if (!on_host<Exec>) p.push_back({all, 24, all});
    for (const auto order : {lsm_order::ascending, lsm_order::zipf})
      p.push_back({all, 20, all, 0, order});
    return p;
  }
  static row name(const lsm_point& p) { return base::name(base::of_batch("insert", p), p); }
  std::int64_t bytes() const { return 4 * this->n * static_cast<std::int64_t>(sizeof(T)); }
  bool correct() {
    const std::int64_t some = std::min<std::int64_t>(this->n, 1 << 20);
    const array<Exec, T> found("perf::found", some);
    find(this->exec, this->map,
         Kokkos::subview(this->keys, Kokkos::make_pair(this->n - some, this->n)), found);
    return sum<std::int64_t>(this->exec, some, wrong{this->values, found, this->n - some}) == 0;
  }
  struct wrong {
    array<Exec, T> values, found;
    std::int64_t first;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const { return found(i) != values(first + i); }
  };
};

/// Queries of a map with the mean number of levels of all numbers of batches up to 2^24 elements:
/// every other digit of the number of batches is 1.
template <class Exec>
std::vector<lsm_point> lsm_find_points() {
  if (on_host<Exec>)
    return {{1 << 20, 16, std::int64_t{42} << 16}, {1 << 20, 20, std::int64_t{10} << 20}};
  constexpr std::int64_t n = 1 << 24;
  constexpr std::int64_t ten = std::int64_t{10} << 20;
  return {{n, 16, std::int64_t{170} << 16},
          {n, 20, ten},
          {n, 24, n},
          {n, 20, ten, 0, lsm_order::ascending},
          {n, 20, ten, 0, lsm_order::zipf}};
}
template <class Exec, class T, bool hit>
struct lsm_find_problem : lsm_problem<Exec, T> {
  using base = lsm_problem<Exec, T>;
  array<Exec, T> queries{"perf::queries", static_cast<std::size_t>(this->n)};
  array<Exec, T> answers{"perf::answers", static_cast<std::size_t>(this->n)};

  explicit lsm_find_problem(const lsm_point& p) : base(p) {
    fill(this->exec, queries, query{this->elements, p.order});
    this->put_all(this->map);
  }
  static std::vector<lsm_point> points() { return lsm_find_points<Exec>(); }
  static row name(const lsm_point& p) {
    return base::name(base::of_batch(hit ? "find_hit" : "find_miss", p), p);
  }
  struct query {
    std::int64_t elements;
    lsm_order order;
    KOKKOS_FUNCTION T operator()(std::int64_t i) const {
      const auto at = static_cast<std::int64_t>(hash(static_cast<std::uint64_t>(i) + 77) %
                                                static_cast<std::uint64_t>(elements));
      return lsm_key<T>{!hit, 0, order}(at);
    }
  };
  struct wrong {
    array<Exec, T> queries, answers;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const {
      return answers(i) != (hit ? lsm_value_of(queries(i)) : T{0});
    }
  };
  std::int64_t bytes() const { return this->n * static_cast<std::int64_t>(3 * sizeof(T) + 64); }
  bool correct() const {
    return sum<std::int64_t>(this->exec, this->n, wrong{queries, answers}) == 0;
  }
};

/// Ranges of an expected length in a map of ten batches of 2^20.
template <class Exec, class T, bool counts>
struct lsm_range_problem : lsm_problem<Exec, T> {
  using base = lsm_problem<Exec, T>;
  array<Exec, T> k1{"perf::k1", static_cast<std::size_t>(this->n)};
  array<Exec, T> k2{"perf::k2", static_cast<std::size_t>(this->n)};
  array<Exec, std::int64_t> numbers{"perf::numbers", static_cast<std::size_t>(this->n + 1)};
  array<Exec, T> keys_out, values_out;  // none while they are counted
  std::int64_t all = 0;

  explicit lsm_range_problem(const lsm_point& p) : base(p) {
    const T width =
        static_cast<T>(std::numeric_limits<T>::max() / static_cast<std::uint64_t>(p.elements) *
                       static_cast<std::uint64_t>(p.length));
    fill(this->exec, k1, lower{width});
    fill(this->exec, k2, upper{k1, width});
    this->put_all(this->map);
    all = lanewise::range(this->exec, this->map, k1, k2, numbers, keys_out, values_out);
    if (!counts) {
      keys_out = array<Exec, T>("perf::keys_out", static_cast<std::size_t>(all));
      values_out = array<Exec, T>("perf::values_out", static_cast<std::size_t>(all));
    }
  }
  struct lower {
    T width;
    KOKKOS_FUNCTION T operator()(std::int64_t i) const {
      return lsm_key<T>{false, 999}(i) % (static_cast<T>(-1) - width);
    }
  };
  struct upper {
    array<Exec, T> k1;
    T width;
    KOKKOS_FUNCTION T operator()(std::int64_t i) const { return k1(i) + width; }
  };
  static std::vector<lsm_point> points() {
    const std::int64_t elements = std::int64_t{10} << 20;
    if (on_host<Exec>) return {{1 << 16, 20, elements, 8}, {1 << 12, 20, elements, 1024}};
    return {{1 << 22, 20, elements, 8}, {1 << 18, 20, elements, 1024}};
  }
  static row name(const lsm_point& p) {
    return base::name((counts ? "count.l" : "range.l") + std::to_string(p.length), p);
  }
  struct wrong {
    array<Exec, T> keys, values;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const {
      return values(i) != lsm_value_of(keys(i));
    }
  };
  struct number {
    array<Exec, std::int64_t> numbers;
    KOKKOS_FUNCTION std::int64_t operator()(std::int64_t i) const { return numbers(i); }
  };
  std::int64_t bytes() const {
    return static_cast<std::int64_t>(sizeof(T)) * (3 * this->n + (counts ? 1 : 4) * all);
  }
  bool correct() const {
    if (counts) return sum<std::int64_t>(this->exec, this->n, number{numbers}) == all;
    return all > 0 && sum<std::int64_t>(this->exec, all, wrong{keys_out, values_out}) == 0;
  }
};

/// 63 batches of 2^20: every tenth erases what the one before put there.
template <class Exec, class T>
struct lsm_cleanup_problem : lsm_problem<Exec, T> {
  using base = lsm_problem<Exec, T>;
  typename base::map_type full;
  std::int64_t kept = 0;

  explicit lsm_cleanup_problem(const lsm_point& p) : base(p) {
    for (std::int64_t at = 0, b = 0; at < this->elements; at += this->batch, ++b) {
      if (b % 10 == 9) {
        erase(this->exec, full,
              Kokkos::subview(this->keys, Kokkos::make_pair(at - this->batch, at)));
      } else {
        this->put(full, at, at + this->batch);
      }
    }
    kept = size(this->exec, full);
  }
  static std::vector<lsm_point> points() {
    const int e = on_host<Exec> ? 16 : 20;
    return {{std::int64_t{63} << e, e, std::int64_t{63} << e}};
  }
  static row name(const lsm_point& p) { return base::name("cleanup", p); }
  std::int64_t bytes() const { return 8 * this->n * static_cast<std::int64_t>(sizeof(T)); }
  bool correct() const { return this->map.elements() == kept; }
};

template <class Exec, class T>
struct lsm_build_problem : lsm_insert_problem<Exec, T> {
  using base = lsm_insert_problem<Exec, T>;
  array<Exec, T> keys_out{"perf::keys_out", static_cast<std::size_t>(this->n)};
  array<Exec, T> values_out{"perf::values_out", static_cast<std::size_t>(this->n)};
  bool is_peer = false;
  using base::base;
  static std::vector<lsm_point> points() {
    if (on_host<Exec>) return {{1 << 23, 23, 1 << 23}};
    return {{1 << 24, 24, 1 << 24}, {1 << 26, 26, 1 << 26}};
  }
  static row name(const lsm_point& p) { return lsm_problem<Exec, T>::name("build", p); }
  bool correct() { return is_peer || base::correct(); }
};

/// The units that add variants of these.
void add_lsm_peers();
void add_lsm_tables();

}  // namespace lanewise::perf
