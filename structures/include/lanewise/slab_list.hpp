// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/slab_layout.hpp>

LANEWISE_BEGIN_NAMESPACE

// A slab list is a linked list of slabs, 128 bytes each, that any number of warps search and change
// at the same time without locks (Ashkiani, 5.3 and 5.4). Its elements are assigned to lanes: every
// lane may have an operation on some list. They are processed by the warp: all its lanes read a
// slab together, and a ballot says where the key is. slab_walk, below, is that.
//
// A slot goes through these states and no others:
//
//     empty -> key and value -> the same key, other values -> deleted
//
// A deleted slot stays so until flush(), and all slots before the first empty one are taken. So a
// key that is there stands in front of the first empty slot; whoever finds that slot free and
// takes it has seen that the key is not there. That makes keys unique without any lock, for a
// second one would have to take the same slot. It also keeps equal keys of a multimap in the order
// of insertion.
//
// Where operations take effect (their linearisation points):
//
//   found, present         when the slab was read; where the value is read after it, then, or just
//                          before the key was deleted
//   not found              when the last slab was read, or, if the key was deleted and inserted
//                          again meanwhile, just after the deletion
//   inserted, updated, erased      the exchange of the slot, which no two callers can win; for a
//                          slot that had to be claimed, the store of the key
//   erase_all, count, find_all     every element on its own
//   no_room                when the pool had no unit: the structure is as it was
//
// Why a key that is there all the time is found: it stands still, in a slot that was taken before
// the search began, and a search passes no slab by. A slab that was seen full without the key
// cannot get it later. A slab may be read word by word: a link that was seen null, beside slots
// that were seen full, says that the key was not behind this slab when the link was read.
//
// Memory orders. Elements are exchanged and read relaxed: what an operation publishes is its own
// element and nothing else. The operations on one key are linearisable all the same, because a
// slot's key never changes into another and every access to one word is coherent. A slab that is
// linked in was made empty before the kernel began, so that the link needs no release; a slab whose
// race to be linked in was lost was never visible, and goes back to the pool as it is.
//
// Elements of 16 bytes are exchanged as one word where the machine can (Warp::has_wide_exchange).
// Elsewhere the key's word is claimed first, the value written, and the key published with a
// release that the reader's acquire meets. Who comes to a claimed slot and has to know its key
// waits; that is the one place that is not lock-free. There, too, a deletion marks the key first
// and then changes the value to its complement, so that an update whose exchange of the value
// succeeds was before it; unless it slept while others changed the value to the complement of what
// it had read, and the key was deleted then. Where 16 bytes cannot be read as one word, the value
// is read after the key: it was written with the key or later, for the same key.

/// What an operation does.
enum class slab_operation : std::uint8_t {
  find,       ///< look the key up
  insert,     ///< put the pair there unless the key is there
  assign,     ///< put the pair there, or replace the key's value (the paper's REPLACE)
  combine,    ///< put the pair there, or replace the value by combine(value there, value given)
  add,        ///< put the pair there, beside others of the same key (the paper's INSERT)
  erase,      ///< delete the key; of several, the oldest
  erase_all,  ///< delete all elements of the key
  count       ///< count them
};

/// What came of it.
enum class slab_status : std::uint8_t {
  none,      ///< nothing was asked
  found,     ///< it is there (find, and count of more than none)
  absent,    ///< it is not there (find, erase, erase_all, count)
  inserted,  ///< it was put there
  present,   ///< insert found the key there, and left it
  updated,   ///< assign or combine replaced the value
  erased,    ///< it was deleted
  no_room    ///< the pool is exhausted; nothing changed
};

namespace detail {

/// Stands for a slab_resident where nothing is allocated.
struct no_resident {
  template <class Sub>
  LANEWISE_FUNCTION no_resident take(const Sub&) const {
    return {};
  }
  template <class Sub>
  LANEWISE_FUNCTION void put(const Sub&, const no_resident&) const {}
};

/// The same operation in all lanes, or one for each lane. one_by_one: a lane's is done before that
/// of the next lane begins.
template <slab_operation operation, bool one_by_one_ = false>
struct same_operation {
  static constexpr bool one_by_one = one_by_one_;
  template <class Sub>
  LANEWISE_FUNCTION same_operation take(const Sub&) const {
    return {};
  }
  template <class Sub>
  LANEWISE_FUNCTION constexpr slab_operation of(const Sub&, int) const {
    return operation;
  }
};
template <class Lanes>
struct operation_of_lane {
  static constexpr bool one_by_one = false;
  Lanes operations;

  template <class Sub>
  LANEWISE_FUNCTION auto take(const Sub& sub) const {
    using part = decltype(sub.take(operations));
    return operation_of_lane<part>{sub.take(operations)};
  }
  template <class Sub>
  LANEWISE_FUNCTION slab_operation of(const Sub& sub, int source) const {
    return static_cast<slab_operation>(sub.broadcast(operations, source));
  }
};

/// A (sub-)warp that works on slabs.
template <class Layout, class Warp>
class slab_walk {
 public:
  using word = typename Layout::word;
  using unit = typename Layout::unit;
  template <class T>
  using lanes = typename Warp::template lanes<T>;
  using indices = lanes<std::uint32_t>;
  using bits = typename Warp::bits;

  /// A slab as the warp reads it: neighbouring units in each lane.
  static constexpr int per_lane = 128 / (Warp::width * static_cast<int>(sizeof(unit)));
  using part = std::conditional_t<per_lane == 1, unit, pack<unit, per_lane>>;
  using line = lanes<part>;
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};
  static constexpr bool claims = Layout::wide && !Warp::has_wide_exchange;
  static constexpr bool value_in_line = !Layout::wide || Warp::has_wide_words;

  /// The active lanes' operations, and what comes of them.
  template <class Pool, class Resident>
  struct tasks {
    slab_unit* heads;
    const Pool& pool;
    Resident& resident;  // no_resident where nothing is put into lists
    lanes<word> key;
    lanes<word> value;   // given, and returned: what is there, or how many
    indices bucket;      // the list
    indices status{0u};  // returned
  };

  LANEWISE_FUNCTION explicit slab_walk(const Warp& warp) : warp_(warp) {}

  /// Every active lane's operation, from its list's head on. The whole warp calls.
  template <class Tasks, class Mask, class Operations, class Combine>
  LANEWISE_FUNCTION void run(Tasks& t, Mask active, const Operations& operations,
                             const Combine& combine) const {
    constexpr int lines = Operations::one_by_one ? 1 : Warp::line_depth;
    constexpr int depth = lines < Warp::width ? lines : Warp::width;
    indices place = t.bucket;  // a bucket, then an address
    bits chained = 0;          // the lanes that have an address
    const auto slab_of = [&](int source) {
      const std::uint32_t p = warp_.broadcast(place, source);
      return (chained >> source & 1) != 0 ? t.pool.unit(p) : t.heads + p;
    };
    warp_.template cooperate<depth>(
        active, [&](int source) { return read(slab_of(source)); },
        [&](int source, const line& seen) {
          slab_unit* slab = slab_of(source);
          const slab_operation operation = operations.of(warp_, source);
          slab_step at{slab, warp_.broadcast(t.key, source), warp_.broadcast(t.value, source)};
          const after next = step(operation, at, seen, combine);
          const auto me = warp_.lane() == static_cast<std::uint32_t>(source);
          t.value = select(me, lanes<word>(at.value), t.value);
          if (next == after::done) {
            t.status = select(me, indices(static_cast<std::uint32_t>(at.status)), t.status);
            return true;
          }
          if (next == after::again) return false;
          std::uint32_t link = link_in(seen);
          if (link == no_unit && needs_room(operation)) {
            link = append(t, slab);
            if (link == no_unit) at.status = slab_status::no_room;
          }
          if (link == no_unit) {
            t.status = select(me, indices(static_cast<std::uint32_t>(at.status)), t.status);
            return true;
          }
          place = select(me, indices(link), place);
          chained |= bits{1} << source;
          warp_.prefetch(warp_.first(2), t.pool.unit(link)->word, warp_.lane() * indices(16u));
          return false;
        });
  }

  /// Calls f(source, mask, values) for all elements with the active lanes' keys, slab by slab, in
  /// the order of insertion.
  template <class Tasks, class Mask, class F>
  LANEWISE_FUNCTION void find_all(Tasks& t, Mask active, const F& f) const {
    lanes<slab_unit*> place = warp_.map([h = t.heads](std::uint32_t b) { return h + b; }, t.bucket);
    warp_.template cooperate<1>(
        active, [&](int source) { return warp_.broadcast(place, source); },
        [&](int source, slab_unit* slab) {
          const word wanted = warp_.broadcast(t.key, source);
          visit(slab, [&](const auto& there, const lanes<word>& key, const lanes<word>& value) {
            f(source, there & (key == wanted), value);
          });
          slab_unit* then = next(t.pool, slab);
          place = select(warp_.lane() == static_cast<std::uint32_t>(source),
                         lanes<slab_unit*>(then), place);
          return then == nullptr;
        });
  }

  /// Calls f(mask, keys, values) for the elements of a slab that are there, some lanes at a time.
  template <class F>
  LANEWISE_FUNCTION void visit(slab_unit* slab, F f) const {
    constexpr int width = Warp::width;
    for (int begin = 0; begin < Layout::elements; begin += width) {
      const int left = Layout::elements - begin;
      const auto exists = warp_.first(left < width ? left : width);
      const indices index = (warp_.lane() + indices(static_cast<std::uint32_t>(begin))) *
                            indices(static_cast<std::uint32_t>(Layout::words));
      const word* words = reinterpret_cast<const word*>(slab);
      const lanes<word> key = warp_.load_acquire(exists, words, index, Layout::empty);
      const lanes<word> value = Layout::has_values
                                    ? warp_.load_relaxed(exists, words + 1, index, word{0})
                                    : lanes<word>(word{0});
      f(key < Layout::least_reserved, key, value);
    }
  }

  /// The list's next slab, or null.
  template <class Pool>
  LANEWISE_FUNCTION slab_unit* next(const Pool& pool, slab_unit* slab) const {
    const std::uint32_t link = warp_.load(Layout::link_of(slab));
    return link == no_unit ? nullptr : pool.unit(link);
  }

  /// Moves the elements of a list that are there to its front, in order, makes the slots behind
  /// them empty, and gives the slabs behind those back (the paper's FLUSH). No other warp may be
  /// using the list.
  template <class Pool>
  LANEWISE_FUNCTION void flush(const Pool& pool, slab_unit* head) const {
    slab_unit* to = head;  // where elements go: to is never behind what is read
    std::uint32_t filled = 0;
    slab_unit* from = head;
    do {
      visit(from, [&](const auto& there, const lanes<word>& key, const lanes<word>& value) {
        const bits chosen = warp_.ballot(there);
        const auto live = static_cast<std::uint32_t>(Warp::popcount(chosen));
        const indices rank = warp_.map(
            [chosen, filled](bits below) {
              return filled + static_cast<std::uint32_t>(Warp::popcount(chosen & below));
            },
            warp_.lanes_below());
        warp_.fence();  // all have read before anyone writes
        constexpr auto room = static_cast<std::uint32_t>(Layout::elements);
        write(there & (rank < room), to, rank, key, value);
        filled += live;
        if (filled > room) {
          to = next(pool, to);  // there is one: elements do not move towards the end
          filled -= room;
          write(there & (rank >= room), to, rank - indices(room), key, value);
        }
        warp_.fence();
      });
      from = next(pool, from);
    } while (from != nullptr);
    cut(pool, to, filled);
  }

  /// Makes a list empty and gives its slabs back.
  template <class Pool>
  LANEWISE_FUNCTION void clear(const Pool& pool, slab_unit* head) const {
    cut(pool, head, 0);
  }

 private:
  /// A task at one slab.
  struct slab_step {
    slab_unit* slab;
    word key;
    word value;
    slab_status status = slab_status::absent;
  };
  /// What a task does after a step. A task that goes beyond the last slab ends with its status.
  enum class after { done, again, go_on };

  static LANEWISE_FUNCTION bool needs_room(slab_operation operation) {
    return operation == slab_operation::insert || operation == slab_operation::assign ||
           operation == slab_operation::combine || operation == slab_operation::add;
  }

  template <class Combine>
  LANEWISE_FUNCTION after step(slab_operation operation, slab_step& at, const line& seen,
                               const Combine& combine) const {
    switch (operation) {
      case slab_operation::find:
        return find(at, seen);
      case slab_operation::insert:
      case slab_operation::assign:
      case slab_operation::combine:
        return put(operation, at, seen, combine);
      case slab_operation::add:
        return add(at, seen);
      case slab_operation::erase:
      case slab_operation::erase_all:
        return erase(operation, at, seen);
      default:
        return count(at, seen);
    }
  }

  static LANEWISE_FUNCTION auto is(word wanted) {
    return [wanted](const lanes<word>& w) { return w == wanted; };
  }

  LANEWISE_FUNCTION after find(slab_step& at, const line& seen) const {
    const std::uint32_t u = first(seen, is(at.key));
    if (u == nowhere) return after::go_on;
    word there;
    if (!value_of(at, seen, u, there)) return after::again;
    at.value = there;
    at.status = slab_status::found;
    return after::done;
  }

  /// The first slot that has the key or is empty decides.
  template <class Combine>
  LANEWISE_FUNCTION after put(slab_operation operation, slab_step& at, const line& seen,
                              const Combine& combine) const {
    const std::uint32_t u = first(seen, [k = at.key](const lanes<word>& w) {
      if constexpr (claims) {
        return (w == k) | (w == Layout::empty) | (w == Layout::claimed);
      } else {
        return (w == k) | (w == Layout::empty);
      }
    });
    if (u == nowhere) return after::go_on;
    const word there = key_of(seen, u);
    if (claims && there == Layout::claimed) {
      warp_.pause();
      return after::again;
    }
    if (there == Layout::empty) {
      at.status = slab_status::inserted;
      return fill(at.slab, u, at.key, at.value) ? after::done : after::again;
    }
    word old;
    if (!value_of(at, seen, u, old)) return after::again;
    if (operation == slab_operation::insert || !Layout::has_values) {
      at.value = old;
      at.status = slab_status::present;
      return after::done;
    }
    const word given = operation == slab_operation::combine ? combine(old, at.value) : at.value;
    at.status = slab_status::updated;
    return replace(at.slab, u, at.key, old, given) ? after::done : after::again;
  }

  LANEWISE_FUNCTION after add(slab_step& at, const line& seen) const {
    const std::uint32_t u = first(seen, is(Layout::empty));
    if (u == nowhere) return after::go_on;
    at.status = slab_status::inserted;
    return fill(at.slab, u, at.key, at.value) ? after::done : after::again;
  }

  LANEWISE_FUNCTION after erase(slab_operation operation, slab_step& at, const line& seen) const {
    const bool all = operation == slab_operation::erase_all;
    if (all && at.value != 0) at.status = slab_status::erased;
    const std::uint32_t u = first(seen, is(at.key));
    if (u == nowhere) return after::go_on;
    word old;
    if (!value_of(at, seen, u, old) || !remove(at.slab, u, at.key, old)) return after::again;
    at.value = all ? at.value + 1 : old;
    at.status = slab_status::erased;
    return all ? after::again : after::done;
  }

  LANEWISE_FUNCTION after count(slab_step& at, const line& seen) const {
    hits(seen, is(at.key),
         [&at](int, bits hit) { at.value += static_cast<word>(Warp::popcount(hit)); });
    if (at.value != 0) at.status = slab_status::found;
    return after::go_on;
  }

  // Reading.

  static LANEWISE_FUNCTION std::uint32_t unit_of(std::uint32_t lane, int j) {
    return lane * static_cast<std::uint32_t>(per_lane) + static_cast<std::uint32_t>(j);
  }

  LANEWISE_FUNCTION line read(const slab_unit* slab) const {
    const part* p = reinterpret_cast<const part*>(slab);
    if constexpr (value_in_line) {
      return warp_.load_relaxed(p);
    } else {
      return warp_.load_acquire(p);  // the value is read later
    }
  }

  /// Unit j of every lane.
  LANEWISE_FUNCTION lanes<unit> units_at(const line& seen, int j) const {
    if constexpr (per_lane == 1) {
      return seen;
    } else {
      return warp_.map([j](const part& p) { return p[j]; }, seen);
    }
  }
  /// The lanes whose unit j has a key.
  static LANEWISE_FUNCTION constexpr bits key_lanes(int j) {
    bits b = 0;
    for (std::uint32_t l = 0; l < Warp::width; ++l) b |= bits{Layout::has_key(unit_of(l, j))} << l;
    return b;
  }
  /// Calls f(j, bits): the lanes whose unit j has a key that passes the test.
  template <class Test, class F>
  LANEWISE_FUNCTION void hits(const line& seen, const Test& test, const F& f) const {
    LANEWISE_UNROLL
    for (int j = 0; j < per_lane; j += Layout::units_per_element) {
      const auto keys = warp_.template cast<word>(units_at(seen, j));
      f(j, warp_.ballot(test(keys)) & key_lanes(j));
    }
  }
  /// The first unit with a key that passes the test, or nowhere. The test takes lanes of keys and
  /// returns a mask.
  template <class Test>
  LANEWISE_FUNCTION std::uint32_t first(const line& seen, const Test& test) const {
    std::uint32_t u = nowhere;
    hits(seen, test, [&u](int j, bits hit) {
      if (hit == 0) return;
      const std::uint32_t here = unit_of(static_cast<std::uint32_t>(Warp::lowest(hit)), j);
      u = here < u ? here : u;
    });
    return u;
  }

  LANEWISE_FUNCTION unit unit_at(const line& seen, std::uint32_t u) const {
    const int lane = static_cast<int>(u / static_cast<std::uint32_t>(per_lane));
    if constexpr (per_lane == 1) {
      return warp_.broadcast(seen, lane);
    } else {
      const std::uint32_t j = u % static_cast<std::uint32_t>(per_lane);
      const auto chosen = warp_.map(
          [j](const part& p) {
            unit x = p[0];
            LANEWISE_UNROLL
            for (int i = 1; i < per_lane; ++i) x = static_cast<std::uint32_t>(i) == j ? p[i] : x;
            return x;
          },
          seen);
      return warp_.broadcast(chosen, lane);
    }
  }
  LANEWISE_FUNCTION word key_of(const line& seen, std::uint32_t u) const {
    return Layout::key_of(unit_at(seen, u));
  }
  /// The value of the task's key, whose slot was seen at u. False if the key has gone meanwhile.
  LANEWISE_FUNCTION bool value_of(const slab_step& at, const line& seen, std::uint32_t u,
                                  word& value) const {
    if constexpr (!Layout::has_values) {
      value = 0;
    } else if constexpr (!Layout::wide) {
      value = static_cast<word>(unit_at(seen, u) >> 32);
    } else if constexpr (value_in_line) {
      value = unit_at(seen, u + 1);
    } else if constexpr (!claims) {
      value = warp_.load(*Layout::value_at(at.slab, u));
    } else {
      value = warp_.template load<order::acquire>(*Layout::value_at(at.slab, u));
      return warp_.load(*Layout::key_at(at.slab, u)) == at.key;
    }
    return true;
  }
  LANEWISE_FUNCTION std::uint32_t link_in(const line& seen) const {
    constexpr int above = 8 * sizeof(unit) - 32;
    const auto last = warp_.map([](unit x) { return static_cast<std::uint32_t>(x >> above); },
                                units_at(seen, per_lane - 1));
    return warp_.broadcast(last, Warp::width - 1);
  }

  // Changing. Each returns whether it was this caller who did it.

  LANEWISE_FUNCTION bool fill(slab_unit* slab, std::uint32_t u, word key, word value) const {
    if constexpr (claims) {
      word& slot = *Layout::key_at(slab, u);
      if (exchange(slot, Layout::empty, Layout::claimed) != Layout::empty) return false;
      warp_.store(*Layout::value_at(slab, u), value);
      warp_.template store<order::release>(slot, key);
      return true;
    } else {
      const auto empty = Layout::empty_element();
      return exchange(*Layout::element_at(slab, u), empty, Layout::make(key, value)) == empty;
    }
  }
  LANEWISE_FUNCTION bool replace(slab_unit* slab, std::uint32_t u, word key, word old,
                                 word value) const {
    if constexpr (claims) {
      // If the key is being deleted, then this was before.
      return exchange(*Layout::value_at(slab, u), old, value) == old;
    } else {
      const auto before = Layout::make(key, old);
      return exchange(*Layout::element_at(slab, u), before, Layout::make(key, value)) == before;
    }
  }
  /// old becomes the value that the key had last.
  LANEWISE_FUNCTION bool remove(slab_unit* slab, std::uint32_t u, word key, word& old) const {
    if constexpr (claims) {
      if (exchange(*Layout::key_at(slab, u), key, Layout::deleted) != key) return false;
      // Another value, so that nobody replaces it any more.
      word& slot = *Layout::value_at(slab, u);
      for (word now; (now = warp_.template compare_exchange<order::acq_rel>(
                          slot, old, static_cast<word>(~old))) != old;)
        old = now;
      return true;
    } else {
      const auto before = Layout::make(key, old);
      return exchange(*Layout::element_at(slab, u), before, Layout::make(Layout::deleted, old)) ==
             before;
    }
  }
  template <class T>
  LANEWISE_FUNCTION T exchange(T& there, std::type_identity_t<T> expected,
                               std::type_identity_t<T> desired) const {
    return warp_.template compare_exchange<order::relaxed>(there, expected, desired);
  }

  /// The successor of a slab that had none: a new one, or whose link came first. no_unit when there
  /// is no room.
  template <class Pool, class Resident>
  LANEWISE_FUNCTION std::uint32_t append(tasks<Pool, Resident>& t, slab_unit* slab) const {
    if constexpr (std::is_same_v<Resident, no_resident>) {
      return no_unit;
    } else {
      const std::uint32_t now = warp_.load(Layout::link_of(slab));
      if (now != no_unit) return now;
      const std::uint32_t fresh = t.pool.allocate_one(warp_, t.resident);
      if (fresh == no_unit) return warp_.load(Layout::link_of(slab));
      const std::uint32_t there = exchange(Layout::link_of(slab), no_unit, fresh);
      if (there == no_unit) return fresh;
      t.pool.deallocate_one(warp_, fresh);
      return there;
    }
  }

  // Alone with a list.

  LANEWISE_FUNCTION void write(const auto& active, slab_unit* slab, const indices& element,
                               const lanes<word>& key, const lanes<word>& value) const {
    word* words = reinterpret_cast<word*>(slab);
    const indices index = element * indices(static_cast<std::uint32_t>(Layout::words));
    warp_.scatter(active, words, index, key);
    if constexpr (Layout::has_values) warp_.scatter(active, words + 1, index, value);
  }

  LANEWISE_FUNCTION void make_empty(slab_unit* slab) const {
    for (int i = 0; i < 32; i += Warp::width) warp_.store(slab->word + i, indices(~0u));
    warp_.fence();
  }

  /// Makes `last` the list's last slab, with the first `filled` elements as they are.
  template <class Pool>
  LANEWISE_FUNCTION void cut(const Pool& pool, slab_unit* last, std::uint32_t filled) const {
    std::uint32_t surplus = warp_.load(Layout::link_of(last));
    warp_.store(Layout::link_of(last), no_unit);
    for (std::uint32_t e = filled; e < static_cast<std::uint32_t>(Layout::elements);
         e += Warp::width) {
      const indices element = warp_.lane() + indices(e);
      write(element < static_cast<std::uint32_t>(Layout::elements), last, element,
            lanes<word>(Layout::empty), lanes<word>(Layout::empty));
    }
    warp_.fence();
    while (surplus != no_unit) {
      slab_unit* slab = pool.unit(surplus);
      const std::uint32_t then = warp_.load(Layout::link_of(slab));
      make_empty(slab);
      pool.deallocate_one(warp_, surplus);
      surplus = then;
    }
  }

  const Warp& warp_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
