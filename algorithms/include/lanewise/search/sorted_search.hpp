// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/scratch_items.hpp>
#include <lanewise/merge/merge.hpp>
#include <lanewise/search/search_index.hpp>
#include <lanewise/sequence/is_sorted.hpp>
#include <lanewise/team/team.hpp>
#include <lanewise/warp/column_search.hpp>

#include <algorithm>
#include <limits>

LANEWISE_BEGIN_TARGET_NAMESPACE

/// Options of the searches in sorted arrays.
struct search_options {
  /// Memory for temporaries; without it the call allocates in the order of its instance.
  workspace_ref work = {};
  /// A rank-0 View of integers, read on the device when the call runs: the number of queries. The
  /// extents are the upper bound.
  option_view<const std::int64_t> count = {};
  /// The caller says that the queries are sorted by less. Where they are many (more than 1/16 of
  /// the keys) they are then merged with the keys, which reads every key once. If they are not
  /// sorted, results are unspecified.
  bool sorted_queries = false;
};

/// What is searched: a View, or a search_index over one.
template <class Keys>
concept searched_keys = Kokkos::is_view_v<Keys> || requires {
  typename Keys::keys_type;
};

namespace kernels {

// What is searched for: the first key that is not less (lower), or that is greater (upper), and
// what becomes of its index.

/// index + offset is stored for query i.
template <class Out>
struct store_place {
  Out out;
  std::int64_t offset;

  template <class W, class Mask, class Places, class Keys>
  LANEWISE_FUNCTION void operator()(const W& warp, const Mask& exist, std::int64_t first,
                                    const Places& place, const Keys&) const {
    if constexpr (Out::contiguous) {
      using T = std::decay_t<decltype(*out.data)>;
      warp.store(
          exist, out.data + first,
          warp.map([o = offset](auto p) LANEWISE_INLINE_LAMBDA { return static_cast<T>(p + o); },
                   place));
    } else {
      auto lane = warp.lane();
      auto places = warp.template cast<std::int64_t>(place);
      warp.each(
          exist, [&](std::uint32_t l, std::int64_t p) { out(first + l, p + offset); }, lane,
          places);
    }
  }
  LANEWISE_FUNCTION void put(std::int64_t i, std::int64_t place) const { out(i, place + offset); }
};

/// Whether the key at the index is equal to the query.
template <class Key, class Out, class Less>
struct store_contains {
  const Key* keys;
  std::int64_t n;
  Out out;
  Less less;

  template <class W, class Mask, class Places, class Keys>
  LANEWISE_FUNCTION void operator()(const W& warp, const Mask& exist, std::int64_t first,
                                    const Places& place, const Keys& query) const {
    using T = std::decay_t<decltype(*out.data)>;
    const auto found = warp.map(
        exist,
        [&](std::int64_t p, const Key& q) { return static_cast<T>(p < n && !less(q, keys[p])); },
        T{}, warp.template cast<std::int64_t>(place), query);
    warp.store(exist, out.data + first, found);
  }
  LANEWISE_FUNCTION void put(std::int64_t i, std::int64_t place, const Key& query) const {
    out(i, place < n && !less(query, keys[place]));
  }
};

/// How much scratch the staged level may have: 16,384 keys of 4 bytes, so that one level of every
/// array has between 1,024 and 16,384 keys. Two teams of 32 warps fit a multiprocessor of an H200.
inline constexpr std::int64_t staged_bytes = 66 << 10;
template <class Key, class Method>
constexpr bool can_stage(std::int64_t n) {
  return Method::room_for(n) * static_cast<std::int64_t>(sizeof(Key)) <= staged_bytes;
}

/// The place where searches begin: a level of the tree that the team has in scratch, or a short
/// array that lies there as a whole. On hosts and for few queries, it is the root in memory.
enum class search_begin { level, whole_array, root };

/// One query for every lane, and several on the way where they are all in scratch.
template <class Method, search_begin begin, bool upper, class Key, class Queries, class Put,
          class Less>
struct tree_search_kernel {
  static constexpr bool staged = begin != search_begin::root;
  // What lies in memory binds below a staged level, and half of the warps saturate it: with all of
  // them on a multiprocessor, and 32 registers, 2^24 keys were searched at 24 G/s instead of 32
  // (H100).
  struct policy : launch_policy {
    static constexpr int warps = staged ? 32 : 8;
    static constexpr int teams_per_multiprocessor =
        begin == search_begin::level ? 1 : (staged ? 2 : 4);
    static constexpr int host_teams_per_thread = 16;
  };
  template <class Team>
  struct scratch {
    detail::raw_array<Key, staged ? staged_bytes / static_cast<std::int64_t>(sizeof(Key)) : 1> top;
  };
  /// Windows of queries that a warp has on its way. The steps of a search in scratch cost as much
  /// for four queries as for one but for the loads and comparisons.
  template <class Team>
  static constexpr int windows = begin == search_begin::whole_array
                                     ? 4
                                     : (staged ? 2 : Team::windows_in_flight);

  search_tree<Key> tree;
  int top;  // the level in scratch
  Queries queries;
  item_count count;
  Put put;
  Less less;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    constexpr std::int64_t each = std::int64_t{Team::warp_type::width} * windows<Team>;
    const std::int64_t q = count();
    const std::int64_t groups = divide_up(q, each);
    if constexpr (staged) {
      const std::uint32_t n = keys_in_scratch();
      const Key* const from = begin == search_begin::level ? tree.keys_at(top) : tree.keys;
      Method::load(team, detail::scratch_array<const Key>{from, n}, n, shared.top.data());
      team.barrier();
    }
    // Threads of a host have shares of their own; warps that share a cache go on side by side.
    const std::int64_t id = std::int64_t{team.index()} * Team::warps + team.warp_index();
    const std::int64_t warps = std::int64_t{team.league()} * Team::warps;
    constexpr bool together = Team::warps > 1;
    const index_range mine = together ? index_range{id, groups} : even_share(groups, id, warps);
    for (std::int64_t g = mine.begin; g < mine.end; g += together ? warps : 1)
      search<windows<Team>>(team.warp(), shared.top.data(), g * each, q);
  }

 private:
  LANEWISE_FUNCTION std::uint32_t keys_in_scratch() const {
    return begin == search_begin::level ? tree.keys_of(top) : static_cast<std::uint32_t>(tree.n);
  }

  template <int k, class W>
  LANEWISE_FUNCTION void search(const W& warp, const Key* room, std::int64_t first,
                                std::int64_t q) const {
    using numbers = lanes_t<W, std::uint32_t>;
    lanes_t<W, Key> key[k];
    numbers node[k];
    const bool full = first + k * W::width <= q;
    LANEWISE_UNROLL
    for (int a = 0; a < k; ++a) {
      // Lanes without a query repeat the last one.
      const std::int64_t at = first + a * W::width;
      if (full) {
        key[a] = detail::load_window(warp, queries, at);
      } else {
        key[a] =
            warp.map([&](std::uint32_t l) -> Key { return queries(at + l < q ? at + l : q - 1); },
                     warp.lane());
      }
      node[a] = numbers(0u);
    }
    if constexpr (staged)
      Method::template ranks<upper, k>(warp, room, keys_in_scratch(), key, node, less);
    if constexpr (begin == search_begin::whole_array) {
      LANEWISE_UNROLL
      for (int a = 0; a < k; ++a) store(warp, full, first + a * W::width, q, node[a], key[a]);
    } else if constexpr (begin == search_begin::level) {
      const std::uint32_t last = keys_in_scratch() - 1;
      LANEWISE_UNROLL
      for (int a = 0; a < k; ++a) {
        node[a] =
            warp.map([last](std::uint32_t r) LANEWISE_INLINE_LAMBDA { return r < last ? r : last; },
                     node[a]);
        descend(warp, full, {key[a]}, {node[a]}, top - 1, first + a * W::width, q);
      }
    } else {
      descend(warp, full, key, node, tree.levels, first, q);
    }
  }
  template <int k, class W>
  LANEWISE_FUNCTION void descend(const W& warp, bool full, const lanes_t<W, Key> (&key)[k],
                                 const lanes_t<W, std::uint32_t> (&from)[k], int level,
                                 std::int64_t first, std::int64_t q) const {
    lanes_t<W, std::uint32_t> node[k];
    lanes_t<W, std::int64_t> place[k];
    LANEWISE_UNROLL
    for (int a = 0; a < k; ++a) node[a] = from[a];
    tree.template descend<upper, k>(warp, key, node, level, place, less);
    LANEWISE_UNROLL
    for (int a = 0; a < k; ++a) store(warp, full, first + a * W::width, q, place[a], key[a]);
  }
  template <class W, class Places>
  LANEWISE_FUNCTION void store(const W& warp, bool full, std::int64_t at, std::int64_t q,
                               const Places& place, const lanes_t<W, Key>& key) const {
    if (full) {
      put(warp, warp.first(W::width), at, place, key);
    } else if (at < q) {
      const std::int64_t left = q - at;
      put(warp, warp.first(left), at, place, key);
    }
  }
};

/// One query for every lane, which halves the array in memory: for few queries.
template <bool upper, class Key, class Queries, class Put, class Less>
struct halving_search_kernel {
  struct policy : launch_policy {
    static constexpr int host_teams_per_thread = 16;
  };
  template <class Team>
  struct scratch {};

  const Key* keys;
  std::int64_t n;
  Queries queries;
  item_count count;
  Put put;
  Less less;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    constexpr std::int64_t width = Team::warp_type::width;
    const auto warp = team.warp();
    const std::int64_t q = count();
    const auto [first, last] = team.share(divide_up(q, width));
    for (std::int64_t w = first + team.warp_index(); w < last; w += Team::warps) {
      const std::int64_t at = w * width, left = q - at;
      const auto exist = warp.first(left);
      const auto key = warp.map(
          exist, [&](std::uint32_t l) -> Key { return queries(at + l); }, Key{}, warp.lane());
      put(warp, exist, at, detail::bound_by_lanes<upper>(warp, exist, keys, n, key, less), key);
    }
  }
};

/// What a merge of keys and sorted queries calls for each item: the index of a query's key is what
/// is before the query and is not a query. Of equal ones, queries come first where the first
/// key that is not less is wanted.
template <bool upper, class Put>
struct merged_queries {
  static constexpr int queries = upper ? 1 : 0;
  Put out;

  template <class T>
  LANEWISE_FUNCTION void operator()(std::int64_t i, [[maybe_unused]] const T& x,
                                    const merge_origin& from) const {
    if (from.sequence != queries) return;
    if constexpr (requires { out.put(i, i, x); }) {
      out.put(from.index, i - from.index, x);
    } else {
      out.put(from.index, i - from.index);
    }
  }
};

/// How a call searches.
enum class search_way { tree, samples_first, halving, merging };

template <class Key, class Exec>
search_way way_to_search(std::int64_t n, std::int64_t queries, bool has_samples, bool sorted) {
  if (sorted && queries >= n / 16) return search_way::merging;
  if (has_samples) return search_way::tree;
  if (!team_t<Exec>::is_single_thread && kernels::can_stage<Key, column_search<>>(n))
    return search_way::tree;
  // Sampling reads the array once, which costs what 1/64 to 1/40 of the searches do (H100).
  return queries >= n / 32 ? search_way::samples_first : search_way::halving;
}

template <class Key, class Exec>
workspace_size search_workspace(std::int64_t n, std::int64_t queries, bool has_samples,
                                bool sorted) {
  switch (kernels::way_to_search<Key, Exec>(n, queries, has_samples, sorted)) {
    case search_way::merging:
      return {0, kernels::merge_cut_bytes<Key, Exec>(n + queries)};
    case search_way::samples_first:
      // As many for every address that the array may have.
      return {0,
              static_cast<std::size_t>(
                  search_tree<Key>::over(nullptr, n + search_tree<Key>::node_keys).sample_keys()) *
                  sizeof(Key)};
    default:
      return {};
  }
}

/// The searches of a tree or of a short array, whose samples are there.
template <class Method, bool upper, class Exec, class Key, class Queries, class Put, class Less>
void search_by_tree(const Exec& exec, const char* label, const search_tree<Key>& tree,
                    const Queries& queries, item_count count, const Put& put, const Less& less) {
  using backend = backend_of<Exec>;
  const auto start = [&](const auto& kernel) {
    using kernel_type = std::decay_t<decltype(kernel)>;
    using team = team_t<Exec, typename kernel_type::policy>;
    constexpr std::int64_t each =
        std::int64_t{team::warp_type::width} * kernel_type::template windows<team> * team::warps;
    lanewise::launch(
        exec, label,
        backend::template resident_league<kernel_type>(exec, divide_up(count.bound, each)), kernel);
  };
  using begin = search_begin;
  if constexpr (!team_t<Exec>::is_single_thread) {
    // Fewer queries do not pay for the level in scratch.
    constexpr std::int64_t few = 1 << 16;
    if (kernels::can_stage<Key, Method>(tree.n))
      return start(tree_search_kernel<Method, begin::whole_array, upper, Key, Queries, Put, Less>{
          tree, 0, queries, count, put, less});
    int top = 1;
    while (top <= tree.levels && !kernels::can_stage<Key, Method>(tree.keys_of(top))) ++top;
    if (top <= tree.levels && count.bound >= few)
      return start(tree_search_kernel<Method, begin::level, upper, Key, Queries, Put, Less>{
          tree, top, queries, count, put, less});
  }
  start(tree_search_kernel<Method, begin::root, upper, Key, Queries, Put, Less>{tree, 0, queries,
                                                                                count, put, less});
}

template <bool upper, class Exec, class Key, class Queries, class Put, class Less>
void search(const Exec& exec, const char* label, const char* algorithm, search_tree<Key> tree,
            const Queries& queries, const Put& put, const Less& less,
            const search_options& options) {
  options.count.template expects_reachable<Exec>(algorithm, "options.count");
  const item_count count{queries.extent, options.count.data()};
  if (count.bound == 0) return;
  const bool sampled = tree.samples != nullptr || tree.levels == 0;
  const search_way way = kernels::way_to_search<Key, Exec>(
      tree.n, count.bound, tree.samples != nullptr, options.sorted_queries);
  auto work = call_workspace::make<backend_of<Exec>>(
      exec, options.work,
      kernels::search_workspace<Key, Exec>(tree.n, count.bound, tree.samples != nullptr,
                                           options.sorted_queries),
      algorithm);
  void* const memory = work.get().plain();
  if (way == search_way::merging) {
    using keys_source = array_source<Key, identity>;
    const keys_source keys{tree.keys, tree.n, {}};
    const merged_queries<upper, Put> sink{put};
    const item_count n{tree.n};
    if constexpr (upper) {
      kernels::merge(exec, label, keys, queries, sink, n, count, memory, less);
    } else {
      kernels::merge(exec, label, queries, keys, sink, count, n, memory, less);
    }
  } else if (way == search_way::halving && !sampled) {
    using kernel = halving_search_kernel<upper, Key, Queries, Put, Less>;
    lanewise::launch(exec, label,
                     backend_of<Exec>::template resident_league<kernel>(
                         exec, lanewise::divide_up(
                                   count.bound, 32 * team_t<Exec, typename kernel::policy>::warps)),
                     kernel{tree.keys, tree.n, queries, count, put, less});
  } else {
    if (way == search_way::samples_first)
      kernels::sample_keys(exec, tree, static_cast<Key*>(memory));
    kernels::search_by_tree<column_search<>, upper>(exec, label, tree, queries, count, put, less);
  }
}

/// The array that is searched, by itself or with its index, as a tree.
template <class Exec, class Key, class Memory>
search_tree<Key> searched(const search_index<Key, Memory>& index, const char*) {
  static_assert(Kokkos::SpaceAccessibility<typename Exec::memory_space, Memory>::accessible,
                "lanewise: this execution space cannot reach the memory of a search_index");
  return index.view();
}
template <class Exec, class V>
requires(Kokkos::is_view_v<V>) auto searched(const V& keys, const char* algorithm) {
  using tree = search_tree<typename V::non_const_value_type>;
  const auto source = detail::as_source<Exec>(keys);
  detail::expects_memory(source, algorithm, "keys");
  detail::expects(source.extent <= most_searched_keys, algorithm, ": keys has ", source.extent,
                  " items, more than ", most_searched_keys);
  return tree::over(keys.data(), source.extent);
}

/// Queries as keys.
template <class Exec, class Key, class Queries>
auto queries_of(const Queries& queries, std::int64_t places, const char* algorithm) {
  const auto source = detail::as<Key>(detail::as_source<Exec>(queries));
  detail::expects_memory(source, algorithm, "queries");
  detail::expects(places >= source.extent, algorithm, ": out has ", places, " places, queries has ",
                  source.extent, " items");
  return source;
}

/// Stores index + offset of every query's key.
template <bool upper, class Exec, class Keys, class Queries, class Out, class Less>
void search_places(const Exec& exec, const char* label, const char* algorithm, const Keys& keys,
                   const Queries& queries, const Out& out, std::int64_t offset, const Less& less,
                   const search_options& options) {
  const auto tree = kernels::searched<Exec>(keys, algorithm);
  using key = typename std::decay_t<decltype(tree)>::key_type;
  const auto sink = detail::as_sink<Exec>(out);
  using sink_type = std::decay_t<decltype(sink)>;
  detail::expects_memory(sink, algorithm, "out");
  const auto source = kernels::queries_of<Exec, key>(queries, sink.extent, algorithm);
  if constexpr (detail::check_less<Exec, Less, key>() &&
                detail::check_results<Exec, std::int64_t, sink_type>()) {
    if constexpr (sink_type::contiguous) {
      using index = typename sink_type::raw_type;
      static_assert(std::is_integral_v<index> && sizeof(index) >= 4,
                    "lanewise: indices are stored as integers of 4 or 8 bytes");
      constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<index>::max());
      detail::expects(static_cast<std::uint64_t>(tree.n) <= most, algorithm, ": keys has ", tree.n,
                      " items, and the items of out hold numbers up to ", most);
      detail::expects_no_partial_overlap(source, sink, algorithm, "queries", "out", false);
    }
    kernels::search<upper>(exec, label, algorithm, tree, source,
                           store_place<sink_type>{sink, offset}, less, options);
  }
}

}  // namespace kernels

/// The workspace that a search of `queries` queries among n keys needs at most, without an index.
template <class Key, class Exec>
workspace_size sorted_search_workspace(std::int64_t n, std::int64_t queries) {
  return lanewise::max(kernels::search_workspace<Key, Exec>(n, queries, false, false),
                       kernels::search_workspace<Key, Exec>(n, queries, false, true));
}

// Searches of many queries in a sorted array at once (batched predecessor search: Karsin, Casanova
// and Sitchinava; their S1 to S8, S17).
//
// keys is a contiguous rank-1 View sorted by less, or a search_index over one. queries is a View or
// a source, whose items convert to keys, in any order. out, a View of integers of 4 or 8 bytes or a
// sink, has a place for every query and overlaps nothing. less is a pure strict weak order.
//
// With an index, a query reads one node of 64 bytes of every level that does not fit the team's
// scratch: 3 for 2^24 keys of 4 bytes, 4 for 2^28. It does so without an index, too, if queries are
// more than 1/32 of the keys; the levels are then sampled first, in the workspace. Arrays of up to
// 66 KiB are searched in scratch altogether. Few queries halve the array where it is. Many sorted
// queries (options.sorted_queries) are merged with the keys: both are read once. O(q log n) work,
// or O(q + n) for sorted ones; one launch, with sampling or beyond 600 tiles of a merge two.
// Results are the same on every backend.
//
// If keys are not sorted (is_sorted_until names the first descent), indices are unspecified, in [0,
// n], and nothing outside is touched. The same holds if queries are not sorted but are said to be.
// A NaN is less than nothing and nothing is less than it: lower_bound gives 0, upper_bound n. Does
// not block. Throws std::invalid_argument on wrong extents, n beyond 2^34 or what the items of out
// hold, overlap, or an option that cannot be reached.

/// out(i) becomes the index of the first key that is not less than queries(i), or n.
template <execution_space Exec, searched_keys Keys, class Queries, class Out, class Less = less>
void lower_bound(const Exec& exec, const Keys& keys, const Queries& queries, const Out& out,
                 const Less& less = {}, const search_options& options = {}) {
  kernels::search_places<false>(exec, "Lanewise::lower_bound", "lower_bound", keys, queries, out, 0,
                                less, options);
}

/// out(i) becomes the index of the first key that is greater than queries(i), or n.
template <execution_space Exec, searched_keys Keys, class Queries, class Out, class Less = less>
void upper_bound(const Exec& exec, const Keys& keys, const Queries& queries, const Out& out,
                 const Less& less = {}, const search_options& options = {}) {
  kernels::search_places<true>(exec, "Lanewise::upper_bound", "upper_bound", keys, queries, out, 0,
                               less, options);
}

/// out(i) becomes the index of the first key >= queries(i), or n: lower_bound by another name.
template <execution_space Exec, searched_keys Keys, class Queries, class Out, class Less = less>
void successor(const Exec& exec, const Keys& keys, const Queries& queries, const Out& out,
               const Less& less = {}, const search_options& options = {}) {
  kernels::search_places<false>(exec, "Lanewise::successor", "successor", keys, queries, out, 0,
                                less, options);
}

/// out(i) becomes the index of the first key > queries(i), or n: upper_bound by another name.
template <execution_space Exec, searched_keys Keys, class Queries, class Out, class Less = less>
void strict_successor(const Exec& exec, const Keys& keys, const Queries& queries, const Out& out,
                      const Less& less = {}, const search_options& options = {}) {
  kernels::search_places<true>(exec, "Lanewise::strict_successor", "strict_successor", keys,
                               queries, out, 0, less, options);
}

/// out(i) becomes the index of the last key <= queries(i), or -1 (of unsigned indices the
/// greatest).
template <execution_space Exec, searched_keys Keys, class Queries, class Out, class Less = less>
void predecessor(const Exec& exec, const Keys& keys, const Queries& queries, const Out& out,
                 const Less& less = {}, const search_options& options = {}) {
  kernels::search_places<true>(exec, "Lanewise::predecessor", "predecessor", keys, queries, out, -1,
                               less, options);
}

/// out(i) becomes the index of the last key < queries(i), or -1 (of unsigned indices the greatest).
template <execution_space Exec, searched_keys Keys, class Queries, class Out, class Less = less>
void strict_predecessor(const Exec& exec, const Keys& keys, const Queries& queries, const Out& out,
                        const Less& less = {}, const search_options& options = {}) {
  kernels::search_places<false>(exec, "Lanewise::strict_predecessor", "strict_predecessor", keys,
                                queries, out, -1, less, options);
}

/// first(i) and last(i) become what lower_bound and upper_bound store: keys [first(i), last(i)) are
/// equal to queries(i). Two searches.
template <execution_space Exec, searched_keys Keys, class Queries, class First, class Last,
          class Less = less>
void equal_range(const Exec& exec, const Keys& keys, const Queries& queries, const First& first,
                 const Last& last, const Less& less = {}, const search_options& options = {}) {
  kernels::search_places<false>(exec, "Lanewise::equal_range::first", "equal_range", keys, queries,
                                first, 0, less, options);
  kernels::search_places<true>(exec, "Lanewise::equal_range::last", "equal_range", keys, queries,
                               last, 0, less, options);
}

/// out(i) becomes whether a key is equal to queries(i): 1 or 0. out is a View of bool or integers.
template <execution_space Exec, searched_keys Keys, class Queries, class Out, class Less = less>
void contains(const Exec& exec, const Keys& keys, const Queries& queries, const Out& out,
              const Less& less = {}, const search_options& options = {}) {
  static_assert(Kokkos::is_view_v<Out> && std::is_integral_v<typename Out::value_type>,
                "lanewise: contains stores bool or integers in a View");
  const auto tree = kernels::searched<Exec>(keys, "contains");
  using key = typename std::decay_t<decltype(tree)>::key_type;
  const auto sink = detail::as_sink<Exec>(out);
  detail::expects_memory(sink, "contains", "out");
  const auto source = kernels::queries_of<Exec, key>(queries, sink.extent, "contains");
  detail::expects_no_partial_overlap(source, sink, "contains", "queries", "out", false);
  if constexpr (detail::check_less<Exec, Less, key>()) {
    using put = kernels::store_contains<key, std::decay_t<decltype(sink)>, Less>;
    kernels::search<false>(exec, "Lanewise::contains", "contains", tree, source,
                           put{tree.keys, tree.n, sink, less}, less, options);
  }
}

/// Throws std::invalid_argument where keys is not sorted by less, which names the first key that is
/// less than the one before it. For programs that check what they are given: the searches do not.
/// Reads every key once. **Blocks.**
template <execution_space Exec, class Keys, class Less = less>
void expects_sorted(const Exec& exec, const Keys& keys, const Less& less = {}) {
  const auto n = static_cast<std::int64_t>(keys.extent(0));
  const std::int64_t until = lanewise::is_sorted_until(exec, keys, less);
  detail::expects(until == n, "expects_sorted: keys is not sorted: item ", until,
                  " is less than the item before it");
}

/// lower_bound of an array that fits a team's scratch as a whole, by a method of one's choice:
/// column_search<1> is the paper's PBS, column_search<32> its PBS-CL, and column_search<32,
/// window_search::linear> its PBS-CF. Throws std::invalid_argument where the keys do not fit 66
/// KiB.
template <class Method, execution_space Exec, class Keys, class Queries, class Out,
          class Less = less>
void lower_bound_in_scratch(const Exec& exec, const Method&, const Keys& keys,
                            const Queries& queries, const Out& out, const Less& less = {}) {
  constexpr const char* name = "lower_bound_in_scratch";
  const auto tree = kernels::searched<Exec>(keys, name);
  using key = typename std::decay_t<decltype(tree)>::key_type;
  const auto sink = detail::as_sink<Exec>(out);
  const auto source = kernels::queries_of<Exec, key>(queries, sink.extent, name);
  const bool fits = kernels::can_stage<key, Method>(tree.n);
  detail::expects(fits, name, ": keys has ", tree.n, " items, which take ",
                  Method::room_for(tree.n) * static_cast<std::int64_t>(sizeof(key)),
                  " bytes of scratch, more than ", kernels::staged_bytes);
  using put = kernels::store_place<std::decay_t<decltype(sink)>>;
  using kernel = kernels::tree_search_kernel<Method, kernels::search_begin::whole_array, false, key,
                                             std::decay_t<decltype(source)>, put, Less>;
  using team = team_t<Exec, typename kernel::policy>;
  constexpr std::int64_t each =
      std::int64_t{team::warp_type::width} * kernel::template windows<team> * team::warps;
  lanewise::launch(exec, "Lanewise::lower_bound_in_scratch",
                   backend_of<Exec>::template resident_league<kernel>(
                       exec, lanewise::divide_up(source.extent, each)),
                   kernel{tree, 0, source, {source.extent}, put{sink, 0}, less});
}

LANEWISE_END_TARGET_NAMESPACE
