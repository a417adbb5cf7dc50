// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/team.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Whether a warp is a thread of a host. A warp of a search in a graph then has room for thousands
/// of rows. No other warp goes on while it waits for memory.
template <class Team>
inline constexpr bool by_threads = !Team::in_registers;

}  // namespace detail
LANEWISE_END_NAMESPACE
