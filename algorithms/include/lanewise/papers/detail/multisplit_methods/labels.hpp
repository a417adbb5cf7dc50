// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/papers/detail/multisplit_methods/subproblems.hpp>
#include <lanewise/papers/detail/names.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {
namespace kernels {

/// write(i, key, bucket) for every key.
template <class Source, class Bucket, class Write>
struct label_kernel {
  struct policy : launch_policy {};
  template <class Team>
  struct scratch {};
  static constexpr int windows = 4;

  Source keys;
  std::int64_t n;
  Bucket bucket;
  Write write;
  status* errors;

  template <class Team>
  static LANEWISE_FUNCTION std::int64_t pieces(std::int64_t n) {
    return lanewise::divide_up(n, Team::warps * windows * Team::warp_type::width);
  }

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    constexpr std::int64_t width = Team::warp_type::width;
    const auto warp = team.warp();
    bad_keys<typename Team::warp_type> bad(errors);
    const auto [begin, end] = team.share(pieces<Team>(n));
    for (std::int64_t p = begin; p < end; ++p) {
      LANEWISE_UNROLL
      for (int w = 0; w < windows; ++w) {
        const std::int64_t at = ((p * windows + w) * Team::warps + team.warp_index()) * width;
        const auto exists = kernels::lanes_with_items(warp, n - at);
        auto key = kernels::load_window(warp, exists, keys, at);
        bad.look_at(warp, exists, key, bucket);
        auto b = kernels::buckets_of(warp, exists, key, bucket);
        auto lane = warp.lane();
        const auto& put = write;
        warp.each(
            exists,
            [&](std::uint32_t l, const auto& k, std::uint32_t mine)
                LANEWISE_INLINE_LAMBDA { put(at + l, k, mine); },
            lane, key, b);
      }
    }
    bad.report(warp);
  }
};

template <class Exec, class Source, class Bucket, class Write>
void label(const Exec& exec, const Source& keys, std::int64_t n, const Bucket& bucket,
           const Write& write, status* errors) {
  using kernel = label_kernel<Source, Bucket, Write>;
  using team = team_t<Exec, typename kernel::policy>;
  lanewise::launch(
      exec, "Lanewise::multisplit_by::label",
      backend_of<Exec>::template league_for_tiles<kernel>(exec, kernel::template pieces<team>(n)),
      kernel{keys, n, bucket, write, errors});
}

}  // namespace kernels
}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
