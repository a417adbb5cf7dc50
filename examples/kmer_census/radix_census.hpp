// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "long_census.hpp"
#include <lanewise/segments/run_length.hpp>
#include <lanewise/sort/radix_sort.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

// The census by one call that sorts and one that counts, for k-mers of up to 31 bases:
//
// - pack: letters -> 16 bases to a word;
// - k-mers: words -> the canonical k-mer of each window; a multisplit drops windows without one;
// - sort: radix_sort, which finds out that k-mers differ in their lowest 2 k bits alone;
// - count: run_length_encode, which has the k-mers and how often they occur;
// - rank: on the host.
namespace kmer_census {

template <class ExecutionSpace>
class radix_census : long_census<ExecutionSpace> {
 public:
  using long_census<ExecutionSpace>::long_census;
  using long_census<ExecutionSpace>::stages;

  census_result run(std::string_view letters, int k, std::size_t top) {
    census_result result;
    const auto kmers = begin_census(letters, k, result);
    if (result.total == 0) return result;

    clock_.begin();
    lanewise::radix_sort(exec_, kmers, kmers, {.work = &work_});
    clock_.end("radix sort", "k-mers", result.total);

    const view<kmer> distinct("kmer_census::distinct", kmers.extent(0));
    const view<std::uint32_t> counts("kmer_census::counts", kmers.extent(0));
    clock_.begin();
    const auto runs = static_cast<std::size_t>(lanewise::run_length_encode(
        exec_, kmers, distinct, counts, lanewise::equal_to{}, {.work = &work_}));
    clock_.end("count runs", "k-mers", result.total);

    clock_.begin();
    const auto used = Kokkos::make_pair(std::size_t{0}, runs);
    auto entries = entries_of(Kokkos::subview(distinct, used), Kokkos::subview(counts, used));
    clock_.end("download", "distinct", runs);
    clock_.begin();
    describe(entries, k, top, result);
    clock_.end("rank (host)", "distinct", runs);
    return result;
  }

 private:
  using base = long_census<ExecutionSpace>;
  template <class T>
  using view = typename base::template view<T>;
  using base::begin_census, base::describe, base::entries_of;
  using base::clock_, base::exec_, base::work_;
};

}  // namespace kmer_census
