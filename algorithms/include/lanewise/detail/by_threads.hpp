// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/team.hpp>

#include <type_traits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Whether a warp is a thread of a host. A warp of a search in a graph then has room for thousands
/// of rows, and nobody else to go on with while it waits for memory.
template <class Team>
inline constexpr bool by_threads = !Team::in_registers;

/// A copy that stays in registers while memory is written, where copying is nothing else.
template <class T>
using kept_local = std::conditional_t<std::is_trivially_copyable_v<T>, const T, const T&>;

}  // namespace detail
LANEWISE_END_NAMESPACE
