// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/segments/reduce_by_key.hpp>
#include <lanewise/segments/run_length.hpp>
#include <lanewise/segments/run_length_decode.hpp>
#include <lanewise/segments/segmented_reduce.hpp>
#include <lanewise/select/select.hpp>
#include <lanewise/sequence/allocate.hpp>
#include <lanewise/sequence/min_max_element.hpp>
#include <lanewise/sequence/scan_reverse.hpp>

#include <algorithms/common/check_backends.hpp>

// Selections, runs and segments on the tested backend and the others, bit for bit.

namespace {

using namespace test;

struct keep_odd {
  KOKKOS_FUNCTION bool operator()(const std::uint32_t& x) const { return x % 2 != 0; }
};

template <class Exec>
class results_of_runs : public written_words<Exec> {
 public:
  using word = std::uint32_t;

  results_of_runs(const Exec& exec, const std::vector<word>& small, const std::vector<word>& begins)
      : written_words<Exec>(exec, static_cast<std::int64_t>(small.size())) {
    const auto in = this->copy("small", small);
    const auto offsets = this->copy("begins", begins);
    const Kokkos::View<std::int64_t, typename Exec::memory_space> count("count");
    const auto out = this->template place<word>();
    const auto more = this->template place<word>();
    lanewise::select_if(exec, in, out, count, keep_odd{});
    this->keep(out);
    counted(exec, count);
    lanewise::run_length_encode(exec, in, out, more, count);
    this->keep(out);
    this->keep(more);
    counted(exec, count);
    lanewise::reduce_by_key(exec, in, in, out, more, count, lanewise::plus{});
    this->keep(out);
    this->keep(more);
    counted(exec, count);
    lanewise::segmented_reduce(exec, in, offsets, out, lanewise::plus{}, 3u);
    this->keep(out);
    lanewise::run_length_decode(exec, in, in, more, count);
    this->keep(more);
    counted(exec, count);
    lanewise::allocate(exec, in, out, count);
    this->keep(out);
    counted(exec, count);
    lanewise::inclusive_scan_reverse(exec, in, out, lanewise::plus{});
    this->keep(out);
    const auto most = lanewise::max_element(exec, in);
    this->words.push_back(most.value);
    this->words.push_back(static_cast<word>(most.index));
  }

 private:
  template <class V>
  void counted(const Exec& exec, const V& count) {
    exec.fence();
    std::int64_t host = -1;
    Kokkos::deep_copy(host, count);
    this->words.push_back(static_cast<word>(host));
  }
};

}  // namespace

TEST_CASE("All backends compute the same selections, runs and segments", "[backends]") {
  constexpr std::int64_t n = 54'321;
  for (const distribution d : {distribution::uniform, distribution::zipf, distribution::reversed}) {
    CAPTURE(d);
    const auto small = items_of<std::uint32_t>(numbers(d, n, 5, 6));
    const auto begins = items_of<std::uint32_t>(numbers(distribution::sorted, n / 50, n, 200));
    check_backends<results_of_runs>(small, begins);
  }
}
