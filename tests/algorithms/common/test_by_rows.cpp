// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/data/by_rows.hpp>
#include <lanewise/sequence/transform.hpp>

#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithms/histogram/check_histogram.hpp>

namespace {

using namespace test;
using u32 = std::uint32_t;
using strided = Kokkos::View<u32**, Kokkos::LayoutStride, memory, Kokkos::MemoryUnmanaged>;

/// Rows of `width` items of an array of guarded memory.
struct part_of_image {
  std::int64_t rows, width, row_stride, step;

  std::int64_t extent() const { return rows * row_stride + width * step; }
  strided of(const array<u32>& memory) const {
    const auto n = [](std::int64_t x) { return static_cast<std::size_t>(x); };
    return strided(memory.data(), Kokkos::LayoutStride(n(rows), n(row_stride), n(width), n(step)));
  }
  std::vector<u32> items(const std::vector<u32>& from) const {
    std::vector<u32> found;
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < width; ++c)
        found.push_back(from[static_cast<std::size_t>(r * row_stride + c * step)]);
    }
    return found;
  }
};

}  // namespace

TEST_CASE("A histogram counts the items of rows that lie apart", "[by_rows][sanitize]") {
  for (const part_of_image& part :
       {part_of_image{70, 61, 64, 1}, part_of_image{1, 5000, 5000, 1}, part_of_image{3000, 1, 7, 1},
        part_of_image{33, 127, 1, 40}, part_of_image{0, 5, 8, 1}, part_of_image{5, 0, 8, 1}}) {
    CAPTURE(part.rows, part.width);
    const auto items = random_items<u32>(part.extent(), 99);
    const array<u32> image(items), copy(part.rows * part.width, 7u), counts(90, 7u);
    const auto rows = lanewise::by_rows(part.of(image));
    const auto expected = part.items(items);
    lanewise::transform(make_space(), rows, copy.view(), lanewise::identity{});
    CHECK(copy.items() == expected);
    lanewise::histogram(make_space(), rows, counts.view(), lanewise::even_bins(0u, 90u));
    const auto found = counts.items();
    const auto right = histogram_of(expected, 90, even_oracle<u32>{0, 90}).counts;
    CHECK(std::equal(found.begin(), found.end(), right.begin(), right.end()));
  }
}

TEST_CASE("Rows are found exactly, however long they are", "[by_rows][sanitize]") {
  auto random = make_random(5);
  for (int round = 0; round < 2000; ++round) {
    const auto width = static_cast<std::int64_t>(1 + (random() >> (1 + random() % 63)) / 2);
    const lanewise::detail::quotient row(width);
    const auto i = static_cast<std::int64_t>(random() >> (1 + random() % 63));
    const std::int64_t first = i / width * width;
    for (const std::int64_t x : {i, first, first > 0 ? first - 1 : first}) {
      if (row(x) == x / width) continue;
      CAPTURE(width, x);
      REQUIRE(row(x) == x / width);
    }
  }
  CHECK_THROWS_WITH(
      lanewise::by_rows(Kokkos::View<u32**, memory, Kokkos::MemoryUnmanaged>(nullptr, 2, 3)),
      Catch::Matchers::ContainsSubstring("by_rows: the View has 2 rows of 3 items and no memory"));
}
