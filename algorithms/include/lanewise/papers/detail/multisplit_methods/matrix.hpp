// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/papers/detail/multisplit_methods/subproblems.hpp>
#include <lanewise/papers/detail/names.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {
namespace kernels {

// The papers' pre-scan. Entry (b, s) of the matrix, b * columns + s, is the number of items of
// bucket b in subproblem s.

template <class Cut, class Source, class Bucket>
struct count_subproblems_kernel {
  using policy = typename Cut::policy;
  template <class Team>
  struct scratch {
    std::uint32_t count[Cut::by_team ? Team::warps : 1][Cut::template room<Team>];
  };

  Source keys;
  std::int64_t n;
  Bucket bucket;
  std::uint32_t buckets;
  std::uint32_t* matrix;
  std::int64_t columns;
  status* errors;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using registers = typename Cut::template registers<Team>;
    const auto warp = team.warp();
    bad_keys<typename Team::warp_type> bad(errors);
    Cut::for_each(team, n, [&](std::int64_t s) LANEWISE_INLINE_LAMBDA {
      registers sum;
      Cut::template for_each_tile<Team>(s, n, [&](std::int64_t first) LANEWISE_INLINE_LAMBDA {
        lanes_t<typename Team::warp_type, typename Source::value_type> key[Cut::windows];
        LANEWISE_UNROLL
        for (int w = 0; w < Cut::windows; ++w) {
          const std::int64_t at = Cut::window(team, first, w);
          key[w] = kernels::load_window(warp, kernels::lanes_with_items(warp, n - at), keys, at);
        }
        LANEWISE_UNROLL
        for (int w = 0; w < Cut::windows; ++w) {
          const auto exists = kernels::lanes_with_items(warp, n - Cut::window(team, first, w));
          bad.look_at(warp, exists, key[w], bucket);
          registers count;
          count.vote(warp, exists, kernels::buckets_of(warp, exists, key[w], bucket), buckets);
          sum.add(count);
        }
      });
      if constexpr (Cut::by_team) {
        store_sums(team, shared, sum, s);
      } else {
        registers::for_each(warp, buckets,
                            [&](int q, const auto& b, const auto& is_bucket)
                                LANEWISE_INLINE_LAMBDA { put(warp, is_bucket, b, sum.of[q], s); });
      }
    });
    bad.report(warp);
  }

 private:
  template <class W, class Mask, class Lanes>
  LANEWISE_FUNCTION void put(const W& warp, const Mask& is_bucket, const Lanes& b,
                             const Lanes& count, std::int64_t s) const {
    using places = lanes_t<W, std::int64_t>;
    warp.scatter(is_bucket, matrix,
                 warp.template cast<std::int64_t>(b) * places(columns) + places(s), count);
  }

  /// A warp adds up what the team's warps have counted, for a bucket per lane.
  template <class Team, class Registers>
  LANEWISE_FUNCTION void store_sums(const Team& team, scratch<Team>& shared, const Registers& sum,
                                    std::int64_t s) const {
    const auto warp = team.warp();
    constexpr int width = Registers::width;
    Registers::for_each(warp, buckets, [&](int q, const auto&, const auto&) LANEWISE_INLINE_LAMBDA {
      warp.store(shared.count[team.warp_index()] + q * width, sum.of[q]);
    });
    team.barrier();
    Registers::for_each(warp, buckets,
                        [&](int q, const auto& b, const auto& is_bucket) LANEWISE_INLINE_LAMBDA {
                          if (q % Team::warps != team.warp_index()) return;
                          auto all = warp.load(shared.count[0] + q * width);
                          for (int w = 1; w < Team::warps; ++w)
                            all = all + warp.load(shared.count[w] + q * width);
                          put(warp, is_bucket, b, all, s);
                        });
    team.barrier();
  }
};

/// The places at which the items of bucket b and subproblem s begin: from the exclusive scan of the
/// whole matrix, or from inclusive scans of its rows and the begins of rows.
struct scanned_matrix {
  const std::uint32_t* data;
  std::int64_t columns;
  const std::uint32_t* rows;  // null: the matrix was scanned at once

  template <class Registers, class W>
  LANEWISE_FUNCTION Registers column(const W& warp, std::int64_t s, std::uint32_t buckets) const {
    using places = lanes_t<W, std::int64_t>;
    Registers result;
    Registers::for_each(
        warp, buckets, [&](int q, const auto& b, const auto& is_bucket) LANEWISE_INLINE_LAMBDA {
          const auto row = warp.template cast<std::int64_t>(b) * places(columns);
          if (rows == nullptr) {
            result.of[q] = warp.gather(is_bucket, data, row + places(s), 0u);
          } else {
            result.of[q] = warp.load(is_bucket, rows + q * W::width, 0u);
            if (s > 0)
              result.of[q] = result.of[q] + warp.gather(is_bucket, data, row + places(s - 1), 0u);
          }
        });
    return result;
  }
};

/// The number of items of a bucket, from the inclusive scans of rows.
struct row_total {
  const std::uint32_t* data;
  std::int64_t columns;
  LANEWISE_FUNCTION std::uint32_t operator()(std::int64_t b) const {
    return data[(b + 1) * columns - 1];
  }
};

}  // namespace kernels
}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
