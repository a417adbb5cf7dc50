// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/memory.hpp>
#include <lanewise/data/operators.hpp>
#include <lanewise/data/pack.hpp>
#include <lanewise/macros.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE

// clang-format off
// The warp layer. A warp is a group of lanes that compute together: a hardware warp on CUDA, one
// thread with vector instructions on the host. Code is written in vector style: values of type
// lanes<T> hold one T per lane, plain scalars are the same for the whole warp (warp-uniform), and
// control flow is warp-uniform.
//
// Let W be Warp::width, L<T> = Warp::lanes<T>, M = Warp::mask_for<T>, bits = Warp::bits (bit i =
// lane i).
//
//   L<T> x;  L<T>(s)                      unspecified values; the same s in every lane.
//   a + b - * & | ^ ~ << >>               arithmetic T, lane by lane; shifts also by a scalar
//                                         count.
//   a == b  !=  <  <=  >  >=              a mask; it does not convert to bool.
//   m & n, m | n, !m                      masks of types of equal size; other sizes convert
//                                         implicitly.
//   select(m, a, b)                       lane by lane m ? a : b.
//
//   For packs of integers, P = pack<T, k>: a + b - & | ^ ~ work item by item, == and != compare
//   whole packs. An item of F = pack_flags<T, k> has all bits set or none.
//   equal_items(a, b)  less_items(a, b)   L<F>: the items for which it holds.
//   select_items(L<F>, a, b)              item by item.
//   smaller_items(a, b) larger_items(a, b)
//   bits_of_items(L<F>)                   L<uint32_t>: bit i is flag i; k <= 32.
//   match_words(a, L<T>)                  L<uint32_t>: bit i says that word i of the pack, seen as
//                                         words of T's size, equals the lane's T; at most 32 words.
//
//   lane()                                L<uint32_t> with 0, 1, ..., W-1.
//   first<T>(n)                           mask of the lanes below n, any integer.
//   mask_of<T>(bits)                      mask from bits.
//   lanes_below()                         L<bits>: lane i has the bits of lanes 0..i-1.
//   map(f, a...)                          L<R>: the scalar function f applied in every lane.
//   map(m, f, otherwise, a...)            the same where m holds, otherwise elsewhere; f is not
//                                         called there.
//   each(f, a&...), each(m, f, a&...)     f modifies its arguments lane by lane.
//   cast<U>(a)                            static_cast lane by lane.
//
//   ballot(m) any(m) all(m) count(m)      votes; warp-uniform.
//   Warp::popcount(bits) lowest(bits) highest(bits)
//                                         scalar helpers; lowest/highest need bits != 0.
//   broadcast(a, i)                       the value of lane i, warp-uniform.
//   shuffle(a, L<uint32_t>)               value of the lane named by each lane (taken modulo W).
//   shuffle_up(a, k) shuffle_down(a, k)   from lane - k / lane + k; lanes without one keep their
//                                         own.
//   shuffle_xor(a, k)
//   reduce(a, op, n = W)                  ordered reduction of the first n >= 1 lanes.
//   reduce_from(i, a, op)                 ordered reduction of lanes i..W-1.
//   fold(x, a, op, begin, end)            x op lane begin op ... op lane end-1, from left to right.
//   inclusive_scan(a, op, n = W)          lanes >= n are unspecified; op is not called for them.
//   exclusive_scan(a, op, init, n = W)
//   segmented_scan<most = W>(a, heads, op, n = W)
//                                         inclusive, anew at every lane whose bit is set in heads.
//   scan_by_doubling(a, op, n = W)        an inclusive scan that every backend associates in one
//                                         way: lane i becomes op(lane i - k, lane i) for k = 1, 2,
//                                         4, ..., where there is a lane i - k.
//   match_any(m, a)                       L<bits>: active lanes with an equal value; 0 in inactive
//                                         lanes.
//   peers(m, bucket, count)               the same for small numbers 0 <= bucket < count.
//   peers<planes>(m, bucket)              ... for bucket < 2^planes; bucket is L<uint32_t>.
//   rank_among_equals(m, bucket, count)   L<uint32_t>: earlier active lanes of the same bucket.
//   histogram<q>(m, bucket, count)        L<uint32_t>: lane i has the number of active lanes of
//                                         bucket q*W + i.
//
//   load(p)  load(m, p, otherwise)        lane i reads p[i].
//   store(p, a)  store(m, p, a)           lane i writes p[i].
//   gather(p, L<I>)  gather(m, p, L<I>, otherwise)   lane i reads p[its index].
//   scatter(p, L<I>, a)  scatter(m, p, L<I>, a)      lane i writes p[its index].
//   load_streaming(p), store_streaming(p, a)     data that is touched once.
//   load_unaligned<T>(p)                  the T at byte i sizeof(T) from p, any byte pointer.
//   gather_unaligned<T>(p, L<I>)          the same at byte index sizeof(T); T has 4 bytes.
//   load<caching c>(p), store<caching c>(p, a)   with a hint to the caches.
//   load_relaxed(m, p, L<I>, otherwise) load_acquire(...)          racing reads.
//   load_relaxed(p) load_acquire(p)       lane i reads p[i], a word or a pack of words, each word a
//                                         racing read of its own.
//   store_relaxed(m, p, a)                lane i writes p[i], a racing write of a word.
//   fetch_add(m, p, L<I>, a)  fetch_or  fetch_and
//                                         per-lane atomics, return the old values (inactive lanes:
//                                         T{}).
//   fetch_min(m, p, L<I>, a)  fetch_max   the same for integers of 4 or 8 bytes.
//   exchange(m, p, L<I>, a)               the same for any type of 4 or 8 bytes.
//   compare_exchange(m, p, L<I>, expected, desired)                returns the old values.
//   compress_store(p, m, a)               writes exactly count(m) values, in lane order; returns
//                                         count(m).
//   compress_store_over(p, m, a)          the same, and may write anything to the rest of p[0, W).
//   prefetch(m, p, L<I>)                  a hint; nothing on CUDA.
//   Warp::prefetch(p) Warp::prefetch_to_write(p)
//                                         the same for the line at p.
//   Warp::guesses_by_instruction()        on hosts: see for_each_by_cursors.
//   Warp::items_worth_a_gather<T, I>()    on hosts: how many T a gather must look up to be faster
//                                         than a loop whose end is guessed wrong.
//   once(f)                               one lane calls f(); its result is broadcast.
//   load<o, s>(ref)  store<o, s>(ref, x)  fetch_add<o, s>(ref, x)  fetch_or  fetch_and  fetch_min
//   fetch_max  exchange  compare_exchange<o, s>(ref, expected, desired)
//                                         uniform racing accesses: one per warp.
//   pause()                               between two looks at memory that another team writes.
//   Warp::has_wide_words                  16-byte values can be loaded and stored as one relaxed
//                                         word.
//   Warp::text_words_per_lane             how many words of 4 bytes a lane best reads at once of
//                                         bytes that are searched.
//   Warp::is_single_thread                whether a host's thread runs the warp: see team.hpp.
//   Warp::has_wide_exchange               compare_exchange(ref, ...) takes 16-byte values too.
//   Warp::line_width  line_depth          how many lanes best read a 128-byte line together, and
//                                         how many lines such a sub-warp best has in flight.
//   fence()                               orders memory accesses between lanes of the warp.
//   full_fence()                          what this warp did before it comes before what it does
//                                         after, for all threads (sequentially consistent).
//
//   split<w>(f)                           calls f(sub) for every sub-warp of w lanes; sub has this
//                                         interface.
//   Warp::part<w>                         the type of sub. part<1>() is a warp of one lane, for
//                                         code that a single thread runs, under any divergence.
//   sub.take(a) sub.put(a, s)             a sub-warp's part of a value of the parent warp.
//   split_in_step<w>(f)                   as split, where all sub-warps make the same calls of
//                                         sub's operations in the same order, whatever their values
//                                         are. On CUDA these cost much less.
//   sub.anywhere(b)                       whether b, uniform in each sub-warp, holds in any of the
//                                         sub-warps in step.
//   sub.apart()                           the same lanes out of step, for code between two calls.
//   cooperate<depth>(m, issue, resolve)   see below; for sub-warps in step cooperate_in_step.
// clang-format on

/// A value of type T in every lane of a warp, and a mask of lanes for such values.
template <class Warp, class T>
using lanes_t = typename Warp::template lanes<T>;
template <class Warp, class T>
using mask_t = typename Warp::template mask_for<T>;

/// Lane by lane m ? a : b. A function of this namespace: lanes of a user's type find none of
/// theirs.
template <class Mask, class Lanes>
LANEWISE_FUNCTION Lanes select(const Mask& m, const Lanes& a, const Lanes& b) {
  return Lanes::select(m, a, b);
}

/// Operations that every backend gets from the ones above.
template <class Warp>
class warp_operations {
 public:
  /// Lane -> warp: every active lane owns one task and the whole warp works on it (Ashkiani, 5.4:
  /// assigned to a lane, processed by a warp). issue(source) starts the task of lane source and
  /// returns its state, typically loaded lines; resolve(source, state) finishes one step and
  /// returns true when the task is done, false when it must be issued again. depth tasks are in
  /// flight at once, which is what hides memory latency. The whole warp calls both; source is
  /// warp-uniform.
  template <int depth, class Mask, class Issue, class Resolve>
  LANEWISE_FUNCTION void cooperate(Mask pending, Issue issue, Resolve resolve) const {
    cooperate_in_step<depth>(pending, issue, [&resolve](int source, const auto& state, bool) {
      return resolve(source, state);
    });
  }

  /// As `cooperate`, for sub-warps in step: all of them go on while any has tasks.
  /// resolve(source, state, live) is also told whether there is a task. If there is none, source is
  /// some lane, for which issue and resolve go through the motions and change nothing.
  template <int depth, class Mask, class Issue, class Resolve>
  LANEWISE_FUNCTION void cooperate_in_step(Mask pending, Issue issue, Resolve resolve) const {
    using bits = decltype(self().ballot(pending));
    using state = decltype(issue(0));
    bits todo = self().ballot(pending);
    while (self().anywhere(todo != 0)) {
      state in_flight[depth];
      int source[depth] = {};
      bool live[depth] = {};
      bits waiting = todo;
      int issued = 0;
      LANEWISE_UNROLL
      for (int d = 0; d < depth; ++d) {
        if (d == 0 || self().anywhere(waiting != 0)) {
          live[d] = waiting != 0;
          source[d] = live[d] ? Warp::lowest(waiting) : 0;
          in_flight[d] = issue(source[d]);
          waiting &= waiting - 1;
          issued = d + 1;
        }
      }
      LANEWISE_UNROLL
      for (int d = 0; d < depth; ++d) {
        if (d < issued && resolve(source[d], in_flight[d], live[d]) && live[d])
          todo &= ~(bits{1} << source[d]);
      }
    }
  }

  // Items that begin at any byte, on backends that have no instruction for them.
  template <class T, class Index>
  LANEWISE_FUNCTION auto gather_unaligned(const unsigned char* p, const Index& index) const {
    static_assert(sizeof(T) == 4);
    return self().map(
        [p](typename Index::value_type i) {
          T x;
          std::memcpy(&x, p + sizeof(T) * static_cast<std::size_t>(i), sizeof(T));
          return x;
        },
        index);
  }
  template <class T>
  LANEWISE_FUNCTION auto load_unaligned(const unsigned char* p, std::int64_t = 0) const {
    return self().map(
        [p](std::uint32_t lane) {
          T x;
          std::memcpy(&x, p + sizeof(T) * lane, sizeof(T));
          return x;
        },
        self().lane());
  }

  // Sub-warps in step, on backends that run them one after the other.
  template <int w, class F>
  LANEWISE_FUNCTION void split_in_step(F f) const {
    self().template split<w>(f);
  }
  LANEWISE_FUNCTION const Warp& apart() const { return self(); }
  LANEWISE_FUNCTION bool anywhere(bool here) const { return here; }

  /// Inclusive scan of the first n lanes that starts anew at every head (Merrill, 3.4). A lane is
  /// blocked from the step in which its partner lies before its segment; the blocked lanes of
  /// the next step follow from bits alone. n is at most `most`.
  template <int most = 64, class Values, class Bits, class Op>
  LANEWISE_FUNCTION Values segmented_scan(const Values& a, Bits heads, Op op,
                                          int n = Warp::width) const {
    using bits = typename Warp::bits;
    using T = typename Values::value_type;
    bits blocked = heads | 1;
    if (n < Warp::width) blocked |= ~((bits{1} << n) - 1);
    Values x = a;
    LANEWISE_UNROLL
    for (int k = 1; k < most && k < Warp::width; k *= 2) {
      const Values y = self().shuffle_up(x, k);
      const auto open = self().template mask_of<T>(~blocked);
      if constexpr (is_commutative<Op, T>) {
        // Known operators do no harm in lanes that do not take part.
        x = lanewise::select(open, self().map(op, y, x), x);
      } else {
        self().each(
            open, [&](T& mine, const T& before) { mine = op(before, mine); }, x, y);
      }
      blocked |= blocked << k;
    }
    return x;
  }

  /// Bits of the active lanes whose bucket equals this lane's, for buckets below 2^planes: one
  /// ballot per binary digit (Ashkiani, 3.5; GPU Multisplit, Alg. 3).
  template <int planes, class Mask, class Buckets>
  LANEWISE_FUNCTION auto peers(Mask active, const Buckets& bucket) const {
    using bits = typename Warp::bits;
    using values = typename Warp::template lanes<bits>;
    values same(self().ballot(active));
    LANEWISE_UNROLL
    for (int plane = 0; plane < planes; ++plane) {
      const auto set = (bucket & Buckets(1u << plane)) != Buckets(0u);
      const bits vote = self().ballot(set);
      same = same & lanewise::select(set, values(vote), values(~vote));
    }
    return lanewise::select(active, same, values(bits{0}));
  }

  /// As peers<planes>, for buckets below bucket_count.
  template <class Mask, class Buckets>
  LANEWISE_FUNCTION auto peers(Mask active, const Buckets& bucket,
                               std::uint32_t bucket_count) const {
    if (bucket_count <= 8) return peers<3>(active, bucket);
    if (bucket_count <= 32) return peers<5>(active, bucket);
    if (bucket_count <= 256) return peers<8>(active, bucket);
    return peers<32>(active, bucket);
  }

  /// Number of earlier active lanes in the same bucket; 0 in inactive lanes.
  template <class Mask, class Buckets>
  LANEWISE_FUNCTION auto rank_among_equals(Mask active, const Buckets& bucket,
                                           std::uint32_t bucket_count) const {
    using bits = typename Warp::bits;
    const auto earlier = self().peers(active, bucket, bucket_count) & self().lanes_below();
    return self().map([](bits b) -> std::uint32_t { return Warp::popcount(b); }, earlier);
  }

  /// Lane i receives the number of active lanes in bucket group * W + i, and 0 when there is no
  /// such bucket (Ashkiani, 3.5; GPU Multisplit, Alg. 2, with lanes beyond the last bucket masked:
  /// only ceil(log2 count) bits are compared, so they would alias).
  template <int group = 0, class Mask, class Buckets>
  LANEWISE_FUNCTION auto histogram(Mask active, const Buckets& bucket,
                                   std::uint32_t bucket_count) const {
    using bits = typename Warp::bits;
    using values = typename Warp::template lanes<bits>;
    const auto owned =
        self().lane() + typename Warp::template lanes<std::uint32_t>(group * Warp::width);
    values mine(self().ballot(active));
    for (int plane = 0; (std::uint64_t{1} << plane) < bucket_count; ++plane) {
      const auto set = self().map(
          [plane](auto b) -> std::uint32_t { return (std::uint32_t(b) >> plane) & 1; }, bucket);
      const bits vote = self().ballot(set != typename Warp::template lanes<std::uint32_t>(0u));
      mine = self().map(
          [plane, vote](bits m, std::uint32_t own) -> bits {
            return m & ((own >> plane) & 1 ? vote : ~vote);
          },
          mine, owned);
    }
    return self().map(
        [bucket_count](bits m, std::uint32_t own) -> std::uint32_t {
          return own < bucket_count ? static_cast<std::uint32_t>(Warp::popcount(m)) : 0;
        },
        mine, owned);
  }

  // Packs.
  template <class Packs>
  LANEWISE_FUNCTION auto equal_items(const Packs& a, const Packs& b) const {
    return self().map(detail::item_by_item<detail::equal_items>{}, a, b);
  }
  template <class Packs>
  LANEWISE_FUNCTION auto less_items(const Packs& a, const Packs& b) const {
    return self().map(detail::item_by_item<detail::less_items>{}, a, b);
  }
  template <class Packs>
  LANEWISE_FUNCTION auto smaller_items(const Packs& a, const Packs& b) const {
    return self().map(detail::item_by_item<detail::smaller_items>{}, a, b);
  }
  template <class Packs>
  LANEWISE_FUNCTION auto larger_items(const Packs& a, const Packs& b) const {
    return self().map(detail::item_by_item<detail::larger_items>{}, a, b);
  }
  template <class Flags, class Packs>
  LANEWISE_FUNCTION Packs select_items(const Flags& flags, const Packs& a, const Packs& b) const {
    return self().map(detail::select_by_flags{}, flags, a, b);
  }
  template <class Flags>
  LANEWISE_FUNCTION auto bits_of_items(const Flags& flags) const {
    return self().map(detail::bits_of_flags{}, flags);
  }
  template <class Packs, class Words>
  LANEWISE_FUNCTION auto match_words(const Packs& a, const Words& x) const {
    return self().map(detail::bits_of_equal_words{}, a, x);
  }

 private:
  LANEWISE_FUNCTION const Warp& self() const { return static_cast<const Warp&>(*this); }
};

/// What a backend's warp offers, as far as a concept can say it; the table above is the contract.
template <class W>
concept Warp = requires(const W warp, typename W::template lanes<std::uint32_t> a,
                        typename W::bits bits) {
  { W::width } -> std::convertible_to<int>;
  { warp.ballot(a == a) } -> std::same_as<typename W::bits>;
  { warp.broadcast(a, 0) } -> std::same_as<std::uint32_t>;
  { W::popcount(bits) } -> std::convertible_to<int>;
  warp.shuffle(a, a);
  warp.reduce(a, plus{});
  warp.fence();
};

LANEWISE_END_NAMESPACE
