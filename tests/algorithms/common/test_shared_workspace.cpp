// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/emulated.hpp>
#include <lanewise/sequence/reduce.hpp>
#include <lanewise/sequence/scan.hpp>
#include <lanewise/sort/multisplit.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <thread>

// One workspace for many calls of every algorithm.

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using backend = lanewise::backend_of<space>;

/// Input and expected results of calls whose chains have different word formats; `prefix` items of
/// it are used.
struct calls {
  std::vector<u32> numbers;
  std::vector<affine> maps;

  explicit calls(std::int64_t n, std::uint64_t salt = 0)
      : numbers(random_items<u32>(n, most_number<u32>(), salt)),
        maps(random_items<affine>(n, most_number<affine>(), salt)) {}

  std::vector<u32> first_numbers(std::int64_t n) const {
    return {numbers.begin(), numbers.begin() + n};
  }
  std::vector<affine> first_maps(std::int64_t n) const { return {maps.begin(), maps.begin() + n}; }

  /// Empty if call number `which` on the first n items gives the right result.
  std::string wrong(int which, std::int64_t n, const space& exec, lanewise::workspace* work) const {
    const auto items = first_numbers(n);
    const array<u32> in(items);
    switch (which) {
      case 0: {
        const array<u32> out(n, 77u);
        lanewise::inclusive_scan(exec, in.const_view(), out.view(), lanewise::plus{},
                                 {.work = work});
        return difference(out.items(), oracle::inclusive_scan(items, lanewise::plus{}));
      }
      case 1: {
        const array<u64> out(n, u64{77});
        lanewise::exclusive_scan(exec, in.const_view(), out.view(), lanewise::plus{}, u64{1} << 50,
                                 {.work = work});
        return difference(out.items(),
                          oracle::exclusive_scan(items, u64{1} << 50, lanewise::plus{}));
      }
      case 2: {
        const auto maps_in = first_maps(n);
        const array<affine> in_maps(maps_in);
        const array<affine> out(n, affine{});
        lanewise::inclusive_scan(exec, in_maps.const_view(), out.view(), then{}, {.work = work});
        return difference(out.items(), oracle::inclusive_scan(maps_in, then{}));
      }
      case 3: {
        const u64 sum =
            lanewise::reduce(exec, in.const_view(), lanewise::plus{}, u64{9}, {.work = work});
        return sum == oracle::reduce(items, lanewise::plus{}, u64{9}) ? "" : "wrong sum";
      }
      case 4: {
        const auto maps_in = first_maps(n);
        const array<affine> in_maps(maps_in);
        const affine all =
            lanewise::reduce(exec, in_maps.const_view(), then{}, affine{1, 2, 3}, {.work = work});
        return all == oracle::reduce(maps_in, then{}, affine{1, 2, 3}) ? "" : "wrong composition";
      }
      default: {
        const array<u32> out(n, 77u);
        lanewise::multisplit(exec, in.const_view(), out.view(), lanewise::at_most<256>{100},
                             modulo{100}, {.work = work});
        return difference(out.items(),
                          oracle::gather(items, oracle::multisplit(items, 100, modulo{100}).index));
      }
    }
  }
};

constexpr int kinds = 6;
const std::int64_t most = some_tiles(tile_items<u32, lanewise::kernels::scan_policy<u32>>);

}  // namespace

TEST_CASE("One workspace serves all algorithms and types in any order", "[workspace]") {
  const auto exec = make_space();
  const calls all(most);
  lanewise::workspace work;
  auto random = make_random(11);
  for (int round = 0; round < 60; ++round) {
    const int which = static_cast<int>(random() % kinds);
    const auto n = static_cast<std::int64_t>(random() % 4 == 0 ? random() % static_cast<u64>(most)
                                                               : random() % 3000);
    CAPTURE(round, which, n);
    CHECK(all.wrong(which, n, exec, &work) == "");
    if (round % 20 == 19) {
      lanewise::workspace moved = std::move(work);
      work = std::move(moved);
    }
    if (round % 30 == 29) work.release();
  }
}

TEST_CASE("The same call gives the same result every time it uses the workspace again",
          "[workspace][long]") {
  const auto exec = make_space();
  const calls all(most);
  for (int which = 0; which < kinds; ++which) {
    lanewise::workspace work;
    for (int repeat = 0; repeat < 50; ++repeat) {
      const std::int64_t n = repeat % 2 == 0 ? 2000 : most / (is_emulated ? 4 : 1);
      CAPTURE(which, repeat);
      CHECK(all.wrong(which, n, exec, &work) == "");
    }
  }
}

TEST_CASE("Calls with and without a workspace in every word format", "[workspace][sanitize]") {
  const auto exec = make_space();
  const calls all(most);
  lanewise::workspace work;
  for (int which = 0; which < kinds; ++which) {
    CAPTURE(which);
    CHECK(all.wrong(which, most, exec, nullptr) == "");
    CHECK(all.wrong(which, most, exec, &work) == "");
    CHECK(all.wrong(which, 100, exec, &work) == "");
  }
}

TEST_CASE("The workspace queries need no device and are enough", "[workspace]") {
  const auto exec = make_space();
  const calls all(most);
  const lanewise::workspace_size needs[kinds] = {
      lanewise::scan_workspace<u32, space>(most),
      lanewise::scan_workspace<u64, space>(most),
      lanewise::scan_workspace<affine, space>(most),
      lanewise::reduce_workspace<u64>(exec),
      lanewise::reduce_workspace<affine>(exec),
      lanewise::multisplit_workspace<u32, space>(most, 100)};
  for (int which = 0; which < kinds; ++which) {
    CAPTURE(which);
    lanewise::workspace work;
    work.reserve_for<backend>(exec, needs[which], "test");
    const auto bytes = work.bytes();
    const void* plain = work.plain();

    CHECK(all.wrong(which, most, exec, &work) == "");

    CHECK(work.bytes() == bytes);
    CHECK(work.plain() == plain);
  }
}

TEST_CASE("A workspace that is in use elsewhere is refused by every algorithm", "[workspace]") {
  const auto exec = make_space();
  lanewise::workspace work;
#if defined(LANEWISE_TEST_SPACE_EMULATED)
  const Kokkos::Serial other;
#else
  const lanewise::emulated other;
#endif
  const Kokkos::View<u32*, Kokkos::HostSpace> some("some", 3);
  lanewise::inclusive_scan(other, some, some, lanewise::plus{}, {.work = &work});
  const array<u32> in(3, 1u);
  const array<u32> out(3, 77u);
  const auto refused = [](const std::string& message, const char* algorithm) {
    return message.find(std::string("lanewise::") + algorithm +
                        ": the workspace is in use on another") == 0;
  };

  CHECK(refused(refusal([&] {
                  lanewise::inclusive_scan(exec, in.view(), out.view(), lanewise::plus{},
                                           {.work = &work});
                }),
                "inclusive_scan"));
  CHECK(refused(refusal([&] {
                  lanewise::exclusive_scan(exec, in.view(), out.view(), lanewise::plus{}, 0u,
                                           {.work = &work});
                }),
                "exclusive_scan"));
  CHECK(refused(
      refusal([&] { lanewise::reduce(exec, in.view(), lanewise::plus{}, 0u, {.work = &work}); }),
      "reduce"));
  CHECK(refused(refusal([&] {
                  lanewise::multisplit(exec, in.view(), out.view(), lanewise::at_most<256>{3},
                                       modulo{3}, {.work = &work});
                }),
                "multisplit"));
  CHECK(out.unchanged());
  work.release();
  CHECK_NOTHROW(lanewise::multisplit(exec, in.view(), out.view(), lanewise::at_most<256>{3},
                                     modulo{3}, {.work = &work}));
}

#if defined(LANEWISE_TEST_SPACE_EMULATED) || defined(LANEWISE_TEST_SPACE_SERIAL)
TEST_CASE("Two threads may call at the same time, with instances and workspaces of their own",
          "[workspace]") {
  // Kokkos::View allocates in the main thread only: the threads get everything ready made.
#if defined(LANEWISE_TEST_SPACE_EMULATED)
  const space instances[2] = {space(seed()), space(seed() + 1)};
#else
  const space instances[2] = {space(Kokkos::NewInstance{}), space(Kokkos::NewInstance{})};
#endif
  const auto items = random_items<u32>(most);
  const array<u32> in(items);
  const array<u32> outs[2] = {array<u32>(most, 77u), array<u32>(most, 77u)};
  lanewise::workspace work[2];
  const auto run = [&](int me) {
    for (int round = 0; round < 5; ++round)
      lanewise::inclusive_scan(instances[me], in.const_view(), outs[me].view(), lanewise::plus{},
                               {.work = &work[me]});
  };
  std::thread one(run, 0);
  std::thread other(run, 1);
  one.join();
  other.join();

  const auto expected = oracle::inclusive_scan(items, lanewise::plus{});
  CHECK(difference(outs[0].items(), expected) == "");
  CHECK(difference(outs[1].items(), expected) == "");
}
#endif
