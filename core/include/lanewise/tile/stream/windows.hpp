// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/source.hpp>
#include <lanewise/data/zip.hpp>
#include <lanewise/league/look_back_chain.hpp>
#include <lanewise/team/policy.hpp>
#include <lanewise/warp/warp.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// A processor alone looks ahead less far than this over what is computed with the items.
inline constexpr std::int64_t page_bytes = 4096;

/// One warp's worth of items of a source, from index i on. Where prefetched, the items `ahead` of
/// them are asked for, or those a page ahead.
template <bool prefetched = false, class W, class Source>
LANEWISE_FUNCTION auto load_window(const W& warp, const Source& source, std::int64_t i,
                                   [[maybe_unused]] std::int64_t ahead = 0) {
  if constexpr (Source::contiguous) {
    const auto raw = [&]() LANEWISE_INLINE_LAMBDA {
      if constexpr (prefetched) {
        constexpr auto bytes = static_cast<std::int64_t>(sizeof(*source.data));
        return warp.load_streaming(source.data + i, ahead != 0 ? ahead * bytes : page_bytes);
      }
      if constexpr (!prefetched) return warp.load(source.data + i);
    }();
    if constexpr (requires { source.f.is_identity; }) {
      return raw;
    } else {
      return detail::apply_by_lanes(warp, source.f, raw);
    }
  } else if constexpr (is_reversed_array<Source>) {
    return warp.shuffle_xor(detail::load_window(warp, source.forward, source.extent - i - W::width),
                            W::width - 1);
  } else if constexpr (is_zip<Source>) {
    return detail::call_with(
        [&](const auto&... part) LANEWISE_INLINE_LAMBDA {
          return warp.map([&](const auto&... x) LANEWISE_INLINE_LAMBDA { return source.f(x...); },
                          detail::load_window<prefetched>(warp, part, i, ahead)...);
        },
        source.parts);
  } else if constexpr (requires { source.f; }) {
    return detail::apply_by_lanes(
        warp, source.f,
        warp.map([=](std::uint32_t lane) LANEWISE_INLINE_LAMBDA { return i + std::int64_t{lane}; },
                 warp.lane()));
  } else {
    return warp.map([&](std::uint32_t lane) LANEWISE_INLINE_LAMBDA { return source(i + lane); },
                    warp.lane());
  }
}

/// Whether windows can be written as they are: an array of what the lanes hold.
template <class Sink, class T>
inline constexpr bool stored_whole =
    Sink::contiguous&& std::is_same_v<T, typename sink_value<Sink>::type>;

/// Whether windows of integers can be written as other integers: an array of these.
template <class Sink, class T>
inline constexpr bool stored_as_integers = false;
template <class U, class T>
inline constexpr bool stored_as_integers<array_sink<U>, T> =
    std::is_integral_v<T>&& std::is_integral_v<U> && !std::is_same_v<T, U> &&
    !std::is_same_v<U, bool> && !std::is_same_v<T, bool>;

/// Writes a window, past the caches if so asked; its place is then aligned (see first_aligned).
template <class W, class Sink, class Lanes>
LANEWISE_FUNCTION void store_window(const W& warp, const Sink& sink, std::int64_t i, const Lanes& x,
                                    bool past_caches = false) {
  if constexpr (stored_whole<Sink, typename Lanes::value_type>) {
    if (past_caches) {
      warp.store_streaming(sink.data + i, x);
    } else {
      warp.store(sink.data + i, x);
    }
  } else if constexpr (stored_as_integers<Sink, typename Lanes::value_type>) {
    detail::store_window(warp, sink, i, warp.template cast<typename sink_value<Sink>::type>(x),
                         past_caches);
  } else if constexpr (is_reversed_array<Sink>) {
    detail::store_window(warp, sink.forward, sink.extent - i - W::width,
                         warp.shuffle_xor(x, W::width - 1), past_caches);
  } else {
    const auto lane = warp.lane();
    warp.each([&](const auto& value, std::uint32_t l)
                  LANEWISE_INLINE_LAMBDA { sink(i + l, value); },
              x, lane);
  }
}

/// Asks for the lines a page after this place, to write to them: the lines that `places` places
/// need.
template <int places, class W, class Sink>
LANEWISE_FUNCTION void prefetch_places(const W&, const Sink& sink, std::int64_t to) {
  if constexpr (Sink::contiguous) {
    constexpr int line = 64;
    constexpr int bytes = places * static_cast<int>(sizeof(*sink.data));
    const char* const after = reinterpret_cast<const char*>(sink.data + to) + page_bytes;
    for (int offset = 0; offset < bytes; offset += line) W::prefetch_to_write(after + offset);
  }
}

/// Whether n results of type T are worth writing past the caches; policy.hpp says why. Results that
/// overwrite their input are in a cache already.
template <class T, class Policy, class Source, class Sink>
LANEWISE_FUNCTION bool pays_past_caches(const Source& source, const Sink& sink, std::int64_t n) {
  if constexpr (!stored_whole<Sink, T>) {
    return false;
  } else {
    bool in_place = false;
    if constexpr (Source::contiguous) {
      in_place = static_cast<const void*>(source.data) == static_cast<const void*>(sink.data);
    }
    const std::int64_t bytes = n * static_cast<std::int64_t>(sizeof(T));
    return !in_place && bytes >= Policy::host_bytes_past_caches;
  }
}

/// The first index from i on whose place is the beginning of a line, or last.
template <class Sink>
LANEWISE_FUNCTION std::int64_t first_aligned(const Sink& sink, std::int64_t i, std::int64_t last) {
  if constexpr (Sink::contiguous) {
    constexpr std::uintptr_t line = 64;
    const auto into_line = reinterpret_cast<std::uintptr_t>(sink.data + i) % line;
    const auto aligned =
        i + static_cast<std::int64_t>((line - into_line) % line / sizeof(*sink.data));
    return aligned < last ? aligned : last;
  }
  return i;
}

/// Reduces items [first, last) of a source, streaming. Present when the range is not empty. A
/// source that is reduced in another way specialises this.
template <class Source>
struct stream_reduction {
  template <class T, class W, class Op>
  static LANEWISE_FUNCTION maybe<T> reduce(const W& warp, const Source& source, std::int64_t first,
                                           std::int64_t last, Op op) {
    if (first >= last) return {{}, false};
    std::int64_t i = first;
    maybe<T> sum{{}, false};
    // Independent partial results hide the latency of op; only operators that commute allow them.
    constexpr int streams = 4;
    if constexpr (is_commutative<Op, T>) {
      if (last - first >= streams * W::width) {
        lanes_t<W, T> partial[streams];
        for (int s = 0; s < streams; ++s)
          partial[s] = detail::load_window(warp, source, i + s * W::width);
        for (i += streams * W::width; i + streams * W::width <= last; i += streams * W::width) {
          LANEWISE_UNROLL
          for (int s = 0; s < streams; ++s) {
            partial[s] =
                warp.map(op, partial[s], detail::load_window(warp, source, i + s * W::width));
          }
        }
        sum.value = warp.reduce(warp.map(op, warp.map(op, partial[0], partial[1]),
                                         warp.map(op, partial[2], partial[3])),
                                op);
        sum.present = true;
      }
    }
    for (; i < last; ++i) {
      const T x = source(i);
      sum.value = sum.present ? op(sum.value, x) : x;
      sum.present = true;
    }
    return sum;
  }
};

template <class T, class W, class Source, class Op>
LANEWISE_FUNCTION maybe<T> reduce_stream(const W& warp, const Source& source, std::int64_t first,
                                         std::int64_t last, Op op) {
  return stream_reduction<Source>::template reduce<T>(warp, source, first, last, op);
}

}  // namespace detail
LANEWISE_END_NAMESPACE
