// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The family of what kernels read, write and combine: sources, tuples, operators.

#include <lanewise/data/buckets.hpp>
#include <lanewise/data/by_lanes.hpp>
#include <lanewise/data/by_rows.hpp>
#include <lanewise/data/functors.hpp>
#include <lanewise/data/integers.hpp>
#include <lanewise/data/memory.hpp>
#include <lanewise/data/message.hpp>
#include <lanewise/data/natural_wins.hpp>
#include <lanewise/data/operators.hpp>
#include <lanewise/data/pack.hpp>
#include <lanewise/data/radix_key.hpp>
#include <lanewise/data/scratch_items.hpp>
#include <lanewise/data/source.hpp>
#include <lanewise/data/tuple.hpp>
#include <lanewise/data/zip.hpp>
