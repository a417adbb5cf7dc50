// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/league/warp_allocate.hpp>
#include <lanewise/papers/detail/graphs/row_gathering.hpp>
#include <lanewise/papers/detail/graphs/vertex_culls.hpp>
#include <support/generators.hpp>
#include <support/graphs.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <map>
#include <set>
#include <tuple>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace test_bfs_parts {

struct policy : launch_policy {
  static constexpr int warps = 4;
};

/// Which of the vertices of one team stay, a warp's width at a time.
template <template <class, class> class Cull, class Vertex>
struct cull_kernel {
  using policy = test_bfs_parts::policy;
  template <class Team>
  struct scratch {
    typename Cull<Team, Vertex>::scratch cull;
  };
  const Vertex* vertices;
  std::uint32_t* stays;
  std::int64_t n;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using warp_type = typename Team::warp_type;
    using mask_type = typename warp_type::template mask_for<std::uint32_t>;
    constexpr int width = warp_type::width;
    const auto warp = team.warp();
    if constexpr (requires { Cull<Team, Vertex>::init(team, shared.cull); })
      Cull<Team, Vertex>::init(team, shared.cull);
    team.barrier();
    for (std::int64_t at = team.warp_index() * width; at < n; at += Team::warps * width) {
      const mask_type there = warp.first(n - at);
      const auto vertex = warp.load(there, vertices + at, Vertex{0});
      const mask_type kept = Cull<Team, Vertex>::stay(team, shared.cull, there, vertex);
      const auto flag = warp.map([](std::uint32_t k) { return k; },
                                 select(kept, typename warp_type::template lanes<std::uint32_t>(1u),
                                        typename warp_type::template lanes<std::uint32_t>(0u)));
      warp.store(there, stays + at, flag);
    }
  }
};

/// The edges of as many rows as a team has lanes, to their places.
template <papers::bfs_gathering how>
struct gather_kernel {
  using policy = test_bfs_parts::policy;
  template <class Team>
  struct scratch {
    typename papers::detail::row_gathering<how, Team, std::uint32_t>::scratch rows;
    allocation_scratch<Team, std::int64_t> allocation;
  };
  const std::int64_t *begin, *length;
  std::int64_t *edges, *lanes;
  std::int64_t rows;

  struct body {
    std::int64_t *edges, *lanes;
    template <class W, class Mask, class Values, class Places>
    LANEWISE_FUNCTION void operator()(const W& warp, const Mask& mask, const Values& value,
                                      const Places& edge, const Places& place) const {
      warp.scatter(mask, edges, place, edge);
      warp.scatter(mask, lanes, place, warp.template cast<std::int64_t>(value));
    }
  };
  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    constexpr int width = Team::warp_type::width;
    const auto warp = team.warp();
    std::int64_t first = 100;
    for (std::int64_t tile = 0; tile < rows; tile += Team::warps * width) {
      const std::int64_t at = tile + team.warp_index() * width;
      const std::int64_t left = rows - at;
      const auto there = warp.first(left);
      const auto from = warp.load(there, begin + at, std::int64_t{0});
      const auto count = warp.load(there, length + at, std::int64_t{0});
      const auto got = allocate(team, shared.allocation, count);
      const papers::detail::edge_places<typename Team::warp_type> places{
          got.offset + typename Team::warp_type::template lanes<std::int64_t>(first), got.total,
          first};
      const auto row = warp.lane() + typename Team::warp_type::template lanes<std::uint32_t>(
                                         static_cast<std::uint32_t>(at));
      papers::detail::row_gathering<how, Team, std::uint32_t>::gather(
          team, shared.rows, from, count, places, row, body{edges, lanes});
      team.barrier();
      first += got.total;
    }
  }
};

}  // namespace test_bfs_parts
LANEWISE_END_TARGET_NAMESPACE

namespace {

using namespace test;
using namespace lanewise::test_bfs_parts;
using lanewise::papers::bfs_gathering;

constexpr int width = lanewise::warp_t<space>::width;

template <template <class, class> class Cull, class Vertex>
std::vector<std::uint32_t> culled_vertices(const std::vector<Vertex>& vertices) {
  const space exec = make_space();
  const auto given = in_memory<Vertex>(vertices);
  const array<std::uint32_t> stays(std::vector<std::uint32_t>(vertices.size(), 2));
  lanewise::launch(exec, "cull", 1,
                   cull_kernel<Cull, Vertex>{given.data(), stays.data(),
                                             static_cast<std::int64_t>(vertices.size())});
  exec.fence();
  CHECK(stays.guards_intact());
  return stays.items();
}

/// Lists of vertices of one warp: all alike, all different, all in one place of a table, small ones
/// (which are numbers of lanes, too), and some at random.
template <class Vertex>
std::vector<std::vector<Vertex>> lists_of_a_warp() {
  std::vector<std::vector<Vertex>> lists(6);
  auto random = make_random(3);
  for (int i = 0; i < width; ++i) {
    const auto v = static_cast<Vertex>(i);
    lists[0].push_back(Vertex{7});
    lists[1].push_back(static_cast<Vertex>(v * 3 + 1000));
    lists[2].push_back(static_cast<Vertex>(5 + 128 * v));
    lists[3].push_back(static_cast<Vertex>(5 + 128 * (v / 2)));
    lists[4].push_back(static_cast<Vertex>(v % 8));
    lists[5].push_back(static_cast<Vertex>(random_number(random, 400)));
  }
  for (std::size_t l = 0; l < 6; ++l)
    lists.emplace_back(lists[l].begin(), lists[l].begin() + width / 2 + 1);
  return lists;
}

template <template <class, class> class Cull, class Vertex>
void check_warp_cull(bool is_exact) {
  for (const auto& vertices : lists_of_a_warp<Vertex>()) {
    const auto stays = culled_vertices<Cull, Vertex>(vertices);
    std::map<Vertex, int> left;
    std::map<Vertex, std::set<Vertex>> in_place;
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      REQUIRE(stays[i] <= 1);
      left[vertices[i]] += static_cast<int>(stays[i]);
      in_place[vertices[i] % 128].insert(vertices[i]);
    }
    std::map<Vertex, int> whole_losers;
    for (const auto& [vertex, count] : left) {
      CAPTURE(vertex, count);
      CHECK(count >= 1);  // P1 and P2
      const auto given = std::count(vertices.begin(), vertices.end(), vertex);
      if (is_exact || in_place[vertex % 128].size() == 1) CHECK(count == 1);  // P4
      // P3: of vertices that share a place only those of one lose anybody.
      if (count < given) ++whole_losers[vertex % 128];
    }
    if (!is_exact)
      for (const auto& [place, losers] : whole_losers) CHECK(losers <= 1);
  }
}

template <lanewise::papers::bfs_gathering how>
void check_gathering(const std::vector<std::int64_t>& begin,
                     const std::vector<std::int64_t>& length,
                     const std::vector<std::int64_t>& edges) {
  const space exec = make_space();
  std::vector<std::int64_t> rows;
  for (std::size_t r = 0; r < length.size(); ++r)
    rows.insert(rows.end(), static_cast<std::size_t>(length[r]), static_cast<std::int64_t>(r));
  const auto n = static_cast<std::int64_t>(edges.size());
  // Places begin at 100.
  std::vector<std::int64_t> expected(100, -1), of_rows(100, -1);
  expected.insert(expected.end(), edges.begin(), edges.end());
  of_rows.insert(of_rows.end(), rows.begin(), rows.end());
  const array<std::int64_t> seen(n + 100, -1), lanes(n + 100, -1);
  const auto b = in_memory<std::int64_t>(begin), l = in_memory<std::int64_t>(length);
  lanewise::launch(exec, "gather", 1,
                   gather_kernel<how>{b.data(), l.data(), seen.data(), lanes.data(),
                                      static_cast<std::int64_t>(begin.size())});
  exec.fence();
  CHECK(seen.items() == expected);
  CHECK(lanes.items() == of_rows);
  CHECK((seen.guards_intact() && lanes.guards_intact()));
}
void check_gatherings(const std::vector<std::int64_t>& length) {
  std::vector<std::int64_t> begin, edges;
  std::int64_t at = 1000;
  for (std::size_t r = 0; r < length.size(); ++r) {
    at += static_cast<std::int64_t>(r % 3);
    begin.push_back(at);
    for (std::int64_t i = 0; i < length[r]; ++i) edges.push_back(at++);
  }
  check_gathering<bfs_gathering::by_lanes>(begin, length, edges);
  check_gathering<bfs_gathering::by_warps>(begin, length, edges);
  check_gathering<bfs_gathering::by_scan>(begin, length, edges);
  check_gathering<bfs_gathering::by_team>(begin, length, edges);
}

}  // namespace

TEST_CASE("bfs parts: warp culls", "[bfs][sanitize]") {
  // Merrill, case D4.
  check_warp_cull<lanewise::papers::detail::cull_by_hash, std::uint32_t>(false);
  check_warp_cull<lanewise::papers::detail::cull_by_hash, std::uint64_t>(false);
  check_warp_cull<lanewise::papers::detail::cull_by_match, std::uint32_t>(true);
  check_warp_cull<lanewise::papers::detail::cull_by_match, std::uint64_t>(true);
}

TEST_CASE("bfs parts: a history keeps every vertex once at least", "[bfs][sanitize]") {
  // Merrill, case D5: here by a whole team.
  auto random = make_random(4);
  for (const std::uint64_t most : {1, 50, 900, 5000}) {
    std::vector<std::uint32_t> vertices;
    for (int i = 0; i < 3000; ++i)
      vertices.push_back(static_cast<std::uint32_t>(random_number(random, most)));
    const auto stays =
        culled_vertices<lanewise::papers::detail::cull_by_history, std::uint32_t>(vertices);
    std::map<std::uint32_t, int> left;
    for (std::size_t i = 0; i < vertices.size(); ++i)
      left[vertices[i]] += static_cast<int>(stays[i]);
    for (const auto& [vertex, count] : left) {
      CAPTURE(vertex);
      CHECK(count >= 1);
      // No other vertex has its place.
      if (most < 1024) CHECK(count == 1);
    }
  }
}

TEST_CASE("bfs parts: rows are gathered whole and in order", "[bfs][sanitize]") {
  check_gatherings({2, 2, 3, 2});  // Merrill, case D2
  check_gatherings({0});
  check_gatherings({0, 0, 1, 0});
  check_gatherings(std::vector<std::int64_t>(4 * width, 0));
  check_gatherings(std::vector<std::int64_t>(4 * width + 1, 1));
  for (const std::int64_t l :
       {width - 1, width, width + 1, 4 * width - 1, 4 * width, 4 * width + 1}) {
    check_gatherings({l});
    check_gatherings({0, 3, l, 1, l, 0, 2});
  }
  auto random = make_random(5);
  std::vector<std::int64_t> lengths;
  for (int i = 0; i < 9 * width; ++i) {
    const auto x = static_cast<std::int64_t>(random_number(random, 20));
    lengths.push_back(x == 0 ? 10 * width : x < 6 ? 0 : x);
  }
  check_gatherings(lengths);
}
