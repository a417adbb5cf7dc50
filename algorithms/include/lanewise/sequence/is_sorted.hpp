// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sequence/detail/first_selected.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE

/// The workspace that is_sorted and is_sorted_until need; independent of n.
inline workspace_size is_sorted_workspace() {
  return {1, 4096 * sizeof(std::int64_t)};
}

namespace kernels {

/// Items that are less than the one before them.
template <class Less>
struct less_than_before {
  static constexpr int side = -1;
  Less less;
  template <class T>
  LANEWISE_FUNCTION bool operator()(const T& item, const T& before) const {
    return less(item, before);
  }
};

/// Every team looks at a contiguous share of the items, each beside the one before it; the team
/// that finishes last says where the first is that should have come earlier.
template <class Source, class Less, class Store>
struct sorted_until_kernel {
  using policy = first_selected_policy;
  template <class Team>
  struct scratch {
    std::int64_t found[Team::warps];
    std::uint64_t control;
  };

  Source in;
  Less less;
  item_count n;
  std::int64_t* partial;   // one per team
  std::uint64_t* control;  // as in reduce
  Store store;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const std::int64_t count = n();
    const auto warp = team.warp();
    const auto [begin, end] = team.share(count);
    const std::int64_t mine =
        kernels::first_selected(team, in, less_than_before<Less>{less}, begin > 1 ? begin : 1, end,
                                count, [](std::int64_t) { return false; });
    warp.once([&] { shared.found[team.warp_index()] = mine; });
    team.barrier();
    if (team.warp_index() == 0) {
      std::int64_t first = count;
      for (int w = 0; w < Team::warps; ++w)
        first = shared.found[w] < first ? shared.found[w] : first;
      warp.once([&] { partial[team.index()] = first; });
      const std::uint64_t before = warp.template fetch_add<order::acq_rel>(*control, 1);
      warp.once([&] { shared.control = before + 1; });
      if (static_cast<std::uint32_t>(before + 1) == team.league()) {
        // Shares are in order.
        first = count;
        for (std::int64_t t = 0; t < std::int64_t{team.league()} && first == count;
             t += Team::warp_type::width) {
          const std::int64_t left = team.league() - t;
          const auto exist = warp.template first<std::int64_t>(left);
          first = warp.reduce(warp.load(exist, partial + t, count), minimum{});
        }
        warp.once([&] {
          store(first, count);
          *control = (before + 1) >> 32 << 32;
        });
      }
    }
  }
};

struct store_sorted_until {
  detail::integers place;
  LANEWISE_FUNCTION void operator()(std::int64_t first, std::int64_t) const { place.put(0, first); }
};
template <class T>
struct store_is_sorted {
  T* place;
  LANEWISE_FUNCTION void operator()(std::int64_t first, std::int64_t n) const {
    *place = static_cast<T>(first == n);
  }
};

template <class Exec, class In, class Less, class Store>
void sorted_until(const Exec& exec, const char* label, const char* algorithm, const In& in,
                  const Less& less, const Store& store, const call_options& options) {
  const auto source = detail::as_source<Exec>(in);
  using source_type = std::decay_t<decltype(source)>;
  detail::expects_memory(source, algorithm, "in");
  if constexpr (detail::check_less<Exec, Less, typename source_type::value_type>()) {
    using backend = backend_of<Exec>;
    using kernel = sorted_until_kernel<source_type, Less, Store>;
    const item_count n = detail::count_of<Exec>(source.extent, options, algorithm);
    auto work = call_workspace::make<backend>(exec, options.work, lanewise::is_sorted_workspace(),
                                              algorithm);
    lanewise::launch(
        exec, label, kernels::first_selected_league<kernel>(exec, n.bound),
        kernel{source, less, n, static_cast<std::int64_t*>(work.get().plain()),
               work.get().template make_look_back_chain<std::int64_t>(0).control, store});
  }
}

}  // namespace kernels

/// Stores in the rank-0 View result, of integers, the index of the first item of in that is less
/// than the item before it. If there is none, it stores n. So items [0, result) are sorted, and no
/// more.
///
/// less is a pure strict weak order, called up to once per item; a source's functor is called up to
/// twice. in is a contiguous rank-1 View or a source. n reads (a team stops where it has found
/// one), one launch, O(n) work. The result is the same on every backend. Does not block. Throws
/// std::invalid_argument on an option that cannot be reached.
template <execution_space Exec, class In, class T, class... P, class Less = less>
void is_sorted_until(const Exec& exec, const In& in, const Kokkos::View<T, P...>& result,
                     const Less& less = {}, const call_options& options = {}) {
  using view = Kokkos::View<T, P...>;
  static_assert(
      view::rank() == 0 && std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_const_v<T>,
      "lanewise: an index is stored in a View of rank 0 of integers, not const");
  detail::check_reachable<Exec, view>();
  detail::expects(result.data() != nullptr, "is_sorted_until: result has no memory");
  kernels::sorted_until(exec, "Lanewise::is_sorted_until", "is_sorted_until", in, less,
                        kernels::store_sorted_until{detail::integers(result.data())}, options);
}

/// Returns that index. **Blocks.**
template <execution_space Exec, class In, class Less = less>
requires(!Kokkos::is_view_v<Less>) std::int64_t
    is_sorted_until(const Exec& exec, const In& in, const Less& less = {},
                    const call_options& options = {}) {
  return kernels::blocking_result<std::int64_t>(exec, [&](const auto& result) {
    lanewise::is_sorted_until(exec, in, result, less, options);
  });
}

/// Stores in the rank-0 View result, of bool or integers, whether no item of in is less than the
/// item before it: 1 or 0. Otherwise like is_sorted_until.
template <execution_space Exec, class In, class T, class... P, class Less = less>
void is_sorted(const Exec& exec, const In& in, const Kokkos::View<T, P...>& result,
               const Less& less = {}, const call_options& options = {}) {
  using view = Kokkos::View<T, P...>;
  static_assert(view::rank() == 0 && std::is_integral_v<T> && !std::is_const_v<T>,
                "lanewise: the result is a View of rank 0 of bool or integers, not const");
  detail::check_reachable<Exec, view>();
  detail::expects(result.data() != nullptr, "is_sorted: result has no memory");
  kernels::sorted_until(exec, "Lanewise::is_sorted", "is_sorted", in, less,
                        kernels::store_is_sorted<T>{result.data()}, options);
}

/// Returns whether it is. **Blocks.**
template <execution_space Exec, class In, class Less = less>
requires(!Kokkos::is_view_v<Less>) bool is_sorted(const Exec& exec, const In& in,
                                                  const Less& less = {},
                                                  const call_options& options = {}) {
  return kernels::blocking_result<std::uint8_t>(exec, [&](const auto& result) {
           lanewise::is_sorted(exec, in, result, less, options);
         }) != 0;
}

LANEWISE_END_TARGET_NAMESPACE
