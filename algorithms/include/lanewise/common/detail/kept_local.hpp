// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>

#include <type_traits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// A copy that stays in registers while memory is written, where copying is nothing else.
template <class T>
using kept_local = std::conditional_t<std::is_trivially_copyable_v<T>, const T, const T&>;

}  // namespace detail
LANEWISE_END_NAMESPACE
