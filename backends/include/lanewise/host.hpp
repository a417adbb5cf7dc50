// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The backend of Kokkos' host execution spaces, for CUDA units that call on them too: most do not,
// and with Highway it is the larger part of what Lanewise takes nvcc. Other units have it from
// backend.hpp. Before or after the headers of algorithms.

#include <lanewise/backend.hpp>
#include <lanewise/backend/host_spaces.hpp>
