// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/papers/detail/fingerprints/divided.hpp>
#include <lanewise/papers/detail/fingerprints/exact_letters.hpp>
#include <lanewise/papers/detail/fingerprints/residues.hpp>
#include <lanewise/papers/detail/names.hpp>

#include <vector>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {
namespace detail {

/// What a pattern is verified by, chunk by chunk. A lane has 1 or 4 letters of a chunk of 32 or
/// 128, as one number with a digit for each letter. After the pattern's end letters are 0, in the
/// text's last chunk, too.
struct chunk_check {
  static constexpr std::int64_t lanes = 32;

  std::int64_t size;        ///< of the pattern
  int bits;                 ///< of a letter
  int letters_of_lane;      ///< in a chunk
  bool by_hash;             ///< by fingerprints, or else letter by letter
  bool prime_of_chunk;      ///< chunk c by prime c mod `primes`, or else by all primes
  int primes;               ///< how many
  const std::uint32_t* at;  ///< letters(), then prime(), weight() and wanted() of the hash

  LANEWISE_FUNCTION std::int64_t chunks() const { return divide_up(size, lanes * letters_of_lane); }
  /// The lanes' numbers of a chunk.
  LANEWISE_FUNCTION const std::uint32_t* letters(std::int64_t chunk) const {
    return at + chunk * lanes;
  }
  LANEWISE_FUNCTION std::uint32_t prime(int q) const { return letters(chunks())[q]; }
  /// What a lane's number counts in the fingerprint.
  LANEWISE_FUNCTION const std::uint32_t* weight(int q) const {
    return letters(chunks()) + primes + q * lanes;
  }
  LANEWISE_FUNCTION std::uint32_t wanted(std::int64_t chunk, int q) const {
    return weight(primes)[chunk * primes + q];
  }
  /// Number i of a string from which a lane's letters are taken.
  LANEWISE_FUNCTION std::uint32_t number(const unsigned char* text, std::int64_t i) const {
    std::uint32_t x = 0;
    for (std::int64_t l = i * letters_of_lane, end = l + letters_of_lane; l < end; ++l)
      x = x << bits | (l < size ? text[l] & ((1u << bits) - 1) : 0u);
    return x;
  }
};

/// The words at `at`, on the host.
inline std::vector<std::uint32_t> chunk_tables(const chunk_check& check, std::string_view pattern,
                                               const std::vector<std::uint32_t>& primes) {
  const auto* const text = reinterpret_cast<const unsigned char*>(pattern.data());
  std::vector<std::uint32_t> words;
  for (std::int64_t i = 0; i < check.chunks() * check.lanes; ++i)
    words.push_back(check.number(text, i));
  words.insert(words.end(), primes.begin(), primes.end());
  const std::size_t weights = words.size();
  for (const std::uint64_t p : primes) {
    // The last lane's number counts 1, and each in front 2^(bits of a number) times as much.
    std::vector<std::uint32_t> of_lane(chunk_check::lanes);
    std::uint64_t weight = 1 % p;
    for (auto w = of_lane.rbegin(); w != of_lane.rend(); ++w) {
      *w = static_cast<std::uint32_t>(weight);
      weight = (weight << check.bits * check.letters_of_lane) % p;
    }
    words.insert(words.end(), of_lane.begin(), of_lane.end());
  }
  for (std::int64_t chunk = 0; chunk < check.chunks(); ++chunk) {
    for (std::size_t q = 0; q < primes.size(); ++q) {
      std::uint64_t sum = 0;
      for (std::size_t l = 0; l < chunk_check::lanes; ++l)
        sum += std::uint64_t{words[static_cast<std::size_t>(chunk * check.lanes) + l]} *
               words[weights + q * chunk_check::lanes + l] % primes[q];
      words.push_back(static_cast<std::uint32_t>(sum % primes[q]));
    }
  }
  return words;
}

/// A part of the pattern, from letter `offset` on, in one word, and what its candidates are
/// verified by.
struct two_stage_fingerprint {
  exact_fingerprint<std::uint64_t> part;
  std::int64_t offset;
  bool is_whole;  ///< nothing is to be verified
  chunk_check check;
};

/// put(words): where kernels find these words.
template <class Policy, class Put>
two_stage_fingerprint two_stage_print(std::string_view pattern, const Policy& how, const Put& put) {
  detail::expects_cuts(how);
  const auto m = static_cast<std::int64_t>(pattern.size());
  detail::expects(how.offset >= 0 && how.offset < m, "by_fingerprints::two_stage: offset is ",
                  how.offset, ", the pattern has ", m, " letters");
  const std::int64_t after = m - how.offset, usual = how.bits <= 4 ? 16 : 8;
  const std::int64_t part = how.part != 0 ? how.part : usual < after ? usual : after;
  detail::expects(part >= 1 && part <= after && part * how.bits <= 64,
                  "by_fingerprints::two_stage: ", part, " letters of ", how.bits, " bits from ",
                  how.offset, " on are not in 64 bits, or not in ", m, " letters");
  detail::expects(how.chunk == 32 || how.chunk == 128, "by_fingerprints::two_stage: chunk is ",
                  how.chunk, ", not 32 or 128");
  detail::expects(how.primes >= 1 && how.primes <= 16, "by_fingerprints::two_stage: primes is ",
                  how.primes, ", not 1 to 16");
  std::vector<std::uint32_t> primes;
  for (int q = 0; q < how.primes; ++q)
    primes.push_back(detail::prime_of(how.prime, detail::most_prime(how.bits), how.seed,
                                      static_cast<std::uint64_t>(q)));
  chunk_check check{m,          how.bits, how.chunk / 32, how.by_hash, how.prime_of_chunk,
                    how.primes, nullptr};
  check.at = put(chunk_tables(check, pattern, primes));
  const auto letters =
      pattern.substr(static_cast<std::size_t>(how.offset), static_cast<std::size_t>(part));
  return {{letters, how.bits}, how.offset, part == m, check};
}

struct two_stage_text : divided_text<exact_fingerprint<std::uint64_t>> {
  const unsigned char* whole;  ///< the text; `data` is `offset` bytes further on
  bool is_whole;
  chunk_check check;
};

/// a + b mod p.
struct add_modulo {
  std::uint32_t p;
  LANEWISE_FUNCTION std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    return a + b < p ? a + b : a + b - p;
  }
};

}  // namespace detail
namespace kernels {

/// DRK-2S: lanes skim the text for a part of the pattern, by DRK. The warp verifies their
/// candidates, one after the other, a chunk of the text at a time (Ashkiani, 2.7.2, algorithm 1).
///
/// What the paper calls a lane's stack is the word with a bit for each of its places.
template <class Team>
class two_stage_piece : public divided_piece<Team, detail::exact_fingerprint<std::uint64_t>> {
  using base = divided_piece<Team, detail::exact_fingerprint<std::uint64_t>>;
  using warp_type = typename Team::warp_type;
  static_assert(warp_type::width == detail::chunk_check::lanes,
                "lanewise: the tables of by_fingerprints::two_stage are for warps of 32 lanes");

 public:
  using text_type = detail::two_stage_text;
  using word = std::uint64_t;
  using words = lanes_t<warp_type, word>;

  static LANEWISE_FUNCTION std::int64_t pieces(const text_type& text) { return base::pieces(text); }
  LANEWISE_FUNCTION two_stage_piece(const Team& team, typename base::scratch& shared,
                                    const text_type& text, std::int64_t piece, std::uint32_t times)
      : base(team, shared, text, piece, times), team_(team), text_(text) {}

  template <class F>
  LANEWISE_FUNCTION void find(F f) const {
    const auto warp = team_.warp();
    base::find([&](int step, std::int64_t first, const words& candidates) LANEWISE_INLINE_LAMBDA {
      const bool is_found = text_.is_whole || !warp.any(candidates != word{0});
      f(step, first, is_found ? candidates : verified(first, candidates));
    });
  }

 private:
  LANEWISE_FUNCTION words verified(std::int64_t first, const words& candidates) const {
    const auto warp = team_.warp();
    words found = candidates, rest = candidates;
    for (;;) {
      const auto owners = warp.ballot(rest != word{0});
      if (owners == 0) return found;
      const int owner = warp_type::lowest(owners);
      const word all = warp.broadcast(rest, owner), bit = all & (word{0} - all);
      const std::int64_t place =
          first + owner * text_.places_of_lane + warp_type::popcount(bit - 1);
      const auto me = warp.lane() == static_cast<std::uint32_t>(owner);
      rest = lanewise::select(me, words(all ^ bit), rest);
      if (!is_at(place)) found = lanewise::select(me, found & words(~bit), found);
    }
  }
  LANEWISE_FUNCTION bool is_at(std::int64_t place) const {
    const auto warp = team_.warp();
    const detail::chunk_check& check = text_.check;
    for (std::int64_t c = 0; c < check.chunks(); ++c) {
      const auto numbers =
          warp.map([=, text = text_.whole + place](
                       std::uint32_t lane) { return check.number(text, c * check.lanes + lane); },
                   warp.lane());
      const bool fits = check.by_hash ? has_fingerprints(c, numbers)
                                      : warp.all(numbers == warp.load(check.letters(c)));
      if (!fits) return false;
    }
    return true;
  }
  template <class Numbers>
  LANEWISE_FUNCTION bool has_fingerprints(std::int64_t c, const Numbers& numbers) const {
    const auto warp = team_.warp();
    const detail::chunk_check& check = text_.check;
    int q = check.prime_of_chunk ? static_cast<int>(c % check.primes) : 0;
    for (const int end = check.prime_of_chunk ? q + 1 : check.primes; q < end; ++q) {
      const std::uint32_t p = check.prime(q);
      const auto parts = warp.map(
          [p](std::uint32_t x, std::uint32_t weight) {
            return static_cast<std::uint32_t>(std::uint64_t{x} * weight % p);
          },
          numbers, warp.load(check.weight(q)));
      if (warp.reduce(parts, detail::add_modulo{p}) != check.wanted(c, q)) return false;
    }
    return true;
  }

  const Team& team_;
  const text_type& text_;
};

struct two_stage_form {
  template <class Pattern>
  static detail::two_stage_text text(const Pattern& what, const detail::text_bytes& text) {
    const detail::two_stage_fingerprint& print = what.print();
    const std::int64_t places = text.n - what.size() + 1;
    return {{places > 0 ? text.data + print.offset : nullptr, text.n - print.offset, places,
             what.how().places_of_lane, print.part, detail::windows_of(what.how(), places)},
            text.data,
            print.is_whole,
            print.check};
  }
};
using two_stage_search = search_by_pieces<two_stage_piece, two_stage_form>;

}  // namespace kernels
}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
