// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What takes the place of Kokkos' sorts, beside them, each as a program calls it: temporary memory
// is part of the time, as Kokkos takes none from its caller.

#include "support.hpp"
#include <lanewise/sort/bin_sort.hpp>

#include <Kokkos_Sort.hpp>

#include <string>

namespace lanewise::perf {

struct ascending {
  template <class T>
  KOKKOS_FUNCTION bool operator()(const T& x, const T& y) const {
    return x < y;
  }
};
struct descending {
  template <class T>
  KOKKOS_FUNCTION bool operator()(const T& x, const T& y) const {
    return y < x;
  }
};

/// Integers of all bits; floating-point numbers in [0, 1).
template <class T>
struct uniform_item {
  KOKKOS_FUNCTION T operator()(std::int64_t i) const {
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(hash(i) >> 40) / (1 << 24);
    } else {
      return static_cast<T>(hash(i));
    }
  }
};

template <class Items>
struct hash_of_items {
  Items items;
  KOKKOS_FUNCTION std::uint64_t operator()(std::int64_t i) const {
    return hash(static_cast<std::uint64_t>(16777216.0 * items(i)));
  }
};

/// The sizes of all rows; what Kokkos sorts by std::sort takes a second of the last of a host.
template <class Exec>
std::vector<std::int64_t> drop_in_sizes() {
  std::vector<std::int64_t> result;
  for (const int e : {16, 20, 24, 28}) {
    if (e <= 24 || !on_host<Exec>) result.push_back(std::int64_t{1} << e);
  }
  return result;
}

/// out, which begins as in, is sorted in place, and values with it, which are the numbers of the
/// items; V may be no_value. Kokkos' sort_by_key is not stable on hosts.
template <class Exec, class T, class V, class Order>
struct drop_in_sort_problem {
  using value = V;
  using order = Order;
  static constexpr bool has_values = !std::is_same_v<V, no_value>;
  static constexpr bool by_comparator = std::is_same_v<Order, descending>;

  Exec exec{};
  std::int64_t n;
  array<Exec, T> in{"perf::in", static_cast<std::size_t>(n)};
  array<Exec, T> out{"perf::out", static_cast<std::size_t>(n)};
  array<Exec, V> values{"perf::values", static_cast<std::size_t>(has_values ? n : 0)};
  std::uint64_t total;

  struct point {
    std::int64_t n;
  };
  explicit drop_in_sort_problem(const point& p) : n(p.n) {
    fill(exec, in, uniform_item<T>{});
    total = sum<std::uint64_t>(exec, n, hash_of_items<array<Exec, T>>{in});
  }
  static std::vector<point> points() {
    std::vector<point> result;
    for (const std::int64_t n : drop_in_sizes<Exec>()) result.push_back({n});
    return result;
  }
  static row name(const point& p) {
    std::string algorithm = has_values ? "sort_by_key" : "sort", type = type_name<T>();
    if constexpr (by_comparator) algorithm += ".comparator";
    if constexpr (has_values) type += "." + type_name<V>();
    return {algorithm, backend_name<Exec>(), "", type, "uniform", p.n};
  }
  std::int64_t bytes() const { return 2 * n * (sizeof(T) + (has_values ? sizeof(V) : 0)); }
  void begin() const {
    Kokkos::deep_copy(exec, out, in);
    if constexpr (has_values) fill(exec, values, number{});
  }
  bool correct() const {
    return sum<std::int64_t>(exec, n, wrong{in, out, values}) == 0 &&
           sum<std::uint64_t>(exec, n, hash_of_items<array<Exec, T>>{out}) == total;
  }

  struct number {
    KOKKOS_FUNCTION V operator()(std::int64_t i) const { return static_cast<V>(i); }
  };
  struct wrong {
    array<Exec, T> in, out;
    array<Exec, V> values;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const {
      if constexpr (has_values) {
        if (in(values(i)) != out(i)) return true;
      }
      return i > 0 && Order{}(out(i), out(i - 1));
    }
  };
};

/// Adds both variants of call(sorter, problem).
template <class Problem, class Ours, class Theirs>
void add_both(const Ours& ours, const Theirs& theirs, std::int64_t most) {
  add<Problem>("lanewise",
               [ours](Problem& p, auto time) { time([&] { p.begin(); }, [&] { ours(p); }); });
  add<Problem>(
      "kokkos", [theirs](Problem& p, auto time) { time([&] { p.begin(); }, [&] { theirs(p); }); },
      most);
}

template <class Exec, class T, class V, class Order>
void add_drop_in_sort() {
  using problem = drop_in_sort_problem<Exec, T, V, Order>;
  constexpr bool plain = !problem::by_comparator;
  add_both<problem>(
      [](const problem& p) {
        if constexpr (problem::has_values && plain) {
          lanewise::sort_by_key(p.exec, p.out, p.values);
        } else if constexpr (problem::has_values) {
          lanewise::sort_by_key(p.exec, p.out, p.values, Order{});
        } else if constexpr (plain) {
          lanewise::sort(p.exec, p.out);
        } else {
          lanewise::sort(p.exec, p.out, Order{});
        }
      },
      [](const problem& p) {
        if constexpr (problem::has_values && plain) {
          Kokkos::Experimental::sort_by_key(p.exec, p.out, p.values);
        } else if constexpr (problem::has_values) {
          Kokkos::Experimental::sort_by_key(p.exec, p.out, p.values, Order{});
        } else if constexpr (plain) {
          Kokkos::sort(p.exec, p.out);
        } else {
          Kokkos::sort(p.exec, p.out, Order{});
        }
      },
      std::numeric_limits<std::int64_t>::max());
}

/// Points on a line, or in space, which are sorted by cells of the same binning operator, and
/// within cells by it, too.
template <class Exec, class T, int dimensions, bool within>
struct drop_in_bin_problem {
  using items = std::conditional_t<dimensions == 1, array<Exec, T>,
                                   Kokkos::View<T* [3], typename Exec::memory_space>>;
  using op_type =
      std::conditional_t<dimensions == 1, Kokkos::BinOp1D<items>, Kokkos::BinOp3D<items>>;
  struct point {
    std::int64_t n;
    int bins;  // along every axis
  };

  Exec exec{};
  std::int64_t n;
  items in{"perf::in", static_cast<std::size_t>(n)};
  items out{"perf::out", static_cast<std::size_t>(n)};
  op_type op;
  std::uint64_t total;

  explicit drop_in_bin_problem(const point& p) : n(p.n), op(operator_for(p.bins)) {
    Kokkos::parallel_for("perf::fill", range<Exec>(exec, 0, n), fill_coordinates{in});
    total = content(in);
  }
  static std::vector<point> points() {
    std::vector<point> result;
    for (const std::int64_t n : drop_in_sizes<Exec>()) {
      if constexpr (dimensions == 1) {
        if constexpr (within) {
          // BinSort inserts: on devices a bin of many items keeps it for long.
          for (const std::int64_t items : {1, 8, 128})
            result.push_back({n, static_cast<int>(n / items)});
        } else {
          for (const int bins : {100, 4096, 1 << 17}) result.push_back({n, bins});
          result.push_back({n, static_cast<int>(n)});
        }
      } else {
        result.push_back({n, 32});
      }
    }
    return result;
  }
  static row name(const point& p) {
    const int all = dimensions == 1 ? p.bins : p.bins * p.bins * p.bins;
    const std::string type = type_name<T>() + (dimensions == 1 ? "" : "x3");
    return {(within ? "bin_sort.within.b" : "bin_sort.b") + std::to_string(all),
            backend_name<Exec>(),
            "",
            type,
            "uniform",
            p.n};
  }
  std::int64_t bytes() const { return 2 * n * dimensions * sizeof(T); }
  void begin() const { Kokkos::deep_copy(exec, out, in); }
  bool correct() const {
    return sum<std::int64_t>(exec, n, wrong{out, op}) == 0 && content(out) == total;
  }

  static op_type operator_for(int bins) {
    const T last =
        std::is_floating_point_v<T> ? T{1} : static_cast<T>(std::numeric_limits<T>::max());
    if constexpr (dimensions == 1) {
      return op_type(bins, T{}, last);
    } else {
      int all[] = {bins, bins, bins};
      T lower[] = {T{}, T{}, T{}}, upper[] = {last, last, last};
      return op_type(all, lower, upper);
    }
  }
  std::uint64_t content(const items& of) const {
    return sum<std::uint64_t>(exec, n, hash_of_item{of});
  }

  struct fill_coordinates {
    items to;
    KOKKOS_FUNCTION void operator()(std::int64_t i) const {
      if constexpr (dimensions == 1) {
        to(i) = uniform_item<T>{}(i);
      } else {
        for (int c = 0; c < 3; ++c) to(i, c) = uniform_item<T>{}(3 * i + c);
      }
    }
  };
  struct hash_of_item {
    items of;
    KOKKOS_FUNCTION std::uint64_t operator()(std::int64_t i) const {
      const auto bits = [](T x) { return static_cast<std::uint64_t>(16777216.0 * x); };
      if constexpr (dimensions == 1) {
        return hash(bits(of(i)));
      } else {
        return hash(hash(hash(bits(of(i, 0))) + bits(of(i, 1))) + bits(of(i, 2)));
      }
    }
  };
  struct wrong {
    items of;
    op_type op;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const {
      const int k = static_cast<int>(i), before = k - 1;
      if (k == 0) return false;
      const int bin = op.bin(of, k), bin_before = op.bin(of, before);
      return bin_before > bin || (within && bin_before == bin && op(of, k, before));
    }
  };
};

template <class Exec, class T, int dimensions, bool within = false>
void add_drop_in_bin_sort() {
  using problem = drop_in_bin_problem<Exec, T, dimensions, within>;
  add_both<problem>(
      [](const problem& p) {
        const bin_sort sorter(p.exec, p.out, p.op, {.within_bins = within});
        sorter.sort(p.exec, p.out);
      },
      [](const problem& p) {
        Kokkos::BinSort<typename problem::items, typename problem::op_type> sorter(p.exec, p.out,
                                                                                   p.op, within);
        sorter.create_permute_vector(p.exec);
        sorter.sort(p.exec, p.out);
      },
      std::int64_t{1} << 24);
}

template <class Exec>
void add_drop_ins() {
  using u32 = std::uint32_t;
  add_drop_in_sort<Exec, u32, no_value, ascending>();
  add_drop_in_sort<Exec, float, no_value, ascending>();
  add_drop_in_sort<Exec, u32, no_value, descending>();
  add_drop_in_sort<Exec, u32, u32, ascending>();
  add_drop_in_sort<Exec, u32, u32, descending>();
  add_drop_in_bin_sort<Exec, u32, 1>();
  add_drop_in_bin_sort<Exec, float, 1>();
  add_drop_in_bin_sort<Exec, float, 3>();
  add_drop_in_bin_sort<Exec, float, 1, true>();
  add_drop_in_bin_sort<Exec, float, 3, true>();
}

}  // namespace lanewise::perf
