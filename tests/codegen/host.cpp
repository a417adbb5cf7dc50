// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The operations for the SIMD target of this unit's flags, beside versions written with its
// intrinsics by hand. Each function works on `warps` warps, so that it can be timed too.

#include "operations.hpp"
#include <lanewise/simd/warp.hpp>

#include <immintrin.h>

namespace {

using lanewise::codegen::u32;

// A minimum of names for one vector of the target, and the operations in terms of raw intrinsics.
#if defined(__AVX512F__)
#define CODEGEN_TARGET avx512
using vector = __m512i;
#define CODEGEN_INLINE static inline __attribute__((always_inline))
CODEGEN_INLINE vector load(const u32* p) {
  return _mm512_loadu_si512(p);
}
CODEGEN_INLINE void store(u32* p, vector v) {
  _mm512_storeu_si512(p, v);
}
CODEGEN_INLINE vector add(vector a, vector b) {
  return _mm512_add_epi32(a, b);
}
CODEGEN_INLINE vector all(u32 x) {
  return _mm512_set1_epi32(static_cast<int>(x));
}
CODEGEN_INLINE u32 equal_bits(vector a, vector b) {
  return _mm512_cmpeq_epi32_mask(a, b);
}
CODEGEN_INLINE vector select_equal(vector a, vector b, vector yes, vector no) {
  return _mm512_mask_mov_epi32(no, _mm512_cmpeq_epi32_mask(a, b), yes);
}
CODEGEN_INLINE vector exchange_neighbours(vector v) {
  return _mm512_shuffle_epi32(v, static_cast<_MM_PERM_ENUM>(0xb1));
}
/// v moved up by one lane, below it the last lane of `below`.
CODEGEN_INLINE vector up_1(vector v, vector below) {
  return _mm512_alignr_epi32(v, below, 15);
}
CODEGEN_INLINE vector last(vector v) {
  return _mm512_permutexvar_epi32(all(15), v);
}
CODEGEN_INLINE vector scan(vector v) {
  const vector z = _mm512_setzero_si512();
  v = add(v, _mm512_alignr_epi32(v, z, 15));
  v = add(v, _mm512_alignr_epi32(v, z, 14));
  v = add(v, _mm512_alignr_epi32(v, z, 12));
  return add(v, _mm512_alignr_epi32(v, z, 8));
}
CODEGEN_INLINE u32 sum(vector v) {
  return static_cast<u32>(_mm512_reduce_add_epi32(v));
}
/// Bits of the lanes with a bit of `plane`, and all bits of those lanes.
CODEGEN_INLINE u32 plane_bits(vector v, vector plane) {
  return _mm512_test_epi32_mask(v, plane);
}
CODEGEN_INLINE vector agreeing(vector same, u32 vote, vector v, vector plane) {
  const vector set = _mm512_movm_epi32(_mm512_test_epi32_mask(v, plane));
  return _mm512_ternarylogic_epi32(same, all(vote), set, 0x90);  // same & ~(vote ^ set)
}
CODEGEN_INLINE vector populations(vector v, vector mask) {
  return _mm512_popcnt_epi32(_mm512_and_si512(v, mask));
}
#elif defined(__AVX2__)
#define CODEGEN_TARGET avx2
using vector = __m256i;
#define CODEGEN_INLINE static inline __attribute__((always_inline))
CODEGEN_INLINE vector load(const u32* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}
CODEGEN_INLINE void store(u32* p, vector v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v);
}
CODEGEN_INLINE vector add(vector a, vector b) {
  return _mm256_add_epi32(a, b);
}
CODEGEN_INLINE vector all(u32 x) {
  return _mm256_set1_epi32(static_cast<int>(x));
}
CODEGEN_INLINE u32 sign_bits(vector v) {
  return static_cast<u32>(_mm256_movemask_ps(_mm256_castsi256_ps(v)));
}
CODEGEN_INLINE u32 equal_bits(vector a, vector b) {
  return sign_bits(_mm256_cmpeq_epi32(a, b));
}
CODEGEN_INLINE vector select_equal(vector a, vector b, vector yes, vector no) {
  return _mm256_blendv_epi8(no, yes, _mm256_cmpeq_epi32(a, b));
}
CODEGEN_INLINE vector exchange_neighbours(vector v) {
  return _mm256_shuffle_epi32(v, 0xb1);
}
CODEGEN_INLINE vector up_1(vector v, vector below) {
  return _mm256_alignr_epi8(v, _mm256_permute2x128_si256(below, v, 0x21), 12);
}
CODEGEN_INLINE vector last(vector v) {
  return _mm256_permutevar8x32_epi32(v, all(7));
}
CODEGEN_INLINE vector scan(vector v) {
  v = add(v, _mm256_slli_si256(v, 4));
  v = add(v, _mm256_slli_si256(v, 8));
  const vector ends = _mm256_shuffle_epi32(v, 0xff);
  return add(v, _mm256_permute2x128_si256(ends, ends, 0x08));
}
CODEGEN_INLINE u32 sum(vector v) {
  __m128i s = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4e));
  s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0xb1));
  return static_cast<u32>(_mm_cvtsi128_si32(s));
}
CODEGEN_INLINE vector set_lanes(vector v, vector plane) {
  return _mm256_cmpeq_epi32(_mm256_and_si256(v, plane), plane);
}
CODEGEN_INLINE u32 plane_bits(vector v, vector plane) {
  return sign_bits(set_lanes(v, plane));
}
CODEGEN_INLINE vector agreeing(vector same, u32 vote, vector v, vector plane) {
  return _mm256_andnot_si256(_mm256_xor_si256(all(vote), set_lanes(v, plane)), same);
}
CODEGEN_INLINE vector populations(vector v, vector mask) {
  v = _mm256_and_si256(v, mask);
  const vector low = _mm256_set1_epi8(15);
  const vector table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2,
                                        1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
  const vector bytes =
      _mm256_add_epi8(_mm256_shuffle_epi8(table, _mm256_and_si256(v, low)),
                      _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(v, 4), low)));
  return _mm256_madd_epi16(_mm256_maddubs_epi16(bytes, _mm256_set1_epi8(1)), _mm256_set1_epi16(1));
}
CODEGEN_INLINE vector picked(vector v, vector from) {
  return _mm256_permutevar8x32_epi32(v, from);
}
CODEGEN_INLINE void store_first(u32* p, vector v, int count) {
  const vector lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  _mm256_maskstore_epi32(reinterpret_cast<int*>(p),
                         _mm256_cmpgt_epi32(_mm256_set1_epi32(count), lanes), v);
}
#else
#define CODEGEN_TARGET sse4
using vector = __m128i;
#define CODEGEN_INLINE static inline __attribute__((always_inline))
CODEGEN_INLINE vector load(const u32* p) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}
CODEGEN_INLINE void store(u32* p, vector v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v);
}
CODEGEN_INLINE vector add(vector a, vector b) {
  return _mm_add_epi32(a, b);
}
CODEGEN_INLINE vector all(u32 x) {
  return _mm_set1_epi32(static_cast<int>(x));
}
CODEGEN_INLINE u32 sign_bits(vector v) {
  return static_cast<u32>(_mm_movemask_ps(_mm_castsi128_ps(v)));
}
CODEGEN_INLINE u32 equal_bits(vector a, vector b) {
  return sign_bits(_mm_cmpeq_epi32(a, b));
}
CODEGEN_INLINE vector select_equal(vector a, vector b, vector yes, vector no) {
  return _mm_blendv_epi8(no, yes, _mm_cmpeq_epi32(a, b));
}
CODEGEN_INLINE vector exchange_neighbours(vector v) {
  return _mm_shuffle_epi32(v, 0xb1);
}
CODEGEN_INLINE vector up_1(vector v, vector below) {
  return _mm_alignr_epi8(v, below, 12);
}
CODEGEN_INLINE vector last(vector v) {
  return _mm_shuffle_epi32(v, 0xff);
}
CODEGEN_INLINE vector scan(vector v) {
  v = add(v, _mm_slli_si128(v, 4));
  return add(v, _mm_slli_si128(v, 8));
}
CODEGEN_INLINE u32 sum(vector v) {
  v = add(v, _mm_shuffle_epi32(v, 0x4e));
  v = add(v, _mm_shuffle_epi32(v, 0xb1));
  return static_cast<u32>(_mm_cvtsi128_si32(v));
}
CODEGEN_INLINE vector set_lanes(vector v, vector plane) {
  return _mm_cmpeq_epi32(_mm_and_si128(v, plane), plane);
}
CODEGEN_INLINE u32 plane_bits(vector v, vector plane) {
  return sign_bits(set_lanes(v, plane));
}
CODEGEN_INLINE vector agreeing(vector same, u32 vote, vector v, vector plane) {
  return _mm_andnot_si128(_mm_xor_si128(all(vote), set_lanes(v, plane)), same);
}
CODEGEN_INLINE vector populations(vector v, vector mask) {
  v = _mm_and_si128(v, mask);
  const vector low = _mm_set1_epi8(15);
  const vector table = _mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
  const vector bytes =
      _mm_add_epi8(_mm_shuffle_epi8(table, _mm_and_si128(v, low)),
                   _mm_shuffle_epi8(table, _mm_and_si128(_mm_srli_epi16(v, 4), low)));
  return _mm_madd_epi16(_mm_maddubs_epi16(bytes, _mm_set1_epi8(1)), _mm_set1_epi16(1));
}
CODEGEN_INLINE vector picked(vector v, vector from) {
  return _mm_shuffle_epi8(v, from);
}
CODEGEN_INLINE void store_first(u32* p, vector v, int count) {
  if (count & 2) {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), v);
    v = _mm_srli_si128(v, 8);
    p += 2;
  }
  if (count & 1) *p = static_cast<u32>(_mm_cvtsi128_si32(v));
}
#endif

constexpr int n = sizeof(vector) / sizeof(u32);  // lanes per vector
constexpr int k = 32 / n;                        // vectors per warp

#define CODEGEN_EACH(body)                              \
  _Pragma("GCC unroll 8") for (int c = 0; c < k; ++c) { \
    body                                                \
  }

namespace intrinsics {

struct warp {
  vector v[k];
  explicit warp(const u32* p) { CODEGEN_EACH(v[c] = load(p + c * n);) }
};

CODEGEN_INLINE void ballot(const u32* a, const u32* b, u32* out) {
  const warp x(a), y(b);
  u32 bits = 0;
  CODEGEN_EACH(bits |= equal_bits(x.v[c], y.v[c]) << (c * n);)
  *out = bits;
}
CODEGEN_INLINE void select_store(const u32* a, const u32* b, u32* out) {
  const warp x(a), y(b);
  CODEGEN_EACH(store(out + c * n, select_equal(x.v[c], y.v[c], x.v[c], add(x.v[c], y.v[c])));)
}
CODEGEN_INLINE void reduce(const u32* a, const u32*, u32* out) {
  const warp x(a);
  vector s = x.v[0];
  _Pragma("GCC unroll 8") for (int c = 1; c < k; ++c) s = add(s, x.v[c]);
  *out = sum(s);
}
CODEGEN_INLINE void inclusive_scan(const u32* a, const u32*, u32* out) {
  const warp x(a);
  vector carry = all(0);
  CODEGEN_EACH(const vector here = add(scan(x.v[c]), carry); store(out + c * n, here);
               carry = last(here);)
}
CODEGEN_INLINE void exclusive_scan(const u32* a, const u32*, u32* out) {
  const warp x(a);
  vector carry = all(0);
  CODEGEN_EACH(const vector here = add(scan(x.v[c]), carry); store(out + c * n, up_1(here, carry));
               carry = last(here);)
}
CODEGEN_INLINE void shuffle(const u32* a, const u32* b, u32* out) {
#if defined(__AVX512F__)
  const warp x(a), y(b);
  CODEGEN_EACH(store(out + c * n, _mm512_permutex2var_epi32(x.v[0], y.v[c], x.v[1]));)
#elif defined(__AVX2__)
  const warp x(a), y(b);
  CODEGEN_EACH(vector part[k];
               for (int t = 0; t < k; ++t) part[t] = _mm256_permutevar8x32_epi32(x.v[t], y.v[c]);
               const __m256 bit_3 = _mm256_castsi256_ps(_mm256_slli_epi32(y.v[c], 28));
               const __m256 bit_4 = _mm256_castsi256_ps(_mm256_slli_epi32(y.v[c], 27));
               const auto ps = [](vector v) { return _mm256_castsi256_ps(v); };
               store(out + c * n, _mm256_castps_si256(_mm256_blendv_ps(
                                      _mm256_blendv_ps(ps(part[0]), ps(part[1]), bit_3),
                                      _mm256_blendv_ps(ps(part[2]), ps(part[3]), bit_3), bit_4)));)
#else
  u32 copy[32];
  __builtin_memcpy(copy, a, sizeof copy);
  for (int i = 0; i < 32; ++i) out[i] = copy[b[i] & 31];
#endif
}
CODEGEN_INLINE void shuffle_xor(const u32* a, const u32*, u32* out) {
  const warp x(a);
  CODEGEN_EACH(store(out + c * n, exchange_neighbours(x.v[c]));)
}
CODEGEN_INLINE void shuffle_up(const u32* a, const u32*, u32* out) {
  const warp x(a);
  u32 first = a[0];
  store(out, up_1(x.v[0], all(first)));
  _Pragma("GCC unroll 8") for (int c = 1; c < k; ++c) store(out + c * n, up_1(x.v[c], x.v[c - 1]));
}
#define CODEGEN_BELOW_8(i)                                                              \
  (1u << (i)) - 1, (2u << (i)) - 1, (4u << (i)) - 1, (8u << (i)) - 1, (16u << (i)) - 1, \
      (32u << (i)) - 1, (64u << (i)) - 1, (128u << (i)) - 1
alignas(64) constexpr u32 below[32] = {CODEGEN_BELOW_8(0), CODEGEN_BELOW_8(8), CODEGEN_BELOW_8(16),
                                       CODEGEN_BELOW_8(24)};
alignas(64) constexpr u32 lane_numbers[32] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                              11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                              22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
alignas(64) constexpr u32 first_8[32] = {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u};
/// The lanes whose bucket is the number that each lane names. GCC unrolls the loops over planes of
/// the operations up to `unrolled` vectors.
template <int planes, int unrolled = 32>
CODEGEN_INLINE void agree(const warp& bucket, const warp& named, vector (&same)[k]) {
  CODEGEN_EACH(same[c] = all(~0u);)
  const auto by_plane = [&](int p) __attribute__((always_inline)) {
    const vector plane = all(1u << p);
    u32 vote = 0;
    CODEGEN_EACH(vote |= plane_bits(bucket.v[c], plane) << (c * n);)
    CODEGEN_EACH(same[c] = agreeing(same[c], vote, named.v[c], plane);)
  };
  if constexpr (planes * k <= unrolled) {
    _Pragma("GCC unroll 8") for (int p = 0; p < planes; ++p) by_plane(p);
  } else {
    _Pragma("GCC unroll 1") for (int p = 0; p < planes; ++p) by_plane(p);
  }
}
template <int planes>
CODEGEN_INLINE void peers(const u32* b, u32* out) {
  const warp y(b);
  vector same[k];
  agree<planes>(y, y, same);
  CODEGEN_EACH(store(out + c * n, same[c]);)
}
template <int planes>
CODEGEN_INLINE void ranks(const u32* b, u32* out) {
  const warp y(b);
  vector same[k];
  agree<planes>(y, y, same);
  CODEGEN_EACH(store(out + c * n, populations(same[c], load(below + c * n)));)
}
template <int planes>
CODEGEN_INLINE void histogram(const u32* b, u32* out) {
  vector same[k];
  agree<planes, 24>(warp(b), warp(lane_numbers), same);
  CODEGEN_EACH(
      store(out + c * n, populations(same[c], planes == 3 ? load(first_8 + c * n) : all(~0u)));)
}
CODEGEN_INLINE void peers_8(const u32*, const u32* b, u32* out) {
  peers<3>(b, out);
}
CODEGEN_INLINE void peers_256(const u32*, const u32* b, u32* out) {
  peers<8>(b, out);
}
CODEGEN_INLINE void rank_8(const u32*, const u32* b, u32* out) {
  ranks<3>(b, out);
}
CODEGEN_INLINE void rank_256(const u32*, const u32* b, u32* out) {
  ranks<8>(b, out);
}
CODEGEN_INLINE void histogram_8(const u32*, const u32* b, u32* out) {
  histogram<3>(b, out);
}
CODEGEN_INLINE void histogram_256(const u32*, const u32* b, u32* out) {
  histogram<8>(b, out);
}
CODEGEN_INLINE void match_any(const u32*, const u32* b, u32* out) {
  const warp y(b);
  _Pragma("GCC unroll 1") for (int i = 0; i < 32; ++i) {
    const vector mine = all(b[i]);
    u32 same = 0;
    CODEGEN_EACH(same |= equal_bits(y.v[c], mine) << (c * n);)
    out[i] = same;
  }
}
CODEGEN_INLINE void gather(const u32* a, const u32* b, u32* out) {
  _Pragma("GCC unroll 32") for (int i = 0; i < 32; ++i) out[i] = a[b[i]];
}
CODEGEN_INLINE void scatter(const u32* a, const u32* b, u32* out) {
  _Pragma("GCC unroll 32") for (int i = 0; i < 32; ++i) out[b[i]] = a[i];
}
CODEGEN_INLINE void team_add(const u32* a, const u32* b, u32* out) {
  u32 x[32], to[32];
  __builtin_memcpy(x, a, sizeof x);
  __builtin_memcpy(to, b, sizeof to);
  _Pragma("GCC unroll 1") for (int i = 0; i < 32; ++i) out[to[i]] += x[i];
}
CODEGEN_INLINE void team_exchange(const u32* a, const u32* b, u32* out) {
  u32 x[32], y[32], before[32];
  __builtin_memcpy(x, a, sizeof x);
  __builtin_memcpy(y, b, sizeof y);
  _Pragma("GCC unroll 1") for (int i = 0; i < 32; ++i) {
    u32& there = out[y[i]];
    before[i] = there;
    if (there == x[i]) there = x[i] + y[i];
  }
  __builtin_memcpy(out + 32, before, sizeof before);
}
#if defined(__AVX512F__)
CODEGEN_INLINE void compress_store(const u32* a, const u32* b, u32* out) {
  const warp x(a), y(b);
  CODEGEN_EACH(const __mmask16 m = _mm512_cmpeq_epi32_mask(x.v[c], y.v[c]);
               const u32 count = static_cast<u32>(__builtin_popcount(m));
               _mm512_mask_storeu_epi32(out, static_cast<__mmask16>((1u << count) - 1),
                                        _mm512_mask_compress_epi32(x.v[c], m, x.v[c]));
               out += count;)
}
#else
/// For every choice of lanes the places they come from, in order: lanes, or bytes on SSE4.
struct places {
  alignas(32) u32 from[1 << n][n];
};
constexpr places chosen_first = [] {
  places t{};
  for (u32 choice = 0; choice < 1u << n; ++choice) {
    int to = 0;
    for (u32 i = 0; i < n; ++i) {
      if ((choice >> i) & 1) t.from[choice][to++] = n == 8 ? i : i * 0x04040404 + 0x03020100;
    }
  }
  return t;
}();
CODEGEN_INLINE void compress_store(const u32* a, const u32* b, u32* out) {
  const warp x(a), y(b);
  u32 chosen[k];
  int left = 0;
  CODEGEN_EACH(chosen[c] = equal_bits(x.v[c], y.v[c]); left += __builtin_popcount(chosen[c]);)
  CODEGEN_EACH(const vector v = picked(x.v[c], load(chosen_first.from[chosen[c]]));
               const int count = __builtin_popcount(chosen[c]); if (left >= n) store(out, v);
               else store_first(out, v, count); out += count; left -= count;)
}
#endif

}  // namespace intrinsics
}  // namespace

#define CODEGEN_GLUED(a, b, c, d) a##b##c##d
#define CODEGEN_NAME(kind, target, op) CODEGEN_GLUED(kind, target, _, op)
#define CODEGEN_FUNCTION(kind, op, call)                                                       \
  extern "C" void CODEGEN_NAME(kind, CODEGEN_TARGET, op)(const u32* a, const u32* b, u32* out, \
                                                         long warps) {                         \
    for (; warps > 0; --warps, a += 32, b += 32, out += 32) call;                              \
  }
#define CODEGEN_LANEWISE(op)      \
  CODEGEN_FUNCTION(lanewise_, op, \
                   lanewise::codegen::op{}(lanewise::backends::simd::warp<32>(), a, b, out))
#define CODEGEN_INTRINSICS(op) CODEGEN_FUNCTION(intrinsics_, op, intrinsics::op(a, b, out))

LANEWISE_CODEGEN_OPERATIONS(CODEGEN_LANEWISE)
LANEWISE_CODEGEN_WRITTEN(CODEGEN_INTRINSICS)
LANEWISE_CODEGEN_HOST(CODEGEN_LANEWISE)
LANEWISE_CODEGEN_HOST(CODEGEN_INTRINSICS)
