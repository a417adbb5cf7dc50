// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The target that Lanewise reads from the compiler's flags, and the one that Highway chooses with
// them. Compiled with many sets of flags. The answer comes before anything of Highway.

#include <lanewise/simd/target.hpp>

#include <string_view>

#define NAME_OF(target) NAME(target)
#define NAME(target) #target
constexpr std::string_view name = NAME_OF(LANEWISE_TARGET);
#if defined(HIGHWAY_HWY_BASE_H_) && HWY_DISABLED_TARGETS == 0
#error "Highway is asked where only flags choose"
#endif

#include <lanewise/simd/highway.hpp>

static_assert(name == NAME_OF(HWY_NAMESPACE));
