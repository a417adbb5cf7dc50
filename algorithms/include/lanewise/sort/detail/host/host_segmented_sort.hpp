// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sort/detail/host/host_sort_layout.hpp>
#include <lanewise/sort/detail/segment_plan.hpp>
#include <lanewise/warp/search.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// Segments that are too large for one team.
struct huge_segments {
  static constexpr std::int64_t most = 1024;
  std::uint32_t count;
  detail::segment_job segment[most];  ///< of items, and not of segments
};

/// Threads take pieces of the path through items and segments, and sort the segments that begin
/// there. Huge ones are listed, and sorted by all threads afterwards.
template <class Bits, class Value, class Key>
struct host_segments_kernel {
  using place = detail::sort_place<Bits, Value>;
  struct policy : launch_policy {
    static constexpr int host_teams_per_thread = 16;
  };
  template <class Team>
  using range_sort = detail::host_range_sort<Team, Bits, Value, Key>;
  template <class Team>
  struct scratch {
    typename range_sort<Team>::scratch range;
  };
  static constexpr std::int64_t piece = std::int64_t{1} << 14;  ///< steps of the path

  Key key;
  place in, out, temporary;
  detail::segment_list list;
  std::int64_t most_alone;  ///< items of a segment that is not huge
  huge_segments* huge;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const auto warp = team.warp();
    const std::int64_t segments = list.size();
    const std::int64_t pieces = segments > 0 ? divide_up(list.step(segments), piece) : 0;
    const auto first = [&](std::int64_t p) {
      return lanewise::partition_point(std::int64_t{0}, segments,
                                       [&](std::int64_t s) { return list.step(s) < p * piece; });
    };
    const auto mine = team.share(pieces);
    const std::int64_t end = first(mine.end);
    const range_sort<Team> sort(team, shared.range, key);
    for (std::int64_t s = first(mine.begin); s < end; ++s) {
      const std::int64_t n = list.items(s, s + 1);
      if (n == 0) continue;
      const std::int64_t begin = list.begin(s);
      if (n > most_alone) {
        const std::uint32_t number = warp.fetch_add(huge->count, 1u);
        warp.once([&] { huge->segment[number] = {begin, begin + n}; });
      } else {
        sort.sort(in + begin, n, out + begin, temporary + begin);
      }
    }
  }
};

/// Counts bad segments, and copies the offsets, so that what sorts does not depend on their type,
/// unless they are in memory as they are.
template <class Segments>
struct host_segment_offsets_kernel {
  struct policy : launch_policy {};
  template <class Team>
  struct scratch {};

  Segments given;
  item_count count;
  std::int64_t* copy;
  std::uint32_t* bad;
  status* errors;
  detail::segment_windows windows;  ///< none

  /// The array that has the offsets afterwards.
  static const std::int64_t* where(const Segments& given, const std::int64_t* copy) {
    if constexpr (Segments::in_memory) return given.begin_of_offsets();
    return copy;
  }

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    const auto warp = team.warp();
    const Segments of = given;
    const std::int64_t segments = count();
    const auto mine = team.share(segments);
    std::uint64_t found = 0;
    for (std::int64_t s = mine.begin; s < mine.end; ++s) {
      found += of.is_bad(s, of.offset(s), of.offset(s + 1)) ? 1 : 0;
      if constexpr (!Segments::in_memory) copy[s] = of.offset(s);
      if constexpr (Segments::apart) of.note_shift(s);
    }
    if (!Segments::in_memory && mine.begin < mine.end && mine.end == segments)
      copy[segments] = of.offset(segments);
    if (found == 0) return;
    warp.store(*bad, 1u);
    if (errors != nullptr) warp.fetch_add(errors->bad_items, found);
  }
};

/// A sort of segments' keys, with values or without.
template <class Bits, class Value>
class host_segmented_sort {
  using map_type = detail::key_map<Bits>;

  struct layout : host_sort_layout<Bits, Value> {
    workspace_array<huge_segments> huge;
    explicit layout(std::int64_t n) : host_sort_layout<Bits, Value>(n) { this->add(huge, 1); }
  };

 public:
  template <class Segments>
  using offsets_kernel = host_segment_offsets_kernel<Segments>;

  template <class Exec>
  static std::size_t bytes(std::int64_t n, std::int64_t, detail::radix_range) {
    return layout(n).size().bytes;
  }

  template <class Exec>
  static detail::segment_windows windows_of(std::int64_t, std::int64_t, detail::radix_range,
                                            char*) {
    return {nullptr, nullptr};
  }
  template <class Exec>
  static std::size_t zeroed_bytes(std::int64_t, std::int64_t, detail::radix_range) {
    return 0;
  }

  template <class Exec>
  static void sort(const Exec& exec, const Bits* in, Bits* out, const Value* values_in,
                   Value* values_out, std::int64_t n, const detail::segment_list& list,
                   const map_type& map, detail::radix_range range, char* memory) {
    const layout parts(n);
    auto* const huge = parts.huge.data(memory);
    char* const rest = parts.rest.data(memory);
    const host_sort_arrays<Bits, Value> given{in,        out,        parts.keys.data(memory),
                                              values_in, values_out, parts.values.data(memory)};
    const auto arrays = given.alike(n);
    huge->count = 0;
    constexpr int all = 8 * sizeof(Bits);
    const int length = range.high - range.low;
    if (std::is_empty_v<Value> && length == all) {
      start(exec, arrays, n, list,
            detail::sort_key<map_type, Bits, true>{map, 0, static_cast<Bits>(~Bits{0})}, huge);
    } else {
      const auto mask = static_cast<Bits>(static_cast<Bits>(~Bits{0}) >> (all - length));
      start(exec, arrays, n, list, detail::sort_key<map_type, Bits, false>{map, range.low, mask},
            huge);
    }
    // Launches of hosts are over when they return.
    for (std::uint32_t h = 0; h < huge->count; ++h) {
      const std::int64_t begin = huge->segment[h].first, size = huge->segment[h].last - begin;
      kernels::host_radix_sort(exec, part(arrays, begin), {size}, range.low, range.high, map, rest);
    }
  }

 private:
  static host_sort_arrays<Bits, Value> part(host_sort_arrays<Bits, Value> a, std::int64_t begin) {
    a.keys_in += begin;
    a.keys_out += begin;
    a.keys_temporary += begin;
    if constexpr (!std::is_empty_v<Value>) {
      a.values_in += begin;
      a.values_out += begin;
      a.values_temporary += begin;
    }
    return a;
  }
  template <class Exec, class Key>
  static void start(const Exec& exec, const host_sort_arrays<Bits, Value>& a, std::int64_t n,
                    const detail::segment_list& list, const Key& key, huge_segments* huge) {
    using kernel = host_segments_kernel<Bits, Value, Key>;
    const std::int64_t threads = lanewise::resident_teams<kernel>(exec);
    // Half of what a thread has to do; and no more of them than the list takes.
    const std::int64_t part = n / std::min(2 * threads, huge_segments::most / 2);
    const std::int64_t most_alone = threads == 1 ? n : std::max(part, std::int64_t{1} << 16);
    const std::int64_t pieces = lanewise::divide_up(n + list.count.bound, kernel::piece);
    lanewise::launch(exec, "Lanewise::segmented_sort",
                     backend_of<Exec>::template league_for_tiles<kernel>(exec, pieces),
                     kernel{key,
                            {const_cast<Bits*>(a.keys_in), const_cast<Value*>(a.values_in)},
                            {a.keys_out, a.values_out},
                            {a.keys_temporary, a.values_temporary},
                            list,
                            most_alone,
                            huge});
  }
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
