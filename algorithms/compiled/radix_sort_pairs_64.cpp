// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#define LANEWISE_COMPILED_TEMPLATE template
#define LANEWISE_COMPILED_SORTS(Exec) LANEWISE_COMPILED_PAIRS(Exec, std::uint64_t)
#include <lanewise/host.hpp>
#include <lanewise/sort/radix_sort.hpp>
