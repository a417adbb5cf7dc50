// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>

#include <cstdint>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

// Items whose numbers move in their place, and which are fetched at the end.

template <class I>
struct as_index {
  LANEWISE_FUNCTION I operator()(std::int64_t i) const { return static_cast<I>(i); }
};
template <class V>
struct fetch_value {
  const V* values;
  template <class I>
  LANEWISE_FUNCTION V operator()(const I& i) const {
    return values[i];
  }
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
