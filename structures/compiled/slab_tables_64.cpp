// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#define LANEWISE_COMPILED_TEMPLATE template
#define LANEWISE_COMPILED_SLAB_TABLES(Exec) LANEWISE_COMPILED_SLABS_OF(Exec, std::uint64_t)
#include <lanewise/hash/slab_bulk.hpp>
#include <lanewise/host.hpp>
