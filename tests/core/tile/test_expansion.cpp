// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/backend.hpp>
#include <lanewise/tile/expansion.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>

#include <numeric>

LANEWISE_BEGIN_NAMESPACE
namespace test_kernels {

struct expansion_policy : launch_policy {
  static constexpr int warps = 3;
};

/// What a body says of the items that it gets: the value of the n-th, where it is, and how often it
/// came. Only the number is stored for bodies whose last call wins.
struct seen_items {
  std::uint32_t* value;
  std::int64_t* item;
  std::uint32_t* times;

  template <class W, class Mask, class Values, class Items>
  LANEWISE_FUNCTION void operator()(const W& warp, const Mask& mask, const Values& values,
                                    const Items& items, std::int64_t rank) const {
    const auto at = warp.template cast<std::int64_t>(warp.lane()) +
                    typename W::template lanes<std::int64_t>(rank);
    warp.fetch_add(mask, times, at, typename W::template lanes<std::uint32_t>(1u));
    warp.scatter(mask, item, at, items);
    warp.scatter(mask, value, at, values);
  }
};
struct seen_last : seen_items {
  static constexpr bool last_call_wins = true;

  template <class W, class Values>
  LANEWISE_FUNCTION void whole(const W& warp, const Values& values, std::int64_t rank) const {
    using places = typename W::template lanes<std::int64_t>;
    (*this)(warp, warp.first(W::width), values,
            warp.template cast<std::int64_t>(warp.lane()) + places(rank), rank);
  }
};

/// Consecutive ranges: range r ends before item ends[r], and its value is 3 r + 1.
template <class Seen>
struct expand_ends {
  using policy = expansion_policy;
  template <class Team>
  using expansion = expansion_t<Team, std::uint32_t, policy>;
  template <class Team>
  using scratch = typename expansion<Team>::scratch;

  const std::int64_t* ends;
  std::int64_t ranges;
  std::int64_t items;
  Seen seen;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    expansion<Team>::expand(
        team, shared, [e = ends](std::int64_t r) { return e[r]; }, ranges, items,
        [](std::int64_t r) { return static_cast<std::uint32_t>(3 * r + 1); }, seen);
  }
};

/// Ranges anywhere, as many at a time as a team or a warp takes. Range r has the ranks from
/// offsets[r] on.
template <bool by_team, class T>
struct expand_lanes {
  using policy = expansion_policy;
  template <class Team>
  using expansion = range_expansion_t<Team, T>;
  template <class Team>
  using scratch = typename expansion<Team>::scratch;

  const std::int64_t* begins;
  const std::int64_t* lengths;
  const std::int64_t* offsets;
  std::int64_t ranges;
  seen_items seen;
  std::uint32_t* wrong_totals;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using warp_type = typename Team::warp_type;
    constexpr std::int64_t width = warp_type::width;
    constexpr std::int64_t step = width * Team::warps;
    const auto warp = team.warp();
    const index_range mine = team.share(divide_up(ranges, step));
    for (std::int64_t s = mine.begin; s < mine.end; ++s) {
      const std::int64_t of_warp = s * step + team.warp_index() * width;
      const std::int64_t from = by_team ? s * step : of_warp;
      const std::int64_t until = from + (by_team ? step : width);
      const std::int64_t left = ranges - of_warp;
      const auto exist = warp.first(left);
      const auto begin = warp.load(exist, begins + of_warp, std::int64_t{0});
      const auto length = warp.load(exist, lengths + of_warp, std::int64_t{0});
      const auto value = warp.map(
          [=](std::uint32_t l) {
            if constexpr (std::is_same_v<T, no_value>) {
              return no_value{};
            } else {
              return static_cast<T>(3 * (of_warp + l) + 1);
            }
          },
          warp.lane());
      const std::int64_t base = offsets[from < ranges ? from : ranges];
      const auto body = [&](const auto& w, const auto& mask, const auto& values, const auto& items,
                            std::int64_t rank) {
        if constexpr (std::is_same_v<T, no_value>) {
          seen(w, mask, typename warp_type::template lanes<std::uint32_t>(5u), items, base + rank);
        } else {
          seen(w, mask, w.template cast<std::uint32_t>(values), items, base + rank);
        }
      };
      std::int64_t total;
      if constexpr (by_team) {
        total = expansion<Team>::by_team(team, shared, begin, length, value, body);
      } else {
        total = expansion<Team>::by_warp(team, shared, begin, length, value, body);
      }
      const bool wrong = total != offsets[until < ranges ? until : ranges] - base;
      if (wrong) warp.fetch_add(*wrong_totals, 1u);
    }
  }
};

}  // namespace test_kernels
LANEWISE_END_NAMESPACE

namespace {

using namespace test;
using lanewise::no_value;
using lanewise::test_kernels::expand_ends;
using lanewise::test_kernels::expand_lanes;
using lanewise::test_kernels::seen_items;
using lanewise::test_kernels::seen_last;
using expansion_u32 = std::uint32_t;
using lengths_type = std::vector<std::int64_t>;

constexpr std::int64_t warp_width = lanewise::warp_t<space>::width;
constexpr std::int64_t team_width =
    warp_width * lanewise::team_t<space, lanewise::test_kernels::expansion_policy>::warps;

/// What was seen of n items, and what should have been.
struct expanded {
  array<expansion_u32> value;
  array<std::int64_t> item;
  array<expansion_u32> times;
  std::vector<expansion_u32> expected_value;
  lengths_type expected_item;

  explicit expanded(std::int64_t n) : value(n, 77u), item(n, -1), times(n, 0u) {}
  seen_items seen() const { return {value.data(), item.data(), times.data()}; }
  void add(expansion_u32 x, std::int64_t begin, std::int64_t length) {
    for (std::int64_t i = 0; i < length; ++i) {
      expected_value.push_back(x);
      expected_item.push_back(begin + i);
    }
  }
  void check(bool once) const {
    CHECK(difference(value.items(), expected_value) == "");
    CHECK(difference(item.items(), expected_item) == "");
    auto often = times.items();
    if (!once) {
      for (auto& t : often) t = t > 0;
    }
    CHECK(difference(often, std::vector<expansion_u32>(often.size(), 1u)) == "");
    CHECK(value.guards_intact());
    CHECK(item.guards_intact());
    CHECK(times.guards_intact());
  }
};

template <class Seen>
void check_ends(const lengths_type& lengths, std::int64_t league) {
  lengths_type ends(lengths.size());
  std::partial_sum(lengths.begin(), lengths.end(), ends.begin());
  const std::int64_t n = ends.empty() ? 0 : ends.back();
  expanded all(n);
  for (std::size_t r = 0; r < lengths.size(); ++r)
    all.add(static_cast<expansion_u32>(3 * r + 1), ends[r] - lengths[r], lengths[r]);
  const array<std::int64_t> end(ends);
  lanewise::launch(
      make_space(), "Lanewise::test::ends", league,
      expand_ends<Seen>{end.data(), static_cast<std::int64_t>(lengths.size()), n, {all.seen()}});
  all.check(std::is_same_v<Seen, seen_items>);
}

template <bool by_team, class T>
void check_lanes(const lengths_type& lengths, std::int64_t league) {
  const auto ranges = static_cast<std::int64_t>(lengths.size());
  lengths_type offsets(lengths.size() + 1, 0), begins(lengths.size());
  std::partial_sum(lengths.begin(), lengths.end(), offsets.begin() + 1);
  expanded all(offsets.back());
  for (std::size_t r = 0; r < lengths.size(); ++r) {
    // Far from each other, backwards, and beyond 32 bits.
    begins[r] = (ranges - static_cast<std::int64_t>(r)) * 10'000'000'019;
    all.add(std::is_same_v<T, no_value> ? 5 : static_cast<expansion_u32>(3 * r + 1), begins[r],
            lengths[r]);
  }
  const array<std::int64_t> begin(begins), length(lengths), offset(offsets);
  const cell<expansion_u32> wrong_totals(0);
  lanewise::launch(make_space(), "Lanewise::test::lanes", league,
                   expand_lanes<by_team, T>{begin.data(), length.data(), offset.data(), ranges,
                                            all.seen(), wrong_totals.data()});
  CHECK(wrong_totals.get() == 0);
  all.check(true);
}

void check_expansions(const lengths_type& lengths) {
  for (const std::int64_t league : {1, 3}) {
    CAPTURE(lengths.size(), league);
    check_ends<seen_items>(lengths, league);
    check_ends<seen_last>(lengths, league);
    check_lanes<false, no_value>(lengths, league);
    check_lanes<true, no_value>(lengths, league);
    check_lanes<false, expansion_u32>(lengths, league);
    check_lanes<true, std::uint64_t>(lengths, league);
  }
}

lengths_type random_lengths(std::int64_t n, expansion_u32 most) {
  const auto items = random_items<expansion_u32>(n, most);
  return {items.begin(), items.end()};
}

}  // namespace

TEST_CASE("Every item of a range comes once, with its range's value and rank",
          "[expansion][sanitize]") {
  for (const std::int64_t ranges :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, warp_width - 1, warp_width,
        warp_width + 1, team_width - 1, team_width, team_width + 1, 2 * team_width + 5}) {
    for (const expansion_u32 most : {0u, 1u, 3u, 70u}) {
      if (is_emulated && most == 70 && ranges > team_width) continue;
      CAPTURE(ranges, most);
      check_expansions(random_lengths(ranges, most));
    }
  }
}

TEST_CASE("Ranges are of every length around warps, teams and what is taken whole", "[expansion]") {
  lengths_type lengths;
  for (const std::int64_t edge :
       {warp_width, 2 * warp_width, 4 * warp_width, 8 * warp_width, team_width, 8 * team_width}) {
    for (std::int64_t delta = -2; delta <= 2; ++delta) {
      check_expansions({edge + delta});
      check_expansions({1, edge + delta, 0, 3});
      lengths.push_back(edge + delta);
      lengths.push_back(delta < 0 ? 0 : delta);
    }
  }
  check_expansions(lengths);
}

TEST_CASE("One range among empty ones is shared", "[expansion][sanitize]") {
  const std::int64_t huge =
      is_emulated ? 40 * team_width + 7 : (takes_long_inputs() ? 3'000'001 : 100'001);
  for (const std::int64_t ranges : {std::int64_t{1}, warp_width, team_width, 3 * team_width}) {
    for (const std::int64_t at : {std::int64_t{0}, ranges / 2, ranges - 1}) {
      CAPTURE(ranges, at);
      lengths_type lengths(static_cast<std::size_t>(ranges), 0);
      lengths[static_cast<std::size_t>(at)] = huge;
      check_expansions(lengths);
    }
  }
}

TEST_CASE("Very many ranges are empty", "[expansion]") {
  const std::int64_t ranges = is_emulated ? 20'000 : (takes_long_inputs() ? 3'000'000 : 1'000'000);
  lengths_type lengths(static_cast<std::size_t>(ranges), 0);
  check_expansions(lengths);
  lengths[5] = 1000;
  lengths[static_cast<std::size_t>(ranges / 2)] = 1;
  lengths.back() = 33;
  check_expansions(lengths);
}

TEST_CASE("Short and long ranges come by turns", "[expansion]") {
  lengths_type lengths = random_lengths(is_emulated ? 300 : 30'000, 9);
  for (std::size_t r = 0; r < lengths.size(); r += 37) lengths[r] = is_emulated ? 300 : 1000;
  check_expansions(lengths);
}
