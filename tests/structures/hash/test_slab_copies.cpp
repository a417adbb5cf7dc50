// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/hash/slab_file.hpp>
#include <lanewise/host.hpp>

#include <catch2/matchers/catch_matchers_string.hpp>

#include <sstream>
#include <structures/hash/check_slab.hpp>

// Tables in other memory spaces and in files.

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u32 n = 5000;

/// An instance of the host: the tested space if that is the emulated backend, whose tests contain
/// no other threads.
using host_space = std::conditional_t<is_emulated, space, Kokkos::DefaultHostExecutionSpace>;

/// A map with several super blocks, gaps, and keys under other names.
template <class Key, class Value>
auto filled_map(const space& exec) {
  lanewise::slab_hash_map<Key, Value, memory> map(exec, {.buckets = 50, .units = 1}, {42});
  std::vector<Key> keys(n);
  std::vector<Value> values(n);
  for (u32 i = 0; i < n; ++i) {
    keys[i] = key_number<Key>(i);
    values[i] = value_number<Value>(i);
  }
  map.grow(exec, 1024);
  const array<Key> k(keys);
  const array<Value> v(values);
  lanewise::insert(exec, map, k.const_view(), v.const_view());
  lanewise::erase(exec, map, Kokkos::subview(k.const_view(), std::make_pair(100, 1100)));
  return map;
}

template <class Key, class Value>
void check_host_copy() {
  const auto exec = make_space();
  auto map = filled_map<Key, Value>(exec);
  const auto original = contents(exec, map);
  REQUIRE(original.size() == n - 1000);

  // There, changed by the host, and back.
  auto host = map.template copy_to<Kokkos::HostSpace>(exec);
  const host_space on_host;
  Kokkos::View<Key*, Kokkos::HostSpace> keys("keys", n);
  Kokkos::View<Value*, Kokkos::HostSpace> values("values", n);
  Kokkos::View<table_status*, Kokkos::HostSpace> status("status", n);
  for (u32 i = 0; i < n; ++i) keys(i) = key_number<Key>(i);
  lanewise::find(on_host, host, keys, values, {.status = status});
  on_host.fence();
  for (u32 i = 0; i < n; ++i) {
    const bool gone = i >= 100 && i < 1100;
    REQUIRE(status(i) == (gone ? table_status::absent : table_status::found));
    if (!gone) REQUIRE(values(i) == value_number<Value>(i));
  }
  lanewise::flush(on_host, host);
  lanewise::insert(on_host, host, keys, values);
  auto back = host.template copy_to<memory>(on_host);
  CHECK(contents(exec, back).size() == n);
  check_no_leak(exec, back);
  CHECK(contents(exec, map) == original);
}

std::string saved(const auto& exec, const auto& map) {
  std::ostringstream out(std::ios::binary);
  lanewise::save(exec, map, out);
  return out.str();
}
template <class Map>
std::string refusal(const std::string& file) {
  std::istringstream in(file, std::ios::binary);
  try {
    (void)lanewise::load<Map>(make_space(), in);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("A map is copied to the host, used there, and copied back", "[slab_copies]") {
  check_host_copy<u32, u32>();
  check_host_copy<u64, u64>();
}

TEST_CASE("A map comes back from a file with its hash", "[slab_copies]") {
  const auto exec = make_space();
  const auto map = filled_map<u32, u64>(exec);
  using map_type = lanewise::slab_hash_map<u32, u64, memory>;
  const std::string file = saved(exec, map);

  std::istringstream in(file, std::ios::binary);
  auto loaded = lanewise::load<map_type>(exec, in);

  CHECK(loaded.hash().seed == 42);
  CHECK(contents(exec, loaded) == contents(exec, map));
  check_no_leak(exec, loaded);
  lanewise::flush(exec, loaded);
  CHECK(contents(exec, loaded) == contents(exec, map));
  const auto array_of_keys = array<u32>(3, u32{17});
  const auto array_of_values = array<u64>(3, u64{18});
  lanewise::assign(exec, loaded, array_of_keys.const_view(), array_of_values.const_view());
  check_no_leak(exec, loaded);
}

TEST_CASE("Files that are damaged or of another kind are refused", "[slab_copies]") {
  const auto exec = make_space();
  using map_type = lanewise::slab_hash_map<u32, u32, memory>;
  const map_type map(exec, {.buckets = 20, .units = 1});
  const std::string file = saved(exec, map);
  REQUIRE(refusal<map_type>(file).empty());

  CHECK_THAT((refusal<lanewise::slab_hash_map<u64, u32, memory>>(file)),
             ContainsSubstring("the table is a map from unsigned integers of 4 bytes to unsigned "
                               "integers of 4 bytes in the file, a map from unsigned integers of "
                               "8 bytes to"));
  CHECK_THAT((refusal<lanewise::slab_hash_multimap<u32, u32, memory>>(file)),
             ContainsSubstring("in the file, a multimap from"));
  CHECK_THAT((refusal<lanewise::slab_hash_set<u32, memory>>(file)),
             ContainsSubstring("in the file, a set from"));
  CHECK_THAT(refusal<map_type>("nothing of the kind, and long enough for a header"),
             ContainsSubstring("no slab table"));
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{30}, std::size_t{50}, file.size() / 2, file.size() - 1})
    CHECK_THAT(refusal<map_type>(file.substr(0, length)), ContainsSubstring("ends early"));
  for (const std::size_t at : {std::size_t{9}, std::size_t{33}, std::size_t{45}, std::size_t{57},
                               file.size() / 3, file.size() - 3}) {
    std::string damaged = file;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    CAPTURE(at);
    CHECK(!refusal<map_type>(damaged).empty());
  }
}
