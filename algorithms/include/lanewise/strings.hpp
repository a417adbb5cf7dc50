// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The family of searches in texts.

#include <lanewise/strings/mismatch_search.hpp>
#include <lanewise/strings/non_overlapping.hpp>
#include <lanewise/strings/pattern.hpp>
#include <lanewise/strings/pattern_set.hpp>
#include <lanewise/strings/search_stream.hpp>
#include <lanewise/strings/string_rows.hpp>
#include <lanewise/strings/string_search.hpp>
#include <lanewise/strings/string_set_rows.hpp>
#include <lanewise/strings/string_set_search.hpp>
