// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The family of merges, merge sorts and set operations.

#include <lanewise/merge/merge.hpp>
#include <lanewise/merge/merge_runs.hpp>
#include <lanewise/merge/merge_sort.hpp>
#include <lanewise/merge/set_operations.hpp>
