// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "long_census.hpp"
#include <lanewise/hash/slab_hash_map.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

// The census in a hash map, for k-mers of up to 31 bases:
//
// - pack: letters -> 16 bases to a word;
// - k-mers: words -> the canonical k-mer of each window; a multisplit drops windows without one;
// - count: one upsert of all k-mers, each with 1, into a slab_hash_map, which grows as it must;
// - collect: the entries of the map, in any order, to the host, which sorts and ranks them.
namespace kmer_census {

/// Writes entries one after the other, in any order.
template <class Kmers, class Counts, class Count>
struct collect_entry {
  Kmers kmers;
  Counts counts;
  Count collected;

  KOKKOS_FUNCTION void operator()(kmer key, std::uint32_t count) const {
    const std::uint32_t i = Kokkos::atomic_fetch_add(&collected(), 1u);
    kmers(i) = key;
    counts(i) = count;
  }
};

template <class ExecutionSpace>
class hash_census : long_census<ExecutionSpace> {
 public:
  using long_census<ExecutionSpace>::long_census;
  using long_census<ExecutionSpace>::stages;

  census_result run(std::string_view letters, int k, std::size_t top) {
    census_result result;
    const auto kmers = begin_census(letters, k, result);
    if (result.total == 0) return result;

    const map counted = count(kmers);
    clock_.begin();
    auto entries = collect(counted);
    clock_.end("collect", "distinct", entries.size());
    clock_.begin();
    std::sort(entries.begin(), entries.end(),
              [](const ranked_kmer& a, const ranked_kmer& b) { return a.which < b.which; });
    describe(entries, k, top, result);
    clock_.end("sort and rank (host)", "distinct", result.kmers.size());
    return result;
  }

 private:
  using base = long_census<ExecutionSpace>;
  using map = lanewise::slab_hash_map<kmer, std::uint32_t, typename ExecutionSpace::memory_space>;
  template <class T>
  using view = typename base::template view<T>;
  using base::begin_census, base::describe, base::entries_of;
  using base::clock_, base::exec_, base::work_;

  map count(const view<kmer>& kmers) {
    const view<std::uint32_t> ones("kmer_census::ones", kmers.extent(0));
    Kokkos::deep_copy(ones, 1u);
    // For half of them to differ; the map grows if more do.
    map counted(exec_, {.expected = static_cast<std::int64_t>(kmers.extent(0) / 2)});
    clock_.begin();
    lanewise::upsert(exec_, counted, kmers, ones, lanewise::plus{}, {.work = &work_});
    clock_.end("count in a map", "k-mers", kmers.extent(0));
    return counted;
  }

  std::vector<ranked_kmer> collect(const map& counted) {
    using number = Kokkos::View<std::uint32_t, typename ExecutionSpace::memory_space>;
    const auto distinct = static_cast<std::size_t>(lanewise::statistics(exec_, counted).elements);
    const view<kmer> kmers("kmer_census::distinct", distinct);
    const view<std::uint32_t> counts("kmer_census::counts", distinct);
    const number collected("kmer_census::collected");
    lanewise::for_each(
        exec_, counted,
        collect_entry<view<kmer>, view<std::uint32_t>, number>{kmers, counts, collected});
    return entries_of(kmers, counts);
  }
};

}  // namespace kmer_census
