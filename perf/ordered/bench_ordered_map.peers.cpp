// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What ordered_map.hpp's problems are to the ordered maps of others on hosts. Their batches come
// sorted, which is best for them.

#include "ordered_map.hpp"
#include <lanewise/host.hpp>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#if defined(LANEWISE_PERF_ABSL)
#include <absl/container/btree_map.h>
#endif
#if defined(LANEWISE_PERF_BOOST)
#include <boost/container/flat_map.hpp>
#endif
#if defined(LANEWISE_PERF_TBB)
#include <tbb/concurrent_map.h>
#endif

namespace lanewise::perf {
namespace {

template <class T>
using pairs_of = std::vector<std::pair<T, T>>;

/// Maps with the interface of std::map, filled in order.
template <class Map>
class node_map {
 public:
  using item = typename Map::key_type;

  explicit node_map(const pairs_of<item>& sorted) {
    for (const auto& pair : sorted) map_.emplace_hint(map_.end(), pair.first, pair.second);
  }
  void look(item key, item& value) const {
    const auto at = map_.find(key);
    if (at != map_.end()) value = at->second;
  }
  void put(const pairs_of<item>& batch) {
    for (const auto& pair : batch) map_.insert({pair.first, pair.second});
  }
  void take_back(const pairs_of<item>& batch) {
    for (const auto& pair : batch) map_.erase(pair.first);
  }

 private:
  Map map_;
};
template <class T>
using std_map = node_map<std::map<T, T>>;
#if defined(LANEWISE_PERF_ABSL)
template <class T>
using absl_map = node_map<absl::btree_map<T, T>>;
#endif

#if defined(LANEWISE_PERF_BOOST)
template <class T>
class flat_map {
 public:
  explicit flat_map(const pairs_of<T>& sorted)
      : map_(boost::container::ordered_unique_range, sorted.begin(), sorted.end()), full_(map_) {}
  void look(T key, T& value) const {
    const auto at = map_.find(key);
    if (at != map_.end()) value = at->second;
  }
  void put(const pairs_of<T>& batch) {
    map_.insert(boost::container::ordered_unique_range, batch.begin(), batch.end());
  }
  void take_back(const pairs_of<T>&) { map_ = full_; }

 private:
  boost::container::flat_map<T, T> map_, full_;
};
#endif

#if defined(LANEWISE_PERF_TBB)
template <class T>
class tbb_map {
 public:
  explicit tbb_map(const pairs_of<T>& sorted) {
    for (const auto& pair : sorted) map_.emplace_hint(map_.end(), pair.first, pair.second);
  }
  void look(T key, T& value) const {
    const auto at = map_.find(key);
    if (at != map_.end()) value = at->second;
  }
  void put_one(const std::pair<T, T>& pair) { map_.insert({pair.first, pair.second}); }
  void take_back(const pairs_of<T>& batch) {
    for (const auto& pair : batch) map_.unsafe_erase(pair.first);
  }

 private:
  tbb::concurrent_map<T, T> map_;
};
#endif

template <class Problem>
auto sorted_pairs(const Problem& p, std::int64_t n) {
  using T = typename Problem::item;
  pairs_of<T> pairs;
  for (std::int64_t i = 0; i < n; ++i) pairs.emplace_back(ordered_sorted_key<T>{}(i), p.values(i));
  return pairs;
}

/// Look-ups by all threads of Exec, and insertions by the threads that may change the map.
template <class Exec, class T, class Map>
void add_map(const char* variant) {
  const auto look = [](auto& p, auto time) {
    const Map map(sorted_pairs(p, p.n));
    time([&] {
      in_shares(p.exec, p.n, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) map.look(p.keys(i), p.answers(i));
      });
    });
  };
  add<ordered_find_problem<Exec, T, true>>(variant, look);
  add<ordered_find_problem<Exec, T, false>>(variant, look);
  constexpr bool is_concurrent = requires(Map & m, std::pair<T, T> pair) {
    m.put_one(pair);
  };
  if (!is_concurrent && Exec().concurrency() > 1) return;
  add<ordered_batch_problem<Exec, T, ordered_batch::insert, true>>(variant, [](auto& p, auto time) {
    Map map(sorted_pairs(p, p.elements));
    pairs_of<T> batch;
    for (std::int64_t i = 0; i < p.n; ++i) batch.emplace_back(p.batch_keys(i), p.batch_values(i));
    std::sort(batch.begin(), batch.end());
    // What the problem looks at.
    p.table = p.full;
    insert(p.exec, p.table, p.batch_keys, p.batch_values);
    time([&] { map.take_back(batch); },
         [&] {
           if constexpr (is_concurrent) {
             in_shares(p.exec, p.n, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
               for (std::int64_t i = begin; i < end; ++i) map.put_one(batch[i]);
             });
           } else {
             map.put(batch);
           }
         });
  });
}

template <class Exec, class T>
void add_peers() {
  add_map<Exec, T, std_map<T>>("std");
#if defined(LANEWISE_PERF_ABSL)
  add_map<Exec, T, absl_map<T>>("absl");
#endif
#if defined(LANEWISE_PERF_BOOST)
  add_map<Exec, T, flat_map<T>>("boost");
#endif
#if defined(LANEWISE_PERF_TBB)
  add_map<Exec, T, tbb_map<T>>("tbb");
#endif
}

}  // namespace

void add_ordered_map_peers() {
#if defined(KOKKOS_ENABLE_SERIAL)
  add_peers<Kokkos::Serial, std::uint32_t>();
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
  add_peers<Kokkos::OpenMP, std::uint32_t>();
#endif
}

}  // namespace lanewise::perf
