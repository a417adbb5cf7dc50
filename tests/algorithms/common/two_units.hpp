// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <lanewise/sequence/scan.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

namespace test {

/// flatten: all that the call does is compiled into each unit, and nothing is left to the linker.
__attribute__((flatten)) static void scan(const space& exec, const array<std::uint32_t>& in,
                                          const array<std::uint32_t>& out) {
  lanewise::inclusive_scan(exec, in.const_view(), out.view(), lanewise::plus{});
}

/// Scans with the same kernel in every unit that calls it. It needs more scratch than is allowed
/// without asking. Says where the result differs.
static std::string scan_here() {
  const std::int64_t n = 100'003;
  const auto items = random_items<std::uint32_t>(n);
  const array<std::uint32_t> in(items), out(n, 77u);
  scan(make_space(), in, out);
  return difference(out.items(), oracle::inclusive_scan(items, lanewise::plus{}));
}

std::string scan_in_another_unit();

}  // namespace test
