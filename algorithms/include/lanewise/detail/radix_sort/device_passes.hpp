// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/detail/device_rows.hpp>
#include <lanewise/detail/radix_sort/plan.hpp>
#include <lanewise/league_barrier.hpp>
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

/// A radix sort from the least significant digit up, in one launch: every pass brings all keys into
/// the order of one digit and keeps the order that they have. It takes as long whatever the keys
/// are, so it is for those that gather in few buckets, which a sort from the most significant digit
/// down would have to move many times. Nothing is done for digits that all keys have in common.
template <class Placing, class Bits>
struct radix_passes_kernel {
  using policy = typename Placing::policy;
  template <class Team>
  using histograms = detail::device_radix_histograms<Team, Bits>;
  template <class Team>
  union scratch {
    typename histograms<Team>::scratch count;
    typename Placing::template scratch<Team> place;
  };

  Placing placing;
  std::uint64_t* counts;  ///< of all passes, 0
  int passes;
  league_barrier meeting;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const auto& plan = placing.plan;
    if (plan.levels[0].by_passes == 0) return;
    histograms<Team>::count(team, shared.count, plan, passes, counts);
    placing.clear(team, plan.pass_tiles());
    meeting.wait(team);
    for (int p = team.index(); p < passes; p += team.league())
      histograms<Team>::find_starts(team, plan.n(), counts + p * detail::radix_buckets,
                                    plan.levels[p].stays_in_pass);
    meeting.wait(team);
    place_all(team, shared.place);
  }

 private:
  template <class Team, class Scratch>
  LANEWISE_FUNCTION void place_all(const Team& team, Scratch& shared) const {
    using arrays = detail::radix_arrays<Bits>;
    const auto& plan = placing.plan;
    int left = 0;
    for (int p = 0; p < passes; ++p) left += plan.levels[p].stays_in_pass == 0 ? 1 : 0;
    // An odd number of passes that begins with the output also ends there.
    const bool begins_out = left % 2 == 1 && placing.is_apart();
    auto array = detail::radix_array::in;
    for (int p = 0; p < passes; ++p) {
      if (plan.levels[p].stays_in_pass != 0) continue;
      const bool to_out = array == detail::radix_array::in && begins_out;
      const auto to = to_out ? detail::radix_array::out : arrays::next(array);
      detail::radix_segment s = plan.pass(p);
      s.array = array;
      s.last = --left == 0;
      placing.place_tiles(
          team, shared, plan.levels[p].pass_tickets, plan.pass_tiles(), [&](auto t) {
            placing.place(team, shared, s, to, counts + p * detail::radix_buckets, t);
          });
      array = to;
      meeting.wait(team);
      if (left == 0) break;
      placing.clear(team, plan.pass_tiles());
      meeting.wait(team);
    }
    placing.copy_to_out(team, array);
  }
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
