// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stages.hpp"
#include <lanewise/sequence/reduce.hpp>
#include <lanewise/sequence/scan.hpp>
#include <lanewise/sort/multisplit.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The census by sorting, for k-mers of up to 16 bases, in five stages:
//
// - pack: letters -> 16 bases to a word;
// - k-mers: words -> the canonical k-mer of each window; a multisplit drops windows without one;
// - multisplit: the k-mers sorted, one stable multisplit for each digit of up to 8 bits;
// - count: heads of runs of equal k-mers -> ids by a scan, which are their places -> counts;
// - rank: the most frequent ones by repeated reductions.
//
// Functors are structs: they compile alike for every backend.
namespace kmer_census {

/// Up to 16 bases.
using short_kmer = std::uint32_t;

/// Stands for a window with a break. No canonical k-mer has this value: it would be
/// TTTTTTTTTTTTTTTT, whose reverse complement is smaller.
inline constexpr short_kmer no_kmer = 0xFFFFFFFFu;

/// The canonical k-mer that begins at a position, or no_kmer. Words must go one beyond its
/// word.
template <class Words>
struct window_kmer {
  Words words;
  int k;

  KOKKOS_FUNCTION short_kmer operator()(std::int64_t position) const {
    const packed_bases first = words(position / bases_per_word);
    const packed_bases second = words(position / bases_per_word + 1);
    const int bases_after = 32 - k - static_cast<int>(position % bases_per_word);
    const std::uint32_t breaks = (first.breaks << 16 | second.breaks) >> bases_after;
    if ((breaks & ((1u << k) - 1)) != 0) return no_kmer;
    const std::uint64_t codes = static_cast<std::uint64_t>(first.codes) << 32 | second.codes;
    const int unused_bits = 32 - 2 * k;
    const auto forward =
        static_cast<short_kmer>(codes >> (2 * bases_after)) << unused_bits >> unused_bits;
    return Kokkos::min(forward, reverse_complement(forward) >> unused_bits);
  }
};

struct is_missing {
  KOKKOS_FUNCTION std::uint32_t operator()(short_kmer key) const { return key == no_kmer ? 1 : 0; }
};

struct digit_of {
  int shift;
  std::uint32_t digits;

  KOKKOS_FUNCTION std::uint32_t operator()(short_kmer key) const {
    return key >> shift & (digits - 1);
  }
};

template <class Kmers>
struct is_head {
  Kmers kmers;  // sorted

  KOKKOS_FUNCTION std::uint32_t operator()(std::int64_t i) const {
    return i == 0 || kmers(i - 1) != kmers(i) ? 1 : 0;
  }
};

/// Takes the ids of all runs, counted from 1, from the scan of their heads. Writes the k-mer of
/// each run and where it begins to the place of its id. Also writes the last id, which is the
/// number of runs.
template <class Kmers, class Count>
struct scatter_heads {
  is_head<Kmers> heads;
  Kmers distinct;
  Kmers begins;
  Count runs;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::uint32_t id) const {
    if (heads(i) != 0) {
      distinct(id - 1) = heads.kmers(i);
      begins(id - 1) = static_cast<std::uint32_t>(i);
    }
    if (i + 1 == static_cast<std::int64_t>(heads.kmers.extent(0))) runs() = id;
  }
};

template <class Begins>
struct run_length {
  Begins begins;
  std::uint32_t end;  // of the last run

  KOKKOS_FUNCTION std::uint32_t operator()(std::int64_t run) const {
    const auto next = static_cast<std::size_t>(run) + 1;
    return (next < begins.extent(0) ? begins(next) : end) - begins(run);
  }
};

struct is_one {
  KOKKOS_FUNCTION std::uint32_t operator()(std::uint32_t count) const { return count == 1 ? 1 : 0; }
};

/// A count and its k-mer as one number, larger for larger counts and then for smaller k-mers; 0 for
/// what is not below `bound`. The largest below the last one found is the next in the ranking.
template <class Kmers, class Counts>
struct rank_below {
  Kmers kmers;
  Counts counts;
  std::uint64_t bound;

  KOKKOS_FUNCTION std::uint64_t operator()(std::int64_t i) const {
    const auto rank = static_cast<std::uint64_t>(counts(i)) << 32 | (0xFFFFFFFFu - kmers(i));
    return rank < bound ? rank : 0;
  }
};

template <class ExecutionSpace>
class census : census_stages<ExecutionSpace> {
 public:
  using census_stages<ExecutionSpace>::census_stages;
  using census_stages<ExecutionSpace>::stages;

  census_result run(std::string_view letters, int k, std::size_t top) {
    census_result result;
    result.buckets.resize(std::size_t{1} << (2 * bucket_bases(k)));
    if (letters.size() < static_cast<std::size_t>(k)) return result;

    const auto words = pack(letters);
    const std::size_t windows = letters.size() - static_cast<std::size_t>(k) + 1;
    auto kmers = form_kmers(words, windows, k);
    result.total = kmers.extent(0);
    if (result.total == 0) return result;

    kmers = sort(kmers, k, result.buckets);
    const auto [distinct, counts] = count_runs(kmers);
    rank(distinct, counts, top, result);

    clock_.begin();
    const auto found = on_host(distinct);
    result.kmers.assign(found.begin(), found.end());
    result.counts = on_host(counts);
    clock_.end("download", "distinct", result.kmers.size());
    return result;
  }

 private:
  using base = census_stages<ExecutionSpace>;
  template <class T>
  using view = typename base::template view<T>;
  using numbers = view<short_kmer>;
  using base::clock_, base::exec_, base::on_host, base::pack, base::work_;

  numbers form_kmers(const view<packed_bases>& words, std::size_t windows, int k) {
    const view<short_kmer> all("kmer_census::windows", windows);
    const view<short_kmer> split("kmer_census::kmers", windows);
    const view<std::int64_t> offsets("kmer_census::offsets", 3);
    clock_.begin();
    // As the source of the multisplit itself, a k-mer would be formed three times: 3.6 times as
    // slow on the host.
    lanewise::transform(
        exec_, lanewise::generated(windows, window_kmer<view<const packed_bases>>{words, k}), all,
        lanewise::identity{});
    lanewise::multisplit(exec_, all, split, 2, is_missing{}, {.work = &work_, .offsets = offsets});
    clock_.end("k-mers", "windows", windows);
    return Kokkos::subview(split, Kokkos::make_pair(std::int64_t{0}, on_host(offsets)[1]));
  }

  /// Stable multisplits by one digit after the other, lowest first, sort. The last digit, the first
  /// (up to four) bases, is whole: its offsets are the sizes of the buckets.
  numbers sort(numbers kmers, int k, std::vector<std::uint64_t>& buckets) {
    view<short_kmer> other("kmer_census::sorted", kmers.extent(0));
    const view<std::int64_t> offsets("kmer_census::offsets", buckets.size() + 1);
    clock_.begin();
    int passes = 0;
    for (int bits, shift = 0; shift < 2 * k; shift += bits, ++passes) {
      bits = (2 * k - shift - 1) % 8 + 1;  // so that 8 remain for each later pass
      const std::uint32_t digits = 1u << bits;
      lanewise::multisplit(
          exec_, kmers, other, digits, digit_of{shift, digits},
          {.work = &work_, .offsets = Kokkos::subview(offsets, Kokkos::make_pair(0u, digits + 1))});
      std::swap(kmers, other);
    }
    clock_.end("multisplit x" + std::to_string(passes), "k-mers", kmers.extent(0));
    const auto ends = on_host(offsets);
    for (std::size_t b = 0; b < buckets.size(); ++b) {
      buckets[b] = static_cast<std::uint64_t>(ends[b + 1] - ends[b]);
    }
    return kmers;
  }

  /// The distinct k-mers of sorted ones and their counts.
  std::pair<numbers, numbers> count_runs(const numbers& kmers) {
    using number = Kokkos::View<std::uint32_t, typename ExecutionSpace::memory_space>;
    const std::size_t size = kmers.extent(0);
    const view<short_kmer> distinct("kmer_census::distinct", size);
    const view<std::uint32_t> begins("kmer_census::begins", size);
    const view<std::uint32_t> counts("kmer_census::counts", size);
    const number runs("kmer_census::runs");
    const is_head<numbers> heads{kmers};
    clock_.begin();
    lanewise::inclusive_scan(
        exec_, lanewise::generated(size, heads),
        lanewise::consumed(size, scatter_heads<numbers, number>{heads, distinct, begins, runs}),
        lanewise::plus{}, {.work = &work_});
    exec_.fence();
    std::uint32_t found = 0;
    Kokkos::deep_copy(found, runs);
    const auto used = Kokkos::make_pair(std::size_t{0}, std::size_t{found});
    const auto ends = static_cast<std::uint32_t>(size);
    lanewise::transform(
        exec_, lanewise::generated(found, run_length<numbers>{Kokkos::subview(begins, used), ends}),
        Kokkos::subview(counts, used), lanewise::identity{});
    clock_.end("count", "k-mers", size);
    return {Kokkos::subview(distinct, used), Kokkos::subview(counts, used)};
  }

  void rank(const numbers& distinct, const numbers& counts, std::size_t top,
            census_result& result) {
    clock_.begin();
    result.seen_once = lanewise::reduce(exec_, lanewise::transformed(counts, is_one{}),
                                        lanewise::plus{}, std::uint32_t{0}, {.work = &work_});
    top = std::min(top, distinct.extent(0));
    std::uint64_t bound = ~std::uint64_t{0};
    while (result.most_frequent.size() < top) {
      bound = lanewise::reduce(
          exec_,
          lanewise::generated(distinct.extent(0),
                              rank_below<numbers, numbers>{distinct, counts, bound}),
          lanewise::maximum{}, std::uint64_t{0}, {.work = &work_});
      result.most_frequent.push_back(
          {0xFFFFFFFFu - static_cast<short_kmer>(bound), static_cast<std::uint32_t>(bound >> 32)});
    }
    clock_.end("rank", "distinct", distinct.extent(0));
  }
};

}  // namespace kmer_census
