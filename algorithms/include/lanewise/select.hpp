// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The family of selection, partition and unique.

#include <lanewise/select/select.hpp>
#include <lanewise/select/three_way_partition.hpp>
#include <lanewise/select/unique.hpp>
