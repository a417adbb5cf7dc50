// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/sort/bin_sort.hpp>
#include <support/generators.hpp>
#include <support/space.hpp>

#include <Kokkos_Sort.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

// bin_sort beside a stable sort of the items' numbers by bin, and beside Kokkos::BinSort.

using namespace test;

namespace {

using u32 = std::uint32_t;

/// Items of one bin in 16 have none.
struct spread {
  u32 bins;
  KOKKOS_FUNCTION std::int64_t operator()(u32 key) const {
    return key % 16 == 3 ? -1 : static_cast<std::int64_t>(key / 16 % bins);
  }
};

/// Keys that only a merge sort takes.
struct named {
  u32 key;
  u32 name;
  KOKKOS_FUNCTION bool operator<(const named& other) const { return key < other.key; }
};
struct bin_of_named {
  KOKKOS_FUNCTION u32 operator()(const named& x) const { return x.key / 100; }
};

struct binned {
  std::vector<u32> permutation;
  std::vector<u32> offsets;
};
constexpr auto as_they_come = [](u32, u32) { return false; };

/// bin(i) says where item i belongs, less(i, j) what comes first in a bin.
template <class Bin, class Less>
binned bins_of(std::int64_t n, std::int64_t bins, const Bin& bin, const Less& less) {
  std::vector<u32> place(static_cast<std::size_t>(n));
  binned r{place, std::vector<u32>(static_cast<std::size_t>(bins + 1))};
  for (u32 i = 0; i < n; ++i) {
    const std::int64_t b = bin(i);
    place[i] = static_cast<u32>(b < 0 || b > bins ? bins : b);
    if (place[i] < bins) ++r.offsets[place[i] + 1];
  }
  std::partial_sum(r.offsets.begin(), r.offsets.end(), r.offsets.begin());
  std::iota(r.permutation.begin(), r.permutation.end(), 0u);
  std::stable_sort(r.permutation.begin(), r.permutation.end(), [&](u32 i, u32 j) {
    return place[i] != place[j] ? place[i] < place[j] : less(i, j);
  });
  return r;
}

/// Counts by an algorithm, which takes them as a source.
std::vector<u32> counts_of(const lanewise::bin_sort<space>& sorter) {
  const array<u32> counts(sorter.bin_count(), 7u);
  lanewise::transform(make_space(), sorter.counts(), counts.view(), lanewise::identity{});
  return counts.items();
}

void check_order(const lanewise::bin_sort<space>& sorter, const binned& expected) {
  make_space().fence();
  const auto n = static_cast<std::int64_t>(expected.permutation.size());
  const auto bins = static_cast<std::int64_t>(expected.offsets.size()) - 1;
  CHECK(sorter.size() == n);
  CHECK(sorter.bin_count() == bins);
  REQUIRE(sorter.permutation().extent(0) == expected.permutation.size());
  REQUIRE(sorter.offsets().extent(0) == expected.offsets.size());
  CHECK((to_host(sorter.permutation().data(), n) == expected.permutation));
  CHECK((to_host(sorter.offsets().data(), bins + 1) == expected.offsets));
  auto counts = expected.offsets;
  std::adjacent_difference(counts.begin(), counts.end(), counts.begin());
  counts.erase(counts.begin());
  CHECK((counts_of(sorter) == counts));
}

/// Values of rank 2 in a layout, each its row and column, are sorted by rows.
template <class Layout>
void check_rows(const lanewise::bin_sort<space>& sorter, const binned& expected,
                std::size_t columns) {
  const auto n = expected.permutation.size();
  const Kokkos::View<u32**, Layout, memory> values("values", n, columns), out("out", n, columns);
  const auto on_host = Kokkos::create_mirror(values);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t c = 0; c < columns; ++c) on_host(i, c) = static_cast<u32>(10 * i + c);
  }
  Kokkos::deep_copy(values, on_host);
  const auto wrong = [&](const auto& found) {
    make_space().fence();
    Kokkos::deep_copy(on_host, found);
    int count = 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (u32 c = 0; c < columns; ++c) count += on_host(i, c) != 10 * expected.permutation[i] + c;
    }
    return count;
  };
  sorter.sort(make_space(), values, out);
  CHECK(wrong(out) == 0);
  sorter.sort(make_space(), values);
  CHECK(wrong(values) == 0);
}

/// A View of host data in the memory of the tested space.
template <class V>
void fill_from(const V& view, const std::vector<typename V::non_const_value_type>& items) {
  const auto on_host = Kokkos::create_mirror_view(view);
  std::size_t k = 0;
  for (std::size_t i = 0; i < view.extent(0); ++i) {
    if constexpr (V::rank() == 1) {
      on_host(i) = items[k++];
    } else {
      for (std::size_t c = 0; c < view.extent(1); ++c) on_host(i, c) = items[k++];
    }
  }
  Kokkos::deep_copy(view, on_host);
}

/// The sorter beside a BinSort of the same operator: the same bins, and in each the same items,
/// which BinSort leaves in any order.
template <class Keys, class Op>
void check_beside_kokkos(const lanewise::bin_sort<space>& sorter, const Keys& keys, const Op& op) {
  using kokkos_space = typename memory::execution_space;
  Kokkos::BinSort<Keys, Op> peer(kokkos_space(), keys, op);
  peer.create_permute_vector(kokkos_space());
  Kokkos::fence();
  const auto offsets =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), peer.get_bin_offsets());
  const auto order =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), peer.get_permute_vector());
  const auto bins = sorter.bin_count();
  const auto own = to_host(sorter.offsets().data(), bins + 1);
  auto permutation = to_host(sorter.permutation().data(), sorter.size());
  REQUIRE(bins == static_cast<std::int64_t>(offsets.extent(0)));
  std::vector<u32> peers(order.data(), order.data() + order.extent(0));
  int wrong = own.back() != sorter.size();
  for (std::size_t b = 0; b < offsets.extent(0) && wrong == 0; ++b) {
    wrong += own[b] != offsets(b);
    const auto sort_bin = [&](std::vector<u32>& numbers) {
      std::sort(numbers.begin() + own[b], numbers.begin() + own[b + 1]);
    };
    sort_bin(permutation);
    sort_bin(peers);
  }
  CHECK(wrong == 0);
  CHECK((permutation == peers));
}

}  // namespace

TEST_CASE("bin_sort holds a stable order by bins and applies it", "[bin_sort][sanitize]") {
  const auto exec = make_space();
  lanewise::workspace work;
  for (const u32 bins : {1u, 2u, 255u, 256u, 257u, 65'536u, 100'003u}) {
    for (const std::int64_t n : {0, 1, 333, 20'011}) {
      if (is_emulated && n > 333 && bins != 255 && bins != 257) continue;
      CAPTURE(bins, n);
      const auto items = random_items<u32>(n);
      const array<u32> keys(items, 1);
      const auto expected = bins_of(
          n, bins, [&](u32 i) { return spread{bins}(items[i]); }, as_they_come);
      const lanewise::bin_sort sorter(exec, keys.const_view(), bins, spread{bins}, {.work = &work});
      check_order(sorter, expected);
      CHECK(keys.unchanged());
      sorter.sort(exec, keys.view(), &work);
      std::vector<u32> sorted;
      for (const u32 i : expected.permutation) sorted.push_back(items[i]);
      CHECK((keys.items() == sorted));
      CHECK(keys.guards_intact());
    }
  }
}

TEST_CASE("bin_sort with all items in one bin, and in none", "[bin_sort]") {
  const auto exec = make_space();
  const std::int64_t n = 5000;
  for (const u32 bins : {3u, 300u}) {
    for (const u32 key : {16u, 3u}) {
      CAPTURE(bins, key);
      const array<u32> keys(n, key);
      check_order(lanewise::bin_sort(exec, keys.view(), bins, spread{bins}),
                  bins_of(
                      n, bins, [&](u32) { return spread{bins}(key); }, as_they_come));
    }
  }
}

TEST_CASE("bin_sort sorts rows and strided Views", "[bin_sort]") {
  const auto exec = make_space();
  const std::int64_t n = 1000;
  const array<u32> table(random_items<u32>(2 * n, 109), 1);
  const Kokkos::View<u32*, Kokkos::LayoutStride, memory, Kokkos::MemoryUnmanaged> second(
      table.data() + 1, Kokkos::LayoutStride(static_cast<std::size_t>(n), 2));
  const auto item = [&](u32 i) { return table.original()[2 * i + 1]; };
  // Ten items in a hundred are above all bins.
  const auto expected = bins_of(
      n, 10, [&](u32 i) { return item(i) / 10; }, as_they_come);
  const lanewise::bin_sort sorter(exec, second, 10, lanewise::even_bins(0, 100));
  check_order(sorter, expected);
  check_rows<Kokkos::LayoutLeft>(sorter, expected, 3);
  check_rows<Kokkos::LayoutRight>(sorter, expected, 3);
  check_rows<Kokkos::LayoutRight>(sorter, expected, 0);

  const array<u32> out(n, 0u);
  auto sorted = table.original();
  std::vector<u32> column;
  for (std::size_t i = 0; i < expected.permutation.size(); ++i) {
    column.push_back(item(expected.permutation[i]));
    sorted[2 * i + 1] = column.back();
  }
  sorter.sort(exec, second, out.view());
  CHECK((out.items() == column));
  sorter.sort(exec, second);
  CHECK((table.items() == sorted));
  CHECK(table.guards_intact());
}

TEST_CASE("bin_sort of floating-point keys", "[bin_sort]") {
  const auto exec = make_space();
  const std::int64_t n = 700;
  const float none = std::numeric_limits<float>::quiet_NaN();
  const float most = std::numeric_limits<float>::infinity();
  std::vector<float> items;
  for (const u32 x : random_items<u32>(n, 1199)) items.push_back(static_cast<float>(x) - 100);
  for (std::size_t i = 0; i < items.size(); i += 7)
    items[i] = i % 2 == 0 ? none : i % 3 ? most : -most;
  const array<float> keys(items), edges({0.0f, 1.0f, 1.0f, 500.5f});
  const auto by_key = [&](u32 i, u32 j) { return items[i] < items[j]; };
  lanewise::bin_sort sorter(exec, keys.const_view(), 10, lanewise::even_bins(0.0f, 1000.0f));
  const auto even = [&](u32 i) {
    return items[i] >= 0 && items[i] < 1000 ? static_cast<int>(items[i] / 100) : -1;
  };
  check_order(sorter, bins_of(n, 10, even, as_they_come));
  sorter.assign(exec, keys.const_view(), 3, lanewise::range_bins(edges.const_view()));
  check_order(sorter, bins_of(
                          n, 3,
                          [&](u32 i) {
                            return items[i] >= 0 && items[i] < 1        ? 0
                                   : items[i] >= 1 && items[i] < 500.5f ? 2
                                                                        : -1;
                          },
                          as_they_come));
  // Without NaN, whose place among those in no bin is that of radix_sort.
  for (auto& item : items) item = item != item ? -1.0f : item;
  const array<float> numbers(items);
  sorter.assign(exec, numbers.const_view(), 10, lanewise::even_bins(0.0f, 1000.0f),
                {.within_bins = true});
  check_order(sorter, bins_of(n, 10, even, by_key));
}

TEST_CASE("bin_sort sorts within bins by any order", "[bin_sort]") {
  const auto exec = make_space();
  const std::int64_t n = 700;
  const auto items = random_items<u32>(n, 2999);
  std::vector<named> names;
  for (const u32 key : items) names.push_back({key, static_cast<u32>(names.size())});
  const array<named> keys(names);
  const lanewise::bin_sort sorter(exec, keys.const_view(), 20, bin_of_named{},
                                  {.within_bins = true});
  check_order(sorter, bins_of(
                          n, 20, [&](u32 i) { return items[i] / 100; },
                          [&](u32 i, u32 j) { return items[i] < items[j]; }));
}

TEST_CASE("bin_sort takes binning operators of Kokkos", "[bin_sort]") {
  const auto exec = make_space();
  const std::int64_t n = 900;
  const auto items = random_items<u32>(n, 1000);
  using number_view = Kokkos::View<float*, memory>;
  const number_view keys("keys", static_cast<std::size_t>(n));
  std::vector<float> key;
  for (const u32 item : items) key.push_back(static_cast<float>(item) / 10);
  fill_from(keys, key);
  const auto host_keys = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), keys);
  for (const int bins : {40, 300}) {
    CAPTURE(bins);
    const Kokkos::BinOp1D<number_view> op(bins, 0.0f, 100.0f);
    const auto bin = [&](u32 i) { return op.bin(host_keys, static_cast<int>(i)); };
    lanewise::bin_sort sorter(exec, keys, op);
    check_order(sorter, bins_of(n, bins + 1, bin, as_they_come));
    check_beside_kokkos(sorter, keys, op);
    sorter.assign(exec, keys, op, {.within_bins = true});
    check_order(sorter,
                bins_of(n, bins + 1, bin, [&](u32 i, u32 j) { return op(host_keys, i, j); }));
  }
}

/// A third of the items are in one bin, and have few keys.
TEST_CASE("bin_sort sorts within small bins and large ones", "[bin_sort][sanitize]") {
  const auto exec = make_space();
  using number_view = Kokkos::View<float*, memory>;
  for (const std::int64_t n : {1, 2, 300, is_emulated ? 3000 : 60'000}) {
    const auto items = random_items<u32>(n, 5000);
    std::vector<float> key;
    for (const u32 item : items)
      key.push_back(static_cast<float>(item % 3 == 0 ? item % 10 : item));
    const number_view keys("keys", static_cast<std::size_t>(n));
    fill_from(keys, key);
    const auto host_keys = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), keys);
    for (const int bins : {1, 40, 300}) {
      CAPTURE(n, bins);
      const Kokkos::BinOp1D<number_view> op(bins, 0.0f, 4000.0f);
      const auto bin = [&](u32 i) { return op.bin(host_keys, static_cast<int>(i)); };
      lanewise::bin_sort sorter(exec, keys, op, {.within_bins = true});
      check_order(sorter,
                  bins_of(n, bins + 1, bin, [&](u32 i, u32 j) { return op(host_keys, i, j); }));
    }
  }
}

/// Says of some pairs of items that each comes before the other.
struct without_order {
  static int max_bins() { return 3; }
  template <class Keys>
  KOKKOS_FUNCTION int bin(const Keys& keys, int i) const {
    return static_cast<int>(keys(i) % 3);
  }
  template <class Keys>
  KOKKOS_FUNCTION bool operator()(const Keys&, int i, int j) const {
    return (7 * i + 3 * j) % 4 < 2;
  }
};

TEST_CASE("bin_sort gives numbers of items where there is no order", "[bin_sort][sanitize]") {
  const auto exec = make_space();
  for (const std::int64_t n : {100, 2000}) {
    const array<u32> keys(random_items<u32>(n, 1000));
    const lanewise::bin_sort sorter(exec, keys.const_view(), without_order{},
                                    {.within_bins = true});
    exec.fence();
    const auto numbers = to_host(sorter.permutation().data(), n);
    CHECK(std::all_of(numbers.begin(), numbers.end(), [&](u32 i) { return i < n; }));
  }
}

TEST_CASE("bin_sort takes cells of three dimensions", "[bin_sort]") {
  const auto exec = make_space();
  const std::int64_t n = 900;
  using point_view = Kokkos::View<double* [3], memory>;
  const point_view points("points", static_cast<std::size_t>(n));
  std::vector<double> coordinates;
  for (const u32 x : random_items<u32>(3 * n, 1000)) coordinates.push_back(static_cast<double>(x));
  fill_from(points, coordinates);
  const auto host_points = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), points);
  double lower[3] = {0, 0, 0}, upper[3] = {1001, 1001, 1001};
  int cells[3] = {8, 5, 9};
  const Kokkos::BinOp3D<point_view> op(cells, lower, upper);
  const auto bin = [&](u32 i) { return op.bin(host_points, static_cast<int>(i)); };
  lanewise::bin_sort sorter(exec, points, op);
  check_order(sorter, bins_of(n, 360, bin, as_they_come));
  check_beside_kokkos(sorter, points, op);
  sorter.assign(exec, points, op, {.within_bins = true});
  const auto expected = bins_of(n, 360, bin, [&](u32 i, u32 j) { return op(host_points, i, j); });
  check_order(sorter, expected);
  sorter.sort(exec, points);
  exec.fence();
  const auto sorted = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), points);
  int wrong = 0;
  for (std::size_t i = 0; i < expected.permutation.size(); ++i) {
    for (std::size_t c = 0; c < 3; ++c)
      wrong += sorted(i, c) != coordinates[3 * expected.permutation[i] + c];
  }
  CHECK(wrong == 0);
}

TEST_CASE("bin_sort makes another order in its memory, and moves", "[bin_sort]") {
  const auto exec = make_space();
  const std::int64_t n = 500;
  const auto items = random_items<u32>(n);
  const array<u32> keys(items);
  lanewise::bin_sort first(exec, keys.const_view(), 400, spread{400});
  const auto expected = [&](std::int64_t count, u32 bins) {
    return bins_of(
        count, bins, [&, bins](u32 i) { return spread{bins}(items[i]); }, as_they_come);
  };
  lanewise::bin_sort second(std::move(first));
  check_order(second, expected(n, 400));
  const auto* const where = second.offsets().data();
  second.assign(exec, Kokkos::View<const u32*, memory, Kokkos::MemoryUnmanaged>(keys.data(), 90), 8,
                spread{8});
  check_order(second, expected(90, 8));
  CHECK(second.offsets().data() == where);
}

TEST_CASE("bin_sort refuses what does not fit", "[bin_sort]") {
  using Catch::Matchers::ContainsSubstring;
  const auto exec = make_space();
  const array<u32> keys(10, 1u), short_values(9, 1u);
  const array<float> numbers(10, 1.0f);
  const auto bins_throw = [&](std::int64_t bins, const char* message) {
    CHECK_THROWS_WITH(lanewise::bin_sort(exec, keys.const_view(), bins, spread{1}),
                      ContainsSubstring(message));
  };
  bins_throw(0, "bin_sort: bin_count is 0, not in [1, 2147483647]");
  bins_throw(std::int64_t{1} << 31, "bin_sort: bin_count is 2147483648, not in [1, 2147483647]");
  CHECK_THROWS_WITH(lanewise::bin_sort(exec, numbers.const_view(), lanewise::most_bins + 1,
                                       lanewise::even_bins(0.0f, 1.0f)),
                    ContainsSubstring("bin_sort: bin_count is 2097153, not in [1, 2097152]"));
  CHECK_THROWS_WITH(
      lanewise::bin_sort(exec, numbers.const_view(), 4, lanewise::even_bins(2.0f, 1.0f)),
      ContainsSubstring("bin_sort: the bins' lower is 2, not less than upper, 1"));
  using key_view = array<u32>::const_view_type;
  CHECK_THROWS_WITH(lanewise::bin_sort(exec, key_view(nullptr, 4), 4, spread{4}),
                    ContainsSubstring("bin_sort: keys has 4 items and no memory"));
  const lanewise::bin_sort sorter(exec, keys.const_view(), 5, spread{5});
  CHECK_THROWS_WITH(sorter.sort(exec, short_values.view()),
                    ContainsSubstring("bin_sort: values has 9 rows, keys had 10"));
  CHECK_THROWS_WITH(sorter.sort(exec, keys.view(), short_values.view()),
                    ContainsSubstring("bin_sort: out has 9 rows, keys had 10"));
  CHECK_THROWS_WITH(sorter.sort(exec, keys.view(), keys.view()),
                    ContainsSubstring("bin_sort: in [") && ContainsSubstring("overlap"));
}
