// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/papers/string_search_by_fingerprints.hpp>
#include <support/generators.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <string>

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
namespace prints = lanewise::papers::by_fingerprints;
namespace detail = lanewise::papers::detail;

using places_type = std::vector<std::int64_t>;

std::string letters(std::int64_t n, int bits, std::uint64_t salt) {
  auto random = make_random(salt);
  std::string text(static_cast<std::size_t>(n), '\0');
  for (char& c : text) c = static_cast<char>(random() & ((1u << bits) - 1));
  return text;
}
/// "0110" as letters of one bit.
std::string binary(std::string digits) {
  for (char& c : digits) c = static_cast<char>(c - '0');
  return digits;
}
std::string part_of(const std::string& text, std::int64_t at, std::int64_t n) {
  return text.substr(static_cast<std::size_t>(at), static_cast<std::size_t>(n));
}

places_type naive_places(const std::string& text, const std::string& bytes) {
  places_type places;
  for (auto at = text.find(bytes); at != std::string::npos; at = text.find(bytes, at + 1))
    places.push_back(static_cast<std::int64_t>(at));
  return places;
}
/// x_0 2^(bits (m-1)) + ... + x_(m-1) modulo p, as it is written.
std::uint32_t residue_of(const std::string& bytes, int bits, std::uint64_t p) {
  std::uint64_t value = 0;
  for (const char c : bytes) value = ((value << bits) + static_cast<unsigned char>(c)) % p;
  return static_cast<std::uint32_t>(value);
}

/// What a policy reports, by both calls, from a text that begins at any byte.
template <class Policy>
places_type found_by(const Policy& how, const std::string& text, const std::string& bytes,
                     int shift = 0) {
  const array<char> in({text.begin(), text.end()}, shift);
  const prints::pattern<memory, Policy> pattern(bytes, how);
  const cell<std::int64_t> number(-7), counted(-7);
  const auto most = static_cast<std::int64_t>(text.size()) + 1;
  const array<std::int64_t> places(most, -7);
  prints::find_all(make_space(), in.const_view(), pattern, places.view(), number.view());
  prints::count(make_space(), in.const_view(), pattern, counted.view());
  CHECK(number.get() == counted.get());
  CHECK(places.guards_intact());
  auto all = places.items();
  REQUIRE((number.get() >= 0 && number.get() < most));
  CHECK(all[static_cast<std::size_t>(number.get())] == -7);
  all.resize(static_cast<std::size_t>(number.get()));
  return all;
}
template <class Policy>
void check_exact(const char* name, const Policy& how, const std::string& text,
                 const std::string& bytes, int shift = 0) {
  CAPTURE(name, text.size(), bytes.size(), how.bits, shift);
  CHECK(found_by(how, text, bytes, shift) == naive_places(text, bytes));
}
/// All matches, in order, and no places but those for which other(place) says why.
template <class Policy, class F>
void check_superset(const char* name, const Policy& how, const std::string& text,
                    const std::string& bytes, int shift, F other) {
  CAPTURE(name, text.size(), bytes.size(), how.bits, shift);
  const auto found = found_by(how, text, bytes, shift), expected = naive_places(text, bytes);
  CHECK(std::is_sorted(found.begin(), found.end()));
  CHECK(std::adjacent_find(found.begin(), found.end()) == found.end());
  CHECK(std::includes(found.begin(), found.end(), expected.begin(), expected.end()));
  places_type others;
  std::set_difference(found.begin(), found.end(), expected.begin(), expected.end(),
                      std::back_inserter(others));
  for (const auto at : others)
    CHECK(other(part_of(text, at, static_cast<std::int64_t>(bytes.size()))));
}

/// Every system. Primes are random ones.
void check_systems(const std::string& text, const std::string& bytes, int bits, int shift = 0,
                   int places_of_lane = 28) {
  const auto m = static_cast<std::int64_t>(bytes.size());
  const auto salt = make_random(text.size() + bytes.size())();
  const std::uint32_t p = detail::draw_prime(detail::most_prime(bits), salt, 0);
  const std::uint32_t large = detail::draw_prime(detail::most_wide_prime, salt, 0);
  const auto collides_by = [&](std::uint32_t prime) {
    return [&bytes, bits, prime](const std::string& other) {
      return residue_of(other, bits, prime) == residue_of(bytes, bits, prime);
    };
  };
  const auto collides = collides_by(p);
  const auto never = [](const std::string&) { return false; };
  check_superset("SRK", prints::sequential{.bits = bits, .prime = p}, text, bytes, shift, collides);
  check_superset("DRK", prints::divided{.bits = bits, .places_of_lane = places_of_lane, .prime = p},
                 text, bytes, shift, collides);
  check_superset("CRK, recurrence", prints::recurrence{.bits = bits, .prime = large}, text, bytes,
                 shift, collides_by(large));
  // Less than one in 2^30 strings that are no match has the pattern's matrix.
  check_superset("CRK", prints::cooperative{.bits = bits, .prime = large}, text, bytes, shift,
                 never);
  if (m <= prints::hybrid::most_letters)
    check_superset("HRK", prints::hybrid{.bits = bits, .prime = large}, text, bytes, shift, never);
  if (m * bits <= 32)
    check_exact("DRK-WOM-32", prints::exact<32>{.bits = bits, .places_of_lane = places_of_lane},
                text, bytes, shift);
  if (m * bits <= 64)
    check_exact("DRK-WOM-64", prints::exact<64>{.bits = bits, .places_of_lane = places_of_lane},
                text, bytes, shift);
  check_exact("DRK-2S", prints::two_stage{.bits = bits, .places_of_lane = places_of_lane}, text,
              bytes, shift);
  check_exact("DRK-2S, 128",
              prints::two_stage{.bits = bits, .part = 1 + m % 3 % m, .offset = m / 2, .chunk = 128},
              text, bytes, shift);
  // The hashes of the last chunk alone collide seldom enough, if it is not shorter than that.
  const prints::two_stage hashed{.bits = bits, .by_hash = true, .seed = salt};
  check_superset("DRK-2S, hash", hashed, text, bytes, shift,
                 [](const std::string&) { return false; });
  prints::two_stage many = hashed;
  many.chunk = 128;
  many.offset = m / 3;
  many.primes = 3;
  check_exact("DRK-2S, three hashes", many, text, bytes, shift);
  many.prime_of_chunk = true;
  many.chunk = 32;
  check_exact("DRK-2S, a prime of each chunk", many, text, bytes, shift);
}

}  // namespace

TEST_CASE("S-1: fingerprints of both classes", "[string_fingerprints]") {
  const std::uint32_t p = detail::draw_prime(detail::most_prime(1), 1, 0);
  CHECK(detail::residue_fingerprint(binary("1011"), 1, p).wanted() == 11);
  const detail::letter_matrices of(1, p);
  const auto is = [&](const char* digits, const detail::matrix& m) {
    CAPTURE(digits);
    CHECK(of.of(binary(digits)) == m);
  };
  is("1011", {2, 5, 1, 3});
  is("01", {1, 1, 1, 2});
  is("10", {2, 1, 1, 1});
  is("0000", {1, 0, 4, 1});
  is("1111", {1, 4, 0, 1});
  // Determinants are 1, and inverses are inverses on the left.
  for (int bits = 1; bits <= 8; ++bits) {
    const detail::letter_matrices k(bits, p);
    for (int z = 0; z < 1 << bits; ++z) {
      const auto letter = static_cast<unsigned char>(z);
      const auto m = k.of(letter);
      CHECK((std::uint64_t{m.a} * m.d + p * std::uint64_t{p} - std::uint64_t{m.b} * m.c) % p == 1);
      CHECK(k.product(k.inverse_of(letter), m) == detail::unit_matrix());
      // A letter's matrix is that of its bits, the highest first.
      std::string digits;
      for (int i = bits - 1; i >= 0; --i) digits += z >> i & 1 ? '1' : '0';
      CHECK(m == of.of(binary(digits)));
    }
  }
}

TEST_CASE("S-2: the scans of CRK", "[string_fingerprints][sanitize]") {
  const std::string text = binary("01101011"), pattern = binary("101");
  CHECK(found_by(prints::cooperative{.bits = 1}, text, pattern) == places_type{2, 4});
  CHECK(found_by(prints::recurrence{.bits = 1}, text, pattern) == places_type{2, 4});
  CHECK(found_by(prints::hybrid{.bits = 1}, text, pattern) == places_type{2, 4});
}

TEST_CASE("S-3: all systems find what a naive search finds", "[string_fingerprints]") {
  auto random = make_random(33);
  for (int bits = 1; bits <= 8; ++bits) {
    for (const std::int64_t m :
         {1, 2, 4, 8, 16, 31, 32, 33, 63, 64, 65, 127, 128, 256, 1024, 1 << 13}) {
      if (is_emulated && (m > 1024 || (bits != 1 && bits != 3 && bits != 8))) continue;
      std::vector<std::int64_t> sizes{m, m + 1};
      const std::int64_t longest = is_emulated ? 1 << 12 : full() ? 1 << 16 : 1 << 14;
      for (std::int64_t k = 2; k <= longest; k *= 2)
        if (k > m) sizes.insert(sizes.end(), {k - 1, k + 1});
      for (const std::int64_t n : sizes) {
        if (n < m || (!full() && random() % (is_emulated ? 24 : 12) != 0)) continue;
        const std::string text = letters(n, bits, random());
        const auto at = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n - m + 1));
        check_systems(text, part_of(text, at, m), bits, static_cast<int>(random() % 16));
      }
    }
  }
}

TEST_CASE("S-3: first and last places, and patterns longer than the text",
          "[string_fingerprints][sanitize]") {
  for (const std::int64_t n : {1, 40, 3000}) {
    const std::string text = letters(n, 8, 5);
    const std::int64_t m = std::min<std::int64_t>(n, 9);
    check_systems(text, part_of(text, 0, m), 8);
    check_systems(text, part_of(text, n - m, m), 8, 3);
    check_systems(text, text, 8);
    check_systems(text, text + "a", 8);
  }
  check_systems("", "a", 8);
}

TEST_CASE("S-3: matches that overlap, and at every place", "[string_fingerprints]") {
  check_systems("aaaa", "aaa", 8);
  for (const std::int64_t m : {1, 3, 8, 40, 200}) {
    const std::string text(is_emulated ? 1500 : 20'000, '\1');
    check_systems(text, std::string(static_cast<std::size_t>(m), '\1'), 1, 1);
    std::string twos = text;
    for (std::size_t i = 0; i < twos.size(); i += 2) twos[i] = '\0';
    check_systems(twos, part_of(twos, 1, m), 1);
  }
}

TEST_CASE("S-3: matches across the places of lanes, warps and teams",
          "[string_fingerprints][sanitize]") {
  for (const int g : {12, 20, 28, 36, 44}) {
    if (is_emulated && g % 16 == 4) continue;
    for (const std::int64_t m : {4, 8, 37}) {
      for (const std::int64_t before : {std::int64_t{0}, std::int64_t{1}, m / 2, m}) {
        if (is_emulated && before != m / 2) continue;
        std::string text(static_cast<std::size_t>(9 * 32 * g), '.');
        const std::string bytes = letters(m, 7, 7) + "x";
        for (const std::int64_t edge : {g, 32 * g, 8 * 32 * g})
          text.replace(static_cast<std::size_t>(std::max<std::int64_t>(edge - before, 0)),
                       bytes.size(), bytes);
        check_systems(text, bytes, 8, g % 16, g);
      }
    }
  }
}

TEST_CASE("S-3: teams with more windows than warps", "[string_fingerprints][sanitize]") {
  for (const int windows : {8, 16, 32}) {
    for (const std::int64_t n : {500, 12 * 32 * 32, 30'011}) {
      const std::string text = letters(n, 2, 21), bytes = part_of(text, n - 40, 40);
      check_superset("DRK", prints::divided{.bits = 2, .places_of_lane = 12, .windows = windows},
                     text, bytes, 3, [](const std::string&) { return false; });
      check_exact("DRK-WOM-64",
                  prints::exact<64>{.bits = 2, .places_of_lane = 12, .windows = windows}, text,
                  part_of(text, n / 2, 6));
      check_exact("DRK-2S",
                  prints::two_stage{.bits = 2, .part = 4, .places_of_lane = 12, .windows = windows},
                  text, part_of(text, n / 2, 6), 1);
    }
  }
}

TEST_CASE("S-3: long texts have more windows by themselves", "[string_fingerprints]") {
  if (is_emulated) return;
  const std::string text = letters(25'000'000, 8, 22);
  for (const std::int64_t n : {12'500'000, 25'000'000})  // 16 and 32
    check_exact("DRK-2S", prints::two_stage{.places_of_lane = 12}, part_of(text, 0, n),
                part_of(text, n - 50, 50));
}

TEST_CASE("S-3: halos that are longer than the scratch of a team", "[string_fingerprints]") {
  for (const std::int64_t m : {8191, 8192, 8193, 9001}) {
    if (is_emulated && m != 8193) continue;
    const std::string text = letters(12'000, 2, 9);
    check_superset("DRK", prints::divided{.bits = 2}, text, part_of(text, 2500, m), 5,
                   [](const std::string&) { return false; });
  }
}

TEST_CASE("S-4: letters that fit a word, and one more", "[string_fingerprints]") {
  for (const int bits : {1, 2, 4, 8}) {
    const std::string text = letters(2000, bits, 4);
    const std::string half = part_of(text, 900, 32 / bits), whole = part_of(text, 900, 64 / bits);
    check_exact("32", prints::exact<32>{.bits = bits}, text, half);
    check_exact("64", prints::exact<64>{.bits = bits}, text, whole);
    CHECK_THROWS_WITH((prints::pattern<memory, prints::exact<32>>(half + half[0], {.bits = bits})),
                      ContainsSubstring("letters of " + std::to_string(bits) + " bits do not fit"));
    CHECK_THROWS_WITH(
        (prints::pattern<memory, prints::exact<64>>(whole + whole[0], {.bits = bits})),
        ContainsSubstring("by_fingerprints::exact<64>"));
  }
}

TEST_CASE("S-5: nothing overflows, and rolling is recomputing", "[string_fingerprints]") {
  for (int bits = 1; bits <= 8; ++bits) {
    std::uint32_t p = static_cast<std::uint32_t>(detail::most_prime(bits));
    while (!detail::is_prime(p)) --p;
    for (const bool ones : {true, false}) {
      const std::string text =
          ones ? std::string(300, static_cast<char>((1 << bits) - 1)) : letters(300, bits, 6);
      for (const std::int64_t m : {1, 2, 31, 64, 150}) {
        const detail::residue_fingerprint print(part_of(text, 100, m), bits, p);
        std::uint32_t value = 0;
        for (std::int64_t r = 0; r + m <= 300; ++r) {
          const auto letter = [&](std::int64_t i) {
            return static_cast<unsigned char>(text[static_cast<std::size_t>(i)]);
          };
          for (std::int64_t i = r == 0 ? 0 : r + m - 1; i < r + m; ++i)
            value = print.append(value, letter(i));
          REQUIRE(value == residue_of(part_of(text, r, m), bits, p));
          value = print.drop(value, letter(r));
        }
      }
      if (bits % 3 == 1 || full()) {
        check_superset("DRK", prints::divided{.bits = bits, .prime = p}, text,
                       part_of(text, 100, 64), 0, [](const std::string&) { return false; });
      }
    }
  }
  for (const std::uint64_t p : {2u, 3u, 65537u, 1073741789u, 2147483647u}) {
    const detail::modulus by_p(static_cast<std::uint32_t>(p));
    for (const std::uint32_t x : {0u, 1u, 2u, 65536u, 2147483647u, 4294967294u, 4294967295u}) {
      CHECK(by_p.of(x) == x % p);
      CHECK(by_p.of_wide(std::uint64_t{x} * x) == std::uint64_t{x} * x % p);
    }
    CHECK(by_p.of_wide(~std::uint64_t{0}) == ~std::uint64_t{0} % p);
  }
}

TEST_CASE("S-6: a small prime makes candidates that are no matches",
          "[string_fingerprints][sanitize]") {
  const std::string text = letters(3000, 4, 11);
  for (const std::int64_t m : {2, 20, 70}) {
    const std::string bytes = part_of(text, 1234, m);
    for (const std::uint32_t p : {2u, 7u, 127u}) {
      CAPTURE(m, p);
      places_type expected;
      for (std::int64_t r = 0; r + m <= 3000; ++r)
        if (residue_of(part_of(text, r, m), 4, p) == residue_of(bytes, 4, p)) expected.push_back(r);
      CHECK(expected.size() > naive_places(text, bytes).size());
      CHECK(found_by(prints::sequential{.bits = 4, .prime = p}, text, bytes) == expected);
      CHECK(found_by(prints::divided{.bits = 4, .prime = p}, text, bytes) == expected);
      CHECK(found_by(prints::recurrence{.bits = 4, .prime = p}, text, bytes) == expected);
      const auto matrix = [&](const std::string& s) { return detail::letter_matrices(4, p).of(s); };
      const auto same_matrix = [&](const std::string& s) { return matrix(s) == matrix(bytes); };
      check_superset("CRK", prints::cooperative{.bits = 4, .prime = p}, text, bytes, 0,
                     same_matrix);
      check_superset("HRK", prints::hybrid{.bits = 4, .prime = p}, text, bytes, 0, same_matrix);
      // A part of one letter has many candidates.
      check_exact("DRK-2S", prints::two_stage{.bits = 4, .part = 1, .prime = p}, text, bytes);
      const auto hashes_agree = [&](const std::string& s) {
        if (s[0] != bytes[0]) return false;
        // After the end letters are 0.
        const auto chunk = [](const std::string& of, std::int64_t c) {
          std::string letters_of_chunk = part_of(of, c, 32);
          letters_of_chunk.resize(32, '\0');
          return letters_of_chunk;
        };
        for (std::int64_t c = 0; c < m; c += 32)
          if (residue_of(chunk(s, c), 4, p) != residue_of(chunk(bytes, c), 4, p)) return false;
        return true;
      };
      const prints::two_stage hashed{.bits = 4, .part = 1, .by_hash = true, .prime = p};
      check_superset("DRK-2S, hash", hashed, text, bytes, 0, hashes_agree);
      if (m == 20 && p <= 7)
        CHECK(found_by(hashed, text, bytes).size() > naive_places(text, bytes).size());
    }
  }
}

TEST_CASE("S-7: chunks, and the parts that are looked for", "[string_fingerprints]") {
  for (const int bits : {1, 8}) {
    const std::string bytes = letters(128, bits, 12);
    const std::uint32_t p = detail::draw_prime(detail::most_prime(bits), 12, 0);
    const std::vector<std::uint32_t> primes{p, 7};
    detail::chunk_check check{128, bits, 1, true, false, 2, nullptr};
    const auto words = detail::chunk_tables(check, bytes, primes);
    check.at = words.data();
    CHECK(check.chunks() == 4);
    for (std::int64_t c = 0; c < 4; ++c)
      for (int q = 0; q < 2; ++q)
        CHECK(check.wanted(c, q) ==
              residue_of(part_of(bytes, 32 * c, 32), bits, primes[static_cast<std::size_t>(q)]));
    check.letters_of_lane = 4;
    const auto wide = detail::chunk_tables(check, bytes, primes);
    check.at = wide.data();
    CHECK(check.chunks() == 1);
    CHECK(check.wanted(0, 0) == residue_of(bytes, bits, p));
  }
  for (int bits = 1; bits <= 8; ++bits) {
    const prints::pattern<memory, prints::two_stage> pattern(letters(100, bits, 1), {.bits = bits});
    CHECK(pattern.print().part.size() == (bits <= 4 ? 16 : 8));
    CHECK(prints::pattern<memory, prints::two_stage>(letters(5, bits, 1), {.bits = bits})
              .print()
              .is_whole);
  }
}

namespace {

/// A fingerprint that counts what it reads.
struct counting_print {
  using value_type = std::uint32_t;
  std::int64_t m;
  int* appended;
  int* dropped;
  std::int64_t size() const { return m; }
  std::uint32_t append(std::uint32_t, unsigned char) const { return ++*appended, 0; }
  std::uint32_t drop(std::uint32_t, unsigned char) const { return ++*dropped, 0; }
  std::uint32_t wanted() const { return 0; }
};

}  // namespace

TEST_CASE("S-8: lanes read their places and the letters behind them", "[string_fingerprints]") {
  for (const int g : {12, 28, 44, 5}) {
    for (const std::int64_t m : {1, 8, 100}) {
      int appended = 0, dropped = 0;
      const std::vector<unsigned char> text(static_cast<std::size_t>(g + m - 1));
      CHECK(detail::roll(counting_print{m, &appended, &dropped}, text.data(), g) ==
            (std::uint64_t{1} << g) - 1);
      CHECK(appended == g + m - 1);
      CHECK(dropped == g);
    }
  }
}

TEST_CASE("Bytes that are no letters count by their lowest bits", "[string_fingerprints]") {
  auto random = make_random(14);
  for (const int bits : {1, 3, 5}) {
    std::string text = letters(2000, 8, random()), masked = text;
    for (char& c : masked) c = static_cast<char>(c & ((1 << bits) - 1));
    const std::string bytes = part_of(masked, 700, 30);
    const auto expected = naive_places(masked, bytes);
    CHECK(found_by(prints::sequential{.bits = bits}, text, bytes) == expected);
    CHECK(found_by(prints::divided{.bits = bits}, text, bytes) == expected);
    CHECK(found_by(prints::cooperative{.bits = bits}, text, bytes) == expected);
    CHECK(found_by(prints::recurrence{.bits = bits}, text, bytes) == expected);
    CHECK(found_by(prints::hybrid{.bits = bits}, text, bytes) == expected);
    CHECK(found_by(prints::two_stage{.bits = bits}, text, bytes) == expected);
    CHECK(found_by(prints::two_stage{.bits = bits, .by_hash = true}, text, bytes) == expected);
    const std::string few = part_of(masked, 700, 32 / bits);
    CHECK(found_by(prints::exact<32>{.bits = bits}, text, few) == naive_places(masked, few));
    CHECK(found_by(prints::exact<64>{.bits = bits}, text, few) == naive_places(masked, few));
  }
}

TEST_CASE("Fingerprints of a text in memory that ends with it", "[string_fingerprints][sanitize]") {
  for (const std::size_t n : {1, 3, 16, 31, 1023, 1025, 7181}) {
    const Kokkos::View<char*, memory> text("text", n);
    Kokkos::deep_copy(text, '\1');
    const auto counts = [&](auto how, std::size_t m) {
      const prints::pattern<memory, decltype(how)> pattern(std::string(m, '\1'), how);
      return prints::count(make_space(), text, pattern);
    };
    for (const std::size_t m : {std::size_t{1}, std::size_t{30}, n}) {
      CAPTURE(n, m);
      const std::int64_t all = m > n ? 0 : static_cast<std::int64_t>(n - m + 1);
      CHECK(counts(prints::sequential{.bits = 1}, m) == all);
      CHECK(counts(prints::divided{.bits = 1}, m) == all);
      CHECK(counts(prints::cooperative{.bits = 1}, m) == all);
      CHECK(counts(prints::recurrence{.bits = 1}, m) == all);
      CHECK(counts(prints::two_stage{.bits = 1, .chunk = 128}, m) == all);
      CHECK(counts(prints::two_stage{.bits = 1, .by_hash = true}, m) == all);
      if (m > 30) continue;
      CHECK(counts(prints::exact<32>{.bits = 1}, m) == all);
      CHECK(counts(prints::exact<64>{.bits = 2}, m) == all);
      CHECK(counts(prints::hybrid{.bits = 1}, m) == all);
    }
  }
}

TEST_CASE("Outputs of fingerprints that are short, and memory that is given",
          "[string_fingerprints]") {
  const std::string bytes(9000, '\1');
  const array<char> text({bytes.begin(), bytes.end()});
  const prints::pattern<memory, prints::divided> divided("\1\1", {.bits = 1});
  const prints::pattern<memory, prints::cooperative> cooperative("\1\1", {.bits = 1});
  const auto need = prints::find_all_workspace<space>(cooperative, 9000);
  CHECK(need.bytes >= 32 * 9000);
  lanewise::workspace work;
  for (int again = 0; again < 2; ++again) {
    const array<std::int64_t> few(3, 77);
    const cell<std::int64_t> number;
    prints::find_all(make_space(), text.const_view(), divided, few.view(), number.view(),
                     {.work = &work});
    CHECK(number.get() == 8999);
    CHECK(few.items() == places_type{0, 1, 2});
    number.set(-1);
    prints::find_all(make_space(), text.const_view(), cooperative, few.view(), number.view(),
                     {.work = &work});
    CHECK(number.get() == 8999);
    CHECK(few.guards_intact());
  }
  CHECK(prints::count(make_space(), text.const_view(), divided) == 8999);
}

TEST_CASE("Patterns and options that are refused", "[string_fingerprints]") {
  const auto refuses = [](auto how, const std::string& bytes, const std::string& says) {
    CHECK_THROWS_WITH((prints::pattern<memory, decltype(how)>(bytes, how)),
                      ContainsSubstring(says));
  };
  refuses(prints::divided{}, "", "it has no bytes");
  refuses(prints::divided{.bits = 0}, "a", "bits is 0, not 1 to 8");
  refuses(prints::sequential{.bits = 9}, "a", "bits is 9");
  refuses(prints::two_stage{.bits = 2}, std::string("\1\4"),
          "byte 1 is 4, a letter of 2 bits is less than 4");
  refuses(prints::divided{.places_of_lane = 16}, "a", "places_of_lane is 16");
  refuses(prints::divided{.windows = 24}, "a", "windows is 24");
  refuses(prints::exact<32>{.places_of_lane = 52}, "a", "places_of_lane is 52");
  refuses(prints::divided{.prime = 9}, "a", "prime is 9, which is none");
  refuses(prints::divided{.prime = 8388617}, "a", "prime is 8388617, the greatest is 8388608");
  refuses(prints::hybrid{}, std::string(513, 'a'), "513 letters, the most is 512");
  refuses(prints::two_stage{.offset = 3}, "abc", "offset is 3, the pattern has 3 letters");
  refuses(prints::two_stage{.part = 9}, std::string(20, 'a'), "9 letters of 8 bits from 0 on");
  refuses(prints::two_stage{.part = 3, .offset = 1}, "abc", "3 letters of 8 bits from 1 on");
  refuses(prints::two_stage{.chunk = 64}, "abc", "chunk is 64, not 32 or 128");
  refuses(prints::two_stage{.primes = 0}, "abc", "primes is 0");
  const array<char> text(100, 'a');
  const prints::pattern<memory, prints::recurrence> pattern("a", {.most_bytes = 99});
  CHECK_THROWS_WITH(prints::count(make_space(), text.const_view(), pattern),
                    ContainsSubstring("the text has 100 bytes, each of which takes 8 of memory"));
}
