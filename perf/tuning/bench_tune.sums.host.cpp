// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "tune_host.hpp"

namespace lanewise::perf {

void add_host_rows() {
  for_each_backend([]<class Exec>(const Exec&) {
    add_copy_rows<Exec, host_lists>();
    add_rows<Exec, host_lists>();
  });
}

}  // namespace lanewise::perf
