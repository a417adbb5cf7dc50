// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/graphs/detail/edge_list_checks.hpp>
#include <lanewise/graphs/detail/text_lines.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

inline void expect_word(text_lines& lines, std::string_view expected) {
  const std::string_view found = lines.word();
  if (found != expected)
    lines.refuse("expected '", std::string(expected), "', found ", text_lines::quoted(found));
}

template <class Weight, class Vertex>
edge_list<Weight, Vertex> read_dimacs(std::istream& in, const std::string& name) {
  text_lines lines("read_dimacs", in, name);
  if (!lines.next_but('c'))
    lines.refuse("expected 'p sp' with vertices and arcs, found the end of the file");
  expect_word(lines, "p");
  expect_word(lines, "sp");
  edge_list<Weight, Vertex> edges;
  edges.vertices = lines.integer("a number of vertices", 0, detail::most_vertices<Vertex>());
  const std::int64_t arcs =
      lines.integer("a number of arcs", 0, edges.vertices > 0 ? std::int64_t{1} << 62 : 0);
  lines.expect_end_of_line();
  edges.reserve(arcs);
  for (std::int64_t i = 0; i < arcs; ++i) {
    if (!lines.next_but('c'))
      lines.refuse("expected ", arcs, " arcs, found the end of the file after ", i);
    expect_word(lines, "a");
    const std::int64_t from = lines.integer("a vertex", 1, edges.vertices);
    const std::int64_t to = lines.integer("a vertex", 1, edges.vertices);
    const Weight weight = lines.template weight<Weight>();
    lines.expect_end_of_line();
    edges.add(from - 1, to - 1, weight);
  }
  if (lines.next_but('c'))
    lines.refuse("expected the end of the file after ", arcs, " arcs, found ",
                 text_lines::quoted(lines.word()));
  return edges;
}

template <class Weight, class Vertex>
void write_dimacs(std::ostream& out, const edge_list<Weight, Vertex>& edges) {
  constexpr const char* name = "write_dimacs";
  detail::expects_edges(name, edges);
  std::int64_t arcs = edges.edges();
  for (std::size_t i = 0; edges.symmetric && i < edges.from.size(); ++i)
    arcs += edges.from[i] != edges.to[i];
  text_writer to(name, out);
  to << "p sp " << edges.vertices << " " << arcs << "\n";
  const auto write_arc = [&](Vertex a, Vertex b, std::size_t i) {
    to << "a " << static_cast<std::int64_t>(a) + 1 << " " << static_cast<std::int64_t>(b) + 1;
    if constexpr (edge_list<Weight, Vertex>::has_weights)
      to << " " << edges.weights[i] << "\n";
    else
      to << " 1\n";
  };
  for (std::size_t i = 0; i < edges.from.size(); ++i) {
    write_arc(edges.from[i], edges.to[i], i);
    if (edges.symmetric && edges.from[i] != edges.to[i]) write_arc(edges.to[i], edges.from[i], i);
  }
  to.finish();
}

}  // namespace detail
LANEWISE_END_NAMESPACE
