// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/papers/detail/names.hpp>
#include <lanewise/warp/warp.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {
namespace detail {

/// Active lanes write p[index], which others may be reading or writing.
template <class W, class Mask, class T, class Index>
LANEWISE_FUNCTION void scatter_relaxed(const W& warp, const Mask& mask, T* p, const Index& index,
                                       lanes_t<W, T> x) {
  using solo = typename W::template part<1>;
  warp.each(
      mask,
      [p](auto i, T& value) { solo().template store<order::relaxed, scope::device>(p[i], value); },
      index, x);
}

}  // namespace detail
}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
