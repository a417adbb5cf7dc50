// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Merge sorts, merges and set operations: the problems, and Lanewise's variants of them.
// bench_merge.<where>.cpp add the peers.

#include "support.hpp"
#include <lanewise/merge/merge.hpp>
#include <lanewise/merge/merge_sort.hpp>
#include <lanewise/merge/set_operations.hpp>

#include <string>

namespace lanewise::perf {

/// A size, and whether the items are sorted already.
struct sort_point {
  std::int64_t n;
  bool sorted;
};

/// The sum of hashes of items, which their order does not change.
template <class Exec, class T>
struct hash_at {
  array<Exec, T> items;
  KOKKOS_FUNCTION std::uint64_t operator()(std::int64_t i) const { return hash(items(i)); }
};

/// Items in random order, or sorted; V: values beside them, void for none.
template <class Exec, class T, class V>
struct merge_sort_problem {
  using exec_space = Exec;
  using item = T;
  static constexpr bool paired = !std::is_void_v<V>;
  using value = std::conditional_t<paired, V, char>;

  Exec exec{};
  std::int64_t n;
  array<Exec, T> in{"perf::in", static_cast<std::size_t>(n)};
  array<Exec, T> out{"perf::out", static_cast<std::size_t>(n)};
  array<Exec, value> values{"perf::values", static_cast<std::size_t>(paired ? n : 0)};
  array<Exec, value> values_out{"perf::values_out", static_cast<std::size_t>(paired ? n : 0)};

  explicit merge_sort_problem(const sort_point& p) : n(p.n) {
    fill(exec, in, item_at{p.sorted});
    if constexpr (paired) fill(exec, values, value_at{});
  }
  static std::vector<sort_point> points() {
    std::vector<sort_point> result;
    for (const bool sorted : {false, true}) {
      for (const std::int64_t n : sizes<Exec>(sizeof(T))) {
        if (n <= bound_items) result.push_back({n, sorted});
      }
    }
    for (const int e : {10, 12, 14, 18, 22}) result.push_back({std::int64_t{1} << e, false});
    return result;
  }
  static row name(const sort_point& p) {
    std::string type = type_name<T>();
    if constexpr (paired) type += "." + type_name<V>();
    return {"merge_sort", backend_name<Exec>(), "", type, p.sorted ? "sorted" : "uniform", p.n};
  }
  std::int64_t bytes() const { return 2 * n * (sizeof(T) + (paired ? sizeof(value) : 0)); }
  /// Sorted, the items are the same, values are beside their keys, and those of equal keys ascend.
  bool correct() const {
    return sum<std::int64_t>(exec, n, wrong{in, out, values_out, n}) == 0 &&
           sum<std::uint64_t>(exec, n, hash_at<Exec, T>{in}) ==
               sum<std::uint64_t>(exec, n, hash_at<Exec, T>{out});
  }

  struct item_at {
    bool sorted;
    KOKKOS_FUNCTION T operator()(std::int64_t i) const {
      return sorted ? static_cast<T>(i) : static_cast<T>(hash(i));
    }
  };
  struct value_at {
    KOKKOS_FUNCTION value operator()(std::int64_t i) const { return static_cast<value>(i); }
  };
  struct wrong {
    array<Exec, T> in, out;
    array<Exec, value> values;
    std::int64_t n;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const {
      if constexpr (paired) {
        if (in(values(i)) != out(i)) return true;
        if (i > 0 && out(i - 1) == out(i) && values(i - 1) >= values(i)) return true;
      }
      return i > 0 && out(i) < out(i - 1);
    }
  };
};

struct merge_point {
  std::int64_t n;
};

/// Two sorted sequences of half the items each: item i of either is one of 16 numbers, 16 i to
/// 16 i + 15.
template <class Exec, class T, class V>
struct merge_problem {
  using exec_space = Exec;
  using item = T;
  static constexpr bool paired = !std::is_void_v<V>;
  using value = std::conditional_t<paired, V, char>;

  Exec exec{};
  std::int64_t n;
  std::int64_t half = n / 2;
  array<Exec, T> a{"perf::a", static_cast<std::size_t>(half)};
  array<Exec, T> b{"perf::b", static_cast<std::size_t>(half)};
  array<Exec, T> out{"perf::out", static_cast<std::size_t>(n)};
  array<Exec, value> values_a{"perf::values_a", static_cast<std::size_t>(paired ? half : 0)};
  array<Exec, value> values_b{"perf::values_b", static_cast<std::size_t>(paired ? half : 0)};
  array<Exec, value> values_out{"perf::values_out", static_cast<std::size_t>(paired ? n : 0)};
  Kokkos::View<std::int64_t, typename Exec::memory_space> count{"perf::count"};

  explicit merge_problem(const merge_point& p) : n(p.n) {
    fill(exec, a, item_at{0});
    fill(exec, b, item_at{std::int64_t{1} << 40});
    if constexpr (paired) {
      fill(exec, values_a, value_at{0});
      fill(exec, values_b, value_at{half});
    }
  }
  static std::vector<merge_point> points() {
    std::vector<merge_point> result;
    for (const std::int64_t m : sizes<Exec>(sizeof(T))) {
      if (m <= bound_items) result.push_back({m});
    }
    if (!on_host<Exec>) result.push_back({std::int64_t{1} << 27});
    return result;
  }
  static row name(const merge_point& p) {
    std::string type = type_name<T>();
    if constexpr (paired) type += "." + type_name<V>();
    return {"merge", backend_name<Exec>(), "", type, "uniform", p.n};
  }
  std::int64_t bytes() const { return 2 * n * (sizeof(T) + (paired ? sizeof(value) : 0)); }
  bool correct() const {
    return sum<std::int64_t>(exec, n, wrong{a, b, out, values_out, half}) == 0 &&
           sum<std::uint64_t>(exec, half, hash_at<Exec, T>{a}) +
                   sum<std::uint64_t>(exec, half, hash_at<Exec, T>{b}) ==
               sum<std::uint64_t>(exec, n, hash_at<Exec, T>{out});
  }

  struct item_at {
    std::int64_t salt;
    KOKKOS_FUNCTION T operator()(std::int64_t i) const {
      return static_cast<T>(16 * i + static_cast<std::int64_t>(hash(i + salt) & 15));
    }
  };
  struct value_at {
    std::int64_t first;
    KOKKOS_FUNCTION value operator()(std::int64_t i) const { return static_cast<value>(first + i); }
  };
  struct wrong {
    array<Exec, T> a, b, out;
    array<Exec, value> values;
    std::int64_t half;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const {
      if constexpr (paired) {
        const auto from = static_cast<std::int64_t>(values(i));
        if ((from < half ? a(from) : b(from - half)) != out(i)) return true;
        if (i > 0 && out(i - 1) == out(i) && values(i - 1) >= values(i)) return true;
      }
      return i > 0 && out(i) < out(i - 1);
    }
  };
};

enum class set_kind { unite, intersect, subtract };

/// How items of two sets lie. uniform: as in merge_problem, a sixteenth of either is in both. few:
/// 64 different items, equally many of each in both. tiny: a has 16 items.
enum class set_shape { uniform, alternating, equal, disjoint, few, tiny };

struct set_point {
  std::int64_t n;
  set_shape shape;
};

/// Two sorted sequences of half the items each, or of 16 and the others; V: values beside them.
template <class Exec, class T, set_kind kind, class V = void>
struct set_problem : merge_problem<Exec, T, V> {
  using base = merge_problem<Exec, T, V>;
  set_shape shape;
  std::int64_t common;

  explicit set_problem(const set_point& p) : base(merge_point{p.n}), shape(p.shape) {
    if (shape != set_shape::uniform) {
      if (shape == set_shape::tiny) {
        this->a = array<Exec, T>("perf::a", 16);
        this->b = array<Exec, T>("perf::b", static_cast<std::size_t>(p.n - 16));
      }
      fill(this->exec, this->a, item_of{shape, 0, p.n});
      fill(this->exec, this->b, item_of{shape, 1, p.n});
    }
    common = shape == set_shape::tiny
                 ? this->a.extent(0)
                 : sum<std::int64_t>(this->exec, this->half, is_common{this->a, this->b});
  }
  static std::vector<set_point> points() {
    std::vector<set_point> result;
    for (const auto& point : base::points()) result.push_back({point.n, set_shape::uniform});
    if (on_host<Exec> && sizeof(T) == 4) {
      result.push_back({std::int64_t{1} << 12, set_shape::uniform});
      if constexpr (!base::paired) {
        for (const auto shape : {set_shape::alternating, set_shape::equal, set_shape::disjoint,
                                 set_shape::few, set_shape::tiny})
          result.push_back({std::int64_t{1} << 20, shape});
      }
    }
    return result;
  }
  static row name(const set_point& p) {
    constexpr const char* names[] = {"set_union", "set_intersection", "set_difference"};
    constexpr const char* shapes[] = {"uniform", "alternating", "equal", "disjoint", "few", "tiny"};
    row result = base::name(merge_point{p.n});
    result.algorithm = names[static_cast<int>(kind)];
    result.distribution = shapes[static_cast<int>(p.shape)];
    return result;
  }
  std::int64_t results() const {
    return kind == set_kind::unite       ? this->n - common
           : kind == set_kind::intersect ? common
                                         : this->a.extent_int(0) - common;
  }
  std::int64_t bytes() const {
    return (this->n + results()) *
           static_cast<std::int64_t>(sizeof(T) + (base::paired ? sizeof(typename base::value) : 0));
  }
  bool correct() const {
    std::int64_t found = -1;
    Kokkos::deep_copy(found, this->count);
    return found == results() &&
           sum<std::int64_t>(this->exec, found,
                             misplaced{this->a, this->b, this->out, this->values_out, this->half,
                                       shape == set_shape::few}) == 0;
  }

  struct item_of {
    set_shape shape;
    std::int64_t of_b, n;
    KOKKOS_FUNCTION T operator()(std::int64_t i) const {
      const std::int64_t half = n / 2;
      return static_cast<T>(shape == set_shape::alternating ? 2 * i + of_b
                            : shape == set_shape::disjoint  ? i + of_b * half
                            : shape == set_shape::few       ? i * 64 / half
                            : shape == set_shape::tiny      ? (of_b ? i : i * (n / 16 - 1))
                                                            : i);
    }
  };
  /// Items with the same number are the only ones that can be equal, or are as many.
  struct is_common {
    array<Exec, T> a, b;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const { return a(i) == b(i); }
  };
  struct misplaced {
    array<Exec, T> a, b, out;
    array<Exec, typename base::value> values;
    std::int64_t half;
    bool has_equals;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const {
      if constexpr (base::paired) {
        const auto from = static_cast<std::int64_t>(values(i));
        if ((from < half ? a(from) : b(from - half)) != out(i)) return true;
      }
      return i > 0 && (has_equals ? out(i) < out(i - 1) : out(i) <= out(i - 1));
    }
  };
};

template <class Exec, class T, class V>
void add_lanewise_merges_of() {
  using sort = merge_sort_problem<Exec, T, V>;
  add<sort>("lanewise", [](sort& p, auto time) {
    lanewise::workspace work;
    time([&] {
      if constexpr (sort::paired) {
        lanewise::merge_sort_by_key(p.exec, p.in, p.values, p.out, p.values_out, lanewise::less{},
                                    {.work = &work});
      } else {
        lanewise::merge_sort(p.exec, p.in, p.out, lanewise::less{}, {.work = &work});
      }
    });
  });
  using merge = merge_problem<Exec, T, V>;
  add<merge>("lanewise", [](merge& p, auto time) {
    lanewise::workspace work;
    time([&] {
      if constexpr (merge::paired) {
        lanewise::merge_by_key(p.exec, p.a, p.values_a, p.b, p.values_b, p.out, p.values_out,
                               lanewise::less{}, {.work = &work});
      } else {
        lanewise::merge(p.exec, p.a, p.b, p.out, lanewise::less{}, {.work = &work});
      }
    });
  });
}

/// A set operation of a problem, by key where it has values.
template <set_kind kind, class Problem>
void call_set_operation(Problem& p, lanewise::workspace& work) {
  const lanewise::less less{};
  const lanewise::merge_options with{.work = &work};
  if constexpr (Problem::paired) {
    if constexpr (kind == set_kind::unite) {
      lanewise::set_union_by_key(p.exec, p.a, p.values_a, p.b, p.values_b, p.out, p.values_out,
                                 p.count, less, with);
    } else if constexpr (kind == set_kind::intersect) {
      lanewise::set_intersection_by_key(p.exec, p.a, p.values_a, p.b, p.out, p.values_out, p.count,
                                        less, with);
    } else {
      lanewise::set_difference_by_key(p.exec, p.a, p.values_a, p.b, p.out, p.values_out, p.count,
                                      less, with);
    }
  } else if constexpr (kind == set_kind::unite) {
    lanewise::set_union(p.exec, p.a, p.b, p.out, p.count, less, with);
  } else if constexpr (kind == set_kind::intersect) {
    lanewise::set_intersection(p.exec, p.a, p.b, p.out, p.count, less, with);
  } else {
    lanewise::set_difference(p.exec, p.a, p.b, p.out, p.count, less, with);
  }
}

template <class Exec, set_kind kind, class T, class V>
void add_lanewise_sets_of() {
  using problem = set_problem<Exec, T, kind, V>;
  add<problem>("lanewise", [](problem& p, auto time) {
    lanewise::workspace work;
    time([&] { call_set_operation<kind>(p, work); });
  });
}

template <class Exec, set_kind kind>
void add_lanewise_sets() {
  using u32 = std::uint32_t;
  add_lanewise_sets_of<Exec, kind, u32, void>();
  if constexpr (on_host<Exec>) {
    add_lanewise_sets_of<Exec, kind, std::uint64_t, void>();
    add_lanewise_sets_of<Exec, kind, u32, u32>();
  }
}

template <class Exec>
void add_lanewise_merges() {
  add_lanewise_merges_of<Exec, std::uint32_t, void>();
  add_lanewise_merges_of<Exec, std::uint32_t, std::uint32_t>();
  add_lanewise_merges_of<Exec, std::uint64_t, void>();
  add_lanewise_sets<Exec, set_kind::unite>();
  add_lanewise_sets<Exec, set_kind::intersect>();
  add_lanewise_sets<Exec, set_kind::subtract>();
}

// Each in a unit of its own, beside the peers that exist there.
void add_merges_cuda();
void add_merges_host();

}  // namespace lanewise::perf
