// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/graphs/graph_file.hpp>
#include <support/generators.hpp>
#include <support/graphs.hpp>
#include <support/words_of_file.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using lanewise::no_weight;

template <class Weight = no_weight, class Vertex = std::uint32_t>
lanewise::edge_list<Weight, Vertex> read_text(const std::string& text) {
  std::istringstream in(text);
  if (text.rfind('%', 0) == 0) return lanewise::read_matrix_market<Weight, Vertex>(in, "file");
  return lanewise::read_dimacs<Weight, Vertex>(in, "file");
}
/// What reading says, or nothing where the text is taken.
template <class Weight = no_weight>
std::string text_refusal(const std::string& text) {
  try {
    (void)read_text<Weight>(text);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "";
}

template <class List>
bool same_edges(const List& a, const List& b) {
  bool same = a.vertices == b.vertices && a.symmetric == b.symmetric && a.from == b.from &&
              a.to == b.to && a.weights.size() == b.weights.size();
  if constexpr (List::has_weights) same = same && a.weights == b.weights;
  return same;
}
template <class Weight, class Vertex>
std::string as_matrix_market(const lanewise::edge_list<Weight, Vertex>& edges) {
  std::ostringstream out;
  lanewise::write_matrix_market(out, edges);
  return out.str();
}
template <class Weight, class Vertex>
std::string as_dimacs(const lanewise::edge_list<Weight, Vertex>& edges) {
  std::ostringstream out;
  lanewise::write_dimacs(out, edges);
  return out.str();
}

/// Edges on and below the diagonal, as symmetric files have them.
template <class Weight, class Vertex>
lanewise::edge_list<Weight, Vertex> listed_edges(std::int64_t n, std::uint64_t m, bool symmetric) {
  auto random = make_random(m);
  lanewise::edge_list<Weight, Vertex> edges;
  edges.vertices = n;
  edges.symmetric = symmetric;
  for (std::uint64_t i = 0; i < m; ++i) {
    const auto last = static_cast<std::uint64_t>(n) - 1;
    auto a = random_number(random, last), b = random_number(random, last);
    if (a < b) std::swap(a, b);
    Weight weight{};
    if constexpr (std::is_floating_point_v<Weight>)
      weight = static_cast<Weight>(std::ldexp(static_cast<Weight>(random() >> 11),
                                              static_cast<int>(random_number(random, 80)) - 100));
    else if constexpr (std::is_integral_v<Weight>)
      weight = static_cast<Weight>(random());
    edges.add(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b), weight);
  }
  return edges;
}

template <class Weight, class Vertex>
void check_text_round_trip() {
  for (const std::uint64_t m : {0, 1, 100}) {
    for (const bool symmetric : {false, true}) {
      CAPTURE(m, symmetric);
      const auto edges = listed_edges<Weight, Vertex>(50, m, symmetric);
      CHECK(same_edges(read_text<Weight, Vertex>(as_matrix_market(edges)), edges));
      auto arcs = edges;
      arcs.symmetric = false;
      if constexpr (lanewise::edge_list<Weight, Vertex>::has_weights)
        CHECK(same_edges(read_text<Weight, Vertex>(as_dimacs(arcs)), arcs));
      const auto both = read_text<Weight, Vertex>(as_dimacs(edges));
      std::int64_t loops = 0;
      for (std::size_t i = 0; i < edges.from.size(); ++i) loops += edges.from[i] == edges.to[i];
      CHECK(both.edges() == (symmetric ? 2 * edges.edges() - loops : edges.edges()));
    }
  }
}

template <class Graph>
std::string saved_graph(const Graph& graph) {
  std::ostringstream out(std::ios::binary);
  lanewise::save(make_space(), graph, out);
  return out.str();
}
template <class Graph>
Graph loaded_graph(const std::string& file) {
  std::istringstream in(file, std::ios::binary);
  return lanewise::load<Graph>(make_space(), in);
}
template <class Graph>
std::string graph_refusal(const std::string& file) {
  try {
    (void)loaded_graph<Graph>(file);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "";
}

template <class V>
bool same_views(const V& a, const V& b) {
  const auto host_a = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), a);
  const auto host_b = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), b);
  return host_a.extent(0) == host_b.extent(0) &&
         std::equal(host_a.data(), host_a.data() + host_a.extent(0), host_b.data());
}
template <class Graph>
void check_graph_round_trip(const Graph& graph) {
  const std::string file = saved_graph(graph);
  const Graph again = loaded_graph<Graph>(file);
  CHECK(same_views(again.begins(), graph.begins()));
  CHECK(same_views(again.columns(), graph.columns()));
  if constexpr (Graph::has_weights) CHECK(same_views(again.weights(), graph.weights()));
  CHECK(again.has_edges_into() == graph.has_edges_into());
  CHECK(same_views(again.begins_into(), graph.begins_into()));
  CHECK(same_views(again.columns_into(), graph.columns_into()));
  CHECK((again.columns_into().data() == again.columns().data()) ==
        (graph.columns_into().data() == graph.columns().data()));
  CHECK(saved_graph(again) == file);
}

constexpr std::size_t graph_header_words = 12;

using graph_in_file = lanewise::csr_graph<memory>;

/// 0 - 1 - 2 and a loop at 2.
graph_in_file small_graph_in_file() {
  return lanewise::csr_graph(in_memory<std::uint32_t>(std::vector<int>{0, 1, 3, 5}),
                             in_memory<std::uint32_t>(std::vector<int>{1, 0, 2, 1, 2}))
      .symmetric();
}

/// Another text: bytes changed, left out, repeated, or the end cut off.
std::string mutated(random_engine& random, std::string text) {
  const auto place = [&] { return static_cast<std::size_t>(random_number(random, text.size())); };
  for (auto changes = 1 + random_number(random, 3); changes > 0; --changes) {
    const std::size_t at = place();
    switch (random_number(random, 4)) {
      case 0:
        text.resize(at);
        break;
      case 1:
        text.erase(at, random_number(random, 5));
        break;
      case 2:
        text.insert(at, text.substr(place(), random_number(random, 30)));
        break;
      case 3:
        text.insert(at, 1, " \n%-+.e0199ac\r"[random_number(random, 13)]);
        break;
      default:
        if (at < text.size()) text[at] = static_cast<char>(random());
    }
  }
  return text;
}

}  // namespace

TEST_CASE("Matrix Market files are read", "[graph_file]") {
  const auto edges = read_text<float>(
      "%%MatrixMarket MATRIX Coordinate real symmetric\r\n% a comment\n\n 3\t3 2 \n%another\n"
      "2 1 0.5\n\n  3 3 -1e-2");
  CHECK(edges.vertices == 3);
  CHECK(edges.symmetric);
  CHECK((edges.from == std::vector<std::uint32_t>{1, 2}));
  CHECK((edges.to == std::vector<std::uint32_t>{0, 2}));
  CHECK((edges.weights == std::vector<float>{0.5f, -0.01f}));
  const auto pattern =
      read_text<std::int64_t>("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n");
  CHECK_FALSE(pattern.symmetric);
  CHECK((pattern.weights == std::vector<std::int64_t>{1}));
  CHECK(read_text("%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 +7\n").edges() ==
        1);
  CHECK(read_text("%%MatrixMarket matrix coordinate pattern general\n0 0 0\n").vertices == 0);
}

TEST_CASE("DIMACS files are read", "[graph_file]") {
  const auto edges = read_text<std::uint32_t, std::int64_t>(
      "c of roads\nc\np sp 3 2\nc more\na 1 3 4294967295\na 3 3 0\nc end\n");
  CHECK(edges.vertices == 3);
  CHECK((edges.from == std::vector<std::int64_t>{0, 2}));
  CHECK((edges.to == std::vector<std::int64_t>{2, 2}));
  CHECK((edges.weights == std::vector<std::uint32_t>{~0u, 0}));
  CHECK(read_text("p sp 0 0").edges() == 0);
  CHECK(read_text("p sp 2147483648 1\na 2147483648 1 1.5").from[0] == 0x7fffffff);
}

TEST_CASE("Lists of edges come back from texts", "[graph_file]") {
  check_text_round_trip<no_weight, std::uint32_t>();
  check_text_round_trip<float, std::uint32_t>();
  check_text_round_trip<double, std::int64_t>();
  check_text_round_trip<std::int64_t, std::int32_t>();
  // More than a piece, with lines across its end.
  const auto many = listed_edges<double, std::uint32_t>(1 << 20, 100'000, true);
  const std::string text = as_matrix_market(many);
  CHECK(text.size() > 3 << 20);
  CHECK(same_edges(read_text<double>(text), many));
}

TEST_CASE("Texts that are no graphs are refused with the line", "[graph_file]") {
  const std::string mm = "%%MatrixMarket matrix coordinate real general\n";
  const std::string half = "%%MatrixMarket matrix coordinate real symmetric\n";
  const std::pair<std::string, const char*> texts[] = {
      {"%%MatrixMarkt", "read_matrix_market: file, line 1: expected %%MatrixMarket, found '%%Matr"},
      {"%%MatrixMarket vector", "line 1: expected matrix, found 'vector'"},
      {"%%MatrixMarket matrix array real general", "expected coordinate, found 'array'"},
      {"%%MatrixMarket matrix coordinate complex general\n",
       "expected pattern, integer or real, found 'complex'"},
      {"%%MatrixMarket matrix coordinate real hermitian\n",
       "expected general or symmetric, found 'hermitian'"},
      {"%%MatrixMarket matrix coordinate real", "expected general or symmetric, found nothing"},
      {"%%MatrixMarket matrix coordinate real general x", "expected the end of the line, found 'x"},
      {mm, "line 1: expected rows, columns and entries, found the end of the file"},
      {mm + "%\n3 4 1", "line 3: expected as many columns as rows, 3, found '4'"},
      {mm + "3 3\n", "line 2: expected a number of entries from 0 to 4611686018427387904, found "},
      {mm + "-1 3 1\n", "expected a number of rows from 0 to 2147483648, found '-1'"},
      {mm + "2147483649 1 1\n", "from 0 to 2147483648, found '2147483649'"},
      {mm + "99999999999999999999 1 1\n", "found '99999999999999999999'"},
      {mm + "3 3 -1\n", "a number of entries from 0 to"},
      {mm + "0 0 1\n", "expected a number of entries 0, found '1'"},
      {mm + "3 3 1 9\n", "expected the end of the line, found '9'"},
      {mm + "3 3 2\n1 1 1\n%\n", "line 4: expected 2 entries, found the end of the file after 1"},
      {mm + "3 3 1\n1 1 1\n\n2 2 1", "line 5: expected the end of the file after 1 entries, foun"},
      {mm + "3 3 1\n0 1 1\n", "line 3: expected a row from 1 to 3, found '0'"},
      {mm + "3 3 1\n1 4 1\n", "line 3: expected a column from 1 to 3, found '4'"},
      {mm + "3 3 1\n1 1.5 1\n", "found '1.5'"},
      {mm + "3 3 1\n1\n", "expected a column from 1 to 3, found nothing"},
      {mm + "3 3 1\n1 2\n", "expected a weight of 32 bits, found nothing"},
      {mm + "3 3 1\n1 2 x\n", "expected a weight of 32 bits, found 'x'"},
      {mm + "3 3 1\n1 2 nan\n", "found 'nan'"},
      {mm + "3 3 1\n1 2 inf\n", "found 'inf'"},
      {mm + "3 3 1\n1 2 1e99\n", "expected a weight of 32 bits, found '1e99'"},
      {mm + "3 3 1\n1 2 +-1\n", "found '+-1'"},
      {mm + "3 3 1\n1 2 1 1\n", "expected the end of the line, found '1'"},
      {half + "3 3 1\n1 2 1\n", "expected a column not above the diagonal, 1, found '2'"},
      {half + "3 3 1\n2 3 1\n", "expected a column not above the diagonal, from 1 to 2, found '3'"},
      {"", "read_dimacs: file, line 0: expected 'p sp' with vertices and arcs, found the end"},
      {"c\n\n", "line 2: expected 'p sp' with vertices and arcs"},
      {"a 1 1 1\n", "line 1: expected 'p', found 'a'"},
      {"p max 1 1\n", "expected 'sp', found 'max'"},
      {"p sp 3\n", "expected a number of arcs from 0 to 4611686018427387904, found nothing"},
      {"p sp 3 1 1\n", "expected the end of the line, found '1'"},
      {"p sp 3 1\np sp 3 1\n", "line 2: expected 'a', found 'p'"},
      {"p sp 3 2\na 1 2 3\n", "expected 2 arcs, found the end of the file after 1"},
      {"p sp 3 1\na 1 2 3\na 1 2 3\n", "line 3: expected the end of the file after 1 arcs"},
      {"p sp 3 1\na 1 4 3\n", "line 2: expected a vertex from 1 to 3, found '4'"},
      {"p sp 3 1\na 1 2\n", "expected a weight of 32 bits, found nothing"},
      {"p sp 3 1\na " + std::string(50, '9') + " 2\n", "9999999...'"},
      {"c" + std::string(1 << 20, 'x'), "line 1: expected a line of less than 1048576 characters"},
  };
  for (const auto& [text, expected] : texts) {
    CAPTURE(text.substr(0, 200));
    CHECK_THAT(text_refusal<float>(text), ContainsSubstring(expected));
  }
  CHECK_THAT(text_refusal<std::uint32_t>("p sp 1 1\na 1 1 -1"),
             ContainsSubstring("expected a weight that is an integer from 0 to 4294967295, found "
                               "'-1'"));
  CHECK_THAT(text_refusal<std::uint32_t>("p sp 1 1\na 1 1 4294967296"), ContainsSubstring("found"));
  CHECK_THAT(text_refusal<std::int64_t>("p sp 1 1\na 1 1 1.0"), ContainsSubstring("found '1.0'"));
  CHECK_THAT(text_refusal<>("p sp 1 1\na 1 1 one"), ContainsSubstring("found 'one'"));
}

TEST_CASE("Texts that are changed at random are refused or are graphs", "[graph_file]") {
  auto random = make_random(17);
  const std::string texts[] = {as_matrix_market(listed_edges<float, std::uint32_t>(9, 6, false)),
                               as_matrix_market(listed_edges<no_weight, std::uint32_t>(9, 6, true)),
                               as_dimacs(listed_edges<std::int32_t, std::uint32_t>(9, 6, false))};
  int refused = 0, taken = 0;
  for (int round = 0; round < (full() ? 100'000 : 6000); ++round) {
    const std::string text = mutated(random, texts[round % 3]);
    CAPTURE(text);
    try {
      const auto edges = read_text<float>(text);
      REQUIRE(edges.to.size() == edges.from.size());
      REQUIRE(edges.weights.size() == edges.from.size());
      for (std::size_t i = 0; i < edges.from.size(); ++i) {
        REQUIRE(edges.from[i] < edges.vertices);
        REQUIRE(edges.to[i] < edges.vertices);
      }
      ++taken;
    } catch (const std::runtime_error& e) {
      REQUIRE_THAT(std::string(e.what()), ContainsSubstring(": file, line "));
      ++refused;
    }
  }
  CHECK(refused > 1000);
  CHECK(taken > 100);
}

TEST_CASE("Files of edges on disk", "[graph_file]") {
  const auto path = std::filesystem::temp_directory_path() /
                    ("lanewise_graph_file_" + std::to_string(std::random_device()()) + ".mtx");
  const auto edges = listed_edges<float, std::uint32_t>(20, 30, true);
  for (const bool dimacs : {false, true}) {
    std::ofstream out(path);
    dimacs ? lanewise::write_dimacs(out, edges) : lanewise::write_matrix_market(out, edges);
    out.close();
    CHECK(lanewise::read_edges<float>(path.string()).vertices == 20);
  }
  std::filesystem::remove(path);
  CHECK_THROWS_WITH(
      lanewise::read_edges(path.string()),
      ContainsSubstring("lanewise::read_edges: " + path.string() + " cannot be opened"));
  std::ofstream(path) << "0 1\n";
  CHECK_THROWS_WITH(lanewise::read_edges(path.string()),
                    ContainsSubstring("read_edges: " + path.string() +
                                      " begins neither with '%%MatrixMarket' nor"));
  std::ofstream(path) << "";
  CHECK_THROWS_WITH(lanewise::read_edges(path.string()), ContainsSubstring("is empty"));
  std::filesystem::remove(path);
}

TEST_CASE("Lists of edges that are none are not written", "[graph_file]") {
  std::ostringstream out;
  lanewise::edge_list<float> edges;
  edges.vertices = 2;
  edges.add(0, 2, 1);
  CHECK_THROWS_WITH(lanewise::write_dimacs(out, edges),
                    ContainsSubstring("write_dimacs: edge 0 leads from 0 to 2, there are 2"));
  edges.to[0] = 1;
  edges.weights[0] = std::numeric_limits<float>::infinity();
  CHECK_THROWS_WITH(lanewise::write_matrix_market(out, edges),
                    ContainsSubstring("write_matrix_market: the weight of edge 0 is inf"));
  edges.weights.clear();
  CHECK_THROWS_WITH(lanewise::write_dimacs(out, edges), ContainsSubstring("0 weights for 1 edges"));
  edges.from.clear();
  CHECK_THROWS_WITH(lanewise::write_dimacs(out, edges), ContainsSubstring("0 vertices that edges"));
  out.setstate(std::ios::badbit);
  CHECK_THROWS_WITH(lanewise::write_dimacs(out, lanewise::edge_list<float>()),
                    ContainsSubstring("write_dimacs: the stream cannot be written"));
}

TEST_CASE("Graphs of texts are searched where they belong", "[graph_file]") {
  const space exec = make_space();
  for (const bool symmetric : {false, true}) {
    const auto edges = listed_edges<double, std::int32_t>(40, 150, symmetric);
    const auto graph = lanewise::build_csr(exec, edges);
    const auto again = symmetric ? graph.symmetric() : graph;
    CHECK(lanewise::check_graph(exec, again, {.equal_weights = true}).other_edges_into == false);
    CHECK(graph.edges() >= edges.edges());
    const auto back = lanewise::edges_of(exec, again);
    CHECK(back.symmetric == symmetric);
    CHECK(back.edges() == edges.edges());
    // Rows are sorted; equal edges keep their order.
    const auto twice = lanewise::build_csr(exec, back);
    CHECK(same_views(twice.begins(), graph.begins()));
    CHECK(same_views(twice.columns(), graph.columns()));
  }
  lanewise::edge_list<float> parallel;
  parallel.vertices = 2;
  for (const float weight : {3.0f, 2.0f, 5.0f}) parallel.add(0, 1, weight);
  const auto least =
      lanewise::build_csr(exec, parallel, lanewise::minimum{}, {.merge_duplicates = true});
  CHECK(least.edges() == 1);
  CHECK(to_host(least.weights().data(), 1) == std::vector<float>{2});
  const auto wrong = lanewise::csr_graph(in_memory<std::int32_t>(std::vector<int>{0, 3, 2}),
                                         in_memory<std::uint32_t>(std::vector<int>{0, 1}));
  CHECK_THROWS_WITH(lanewise::edges_of(exec, wrong),
                    ContainsSubstring("edges_of: row 0 is from 0 to 3, there are 2 edges"));
  CHECK(lanewise::edges_of(exec, graph_in_file()).edges() == 0);
}

TEST_CASE("Graphs come back from files", "[graph_file]") {
  const space exec = make_space();
  const auto edges = listed_edges<double, std::int32_t>(40, 150, true);
  check_graph_round_trip(lanewise::build_csr<std::int64_t>(exec, edges));
  check_graph_round_trip(lanewise::build_csr<std::int64_t>(exec, edges).symmetric());
  const auto directed = lanewise::build_csr(exec, lanewise::rmat_edges(6, 300));
  const auto into = lanewise::build_csr(exec, lanewise::rmat_edges(6, 300), {.transpose = true});
  check_graph_round_trip(directed);
  check_graph_round_trip(directed.with_transpose(into.begins(), into.columns()));
  check_graph_round_trip(lanewise::build_csr(exec, lanewise::lattice_edges(1, 1)).symmetric());
  const auto empty = loaded_graph<graph_in_file>(saved_graph(graph_in_file()));
  CHECK(empty.vertices() == 0);
  CHECK(empty.edges() == 0);
  CHECK_FALSE(empty.has_edges_into());
}

TEST_CASE("A file of a graph has these words on every backend", "[graph_file]") {
  const words_of_file words(saved_graph(small_graph_in_file()), graph_header_words, {4, 5});
  // Magic, version, symmetric, types of vertices, weights and begins, 0, 3 vertices, 5 edges.
  CHECK((words.header ==
         std::vector<std::uint32_t>{0x672e774c, 0x68706172, 1, 1, 0x104, 0, 0x104, 0, 3, 0, 5, 0}));
  CHECK((words.data == std::vector<std::uint32_t>{0, 1, 3, 5, 1, 0, 2, 1, 2}));
  CHECK(words.file() == saved_graph(small_graph_in_file()));
}

TEST_CASE("Files of graphs that are damaged are refused", "[graph_file]") {
  const std::string file = saved_graph(small_graph_in_file());
  int taken = 0;
  auto random = make_random(23);
  for (std::size_t i = 0; i < file.size(); ++i) {
    std::string other = file;
    other[i] = static_cast<char>(other[i] ^ (1 << random_number(random, 7)));
    taken += graph_refusal<graph_in_file>(other).empty();
    taken += graph_refusal<graph_in_file>(file.substr(0, i)).empty();
  }
  CHECK(taken == 0);
  CHECK_THAT(graph_refusal<graph_in_file>(""), ContainsSubstring("ends early"));
  CHECK_THAT(graph_refusal<graph_in_file>(std::string(1000, 'x')),
             ContainsSubstring("lanewise::load: this is no graph"));
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  CHECK_THROWS_WITH(lanewise::save(make_space(), small_graph_in_file(), out),
                    ContainsSubstring("lanewise::save: the stream cannot be written"));
}

TEST_CASE("Files of other graphs, and of none, are refused", "[graph_file]") {
  const std::string file = saved_graph(small_graph_in_file());
  CHECK_THAT((graph_refusal<lanewise::csr_graph<memory, std::int32_t>>(file)),
             ContainsSubstring("the type of vertices is unsigned integers of 4 bytes in the file, "
                               "signed integers of 4 bytes in the program"));
  CHECK_THAT((graph_refusal<lanewise::csr_graph<memory, std::uint32_t, std::int64_t>>(file)),
             ContainsSubstring("the type of row begins is"));
  CHECK_THAT(
      (graph_refusal<lanewise::csr_graph<memory, std::uint32_t, std::uint32_t, float>>(file)),
      ContainsSubstring("the type of weights is nothing in the file"));
  const words_of_file original(file, graph_header_words, {4, 5});
  const auto after = [&](const auto& change) {
    words_of_file words = original;
    change(words);
    return graph_refusal<graph_in_file>(words.file());
  };
  CHECK(after([](auto&) {}) == "");
  CHECK_THAT(after([](auto& w) { w.header[2] = 2; }), ContainsSubstring("version is 2"));
  CHECK_THAT(after([](auto& w) { w.header[3] = 3; }), ContainsSubstring("a graph of kind 3"));
  CHECK_THAT(after([](auto& w) { w.header[7] = 1; }), ContainsSubstring("a graph of kind"));
  CHECK_THAT(
      after([](auto& w) { w.header[9] = 1; }),
      ContainsSubstring("the file has 4294967299 vertices and 5 edges, graphs have at most"));
  CHECK_THAT(after([](auto& w) { w.header[11] = 1; }), ContainsSubstring("graphs have at most"));
  // 16 GB that are not there.
  CHECK_THAT(after([](auto& w) { w.header[10] = ~0u; }), ContainsSubstring("ends early"));
  CHECK_THAT(after([](auto& w) { w.header[8] = 1u << 31; }), ContainsSubstring("ends early"));
  CHECK_THAT(after([](auto& w) { w.header[3] = 2; }), ContainsSubstring("ends early"));
  CHECK_THAT(after([](auto& w) { w.data[1] = 4; }),
             ContainsSubstring("the file has no graph: 1 of 4 row begins do not ascend"));
  CHECK_THAT(after([](auto& w) { w.data[4] = 3; }), ContainsSubstring("1 of 5 edges lead to"));
  CHECK_THAT(after([](auto& w) { w.data[4] = 2; }), ContainsSubstring("the edges into vertices"));
}
