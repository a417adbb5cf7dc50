// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/detail/table_memory.hpp>
#include <lanewise/lsm/detail/lsm_calls.hpp>
#include <lanewise/lsm/detail/lsm_merge.hpp>
#include <lanewise/lsm/lsm_dictionary.hpp>
#include <lanewise/search/search_index.hpp>
#include <lanewise/sequence/transform.hpp>
#include <lanewise/sort/radix_sort.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

// How LSMs are changed: insert, erase, apply, build, cleanup, clear. Each makes its new run first
// and puts it in the list last, so that a call that fails leaves the dictionary as it was.

LANEWISE_BEGIN_NAMESPACE

/// Options of calls that change a dictionary.
struct lsm_options {
  /// Memory for temporaries; without it the call allocates in the order of its instance. Runs are
  /// always allocated.
  workspace_ref work = {};
};

LANEWISE_END_NAMESPACE

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// Merges runs [first, due) of a dictionary after a newer one, all newest first: the newer ones
/// with each other first, as they are the smaller ones. What lies between goes in turn to the
/// memory of the result and to another, `spare` if that is large enough: two allocations for any
/// number of runs, and half the elements of the result at most beside it. sorts_again: by sorting
/// in place of merging.
template <bool sorts_again, class Exec, class Run>
Run lsm_merge_all(const Exec& exec, Run newest, const std::vector<Run>& runs, std::size_t first,
                  std::size_t due, workspace_ref work,
                  std::shared_ptr<detail::lsm_block> spare = nullptr) {
  if (first >= due) return newest;
  const auto allocated = [&](std::size_t bytes) {
    return std::make_shared<detail::lsm_block>(std::in_place_type<backend_of<Exec>>, exec, bytes);
  };
  using room = lsm_room<typename Run::key_type, typename Run::mapped_type>;
  room all, gathered;
  all.add(newest.level);
  for (std::size_t j = first; j + 1 < due; ++j) all.add(runs[j].level);
  const std::size_t between = due - first > 1 ? all.bytes() : 0;
  all.add(runs[due - 1].level);
  const std::shared_ptr<detail::lsm_block> own = allocated(all.bytes());
  if (between > 0 && (spare == nullptr || spare->bytes() < between)) spare = allocated(between);
  gathered.add(newest.level);
  for (std::size_t j = first; j < due; ++j) {
    gathered.add(runs[j].level);
    Run merged = gathered.make(exec, (due - j) % 2 == 1 ? own : spare);
    if constexpr (sorts_again) {
      kernels::lsm_sort_again(exec, newest.level, runs[j].level, merged, work);
    } else {
      kernels::lsm_merge(exec, newest.level, runs[j].level, merged, work);
    }
    newest = std::move(merged);
  }
  return newest;
}

/// Samples the keys of a run for its search tree.
template <class Exec, class Run>
void lsm_index(const Exec& exec, Run& r) {
  kernels::sample_keys(exec, r.level.tree, r.samples());
}

/// Puts a run before the others. While the next one has less than twice the elements of those
/// in front, it is merged with them: so batches of one length meet as the digits of a binary
/// counter, and there are no more levels than digits whatever the lengths are.
template <class Exec, class Map>
void lsm_add(const Exec& exec, Map& map, typename Map::run&& fresh, workspace_ref work) {
  using run = typename Map::run;
  const std::vector<run>& runs = map.runs();
  std::size_t due = 0;
  std::int64_t gathered = fresh.level.size();
  while (due < runs.size() && (Map::has_one_level || runs[due].level.size() / 2 < gathered ||
                               runs.size() - due >= lsm_most_levels))
    gathered += runs[due++].level.size();
  detail::expects(gathered <= most_searched_keys, "lsm: a level would have ", gathered,
                  " elements, more than ", most_searched_keys);
  std::vector<run> next;
  next.reserve(runs.size() - due + 1);
  next.push_back(
      kernels::lsm_merge_all<Map::sorts_again>(exec, std::move(fresh), runs, 0, due, work));
  kernels::lsm_index(exec, next.front());
  next.insert(next.end(), runs.begin() + static_cast<std::ptrdiff_t>(due), runs.end());
  map.used_by(exec);
  map.take(std::move(next), false);
}

/// A run of pairs, sorted stably: of equal keys the first of the batch stands first.
template <class Map, class Exec>
typename Map::run lsm_sorted(const Exec& exec, const table_arrays<Map>& in, workspace_ref work) {
  using key = typename Map::key_type;
  using value = typename Map::mapped_type;
  auto fresh = Map::run::template make<backend_of<Exec>>(exec, in.n, true, false);
  lanewise::radix_sort(exec, items_view<const key, Exec>(in.keys, in.n),
                       items_view<const value, Exec>(in.given, in.n),
                       items_view<key, Exec>(fresh.keys(), in.n),
                       items_view<value, Exec>(fresh.values(), in.n), {.work = work});
  return fresh;
}

/// 1 for insertions, so that erasures come first; as a key, so that one sort serves both orders.
template <class Key>
struct lsm_rank_of_operation {
  LANEWISE_FUNCTION Key operator()(const table_operation& o) const {
    return o == table_operation::erase ? Key{0} : Key{1};
  }
};

/// Fetches what goes with sorted keys: values, and which elements are tombstones.
template <class Value>
struct lsm_fetch_body {
  const std::uint32_t* from;
  const table_operation* operations;
  const Value* values;
  Value* values_out;
  std::uint32_t* dead;

  template <class Warp, class Mask>
  LANEWISE_FUNCTION void operator()(const Warp& warp, const Mask& exists,
                                    std::int64_t begin) const {
    const auto at = warp.load(exists, from + begin, std::uint32_t{0});
    auto dies = warp.map(
        exists,
        [this](std::uint32_t p) -> std::uint32_t {
          return operations[p] == table_operation::erase ? 1 : 0;
        },
        std::uint32_t{0}, at);
    const auto index = warp.map([begin](std::uint32_t l) { return begin + l; }, warp.lane());
    (void)warp.map(
        exists,
        [this](std::int64_t i, std::uint32_t p, std::uint32_t d) {
          values_out[i] = d == 0 ? values[p] : Value{};
          return d;
        },
        std::uint32_t{0}, index, at, dies);
    const auto word = warp.map([](std::int64_t i) { return i / 32; }, index);
    const auto bit = warp.map([](std::int64_t i) { return std::uint32_t{1} << (i % 32); }, index);
    warp.template fetch_or<order::relaxed>(dies != 0u, dead, word, bit);
  }
};

/// All levels as a run of what counts; without memory where nothing does. Its memory is for what
/// counts if every tombstone hides one element, and for 3 % more. Where that is too little, the
/// last merge is done again, and where it is much more than what counts, that is copied.
/// **Blocks.**
template <class Exec, class Map>
typename Map::run lsm_live_run(const Exec& exec, const Map& map, workspace_ref work) {
  using run = typename Map::run;
  const std::vector<run>& runs = map.runs();
  const std::int64_t tombstones = kernels::lsm_tombstones(exec, map.view().all(), work);
  const std::int64_t most = map.elements() - tombstones;
  if (most == 0) return {};
  const std::int64_t likely = most > tombstones ? most - tombstones : most;
  const std::int64_t room = std::min(most, likely + likely / 32);
  run all = run::template make<backend_of<Exec>>(exec, room, true, false);
  const run newer =
      kernels::lsm_merge_all<false>(exec, runs[0], runs, 1, runs.size() - 1, work, all.memory);
  const decltype(newer.level) none;
  const auto merge_to = [&](const run& to) {
    return kernels::lsm_merge_live(exec, newer.level, runs.size() > 1 ? runs.back().level : none,
                                   to.keys(), to.values(), to.room, work);
  };
  const std::int64_t live = merge_to(all);
  if (live > room) {
    all = {};
    all = run::template make<backend_of<Exec>>(exec, live, true, false);
    merge_to(all);
    return all;
  }
  all.shrink(live);
  if (room - live <= live / detail::lsm_spare) return all;
  if (live == 0) return {};
  run kept = run::template make<backend_of<Exec>>(exec, live, true, false);
  const auto copy = [&](auto* to, auto* from) {
    const std::size_t n = static_cast<std::size_t>(live) * sizeof *to;
    using bytes = items_view<char, Exec>;
    detail::copy_units(exec, bytes(reinterpret_cast<char*>(to), n),
                       bytes(reinterpret_cast<char*>(from), n), 0, 0, n);
  };
  copy(kept.keys(), all.keys());
  copy(kept.values(), all.values());
  return kept;
}

}  // namespace kernels

/// Puts pairs into the dictionary; they replace the values of keys that are there. Of several pairs
/// of the call with one key, the first counts.
///
/// keys and values are Views; values has at least as many items. Any number of pairs. A radix_sort
/// of the pairs, and merges of the runs that are due. An element takes part in log2(n / batch) / 2
/// merges or so in its life; each merge reads it once and writes it once. O(n log n) memory traffic
/// for n pairs that come in batches; one call may merge all that is there. Memory: the new run, and
/// what merges make of it, beside what they read. Does not block. Throws std::invalid_argument on
/// wrong extents or Views with items and no memory, and what allocations throw; the dictionary is
/// as it was then. (Ashkiani, 4.3.)
template <execution_space Exec, any_lsm Map, class Keys, class Values>
void insert(const Exec& exec, Map& map, const Keys& keys, const Values& values,
            const lsm_options& options = {}) {
  const auto in = kernels::pairs_of<Exec, Map>("insert", keys, values);
  if (in.n == 0) return;
  kernels::lsm_add(exec, map, kernels::lsm_sorted<Map>(exec, in, options.work), options.work);
}

/// Deletes keys, whether they are there or not: their tombstones hide what is older. Cost and
/// errors as insert, without values.
template <execution_space Exec, any_lsm Map, class Keys>
void erase(const Exec& exec, Map& map, const Keys& keys, const lsm_options& options = {}) {
  using key = typename Map::key_type;
  const auto in = kernels::arrays_of<Exec, Map>("erase", keys);
  if (in.n == 0) return;
  auto fresh = Map::run::template make<backend_of<Exec>>(exec, in.n, false, false);
  lanewise::radix_sort(exec, kernels::items_view<const key, Exec>(in.keys, in.n),
                       kernels::items_view<key, Exec>(fresh.keys(), in.n), {.work = options.work});
  kernels::lsm_add(exec, map, std::move(fresh), options.work);
}

/// An operation of its own for every item: operations is a View of table_operation. erase deletes
/// the key, and values(i) is not read then; insert puts the pair there, as any other does. A key
/// that the call erases is not there afterwards, whatever else the call does with it; of several
/// insertions of a key the first counts.
///
/// At most 2^32 - 1 items. As insert, with one pass more over the items' numbers, and values that
/// are fetched at the end.
template <execution_space Exec, any_lsm Map, class Operations, class Keys, class Values>
void apply(const Exec& exec, Map& map, const Operations& operations, const Keys& keys,
           const Values& values, const lsm_options& options = {}) {
  using namespace kernels;
  using key = typename Map::key_type;
  using backend = backend_of<Exec>;
  using number = std::uint32_t;
  const auto in = kernels::pairs_of<Exec, Map>("apply", keys, values);
  const std::int64_t n = in.n;
  const auto* todo =
      kernels::array_of<const table_operation, Exec>("apply", "operations", operations, n);
  detail::expects(n <= std::numeric_limits<number>::max(), "apply: keys has ", n,
                  " items, more than 2^32 - 1");
  if (n == 0) return;
  auto fresh = Map::run::template make<backend>(exec, n, true, true);
  // Erasures to the front, then all by key: both sorts are stable.
  const std::size_t each = static_cast<std::size_t>(n) * sizeof(key);
  auto memory = call_workspace::make<backend>(
      exec, nullptr, {0, each + 2 * static_cast<std::size_t>(n) * sizeof(number)}, "apply");
  char* const p = static_cast<char*>(memory.get().plain());
  const items_view<key, Exec> some_keys(reinterpret_cast<key*>(p), n);
  const items_view<key, Exec> sorted_keys(fresh.keys(), n);
  const items_view<number, Exec> numbers(reinterpret_cast<number*>(p + each), n);
  const items_view<number, Exec> other_numbers(numbers.data() + n, n);
  lanewise::transform(exec, items_view<const table_operation, Exec>(todo, n), some_keys,
                      lsm_rank_of_operation<key>{});
  lanewise::transform(exec, generated(n, number_of_item{}), numbers, identity{});
  lanewise::radix_sort(exec, some_keys, numbers, sorted_keys, other_numbers,
                       {.work = options.work, .begin_bit = 0, .end_bit = 1});
  lanewise::transform(exec, other_numbers, some_keys, item_at<key>{in.keys});
  lanewise::radix_sort(exec, some_keys, other_numbers, sorted_keys, numbers,
                       {.work = options.work});
  kernels::launch_windows(exec, "Lanewise::lsm::fetch", n,
                          lsm_fetch_body<typename Map::mapped_type>{numbers.data(), todo, in.given,
                                                                    fresh.values(), fresh.dead()});
  kernels::lsm_add(exec, map, std::move(fresh), options.work);
}

/// Makes the dictionary one of these pairs alone, in one level; of several with one key the first
/// counts. A radix_sort. Errors as insert.
template <execution_space Exec, any_lsm Map, class Keys, class Values>
void build(const Exec& exec, Map& map, const Keys& keys, const Values& values,
           const lsm_options& options = {}) {
  Map fresh;
  lanewise::insert(exec, fresh, keys, values, options);
  map.used_by(exec);
  map = std::move(fresh);
}

/// Empties the dictionary and frees its memory.
template <execution_space Exec, any_lsm Map>
void clear(const Exec& exec, Map& map) {
  map.used_by(exec);
  map = Map();
}

/// Makes all levels one that has every key once, and no tombstones. No answer changes, and queries
/// are as fast as they can be: this pays after many batches, and where much was replaced or erased.
///
/// O(n) work: merges. Each element takes part in one or two, and the last merge writes what is
/// left. It does so twice, where more is left than if every tombstone hid an element. Where it has
/// room for more than a ninth more, it is copied once more. Memory for the elements 1.5 times
/// more. **Blocks.** Throws what allocations throw; the dictionary is as it was then.
template <execution_space Exec, any_lsm Map>
void cleanup(const Exec& exec, Map& map, const lsm_options& options = {}) {
  using namespace kernels;
  using run = typename Map::run;
  kernels::expects_reachable_table<Exec, Map>();
  if (map.is_clean()) return;
  map.used_by(exec);
  std::vector<run> next;
  next.push_back(kernels::lsm_live_run(exec, map, options.work));
  if (next.front().memory == nullptr) {
    next.clear();
  } else {
    kernels::lsm_index(exec, next.front());
  }
  map.take(std::move(next), true);
}

LANEWISE_END_TARGET_NAMESPACE
