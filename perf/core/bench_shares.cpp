// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// How tiles come to teams (Merrill, 3.3.1, Table 2 and 7.2.1), in a copy and a sum of u32:
//
//   even_share     resident teams, each with a contiguous run of tiles
//   even_share.x8  eight times as many teams, each with a shorter run
//   stealing       resident teams, which take one tile after the other from a counter
//   team_per_tile  as many teams as tiles, handed out by the hardware, or on hosts by the backend
//
// uniform: all tiles take the same time. In the others every item goes through 1 to 64 rounds of
// three instructions. The number of rounds is that of its tile: random, or ascending with the
// tile's number, which is the worst that can happen to even shares.
//
// A sum stays in registers from tile to tile; every warp ends with one addition to the result.

#include "support.hpp"
#include <lanewise/backend.hpp>
#include <lanewise/host.hpp>

namespace lanewise::perf {
namespace {

enum class skew { uniform, random, ascending };
constexpr const char* skew_names[] = {"uniform", "random", "ascending"};
constexpr int most_rounds = 64;
constexpr std::int64_t tile_items = 4096;

struct rounds_of_tile {
  skew how;
  std::int64_t tiles;

  KOKKOS_FUNCTION int operator()(std::int64_t tile) const {
    if (how == skew::uniform) return 0;
    if (how == skew::random) return 1 + static_cast<int>(hash(tile) % most_rounds);
    return 1 + static_cast<int>(tile * most_rounds / tiles);
  }
};

template <class Items>
LANEWISE_FUNCTION Items next_round(const Items& x) {
  return (x ^ (x >> 15)) * Items(0x9E3779B1u);
}

enum class operation { copy, sum };
enum class sharing { even, stealing };

template <operation what, sharing how>
struct shared_kernel {
  struct policy : launch_policy {
    static constexpr int teams_per_multiprocessor = 8;
  };
  template <class Team>
  struct scratch {
    std::uint64_t drawn[2];
  };

  const std::uint32_t* in;
  std::uint32_t* out;  // of a sum, one word
  std::int64_t tiles;
  rounds_of_tile rounds;
  std::uint64_t* counter;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const auto warp = team.warp();
    typename Team::warp_type::template lanes<std::uint32_t> total(0u);
    for_each(team, shared,
             [&](std::int64_t tile) LANEWISE_INLINE_LAMBDA { work_on(team, tile, total); });
    if constexpr (what == operation::sum) warp.fetch_add(*out, warp.reduce(total, plus{}));
  }

 private:
  static constexpr int together = 4;

  template <class Team, class F>
  LANEWISE_FUNCTION void for_each(const Team& team, scratch<Team>& shared, const F& f) const {
    if constexpr (how == sharing::even) {
      const auto [begin, end] = team.share(tiles);
      for (std::int64_t tile = begin; tile < end; ++tile) f(tile);
    } else {
      draw(team, shared.drawn[0]);
      team.barrier();
      for (int slot = 0;; slot ^= 1) {
        const auto tile = static_cast<std::int64_t>(shared.drawn[slot]);
        if (tile >= tiles) return;
        draw(team, shared.drawn[slot ^ 1]);  // comes while the team works
        f(tile);
        team.barrier();
      }
    }
  }
  template <class Team>
  LANEWISE_FUNCTION void draw(const Team& team, std::uint64_t& drawn) const {
    if (team.warp_index() != 0) return;
    const auto warp = team.warp();
    const std::uint64_t tile = warp.fetch_add(*counter, std::uint64_t{1});
    warp.once([&] { drawn = tile; });
  }
  template <class Team, class Items>
  LANEWISE_FUNCTION void work_on(const Team& team, std::int64_t tile, Items& total) const {
    constexpr int width = Team::warp_type::width;
    const auto warp = team.warp();
    const int times = rounds(tile);
    for (std::int64_t w = team.warp_index(); w < tile_items / (width * together);
         w += Team::warps) {
      const std::int64_t first = tile * tile_items + w * width * together;
      Items items[together];
      LANEWISE_UNROLL
      for (int j = 0; j < together; ++j) items[j] = warp.load(in + first + j * width);
      for (int i = 0; i < times; ++i) {
        LANEWISE_UNROLL
        for (int j = 0; j < together; ++j) items[j] = next_round(items[j]);
      }
      LANEWISE_UNROLL
      for (int j = 0; j < together; ++j) {
        if constexpr (what == operation::copy) {
          warp.store(out + first + j * width, items[j]);
        } else {
          total = total + items[j];
        }
      }
    }
  }
};

template <class Exec, operation what>
struct shared_problem {
  struct point {
    std::int64_t n;
    skew how;
  };
  using item = std::uint32_t;

  Exec exec{};
  std::int64_t n;
  rounds_of_tile rounds;
  array<Exec, item> in{"perf::in", static_cast<std::size_t>(n)};
  array<Exec, item> out{"perf::out", static_cast<std::size_t>(what == operation::copy ? n : 1)};
  Kokkos::View<std::uint64_t, typename Exec::memory_space> counter{"perf::counter"};

  explicit shared_problem(const point& p) : n(p.n), rounds{p.how, p.n / tile_items} {
    fill(exec, in, random_item<item>{});
  }
  static std::vector<point> points() {
    std::vector<point> all;
    for (const int e : {on_host<Exec> ? 18 : 20, on_host<Exec> ? 24 : 28})
      for (const skew how : {skew::uniform, skew::random, skew::ascending})
        all.push_back({std::int64_t{1} << e, how});
    return all;
  }
  static row name(const point& p) {
    return {what == operation::copy ? "copy" : "reduce",
            backend_name<Exec>(),
            "",
            type_name<item>(),
            skew_names[static_cast<int>(p.how)],
            p.n};
  }
  std::int64_t bytes() const { return (what == operation::copy ? 2 : 1) * n * sizeof(item); }
  bool correct() const {
    if constexpr (what == operation::copy) {
      return sum<std::int64_t>(exec, n, wrong{out, {in, rounds}}) == 0;
    } else {
      item found;
      Kokkos::deep_copy(found, Kokkos::subview(out, 0));
      return found == sum<item>(exec, n, expected{in, rounds});
    }
  }

  struct expected {
    array<Exec, item> in;
    rounds_of_tile rounds;
    KOKKOS_FUNCTION item operator()(std::int64_t i) const {
      item x = in(i);
      const int times = rounds(i / tile_items);
      for (int k = 0; k < times; ++k) x = next_round(x);
      return x;
    }
  };
  struct wrong {
    array<Exec, item> out;
    expected want;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const { return out(i) != want(i); }
  };
};

/// Teams per resident team, or a team per tile. The counter, and a sum, are set to zero untimed: a
/// library would have them count on from call to call.
template <class Exec, operation what, sharing how>
void add_variant(const char* variant, std::int64_t times) {
  using problem = shared_problem<Exec, what>;
  add<problem>(variant, [times](problem& p, auto time) {
    using kernel_type = shared_kernel<what, how>;
    const std::int64_t tiles = p.n / tile_items;
    const kernel_type kernel{p.in.data(), p.out.data(), tiles, p.rounds, p.counter.data()};
    const std::int64_t teams =
        times * backend_of<Exec>::template resident_teams<kernel_type>(p.exec);
    time(
        [&] {
          Kokkos::deep_copy(p.exec, p.counter, std::uint64_t{0});
          if (what == operation::sum) Kokkos::deep_copy(p.exec, p.out, 0u);
        },
        [&] {
          launch(p.exec, "Lanewise::shares", times == 0 || tiles < teams ? tiles : teams, kernel);
        });
  });
}

template <class Exec, operation what>
void add_variants() {
  add_variant<Exec, what, sharing::even>("lanewise.even_share", 1);
  add_variant<Exec, what, sharing::even>("lanewise.even_share.x8", 8);
  add_variant<Exec, what, sharing::stealing>("lanewise.stealing", 1);
  add_variant<Exec, what, sharing::even>("lanewise.team_per_tile", 0);
}

}  // namespace
}  // namespace lanewise::perf

int main(int argc, char** argv) {
  using namespace lanewise::perf;
  Kokkos::ScopeGuard kokkos(argc, argv);
  for_each_backend([]<class Exec>(const Exec&) {
    add_variants<Exec, operation::copy>();
    add_variants<Exec, operation::sum>();
  });
  return run(argc, argv);
}
