// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

// What searches of a warp in one list of keys cost on memory in banks, and queries that cost most.
// (Karsin, Casanova and Sitchinava, section 4 and Lemma 4.2.) All of w lanes and w banks.

namespace test {

/// Steps of a search that halves n keys.
inline int steps_of(std::int64_t n) {
  int steps = 0;
  for (; n > 0; n /= 2) ++steps;
  return steps;
}

/// The most that halving a whole list costs, its length a power of two: a step has twice as many
/// places as the one before, all of them in one bank.
inline std::int64_t most_by_halving(std::int64_t n, std::int64_t w) {
  std::int64_t all = 0;
  for (int i = 0; i < steps_of(n); ++i)
    all += std::min({std::int64_t{1} << i, w, std::max<std::int64_t>(n / w, 1)});
  return all;
}

/// A bound by columns: one for every step in the column, and 1 + 2 + 4 + ... for the rest. No term
/// is more than can be in one bank: the number of rows, or with answers before the first row one
/// more.
inline std::int64_t most_by_columns(std::int64_t n, std::int64_t w, bool in_front = false) {
  const std::int64_t rows = (n + w - 1) / w;
  std::int64_t all = steps_of(rows);
  for (std::int64_t i = 1; i < w; i *= 2) all += std::min(i, rows + (in_front ? 1 : 0));
  return all;
}
/// The rest key by key.
inline std::int64_t all_by_columns_and_keys(std::int64_t n, std::int64_t w) {
  return steps_of((n + w - 1) / w) + w - 1;
}

/// Answers of w lanes, a multiple of w apart where there are enough rows, and else in equal parts
/// of the keys.
inline std::vector<std::int64_t> worst_answers_for_columns(std::int64_t n, std::int64_t w,
                                                           std::int64_t column) {
  std::vector<std::int64_t> answers;
  const std::int64_t rows = n / w;
  for (std::int64_t l = 0; l < w; ++l)
    answers.push_back(rows >= w ? l * (rows / w) * w + column : l * n / w + 1);
  return answers;
}

/// The places that halving a list of n asks for on the way to an answer.
inline std::vector<std::int64_t> path_of(std::int64_t n, std::int64_t answer) {
  std::vector<std::int64_t> path;
  std::int64_t at = 0;
  for (std::int64_t left = n; left > 0; left /= 2) {
    const std::int64_t by = left - left / 2;
    path.push_back(at + by - 1);
    if (at + by - 1 < answer) at += by;
  }
  return path;
}

/// Answers for w lanes that halve a list of any length: up to w places in one bank that a step can
/// ask for, and then the same turns for all. The step is the one with the fullest bank, the first
/// of these.
inline std::vector<std::int64_t> worst_answers_for_halving(std::int64_t n, std::int64_t w) {
  std::vector<std::int64_t> best;
  const int steps = steps_of(n);
  for (int step = 0; step < steps && static_cast<std::int64_t>(best.size()) < w; ++step) {
    // By bank: one answer for every place. Answers come in order, so it is the first: all turns
    // after the step go to the left.
    std::map<std::int64_t, std::map<std::int64_t, std::int64_t>> of_bank;
    for (std::int64_t answer = 0; answer <= n; ++answer) {
      const std::int64_t place = path_of(n, answer)[static_cast<std::size_t>(step)];
      of_bank[place % w].emplace(place, answer);
    }
    for (const auto& [bank, answers] : of_bank) {
      if (answers.size() <= best.size()) continue;
      best.clear();
      for (const auto& [place, answer] : answers) {
        if (static_cast<std::int64_t>(best.size()) < w) best.push_back(answer);
      }
    }
  }
  const std::size_t some = best.size();
  while (static_cast<std::int64_t>(best.size()) < w) best.push_back(best[best.size() % some]);
  return best;
}

}  // namespace test
