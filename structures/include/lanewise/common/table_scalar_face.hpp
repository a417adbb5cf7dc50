// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/common/table_vocabulary.hpp>

#include <cstdint>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE

/// The scalar face of tables in order: operations of one thread, under any divergence and without
/// the help of others. Solo is a warp of one lane. Functions are those of the table's view, for one
/// key.
template <class View, class Solo>
class table_scalar_face {
 public:
  using key_type = typename View::key_type;
  using value_type = typename View::value_type;

  LANEWISE_FUNCTION explicit table_scalar_face(const View& table) : table_(table) {}

  LANEWISE_FUNCTION table_status find(const key_type& key, value_type& value) const {
    return one(value, [&](auto& v) { return table_.find(solo_, all(), keys(key), v); });
  }
  LANEWISE_FUNCTION bool contains(const key_type& key) const {
    value_type unused{};
    return find(key, unused) == table_status::found;
  }
  LANEWISE_FUNCTION table_status insert(const key_type& key, value_type& value) const {
    return one(value, [&](auto& v) { return table_.insert(solo_, all(), keys(key), v); });
  }
  LANEWISE_FUNCTION table_status assign(const key_type& key, value_type& value) const {
    return one(value, [&](auto& v) { return table_.assign(solo_, all(), keys(key), v); });
  }
  template <class Combine>
  LANEWISE_FUNCTION table_status upsert(const key_type& key, value_type& value,
                                        const Combine& combine) const {
    return one(value, [&](auto& v) { return table_.upsert(solo_, all(), keys(key), v, combine); });
  }
  LANEWISE_FUNCTION table_status erase(const key_type& key, value_type& value) const {
    return one(value, [&](auto& v) { return table_.erase(solo_, all(), keys(key), v); });
  }
  LANEWISE_FUNCTION table_status successor(const key_type& key, key_type& found,
                                           value_type& value) const {
    return two(found, value,
               [&](auto& k, auto& v) { return table_.successor(solo_, all(), keys(key), k, v); });
  }
  LANEWISE_FUNCTION table_status strict_successor(const key_type& key, key_type& found,
                                                  value_type& value) const {
    return two(found, value, [&](auto& k, auto& v) {
      return table_.strict_successor(solo_, all(), keys(key), k, v);
    });
  }
  LANEWISE_FUNCTION table_status predecessor(const key_type& key, key_type& found,
                                             value_type& value) const {
    return two(found, value,
               [&](auto& k, auto& v) { return table_.predecessor(solo_, all(), keys(key), k, v); });
  }
  LANEWISE_FUNCTION table_status strict_predecessor(const key_type& key, key_type& found,
                                                    value_type& value) const {
    return two(found, value, [&](auto& k, auto& v) {
      return table_.strict_predecessor(solo_, all(), keys(key), k, v);
    });
  }

  /// The number of elements of an ordered table; positions of keys; what stands at a position.
  LANEWISE_FUNCTION std::uint32_t size() const { return table_.size(); }
  LANEWISE_FUNCTION std::uint32_t lower_bound(const key_type& key) const {
    return solo_.broadcast(table_.lower_bound(solo_, all(), keys(key)), 0);
  }
  LANEWISE_FUNCTION std::uint32_t upper_bound(const key_type& key) const {
    return solo_.broadcast(table_.upper_bound(solo_, all(), keys(key)), 0);
  }
  /// How many keys are less: the position of the first that is not.
  LANEWISE_FUNCTION std::uint32_t rank(const key_type& key) const { return lower_bound(key); }
  LANEWISE_FUNCTION std::uint32_t count(const key_type& key) const {
    return upper_bound(key) - lower_bound(key);
  }
  LANEWISE_FUNCTION key_type key(std::uint32_t position) const {
    return solo_.broadcast(table_.key(solo_, all(), numbers(position)), 0);
  }
  LANEWISE_FUNCTION value_type value(std::uint32_t position) const {
    return solo_.broadcast(table_.value(solo_, all(), numbers(position)), 0);
  }

  /// How many keys of an LSM there are in [first, last].
  LANEWISE_FUNCTION std::int64_t count(const key_type& first, const key_type& last) const {
    return solo_.broadcast(table_.count(solo_, all(), keys(first), keys(last)), 0);
  }
  /// Calls f(key, value) for the elements of a B+ tree with keys in [first, last], in order.
  template <class F>
  LANEWISE_FUNCTION void for_each(const key_type& first, const key_type& last, const F& f) const {
    numbers unused(0u);
    table_.for_each(solo_, all(), keys(first), keys(last), unused,
                    [&f](const key_type& k, const value_type& v, std::uint32_t&) { f(k, v); });
  }

 private:
  using keys = lanes_t<Solo, key_type>;
  using values = lanes_t<Solo, value_type>;
  using numbers = lanes_t<Solo, std::uint32_t>;

  LANEWISE_FUNCTION auto all() const { return solo_.first(1); }
  template <class F>
  LANEWISE_FUNCTION table_status one(value_type& value, const F& f) const {
    values v(value);
    const table_status status = solo_.broadcast(f(v), 0);
    value = solo_.broadcast(v, 0);
    return status;
  }
  template <class F>
  LANEWISE_FUNCTION table_status two(key_type& found, value_type& value, const F& f) const {
    keys k(found);
    const table_status status = one(value, [&](auto& v) { return f(k, v); });
    found = solo_.broadcast(k, 0);
    return status;
  }

  /// The view of an LSM has kilobytes, which stay where they are.
  std::conditional_t<(sizeof(View) > 256), const View&, View> table_;
  Solo solo_;
};

LANEWISE_END_NAMESPACE

LANEWISE_BEGIN_TARGET_NAMESPACE

/// The scalar face of a table for threads of an execution space.
template <class Exec, class Table>
using table_scalar_face_t =
    table_scalar_face<typename Table::view_type, typename warp_t<Exec>::template part<1>>;

LANEWISE_END_TARGET_NAMESPACE
