// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// clang-format off: before the library, which allocates by the names that it replaces
#include <algorithms/common/check_allocation_failure.hpp>
// clang-format on

#include <lanewise/segments/run_length_decode.hpp>
#include <lanewise/segments/segmented_reduce.hpp>
#include <lanewise/select/select.hpp>
#include <lanewise/sequence/allocate.hpp>
#include <lanewise/sequence/reduce.hpp>
#include <lanewise/sequence/scan.hpp>
#include <lanewise/sequence/transform.hpp>
#include <lanewise/sort/multisplit.hpp>
#include <support/generators.hpp>

namespace {

using namespace test;
using u32 = std::uint32_t;

constexpr std::int64_t tile = tile_items<u32, lanewise::kernels::scan_policy<u32>>;
/// Enough for a chain. On the emulated backend, which allocates for every warp, calls fail often.
const std::int64_t n = is_emulated ? tile + 77 : some_tiles(tile);

struct is_odd {
  KOKKOS_FUNCTION bool operator()(const u32& x) const { return x % 2 != 0; }
};

}  // namespace

TEST_CASE("Scans survive that an allocation fails", "[allocation][sanitize]") {
  const auto items = random_items<affine>(n);
  const array<affine> in(items);
  const array<affine> out(n, affine{});
  const auto expected = oracle::inclusive_scan(items, then{});

  every_allocation_fails_once(
      [&](lanewise::workspace* work) {
        lanewise::inclusive_scan(make_space(), in.const_view(), out.view(), then{}, {.work = work});
      },
      [&] {
        CHECK(difference(out.items(), expected) == "");
        out.assign(out.original());
      });
}

TEST_CASE("Reductions survive that an allocation fails", "[allocation][sanitize]") {
  const auto items = random_items<u32>(n);
  const array<u32> in(items);
  u32 sum = 0;

  every_allocation_fails_once(
      [&](lanewise::workspace* work) {
        sum = lanewise::reduce(make_space(), in.const_view(), lanewise::plus{}, 3u, {.work = work});
      },
      [&] {
        CHECK(sum == oracle::reduce(items, lanewise::plus{}, 3u));
        sum = 0;
      });
}

TEST_CASE("Multisplits survive that an allocation fails", "[allocation]") {
  const auto items = random_items<u32>(n);
  const array<u32> in(items);
  const array<u32> out(n, 0u);
  const auto expected = oracle::gather(items, oracle::multisplit(items, 40, modulo{40}).index);

  every_allocation_fails_once(
      [&](lanewise::workspace* work) {
        lanewise::multisplit(make_space(), in.const_view(), out.view(), 40, modulo{40},
                             {.work = work});
      },
      [&] {
        CHECK(difference(out.items(), expected) == "");
        out.assign(out.original());
      });
}

TEST_CASE("Multisplits into many buckets survive that an allocation fails", "[allocation]") {
  const auto items = random_items<u32>(n);
  const array<u32> in(items);
  const array<u32> out(n, 0u);
  const auto expected = oracle::gather(items, oracle::multisplit(items, 400, modulo{400}).index);

  every_allocation_fails_once(
      [&](lanewise::workspace* work) {
        lanewise::multisplit(make_space(), in.const_view(), out.view(), 400,
                             lanewise::costly(modulo{400}), {.work = work});
      },
      [&] {
        CHECK(difference(out.items(), expected) == "");
        out.assign(out.original());
      });
}

TEST_CASE("Selections survive that an allocation fails", "[allocation]") {
  const auto items = random_items<u32>(n);
  const array<u32> in(items);
  const array<u32> out(n, 77u);
  std::vector<u32> expected;
  for (const u32 x : items) {
    if (is_odd{}(x)) expected.push_back(x);
  }
  std::int64_t count = -1;

  every_allocation_fails_once(
      [&](lanewise::workspace* work) {
        count = lanewise::select_if(make_space(), in.const_view(), out.view(), is_odd{},
                                    {.work = work});
      },
      [&] {
        CHECK(count == static_cast<std::int64_t>(expected.size()));
        CHECK(difference(out.items(), expected, out.original()) == "");
        out.assign(out.original());
        count = -1;
      });
}

TEST_CASE("Reductions of segments survive that an allocation fails", "[allocation]") {
  const array<u32> in(n, 1u);
  const auto expected = random_items<u32>(n / 16, 15);  // items per segment
  const auto begins = oracle::exclusive_scan(expected, 0u, lanewise::plus{});
  std::vector<u32> ends = begins;
  ends.push_back(begins.back() + expected.back());
  const array<u32> offsets(ends);
  const array<u32> out(n / 16, 77u);

  every_allocation_fails_once(
      [&](lanewise::workspace* work) {
        lanewise::segmented_reduce(make_space(), in.const_view(), offsets.const_view(), out.view(),
                                   lanewise::plus{}, 0u, {.work = work});
      },
      [&] {
        CHECK(difference(out.items(), expected) == "");
        out.assign(out.original());
      });
}

TEST_CASE("Allocating and decoding survive that an allocation fails", "[allocation]") {
  const auto lengths = random_items<u32>(is_emulated ? 500 : n, 3);
  const auto begins = oracle::exclusive_scan(lengths, 0u, lanewise::plus{});
  const std::int64_t all = begins.back() + lengths.back();
  std::vector<u32> expected;
  for (std::size_t run = 0; run < lengths.size(); ++run)
    expected.insert(expected.end(), lengths[run], begins[run]);
  const array<u32> length(lengths);
  const array<u32> offsets(static_cast<std::int64_t>(lengths.size()), 77u);
  const array<u32> out(all, 77u);
  std::int64_t count = -1;

  every_allocation_fails_once(
      [&](lanewise::workspace* work) {
        count =
            lanewise::allocate(make_space(), length.const_view(), offsets.view(), {.work = work});
      },
      [&] {
        CHECK(count == all);
        CHECK(difference(offsets.items(), begins) == "");
        offsets.assign(offsets.original());
        count = -1;
      });

  const array<u32> keys(begins);
  every_allocation_fails_once(
      [&](lanewise::workspace* work) {
        count = lanewise::run_length_decode(make_space(), keys.const_view(), length.const_view(),
                                            out.view(), {.work = work});
      },
      [&] {
        CHECK(count == all);
        CHECK(difference(out.items(), expected) == "");
        out.assign(out.original());
        count = -1;
      });
}

TEST_CASE("A workspace that could not grow still serves", "[allocation][sanitize]") {
  const auto exec = make_space();
  const auto items = random_items<u32>(n);
  const array<u32> in(items);
  const array<u32> out(n, 0u);
  lanewise::workspace work;
  const auto scan = [&] {
    lanewise::inclusive_scan(exec, in.const_view(), out.view(), lanewise::plus{}, {.work = &work});
    exec.fence();
    CHECK(difference(out.items(), oracle::inclusive_scan(items, lanewise::plus{})) == "");
  };
  scan();

  const bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, memory>::accessible;
  for (const lanewise::workspace_size much :
       {lanewise::workspace_size{0, std::size_t{1} << 46}, {std::int64_t{1} << 42, 0}}) {
    bool refused = false;
    until_failure = on_host ? 0 : -1;  // sanitizers abort when they are asked for that much
    try {
      lanewise::reserve(exec, work, much);
    } catch (const std::exception&) {
      refused = true;
    }
    until_failure = -1;
    CHECK(refused);
    scan();
  }
}

#if defined(LANEWISE_TEST_SPACE_EMULATED)
TEST_CASE("Where a thread cannot be had, no warp begins", "[allocation][sanitize]") {
  const int most = 5;
  int failures = 0;
  for (bool failed = true; failed;) {
    const long before = outstanding;
    {
      lanewise::backends::emulated::thread_pool all;
      std::atomic<int> began{0};
      const std::function<void(int)> work = [&](int seat) { began += 1 << 4 * seat; };
      until_failure = failures;
      try {
        all.run(most, work);
        failed = false;
      } catch (const std::bad_alloc&) {
        ++failures;
      }
      until_failure = -1;
      CHECK(began == (failed ? 0 : 0x11111));
      began = 0;
      all.run(most, work);
      CHECK(began == 0x11111);
    }
    CHECK(outstanding == before);
    REQUIRE(failures < 1000);
  }
  CHECK(failures >= most);
}
#endif
