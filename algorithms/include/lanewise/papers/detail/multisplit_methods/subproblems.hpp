// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/call/status.hpp>
#include <lanewise/data/buckets.hpp>
#include <lanewise/papers/detail/multisplit_methods/votes.hpp>
#include <lanewise/papers/detail/names.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {
namespace kernels {

/// A key's bucket, or the last one if it has none: so no method needs a digit more for keys without
/// a bucket. Where they are counted, is_bad is asked, too.
template <class BucketOf>
struct bucket_or_last {
  BucketOf bucket_of;
  std::uint32_t last;

  template <class Key>
  LANEWISE_FUNCTION std::uint32_t operator()(const Key& key) const {
    const std::uint32_t b = detail::bucket_number(bucket_of(key));
    return b < last ? b : last;
  }
  template <class Key>
  LANEWISE_FUNCTION bool is_bad(const Key& key) const {
    return detail::bucket_number(bucket_of(key)) > last;
  }
};

/// A digit of it.
template <class Bucket>
struct digit_of_number {
  Bucket bucket;
  int shift;
  std::uint32_t mask;

  template <class Key>
  LANEWISE_FUNCTION std::uint32_t operator()(const Key& key) const {
    return bucket(key) >> shift & mask;
  }
  template <class Key>
  LANEWISE_FUNCTION bool is_bad(const Key& key) const {
    return bucket.is_bad(key);
  }
};

/// How items are cut (Ashkiani, table 3.1). A subproblem is `tiles` tiles of a warp or of a team. A
/// tile is `windows` windows of every warp. A window is an item for every lane. A subproblem has a
/// column of the matrix; what is reordered is reordered by tiles.
template <bool by_team_, int warps_, int windows_, int tiles_, int most_>
struct subproblems {
  static_assert(warps_ >= 1 && windows_ >= 1 && tiles_ >= 1);
  static constexpr bool by_team = by_team_;
  static constexpr int windows = windows_;
  static constexpr int tiles = tiles_;
  static constexpr int most = most_;
  struct policy : launch_policy {
    static constexpr int warps = warps_;
  };

  template <class Team>
  static constexpr int warps_of_tile = by_team ? Team::warps : 1;
  template <class Team>
  static constexpr int tile_items = warps_of_tile<Team>* windows* Team::warp_type::width;
  template <class Team>
  static std::int64_t count(std::int64_t n) {
    return lanewise::divide_up(n, tiles * tile_items<Team>);
  }
  template <class Team>
  static constexpr int subproblems_of_team = by_team ? 1 : Team::warps;
  /// Teams' worth of subproblems.
  template <class Team>
  static std::int64_t pieces(std::int64_t n) {
    return lanewise::divide_up(count<Team>(n), subproblems_of_team<Team>);
  }

  template <class Team>
  using registers = detail::bucket_registers<typename Team::warp_type, most>;
  /// Buckets in whole windows.
  template <class Team>
  static constexpr int room = registers<Team>::groups* registers<Team>::width;

  /// f(s) for the subproblems that are the team's or, without teams, the warp's.
  template <class Team, class F>
  static LANEWISE_FUNCTION void for_each(const Team& team, std::int64_t n, F f) {
    const std::int64_t all = lanewise::divide_up(n, tiles * tile_items<Team>);
    const auto [begin, end] = team.share(lanewise::divide_up(all, subproblems_of_team<Team>));
    for (std::int64_t p = begin; p < end; ++p) {
      const std::int64_t s = by_team ? p : p * Team::warps + team.warp_index();
      if (s < all) f(s);
    }
  }
  /// f(first) for the tiles of a subproblem that have items.
  template <class Team, class F>
  static LANEWISE_FUNCTION void for_each_tile(std::int64_t s, std::int64_t n, F f) {
    for (int t = 0; t < tiles; ++t) {
      const std::int64_t first = (s * tiles + t) * tile_items<Team>;
      if (first < n) f(first);
    }
  }
  /// The first item of window w of this warp.
  template <class Team>
  static LANEWISE_FUNCTION std::int64_t window(const Team& team, std::int64_t first, int w) {
    const int warp = by_team ? team.warp_index() : 0;
    return first + (warp * windows + w) * Team::warp_type::width;
  }
};

/// The lanes that have an item after the first n - left.
template <class W>
LANEWISE_FUNCTION auto lanes_with_items(const W& warp, std::int64_t left) {
  return warp.first(left);
}
template <class W, class Mask, class Source>
LANEWISE_FUNCTION auto load_window(const W& warp, const Mask& exists, const Source& source,
                                   std::int64_t first) {
  return warp.map(
      exists, [&](std::uint32_t lane) LANEWISE_INLINE_LAMBDA { return source(first + lane); },
      typename Source::value_type{}, warp.lane());
}
template <class W, class Mask, class Keys, class Bucket>
LANEWISE_FUNCTION auto buckets_of(const W& warp, const Mask& exists, const Keys& key,
                                  const Bucket& bucket) {
  return warp.map(
      exists, [&](const auto& k) LANEWISE_INLINE_LAMBDA { return bucket(k); }, std::uint32_t{0},
      key);
}

/// Keys without a bucket, counted in lanes until the warp reports them.
template <class W>
class bad_keys {
 public:
  LANEWISE_FUNCTION explicit bad_keys(status* errors) : errors_(errors), count_(0u) {}

  template <class Mask, class Keys, class Bucket>
  LANEWISE_FUNCTION void look_at(const W& warp, const Mask& exists, const Keys& key,
                                 const Bucket& bucket) {
    if (errors_ == nullptr) return;
    count_ = count_ + warp.map(
                          exists,
                          [&](const auto& k) LANEWISE_INLINE_LAMBDA {
                            return bucket.is_bad(k) ? std::uint32_t{1} : std::uint32_t{0};
                          },
                          std::uint32_t{0}, key);
  }
  LANEWISE_FUNCTION void report(const W& warp) const {
    if (errors_ == nullptr) return;
    const std::uint32_t all = warp.reduce(count_, plus{});
    if (all != 0) warp.fetch_add(errors_->bad_items, std::uint64_t{all});
  }

 private:
  status* errors_;
  lanes_t<W, std::uint32_t> count_;
};

}  // namespace kernels
}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
