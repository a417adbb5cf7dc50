// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/tile/register/rows.hpp>
#include <lanewise/tile/selection.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// A lane's bits of row j: bit j * v + c where keep(pack, c, more...) holds for an item that
/// exists.
template <bool full, class Rows, class Keep, class Packs, class... More>
LANEWISE_FUNCTION auto select_row(const Rows& rows, int j, Keep keep, const Packs& packs,
                                  const More&... more) {
  constexpr int v = Rows::v;
  const auto warp = rows.team().warp();
  const int n = rows.row_count(j);
  return warp.map(
      [&](std::uint32_t lane, const auto& p, const auto&... others) {
        const int valid = n - static_cast<int>(lane) * v;
        std::uint32_t bits = 0;
        LANEWISE_UNROLL
        for (int c = 0; c < v; ++c) {
          if ((full || c < valid) && keep(p, c, others...)) bits |= 1u << (j * v + c);
        }
        return bits;
      },
      warp.lane(), packs, more...);
}

/// The bits of all rows; row(j, full) gives those of one, `full` being std::true_type where all of
/// the segment's items exist.
template <class Rows, class Row>
LANEWISE_FUNCTION auto select_all_rows(const Rows& rows, Row row) {
  typename Rows::warp_type::template lanes<std::uint32_t> bits(0u);
  if (rows.whole_segment()) {
    LANEWISE_UNROLL
    for (int j = 0; j < Rows::rows; ++j) bits = bits | row(j, std::true_type{});
  } else {
    LANEWISE_UNROLL
    for (int j = 0; j < Rows::rows; ++j) bits = bits | row(j, std::false_type{});
  }
  return bits;
}

/// The items just outside every lane's pack of row j, on that side: from the next lane, from the
/// next row, or `edge`, which is outside the segment.
template <int side, class Rows, class T>
LANEWISE_FUNCTION auto outer_neighbours(const Rows& rows, int j, const T& edge) {
  constexpr int inner = side < 0 ? Rows::v - 1 : 0;
  // The lane next to the row beyond hands in what lies there: one exchange in a circle.
  constexpr std::uint32_t beyond_lane = side < 0 ? Rows::width - 1 : 0;
  const auto warp = rows.team().warp();
  const auto border_of = [&](int row) {
    return warp.map([](const auto& p) { return p[inner]; }, rows.row(row));
  };
  using lanes = std::decay_t<decltype(border_of(j))>;
  const int beyond = j + side;
  const bool here = beyond >= 0 && beyond < Rows::rows;
  const lanes there = here ? border_of(here ? beyond : j) : lanes(edge);
  const auto from = warp.lane() + static_cast<std::uint32_t>(Rows::width + side);
  return warp.shuffle(lanewise::select(warp.lane() == beyond_lane, there, border_of(j)), from);
}

/// The item just outside a warp's segment on that side; anything where there is none below n.
template <int side, class Rows, class Source>
LANEWISE_FUNCTION auto item_outside(const Rows& rows, const Source& source, std::int64_t n) {
  const std::int64_t i = side < 0 ? rows.row_first(0) - 1 : rows.row_first(0) + Rows::segment;
  return i >= 0 && i < n ? source(i) : typename Source::value_type{};
}

/// Bit j * v + c of a lane says whether item c of its pack in row j is kept; `outside` is the item
/// just outside the segment on the marks' side, of n in all.
template <class Rows, class Selector, class T>
LANEWISE_FUNCTION auto bits_of(const Rows& rows, const Selector& marks, const T& outside,
                               std::int64_t n) {
  constexpr int v = Rows::v;
  constexpr int side = Selector::side;
  return detail::select_all_rows(rows, [&](int j, auto full) {
    if constexpr (side == 0) {
      return detail::select_row<full.value>(
          rows, j, [&](const auto& p, int c) { return marks(p[c]); }, rows.row(j));
    } else {
      // Only at the ends of the source an item has no neighbour: in a whole segment, at that of it.
      const std::int64_t at = rows.row_first(j);
      const bool at_an_end = !full.value || (side < 0 ? j == 0 : j + 1 == Rows::rows);
      return detail::select_row<full.value>(
          rows, j,
          [&](const auto& p, int c, const auto& outer, std::uint32_t lane) {
            const bool inside = c + side >= 0 && c + side < v;
            if (at_an_end && !(inside && full.value)) {
              const std::int64_t neighbour = at + std::int64_t{lane} * v + c + side;
              if (side < 0 ? neighbour < 0 : neighbour >= n) return true;
            }
            return marks(p[c], inside ? p[inside ? c + side : c] : outer);
          },
          rows.row(j), detail::outer_neighbours<side>(rows, j, outside), rows.team().warp().lane());
    }
  });
}

/// What the marks of a tile of such rows are computed from, beside the rows: asked of memory when
/// it is constructed, used in bits().
template <class Rows, class Selector>
class selection_inputs {
 public:
  template <class Source>
  LANEWISE_FUNCTION selection_inputs(const Rows& rows, const Source& source, const Selector& marks,
                                     std::int64_t n)
      : marks_(marks), n_(n) {
    if constexpr (Selector::side != 0)
      outside_ = detail::item_outside<Selector::side>(rows, source, n);
  }

  LANEWISE_FUNCTION auto bits(const Rows& rows) const {
    return detail::bits_of(rows, marks_, outside_, n_);
  }

 private:
  const Selector& marks_;
  std::int64_t n_;
  typename Rows::value_type outside_{};
};

template <class Rows, class Flags>
class selection_inputs<Rows, selected_by_flags<Flags>> {
  using flag = typename Flags::value_type;

 public:
  template <class Source>
  LANEWISE_FUNCTION selection_inputs(const Rows& rows, const Source&,
                                     const selected_by_flags<Flags>& marks, std::int64_t n)
      : flags_(rows.team(), marks.flags, rows.first(), n),
        after_(detail::item_outside<1>(rows, marks.flags, n)) {}

  LANEWISE_FUNCTION auto bits(const Rows& rows) const {
    return detail::select_all_rows(rows, [&](int j, auto full) {
      return detail::select_row<full.value>(
          rows, j, [](const auto& f, int c) { return f[c] != flag(0); }, flags_.row(j));
    });
  }
  /// Whether the item after the segment, which exists, is marked.
  LANEWISE_FUNCTION bool is_selected_after() const { return after_ != flag(0); }

 private:
  register_tile<typename Rows::team_type, flag, Rows::rows * Rows::v, Rows::v> flags_;
  flag after_;
};

template <class Rows, class Keys, class Equal>
class selection_inputs<Rows, key_differing<Keys, Equal>> {
  using key = typename Keys::value_type;
  using key_rows = register_tile<typename Rows::team_type, key, Rows::rows * Rows::v, Rows::v>;

 public:
  template <class Source>
  LANEWISE_FUNCTION selection_inputs(const Rows& rows, const Source&,
                                     const key_differing<Keys, Equal>& marks, std::int64_t n)
      : equal_(marks.equal),
        n_(n),
        keys_(rows.team(), marks.keys, rows.first(), n),
        before_(detail::item_outside<-1>(rows, marks.keys, n)),
        after_(detail::item_outside<1>(rows, marks.keys, n)) {}

  LANEWISE_FUNCTION const key_rows& keys() const { return keys_; }
  LANEWISE_FUNCTION auto bits(const Rows&) const {
    return detail::bits_of(keys_, selected_where_differing<-1, Equal>{equal_}, before_, n_);
  }
  LANEWISE_FUNCTION bool is_selected_after() const {
    const auto warp = keys_.team().warp();
    const auto last =
        warp.map([](const auto& p) { return p[Rows::v - 1]; }, keys_.row(Rows::rows - 1));
    return !equal_(warp.broadcast(last, Rows::width - 1), after_);
  }

 private:
  const Equal& equal_;
  std::int64_t n_;
  key_rows keys_;
  key before_;
  key after_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
