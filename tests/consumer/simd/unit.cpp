// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#include <lanewise/simd/highway.hpp>

static_assert(EXPECTED, "these flags give another SIMD target");
