// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The family of searches in sorted arrays.

#include <lanewise/search/search_index.hpp>
#include <lanewise/search/sorted_search.hpp>
