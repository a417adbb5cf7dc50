// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The slab map and the slab allocator, beside the maps of the standard library and of TBB on the
// host. util55 and util65 are tables with 0.6 and 0.85 elements per place of their first slabs,
// which for 4-byte keys and values gives those percentages of all slabs' bytes. insert, find_hit
// and find_miss work in the order of the arrays; build and find_batched in the order that the
// library chooses, and as variant by_region sorted.

#include "support.hpp"
#include <lanewise/slab_hash_map.hpp>

#include <memory>
#include <unordered_map>

#if defined(LANEWISE_PERF_TBB)
#include <tbb/concurrent_hash_map.h>
#endif

namespace lanewise::perf {

struct slab_point {
  std::int64_t n;
  double load;
};

template <class Exec>
std::vector<slab_point> slab_points() {
  std::vector<slab_point> points;
  for (const double load : {0.6, 0.85}) {
    points.push_back({std::int64_t{1} << 24, load});
    if (!on_host<Exec>) points.push_back({std::int64_t{1} << 28, load});
  }
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

  static std::vector<point> points() { return slab_points<Exec>(); }
  static row name(const char* algorithm, const point& p) {
    return {algorithm,
            backend_name<Exec>(),
            "",
            type_name<T>() + "." + type_name<T>(),
            p.load < 0.7 ? "util55" : "util65",
            p.n};
  }

  slab_problem(const point& p, bool hit) : n(p.n), load(p.load) {
    fill(exec, keys, slab_key<T>{0});
    fill(exec, values, slab_value<T>{});
    fill(exec, queries, shuffled{n, hit});
  }
  map empty_map() const { return map(exec, {.expected = n, .load = load}); }

  /// Query i asks for key `place(i)`, or for as many keys that are not there.
  static KOKKOS_FUNCTION std::int64_t place(std::int64_t i, std::int64_t n) {
    return 0x2545F491 * i & (n - 1);
  }
  struct shuffled {
    std::int64_t n;
    bool hit;
    KOKKOS_FUNCTION T operator()(std::int64_t i) const {
      return slab_key<T>{hit ? 0u : 1u}(place(i, n));
    }
  };
};

/// Finds all keys, or as many others.
template <class Exec, class T, bool hit, bool batched>
struct find_problem : slab_problem<Exec, T> {
  using base = slab_problem<Exec, T>;
  typename base::map table = base::empty_map();

  explicit find_problem(const slab_point& p) : base(p, hit) {
    insert(this->exec, table, this->keys, this->values);
    Kokkos::deep_copy(this->answers, T{0});
  }
  static row name(const slab_point& p) {
    return base::name(batched ? "slab_hash_map.find_batched"
                              : (hit ? "slab_hash_map.find_hit" : "slab_hash_map.find_miss"),
                      p);
  }
  std::int64_t bytes() const { return this->n * static_cast<std::int64_t>(128 + 2 * sizeof(T)); }
  bool correct() const { return sum<std::int64_t>(this->exec, this->n, wrong{this->answers}) == 0; }
  struct wrong {
    array<Exec, T> answers;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const {
      const auto expected = slab_value<T>{}(slab_problem<Exec, T>::place(i, answers.extent(0)));
      return answers(i) != (hit ? expected : T{0});
    }
  };
};

/// Fills an empty table, or erases all that a full one has.
enum class change { insert, build, erase };
template <class Exec, class T, change what>
struct change_problem : slab_problem<Exec, T> {
  using base = slab_problem<Exec, T>;
  // Mutable, as the check reads the table, which a call may not do with a constant one.
  mutable typename base::map table = base::empty_map();

  explicit change_problem(const slab_point& p) : base(p, true) {
    insert(this->exec, table, this->keys, this->values);  // the pool has its size from here on
  }
  static row name(const slab_point& p) {
    return base::name(what == change::insert  ? "slab_hash_map.insert"
                      : what == change::build ? "slab_hash_map.build"
                                              : "slab_hash_map.erase",
                      p);
  }
  std::int64_t bytes() const { return this->n * static_cast<std::int64_t>(128 + 2 * sizeof(T)); }
  bool correct() const {
    const std::int64_t there = statistics(this->exec, table).elements;
    return there == (what == change::erase ? 0 : this->n);
  }
};

/// 10 % insertions, 10 % deletions, 80 % searches in a table that is half full at first.
template <class Exec, class T>
struct mixed_problem : slab_problem<Exec, T> {
  using base = slab_problem<Exec, T>;
  typename base::map table = base::empty_map();
  array<Exec, slab_operation> operations{"perf::operations", static_cast<std::size_t>(this->n)};
  Kokkos::View<slab_tally, typename Exec::memory_space> tally{"perf::tally"};

  explicit mixed_problem(const slab_point& p) : base(p, true) {
    fill(this->exec, operations, kind{});
    prepare();
  }
  void prepare() {
    clear(this->exec, table);
    const auto half = Kokkos::make_pair(std::int64_t{0}, this->n / 2);
    insert(this->exec, table, Kokkos::subview(this->keys, half),
           Kokkos::subview(this->values, half));
    Kokkos::deep_copy(tally, slab_tally{});
  }
  static row name(const slab_point& p) { return base::name("slab_hash_map.mixed10_10_80", p); }
  std::int64_t bytes() const { return this->n * static_cast<std::int64_t>(128 + 2 * sizeof(T)); }
  bool correct() const {
    slab_tally t;
    Kokkos::deep_copy(Kokkos::View<slab_tally, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(&t),
                      tally);
    std::uint64_t all = 0;
    for (const auto c : t.count) all += c;
    return t[slab_status::no_room] == 0 && static_cast<std::int64_t>(all) == this->n &&
           t[slab_status::erased] > 0 && t[slab_status::inserted] > 0;
  }
  struct kind {
    KOKKOS_FUNCTION slab_operation operator()(std::int64_t i) const {
      const std::uint64_t r = hash(static_cast<std::uint64_t>(i)) % 10;
      return r == 0   ? slab_operation::insert
             : r == 1 ? slab_operation::erase
                      : slab_operation::find;
    }
  };
};

template <class Exec, class T>
void add_slab_map() {
  const auto look = [](slab_order order) {
    return [order](auto& p, auto time) {
      time([&] { find(p.exec, p.table, p.queries, p.answers, {.work = &p.work, .order = order}); });
    };
  };
  const auto fill_up = [](slab_order order) {
    return [order](auto& p, auto time) {
      time([&] { clear(p.exec, p.table); },
           [&] { insert(p.exec, p.table, p.keys, p.values, {.work = &p.work, .order = order}); });
    };
  };
  add<find_problem<Exec, T, true, false>>("lanewise", look(slab_order::as_given));
  add<find_problem<Exec, T, false, false>>("lanewise", look(slab_order::as_given));
  add<find_problem<Exec, T, true, true>>("lanewise", look(slab_order::automatic));
  add<find_problem<Exec, T, true, true>>("lanewise.by_region", look(slab_order::by_region));
  add<change_problem<Exec, T, change::insert>>("lanewise", fill_up(slab_order::as_given));
  add<change_problem<Exec, T, change::build>>("lanewise", fill_up(slab_order::automatic));
  add<change_problem<Exec, T, change::build>>("lanewise.by_region", fill_up(slab_order::by_region));
  add<change_problem<Exec, T, change::erase>>("lanewise", [](auto& p, auto time) {
    time(
        [&] {
          clear(p.exec, p.table);
          insert(p.exec, p.table, p.keys, p.values, {.work = &p.work});
        },
        [&] { erase(p.exec, p.table, p.queries); });
  });
  add<mixed_problem<Exec, T>>("lanewise", [](auto& p, auto time) {
    time([&] { p.prepare(); },
         [&] {
           apply(p.exec, p.table, p.operations, p.queries, p.answers,
                 {.work = &p.work, .tally = p.tally});
         });
  });
}

// The allocator.

template <bool gives_back>
struct allocate_kernel {
  struct policy : launch_policy {};
  template <class Team>
  struct scratch {};

  slab_pool<pool_kind::growing> pool;
  std::int64_t n;
  std::uint64_t* failed;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    const auto warp = team.warp();
    const std::int64_t id = std::int64_t{team.index()} * Team::warps + team.warp_index();
    const index_range mine =
        even_share(n / warp_type::width, id, std::int64_t{team.league()} * Team::warps);
    slab_resident<warp_type> resident(warp, static_cast<std::uint64_t>(id));
    std::uint64_t without = 0;
    for (std::int64_t w = mine.begin; w < mine.end; ++w) {
      const auto unit = pool.allocate(warp, resident, warp.first(warp_type::width));
      const auto have = unit != no_unit;
      without += static_cast<std::uint64_t>(warp.count(!have));
      if constexpr (gives_back) pool.deallocate(warp, have, unit);
    }
    if (without != 0) warp.fetch_add(*failed, without);
  }
};

/// n allocations, of a pool that is then full to two thirds; with churn each is given back at once.
template <class Exec, bool churn>
struct allocator_problem {
  using point = slab_point;
  Exec exec{};
  std::int64_t n;
  slab_allocator<typename Exec::memory_space> pool{exec, churn ? n / 8 : n + n / 2};
  array<Exec, std::uint64_t> failed{"perf::failed", 1};

  static std::vector<point> points() { return {{std::int64_t{1} << (on_host<Exec> ? 20 : 24), 0}}; }
  static row name(const point& p) {
    return {churn ? "slab_allocator.churn" : "slab_allocator.allocate",
            backend_name<Exec>(),
            "",
            "units",
            "util66",
            p.n};
  }
  explicit allocator_problem(const point& p) : n(p.n) {}
  std::int64_t bytes() const { return n / 8; }
  void prepare() {
    if constexpr (!churn) pool = slab_allocator<typename Exec::memory_space>(exec, n + n / 2);
  }
  bool correct() const {
    std::uint64_t f = 0;
    Kokkos::deep_copy(
        Kokkos::View<std::uint64_t[1], Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(&f), failed);
    return f == 0 && usage(exec, pool).allocated == (churn ? 0 : n);
  }
};

template <class Exec>
void add_allocator() {
  const auto call = [](auto& p, auto churn) {
    using kernel = allocate_kernel<decltype(churn)::value>;
    launch(p.exec, "Lanewise::slab_allocator",
           backend_of<Exec>::template resident_league<kernel>(p.exec, p.n / 256),
           kernel{p.pool.view(), p.n, p.failed.data()});
  };
  add<allocator_problem<Exec, false>>("lanewise", [call](auto& p, auto time) {
    time([&] { p.prepare(); }, [&] { call(p, std::false_type{}); });
  });
  add<allocator_problem<Exec, true>>(
      "lanewise", [call](auto& p, auto time) { time([&] { call(p, std::true_type{}); }); });
}

// Peers on the host.

/// The standard library's map, on one thread.
template <class T>
void add_std() {
  using exec = Kokkos::Serial;
  using table = std::unordered_map<T, T>;
  const auto filled = [](const auto& p) {
    table t;
    t.reserve(static_cast<std::size_t>(p.n));
    for (std::int64_t i = 0; i < p.n; ++i) t.emplace(p.keys(i), p.values(i));
    return t;
  };
  const auto look = [filled](auto& p, auto time) {
    const table t = filled(p);
    time([&] {
      for (std::int64_t i = 0; i < p.n; ++i) {
        const auto at = t.find(p.queries(i));
        if (at != t.end()) p.answers(i) = at->second;
      }
    });
  };
  add<find_problem<exec, T, true, false>>("std", look);
  add<find_problem<exec, T, false, false>>("std", look);
  add<change_problem<exec, T, change::insert>>(
      "std", [filled](auto& p, auto time) { time([&] { benchmark::DoNotOptimize(filled(p)); }); });
}

#if defined(LANEWISE_PERF_TBB)
template <class Exec, class T>
void add_tbb() {
  using table = tbb::concurrent_hash_map<T, T>;
  const auto put = [](const auto& p, table& t) {
    in_shares(p.exec, p.n, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) t.insert({p.keys(i), p.values(i)});
    });
  };
  const auto look = [put](auto& p, auto time) {
    table t(static_cast<std::size_t>(p.n));
    put(p, t);
    time([&] {
      in_shares(p.exec, p.n, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        typename table::const_accessor at;
        for (std::int64_t i = begin; i < end; ++i) {
          if (t.find(at, p.queries(i))) p.answers(i) = at->second;
        }
      });
    });
  };
  add<find_problem<Exec, T, true, false>>("tbb", look);
  add<find_problem<Exec, T, false, false>>("tbb", look);
  add<change_problem<Exec, T, change::insert>>("tbb", [put](auto& p, auto time) {
    auto t = std::make_unique<table>(static_cast<std::size_t>(p.n));
    time([&] { t = std::make_unique<table>(static_cast<std::size_t>(p.n)); }, [&] { put(p, *t); });
  });
}
#endif

template <class Exec>
void add_slab() {
  add_slab_map<Exec, std::uint32_t>();
  add_slab_map<Exec, std::uint64_t>();
  add_allocator<Exec>();
#if defined(LANEWISE_PERF_TBB)
  if constexpr (on_host<Exec>) {
    add_tbb<Exec, std::uint32_t>();
    add_tbb<Exec, std::uint64_t>();
  }
#endif
}

}  // namespace lanewise::perf

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
#if defined(KOKKOS_ENABLE_CUDA)
  lanewise::perf::add_slab<Kokkos::Cuda>();
#endif
#if defined(KOKKOS_ENABLE_SERIAL)
  lanewise::perf::add_slab<Kokkos::Serial>();
  lanewise::perf::add_std<std::uint32_t>();
  lanewise::perf::add_std<std::uint64_t>();
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
  lanewise::perf::add_slab<Kokkos::OpenMP>();
#endif
#if defined(KOKKOS_ENABLE_THREADS)
  lanewise::perf::add_slab<Kokkos::Threads>();
#endif
  return lanewise::perf::run(argc, argv);
}
