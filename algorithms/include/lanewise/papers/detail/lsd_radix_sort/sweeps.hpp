// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/papers/detail/lsd_radix_sort/packed_counters.hpp>
#include <lanewise/papers/detail/names.hpp>
#include <lanewise/sort/detail/radix_plan.hpp>
#include <lanewise/team/team_scan.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {
namespace detail {

/// A digit of keys as they lie in memory: they are mapped wherever a digit is read, and never
/// stored mapped. So any pass may be left out, whatever the type of the keys is.
template <class Bits>
struct mapped_digit {
  key_map<Bits> map;
  radix_digit_of<Bits> digit;

  LANEWISE_FUNCTION std::uint32_t operator()(Bits key) const { return digit(map(key)); }
};

/// What the spine of a pass decides: where keys are after it, and whether they stay.
struct pass_state {
  radix_array at;
  bool stays;
};

/// The most digits that multi-scans tell apart: beyond, counters take more registers than keys.
inline constexpr int most_scanned_digits = 32;

/// Room for a counter of every digit, in whole windows of a warp.
template <class Team>
inline constexpr int digit_slots =
    Team::warp_type::width > most_scanned_digits ? Team::warp_type::width : most_scanned_digits;

/// Loads a run of `run` items per lane. Items below `count` exist; `count` may be negative.
template <bool full, int run, class W, class T>
LANEWISE_FUNCTION void load_runs(const W& warp, const T* from, int count,
                                 lanes_t<W, T> (&item)[run]) {
  constexpr int fit = static_cast<int>(16 / sizeof(T));
  constexpr int k = fit < run ? fit : run;
  using packs = pack<T, k>;
  const auto lane = warp.lane();
  if (full && reinterpret_cast<std::uintptr_t>(from) % alignof(packs) == 0) {
    LANEWISE_UNROLL
    for (int h = 0; h < run / k; ++h) {
      const auto at = warp.map(
          [h](std::uint32_t l) { return l * (run / k) + static_cast<std::uint32_t>(h); }, lane);
      const auto some = warp.gather(reinterpret_cast<const packs*>(from), at);
      LANEWISE_UNROLL
      for (int c = 0; c < k; ++c)
        item[h * k + c] = warp.map([c](const packs& p) { return p[c]; }, some);
    }
    return;
  }
  LANEWISE_UNROLL
  for (int c = 0; c < run; ++c) {
    const auto at =
        warp.map([c](std::uint32_t l) { return l * run + static_cast<std::uint32_t>(c); }, lane);
    item[c] = warp.gather(at < static_cast<std::uint32_t>(count < 0 ? 0 : count), from, at, T{});
  }
}

}  // namespace detail
namespace kernels {

/// Both sweeps of a pass: every team has the same tiles in both. A lane's keys are 64 bytes or 16.
template <class Bits>
struct multi_scan_policy : launch_policy {
  static constexpr int items_per_lane = sizeof(Bits) <= 4 ? 16 : 8;
  static constexpr int teams_per_multiprocessor = 3;
};

/// What a pass of a sort by multi-scans works on.
template <class Bits, class Value>
struct digit_pass {
  detail::radix_arrays<Bits> keys;
  detail::radix_arrays<Value> values;
  item_count n;
  std::int64_t* counts;        ///< of digit d and team t: [d * league + t]; then where its items go
  detail::pass_state* states;  ///< of the start, and of every pass
  int number;
  detail::mapped_digit<Bits> digit;

  /// The array in which the pass finds keys.
  LANEWISE_FUNCTION detail::radix_array from() const {
    return number == 0 ? detail::radix_array::in : states[number].at;
  }
};

/// Counts the digits of a team's share of the tiles.
template <class Bits, class Value, int words>
struct upsweep_digits_kernel {
  using policy = multi_scan_policy<Bits>;
  template <class Team>
  struct scratch {
    std::int64_t count[Team::warps][detail::digit_slots<Team>];
  };

  digit_pass<Bits, Value> pass;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using warp_type = typename Team::warp_type;
    using counters = detail::packed_counters<warp_type, words>;
    constexpr int width = warp_type::width;
    constexpr int run = counters::run;
    constexpr std::int64_t segment = policy::items_per_lane * width;
    constexpr std::int64_t items = segment * Team::warps;
    const auto warp = team.warp();
    const std::int64_t n = pass.n();
    const Bits* const keys = pass.keys(pass.from());
    std::int64_t* const own = shared.count[team.warp_index()];
    for (int g = 0; g < detail::digit_slots<Team>; g += width)
      warp.store(own + g, typename warp_type::template lanes<std::int64_t>(0));
    const auto [begin, end] = team.share(divide_up(n, items));
    for (std::int64_t t = begin; t < end;) {
      counters some;
      constexpr int tiles = counters::most / policy::items_per_lane;
      for (int k = 0; k < tiles && t < end; ++k, ++t) {
        const std::int64_t first = t * items + team.warp_index() * segment;
        const std::int64_t left = n - first;
        LANEWISE_UNROLL
        for (int r = 0; r < policy::items_per_lane / run; ++r) {
          const std::int64_t at = r * run * width;
          if (left >= segment) {
            count<true, run>(warp, keys + first + at, run * width, some);
          } else if (left > at) {
            const std::int64_t here = left - at < run * width ? left - at : run * width;
            count<false, run>(warp, keys + first + at, static_cast<int>(here), some);
          }
        }
      }
      const auto all = some.sum(warp);
      for (int g = 0; g < most_digits; g += width) {
        const auto digit = warp.lane() + u32s<warp_type>(static_cast<std::uint32_t>(g));
        warp.store(own + g,
                   warp.load(own + g) + warp.template cast<std::int64_t>(all.of_digit(digit)));
      }
    }
    team.barrier();
    if (team.warp_index() != 0) return;
    for (int g = 0; g < most_digits; g += width) {
      auto sum = warp.load(shared.count[0] + g);
      for (int w = 1; w < Team::warps; ++w) sum = sum + warp.load(shared.count[w] + g);
      const auto digit = warp.lane() + u32s<warp_type>(static_cast<std::uint32_t>(g));
      const auto at =
          warp.map([league = team.league(), t = team.index()](
                       std::uint32_t d) { return static_cast<std::int64_t>(d) * league + t; },
                   digit);
      warp.scatter(digit <= pass.digit.digit.mask, pass.counts, at, sum);
    }
  }

 private:
  static constexpr int most_digits = 4 * words;
  template <class W>
  using u32s = lanes_t<W, std::uint32_t>;

  template <bool full, int run, class W, class Counters>
  LANEWISE_FUNCTION void count(const W& warp, const Bits* from, int here, Counters& some) const {
    lanes_t<W, Bits> key[run];
    detail::load_runs<full>(warp, from, here, key);
    LANEWISE_UNROLL
    for (int c = 0; c < run; ++c) {
      const auto exists = warp.lane() * u32s<W>(static_cast<std::uint32_t>(run)) +
                              u32s<W>(static_cast<std::uint32_t>(c)) <
                          static_cast<std::uint32_t>(here);
      const auto digit = warp.map(pass.digit, key[c]);
      some.add(full ? warp.first(W::width) : exists, digit);
    }
  }
};

/// Turns counts into where every team's items of every digit go: one scan of all of them, as teams
/// of a digit are neighbours. If only one digit has keys, the pass has nothing to do: then no digit
/// begins between the first key and the last (early exit: Merrill, 5.4.2).
struct digit_spine_kernel {
  struct policy : launch_policy {};
  template <class Team>
  using scratch = scan_by_shuffles::scratch<Team, std::int64_t>;

  std::int64_t* counts;
  std::int64_t teams;
  std::uint32_t digits;
  item_count n;
  detail::pass_state* states;
  int number;
  bool to_out;  ///< where the input's keys go, if they move now

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using warp_type = typename Team::warp_type;
    using i64s = lanes_t<warp_type, std::int64_t>;
    constexpr std::int64_t width = warp_type::width;
    const auto warp = team.warp();
    const std::int64_t entries = digits * teams;
    std::int64_t before = 0;
    for (std::int64_t first = 0; first < entries; first += Team::warps * width) {
      const std::int64_t at = first + team.warp_index() * width, left = entries - at;
      const auto exists = warp.template first<std::int64_t>(left);
      const i64s mine = warp.load(exists, counts + at, std::int64_t{0});
      const auto prefix = scan_by_shuffles::scan(team, shared, mine, plus{}, before);
      warp.store(exists, counts + at, prefix.before);
      before = prefix.total;
    }
    team.barrier();
    if (team.warp_index() != 0) return;
    bool splits = false;
    for (std::uint32_t d = 0; d < digits; d += warp_type::width) {
      const auto digit = warp.lane() + typename warp_type::template lanes<std::uint32_t>(d);
      const auto at = warp.map(
          [every = teams](std::uint32_t x) { return static_cast<std::int64_t>(x) * every; }, digit);
      const auto begin = warp.gather(digit < digits, counts, at, std::int64_t{0});
      splits = splits || warp.any((begin > std::int64_t{0}) & (begin < before));
    }
    warp.once([&] {
      const auto from = number == 0 ? detail::radix_array::in : states[number].at;
      const bool out = from == detail::radix_array::in && to_out;
      const auto to = out ? detail::radix_array::out : detail::radix_arrays<char>::other(from);
      states[number].stays = !splits;
      states[number + 1].at = splits ? to : from;
    });
  }
};

/// Brings what a sort has left elsewhere to the output: if as many passes did nothing.
template <class Bits, class Value>
struct to_output_kernel {
  struct policy : launch_policy {};
  template <class Team>
  struct scratch {};

  digit_pass<Bits, Value> last;  ///< the pass after the last

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    copy(team, last.keys);
    if constexpr (!std::is_empty_v<Value>) copy(team, last.values);
  }

 private:
  template <class Team, class T>
  LANEWISE_FUNCTION void copy(const Team& team, const detail::radix_arrays<T>& arrays) const {
    constexpr std::int64_t width = Team::warp_type::width;
    const T* const from = arrays(last.from());
    if (from == arrays.out) return;
    const auto warp = team.warp();
    const std::int64_t n = last.n();
    const auto [begin, end] = team.share(divide_up(n, width));
    for (std::int64_t w = begin + team.warp_index(); w < end; w += Team::warps) {
      const std::int64_t left = n - w * width;
      const auto exists = warp.template first<T>(left);
      warp.store(exists, arrays.out + w * width, warp.load(exists, from + w * width, T{}));
    }
  }
};

}  // namespace kernels
}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
