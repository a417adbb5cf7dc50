// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#define LANEWISE_TEST_LANES
#define LANEWISE_TEST_WIDTH 32
#include "check_algorithms.hpp"
#include <support/fixed_tree.hpp>

// Every algorithm with lanes that run for themselves, and what the backend says about kernels whose
// lanes disagree.

LANEWISE_BEGIN_NAMESPACE
namespace test_kernels {

struct words {
  std::uint32_t word[64];
};

template <class F>
struct planted {
  struct policy : launch_policy {
    static constexpr int warps = 2;
  };
  template <class Team>
  using scratch = words;
  F f;
  template <class Team>
  void operator()(const Team& team, scratch<Team>& shared) const {
    f(team, shared);
  }
};

}  // namespace test_kernels
LANEWISE_END_NAMESPACE

namespace {

using lanewise::interleaving;
using u32 = std::uint32_t;
using words = lanewise::test_kernels::words;

/// What the backend says, or "" if it finds nothing. Warp 1 of team 2 runs f.
template <class F>
std::string report(F f, interleaving mode = interleaving::free) {
  const auto in_one_warp = [f](const auto& team, words& shared) {
    if (team.index() == 2 && team.warp_index() == 1) f(team.warp(), shared);
    team.barrier();
  };
  try {
    lanewise::launch(space(seed(), 2, mode), "Lanewise::test::planted", 4,
                     lanewise::test_kernels::planted<decltype(in_one_warp)>{in_one_warp});
  } catch (const lanewise::emulation_error& error) {
    return error.what();
  }
  return "";
}

template <class F>
void must_report(std::initializer_list<std::string> parts, F f) {
  for (const interleaving mode : {interleaving::free, interleaving::seeded}) {
    const std::string text = report(f, mode);
    CAPTURE(text);
    CHECK(text.find("kernel 'Lanewise::test::planted' (seed " + std::to_string(seed()) +
                    ", team 2 of 4, warp 1)") != std::string::npos);
    for (const auto& part : parts) CHECK(text.find(part) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("A scalar that only once() has set is reported", "[lanes]") {
  must_report({"its lanes disagree about what they pass to broadcast: lane 0 7, lane 1 3"},
              [](const auto& warp, words&) {
                int from = 3;
                warp.once([&] { from = 7; });
                warp.broadcast(warp.lane(), from);
              });
  CHECK(report([](const auto& warp, words&) {
          const int from = warp.once([] { return 7; });
          warp.broadcast(warp.lane(), from);
        }) == "");
}

TEST_CASE("A scalar that leaks out of a lane is reported", "[lanes]") {
  u32 result = 0;
  must_report({"its lanes disagree about what they pass to store of a word: lane 0 0, lane 1 1"},
              [&](const auto& warp, words&) {
                u32 last = 0;
                warp.map([&](u32 i) { return last = i; }, warp.lane());
                warp.store(result, last);
              });
  must_report({"its lanes disagree about what they pass to first: lane 0 0, lane 1 1"},
              [&](const auto& warp, words&) {
                int mine = 0;
                auto lane = warp.lane();
                warp.each([&](u32 i) { mine = static_cast<int>(i); }, lane);
                warp.ballot(warp.first(mine));
              });
}

TEST_CASE("Pointers that are not the same in all lanes are reported", "[lanes]") {
  must_report({"its lanes disagree about what they pass to store: lane 0"},
              [](const auto& warp, words& shared) {
                int offset = 0;
                warp.once([&] { offset = 1; });
                warp.store(shared.word + offset, warp.lane());
              });
}

TEST_CASE("Lanes that come by different ways are reported", "[lanes]") {
  must_report({"its lanes disagree: lane 0 calls first, lane 1 calls team.barrier"},
              [](const auto& warp, words&) {
                bool odd = false;
                auto lane = warp.lane();
                warp.each([&](u32 i) { odd = i % 2 == 1; }, lane);
                if (!odd) warp.ballot(warp.first(3));
              });
  must_report({"its lanes wait for each other: lane 0 at ballot"}, [](const auto& warp, words&) {
    bool few = false;
    auto lane = warp.lane();
    warp.each([&](u32 i) { few = i < 8; }, lane);
    if (few) {
      warp.template split<16>([](const auto& sub) { sub.ballot(sub.first(3)); });
    } else {
      warp.ballot(warp.first(3));
    }
  });
}

TEST_CASE("Lanes that make different numbers of calls are reported", "[lanes]") {
  must_report({"its lanes disagree: lane 0 made 1 calls since they last met, lane 1 2"},
              [](const auto& warp, words&) {
                bool odd = false;
                auto lane = warp.lane();
                warp.each([&](u32 i) { odd = i % 2 == 1; }, lane);
                if (odd) warp.once([] {});
                (void)warp.once([] { return 7; });
              });
}

TEST_CASE("Sub-warps that fall out of step are reported", "[lanes]") {
  const auto in_step = [](bool keep_step) {
    return [keep_step](const auto& warp, words&) {
      warp.template split_in_step<8>([&](const auto& sub) {
        const u32 first = sub.broadcast(sub.take(warp.lane()), 0);
        // Uniform in the sub-warp, but not in the warp.
        if (keep_step || first == 8) sub.ballot(sub.first(3));
        sub.broadcast(sub.lane(), 1);
      });
    };
  };
  must_report({"its lanes disagree: lane 0 calls broadcast, lane 8 calls ballot"}, in_step(false));
  CHECK(report(in_step(true)) == "");
}

TEST_CASE("Effects outside of once() happen once per lane", "[lanes]") {
  u32 counted = 0, counted_once = 0;
  CHECK(report([&](const auto& warp, words&) {
          ++counted;
          warp.once([&] { ++counted_once; });
        }) == "");
  CHECK(counted == 32);
  CHECK(counted_once == 1);
}

TEST_CASE("A missing fence between lanes that run for themselves is reported", "[lanes]") {
  const auto reversed = [](bool fenced) {
    return [fenced](const auto& warp, words& shared) {
      warp.store(shared.word, warp.lane());
      if (fenced) warp.fence();
      const auto turned = warp.map([](u32 i) { return 31 - i; }, warp.lane());
      warp.gather(shared.word, turned);
    };
  };
  must_report({"of the team's scratch, which lane ", "with no warp.fence() between"},
              reversed(false));
  CHECK(report(reversed(true)) == "");
}

TEST_CASE("Deterministic sums with lanes that run for themselves", "[lanes]") {
  std::vector<float> items;
  for (const auto x : random_items<u32>(oracle::tree_shape<float>::block + 2345, 1'000'000))
    items.push_back(1 / (1 + static_cast<float>(x)));
  const oracle::fixed_tree expected(items, lanewise::plus{});
  const array<float> in(items);
  const array<float> out(static_cast<std::int64_t>(items.size()), 0.0f);
  const auto op = lanewise::deterministic(lanewise::plus{});

  lanewise::inclusive_scan(make_space(), in.const_view(), out.view(), op);

  CHECK(different_bits(out.items(), expected.scan(false, {})) == "");
  CHECK(lanewise::reduce(make_space(), in.const_view(), op, 0.5f) == expected.reduce(0.5f));
}
