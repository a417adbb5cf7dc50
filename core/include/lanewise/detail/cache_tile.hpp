// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/chain.hpp>
#include <lanewise/detail/register_split.hpp>
#include <lanewise/policy.hpp>
#include <lanewise/source.hpp>
#include <lanewise/warp.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// One warp's worth of items of a source, from index i on.
template <class W, class Source>
LANEWISE_FUNCTION auto load_window(const W& warp, const Source& source, std::int64_t i) {
  if constexpr (Source::contiguous) {
    if constexpr (requires { source.f.is_identity; }) {
      return warp.load(source.data + i);
    } else {
      return warp.map([&](const auto& raw) LANEWISE_INLINE_LAMBDA { return source.from_raw(raw); },
                      warp.load(source.data + i));
    }
  } else if constexpr (is_reversed_array<Source>) {
    return warp.shuffle_xor(load_window(warp, source.forward, source.extent - i - W::width),
                            W::width - 1);
  } else {
    return warp.map([&](std::uint32_t lane) LANEWISE_INLINE_LAMBDA { return source(i + lane); },
                    warp.lane());
  }
}

template <class W, class Sink, class Lanes>
LANEWISE_FUNCTION void store_window(const W& warp, const Sink& sink, std::int64_t i,
                                    const Lanes& x) {
  if constexpr (Sink::contiguous &&
                std::is_same_v<typename Lanes::value_type, typename sink_value<Sink>::type>) {
    warp.store(sink.data + i, x);
  } else if constexpr (is_reversed_array<Sink>) {
    store_window(warp, sink.forward, sink.extent - i - W::width, warp.shuffle_xor(x, W::width - 1));
  } else {
    const auto lane = warp.lane();
    warp.each([&](const auto& value, std::uint32_t l)
                  LANEWISE_INLINE_LAMBDA { sink(i + l, value); },
              x, lane);
  }
}

/// Reduces items [first, last) of a source, streaming. Present when the range is not empty.
template <class T, class W, class Source, class Op>
LANEWISE_FUNCTION maybe<T> reduce_stream(const W& warp, const Source& source, std::int64_t first,
                                         std::int64_t last, Op op) {
  if (first >= last) return {{}, false};
  std::int64_t i = first;
  maybe<T> sum{{}, false};
  // Independent partial results hide the latency of op; only operators that commute allow them.
  constexpr int streams = 4;
  if constexpr (is_commutative<Op, T>) {
    if (last - first >= streams * W::width) {
      typename W::template lanes<T> partial[streams];
      for (int s = 0; s < streams; ++s) partial[s] = load_window(warp, source, i + s * W::width);
      for (i += streams * W::width; i + streams * W::width <= last; i += streams * W::width) {
        LANEWISE_UNROLL
        for (int s = 0; s < streams; ++s) {
          partial[s] = warp.map(op, partial[s], load_window(warp, source, i + s * W::width));
        }
      }
      sum.value = warp.reduce(
          warp.map(op, warp.map(op, partial[0], partial[1]), warp.map(op, partial[2], partial[3])),
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

/// A tile that a team of one warp leaves where it is: operations stream over it, and the second one
/// finds it in cache.
template <class Team, class T, class Source, std::int64_t most_items>
class cache_tile {
 public:
  LANEWISE_FUNCTION cache_tile(const Team& team, const Source& source, std::int64_t first,
                               std::int64_t n)
      : team_(team),
        source_(source),
        first_(first),
        last_(first + most_items < n ? first + most_items : n) {}

  LANEWISE_FUNCTION std::int64_t count() const { return last_ > first_ ? last_ - first_ : 0; }

  template <class Op>
  LANEWISE_FUNCTION void scan(Op op) {
    total_ = reduce_stream<T>(team_.warp(), source_, first_, last_, op).value;
  }
  LANEWISE_FUNCTION const T& total() const { return total_; }

  template <class Sink>
  LANEWISE_FUNCTION void store(const Sink& sink) {
    const auto warp = team_.warp();
    std::int64_t i = first_;
    for (; i + Team::warp_type::width <= last_; i += Team::warp_type::width) {
      store_window(warp, sink, i, load_window(warp, source_, i));
    }
    for (; i < last_; ++i) sink(i, source_(i));
  }

  /// Writes op(item, the item before it); item 0 of the source as it is.
  template <class Sink, class Op>
  LANEWISE_FUNCTION void store_adjacent(const Source&, const Sink& sink, Op op) {
    using result = decltype(op(source_(0), source_(0)));
    const auto warp = team_.warp();
    std::int64_t i = first_;
    if (i == 0 && i < last_) sink(i++, static_cast<result>(source_(0)));
    for (; i + Team::warp_type::width <= last_; i += Team::warp_type::width) {
      store_window(warp, sink, i,
                   warp.map(op, load_window(warp, source_, i), load_window(warp, source_, i - 1)));
    }
    for (; i < last_; ++i) sink(i, op(source_(i), source_(i - 1)));
  }

  template <class Sink, class Op>
  LANEWISE_FUNCTION void store_inclusive(const Sink& sink, const maybe<T>& before, Op op) {
    std::int64_t i = first_;
    T sum = before.value;
    if (!before.present && i < last_) {
      sum = source_(i);
      sink(i, sum);
      ++i;
    }
    if constexpr (is_commutative<Op, T>) {
      const auto warp = team_.warp();
      constexpr int width = Team::warp_type::width;
      for (; i + width <= last_; i += width) {
        const auto here = warp.inclusive_scan(load_window(warp, source_, i), op);
        const auto result = warp.map(op, lanes(sum), here);
        sum = op(sum, warp.broadcast(here, width - 1));
        store_window(warp, sink, i, result);
      }
    }
    for (; i < last_; ++i) {
      sum = op(sum, source_(i));
      sink(i, sum);
    }
  }

  template <class Sink, class Op>
  LANEWISE_FUNCTION void store_exclusive(const Sink& sink, const maybe<T>& before, Op op) {
    std::int64_t i = first_;
    T sum = before.value;
    if constexpr (is_commutative<Op, T>) {
      const auto warp = team_.warp();
      constexpr int width = Team::warp_type::width;
      for (; i + width <= last_; i += width) {
        const auto here = warp.inclusive_scan(load_window(warp, source_, i), op);
        const auto upto = warp.map(op, lanes(sum), here);
        auto result = warp.shuffle_up(upto, 1);
        result = select(warp.template first<T>(1), lanes(sum), result);
        sum = op(sum, warp.broadcast(here, width - 1));
        store_window(warp, sink, i, result);
      }
    }
    for (; i < last_; ++i) {
      const T x = source_(i);
      sink(i, sum);
      sum = op(sum, x);
    }
  }

 private:
  using lanes = typename Team::warp_type::template lanes<T>;

  const Team& team_;
  const Source& source_;
  std::int64_t first_;
  std::int64_t last_;
  T total_{};
};

/// Counting into, and distributing over, buckets by one thread: counters and cursors stay in the
/// first-level cache.
template <class Team, class Key, std::int64_t most_items>
class cache_split {
 public:
  static constexpr std::int64_t items = most_items;
  template <int item_bytes>
  struct scratch {
    std::int64_t cursor[most_buckets];
  };
  struct count_scratch {
    std::uint32_t count[most_buckets];
  };

  template <class Source, class BucketOf, class Result, class ReportBad>
  static LANEWISE_FUNCTION void count(const Team&, count_scratch& shared, const Source& source,
                                      std::int64_t first, std::int64_t n, BucketOf bucket_of,
                                      std::uint32_t buckets, Result result, ReportBad report_bad) {
    for (std::uint32_t b = 0; b < buckets; ++b) shared.count[b] = 0;
    const std::int64_t last = first + items < n ? first + items : n;
    std::uint32_t bad = 0;
    for (std::int64_t i = first; i < last; ++i) {
      const std::uint32_t b = bucket_number(bucket_of(source(i)));
      if (b < buckets) {
        ++shared.count[b];
      } else {
        ++bad;
      }
    }
    for (std::uint32_t b = 0; b < buckets; ++b) result(b, shared.count[b]);
    if (bad != 0) report_bad(bad);
  }

  template <int item_bytes, class Source, class BucketOf, class Start, class Sink, class Values,
            class ValueSink>
  static LANEWISE_FUNCTION void place(const Team&, scratch<item_bytes>& shared,
                                      const Source& source, std::int64_t first, std::int64_t n,
                                      BucketOf bucket_of, std::uint32_t buckets, Start start,
                                      const Sink& sink, const Values& values,
                                      const ValueSink& value_sink) {
    for (std::uint32_t b = 0; b < buckets; ++b) shared.cursor[b] = start(b);
    const std::int64_t last = first + items < n ? first + items : n;
    for (std::int64_t i = first; i < last; ++i) {
      const Key key = source(i);
      const std::uint32_t b = bucket_number(bucket_of(key));
      if (b >= buckets) continue;
      const std::int64_t to = shared.cursor[b]++;
      sink(to, key);
      if constexpr (!std::is_same_v<Values, std::nullptr_t>) value_sink(to, values(i));
    }
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
