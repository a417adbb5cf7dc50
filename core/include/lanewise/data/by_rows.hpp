// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/radix_key.hpp>
#include <lanewise/data/source.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// i / width for i >= 0, by a product.
class quotient {
 public:
  explicit quotient(std::int64_t width)
      : width_(static_cast<std::uint64_t>(width)), inverse_(~std::uint64_t{0} / width_ + 1) {}

  LANEWISE_FUNCTION std::int64_t operator()(std::int64_t i) const {
    const auto x = static_cast<std::uint64_t>(i);
#if defined(LANEWISE_HAS_INT128)
    // 2^64 / width, rounded up, makes it at most one too large. For width 1 it is 0.
    const auto most = inverse_ == 0 ? x : static_cast<std::uint64_t>(uint128{x} * inverse_ >> 64);
    return static_cast<std::int64_t>(most - (most * width_ > x ? 1 : 0));
#else
    return static_cast<std::int64_t>(x / width_);
#endif
  }

 private:
  std::uint64_t width_;
  std::uint64_t inverse_;
};

template <class T>
struct item_of_rows {
  const T* data;
  quotient row;
  std::int64_t step;  ///< from item to item of a row
  std::int64_t gap;   ///< and that more from a row's last item to the next row's first
  LANEWISE_FUNCTION T operator()(std::int64_t i) const { return data[i * step + row(i) * gap]; }
};

}  // namespace detail

/// A source of the items of a View of rank 2, row after row, in whatever layout: rows may lie
/// apart, as those of a part of an image do. Item i of rows of w items is view(i / w, i % w).
template <class V>
requires(Kokkos::is_view_v<V>) auto by_rows(const V& view) {
  using item = typename V::non_const_value_type;
  static_assert(V::rank() == 2, "lanewise::by_rows: the View has rank 2");
  const auto rows = static_cast<std::int64_t>(view.extent(0));
  const auto width = static_cast<std::int64_t>(view.extent(1));
  const auto step = static_cast<std::int64_t>(view.stride(1));
  const auto stride = static_cast<std::int64_t>(view.stride(0));
  detail::expects(rows * width == 0 || view.data() != nullptr, "by_rows: the View has ", rows,
                  " rows of ", width, " items and no memory");
  return lanewise::generated(
      rows * width, detail::item_of_rows<item>{view.data(), detail::quotient(width > 0 ? width : 1),
                                               step, stride - width * step});
}

LANEWISE_END_NAMESPACE
