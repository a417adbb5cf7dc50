// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/select/detail/compact.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

template <class Exec, class Source, class Sink, class Selector>
void select(const Exec& exec, const char* label, const char* algorithm, const Source& source,
            const Sink& sink, const Selector& marks, detail::integers kept,
            const call_options& options) {
  detail::expects_memory(source, algorithm, "in");
  detail::expects_memory(sink, algorithm, "out");
  kernels::expects_in_place_or_apart(source, sink, algorithm);
  using item = typename Source::value_type;
  if constexpr (detail::check_results<Exec, item, Sink>())
    kernels::compact_items(exec, label, algorithm, source, marks, sink, kept, options,
                           lanewise::compact_workspace<item, Exec>(source.extent));
}

template <class Exec, class Source, class Sink, class Others, class Selector>
void partition(const Exec& exec, const char* label, const char* algorithm, const Source& source,
               const Sink& sink, const Others& others, const Selector& marks, detail::integers kept,
               detail::integers rejected, const call_options& options) {
  detail::expects_memory(source, algorithm, "in");
  detail::expects_memory(sink, algorithm, "out");
  detail::expects_memory(others, algorithm, "rejected");
  detail::expects_no_partial_overlap(source, sink, algorithm, "in", "out", false);
  detail::expects_no_partial_overlap(source, others, algorithm, "in", "rejected", false);
  detail::expects_no_partial_overlap(sink, others, algorithm, "out", "rejected", false);
  using item = typename Source::value_type;
  if constexpr (detail::check_results<Exec, item, Sink>() &&
                detail::check_results<Exec, item, Others>())
    kernels::compact(exec, label, algorithm, source, marks, detail::selected_items<Sink>(sink),
                     detail::rejected_items<Others>(others), kept, options,
                     lanewise::compact_workspace<item, Exec>(source.extent), rejected);
}

/// The arguments of partition_flagged.
template <class Exec, class In, class Flags, class Out, class Rejected>
void partition_flagged(const Exec& exec, const In& in, const Flags& flags, const Out& out,
                       const Rejected& rejected, detail::integers kept,
                       detail::integers rejected_number, const call_options& options) {
  const auto source = detail::as_source<Exec>(in);
  const auto flag = detail::as_flags<Exec>(flags);
  const auto sink = detail::as_sink<Exec>(out);
  const auto others = detail::as_sink<Exec>(rejected);
  detail::expects(flag.extent == source.extent, "partition_flagged: flags has ", flag.extent,
                  " items, in has ", source.extent);
  detail::expects_memory(flag, "partition_flagged", "flags");
  detail::expects_no_partial_overlap(flag, sink, "partition_flagged", "flags", "out", false);
  detail::expects_no_partial_overlap(flag, others, "partition_flagged", "flags", "rejected", false);
  kernels::partition(exec, "Lanewise::partition_flagged", "partition_flagged", source, sink, others,
                     detail::selected_by_flags<std::decay_t<decltype(flag)>>{flag}, kept,
                     rejected_number, options);
}

/// The number of kept items of a partition, call(kept, rejected), both of whose outputs have room.
/// **Blocks.**
template <class Exec, class Out, class Rejected, class F>
std::int64_t partitioned(const Exec& exec, const char* algorithm, const Out& out,
                         const Rejected& rejected, F call) {
  using numbers = Kokkos::Array<std::int64_t, 2>;
  const auto n = kernels::blocking_result<numbers>(exec, [&](const auto& result) {
    call(detail::integers(result.data()->data()), detail::integers(result.data()->data() + 1));
  });
  kernels::expects_rooms<Exec>(algorithm, n[0], "out", out);
  kernels::expects_rooms<Exec>(algorithm, n[1], "rejected", rejected);
  return n[0];
}

}  // namespace kernels

/// Copies the items for which keep(item) holds to the front of out, in input order. Stores their
/// number in the rank-0 View count of integers (docs/algorithms.md).
///
/// keep is a pure scalar function object, called up to twice per item. in is a contiguous rank-1
/// View or a source. out is a View or a sink that does not overlap it, or the same View as in.
/// Where out has fewer places than there are results, the first are written; count counts all of
/// them. Nothing is written beyond the results. One launch and one pass: n reads and as many writes
/// as items are kept (on the host with several threads the items are read again from cache). O(n)
/// work. The result is the same on every backend. Does not block. Throws std::invalid_argument on
/// overlap or an option that cannot be reached. (Merrill, 3.5; a single pass with look-back.)
template <execution_space Exec, class In, class Out, class T, class... P, class Predicate>
void select_if(const Exec& exec, const In& in, const Out& out, const Kokkos::View<T, P...>& count,
               const Predicate& keep, const call_options& options = {}) {
  if constexpr (detail::check_predicate<Exec, Predicate, detail::item_of<Exec, In>>())
    kernels::select(exec, "Lanewise::select_if", "select_if", detail::as_source<Exec>(in),
                    detail::as_sink<Exec>(out), detail::selected_where<Predicate>{keep},
                    kernels::count_place<Exec>(count, "select_if"), options);
}

/// Overload that returns the number of kept items. **Blocks.** Throws std::length_error where an
/// output has fewer places than there are results: the first are written.
template <execution_space Exec, class In, class Out, class Predicate>
requires(!Kokkos::is_view_v<Predicate>) std::int64_t
    select_if(const Exec& exec, const In& in, const Out& out, const Predicate& keep,
              const call_options& options = {}) {
  return kernels::blocking_number(
      exec, "select_if",
      [&](const auto& count) { lanewise::select_if(exec, in, out, count, keep, options); }, "out",
      out);
}

/// Copies the items whose flag is set: like select_if, with a View or source of flags beside in, of
/// any type that converts to bool.
template <execution_space Exec, class In, class Flags, class Out, class T, class... P>
void select_flagged(const Exec& exec, const In& in, const Flags& flags, const Out& out,
                    const Kokkos::View<T, P...>& count, const call_options& options = {}) {
  const auto source = detail::as_source<Exec>(in);
  const auto sink = detail::as_sink<Exec>(out);
  const auto flag = detail::as_flags<Exec>(flags);
  detail::expects(flag.extent == source.extent, "select_flagged: flags has ", flag.extent,
                  " items, in has ", source.extent);
  detail::expects_memory(flag, "select_flagged", "flags");
  detail::expects_no_partial_overlap(flag, sink, "select_flagged", "flags", "out", false);
  kernels::select(exec, "Lanewise::select_flagged", "select_flagged", source, sink,
                  detail::selected_by_flags<std::decay_t<decltype(flag)>>{flag},
                  kernels::count_place<Exec>(count, "select_flagged"), options);
}

/// Overload that returns the number of kept items. **Blocks.** Throws std::length_error where an
/// output has fewer places than there are results: the first are written.
template <execution_space Exec, class In, class Flags, class Out>
std::int64_t select_flagged(const Exec& exec, const In& in, const Flags& flags, const Out& out,
                            const call_options& options = {}) {
  return kernels::blocking_number(
      exec, "select_flagged",
      [&](const auto& count) { lanewise::select_flagged(exec, in, flags, out, count, options); },
      "out", out);
}

/// Copies the items for which keep(item) holds to the front of out, and the others to the front of
/// rejected, both in input order. Stores the number of kept items in count. One pass: n reads, n
/// writes. Otherwise like select_if.
template <execution_space Exec, class In, class Out, class Rejected, class T, class... P,
          class Predicate>
void partition(const Exec& exec, const In& in, const Out& out, const Rejected& rejected,
               const Kokkos::View<T, P...>& count, const Predicate& keep,
               const call_options& options = {}) {
  if constexpr (detail::check_predicate<Exec, Predicate, detail::item_of<Exec, In>>())
    kernels::partition(exec, "Lanewise::partition", "partition", detail::as_source<Exec>(in),
                       detail::as_sink<Exec>(out), detail::as_sink<Exec>(rejected),
                       detail::selected_where<Predicate>{keep},
                       kernels::count_place<Exec>(count, "partition"), {}, options);
}

/// Overload that returns the number of kept items. **Blocks.** Throws std::length_error where an
/// output has fewer places than there are results: the first are written.
template <execution_space Exec, class In, class Out, class Rejected, class Predicate>
requires(!Kokkos::is_view_v<Predicate>) std::int64_t
    partition(const Exec& exec, const In& in, const Out& out, const Rejected& rejected,
              const Predicate& keep, const call_options& options = {}) {
  if constexpr (detail::check_predicate<Exec, Predicate, detail::item_of<Exec, In>>())
    return kernels::partitioned(
        exec, "partition", out, rejected, [&](detail::integers kept, detail::integers others) {
          kernels::partition(exec, "Lanewise::partition", "partition", detail::as_source<Exec>(in),
                             detail::as_sink<Exec>(out), detail::as_sink<Exec>(rejected),
                             detail::selected_where<Predicate>{keep}, kept, others, options);
        });
  return 0;
}

/// Copies the items whose flag is set to the front of out, the others to the front of rejected:
/// like partition, with a View or source of flags beside in, of any type that converts to bool.
template <execution_space Exec, class In, class Flags, class Out, class Rejected, class T,
          class... P>
void partition_flagged(const Exec& exec, const In& in, const Flags& flags, const Out& out,
                       const Rejected& rejected, const Kokkos::View<T, P...>& count,
                       const call_options& options = {}) {
  kernels::partition_flagged(exec, in, flags, out, rejected,
                             kernels::count_place<Exec>(count, "partition_flagged"), {}, options);
}

/// Overload that returns the number of kept items. **Blocks.** Throws std::length_error where an
/// output has fewer places than there are results: the first are written.
template <execution_space Exec, class In, class Flags, class Out, class Rejected>
std::int64_t partition_flagged(const Exec& exec, const In& in, const Flags& flags, const Out& out,
                               const Rejected& rejected, const call_options& options = {}) {
  return kernels::partitioned(exec, "partition_flagged", out, rejected,
                              [&](detail::integers kept, detail::integers others) {
                                kernels::partition_flagged(exec, in, flags, out, rejected, kept,
                                                           others, options);
                              });
}

LANEWISE_END_TARGET_NAMESPACE
