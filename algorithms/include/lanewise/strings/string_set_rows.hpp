// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/strings/detail/row_of_position.hpp>
#include <lanewise/strings/string_rows.hpp>
#include <lanewise/strings/string_set_search.hpp>

#include <Kokkos_Core.hpp>

// Finds the positions where patterns of a set occur in each of many rows of bytes. The bytes are
// searched as one text, once for all patterns. The offsets say what lies in a row.

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// Finds the patterns of a set that lie in rows: either sets the bits of their positions, or adds
/// up how many there are in each row. All begins as zeros.
///
/// A position has the longest pattern that the text has there. If a row ends before this pattern
/// does, the position has the longest pattern that this one begins with and that ends in the row.
template <class Blocks>
struct multi_pattern_rows_kernel {
  struct policy : Blocks::policy {
    static constexpr int host_teams_per_thread = 4;
  };
  template <class Team>
  using scratch = typename Blocks::template scratch<Team>;

  Blocks in;  ///< of all bytes
  detail::row_layout rows;
  detail::position_bits bits;
  std::uint64_t* numbers;  ///< of rows, or null: bits are wanted

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using warp_type = typename Team::warp_type;
    using words = lanes_t<warp_type, std::uint32_t>;
    const auto warp = team.warp();
    const detail::row_path<warp_type> path(rows, bits);
    const Blocks here{path.text, in.set, in.steps};
    const std::int64_t blocks = here.template blocks<Team>();
    int span = 32;
    here.load_filter(team, shared);
    for (std::int64_t p = team.index(); p < blocks; p += team.league()) {
      const std::int64_t begin = here.first(team, p);
      detail::row_of_position<warp_type> row(warp, rows, path.first, begin, here.last(team, p));
      sum_of_row<warp_type> sum{numbers};
      here.find(team, shared, p, span,
                [&](const words& positions, const words& ranks) LANEWISE_INLINE_LAMBDA {
                  if (warp.any(ranks != 0u)) add(warp, begin, positions, ranks, row, sum);
                });
      sum.end(warp);
    }
  }

 private:
  /// What was found in one row, one number in each lane, as most rows have many positions or none.
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

  /// Adds positions that are counted from `first`.
  template <class Warp, class Words>
  LANEWISE_FUNCTION void add(const Warp& warp, std::int64_t first, const Words& positions,
                             Words ranks, detail::row_of_position<Warp>& row_of,
                             sum_of_row<Warp>& sum) const {
    auto at =
        warp.map([=](std::uint32_t position) { return first + std::int64_t{position}; }, positions);
    const auto position_of = at;
    auto row = row_of.find(ranks != 0u, at);
    warp.each(
        ranks != 0u,
        [size = in.set.size, prefix = in.set.prefix](std::uint32_t& rank, std::int64_t& begin,
                                                     std::int64_t& end) {
          while (rank != 0 && begin + size[rank] > end) rank = prefix[rank];
        },
        ranks, at, row.end);
    if (!warp.any(ranks != 0u)) return;
    if (numbers == nullptr) return set_bits(warp, ranks != 0u, position_of);
    using counts = typename sum_of_row<Warp>::counts;
    const counts number =
        warp.template cast<std::uint64_t>(warp.gather(ranks != 0u, in.set.number, ranks, 0u));
    sum.add(warp, ranks != 0u, row.row, number);
  }
  template <class Warp, class Mask, class Places>
  LANEWISE_FUNCTION void set_bits(const Warp& warp, const Mask& hits, const Places& at) const {
    set_bits_of(warp, hits, at, bits.words, 1, 32);
    set_bits_of(warp, hits, at, bits.passed.words, 32 * Warp::width, bits.passed.steps_per_word);
  }
  /// Sets bits of a bitmap with a bit for `positions` positions, and `steps_per_word` bits in a
  /// word.
  template <class Warp, class Mask, class Places>
  static LANEWISE_FUNCTION void set_bits_of(const Warp& warp, const Mask& hits, const Places& at,
                                            std::uint32_t* to, std::int64_t positions,
                                            int steps_per_word) {
    const auto word =
        warp.map([=](std::int64_t position) { return position / positions / steps_per_word; }, at);
    const auto bit = warp.map(
        [=](std::int64_t position) {
          return 1u << static_cast<std::uint32_t>(position / positions % steps_per_word);
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

/// What a call has in its workspace: what walks through rows need, and after it a bit for each
/// byte; or a number for each row.
template <class Exec>
struct multi_pattern_rows_memory {
  rows_memory<Exec> of_walk;
  std::size_t bits_at, bits_bytes, numbers_bytes;

  multi_pattern_rows_memory(std::int64_t n, std::int64_t rows)
      : of_walk(n, rows),
        bits_at(of_walk.size().bytes),
        bits_bytes(static_cast<std::size_t>(detail::row_path<warp_t<Exec>>::most_steps(n) *
                                            warp_t<Exec>::width * 4)),
        numbers_bytes(8 * static_cast<std::size_t>(rows)) {}
  workspace_size size(bool counts) const {
    return {of_walk.pieces, counts ? numbers_bytes : bits_at + bits_bytes};
  }
};

template <>
struct row_matcher_search<detail::pattern_set_view> {
  template <class Exec>
  static void answer(const Exec& exec, const char* algorithm, const detail::row_layout& rows,
                     const detail::row_results& results, const detail::pattern_set_view& set,
                     const detail::row_question& question, const rows_options& options) {
    const bool counts = question.what == detail::row_question::kind::number;
    const multi_pattern_rows_memory<Exec> memory(rows.bytes.n, rows.count);
    auto work =
        call_workspace::make<backend_of<Exec>>(exec, options.work, memory.size(counts), algorithm);
    const rows_call<Exec> call(exec, rows, results, work.get(), options);
    const detail::position_bits bits{reinterpret_cast<std::uint32_t*>(call.plain + memory.bits_at),
                                     call.passed()};
    auto* const numbers = counts ? reinterpret_cast<std::uint64_t*>(call.plain) : nullptr;
    if (counts) {
      backend_of<Exec>::zero(exec, numbers, memory.numbers_bytes);
    } else {
      // The words of the steps with positions lie before the bits.
      backend_of<Exec>::zero(exec, bits.passed.words,
                             memory.bits_at + memory.bits_bytes - call.memory.words_at);
    }
    find(exec, set, rows, bits, numbers);
    if (!counts) return call.answer(bits, question, options.positions);
    using kernel = multi_pattern_row_numbers_kernel;
    lanewise::launch(
        exec, "Lanewise::string_set_rows::numbers",
        call.template league<kernel>(divide_up(rows.count, std::int64_t{warp_t<Exec>::width})),
        kernel{rows, numbers, results, call.errors});
  }

 private:
  /// Sets the bits of positions with patterns, or adds up how many there are in each row.
  template <class Exec>
  static void find(const Exec& exec, const detail::pattern_set_view& set,
                   const detail::row_layout& rows, const detail::position_bits& bits,
                   std::uint64_t* numbers) {
    if (rows.bytes.n == 0) return;
    kernels::with_blocks<Exec>(rows.bytes, set, nullptr, [&]<class Blocks>(const Blocks& in) {
      using kernel = multi_pattern_rows_kernel<Blocks>;
      lanewise::launch(
          exec, "Lanewise::string_set_rows",
          backend_of<Exec>::template resident_league<kernel>(exec, kernels::blocks_of<Exec>(in)),
          kernel{in, rows, bits, numbers});
    });
  }
};

}  // namespace kernels

/// The workspace that searches for a set in `rows` rows of n bytes need. Needs no device.
template <class Exec>
workspace_size multi_pattern_rows_workspace(std::int64_t n, std::int64_t rows) {
  const kernels::multi_pattern_rows_memory<Exec> memory(n, rows);
  return lanewise::max(memory.size(false), memory.size(true));
}

// The calls of string_rows.hpp are for sets too, and are about any pattern of the set.
//
// An occurrence lies wholly in a row: if patterns begin at one position, the ones that end in the
// row count. The bytes from the first offset to the last are searched as one text by what searches
// a set (string_set_search.hpp). That marks the positions with patterns that lie in their rows;
// then rows are looked up in the marks. Three launches, O(bytes + rows) work whatever the rows'
// lengths, and O(log rows + pattern bytes) for each position where patterns begin. Reads the bytes
// and offsets once, the offsets near hits once more, and writes a bit for each byte. Bits of steps
// of 1024 bytes with positions are read.
//
// rows_count includes overlapping occurrences and equal patterns. Its workspace has 8 bytes for
// each row, to which hits are added atomically, a warp's in one row at once. For rows_find_nth a
// position counts once, however many patterns begin there: rows_count may be more than the number
// of positions.

LANEWISE_END_TARGET_NAMESPACE
