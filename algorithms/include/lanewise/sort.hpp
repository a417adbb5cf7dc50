// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The family of sorts, splits into buckets, and selections of the least.

#include <lanewise/sort/bin_sort.hpp>
#include <lanewise/sort/multisplit.hpp>
#include <lanewise/sort/nth_element.hpp>
#include <lanewise/sort/partial_sort.hpp>
#include <lanewise/sort/radix_sort.hpp>
#include <lanewise/sort/radix_sort_by.hpp>
#include <lanewise/sort/segmented_multisplit.hpp>
#include <lanewise/sort/segmented_sort.hpp>
#include <lanewise/sort/sort.hpp>
#include <lanewise/sort/sorted_unique.hpp>
#include <lanewise/sort/top_k.hpp>
