// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/strings/detail/device/multi_pattern_chunk_matcher.hpp>
#include <lanewise/strings/detail/host/multi_pattern_transition_scan.hpp>
#include <lanewise/strings/detail/multi_pattern_finder.hpp>
#include <lanewise/strings/detail/multi_pattern_transition_count.hpp>
#include <lanewise/strings/detail/multi_pattern_walk.hpp>
#include <lanewise/strings/pattern_set.hpp>
#include <lanewise/strings/string_search.hpp>
#include <lanewise/team/team_algorithms.hpp>

#include <Kokkos_Core.hpp>

// Finds the positions where the patterns of a set occur in a text, all at once: at which bytes, and
// which, overlapping occurrences included. The calls read the text once; what a table of windows of
// the patterns passes is compared with the patterns.

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// The larger filter is for sets of many windows. It takes 128 KiB, so that one team has room on a
/// multiprocessor, of as many warps as a team may have.
template <bool many>
struct multi_pattern_policy : launch_policy {
  static constexpr int warps = many ? 32 : 16;
  static constexpr int teams_per_multiprocessor = many ? 1 : 2;
};
template <bool many>
inline constexpr int table_bits =
    many ? detail::filter_word::many_words_bits : detail::filter_word::few_words_bits;

/// A text, a set, and blocks of the text. A team does one block at a time: some steps for each
/// warp, one warp after the other. by_probes: devices look for most sets by other windows.
template <bool many, bool by_probes>
struct multi_pattern_blocks {
  using policy = multi_pattern_policy<many>;

  detail::text_bytes text;
  detail::pattern_set_view set;
  int steps;
  const std::uint32_t* marks = nullptr;  ///< of the filter, where it was a launch of its own

  template <class Team>
  using finder =
      std::conditional_t<by_probes, detail::chunk_matcher<typename Team::warp_type, many>,
                         detail::multi_pattern_finder<typename Team::warp_type>>;
  template <class Team>
  struct scratch {
    std::uint32_t table[1 << table_bits<many>];
    typename finder<Team>::scratch of_warp[Team::warps];
  };
  template <class Team>
  using words = typename finder<Team>::words;

  /// By probes, the marks of a warp's steps and of a few bytes around are in W words.
  static constexpr int most_steps = by_probes ? 30 : 32;
  /// The most steps of a warp if positions are wanted, as it keeps 128 of them. (10,000 phrases
  /// have 4 in a step.)
  static constexpr int most_steps_with_positions(detail::stride4_windows::kind how) {
    return by_probes && how != detail::stride4_windows::kind::every_word ? 12 : most_steps;
  }
  /// Returns the number of a warp's steps of a block, 4 or more, so that there are some thousand
  /// blocks.
  template <class Exec>
  static int steps_of(std::int64_t n, int most = most_steps) {
    constexpr std::int64_t block = detail::multi_pattern_finder<warp_t<Exec>>::positions *
                                   std::int64_t{team_t<Exec, policy>::warps};
    int s = 4;
    while (s < most && n / (block * s) > 2000) s = 2 * s < most ? 2 * s : most;
    return s;
  }
  template <class Team>
  LANEWISE_FUNCTION std::int64_t blocks() const {
    const std::int64_t n =
        lanewise::divide_up(text.n, std::int64_t{finder<Team>::positions} * steps * Team::warps);
    return n > 0 ? n : 1;
  }
  /// Once, before a team finds something.
  template <class Team>
  LANEWISE_FUNCTION void load_filter(const Team& team, scratch<Team>& shared) const {
    if constexpr (Team::is_single_thread) return;  // reads the set's own
    lanewise::copy(team, by_probes ? set.probes_filter : set.filter,
                   std::int64_t{1} << table_bits<many>, shared.table);
    team.barrier();
  }
  /// Returns the first position of this warp in a block.
  template <class Team>
  LANEWISE_FUNCTION std::int64_t first(const Team& team, std::int64_t block) const {
    return (block * Team::warps + team.warp_index()) * steps * finder<Team>::positions;
  }
  template <class Team>
  LANEWISE_FUNCTION std::int64_t last(const Team& team, std::int64_t block) const {
    return first(team, block) + std::int64_t{steps} * finder<Team>::positions;
  }
  /// Calls f(positions, ranks) for all positions of this warp where patterns begin, W at a time and
  /// in order, counted from `first`: ranks are those of the longest patterns, or 0. span is 32 at
  /// first, and for the warp's next block what it has become.
  template <class Team, class F>
  LANEWISE_FUNCTION void find(const Team& team, scratch<Team>& shared, std::int64_t block,
                              int& span, F f) const {
    const std::int64_t begin = first(team, block);
    if (begin >= text.n) return;
    const auto warp = team.warp();
    auto& mine = shared.of_warp[team.warp_index()];
    if constexpr (by_probes) {
      finder<Team>(warp, text, set, shared.table, marks, mine, begin, steps, span).find(f);
    } else {
      typename finder<Team>::candidates_type candidates(warp, text, set, mine);
      finder<Team>(warp, text, set, {shared.table, table_bits<many>, set.letters, set.around}, mine,
                   candidates, begin, steps, span)
          .find(f);
    }
  }
};

/// As multi_pattern_blocks, by the automaton's table on devices: a warp has one step of a block.
struct transition_blocks {
  struct policy : launch_policy {
    static constexpr int warps = 16;
    static constexpr int teams_per_multiprocessor = 2;
  };

  detail::text_bytes text;
  detail::pattern_set_view set;

  template <class Team>
  using finder = detail::transition_finder<typename Team::warp_type>;
  template <class Team>
  struct scratch {
    std::uint32_t classes[256];
    typename finder<Team>::scratch of_warp[Team::warps];
  };

  template <class Team>
  LANEWISE_FUNCTION std::int64_t blocks() const {
    const std::int64_t n =
        lanewise::divide_up(text.n, std::int64_t{finder<Team>::positions} * Team::warps);
    return n > 0 ? n : 1;
  }
  template <class Team>
  LANEWISE_FUNCTION void load_filter(const Team& team, scratch<Team>& shared) const {
    lanewise::copy(team, set.transitions.classes, 256, shared.classes);
    team.barrier();
  }
  template <class Team>
  LANEWISE_FUNCTION std::int64_t first(const Team& team, std::int64_t block) const {
    return (block * Team::warps + team.warp_index()) * finder<Team>::positions;
  }
  /// Searches this warp's step of a block. Returns how many patterns begin there, or at how many
  /// positions any does.
  template <class Team>
  LANEWISE_FUNCTION std::uint64_t search(const Team& team, scratch<Team>& shared,
                                         std::int64_t block, bool counts_positions) const {
    const std::int64_t begin = first(team, block);
    if (begin >= text.n) return 0;
    const auto warp = team.warp();
    return warp.reduce(finder<Team>(warp, text, set, shared.of_warp[team.warp_index()])
                           .search(shared.classes, begin, counts_positions),
                       plus{});
  }
  /// Calls f(positions, ranks) for a step that was searched.
  template <class Team, class F>
  LANEWISE_FUNCTION void find(const Team& team, scratch<Team>& shared, std::int64_t block, int&,
                              F f) const {
    if (first(team, block) >= text.n) return;
    const auto warp = team.warp();
    finder<Team>(warp, text, set, shared.of_warp[team.warp_index()]).each_position(f);
  }
};
/// Whether positions are in scratch once they are counted.
template <class Blocks>
inline constexpr bool counts_at_once = std::is_same_v<Blocks, transition_blocks>;

/// What a fold is to find.
enum class set_fold { number, of_each, first, last };

/// Counts all occurrences or those of each rank's positions, or finds the first or last position.
template <class Blocks>
struct set_fold_kernel {
  struct policy : Blocks::policy {
    static constexpr int host_teams_per_thread = 4;
  };
  template <class Team>
  using scratch = typename Blocks::template scratch<Team>;

  using wanted = set_fold;

  Blocks in;
  wanted what;
  std::int64_t* result;  // of the first and the last: begins with -1
  std::uint64_t* of_rank;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using warp_type = typename Team::warp_type;
    using words = lanes_t<warp_type, std::uint32_t>;
    using numbers = lanes_t<warp_type, std::uint64_t>;
    const auto warp = team.warp();
    const std::int64_t blocks = in.template blocks<Team>();
    numbers number(0u);
    int span = 32;
    in.load_filter(team, shared);
    for (std::int64_t p = team.index(); p < blocks; p += team.league()) {
      const std::int64_t block = what == wanted::last ? blocks - 1 - p : p;
      if (is_decided(team, block)) break;
      in.find(team, shared, block, span,
              [&](const words& positions, const words& ranks) LANEWISE_INLINE_LAMBDA {
                if (what == wanted::number) {
                  number = number + warp.template cast<std::uint64_t>(
                                        warp.gather(ranks != 0u, in.set.number, ranks, 0u));
                } else if (what == wanted::of_each) {
                  warp.fetch_add(ranks != 0u, of_rank, ranks, numbers(1u));
                } else {
                  update(warp, in.first(team, block), positions, warp.ballot(ranks != 0u));
                }
              });
    }
    const std::uint64_t all = warp.reduce(number, plus{});
    if (all != 0) warp.fetch_add(*reinterpret_cast<std::uint64_t*>(result), all);
  }

 private:
  LANEWISE_FUNCTION extreme_position end() const { return {result, what == wanted::first}; }
  /// Whether what was found is before a warp's steps, or after them.
  template <class Team>
  LANEWISE_FUNCTION bool is_decided(const Team& team, std::int64_t block) const {
    if (what != wanted::first && what != wanted::last) return false;
    return end().is_final(end().load(team.warp()), in.first(team, block), in.last(team, block));
  }
  template <class Warp, class Words, class Bits>
  LANEWISE_FUNCTION void update(const Warp& warp, std::int64_t first, const Words& positions,
                                Bits lanes) const {
    if (lanes != 0)
      end().update(warp, first + warp.broadcast(positions, end().template outermost<Warp>(lanes)));
  }
};

/// Sets the bits of positions where patterns begin, in a bitmap of zeros.
template <class Blocks>
struct multi_pattern_bitmap_kernel {
  struct policy : Blocks::policy {
    static constexpr int host_teams_per_thread = 4;
  };
  template <class Team>
  using scratch = typename Blocks::template scratch<Team>;

  Blocks in;
  std::uint32_t* bits;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using words = typename Blocks::template words<Team>;
    const auto warp = team.warp();
    const std::int64_t blocks = in.template blocks<Team>();
    int span = 32;
    in.load_filter(team, shared);
    for (std::int64_t p = team.index(); p < blocks; p += team.league())
      in.find(team, shared, p, span,
              [&](const words& positions, const words& ranks) LANEWISE_INLINE_LAMBDA {
                const words bit =
                    warp.map([](std::uint32_t position) { return 1u << position % 32; }, positions);
                warp.template fetch_or<order::relaxed>(ranks != 0u, bits + in.first(team, p) / 32,
                                                       positions >> 5, bit);
              });
  }
};

/// Writes all occurrences in order, or the longest of each position, and counts them: a single pass
/// with look-back. A warp keeps some positions of a block until it knows where they go, and finds
/// more than those again.
template <class Blocks, class Places, class Ids>
struct multi_pattern_positions_kernel {
  using policy = typename Blocks::policy;
  template <class Team>
  static constexpr int most_kept = Team::is_single_thread ? 2048 : 128;
  template <class Team>
  struct scratch {
    typename Blocks::template scratch<Team> in;
    look_back_scratch<std::int64_t> chain;
    std::int64_t of_warp[Team::warps];
    std::uint32_t kept_position[Team::warps][most_kept<Team>];  // of the warp's first
    std::uint32_t kept_rank[Team::warps][most_kept<Team>];
  };

  Blocks in;
  bool longest;
  Places places;
  Ids ids;
  look_back_chain<std::int64_t> chain;
  detail::integers number;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const auto blocks = static_cast<std::uint32_t>(in.template blocks<Team>());
    int span = 32;
    in.load_filter(team, shared.in);
    for (;;) {
      // A team stays for many blocks, as it has the filter.
      if (team.warp_index() == 0) {
        const auto drawn = chain.draw(team.warp(), blocks + team.league(), blocks);
        team.warp().once([&] { shared.chain.drawn = drawn; });
      }
      team.barrier();
      const auto mine = shared.chain.drawn;
      if (mine.ticket >= blocks) return;
      search_block(team, shared, mine, mine.ticket + 1 == blocks, span);
      team.barrier();
    }
  }

 private:
  /// Counts the positions of a block, and searches it again for positions that could not be kept.
  template <class Team, class Drawn>
  LANEWISE_FUNCTION void search_block(const Team& team, scratch<Team>& shared, const Drawn& mine,
                                      bool is_last, int& span) const {
    using warp_type = typename Team::warp_type;
    using words = lanes_t<warp_type, std::uint32_t>;
    const auto warp = team.warp();
    const std::int64_t first = in.first(team, mine.ticket);
    [[maybe_unused]] lanes_t<warp_type, std::uint64_t> found(0u);
    int kept = 0;
    std::int64_t at = 0;
    if constexpr (counts_at_once<Blocks>) {
      at = publish(team, shared, mine, in.search(team, shared.in, mine.ticket, longest), is_last);
    } else {
      in.find(team, shared.in, mine.ticket, span,
              [&](const words& positions_here, const words& ranks) LANEWISE_INLINE_LAMBDA {
                found = found + warp.template cast<std::uint64_t>(numbers(warp, ranks));
                kept = keep(team, shared, positions_here, ranks, kept);
              });
      at = publish(team, shared, mine, warp.reduce(found, plus{}), is_last);
      if (kept <= most_kept<Team>) return write_kept(team, shared, first, kept, at);
      kept = 0;
    }
    if (at >= places.extent && at >= ids.extent) return;
    in.find(team, shared.in, mine.ticket, span,
            [&](const words& positions_here, const words& ranks) LANEWISE_INLINE_LAMBDA {
              kept = keep(team, shared, positions_here, ranks, kept);
              if (kept <= most_kept<Team> - warp_type::width) return;
              write_kept(team, shared, first, kept, at);
              kept = 0;
            });
    write_kept(team, shared, first, kept, at);
  }
  /// Keeps the positions of a row, after `kept` others, if they fit.
  template <class Team, class Words>
  LANEWISE_FUNCTION int keep(const Team& team, scratch<Team>& shared, const Words& positions_here,
                             const Words& ranks, int kept) const {
    const auto warp = team.warp();
    const auto is_there = ranks != 0u;
    const int after = kept + warp.count(is_there);
    if (after <= most_kept<Team> && after > kept) {
      warp.compress_store(shared.kept_position[team.warp_index()] + kept, is_there, positions_here);
      warp.compress_store(shared.kept_rank[team.warp_index()] + kept, is_there, ranks);
    }
    return after;
  }
  /// Publishes how many occurrences this block has. Returns where this warp's go.
  template <class Team, class Drawn>
  LANEWISE_FUNCTION std::int64_t publish(const Team& team, scratch<Team>& shared, const Drawn& mine,
                                         std::uint64_t found, bool is_last) const {
    team.warp().once([&] { shared.of_warp[team.warp_index()] = static_cast<std::int64_t>(found); });
    team.barrier();
    std::int64_t total = 0, in_front = 0;
    for (int w = 0; w < Team::warps; ++w) {
      if (w == team.warp_index()) in_front = total;
      total += shared.of_warp[w];
    }
    const auto before = lanewise::publish_and_look_back(team, chain, mine, shared.chain, total,
                                                        plus{}, maybe<std::int64_t>{0, true});
    if (is_last) team.once([&] { number.put(0, before.value + total); });
    return before.value + in_front;
  }
  template <class Team>
  LANEWISE_FUNCTION void write_kept(const Team& team, scratch<Team>& shared, std::int64_t first,
                                    int kept, std::int64_t& at) const {
    constexpr int width = Team::warp_type::width;
    const auto warp = team.warp();
    warp.fence();
    for (int i = 0; i < kept; i += width) {
      const auto is_there = warp.first(kept - i);
      write(warp, first, warp.load(is_there, shared.kept_position[team.warp_index()] + i, 0u),
            warp.load(is_there, shared.kept_rank[team.warp_index()] + i, 0u), at);
    }
    warp.fence();
  }
  /// How many occurrences are written for the positions of these ranks.
  template <class Warp, class Words>
  LANEWISE_FUNCTION Words numbers(const Warp& warp, const Words& ranks) const {
    if (longest) return lanewise::select(ranks != 0u, Words(1u), Words(0u));
    return warp.gather(ranks != 0u, in.set.number, ranks, 0u);
  }
  /// Writes what begins at positions first + from, after `at` others. Shorter patterns come first.
  template <class Warp, class Words>
  LANEWISE_FUNCTION void write(const Warp& warp, std::int64_t first, const Words& from,
                               const Words& ranks, std::int64_t& at) const {
    const auto room = lanewise::allocate(warp, numbers(warp, ranks));
    const auto after =
        warp.map([at](std::uint32_t offset) { return at + std::int64_t{offset}; }, room.offset);
    auto to = after;
    auto rank = ranks, position = from;
    warp.each(
        ranks != 0u,
        [&](std::int64_t& out, std::uint32_t& r, std::uint32_t& p) {
          if (longest) {
            put(out, first + p, in.set.ids[in.set.ids_from[r]]);
            return;
          }
          for (; r != 0; r = in.set.prefix[r]) {
            std::int64_t i = out + in.set.number[in.set.prefix[r]];
            for (std::uint32_t id = in.set.ids_from[r]; id < in.set.ids_from[r + 1]; ++id)
              put(i++, first + p, in.set.ids[id]);
          }
        },
        to, rank, position);
    at += room.total;
  }
  LANEWISE_FUNCTION void put(std::int64_t i, std::int64_t position, std::uint32_t id) const {
    if (i < places.extent) places(i, position);
    if (i < ids.extent) ids(i, static_cast<std::int64_t>(id));
  }
};

/// Adds the number of each rank's positions to all patterns that it begins with: as many steps for
/// a rank as it has bytes at most.
struct multi_pattern_spread_kernel {
  struct policy : launch_policy {};
  template <class Team>
  struct scratch {};

  detail::pattern_set_view set;
  const std::uint64_t* of_rank;
  std::uint64_t* all;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    constexpr std::int64_t width = warp_type::width;
    const auto warp = team.warp();
    const auto mine = team.share(divide_up(std::int64_t{set.ranks} + 1, width));
    for (std::int64_t w = mine.begin + team.warp_index(); w < mine.end; w += Team::warps) {
      const std::int64_t left = std::int64_t{set.ranks} + 1 - w * width;
      const auto exist = warp.first(left);
      auto rank =
          warp.map([=](std::uint32_t lane) { return static_cast<std::uint32_t>(w * width) + lane; },
                   warp.lane());
      const auto number = warp.gather(exist, of_rank, rank, std::uint64_t{0});
      rank = lanewise::select(exist & (number != std::uint64_t{0}), rank, rank - rank);
      while (warp.any(rank != 0u)) {
        warp.fetch_add(rank != 0u, all, rank, number);
        rank = warp.gather(set.prefix, rank);
      }
    }
  }
};
struct multi_pattern_counts_kernel {
  struct policy : launch_policy {};
  template <class Team>
  struct scratch {};

  detail::pattern_set_view set;
  std::int64_t patterns;
  const std::uint64_t* all;
  detail::integers counts;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    constexpr std::int64_t width = Team::warp_type::width;
    const auto warp = team.warp();
    const auto mine = team.share(divide_up(patterns, width));
    for (std::int64_t w = mine.begin + team.warp_index(); w < mine.end; w += Team::warps) {
      auto id =
          warp.map([=](std::uint32_t lane) { return w * width + std::int64_t{lane}; }, warp.lane());
      warp.each(
          id < patterns,
          [&](std::int64_t& i) { counts.put(i, static_cast<std::int64_t>(all[set.rank_of[i]])); },
          id);
    }
  }
};
template <class T>
struct multi_pattern_clear_kernel {
  struct policy : launch_policy {};
  template <class Team>
  struct scratch {};

  T* items;
  std::int64_t n;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    const auto mine = team.share(n);
    lanewise::fill(team, items + mine.begin, mine.end - mine.begin, T{0});
  }
};
template <class Exec, class T>
void clear_items(const Exec& exec, const char* name, T* items, std::int64_t n) {
  const multi_pattern_clear_kernel<T> kernel{items, n};
  lanewise::launch(exec, name,
                   backend_of<Exec>::template resident_league<multi_pattern_clear_kernel<T>>(
                       exec, divide_up(n, std::int64_t{4096})),
                   kernel);
}

/// Whether a text is first filtered by chunks, as devices do.
template <class Exec>
inline constexpr bool uses_chunk_filter = !warp_t<Exec>::is_single_thread;

/// What a call has in its workspace: something of its own, and after it the marks.
template <class Exec>
struct pattern_workspace : workspace_layout {
  workspace_array<std::uint32_t> marks;

  pattern_workspace(std::int64_t n, const workspace_size& inner)
      : workspace_layout(inner),
        marks(add<std::uint32_t>(uses_chunk_filter<Exec>
                                     ? detail::text_chunks::most_steps(n, warp_t<Exec>::width)
                                     : 0)) {}
};

/// Calls f(blocks) with the blocks of a text, for a filter that fits the set.
/// wants_positions: of these a warp keeps 128, and where more are found it searches twice.
template <class Exec, class F>
void with_blocks(const detail::text_bytes& text, const detail::pattern_set_view& view,
                 const std::uint32_t* marks, F f, bool wants_positions = false) {
  const auto call = [&]<bool many, bool by_probes>() {
    using blocks = multi_pattern_blocks<many, by_probes>;
    const int most =
        wants_positions ? blocks::most_steps_with_positions(view.probes.how) : blocks::most_steps;
    f(blocks{text, view, blocks::template steps_of<Exec>(text.n, most), marks});
  };
  if constexpr (uses_chunk_filter<Exec>) {
    if (view.has_probes()) {
      view.probes.filter_bits == table_bits<true> ? call.template operator()<true, true>()
                                                  : call.template operator()<false, true>();
      return;
    }
  }
  view.has_many ? call.template operator()<true, false>()
                : call.template operator()<false, false>();
}
template <class Exec, class Blocks>
std::int64_t blocks_of(const Blocks& in) {
  return in.template blocks<team_t<Exec, typename Blocks::policy>>();
}

template <bool many, detail::stride4_windows::kind how, class Exec>
void run_marks(const Exec& exec, const detail::text_bytes& text,
               const detail::pattern_set_view& set, std::uint32_t* marks) {
  using kernel = chunk_filter_kernel<many, how>;
  const auto chunks = detail::text_chunks::make(text, set.probes);
  const int steps_per_turn = text_partition::make<warp_t<Exec>>(text.n, true).steps_per_word;
  const std::int64_t teams = lanewise::divide_up(
      detail::text_chunks::most_steps(text.n, warp_t<Exec>::width),
      std::int64_t{steps_per_turn} * team_t<Exec, typename kernel::policy>::warps);
  lanewise::launch(exec, "Lanewise::string_set_search::marks",
                   backend_of<Exec>::template resident_league<kernel>(exec, teams),
                   kernel{chunks, set.probes_filter, marks, steps_per_turn});
}
/// Marks the chunks of a text that may have windows of a set. Null where no filter runs: on hosts,
/// for sets without probes, and for sets with windows in most chunks.
template <class Exec>
const std::uint32_t* mark_text(const Exec& exec, const detail::text_bytes& text,
                               const detail::pattern_set_view& set, const workspace& work,
                               const pattern_workspace<Exec>& memory) {
  if constexpr (uses_chunk_filter<Exec>) {
    using kind = detail::stride4_windows::kind;
    auto* const marks = memory.marks.data(work);
    if (text.n == 0) return nullptr;
    const bool many = set.probes.filter_bits == table_bits<true>;
    if (set.probes.how == kind::every_word && !many) {
      kernels::run_marks<false, kind::every_word>(exec, text, set, marks);
      return marks;
    }
    if (set.probes.how == kind::with_sides) {
      if (many) {
        kernels::run_marks<true, kind::with_sides>(exec, text, set, marks);
      } else {
        kernels::run_marks<false, kind::with_sides>(exec, text, set, marks);
      }
      return marks;
    }
  }
  return nullptr;
}

template <class Exec>
void fold_set_search(const Exec& exec, const detail::text_bytes& text,
                     const detail::pattern_set_view& set, const std::uint32_t* marks, set_fold what,
                     std::int64_t* result, std::uint64_t* of_rank) {
  kernels::with_blocks<Exec>(text, set, marks, [&]<class Blocks>(const Blocks& in) {
    using kernel = set_fold_kernel<Blocks>;
    lanewise::launch(
        exec, "Lanewise::string_set_search",
        backend_of<Exec>::template resident_league<kernel>(exec, kernels::blocks_of<Exec>(in)),
        kernel{in, what, result, of_rank});
  });
}
/// Whether the matches of a set are counted by its table. On hosts filters are faster where
/// patterns are few, and find positions faster. (One core, by filter and by table, in GB/s: 35
/// words of any length on an EPYC 1.4, 2.4; 200 words of 4 letters and more on a Xeon 1.3, 1.9.)
template <class Exec>
bool counts_by_transitions(const detail::pattern_set_view& set) {
  if (!warp_t<Exec>::is_single_thread || !set.has_transitions()) return set.has_transitions();
  const bool are_short = set.probes.how == detail::stride4_windows::kind::with_after;
  return set.ranks >= (set.has_shorts() ? 32u : are_short ? 128u : 512u);
}
template <class Exec>
void count_by_transitions(const Exec& exec, const detail::text_bytes& text,
                          const detail::pattern_set_view& set, std::int64_t* result) {
  auto* const number = reinterpret_cast<std::uint64_t*>(result);
  const auto run = [&]<class Kernel>(const Kernel& kernel, std::int64_t blocks) {
    const std::int64_t teams =
        divide_up(blocks, std::int64_t{team_t<Exec, typename Kernel::policy>::warps});
    lanewise::launch(exec, "Lanewise::string_set_search::count",
                     backend_of<Exec>::template resident_league<Kernel>(exec, teams), kernel);
  };
  using warp = warp_t<Exec>;
  if constexpr (warp::is_single_thread) {
    const transition_scan_kernel kernel{text, set.transitions, number};
    run(kernel, divide_up(text.n, kernel.block()));
  } else {
    const auto run_by_lanes = [&]<bool in_scratch>() {
      using kernel_type = transition_count_kernel<in_scratch>;
      const kernel_type kernel{{{text.data, text.n}, set.transitions.other},
                               set.transitions,
                               kernel_type::template packs_of_lane<warp>(text.n),
                               number};
      run(kernel, kernel.template blocks<warp>());
    };
    set.transitions.number <= transition_count_kernel<true>::most_entries
        ? run_by_lanes.template operator()<true>()
        : run_by_lanes.template operator()<false>();
  }
}
/// Reads the text once, and what is around windows that pass again.
template <>
struct matcher_search<detail::pattern_set_view> {
  template <class Exec>
  static void count(const Exec& exec, const detail::text_bytes& text,
                    const detail::pattern_set_view& set, std::int64_t* result,
                    const string_search_options& options) {
    const pattern_workspace<Exec> memory(text.n, {});
    auto work = call_workspace::make<backend_of<Exec>>(exec, options.work, memory.size(), "count");
    kernels::begin_result(exec, result, 0);
    if (text.n == 0) return;
    if (kernels::counts_by_transitions<Exec>(set))
      return kernels::count_by_transitions(exec, text, set, result);
    const auto* const marks = kernels::mark_text(exec, text, set, work.get(), memory);
    kernels::fold_set_search(exec, text, set, marks, set_fold::number, result, nullptr);
  }
  /// Without a filter before, as not all of the text may be read.
  template <class Exec>
  static void find_end(const Exec& exec, const detail::text_bytes& text,
                       const detail::pattern_set_view& set, const extreme_position& end) {
    if (text.n == 0) return;
    kernels::fold_set_search(exec, text, set, nullptr,
                             end.is_first ? set_fold::first : set_fold::last, end.result, nullptr);
  }
  template <class Exec>
  static void find_bitmap(const Exec& exec, const detail::text_bytes& text,
                          const detail::pattern_set_view& set, std::uint32_t* bits,
                          const string_search_options& options) {
    kernels::clear_items(exec, "Lanewise::find_bitmap::clear", bits,
                         divide_up(text.n, std::int64_t{32}));
    const pattern_workspace<Exec> memory(text.n, {});
    auto work =
        call_workspace::make<backend_of<Exec>>(exec, options.work, memory.size(), "find_bitmap");
    const auto* const marks = kernels::mark_text(exec, text, set, work.get(), memory);
    kernels::with_blocks<Exec>(text, set, marks, [&]<class Blocks>(const Blocks& in) {
      using kernel = multi_pattern_bitmap_kernel<Blocks>;
      lanewise::launch(
          exec, "Lanewise::find_bitmap",
          backend_of<Exec>::template resident_league<kernel>(exec, kernels::blocks_of<Exec>(in)),
          kernel{in, bits});
    });
  }
};

}  // namespace kernels

// The calls of string_search.hpp but find_all are for sets, too. One launch comes after one that
// clears the result, and on devices after a filter. Sets with short words need no filter, as they
// are counted by a table of the automaton. The work is O(n + m) for m bytes of patterns. If many
// patterns of more than 1024 bytes begin with the same 1024, each of these is compared wherever the
// 1024 bytes are.

/// The workspace that count and find_bitmap need for a set and a text of n bytes: none on hosts, on
/// devices 4 bytes for each KiB. Needs no device.
template <class Exec>
workspace_size search_set_workspace(std::int64_t n) {
  return kernels::pattern_workspace<Exec>(n, {}).size();
}

namespace kernels {

template <class Exec>
pattern_workspace<Exec> count_each_memory(const detail::pattern_set_view& set, std::int64_t n) {
  return {n, {0, 2 * sizeof(std::uint64_t) * (static_cast<std::size_t>(set.ranks) + 1)}};
}

}  // namespace kernels

/// The workspace that count_each needs for a text of n bytes: 16 bytes for each pattern, and what
/// count needs. Needs no device.
template <class Exec, class Memory>
workspace_size count_each_workspace(const pattern_set<Memory>& set, std::int64_t n) {
  return kernels::count_each_memory<Exec>(set.view(), n).size();
}
/// How often each pattern occurs in the text: counts is a View of integers, one for each pattern by
/// its id; the greatest of their type where there are more. As count, in four launches; each
/// position where patterns begin costs an atomic addition.
template <execution_space Exec, class Text, class Memory, class T, class... P>
void count_each(const Exec& exec, const Text& text, const pattern_set<Memory>& set,
                const Kokkos::View<T*, P...>& counts, const string_search_options& options = {}) {
  const auto bytes = kernels::text_of<Exec>("count_each", text, set);
  const auto sink = detail::as_sink<Exec>(counts);
  detail::expects(sink.extent >= set.size(), "count_each: counts has ", sink.extent,
                  " places, there are ", set.size(), " patterns");
  detail::expects_memory(sink, "count_each", "counts");
  const auto view = set.view();
  const auto memory = kernels::count_each_memory<Exec>(view, bytes.n);
  auto work =
      call_workspace::make<backend_of<Exec>>(exec, options.work, memory.size(), "count_each");
  auto* const of_rank = static_cast<std::uint64_t*>(work.get().plain());
  const std::int64_t ranks = std::int64_t{view.ranks} + 1;
  const auto teams = [&]<class Kernel>(const Kernel&, std::int64_t n) {
    return backend_of<Exec>::template resident_league<Kernel>(exec,
                                                              divide_up(n, std::int64_t{256}));
  };
  kernels::clear_items(exec, "Lanewise::count_each::clear", of_rank, 2 * ranks);
  if (bytes.n > 0)
    kernels::fold_set_search(exec, bytes, view,
                             kernels::mark_text(exec, bytes, view, work.get(), memory),
                             kernels::set_fold::of_each, nullptr, of_rank);
  const kernels::multi_pattern_spread_kernel spread{view, of_rank, of_rank + ranks};
  lanewise::launch(exec, "Lanewise::count_each::spread", teams(spread, ranks), spread);
  const kernels::multi_pattern_counts_kernel put{view, set.size(), of_rank + ranks,
                                                 detail::integers(sink.data)};
  lanewise::launch(exec, "Lanewise::count_each::counts", teams(put, set.size()), put);
}

namespace kernels {

/// For all sets.
template <class Exec>
pattern_workspace<Exec> positions_memory(std::int64_t n) {
  const auto of_blocks = [](std::int64_t blocks) {
    return workspace_size{blocks, look_back_chain<std::int64_t>::payload_bytes(blocks)};
  };
  const auto of = [&]<bool many, bool by_probes>() {
    using type = multi_pattern_blocks<many, by_probes>;
    constexpr int most = type::most_steps_with_positions(detail::stride4_windows::kind::every_byte);
    return of_blocks(
        kernels::blocks_of<Exec>(type{{nullptr, n}, {}, type::template steps_of<Exec>(n, most)}));
  };
  workspace_size most =
      lanewise::max(of.template operator()<false, false>(), of.template operator()<true, false>());
  if constexpr (uses_chunk_filter<Exec>) {
    most = lanewise::max(most, lanewise::max(of.template operator()<false, true>(),
                                             of.template operator()<true, true>()));
    most = lanewise::max(most,
                         of_blocks(kernels::blocks_of<Exec>(transition_blocks{{nullptr, n}, {}})));
  }
  return {n, most};
}

/// Whether devices find the positions of a set by its table. If patterns are few, a filter is
/// faster. (H200, GB/s, by filter and by table: 9 words of 4 letters and more 535, 293; 938 80,
/// 152; 1,000 words of 7 letters and more 194, 159; 10,000 57, 88.)
inline bool finds_by_transitions(const detail::pattern_set_view& set) {
  const bool are_short = set.probes.how == detail::stride4_windows::kind::with_after;
  return set.has_transitions() && (set.has_shorts() || set.ranks >= (are_short ? 512u : 4096u));
}

template <class Exec, class Text, class Memory, class Places, class Ids, class T, class... P>
void find_set_positions(const Exec& exec, const char* algorithm, const Text& text,
                        const pattern_set<Memory>& set, const Places& places, const Ids& ids,
                        const Kokkos::View<T, P...>& number, bool longest,
                        const string_search_options& options) {
  const auto bytes = kernels::text_of<Exec>(algorithm, text, set);
  const auto to = detail::as_sink<Exec>(places);
  const auto ids_to = detail::as_sink<Exec>(ids);
  detail::expects_memory(to, algorithm, "places");
  detail::expects_memory(ids_to, algorithm, "ids");
  using to_type = std::decay_t<decltype(to)>;
  using ids_type = std::decay_t<decltype(ids_to)>;
  if constexpr (detail::check_results<Exec, std::int64_t, to_type>() &&
                detail::check_results<Exec, std::int64_t, ids_type>()) {
    const auto result = kernels::count_place<Exec>(number, algorithm);
    const pattern_workspace<Exec> memory = kernels::positions_memory<Exec>(bytes.n);
    auto work =
        call_workspace::make<backend_of<Exec>>(exec, options.work, memory.size(), algorithm);
    const auto run = [&]<class Blocks>(const Blocks& in) {
      using kernel = multi_pattern_positions_kernel<Blocks, to_type, ids_type>;
      const std::int64_t blocks = kernels::blocks_of<Exec>(in);
      lanewise::launch(exec, "Lanewise::find_all",
                       backend_of<Exec>::template resident_league<kernel>(exec, blocks),
                       kernel{in, longest, to, ids_to,
                              work.get().template make_look_back_chain<std::int64_t>(0), result});
    };
    if constexpr (uses_chunk_filter<Exec>) {
      if (kernels::finds_by_transitions(set.view()))
        return run(transition_blocks{bytes, set.view()});
    }
    const auto* const marks = kernels::mark_text(exec, bytes, set.view(), work.get(), memory);
    kernels::with_blocks<Exec>(bytes, set.view(), marks, run, true);
  }
}

}  // namespace kernels

/// The workspace that find_all and find_longest need for a set and a text of n bytes. Needs no
/// device.
template <class Exec>
workspace_size find_set_workspace(std::int64_t n) {
  return kernels::positions_memory<Exec>(n).size();
}
/// All occurrences of the patterns of a set, overlapping ones included: where they begin, their
/// ids, and their number in the rank-0 View number. In the order of positions; of patterns that
/// begin at one position shorter ones come first, and equal ones by id. places and ids are Views of
/// integers, or sinks; where an output has fewer places than there are results, the first are
/// written; number counts all of them. Nothing is written beyond the results. As count, but no
/// launch clears the number. A warp's 4 to 32 KiB of a block are searched twice if patterns begin
/// at more than 128 positions of them. Devices find short words by the table, 1 KiB at a time.
template <execution_space Exec, class Text, class Memory, class Places, class Ids, class T,
          class... P>
void find_all(const Exec& exec, const Text& text, const pattern_set<Memory>& set,
              const Places& places, const Ids& ids, const Kokkos::View<T, P...>& number,
              const string_search_options& options = {}) {
  kernels::find_set_positions(exec, "find_all", text, set, places, ids, number, false, options);
}
/// Overload that returns how many there are. **Blocks.** Throws std::length_error where an output
/// has fewer places than there are results: the first are written.
template <execution_space Exec, class Text, class Memory, class Places, class Ids>
requires(!std::is_same_v<Ids, string_search_options>) std::int64_t
    find_all(const Exec& exec, const Text& text, const pattern_set<Memory>& set,
             const Places& places, const Ids& ids, const string_search_options& options = {}) {
  return kernels::blocking_number(
      exec, "find_all",
      [&](const auto& number) {
        lanewise::find_all(exec, text, set, places, ids, number, options);
      },
      "places", places, "ids", ids);
}
/// For each position of the text where patterns begin, in order, the longest of them: its id, of
/// equal ones the least. Otherwise as find_all.
template <execution_space Exec, class Text, class Memory, class Places, class Ids, class T,
          class... P>
void find_longest(const Exec& exec, const Text& text, const pattern_set<Memory>& set,
                  const Places& places, const Ids& ids, const Kokkos::View<T, P...>& number,
                  const string_search_options& options = {}) {
  kernels::find_set_positions(exec, "find_longest", text, set, places, ids, number, true, options);
}
/// Overload that returns how many there are. **Blocks.** Throws std::length_error where an output
/// has fewer places than there are results: the first are written.
template <execution_space Exec, class Text, class Memory, class Places, class Ids>
std::int64_t find_longest(const Exec& exec, const Text& text, const pattern_set<Memory>& set,
                          const Places& places, const Ids& ids,
                          const string_search_options& options = {}) {
  return kernels::blocking_number(
      exec, "find_longest",
      [&](const auto& number) {
        lanewise::find_longest(exec, text, set, places, ids, number, options);
      },
      "places", places, "ids", ids);
}

LANEWISE_END_TARGET_NAMESPACE
