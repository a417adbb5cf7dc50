// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/tile/selection.hpp>
#include <lanewise/tile/stream/windows.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// The lanes for which f(a...) holds.
template <class W, class F, class First, class... Lanes>
LANEWISE_FUNCTION auto lanes_where(const W& warp, F f, const First& first, const Lanes&... more) {
  using T = typename First::value_type;
  // An integer of the items' size, so that the compiler turns the loop into vector comparisons.
  using word = std::conditional_t<
      sizeof(T) == 1, std::uint8_t,
      std::conditional_t<sizeof(T) == 2, std::uint16_t,
                         std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>>;
  const auto holds =
      warp.map([&](const T& a, const auto&... b)
                   LANEWISE_INLINE_LAMBDA { return static_cast<word>(f(a, b...) ? 1 : 0); },
               first, more...);
  return holds != typename W::template lanes<word>(word{0});
}

/// Which of the items i, ..., i + W - 1 are kept; the neighbours asked for must exist.
template <class W, class Selector, class Source>
LANEWISE_FUNCTION auto selected_in_window(const W& warp, const Selector& marks,
                                          const Source& source, std::int64_t i) {
  if constexpr (is_flagged<Selector>) {
    using flag = typename decltype(marks.flags)::value_type;
    return detail::load_window<true>(warp, marks.flags, i) !=
           typename W::template lanes<flag>(flag{0});
  } else if constexpr (is_keyed<Selector>) {
    return detail::selected_in_window(
        warp, selected_where_differing<-1, std::decay_t<decltype(marks.equal)>>{marks.equal},
        marks.keys, i);
  } else if constexpr (Selector::side == 0) {
    return detail::lanes_where(warp, marks, detail::load_window<true>(warp, source, i));
  } else {
    return detail::lanes_where(warp, marks, detail::load_window<true>(warp, source, i),
                               detail::load_window(warp, source, i + Selector::side));
  }
}

/// Selector the items [first, first + items) of n in one word of bits per window; returns how many
/// are marked.
template <class W, class Selector, class Source>
LANEWISE_FUNCTION std::int64_t select_windows(const W& warp, const Selector& marks,
                                              const Source& source, std::int64_t first,
                                              std::int64_t items, std::int64_t n,
                                              typename W::bits* marked) {
  using bits = typename W::bits;
  constexpr int width = W::width;
  std::int64_t count = 0;
  const auto one_by_one = [&](std::int64_t w) {
    const std::int64_t i = first + w * width;
    bits here = 0;
    for (int l = 0; l < width && i + l < first + items; ++l)
      here |= bits{detail::is_selected(marks, source, i + l, n)} << l;
    marked[w] = here;
    count += W::popcount(here);
  };
  // Windows at the ends of the source, and a ragged one, are marked item by item.
  const std::int64_t windows = (items + width - 1) / width;
  const std::int64_t from = first + Selector::side < 0 && windows > 0 ? 1 : 0;
  const std::int64_t readable = (n - first - (Selector::side > 0)) / width;
  const std::int64_t whole = items / width < readable ? items / width : readable;
  for (std::int64_t w = 0; w < from; ++w) one_by_one(w);
  for (std::int64_t w = from; w < whole; ++w) {
    const bits here =
        warp.ballot(detail::selected_in_window(warp, marks, source, first + w * width));
    marked[w] = here;
    count += W::popcount(here);
  }
  for (std::int64_t w = whole < from ? from : whole; w < windows; ++w) one_by_one(w);
  return count;
}

/// The chosen lanes of a, in order, to places from `to` on. A window's width of places may be
/// overwritten.
template <class W, class Sink, class Lanes>
LANEWISE_FUNCTION void compress_window_over(const W& warp, const Sink& sink, std::int64_t to,
                                            typename W::bits chosen, const Lanes& a) {
  using T = typename Lanes::value_type;
  if constexpr (Sink::contiguous && std::is_same_v<T, typename sink_value<Sink>::type>) {
    warp.compress_store_over(sink.data + to, warp.template mask_of<T>(chosen), a);
  } else {
    for (auto todo = chosen; todo != 0; todo &= todo - 1)
      sink(to++, warp.broadcast(a, W::lowest(todo)));
  }
}

}  // namespace detail
LANEWISE_END_NAMESPACE
