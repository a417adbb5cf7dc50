// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "two_units.hpp"

namespace test {

std::string scan_in_another_unit() {
  return scan_here();
}

}  // namespace test
