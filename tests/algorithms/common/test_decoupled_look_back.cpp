// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/segments/reduce_by_key.hpp>
#include <lanewise/segments/run_length.hpp>
#include <lanewise/select/select.hpp>
#include <lanewise/sequence/scan.hpp>
#include <lanewise/sequence/scan_reverse.hpp>
#include <support/functors.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

// Few teams and many tiles, so that tiles wait for their turn in every slot of scratch, again and
// again.

namespace {

using namespace test;
using u32 = std::uint32_t;

template <int team_warps, int per_lane, int after>
struct waiting_policy : lanewise::launch_policy {
  static constexpr int warps = team_warps;
  static constexpr int items_per_lane = per_lane;
  static constexpr int parked_tiles = after;
  static constexpr std::int64_t host_tile_bytes = 1 << 10;
};

template <bool exclusive, class Policy, class T, class Op>
void check_scan(std::int64_t n, std::int64_t league, const T& init, Op op) {
  CAPTURE(n, league, exclusive, Policy::parked_tiles);
  using backend = lanewise::backend_of<space>;
  using source = lanewise::array_source<T, lanewise::identity>;
  using kernel =
      lanewise::kernels::scan_kernel<exclusive, source, lanewise::array_sink<T>, Op, T, Policy>;
  using tile = lanewise::tile_t<lanewise::team_t<space, Policy>, T, Policy>;
  const auto exec = make_space();
  const auto items = random_items<T>(n, most_summand<T>());
  const array<T> in(items);
  const array<T> out(n, item_of<T>(77));
  const std::int64_t tiles = lanewise::divide_up(n, tile::items);
  lanewise::workspace work;
  work.reserve_for<backend>(
      exec, {tiles + league, lanewise::look_back_chain<T>::payload_bytes(tiles)}, "");

  for (int again = 0; again < 2; ++again) {
    lanewise::launch(exec, "Lanewise::test::decoupled_look_back", league,
                     kernel{source{in.data(), n, {}},
                            lanewise::array_sink<T>{out.data(), n},
                            op,
                            init,
                            {{n}},
                            work.make_look_back_chain<T>(0)});
    CHECK(difference(out.items(), exclusive ? oracle::exclusive_scan(items, init, op)
                                            : oracle::inclusive_scan(items, op)) == "");
    CHECK(out.guards_intact());
  }
}

template <class Policy, class T, class Op>
void check_leagues(const T& init, Op op) {
  for (const std::int64_t n : {1, 100, 1000, 5000, is_emulated ? 9001 : 60'001}) {
    for (const std::int64_t league : {1, 2, 3}) {
      check_scan<true, Policy>(n, league, init, op);
      check_scan<false, Policy>(n, league, init, op);
    }
  }
}

constexpr bool on_device = !Kokkos::SpaceAccessibility<Kokkos::HostSpace, memory>::accessible;
/// Enough for several tiles per slot of every team.
const std::int64_t many = is_emulated ? 150'001 : (on_device ? 30'000'001 : 600'001);

struct is_odd {
  KOKKOS_FUNCTION bool operator()(u32 x) const { return (x & 1) != 0; }
};

}  // namespace

TEST_CASE("Tiles wait for their turn in one slot or several", "[decoupled_look_back][sanitize]") {
  check_leagues<waiting_policy<2, 4, 1>>(u32{5}, lanewise::plus{});
  check_leagues<waiting_policy<3, 8, 2>>(u32{5}, last_nonzero{});
  check_leagues<waiting_policy<1, 4, 3>>(std::uint64_t{5}, lanewise::plus{});
  check_leagues<waiting_policy<2, 2, 5>>(item_of<affine>(5), then{});
  check_leagues<waiting_policy<4, 16, 4>>(std::uint8_t{5}, lanewise::plus{});
}

TEST_CASE("Scans of many tiles", "[decoupled_look_back]") {
  const auto exec = make_space();
  const auto items = random_items<u32>(many, ~u32{0});
  const array<u32> in(items), out(many, 77u);

  lanewise::inclusive_scan(exec, in.const_view(), out.view(), lanewise::plus{});
  CHECK(difference(out.items(), oracle::inclusive_scan(items, lanewise::plus{})) == "");

  lanewise::exclusive_scan_reverse(exec, in.const_view(), out.view(), lanewise::plus{}, 3u);
  std::vector<u32> expected(items.size());
  u32 sum = 3;
  for (std::size_t i = items.size(); i-- > 0; sum += items[i]) expected[i] = sum;
  CHECK(difference(out.items(), expected) == "");
  CHECK(out.guards_intact());
}

// One team of a host publishes nothing.
TEST_CASE("Scans of one tile clear the slots of larger ones", "[decoupled_look_back]") {
  const auto exec = make_space();
  const array<u32> in(many, 1u), out(many, 77u);
  lanewise::workspace work;
  lanewise::inclusive_scan(exec, in.const_view(), out.view(), lanewise::plus{}, {.work = &work});
  const auto chain = work.make_look_back_chain<u32>(0);
  exec.fence();
  const auto epoch = static_cast<u32>(to_host(chain.control, 1)[0] >> 32) - 1;
  for (u32 launch = 0; launch <= chain.rotation / 32; ++launch) {
    lanewise::inclusive_scan(exec, Kokkos::subview(in.const_view(), Kokkos::make_pair(0, 10)),
                             out.view(), lanewise::plus{}, {.work = &work});
  }
  exec.fence();
  for (const auto& slot : to_host(chain.slots, chain.places))
    CHECK((slot.tag == 0 || slot.tag >> 2 != epoch));
}

TEST_CASE("Selections of many tiles", "[decoupled_look_back]") {
  const auto exec = make_space();
  const auto items = random_items<u32>(many, 1000);
  const array<u32> in(items), out(many, 77u);
  std::vector<u32> expected;
  for (const u32 x : items) {
    if (is_odd{}(x)) expected.push_back(x);
  }

  const auto kept = lanewise::select_if(exec, in.const_view(), out.view(), is_odd{});
  REQUIRE(kept == static_cast<std::int64_t>(expected.size()));
  expected.resize(items.size(), 77u);
  CHECK(difference(out.items(), expected) == "");
}

TEST_CASE("Runs of many tiles", "[decoupled_look_back]") {
  const auto exec = make_space();
  auto random = make_random(4);
  std::vector<u32> keys, run_keys, lengths, sums;
  const auto values = random_items<u32>(many, 1000);
  // Short runs, and some that are longer than tiles.
  while (keys.size() < values.size()) {
    const u32 key = static_cast<u32>(run_keys.size());
    const auto length = std::min<std::size_t>(values.size() - keys.size(),
                                              1 + random() % (random() % 100 == 0 ? 20'000 : 9));
    u32 sum = 0;
    for (std::size_t i = 0; i < length; ++i) sum += values[keys.size() + i];
    keys.insert(keys.end(), length, key);
    run_keys.push_back(key);
    lengths.push_back(static_cast<u32>(length));
    sums.push_back(sum);
  }
  const std::size_t runs = run_keys.size();
  const array<u32> in(keys), beside(values), keys_out(many, 77u), out(many, 77u);
  run_keys.resize(keys.size(), 77u);
  lengths.resize(keys.size(), 77u);
  sums.resize(keys.size(), 77u);

  auto found = lanewise::run_length_encode(exec, in.const_view(), keys_out.view(), out.view());
  REQUIRE(found == static_cast<std::int64_t>(runs));
  CHECK(difference(keys_out.items(), run_keys) == "");
  CHECK(difference(out.items(), lengths) == "");

  const array<u32> reduced_keys(many, 77u), reduced(many, 77u);
  found = lanewise::reduce_by_key(exec, in.const_view(), beside.const_view(), reduced_keys.view(),
                                  reduced.view(), lanewise::plus{});
  REQUIRE(found == static_cast<std::int64_t>(runs));
  CHECK(difference(reduced_keys.items(), run_keys) == "");
  CHECK(difference(reduced.items(), sums) == "");

  lanewise::inclusive_scan_by_key(exec, in.const_view(), beside.const_view(), out.view(),
                                  lanewise::plus{});
  std::vector<u32> scan(values);
  for (std::size_t i = 1; i < scan.size(); ++i) {
    if (keys[i] == keys[i - 1]) scan[i] += scan[i - 1];
  }
  CHECK(difference(out.items(), scan) == "");
}
