// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>

LANEWISE_BEGIN_NAMESPACE

/// Memory order of a racing access; the meanings are those of std::memory_order.
enum class order { relaxed, acquire, release, acq_rel };

/// Who takes part in a racing access: the lanes and warps of one team, or everybody on the device
/// (every thread on the host).
enum class scope { team, device };

LANEWISE_END_NAMESPACE
