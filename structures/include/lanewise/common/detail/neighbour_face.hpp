// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/detail/table_words.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// What views of tables in order have in common: the next elements of every active lane's key. View
/// has neighbour<forward, strict>. `found` and value are changed where there is such an element.
/// Functions return lanes<table_status>: found, absent, and none in inactive lanes.
template <class View, class Key, class Value>
class neighbour_face {
 public:
  template <class Warp>
  using keys = lanes_t<Warp, Key>;
  template <class Warp>
  using values = lanes_t<Warp, Value>;
  template <class Warp>
  using active_lanes = mask_t<Warp, std::uint32_t>;

  /// The element with the least key that is not less, of equal keys the first.
  template <class Warp>
  LANEWISE_FUNCTION auto successor(const Warp& warp, active_lanes<Warp> active,
                                   const keys<Warp>& key, keys<Warp>& found,
                                   values<Warp>& value) const {
    return self().template neighbour<true, false>(warp, active, key, found, value);
  }
  /// The one with the least key that is greater. From an element's key on it is the next element,
  /// so that a key is a cursor.
  template <class Warp>
  LANEWISE_FUNCTION auto strict_successor(const Warp& warp, active_lanes<Warp> active,
                                          const keys<Warp>& key, keys<Warp>& found,
                                          values<Warp>& value) const {
    return self().template neighbour<true, true>(warp, active, key, found, value);
  }
  /// The element with the greatest key that is not greater, of equal keys the last.
  template <class Warp>
  LANEWISE_FUNCTION auto predecessor(const Warp& warp, active_lanes<Warp> active,
                                     const keys<Warp>& key, keys<Warp>& found,
                                     values<Warp>& value) const {
    return self().template neighbour<false, false>(warp, active, key, found, value);
  }
  /// The one with the greatest key that is less.
  template <class Warp>
  LANEWISE_FUNCTION auto strict_predecessor(const Warp& warp, active_lanes<Warp> active,
                                            const keys<Warp>& key, keys<Warp>& found,
                                            values<Warp>& value) const {
    return self().template neighbour<false, true>(warp, active, key, found, value);
  }

 private:
  LANEWISE_FUNCTION const View& self() const { return static_cast<const View&>(*this); }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
