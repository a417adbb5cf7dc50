// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/merge/detail/merging.hpp>
#include <lanewise/merge/merge.hpp>
#include <lanewise/select/detail/compact.hpp>

#include <algorithm>

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

// A set operation pairs items: the r-th of the items of a that are equal to each other with the
// r-th of those of b that are equal to them.
//
// Tiles walk the merge of both once, and keep items on the way. In a union, those of a come first
// and are kept, and those of b that find none of a waiting. In an intersection and a difference,
// those of b come first, and items of a are kept that find one waiting, or none.

/// The tiles of set_kernel. What a team does once is shared by more items than in a merge (H200,
/// 2^28 u32, the intersection: 23 items of a lane take 1.02 ms, 19 1.16, 15 1.26).
template <class T>
struct set_operation_policy : merge_policy<T> {
  static constexpr bool narrow = sizeof(T) <= 4;
  static constexpr int items_per_lane = narrow ? 23 : merge_policy<T>::items_per_lane;
  static constexpr int teams_per_multiprocessor =
      narrow ? 4 : merge_policy<T>::teams_per_multiprocessor;
};

/// What a set operation keeps of a tile.
template <detail::set_rule rule>
struct kept_by_rule {
  static constexpr bool asks_where = false;  ///< items were
  static constexpr bool keeps_first = rule.first;
  template <class Team>
  struct scratch {};
  template <class Team, class Tile, class First, class Second, class Less>
  LANEWISE_FUNCTION std::uint32_t operator()(const Team&, scratch<Team>&, Tile& tile,
                                             const First& first, const Second& second,
                                             const merge_piece&, const Less& less) const {
    return tile.template mark<rule>(first, second, less);
  }
};

/// One launch beside that of the cuts: a tile marks what it keeps of a piece of the merge,
/// allocates places through the chain, and writes.
template <class Kept, class First, class Second, class Put, class Less>
struct set_kernel {
  using item = typename First::value_type;
  using state = detail::selection_count;
  using policy = set_operation_policy<item>;
  static constexpr bool with_origins = Kept::asks_where || requires(const Put& p) {
    p.load(std::int64_t{0}, true);
  };
  template <class Team>
  using tile = detail::set_tile_t<Team, item, policy, with_origins>;
  template <class Team>
  struct scratch {
    typename tile<Team>::scratch tile;
    typename Kept::template scratch<Team> kept;
    look_back_scratch<state> chain;
  };

  Kept keep;
  First first;
  Second second;
  Put put;
  std::int64_t room;
  item_count n_first, n_second;
  const std::int64_t* cuts;  // how many items of the first are before every tile, or null
  look_back_chain<state> chain;
  detail::integers kept;
  Less less;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    constexpr std::int64_t items = tile<Team>::items;
    const std::int64_t n = n_first() + n_second();
    // There is a tile without items when there are none, so that a team writes the count.
    const auto tiles = static_cast<std::uint32_t>(n > 0 ? divide_up(n, items) : 1);
    lanewise::for_each_ticket(
        team, chain, tiles, shared.chain, [&](auto mine) LANEWISE_INLINE_LAMBDA {
          const std::int64_t from = mine.ticket * items, to = from + items < n ? from + items : n;
          const merge_piece of = piece(team, shared.tile.piece, mine.ticket, from, to);
          tile<Team> here(team, shared.tile, first, second, of);
          const std::int64_t count = keep(team, shared.kept, here, first, second, of, less);
          const std::int64_t before =
              lanewise::publish_and_look_back(team, chain, mine, shared.chain, state{count},
                                              detail::add_selection_counts{},
                                              maybe<state>{state{0}, true})
                  .value.number;
          here.write(put, before, room);
          if (mine.ticket + 1 == tiles) {
            // Pieces of a sequence that is not in order may overlap.
            const std::int64_t all = before + count, most = Kept::keeps_first ? n : n_second();
            team.once([&] { kept.put(0, all < most ? all : most); });
          }
        });
  }

 private:
  template <class Team>
  LANEWISE_FUNCTION merge_piece piece(const Team& team, merge_piece& shared, std::int64_t t,
                                      std::int64_t from, std::int64_t to) const {
    if (cuts != nullptr) return piece_of_cuts(cuts, t, from, to);
    if (team.warp_index() == 0) {
      const auto warp = team.warp();
      const merge_piece found =
          lanewise::cut_merge(warp, first, n_first(), second, n_second(), from, to, less);
      warp.once([&] { shared = found; });
    }
    team.barrier();
    return shared;
  }
};

/// What is kept: the key, and with values the value from where the key was. swapped: the first
/// sequence is b.
template <bool swapped, class Merged>
struct kept_items {
  Merged out;
  template <class T>
  LANEWISE_FUNCTION void operator()(std::int64_t i, const T& x) const {
    out(i, x);
  }
  LANEWISE_FUNCTION auto load(std::int64_t index, bool is_second) const requires
      requires(const Merged& o, merge_origin f) {
    o.load(f);
  }
  { return out.load(merge_origin{index, static_cast<int>(is_second != swapped)}); }
  LANEWISE_FUNCTION auto array_of(bool is_second) const requires requires(const Merged& o) {
    o.array_of(0);
  }
  { return out.array_of(static_cast<int>(is_second != swapped)); }
  template <class T, class V>
  LANEWISE_FUNCTION void store(std::int64_t i, const T& x, const V& value) const {
    out.store(i, x, value);
  }
};

/// The workspace of set_kernel for n items in both inputs together.
template <class T, class Exec>
workspace_size set_kernel_workspace(std::int64_t n) {
  const std::int64_t tiles = std::max<std::int64_t>(
      lanewise::divide_up(n, merge_tile_items<T, Exec, set_operation_policy<T>>), 1);
  const std::size_t payload = look_back_chain<detail::selection_count>::payload_bytes(tiles);
  return {tiles, (payload + 255) / 256 * 256 +
                     kernels::merge_cut_bytes<T, Exec, set_operation_policy<T>>(n)};
}

template <bool swapped, class Exec, class Kept, class First, class Second, class Merged, class Less>
void launch_set_kernel(const Exec& exec, const char* label, const char* algorithm, const Kept& keep,
                       const First& first, const Second& second, const Merged& merged,
                       std::int64_t room, item_count n_first, item_count n_second,
                       detail::integers count, const Less& less, workspace_ref given) {
  using item = typename First::value_type;
  using backend = backend_of<Exec>;
  using put = kept_items<swapped, Merged>;
  using kernel = set_kernel<Kept, First, Second, put, Less>;
  const std::int64_t n = n_first.bound + n_second.bound;
  const workspace_size need = kernels::set_kernel_workspace<item, Exec>(n);
  auto own = call_workspace::make<backend>(exec, given, need, algorithm);
  auto* const memory = static_cast<char*>(own.get().plain());
  const std::size_t cut_bytes = kernels::merge_cut_bytes<item, Exec, set_operation_policy<item>>(n);
  auto* const cuts = reinterpret_cast<std::int64_t*>(memory + (need.bytes - cut_bytes));
  if (cut_bytes > 0)
    kernels::cut_tiles<set_operation_policy<item>>(exec, first, second, n_first, n_second, cuts,
                                                   less);
  lanewise::launch(
      exec, label, backend::template league_for_tiles<kernel>(exec, need.tickets),
      kernel{keep, first, second, put{merged}, room, n_first, n_second,
             cut_bytes > 0 ? cuts : nullptr,
             own.get().template make_look_back_chain<detail::selection_count>(0), count, less});
}

enum class set_operation { unite, intersect, subtract };

/// What a call has: sources of keys and values, sinks for both, null pointers where there are no
/// values.
template <class A, class B, class ValuesA, class ValuesB, class Sink, class ValueSink>
struct set_arguments {
  A a;
  B b;
  ValuesA values_a;
  ValuesB values_b;
  Sink out;
  ValueSink values_out;
};

template <set_operation op, class Exec, class Arguments, class Less>
void operate(const Exec& exec, const char* label, const char* algorithm, const Arguments& given,
             detail::integers count, const Less& less, const merge_options& options) {
  const auto n = kernels::merge_counts_of<Exec>(given.a, given.b, options, algorithm);
  using sink_type = decltype(given.out);
  const auto by_tiles = [&](const auto& merged, std::int64_t room) {
    if constexpr (op == set_operation::unite) {
      kernels::launch_set_kernel<false>(
          exec, label, algorithm, kept_by_rule<detail::set_rule{true, false, true}>{}, given.a,
          given.b, merged, room, n.a, n.b, count, less, options.work);
    } else {
      constexpr bool takers = op == set_operation::intersect;
      kernels::launch_set_kernel<true>(
          exec, label, algorithm, kept_by_rule<detail::set_rule{false, takers, !takers}>{}, given.b,
          given.a, merged, room, n.b, n.a, count, less, options.work);
    }
  };
  if constexpr (std::is_null_pointer_v<decltype(given.values_a)>) {
    by_tiles(merged_items<sink_type>{given.out}, given.out.extent);
  } else {
    const auto with_b = [&](const auto& values_b) {
      using pairs = merged_pairs<sink_type, decltype(given.values_a),
                                 std::decay_t<decltype(values_b)>, decltype(given.values_out)>;
      by_tiles(pairs{given.out, given.values_a, values_b, given.values_out},
               std::min(given.out.extent, given.values_out.extent));
    };
    // Only a union keeps items of b.
    if constexpr (op == set_operation::unite) {
      with_b(given.values_b);
    } else {
      with_b(given.values_a);
    }
  }
}

template <class X, class Y>
void expects_apart(const X& in, const Y& out, const char* algorithm, const char* in_name,
                   const char* out_name) {
  if constexpr (!std::is_null_pointer_v<X>)
    detail::expects_no_partial_overlap(in, out, algorithm, in_name, out_name, false);
}

/// Checks the arguments and calls.
template <set_operation op, class Exec, class Arguments, class T, class... P, class Less>
void checked_operate(const Exec& exec, const char* label, const char* algorithm,
                     const Arguments& given, const Kokkos::View<T, P...>& count, const Less& less,
                     const merge_options& options) {
  constexpr bool paired = !std::is_null_pointer_v<decltype(given.values_a)>;
  constexpr bool both = !std::is_null_pointer_v<decltype(given.values_b)>;
  const char* const a = paired ? "keys_a" : "a";
  const char* const b = paired ? "keys_b" : "b";
  const char* const out = paired ? "keys_out" : "out";
  detail::expects_memory(given.a, algorithm, a);
  detail::expects_memory(given.b, algorithm, b);
  detail::expects_memory(given.out, algorithm, out);
  kernels::expects_apart(given.a, given.out, algorithm, a, out);
  kernels::expects_apart(given.b, given.out, algorithm, b, out);
  if constexpr (paired) {
    detail::expects(given.values_a.extent == given.a.extent, algorithm, ": values_a has ",
                    given.values_a.extent, " items, keys_a has ", given.a.extent);
    detail::expects_memory(given.values_a, algorithm, "values_a");
    detail::expects_memory(given.values_out, algorithm, "values_out");
    kernels::expects_apart(given.a, given.values_out, algorithm, a, "values_out");
    kernels::expects_apart(given.b, given.values_out, algorithm, b, "values_out");
    kernels::expects_apart(given.values_a, given.out, algorithm, "values_a", out);
    kernels::expects_apart(given.values_a, given.values_out, algorithm, "values_a", "values_out");
    kernels::expects_apart(given.out, given.values_out, algorithm, out, "values_out");
  }
  if constexpr (both) {
    detail::expects(given.values_b.extent == given.b.extent, algorithm, ": values_b has ",
                    given.values_b.extent, " items, keys_b has ", given.b.extent);
    detail::expects_memory(given.values_b, algorithm, "values_b");
    kernels::expects_apart(given.values_b, given.out, algorithm, "values_b", out);
    kernels::expects_apart(given.values_b, given.values_out, algorithm, "values_b", "values_out");
  }
  using item = typename decltype(given.a)::value_type;
  if constexpr (kernels::check_merged<Exec, decltype(given.a), decltype(given.b)>() &&
                detail::check_less<Exec, Less, item>() &&
                detail::check_results<Exec, item, decltype(given.out)>())
    kernels::operate<op>(exec, label, algorithm, given,
                         kernels::count_place<Exec>(count, algorithm), less, options);
}

/// The arguments of a call as sources and sinks.
template <class Exec, class A, class B, class Out>
auto set_arguments_of(const A& a, const B& b, const Out& out) {
  const auto source_a = detail::as_source<Exec>(a);
  const auto source_b = detail::as_source<Exec>(b);
  const auto sink = detail::as_sink<Exec>(out);
  return set_arguments<std::decay_t<decltype(source_a)>, std::decay_t<decltype(source_b)>,
                       std::nullptr_t, std::nullptr_t, std::decay_t<decltype(sink)>,
                       std::nullptr_t>{source_a, source_b, nullptr, nullptr, sink, nullptr};
}
template <class Exec, class A, class VA, class B, class VB, class Out, class VOut>
auto set_arguments_of(const A& a, const VA& values_a, const B& b, const VB& values_b,
                      const Out& out, const VOut& values_out) {
  const auto keys = kernels::set_arguments_of<Exec>(a, b, out);
  const auto source_a = detail::as_source<Exec>(values_a);
  const auto sink = detail::as_sink<Exec>(values_out);
  const auto source_b = [&] {
    if constexpr (std::is_null_pointer_v<VB>) {
      return nullptr;
    } else {
      return detail::as_source<Exec>(values_b);
    }
  }();
  return set_arguments<decltype(keys.a), decltype(keys.b), std::decay_t<decltype(source_a)>,
                       std::decay_t<decltype(source_b)>, decltype(keys.out),
                       std::decay_t<decltype(sink)>>{keys.a,   keys.b,   source_a,
                                                     source_b, keys.out, sink};
}

}  // namespace kernels

/// The workspace that set operations need for n_a and n_b items of type T. Needs no device.
template <class T, class Exec>
workspace_size set_operation_workspace(std::int64_t n_a, std::int64_t n_b) {
  return kernels::set_kernel_workspace<T, Exec>(n_a + n_b);
}

/// Writes the union of a and b, both sorted by less, to the front of out, sorted. Stores the number
/// of its items in the rank-0 View count of integers. Let m items of a and n items of b be equal to
/// each other. Then the union has the items of a, and after them the last n - m of b if n is
/// greater. These are max(m, n) in all, in their order.
///
/// less is a pure scalar function object, a strict weak order, called O(log n) times per tile, and
/// about three times per item. a and b are contiguous rank-1 Views or sources with items of one
/// type; out is a View or a sink that does not overlap them. Where out has fewer places than there
/// are results, the first are written; count counts all of them. One launch, and one more beyond
/// 600 tiles. a and b are read once, on hosts by calls of a source's functor about twice per item.
/// The results are written once, in O(n) work however many items are equal. The result is the same
/// on every backend. If an input is not sorted, or less is no strict weak order, the items of out
/// are unspecified. Their number is at most that of the input items that may be written, and
/// nothing outside is read or written. Does not block. Throws std::invalid_argument on overlap or
/// an option that cannot be reached.
template <execution_space Exec, class A, class B, class Out, class T, class... P, class Less = less>
void set_union(const Exec& exec, const A& a, const B& b, const Out& out,
               const Kokkos::View<T, P...>& count, const Less& less = {},
               const merge_options& options = {}) {
  kernels::checked_operate<kernels::set_operation::unite>(
      exec, "Lanewise::set_union", "set_union", kernels::set_arguments_of<Exec>(a, b, out), count,
      less, options);
}
/// Overload that returns the number of results. **Blocks.** Throws std::length_error where an
/// output has fewer places than there are results: the first are written.
template <execution_space Exec, class A, class B, class Out, class Less = less>
requires(!Kokkos::is_view_v<Less>) std::int64_t
    set_union(const Exec& exec, const A& a, const B& b, const Out& out, const Less& less = {},
              const merge_options& options = {}) {
  return kernels::blocking_number(
      exec, "set_union",
      [&](const auto& count) { lanewise::set_union(exec, a, b, out, count, less, options); }, "out",
      out);
}
/// For pairs: every key that is written has the value beside it, values being of one type.
template <execution_space Exec, class KeysA, class ValuesA, class KeysB, class ValuesB,
          class KeysOut, class ValuesOut, class T, class... P, class Less = less>
void set_union_by_key(const Exec& exec, const KeysA& keys_a, const ValuesA& values_a,
                      const KeysB& keys_b, const ValuesB& values_b, const KeysOut& keys_out,
                      const ValuesOut& values_out, const Kokkos::View<T, P...>& count,
                      const Less& less = {}, const merge_options& options = {}) {
  kernels::checked_operate<kernels::set_operation::unite>(
      exec, "Lanewise::set_union_by_key", "set_union_by_key",
      kernels::set_arguments_of<Exec>(keys_a, values_a, keys_b, values_b, keys_out, values_out),
      count, less, options);
}
/// The intersection: of items that are equal to each other, m in a and n in b, the first min(m, n)
/// of a. Otherwise like set_union.
template <execution_space Exec, class A, class B, class Out, class T, class... P, class Less = less>
void set_intersection(const Exec& exec, const A& a, const B& b, const Out& out,
                      const Kokkos::View<T, P...>& count, const Less& less = {},
                      const merge_options& options = {}) {
  kernels::checked_operate<kernels::set_operation::intersect>(
      exec, "Lanewise::set_intersection", "set_intersection",
      kernels::set_arguments_of<Exec>(a, b, out), count, less, options);
}
/// Overload that returns the number of results. **Blocks.** Throws std::length_error where an
/// output has fewer places than there are results: the first are written.
template <execution_space Exec, class A, class B, class Out, class Less = less>
requires(!Kokkos::is_view_v<Less>) std::int64_t
    set_intersection(const Exec& exec, const A& a, const B& b, const Out& out,
                     const Less& less = {}, const merge_options& options = {}) {
  return kernels::blocking_number(
      exec, "set_intersection",
      [&](const auto& count) { lanewise::set_intersection(exec, a, b, out, count, less, options); },
      "out", out);
}
/// For pairs: every key that is written has the value beside it in a.
template <execution_space Exec, class KeysA, class ValuesA, class KeysB, class KeysOut,
          class ValuesOut, class T, class... P, class Less = less>
void set_intersection_by_key(const Exec& exec, const KeysA& keys_a, const ValuesA& values_a,
                             const KeysB& keys_b, const KeysOut& keys_out,
                             const ValuesOut& values_out, const Kokkos::View<T, P...>& count,
                             const Less& less = {}, const merge_options& options = {}) {
  kernels::checked_operate<kernels::set_operation::intersect>(
      exec, "Lanewise::set_intersection_by_key", "set_intersection_by_key",
      kernels::set_arguments_of<Exec>(keys_a, values_a, keys_b, nullptr, keys_out, values_out),
      count, less, options);
}
/// The difference: of items that are equal to each other, m in a and n in b, the last m - n of a,
/// if m is greater. Otherwise like set_union.
template <execution_space Exec, class A, class B, class Out, class T, class... P, class Less = less>
void set_difference(const Exec& exec, const A& a, const B& b, const Out& out,
                    const Kokkos::View<T, P...>& count, const Less& less = {},
                    const merge_options& options = {}) {
  kernels::checked_operate<kernels::set_operation::subtract>(
      exec, "Lanewise::set_difference", "set_difference",
      kernels::set_arguments_of<Exec>(a, b, out), count, less, options);
}
/// Overload that returns the number of results. **Blocks.** Throws std::length_error where an
/// output has fewer places than there are results: the first are written.
template <execution_space Exec, class A, class B, class Out, class Less = less>
requires(!Kokkos::is_view_v<Less>) std::int64_t
    set_difference(const Exec& exec, const A& a, const B& b, const Out& out, const Less& less = {},
                   const merge_options& options = {}) {
  return kernels::blocking_number(
      exec, "set_difference",
      [&](const auto& count) { lanewise::set_difference(exec, a, b, out, count, less, options); },
      "out", out);
}
/// For pairs: every key that is written has the value beside it in a.
template <execution_space Exec, class KeysA, class ValuesA, class KeysB, class KeysOut,
          class ValuesOut, class T, class... P, class Less = less>
void set_difference_by_key(const Exec& exec, const KeysA& keys_a, const ValuesA& values_a,
                           const KeysB& keys_b, const KeysOut& keys_out,
                           const ValuesOut& values_out, const Kokkos::View<T, P...>& count,
                           const Less& less = {}, const merge_options& options = {}) {
  kernels::checked_operate<kernels::set_operation::subtract>(
      exec, "Lanewise::set_difference_by_key", "set_difference_by_key",
      kernels::set_arguments_of<Exec>(keys_a, values_a, keys_b, nullptr, keys_out, values_out),
      count, less, options);
}

LANEWISE_END_TARGET_NAMESPACE
