// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

// What deterministic operators must compute: the order that docs/algorithms.md describes, spelled
// out one operation after the other.

namespace test::oracle {

template <class T>
struct tree_shape {
  static constexpr std::int64_t pack = sizeof(T) > 8   ? 1
                                       : sizeof(T) > 4 ? 2
                                       : sizeof(T) > 2 ? 4
                                       : sizeof(T) > 1 ? 8
                                                       : 16;
  static constexpr std::int64_t row = 32 * pack;
  static constexpr std::int64_t segment = sizeof(T) > 16 ? 128 : sizeof(T) >= 8 ? 512 : 1024;
  static constexpr std::int64_t block = 8 * segment;
};

/// Parts of [begin, end), each but the last of that length.
inline std::vector<std::pair<std::int64_t, std::int64_t>> parts(std::int64_t begin,
                                                                std::int64_t end,
                                                                std::int64_t length) {
  std::vector<std::pair<std::int64_t, std::int64_t>> result;
  for (; begin < end; begin += length) result.push_back({begin, std::min(begin + length, end)});
  return result;
}

template <class T, class Op>
class fixed_tree {
 public:
  using shape = tree_shape<T>;

  fixed_tree(std::vector<T> items, Op op) : items_(std::move(items)), op_(op) {}

  /// The scan that begins with init, or with the first item.
  std::vector<T> scan(bool exclusive, std::optional<T> init) const {
    out_.clear();
    std::optional<T> before = init;
    for (const auto& [begin, end] : parts(0, size(), shape::block)) {
      const auto segments = doubled(totals(begin, end, shape::segment));
      std::vector<T> inside;  // the block's own inclusive scan
      std::size_t s = 0;
      for (const auto& [first, last] : parts(begin, end, shape::segment)) {
        scan_segment(first, last, s == 0 ? std::optional<T>() : segments[s - 1], inside);
        ++s;
      }
      for (std::size_t i = 0; i < inside.size(); ++i) {
        std::optional<T> mine;
        if (!exclusive) mine = inside[i];
        if (exclusive && i > 0) mine = inside[i - 1];
        out_.push_back(*joined(before, mine));
      }
      before = joined(before, segments.back());
    }
    return out_;
  }

  /// The totals of blocks are items of a second tree, made in blocks again; its totals are folded.
  T reduce(const T& init) const {
    const fixed_tree above(totals(0, size(), shape::block), op_);
    T sum = init;
    for (const T& total : above.totals(0, above.size(), shape::block)) sum = op_(sum, total);
    return sum;
  }

 private:
  std::int64_t size() const { return static_cast<std::int64_t>(items_.size()); }
  const T& item(std::int64_t i) const { return items_[static_cast<std::size_t>(i)]; }

  T fold(const std::vector<T>& values) const {
    T sum = values.front();
    for (std::size_t i = 1; i < values.size(); ++i) sum = op_(sum, values[i]);
    return sum;
  }
  std::vector<T> doubled(std::vector<T> values) const {
    for (std::size_t k = 1; k < values.size(); k *= 2) {
      const auto old = values;
      for (std::size_t i = k; i < values.size(); ++i) values[i] = op_(old[i - k], old[i]);
    }
    return values;
  }
  std::optional<T> joined(const std::optional<T>& a, const std::optional<T>& b) const {
    if (!a.has_value()) return b;
    return b.has_value() ? op_(*a, *b) : *a;
  }

  T total(std::int64_t begin, std::int64_t end, std::int64_t length) const {
    if (length == shape::block) return doubled(totals(begin, end, shape::segment)).back();
    if (length == shape::segment) return fold(totals(begin, end, shape::row));
    if (length == shape::row) return doubled(totals(begin, end, shape::pack)).back();
    return fold(std::vector<T>(items_.begin() + begin, items_.begin() + end));
  }
  std::vector<T> totals(std::int64_t begin, std::int64_t end, std::int64_t length) const {
    std::vector<T> result;
    for (const auto& [first, last] : parts(begin, end, length))
      result.push_back(total(first, last, length));
    return result;
  }

  void scan_segment(std::int64_t begin, std::int64_t end, std::optional<T> before,
                    std::vector<T>& out) const {
    for (const auto& [row, row_end] : parts(begin, end, shape::row)) {
      const auto packs = doubled(totals(row, row_end, shape::pack));
      std::size_t p = 0;
      for (const auto& [pack, pack_end] : parts(row, row_end, shape::pack)) {
        const auto prefix = p == 0 ? before : joined(before, packs[p - 1]);
        std::optional<T> inside;
        for (std::int64_t i = pack; i < pack_end; ++i) {
          inside = joined(inside, item(i));
          out.push_back(*joined(prefix, inside));
        }
        ++p;
      }
      before = joined(before, packs.back());
    }
  }

  std::vector<T> items_;
  Op op_;
  mutable std::vector<T> out_;
};

}  // namespace test::oracle

namespace test {

/// Equal bits; any NaN for any NaN.
template <class T>
bool same_bits(const T& a, const T& b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) && std::isnan(b)) return true;
  }
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// Empty when all have the same bits, else the first difference in words.
template <class T>
std::string different_bits(const std::vector<T>& actual, const std::vector<T>& expected) {
  std::ostringstream text;
  text.precision(17);
  if (actual.size() != expected.size()) {
    text << actual.size() << " items, not " << expected.size();
    return text.str();
  }
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (same_bits(actual[i], expected[i])) continue;
    text << "item " << i << " of " << actual.size() << " is " << actual[i] << ", not "
         << expected[i];
    break;
  }
  return text.str();
}

}  // namespace test
