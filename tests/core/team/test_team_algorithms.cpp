// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/backend.hpp>
#include <lanewise/team/team_algorithms.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_message.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <limits>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace team_algorithm_kernels {

/// Every team copies its own n items to `out`; by way of scratch, which is filled before and
/// after, or not. What scratch holds beside the items is copied to `beside`.
template <class T, int team_warps, bool by_scratch>
struct copy_items {
  struct policy : launch_policy {
    static constexpr int warps = team_warps;
  };
  static constexpr int room = 400;
  template <class Team>
  struct scratch {
    T items[room];
  };

  const T* in;
  T* out;
  T* beside;  // room of every team
  std::int64_t n;
  int offset;  // in scratch
  T before, after;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const T* const from = in + team.index() * n;
    T* const to = out + team.index() * n;
    if constexpr (by_scratch) {
      fill(team, shared.items, room, before);
      team.barrier();
      fill(team, shared.items + offset + n, room - offset - n, after);
      copy(team, from, n, shared.items + offset);
      team.barrier();
      copy(team, shared.items + offset, n, to);
      copy(team, shared.items, room, beside + std::int64_t{team.index()} * room);
    } else {
      copy(team, from, n, to);
    }
  }
};

/// Every team fills its n items with its own value.
template <class T, int team_warps>
struct fill_items {
  struct policy : launch_policy {
    static constexpr int warps = team_warps;
  };
  template <class Team>
  struct scratch {};

  T* out;
  const T* values;
  std::int64_t n;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    fill(team, out + team.index() * n, n, values[team.index()]);
  }
};

/// Team t looks for the first item of in[first, last) that is greater than t, twice after each
/// other with the same scratch: from the first, and then after what it found.
template <class Index, int team_warps>
struct find_items {
  struct policy : launch_policy {
    static constexpr int warps = team_warps;
  };
  template <class Team>
  struct scratch {
    find_scratch<Team, Index> search;
    Index seen[Team::warps];
  };

  const std::uint32_t* in;
  std::uint32_t* asked;  // how often, for each item, by all teams; null where nobody counts
  Index first, last;
  Index* found;  // two for every team, and how many warps agree

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const std::uint32_t bound = team.index();
    const auto warp = team.warp();
    const auto holds = [&](Index i) {
      if (asked != nullptr) count(asked + i);
      return in[i] > bound;
    };
    const Index one = find(team, shared.search, first, last, holds);
    const Index two = one == last ? last
                                  : find(team, shared.search, static_cast<Index>(one + 1), last,
                                         [&](Index i) { return in[i] > bound; });
    warp.once([&] { shared.seen[team.warp_index()] = static_cast<Index>(one ^ two); });
    team.barrier();
    team.once([&] {
      found[3 * team.index()] = one;
      found[3 * team.index() + 1] = two;
      Index agree = 0;
      for (int w = 0; w < Team::warps; ++w)
        agree = static_cast<Index>(agree + (shared.seen[w] == static_cast<Index>(one ^ two)));
      found[3 * team.index() + 2] = agree;
    });
  }

 private:
  LANEWISE_FUNCTION static void count(std::uint32_t* p) { *p += 1; }
};

}  // namespace team_algorithm_kernels
LANEWISE_END_TARGET_NAMESPACE

namespace {

using namespace test;
using namespace lanewise::team_algorithm_kernels;

template <class T, int warps>
void check_copies(std::int64_t n, int shift_in, int shift_out, std::int64_t league) {
  using through = copy_items<T, warps, true>;
  CAPTURE(n, shift_in, shift_out, league, warps);
  const auto items = random_items<T>(league * n);
  const array<T> in(items, shift_in), out(league * n, item_of<T>(77), shift_out),
      beside(league * through::room, item_of<T>(77));

  lanewise::launch(make_space(), "Lanewise::test::copy", league,
                   copy_items<T, warps, false>{in.data(), out.data(), nullptr, n, 0, T{}, T{}});

  CHECK(difference(out.items(), items) == "");
  CHECK(out.guards_intact());
  if (n + shift_in > through::room) return;

  const T before = item_of<T>(3), after = item_of<T>(5);
  out.assign(out.original());
  lanewise::launch(make_space(), "Lanewise::test::copy_by_scratch", league,
                   through{in.data(), out.data(), beside.data(), n, shift_in, before, after});

  CHECK(difference(out.items(), items) == "");
  CHECK(out.guards_intact());
  std::vector<T> expected;
  for (std::int64_t t = 0; t < league; ++t) {
    std::vector<T> scratch(through::room, before);
    std::copy_n(items.begin() + t * n, n, scratch.begin() + shift_in);
    std::fill(scratch.begin() + shift_in + n, scratch.end(), after);
    expected.insert(expected.end(), scratch.begin(), scratch.end());
  }
  CHECK(difference(beside.items(), expected) == "");
}

template <class T, int warps>
void check_fills(std::int64_t n, int shift, std::int64_t league) {
  CAPTURE(n, shift, league, warps);
  const auto values = random_items<T>(league);
  const array<T> in(values), out(league * n, item_of<T>(77), shift);

  lanewise::launch(make_space(), "Lanewise::test::fill", league,
                   fill_items<T, warps>{out.data(), in.data(), n});

  std::vector<T> expected;
  for (const T& x : values) expected.insert(expected.end(), static_cast<std::size_t>(n), x);
  CHECK(difference(out.items(), expected) == "");
  CHECK(out.guards_intact());
}

/// Around the edges of words, warps, rows and rounds.
std::vector<std::int64_t> sizes() {
  return {0,  1,   2,   3,   7,   8,   9,   15,  31,  32,  33,  63,   64,
          65, 127, 128, 129, 131, 255, 256, 257, 391, 511, 513, 1027, 2053};
}

template <class Index, int warps>
void check_finds(std::int64_t n, Index first, const std::vector<std::uint32_t>& items,
                 std::int64_t league) {
  using team = lanewise::team_t<space, typename find_items<Index, warps>::policy>;
  CAPTURE(n, first, league, warps);
  const array<std::uint32_t> in(items, 1);
  const array<Index> found(3 * league, Index{77});
  // Calls are counted where one team makes them.
  const bool counts = league == 1;
  const array<std::uint32_t> asked(n, 0u);
  const auto last = static_cast<Index>(n);

  lanewise::launch(make_space(), "Lanewise::test::find", league,
                   find_items<Index, warps>{in.data(), counts ? asked.data() : nullptr, first, last,
                                            found.data()});

  std::vector<Index> expected;
  for (std::uint32_t t = 0; t < league; ++t) {
    Index at = first;
    for (int k = 0; k < 2; ++k) {
      while (at < last && items[static_cast<std::size_t>(at)] <= t) ++at;
      expected.push_back(at);
      if (at < last) ++at;
    }
    expected.push_back(static_cast<Index>(team::warps));
  }
  CHECK(difference(found.items(), expected) == "");
  CHECK(in.unchanged());
  if (!counts) return;
  // Once at most, once up to the item that was found, and nowhere after its round.
  const auto times = asked.items();
  const auto round = std::int64_t{4} * team::warp_type::width * team::warps;
  bool as_said = true;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t after = i - first, hit = expected[0] - std::int64_t{first};
    const bool must = after >= 0 && after <= hit, may = after >= 0 && after / round <= hit / round;
    const std::uint32_t t = times[static_cast<std::size_t>(i)];
    as_said = as_said && t <= 1 && (t == 1 || !must) && (t == 0 || may);
  }
  CHECK(as_said);
}

template <class Index, int warps>
void check_all_finds() {
  for (const std::int64_t n : sizes()) {
    if (n > std::numeric_limits<Index>::max()) continue;
    for (const std::int64_t league : {1, 4}) {
      std::vector<std::uint32_t> items(static_cast<std::size_t>(n), 0u);
      // None, then one at the end, one at the beginning, and some anywhere.
      check_finds<Index, warps>(n, Index{0}, items, league);
      if (n == 0) continue;
      items.back() = 4;
      check_finds<Index, warps>(n, static_cast<Index>(n / 3), items, league);
      items.front() = 1;
      check_finds<Index, warps>(n, Index{0}, items, league);
      auto random = make_random(static_cast<std::uint64_t>(n));
      for (auto& x : items)
        x = static_cast<std::uint32_t>(random_number(random, 60) == 0 ? 1 + random_number(random, 3)
                                                                      : 0);
      check_finds<Index, warps>(n, Index{0}, items, league);
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("Teams copy arrays, by way of scratch or not", "[team_algorithms][sanitize]",
                   std::uint8_t, std::uint32_t, segment MORE_TYPES(std::uint16_t, double)) {
  for (const std::int64_t n : sizes()) {
    for (const int shift : {0, 1, 3, 8}) {
      check_copies<TestType, 1>(n, shift, shift, 2);
      check_copies<TestType, 3>(n, shift, shift / 2, 3);
    }
  }
}

TEMPLATE_TEST_CASE("Teams fill arrays", "[team_algorithms][sanitize]", std::uint8_t, std::uint32_t,
                   segment MORE_TYPES(std::uint16_t, double)) {
  for (const std::int64_t n : sizes()) {
    for (const int shift : {0, 1, 5}) {
      check_fills<TestType, 1>(n, shift, 3);
      check_fills<TestType, 4>(n, shift, 2);
    }
  }
}

TEST_CASE("Teams find the first of an array", "[team_algorithms][sanitize]") {
  check_all_finds<std::int64_t, 1>();
  check_all_finds<std::uint32_t, 2>();
  check_all_finds<std::int32_t, 8>();
  check_all_finds<std::uint8_t, 3>();
}
