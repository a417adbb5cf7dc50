// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <structures/lsm/check_lsm.hpp>

// An LSM against a std::map: histories, what the papers ask for, and the edges of both.

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace test_kernels {

/// Asks for every key by the warp's face and by that of each lane alone: what find and successor
/// say, and how many keys there are up to 100 above.
struct lsm_faces_kernel {
  struct policy : launch_policy {
    static constexpr int warps = 2;
  };
  template <class Team>
  struct scratch {};
  using view = lsm_view<std::uint32_t, std::uint32_t>;
  struct answers {
    std::uint32_t* value;
    table_status* status;
    std::uint32_t* next;
    std::int64_t* count;
  };

  view map;
  const std::uint32_t* keys;
  answers by_warp, by_lane;
  std::int64_t n;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    using numbers = typename warp_type::template lanes<std::uint32_t>;
    kernels::for_windows(
        team, n, [&](const warp_type& warp, const auto& exists, std::int64_t begin) {
          const auto key = warp.load(exists, keys + begin, 0u);
          numbers value(0u), other(0u);
          auto next = key;
          warp.store(exists, by_warp.status + begin, map.find(warp, exists, key, value));
          warp.store(exists, by_warp.value + begin, value);
          (void)map.strict_successor(warp, exists, key, next, other);
          warp.store(exists, by_warp.next + begin, next);
          warp.store(exists, by_warp.count + begin,
                     map.count(warp, exists, key, key + numbers(100u)));
          (void)warp.map(
              exists,
              [&](std::uint32_t l, std::uint32_t k) { return alone<warp_type>(begin + l, k); }, 0u,
              warp.lane(), key);
        });
  }

 private:
  template <class Warp>
  LANEWISE_FUNCTION std::uint32_t alone(std::int64_t i, std::uint32_t key) const {
    const table_scalar_face<view, typename Warp::template part<1>> face(map);
    std::uint32_t value = 0, other = 0, next = key;
    by_lane.status[i] = face.find(key, value);
    by_lane.value[i] = value;
    (void)face.strict_successor(key, next, other);
    by_lane.next[i] = next;
    by_lane.count[i] = face.count(key, key + 100);
    return 0;
  }
};

}  // namespace test_kernels
LANEWISE_END_TARGET_NAMESPACE

namespace {

using namespace test;
using u32 = std::uint32_t;
using lsm_type = lanewise::lsm_map<u32, u32, memory>;
using lsm_model = model<u32, u32>;

u32 any_value(std::uint64_t x) {
  return static_cast<u32>(x);
}

batch<u32, u32> alike(const std::vector<u32>& keys, table_operation o, u32 value = 0) {
  return {keys, std::vector<u32>(keys.size(), value), std::vector<table_operation>(keys.size(), o)};
}
std::vector<u32> ascending(std::size_t n, u32 first = 0, u32 step = 1) {
  std::vector<u32> keys(n);
  for (std::size_t i = 0; i < n; ++i) keys[i] = first + static_cast<u32>(i) * step;
  return keys;
}
std::vector<std::int64_t> lengths(const lsm_type& map) {
  std::vector<std::int64_t> n;
  for (const auto& r : map.runs()) n.push_back(r.level.size());
  return n;
}

/// All numbers in some order, each once in 2^32.
struct scattered_numbers {
  std::int64_t first;
  KOKKOS_FUNCTION u32 operator()(std::int64_t i) const {
    return static_cast<u32>(first + i) * 2654435769u;
  }
};
struct wrong_answers {
  scattered_numbers keys;
  const u32* found;
  bool is_there;
  KOKKOS_FUNCTION std::int64_t operator()(std::int64_t i) const {
    return found[i] != (is_there ? keys(i) : 0u);
  }
};

/// A map and its model, which are told the same.
struct both {
  lanewise::lsm_map<u32, u32, memory> map;
  lsm_model m;
  void tell(const space& exec, const batch<u32, u32>& b) {
    apply_to(exec, map, b);
    apply_to(m, b);
  }
};

}  // namespace

TEST_CASE("An LSM answers as a std::map does after every batch", "[lsm][sanitize]") {
  const std::int64_t longest = is_emulated ? 600 : takes_long_inputs() ? 40'000 : 5000;
  const int batches = is_emulated ? 15 : 40;
  const std::size_t queries = is_emulated ? 48 : 300;
  for (const std::uint64_t most : {std::uint64_t{200}, std::uint64_t{20'000}}) {
    CAPTURE(most);
    check_history<lsm_type>(most, longest, most, batches, queries, any_value);
  }
}

TEST_CASE("A sorted array answers as a std::map does", "[lsm]") {
  using sorted = lanewise::sorted_array<u32, u32, memory>;
  check_history<sorted>(3, is_emulated ? 300 : 3000, 5000, is_emulated ? 10 : 20,
                        is_emulated ? 48 : 200, any_value);
}

TEST_CASE("An array that is sorted again answers as one that is merged", "[lsm]") {
  const auto exec = make_space();
  auto random = make_random(12);
  lanewise::sorted_array<u32, u32, memory> merged;
  lanewise::resorted_array<u32, u32, memory> sorted;
  for (int round = 0; round < 12; ++round) {
    const auto n = static_cast<std::int64_t>(1 + random_number(random, is_emulated ? 200 : 3000));
    batch<u32, u32> given;
    for (std::int64_t i = 0; i < n; ++i) {
      given.keys.push_back(static_cast<u32>(random_number(random, 500)));
      given.values.push_back(static_cast<u32>(random()));
      given.operations.push_back(random() % 4 == 0 ? table_operation::erase
                                                   : table_operation::insert);
    }
    if (round % 4 == 3) given.operations.assign(given.operations.size(), table_operation::erase);
    apply_to(exec, merged, given);
    apply_to(exec, sorted, given);
    CHECK(sorted.levels() == 1);
    CHECK(sorted.elements() == merged.elements());
    const array<u32> all(ascending(510)), found(510, 7u), also_found(510, 7u);
    lanewise::find(exec, merged, all.view(), found.view());
    lanewise::find(exec, sorted, all.view(), also_found.view());
    exec.fence();
    CHECK((found.items() == also_found.items()));
  }
}

// L-1, L-2, L-8 (Figure 4.1), and Hubaut 5.6.
TEST_CASE("Levels of an LSM are the digits of a counter", "[lsm]") {
  const auto exec = make_space();
  constexpr std::int64_t b = 32;
  lsm_type map;
  for (int r = 1; r <= 64; ++r) {
    apply_to(exec, map, alike(ascending(b, static_cast<u32>(r)), table_operation::insert));
    std::vector<std::int64_t> expected;
    for (int bit = 0; bit < 7; ++bit)
      if ((r >> bit & 1) != 0) expected.push_back(b << bit);
    CAPTURE(r);
    CHECK(lengths(map) == expected);
    CHECK(map.elements() == b * r);
  }
}

TEST_CASE("Batches of any length make no more levels than digits", "[lsm]") {
  const auto exec = make_space();
  auto random = make_random(9);
  lsm_type map;
  for (int round = 0; round < 60; ++round) {
    const std::size_t n = 1 + static_cast<std::size_t>(random_number(random, 300) >> random() % 9);
    apply_to(exec, map, alike(ascending(n), table_operation::insert));
    const auto levels = lengths(map);
    std::int64_t newer = 0;
    for (const std::int64_t level : levels) {
      CHECK(level >= 2 * newer);
      newer = level;
    }
  }
}

// L-3.
TEST_CASE("The last batch wins, and an erasure over its batch", "[lsm]") {
  const auto exec = make_space();
  const auto insert = table_operation::insert, erase = table_operation::erase;
  both x;
  const std::vector<batch<u32, u32>> history = {
      alike({1, 2, 3}, insert, 10),
      alike({2}, insert, 20),
      alike({3}, erase),
      alike({7, 7, 7}, erase),
      alike({3}, insert, 30),
      {{4, 4, 5, 5, 6, 6}, {1, 2, 3, 4, 5, 6}, {insert, erase, erase, insert, insert, insert}},
      {{1, 9, 1, 9}, {5, 6, 7, 8}, {insert, insert, insert, insert}},
      alike({0, greatest_key<u32>}, insert, 3),
      alike({greatest_key<u32>, 0, 0}, erase),
      alike({0, greatest_key<u32>}, insert, 4),
  };
  std::vector<u32> probes = ascending(12);
  probes.push_back(greatest_key<u32>);
  for (const auto& b : history) {
    x.tell(exec, b);
    check_find(exec, x.map, x.m, probes);
    check_neighbours(exec, x.map, x.m, probes);
    check_range(exec, x.map, x.m, {0, 1, 3, 5}, {greatest_key<u32>, 9, 3, 4});
  }
  CHECK(x.m.at(9) == 6);
  lanewise::cleanup(exec, x.map);
  check_find(exec, x.map, x.m, probes);
}

TEST_CASE("An LSM of which all is erased is filled again", "[lsm]") {
  const auto exec = make_space();
  auto random = make_random(4);
  const std::size_t n = is_emulated ? 700 : 20'000;
  both x;
  for (int life = 0; life < 2; ++life) {
    x.tell(exec, alike(ascending(n, 5, 3), table_operation::insert, 1));
    x.tell(exec, alike(ascending(2 * n, 5, 3), table_operation::erase));
    CHECK(x.m.size() == (life == 0 ? 0 : 2));
    check_all(exec, x.map, x.m, random, 4 * n, 40);
    CHECK(lanewise::statistics(exec, x.map).tombstones > 0);
    // Newest tombstones between what is there: neighbours are beyond a long range of them.
    x.tell(exec, alike({2, static_cast<u32>(9 * n)}, table_operation::insert, 8));
    check_all(exec, x.map, x.m, random, 4 * n, 40);
    if (life == 0) lanewise::cleanup(exec, x.map);
  }
  lanewise::clear(exec, x.map);
  CHECK(x.map.elements() == 0);
  check_all(exec, x.map, lsm_model(), random, 4 * n, 40);
}

TEST_CASE("Batches of one, of equal keys, ascending, and longer than the map", "[lsm]") {
  const auto exec = make_space();
  auto random = make_random(5);
  both x;
  const std::size_t n = is_emulated ? 900 : 9000;
  for (u32 i = 0; i < 33; ++i) x.tell(exec, alike({i * 7 % 11}, table_operation::insert, i));
  check_all(exec, x.map, x.m, random, 40, 40);
  x.tell(exec, alike({}, table_operation::insert));
  x.tell(exec, alike(std::vector<u32>(n, 17), table_operation::insert, 3));
  check_all(exec, x.map, x.m, random, 40, 40);
  x.tell(exec, alike(std::vector<u32>(n, 17), table_operation::erase));
  check_all(exec, x.map, x.m, random, 40, 40);
  for (u32 r = 0; r < 7; ++r)
    x.tell(exec, alike(ascending(n / 4, r * static_cast<u32>(n / 4)), table_operation::insert, r));
  CHECK(x.map.levels() > 1);
  check_all(exec, x.map, x.m, random, 2 * n, 60);
  auto z = random_batch<u32, u32>(random, static_cast<std::int64_t>(n), 1, 20, any_value);
  const auto zipf = numbers(distribution::zipf, static_cast<std::int64_t>(n), n, n);
  std::transform(zipf.begin(), zipf.end(), z.keys.begin(), any_value);
  x.tell(exec, z);
  check_all(exec, x.map, x.m, random, 2 * n, 60);
}

TEST_CASE("A snapshot of an LSM keeps its answers", "[lsm]") {
  const auto exec = make_space();
  auto random = make_random(6);
  both x;
  std::vector<both> kept;
  for (int round = 0; round < 8; ++round) {
    x.tell(exec, random_batch<u32, u32>(random, 400, 2000, 30, any_value));
    kept.push_back({x.map.snapshot(), x.m});
    for (const both& k : kept) check_all(exec, k.map, k.m, random, 2000, 20);
  }
  // Snapshots are maps of their own.
  kept[2].tell(exec, random_batch<u32, u32>(random, 400, 2000, 30, any_value));
  x.map = lsm_type();
  kept.erase(kept.begin() + 3, kept.end());
  for (const both& k : kept) check_all(exec, k.map, k.m, random, 2000, 20);
}

TEST_CASE("An LSM is copied to the host and back, and built", "[lsm]") {
  const auto exec = make_space();
  auto random = make_random(7);
  both x;
  for (int round = 0; round < 3; ++round)
    x.tell(exec, random_batch<u32, u32>(random, 500, 1000, 30 * round, any_value));
  x.tell(exec, alike({3, 5}, table_operation::erase));
  const auto on_host = x.map.copy_to<Kokkos::HostSpace>(exec);
  CHECK(on_host.levels() == x.map.levels());
  const auto again = on_host.copy_to<memory>(exec);
  check_all(exec, again, x.m, random, 1000, 60);

  const auto b = random_batch<u32, u32>(random, 800, 500, 0, any_value);
  lanewise::build(exec, x.map, array<u32>(b.keys).const_view(), array<u32>(b.values).const_view());
  exec.fence();
  x.m.clear();
  apply_to(x.m, b);
  CHECK(x.map.levels() == 1);
  check_all(exec, x.map, x.m, random, 600, 60);
}

TEST_CASE("Short outputs take what they have room for", "[lsm]") {
  const auto exec = make_space();
  auto random = make_random(8);
  both x;
  for (int round = 0; round < 3; ++round)
    x.tell(exec, random_batch<u32, u32>(random, 700, 3000, 20, any_value));
  const std::vector<u32> from{0, 100, 500, 2000, 9, 0}, to{50, 400, 3000, 100, 9, 3000};
  for (const std::int64_t room : {0, 1, 5, 40, 300, 100'000})
    check_range(exec, x.map, x.m, from, to, room);
  // Only values have too few places.
  const array<u32> k1(std::vector<u32>{0}), k2(std::vector<u32>{3000});
  const auto all =
      static_cast<std::int64_t>(std::distance(x.m.lower_bound(0), x.m.upper_bound(3000)));
  for (const std::int64_t room : {std::int64_t{0}, all / 2}) {
    const array<u32> keys(all, 77u), values(room, 77u);
    const array<std::int64_t> offsets(2, -1);
    CHECK_THROWS_WITH(lanewise::range(exec, x.map, k1.const_view(), k2.const_view(), offsets.view(),
                                      keys.view(), values.view()),
                      "lanewise::range: values_out has " + std::to_string(room) +
                          " places, there were " + std::to_string(all) + " results");
    CHECK(offsets.items() == std::vector<std::int64_t>{0, all});
    const auto written = keys.items();
    CHECK(std::all_of(written.begin() + room, written.end(), [](u32 key) { return key == 77; }));
    CHECK((keys.guards_intact() && values.guards_intact()));
  }
}

TEST_CASE("Many long ranges merge all levels first, or none", "[lsm]") {
  const auto exec = make_space();
  auto random = make_random(11);
  both x;
  const auto ask = [&](std::size_t q, u32 length) {
    std::vector<u32> from(q), to(q);
    for (std::size_t i = 0; i < q; ++i) {
      from[i] = static_cast<u32>(random() % 1200);
      to[i] = from[i] + static_cast<u32>(random() % length) - (i % 50 == 0 ? 3 : 0);
    }
    check_range(exec, x.map, x.m, from, to);
    check_range(exec, x.map, x.m, from, to, 5000);
  };
  ask(2500, 60);
  for (int round = 0; round < 5; ++round)
    x.tell(exec, random_batch<u32, u32>(random, 300, 1000, 10 * round, any_value));
  const int levels = x.map.levels();
  REQUIRE(levels > 1);
  ask(2500, 60);  // more than there are elements
  ask(2500, 2);   // fewer, or nearly as many
  ask(300, 600);  // too few queries to look
  CHECK(x.map.levels() == levels);
  // Without merging, too.
  const array<u32> from(std::vector<u32>(2500, 7)), to(std::vector<u32>(2500, 900));
  const array<std::int64_t> merged(2500, -1), walked(2500, -2);
  lanewise::count(exec, x.map, from.const_view(), to.const_view(), merged.view());
  lanewise::count(exec, x.map, from.const_view(), to.const_view(), walked.view(),
                  {.may_merge = false});
  CHECK(merged.items() == walked.items());
  lanewise::cleanup(exec, x.map);
  ask(100, 600);
  ask(2500, 60);
}

TEST_CASE("Cleanup keeps what counts of every tile of the last merge", "[lsm]") {
  const auto exec = make_space();
  auto random = make_random(12);
  constexpr std::int64_t tile = lanewise::kernels::merge_tile_items<u32, space>;
  // Few keys: long parts of equal ones across tiles. Many: hardly any is stale.
  for (const std::uint64_t keys : {3u, 900u, 4'000'000'000u}) {
    for (const std::int64_t older : {std::int64_t{1}, tile - 1, tile, 2 * tile + 33}) {
      for (const int percent : {0, 10, 100}) {
        CAPTURE(keys, older, percent);
        both x;
        x.tell(exec, random_batch<u32, u32>(random, older, keys, percent, any_value));
        x.tell(exec, random_batch<u32, u32>(random, older / 2, keys, 20, any_value));
        x.tell(exec, random_batch<u32, u32>(random, older / 5, keys, percent, any_value));
        lanewise::cleanup(exec, x.map);
        const auto live = static_cast<std::int64_t>(x.m.size());
        CHECK(x.map.elements() == live);
        CHECK(x.map.levels() == (live > 0 ? 1 : 0));
        // At rest there are places for a ninth more at most.
        CHECK(lanewise::statistics(exec, x.map).bytes <= 8 * live * 107 / 100 * 10 / 9 + 1024);
        check_all(exec, x.map, x.m, random, keys, 40);
        const auto copy = x.map.copy_to<memory>(exec);
        check_all(exec, copy, x.m, random, keys, 40);
      }
    }
  }
}

TEST_CASE("Levels of 2^k - 1 batches with keys 0 and the greatest are cleaned up", "[lsm]") {
  const auto exec = make_space();
  auto random = make_random(13);
  both x;
  for (u32 r = 1; r < 64; ++r) {
    auto b = random_batch<u32, u32>(random, 48, 5000, r % 10 == 9 ? 100 : 0, any_value);
    b.keys[0] = 0;
    b.keys[1] = greatest_key<u32>;
    x.tell(exec, b);
  }
  CHECK(x.map.levels() == 6);
  lanewise::cleanup(exec, x.map);
  CHECK(x.map.elements() == static_cast<std::int64_t>(x.m.size()));
  check_all(exec, x.map, x.m, random, 5000, 60);
}

TEST_CASE("An LSM of more than 2^31 elements", "[.large]") {
  using view = Kokkos::View<u32*, memory>;
  const auto exec = make_space();
  constexpr std::int64_t half = (std::int64_t{1} << 30) + 500, some = 1 << 20;
  lsm_type map;
  const auto part = [&](std::int64_t first, std::int64_t n) {
    const view keys(Kokkos::view_alloc("keys", Kokkos::WithoutInitializing), n);
    lanewise::transform(exec, lanewise::generated(n, scattered_numbers{first}), keys,
                        lanewise::identity{});
    return keys;
  };
  for (const std::int64_t first : {std::int64_t{0}, half}) {
    const view keys = part(first, half);
    lanewise::insert(exec, map, keys, keys);
    exec.fence();
  }
  CHECK(map.levels() == 1);
  lanewise::erase(exec, map, part(half - some, 2 * some));
  const auto check = [&] {
    for (const std::int64_t first : {std::int64_t{0}, half - some, half + some, 2 * half - some}) {
      const view found("found", some);
      lanewise::find(exec, map, part(first, some), found);
      exec.fence();
      const wrong_answers wrong{{first}, found.data(), first != half - some};
      CHECK(lanewise::reduce(exec, lanewise::generated(some, wrong), lanewise::plus{},
                             std::int64_t{0}) == 0);
    }
    CHECK(lanewise::size(exec, map) == 2 * (half - some));
  };
  check();
  lanewise::cleanup(exec, map);
  CHECK(map.elements() == 2 * (half - some));
  check();
}

TEST_CASE("Kernels ask LSMs by warps and by lanes", "[lsm]") {
  using kernel = lanewise::test_kernels::lsm_faces_kernel;
  const auto exec = make_space();
  auto random = make_random(10);
  both x;
  for (int round = 0; round < 5; ++round)
    x.tell(exec, random_batch<u32, u32>(random, 500, 900, 25, any_value));
  constexpr std::int64_t n = 333;
  std::vector<u32> probes(n);
  for (u32& p : probes) p = any_value(random_number(random, 1000));
  const array<u32> keys(probes);
  struct room {
    array<u32> value{n, 0u}, next{n, 0u};
    array<std::int64_t> count{n, 0};
    array<table_status> status{n, table_status::none};
    kernel::answers to() const { return {value.data(), status.data(), next.data(), count.data()}; }
  } by_warp, by_lane;
  lanewise::launch(exec, "lsm_faces", 3,
                   kernel{x.map.view(), keys.data(), by_warp.to(), by_lane.to(), n});
  std::vector<u32> values, next;
  std::vector<std::int64_t> counts;
  std::vector<table_status> status;
  for (const u32 p : probes) {
    const auto at = x.m.find(p), after = x.m.upper_bound(p);
    status.push_back(at == x.m.end() ? table_status::absent : table_status::found);
    values.push_back(at == x.m.end() ? 0 : at->second);
    next.push_back(after == x.m.end() ? p : after->first);
    counts.push_back(std::distance(x.m.lower_bound(p), x.m.upper_bound(p + 100)));
  }
  for (const room* r : {&by_warp, &by_lane}) {
    CHECK((r->status.items() == status));
    CHECK(r->value.items() == values);
    CHECK(r->next.items() == next);
    CHECK(r->count.items() == counts);
  }
}

TEST_CASE("Calls on LSMs refuse what does not fit", "[lsm]") {
  const auto exec = make_space();
  lsm_type map;
  const array<u32> three(3, 0u), two(2, 0u);
  const array<std::int64_t> numbers(2, 0);
  const array<table_status> status(2, table_status::none);
  const Kokkos::View<const u32*, memory, Kokkos::MemoryUnmanaged> nothing(nullptr, 3);
  const auto k = three.const_view();
  CHECK_THROWS_AS(lanewise::insert(exec, map, k, two.const_view()), std::invalid_argument);
  CHECK_THROWS_AS(lanewise::insert(exec, map, nothing, k), std::invalid_argument);
  CHECK_THROWS_AS(lanewise::erase(exec, map, nothing), std::invalid_argument);
  CHECK_THROWS_AS(lanewise::find(exec, map, k, two.view()), std::invalid_argument);
  CHECK_THROWS_AS(lanewise::find(exec, map, k, three.view(), {.status = status.view()}),
                  std::invalid_argument);
  CHECK_THROWS_AS(lanewise::count(exec, map, k, k, numbers.view()), std::invalid_argument);
  CHECK_THROWS_AS(
      lanewise::range(exec, map, two.const_view(), k, numbers.view(), three.view(), three.view()),
      std::invalid_argument);
  CHECK_THROWS_AS(lanewise::predecessor(exec, map, k, two.view(), three.view()),
                  std::invalid_argument);
}
