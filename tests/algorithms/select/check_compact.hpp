// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/segments/run_length.hpp>
#include <lanewise/select/select.hpp>
#include <lanewise/select/unique.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>

namespace test {

template <class T>
constexpr std::int64_t compact_tile = tile_items<T, lanewise::kernels::compact_policy<T>>;

/// Sizes around the edges of tiles of either kind.
template <class T>
std::vector<std::int64_t> compact_sizes() {
  constexpr std::int64_t tile = compact_tile<T>;
  constexpr std::int64_t other = tile_items<T, lanewise::kernels::compact_policy<T, false>>;
  auto sizes = sizes_around(tile);
  if (other != tile) sizes.insert(sizes.end(), {other - 1, other, other + 1, 2 * other + 17});
  return sizes;
}

/// Keeps about p of 256 items, whatever their type.
struct some_of {
  std::uint32_t p;
  template <class T>
  KOKKOS_FUNCTION bool operator()(const T& x) const {
    std::uint64_t h = number_of(x) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
    return (h * 0xbf58476d1ce4e5b9u >> 56) < p;
  }
};

/// Items in runs of 1 to 2 mean - 1 equal ones.
template <class T>
std::vector<T> items_in_runs(std::int64_t n, int mean, std::uint64_t salt = 3) {
  auto random = make_random(salt + static_cast<std::uint64_t>(n));
  std::vector<T> items;
  while (static_cast<std::int64_t>(items.size()) < n) {
    const T item = item_of<T>(random_number(random, most_number<T>()));
    const auto k = random_number(random, 2 * mean - 2) + 1;
    // Not beyond n: a run may be of 200 million items.
    items.resize(std::min(items.size() + k, static_cast<std::size_t>(n)), item);
  }
  return items;
}

/// The begins of a call's arrays after a boundary: another place for each and in every call, all on
/// the boundary in one of eight.
class shifts {
 public:
  explicit shifts(std::uint64_t salt) {
    auto random = make_random(0x5817 + salt);
    step_ = static_cast<int>(random_number(random, 7));
  }
  /// 0 to 7 items, for the next array.
  int next() {
    const int shift = step_ * factor_ % 8;
    factor_ += 2;
    return shift;
  }

 private:
  int step_;
  int factor_ = 1;
};

struct runs {
  std::vector<std::int64_t> first;
  std::vector<std::int64_t> length;
};

template <class T>
runs runs_of(const std::vector<T>& items) {
  runs found;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i == 0 || !(items[i - 1] == items[i])) {
      found.first.push_back(static_cast<std::int64_t>(i));
      found.length.push_back(0);
    }
    ++found.length.back();
  }
  return found;
}

/// Which of the results lie after `count` equals what was there before.
template <class T>
void check_front(const array<T>& out, const std::vector<T>& expected) {
  CHECK(difference(out.items(), expected, out.original()) == "");
  CHECK(out.guards_intact());
}

/// select_if, select_flagged, partition and partition_flagged of these items.
template <class T>
void check_selections(const std::vector<T>& items, some_of keep) {
  const auto exec = make_space();
  const auto n = static_cast<std::int64_t>(items.size());
  std::vector<T> kept, rejected;
  std::vector<std::uint8_t> flag;
  for (const T& x : items) {
    (keep(x) ? kept : rejected).push_back(x);
    flag.push_back(keep(x) ? 255 : 0);
  }
  const auto count = static_cast<std::int64_t>(kept.size());
  shifts shift(static_cast<std::uint64_t>(n + count));
  const array<T> in(items, shift.next());
  const array<std::uint8_t> flags(flag, shift.next());
  const array<T> one(n, item_of<T>(77), shift.next()), two(n, item_of<T>(77), shift.next()),
      three(n, item_of<T>(77), shift.next()), others(n, item_of<T>(77), shift.next());
  const cell<std::int64_t> found(-1);

  lanewise::select_if(exec, in.const_view(), one.view(), found.view(), keep);
  CHECK(found.get() == count);
  check_front(one, kept);

  found.set(-1);
  lanewise::select_flagged(exec, in.const_view(), flags.const_view(), two.view(), found.view());
  CHECK(found.get() == count);
  check_front(two, kept);

  found.set(-1);
  lanewise::partition(exec, in.const_view(), three.view(), others.view(), found.view(), keep);
  CHECK(found.get() == count);
  check_front(three, kept);
  check_front(others, rejected);

  found.set(-1);
  const array<T> four(n, item_of<T>(77), shift.next()), unset(n, item_of<T>(77), shift.next());
  lanewise::partition_flagged(exec, in.const_view(), flags.const_view(), four.view(), unset.view(),
                              found.view());
  CHECK(found.get() == count);
  check_front(four, kept);
  check_front(unset, rejected);

  CHECK(in.unchanged());
  CHECK(flags.unchanged());
}

/// unique, unique_by_key and run_length_encode of these items.
template <class T>
void check_runs(const std::vector<T>& items) {
  const auto exec = make_space();
  const auto n = static_cast<std::int64_t>(items.size());
  const runs expected = runs_of(items);
  const auto count = static_cast<std::int64_t>(expected.first.size());
  std::vector<std::int64_t> index;
  for (std::int64_t i = 0; i < n; ++i) index.push_back(i);
  shifts shift(static_cast<std::uint64_t>(n + count));
  const array<T> in(items, shift.next());
  const array<std::int64_t> values(index, shift.next());
  const array<T> one(n, item_of<T>(77), shift.next()), two(n, item_of<T>(77), shift.next()),
      three(n, item_of<T>(77), shift.next());
  const array<std::int64_t> values_out(n, std::int64_t{77}, shift.next()),
      lengths(n, std::int64_t{77}, shift.next());
  const cell<std::int64_t> found(-1);

  lanewise::unique(exec, in.const_view(), one.view(), found.view());
  CHECK(found.get() == count);
  check_front(one, oracle::gather(items, expected.first));

  found.set(-1);
  lanewise::unique_by_key(exec, in.const_view(), values.const_view(), two.view(), values_out.view(),
                          found.view());
  CHECK(found.get() == count);
  check_front(two, oracle::gather(items, expected.first));
  check_front(values_out, expected.first);

  found.set(-1);
  lanewise::run_length_encode(exec, in.const_view(), three.view(), lengths.view(), found.view());
  CHECK(found.get() == count);
  check_front(three, oracle::gather(items, expected.first));
  check_front(lengths, expected.length);

  CHECK(in.unchanged());
  CHECK(values.unchanged());
}

}  // namespace test
