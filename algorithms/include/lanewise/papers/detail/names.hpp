// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {}
LANEWISE_END_NAMESPACE

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {}

/// What the papers describe and the library does otherwise. The rest of the library does not use
/// it.
namespace papers {
namespace detail {
using namespace lanewise::detail;
}
namespace kernels {
using namespace LANEWISE_TARGET::kernels;
}
}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
