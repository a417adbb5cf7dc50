// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/operators.hpp>
#include <lanewise/warp/warp.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

// Disjoint sets of vertices as trees, by warps that do not wait for each other: labels[v] is a
// vertex of v's set that is less than v, or v itself where v is a root. A root is the least vertex
// of its tree, as it is hung under a lesser vertex and never let go. So whichever way sets are
// united, the roots are the same in the end.

/// The sets of the active lanes' vertices x and y become one, pair by pair. Returns how many sets
/// are no longer ones of their own.
///
/// The greater of two vertices climbs. At a root a compare-and-exchange links the root to the other
/// vertex, root or not. Climbing halves paths for later lanes, as trees get high. (H200, a lattice
/// of 2^24 vertices with 65 % of its edges: all of the search takes 1.5 ms, without halving 9.9.)
template <class W, class Vertex, class Mask, class Lanes>
LANEWISE_KERNEL_FUNCTION int unite(const W& warp, Vertex* labels, const Mask& mask, const Lanes& x,
                                   const Lanes& y) {
  Lanes a = x, b = y;
  int united = 0;
  Mask open = mask & (a != b);
  while (warp.any(open)) {
    const auto is_less = a < b;
    const Lanes high = lanewise::select(is_less, b, a);
    b = lanewise::select(is_less, a, b);
    const Lanes up = warp.load_relaxed(open, labels, high, Vertex{0});
    const Mask at_root = open & (up == high);
    const Mask climbs = open & (up != high) & (up != b);
    a = lanewise::select(climbs, warp.load_relaxed(climbs, labels, up, Vertex{0}), up);
    const Mask is_far = climbs & (a != up);
    if (warp.any(is_far)) warp.fetch_min(is_far, labels, high, a);
    if (warp.any(at_root)) {
      const Lanes before = warp.compare_exchange(at_root, labels, high, high, b);
      const Mask hung = at_root & (before == high);
      united += warp.count(hung);
      open = open & !hung;
      a = lanewise::select(at_root, before, a);
    }
    open = open & (a != b);
  }
  return united;
}

/// The sets of two vertices become one, by a thread of a host. Returns whether they were two.
template <class W, class Vertex>
LANEWISE_KERNEL_FUNCTION bool unite_two(const W& warp, Vertex* labels, Vertex a, Vertex b) {
  while (a != b) {
    const Vertex high = a < b ? b : a;
    b = a < b ? a : b;
    const Vertex up = warp.template load<order::relaxed, scope::device>(labels[high]);
    if (up == b) return false;
    if (up == high) {
      a = warp.compare_exchange(labels[high], high, b);
      if (a == high) return true;
    } else {
      a = warp.template load<order::relaxed, scope::device>(labels[up]);
      // A store of less is overwritten. That is right, too, as no vertex leaves its set.
      if (a != up) warp.template store<order::relaxed, scope::device>(labels[high], a);
    }
  }
  return false;
}
/// unite for hosts, pair by pair: lanes that change the same tree would wait for each other. x are
/// labels. Where labels are equal already, as those of most edges are, nothing is to be done.
template <class W, class Vertex, class Mask, class Lanes>
LANEWISE_KERNEL_FUNCTION int unite_by_thread(const W& warp, Vertex* labels, const Mask& mask,
                                             const Lanes& x, const Lanes& y) {
  const Lanes label = warp.load_relaxed(mask, labels, y, Vertex{0});
  int united = 0;
  for (auto todo = warp.ballot(mask & (label != x)); todo != 0; todo &= todo - 1) {
    const int l = W::lowest(todo);
    united += detail::unite_two(warp, labels, warp.broadcast(x, l), warp.broadcast(label, l));
  }
  return united;
}

/// The roots of the active lanes' vertices, while no sets are united.
template <class W, class Vertex, class Mask, class Lanes>
LANEWISE_KERNEL_FUNCTION Lanes roots_of(const W& warp, const Vertex* labels, const Mask& mask,
                                        Lanes x) {
  for (Mask open = mask; warp.any(open);) {
    const Lanes up = warp.load_relaxed(open, labels, x, Vertex{0});
    open = open & (up != x);
    x = lanewise::select(open, up, x);
  }
  return x;
}

/// The active lanes' labels, at labels[0], labels[1], ..., become roots, while no sets are united.
/// Each step serves later lanes.
template <class W, class Vertex, class Mask>
LANEWISE_KERNEL_FUNCTION void compress(const W& warp, Vertex* labels, Vertex first,
                                       const Mask& mask) {
  using vertices = lanes_t<W, Vertex>;
  const vertices me = warp.template cast<Vertex>(warp.lane()) + vertices(first);
  vertices label = warp.load_relaxed(mask, labels, me, Vertex{0});
  for (Mask open = mask & (label != me); warp.any(open);) {
    const vertices up = warp.load_relaxed(open, labels, label, Vertex{0});
    open = open & (up != label);
    label = lanewise::select(open, up, label);
    warp.store_relaxed(open, labels + first, label);
  }
}

}  // namespace detail
LANEWISE_END_NAMESPACE
