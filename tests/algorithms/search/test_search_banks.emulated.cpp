// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What searches in scratch would cost on memory in banks, counted by the emulated backend.

#include <lanewise/emulated/wavefronts.hpp>
#include <lanewise/search/sorted_search.hpp>
#include <support/generators.hpp>
#include <support/search_banks.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>

namespace {

using namespace test;

struct bank_cost {
  double wavefronts;  ///< of a window of 32 queries
  double accesses;
};

/// Searches among keys 0, 2, 4, ... for answers, 32 for each window, and counts.
template <class Method, class Key>
bank_cost cost_of(std::int64_t n, const std::vector<std::int64_t>& answers,
                  const lanewise::bank_model& model) {
  std::vector<Key> keys(static_cast<std::size_t>(n)), queries;
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<Key>(2 * i);
  for (const std::int64_t a : answers) queries.push_back(static_cast<Key>(2 * a - (a > 0 ? 1 : 0)));
  const array<Key> in(keys), asked(queries);
  const array<std::int64_t> out(static_cast<std::int64_t>(queries.size()), -7);
  bank_cost result{};
  {
    const lanewise::wavefront_count count(model);
    lanewise::lower_bound_in_scratch(make_space(), Method{}, in.const_view(), asked.const_view(),
                                     out.view());
    const double windows = static_cast<double>(answers.size()) / 32;
    result = {static_cast<double>(count.wavefronts()) / windows,
              static_cast<double>(count.accesses()) / windows};
  }
  CHECK(out.items() == answers);
  return result;
}

/// Full groups of windows, as a group's windows are all searched.
std::vector<std::int64_t> repeated(const std::vector<std::int64_t>& answers, int times) {
  std::vector<std::int64_t> all;
  for (int i = 0; i < times; ++i) all.insert(all.end(), answers.begin(), answers.end());
  return all;
}

std::vector<std::int64_t> random_answers(std::int64_t n, std::int64_t q) {
  auto random = make_random(41);
  std::vector<std::int64_t> answers(static_cast<std::size_t>(q));
  for (auto& a : answers) a = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  return answers;
}

using by_halving = lanewise::column_search<1>;
using by_columns = lanewise::column_search<32>;
using by_columns_and_keys = lanewise::column_search<32, lanewise::window_search::linear>;
constexpr auto gpu_banks = lanewise::banks_of_4_bytes;

}  // namespace

TEST_CASE("Wavefronts of accesses, as the paper draws them", "[search_banks]") {
  const lanewise::bank_model four{4, 4, 4};
  const std::int64_t two_equal[] = {0, 4, 4, 12}, one_bank[] = {4, 20, 36, 52};
  CHECK(wavefronts_of(four, two_equal, 4) == 1);
  CHECK(wavefronts_of(four, one_bank, 4) == 4);
  std::int64_t stride[32];
  const auto strides_of = [&](std::int64_t bytes) {
    for (std::int64_t l = 0; l < 32; ++l) stride[l] = l * bytes;
  };
  strides_of(0);
  CHECK(wavefronts_of(gpu_banks, stride, 32) == 1);
  strides_of(4 * 32);
  CHECK(wavefronts_of(gpu_banks, stride, 32) == 32);
  // Cells of 8 bytes and keys of 4: two keys a cell.
  CHECK(wavefronts_of(lanewise::banks_of_8_bytes, stride, 32) == 16);
  strides_of(4 * 64);
  CHECK(wavefronts_of(lanewise::banks_of_8_bytes, stride, 32) == 32);
  strides_of(8);
  CHECK(wavefronts_of(lanewise::banks_for_8_bytes, stride, 32) == 2);
}

TEST_CASE("The worst queries cost what the estimates say", "[search_banks]") {
  for (const std::int64_t n : {64, 128, 256, 512, 1024, 2048, 3072, 4096, 8192}) {
    CAPTURE(n);
    const auto worst = repeated(worst_answers_for_columns(n, 32, 5), 8);
    CHECK(cost_of<by_columns, std::uint32_t>(n, worst, gpu_banks).wavefronts ==
          most_by_columns(n, 32));
    CHECK(cost_of<by_columns_and_keys, std::uint32_t>(n, worst, gpu_banks).wavefronts ==
          all_by_columns_and_keys(n, 32));
    if ((n & (n - 1)) == 0) {
      const auto for_halving = repeated(worst_answers_for_halving(n, 32), 8);
      CHECK(cost_of<by_halving, std::uint32_t>(n, for_halving, gpu_banks).wavefronts ==
            most_by_halving(n, 32));
    }
  }
  // As in the paper's table: 37, 38, 39 by columns, 255 and the last comparison by halving.
  CHECK(most_by_columns(1024, 32) == 37);
  CHECK(most_by_columns(2048, 32) == 38);
  CHECK(most_by_columns(4096, 32) == 39);
  CHECK(all_by_columns_and_keys(4096, 32) == 39);
  CHECK(most_by_halving(4096, 32) == 255 + 32);
}

TEST_CASE("No queries cost more than the estimates, for lists of any length", "[search_banks]") {
  for (const std::int64_t n : {1, 31, 32, 33, 64, 1000, 4000, 4095, 4097}) {
    CAPTURE(n);
    for (const auto& answers :
         {random_answers(n, 1024), repeated(worst_answers_for_halving(n, 32), 4),
          repeated(worst_answers_for_columns(n, 32, n > 32 ? 7 : 0), 4)}) {
      const auto some = cost_of<by_columns, std::uint32_t>(n, answers, gpu_banks);
      CHECK(some.wavefronts <= most_by_columns(n, 32, true));
      CHECK(some.accesses == steps_of((n + 31) / 32) + 5);
      CHECK(cost_of<by_columns_and_keys, std::uint32_t>(n, answers, gpu_banks).wavefronts ==
            all_by_columns_and_keys(n, 32));
    }
  }
  // The worst for halving are worse than random ones, of any length.
  for (const std::int64_t n : {4000, 4097}) {
    const auto worst = cost_of<by_halving, std::uint32_t>(
        n, repeated(worst_answers_for_halving(n, 32), 4), gpu_banks);
    const auto usual = cost_of<by_halving, std::uint32_t>(n, random_answers(n, 4096), gpu_banks);
    CHECK(worst.wavefronts > 1.5 * usual.wavefronts);
  }
}

TEST_CASE("Random queries among a power of two and a little less", "[search_banks]") {
  const auto around = [](double x, double expected) {
    return x > 0.95 * expected && x < 1.05 * expected;
  };
  // Section 3.7 of the digest: 20.7 and 19.7 by columns, 145.8 and 24.2 by halving.
  CHECK(around(
      cost_of<by_columns, std::uint32_t>(4096, random_answers(4096, 8192), gpu_banks).wavefronts,
      20.7));
  CHECK(around(
      cost_of<by_columns, std::uint32_t>(4000, random_answers(4000, 8192), gpu_banks).wavefronts,
      19.7));
  CHECK(around(
      cost_of<by_halving, std::uint32_t>(4096, random_answers(4096, 8192), gpu_banks).wavefronts,
      145.8));
  CHECK(around(
      cost_of<by_halving, std::uint32_t>(4000, random_answers(4000, 8192), gpu_banks).wavefronts,
      24.2));
  // Keys of 8 bytes in two passes.
  CHECK(around(cost_of<by_columns, std::uint64_t>(4096, random_answers(4096, 8192),
                                                  lanewise::banks_for_8_bytes)
                   .wavefronts,
               35.0));
  CHECK(around(cost_of<by_columns, std::uint64_t>(4096, random_answers(4096, 8192),
                                                  lanewise::banks_of_8_bytes)
                   .wavefronts,
               20.7));
}

TEST_CASE("Queries without conflicts by columns", "[search_banks]") {
  // Neighbouring answers in the order of lanes, and one answer for all.
  for (const std::int64_t n : {1024, 4000}) {
    std::vector<std::int64_t> neighbours, equal(128, n / 3);
    for (std::int64_t l = 0; l < 128; ++l) neighbours.push_back(640 + l % 32);
    const double steps = steps_of((n + 31) / 32) + 5;
    CHECK(cost_of<by_columns, std::uint32_t>(n, neighbours, gpu_banks).wavefronts == steps);
    CHECK(cost_of<by_columns, std::uint32_t>(n, equal, gpu_banks).wavefronts == steps);
  }
}

TEST_CASE("One count at a time", "[search_banks]") {
  const lanewise::wavefront_count one(gpu_banks);
  CHECK_THROWS_AS(lanewise::wavefront_count(gpu_banks), std::logic_error);
}
