// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>

LANEWISE_BEGIN_NAMESPACE

/// How the emulated backend lets warps run side by side.
enum class interleaving {
  free,     ///< as the operating system has it: what ThreadSanitizer needs
  delayed,  ///< the same, with delays that the seed chooses
  seeded    ///< one warp at a time, in an order that is a function of the seed: replays exactly
};

LANEWISE_END_NAMESPACE
