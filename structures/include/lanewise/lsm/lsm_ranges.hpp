// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/scratch_items.hpp>
#include <lanewise/lsm/lsm_changes.hpp>
#include <lanewise/lsm/lsm_queries.hpp>
#include <lanewise/segments/run_length_decode.hpp>
#include <lanewise/sequence/scan.hpp>

#include <cstdint>
#include <vector>

// Counts and ranges of LSMs.

LANEWISE_BEGIN_NAMESPACE

/// Options of count and range.
struct lsm_range_options {
  /// Memory for temporaries; without it the call allocates in the order of its instance.
  workspace_ref work = {};
  /// Whether the call may merge all levels into memory of its own first, where what the queries
  /// cover is more than all levels have.
  bool may_merge = true;
};

LANEWISE_END_NAMESPACE

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

template <class Key>
struct lsm_count_query {
  static constexpr const char* label = "Lanewise::lsm::count";
  static constexpr bool right = false;
  const Key* k2;
  std::int64_t* numbers;
  std::int64_t* begins;  // of one clean level: where each query begins; null for none
  template <class Warp, class View, class Active, class Located, class Keys>
  LANEWISE_FUNCTION auto operator()(const Warp& warp, const View& map, const Active& active,
                                    const Located&, std::int64_t first, const Keys& from) const {
    const auto to = warp.load(active, k2 + first, Key{});
    const auto number = map.count(warp, active, from, to);
    warp.store(active, numbers + first, number);
    if (begins != nullptr)
      warp.store(active, begins + first, map.first_position(warp, active, from));
    return detail::found_where<Warp>(warp, active, active & (number > std::int64_t{0}));
  }
};

/// Adds up how many elements, stale ones included, all levels have in the queries of one window in
/// `stride`.
template <class Key, class Value>
struct lsm_candidates_body {
  lsm_view<Key, Value> map;
  const Key *k1, *k2;
  std::uint64_t* total;
  std::int64_t stride;

  template <class Warp, class Mask>
  LANEWISE_FUNCTION void operator()(const Warp& warp, const Mask&, std::int64_t first) const {
    const std::int64_t at = first * stride;
    const auto candidates = map.candidates(warp, warp.load(k1 + at), warp.load(k2 + at));
    const auto sum = static_cast<std::uint64_t>(warp.reduce(candidates, plus{}));
    if (sum != 0) warp.template fetch_add<order::relaxed>(*total, sum);
  }
};

/// A dictionary, or where it pays a copy of it with all levels merged.
template <class Exec, class Map>
class lsm_merged_first {
 public:
  using key = typename Map::key_type;
  lsm_merged_first(const Exec& exec, const Map& map, const key* k1, const key* k2, std::int64_t n,
                   const lsm_range_options& options)
      : given_(map) {
    constexpr std::int64_t stride = 64, width = warp_t<Exec>::width;
    if (map.is_clean() || !options.may_merge || n < stride * width) return;
    const std::int64_t windows = n / (stride * width);
    using backend = backend_of<Exec>;
    using view = typename Map::view_type;
    auto work =
        call_workspace::make<backend>(exec, options.work, {0, sizeof(std::uint64_t)}, "count");
    auto* const total = static_cast<std::uint64_t*>(work.get().plain());
    backend::zero(exec, total, sizeof *total);
    kernels::launch_windows<view::teams_of_queries>(
        exec, "Lanewise::lsm::candidates", windows * width,
        lsm_candidates_body<key, typename Map::mapped_type>{map.view(), k1, k2, total, stride});
    std::uint64_t seen = 0;
    detail::copy_to_host<std::uint64_t>(exec, &seen, total);
    if (seen * stride <= static_cast<std::uint64_t>(map.elements())) return;
    merged_.take(std::vector<typename Map::run>(map.runs()), false);
    lanewise::cleanup(exec, merged_, {.work = options.work});
    is_merged_ = true;
  }
  const Map& map() const { return is_merged_ ? merged_ : given_; }

 private:
  const Map& given_;
  Map merged_;
  bool is_merged_ = false;
};

/// Element i of the output, given how far before its position in the level it stands.
template <class Key, class Value>
struct lsm_copy_element {
  const Key* keys;
  const Value* values;
  Key* keys_to;
  Value* values_to;
  LANEWISE_FUNCTION void operator()(std::int64_t i, std::int64_t shift) const {
    keys_to[i] = keys[i + shift];
    values_to[i] = values[i + shift];
  }
};
struct lsm_shift {
  const std::int64_t* begins;
  const std::int64_t* offsets;
  LANEWISE_FUNCTION std::int64_t operator()(std::int64_t r) const { return begins[r] - offsets[r]; }
};

/// Copies the ranges of n queries, which begin at these positions of one clean level, to their n +
/// 1 offsets. This is the decoding of runs: each range is a run.
template <class Exec, class Run, class Key, class Value>
void lsm_copy_ranges(const Exec& exec, const std::vector<Run>& runs, const std::int64_t* begins,
                     const std::int64_t* offsets, std::int64_t n, Key* keys, Value* values,
                     std::int64_t room) {
  if (runs.empty()) return;
  const auto& level = runs[0].level;
  const auto shifts = generated(n, lsm_shift{begins, offsets});
  const auto sink = lanewise::consumed(
      room, lsm_copy_element<Key, Value>{level.keys(), level.values, keys, values});
  using kernel = decode_kernel<std::decay_t<decltype(shifts)>, std::decay_t<decltype(sink)>>;
  constexpr std::int64_t steps =
      kernel::template expansion<team_t<Exec, typename kernel::policy>>::steps;
  lanewise::launch(
      exec, "Lanewise::lsm::copy_ranges",
      backend_of<Exec>::template resident_league<kernel>(exec, divide_up(n + room, steps)),
      kernel{shifts, {sink}, {n}, offsets + 1});
}

/// Pairs of a warp on their way to the output. What a lane writes lies apart from what
/// its neighbours write at the same time. So the warp collects some pairs and writes them
/// together. With this and pieces of 4 elements, not 64, for each lane, ranges of 1024 take 4 times
/// as long as counts, and 8 times without both (H100).
template <class Key, class Value>
struct lsm_output {
  static constexpr int room = 4096 / (sizeof(Key) + sizeof(Value)) > 8
                                  ? static_cast<int>(4096 / (sizeof(Key) + sizeof(Value)))
                                  : 8;
  struct scratch {
    detail::raw_array<Key, room> keys;
    detail::raw_array<Value, room> values;
    std::int64_t first;
  };

  const lsm_view<Key, Value>& map;
  scratch& here;
  Key* keys;
  Value* values;
  std::int64_t extent;

  LANEWISE_FUNCTION void operator()(std::int64_t i, const Key& key, int level,
                                    std::int64_t index) const {
    if (i >= extent) return;
    const std::int64_t at = i - here.first;
    const bool is_here = at < room;
    (is_here ? here.keys.data() + at : keys + i)[0] = key;
    (is_here ? here.values.data() + at : values + i)[0] = map.value_of(level, index);
  }
  template <class Warp>
  LANEWISE_FUNCTION void begin(const Warp& warp, std::int64_t i) const {
    warp.fence();
    warp.once([&] { here.first = i; });
    warp.fence();
  }
  template <class Warp>
  LANEWISE_FUNCTION void end(const Warp& warp, std::int64_t i) const {
    warp.fence();
    const std::int64_t first = here.first;
    const std::int64_t below = (i < extent ? i : extent) - first;
    const int n = below < room ? static_cast<int>(below) : room;
    for (int at = 0; at < n; at += Warp::width) {
      const auto exists = warp.first(n - at);
      warp.store(exists, keys + first + at, warp.load(exists, here.keys.data() + at, Key{}));
      warp.store(exists, values + first + at, warp.load(exists, here.values.data() + at, Value{}));
    }
  }
};

template <class Key, class Value>
struct lsm_range_kernel {
  using policy = window_policy<lsm_view<Key, Value>::teams_of_queries>;
  using output = lsm_output<Key, Value>;
  template <class Team>
  struct scratch {
    typename output::scratch of_warp[Team::warps];
  };

  lsm_view<Key, Value> map;
  const Key *k1, *k2;
  const std::int64_t* offsets;
  Key* keys;
  Value* values;
  std::int64_t room;
  std::int64_t n;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const output out{map, shared.of_warp[team.warp_index()], keys, values, room};
    kernels::for_windows(team, n, [&](const auto& warp, const auto& exists, std::int64_t begin) {
      auto at = warp.load(exists, offsets + begin, std::int64_t{0});
      map.for_each(warp, exists & (at < room), warp.load(exists, k1 + begin, Key{}),
                   warp.load(exists, k2 + begin, Key{}), at, out);
    });
  }
};

}  // namespace kernels

/// numbers(i) = how many keys there are in [k1(i), k2(i)], both included: 0 where k1(i) > k2(i). A
/// View of std::int64_t.
///
/// For each query two searches in every level, and a merge of what the levels have there; stale
/// elements and tombstones are read, too. With one clean level (after cleanup) no element is read.
/// A lane works on up to 64 of these elements, a warp on more: one query alone is not shared out
/// further. If there are several levels and 2,048 queries or more, the call looks at one window of
/// queries in 64 first. If all together cover more elements than there are, it merges all levels
/// once, as cleanup does, in memory of its own: twice the elements for a while. It **blocks** then,
/// to see how many; not with options.may_merge = false. Errors as find. (Ashkiani, 4.3, with a
/// merge for its segmented sort.)
template <execution_space Exec, any_lsm Map, class K1, class K2, class Numbers>
void count(const Exec& exec, const Map& map, const K1& k1, const K2& k2, const Numbers& numbers,
           const lsm_range_options& options = {}) {
  using key = typename Map::key_type;
  const auto from = kernels::arrays_of<Exec, Map>("count", k1, "k1");
  const auto* to = kernels::array_of<const key, Exec>("count", "k2", k2, from.n);
  auto* out = kernels::array_of<std::int64_t, Exec>("count", "numbers", numbers, from.n);
  map.used_by(exec);
  if (from.n == 0) return;
  const kernels::lsm_merged_first<Exec, Map> merged(exec, map, from.keys, to, from.n, options);
  kernels::query_table(exec, "count", merged.map(), from,
                       kernels::lsm_count_query<key>{to, out, nullptr}, table_options{});
}

/// The pairs of every query [k1(i), k2(i)], in ascending order of keys: those of query i are
/// keys_out(j) and values_out(j) for j in [offsets(i), offsets(i + 1)). offsets is a View of
/// std::int64_t with an item more than there are queries. Returns how many pairs there are in all
/// queries, which is the last offset.
///
/// Two passes: a count, whose numbers are scanned in offsets, and the same merge again, which
/// writes. With one clean level, or where levels are merged first as count does, the second pass is
/// a copy. It is shared out evenly whatever the lengths are, with 8 bytes for each query beside it.
/// Else there is no memory beside that of the scan, whatever the queries are. With Views of no
/// places it only counts. **Blocks.** Errors as find, and std::length_error where an output that
/// has places has fewer than there are results: the first are written, offsets tell about all.
template <execution_space Exec, any_lsm Map, class K1, class K2, class Offsets, class KeysOut,
          class ValuesOut>
std::int64_t range(const Exec& exec, const Map& map, const K1& k1, const K2& k2,
                   const Offsets& offsets, const KeysOut& keys_out, const ValuesOut& values_out,
                   const lsm_range_options& options = {}) {
  using namespace kernels;
  using key = typename Map::key_type;
  using value = typename Map::mapped_type;
  const auto from = kernels::arrays_of<Exec, Map>("range", k1, "k1");
  const std::int64_t n = from.n;
  const auto at = kernels::array_of<std::int64_t, Exec>("range", "offsets", offsets);
  detail::expects(at.extent > n, "range: offsets has ", at.extent, " places, there are ", n,
                  " queries and one place more is needed");
  static_assert(Kokkos::is_view_v<ValuesOut>, "lanewise: values_out is a View");
  const auto out = kernels::outputs_of<Map, Exec>("range", keys_out, values_out);
  const auto* const to = kernels::array_of<const key, Exec>("range", "k2", k2, n);
  const std::int64_t room = out.room();
  const items_view<std::int64_t, Exec> all_offsets(at.data, n + 1);
  map.used_by(exec);
  const lsm_merged_first<Exec, Map> merged(exec, map, from.keys, to, n, options);
  backend_of<Exec>::zero(exec, at.data + n, sizeof(std::int64_t));
  const bool copies = merged.map().is_clean() && n > 0 && room > 0;
  auto begins = call_workspace::make<backend_of<Exec>>(
      exec, nullptr, {0, copies ? static_cast<std::size_t>(n) * sizeof(std::int64_t) : 0}, "range");
  auto* const begin = static_cast<std::int64_t*>(begins.get().plain());
  kernels::query_table(exec, "range", merged.map(), from,
                       lsm_count_query<key>{to, at.data, copies ? begin : nullptr},
                       table_options{});
  lanewise::exclusive_scan(exec, all_offsets, all_offsets, plus{}, std::int64_t{0},
                           {.work = options.work});
  if (copies) {
    kernels::lsm_copy_ranges(exec, merged.map().runs(), begin, at.data, n, out.keys.data,
                             out.values.data, room);
  } else if (n > 0 && room > 0) {
    using kernel = lsm_range_kernel<key, value>;
    lanewise::launch(exec, "Lanewise::lsm::range", kernels::league_for_windows<kernel>(exec, n),
                     kernel{merged.map().view(), from.keys, to, at.data, out.keys.data,
                            out.values.data, room, n});
  }
  std::int64_t all = 0;
  detail::copy_to_host<std::int64_t>(exec, &all, at.data + n);
  if (out.are_given()) out.expects_room("range", all);
  return all;
}

LANEWISE_END_TARGET_NAMESPACE
