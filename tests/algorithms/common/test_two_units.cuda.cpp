// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "two_units.hpp"

#include <catch2/catch_test_macros.hpp>

// Two units of a program launch the same kernel. Each has a kernel of its own for the driver.

TEST_CASE("Two units of a program call the same algorithm", "[two_units][sanitize]") {
  CHECK(test::scan_here() == "");
  CHECK(test::scan_in_another_unit() == "");
  CHECK(test::scan_here() == "");
}
