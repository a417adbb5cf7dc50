// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/detail/structure_file.hpp>
#include <lanewise/graphs/build_csr.hpp>
#include <lanewise/graphs/check_graph.hpp>
#include <lanewise/graphs/detail/dimacs.hpp>
#include <lanewise/graphs/detail/edge_list_checks.hpp>
#include <lanewise/graphs/detail/matrix_market.hpp>
#include <lanewise/graphs/edge_list.hpp>

#include <fstream>
#include <istream>
#include <ostream>

// Graphs in files: text that other programs read and write, as lists of edges on the host. For
// graphs as they are, there is a file format of our own (common/detail/structure_file.hpp).

LANEWISE_BEGIN_NAMESPACE

/// The edges of a Matrix Market file: coordinate, pattern, integer or real, general or symmetric.
/// Entry (i, j) is an edge from i - 1 to j - 1; a symmetric file has those on and below the
/// diagonal. Weights are 1 where the file has none, and are looked at and left out where Weight is
/// no_weight.
///
/// Reads the stream in pieces of a MiB, and keeps no more than what was read, whatever the header
/// promises. Throws std::runtime_error where the text is another, with the name, the line and what
/// was expected; numbers that do not fit their type, and matrices that are not square are refused.
template <class Weight = no_weight, class Vertex = std::uint32_t>
edge_list<Weight, Vertex> read_matrix_market(std::istream& in, const std::string& name = "stream") {
  return detail::read_matrix_market<Weight, Vertex>(in, name);
}
/// As read_matrix_market, for a file for shortest paths of the DIMACS challenge: 'p sp n m', and m
/// lines 'a u v w'.
template <class Weight = no_weight, class Vertex = std::uint32_t>
edge_list<Weight, Vertex> read_dimacs(std::istream& in, const std::string& name = "stream") {
  return detail::read_dimacs<Weight, Vertex>(in, name);
}
/// The edges of a file in one of these formats, which its first character tells. Throws
/// std::runtime_error where the file cannot be read, or is neither.
template <class Weight = no_weight, class Vertex = std::uint32_t>
edge_list<Weight, Vertex> read_edges(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    throw std::runtime_error(detail::message("lanewise::read_edges: ", path, " cannot be opened"));
  const auto refuse = [&](const char* what) {
    throw std::runtime_error(detail::message("lanewise::read_edges: ", path, what));
  };
  const int first = in.peek();
  if (first == std::istream::traits_type::eof()) refuse(" is empty, or cannot be read");
  if (first == '%') return lanewise::read_matrix_market<Weight, Vertex>(in, path);
  if (std::string(" \t\r\ncp").find(static_cast<char>(first)) == std::string::npos)
    refuse(" begins neither with '%%MatrixMarket' nor, as DIMACS files do, with 'c' or 'p sp'");
  return lanewise::read_dimacs<Weight, Vertex>(in, path);
}

/// Writes what read_matrix_market reads, numbers such that they come back as they are. Of a
/// symmetric list, edges are turned so that they lie below the diagonal. Throws
/// std::invalid_argument where vertices or weights are none, and std::runtime_error if the stream
/// fails.
template <class Weight, class Vertex>
void write_matrix_market(std::ostream& out, const edge_list<Weight, Vertex>& edges) {
  detail::write_matrix_market(out, edges);
}
/// Writes what read_dimacs reads: edges of a symmetric list in both directions, and the weight 1
/// where there are none.
template <class Weight, class Vertex>
void write_dimacs(std::ostream& out, const edge_list<Weight, Vertex>& edges) {
  detail::write_dimacs(out, edges);
}

/// The edges of a graph, on the host. If a graph is said to be symmetric, the edges that do not
/// lead to a greater vertex. **Blocks.** Throws std::invalid_argument where rows are wrong.
template <class Exec, class M, class V, class O, class W>
edge_list<W, V> edges_of(const Exec& exec, const csr_graph<M, V, O, W>& graph) {
  exec.fence("Lanewise::edges_of: the graph is read");
  const auto on_host = [](const auto& view) {
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  };
  const auto begins = on_host(graph.begins());
  const auto columns = on_host(graph.columns());
  edge_list<W, V> edges;
  edges.vertices = graph.vertices();
  edges.symmetric = graph.has_edges_into() && graph.columns_into().data() == graph.columns().data();
  const auto m = static_cast<std::size_t>(graph.edges());
  const auto add_rows = [&](const auto& weight_of) {
    for (std::int64_t v = 0; v < edges.vertices; ++v) {
      const auto begin = static_cast<std::size_t>(begins(v));
      const auto end = static_cast<std::size_t>(begins(v + 1));
      detail::expects(begin <= end && end <= m, "edges_of: row ", v, " is from ", begin, " to ",
                      end, ", there are ", m, " edges");
      for (std::size_t e = begin; e < end; ++e) {
        const auto to = static_cast<std::int64_t>(columns(e));
        if (!edges.symmetric || to <= v) edges.add(v, to, weight_of(e));
      }
    }
  };
  if constexpr (edge_list<W, V>::has_weights) {
    const auto weights = on_host(graph.weights());
    add_rows([&](std::size_t e) { return weights(e); });
  } else {
    add_rows([](std::size_t) { return no_weight{}; });
  }
  return edges;
}

namespace detail {

struct graph_file_header : file_header {
  std::uint32_t offset = 0;  // file_type of row begins
  std::uint32_t reserved = 0;
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
};
/// What a graph file has of the edges into vertices, its kind.
enum class edges_in_file : std::uint32_t { none, symmetric, transpose };

template <class Graph>
inline constexpr bool is_csr_graph = false;
template <class M, class V, class O, class W>
inline constexpr bool is_csr_graph<csr_graph<M, V, O, W>> = true;

template <class Graph>
graph_file_header graph_header_of() {
  using weight = std::conditional_t<Graph::has_weights, typename Graph::weight_type, void>;
  graph_file_header header{{{'L', 'w', '.', 'g', 'r', 'a', 'p', 'h'},
                            1,
                            0,
                            detail::file_type<typename Graph::vertex_type>(),
                            detail::file_type<weight>()}};
  header.offset = detail::file_type<typename Graph::offset_type>();
  return header;
}

/// Arrays of a file, not looked at yet, and the View that they go to.
template <class Memory, class T>
Kokkos::View<const T*, Memory> moved_to_memory(const char* label, file_items<T>& items) {
  const Kokkos::View<T*, Memory> view(
      Kokkos::view_alloc(std::string(label), Kokkos::WithoutInitializing), items.size());
  items.move_to(view);
  return view;
}

template <class Begins>
void write_begins(file_writer& to, const Begins& begins) {
  const typename Begins::non_const_value_type zero = 0;
  if (begins.extent(0) == 0)
    to.write(&zero, sizeof(zero));  // a graph of no memory has no vertices
  else
    to.write_view(begins);
}

}  // namespace detail

/// Writes a graph to a binary stream, and what it has of the edges into its vertices. Files do not
/// depend on the backend. **Blocks.** Throws std::runtime_error if the stream fails.
template <class Exec, class M, class V, class O, class W>
void save(const Exec& exec, const csr_graph<M, V, O, W>& graph, std::ostream& out) {
  using kind = detail::edges_in_file;
  exec.fence("Lanewise::save: the graph is read");
  detail::file_writer writer(out);
  auto header = detail::graph_header_of<csr_graph<M, V, O, W>>();
  header.vertices = static_cast<std::uint64_t>(graph.vertices());
  header.edges = static_cast<std::uint64_t>(graph.edges());
  const bool is_symmetric = graph.begins_into().data() == graph.begins().data() &&
                            graph.columns_into().data() == graph.columns().data();
  const kind into = !graph.has_edges_into() ? kind::none
                    : is_symmetric          ? kind::symmetric
                                            : kind::transpose;
  header.kind = static_cast<std::uint32_t>(into);
  writer.write(&header, sizeof(header));
  writer.seal();
  detail::write_begins(writer, graph.begins());
  writer.write_view(graph.columns());
  if constexpr (csr_graph<M, V, O, W>::has_weights) writer.write_view(graph.weights());
  if (into == kind::transpose) {
    writer.write_view(graph.begins_into());
    writer.write_view(graph.columns_into());
  }
  writer.seal();
}

LANEWISE_END_NAMESPACE
LANEWISE_BEGIN_TARGET_NAMESPACE

/// The graph of a list of edges, in memory of the instance: build_csr of a copy, which is symmetric
/// if the list is. op combines the weights of equal edges, if the list has weights. **Blocks.**
template <class Offset = std::uint32_t, execution_space Exec, class W, class V, class Op>
requires(!std::is_convertible_v<Op, csr_options>) auto build_csr(const Exec& exec,
                                                                 const edge_list<W, V>& edges,
                                                                 const Op& op,
                                                                 csr_options options = {}) {
  const auto copy_of = [](const auto& items) {
    using item = typename std::decay_t<decltype(items)>::value_type;
    const auto view = kernels::room_for<item, Exec>("Lanewise::build_csr::edges",
                                                    static_cast<std::int64_t>(items.size()));
    Kokkos::deep_copy(view, Kokkos::View<const item*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                                items.data(), items.size()));
    return view;
  };
  options.symmetrise = options.symmetrise || edges.symmetric;
  if constexpr (edge_list<W, V>::has_weights)
    return lanewise::build_csr<Offset>(exec, edges.vertices, copy_of(edges.from), copy_of(edges.to),
                                       copy_of(edges.weights), op, options);
  else
    return lanewise::build_csr<Offset>(exec, edges.vertices, copy_of(edges.from), copy_of(edges.to),
                                       options);
}
/// The weights of equal edges are added up.
template <class Offset = std::uint32_t, execution_space Exec, class W, class V>
auto build_csr(const Exec& exec, const edge_list<W, V>& edges, const csr_options& options = {}) {
  return lanewise::build_csr<Offset>(exec, edges, plus{}, options);
}

/// The graph that save wrote; Graph is its type, in any memory that the instance reaches. Reads the
/// file to the host, and then allocates the graph: the host needs as much memory as the file has
/// bytes. The graph is looked at as check_graph does, but for weights. **Blocks.** Throws
/// std::runtime_error if the file has another graph, types included, or is of another version. It
/// throws, too, if the file is damaged or cut short, or has what is no graph.
template <class Graph, execution_space Exec>
requires(detail::is_csr_graph<Graph>) Graph load(const Exec& exec, std::istream& in) {
  using V = typename Graph::vertex_type;
  using O = typename Graph::offset_type;
  using W = typename Graph::weight_type;
  using memory = typename Graph::memory_space;
  using kind = detail::edges_in_file;
  detail::file_reader reader(in);
  const auto mine = detail::graph_header_of<Graph>();
  const auto header = reader.read_header(mine, "graph");
  reader.expect_seal("header");
  const auto expect_type = [](const char* what, std::uint32_t found, std::uint32_t wanted) {
    detail::expect_in_file(what, detail::text_of_type(found), detail::text_of_type(wanted));
  };
  expect_type("the type of vertices", header.key, mine.key);
  expect_type("the type of weights", header.value, mine.value);
  expect_type("the type of row begins", header.offset, mine.offset);
  if (header.kind > static_cast<std::uint32_t>(kind::transpose) || header.reserved != 0)
    detail::refuse_file("the file has a graph of kind ", header.kind, ", which there is not");
  const auto into = static_cast<kind>(header.kind);
  constexpr auto most_vertices = static_cast<std::uint64_t>(detail::most_vertices<V>());
  // Sizes in bytes do not overflow.
  constexpr auto most_edges = std::min<std::uint64_t>(std::numeric_limits<O>::max(), 1ull << 48);
  if (header.vertices > most_vertices || header.edges > most_edges)
    detail::refuse_file("the file has ", header.vertices, " vertices and ", header.edges,
                        " edges, graphs have at most ", most_vertices, " and ", most_edges);

  auto begins = reader.template read_items<O>(header.vertices + 1);
  auto columns = reader.template read_items<V>(header.edges);
  using weight = std::conditional_t<Graph::has_weights, W, char>;
  auto weights = reader.template read_items<weight>(Graph::has_weights ? header.edges : 0);
  const bool has_transpose = into == kind::transpose;
  auto begins_into = reader.template read_items<O>(has_transpose ? header.vertices + 1 : 0);
  auto columns_into = reader.template read_items<V>(has_transpose ? header.edges : 0);
  reader.expect_seal("data");

  const auto with_edges_into = [&](const auto& graph) {
    if (has_transpose)
      return graph.with_transpose(
          detail::moved_to_memory<memory>("Lanewise::load::begins", begins_into),
          detail::moved_to_memory<memory>("Lanewise::load::columns", columns_into));
    return into == kind::symmetric ? graph.symmetric() : graph;
  };
  const auto rows = detail::moved_to_memory<memory>("Lanewise::load::begins", begins);
  const auto edges = detail::moved_to_memory<memory>("Lanewise::load::columns", columns);
  Graph graph;
  if constexpr (Graph::has_weights)
    graph = with_edges_into(
        Graph(rows, edges, detail::moved_to_memory<memory>("Lanewise::load::weights", weights)));
  else
    graph = with_edges_into(Graph(rows, edges));
  graph_faults faults = lanewise::check_graph(exec, graph);
  faults.bad_weights = 0;  // some graphs have negative ones
  if (!faults.none())
    detail::refuse_file("the file has no graph: ",
                        detail::text_of_faults(faults, graph.vertices(), graph.edges()));
  return graph;
}

LANEWISE_END_TARGET_NAMESPACE
