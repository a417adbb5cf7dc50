// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/strings/detail/row_bits.hpp>
#include <lanewise/strings/detail/rows.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// A warp's walk through a piece. It finds the bits of some steps, then answers W rows at a time.
/// Each lane finds where its row begins and ends among the bits.
///
///   steps       |  7  |  8  |  9  |        rows that end in step 7 may belong to the piece whose
///   rows         aa b cc ddddd eeeee        first step is 8: then it looks at step 7, too
///   piece              |cc  d    |          c and d end in it, e goes on after it
template <class Warp, class Bits>
class row_walk {
  static constexpr int width = Warp::width;
  static constexpr int positions = row_path<Warp>::positions;
  static constexpr int rows_at_once = 8, window = rows_at_once * width;
  template <class T>
  using lanes = lanes_t<Warp, T>;
  using numbers = lanes<std::uint32_t>;
  using kind = row_question::kind;
  static constexpr std::uint32_t nowhere = 0xffffffff;
  static constexpr std::uint32_t is_null = 1, is_bad = 2;

  /// What is known of a row: how many positions, and one of them, counted from the walk's origin.
  struct known_row {
    std::int64_t number = 0;
    std::int64_t position = -1;
  };
  /// Steps whose bits are in scratch, if they are known, and their positions from the origin on.
  struct some_steps {
    std::int64_t base;  ///< the finder's first step
    int first, number;
    std::uint32_t begin, end = 0;
    bool are_known = false;
    std::uint32_t found = 0;
  };

 public:
  struct scratch {
    typename Bits::template scratch<Warp> bits;
    ranked_bits<Warp> ranked;
    /// The begins of the rows of the window, and the end of the last one: counted from the origin.
    std::uint32_t end[window + 1];
    std::uint8_t flags[window];
  };

  LANEWISE_FUNCTION row_walk(const Warp& warp, scratch& shared, const row_path<Warp>& path,
                             const Bits& bits, const row_results& out, const row_question& question,
                             const row_piece& piece)
      : warp_(warp),
        here_(shared),
        path_(path),
        rows_(path.rows),
        bits_(bits),
        out_(out),
        question_(question),
        piece_(piece),
        origin_(path.position(piece.first_step) - positions) {}

  LANEWISE_FUNCTION void walk() {
    open_ = first_ = {};
    has_none_ = bits_.passed.are_known() && has_no_positions() && has_good_rows();
    if (has_none_) return;
    seen_first_ = piece_.first_row;
    seen_ = next_ = 0;
    sees_all_ = false;
    // The second row may begin in the step before.
    const bool goes_back =
        piece_.first_step > 0 && piece_.first_row < piece_.end_row &&
        rows_.offsets(piece_.first_row + 1) - path_.first < path_.position(piece_.first_step);
    const std::int64_t first = piece_.first_step - (goes_back ? 1 : 0);
    const int steps = static_cast<int>(piece_.end_step - first);
    const typename Bits::template finder<Warp> finder(warp_, here_.bits, path_.text, bits_,
                                                      path_.position(first), steps);
    some_steps here{first, 0, 0, goes_back ? 0u : static_cast<std::uint32_t>(positions)};
    do {
      cut(here, steps);
      if (!here.are_known && !Bits::before_results) find(finder, here);
      finish_rows(finder, here, here.first + here.number == steps);
      here.first += here.number;
      here.begin = here.end;
    } while (here.first < steps);
  }

  LANEWISE_FUNCTION row_carry carry() const {
    const std::int64_t position = open_.position < 0 ? -1 : origin_ + open_.position;
    return row_carry::of(question_.hands_on_number() ? open_.number : position, ends());
  }
  /// Writes the row that may have begun before the piece, given what is known of it. Returns
  /// whether the position that is wanted is in this piece, and has to be found by walking once
  /// more.
  LANEWISE_FUNCTION bool write_first(std::int64_t before) {
    if (has_none_) out_.fill(warp_, piece_.first_row + 1, piece_.end_row, question_.none());
    const known_row mine = ends() ? first_ : open_;
    const std::int64_t row = piece_.first_row;
    if (question_.what != kind::nth) {
      const std::int64_t position = mine.position < 0 ? -1 : origin_ + mine.position;
      if (ends())
        write(row, question_.joined(before, question_.hands_on_number() ? mine.number : position));
      return false;
    }
    if (ends() && open_.position >= 0) write(piece_.end_row, origin_ + open_.position);
    const std::int64_t wanted = wanted_of(0), left = wanted - before;
    if (ends() && (wanted < 0 || left >= mine.number)) write(row, -1);
    if (wanted < 0 || left < 0 || left >= mine.number) return false;
    if (before == 0) {
      write(row, origin_ + mine.position);
      return false;
    }
    question_.nth = left;
    piece_.end_row = row;
    return true;
  }
  LANEWISE_FUNCTION void write_found() const { write(piece_.first_row, origin_ + open_.position); }
  LANEWISE_FUNCTION std::uint64_t bad() const { return bad_; }

 private:
  static constexpr int most_steps = ranked_bits<Warp>::most_steps;
  /// Whether a row ends in the piece.
  LANEWISE_FUNCTION bool ends() const { return piece_.first_row < piece_.end_row; }

  /// Which position is wanted of the block's first row (0) or of the one that it leaves open (1).
  LANEWISE_FUNCTION std::int64_t wanted_of(int i) const {
    return question_.nth >= 0 ? question_.nth
                              : question_.totals[2 * piece_.number + i] + question_.nth;
  }
  /// As wanted_of, for rows from `row` on, by lanes.
  template <class Mask>
  LANEWISE_FUNCTION lanes<std::int64_t> wanted_of_rows(const Mask& there, std::int64_t row) const {
    using positions_of_rows = lanes<std::int64_t>;
    if (question_.nth >= 0) return positions_of_rows(question_.nth);
    const std::int64_t own = piece_.end_row - row;
    const int inner = own < width ? static_cast<int>(own) : width;
    positions_of_rows wanted =
        out_.load(warp_, there & own_of(row, inner), row) + positions_of_rows(question_.nth);
    if (inner < width)
      wanted = lanewise::select(warp_.lane() == static_cast<std::uint32_t>(inner),
                                positions_of_rows(wanted_of(1)), wanted);
    if (row == piece_.first_row)
      wanted = lanewise::select(warp_.first(1), positions_of_rows(wanted_of(0)), wanted);
    return wanted;
  }

  /// Whether no step may have any, the one before included.
  LANEWISE_FUNCTION bool has_no_positions() const {
    const std::int64_t steps_per_word = bits_.passed.steps_per_word;
    const std::int64_t first = piece_.first_step > 0 ? (piece_.first_step - 1) / steps_per_word : 0;
    const std::int64_t end = divide_up(piece_.end_step, steps_per_word);
    bool any = false;
    for (std::int64_t w = first; w < end && !any; w += width) {
      const auto there = warp_.first(end - w);
      any = warp_.any(warp_.load(there, bits_.passed.words + w, 0u) != 0u);
    }
    return !any;
  }
  /// Whether no row that ends in the piece is bad.
  LANEWISE_FUNCTION bool has_good_rows() const {
    if (!ends()) return true;
    return !rows_.is_bad(rows_.offsets(piece_.first_row), rows_.offsets(piece_.end_row)) &&
           !rows_.offsets.with_type([&](const auto* offsets)
                                        LANEWISE_INLINE_LAMBDA { return any_falls(offsets); });
  }
  template <class T>
  LANEWISE_FUNCTION bool any_falls(const T* offsets) const {
    numbers falls(0u);
    for (std::int64_t row = piece_.first_row; row < piece_.end_row; row += window) {
      lanes<T> begin[rows_at_once], end[rows_at_once];
      LANEWISE_UNROLL
      for (int k = 0; k < rows_at_once; ++k) {
        const std::int64_t at = row + k * width, left = piece_.end_row - at;
        const auto there = warp_.first(left);
        begin[k] = warp_.load(there, offsets + at, T{});
        end[k] = warp_.load(there, offsets + at + 1, T{});
      }
      LANEWISE_UNROLL
      for (int k = 0; k < rows_at_once; ++k)
        falls = falls | warp_.map([](T b, T e) { return b > e ? 1u : 0u; }, begin[k], end[k]);
    }
    return warp_.any(falls != 0u);
  }

  /// The next steps: all that have no positions, or some steps, if the first may have any.
  LANEWISE_FUNCTION void cut(some_steps& here, int steps) const {
    const std::int64_t first = here.base + here.first;
    const auto blank =
        static_cast<int>(bits_.passed.template first_of<Warp>(first, here.base + steps) - first);
    const int left = steps - here.first;
    here.are_known = blank > 0;
    here.found = 0;
    here.number = blank > 0 ? blank : (left < most_steps ? left : most_steps);
    here.end = here.begin + static_cast<std::uint32_t>(here.number * positions);
  }
  template <class Finder>
  LANEWISE_FUNCTION void find(const Finder& finder, some_steps& here) const {
    here.found = here_.ranked.fill(warp_, finder, here.first, here.number,
                                   [&](int s) { return bits_.passed.may_have(here.base + s); });
    here.are_known = true;
  }

  LANEWISE_FUNCTION void write(std::int64_t row, std::int64_t value) const {
    std::int64_t result = value;
    if constexpr (Bits::before_results) {
      if (warp_.broadcast(out_.load(warp_, warp_.first(1), row), 0) < 0) return;
    }
    if (question_.what == kind::contains) {
      result = value != 0 ? 1 : 0;
    } else if (!question_.is_number() && value >= 0) {
      result = value + path_.first - rows_.offsets(row);
    }
    warp_.once([&] { out_.put(row, result); });
  }

  /// Loads the offsets of a window of rows from the next one on.
  LANEWISE_FUNCTION void load_rows() {
    seen_first_ += next_;
    next_ = 0;
    const std::int64_t last = piece_.end_row < rows_.count ? piece_.end_row + 1 : rows_.count;
    const std::int64_t left = last - seen_first_;
    sees_all_ = left <= window;
    seen_ = static_cast<int>(sees_all_ ? left : window);
    warp_.fence();
    const bool any = rows_.offsets.with_type([&](const auto* offsets) LANEWISE_INLINE_LAMBDA {
      return load_offsets(offsets + seen_first_);
    });
    any_flags_ = any;
    if (seen_first_ == piece_.first_row)
      warp_.once([&] {
        if (here_.end[0] < static_cast<std::uint32_t>(positions)) here_.end[0] = positions;
      });
    warp_.fence();
  }
  template <class T>
  LANEWISE_FUNCTION bool load_offsets(const T* offsets) const {
    lanes<T> begin[rows_at_once], end[rows_at_once];
    LANEWISE_UNROLL
    for (int k = 0; k < rows_at_once; ++k)
      end[k] = warp_.load(in_row(k), offsets + k * width + 1, T{});
    warp_.fence();  // all loads begin before one is used
    LANEWISE_UNROLL
    for (int k = 0; k < rows_at_once; ++k)
      begin[k] = warp_.load(in_row(k), offsets + k * width, T{});
    const std::int64_t origin = path_.first + origin_;
    const auto counted = [&, origin](T x) {
      const std::int64_t at = rows_.offsets.number(x);
      if (at < origin) return 0u;
      // The difference from a bad offset may only fit an unsigned number.
      const std::uint64_t past =
          static_cast<std::uint64_t>(at) - static_cast<std::uint64_t>(origin);
      return past < nowhere ? static_cast<std::uint32_t>(past) : nowhere;
    };
    numbers flags[rows_at_once], all(0u);
    LANEWISE_UNROLL
    for (int k = 0; k < rows_at_once; ++k) {
      warp_.store(in_row(k), here_.end + k * width + 1, warp_.map(counted, end[k]));
      const std::int64_t first = seen_first_ + k * width;
      flags[k] = warp_.map(
          in_row(k),
          [&](T b, T e, std::uint32_t l) {
            const bool bad = rows_.is_bad(rows_.offsets.number(b), rows_.offsets.number(e));
            return bad ? is_bad : (rows_.is_null(first + l) ? is_null : 0u);
          },
          0u, begin[k], end[k], warp_.lane());
      all = all | flags[k];
    }
    const std::uint32_t begins = counted(warp_.broadcast(begin[0], 0));
    warp_.once([&] { here_.end[0] = begins; });
    if (!warp_.any(all != 0u)) return false;
    LANEWISE_UNROLL
    for (int k = 0; k < rows_at_once; ++k)
      warp_.store(in_row(k), here_.flags + k * width, warp_.template cast<std::uint8_t>(flags[k]));
    return true;
  }
  LANEWISE_FUNCTION auto in_row(int k) const { return warp_.first(seen_ - k * width); }

  /// Finishes the rows that end in some steps, and keeps what the next one has in them.
  template <class Finder>
  LANEWISE_FUNCTION void finish_rows(const Finder& finder, some_steps& steps, bool is_last) {
    for (;;) {
      if (!sees_all_ && next_ + width > seen_) load_rows();
      if (!Bits::before_results && steps.are_known && steps.found == 0) {
        pass_rows(steps, is_last);
        if (!sees_all_ && next_ + width > seen_) continue;
      }
      const int n = seen_ - next_ < width ? seen_ - next_ : width;
      if (n == 0) return;
      const auto there = warp_.first(n);
      const numbers row_end = warp_.load(there, here_.end + next_ + 1, 0u);
      numbers flags(0u);
      if (any_flags_)
        flags = warp_.template cast<std::uint32_t>(
            warp_.load(there, here_.flags + next_, std::uint8_t{0}));
      const std::int64_t row = seen_first_ + next_, own = piece_.end_row - row;
      auto done = there & warp_.first(own < n ? static_cast<int>(own) : n);
      if (!is_last) done = done & ((row_end <= numbers(steps.end)) | (flags >= numbers(is_bad)));
      const auto undone = warp_.ballot(there & !done);
      const int k = undone != 0 ? Warp::lowest(undone) : n;

      const numbers row_begin = warp_.load(there, here_.end + next_, 0u);
      numbers number(0u), position(nowhere);
      if (!steps.are_known || steps.found > 0) {
        numbers last = row_end;
        if constexpr (Bits::before_results) last = results_of(there, row, row_begin);
        look_up(finder, steps, there & (flags == 0u), row, row_begin, last, number, position);
      }
      if (open_.position >= 0 &&
          (question_.what != kind::last || warp_.broadcast(position, 0) == nowhere))
        position = lanewise::select(warp_.first(1),
                                    numbers(static_cast<std::uint32_t>(open_.position)), position);
      write_rows(row, k, number, position, row_begin);
      if (any_flags_)
        bad_ +=
            static_cast<std::uint64_t>(warp_.count(warp_.first(k) & (flags >= numbers(is_bad))));
      if (row == piece_.first_row && k > 0) first_ = known(number, position, 0);
      if (k < n) {
        open_ = known(number, position, k);
        next_ += k;
        return;
      }
      open_ = {};
      next_ += n;
    }
  }
  /// Fills the results of rows without positions.
  LANEWISE_FUNCTION void pass_rows(const some_steps& steps, bool is_last) {
    if (any_flags_ || open_.number != 0 || open_.position >= 0) return;
    const std::int64_t row = seen_first_ + next_, own = piece_.end_row - row;
    const std::int64_t most = own < seen_ - next_ ? own : seen_ - next_;
    const std::uint32_t* const end = here_.end + next_ + 1;
    const std::int64_t n =
        is_last ? most : lanewise::partition_point(warp_, 0, most, [&](std::int64_t i) {
          return end[i] <= steps.end;
        });
    for (std::int64_t i = 0; i < n; i += width)
      out_.store(warp_, own_of(row + i, static_cast<int>(n - i < width ? n - i : width)), row + i,
                 lanes<std::int64_t>(question_.none()));
    next_ += static_cast<int>(n);
  }
  /// What is known of the row of a lane. The first lane's row may have begun before.
  LANEWISE_FUNCTION known_row known(const numbers& number, const numbers& position,
                                    int lane) const {
    const std::uint32_t here = warp_.broadcast(position, lane);
    return {(lane == 0 ? open_.number : 0) + warp_.broadcast(number, lane),
            here == nowhere ? -1 : std::int64_t{here}};
  }
  /// The positions of the results of rows, from the origin on.
  template <class Mask>
  LANEWISE_FUNCTION numbers results_of(const Mask& there, std::int64_t row,
                                       const numbers& begin) const {
    lanes<std::int64_t> from = warp_.template cast<std::int64_t>(begin);
    if (row == piece_.first_row)
      from = lanewise::select(
          warp_.first(1), lanes<std::int64_t>(rows_.offsets(row) - path_.first - origin_), from);
    return warp_.map(
        [](std::int64_t b, std::int64_t result) {
          const std::int64_t at = result < 0 ? 0 : b + result;
          return at < 0 ? 0
                        : (at < std::int64_t{nowhere} ? static_cast<std::uint32_t>(at) : nowhere);
        },
        from, out_.load(warp_, there, row));
  }
  /// How many positions of each row are among the bits, and which is the wanted one.
  template <class Finder, class Mask>
  LANEWISE_FUNCTION void look_up(const Finder& finder, some_steps& steps, const Mask& active,
                                 std::int64_t row, const numbers& row_begin, const numbers& row_end,
                                 numbers& number, numbers& position) const {
    const auto after = static_cast<std::uint32_t>(bits_.after());
    const std::uint32_t begin = steps.begin, end = steps.end;
    const numbers from =
        warp_.map([begin](std::uint32_t b) { return b > begin ? b - begin : 0; }, row_begin);
    const numbers to = warp_.map(
        [begin, end, after](std::uint32_t e) {
          const std::uint32_t last = e > after ? e - after : 0;
          return last <= begin ? 0 : (last < end ? last : end) - begin;
        },
        row_end);
    const auto is_there = active & (from < to);
    if (!warp_.any(is_there)) return;
    if (!steps.are_known) find(finder, steps);
    const numbers before = here_.ranked.rank(warp_, is_there, from);
    number = lanewise::select(is_there, here_.ranked.rank(warp_, is_there, to) - before, number);
    if (question_.is_number()) return;
    numbers wanted = number - numbers(1u);
    if (question_.what != kind::last) {
      const lanes<std::int64_t> open(open_.number), nothing(std::int64_t{0});
      wanted = warp_.map(
          [](std::int64_t i) {
            return i < 0 || i >= std::int64_t{nowhere} ? nowhere : static_cast<std::uint32_t>(i);
          },
          wanted_of_rows(active, row) - lanewise::select(warp_.first(1), open, nothing));
    }
    const auto has = is_there & (wanted < number);
    if (warp_.any(has))
      position = lanewise::select(
          has, here_.ranked.position(warp_, has, before + wanted, steps.number) + numbers(begin),
          position);
  }
  /// The first k rows from one on, but for the block's first, which may have begun before.
  LANEWISE_FUNCTION auto own_of(std::int64_t row, int k) const {
    const auto all = warp_.first(k);
    return row == piece_.first_row ? all & !warp_.first(1) : all;
  }
  LANEWISE_FUNCTION void write_rows(std::int64_t row, int k, const numbers& number,
                                    const numbers& position, const numbers& begin) const {
    auto these = own_of(row, k);
    if constexpr (Bits::before_results)
      these = these & (out_.load(warp_, these, row) >= lanes<std::int64_t>(std::int64_t{0}));
    lanes<std::int64_t> result;
    if (question_.is_number()) {
      const auto of_all = warp_.template cast<std::int64_t>(number);
      const lanes<std::int64_t> first(open_.number);
      result =
          of_all + lanewise::select(warp_.first(1), first, lanes<std::int64_t>(std::int64_t{0}));
      if (question_.what == kind::contains)
        result = warp_.map([](std::int64_t x) { return std::int64_t{x != 0}; }, result);
    } else {
      result = warp_.map(
          [](std::uint32_t p, std::uint32_t b) {
            return p == nowhere ? std::int64_t{-1} : std::int64_t{p - b};
          },
          position, begin);
    }
    out_.store(warp_, these, row, result);
  }

  const Warp& warp_;
  scratch& here_;
  const row_path<Warp>& path_;
  const row_layout& rows_;
  const Bits& bits_;
  const row_results& out_;
  row_question question_;
  row_piece piece_;
  std::int64_t origin_;  // in the text: a step before the piece's first
  // The window of rows: its first, how many there are, which is next, and whether none is after.
  std::int64_t seen_first_;
  int seen_, next_;
  bool sees_all_, any_flags_;
  known_row open_;   // of the next row, up to where the walk is
  known_row first_;  // of the row that ends first
  std::uint64_t bad_ = 0;
  bool has_none_ = false;  // no positions and no bad rows: what ends in the piece has none
};

}  // namespace detail
LANEWISE_END_NAMESPACE
