// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#define LANEWISE_TEST_HOST_MAPPING
#include "test_for_each_edge.cpp"
