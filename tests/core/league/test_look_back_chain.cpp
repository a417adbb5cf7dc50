// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/backend.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace test_kernels {

/// Every ticket hands on a total that depends on the launch, so that leftovers of earlier launches
/// show. Some tickets come late; the first one until as many others as `crowd` have arrived, so
/// that they have to look back over more than a warp's width.
template <class T, class Op, int team_warps, bool one_by_one>
struct hand_over {
  struct policy : launch_policy {
    static constexpr int warps = team_warps;
  };
  template <class Team>
  using scratch = look_back_scratch<T>;

  look_back_chain<T> chain;
  std::uint32_t tickets;
  const T* totals;
  maybe<T> first;
  int delay;
  std::uint32_t crowd;
  int most_looks;
  std::uint32_t* arrived;
  int* draws;  // of every ticket
  T* before;
  int* present;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    for_each_ticket(team, chain, tickets, shared, [&](auto mine) {
      if (mine.ticket * 2654435761u >> 29 == 0) {
        for (int i = 0; i < delay; ++i) team.warp().pause();
      }
      if (crowd > 0 && mine.ticket == 0) {
        // Bounded, for where fewer teams than that run at once.
        int looks = 0;
        while (looks < most_looks && team.warp().template load<order::acquire>(*arrived) < crowd) {
          team.warp().pause();
          ++looks;
        }
        for (int i = 0; i < 100; ++i) team.warp().pause();
      } else if (crowd > 0 && team.warp_index() == 0) {
        team.warp().template fetch_add<order::acq_rel>(*arrived, 1u);
      }
      const maybe<T> found = publish_and_look_back<one_by_one>(team, chain, mine, shared,
                                                               totals[mine.ticket], Op{}, first);
      team.once([&] {
        ++draws[mine.ticket];
        present[mine.ticket] = found.present;
        if (found.present) before[mine.ticket] = found.value;
      });
    });
  }
};

}  // namespace test_kernels
LANEWISE_END_NAMESPACE

namespace {

using namespace test;

template <class T>
struct operator_for {
  using type = lanewise::plus;
};
template <>
struct operator_for<std::uint8_t> {
  using type = last_nonzero;
};
template <>
struct operator_for<segment> {
  using type = segmented_plus;
};
template <>
struct operator_for<affine> {
  using type = then;
};
template <>
struct operator_for<matrix> {
  using type = product;
};
template <>
struct operator_for<counters> {
  using type = counters_plus;
};

/// A pause may cost a time slice where threads share cores.
constexpr bool runs_on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, memory>::accessible;
/// Whether many teams run at once.
constexpr bool runs_at_once = is_emulated || !runs_on_host;

constexpr std::uint32_t many = is_emulated ? 150 : 3000;

/// One launch of `league` teams over some tickets; every ticket is drawn once and learns the fold
/// of the earlier ones.
template <class T, int team_warps = 3, bool one_by_one = false>
void check_hand_over(lanewise::workspace& work, std::uint32_t tickets, std::uint64_t salt,
                     bool has_first, int delay = 0, std::uint32_t more_teams = 0,
                     const space& exec = make_space(), std::uint32_t crowd = 0) {
  using op = typename operator_for<T>::type;
  using kernel = lanewise::test_kernels::hand_over<T, op, team_warps, one_by_one>;
  using backend = lanewise::backend_of<space>;
  auto totals = random_items<T>(tickets, one_by_one ? 1'000'000 : most_summand<T>(), salt);
  if constexpr (one_by_one) {
    for (T& x : totals) x = 1 / (1 + x);  // sums depend on the order
  }
  const T init = item_of<T>(5);
  const array<T> in(totals);
  const array<T> before(tickets, item_of<T>(77));
  const array<int> draws(tickets, 0);
  const cell<std::uint32_t> arrived;
  const array<int> present(tickets, -1);
  const std::int64_t league =
      backend::template league_for_tiles<kernel>(exec, tickets + more_teams);
  work.reserve_for<backend>(
      exec, {tickets + more_teams, lanewise::look_back_chain<T>::payload_bytes(tickets)}, "test");

  lanewise::launch(exec, "Lanewise::test::chain", league,
                   kernel{work.make_look_back_chain<T>(0),
                          tickets,
                          in.data(),
                          {init, has_first},
                          delay,
                          crowd,
                          runs_at_once ? 20'000 : 50,
                          arrived.data(),
                          draws.data(),
                          before.data(),
                          present.data()});

  const std::vector<int> ones(tickets, 1);
  std::vector<int> expected_present(tickets, 1);
  std::vector<T> expected = oracle::exclusive_scan(totals, init, op{});
  if (!has_first && tickets > 0) {
    expected_present[0] = 0;
    const auto inclusive = oracle::inclusive_scan(totals, op{});
    expected[0] = item_of<T>(77);
    std::copy(inclusive.begin(), inclusive.end() - 1, expected.begin() + 1);
  }
  CHECK(difference(draws.items(), ones) == "");
  CHECK(difference(present.items(), expected_present) == "");
  CHECK(difference(before.items(), expected) == "");
  CHECK(draws.guards_intact());
  CHECK(before.guards_intact());
}

}  // namespace

// 1 and 4 bytes share a 64-bit word with their tag; 8 and 12 a 16-byte word where there is one; 32
// and 128 lie beside.
TEMPLATE_TEST_CASE("A chain hands running values on in ticket order", "[chain][sanitize]",
                   std::uint32_t, segment,
                   affine MORE_TYPES(std::uint8_t, std::uint64_t, double, matrix, counters)) {
  lanewise::workspace work;
  for (const std::uint32_t tickets : {1u, 2u, 31u, 32u, 33u, 65u, many}) {
    CAPTURE(tickets);
    check_hand_over<TestType>(work, tickets, tickets, true);
    check_hand_over<TestType>(work, tickets, tickets + 1, false);
  }
}

TEMPLATE_TEST_CASE("A chain needs no clearing between launches, whatever formats they use",
                   "[chain]", std::uint32_t) {
  lanewise::workspace work;
  auto random = make_random(3);
  const int rounds = is_emulated ? 30 : 100;
  for (int round = 0; round < rounds; ++round) {
    const auto tickets = static_cast<std::uint32_t>(1 + random() % 100);
    const bool has_first = random() % 2 == 0;
    const auto salt = static_cast<std::uint64_t>(round);
    CAPTURE(round, tickets, has_first);
    switch (random() % 5) {
      case 0:
        check_hand_over<std::uint8_t>(work, tickets, salt, has_first);
        break;
      case 1:
        check_hand_over<std::uint32_t>(work, tickets, salt, has_first);
        break;
      case 2:
        check_hand_over<segment>(work, tickets, salt, has_first);
        break;
      case 3:
        check_hand_over<affine>(work, tickets, salt, has_first);
        break;
      default:
        check_hand_over<matrix>(work, tickets, salt, has_first);
        break;
    }
  }
}

TEMPLATE_TEST_CASE("A chain waits for tickets that come late", "[chain][sanitize]", std::uint32_t,
                   segment, affine) {
  lanewise::workspace work;
  for (int round = 0; round < 3; ++round) {
    CAPTURE(round);
    check_hand_over<TestType>(work, is_emulated ? 60 : 500, static_cast<std::uint64_t>(round), true,
                              runs_on_host ? 20 : 300);
  }
}

TEMPLATE_TEST_CASE("A chain looks back over more tickets than a warp has lanes",
                   "[chain][sanitize]", std::uint32_t, segment, affine) {
#if defined(LANEWISE_TEST_SPACE_EMULATED)
  const space exec(seed(), 80, mode());
#else
  const space exec;
#endif
  lanewise::workspace work;
  for (int round = 0; round < 3; ++round) {
    CAPTURE(round);
    check_hand_over<TestType, 1>(work, 200, static_cast<std::uint64_t>(round), round % 2 == 0, 0, 0,
                                 exec, 79);
  }
}

TEMPLATE_TEST_CASE("A chain folds totals one by one, wherever prefixes are", "[chain][sanitize]",
                   float MORE_TYPES(double)) {
#if defined(LANEWISE_TEST_SPACE_EMULATED)
  const space exec(seed(), 80, mode());
#else
  const space exec;
#endif
  lanewise::workspace work;
  for (int round = 0; round < 3; ++round) {
    CAPTURE(round);
    const auto salt = static_cast<std::uint64_t>(round);
    check_hand_over<TestType, 1, true>(work, many, salt, true, runs_on_host ? 20 : 300);
    check_hand_over<TestType, 1, true>(work, 200, salt, round % 2 == 0, 0, 0, exec, 79);
  }
}

TEMPLATE_TEST_CASE("Teams that find no ticket leave the chain ready for the next launch",
                   "[chain][sanitize]", std::uint32_t, affine) {
  lanewise::workspace work;
  for (const std::uint32_t tickets : {0u, 1u, 40u, 0u, 3u}) {
    CAPTURE(tickets);
    check_hand_over<TestType>(work, tickets, tickets, true, 0, 25);
  }
}

TEMPLATE_TEST_CASE("A chain survives the end of its epochs", "[chain]", std::uint32_t, segment,
                   affine) {
  using backend = lanewise::backend_of<space>;
  for (const std::uint64_t last :
       {std::uint64_t{0x3fffffff}, std::uint64_t{0x7fffffff}, std::uint64_t{0xffffffff}}) {
    lanewise::workspace work;
    work.reserve_for<backend>(
        make_space(), {100, lanewise::look_back_chain<TestType>::payload_bytes(100)}, "test");
    to_space(work.make_look_back_chain<TestType>(0).control,
             std::vector<std::uint64_t>{(last - 1) << 32});
    for (int round = 0; round < 5; ++round) {
      CAPTURE(last, round);
      check_hand_over<TestType>(work, 50, static_cast<std::uint64_t>(round), true);
    }
  }
}

// What tickets of the launch before left would be what they are to leave 2^30 launches later.
TEMPLATE_TEST_CASE("Slots that wait for 2^30 launches are not taken for fresh", "[chain][sanitize]",
                   std::uint32_t, segment, affine) {
  using backend = lanewise::backend_of<space>;
  constexpr std::uint32_t tickets = 150, reserved = 200;
  // 256 slots go round in 8 launches of warps of 32 lanes.
  constexpr int between = 32;
  // Also where epochs of 32 bits begin again.
  for (const std::uint64_t epoch :
       {std::uint64_t{0}, std::uint64_t{77}, std::uint64_t{0xfffffff5}}) {
    CAPTURE(epoch);
    lanewise::workspace work;
    work.reserve_for<backend>(
        make_space(), {reserved, lanewise::look_back_chain<TestType>::payload_bytes(reserved)},
        "test");
    const auto chain = work.make_look_back_chain<TestType>(0);
    to_space(chain.control, std::vector<std::uint64_t>{epoch << 32});
    check_hand_over<TestType>(work, tickets, 1, true);
    for (int round = 0; round < between; ++round)
      check_hand_over<TestType>(work, static_cast<std::uint32_t>(round % 3), 2, true, 0, 1);

    int leftovers = 0;
    for (const auto& slot : to_host(chain.slots, reserved))
      leftovers += slot.tag != 0 && slot.tag >> 2 == (epoch & 0x3fffffff);
    CHECK(leftovers == 0);
    const std::uint64_t later = (epoch + (std::uint64_t{1} << 30)) & 0xffffffff;
    to_space(chain.control, std::vector<std::uint64_t>{later << 32});
    check_hand_over<TestType>(work, tickets, 3, true, runs_on_host ? 20 : 300);
  }
}

TEST_CASE("A chain's rotation comes to every slot, and goes on where epochs begin again",
          "[chain]") {
  using backend = lanewise::backend_of<space>;
  constexpr std::int64_t width = lanewise::warp_t<space>::width;
  for (const std::int64_t reserved :
       {std::int64_t{1}, std::int64_t{5}, width, width + 1, 4 * width, 5 * width + 3}) {
    lanewise::workspace work;
    work.reserve_for<backend>(make_space(), {reserved, 0}, "test");
    const auto chain = work.make_look_back_chain<std::uint32_t>(0);
    CAPTURE(reserved, chain.places, chain.rotation);
    CHECK(chain.places >= reserved);
    const std::vector<lanewise::look_back_slot> marked(chain.places, {{1, 2, 3}, 4});
    to_space(chain.slots, marked);
    to_space(chain.control, std::vector<std::uint64_t>{std::uint64_t{0xfffffffe} << 32});
    const std::int64_t launches = lanewise::divide_up(std::int64_t{chain.rotation} + 1, width);
    for (std::int64_t i = 0; i < launches; ++i)
      check_hand_over<std::uint32_t>(work, 0, 1, true, 0, 1);
    for (const auto& slot : to_host(chain.slots, chain.places)) {
      CHECK(slot.tag == 0);
      CHECK(slot.word[2] == 3);
    }
  }
}
