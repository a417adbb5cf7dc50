// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// reduce, exclusive_scan and multisplit with every policy of a list: what perf/tune chooses from.

#include "algorithms.hpp"

namespace lanewise::perf {

/// A policy with a name that tells the script what to write into the table.
template <int w, int per_lane, int teams, int host_kib>
struct candidate : launch_policy {
  static constexpr int warps = w;
  static constexpr int items_per_lane = per_lane;
  static constexpr int teams_per_multiprocessor = teams;
  static constexpr std::int64_t host_tile_bytes = std::int64_t{host_kib} << 10;
  static constexpr std::int64_t host_bytes_past_caches =
      kernels::split_policy<int>::host_bytes_past_caches;

  static std::string variant(bool host) {
    return host ? "lanewise.h" + std::to_string(host_kib)
                : "lanewise.w" + std::to_string(w) + "i" + std::to_string(per_lane) + "t" +
                      std::to_string(teams);
  }
};

template <class... Candidates>
struct candidates {};

/// A problem at sizes far beyond the caches, multisplit's with keys in uniform buckets.
template <class Problem>
struct at_scale : Problem {
  using Problem::Problem;
  static std::vector<point> points() {
    auto all = Problem::points();
    const auto skipped = [](const point& p) {
      return p.n < (std::int64_t{1} << 24) || p.distribution != "uniform";
    };
    all.erase(std::remove_if(all.begin(), all.end(), skipped), all.end());
    return all;
  }
};

template <class Exec, class T, class Policy>
void add_tuned_reduce() {
  using problem = at_scale<reduce_problem<Exec, T>>;
  add<problem>(Policy::variant(on_host<Exec>).c_str(), [](problem& p, auto time) {
    using backend = backend_of<Exec>;
    using kernel = kernels::reduce_kernel<array_source<T, identity>, plus, T, Policy>;
    using tile = typename team_t<Exec, Policy>::template tile<T, Policy>;
    workspace own;
    auto work = call_workspace::make<backend>(p.exec, &own, reduce_workspace<T>(p.exec), "tune");
    const std::int64_t league = backend::template resident_league<kernel>(
        p.exec, std::min<std::int64_t>(4096, divide_up(p.n, tile::items)));
    time([&] {
      launch(p.exec, "Lanewise::tune::reduce", league,
             kernel{{p.in.data(), p.n, {}},
                    {},
                    {T{}, true},
                    {p.n},
                    static_cast<T*>(work.get().plain()),
                    work.get().template make_chain<T>(0).control,
                    p.result.data()});
    });
  });
}

/// As scan_policy does it.
template <class T, class Policy>
struct with_waiting_tiles : Policy {
  static constexpr int tiles_behind =
      tiles_that_wait(sizeof(T) * 32 * Policy::warps * Policy::items_per_lane);
};

template <class Exec, class T, class Policy>
void add_tuned_scan() {
  using problem = at_scale<scan_problem<Exec, T, true>>;
  add<problem>(Policy::variant(on_host<Exec>).c_str(), [](problem& p, auto time) {
    using backend = backend_of<Exec>;
    using kernel = kernels::scan_kernel<true, array_source<T, identity>, array_sink<T>, plus, T,
                                        with_waiting_tiles<T, Policy>>;
    using tile = typename team_t<Exec, Policy>::template tile<T, Policy>;
    const std::int64_t tiles = divide_up(p.n, tile::items);
    workspace own;
    auto work = call_workspace::make<backend>(p.exec, &own, {tiles, chain<T>::payload_bytes(tiles)},
                                              "tune");
    time([&] {
      launch(p.exec, "Lanewise::tune::scan",
             backend::template league_for_tiles<kernel>(p.exec, tiles),
             kernel{{p.in.data(), p.n, {}},
                    {p.out.data(), p.n},
                    {},
                    T{},
                    {p.n},
                    work.get().template make_chain<T>(0)});
    });
  });
}

template <class Exec, bool pairs, class Policy>
void add_tuned_split() {
  using problem = at_scale<multisplit_problem<Exec, pairs>>;
  add<problem>(Policy::variant(on_host<Exec>).c_str(), [](problem& p, auto time) {
    using key = std::uint32_t;
    const array_source<key, identity> keys{p.keys.data(), p.n, {}};
    const array_sink<key> keys_out{p.keys_out.data(), p.n};
    workspace own;
    const multisplit_options with{.work = &own};
    time([&] {
      if constexpr (pairs) {
        kernels::multisplit<Policy>(
            p.exec, keys, keys_out, array_source<key, identity>{p.values.data(), p.n, {}},
            array_sink<key>{p.values_out.data(), p.n}, p.buckets, p.bucket_of, with);
      } else {
        kernels::multisplit<Policy>(p.exec, keys, keys_out, nullptr, nullptr, p.buckets,
                                    p.bucket_of, with);
      }
    });
  });
}

/// Items of every size that has a row of its own in the table and a benchmark.
template <class Exec, class... Policies>
void add_tuned_sums(candidates<Policies...>) {
  const auto of_type = [](auto type) {
    using T = typename decltype(type)::type;
    (add_tuned_reduce<Exec, T, Policies>(), ...);
    (add_tuned_scan<Exec, T, Policies>(), ...);
  };
  of_type(std::type_identity<std::uint8_t>{});
  of_type(std::type_identity<std::uint16_t>{});
  of_type(std::type_identity<std::uint32_t>{});
  of_type(std::type_identity<std::uint64_t>{});
}

template <class Exec, class... Policies>
void add_tuned_splits(candidates<Policies...>) {
  (add_tuned_split<Exec, false, Policies>(), ...);
  (add_tuned_split<Exec, true, Policies>(), ...);
}

}  // namespace lanewise::perf
