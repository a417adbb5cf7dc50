// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What Ashkiani's tables 4.2 to 4.4 and the cleanup's experiment measure, on devices: a dictionary
// after every number r of batches. items_per_second is the harmonic mean over all r, as all items
// over all seconds; min and max are of single r. docs/ordered.md has the tables.

#include "lsm.hpp"
#include <lanewise/ordered/ordered_map.hpp>

namespace lanewise::perf {

/// Random queries that are among the first elements, or missing.
struct lsm_query_at {
  bool hit;
  std::int64_t elements;
  KOKKOS_FUNCTION std::uint32_t operator()(std::int64_t i) const {
    const auto at = static_cast<std::int64_t>(hash(static_cast<std::uint64_t>(i) + 77) %
                                              static_cast<std::uint64_t>(elements));
    return lsm_key<std::uint32_t>{!hit, 0}(at);
  }
};
/// Ends of ranges of this width.
struct lsm_bound {
  std::uint32_t width, add;
  KOKKOS_FUNCTION std::uint32_t operator()(std::int64_t i) const {
    return lsm_key<std::uint32_t>{false, 999}(i) % (~std::uint32_t{0} - width) + add;
  }
};

namespace {

/// Rates of many calls.
struct lsm_rates {
  double items = 0, seconds = 0, least = std::numeric_limits<double>::infinity(), most = 0;

  void take(std::int64_t n, double s) {
    items += static_cast<double>(n);
    seconds += s;
    least = std::min(least, static_cast<double>(n) / s);
    most = std::max(most, static_cast<double>(n) / s);
  }
  void report(benchmark::State& state) const {
    for (auto _ : state) state.SetIterationTime(seconds);
    state.SetItemsProcessed(static_cast<std::int64_t>(items));
    state.counters["min"] = least;
    state.counters["max"] = most;
  }
};

template <class Exec>
row lsm_table_row(const std::string& what, const char* variant, int e, std::int64_t n) {
  return {"lsm_tables." + what + ".b" + std::to_string(e),
          backend_name<Exec>(),
          variant,
          "u32.u32",
          "uniform",
          n};
}

/// Table 4.2: each of the batches up to `all` elements; mean24 is of those up to 2^24.
template <class Exec, class Map>
void add_lsm_insertions(const char* variant, int least, std::int64_t all) {
  for (int e = least; (std::int64_t{1} << e) <= all; ++e)
    add(lsm_table_row<Exec>("insert", variant, e, all), [e, all](benchmark::State& state) {
      lsm_problem<Exec, std::uint32_t> p({all, e, all});
      const stopwatch<Exec> clock(p.exec);
      lsm_rates rates;
      for (const bool warm_up : {true, false}) {
        Map map;
        for (std::int64_t at = 0; at < (warm_up ? std::min(all, 4 * p.batch) : all);
             at += p.batch) {
          const double s = clock.seconds([&] { p.put(map, at, at + p.batch); });
          if (!warm_up) rates.take(p.batch, s);
          if (!warm_up && at + p.batch == 1 << 24)
            state.counters["mean24"] = rates.items / rates.seconds;
        }
      }
      rates.report(state);
    });
}

/// Asks a dictionary after every number of batches up to 2^24 elements: time(r, map) is what n
/// queries took.
template <class Exec, class Map, class Prepare>
void add_lsm_questions(const std::string& what, const char* variant, int e, std::int64_t n,
                       const Prepare& prepare) {
  constexpr std::int64_t all = 1 << 24;
  add(lsm_table_row<Exec>(what, variant, e, n), [e, n, prepare](benchmark::State& state) {
    lsm_problem<Exec, std::uint32_t> p({n, e, all});
    Map map;
    auto ask = prepare(p);
    lsm_rates rates;
    for (std::int64_t at = 0; at < all; at += p.batch) {
      p.put(map, at, at + p.batch);
      const double first = ask(map, at + p.batch);
      if (at > 0) rates.take(n, first);
      if (at == 0) rates.take(n, ask(map, p.batch));  // the first call of all is slower
    }
    rates.report(state);
  });
}

/// Table 4.3.
template <class Exec, class Map>
void add_lsm_lookups(const char* variant, bool hit) {
  for (int e = 16; e <= 24; ++e)
    add_lsm_questions<Exec, Map>(
        hit ? "find_hit" : "find_miss", variant, e, 1 << 22, [hit](auto& p) {
          const array<Exec, std::uint32_t> queries("perf::queries", p.n), found("perf::found", p.n);
          return [hit, queries, found, &p](const Map& map, std::int64_t elements) {
            fill(p.exec, queries, lsm_query_at{hit, elements});
            p.exec.fence();
            return stopwatch<Exec>(p.exec).seconds([&] { find(p.exec, map, queries, found); });
          };
        });
}

/// Table 4.4: ranges of an expected length.
template <class Exec, class Map>
void add_lsm_ranges(const char* variant, bool counts, std::int64_t length) {
  const std::int64_t n = length < 100 ? 1 << 20 : 1 << 16;
  for (int e = 16; e <= 20; ++e)
    add_lsm_questions<Exec, Map>(
        (counts ? "count.l" : "range.l") + std::to_string(length), variant, e, n,
        [counts, length](auto& p) {
          using keys = array<Exec, std::uint32_t>;
          const std::int64_t room = counts ? 0 : p.n * length * 11 / 10;
          const keys k1("perf::k1", p.n), k2("perf::k2", p.n), out("perf::out", room),
              values("perf::values", room);
          const array<Exec, std::int64_t> numbers("perf::numbers", p.n + 1);
          return [=, &p](const Map& map, std::int64_t elements) {
            const auto width = static_cast<std::uint32_t>((length << 32) / elements);
            fill(p.exec, k1, lsm_bound{width, 0});
            fill(p.exec, k2, lsm_bound{width, width});
            p.exec.fence();
            return stopwatch<Exec>(p.exec).seconds([&] {
              if (counts) {
                count(p.exec, map, k1, k2, numbers, {.work = &p.work});
              } else {
                lanewise::range(p.exec, map, k1, k2, numbers, out, values, {.work = &p.work});
              }
            });
          };
        });
}

/// The cleanup of `batches` batches of 2^e, and one in `every` erases what came before it; and
/// look-ups before it and after.
template <class Exec>
void add_lsm_cleanups(int e, std::int64_t batches, int every) {
  const std::int64_t n = batches << e;
  using map_type = lsm_map<std::uint32_t, std::uint32_t, typename Exec::memory_space>;
  const std::string share = std::to_string(100 / every);
  add(lsm_table_row<Exec>("cleanup" + share, "lanewise", e, n), [=](benchmark::State& state) {
    lsm_problem<Exec, std::uint32_t> p({n, e, n});
    map_type full, map;
    for (std::int64_t b = 0; b < batches; ++b) {
      const std::int64_t at = b << e;
      if (b % every == every - 1) {
        erase(p.exec, full, Kokkos::subview(p.keys, Kokkos::make_pair(at - p.batch, at)));
      } else {
        p.put(full, at, at + p.batch);
      }
    }
    const double s = median_seconds(
        p.exec, [&] { map = full.snapshot(); }, [&] { cleanup(p.exec, map, {.work = &p.work}); });
    constexpr std::int64_t queries = 32'000'000;
    const array<Exec, std::uint32_t> ask("perf::queries", queries), found("perf::found", queries);
    fill(p.exec, ask, random_item<std::uint32_t>{});
    const auto look = [&](const map_type& m) {
      return 1e3 * median_seconds(p.exec, [&] { find(p.exec, m, ask, found); });
    };
    for (auto _ : state) state.SetIterationTime(s);
    state.SetItemsProcessed(n);
    state.counters["live"] = static_cast<double>(map.elements());
    state.counters["bytes"] = static_cast<double>(statistics(p.exec, map).bytes);
    state.counters["before_ms"] = look(full);
    state.counters["after_ms"] = look(map);
  });
}

template <class Exec>
void add_tables() {
  using memory = typename Exec::memory_space;
  using levels = lsm_map<std::uint32_t, std::uint32_t, memory>;
  using sorted = sorted_array<std::uint32_t, std::uint32_t, memory>;
  constexpr std::int64_t all = std::int64_t{1} << 27;
  add_lsm_insertions<Exec, levels>("lanewise", 15, all);
  add_lsm_insertions<Exec, sorted>("sorted_array", 15, all);
  add_lsm_insertions<Exec, ordered_map<std::uint32_t, std::uint32_t, memory>>("ordered_map", 16,
                                                                              all);
  for (const bool hit : {false, true}) {
    add_lsm_lookups<Exec, levels>("lanewise", hit);
    add_lsm_lookups<Exec, sorted>("sorted_array", hit);
  }
  for (const bool counts : {true, false}) {
    for (const std::int64_t length : {8, 1024}) {
      add_lsm_ranges<Exec, levels>("lanewise", counts, length);
      add_lsm_ranges<Exec, sorted>("sorted_array", counts, length);
    }
  }
  for (const int every : {10, 2}) {
    add_lsm_cleanups<Exec>(20, 63, every);
    add_lsm_cleanups<Exec>(19, 127, every);
  }
  add_lsm_cleanups<Exec>(18, 127, 10);
}

}  // namespace

void add_lsm_tables() {
  add_tables<Kokkos::Cuda>();
}

}  // namespace lanewise::perf
