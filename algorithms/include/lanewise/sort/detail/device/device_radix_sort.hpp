// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/call/workspace_layout.hpp>
#include <lanewise/common/options.hpp>
#include <lanewise/league/look_back_counts.hpp>
#include <lanewise/sort/detail/device/device_block_sort.hpp>
#include <lanewise/sort/detail/device/device_radix_levels.hpp>
#include <lanewise/sort/detail/device/device_radix_passes.hpp>
#include <lanewise/sort/detail/segment_plan.hpp>
#include <lanewise/tile/split_tile.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

// A radix sort from the most significant digit down. A level of it sends the keys of segments,
// which agree in all digits above, to 256 buckets each: it counts them, finds out where buckets
// begin, and places the keys. Buckets that fit a team's scratch are sorted there at once (a job);
// larger ones are the segments of the next level. Keys in random order so take two levels up to
// some 2^28, and each key is read five times and written three times. The keys of a segment are not
// moved if all have the same digit. They are not moved either if they differ in so few bits of the
// digit that a further level would follow. Two levels are launches; one resident kernel does all
// deeper ones, as only the device knows what is left. Up to 2^20 keys all is one launch. Keys that
// gather in few buckets go by passes (passes.hpp), and so do few digits.
//
// Keys alone need not keep their order, so a team takes places of a bucket by an atomic addition.
// Where values move along, or keys are sorted by some of their bits, tiles are ranked and placed in
// their order (split_tile, look_back_counts).

/// Counts the keys of a level.
template <class Bits, class Counter>
struct radix_count_kernel {
  struct policy : launch_policy {
    static constexpr int teams_per_multiprocessor = 4;
  };
  template <class Team>
  using counting = detail::device_radix_count<Team, Bits, Counter>;
  template <class Team>
  using scratch = typename counting<Team>::scratch;

  detail::radix_plan<Bits, Counter> plan;
  int level;
  std::int64_t together;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    counting<Team>::count_level(team, shared, plan, level, together);
  }
};

/// Says where the buckets of a level begin, and what becomes of them.
template <class Bits, class Counter>
struct radix_starts_kernel {
  struct policy : launch_policy {};
  template <class Team>
  using starting = detail::device_radix_starts<Team, Bits, Counter>;
  template <class Team>
  using scratch = typename starting<Team>::scratch;

  detail::radix_plan<Bits, Counter> plan;
  int level;
  std::int64_t capacity;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    starting<Team>::start_level(team, shared, plan, level, capacity);
  }
};

/// Places the keys of a level, equal keys in any order.
template <class Bits, class Counter, bool few = false>
struct unstable_scatter {
  using counter = Counter;
  struct policy : launch_policy {
    // H200, 2^28 u32, a prototype: 16 warps with 32 keys per lane 0.78 ms, 8 with 32 0.98, 16 with
    // 24 0.82.
    static constexpr int warps = 16;
    static constexpr int items_per_lane = few || sizeof(Bits) > 8 ? few_per_lane
                                          : sizeof(Bits) <= 4     ? 32
                                                                  : 20;
    static constexpr int teams_per_multiprocessor = 2;
  };
  template <class Team>
  using split = detail::unstable_split<Team, Bits, Counter, policy::items_per_lane>;
  template <class Team>
  using scratch = typename split<Team>::scratch;

  detail::radix_plan<Bits, Counter> plan;

  template <class Team>
  LANEWISE_FUNCTION void clear(const Team&, std::int64_t) const {}
  template <bool, class Team>
  LANEWISE_FUNCTION void place_level(const Team& team, scratch<Team>& shared, int level) const {
    const std::uint32_t tiles = plan.tile_count(level);
    for (std::uint32_t t = team.index(); t < tiles; t += team.league()) {
      const std::uint32_t number = plan.segment_of(level, t);
      const detail::radix_segment s = plan.segment(level, number);
      if (s.stays) continue;
      const std::int64_t first = plan.tile_begin(s, t);
      split<Team>::place(team, shared, plan.keys(s.array), plan.keys.to(plan.keys.next(s.array)),
                         first, plan.tile_end(s, first), plan.digit(s), plan.reads(s.array),
                         s.last ? plan.map : detail::key_map<Bits>{},
                         plan.counts[level & 1] + std::int64_t{number} * detail::radix_buckets);
      team.barrier();
    }
  }
};

/// Places the keys of a level, equal keys in their order, with values.
template <class Bits, class Word, class Value, bool few = false>
struct stable_scatter {
  using counter = std::uint64_t;
  using word = Word;
  static constexpr bool has_values = !std::is_empty_v<Value>;
  static constexpr int value_bytes = has_values ? static_cast<int>(sizeof(Value)) : 0;
  struct policy : ordered_policy<Bits, value_bytes, few> {};
  template <class Team>
  using split = split_tile_t<Team, Bits, policy>;
  template <class Team>
  struct scratch {
    typename split<Team>::template scratch<value_bytes> tile;
    std::uint32_t ticket;
  };

  detail::radix_plan<Bits, std::uint64_t> plan;
  detail::radix_arrays<Value> values;
  Word* words;

  /// The words of tiles are 0 before any tile publishes.
  template <class Team>
  LANEWISE_FUNCTION void clear(const Team& team, std::int64_t tiles) const {
    constexpr int width = Team::warp_type::width;
    const auto mine = team.share(tiles);
    for (std::int64_t i = mine.begin * detail::radix_buckets + team.warp_index() * width;
         i < mine.end * detail::radix_buckets; i += Team::warps * width)
      team.warp().store(words + i, typename Team::warp_type::template lanes<Word>(Word{0}));
  }
  /// launched: the launch has a team for each tile.
  template <bool launched, class Team>
  LANEWISE_FUNCTION void place_level(const Team& team, scratch<Team>& shared, int level) const {
    lanewise::for_each_tile_in_order<launched>(
        team, shared.ticket, plan.levels[level].tickets, plan.tile_count(level),
        [&](std::uint32_t t) {
          const std::uint32_t number = plan.segment_of(level, t);
          const detail::radix_segment s = plan.segment(level, number);
          if (s.stays) return;
          place(team, shared, s,
                plan.counts[level & 1] + std::int64_t{number} * detail::radix_buckets,
                t - s.first_tile);
        });
  }
  /// Places tile t of a segment.
  template <class Team>
  LANEWISE_FUNCTION void place(const Team& team, scratch<Team>& shared,
                               const detail::radix_segment& s, const std::uint64_t* starts,
                               std::uint32_t t) const {
    const detail::radix_array to = plan.keys.next(s.array);
    const std::int64_t first = s.begin + static_cast<std::int64_t>(t) * plan.tile_items;
    const std::int64_t end = s.begin + s.count;
    const array_source<Bits, detail::key_map<Bits>> keys{plan.keys(s.array), end,
                                                         plan.reads(s.array)};
    const function_sink<radix_writer<Bits>> keys_out{
        end, {plan.keys.to(to), s.last ? plan.map : detail::key_map<Bits>{}}};
    const look_back_offsets<Word> places{
        {words + std::int64_t{s.first_tile} * detail::radix_buckets, detail::radix_buckets},
        starts,
        t};
    if constexpr (has_values) {
      split<Team>::place(team, shared.tile, keys, first, end, plan.digit(s), detail::radix_buckets,
                         true, places, end, keys_out,
                         array_source<Value, identity>{values(s.array), end, {}},
                         array_sink<Value>{values.to(to), end});
    } else {
      split<Team>::place(team, shared.tile, keys, first, end, plan.digit(s), detail::radix_buckets,
                         true, places, end, keys_out, nullptr, nullptr);
    }
  }
};

template <class Placing>
struct radix_place_kernel {
  using policy = typename Placing::policy;
  template <class Team>
  using scratch = typename Placing::template scratch<Team>;

  Placing placing;
  int level;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    placing.template place_level<true>(team, shared, level);
  }
};

/// All levels from one on that have segments, in one launch: mostly there are none, and empty
/// launches for every level would take as long as all the rest where keys are few.
template <class Placing, class Bits>
struct radix_rest_kernel {
  using policy = typename Placing::policy;
  using counter = typename Placing::counter;
  template <class Team>
  using counting = detail::device_radix_count<Team, Bits, counter>;
  template <class Team>
  using starting = detail::device_radix_starts<Team, Bits, counter>;
  template <class Team>
  union scratch {
    typename counting<Team>::scratch count;
    typename starting<Team>::scratch start;
    typename Placing::template scratch<Team> place;
  };

  Placing placing;
  int level;
  int levels;
  std::int64_t capacity;
  league_barrier meeting;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    for (int l = level; l < levels; ++l) {
      if (placing.plan.segment_count(l) == 0) return;
      placing.clear(team, placing.plan.tile_count(l));
      counting<Team>::count_level(team, shared.count, placing.plan, l, 1);
      meeting.wait(team);
      starting<Team>::start_level(team, shared.start, placing.plan, l, capacity);
      meeting.wait(team);
      placing.template place_level<false>(team, shared.place, l);
      meeting.wait(team);
    }
  }
};

/// All levels from one on, or what comes before passes: keys go by levels or by passes.
template <class Levels, class Passes>
struct radix_rest_or_passes_kernel {
  using policy = typename Levels::policy;
  template <class Team>
  union scratch {
    typename Levels::template scratch<Team> levels;
    typename Passes::count_scratch count;
  };

  Levels levels;
  Passes passes;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    if (passes.have_keys()) {
      passes.begin(team, shared.count, levels.meeting);
    } else {
      levels(team, shared.levels);
    }
  }
};

/// Lists a segment for level 1, which has `items` keys from `begin` on, by a warp.
template <class Team, class Bits, class Counter>
LANEWISE_FUNCTION void list_segment(const Team& team, const detail::radix_plan<Bits, Counter>& plan,
                                    std::int64_t begin, std::int64_t items) {
  using i64s = lanes_t<typename Team::warp_type, std::int64_t>;
  detail::device_radix_starts<Team, Bits, Counter>::append(
      team.warp(), plan, 1, team.warp().template first<std::int64_t>(1), i64s(begin), i64s(items),
      {0, 0, 0, static_cast<std::uint8_t>(plan.range.high), detail::radix_array::in, false, false});
}

/// What a team does at the end of a sort. by_digits: whether it sorts keys that gather, too; else
/// it leaves their jobs to a second launch, which has registers for it.
template <class Bits, class Counter, class Key, class Value, bool by_digits, int team_warps = 16>
struct radix_job_kernel {
  static constexpr bool is_small =
      sizeof(Key) <= 4 && (std::is_empty_v<Value> || sizeof(Value) <= 4);
  /// Four teams of a multiprocessor have no registers for them.
  static constexpr bool has_shares = by_digits || !is_small;
  static constexpr bool takes_segments = team_warps == 32;
  struct policy : launch_policy {
    static constexpr int warps = team_warps;
    // H200, 2^28 u32: with four teams the kernel spills, and the sort takes 3.77 ms; with three
    // 3.83, with two and no spills 3.99.
    static constexpr int teams_per_multiprocessor =
        is_small && !by_digits ? 4 : (sizeof(Key) <= 8 && warps <= 16 ? 2 : 1);
  };
  template <class Team>
  using job = detail::device_radix_job<Team, Bits, Key, Value>;
  template <class Team>
  using scratch = typename job<Team>::scratch;

  detail::radix_plan<Bits, Counter> plan;
  detail::radix_arrays<Value> values;
  detail::block_sort_tasks which;
  int bins_tried;    ///< bins have been tried where this many bits of keys differ, or fewer
  int shares_tried;  ///< shares have been tried where this many bits of keys differ, or fewer
  detail::segment_list segments = {};

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    if (which == detail::block_sort_tasks::one) {
      const std::int64_t n = plan.n();
      if (n > 0)
        run(team, shared,
            {0, static_cast<std::uint32_t>(n), detail::radix_array::in, detail::radix_work::sorts,
             false, static_cast<std::uint8_t>(plan.range.high)},
            0);
      return;
    }
    if constexpr (takes_segments) {
      if (which == detail::block_sort_tasks::segments) return sort_segments(team, shared);
    }
    const bool left = which == detail::block_sort_tasks::left;
    const std::uint32_t jobs = left ? *plan.unsorted_count : *plan.job_count;
    for (std::uint32_t i = team.index(); i < jobs; i += team.league()) {
      const std::uint32_t number = left ? plan.unsorted_jobs[i] : i;
      run(team, shared, plan.jobs[number], number);
      team.barrier();
    }
  }

 private:
  /// Every segment is a job. Segments that fit no team are listed for level 1.
  template <class Team>
  LANEWISE_FUNCTION void sort_segments(const Team& team, scratch<Team>& shared) const {
    const std::int64_t all = segments.size();
    for (std::int64_t s = team.index(); s < all; s += team.league()) {
      const std::int64_t begin = segments.begin(s), items = segments.items(s, s + 1);
      if (items > job<Team>::items) {
        if (team.warp_index() == 0) kernels::list_segment(team, plan, begin, items);
      } else if (items > 0) {
        run(team, shared,
            {begin, static_cast<std::uint32_t>(items), detail::radix_array::in,
             detail::radix_work::sorts, false, static_cast<std::uint8_t>(plan.range.high)},
            0);
      }
      team.barrier();
    }
  }
  template <class Team>
  LANEWISE_FUNCTION void run(const Team& team, scratch<Team>& shared,
                             const detail::block_sort_task& todo, std::uint32_t number) const {
    constexpr bool has_values = !std::is_empty_v<Value>;
    const auto warp = team.warp();
    const Bits* const from = plan.keys(todo.array) + todo.begin;
    Bits* const to = plan.keys.out + todo.begin;
    const Value* const values_from = has_values ? values(todo.array) + todo.begin : nullptr;
    Value* const values_to = has_values ? values.out + todo.begin : nullptr;
    const auto n = static_cast<int>(todo.count);
    if (todo.work == detail::radix_work::copies) {
      const auto map = todo.mapped ? plan.map : detail::key_map<Bits>{};
      kernels::copy_items(team, from, to, 0, n, [&](Bits x) { return map.item_of(x); });
      if constexpr (has_values) {
        if (values_from != values_to)
          kernels::copy_items(team, values_from, values_to, 0, n, identity{});
      }
      return;
    }
    const bool by_bins = todo.work == detail::radix_work::sorts && todo.top > bins_tried;
    const bool by_shares = has_shares && todo.top > shares_tried;
    if ((by_digits || ((by_bins || by_shares) && todo.top <= Key::most_bits)) &&
        job<Team>::sort(team, shared, from, to, values_from, values_to, n, plan.reads(todo.array),
                        plan.map, plan.range, {by_bins, by_shares, by_digits}))
      return;
    if (!by_digits && team.warp_index() == 0) {
      const std::uint32_t place = warp.fetch_add(*plan.unsorted_count, 1u);
      warp.once([&] { plan.unsorted_jobs[place] = number; });
    }
  }
};

/// A whole sort in one launch, of keys that teams with one tile each hold all at once: launches
/// would take longer than what they do.
template <class Placing, class Bits, class Passes, class Jobs, class Key>
struct radix_whole_kernel {
  struct policy : launch_policy {
    static constexpr int warps = 16;
    static constexpr int teams_per_multiprocessor = sizeof(Key) <= 8 ? 2 : 1;
  };
  using levels = radix_rest_kernel<Placing, Bits>;
  template <class Team>
  union scratch {
    typename levels::template scratch<Team> level;
    typename Passes::count_scratch count;
    typename Passes::template place_scratch<Team> place;
    typename Jobs::template scratch<Team> job;
  };

  levels sends;
  Passes passes;
  Jobs jobs;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    sends(team, shared.level);
    if (passes.have_keys()) {
      passes.begin(team, shared.count, sends.meeting);
      sends.meeting.wait(team);
      passes.template place_all<true>(team, shared.place, sends.meeting);
    }
    jobs(team, shared.job);
  }
};

/// Up to few_keys, a sort of few digits is one launch; up to whole_keys, one of all digits is; up
/// to many_keys, the passes of a sort are. Beyond most_keys the third level is a launch, too.
inline constexpr std::int64_t few_keys = std::int64_t{1} << 13;
inline constexpr std::int64_t whole_keys = std::int64_t{1} << 20;
inline constexpr std::int64_t many_keys = std::int64_t{1} << 25;
inline constexpr std::int64_t most_keys = std::int64_t{1} << 28;
/// The most teams that work on deeper levels, whatever the device.
inline constexpr std::int64_t most_meeting = 1024;

/// Layout of a device sort's workspace.
template <class Bits, class Value, bool ordered>
struct device_radix_layout : workspace_layout {
  using counter = std::conditional_t<ordered, std::uint64_t, std::uint32_t>;
  std::int64_t most_segments, most_tiles, most_jobs;
  workspace_array<detail::radix_level> header;
  workspace_array<std::uint32_t> meeting, owners[2], unsorted;
  workspace_array<detail::radix_pass> passes;
  workspace_array<detail::radix_array> pass_end;
  workspace_array<std::uint64_t> pass_starts, differing[2];
  workspace_array<counter> counts[2];
  std::size_t zeroed;  // what the first level needs
  workspace_array<detail::radix_segment> segments[2];
  workspace_array<detail::block_sort_task> jobs;
  workspace_array<char> words, pass_words;  // of 4 or 8 bytes
  workspace_array<Bits> room;
  workspace_array<Value> values;

  device_radix_layout(std::int64_t n, std::int64_t capacity, std::int64_t tile_items,
                      std::int64_t pass_tiles, int levels, int groups, bool wide, bool overwrites)
      : workspace_layout(128) {
    most_segments = n / (capacity + 1) + 1;
    most_tiles = n / tile_items + most_segments + 1;
    most_jobs = (2 + levels * (groups + 1)) * most_segments + n / capacity + levels * groups;
    const std::int64_t word_bytes = wide ? 8 : 4;
    add(header, levels + 2);
    add(meeting, league_barrier::words(most_meeting));
    const std::int64_t most_passes = pass_tiles > 0 ? sizeof(Bits) : 0;
    add(passes, most_passes);
    add(pass_end, 1);
    add(pass_starts, most_passes * detail::radix_buckets);
    for (int k = 0; k < 2; ++k) {
      add(differing[k], most_segments * detail::radix_words<Bits>);
      add(counts[k], most_segments * detail::radix_buckets);
    }
    zeroed = counts[0].offset + detail::radix_buckets * sizeof(counter);
    for (int k = 0; k < 2; ++k) {
      add(segments[k], most_segments);
      add(owners[k], most_tiles);
    }
    add(jobs, most_jobs);
    add(unsorted, most_jobs);
    add(words, ordered ? most_tiles * detail::radix_buckets * word_bytes : 0);
    add(pass_words, 2 * pass_tiles * detail::radix_buckets * word_bytes);
    add(room, overwrites ? 0 : n);
    add(values, overwrites || std::is_empty_v<Value> ? 0 : n);
  }
};

/// A sort of keys, with values or without.
template <class Bits, class Value, bool ordered>
class device_radix_sort {
  using key = std::conditional_t<ordered, detail::placed_key<Bits>, detail::bare_key<Bits>>;
  using narrow = detail::narrow_key<Bits>;
  static constexpr bool has_narrow = ordered && sizeof(Bits) <= 4;
  /// Jobs that a first launch takes: with other keys, or by bins only.
  using quick_key = std::conditional_t<has_narrow, narrow, key>;
  /// Whether keys in no order differ, within jobs of n keys, in no more bits than it takes.
  template <class Exec>
  static bool has_quick_jobs(std::int64_t n, detail::radix_range range) {
    if (!ordered || !has_narrow) return !ordered;
    const int more = range.high - narrow::most_bits;
    return more <= 0 || n / capacity<Exec> >> more > 0;
  }
  static constexpr bool has_values = !std::is_empty_v<Value>;
  using layout = device_radix_layout<Bits, Value, ordered>;
  using key_arrays = detail::radix_arrays<Bits>;
  using value_arrays = detail::radix_arrays<Value>;
  friend class device_radix_sort<Bits, Value, false>;
  using Counter = std::conditional_t<ordered, std::uint64_t, std::uint32_t>;
  using fast_block_sort = radix_job_kernel<Bits, Counter, quick_key, Value, false>;
  using jobs = radix_job_kernel<Bits, Counter, key, Value, true>;
  template <class Exec>
  using job_team = team_t<Exec, typename jobs::policy>;

 public:
  /// The most keys that one team sorts in one launch.
  template <class Exec>
  static constexpr std::int64_t capacity =
      detail::device_radix_job<job_team<Exec>, Bits, key, Value>::items;

 private:
  template <class Word, bool few>
  using placing_of = std::conditional_t<ordered, stable_scatter<Bits, Word, Value, few>,
                                        unstable_scatter<Bits, Counter, few>>;
  template <class Word, bool few>
  using by_passes = radix_digit_passes<Bits, Value, Word, few>;
  template <class Word>
  using whole = radix_whole_kernel<placing_of<Word, true>, Bits, by_passes<Word, true>, jobs, key>;
  template <class Exec, class Kernel, class Placing>
  static constexpr std::int64_t tile_items =
      Placing::template split<team_t<Exec, typename Kernel::policy>>::items;
  template <class Exec>
  static std::int64_t tile_items_of(std::int64_t n, bool listed) {
    using word = std::uint32_t;
    using placing = placing_of<word, false>;
    return n <= whole_keys && !listed ? tile_items<Exec, whole<word>, placing_of<word, true>>
                                      : tile_items<Exec, radix_place_kernel<placing>, placing>;
  }
  /// The most tiles of passes.
  template <class Exec>
  static std::int64_t pass_tiles(std::int64_t n, detail::radix_range range, bool listed) {
    return listed ? 0 : lanewise::divide_up(n, pass_tile_items<Exec>(n, range));
  }
  /// Whether passes take less time than levels, however keys are spread. H200, 28 bits of 2^28 u64:
  /// passes 7.4 ms, levels 10.9.
  static bool is_for_passes(std::int64_t n, detail::radix_range range) {
    constexpr int most = sizeof(Bits) > 4 ? 4 : 3;
    return n > whole_keys ? passes(range) <= most : n > few_keys && passes(range) <= 2;
  }
  static int passes(detail::radix_range range) {
    return static_cast<int>(divide_up(range.high - range.low, detail::radix_digit_bits));
  }
  /// One more: the first level is a list, or may leave all keys where they are.
  static int levels(detail::radix_range range) { return passes(range) + 1; }
  /// Whether sums of tiles need 64 bits.
  static bool has_wide_words(std::int64_t n) { return n >= look_back_counts<std::uint32_t>::limit; }
  /// Beyond, counts need 64 bits.
  static bool is_wide(std::int64_t n) { return n >= look_back_counts<std::uint32_t>::limit; }
  /// listed: the first level is a list of segments of more than `least` keys. overwrites: the input
  /// is the room.
  template <class Exec>
  static layout layout_of(std::int64_t n, detail::radix_range range, bool overwrites,
                          bool listed = false, std::int64_t least = capacity<Exec>) {
    return {n,
            std::min(least, capacity<Exec>),
            tile_items_of<Exec>(n, listed),
            pass_tiles<Exec>(n, range, listed),
            levels(range),
            detail::radix_buckets / warp_t<Exec>::width,
            has_wide_words(n),
            overwrites};
  }

 public:
  template <class Exec>
  static workspace_size workspace(std::int64_t n, detail::radix_range range, bool overwrites) {
    if (!ordered && is_wide(n))
      return device_radix_sort<Bits, Value, true>::template workspace<Exec>(n, range, overwrites);
    return {0, n <= capacity<Exec> ? 0 : layout_of<Exec>(n, range, overwrites).size().bytes};
  }

  template <class Exec>
  static void sort(const Exec& exec, const key_arrays& keys, const value_arrays& values,
                   item_count n, const detail::key_map<Bits>& map, detail::radix_range range,
                   const workspace_ref& given) {
    if (n.bound <= capacity<Exec>) {
      detail::radix_plan<Bits, Counter> plan{};
      plan.keys = keys;
      plan.map = map;
      plan.range = range;
      plan.n = n;
      lanewise::launch(exec, "Lanewise::radix_sort", 1,
                       jobs{plan, values, detail::block_sort_tasks::one, -1, -1});
      return;
    }
    auto work = call_workspace::make<backend_of<Exec>>(
        exec, given, workspace<Exec>(n.bound, range, keys.overwrites()), "radix_sort");
    run(exec, keys, values, n, map, range, static_cast<char*>(work.get().plain()), nullptr,
        capacity<Exec>);
  }

  /// What sort_listed needs; listed_zeroed_bytes says how much of it is 0.
  template <class Exec>
  static std::size_t listed_bytes(std::int64_t n, std::int64_t least, detail::radix_range range) {
    if (!ordered && is_wide(n))
      return device_radix_sort<Bits, Value, true>::template listed_bytes<Exec>(n, least, range);
    return layout_of<Exec>(n, range, false, true, least).size().bytes;
  }
  /// The first bytes of listed_bytes, which are 0 when sort_listed is called.
  template <class Exec>
  static std::size_t listed_zeroed_bytes(std::int64_t n, std::int64_t least,
                                         detail::radix_range range) {
    if (!ordered && is_wide(n))
      return device_radix_sort<Bits, Value, true>::template listed_zeroed_bytes<Exec>(n, least,
                                                                                      range);
    return layout_of<Exec>(n, range, false, true, least).zeroed;
  }
  /// As `sort`, for segments alone, of more than `least` keys each. begin(plan) launches what
  /// appends them to level 1, and finish(plan, values) may launch what sorts the jobs; it returns
  /// whether it does.
  template <class Exec, class Begin, class Finish>
  static void sort_listed(const Exec& exec, const key_arrays& keys, const value_arrays& values,
                          std::int64_t n, const detail::key_map<Bits>& map,
                          detail::radix_range range, char* memory, const Begin& begin,
                          const Finish& finish, std::int64_t least) {
    run(exec, keys, values, {n}, map, range, memory, listed_segments<Begin, Finish>{begin, finish},
        least);
  }

 private:
  template <class Begin, class Finish>
  struct listed_segments {
    const Begin& begin;
    const Finish& finish;
  };
  /// The levels from one on, for one launch.
  template <class Placing>
  static radix_rest_kernel<Placing, Bits> rest_of(const detail::radix_plan<Bits, Counter>& plan,
                                                  const detail::radix_arrays<Value>& values,
                                                  const layout& parts, char* memory, int level,
                                                  int levels, std::int64_t capacity) {
    const league_barrier meeting{parts.meeting.data(memory)};
    if constexpr (ordered) {
      using word = typename Placing::word;
      return {{plan, values, reinterpret_cast<word*>(parts.words.data(memory))},
              level,
              levels,
              capacity,
              meeting};
    } else {
      return {{plan}, level, levels, capacity, meeting};
    }
  }
  template <class Exec, class List>
  static void run(const Exec& exec, const key_arrays& keys, const value_arrays& values,
                  item_count n, const detail::key_map<Bits>& map, detail::radix_range range,
                  char* memory, const List& list, std::int64_t least) {
    if (!is_wide(n.bound)) {
      run_as<std::uint32_t>(exec, keys, values, n, map, range, memory, list, least);
    } else if constexpr (ordered) {
      run_as<std::uint64_t>(exec, keys, values, n, map, range, memory, list, least);
    } else {
      // A wide `n` is sorted in order: kernels for it are there already.
      device_radix_sort<Bits, Value, true>::run(exec, keys, values, n, map, range, memory, list,
                                                least);
    }
  }
  template <class Word, bool few>
  static by_passes<Word, few> passes_of(const detail::radix_plan<Bits, Counter>& plan,
                                        const detail::radix_arrays<Value>& values,
                                        const layout& parts, char* memory,
                                        std::int64_t tile_items) {
    return {plan.keys,
            values,
            plan.map,
            plan.range,
            plan.n,
            plan.levels,
            plan.counts[0],
            sizeof(Counter) == 8,
            plan.differing[0],
            parts.passes.data(memory),
            parts.pass_starts.data(memory),
            reinterpret_cast<Word*>(parts.pass_words.data(memory)),
            parts.pass_end.data(memory),
            tile_items};
  }
  template <class Exec>
  static std::int64_t pass_tile_items(std::int64_t n, detail::radix_range range) {
    using word = std::uint32_t;
    using many = by_passes<word, false>;
    using few = by_passes<word, true>;
    return n > whole_keys || is_for_passes(n, range)
               ? many::template split<team_t<Exec, typename many::policy>>::items
               : few::template split<team_t<Exec, typename whole<word>::policy>>::items;
  }
  /// The levels of `rest`, or passes. Few keys go by passes in one launch, as launches that find
  /// nothing to do take longer than what they gain.
  template <class Exec, class Rest, class Passes>
  static void launch_rest_or_passes(const Exec& exec, const Rest& rest, const Passes& passes) {
    if (passes.map.negative != 0) {
      launch_rest_or_passes<true>(exec, rest, passes);
    } else {
      launch_rest_or_passes<false>(exec, rest, passes);
    }
  }
  template <bool signs, class Exec, class Rest, class Passes>
  static void launch_rest_or_passes(const Exec& exec, const Rest& rest, const Passes& passes) {
    using backend = backend_of<Exec>;
    const std::int64_t tiles = lanewise::divide_up(passes.n.bound, passes.tile_items);
    const auto resident = [&](const char* label, const auto& kernel) {
      using type = std::decay_t<decltype(kernel)>;
      lanewise::launch_resident(
          exec, label, std::min(most_meeting, backend::template resident_league<type>(exec, tiles)),
          kernel);
    };
    resident("Lanewise::radix_sort::rest", radix_rest_or_passes_kernel<Rest, Passes>{rest, passes});
    if (passes.first != nullptr && passes.n.bound <= many_keys)
      return resident("Lanewise::radix_sort::passes",
                      radix_passes_kernel<Passes, signs>{passes, rest.meeting});
    using placing = radix_pass_kernel<Passes, signs>;
    for (int p = 0; p < detail::radix_digits(passes.range); ++p)
      lanewise::launch(exec, "Lanewise::radix_sort::pass",
                       backend::template league_for_tiles<placing>(exec, tiles),
                       placing{passes, p});
    using copying = radix_pass_copy_kernel<Passes>;
    if (passes.may_end_elsewhere())
      lanewise::launch(exec, "Lanewise::radix_sort::pass_copy",
                       backend::template resident_league<copying>(exec, tiles), copying{passes});
  }
  template <class Word, class Exec, class List>
  static void run_as(const Exec& exec, const key_arrays& keys, value_arrays values, item_count n,
                     const detail::key_map<Bits>& map, detail::radix_range range, char* memory,
                     const List& list, std::int64_t least) {
    using backend = backend_of<Exec>;
    constexpr bool listed = !std::is_same_v<List, std::nullptr_t>;
    constexpr int first = listed ? 1 : 0;
    detail::radix_plan<Bits, Counter> plan{};
    plan.keys = keys;
    plan.map = map;
    plan.range = range;
    plan.n = n;
    plan.tile_items = tile_items_of<Exec>(n.bound, listed);
    plan.values_apart = has_values && values.in != values.out;
    const layout parts = layout_of<Exec>(n.bound, range, keys.overwrites(), listed, least);
    plan.levels = parts.header.data(memory);
    const int most = levels(range);
    plan.job_count = &plan.levels[most + 1].segments;
    plan.unsorted_count = &plan.levels[most + 1].tiles;
    for (int k = 0; k < 2; ++k) {
      plan.segments[k] = parts.segments[k].data(memory);
      plan.tile_segment[k] = parts.owners[k].data(memory);
      plan.counts[k] = parts.counts[k].data(memory);
      plan.differing[k] = parts.differing[k].data(memory);
    }
    plan.jobs = parts.jobs.data(memory);
    plan.unsorted_jobs = parts.unsorted.data(memory);
    if (!keys.overwrites()) {
      plan.keys.room = parts.room.data(memory);
      if constexpr (has_values) values.room = parts.values.data(memory);
    }
    [[maybe_unused]] const std::int64_t items_of_pass = pass_tile_items<Exec>(n.bound, range);
    if constexpr (!listed) backend::zero(exec, memory, parts.zeroed);
    if constexpr (listed) {
      list.begin(plan);
    } else if (is_for_passes(n.bound, range)) {
      auto passes = passes_of<Word, false>(plan, values, parts, memory, items_of_pass);
      passes.first = nullptr;
      passes.differing = nullptr;
      return launch_rest_or_passes(
          exec,
          rest_of<placing_of<Word, false>>(plan, values, parts, memory, most, most, capacity<Exec>),
          passes);
    } else if constexpr (std::is_same_v<Word, std::uint32_t>) {
      if (n.bound <= whole_keys) {
        using kernel = whole<Word>;
        const std::int64_t teams = std::min(
            most_meeting, backend::template resident_league<kernel>(exec, parts.most_tiles));
        lanewise::launch_resident(
            exec, "Lanewise::radix_sort", teams,
            kernel{rest_of<placing_of<Word, true>>(plan, values, parts, memory, 0, most,
                                                   capacity<Exec>),
                   passes_of<Word, true>(plan, values, parts, memory, items_of_pass),
                   jobs{plan, values, detail::block_sort_tasks::all, -1, -1}});
        return;
      }
    }
    using placing_type = placing_of<Word, false>;
    const int wanted = n.bound <= whole_keys ? 0 : (n.bound <= most_keys ? 2 : 3);
    const int launched = std::min(most, first + wanted);
    const auto rest =
        rest_of<placing_type>(plan, values, parts, memory, launched, most, capacity<Exec>);
    for (int level = first; level < launched; ++level) {
      // A segment of the level before has 256 buckets.
      const std::int64_t segments =
          listed ? parts.most_segments
                 : std::min(parts.most_segments,
                            std::int64_t{1} << (level * detail::radix_digit_bits));
      const std::int64_t tiles = n.bound / plan.tile_items + segments;
      using counting = radix_count_kernel<Bits, Counter>;
      const std::int64_t together = std::min<std::int64_t>(
          4, lanewise::divide_up(tiles, backend::template resident_teams<counting>(exec)));
      lanewise::launch(
          exec, "Lanewise::radix_sort::count",
          backend::template resident_league<counting>(exec, divide_up(tiles, together)),
          counting{plan, level, together});
      using starting = radix_starts_kernel<Bits, Counter>;
      lanewise::launch(exec, "Lanewise::radix_sort::starts",
                       backend::template resident_league<starting>(exec, segments),
                       starting{plan, level, capacity<Exec>});
      if (ordered)
        backend::zero(exec, parts.words.data(memory),
                      static_cast<std::size_t>(tiles) * detail::radix_buckets * sizeof(Word));
      using kernel = radix_place_kernel<placing_type>;
      lanewise::launch(exec, "Lanewise::radix_sort::place",
                       backend::template league_for_tiles<kernel>(exec, tiles),
                       kernel{rest.placing, level});
    }
    if constexpr (listed) {
      using kernel = radix_rest_kernel<placing_type, Bits>;
      const std::int64_t teams =
          std::min(most_meeting, backend::template resident_league<kernel>(exec, parts.most_tiles));
      if (launched < most)
        lanewise::launch_resident(exec, "Lanewise::radix_sort::rest", teams, rest);
      if (list.finish(plan, values)) return;
    } else {
      launch_rest_or_passes(exec, rest,
                            passes_of<Word, false>(plan, values, parts, memory, items_of_pass));
    }
    const std::int64_t some = n.bound / capacity<Exec> * 5 / 4 + 64;
    if (has_quick_jobs<Exec>(n.bound, range) && n.bound > whole_keys) {
      lanewise::launch(exec, "Lanewise::radix_sort::fast_block_sort",
                       backend::template league_for_tiles<fast_block_sort>(exec, some),
                       fast_block_sort{plan, values, detail::block_sort_tasks::all, -1, -1});
      lanewise::launch(exec, "Lanewise::radix_sort::jobs",
                       backend::template resident_league<jobs>(exec, parts.most_jobs),
                       jobs{plan, values, detail::block_sort_tasks::left,
                            ordered ? quick_key::most_bits : -1,  // finds bins of equal keys
                            fast_block_sort::has_shares ? quick_key::most_bits : -1});
    } else {
      lanewise::launch(exec, "Lanewise::radix_sort::jobs",
                       backend::template league_for_tiles<jobs>(exec, some),
                       jobs{plan, values, detail::block_sort_tasks::all, -1, -1});
    }
  }
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
