// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Texts that searches are measured in.

#include "support.hpp"
#include <lanewise/host.hpp>
#include <lanewise/sequence/reduce.hpp>

#include <bit>
#include <string>
#include <string_view>
#include <vector>

namespace lanewise::perf {

/// A text of n bytes. english: words of Zipf's frequencies, of letters as frequent as in English;
/// protein: amino acids as frequent as in proteins; dna: four letters; bits<b>: bytes below 2^b;
/// random: any bytes; a_b_end, a_b_mid, match_all: one letter; short_runs<u>, of a pattern of m
/// bytes: runs of u over and over, of m / 2 to m - 1 bytes, and other letters between them;
/// period3: three letters over and over; thue_morse: two letters, and no part is there three times
/// in a row.
inline std::string text_of(const std::string& kind, std::size_t n, std::size_t m = 0) {
  std::string text;
  if (kind.starts_with("short_runs_")) {
    const std::string unit = kind.substr(11);
    for (std::uint64_t i = 0; text.size() < n; ++i) {
      const std::size_t run = m / 2 + hash(i) % (m - m / 2);
      for (std::size_t k = 0; k < run; ++k) text += unit[k % unit.size()];
      text += "xyz"[hash(i) / 1024 % 3];
    }
    text.resize(n);
    return text;
  }
  if (kind == "english") {
    constexpr std::string_view letters =
        "eeeeeeeeeeeetttttttttaaaaaaaaooooooooiiiiiiinnnnnnnsssssshhhhhhrrrrrrddddlllluuucccmmm"
        "wwffggyyppbbvk";
    std::vector<std::string> words;
    for (std::uint64_t w = 0; w < 20'000; ++w) {
      std::string word;
      for (std::uint64_t i = 0; i < 1 + hash(w) % 9; ++i)
        word += letters[hash(100 * w + i + 1) % letters.size()];
      words.push_back(word + ' ');
    }
    for (std::uint64_t i = 0; text.size() < n; ++i) {
      const double u = static_cast<double>(hash(i) >> 11) * 0x1p-53;
      text += words[static_cast<std::size_t>(20'000 * u * u * u)];
    }
    text.resize(n);
    return text;
  }
  if (kind == "a_b_end" || kind == "a_b_mid" || kind == "match_all") return std::string(n, 'a');
  if (kind == "period3" || kind == "thue_morse") {
    for (std::uint64_t i = 0; i < n; ++i)
      text += static_cast<char>('a' + (kind == "period3" ? i % 3 : std::popcount(i) % 2));
    return text;
  }
  std::string letters;
  if (kind == "dna") letters = "acgt";
  if (kind == "protein")
    letters =
        "AAAAAAAACDDDDDEEEEEEEFFFFGGGGGGGHHIIIIIKKKKKKLLLLLLLLLLMMNNNNPPPPPPQQQQQRRRRRRSSSSSSSSTTTT"
        "TTVVVV"
        "VVWYYY";
  const std::uint64_t below = kind.starts_with("bits") ? 1u << std::stoi(kind.substr(4)) : 256;
  text.reserve(n);
  for (std::uint64_t i = 0; i < n; ++i)
    text +=
        letters.empty() ? static_cast<char>(hash(i) % below) : letters[hash(i) % letters.size()];
  return text;
}

/// What is looked for: m bytes of the text. a_b_end and a_b_mid have another letter at the end or
/// in the middle, and short_runs are too short for it.
inline std::string pattern_of(const std::string& kind, const std::string& text, std::size_t m) {
  if (kind.starts_with("short_runs_")) {
    std::string pattern;
    while (pattern.size() < m) pattern += kind.substr(11);
    pattern.resize(m);
    return pattern;
  }
  std::string pattern = text.substr(1'234'567, m);
  if (kind == "a_b_end") pattern[m - 1] = 'b';
  if (kind == "a_b_mid") pattern[m / 2] = 'b';
  return pattern;
}

struct text_length {
  std::int64_t n;
};

/// The sum of as many bytes as a text has.
template <class Exec>
struct text_read_problem {
  using exec_space = Exec;
  using item = std::uint64_t;
  Exec exec{};
  std::int64_t n;
  array<Exec, item> in{"perf::in", static_cast<std::size_t>(n / 8)};
  Kokkos::View<item, typename Exec::memory_space> result{"perf::result"};
  workspace work;

  explicit text_read_problem(const text_length& p) : n(p.n) { fill(exec, in, random_item<item>{}); }
  static std::vector<text_length> points() {
    return {{std::int64_t{1} << (on_host<Exec> ? 26 : 30)}};
  }
  static row name(const text_length& p) {
    return {"reduce", backend_name<Exec>(), "", "u64", "random", p.n};
  }
  std::int64_t bytes() const { return n; }
  bool correct() const {
    item found = 0;
    Kokkos::deep_copy(found, result);
    return found == sum<item>(exec, n / 8, random_item<item>{});
  }
};

/// A row of what reads a text once can reach.
template <class Exec>
void add_read_rate() {
  add<text_read_problem<Exec>>("lanewise", [](auto& p, auto time) {
    time([&] { reduce(p.exec, p.in, p.result, plus{}, std::uint64_t{0}, {.work = &p.work}); });
  });
}

}  // namespace lanewise::perf
