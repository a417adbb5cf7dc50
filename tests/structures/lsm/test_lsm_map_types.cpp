// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/search/sorted_search.hpp>

#include <structures/lsm/check_lsm.hpp>

// Keys with a sign, and values that are larger than a word; beside the searches of the same names.

namespace {

using namespace test;

struct wide_value {
  std::uint64_t a = 0;
  std::uint32_t b = 0, c = 0;
  bool operator==(const wide_value&) const = default;
};

}  // namespace

TEST_CASE("Keys of 8 bytes with a sign, and values of 16 bytes", "[lsm][lsm_types]") {
  using map_type = lanewise::lsm_map<std::int64_t, wide_value, memory>;
  check_history<map_type>(21, is_emulated ? 300 : 4000, 3000, is_emulated ? 6 : 20,
                          is_emulated ? 48 : 200, [](std::uint64_t x) {
                            return wide_value{x, static_cast<std::uint32_t>(x), 7};
                          });
}
