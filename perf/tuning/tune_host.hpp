// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What bench_tune tries on hosts.

#include "tune.hpp"
#include <lanewise/host.hpp>

namespace lanewise::perf {

/// From a quarter of the tile that ships to four times as much.
template <class Shipped>
struct host_rows {
  static constexpr table_row with(int host_kib) {
    table_row row = row_of<Shipped>;
    row.host_kib = host_kib;
    return row;
  }
  static constexpr int shipped = row_of<Shipped>.host_kib;
  static constexpr candidate_rows<4> list{
      row_of<Shipped>,
      {with(shipped / 4), with(shipped / 2), with(shipped * 2), with(shipped * 4)}};
};

struct host_lists {
  template <class Shipped, int>
  using copy = host_rows<Shipped>;
  template <class Shipped, int>
  using reduce = host_rows<Shipped>;
  template <class Shipped, int>
  using scan = host_rows<Shipped>;
  template <class Shipped, int>
  using split = host_rows<Shipped>;
  template <class Shipped, int>
  using compaction = host_rows<Shipped>;
  template <class Shipped, int>
  using runs = host_rows<Shipped>;
  template <class Shipped, int>
  using by_key = host_rows<Shipped>;
};

}  // namespace lanewise::perf
