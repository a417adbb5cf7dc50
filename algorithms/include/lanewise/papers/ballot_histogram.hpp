// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/buckets.hpp>
#include <lanewise/histogram/histogram.hpp>
#include <lanewise/papers/detail/names.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {
namespace detail {

/// The binary digits of numbers below a power of two.
constexpr int digits_below(int power) {
  int digits = 0;
  while (power >> (digits + 1) != 0) ++digits;
  return digits;
}

}  // namespace detail

namespace kernels {

/// Every lane of a warp counts bins of its own, in registers, by ballots of the whole warp.
template <class Source, class Bins, class Result>
struct ballot_histogram_kernel {
  struct policy : launch_policy {
    static constexpr int teams_per_multiprocessor = 4;
  };
  template <class Team>
  struct scratch {
    std::uint32_t count[Team::warps][most_buckets];
  };

  Source in;
  item_count n;
  Bins bins_of;
  std::uint32_t bins;
  Result* out;
  status* errors;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using warp_type = typename Team::warp_type;
    using u32s = lanes_t<warp_type, std::uint32_t>;
    constexpr int width = warp_type::width;
    constexpr int groups = most_buckets / width;
    constexpr int windows = 4;  // in flight together
    const auto warp = team.warp();
    const std::int64_t count = n();
    const index_range of_team = team.share(divide_up(count, windows * width));
    const index_range mine =
        lanewise::even_share(of_team.end - of_team.begin, team.warp_index(), Team::warps);
    u32s own[groups], bad(0u);
    LANEWISE_UNROLL
    for (int q = 0; q < groups; ++q) own[q] = u32s(0u);
    for (std::int64_t w = mine.begin; w < mine.end; ++w) {
      const std::int64_t first = (of_team.begin + w) * windows * width;
      lanes_t<warp_type, detail::placed> at[windows];
      LANEWISE_UNROLL
      for (int k = 0; k < windows; ++k) {
        const std::int64_t i = first + k * width, left = count - i;
        at[k] = warp.map(
            warp.first(left),
            [&](std::uint32_t lane)
                LANEWISE_INLINE_LAMBDA { return detail::place(bins_of, in(i + lane), 0); },
            detail::placed{0, false}, warp.lane());
      }
      LANEWISE_UNROLL
      for (int k = 0; k < windows; ++k) {
        const std::int64_t left = count - first - k * width;
        const auto exists = warp.first(left);
        const auto bin = warp.map([](const detail::placed& p) { return p.bin; }, at[k]);
        const auto inside =
            warp.map([](const detail::placed& p) { return std::uint32_t{p.inside ? 1u : 0u}; },
                     at[k]) != 0u;
        bad = bad + lanewise::select(exists & !inside, u32s(1u), u32s(0u));
        add(warp, inside, bin, own);
      }
    }
    LANEWISE_UNROLL
    for (int q = 0; q < groups; ++q)
      warp.store(shared.count[team.warp_index()] + q * width, own[q]);
    team.barrier();
    for (std::uint32_t b = static_cast<std::uint32_t>(team.warp_index()) * width; b < bins;
         b += Team::warps * width) {
      u32s sum(0u);
      for (int w = 0; w < Team::warps; ++w) sum = sum + warp.load(shared.count[w] + b);
      const auto bin = warp.lane() + u32s(b);
      warp.fetch_add((bin < bins) & (sum != 0u), out, bin, warp.template cast<Result>(sum));
    }
    const std::uint64_t all = warp.reduce(warp.template cast<std::uint64_t>(bad), plus{});
    if (errors != nullptr && all != 0) warp.fetch_add(errors->bad_items, all);
  }

 private:
  /// Adds a window's items to the counters of lane i, which are of bins i, width + i, ... Every
  /// binary digit of the bins takes one ballot. Digits of a lane's own number choose lanes for all
  /// of its bins at once, those above for all lanes.
  template <class W, class Mask, class Lanes, int groups>
  LANEWISE_FUNCTION void add(const W& warp, const Mask& inside, const Lanes& bin,
                             Lanes (&own)[groups]) const {
    using bits = typename W::bits;
    using votes = lanes_t<W, bits>;
    constexpr int own_digits = detail::digits_below(W::width);
    constexpr int group_digits = detail::digits_below(groups);
    const auto digit = [&](int d) LANEWISE_INLINE_LAMBDA {
      return warp.ballot((bin & Lanes(1u << d)) != 0u);
    };
    votes mine(warp.ballot(inside));
    LANEWISE_UNROLL
    for (int d = 0; d < own_digits; ++d) {
      const bits vote = digit(d);
      mine = warp.map(
          [d, vote](bits m, std::uint32_t lane)
              LANEWISE_INLINE_LAMBDA -> bits { return m & ((lane >> d & 1) != 0 ? vote : ~vote); },
          mine, warp.lane());
    }
    bits above[group_digits > 0 ? group_digits : 1] = {};
    LANEWISE_UNROLL
    for (int d = 0; d < group_digits; ++d) {
      if (W::width << d < static_cast<int>(bins)) above[d] = digit(own_digits + d);
    }
    LANEWISE_UNROLL
    for (int q = 0; q < groups; ++q) {
      if (q * W::width >= static_cast<int>(bins)) continue;
      bits chosen = ~bits{0};
      LANEWISE_UNROLL
      for (int d = 0; d < group_digits; ++d) chosen &= (q >> d & 1) != 0 ? above[d] : ~above[d];
      own[q] = own[q] + warp.map(
                            [chosen](bits m) LANEWISE_INLINE_LAMBDA {
                              return static_cast<std::uint32_t>(W::popcount(m & chosen));
                            },
                            mine);
    }
  }
};

}  // namespace kernels

/// The histogram of the papers: as lanewise::histogram, of 1 to 256 bins, by ballots instead of
/// atomic additions. Counters are in the registers of every warp, with one addition for each team
/// and bin at the end. Its time does not depend on where items lie. n reads; ceil(log2 bins)
/// ballots for every warp's worth of items. Two launches. (GPU Multisplit, algorithm 2; Ashkiani,
/// 3.5.5 and 3.7.3.)
template <execution_space Exec, class In, class Counts, class Bins>
void ballot_histogram(const Exec& exec, const In& in, const Counts& counts, const Bins& bins,
                      const histogram_options& options = {}) {
  kernels::checked_histogram<false, Exec>(
      in, counts, bins, options, [&](const auto& source, const auto& bins_of, const auto& out) {
        detail::expects(out.extent <= most_buckets, "ballot_histogram: counts has ", out.extent,
                        " bins, not in [1, ", most_buckets, "]");
        auto* const data = kernels::counted(out.data);
        using backend = backend_of<Exec>;
        using result = std::remove_pointer_t<decltype(data)>;
        using kernel = kernels::ballot_histogram_kernel<std::decay_t<decltype(source)>,
                                                        std::decay_t<decltype(bins_of)>, result>;
        const item_count n{source.extent, options.count.data()};
        const std::int64_t shares =
            std::max(lanewise::divide_up(source.extent, 8192), std::int64_t{1});
        backend::zero(exec, data, static_cast<std::size_t>(out.extent) * sizeof(result));
        lanewise::launch(exec, "Lanewise::ballot_histogram",
                         std::max(backend::template resident_league<kernel>(exec, shares),
                                  lanewise::divide_up(source.extent, std::int64_t{1} << 31)),
                         kernel{source, n, bins_of, static_cast<std::uint32_t>(out.extent), data,
                                options.errors.data()});
      });
}

}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
