// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

// What the algorithms must compute, in the plainest way.

namespace test::oracle {

template <class T, class In, class Op>
T reduce(const std::vector<In>& in, Op op, T init) {
  T sum = init;
  for (const In& x : in) sum = op(sum, static_cast<T>(x));
  return sum;
}

template <class T, class Op>
std::vector<T> inclusive_scan(const std::vector<T>& in, Op op) {
  std::vector<T> out;
  for (const T& x : in) out.push_back(out.empty() ? x : op(out.back(), x));
  return out;
}

template <class T, class In, class Op>
std::vector<T> exclusive_scan(const std::vector<In>& in, T init, Op op) {
  std::vector<T> out;
  T sum = init;
  for (const In& x : in) {
    out.push_back(sum);
    sum = op(sum, static_cast<T>(x));
  }
  return out;
}

template <class Out, class In, class F>
std::vector<Out> transform(const std::vector<In>& in, F f) {
  std::vector<Out> out;
  for (const In& x : in) out.push_back(f(x));
  return out;
}

struct split {
  std::vector<std::int64_t> index;    ///< the input index of every output
  std::vector<std::int64_t> offsets;  ///< where every bucket begins, and the number of items kept
  std::uint64_t bad_items;
};

template <class Key, class BucketOf>
split multisplit(const std::vector<Key>& keys, std::int64_t buckets, BucketOf bucket_of) {
  std::vector<std::vector<std::int64_t>> bucket(static_cast<std::size_t>(buckets));
  split result{{}, {0}, 0};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto b = static_cast<std::int64_t>(bucket_of(keys[i]));
    if (b < 0 || b >= buckets) {
      ++result.bad_items;
    } else {
      bucket[static_cast<std::size_t>(b)].push_back(static_cast<std::int64_t>(i));
    }
  }
  for (const auto& items : bucket) {
    result.index.insert(result.index.end(), items.begin(), items.end());
    result.offsets.push_back(static_cast<std::int64_t>(result.index.size()));
  }
  return result;
}

template <class T>
std::vector<T> gather(const std::vector<T>& from, const std::vector<std::int64_t>& index) {
  std::vector<T> out;
  for (const std::int64_t i : index) out.push_back(from[static_cast<std::size_t>(i)]);
  return out;
}

}  // namespace test::oracle

namespace test {

/// Empty when the vectors are equal, else the first difference in words.
template <class T>
std::string difference(const std::vector<T>& actual, const std::vector<T>& expected) {
  std::ostringstream text;
  if (actual.size() != expected.size()) {
    text << actual.size() << " items, not " << expected.size();
    return text.str();
  }
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (actual[i] == expected[i]) continue;
    if constexpr (sizeof(T) == 1) {
      text << "item " << i << " of " << actual.size() << " is " << int(actual[i]) << ", not "
           << int(expected[i]);
    } else {
      text << "item " << i << " of " << actual.size() << " is " << actual[i] << ", not "
           << expected[i];
    }
    break;
  }
  return text.str();
}

/// As above for the first items, the others being what was there before.
template <class T>
std::string difference(const std::vector<T>& actual, std::vector<T> expected,
                       const std::vector<T>& before) {
  if (expected.size() < before.size())
    expected.insert(expected.end(), before.begin() + static_cast<std::ptrdiff_t>(expected.size()),
                    before.end());
  return difference(actual, expected);
}

/// The text of the std::invalid_argument that f throws.
template <class F>
std::string refusal(F f) {
  try {
    f();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing was refused";
}

}  // namespace test
