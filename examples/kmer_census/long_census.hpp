// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stages.hpp"
#include <lanewise/sequence/transform.hpp>
#include <lanewise/sort/multisplit.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

// What the censuses of k-mers of up to 31 bases have in common: how k-mers are formed, and what the
// host makes of the counted ones.
namespace kmer_census {

/// Stands for a window with a break: 31 bases leave the highest two bits free.
inline constexpr kmer no_long_kmer = ~kmer{0};

/// The canonical k-mer that begins at a position, or no_long_kmer. Words must go two beyond its
/// word.
template <class Words>
struct long_window_kmer {
  Words words;
  int k;

  KOKKOS_FUNCTION kmer operator()(std::int64_t position) const {
    const std::int64_t word = position / bases_per_word;
    const packed_bases first = words(word), second = words(word + 1), third = words(word + 2);
    const int bases_after = 48 - k - static_cast<int>(position % bases_per_word);
    const kmer breaks = kmer{first.breaks} << 32 | kmer{second.breaks} << 16 | third.breaks;
    if ((breaks >> bases_after & ((kmer{1} << k) - 1)) != 0) return no_long_kmer;
    const kmer upper = kmer{first.codes} << 32 | second.codes;
    const int bits_after = 2 * bases_after;
    const kmer codes = bits_after >= 32 ? upper >> (bits_after - 32)
                                        : upper << (32 - bits_after) | third.codes >> bits_after;
    const int unused_bits = 64 - 2 * k;
    const kmer forward = codes << unused_bits >> unused_bits;
    const kmer backward = kmer{reverse_complement(static_cast<std::uint32_t>(forward))} << 32 |
                          reverse_complement(static_cast<std::uint32_t>(forward >> 32));
    return Kokkos::min(forward, backward >> unused_bits);
  }
};

struct is_no_long_kmer {
  KOKKOS_FUNCTION std::uint32_t operator()(kmer key) const { return key == no_long_kmer ? 1 : 0; }
};

template <class ExecutionSpace>
class long_census : protected census_stages<ExecutionSpace> {
 public:
  using census_stages<ExecutionSpace>::census_stages;
  using census_stages<ExecutionSpace>::stages;

 protected:
  using base = census_stages<ExecutionSpace>;
  template <class T>
  using view = typename base::template view<T>;
  using base::clock_, base::exec_, base::on_host, base::pack, base::work_;

  /// The k-mers of the letters, in any order, after which `result` knows how many there are.
  view<kmer> begin_census(std::string_view letters, int k, census_result& result) {
    result.buckets.resize(std::size_t{1} << (2 * bucket_bases(k)));
    if (letters.size() < static_cast<std::size_t>(k)) return {};
    const auto words = pack(letters);
    const auto kmers = form_kmers(words, letters.size() - static_cast<std::size_t>(k) + 1, k);
    result.total = kmers.extent(0);
    return kmers;
  }

  std::vector<ranked_kmer> entries_of(const view<kmer>& kmers, const view<std::uint32_t>& counts) {
    const auto host_kmers = on_host(kmers);
    const auto host_counts = on_host(counts);
    std::vector<ranked_kmer> entries(host_kmers.size());
    for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = {host_kmers[i], host_counts[i]};
    return entries;
  }

  /// entries: the distinct k-mers, in order.
  void describe(std::vector<ranked_kmer>& entries, int k, std::size_t top, census_result& result) {
    for (const ranked_kmer& e : entries) {
      result.kmers.push_back(e.which);
      result.counts.push_back(e.count);
      result.seen_once += e.count == 1;
      result.buckets[e.which >> (2 * (k - bucket_bases(k)))] += e.count;
    }
    top = std::min(top, entries.size());
    std::partial_sort(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(top),
                      entries.end(), [](const ranked_kmer& a, const ranked_kmer& b) {
                        return a.count != b.count ? a.count > b.count : a.which < b.which;
                      });
    entries.resize(top);
    result.most_frequent = std::move(entries);
  }

 private:
  view<kmer> form_kmers(const view<packed_bases>& words, std::size_t windows, int k) {
    const view<kmer> all("kmer_census::windows", windows);
    const view<kmer> split("kmer_census::kmers", windows);
    const view<std::int64_t> offsets("kmer_census::offsets", 3);
    clock_.begin();
    lanewise::transform(
        exec_, lanewise::generated(windows, long_window_kmer<view<const packed_bases>>{words, k}),
        all, lanewise::identity{});
    lanewise::multisplit(exec_, all, split, 2, is_no_long_kmer{},
                         {.work = &work_, .offsets = offsets});
    clock_.end("k-mers", "windows", windows);
    return Kokkos::subview(split, Kokkos::make_pair(std::int64_t{0}, on_host(offsets)[1]));
  }
};

}  // namespace kmer_census
