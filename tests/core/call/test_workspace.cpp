// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/backend.hpp>
#include <lanewise/emulated.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using backend = lanewise::backend_of<space>;

}  // namespace

TEST_CASE("A workspace starts empty and grows when a call needs more", "[workspace]") {
  const auto exec = make_space();
  lanewise::workspace work;
  REQUIRE(work.bytes() == 0);

  work.reserve_for<backend>(exec, {0, 1000}, "test");
  const auto plain_only = work.bytes();
  const void* plain = work.plain();
  work.reserve_for<backend>(exec, {0, 900}, "test");
  CHECK(plain_only >= 1000);
  CHECK(work.bytes() == plain_only);
  CHECK(work.plain() == plain);

  work.reserve_for<backend>(exec, {100, 1000}, "test");
  CHECK(work.bytes() >= plain_only + 100 * sizeof(lanewise::look_back_slot));
  CHECK(work.plain() == plain);

  const auto before = work.bytes();
  work.reserve_for<backend>(exec, {100, 100'000}, "test");
  CHECK(work.bytes() >= before + 99'000 - 250);
}

TEST_CASE("A workspace that grows steadily does not allocate every time", "[workspace]") {
  const auto exec = make_space();
  lanewise::workspace work;
  int allocations = 0;
  std::size_t last = 0;

  for (std::size_t bytes = 100'000; bytes < 200'000; bytes += 1000) {
    work.reserve_for<backend>(exec, {0, bytes}, "test");
    allocations += work.bytes() != last;
    last = work.bytes();
  }

  CHECK(allocations <= 5);
}

TEST_CASE("The memory of a new chain is clear", "[workspace][sanitize]") {
  const auto exec = make_space();
  lanewise::workspace work;
  work.reserve_for<backend>(exec, {100, 0}, "test");
  work.reserve_for<backend>(exec, {1000, 0}, "test");

  const auto chain = work.make_look_back_chain<std::uint32_t>(0);
  exec.fence();
  const auto words = to_host(reinterpret_cast<const std::uint32_t*>(chain.slots), 4000);

  CHECK(to_host(chain.control, 1)[0] == 0);
  CHECK(difference(words, std::vector<std::uint32_t>(4000, 0u)) == "");
}

TEST_CASE("A workspace can be moved, assigned and released", "[workspace]") {
  const auto exec = make_space();
  lanewise::workspace work;
  work.reserve_for<backend>(exec, {10, 1000}, "test");
  const void* plain = work.plain();
  const auto bytes = work.bytes();

  lanewise::workspace moved = std::move(work);
  CHECK(moved.plain() == plain);
  CHECK(moved.bytes() == bytes);

  lanewise::workspace assigned;
  assigned.reserve_for<backend>(exec, {0, 50}, "test");
  assigned = std::move(moved);
  CHECK(assigned.plain() == plain);
  assigned.reserve_for<backend>(exec, {10, 1000}, "test");
  CHECK(assigned.plain() == plain);

  assigned.release();
  CHECK(assigned.bytes() == 0);
  assigned.release();
  assigned.reserve_for<backend>(exec, {10, 1000}, "test");
  CHECK(assigned.bytes() == bytes);
}

TEST_CASE("Enough for either of two calls is the larger of each part", "[workspace]") {
  constexpr auto both = max(lanewise::workspace_size{3, 100}, lanewise::workspace_size{7, 50});

  STATIC_CHECK(both.tickets == 7);
  STATIC_CHECK(both.bytes == 100);
}

TEST_CASE("A workspace in use on one execution space is refused on another until it is released",
          "[workspace]") {
  lanewise::workspace work;
  work.reserve_for<backend>(make_space(), {0, 1000}, "test");
#if defined(LANEWISE_TEST_SPACE_EMULATED)
  const Kokkos::Serial other;
#else
  const lanewise::emulated other;
#endif
  using other_backend = lanewise::backend_of<std::remove_const_t<decltype(other)>>;

  const auto message = refusal([&] { work.reserve_for<other_backend>(other, {0, 10}, "test"); });

  CHECK_THAT(message,
             ContainsSubstring(
                 "lanewise::test: the workspace is in use on another execution space instance") &&
                 ContainsSubstring(space::name()) && ContainsSubstring(other.name()) &&
                 ContainsSubstring("release()"));
  work.release();
  CHECK_NOTHROW(work.reserve_for<other_backend>(other, {0, 10}, "test"));
}
