// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/ordered/ordered_map.hpp>

#include <structures/ordered/check_ordered.hpp>

// Random histories of bulk calls on ordered maps against std::map.

namespace test {

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
      return model_.emplace(key, value).second ? table_status::inserted : table_status::present;
    });
  }
  void assign(const items& given) {
    const auto result = call(given, [&](const auto& k, const auto& v, const auto& with) {
      lanewise::assign(exec_, map_, k.view(), v.view(), with);
    });
    each(given, result, [&](Key key, Value value) {
      return model_.insert_or_assign(key, value).second ? table_status::inserted
                                                        : table_status::updated;
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
        return table_status::inserted;
      }
      at->second = combine(at->second, value);
      return table_status::updated;
    });
  }
  void erase(const items& given) {
    const auto result = call(given, [&](const auto& k, const auto&, const auto& with) {
      lanewise::erase(exec_, map_, k.view(), with);
    });
    each(given, result, [&](Key key, Value) {
      return model_.erase(key) > 0 ? table_status::erased : table_status::absent;
    });
  }
  void apply(const items& given) {
    static constexpr table_operation all[] = {table_operation::find, table_operation::insert,
                                              table_operation::assign, table_operation::combine,
                                              table_operation::erase};
    std::vector<table_operation> kinds;
    for (std::size_t i = 0; i < given.size(); ++i) kinds.push_back(all[random_() % 5]);
    const array<table_operation> operations(kinds);
    std::vector<Value> after;
    const auto result = call(given, [&](const auto& k, const auto& v, const auto& with) {
      lanewise::apply(exec_, map_, operations.const_view(), k.view(), v.view(), with, add_up{});
      after = v.items();
    });
    for (std::size_t i = 0; i < given.size(); ++i) {
      const auto [key, value] = given[i];
      const auto at = model_.find(key);
      const bool there = at != model_.end();
      table_status expected = there ? table_status::updated : table_status::inserted;
      Value expected_value = value;
      switch (kinds[i]) {
        case table_operation::find:
          expected = there ? table_status::found : table_status::absent;
          if (there) expected_value = at->second;
          break;
        case table_operation::insert:
          if (there) expected = table_status::present;
          model_.emplace(key, value);
          break;
        case table_operation::assign:
          model_[key] = value;
          break;
        case table_operation::combine:
          model_[key] = there ? add_up{}(at->second, value) : value;
          break;
        default:
          expected = there ? table_status::erased : table_status::absent;
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
  void step(std::uint64_t universe) {
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
  items random_items(std::size_t n, std::uint64_t universe) {
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
        keys.size(), [&](const auto& with) { f(k, v, with); }, lanewise::table_options{});
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
void check_histories(std::uint64_t universe, std::uint64_t salt) {
  auto random = make_random(salt);
  for (int history = 0; history < (full() ? 10 : 2); ++history) {
    ordered_pair_of_maps<Key, Value> maps(random);
    for (int i = 0; i < (is_emulated ? 40 : 120); ++i) {
      maps.step(universe);
      maps.check();
    }
  }
}

}  // namespace test
