// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/register_marks.hpp>
#include <lanewise/detail/register_tile.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// How many marked items of a tile lie before each one, and how many there are in all.
template <class Rows, bool needs_end>
class register_ranks {
  using warp_type = typename Rows::warp_type;
  template <class U>
  using lanes = typename warp_type::template lanes<U>;
  static constexpr int warps = Rows::team_type::warps;
  static constexpr int rows = Rows::rows;
  static constexpr int v = Rows::v;
  static constexpr int width = Rows::width;
  static constexpr int row_items = Rows::row_items;

 public:
  /// What a warp has of marked items, and the tile-local index behind the last of them.
  struct part {
    std::uint32_t count;
    std::uint32_t end;
  };
  struct scratch {
    part per_warp[warps];
  };

  register_ranks() = default;
  /// marks as mark_inputs gives them. All warps of the team meet here.
  LANEWISE_FUNCTION register_ranks(const Rows& tile, scratch& shared,
                                   const lanes<std::uint32_t>& marks)
      : first_local_(tile.team().warp_index() * Rows::segment),
        lane_index_(tile.team().warp().lane()),
        marks_(marks) {
    rank(tile.team().warp());
    fold(tile.team(), shared);
  }

  LANEWISE_FUNCTION std::uint32_t count() const { return total_.count; }
  LANEWISE_FUNCTION std::uint32_t end() const { return total_.end; }

  /// f(j, c, marked, place, index) for item c of every lane's pack in row j: whether it is marked,
  /// how many marked items lie before it in the tile, and its place in the tile.
  template <class F>
  LANEWISE_FUNCTION void for_each(F f) const {
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      auto place = lanes<std::uint32_t>(before_row_[j]) + before_lane_[j];
      LANEWISE_UNROLL
      for (int c = 0; c < v; ++c) {
        const auto marked =
            (marks_ & lanes<std::uint32_t>(1u << (j * v + c))) != lanes<std::uint32_t>(0u);
        f(j, c, marked, place, local_index(j, c));
        place = place + select(marked, lanes<std::uint32_t>(1u), lanes<std::uint32_t>(0u));
      }
    }
  }

 private:
  struct add_parts {
    LANEWISE_FUNCTION part operator()(const part& a, const part& b) const {
      return {a.count + b.count, b.end != 0 ? b.end : a.end};
    }
  };

  // Counts of a row fit so many bits, so that one scan serves several rows.
  static constexpr int field_bits = row_items < 256 ? 8 : 16;
  static constexpr int fields = 32 / field_bits;
  static constexpr int words = (rows + fields - 1) / fields;
  static constexpr std::uint32_t field_mask = (1u << field_bits) - 1;

  LANEWISE_FUNCTION lanes<std::uint32_t> local_index(int j, int c) const {
    return lane_index_ * lanes<std::uint32_t>(std::uint32_t{v}) +
           lanes<std::uint32_t>(static_cast<std::uint32_t>(first_local_ + j * row_items + c));
  }

  /// Within the warp's segment: how many marked items lie in earlier rows, and in earlier lanes of
  /// the same row.
  LANEWISE_FUNCTION void rank(const warp_type& warp) {
    std::uint32_t before = 0;
    LANEWISE_UNROLL
    for (int w = 0; w < words; ++w) {
      const auto own = warp.map(
          [w](std::uint32_t m) {
            std::uint32_t counts = 0;
            LANEWISE_UNROLL
            for (int f = 0; f < fields; ++f) {
              const int j = w * fields + f;
              if (j < rows)
                counts |= static_cast<std::uint32_t>(
                              warp_type::popcount((m >> (j * v % 32)) & ((1u << (v - 1)) * 2 - 1)))
                          << (f * field_bits);
            }
            return counts;
          },
          marks_);
      const auto upto = warp.inclusive_scan(own, plus{});
      const std::uint32_t all = warp.broadcast(upto, width - 1);
      const auto earlier = upto - own;
      LANEWISE_UNROLL
      for (int f = 0; f < fields; ++f) {
        const int j = w * fields + f;
        if (j < rows) {
          before_lane_[j] = (earlier >> (f * field_bits)) & lanes<std::uint32_t>(field_mask);
          before_row_[j] = before;
          before += (all >> (f * field_bits)) & field_mask;
        }
      }
    }
    mine_.count = before;
    mine_.end = 0;
    if constexpr (needs_end) {
      mine_.end = warp.reduce(
          warp.map(
              [](std::uint32_t m, std::uint32_t i0) {
                if (m == 0) return 0u;
                const int bit = 31 - Kokkos::countl_zero(m);
                return i0 + static_cast<std::uint32_t>(bit / v * row_items + bit % v) + 1;
              },
              marks_, local_index(0, 0)),
          maximum{});
    }
  }

  LANEWISE_FUNCTION void fold(const typename Rows::team_type& team, scratch& shared) {
    const auto warp = team.warp();
    warp.once([&] { shared.per_warp[team.warp_index()] = mine_; });
    team.barrier();
    maybe<part> before{{0, 0}, false};
    fold_warps(team, shared.per_warp, warps, add_parts{}, before, total_);
    if (before.present) {
      LANEWISE_UNROLL
      for (int j = 0; j < rows; ++j) before_row_[j] += before.value.count;
    }
  }

  int first_local_;
  lanes<std::uint32_t> lane_index_;
  lanes<std::uint32_t> marks_;
  lanes<std::uint32_t> before_lane_[rows];
  std::uint32_t before_row_[rows];
  part mine_;
  part total_;
};

/// f(k) for k < count by the whole team, as far as place start + k exists in the sink.
template <class Team, class Sink, class F>
LANEWISE_FUNCTION void for_each_place(const Team& team, const Sink& sink, std::int64_t start,
                                      std::uint32_t count, F f) {
  const auto warp = team.warp();
  constexpr std::uint32_t width = Team::warp_type::width;
  constexpr std::uint32_t step = Team::warps * width;
  constexpr std::uint32_t unrolled = 4;
  const std::int64_t room = sink.extent - start;
  if (room < count) count = room < 0 ? 0 : static_cast<std::uint32_t>(room);
  // Whole windows first: nothing is asked of single lanes.
  std::uint32_t k = team.warp_index() * width;
  for (; k + (unrolled - 1) * step + width <= count; k += unrolled * step) {
    LANEWISE_UNROLL
    for (std::uint32_t i = 0; i < unrolled; ++i) {
      const auto place = warp.lane() + (k + i * step);
      warp.each(f, place);
    }
  }
  for (; k < count; k += step) {
    const auto place = warp.lane() + k;
    warp.each(place < count, f, place);
  }
}

}  // namespace detail
LANEWISE_END_NAMESPACE
