// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Searches of many queries in sorted keys: the problems, and Lanewise's variants of them.
// bench_search.<where>.cpp add the peers.

#include "support.hpp"
#include <lanewise/search/sorted_search.hpp>

#include <string>

namespace lanewise::perf {

/// Number i of `count` ascending random numbers of type T, which are spread over all of it.
template <class T>
struct ascending_item {
  std::int64_t count;
  std::uint64_t salt;
  KOKKOS_FUNCTION T operator()(std::int64_t i) const {
    const std::uint64_t gap = (T(~T(0)) / static_cast<std::uint64_t>(count)) | 1;
    return static_cast<T>(static_cast<std::uint64_t>(i) * gap + hash(i + salt) % gap);
  }
};

enum class asked { random, sorted, worst };

struct search_point {
  std::int64_t keys;
  std::int64_t n;  ///< queries
};

/// The first key that is not less, for each of n queries. Tag says what the rows are called, where
/// the queries are, and how many there are.
template <class Exec, class T, class Tag>
struct search_problem {
  using exec_space = Exec;
  using item = T;
  using index = std::uint32_t;

  Exec exec{};
  std::int64_t count;
  std::int64_t n;
  array<Exec, T> keys{"perf::keys", static_cast<std::size_t>(count)};
  array<Exec, T> queries{"perf::queries", static_cast<std::size_t>(n)};
  array<Exec, index> out{"perf::out", static_cast<std::size_t>(n)};

  explicit search_problem(const search_point& p) : count(p.keys), n(p.n) {
    fill(exec, keys, ascending_item<T>{count, 0});
    if constexpr (Tag::order == asked::sorted) {
      fill(exec, queries, ascending_item<T>{n, 77});
    } else if constexpr (Tag::order == asked::worst) {
      fill(exec, queries, worst_item{keys, count});
    } else {
      fill(exec, queries, random_query{});
    }
  }
  static std::vector<search_point> points() { return Tag::template points<Exec, T>(); }
  static row name(const search_point& p) {
    constexpr bool few = Tag::distribution[0] == 'f';
    return {Tag::name,      backend_name<Exec>(), "",
            type_name<T>(), Tag::distribution,    few ? p.n : p.keys};
  }
  std::int64_t bytes() const { return n * static_cast<std::int64_t>(sizeof(T) + sizeof(index)); }
  bool correct() const { return sum<std::int64_t>(exec, n, wrong{keys, queries, out, count}) == 0; }

  struct random_query {
    KOKKOS_FUNCTION T operator()(std::int64_t i) const {
      return static_cast<T>(hash(i + 123'456'789));
    }
  };
  /// The queries of 32 lanes lie in 32 equal parts of the keys, at the same place in each (Karsin,
  /// Casanova and Sitchinava, section 4).
  struct worst_item {
    array<Exec, T> keys;
    std::int64_t count;
    KOKKOS_FUNCTION T operator()(std::int64_t i) const {
      const std::int64_t part = count / 32;
      return keys(i % 32 * part + static_cast<std::int64_t>(hash(i / 32) % part));
    }
  };
  struct wrong {
    array<Exec, T> keys, queries;
    array<Exec, index> out;
    std::int64_t count;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const {
      const std::int64_t at = out(i);
      return at > count || (at > 0 && !(keys(at - 1) < queries(i))) ||
             (at < count && keys(at) < queries(i));
    }
  };
};

constexpr std::int64_t two_to(int e) {
  return std::int64_t{1} << e;
}

/// As many queries as keys, but no more than are enough.
template <class Exec, class T>
std::vector<search_point> points_over_keys(std::int64_t most_queries) {
  std::vector<search_point> result;
  if constexpr (on_host<Exec>) {
    for (const std::int64_t keys : {two_to(10), two_to(16), two_to(20), std::int64_t{10'000'000}})
      result.push_back({keys, std::min(keys, two_to(22))});
  } else {
    for (const int e : {12, 16, 20, 24, 26, 28}) {
      if (sizeof(T) == 8 && e == 28) continue;
      result.push_back({two_to(e), std::min(std::max(two_to(e), two_to(20)), most_queries)});
    }
  }
  return result;
}

struct random_search {
  static constexpr const char *name = "lower_bound.random", *distribution = "uniform";
  static constexpr asked order = asked::random;
  template <class Exec, class T>
  static std::vector<search_point> points() {
    return points_over_keys<Exec, T>(two_to(26));
  }
};
struct sorted_search : random_search {
  static constexpr const char *name = "lower_bound.sorted", *distribution = "sorted";
  static constexpr asked order = asked::sorted;
  template <class Exec, class T>
  static std::vector<search_point> points() {
    return points_over_keys<Exec, T>(two_to(28));
  }
};
struct plain_search : random_search {
  static constexpr const char* name = "lower_bound.plain";
  template <class Exec, class T>
  static std::vector<search_point> points() {
    return random_search::points<Exec, T>();
  }
};
/// As many queries, few for their keys, as the name says.
struct few_searches : random_search {
  static constexpr const char* name = "lower_bound.plain";
  static constexpr const char* distribution = "few";
  template <class Exec, class T>
  static std::vector<search_point> points() {
    std::vector<search_point> result;
    for (const int e : {10, 14, 18, 20, 22})
      result.push_back({two_to(on_host<Exec> ? 22 : 24), two_to(e)});
    return result;
  }
};
/// Lists in scratch.
struct scratch_search {
  static constexpr const char *name = "lower_bound.scratch", *distribution = "uniform";
  static constexpr asked order = asked::random;
  template <class Exec, class T>
  static std::vector<search_point> points() {
    std::vector<search_point> result;
    for (const std::int64_t keys : {32, 256, 1024, 2048, 4000, 4096, 8000})
      result.push_back(
          {keys, on_host<Exec> ? two_to(20) : (keys == 4096 ? 500'000'000 : two_to(27))});
    return result;
  }
};
struct worst_scratch_search : scratch_search {
  static constexpr const char* distribution = "worst";
  static constexpr asked order = asked::worst;
  template <class Exec, class T>
  static std::vector<search_point> points() {
    auto result = scratch_search::points<Exec, T>();
    std::erase_if(result, [](const search_point& p) { return (p.keys & (p.keys - 1)) != 0; });
    return result;
  }
};

/// The index of sorted keys.
template <class Exec, class T>
struct index_problem {
  using exec_space = Exec;
  using item = T;
  Exec exec{};
  std::int64_t n;
  array<Exec, T> keys{"perf::keys", static_cast<std::size_t>(n)};
  search_index<T, typename Exec::memory_space> index;

  explicit index_problem(const search_point& p) : n(p.keys) {
    fill(exec, keys, ascending_item<T>{n, 0});
  }
  static std::vector<search_point> points() { return random_search::points<Exec, T>(); }
  static row name(const search_point& p) {
    return {"search_index.build", backend_name<Exec>(), "", type_name<T>(), "uniform", p.keys};
  }
  std::int64_t bytes() const { return index.bytes() * 2; }
  bool correct() const { return index.size() == n; }
};

template <class Exec, class T>
void add_searches_of() {
  add<index_problem<Exec, T>>("lanewise", [](auto& p, auto time) {
    p.index = {p.exec, p.keys};
    time([&] { p.index.build(p.exec); });
  });
  add<search_problem<Exec, T, random_search>>("lanewise", [](auto& p, auto time) {
    const search_index<T, typename Exec::memory_space> index(p.exec, p.keys);
    time([&] { lower_bound(p.exec, index, p.queries, p.out); });
  });
  const auto plain = [](auto& p, auto time) {
    workspace work;
    time([&] { lower_bound(p.exec, p.keys, p.queries, p.out, less{}, {.work = &work}); });
  };
  add<search_problem<Exec, T, plain_search>>("lanewise", plain);
  add<search_problem<Exec, T, few_searches>>("lanewise", plain);
  add<search_problem<Exec, T, sorted_search>>("lanewise", [](auto& p, auto time) {
    workspace work;
    time([&] {
      lower_bound(p.exec, p.keys, p.queries, p.out, less{},
                  {.work = &work, .sorted_queries = true});
    });
  });
}

template <class Exec, class T, class Tag>
void add_scratch_searches_of() {
  using problem = search_problem<Exec, T, Tag>;
  const auto add_method = [](const char* variant, const auto& method) {
    add<problem>(variant, [method](auto& p, auto time) {
      time([&] { lower_bound_in_scratch(p.exec, method, p.keys, p.queries, p.out); });
    });
  };
  add_method("lanewise", column_search<32>{});
  add_method("lanewise.cf", column_search<32, window_search::linear>{});
  add_method("lanewise.pbs", column_search<1>{});
}

template <class Exec>
void add_lanewise_searches() {
  add_searches_of<Exec, std::uint32_t>();
  add_searches_of<Exec, std::uint64_t>();
  if constexpr (!on_host<Exec>) {
    add_scratch_searches_of<Exec, std::uint32_t, scratch_search>();
    add_scratch_searches_of<Exec, std::uint32_t, worst_scratch_search>();
    add_scratch_searches_of<Exec, std::uint64_t, scratch_search>();
    add_scratch_searches_of<Exec, std::uint64_t, worst_scratch_search>();
  }
}

void add_searches_cuda();
void add_searches_host();

}  // namespace lanewise::perf
