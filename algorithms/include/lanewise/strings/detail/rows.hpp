// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/strings/detail/matches.hpp>
#include <lanewise/team/policy.hpp>
#include <lanewise/team/team.hpp>
#include <lanewise/team/team_algorithms.hpp>
#include <lanewise/tile/fixed_tree.hpp>
#include <lanewise/warp/search.hpp>

#include <cstdint>
#include <limits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Offsets of 32 or 64 bits. Those without a sign that are greater than any std::int64_t are
/// negative ones, and bad.
class row_offsets {
 public:
  template <class T>
  explicit row_offsets(const T* data)
      : data_(data), is_wide_(sizeof(T) == 8), is_signed_(std::is_signed_v<T>) {}

  /// Calls f with a pointer to what is in memory; number() makes numbers of it.
  template <class F>
  LANEWISE_FUNCTION auto with_type(F f) const {
    if (is_wide_) return f(static_cast<const std::int64_t*>(data_));
    return f(static_cast<const std::uint32_t*>(data_));
  }
  LANEWISE_FUNCTION std::int64_t number(std::int64_t x) const { return x; }
  LANEWISE_FUNCTION std::int64_t number(std::uint32_t x) const {
    return is_signed_ ? std::int64_t{static_cast<std::int32_t>(x)} : std::int64_t{x};
  }
  LANEWISE_FUNCTION std::int64_t operator()(std::int64_t i) const {
    return with_type([&](const auto* data) { return number(data[i]); });
  }

 private:
  const void* data_;
  bool is_wide_, is_signed_;
};

/// Integers of any type, one for each row. What is too great becomes the greatest.
class row_results {
  template <class F>
  LANEWISE_FUNCTION auto with_type(F f) const {
    switch (bytes_) {
      case 1:
        return f(static_cast<std::uint8_t*>(data_));
      case 2:
        return f(static_cast<std::uint16_t*>(data_));
      case 4:
        return f(static_cast<std::uint32_t*>(data_));
      default:
        return f(static_cast<std::uint64_t*>(data_));
    }
  }

 public:
  template <class T>
  explicit row_results(T* data)
      : data_(data),
        bytes_(sizeof(T)),
        most_(sizeof(T) == 8 ? std::numeric_limits<std::int64_t>::max()
                             : static_cast<std::int64_t>(std::numeric_limits<T>::max())) {}

  /// Lane i is result first + i.
  template <class W, class Mask, class Values>
  LANEWISE_FUNCTION void store(const W& warp, const Mask& active, std::int64_t first,
                               const Values& values) const {
    const Values most(most_);
    const Values x = lanewise::select(values > most, most, values);
    with_type([&](auto* data) LANEWISE_INLINE_LAMBDA {
      using T = std::decay_t<decltype(*data)>;
      warp.store(active, data + first, warp.template cast<T>(x));
    });
  }
  /// Results [first, last).
  template <class W>
  LANEWISE_FUNCTION void fill(const W& warp, std::int64_t first, std::int64_t last,
                              std::int64_t x) const {
    if (first >= last) return;
    with_type([&](auto* data) LANEWISE_INLINE_LAMBDA {
      lanewise::fill(lone_warp<W>{warp}, data + first, last - first,
                     static_cast<std::decay_t<decltype(*data)>>(x));
    });
  }
  /// Loads results of this call that are positions, with -1 for none, whatever the type.
  template <class W, class Mask>
  LANEWISE_FUNCTION auto load(const W& warp, const Mask& active, std::int64_t first) const {
    return with_type([&](const auto* data) LANEWISE_INLINE_LAMBDA {
      using T = std::decay_t<decltype(*data)>;
      return warp.map(
          [](T x) {
            return x == static_cast<T>(~T{0}) ? std::int64_t{-1} : static_cast<std::int64_t>(x);
          },
          warp.load(active, data + first, static_cast<T>(~T{0})));
    });
  }
  /// Stores one result by one lane.
  LANEWISE_FUNCTION void put(std::int64_t i, std::int64_t x) const {
    const std::int64_t here = x > most_ ? most_ : x;
    with_type([&](auto* data) { data[i] = static_cast<std::decay_t<decltype(*data)>>(here); });
  }

 private:
  void* data_;
  int bytes_;
  std::int64_t most_;
};

/// Rows of bytes: row r has bytes [offsets(r), offsets(r + 1)).
struct row_layout {
  text_bytes bytes;
  row_offsets offsets;
  std::int64_t count;
  const unsigned char* valid;  ///< bits; null where all rows are valid
  std::int64_t first_bit;

  LANEWISE_FUNCTION std::int64_t within(std::int64_t i) const {
    return i < 0 ? 0 : (i < bytes.n ? i : bytes.n);
  }
  LANEWISE_FUNCTION bool is_bad(std::int64_t begin, std::int64_t end) const {
    return begin < 0 || begin > end || end > bytes.n;
  }
  LANEWISE_FUNCTION bool is_null(std::int64_t r) const {
    return valid != nullptr && (valid[(first_bit + r) / 8] >> (first_bit + r) % 8 & 1) == 0;
  }
};

/// The question that every row answers.
struct row_question {
  enum class kind { contains, number, first, last, nth };
  kind what;
  std::int64_t nth = 0;  ///< less than 0: from the end. Then out has the numbers of positions,
  std::int64_t* totals = nullptr;  ///< and this those of the rows at the pieces' ends, two for each

  LANEWISE_FUNCTION bool is_number() const {
    return what == kind::contains || what == kind::number;
  }
  LANEWISE_FUNCTION std::int64_t none() const { return is_number() ? 0 : -1; }
  /// Whether pieces hand on a number of positions; else they hand on a position.
  LANEWISE_FUNCTION bool hands_on_number() const { return is_number() || what == kind::nth; }
  LANEWISE_FUNCTION std::int64_t joined(std::int64_t a, std::int64_t b) const {
    if (hands_on_number()) return a + b;
    if (a < 0 || b < 0) return a < 0 ? b : a;
    return what == kind::last ? b : a;
  }
};

/// What a piece of the path hands on: what is known of the row that goes on after it, and whether
/// that row begins in the piece.
struct row_carry {
  static constexpr bool orders_memory = true;
  std::int64_t word;

  static LANEWISE_FUNCTION row_carry of(std::int64_t value, bool begins) {
    return {2 * value + (begins ? 1 : 0)};
  }
  LANEWISE_FUNCTION bool begins() const { return (word & 1) != 0; }
  LANEWISE_FUNCTION std::int64_t value() const { return word >> 1; }
};
struct join_row_carries {
  row_question question;
  LANEWISE_FUNCTION row_carry operator()(const row_carry& a, const row_carry& b) const {
    return b.begins() ? b : row_carry::of(question.joined(a.value(), b.value()), a.begins());
  }
  LANEWISE_FUNCTION bool stands_alone(const row_carry& b) const { return b.begins(); }
};

/// Rows that end in a piece of the path, and steps of positions.
struct row_piece {
  std::int64_t number;
  std::int64_t first_row, end_row;
  std::int64_t first_step, end_step;
};

/// The path through the steps of the bytes that rows have and the rows' ends. A row's end comes
/// after the step that the row ends in. Pieces of equal length are equal work, whatever rows there
/// are.
template <class Warp>
struct row_path {
  static constexpr int positions = 32 * Warp::width;
  static constexpr int units = 64;  ///< a step is as long as this number of ends

  const row_layout& rows;
  std::int64_t first;  ///< of all bytes
  text_bytes text;     ///< from there on
  bool is_filtered;    ///< it is known which steps may have positions
  int past = 0;
  std::int64_t steps = 0;

  template <class Bits>
  LANEWISE_FUNCTION row_path(const row_layout& layout, const Bits& bits)
      : rows(layout), is_filtered(bits.passed.are_known()) {
    first = rows.within(rows.offsets(0));
    const std::int64_t end = rows.within(rows.offsets(rows.count));
    text = {rows.bytes.data + first, end < first ? 0 : end - first};
    if (text.n == 0) return;
    past = bits.template past<Warp>(text);
    steps = divide_up(text.n + past, std::int64_t{positions});
  }

  /// The most steps that n bytes have.
  static std::int64_t most_steps(std::int64_t n) {
    return divide_up(n + positions, std::int64_t{positions});
  }
  /// The most pieces that these and rows are cut into.
  static std::int64_t most_pieces(std::int64_t n, std::int64_t rows) {
    return pieces(units * most_steps(n) + rows, most_warps, false);
  }
  /// Every warp has several pieces, as they do not take equally long. They are long enough for the
  /// search for their begin to pay, and no longer than usual.
  LANEWISE_FUNCTION std::int64_t pieces(std::int64_t warps) const {
    return pieces(length(), warps < most_warps ? warps : most_warps, is_filtered);
  }
  LANEWISE_FUNCTION std::int64_t length() const { return units * steps + rows.count; }
  /// The position in the text at which a step begins.
  LANEWISE_FUNCTION std::int64_t position(std::int64_t step) const {
    return step * positions - past;
  }

  LANEWISE_FUNCTION row_piece piece(const Warp& warp, std::int64_t number,
                                    std::int64_t pieces) const {
    const index_range part = lanewise::even_share(length(), number, pieces);
    const std::int64_t distance[2] = {part.begin, part.end};
    // The search covers all rows, so pieces are in order even if offsets are not.
    std::int64_t row[2] = {0, 0}, last[2] = {rows.count, rows.count};
    lanewise::partition_points(warp, row, last, [&](int q, std::int64_t r) {
      return units * end_of(r) + r < distance[q];
    });
    const std::int64_t begin = step_at(distance[0] - row[0]);
    const std::int64_t end = step_at(distance[1] - row[1]);
    return {number, row[0], row[1], begin, end < begin ? begin : end};
  }

 private:
  static constexpr std::int64_t least = 4 * units, usual = 128 * units, most_warps = 4096;
  /// With few positions most pieces need no walk. Measured: 1 GiB took an H200 23 us less with 2
  /// pieces for each warp than with 4.
  static LANEWISE_FUNCTION std::int64_t pieces(std::int64_t length, std::int64_t warps,
                                               bool is_filtered) {
    const std::int64_t of_all = (is_filtered ? 2 : 4) * warps;
    const std::int64_t most = divide_up(length, least), few = divide_up(length, usual);
    const std::int64_t some = most < of_all ? most : of_all;
    return some < few ? few : some;
  }
  /// Before which step a row has ended.
  LANEWISE_FUNCTION std::int64_t end_of(std::int64_t r) const {
    const std::int64_t end = rows.within(rows.offsets(r + 1)) - first;
    const std::int64_t here = end < 0 ? 0 : (end < text.n ? end : text.n);
    return divide_up(here + past, std::int64_t{positions});
  }
  LANEWISE_FUNCTION std::int64_t step_at(std::int64_t distance) const {
    const std::int64_t step = distance < 0 ? 0 : distance / units;
    return step < steps ? step : steps;
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
