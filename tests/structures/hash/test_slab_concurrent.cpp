// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <map>
#include <structures/hash/check_slab.hpp>

// Operations of all kinds at the same time: warps with a different operation in every lane, and
// single threads, on lists that all of them share.

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace test_kernels {

/// Random waits, so that threads meet at places where they rarely would.
struct random_delays {
  static constexpr std::uint32_t count = 64;
  std::uint32_t* length;

  template <class Solo>
  LANEWISE_FUNCTION void wait(const Solo& one, std::uint64_t salt) const {
    std::uint32_t& mine = length[salt % count];
    for (std::uint32_t left = one.load(mine); left > 0; --left) {
      one.pause();
      (void)one.load(mine);  // takes its time on a GPU, where pause takes none
    }
  }
};

/// Their sum, some time after it was asked for: between the read of a value and its replacement.
template <class Solo>
struct slow_sum {
  random_delays delays;
  template <class T>
  LANEWISE_FUNCTION T operator()(const T& there, const T& given) const {
    delays.wait(Solo(), static_cast<std::uint64_t>(there));
    return static_cast<T>(there + given);
  }
};

/// Lane l of warp w runs the operations that stand in row w * rounds + r, column l: by the warp
/// together, or each lane for itself. What comes of them is written to the same place.
template <class View, class Key>
struct script_kernel {
  using policy = two_warps;
  template <class Team>
  struct scratch {};
  using value = typename View::value_type;

  View table;
  const std::uint32_t* operations;  // table_operation, and 100 more for lanes without one
  const Key* keys;
  value* values;
  table_status* status;
  random_delays delays;
  int rounds;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    using solo = typename warp_type::template part<1>;
    const auto warp = team.warp();
    const std::int64_t id = number_of_warp(team);
    const slow_sum<solo> sum{delays};
    slab_resident<warp_type> mine(warp, id);
    for (int r = 0; r < rounds; ++r) {
      const std::int64_t row = (id * rounds + r) * 32;
      delays.wait(solo(), static_cast<std::uint64_t>(id * 7 + r));
      const auto kind = warp.load(operations + row);
      const auto active = kind < std::uint32_t{100};
      auto key = warp.load(keys + row);
      auto v = warp.load(values + row);
      auto came = warp.map([](std::uint32_t) { return table_status::none; }, kind);
      if ((id + r) % 2 == 0) {
        came = table.apply(warp, mine, active, kind, key, v, sum);
      } else {
        auto what = kind;
        warp.each(
            active,
            [&](std::uint32_t& o, Key& k, value& x, table_status& s) {
              slab_scalar_face<View, solo> alone(table, row * 32 + o + k);
              delays.wait(solo(), static_cast<std::uint64_t>(k) + static_cast<std::uint64_t>(r));
              switch (static_cast<table_operation>(o)) {
                case table_operation::find:
                  s = alone.find(k, x);
                  break;
                case table_operation::insert:
                  s = alone.insert(k, x);
                  break;
                case table_operation::assign:
                  s = alone.assign(k, x);
                  break;
                case table_operation::combine:
                  s = alone.upsert(k, x, sum);
                  break;
                default:
                  s = alone.erase(k, x);
              }
            },
            what, key, v, came);
      }
      warp.store(active, values + row, v);
      warp.store(active, status + row, came);
    }
  }
};

}  // namespace test_kernels
LANEWISE_END_TARGET_NAMESPACE

namespace {

using namespace test;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr int script_teams = 3;

/// The operations of all warps and what came of them.
template <class Key, class Value>
struct script {
  int rounds;
  std::vector<u32> operations;
  std::vector<Key> keys;
  std::vector<Value> given, after;
  std::vector<table_status> status;

  explicit script(int rounds)
      : rounds(rounds),
        operations(places(), 100),
        keys(places(), Key{}),
        given(places(), Value{}),
        status(places()) {}
  std::size_t places() const { return static_cast<std::size_t>(warps() * rounds) * 32; }
  std::int64_t warps() const {
    using kernel = lanewise::test_kernels::script_kernel<
        lanewise::slab_table_view<Key, Value, lanewise::key_multiplicity::unique,
                                  lanewise::slab_hash<Key>>,
        Key>;
    return script_teams * lanewise::team_t<space, typename kernel::policy>::warps;
  }
  std::size_t at(std::int64_t warp, int round, int lane) const {
    return static_cast<std::size_t>((warp * rounds + round) * 32 + lane);
  }

  template <class Table>
  void run(const space& exec, const Table& table) {
    const array<u32> o(operations);
    const array<Key> k(keys);
    const array<Value> v(given);
    const array<table_status> s(static_cast<std::int64_t>(places()), table_status::none);
    auto random = make_random(static_cast<u32>(rounds));
    std::vector<u32> lengths(lanewise::test_kernels::random_delays::count);
    for (auto& l : lengths) {
      l = static_cast<u32>(random() % 4 != 0 ? 0 : random() % (is_emulated ? 3 : 30));
    }
    const array<u32> waits(lengths);
    lanewise::launch(
        exec, "script", script_teams,
        lanewise::test_kernels::script_kernel<typename Table::view_type, Key>{
            table.view(), o.data(), k.data(), v.data(), s.data(), {waits.data()}, rounds});
    after = v.items();
    status = s.items();
  }
};

/// Every key belongs to one lane of one warp, so that what must come of each operation is known,
/// while all lists are shared. The keys of a lane collide with those of all others.
template <class Key, class Value>
void check_owned_keys(const space& exec, std::int64_t buckets, u64 salt) {
  auto random = make_random(salt);
  script<Key, Value> all(is_emulated ? 12 : 60);
  constexpr u64 own = 3;
  for (std::int64_t w = 0; w < all.warps(); ++w) {
    for (int r = 0; r < all.rounds; ++r) {
      // Warps with all lanes, with one, with none, and with some.
      const u32 kind = static_cast<u32>(random() % 6);
      const u32 mask = kind == 0   ? ~0u
                       : kind == 1 ? 1u << random() % 32
                       : kind == 2 ? 0
                       : kind == 3 ? ~(1u << random() % 32)
                                   : static_cast<u32>(random());
      for (int l = 0; l < 32; ++l) {
        const std::size_t i = all.at(w, r, l);
        all.keys[i] = key_number<Key>(static_cast<u64>(w * 32 + l) * own + random() % own);
        all.given[i] = static_cast<Value>(random() % 1000);
        constexpr table_operation kinds[] = {table_operation::find,   table_operation::insert,
                                             table_operation::assign, table_operation::combine,
                                             table_operation::erase,  table_operation::insert};
        if ((mask >> l & 1) != 0) all.operations[i] = static_cast<u32>(kinds[random() % 6]);
      }
    }
  }
  lanewise::slab_hash_map<Key, Value, memory> map(exec, {.buckets = buckets, .units = 4096});

  all.run(exec, map);

  std::map<Key, Value> model;
  for (std::int64_t w = 0; w < all.warps(); ++w) {
    for (int r = 0; r < all.rounds; ++r) {
      for (int l = 0; l < 32; ++l) {
        const std::size_t i = all.at(w, r, l);
        if (all.operations[i] >= 100) {
          REQUIRE(all.status[i] == table_status::none);
          continue;
        }
        const auto at = model.find(all.keys[i]);
        const bool there = at != model.end();
        const Value given = all.given[i];
        table_status expected = table_status::inserted;
        Value after = given;
        switch (static_cast<table_operation>(all.operations[i])) {
          case table_operation::find:
            expected = there ? table_status::found : table_status::absent;
            if (there) after = at->second;
            break;
          case table_operation::insert:
            if (there) expected = table_status::present;
            if (there) after = at->second;
            model.emplace(all.keys[i], given);
            break;
          case table_operation::assign:
            if (there) expected = table_status::updated;
            model[all.keys[i]] = given;
            break;
          case table_operation::combine:
            if (there) expected = table_status::updated;
            model[all.keys[i]] = there ? at->second + given : given;
            break;
          default:
            expected = there ? table_status::erased : table_status::absent;
            if (there) after = at->second;
            model.erase(all.keys[i]);
        }
        REQUIRE(all.status[i] == expected);
        REQUIRE(all.after[i] == after);
      }
    }
  }
  CHECK((contents(exec, map) == std::vector<std::pair<Key, Value>>(model.begin(), model.end())));
  check_no_leak(exec, map);
  lanewise::flush(exec, map);
  CHECK(contents(exec, map).size() == model.size());
  CHECK(lanewise::statistics(exec, map).slabs <=
        4 + static_cast<std::int64_t>(model.size()) /
                lanewise::detail::slab_layout<Key, Value>::elements);
  check_no_leak(exec, map);
}

/// Everybody counts the same few keys up and erases them. No count is lost: the erased counts and
/// the counts that are left add up to all.
template <class Key, class Value>
void check_conserved_counts(const space& exec, u64 salt) {
  auto random = make_random(salt);
  script<Key, Value> all(is_emulated ? 10 : 100);
  // Either mostly counts, or mostly races to put a key there again.
  const u64 keys = 1 + random() % 7, erases = random() % 2 == 0 ? 8 : 2;
  for (std::size_t i = 0; i < all.places(); ++i) {
    all.keys[i] = key_number<Key>(random() % keys);
    all.given[i] = 1;
    all.operations[i] = static_cast<u32>(random() % erases == 0 ? table_operation::erase
                                         : random() % 4 == 0    ? table_operation::find
                                                                : table_operation::combine);
  }
  lanewise::slab_hash_map<Key, Value, memory> map(exec, {.buckets = 1, .units = 4096});

  all.run(exec, map);

  std::map<Key, u64> put, taken;
  std::map<Key, std::int64_t> alive;
  for (std::size_t i = 0; i < all.places(); ++i) {
    const Key key = all.keys[i];
    REQUIRE(all.status[i] != table_status::no_room);
    REQUIRE(all.status[i] != table_status::none);
    if (all.status[i] == table_status::inserted) ++alive[key];
    if (all.status[i] == table_status::inserted || all.status[i] == table_status::updated)
      ++put[key];
    if (all.status[i] == table_status::erased) {
      --alive[key];
      taken[key] += all.after[i];
    }
    if (all.status[i] == table_status::found) REQUIRE(all.after[i] <= all.places());
  }
  std::map<Key, u64> left;
  for (const auto& [key, value] : contents(exec, map)) {
    REQUIRE(left.emplace(key, value).second);  // once
  }
  for (const auto& [key, n] : put) {
    CHECK(alive[key] == (left.count(key) != 0 ? 1 : 0));
    CHECK(taken[key] + left[key] == n);
  }
  check_no_leak(exec, map);
}

/// Half of the operations insert keys with the values that belong to them, the others look for
/// them. Nobody sees a pair that was never put there.
template <class Key, class Value>
void check_readers(const space& exec, u64 salt) {
  auto random = make_random(salt);
  script<Key, Value> all(is_emulated ? 10 : 100);
  const auto value_of = [](Key key) { return static_cast<Value>(key * 3 + 1); };
  for (std::size_t i = 0; i < all.places(); ++i) {
    all.keys[i] = key_number<Key>(random() % 300);
    const bool looks = random() % 2 == 0;
    all.given[i] = looks ? Value{12345} : value_of(all.keys[i]);
    const table_operation puts[] = {table_operation::insert, table_operation::assign,
                                    table_operation::erase};
    all.operations[i] = static_cast<u32>(looks ? table_operation::find : puts[random() % 3]);
  }
  lanewise::slab_hash_map<Key, Value, memory> map(exec, {.buckets = 2, .units = 4096});

  all.run(exec, map);

  for (std::size_t i = 0; i < all.places(); ++i) {
    if (all.status[i] == table_status::found) REQUIRE(all.after[i] == value_of(all.keys[i]));
    if (all.status[i] == table_status::absent) REQUIRE(all.after[i] == all.given[i]);
  }
  for (const auto& [key, value] : contents(exec, map)) REQUIRE(value == value_of(key));
}

}  // namespace

TEST_CASE("Each lane finds its own keys as it left them, pairs of one word",
          "[slab_concurrent][sanitize]") {
  u64 salt = 0;
  for (const auto& exec : concurrent_spaces(5, 300)) {
    check_owned_keys<u32, u32>(exec, 3, ++salt);
    check_owned_keys<u32, u32>(exec, 1, ++salt);
  }
}
TEST_CASE("Each lane finds its own keys as it left them, pairs of two words",
          "[slab_concurrent][sanitize]") {
  u64 salt = 1000;
  for (const auto& exec : concurrent_spaces(5, 300)) check_owned_keys<u64, u64>(exec, 3, ++salt);
}
TEST_CASE("Counts are conserved while keys are counted up and erased",
          "[slab_concurrent][sanitize]") {
  u64 salt = 2000;
  for (const auto& exec : concurrent_spaces(10, 500)) {
    check_conserved_counts<u32, u32>(exec, ++salt);
    check_conserved_counts<u64, u64>(exec, ++salt);
  }
}
TEST_CASE("Readers see whole pairs", "[slab_concurrent][sanitize]") {
  u64 salt = 3000;
  for (const auto& exec : concurrent_spaces(10, 500)) {
    check_readers<u32, u32>(exec, ++salt);
    check_readers<u64, u64>(exec, ++salt);
  }
}
