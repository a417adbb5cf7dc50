// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The problems of the first algorithms, and the variants that every execution space has: Lanewise's
// and Kokkos' own. bench_algorithms.<where>.cpp add what exists only there.

#include "support.hpp"
#include <lanewise/sequence/reduce.hpp>
#include <lanewise/sequence/scan_two_level.hpp>
#include <lanewise/sequence/transform.hpp>
#include <lanewise/sort/multisplit.hpp>

#include <Kokkos_Sort.hpp>

#include <bit>
#include <type_traits>

namespace lanewise::perf {

/// A size, and for multisplit the input's distribution and the number of buckets.
struct point {
  std::int64_t n;
  std::string distribution = "uniform";
  int buckets = 0;
};

/// An array of random items, of every size.
template <class Exec, class T>
struct array_problem {
  using exec_space = Exec;
  using item = T;

  Exec exec{};
  std::int64_t n;
  array<Exec, T> in{"perf::in", static_cast<std::size_t>(n)};

  static std::vector<point> points() {
    std::vector<point> result;
    for (const std::int64_t n : sizes<Exec>(sizeof(T))) result.push_back({n});
    return result;
  }
  static row name(const char* algorithm, const point& p) {
    return {algorithm, backend_name<Exec>(), "", type_name<T>(), "uniform", p.n};
  }
  explicit array_problem(const point& p) : n(p.n) { fill(exec, in, random_item<T>{}); }
};

template <class T>
struct affine {
  KOKKOS_FUNCTION T operator()(const T& x) const { return static_cast<T>(3 * x + 1); }
};

/// out(i) = 3 in(i) + 1.
template <class Exec, class T>
struct transform_problem : array_problem<Exec, T> {
  array<Exec, T> out{"perf::out", static_cast<std::size_t>(this->n)};

  using array_problem<Exec, T>::array_problem;
  static row name(const point& p) { return array_problem<Exec, T>::name("transform", p); }
  std::int64_t bytes() const { return 2 * this->n * sizeof(T); }
  bool correct() const { return sum<std::int64_t>(this->exec, this->n, wrong{this->in, out}) == 0; }

  struct wrong {
    array<Exec, T> in, out;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const { return out(i) != affine<T>{}(in(i)); }
  };
};

/// result = the sum of in.
template <class Exec, class T>
struct reduce_problem : array_problem<Exec, T> {
  Kokkos::View<T, typename Exec::memory_space> result{"perf::result"};

  using array_problem<Exec, T>::array_problem;
  static row name(const point& p) { return array_problem<Exec, T>::name("reduce", p); }
  std::int64_t bytes() const { return this->n * sizeof(T); }
  bool correct() const {
    using wide = std::conditional_t<std::is_floating_point_v<T>, double, std::uint64_t>;
    T found;
    Kokkos::deep_copy(found, result);
    return found == static_cast<T>(sum<wide>(this->exec, this->n, random_item<T>{}));
  }
};

/// out(i) = in(0) + ... + in(i), or without in(i).
template <class Exec, class T, bool is_exclusive>
struct scan_problem : array_problem<Exec, T> {
  static constexpr bool exclusive = is_exclusive;

  array<Exec, T> out{"perf::out", static_cast<std::size_t>(this->n)};

  using array_problem<Exec, T>::array_problem;
  static row name(const point& p) {
    return array_problem<Exec, T>::name(exclusive ? "exclusive_scan" : "inclusive_scan", p);
  }
  std::int64_t bytes() const { return 2 * this->n * sizeof(T); }
  bool correct() const { return sum<std::int64_t>(this->exec, this->n, wrong{this->in, out}) == 0; }

  /// Every result follows from the one before.
  struct wrong {
    array<Exec, T> in, out;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const {
      const T before = i > 0 ? out(i - 1) : T{};
      const T added = exclusive ? (i > 0 ? in(i - 1) : T{}) : in(i);
      return out(i) != static_cast<T>(before + added);
    }
  };
};

/// A problem whose results have the same bits on every run and backend.
template <class Problem>
struct deterministic : Problem {
  using Problem::Problem;
  static row name(const point& p) {
    row r = Problem::name(p);
    r.algorithm += ".deterministic";
    return r;
  }
};

/// A key's bucket is its leading bits.
template <class Key>
struct leading_bits {
  int shift;
  KOKKOS_FUNCTION std::uint32_t operator()(const Key& key) const {
    return static_cast<std::uint32_t>(key >> shift);
  }
};

/// Keys of buckets [0, 2^bits), by the distribution of these: `uniform`; `binomial`, B(255, 1/2) at
/// most, and what is beyond 256 buckets uniform; `quarter_uniform`, where three quarters of the
/// keys lie in one bucket; `one_bucket`; `sorted`, where keys lie in the order of their buckets
/// already.
template <class Key>
struct key_of {
  enum class kind { uniform, binomial, quarter_uniform, one_bucket, sorted } distribution;
  std::int64_t n;
  int bits;
  KOKKOS_FUNCTION Key operator()(std::int64_t i) const {
    const Key random = static_cast<Key>(hash(i) ^ hash(i) << 32);
    const int shift = 8 * static_cast<int>(sizeof(Key)) - bits;
    const auto with_top = [&](std::uint64_t top) {
      const Key below = static_cast<Key>(static_cast<Key>(~Key{0}) >> bits);
      return static_cast<Key>((random & below) | static_cast<Key>(top) << shift);
    };
    switch (distribution) {
      case kind::binomial:
        return with_top(binomial(static_cast<std::uint64_t>(i)));
      case kind::quarter_uniform:
        return hash(~i) % 4 == 0 ? random : with_top(std::uint64_t{1} << bits >> 1);
      case kind::one_bucket:
        return with_top(std::uint64_t{1} << bits >> 1);
      case kind::sorted:
        return with_top(static_cast<std::uint64_t>(i) * (std::uint64_t{1} << bits) /
                        static_cast<std::uint64_t>(n));
      default:
        return random;
    }
  }
  KOKKOS_FUNCTION std::uint64_t binomial(std::uint64_t i) const {
    const int tossed = bits < 8 ? bits : 8;
    const int coins = (1 << tossed) - 1;
    std::uint64_t heads = 0;
    for (int k = 0; k < coins; k += 32) {
      const auto tosses =
          static_cast<std::uint32_t>(hash(i * 8 + static_cast<std::uint64_t>(k) / 32));
      const int some = coins - k < 32 ? coins - k : 32;
      heads += static_cast<std::uint64_t>(
          Kokkos::popcount(some < 32 ? tosses & ((1u << some) - 1) : tosses));
    }
    return heads << (bits - tossed) | (hash(~i) & ((std::uint64_t{1} << (bits - tossed)) - 1));
  }
};

template <class Exec, class Key, bool has_values>
struct multisplit_problem {
  using exec_space = Exec;
  using item = Key;
  using item_array = array<Exec, item>;
  static constexpr bool pairs = has_values;

  Exec exec{};
  std::int64_t n;
  int buckets;
  int bits = std::countr_zero(static_cast<unsigned>(buckets));
  leading_bits<Key> bucket_of{8 * static_cast<int>(sizeof(Key)) - bits};
  bool stable = true;  // whether the variant promises it
  item_array keys{"perf::keys", static_cast<std::size_t>(n)};
  item_array keys_out{"perf::keys_out", static_cast<std::size_t>(n)};
  item_array values{"perf::values", static_cast<std::size_t>(pairs ? n : 0)};
  item_array values_out{"perf::values_out", static_cast<std::size_t>(pairs ? n : 0)};

  static std::vector<point> points() {
    std::vector<point> result;
    for (const int buckets : {2, 8, 32, 256, 4096, 65'536}) {
      for (const char* distribution :
           {"uniform", "binomial", "quarter_uniform", "one_bucket", "sorted"}) {
        for (const std::int64_t n : sizes<Exec>(sizeof(item))) {
          result.push_back({n, distribution, buckets});
        }
      }
    }
    return result;
  }
  static row name(const point& p) {
    const std::string type = sizeof(Key) == 4 ? "u32" : "u64";
    return {"multisplit.m" + std::to_string(p.buckets), backend_name<Exec>(), "",
            pairs ? type + "." + type : type,           p.distribution,       p.n};
  }

  explicit multisplit_problem(const point& p) : n(p.n), buckets(p.buckets) {
    using kind = typename key_of<Key>::kind;
    const kind distribution = p.distribution == "binomial"          ? kind::binomial
                              : p.distribution == "quarter_uniform" ? kind::quarter_uniform
                              : p.distribution == "one_bucket"      ? kind::one_bucket
                              : p.distribution == "sorted"          ? kind::sorted
                                                                    : kind::uniform;
    fill(exec, keys, key_of<Key>{distribution, n, bits});
    if (pairs) fill(exec, values, index{});
  }
  std::int64_t bytes() const { return 2 * n * sizeof(item) * (pairs ? 2 : 1); }
  bool correct() const {
    const bool same_keys = sum<std::uint64_t>(exec, n, hash_of{keys}) ==
                           sum<std::uint64_t>(exec, n, hash_of{keys_out});
    const bool same_values = !pairs || sum<std::uint64_t>(exec, n, hash_of{values}) ==
                                           sum<std::uint64_t>(exec, n, hash_of{values_out});
    const wrong misplaced{keys, keys_out, values_out, bucket_of, stable};
    return same_keys && same_values && sum<std::int64_t>(exec, n, misplaced) == 0;
  }

  struct index {
    KOKKOS_FUNCTION item operator()(std::int64_t i) const { return static_cast<item>(i); }
  };
  struct hash_of {
    item_array items;
    KOKKOS_FUNCTION std::uint64_t operator()(std::int64_t i) const { return hash(items(i)); }
  };
  /// Buckets ascend; a value is the index of its key, so that values ascend in a bucket.
  struct wrong {
    item_array keys, keys_out, values_out;
    leading_bits<Key> bucket_of;
    bool stable;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const {
      const std::uint32_t mine = bucket_of(keys_out(i));
      const std::uint32_t before = i > 0 ? bucket_of(keys_out(i - 1)) : 0;
      if (before > mine) return true;
      if constexpr (pairs) {
        const item from = values_out(i);
        if (from >= keys.extent(0) || keys(from) != keys_out(i)) return true;
        if (stable && i > 0 && before == mine && values_out(i - 1) >= from) return true;
      }
      return false;
    }
  };
};

/// f(std::type_identity<Problem>{}) for the multisplits that are measured.
template <class Exec, class F>
void for_each_multisplit(const F& f) {
  f(std::type_identity<multisplit_problem<Exec, std::uint32_t, false>>{});
  f(std::type_identity<multisplit_problem<Exec, std::uint32_t, true>>{});
  f(std::type_identity<multisplit_problem<Exec, std::uint64_t, false>>{});
}

/// f(std::type_identity<T>{}) for the types that sums are measured with.
template <class F>
void for_each_type(const F& f) {
  f(std::type_identity<std::uint8_t>{});
  f(std::type_identity<std::uint16_t>{});
  f(std::type_identity<std::uint32_t>{});
  f(std::type_identity<std::uint64_t>{});
  f(std::type_identity<float>{});
  f(std::type_identity<double>{});
}

// Lanewise.

template <class Problem>
void add_lanewise_scan() {
  add<Problem>("lanewise", [](Problem& p, auto time) {
    using T = typename Problem::item;
    lanewise::workspace work;
    time([&] {
      if constexpr (Problem::exclusive) {
        lanewise::exclusive_scan(p.exec, p.in, p.out, lanewise::plus{}, T{}, {.work = &work});
      } else {
        lanewise::inclusive_scan(p.exec, p.in, p.out, lanewise::plus{}, {.work = &work});
      }
    });
  });
}

template <class Exec, class T>
void add_two_level_scan() {
  using problem = scan_problem<Exec, T, true>;
  add<problem>("lanewise.two_level", [](problem& p, auto time) {
    lanewise::workspace work;
    time([&] {
      lanewise::two_level::exclusive_scan(p.exec, p.in, p.out, lanewise::plus{}, T{},
                                          {.work = &work});
    });
  });
}

template <class Exec, class T>
void add_lanewise_deterministic() {
  using reduce = deterministic<reduce_problem<Exec, T>>;
  add<reduce>("lanewise", [](reduce& p, auto time) {
    lanewise::workspace work;
    const auto op = lanewise::deterministic(lanewise::plus{});
    time([&] { lanewise::reduce(p.exec, p.in, p.result, op, T{}, {.work = &work}); });
  });
  using scan = deterministic<scan_problem<Exec, T, true>>;
  add<scan>("lanewise", [](scan& p, auto time) {
    lanewise::workspace work;
    const auto op = lanewise::deterministic(lanewise::plus{});
    time([&] { lanewise::exclusive_scan(p.exec, p.in, p.out, op, T{}, {.work = &work}); });
  });
}

template <class Problem>
void add_lanewise_multisplit() {
  add<Problem>("lanewise", [](Problem& p, auto time) {
    lanewise::workspace work;
    time([&] {
      if constexpr (Problem::pairs) {
        lanewise::multisplit(p.exec, p.keys, p.values, p.keys_out, p.values_out, p.buckets,
                             p.bucket_of, {.work = &work});
      } else {
        lanewise::multisplit(p.exec, p.keys, p.keys_out, p.buckets, p.bucket_of, {.work = &work});
      }
    });
  });
}

template <class Exec>
void add_lanewise() {
  using transform = transform_problem<Exec, std::uint32_t>;
  add<transform>("lanewise", [](transform& p, auto time) {
    time([&] { lanewise::transform(p.exec, p.in, p.out, affine<std::uint32_t>{}); });
  });
  for_each_type([](auto type) {
    using T = typename decltype(type)::type;
    using reduce = reduce_problem<Exec, T>;
    add<reduce>("lanewise", [](reduce& p, auto time) {
      lanewise::workspace work;
      time([&] {
        lanewise::reduce(p.exec, p.in, p.result, lanewise::plus{}, T{}, {.work = &work});
      });
    });
    add_lanewise_scan<scan_problem<Exec, T, true>>();
    add_lanewise_scan<scan_problem<Exec, T, false>>();
  });
  add_two_level_scan<Exec, std::uint32_t>();
  add_two_level_scan<Exec, double>();
  add_lanewise_deterministic<Exec, float>();
  add_lanewise_deterministic<Exec, double>();
  for_each_multisplit<Exec>(
      []<class Problem>(std::type_identity<Problem>) { add_lanewise_multisplit<Problem>(); });
}

// Kokkos' own.

template <class In, class Out, class F>
struct transform_functor {
  In in;
  Out out;
  F f;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { out(i) = f(in(i)); }
};

template <class In>
struct reduce_functor {
  In in;
  using value_type = typename In::non_const_value_type;
  KOKKOS_FUNCTION void operator()(std::int64_t i, value_type& sum) const { sum += in(i); }
};

template <class In, class Out, bool exclusive>
struct scan_functor {
  In in;
  Out out;
  using value_type = typename In::non_const_value_type;
  KOKKOS_FUNCTION void operator()(std::int64_t i, value_type& sum, bool final) const {
    const value_type before = sum;
    sum += in(i);
    if (final) out(i) = exclusive ? before : sum;
  }
};

template <class Problem>
void add_kokkos_scan() {
  add<Problem>("kokkos", [](Problem& p, auto time) {
    using view = decltype(p.in);
    time([&] {
      Kokkos::parallel_scan(range<typename Problem::exec_space>(p.exec, 0, p.n),
                            scan_functor<view, view, Problem::exclusive>{p.in, p.out});
    });
  });
}

template <class Key>
struct bin_operator {
  leading_bits<Key> bucket_of;
  int buckets;
  KOKKOS_FUNCTION int max_bins() const { return buckets; }
  template <class Keys>
  KOKKOS_FUNCTION int bin(const Keys& keys, std::int64_t i) const {
    return static_cast<int>(bucket_of(keys(i)));
  }
  template <class Keys, class I, class J>
  KOKKOS_FUNCTION bool operator()(const Keys&, I, J) const {
    return false;
  }
};

/// BinSort works in place, so a copy of the input is part of its time. It is not stable.
template <class Problem>
void add_kokkos_multisplit() {
  const auto body = [](Problem& p, auto time) {
    p.stable = false;
    time([&] {
      using keys = typename Problem::item_array;
      Kokkos::BinSort<keys, bin_operator<typename Problem::item>> sorter(p.exec, p.keys,
                                                                         {p.bucket_of, p.buckets});
      sorter.create_permute_vector(p.exec);
      Kokkos::deep_copy(p.exec, p.keys_out, p.keys);
      sorter.sort(p.exec, p.keys_out);
      if constexpr (Problem::pairs) {
        Kokkos::deep_copy(p.exec, p.values_out, p.values);
        sorter.sort(p.exec, p.values_out);
      }
    });
  };
  // One atomic counter per bucket: beyond this a row would take longer than all others.
  add<Problem>("kokkos", body, std::int64_t{1} << 24);
}

template <class Exec>
void add_kokkos() {
  using transform = transform_problem<Exec, std::uint32_t>;
  add<transform>("kokkos", [](transform& p, auto time) {
    using view = decltype(p.in);
    time([&] {
      Kokkos::parallel_for(range<Exec>(p.exec, 0, p.n),
                           transform_functor<view, view, affine<std::uint32_t>>{p.in, p.out, {}});
    });
  });
  for_each_type([](auto type) {
    using T = typename decltype(type)::type;
    using reduce = reduce_problem<Exec, T>;
    add<reduce>("kokkos", [](reduce& p, auto time) {
      time([&] {
        Kokkos::parallel_reduce(range<Exec>(p.exec, 0, p.n), reduce_functor<array<Exec, T>>{p.in},
                                p.result);
      });
    });
    add_kokkos_scan<scan_problem<Exec, T, true>>();
    add_kokkos_scan<scan_problem<Exec, T, false>>();
  });
  for_each_multisplit<Exec>(
      []<class Problem>(std::type_identity<Problem>) { add_kokkos_multisplit<Problem>(); });
}

/// Everything that does not depend on where it runs.
template <class Exec>
void add_common() {
  add_copies<Exec>();
  add_lanewise<Exec>();
  add_kokkos<Exec>();
}

// Each in a unit of its own, beside the peers that exist there.
void add_cuda();
void add_host();

}  // namespace lanewise::perf
