// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/select/detail/host/host_compaction.hpp>
#include <lanewise/select/detail/three_ways.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// A tile left where it is, whose items go three ways: a first pass marks and counts them, and
/// three compactions write.
template <class Team, class Source, std::int64_t most_items, class Ways>
class host_three_ways {
  using part = host_compaction<Team, Source, most_items>;
  using warp_type = typename Team::warp_type;
  using bits = typename warp_type::bits;
  static constexpr int width = warp_type::width;

 public:
  static constexpr bool stores_unscanned = false;
  struct scratch {
    typename part::scratch one, two, rest;
  };

  LANEWISE_FUNCTION host_three_ways(const Team& team, scratch& shared, const Source& source,
                                    const Ways& ways, std::int64_t first, std::int64_t n)
      : one_(team, shared.one, source, first, n),
        two_(team, shared.two, source, first, n),
        rest_(team, shared.rest, source, first, n) {
    const auto marks_one = ways.one();
    const auto marks_two = ways.two();
    const auto warp = team.warp();
    const std::int64_t items = first + most_items < n ? most_items : (first < n ? n - first : 0);
    std::int64_t w = 0;
    for (; w < items / width; ++w) {
      const auto window = detail::load_window<true>(warp, source, first + w * width);
      const bits one = warp.ballot(detail::lanes_where(warp, marks_one, window));
      const bits two = warp.ballot(detail::lanes_where(warp, marks_two, window));
      keep(w, one, two, ~bits{0} >> (8 * sizeof(bits) - width));
    }
    if (w * width == items) return;
    bits one = 0, two = 0;
    const auto left = static_cast<int>(items - w * width);
    for (int l = 0; l < left; ++l) {
      one |= bits{detail::is_selected(marks_one, source, first + w * width + l, n)} << l;
      two |= bits{detail::is_selected(marks_two, source, first + w * width + l, n)} << l;
    }
    keep(w, one, two, (bits{1} << left) - 1);
  }

  LANEWISE_FUNCTION selection_state total() const {
    return selection_state::of(one_.count(), two_.count());
  }

  template <class One, class Two, class Three>
  LANEWISE_FUNCTION void write(const One& one, const Two& two, const Three& rest,
                               const selection_state& before) const {
    one_.write(selected_items<One>(one), no_column{}, before.count(), 0);
    two_.write(selected_items<Two>(two), no_column{}, before.end(), 0);
    rest_.write(selected_items<Three>(rest), no_column{},
                rest_.first() - before.count() - before.end(), 0);
  }

 private:
  part one_, two_, rest_;

  LANEWISE_FUNCTION void keep(std::int64_t w, bits one, bits two, bits all) {
    one_.keep(w, one);
    two_.keep(w, two);
    rest_.keep(w, all & ~(one | two));
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
