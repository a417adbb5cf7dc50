// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Copies, reduce, exclusive_scan and multisplit with the policy of every row of the table and with
// others in its place: what perf/tune chooses from. A candidate is the library's policy with other
// numbers where the table has some. Whatever the library derives from a row it derives here too, so
// that the candidate with the row's own numbers is what ships. tune_compact.hpp has what makes
// fewer results than items.

#include "inputs.hpp"
#include "sequence/algorithms.hpp"

#include <algorithm>
#include <array>

namespace lanewise::perf {

/// The numbers of a row of the table.
struct table_row {
  int warps, items_per_lane, teams, host_kib;
  constexpr bool operator==(const table_row&) const = default;
};

template <class Policy>
constexpr table_row row_of = {Policy::warps, Policy::items_per_lane,
                              Policy::teams_per_multiprocessor,
                              static_cast<int>(Policy::host_tile_bytes >> 10)};

/// The row that ships before others that differ from it and from each other.
template <std::size_t most>
struct candidate_rows {
  std::array<table_row, most + 1> rows;
  int count = 1;

  constexpr candidate_rows(const table_row& shipped, const std::array<table_row, most>& others)
      : rows{shipped} {
    for (const table_row& other : others) {
      bool known = false;
      for (int i = 0; i < count; ++i) known = known || rows[i] == other;
      if (!known) rows[count++] = other;
    }
  }
};

/// Number i of the candidates that Rows lists.
template <class Rows, int i>
struct candidate {
  static constexpr table_row row = Rows::list.rows[i];

  /// A policy of the library with this row instead of its own.
  template <class Shipped>
  struct of : Shipped {
    static constexpr int warps = row.warps;
    static constexpr int items_per_lane = row.items_per_lane;
    static constexpr int teams_per_multiprocessor = row.teams;
    static constexpr std::int64_t host_tile_bytes = std::int64_t{row.host_kib} << 10;
  };

  /// Tells the script what to write into the table.
  template <class Exec>
  static std::string variant() {
    return on_host<Exec> ? "lanewise.h" + std::to_string(row.host_kib)
                         : "lanewise.w" + std::to_string(row.warps) + "i" +
                               std::to_string(row.items_per_lane) + "t" + std::to_string(row.teams);
  }
};

// Items of every size that has a row.

/// Numbers that are added one by one, aligned as vectors of them are on GPUs.
template <int count>
struct alignas(16) numbers {
  std::uint64_t number[count];

  numbers() = default;
  KOKKOS_FUNCTION explicit numbers(std::uint64_t x) {
    for (int i = 0; i < count; ++i) number[i] = x;
  }
  KOKKOS_FUNCTION explicit operator std::uint64_t() const { return number[0]; }
  friend KOKKOS_FUNCTION numbers operator+(const numbers& a, const numbers& b) {
    numbers sum;
    for (int i = 0; i < count; ++i) sum.number[i] = a.number[i] + b.number[i];
    return sum;
  }
  friend KOKKOS_FUNCTION bool operator==(const numbers& a, const numbers& b) {
    bool same = true;
    for (int i = 0; i < count; ++i) same = same && a.number[i] == b.number[i];
    return same;
  }
};

/// f(std::type_identity<T>{}) for an item type T per row.
template <class F>
void for_each_row(const F& f) {
  f(std::type_identity<std::uint8_t>{});
  f(std::type_identity<std::uint16_t>{});
  f(std::type_identity<std::uint32_t>{});
  f(std::type_identity<std::uint64_t>{});
  f(std::type_identity<numbers<2>>{});
  f(std::type_identity<numbers<4>>{});
}

/// Numbers of items of `item_bytes` bytes, for a size just beyond the caches and one far beyond. On
/// devices there are also two sizes that leave most of the machine idle, or all in its caches.
template <class Exec>
std::vector<std::int64_t> sizes_at_scale(std::size_t item_bytes) {
  std::vector<int> powers{26, 28};
  if (!on_host<Exec>) powers = {18, 22, 26, 30};
  std::vector<std::int64_t> result;
  for (const int e : powers) {
    result.push_back(static_cast<std::int64_t>(std::bit_floor((std::size_t{1} << e) / item_bytes)));
  }
  return result;
}

template <class Problem>
struct at_scale : Problem {
  using Problem::Problem;
  static std::vector<point> points() {
    std::vector<point> all;
    using item = typename Problem::item;
    for (const std::int64_t n : sizes_at_scale<typename Problem::exec_space>(sizeof(item))) {
      all.push_back({n});
    }
    return all;
  }
};

/// out = in, of items of any size.
template <class Exec, class T>
struct tuned_copy_problem : array_problem<Exec, T> {
  array<Exec, T> out{"perf::out", static_cast<std::size_t>(this->n)};

  using array_problem<Exec, T>::array_problem;
  static row name(const point& p) { return array_problem<Exec, T>::name("copy", p); }
  std::int64_t bytes() const { return 2 * this->n * sizeof(T); }
  bool correct() const { return sum<std::int64_t>(this->exec, this->n, wrong{this->in, out}) == 0; }

  struct wrong {
    array<Exec, T> in, out;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const { return !(in(i) == out(i)); }
  };
};

/// What splits are measured on beside uniform keys.
inline constexpr input tuned_inputs[] = {
    {"zipf1_hashed", input_kind::zipf, 100, true},
    {"two_heavy", input_kind::two_heavy},
    {"equal", input_kind::constant},
    {"sorted", input_kind::sorted},
};

/// Key i of an input, of any size: the leading bits of a 64-bit key say its bucket.
template <class Key>
struct tuned_key {
  input_key<std::uint64_t> key;
  int spread, narrowed = sizeof(Key) < 8 ? 64 - 8 * static_cast<int>(sizeof(Key)) : 0;

  tuned_key(const input& of, std::int64_t n)
      : key(of, n),
        spread(of.kind == input_kind::sorted ? std::countl_zero(static_cast<std::uint64_t>(n))
                                             : 0) {}
  KOKKOS_FUNCTION Key operator()(std::int64_t i) const {
    return static_cast<Key>(key(i) << spread >> narrowed);
  }
};

/// Multisplit of keys of any size by their leading bits; a value is the index of its key.
template <class Exec, class Key, bool has_values>
struct split_problem {
  using exec_space = Exec;
  using item = Key;
  using value = std::uint32_t;
  static constexpr bool pairs = has_values;
  static constexpr std::size_t pair_bytes = sizeof(Key) + (pairs ? sizeof(value) : 0);

  struct leading_bits {
    int shift;
    KOKKOS_FUNCTION std::uint32_t operator()(const Key& key) const {
      return static_cast<std::uint32_t>(static_cast<std::uint64_t>(key) >> shift);
    }
  };

  Exec exec{};
  std::int64_t n;
  int buckets;
  leading_bits bucket_of{8 * (sizeof(Key) < 8 ? static_cast<int>(sizeof(Key)) : 8) -
                         std::countr_zero(static_cast<unsigned>(buckets))};
  array<Exec, Key> keys{"perf::keys", static_cast<std::size_t>(n)};
  array<Exec, Key> keys_out{"perf::keys_out", static_cast<std::size_t>(n)};
  array<Exec, value> values{"perf::values", static_cast<std::size_t>(pairs ? n : 0)};
  array<Exec, value> values_out{"perf::values_out", static_cast<std::size_t>(pairs ? n : 0)};

  static std::vector<point> points() {
    std::vector<point> all;
    const auto sizes = sizes_at_scale<Exec>(pair_bytes);
    for (const int buckets : {8, 32, 256}) {
      for (const std::int64_t n : sizes) all.push_back({n, "uniform", buckets});
      for (const input& of : tuned_inputs)
        all.push_back({sizes.back(), std::string(of.name), buckets});
    }
    return all;
  }
  static row name(const point& p) {
    return {(pairs ? "multisplit_pairs.m" : "multisplit.m") + std::to_string(p.buckets),
            backend_name<Exec>(),
            "",
            type_name<Key>() + (pairs ? "." + type_name<value>() : ""),
            p.distribution,
            p.n};
  }

  explicit split_problem(const point& p) : n(p.n), buckets(p.buckets) {
    const auto* const of = std::find_if(std::begin(tuned_inputs), std::end(tuned_inputs),
                                        [&](const input& x) { return x.name == p.distribution; });
    fill(exec, keys, tuned_key<Key>(of == std::end(tuned_inputs) ? uniform_input : *of, n));
    if (pairs) fill(exec, values, index{});
  }
  std::int64_t bytes() const { return 2 * n * pair_bytes; }
  bool correct() const {
    return sum<std::uint64_t>(exec, n, hash_of{keys}) ==
               sum<std::uint64_t>(exec, n, hash_of{keys_out}) &&
           sum<std::int64_t>(exec, n, wrong{keys, keys_out, values_out, bucket_of}) == 0;
  }

  struct index {
    KOKKOS_FUNCTION value operator()(std::int64_t i) const { return static_cast<value>(i); }
  };
  struct hash_of {
    array<Exec, Key> keys;
    KOKKOS_FUNCTION std::uint64_t operator()(std::int64_t i) const {
      return hash(static_cast<std::uint64_t>(keys(i)));
    }
  };
  /// Buckets ascend, and values in each, which say what key they came with.
  struct wrong {
    array<Exec, Key> keys, keys_out;
    array<Exec, value> values_out;
    leading_bits bucket_of;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const {
      const std::uint32_t mine = bucket_of(keys_out(i));
      const std::uint32_t before = i > 0 ? bucket_of(keys_out(i - 1)) : 0;
      if (before > mine) return true;
      if constexpr (pairs) {
        const value from = values_out(i);
        if (from >= keys.extent(0) || !(keys(from) == keys_out(i))) return true;
        if (i > 0 && before == mine && values_out(i - 1) >= from) return true;
      }
      return false;
    }
  };
};

// The library's policies with a candidate's row.

/// Leaves items as they are, and says by whose policy they are folded.
template <class Candidate>
struct folded_by : identity {};

/// Stands for keys where only the policy of splitting them is asked for.
template <class Key, class Candidate>
struct split_by {
  Key key;
};

template <class T, class Candidate>
struct scanned_by : Candidate::template of<kernels::scan_policy<T>> {
  static constexpr int parked_tiles =
      tiles_that_wait(sizeof(T) * 32 * scanned_by::warps * scanned_by::items_per_lane);
  static_assert(row_of<scanned_by> != row_of<kernels::scan_policy<T>> ||
                    parked_tiles == kernels::scan_policy<T>::parked_tiles,
                "kernels::scan_policy has another rule for tiles that wait");
};

}  // namespace lanewise::perf

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

template <class T, class Candidate>
struct reduce_policy<array_source<T, perf::folded_by<Candidate>>>
    : Candidate::template of<reduce_policy<array_source<T, identity>>> {};

// split_pairs_policy derives from it.
template <class Key, class Candidate>
struct split_policy<perf::split_by<Key, Candidate>> : Candidate::template of<split_policy<Key>> {};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE

namespace lanewise::perf {

// Functions, so that what measures them is compiled once per problem and not per candidate.

template <class Candidate>
struct copy_call {
  template <class Problem>
  static void run(Problem& p, workspace&) {
    using T = typename Problem::item;
    using source = array_source<T, identity>;
    using policy = typename Candidate::template of<kernels::copy_policy<source>>;
    kernels::store_all(p.exec, "Lanewise::transform", source{p.in.data(), p.n, {}},
                       array_sink<T>{p.out.data(), p.n}, item_count{p.n}, policy{});
  }
};

template <class Candidate>
struct reduce_call {
  template <class Problem>
  static void run(Problem& p, workspace& own) {
    lanewise::reduce(p.exec, transformed(p.in, folded_by<Candidate>{}), p.result, plus{},
                     typename Problem::item{}, {.work = &own});
  }
};

template <class Candidate>
struct scan_call {
  template <class Problem>
  static void run(Problem& p, workspace& own) {
    using T = typename Problem::item;
    using policy = scanned_by<T, Candidate>;
    const std::int64_t tiles = kernels::scan_tiles<T, typename Problem::exec_space, policy>(p.n);
    kernels::scan<true, policy>(p.exec, "Lanewise::exclusive_scan", "exclusive_scan",
                                array_source<T, identity>{p.in.data(), p.n, {}},
                                array_sink<T>{p.out.data(), p.n}, plus{}, T{}, item_count{p.n},
                                &own, 0, {tiles, look_back_chain<T>::payload_bytes(tiles)});
  }
};

template <class Candidate>
struct split_call {
  template <class Problem>
  static void run(Problem& p, workspace& own) {
    using key = typename Problem::item;
    using value = typename Problem::value;
    using stand_in = split_by<key, Candidate>;
    const array_source<key, identity> keys{p.keys.data(), p.n, {}};
    const array_sink<key> keys_out{p.keys_out.data(), p.n};
    const auto run = [&]<class Policy>(const Policy&, const auto& arrays) {
      own.reserve_for<backend_of<typename Problem::exec_space>>(
          p.exec,
          kernels::split_size<Policy, typename Problem::exec_space, key,
                              typename std::decay_t<decltype(arrays)>::value_type>(
              p.n, static_cast<std::uint32_t>(p.buckets), false),
          "multisplit");
      kernels::split_with<Policy, most_buckets>(p.exec, own, arrays, p.buckets, p.bucket_of, {});
    };
    if constexpr (Problem::pairs) {
      run(kernels::split_pairs_policy<stand_in, sizeof(value)>{},
          kernels::arrays_of(keys, keys_out,
                             array_source<value, identity>{p.values.data(), p.n, {}},
                             array_sink<value>{p.values_out.data(), p.n}));
    } else {
      run(kernels::split_policy<stand_in>{}, kernels::arrays_of(keys, keys_out, nullptr, nullptr));
    }
  }
};

template <class Problem>
void add_candidate(const std::string& variant, void (*call)(Problem&, workspace&)) {
  add<Problem>(variant.c_str(), [call](Problem& p, auto time) {
    workspace own;
    time([&] { call(p, own); });
  });
}

/// Adds a problem with a call by every candidate that Rows lists.
template <class Problem, template <class> class Call, class Rows>
void add_row() {
  using exec_space = typename Problem::exec_space;
  [&]<int... i>(std::integer_sequence<int, i...>) {
    (add_candidate<Problem>(candidate<Rows, i>::template variant<exec_space>(),
                            Call<candidate<Rows, i>>::template run<Problem>),
     ...);
  }
  (std::make_integer_sequence<int, Rows::list.count>{});
}

/// Adds the rows of copies. Lists::copy<Policy, item bytes>::list are the rows to try in the place
/// of the row of the library's Policy. The same goes for every table.
template <class Exec, class Lists>
void add_copy_rows() {
  for_each_row([](auto type) {
    using T = typename decltype(type)::type;
    using shipped = kernels::copy_policy<array_source<T, identity>>;
    add_row<at_scale<tuned_copy_problem<Exec, T>>, copy_call,
            typename Lists::template copy<shipped, sizeof(T)>>();
  });
}

/// Adds the rows of sums and splits. Pairs are measured with keys of usual sizes only, as
/// everything takes minutes to compile.
template <class Exec, class Lists>
void add_rows() {
  for_each_row([](auto type) {
    using T = typename decltype(type)::type;
    constexpr int bytes = sizeof(T);
    using reduce_shipped = kernels::reduce_policy<array_source<T, identity>>;
    using splits = typename Lists::template split<kernels::split_policy<T>, bytes>;
    add_row<at_scale<reduce_problem<Exec, T>>, reduce_call,
            typename Lists::template reduce<reduce_shipped, bytes>>();
    add_row<at_scale<scan_problem<Exec, T, true>>, scan_call,
            typename Lists::template scan<kernels::scan_policy<T>, bytes>>();
    add_row<split_problem<Exec, T, false>, split_call, splits>();
    if constexpr (bytes == 4 || bytes == 8) {
      add_row<split_problem<Exec, T, true>, split_call, splits>();
    }
  });
}

// Each in a unit of its own.
void add_device_rows();
void add_device_copies();
void add_device_compactions();
void add_device_runs();
void add_device_reductions_by_key();
void add_host_rows();
void add_host_compactions();

}  // namespace lanewise::perf
