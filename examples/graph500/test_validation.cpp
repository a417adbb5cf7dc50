// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Whether validation takes right results, and finds what is wrong with others.

#include "validation.hpp"

#include <cmath>
#include <cstdio>
#include <limits>

namespace {

using namespace graph500;
using space = Kokkos::DefaultExecutionSpace;
using memory = space::memory_space;

int failures = 0;
void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("FAILED: %s\n", what);
  ++failures;
}

template <class T>
Kokkos::View<T*, memory> in_memory(const std::vector<T>& items) {
  const Kokkos::View<T*, memory> view("items", items.size());
  Kokkos::deep_copy(view, Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                              items.data(), items.size()));
  return view;
}

// 0 - 1 - 2 - 3 - 4, 1 - 3, 1 - 1, and apart from these 5 - 6.
edges<memory> list() {
  return {7, in_memory<vertex>({0, 1, 2, 4, 1, 1, 5}), in_memory<vertex>({1, 2, 3, 3, 3, 1, 6})};
}

tree_faults faults_of(const std::vector<vertex>& parents) {
  return validator<space>(space(), list()).check(0, in_memory(parents));
}
distance_faults faults_of(const std::vector<float>& distances) {
  return validator<space>(space(), list())
      .check(0, in_memory(distances), in_memory<vertex>({0, 0, 1, 1, 3, none, none}));
}

void test_trees() {
  expect(faults_of(std::vector<vertex>{0, 0, 1, 1, 3, none, none}).total() == 0, "a right tree");
  const auto root = faults_of(std::vector<vertex>{1, 0, 1, 1, 3, none, none});
  expect(root.root == 1 && root.total() == 1, "the key has another parent");
  const auto cycle = faults_of(std::vector<vertex>{0, 0, 3, 2, 3, none, none});
  expect(cycle.cycles == 3, "2 and 3 are each other's parents");
  const auto own = faults_of(std::vector<vertex>{0, 0, 1, 3, 3, none, none});
  expect(own.cycles == 2, "3 is its own parent");
  const auto outside = faults_of(std::vector<vertex>{0, 0, 1, 1, 77, none, none});
  expect(outside.cycles == 1, "a parent is no vertex");
  const auto broken = faults_of(std::vector<vertex>{0, 0, 1, 1, 5, none, none});
  expect(broken.cycles == 1, "a parent is not reached");
  const auto detour = faults_of(std::vector<vertex>{0, 0, 1, 2, 3, none, none});
  expect(detour.edge_steps == 1 && detour.total() == 1, "3 is reached by way of 2");
  const auto less = faults_of(std::vector<vertex>{0, 0, 1, 1, none, none, none});
  expect(less.left_out == 1 && less.total() == 1, "4 is not reached");
  const auto more = faults_of(std::vector<vertex>{0, 0, 1, 1, 3, 4, none});
  expect(more.left_out == 1 && more.invented == 1, "5 is reached by an edge that there is not");
  const auto invented = faults_of(std::vector<vertex>{0, 0, 1, 1, 2, none, none});
  expect(invented.invented == 1 && invented.total() == 1, "an edge from 2 to 4");
  validator<space> validate(space(), list());
  expect(validate.edges_searched(0, in_memory<vertex>({0, 0, 1, 1, 3, none, none})) == 6,
         "edges of the component");
}

void test_distances() {
  const float far = std::numeric_limits<float>::infinity();
  const float one = weight_of_pair(0, 1), two = one + weight_of_pair(2, 1);
  const float three = std::min(one + weight_of_pair(1, 3), two + weight_of_pair(2, 3));
  // The shorter of both ways to 2, too.
  const float second = std::min(two, one + weight_of_pair(1, 3) + weight_of_pair(3, 2));
  const std::vector<float> right{0, one, second, three, three + weight_of_pair(3, 4), far, far};
  expect(faults_of(right).total() == 0, "right distances");
  const auto after = [&](std::size_t v, float d) {
    std::vector<float> wrong = right;
    wrong[v] = d;
    return faults_of(wrong);
  };
  expect(after(0, 0.5f).root == 1, "the key's distance is not 0");
  const auto far_away = after(4, std::nextafter(right[4], far));
  expect(far_away.too_far == 1 && far_away.no_way == 1, "a distance is a little too long");
  const auto near = after(4, std::nextafter(right[4], 0.0f));
  expect(near.no_way == 1, "a distance is a little too short");
  const auto unreached = after(4, far);
  expect(unreached.left_out == 1 && unreached.too_far == 1, "4 is not reached");
  const auto invented = after(5, 1);
  expect(invented.left_out == 1 && invented.no_way == 1, "5 is reached");
  for (const auto& [a, b] : {std::pair(3u, 8u), std::pair(0u, 0u), std::pair(9u, 1u << 30)}) {
    const float weight = weight_of_pair(a, b);
    expect(weight == weight_of_pair(b, a), "weights are the same in both directions");
    expect(weight >= 0 && weight < 1, "weights are from [0, 1)");
  }
}

}  // namespace

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  test_trees();
  test_distances();
  return failures > 0;
}
