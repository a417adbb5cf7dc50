// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/league/warp_allocate.hpp>
#include <lanewise/strings/detail/matches.hpp>

#include <cstdint>
#include <limits>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// The positions that a text block finds, kept until their output indices are known. In every step
/// of a block a lane has a word, whose bits are neighbouring positions.
///
/// Scratch keeps them as chunks, one after the other. Steps without room are searched again. A
/// chunk is a list of the positions of some steps, the words of one step, or a run of any length in
/// two numbers. There is room for the words of Block::kept_steps steps.
template <class Team, class Block>
class found_places {
  using warp_type = typename Team::warp_type;
  using word = typename Block::word;
  using words = lanes_t<warp_type, word>;
  using numbers = lanes_t<warp_type, std::uint32_t>;
  using short_position = std::uint16_t;
  static constexpr int width = warp_type::width;
  static constexpr int kept = Block::kept_steps / Team::warps;
  /// A list of this number of positions is as large as a step's words.
  static constexpr std::uint32_t of_words = width * sizeof(word) / sizeof(short_position);
  static constexpr std::uint32_t all_kept = kept * of_words;
  /// Steps with up to this number of positions write them through scratch.
  static constexpr std::uint32_t room = 12 * width;

  static LANEWISE_FUNCTION std::uint32_t aligned_words(std::uint32_t used) {
    constexpr std::uint32_t each = sizeof(word) / sizeof(short_position);
    return (used + each - 1) / each * each;
  }

  struct chunk {
    enum class kind : std::uint32_t { list, words, run } is;
    std::uint32_t first;   ///< of a run or a list, from the block's first position on
    std::uint32_t number;  ///< of positions
  };

  /// What a warp has found. It lies in scratch, as nvcc spilled 35 registers for it.
  struct alignas(16) kept_chunks {
    std::uint32_t number = 0;  ///< of all positions, also of steps that are not kept
    std::uint32_t used = 0;    ///< of the room
    int chunks = 0;
    int end = 0;  ///< after the last step that is kept
    std::int64_t period = 0;
    std::int64_t after_run = -1;  ///< the next position of the last chunk, if it is a run
    chunk last{};
    bool is_full = false;
  };

 public:
  struct of_warp {
    kept_chunks all;
    alignas(word) short_position kept_positions[all_kept];
    chunk chunks[kept + 2];
    short_position in_step[room];
  };
  struct scratch {
    typename Block::scratch piece;
    of_warp warps[Team::warps];
  };
  static constexpr bool stores_unscanned = false;

  LANEWISE_FUNCTION found_places(const Team& team, scratch& shared, const Block& block)
      : team_(team), shared_(shared), mine_(shared.warps[team.warp_index()]), block_(block) {
    const auto warp = team.warp();
    warp.once([&] { mine_.all = {}; });
    warp.fence();
    // Functions that are not inlined get references to memory: the keeper's, and not all members.
    block_.find(
        keeper{warp, mine_, block_.first(), static_cast<std::uint32_t>(block_.places_of_lane())});
  }
  LANEWISE_FUNCTION std::int64_t total() {
    team_.barrier();
    std::int64_t all = 0;
    for (int w = 0; w < Team::warps; ++w) {
      if (w == team_.warp_index()) before_warp_ = all;
      all += shared_.warps[w].all.number;
      is_again_ = is_again_ || shared_.warps[w].all.is_full;
    }
    return all;
  }
  /// Writes the positions that the sink has room for.
  template <class Sink>
  LANEWISE_FUNCTION void store(const Sink& sink, std::int64_t before) const {
    const auto warp = team_.warp();
    std::int64_t at = before + before_warp_;
    std::uint32_t used = 0;
    for (int c = 0; c < mine_.all.chunks; ++c)
      at += write_chunk(warp, sink, at, mine_.chunks[c], used);
    // All warps call it, as they may compare together.
    if (is_again_) {
      const found_places self = *this;
      self.write_others(warp, sink, at);
    }
  }

 private:
  /// Keeps the steps of a block.
  struct keeper {
    using kind = typename chunk::kind;
    const warp_type& warp;
    of_warp& mine;
    std::int64_t first;  ///< the block's
    std::uint32_t each;  ///< positions of a lane

    template <class Bits>
    LANEWISE_FUNCTION void operator()(int step, std::int64_t, const Bits& found) const {
      if (!warp.any(found != word{0})) return;
      const words bits = Block::in_order(warp, found);
      const auto allocated = offsets_of(bits);
      kept_chunks now = mine.all;
      now.number += allocated.total;
      now.after_run = -1;
      const std::uint32_t offset = static_cast<std::uint32_t>(step) * each * width;
      if (allocated.total > of_words) {
        const std::uint32_t at = aligned_words(now.used);
        if (begin(now, {kind::words, offset, 0}, at + of_words - now.used)) {
          warp.store(reinterpret_cast<word*>(mine.kept_positions + at), bits);
          now.used = at + of_words;
          grow(now, allocated.total, step);
        }
      } else if (goes_on(now, offset, allocated.total) ||
                 begin(now, {kind::list, offset, 0}, allocated.total)) {
        write_short(warp, mine.kept_positions, offset - now.last.first, each, bits,
                    allocated.offset + numbers(now.used));
        now.used += allocated.total;
        grow(now, allocated.total, step);
      }
      remember(now);
    }
    LANEWISE_FUNCTION void run(int step, const detail::position_run& run) const {
      if (run.number == 0) return;
      kept_chunks now = mine.all;
      const bool is_same = run.first == now.after_run && !now.is_full;
      now.number += run.number;
      now.period = run.period;
      now.after_run = run.first + run.number * run.period;
      if (is_same || begin(now, {kind::run, static_cast<std::uint32_t>(run.first - first), 0}, 0))
        grow(now, run.number, step);
      remember(now);
    }

   private:
    struct offsets {
      numbers offset;
      std::uint32_t total;
    };
    LANEWISE_FUNCTION offsets offsets_of(const words& bits) const {
      if (warp.any((bits & (bits - words(word{1}))) != word{0})) {
        const auto allocated = lanewise::allocate(warp, detail::bits_set(warp, bits));
        return {allocated.offset, allocated.total};
      }
      // One ballot is enough if no lane has two positions.
      const auto lanes = warp.ballot(bits != word{0});
      return {warp.map(
                  [lanes](typename warp_type::bits below) {
                    return static_cast<std::uint32_t>(warp_type::popcount(lanes & below));
                  },
                  warp.lanes_below()),
              static_cast<std::uint32_t>(warp_type::popcount(lanes))};
    }
    /// Whether the last chunk is a list that has room for more positions.
    LANEWISE_FUNCTION bool goes_on(const kept_chunks& now, std::uint32_t offset,
                                   std::uint32_t positions) const {
      constexpr std::uint32_t most = std::numeric_limits<short_position>::max();
      return now.chunks > 0 && now.last.is == kind::list && !now.is_full &&
             now.used + positions <= all_kept && offset - now.last.first + each * width - 1 <= most;
    }
    /// Whether there is room for another chunk.
    static LANEWISE_FUNCTION bool begin(kept_chunks& now, const chunk& next, std::uint32_t needed) {
      now.is_full = now.is_full || now.chunks == kept + 2 || now.used + needed > all_kept;
      if (now.is_full) return false;
      now.last = next;
      ++now.chunks;
      return true;
    }
    LANEWISE_FUNCTION void grow(kept_chunks& now, std::uint32_t positions, int step) const {
      now.last.number += positions;
      now.end = step + 1;
      warp.once([&] { mine.chunks[now.chunks - 1] = now.last; });
    }
    LANEWISE_FUNCTION void remember(const kept_chunks& now) const {
      warp.fence();
      warp.once([&] { mine.all = now; });
      warp.fence();
    }
  };
  /// Writes a step's positions, from `first` on, as short ones.
  static LANEWISE_FUNCTION void write_short(const warp_type& warp, short_position* to,
                                            std::uint32_t first, std::uint32_t each, words bits,
                                            numbers offset) {
    auto lane = warp.lane();
    warp.each(
        bits != word{0},
        [=](word& rest, std::uint32_t& o, std::uint32_t& l) {
          for (; rest != 0; rest &= rest - 1, ++o)
            to[o] = static_cast<short_position>(first + each * l + lowest(rest));
        },
        bits, offset, lane);
  }
  /// Writes the positions of the steps that were not kept.
  template <class Sink>
  struct writer {
    const found_places& positions;
    const warp_type& warp;
    const Sink& sink;
    std::int64_t& at;

    template <class Bits>
    LANEWISE_FUNCTION void operator()(int step, std::int64_t first, const Bits& bits) const {
      if (positions.is_left(step) && warp.any(bits != word{0}))
        at += positions.write_many(warp, sink, at, first, Block::in_order(warp, bits));
    }
    LANEWISE_FUNCTION void run(int step, const detail::position_run& run) const {
      if (!positions.is_left(step)) return;
      positions.write_run(warp, sink, at, run);
      at += run.number;
    }
  };
  LANEWISE_FUNCTION bool is_left(int step) const {
    return mine_.all.is_full && step >= mine_.all.end;
  }
  template <class Sink>
  LANEWISE_SEPARATE_FUNCTION void write_others(const warp_type& warp, const Sink& sink,
                                               std::int64_t at) const {
    block_.find(writer<Sink>{*this, warp, sink, at});
  }
  /// Writes the positions of a chunk, and returns their number.
  template <class Sink>
  LANEWISE_FUNCTION std::uint32_t write_chunk(const warp_type& warp, const Sink& sink,
                                              std::int64_t at, const chunk& from,
                                              std::uint32_t& used) const {
    const chunk now = from;
    const std::int64_t first = block_.first() + now.first;
    if (now.is == chunk::kind::run) {
      write_run(warp, sink, at, {first, mine_.all.period, now.number});
    } else if (now.is == chunk::kind::list) {
      write_list(warp, sink, at, first, mine_.kept_positions + used, now.number);
      used += now.number;
    } else {
      used = aligned_words(used);
      write_many(warp, sink, at, first,
                 warp.load(reinterpret_cast<const word*>(mine_.kept_positions + used)));
      used += of_words;
    }
    return now.number;
  }
  template <class Sink>
  LANEWISE_FUNCTION void write_run(const warp_type& warp, const Sink& sink, std::int64_t at,
                                   const detail::position_run& run) const {
    const std::uint32_t number = fitting(sink, at, run.number);
    for (std::uint32_t i = 0; i < number; i += width) {
      const std::uint32_t left = number - i;
      auto lane = warp.lane();
      warp.each(
          warp.first(left),
          [&](std::uint32_t& l) { sink(at + i + l, run.first + (i + l) * run.period); }, lane);
    }
  }
  /// Returns how many of `number` positions the sink has room for.
  template <class Sink>
  static LANEWISE_FUNCTION std::uint32_t fitting(const Sink& sink, std::int64_t at,
                                                 std::uint32_t number) {
    const std::int64_t left = sink.extent - at;
    return left >= number ? number : left < 0 ? 0 : static_cast<std::uint32_t>(left);
  }
  /// Writes a list; neighbouring lanes write neighbouring items.
  template <class Sink>
  LANEWISE_FUNCTION void write_list(const warp_type& warp, const Sink& sink, std::int64_t at,
                                    std::int64_t first, const short_position* list,
                                    std::uint32_t all) const {
    const std::uint32_t number = fitting(sink, at, all);
    for (std::uint32_t i = 0; i < number; i += width) {
      const std::uint32_t left = number - i;
      const auto now = warp.first(left);
      auto position = warp.load(now, list + i, short_position{0});
      auto lane = warp.lane();
      warp.each(
          now, [&](short_position& p, std::uint32_t& l) { sink(at + i + l, first + p); }, position,
          lane);
    }
  }
  static LANEWISE_FUNCTION std::uint32_t lowest(word bits) {
    return static_cast<std::uint32_t>(warp_type::popcount((bits & ~(bits - 1)) - 1));
  }
  /// Writes the positions of a step, and returns their number.
  template <class Sink>
  LANEWISE_FUNCTION std::uint32_t write_many(const warp_type& warp, const Sink& sink,
                                             std::int64_t at, std::int64_t first,
                                             const words& bits) const {
    const auto allocated = lanewise::allocate(warp, detail::bits_set(warp, bits));
    if (allocated.total > room) {
      write_dense(warp, sink, at, first, bits);
    } else {
      write_short(warp, mine_.in_step, 0, static_cast<std::uint32_t>(block_.places_of_lane()), bits,
                  allocated.offset);
      warp.fence();
      write_list(warp, sink, at, first, mine_.in_step, allocated.total);
      warp.fence();
    }
    return allocated.total;
  }
  /// Writes one lane's word at a time by all lanes, a position each.
  template <class Sink>
  LANEWISE_FUNCTION void write_dense(const warp_type& warp, const Sink& sink, std::int64_t at,
                                     std::int64_t first, const words& bits) const {
    const int each = block_.places_of_lane();
    auto lane = warp.lane();
    auto below = warp.lanes_below();
    using lane_bits = typename warp_type::bits;
    constexpr auto lanes = static_cast<lane_bits>(~lane_bits{0} >> (8 * sizeof(lane_bits) - width));
    for (int owner = 0; owner < width; ++owner) {
      const word all = warp.broadcast(bits, owner);
      for (int b = 0; b < each; b += width) {
        const auto here = static_cast<lane_bits>(all >> b) & lanes;
        const std::int64_t position = first + owner * each + b;
        warp.each(
            warp.template mask_of<std::uint32_t>(here),
            [&](std::uint32_t& l, lane_bits& before) {
              const std::int64_t i = at + warp_type::popcount(here & before);
              if (i < sink.extent) sink(i, position + l);
            },
            lane, below);
        at += warp_type::popcount(here);
      }
    }
  }

  const Team& team_;
  scratch& shared_;
  of_warp& mine_;
  Block block_;
  bool is_again_ = false;
  std::int64_t before_warp_ = 0;
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
