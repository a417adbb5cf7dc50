// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/segments/reduce_by_key.hpp>
#include <lanewise/segments/run_length_decode.hpp>
#include <lanewise/segments/segmented_reduce.hpp>
#include <lanewise/sequence/adjacent_difference.hpp>
#include <lanewise/sequence/min_max_element.hpp>
#include <lanewise/sequence/reduce.hpp>
#include <lanewise/sequence/scan_reverse.hpp>
#include <lanewise/sequence/scan_two_level.hpp>
#include <lanewise/sequence/transform.hpp>
#include <lanewise/sort/multisplit.hpp>

#include <catch2/catch_template_test_macros.hpp>

#include <algorithms/select/check_compact.hpp>
#include <numeric>

// Items that are like no number: bool, and a struct that is aligned more than any vector.

namespace {

using namespace test;

// Devices have vectors of 16 bytes, and nvcc takes six minutes for items of 128.
#if defined(LANEWISE_TEST_SPACE_CUDA)
inline constexpr std::size_t line_bytes = 32;
#else
inline constexpr std::size_t line_bytes = 128;
#endif

/// One item fills a line, and knows what it is when it is made.
struct alignas(line_bytes) line {
  std::uint32_t number = 0;
  friend KOKKOS_FUNCTION bool operator==(const line& a, const line& b) {
    return a.number == b.number;
  }
  friend KOKKOS_FUNCTION bool operator<(const line& a, const line& b) {
    return a.number < b.number;
  }
  friend std::ostream& operator<<(std::ostream& out, const line& x) { return out << x.number; }
};

template <class T>
KOKKOS_FUNCTION T made_of(std::uint32_t number) {
  if constexpr (std::is_same_v<T, bool>) {
    return number % 2 != 0;
  } else {
    return {number};
  }
}
template <class T>
KOKKOS_FUNCTION std::uint32_t number_in(const T& x) {
  if constexpr (std::is_same_v<T, bool>) {
    return x ? 1 : 0;
  } else {
    return x.number;
  }
}

/// a -> b where b is not zero, else a. Does not commute.
struct last {
  template <class T>
  KOKKOS_FUNCTION T operator()(const T& a, const T& b) const {
    return number_in(b) != 0 ? b : a;
  }
};
struct next {
  template <class T>
  KOKKOS_FUNCTION T operator()(const T& x) const {
    return made_of<T>(number_in(x) + 1);
  }
};
struct has_odd_number {
  template <class T>
  KOKKOS_FUNCTION bool operator()(const T& x) const {
    return number_in(x) % 2 != 0;
  }
};
struct parity {
  template <class T>
  KOKKOS_FUNCTION std::uint32_t operator()(const T& x) const {
    return number_in(x) % 2;
  }
};
struct distance {
  template <class T>
  KOKKOS_FUNCTION T operator()(const T& a, const T& b) const {
    return made_of<T>(number_in(a) - number_in(b));
  }
};

/// What takes the place of std::vector<bool>.
template <class T>
class list {
 public:
  explicit list(std::int64_t n, const T& x = {})
      : view_("test::list", static_cast<std::size_t>(n)) {
    for (std::int64_t i = 0; i < n; ++i) view_(i) = x;
  }
  T& operator[](std::int64_t i) const { return view_(i); }
  std::int64_t size() const { return static_cast<std::int64_t>(view_.extent(0)); }
  const auto& view() const { return view_; }
  template <class V>
  static list of(const V& view) {
    Kokkos::fence();
    list all(static_cast<std::int64_t>(view.extent(0)));
    Kokkos::deep_copy(all.view_, view);
    return all;
  }
  friend bool operator==(const list& a, const list& b) {
    if (a.size() != b.size()) return false;
    for (std::int64_t i = 0; i < a.size(); ++i) {
      if (!(a[i] == b[i])) return false;
    }
    return true;
  }

 private:
  Kokkos::View<T*, Kokkos::HostSpace> view_;
};

template <class T>
list<T> some_items(std::int64_t n) {
  auto random = make_random(static_cast<std::uint64_t>(n));
  list<T> items(n);
  for (std::int64_t i = 0; i < n; ++i)
    items[i] = made_of<T>(static_cast<std::uint32_t>(random_number(random, 2)));
  return items;
}

/// Arrays in the memory of the tested space, aligned as their items ask: Kokkos does not.
class arena {
 public:
  template <class T>
  Kokkos::View<T*, memory> of(const list<T>& items) {
    const Kokkos::View<unsigned char*, memory> bytes("test::arena",
                                                     items.size() * sizeof(T) + alignof(T));
    blocks_.push_back(bytes);
    const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
    const std::size_t gap = (alignof(T) - address % alignof(T)) % alignof(T);
    const Kokkos::View<T*, memory> view(reinterpret_cast<T*>(bytes.data() + gap), items.size());
    Kokkos::deep_copy(view, items.view());
    return view;
  }

 private:
  std::vector<Kokkos::View<unsigned char*, memory>> blocks_;
};

constexpr std::int64_t n = is_emulated ? 5003 : 300'007;

}  // namespace

TEMPLATE_TEST_CASE("Items of every kind are transformed and scanned", "[item_types]", bool, line) {
  using T = TestType;
  const auto exec = make_space();
  arena space;
  const list<T> items = some_items<T>(n);
  const auto in = space.of(items);
  const auto out = space.of(list<T>(n));
  list<T> expected(n);
  const auto check = [&](const char* what) {
    CAPTURE(what);
    CHECK(list<T>::of(out) == expected);
  };
  const T init = made_of<T>(1);

  lanewise::transform(exec, in, out, next{});
  for (std::int64_t i = 0; i < n; ++i) expected[i] = next{}(items[i]);
  check("transform");
  lanewise::adjacent_difference(exec, in, out, distance{});
  for (std::int64_t i = 0; i < n; ++i)
    expected[i] = i > 0 ? distance{}(items[i], items[i - 1]) : items[0];
  check("adjacent_difference");

  T sum = items[0];
  for (std::int64_t i = 0; i < n; ++i) expected[i] = sum = i > 0 ? last{}(sum, items[i]) : sum;
  lanewise::inclusive_scan(exec, in, out, last{});
  check("inclusive_scan");
  lanewise::two_level::inclusive_scan(exec, in, out, last{});
  check("two_level");
  lanewise::inclusive_scan(exec, in, out, lanewise::deterministic(last{}));
  check("deterministic");
  sum = init;
  for (std::int64_t i = 0; i < n; ++i) {
    expected[i] = sum;
    sum = last{}(sum, items[i]);
  }
  lanewise::exclusive_scan(exec, in, out, last{}, init);
  check("exclusive_scan");
  CHECK(lanewise::reduce(exec, in, last{}, init) == sum);
  CHECK(lanewise::reduce(exec, in, lanewise::deterministic(last{}), init) == sum);
  sum = init;
  for (std::int64_t i = n - 1; i >= 0; --i) {
    expected[i] = sum;
    sum = last{}(items[i], sum);
  }
  lanewise::exclusive_scan_reverse(exec, in, out, last{}, init);
  check("exclusive_scan_reverse");

  list<std::uint8_t> flags(n);
  for (std::int64_t i = 0; i < n; ++i) flags[i] = i % 97 == 5;
  const auto heads = space.of(flags);
  lanewise::inclusive_segmented_scan(exec, in, heads, out, last{});
  for (std::int64_t i = 0; i < n; ++i)
    expected[i] = sum = i == 0 || flags[i] != 0 ? items[i] : last{}(sum, items[i]);
  check("inclusive_segmented_scan");
  lanewise::exclusive_scan_by_key(exec, in, in, out, last{}, init);
  for (std::int64_t i = 0; i < n; ++i) {
    if (i == 0 || !(items[i] == items[i - 1])) sum = init;
    expected[i] = sum;
    sum = last{}(sum, items[i]);
  }
  check("exclusive_scan_by_key");
}

TEMPLATE_TEST_CASE("Items of every kind are selected and split", "[item_types]", bool, line) {
  using T = TestType;
  const auto exec = make_space();
  arena space;
  const list<T> items = some_items<T>(n);
  const auto in = space.of(items);
  const list<T> blank(n, made_of<T>(2));
  const auto one = space.of(blank), two = space.of(blank);
  list<T> odd = list<T>::of(one), even = list<T>::of(one), parted = list<T>::of(one);
  std::int64_t odds = 0;
  for (std::int64_t i = 0; i < n; ++i)
    if (has_odd_number{}(items[i])) odd[odds++] = items[i];
  for (std::int64_t i = 0, k = 0, e = 0; i < n; ++i) {
    if (has_odd_number{}(items[i])) continue;
    even[e++] = items[i];
    parted[k++] = items[i];
  }
  for (std::int64_t k = 0; k < odds; ++k) parted[n - odds + k] = odd[k];

  CHECK(lanewise::select_if(exec, in, one, has_odd_number{}) == odds);
  CHECK(list<T>::of(one) == odd);
  CHECK(lanewise::partition(exec, in, one, two, has_odd_number{}) == odds);
  CHECK(list<T>::of(one) == odd);
  CHECK(list<T>::of(two) == even);
  lanewise::multisplit(exec, in, one, lanewise::at_most<256>{2}, parity{});
  CHECK(list<T>::of(one) == parted);
  lanewise::multisplit(exec, in, in, one, two, lanewise::at_most<256>{2}, parity{});
  CHECK(list<T>::of(one) == parted);
  CHECK(list<T>::of(two) == parted);

  std::int64_t least = 0;
  for (std::int64_t i = 1; i < n; ++i)
    if (items[i] < items[least]) least = i;
  const auto found = lanewise::min_element(exec, in);
  CHECK(found.value == items[least]);
  CHECK(found.index == least);
}

TEMPLATE_TEST_CASE("Runs and segments are of items of every kind", "[item_types]", bool, line) {
  using T = TestType;
  const auto exec = make_space();
  arena space;
  const list<T> items = some_items<T>(n);
  const auto in = space.of(items);
  list<T> keys(n, made_of<T>(2)), sums(n, made_of<T>(2)), decoded(n);
  list<std::int64_t> lengths(n), offsets(n + 1);
  std::int64_t runs = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    if (i == 0 || !(items[i] == items[i - 1])) {
      keys[runs] = sums[runs] = items[i];
      offsets[runs] = i;
      lengths[runs++] = 0;
    }
    ++lengths[runs - 1];
    sums[runs - 1] = last{}(sums[runs - 1], items[i]);
  }
  offsets[runs] = n;
  const list<T> blank(n, made_of<T>(2));
  const auto one = space.of(blank), two = space.of(blank);
  const auto counts = space.of(list<std::int64_t>(n));

  CHECK(lanewise::unique(exec, in, one) == runs);
  CHECK(list<T>::of(one) == keys);
  Kokkos::deep_copy(one, two);
  CHECK(lanewise::unique_by_key(exec, in, in, one, two) == runs);
  CHECK(list<T>::of(one) == keys);
  CHECK(list<T>::of(two) == keys);
  CHECK(lanewise::run_length_encode(exec, in, one, counts) == runs);
  CHECK(list<T>::of(one) == keys);
  CHECK(list<std::int64_t>::of(counts) == lengths);
  CHECK(lanewise::run_length_decode(exec, one, counts, two) == n);
  CHECK(list<T>::of(two) == items);
  const auto three = space.of(blank);
  CHECK(lanewise::reduce_by_key(exec, in, in, one, three, last{}) == runs);
  CHECK(list<T>::of(three) == sums);

  const auto ends = space.of(offsets);
  const T init = made_of<T>(0);
  const auto rows = Kokkos::subview(ends, std::make_pair(std::int64_t{0}, runs + 1));
  const auto results = space.of(list<T>(runs));
  lanewise::segmented_reduce(exec, in, rows, results, last{}, init);
  const list<T> found = list<T>::of(results);
  bool same = true;
  for (std::int64_t r = 0; r < runs; ++r) same = same && found[r] == sums[r];
  CHECK(same);
}
