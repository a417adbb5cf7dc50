// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Allocation, expansion, segments by offsets, and what else looks at neighbours or from the back:
// the problems, and Lanewise's variants of them. bench_expand.<where>.cpp add the peers.

#include "support.hpp"
#include <lanewise/segments/run_length_decode.hpp>
#include <lanewise/segments/segmented_reduce.hpp>
#include <lanewise/sequence/adjacent_difference.hpp>
#include <lanewise/sequence/min_max_element.hpp>
#include <lanewise/sequence/scan_reverse.hpp>

#include <string>

namespace lanewise::perf {

/// A size, and the mean length of ranges: `uniform`, lengths are random; `skewed`, the items of the
/// first half are one range.
struct range_point {
  std::int64_t n;
  int mean = 1;
  std::string distribution = "uniform";
};

template <class Exec, class T>
std::vector<range_point> plain_points() {
  std::vector<range_point> result;
  for (const std::int64_t n : sizes<Exec>(sizeof(T))) result.push_back({n});
  return result;
}

template <class Exec, class T>
std::vector<range_point> range_points() {
  std::vector<range_point> result;
  for (const int mean : {1, 8, 64, 4096}) {
    for (const char* distribution : {"uniform", "skewed"}) {
      for (const std::int64_t n : sizes<Exec>(sizeof(T))) result.push_back({n, mean, distribution});
    }
  }
  return result;
}

/// The begins of ranges. Uniform: items 2 b m, ..., 2 (b + 1) m - 1 are the ranges 2 b and 2 b + 1,
/// and where the first of them ends is random: the lengths lie in [0, 2 m]. Skewed: range 0 is the
/// first half of the items, as many others as it would have been are empty.
struct range_begin {
  std::int64_t n;
  std::int64_t mean;
  bool skewed;

  KOKKOS_FUNCTION std::int64_t count() const { return n / mean; }
  KOKKOS_FUNCTION std::int64_t operator()(std::int64_t r) const {
    if (skewed && r > 0 && r <= count() / 2) return n / 2;
    return r / 2 * 2 * mean +
           (r % 2 == 0 ? 0 : static_cast<std::int64_t>(hash(r) % (2 * mean + 1)));
  }
};
struct range_length {
  range_begin begin;
  KOKKOS_FUNCTION std::int64_t operator()(std::int64_t r) const { return begin(r + 1) - begin(r); }
};

/// Ranges of n items, which exist as offsets and as lengths. Sizes are powers of two, and so are
/// the mean lengths.
template <class Exec, class T>
struct ranges_problem {
  using exec_space = Exec;
  using item = T;

  Exec exec{};
  std::int64_t n;
  range_begin begin;
  std::int64_t ranges = begin.count();

  explicit ranges_problem(const range_point& p)
      : n(p.n), begin{p.n, p.mean, p.distribution == "skewed"} {}
};

/// out = every range's key, as often as it is long.
template <class Exec, class T>
struct decode_problem : ranges_problem<Exec, T> {
  array<Exec, T> keys{"perf::keys", static_cast<std::size_t>(this->ranges)};
  array<Exec, std::uint32_t> lengths{"perf::lengths", static_cast<std::size_t>(this->ranges)};
  array<Exec, T> out{"perf::out", static_cast<std::size_t>(this->n)};
  Kokkos::View<std::int64_t, typename Exec::memory_space> count{"perf::count"};

  static std::vector<range_point> points() { return range_points<Exec, T>(); }
  static row name(const range_point& p) {
    return {"run_length_decode.r" + std::to_string(p.mean),
            backend_name<Exec>(),
            "",
            type_name<T>() + ".u32",
            p.distribution,
            p.n};
  }
  explicit decode_problem(const range_point& p) : ranges_problem<Exec, T>(p) {
    fill(this->exec, keys, random_item<T>{});
    fill(this->exec, lengths, range_length{this->begin});
  }
  std::int64_t bytes() const {
    return this->n * sizeof(T) + this->ranges * (sizeof(T) + sizeof(std::uint32_t));
  }
  bool correct() const {
    std::int64_t total = -1;
    Kokkos::deep_copy(total, count);
    return total == this->n &&
           sum<std::int64_t>(this->exec, this->ranges, wrong{this->begin, keys, out}) == 0;
  }

  /// The first and the last item of every range, and one between.
  struct wrong {
    range_begin begin;
    array<Exec, T> keys, out;
    KOKKOS_FUNCTION bool operator()(std::int64_t r) const {
      const std::int64_t first = begin(r), last = begin(r + 1);
      return first < last && (out(first) != keys(r) || out(last - 1) != keys(r) ||
                              out(first + (last - first) / 2) != keys(r));
    }
  };
};

/// out = the sum of every range.
template <class Exec, class T>
struct segments_problem : ranges_problem<Exec, T> {
  array<Exec, T> in{"perf::in", static_cast<std::size_t>(this->n)};
  array<Exec, std::int64_t> offsets{"perf::offsets", static_cast<std::size_t>(this->ranges + 1)};
  array<Exec, T> out{"perf::out", static_cast<std::size_t>(this->ranges)};

  static std::vector<range_point> points() { return range_points<Exec, T>(); }
  static row name(const range_point& p) {
    return {"segmented_reduce.len" + std::to_string(p.mean),
            backend_name<Exec>(),
            "",
            type_name<T>(),
            p.distribution,
            p.n};
  }
  explicit segments_problem(const range_point& p) : ranges_problem<Exec, T>(p) {
    fill(this->exec, in, random_item<T>{});
    fill(this->exec, offsets, this->begin);
  }
  std::int64_t bytes() const {
    return (this->n + this->ranges) * sizeof(T) + this->ranges * sizeof(std::int64_t);
  }
  bool correct() const {
    const std::int64_t checked = this->begin.skewed ? 1 : 0;  // not by one thread
    return sum<std::int64_t>(this->exec, this->ranges - checked,
                             wrong{this->begin, checked, in, out}) == 0 &&
           sum<double>(this->exec, this->ranges, as_double{out}) ==
               sum<double>(this->exec, this->n, as_double{in});
  }

  struct wrong {
    range_begin begin;
    std::int64_t from;
    array<Exec, T> in, out;
    KOKKOS_FUNCTION bool operator()(std::int64_t r) const {
      T sum{};
      for (std::int64_t i = begin(r + from); i < begin(r + from + 1); ++i)
        sum = static_cast<T>(sum + in(i));
      return out(r + from) != sum;
    }
  };
  /// What wraps around is left to the tests.
  struct as_double {
    array<Exec, T> items;
    KOKKOS_FUNCTION double operator()(std::int64_t i) const {
      return std::is_floating_point_v<T> ? static_cast<double>(items(i)) : 0.0;
    }
  };
};

/// Items that one call reads, and an array of results.
template <class Exec, class T, class Out = T>
struct items_problem {
  using exec_space = Exec;
  using item = T;

  Exec exec{};
  std::int64_t n;
  array<Exec, T> in{"perf::in", static_cast<std::size_t>(n)};
  array<Exec, Out> out{"perf::out", static_cast<std::size_t>(n)};

  static std::vector<range_point> points() { return plain_points<Exec, T>(); }
  static row name(const char* algorithm, const range_point& p) {
    return {algorithm, backend_name<Exec>(), "", type_name<T>(), p.distribution, p.n};
  }
  explicit items_problem(const range_point& p) : n(p.n) { fill(exec, in, random_item<T>{}); }
  std::int64_t bytes() const { return n * (sizeof(T) + sizeof(Out)); }
};

template <class Exec, class T>
struct difference_problem : items_problem<Exec, T> {
  using items_problem<Exec, T>::items_problem;
  static row name(const range_point& p) {
    return items_problem<Exec, T>::name("adjacent_difference", p);
  }
  bool correct() const {
    return sum<std::int64_t>(this->exec, this->n, wrong{this->in, this->out}) == 0;
  }
  struct wrong {
    array<Exec, T> in, out;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const {
      return out(i) != static_cast<T>(in(i) - (i > 0 ? in(i - 1) : T{}));
    }
  };
};

template <class Exec, class T>
struct reverse_scan_problem : items_problem<Exec, T> {
  using items_problem<Exec, T>::items_problem;
  static row name(const range_point& p) {
    return items_problem<Exec, T>::name("inclusive_scan_reverse", p);
  }
  bool correct() const {
    return sum<std::int64_t>(this->exec, this->n, wrong{this->n, this->in, this->out}) == 0;
  }
  struct wrong {
    std::int64_t n;
    array<Exec, T> in, out;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const {
      return out(i) != static_cast<T>(in(i) + (i + 1 < n ? out(i + 1) : T{}));
    }
  };
};

/// offsets = the exclusive sum of small counts, and the total.
template <class Exec, class T>
struct allocate_problem : items_problem<Exec, T, std::int64_t> {
  Kokkos::View<std::int64_t, typename Exec::memory_space> total{"perf::total"};

  explicit allocate_problem(const range_point& p) : items_problem<Exec, T, std::int64_t>(p) {
    fill(this->exec, this->in, small{});
  }
  static row name(const range_point& p) {
    return items_problem<Exec, T, std::int64_t>::name("allocate", p);
  }
  bool correct() const {
    return sum<std::int64_t>(this->exec, this->n, wrong{this->n, total, this->in, this->out}) == 0;
  }
  struct small {
    KOKKOS_FUNCTION T operator()(std::int64_t i) const { return static_cast<T>(hash(i) % 10); }
  };
  struct wrong {
    std::int64_t n;
    Kokkos::View<std::int64_t, typename Exec::memory_space> total;
    array<Exec, T> in;
    array<Exec, std::int64_t> out;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const {
      return (i + 1 < n ? out(i + 1) : total()) != out(i) + static_cast<std::int64_t>(in(i)) ||
             (i == 0 && out(0) != 0);
    }
  };
};

/// The least item, once, at a random place.
template <class Exec, class T>
struct minimum_problem {
  using exec_space = Exec;
  using item = T;

  Exec exec{};
  std::int64_t n;
  array<Exec, T> in{"perf::in", static_cast<std::size_t>(n)};
  Kokkos::View<indexed<T>, typename Exec::memory_space> result{"perf::result"};
  std::int64_t place = static_cast<std::int64_t>(hash(n) % n);

  static std::vector<range_point> points() { return plain_points<Exec, T>(); }
  static row name(const range_point& p) {
    return {"min_element", backend_name<Exec>(), "", type_name<T>(), p.distribution, p.n};
  }
  explicit minimum_problem(const range_point& p) : n(p.n) { fill(exec, in, least_at{place}); }
  std::int64_t bytes() const { return n * sizeof(T); }
  bool correct() const {
    indexed<T> found;
    Kokkos::deep_copy(found, result);
    return found.index == place && found.value == T(1);
  }
  struct least_at {
    std::int64_t place;
    KOKKOS_FUNCTION T operator()(std::int64_t i) const {
      return static_cast<T>(i == place ? 1 : 2 + hash(i) % 1'000'000);
    }
  };
};

template <class Exec>
void add_expand_lanewise() {
  using u32 = std::uint32_t;
  using decode = decode_problem<Exec, u32>;
  add<decode>("lanewise", [](decode& p, auto time) {
    lanewise::workspace work;
    time([&] {
      lanewise::run_length_decode(p.exec, p.keys, p.lengths, p.out, p.count, {.work = &work});
    });
  });
  const auto add_segments = [](auto type) {
    using T = typename decltype(type)::type;
    using segments = segments_problem<Exec, T>;
    add<segments>("lanewise", [](segments& p, auto time) {
      lanewise::workspace work;
      time([&] {
        lanewise::segmented_reduce(p.exec, p.in, p.offsets, p.out, lanewise::plus{}, T{},
                                   {.work = &work});
      });
    });
  };
  add_segments(std::type_identity<u32>{});
  add_segments(std::type_identity<double>{});
  using differences = difference_problem<Exec, u32>;
  add<differences>("lanewise", [](differences& p, auto time) {
    time([&] { lanewise::adjacent_difference(p.exec, p.in, p.out); });
  });
  using reverse = reverse_scan_problem<Exec, u32>;
  add<reverse>("lanewise", [](reverse& p, auto time) {
    lanewise::workspace work;
    time([&] {
      lanewise::inclusive_scan_reverse(p.exec, p.in, p.out, lanewise::plus{}, {.work = &work});
    });
  });
  using allocation = allocate_problem<Exec, u32>;
  add<allocation>("lanewise", [](allocation& p, auto time) {
    lanewise::workspace work;
    time([&] { lanewise::allocate(p.exec, p.in, p.out, p.total, {.work = &work}); });
  });
  const auto add_minimum = [](auto type) {
    using T = typename decltype(type)::type;
    using minimum = minimum_problem<Exec, T>;
    add<minimum>("lanewise", [](minimum& p, auto time) {
      lanewise::workspace work;
      time([&] {
        lanewise::min_element(p.exec, p.in, p.result, lanewise::natural_order{}, {.work = &work});
      });
    });
  };
  add_minimum(std::type_identity<u32>{});
  add_minimum(std::type_identity<double>{});
}

void add_expand_cuda();
void add_expand_host();

}  // namespace lanewise::perf
