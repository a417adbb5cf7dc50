// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/segments/segmented_scan.hpp>
#include <lanewise/select/select.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_template_test_macros.hpp>

#include <limits>

// Flags of every kind that converts to bool.

namespace {

using namespace test;
using u32 = std::uint32_t;

enum class answer : std::uint16_t { no, perhaps, yes };

/// Three bytes, which are no number.
struct color {
  std::uint8_t red = 0, green = 0, blue = 0;
  explicit KOKKOS_FUNCTION operator bool() const { return red + green + blue != 0; }
};

template <class T>
std::vector<T> kinds_of_flags() {
  if constexpr (std::is_same_v<T, color>) {
    return {{}, {0, 0, 1}, {1, 0, 0}, {}, {}};
  } else if constexpr (std::is_same_v<T, answer>) {
    return {answer::no, answer::yes, answer::no, answer::perhaps};
  } else if constexpr (std::is_same_v<T, float>) {
    return {0.0f, 0.25f, -0.0f, -7.0f, std::numeric_limits<float>::quiet_NaN(), 0.0f};
  } else {
    return {false, true, true, false, false};
  }
}

}  // namespace

TEMPLATE_TEST_CASE("Flags are of any type that converts to bool", "[flags]", bool, float, answer,
                   color) {
  using T = TestType;
  const auto exec = make_space();
  const auto kinds = kinds_of_flags<T>();
  const std::int64_t n = is_emulated ? 9001 : 200'003;
  const auto items = random_items<u32>(n);
  const Kokkos::View<T*, Kokkos::HostSpace> on_host("flags", n);
  std::vector<u32> kept, scans;
  auto random = make_random(5);
  for (std::int64_t i = 0; i < n; ++i) {
    on_host(i) = kinds[random_number(random, kinds.size() - 1)];
    const u32 x = items[static_cast<std::size_t>(i)];
    const bool is_set = static_cast<bool>(on_host(i));
    if (is_set) kept.push_back(x);
    scans.push_back(i == 0 || is_set ? x : scans.back() + x);
  }
  const auto flags = Kokkos::create_mirror_view_and_copy(memory(), on_host);
  const array<u32> in(items), selected(n, 77u), scanned(n, 77u);

  const std::int64_t count =
      lanewise::select_flagged(exec, in.const_view(), flags, selected.view());
  lanewise::inclusive_segmented_scan(exec, in.const_view(), flags, scanned.view(),
                                     lanewise::plus{});

  CHECK(count == static_cast<std::int64_t>(kept.size()));
  CHECK(difference(selected.items(), kept, selected.original()) == "");
  CHECK(difference(scanned.items(), scans) == "");
}
