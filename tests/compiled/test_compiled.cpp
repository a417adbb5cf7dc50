// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The calls that Lanewise::compiled has kernels of. One program links it, another does not.
#include <lanewise/graphs/bfs.hpp>
#include <lanewise/graphs/sssp.hpp>
#include <lanewise/hash/slab_hash_map.hpp>
#include <lanewise/hash/slab_hash_set.hpp>
#include <lanewise/sequence/reduce.hpp>
#include <lanewise/sequence/scan.hpp>
#include <lanewise/sort/sort.hpp>
#include <lanewise/strings/string_search.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <random>
#include <vector>

namespace {

using space = Kokkos::DefaultExecutionSpace;
template <class T>
using view = Kokkos::View<T*, space::memory_space>;

template <class T>
view<T> on_device(const std::vector<T>& items) {
  const view<T> out("items", items.size());
  Kokkos::deep_copy(out, Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                             items.data(), items.size()));
  return out;
}
template <class T>
bool holds(const view<T>& items, const std::vector<T>& expected) {
  const auto copy = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), items);
  return std::equal(expected.begin(), expected.end(), copy.data(), copy.data() + copy.size());
}

template <class Key, class Value>
int wrong_sorts(std::size_t n) {
  std::mt19937_64 random(n + 1);
  std::vector<Key> keys(n);
  for (Key& key : keys) key = static_cast<Key>(static_cast<std::int64_t>(random() % 1000) - 500);
  std::vector<Value> values(n);
  std::iota(values.begin(), values.end(), Value{0});
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  std::vector<Key> sorted;
  std::vector<Value> moved;
  for (const std::size_t i : order) {
    sorted.push_back(keys[i]);
    moved.push_back(values[i]);
  }
  const space exec;
  const auto alone = on_device(keys), pairs = on_device(keys);
  const auto beside = on_device(values);
  lanewise::sort(exec, alone);
  lanewise::sort_by_key(exec, pairs, beside);
  exec.fence();
  return !holds(alone, sorted) + !holds(pairs, sorted) + !holds(beside, moved);
}

struct ring {
  std::vector<std::uint32_t> columns;
  std::vector<std::int64_t> ends;  // of the rows
};
/// n vertices, each with its neighbours on both sides: half of them lie on either way.
ring ring_of(int n) {
  ring r;
  for (int v = 0; v < n; ++v) {
    r.columns.push_back(static_cast<std::uint32_t>((v + 1) % n));
    r.columns.push_back(static_cast<std::uint32_t>((v + n - 1) % n));
    r.ends.push_back(2 * (v + 1));
  }
  return r;
}
template <class T>
std::vector<T> ways(int n, int length) {
  std::vector<T> ways;
  for (int v = 0; v < n; ++v) ways.push_back(static_cast<T>(length * std::min(v, n - v)));
  return ways;
}

template <class Offset, class Weight>
int wrong_ways(int n) {
  const space exec;
  const ring r = ring_of(n);
  std::vector<Offset> begins{0};
  for (const std::int64_t end : r.ends) begins.push_back(static_cast<Offset>(end));
  const std::vector<Weight> weights(r.columns.size(), Weight{3});
  using graph_type = lanewise::csr_graph<space::memory_space, std::uint32_t, Offset, Weight>;
  const graph_type graph(on_device(begins), on_device(r.columns), on_device(weights));
  const auto size = static_cast<std::size_t>(n);
  const view<std::int32_t> levels("levels", size);
  const view<Weight> distances("distances", size);
  lanewise::bfs(exec, graph.symmetric(), 0, levels);
  lanewise::sssp(exec, graph, 0, distances);
  exec.fence();
  return !holds(levels, ways<std::int32_t>(n, 1)) + !holds(distances, ways<Weight>(n, 3));
}

int wrong_searches(std::size_t n) {
  const space exec;
  std::vector<char> letters(n, '.');
  std::int64_t last = -1, number = 0;
  for (std::size_t i = 0; i + 7 <= n; i += 100) {
    std::copy_n("pattern", 7, letters.begin() + static_cast<std::ptrdiff_t>(i));
    last = static_cast<std::int64_t>(i);
    ++number;
  }
  const auto text = on_device(letters);
  int wrong = 0;
  for (const char* word : {"pattern", "pat"}) {
    const lanewise::pattern<space::memory_space> what(word);
    const view<std::uint32_t> bits("bits", (n + 31) / 32);
    wrong += lanewise::count(exec, text, what) != number;
    wrong += lanewise::find_first(exec, text, what) != (number > 0 ? 0 : -1);
    wrong += lanewise::find_last(exec, text, what) != last;
    lanewise::find_bitmap(exec, text, what, bits);
    exec.fence();
    std::vector<std::uint32_t> expected((n + 31) / 32);
    for (std::int64_t i = 0; i < number; ++i)
      expected[static_cast<std::size_t>(100 * i / 32)] |= 1u << (100 * i % 32);
    wrong += !holds(bits, expected);
  }
  return wrong;
}

/// Sums, and the least and the greatest of i % 100 - 50.
template <class T>
int wrong_sums(std::size_t n) {
  const space exec;
  std::vector<T> numbers, sums, before;
  T sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    numbers.push_back(static_cast<T>(static_cast<std::int64_t>(i % 100) - 50));
    before.push_back(sum);
    sum = static_cast<T>(sum + numbers.back());
    sums.push_back(sum);
  }
  const auto in = on_device(numbers);
  const view<T> out("out", n), out_before("out_before", n);
  lanewise::inclusive_scan(exec, in, out, lanewise::plus{});
  lanewise::exclusive_scan(exec, in, out_before, lanewise::plus{}, T{0});
  exec.fence();
  const T begin = numbers.empty() ? T{7} : numbers[0];
  const auto of = [&](auto op) {
    return std::accumulate(numbers.begin(), numbers.end(), begin, op);
  };
  return !holds(out, sums) + !holds(out_before, before) +
         (lanewise::reduce(exec, in, lanewise::plus{}, T{0}) != sum) +
         (lanewise::reduce(exec, in, lanewise::minimum{}, begin) != of(lanewise::minimum{})) +
         (lanewise::reduce(exec, in, lanewise::maximum{}, begin) != of(lanewise::maximum{}));
}

/// Tables that grow to n keys; a third of these are erased.
template <class Key>
int wrong_tables(std::size_t n) {
  const space exec;
  std::vector<Key> keys(n), values(n), twice(n), third(n / 3), left(n), unfound(n, Key{7});
  for (std::size_t i = 0; i < n; ++i) {
    keys[i] = static_cast<Key>(i * 2654435761u);
    values[i] = static_cast<Key>(i);
    twice[i] = static_cast<Key>(2 * i);
    if (i < n / 3) third[i] = keys[i];
    left[i] = i < n / 3 ? Key{7} : twice[i];
  }
  const auto given = on_device(keys), erased = on_device(third), found = on_device(unfound);
  lanewise::slab_hash_map<Key, Key, space::memory_space> map(exec);
  lanewise::slab_hash_set<Key, space::memory_space> set(exec);
  lanewise::insert(exec, map, given, on_device(values));
  lanewise::find(exec, map, given, found);
  exec.fence();
  int wrong = !holds(found, values);
  lanewise::assign(exec, map, given, on_device(twice));
  lanewise::erase(exec, map, erased);
  Kokkos::deep_copy(found, Key{7});
  lanewise::find(exec, map, given, found);
  exec.fence();
  wrong += !holds(found, left);
  const Kokkos::View<lanewise::status_counts, space::memory_space> tally("tally");
  lanewise::insert(exec, set, given);
  lanewise::erase(exec, set, erased);
  lanewise::find(exec, set, given, std::nullopt, {.tally = tally});
  const auto came = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), tally);
  return wrong + (came()[lanewise::table_status::found] != n - n / 3);
}

}  // namespace

int main(int argc, char* argv[]) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  int wrong = 0;
  for (const std::size_t n : {0, 1, 2, 100, 5000, 300'000}) {
    wrong += wrong_sorts<std::uint32_t, float>(n);
    wrong += wrong_sorts<std::int64_t, std::uint32_t>(n);
    wrong += wrong_sorts<float, double>(n);
    wrong += wrong_sorts<double, std::uint64_t>(n);
  }
  for (const int n : {1, 2, 7, 5000}) {
    wrong += wrong_ways<std::uint32_t, std::uint32_t>(n);
    wrong += wrong_ways<std::uint64_t, float>(n);
  }
  for (const std::size_t n : {0, 6, 7, 1000, 300'000}) wrong += wrong_searches(n);
  for (const std::size_t n : {0, 1, 100, 5000, 300'000}) {
    wrong += wrong_sums<std::int32_t>(n) + wrong_sums<std::uint64_t>(n) + wrong_sums<float>(n);
    wrong += wrong_tables<std::uint32_t>(n) + wrong_tables<std::uint64_t>(n);
  }
  std::printf("%d wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
