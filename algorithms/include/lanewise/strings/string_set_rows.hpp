// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/strings/detail/multi_pattern_rows.hpp>
#include <lanewise/strings/string_rows.hpp>
#include <lanewise/strings/string_set_search.hpp>

#include <Kokkos_Core.hpp>

// Finds the places where patterns of a set occur in each of many rows of bytes. The bytes are
// searched as one text, once for all patterns, and what lies in a row is told by the rows' offsets.

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

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

template <class Exec, class Rows, class Memory, class Out>
void search_rows(const Exec& exec, const char* algorithm, const Rows& given,
                 const pattern_set<Memory>& set, const Out& out,
                 const detail::row_question& question, const rows_options& options) {
  using backend = backend_of<Exec>;
  const detail::row_layout rows = kernels::layout_of<Exec>(
      algorithm, given, kernels::text_of<Exec>(algorithm, given.bytes, set));
  const detail::row_results results = kernels::results_of<Exec>(algorithm, rows.count, out);
  options.errors.template expects_reachable<Exec>(algorithm, "options.errors");
  if (rows.count == 0) return;
  const bool counts = question.what == detail::row_question::kind::number;
  const multi_pattern_rows_memory<Exec> memory(rows.bytes.n, rows.count);
  auto work = call_workspace::make<backend>(exec, options.work, memory.size(counts), algorithm);
  const rows_call<Exec> call(exec, rows, results, work.get(), options);
  auto* const numbers = counts ? reinterpret_cast<std::uint64_t*>(call.plain) : nullptr;
  const detail::place_bits bits{reinterpret_cast<std::uint32_t*>(call.plain + memory.bits_at),
                                call.passed()};
  if (counts) {
    backend::zero(exec, numbers, memory.numbers_bytes);
  } else {
    // The words of the steps with places lie before the bits.
    backend::zero(exec, bits.passed.words,
                  memory.bits_at + memory.bits_bytes - call.memory.words_at);
  }
  if (rows.bytes.n > 0)
    kernels::with_pieces<Exec>(rows.bytes, set, nullptr, [&]<class Pieces>(const Pieces& in) {
      using kernel = multi_pattern_rows_kernel<Pieces>;
      lanewise::launch(
          exec, "Lanewise::string_set_rows",
          backend::template resident_league<kernel>(exec, kernels::pieces_of<Exec>(in)),
          kernel{in, rows, bits, numbers});
    });
  if (counts) {
    using kernel = multi_pattern_row_numbers_kernel;
    lanewise::launch(
        exec, "Lanewise::string_set_rows::numbers",
        call.template league<kernel>(divide_up(rows.count, std::int64_t{warp_t<Exec>::width})),
        kernel{rows, numbers, results, call.errors});
  } else {
    call.answer(bits, question, options.positions);
  }
}

}  // namespace kernels

/// The workspace that searches for a set in `rows` rows of n bytes need. Needs no device.
template <class Exec>
workspace_size multi_pattern_rows_workspace(std::int64_t n, std::int64_t rows) {
  const kernels::multi_pattern_rows_memory<Exec> memory(n, rows);
  return lanewise::max(memory.size(false), memory.size(true));
}

/// out(r) = whether any pattern of the set occurs in row r, as 1 or 0; 0 for null rows. out is a
/// View of integers or bool with a place for every row.
///
/// An occurrence lies wholly in a row: if patterns begin at one place, the ones that end in the row
/// count. The bytes from the first offset to the last are searched as one text by what searches a
/// set (string_set_search.hpp). That marks the places with patterns that lie in their rows; then
/// rows are looked up in the marks. Three launches, O(bytes + rows) work whatever the rows'
/// lengths, and O(log rows + pattern bytes) for each place where patterns begin. Reads the bytes
/// and offsets once, the offsets near hits once more, and writes a bit for each byte. Bits of steps
/// of 1024 bytes with places are read. Does not block. Bad rows, errors and null rows are as in
/// string_rows.hpp.
template <execution_space Exec, class Bytes, class Offsets, class Valid, class Memory, class Out>
void rows_contains(const Exec& exec, const string_rows<Bytes, Offsets, Valid>& rows,
                   const pattern_set<Memory>& set, const Out& out,
                   const rows_options& options = {}) {
  kernels::search_rows(exec, "rows_contains", rows, set, out,
                       {detail::row_question::kind::contains}, options);
}
/// out(r) = how often patterns of the set occur in row r, overlapping occurrences and equal
/// patterns included; 0 for null rows. Here and below, out is a View of integers but bool; what is
/// too great for them becomes the greatest. In a workspace of 8 bytes for each row, to which hits
/// are added atomically, a warp's in one row at once. Otherwise as rows_contains.
template <execution_space Exec, class Bytes, class Offsets, class Valid, class Memory, class Out>
void rows_count(const Exec& exec, const string_rows<Bytes, Offsets, Valid>& rows,
                const pattern_set<Memory>& set, const Out& out, const rows_options& options = {}) {
  kernels::search_rows(exec, "rows_count", rows, set, out, {detail::row_question::kind::number},
                       options);
}
/// out(r) = the first place where any pattern begins that lies in row r, counted from where the row
/// begins in options.positions, or -1; -1 for null rows. As rows_contains.
template <execution_space Exec, class Bytes, class Offsets, class Valid, class Memory, class Out>
void rows_find_first(const Exec& exec, const string_rows<Bytes, Offsets, Valid>& rows,
                     const pattern_set<Memory>& set, const Out& out,
                     const rows_options& options = {}) {
  kernels::search_rows(exec, "rows_find_first", rows, set, out, {detail::row_question::kind::first},
                       options);
}
/// As `rows_find_first`, for the last place.
template <execution_space Exec, class Bytes, class Offsets, class Valid, class Memory, class Out>
void rows_find_last(const Exec& exec, const string_rows<Bytes, Offsets, Valid>& rows,
                    const pattern_set<Memory>& set, const Out& out,
                    const rows_options& options = {}) {
  kernels::search_rows(exec, "rows_find_last", rows, set, out, {detail::row_question::kind::last},
                       options);
}
/// As `rows_find_first`, for place i of each row, in order from 0 on, or from the last one, -1,
/// backwards; -1 where there is none. A place counts once, however many patterns begin there:
/// rows_count may be more than the number of places. To count from the end takes two more launches;
/// out holds the numbers of places until then, which have to be less than its greatest.
template <execution_space Exec, class Bytes, class Offsets, class Valid, class Memory, class Out>
void rows_find_nth(const Exec& exec, const string_rows<Bytes, Offsets, Valid>& rows,
                   const pattern_set<Memory>& set, std::int64_t i, const Out& out,
                   const rows_options& options = {}) {
  kernels::search_rows(exec, "rows_find_nth", rows, set, out, {detail::row_question::kind::nth, i},
                       options);
}

LANEWISE_END_TARGET_NAMESPACE
