// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Refuses a league that cannot be resident all at once.
inline void expects_resident(const char* label, std::int64_t league, std::int64_t resident) {
  if (league > resident)
    throw std::invalid_argument("lanewise: kernel '" + std::string(label) + "': the league has " +
                                std::to_string(league) + " teams, of which only " +
                                std::to_string(resident) + " can be resident at once");
}

}  // namespace detail
LANEWISE_END_NAMESPACE
