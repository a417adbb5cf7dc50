// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The backend of lanewise::emulated, emulated_with_width and emulated_host, for units that call on
// them. Before or after the headers of algorithms.

#include <lanewise/backend.hpp>
#include <lanewise/emulated/team.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace detail_backend {
template <>
struct backend_of<emulated> {
  using type = backends::emulated::backend;
};
template <int width>
struct backend_of<emulated_with_width<width>> {
  using type = backends::emulated::backend_with<backends::emulated::warp<width>>;
};
template <>
struct backend_of<emulated_host> {
  using type = backends::emulated::backend_with<backends::emulated::warp<32, true>>;
};
}  // namespace detail_backend
LANEWISE_END_TARGET_NAMESPACE
