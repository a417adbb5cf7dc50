// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Not part of backend.hpp, because it needs the contexts of POSIX (ucontext.h).

#include <lanewise/backend.hpp>
#include <lanewise/emulated/lane_warp.hpp>

LANEWISE_BEGIN_NAMESPACE

/// lanewise::emulated with lanes that run for themselves, as the threads of a GPU do: kernels run
/// once per lane, scalars and all. Finds plain scalars that should be warp-uniform and are not,
/// effects outside of once(), and lanes that do not come by the same way. Slow, and not for
/// ThreadSanitizer.
class emulated_lanes : public emulated {
 public:
  using emulated::emulated;
};

LANEWISE_END_NAMESPACE

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace detail_backend {
template <>
struct backend_of<emulated_lanes> {
  using type = backends::emulated::backend_with<backends::emulated::lane_warp<32>>;
};
}  // namespace detail_backend
LANEWISE_END_TARGET_NAMESPACE
