// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What tune.hpp says, for selection, run-length coding and reduction by key.

#include "select/compact.hpp"
#include "tune.hpp"

namespace lanewise::perf {

/// Keeps `percent` percent of the items, of any size.
template <class Exec, class T>
struct tuned_select_problem : array_problem<Exec, T> {
  array<Exec, T> out{"perf::out", static_cast<std::size_t>(this->n)};
  Kokkos::View<std::int64_t, typename Exec::memory_space> count{"perf::count"};

  struct is_low {
    std::uint32_t percent;
    KOKKOS_FUNCTION bool operator()(const T& x) const {
      return static_cast<std::uint32_t>(static_cast<std::uint64_t>(x) & 255) * 100 < percent * 256;
    }
  };
  is_low keep;
  std::int64_t kept;

  explicit tuned_select_problem(const share_point& p)
      : array_problem<Exec, T>(point{p.n}),
        keep{static_cast<std::uint32_t>(p.parameter)},
        kept(sum<std::int64_t>(this->exec, p.n, chosen{this->in, keep})) {}
  static row name(const share_point& p) {
    return array_problem<Exec, T>::name(("select_if.p" + std::to_string(p.parameter)).c_str(),
                                        point{p.n});
  }
  std::int64_t bytes() const { return (this->n + kept) * sizeof(T); }
  bool correct() const {
    std::int64_t found = -1;
    Kokkos::deep_copy(found, count);
    return found == kept &&
           sum<std::uint64_t>(this->exec, this->n, hash_of_chosen{this->in, keep}) ==
               sum<std::uint64_t>(this->exec, kept, hash_of{out});
  }

  struct chosen {
    array<Exec, T> items;
    is_low keep;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const { return keep(items(i)); }
  };
  struct hash_of {
    array<Exec, T> items;
    KOKKOS_FUNCTION std::uint64_t operator()(std::int64_t i) const {
      return hash(static_cast<std::uint64_t>(items(i)));
    }
  };
  struct hash_of_chosen {
    array<Exec, T> items;
    is_low keep;
    KOKKOS_FUNCTION std::uint64_t operator()(std::int64_t i) const {
      return keep(items(i)) ? hash_of{items}(i) : 0;
    }
  };
};

/// A problem with each of some percentages or mean lengths.
template <class Problem, int... parameters>
struct shares_at_scale : Problem {
  using Problem::Problem;
  static std::vector<share_point> points() {
    std::vector<share_point> all;
    using item = typename Problem::item;
    for (const int parameter : {parameters...})
      for (const std::int64_t n : sizes_at_scale<typename Problem::exec_space>(sizeof(item)))
        all.push_back({n, parameter});
    return all;
  }
};

/// A call of the skeleton of compaction on an array, by a policy.
template <class Policy, class Exec, class T, class Marks, class First, class Second>
void compact_array(const Exec& exec, const char* algorithm, const array_source<T, identity>& in,
                   const Marks& marks, const First& one, const Second& two, std::int64_t* count,
                   workspace& own) {
  const std::int64_t tiles = kernels::compact_tiles<T, Exec, Policy>(in.extent);
  kernels::compact(
      exec, algorithm, algorithm, in, marks, one, two, detail::integers(count), {.work = &own},
      {tiles, look_back_chain<detail::selection_state>::payload_bytes(tiles)}, {}, Policy{});
}

template <class Candidate>
struct select_call {
  template <class Problem>
  static void run(Problem& p, workspace& own) {
    using T = typename Problem::item;
    using row = typename Candidate::template of<kernels::compaction_tuning<T, true>>;
    using sink = array_sink<T>;
    compact_array<kernels::compact_policy<T, true, row>>(
        p.exec, "select_if", array_source<T, identity>{p.in.data(), p.n, {}},
        detail::selected_where<typename Problem::is_low>{p.keep},
        detail::selected_items<sink>(sink{p.out.data(), p.n}), detail::no_column{}, p.count.data(),
        own);
  }
};

template <class Candidate>
struct encode_call {
  template <class Problem>
  static void run(Problem& p, workspace& own) {
    using T = typename Problem::item;
    using row = typename Candidate::template of<kernels::compaction_tuning<T, false>>;
    using lengths = array_sink<typename Problem::value>;
    const array_source<T, identity> in{p.keys.data(), p.n, {}};
    compact_array<kernels::compact_policy<T, false, row>>(
        p.exec, "run_length_encode", in, detail::selected_where_differing<+1, equal_to>{{}},
        kernels::keys_of_runs<equal_to>(in, array_sink<T>{p.keys_out.data(), p.n}),
        detail::selected_distances<lengths>(lengths{p.results.data(), p.n}), p.count.data(), own);
  }
};

template <class Candidate>
struct by_key_call {
  template <class Problem>
  static void run(Problem& p, workspace& own) {
    using key = typename Problem::item;
    using value = typename Problem::value;
    using keys = array_source<key, identity>;
    using row = typename Candidate::template of<
        tuning::reduce_by_key<tuning::pair_class(sizeof(key) + sizeof(value))>>;
    using policy = kernels::ends_policy<value, key, row>;
    const std::int64_t tiles =
        kernels::ends_tiles<value, key, typename Problem::exec_space, policy>(p.n);
    kernels::reduce_runs(
        p.exec, detail::key_differing<keys, equal_to>{keys{p.keys.data(), p.n, {}}, {}},
        array_source<value, identity>{p.values.data(), p.n, {}},
        array_sink<key>{p.keys_out.data(), p.n}, array_sink<value>{p.results.data(), p.n}, plus{},
        item_count{p.n}, detail::integers(p.count.data()), &own,
        {tiles, look_back_chain<detail::segment_state<value>>::payload_bytes(tiles)}, policy{});
  }
};

template <class Exec, class Lists>
void add_compaction_rows() {
  for_each_row([](auto type) {
    using T = typename decltype(type)::type;
    add_row<shares_at_scale<tuned_select_problem<Exec, T>, 1, 50, 99>, select_call,
            typename Lists::template compaction<kernels::compaction_tuning<T, true>, sizeof(T)>>();
  });
}

template <class Exec, class Lists>
void add_run_rows() {
  for_each_row([](auto type) {
    using T = typename decltype(type)::type;
    add_row<shares_at_scale<run_length_problem<Exec, T>, 4, 256>, encode_call,
            typename Lists::template runs<kernels::compaction_tuning<T, false>, sizeof(T)>>();
  });
}

/// Keys with values of 4 bytes: 8, 12 and 36 bytes together, one of each class.
template <class Exec, class Lists>
void add_by_key_rows() {
  const auto add_key = []<class Key>(std::type_identity<Key>) {
    constexpr int bytes = tuning::pair_class(sizeof(Key) + sizeof(std::uint32_t));
    add_row<shares_at_scale<reduce_by_key_problem<Exec, Key>, 4, 256>, by_key_call,
            typename Lists::template by_key<tuning::reduce_by_key<bytes>, bytes>>();
  };
  add_key(std::type_identity<std::uint32_t>{});
  add_key(std::type_identity<std::uint64_t>{});
  add_key(std::type_identity<numbers<4>>{});
}

}  // namespace lanewise::perf
