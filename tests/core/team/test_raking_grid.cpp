// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/team/raking_grid.hpp>
#include <support/bank_conflicts.hpp>

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <vector>

// The places of the cells of raking grids (Merrill, 3.3.2 and figure 21), and how many lanes meet
// in a bank there.

namespace {

using namespace test;

struct degrees {
  int writing;  ///< of `lanes` neighbouring cells
  int raking;
};

/// The worst of all accesses, place(i) being where cell i is, in items of `item_bytes` bytes.
template <class Place>
degrees worst_degrees(int cells, int lanes, int item_bytes, memory_banks memory, Place place) {
  degrees worst{0, 0};
  for (int k = 0; k < cells / lanes; ++k) {
    std::vector<std::int64_t> written, raked;
    for (int lane = 0; lane < lanes; ++lane) {
      written.push_back(std::int64_t{place(k * lanes + lane)} * item_bytes);
      raked.push_back(std::int64_t{place(lane * (cells / lanes) + k)} * item_bytes);
    }
    worst.writing = std::max(worst.writing, conflict_degree(written, item_bytes, memory));
    worst.raking = std::max(worst.raking, conflict_degree(raked, item_bytes, memory));
  }
  return worst;
}

template <int bytes>
struct item_of_bytes {
  unsigned char byte[bytes];
};

template <int item_bytes, int segment, int lanes = 32, int banks = 32>
void check_grid() {
  using grid = lanewise::raking_grid<item_of_bytes<item_bytes>, segment * lanes, lanes, banks>;
  CAPTURE(item_bytes, segment, lanes, banks);
  CHECK(grid::segment == segment);
  bool ascends = grid::place(0) == 0, rakes = true;
  for (int i = 0; i < segment * lanes; ++i) {
    ascends = ascends && (i == 0 || grid::place(i) > grid::place(i - 1));
    rakes = rakes && grid::raked(i / segment, i % segment) == grid::place(i);
  }
  CHECK(ascends);
  CHECK(rakes);
  CHECK(static_cast<int>(grid::place(segment * lanes - 1)) == grid::places - 1);
  const auto found = worst_degrees(segment * lanes, lanes, item_bytes, {banks, 4},
                                   [](int i) { return grid::place(i); });
  CHECK(found.writing == 1);
  CHECK(found.raking == 1);
}

template <int item_bytes, int... segments>
void check_grids() {
  (check_grid<item_bytes, segments>(), ...);
}

}  // namespace

TEST_CASE("Raking grids are padded as in Merrill's figure", "[raking_grid]") {
  // 64 cells, 16 lanes that rake 4 each, 16 banks of 4 bytes.
  using of_4 = lanewise::raking_grid<std::uint32_t, 64, 16, 16>;
  using of_8 = lanewise::raking_grid<std::uint64_t, 64, 16, 16>;
  using of_1 = lanewise::raking_grid<std::uint8_t, 64, 16, 16>;
  CHECK(of_4::places == 64 + 3);
  CHECK(of_4::place(15) == 15);
  CHECK(of_4::place(16) == 17);
  CHECK(of_8::places == 64 + 7);
  CHECK(of_8::place(7) == 7);
  CHECK(of_8::place(8) == 9);
  CHECK(of_1::places == 64);

  const auto plain = worst_degrees(64, 16, 4, {16, 4}, [](int i) { return i; });
  CHECK(plain.writing == 1);
  CHECK(plain.raking == 4);
  check_grid<4, 4, 16, 16>();
  check_grid<8, 4, 16, 16>();
  check_grid<1, 4, 16, 16>();
}

TEST_CASE("Lanes of raking grids do not meet in a bank", "[raking_grid]") {
  check_grids<1, 1, 2, 4, 8, 16, 32, 64>();
  check_grids<2, 1, 2, 4, 8, 16, 32, 64>();
  check_grids<4, 1, 2, 4, 8, 16, 32>();
  check_grids<8, 1, 2, 4, 8, 16>();
  check_grids<16, 1, 2, 4, 8>();
  check_grids<4, 3, 5, 7, 9, 15, 31>();
  check_grids<8, 3, 5, 7, 9, 15, 31>();
  check_grids<16, 3, 5, 7, 9, 15, 31>();
}

TEST_CASE("Segments longer than a row of banks meet in two", "[raking_grid]") {
  using grid = lanewise::raking_grid<std::uint32_t, 64 * 32, 32>;
  const auto found = worst_degrees(64 * 32, 32, 4, {32, 4}, [](int i) { return grid::place(i); });
  CHECK(found.writing == 1);
  CHECK(found.raking == 2);
}
