// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph.hpp"
#include <lanewise/sequence/reduce.hpp>
#include <lanewise/sequence/transform.hpp>

#include <bit>

// The benchmark's rules for results, each counted over all vertices or over the list of edges as it
// was given. None looks at the graph that was built, or trusts a level that a search says.

namespace graph500 {

inline constexpr vertex none = ~vertex{0};

/// Rules of a tree that are broken, by how many vertices or edges.
struct tree_faults {
  std::int64_t root = 0;        ///< the key's parent is not the key
  std::int64_t cycles = 0;      ///< 1: going from parent to parent does not end at the key
  std::int64_t tree_steps = 0;  ///< 2: a level is not that of the parent and one more
  std::int64_t edge_steps = 0;  ///< 3: levels of an edge's ends differ by more than one
  std::int64_t left_out = 0;    ///< 4: an edge leads out of the tree
  std::int64_t invented = 0;    ///< 5: an edge of the tree is not in the list

  std::int64_t total() const {
    return root + cycles + tree_steps + edge_steps + left_out + invented;
  }
};
/// Rules of distances that are broken, by how many vertices or edges.
struct distance_faults {
  std::int64_t root = 0;      ///< the key's distance is not 0
  std::int64_t too_far = 0;   ///< an edge makes a way that is shorter
  std::int64_t no_way = 0;    ///< no edge makes a vertex's distance
  std::int64_t left_out = 0;  ///< reached by one of the searches only

  std::int64_t total() const { return root + too_far + no_way + left_out; }
};

/// Some ancestor of a vertex in the tree, and how far up it is.
struct climb {
  vertex ancestor;
  vertex steps;
};

/// A vertex's parent, or its own number at the key.
struct first_climb {
  const vertex* parents;
  vertex key, vertices;
  LANEWISE_FUNCTION climb operator()(std::int64_t v) const {
    if (v == key) return {key, 0};
    const vertex parent = parents[v];
    return {parent < vertices ? parent : none, 1};
  }
};
/// Twice as far up. The key is its own ancestor.
struct climb_on {
  const climb* climbs;
  LANEWISE_FUNCTION climb operator()(std::int64_t v) const {
    const climb mine = climbs[v];
    if (mine.ancestor == none) return mine;
    const climb next = climbs[mine.ancestor];
    return {next.ancestor, mine.steps + next.steps};
  }
};

/// What the rules look at. Vertices that have a parent are reached.
struct tree {
  const vertex* from;
  const vertex* to;
  const vertex* parents;
  const climb* climbs;  // to the key, so that steps are levels
  vertex* found;        // set where an edge of the list is that to the parent
  vertex key;

  LANEWISE_FUNCTION bool is_reached(std::int64_t v) const { return parents[v] != none; }
  LANEWISE_FUNCTION std::int64_t level(std::int64_t v) const { return climbs[v].steps; }
};
struct is_cycle : tree {
  LANEWISE_FUNCTION std::int64_t operator()(std::int64_t v) const {
    return is_reached(v) && climbs[v].ancestor != key;
  }
};
struct is_wrong_tree_step : tree {
  LANEWISE_FUNCTION std::int64_t operator()(std::int64_t v) const {
    return is_reached(v) && v != key && climbs[v].ancestor == key &&
           level(v) != level(parents[v]) + 1;
  }
};
struct is_wrong_edge_step : tree {
  LANEWISE_FUNCTION std::int64_t operator()(std::int64_t i) const {
    if (!is_reached(from[i]) || !is_reached(to[i])) return 0;
    const std::int64_t difference = level(from[i]) - level(to[i]);
    return difference < -1 || difference > 1;
  }
};
struct leads_out : tree {
  LANEWISE_FUNCTION std::int64_t operator()(std::int64_t i) const {
    return is_reached(from[i]) != is_reached(to[i]);
  }
};
struct is_searched : tree {
  LANEWISE_FUNCTION std::int64_t operator()(std::int64_t i) const { return is_reached(from[i]); }
};
struct find_tree_edge : tree {
  LANEWISE_FUNCTION void operator()(std::int64_t i, vertex a) const {
    const vertex b = to[i];
    if (parents[b] == a) Kokkos::atomic_store(found + b, vertex{1});
    if (parents[a] == b) Kokkos::atomic_store(found + a, vertex{1});
  }
};
struct is_invented : tree {
  LANEWISE_FUNCTION std::int64_t operator()(std::int64_t v) const {
    return is_reached(v) && v != key && found[v] == 0;
  }
};

struct distances_of_search {
  const vertex* from;
  const vertex* to;
  const vertex* parents;  // of the search in breadth
  const float* distances;
  vertex* found;  // set where an edge makes the vertex's distance
  vertex key;

  LANEWISE_FUNCTION bool is_reached(std::int64_t v) const {
    return distances[v] < Kokkos::Experimental::infinity_v<float>;
  }
};
struct is_too_far : distances_of_search {
  LANEWISE_FUNCTION std::int64_t operator()(std::int64_t i) const {
    const float a = distances[from[i]], b = distances[to[i]];
    const float weight = weight_of_pair(from[i], to[i]);
    return b > a + weight || a > b + weight;
  }
};
struct find_way : distances_of_search {
  LANEWISE_FUNCTION void operator()(std::int64_t i, vertex a) const {
    const vertex b = to[i];
    const float weight = weight_of_pair(a, b);
    if (a == b) return;
    if (distances[a] + weight == distances[b]) Kokkos::atomic_store(found + b, vertex{1});
    if (distances[b] + weight == distances[a]) Kokkos::atomic_store(found + a, vertex{1});
  }
};
struct has_no_way : distances_of_search {
  LANEWISE_FUNCTION std::int64_t operator()(std::int64_t v) const {
    return is_reached(v) && v != key && found[v] == 0;
  }
};
struct is_reached_once : distances_of_search {
  LANEWISE_FUNCTION std::int64_t operator()(std::int64_t v) const {
    return is_reached(v) != (parents[v] != none);
  }
};

/// Looks at the results of searches in the graph of a list of edges.
template <class Exec>
class validator {
  using memory = typename Exec::memory_space;

 public:
  template <class T>
  using results = Kokkos::View<T*, memory>;

  validator(const Exec& exec, const edges<memory>& list)
      : exec_(exec),
        list_(list),
        climbs_("climbs", list.vertices),
        others_("climbs", list.vertices),
        found_("found", list.vertices) {}

  tree_faults check(vertex key, const results<vertex>& parents) {
    climb_to_the_key(key, parents);
    const tree t = tree_of(key, parents);
    Kokkos::deep_copy(exec_, found_, vertex{0});
    lanewise::transform(exec_, list_.from, lanewise::consumed(list_.count(), find_tree_edge{t}),
                        lanewise::identity{});
    const std::int64_t n = list_.vertices, m = list_.count();
    return {.root = value_of(parents, key) != key,
            .cycles = count(n, is_cycle{t}),
            .tree_steps = count(n, is_wrong_tree_step{t}),
            .edge_steps = count(m, is_wrong_edge_step{t}),
            .left_out = count(m, leads_out{t}),
            .invented = count(n, is_invented{t})};
  }
  /// parents: those of a search in breadth from the same key, already checked.
  distance_faults check(vertex key, const results<float>& distances,
                        const results<vertex>& parents) {
    const distances_of_search d{list_.from.data(), list_.to.data(), parents.data(),
                                distances.data(),  found_.data(),   key};
    Kokkos::deep_copy(exec_, found_, vertex{0});
    lanewise::transform(exec_, list_.from, lanewise::consumed(list_.count(), find_way{d}),
                        lanewise::identity{});
    return {.root = value_of(distances, key) != 0,
            .too_far = count(list_.count(), is_too_far{d}),
            .no_way = count(list_.vertices, has_no_way{d}),
            .left_out = count(list_.vertices, is_reached_once{d})};
  }
  /// Edges of the list in the component of the key: what TEPS are counted by.
  std::int64_t edges_searched(vertex key, const results<vertex>& parents) const {
    return count(list_.count(), is_searched{tree_of(key, parents)});
  }

 private:
  template <class F>
  std::int64_t count(std::int64_t n, const F& f) const {
    return lanewise::reduce(exec_, lanewise::generated(n, f), lanewise::plus{}, std::int64_t{0});
  }
  template <class V>
  typename V::value_type value_of(const V& view, vertex v) const {
    typename V::value_type value;
    Kokkos::deep_copy(exec_, value, Kokkos::subview(view, v));
    exec_.fence();
    return value;
  }
  tree tree_of(vertex key, const results<vertex>& parents) const {
    return {list_.from.data(), list_.to.data(), parents.data(), climbs_.data(), found_.data(), key};
  }
  /// As many times as the longest path without a cycle needs.
  void climb_to_the_key(vertex key, const results<vertex>& parents) {
    const std::int64_t n = list_.vertices;
    lanewise::transform(
        exec_, lanewise::generated(n, first_climb{parents.data(), key, static_cast<vertex>(n)}),
        climbs_, lanewise::identity{});
    for (int i = std::bit_width(static_cast<std::uint64_t>(n)); i > 0; --i) {
      lanewise::transform(exec_, lanewise::generated(n, climb_on{climbs_.data()}), others_,
                          lanewise::identity{});
      std::swap(climbs_, others_);
    }
  }

  Exec exec_;
  edges<memory> list_;
  Kokkos::View<climb*, memory> climbs_, others_;
  Kokkos::View<vertex*, memory> found_;
};

}  // namespace graph500
