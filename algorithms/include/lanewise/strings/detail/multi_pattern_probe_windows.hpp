// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/strings/detail/multi_pattern_normal_form.hpp>
#include <lanewise/strings/detail/multi_pattern_view.hpp>
#include <lanewise/strings/detail/multi_pattern_window_table.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Makes stride4_windows on the host: for each pattern it chooses windows that few other patterns
/// have. Patterns of up to 3 bytes have none. Sets where a run of one byte is the best window of
/// many patterns have none either, and use multi_pattern_windows.
class multi_pattern_probe_windows : public window_table {
 public:
  stride4_windows probes{};
  std::vector<std::uint32_t> filter;

  /// letters: the bits of a word that count; record: of each rank. O(48 windows for each pattern).
  multi_pattern_probe_windows(const multi_pattern_normal_form& set, std::uint32_t letters,
                              const std::vector<std::uint32_t>& record)
      : set_(set), first_(set.first_of(short_pairs::most_bytes + 1)) {
    if (first_ > set.ranks()) return;
    const std::size_t shortest = set.patterns[first_].size();
    std::size_t bytes = 0;
    for (std::uint32_t r = first_; r <= set.ranks(); ++r)
      bytes += std::min(set.patterns[r].size(), most_looked_at);
    using kind = stride4_windows::kind;
    const std::uint32_t number = set.ranks() - first_ + 1;
    const kind how = shortest < least_at_words ? kind::with_after
                     : number < many_patterns  ? kind::every_word
                     : number < most_at_words  ? kind::with_sides
                                               : kind::every_byte;
    stride_ = static_cast<std::size_t>(stride4_windows::stride(how));
    const std::size_t most = how == kind::with_sides
                                 ? stride4_windows::most_bytes - stride4_windows::side
                                 : stride4_windows::most_bytes;
    bytes_ = std::min(shortest - stride_ + 1, most);
    probes = stride4_windows::make(how, static_cast<int>(bytes_), letters);
    counts_.resize(std::bit_ceil(std::clamp<std::size_t>(2 * bytes, 1 << 8, 1 << 22)));
    if (!choose_positions()) {
      probes = {};
      return;
    }
    sort_windows();
    if (repeats_itself()) {
      probes = {};
      return;
    }
    make_tables(record);
  }

 private:
  /// If patterns are few, windows without sides pass little. If they are very many, each has one
  /// window.
  static constexpr std::uint32_t many_patterns = 64, most_at_words = 32'768;
  static constexpr std::size_t least_at_words = 7, most_looked_at = 48;
  /// Bytes of slots for each byte of the patterns.
  static constexpr std::size_t most_of_slots = 24;
  /// This number of windows leaves nine of ten bits of the short table unset.
  static constexpr std::size_t most_with_few = 12'000;

  struct window {
    window_key key;
    std::uint32_t rank, offset;
    auto order() const { return std::tuple(key.low, key.high, ~rank, offset); }
  };

  std::uint32_t word_at(std::string_view p, std::size_t i) const {
    std::uint32_t word = 0;
    for (std::size_t b = 0; b < 4 && i + b < p.size(); ++b)
      word |= std::uint32_t{static_cast<unsigned char>(p[i + b])} << 8 * b;
    return word & probes.letters;
  }
  /// Whether a pattern has more bytes after each of its windows that count.
  bool is_long(std::string_view p) const {
    return probes.how == stride4_windows::kind::with_after &&
           p.size() >= bytes_ + stride4_windows::side;
  }
  /// The list of window o of a pattern.
  int list_of(std::string_view p, std::size_t o) const { return o >= 2 || is_long(p) ? 1 : 0; }
  window_key key_at(std::string_view p, std::size_t i, int list) const {
    return probes.key(list == 1 && i >= 2 ? word_at(p, i - 2) : 0, word_at(p, i), word_at(p, i + 4),
                      word_at(p, i + 8), list);
  }
  std::uint32_t& count_of(const window_key& key) {
    return counts_[key.hash() * 0x2545f491u >> 7 & (counts_.size() - 1)];
  }
  std::size_t choices(std::string_view p) const {
    const std::size_t bytes = bytes_ + (is_long(p) ? stride4_windows::side : 0);
    return std::min(p.size() - bytes - stride_ + 1, most_looked_at - stride_) + 1;
  }
  static int different(std::string_view bytes) {
    std::uint64_t seen[4] = {};
    for (const char c : bytes)
      seen[static_cast<unsigned char>(c) / 64] |= std::uint64_t{1} << (c & 63);
    return std::popcount(seen[0]) + std::popcount(seen[1]) + std::popcount(seen[2]) +
           std::popcount(seen[3]);
  }
  /// False where too many patterns have nothing but runs.
  bool choose_positions() {
    for (std::uint32_t r = first_; r <= set_.ranks(); ++r)
      each_key(set_.patterns[r],
               [&](std::size_t, std::size_t, const window_key& key) { ++count_of(key); });
    for (std::uint32_t r = first_; r <= set_.ranks(); ++r) {
      const std::string_view p = set_.patterns[r];
      const std::size_t at = best_position(p);
      for (std::size_t o = 0; o < stride_; ++o) {
        const window_key key = key_at(p, at + o, list_of(p, o));
        if (different(p.substr(at + o, bytes_)) == 1 && count_of(key) >= many_runs) return false;
        windows_.push_back({key, r, static_cast<std::uint32_t>(at + o)});
      }
    }
    return true;
  }
  static constexpr std::uint32_t many_runs = 16;
  /// Calls f(position, o, key) for window o of each position that may be chosen.
  template <class F>
  void each_key(std::string_view p, F f) const {
    const std::size_t n = choices(p);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t o = 0; o < stride_; ++o)
        if (probes.how == stride4_windows::kind::with_sides || o == 0 || i + 1 == n)
          f(i, o, key_at(p, i + o, list_of(p, o)));
  }
  /// Returns the position whose windows are in the fewest patterns; of these, the one with the most
  /// different bytes.
  std::size_t best_position(std::string_view p) {
    const std::size_t n = choices(p);
    std::size_t best = 0;
    std::uint64_t least = ~std::uint64_t{0};
    for (std::size_t i = 0; i < n; ++i) {
      std::uint64_t value = 0;
      for (std::size_t o = 0; o < stride_; ++o) value += count_of(key_at(p, i + o, list_of(p, o)));
      value = value << 6 |
              static_cast<std::uint64_t>(63 - different(p.substr(i, bytes_ + stride_ - 1)));
      if (value >= least) continue;
      least = value;
      best = i;
    }
    return best;
  }
  void sort_windows() {
    std::sort(windows_.begin(), windows_.end(),
              [](const window& a, const window& b) { return a.order() < b.order(); });
  }
  /// In windows of 4 bytes more than one letter may come again: these are in many words.
  std::size_t most_period() const {
    return probes.how == stride4_windows::kind::with_after ? 1 : 3;
  }
  /// Whether some patterns have one window of up to three letters that come again and again: in a
  /// text of these, each would be compared at every position.
  bool repeats_itself() const {
    for (std::size_t i = 0, end = 0; i < windows_.size(); i = end) {
      while (end < windows_.size() && windows_[end].key == windows_[i].key) ++end;
      const auto bytes = set_.patterns[windows_[i].rank].substr(windows_[i].offset, bytes_);
      for (std::size_t period = 1; period <= most_period() && end - i > 2; ++period)
        if (bytes.substr(period) == bytes.substr(0, bytes_ - period)) return true;
    }
    return false;
  }
  void make_tables(const std::vector<std::uint32_t>& record) {
    // Kernels with the short table have no code for windows at every byte.
    const bool has_many =
        stride4_windows::stride(probes.how) == 1 || windows_.size() > most_with_few;
    probes.filter_bits = has_many ? filter_word::many_words_bits : filter_word::few_words_bits;
    filter.resize(std::size_t{1} << probes.filter_bits);
    for (const window& w : windows_) let_pass(w);
    make_slots(set_, windows_.size(), most_of_slots);
    fill(windows_, record,
         [this](const window_key& key) { return stride4_windows::slot(key, slots_bits); });
  }
  void let_pass(const window& w) {
    const std::string_view p = set_.patterns[w.rank];
    const std::uint32_t a = word_at(p, w.offset), b = word_at(p, w.offset + 4),
                        c = word_at(p, w.offset + 8), hash = probes.hash(a, b, c);
    // The key's first word is the hash with the bytes before or after.
    filter[probes.word(hash)] |=
        probes.bits(hash, w.key.low, stride4_windows::has_side(probes.how, list_of(p, 0)));
  }

  const multi_pattern_normal_form& set_;
  std::uint32_t first_;  // rank
  std::size_t bytes_ = 0, stride_ = 1;
  std::vector<std::uint32_t> counts_;
  std::vector<window> windows_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
