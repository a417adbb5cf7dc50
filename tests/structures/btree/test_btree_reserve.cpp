// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <structures/btree/btree_histories.hpp>

// Room that reserve and build promise is there whatever the keys are: in every order, for every
// layout of nodes, and however full leaves are.

namespace {

using namespace test;

constexpr std::int64_t element_gap = 1 << 12;

/// Numbers 0 to n - 1 in an order.
struct number_order {
  const char* name;
  std::int64_t (*number)(std::int64_t i, std::int64_t n);
};
std::int64_t hashed_number(std::int64_t i, std::int64_t n) {
  std::int64_t step = n * 5 / 8 | 1;
  while (std::gcd(step, n) != 1) ++step;
  return i * step % n;
}
constexpr number_order key_orders[] = {
    {"ascending", [](std::int64_t i, std::int64_t) { return i; }},
    {"descending", [](std::int64_t i, std::int64_t n) { return n - 1 - i; }},
    {"from both ends",
     [](std::int64_t i, std::int64_t n) { return i % 2 == 0 ? i / 2 : n - 1 - i / 2; }},
    {"from the middle",
     [](std::int64_t i, std::int64_t n) { return n / 2 + (i % 2 == 0 ? i / 2 : -(i + 1) / 2); }},
    {"hashed", hashed_number},
};

/// Keys that lie between those of a tree: `each` after every one of some elements that
/// lie `stride` apart.
struct between_elements {
  std::int64_t stride, each;
  std::int64_t key(std::int64_t number) const {
    return number / each * stride * element_gap + 1 + number % each;
  }
};

template <class Tree>
class reserved_tree {
 public:
  using key_type = typename Tree::key_type;

  /// A tree of `elements` elements with gaps between them.
  void build(std::int64_t elements, std::int64_t room) {
    std::vector<key_type> keys;
    for (std::int64_t i = 0; i < elements; ++i)
      keys.push_back(static_cast<key_type>(i * element_gap));
    model_ = {keys.begin(), keys.end()};
    const array<key_type> given(keys);
    lanewise::ordered_map<key_type, std::uint32_t, memory> map;
    lanewise::build_sorted(exec_, map, given.view(), values_of(elements).view());
    lanewise::build(exec_, tree_, map, room);
  }
  void reserve(std::int64_t insertions) { lanewise::reserve(exec_, tree_, insertions); }
  /// Puts keys into the tree, as many at once as a call may take in any order.
  void insert(const std::vector<key_type>& keys, std::size_t at_once) {
    for (std::size_t begin = 0; begin < keys.size(); begin += at_once) {
      const std::size_t end = std::min(keys.size(), begin + at_once);
      const array<key_type> some(
          std::vector<key_type>(keys.begin() + static_cast<std::ptrdiff_t>(begin),
                                keys.begin() + static_cast<std::ptrdiff_t>(end)));
      const auto n = static_cast<std::int64_t>(end - begin);
      const array<table_status> status(n, table_status::none);
      lanewise::insert(exec_, tree_, some.view(), values_of(n).view(),
                       {.status = status.view(), .grow = false});
      exec_.fence();
      for (const table_status s : status.items()) without_room_ += s == table_status::no_room;
    }
    model_.insert(keys.begin(), keys.end());
  }
  void erase(const std::vector<key_type>& keys) {
    lanewise::erase(exec_, tree_, array<key_type>(keys).view());
    for (const key_type k : keys) model_.erase(k);
  }
  void check() const {
    CHECK(without_room_ == 0);
    CHECK(lanewise::size(exec_, tree_) == static_cast<std::int64_t>(model_.size()));
    const auto n = static_cast<std::int64_t>(model_.size());
    const array<key_type> out(n, key_type{7});
    lanewise::to_sorted(exec_, lanewise::to_ordered(exec_, tree_), out.view(), values_of(n).view());
    exec_.fence();
    CHECK((out.items() == std::vector<key_type>(model_.begin(), model_.end())));
  }
  const std::set<key_type>& model() const { return model_; }

 private:
  static array<std::uint32_t> values_of(std::int64_t n) { return array<std::uint32_t>(n, 1u); }

  space exec_ = make_space();
  Tree tree_;
  std::set<key_type> model_;
  std::int64_t without_room_ = 0;
};

template <class Key, int node_bytes>
using reserved_tree_of = lanewise::btree_map<Key, std::uint32_t, memory, node_bytes>;
template <class Key, int node_bytes>
using reserved = reserved_tree<reserved_tree_of<Key, node_bytes>>;

template <class Key>
std::vector<Key> reserved_keys(const number_order& order, const between_elements& place,
                               std::int64_t n) {
  std::vector<Key> keys;
  for (std::int64_t i = 0; i < n; ++i)
    keys.push_back(static_cast<Key>(place.key(order.number(i, n))));
  return keys;
}

template <class Key, int node_bytes>
void check_reserved_orders() {
  using tree_type = reserved_tree_of<Key, node_bytes>;
  constexpr std::int64_t most = tree_type::layout::most, fill = tree_type::fill;
  const std::int64_t n = is_emulated ? 150 : 3000;
  for (const number_order& order : key_orders) {
    CAPTURE(order.name, most);
    for (const std::size_t at_once : {std::size_t{1} << 20, std::size_t{7}}) {
      CAPTURE(at_once);
      // An empty tree, all keys after one element, and some after the first element of each leaf:
      // the number that splits it, one less, and one more.
      for (const std::int64_t elements : {std::int64_t{0}, fill, n}) {
        for (const std::int64_t each : {n, most - fill, most - fill + 1, most - fill + 2}) {
          if (elements < n && each < n) continue;
          CAPTURE(elements, each);
          const std::int64_t many = std::min(n, std::max(elements / fill, std::int64_t{1}) * each);
          const auto keys = reserved_keys<Key>(order, {fill, each}, many);
          reserved<Key, node_bytes> tree;
          if (elements > 0) tree.build(elements, many);
          if (elements == 0) tree.reserve(many);
          tree.insert(keys, at_once);
          tree.check();
        }
      }
      if (is_emulated) break;
    }
  }
}

TEST_CASE("reserve has room for keys in every order: nodes of 7", "[ordered][btree]") {
  check_reserved_orders<std::int64_t, 128>();
}
TEST_CASE("reserve has room for keys in every order: nodes of 15", "[ordered][btree]") {
  check_reserved_orders<std::uint32_t, 128>();
}
#if !defined(LANEWISE_TEST_FEW_TYPES)
TEST_CASE("reserve has room for keys in every order: nodes of two lines", "[ordered][btree]") {
  check_reserved_orders<std::uint32_t, 256>();
}
#endif

/// Reserves, inserts the reserved number, and erases some, again and again: nodes of any fill
/// remain.
template <class Key, int node_bytes>
void check_reserved_histories(std::uint64_t number) {
  auto random = make_random(number);
  for (int history = 0; history < (is_emulated ? 4 : 20); ++history) {
    reserved<Key, node_bytes> tree;
    for (int round = 0; round < 8; ++round) {
      const std::int64_t n = random_number(random, is_emulated ? 100 : 1500) + 1;
      const auto& order = key_orders[random_number(random, std::size(key_orders) - 1)];
      const auto origin = static_cast<std::int64_t>(random_number(random, 1 << 18));
      CAPTURE(history, round, n, order.name);
      std::vector<Key> keys;
      for (std::int64_t i = 0; i < n; ++i)
        keys.push_back(static_cast<Key>(origin + order.number(i, n) * 3 / 2));
      tree.reserve(n);
      if (round % 3 == 1) tree.reserve(n);
      tree.insert(keys, random_number(random, 2) == 0 ? keys.size() : 5);
      std::vector<Key> gone;
      const auto share = random_number(random, 4);
      for (const Key k : tree.model())
        if (random_number(random, 8) < share) gone.push_back(k);
      tree.erase(gone);
    }
    tree.check();
  }
}

TEST_CASE("reserve has room in trees that were changed", "[ordered][btree]") {
  check_reserved_histories<std::int64_t, 128>(3);
  check_reserved_histories<std::uint32_t, 128>(4);
}

}  // namespace
