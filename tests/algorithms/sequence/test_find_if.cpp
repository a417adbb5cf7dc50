// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/sequence/find_if.hpp>
#include <support/functors.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;

struct is_marked {
  std::uint64_t mark;
  template <class T>
  KOKKOS_FUNCTION bool operator()(const T& x) const {
    return number_of(x) == mark;
  }
};

constexpr std::uint64_t mark = 7;

/// Items with marks at these places.
template <class T>
std::vector<T> items_with_marks(std::int64_t n, const std::vector<std::int64_t>& places) {
  std::vector<T> items(static_cast<std::size_t>(n), item_of<T>(3));
  for (const std::int64_t i : places) items[static_cast<std::size_t>(i)] = item_of<T>(mark);
  return items;
}

template <class T>
void check_found(std::int64_t n, const std::vector<std::int64_t>& places) {
  CAPTURE(n, places.size());
  const array<T> in(items_with_marks<T>(n, places), 1);
  const cell<std::int64_t> found(-7);
  lanewise::find_if(make_space(), in.const_view(), found.view(), is_marked{mark});
  CHECK(found.get() == (places.empty() ? n : *std::min_element(places.begin(), places.end())));
  CHECK(in.unchanged());
}

/// Squares, whose reads are counted.
struct counted_square {
  std::uint64_t* reads;
  KOKKOS_FUNCTION std::uint64_t operator()(std::int64_t i) const {
    Kokkos::atomic_inc(reads);
    return static_cast<std::uint64_t>(i * i);
  }
};

struct is_large {
  std::uint64_t least;
  KOKKOS_FUNCTION bool operator()(std::uint64_t x) const { return x >= least; }
};

template <class Exec>
bool has_one_thread(const Exec& exec) {
  if constexpr (requires { exec.concurrency(); }) return exec.concurrency() == 1;
  return false;
}

}  // namespace

TEMPLATE_TEST_CASE("find_if finds the first of none, one or many items", "[find_if][sanitize]",
                   std::uint32_t, affine MORE_TYPES(std::uint8_t)) {
  auto random = make_random(23);
  for (const std::int64_t n : {0, 1, 2, 31, 32, 33, 257, 1000, 4097, 20'000}) {
    check_found<TestType>(n, {});
    if (n == 0) continue;
    check_found<TestType>(n, {0});
    check_found<TestType>(n, {n - 1});
    check_found<TestType>(n, {n / 2, n - 1});
    for (const int marks : {1, 2, 50}) {
      std::vector<std::int64_t> places;
      for (int i = 0; i < marks; ++i)
        places.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n)));
      check_found<TestType>(n, places);
    }
  }
}

TEST_CASE("find_if ends with the count, and returns", "[find_if][sanitize]") {
  const array<std::uint32_t> in(items_with_marks<std::uint32_t>(9000, {8000, 8500}));
  CHECK(lanewise::find_if(make_space(), in.const_view(), is_marked{mark}) == 8000);
  lanewise::workspace work;
  lanewise::reserve(make_space(), work, lanewise::find_if_workspace());
  const std::size_t bytes = work.bytes();
  for (const std::int64_t used : {0, 1, 7999, 8000, 8001, 9000}) {
    CAPTURE(used);
    const cell<std::int64_t> count(used);
    CHECK(lanewise::find_if(make_space(), in.const_view(), is_marked{mark},
                            {.work = &work, .count = count.view()}) ==
          std::min<std::int64_t>(used, 8000));
  }
  CHECK(work.bytes() == bytes);
  const cell<std::uint8_t> narrow;
  lanewise::find_if(make_space(), in.const_view(), narrow.view(), is_marked{mark});
  CHECK(narrow.get() == 255);
}

TEST_CASE("find_if reads a source, and not far beyond what it finds", "[find_if]") {
  const std::int64_t n = 100'000;
  const cell<std::uint64_t> reads(0);
  const auto squares = lanewise::generated(n, counted_square{reads.data()});
  CHECK(lanewise::find_if(make_space(), squares, is_large{~std::uint64_t{0}}) == n);
  CHECK(reads.get() == static_cast<std::uint64_t>(n));
  reads.set(0);
  CHECK(lanewise::find_if(make_space(), squares, is_large{50}) == 8);
  CHECK(reads.get() <= static_cast<std::uint64_t>(n));
  // Several threads may have read all when the first one begins.
  if (has_one_thread(make_space())) CHECK(reads.get() < 1000);
}

TEST_CASE("find_if refuses memory that there is not", "[find_if]") {
  using view = Kokkos::View<std::uint32_t*, memory, Kokkos::MemoryUnmanaged>;
  CHECK_THAT(refusal([] { lanewise::find_if(make_space(), view(nullptr, 5), is_marked{mark}); }),
             ContainsSubstring("find_if: in has 5 items and no memory"));
}
