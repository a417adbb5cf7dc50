// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/operators.hpp>
#include <lanewise/graphs/detail/graph_rows.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

// Bottom up for several searches: a vertex looks at its neighbours' words for bits that it wants,
// and stops when it has all.

/// The lanes whose words have any bits.
template <class W, class Words>
LANEWISE_FUNCTION auto has_bits(const W& warp, const Words& x) {
  return warp.map([](std::uint64_t b) -> std::uint32_t { return b != 0; }, x) != 0u;
}
/// The bits of all lanes, by halves, which have fast reductions of 32 bits.
template <class W, class Words>
LANEWISE_FUNCTION std::uint64_t bits_of_all(const W& warp, const Words& x) {
  const auto low = warp.map([](std::uint64_t b) { return static_cast<std::uint32_t>(b); }, x);
  const auto high =
      warp.map([](std::uint64_t b) { return static_cast<std::uint32_t>(b >> 32); }, x);
  return warp.reduce(low, bit_or{}) | std::uint64_t{warp.reduce(high, bit_or{})} << 32;
}

/// The bits that were found for each lane's row, and where to go on if that is not all.
template <class W, class Offset>
struct found_words {
  lanes_t<W, std::uint64_t> bits;
  lanes_t<W, Offset> next;
};

template <class W, class Vertex, class Offset>
class neighbour_words {
  using offsets = lanes_t<W, Offset>;
  using vertices = lanes_t<W, Vertex>;
  using words = lanes_t<W, std::uint64_t>;
  using mask_type = mask_t<W, std::uint32_t>;
  static constexpr int at_once = 4;
  static constexpr int rounds = 16;                     // of lanes by themselves
  static constexpr int few = 8;                         // lanes for which these do not pay
  static constexpr Offset most_of_warp = Offset{1024};  // edges of one row
  static constexpr Vertex no_vertex = static_cast<Vertex>(~Vertex{0});

 public:
  LANEWISE_FUNCTION neighbour_words(const W& warp, const graph_rows<Vertex, Offset>& rows,
                                    const std::uint64_t* words_of)
      : warp_(warp), rows_(rows), words_of_(words_of) {}

  /// The wanted bits of rows from `next` to `end`: lanes look at edges of their own as long as many
  /// do, then the warp at one row after the other. Long rows are left for others.
  LANEWISE_FUNCTION found_words<W, Offset> find(const words& wanted, offsets next,
                                                const offsets& end) const {
    words found(std::uint64_t{0});
    mask_type looking = detail::has_bits(warp_, wanted) & (next < end);
    for (int round = 0; round < rounds && warp_.count(looking) >= few; ++round) {
      found = found | along(looking, next, end, Offset{1});
      next = next + offsets(Offset{at_once});
      looking = looking & (next < end) & detail::has_bits(warp_, wanted & ~found);
    }
    for (auto todo = warp_.ballot(looking); todo != 0; todo &= todo - 1) {
      const int l = W::lowest(todo);
      const mask_type self = warp_.lane() == static_cast<std::uint32_t>(l);
      const Offset first = warp_.broadcast(next, l), last = warp_.broadcast(end, l);
      const Offset stop = last - first < most_of_warp ? last : Offset(first + most_of_warp);
      const std::uint64_t open = warp_.broadcast(wanted & ~found, l);
      found = found |
              lanewise::select(self, words(find_along(open, first, stop)), words(std::uint64_t{0}));
      next = lanewise::select(self, offsets(stop), next);
    }
    return {found & wanted, next};
  }

 private:
  /// The bits of a few neighbours of each lane, `step` apart.
  LANEWISE_FUNCTION words along(const mask_type& active, const offsets& first, const offsets& end,
                                Offset step) const {
    vertices neighbour[at_once];
    LANEWISE_UNROLL
    for (int k = 0; k < at_once; ++k) {
      const auto place = first + offsets(static_cast<Offset>(static_cast<Offset>(k) * step));
      neighbour[k] = warp_.gather(active & (place < end), rows_.columns, place, no_vertex);
    }
    words bits(std::uint64_t{0});
    LANEWISE_UNROLL
    for (int k = 0; k < at_once; ++k)
      bits = bits |
             warp_.gather(neighbour[k] < rows_.vertices, words_of_, neighbour[k], std::uint64_t{0});
    return bits;
  }
  LANEWISE_FUNCTION std::uint64_t find_along(std::uint64_t wanted, Offset first, Offset end) const {
    constexpr Offset batch = at_once * W::width;
    const auto lane = warp_.template cast<Offset>(warp_.lane());
    std::uint64_t found = 0;
    for (;;) {
      found |= detail::bits_of_all(
          warp_, along(warp_.first(W::width), lane + offsets(first), offsets(end), W::width));
      if (end - first <= batch || (wanted & ~found) == 0) return found;
      first = static_cast<Offset>(first + batch);
    }
  }

  const W warp_;
  graph_rows<Vertex, Offset> rows_;
  const std::uint64_t* words_of_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
