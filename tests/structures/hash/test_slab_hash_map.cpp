// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/hash/slab_sort.hpp>
#include <support/oracle.hpp>

#include <catch2/matchers/catch_matchers_string.hpp>

#include <limits>
#include <structures/hash/check_slab.hpp>

// Maps against std::unordered_map, by bulk calls.

namespace {

using namespace test;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

struct add_and_double {
  template <class T>
  KOKKOS_FUNCTION T operator()(const T& there, const T& given) const {
    return static_cast<T>(there + there + given);
  }
};

/// A map and what it must hold.
template <class Key, class Value>
class pair_of_maps {
 public:
  using map = lanewise::slab_hash_map<Key, Value, memory>;

  explicit pair_of_maps(const lanewise::slab_table_options& with) : map_(exec_, with) {}

  /// One random bulk call on different keys, and its results.
  void step(random_engine& random, u64 universe) {
    const auto keys = distinct_keys<Key>(random, random() % 200, universe);
    const std::size_t n = keys.size();
    std::vector<Value> values(n);
    for (auto& v : values) v = value_number<Value>(random());
    const array<Key> k(keys);
    const array<Value> v(values);
    switch (random() % 9) {
      case 0:
        return check(keys, values, table_operation::insert, reported(n, [&](const auto& with) {
                       lanewise::insert(exec_, map_, k.const_view(), v.const_view(), with);
                     }));
      case 1:
        return check(keys, values, table_operation::assign, reported(n, [&](const auto& with) {
                       lanewise::assign(exec_, map_, k.const_view(), v.view(), with);
                     }));
      case 2:
        return check(keys, values, table_operation::combine, reported(n, [&](const auto& with) {
                       lanewise::upsert(exec_, map_, k.view(), v.const_view(), add_and_double{},
                                        with);
                     }));
      case 3:
      case 4:
        return check(keys, values, table_operation::erase, reported(n, [&](const auto& with) {
                       lanewise::erase(exec_, map_, k.const_view(), with);
                     }));
      case 5: {
        const auto result = reported(n, [&](const auto& with) {
          lanewise::find(exec_, map_, k.const_view(), v.view(), with);
        });
        return check(keys, values, table_operation::find, result, v.items());
      }
      case 6: {
        std::vector<table_operation> kinds(n);
        for (auto& o : kinds) o = static_cast<table_operation>(random() % 6);
        for (auto& o : kinds)
          if (o == table_operation::add) o = table_operation::erase;
        const array<table_operation> operations(kinds);
        const auto result = reported(n, [&](const auto& with) {
          lanewise::apply(exec_, map_, operations.const_view(), k.const_view(), v.view(), with,
                          add_and_double{});
        });
        const auto after = v.items();
        for (std::size_t i = 0; i < n; ++i)
          check_one(kinds[i], keys[i], values[i], result.status[i], after[i]);
        return;
      }
      case 7:
        if (random() % 4 == 0)
          lanewise::rehash(exec_, map_, 1 + static_cast<std::int64_t>(random() % 40));
        return lanewise::flush(exec_, map_);
      default:
        if (random() % 8 != 0) return;
        lanewise::clear(exec_, map_);
        return model_.clear();
    }
  }

  void check_contents() {
    std::vector<std::pair<Key, Value>> expected(model_.begin(), model_.end());
    std::sort(expected.begin(), expected.end());
    CHECK((contents(exec_, map_) == expected));
    check_no_leak(exec_, map_);
  }
  void check_flushed() {
    lanewise::flush(exec_, map_);
    const auto s = lanewise::statistics(exec_, map_);
    CHECK(s.deleted == 0);
    CHECK(s.elements == static_cast<std::int64_t>(model_.size()));
    const auto elements = map::layout::elements;
    CHECK(s.slabs <= s.buckets + 1 + s.elements / elements);
    check_contents();
  }

 private:
  void check(const std::vector<Key>& keys, const std::vector<Value>& given, table_operation kind,
             const outcome& got, const std::vector<Value>& after = {}) {
    for (std::size_t i = 0; i < keys.size(); ++i)
      check_one(kind, keys[i], given[i], got.status[i], after.empty() ? Value{} : after[i]);
  }
  void check_one(table_operation kind, Key key, Value given, table_status got, Value after) {
    const auto at = model_.find(key);
    const bool there = at != model_.end();
    table_status expected = table_status::absent;
    switch (kind) {
      case table_operation::insert:
        expected = there ? table_status::present : table_status::inserted;
        model_.emplace(key, given);
        break;
      case table_operation::assign:
      case table_operation::combine:
        expected = there ? table_status::updated : table_status::inserted;
        model_[key] =
            there && kind == table_operation::combine ? add_and_double{}(at->second, given) : given;
        break;
      case table_operation::erase:
        if (there) expected = table_status::erased;
        model_.erase(key);
        break;
      default:
        if (there) expected = table_status::found;
        REQUIRE(after == (there ? at->second : given));
    }
    REQUIRE(got == expected);
  }

  space exec_ = make_space();
  map map_;
  std::unordered_map<Key, Value> model_;
};

template <class Key, class Value>
void check_random_sequences(std::int64_t buckets, u64 universe, u64 salt) {
  auto random = make_random(salt);
  for (int sequence = 0; sequence < (full() ? 20 : 2); ++sequence) {
    pair_of_maps<Key, Value> maps({.buckets = buckets, .units = 1});
    for (int i = 0; i < (is_emulated ? 40 : 150); ++i) {
      maps.step(random, universe);
      if (i % 16 == 0) maps.check_contents();
    }
    maps.check_flushed();
  }
}

template <class Key, class Value>
void check_orders() {
  const auto exec = make_space();
  const u32 n = is_emulated ? 9'000 : 120'000;
  std::vector<Key> keys(n);
  std::vector<Value> values(n);
  for (u32 i = 0; i < n; ++i) {
    keys[i] = key_number<Key>(i % (n - 100));
    values[i] = value_number<Value>(i);
  }
  const array<Key> k(keys);
  const array<Value> v(values);
  for (const auto order : {lanewise::slab_order::as_given, lanewise::slab_order::by_region,
                           lanewise::slab_order::automatic}) {
    const lanewise::slab_sorted sorted{.order = order};
    const array<Value> found(n, Value{77});
    // 1000 lists make 251 regions; and the pool has to grow.
    lanewise::slab_hash_map<Key, Value, memory> map(exec, {.buckets = 1000, .units = 1});
    const auto twice = [&](const auto& with) {
      lanewise::upsert(exec, map, k.const_view(), v.const_view(), lanewise::maximum{}, with);
    };

    const auto put = reported(n, twice, sorted);
    lanewise::find(exec, map, k.const_view(), found.view(), sorted);
    const auto erased = reported(
        n, [&](const auto& with) { lanewise::erase(exec, map, k.const_view(), with); }, sorted);

    CHECK(put.tally[table_status::inserted] == n - 100);
    CHECK(put.tally[table_status::updated] == 100);
    CHECK(erased.tally[table_status::erased] == n - 100);
    const auto values_found = found.items();
    for (u32 i = 0; i < n; ++i) {
      const u32 other = i < 100 ? i + (n - 100) : (i >= n - 100 ? i - (n - 100) : i);
      REQUIRE(values_found[i] == std::max(values[i], values[other]));
      if (i >= 100 && i < n - 100) {
        REQUIRE(put.status[i] == table_status::inserted);
        REQUIRE(erased.status[i] == table_status::erased);
      }
    }
    CHECK(found.guards_intact());
    CHECK(lanewise::statistics(exec, map).elements == 0);

    // Without statuses values are sorted with the keys, and keys alone.
    lanewise::insert(exec, map, k.const_view(), v.const_view(), sorted);
    CHECK(lanewise::statistics(exec, map).elements == n - 100);
    lanewise::find(exec, map, k.const_view(), found.view(), sorted);
    const auto found_again = found.items();
    for (u32 i = 0; i < n; ++i) {
      const u32 other = i < 100 ? i + (n - 100) : (i >= n - 100 ? i - (n - 100) : i);
      REQUIRE((found_again[i] == values[i] || found_again[i] == values[other]));
    }
    lanewise::erase(exec, map, k.const_view(), sorted);
    CHECK(lanewise::statistics(exec, map).elements == 0);
  }
}

}  // namespace

TEST_CASE("Random calls on maps of 4-byte keys and values agree with unordered_map",
          "[slab_hash_map][sanitize]") {
  check_random_sequences<u32, u32>(10, 400, 1);
}
TEST_CASE("Random calls on maps of 8-byte keys and values agree with unordered_map",
          "[slab_hash_map][sanitize]") {
  check_random_sequences<u64, u64>(10, 400, 3);
}
#if !defined(LANEWISE_TEST_FEW_TYPES)
TEST_CASE("Random calls on maps of mixed sizes agree with unordered_map", "[slab_hash_map]") {
  check_random_sequences<u32, double>(10, 400, 4);
  check_random_sequences<u64, u32>(10, 400, 5);
}
#endif
TEST_CASE("Random calls on maps with colliding keys agree with unordered_map", "[slab_hash_map]") {
  check_random_sequences<u32, u32>(1, 300, 6);
}

TEST_CASE("A map grows while a bulk call fills it", "[slab_hash_map]") {
  const auto exec = make_space();
  const u32 n = is_emulated ? 20'000 : 300'000;
  std::vector<u32> keys(n), values(n);
  for (u32 i = 0; i < n; ++i) {
    keys[i] = i * 2654435761u;
    values[i] = i;
  }
  const array<u32> k(keys), v(values), out(n, 77u);
  lanewise::slab_hash_map<u32, u32, memory> map(exec, {.buckets = n / 100, .units = 1});
  lanewise::workspace work;

  lanewise::insert(exec, map, k.const_view(), v.const_view(), {.work = &work});
  lanewise::find(exec, map, k.const_view(), out.view());

  CHECK(out.items() == values);
  const auto s = lanewise::statistics(exec, map);
  CHECK(s.elements == n);
  CHECK(s.units > 1024);
  // 100 to a bucket on average; utilisation as the model of 15 to a slab has it.
  CHECK(s.utilisation > 0.85);
  CHECK(s.utilisation < 0.9375);
  check_no_leak(exec, map);
}

TEST_CASE("Calls give the same results whatever order they work in", "[slab_hash_map]") {
  check_orders<u32, u32>();
  check_orders<u64, u64>();
}

TEST_CASE("A full pool is reported item by item, and what is there stays", "[slab_hash_map]") {
  const auto exec = make_space();
  const u32 n = 30'000;
  std::vector<u32> keys(n);
  for (u32 i = 0; i < n; ++i) keys[i] = i;
  const array<u32> k(keys), v(keys);
  lanewise::slab_hash_map<u32, u32, memory> few(exec, {.buckets = 1, .units = 1});
  lanewise::slab_hash_map<u32, u32, memory> map(exec, {.buckets = 1, .units = 1});
  const auto check = [&](auto& table, std::size_t items) {
    const auto result = reported(items, [&](lanewise::slab_options with) {
      with.grow = false;
      lanewise::insert(exec, table,
                       Kokkos::subview(k.const_view(), std::make_pair(std::size_t{0}, items)),
                       v.const_view(), with);
    });
    const auto inserted =
        std::count(result.status.begin(), result.status.end(), table_status::inserted);
    const auto refused =
        std::count(result.status.begin(), result.status.end(), table_status::no_room);
    CHECK(inserted + refused == static_cast<std::int64_t>(items));
    CHECK(inserted == std::min<std::int64_t>(15 * (1024 + 1), static_cast<std::int64_t>(items)));
    CHECK(result.tally[table_status::no_room] == static_cast<u64>(refused));
    CHECK(lanewise::statistics(exec, table).elements == inserted);
    check_no_leak(exec, table);
  };
  check(few, is_emulated ? 1000 : 3000);  // walks along one list
  if (!is_emulated) check(map, n);
}

TEST_CASE("Of many pairs with one key, insert keeps one and assign keeps one",
          "[slab_hash_map][sanitize]") {
  for (const auto& exec : concurrent_spaces(4, 40)) {
    const u32 n = is_emulated ? 600 : 50'000, distinct = 37;
    std::vector<u64> keys(n), values(n);
    for (u32 i = 0; i < n; ++i) {
      keys[i] = key_number<u64>(i % distinct);
      values[i] = 1000 + i;
    }
    const array<u64> k(keys), v(values), out(distinct, u64{0});
    lanewise::slab_hash_map<u64, u64, memory> inserted(exec, {.buckets = 2, .units = 1}),
        assigned(exec, {.buckets = 2, .units = 1});

    const auto first = reported(n, [&](const auto& with) {
      lanewise::insert(exec, inserted, k.const_view(), v.const_view(), with);
    });
    const auto second = reported(n, [&](const auto& with) {
      lanewise::assign(exec, assigned, k.const_view(), v.const_view(), with);
    });

    CHECK(first.tally[table_status::inserted] == distinct);
    CHECK(first.tally[table_status::present] == n - distinct);
    CHECK(second.tally[table_status::inserted] == distinct);
    CHECK(second.tally[table_status::updated] == n - distinct);
    for (const auto& [key, value] : contents(exec, inserted)) {
      // The one whose insertion was reported.
      REQUIRE(keys[value - 1000] == key);
      REQUIRE(first.status[value - 1000] == table_status::inserted);
    }
    CHECK(contents(exec, assigned).size() == distinct);
    for (const auto& [key, value] : contents(exec, assigned)) REQUIRE(keys[value - 1000] == key);
  }
}

TEST_CASE("Calls on maps refuse what they cannot do", "[slab_hash_map]") {
  using Catch::Matchers::ContainsSubstring;
  const auto exec = make_space();
  using map_type = lanewise::slab_hash_map<u32, u32, memory>;
  map_type map(exec, {.expected = 100});
  const array<u32> keys(10, 1u), values(9, 2u);
  const array<table_status> status(9, table_status::none);
  CHECK_THROWS_WITH(lanewise::insert(exec, map, keys.const_view(), values.const_view()),
                    ContainsSubstring("insert: values has 9 items, keys has 10"));
  CHECK_THROWS_WITH(
      lanewise::find(exec, map, keys.const_view(), std::nullopt, {.status = status.view()}),
      ContainsSubstring("options.status has 9 places, there are 10 items"));
  CHECK(lanewise::statistics(exec, map).elements == 0);
}

TEST_CASE("Views without memory are refused by all calls on maps", "[slab_hash_map]") {
  const auto exec = make_space();
  lanewise::slab_hash_map<u32, u32, memory> map(exec, {.expected = 100});
  const array<u32> some(4, 1u);
  const array<table_operation> operations(4, table_operation::insert);
  const array<u32>::view_type none(nullptr, 4), empty(nullptr, 0);
  const array<table_operation>::view_type no_operations(nullptr, 4);
  const array<table_status>::view_type no_status(nullptr, 4);
  const Kokkos::View<lanewise::status_counts, memory> no_tally;
  const auto k = some.const_view();
  const auto v = some.view();
  const auto text = [](const char* call, const char* which) {
    return lanewise::detail::message("lanewise::", call, ": ", which, " has 4 items and no memory");
  };
  const auto keys = [&](const char* call) { return text(call, "keys"); };
  const auto values = [&](const char* call) { return text(call, "values"); };

  CHECK(refusal([&] { lanewise::insert(exec, map, none, k); }) == keys("insert"));
  CHECK(refusal([&] { lanewise::assign(exec, map, none, k); }) == keys("assign"));
  CHECK(refusal([&] { lanewise::upsert(exec, map, none, k, add_and_double{}); }) == keys("upsert"));
  CHECK(refusal([&] { lanewise::find(exec, map, none, v); }) == keys("find"));
  CHECK(refusal([&] { lanewise::find(exec, map, none); }) == keys("find"));
  CHECK(refusal([&] { lanewise::erase(exec, map, none); }) == keys("erase"));
  CHECK(refusal([&] { lanewise::apply(exec, map, operations.view(), none, v); }) == keys("apply"));

  CHECK(refusal([&] { lanewise::insert(exec, map, k, none); }) == values("insert"));
  CHECK(refusal([&] { lanewise::assign(exec, map, k, none); }) == values("assign"));
  CHECK(refusal([&] { lanewise::upsert(exec, map, k, none, add_and_double{}); }) ==
        values("upsert"));
  CHECK(refusal([&] { lanewise::find(exec, map, k, none); }) == values("find"));
  CHECK(refusal([&] { lanewise::apply(exec, map, operations.view(), k, none); }) ==
        values("apply"));
  CHECK(refusal([&] { lanewise::apply(exec, map, no_operations, k, v); }) ==
        text("apply", "operations"));

  // An option View without memory is one of no places.
  const std::string status = ": options.status has 0 places, there are 4 items";
  const std::string tally = ": the View given as options.tally has no memory";
  CHECK(refusal([&] { lanewise::insert(exec, map, k, k, {.status = no_status}); }) ==
        "lanewise::insert" + status);
  CHECK(refusal([&] { lanewise::find(exec, map, k, std::nullopt, {.status = no_status}); }) ==
        "lanewise::find" + status);
  CHECK(refusal([&] { lanewise::erase(exec, map, k, {.status = no_status}); }) ==
        "lanewise::erase" + status);
  CHECK(refusal([&] { lanewise::insert(exec, map, k, k, {.tally = no_tally}); }) ==
        "lanewise::insert" + tally);
  CHECK(refusal([&] { lanewise::find(exec, map, k, std::nullopt, {.tally = no_tally}); }) ==
        "lanewise::find" + tally);

  exec.fence();
  CHECK(some.unchanged());
  CHECK(lanewise::statistics(exec, map).elements == 0);
  // No items need no memory.
  lanewise::insert(exec, map, empty, empty);
  lanewise::find(exec, map, empty, empty, {.status = no_status});
  CHECK(lanewise::statistics(exec, map).elements == 0);
}

TEST_CASE("Sizes of tables that cannot be are refused with the name and the value",
          "[slab_hash_map]") {
  const auto exec = make_space();
  using map_type = lanewise::slab_hash_map<u32, u32, memory>;
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  const auto refused = [&](const lanewise::slab_table_options& with) {
    const std::string text = refusal([&] { map_type(exec, with); });
    const std::string begin = "lanewise::slab_hash_table: options.";
    return text.rfind(begin, 0) == 0 ? text.substr(begin.size()) : text;
  };
  const std::string load_must = ", it must be 0.001 to 100";
  CHECK(refused({.load = std::numeric_limits<double>::infinity()}) == "load is inf" + load_must);
  CHECK(refused({.load = std::numeric_limits<double>::quiet_NaN()}) == "load is nan" + load_must);
  CHECK(refused({.load = 1e300}) == "load is 1e+300" + load_must);
  CHECK(refused({.load = 1e-300}) == "load is 1e-300" + load_must);
  CHECK(refused({.load = 0}) == "load is 0" + load_must);
  CHECK(refused({.load = -1, .buckets = 7}) == "load is -1" + load_must);
  CHECK(refused({.expected = -1}) == "expected is -1, it must be 0 to 9223372036854775807");
  CHECK(refused({.expected = most}) ==
        "expected is 9223372036854775807, which takes 9.45987e+17 buckets at load 0.65, the most "
        "is 4294967040");
  CHECK(refused({.expected = 1'000'000'000, .load = 0.001}) ==
        "expected is 1000000000, which takes 6.66667e+10 buckets at load 0.001, the most is "
        "4294967040");
  CHECK(refused({.buckets = -5}) == "buckets is -5, it must be 0 to 4294967040");
  CHECK(refused({.buckets = std::int64_t{1} << 32}) ==
        "buckets is 4294967296, it must be 0 to 4294967040");
  CHECK(refused({.units = -1}) == "units is -1, it must be 0 to 4294966272");
  CHECK(refused({.units = most}) == "units is 9223372036854775807, it must be 0 to 4294966272");

  map_type map(exec, {.expected = 100});
  for (const std::int64_t buckets :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 32, most})
    CHECK(refusal([&] { lanewise::rehash(exec, map, buckets); }) ==
          lanewise::detail::message("lanewise::rehash: buckets is ", buckets,
                                    ", it must be 1 to 4294967040"));
}

TEST_CASE("Loads at both bounds make tables that can be filled", "[slab_hash_map]") {
  const auto exec = make_space();
  const u32 n = is_emulated ? 1000 : 20'000;
  std::vector<u32> keys(n);
  for (u32 i = 0; i < n; ++i) keys[i] = i;
  const array<u32> k(keys);
  using limits = lanewise::slab_table_options;
  for (const double load : {limits::least_load, limits::most_load}) {
    lanewise::slab_hash_map<u32, u32, memory> map(exec, {.load = load});
    lanewise::insert(exec, map, k.const_view(), k.const_view());
    CHECK(lanewise::statistics(exec, map).elements == n);
  }
}

TEST_CASE("A map that was moved from is refused", "[slab_hash_map]") {
  const auto exec = make_space();
  using map_type = lanewise::slab_hash_map<u32, u32, memory>;
  map_type map(exec, {.expected = 100});
  const array<u32> k(4, 1u), no_keys(0, 1u), found(4, 0u);
  lanewise::insert(exec, map, k.const_view(), k.const_view());
  map_type other = std::move(map);
  const std::string text = "lanewise::slab_hash_table: the table has no memory: it was moved from";

  CHECK(refusal([&] { (void)map.view(); }) == text);
  CHECK(refusal([&] { (void)map.pool(); }) == text);
  CHECK(refusal([&] { (void)map.heads(); }) == text);
  CHECK(refusal([&] { lanewise::insert(exec, map, k.const_view(), k.const_view()); }) == text);
  CHECK(refusal([&] { lanewise::insert(exec, map, no_keys.const_view(), no_keys.const_view()); }) ==
        text);
  CHECK(refusal([&] { lanewise::find(exec, map, k.const_view(), found.view()); }) == text);
  CHECK(refusal([&] { lanewise::erase(exec, map, k.const_view()); }) == text);
  CHECK(refusal([&] { lanewise::flush(exec, map); }) == text);
  CHECK(refusal([&] { lanewise::clear(exec, map); }) == text);
  CHECK(refusal([&] { lanewise::rehash(exec, map, 10); }) == text);
  CHECK(refusal([&] { (void)lanewise::statistics(exec, map); }) == text);
  CHECK(refusal([&] { (void)contents(exec, map); }) == text);
  CHECK(refusal([&] { (void)map.copy_to<memory>(exec); }) == text);

  map = std::move(other);
  CHECK(contents(exec, map) == std::vector<std::pair<u32, u32>>{{1, 1}});
}
