// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// radix_sort on a space. bench_sort.<type>.cuda.cpp add it, each for keys of one size, as nvcc
// takes minutes for all; bench_sort.host.cpp adds it for hosts.

#include "sort.hpp"
#include <lanewise/sort/radix_sort.hpp>

namespace lanewise::perf {

template <class Exec, class T, class V = no_value>
void add_lanewise_sort() {
  using problem = sort_problem<Exec, T, V>;
  add<problem>("lanewise", [](problem& p, auto time) {
    workspace work;
    reserve(p.exec, work, radix_sort_workspace<T, Exec, V>(p.n));
    const sort_options with{.work = &work, .begin_bit = p.low, .end_bit = p.high};
    time([&] {
      if constexpr (problem::has_values) {
        radix_sort(p.exec, p.in, p.values, p.out, p.values_out, with);
      } else {
        radix_sort(p.exec, p.in, p.out, with);
      }
    });
  });
}

}  // namespace lanewise::perf
