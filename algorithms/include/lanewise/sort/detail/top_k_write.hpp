// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/league/look_back_chain.hpp>
#include <lanewise/sort/detail/top_k_steps.hpp>
#include <lanewise/tile/selection.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// How many items of every unit are beyond the threshold, and how many equal it.
template <class Selection>
struct choose_kernel {
  using item = typename Selection::item;
  struct policy : launch_policy {
    static constexpr int host_teams_per_thread = 16;
  };
  template <class Team>
  struct scratch {};

  Selection all;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    using numbers = lanes_t<warp_type, std::uint32_t>;
    const auto warp = team.warp();
    const typename Selection::plan_type plan = *all.plan;
    const typename Selection::classes class_of(all, plan);
    if (plan.among == candidates::floor) return;  // the notes say it
    const std::int64_t n = all.n();
    const auto chosen_of = [&](std::int64_t u) LANEWISE_INLINE_LAMBDA {
      const std::int64_t end = (u + 1) * unit_items;
      std::uint32_t beyond = 0, equal = 0;
      kernels::for_each_window_of(
          warp, all.in, u * unit_items, end < n ? end : n,
          [&](std::int64_t, const auto& exists, const auto& items) LANEWISE_INLINE_LAMBDA {
            const auto is = warp.map(class_of, items);
            beyond +=
                static_cast<std::uint32_t>(warp_type::popcount(warp.ballot(exists & (is == 2u))));
            equal +=
                static_cast<std::uint32_t>(warp_type::popcount(warp.ballot(exists & (is == 1u))));
          });
      return beyond | equal << 16;
    };
    if (plan.among == candidates::all) {
      const index_range mine = team.share(all.units());
      for (std::int64_t u = mine.begin + team.warp_index(); u < mine.end; u += Team::warps) {
        const std::uint32_t here = chosen_of(u);
        warp.once([&] { all.chosen[u] = here; });
      }
      return;
    }
    kernels::for_each_units(team, all.units(), [&](const auto& lanes) LANEWISE_INLINE_LAMBDA {
      const auto above = warp.gather(lanes.exist, all.notes, lanes.unit, 0u) & numbers(0xffffu);
      const auto few = lanes.exist & (above > 0u) & (above <= std::uint32_t{unit_slots});
      numbers here(0u);
      if (warp.any(few)) {
        const noted_items<warp_type, Selection> noted(warp, all, few, above, lanes.unit);
        LANEWISE_UNROLL
        for (int s = 0; s < unit_slots; ++s)
          here = here + warp.map(
                            few & (above > static_cast<std::uint32_t>(s)),
                            [&](typename Selection::bits x) LANEWISE_INLINE_LAMBDA {
                              const std::uint32_t is = class_of.of_bits(x);
                              return is == 2 ? 1u : is << 16;
                            },
                            0u, noted.row[s]);
      }
      kernels::for_each_whole_unit(
          warp, lanes.exist & (above > std::uint32_t{unit_slots}), lanes.unit,
          [&](std::int64_t u, int lane) LANEWISE_INLINE_LAMBDA {
            here = lanewise::select(warp.lane() == static_cast<std::uint32_t>(lane),
                                    numbers(chosen_of(u)), here);
          });
      warp.scatter(lanes.exist, all.chosen, lanes.unit, here);
    });
  }
};

/// Finds where every unit's items go.
struct add_selection_offsets {
  LANEWISE_FUNCTION detail::selection_state operator()(const detail::selection_state& a,
                                                       const detail::selection_state& b) const {
    return detail::selection_state::of(a.count() + b.count(), a.end() + b.end());
  }
};
template <class Selection>
struct offsets_kernel {
  using state = detail::selection_state;
  struct policy : launch_policy {};
  static constexpr std::int64_t tile_units = selection_tile_units;
  template <class Team>
  struct scratch {
    look_back_scratch<state> chain;
    selection_offset warp[Team::warps];
  };

  Selection all;
  look_back_chain<state> chain;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using warp_type = typename Team::warp_type;
    using words = lanes_t<warp_type, std::uint64_t>;
    constexpr std::int64_t width = warp_type::width;
    const auto warp = team.warp();
    const std::int64_t units = all.units();
    const std::uint32_t* const from = all.plan->among == candidates::floor ? all.notes : all.chosen;
    const auto tiles = static_cast<std::uint32_t>(divide_up(units, tile_units));
    lanewise::for_each_ticket(
        team, chain, tiles, shared.chain, [&](auto mine) LANEWISE_INLINE_LAMBDA {
          const std::int64_t begin = std::int64_t{mine.ticket} * tile_units;
          const std::int64_t end = begin + tile_units < units ? begin + tile_units : units;
          const index_range part =
              lanewise::even_share(divide_up(end - begin, width), team.warp_index(), Team::warps);
          const auto window = [&](std::int64_t w) LANEWISE_INLINE_LAMBDA {
            const std::int64_t left = end - begin - w * width;
            const auto exist = warp.first(left);
            // Both counts in one word: they come to at most 2^31 in a tile.
            return warp.map(
                [](std::uint32_t x) -> std::uint64_t {
                  return std::uint64_t{x & 0xffffu} | std::uint64_t{x >> 16} << 32;
                },
                warp.load(exist, from + begin + w * width, 0u));
          };
          words sums(std::uint64_t{0});
          for (std::int64_t w = part.begin; w < part.end; ++w) sums = sums + window(w);
          const std::uint64_t sum = warp.reduce(sums, plus{});
          warp.once([&] {
            shared.warp[team.warp_index()] = {static_cast<std::int64_t>(sum & 0xffffffffu),
                                              static_cast<std::int64_t>(sum >> 32)};
          });
          team.barrier();
          selection_offset before{0, 0}, total{0, 0};
          for (int w = 0; w < Team::warps; ++w) {
            const selection_offset here = shared.warp[w];
            if (w < team.warp_index())
              before = {before.beyond + here.beyond, before.equal + here.equal};
            total = {total.beyond + here.beyond, total.equal + here.equal};
          }
          const auto in_front = lanewise::publish_and_look_back(
              team, chain, mine, shared.chain, state::of(total.beyond, total.equal),
              add_selection_offsets{}, maybe<state>{state::of(0, 0), true});
          before = {before.beyond + in_front.value.count(), before.equal + in_front.value.end()};
          for (std::int64_t w = part.begin; w < part.end; ++w) {
            const auto counts = window(w);
            const auto upto = warp.inclusive_scan(counts, plus{});
            auto offset = warp.map(
                [before](std::uint64_t x) {
                  return selection_offset{
                      before.beyond + static_cast<std::int64_t>(x & 0xffffffffu),
                      before.equal + static_cast<std::int64_t>(x >> 32)};
                },
                upto - counts);
            const std::int64_t left = end - begin - w * width;
            warp.store(warp.first(left), all.offsets + begin + w * width, offset);
            const std::uint64_t last = warp.broadcast(upto, width - 1);
            before = {before.beyond + static_cast<std::int64_t>(last & 0xffffffffu),
                      before.equal + static_cast<std::int64_t>(last >> 32)};
          }
        });
  }
};

/// Writes what was selected: calls put(place, index, item).
template <class Selection, class Put>
struct selected_kernel {
  using item = typename Selection::item;
  struct policy : launch_policy {
    static constexpr int host_teams_per_thread = 16;
  };
  template <class Team>
  struct scratch {};

  Selection all;
  Put put;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    using numbers = lanes_t<warp_type, std::uint32_t>;
    using places = lanes_t<warp_type, std::int64_t>;
    const auto warp = team.warp();
    const typename Selection::plan_type plan = *all.plan;
    const typename Selection::classes class_of(all, plan);
    const std::int64_t n = all.n(), wanted = plan.wanted;
    const auto write_unit = [&](std::int64_t u, selection_offset before) LANEWISE_INLINE_LAMBDA {
      const std::int64_t end = (u + 1) * unit_items;
      write_items(warp, all.in, u * unit_items, end < n ? end : n, class_of, wanted, before, put);
    };
    const std::uint32_t* const from = plan.among == candidates::floor ? all.notes : all.chosen;
    if (plan.among == candidates::all) {
      const index_range mine = team.share(all.units());
      for (std::int64_t u = mine.begin + team.warp_index(); u < mine.end; u += Team::warps) {
        const std::uint32_t here = from[u];
        const selection_offset before = all.offsets[u];
        if ((here & 0xffffu) != 0 || (here >> 16 != 0 && before.equal < wanted))
          write_unit(u, before);
      }
      return;
    }
    kernels::for_each_units(team, all.units(), [&](const auto& lanes) LANEWISE_INLINE_LAMBDA {
      const auto note = warp.gather(lanes.exist, all.notes, lanes.unit, 0u);
      const auto here = warp.gather(lanes.exist, from, lanes.unit, 0u);
      const auto some = lanes.exist & (here != 0u);
      if (!warp.any(some)) return;
      const auto above = note & numbers(0xffffu);
      const auto before = warp.gather(some, all.offsets, lanes.unit, selection_offset{});
      auto beyond = warp.map([](const selection_offset& o) { return o.beyond; }, before);
      auto equal = warp.map([](const selection_offset& o) { return o.equal; }, before);
      // Items that equal the floor have no slots.
      const auto whole =
          some & ((above > std::uint32_t{unit_slots}) |
                  (numbers(warp.map(
                       [=](std::uint32_t x, std::int64_t e) -> std::uint32_t {
                         return plan.among == candidates::floor && x >> 16 != 0 && e < wanted;
                       },
                       here, equal)) != 0u));
      const auto few = some & !whole & (above > 0u);
      if (warp.any(few)) {
        using noted_type = noted_items<warp_type, Selection>;
        const noted_type noted(warp, all, few, above, lanes.unit);
        numbers is[unit_slots];
        places index[unit_slots];
        lanes_t<warp_type, item> x[unit_slots];
        LANEWISE_UNROLL
        for (int s = 0; s < unit_slots; ++s) {
          is[s] = warp.map(
              few & (above > static_cast<std::uint32_t>(s)),
              [&](typename Selection::bits b)
                  LANEWISE_INLINE_LAMBDA { return class_of.of_bits(b); },
              0u, noted.row[s]);
          index[s] = lanes.unit * places(unit_items) +
                     warp.template cast<std::int64_t>(
                         warp.gather(is[s] != 0u, all.places,
                                     noted_type::slot_of(warp, lanes.unit, s), std::uint16_t{0}));
        }
        LANEWISE_UNROLL
        for (int s = 0; s < unit_slots; ++s)
          x[s] = warp.map(
              is[s] != 0u, [&](std::int64_t i) LANEWISE_INLINE_LAMBDA { return all.in(i); }, item{},
              index[s]);
        LANEWISE_UNROLL
        for (int s = 0; s < unit_slots; ++s)
          warp.each(
              is[s] != 0u,
              [&](const item& i, std::int64_t at, std::uint32_t c, std::int64_t& b, std::int64_t& e)
                  LANEWISE_INLINE_LAMBDA {
                    if (c == 2 || e < wanted) put(b + (e < wanted ? e : wanted), at, i);
                    b += c == 2;
                    e += c == 1;
                  },
              x[s], index[s], is[s], beyond, equal);
      }
      kernels::for_each_whole_unit(
          warp, whole, lanes.unit, [&](std::int64_t u, int lane) LANEWISE_INLINE_LAMBDA {
            write_unit(u, {warp.broadcast(beyond, lane), warp.broadcast(equal, lane)});
          });
    });
  }

  /// Writes the selected ones of items [first, last), by one warp. `before` counts the items before
  /// them that were beyond the threshold or equal to it.
  template <class W, class Source, class Classes>
  static LANEWISE_FUNCTION void write_items(const W& warp, const Source& in, std::int64_t first,
                                            std::int64_t last, const Classes& class_of,
                                            std::int64_t wanted, selection_offset before,
                                            const Put& put) {
    kernels::for_each_window_of(
        warp, in, first, last,
        [&](std::int64_t at, const auto& exists, const auto& items) LANEWISE_INLINE_LAMBDA {
          const auto is = warp.map(class_of, items);
          const auto beyond = warp.ballot(exists & (is == 2u));
          const auto equal = warp.ballot(exists & (is == 1u));
          auto x = items;
          auto below = warp.lanes_below();
          auto lane = warp.lane();
          warp.each(
              exists & (is != 0u),
              [&](const item& i, typename W::bits b, std::uint32_t l) LANEWISE_INLINE_LAMBDA {
                const std::int64_t equals = before.equal + W::popcount(equal & b);
                const bool greater = ((beyond >> l) & 1) != 0;
                if (greater || equals < wanted)
                  put(before.beyond + W::popcount(beyond & b) + (equals < wanted ? equals : wanted),
                      at + l, i);
              },
              x, below, lane);
          before.beyond += W::popcount(beyond);
          before.equal += W::popcount(equal);
        });
  }
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
