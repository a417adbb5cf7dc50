// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/tile/register/selection.hpp>
#include <lanewise/tile/register/tile.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// How many marked items of a warp's segment lie before each pack.
template <class Rows>
class segment_ranks {
  using warp_type = typename Rows::warp_type;
  template <class U>
  using lanes = lanes_t<warp_type, U>;
  static constexpr int rows = Rows::rows;
  static constexpr int v = Rows::v;

 public:
  /// For a segment without marks.
  LANEWISE_FUNCTION segment_ranks() {
    LANEWISE_UNROLL
    for (int w = 0; w < words; ++w) {
      earlier_[w] = lanes<std::uint32_t>(0u);
      in_rows_[w] = 0;
    }
  }
  /// marks as selection_inputs gives them.
  LANEWISE_FUNCTION segment_ranks(const warp_type& warp, const lanes<std::uint32_t>& marks) {
    const auto counts = warp.map([](std::uint32_t m) { return count_rows(m); }, marks);
    LANEWISE_UNROLL
    for (int w = 0; w < words; ++w) {
      const auto own = warp.map([w](const auto& c) { return c[w]; }, counts);
      const auto upto = warp.inclusive_scan(own, plus{});
      in_rows_[w] = warp.broadcast(upto, Rows::width - 1);
      earlier_[w] = upto - own;
    }
  }

  LANEWISE_FUNCTION std::uint32_t count() const {
    std::uint32_t all = 0;
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) all += of_row(in_rows_, j);
    return all;
  }

  /// Calls f(j, before) for all rows: `before` marked items lie before a lane's pack of row j.
  /// `in_front` of these lie before the segment.
  template <class F>
  LANEWISE_FUNCTION void for_each_row(std::uint32_t in_front, F f) const {
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      const lanes<std::uint32_t> before =
          ((earlier_[word_of(j)] >> shift_of(j)) & lanes<std::uint32_t>(field_mask)) +
          lanes<std::uint32_t>(in_front);
      f(j, before);
      in_front += of_row(in_rows_, j);
    }
  }

 private:
  // Counts of a row fit field_bits bits, so that one scan serves several rows.
  static constexpr int field_bits = Rows::row_items < 256 ? 8 : 16;
  static constexpr int fields = 32 / field_bits;
  static constexpr int words = (rows + fields - 1) / fields;
  static constexpr std::uint32_t field_mask = (1u << field_bits) - 1;
  /// Whether a row's marks, v neighbouring bits, become its count where they are: every words-th
  /// row is in the same word then.
  static constexpr bool in_place = v >= 2 && v <= 8 && v * words == field_bits;

  /// The word and the place in it of the count of row j.
  static LANEWISE_FUNCTION constexpr int word_of(int j) {
    return in_place ? j % words : j / fields;
  }
  static LANEWISE_FUNCTION constexpr int shift_of(int j) {
    return (in_place ? j / words : j % fields) * field_bits;
  }
  static LANEWISE_FUNCTION std::uint32_t of_row(const std::uint32_t (&word)[words], int j) {
    return (word[word_of(j)] >> static_cast<std::uint32_t>(shift_of(j))) & field_mask;
  }

  /// How many items of every row are marked in a lane.
  static LANEWISE_FUNCTION Kokkos::Array<std::uint32_t, words> count_rows(std::uint32_t m) {
    Kokkos::Array<std::uint32_t, words> counts{};
    if constexpr (v == 1 || v > 8) {
      LANEWISE_UNROLL
      for (int j = 0; j < rows; ++j) {
        const std::uint32_t row = (m >> (j * v % 32)) & ((1u << (v - 1)) * 2 - 1);
        counts[word_of(j)] |= static_cast<std::uint32_t>(warp_type::popcount(row)) << shift_of(j);
      }
    } else {
      // All rows at once, in as many bits as they have items.
      m -= (m >> 1) & 0x55555555u;
      if constexpr (v >= 4) m = (m & 0x33333333u) + ((m >> 2) & 0x33333333u);
      if constexpr (v >= 8) m = (m + (m >> 4)) & 0x0f0f0f0fu;
      constexpr std::uint32_t mask = ~std::uint32_t{0} / field_mask * ((1u << v) - 1);
      LANEWISE_UNROLL
      for (int w = 0; w < words; ++w) {
        if constexpr (in_place) {
          counts[w] = (m >> (w * v)) & mask;
        } else {
          // Neighbouring counts are moved apart.
          constexpr std::uint32_t pair = (1u << (2 * v)) - 1;
          std::uint32_t x = m >> (w * fields * v);
          if constexpr (fields == 4) {
            x = ((x << (2 * (field_bits - v))) & (pair << 16)) | (x & pair);
          } else {
            x &= pair;
          }
          counts[w] = (x | x << (field_bits - v)) & mask;
        }
      }
    }
    return counts;
  }

  /// What lies in earlier lanes of the row, and what a row has.
  lanes<std::uint32_t> earlier_[words];
  std::uint32_t in_rows_[words];
};

/// How many marked items of a tile lie before each pack, and how many there are in all.
template <class Rows, bool needs_end>
class device_ranks {
  using warp_type = typename Rows::warp_type;
  template <class U>
  using lanes = lanes_t<warp_type, U>;
  static constexpr int warps = Rows::team_type::warps;

 public:
  /// What every warp has of marked items and, where it is asked for, the tile-local index after
  /// the last of them.
  struct scratch {
    std::uint32_t count[warps];
    std::uint32_t end[needs_end ? warps : 1];
  };

  device_ranks() = default;
  /// marks as selection_inputs gives them. All warps of the team meet here.
  LANEWISE_FUNCTION device_ranks(const Rows& tile, scratch& shared,
                                 const lanes<std::uint32_t>& marks)
      : marks_(marks), ranks_(tile.team().warp(), marks) {
    const auto warp = tile.team().warp();
    const int here = tile.team().warp_index();
    const std::uint32_t mine = ranks_.count();
    std::uint32_t end = 0;
    if constexpr (needs_end) end = end_of(tile);
    warp.once([&] {
      shared.count[here] = mine;
      if constexpr (needs_end) shared.end[here] = end;
    });
    tile.team().barrier();
    const auto counts = warp.load(warp.first(warps), shared.count, 0u);
    count_ = warp.reduce(counts, plus{});
    in_front_ =
        warp.reduce(lanewise::select(warp.first(here), counts, lanes<std::uint32_t>(0u)), plus{});
    // Indices grow from warp to warp.
    if constexpr (needs_end)
      end_ = warp.reduce(warp.load(warp.first(warps), shared.end, 0u), maximum{});
  }

  LANEWISE_FUNCTION std::uint32_t count() const { return count_; }
  LANEWISE_FUNCTION std::uint32_t end() const { return end_; }
  LANEWISE_FUNCTION const lanes<std::uint32_t>& marks() const { return marks_; }

  /// Calls f(j, before) for all rows: `before` marked items of the tile lie before a lane's pack.
  template <class F>
  LANEWISE_FUNCTION void for_each_row(F f) const {
    ranks_.for_each_row(in_front_, f);
  }

 private:
  LANEWISE_FUNCTION std::uint32_t end_of(const Rows& tile) const {
    const auto warp = tile.team().warp();
    const auto first = static_cast<std::uint32_t>(tile.team().warp_index() * Rows::segment);
    return warp.reduce(
        warp.map(
            [first](std::uint32_t m, std::uint32_t lane) {
              if (m == 0) return 0u;
              const std::uint32_t bit = 31u - static_cast<std::uint32_t>(Kokkos::countl_zero(m));
              return first + bit / Rows::v * Rows::row_items + lane * Rows::v + bit % Rows::v + 1;
            },
            marks_, warp.lane()),
        maximum{});
  }

  lanes<std::uint32_t> marks_;
  segment_ranks<Rows> ranks_;
  std::uint32_t in_front_ = 0;
  std::uint32_t count_ = 0;
  std::uint32_t end_ = 0;
};

/// f(k) for first <= k < count by the whole team, as far as place start + k exists in the sink.
/// Windows of neighbouring lanes begin at places that are multiples of the warp's width: lines of
/// memory are written whole.
template <class Team, class Sink, class F>
LANEWISE_FUNCTION void for_each_place(const Team& team, const Sink& sink, std::int64_t start,
                                      int first, std::uint32_t count, F f) {
  const auto warp = team.warp();
  constexpr int width = Team::warp_type::width;
  constexpr int step = Team::warps * width;
  constexpr int unrolled = 4;
  const std::int64_t room = sink.extent - start;
  const int end = room < count ? (room < 0 ? 0 : static_cast<int>(room)) : static_cast<int>(count);
  using places = lanes_t<typename Team::warp_type, int>;
  const places lane = warp.template cast<int>(warp.lane());
  int k = team.warp_index() * width - static_cast<int>(start % width);
  const auto masked = [&] {
    const places place = lane + places(k);
    warp.each((place >= first) & (place < end), f, place);
    k += step;
  };
  if (k < first) masked();
  // Whole windows: nothing is asked of single lanes.
  for (; k + (unrolled - 1) * step + width <= end; k += unrolled * step) {
    LANEWISE_UNROLL
    for (int i = 0; i < unrolled; ++i) {
      const places place = lane + places(k + i * step);
      warp.each(f, place);
    }
  }
  while (k < end) masked();
}

}  // namespace detail
LANEWISE_END_NAMESPACE
