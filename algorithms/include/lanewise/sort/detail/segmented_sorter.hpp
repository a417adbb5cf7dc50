// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sort/detail/device/device_segmented_sort.hpp>
#include <lanewise/sort/detail/host/host_segmented_sort.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// How a space sorts segments of keys that are unsigned integers in memory, and values that move
/// with them: Value is no_value or an unsigned integer. ordered: equal keys keep their order.
/// apart: lists have shifts. Members, all static:
///
///   bytes<Exec>(n, segments, range)   of memory, for up to n items and `segments` segments;
///   sort(exec, in, out, values_in, values_out, n, list, map, range, memory)
///                                     out may be in, and values_out values_in; what is in no
///                                     segment is not touched
template <class Exec, class Bits, class Value, bool ordered, bool apart = false>
using segmented_sort_t = std::conditional_t<team_t<Exec, launch_policy>::is_single_thread,
                                            host_segmented_sort<Bits, Value>,
                                            device_segmented_sort<Bits, Value, ordered, apart>>;

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
