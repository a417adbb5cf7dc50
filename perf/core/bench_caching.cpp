// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What hints to the caches do to a copy (Merrill, 3.2 and 3.4.1, dimension e). Elements have 1 to
// 16 bytes a lane, in arrays that the last cache of a GPU holds (16 MiB) and in 1 GiB. Eight
// elements of a lane are on their way at a time. Hosts have two hints.

#include "support.hpp"
#include <lanewise/backend.hpp>
#include <lanewise/data/pack.hpp>
#include <lanewise/host.hpp>

namespace lanewise::perf {
namespace {

/// out = in by a hint for loads and one for stores.
template <class T, caching loads, caching stores>
struct hinted_copy {
  struct policy : launch_policy {
    static constexpr int teams_per_multiprocessor = sizeof(T) <= 8 ? 8 : 4;
  };
  template <class Team>
  struct scratch {};

  const T* in;
  T* out;
  std::int64_t n;  // whole blocks

  static constexpr int together = 8;
  static constexpr std::int64_t block = 32 * together;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    using lanes = typename warp_type::template lanes<T>;
    constexpr int width = warp_type::width;
    const auto warp = team.warp();
    const auto [begin, end] = team.share(n / block);
    for (std::int64_t b = begin + team.warp_index(); b < end; b += Team::warps) {
      lanes items[together];
      LANEWISE_UNROLL
      for (int j = 0; j < together; ++j)
        items[j] = warp.template load<loads>(in + b * block + j * width);
      LANEWISE_UNROLL
      for (int j = 0; j < together; ++j)
        warp.template store<stores>(out + b * block + j * width, items[j]);
    }
  }
};

template <class Exec, class T>
struct hinted_problem {
  struct point {
    std::int64_t n;
  };
  Exec exec{};
  std::int64_t n;
  array<Exec, T> in{"perf::in", static_cast<std::size_t>(n)};
  array<Exec, T> out{"perf::out", static_cast<std::size_t>(n)};

  explicit hinted_problem(const point& p) : n(p.n) { fill(exec, in, element{}); }
  static std::vector<point> points() {
    std::vector<point> all;
    for (const int e : {24, on_host<Exec> ? 28 : 30})
      all.push_back({static_cast<std::int64_t>((std::size_t{1} << e) / sizeof(T))});
    return all;
  }
  static row name(const point& p) {
    return {"copy", backend_name<Exec>(), "", "u" + std::to_string(8 * sizeof(T)), "uniform", p.n};
  }
  std::int64_t bytes() const { return 2 * n * sizeof(T); }
  bool correct() const { return sum<std::int64_t>(exec, n, wrong{out}) == 0; }

  struct element {
    KOKKOS_FUNCTION T operator()(std::int64_t i) const {
      T x{};
      if constexpr (sizeof(T) <= 8) {
        x = static_cast<T>(hash(i));
      } else {
        for (int k = 0; k < 4; ++k) x[k] = static_cast<std::uint32_t>(hash(4 * i + k));
      }
      return x;
    }
  };
  struct wrong {
    array<Exec, T> out;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const {
      const T want = element{}(i);
      if constexpr (sizeof(T) <= 8) {
        return out(i) != want;
      } else {
        bool differs = false;
        for (int k = 0; k < 4; ++k) differs = differs || out(i)[k] != want[k];
        return differs;
      }
    }
  };
};

template <class Exec, class T, caching loads, caching stores>
void add_hints(const char* variant) {
  using problem = hinted_problem<Exec, T>;
  add<problem>(variant, [](problem& p, auto time) {
    using kernel_type = hinted_copy<T, loads, stores>;
    const kernel_type kernel{p.in.data(), p.out.data(), p.n};
    const auto league = backend_of<Exec>::template league_for_tiles<kernel_type>(
        p.exec, p.n / (kernel_type::block * kernel_type::policy::warps));
    time([&] { launch(p.exec, "Lanewise::hinted_copy", league, kernel); });
  });
}

template <class Exec, class T>
void add_element() {
  using enum caching;
  add_hints<Exec, T, usual, usual>("lanewise.usual");
  add_hints<Exec, T, streaming, streaming>("lanewise.streaming");
  add_hints<Exec, T, usual, streaming>("lanewise.streaming_stores");
  if constexpr (!on_host<Exec>) {
    add_hints<Exec, T, all_levels, all_levels>("lanewise.all_levels");
    add_hints<Exec, T, second_level, second_level>("lanewise.second_level");
    add_hints<Exec, T, none, none>("lanewise.none");
  }
}

template <class Exec>
void add_space() {
  add_element<Exec, std::uint8_t>();
  add_element<Exec, std::uint16_t>();
  add_element<Exec, std::uint32_t>();
  add_element<Exec, std::uint64_t>();
  add_element<Exec, pack<std::uint32_t, 4>>();
}

}  // namespace
}  // namespace lanewise::perf

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  lanewise::perf::for_each_backend([](auto exec) { lanewise::perf::add_space<decltype(exec)>(); });
  return lanewise::perf::run(argc, argv);
}
