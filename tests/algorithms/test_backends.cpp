// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/multisplit.hpp>
#include <lanewise/reduce.hpp>
#include <lanewise/scan.hpp>
#include <lanewise/transform.hpp>
#include <support/fixed_tree.hpp>
#include <support/generators.hpp>
#include <support/instances.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>

// The tested backend and the others that every program has, bit for bit.

namespace {

using namespace test;
using u32 = std::uint32_t;

/// Everything that the algorithms write, as words.
template <class Exec>
class results {
 public:
  results(const Exec& exec, const std::vector<u32>& keys, const std::vector<float>& numbers)
      : exec_(exec), n_(static_cast<std::int64_t>(keys.size())) {
    const auto in = copy("keys", keys);
    const auto x = copy("numbers", numbers);
    const auto sums = lanewise::deterministic(lanewise::plus{});
    auto out = place<u32>();
    lanewise::transform(exec, in, out, square_plus_one{});
    keep(out);
    lanewise::exclusive_scan(exec, in, out, 5u, lanewise::plus{});
    keep(out);
    lanewise::multisplit(exec, in, out, 200, modulo{200});
    keep(out);
    auto scanned = place<float>();
    lanewise::inclusive_scan(exec, x, scanned, sums);
    keep(scanned);
    lanewise::exclusive_scan(exec, x, scanned, 0.1f, sums);
    keep(scanned);
    words.push_back(word(lanewise::reduce(exec, in, lanewise::plus{}, 3u)));
    words.push_back(word(lanewise::reduce(exec, x, sums, 0.1f)));
  }

  std::vector<u32> words;

 private:
  using space_of = typename Exec::memory_space;

  template <class T>
  Kokkos::View<T*, space_of> copy(const char* name, const std::vector<T>& items) {
    const Kokkos::View<T*, space_of> view(name, items.size());
    Kokkos::deep_copy(view, Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                                items.data(), items.size()));
    return view;
  }
  template <class T>
  Kokkos::View<T*, space_of> place() {
    return Kokkos::View<T*, space_of>("out", static_cast<std::size_t>(n_));
  }
  template <class T>
  static u32 word(const T& x) {
    u32 w;
    std::memcpy(&w, &x, sizeof(w));
    return w;
  }
  template <class V>
  void keep(const V& view) {
    exec_.fence();
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
    for (std::size_t i = 0; i < host.extent(0); ++i) words.push_back(word(host(i)));
  }

  Exec exec_;
  std::int64_t n_;
};

}  // namespace

TEST_CASE("All backends compute the same bits", "[backends][deterministic]") {
  const std::int64_t n = 2 * oracle::tree_shape<float>::block + 12'345;
  for (const distribution d : {distribution::uniform, distribution::zipf, distribution::reversed}) {
    CAPTURE(d);
    const auto keys = items_of<u32>(numbers(d, n, most_number<u32>(), 200));
    std::vector<float> x;
    for (const u32 key : keys) x.push_back(1 / (1 + static_cast<float>(key % 100'003)));

    const auto here = results(make_space(), keys, x).words;

    CHECK(difference(results(Kokkos::Serial(), keys, x).words, here) == "");
    CHECK(difference(results(lanewise::emulated(seed() + 1, 3), keys, x).words, here) == "");
    const auto [one, other] = two_instances();
    CHECK(difference(results(one, keys, x).words, here) == "");
    CHECK(difference(results(other, keys, x).words, here) == "");
  }
}
