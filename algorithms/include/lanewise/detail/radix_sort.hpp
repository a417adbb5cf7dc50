// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/radix_sort/device.hpp>
#include <lanewise/detail/radix_sort/host.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// host_radix_sort behind the contract below.
template <class Bits, class Value>
struct host_radix_sorter {
  static constexpr std::size_t value_bytes = std::is_empty_v<Value> ? 0 : sizeof(Value);
  static constexpr std::size_t round_up(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

  template <class Exec>
  static workspace_size workspace(std::int64_t n, detail::radix_range) {
    const auto items = static_cast<std::size_t>(n);
    return {0, round_up(items * sizeof(Bits)) + round_up(items * value_bytes) +
                   host_radix_sort_bytes<detail::key_map<Bits>, Bits, Value>(n)};
  }
  template <class Exec>
  static void sort(const Exec& exec, const Bits* in, Bits* out, const Value* values_in,
                   Value* values_out, item_count n, const detail::key_map<Bits>& map,
                   detail::radix_range range, const workspace_ref& given) {
    auto work = call_workspace::make<backend_of<Exec>>(exec, given, workspace<Exec>(n.bound, range),
                                                       "radix_sort");
    char* const memory = static_cast<char*>(work.get().plain());
    char* const values = memory + round_up(static_cast<std::size_t>(n.bound) * sizeof(Bits));
    char* const rest = values + round_up(static_cast<std::size_t>(n.bound) * value_bytes);
    host_radix_sort(
        exec,
        host_sort_arrays<Bits, Value>{in, out, reinterpret_cast<Bits*>(memory), values_in,
                                      values_out, reinterpret_cast<Value*>(values)},
        n, range.low, range.high, map, rest);
  }
};

/// How a space sorts keys that are unsigned integers in memory, and what moves with them, which is
/// no_value or an unsigned integer. ordered: equal keys keep their order. Members, all static:
///
///   workspace<Exec>(n, range)      what it needs for up to n keys
///   sort(exec, in, out, values_in, values_out, n, map, range, work)
///                                  out may be in, and values_out values_in
template <class Exec, class Bits, class Value, bool ordered>
using radix_sort_t =
    std::conditional_t<team_t<Exec, launch_policy>::in_registers,
                       device_radix_sort<Bits, Value, ordered>, host_radix_sorter<Bits, Value>>;

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
