// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>

#include <cstddef>
#include <cstdint>

LANEWISE_BEGIN_NAMESPACE

/// The most buckets that one multisplit distributes over.
inline constexpr int most_buckets = 256;

namespace detail {

/// What a bucket function returned as a number that is below most_buckets only if the result was:
/// wide results are not cut off.
template <class B>
LANEWISE_FUNCTION constexpr std::uint32_t bucket_number(B b) {
  if constexpr (sizeof(B) > sizeof(std::uint32_t)) {
    return static_cast<std::uint64_t>(b) < most_buckets ? static_cast<std::uint32_t>(b)
                                                        : ~std::uint32_t{0};
  } else {
    return static_cast<std::uint32_t>(b);
  }
}

/// The type of a source's items; of what stands for no source, some type.
template <class Values>
struct value_of {
  using type = typename Values::value_type;
};
template <>
struct value_of<std::nullptr_t> {
  using type = char;
};

/// The size of a source's items; 0 for what stands for no source.
template <class Values>
inline constexpr int value_bytes = static_cast<int>(sizeof(typename Values::value_type));
template <>
inline constexpr int value_bytes<std::nullptr_t> = 0;

/// Where the next run of every bucket begins, for a team that places tiles one after the other.
struct places_in_turn {
  std::int64_t* next;  // in scratch

  static constexpr bool waits = false;

  template <class W>
  LANEWISE_FUNCTION auto ask(const W& warp, std::uint32_t first, std::uint32_t buckets) const {
    const auto exists = warp.lane() + typename W::template lanes<std::uint32_t>(first) < buckets;
    return warp.load(exists, next + first, std::int64_t{0});
  }
  template <class W, class Counts>
  LANEWISE_FUNCTION void tell(const W&, std::uint32_t, std::uint32_t, const Counts&) const {}
  template <class W, class Asked, class Counts>
  LANEWISE_FUNCTION const Asked& get(const W& warp, std::uint32_t first, std::uint32_t,
                                     const Asked& asked, const Counts& own) const {
    warp.store(next + first, asked + warp.template cast<std::int64_t>(own));
    return asked;
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
