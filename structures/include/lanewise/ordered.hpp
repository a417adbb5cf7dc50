// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The family of ordered tables that are rebuilt.

#include <lanewise/ordered/ordered_bulk.hpp>
#include <lanewise/ordered/ordered_file.hpp>
#include <lanewise/ordered/ordered_map.hpp>
#include <lanewise/ordered/ordered_multimap.hpp>
#include <lanewise/ordered/ordered_query.hpp>
#include <lanewise/ordered/ordered_set.hpp>
#include <lanewise/ordered/ordered_table.hpp>
