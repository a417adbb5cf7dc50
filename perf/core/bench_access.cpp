// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// How the pattern of a warp's accesses decides their cost (Hubaut, chapter 4): in 2^19 steps (host:
// 2^17) a warp reads elements of 4 to 32 bytes, increments them and writes them back, at places
// that nothing can foresee. Patterns: one lane alone, all lanes at one place, neighbouring places
// (usually across a line's end), and unrelated ones. A step counts as many elements as it has
// places: one in the first two patterns, 32 in the others. Every warp has a part of the arena of
// its own, so that no two accesses race.

#include "support.hpp"
#include <lanewise/backend.hpp>
#include <lanewise/data/pack.hpp>
#include <lanewise/host.hpp>

namespace lanewise::perf {
namespace {

enum class pattern { one, same, adjacent, random };
constexpr const char* pattern_names[] = {"one", "same", "adjacent", "random"};

/// Elements that a step reads and writes.
constexpr std::int64_t places(pattern how) {
  return how == pattern::one || how == pattern::same ? 1 : 32;
}

template <class Element, int warps_per_team>
struct access_kernel {
  struct policy : launch_policy {
    static constexpr int warps = warps_per_team;
  };
  template <class Team>
  struct scratch {};

  Element* arena;
  std::int64_t elements;  // a power of two
  std::int64_t steps;
  pattern how;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    constexpr int width = warp_type::width;
    using indices = typename warp_type::template lanes<std::uint64_t>;
    const auto warp = team.warp();
    const std::uint64_t all_warps = std::uint64_t{team.league()} * Team::warps;
    const std::uint64_t me = std::uint64_t{team.index()} * Team::warps + team.warp_index();
    std::uint64_t slice = 1;
    while (slice * 2 * all_warps <= static_cast<std::uint64_t>(elements)) slice *= 2;
    Element* const mine = arena + me * slice;
    const auto lane = warp.template cast<std::uint64_t>(warp.lane());
    const auto active = how == pattern::one ? warp.first(1) : warp.first(width);
    const index_range own =
        even_share(steps, static_cast<std::int64_t>(me), static_cast<std::int64_t>(all_warps));
    for (std::int64_t step = own.begin; step < own.end; ++step) {
      const std::uint64_t base = hash(static_cast<std::uint64_t>(step));
      const auto increment = [](Element& e) { e[0] += 1; };
      if (how == pattern::adjacent) {
        // This states what a GPU coalesces by itself: the host has no other way.
        Element* const there = mine + base % (slice - width + 1);
        auto found = warp.load(there);
        warp.each(increment, found);
        warp.store(there, found);
      } else {
        indices at(base & (slice - 1));
        if (how == pattern::random) {
          at = warp.map([base, slice](std::uint64_t l) { return hash(base + l) & (slice - 1); },
                        lane);
        }
        auto found = warp.gather(active, mine, at, Element{});
        warp.each(increment, found);
        warp.scatter(active, mine, at, found);
      }
      warp.fence();
    }
  }
};

template <class Exec, int words>
struct access_problem {
  using element = pack<std::uint32_t, words>;

  struct point {
    std::int64_t n;
    pattern how;
  };
  Exec exec{};
  std::int64_t n;
  pattern how;
  std::int64_t elements = (std::int64_t{1} << (on_host<Exec> ? 28 : 31)) / sizeof(element);
  array<Exec, element> arena{"perf::arena", static_cast<std::size_t>(elements)};

  explicit access_problem(const point& p) : n(p.n), how(p.how) {}
  static std::vector<point> points() {
    std::vector<point> all;
    const std::int64_t steps = std::int64_t{1} << (on_host<Exec> ? 17 : 19);
    for (const pattern how : {pattern::one, pattern::same, pattern::adjacent, pattern::random}) {
      all.push_back({steps * places(how), how});
    }
    return all;
  }
  static row name(const point& p) {
    return {std::string("access.") + pattern_names[static_cast<int>(p.how)],
            backend_name<Exec>(),
            "",
            "u" + std::to_string(32 * words),
            "uniform",
            p.n};
  }
  /// What is used of the lines that are moved: two lanes at one place share an element.
  std::int64_t bytes() const { return 2 * n * sizeof(element); }
  /// The first call has incremented n elements. A few of the lanes at random places met.
  bool correct() const {
    const auto most = static_cast<std::uint64_t>(n);
    const auto found = sum<std::uint64_t>(exec, elements, first_word{arena});
    return how == pattern::random ? found <= most && found > most / 10 * 9 : found == most;
  }

  struct first_word {
    array<Exec, element> arena;
    KOKKOS_FUNCTION std::uint32_t operator()(std::int64_t i) const { return arena(i)[0]; }
  };
};

template <class Exec, int words, int warps>
void add_grid(const char* variant, std::int64_t teams) {
  using problem = access_problem<Exec, words>;
  add<problem>(variant, [teams](problem& p, auto time) {
    const access_kernel<typename problem::element, warps> kernel{p.arena.data(), p.elements,
                                                                 p.n / places(p.how), p.how};
    time([&] { launch(p.exec, "Lanewise::access", teams, kernel); });
  });
}

/// The default fills the machine; the others show how few warps do.
template <class Exec, int words>
void add_element() {
  if constexpr (on_host<Exec>) {
    add_grid<Exec, words, 1>("lanewise", Exec().concurrency());
  } else {
    add_grid<Exec, words, 16>("lanewise", 1024);
    add_grid<Exec, words, 1>("lanewise.w1b1", 1);
    add_grid<Exec, words, 1>("lanewise.w1b32", 32);
    add_grid<Exec, words, 1>("lanewise.w1b1024", 1024);
    add_grid<Exec, words, 4>("lanewise.w4b32", 32);
    add_grid<Exec, words, 4>("lanewise.w4b1024", 1024);
    add_grid<Exec, words, 16>("lanewise.w16b32", 32);
  }
}

template <class Exec>
void add_space() {
  add_element<Exec, 1>();
  add_element<Exec, 2>();
  add_element<Exec, 4>();
  add_element<Exec, 8>();
}

}  // namespace
}  // namespace lanewise::perf

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  lanewise::perf::for_each_backend([](auto exec) { lanewise::perf::add_space<decltype(exec)>(); });
  return lanewise::perf::run(argc, argv);
}
