// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/compaction/host.hpp>
#include <lanewise/detail/three_ways/ways.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// A tile left where it is, whose items go three ways: compactions of the first, of the second, and
/// of what neither has kept.
template <class Team, class Source, std::int64_t most_items, class Ways>
class host_three_ways {
  using part = host_compaction<Team, Source, most_items>;

 public:
  static constexpr bool stores_unscanned = false;
  struct scratch {
    typename part::scratch one, two, either;
  };

  LANEWISE_FUNCTION host_three_ways(const Team& team, scratch& shared, const Source& source,
                                    const Ways& ways, std::int64_t first, std::int64_t n)
      : one_(team, shared.one, source, ways.one(), first, n),
        two_(team, shared.two, source, ways.two(), first, n),
        either_(one_, two_, shared.either) {}

  LANEWISE_FUNCTION selection_state total() const {
    return selection_state::of(one_.count(), two_.count());
  }

  template <class One, class Two, class Three>
  LANEWISE_FUNCTION void write(const One& one, const Two& two, const Three& rest,
                               const selection_state& before) const {
    one_.write(selected_items<One>(one), no_column{}, before.count(), 0);
    two_.write(selected_items<Two>(two), no_column{}, before.end(), 0);
    either_.write(no_column{}, rejected_items<Three>(rest), before.count() + before.end(), 0);
  }

 private:
  part one_, two_, either_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
