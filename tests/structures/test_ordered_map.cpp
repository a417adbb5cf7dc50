// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/ordered_map.hpp>

#include <catch2/matchers/catch_matchers_string.hpp>

#include <structures/check_ordered.hpp>

// Ordered maps against std::map.

namespace {

using namespace test;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

struct add_up {
  template <class T>
  KOKKOS_FUNCTION T operator()(const T& there, const T& given) const {
    return static_cast<T>(there + given);
  }
};
/// Associative, and does not commute.
struct take_given {
  template <class T>
  KOKKOS_FUNCTION T operator()(const T&, const T& given) const {
    return given;
  }
};

/// A map and what it must hold.
template <class Key, class Value>
class ordered_pair_of_maps {
 public:
  using map = lanewise::ordered_map<Key, Value, memory>;
  using items = std::vector<std::pair<Key, Value>>;

  explicit ordered_pair_of_maps(random_engine& random) : random_(random) {}

  const std::map<Key, Value>& model() const { return model_; }
  map& table() { return map_; }

  void insert(const items& given) {
    const auto result = call(given, [&](const auto& k, const auto& v, const auto& with) {
      lanewise::insert(exec_, map_, k.const_view(), v.const_view(), with);
    });
    each(given, result, [&](Key key, Value value) {
      return model_.emplace(key, value).second ? slab_status::inserted : slab_status::present;
    });
  }
  void assign(const items& given) {
    const auto result = call(given, [&](const auto& k, const auto& v, const auto& with) {
      lanewise::assign(exec_, map_, k.view(), v.view(), with);
    });
    each(given, result, [&](Key key, Value value) {
      return model_.insert_or_assign(key, value).second ? slab_status::inserted
                                                        : slab_status::updated;
    });
  }
  template <class Combine>
  void upsert(const items& given, const Combine& combine) {
    const auto result = call(given, [&](const auto& k, const auto& v, const auto& with) {
      lanewise::upsert(exec_, map_, k.view(), v.view(), combine, with);
    });
    each(given, result, [&](Key key, Value value) {
      const auto at = model_.find(key);
      if (at == model_.end()) {
        model_[key] = value;
        return slab_status::inserted;
      }
      at->second = combine(at->second, value);
      return slab_status::updated;
    });
  }
  void erase(const items& given) {
    const auto result = call(given, [&](const auto& k, const auto&, const auto& with) {
      lanewise::erase(exec_, map_, k.view(), with);
    });
    each(given, result, [&](Key key, Value) {
      return model_.erase(key) > 0 ? slab_status::erased : slab_status::absent;
    });
  }
  void apply(const items& given) {
    static constexpr slab_operation all[] = {slab_operation::find, slab_operation::insert,
                                             slab_operation::assign, slab_operation::combine,
                                             slab_operation::erase};
    std::vector<slab_operation> kinds;
    for (std::size_t i = 0; i < given.size(); ++i) kinds.push_back(all[random_() % 5]);
    const array<slab_operation> operations(kinds);
    std::vector<Value> after;
    const auto result = call(given, [&](const auto& k, const auto& v, const auto& with) {
      lanewise::apply(exec_, map_, operations.const_view(), k.view(), v.view(), with, add_up{});
      after = v.items();
    });
    for (std::size_t i = 0; i < given.size(); ++i) {
      const auto [key, value] = given[i];
      const auto at = model_.find(key);
      const bool there = at != model_.end();
      slab_status expected = there ? slab_status::updated : slab_status::inserted;
      Value expected_value = value;
      switch (kinds[i]) {
        case slab_operation::find:
          expected = there ? slab_status::found : slab_status::absent;
          if (there) expected_value = at->second;
          break;
        case slab_operation::insert:
          if (there) expected = slab_status::present;
          model_.emplace(key, value);
          break;
        case slab_operation::assign:
          model_[key] = value;
          break;
        case slab_operation::combine:
          model_[key] = there ? add_up{}(at->second, value) : value;
          break;
        default:
          expected = there ? slab_status::erased : slab_status::absent;
          model_.erase(key);
      }
      REQUIRE(result.status[i] == expected);
      REQUIRE(after[i] == expected_value);
    }
  }
  void erase_range(Key first, Key last) {
    const auto number = lanewise::erase_range(exec_, map_, first, last);
    std::int64_t expected = 0;
    if (first <= last) {
      const auto begin = model_.lower_bound(first), end = model_.upper_bound(last);
      expected = std::distance(begin, end);
      model_.erase(begin, end);
    }
    CHECK(number == expected);
  }
  void pop_first(std::int64_t k) {
    const array<Key> keys(k, Key{});
    const array<Value> values(k, Value{});
    const auto number = lanewise::pop_first(exec_, map_, k, keys.view(), values.view());
    REQUIRE(number == std::min(k, static_cast<std::int64_t>(model_.size())));
    const auto got = keys.items();
    const auto got_values = values.items();
    for (std::int64_t i = 0; i < number; ++i) {
      REQUIRE(got[static_cast<std::size_t>(i)] == model_.begin()->first);
      REQUIRE(got_values[static_cast<std::size_t>(i)] == model_.begin()->second);
      model_.erase(model_.begin());
    }
    CHECK((keys.guards_intact() && values.guards_intact()));
  }

  /// The next of a random history.
  void step(u64 universe) {
    const auto given =
        random_items(random_() % 4 == 0 ? random_() % 400 : random_() % 40, universe);
    switch (random_() % 10) {
      case 0:
      case 1:
        return insert(given);
      case 2:
        return assign(given);
      case 3:
        return upsert(given, add_up{});
      case 4:
        return upsert(given, take_given{});
      case 5:
      case 6:
        return erase(given);
      case 7:
        return apply(given);
      case 8:
        return pop_first(static_cast<std::int64_t>(random_() % 40));
      default:
        return erase_range(key_number<Key>(random_() % universe),
                           key_number<Key>(random_() % universe));
    }
  }
  items random_items(std::size_t n, u64 universe) {
    items given;
    for (std::size_t i = 0; i < n; ++i)
      given.emplace_back(key_number<Key>(random_() % universe), value_number<Value>(random_()));
    return given;
  }
  void check() {
    check_ordered_contents(exec_, map_, items(model_.begin(), model_.end()));
    check_ordered_queries(exec_, map_, model_, random_);
  }

 private:
  template <class F>
  outcome call(const items& given, const F& f) {
    std::vector<Key> keys;
    std::vector<Value> values;
    for (const auto& [k, v] : given) {
      keys.push_back(k);
      values.push_back(v);
    }
    const array<Key> k(keys);
    const array<Value> v(values);
    return reported(
        keys.size(), [&](const auto& with) { f(k, v, with); }, lanewise::ordered_options{});
  }
  template <class F>
  void each(const items& given, const outcome& result, const F& f) {
    for (std::size_t i = 0; i < given.size(); ++i)
      REQUIRE(result.status[i] == f(given[i].first, given[i].second));
  }

  random_engine& random_;
  space exec_ = make_space();
  map map_;
  std::map<Key, Value> model_;
};

template <class Key, class Value>
void check_histories(u64 universe, u64 salt) {
  auto random = make_random(salt);
  for (int history = 0; history < (full() ? 10 : 2); ++history) {
    ordered_pair_of_maps<Key, Value> maps(random);
    for (int i = 0; i < (is_emulated ? 40 : 120); ++i) {
      maps.step(universe);
      maps.check();
    }
  }
}

TEST_CASE("ordered_map: random histories of batches [sanitize]", "[ordered]") {
  check_histories<u32, u32>(150, 1);
  check_histories<u32, u32>(3000, 2);
}
TEST_CASE("ordered_map: histories of wide and of mixed pairs", "[ordered]") {
  check_histories<u64, u64>(600, 3);
  check_histories<u32, u64>(600, 4);
}

TEST_CASE("ordered_map: sizes around leaves, in every order", "[ordered]") {
  auto random = make_random(5);
  std::vector<std::size_t> sizes = {0, 1, 2, 15, 16, 17, 31, 32, 33, 256, 257, 273};
  if (!is_emulated) sizes.insert(sizes.end(), {4097, 70'001});
  for (const std::size_t n : sizes) {
    for (int order = 0; order < 4; ++order) {
      ordered_pair_of_maps<u32, u32> maps(random);
      ordered_pair_of_maps<u32, u32>::items given;
      for (std::size_t i = 0; i < n; ++i) {
        const auto k = static_cast<u32>(order == 0   ? 2 * i
                                        : order == 1 ? ~u32{0} - i
                                        : order == 2 ? 77
                                                     : random());
        given.emplace_back(k, static_cast<u32>(i));
      }
      maps.insert(given);
      maps.check();
      maps.upsert(given, add_up{});
      maps.check();
      // All keys in the range of one leaf.
      ordered_pair_of_maps<u32, u32>::items between;
      for (u32 i = 0; i < 100; ++i) between.emplace_back(1'000'000 + 2 * i + 1, i);
      maps.insert(between);
      maps.check();
      maps.erase(given);
      maps.check();
      maps.insert(given);
      maps.check();
      maps.erase_range(0, ~u32{0});
      CHECK(maps.table().size() == 0);
      maps.insert(given);
      maps.check();
    }
  }
}

TEST_CASE("ordered_map: building", "[ordered]") {
  const auto exec = make_space();
  auto random = make_random(6);
  using map = lanewise::ordered_map<u32, u32, memory>;
  using Catch::Matchers::ContainsSubstring;
  for (const std::size_t n : {0, 1, 16, 17, 1000, is_emulated ? 3000 : 50'000}) {
    std::vector<u32> keys, values;
    std::map<u32, u32> first, last;
    for (std::size_t i = 0; i < n; ++i) {
      keys.push_back(static_cast<u32>(random() % (n + 7)));
      values.push_back(static_cast<u32>(random()));
      first.emplace(keys.back(), values.back());
      last[keys.back()] = values.back();
    }
    const array<u32> k(keys), v(values);
    map built;
    lanewise::build(exec, built, k.const_view(), v.const_view());
    check_ordered_contents(exec, built, {first.begin(), first.end()});
    lanewise::build(exec, built, k.view(), v.view(),
                    {.duplicates = lanewise::ordered_duplicates::last});
    check_ordered_contents(exec, built, {last.begin(), last.end()});
    if (first.size() < n) {
      CHECK_THROWS_WITH(lanewise::build(exec, built, k.view(), v.view(),
                                        {.duplicates = lanewise::ordered_duplicates::refused}),
                        ContainsSubstring("build: keys has " + std::to_string(n) +
                                          " items, of which " + std::to_string(first.size())));
      check_ordered_contents(exec, built, {last.begin(), last.end()});
    }
    keys.clear();
    values.clear();
    for (const auto& [x, y] : last) {
      keys.push_back(x);
      values.push_back(y);
    }
    map sorted;
    lanewise::build_sorted(exec, sorted, array<u32>(keys).view(), array<u32>(values).view());
    check_ordered_contents(exec, sorted, {last.begin(), last.end()});
    if (keys.size() > 20) {
      keys[20] = keys[19];
      CHECK_THROWS_WITH(
          lanewise::build_sorted(exec, sorted, array<u32>(keys).view(), array<u32>(values).view()),
          ContainsSubstring("build_sorted: keys(20) is not greater than keys(19)"));
      // Unchecked, nothing but results may suffer.
      std::shuffle(keys.begin(), keys.end(), random);
      lanewise::build_sorted(exec, sorted, array<u32>(keys).view(), array<u32>(values).view(),
                             {.checked = false});
      const array<u32> found(static_cast<std::int64_t>(keys.size()), 0u);
      lanewise::find(exec, sorted, array<u32>(keys).view(), found.view());
      lanewise::erase(exec, sorted, array<u32>(keys).view());
      CHECK(found.guards_intact());
    }
    const auto s = lanewise::statistics(built);
    CHECK(s.elements == static_cast<std::int64_t>(last.size()));
    CHECK(s.leaves == (s.elements + 15) / 16);
    if (s.elements > 1000) CHECK(s.bytes_per_element < 8.4);
  }
}

TEST_CASE("ordered_map: the thesis's tree and the author's vectors", "[ordered]") {
  auto random = make_random(7);
  for (const std::vector<u32>& keys :
       {std::vector<u32>{1, 3, 5, 6, 7, 8, 9, 12}, std::vector<u32>{3, 1, 6, 5},
        std::vector<u32>{6, 3, 1, 5, 7, 4, 0}, std::vector<u32>{7, 0, 3, 5, 7, 4, 0},
        std::vector<u32>{253, 13, 251, 15}, std::vector<u32>{182, 41, 46, 59},
        std::vector<u32>{950, 16311, 16169}, std::vector<u32>{}, std::vector<u32>{2},
        std::vector<u32>{2, 3}, std::vector<u32>{2, 13, 251, 190, 15}, std::vector<u32>{0, 1, 8},
        std::vector<u32>{0, ~u32{0}}, std::vector<u32>{8, 9}}) {
    ordered_pair_of_maps<u32, u32> maps(random);
    for (const u32 k : keys) {
      maps.insert({{k, k + 1}});
      maps.check();
    }
  }
  const auto exec = make_space();
  lanewise::ordered_map<u32, u32, memory> map;
  const array<u32> keys(std::vector<u32>{1, 3, 5, 6, 7, 8, 9, 12});
  lanewise::build_sorted(exec, map, keys.view(), keys.view());
  const array<u32> queries(std::vector<u32>{4, 11, 0, 10, 13});
  const array<u32> found(5, 99u), values(5, 99u);
  lanewise::predecessor(exec, map, queries.view(), found.view(), values.view());
  CHECK((found.items() == std::vector<u32>{3, 9, 99, 9, 12}));
  CHECK(found.items() == values.items());
  const array<u32> above(5, 99u);
  lanewise::successor(exec, map, queries.view(), above.view());
  CHECK((above.items() == std::vector<u32>{5, 12, 1, 12, 99}));
}

TEST_CASE("ordered_map: a copy is a snapshot", "[ordered]") {
  const auto exec = make_space();
  const std::vector<u32> some = {5, 1, 9, 3}, others = {2, 5, 7};
  lanewise::ordered_map<u32, u32, memory> map;
  lanewise::insert(exec, map, array<u32>(some).view(), array<u32>(some).view());
  const auto before = map;
  lanewise::erase(exec, map, array<u32>(others).view());
  lanewise::insert(exec, map, array<u32>(others).view(), array<u32>(others).view());
  check_ordered_contents(exec, before, {{1, 1}, {3, 3}, {5, 5}, {9, 9}});
  check_ordered_contents(exec, map, {{1, 1}, {2, 2}, {3, 3}, {5, 5}, {7, 7}, {9, 9}});
  const auto on_host = map.template copy_to<Kokkos::HostSpace>(exec);
  CHECK(on_host.size() == 6);
#if defined(LANEWISE_TEST_SPACE_CUDA)
  const auto back = on_host.template copy_to<memory>(exec);
  check_ordered_contents(exec, back, {{1, 1}, {2, 2}, {3, 3}, {5, 5}, {7, 7}, {9, 9}});
#endif
  lanewise::clear(exec, map);
  check_ordered_contents(exec, map, {});
  CHECK(!lanewise::first(exec, map).has_value());
}

TEST_CASE("ordered_map: floating-point and signed keys", "[ordered]") {
  const auto exec = make_space();
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  const array<float> keys(std::vector<float>{1.5f, nan, -0.0f, 0.0f, -infinity, infinity, -2.5f});
  const array<std::int32_t> values(std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6});
  lanewise::ordered_map<float, std::int32_t, memory> map;
  lanewise::insert(exec, map, keys.view(), values.view());
  const array<std::int32_t> in_order(7, 0);
  const array<float> keys_out(7, 0.0f);
  CHECK(lanewise::to_sorted(exec, map, keys_out.view(), in_order.view()) == 7);
  CHECK((in_order.items() == std::vector<std::int32_t>{4, 6, 2, 3, 0, 5, 1}));
  CHECK(lanewise::first(exec, map)->key == -infinity);
  CHECK(lanewise::last(exec, map)->value == 1);
}

TEST_CASE("ordered_map: errors of callers", "[ordered]") {
  using Catch::Matchers::ContainsSubstring;
  const auto exec = make_space();
  lanewise::ordered_map<u32, u32, memory> map;
  const array<u32> three(std::vector<u32>{1, 2, 3}), two(std::vector<u32>{1, 2});
  const array<slab_status> status(2, slab_status::none);
  CHECK_THROWS_WITH(lanewise::insert(exec, map, three.view(), two.view()),
                    ContainsSubstring("insert: values has 2 items, keys has 3"));
  CHECK_THROWS_WITH(
      lanewise::insert(exec, map, three.view(), three.view(), {.status = status.view()}),
      ContainsSubstring("insert: options.status has 2 places, there are 3"));
  CHECK_THROWS_WITH(lanewise::find(exec, map, three.view(), two.view()),
                    ContainsSubstring("find: values has 2 items, keys has 3"));
  CHECK_THROWS_WITH(lanewise::pop_first(exec, map, -1, two.view()),
                    ContainsSubstring("pop_first: k is -1"));
  const Kokkos::View<u32*, memory, Kokkos::MemoryUnmanaged> nowhere(nullptr, 3);
  CHECK_THROWS_WITH(lanewise::erase(exec, map, nowhere), ContainsSubstring("erase: keys"));
  CHECK(map.size() == 0);
}

}  // namespace
