// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sequence/detail/arg_extremum.hpp>
#include <lanewise/sequence/reduce.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE

/// The default order of min_element and max_element: < of numbers, NaN being neither the least nor
/// the greatest of several items unless all are NaN.
struct natural_order {};

namespace kernels {

/// For integers lanewise::less is the natural order, which hosts find by vectors.
template <bool larger, class Item, class Less>
auto wins(const Less& less) {
  if constexpr (!std::is_same_v<Less, natural_order> &&
                !(std::is_same_v<Less, lanewise::less> && std::is_integral_v<Item>)) {
    return detail::wins_by<Less, larger>{less};
  } else if constexpr (larger) {
    return detail::larger_wins{};
  } else {
    return detail::smaller_wins{};
  }
}

/// A reduction of items that know their places.
template <bool larger, class Exec, class In, class T, class... P, class Less>
void extremum(const Exec& exec, const char* label, const char* algorithm, const In& in,
              const Kokkos::View<T, P...>& result, const Less& less, const call_options& options) {
  using view = Kokkos::View<T, P...>;
  const auto source = detail::as_source<Exec>(in);
  using item = typename decltype(source)::value_type;
  static_assert(view::rank() == 0 && std::is_same_v<T, indexed<item>>,
                "lanewise: the result is a View of rank 0 of lanewise::indexed<item of in>");
  detail::check_reachable<Exec, view>();
  const auto by = kernels::wins<larger, item>(less);
  if constexpr (detail::check_less<Exec,
                                   std::conditional_t<std::is_same_v<Less, natural_order>,
                                                      std::decay_t<decltype(by)>, Less>,
                                   item>())
    kernels::reduce(exec, label, algorithm,
                    detail::numbered_source<std::decay_t<decltype(source)>>{source}, result.data(),
                    detail::winner<std::decay_t<decltype(by)>>{by},
                    maybe<indexed<item>>{{item{}, -1}, false}, options);
}

}  // namespace kernels

/// Stores the least item of in and its index in the rank-0 View result of indexed<item>: of
/// equivalent items the first; {item{}, -1} when there are none.
///
/// in is a contiguous rank-1 View or a source. less is a pure strict weak order, called up to twice
/// per item, a source's functor up to three times; the default compares with <, and any number is
/// less than NaN. n reads, nothing written
/// but the result; on the host the block that holds the least item so far is read again from cache.
/// O(n) work, one launch; the workspace is that of reduce for indexed<item>. The result is the same
/// on every backend. Does not block. Throws std::invalid_argument on an option that cannot be
/// reached.
template <execution_space Exec, class In, class T, class... P, class Less = natural_order>
void min_element(const Exec& exec, const In& in, const Kokkos::View<T, P...>& result,
                 const Less& less = {}, const call_options& options = {}) {
  kernels::extremum<false>(exec, "Lanewise::min_element", "min_element", in, result, less, options);
}

/// Returns that. **Blocks.**
template <execution_space Exec, class In, class Less = natural_order>
requires(!Kokkos::is_view_v<Less>) auto min_element(const Exec& exec, const In& in,
                                                    const Less& less = {},
                                                    const call_options& options = {}) {
  using item = typename decltype(detail::as_source<Exec>(in))::value_type;
  return kernels::blocking_result<indexed<item>>(
      exec, [&](const auto& result) { lanewise::min_element(exec, in, result, less, options); });
}

/// Stores the greatest item of in and its index: of equivalent items the first, and NaN only if
/// there is no number. Otherwise like min_element, with the same order.
template <execution_space Exec, class In, class T, class... P, class Less = natural_order>
void max_element(const Exec& exec, const In& in, const Kokkos::View<T, P...>& result,
                 const Less& less = {}, const call_options& options = {}) {
  kernels::extremum<true>(exec, "Lanewise::max_element", "max_element", in, result, less, options);
}

/// Returns that. **Blocks.**
template <execution_space Exec, class In, class Less = natural_order>
requires(!Kokkos::is_view_v<Less>) auto max_element(const Exec& exec, const In& in,
                                                    const Less& less = {},
                                                    const call_options& options = {}) {
  using item = typename decltype(detail::as_source<Exec>(in))::value_type;
  return kernels::blocking_result<indexed<item>>(
      exec, [&](const auto& result) { lanewise::max_element(exec, in, result, less, options); });
}

LANEWISE_END_TARGET_NAMESPACE
