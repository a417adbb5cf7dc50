// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// How long one team takes to reduce 1024 values (Merrill, 3.3.2: 1440 instructions in three phases
// by 128 threads, 4224 pair by pair by 1024), on a device that is otherwise idle. Each reduction
// takes what the one before it gave, so the rate is the latency's.

#include "support.hpp"
#include <lanewise/backend.hpp>
#include <lanewise/host.hpp>
#include <lanewise/papers/team_reduce.hpp>

namespace lanewise::perf {
namespace {

template <class Way, int team_warps, int own>
struct team_reductions {
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
    constexpr int width = Team::warp_type::width;
    constexpr std::uint32_t items = Team::warps * width * own;
    using lanes = typename Team::warp_type::template lanes<std::uint32_t>;
    const auto warp = team.warp();
    lanes ones[own];
    LANEWISE_UNROLL
    for (int j = 0; j < own; ++j) ones[j] = warp.load(in + (team.warp_index() * own + j) * width);
    std::uint32_t total = 0;
    for (std::int64_t round = 0; round < rounds; ++round) {
      total = Way::reduce(team, shared, papers::reduce_own(warp, ones, plus{}), plus{});
      // Ones again, as only the reader knows.
      LANEWISE_UNROLL
      for (int j = 0; j < own; ++j) ones[j] = ones[j] + lanes(total - items);
    }
    team.once([&] { *out = total; });
  }
};

template <class Exec, int warps, int own>
struct team_reduce_problem {
  static constexpr std::int64_t rounds = 10'000;
  static constexpr std::int64_t team_items =
      std::int64_t{
          team_t<Exec,
                 typename team_reductions<papers::reduce_by_shuffles, warps, own>::policy>::warps} *
      warp_t<Exec>::width * own;

  struct point {
    std::int64_t n;
  };
  Exec exec{};
  array<Exec, std::uint32_t> in{"perf::in", team_items};
  array<Exec, std::uint32_t> out{"perf::out", 1};

  std::int64_t n;

  explicit team_reduce_problem(const point& p) : n(p.n) { Kokkos::deep_copy(in, 1u); }
  static std::vector<point> points() { return {{rounds * team_items}}; }
  static row name(const point& p) {
    return {"team_reduce.warps" + std::to_string(warps) + ".items" + std::to_string(own),
            backend_name<Exec>(),
            "",
            "u32",
            "uniform",
            p.n};
  }
  static std::int64_t bytes() { return 0; }
  bool correct() const { return sum<std::int64_t>(exec, 1, wrong{out}) == 0; }

  struct wrong {
    array<Exec, std::uint32_t> out;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const {
      return out(i) != static_cast<std::uint32_t>(team_items);
    }
  };
};

template <class Exec, int warps, int own, class Way>
void add_way(const char* variant) {
  using problem = team_reduce_problem<Exec, warps, own>;
  add<problem>(variant, [](problem& p, auto time) {
    time([&] {
      launch(p.exec, "Lanewise::team_reduce", 1,
             team_reductions<Way, warps, own>{p.in.data(), p.out.data(), problem::rounds});
    });
  });
}

template <class Exec, int warps, int own>
void add_ways() {
  add_way<Exec, warps, own, papers::reduce_by_shuffles>("lanewise");
  add_way<Exec, warps, own, papers::reduce_by_raking>("lanewise.raking");
  add_way<Exec, warps, own, papers::reduce_by_pairs>("lanewise.pairs");
}

template <class Exec>
void add_space() {
  add_ways<Exec, 4, 8>();
  add_ways<Exec, 16, 2>();
  add_ways<Exec, 32, 1>();
}

}  // namespace
}  // namespace lanewise::perf

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  lanewise::perf::for_each_backend([](auto exec) { lanewise::perf::add_space<decltype(exec)>(); });
  return lanewise::perf::run(argc, argv);
}
