// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/detail/multisplit/policy.hpp>
#include <lanewise/detail/radix_sort/plan.hpp>
#include <lanewise/detail/split.hpp>
#include <lanewise/league_barrier.hpp>
#include <lanewise/look_back_counts.hpp>
#include <lanewise/team.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// What f makes of items in [begin, end) of an array goes to the same places of another, or of the
/// same.
template <class Team, class T, class F>
LANEWISE_FUNCTION void copy_items(const Team& team, const T* from, T* to, std::int64_t begin,
                                  std::int64_t end, F f) {
  constexpr int width = Team::warp_type::width;
  const auto warp = team.warp();
  for (std::int64_t i = begin + team.warp_index() * width; i < end; i += Team::warps * width) {
    const std::int64_t left = end - i;
    const auto exist = warp.first(left < width ? static_cast<int>(left) : width);
    warp.store(exist, to + i, warp.map(f, warp.load(exist, from + i, T{})));
  }
}

template <class Bits>
struct radix_writer {
  Bits* data;
  detail::key_map<Bits> map;
  LANEWISE_FUNCTION void operator()(std::int64_t i, Bits x) const { data[i] = map.item_of(x); }
};

/// A radix sort from the least significant digit up. It takes as long whatever the keys are, so it
/// is for those that gather in few buckets, which a sort from the most significant digit down would
/// have to move many times.
///
/// Every pass is a multisplit by one digit: each team counts a column, a run of tiles, a warp for
/// each digit adds up what the teams have counted, and all send tiles to where their runs begin.
/// Digits in which no keys differ, as the first level of the sort has found out, are left out.
template <class Bits, class Value>
struct radix_digit_passes {
  static constexpr bool has_values = !std::is_empty_v<Value>;
  static constexpr int value_bytes = has_values ? static_cast<int>(sizeof(Value)) : 0;
  struct policy : split_policy_for<Bits, value_bytes, false> {};
  template <class Team>
  using split = detail::split_t<Team, Bits, policy>;
  template <class Team>
  using count_scratch = typename split<Team>::count_scratch;
  template <class Team>
  using place_scratch = typename split<Team>::template scratch<value_bytes>;
  using digit_type = detail::radix_digit_of<Bits>;

  detail::radix_arrays<Bits> keys;
  detail::radix_arrays<Value> values;
  detail::key_map<Bits> map;
  detail::radix_range range;
  item_count n;
  const detail::radix_level* first;  ///< the first level, which says whether passes have keys
  const std::uint64_t* differing;    ///< the bits in which mapped keys differ
  std::uint32_t columns;
  std::uint32_t* tickets;  ///< of tiles
  std::int64_t*
      starts;  ///< items in front of column c: [c * buckets + digit]; behind, where digits begin
  std::uint32_t* counts;  ///< items of column c: [digit * columns + c]
  std::uint32_t*
      tile_counts;  ///< items of a tile's column in front of the tile: [tile * buckets + digit]

  LANEWISE_FUNCTION bool has_keys() const { return first->by_passes != 0; }

  /// Where keys are when all passes below bit `low` are done, and where the next one sends them.
  struct route_type {
    detail::radix_array from, to;
    bool begins;  ///< keys have not been moved yet
    bool ends;    ///< one pass is left
  };
  LANEWISE_FUNCTION route_type route(int low) const {
    int done = 0, left = 0;
    for (int bit = range.low; bit < range.high; bit += detail::radix_digit_bits) {
      if (differ_in(digit_at(bit))) ++(bit < low ? done : left);
    }
    // An odd number of passes that begins with the output also ends there.
    const bool begins_out = keys.overwrites() || ((done + left) % 2 == 1 && is_apart());
    const auto target = [=](int pass) {
      return (pass % 2 == 0) == begins_out ? detail::radix_array::out : detail::radix_array::room;
    };
    return {done == 0 ? detail::radix_array::in : target(done - 1), target(done), done == 0,
            left == 1};
  }

  /// What a pass does, by the digit from bit `low` on, which keys have.
  struct step_type : route_type {
    digit_type digit;
    bool moves;  ///< whether keys differ in the digit
    LANEWISE_FUNCTION std::uint32_t buckets() const { return digit.mask + 1; }
  };
  LANEWISE_FUNCTION step_type step(int low) const {
    const digit_type digit = digit_at(low);
    return {route(low), digit, differ_in(digit)};
  }

  /// Calls f with the keys of a pass and where they go: mapped between the first pass and the last.
  template <class F>
  LANEWISE_FUNCTION void with_keys(const step_type& pass, const F& f) const {
    const std::int64_t all = n();
    if (map.is_identity() || (!pass.begins && !pass.ends)) {
      f(array_source<Bits, identity>{keys(pass.from), all, {}},
        array_sink<Bits>{keys.to(pass.to), all});
    } else {
      const detail::key_map<Bits> as_it_is{};
      f(array_source<Bits, detail::key_map<Bits>>{keys(pass.from), all,
                                                  pass.begins ? map : as_it_is},
        function_sink<radix_writer<Bits>>{all, {keys.to(pass.to), pass.ends ? map : as_it_is}});
    }
  }

  /// Counts the column of a team.
  template <class Team, class Source>
  LANEWISE_FUNCTION void count(const Team& team, count_scratch<Team>& shared, const step_type& pass,
                               const Source& source) const {
    split<Team>::count(
        team, shared, source, tiles_of<Team>(), team.index(), columns, n(), pass.digit,
        pass.buckets(), tile_counts,
        [column = counts + team.index(), stride = columns](std::uint32_t d, std::uint32_t x)
            LANEWISE_INLINE_LAMBDA { column[std::size_t{d} * stride] = x; },
        [](std::uint32_t) {});
    if (team.index() == 0) team.once([&] { *tickets = 0; });
  }

  /// Finds out what is in front of every column, for some digits by each team.
  template <class Team>
  LANEWISE_FUNCTION void add_up(const Team& team, const step_type& pass) const {
    const auto warp = static_cast<std::uint32_t>(team.warp_index());
    for (std::uint32_t d = team.index() + warp * columns; d < pass.buckets();
         d += Team::warps * columns)
      add_up(team.warp(), columns, counts + std::size_t{d} * columns, starts + d, pass.buckets());
  }
  /// Finds out where digits begin.
  template <class Team>
  LANEWISE_FUNCTION void find_begins(const Team& team, const step_type& pass) const {
    if (team.index() != 0 || team.warp_index() != 0) return;
    std::int64_t* const begins = starts + std::size_t{columns} * pass.buckets();
    add_up(team.warp(), pass.buckets(), begins, begins, 1);
  }

  /// Tiles that are placed at the same time are to be neighbours, as are then the lines that they
  /// write parts of.
  template <class Team, class Source, class Sink>
  LANEWISE_FUNCTION void place(const Team& team, place_scratch<Team>& shared, const step_type& pass,
                               std::int64_t piece, const Source& source, const Sink& sink) const {
    const auto place_with = [&](const auto& moved, const auto& moved_out) LANEWISE_INLINE_LAMBDA {
      split<Team>::place(team, shared, source, tiles_of<Team>(), piece, columns, n(), pass.digit,
                         pass.buckets(), true, tile_counts, starts, n(), sink, moved, moved_out);
    };
    if constexpr (has_values) {
      place_with(array_source<Value, identity>{values(pass.from), n(), {}},
                 array_sink<Value>{values.to(pass.to), n()});
    } else {
      place_with(nullptr, nullptr);
    }
  }

  /// Copies what has ended elsewhere, when all passes are done.
  template <class Team>
  LANEWISE_FUNCTION void copy(const Team& team) const {
    const auto from = route(range.high).from;
    copy(team, keys(from), keys.out);
    if constexpr (has_values) copy(team, values(from), values.out);
  }

  template <class Team>
  LANEWISE_FUNCTION std::int64_t tiles_of() const {
    return divide_up(n(), std::int64_t{split<Team>::items});
  }
  /// Whether neither keys nor values are sorted in place.
  LANEWISE_FUNCTION bool is_apart() const {
    return keys.in != keys.out && (!has_values || values.in != values.out);
  }

 private:
  LANEWISE_FUNCTION bool differ_in(const digit_type& digit) const {
    return digit(detail::radix_bits_of_words<Bits>(differing)) != 0;
  }
  LANEWISE_FUNCTION digit_type digit_at(int low) const {
    const int bits = range.high - low;
    const int width = bits < detail::radix_digit_bits ? bits : detail::radix_digit_bits;
    return {low, (std::uint32_t{1} << width) - 1};
  }
  /// sums[i * stride] = what is in front of count[i], and behind all n of them their sum.
  template <class W, class Count>
  static LANEWISE_FUNCTION void add_up(const W& warp, std::uint32_t n, const Count* count,
                                       std::int64_t* sums, std::uint32_t stride) {
    using i64s = typename W::template lanes<std::int64_t>;
    std::int64_t before = 0;
    for (std::uint32_t i = 0; i < n; i += W::width) {
      const auto exists = warp.first(n - i < W::width ? static_cast<int>(n - i) : W::width);
      const auto here = warp.template cast<std::int64_t>(warp.load(exists, count + i, Count{0}));
      const auto upto = warp.inclusive_scan(here, plus{});
      auto place = warp.lane() + typename W::template lanes<std::uint32_t>(i);
      auto sum = upto - here + i64s(before);
      warp.each(
          exists, [&](std::uint32_t p, std::int64_t x) { sums[std::size_t{p} * stride] = x; },
          place, sum);
      before += warp.broadcast(upto, W::width - 1);
    }
    warp.once([&] { sums[std::size_t{n} * stride] = before; });
  }
  template <class Team, class T>
  LANEWISE_FUNCTION void copy(const Team& team, const T* from, T* to) const {
    if (from == to) return;
    const std::int64_t all = n(), some = split<Team>::items;
    for (std::int64_t at = team.index() * some; at < all; at += team.league() * some)
      kernels::copy_items(team, from, to, at, at + some < all ? at + some : all, identity{});
  }
};

/// All passes in one resident launch.
template <class Passes>
struct radix_passes_kernel {
  using policy = typename Passes::policy;
  template <class Team>
  struct scratch {
    union {
      typename Passes::template count_scratch<Team> count;
      typename Passes::template place_scratch<Team> tile;
    };

    std::uint32_t ticket;
  };

  Passes passes;
  league_barrier meeting;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    if (!passes.has_keys()) return;
    for (int low = passes.range.low; low < passes.range.high; low += detail::radix_digit_bits) {
      const auto pass = passes.step(low);
      if (!pass.moves) continue;
      passes.with_keys(pass, [&](const auto& source, const auto& sink) LANEWISE_INLINE_LAMBDA {
        passes.count(team, shared.count, pass, source);
        meeting.wait(team);
        passes.add_up(team, pass);
        meeting.wait(team);
        passes.find_begins(team, pass);
        meeting.wait(team);
        lanewise::for_each_tile_in_order<false>(
            team, shared.ticket, *passes.tickets,
            static_cast<std::uint32_t>(passes.template tiles_of<Team>()),
            [&](std::uint32_t t)
                LANEWISE_INLINE_LAMBDA { passes.place(team, shared.tile, pass, t, source, sink); });
        meeting.wait(team);
      });
    }
    passes.copy(team);
  }
};

/// What comes in front of the placing of a pass, in a resident launch; behind all passes it copies.
template <class Passes>
struct radix_pass_counts_kernel {
  using policy = typename Passes::policy;
  template <class Team>
  using scratch = typename Passes::template count_scratch<Team>;

  Passes passes;
  league_barrier meeting;
  int low;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    if (!passes.has_keys()) return;
    if (low >= passes.range.high) return passes.copy(team);
    const auto pass = passes.step(low);
    if (!pass.moves) return;
    passes.with_keys(pass, [&](const auto& source, const auto&) LANEWISE_INLINE_LAMBDA {
      passes.count(team, shared, pass, source);
    });
    meeting.wait(team);
    passes.add_up(team, pass);
    meeting.wait(team);
    passes.find_begins(team, pass);
  }
};

/// The placing of a pass, a tile by each team, for pairs: H200, 2^28 pairs of u32 that gather take
/// 8.1 ms so, by resident teams 9.0. Keys alone take 6.1 ms both ways, and sorts that need no
/// passes 0.13 ms longer (u64: 0.4).
template <class Passes>
struct radix_pass_kernel {
  using policy = typename Passes::policy;
  template <class Team>
  using scratch = typename Passes::template place_scratch<Team>;

  Passes passes;
  int low;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    if (!passes.has_keys()) return;
    const auto pass = passes.step(low);
    if (!pass.moves) return;
    const std::int64_t tiles = passes.template tiles_of<Team>();
    passes.with_keys(pass, [&](const auto& source, const auto& sink) LANEWISE_INLINE_LAMBDA {
      lanewise::for_each_tile(team, tiles, [&](std::int64_t t) LANEWISE_INLINE_LAMBDA {
        passes.place(team, shared, pass, t, source, sink);
        team.barrier();
      });
    });
  }
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
