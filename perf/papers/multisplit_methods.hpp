// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The papers' methods of multisplit beside the library's: their sizes, numbers of buckets and
// distributions.

#include "hash/randomised_insertion.hpp"
#include "sequence/algorithms.hpp"
#include <lanewise/papers/multisplit_methods.hpp>

namespace lanewise::perf {

/// Points with `least` to `most` buckets.
template <class Exec, bool pairs, std::int64_t least = 1, std::int64_t most = 65'536>
struct methods_problem : multisplit_problem<Exec, std::uint32_t, pairs> {
  using multisplit_problem<Exec, std::uint32_t, pairs>::multisplit_problem;

  static std::vector<point> points() {
    // The papers' size on GPUs.
    constexpr std::int64_t n = std::int64_t{1} << (on_host<Exec> ? 22 : 25);
    std::vector<point> result;
    for (const int buckets : {2, 4, 8, 16, 32, 64, 128, 256, 4096}) {
      if (buckets < least || buckets > most) continue;
      for (const char* distribution : {"uniform", "binomial", "quarter_uniform", "one_bucket"}) {
        const std::string name = distribution;
        if (name == "uniform" && buckets <= 256)
          result.push_back({std::int64_t{1} << 20, name, buckets});
        if (name == "uniform" || buckets == 32 || buckets == 256)
          result.push_back({n, name, buckets});
      }
    }
    return result;
  }
};

template <class Exec, bool pairs, class Method, std::int64_t least = 1>
void add_method(const char* variant) {
  using problem = methods_problem<Exec, pairs, least, Method::most_buckets>;
  add<problem>(variant, [](problem& p, auto time) {
    lanewise::workspace work;
    time([&] {
      if constexpr (pairs) {
        lanewise::papers::multisplit_by(p.exec, Method{}, p.keys, p.values, p.keys_out,
                                        p.values_out, p.buckets, p.bucket_of, {.work = &work});
      } else {
        lanewise::papers::multisplit_by(p.exec, Method{}, p.keys, p.keys_out, p.buckets,
                                        p.bucket_of, {.work = &work});
      }
    });
  });
}

template <class Exec, bool pairs>
void add_methods_of() {
  namespace by = lanewise::papers::methods;
  constexpr auto rows = by::matrix_scan::by_rows;
  add_lanewise_multisplit<methods_problem<Exec, pairs>>();
  add_method<Exec, pairs, by::direct<>>("lanewise.direct");
  add_method<Exec, pairs, by::warp_level<1>>("lanewise.warp_level_1");
  add_method<Exec, pairs, by::warp_level<4>>("lanewise.warp_level_4");
  add_method<Exec, pairs, by::block_level<8, 1>>("lanewise.block_level_8x1");
  add_method<Exec, pairs, by::block_level<4, 7>>("lanewise.block_level_4x7");
  add_method<Exec, pairs, by::block_level<8, 4>>("lanewise.block_level_8x4");
  add_method<Exec, pairs, by::block_level<8, 4, 1, rows>>("lanewise.block_level_8x4_by_rows");
  add_method<Exec, pairs, by::reduced_bit_sort>("lanewise.reduced_bit_sort");
  if (pairs)
    add_method<Exec, pairs, by::reduced_bit_sort_by_index>("lanewise.reduced_bit_sort_by_index");
  add_method<Exec, pairs, by::scan_split<>>("lanewise.scan_split_iterative");
  add_method<Exec, pairs, by::scan_split<by::split_order::recursive>>(
      "lanewise.scan_split_recursive");
  add_method<Exec, pairs, by::super_buckets, 257>("lanewise.super_buckets");
  using insertion = methods_problem<Exec, pairs, 1, 256>;
  add<insertion>("lanewise.randomised_insertion", [](insertion& p, auto time) {
    p.stable = false;
    time_randomised_insertion(p, time);
  });
}

template <class Exec>
void add_methods() {
  add_methods_of<Exec, false>();
  add_methods_of<Exec, true>();
}

// Each in a unit of its own, beside the peers that exist there.
void add_methods_cuda();
void add_methods_host();

}  // namespace lanewise::perf
