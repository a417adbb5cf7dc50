// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/papers/detail/fingerprints/places.hpp>
#include <lanewise/papers/detail/names.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {
namespace detail {

/// The places where a fingerprint that rolls over a text is the pattern's: bit i stands for place
/// i, of up to 64 places. Reads places + m - 1 bytes.
template <class Fingerprint>
LANEWISE_FUNCTION std::uint64_t roll(const Fingerprint& print, const unsigned char* text,
                                     int places) {
  constexpr int together = 4;
  const std::int64_t before = print.size() - 1;
  typename Fingerprint::value_type value = 0;
  for (std::int64_t i = 0; i < before; ++i) value = print.append(value, text[i]);
  const unsigned char* const ahead = text + before;
  const auto is_at = [&](int i) LANEWISE_INLINE_LAMBDA {
    value = print.append(value, ahead[i]);
    const bool fits = value == print.wanted();
    value = print.drop(value, text[i]);
    return fits ? 1u : 0u;
  };
  std::uint64_t found = 0;
  int i = 0;
  for (; i + together <= places; i += together) {
    std::uint32_t some = 0;
    LANEWISE_UNROLL
    for (int k = 0; k < together; ++k) some |= is_at(i + k) << k;
    found |= std::uint64_t{some} << i;
  }
  for (; i < places; ++i) found |= std::uint64_t{is_at(i)} << i;
  return found;
}

template <class Policy>
void expects_cuts(const Policy& how) {
  const int g = how.places_of_lane, w = how.windows;
  expects(g >= 12 && g <= 44 && g % 8 == 4, "by_fingerprints::pattern: places_of_lane is ", g,
          ", not 12, 20, 28, 36 or 44");
  expects(w == 0 || w == 8 || w == 16 || w == 32, "by_fingerprints::pattern: windows is ", w,
          ", not 0, 8, 16 or 32");
}

/// What is searched by rolling, at `places` places: places of the text, or of a part of the pattern
/// some bytes on. A lane has places_of_lane of them in each of the windows of a subtext.
template <class Fingerprint>
struct divided_text {
  const unsigned char* data;
  std::int64_t n;
  std::int64_t places;
  int places_of_lane;
  Fingerprint print;
  int windows;
};

/// The paper's blocks have 256 threads and as many lanes' places: 8 windows. Longer texts have
/// longer subtexts, while there are some thousand, so that what a team does once counts less.
inline constexpr int most_windows = 32;
template <class Policy>
int windows_of(const Policy& how, std::int64_t places) {
  if (how.windows != 0) return how.windows;
  int windows = 8;
  while (windows < most_windows && places / (32 * how.places_of_lane * windows) > 4000)
    windows *= 2;
  return windows;
}

}  // namespace detail
namespace kernels {

/// DRK: the places of a team's subtext, g neighbours for every lane, whose fingerprint rolls over
/// g + m - 1 bytes (Ashkiani, 2.4 and 2.6.2).
///
/// The team brings the subtext to its scratch, with the m - 1 bytes after it that its last windows
/// need. As g / 4 is odd, lanes read from different banks. Longer halos than there is room for stay
/// where they are, and so does the subtext then.
template <class Team, class Fingerprint>
class divided_piece {
  static constexpr int width = Team::warp_type::width;
  static constexpr std::int64_t most_halo = Fingerprint::most_staged - 1;
  static constexpr int most_places = 44;

 public:
  using text_type = detail::divided_text<Fingerprint>;
  using word = std::uint64_t;
  static constexpr int kept_steps = detail::most_windows;
  static_assert(8 % Team::warps == 0);
  struct scratch {
    typename Team::template staging<unsigned char, kept_steps * width * most_places + most_halo>
        stage;
  };

  static LANEWISE_FUNCTION void begin(const Team& team, scratch& shared) {
    shared.stage.init(team);
  }
  static LANEWISE_FUNCTION std::int64_t pieces(const text_type& text) {
    return lanewise::divide_up(text.places, places_of_team(text));
  }

  /// times: how many pieces this team has had, with this one.
  LANEWISE_FUNCTION divided_piece(const Team& team, scratch& shared, const text_type& text,
                                  std::int64_t piece, std::uint32_t times)
      : team_(team),
        shared_(shared),
        text_(text),
        times_(times),
        begin_(piece * places_of_team(text)) {}

  LANEWISE_FUNCTION int steps() const { return text_.windows / Team::warps; }
  LANEWISE_FUNCTION int places_of_lane() const { return text_.places_of_lane; }
  /// The first place of this warp.
  LANEWISE_FUNCTION std::int64_t first() const {
    return begin_ + std::int64_t{team_.warp_index()} * steps() * width * text_.places_of_lane;
  }
  /// f(step, first, bits) for the steps of this warp. All warps of the team call it.
  template <class F>
  LANEWISE_FUNCTION void find(F f) const {
    if (begin_ >= text_.places) return;
    const std::int64_t halo = text_.print.size() - 1;
    const std::int64_t room = places_of_team(text_) + halo;
    const std::int64_t left = text_.n - begin_;
    const array_source<unsigned char, identity> bytes{text_.data, text_.n, {}};
    if (halo <= most_halo) {
      shared_.stage.load_async(team_, bytes, begin_, left < room ? left : room);
      find_in(shared_.stage.wait(team_, bytes, times_).data, f);
    } else {
      find_in(text_.data + begin_, f);
    }
  }
  template <class Warp, class Words>
  static LANEWISE_FUNCTION const Words& in_order(const Warp&, const Words& bits) {
    return bits;
  }

 private:
  static LANEWISE_FUNCTION std::int64_t places_of_team(const text_type& text) {
    return std::int64_t{width} * text.windows * text.places_of_lane;
  }
  template <class F>
  LANEWISE_FUNCTION void find_in(const unsigned char* subtext, F f) const {
    const auto warp = team_.warp();
    const std::int64_t g = text_.places_of_lane;
    for (int s = 0; s < steps(); ++s) {
      const std::int64_t at = first() + s * width * g;
      if (at >= text_.places) break;
      const auto bits = warp.map(
          [=, print = text_.print, left = text_.places - at,
           text = subtext + (at - begin_)](std::uint32_t lane) {
            const std::int64_t here = left - lane * g;
            return here <= 0 ? word{0}
                             : detail::roll(print, text + lane * g,
                                            static_cast<int>(here < g ? here : g));
          },
          warp.lane());
      f(s, at, bits);
    }
  }

  const Team& team_;
  scratch& shared_;
  const text_type& text_;
  std::uint32_t times_;
  std::int64_t begin_;  // of the team's places
};

template <class Fingerprint>
struct divided_form {
  template <class Team>
  using piece = divided_piece<Team, Fingerprint>;
  template <class Pattern>
  static detail::divided_text<Fingerprint> text(const Pattern& what,
                                                const detail::text_bytes& text) {
    const std::int64_t places = text.n - what.size() + 1;
    return {text.data,    text.n,
            places,       what.how().places_of_lane,
            what.print(), detail::windows_of(what.how(), places)};
  }
};
template <class Fingerprint>
using divided_search =
    search_by_pieces<divided_form<Fingerprint>::template piece, divided_form<Fingerprint>>;

}  // namespace kernels
}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
