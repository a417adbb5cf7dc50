// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <support/environment.hpp>

#include <Kokkos_Core.hpp>
#include <catch2/catch_session.hpp>

#include <cstdlib>
#include <iostream>

namespace test {

std::uint32_t seed() {
  static const std::uint32_t value = [] {
    const char* given = std::getenv("LANEWISE_TEST_SEED");
    return given != nullptr ? static_cast<std::uint32_t>(std::strtoul(given, nullptr, 0))
                            : 20260101u;
  }();
  return value;
}

bool full() {
  static const bool value = [] {
    const char* given = std::getenv("LANEWISE_TEST_FULL");
    return given != nullptr && *given != '\0' && *given != '0';
  }();
  return value;
}

}  // namespace test

int main(int argc, char** argv) {
  Catch::Session session;
  const int wrong = session.applyCommandLine(argc, argv);
  if (wrong != 0) return wrong;
  const auto& config = session.config();
  const bool lists = config.listTests() || config.listTags() || config.listReporters();
  if (!lists)
    std::cout << "LANEWISE_TEST_SEED=" << test::seed()
              << (test::full() ? " LANEWISE_TEST_FULL=1" : "") << std::endl;
  const Kokkos::ScopeGuard kokkos;
  return session.run();
}
