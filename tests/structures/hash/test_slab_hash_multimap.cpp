// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <support/oracle.hpp>

#include <map>
#include <structures/hash/check_slab.hpp>

// Multimaps against vectors of values in the order of insertion.

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace test_kernels {

/// What the warp, or each lane for itself, finds of 32 keys: how many elements, the sum of their
/// values, and how many erase_all then deletes. A lane for itself checks their order, too.
template <class View>
struct look_kernel {
  struct policy : launch_policy {
    static constexpr int warps = 1;
  };
  template <class Team>
  struct scratch {};

  View table;
  const std::uint64_t* keys;
  std::uint32_t* counted;
  std::uint64_t* sums;
  std::uint32_t* erased;
  bool by_warp;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    using numbers = typename warp_type::template lanes<std::uint32_t>;
    using wide = typename warp_type::template lanes<std::uint64_t>;
    if (team.index() != 0 || team.warp_index() != 0) return;
    const auto warp = team.warp();
    const auto all = warp.first(32);
    auto key = warp.load(keys);
    numbers number(77u), gone(77u);
    wide sum(std::uint64_t{0});
    if (by_warp) {
      (void)table.count(warp, all, key, number);
      table.find_all(
          warp, all, key, sum,
          [](const auto& sub, int lane, const auto& there, const auto& value, auto& total) {
            const std::uint64_t here = sub.reduce(
                select(there, value, std::decay_t<decltype(value)>(std::uint64_t{0})), plus{});
            const auto me = sub.lane() == static_cast<std::uint32_t>(lane);
            total = select(me, total + std::decay_t<decltype(total)>(here), total);
          });
      (void)table.erase_all(warp, all, key, gone);
    } else {
      using solo = typename warp_type::template part<1>;
      warp.each(
          all,
          [this](std::uint64_t& k, std::uint32_t& n, std::uint64_t& s, std::uint32_t& g) {
            slab_scalar_face<View, solo> alone(table, k);
            (void)alone.count(k, n);
            std::uint64_t last = 0;
            alone.find_all(k, [&](std::uint64_t value) {
              s += value > last ? value : ~std::uint64_t{0};
              last = value;
            });
            (void)alone.erase_all(k, g);
          },
          key, number, sum, gone);
    }
    warp.store(all, counted, number);
    warp.store(all, sums, sum);
    warp.store(all, erased, gone);
  }
};

}  // namespace test_kernels
LANEWISE_END_TARGET_NAMESPACE

namespace {

using namespace test;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

template <class Key, class Value>
class pair_of_multimaps {
 public:
  using map = lanewise::slab_hash_multimap<Key, Value, memory>;

  explicit pair_of_multimaps(std::int64_t buckets)
      : map_(exec_, {.buckets = buckets, .units = 1}) {}

  void step(random_engine& random, u64 universe) {
    const auto keys = distinct_keys<Key>(random, 1 + random() % 60, universe);
    const std::size_t n = keys.size();
    std::vector<Value> values(n);
    for (auto& v : values) v = value_number<Value>(random());
    const array<Key> k(keys);
    const array<Value> v(values);
    switch (random() % 7) {
      case 0:
      case 1:
      case 2: {
        const auto result = reported(n, [&](const auto& with) {
          lanewise::insert(exec_, map_, k.const_view(), v.const_view(), with);
        });
        CHECK(result.tally[table_status::inserted] == n);
        for (std::size_t i = 0; i < n; ++i) model_[keys[i]].push_back(values[i]);
        return;
      }
      case 3: {
        const auto result = reported(
            n, [&](const auto& with) { lanewise::erase(exec_, map_, k.const_view(), with); });
        for (std::size_t i = 0; i < n; ++i) {
          auto& list = model_[keys[i]];
          REQUIRE(result.status[i] == (list.empty() ? table_status::absent : table_status::erased));
          if (!list.empty()) list.erase(list.begin());
        }
        return;
      }
      case 4: {
        const auto result = reported(
            n, [&](const auto& with) { lanewise::erase_all(exec_, map_, k.const_view(), with); });
        for (std::size_t i = 0; i < n; ++i) {
          auto& list = model_[keys[i]];
          REQUIRE(result.status[i] == (list.empty() ? table_status::absent : table_status::erased));
          list.clear();
        }
        return;
      }
      case 5: {
        lanewise::find(exec_, map_, k.const_view(), v.view());
        const auto found = v.items();
        for (std::size_t i = 0; i < n; ++i) {
          const auto& list = model_[keys[i]];
          REQUIRE(found[i] == (list.empty() ? values[i] : list.front()));
        }
        return;
      }
      default:
        if (random() % 3 == 0) lanewise::rehash(exec_, map_, 1 + random() % 30);
        lanewise::flush(exec_, map_);
    }
  }

  void check_all(u64 universe) {
    std::vector<Key> keys;
    std::vector<std::int64_t> offsets = {0};
    std::vector<Value> values;
    std::vector<u32> numbers;
    for (u64 i = 0; i < universe; ++i) {
      keys.push_back(key_number<Key>(i));
      const auto& list = model_[keys.back()];
      values.insert(values.end(), list.begin(), list.end());
      offsets.push_back(static_cast<std::int64_t>(values.size()));
      numbers.push_back(static_cast<u32>(list.size()));
    }
    const array<Key> k(keys);
    const array<u32> counted(static_cast<std::int64_t>(keys.size()), 77u);
    const array<std::int64_t> begins(static_cast<std::int64_t>(offsets.size()), -1);
    const array<Value> all(static_cast<std::int64_t>(values.size()), Value{});

    lanewise::count(exec_, map_, k.const_view(), counted.view());
    lanewise::find_all(exec_, map_, k.const_view(), begins.view(), all.view());

    CHECK(counted.items() == numbers);
    CHECK(begins.items() == offsets);
    CHECK(all.items() == values);
    CHECK(all.guards_intact());
    CHECK(lanewise::statistics(exec_, map_).elements == static_cast<std::int64_t>(values.size()));
    check_no_leak(exec_, map_);
  }

 private:
  space exec_ = make_space();
  map map_;
  std::map<Key, std::vector<Value>> model_;
};

template <class Key, class Value>
void check_random_multimaps(std::int64_t buckets, u64 universe, u64 salt) {
  auto random = make_random(salt);
  pair_of_multimaps<Key, Value> maps(buckets);
  for (int i = 0; i < (is_emulated ? 60 : 300); ++i) {
    maps.step(random, universe);
    if (i % 20 == 19) maps.check_all(universe);
  }
}

}  // namespace

TEST_CASE("Multimaps keep equal keys in the order of insertion", "[slab_hash_multimap][sanitize]") {
  check_random_multimaps<u32, u32>(7, 60, 1);
  check_random_multimaps<u32, u32>(1, 60, 2);
  check_random_multimaps<u64, u64>(7, 60, 3);
}

TEST_CASE("Many elements of one key are counted, found and deleted", "[slab_hash_multimap]") {
  const auto exec = make_space();
  const u32 n = is_emulated ? 700 : 5000;
  std::vector<u64> keys(n), values(n);
  for (u32 i = 0; i < n; ++i) {
    keys[i] = i % 10 == 0 ? 5 : ~u64{0};
    values[i] = i;
  }
  const array<u64> k(keys), v(values), out(n, u64{0});
  const array<u64> asked(std::vector<u64>{~u64{0}, 5, 6});
  const array<std::int64_t> begins(4, std::int64_t{0});
  lanewise::slab_hash_multimap<u64, u64, memory> map(exec, {.buckets = 3, .units = 1});
  lanewise::insert(exec, map, k.const_view(), v.const_view());

  lanewise::find_all(exec, map, asked.const_view(), begins.view(), out.view());
  auto found = out.items();
  REQUIRE(begins.items() == std::vector<std::int64_t>{0, n - n / 10, n, n});
  std::sort(found.begin(), found.end());
  CHECK(found == values);

  // Too few places: the rest is not written.
  const array<u64> few(100, u64{0});
  lanewise::find_all(exec, map, asked.const_view(), begins.view(), few.view());
  CHECK(few.guards_intact());

  const auto result =
      reported(3, [&](const auto& with) { lanewise::erase(exec, map, asked.const_view(), with); });
  CHECK(result.tally[table_status::erased] == 2);
  CHECK(lanewise::statistics(exec, map).elements == n - 2);
  lanewise::erase_all(exec, map, asked.const_view());
  lanewise::flush(exec, map);
  CHECK(lanewise::statistics(exec, map).slabs == 4);
  check_no_leak(exec, map);
}

TEST_CASE("Warps and single threads count, find and delete all elements of a key",
          "[slab_hash_multimap][sanitize]") {
  const auto exec = make_space();
  constexpr u64 rounds = 20;
  std::vector<u64> keys;
  for (u64 i = 0; i < 32; ++i) keys.push_back(key_number<u64>(i));
  const array<u64> k(keys);
  for (const bool by_warp : {true, false}) {
    CAPTURE(by_warp);
    lanewise::slab_hash_multimap<u64, u64, memory> map(exec, {.buckets = 4, .units = 1});
    std::vector<u64> sums(32, 0);
    std::vector<u32> numbers(32, 0);
    for (u64 r = 1; r <= rounds; ++r) {
      // Key i comes in rounds 1 to i.
      const u64 first = std::min<u64>(r, 32);
      const array<u64> v(32, r);
      const auto some = std::make_pair(first, u64{32});
      lanewise::insert(exec, map, Kokkos::subview(k.const_view(), some),
                       Kokkos::subview(v.const_view(), some));
      for (u64 i = first; i < 32; ++i) {
        sums[i] += r;
        ++numbers[i];
      }
    }
    const array<u32> counted(32, 0u), erased(32, 0u);
    const array<u64> found(32, u64{0});

    lanewise::launch(
        exec, "look", 1,
        lanewise::test_kernels::look_kernel<decltype(map.view())>{
            map.view(), k.data(), counted.data(), found.data(), erased.data(), by_warp});

    CHECK(counted.items() == numbers);
    CHECK(found.items() == sums);
    CHECK(erased.items() == numbers);
    CHECK(lanewise::statistics(exec, map).elements == 0);
  }
}

TEST_CASE("Calls on multimaps refuse Views without memory and short ones", "[slab_hash_multimap]") {
  const auto exec = make_space();
  lanewise::slab_hash_multimap<u64, u64, memory> map(exec, {.expected = 100});
  const array<u64> k(4, u64{1}), found(4, u64{0});
  const array<u64>::view_type none(nullptr, 4);
  const array<u32>::view_type no_numbers(nullptr, 4);
  const array<std::int64_t> begins(5, std::int64_t{0}), too_few(4, std::int64_t{0});
  const array<std::int64_t>::view_type no_begins(nullptr, 5);
  lanewise::insert(exec, map, k.const_view(), k.const_view());

  CHECK(refusal([&] { lanewise::insert(exec, map, none, k.const_view()); }) ==
        "lanewise::insert: keys has 4 items and no memory");
  CHECK(refusal([&] { lanewise::erase_all(exec, map, none); }) ==
        "lanewise::erase_all: keys has 4 items and no memory");
  CHECK(refusal([&] { lanewise::count(exec, map, k.const_view(), no_numbers); }) ==
        "lanewise::count: numbers has 4 items and no memory");
  const auto all_of = [&](const auto& keys, const auto& offsets, const auto& values) {
    return refusal([&] { lanewise::find_all(exec, map, keys, offsets, values); });
  };
  CHECK(all_of(none, begins.view(), found.view()) ==
        "lanewise::find_all: keys has 4 items and no memory");
  CHECK(all_of(k.view(), no_begins, found.view()) ==
        "lanewise::find_all: offsets has 5 items and no memory");
  CHECK(all_of(k.view(), begins.view(), none) ==
        "lanewise::find_all: values has 4 items and no memory");
  CHECK(all_of(k.view(), too_few.view(), found.view()) ==
        "lanewise::find_all: offsets has 4 items, keys has 4, offsets needs one more");

  exec.fence();
  CHECK(found.unchanged());
  CHECK(lanewise::statistics(exec, map).elements == 4);
}
