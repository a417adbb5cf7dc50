// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The backend of lanewise::emulated_lanes. Not part of emulated.hpp, because it needs the contexts
// of POSIX (ucontext.h).

#include <lanewise/emulated.hpp>
#include <lanewise/emulated/lane_warp.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace detail_backend {
template <>
struct backend_of<emulated_lanes> {
  using type = backends::emulated::backend_with<backends::emulated::lane_warp<32>>;
};
}  // namespace detail_backend
LANEWISE_END_TARGET_NAMESPACE
