// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/backend.hpp>
#include <support/space.hpp>

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <functional>
#include <string>

// Kernels with bugs in them, and what the emulated backend says about each.

LANEWISE_BEGIN_NAMESPACE
namespace test_kernels {

struct words {
  std::uint32_t word[64];
};

/// Runs f(team, scratch) in every warp of teams of 4.
template <class F>
struct planted {
  struct policy : launch_policy {
    static constexpr int warps = 4;
  };
  template <class Team>
  using scratch = words;
  F f;
  template <class Team>
  void operator()(const Team& team, scratch<Team>& shared) const {
    f(team, shared);
  }
};

/// As `planted`, in teams of 2 warps and one that looks back, with a signal in scratch.
template <class F>
struct planted_after {
  struct policy : launch_policy {
    static constexpr int warps = 2;
    static constexpr int parked_tiles = 1;
  };
  template <class Team>
  struct scratch {
    std::uint32_t word[64];
    typename Team::template signal<1> signal;
  };
  F f;
  template <class Team>
  void operator()(const Team& team, scratch<Team>& shared) const {
    f(team, shared);
  }
};

}  // namespace test_kernels
LANEWISE_END_NAMESPACE

namespace {

using namespace test;
using lanewise::emulated;
using lanewise::interleaving;
using u32 = std::uint32_t;
using words = lanewise::test_kernels::words;

template <template <class> class Kernel = lanewise::test_kernels::planted, class F>
void start(const emulated& exec, std::int64_t league, F f) {
  lanewise::launch(exec, "Lanewise::test::planted", league, Kernel<F>{f});
}

/// What the backend says, or "" if it finds nothing.
template <template <class> class Kernel = lanewise::test_kernels::planted, class F>
std::string report(const emulated& exec, std::int64_t league, F f) {
  try {
    start<Kernel>(exec, league, f);
  } catch (const lanewise::emulation_error& error) {
    return error.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

constexpr u32 some_items[32] = {};

constexpr interleaving modes[] = {interleaving::free, interleaving::delayed, interleaving::seeded};

/// Runs it in every mode; the report must name kernel, seed, team 2 and the warp, and have the
/// parts.
template <class F>
void must_report(int warp, std::initializer_list<std::string> parts, F f) {
  for (const interleaving mode : modes) {
    const std::string text = report(emulated(seed(), 2, mode), 5, f);
    CAPTURE(mode, text);
    CHECK(has(text, "kernel 'Lanewise::test::planted'"));
    CHECK(has(text, "seed " + std::to_string(seed())));
    CHECK(has(text, "team 2 of 5"));
    if (warp >= 0) CHECK(has(text, "warp " + std::to_string(warp) + ")"));
    for (const auto& part : parts) CHECK(has(text, part));
  }
}

/// As must_report, for races, which ThreadSanitizer would report too if warps ran at the same time.
template <template <class> class Kernel = lanewise::test_kernels::planted, class F>
void must_report_race(std::initializer_list<std::string> parts, F f) {
  for (u32 seed = 1; seed <= 10; ++seed) {
    const std::string text = report<Kernel>(emulated(seed, 2, interleaving::seeded), 5, f);
    CAPTURE(seed, text);
    CHECK(has(text, "kernel 'Lanewise::test::planted' (seed " + std::to_string(seed) +
                        ", team 2 of 5, warp "));
    for (const auto& part : parts) CHECK(has(text, part));
  }
}

template <template <class> class Kernel = lanewise::test_kernels::planted, class F>
void must_be_fine(F f) {
  for (const interleaving mode : modes) {
    CAPTURE(mode);
    CHECK(report<Kernel>(emulated(seed(), 3, mode), 7, f) == "");
  }
}

}  // namespace

TEST_CASE("A warp that leaves while others wait at a barrier is reported", "[microscope]") {
  must_report(-1, {"left the kernel", "team.barrier() in", "test_microscope.emulated.cpp:"},
              [](const auto& team, words&) {
                team.barrier();
                if (team.index() == 2 && team.warp_index() == 3) return;
                team.barrier();
              });
}

TEST_CASE("A warp that waits once more than the others is reported", "[microscope]") {
  must_report(-1, {"left the kernel", "team.barrier()"}, [](const auto& team, words&) {
    const int rounds = team.index() == 2 && team.warp_index() == 1 ? 3 : 2;
    for (int i = 0; i < rounds; ++i) team.barrier();
  });
}

TEST_CASE("Warps that meet at different barriers are reported", "[microscope]") {
  must_report(-1, {"it waits at team.barrier() in", "but warp"}, [](const auto& team, words&) {
    if (team.index() == 2 && team.warp_index() == 0) {
      team.barrier();
    } else {
      team.barrier();
    }
  });
}

TEST_CASE("Warps that wait for others when one fails all end", "[microscope]") {
  // Some wait at the barrier, some for a word that nobody writes.
  u32 never = 0;
  volatile int too_many = 32;
  must_report(0, {"broadcast: the lane is 32, not in [0, 31]"}, [&](const auto& team, words&) {
    const auto warp = team.warp();
    if (team.index() == 2 && team.warp_index() == 0) warp.broadcast(warp.lane(), too_many);
    if (team.index() >= 2 && team.warp_index() == 1) {
      while (warp.load(never) == 0) warp.pause();
    }
    team.barrier();
  });
}

TEST_CASE("What a functor throws arrives at the caller", "[microscope]") {
  for (const interleaving mode : modes) {
    const auto broken = [](const auto& team, words&) {
      team.barrier();
      if (team.index() == 1 && team.warp_index() == 2) throw std::length_error("mine");
      team.barrier();
    };
    CHECK_THROWS_AS(start(emulated(seed(), 2, mode), 4, broken), std::length_error);
  }
}

TEST_CASE("Accesses in front of scratch or behind it are reported at once", "[microscope]") {
  const auto one_too_far = [](auto f) {
    return [f](const auto& team, words& shared) {
      if (team.index() == 2 && team.warp_index() == 1) f(team.warp(), shared.word);
    };
  };
  must_report(1, {"store: lane 31 writes byte 256 of the team's scratch, which has 256 bytes"},
              one_too_far([](const auto& w, u32* word) { w.store(word + 33, w.lane()); }));
  must_report(1, {"load: lane 31 reads byte 256 of the team's scratch, which has 256 bytes"},
              one_too_far([](const auto& w, u32* word) { w.load(word + 33); }));
  must_report(1, {"load: lane 0 reads byte -4 of the team's scratch, which has 256 bytes"},
              one_too_far([](const auto& w, u32* word) { w.load(word - 1); }));
  must_be_fine(one_too_far([](const auto& w, u32* word) { w.load(word + 32); }));
}

static void write_byte(words& shared, std::ptrdiff_t at) {
  reinterpret_cast<unsigned char*>(shared.word)[at] = 1;
}

TEST_CASE("Writing around scratch by plain code is reported when the team ends", "[microscope]") {
  must_report(-1, {"scratch has 256 bytes, and byte 256 was written"},
              [](const auto& team, words& shared) {
                if (team.index() == 2) team.once([&] { write_byte(shared, 256); });
              });
  must_report(-1, {"byte -1 of the team's scratch was written"},
              [](const auto& team, words& shared) {
                if (team.index() == 2) team.once([&] { write_byte(shared, -1); });
              });
}

TEST_CASE("Scratch holds something else in every team, and the same with the same seed",
          "[microscope]") {
  const auto seen = [](u32 seed) {
    std::vector<u32> first(6);
    start(emulated(seed, 1), 6, [&](const auto& team, words& shared) {
      team.once([&] { first[team.index()] = shared.word[7]; });
      team.barrier();
      team.once([&] { shared.word[7] = 0; });
    });
    return first;
  };
  const auto words_seen = seen(1);
  CHECK(words_seen == seen(1));
  CHECK(words_seen != seen(2));
  for (std::size_t i = 0; i < words_seen.size(); ++i) {
    CHECK(words_seen[i] != 0);
    for (std::size_t j = 0; j < i; ++j) CHECK(words_seen[i] != words_seen[j]);
  }
}

TEST_CASE("Lanes and numbers of lanes out of range are reported", "[microscope]") {
  const auto in_team_2 = [](auto f) {
    return [f](const auto& team, words&) {
      if (team.index() == 2 && team.warp_index() == 3) f(team.warp());
    };
  };
  const auto add = lanewise::plus{};
  // Read when they are used, so that the compiler does not see the mistakes and warn of them.
  volatile int minus_one = -1, none = 0, all = 32, too_many = 33;
  must_report(3, {"broadcast: the lane is -1, not in [0, 31]"},
              in_team_2([&](const auto& w) { w.broadcast(w.lane(), minus_one); }));
  must_report(3, {"reduce: the number of lanes is 0, not in [1, 32]"},
              in_team_2([&](const auto& w) { w.reduce(w.lane(), add, none); }));
  must_report(3, {"reduce_from: the first lane is 32"},
              in_team_2([&](const auto& w) { w.reduce_from(all, w.lane(), add); }));
  must_report(3, {"inclusive_scan: the number of lanes is 33"},
              in_team_2([&](const auto& w) { w.inclusive_scan(w.lane(), add, too_many); }));
  must_report(3, {"exclusive_scan: the number of lanes is -1"},
              in_team_2([&](const auto& w) { w.exclusive_scan(w.lane(), add, 0u, minus_one); }));
  must_report(3, {"fold: the first lane is -1, not in [0, 32]"},
              in_team_2([&](const auto& w) { w.fold(0u, w.lane(), add, minus_one, all); }));
  must_report(3, {"fold: the end of the lanes is 33"},
              in_team_2([&](const auto& w) { w.fold(0u, w.lane(), add, none, too_many); }));
  must_report(3, {"scan_by_doubling: the number of lanes is 33"},
              in_team_2([&](const auto& w) { w.scan_by_doubling(w.lane(), add, too_many); }));
  must_report(3, {"shuffle_up: the distance is 33"},
              in_team_2([&](const auto& w) { w.shuffle_up(w.lane(), too_many); }));
  must_report(3, {"shuffle_down: the distance is -1"},
              in_team_2([&](const auto& w) { w.shuffle_down(w.lane(), minus_one); }));
  must_report(3, {"shuffle_xor: the distance is 32"},
              in_team_2([&](const auto& w) { w.shuffle_xor(w.lane(), all); }));
  must_report(3, {"lowest: there is no bit"},
              in_team_2([&](const auto& w) { w.lowest(w.ballot(w.first(0))); }));
  must_report(3, {"highest: there is no bit"},
              in_team_2([&](const auto& w) { w.highest(w.ballot(w.first(0))); }));
  must_report(3, {"broadcast: the lane is 8, not in [0, 7]"}, in_team_2([&](const auto& w) {
                w.template split<8>([&](const auto& sub) { sub.broadcast(sub.lane(), all / 4); });
              }));
}

namespace {

/// 16 warps draw a ticket each, without an atomic; returns how many the counter has seen.
u32 tickets_drawn_by_load_and_store(const emulated& exec) {
  u32 next = 0;
  start(exec, 4, [&](const auto& team, words&) {
    const auto warp = team.warp();
    const u32 mine = warp.load(next);
    warp.store(next, mine + 1);
  });
  return next;
}

}  // namespace

TEST_CASE("As many teams run at once as the instance says", "[microscope]") {
  for (const interleaving mode : modes) {
    CAPTURE(mode);
    u32 here = 0, alone = 0;
    start(emulated(seed(), 3, mode), 3, [&](const auto& team, words&) {
      if (team.warp_index() > 0) return;
      const auto warp = team.warp();
      warp.fetch_add(here, 1u);
      // Not for ever, or the test would hang where they do not.
      for (int i = 0; i < 20'000 && warp.load(here) < 3; ++i) warp.pause();
      if (warp.load(here) < 3) warp.fetch_add(alone, 1u);
    });
    CHECK(alone == 0);
  }
}

TEST_CASE("The seed chooses the order in which lanes take effect", "[microscope]") {
  std::vector<u32> winners;
  for (u32 seed = 1; seed <= 20; ++seed) {
    u32 winner = 77;
    start(emulated(seed, 1), 1, [&](const auto& team, words&) {
      if (team.warp_index() > 0) return;
      const auto warp = team.warp();
      warp.scatter(&winner, warp.map([](u32) { return 0u; }, warp.lane()), warp.lane());
    });
    winners.push_back(winner);
  }
  std::sort(winners.begin(), winners.end());
  CHECK(winners.back() < 32);
  CHECK(std::unique(winners.begin(), winners.end()) - winners.begin() > 4);
}

TEST_CASE("Delays stand before racing accesses", "[microscope]") {
  u32 word = 0;
  const auto begin = std::chrono::steady_clock::now();
  start(emulated(seed(), 1, interleaving::delayed), 1, [&](const auto& team, words&) {
    if (team.warp_index() > 0) return;
    for (int i = 0; i < 1 << 16; ++i) team.warp().load(word);
  });
  // One in 64 sleeps for 0 to 99 us: 50 ms in all. Without that it takes 1.
  CHECK(std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(35));
}

TEST_CASE("A seeded interleaving finds a race, and finds it again", "[microscope]") {
  int wrong = 0;
  std::vector<u32> results;
  for (u32 seed = 1; seed <= 20; ++seed) {
    const emulated exec(seed, 2, interleaving::seeded);
    const u32 drawn = tickets_drawn_by_load_and_store(exec);
    CAPTURE(seed);
    for (int again = 0; again < 3; ++again) CHECK(tickets_drawn_by_load_and_store(exec) == drawn);
    wrong += drawn != 16;
    results.push_back(drawn);
  }
  CHECK(wrong > 0);
  std::sort(results.begin(), results.end());
  CHECK(std::unique(results.begin(), results.end()) - results.begin() > 2);
}

TEST_CASE("Different seeds take atomics in different orders, each seed in one", "[microscope]") {
  const auto order = [](u32 seed) {
    u32 next = 0;
    std::vector<u32> tickets(4 * 4);
    start(emulated(seed, 4, interleaving::seeded), 4, [&](const auto& team, words&) {
      const auto warp = team.warp();
      const u32 mine = warp.fetch_add(next, 1u);
      warp.once([&] { tickets[mine] = team.index() * 4 + static_cast<u32>(team.warp_index()); });
    });
    return tickets;
  };
  CHECK(order(1) == order(1));
  CHECK(order(2) == order(2));
  CHECK(order(1) != order(2));
}

TEST_CASE("Waiting for what nobody does is reported where the interleaving is seeded",
          "[microscope]") {
  u32 never = 0;
  const auto text = report(emulated(3, 2, interleaving::seeded), 2, [&](const auto& team, words&) {
    while (team.warp().load(never) == 0) team.warp().pause();
  });
  CHECK(has(text, "kernel 'Lanewise::test::planted' (seed 3, team "));
  CHECK(has(text, "it waits for something that no warp is going to do"));
}

TEST_CASE("A missing fence between lanes is reported", "[microscope]") {
  const auto reversed = [](bool fenced) {
    return [fenced](const auto& team, words& shared) {
      if (team.warp_index() != 1) return;
      const auto warp = team.warp();
      const auto turned = warp.map([](u32 i) { return 31 - i; }, warp.lane());
      warp.store(shared.word, warp.lane());
      if (fenced || team.index() != 2) warp.fence();
      warp.gather(shared.word, turned);
      warp.fence();
      warp.scatter(shared.word, turned, warp.lane());
      // Every lane reads what it wrote itself.
      warp.gather(shared.word, turned);
    };
  };
  must_report(1,
              {"gather: lane 0 reads byte 124 of the team's scratch, which lane 31 wrote with "
               "no warp.fence() between"},
              reversed(false));
  must_be_fine(reversed(true));
}

TEST_CASE("Every operation that writes tells lanes that read", "[microscope]") {
  const auto then_read = [](bool fenced, auto write) {
    return [fenced, write](const auto& team, words& shared) {
      if (team.index() != 2 || team.warp_index() != 1) return;
      const auto warp = team.warp();
      const auto turned = warp.map([](u32 i) { return 31 - i; }, warp.lane());
      write(warp, shared.word, warp.first(20), turned);
      if (fenced) warp.fence();
      // What lane 0 reads was written by lane 12 (if lanes wrote backwards), 19 or 31.
      warp.gather(warp.first(1), shared.word, warp.map([](u32) { return 19u; }, warp.lane()), 0u);
    };
  };
  const auto check = [&](auto write) {
    must_report(1,
                {"gather: lane 0 reads byte 76 of the team's scratch, which lane ",
                 " wrote with no warp.fence() between"},
                then_read(false, write));
    must_be_fine(then_read(true, write));
  };
  check([](const auto& w, u32* p, const auto&, const auto&) { w.store(p, w.lane()); });
  check([](const auto& w, u32* p, const auto& m, const auto&) { w.store(m, p, w.lane()); });
  check([](const auto& w, u32* p, const auto&, const auto&) { w.store_streaming(p, w.lane()); });
  check([](const auto& w, u32* p, const auto&, const auto& i) { w.scatter(p, i, w.lane()); });
  check([](const auto& w, u32* p, const auto& m, const auto& i) { w.scatter(m, p, i, w.lane()); });
  check(
      [](const auto& w, u32* p, const auto& m, const auto&) { w.compress_store(p, m, w.lane()); });
}

TEST_CASE("Every operation that reads is told of lanes that wrote", "[microscope]") {
  const auto after_write = [](bool fenced, auto read) {
    return [fenced, read](const auto& team, words& shared) {
      if (team.index() != 2 || team.warp_index() != 1) return;
      const auto warp = team.warp();
      warp.store(shared.word, warp.lane());
      warp.store(shared.word + 32, warp.lane());
      warp.fence();
      warp.store(shared.word, warp.lane());
      if (fenced) warp.fence();
      const auto next = warp.map([](u32 i) { return i + 1; }, warp.lane());
      read(warp, shared.word, warp.first(1), next);
    };
  };
  const auto check = [&](const std::string& name, auto read) {
    must_report(1,
                {name + ": lane 0 reads byte 4 of the team's scratch, which lane 1 wrote with "
                        "no warp.fence() between"},
                after_write(false, read));
    must_be_fine(after_write(true, read));
  };
  check("load", [](const auto& w, u32* p, const auto&, const auto&) { w.load(p + 1); });
  check("load", [](const auto& w, u32* p, const auto& m, const auto&) { w.load(m, p + 1, 0u); });
  check("load", [](const auto& w, u32* p, const auto&, const auto&) { w.load_streaming(p + 1); });
  check("gather", [](const auto& w, u32* p, const auto&, const auto& i) { w.gather(p, i); });
  check("gather",
        [](const auto& w, u32* p, const auto&, const auto& i) { w.gather_scratch(p, i); });
  check("gather",
        [](const auto& w, u32* p, const auto& m, const auto& i) { w.gather(m, p, i, 0u); });
}

TEST_CASE("A missing fence between a read and the next write is reported", "[microscope]") {
  const auto turn = [](bool fenced, bool all_read) {
    return [fenced, all_read](const auto& team, words& shared) {
      if (team.warp_index() != 1) return;
      const auto warp = team.warp();
      warp.store(shared.word, warp.lane());
      warp.fence();
      const auto from = warp.map([=](u32 i) { return all_read ? 0 : 31 - i; }, warp.lane());
      warp.gather(shared.word, from);
      if (fenced || team.index() != 2) warp.fence();
      warp.store(warp.mask_of(all_read ? 1u : 8u), shared.word, warp.lane());
      // Every lane writes what it read itself.
      warp.fence();
      warp.load(shared.word);
      warp.store(shared.word, warp.lane());
    };
  };
  must_report(1,
              {"store: lane 3 writes byte 12 of the team's scratch, which lane 28 read with no "
               "warp.fence() between"},
              turn(false, false));
  must_report(1, {"store: lane 0 writes byte 0 of the team's scratch, which another lane read"},
              turn(false, true));
  must_be_fine(turn(true, false));
  must_be_fine(turn(true, true));
}

TEST_CASE("Lanes of different sub-warps are told apart", "[microscope]") {
  must_report(0, {"load: lane 8 reads byte 0 of the team's scratch, which lane 0 wrote"},
              [](const auto& team, words& shared) {
                if (team.index() != 2 || team.warp_index() != 0) return;
                team.warp().template split<8>([&](const auto& sub) {
                  if (sub.broadcast(sub.take(team.warp().lane()), 0) == 0) {
                    sub.store(shared.word, sub.lane());
                  } else {
                    sub.load(shared.word);
                  }
                });
              });
}

TEST_CASE("A missing barrier between a write and a read of another warp is reported",
          "[microscope]") {
  const auto neighbours = [](bool met) {
    return [met](const auto& team, words& shared) {
      const auto warp = team.warp();
      const int w = team.warp_index();
      const auto half = warp.first(16);
      warp.store(half, shared.word + 16 * w, warp.lane());
      if (met || team.index() != 2) team.barrier();
      warp.load(half, shared.word + 16 * (w ^ 1), 0u);
    };
  };
  must_report_race({"of the team's scratch, which warp ", "with no team.barrier() between"},
                   neighbours(false));
  must_be_fine(neighbours(true));
}

TEST_CASE("A missing barrier between a read and the next write is reported", "[microscope]") {
  const auto rounds = [](bool met) {
    return [met](const auto& team, words& shared) {
      const auto warp = team.warp();
      for (int round = 0; round < 2; ++round) {
        if (team.warp_index() == round) warp.store(shared.word, warp.lane());
        team.barrier();
        warp.load(shared.word);
        if (met || team.index() != 2) team.barrier();
      }
    };
  };
  must_report_race({"of the team's scratch, which ", "with no team.barrier() between"},
                   rounds(false));
  must_be_fine(rounds(true));
}

TEST_CASE("Warps that write to one place are reported", "[microscope]") {
  must_report_race({"store: lane ", " writes byte ", "of the team's scratch, which warp ",
                    " wrote with no team.barrier() between"},
                   [](const auto& team, words& shared) {
                     const auto warp = team.warp();
                     if (team.index() == 2 || team.warp_index() == 0)
                       warp.store(shared.word, warp.lane());
                   });
}

TEST_CASE("A write over what this warp and then others have read is reported", "[microscope]") {
  for (const int writer : {0, 1, 2}) {
    CAPTURE(writer);
    u32 turns[5] = {};
    must_report_race({"which warp ", " read with no team.barrier() between"},
                     [&, writer](const auto& team, words& shared) {
                       const auto warp = team.warp();
                       const auto me = static_cast<u32>(team.warp_index());
                       u32& turn = turns[team.index()];
                       // Atomic accesses let warps read one after the other, and order nothing.
                       if (team.index() == 2 && me < 3) {
                         while (warp.load(turn) % 3 != me) warp.pause();
                         warp.load(shared.word);
                         warp.fetch_add(turn, 1u);
                         while (warp.load(turn) % 3 != 0) warp.pause();
                         if (team.warp_index() == writer) warp.store(shared.word, warp.lane());
                       }
                     });
  }
}

TEST_CASE("What a signal hands over is in order, and no more", "[microscope]") {
  using lanewise::test_kernels::planted_after;
  enum bug { none, no_wait, late, back };
  const auto hand_over = [](bug bug) {
    return [bug](const auto& team, auto& shared) {
      const auto warp = team.warp();
      team.once([&] { shared.signal.init(); });
      team.barrier_all();
      const auto is = [&](auto b) { return bug == b && team.index() == 2; };
      if (team.warp_index() == 0) {
        if (!is(late)) warp.store(shared.word, warp.lane());
        shared.signal.raise(warp);
        if (is(late)) warp.store(shared.word, warp.lane());
        // The one that waited has told nobody that it read.
        if (is(back)) warp.store(shared.word, warp.lane());
      } else if (team.is_look_back_warp()) {
        if (!is(no_wait)) shared.signal.wait(warp, 1);
        warp.load(shared.word);
      }
    };
  };
  must_be_fine<planted_after>(hand_over(none));
  for (const bug bug : {no_wait, late, back}) {
    CAPTURE(bug);
    must_report_race<planted_after>(
        {"of the team's scratch, which warp ", "with no team.barrier() between"}, hand_over(bug));
  }
}

TEST_CASE("What a signal hands over includes what others handed over before", "[microscope]") {
  must_be_fine<lanewise::test_kernels::planted_after>([](const auto& team, auto& shared) {
    const auto warp = team.warp();
    team.once([&] { shared.signal.init(); });
    team.barrier_all();
    if (team.is_look_back_warp()) {
      shared.signal.wait(warp, 1);
      warp.load(shared.word);
      return;
    }
    if (team.warp_index() == 1) warp.store(shared.word, warp.lane());
    team.barrier();
    if (team.warp_index() == 0) shared.signal.raise(warp);
  });
}

TEST_CASE("The warp that looks back takes no part in barrier()", "[microscope]") {
  using lanewise::test_kernels::planted_after;
  const auto rounds = [](bool met) {
    return [met](const auto& team, auto& shared) {
      const auto warp = team.warp();
      const bool meet = met || team.index() != 2;
      if (!team.is_look_back_warp()) {
        for (int round = 0; round < 3; ++round) {
          if (team.warp_index() == round % 2) warp.store(shared.word, warp.lane());
          team.barrier();
          warp.load(shared.word);
          team.barrier();
        }
      }
      if (meet) team.barrier_all();
      if (team.is_look_back_warp()) warp.load(shared.word);
    };
  };
  must_be_fine<planted_after>(rounds(true));
  must_report_race<planted_after>(
      {"of the team's scratch, which warp ", "with no team.barrier() between"}, rounds(false));
  must_report_race<planted_after>({"it waits at team.barrier() in", "but warp"},
                                  [](const auto& team, auto&) {
                                    if (team.index() != 2) return;
                                    if (team.warp_index() == 0) {
                                      team.barrier();
                                    } else {
                                      team.barrier_all();
                                    }
                                  });
}

TEST_CASE("Items that are used before they have come are others, or are reported", "[microscope]") {
  const auto early = [](int who, std::vector<u32>& seen) {
    return [who, &seen](const auto& team, words& shared) {
      const lanewise::array_source<u32, lanewise::identity> source{some_items, 32, {}};
      using staging = typename std::decay_t<decltype(team)>::template staging<u32, 32>;
      auto& stage = reinterpret_cast<staging&>(shared);
      stage.load_async(team, source, 0, 32);
      if (team.index() == 2 && team.warp_index() == who) {
        const auto here = team.warp().load(shared.word);
        team.warp().store(seen.data(), here);
      }
      stage.wait(team, source, 1);
    };
  };
  std::vector<u32> seen(32);
  for (const interleaving mode : modes) {
    CHECK(report(emulated(seed(), 2, mode), 5, early(0, seen)) == "");
    CHECK(seen == std::vector<u32>(32, 0xA5A5A5A5u));
  }
  must_report_race({"of the team's scratch, which warp ", "with no team.barrier() between"},
                   early(1, seen));
}

TEST_CASE("Items that are loaded over others still in use are reported", "[microscope]") {
  const auto rounds = [](bool met) {
    return [met](const auto& team, words& shared) {
      const lanewise::array_source<u32, lanewise::identity> source{some_items, 32, {}};
      using staging = typename std::decay_t<decltype(team)>::template staging<u32, 32>;
      auto& stage = reinterpret_cast<staging&>(shared);
      for (u32 round = 0; round < 2; ++round) {
        stage.load_async(team, source, 0, 32);
        const auto here = stage.wait(team, source, round + 1);
        team.warp().load(here.data);
        if (met || team.index() != 2) team.barrier();
      }
    };
  };
  must_report_race({"of the team's scratch, which ", "with no team.barrier() between"},
                   rounds(false));
  must_be_fine(rounds(true));
}

TEST_CASE("Kernels that keep the rules run in every mode", "[microscope]") {
  for (const interleaving mode : modes) {
    for (u32 seed = 1; seed <= 5; ++seed) {
      CAPTURE(mode, seed);
      u32 sum = 0;
      start(emulated(seed, 3, mode), 7, [&](const auto& team, words& shared) {
        const auto warp = team.warp();
        const u32 mine = warp.reduce(warp.lane(), lanewise::plus{});
        warp.once([&] { shared.word[team.warp_index()] = mine; });
        team.barrier();
        const auto all = warp.load(warp.first(4), shared.word, 0u);
        if (team.warp_index() == 0) warp.fetch_add(sum, warp.reduce(all, lanewise::plus{}));
        team.barrier();
      });
      CHECK(sum == 7 * 4 * 496);
    }
  }
}
