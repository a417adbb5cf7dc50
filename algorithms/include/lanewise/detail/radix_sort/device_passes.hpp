// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/detail/device_rows.hpp>
#include <lanewise/detail/radix_sort/plan.hpp>
#include <lanewise/league_barrier.hpp>
#include <lanewise/look_back_counts.hpp>
#include <lanewise/team.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Counts all keys by every digit at once, and finds where buckets begin.
template <class Team, class Bits>
class device_radix_histograms {
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;
  static constexpr int groups = radix_buckets / width;
  static constexpr int most = sizeof(Bits);
  template <class U>
  using lanes = typename warp_type::template lanes<U>;
  using rows =
      device_rows<Team, Bits, static_cast<int>(sizeof(Bits) <= 4 ? 16 : 64 / sizeof(Bits))>;

 public:
  struct scratch {
    std::uint32_t count[most * radix_buckets];
  };

  /// Adds this team's share of the keys to `counts`, which are 0.
  template <class Plan>
  static LANEWISE_FUNCTION void count(const Team& team, scratch& shared, const Plan& plan,
                                      int passes, std::uint64_t* counts) {
    const auto warp = team.warp();
    const std::int64_t n = plan.n();
    const array_source<Bits, key_map<Bits>> keys{plan.keys.in, n, plan.map};
    const int counters = passes * radix_buckets;
    for (int i = team.warp_index() * width; i < counters; i += Team::warps * width)
      warp.store(shared.count + i, lanes<std::uint32_t>(0u));
    team.barrier();
    const lanes<std::uint32_t> one(1u);
    const auto mine = team.share(divide_up(n, std::int64_t{rows::items}));
    for (std::int64_t t = mine.begin; t < mine.end; ++t) {
      rows some(team, keys, t * rows::items, n);
      some.for_each_window([&](const auto& exists, const lanes<Bits>& key) {
        for (int p = 0; p < passes; ++p) {
          const auto d = warp.map(exists, plan.digit(plan.pass(p)), std::uint32_t{0}, key);
          warp.template fetch_add<order::relaxed, scope::team>(
              exists, shared.count + p * radix_buckets, d, one);
        }
      });
    }
    team.barrier();
    for (int i = team.warp_index() * width; i < counters; i += Team::warps * width) {
      const auto sum = warp.template cast<std::uint64_t>(warp.load(shared.count + i));
      warp.fetch_add(sum != std::uint64_t{0}, counts + i, warp.lane(), sum);
    }
  }

  /// Turns the counts of a pass into where its buckets begin; `stays`: all keys are in one bucket.
  static LANEWISE_FUNCTION void find_starts(const Team& team, std::int64_t n, std::uint64_t* counts,
                                            std::uint32_t& stays) {
    if (team.warp_index() != 0) return;
    const auto warp = team.warp();
    std::uint64_t before = 0;
    bool all = false;
    for (int g = 0; g < groups; ++g) {
      const auto count = warp.load(counts + g * width);
      const auto upto = warp.inclusive_scan(count, plus{});
      all = all || warp.any(count == static_cast<std::uint64_t>(n));
      warp.store(counts + g * width, upto - count + lanes<std::uint64_t>(before));
      before += warp.broadcast(upto, width - 1);
    }
    warp.once([&] { stays = all ? 1 : 0; });
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

// A radix sort from the least significant digit up: every pass brings all keys into the order of
// one digit and keeps the order that they have. It takes as long whatever the keys are, so it is
// for those that gather in few buckets, which a sort from the most significant digit down would
// have to move many times. Nothing is done for digits that all keys have in common.

/// The passes of a sort.
template <class Placing, class Bits>
struct radix_by_passes {
  template <class Team>
  using histograms = detail::device_radix_histograms<Team, Bits>;

  /// Whether each pass is a launch with one team for each tile, or all are one resident launch.
  /// H200, 2^28: pairs of u32 that gather by launches 8.8 ms, by resident teams 10.2; keys alone,
  /// u32 6.4 and 6.6, u64 19.6 and 18.3, and launches that find no passes take 0.1 and 0.4 ms.
  static constexpr bool launched = Placing::has_values;
  using policy = typename Placing::policy;
  template <class Team>
  using placing_scratch = typename Placing::template scratch<Team>;

  Placing placing;
  std::uint64_t* counts;  ///< of all passes, 0
  int passes;
  std::int64_t capacity;  ///< of a job
  league_barrier meeting;

  /// Whether the first level left all keys to passes.
  LANEWISE_FUNCTION bool has_keys() const { return placing.plan.levels[0].by_passes != 0; }

  /// Counts all digits, says where buckets begin, and leaves it to jobs to take keys to the output
  /// that end elsewhere. In a resident launch.
  template <class Team>
  LANEWISE_FUNCTION void count(const Team& team, typename histograms<Team>::scratch& shared) const {
    const auto& plan = placing.plan;
    histograms<Team>::count(team, shared, plan, passes, counts);
    placing.clear(team, plan.pass_tiles());
    meeting.wait(team);
    for (int p = team.index(); p < passes; p += team.league())
      histograms<Team>::find_starts(team, plan.n(), counts + p * detail::radix_buckets,
                                    plan.levels[p].stays_in_pass);
    meeting.wait(team);
    const auto end = placing.pass_route(passes, passes);
    if (team.index() == 0 && team.warp_index() == 0 && placing.is_elsewhere(end.from))
      detail::take_along(team.warp(), plan, std::int64_t{0}, plan.n(), end.from, false, capacity);
  }

  template <class Team>
  LANEWISE_FUNCTION void place(const Team& team, placing_scratch<Team>& shared, int pass) const {
    const auto& plan = placing.plan;
    if (plan.levels[pass].stays_in_pass != 0) return;
    const auto route = placing.pass_route(passes, pass);
    const std::uint32_t tiles = plan.pass_tiles();
    detail::radix_segment s = plan.pass(pass);
    s.array = route.from;
    s.last = route.left == 1;
    // The words of two passes take turns: each pass clears those of the next.
    const auto here = placing.behind(route.done % 2 == 0 ? 0 : tiles);
    const auto next = placing.behind(route.done % 2 == 0 ? tiles : 0);
    for_each_tile_in_order<launched>(
        team, shared.ticket, plan.levels[pass].pass_tickets, tiles, [&](std::uint32_t t) {
          next.clear_tile(team, t);
          here.place(team, shared, s, route.to, counts + pass * detail::radix_buckets, t);
        });
  }
};

template <class Passes>
struct radix_pass_counts_kernel {
  struct policy : launch_policy {
    static constexpr int teams_per_multiprocessor = 4;
  };
  template <class Team>
  using scratch = typename Passes::template histograms<Team>::scratch;

  Passes passes;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    if (passes.has_keys()) passes.count(team, shared);
  }
};

template <class Passes>
struct radix_pass_kernel {
  using policy = typename Passes::policy;
  template <class Team>
  using scratch = typename Passes::template placing_scratch<Team>;

  Passes passes;
  int pass;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    if (passes.has_keys()) passes.place(team, shared, pass);
  }
};

/// All passes in one launch.
template <class Passes>
struct radix_passes_kernel {
  using policy = typename Passes::policy;
  template <class Team>
  union scratch {
    typename Passes::template histograms<Team>::scratch count;
    typename Passes::template placing_scratch<Team> place;
  };

  Passes passes;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    if (!passes.has_keys()) return;
    passes.count(team, shared.count);
    for (int p = 0; p < passes.passes; ++p) {
      passes.meeting.wait(team);
      passes.place(team, shared.place, p);
    }
  }
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
