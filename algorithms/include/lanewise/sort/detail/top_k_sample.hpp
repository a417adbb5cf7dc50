// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sort/detail/top_k_steps.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// The place of sample i: in every stride another one, so that data with a period are no worse than
/// others.
LANEWISE_FUNCTION std::int64_t sampled_place(std::int64_t i, std::int64_t stride) {
  const std::uint64_t x = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15u;
  return i * stride + static_cast<std::int64_t>((x >> 32) % static_cast<std::uint64_t>(stride));
}

/// Finds the floor: the q-th greatest of a sample. About r = k s / n of the sample belong to the k
/// first of all. q lies so far beyond r that the floor is too high once in 10^5 times, on random
/// data. Also says how many binary digits tell items above the floor apart, as far as the sample
/// knows.
template <class Selection>
struct sample_kernel {
  using bits = typename Selection::bits;
  struct policy : launch_policy {
    static constexpr int warps = 32;
  };
  /// 64 KiB, so that the kernel fits every GPU.
  static constexpr std::int64_t most = sizeof(bits) <= 4 ? 1 << 14 : 1 << 13;
  template <class Team>
  struct scratch {
    bucket_counters<1, digit_values> counters;
    digit_scratch<Team> digit;
    bits greatest[Team::warps];
    bits sample[most];
  };

  Selection all;
  std::int64_t size;
  std::int64_t most_per_unit;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const auto warp = team.warp();
    const std::int64_t n = all.n(), stride = n / size;
    const std::int64_t belonging = stride > 0 ? lanewise::divide_up(all.wanted(), stride) : 0;
    const std::int64_t rank = belonging + belonging / 2 + 12;
    typename Selection::plan_type plan = all.first_plan();
    // Units with more of them than slots are read again.
    if (stride < 8 || plan.done != 0 || rank * unit_items > size * most_per_unit) {
      team.once([&] { *all.plan = plan; });
      return;
    }
    const bits most_here = take(team, shared.sample, stride);
    warp.once([&] { shared.greatest[team.warp_index()] = most_here; });
    team.barrier();
    bits greatest = 0;
    for (int w = 0; w < Team::warps; ++w)
      greatest = shared.greatest[w] > greatest ? shared.greatest[w] : greatest;
    plan.wanted = rank;
    const array_source<bits, identity> sample{shared.sample, size, {}};
    while (plan.done == 0) {
      const int open = plan.open, next = open > digit_bits ? open - digit_bits : 0;
      const bits at = kernels::without_low(plan.at, open);
      lanewise::clear(team, shared.counters);
      team.barrier();
      lanewise::count(team, shared.counters, sample, 0, size, [=](bits b, int) {
        return kernels::without_low(b, open) == at ? lanewise::radix_digit(b, next, open - next)
                                                   : ~std::uint32_t{0};
      });
      team.barrier();
      kernels::add_digit(plan,
                         kernels::find_digit(team, shared.digit, shared.counters.count,
                                             static_cast<std::uint64_t>(plan.wanted)),
                         true);
    }
    team.once([&] {
      auto first = all.first_plan();
      first.floor = plan.at;
      first.base = static_cast<bits>(plan.at + 1);
      first.open = 1;
      if (greatest > plan.at) first.open = digits_of(static_cast<bits>(greatest - first.base));
      first.sampled = 1;
      *all.plan = first;
    });
  }

  /// The number of binary digits, at least 1.
  static LANEWISE_FUNCTION int digits_of(bits x) {
    int digits = 1;
    while (kernels::without_low(x, digits) != 0) ++digits;
    return digits;
  }

 private:
  /// Takes the sample, many at once, as each is far away. Returns the greatest of this warp's.
  template <class Team>
  LANEWISE_FUNCTION bits take(const Team& team, bits* sample, std::int64_t stride) const {
    using warp_type = typename Team::warp_type;
    using values = lanes_t<warp_type, bits>;
    constexpr int width = warp_type::width, at_once = 16;
    const auto warp = team.warp();
    values greatest(bits{0});
    for (std::int64_t i = std::int64_t{team.warp_index()} * width; i < size;
         i += at_once * Team::warps * width) {
      values x[at_once];
      LANEWISE_UNROLL
      for (int j = 0; j < at_once; ++j) {
        const std::int64_t first = i + std::int64_t{j} * Team::warps * width, left = size - first;
        x[j] = warp.map(
            warp.first(left),
            [&](std::uint32_t l) LANEWISE_INLINE_LAMBDA {
              return all.key(all.in(sampled_place(first + l, stride)));
            },
            bits{}, warp.lane());
      }
      LANEWISE_UNROLL
      for (int j = 0; j < at_once; ++j) {
        const std::int64_t first = i + std::int64_t{j} * Team::warps * width, left = size - first;
        greatest = warp.map(maximum{}, greatest, x[j]);
        if (left > 0) warp.store(warp.template first<bits>(left), sample + first, x[j]);
      }
    }
    return warp.reduce(greatest, maximum{});
  }
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
