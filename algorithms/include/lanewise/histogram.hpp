// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The family of histograms and sums by key.

#include <lanewise/histogram/bins.hpp>
#include <lanewise/histogram/histogram.hpp>
#include <lanewise/histogram/map_reduce.hpp>
#include <lanewise/histogram/sparse_histogram.hpp>
