// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What is mapped for hosts, on the emulated backend, where sanitizers look at it.
#define LANEWISE_TEST_HOST_MAPPING
#define LANEWISE_TEST_WIDTH 32
#include "check_algorithms.hpp"
