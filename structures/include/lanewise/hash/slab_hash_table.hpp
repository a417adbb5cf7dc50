// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/hash/slab_list.hpp>

#include <cmath>
#include <limits>
#include <utility>

LANEWISE_BEGIN_NAMESPACE

// What slab_hash_map, slab_hash_set and slab_hash_multimap have in common: an array of slab lists,
// chosen by a hash of the key. The view is what kernels use, by the warp or by single threads; the
// table owns the memory.

/// The hash that tables use unless they are given another: a function object from a key to 32 bits,
/// which all count. It travels with the table.
template <class Key>
struct slab_hash {
  std::uint64_t seed = 0;

  LANEWISE_FUNCTION std::uint32_t operator()(const Key& key) const {
    if constexpr (sizeof(Key) == 4) {
      std::uint32_t x =
          (detail::to_word<std::uint32_t>(key) ^ static_cast<std::uint32_t>(seed)) * 0x9E3779B1u;
      x = (x ^ (x >> 15)) * 0x85EBCA77u;
      return x ^ (x >> 13);
    } else {
      std::uint64_t x = (detail::to_word<std::uint64_t>(key) ^ seed) * 0x9E3779B97F4A7C15u;
      x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93u;
      return static_cast<std::uint32_t>(x >> 32);
    }
  }
};

namespace detail {

/// The list that a key lives in: the last one if its word is a state of a slot.
template <class Word, class Key, class Hash>
LANEWISE_FUNCTION std::uint32_t list_of(const Key& key, const Hash& hash, std::uint32_t buckets,
                                        Word least_reserved) {
  if (detail::to_word<Word>(key) >= least_reserved) return buckets;
  return static_cast<std::uint32_t>((std::uint64_t{hash(key)} * buckets) >> 32);
}

/// Finds where a key lives: a list, and the word that stands for the key there. The keys whose
/// words are states of a slot live under other names in a list of their own, the last one.
template <class Layout, class Hash>
struct slab_locator {
  using word = typename Layout::word;

  std::uint32_t buckets;
  Hash hash;

  template <class Key>
  LANEWISE_FUNCTION std::uint32_t bucket_of(const Key& key) const {
    return detail::list_of<word>(key, hash, buckets, Layout::least_reserved);
  }
  template <class Key>
  static LANEWISE_FUNCTION word name_of(const Key& key) {
    const word w = detail::to_word<word>(key);
    return w >= Layout::least_reserved ? static_cast<word>(~w) : w;
  }
  template <class Key>
  LANEWISE_FUNCTION Key key_of(std::uint32_t bucket, word name) const {
    return detail::from_word<Key>(bucket == buckets ? static_cast<word>(~name) : name);
  }
};

}  // namespace detail

/// A table inside kernels: copied by value, valid until the table grows, is rehashed or ends.
///
/// The warp face: the whole warp calls, and every active lane has an operation. lanes<T> is
/// Warp::lanes<T>. Operations of all kinds may run at the same time, in one kernel and in one warp;
/// slab_list.hpp says when each takes effect. Operations that may need room take the warp's
/// slab_resident.
template <class Key, class Value, key_multiplicity kind, class Hash>
class slab_table_view {
 public:
  using layout = detail::slab_layout<Key, Value>;
  using word = typename layout::word;
  using pool = slab_pool<pool_kind::growing>;
  using locator = detail::slab_locator<layout, Hash>;
  using value_type = detail::value_type_of<Value>;
  static constexpr bool unique = kind == key_multiplicity::unique;

  slab_table_view() = default;
  slab_table_view(slab_unit* heads, const locator& where, const pool& units)
      : heads_(heads), where_(where), pool_(units) {}

  template <class Warp, class T>
  using lanes = lanes_t<Warp, T>;

  /// Looks keys up; value is changed where they are found: to the value, of several the oldest.
  template <class Warp, class Mask>
  LANEWISE_FUNCTION auto find(const Warp& warp, Mask active, const lanes<Warp, Key>& key,
                              lanes<Warp, value_type>& value) const {
    detail::no_resident none;
    return operate(warp, none, active, key, value, detail::same_operation<table_operation::find>{});
  }
  /// Puts pairs there whose keys are not there. Otherwise value becomes what is there.
  template <class Warp, class Mask>
  LANEWISE_FUNCTION auto insert(const Warp& warp, slab_resident<Warp>& mine, Mask active,
                                const lanes<Warp, Key>& key, lanes<Warp, value_type>& value) const
      requires(unique) {
    return operate(warp, mine, active, key, value,
                   detail::same_operation<table_operation::insert>{});
  }
  /// Puts pairs there, beside others with the same key.
  template <class Warp, class Mask>
  LANEWISE_FUNCTION auto insert(const Warp& warp, slab_resident<Warp>& mine, Mask active,
                                const lanes<Warp, Key>& key, lanes<Warp, value_type>& value) const
      requires(!unique) {
    return operate(warp, mine, active, key, value, detail::same_operation<table_operation::add>{});
  }
  /// Puts pairs there; they replace the values of keys that are there.
  template <class Warp, class Mask>
  LANEWISE_FUNCTION auto assign(const Warp& warp, slab_resident<Warp>& mine, Mask active,
                                const lanes<Warp, Key>& key, lanes<Warp, value_type>& value) const
      requires(unique) {
    return operate(warp, mine, active, key, value,
                   detail::same_operation<table_operation::assign>{});
  }
  /// Puts pairs there; where a key is there, its value becomes combine(value there, value given).
  /// combine is pure, and is called again when another caller changes the value meanwhile.
  template <class Warp, class Mask, class Combine>
  LANEWISE_FUNCTION auto upsert(const Warp& warp, slab_resident<Warp>& mine, Mask active,
                                const lanes<Warp, Key>& key, lanes<Warp, value_type>& value,
                                const Combine& combine) const requires(unique) {
    return operate(warp, mine, active, key, value,
                   detail::same_operation<table_operation::combine>{}, combine);
  }
  /// Deletes keys, of several elements the oldest; value becomes what it was.
  template <class Warp, class Mask>
  LANEWISE_FUNCTION auto erase(const Warp& warp, Mask active, const lanes<Warp, Key>& key,
                               lanes<Warp, value_type>& value) const {
    detail::no_resident none;
    return operate(warp, none, active, key, value,
                   detail::same_operation<table_operation::erase>{});
  }
  /// Deletes all elements with these keys. number becomes how many.
  template <class Warp, class Mask>
  LANEWISE_FUNCTION auto erase_all(const Warp& warp, Mask active, const lanes<Warp, Key>& key,
                                   lanes<Warp, std::uint32_t>& number) const requires(!unique) {
    return number_of<table_operation::erase_all>(warp, active, key, number);
  }
  /// How many elements there are with these keys.
  template <class Warp, class Mask>
  LANEWISE_FUNCTION auto count(const Warp& warp, Mask active, const lanes<Warp, Key>& key,
                               lanes<Warp, std::uint32_t>& number) const requires(!unique) {
    return number_of<table_operation::count>(warp, active, key, number);
  }
  /// An operation of its own for every lane, given as numbers of table_operation. They are what the
  /// functions above are made of: find, insert, assign, combine and erase for unique keys, and
  /// find, add and erase for repeated ones.
  template <class Warp, class Mask, class Combine = detail::keep_given>
  LANEWISE_FUNCTION auto apply(const Warp& warp, slab_resident<Warp>& mine, Mask active,
                               const lanes<Warp, std::uint32_t>& operation,
                               const lanes<Warp, Key>& key, lanes<Warp, value_type>& value,
                               const Combine& combine = {}) const {
    return operate(warp, mine, active, key, value,
                   detail::operation_of_lane<lanes<Warp, std::uint32_t>>{operation}, combine);
  }
  /// Calls f(sub, lane, mask, values, state) for the elements with these keys, some at a time and
  /// old to new: those of the key of that lane of the sub-warp sub, whose lanes in mask have a
  /// value each. state is sub's part of the lanes given, which f may change.
  template <class Warp, class Mask, class State, class F>
  LANEWISE_FUNCTION void find_all(const Warp& warp, Mask active, const lanes<Warp, Key>& key,
                                  State& state, const F& f) const {
    const auto located = locate(warp, active, key);
    warp.template split<line_width<Warp>>([&](const auto& sub) {
      using sub_type = std::decay_t<decltype(sub)>;
      const detail::slab_walk<layout, sub_type> walk(sub);
      using tasks = typename detail::slab_walk<layout, sub_type>::template tasks<pool>;
      tasks t{pool_, sub.take(located.name), sub.take(lanes<Warp, word>(word{0})),
              sub.take(heads_of(warp, located))};
      auto part = sub.take(state);
      walk.find_all(t, sub.take(active), [&](int lane, const auto& mask, const auto& found) {
        const auto values = sub.map([](word w) { return detail::from_word<value_type>(w); }, found);
        f(sub, lane, mask, values, part);
      });
      sub.put(state, part);
    });
  }

  // Below: what the kernels of this family are made of.

  /// Keys, where they live, and what they are called there.
  template <class Warp>
  struct located_keys {
    lanes<Warp, word> name;
    lanes<Warp, std::uint32_t> bucket;
  };
  template <class Warp, class Mask>
  LANEWISE_FUNCTION located_keys<Warp> locate(const Warp& warp, Mask,
                                              const lanes<Warp, Key>& key) const {
    return {warp.map([](const Key& k) { return locator::name_of(k); }, key),
            warp.map([w = where_](const Key& k) { return w.bucket_of(k); }, key)};
  }
  template <class Warp, class Mask>
  LANEWISE_FUNCTION void prefetch(const Warp& warp, Mask active,
                                  const located_keys<Warp>& located) const {
    for (std::uint32_t line = 0; line < 2; ++line) {
      warp.prefetch(active, heads_->word,
                    warp.map([line](std::uint32_t b) { return std::uint64_t{b} * 32 + line * 16; },
                             located.bucket));
    }
  }
  /// The operations on located keys, with values as words. Returns numbers of table_status.
  template <class Warp, class Mask, class Resident, class Operations, class Combine>
  LANEWISE_FUNCTION auto operate(const Warp& warp, Resident& mine, Mask active,
                                 const located_keys<Warp>& located, lanes<Warp, word>& value,
                                 const Operations& operations, const Combine& combine) const {
    lanes<Warp, std::uint32_t> status(0u);
    lanes<Warp, slab_unit*> slab = heads_of(warp, located);
    auto todo = warp.ballot(active);
    while (todo != 0) {
      const auto now =
          warp.template mask_of<std::uint32_t>(Operations::one_by_one ? todo & (~todo + 1) : todo);
      in_parts(warp, [&](const auto& sub) {
        using sub_type = std::decay_t<decltype(sub)>;
        using tasks = typename detail::slab_walk<layout, sub_type>::template tasks<pool>;
        tasks t{pool_, sub.take(located.name), sub.take(value), sub.take(slab), sub.take(status)};
        detail::slab_walk<layout, sub_type>(sub).run(t, sub.take(now), operations.take(sub),
                                                     combine);
        sub.put(value, t.value);
        sub.put(slab, t.slab);
        sub.put(status, t.status);
      });
      if constexpr (!Operations::changes) break;
      if constexpr (!std::is_same_v<Resident, detail::no_resident>) {
        const auto ends = now & (status == static_cast<std::uint32_t>(table_status::no_room));
        if (warp.any(ends)) extend(warp, mine, ends, slab, status);
      }
      todo &= warp.ballot(status == static_cast<std::uint32_t>(table_status::none));
    }
    if constexpr (Operations::takes_all) {
      constexpr auto some = Operations::counts ? table_status::found : table_status::erased;
      constexpr auto then = static_cast<std::uint32_t>(some);
      status = warp.map([](std::uint32_t s, word number) { return number != 0 ? then : s; }, status,
                        value);
    }
    return status;
  }

  LANEWISE_FUNCTION std::uint32_t buckets() const { return where_.buckets; }
  /// The last list, with number buckets(), is that of the keys under other names.
  LANEWISE_FUNCTION slab_unit* head(std::uint32_t bucket) const { return heads_ + bucket; }
  LANEWISE_FUNCTION const pool& units() const { return pool_; }
  LANEWISE_FUNCTION const locator& where() const { return where_; }

 private:
  /// How many lanes read a slab together.
  template <class Warp>
  static constexpr int line_width = Warp::line_width < Warp::width ? Warp::line_width : Warp::width;
  /// f(sub) for sub-warps that read a slab together, in step where slab_walk::run keeps it.
  template <class Warp, class F>
  static LANEWISE_FUNCTION void in_parts(const Warp& warp, const F& f) {
    if constexpr (detail::in_one_piece<layout, Warp>) {
      warp.template split_in_step<line_width<Warp>>(f);
    } else {
      warp.template split<line_width<Warp>>(f);
    }
  }
  template <class Warp>
  LANEWISE_FUNCTION auto heads_of(const Warp& warp, const located_keys<Warp>& located) const {
    return warp.map([h = heads_](std::uint32_t b) { return h + b; }, located.bucket);
  }
  /// These lanes have come to the ends of their lists. Each goes on in a new slab there, or in that
  /// of the lane that was first; where there is no room its status stays. All lanes wait for the
  /// memory together, and of those with one list one allocates.
  template <class Warp, class Resident, class Mask>
  LANEWISE_FUNCTION void extend(const Warp& warp, Resident& mine, Mask ends,
                                lanes<Warp, slab_unit*>& slab,
                                lanes<Warp, std::uint32_t>& status) const {
    using bits = typename Warp::bits;
    using numbers = lanes<Warp, std::uint32_t>;
    using solo = typename Warp::template part<1>;
    const auto look = [](slab_unit*& s, std::uint32_t& l) { l = solo().load(layout::link_of(s)); };
    numbers link(no_unit);
    const auto same = warp.match_any(
        ends, warp.map([](slab_unit* s) { return reinterpret_cast<std::uint64_t>(s); }, slab));
    const auto first = ends & ((same & warp.lanes_below()) == bits{0});
    warp.each(first, look, slab, link);
    const auto wanted = first & (link == no_unit);
    if (warp.any(wanted)) {
      auto fresh = pool_.allocate(warp, mine, wanted);
      const auto got = wanted & (fresh != no_unit);
      // fresh becomes what is not needed, as another operation was faster.
      warp.each(
          got,
          [](slab_unit*& s, std::uint32_t& f, std::uint32_t& l) {
            const std::uint32_t linked =
                solo().template compare_exchange<order::relaxed>(layout::link_of(s), no_unit, f);
            l = linked == no_unit ? f : linked;
            if (linked == no_unit) f = no_unit;
          },
          slab, fresh, link);
      const auto surplus = got & (fresh != no_unit);
      if (warp.any(surplus)) pool_.deallocate(warp, surplus, fresh);
      warp.each(wanted & (link == no_unit), look, slab, link);
    }
    // Lanes of one list have what its first one found.
    link = warp.shuffle(
        link, warp.map(
                  ends, [](bits b) { return static_cast<std::uint32_t>(Warp::lowest(b)); },
                  std::uint32_t{0}, same));
    const auto goes_on = ends & (link != no_unit);
    slab = lanewise::select(goes_on,
                            warp.map(
                                goes_on, [this](std::uint32_t l) { return pool_.unit(l); },
                                static_cast<slab_unit*>(nullptr), link),
                            slab);
    status = lanewise::select(goes_on, numbers(0u), status);
  }
  /// As above, on users' keys and values.
  template <class Warp, class Mask, class Resident, class Operations,
            class Combine = detail::keep_given>
  LANEWISE_FUNCTION auto operate(const Warp& warp, Resident& mine, Mask active,
                                 const lanes<Warp, Key>& key, lanes<Warp, value_type>& value,
                                 const Operations& operations, const Combine& combine = {}) const {
    auto words = warp.map([](const value_type& v) { return detail::to_word<word>(v); }, value);
    const auto status = operate(warp, mine, active, locate(warp, active, key), words, operations,
                                detail::combine_words<Value, word, Combine>{combine});
    value = lanewise::select(
        active, warp.map([](word w) { return detail::from_word<value_type>(w); }, words), value);
    return warp.map([](std::uint32_t s) { return static_cast<table_status>(s); }, status);
  }
  template <table_operation operation, class Warp, class Mask>
  LANEWISE_FUNCTION auto number_of(const Warp& warp, Mask active, const lanes<Warp, Key>& key,
                                   lanes<Warp, std::uint32_t>& number) const {
    detail::no_resident none;
    lanes<Warp, word> words(word{0});
    const auto status = operate(warp, none, active, locate(warp, active, key), words,
                                detail::same_operation<operation>{}, detail::keep_given{});
    number = lanewise::select(active, warp.template cast<std::uint32_t>(words), number);
    return warp.map([](std::uint32_t s) { return static_cast<table_status>(s); }, status);
  }

  slab_unit* heads_ = nullptr;
  locator where_{};
  pool pool_{};
};

/// The scalar face: operations of one thread of Exec, under any divergence and without the help of
/// others, mixed with those of warps as one likes. Make one for each thread; id is the thread's
/// number.
template <class View, class Solo>
class slab_scalar_face {
 public:
  using value_type = typename View::value_type;

  LANEWISE_FUNCTION slab_scalar_face(const View& table, std::uint64_t id)
      : table_(table), resident_(Solo(), id) {}

  /// As in slab_table_view, for one key. value is given, returned, or both.
  template <class Key>
  LANEWISE_FUNCTION table_status find(const Key& key, value_type& value) {
    return one(key, value, [&](auto& k, auto& v) { return table_.find(solo_, all(), k, v); });
  }
  template <class Key>
  LANEWISE_FUNCTION table_status insert(const Key& key, value_type& value) {
    return one(key, value,
               [&](auto& k, auto& v) { return table_.insert(solo_, resident_, all(), k, v); });
  }
  template <class Key>
  LANEWISE_FUNCTION table_status assign(const Key& key, value_type& value) {
    return one(key, value,
               [&](auto& k, auto& v) { return table_.assign(solo_, resident_, all(), k, v); });
  }
  template <class Key, class Combine>
  LANEWISE_FUNCTION table_status upsert(const Key& key, value_type& value, const Combine& combine) {
    return one(key, value, [&](auto& k, auto& v) {
      return table_.upsert(solo_, resident_, all(), k, v, combine);
    });
  }
  template <class Key>
  LANEWISE_FUNCTION table_status erase(const Key& key, value_type& value) {
    return one(key, value, [&](auto& k, auto& v) { return table_.erase(solo_, all(), k, v); });
  }
  template <class Key>
  LANEWISE_FUNCTION table_status erase_all(const Key& key, std::uint32_t& number) {
    return one(key, number, [&](auto& k, auto& m) { return table_.erase_all(solo_, all(), k, m); });
  }
  template <class Key>
  LANEWISE_FUNCTION table_status count(const Key& key, std::uint32_t& number) {
    return one(key, number, [&](auto& k, auto& m) { return table_.count(solo_, all(), k, m); });
  }
  /// Calls f(value) for all elements with the key, old to new.
  template <class Key, class F>
  LANEWISE_FUNCTION void find_all(const Key& key, const F& f) {
    lanes_t<Solo, std::uint32_t> unused(0u);
    table_.find_all(solo_, all(), typename Solo::template lanes<Key>(key), unused,
                    [&f](const auto& solo, int, const auto& exists, const auto& value, auto&) {
                      if (solo.any(exists)) f(solo.broadcast(value, 0));
                    });
  }
  /// For calls in which the value does not matter; insert is for sets.
  template <class Key>
  LANEWISE_FUNCTION table_status find(const Key& key) {
    value_type value{};
    return find(key, value);
  }
  template <class Key>
  LANEWISE_FUNCTION table_status insert(const Key& key) requires(!View::layout::has_values) {
    value_type value{};
    return insert(key, value);
  }
  template <class Key>
  LANEWISE_FUNCTION table_status erase(const Key& key) {
    value_type value{};
    return erase(key, value);
  }

 private:
  LANEWISE_FUNCTION auto all() const { return solo_.first(1); }
  template <class Key, class T, class F>
  LANEWISE_FUNCTION table_status one(const Key& key, T& value, const F& f) {
    lanes_t<Solo, Key> k(key);
    lanes_t<Solo, T> v(value);
    const table_status status = solo_.broadcast(f(k, v), 0);
    value = solo_.broadcast(v, 0);
    return status;
  }

  View table_;
  Solo solo_;
  slab_resident<Solo> resident_;
};

/// How large a table is made. Bulk calls, reserve and grow give it more lists as it fills, unless
/// the number of buckets is given.
struct slab_table_options {
  /// Bounds of load. Beyond them lists would have more than 100 slabs, or an element more than 1000
  /// slots.
  static constexpr double least_load = 0.001, most_load = 100;
  /// Upper bound of buckets, given or chosen.
  static constexpr std::int64_t most_buckets = (std::int64_t{1} << 32) - 256;

  std::int64_t expected = 0;  ///< elements; buckets are chosen for them
  double load = 0.65;         ///< elements per slot of the first slabs, when all are there
  std::int64_t buckets = 0;   ///< unless 0, instead of the two
  std::int64_t units = 0;     ///< further slabs to begin with; 0 for an eighth of the buckets
};

namespace detail {

/// The lists that `expected` elements need at `load` per slot of the first slabs, which have
/// `slots` slots each. `what` names the elements' number in the text of the exception.
inline std::int64_t lists_for(const char* what, std::int64_t expected, double load, int slots) {
  constexpr auto most = slab_table_options::most_buckets;
  const double lists = std::ceil(static_cast<double>(expected) / (slots * load)) + 1;
  expects(lists <= static_cast<double>(most), what, " is ", expected, ", which takes ", lists,
          " buckets at load ", load, ", the most is ", most);
  return static_cast<std::int64_t>(lists);
}

}  // namespace detail

/// How a table is filled.
struct slab_statistics {
  std::int64_t buckets = 0;    ///< lists, without that of the keys under other names
  std::int64_t slabs = 0;      ///< in all lists, the first ones included
  std::int64_t elements = 0;   ///< that are there
  std::int64_t deleted = 0;    ///< slots that flush() frees
  std::int64_t longest = 0;    ///< slabs of the longest list
  std::int64_t lists[8] = {};  ///< how many lists have 1, 2, ..., 7 slabs, and more
  std::int64_t units = 0;      ///< of the pool
  double load = 0;             ///< elements that are there / slots of the first slabs
  double utilisation = 0;      ///< bytes of the elements that are there / bytes of the slabs
};

/// Owns a table. See slab_hash_map.hpp, slab_hash_set.hpp, slab_hash_multimap.hpp.
template <class Key, class Value, key_multiplicity kind_, class MemorySpace, class Hash>
class slab_hash_table {
 public:
  static constexpr auto family = table_family::slab;
  static constexpr key_multiplicity kind = kind_;
  using key_type = Key;
  using mapped_type = Value;
  using memory_space = MemorySpace;
  using hasher = Hash;
  using view_type = slab_table_view<Key, Value, kind, Hash>;
  using layout = typename view_type::layout;
  using allocator_type = slab_allocator<MemorySpace>;
  using heads_type = Kokkos::View<slab_unit*, MemorySpace>;
  static_assert(std::is_trivially_copyable_v<Hash>, "lanewise: a slab hash is trivially copyable");

  /// An empty table. **Blocks.** Throws std::invalid_argument on sizes that cannot be.
  ///
  /// A table that was moved from can be assigned to or end. Whatever else needs its memory throws
  /// std::invalid_argument.
  template <class Exec>
  explicit slab_hash_table(const Exec& exec, const slab_table_options& options = {},
                           const Hash& hash = {})
      : where_{buckets_for(options), hash},
        load_(options.buckets > 0 ? 0 : options.load),
        heads_(Kokkos::view_alloc("Lanewise::slab_hash_table", Kokkos::WithoutInitializing),
               std::size_t{where_.buckets} + 1),
        pool_(exec, options.units > 0 ? options.units : where_.buckets / 8) {
    detail::use_huge_pages<MemorySpace>(heads_.data(), heads_.size() * sizeof(slab_unit));
    detail::fill_words<MemorySpace>(exec, reinterpret_cast<std::uint64_t*>(heads_.data()),
                                    heads_.size() * (sizeof(slab_unit) / 8), ~std::uint64_t{0});
    exec.fence("Lanewise::slab_hash_table");
  }
  slab_hash_table(slab_hash_table&&) = default;
  slab_hash_table& operator=(slab_hash_table&&) = default;

  /// For kernels. Valid until the table grows, is rehashed or ends.
  view_type view() const {
    expects_memory();
    return {heads_.data(), where_, pool_.view()};
  }

  std::int64_t buckets() const { return where_.buckets; }
  const Hash& hash() const { return where_.hash; }
  const allocator_type& pool() const {
    expects_memory();
    return pool_;
  }
  const heads_type& heads() const {
    expects_memory();
    return heads_;
  }
  /// Throws std::invalid_argument if the table was moved from.
  void expects_memory() const {
    detail::expects(pool_.units() > 0,
                    "slab_hash_table: the table has no memory: it was moved from");
  }

  /// Elements per slot of the first slabs that the lists are made for, or 0: the table keeps its
  /// number of lists until it is rehashed.
  double load() const { return load_; }
  /// Elements that fit into the first slabs.
  std::int64_t slots() const { return buckets() * layout::elements; }
  /// Slots that are taken by now, deleted ones included, at most: what bulk calls go by. They do
  /// not know of what kernels put there.
  std::int64_t taken_at_most() const { return taken_; }
  void set_taken(std::int64_t slots) { taken_ = slots; }
  /// Takes the lists of another table, which has the same elements, and its pool.
  void take_lists(slab_hash_table&& other) {
    where_ = other.where_;
    heads_ = other.heads_;
    pool_ = std::move(other.pool_);
  }

  /// Adds at least `units` units to the pool. The elements that are there and the elements that
  /// these units have slots for may make lists long. Then, unless buckets were given, the table
  /// gets the number of lists that they all need, in the way of bulk calls. Elements move then, and
  /// the memory of both tables is needed for a moment. Not to run beside any other operation on the
  /// table. Reads all slabs. **Blocks.** Throws std::invalid_argument where there cannot be that
  /// number of units or lists. Whatever it throws, the table is as before.
  ///
  /// Defined in slab_growth.hpp. Target keeps functions of different SIMD targets apart.
  template <class Exec, class Target = detail_backend::backend_of<Exec>>
  void grow(const Exec& exec, std::int64_t units);
  /// As `grow`, for the pool alone, whatever becomes of the lists.
  template <class Exec>
  void grow_pool(const Exec& exec, std::int64_t units) {
    expects_memory();
    pool_.grow(exec, units);
  }

  /// This table in another memory space. No kernel may be using it. **Blocks.**
  template <class Other, class Exec>
  slab_hash_table<Key, Value, kind, Other, Hash> copy_to(const Exec& exec) const {
    expects_memory();
    exec.fence("Lanewise::slab_hash_table: the table is copied");
    typename slab_hash_table<Key, Value, kind, Other, Hash>::heads_type to(
        Kokkos::view_alloc("Lanewise::slab_hash_table", Kokkos::WithoutInitializing),
        heads_.extent(0));
    detail::use_huge_pages<Other>(to.data(), to.size() * sizeof(slab_unit));
    Kokkos::deep_copy(to, heads_);
    return {where_.hash, to, pool_.template copy_to<Other>(exec), load_};
  }

  /// A table from its parts: a copy, or what a file has.
  slab_hash_table(const Hash& hash, const heads_type& heads, allocator_type&& pool, double load)
      : where_{static_cast<std::uint32_t>(heads.extent(0) - 1), hash},
        load_(load),
        taken_(slots() + pool.units() * layout::elements),
        heads_(heads),
        pool_(std::move(pool)) {}

 private:
  static std::uint32_t buckets_for(const slab_table_options& options) {
    using limits = slab_table_options;
    const auto expects_within = [](const char* name, std::int64_t number, std::int64_t most) {
      detail::expects(number >= 0 && number <= most, "slab_hash_table: options.", name, " is ",
                      number, ", it must be 0 to ", most);
    };
    expects_within("expected", options.expected, std::numeric_limits<std::int64_t>::max());
    expects_within("buckets", options.buckets, limits::most_buckets);
    expects_within("units", options.units, allocator_type::most_units);
    // Written so that it refuses what is no number.
    detail::expects(options.load >= limits::least_load && options.load <= limits::most_load,
                    "slab_hash_table: options.load is ", options.load, ", it must be ",
                    limits::least_load, " to ", limits::most_load);
    if (options.buckets > 0) return static_cast<std::uint32_t>(options.buckets);
    return static_cast<std::uint32_t>(detail::lists_for(
        "slab_hash_table: options.expected", options.expected, options.load, layout::elements));
  }

  typename view_type::locator where_;
  double load_;
  std::int64_t taken_ = 0;
  heads_type heads_;
  allocator_type pool_;
};

template <class T>
concept any_slab_table = table_of_family<T, table_family::slab>;
/// A map or a set.
template <class T>
concept unique_slab_table = any_slab_table<T> && table_of_unique_keys<T>;
/// A multimap.
template <class T>
concept repeated_slab_table = any_slab_table<T> && table_of_repeated_keys<T>;

LANEWISE_END_NAMESPACE
