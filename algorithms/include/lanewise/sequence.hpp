// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The family of transform, reduce, scans and other algorithms on sequences.

#include <lanewise/sequence/adjacent_difference.hpp>
#include <lanewise/sequence/allocate.hpp>
#include <lanewise/sequence/find_if.hpp>
#include <lanewise/sequence/is_sorted.hpp>
#include <lanewise/sequence/min_max_element.hpp>
#include <lanewise/sequence/reduce.hpp>
#include <lanewise/sequence/scan.hpp>
#include <lanewise/sequence/scan_reverse.hpp>
#include <lanewise/sequence/scan_two_level.hpp>
#include <lanewise/sequence/transform.hpp>
