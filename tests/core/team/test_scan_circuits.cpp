// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/backend.hpp>
#include <support/bank_conflicts.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/scan_circuits.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <string>

// Prefix circuits: their sizes and depths (Merrill, 4.1), that they scan, also on the lanes of a
// warp, and how Blelloch's algorithm and RCBK use banks (4.4.1).

LANEWISE_BEGIN_NAMESPACE
namespace test_kernels {

/// Runs a circuit on the lanes of a warp: from[s * W + i] is whose value lane i takes before
/// its own in step s, its own number standing for none.
template <class T, class Op>
struct circuit_on_lanes {
  struct policy : launch_policy {
    static constexpr int warps = 1;
  };
  template <class Team>
  struct scratch {};

  const std::uint32_t* from;
  int steps;
  T* items;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    const auto warp = team.warp();
    auto x = warp.load(items);
    for (int s = 0; s < steps; ++s) {
      const auto source = warp.load(from + s * Team::warp_type::width);
      const auto with = warp.map(Op{}, warp.shuffle(x, source), x);
      x = select(source == warp.lane(), x, with);
    }
    warp.store(items, x);
  }
};

}  // namespace test_kernels
LANEWISE_END_NAMESPACE

namespace {

using namespace test;

struct named_circuit {
  std::string name;
  scan_circuit (*make)(int n);
};
const std::vector<named_circuit> all_circuits = {{"sequential", sequential_circuit},
                                                 {"Kogge-Stone", kogge_stone_circuit},
                                                 {"Sklansky", sklansky_circuit},
                                                 {"Brent-Kung", brent_kung_circuit},
                                                 {"Han-Carlson", han_carlson_circuit}};

struct circuit_numbers {
  std::int64_t size;
  int depth;
  std::int64_t deficiency;
  friend bool operator==(const circuit_numbers&, const circuit_numbers&) = default;
};

circuit_numbers numbers_of(const scan_circuit& c) {
  return {c.size(), c.depth(), c.size() + c.depth() - (2 * std::int64_t{c.n} - 2)};
}

/// The places of lanes, lane t being at cell first + t stride, of 4 bytes.
std::vector<std::int64_t> bytes_of_lanes(int lanes, std::int64_t first, std::int64_t stride) {
  std::vector<std::int64_t> at;
  for (int t = 0; t < lanes; ++t) at.push_back(4 * (first + t * stride));
  return at;
}

/// Blelloch's exclusive scan of n = 2^k >= 2 items in their place (listing 4), telling visit(items)
/// after the sweep up, at the root and in the end. What lies in front is the left operand, which
/// the listing writes on the right, for operators that commute.
template <class T, class Op, class F>
void blelloch_scan(std::vector<T>& m, const T& id, Op op, F visit) {
  const std::size_t n = m.size();
  for (std::size_t d = 1; d < n / 2; d *= 2) {
    for (std::size_t k = 0; k < n; k += 2 * d)
      m[k + 2 * d - 1] = op(m[k + d - 1], m[k + 2 * d - 1]);
  }
  visit(m);
  m[n - 1] = m[n / 2 - 1];
  m[n / 2 - 1] = id;
  visit(m);
  for (std::size_t d = n / 4; d > 0; d /= 2) {
    for (std::size_t k = 0; k < n; k += 2 * d) {
      const T left = m[k + d - 1];
      m[k + d - 1] = m[k + 2 * d - 1];
      m[k + 2 * d - 1] = op(m[k + d - 1], left);
    }
  }
  visit(m);
}

}  // namespace

TEST_CASE("Circuits have the sizes, depths and deficiencies of the paper", "[circuits]") {
  CHECK(numbers_of(sequential_circuit(16)) == circuit_numbers{15, 15, 0});
  CHECK(numbers_of(brent_kung_circuit(16)) == circuit_numbers{26, 6, 2});
  CHECK(numbers_of(sklansky_circuit(16)) == circuit_numbers{32, 4, 6});
  CHECK(numbers_of(kogge_stone_circuit(16)) == circuit_numbers{49, 4, 23});
  CHECK(numbers_of(brent_kung_circuit(8)) == circuit_numbers{11, 4, 1});
  CHECK(numbers_of(sklansky_circuit(8)) == circuit_numbers{12, 3, 1});
  CHECK(numbers_of(kogge_stone_circuit(8)) == circuit_numbers{17, 3, 6});
  CHECK(numbers_of(han_carlson_circuit(16)) == circuit_numbers{32, 5, 7});
}

TEST_CASE("Sizes and depths of circuits follow their formulas", "[circuits]") {
  for (int log = 3; log <= 10; ++log) {
    const std::int64_t n = std::int64_t{1} << log;
    const auto of = [&](auto make) { return numbers_of(make(static_cast<int>(n))); };
    CAPTURE(n);
    CHECK(of(sequential_circuit).size == n - 1);
    CHECK(of(sequential_circuit).depth == n - 1);
    CHECK(of(kogge_stone_circuit).size == n * log - n + 1);
    CHECK(of(kogge_stone_circuit).depth == log);
    CHECK(of(sklansky_circuit).size == n / 2 * log);
    CHECK(of(sklansky_circuit).depth == log);
    CHECK(of(brent_kung_circuit).size == 2 * n - 2 - log);
    CHECK(of(brent_kung_circuit).depth == 2 * log - 2);
    CHECK(of(han_carlson_circuit).size == n / 2 * log);
    CHECK(of(han_carlson_circuit).depth == log + 1);
  }
}

TEST_CASE("Circuits scan in order, and none beats Snir's bound", "[circuits]") {
  for (const auto& [name, make] : all_circuits) {
    for (int n = 1; n <= 70; ++n) {
      CAPTURE(name, n);
      const auto items = random_items<affine>(n);
      const auto circuit = make(n);
      CHECK(difference(circuit(items, then{}), oracle::inclusive_scan(items, then{})) == "");
      CHECK(numbers_of(circuit).deficiency >= 0);
    }
  }
}

TEST_CASE("Circuits scan on the lanes of a warp", "[circuits][sanitize]") {
  using kernel = lanewise::test_kernels::circuit_on_lanes<affine, then>;
  constexpr int width = lanewise::warp_t<space>::width;
  for (const auto& [name, make] : all_circuits) {
    CAPTURE(name);
    const auto circuit = make(width);
    std::vector<std::uint32_t> from;
    for (const auto& step : circuit.steps) {
      const std::size_t begin = from.size();
      for (std::uint32_t lane = 0; lane < width; ++lane) from.push_back(lane);
      for (const auto& g : step) from[begin + g.to] = static_cast<std::uint32_t>(g.from);
    }
    const array<affine> items(random_items<affine>(width));
    const array<std::uint32_t> sources(from);

    lanewise::launch(make_space(), "Lanewise::test::circuit", 1,
                     kernel{sources.data(), static_cast<int>(circuit.steps.size()), items.data()});

    CHECK(difference(items.items(), oracle::inclusive_scan(items.original(), then{})) == "");
    CHECK(items.guards_intact());
  }
}

TEST_CASE("Blelloch's algorithm scans as in the paper's figure", "[circuits]") {
  std::vector<int> m = {1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<std::vector<int>> seen;
  blelloch_scan(m, 0, lanewise::plus{}, [&](const auto& now) { seen.push_back(now); });
  CHECK(seen == std::vector<std::vector<int>>{{1, 3, 3, 10, 5, 11, 7, 26},
                                              {1, 3, 3, 0, 5, 11, 7, 10},
                                              {0, 1, 3, 6, 10, 15, 21, 28}});
  for (int n = 2; n <= 64; n *= 2) {
    CAPTURE(n);
    const auto items = random_items<affine>(n);
    auto scanned = items;
    blelloch_scan(scanned, affine{1, 0, 0}, then{}, [](const auto&) {});
    CHECK(difference(scanned, oracle::exclusive_scan(items, affine{1, 0, 0}, then{})) == "");
  }
}

TEST_CASE("Blelloch's tree doubles conflicts from level to level, RCBK's has two", "[circuits]") {
  // A warp of 32 lanes at its first 32 pairs; figure 30 has 4 lanes and 4 banks.
  for (const int width : {4, 32}) {
    const memory_banks banks{width, 4};
    for (int level = 0; level < 8; ++level) {
      CAPTURE(width, level);
      const std::int64_t distance = std::int64_t{1} << level;
      const int blelloch =
          conflict_degree(bytes_of_lanes(width, distance - 1, 2 * distance), 4, banks);
      CHECK(blelloch == std::min<std::int64_t>(2 * distance, width));
    }
    // Every level of RCBK has an array of its own: lanes read cells 2t and 2t + 1 and write cell t.
    CHECK(conflict_degree(bytes_of_lanes(width, 0, 2), 4, banks) == 2);
    CHECK(conflict_degree(bytes_of_lanes(width, 1, 2), 4, banks) == 2);
    CHECK(conflict_degree(bytes_of_lanes(width, 0, 1), 4, banks) == 1);
  }
}
