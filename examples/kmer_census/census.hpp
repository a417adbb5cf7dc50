// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "result.hpp"
#include <lanewise/multisplit.hpp>
#include <lanewise/reduce.hpp>
#include <lanewise/scan.hpp>
#include <lanewise/transform.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The census on one execution space, in five stages:
//
// - pack: letters -> 16 bases to a word;
// - k-mers: words -> the canonical k-mer of each window; a multisplit drops windows without one;
// - multisplit: the k-mers sorted, one stable multisplit for each digit of up to 8 bits;
// - count: heads of runs of equal k-mers -> ids by a scan, which are their places -> counts;
// - rank: the most frequent ones by repeated reductions.
//
// Functors are structs: they compile alike for every backend.
namespace kmer_census {

/// 16 bases, the first one highest: their codes, and a set bit for each one that is no base.
struct packed_bases {
  std::uint32_t codes;
  std::uint32_t breaks;
};

inline constexpr std::int64_t bases_per_word = 16;

/// Stands for a window with a break. No canonical k-mer has this value: it would be
/// TTTTTTTTTTTTTTTT, whose reverse complement is smaller.
inline constexpr kmer no_kmer = 0xFFFFFFFFu;

/// Letters must fill all words.
template <class Letters>
struct pack_word {
  Letters letters;

  KOKKOS_FUNCTION packed_bases operator()(std::int64_t word) const {
    packed_bases packed{0, 0};
    for (std::int64_t i = word * bases_per_word; i < (word + 1) * bases_per_word; ++i) {
      const auto letter = static_cast<char>(letters(i) & ~0x20);  // upper case
      const bool is_base = letter == 'A' || letter == 'C' || letter == 'G' || letter == 'T';
      // Bits 1 and 2 of the four letters are 0, 1, 3, 2 in the order of the alphabet.
      const auto bits = static_cast<std::uint32_t>(letter >> 1 & 3);
      packed.codes = packed.codes << 2 | (bits ^ bits >> 1);
      packed.breaks = packed.breaks << 1 | (is_base ? 0u : 1u);
    }
    return packed;
  }
};

/// The reverse complement of the 16 bases of a word.
KOKKOS_INLINE_FUNCTION std::uint32_t reverse_complement(std::uint32_t codes) {
  codes = ~codes;
  codes = (codes >> 2 & 0x33333333u) | (codes & 0x33333333u) << 2;
  codes = (codes >> 4 & 0x0F0F0F0Fu) | (codes & 0x0F0F0F0Fu) << 4;
  codes = (codes >> 8 & 0x00FF00FFu) | (codes & 0x00FF00FFu) << 8;
  return codes >> 16 | codes << 16;
}

/// The canonical k-mer that begins at a position, or no_kmer. Words must go one beyond its word.
template <class Words>
struct window_kmer {
  Words words;
  int k;

  KOKKOS_FUNCTION kmer operator()(std::int64_t position) const {
    const packed_bases first = words(position / bases_per_word);
    const packed_bases second = words(position / bases_per_word + 1);
    const int bases_after = 32 - k - static_cast<int>(position % bases_per_word);
    const std::uint32_t breaks = (first.breaks << 16 | second.breaks) >> bases_after;
    if ((breaks & ((1u << k) - 1)) != 0) return no_kmer;
    const std::uint64_t codes = static_cast<std::uint64_t>(first.codes) << 32 | second.codes;
    const int unused_bits = 32 - 2 * k;
    const auto forward =
        static_cast<kmer>(codes >> (2 * bases_after)) << unused_bits >> unused_bits;
    return Kokkos::min(forward, reverse_complement(forward) >> unused_bits);
  }
};

struct is_missing {
  KOKKOS_FUNCTION std::uint32_t operator()(kmer key) const { return key == no_kmer ? 1 : 0; }
};

struct digit_of {
  int shift;
  std::uint32_t digits;

  KOKKOS_FUNCTION std::uint32_t operator()(kmer key) const { return key >> shift & (digits - 1); }
};

template <class Kmers>
struct is_head {
  Kmers kmers;  // sorted

  KOKKOS_FUNCTION std::uint32_t operator()(std::int64_t i) const {
    return i == 0 || kmers(i - 1) != kmers(i) ? 1 : 0;
  }
};

/// Takes the ids of all runs, counted from 1, from the scan of their heads: writes the k-mer of
/// each run and where it begins to the place of its id, and the last id, which is how many runs
/// there are.
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

/// Times the stages of a census. Fences, so that a stage ends before it is timed.
template <class ExecutionSpace>
class stage_clock {
 public:
  explicit stage_clock(const ExecutionSpace& exec) : exec_(exec) {}

  void begin() {
    exec_.fence();
    timer_.reset();
  }

  void end(std::string name, std::string unit, std::uint64_t items) {
    exec_.fence();
    stages_.push_back({std::move(name), std::move(unit), items, timer_.seconds()});
  }

  [[nodiscard]] const std::vector<stage_time>& stages() const { return stages_; }

 private:
  ExecutionSpace exec_;
  Kokkos::Timer timer_;
  std::vector<stage_time> stages_;
};

template <class ExecutionSpace>
class census {
 public:
  explicit census(const ExecutionSpace& exec) : exec_(exec), clock_(exec) {}

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
    result.kmers = on_host(distinct);
    result.counts = on_host(counts);
    clock_.end("download", "distinct", result.kmers.size());
    return result;
  }

  [[nodiscard]] const std::vector<stage_time>& stages() const { return clock_.stages(); }

 private:
  // Views are filled when they are made, before a stage begins: no stage pays for new pages.
  template <class T>
  using view = Kokkos::View<T*, typename ExecutionSpace::memory_space>;
  using numbers = view<std::uint32_t>;

  template <class View>
  auto on_host(const View& device) {
    exec_.fence();
    std::vector<typename View::non_const_value_type> host(device.extent(0));
    Kokkos::deep_copy(Kokkos::View<typename View::non_const_value_type*, Kokkos::HostSpace,
                                   Kokkos::MemoryUnmanaged>(host.data(), host.size()),
                      device);
    return host;
  }

  view<packed_bases> pack(std::string_view letters) {
    const std::size_t size = (letters.size() + bases_per_word - 1) / bases_per_word + 1;
    // Zeros, which are breaks, fill the last words.
    const view<char> text("kmer_census::letters", size * bases_per_word);
    view<packed_bases> words("kmer_census::words", size);
    clock_.begin();
    Kokkos::deep_copy(Kokkos::subview(text, Kokkos::make_pair(std::size_t{0}, letters.size())),
                      Kokkos::View<const char*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                          letters.data(), letters.size()));
    clock_.end("upload", "letters", letters.size());

    clock_.begin();
    lanewise::transform(exec_, lanewise::generated(size, pack_word<view<const char>>{text}), words,
                        lanewise::identity{});
    clock_.end("pack", "letters", letters.size());
    return words;
  }

  numbers form_kmers(const view<packed_bases>& words, std::size_t windows, int k) {
    const view<kmer> all("kmer_census::windows", windows);
    const view<kmer> split("kmer_census::kmers", windows);
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
    view<kmer> other("kmer_census::sorted", kmers.extent(0));
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
    const view<kmer> distinct("kmer_census::distinct", size);
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
          {0xFFFFFFFFu - static_cast<kmer>(bound), static_cast<std::uint32_t>(bound >> 32)});
    }
    clock_.end("rank", "distinct", distinct.extent(0));
  }

  ExecutionSpace exec_;
  lanewise::workspace work_;
  stage_clock<ExecutionSpace> clock_;
};

}  // namespace kmer_census
