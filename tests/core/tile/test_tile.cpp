// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/backend.hpp>
#include <lanewise/tile/tile.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace test_kernels {

/// Small tiles, so that few items make many of them.
struct small_policy : launch_policy {
  static constexpr int warps = 2;
  static constexpr int items_per_lane = 4;
  static constexpr std::int64_t host_tile_bytes = 0;
  static constexpr std::int64_t host_bytes_past_caches = 1024;  // some tests write past the caches
};

/// Every tile is copied, and scanned on its own: the first of three inclusively, the second
/// exclusively after `first`, the third exclusively after nothing.
template <class T, class Op>
struct scan_tiles {
  using policy = small_policy;
  template <class Team>
  struct scratch {
    typename tile_t<Team, T, policy>::scratch tile;
  };

  array_source<T, identity> in;
  array_sink<T> copy;
  array_sink<T> scanned;
  T first;
  T* totals;
  std::int64_t* counts;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    constexpr std::int64_t items = tile_t<Team, T, policy>::items;
    const auto [begin, end] = team.share(divide_up(in.extent, items));
    for (std::int64_t t = begin; t < end; ++t) {
      auto tile = load_tile<T, policy>(team, shared.tile, in, t * items, in.extent);
      tile.store(copy);
      tile.scan(Op{});
      const T total = tile.total();
      const std::int64_t count = tile.count();
      team.once([&] {
        totals[t] = total;
        counts[t] = count;
      });
      if (t % 3 == 0) {
        tile.store_inclusive(scanned, maybe<T>{first, false}, Op{});
      } else {
        tile.store_exclusive(scanned, maybe<T>{first, t % 3 == 1}, Op{});
      }
      team.barrier();
    }
  }
};

/// Tiles are copied by way of scratch, each while the items of the next one come.
template <class Raw, class F>
struct copy_staged {
  using policy = small_policy;
  using source_type = array_source<Raw, F>;
  using T = typename source_type::value_type;
  template <class Team>
  static constexpr int items = static_cast<int>(tile_t<Team, T, policy>::items);
  template <class Team>
  struct scratch {
    typename Team::template staging<Raw, items<Team>> stage[2];
    typename tile_t<Team, T, policy>::scratch tile;
  };

  source_type in;
  T* out;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const std::int64_t each = items<Team>;
    const auto [begin, end] = team.share(divide_up(in.extent, each));
    const auto load = [&, begin = begin](std::int64_t t) {
      const std::int64_t left = in.extent - t * each;
      shared.stage[(t - begin) % 2].load_async(team, in, t * each, left < each ? left : each);
    };
    for (auto& stage : shared.stage) stage.init(team);
    team.barrier();
    if (begin < end) load(begin);
    for (std::int64_t t = begin; t < end; ++t) {
      if (t + 1 < end) load(t + 1);
      const auto k = static_cast<std::uint32_t>(t - begin);
      const auto here = shared.stage[k % 2].wait(team, in, k / 2 + 1);
      auto tile = load_tile<T, policy>(team, shared.tile, here, 0, here.extent);
      tile.store(array_sink<T>{out + t * each, here.extent});
      team.barrier();
    }
  }
};

/// Team i reduces its share of the items.
template <class T, class Op>
struct reduce_shares {
  using policy = small_policy;
  template <class Team>
  using scratch = reduce_scratch<Team, T>;

  array_source<T, identity> in;
  T* results;
  int* present;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const auto [begin, end] = team.share(in.extent);
    const maybe<T> mine = reduce_range<T, policy>(team, shared, in, begin, end, Op{});
    team.once([&] {
      present[team.index()] = mine.present;
      if (mine.present) results[team.index()] = mine.value;
    });
  }
};

/// Warps leave a number in scratch and read those of the others, round after round.
struct meet {
  struct policy : launch_policy {
    static constexpr int warps = 4;
  };
  template <class Team>
  struct scratch {
    std::uint32_t seat[Team::warps];
    std::uint32_t sum[Team::warps];
  };

  int rounds;
  int* visits;          // of every team
  std::uint32_t* sums;  // of every team, over all rounds
  int* warps;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const auto warp = team.warp();
    const auto self = static_cast<std::uint32_t>(team.warp_index());
    std::uint32_t sum = 0;
    for (int round = 0; round < rounds; ++round) {
      warp.once([&] {
        shared.seat[self] = static_cast<std::uint32_t>(round) * (self + 1) + team.index();
      });
      team.barrier();
      for (int w = 0; w < Team::warps; ++w) sum += shared.seat[w];
      team.barrier();
    }
    warp.once([&] { shared.sum[self] = sum; });
    team.barrier();
    team.once([&] {
      ++visits[team.index()];
      warps[team.index()] = Team::warps;
      sums[team.index()] = shared.sum[Team::warps - 1];
    });
  }
};

}  // namespace test_kernels
LANEWISE_END_NAMESPACE

namespace {

using namespace test;
using lanewise::test_kernels::small_policy;

template <class T, class Op>
void check_tiles(std::int64_t n, int shift, Op op) {
  constexpr std::int64_t tile = tile_items<T, small_policy>;
  const auto exec = make_space();
  const auto items = random_items<T>(n, most_summand<T>());
  const std::int64_t tiles = lanewise::divide_up(n, tile);
  const T first = item_of<T>(9);
  const array<T> in(items, shift);
  const array<T> copy(n, item_of<T>(77), shift + 1);
  const array<T> scanned(n, item_of<T>(77));
  const array<T> totals(tiles, item_of<T>(77));
  const array<std::int64_t> counts(tiles, -1);

  lanewise::launch(exec, "Lanewise::test::tiles", std::min<std::int64_t>(tiles, 3),
                   lanewise::test_kernels::scan_tiles<T, Op>{{in.data(), n, {}},
                                                             {copy.data(), n},
                                                             {scanned.data(), n},
                                                             first,
                                                             totals.data(),
                                                             counts.data()});

  std::vector<T> expected, expected_totals;
  std::vector<std::int64_t> expected_counts;
  for (std::int64_t t = 0; t < tiles; ++t) {
    const std::vector<T> part(items.begin() + t * tile,
                              items.begin() + std::min(n, (t + 1) * tile));
    const auto upto = oracle::inclusive_scan(part, op);
    auto here = t % 3 == 0 ? upto : oracle::exclusive_scan(part, first, op);
    if (t % 3 == 2) std::copy(upto.begin(), upto.end() - 1, here.begin() + 1);
    expected.insert(expected.end(), here.begin(), here.end());
    expected_totals.push_back(upto.back());
    expected_counts.push_back(static_cast<std::int64_t>(part.size()));
  }
  CHECK(difference(copy.items(), items) == "");
  CHECK(difference(scanned.items(), expected) == "");
  CHECK(difference(totals.items(), expected_totals) == "");
  CHECK(difference(counts.items(), expected_counts) == "");
  CHECK(copy.guards_intact());
  CHECK(scanned.guards_intact());
}

}  // namespace

TEMPLATE_TEST_CASE("A tile loads, scans and stores its items in order", "[tile][sanitize]",
                   std::uint32_t MORE_TYPES(std::uint8_t, double)) {
  constexpr std::int64_t tile = tile_items<TestType, small_policy>;
  for (const std::int64_t n : {std::int64_t{1}, std::int64_t{31}, std::int64_t{33}, tile - 1, tile,
                               tile + 1, 3 * tile + tile / 2 + 3, 8 * tile}) {
    for (int shift = 0; shift < 4; shift += 3) {
      CAPTURE(n, shift);
      check_tiles<TestType>(n, shift, lanewise::plus{});
      check_tiles<TestType>(n, shift, last_nonzero{});
    }
  }
}

TEST_CASE("A tile keeps the order of operands of every size", "[tile][sanitize]") {
  for (const std::int64_t n : {1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000}) {
    CAPTURE(n);
    check_tiles<affine>(n, 1, then{});
    check_tiles<matrix>(n, 1, product{});
    check_tiles<segment>(n, 1, segmented_plus{});
  }
}

namespace {

template <class T, class F>
void check_staged(F f, std::int64_t n, int shift, std::int64_t league) {
  using kernel = lanewise::test_kernels::copy_staged<T, F>;
  using result = typename kernel::T;
  CAPTURE(n, shift, league);
  const auto items = random_items<T>(n);
  const array<T> in(items, shift);
  const array<result> out(n, item_of<result>(77), shift + 1);

  lanewise::launch(make_space(), "Lanewise::test::staged", league,
                   kernel{{in.data(), n, f}, out.data()});

  std::vector<result> expected;
  for (const T& x : items) expected.push_back(f(x));
  CHECK(difference(out.items(), expected) == "");
  CHECK(out.guards_intact());
}

}  // namespace

TEMPLATE_TEST_CASE("Items come to scratch while others are used", "[tile][sanitize]", std::uint32_t,
                   affine MORE_TYPES(std::uint8_t, double)) {
  constexpr std::int64_t tile = tile_items<TestType, small_policy>;
  for (const std::int64_t n :
       {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{15}, std::int64_t{16},
        std::int64_t{17}, tile - 1, tile, tile + 1, 2 * tile, 7 * tile + tile / 2 + 3}) {
    for (int shift = 0; shift < 4; ++shift)
      check_staged<TestType>(lanewise::identity{}, n, shift, shift % 2 + 1);
  }
}

TEST_CASE("Items that came to scratch pass through the source's function", "[tile]") {
  constexpr std::int64_t tile = tile_items<std::uint64_t, small_policy>;
  check_staged<std::uint32_t>(square_plus_one{}, 5 * tile + 3, 1, 2);
}

TEMPLATE_TEST_CASE("reduce_range reduces every share, in order", "[tile][sanitize]", std::uint32_t,
                   affine) {
  using op = std::conditional_t<std::is_same_v<TestType, affine>, then, lanewise::plus>;
  const auto exec = make_space();
  for (const std::int64_t n : {0, 1, 5, 31, 32, 33, 300, 1031, 5000}) {
    for (const std::int64_t league : {1, 2, 7}) {
      for (int shift = 0; shift < 4; ++shift) {
        CAPTURE(n, league, shift);
        const auto items = random_items<TestType>(n);
        const array<TestType> in(items, shift);
        const array<TestType> results(league, item_of<TestType>(77));
        const array<int> present(league, -1);

        lanewise::launch(exec, "Lanewise::test::reduce", league,
                         lanewise::test_kernels::reduce_shares<TestType, op>{
                             {in.data(), n, {}}, results.data(), present.data()});

        std::vector<TestType> expected;
        std::vector<int> expected_present;
        for (std::int64_t team = 0; team < league; ++team) {
          const auto [begin, end] = lanewise::even_share(n, team, league);
          expected_present.push_back(begin < end);
          expected.push_back(
              begin < end
                  ? oracle::inclusive_scan(
                        std::vector<TestType>(items.begin() + begin, items.begin() + end), op{})
                        .back()
                  : item_of<TestType>(77));
        }
        CHECK(difference(results.items(), expected) == "");
        CHECK(difference(present.items(), expected_present) == "");
      }
    }
  }
}

namespace {

/// The tiles follow each other, and none is empty. All but the first begin in the sink where
/// `is_line` says that a line of memory does.
template <class T, class Source, class Sink, class IsLine>
void check_cuts(const Source& in, const Sink& out, std::int64_t n, IsLine is_line) {
  using team = lanewise::team_t<space, small_policy>;
  using cuts_type = lanewise::tile_cuts<team, T, small_policy>;
  constexpr std::int64_t items = tile_items<T, small_policy>;
  const lanewise::cut_items all = cuts_type::cut(in, out, {n});
  const cuts_type cuts(all);
  std::int64_t at = 0;
  for (std::int64_t t = 0; t < cuts.tiles(); ++t) {
    CHECK(cuts.first(t) == at);
    CHECK(cuts.below(t) > at);
    if (t > 0 && n > items && !team::is_single_thread) CHECK(is_line(at));
    at = std::min({at + items, cuts.below(t), n});
  }
  CHECK(at == n);
  CHECK(cuts.tiles() <= cuts_type::most_tiles(n));
  CHECK(cuts_type::most_tiles(n) <= lanewise::divide_up(n, items) + 1);
}

}  // namespace

TEMPLATE_TEST_CASE("Tiles are cut where lines of the output begin", "[tile]", std::uint8_t,
                   std::uint32_t, double) {
  constexpr std::int64_t items = tile_items<TestType, small_policy>;
  constexpr int line = 128 / sizeof(TestType);
  alignas(128) TestType memory[line];
  for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1}, items - 1, items, items + 1,
                               items + line - 1, items + line, 2 * items, 5 * items + 7}) {
    for (int shift = 0; shift < line; shift += 1 + shift / 4) {
      CAPTURE(n, shift);
      const lanewise::array_source<TestType, lanewise::identity> in{memory, n, {}};
      const lanewise::array_sink<TestType> out{memory + shift, n};
      const auto nowhere = lanewise::consumed(n, [](std::int64_t, const TestType&) {});
      check_cuts<TestType>(in, out, n, [&](std::int64_t at) { return (shift + at) % line == 0; });
      check_cuts<TestType>(in, nowhere, n, [&](std::int64_t at) { return at % line == 0; });
      check_cuts<TestType>(in, lanewise::reversed_sink<lanewise::array_sink<TestType>>{out, n}, n,
                           [&](std::int64_t at) { return (shift + n - at) % line == 0; });
    }
  }
}

TEMPLATE_TEST_CASE("Two packs give the items from any place of the first on", "[tile]",
                   std::uint8_t, std::uint16_t, std::uint32_t) {
  constexpr int v = 16 / sizeof(TestType);
  lanewise::pack<TestType, v> a;
  lanewise::pack<TestType, v> b;
  for (int i = 0; i < v; ++i) a[i] = static_cast<TestType>(3 * i + 1);
  for (int i = 0; i < v; ++i) b[i] = static_cast<TestType>(3 * (v + i) + 1);
  for (int past = 0; past < v; ++past) {
    CAPTURE(past);
    const auto across = lanewise::items_of<lanewise::pack<TestType, v>>(
        lanewise::items_across<TestType>(words_of(a), words_of(b), past));
    for (int i = 0; i < v; ++i) CHECK(across[i] == static_cast<TestType>(3 * (past + i) + 1));
  }
}

TEST_CASE("Every team of a launch runs once, and its warps meet at barriers", "[team][sanitize]") {
  const auto exec = make_space();
  const int rounds = is_emulated ? 20 : 100;
  for (const std::int64_t league : {1, 2, 5, 33}) {
    CAPTURE(league);
    const array<int> visits(league, 0);
    const array<int> warps(league, 0);
    const array<std::uint32_t> sums(league, 0u);

    lanewise::launch(
        exec, "Lanewise::test::meet", league,
        lanewise::test_kernels::meet{rounds, visits.data(), sums.data(), warps.data()});

    std::vector<std::uint32_t> expected;
    const int count = warps.items()[0];
    for (std::uint32_t team = 0; team < league; ++team) {
      std::uint32_t sum = 0;
      for (int round = 0; round < rounds; ++round)
        for (int w = 0; w < count; ++w) sum += static_cast<std::uint32_t>(round * (w + 1)) + team;
      expected.push_back(sum);
    }
    CHECK(difference(visits.items(), std::vector<int>(static_cast<std::size_t>(league), 1)) == "");
    CHECK(difference(sums.items(), expected) == "");
    CHECK(visits.guards_intact());
  }
}

TEST_CASE("A launch of no teams does nothing", "[team]") {
  const array<int> visits(1, 0);

  lanewise::launch(make_space(), "Lanewise::test::nothing", 0,
                   lanewise::test_kernels::meet{1, visits.data(), nullptr, nullptr});

  CHECK(visits.unchanged());
}

TEST_CASE("Even shares cover everything once, in order, and differ by one at most", "[team]") {
  for (const std::int64_t parts : {1, 2, 3, 7, 132, 1000}) {
    for (const std::int64_t n :
         {std::int64_t{0}, std::int64_t{1}, parts - 1, parts, parts + 1, 3 * parts - 1, 3 * parts,
          3 * parts + 1, (std::int64_t{1} << 40) + 5}) {
      CAPTURE(parts, n);
      std::int64_t at = 0;
      std::int64_t least = n;
      std::int64_t most = 0;
      bool in_order = true;
      for (std::int64_t part = 0; part < parts; ++part) {
        const auto [begin, end] = lanewise::even_share(n, part, parts);
        in_order = in_order && begin == at && end >= begin;
        at = end;
        least = std::min(least, end - begin);
        most = std::max(most, end - begin);
      }
      CHECK(in_order);
      CHECK(at == n);
      CHECK(most - least <= 1);
    }
  }
}
