// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>

#include <cstddef>

LANEWISE_BEGIN_NAMESPACE

/// The alignment of workspaces and of scratch, in bytes, which is that of memory from CUDA; items
/// have no more.
inline constexpr std::size_t most_alignment = 256;

/// Memory order of a racing access; the meanings are those of std::memory_order.
enum class order { relaxed, acquire, release, acq_rel };

/// What takes part in a racing access: the lanes and warps of one team, or all on the device
/// (every thread on the host). Where a team is one thread, atomics of scope team are plain
/// accesses: another team's, at the same time, are lost.
enum class scope { team, device };

/// What a load or a store asks of the caches (Merrill, 3.2: "caching directives"): what is usual,
/// all levels, the second level alone, to be driven out first, or no cache at all. Hints: the value
/// is the same. Hosts know the usual way and that of streams; the others are the usual one there.
enum class caching { usual, all_levels, second_level, streaming, none };

LANEWISE_END_NAMESPACE
