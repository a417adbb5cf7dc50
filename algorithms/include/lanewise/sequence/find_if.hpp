// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sequence/detail/first_selected.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

/// Every team looks at a contiguous share of the items. It stops when some team has found an item
/// before the items that this team has left. The team that finishes last stores the result.
template <class Source, class Predicate>
struct find_if_kernel {
  using policy = first_selected_policy;
  template <class Team>
  struct scratch {};

  Source in;
  detail::selected_where<Predicate> marks;
  item_count n;
  std::uint64_t* found;    // how many items there are from the first found on; 0: none is found
  std::uint64_t* control;  // as in reduce
  detail::integers place;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    const std::int64_t count = n();
    const auto warp = team.warp();
    const auto first_found = [&] {
      return count - static_cast<std::int64_t>(warp.template load<order::relaxed>(*found));
    };
    const auto [begin, end] = team.share(count);
    const std::int64_t mine = kernels::first_selected(
        team, in, marks, begin, end, count, [&](std::int64_t i) { return first_found() < i; });
    if (mine < count)
      warp.template fetch_max<order::relaxed>(*found, static_cast<std::uint64_t>(count - mine));
    team.barrier();
    if (team.warp_index() != 0) return;
    const std::uint64_t finished = warp.template fetch_add<order::acq_rel>(*control, 1) + 1;
    if (static_cast<std::uint32_t>(finished) != team.league()) return;
    const std::int64_t first = first_found();
    warp.once([&] {
      place.put(0, first);
      *control = finished >> 32 << 32;
    });
  }
};

}  // namespace kernels

/// The workspace that find_if needs; independent of n.
inline workspace_size find_if_workspace() {
  return {1, sizeof(std::uint64_t)};
}

/// Stores in the rank-0 View result, of integers, the least i for which holds(in(i)). If there is
/// none, it stores n, which is in's extent or options.count.
///
/// holds is a pure scalar function object, called up to once per item; so is a source's functor. in
/// is a contiguous rank-1 View or a source. Up to n reads: a team stops when another team has found
/// an item before its own. O(n) work, one launch after a clearing of 8 bytes. The result is the
/// same on every backend; how many items are read is not. Does not block. Throws
/// std::invalid_argument on an option that cannot be reached.
template <execution_space Exec, class In, class T, class... P, class Predicate>
void find_if(const Exec& exec, const In& in, const Kokkos::View<T, P...>& result,
             const Predicate& holds, const call_options& options = {}) {
  using view = Kokkos::View<T, P...>;
  static_assert(
      view::rank() == 0 && std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_const_v<T>,
      "lanewise: an index is stored in a View of rank 0 of integers, not const");
  detail::check_reachable<Exec, view>();
  detail::expects(result.data() != nullptr, "find_if: result has no memory");
  const auto source = detail::as_source<Exec>(in);
  using source_type = std::decay_t<decltype(source)>;
  detail::expects_memory(source, "find_if", "in");
  if constexpr (detail::check_predicate<Exec, Predicate, typename source_type::value_type>()) {
    using backend = backend_of<Exec>;
    using kernel = kernels::find_if_kernel<source_type, Predicate>;
    const item_count n = detail::count_of<Exec>(source.extent, options, "find_if");
    auto work =
        call_workspace::make<backend>(exec, options.work, lanewise::find_if_workspace(), "find_if");
    auto* const found = static_cast<std::uint64_t*>(work.get().plain());
    backend::zero(exec, found, sizeof(std::uint64_t));
    lanewise::launch(exec, "Lanewise::find_if",
                     kernels::first_selected_league<kernel>(exec, n.bound),
                     kernel{source,
                            {holds},
                            n,
                            found,
                            work.get().template make_look_back_chain<std::int64_t>(0).control,
                            detail::integers(result.data())});
  }
}

/// Returns that index. **Blocks.**
template <execution_space Exec, class In, class Predicate>
requires(!Kokkos::is_view_v<Predicate>) std::int64_t
    find_if(const Exec& exec, const In& in, const Predicate& holds,
            const call_options& options = {}) {
  return kernels::blocking_result<std::int64_t>(
      exec, [&](const auto& result) { lanewise::find_if(exec, in, result, holds, options); });
}

LANEWISE_END_TARGET_NAMESPACE
