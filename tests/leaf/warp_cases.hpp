// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The warp layer's contract (the table in lanewise/warp/warp.hpp) as cases. A case is a functor
// over the type of warp that works on plain arrays. So one source runs on every backend, beside a
// plain loop that says what is expected.
//
//   input, output         plain data of one warp; the driver fills outputs with a pattern, so
//                         that a lane or an element that must stay untouched is compared too
//   fill(rng, i, in)      random input of instance i
//   operator()(warp, ...) the case on a warp
//   expect(in, out)       the same in plain loops
//   compare(c, want, got) field by field

#include "leaf_support.hpp"
#include <lanewise/warp/warp.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace leaf {

template <class Warp, class T>
using lanes_of = typename Warp::template lanes<T>;
template <class Warp, class T>
using mask_of = typename Warp::template mask_for<T>;

/// The mask of lanes that in holds as 64 bits.
template <class T, class Warp>
LANEWISE_FUNCTION mask_of<Warp, T> mask_from(const Warp& warp, u64 bits) {
  return warp.template mask_of<T>(static_cast<typename Warp::bits>(bits));
}
/// What each lane holds of a warp-uniform value: shows a lane that was left out of a broadcast.
template <class V, class Warp>
LANEWISE_FUNCTION void store_uniform(const Warp& warp, V* to, V x) {
  warp.store(to, lanes_of<Warp, V>(x));
}
inline bool lane_in(u64 bits, int i) {
  return (bits >> i) & 1;
}
inline int bit_count(u64 b) {
  return __builtin_popcountll(b);
}

// ---------------------------------------------------------------------------------------------------------------
// Values

/// Operators, comparisons, select.
template <class T, int W>
struct arithmetic {
  using type = T;
  static constexpr const char* name = "arithmetic";
  static constexpr int instances = 32;
  static constexpr bool integral = std::is_integral_v<T>;
  struct input {
    T a[W], b[W];  // no overflow of signed types
    T c[W], d[W];  // any values
    T shift[W];
    T scalar;
    int count;
    u64 m;
  };
  struct output {
    T sum[W], difference[W], product[W], sum_scalar[W], both[W], either[W], differ[W], inverse[W];
    T left[W], right[W], left_scalar[W], right_scalar[W], chosen[W], uniform[W];
    u64 compared[12];
  };

  LANEWISE_LEAF_COLD static T bounded(random_source& rng) {
    if constexpr (std::is_signed_v<T> && integral && sizeof(T) >= 4) {
      const i64 bound = i64{1} << (sizeof(T) * 4 - 2);
      return static_cast<T>(static_cast<i64>(rng.below(2 * bound)) - bound);
    } else {
      return any_value<T>(rng);
    }
  }
  LANEWISE_LEAF_COLD static void fill(random_source& rng, int instance, input& in) {
    for (int i = 0; i < W; ++i) {
      in.a[i] = bounded(rng);
      in.b[i] = bounded(rng);
      in.c[i] = any_value<T>(rng);
      in.d[i] = rng.below(3) == 0 ? in.c[i] : any_value<T>(rng);
      in.shift[i] = static_cast<T>(rng.below(8 * sizeof(T)));
    }
    in.scalar = in.c[rng.below(W)];
    in.count = static_cast<int>(rng.below(8 * sizeof(T)));
    in.m = random_mask(rng, instance, W);
  }

  template <class Warp>
  LANEWISE_KERNEL_FUNCTION void operator()(const Warp& warp, const input& in, output& out) const {
    using L = lanes_of<Warp, T>;
    const L a = warp.load(in.a), b = warp.load(in.b), c = warp.load(in.c), d = warp.load(in.d);
    const L scalar(in.scalar);
    warp.store(out.sum, a + b);
    warp.store(out.difference, a - b);
    warp.store(out.product, a * b);
    warp.store(out.sum_scalar, a + L(T(3)));
    warp.store(out.uniform, scalar);
    if constexpr (integral) {
      const L s = warp.load(in.shift);
      warp.store(out.both, c & d);
      warp.store(out.either, c | d);
      warp.store(out.differ, c ^ d);
      warp.store(out.inverse, ~c);
      warp.store(out.left, c << s);
      warp.store(out.right, c >> s);
      warp.store(out.left_scalar, c << in.count);
      warp.store(out.right_scalar, c >> in.count);
    }
    L chosen = select(mask_from<T>(warp, in.m), a, d);
    chosen = select(c == d, chosen, c);
    warp.store(out.chosen, chosen);
    const typename Warp::bits votes[12] = {
        warp.ballot(c == d),         warp.ballot(c != d),         warp.ballot(c < d),
        warp.ballot(c <= d),         warp.ballot(c > d),          warp.ballot(c >= d),
        warp.ballot(c == in.scalar), warp.ballot(c != in.scalar), warp.ballot(c < in.scalar),
        warp.ballot(c <= in.scalar), warp.ballot(c > in.scalar),  warp.ballot(c >= in.scalar)};
    warp.once([&] {
      for (int k = 0; k < 12; ++k) out.compared[k] = votes[k];
    });
  }

  LANEWISE_LEAF_COLD static void expect(const input& in, output& out) {
    for (u64& x : out.compared) x = 0;
    for (int i = 0; i < W; ++i) {
      const T a = in.a[i], b = in.b[i], c = in.c[i], d = in.d[i], s = in.scalar;
      out.sum[i] = static_cast<T>(a + b);
      out.difference[i] = static_cast<T>(a - b);
      if constexpr (integral && sizeof(T) <= 4) {
        out.product[i] = static_cast<T>(static_cast<u64>(a) * static_cast<u64>(b));
      } else {
        out.product[i] = a * b;
      }
      out.sum_scalar[i] = static_cast<T>(a + T(3));
      out.uniform[i] = s;
      if constexpr (integral) {
        out.both[i] = c & d;
        out.either[i] = c | d;
        out.differ[i] = c ^ d;
        out.inverse[i] = static_cast<T>(~c);
        out.left[i] = static_cast<T>(static_cast<u64>(c) << in.shift[i]);
        out.right[i] = static_cast<T>(c >> in.shift[i]);
        out.left_scalar[i] = static_cast<T>(static_cast<u64>(c) << in.count);
        out.right_scalar[i] = static_cast<T>(c >> in.count);
      }
      out.chosen[i] = c == d ? (lane_in(in.m, i) ? a : d) : c;
      const bool compared[12] = {c == d, c != d, c<d, c <= d, c> d, c >= d,
                                 c == s, c != s, c<s, c <= s, c> s, c >= s};
      for (int k = 0; k < 12; ++k) out.compared[k] |= u64{compared[k]} << i;
    }
  }
  LANEWISE_LEAF_COLD static void compare(checker& c, const output& want, const output& got) {
    c("a + b", want.sum, got.sum);
    c("a - b", want.difference, got.difference);
    c("a * b", want.product, got.product);
    c("a + L(3)", want.sum_scalar, got.sum_scalar);
    c("L(s)", want.uniform, got.uniform);
    c("a & b", want.both, got.both);
    c("a | b", want.either, got.either);
    c("a ^ b", want.differ, got.differ);
    c("~a", want.inverse, got.inverse);
    c("a << b", want.left, got.left);
    c("a >> b", want.right, got.right);
    c("a << scalar", want.left_scalar, got.left_scalar);
    c("a >> scalar", want.right_scalar, got.right_scalar);
    c("select", want.chosen, got.chosen);
    c("== != < <= > >=, then with a scalar", want.compared, got.compared);
  }
};

/// Packs compare as one value.
template <class T, int W>
struct equality {
  using type = T;
  static constexpr const char* name = "equality";
  static constexpr int instances = 16;
  struct input {
    T a[W], b[W];
  };
  struct output {
    u64 compared[4];
  };
  LANEWISE_LEAF_COLD static void fill(random_source& rng, int, input& in) {
    for (int i = 0; i < W; ++i) {
      in.a[i] = any_value<T>(rng);
      in.b[i] = rng.coin() ? in.a[i] : any_value<T>(rng);
      // Most values that differ do so in one item only.
      if (rng.coin()) {
        in.b[i] = in.a[i];
        in.b[i][static_cast<int>(rng.below(T::size))] ^= 1;
      }
      if (rng.below(4) == 0) in.a[i] = in.a[0];
    }
  }
  template <class Warp>
  LANEWISE_KERNEL_FUNCTION void operator()(const Warp& warp, const input& in, output& out) const {
    const auto a = warp.load(in.a), b = warp.load(in.b);
    const typename Warp::bits votes[4] = {warp.ballot(a == b), warp.ballot(a != b),
                                          warp.ballot(a == in.a[0]), warp.ballot(a != in.a[0])};
    warp.once([&] {
      for (int k = 0; k < 4; ++k) out.compared[k] = votes[k];
    });
  }
  LANEWISE_LEAF_COLD static void expect(const input& in, output& out) {
    for (u64& x : out.compared) x = 0;
    for (int i = 0; i < W; ++i) {
      const u64 equal = same(in.a[i], in.b[i]), equal_scalar = same(in.a[i], in.a[0]);
      out.compared[0] |= equal << i;
      out.compared[1] |= (equal ^ 1) << i;
      out.compared[2] |= equal_scalar << i;
      out.compared[3] |= (equal_scalar ^ 1) << i;
    }
  }
  LANEWISE_LEAF_COLD static void compare(checker& c, const output& want, const output& got) {
    c("== !=, then with a scalar", want.compared, got.compared);
  }
};

/// What packs of integers compute item by item.
template <class T, int W>
struct item_by_item {
  using type = T;
  static constexpr const char* name = "item by item";
  static constexpr int instances = 32;
  using item = typename T::value_type;
  using flags = pack_flags<item, T::size>;
  struct input {
    T a[W], b[W];
  };
  struct output {
    T sum[W], difference[W], both[W], either[W], differ[W], inverse[W];
    T smaller[W], larger[W], chosen[W];
    flags equal[W], less[W];
    u32 bits[W], matches[W];
  };
  LANEWISE_LEAF_COLD static void fill(random_source& rng, int, input& in) {
    for (int i = 0; i < W; ++i) {
      for (int c = 0; c < T::size; ++c) {
        in.a[i][c] = any_value<item>(rng);
        in.b[i][c] = rng.below(3) == 0 ? in.a[i][c] : any_value<item>(rng);
      }
    }
  }
  template <class Warp>
  LANEWISE_KERNEL_FUNCTION void operator()(const Warp& warp, const input& in, output& out) const {
    const auto a = warp.load(in.a), b = warp.load(in.b);
    const auto less = warp.less_items(a, b);
    warp.store(out.sum, a + b);
    warp.store(out.difference, a - b);
    warp.store(out.both, a & b);
    warp.store(out.either, a | b);
    warp.store(out.differ, a ^ b);
    warp.store(out.inverse, ~a);
    warp.store(out.equal, warp.equal_items(a, b));
    warp.store(out.less, less);
    warp.store(out.smaller, warp.smaller_items(a, b));
    warp.store(out.larger, warp.larger_items(a, b));
    warp.store(out.chosen, warp.select_items(less, a, b));
    warp.store(out.bits, warp.bits_of_items(less));
    const auto first = warp.map([](const T& p) { return p[0]; }, b);
    warp.store(out.matches, warp.match_words(a, first));
  }
  LANEWISE_LEAF_COLD static void expect(const input& in, output& out) {
    for (int i = 0; i < W; ++i) {
      out.bits[i] = 0;
      out.matches[i] = 0;
      for (int c = 0; c < T::size; ++c) {
        const item a = in.a[i][c], b = in.b[i][c];
        if (a == in.b[i][0]) out.matches[i] |= 1u << c;
        out.sum[i][c] = static_cast<item>(a + b);
        out.difference[i][c] = static_cast<item>(a - b);
        out.both[i][c] = static_cast<item>(a & b);
        out.either[i][c] = static_cast<item>(a | b);
        out.differ[i][c] = static_cast<item>(a ^ b);
        out.inverse[i][c] = static_cast<item>(~a);
        out.equal[i][c] = static_cast<typename flags::value_type>(a == b ? -1 : 0);
        out.less[i][c] = static_cast<typename flags::value_type>(a < b ? -1 : 0);
        out.smaller[i][c] = a < b ? a : b;
        out.larger[i][c] = a < b ? b : a;
        out.chosen[i][c] = out.smaller[i][c];
        if (a < b) out.bits[i] |= 1u << c;
      }
    }
  }
  LANEWISE_LEAF_COLD static void compare(checker& c, const output& want, const output& got) {
    c("a + b", want.sum, got.sum);
    c("a - b", want.difference, got.difference);
    c("a & b", want.both, got.both);
    c("a | b", want.either, got.either);
    c("a ^ b", want.differ, got.differ);
    c("~a", want.inverse, got.inverse);
    c("equal_items", want.equal, got.equal);
    c("less_items", want.less, got.less);
    c("smaller_items", want.smaller, got.smaller);
    c("larger_items", want.larger, got.larger);
    c("select_items", want.chosen, got.chosen);
    c("bits_of_items", want.bits, got.bits);
    c("match_words", want.matches, got.matches);
  }
};

/// cast<U> from T to every other arithmetic type.
template <class T, int W>
struct casts {
  using type = T;
  static constexpr const char* name = "casts";
  static constexpr int instances = 8;
  struct input {
    T a[W];       // any value of an integer type
    T within[W];  // a value that every type can hold
  };
  struct output {
    u8 to_u8[W];
    u16 to_u16[W];
    u32 to_u32[W];
    u64 to_u64[W];
    i8 to_i8[W];
    i16 to_i16[W];
    i32 to_i32[W];
    i64 to_i64[W];
    float to_float[W];
    double to_double[W];
  };
  LANEWISE_LEAF_COLD static void fill(random_source& rng, int, input& in) {
    for (int i = 0; i < W; ++i) {
      // A floating-point value keeps a fraction, which the conversion to an integer cuts off.
      in.within[i] = static_cast<T>(rng.below(128));
      if constexpr (std::is_floating_point_v<T>) in.within[i] += T(0.75);
      in.a[i] = std::is_floating_point_v<T> ? in.within[i] : any_value<T>(rng);
    }
  }
  template <class Warp>
  LANEWISE_KERNEL_FUNCTION void operator()(const Warp& warp, const input& in, output& out) const {
    const auto a = warp.load(in.a);
    warp.store(out.to_u8, warp.template cast<u8>(a));
    warp.store(out.to_u16, warp.template cast<u16>(a));
    warp.store(out.to_u32, warp.template cast<u32>(a));
    warp.store(out.to_u64, warp.template cast<u64>(a));
    warp.store(out.to_i8, warp.template cast<i8>(a));
    warp.store(out.to_i16, warp.template cast<i16>(a));
    warp.store(out.to_i32, warp.template cast<i32>(a));
    warp.store(out.to_i64, warp.template cast<i64>(a));
    warp.store(out.to_float, warp.template cast<float>(a));
    warp.store(out.to_double, warp.template cast<double>(a));
  }
  LANEWISE_LEAF_COLD static void expect(const input& in, output& out) {
    for (int i = 0; i < W; ++i) {
      out.to_u8[i] = static_cast<u8>(in.a[i]);
      out.to_u16[i] = static_cast<u16>(in.a[i]);
      out.to_u32[i] = static_cast<u32>(in.a[i]);
      out.to_u64[i] = static_cast<u64>(in.a[i]);
      out.to_i8[i] = static_cast<i8>(in.a[i]);
      out.to_i16[i] = static_cast<i16>(in.a[i]);
      out.to_i32[i] = static_cast<i32>(in.a[i]);
      out.to_i64[i] = static_cast<i64>(in.a[i]);
      out.to_float[i] = static_cast<float>(in.a[i]);
      out.to_double[i] = static_cast<double>(in.a[i]);
    }
  }
  LANEWISE_LEAF_COLD static void compare(checker& c, const output& want, const output& got) {
    c("cast<u8>", want.to_u8, got.to_u8);
    c("cast<u16>", want.to_u16, got.to_u16);
    c("cast<u32>", want.to_u32, got.to_u32);
    c("cast<u64>", want.to_u64, got.to_u64);
    c("cast<i8>", want.to_i8, got.to_i8);
    c("cast<i16>", want.to_i16, got.to_i16);
    c("cast<i32>", want.to_i32, got.to_i32);
    c("cast<i64>", want.to_i64, got.to_i64);
    c("cast<float>", want.to_float, got.to_float);
    c("cast<double>", want.to_double, got.to_double);
  }
};

/// map and each, plain and masked. Inactive lanes hold poison, which the functions must not see.
template <class T, int W>
struct mapping {
  using type = T;
  static constexpr const char* name = "mapping";
  static constexpr int instances = 32;
  struct input {
    T a[W], b[W];
    u64 m;
  };
  struct output {
    u64 wide[W];
    T same_type[W], masked[W], changed[W], changed_masked[W];
    u8 narrow_masked[W];
    u32 stepped[W], stepped_masked[W], alarm[1], calls[4];
  };
  LANEWISE_LEAF_COLD static void fill(random_source& rng, int instance, input& in) {
    in.m = random_mask(rng, instance, W);
    for (int i = 0; i < W; ++i) {
      in.a[i] = lane_in(in.m, i) ? clean_value<T>(rng) : poison<T>();
      in.b[i] = clean_value<T>(rng);
    }
  }
  template <class Warp>
  LANEWISE_KERNEL_FUNCTION void operator()(const Warp& warp, const input& in, output& out) const {
    const auto a = warp.load(in.a);
    const auto b = warp.load(in.b);
    const auto lane = warp.lane();
    const auto m = mask_from<T>(warp, in.m);
    u32* alarm = out.alarm;
    u32* calls = out.calls;

    warp.store(out.wide, warp.map(
                             [](const T& x, const T& y, u32 i) -> u64 {
                               return (u64{same(x, y)} << 40) | (u64{same(x, poison<T>())} << 8) |
                                      i;
                             },
                             a, b, lane));
    warp.store(out.same_type,
               warp.map([](const T& x, u32 i, const T& y) { return i % 3 ? x : y; }, a, lane, b));
    warp.store(out.masked, warp.map(
                               m,
                               [alarm, calls](const T& x, const T& y, u32 i) {
                                 if (same(x, poison<T>())) *alarm = 1;
                                 count_up(calls);
                                 return i % 2 ? x : y;
                               },
                               poison<T>(), a, b, lane));
    warp.store(out.narrow_masked, warp.map(
                                      m,
                                      [alarm, calls](const T& x) -> u8 {
                                        if (same(x, poison<T>())) *alarm = 1;
                                        count_up(calls + 1);
                                        return 7;
                                      },
                                      u8{9}, a));

    auto x = a;
    auto step = lane;
    warp.each(
        [calls](T& v, const T& w, u32& s) {
          count_up(calls + 2);
          if (s % 4 == 1) v = w;
          s = 3 * s + 1;
        },
        x, b, step);
    warp.store(out.changed, x);
    warp.store(out.stepped, step);
    x = a;
    step = lane;
    warp.each(
        m,
        [alarm, calls](T& v, u32& s) {
          if (same(v, poison<T>())) *alarm = 1;
          count_up(calls + 3);
          v = poison<T>();
          s += 100;
        },
        x, step);
    warp.store(out.changed_masked, x);
    warp.store(out.stepped_masked, step);
  }
  LANEWISE_LEAF_COLD static void expect(const input& in, output& out) {
    const u32 active = static_cast<u32>(bit_count(in.m));
    out.calls[0] += active;
    out.calls[1] += active;
    out.calls[2] += W;
    out.calls[3] += active;
    for (int i = 0; i < W; ++i) {
      const bool on = lane_in(in.m, i);
      out.wide[i] = (u64{same(in.a[i], in.b[i])} << 40) | (u64{!on} << 8) | static_cast<u64>(i);
      out.same_type[i] = i % 3 ? in.a[i] : in.b[i];
      out.masked[i] = !on ? poison<T>() : i % 2 ? in.a[i] : in.b[i];
      out.narrow_masked[i] = on ? 7 : 9;
      out.changed[i] = i % 4 == 1 ? in.b[i] : in.a[i];
      out.stepped[i] = static_cast<u32>(3 * i + 1);
      out.changed_masked[i] = poison<T>();
      out.stepped_masked[i] = static_cast<u32>(on ? i + 100 : i);
    }
  }
  LANEWISE_LEAF_COLD static void compare(checker& c, const output& want, const output& got) {
    c("map", want.wide, got.wide);
    c("map to T", want.same_type, got.same_type);
    c("map(m)", want.masked, got.masked);
    c("map(m) to u8", want.narrow_masked, got.narrow_masked);
    c("each, T", want.changed, got.changed);
    c("each, u32", want.stepped, got.stepped);
    c("each(m), T", want.changed_masked, got.changed_masked);
    c("each(m), u32", want.stepped_masked, got.stepped_masked);
    c("f called in an inactive lane", want.alarm, got.alarm);
    c("number of calls: map(m), map(m), each, each(m)", want.calls, got.calls);
  }
};

// ---------------------------------------------------------------------------------------------------------------
// Votes and movement

/// Masks of T's kind and what is read from them.
template <class T, int W>
struct votes {
  using type = T;
  static constexpr const char* name = "votes";
  static constexpr int instances = 2 * W + 2;
  struct input {
    u64 m, n;
    int prefix;
  };
  struct output {
    u64 ballot[W], both[1], either[1], neither[1], first[1], to_u8[1], to_u16[1], to_u32[1],
        to_u64[1], mixed[1];
    u32 any[W], all[W], count[W], lane[W], any_all_of_converted[2];
    u64 below[W];
    int scalar[4];
  };
  LANEWISE_LEAF_COLD static void fill(random_source& rng, int instance, input& in) {
    in.m = random_mask(rng, instance, W);
    in.n = random_mask(rng, 1 + static_cast<int>(rng.below(7)), W);
    in.prefix = instance % (W + 1);
  }
  template <class Warp>
  LANEWISE_KERNEL_FUNCTION void operator()(const Warp& warp, const input& in, output& out) const {
    using bits = typename Warp::bits;
    const auto m = mask_from<T>(warp, in.m);
    const auto n = mask_from<T>(warp, in.n);
    const bits ballot = warp.ballot(m);
    store_uniform<u64>(warp, out.ballot, ballot);
    store_uniform<u32>(warp, out.any, warp.any(m) ? 1 : 0);
    store_uniform<u32>(warp, out.all, warp.all(m) ? 1 : 0);
    store_uniform<u32>(warp, out.count, static_cast<u32>(warp.count(m)));
    warp.store(out.lane, warp.lane());
    warp.store(out.below, warp.template cast<u64>(warp.lanes_below()));
    const mask_of<Warp, u8> m8 = m;
    const mask_of<Warp, u16> m16 = m;
    const mask_of<Warp, u32> m32 = m;
    const mask_of<Warp, u64> m64 = m;
    const mask_of<Warp, T> back = mask_of<Warp, u8>(n);
    const bits results[9] = {warp.ballot(m & n),   warp.ballot(m | n),
                             warp.ballot(!m),      warp.ballot(warp.template first<T>(in.prefix)),
                             warp.ballot(m8),      warp.ballot(m16),
                             warp.ballot(m32),     warp.ballot(m64),
                             warp.ballot(back & m)};
    // The complement has every bit beyond the warp's lanes clear, which only any and all would
    // notice.
    const bool any = warp.any(m & !m), all = warp.all(m8 | !m8);
    warp.once([&] {
      out.both[0] = results[0];
      out.either[0] = results[1];
      out.neither[0] = results[2];
      out.first[0] = results[3];
      out.to_u8[0] = results[4];
      out.to_u16[0] = results[5];
      out.to_u32[0] = results[6];
      out.to_u64[0] = results[7];
      out.mixed[0] = results[8];
      out.any_all_of_converted[0] = any;
      out.any_all_of_converted[1] = all;
      out.scalar[0] = Warp::popcount(ballot);
      if (ballot != 0) {
        out.scalar[1] = Warp::lowest(ballot);
        out.scalar[2] = Warp::highest(ballot);
      }
      out.scalar[3] = Warp::popcount(u64{ballot} << 31);
    });
  }
  LANEWISE_LEAF_COLD static void expect(const input& in, output& out) {
    const u64 all = all_bits(W);
    for (int i = 0; i < W; ++i) {
      out.ballot[i] = in.m;
      out.any[i] = in.m != 0;
      out.all[i] = in.m == all;
      out.count[i] = static_cast<u32>(bit_count(in.m));
      out.lane[i] = static_cast<u32>(i);
      out.below[i] = (u64{1} << i) - 1;
    }
    out.both[0] = in.m & in.n;
    out.either[0] = in.m | in.n;
    out.neither[0] = all & ~in.m;
    out.first[0] = in.prefix == 0 ? 0 : all_bits(in.prefix);
    out.to_u8[0] = out.to_u16[0] = out.to_u32[0] = out.to_u64[0] = in.m;
    out.mixed[0] = in.m & in.n;
    out.any_all_of_converted[0] = 0;
    out.any_all_of_converted[1] = 1;
    out.scalar[0] = bit_count(in.m);
    if (in.m != 0) {
      out.scalar[1] = __builtin_ctzll(in.m);
      out.scalar[2] = 63 - __builtin_clzll(in.m);
    }
    out.scalar[3] = bit_count(in.m << 31);
  }
  LANEWISE_LEAF_COLD static void compare(checker& c, const output& want, const output& got) {
    c("ballot", want.ballot, got.ballot);
    c("any", want.any, got.any);
    c("all", want.all, got.all);
    c("count", want.count, got.count);
    c("lane", want.lane, got.lane);
    c("lanes_below", want.below, got.below);
    c("m & n", want.both, got.both);
    c("m | n", want.either, got.either);
    c("!m", want.neither, got.neither);
    c("first", want.first, got.first);
    c("converted to a mask for u8", want.to_u8, got.to_u8);
    c("converted to a mask for u16", want.to_u16, got.to_u16);
    c("converted to a mask for u32", want.to_u32, got.to_u32);
    c("converted to a mask for u64", want.to_u64, got.to_u64);
    c("converted to u8 and back, & m", want.mixed, got.mixed);
    c("any(m & !m), all(m | !m)", want.any_all_of_converted, got.any_all_of_converted);
    c("popcount, lowest, highest, popcount of 64 bits", want.scalar, got.scalar);
  }
};

/// broadcast and shuffles.
template <class T, int W>
struct movement {
  using type = T;
  static constexpr const char* name = "movement";
  static constexpr int instances = 2 * W + 2;
  struct input {
    T a[W];
    u32 from[W];  // beyond the warp too: taken modulo W
    int source, up, down, xored;
  };
  struct output {
    T broadcast[W], shuffle[W], up[W], down[W], xored[W];
  };
  LANEWISE_LEAF_COLD static void fill(random_source& rng, int instance, input& in) {
    for (int i = 0; i < W; ++i) {
      in.a[i] = any_value<T>(rng);
      in.from[i] = static_cast<u32>(instance % 2 ? rng.below(W) : rng.next());
    }
    in.source = instance % W;
    in.up = instance % (W + 1);
    in.down = W - instance % (W + 1);
    in.xored = instance % W;
  }
  template <class Warp>
  LANEWISE_KERNEL_FUNCTION void operator()(const Warp& warp, const input& in, output& out) const {
    const auto a = warp.load(in.a);
    store_uniform<T>(warp, out.broadcast, warp.broadcast(a, in.source));
    warp.store(out.shuffle, warp.shuffle(a, warp.load(in.from)));
    warp.store(out.up, warp.shuffle_up(a, in.up));
    warp.store(out.down, warp.shuffle_down(a, in.down));
    warp.store(out.xored, warp.shuffle_xor(a, in.xored));
  }
  LANEWISE_LEAF_COLD static void expect(const input& in, output& out) {
    for (int i = 0; i < W; ++i) {
      out.broadcast[i] = in.a[in.source];
      out.shuffle[i] = in.a[in.from[i] % W];
      out.up[i] = in.a[i - in.up >= 0 ? i - in.up : i];
      out.down[i] = in.a[i + in.down < W ? i + in.down : i];
      out.xored[i] = in.a[i ^ in.xored];
    }
  }
  LANEWISE_LEAF_COLD static void compare(checker& c, const output& want, const output& got) {
    c("broadcast", want.broadcast, got.broadcast);
    c("shuffle", want.shuffle, got.shuffle);
    c("shuffle_up", want.up, got.up);
    c("shuffle_down", want.down, got.down);
    c("shuffle_xor", want.xored, got.xored);
  }
};

// ---------------------------------------------------------------------------------------------------------------
// Reductions and scans

/// Values for which T's operator is exact and cannot overflow, so that any association gives the
/// same bits.
template <class T, class Op, int W>
LANEWISE_LEAF_COLD void fill_exact(random_source& rng, T (&a)[W], T& init) {
  int doubled = 0;
  for (int i = 0; i <= W; ++i) {
    T& x = i < W ? a[i] : init;
    if constexpr (std::is_same_v<Op, plus> && std::is_floating_point_v<T>) {
      x = static_cast<T>(static_cast<i64>(rng.below(2001)) - 1000);
      if (x == T(0)) x = T(1);  // no sum of opposites at the start: -0 and 0 depend on nothing else
    } else if constexpr (std::is_same_v<Op, plus> && std::is_signed_v<T>) {
      const i64 bound = std::numeric_limits<T>::max() / (W + 1);
      x = static_cast<T>(static_cast<i64>(rng.below(2 * static_cast<u64>(bound) + 1)) - bound);
    } else if constexpr (std::is_same_v<Op, multiplies> && std::is_signed_v<T>) {
      const bool twice = doubled < 6 && rng.below(4) == 0;
      doubled += twice;
      x = static_cast<T>((rng.coin() ? -1 : 1) * (twice ? 2 : 1));
    } else if constexpr (std::is_same_v<Op, multiplies>) {
      x = static_cast<T>(rng.next() | 1);
    } else if constexpr (std::is_floating_point_v<T> &&
                         (std::is_same_v<Op, minimum> || std::is_same_v<Op, maximum>)) {
      x = static_cast<T>(static_cast<i64>(rng.next())) * T(1.0 / 1024) + T(0.5);
      if (rng.below(16) == 0) x = std::numeric_limits<T>::infinity() * (rng.coin() ? T(1) : T(-1));
    } else {
      x = clean_value<T>(rng);
    }
  }
}

template <class Op>
constexpr const char* op_name() {
  if constexpr (std::is_same_v<Op, plus>) return "plus";
  if constexpr (std::is_same_v<Op, multiplies>) return "multiplies";
  if constexpr (std::is_same_v<Op, minimum>) return "minimum";
  if constexpr (std::is_same_v<Op, maximum>) return "maximum";
  if constexpr (std::is_same_v<Op, bit_and>) return "bit_and";
  if constexpr (std::is_same_v<Op, bit_or>) return "bit_or";
  if constexpr (std::is_same_v<Op, bit_xor>) return "bit_xor";
  if constexpr (std::is_same_v<Op, compose>) return "compose";
  if constexpr (std::is_same_v<Op, leftmost>) return "leftmost";
  if constexpr (std::is_same_v<Op, rightmost>) return "rightmost";
  return "op";
}

/// reduce, reduce_from and scans for n = 1..W. watch: op reports lanes it must not be called for,
/// which also hides what op is, so that backends take their general way.
template <class T, class Op, bool watch, int W>
struct scans {
  using type = T;
  static constexpr const char* name = op_name<Op>();
  static constexpr int instances = 2 * W + 1;
  struct input {
    T full[W], prefix[W], suffix[W];
    T init;
    int n, start;
  };
  struct output {
    T reduced[W], reduced_n[W], reduced_from[W];
    T inclusive[W], inclusive_n[W], exclusive[W], exclusive_n[W];
    u32 alarm[1];
  };
  LANEWISE_LEAF_COLD static void fill(random_source& rng, int instance, input& in) {
    fill_exact<T, Op>(rng, in.full, in.init);
    in.n = 1 + instance % W;
    in.start = (instance + instance / W) % W;
    for (int i = 0; i < W; ++i) {
      const T outside = watch ? poison<T>() : any_value<T>(rng);
      in.prefix[i] = i < in.n ? in.full[i] : outside;
      in.suffix[i] = i >= in.start ? in.full[i] : outside;
    }
  }
  template <class Warp>
  LANEWISE_KERNEL_FUNCTION void operator()(const Warp& warp, const input& in, output& out) const {
    if constexpr (watch) {
      run(warp, in, out, watched<Op>{Op{}, out.alarm});
    } else {
      run(warp, in, out, Op{});
    }
  }
  template <class Warp, class F>
  LANEWISE_FUNCTION static void run(const Warp& warp, const input& in, output& out, F op) {
    const auto full = warp.load(in.full);
    const auto prefix = warp.load(in.prefix);
    const auto suffix = warp.load(in.suffix);
    const auto below_n = warp.template first<T>(in.n);
    store_uniform<T>(warp, out.reduced, warp.reduce(full, op));
    store_uniform<T>(warp, out.reduced_n, warp.reduce(prefix, op, in.n));
    store_uniform<T>(warp, out.reduced_from, warp.reduce_from(in.start, suffix, op));
    warp.store(out.inclusive, warp.inclusive_scan(full, op));
    warp.store(below_n, out.inclusive_n, warp.inclusive_scan(prefix, op, in.n));
    warp.store(out.exclusive, warp.exclusive_scan(full, op, in.init));
    warp.store(below_n, out.exclusive_n, warp.exclusive_scan(prefix, op, in.init, in.n));
  }
  LANEWISE_LEAF_COLD static void expect(const input& in, output& out) {
    const Op op;
    T before = in.init;
    T from = in.full[in.start];
    for (int i = in.start + 1; i < W; ++i) from = op(from, in.full[i]);
    for (int i = 0; i < W; ++i) {
      out.inclusive[i] = i == 0 ? in.full[0] : op(out.inclusive[i - 1], in.full[i]);
      out.exclusive[i] = before;
      if (i < in.n) {
        out.inclusive_n[i] = out.inclusive[i];
        out.exclusive_n[i] = out.exclusive[i];
      }
      before = op(before, in.full[i]);
    }
    for (int i = 0; i < W; ++i) {
      out.reduced[i] = out.inclusive[W - 1];
      out.reduced_n[i] = out.inclusive[in.n - 1];
      out.reduced_from[i] = from;
    }
  }
  LANEWISE_LEAF_COLD static void compare(checker& c, const output& want, const output& got) {
    c("reduce", want.reduced, got.reduced);
    c("reduce(n)", want.reduced_n, got.reduced_n);
    c("reduce_from", want.reduced_from, got.reduced_from);
    c("inclusive_scan", want.inclusive, got.inclusive);
    c("inclusive_scan(n)", want.inclusive_n, got.inclusive_n);
    c("exclusive_scan", want.exclusive, got.exclusive);
    c("exclusive_scan(n)", want.exclusive_n, got.exclusive_n);
    c("op called for a lane that takes no part", want.alarm, got.alarm);
  }
};

/// fold and scan_by_doubling, whose order is fixed: operators that round, and values of every kind.
template <class T, class Op, bool watch, int W>
struct fixed_orders {
  using type = T;
  static constexpr const char* name = op_name<Op>();
  static constexpr int instances = 4 * W;
  struct input {
    T full[W], part[W];
    T init;
    int begin, end;
  };
  struct output {
    T doubled[W], doubled_n[W], folded[W];
    u32 alarm[1];
  };
  LANEWISE_LEAF_COLD static void fill(random_source& rng, int instance, input& in) {
    for (T& x : in.full) x = clean_value<T>(rng);
    in.init = clean_value<T>(rng);
    in.end = instance % (W + 1);
    in.begin = static_cast<int>(rng.below(static_cast<u64>(in.end) + 1));
    for (int i = 0; i < W; ++i) in.part[i] = !watch || i < in.end ? in.full[i] : poison<T>();
  }
  template <class Warp>
  LANEWISE_KERNEL_FUNCTION void operator()(const Warp& warp, const input& in, output& out) const {
    if constexpr (watch) {
      run(warp, in, out, watched<Op>{Op{}, out.alarm});
    } else {
      run(warp, in, out, Op{});
    }
  }
  template <class Warp, class F>
  LANEWISE_FUNCTION static void run(const Warp& warp, const input& in, output& out, F op) {
    const auto part = warp.load(in.part);
    warp.store(out.doubled, warp.scan_by_doubling(warp.load(in.full), op));
    warp.store(warp.template first<T>(in.end), out.doubled_n,
               warp.scan_by_doubling(part, op, in.end));
    store_uniform<T>(warp, out.folded, warp.fold(in.init, part, op, in.begin, in.end));
  }
  LANEWISE_LEAF_COLD static void expect(const input& in, output& out) {
    const Op op;
    T old[W];
    for (int i = 0; i < W; ++i) out.doubled[i] = in.full[i];
    for (int k = 1; k < W; k *= 2) {
      for (int i = 0; i < W; ++i) old[i] = out.doubled[i];
      for (int i = k; i < W; ++i) out.doubled[i] = op(old[i - k], old[i]);
    }
    T sum = in.init;
    for (int i = in.begin; i < in.end; ++i) sum = op(sum, in.full[i]);
    for (int i = 0; i < W; ++i) out.folded[i] = sum;
    for (int i = 0; i < in.end; ++i) out.doubled_n[i] = out.doubled[i];
  }
  LANEWISE_LEAF_COLD static void compare(checker& c, const output& want, const output& got) {
    c("scan_by_doubling", want.doubled, got.doubled);
    c("scan_by_doubling(n)", want.doubled_n, got.doubled_n);
    c("fold", want.folded, got.folded);
    c("op called for a lane that takes no part", want.alarm, got.alarm);
  }
};

// ---------------------------------------------------------------------------------------------------------------
// Equal values

template <class T, int W>
struct matching {
  using type = T;
  static constexpr const char* name = "match_any";
  static constexpr int instances = 64;
  struct input {
    T a[W];
    u64 m;
  };
  struct output {
    u64 match[W];
  };
  LANEWISE_LEAF_COLD static void fill(random_source& rng, int instance, input& in) {
    // Few different values, which differ in one byte: a comparison of a part of the value is found
    // out.
    const int kinds[] = {1, 2, 3, W};
    const int different = kinds[rng.below(4)];
    unsigned char base[sizeof(T)];
    for (auto& b : base) b = static_cast<unsigned char>(rng.next());
    const u32 at = static_cast<u32>(rng.below(sizeof(T)));
    for (int i = 0; i < W; ++i) {
      const u32 kind = static_cast<u32>(rng.below(different));
      if constexpr (std::is_floating_point_v<T>) {
        in.a[i] = static_cast<T>(kind + 1) * static_cast<T>(base[0] + 1);
      } else {
        unsigned char bytes[sizeof(T)];
        std::memcpy(bytes, base, sizeof(T));
        bytes[at] = static_cast<unsigned char>(base[at] + kind);
        std::memcpy(&in.a[i], bytes, sizeof(T));
      }
    }
    in.m = random_mask(rng, instance, W);
  }
  template <class Warp>
  LANEWISE_KERNEL_FUNCTION void operator()(const Warp& warp, const input& in, output& out) const {
    warp.store(out.match,
               warp.template cast<u64>(warp.match_any(mask_from<T>(warp, in.m), warp.load(in.a))));
  }
  LANEWISE_LEAF_COLD static void expect(const input& in, output& out) {
    for (int i = 0; i < W; ++i) {
      out.match[i] = 0;
      for (int j = 0; j < W; ++j) {
        if (lane_in(in.m, i) && lane_in(in.m, j) && same(in.a[i], in.a[j]))
          out.match[i] |= u64{1} << j;
      }
    }
  }
  LANEWISE_LEAF_COLD static void compare(checker& c, const output& want, const output& got) {
    c("match_any", want.match, got.match);
  }
};

/// Warp multisplit: peers, rank_among_equals, histogram (Ashkiani 3.5; GPU Multisplit, Alg. 2 and
/// 3, as corrected). Instances 0..3 are the papers' vectors; then m = 1..256 with random, equal and
/// few buckets and every kind of mask, and a few larger m.
template <int W>
struct buckets {
  using type = u32;
  static constexpr const char* name = "buckets";
  static constexpr int special = 4;
  static constexpr int most = 256;
  static constexpr int instances = special + 2 * most + 24;
  struct input {
    u32 bucket[W];
    u64 m;
    u32 count;
  };
  struct output {
    u64 peers[W], peers_by_planes[W];
    u32 rank[W];
    u32 histogram[8 * W];
  };
  LANEWISE_LEAF_COLD static void fill(random_source& rng, int instance, input& in) {
    in.m = all_bits(W);
    if (instance < special) {
      in.count = instance == 0 ? 5 : instance == 1 ? 8 : instance == 2 ? 96 : 6;
      for (int i = 0; i < W; ++i) {
        const int b[special] = {(7 * i + 3) % 5, i * i % 8, (37 * i + 11) % 96, (5 * i + 3) % 6};
        in.bucket[i] = static_cast<u32>(b[instance]);
      }
      return;
    }
    in.count = 1 + static_cast<u32>((instance - special) % most);
    if (instance >= special + 2 * most)
      in.count = static_cast<u32>(257 + (rng.next() >> (32 + rng.below(24))));
    if (in.count < 257 && instance >= special + 2 * most) in.count = ~u32{0};
    const u32 few = static_cast<u32>(1 + rng.below(3));
    const u32 base = static_cast<u32>(rng.next());
    const bool spread = rng.coin();
    in.m = random_mask(rng, static_cast<int>(rng.below(12)),
                       W);  // the random kinds are the likelier ones
    for (int i = 0; i < W; ++i) {
      const u32 b = static_cast<u32>(spread ? rng.next() : base + rng.below(few));
      // The bucket of an inactive lane is no promise at all.
      in.bucket[i] = lane_in(in.m, i) ? b % in.count : static_cast<u32>(rng.next());
    }
  }
  template <class Warp>
  LANEWISE_KERNEL_FUNCTION void operator()(const Warp& warp, const input& in, output& out) const {
    const auto bucket = warp.load(in.bucket);
    const auto m = mask_from<u32>(warp, in.m);
    warp.store(out.peers, warp.template cast<u64>(warp.peers(m, bucket, in.count)));
    auto by_planes = warp.template peers<32>(m, bucket);
    if (in.count == 1) by_planes = warp.template peers<0>(m, bucket);
    if (in.count > 1 && in.count <= 2) by_planes = warp.template peers<1>(m, bucket);
    if (in.count > 2 && in.count <= 16) by_planes = warp.template peers<4>(m, bucket);
    if (in.count > 16 && in.count <= 128) by_planes = warp.template peers<7>(m, bucket);
    if (in.count > 128 && in.count <= 256) by_planes = warp.template peers<8>(m, bucket);
    warp.store(out.peers_by_planes, warp.template cast<u64>(by_planes));
    warp.store(out.rank, warp.rank_among_equals(m, bucket, in.count));
    warp.store(out.histogram + 0 * W, warp.template histogram<0>(m, bucket, in.count));
    warp.store(out.histogram + 1 * W, warp.template histogram<1>(m, bucket, in.count));
    warp.store(out.histogram + 2 * W, warp.template histogram<2>(m, bucket, in.count));
    warp.store(out.histogram + 3 * W, warp.template histogram<3>(m, bucket, in.count));
    warp.store(out.histogram + 4 * W, warp.template histogram<4>(m, bucket, in.count));
    warp.store(out.histogram + 5 * W, warp.template histogram<5>(m, bucket, in.count));
    warp.store(out.histogram + 6 * W, warp.template histogram<6>(m, bucket, in.count));
    warp.store(out.histogram + 7 * W, warp.template histogram<7>(m, bucket, in.count));
  }
  LANEWISE_LEAF_COLD static void expect(const input& in, output& out) {
    for (u32& h : out.histogram) h = 0;
    for (int i = 0; i < W; ++i) {
      out.peers[i] = out.peers_by_planes[i] = 0;
      out.rank[i] = 0;
      if (!lane_in(in.m, i)) continue;
      if (in.bucket[i] < 8 * W) ++out.histogram[in.bucket[i]];
      for (int j = 0; j < W; ++j) {
        if (!lane_in(in.m, j) || in.bucket[j] != in.bucket[i]) continue;
        out.peers[i] |= u64{1} << j;
        out.rank[i] += j < i;
      }
      out.peers_by_planes[i] = out.peers[i];
    }
  }
  LANEWISE_LEAF_COLD static void compare(checker& c, const output& want, const output& got) {
    c("peers", want.peers, got.peers);
    c("peers<planes>", want.peers_by_planes, got.peers_by_planes);
    c("rank_among_equals", want.rank, got.rank);
    c("histogram<0..7>", want.histogram, got.histogram);
  }
};

/// The papers print results for their vectors: the oracle above has to give the same.
LANEWISE_LEAF_COLD inline bool oracle_agrees_with_the_papers() {
  using warp32 = buckets<32>;
  const u32 v1[] = {0x84210842, 0x21084210, 0x08421084, 0x42108421, 0x10842108};
  const u32 w1[] = {0x08208208, 0x04104104, 0x82082082, 0x41041041, 0x20820820, 0x10410410};
  const u32 v1_counts[] = {7, 6, 6, 7, 6}, v2_counts[] = {8, 16, 0, 0, 8, 0, 0, 0},
            w1_counts[] = {5, 5, 6, 6, 5, 5};
  const u32 v2_ranks[] = {0, 0, 0, 1, 1, 2, 1, 3, 2, 4, 2, 5, 3, 6, 3, 7};
  bool good = true;
  for (int v = 0; v < warp32::special; ++v) {
    random_source rng{0};
    warp32::input in;
    warp32::output out;
    warp32::fill(rng, v, in);
    warp32::expect(in, out);
    for (u32 b = 0; b < 8 * 32; ++b) {
      const u32 count = out.histogram[b];
      if (v == 0) good = good && count == (b < 5 ? v1_counts[b] : 0);
      if (v == 1) good = good && count == (b < 8 ? v2_counts[b] : 0);
      if (v == 2) good = good && count <= (b < 96 ? 1u : 0u);
      if (v == 3) good = good && count == (b < 6 ? w1_counts[b] : 0);
    }
    if (v == 2)
      good = good && out.histogram[64] == 1 && out.histogram[4] == 1 && out.histogram[34] == 1;
    for (u32 i = 0; i < 32; ++i) {
      if (v == 0) good = good && out.rank[i] == i / 5 && out.peers[i] == v1[in.bucket[i]];
      if (v == 1 && i < 16) good = good && out.rank[i] == v2_ranks[i];
      if (v == 2) good = good && out.rank[i] == 0;
      if (v == 3) good = good && out.rank[i] == i / 6 && out.peers[i] == w1[in.bucket[i]];
    }
  }
  return good;
}

// ---------------------------------------------------------------------------------------------------------------
// Memory

/// Loads and stores of neighbouring elements, at any alignment.
template <class T, int W>
struct contiguous {
  using type = T;
  static constexpr const char* name = "contiguous";
  static constexpr int instances = 48;
  static constexpr int room = W + 4;
  static constexpr int hints = 5;
  struct input {
    T from[room];
    T otherwise;
    u64 m;
    int at;
  };
  struct output {
    T loaded[W], masked[W], streamed[W], exchanged[W];
    T stored[room], stored_masked[room], stored_streaming[room], packed[room], packed_over[room];
    T loaded_by_hint[hints][W], stored_by_hint[hints][room];
    int packed_count[W];
  };
  LANEWISE_LEAF_COLD static void fill(random_source& rng, int instance, input& in) {
    for (T& x : in.from) x = any_value<T>(rng);
    in.otherwise = any_value<T>(rng);
    in.m = random_mask(rng, instance, W);
    in.at = static_cast<int>(rng.below(4));
  }
  template <class Warp>
  LANEWISE_KERNEL_FUNCTION void operator()(const Warp& warp, const input& in, output& out) const {
    const auto m = mask_from<T>(warp, in.m);
    const T* from = in.from + in.at;
    const auto a = warp.load(from);
    warp.store(out.loaded, a);
    warp.store(out.masked, warp.load(m, from, in.otherwise));
    warp.store(out.streamed, warp.load_streaming(from));
    warp.store(out.stored + in.at, a);
    warp.store(m, out.stored_masked + in.at, a);
    warp.store_streaming(out.stored_streaming + in.at, a);
    with_hint<caching::usual>(warp, in, out);
    with_hint<caching::all_levels>(warp, in, out);
    with_hint<caching::second_level>(warp, in, out);
    with_hint<caching::streaming>(warp, in, out);
    with_hint<caching::none>(warp, in, out);
    store_uniform<int>(warp, out.packed_count, warp.compress_store(out.packed + in.at, m, a));
    const int count = warp.compress_store_over(out.packed_over + in.at, m, a);
    warp.fence();
    warp.store(!warp.template first<T>(count), out.packed_over + in.at,
               lanes_of<Warp, T>(in.otherwise));
    // What one lane wrote another lane reads, after a fence.
    warp.fence();
    T* written = out.stored + in.at;
    warp.store(out.exchanged, warp.gather(written, warp.lane() ^ lanes_of<Warp, u32>(u32(W - 1))));
  }
  template <caching c, class Warp>
  LANEWISE_KERNEL_FUNCTION static void with_hint(const Warp& warp, const input& in, output& out) {
    constexpr int hint = static_cast<int>(c);
    const auto a = warp.template load<c>(in.from + in.at);
    warp.store(out.loaded_by_hint[hint], a);
    warp.template store<c>(out.stored_by_hint[hint] + in.at, a);
  }
  LANEWISE_LEAF_COLD static void expect(const input& in, output& out) {
    int n = 0;
    for (int i = 0; i < W; ++i) {
      const T x = in.from[in.at + i];
      const bool on = lane_in(in.m, i);
      out.loaded[i] = out.streamed[i] = x;
      out.masked[i] = on ? x : in.otherwise;
      out.stored[in.at + i] = out.stored_streaming[in.at + i] = x;
      for (int hint = 0; hint < hints; ++hint)
        out.loaded_by_hint[hint][i] = out.stored_by_hint[hint][in.at + i] = x;
      out.exchanged[i] = in.from[in.at + (i ^ (W - 1))];
      if (on) {
        out.stored_masked[in.at + i] = x;
        out.packed[in.at + n] = out.packed_over[in.at + n] = x;
        ++n;
      }
    }
    for (int i = n; i < W; ++i) out.packed_over[in.at + i] = in.otherwise;
    for (int& x : out.packed_count) x = n;
  }
  LANEWISE_LEAF_COLD static void compare(checker& c, const output& want, const output& got) {
    c("load", want.loaded, got.loaded);
    c("load(m)", want.masked, got.masked);
    c("load_streaming", want.streamed, got.streamed);
    c("store", want.stored, got.stored);
    c("store(m)", want.stored_masked, got.stored_masked);
    c("store_streaming", want.stored_streaming, got.stored_streaming);
    for (int hint = 0; hint < hints; ++hint) {
      c("load by a hint", want.loaded_by_hint[hint], got.loaded_by_hint[hint]);
      c("store by a hint", want.stored_by_hint[hint], got.stored_by_hint[hint]);
    }
    c("compress_store", want.packed, got.packed);
    c("compress_store_over", want.packed_over, got.packed_over);
    c("compress_store's result", want.packed_count, got.packed_count);
    c("store, fence, gather", want.exchanged, got.exchanged);
  }
};

/// Gather, scatter and prefetch. Inactive lanes hold wild indices: touching memory there is an
/// access violation.
template <class T, class I, int W>
struct indexed {
  using type = T;
  static constexpr const char* name = std::is_same_v<I, u32>   ? "indexed by u32"
                                      : std::is_same_v<I, i32> ? "indexed by i32"
                                      : std::is_same_v<I, u64> ? "indexed by u64"
                                                               : "indexed by u8";
  static constexpr int instances = 40;
  static constexpr int room = 128;
  static_assert(room >= 2 * W);
  struct input {
    T table[room];
    T a[W];
    I any[W];       // with repetitions
    I distinct[W];  // for scatters
    I any_wild[W], distinct_wild[W];
    T otherwise;
    u64 m;
  };
  struct output {
    T gathered[W], gathered_masked[W];
    T scattered[room], scattered_masked[room], collided[1];
    u32 one_of_them[1];
  };
  LANEWISE_LEAF_COLD static void fill(random_source& rng, int instance, input& in) {
    for (T& x : in.table) x = any_value<T>(rng);
    for (T& x : in.a) x = any_value<T>(rng);
    in.otherwise = any_value<T>(rng);
    in.m = random_mask(rng, instance, W);
    int place[room];
    for (int i = 0; i < room; ++i) place[i] = i;
    const u64 spread = rng.coin() ? room : 1 + rng.below(8);
    for (int i = 0; i < W; ++i) {
      const int j = i + static_cast<int>(rng.below(room - i));
      const int p = place[j];
      place[j] = place[i];
      in.distinct[i] = static_cast<I>(p);
      in.any[i] = static_cast<I>(rng.below(spread));
      const I wild = static_cast<I>(std::numeric_limits<I>::max() - static_cast<I>(rng.below(100)));
      in.any_wild[i] = lane_in(in.m, i) ? in.any[i] : wild;
      in.distinct_wild[i] = lane_in(in.m, i) ? in.distinct[i] : wild;
    }
  }
  template <class Warp>
  LANEWISE_KERNEL_FUNCTION void operator()(const Warp& warp, const input& in, output& out) const {
    const auto m = mask_from<T>(warp, in.m);
    const auto a = warp.load(in.a);
    const T* table = in.table;
    warp.prefetch(m, table, warp.load(in.any_wild));
    warp.store(out.gathered, warp.gather(table, warp.load(in.any)));
    warp.store(out.gathered_masked, warp.gather(m, table, warp.load(in.any_wild), in.otherwise));
    warp.scatter(out.scattered, warp.load(in.distinct), a);
    warp.scatter(m, out.scattered_masked, warp.load(in.distinct_wild), a);
    // Plain scatters that collide leave one of the values.
    warp.scatter(m, out.collided, lanes_of<Warp, I>(I(0)), a);
    warp.fence();
    const T left = out.collided[0];
    const auto equal = warp.map([left](const T& x) -> u32 { return same(x, left); }, a);
    const bool found = warp.any(m & mask_of<Warp, T>(equal != lanes_of<Warp, u32>(0u)));
    const bool none = !warp.any(m);
    warp.once([&] { out.one_of_them[0] = found || none; });
  }
  LANEWISE_LEAF_COLD static void expect(const input& in, output& out) {
    for (int i = 0; i < W; ++i) {
      const bool on = lane_in(in.m, i);
      out.gathered[i] = in.table[in.any[i]];
      out.gathered_masked[i] = on ? in.table[in.any[i]] : in.otherwise;
      out.scattered[in.distinct[i]] = in.a[i];
      if (on) out.scattered_masked[in.distinct[i]] = in.a[i];
    }
    out.one_of_them[0] = 1;
  }
  LANEWISE_LEAF_COLD static void compare(checker& c, const output& want, const output& got) {
    c("gather", want.gathered, got.gathered);
    c("gather(m)", want.gathered_masked, got.gathered_masked);
    c("scatter", want.scattered, got.scattered);
    c("scatter(m)", want.scattered_masked, got.scattered_masked);
    c("scatter(m) with collisions", want.one_of_them, got.one_of_them);
  }
};

// ---------------------------------------------------------------------------------------------------------------
// Racing memory

/// Racing loads by lanes and, for arithmetic types, atomics.
template <class T, int W>
struct atomics {
  using type = T;
  static constexpr const char* name = "atomics";
  static constexpr int instances = 40;
  static constexpr int room = 2 * W;
  static constexpr bool adds = std::is_arithmetic_v<T>;
  struct input {
    T a[W], expected[W], desired[W], initial[room];
    u32 any[W], distinct[W];
    u64 distinct64[W];
    T otherwise;
    u64 m;
  };
  struct output {
    T relaxed[W], acquired[W];
    T old[W], changed[room], sums[room];
    T seen[W], exchanged[room], stored[room], taken[W], put[room];
    u32 tickets[W], ticket_counter[1], winners[1], winner_agrees[1];
    T counter[1], contended[1];
  };
  LANEWISE_LEAF_COLD static T small(random_source& rng) {
    if constexpr (adds) {
      return static_cast<T>(rng.below(sizeof(T) == 1 ? 2 : 100));
    } else {
      return any_value<T>(rng);
    }
  }
  LANEWISE_LEAF_COLD static void fill(random_source& rng, int instance, input& in) {
    for (T& x : in.initial) x = small(rng);
    in.otherwise = any_value<T>(rng);
    in.m = random_mask(rng, instance, W);
    const u64 spread = rng.coin() ? room : 1 + rng.below(room < 3 ? room : 3);
    const u32 start = static_cast<u32>(rng.below(room));
    for (int i = 0; i < W; ++i) {
      const bool on = lane_in(in.m, i);
      const u32 wild = ~static_cast<u32>(rng.below(100));
      const u32 p = (start + 5u * static_cast<u32>(i)) % room;  // 5 is prime to every power of two
      in.a[i] = small(rng);
      in.any[i] = on ? static_cast<u32>(rng.below(spread)) : wild;
      in.distinct[i] = on ? p : wild;
      in.distinct64[i] = on ? p : ~u64{0} >> 8;
      in.expected[i] = rng.coin() ? in.initial[p] : small(rng);
      in.desired[i] = any_value<T>(rng);
    }
  }
  template <class Warp>
  LANEWISE_KERNEL_FUNCTION void operator()(const Warp& warp, const input& in, output& out) const {
    using indices = lanes_of<Warp, u32>;
    const auto m = mask_from<T>(warp, in.m);
    const indices any = warp.load(in.any), distinct = warp.load(in.distinct);
    const auto distinct64 = warp.load(in.distinct64);
    const T* initial = in.initial;
    // Copies of the table to change.
    for (int k = 0; k < room / W; ++k) {
      const auto x = warp.load(initial + k * W);
      warp.store(out.changed + k * W, x);
      warp.store(out.sums + k * W, x);
      warp.store(out.exchanged + k * W, x);
      warp.store(out.stored + k * W, x);
      warp.store(out.put + k * W, x);
    }
    warp.once([&] {
      out.ticket_counter[0] = 0;
      out.counter[0] = in.initial[0];
      out.contended[0] = in.initial[0];
    });
    warp.fence();
    warp.store(out.relaxed, warp.load_relaxed(m, initial, any, in.otherwise));
    warp.store(out.acquired,
               warp.template load_acquire<scope::team>(m, initial, distinct64, in.otherwise));

    const auto expected = warp.load(in.expected), desired = warp.load(in.desired);
    warp.store_relaxed(m, out.stored + 1, desired);
    warp.store(out.taken, warp.exchange(m, out.put, distinct, desired));
    warp.store(m, out.seen, warp.compare_exchange(m, out.exchanged, distinct, expected, desired));
    // One slot that all active lanes want: the first to come gets it.
    {
      const auto initial_everywhere = lanes_of<Warp, T>(in.initial[0]);
      const auto unlike = warp.map(
          [](T x, u32 i) {
            const u32 salt = i + 1;
            memcpy(static_cast<void*>(&x), &salt,
                   sizeof(x) < sizeof(salt) ? sizeof(x) : sizeof(salt));
            return x;
          },
          warp.load(in.initial), warp.lane() + indices(100u));
      const auto got = warp.template compare_exchange<order::acq_rel, scope::device>(
          m, out.contended, indices(0u), initial_everywhere, unlike);
      const T first = in.initial[0];
      const auto won =
          m & mask_of<Warp, T>(warp.map([first](const T& x) -> u32 { return same(x, first); },
                                        got) != indices(0u));
      warp.fence();
      const auto votes = warp.ballot(won);
      const T stays = warp.broadcast(unlike, votes != 0 ? Warp::lowest(votes) : 0);
      const T there = out.contended[0];
      warp.once([&] {
        out.winners[0] = static_cast<u32>(Warp::popcount(votes));
        out.winner_agrees[0] = votes == 0 || same(there, stays);
      });
    }

    if constexpr (adds) {
      const auto a = warp.load(in.a);
      warp.store(out.old, warp.fetch_add(m, out.changed, distinct, a));
      warp.template fetch_add<order::release, scope::team>(m, out.sums, any, a);
      warp.fetch_add(m, out.counter, indices(0u), a);
    }
    // Every active lane takes a ticket, and no two the same.
    const auto ticket = warp.fetch_add(m, out.ticket_counter, indices(0u), indices(1u));
    warp.scatter(m, out.tickets, ticket, indices(1u));
  }
  LANEWISE_LEAF_COLD static void expect(const input& in, output& out) {
    for (int i = 0; i < room; ++i) {
      out.changed[i] = out.sums[i] = out.exchanged[i] = out.stored[i] = out.put[i] = in.initial[i];
    }
    const u32 active = static_cast<u32>(bit_count(in.m));
    out.ticket_counter[0] = active;
    out.counter[0] = in.initial[0];
    out.winners[0] = active == 0 ? 0 : 1;
    out.winner_agrees[0] = 1;
    u32 tickets = 0;
    for (int i = 0; i < W; ++i) {
      const bool on = lane_in(in.m, i);
      const u32 p = on ? in.distinct[i] : 0;
      if (on) out.stored[i + 1] = in.desired[i];
      out.relaxed[i] = on ? in.initial[in.any[i]] : in.otherwise;
      out.acquired[i] = on ? in.initial[p] : in.otherwise;
      out.taken[i] = on ? in.initial[p] : T{};
      if constexpr (adds) {
        out.old[i] = T{};
        if (on) {
          out.old[i] = in.initial[p];
          out.changed[p] = static_cast<T>(in.initial[p] + in.a[i]);
          out.sums[in.any[i]] = static_cast<T>(out.sums[in.any[i]] + in.a[i]);
          out.counter[0] = static_cast<T>(out.counter[0] + in.a[i]);
        }
      }
      if (on) {
        out.seen[i] = in.initial[p];
        out.put[p] = in.desired[i];
        if (std::memcmp(&in.initial[p], &in.expected[i], sizeof(T)) == 0)
          out.exchanged[p] = in.desired[i];
        out.tickets[tickets++] = 1;
      }
    }
  }
  LANEWISE_LEAF_COLD static void compare(checker& c, const output& want, const output& got) {
    c("load_relaxed", want.relaxed, got.relaxed);
    c("load_acquire", want.acquired, got.acquired);
    c("store_relaxed", want.stored, got.stored);
    c("fetch_add's result", want.old, got.old);
    c("fetch_add", want.changed, got.changed);
    c("fetch_add with collisions", want.sums, got.sums);
    c("fetch_add to one counter", want.counter, got.counter);
    c("exchange's result", want.taken, got.taken);
    c("exchange", want.put, got.put);
    c("compare_exchange's result", want.seen, got.seen);
    c("compare_exchange", want.exchanged, got.exchanged);
    c("compare_exchange, lanes that won one slot", want.winners, got.winners);
    c("compare_exchange, the winner's value is there", want.winner_agrees, got.winner_agrees);
    c("tickets", want.tickets, got.tickets);
    c("ticket counter", want.ticket_counter, got.ticket_counter);
  }
};

/// 16-byte values as one racing word, where the backend has that.
template <class T, int W>
struct wide_words {
  using type = T;
  static constexpr const char* name = "16-byte words";
  static constexpr int instances = 16;
  static_assert(sizeof(T) == 16 && alignof(T) == 16);
  struct input {
    T table[2 * W];
    u32 index[W];
    T otherwise, stored;
    u64 m;
  };
  struct output {
    T relaxed[W], stored[3];
  };
  LANEWISE_LEAF_COLD static void fill(random_source& rng, int instance, input& in) {
    for (T& x : in.table) x = any_value<T>(rng);
    in.m = random_mask(rng, instance, W);
    for (int i = 0; i < W; ++i)
      in.index[i] = lane_in(in.m, i) ? static_cast<u32>(rng.below(2 * W)) : ~u32{0};
    in.otherwise = any_value<T>(rng);
    in.stored = any_value<T>(rng);
  }
  template <class Warp>
  LANEWISE_KERNEL_FUNCTION void operator()(const Warp& warp, const input& in, output& out) const {
    const auto m = mask_from<T>(warp, in.m);
    const auto index = warp.load(in.index);
    const T* table = in.table;
    if constexpr (Warp::has_wide_words) {
      warp.store(out.relaxed, warp.load_relaxed(m, table, index, in.otherwise));
      warp.store(out.stored[1], in.stored);
    } else {
      warp.store(out.relaxed, warp.gather(m, table, index, in.otherwise));
      warp.once([&] { out.stored[1] = in.stored; });
    }
  }
  LANEWISE_LEAF_COLD static void expect(const input& in, output& out) {
    for (int i = 0; i < W; ++i)
      out.relaxed[i] = lane_in(in.m, i) ? in.table[in.index[i]] : in.otherwise;
    out.stored[1] = in.stored;
  }
  LANEWISE_LEAF_COLD static void compare(checker& c, const output& want, const output& got) {
    c("load_relaxed", want.relaxed, got.relaxed);
    c("store", want.stored, got.stored);
  }
};

/// fetch_or and fetch_and, per lane and uniform.
template <class T, int W>
struct bitwise_atomics {
  using type = T;
  static constexpr const char* name = "bitwise atomics";
  static constexpr int instances = 16;
  static constexpr int room = 2 * W;
  struct input {
    T a[W], initial[room];
    u32 any[W], distinct[W];
    T x;
    u64 m;
  };
  struct output {
    T ored[W], anded[W], uniform_or[W], uniform_and[W];
    T after_or[room], after_and[room], collided[room], cell[2];
  };
  LANEWISE_LEAF_COLD static void fill(random_source& rng, int instance, input& in) {
    for (T& x : in.initial) x = any_value<T>(rng);
    in.x = any_value<T>(rng);
    in.m = random_mask(rng, instance, W);
    const u32 start = static_cast<u32>(rng.below(room));
    for (int i = 0; i < W; ++i) {
      in.a[i] = any_value<T>(rng);
      in.any[i] = lane_in(in.m, i) ? static_cast<u32>(rng.below(3) % room) : ~u32{7};
      in.distinct[i] = lane_in(in.m, i) ? (start + 5u * static_cast<u32>(i)) % room : ~u32{7};
    }
  }
  template <class Warp>
  LANEWISE_KERNEL_FUNCTION void operator()(const Warp& warp, const input& in, output& out) const {
    const auto m = mask_from<T>(warp, in.m);
    const auto distinct = warp.load(in.distinct), any = warp.load(in.any);
    const auto a = warp.load(in.a);
    for (int k = 0; k < room / W; ++k) {
      const auto x = warp.load(in.initial + k * W);
      warp.store(out.after_or + k * W, x);
      warp.store(out.after_and + k * W, x);
      warp.store(out.collided + k * W, x);
    }
    warp.once([&] { out.cell[0] = out.cell[1] = in.initial[0]; });
    warp.fence();
    warp.store(out.ored, warp.fetch_or(m, out.after_or, distinct, a));
    warp.store(out.anded, warp.template fetch_and<order::acq_rel>(m, out.after_and, distinct, a));
    warp.fetch_or(m, out.collided, any, a);
    store_uniform<T>(warp, out.uniform_or, warp.fetch_or(out.cell[0], in.x));
    store_uniform<T>(warp, out.uniform_and,
                     warp.template fetch_and<order::release>(out.cell[1], in.x));
  }
  LANEWISE_LEAF_COLD static void expect(const input& in, output& out) {
    for (int i = 0; i < room; ++i)
      out.after_or[i] = out.after_and[i] = out.collided[i] = in.initial[i];
    for (int i = 0; i < W; ++i) {
      out.ored[i] = out.anded[i] = T{};
      out.uniform_or[i] = out.uniform_and[i] = in.initial[0];
      if (!lane_in(in.m, i)) continue;
      out.ored[i] = out.anded[i] = in.initial[in.distinct[i]];
      out.after_or[in.distinct[i]] |= in.a[i];
      out.after_and[in.distinct[i]] &= in.a[i];
      out.collided[in.any[i]] |= in.a[i];
    }
    out.cell[0] = in.initial[0] | in.x;
    out.cell[1] = in.initial[0] & in.x;
  }
  LANEWISE_LEAF_COLD static void compare(checker& c, const output& want, const output& got) {
    c("fetch_or's result", want.ored, got.ored);
    c("fetch_and's result", want.anded, got.anded);
    c("fetch_or", want.after_or, got.after_or);
    c("fetch_and", want.after_and, got.after_and);
    c("fetch_or with collisions", want.collided, got.collided);
    c("uniform fetch_or's result", want.uniform_or, got.uniform_or);
    c("uniform fetch_and's result", want.uniform_and, got.uniform_and);
    c("uniform fetch_or and fetch_and", want.cell, got.cell);
  }
};

/// fetch_min and fetch_max, per lane and uniform; exchange, where no two lanes want one place and
/// where all want the same.
template <class T, int W>
struct ordered_atomics {
  using type = T;
  static constexpr const char* name = "minima, maxima and exchanges";
  static constexpr int instances = 24;
  static constexpr int room = 2 * W;
  struct input {
    T a[W], initial[room];
    u32 any[W], distinct[W];
    T x;
    u64 m;
  };
  struct output {
    T lowered[W], raised[W], put[W], uniform_min[W], uniform_max[W], uniform_put[W];
    T after_min[room], after_max[room], after_put[room], min_of_all[room], max_of_all[room];
    T cell[8];
    u64 handed_on[1];
  };
  LANEWISE_LEAF_COLD static void fill(random_source& rng, int instance, input& in) {
    // Some that are equal, and those next to the ends, where a wrong sign shows.
    const auto value = [&] {
      const T ends[4] = {T{0}, static_cast<T>(~T{0}), std::numeric_limits<T>::min(),
                         std::numeric_limits<T>::max()};
      return rng.below(3) == 0 ? ends[rng.below(4)] : any_value<T>(rng);
    };
    for (T& x : in.initial) x = value();
    in.x = value();
    in.m = random_mask(rng, instance, W);
    const u32 start = static_cast<u32>(rng.below(room));
    for (int i = 0; i < W; ++i) {
      in.a[i] = value();
      in.any[i] = lane_in(in.m, i) ? static_cast<u32>(rng.below(3) % room) : ~u32{7};
      in.distinct[i] = lane_in(in.m, i) ? (start + 5u * static_cast<u32>(i)) % room : ~u32{7};
    }
  }
  template <class Warp>
  LANEWISE_KERNEL_FUNCTION void operator()(const Warp& warp, const input& in, output& out) const {
    using indices = lanes_of<Warp, u32>;
    const auto m = mask_from<T>(warp, in.m);
    const indices distinct = warp.load(in.distinct), any = warp.load(in.any);
    const auto a = warp.load(in.a);
    for (int k = 0; k < room / W; ++k) {
      const auto x = warp.load(in.initial + k * W);
      warp.store(out.after_min + k * W, x);
      warp.store(out.after_max + k * W, x);
      warp.store(out.after_put + k * W, x);
      warp.store(out.min_of_all + k * W, x);
      warp.store(out.max_of_all + k * W, x);
    }
    warp.once([&] {
      for (T& c : out.cell) c = in.initial[0];
    });
    warp.fence();
    warp.store(out.lowered, warp.fetch_min(m, out.after_min, distinct, a));
    warp.store(out.raised, warp.template fetch_max<order::acq_rel>(m, out.after_max, distinct, a));
    warp.store(out.put, warp.exchange(m, out.after_put, distinct, a));
    warp.template fetch_min<order::release>(m, out.min_of_all, any, a);
    warp.template fetch_max<order::relaxed, scope::team>(m, out.max_of_all, any, a);
    store_uniform<T>(warp, out.uniform_min, warp.fetch_min(out.cell[0], in.x));
    store_uniform<T>(warp, out.uniform_max, warp.fetch_max(out.cell[1], in.x));
    store_uniform<T>(warp, out.uniform_put, warp.exchange(out.cell[2], in.x));
    warp.template fetch_min<order::acq_rel, scope::device>(out.cell[3], in.x);
    warp.template fetch_max<order::acquire, scope::team>(out.cell[4], in.x);
    warp.template exchange<order::acq_rel, scope::device>(out.cell[5], in.x);
    warp.template exchange<order::relaxed, scope::team>(out.cell[6], in.x);

    // Every lane gets what another one put, or what was there before; the last one's stays.
    const auto got =
        warp.template exchange<order::acq_rel, scope::device>(m, out.cell + 7, indices(0u), a);
    warp.fence();
    const T stays = warp.load(out.cell[7]);
    const auto sum = warp.reduce(warp.map([](T y) { return static_cast<u64>(y); }, got), plus{});
    warp.fence();
    warp.once([&] {
      out.handed_on[0] = sum + static_cast<u64>(stays);
      out.cell[7] = in.initial[0];
    });
  }
  LANEWISE_LEAF_COLD static void expect(const input& in, output& out) {
    for (int i = 0; i < room; ++i) {
      out.after_min[i] = out.after_max[i] = out.after_put[i] = in.initial[i];
      out.min_of_all[i] = out.max_of_all[i] = in.initial[i];
    }
    const auto lower = [](T x, T y) { return x < y ? x : y; };
    const auto higher = [](T x, T y) { return x < y ? y : x; };
    out.handed_on[0] = static_cast<u64>(in.initial[0]);
    for (int i = 0; i < W; ++i) {
      out.lowered[i] = out.raised[i] = out.put[i] = T{};
      out.uniform_min[i] = out.uniform_max[i] = out.uniform_put[i] = in.initial[0];
      if (!lane_in(in.m, i)) continue;
      const u32 p = in.distinct[i], q = in.any[i];
      out.lowered[i] = out.raised[i] = out.put[i] = in.initial[p];
      out.after_min[p] = lower(in.initial[p], in.a[i]);
      out.after_max[p] = higher(in.initial[p], in.a[i]);
      out.after_put[p] = in.a[i];
      out.min_of_all[q] = lower(out.min_of_all[q], in.a[i]);
      out.max_of_all[q] = higher(out.max_of_all[q], in.a[i]);
      out.handed_on[0] += static_cast<u64>(in.a[i]);
    }
    out.cell[0] = out.cell[3] = lower(in.initial[0], in.x);
    out.cell[1] = out.cell[4] = higher(in.initial[0], in.x);
    out.cell[2] = out.cell[5] = out.cell[6] = in.x;
    out.cell[7] = in.initial[0];
  }
  LANEWISE_LEAF_COLD static void compare(checker& c, const output& want, const output& got) {
    c("fetch_min's result", want.lowered, got.lowered);
    c("fetch_max's result", want.raised, got.raised);
    c("exchange's result", want.put, got.put);
    c("fetch_min", want.after_min, got.after_min);
    c("fetch_max", want.after_max, got.after_max);
    c("exchange", want.after_put, got.after_put);
    c("fetch_min with collisions", want.min_of_all, got.min_of_all);
    c("fetch_max with collisions", want.max_of_all, got.max_of_all);
    c("uniform fetch_min's result", want.uniform_min, got.uniform_min);
    c("uniform fetch_max's result", want.uniform_max, got.uniform_max);
    c("uniform exchange's result", want.uniform_put, got.uniform_put);
    c("uniform fetch_min, fetch_max, exchange", want.cell, got.cell);
    c("exchange with collisions", want.handed_on, got.handed_on);
  }
};

/// Racing loads of a line of words, or of packs of words.
template <class T, int W>
struct lines {
  using type = T;
  static constexpr const char* name = "lines";
  static constexpr int instances = 8;
  struct input {
    T line[W];
  };
  struct output {
    T relaxed[W], acquired[W];
  };
  LANEWISE_LEAF_COLD static void fill(random_source& rng, int, input& in) {
    for (T& x : in.line) x = any_value<T>(rng);
  }
  template <class Warp>
  LANEWISE_KERNEL_FUNCTION void operator()(const Warp& warp, const input& in, output& out) const {
    warp.store(out.relaxed, warp.load_relaxed(in.line));
    warp.store(out.acquired, warp.load_acquire(in.line));
  }
  LANEWISE_LEAF_COLD static void expect(const input& in, output& out) {
    for (int i = 0; i < W; ++i) out.relaxed[i] = out.acquired[i] = in.line[i];
  }
  LANEWISE_LEAF_COLD static void compare(checker& c, const output& want, const output& got) {
    c("load_relaxed of a line", want.relaxed, got.relaxed);
    c("load_acquire of a line", want.acquired, got.acquired);
  }
};

/// compare_exchange of 16 bytes, where the backend has that.
template <class T, int W>
struct wide_exchange {
  using type = T;
  static constexpr const char* name = "16-byte exchange";
  static constexpr int instances = 16;
  struct input {
    T there, other, put;
  };
  struct output {
    T seen[W], refused[W], cell[3];
  };
  LANEWISE_LEAF_COLD static void fill(random_source& rng, int instance, input& in) {
    in.there = any_value<T>(rng);
    in.put = any_value<T>(rng);
    // Half of it equal: both halves count.
    in.other = in.there;
    reinterpret_cast<unsigned char*>(&in.other)[instance % 16] ^= 1;
  }
  template <class Warp>
  LANEWISE_KERNEL_FUNCTION void operator()(const Warp& warp, const input& in, output& out) const {
    warp.once([&] { out.cell[0] = out.cell[1] = out.cell[2] = in.there; });
    warp.fence();
    if constexpr (Warp::has_wide_exchange) {
      store_uniform<T>(warp, out.seen, warp.compare_exchange(out.cell[1], in.there, in.put));
      store_uniform<T>(
          warp, out.refused,
          warp.template compare_exchange<order::relaxed>(out.cell[2], in.other, in.put));
    } else {
      store_uniform<T>(warp, out.seen, in.there);
      store_uniform<T>(warp, out.refused, in.there);
      warp.once([&] { out.cell[1] = in.put; });
    }
    warp.fence();
  }
  LANEWISE_LEAF_COLD static void expect(const input& in, output& out) {
    for (int i = 0; i < W; ++i) out.seen[i] = out.refused[i] = in.there;
    out.cell[0] = out.cell[2] = in.there;
    out.cell[1] = in.put;
  }
  LANEWISE_LEAF_COLD static void compare(checker& c, const output& want, const output& got) {
    c("what was there", want.seen, got.seen);
    c("what was there when it fails", want.refused, got.refused);
    c("memory", want.cell, got.cell);
  }
};

/// once, and warp-uniform racing accesses.
template <class T, int W>
struct uniform {
  using type = T;
  static constexpr const char* name = "uniform effects";
  static constexpr int instances = 8;
  struct input {
    T first, second, third, step;
  };
  struct output {
    T once[W], loaded[W], acquired[W], added[W], exchanged[W], refused[W], stored[4];
    record structure[W];
    u32 calls[2], order[1];
  };
  LANEWISE_LEAF_COLD static void fill(random_source& rng, int, input& in) {
    in.first = static_cast<T>(rng.below(50));
    in.second = static_cast<T>(in.first + T(1));
    in.third = static_cast<T>(rng.below(100));
    in.step = static_cast<T>(1 + rng.below(20));
  }
  template <class Warp>
  LANEWISE_KERNEL_FUNCTION void operator()(const Warp& warp, const input& in, output& out) const {
    u32* calls = out.calls;
    const T first = in.first;
    store_uniform<T>(warp, out.once, warp.once([=] {
      count_up(calls);
      return first;
    }));
    warp.once([=] { count_up(calls + 1); });
    store_uniform<record>(warp, out.structure, warp.once([] { return record{1, 2.5f, 3}; }));

    T* cell = out.stored;
    warp.store(cell[0], in.first);
    warp.fence();
    store_uniform<T>(warp, out.loaded, warp.load(cell[0]));
    warp.template store<order::release, scope::team>(cell[1], in.second);
    warp.fence();
    store_uniform<T>(warp, out.acquired, warp.template load<order::acquire, scope::team>(cell[1]));
    store_uniform<T>(warp, out.added, warp.fetch_add(cell[0], in.step));
    warp.template fetch_add<order::acq_rel, scope::device>(cell[0], in.step);
    warp.store(cell[2], in.third);
    store_uniform<T>(warp, out.exchanged, warp.compare_exchange(cell[2], in.third, in.first));
    store_uniform<T>(
        warp, out.refused,
        warp.template compare_exchange<order::relaxed, scope::device>(cell[1], in.first, in.third));
    // Effects of one warp keep their order.
    warp.store(out.order[0], 1u);
    warp.pause();
    warp.fetch_add(out.order[0], 10u);
    warp.fence();
  }
  LANEWISE_LEAF_COLD static void expect(const input& in, output& out) {
    out.calls[0] += 1;
    out.calls[1] += 1;
    for (int i = 0; i < W; ++i) {
      out.once[i] = out.loaded[i] = out.added[i] = in.first;
      out.acquired[i] = out.refused[i] = in.second;
      out.exchanged[i] = in.third;
      out.structure[i] = record{1, 2.5f, 3};
    }
    out.stored[0] = static_cast<T>(in.first + in.step + in.step);
    out.stored[1] = in.second;
    out.stored[2] = in.first;
    out.order[0] = 11;
  }
  LANEWISE_LEAF_COLD static void compare(checker& c, const output& want, const output& got) {
    c("once", want.once, got.once);
    c("once, a struct", want.structure, got.structure);
    c("calls of once", want.calls, got.calls);
    c("load", want.loaded, got.loaded);
    c("load<acquire>", want.acquired, got.acquired);
    c("fetch_add's result", want.added, got.added);
    c("compare_exchange's result", want.exchanged, got.exchanged);
    c("compare_exchange's result when it fails", want.refused, got.refused);
    c("memory after store, fetch_add, compare_exchange", want.stored, got.stored);
    c("order of effects", want.order, got.order);
  }
};

// ---------------------------------------------------------------------------------------------------------------
// Cooperation and sub-warps

/// cooperate: the task of lane s needs rounds[s] issues. Every issue loads a line of W values,
/// which the matching resolve has to find in its state.
template <int depth, int W>
struct cooperation {
  using type = u32;
  static constexpr const char* name = depth == 1   ? "cooperate<1>"
                                      : depth == 2 ? "cooperate<2>"
                                      : depth == 4 ? "cooperate<4>"
                                                   : "cooperate<8>";
  static constexpr int instances = 32;
  static constexpr int log_room = 4 * W;
  struct input {
    u32 line[2 * W];
    u32 rounds[W];
    u64 m;
  };
  struct output {
    u32 issued[W], resolved[W], wrong[1], most_in_flight[1], total[1];
    u32 log[log_room];  // the order of tasks, for depth 1 only
  };
  LANEWISE_LEAF_COLD static void fill(random_source& rng, int instance, input& in) {
    for (u32& x : in.line) x = static_cast<u32>(rng.below(1000));
    in.m = random_mask(rng, instance, W);
    for (u32& x : in.rounds) x = static_cast<u32>(instance < 8 ? 1 : 1 + rng.below(4));
  }
  template <class Warp>
  LANEWISE_KERNEL_FUNCTION void operator()(const Warp& warp, const input& in, output& out) const {
    warp.store(out.issued, lanes_of<Warp, u32>(0u));
    warp.store(out.resolved, lanes_of<Warp, u32>(0u));
    warp.fence();
    struct state {
      lanes_of<Warp, u32> line;
      int source;
    };
    u32 position = 0, in_flight = 0, most = 0, wrong = 0;
    warp.template cooperate<depth>(
        mask_from<u32>(warp, in.m),
        [&](int source) {
          ++in_flight;
          most = most < in_flight ? in_flight : most;
          warp.fetch_add(out.issued[source], 1u);
          return state{warp.load(in.line + source), source};
        },
        [&](int source, const state& s) {
          --in_flight;
          if (s.source != source) wrong |= 1;
          if (!warp.all(s.line == warp.load(in.line + source))) wrong |= 2;
          const u32 at = position++;
          if (depth == 1 && at < log_room) {
            warp.once([&] { out.log[at] = static_cast<u32>(source); });
          }
          // A backend that goes wrong here must still come to an end.
          return warp.fetch_add(out.resolved[source], 1u) + 1 >= in.rounds[source] ||
                 at >= log_room;
        });
    if (in_flight != 0) wrong |= 4;
    warp.once([&] {
      out.wrong[0] = wrong;
      out.most_in_flight[0] = most;
      out.total[0] = position;
    });
  }
  LANEWISE_LEAF_COLD static void expect(const input& in, output& out) {
    const u32 active = static_cast<u32>(bit_count(in.m));
    u32 position = 0;
    for (int i = 0; i < W; ++i) {
      out.issued[i] = out.resolved[i] = lane_in(in.m, i) ? in.rounds[i] : 0;
      for (u32 r = 0; r < out.issued[i]; ++r) {
        if (depth == 1) out.log[position] = static_cast<u32>(i);
        ++position;
      }
    }
    out.wrong[0] = 0;
    out.total[0] = position;
    out.most_in_flight[0] = active < depth ? active : depth;
  }
  LANEWISE_LEAF_COLD static void compare(checker& c, const output& want, const output& got) {
    c("issues of each lane's task", want.issued, got.issued);
    c("resolves of each lane's task", want.resolved, got.resolved);
    c("order of tasks", want.log, got.log);
    c("state (1: other source, 2: other lines, 4: not resolved)", want.wrong, got.wrong);
    c("tasks in flight", want.most_in_flight, got.most_in_flight);
    c("number of resolves", want.total, got.total);
  }
};

/// split, take and put: every sub-warp turns its part of the parent's values round.
template <class T, int w, int W>
struct parts {
  using type = T;
  static constexpr const char* name = w == 2    ? "split<2>"
                                      : w == 4  ? "split<4>"
                                      : w == 8  ? "split<8>"
                                      : w == 16 ? "split<16>"
                                                : "split<32>";
  static constexpr int instances = 16;
  struct input {
    T a[W];
    u64 m;
  };
  struct output {
    T turned[W];
    u32 counted[W], index[W], calls[1];
  };
  LANEWISE_LEAF_COLD static void fill(random_source& rng, int instance, input& in) {
    for (T& x : in.a) x = any_value<T>(rng);
    in.m = random_mask(rng, instance, W);
  }
  template <class Warp>
  LANEWISE_KERNEL_FUNCTION void operator()(const Warp& warp, const input& in, output& out) const {
    const auto a = warp.load(in.a);
    const auto m = mask_from<T>(warp, in.m);
    const auto lane = warp.lane();
    auto turned = a;
    auto counted = lane, index = lane;
    u32* calls = out.calls;
    warp.template split<w>([&](const auto& sub) {
      using sub_warp = std::remove_cvref_t<decltype(sub)>;
      static_assert(sub_warp::width == w);
      const lanes_of<sub_warp, T> part = sub.take(a);
      sub.put(turned, sub.shuffle_xor(part, w - 1));
      sub.put(counted, lanes_of<sub_warp, u32>(static_cast<u32>(sub.count(sub.take(m)))));
      sub.put(index, sub.lane());
      sub.once([&] { count_up(calls); });
    });
    warp.store(out.turned, turned);
    warp.store(out.counted, counted);
    warp.store(out.index, index);
  }
  LANEWISE_LEAF_COLD static void expect(const input& in, output& out) {
    for (int i = 0; i < W; ++i) {
      out.turned[i] = in.a[i ^ (w - 1)];
      out.counted[i] = static_cast<u32>(bit_count((in.m >> (i / w * w)) & all_bits(w)));
      out.index[i] = static_cast<u32>(i % w);
    }
    out.calls[0] += W / w;
  }
  LANEWISE_LEAF_COLD static void compare(checker& c, const output& want, const output& got) {
    c("take, shuffle_xor, put", want.turned, got.turned);
    c("take(mask), count, put", want.counted, got.counted);
    c("lane", want.index, got.index);
    c("number of sub-warps", want.calls, got.calls);
  }
};

/// cooperate_in_step: the task of lane s needs rounds[s] steps; sub-warps without a task come
/// along.
template <int depth, int W>
struct cooperation_in_step {
  using type = u32;
  static constexpr const char* name = depth == 1 ? "cooperate_in_step<1>" : "cooperate_in_step<4>";
  static constexpr int instances = 32;
  struct input {
    u32 line[2 * W];
    u32 rounds[W];
    u64 m;
  };
  struct output {
    u32 resolved[W], wrong[1];
  };
  LANEWISE_LEAF_COLD static void fill(random_source& rng, int instance, input& in) {
    for (u32& x : in.line) x = static_cast<u32>(rng.below(1000));
    in.m = random_mask(rng, instance, W);
    for (u32& x : in.rounds) x = static_cast<u32>(1 + rng.below(4));
  }
  template <class Warp>
  LANEWISE_KERNEL_FUNCTION void operator()(const Warp& warp, const input& in, output& out) const {
    warp.store(out.resolved, lanes_of<Warp, u32>(0u));
    warp.fence();
    bool wrong = false;
    const auto active = mask_from<u32>(warp, in.m);
    int tasks = warp.count(active);
    warp.template cooperate_in_step<depth>(
        active, [&](int source) { return warp.load(in.line + source); },
        [&](int source, const lanes_of<Warp, u32>& line, bool live) {
          if (!warp.anywhere(live)) wrong = true;
          if (!warp.all(line == warp.load(in.line + source))) wrong = true;
          const u32 before = warp.load(out.resolved[source]);
          const u32 after = live ? before + 1 : before;
          const u32 seen = warp.compare_exchange(out.resolved[source], before, after);
          if (seen != before) wrong = true;
          const bool done = before + 1 >= in.rounds[source];
          if (live && done) --tasks;
          return done;
        });
    if (warp.anywhere(tasks != 0)) wrong = true;
    warp.once([&] { out.wrong[0] = wrong; });
  }
  LANEWISE_LEAF_COLD static void expect(const input& in, output& out) {
    for (int i = 0; i < W; ++i) out.resolved[i] = lane_in(in.m, i) ? in.rounds[i] : 0;
    out.wrong[0] = 0;
  }
  LANEWISE_LEAF_COLD static void compare(checker& c, const output& want, const output& got) {
    c("steps of each lane's task", want.resolved, got.resolved);
    c("state", want.wrong, got.wrong);
  }
};

/// Runs another case in every sub-warp of w lanes, each with data of its own; in step if asked to.
template <class Case, int w, int W, bool in_step = false>
struct in_parts {
  using type = typename Case::type;
  static constexpr const char* name = Case::name;
  static constexpr int instances = (Case::instances * w + W - 1) / W;
  struct input {
    typename Case::input part[W / w];
  };
  struct output {
    typename Case::output part[W / w];
  };
  LANEWISE_LEAF_COLD static void fill(random_source& rng, int instance, input& in) {
    for (int g = 0; g < W / w; ++g)
      Case::fill(rng, (instance * (W / w) + g) % Case::instances, in.part[g]);
  }
  template <class Warp>
  LANEWISE_KERNEL_FUNCTION void operator()(const Warp& warp, const input& in, output& out) const {
    const auto lane = warp.lane();
    const auto run = [&](const auto& sub) {
      const u32 g = sub.broadcast(sub.take(lane), 0) / w;
      Case{}(sub, in.part[g], out.part[g]);
    };
    if constexpr (in_step) {
      warp.template split_in_step<w>(run);
    } else {
      warp.template split<w>(run);
    }
  }
  LANEWISE_LEAF_COLD static void expect(const input& in, output& out) {
    for (int g = 0; g < W / w; ++g) Case::expect(in.part[g], out.part[g]);
  }
  LANEWISE_LEAF_COLD static void compare(checker& c, const output& want, const output& got) {
    for (int g = 0; g < W / w; ++g) Case::compare(c, want.part[g], got.part[g]);
  }
};

// ---------------------------------------------------------------------------------------------------------------
// What is run: Run::one<Case>() for every case of a warp of W lanes

template <class T, int W, class Run>
void reductions_of(Run& run) {
  run.template one<scans<T, leftmost, true, W>>();
  run.template one<scans<T, rightmost, true, W>>();
  if constexpr (std::is_arithmetic_v<T>) {
    run.template one<scans<T, plus, false, W>>();
    run.template one<scans<T, multiplies, false, W>>();
    run.template one<scans<T, minimum, false, W>>();
    run.template one<scans<T, maximum, false, W>>();
  }
  if constexpr (std::is_integral_v<T>) {
    run.template one<scans<T, bit_and, false, W>>();
    run.template one<scans<T, bit_or, false, W>>();
    run.template one<scans<T, bit_xor, false, W>>();
  }
  if constexpr (requires(T x) { x.scale; }) {
    run.template one<scans<T, compose, true, W>>();
    run.template one<scans<T, compose, false, W>>();
  }
}

template <class T, int W, class Run>
void cases_of_values(Run& run) {
  if constexpr (std::is_arithmetic_v<T>) {
    run.template one<arithmetic<T, W>>();
    run.template one<casts<T, W>>();
  }
  run.template one<votes<T, W>>();
  run.template one<mapping<T, W>>();
  run.template one<movement<T, W>>();
  run.template one<contiguous<T, W>>();
  run.template one<indexed<T, u32, W>>();
}

/// Warps of one lane, which scalar code is.
template <int W, class Run>
void cases_of_one_lane(Run& run) {
  run.template one<in_parts<arithmetic<u32, 1>, 1, W>>();
  run.template one<in_parts<mapping<u32, 1>, 1, W>>();
  run.template one<in_parts<votes<u32, 1>, 1, W>>();
  run.template one<in_parts<votes<u64, 1>, 1, W>>();
  run.template one<in_parts<movement<u64, 1>, 1, W>>();
  run.template one<in_parts<contiguous<u32, 1>, 1, W>>();
  run.template one<in_parts<indexed<u64, u32, 1>, 1, W>>();
  run.template one<in_parts<atomics<u32, 1>, 1, W>>();
  run.template one<in_parts<bitwise_atomics<u32, 1>, 1, W>>();
  run.template one<in_parts<ordered_atomics<i64, 1>, 1, W>>();
  run.template one<in_parts<lines<pack<u64, 16>, 1>, 1, W>>();
  run.template one<in_parts<wide_exchange<quad, 1>, 1, W>>();
  run.template one<in_parts<uniform<u64, 1>, 1, W>>();
  run.template one<in_parts<cooperation<1, 1>, 1, W>>();
}

template <int w, int W, class Run>
void cases_of_parts(Run& run) {
  if constexpr (w < W) {
    run.template one<parts<u8, w, W>>();
    run.template one<parts<u32, w, W>>();
    run.template one<parts<u64, w, W>>();
    run.template one<parts<double, w, W>>();
    run.template one<parts<record, w, W>>();
    run.template one<in_parts<arithmetic<u32, w>, w, W>>();
    run.template one<in_parts<arithmetic<u8, w>, w, W>>();
    run.template one<in_parts<arithmetic<double, w>, w, W>>();
    run.template one<in_parts<mapping<u16, w>, w, W>>();
    run.template one<in_parts<votes<u32, w>, w, W>>();
    run.template one<in_parts<votes<u64, w>, w, W>>();
    run.template one<in_parts<votes<u8, w>, w, W>>();
    run.template one<in_parts<movement<u8, w>, w, W>>();
    run.template one<in_parts<movement<u32, w>, w, W>>();
    run.template one<in_parts<movement<u64, w>, w, W>>();
    run.template one<in_parts<movement<record, w>, w, W>>();
    run.template one<in_parts<scans<u32, plus, false, w>, w, W>>();
    run.template one<in_parts<scans<u8, maximum, false, w>, w, W>>();
    run.template one<in_parts<scans<u64, minimum, false, w>, w, W>>();
    run.template one<in_parts<scans<float, plus, false, w>, w, W>>();
    run.template one<in_parts<scans<affine<u32>, compose, true, w>, w, W>>();
    run.template one<in_parts<matching<u16, w>, w, W>>();
    run.template one<in_parts<matching<u32, w>, w, W>>();
    run.template one<in_parts<matching<u64, w>, w, W>>();
    run.template one<in_parts<buckets<w>, w, W>>();
    run.template one<in_parts<contiguous<u8, w>, w, W>>();
    run.template one<in_parts<contiguous<u32, w>, w, W>>();
    run.template one<in_parts<contiguous<u64, w>, w, W>>();
    run.template one<in_parts<contiguous<triple, w>, w, W>>();
    run.template one<in_parts<indexed<u32, u32, w>, w, W>>();
    run.template one<in_parts<indexed<u64, u32, w>, w, W>>();
    run.template one<in_parts<atomics<u32, w>, w, W>>();
    run.template one<in_parts<atomics<entry, w>, w, W>>();
    run.template one<in_parts<uniform<u32, w>, w, W>>();
    run.template one<in_parts<cooperation<1, w>, w, W>>();
    run.template one<in_parts<cooperation<4, w>, w, W>>();
  }
}

/// Sub-warps in step, which have the same operations. Not those whose calls follow from their
/// values: buckets, whose number says how many ballots there are.
template <int w, int W, class Run>
void cases_in_step(Run& run) {
  run.template one<in_parts<votes<u32, w>, w, W, true>>();
  run.template one<in_parts<votes<u64, w>, w, W, true>>();
  run.template one<in_parts<mapping<u16, w>, w, W, true>>();
  run.template one<in_parts<movement<u32, w>, w, W, true>>();
  run.template one<in_parts<movement<record, w>, w, W, true>>();
  run.template one<in_parts<scans<u32, plus, false, w>, w, W, true>>();
  run.template one<in_parts<scans<affine<u32>, compose, true, w>, w, W, true>>();
  run.template one<in_parts<matching<u64, w>, w, W, true>>();
  run.template one<in_parts<contiguous<u64, w>, w, W, true>>();
  run.template one<in_parts<indexed<u32, u32, w>, w, W, true>>();
  run.template one<in_parts<atomics<u32, w>, w, W, true>>();
  run.template one<in_parts<uniform<u32, w>, w, W, true>>();
  run.template one<in_parts<wide_exchange<quad, w>, w, W, true>>();
  run.template one<in_parts<cooperation_in_step<1, w>, w, W, true>>();
  run.template one<in_parts<cooperation_in_step<4, w>, w, W, true>>();
}

/// For backends whose code does not depend on the type, and for widths that share their code with
/// 32 lanes: one type of each size and kind.
template <int W, class Run>
void some_cases(Run& run) {
  cases_of_values<u8, W>(run);
  cases_of_values<i16, W>(run);
  cases_of_values<u32, W>(run);
  cases_of_values<double, W>(run);
  cases_of_values<record, W>(run);
  reductions_of<u8, W>(run);
  reductions_of<i32, W>(run);
  reductions_of<u64, W>(run);
  reductions_of<float, W>(run);
  reductions_of<record, W>(run);
  reductions_of<affine<u32>, W>(run);
  run.template one<fixed_orders<float, plus, false, W>>();
  run.template one<fixed_orders<affine<u32>, compose, true, W>>();
  run.template one<matching<u8, W>>();
  run.template one<matching<u64, W>>();
  run.template one<matching<triple, W>>();
  run.template one<buckets<W>>();
  run.template one<item_by_item<pack<i16, 2>, W>>();
  run.template one<item_by_item<pack<u8, 8>, W>>();
  run.template one<indexed<u32, u64, W>>();
  run.template one<indexed<record, i32, W>>();
  run.template one<atomics<u32, W>>();
  run.template one<atomics<double, W>>();
  run.template one<atomics<entry, W>>();
  run.template one<lines<pack<u64, 2>, W>>();
  run.template one<bitwise_atomics<u32, W>>();
  run.template one<ordered_atomics<i32, W>>();
  run.template one<ordered_atomics<u64, W>>();
  run.template one<uniform<u64, W>>();
  run.template one<cooperation<1, W>>();
  run.template one<cooperation<2, W>>();
  run.template one<cooperation<4, W>>();
  run.template one<cooperation<8, W>>();
  cases_of_parts<W / 2, W>(run);
  cases_in_step<W / 2, W>(run);
}

template <int W, class Run>
void all_cases(Run& run) {
  cases_of_values<u8, W>(run);
  cases_of_values<u16, W>(run);
  cases_of_values<u32, W>(run);
  cases_of_values<u64, W>(run);
  cases_of_values<i8, W>(run);
  cases_of_values<i16, W>(run);
  cases_of_values<i32, W>(run);
  cases_of_values<i64, W>(run);
  cases_of_values<float, W>(run);
  cases_of_values<double, W>(run);
  cases_of_values<record, W>(run);
  cases_of_values<triple, W>(run);
  cases_of_values<bytes4, W>(run);
  cases_of_values<halves2, W>(run);
  cases_of_values<quad, W>(run);
  cases_of_values<wide, W>(run);

  reductions_of<u8, W>(run);
  reductions_of<u16, W>(run);
  reductions_of<u32, W>(run);
  reductions_of<u64, W>(run);
  reductions_of<i8, W>(run);
  reductions_of<i16, W>(run);
  reductions_of<i32, W>(run);
  reductions_of<i64, W>(run);
  reductions_of<float, W>(run);
  reductions_of<double, W>(run);
  reductions_of<record, W>(run);
  reductions_of<triple, W>(run);
  reductions_of<bytes4, W>(run);
  reductions_of<wide, W>(run);
  reductions_of<affine<u8>, W>(run);
  reductions_of<affine<u32>, W>(run);
  reductions_of<affine<u64>, W>(run);

  run.template one<fixed_orders<float, plus, false, W>>();
  run.template one<fixed_orders<float, minimum, false, W>>();
  run.template one<fixed_orders<double, plus, false, W>>();
  run.template one<fixed_orders<double, maximum, false, W>>();
  run.template one<fixed_orders<double, multiplies, true, W>>();
  run.template one<fixed_orders<u8, plus, false, W>>();
  run.template one<fixed_orders<affine<u32>, compose, true, W>>();

  run.template one<matching<u8, W>>();
  run.template one<matching<u16, W>>();
  run.template one<matching<u32, W>>();
  run.template one<matching<u64, W>>();
  run.template one<matching<i8, W>>();
  run.template one<matching<i16, W>>();
  run.template one<matching<i32, W>>();
  run.template one<matching<i64, W>>();
  run.template one<matching<float, W>>();
  run.template one<matching<double, W>>();
  run.template one<matching<triple, W>>();
  run.template one<matching<bytes4, W>>();
  run.template one<matching<entry, W>>();
  run.template one<buckets<W>>();

  run.template one<equality<bytes4, W>>();
  run.template one<equality<halves2, W>>();
  run.template one<equality<quad, W>>();
  run.template one<item_by_item<bytes4, W>>();
  run.template one<item_by_item<halves2, W>>();
  run.template one<item_by_item<pack<i8, 4>, W>>();
  run.template one<item_by_item<pack<i16, 2>, W>>();
  run.template one<item_by_item<pack<u8, 8>, W>>();
  run.template one<item_by_item<pack<i16, 8>, W>>();

  run.template one<indexed<u32, u64, W>>();
  run.template one<indexed<u32, i32, W>>();
  run.template one<indexed<u8, u64, W>>();
  run.template one<indexed<double, u64, W>>();
  run.template one<indexed<record, i32, W>>();

  run.template one<atomics<u32, W>>();
  run.template one<atomics<u64, W>>();
  run.template one<atomics<i32, W>>();
  run.template one<atomics<i64, W>>();
  run.template one<atomics<float, W>>();
  run.template one<atomics<double, W>>();
  run.template one<atomics<u8, W>>();
  run.template one<atomics<u16, W>>();
  run.template one<atomics<entry, W>>();
  run.template one<wide_words<quad, W>>();
  run.template one<wide_exchange<quad, W>>();
  run.template one<lines<u32, W>>();
  run.template one<lines<u64, W>>();
  run.template one<lines<quad, W>>();
  run.template one<lines<pack<u64, 2>, W>>();
  run.template one<bitwise_atomics<u32, W>>();
  run.template one<ordered_atomics<i32, W>>();
  run.template one<ordered_atomics<u64, W>>();
  run.template one<bitwise_atomics<u64, W>>();
  run.template one<ordered_atomics<u32, W>>();
  run.template one<ordered_atomics<u64, W>>();
  run.template one<ordered_atomics<i32, W>>();
  run.template one<ordered_atomics<i64, W>>();
  run.template one<in_parts<lines<pack<u64, 2>, 8>, 8, W>>();
  run.template one<in_parts<bitwise_atomics<u32, 8>, 8, W>>();
  run.template one<in_parts<ordered_atomics<i32, 8>, 8, W>>();
  run.template one<in_parts<wide_exchange<quad, 8>, 8, W>>();
  run.template one<uniform<u32, W>>();
  run.template one<uniform<u64, W>>();
  run.template one<uniform<i32, W>>();
  run.template one<uniform<i64, W>>();
  run.template one<uniform<double, W>>();

  run.template one<cooperation<1, W>>();
  run.template one<cooperation<2, W>>();
  run.template one<cooperation<4, W>>();
  run.template one<cooperation<8, W>>();

  cases_of_one_lane<W>(run);
  cases_of_parts<2, W>(run);
  cases_of_parts<4, W>(run);
  cases_of_parts<8, W>(run);
  cases_of_parts<16, W>(run);
  cases_in_step<1, W>(run);
  cases_in_step<4, W>(run);
  // Sub-warps of a sub-warp.
  run.template one<in_parts<in_parts<scans<u32, plus, false, 4>, 4, 16>, 16, W>>();
  run.template one<in_parts<parts<u32, 8, 16>, 16, W>>();
}

}  // namespace leaf
LANEWISE_END_NAMESPACE
