// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/graphs/detail/edge_list_checks.hpp>
#include <lanewise/graphs/detail/text_lines.hpp>

#include <cctype>
#include <initializer_list>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// One of the words that may stand here, whatever its case. The first is the number 0.
inline int word_of(text_lines& lines, std::initializer_list<const char*> words,
                   const char* expected) {
  const std::string_view found = lines.word();
  std::string small;
  for (const char c : found)
    small += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  int number = 0;
  for (const char* word : words) {
    if (small == word) return number;
    ++number;
  }
  lines.refuse("expected ", expected, ", found ", text_lines::quoted(found));
}

struct matrix_market_kind {
  bool has_weights;
  bool symmetric;
};
inline matrix_market_kind read_matrix_market_kind(text_lines& lines) {
  // An empty file is refused by its first word.
  lines.next();
  word_of(lines, {"%%matrixmarket"}, "%%MatrixMarket");
  word_of(lines, {"matrix"}, "matrix");
  word_of(lines, {"coordinate"}, "coordinate");
  const int field = word_of(lines, {"pattern", "integer", "real"}, "pattern, integer or real");
  const int symmetry = word_of(lines, {"general", "symmetric"}, "general or symmetric");
  lines.expect_end_of_line();
  return {field != 0, symmetry == 1};
}

template <class Weight, class Vertex>
edge_list<Weight, Vertex> read_matrix_market(std::istream& in, const std::string& name) {
  text_lines lines("read_matrix_market", in, name);
  const matrix_market_kind kind = read_matrix_market_kind(lines);
  if (!lines.next_but('%'))
    lines.refuse("expected rows, columns and entries, found the end of the file");
  edge_list<Weight, Vertex> edges;
  edges.symmetric = kind.symmetric;
  edges.vertices = lines.integer("a number of rows", 0, detail::most_vertices<Vertex>());
  lines.integer("as many columns as rows,", edges.vertices, edges.vertices);
  const std::int64_t entries =
      lines.integer("a number of entries", 0, edges.vertices > 0 ? std::int64_t{1} << 62 : 0);
  lines.expect_end_of_line();
  edges.reserve(entries);
  for (std::int64_t i = 0; i < entries; ++i) {
    if (!lines.next_but('%'))
      lines.refuse("expected ", entries, " entries, found the end of the file after ", i);
    const std::int64_t row = lines.integer("a row", 1, edges.vertices);
    const std::int64_t column = kind.symmetric
                                    ? lines.integer("a column not above the diagonal,", 1, row)
                                    : lines.integer("a column", 1, edges.vertices);
    Weight weight{};
    if constexpr (!std::is_same_v<Weight, no_weight>) weight = 1;
    if (kind.has_weights) weight = lines.template weight<Weight>();
    lines.expect_end_of_line();
    edges.add(row - 1, column - 1, weight);
  }
  if (lines.next_but('%'))
    lines.refuse("expected the end of the file after ", entries, " entries, found ",
                 text_lines::quoted(lines.word()));
  return edges;
}

template <class Weight, class Vertex>
void write_matrix_market(std::ostream& out, const edge_list<Weight, Vertex>& edges) {
  constexpr const char* name = "write_matrix_market";
  detail::expects_edges(name, edges);
  text_writer to(name, out);
  to << "%%MatrixMarket matrix coordinate "
     << (std::is_floating_point_v<Weight> ? "real"
         : std::is_integral_v<Weight>     ? "integer"
                                          : "pattern")
     << (edges.symmetric ? " symmetric\n" : " general\n") << edges.vertices << " " << edges.vertices
     << " " << edges.edges() << "\n";
  for (std::size_t i = 0; i < edges.from.size(); ++i) {
    auto row = static_cast<std::int64_t>(edges.from[i]) + 1;
    auto column = static_cast<std::int64_t>(edges.to[i]) + 1;
    if (edges.symmetric && column > row) std::swap(row, column);
    to << row << " " << column;
    if constexpr (edge_list<Weight, Vertex>::has_weights) to << " " << edges.weights[i];
    to << "\n";
  }
  to.finish();
}

}  // namespace detail
LANEWISE_END_NAMESPACE
