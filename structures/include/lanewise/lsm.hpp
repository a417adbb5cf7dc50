// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The family of ordered maps that are changed by batches.

#include <lanewise/lsm/lsm_changes.hpp>
#include <lanewise/lsm/lsm_dictionary.hpp>
#include <lanewise/lsm/lsm_file.hpp>
#include <lanewise/lsm/lsm_map.hpp>
#include <lanewise/lsm/lsm_queries.hpp>
#include <lanewise/lsm/lsm_ranges.hpp>
#include <lanewise/lsm/lsm_view.hpp>
