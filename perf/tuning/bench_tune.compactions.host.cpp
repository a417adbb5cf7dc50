// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "tune_compact.hpp"
#include "tune_host.hpp"

namespace lanewise::perf {

void add_host_compactions() {
  for_each_backend([]<class Exec>(const Exec&) {
    add_compaction_rows<Exec, host_lists>();
    add_run_rows<Exec, host_lists>();
    add_by_key_rows<Exec, host_lists>();
  });
}

}  // namespace lanewise::perf
