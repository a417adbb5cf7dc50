// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/papers/detail/fingerprints/matrices.hpp>
#include <lanewise/papers/detail/fingerprints/places.hpp>
#include <lanewise/papers/detail/names.hpp>
#include <lanewise/sequence/scan.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {
namespace detail {

/// The matrix of every letter of a text; or its inverse, which the other class of products takes.
template <bool inverse>
struct matrix_of_letter {
  const unsigned char* text;
  letter_matrices letters;
  LANEWISE_FUNCTION matrix operator()(std::int64_t i) const {
    return inverse ? letters.inverse_of(text[i]) : letters.of(text[i]);
  }
};

/// CRK by the second class: upto[i] = K_0 ... K_i and before[i] = A_(i-1) ... A_0, where A_j K_j is
/// the unit matrix, so that before[r] upto[r + m - 1] = K_r ... K_(r+m-1).
struct window_matrices {
  std::int64_t places;
  matrix_fingerprint print;
  const matrix* upto = nullptr;
  const matrix* before = nullptr;

  LANEWISE_FUNCTION bool fits(std::int64_t place) const {
    return print.letters.product(before[place], upto[place + print.size - 1]) == print.wanted;
  }
};

/// x -> a x + b modulo p. b of the composition of all steps up to i is the fingerprint of the m
/// letters up to i: x_i = 2^bits x_(i-1) + y_i - 2^(bits m) y_(i-m).
struct recurrence_step {
  std::uint32_t a, b;
};
/// The step of every letter, and the pattern's fingerprint.
class recurrence_fingerprint {
 public:
  recurrence_fingerprint(std::string_view pattern, int bits, std::uint32_t prime)
      : by_(prime), bits_(bits), size_(static_cast<std::int64_t>(pattern.size())) {
    factor_ = by_.of(1u << bits);
    oldest_ = by_.of(1);
    for (const char c : pattern) {
      wanted_ = by_.of_wide(std::uint64_t{wanted_} * factor_ + static_cast<unsigned char>(c));
      oldest_ = by_.of_wide(std::uint64_t{oldest_} * factor_);
    }
  }
  LANEWISE_FUNCTION const modulus& by() const { return by_; }
  LANEWISE_FUNCTION std::int64_t size() const { return size_; }
  LANEWISE_FUNCTION std::uint32_t wanted() const { return wanted_; }
  LANEWISE_FUNCTION recurrence_step step(const unsigned char* text, std::int64_t i) const {
    const std::uint32_t letters = (1u << bits_) - 1;
    const std::uint32_t gone =
        i < size_ ? 0 : by_.of_wide(std::uint64_t{oldest_} * (text[i - size_] & letters));
    return {factor_, by_.of((text[i] & letters) + by_.p() - gone)};
  }

 private:
  modulus by_;
  int bits_;
  std::int64_t size_;
  std::uint32_t factor_;  ///< 2^bits mod p
  std::uint32_t oldest_;  ///< 2^(bits m) mod p
  std::uint32_t wanted_ = 0;
};
template <class Policy>
recurrence_fingerprint recurrence_print(std::string_view pattern, const Policy& how) {
  return {pattern, how.bits, detail::prime_of(how.prime, most_wide_prime, how.seed)};
}

struct step_of_letter {
  const unsigned char* text;
  recurrence_fingerprint print;
  LANEWISE_FUNCTION recurrence_step operator()(std::int64_t i) const { return print.step(text, i); }
};
/// First x, then y.
struct compose_steps {
  modulus by;
  LANEWISE_FUNCTION recurrence_step operator()(const recurrence_step& x,
                                               const recurrence_step& y) const {
    return {by.of_wide(std::uint64_t{x.a} * y.a), by.of_wide(std::uint64_t{x.b} * y.a + y.b)};
  }
};

/// CRK by the first class.
struct window_residues {
  std::int64_t places;
  recurrence_fingerprint print;
  const recurrence_step* upto = nullptr;

  LANEWISE_FUNCTION bool fits(std::int64_t place) const {
    return upto[place + print.size() - 1].b == print.wanted();
  }
};

}  // namespace detail
namespace kernels {

/// CRK's last part: the places where what two places of the scans say fits, each a lane's. The
/// ballot of a row of places is a word of them.
template <class Team, class Windows>
class cooperative_piece {
  static constexpr int width = Team::warp_type::width;

 public:
  using text_type = Windows;
  using word = std::uint64_t;
  static constexpr int kept_steps = 8;
  static_assert(kept_steps % Team::warps == 0);
  struct scratch {};

  static LANEWISE_FUNCTION void begin(const Team&, scratch&) {}
  static LANEWISE_FUNCTION std::int64_t pieces(const Windows& windows) {
    return lanewise::divide_up(windows.places, std::int64_t{kept_steps} * width * width);
  }
  LANEWISE_FUNCTION cooperative_piece(const Team& team, scratch&, const Windows& windows,
                                      std::int64_t piece, std::uint32_t)
      : team_(team),
        windows_(windows),
        first_((piece * kept_steps + team.warp_index() * steps()) * width * width) {}

  LANEWISE_FUNCTION int steps() const { return kept_steps / Team::warps; }
  LANEWISE_FUNCTION int places_of_lane() const { return width; }
  LANEWISE_FUNCTION std::int64_t first() const { return first_; }
  template <class F>
  LANEWISE_FUNCTION void find(F f) const {
    const auto warp = team_.warp();
    for (int s = 0; s < steps(); ++s) {
      const std::int64_t first = first_ + s * width * width;
      if (first >= windows_.places) break;
      lanes_t<typename Team::warp_type, word> bits(word{0});
      for (int row = 0; row < width; ++row) {
        const auto fits = warp.map(
            [windows = &windows_, at = first + row * width](std::uint32_t lane) {
              const std::int64_t place = at + lane;
              return place < windows->places && windows->fits(place) ? 1u : 0u;
            },
            warp.lane());
        bits = lanewise::select(warp.lane() == static_cast<std::uint32_t>(row),
                                decltype(bits)(word{warp.ballot(fits == 1u)}), bits);
      }
      f(s, first, bits);
    }
  }
  template <class Warp, class Words>
  static LANEWISE_FUNCTION const Words& in_order(const Warp&, const Words& bits) {
    return bits;
  }

 private:
  const Team& team_;
  const Windows& windows_;
  std::int64_t first_;
};

/// Scans into arrays of the workspace, after what the launches themselves need, and then the
/// windows that lie between two of their places.
template <class Windows, class T, int arrays_>
struct scanned_windows {
  template <class Team>
  using piece = cooperative_piece<Team, Windows>;

  template <class Pattern>
  static Windows windows(const Pattern& what, const detail::text_bytes& text) {
    return {text.n - what.size() + 1, what.print()};
  }
  template <class Exec>
  static workspace_size launches(const Windows& w, std::int64_t n) {
    workspace_size need = lanewise::max(kernels::pieces_workspace<piece, Exec>(w),
                                        lanewise::scan_workspace<T, Exec>(n));
    need.bytes = (need.bytes + 255) / 256 * 256;
    return need;
  }
  template <class Exec, class Pattern>
  static workspace_size need(const Pattern& what, const detail::text_bytes& text) {
    detail::expects(text.n <= what.how().most_bytes, "by_fingerprints: the text has ", text.n,
                    " bytes, each of which takes ", arrays_ * sizeof(T),
                    " of memory; most_bytes is ", what.how().most_bytes);
    workspace_size need = launches<Exec>(windows(what, text), text.n);
    need.bytes += static_cast<std::size_t>(text.n) * arrays_ * sizeof(T);
    return need;
  }
  template <class Exec>
  static T* array(const Windows& w, std::int64_t n, const workspace& work) {
    return reinterpret_cast<T*>(static_cast<char*>(work.plain()) + launches<Exec>(w, n).bytes);
  }
};

struct cooperative_search : scanned_windows<detail::window_matrices, detail::matrix, 2> {
  template <class Exec, class Pattern, class Sink>
  static void run(const Exec& exec, const Pattern& what, const detail::text_bytes& text,
                  const Sink& sink, const detail::integers& number, workspace& work) {
    using detail::matrix;
    auto w = windows(what, text);
    if (w.places > 0) {
      const auto& letters = what.print().letters;
      matrix* const upto = array<Exec>(w, text.n, work);
      lanewise::inclusive_scan(
          exec, generated(text.n, detail::matrix_of_letter<false>{text.data, letters}),
          array_sink<matrix>{upto, text.n}, letters.product, {.work = &work});
      lanewise::exclusive_scan(
          exec, generated(text.n, detail::matrix_of_letter<true>{text.data, letters}),
          array_sink<matrix>{upto + text.n, text.n}, detail::left_matrix_product{letters.product},
          detail::unit_matrix(), {.work = &work});
      w.upto = upto;
      w.before = upto + text.n;
    }
    kernels::find_by_pieces<piece>(exec, w, sink, number, work);
  }
};

struct recurrence_search : scanned_windows<detail::window_residues, detail::recurrence_step, 1> {
  template <class Exec, class Pattern, class Sink>
  static void run(const Exec& exec, const Pattern& what, const detail::text_bytes& text,
                  const Sink& sink, const detail::integers& number, workspace& work) {
    using detail::recurrence_step;
    auto w = windows(what, text);
    if (w.places > 0) {
      recurrence_step* const upto = array<Exec>(w, text.n, work);
      lanewise::inclusive_scan(exec,
                               generated(text.n, detail::step_of_letter{text.data, what.print()}),
                               array_sink<recurrence_step>{upto, text.n},
                               detail::compose_steps{what.print().by()}, {.work = &work});
      w.upto = upto;
    }
    kernels::find_by_pieces<piece>(exec, w, sink, number, work);
  }
};

}  // namespace kernels
}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
