// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What takes the place of Kokkos' sorts on the host spaces, where those are std::sort.

#include "drop_ins.hpp"
#include <lanewise/host.hpp>

namespace lanewise::perf {

void add_drop_ins_host() {
  for_each_backend([](auto exec) {
    using space = decltype(exec);
    if constexpr (on_host<space>) add_drop_ins<space>();
  });
}

}  // namespace lanewise::perf
