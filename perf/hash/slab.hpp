// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is measured of the slab family: its problems, which bench_slab.cpp adds Lanewise's variants
// of, and bench_slab.peers.cpp those of others.

#include "support.hpp"
#include <lanewise/hash/slab_hash_map.hpp>
#include <lanewise/hash/slab_sort.hpp>

#include <cmath>
#include <initializer_list>
#include <string>

namespace lanewise::perf {

/// name and numbers: mixed50_50_0.
inline std::string with_numbers(std::string name, std::initializer_list<std::int64_t> numbers) {
  const char* between = "";
  for (const std::int64_t number : numbers) {
    name += between;
    name += std::to_string(number);
    between = "_";
  }
  return name;
}

/// Elements, or operations, and how full the table is: elements per slot of the first slabs.
struct slab_point {
  std::int64_t n;
  double load;
  std::string distribution;
};

/// The share of all slabs' bytes that elements of a map from T to T have, if keys spread at random:
/// lists are Poisson distributed around load times the elements of a slab, and have one slab at
/// least.
template <class T>
double expected_utilisation(double load) {
  constexpr int elements = detail::slab_layout<T, T>::elements;
  const double mean = load * elements;
  double slabs = 0;
  double share = std::exp(-mean);  // of the lists, with x elements
  for (int x = 0; x < mean + 20 * std::sqrt(mean) + 40; ++x) {
    slabs += share * std::max(1, (x + elements - 1) / elements);
    share *= mean / (x + 1);
  }
  return mean * detail::slab_layout<T, T>::element_bytes / (128 * slabs);
}

/// The least load with this utilisation.
template <class T>
double load_for(double utilisation) {
  double load = 0.1;
  while (expected_utilisation<T>(load) < utilisation) load += 0.005;
  return load;
}

/// The utilisations that rates are compared at: one for all sizes, and another, on GPUs for one
/// size only, as rows of 2^28 elements take seconds each. And a wide range of loads at the paper's
/// size, for its figures.
template <class Exec, class T>
std::vector<slab_point> standard_points() {
  std::vector<slab_point> points;
  std::vector<std::int64_t> sizes{100'000, 1'000'000, 10'000'000, 100'000'000};
  if (!on_host<Exec>) {
    sizes.clear();
    for (int e = 20; e <= 28; e += 2) sizes.push_back(std::int64_t{1} << e);
  }
  for (const std::int64_t n : sizes) {
    points.push_back({n, load_for<T>(0.55), "util55"});
    if (on_host<Exec> || n == std::int64_t{1} << 24)
      points.push_back({n, load_for<T>(0.65), "util65"});
  }
  return points;
}
template <class T>
std::vector<slab_point> figure_points() {
  if constexpr (sizeof(T) != 4) return {};
  std::vector<slab_point> points;
  for (const int percent : {10, 20, 40, 60, 70, 80, 90, 100, 110, 150, 200, 300, 500})
    points.push_back({std::int64_t{1} << 22, 0.01 * percent, with_numbers("load", {percent})});
  return points;
}

/// Distinct keys: even ones are in the table, odd ones are not. An odd factor, modulo a power of
/// two, takes every value once, in no order.
template <class Key>
struct slab_key {
  std::uint32_t missing;
  KOKKOS_FUNCTION Key operator()(std::int64_t i) const {
    const auto mixed = static_cast<std::uint32_t>(i) * 0x9E3779B1u << 1 | missing;
    return static_cast<Key>(mixed) * static_cast<Key>(sizeof(Key) == 8 ? 0x100000001u : 1u);
  }
};
template <class T>
struct slab_value {
  KOKKOS_FUNCTION T operator()(std::int64_t i) const { return static_cast<T>(3 * i + 1); }
};
/// A permutation of [0, n) for every n below the prime.
KOKKOS_INLINE_FUNCTION std::int64_t shuffled_place(std::int64_t i, std::int64_t n) {
  return i * 2654435761 % n;
}

/// Keys, values, queries in another order than the keys, and answers.
template <class Exec, class T>
struct slab_problem {
  using exec_space = Exec;
  using item = T;
  using point = slab_point;
  using map = slab_hash_map<T, T, typename Exec::memory_space>;

  Exec exec{};
  std::int64_t n;
  double load;
  workspace work;
  array<Exec, T> keys{"perf::keys", static_cast<std::size_t>(n)};
  array<Exec, T> values{"perf::values", static_cast<std::size_t>(n)};
  array<Exec, T> queries{"perf::queries", static_cast<std::size_t>(n)};
  array<Exec, T> answers{"perf::answers", static_cast<std::size_t>(n)};
  double utilisation = 0;  // of the full table

  static std::vector<point> points(bool in_figures) {
    auto points = standard_points<Exec, T>();
    if (in_figures) {
      for (const auto& p : figure_points<T>()) points.push_back(p);
    }
    return points;
  }
  static row name(const std::string& algorithm, const point& p) {
    return {"slab_hash_map." + algorithm,          backend_name<Exec>(), "",
            type_name<T>() + "." + type_name<T>(), p.distribution,       p.n};
  }

  slab_problem(const point& p, bool hit) : n(p.n), load(p.load) {
    fill(exec, keys, slab_key<T>{0});
    fill(exec, values, slab_value<T>{});
    fill(exec, queries, shuffled{n, hit});
  }
  std::int64_t bytes() const { return n * static_cast<std::int64_t>(128 + 2 * sizeof(T)); }
  void record(benchmark::UserCounters& counters) const { counters["utilisation"] = utilisation; }

  map empty_map() const { return map(exec, {.expected = n, .load = load}); }
  void put_all(map& table) {
    insert(exec, table, keys, values, {.work = &work});
    utilisation = statistics(exec, table).utilisation;
  }

  /// Query i asks for key shuffled_place(i), or for as many keys that are not there.
  struct shuffled {
    std::int64_t n;
    bool hit;
    KOKKOS_FUNCTION T operator()(std::int64_t i) const {
      return slab_key<T>{hit ? 0u : 1u}(shuffled_place(i, n));
    }
  };
};

/// Finds all keys, or as many others.
template <class Exec, class T, bool hit, bool batched>
struct find_problem : slab_problem<Exec, T> {
  using base = slab_problem<Exec, T>;
  typename base::map table = base::empty_map();

  explicit find_problem(const slab_point& p) : base(p, hit) { base::put_all(table); }
  static std::vector<slab_point> points() { return base::points(!batched); }
  static row name(const slab_point& p) {
    return base::name(batched ? "find_batched" : hit ? "find_hit" : "find_miss", p);
  }
  bool correct() const { return sum<std::int64_t>(this->exec, this->n, wrong{this->answers}) == 0; }
  struct wrong {
    array<Exec, T> answers;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const {
      const std::int64_t place = shuffled_place(i, static_cast<std::int64_t>(answers.extent(0)));
      return answers(i) != (hit ? slab_value<T>{}(place) : T{0});
    }
  };
};

/// Fills an empty table, or erases all that a full one has.
enum class change { insert, build, erase };
template <class Exec, class T, change what>
struct change_problem : slab_problem<Exec, T> {
  using base = slab_problem<Exec, T>;
  typename base::map table = base::empty_map();

  explicit change_problem(const slab_point& p) : base(p, true) {
    base::put_all(table);  // the pool has its size from here on
  }
  static std::vector<slab_point> points() { return base::points(what == change::insert); }
  static row name(const slab_point& p) {
    return base::name(what == change::insert  ? "insert"
                      : what == change::build ? "build"
                                              : "erase",
                      p);
  }
  bool correct() const {
    const std::int64_t there = statistics(this->exec, table).elements;
    return there == (what == change::erase ? 0 : this->n);
  }
};

/// Fills a table that was told no number of elements.
template <class Exec, class T>
struct growing_problem : slab_problem<Exec, T> {
  using base = slab_problem<Exec, T>;
  using map = typename base::map;
  map table = map(this->exec);

  explicit growing_problem(const slab_point& p) : base(p, true) {}
  static std::vector<slab_point> points() {
    std::vector<slab_point> result;
    for (const int e : {20, 24}) result.push_back({std::int64_t{1} << e, 0, "unexpected"});
    return result;
  }
  static row name(const slab_point& p) { return base::name("insert", p); }
  void begin_again() { table = map(this->exec); }
  bool correct() const { return statistics(this->exec, table).elements == this->n; }
};

/// Batches of keys, one after the other, until the table is full (Ashkiani, 5.6.2).
struct batches_point : slab_point {
  std::int64_t batch;
};
template <class Exec, class T>
struct incremental_problem : change_problem<Exec, T, change::insert> {
  using base = change_problem<Exec, T, change::insert>;
  using point = batches_point;
  std::int64_t batch;

  explicit incremental_problem(const point& p) : base(p), batch(p.batch) {}
  static std::vector<point> points() {
    const auto full = [](int e, int batch) -> point {
      return {{std::int64_t{1} << e, load_for<T>(0.65), "util65"}, std::int64_t{1} << batch};
    };
    return {full(24, 20), full(21, 17), full(21, 16), full(21, 15)};
  }
  static row name(const point& p) {
    return slab_problem<Exec, T>::name(with_numbers("incremental.b", {p.batch}), p);
  }
  /// The keys or values of items [begin, end).
  static auto part(const array<Exec, T>& of, std::int64_t begin, std::int64_t end) {
    return Kokkos::subview(of, Kokkos::make_pair(begin, end));
  }
};

/// Operations in percent and at random, in a table of n elements (Ashkiani, 5.6.3): insertions of
/// new keys, deletions of keys that are there, and searches of keys that are there and of others.
/// No two operations of a call have the same key, so that what must come of each is known.
struct mix {
  int insert, erase, hit, miss;
};
struct mix_point : slab_point {
  mix shares;
};
template <class Exec, class T>
struct mixed_problem : slab_problem<Exec, T> {
  using base = slab_problem<Exec, T>;
  using point = mix_point;
  enum kind { insertion, deletion, hit, miss };

  /// What operation i is, which key it has, and what must be in its place afterwards.
  struct item_of {
    std::int64_t n;
    mix shares;

    KOKKOS_FUNCTION kind what(std::int64_t i) const {
      const int r = static_cast<int>(hash(static_cast<std::uint64_t>(i)) % 100);
      if (r < shares.insert) return insertion;
      if (r < shares.insert + shares.erase) return deletion;
      return r < 100 - shares.miss ? hit : miss;
    }
    KOKKOS_FUNCTION table_operation operation(std::int64_t i) const {
      const kind k = what(i);
      return k == insertion  ? table_operation::insert
             : k == deletion ? table_operation::erase
                             : table_operation::find;
    }
    KOKKOS_FUNCTION T key(std::int64_t i) const {
      const kind k = what(i);
      return slab_key<T>{k == miss ? 1u : 0u}(k == insertion ? n + i : shuffled_place(i, n));
    }
    KOKKOS_FUNCTION T answer(std::int64_t i) const {
      const kind k = what(i);
      return k == insertion ? slab_value<T>{}(n + i)
             : k == hit     ? slab_value<T>{}(shuffled_place(i, n))
                            : T{0};
    }
  };
  struct operation_of : item_of {
    KOKKOS_FUNCTION table_operation operator()(std::int64_t i) const { return this->operation(i); }
  };
  struct key_of : item_of {
    KOKKOS_FUNCTION T operator()(std::int64_t i) const { return this->key(i); }
  };
  struct given_of : item_of {
    KOKKOS_FUNCTION T operator()(std::int64_t i) const {
      return this->what(i) == insertion ? this->answer(i) : T{0};
    }
  };
  struct is_kind : item_of {
    kind wanted;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const { return this->what(i) == wanted; }
  };
  struct wrong : item_of {
    array<Exec, T> answers;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const {
      const bool unknown = this->what(i) == deletion;
      return !unknown && answers(i) != this->answer(i);
    }
  };

  mix shares;
  typename base::map table = base::empty_map();
  array<Exec, table_operation> operations{"perf::operations", static_cast<std::size_t>(this->n)};
  Kokkos::View<status_counts, typename Exec::memory_space> tally{"perf::tally"};

  explicit mixed_problem(const point& p) : base(p, true), shares(p.shares) {
    const item_of items{this->n, shares};
    fill(this->exec, operations, operation_of{items});
    fill(this->exec, this->queries, key_of{items});
    base::put_all(table);
    prepare();
  }
  void prepare() {
    clear(this->exec, table);
    insert(this->exec, table, this->keys, this->values, {.work = &this->work});
    fill(this->exec, this->answers, given_of{{this->n, shares}});
    Kokkos::deep_copy(tally, status_counts{});
  }
  /// The paper's three mixes at its size; what is neither search nor update alone everywhere.
  static std::vector<point> points() {
    std::vector<point> points;
    for (const auto& p : standard_points<Exec, T>()) points.push_back({p, {10, 10, 40, 40}});
    for (const auto& p : figure_points<T>()) {
      for (const mix& m :
           {mix{50, 50, 0, 0}, mix{20, 20, 30, 30}, mix{10, 10, 40, 40}, mix{0, 0, 50, 50}})
        points.push_back({p, m});
    }
    return points;
  }
  static row name(const point& p) {
    const mix& m = p.shares;
    return base::name(with_numbers("mixed", {m.insert, m.erase, m.hit + m.miss}), p);
  }
  bool correct() const {
    status_counts t;
    Kokkos::deep_copy(Kokkos::View<status_counts, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(&t),
                      tally);
    const item_of items{this->n, shares};
    const auto as_often = [&](table_status s, kind k) {
      return t[s] == sum<std::uint64_t>(this->exec, this->n, is_kind{items, k});
    };
    return as_often(table_status::inserted, insertion) &&
           as_often(table_status::erased, deletion) && as_often(table_status::found, hit) &&
           as_often(table_status::absent, miss) &&
           sum<std::int64_t>(this->exec, this->n, wrong{items, this->answers}) == 0;
  }
};

/// n units allocated from a pool that is then full to two thirds; with churn each is given back at
/// once.
template <class Exec, bool churn, pool_kind kind = pool_kind::growing>
struct allocator_problem {
  using exec_space = Exec;
  using point = slab_point;
  using allocator = slab_allocator<typename Exec::memory_space, kind>;

  Exec exec{};
  std::int64_t n;
  allocator pool{exec, churn ? n / 8 : n + n / 2};
  array<Exec, std::uint64_t> failed{"perf::failed", 1};

  static std::vector<point> points() {
    const int largest = on_host<Exec> ? 22 : 26;
    std::vector<point> points;
    for (int e = 20; e <= largest; e += 2) points.push_back({std::int64_t{1} << e, 0, "util66"});
    return points;
  }
  static row name(const point& p) {
    return {churn ? "slab_allocator.churn" : "slab_allocator.allocate",
            backend_name<Exec>(),
            "",
            "units",
            p.distribution,
            p.n};
  }
  explicit allocator_problem(const point& p) : n(p.n) {}
  std::int64_t bytes() const { return n / 8; }
  void prepare() {
    if constexpr (!churn) pool = allocator(exec, n + n / 2);
  }
  bool correct() const {
    std::uint64_t f = 0;
    Kokkos::deep_copy(
        Kokkos::View<std::uint64_t[1], Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(&f), failed);
    return f == 0 && usage(exec, pool).allocated == (churn ? 0 : n);
  }
};

void add_slab_peers();

}  // namespace lanewise::perf
