// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/call/workspace_layout.hpp>
#include <lanewise/sort/detail/host/host_radix_sort.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// Layout of the memory in which hosts sort n items, with room for them or without.
template <class Bits, class Value>
struct host_sort_layout : workspace_layout {
  workspace_array<Bits> keys;
  workspace_array<Value> values;
  workspace_array<char> rest;

  explicit host_sort_layout(std::int64_t n, bool has_room = true)
      : workspace_layout(64),
        keys(add<Bits>(has_room ? n : 0)),
        values(add<Value>(has_room && !std::is_empty_v<Value> ? n : 0)),
        rest(add_call({0, kernels::host_radix_sort_bytes<detail::key_map<Bits>, Bits, Value>(n)})) {
  }
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
