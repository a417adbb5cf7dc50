// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#define LANEWISE_COMPILED_TEMPLATE template
#include <lanewise/host.hpp>
#include <lanewise/sequence/scan.hpp>
