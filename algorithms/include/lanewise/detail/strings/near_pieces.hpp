// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/strings/pieces.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// A pattern of which some bytes may differ. Cut into one part more than that, it has a part
/// without a difference wherever it fits: the filters are those of the parts.
struct near_pattern_view {
  static constexpr int most_parts = 8;

  pattern_view pattern;  ///< its filter is not used
  int most;              ///< bytes that may differ
  int parts;
  pattern_filter filter[most_parts];

  /// The pattern with a part's filter.
  LANEWISE_FUNCTION pattern_view of_part(int part) const {
    pattern_view view = pattern;
    view.filter = filter[part];
    return view;
  }
};

/// Calls f with the kind of a part's filter as a constant.
template <class F>
LANEWISE_FUNCTION auto with_kind_of_part(pattern_filter::kind how, F f) {
  using kind = pattern_filter::kind;
  if (how == kind::up_to_eight_bytes)
    return f(std::integral_constant<kind, kind::up_to_eight_bytes>{});
  return with_long_kind(how, f);
}

}  // namespace detail
LANEWISE_END_NAMESPACE

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// A search with mismatches, and where the filters have been: a bit for each step and part.
struct near_search {
  static constexpr int of_piece = 128;  ///< steps

  detail::text_bytes text;
  detail::near_pattern_view pattern;
  int of_word;            ///< steps
  std::int64_t of_part;   ///< words
  std::uint32_t* passed;  ///< those of part p from p of_part on

  template <class Warp>
  LANEWISE_FUNCTION std::int64_t pieces() const {
    const std::int64_t places = std::int64_t{of_piece} * detail::text_steps<Warp>::places;
    return text.n == 0 ? 1 : divide_up(text.n, places);  // one that writes the number
  }
};

/// Tells in which steps of a text a part of the pattern may be.
struct near_filter_kernel {
  struct policy : launch_policy {
    static constexpr int teams_per_multiprocessor = 4;
    static constexpr int host_teams_per_thread = 16;
  };
  template <class Team>
  struct scratch {};

  near_search search;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    const auto warp = team.warp();
    const std::int64_t mine = team.index() * std::int64_t{Team::warps} + team.warp_index();
    for (std::int64_t w = mine; w < search.of_part; w += team.league() * Team::warps)
      for (int part = 0; part < search.pattern.parts; ++part) {
        const std::uint32_t bits = filter(warp, w, part);
        warp.once([&] { search.passed[part * search.of_part + w] = bits; });
      }
  }

 private:
  template <class Warp>
  LANEWISE_FUNCTION std::uint32_t filter(const Warp& warp, std::int64_t word, int part) const {
    using text_steps = detail::text_steps<Warp>;
    const detail::pattern_view pattern = search.pattern.of_part(part);
    const std::int64_t first =
        word * search.of_word * text_steps::places - text_steps::past(search.text, pattern);
    const text_steps steps(warp, search.text, pattern, first, search.of_word);
    std::uint32_t bits = 0;
    detail::with_kind_of_part(pattern.filter.how, [&](auto how) LANEWISE_INLINE_LAMBDA {
      for (int s = 0; s < search.of_word && steps.first_of(s) < search.text.n; ++s)
        bits |= static_cast<std::uint32_t>(!steps.is_inside(s) ||
                                           steps.template passes<decltype(how)::value>(s))
                << s;
    });
    return bits;
  }
};

/// A piece of a text: warps find the places of all parts, and bring them together in a bitmap in
/// scratch, as each part's steps begin at other bytes.
template <class Team>
class near_piece {
 public:
  using warp_type = typename Team::warp_type;
  using steps_type = detail::text_steps<warp_type>;
  using word = std::uint32_t;
  using words = typename steps_type::words;
  static constexpr int kept_steps = near_search::of_piece;  ///< by found_places

  /// Of the team's scratch.
  struct scratch {
    std::uint32_t bits[kept_steps * warp_type::width];
  };

  LANEWISE_FUNCTION near_piece(const Team& team, scratch& shared, const near_search& search,
                               std::int64_t piece)
      : team_(team), shared_(shared), search_(search), begin_(piece * kept_steps) {}

  LANEWISE_FUNCTION int steps() const { return kept_steps / Team::warps; }
  LANEWISE_FUNCTION std::int64_t first() const {
    return (begin_ + team_.warp_index() * steps()) * steps_type::places;
  }
  LANEWISE_FUNCTION int places_of_lane() const { return 32; }
  static LANEWISE_FUNCTION const words& in_order(const warp_type&, const words& bits) {
    return bits;
  }
  /// Calls f(step, first, bits) for the steps of this warp. All warps of the team call it.
  template <class F>
  LANEWISE_FUNCTION void find(F f) const {
    constexpr int width = warp_type::width;
    const auto warp = team_.warp();
    std::uint32_t* const mine = shared_.bits + team_.warp_index() * steps() * width;
    team_.barrier();
    for (int s = 0; s < steps(); ++s) warp.store(mine + s * width, words(0u));
    team_.barrier();
    for (int part = 0; part < search_.pattern.parts; ++part) find_part(warp, part);
    team_.barrier();
    for (int s = 0; s < steps(); ++s)
      f(s, first() + std::int64_t{s} * steps_type::places, warp.load(mine + s * width));
  }

 private:
  /// One step more than the piece has: its first places may be the piece's last ones.
  LANEWISE_RARE_FUNCTION void find_part(const warp_type& warp, int part) const {
    const detail::pattern_view pattern = search_.pattern.of_part(part);
    const std::int64_t first =
        begin_ * steps_type::places - steps_type::past(search_.text, pattern);
    const steps_type steps(warp, search_.text, pattern, first, kept_steps + 1);
    const std::int64_t left = divide_up(search_.text.n - first, std::int64_t{steps_type::places});
    each_passed(warp, search_.passed + part * search_.of_part + begin_ / search_.of_word,
                search_.of_word, left <= kept_steps ? static_cast<int>(left) : kept_steps + 1,
                [&](int s) LANEWISE_INLINE_LAMBDA {
                  if (s % Team::warps == team_.warp_index()) find_step(warp, steps, pattern, s);
                });
  }
  LANEWISE_FUNCTION void find_step(const warp_type& warp, const steps_type& steps,
                                   const detail::pattern_view& pattern, int s) const {
    words found = steps.is_inside(s) ? detail::with_kind_of_part(
                                           pattern.filter.how,
                                           [&](auto how) LANEWISE_INLINE_LAMBDA {
                                             return steps.template passing<decltype(how)::value>(s);
                                           })
                                     : steps.passing_at_edge(s);
    found = steps_type::in_order(warp, found);
    for (auto todo = warp.ballot(found != 0u); todo != 0; todo &= todo - 1) {
      const int lane = warp_type::lowest(todo);
      for (std::uint32_t bits = warp.broadcast(found, lane); bits != 0; bits &= bits - 1)
        verify(warp, steps.first_of(s) + 32 * lane + warp_type::lowest(bits));
    }
  }
  /// Sets the bit of a place of this piece where few enough bytes differ.
  LANEWISE_FUNCTION void verify(const warp_type& warp, std::int64_t place) const {
    const std::int64_t i = place - begin_ * steps_type::places;
    if (i < 0 || i >= std::int64_t{kept_steps} * steps_type::places || !is_near(warp, place))
      return;
    warp.template fetch_or<order::relaxed, scope::team>(shared_.bits[i / 32], 1u << i % 32);
  }
  LANEWISE_FUNCTION bool is_near(const warp_type& warp, std::int64_t place) const {
    constexpr int width = warp_type::width;
    const detail::pattern_view& pattern = search_.pattern.pattern;
    const unsigned char* const text = search_.text.data + place;
    std::uint32_t differ = 0;
    for (std::int64_t i = 0; i < pattern.size; i += 4 * width) {
      const std::int64_t left = pattern.size - i;
      const auto there = warp.first(left > 4 * width ? width : static_cast<int>((left + 3) / 4));
      const words different = warp.map(
          there,
          [=](std::uint32_t word, std::uint32_t care, std::uint32_t lane) {
            std::uint32_t here = 0;
            for (std::int64_t b = 0; b < 4 && i + 4 * lane + b < pattern.size; ++b)
              here |= std::uint32_t{text[i + 4 * lane + b]} << 8 * b;
            const std::uint32_t x = (here & care) ^ word;
            return static_cast<std::uint32_t>(
                warp_type::popcount((((x & 0x7f7f7f7f) + 0x7f7f7f7f) | x) & 0x80808080));
          },
          0u, warp.load(there, pattern.words + i / 4, 0u),
          warp.load(there, pattern.cares + i / 4, 0u), warp.lane());
      differ += warp.reduce(different, plus{});
      if (differ > static_cast<std::uint32_t>(search_.pattern.most)) return false;
    }
    return true;
  }

  const Team& team_;
  scratch& shared_;
  const near_search& search_;
  std::int64_t begin_;
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
