// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What a compiler takes for it is a machine's unit of time: scripts/check measures stages in it.
#include <algorithm>
#include <functional>
#include <map>
#include <regex>
#include <string>
#include <vector>

std::vector<std::string> words_of(const std::string& text) {
  const std::regex word("[a-z]+|[0-9]+");
  std::vector<std::string> words(std::sregex_token_iterator(text.begin(), text.end(), word), {});
  std::sort(words.begin(), words.end(), std::greater<>());
  return words;
}
std::map<std::string, int> numbers_of(const std::vector<std::string>& words) {
  std::map<std::string, int> numbers;
  for (const auto& word : words) ++numbers[word];
  return numbers;
}
