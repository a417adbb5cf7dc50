// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/select/select.hpp>
#include <lanewise/select/unique.hpp>
#include <lanewise/sequence/adjacent_difference.hpp>
#include <lanewise/sequence/min_max_element.hpp>
#include <lanewise/sequence/reduce.hpp>
#include <lanewise/sequence/scan.hpp>
#include <lanewise/sequence/transform.hpp>
#include <lanewise/warp/search.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

// Functions of others that have the names of Lanewise's, called without a namespace and with
// something of Lanewise among the arguments. Argument-dependent lookup finds both.

namespace {

namespace app {

template <class... Args>
bool check(const Args&...) {
  return true;
}
template <class A, class B>
bool launch(const A&, const B&, int, int) {
  return true;
}
template <class A, class B>
bool transformed(const A&, const B&) {
  return true;
}
/// Not an execution space.
struct record {
  int id = 7;
};

}  // namespace app

TEST_CASE("Calls on what is no execution space are somebody else's", "[names]") {
  using namespace std;
  using namespace app;
  const vector<int> in = {3, 1, 4, 1, 5};
  vector<int> out(5);
  const lanewise::plus add;
  CHECK(reduce(in.begin(), in.end(), 0, add) == 14);
  transform(in.begin(), in.end(), in.begin(), out.begin(), add);
  CHECK(out == vector<int>{6, 2, 8, 2, 10});
  inclusive_scan(in.begin(), in.end(), out.begin(), add);
  CHECK(out == vector<int>{3, 4, 8, 9, 14});
  exclusive_scan(in.begin(), in.end(), out.begin(), 1, add);
  CHECK(out == vector<int>{1, 4, 5, 9, 10});
  adjacent_difference(in.begin(), in.end(), out.begin(), lanewise::minus{});
  CHECK(out == vector<int>{3, -2, 3, -3, 4});
  CHECK(unique(out.begin(), out.end(), lanewise::equal_to{}) == out.end());
  const auto is_identity_of_four = [](int x) { return lanewise::identity{}(x) < 4; };
  CHECK(partition_point(out.begin(), out.end(), is_identity_of_four) == out.begin() + 4);
  CHECK(transformed(in, add));
}

TEST_CASE("A check of other things is somebody else's", "[names]") {
  using app::check;
  using app::launch;
  const lanewise::status state;
  CHECK(check(app::record{}, state));
  CHECK(check(test::space(), state));
  CHECK(check(test::space(), lanewise::plus{}));
  CHECK(check(app::record{}, lanewise::workspace{}));
  CHECK(launch(app::record{}, lanewise::plus{}, 1, 2));
}

}  // namespace
