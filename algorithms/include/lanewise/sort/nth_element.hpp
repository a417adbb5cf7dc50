// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sort/top_k.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

inline constexpr selection_names nth_element_names = {"nth_element",
                                                      "Lanewise::nth_element",
                                                      "Lanewise::nth_element::sample",
                                                      "Lanewise::nth_element::filter",
                                                      "Lanewise::nth_element::digit",
                                                      "",
                                                      "",
                                                      "",
                                                      "",
                                                      ""};

/// Writes nothing.
struct no_columns {
  template <class T>
  LANEWISE_FUNCTION void operator()(std::int64_t, std::int64_t, const T&) const {}
  template <class W, class Items>
  LANEWISE_FUNCTION void window(const W&, std::int64_t, typename W::bits, std::int64_t,
                                const Items&) const {}
};

template <class Exec, class Source, class T>
void nth_element(const Exec& exec, const Source& source, std::int64_t nth, T* result,
                 const call_options& options,
                 const selection_limits& limits = kernels::limits_on<Exec>()) {
  detail::expects_memory(source, "nth_element", "in");
  detail::expects(result != nullptr, "nth_element: result has no memory");
  detail::expects(nth >= 0, "nth_element: nth is ", nth, ", less than 0");
  detail::expects(nth < source.extent, "nth_element: nth is ", nth, ", in has ", source.extent,
                  " items");
  using key = selection_bits<identity, T>;
  // From the nearer end: few of one end are found among few.
  const bool from_the_end = nth > source.extent / 2 && !options.count.is_given();
  kernels::select_first(
      exec, nth_element_names, source, key{{}, from_the_end ? typename key::bits{0} : key::all},
      from_the_end ? source.extent - nth : nth + 1, no_columns{}, false, result, options, limits);
}

}  // namespace kernels

/// Stores in the rank-0 View result the item that would be at place nth, counted from 0, if in was
/// sorted. Items are of a type that radix_key.hpp knows, and in its order.
///
/// in is a contiguous rank-1 View or a source; it is left as it is. O(n) work: n reads for every
/// eleven bits of an item, or one where nth is less than n / 600 or so, or as near to the end; on
/// hosts one, and more of blocks of 1024 with items close to the result.
/// Where options.count says fewer items than nth + 1, the largest is stored, and nothing if there
/// is none. The result is the same on every backend. Does not block. Throws std::invalid_argument
/// if nth is negative or not less than the extent of in, or on an option that cannot be reached.
/// (As top_k.)
template <execution_space Exec, class In, class T, class... P>
void nth_element(const Exec& exec, const In& in, std::int64_t nth,
                 const Kokkos::View<T, P...>& result, const call_options& options = {}) {
  using view = Kokkos::View<T, P...>;
  const auto source = detail::as_source<Exec>(in);
  using item = typename decltype(source)::value_type;
  static_assert(view::rank() == 0 && std::is_same_v<T, item>,
                "lanewise::nth_element: the result is a View of rank 0 of the items of in");
  detail::check_reachable<Exec, view>();
  if constexpr (kernels::check_key_of<Exec, identity, item>())
    kernels::nth_element(exec, source, nth, result.data(), options);
}

/// Returns that item. **Blocks.**
template <execution_space Exec, class In>
auto nth_element(const Exec& exec, const In& in, std::int64_t nth,
                 const call_options& options = {}) {
  using item = detail::item_of<Exec, In>;
  return kernels::blocking_result<item>(
      exec, [&](const auto& result) { lanewise::nth_element(exec, in, nth, result, options); });
}

/// The workspace that nth_element needs for n items of type T. Needs no device.
template <class T>
workspace_size nth_element_workspace(std::int64_t n) {
  using key = kernels::selection_bits<identity, T>;
  return kernels::selection_layout<key>(n, 0, false, false, {}).size();
}

LANEWISE_END_TARGET_NAMESPACE
