// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/hash/slab_hash_table.hpp>
#include <lanewise/sort/multisplit.hpp>
#include <lanewise/warp/search.hpp>

// Many new elements for a table that nothing else is using. The items are sorted by pieces of the
// table, runs of neighbouring lists whose first slabs fit into a team's scratch. A team fetches the
// slabs of a piece and puts the piece's items there, every lane its own, by atomics of the scratch.
// Then it writes whole slabs back. Items that find their list's first slab full are left over, and
// go the ordinary way.

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

/// How a table is cut into classes that items are sorted by, each of them one piece or several. A
/// class has two digits, and one multisplit sorts by each: first by the lower digit, if there is
/// one, then by the upper one, which keeps the order by the lower.
struct slab_classes {
  int class_shift = 0;  ///< a class has 2^class_shift lists
  int low_bits = 0;     ///< of the number of a class
  std::int64_t classes = 0;

  static slab_classes of(std::int64_t lists, int piece_shift) {
    slab_classes c{piece_shift};
    constexpr std::int64_t most = most_buckets;
    while (divide_up(lists, std::int64_t{1} << c.class_shift) > most * most) ++c.class_shift;
    c.classes = divide_up(lists, std::int64_t{1} << c.class_shift);
    while (divide_up(c.classes, std::int64_t{1} << c.low_bits) > most) ++c.low_bits;
    return c;
  }
  std::int64_t low_digits() const { return std::int64_t{1} << low_bits; }
  std::int64_t high_digits() const { return divide_up(classes, low_digits()); }
};

/// Bits of the number of the list that a key lives in. Tables of all kinds and values share it, and
/// with it the sort.
template <class Key, class Hash>
struct list_digit {
  Hash hash;
  std::uint32_t buckets;
  std::uint64_t least_reserved;
  int shift;
  std::uint32_t mask;

  template <class Layout>
  list_digit(const detail::slab_locator<Layout, Hash>& where, int from_bit,
             std::uint32_t bits = ~0u)
      : hash(where.hash),
        buckets(where.buckets),
        least_reserved(Layout::least_reserved),
        shift(from_bit),
        mask(bits) {}

  LANEWISE_FUNCTION std::uint32_t operator()(const Key& key) const {
    return (detail::list_of(key, hash, buckets, least_reserved) >> shift) & mask;
  }
};

/// Keys, and what goes with them: values, or where they and statuses stand in other arrays.
template <class Key, class Value>
struct slab_items {
  Key* keys = nullptr;
  Value* values = nullptr;
  std::uint32_t* indices = nullptr;
};

template <class View, class Key, table_operation operation>
struct slab_build_kernel {
  using layout = typename View::layout;
  using word = typename layout::word;
  using value = typename View::value_type;

  // H200: 64 KiB for three teams of a multiprocessor.
  static constexpr int piece_shift = 9;
  static constexpr std::int64_t piece_lists = 1 << piece_shift;
  struct policy : launch_policy {
    static constexpr int warps = 12;
    static constexpr int teams_per_multiprocessor = 3;
  };

  static constexpr std::uint32_t words = 128 / sizeof(word);     // of a slab
  static constexpr std::uint32_t slots = words / layout::words;  // of a slab, with the link's
  static constexpr std::uint32_t keys = piece_lists * slots;     // of a piece
  static constexpr int per_pack = 16 / sizeof(word);
  static constexpr int elements_per_pack = per_pack / layout::words;
  using word_pack = pack<word, per_pack>;

  /// Keys, then values: what every search reads lies close together.
  template <class Team>
  struct scratch {
    word cells[piece_lists * words];
    index_range items;
  };

  View table;
  slab_classes cut;
  slab_items<const Key, const value> from;  // sorted by class
  const value* given;                       // values, or null; where from.indices says
  slab_items<Key, value> left;              // receives what is left over
  std::int64_t* lefts;                      // how many
  table_status* status;                     // null for none; where from.indices says
  status_counts* tally;                     // null for none
  std::int64_t n;
  std::int64_t most;  // items of a class that a team takes; the others are left over

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using warp_type = typename Team::warp_type;
    const auto warp = team.warp();
    lanes_t<warp_type, std::uint32_t> came(0u);
    const auto mine = team.share(cut.classes);
    for (std::int64_t c = mine.begin; c < mine.end; ++c) one_class(team, shared, c, came);
    leave_surplus(team);
    if (tally != nullptr)
      warp.fetch_add(came != 0u, tally->count, warp.lane(),
                     warp.template cast<std::uint64_t>(came));
  }

 private:
  static constexpr int statuses = 8;
  template <class Warp, class T = std::uint32_t>
  using lanes = lanes_t<Warp, T>;

  LANEWISE_FUNCTION std::int64_t class_of(const Key& key) const {
    return table.where().bucket_of(key) >> cut.class_shift;
  }
  LANEWISE_FUNCTION std::int64_t class_of_item(std::int64_t i) const {
    const Key key = from.keys[i];  // a copy: nvcc reads what a reference names byte by byte
    return class_of(key);
  }

  template <class Team, class Came>
  LANEWISE_FUNCTION void one_class(const Team& team, scratch<Team>& shared, std::int64_t c,
                                   Came& came) const {
    const auto warp = team.warp();
    const std::int64_t lists = std::int64_t{table.buckets()} + 1;
    const std::int64_t end =
        Kokkos::min(lists, static_cast<std::int64_t>((c + 1) << cut.class_shift));
    for (std::int64_t first = c << cut.class_shift; first < end; first += piece_lists) {
      const std::int64_t here = Kokkos::min(std::int64_t{piece_lists}, end - first);
      if (first == c << cut.class_shift && team.warp_index() == 0) {
        std::int64_t begins[2] = {0, 0}, ends[2] = {n, n};
        lanewise::partition_points(warp, begins, ends,
                                   [&](int q, std::int64_t i) { return class_of_item(i) < c + q; });
        warp.once([&] { shared.items = {begins[0], Kokkos::min(begins[1], begins[0] + most)}; });
      }
      fetch(team, shared, table.head(static_cast<std::uint32_t>(first)), here);
      team.barrier();
      const index_range items = shared.items;
      for (std::int64_t at = items.begin + team.warp_index() * warp.width; at < items.end;
           at += Team::warps * warp.width)
        window(warp, shared, at, items.end - at, static_cast<std::uint32_t>(first),
               static_cast<std::uint32_t>(here), came);
      team.barrier();
      if (items.begin < items.end)
        write_back(team, shared, table.head(static_cast<std::uint32_t>(first)), here);
      team.barrier();
    }
  }

  /// The slot of an element's key. Slabs are turned, so that the same elements of different slabs
  /// are in different banks.
  static LANEWISE_FUNCTION std::uint32_t slot_of(std::uint32_t list, std::uint32_t element) {
    constexpr std::uint32_t apart =
        128 / (slots * sizeof(word));  // slabs whose keys fill all banks
    return (list * slots) | ((element + list / apart) & (slots - 1));
  }
  /// As `slot_of`, for an element of every lane's pack, the packs being those from pack `first`
  /// on.
  template <class Warp>
  static LANEWISE_FUNCTION auto slots_in_packs(const Warp& warp, int first, int element) {
    constexpr std::uint32_t packs = words / per_pack;  // of a slab
    return warp.map(
        [first, element](std::uint32_t lane) {
          const std::uint32_t pack = static_cast<std::uint32_t>(first) + lane;
          return slot_of(pack / packs,
                         pack % packs * elements_per_pack + static_cast<std::uint32_t>(element));
        },
        warp.lane());
  }

  // Whole rows of packs pass through scratch, also where slabs end within a row.
  static constexpr int rows = 4;  // in flight together
  static_assert(piece_lists * words % (rows * 64 * per_pack) == 0);

  template <class Team>
  LANEWISE_FUNCTION void fetch(const Team& team, scratch<Team>& shared, const slab_unit* slabs,
                               std::int64_t here) const {
    using warp_type = typename Team::warp_type;
    constexpr int width = warp_type::width;
    const auto warp = team.warp();
    const auto* packs = reinterpret_cast<const word_pack*>(slabs);
    const auto last = static_cast<int>(here * (words / per_pack));
    for (int row = team.warp_index() * rows * width; row < last;
         row += Team::warps * rows * width) {
      lanes_t<warp_type, word_pack> got[rows];
      LANEWISE_UNROLL
      for (int r = 0; r < rows; ++r) {
        const int first = row + r * width;
        got[r] = warp.load(warp.first(last - first), packs + first, word_pack{});
      }
      LANEWISE_UNROLL
      for (int r = 0; r < rows; ++r) {
        LANEWISE_UNROLL
        for (int e = 0; e < elements_per_pack; ++e) {
          const auto at = slots_in_packs(warp, row + r * width, e);
          const auto word_of = [&](int j) {
            return warp.map([j](const word_pack& p) { return p[j]; }, got[r]);
          };
          warp.scatter(shared.cells, at, word_of(e * layout::words));
          if constexpr (layout::has_values)
            warp.scatter(shared.cells + keys, at, word_of(2 * e + 1));
        }
      }
    }
  }

  template <class Team>
  LANEWISE_FUNCTION void write_back(const Team& team, const scratch<Team>& shared, slab_unit* slabs,
                                    std::int64_t here) const {
    using warp_type = typename Team::warp_type;
    constexpr int width = warp_type::width;
    const auto warp = team.warp();
    auto* packs = reinterpret_cast<word_pack*>(slabs);
    const auto last = static_cast<int>(here * (words / per_pack));
    for (int first = team.warp_index() * width; first < last; first += Team::warps * width) {
      lanes_t<warp_type, word_pack> all;
      const auto put_word = [&](int j, const auto& x) {
        auto one = x;
        warp.each([j](word_pack& p, const word& w) { p[j] = w; }, all, one);
      };
      LANEWISE_UNROLL
      for (int e = 0; e < elements_per_pack; ++e) {
        const auto at = slots_in_packs(warp, first, e);
        put_word(e * layout::words, warp.gather(shared.cells, at));
        if constexpr (layout::has_values) put_word(2 * e + 1, warp.gather(shared.cells + keys, at));
      }
      warp.store(warp.first(last - first), packs + first, all);
    }
  }

  /// Puts the first `count` items from item `at` on into the piece's slabs, as far as they live
  /// there.
  template <class Warp, class Scratch>
  LANEWISE_FUNCTION void window(const Warp& warp, Scratch& shared, std::int64_t at,
                                std::int64_t count, std::uint32_t first, std::uint32_t here,
                                lanes<Warp>& came) const {
    const auto exist = warp.first(count);
    const auto key = warp.load(exist, from.keys + at, Key{});
    lanes<Warp> index(0u);
    if (from.indices != nullptr) index = warp.load(exist, from.indices + at, std::uint32_t{0});
    lanes<Warp, value> values(value{});
    if constexpr (layout::has_values) {
      values = given != nullptr ? warp.gather(exist, given, index, value{})
                                : warp.load(exist, from.values + at, value{});
    }
    const auto where = table.locate(warp, exist, key);
    const auto list = where.bucket - lanes<Warp>(first);
    const auto live = exist & (list < here);
    const auto given_words =
        warp.map([](const value& v) { return detail::to_word<word>(v); }, values);
    const auto result = put(warp, shared.cells, live, list, where.name, given_words);
    const auto done = live & (result != 0u);
    if (status != nullptr)
      warp.scatter(done, status, index,
                   warp.map([](std::uint32_t s) { return static_cast<table_status>(s); }, result));
    if (tally != nullptr) came = came + warp.histogram(done, result, statuses);
    leave(warp, live & (result == 0u), key, values, index);
  }

  /// Every lane's item into the slab of its list. Returns numbers of table_status: none for what
  /// the slab has no room for.
  template <class Warp, class Mask>
  LANEWISE_FUNCTION lanes<Warp> put(const Warp& warp, word* cells, Mask live,
                                    const lanes<Warp>& list, const lanes<Warp, word>& name,
                                    const lanes<Warp, word>& values) const {
    constexpr bool adds = operation == table_operation::add;
    constexpr bool assigns = operation == table_operation::assign && layout::has_values;
    constexpr auto then = assigns ? table_status::updated : table_status::present;
    constexpr auto elements = static_cast<std::uint32_t>(layout::elements);
    constexpr auto empty = static_cast<word>(layout::empty);
    constexpr int step = 4;  // keys looked at together
    lanes<Warp> result(0u);
    lanes<Warp> next(0u);  // all keys before it are others
    auto todo = live;
    while (warp.any(todo)) {
      lanes<Warp, word> stored[step];
      LANEWISE_UNROLL
      for (int j = 0; j < step; ++j) {
        const auto at =
            warp.map([j](std::uint32_t l,
                         std::uint32_t e) { return slot_of(l, e + static_cast<std::uint32_t>(j)); },
                     list, next);
        stored[j] = warp.template load_relaxed<scope::team>(todo, static_cast<const word*>(cells),
                                                            at, empty);
      }
      // The first that decides: the key, or an empty one.
      lanes<Warp> element(elements);
      LANEWISE_UNROLL
      for (int j = step - 1; j >= 0; --j) {
        auto decides = stored[j] == empty;
        if constexpr (!adds) decides = decides | (stored[j] == name);
        element =
            lanewise::select(decides, next + lanes<Warp>(static_cast<std::uint32_t>(j)), element);
      }
      const auto decided = todo & (element < elements);
      const auto at =
          warp.map([](std::uint32_t l, std::uint32_t e) { return slot_of(l, e); }, list, element);
      const auto before = warp.template compare_exchange<order::relaxed, scope::team>(
          decided, cells, at, lanes<Warp, word>(empty), name);
      const auto won = decided & (before == empty);
      auto hit = warp.template mask_of<word>(0);
      if constexpr (!adds) hit = decided & (before == name);
      if constexpr (assigns) {
        write_racing(warp, won | hit, cells + keys, at, values);
      } else if constexpr (layout::has_values) {
        warp.scatter(won, cells + keys, at, values);
      }
      result = lanewise::select(
          won, lanes<Warp>(static_cast<std::uint32_t>(table_status::inserted)), result);
      result = lanewise::select(hit, lanes<Warp>(static_cast<std::uint32_t>(then)), result);
      // A lane that lost an empty one to another key looks again.
      next = lanewise::select(decided, next, next + lanes<Warp>(static_cast<std::uint32_t>(step)));
      todo = todo & !(won | hit) & (next < elements);
    }
    return result;
  }
  /// If lanes write to one word, one of them wins.
  template <class Warp, class Mask>
  LANEWISE_FUNCTION void write_racing(const Warp& warp, Mask pending, word* cells,
                                      const lanes<Warp>& at, const lanes<Warp, word>& x) const {
    auto seen = warp.template load_relaxed<scope::team>(pending, static_cast<const word*>(cells),
                                                        at, word{0});
    while (warp.any(pending)) {
      const auto before =
          warp.template compare_exchange<order::relaxed, scope::team>(pending, cells, at, seen, x);
      pending = pending & (before != seen);
      seen = before;
    }
  }

  template <class Warp, class Mask>
  LANEWISE_FUNCTION void leave(const Warp& warp, Mask over, const lanes<Warp, Key>& key,
                               const lanes<Warp, value>& values, const lanes<Warp>& index) const {
    const int left_over = warp.count(over);
    if (left_over == 0) return;
    const std::int64_t at = warp.fetch_add(*lefts, static_cast<std::int64_t>(left_over));
    warp.compress_store(left.keys + at, over, key);
    if (left.values != nullptr) warp.compress_store(left.values + at, over, values);
    if (left.indices != nullptr) warp.compress_store(left.indices + at, over, index);
  }

  /// Leaves the items over that their class has beyond what a team takes: item i is one of them if
  /// item i - most is in the same class. Of half as many neighbours only those of the first one's
  /// class can be, and only if that is in a long one.
  template <class Team>
  LANEWISE_FUNCTION void leave_surplus(const Team& team) const {
    using warp_type = typename Team::warp_type;
    constexpr int width = warp_type::width;
    const auto warp = team.warp();
    const std::int64_t half = most / 2;
    const auto mine = team.share(divide_up(n, half));
    for (std::int64_t part = mine.begin; part < mine.end; ++part) {
      const std::int64_t begin = part * half;
      const std::int64_t end = Kokkos::min(begin + half, n);
      if (begin < half || class_of_item(begin - half) != class_of_item(begin)) continue;
      for (std::int64_t at = begin + team.warp_index() * width; at < end;
           at += Team::warps * width) {
        const std::int64_t count = end - at;
        const auto exist = warp.first(count);
        const auto key = warp.load(exist, from.keys + at, Key{});
        const auto over = exist & (warp.map(
                                       exist,
                                       [&](std::uint32_t lane, const Key& k) {
                                         const std::int64_t i = at + lane - most;
                                         return static_cast<std::uint32_t>(
                                             i >= 0 && class_of_item(i) == class_of(k));
                                       },
                                       std::uint32_t{0}, warp.lane(), key) != 0u);
        lanes<warp_type> index(0u);
        if (from.indices != nullptr) index = warp.load(exist, from.indices + at, std::uint32_t{0});
        lanes<warp_type, value> values(value{});
        if (from.values != nullptr) values = warp.load(exist, from.values + at, value{});
        leave(warp, over, key, values, index);
      }
    }
  }
};

}  // namespace kernels

LANEWISE_END_TARGET_NAMESPACE
