// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// How long one team takes to scan a value per lane (Merrill, 4.4 and table of 4.6: 512 values, a
// device that is otherwise idle), by shuffles, by raking and by a tree. Each scan takes what the
// one before it gave, so the rate is the latency's.

#include "support.hpp"
#include <lanewise/backend.hpp>
#include <lanewise/host.hpp>
#include <lanewise/team/team_scan.hpp>

namespace lanewise::perf {
namespace {

template <class Way, int team_warps>
struct team_scans {
  struct policy : launch_policy {
    static constexpr int warps = team_warps;
  };
  template <class Team>
  using scratch = typename Way::template scratch<Team, std::uint32_t>;

  const std::uint32_t* in;
  std::uint32_t* out;
  std::int64_t rounds;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const auto warp = team.warp();
    const auto at = static_cast<std::uint32_t>(team.warp_index() * Team::warp_type::width);
    const auto place = warp.map([at](std::uint32_t lane) { return at + lane; }, warp.lane());
    auto ones = warp.load(in + at);
    std::uint32_t before = 0;
    for (std::int64_t round = 0; round < rounds; ++round) {
      const auto prefix = Way::scan(team, shared, ones, plus{}, before);
      warp.store(out + at, prefix.before);
      // Ones again, as only the reader knows.
      ones = warp.map([before](std::uint32_t x, std::uint32_t i) { return x - before - i + 1; },
                      prefix.before, place);
      before = prefix.total;
    }
  }
};

template <class Exec, int warps>
struct team_scan_problem {
  static constexpr std::int64_t rounds = 10'000;
  static constexpr std::int64_t team_items =
      std::int64_t{team_t<Exec, typename team_scans<scan_by_shuffles, warps>::policy>::warps} *
      warp_t<Exec>::width;

  struct point {
    std::int64_t n;
  };
  Exec exec{};
  array<Exec, std::uint32_t> in{"perf::in", team_items};
  array<Exec, std::uint32_t> out{"perf::out", team_items};

  std::int64_t n;

  explicit team_scan_problem(const point& p) : n(p.n) { Kokkos::deep_copy(in, 1u); }
  static std::vector<point> points() { return {{rounds * team_items}}; }
  static row name(const point& p) {
    return {
        "team_scan.warps" + std::to_string(warps), backend_name<Exec>(), "", "u32", "uniform", p.n};
  }
  static std::int64_t bytes() { return 0; }
  bool correct() const { return sum<std::int64_t>(exec, team_items, wrong{out}) == 0; }

  struct wrong {
    array<Exec, std::uint32_t> out;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const {
      return out(i) != static_cast<std::uint32_t>((rounds - 1) * team_items + i);
    }
  };
};

template <class Exec, int warps, class Way>
void add_way(const char* variant) {
  using problem = team_scan_problem<Exec, warps>;
  add<problem>(variant, [](problem& p, auto time) {
    time([&] {
      launch(p.exec, "Lanewise::team_scan", 1,
             team_scans<Way, warps>{p.in.data(), p.out.data(), problem::rounds});
    });
  });
}

template <class Exec, int warps>
void add_ways() {
  add_way<Exec, warps, scan_by_shuffles>("lanewise");
  add_way<Exec, warps, scan_by_raking>("lanewise.raking");
  add_way<Exec, warps, scan_by_tree>("lanewise.tree");
}

template <class Exec>
void add_space() {
  add_ways<Exec, 4>();
  add_ways<Exec, 16>();
}

}  // namespace
}  // namespace lanewise::perf

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  lanewise::perf::for_each_backend([](auto exec) { lanewise::perf::add_space<decltype(exec)>(); });
  return lanewise::perf::run(argc, argv);
}
