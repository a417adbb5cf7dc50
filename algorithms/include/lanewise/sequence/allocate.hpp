// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/league/warp_allocate.hpp>
#include <lanewise/select/detail/compact.hpp>
#include <lanewise/sequence/scan.hpp>
#include <lanewise/tile/tile.hpp>

#include <limits>

LANEWISE_BEGIN_NAMESPACE

/// Options of calls that may meet bad items.
struct checked_options {
  /// Memory for temporaries; without it the call allocates in the order of its instance.
  workspace_ref work = {};
  /// A rank-0 View of integers, read on the device when the call runs: the number of items. The
  /// extents are the upper bound.
  option_view<const std::int64_t> count = {};
  /// Counts bad items.
  option_view<status> errors = {};
};

namespace detail {

/// The greatest number of places; it also stands for all that are greater.
inline constexpr std::int64_t most_places = std::numeric_limits<std::int64_t>::max();

/// A count as a number of places: none where it is negative.
struct places {
  template <class T>
  LANEWISE_FUNCTION std::int64_t operator()(const T& count) const {
    if constexpr (std::is_signed_v<T>) {
      return count < 0 ? 0 : static_cast<std::int64_t>(count);
    } else {
      return count < std::uint64_t{most_places} ? static_cast<std::int64_t>(count) : most_places;
    }
  }
};

struct is_negative {
  template <class T>
  LANEWISE_FUNCTION std::uint32_t operator()(const T& count) const {
    return count < 0 ? 1 : 0;
  }
};

struct add_places {
  LANEWISE_FUNCTION std::int64_t operator()(std::int64_t a, std::int64_t b) const {
    return a > most_places - b ? most_places : a + b;
  }
};

}  // namespace detail

template <>
inline constexpr bool is_commutative<detail::add_places, std::int64_t> = true;

LANEWISE_END_NAMESPACE

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

/// The scan of the counts, with its total. Ends are the inclusive scan.
template <bool ends, class Counts, class Sink>
struct allocate_kernel {
  using policy = scan_policy<std::int64_t>;
  using count_type = typename Counts::value_type;
  // Fewer than 2^32 counts of 32 bits cannot overflow.
  using add = std::conditional_t<sizeof(count_type) <= 4, plus, detail::add_places>;
  static constexpr bool may_be_negative = std::is_signed_v<count_type>;

  template <class Team>
  using tile_of = tile_t<Team, std::int64_t, policy>;
  template <class Team>
  struct scratch {
    reduce_scratch<Team, std::uint32_t> reduce;
    decoupled_look_back_scratch<Team, std::int64_t, tile_of<Team>> line;
  };

  Counts counts;
  Sink out;
  cut_items n;
  look_back_chain<std::int64_t> chain;
  detail::integers total;
  std::int64_t most;  // the greatest total that can be expressed
  status* errors;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const tile_cuts<Team, std::int64_t, policy> cuts(n);
    const auto tiles = static_cast<std::uint32_t>(cuts.tiles());
    if (tiles == 0 && team.index() == 0) team.once([&] { total.put(0, 0); });
    const auto sizes = detail::compose(counts, detail::places{});
    lanewise::decoupled_look_back(
        team, chain, tiles, shared.line, add{}, maybe<std::int64_t>{0, true},
        [&](std::uint32_t ticket, auto& place) LANEWISE_INLINE_LAMBDA {
          const std::int64_t first = cuts.first(ticket);
          const std::int64_t next = cuts.first(ticket + 1), count = n.n();
          report_negative(team, shared, first, next < count ? next : count);
          return lanewise::load_tile<std::int64_t, policy>(team, place, sizes, first,
                                                           cuts.below(ticket));
        },
        [&](auto& tile) LANEWISE_INLINE_LAMBDA {
          tile.scan(add{});
          return tile.total();
        },
        [&](auto& tile, std::uint32_t ticket, const maybe<std::int64_t>& before)
            LANEWISE_INLINE_LAMBDA {
              if constexpr (ends) {
                tile.store_inclusive(out, before, add{});
              } else {
                tile.store_exclusive(out, before, add{});
              }
              if (ticket + 1 == tiles) report_total(team, tile, before);
            });
  }

 private:
  template <class Team>
  LANEWISE_FUNCTION void report_negative(const Team& team, scratch<Team>& shared,
                                         std::int64_t first, std::int64_t last) const {
    if constexpr (may_be_negative) {
      if (errors == nullptr) return;
      const std::uint32_t bad =
          lanewise::reduce_range<std::uint32_t, policy>(
              team, shared.reduce, detail::compose(counts, detail::is_negative{}), first, last,
              plus{})
              .value;
      if (bad != 0 && team.warp_index() == 0) team.warp().fetch_add(errors->bad_items, bad);
    }
  }
  /// Stores the sum up to the end of the last tile, which has been stored.
  template <class Team, class Tile>
  LANEWISE_FUNCTION void report_total(const Team& team, const Tile& tile,
                                      const maybe<std::int64_t>& before) const {
    const std::int64_t sum = tile.end(maybe<std::int64_t>{before.value, true}, add{});
    team.once([&] { total.put(0, sum); });
    if (sum > most && errors != nullptr && team.warp_index() == 0)
      team.warp().fetch_add(errors->bad_items, 1);
  }
};

template <class Exec>
status* errors_of(const checked_options& options, workspace& work) {
  return options.errors.data() != nullptr ? options.errors.data() : work.errors();
}

/// The number of items of a call with these options, and the same as plain options.
template <class Exec>
item_count count_of(std::int64_t extent, const checked_options& options, const char* algorithm) {
  options.errors.template expects_reachable<Exec>(algorithm, "options.errors");
  return detail::count_of<Exec>(extent, {options.work, options.count}, algorithm);
}

/// Starts the kernel with the chain at an offset of the workspace.
template <bool ends, class Exec, class Counts, class Sink>
void allocate(const Exec& exec, const char* label, const Counts& counts, const Sink& out,
              item_count n, detail::integers total, std::int64_t most, status* errors,
              workspace& work, std::size_t chain_at) {
  using kernel = allocate_kernel<ends, Counts, Sink>;
  using policy = typename kernel::policy;
  using cuts = tile_cuts<team_t<Exec, policy>, std::int64_t, policy>;
  const std::int64_t tiles = n.bound > 0 ? cuts::most_tiles(n.bound) : 1;
  lanewise::launch(exec, label, backend_of<Exec>::template league_for_tiles<kernel>(exec, tiles),
                   kernel{counts, out, cuts::cut(counts, out, n),
                          work.make_look_back_chain<std::int64_t>(chain_at), total, most, errors});
}

}  // namespace kernels

/// The workspace that allocate needs for n counts. Needs no device.
template <class Exec>
workspace_size allocate_workspace(std::int64_t n) {
  return lanewise::scan_workspace<std::int64_t, Exec>(n > 0 ? n : 1);
}

/// Allocates counts(i) places for every i: stores where they begin in offsets, in order and without
/// gaps, and how many there are in all in the rank-0 View total of integers. So offsets is the
/// exclusive sum of counts. To have the total after the offsets, as a list of row begins does,
/// give Kokkos::subview(offsets, n) as total.
///
/// counts is a contiguous rank-1 View or a source of integers, offsets a View of integers or a sink
/// with at least as many places; they may be the same View when the item sizes agree. Sums are of
/// 64 bits. A negative count is taken as 0 and counted in options.errors, else in options.work. A
/// total that the type of offsets or of total cannot express is counted there as one bad item. Then
/// offsets are what the conversion makes of them, and total is the greatest integer of its type. A
/// total that reaches 2^63 - 1 is one bad item, too, and total is then that number. One launch and
/// one pass: n reads, n writes; signed counts are read again from cache where bad ones are counted.
/// O(n) work. The result is the same on every backend. Does not block. Throws std::invalid_argument
/// on wrong extents, partial overlap, or an option that cannot be reached. (Merrill, 1.3.3 and
/// chapter 3; a single pass with look-back.)
template <execution_space Exec, class Counts, class Offsets, class T, class... P>
void allocate(const Exec& exec, const Counts& counts, const Offsets& offsets,
              const Kokkos::View<T, P...>& total, const checked_options& options = {}) {
  const auto source = detail::as_source<Exec>(counts);
  const auto sink = detail::as_sink<Exec>(offsets);
  static_assert(std::is_integral_v<typename decltype(source)::value_type>,
                "lanewise::allocate: counts are integers");
  using offset = typename detail::sink_value<std::decay_t<decltype(sink)>>::type;
  std::int64_t most = detail::most_places - 1;
  if constexpr (!std::is_void_v<offset>) {
    static_assert(std::is_integral_v<offset>, "lanewise::allocate: offsets are integers");
    if constexpr (sizeof(offset) < 8) most = std::numeric_limits<offset>::max();
  }
  detail::expects(sink.extent >= source.extent, "allocate: offsets has ", sink.extent,
                  " places, counts has ", source.extent, " items");
  detail::expects_memory(source, "allocate", "counts");
  detail::expects_memory(sink, "allocate", "offsets");
  detail::expects_no_partial_overlap(source, sink, "allocate", "counts", "offsets");
  const detail::integers sum = kernels::count_place<Exec>(total, "allocate");
  if (sum.most() < most) most = sum.most();
  const item_count n = kernels::count_of<Exec>(source.extent, options, "allocate");
  auto work = call_workspace::make<backend_of<Exec>>(
      exec, options.work, lanewise::allocate_workspace<Exec>(n.bound), "allocate");
  kernels::allocate<false>(exec, "Lanewise::allocate", source, sink, n, sum, most,
                           kernels::errors_of<Exec>(options, work.get()), work.get(), 0);
}

/// Overload that returns the total. **Blocks.**
template <execution_space Exec, class Counts, class Offsets>
std::int64_t allocate(const Exec& exec, const Counts& counts, const Offsets& offsets,
                      const checked_options& options = {}) {
  return kernels::blocking_result<std::int64_t>(
      exec, [&](const auto& total) { lanewise::allocate(exec, counts, offsets, total, options); });
}

LANEWISE_END_TARGET_NAMESPACE
