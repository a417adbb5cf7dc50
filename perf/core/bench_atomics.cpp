// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What contended atomics cost (Merrill, 1.3.1): a copy in which every period-th item also adds to
// one counter, in global memory or in the team's scratch. Allocating by a scan needs one addition
// per tile; this is what it saves.
//
// nvcc makes one addition per warp where it sees that all lanes add to one word. It does so by a
// vote or, if the addends differ, by a scan. Here each item does its own: nvcc cannot know that
// their counters are the same. The variant per_warp is the scan, by hand.

#include "support.hpp"
#include <lanewise/backend.hpp>
#include <lanewise/host.hpp>

namespace lanewise::perf {
namespace {

enum class counter_in { global, scratch };
enum class adding { per_item, per_warp };

/// What an item adds to the counter.
template <class Items>
LANEWISE_FUNCTION Items addend_of(const Items& item) {
  return (item & Items(31u)) + Items(1u);
}

/// out = in; the counter stays below 2^31, and the copy waits for the old value as an allocation
/// would.
template <counter_in where, adding how>
struct copy_and_count {
  struct policy : launch_policy {
    static constexpr int teams_per_multiprocessor = 8;
  };
  template <class Team>
  struct scratch {
    std::uint32_t counter;
  };

  const std::uint32_t* in;
  std::uint32_t* out;
  std::int64_t n;
  std::int64_t period;  // a power of two, or 0 for no atomics
  std::uint32_t* counter;
  std::uint32_t last_counter = 0;  // a power of two less one; only the caller knows that it is 0

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using warp_type = typename Team::warp_type;
    using lanes = typename warp_type::template lanes<std::uint32_t>;
    constexpr int width = warp_type::width;
    const auto warp = team.warp();
    team.once([&] { shared.counter = 0; });
    team.barrier();
    std::uint32_t& word = where == counter_in::global ? *counter : shared.counter;
    const auto mask = static_cast<std::uint32_t>(period) - 1;
    const auto chosen = (warp.lane() & lanes(mask)) == lanes(0u);
    const auto [begin, end] = team.share(n / width);
    for (std::int64_t w = begin + team.warp_index(); w < end; w += Team::warps) {
      const std::int64_t i = w * width;
      lanes items = warp.load(in + i);
      if (period > 0 && (i & (period - 1)) == 0) {
        items = items + (reserve(warp, chosen, word, addend_of(items)) >> 31);
      }
      warp.store(out + i, items);
    }
  }

 private:
  /// The counter before the addition of each chosen lane.
  template <class Warp, class Mask, class Lanes>
  LANEWISE_FUNCTION Lanes reserve(const Warp& warp, const Mask& chosen, std::uint32_t& word,
                                  const Lanes& addend) const {
    if constexpr (how == adding::per_item) {
      const Lanes which = warp.lane() & Lanes(last_counter);
      return warp.fetch_add(chosen, &word, which, addend);
    } else {
      const Lanes added = select(chosen, addend, Lanes(0u));
      const Lanes with = warp.inclusive_scan(added, plus{});
      const std::uint32_t total = warp.broadcast(with, Warp::width - 1);
      return Lanes(warp.fetch_add(word, total)) + with - added;
    }
  }
};

/// Merrill's copy of 32 M items on a device; fewer on the host, where one core does all of it.
template <class Exec, adding how>
struct atomic_problem : copy_problem<Exec> {
  struct point {
    std::int64_t n;
    counter_in where;
    std::int64_t period;
  };
  counter_in where;
  std::int64_t period;
  Kokkos::View<std::uint32_t, typename Exec::memory_space> counter{"perf::counter"};

  explicit atomic_problem(const point& p)
      : copy_problem<Exec>({p.n}), where(p.where), period(p.period) {}

  /// From every 32nd item on a warp adds once in either way.
  static std::vector<point> points() {
    const std::int64_t n = std::int64_t{1} << (on_host<Exec> ? 22 : 25);
    constexpr std::int64_t most = how == adding::per_item ? 1 << 18 : 16;
    std::vector<point> all;
    if (how == adding::per_item) all.push_back({n, counter_in::global, 0});
    for (const counter_in where : {counter_in::global, counter_in::scratch}) {
      for (std::int64_t period = 1; period <= most; period *= 2) all.push_back({n, where, period});
    }
    return all;
  }
  static row name(const point& p) {
    const std::string what =
        p.period == 0
            ? "none"
            : (p.where == counter_in::global ? "global.k" : "scratch.k") + std::to_string(p.period);
    return {"copy_and_count." + what, backend_name<Exec>(), "", "u32", "uniform", p.n};
  }
  bool correct() const {
    if (!copy_problem<Exec>::correct()) return false;
    if (period == 0 || where == counter_in::scratch) return true;
    std::uint32_t counted;
    Kokkos::deep_copy(counted, counter);
    return counted == sum<std::uint32_t>(this->exec, this->n, added{this->in, period});
  }

  struct added {
    array<Exec, std::uint32_t> in;
    std::int64_t period;
    KOKKOS_FUNCTION std::uint32_t operator()(std::int64_t i) const {
      return i % period == 0 ? addend_of(in(i)) : 0;
    }
  };
};

template <counter_in where, adding how, class Problem, class Time>
void time_copy(Problem& p, const Time& time) {
  using exec_space = decltype(p.exec);
  using kernel_type = copy_and_count<where, how>;
  const kernel_type kernel{p.in.data(), p.out.data(), p.n, p.period, p.counter.data()};
  const auto league =
      backend_of<exec_space>::template resident_league<kernel_type>(p.exec, p.n / 4096);
  time([&] {
    Kokkos::deep_copy(p.exec, p.counter, 0u);
    launch(p.exec, "Lanewise::copy_and_count", league, kernel);
  });
}

template <class Exec, adding how>
void add_variant(const char* variant) {
  using problem = atomic_problem<Exec, how>;
  add<problem>(variant, [](problem& p, auto time) {
    if (p.where == counter_in::global) {
      time_copy<counter_in::global, how>(p, time);
    } else {
      time_copy<counter_in::scratch, how>(p, time);
    }
  });
}

template <class Exec>
void add_space() {
  add_variant<Exec, adding::per_item>("lanewise");
  add_variant<Exec, adding::per_warp>("lanewise.per_warp");
}

}  // namespace
}  // namespace lanewise::perf

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  lanewise::perf::for_each_backend([](auto exec) { lanewise::perf::add_space<decltype(exec)>(); });
  return lanewise::perf::run(argc, argv);
}
