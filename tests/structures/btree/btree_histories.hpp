// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/btree/btree_map.hpp>

#include <set>
#include <structures/ordered/check_ordered.hpp>

// Random histories of bulk calls on B+ trees against std::map.

namespace test {

struct sum_up {
  template <class T>
  KOKKOS_FUNCTION T operator()(const T& there, const T& given) const {
    return static_cast<T>(there + given);
  }
};

/// A tree and what it must hold. The keys of a batch are different.
template <class Key, class Value, int node_bytes = 128>
class tree_and_model {
 public:
  using tree_type = lanewise::btree_map<Key, Value, memory, node_bytes>;
  using items = std::vector<std::pair<Key, Value>>;

  explicit tree_and_model(random_engine& random) : random_(random) {}

  tree_type& tree() { return tree_; }
  const std::map<Key, Value>& model() const { return model_; }

  items some(std::size_t n, std::uint64_t universe) {
    std::set<Key> taken;
    items out;
    for (std::size_t i = 0; i < n; ++i) {
      const auto k = static_cast<Key>(universe == 0 ? random_() : random_() % universe);
      if (taken.insert(k).second) out.emplace_back(k, static_cast<Value>(random_()));
    }
    return out;
  }

  void change(table_operation operation, const items& given) {
    const auto n = static_cast<std::int64_t>(given.size());
    const array<Key> keys(keys_of(given));
    const array<Value> values(values_of(given));
    const array<table_status> status(n, table_status::none);
    const Kokkos::View<lanewise::status_counts, memory> tally("tally");
    const lanewise::btree_options with{.status = status.view(), .tally = tally};
    switch (operation) {
      case table_operation::insert:
        lanewise::insert(exec_, tree_, keys.view(), values.view(), with);
        break;
      case table_operation::assign:
        lanewise::assign(exec_, tree_, keys.const_view(), values.view(), with);
        break;
      case table_operation::combine:
        lanewise::upsert(exec_, tree_, keys.view(), values.const_view(), sum_up{}, with);
        break;
      case table_operation::erase:
        lanewise::erase(exec_, tree_, keys.view(), with);
        break;
      default:
        lanewise::find(exec_, tree_, keys.view(), values.view(), with);
    }
    check(std::vector<table_operation>(given.size(), operation), given, status, values, tally);
  }
  void apply(const items& given) {
    static constexpr table_operation all[] = {table_operation::find, table_operation::insert,
                                              table_operation::assign, table_operation::combine,
                                              table_operation::erase};
    const auto n = static_cast<std::int64_t>(given.size());
    std::vector<table_operation> kinds;
    for (std::size_t i = 0; i < given.size(); ++i) kinds.push_back(all[random_() % 5]);
    const array<Key> keys(keys_of(given));
    const array<Value> values(values_of(given));
    const array<table_operation> operations(kinds);
    const array<table_status> status(n, table_status::none);
    const Kokkos::View<lanewise::status_counts, memory> tally("tally");
    lanewise::apply(exec_, tree_, operations.view(), keys.view(), values.view(),
                    {.status = status.view(), .tally = tally}, sum_up{});
    check(kinds, given, status, values, tally);
  }
  /// All elements, through an ordered map, and how many there are.
  void check_contents() {
    check_ordered_contents(exec_, lanewise::to_ordered(exec_, tree_),
                           {model_.begin(), model_.end()});
    CHECK(lanewise::size(exec_, tree_) == static_cast<std::int64_t>(model_.size()));
    const auto s = lanewise::statistics(exec_, tree_);
    CHECK(s.elements == static_cast<std::int64_t>(model_.size()));
    CHECK((s.nodes >= s.roots && s.nodes <= s.capacity));
  }

 private:
  static std::vector<Key> keys_of(const items& given) {
    std::vector<Key> out;
    for (const auto& [k, v] : given) out.push_back(k);
    return out;
  }
  static std::vector<Value> values_of(const items& given) {
    std::vector<Value> out;
    for (const auto& [k, v] : given) out.push_back(v);
    return out;
  }
  void check(const std::vector<table_operation>& kinds, const items& given,
             const array<table_status>& status, const array<Value>& values,
             const Kokkos::View<lanewise::status_counts, memory>& tally) {
    exec_.fence();
    const auto got = status.items();
    const auto after = values.items();
    std::uint64_t came[8] = {};
    for (std::size_t i = 0; i < given.size(); ++i) {
      const auto [key, value] = given[i];
      Value expected = value;
      const table_status s = in_model(kinds[i], key, value, expected);
      REQUIRE(got[i] == s);
      REQUIRE(after[i] == expected);
      ++came[static_cast<int>(s)];
    }
    lanewise::status_counts counted;
    Kokkos::deep_copy(Kokkos::View<lanewise::status_counts, Kokkos::HostSpace>(&counted), tally);
    REQUIRE(std::equal(came, came + 8, counted.count));
    REQUIRE((status.guards_intact() && values.guards_intact()));
  }
  table_status in_model(table_operation operation, Key key, Value value, Value& expected) {
    const auto at = model_.find(key);
    const bool there = at != model_.end();
    switch (operation) {
      case table_operation::find:
        if (there) expected = at->second;
        return there ? table_status::found : table_status::absent;
      case table_operation::insert:
        model_.emplace(key, value);
        return there ? table_status::present : table_status::inserted;
      case table_operation::erase:
        model_.erase(key);
        return there ? table_status::erased : table_status::absent;
      default:
        model_[key] =
            there && operation == table_operation::combine ? sum_up{}(at->second, value) : value;
        return there ? table_status::updated : table_status::inserted;
    }
  }

  random_engine& random_;
  space exec_ = make_space();
  tree_type tree_;
  std::map<Key, Value> model_;
};

template <class Key, class Value, int node_bytes = 128>
void check_tree_histories(int steps, int seed) {
  auto random = make_random(seed);
  const auto exec = make_space();
  tree_and_model<Key, Value, node_bytes> trees(random);
  static constexpr table_operation all[] = {table_operation::insert, table_operation::insert,
                                            table_operation::assign, table_operation::combine,
                                            table_operation::erase,  table_operation::find};
  for (int step = 0; step < steps; ++step) {
    const std::uint64_t universe = random() % 2 == 0 ? 700 : 0;
    const auto given = trees.some(random() % (step % 8 == 0 ? 600 : 60), universe);
    const auto kind = random() % 8;
    if (kind < 6) {
      trees.change(all[kind], given);
    } else if (kind == 6) {
      trees.apply(given);
    } else if (random() % 3 == 0) {
      lanewise::compact(exec, trees.tree(), static_cast<std::int64_t>(random() % 100));
    }
    if (step % 16 == 0) trees.check_contents();
  }
  trees.check_contents();
}

}  // namespace test
