// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/papers/detail/multisplit_methods/matrix.hpp>
#include <lanewise/papers/detail/names.hpp>

#include <type_traits>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {
namespace kernels {

// The papers' post-scan: buckets are found and ranked again, as that takes less time than to keep
// and load what the pre-scan found.

/// Every item goes from where it is to its place.
template <class Cut, class Source, class Sink, class Values, class ValueSink, class Bucket>
struct place_directly_kernel {
  using policy = typename Cut::policy;
  template <class Team>
  struct scratch {};

  Source keys;
  Sink keys_out;
  Values values;
  ValueSink values_out;
  std::int64_t n;
  Bucket bucket;
  std::uint32_t buckets;
  scanned_matrix begins;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using registers = typename Cut::template registers<Team>;
    constexpr bool pairs = !std::is_same_v<Values, std::nullptr_t>;
    const auto warp = team.warp();
    Cut::for_each(team, n, [&](std::int64_t s) LANEWISE_INLINE_LAMBDA {
      auto next = begins.template column<registers>(warp, s, buckets);
      Cut::template for_each_tile<Team>(s, n, [&](std::int64_t first) LANEWISE_INLINE_LAMBDA {
        LANEWISE_UNROLL
        for (int w = 0; w < Cut::windows; ++w) {
          const std::int64_t at = Cut::window(team, first, w);
          const auto exists = kernels::lanes_with_items(warp, n - at);
          auto key = kernels::load_window(warp, exists, keys, at);
          const auto b = kernels::buckets_of(warp, exists, key, bucket);
          registers count;
          const auto rank = count.vote(warp, exists, b, buckets);
          auto place = next.look_up(warp, b, buckets) + rank;
          const auto& key_sink = keys_out;
          warp.each(
              exists,
              [&](std::uint32_t to, const auto& k) LANEWISE_INLINE_LAMBDA { key_sink(to, k); },
              place, key);
          if constexpr (pairs) {
            auto value = kernels::load_window(warp, exists, values, at);
            const auto& value_sink = values_out;
            warp.each(
                exists,
                [&](std::uint32_t to, const auto& v) LANEWISE_INLINE_LAMBDA { value_sink(to, v); },
                place, value);
          }
          next.add(count);
        }
      });
    });
  }
};

}  // namespace kernels
}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
