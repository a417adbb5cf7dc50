// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace test {

/// The source of all random input. Printed at the start of every program; LANEWISE_TEST_SEED sets
/// it.
std::uint32_t seed();

/// True when LANEWISE_TEST_FULL is set: more sizes.
bool full();

}  // namespace test
