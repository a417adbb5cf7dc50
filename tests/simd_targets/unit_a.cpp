// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Built with -march=x86-64 -msse4.2 -maes -mpclmul, or other flags than unit_b.cpp.

#define UNIT_NEEDS unit_a_needs
#define UNIT_RUN run_unit_a
#include "unit_body.hpp"
