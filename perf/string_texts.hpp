// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Texts that searches are measured in.

#include "support.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace lanewise::perf {

/// A text of n bytes. english: words of Zipf's frequencies, of letters as frequent as in English;
/// protein: amino acids as frequent as in proteins; dna: four letters; bits<b>: bytes below 2^b;
/// random: any bytes.
inline std::string text_of(const std::string& kind, std::size_t n) {
  std::string text;
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

}  // namespace lanewise::perf
