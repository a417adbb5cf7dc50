// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/detail/table_words.hpp>
#include <lanewise/data/radix_key.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Keys as unsigned integers in the same order.
template <class Key, class Warp>
LANEWISE_FUNCTION auto bits_of(const Warp& warp, const lanes_t<Warp, Key>& key) {
  return warp.map([](const Key& k) { return lanewise::to_bits(k); }, key);
}
/// The last of `number` leaves or roots, or 0. 0 in inactive lanes.
template <class Warp>
LANEWISE_FUNCTION lanes_t<Warp, std::uint32_t> last_of(const Warp& warp,
                                                       mask_t<Warp, std::uint32_t> active,
                                                       const lanes_t<Warp, std::int64_t>& number) {
  return warp.map(
      active,
      [](std::int64_t n) { return n > 0 ? static_cast<std::uint32_t>(n - 1) : std::uint32_t{0}; },
      std::uint32_t{0}, number);
}

/// The warp face that views of tables in order have in common. View has locate_active<right>, which
/// finds out where to look, find_at, and neighbour_at<forward, strict>. Functions return
/// lanes<table_status>: found, absent, and none in inactive lanes. Outputs are changed where an
/// element is found.
template <class View, class Key, class Value>
class table_warp_face {
 public:
  using key_type = Key;
  using value_type = value_type_of<Value>;
  template <class Warp>
  using keys = lanes_t<Warp, Key>;
  template <class Warp>
  using values = lanes_t<Warp, value_type>;
  template <class Warp>
  using active_lanes = mask_t<Warp, std::uint32_t>;

  /// Looks keys up; value becomes that of the key, of equal keys the first.
  template <class Warp>
  LANEWISE_FUNCTION auto find(const Warp& warp, active_lanes<Warp> active, const keys<Warp>& key,
                              values<Warp>& value) const {
    const auto at = self().template locate_active<false>(warp, active, key);
    return self().find_at(warp, active, at, key, value);
  }
  /// The element with the least key that is not less, of equal keys the first.
  template <class Warp>
  LANEWISE_FUNCTION auto successor(const Warp& warp, active_lanes<Warp> active,
                                   const keys<Warp>& key, keys<Warp>& found,
                                   values<Warp>& value) const {
    return neighbour<true, false>(warp, active, key, found, value);
  }
  /// The one with the least key that is greater. From an element's key on it is the next element,
  /// so that a key is a cursor.
  template <class Warp>
  LANEWISE_FUNCTION auto strict_successor(const Warp& warp, active_lanes<Warp> active,
                                          const keys<Warp>& key, keys<Warp>& found,
                                          values<Warp>& value) const {
    return neighbour<true, true>(warp, active, key, found, value);
  }
  /// The element with the greatest key that is not greater, of equal keys the last.
  template <class Warp>
  LANEWISE_FUNCTION auto predecessor(const Warp& warp, active_lanes<Warp> active,
                                     const keys<Warp>& key, keys<Warp>& found,
                                     values<Warp>& value) const {
    return neighbour<false, false>(warp, active, key, found, value);
  }
  /// The one with the greatest key that is less.
  template <class Warp>
  LANEWISE_FUNCTION auto strict_predecessor(const Warp& warp, active_lanes<Warp> active,
                                            const keys<Warp>& key, keys<Warp>& found,
                                            values<Warp>& value) const {
    return neighbour<false, true>(warp, active, key, found, value);
  }

 private:
  LANEWISE_FUNCTION const View& self() const { return static_cast<const View&>(*this); }
  template <bool forward, bool strict, class Warp>
  LANEWISE_FUNCTION auto neighbour(const Warp& warp, active_lanes<Warp> active,
                                   const keys<Warp>& key, keys<Warp>& found,
                                   values<Warp>& value) const {
    const auto at = self().template locate_active<forward == strict>(warp, active, key);
    return self().template neighbour_at<forward, strict>(warp, active, at, key, found, value);
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
