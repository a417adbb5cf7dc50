// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/allocation.hpp>
#include <lanewise/backend.hpp>
#include <lanewise/detail/strings/steps.hpp>

#include <cstdint>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// The places of a piece, found, and to be written behind those of the pieces in front. In every
/// step of a piece a lane has a word, whose bits are neighbouring places of its own. Those of
/// Piece::kept_steps steps are kept in scratch; where places are in more, these steps are searched
/// again.
template <class Team, class Piece>
class found_places {
  using warp_type = typename Team::warp_type;
  using word = typename Piece::word;
  using words = typename warp_type::template lanes<word>;
  using numbers = typename warp_type::template lanes<std::uint32_t>;
  static constexpr int width = warp_type::width;
  static constexpr int kept = Piece::kept_steps / Team::warps;
  /// Rows lie a word apart, so that lanes that go along rows are in different banks.
  static constexpr int row_words = width + 1;
  /// Of steps with up to so many places, these go through scratch.
  static constexpr std::uint32_t room = 16 * width;

 public:
  struct of_warp {
    word bits[kept * row_words];
    int step[kept];
    std::uint16_t in_step[room];
    std::uint32_t number;
  };
  struct scratch {
    typename Piece::scratch piece;
    of_warp warps[Team::warps];
  };
  static constexpr bool stores_unscanned = false;

  LANEWISE_FUNCTION found_places(const Team& team, scratch& shared, const Piece& piece)
      : team_(team), shared_(shared), mine_(shared.warps[team.warp_index()]), piece_(piece) {
    const auto warp = team.warp();
    // What a function of its own is given by reference is in memory: these, and not all members.
    numbers number(0u);
    int rows = 0;
    of_warp& mine = mine_;
    piece_.find([&](int step, std::int64_t, const auto& bits) LANEWISE_INLINE_LAMBDA {
      if (!warp.any(bits != word{0})) return;
      number = number + detail::bits_set(warp, bits);
      if (rows < kept) {
        warp.store(mine.bits + rows * row_words, Piece::in_order(warp, bits));
        warp.once([&] { mine.step[rows] = step; });
      }
      ++rows;
    });
    rows_ = rows;
    number_ = warp.reduce(number, plus{});
    warp.once([&] { mine_.number = number_; });
  }
  LANEWISE_FUNCTION std::int64_t total() {
    team_.barrier();
    std::int64_t all = 0;
    for (int w = 0; w < Team::warps; ++w) {
      if (w == team_.warp_index()) in_front_ = all;
      all += shared_.warps[w].number;
    }
    return all;
  }
  /// Places beyond the sink are left out.
  template <class Sink>
  LANEWISE_FUNCTION void store(const Sink& sink, std::int64_t before) const {
    if (number_ == 0) return;
    const auto warp = team_.warp();
    std::int64_t at = before + in_front_;
    const int rows = rows_ < kept ? rows_ : kept;
    if (number_ <= 4 * width) {
      at += write_few(warp, sink, at, rows);
    } else {
      for (int r = 0; r < rows; ++r)
        at += write_many(warp, sink, at, place_of(mine_.step[r]),
                         warp.load(mine_.bits + r * row_words));
    }
    if (rows_ > kept) {
      const found_places self = *this;
      self.write_others(warp, sink, at);
    }
  }

 private:
  LANEWISE_FUNCTION std::int64_t place_of(int step) const {
    return piece_.first() + std::int64_t{step} * width * piece_.places_of_lane();
  }
  template <class Sink>
  LANEWISE_SEPARATE_FUNCTION void write_others(const warp_type& warp, const Sink& sink,
                                               std::int64_t at) const {
    int row = 0;
    piece_.find([&](int, std::int64_t first, const auto& bits) LANEWISE_INLINE_LAMBDA {
      if (!warp.any(bits != word{0}) || row++ < kept) return;
      at += write_many(warp, sink, at, first, Piece::in_order(warp, bits));
    });
  }
  /// Writes the places of all kept rows, and returns their number. Each lane has as many
  /// neighbouring words as there are rows.
  template <class Sink>
  LANEWISE_FUNCTION std::uint32_t write_few(const warp_type& warp, const Sink& sink,
                                            std::int64_t at, int rows) const {
    const word* const bits = mine_.bits;
    const auto each = static_cast<std::uint32_t>(piece_.places_of_lane());
    auto lane = warp.lane();
    const numbers number = warp.map(
        [=](std::uint32_t l) {
          std::uint32_t n = 0;
          for (int i = 0; i < rows; ++i)
            n += static_cast<std::uint32_t>(warp_type::popcount(bits[word_at(l * rows + i)]));
          return n;
        },
        lane);
    auto place = allocate(warp, number);
    warp.each(
        number != 0u,
        [&](std::uint32_t& offset, std::uint32_t& l) {
          for (int i = 0; i < rows; ++i) {
            const std::uint32_t w = l * rows + i;
            for (word rest = bits[word_at(w)]; rest != 0; rest &= rest - 1, ++offset)
              if (at + offset < sink.extent)
                sink(at + offset,
                     place_of(mine_.step[w / width]) + each * (w % width) + lowest(rest));
          }
        },
        place.offset, lane);
    return place.total;
  }
  static LANEWISE_FUNCTION std::uint32_t lowest(word bits) {
    return static_cast<std::uint32_t>(warp_type::popcount((bits & ~(bits - 1)) - 1));
  }
  static LANEWISE_FUNCTION std::uint32_t word_at(std::uint32_t w) { return w + w / width; }
  /// Writes the places of a step, and returns their number.
  template <class Sink>
  LANEWISE_FUNCTION std::uint32_t write_many(const warp_type& warp, const Sink& sink,
                                             std::int64_t at, std::int64_t first,
                                             const words& bits) const {
    const auto place = allocate(warp, detail::bits_set(warp, bits));
    if (place.total > room) {
      write_dense(warp, sink, at, first, bits);
    } else {
      bring(warp, bits, place.offset);
      for (std::uint32_t i = 0; i < place.total; i += width) {
        const std::uint32_t left = place.total - i;
        const auto now = warp.first(left < width ? static_cast<int>(left) : width);
        auto in_step = warp.load(now, mine_.in_step + i, std::uint16_t{0});
        auto lane = warp.lane();
        warp.each(
            now,
            [&](std::uint16_t& p, std::uint32_t& l) {
              if (at + i + l < sink.extent) sink(at + i + l, first + p);
            },
            in_step, lane);
      }
      warp.fence();
    }
    return place.total;
  }
  /// Brings the places of a step to scratch, so that neighbouring lanes write neighbours.
  LANEWISE_FUNCTION void bring(const warp_type& warp, words bits, numbers offset) const {
    const auto each = static_cast<std::uint32_t>(piece_.places_of_lane());
    auto lane = warp.lane();
    warp.each(
        bits != word{0},
        [&](word& rest, std::uint32_t& o, std::uint32_t& l) {
          for (; rest != 0; rest &= rest - 1, ++o)
            mine_.in_step[o] = static_cast<std::uint16_t>(each * l + lowest(rest));
        },
        bits, offset, lane);
    warp.fence();
  }
  /// A lane's word at a time, of which each lane has a place: most lanes write.
  template <class Sink>
  LANEWISE_FUNCTION void write_dense(const warp_type& warp, const Sink& sink, std::int64_t at,
                                     std::int64_t first, const words& bits) const {
    const int each = piece_.places_of_lane();
    auto lane = warp.lane();
    auto below = warp.lanes_below();
    using lane_bits = typename warp_type::bits;
    constexpr auto lanes = static_cast<lane_bits>(~lane_bits{0} >> (8 * sizeof(lane_bits) - width));
    for (int owner = 0; owner < width; ++owner) {
      const word all = warp.broadcast(bits, owner);
      for (int b = 0; b < each; b += width) {
        const auto here = static_cast<lane_bits>(all >> b) & lanes;
        const std::int64_t place = first + owner * each + b;
        warp.each(
            warp.template mask_of<std::uint32_t>(here),
            [&](std::uint32_t& l, lane_bits& before) {
              const std::int64_t i = at + warp_type::popcount(here & before);
              if (i < sink.extent) sink(i, place + l);
            },
            lane, below);
        at += warp_type::popcount(here);
      }
    }
  }

  const Team& team_;
  scratch& shared_;
  of_warp& mine_;
  Piece piece_;
  int rows_ = 0;
  std::uint32_t number_ = 0;
  std::int64_t in_front_ = 0;
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
