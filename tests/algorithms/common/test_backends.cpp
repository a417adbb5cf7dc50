// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/sequence/reduce.hpp>
#include <lanewise/sequence/scan.hpp>
#include <lanewise/sequence/transform.hpp>
#include <lanewise/sort/multisplit.hpp>
#include <support/fixed_tree.hpp>

#include <algorithms/common/check_backends.hpp>

// The tested backend and the others that every program has, bit for bit.

namespace {

using namespace test;
using u32 = std::uint32_t;

/// Everything that the algorithms write, as words.
template <class Exec>
class results : public written_words<Exec> {
 public:
  results(const Exec& exec, const std::vector<u32>& keys, const std::vector<float>& numbers)
      : written_words<Exec>(exec, static_cast<std::int64_t>(keys.size())) {
    const auto in = this->copy("keys", keys);
    const auto x = this->copy("numbers", numbers);
    const auto sums = lanewise::deterministic(lanewise::plus{});
    auto out = this->template place<u32>();
    lanewise::transform(exec, in, out, square_plus_one{});
    this->keep(out);
    lanewise::exclusive_scan(exec, in, out, lanewise::plus{}, 5u);
    this->keep(out);
    lanewise::multisplit(exec, in, out, lanewise::at_most<256>{200}, modulo{200});
    this->keep(out);
    auto scanned = this->template place<float>();
    lanewise::inclusive_scan(exec, x, scanned, sums);
    this->keep(scanned);
    lanewise::exclusive_scan(exec, x, scanned, sums, 0.1f);
    this->keep(scanned);
    this->words.push_back(this->word(lanewise::reduce(exec, in, lanewise::plus{}, 3u)));
    this->words.push_back(this->word(lanewise::reduce(exec, x, sums, 0.1f)));
  }
};

}  // namespace

TEST_CASE("All backends compute the same bits", "[backends][deterministic]") {
  const std::int64_t n = 2 * oracle::tree_shape<float>::block + 12'345;
  for (const distribution d : {distribution::uniform, distribution::zipf, distribution::reversed}) {
    CAPTURE(d);
    const auto keys = items_of<u32>(numbers(d, n, most_number<u32>(), 200));
    std::vector<float> x;
    for (const u32 key : keys) x.push_back(1 / (1 + static_cast<float>(key % 100'003)));

    check_backends<results>(keys, x);
  }
}
