// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/call/workspace_layout.hpp>
#include <lanewise/common/detail/table_call.hpp>
#include <lanewise/lsm/detail/lsm_runs.hpp>
#include <lanewise/merge/merge.hpp>
#include <lanewise/merge/set_operations.hpp>
#include <lanewise/sequence/transform.hpp>
#include <lanewise/sort/radix_sort.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// What goes the way of a key.
template <class Value>
struct lsm_payload {
  Value value;
  bool is_dead;
};

/// The sink for elements of a merge of two levels, a being the newer one.
template <class Key, class Value, class Solo>
struct lsm_merged {
  detail::lsm_level<Key, Value> a, b;
  Key* keys;
  Value* values;        // null where all are tombstones
  std::uint32_t* dead;  // null where none is, or all are

  LANEWISE_FUNCTION lsm_payload<Value> load(const merge_origin& from) const {
    const bool is_older = from.sequence != 0;
    const Value* const from_values = either(is_older, a.values, b.values);
    const std::uint32_t* const words = either(is_older, a.dead, b.dead);
    const bool is_dead = words != nullptr ? (words[from.index / 32] >> (from.index % 32) & 1u) != 0
                                          : from_values == nullptr;
    return {is_dead ? Value{} : from_values[from.index], is_dead};
  }
  LANEWISE_FUNCTION void store(std::int64_t i, const Key& key,
                               const lsm_payload<Value>& payload) const {
    keys[i] = key;
    if (values != nullptr) values[i] = payload.value;
    if (payload.is_dead && dead != nullptr)
      Solo().template fetch_or<order::relaxed>(dead[i / 32], std::uint32_t{1} << (i % 32));
  }

 private:
  /// Computed: a choice becomes a branch on hosts, which is foretold wrongly for every other
  /// element.
  template <class T>
  static LANEWISE_FUNCTION const T* either(bool is_second, const T* first, const T* second) {
    const auto p = reinterpret_cast<std::uintptr_t>(first);
    const auto q = reinterpret_cast<std::uintptr_t>(second);
    return reinterpret_cast<const T*>(p ^ ((p ^ q) & (std::uintptr_t{0} - is_second)));
  }
};

/// What a run of all elements of some levels needs.
template <class Key, class Value>
struct lsm_room {
  std::int64_t n = 0;
  bool has_values = false, has_tombstones = false;

  void add(const detail::lsm_level<Key, Value>& level) {
    n += level.size();
    has_values = has_values || level.values != nullptr;
    has_tombstones = has_tombstones || level.has_tombstones();
  }
  std::size_t bytes() const {
    return detail::lsm_layout<Key, Value>(n, has_values, has_dead()).bytes;
  }
  /// A run in memory of as many bytes.
  template <class Exec>
  detail::lsm_run<Key, Value> make(const Exec& exec,
                                   std::shared_ptr<detail::lsm_block> memory) const {
    return detail::lsm_run<Key, Value>::template make<backend_of<Exec>>(
        exec, n, has_values, has_dead(), std::move(memory));
  }

 private:
  bool has_dead() const { return has_values && has_tombstones; }
};

/// Merges two levels into a run with room for both; of equal keys those of a come first. One
/// launch, or two beyond 600 tiles: every element is read and written once.
template <class Exec, class Key, class Value>
void lsm_merge(const Exec& exec, const detail::lsm_level<Key, Value>& a,
               const detail::lsm_level<Key, Value>& b, const detail::lsm_run<Key, Value>& to,
               workspace_ref given) {
  using backend = backend_of<Exec>;
  using solo = typename warp_t<Exec>::template part<1>;
  auto work = call_workspace::make<backend>(
      exec, given, lanewise::merge_workspace<Key, Exec>(a.size() + b.size()), "lsm_merge");
  kernels::merge(exec, "Lanewise::lsm::merge", array_source<Key, identity>{a.keys(), a.size(), {}},
                 array_source<Key, identity>{b.keys(), b.size(), {}},
                 lsm_merged<Key, Value, solo>{a, b, to.keys(), to.values(), to.dead()},
                 item_count{a.size()}, item_count{b.size()}, work.get().plain(), less{});
}

/// The keys of two levels, one after the other.
template <class Key>
struct lsm_keys_of_both {
  const Key *a, *b;
  std::int64_t of_a;
  LANEWISE_FUNCTION Key operator()(std::int64_t i) const { return i < of_a ? a[i] : b[i - of_a]; }
};
/// Fetches what goes with a key that was number `from` of two levels.
template <class Merged>
struct lsm_fetch_payload {
  Merged to;
  std::int64_t of_a;
  LANEWISE_FUNCTION void operator()(std::int64_t i, std::uint32_t from) const {
    const bool is_b = from >= of_a;
    const merge_origin origin{is_b ? from - of_a : std::int64_t{from}, is_b ? 1 : 0};
    to.store(i, to.keys[i], to.load(origin));
  }
};

/// As lsm_merge, by a stable radix_sort of all keys with their numbers. Throws where there are more
/// than 2^32 - 1.
template <class Exec, class Key, class Value>
void lsm_sort_again(const Exec& exec, const detail::lsm_level<Key, Value>& a,
                    const detail::lsm_level<Key, Value>& b, const detail::lsm_run<Key, Value>& to,
                    workspace_ref given) {
  using backend = backend_of<Exec>;
  using merged = lsm_merged<Key, Value, typename warp_t<Exec>::template part<1>>;
  using number = std::uint32_t;
  const std::int64_t n = a.size() + b.size();
  detail::expects(n <= std::numeric_limits<number>::max(), "lsm: ", n,
                  " elements are sorted again, the most is 2^32 - 1");
  workspace_layout parts;
  const auto order_array = parts.add<number>(n);
  auto work = call_workspace::make<backend>(exec, nullptr, parts.size(), "lsm_sort_again");
  const auto order = order_array.template view<Exec>(work.get());
  const items_view<Key, Exec> keys(to.keys(), n);
  lanewise::radix_sort(exec,
                       lanewise::generated(n, lsm_keys_of_both<Key>{a.keys(), b.keys(), a.size()}),
                       generated(n, number_of_item{}), keys, order, {.work = given});
  lanewise::transform(
      exec, order,
      lanewise::consumed(
          n, lsm_fetch_payload<merged>{{a, b, to.keys(), to.values(), to.dead()}, a.size()}),
      identity{});
}

/// What counts of a tile of the merge of two levels: of equal keys the first, unless it is a
/// tombstone. Teams bring the words of tombstones that belong to a piece to scratch.
template <class Key, class Value>
struct lsm_kept_live {
  static constexpr bool asks_where = true;
  static constexpr bool keeps_first = true;
  template <class Team>
  struct scratch {
    static constexpr std::int64_t items = merge_tile_t<Team, Key, set_operation_policy<Key>>::items;
    static constexpr int words = static_cast<int>(items / 32) + 2;
    std::uint32_t dead[2][words];
  };

  detail::lsm_level<Key, Value> a, b;

  template <class Team, class Tile, class First, class Second, class Less>
  LANEWISE_FUNCTION std::uint32_t operator()(const Team& team, scratch<Team>& near, Tile& tile,
                                             const First& first, const Second& second,
                                             const merge_piece& piece, const Less& less) const {
    const std::int64_t begin_a = piece.begin.from_a / 32, begin_b = piece.begin.from_b / 32;
    fetch(team, a, begin_a, piece.end.from_a, near.dead[0]);
    fetch(team, b, begin_b, piece.end.from_b, near.dead[1]);
    const auto is_live = [&](std::int64_t i, bool is_b) LANEWISE_INLINE_LAMBDA {
      const int word = static_cast<int>(i / 32 - (is_b ? begin_b : begin_a));
      return (near.dead[is_b ? 1 : 0][word] >> (i % 32) & 1u) == 0;
    };
    return tile.mark_firsts(first, second, is_live, less);
  }

 private:
  /// The words of elements from 32 `begin` up to `end`.
  template <class Team>
  static LANEWISE_FUNCTION void fetch(const Team& team, const detail::lsm_level<Key, Value>& level,
                                      std::int64_t begin, std::int64_t end, std::uint32_t* to) {
    constexpr int width = Team::warp_type::width;
    const auto warp = team.warp();
    const int n = static_cast<int>(divide_up(end, 32) - begin);
    const std::uint32_t without = level.values == nullptr ? ~std::uint32_t{0} : 0;
    lanes_t<typename Team::warp_type, std::uint32_t> word(without);
    for (int w = team.warp_index() * width; w < n; w += Team::warps * width) {
      const auto here = warp.first(n - w);
      if (level.dead != nullptr) word = warp.load(here, level.dead + begin + w, without);
      warp.store(here, to + w, word);
    }
  }
};

/// The sink for the live elements.
template <class Key, class Value>
struct lsm_live {
  const Value *a, *b;
  Key* keys;
  Value* values;

  LANEWISE_FUNCTION Value load(const merge_origin& from) const {
    return (from.sequence == 0 ? a : b)[from.index];
  }
  LANEWISE_FUNCTION void store(std::int64_t i, const Key& key, const Value& value) const {
    keys[i] = key;
    values[i] = value;
  }
};

/// Writes what counts of two levels, a being the newer one, to arrays of `room` items, and returns
/// how many elements that are. One launch, or two beyond 600 tiles: every element is read once, and
/// written once if it stays. **Blocks.**
template <class Exec, class Key, class Value>
std::int64_t lsm_merge_live(const Exec& exec, const detail::lsm_level<Key, Value>& a,
                            const detail::lsm_level<Key, Value>& b, Key* keys, Value* values,
                            std::int64_t room, workspace_ref given) {
  using source = array_source<Key, identity>;
  return kernels::blocking_result<std::int64_t>(exec, [&](const auto& live) {
    kernels::launch_set_kernel<false>(
        exec, "Lanewise::lsm::merge_live", "lsm_merge_live", lsm_kept_live<Key, Value>{a, b},
        source{a.keys(), a.size(), {}}, source{b.keys(), b.size(), {}},
        lsm_live<Key, Value>{a.values, b.values, keys, values}, room, item_count{a.size()},
        item_count{b.size()}, detail::integers(live.data()), less{}, given);
  });
}

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
