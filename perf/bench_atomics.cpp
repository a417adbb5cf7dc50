// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What contended atomics cost (Merrill, 1.3.1): a copy in which every period-th item also adds to
// one counter, in global memory or in the team's scratch. Allocating by a scan needs one addition
// per tile; this is what it saves.

#include "support.hpp"
#include <lanewise/backend.hpp>

namespace lanewise::perf {
namespace {

enum class counter_in { global, scratch };

/// out = in; the sum's upper half stays 0, and the copy waits for the old value as an allocation
/// would.
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
  counter_in where;
  std::uint32_t* counter;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using warp_type = typename Team::warp_type;
    using lanes = typename warp_type::template lanes<std::uint32_t>;
    constexpr int width = warp_type::width;
    const auto warp = team.warp();
    team.once([&] { shared.counter = 0; });
    team.barrier();
    std::uint32_t* const word = where == counter_in::global ? counter : &shared.counter;
    const auto mask = static_cast<std::uint32_t>(period) - 1;
    const auto adding = (warp.lane() & lanes(mask)) == lanes(0u);
    const auto [begin, end] = team.share(n / width);
    for (std::int64_t w = begin + team.warp_index(); w < end; w += Team::warps) {
      const std::int64_t i = w * width;
      lanes items = warp.load(in + i);
      if (period > 0 && period < width) {
        const lanes old = warp.fetch_add(adding, word, lanes(0u), lanes(1u));
        items = items + (old >> 31);
      } else if (period > 0 && i % period == 0) {
        items = items + lanes(warp.fetch_add(*word, 1u) >> 31);
      }
      warp.store(out + i, items);
    }
  }
};

/// Merrill's copy of 32 M items on a device; fewer on the host, where one core does all of it.
template <class Exec>
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

  static std::vector<point> points() {
    const std::int64_t n = std::int64_t{1} << (on_host<Exec> ? 22 : 25);
    std::vector<point> all{{n, counter_in::global, 0}};
    for (const counter_in where : {counter_in::global, counter_in::scratch}) {
      for (std::int64_t period = 1; period <= 1 << 18; period *= 2)
        all.push_back({n, where, period});
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
};

template <class Exec>
void add_space() {
  using problem = atomic_problem<Exec>;
  add<problem>("lanewise", [](problem& p, auto time) {
    const copy_and_count kernel{p.in.data(), p.out.data(), p.n,
                                p.period,    p.where,      p.counter.data()};
    const auto league =
        backend_of<Exec>::template resident_league<copy_and_count>(p.exec, p.n / 4096);
    time([&] {
      Kokkos::deep_copy(p.exec, p.counter, 0u);
      launch(p.exec, "Lanewise::copy_and_count", league, kernel);
    });
  });
}

}  // namespace
}  // namespace lanewise::perf

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  lanewise::perf::for_each_backend([](auto exec) { lanewise::perf::add_space<decltype(exec)>(); });
  return lanewise::perf::run(argc, argv);
}
