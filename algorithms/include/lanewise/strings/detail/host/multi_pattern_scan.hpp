// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/operators.hpp>
#include <lanewise/strings/detail/host/multi_pattern_row_filter.hpp>
#include <lanewise/strings/detail/multi_pattern_shorts.hpp>
#include <lanewise/strings/detail/multi_pattern_text.hpp>
#include <lanewise/strings/detail/text_scan.hpp>
#include <lanewise/warp/warp.hpp>

#include <cstdint>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// The filter and the candidates of a set where a warp is one thread (multi_pattern_filter and
/// multi_pattern_candidates are for lanes that run side by side). The filter tests a row of W words
/// at a time, and lists windows that pass. These are looked up and compared one after the other, as
/// a processor overlaps their loads by itself.
///
/// A pattern has one window at each position where it begins, so no hit comes twice.
template <class Warp>
class multi_pattern_scan {
  static constexpr int most_listed = 512, row_bytes = 4 * Warp::width;
  static constexpr int most_positions = 32 * 32 * Warp::width;  // of a span
  /// This number of windows or entries is written at a time, even if fewer exist.
  static constexpr int at_once = 2;
  /// Rows of a span for each step. A span has one more: windows begin up to 51 bytes after.
  static constexpr int rows_of_step = 8;

 public:
  static constexpr int width = Warp::width;
  static constexpr int most_hits = 1024;
  /// Windows begin up to `reach` bytes after their patterns (51), or before the span (31).
  static constexpr int reach = 64;
  using words = lanes_t<Warp, std::uint32_t>;
  using mask = mask_t<Warp, std::uint32_t>;
  using bytes = lanes_t<Warp, unsigned char>;
  using bits = typename Warp::bits;

  struct scratch {
    std::uint32_t words[5 * most_listed + 4 * most_hits + 2 * most_positions / 32];
    /// The bytes of a step at an end of the text; zeros where there is no text.
    alignas(64) unsigned char edge[(rows_of_step + 1) * row_bytes + 16];
  };

  LANEWISE_FUNCTION multi_pattern_scan(const Warp& warp, const text_bytes& text,
                                       const pattern_set_view& set, scratch& shared)
      : warp_(warp),
        text_(text),
        set_(set),
        edge_(shared.edge),
        list_(shared.words),
        first_entry_(list_ + most_listed),
        number_(first_entry_ + most_listed),
        task_(number_ + most_listed),
        task_position_(task_ + most_listed),
        position_(task_position_ + most_listed),
        rank_(position_ + most_hits),
        order_(rank_ + most_hits),
        best_(order_ + most_hits),
        bits_(best_ + most_hits),
        hits_before_(bits_ + most_positions / 32) {}

  /// Begins a span of `positions` positions from `first` on. A turn is that of all lanes.
  LANEWISE_FUNCTION void begin(std::int64_t first, std::uint32_t positions, int turns) {
    first_ = first;
    positions_ = positions;
    turns_ = turns * (width / 2);
    hits_ = 0;
    is_full_ = false;
  }
  /// Whether the turns or the room are used up. Then nothing is known of the span.
  LANEWISE_FUNCTION bool is_full() const { return is_full_; }
  LANEWISE_FUNCTION int hits() const { return hits_; }

  /// Finds the hits of some steps, whose bytes begin `past` bytes before their positions.
  LANEWISE_FUNCTION void search(const unsigned char* at, int past, int steps) {
    // Windows begin from the second word on, as the first is before a window.
    byte_ = static_cast<std::uint32_t>(reach + 4 - past);
    const int rows = rows_of_step * steps + 1;
    switch (set_.kinds) {
      case 1:
        return scan_rows<0>(at, rows);
      case 2:
        return scan_rows<1>(at, rows);
      case 4:
        return scan_rows<2>(at, rows);
    }
  }
  /// As `search`, for a step at or near an end of the text.
  LANEWISE_RARE_FUNCTION void search_at_edge(int past) {
    const std::int64_t from = first_ - past;
    for (int i = 0; i < (rows_of_step + 1) * row_bytes + 16; ++i)
      edge_[i] = from + i >= 0 && from + i < text_.n ? text_.data[from + i] : std::uint8_t{0};
    search(edge_, past, 1);
  }
  /// Calls f(positions, ranks) for the positions of the span where patterns begin, W at a time and
  /// in order, counted from its first one. A position is there once, with the greatest of its
  /// ranks; where ranks are 0 there is none.
  template <class F>
  LANEWISE_FUNCTION void each_position(F f) {
    const int number = hits_ == 0 ? 0 : sort_hits();
    if (set_.has_shorts()) {
      multi_pattern_shorts<Warp>(warp_, text_, set_, list_, most_listed)
          .each_position(first_, positions_, {order_, best_, number}, f);
      return;
    }
    for (int i = 0; i < number; i += width) {
      const mask is_there = warp_.first(number - i);
      f(warp_.load(order_ + i), lanewise::select(is_there, warp_.load(best_ + i), words(0u)));
    }
  }

 private:
  template <int kind>
  LANEWISE_FUNCTION void scan_rows(const unsigned char* at, int rows) {
    if (!set_.uses_surroundings) return scan_rows<kind, surroundings_used::none>(at, rows);
    if ((set_.around.front | set_.around.after) == 0)
      return scan_rows<kind, surroundings_used::of_long>(at, rows);
    scan_rows<kind, surroundings_used::of_all>(at, rows);
  }

  /// Lists the windows of a kind that pass in `rows` rows, and looks them up from time to time.
  template <int kind, surroundings_used where>
  LANEWISE_SEPARATE_FUNCTION void scan_rows(const unsigned char* at, int rows) {
    constexpr int stride = window_kind{kind}.stride(), most = 8 / stride * width + at_once;
    using filter_type =
        std::conditional_t<kind == 0 && where == surroundings_used::none,
                           multi_pattern_row_buckets<Warp>, multi_pattern_row_filter<Warp>>;
    const Warp warp = warp_;
    const filter_type filter(warp, set_);
    const unsigned char* first = at;
    int listed = 0;
    for (int r = 0; r < rows; ++r, first += row_bytes) {
      std::uint64_t passed[4], any = 0;
      LANEWISE_UNROLL
      for (int o = 0; o < 4; o += stride) {
        passed[o] = filter.template test<kind, where>(warp, first + o * filter_type::test_bytes);
        any |= passed[o];
      }
      // With many patterns and short windows, some windows pass in most rows.
      constexpr bool are_few = stride == 4 || where == surroundings_used::none;
      if (are_few && any == 0) continue;
      LANEWISE_UNROLL
      for (int o = 0; o < 4; o += stride)
        listed = put<filter_type::lane_bytes>(
            passed[o], static_cast<std::uint32_t>(r * row_bytes + o * filter_type::test_bytes) << 1,
            listed);
      if (listed > most_listed - most) {
        look_up<kind>(at, listed);
        if (is_full_) return;
        listed = 0;
      }
    }
    look_up<kind>(at, listed);
  }
  /// Lists windows by their bits in `passed`: bit l is lane l's, bit 32 + l its long one. Windows
  /// of neighbouring lanes begin lane_bytes bytes apart. Mostly there are one or two, which are
  /// written without a branch. Returns the length of the list.
  template <int lane_bytes>
  LANEWISE_FUNCTION int put(std::uint64_t passed, std::uint32_t first, int listed) {
    std::uint32_t* to = list_ + listed;
    listed += Warp::popcount(passed);
    do {
      for (int k = 0; k < at_once; ++k, ++to, passed &= passed - 1) {
        const auto bit = static_cast<std::uint32_t>(Warp::popcount(~passed & (passed - 1)));
        *to = first + (bit & 31) * (2 * lane_bytes) + (bit >> 5);
      }
    } while (passed != 0);
    return listed;
  }

  /// Looks up the windows that are listed, and compares the patterns that have them.
  template <int kind>
  LANEWISE_SEPARATE_FUNCTION void look_up(const unsigned char* at, int listed) {
    const multi_pattern_text mine{text_, set_};
    const int found = find_slots<kind>(at, listed);
    turns_ -= listed;
    int tasks = 0;
    for (int i = 0; i < found && !is_full_; ++i) {
      const std::uint32_t position = byte_ + list_[i] - reach, number = number_[i] >> 8;
      const window_entry one[at_once] = {{first_entry_[i], number_[i] & 0xff}};
      const window_entry* entry = number == 1 ? one : set_.entries + first_entry_[i];
      for (std::uint32_t k = 0; k < number; k += at_once) {
        for (int next = 0; next < static_cast<int>(at_once); ++next, ++entry) {
          task_[tasks + next] = entry->record;
          task_position_[tasks + next] = position - entry->offset;
        }
        tasks += number - k < at_once ? number - k : at_once;
        if (tasks > most_listed - at_once) tasks = compare(mine, tasks);
      }
    }
    compare(mine, tasks);
  }
  /// Finds the listed windows that patterns have, and the contents of their slots. Returns their
  /// number.
  template <int kind>
  LANEWISE_FUNCTION int find_slots(const unsigned char* at, int listed) {
    const Warp warp = warp_;
    const auto* const slots = reinterpret_cast<const std::uint32_t*>(set_.slots);
    const words last((1u << set_.slots_bits) - 1), letters(set_.letters);
    int found = 0;
    for (int i = 0; i < listed; i += width) {
      const mask exist = warp.first(listed - i);
      warp.fence();
      const words entry = lanewise::select(exist, warp.load(list_ + i), words(0u)),
                  byte = entry >> 1;
      warp.fence();
      const mask is_long = (entry & words(1u)) != 0u;
      const words index = byte >> 2, past = (byte & words(3u)) << 3;
      words in[5];
      for (int w = 0; w < 5; ++w)
        in[w] = warp.template gather_unaligned<std::uint32_t>(at + 4 * w, index) & letters;
      for (int w = 0; w < 4; ++w) in[w] = in[w] >> past | in[w + 1] << 1 << (words(31u) - past);
      words low = in[1], high = window_key::high_of(kind, in[2]);
      const words after =
          detail::word_across(in[window_kind{kind}.bytes() / 4 + 1],
                              in[window_kind{kind}.bytes() / 4 + 2], window_kind{kind}.bytes() % 4);
      const words around = lanewise::select(is_long, after, set_.around.mixed(in[0], after));
      low = lanewise::select(is_long, window_key::low_of_long(low), low);
      high = window_key::high_with(high, around);
      words slot = window_slot::index(window_key::mixed(low, high), set_.slots_bits);
      mask open = exist;
      for (;; slot = (slot + words(1u)) & last) {
        const words number = warp.gather_scratch(slots + 3, slot << 2);
        const mask is_it = open & (warp.gather_scratch(slots, slot << 2) == low) &
                           (warp.gather_scratch(slots + 1, slot << 2) == high) & (number != 0u);
        if (warp.any(is_it)) {
          const int more = warp.compress_store(list_ + found, is_it, byte);
          warp.compress_store(first_entry_ + found, is_it,
                              warp.gather_scratch(slots + 2, slot << 2));
          warp.compress_store(number_ + found, is_it, number);
          found += more;
        }
        open = open & !is_it & (number != 0u);
        if (!warp.any(open)) break;
      }
    }
    return found;
  }
  /// Compares patterns and keeps matches as hits. Returns 0.
  LANEWISE_FUNCTION int compare(const multi_pattern_text& mine, int tasks) {
    int hits = hits_;
    for (int t = 0; t < tasks && hits < most_hits; ++t) {
      const std::uint32_t* const record = set_.records + task_[t];
      const std::uint32_t position = task_position_[t];
      position_[hits] = position;
      rank_[hits] = record[0];
      hits += position < positions_ && is_at(mine, first_ + position, record) ? 1 : 0;
    }
    turns_ -= tasks;
    is_full_ = is_full_ || turns_ < 0 || hits == most_hits;
    hits_ = hits;
    return 0;
  }
  LANEWISE_FUNCTION bool is_at(const multi_pattern_text& mine, std::int64_t position,
                               const std::uint32_t* record) {
    const std::int64_t size = record[1];
    if (position + size + width > text_.n) return mine.is_at(position, record[0]);
    const auto* const pattern = reinterpret_cast<const unsigned char*>(record + 2);
    std::int64_t i = 0;
    for (; i + width < size; i += width)
      if (differing(position + i, pattern + i) != 0) return false;
    turns_ -= static_cast<int>(i >> 8);
    return (differing(position + i, pattern + i) & ~(~bits{1} << (size - i - 1))) == 0;
  }
  /// Returns which of W bytes of the text differ from a pattern's.
  LANEWISE_FUNCTION bits differing(std::int64_t position, const unsigned char* pattern) const {
    auto text = warp_.load(text_.data + position);
    if (set_.folds_case) {
      const bytes a(static_cast<unsigned char>('A'));
      text = lanewise::select(text - a < static_cast<unsigned char>(26),
                              text | bytes(static_cast<unsigned char>(0x20)), text);
    }
    return warp_.ballot(text != warp_.load(pattern));
  }

  /// Sorts the hits by position and keeps the greatest rank of each: bits count the positions
  /// before one. Returns the number of positions.
  LANEWISE_SEPARATE_FUNCTION int sort_hits() {
    const int last = static_cast<int>(positions_ / 32);
    warp_.fence();
    for (int w = 0; w < last; w += width) warp_.store(bits_ + w, words(0u));
    warp_.fence();
    for (int i = 0; i < hits_; ++i) bits_[position_[i] / 32] |= 1u << position_[i] % 32;
    std::uint32_t number = 0;
    for (int w = 0; w < last; w += width) {
      const words mine = detail::bits_set(warp_, warp_.load(bits_ + w));
      const words upto = warp_.inclusive_scan(mine, plus{}) + words(number);
      warp_.store(hits_before_ + w, upto - mine);
      number = warp_.broadcast(upto, width - 1);
    }
    for (std::uint32_t i = 0; i < number; i += width) warp_.store(best_ + i, words(0u));
    warp_.fence();
    for (int i = 0; i < hits_; ++i) {
      const std::uint32_t position = position_[i], rank = rank_[i], word = position / 32;
      const std::uint32_t to =
          hits_before_[word] +
          static_cast<std::uint32_t>(Warp::popcount(bits_[word] & ((1u << position % 32) - 1)));
      order_[to] = position;
      best_[to] = best_[to] < rank ? rank : best_[to];
    }
    warp_.fence();
    return static_cast<int>(number);
  }

  const Warp& warp_;
  const text_bytes& text_;
  const pattern_set_view& set_;
  unsigned char* edge_;
  std::uint32_t *list_, *first_entry_, *number_, *task_, *task_position_, *position_, *rank_,
      *order_, *best_, *bits_, *hits_before_;
  std::int64_t first_ = 0;
  std::uint32_t positions_ = 0, byte_ = 0;
  int turns_ = 0, hits_ = 0;
  bool is_full_ = false;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
