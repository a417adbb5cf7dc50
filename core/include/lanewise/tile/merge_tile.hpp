// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/tile/register/merge.hpp>
#include <lanewise/tile/stream/merge.hpp>
#include <lanewise/tile/stream/tile.hpp>

#include <cstdint>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE

// A merge tile: a team merges a piece of two sorted sequences (merge path: Odeh, Green, Mwassi,
// Shmueli and Birk, 2012). Two mappings of one contract:
//
// - a team of several warps brings both parts to scratch, and finds by merge path where every lane
//   begins. Every lane merges items_per_lane neighbouring items. What a lane notes is where an item
//   lies, so that items of any size move twice. Windows of neighbouring lanes hand over
//   neighbouring places;
// - a host's thread merges the sequences where they are.

/// The place that an item of a merge had.
struct merge_origin {
  std::int64_t index;  ///< in its sequence
  int sequence;        ///< 0: a, 1: b
};

/// `items`, the most that a piece has, and the `scratch` that its merge needs of the team's:
/// items_per_lane places for every lane, and two bytes for each beside it; nothing on hosts.
/// An odd items_per_lane spreads the lanes over the banks of scratch.
template <class Team, class T, class Policy>
using merge_tile_t =
    std::conditional_t<Team::is_single_thread,
                       detail::host_merge_tile<T, detail::host_tile_items<T, Policy>>,
                       detail::device_merge_tile<Team, T, Policy::items_per_lane>>;

namespace detail {

/// What a merge calls with item x, number i of the result, which was item `index` of a or b. Sinks
/// with load(from) and store(i, x, value) get values in two steps, so that loads of several are in
/// flight at once.
template <class T, class Sink>
struct merge_put {
  static constexpr bool in_two_steps = requires(const Sink& s, merge_origin from) { s.load(from); };
  static constexpr bool ordered =
      in_two_steps || std::is_invocable_v<const Sink&, std::int64_t, const T&, merge_origin>;
  const Sink& sink;

  LANEWISE_FUNCTION void operator()(std::int64_t i, const T& x, [[maybe_unused]] std::int64_t index,
                                    [[maybe_unused]] bool is_b) const {
    if constexpr (in_two_steps) {
      sink.store(i, x, load(index, is_b));
    } else if constexpr (ordered) {
      sink(i, x, merge_origin{index, static_cast<int>(is_b)});
    } else {
      sink(i, x);
    }
  }
  LANEWISE_FUNCTION auto load(std::int64_t index, bool is_b) const requires in_two_steps {
    return sink.load(merge_origin{index, static_cast<int>(is_b)});
  }
  template <class V>
  LANEWISE_FUNCTION void store(std::int64_t i, const T& x, const V& value) const {
    sink.store(i, x, value);
  }
  /// The array that items go to, if nothing else is done with them.
  LANEWISE_FUNCTION T* array() const requires requires(const Sink& s) {
    requires std::is_same_v<decltype(s.array()), T*>;
  }
  { return sink.array(); }
};

}  // namespace detail

/// Hands the items of a piece of the stable merge of a and b (equal items of a first) to a sink:
///
///   sink(i, x)          item x is number i of the merge, counted from its beginning.
///   sink(i, x, from)    also says by `from`, a merge_origin, where the item was. So values of any
///                       type can follow: values[from.sequence][from.index] for an array of two
///                       pointers, which compilers make no branch of.
///
/// The sink is called once for every i, in no particular order; neighbouring lanes call it for
/// neighbouring i. All warps of the team call merge_tile, with the same piece of at most
/// merge_tile_t::items items; the scratch is free again when it returns. a(i) and b(i) are called
/// by any lane, for indices in the piece only: once per item on devices, any number of times on
/// hosts. less is a strict weak order, and is called for items in the piece only. If a and b are
/// arrays, devices read packs of up to 16 bytes, and so items of the arrays beside the piece. If a
/// sink has array(), a T*, its items go to array()[i] on devices, in place of sink(i, x).
///
/// O(piece) work; every item is read once from global memory. On devices three barriers, and
/// log2(piece) + items_per_lane gathers of scratch for every lane.
template <class T, class Policy, class Team, class A, class B, class Sink, class Less = less>
LANEWISE_FUNCTION void merge_tile(const Team& team,
                                  typename merge_tile_t<Team, T, Policy>::scratch& shared,
                                  const A& a, const B& b, const merge_piece& piece,
                                  const Sink& sink, Less less = {}) {
  using put_type = detail::merge_put<T, Sink>;
  merge_tile_t<Team, T, Policy>::template merge<put_type::ordered>(team, shared, a, b, piece,
                                                                   put_type{sink}, less);
}

/// As above, for items [first, last) of the merge of a(0) ... a(n_a - 1) and b(0) ... b(n_b - 1).
/// Finds the piece first: one more barrier, and log n to the base of the warp's width + 1 rounds of
/// loads, by one warp.
template <class T, class Policy, class Team, class A, class B, class Sink, class Less = less>
LANEWISE_FUNCTION void merge_tile(const Team& team,
                                  typename merge_tile_t<Team, T, Policy>::scratch& shared,
                                  const A& a, std::int64_t n_a, const B& b, std::int64_t n_b,
                                  std::int64_t first, std::int64_t last, const Sink& sink,
                                  Less less = {}) {
  const merge_piece piece =
      merge_tile_t<Team, T, Policy>::cut(team, shared, a, n_a, b, n_b, first, last, less);
  lanewise::merge_tile<T, Policy>(team, shared, a, b, piece, sink, less);
}

LANEWISE_END_NAMESPACE
