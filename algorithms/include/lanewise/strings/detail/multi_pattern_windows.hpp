// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/strings/detail/multi_pattern_bucket_tables.hpp>
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

/// Makes the windows of a set's patterns of 4 bytes and more, on the host: for each pattern it
/// chooses windows that few other patterns have. What is in most patterns is in most texts, too:
/// 800 patterns a...axa...a all have aaaaaaaa.
class multi_pattern_windows : public window_table {
 public:
  /// How far after a pattern's begin a window may begin.
  static constexpr std::size_t most_offset = 48;

  std::uint32_t kinds = 0;
  bool uses_surroundings = false;
  window_surroundings around;
  bool has_many = false;
  bucket_tables buckets;  ///< of windows of kind 0, where nothing around them counts
  std::vector<std::uint32_t> filter =
      std::vector<std::uint32_t>(std::size_t{1} << filter_word::many_words_bits);

  /// letters: the bits of a word that count; record: of each rank. O(48 windows for each pattern).
  multi_pattern_windows(const multi_pattern_normal_form& set, std::uint32_t letters,
                        const std::vector<std::uint32_t>& record)
      : set_(set), letters_(letters), first_(set.first_of(short_pairs::most_bytes + 1)) {
    std::size_t bytes = 0;
    for (const std::string_view p : set.patterns) bytes += std::min(p.size(), most_offset);
    counts_.resize(std::bit_ceil(std::clamp<std::size_t>(bytes, 1 << 8, 1 << 22)));
    if (first_ <= set.ranks()) {
      choose_kind();
      choose_positions();
    }
    if (kinds == 1 && !uses_surroundings) make_buckets();
    make_tables(record);
  }

 private:
  /// A pattern's window.
  struct window {
    window_key key;
    std::uint32_t rank, offset;
    auto order() const { return std::tuple(key.low, key.high, ~rank, offset); }
  };
  /// The begin of the first window of a pattern.
  struct position {
    std::size_t at;
    bool is_run;  ///< whether a window is a run that many patterns have
  };

  /// Whether a pattern has four bytes more after the window that begins at its byte i.
  bool is_long(std::string_view p, std::size_t i) const {
    return uses_surroundings && p.size() >= i + window_bytes() + 4;
  }
  std::size_t window_bytes() const { return static_cast<std::size_t>(window_kind{kind_}.bytes()); }
  std::size_t stride() const { return static_cast<std::size_t>(window_kind{kind_}.stride()); }
  /// With many patterns it pays to test the surroundings of windows, so that fewer pass. Measured
  /// on one core of a Xeon, windows of 4 bytes of 94, 188 and 281 words: 2.0, 1.15 and 0.86 GB/s by
  /// buckets, 1.4, 1.09 and 1.01 with surroundings.
  void choose_kind() {
    // With few patterns, buckets with 4 bytes pass little. Measured on that core, 5, 11 and 21
    // words of 7 letters: 9.1, 8.5 and 3.2 GB/s; by 6 bytes 4.7, 5.7 and 4.8.
    constexpr std::uint32_t few_patterns = 16;
    shortest_ = set_.patterns[first_].size();
    const bool are_short = shortest_ < span_of(1);
    const std::uint32_t number = set_.ranks() - first_ + 1;
    uses_surroundings = number >= (are_short ? 192u : 64u);
    while (kind_ + 1 < window_kind::number && shortest_ >= span_of(kind_ + 1)) ++kind_;
    if (kind_ == 1 && number <= few_patterns) kind_ = 0;
    multi_pattern_surroundings();
  }
  static std::size_t span_of(int kind) {
    return static_cast<std::size_t>(window_kind{kind}.span());
  }
  /// Windows that are not long have `before` bytes before them, in the shortest pattern and in
  /// longer ones. Windows are chosen so that all_after_ bytes are after each.
  void multi_pattern_surroundings() {
    all_after_ = uses_surroundings ? std::min<std::size_t>(shortest_ - span_of(kind_), 4) : 0;
    const std::size_t enough = window_bytes() + 3;
    const std::size_t before =
        uses_surroundings && shortest_ > enough ? std::min<std::size_t>(shortest_ - enough, 4) : 0;
    around.front = (before == 4 ? ~0u : ~(~0u >> 8 * before)) & letters_;
    around.after = (all_after_ == 4 ? ~0u : (1u << 8 * all_after_) - 1) & letters_;
  }
  /// The key of the first q bytes of a window, which choose the word of the filter.
  window_key first_bytes_at(std::string_view p, std::size_t i) const {
    return window_key::of(kind_, word_at(p, i), word_at(p, i + 4));
  }
  window_key key_at(std::string_view p, std::size_t i) const {
    return first_bytes_at(p, i).with(around_at(p, i), is_long(p, i));
  }
  /// What counts of the bytes around a window.
  std::uint32_t around_at(std::string_view p, std::size_t i) const {
    const std::uint32_t after = word_at(p, i + window_bytes());
    if (is_long(p, i)) return after;
    const std::uint32_t front = i >= 4   ? word_at(p, i - 4)
                                : i != 0 ? word_at(p, 0) << 8 * (4 - i)
                                         : 0;
    return around.mixed(front, after);
  }
  std::uint32_t word_at(std::string_view p, std::size_t i) const {
    std::uint32_t word = 0;
    for (std::size_t b = 0; b < 4 && i + b < p.size(); ++b)
      word |= std::uint32_t{static_cast<unsigned char>(p[i + b])} << 8 * b;
    return word & letters_;
  }
  std::uint32_t& count_of(const window_key& key) {
    return counts_[key.hash() * 0x2545f491u >> 7 & (counts_.size() - 1)];
  }
  /// The first window may begin at bytes [0, n) of a pattern.
  std::size_t choices(std::string_view p) const {
    return std::min(p.size() - span_of(kind_) - all_after_, most_offset - stride() + 1) + 1;
  }
  static int different(std::string_view bytes) {
    std::uint64_t seen[4] = {};
    for (const char c : bytes)
      seen[static_cast<unsigned char>(c) / 64] |= std::uint64_t{1} << (c & 63);
    return std::popcount(seen[0]) + std::popcount(seen[1]) + std::popcount(seen[2]) +
           std::popcount(seen[3]);
  }
  /// Returns the position whose windows are in the fewest patterns; of these, the one with the most
  /// different bytes.
  position best_position(std::string_view p) {
    const std::size_t n = choices(p);
    std::uint32_t counts[most_offset + 4];
    for (std::size_t i = 0; i < n + stride() - 1; ++i)
      counts[i] = count_of(key_at(p, i)) + count_of(first_bytes_at(p, i));
    position best{0, false};
    std::uint64_t least = ~std::uint64_t{0};
    for (std::size_t i = 0; i < n; ++i) {
      std::uint64_t value = 0;
      for (std::size_t o = 0; o < stride(); ++o) value += counts[i + o];
      value = value << 6 | static_cast<std::uint64_t>(63 - different(p.substr(i, span_of(kind_))));
      if (value >= least) continue;
      least = value;
      best.at = i;
    }
    for (std::size_t o = 0; o < stride(); ++o)
      best.is_run = best.is_run || is_frequent_run(p, best.at + o);
    return best;
  }
  /// Whether a window has one byte repeated, and many patterns have it.
  bool is_frequent_run(std::string_view p, std::size_t at) {
    constexpr std::uint32_t many_alike = 16;
    const std::size_t bytes = window_bytes() + (is_long(p, at) ? 4 : 0);
    return different(p.substr(at, bytes)) == 1 && count_of(key_at(p, at)) >= many_alike;
  }
  /// In a pattern xaaa...a all windows but the first are runs, which many texts have. If many
  /// patterns are such, all are searched by xaaa, at every byte.
  void choose_positions() {
    std::vector<position> positions = best_positions();
    if (kind_ != 0 && std::any_of(positions.begin(), positions.end(),
                                  [](const position& p) { return p.is_run; })) {
      kind_ = 0;
      multi_pattern_surroundings();
      positions = best_positions();
    }
    kinds = 1u << kind_;
    for (std::uint32_t r = first_; r <= set_.ranks(); ++r) {
      const std::string_view p = set_.patterns[r];
      for (std::size_t o = 0; o < stride(); ++o) {
        const std::size_t at = positions[r - first_].at + o;
        windows_.push_back({key_at(p, at), r, static_cast<std::uint32_t>(at)});
        let_pass(p, at);
      }
    }
  }
  std::vector<position> best_positions() {
    std::fill(counts_.begin(), counts_.end(), 0u);
    for (std::uint32_t r = first_; r <= set_.ranks(); ++r) {
      const std::string_view p = set_.patterns[r];
      const std::size_t n = choices(p) + stride() - 1;
      for (std::size_t i = 0; i < n; ++i) {
        ++count_of(key_at(p, i));
        ++count_of(first_bytes_at(p, i));
      }
    }
    std::vector<position> positions;
    for (std::uint32_t r = first_; r <= set_.ranks(); ++r)
      positions.push_back(best_position(set_.patterns[r]));
    return positions;
  }
  void let_pass(std::string_view p, std::size_t at) {
    const std::uint32_t hash = first_bytes_at(p, at).hash();
    const std::uint32_t bits =
        filter_word::bits(uses_surroundings ? filter_word::with(hash, around_at(p, at)) : hash);
    filter[filter_word::word(hash, filter_word::many_words_bits)] |= bits;
  }
  void make_buckets() {
    std::vector<std::string_view> all;
    for (const window& w : windows_) all.push_back(set_.patterns[w.rank].substr(w.offset, 4));
    std::sort(all.begin(), all.end());
    buckets.put(all, 4);
  }
  /// The words whose numbers begin with the same bits become one.
  void make_filter_short() {
    constexpr std::size_t together =
        std::size_t{1} << (filter_word::many_words_bits - filter_word::few_words_bits);
    for (std::size_t w = 0; w < filter.size() / together; ++w) {
      std::uint32_t bits = 0;
      for (std::size_t i = 0; i < together; ++i) bits |= filter[w * together + i];
      filter[w] = bits;
    }
    filter.resize(filter.size() / together);
  }
  void make_tables(const std::vector<std::uint32_t>& record) {
    std::sort(windows_.begin(), windows_.end(),
              [](const window& a, const window& b) { return a.order() < b.order(); });
    std::size_t number = 0;
    for (std::size_t i = 0; i < windows_.size(); ++i)
      number += i == 0 || !(windows_[i].key == windows_[i - 1].key) ? 1 : 0;
    has_many = number > most_with_few;
    if (!has_many) make_filter_short();
    make_slots(set_, number, most_of_slots);
    fill(windows_, record,
         [this](const window_key& key) { return window_slot::index(key.hash(), slots_bits); });
  }

  /// This number of windows leaves nine of ten bits of the short table unset.
  static constexpr std::size_t most_with_few = 12'000;
  /// Bytes of slots for each byte of the patterns, where there are more than needed.
  static constexpr std::size_t most_of_slots = 12;

  const multi_pattern_normal_form& set_;
  std::uint32_t letters_;
  std::uint32_t first_;  // rank
  int kind_ = 0;
  std::size_t shortest_ = 0;
  std::size_t all_after_ = 0;  // this number of bytes is after each window
  std::vector<std::uint32_t> counts_;
  std::vector<window> windows_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
