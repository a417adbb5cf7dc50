// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/operators.hpp>
#include <lanewise/macros.hpp>

#include <cstddef>
#include <cstdint>

LANEWISE_BEGIN_NAMESPACE

/// The most buckets that items are split into at a time.
inline constexpr int most_buckets = 256;

namespace detail {

/// What a bucket function returned as a number that is below 2^32 - 1 only if the result was: wide
/// results are not cut off.
template <class B>
LANEWISE_FUNCTION constexpr std::uint32_t bucket_number(B b) {
  if constexpr (sizeof(B) > sizeof(std::uint32_t)) {
    return static_cast<std::uint64_t>(b) >> 32 == 0 ? static_cast<std::uint32_t>(b)
                                                    : ~std::uint32_t{0};
  } else {
    return static_cast<std::uint32_t>(b);
  }
}

/// A sink for keys that are needed no more.
struct no_sink {
  static constexpr bool contiguous = false;

  std::int64_t extent;

  template <class T>
  LANEWISE_FUNCTION void operator()(std::int64_t, const T&) const {}
};

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

/// Turns counts, which come in whole windows, into the places next[b] where buckets begin. It also
/// calls begins(b, place) for every bucket. By one warp. Returns the number of all items.
template <class W, class Begins>
LANEWISE_FUNCTION std::int64_t scan_buckets(const W& warp, const std::uint32_t* counts,
                                            std::uint32_t buckets, std::int64_t* next,
                                            const Begins& begins) {
  std::int64_t before = 0;
  for (std::uint32_t b = 0; b < buckets; b += W::width) {
    auto bucket = warp.lane() + typename W::template lanes<std::uint32_t>(b);
    const auto total = warp.template cast<std::int64_t>(warp.load(counts + b));
    const auto upto = warp.inclusive_scan(total, plus{});
    auto place = upto - total + decltype(total)(before);
    warp.store(next + b, place);
    warp.each(bucket < buckets, begins, bucket, place);
    before += warp.broadcast(upto, W::width - 1);
  }
  return before;
}

/// For a tile of all items, whose slots are their places: begins(b, place) is called for every
/// bucket.
template <class Begins>
struct places_of_slots {
  static constexpr bool waits = false;
  static constexpr bool are_few = true;
  static constexpr bool slots_are_places = true;

  Begins begins;

  template <class W>
  LANEWISE_FUNCTION int ask(const W&, std::uint32_t, std::uint32_t) const {
    return 0;
  }
  template <class W, class Counts>
  LANEWISE_FUNCTION void tell(const W&, std::uint32_t, std::uint32_t, const Counts&) const {}
  template <class W, class Slots>
  LANEWISE_FUNCTION void tell_slots(const W& warp, std::uint32_t first, std::uint32_t buckets,
                                    const Slots& slot) const {
    auto bucket = warp.lane() + Slots(first);
    auto place = warp.template cast<std::int64_t>(slot);
    warp.each(bucket < buckets, begins, bucket, place);
  }
};

/// The places where the next run of every bucket begins, for a team that places tiles one after the
/// other.
struct places_in_turn {
  std::int64_t* next;  // in scratch

  static constexpr bool waits = false;
  static constexpr bool are_few = true;

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
