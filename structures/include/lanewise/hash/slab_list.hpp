// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/table_vocabulary.hpp>
#include <lanewise/hash/detail/slab_layout.hpp>

LANEWISE_BEGIN_NAMESPACE

// A slab list is a linked list of slabs, 128 bytes each (Ashkiani, 5.3 and 5.4). Any number of
// warps search and change it at the same time without locks. Its elements are assigned to lanes:
// every lane may have an operation on some list. They are processed by the warp: all its lanes read
// a slab together, and a ballot says where the key is. slab_walk, below, is that. What becomes of
// the slot is each lane's own affair again, slab_change: all lanes exchange theirs at once, after
// all searches, so that a warp waits once for that and not once for each slab.
//
// A slot goes through these states and no others:
//
//     empty -> key and value -> the same key, other values -> deleted
//
// A deleted slot stays so until flush(), and all slots before the first empty one are taken. So a
// key that is there stands before the first empty slot. An operation that finds that slot free and
// takes it has seen that the key is not there. So has an operation that loses it to another key and
// takes the next one. That makes keys unique without any lock, for a second one would have to take
// the same slot. It also keeps equal keys of a multimap in the order of insertion.
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
// cannot get it later. A slab may be read word by word. If a link was seen null, beside slots that
// were seen full, the key was not after this slab when the link was read.
//
// Memory orders. Elements are exchanged and read relaxed: what an operation publishes is its own
// element and nothing else. The operations on one key are linearisable all the same: a slot's key
// never changes into another, and every access to one word is coherent. A slab that is linked in
// was made empty before the kernel began, so that the link needs no release. A slab whose race to
// be linked in was lost was never visible, and goes back to the pool as it is.
//
// Elements of 16 bytes are exchanged as one word where the machine can (Warp::has_wide_exchange).
// Elsewhere the key's word is claimed first, the value written, and the key published with a
// release that the reader's acquire meets. An operation that comes to a claimed slot and has to
// know its key waits; that is the one place that is not lock-free. There, too, a deletion marks the
// key first and then changes the value to its complement. So an update whose exchange of the value
// succeeds was before it. The exception is an update that slept while other threads changed the
// value to the complement of what it had read. The key was deleted then. Where 16 bytes cannot be
// read as one word, the value is read after the key: it was written with the key or later, for the
// same key.

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

/// One operation in all lanes, or one for each lane. one_by_one: a lane's is done before that of
/// the next lane begins.
template <table_operation operation_, bool one_by_one_ = false>
struct same_operation {
  static constexpr table_operation operation = operation_;
  static constexpr bool one_by_one = one_by_one_;
  static constexpr bool counts = operation == table_operation::count;
  static constexpr bool changes = operation != table_operation::find && !counts;
  /// It goes to the end of the list, and says how many elements it came by.
  static constexpr bool takes_all = counts || operation == table_operation::erase_all;
  template <class Sub>
  LANEWISE_FUNCTION same_operation take(const Sub&) const {
    return {};
  }
  template <class Sub>
  LANEWISE_FUNCTION constexpr table_operation of(const Sub&, int) const {
    return operation;
  }
  /// Calls f(operation, x...) for the active lanes.
  template <class Sub, class Mask, class F, class... Lanes>
  LANEWISE_FUNCTION void each(const Sub& sub, Mask active, const F& f, Lanes&... x) const {
    sub.each(
        active, [&f](auto&... mine) { f(operation, mine...); }, x...);
  }
};
template <class Lanes>
struct operation_of_lane {
  static constexpr bool one_by_one = false;
  static constexpr bool counts = false;
  static constexpr bool changes = true;
  static constexpr bool takes_all = false;
  Lanes operations;

  template <class Sub>
  LANEWISE_FUNCTION auto take(const Sub& sub) const {
    using part = decltype(sub.take(operations));
    return operation_of_lane<part>{sub.take(operations)};
  }
  template <class Sub>
  LANEWISE_FUNCTION table_operation of(const Sub& sub, int source) const {
    return static_cast<table_operation>(sub.broadcast(operations, source));
  }
  template <class Sub, class Mask, class F, class... T>
  LANEWISE_FUNCTION void each(const Sub& sub, Mask active, const F& f, T&... x) const {
    Lanes numbers = operations;
    sub.each(
        active,
        [&f](std::uint32_t number, auto&... mine) {
          f(static_cast<table_operation>(number), mine...);
        },
        numbers, x...);
  }
};

/// Whether an element is read and exchanged as one word.
template <class Layout, class Warp>
inline constexpr bool in_one_piece =
    !Layout::wide || (Warp::has_wide_words && Warp::has_wide_exchange);

/// A slot of a slab that decides about a task: the first with its key or, where that may be put
/// there, the first empty one.
template <class Word>
struct slab_slot {
  std::uint32_t unit;
  Word key;
  Word value;
};

/// What a lane does with the slot that was found for it, by itself: Solo is a warp of one lane.
template <class Layout, class Solo>
class slab_change {
 public:
  using word = typename Layout::word;
  using slot = slab_slot<word>;
  static constexpr bool claims = Layout::wide && !Solo::has_wide_exchange;

  struct task {
    table_operation operation;
    word key;
    word value;  // given, and returned
  };

  /// Returns what came of the task; none if the list is to be searched again, from this slab on.
  template <class Combine>
  LANEWISE_FUNCTION table_status try_update(slab_unit* slab, slot found, task& t,
                                            const Combine& combine) const {
    if constexpr (claims) {
      if (found.key == Layout::claimed) {
        solo_.pause();
        return table_status::none;
      }
      const outcome wanted = decide(found, t, combine);
      if (wanted.status != table_status::none) return wanted.status;
      return change(slab, found, wanted) ? changed(found, t) : table_status::none;
    } else {
      for (;;) {
        const outcome wanted = decide(found, t, combine);
        if (wanted.status != table_status::none) return wanted.status;
        const auto before = Layout::make(found.key, found.value);
        const auto now = exchange(*Layout::element_at(slab, found.unit), before,
                                  Layout::make(wanted.key, wanted.value));
        if (now == before) return changed(found, t);
        if (!goes_on(found, t, Layout::key_of(now), Layout::value_of(now)))
          return table_status::none;
      }
    }
  }

 private:
  /// What came of a task as the slot is or, with status none, what the slot is to hold.
  struct outcome {
    table_status status;
    word key = 0;
    word value = 0;
  };

  template <class Combine>
  LANEWISE_FUNCTION outcome decide(const slot& found, task& t, const Combine& combine) const {
    switch (t.operation) {
      case table_operation::find:
        t.value = found.value;
        return {table_status::found};
      case table_operation::erase:
      case table_operation::erase_all:
        return {table_status::none, Layout::deleted, found.value};
      default:
        break;
    }
    if (found.key == Layout::empty) return {table_status::none, t.key, t.value};
    if (t.operation == table_operation::insert || !Layout::has_values) {
      t.value = found.value;
      return {table_status::present};
    }
    const bool combines = t.operation == table_operation::combine;
    return {table_status::none, t.key, combines ? combine(found.value, t.value) : t.value};
  }
  LANEWISE_FUNCTION table_status changed(const slot& found, task& t) const {
    switch (t.operation) {
      case table_operation::erase:
        t.value = found.value;
        return table_status::erased;
      case table_operation::erase_all:
        ++t.value;
        return table_status::none;  // there may be more
      default:
        return found.key == Layout::empty ? table_status::inserted : table_status::updated;
    }
  }

  /// Another operation has changed the slot. The task stays with it while it has the key; a task
  /// that lost an empty slot tries the next one, for all before it are now known to have other
  /// keys.
  LANEWISE_FUNCTION bool goes_on(slot& found, const task& t, word key, word value) const {
    const bool was_empty = found.key == Layout::empty;
    if (key == t.key && t.operation != table_operation::add) {
      found.key = key;
      found.value = value;
      return true;
    }
    found.unit += static_cast<std::uint32_t>(Layout::units_per_element);
    return was_empty && Layout::has_key(found.unit);
  }

  // For tables in which a slot is claimed first. there has afterwards what the slot had last.

  LANEWISE_FUNCTION bool change(slab_unit* slab, slot& found, const outcome& wanted) const {
    if (found.key == Layout::empty) return fill(slab, found.unit, wanted);
    if (wanted.key == Layout::deleted) return remove(slab, found);
    return replace(slab, found, wanted.value);
  }
  LANEWISE_FUNCTION bool fill(slab_unit* slab, std::uint32_t unit, const outcome& wanted) const {
    word& key = *Layout::key_at(slab, unit);
    if (exchange(key, Layout::empty, Layout::claimed) != Layout::empty) return false;
    solo_.store(*Layout::value_at(slab, unit), wanted.value);
    solo_.template store<order::release>(key, wanted.key);
    return true;
  }
  /// If the key is being deleted, then this was before.
  LANEWISE_FUNCTION bool replace(slab_unit* slab, const slot& found, word value) const {
    return exchange(*Layout::value_at(slab, found.unit), found.value, value) == found.value;
  }
  LANEWISE_FUNCTION bool remove(slab_unit* slab, slot& found) const {
    if (exchange(*Layout::key_at(slab, found.unit), found.key, Layout::deleted) != found.key)
      return false;
    // Another value, so that no operation replaces it any more.
    word& value = *Layout::value_at(slab, found.unit);
    for (word now; (now = solo_.template compare_exchange<order::acq_rel>(
                        value, found.value, static_cast<word>(~found.value))) != found.value;)
      found.value = now;
    return true;
  }
  template <class T>
  LANEWISE_FUNCTION T exchange(T& target, std::type_identity_t<T> expected,
                               std::type_identity_t<T> desired) const {
    return solo_.template compare_exchange<order::relaxed>(target, expected, desired);
  }

  Solo solo_;
};

/// A (sub-)warp that works on slabs.
template <class Layout, class Warp>
class slab_walk {
 public:
  using word = typename Layout::word;
  using unit = typename Layout::unit;
  template <class T>
  using lanes = lanes_t<Warp, T>;
  using indices = lanes<std::uint32_t>;
  using bits = typename Warp::bits;

  /// A slab as the warp reads it: neighbouring units in each lane.
  static constexpr int per_lane = 128 / (Warp::width * static_cast<int>(sizeof(unit)));
  using part = std::conditional_t<per_lane == 1, unit, pack<unit, per_lane>>;
  using line = lanes<part>;
  static constexpr bool claims = Layout::wide && !Warp::has_wide_exchange;
  /// One lane that reads a slab compares all its words at once, and reads its value afterwards.
  static constexpr bool alone = Warp::width == 1;
  static constexpr bool value_in_line = !alone && (!Layout::wide || Warp::has_wide_words);

  /// The active lanes' operations, and what comes of them.
  template <class Pool>
  struct tasks {
    const Pool& pool;
    lanes<word> key;
    lanes<word> value;       // given, and returned: what is there, or how many
    lanes<slab_unit*> slab;  // where the search begins, and where it has come to
    indices status{0u};      // returned
  };

  LANEWISE_FUNCTION explicit slab_walk(const Warp& warp) : warp_(warp) {}

  /// Every active lane's operation, from its slab on. The whole warp calls. It searches for the
  /// slots of all lanes; then each lane changes its own, so that a warp waits once for all its
  /// exchanges. Lanes whose status is none afterwards are to go on where they have come to; those
  /// with no_room may do so once there is a slab after theirs. Where elements are in one piece
  /// sub-warps may go in step.
  template <class Tasks, class Mask, class Operations, class Combine>
  LANEWISE_FUNCTION void run(Tasks& t, Mask active, const Operations& operations,
                             const Combine& combine) const {
    slots at;
    search(t, at, active, operations);
    if constexpr (Operations::changes)
      try_update(t, at, active & has_status(t, table_status::found), operations, combine);
  }

  /// Calls f(source, mask, values) for all elements with the active lanes' keys, slab by slab, in
  /// the order of insertion.
  template <class Tasks, class Mask, class F>
  LANEWISE_FUNCTION void find_all(Tasks& t, Mask active, const F& f) const {
    warp_.template cooperate<1>(
        active, [&](int source) { return warp_.broadcast(t.slab, source); },
        [&](int source, slab_unit* slab) {
          const word wanted = warp_.broadcast(t.key, source);
          visit(slab, [&](const auto& exists, const lanes<word>& key, const lanes<word>& value) {
            f(source, exists & (key == wanted), value);
          });
          slab_unit* then = next(t.pool, slab);
          t.slab = lanewise::select(warp_.lane() == static_cast<std::uint32_t>(source),
                                    lanes<slab_unit*>(then), t.slab);
          return then == nullptr;
        });
  }

  /// Calls f(mask, keys, values) for the elements of a slab that are there, some lanes at a time.
  template <class F>
  LANEWISE_FUNCTION void visit(slab_unit* slab, F f) const {
    constexpr int width = Warp::width;
    for (int begin = 0; begin < Layout::elements; begin += width) {
      const int left = Layout::elements - begin;
      const auto exists = warp_.first(left);
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

  /// Moves the elements of a list that are there to its front, in order (the paper's FLUSH). Makes
  /// the slots after them empty, and gives the slabs after those back. No other warp may be using
  /// the list.
  template <class Pool>
  LANEWISE_FUNCTION void flush(const Pool& pool, slab_unit* head) const {
    slab_unit* to = head;  // where elements go: to is never after what is read
    std::uint32_t filled = 0;
    slab_unit* from = head;
    do {
      visit(from, [&](const auto& exists, const lanes<word>& key, const lanes<word>& value) {
        const bits chosen = warp_.ballot(exists);
        const auto live = static_cast<std::uint32_t>(Warp::popcount(chosen));
        const indices rank = warp_.map(
            [chosen, filled](bits below) {
              return filled + static_cast<std::uint32_t>(Warp::popcount(chosen & below));
            },
            warp_.lanes_below());
        warp_.fence();  // all have read before anyone writes
        constexpr auto room = static_cast<std::uint32_t>(Layout::elements);
        write(exists & (rank < room), to, rank, key, value);
        filled += live;
        if (filled > room) {
          to = next(pool, to);  // there is one: elements do not move towards the end
          filled -= room;
          write(exists & (rank >= room), to, rank - indices(room), key, value);
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
  using slot = slab_slot<word>;
  using solo = typename Warp::template part<1>;

  /// The slot that was found in each lane's slab.
  struct slots {
    indices unit{0u};
    lanes<word> key{word{0}};
    lanes<word> value{word{0}};
  };

  template <class Tasks>
  LANEWISE_FUNCTION auto has_status(const Tasks& t, table_status status) const {
    return t.status == static_cast<std::uint32_t>(status);
  }

  /// Searches the active lanes' lists. Their statuses become found, where there is a slot that
  /// decides about the task, and else absent or no_room, with the last slab.
  template <class Tasks, class Mask, class Operations>
  LANEWISE_FUNCTION void search(Tasks& t, slots& at, Mask active,
                                const Operations& operations) const {
    constexpr int lines = Operations::one_by_one ? 1 : Warp::line_depth;
    constexpr int depth = lines < Warp::width ? lines : Warp::width;
    warp_.template cooperate_in_step<depth>(
        active, [&](int source) { return read(warp_.broadcast(t.slab, source)); },
        [&](int source, const line& seen, bool live) {
          const table_operation operation = operations.of(warp_, source);
          const word key = warp_.broadcast(t.key, source);
          const auto me = warp_.lane() == static_cast<std::uint32_t>(live ? source : Warp::width);
          sight result{};
          if constexpr (Operations::counts) {
            t.value = lanewise::select(me, t.value + lanes<word>(number_of(seen, key)), t.value);
          } else {
            result = look<Operations::changes>(t, source, seen, operation, key);
            if (!result.stands) return false;
            keep<Operations::changes>(t, at, me, result);
          }
          const std::uint32_t link = link_in(seen);
          auto status = table_status::none;
          if (link == no_unit)
            status = needs_room(operation) ? table_status::no_room : table_status::absent;
          if (result.found) status = table_status::found;
          t.status = lanewise::select(me, indices(static_cast<std::uint32_t>(status)), t.status);
          if (status != table_status::none) return true;
          slab_unit* then = t.pool.unit(link);
          t.slab = lanewise::select(me, lanes<slab_unit*>(then), t.slab);
          warp_.prefetch(warp_.first(2), then->word, warp_.lane() * indices(16u));
          return false;
        });
  }

  /// Each lane with a slot decides about its task, and changes the slot if it is to.
  template <class Tasks, class Mask, class Operations, class Combine>
  LANEWISE_FUNCTION void try_update(Tasks& t, slots& at, Mask found, const Operations& operations,
                                    const Combine& combine) const {
    using changer = slab_change<Layout, solo>;
    static_assert(changer::claims == claims);
    operations.each(
        warp_, found,
        [&combine](table_operation operation, slab_unit* slab, std::uint32_t number, word key_there,
                   word value_there, word key, word& value, std::uint32_t& status) {
          typename changer::task task{operation, key, value};
          status = static_cast<std::uint32_t>(
              changer().try_update(slab, {number, key_there, value_there}, task, combine));
          value = task.value;
        },
        t.slab, at.unit, at.key, at.value, t.key, t.value, t.status);
  }

  /// What the warp sees of a task in a slab: whether there is a slot, and which.
  struct sight : slot {
    bool found = false;
    bool stands = true;  // false where the key went before its value was read
  };

  /// Only code that changes slots is told where they are and which key they have.
  template <bool changes, class Tasks>
  LANEWISE_FUNCTION sight look(const Tasks& t, int source, const line& seen,
                               table_operation operation, word key) const {
    const bool adds = operation == table_operation::add;
    const bool puts = needs_room(operation) && !adds;
    const word wanted = adds ? Layout::empty : key;
    const word other = puts ? Layout::empty : wanted;
    if constexpr (alone) {
      return look_alone(warp_.broadcast(t.slab, source), seen, key, wanted, other);
    } else {
      return look_together<changes>(t, source, seen, key, wanted, other);
    }
  }
  /// wanted and other are the keys of the slots that decide: they may be the same.
  template <bool changes, class Tasks>
  LANEWISE_FUNCTION sight look_together(const Tasks& t, int source, const line& seen, word key,
                                        word wanted, word other) const {
    const auto [hit, mine] = hits(seen, [wanted, other](const lanes<word>& w) {
      auto chosen = (w == wanted) | (w == other);
      if constexpr (claims) chosen = chosen | (w == claimed_beside(wanted, other));
      return chosen;
    });
    sight result{{0, key, Layout::empty}, hit != 0};
    const int lane = result.found ? Warp::lowest(hit) : 0;
    if constexpr (changes || !value_in_line)
      result.unit = unit_of(static_cast<std::uint32_t>(lane), warp_.broadcast(mine, lane));
    if constexpr (changes) result.key = warp_.broadcast(words_at(seen, mine), lane);
    if constexpr (value_in_line) {
      result.value = value_in(seen, mine, lane);
    } else if (result.found && result.key == key) {
      result.stands = read_value(warp_.broadcast(t.slab, source), result);
    }
    return result;
  }
  LANEWISE_FUNCTION sight look_alone(slab_unit* slab, const line& seen, word key, word wanted,
                                     word other) const {
    const std::uint32_t first = keys_equal(seen, wanted);
    const std::uint32_t second = keys_equal(seen, other);
    std::uint32_t any = first | second;
    if constexpr (claims) any |= keys_equal(seen, claimed_beside(wanted, other));
    sight result{{0, key, Layout::empty}, any != 0};
    if (any == 0) return result;
    const auto at = static_cast<std::uint32_t>(Warp::lowest(any));
    result.unit = at / words_per_unit;
    result.key = (first >> at & 1) != 0    ? wanted
                 : (second >> at & 1) != 0 ? other
                                           : Layout::claimed;
    if (result.key == key) result.stands = read_value(slab, result);
    return result;
  }
  /// What decides, too, where a slot for the key may be empty.
  static LANEWISE_FUNCTION word claimed_beside(word wanted, word other) {
    return wanted == other ? wanted : static_cast<word>(Layout::claimed);
  }
  /// The lane `me` keeps its slot to change it, or else the value that was found.
  template <bool changes, class Tasks, class Mask>
  LANEWISE_FUNCTION void keep(Tasks& t, slots& at, Mask me, const sight& result) const {
    if constexpr (changes) {
      at.unit = lanewise::select(me, indices(result.unit), at.unit);
      at.key = lanewise::select(me, lanes<word>(result.key), at.key);
      at.value = lanewise::select(me, lanes<word>(result.value), at.value);
    } else if (result.found) {
      t.value = lanewise::select(me, lanes<word>(result.value), t.value);
    }
  }

  // Reading.

  static LANEWISE_FUNCTION constexpr std::uint32_t unit_of(std::uint32_t lane, std::uint32_t j) {
    return lane * static_cast<std::uint32_t>(per_lane) + j;
  }

  LANEWISE_FUNCTION line read(const slab_unit* slab) const {
    const part* p = reinterpret_cast<const part*>(slab);
    if constexpr (value_in_line || !Layout::wide) {
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
  /// The unit of every lane that it names.
  LANEWISE_FUNCTION lanes<unit> units_at(const line& seen, const indices& which) const {
    if constexpr (per_lane == 1) {
      return seen;
    } else {
      return warp_.map(
          [](const part& p, std::uint32_t j) {
            unit x = p[0];
            LANEWISE_UNROLL
            for (int i = 1; i < per_lane; ++i) x = static_cast<std::uint32_t>(i) == j ? p[i] : x;
            return x;
          },
          seen, which);
    }
  }
  template <class J>
  LANEWISE_FUNCTION lanes<word> words_at(const line& seen, const J& j) const {
    return warp_.template cast<word>(units_at(seen, j));
  }
  /// The lanes whose unit j has a key.
  static LANEWISE_FUNCTION constexpr bits key_lanes(int j) {
    bits b = 0;
    for (std::uint32_t l = 0; l < Warp::width; ++l)
      b |= bits{Layout::has_key(unit_of(l, static_cast<std::uint32_t>(j)))} << l;
    return b;
  }
  /// Units with a key that passes the test: which lanes have any, and which unit is each one's
  /// first. The test takes lanes of keys and returns a mask.
  struct choice {
    bits hit;
    indices first;
  };
  template <class Test>
  LANEWISE_FUNCTION choice hits(const line& seen, const Test& test) const {
    constexpr int step = Layout::units_per_element;
    indices first(0u);
    auto any = warp_.template mask_of<word>(0);
    LANEWISE_UNROLL
    for (int j = (per_lane - 1) / step * step; j >= 0; j -= step) {
      const auto here = test(words_at(seen, j)) & warp_.template mask_of<word>(key_lanes(j));
      first = lanewise::select(here, indices(static_cast<std::uint32_t>(j)), first);
      any = any | here;
    }
    return {warp_.ballot(any), first};
  }

  /// The words of the slab that are this key, for a lane that has read it alone.
  static constexpr std::uint32_t words_per_unit = sizeof(unit) / sizeof(word);
  static LANEWISE_FUNCTION constexpr std::uint32_t key_words() {
    std::uint32_t bits = 0;
    for (std::uint32_t u = 0; u < 128 / sizeof(unit); ++u)
      bits |= std::uint32_t{Layout::has_key(u)} << u * words_per_unit;
    return bits;
  }
  LANEWISE_FUNCTION std::uint32_t keys_equal(const line& seen, word key) const {
    return warp_.broadcast(warp_.match_words(seen, lanes<word>(key)), 0) & key_words();
  }

  /// The value beside the key at that unit of a lane.
  LANEWISE_FUNCTION word value_in(const line& seen, const indices& unit_of_key, int lane) const {
    if constexpr (!Layout::has_values) {
      return 0;
    } else if constexpr (!Layout::wide) {
      return warp_.broadcast(
          warp_.map([](unit x) { return static_cast<word>(x >> 32); }, units_at(seen, unit_of_key)),
          lane);
    } else if constexpr (per_lane == 1) {
      return warp_.broadcast(seen, (lane + 1) % Warp::width);
    } else {
      return warp_.broadcast(units_at(seen, unit_of_key + indices(1u)), lane);
    }
  }
  /// If the line does not have it: the value of a key that was seen. False if the key has gone
  /// meanwhile.
  LANEWISE_FUNCTION bool read_value(slab_unit* slab, slot& found) const {
    if constexpr (!Layout::has_values) {
      found.value = 0;
      return true;
    } else if constexpr (!Layout::wide) {
      const unit now = warp_.load(*Layout::element_at(slab, found.unit));
      found.value = Layout::value_of(now);
      return Layout::key_of(now) == found.key;
    } else if constexpr (!claims) {
      found.value = warp_.load(*Layout::value_at(slab, found.unit));
      return true;
    } else {
      found.value = warp_.template load<order::acquire>(*Layout::value_at(slab, found.unit));
      return warp_.load(*Layout::key_at(slab, found.unit)) == found.key;
    }
  }
  LANEWISE_FUNCTION std::uint32_t link_in(const line& seen) const {
    constexpr int above = 8 * sizeof(unit) - 32;
    const auto last = warp_.map([](unit x) { return static_cast<std::uint32_t>(x >> above); },
                                units_at(seen, per_lane - 1));
    return warp_.broadcast(last, Warp::width - 1);
  }

  LANEWISE_FUNCTION word number_of(const line& seen, word key) const {
    int number = 0;
    if constexpr (alone) {
      number = Warp::popcount(keys_equal(seen, key));
    } else {
      LANEWISE_UNROLL
      for (int j = 0; j < per_lane; j += Layout::units_per_element)
        number += Warp::popcount(warp_.ballot(words_at(seen, j) == key) & key_lanes(j));
    }
    return static_cast<word>(number);
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
