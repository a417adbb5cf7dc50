// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/papers/lsd_radix_sort.hpp>

#include <algorithms/sort/check_radix_sort.hpp>

namespace test {

namespace lsd_passes = lanewise::papers::lsd_passes;

/// The keys that a team ranks at a time.
template <class T>
inline constexpr std::int64_t scanned_tile = lanewise::papers::kernels::
    downsweep_digits_kernel<lanewise::radix_bits_t<T>, lanewise::no_value, 1>::template tile_items<
        lanewise::team_t<space,
                         lanewise::papers::kernels::multi_scan_policy<lanewise::radix_bits_t<T>>>>;

template <class T, class Way>
void check_passes(const std::vector<T>& items, const Way& how,
                  const lanewise::sort_options& with = {}) {
  const auto exec = make_space();
  const auto n = static_cast<std::int64_t>(items.size());
  const array<T> keys(items, 1), keys_out(n, T{}, 3);
  lanewise::papers::lsd_radix_sort(exec, keys.const_view(), keys_out.view(), how, with);
  CHECK(difference_in_bits(keys_out.items(), items, sorted_order(items, with)) == "");
  CHECK(keys.unchanged());
  CHECK(keys_out.guards_intact());
}

/// Values are the numbers of the items, so that they show whether equal keys keep their order.
template <class T, class V = std::uint32_t, class Way>
void check_pairs_by_passes(const std::vector<T>& items, const Way& how,
                           const lanewise::sort_options& with = {}) {
  const auto exec = make_space();
  const auto n = static_cast<std::int64_t>(items.size());
  std::vector<V> beside(items.size());
  std::iota(beside.begin(), beside.end(), V{});
  const array<T> keys(items), keys_out(n, T{}, 1);
  const array<V> values(beside, 1), values_out(n, V{});
  const auto order = sorted_order(items, with);
  lanewise::papers::lsd_radix_sort(exec, keys.const_view(), values.const_view(), keys_out.view(),
                                   values_out.view(), how, with);
  CHECK(difference_in_bits(keys_out.items(), items, order) == "");
  CHECK(difference_in_bits(values_out.items(), beside, order) == "");
  CHECK(keys.unchanged());
  CHECK(values.unchanged());
  CHECK(keys_out.guards_intact());
  CHECK(values_out.guards_intact());
  lanewise::papers::lsd_radix_sort(exec, keys.const_view(), values.const_view(), keys.view(),
                                   values.view(), how, with);
  CHECK(difference_in_bits(keys.items(), items, order) == "");
  CHECK(difference_in_bits(values.items(), beside, order) == "");
  CHECK(keys.guards_intact());
  CHECK(values.guards_intact());
}

template <class T>
void check_passes_at_sizes() {
  constexpr auto down = lanewise::sort_order::descending;
  for (const std::int64_t n : sizes_around(scanned_tile<T>)) {
    CAPTURE(n);
    const auto keys = sorting_keys<T>(distribution::uniform, n);
    check_passes(keys, lsd_passes::multi_scan{4});
    check_passes(keys, lsd_passes::split_tiles{7});
  }
  for (const std::int64_t n : {1, 700}) {
    const auto keys = sorting_keys<T>(distribution::few_distinct, n);
    check_pairs_by_passes(keys, lsd_passes::multi_scan{4}, {.order = down});
    check_pairs_by_passes(keys, lsd_passes::split_tiles{8}, {.order = down});
  }
}

}  // namespace test
