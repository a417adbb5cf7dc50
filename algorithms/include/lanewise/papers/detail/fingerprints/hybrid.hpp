// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/papers/detail/fingerprints/matrices.hpp>
#include <lanewise/papers/detail/fingerprints/places.hpp>
#include <lanewise/papers/detail/names.hpp>
#include <lanewise/team/team_scan.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {
namespace detail {

struct hybrid_text {
  /// The letters of a subtext, the m - 1 after its places included: 32 KiB of matrices.
  static constexpr int letters = 1024;

  const unsigned char* data;
  std::int64_t n;
  std::int64_t places;
  matrix_fingerprint print;

  LANEWISE_FUNCTION std::int64_t places_of_team() const { return letters - print.size + 1; }
};

template <class Policy>
matrix_fingerprint hybrid_print(std::string_view pattern, const Policy& how) {
  detail::expects(pattern.size() <= static_cast<std::size_t>(how.most_letters),
                  "by_fingerprints::hybrid: ", pattern.size(), " letters, the most is ",
                  how.most_letters);
  return detail::matrix_print(pattern, how);
}

}  // namespace detail
namespace kernels {

/// HRK: a team finds the products of CRK of a subtext of its own, in its scratch (Ashkiani, 2.4 and
/// 2.6.3). A lane multiplies neighbouring letters, and a scan of the team says what is in front.
template <class Team>
class hybrid_piece {
  static constexpr int width = Team::warp_type::width;
  static constexpr int letters = detail::hybrid_text::letters;
  static constexpr int of_lane = letters / (Team::warps * width);
  static_assert(of_lane * Team::warps * width == letters && of_lane <= 64);
  using matrix = detail::matrix;

 public:
  using text_type = detail::hybrid_text;
  using word = std::uint64_t;
  static constexpr int kept_steps = Team::warps;
  struct scratch {
    matrix upto[letters];
    matrix before[letters];
    typename scan_by_shuffles::scratch<Team, matrix> scan;
  };

  static LANEWISE_FUNCTION void begin(const Team&, scratch&) {}
  static LANEWISE_FUNCTION std::int64_t pieces(const text_type& text) {
    return divide_up(text.places, text.places_of_team());
  }
  LANEWISE_FUNCTION hybrid_piece(const Team& team, scratch& shared, const text_type& text,
                                 std::int64_t piece, std::uint32_t)
      : team_(team), shared_(shared), text_(text), begin_(piece * text.places_of_team()) {}

  LANEWISE_FUNCTION int steps() const { return 1; }
  LANEWISE_FUNCTION int places_of_lane() const { return of_lane; }
  LANEWISE_FUNCTION std::int64_t first() const {
    return begin_ + team_.warp_index() * width * of_lane;
  }
  template <class F>
  LANEWISE_FUNCTION void find(F f) const {
    if (begin_ >= text_.places) return;
    const detail::matrix_product& product = text_.print.letters.product;
    scan<true>(product, shared_.upto);
    scan<false>(detail::left_matrix_product{product}, shared_.before);
    team_.barrier();
    const auto warp = team_.warp();
    const std::int64_t left = text_.places - begin_, own = text_.places_of_team();
    const auto bits = warp.map(
        [=, here = left < own ? left : own, print = &text_.print, shared = &shared_,
         at = first() - begin_](std::uint32_t lane) {
          word found = 0;
          std::int64_t r = at + lane * of_lane;
          for (int k = 0; k < of_lane && r < here; ++k, ++r)
            found |=
                word{product(shared->before[r], shared->upto[r + print->size - 1]) == print->wanted}
                << k;
          return found;
        },
        warp.lane());
    f(0, first(), bits);
  }
  template <class Warp, class Words>
  static LANEWISE_FUNCTION const Words& in_order(const Warp&, const Words& bits) {
    return bits;
  }

 private:
  /// to[i]: the product of the matrices up to i, or of the inverses before it.
  template <bool inclusive, class Product>
  LANEWISE_FUNCTION void scan(const Product& product, matrix* to) const {
    const auto warp = team_.warp();
    const auto* const text = text_.data + begin_;
    const auto& make = text_.print.letters;
    const std::int64_t left = text_.n - begin_;
    const auto all = static_cast<int>(left < letters ? left : letters);
    const int at = team_.warp_index() * width * of_lane;
    // After the text nothing is multiplied.
    const auto matrix_of = [=, make = &make](int i) {
      return i >= all    ? detail::unit_matrix()
             : inclusive ? make->of(text[i])
                         : make->inverse_of(text[i]);
    };
    const auto mine = warp.map(
        [=](std::uint32_t lane) {
          matrix m = detail::unit_matrix();
          for (int k = 0; k < of_lane; ++k)
            m = product(m, matrix_of(at + static_cast<int>(lane) * of_lane + k));
          return m;
        },
        warp.lane());
    const auto prefix =
        scan_by_shuffles::scan(team_, shared_.scan, mine, product, detail::unit_matrix());
    auto running = prefix.before;
    auto lane_number = warp.lane();
    warp.each(
        [=](matrix& m, std::uint32_t lane) {
          for (int k = 0; k < of_lane; ++k) {
            const int i = at + static_cast<int>(lane) * of_lane + k;
            const matrix next = product(m, matrix_of(i));
            to[i] = inclusive ? next : m;
            m = next;
          }
        },
        running, lane_number);
  }

  const Team& team_;
  scratch& shared_;
  const text_type& text_;
  std::int64_t begin_;
};

struct hybrid_form {
  template <class Pattern>
  static detail::hybrid_text text(const Pattern& what, const detail::text_bytes& text) {
    return {text.data, text.n, text.n - what.size() + 1, what.print()};
  }
};
using hybrid_search = search_by_pieces<hybrid_piece, hybrid_form>;

}  // namespace kernels
}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
