// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/strings/detail/row_of_place.hpp>
#include <lanewise/strings/string_rows.hpp>
#include <lanewise/strings/string_set_search.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// Finds the patterns of a set that lie in rows: either sets the bits of their places, or adds up
/// how many there are in each row. All begins as zeros.
///
/// A place has the longest pattern that the text has there. If a row ends before this pattern does,
/// the place has the longest pattern that this one begins with and that ends in the row.
template <class Pieces>
struct multi_pattern_rows_kernel {
  struct policy : Pieces::policy {
    static constexpr int host_teams_per_thread = 4;
  };
  template <class Team>
  using scratch = typename Pieces::template scratch<Team>;

  Pieces in;  ///< of all bytes
  detail::row_layout rows;
  detail::place_bits bits;
  std::uint64_t* numbers;  ///< of rows, or null: bits are wanted

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using warp_type = typename Team::warp_type;
    using words = lanes_t<warp_type, std::uint32_t>;
    const auto warp = team.warp();
    const detail::row_path<warp_type> path(rows, bits);
    const Pieces here{path.text, in.set, in.steps};
    const std::int64_t pieces = here.template pieces<Team>();
    int span = 32;
    here.load_filter(team, shared);
    for (std::int64_t p = team.index(); p < pieces; p += team.league()) {
      const std::int64_t begin = here.first(team, p);
      detail::row_of_place<warp_type> row(warp, rows, path.first, begin, here.last(team, p));
      sum_of_row<warp_type> sum{numbers};
      here.find(team, shared, p, span,
                [&](const words& places, const words& ranks) LANEWISE_INLINE_LAMBDA {
                  if (warp.any(ranks != 0u)) take(warp, begin, places, ranks, row, sum);
                });
      sum.end(warp);
    }
  }

 private:
  /// What was found in one row, one number in each lane, as most rows have many places or none.
  template <class Warp>
  struct sum_of_row {
    using counts = lanes_t<Warp, std::uint64_t>;
    using rows_of = lanes_t<Warp, std::int64_t>;
    std::uint64_t* numbers;
    std::int64_t row = -1;
    counts number = counts(std::uint64_t{0});

    template <class Mask>
    LANEWISE_FUNCTION void add(const Warp& warp, const Mask& active, const rows_of& of,
                               const counts& x) {
      const auto lanes = warp.ballot(active);
      const std::int64_t first = warp.broadcast(of, Warp::lowest(lanes));
      if (first != warp.broadcast(of, Warp::highest(lanes))) {
        warp.template fetch_add<order::relaxed>(active, numbers, of, x);
        return;
      }
      if (first != row) end(warp);
      row = first;
      number = number + lanewise::select(active, x, counts(std::uint64_t{0}));
    }
    LANEWISE_FUNCTION void end(const Warp& warp) {
      if (row < 0) return;
      warp.template fetch_add<order::relaxed>(numbers[row], warp.reduce(number, plus{}));
      row = -1;
      number = counts(std::uint64_t{0});
    }
  };

  /// Takes places that are counted from `first`.
  template <class Warp, class Words>
  LANEWISE_FUNCTION void take(const Warp& warp, std::int64_t first, const Words& places,
                              Words ranks, detail::row_of_place<Warp>& row_of,
                              sum_of_row<Warp>& sum) const {
    auto at = warp.map([=](std::uint32_t place) { return first + std::int64_t{place}; }, places);
    const auto place_of = at;
    auto row = row_of.find(ranks != 0u, at);
    warp.each(
        ranks != 0u,
        [size = in.set.size, prefix = in.set.prefix](std::uint32_t& rank, std::int64_t& begin,
                                                     std::int64_t& end) {
          while (rank != 0 && begin + size[rank] > end) rank = prefix[rank];
        },
        ranks, at, row.end);
    if (!warp.any(ranks != 0u)) return;
    if (numbers == nullptr) return set_bits(warp, ranks != 0u, place_of);
    using counts = typename sum_of_row<Warp>::counts;
    const counts number =
        warp.template cast<std::uint64_t>(warp.gather(ranks != 0u, in.set.number, ranks, 0u));
    sum.add(warp, ranks != 0u, row.row, number);
  }
  template <class Warp, class Mask, class Places>
  LANEWISE_FUNCTION void set_bits(const Warp& warp, const Mask& hits, const Places& at) const {
    set_bits_of(warp, hits, at, bits.words, 1, 32);
    set_bits_of(warp, hits, at, bits.passed.words, 32 * Warp::width, bits.passed.of_word);
  }
  /// In a bitmap with a bit for `places` places, and `of_word` bits in a word.
  template <class Warp, class Mask, class Places>
  static LANEWISE_FUNCTION void set_bits_of(const Warp& warp, const Mask& hits, const Places& at,
                                            std::uint32_t* to, std::int64_t places, int of_word) {
    const auto word = warp.map([=](std::int64_t place) { return place / places / of_word; }, at);
    const auto bit = warp.map(
        [=](std::int64_t place) {
          return 1u << static_cast<std::uint32_t>(place / places % of_word);
        },
        at);
    warp.template fetch_or<order::relaxed>(hits, to, word, bit);
  }
};

/// Writes the sums of rows as results.
struct multi_pattern_row_numbers_kernel {
  struct policy : launch_policy {};
  template <class Team>
  struct scratch {};

  detail::row_layout rows;
  const std::uint64_t* numbers;
  detail::row_results out;
  status* errors;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    constexpr std::int64_t width = Team::warp_type::width;
    const auto warp = team.warp();
    const auto mine = team.share(divide_up(rows.count, width));
    for (std::int64_t w = mine.begin + team.warp_index(); w < mine.end; w += Team::warps) {
      const std::int64_t first = w * width, left = rows.count - first;
      const auto exist = warp.first(left);
      const auto number = warp.map(
          exist,
          [=, all = rows, sums = numbers](std::uint32_t lane) {
            const std::int64_t r = first + lane;
            if (all.is_bad(all.offsets(r), all.offsets(r + 1))) return std::int64_t{-1};
            return all.is_null(r) ? 0 : static_cast<std::int64_t>(sums[r]);
          },
          std::int64_t{0}, warp.lane());
      const auto is_bad = number < std::int64_t{0};
      out.store(warp, exist, first, lanewise::select(is_bad, number - number, number));
      const auto bad = static_cast<std::uint64_t>(warp.count(is_bad));
      if (bad != 0 && errors != nullptr) warp.fetch_add(errors->bad_items, bad);
    }
  }
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
