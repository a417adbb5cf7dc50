// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/emulated.hpp>
#include <lanewise/host.hpp>
#include <lanewise/sequence/reduce.hpp>
#include <lanewise/sequence/scan.hpp>
#include <lanewise/sequence/transform.hpp>
#include <lanewise/sort/multisplit.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

// Options in memory that the execution space cannot reach, and memory that both sides can.

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using u32 = std::uint32_t;

template <class Exec, class Count, class Offsets, class Errors, class Array>
void check_unreachable(const Exec& exec, const Count& count, const Offsets& offsets,
                       const Errors& errors, const Array& in, const Array& out) {
  const auto unreachable = [](const std::string& message, const char* algorithm,
                              const char* option) {
    return message == std::string("lanewise::") + algorithm + ": the View given as " + option +
                          " is in memory of " + Count::memory_space::name() + ", which " +
                          Exec::name() + " cannot reach";
  };

  CHECK(unreachable(
      refusal([&] { lanewise::transform(exec, in, out, square_plus_one{}, {.count = count}); }),
      "transform", "options.count"));
  CHECK(unreachable(
      refusal([&] { lanewise::reduce(exec, in, lanewise::plus{}, 0u, {.count = count}); }),
      "reduce", "options.count"));
  CHECK(unreachable(
      refusal([&] { lanewise::inclusive_scan(exec, in, out, lanewise::plus{}, {.count = count}); }),
      "inclusive_scan", "options.count"));
  CHECK(unreachable(refusal([&] {
                      lanewise::exclusive_scan(exec, in, out, lanewise::plus{}, 0u,
                                               {.count = count});
                    }),
                    "exclusive_scan", "options.count"));
  CHECK(unreachable(
      refusal([&] { lanewise::multisplit(exec, in, out, 3, modulo{3}, {.count = count}); }),
      "multisplit", "options.count"));
  CHECK(unreachable(
      refusal([&] { lanewise::multisplit(exec, in, out, 3, modulo{3}, {.offsets = offsets}); }),
      "multisplit", "options.offsets"));
  CHECK(unreachable(
      refusal([&] { lanewise::multisplit(exec, in, out, 3, modulo{3}, {.errors = errors}); }),
      "multisplit", "options.errors"));
}

template <class Space>
void check_unreachable_from_host() {
  const Kokkos::View<u32*, Kokkos::HostSpace> in("in", 5), out("out", 5);
  check_unreachable(Space(), Kokkos::View<std::int64_t, Kokkos::CudaSpace>("count"),
                    Kokkos::View<std::int64_t*, Kokkos::CudaSpace>("offsets", 4),
                    Kokkos::View<lanewise::status, Kokkos::CudaSpace>("errors"), in, out);
}

}  // namespace

TEST_CASE("Options in host memory are refused on CUDA", "[cuda][options]") {
  const array<u32> in(5, 1u);
  const array<u32> out(5, 77u);

  check_unreachable(make_space(), Kokkos::View<std::int64_t, Kokkos::HostSpace>("count"),
                    Kokkos::View<std::int64_t*, Kokkos::HostSpace>("offsets", 4),
                    Kokkos::View<lanewise::status, Kokkos::HostSpace>("errors"), in.view(),
                    out.view());

  CHECK(out.unchanged());
}

TEST_CASE("Options in CUDA memory are refused on the host", "[cuda][options]") {
  check_unreachable_from_host<Kokkos::Serial>();
  check_unreachable_from_host<Kokkos::OpenMP>();
  check_unreachable_from_host<lanewise::emulated>();
}

TEST_CASE("Calls accept managed and pinned memory on both sides", "[cuda]") {
  constexpr std::int64_t n = 10'007;
  const auto items = random_items<u32>(n);
  const Kokkos::View<u32*, Kokkos::CudaUVMSpace> managed("managed", n);
  const Kokkos::View<u32*, Kokkos::CudaHostPinnedSpace> pinned("pinned", n);
  const Kokkos::View<std::int64_t, Kokkos::CudaHostPinnedSpace> count("count");
  count() = n - 3;
  for (std::int64_t i = 0; i < n; ++i) managed(i) = items[static_cast<std::size_t>(i)];
  Kokkos::fence();
  const auto expected =
      oracle::inclusive_scan(std::vector<u32>(items.begin(), items.end() - 3), lanewise::plus{});

  lanewise::inclusive_scan(Kokkos::Cuda(), managed, pinned, lanewise::plus{}, {.count = count});
  Kokkos::fence();
  CHECK(difference(std::vector<u32>(pinned.data(), pinned.data() + n - 3), expected) == "");

  Kokkos::deep_copy(pinned, 77u);
  lanewise::inclusive_scan(Kokkos::Serial(), managed, pinned, lanewise::plus{}, {.count = count});
  CHECK(difference(std::vector<u32>(pinned.data(), pinned.data() + n - 3), expected) == "");
}
