// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/merging/device_set_tile.hpp>
#include <lanewise/merge_tile.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// What device_set_tile is, by a thread of a host: a piece of the merge of two sequences, of which
/// the items that are kept stay in cache until their places are known. Set operations on hosts are
/// composed of merges and compactions; this tile has no rules for them.
template <class Team, class T, std::int64_t items_>
class host_set_tile {
 public:
  static constexpr std::int64_t items = items_;
  struct scratch {
    raw_array<T, items> item;
    std::uint32_t from[items];
    merge_piece piece;
  };

  template <class First, class Second>
  LANEWISE_FUNCTION host_set_tile(const Team& team, scratch& shared, const First&, const Second&,
                                  const merge_piece& piece)
      : team_(team), shared_(shared), piece_(piece) {}

  /// As device_set_tile has it.
  template <class First, class Second, class Keep, class Less>
  LANEWISE_FUNCTION std::uint32_t mark_firsts(const First& first, const Second& second,
                                              const Keep& keep, const Less& less) {
    T* const item = shared_.item.data();
    std::uint32_t* const from = shared_.from;
    const merge_cut<std::int64_t> begin = piece_.begin;
    const std::int64_t n = piece_.count(), n_first = piece_.count_a(), number = piece_.first();
    typename host_merge_tile<T, items>::scratch nothing;
    host_merge_tile<T, items>::template merge<true>(
        team_, nothing, first, second, piece_,
        [&](std::int64_t i, const T& x, std::int64_t index, bool is_second) LANEWISE_INLINE_LAMBDA {
          item[i - number] = x;
          from[i - number] = static_cast<std::uint32_t>(is_second ? n_first + index - begin.from_b
                                                                  : index - begin.from_a);
        },
        less);
    maybe<T> last = detail::last_in_front(begin, first, second, less);
    kept_ = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const T x = item[i];
      const std::uint32_t p = from[i];
      const bool is_first = !last.present || less(last.value, x);
      last = {x, true};
      if (!is_first || !keep(index_of(p), is_of_second(p))) continue;
      item[kept_] = x;
      from[kept_++] = p;
    }
    return kept_;
  }

  /// Writes items and what goes with them from place `start` on, as far as there are `room` places.
  template <class Put>
  LANEWISE_FUNCTION void write(const Put& put, std::int64_t start, std::int64_t room) const {
    for (std::uint32_t i = 0; i < kept_ && start + i < room; ++i) {
      const std::uint32_t p = shared_.from[i];
      put.store(start + i, shared_.item.data()[i], put.load(index_of(p), is_of_second(p)));
    }
  }

 private:
  LANEWISE_FUNCTION bool is_of_second(std::uint32_t p) const { return p >= piece_.count_a(); }
  LANEWISE_FUNCTION std::int64_t index_of(std::uint32_t p) const {
    return is_of_second(p) ? piece_.begin.from_b + p - piece_.count_a() : piece_.begin.from_a + p;
  }

  const Team& team_;
  scratch& shared_;
  merge_piece piece_;
  std::uint32_t kept_ = 0;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
