// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Built with -march=haswell -maes -mpclmul, or other flags than unit_a.cpp (-march=icelake-server).

#define UNIT_NEEDS unit_b_needs
#define UNIT_RUN run_unit_b
#include "unit_body.hpp"
