// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sort/detail/device/device_radix_sort.hpp>
#include <lanewise/sort/detail/device/device_segment_job.hpp>
#include <lanewise/sort/detail/device/device_short_segments.hpp>
#include <lanewise/warp/search.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

// A segmented sort makes jobs of the segments as they come. A job is a run of segments that fits a
// team's scratch, and one team sorts it. A longer segment is a job of its own for a team of 32
// warps. It has to fit such a team, and segments to have 1024 items or more on average. A segment
// that fits no team goes by levels of a radix sort (radix_sort/device.hpp). That sort begins at the
// most significant digit; only the list of its first level is made here. The first kernel sorts
// windows of short segments, and makes the lists. Its warps take equal parts of the path through
// items and segments, and look for the last segment that still fits.

/// What the kernels of a segmented sort share.
struct segment_work {
  detail::segment_list list;
  detail::segment_windows windows;
  detail::segment_job* jobs;
  std::uint32_t* job_count;
  std::uint32_t* refused;  ///< numbers of jobs that are left for merging
  std::uint32_t* refused_count;
  detail::block_sort_task* wide_jobs;
  std::uint32_t* wide_count;
};

/// Sorts the segments of windows that have short ones only, cuts those of others into jobs, and
/// lists segments that are too large for one.
template <class Bits, class Counter, class Key, class Value, bool apart>
struct segment_windows_kernel {
  struct policy : launch_policy {
    static constexpr int teams_per_multiprocessor = 4;
  };
  template <class Team>
  using sorts = detail::device_short_segments<Team, Bits, Key, Value, apart>;
  template <class Team>
  struct scratch {
    typename sorts<Team>::scratch segments;
  };

  segment_work work;
  detail::radix_plan<Bits, Counter> plan;  ///< of segments that are too large
  bool has_wide_counts;  ///< the plan's counts are of 64 bits, whatever Counter is
  std::int64_t groups;   ///< of windows
  detail::radix_arrays<Value> values;
  std::int64_t capacity;       ///< items of a job
  std::int64_t most_segments;  ///< of a job
  std::int64_t wide_capacity;  ///< items of a wide job; 0: there are none

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    if (work.list.size() == 0) return;
    const auto& windows = work.windows;
    for (std::int64_t i = team.index(); i < groups * windows.group; i += team.league()) {
      if (windows.kinds[i / windows.group] == windows.short_ones)
        sort(team, shared, {windows.first[i], windows.first[i + 1]});
    }
    for (std::int64_t g = std::int64_t{team.index()} * Team::warps + team.warp_index(); g < groups;
         g += team.league() * Team::warps) {
      if (windows.has(g, windows.long_ones))
        cut(team, windows.first[g * windows.group], windows.first[(g + 1) * windows.group]);
    }
  }

 private:
  template <class Team>
  LANEWISE_FUNCTION void sort(const Team& team, scratch<Team>& shared,
                              const detail::segment_job& short_ones) const {
    if (short_ones.first == short_ones.last) return;
    sorts<Team> sort(team, shared.segments, work.list, short_ones);
    sort.load(plan.keys.in, plan.map, values.in);
    sort.sort(plan.range);
    sort.store(plan.keys.out, plan.map, values.out);
    team.barrier();
  }
  template <class Team>
  LANEWISE_FUNCTION void cut(const Team& team, std::int64_t first, std::int64_t last) const {
    constexpr int width = Team::warp_type::width;
    const auto warp = team.warp();
    const auto& list = work.list;
    using i64s = lanes_t<typename Team::warp_type, std::int64_t>;
    i64s begins, ends;
    int waiting = 0;
    while (first < last) {
      const std::int64_t most = first + most_segments < last ? first + most_segments : last;
      const std::int64_t end = lanewise::partition_point(
          warp, first, most, [&](std::int64_t s) { return list.items(first, s + 1) <= capacity; });
      if (end == first) {
        add_large(team, list.begin(first), list.items(first, first + 1));
        ++first;
        continue;
      }
      if (list.items(first, end) > 0) {
        const auto here = warp.lane() == static_cast<std::uint32_t>(waiting++);
        begins = lanewise::select(here, i64s(first), begins);
        ends = lanewise::select(here, i64s(end), ends);
      }
      if (waiting == width) flush(warp, waiting, begins, ends);
      first = end;
    }
    flush(warp, waiting, begins, ends);
  }
  /// Lists a segment that is too large for a job.
  template <class Team>
  LANEWISE_FUNCTION void add_large(const Team& team, std::int64_t begin, std::int64_t items) const {
    const auto warp = team.warp();
    const auto top = static_cast<std::uint8_t>(plan.range.high);
    if (items > wide_capacity) {
      if (has_wide_counts) {
        kernels::list_segment(team, plan.template with_counters<std::uint64_t>(), begin, items);
      } else {
        kernels::list_segment(team, plan, begin, items);
      }
      return;
    }
    const std::uint32_t place = warp.fetch_add(*work.wide_count, 1u);
    warp.once([&] {
      work.wide_jobs[place] = {begin,
                               static_cast<std::uint32_t>(items),
                               detail::radix_array::in,
                               detail::radix_work::sorts,
                               false,
                               top};
    });
  }
  template <class W, class Lanes>
  LANEWISE_FUNCTION void flush(const W& warp, int& waiting, Lanes& begins, Lanes& ends) const {
    if (waiting == 0) return;
    const std::uint32_t place =
        warp.fetch_add(*work.job_count, static_cast<std::uint32_t>(waiting));
    detail::segment_job* const to = work.jobs + place;
    auto lane = warp.lane();
    warp.each(
        warp.first(waiting),
        [&](std::uint32_t l, std::int64_t b, std::int64_t e) {
          to[l] = {b, e};
        },
        lane, begins, ends);
    waiting = 0;
  }
};

/// The jobs of a launch: all; the jobs that another launch refused; one, of all segments.
enum class segment_jobs : std::uint8_t { all, refused, one };

/// Sorts jobs. Jobs that bins refuse are merged, or left to another launch that merges.
template <class Bits, class Key, class Value, bool apart, bool merges>
struct segment_job_kernel {
  struct policy : launch_policy {
    static constexpr int warps = 16;
    static constexpr int teams_per_multiprocessor =
        merges ? 1 : (sizeof(Key) <= 4 ? 3 : (sizeof(Key) <= 8 ? 2 : 1));
  };
  template <class Team>
  using job = detail::device_segment_job<Team, Bits, Key, Value, apart>;
  template <class Team>
  struct plain_scratch {
    typename job<Team>::scratch keys;
  };
  template <class Team>
  struct full_scratch {
    typename job<Team>::scratch keys;
    typename job<Team>::merging_scratch more;
  };
  template <class Team>
  using scratch = std::conditional_t<merges, full_scratch<Team>, plain_scratch<Team>>;

  segment_work work;
  detail::radix_arrays<Bits> keys;
  detail::radix_arrays<Value> values;
  detail::key_map<Bits> map;
  detail::radix_range range;
  segment_jobs which;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    if (merges && which == segment_jobs::one) {
      const std::int64_t segments = work.list.size();
      if (segments > 0 && work.list.items(0, segments) > 0) run(team, shared, {0, segments}, 0);
      return;
    }
    const bool refused = merges && which == segment_jobs::refused;
    const std::uint32_t jobs = refused ? *work.refused_count : *work.job_count;
    for (std::uint32_t i = team.index(); i < jobs; i += team.league()) {
      const std::uint32_t number = refused ? work.refused[i] : i;
      run(team, shared, work.jobs[number], number);
      team.barrier();
    }
  }

 private:
  template <class Team>
  LANEWISE_FUNCTION void run(const Team& team, scratch<Team>& shared,
                             const detail::segment_job& todo, std::uint32_t number) const {
    const auto warp = team.warp();
    const bool by_bins = !merges || which != segment_jobs::refused;
    job<Team> sort(team, shared.keys, work.list, todo);
    sort.load(keys.in, map);
    if (!by_bins || !sort.choose_places(range)) {
      if constexpr (merges) {
        sort.merge(shared.more, range);
      } else {
        if (team.warp_index() != 0) return;
        const std::uint32_t place = warp.fetch_add(*work.refused_count, 1u);
        warp.once([&] { work.refused[place] = number; });
        return;
      }
    }
    sort.store(keys.out, map, values.in, values.out);
  }
};

/// Counts bad segments and finds out in which windows segments lie. Copies the offsets unless they
/// are in memory as they are, so that what sorts does not depend on their type.
template <class Segments>
struct device_segment_offsets_kernel {
  struct policy : launch_policy {};
  template <class Team>
  struct scratch {};

  Segments given;
  item_count count;
  std::int64_t* copy;
  std::uint32_t* bad;
  status* errors;
  detail::segment_windows windows;  ///< where there are some

  /// The array that has the offsets afterwards.
  static const std::int64_t* where(const Segments& given, const std::int64_t* copy) {
    if constexpr (Segments::in_memory) return given.begin_of_offsets();
    return copy;
  }

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    constexpr int width = warp_type::width, together = 4;
    const auto warp = team.warp();
    const std::int64_t segments = count();
    const std::int64_t number = std::int64_t{team.index()} * Team::warps + team.warp_index();
    const std::int64_t all = std::int64_t{team.league()} * Team::warps;
    for (std::int64_t s = number * together * width; s < segments; s += all * together * width) {
      lanes_t<warp_type, std::int64_t> begin[together], end[together];
      LANEWISE_UNROLL
      for (int j = 0; j < together; ++j) {
        begin[j] = offsets_from(warp, s + j * width, segments);
        end[j] = offsets_from(warp, s + j * width + 1, segments);
      }
      LANEWISE_UNROLL
      for (int j = 0; j < together; ++j) {
        if (s + j * width < segments) take(warp, s + j * width, segments, begin[j], end[j]);
      }
    }
  }

 private:
  /// Offset s + i in lane i; after the last one that again.
  template <class W>
  LANEWISE_FUNCTION auto offsets_from(const W& warp, std::int64_t s, std::int64_t segments) const {
    return warp.map(
        [&](std::uint32_t l) { return given.offset(s + l < segments ? s + l : segments); },
        warp.lane());
  }
  /// Checks and notes segments s, s + 1, ... of a warp.
  template <class W, class Offsets>
  LANEWISE_FUNCTION void take(const W& warp, std::int64_t s, std::int64_t segments, Offsets begin,
                              Offsets end) const {
    const auto there = warp.first(segments - s);
    auto lane = warp.lane();
    const auto wrong = warp.map(
        there,
        [&](std::uint32_t l, std::int64_t b, std::int64_t e) {
          return given.is_bad(s + l, b, e) ? 1u : 0u;
        },
        0u, lane, begin, end);
    if constexpr (!Segments::in_memory) {
      warp.each(
          there,
          [&](std::uint32_t l, std::int64_t b, std::int64_t e) {
            copy[s + l] = b;
            if (s + l + 1 == segments) copy[segments] = e;
          },
          lane, begin, end);
    }
    if constexpr (Segments::apart)
      warp.each(
          there, [&](std::uint32_t l) { given.note_shift(s + l); }, lane);
    if (windows.first != nullptr) add_windows(warp, s, there & (wrong == 0u), begin, end, segments);
    const int found = warp.count(wrong != 0u);
    if (found == 0) return;
    warp.store(*bad, 1u);
    if (errors != nullptr) warp.fetch_add(errors->bad_items, static_cast<std::uint64_t>(found));
  }
  template <class W, class Mask, class Offsets>
  LANEWISE_FUNCTION void add_windows(const W& warp, std::int64_t first, const Mask& good,
                                     Offsets& begins, Offsets& ends, std::int64_t segments) const {
    using kinds = lanes_t<W, std::uint32_t>;
    lanes_t<W, std::int64_t> group(std::int64_t{0});
    kinds kind(0u);
    auto lane = warp.lane();
    warp.each(
        good,
        [&](std::uint32_t l, std::int64_t begin, std::int64_t end, std::int64_t& g,
            std::uint32_t& k) {
          const std::int64_t s = first + l;
          windows.add(typename W::template part<1>(), s, begin, end, segments);
          g = detail::segment_windows::group_of(begin + s);
          k = end - begin > detail::segment_windows::most_length
                  ? detail::segment_windows::long_ones
                  : detail::segment_windows::short_ones;
        },
        lane, begins, ends, group, kind);
    // A warp's segments mostly are of one group, which then is told once.
    const auto before = warp.shuffle_up(group, 1);
    const auto tells =
        good & ((kind != warp.shuffle_up(kind, 1)) | (group != before) | (warp.lane() == 0u));
    warp.template fetch_or<order::relaxed>(tells, windows.kinds, group, kind);
  }
};

/// A sort of segments' keys, with values or without.
template <class Bits, class Value, bool ordered, bool apart>
class device_segmented_sort {
  using key = std::conditional_t<ordered, detail::placed_key<Bits>, detail::bare_key<Bits>>;
  static constexpr bool has_values = !std::is_empty_v<Value>;
  using large = device_radix_sort<Bits, Value, ordered>;
  template <bool merges>
  using jobs = segment_job_kernel<Bits, key, Value, apart, merges>;
  template <class Exec>
  using job = detail::device_segment_job<team_t<Exec, typename jobs<false>::policy>, Bits, key,
                                         Value, apart>;
  using counter = std::conditional_t<ordered, std::uint64_t, std::uint32_t>;
  using radix_plan = detail::radix_plan<Bits, counter>;
  using wide_jobs = radix_job_kernel<Bits, counter, key, Value, true, 32>;
  template <class Exec>
  using wide_team = team_t<Exec, typename wide_jobs::policy>;
  template <class Exec>
  using wide_job = typename wide_jobs::template job<wide_team<Exec>>;
  template <class Exec>
  static constexpr std::size_t wide_bytes =
      sizeof(typename wide_jobs::template scratch<wide_team<Exec>>);
  /// Larger kernels fit no device.
  template <class Exec>
  static constexpr bool has_wide = wide_bytes<Exec> <= (std::size_t{227} << 10);

  struct layout : workspace_layout {
    layout() : workspace_layout(128) {}
    std::int64_t groups, most_jobs;
    std::size_t zeroed;
    workspace_array<std::uint32_t> counts, kinds, refused;
    workspace_array<char> large;
    workspace_array<std::int64_t> first;
    workspace_array<detail::segment_job> jobs;
    workspace_array<detail::block_sort_task> wide;
  };
  template <class Exec>
  static layout layout_of(std::int64_t n, std::int64_t segments, detail::radix_range range) {
    constexpr std::int64_t capacity = job<Exec>::items, most_segments = job<Exec>::most_segments;
    layout parts;
    using windows = detail::segment_windows;
    parts.groups = windows::group_of(n + segments) + 1;
    // Two neighbouring jobs have too many items or segments for one, unless a large segment or the
    // end of a window is between them.
    parts.most_jobs =
        2 * (n / capacity + segments / most_segments) + 2 * parts.groups + n / capacity + 2;
    parts.add(parts.counts, 3);
    parts.add(parts.kinds, parts.groups);
    parts.zeroed = parts.next();
    const std::size_t large_bytes =
        n > capacity ? large::template listed_bytes<Exec>(n, capacity, range) : 0;
    if (n > capacity) parts.zeroed += large::template listed_zeroed_bytes<Exec>(n, capacity, range);
    parts.large = parts.add_call({0, large_bytes});
    parts.add(parts.first, parts.groups * windows::group + 1);
    parts.add(parts.jobs, parts.most_jobs);
    parts.add(parts.refused, parts.most_jobs);
    parts.add(parts.wide, n / capacity);
    return parts;
  }
  template <class Exec>
  static bool is_few(std::int64_t n, std::int64_t segments) {
    return n <= job<Exec>::items && segments <= job<Exec>::most_segments;
  }

  template <class Exec>
  static bool fits_wide(const Exec& exec) {
    return static_cast<std::int64_t>(wide_bytes<Exec>) <= backend_of<Exec>::scratch_bytes(exec);
  }
  /// Whether segments are so few that every one of them has a wide team. The launches that look for
  /// short segments would take longer than what they gain.
  template <class Exec>
  static bool has_team_each(const Exec& exec, std::int64_t n, std::int64_t segments) {
    return n <= few_items<Exec> && fits_wide(exec) &&
           segments <= backend_of<Exec>::template resident_teams<wide_jobs>(exec);
  }
  /// The most items of a wide job; 0 where segments have fewer than 1024 items on average, or where
  /// a team of the device lacks the scratch for a wide job.
  template <class Exec>
  static std::int64_t wide_capacity(const Exec& exec, std::int64_t n, std::int64_t segments) {
    constexpr std::int64_t long_on_average = 1024;
    return fits_wide(exec) && n >= long_on_average * segments ? wide_job<Exec>::items : 0;
  }

 public:
  template <class Segments>
  using offsets_kernel = device_segment_offsets_kernel<Segments>;

  /// The most items that one team sorts.
  template <class Exec>
  static constexpr std::int64_t most_items = job<Exec>::items;
  /// Up to few_items items, the jobs of a kind are one launch, with all that they may need:
  /// launches would take longer than what they do.
  template <class Exec>
  static constexpr std::int64_t few_items = 128 * job<Exec>::items;

  template <class Exec>
  static std::size_t bytes(std::int64_t n, std::int64_t segments, detail::radix_range range) {
    return is_few<Exec>(n, segments) ? 0 : layout_of<Exec>(n, segments, range).size().bytes;
  }

  template <class Exec>
  static detail::segment_windows windows_of(std::int64_t n, std::int64_t segments,
                                            detail::radix_range range, char* memory) {
    if (is_few<Exec>(n, segments)) return {nullptr, nullptr};
    const layout parts = layout_of<Exec>(n, segments, range);
    return {parts.first.data(memory), parts.kinds.data(memory)};
  }
  /// The first bytes of the memory, which are 0 before anything else happens.
  template <class Exec>
  static std::size_t zeroed_bytes(std::int64_t n, std::int64_t segments,
                                  detail::radix_range range) {
    return is_few<Exec>(n, segments) ? 0 : layout_of<Exec>(n, segments, range).zeroed;
  }

  template <class Exec>
  static void sort(const Exec& exec, const Bits* in, Bits* out, const Value* values_in,
                   Value* values_out, std::int64_t n, const detail::segment_list& list,
                   const detail::key_map<Bits>& map, detail::radix_range range, char* memory) {
    using backend = backend_of<Exec>;
    segment_work work{};
    const std::int64_t segments = list.count.bound;
    work.list = list;
    work.windows = windows_of<Exec>(n, segments, range, memory);
    const detail::radix_arrays<Bits> keys{in, out, nullptr};
    const detail::radix_arrays<Value> values{values_in, values_out, nullptr};
    if (is_few<Exec>(n, segments)) {
      lanewise::launch(exec, "Lanewise::segmented_sort", 1,
                       jobs<true>{work, keys, values, map, range, segment_jobs::one});
      return;
    }
    const layout parts = layout_of<Exec>(n, segments, range);
    work.job_count = parts.counts.data(memory);
    work.refused_count = work.job_count + 1;
    work.wide_count = work.job_count + 2;
    work.jobs = parts.jobs.data(memory);
    work.refused = parts.refused.data(memory);
    work.wide_jobs = parts.wide.data(memory);
    std::int64_t wide = 0;
    if constexpr (has_wide<Exec>) {
      if (has_team_each(exec, n, segments))
        return sort_by_teams(exec, keys, values, n, list, map, range, parts.large.data(memory));
      wide = wide_capacity(exec, n, segments);
    }
    // If items are few, a launch of wide teams sorts what the levels leave, too.
    const bool is_together = wide > 0 && n <= few_items<Exec>;
    const auto begin = [&](const auto& plan) {
      launch_windows(exec, work, plan, values, parts.groups, wide, is_together);
    };
    const auto finish = [&](const auto& plan, const auto& arrays) {
      if constexpr (has_wide<Exec>) {
        if (is_together) launch_wide(exec, plan.template with_counters<counter>(), arrays, n);
      }
      return is_together;
    };
    if (n > job<Exec>::items) {
      large::sort_listed(exec, keys, values, n, map, range, parts.large.data(memory), begin, finish,
                         job<Exec>::items);
    } else {
      begin(plan_of(keys, map, range));
    }
    if constexpr (has_wide<Exec>) {
      if (wide > 0 && !is_together) {
        auto plan = plan_of(keys, map, range);
        plan.jobs = work.wide_jobs;
        plan.job_count = work.wide_count;
        launch_wide(exec, plan, values, n);
      }
    }
    if (n <= few_items<Exec>) {
      lanewise::launch(exec, "Lanewise::segmented_sort::jobs",
                       backend::template resident_league<jobs<true>>(exec, parts.most_jobs),
                       jobs<true>{work, keys, values, map, range, segment_jobs::all});
      return;
    }
    const std::int64_t expected = std::min(
        parts.most_jobs, n / job<Exec>::items * 5 / 4 + segments / job<Exec>::most_segments + 64);
    lanewise::launch(exec, "Lanewise::segmented_sort::jobs",
                     backend::template league_for_tiles<jobs<false>>(exec, expected),
                     jobs<false>{work, keys, values, map, range, segment_jobs::all});
    lanewise::launch(exec, "Lanewise::segmented_sort::refused",
                     backend::template resident_league<jobs<true>>(exec, parts.most_jobs),
                     jobs<true>{work, keys, values, map, range, segment_jobs::refused});
  }

 private:
  static radix_plan plan_of(const detail::radix_arrays<Bits>& keys,
                            const detail::key_map<Bits>& map, detail::radix_range range) {
    radix_plan plan{};
    plan.keys = keys;
    plan.map = map;
    plan.range = range;
    return plan;
  }
  /// A wide team sorts each segment, or lists it for levels, whose jobs are wide ones, too.
  template <class Exec>
  static void sort_by_teams(const Exec& exec, const detail::radix_arrays<Bits>& keys,
                            const detail::radix_arrays<Value>& values, std::int64_t n,
                            const detail::segment_list& list, const detail::key_map<Bits>& map,
                            detail::radix_range range, char* memory) {
    const auto begin = [&](const auto& plan) {
      wide_jobs sorts{plan.template with_counters<counter>(),
                      values,
                      detail::block_sort_tasks::segments,
                      -1,
                      -1,
                      list};
      lanewise::launch(exec, "Lanewise::segmented_sort::segments", list.count.bound, sorts);
    };
    const auto finish = [&](const auto& plan, const auto& arrays) {
      launch_wide(exec, plan.template with_counters<counter>(), arrays, n);
      return true;
    };
    if (n > wide_job<Exec>::items) {
      large::sort_listed(exec, keys, values, n, map, range, memory, begin, finish,
                         job<Exec>::items);
    } else {
      begin(plan_of(keys, map, range));
    }
  }
  /// is_together: wide jobs are in the list of the plan's jobs.
  template <class Exec, class Counter>
  static void launch_windows(const Exec& exec, segment_work work,
                             const detail::radix_plan<Bits, Counter>& plan,
                             const detail::radix_arrays<Value>& values, std::int64_t groups,
                             std::int64_t wide, bool is_together) {
    using kernel = segment_windows_kernel<Bits, counter, key, Value, apart>;
    if (is_together) {
      work.wide_jobs = plan.jobs;
      work.wide_count = plan.job_count;
    }
    lanewise::launch(exec, "Lanewise::segmented_sort::windows",
                     backend_of<Exec>::template league_for_tiles<kernel>(
                         exec, groups * detail::segment_windows::group),
                     kernel{work, plan.template with_counters<counter>(), sizeof(Counter) == 8,
                            groups, values, job<Exec>::items, job<Exec>::most_segments, wide});
  }
  template <class Exec>
  static void launch_wide(const Exec& exec, const radix_plan& plan,
                          const detail::radix_arrays<Value>& values, std::int64_t n) {
    lanewise::launch(exec, "Lanewise::segmented_sort::wide",
                     backend_of<Exec>::template resident_league<wide_jobs>(exec, n / 1024),
                     wide_jobs{plan, values, detail::block_sort_tasks::all, -1, -1});
  }
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
