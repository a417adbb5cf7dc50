// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/strings/detail/row_walk.hpp>
#include <lanewise/strings/string_search.hpp>

#include <Kokkos_Core.hpp>

#include <type_traits>

// Finds the positions where a pattern occurs in each of many rows of bytes. All bytes are searched
// as one text, and the rows are cut out of what was found, so that no length of rows hurts.

LANEWISE_BEGIN_NAMESPACE

/// No bitmap: all rows are valid.
struct all_valid {};

/// Rows of bytes, as Arrow has them: row r has bytes [offsets(r), offsets(r + 1)). Views, and no
/// copy of what is in them.
///
/// bytes is a contiguous View of char, unsigned char or std::byte. offsets is one of integers of 32
/// or 64 bits with one item more than there are rows. For a slice, the first offset need not be 0,
/// nor the last one the number of bytes. valid, if given, is a View of std::uint8_t or
/// std::uint32_t with a bit for every row, the least significant first. The bit is 0 where the row
/// is null; row 0 has bit first_bit.
template <class Bytes, class Offsets, class Valid = all_valid>
struct string_rows {
  Bytes bytes;
  Offsets offsets;
  Valid valid;
  std::int64_t first_bit;

  string_rows(const Bytes& b, const Offsets& o, const Valid& v = {}, std::int64_t bit = 0)
      : bytes(b), offsets(o), valid(v), first_bit(bit) {}
  std::int64_t size() const {
    const auto items = static_cast<std::int64_t>(offsets.extent(0));
    return items > 0 ? items - 1 : 0;
  }
};

/// What positions in rows count.
enum class string_positions {
  bytes,
  characters,  ///< of UTF-8: the bytes in front that do not go on with a character
};

/// Options of searches in rows.
struct rows_options {
  /// Memory for temporaries; without it the call allocates in the order of its instance.
  workspace_ref work = {};
  /// Counts the rows whose offsets are bad.
  option_view<status> errors = {};
  string_positions positions = string_positions::bytes;
};

LANEWISE_END_NAMESPACE

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// Finds the steps of the rows' bytes that may have positions, so that the kernel after it skips
/// the others.
template <detail::pattern_filter::kind how>
struct rows_filter_kernel {
  struct policy : search_policy {};
  template <class Team>
  struct scratch {};

  detail::row_layout rows;
  detail::pattern_bits bits;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    const auto warp = team.warp();
    const detail::row_path<warp_type> path(rows, bits);
    const int steps_per_word = bits.passed.steps_per_word;
    const std::int64_t mine = team.index() * std::int64_t{Team::warps} + team.warp_index();
    for (std::int64_t w = mine; w * steps_per_word < path.steps; w += team.league() * Team::warps) {
      const std::int64_t first = w * steps_per_word, left = path.steps - first;
      const int number = left < steps_per_word ? static_cast<int>(left) : steps_per_word;
      const detail::text_steps<warp_type> steps(warp, path.text, bits.pattern, path.position(first),
                                                number);
      std::uint32_t passed = 0;
      for (int s = 0; s < number; ++s)
        passed |= static_cast<std::uint32_t>(!steps.is_inside(s) || steps.template passes<how>(s))
                  << s;
      warp.once([&] { bits.passed.words[w] = passed; });
    }
  }
};

/// Every warp draws pieces of the path through steps and rows' ends, in order. What a piece leaves
/// open goes to the next one through the chain.
template <class Bits>
struct rows_search_kernel {
  struct policy : search_policy {
    static constexpr int host_teams_per_thread = 1;
  };
  template <class Team>
  struct scratch {
    typename detail::row_walk<typename Team::warp_type, Bits>::scratch of_warp[Team::warps];
  };

  detail::row_layout rows;
  Bits bits;
  detail::row_question question;
  detail::row_results out;
  look_back_chain<detail::row_carry> chain;
  status* errors;
  std::int64_t warps;  ///< of the league

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using path_type = detail::row_path<typename Team::warp_type>;
    const auto warp = team.warp();
    const path_type path(rows, bits);
    const auto pieces = static_cast<std::uint32_t>(path.pieces(warps));
    const auto draws = static_cast<std::uint32_t>(pieces + warps);
    for (;;) {
      const auto mine = chain.draw(warp, draws, pieces);
      if (mine.ticket >= pieces) return;
      detail::row_walk<typename Team::warp_type, Bits> walk(warp, shared.of_warp[team.warp_index()],
                                                            path, bits, out, question,
                                                            path.piece(warp, mine.ticket, pieces));
      for (bool again = false;;) {
        walk.walk();
        if (again) {
          walk.write_found();
          break;
        }
        const auto before = chain.publish_and_look_back(
            warp, mine, walk.carry(), detail::join_row_carries{question},
            maybe<detail::row_carry>{
                detail::row_carry::of(question.hands_on_number() ? 0 : -1, false), true});
        if (errors != nullptr && walk.bad() != 0) warp.fetch_add(errors->bad_items, walk.bad());
        again = walk.write_first(before.value.value());
        if (!again) break;
      }
    }
  }
};

/// Copies the numbers of positions of the rows at the ends of the pieces from out. Other warps may
/// overwrite these before they are used.
template <class Bits>
struct rows_totals_kernel {
  struct policy : launch_policy {};
  template <class Team>
  struct scratch {};

  detail::row_layout rows;
  Bits bits;
  detail::row_results out;
  std::int64_t* totals;
  std::int64_t warps;  ///< of the league of the search

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    const auto warp = team.warp();
    const detail::row_path<warp_type> path(rows, bits);
    const std::int64_t pieces = path.pieces(warps);
    const std::int64_t mine = team.index() * std::int64_t{Team::warps} + team.warp_index();
    for (std::int64_t p = mine; p < pieces; p += team.league() * Team::warps) {
      const detail::row_piece piece = path.piece(warp, p, pieces);
      keep(warp, piece.first_row, totals[2 * p]);
      keep(warp, piece.end_row, totals[2 * p + 1]);
    }
  }

 private:
  template <class Warp>
  LANEWISE_FUNCTION void keep(const Warp& warp, std::int64_t row, std::int64_t& total) const {
    if (row >= rows.count) return;
    const std::int64_t number = warp.broadcast(out.load(warp, warp.first(1), row), 0);
    warp.once([&] { total = number; });
  }
};

/// The rows of a call, whose bytes are a text.
template <class Exec, class Bytes, class Offsets, class Valid>
detail::row_layout layout_of(const char* algorithm, const string_rows<Bytes, Offsets, Valid>& rows,
                             const detail::text_bytes& bytes) {
  const auto offsets = detail::as_source<Exec>(rows.offsets);
  using offset = typename Offsets::non_const_value_type;
  static_assert(std::is_integral_v<offset> && (sizeof(offset) == 4 || sizeof(offset) == 8),
                "lanewise: offsets of rows are integers of 32 or 64 bits");
  detail::expects_memory(offsets, algorithm, "rows.offsets");
  const unsigned char* valid = nullptr;
  if constexpr (!std::is_same_v<Valid, all_valid>) {
    using word = typename Valid::non_const_value_type;
    static_assert(std::is_same_v<word, std::uint8_t> || std::is_same_v<word, std::uint32_t>,
                  "lanewise: a bitmap of valid rows is a View of std::uint8_t or std::uint32_t");
    const auto source = detail::as_source<Exec>(rows.valid);
    const std::int64_t bits = 8 * static_cast<std::int64_t>(sizeof(word)) * source.extent;
    detail::expects(rows.first_bit >= 0 && rows.first_bit <= bits - rows.size(), algorithm,
                    ": rows.valid has ", bits, " bits, ", rows.size(), " rows from bit ",
                    rows.first_bit, " on need more");
    detail::expects_memory(source, algorithm, "rows.valid");
    valid = reinterpret_cast<const unsigned char*>(source.data);
  }
  return {bytes, detail::row_offsets(offsets.data), rows.size(), valid, rows.first_bit};
}

/// The results of a call, one for each row.
template <class Exec, class Out>
detail::row_results results_of(const char* algorithm, std::int64_t rows, const Out& out) {
  const auto sink = detail::as_sink<Exec>(out);
  using T = typename Out::value_type;
  static_assert(std::is_integral_v<T>, "lanewise: results of rows are integers");
  detail::expects(sink.extent >= rows, algorithm, ": out has ", sink.extent, " places, there are ",
                  rows, " rows");
  detail::expects_memory(sink, algorithm, "out");
  return detail::row_results(sink.data);
}

/// What a call has in its workspace: the chain's payload, two numbers for each piece, and a bit for
/// each step.
template <class Exec>
struct rows_memory {
  std::int64_t pieces;
  std::size_t totals_at, words_at;
  int steps_per_word = 1;
  std::int64_t words;

  rows_memory(std::int64_t n, std::int64_t rows) {
    using path = detail::row_path<warp_t<Exec>>;
    pieces = path::most_pieces(n, rows);
    totals_at = look_back_chain<detail::row_carry>::payload_bytes(pieces);
    words_at = totals_at + 16 * static_cast<std::size_t>(pieces);
    const std::int64_t steps = path::most_steps(n);
    while (steps_per_word < 32 && steps / steps_per_word > 8000) steps_per_word *= 2;
    words = divide_up(steps, std::int64_t{steps_per_word});
  }
  workspace_size size() const { return {pieces, words_at + 4 * static_cast<std::size_t>(words)}; }
};

}  // namespace kernels

/// The workspace that searches in `rows` rows of n bytes need. Needs no device.
template <class Exec>
workspace_size rows_workspace(std::int64_t n, std::int64_t rows) {
  return kernels::rows_memory<Exec>(n, rows).size();
}

namespace kernels {

/// The rows of a call, its results, and what it has of a workspace of rows_memory's size or more.
template <class Exec>
struct rows_call {
  const Exec& exec;
  detail::row_layout rows;
  detail::row_results out;
  rows_memory<Exec> memory;
  look_back_chain<detail::row_carry> chain;
  status* errors;
  char* plain;

  using kind = detail::row_question::kind;

  rows_call(const Exec& e, const detail::row_layout& layout, const detail::row_results& results,
            workspace& work, const rows_options& options)
      : exec(e),
        rows(layout),
        out(results),
        memory(rows.bytes.n, rows.count),
        chain(work.template make_look_back_chain<detail::row_carry>(0)),
        errors(options.errors.data() != nullptr ? options.errors.data() : work.errors()),
        plain(static_cast<char*>(work.plain())) {}

  /// Room for the bits of the steps that may have positions.
  detail::passed_steps passed() const {
    return {reinterpret_cast<std::uint32_t*>(plain + memory.words_at), memory.steps_per_word};
  }
  template <class Kernel>
  std::int64_t league(std::int64_t warps) const {
    return backend_of<Exec>::template resident_league<Kernel>(
        exec, divide_up(warps, std::int64_t{team_t<Exec, typename Kernel::policy>::warps}));
  }
  /// Answers a question about the positions that bits has.
  template <class Bits>
  void answer(const Bits& bits, const detail::row_question& question,
              string_positions positions) const {
    if (question.nth >= 0) {
      walk(bits, question, errors);
    } else {
      walk(bits, {kind::number}, errors);
      walk(bits,
           {kind::nth, question.nth, reinterpret_cast<std::int64_t*>(plain + memory.totals_at)},
           nullptr);
    }
    if (positions == string_positions::characters && !question.is_number())
      walk(detail::character_bits{}, {kind::number}, nullptr);
  }

 private:
  template <class Bits>
  void walk(const Bits& bits, const detail::row_question& asked, status* bad) const {
    using kernel = rows_search_kernel<Bits>;
    using totals = rows_totals_kernel<Bits>;
    const std::int64_t teams = league<kernel>(memory.pieces);
    const std::int64_t warps = teams * team_t<Exec, typename kernel::policy>::warps;
    if (asked.totals != nullptr)
      lanewise::launch(exec, "Lanewise::string_rows::totals", league<totals>(memory.pieces),
                       totals{rows, bits, out, asked.totals, warps});
    lanewise::launch(exec, "Lanewise::string_rows", teams,
                     kernel{rows, bits, asked, out, chain, bad, warps});
  }
};

/// Answers a question about rows for a matcher; View is the type that kernels know the matcher by.
template <class View>
struct row_matcher_search;

template <>
struct row_matcher_search<detail::pattern_view> {
  template <class Exec>
  static void answer(const Exec& exec, const char* algorithm, const detail::row_layout& rows,
                     const detail::row_results& results, const detail::pattern_view& what,
                     const detail::row_question& question, const rows_options& options) {
    auto work = call_workspace::make<backend_of<Exec>>(
        exec, options.work, lanewise::rows_workspace<Exec>(rows.bytes.n, rows.count), algorithm);
    const rows_call<Exec> call(exec, rows, results, work.get(), options);
    detail::pattern_bits bits{what};
    if (!what.is_short()) {
      bits.passed = call.passed();
      detail::with_long_kind(what.filter.how, [&](auto how) {
        using kernel = rows_filter_kernel<decltype(how)::value>;
        lanewise::launch(exec, "Lanewise::string_rows::filter",
                         call.template league<kernel>(call.memory.words), kernel{rows, bits});
      });
    }
    call.answer(bits, question, options.positions);
  }
};

template <class Exec, class Rows, class Matcher, class Out>
void search_rows(const Exec& exec, const char* algorithm, const Rows& given, const Matcher& what,
                 const Out& out, const detail::row_question& question,
                 const rows_options& options) {
  const detail::row_layout rows = kernels::layout_of<Exec>(
      algorithm, given, kernels::text_of<Exec>(algorithm, given.bytes, what));
  const detail::row_results results = kernels::results_of<Exec>(algorithm, rows.count, out);
  options.errors.template expects_reachable<Exec>(algorithm, "options.errors");
  if (rows.count == 0) return;
  const auto view = what.view();
  row_matcher_search<std::decay_t<decltype(view)>>::answer(exec, algorithm, rows, results, view,
                                                           question, options);
}

}  // namespace kernels

/// out(r) = whether the pattern occurs in row r, as 1 or 0; 0 for null rows. out is a View of
/// integers or bool with a place for every row.
///
/// An occurrence lies wholly in a row, and occurrences may overlap. The bytes from the first offset
/// to the last are searched as one text, once, and rows are looked up in what was found; bytes that
/// no row has are not reported. One launch, or two for patterns of 8 bytes or more. O(bytes + rows)
/// work whatever the rows' lengths, plus what string_search.hpp says of texts in which a filter
/// passes very many positions. Reads bytes and offsets once, steps of 1024 bytes that have a longer
/// pattern twice, and writes out once. Does not block. Rows whose offsets fall, or lie outside of
/// the bytes, have the result of null rows. They are counted in options.errors, else in
/// options.work; nothing is read or written outside. Results of other rows are unspecified then.
/// Throws std::invalid_argument on wrong extents.
template <execution_space Exec, class Bytes, class Offsets, class Valid, text_matcher Matcher,
          class Out>
void rows_contains(const Exec& exec, const string_rows<Bytes, Offsets, Valid>& rows,
                   const Matcher& what, const Out& out, const rows_options& options = {}) {
  kernels::search_rows(exec, "rows_contains", rows, what, out,
                       {detail::row_question::kind::contains}, options);
}
/// out(r) = how often the pattern occurs in row r; 0 for null rows. Here and below, out is a View
/// of integers but bool; what is too great for them becomes the greatest. As rows_contains.
template <execution_space Exec, class Bytes, class Offsets, class Valid, text_matcher Matcher,
          class Out>
void rows_count(const Exec& exec, const string_rows<Bytes, Offsets, Valid>& rows,
                const Matcher& what, const Out& out, const rows_options& options = {}) {
  kernels::search_rows(exec, "rows_count", rows, what, out, {detail::row_question::kind::number},
                       options);
}
/// out(r) = the first position where the pattern begins in row r, counted from where the row begins
/// in options.positions, or -1; -1 for null rows. As rows_contains.
template <execution_space Exec, class Bytes, class Offsets, class Valid, text_matcher Matcher,
          class Out>
void rows_find_first(const Exec& exec, const string_rows<Bytes, Offsets, Valid>& rows,
                     const Matcher& what, const Out& out, const rows_options& options = {}) {
  kernels::search_rows(exec, "rows_find_first", rows, what, out,
                       {detail::row_question::kind::first}, options);
}
/// As `rows_find_first`, for the last position.
template <execution_space Exec, class Bytes, class Offsets, class Valid, text_matcher Matcher,
          class Out>
void rows_find_last(const Exec& exec, const string_rows<Bytes, Offsets, Valid>& rows,
                    const Matcher& what, const Out& out, const rows_options& options = {}) {
  kernels::search_rows(exec, "rows_find_last", rows, what, out, {detail::row_question::kind::last},
                       options);
}
/// As `rows_find_first`, for position i of each row, in order from 0 on, or from the last one, -1,
/// backwards; -1 where there is none. To count from the end takes two more launches, and the bytes
/// that have positions once more; out holds the numbers of positions until then, which have to be
/// less than its greatest.
template <execution_space Exec, class Bytes, class Offsets, class Valid, text_matcher Matcher,
          class Out>
void rows_find_nth(const Exec& exec, const string_rows<Bytes, Offsets, Valid>& rows,
                   const Matcher& what, std::int64_t i, const Out& out,
                   const rows_options& options = {}) {
  kernels::search_rows(exec, "rows_find_nth", rows, what, out, {detail::row_question::kind::nth, i},
                       options);
}

LANEWISE_END_TARGET_NAMESPACE
