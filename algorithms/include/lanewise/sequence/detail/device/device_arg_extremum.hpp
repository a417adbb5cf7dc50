// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sequence/detail/extremum.hpp>
#include <lanewise/tile/register/tile.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// The index of an item is computed, not loaded.
template <class Source>
struct loaded<numbered_source<Source>> {
  using type = typename Source::value_type;
};

/// Folds items with their places: within a lane places increase, so that only a better item wins.
/// While the rows are folded, a place is a number that the compiler knows.
template <class Source>
struct row_fold<numbered_source<Source>> {
  template <class Rows, class W, class Raws, std::size_t rows, class Sums, class Wins>
  static LANEWISE_FUNCTION void add(const W& warp, const numbered_source<Source>& source,
                                    const Raws (&in)[rows], std::int64_t at, bool begins, Sums& sum,
                                    winner<Wins> op) {
    using item = typename Source::value_type;
    const auto lane = warp.lane();
    auto best =
        warp.map([&](const auto& raw) { return item(source.items().from_raw(raw[0])); }, in[0]);
    lanes_t<W, std::uint32_t> place(0u);
    LANEWISE_UNROLL
    for (int j = 0; j < Rows::rows; ++j) {
      warp.each(
          [&](item& b, std::uint32_t& p, const auto& raw) {
            LANEWISE_UNROLL
            for (int c = j == 0 ? 1 : 0; c < Rows::v; ++c) {
              const item x = source.items().from_raw(raw[c]);
              const bool better = op.wins(x, b);
              b = better ? x : b;
              p = better ? static_cast<std::uint32_t>(j * Rows::row_items + c) : p;
            }
          },
          best, place, in[j]);
    }
    warp.each(
        [&](indexed<item>& s, const item& b, std::uint32_t p, std::uint32_t l) {
          const std::int64_t i = at + l * Rows::v + p;
          if (begins || op.wins(b, s.value)) s = {b, i};
        },
        sum, best, place, lane);
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
