// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/backend.hpp>
#include <lanewise/league/queue.hpp>
#include <support/generators.hpp>
#include <support/space.hpp>

#include <catch2/catch_message.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace queue_kernels {

/// What every lane of a league asks for, and gets, in rounds. Lane i of a round of warp w of team t
/// is item ((t * warps + w) * rounds + round) * width + i.
template <class Counter, class Count, int team_warps, bool as_team>
struct reserve_rounds {
  struct policy : launch_policy {
    static constexpr int warps = team_warps;
  };
  template <class Team>
  using scratch = reservation_scratch<Team, Counter>;

  const Count* counts;
  Counter* places;
  Counter* totals;  // of every round of a warp
  Counter* begins;  // the same
  Counter* counter;
  int rounds;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    constexpr std::int64_t width = Team::warp_type::width;
    const auto warp = team.warp();
    for (int round = 0; round < rounds; ++round) {
      const std::int64_t me =
          (std::int64_t{team.index()} * Team::warps + team.warp_index()) * rounds + round;
      const auto count = warp.load(counts + me * width);
      const auto mine = [&] {
        if constexpr (as_team) {
          return reserve(team, shared, *counter, count);
        } else {
          return reserve(warp, *counter, count);
        }
      }();
      warp.store(places + me * width, mine.offset);
      warp.once([&] {
        totals[me] = mine.total;
        begins[me] = mine.begin;
      });
    }
  }
};

/// How items get into the queue.
struct by_warps {};
struct by_teams {};
template <int w, bool in_step>
struct by_parts {};

/// Every warp goes through the windows of its team's share, `rows` neighbouring ones at a time, and
/// appends the items whose remainder is below `kept`.
template <class T, class Index, class Way, int rows, int team_warps>
struct append {
  struct policy : launch_policy {
    static constexpr int warps = team_warps;
  };
  template <class Team>
  using scratch = reservation_scratch<Team, Index>;

  const T* in;
  std::int64_t n;
  std::uint32_t kept, of;
  queue<T, Index> to;
  T* beside;  // the same items again, or null

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using warp_type = typename Team::warp_type;
    using values = typename warp_type::template lanes<T>;
    using mask = typename warp_type::template mask_for<T>;
    constexpr std::int64_t width = warp_type::width;
    const auto warp = team.warp();
    // Rounds of the whole team, so that all its warps make the same calls.
    const std::int64_t round = width * rows * Team::warps;
    const index_range mine = team.share(divide_up(n, round));
    for (std::int64_t k = mine.begin; k < mine.end; ++k) {
      const std::int64_t at = k * round + team.warp_index() * width * rows;
      mask active[rows];
      values x[rows];
      for (int r = 0; r < rows; ++r) {
        const std::int64_t first = at + r * width;
        const std::int64_t left = n - first;
        const auto there = warp.template first<T>(left);
        x[r] = warp.load(there, in + first, T{});
        const std::uint32_t most = kept, modulus = of;
        active[r] =
            there & mask(warp.map(
                             [=](const T& y) -> std::uint32_t {
                               return static_cast<std::uint32_t>(number_in(y) % modulus) < most;
                             },
                             x[r]) != 0u);
      }
      put(team, warp, shared, active, x, Way{});
    }
  }

 private:
  template <class U>
  LANEWISE_FUNCTION static std::uint64_t number_in(const U& y) {
    if constexpr (std::is_integral_v<U>) {
      return static_cast<std::uint64_t>(y);
    } else {
      return y.tag;
    }
  }
  template <class Team, class W, class Masks, class Values>
  LANEWISE_FUNCTION void put(const Team&, const W& warp, scratch<Team>&, const Masks& active,
                             const Values& x, by_warps) const {
    Index at;
    if constexpr (rows == 1) {
      at = to.push(warp, active[0], x[0]);
    } else {
      at = to.push(warp, active, x);
    }
    if (beside != nullptr) {
      const queue<T, Index> other{beside, to.capacity, to.counter};
      other.write(warp, at, active, x);
    }
  }
  template <class Team, class W, class Masks, class Values>
  LANEWISE_FUNCTION void put(const Team& team, const W& warp, scratch<Team>& shared,
                             const Masks& active, const Values& x, by_teams) const {
    Index at;
    if constexpr (rows == 1) {
      at = to.push(team, shared, active[0], x[0]);
    } else {
      at = to.push(team, shared, active, x);
    }
    if (beside != nullptr) {
      const queue<T, Index> other{beside, to.capacity, to.counter};
      other.write(warp, at, active, x);
    }
  }
  template <class Team, class W, class Masks, class Values, int w, bool in_step>
  LANEWISE_FUNCTION void put(const Team&, const W& warp, scratch<Team>&, const Masks& active,
                             const Values& x, by_parts<w, in_step>) const {
    const auto one = [&](const auto& sub) {
      for (int r = 0; r < rows; ++r) to.push(sub, sub.take(active[r]), sub.take(x[r]));
    };
    if constexpr (in_step) {
      warp.template split_in_step<w>(one);
    } else {
      warp.template split<w>(one);
    }
  }
};

/// 12 bytes, the number somewhere in them.
struct tagged {
  std::uint32_t before, tag, after;
  friend bool operator==(const tagged&, const tagged&) = default;
  friend auto operator<=>(const tagged&, const tagged&) = default;
};

}  // namespace queue_kernels
LANEWISE_END_TARGET_NAMESPACE

namespace {

using namespace test;
using namespace lanewise::queue_kernels;

template <class Counter, class Count, int warps, bool as_team>
void check_reservations(std::int64_t league, int rounds, std::uint32_t most, std::uint64_t some) {
  using kernel = reserve_rounds<Counter, Count, warps, as_team>;
  using team = lanewise::team_t<space, typename kernel::policy>;
  constexpr std::int64_t width = team::warp_type::width;
  CAPTURE(league, rounds, most, some, warps, as_team);
  const std::int64_t asks = league * team::warps * rounds;
  std::vector<Count> counts(static_cast<std::size_t>(asks * width));
  auto random = make_random(most + some);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    // Whole rounds that need nothing, too.
    const bool none = i / static_cast<std::size_t>(width) % 3 == some % 4;
    counts[i] = static_cast<Count>(
        none || random_number(random, 3) < some % 4 ? 0 : random_number(random, most));
  }
  const Counter start = 5;
  const array<Count> in(counts);
  const array<Counter> places(asks * width, Counter{77}), totals(asks, Counter{77}),
      begins(asks, Counter{77});
  const cell<Counter> counter(start);

  lanewise::launch(
      make_space(), "Lanewise::test::reserve", league,
      kernel{in.data(), places.data(), totals.data(), begins.data(), counter.data(), rounds});

  const auto place = places.items();
  const auto total = totals.items();
  const auto begin = begins.items();
  std::uint64_t sum = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> taken;
  bool in_order = true;
  // Those who ask together, by rounds: the warps of a team, or each by itself.
  const std::int64_t together = as_team ? std::int64_t{team::warps} : 1;
  for (std::int64_t group = 0; group < league * team::warps / together; ++group) {
    for (int round = 0; round < rounds; ++round) {
      const std::int64_t first = group * together * rounds + round;
      Counter next = begin[first];
      for (std::int64_t w = 0; w < together; ++w) {
        const std::int64_t me = first + w * rounds;
        in_order = in_order && begin[me] == begin[first] && total[me] == total[first];
        for (std::int64_t i = me * width; i < (me + 1) * width; ++i) {
          in_order = in_order && (place[i] == next);
          next = static_cast<Counter>(next + counts[i]);
          sum += counts[i];
        }
      }
      in_order = in_order && next == static_cast<Counter>(begin[first] + total[first]);
      if (total[first] != 0) taken.emplace_back(begin[first], next);
    }
  }
  CHECK(in_order);
  // Disjoint, without gaps, and the sum is the counter.
  std::sort(taken.begin(), taken.end());
  std::uint64_t end = start;
  bool gaps = false;
  for (const auto& [from, to] : taken) {
    gaps = gaps || from != end;
    end = to;
  }
  CHECK_FALSE(gaps);
  CHECK(end == start + sum);
  CHECK(static_cast<std::uint64_t>(counter.get()) == start + sum);
  CHECK(places.guards_intact());
}

template <class T>
T item_number(std::uint32_t i) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(i);
  } else {
    return {i + 1, i, ~i};
  }
}

template <class T>
std::uint32_t number_of(const T& item) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<std::uint32_t>(item);
  } else {
    return item.tag;
  }
}

template <class T, class Index, class Way, int rows, int warps>
void check_appends(std::int64_t n, std::uint32_t kept, std::uint32_t of, std::int64_t league,
                   std::int64_t room, bool twice = true) {
  using kernel = append<T, Index, Way, rows, warps>;
  std::vector<T> items, expected;
  for (std::int64_t i = 0; i < n; ++i) {
    // Not in the order of the lanes' numbers.
    const auto number = static_cast<std::uint32_t>(i * 7919 % 100'003);
    items.push_back(item_number<T>(number));
    if (number_of(items.back()) % of < kept) expected.push_back(items.back());
  }
  const auto wanted = static_cast<std::int64_t>(expected.size());
  const std::int64_t capacity = std::max<std::int64_t>(0, wanted + room);
  CAPTURE(n, kept, of, league, wanted, capacity, rows, warps);
  const T untouched = item_number<T>(4'000'000'000u);
  const array<T> in(items), out(capacity, untouched), beside(capacity, untouched);
  const cell<Index> counter(0);
  const cell<std::uint32_t> overflow(0);
  const lanewise::queue<T, Index> to{out.data(), static_cast<Index>(capacity), counter.data(),
                                     overflow.data()};

  lanewise::launch(make_space(), "Lanewise::test::append", league,
                   kernel{in.data(), n, kept, of, to, twice ? beside.data() : nullptr});

  CHECK(counter.get() == static_cast<Index>(wanted));
  CHECK(overflow.get() == (wanted > capacity ? 1u : 0u));
  const std::int64_t size = to.size(counter.get());
  CHECK(size == std::min(wanted, capacity));
  auto got = out.items();
  if (twice) CHECK(beside.items() == got);
  CHECK(out.guards_intact());
  CHECK(beside.guards_intact());
  // No item is lost where there is room, none comes twice, and none is made up.
  std::sort(got.begin(), got.end());
  std::sort(expected.begin(), expected.end());
  if (wanted <= capacity) {
    const std::vector<T> rest(static_cast<std::size_t>(capacity - wanted), untouched);
    expected.insert(expected.end(), rest.begin(), rest.end());
    std::sort(expected.begin(), expected.end());
    CHECK((got == expected));
  } else {
    CHECK(std::includes(expected.begin(), expected.end(), got.begin(), got.end()));
  }
}

template <class T, class Index, class Way, int rows, int warps>
void check_sizes(bool twice = true) {
  using team = lanewise::team_t<space, typename append<T, Index, Way, rows, warps>::policy>;
  constexpr std::int64_t width = team::warp_type::width;
  constexpr std::int64_t round = width * rows * team::warps;
  for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1}, width - 1, width, width + 1,
                               round - 1, round + 1, 5 * round + width / 2}) {
    for (const std::int64_t league : {1, 3}) {
      check_appends<T, Index, Way, rows, warps>(n, 1, 1, league, 0, twice);   // all
      check_appends<T, Index, Way, rows, warps>(n, 0, 3, league, 0, twice);   // none
      check_appends<T, Index, Way, rows, warps>(n, 1, 3, league, 2, twice);   // some
      check_appends<T, Index, Way, rows, warps>(n, 2, 3, league, -1, twice);  // one too many
      check_appends<T, Index, Way, rows, warps>(n, 1, 1, league, -n / 2, twice);
      check_appends<T, Index, Way, rows, warps>(n, 4, 5, league, -n, twice);  // no room at all
    }
  }
}

}  // namespace

TEST_CASE("A reservation is one range for a warp or a team, in order", "[queue][sanitize]") {
  using u8 = std::uint8_t;
  using u32 = std::uint32_t;
  using u64 = std::uint64_t;
  for (const std::int64_t league : {1, 2, 7}) {
    for (const std::uint64_t some : {0, 1, 2, 3}) {
      check_reservations<u32, u32, 1, false>(league, 5, 9, some);
      check_reservations<u64, u8, 2, false>(league, 5, 3, some);
      check_reservations<std::int64_t, u32, 4, false>(league, 5, 1, some);
      check_reservations<u32, u32, 1, true>(league, 5, 9, some);
      check_reservations<u64, u8, 2, true>(league, 9, 3, some);
      check_reservations<std::int64_t, u32, 4, true>(league, 9, 1, some);
      check_reservations<u32, u64, 3, true>(league, 9, 1000, some);
    }
  }
}

TEST_CASE("Warps append to a queue", "[queue][sanitize]") {
  check_sizes<std::uint32_t, std::uint32_t, by_warps, 1, 2>();
  check_sizes<std::uint8_t, std::int64_t, by_warps, 3, 1>();
  check_sizes<tagged, std::uint64_t, by_warps, 2, 4>();
}

TEST_CASE("Teams append to a queue", "[queue][sanitize]") {
  check_sizes<std::uint32_t, std::uint32_t, by_teams, 4, 4>();
  check_sizes<std::uint64_t, std::uint32_t, by_teams, 1, 3>();
  check_sizes<tagged, std::uint64_t, by_teams, 2, 1>();
}

TEST_CASE("Sub-warps append to a queue", "[queue][sanitize]") {
  check_sizes<std::uint32_t, std::uint32_t, by_parts<8, false>, 2, 2>(false);
  check_sizes<std::uint32_t, std::uint32_t, by_parts<8, true>, 2, 2>(false);
  check_sizes<std::uint64_t, std::uint64_t, by_parts<2, true>, 1, 1>(false);
  check_sizes<std::uint32_t, std::uint32_t, by_parts<1, false>, 1, 2>(false);
}

TEST_CASE("Many teams append to one queue at once", "[queue]") {
  const std::int64_t n = is_emulated ? 20'000 : 100'003;
  const std::int64_t league = is_emulated ? 8 : 200;
  for (const std::int64_t room : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{-999}, -n}) {
    check_appends<std::uint32_t, std::uint32_t, by_warps, 1, 8>(n, 3, 4, league, room);
    check_appends<std::uint32_t, std::uint32_t, by_teams, 4, 8>(n, 3, 4, league, room);
  }
}
