// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/pack.hpp>
#include <lanewise/ordered/detail/ordered_layout.hpp>

#include <cstdint>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// How a B+ tree that kernels change in place keeps its nodes. A node is one line of 128 bytes, or
/// two: as many words as fit, each of 4 bytes, or of 8 where the key or the value needs them. In
/// the first half are keys, ascending, and after them the node's state; in the second half what
/// goes with each key. In a leaf that is its value, in an inner node the number of a child.
///
///   words          4 bytes, one line    4, two    8, one    8, two
///   elements       15                   31        7         15
///
/// Child i of an inner node has the keys from key i on, child 0 also those below key 1. A node of
/// two lines is the thesis's, a line of keys and a line of values or children (Hubaut, 5.7). It
/// differs only in the state, which takes the place of one key.
///
/// The state has four parts: 1 bit that says that a thread is writing the node; 1 bit that says
/// that it is inner; 6 bits that count its elements; and the number of times that it was written.
/// The latter comes round after 2^24 writes (with words of 8 bytes: 2^56): a reader that slept for
/// exactly this number of writes to one node would not see that they happened.
template <class Key, class Value, int node_bytes>
struct btree_layout {
  static_assert(node_bytes == 128 || node_bytes == 256,
                "lanewise: nodes of a B+ tree have 128 or 256 bytes");
  using elements = ordered_layout<Key, Value>;
  using key_word = typename elements::word;
  using value_word = typename elements::value_word;
  static constexpr bool has_values = elements::has_values;
  using word = std::conditional_t<sizeof(key_word) == 8 || sizeof(value_word) == 8, std::uint64_t,
                                  std::uint32_t>;
  static constexpr int words = node_bytes / static_cast<int>(sizeof(word));
  static constexpr int half = words / 2;
  static constexpr int most = half - 1;  ///< elements of a node
  static constexpr int state_at = most;
  using node = pack<word, words>;

  static constexpr word writing = 1;
  static constexpr word inner = 2;
  static constexpr word one = 4;  ///< element
  static constexpr word once = 256;

  static LANEWISE_FUNCTION int count(word state) { return static_cast<int>(state / one % 64); }
  static LANEWISE_FUNCTION bool is_inner(word state) { return (state & inner) != 0; }
  static LANEWISE_FUNCTION word with_count(word state, int n) {
    return (state & ~(63 * one)) | static_cast<word>(n) * one;
  }
  /// The state that a write leaves.
  static LANEWISE_FUNCTION word written(word state) {
    return static_cast<word>((state & ~writing) + once);
  }

  // A node in registers, of a GPU or of vectors: indices are known when the code is compiled, or
  // else compared with the known ones.

  /// How many keys are less than k; with `upper`, not greater. From the one at `from` on.
  template <bool upper, int from = 0>
  static LANEWISE_FUNCTION int rank(const node& n, word k) {
    const int elements = count(n[state_at]);
    int r = 0;
    LANEWISE_UNROLL
    for (int i = from; i < most; ++i)
      r += static_cast<int>((i < elements) & (upper ? n[i] <= k : n[i] < k));
    return r;
  }
  template <int from>
  static LANEWISE_FUNCTION word pick(const node& n, int i) {
    word x = 0;
    LANEWISE_UNROLL
    for (int j = 0; j < most; ++j) x |= j == i ? n[from + j] : word{0};
    return x;
  }
  static LANEWISE_FUNCTION word key(const node& n, int i) { return pick<0>(n, i); }
  static LANEWISE_FUNCTION word item(const node& n, int i) { return pick<half>(n, i); }
  static LANEWISE_FUNCTION bool is_at(const node& n, int i, word k) {
    return i < count(n[state_at]) && key(n, i) == k;
  }
  /// The node with an element before the one at i. There is room.
  static LANEWISE_FUNCTION node with_element(const node& n, int i, word k, word x) {
    node out = n;
    LANEWISE_UNROLL
    for (int j = 0; j < most; ++j) {
      const int before = j > 0 ? j - 1 : 0;
      out[j] = j < i ? n[j] : j == i ? k : n[before];
      out[half + j] = j < i ? n[half + j] : j == i ? x : n[half + before];
    }
    out[state_at] = n[state_at] + one;
    return out;
  }
  static LANEWISE_FUNCTION node without_element(const node& n, int i) {
    node out = n;
    LANEWISE_UNROLL
    for (int j = 0; j + 1 < most; ++j) {
      out[j] = j < i ? n[j] : n[j + 1];
      out[half + j] = j < i ? n[half + j] : n[half + j + 1];
    }
    out[state_at] = n[state_at] - one;
    return out;
  }
  /// The upper half of a full node, as a node of its own; the lower one has `kept` elements.
  static constexpr int kept = (most + 1) / 2;
  static LANEWISE_FUNCTION node upper_half(const node& n) {
    node u = n;
    LANEWISE_UNROLL
    for (int j = 0; j + kept < most; ++j) {
      u[j] = n[j + kept];
      u[half + j] = n[half + j + kept];
    }
    u[state_at] = with_count(n[state_at] & inner, most - kept);
    return u;
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
