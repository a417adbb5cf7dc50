// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "tune_compact.hpp"
#include "tune_device.hpp"

namespace lanewise::perf {

void add_device_runs() {
  add_run_rows<Kokkos::Cuda, device_lists>();
}

}  // namespace lanewise::perf
