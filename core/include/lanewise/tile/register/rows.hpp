// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/scratch_items.hpp>
#include <lanewise/data/source.hpp>
#include <lanewise/data/zip.hpp>
#include <lanewise/league/look_back_chain.hpp>
#include <lanewise/team/policy.hpp>
#include <lanewise/warp/warp.hpp>

#include <cstdint>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// How many neighbouring items make up a pack: 16 bytes, if that divides a lane's items.
template <class T, int items_per_lane>
inline constexpr int pack_items = [] {
  int k = 1;
  while (2 * k * static_cast<int>(sizeof(T)) <= 16 && items_per_lane % (2 * k) == 0) k *= 2;
  return k;
}();

/// Whether a source is a zip of arrays.
template <class S>
inline constexpr bool has_arrays = false;
template <class S>
requires is_zip<S>
inline constexpr bool has_arrays<S> = S::has_arrays;

inline constexpr int line_bytes = 128;

/// Whether items are read from, or written to, lines of memory.
template <class S>
inline constexpr bool has_lines = (S::contiguous && !is_in_scratch<S>) || is_reversed_array<S>;

/// How many items of a source or sink come before the first that begins a line.
template <class S>
LANEWISE_FUNCTION int items_before_line(const S& s) {
  if constexpr (is_reversed_array<S>) {
    return lanewise::items_past<line_bytes>(s.forward.data + s.extent);
  } else {
    const int past = lanewise::items_past<line_bytes>(s.data);
    return past > 0 ? line_bytes / static_cast<int>(sizeof(*s.data)) - past : 0;
  }
}

/// The items of a tile in the registers of a team of several warps.
///
/// Each warp holds a contiguous segment as rows of W packs of v neighbouring items, so that a row
/// is one 16-byte access per lane: item order is warp, row, lane, place in the pack.
template <class Team, class T, int items_per_lane, int v_ = pack_items<T, items_per_lane>>
class register_tile {
 public:
  using team_type = Team;
  using value_type = T;
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;
  static constexpr int v = v_;
  static constexpr int rows = items_per_lane / v;
  static constexpr int row_items = v * width;
  static constexpr int segment = rows * row_items;
  static constexpr int items = segment * Team::warps;

  /// Loads items [first, first + items) of the source as far as they are below n.
  template <class Source>
  LANEWISE_FUNCTION register_tile(const Team& team, const Source& source, std::int64_t first,
                                  std::int64_t n)
      : register_tile(team, first, n) {
    load(source);
  }
  /// The rows of those items, not filled in.
  LANEWISE_FUNCTION register_tile(const Team& team, std::int64_t first, std::int64_t n)
      : team_(team), first_(first) {
    const std::int64_t left = n - first;
    const std::int64_t left_for_me = left - team.warp_index() * segment;
    // Whether everything is there is asked of the unclamped numbers: ptxas 13.0 takes a 32-bit
    // clamp(x, 0, c) == c for x > 0 on sm_90 (it uses the predicate that VIMNMX.RELU returns).
    whole_tile_ = left >= items;
    whole_segment_ = left_for_me >= segment;
    count_ = left < items ? static_cast<int>(left < 0 ? 0 : left) : items;
    mine_ = left_for_me < segment ? static_cast<int>(left_for_me < 0 ? 0 : left_for_me) : segment;
  }

  LANEWISE_FUNCTION int count() const { return count_; }
  LANEWISE_FUNCTION const Team& team() const { return team_; }
  LANEWISE_FUNCTION std::int64_t first() const { return first_; }
  /// Whether all items of this warp's segment exist.
  LANEWISE_FUNCTION bool whole_segment() const { return whole_segment_; }
  /// The packs of row j, the index of its first item, and how many of its items exist.
  LANEWISE_FUNCTION const auto& row(int j) const { return row_[j]; }
  LANEWISE_FUNCTION std::int64_t row_first(int j) const {
    return first_ + team_.warp_index() * segment + j * row_items;
  }
  LANEWISE_FUNCTION int row_count(int j) const {
    const int n = mine_ - j * row_items;
    return n < 0 ? 0 : (n < row_items ? n : row_items);
  }

  /// Calls f(exists, items) with a lane's worth of items at a time, in no particular order.
  template <class F>
  LANEWISE_FUNCTION void for_each_window(F f) {
    if (whole_segment_) {
      windows<true>(f);
    } else {
      windows<false>(f);
    }
  }

  /// Writes the items as they are.
  template <class Sink>
  LANEWISE_FUNCTION void store(const Sink& sink) {
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) write(sink, j, row_[j]);
  }

  /// Writes op(item, the item before it); item 0 of the source as it is.
  template <class Source, class Sink, class Op>
  LANEWISE_FUNCTION void store_adjacent(const Source& source, const Sink& sink, Op op) {
    const std::int64_t begin = row_first(0);
    if (whole_segment_ && begin > 0) {
      store_neighbours<true>(source(begin - 1), sink, op);
    } else {
      store_neighbours<false>(mine_ > 0 && begin > 0 ? source(begin - 1) : T{}, sink, op);
    }
  }

 protected:
  using packs = pack<T, v>;
  template <class U>
  using lanes = lanes_t<warp_type, U>;

  const Team& team_;
  std::int64_t first_;
  bool whole_tile_;
  bool whole_segment_;
  int count_;
  int mine_;
  const lanes<std::uint32_t> lane_index_ = team_.warp().lane();
  lanes<packs> row_[rows];

  /// Writes packs of results to the places of row j.
  template <class Sink, class Packs>
  LANEWISE_FUNCTION void write(const Sink& sink, int j, const Packs& row) {
    const auto warp = team_.warp();
    const std::int64_t at = row_first(j);
    if constexpr (Sink::contiguous) {
      using raw = pack<typename Sink::raw_type, v>;
      auto* address = sink.data + at;
      if (can_use_packs<raw>(address)) {
        if constexpr (is_in_scratch<Sink>) {
          warp.store(reinterpret_cast<raw*>(address), raw_packs<false, raw>(row));
        } else {
          warp.store_streaming(reinterpret_cast<raw*>(address), raw_packs<false, raw>(row));
        }
        return;
      }
    } else if constexpr (is_reversed_array<Sink>) {
      using raw = pack<typename decltype(sink.forward)::raw_type, v>;
      auto* address = sink.forward.data + (sink.extent - at - row_items);
      if (can_use_packs<raw>(address)) {
        warp.scatter(reinterpret_cast<raw*>(address), from_the_end(), raw_packs<true, raw>(row));
        return;
      }
    }
    const int n = row_count(j);
    warp.each(
        [&](const auto& p, std::uint32_t lane) {
          LANEWISE_UNROLL
          for (int c = 0; c < v; ++c) {
            const int i = static_cast<int>(lane) * v + c;
            if (i < n) sink(at + i, p[c]);
          }
        },
        row, lane_index_);
  }

  /// `inside`: all items exist, and so does the one before.
  template <bool inside, class Sink, class Op>
  LANEWISE_FUNCTION void store_neighbours(const T& in_front, const Sink& sink, Op op) {
    using result = decltype(op(in_front, in_front));
    const auto warp = team_.warp();
    lanes<T> before(in_front);
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      const auto last = warp.map([](const packs& p) { return p[v - 1]; }, row_[j]);
      const auto left = lanewise::select(lane_index_ == lanes<std::uint32_t>(0u), before,
                                         warp.shuffle_up(last, 1));
      if (j + 1 < rows) before = lanes<T>(warp.broadcast(last, width - 1));
      const bool first_of_all = !inside && row_first(j) == 0;
      const int n = inside ? row_items : row_count(j);
      write(sink, j,
            warp.map(
                [&](const packs& p, const T& neighbour, std::uint32_t lane) {
                  pack<result, v> r{};
                  LANEWISE_UNROLL
                  for (int c = 0; c < v; ++c) {
                    const int i = static_cast<int>(lane) * v + c;
                    if (!inside && i >= n) continue;
                    r[c] = first_of_all && i == 0
                               ? static_cast<result>(p[c])
                               : op(p[c], c > 0 ? p[c > 0 ? c - 1 : 0] : neighbour);
                  }
                  return r;
                },
                row_[j], left, lane_index_));
    }
  }

 private:
  /// Whether rows that begin between packs are made of the aligned packs around them: where items
  /// are narrow. Wider ones come as fast one by one, as the nearest cache has what the first asked
  /// for.
  template <class Array>
  static constexpr bool can_cross_packs() {
    if constexpr (Array::contiguous && !is_in_scratch<Array>) {
      using raw = typename Array::raw_type;
      return sizeof(raw) < 4 && v <= width && sizeof(pack<raw, v>) % 4 == 0 &&
             sizeof(pack<raw, v>) == alignof(pack<raw, v>);
    } else {
      return false;
    }
  }
  /// Items whose alignment is less than their size may lie anywhere.
  template <class Raw>
  LANEWISE_FUNCTION bool lies_between_packs(Raw* address) const {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return whole_segment_ && at % alignof(pack<Raw, v>) != 0 && at % sizeof(Raw) == 0;
  }
  /// A pack as words, so that its bytes stay together in registers.
  template <class Raw>
  using words = pack<std::uint32_t, v * sizeof(Raw) / 4>;

  template <bool full, class F>
  LANEWISE_FUNCTION void windows(F f) {
    const auto warp = team_.warp();
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      LANEWISE_UNROLL
      for (int c = 0; c < v; ++c) {
        const auto item = warp.map([c](const packs& p) { return p[c]; }, row_[j]);
        const int n = row_count(j);
        f(full ? warp.first(width) : warp.first(n <= c ? 0 : (n - c + v - 1) / v), item);
      }
    }
  }

  template <class Source>
  LANEWISE_FUNCTION void load(const Source& source) {
    const auto warp = team_.warp();
    if constexpr (Source::contiguous) {
      using raw = pack<typename Source::raw_type, v>;
      const auto* address = source.data + row_first(0);
      if (can_use_packs<raw>(address)) {
        load_packs<false, raw>(source, address);
        return;
      }
      if constexpr (can_cross_packs<Source>()) {
        if (lies_between_packs(address)) {
          load_across(source, address);
          return;
        }
      }
    } else if constexpr (has_arrays<Source>) {
      const bool can_use = detail::call_with(
          [&](const auto&... part) {
            return (can_use_packs<raw_pack_of<decltype(part)>>(part.data + row_first(0)) && ...);
          },
          source.parts);
      if (can_use) {
        detail::call_with(
            [&](const auto&... part) {
              load_zip(
                  [&](const raw_pack_of<decltype(part)>&... r) {
                    packs p;
                    LANEWISE_UNROLL
                    for (int c = 0; c < v; ++c) p[c] = source.f(part.from_raw(r[c])...);
                    return p;
                  },
                  load_raw(part)...);
            },
            source.parts);
        return;
      }
    } else if constexpr (is_reversed_array<Source>) {
      using raw = pack<typename decltype(source.forward)::raw_type, v>;
      const auto* address = source.forward.data + (source.extent - row_first(0) - row_items);
      if (can_use_packs<raw>(address)) {
        load_packs<true, raw>(source.forward, address);
        return;
      }
    }
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      const std::int64_t at = row_first(j);
      const int n = row_count(j);
      row_[j] = warp.map(
          [&](std::uint32_t lane) {
            packs p{};
            LANEWISE_UNROLL
            for (int c = 0; c < v; ++c) {
              const int i = static_cast<int>(lane) * v + c;
              if (i < n) p[c] = source(at + i);
            }
            return p;
          },
          warp.lane());
    }
  }

  template <class Part>
  using raw_pack_of = pack<typename std::decay_t<Part>::raw_type, v>;
  template <class Part>
  struct raw_rows {
    lanes<raw_pack_of<Part>> row[rows];
  };

  /// The rows of a part of a zip, as they lie in memory.
  template <class Part>
  LANEWISE_FUNCTION raw_rows<Part> load_raw(const Part& part) const {
    const auto warp = team_.warp();
    const auto* const at = reinterpret_cast<const raw_pack_of<Part>*>(part.data + row_first(0));
    raw_rows<Part> in;
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      if constexpr (is_touched_once<Part>) {
        in.row[j] = warp.load_streaming(at + j * width);
      } else {
        in.row[j] = warp.load(at + j * width);
      }
    }
    return in;
  }
  template <class F, class... Part>
  LANEWISE_FUNCTION void load_zip(const F& f, const raw_rows<Part>&... in) {
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) row_[j] = team_.warp().map(f, in.row[j]...);
  }

  template <class Raw, class Address>
  LANEWISE_FUNCTION bool can_use_packs(Address address) const {
    return whole_segment_ && reinterpret_cast<std::uintptr_t>(address) % alignof(Raw) == 0;
  }
  /// For rows whose items lie in memory in reverse order: lane 0 has the last pack.
  LANEWISE_FUNCTION lanes<std::uint32_t> from_the_end() const {
    return lanes<std::uint32_t>(width - 1u) - lane_index_;
  }

  /// Row 0 begins at the address; backward, it is the row's lowest address.
  template <bool backward, class Raw, class Source, class Address>
  LANEWISE_FUNCTION void load_packs(const Source& source, Address address) {
    const auto warp = team_.warp();
    const Raw* at = reinterpret_cast<const Raw*>(address);
    lanes<Raw> in[rows];
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      if constexpr (backward) {
        in[j] = warp.gather(at - j * width, from_the_end());
      } else if constexpr (is_in_scratch<Source> || !is_touched_once<Source>) {
        in[j] = warp.load(at + j * width);
      } else {
        in[j] = warp.load_streaming(at + j * width);
      }
    }
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      row_[j] = warp.map([&](const Raw& r) { return from_raw<backward>(source, r); }, in[j]);
    }
  }
  template <bool backward, class Source, class Raw>
  static LANEWISE_FUNCTION packs from_raw(const Source& source, const Raw& r) {
    packs p;
    LANEWISE_UNROLL
    for (int c = 0; c < v; ++c) p[c] = source.from_raw(r[backward ? v - 1 - c : c]);
    return p;
  }

  /// Loads rows that begin between packs: a lane's items lie in the aligned pack that begins in
  /// front of them and in the next lane's.
  template <class Source, class Item>
  LANEWISE_FUNCTION void load_across(const Source& source, const Item* address) {
    using raw = pack<Item, v>;
    using bytes = words<Item>;
    const auto warp = team_.warp();
    const int past = lanewise::items_past<alignof(raw)>(address);
    const auto* const at = reinterpret_cast<const bytes*>(address - past);
    lanes<bytes> in[rows];
    in[0] = warp.load(lane_index_ >= 1u, at, bytes{});
    LANEWISE_UNROLL
    for (int j = 1; j < rows; ++j) in[j] = warp.load_streaming(at + j * width);
    // After the loads, so that all are under way before the first is waited for.
    const lanes<bytes> ends(shared_packs(address, past));
    in[0] = lanewise::select(lane_index_ >= 1u, in[0], ends);
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      const auto& row_after = j + 1 < rows ? in[j + 1 < rows ? j + 1 : j] : ends;
      const auto after = warp.shuffle(lanewise::select(lane_index_ == 0u, row_after, in[j]),
                                      (lane_index_ + 1u) & (width - 1u));
      row_[j] = warp.map(
          [&](const bytes& a, const bytes& b) {
            return from_raw<false>(
                source, lanewise::items_of<raw>(lanewise::items_across<Item>(a, b, past)));
          },
          in[j], after);
    }
  }

  /// The two packs that the segment shares with others, as one: the segment has the items from
  /// `past` on of the first pack, and those before `past` of the last. The others' items are
  /// not read, as a scan in place may be writing them.
  template <class Item>
  LANEWISE_FUNCTION words<Item> shared_packs(const Item* address, int past) const {
    constexpr int per_word = 4 / static_cast<int>(sizeof(Item));
    const auto warp = team_.warp();
    auto word = warp.map(
        [&](std::uint32_t lane) {
          std::uint32_t bits = 0;
          const int i = static_cast<int>(lane);
          if (i < v)
            std::memcpy(&bits, address + (i < past ? segment : 0) + i - past, sizeof(Item));
          return bits << (i % per_word * static_cast<int>(8 * sizeof(Item)));
        },
        lane_index_);
    LANEWISE_UNROLL
    for (int d = 1; d < per_word; d *= 2) word = word | warp.shuffle_xor(word, d);
    words<Item> all;
    LANEWISE_UNROLL
    for (int w = 0; w < v / per_word; ++w) all[w] = warp.broadcast(word, w * per_word);
    return all;
  }

  template <bool backward, class Raw, class Packs>
  LANEWISE_FUNCTION auto raw_packs(const Packs& row) const {
    return team_.warp().map(
        [](const auto& p) {
          Raw r;
          LANEWISE_UNROLL
          for (int c = 0; c < v; ++c)
            r[c] = static_cast<std::decay_t<decltype(r[c])>>(p[backward ? v - 1 - c : c]);
          return r;
        },
        row);
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
