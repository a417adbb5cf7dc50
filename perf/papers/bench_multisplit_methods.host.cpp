// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The papers' methods of multisplit on the host spaces.

#include "multisplit_methods.hpp"
#include <lanewise/host.hpp>

namespace lanewise::perf {

void add_methods_host() {
  for_each_backend([](auto exec) {
    if constexpr (on_host<decltype(exec)>) add_methods<decltype(exec)>();
  });
}

}  // namespace lanewise::perf
