// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/papers/ballot_histogram.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithms/histogram/check_histogram.hpp>

// How histogram may be called: channels, sources, options, the papers' policy, and what it refuses.

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using u8 = std::uint8_t;
using u32 = std::uint32_t;

/// Bins of any width and sign: outside of them they must not be mistaken for others.
struct signed_bin {
  KOKKOS_FUNCTION std::int64_t operator()(const u32& k) const {
    constexpr std::int64_t bins[] = {
        0, 1, -1, 2, std::int64_t{1} << 32, 3, 4, -(std::int64_t{1} << 32), INT64_MAX, INT64_MIN};
    return bins[k % 10];
  }
};

/// Item i is i; the source counts the calls for it. A call outside would damage a guard.
struct counting_source {
  int* calls;
  std::int64_t n;
  KOKKOS_FUNCTION u32 operator()(std::int64_t i) const {
    if (i < 0 || i >= n) {
      calls[i < 0 ? -1 : n] = 1;
      return 0;
    }
    Kokkos::atomic_inc(&calls[i]);
    return static_cast<u32>(i);
  }
};
struct weight_of_index {
  KOKKOS_FUNCTION int operator()(std::int64_t i) const { return static_cast<int>(i % 5) - 2; }
};
/// Contracted with the subtraction of the lowest level it would be another number.
struct times_a_tenth {
  KOKKOS_FUNCTION float operator()(const float& x) const { return x * 0.1f; }
};

struct low_bits {
  KOKKOS_FUNCTION u8 operator()(std::int64_t i) const { return static_cast<u8>(i & 7); }
};
struct low_bits_in_words {
  KOKKOS_FUNCTION u32 operator()(std::int64_t i) const { return static_cast<u32>(i & 7); }
};
/// Counts of 0, 1, ... 7, 0, 1, ... in closed form.
template <class T, class F>
void check_low_bits(std::int64_t n, F item) {
  CAPTURE(n);
  for (const std::int64_t bins : {8, 30'000}) {
    const array<T> counts(bins, T{77});
    lanewise::histogram(make_space(), lanewise::generated(n, item), counts.view(),
                        lanewise::even_bins(0, bins));
    std::vector<T> expected(static_cast<std::size_t>(bins), T{});
    for (std::int64_t b = 0; b < 8; ++b)
      expected[static_cast<std::size_t>(b)] = static_cast<T>((n - b + 7) / 8);
    CHECK(difference(counts.items(), expected) == "");
  }
}

template <class T>
std::vector<T> as_counts(const std::vector<std::uint64_t>& counts) {
  return std::vector<T>(counts.begin(), counts.end());
}

template <int channels, std::size_t active, class T>
void check_channels(std::int64_t pixels, std::array<std::int64_t, active> bins) {
  CAPTURE(channels, active, pixels);
  const auto items = random_items<T>(pixels * channels);
  const array<T> in(items, 1);
  std::vector<array<u32>> counts;
  std::array<Kokkos::View<u32*, memory, Kokkos::MemoryUnmanaged>, active> views;
  std::array<lanewise::even_bins_between<std::int64_t>, active> bins_of;
  for (std::size_t c = 0; c < active; ++c) {
    counts.emplace_back(bins[c], 77u);
    views[c] = counts[c].view();
    bins_of[c] = lanewise::even_bins(5 * static_cast<int>(c), 250);
  }
  const cell<lanewise::status> errors;

  lanewise::histogram_of_channels<channels>(make_space(), in.const_view(), views, bins_of,
                                            {.errors = errors.view()});

  std::uint64_t outside = 0;
  for (std::size_t c = 0; c < active; ++c) {
    std::vector<T> own;
    for (std::size_t i = c; i < items.size(); i += channels) own.push_back(items[i]);
    const auto expected = histogram_of(
        own, bins[c], even_oracle<std::int64_t>{5 * static_cast<std::int64_t>(c), 250});
    CHECK(difference(counts[c].items(), as_counts<u32>(expected.counts)) == "");
    CHECK(counts[c].guards_intact());
    outside += expected.outside;
  }
  CHECK(errors.get().bad_items == outside);
}

}  // namespace

TEST_CASE("histogram counts several channels in one pass", "[histogram][sanitize]") {
  for (const std::int64_t pixels : {0, 1, 33, 5'003}) {
    check_channels<4, 3, u8>(pixels, {256, 100, 7});
    check_channels<3, 3, u8>(pixels, {2, 256, 30'000});
    check_channels<2, 1, std::uint16_t>(pixels, {64});
  }
}

TEST_CASE("histogram takes sources of items and weights", "[histogram][sanitize]") {
  for (const std::int64_t n : {1, 33, 10'011}) {
    for (const std::int64_t bins : {50, 30'000}) {
      CAPTURE(n, bins);
      const array<int> calls(n, 0);
      const array<std::int64_t> sums(bins, 77);
      lanewise::histogram(make_space(), lanewise::generated(n, counting_source{calls.data(), n}),
                          lanewise::generated(n, weight_of_index{}), sums.view(),
                          modulo{static_cast<u32>(bins)});
      std::vector<std::int64_t> expected(static_cast<std::size_t>(bins), 0);
      for (std::int64_t i = 0; i < n; ++i)
        expected[static_cast<std::size_t>(i % bins)] += weight_of_index{}(i);
      CHECK(difference(sums.items(), expected) == "");
      const auto seen = calls.items();
      CHECK(std::all_of(seen.begin(), seen.end(), [](int k) { return k == 1 || k == 2; }));
      CHECK(calls.guards_intact());
    }
  }
}

TEST_CASE("histogram rounds what a source computes", "[histogram][sanitize]") {
  std::vector<float> items, computed;
  for (int i = 0; i < 20'000; ++i) items.push_back(static_cast<float>(i) * 0.037f + 1);
  for (const float x : items) {
    const volatile float product = x * 0.1f;
    computed.push_back(float{product});
  }
  const array<float> in(items);
  const array<u32> counts(1000, 77u);
  lanewise::histogram(make_space(), lanewise::transformed(in.const_view(), times_a_tenth{}),
                      counts.view(), lanewise::even_bins(0.3f, 70.1f));
  const auto expected = histogram_of(computed, 1000, even_oracle<float>{0.3f, 70.1f});
  CHECK(difference(counts.items(), as_counts<u32>(expected.counts)) == "");
}

TEST_CASE("histogram counts bins of any width and sign as outside", "[histogram][sanitize]") {
  const auto items = random_items<u32>(5'000);
  const array<u32> in(items);
  const array<u32> counts(5, 77u);
  const cell<lanewise::status> errors;
  for (int call = 1; call <= 2; ++call) {
    lanewise::histogram(make_space(), in.const_view(), counts.view(), signed_bin{},
                        {.errors = errors.view()});
    std::vector<u32> expected(5, 0);
    std::uint64_t outside = 0;
    for (const u32 x : items) {
      const std::int64_t b = signed_bin{}(x);
      if (b >= 0 && b < 5) {
        ++expected[static_cast<std::size_t>(b)];
      } else {
        ++outside;
      }
    }
    CHECK(counts.items() == expected);
    CHECK(errors.get().bad_items == outside * static_cast<std::uint64_t>(call));
  }
}

TEST_CASE("histogram reads the number of items on the device", "[histogram][sanitize]") {
  const auto items = random_items<u32>(9'000);
  const array<u32> in(items);
  const cell<std::int32_t> count;
  for (const std::int32_t given : {-5, 0, 1, 4'096, 8'999, 9'000, 9'001}) {
    for (const std::int64_t bins : {10, 30'000}) {
      CAPTURE(given, bins);
      count.set(given);
      const array<u32> counts(bins, 77u);
      const cell<lanewise::status> errors;
      lanewise::histogram(make_space(), in.const_view(), counts.view(), modulo{30'001},
                          {.count = count.view(), .errors = errors.view()});
      const auto n = static_cast<std::size_t>(std::clamp(given, 0, 9'000));
      const auto expected = histogram_of(std::vector<u32>(items.begin(), items.begin() + n), bins,
                                         functor_oracle<modulo>{{30'001}});
      CHECK(difference(counts.items(), as_counts<u32>(expected.counts)) == "");
      CHECK(errors.get().bad_items == expected.outside);
    }
  }
}

TEST_CASE("histogram agrees with a closed form", "[histogram]") {
  for (const std::int64_t n : {5, 20'011}) {
    check_low_bits<std::uint64_t>(n, low_bits{});
    check_low_bits<u32>(n, low_bits_in_words{});
  }
}

TEST_CASE("histogram counts more items than fit 32 bits", "[.large]") {
  const std::int64_t n = (std::int64_t{1} << 35) + 12'345;  // of every bin, too
  check_low_bits<std::uint64_t>(n, low_bits{});
  check_low_bits<u32>(n, low_bits_in_words{});
}

TEST_CASE("histogram allocates nothing where its workspace is large enough", "[histogram]") {
  const auto exec = make_space();
  const array<u32> in(random_items<u32>(100'000));
  for (const std::int64_t bins : {1, 256, 40'000}) {
    lanewise::workspace work;
    lanewise::reserve(exec, work, lanewise::histogram_workspace<u32>(exec, 100'000, bins));
    const std::size_t before = work.bytes();
    const array<u32> counts(bins, 77u);
    lanewise::histogram(exec, in.const_view(), counts.view(), modulo{static_cast<u32>(bins)},
                        {.work = &work});
    lanewise::histogram(exec, in.const_view(), in.const_view(), counts.view(),
                        modulo{static_cast<u32>(bins)}, {.work = &work});
    CHECK(work.bytes() == before);
  }
}

TEST_CASE("Histograms by ballots are the same", "[histogram][sanitize]") {
  for (const std::int64_t n : {0, 1, 33, 9'001}) {
    const auto items = items_of<u32>(numbers(distribution::quarter_uniform, n, 0xFFFFFFFF, 256));
    const array<u32> in(items);
    for (const std::int64_t bins : {1, 2, 31, 32, 33, 255, 256}) {
      CAPTURE(n, bins);
      const auto divisor = static_cast<u32>(bins + bins / 2);
      const array<u32> counts(bins, 77u);
      const cell<lanewise::status> errors;
      lanewise::papers::ballot_histogram(make_space(), in.const_view(), counts.view(),
                                         modulo{divisor}, {.errors = errors.view()});
      const auto expected = histogram_of(items, bins, functor_oracle<modulo>{{divisor}});
      CHECK(difference(counts.items(), as_counts<u32>(expected.counts)) == "");
      CHECK(errors.get().bad_items == expected.outside);
      CHECK(counts.guards_intact());
    }
  }
  const array<u32> in(4, 1u), counts(257, 2u);
  CHECK_THAT(refusal([&] {
               lanewise::papers::ballot_histogram(make_space(), in.const_view(), counts.view(),
                                                  modulo{3});
             }),
             ContainsSubstring("ballot_histogram: counts has 257 bins, not in [1, 256]"));
}

TEST_CASE("histogram refuses what does not fit", "[histogram]") {
  const auto exec = make_space();
  const array<u32> in(8, 1u), other(7, 2u), counts(4, 3u), edges(4, 4u);
  const array<u8> bytes(8, u8{1});
  const Kokkos::View<u32*, memory> none, many("many", (1 << 21) + 1);
  const Kokkos::View<u32*, memory, Kokkos::MemoryUnmanaged> nothing(nullptr, 5);
  const auto call = [&](const auto&... arguments) {
    return refusal([&] { lanewise::histogram(exec, arguments...); });
  };
  using lanewise::even_bins;

  CHECK_THAT(call(in.view(), none, modulo{3}),
             ContainsSubstring("histogram: counts has 0 bins, not in [1, 2097152]"));
  CHECK_THAT(call(in.view(), many, modulo{3}), ContainsSubstring("counts has 2097153 bins"));
  CHECK_THAT(call(nothing, counts.view(), modulo{3}),
             ContainsSubstring("in has 5 items and no memory"));
  CHECK_THAT(call(in.view(), nothing, modulo{3}),
             ContainsSubstring("counts has 5 items and no memory"));
  CHECK_THAT(call(in.view(), other.view(), counts.view(), modulo{3}),
             ContainsSubstring("weights has 7 items, in has 8"));
  CHECK_THAT(call(in.view(), in.view(), modulo{3}), ContainsSubstring("overlap"));
  CHECK_THAT(call(in.view(), counts.view(), lanewise::range_bins(edges.view())),
             ContainsSubstring("there are 4 edges, of 4 bins, which have one more"));
  const auto front = Kokkos::subview(in.view(), Kokkos::pair<int, int>(0, 3));
  const auto own_edges = Kokkos::subview(in.view(), Kokkos::pair<int, int>(2, 6));
  CHECK_THAT(call(other.view(), front, lanewise::range_bins(own_edges)),
             ContainsSubstring("edges [") && ContainsSubstring("overlap"));
  CHECK_THAT(call(in.view(), counts.view(), even_bins(5, 5)),
             ContainsSubstring("the bins' lower is 5, not less than upper, 5"));
  CHECK_THAT(call(in.view(), counts.view(), even_bins(-1, 5)),
             ContainsSubstring("the bins are in [-1, 5), but items in [0, 4294967295]"));
  CHECK_THAT(call(in.view(), counts.view(), even_bins(0, (std::int64_t{1} << 32) + 1)),
             ContainsSubstring("but items in [0, 4294967295]"));
  CHECK_THAT(refusal([&] { even_bins(-5, std::uint64_t{7}); }),
             ContainsSubstring("even_bins: lower is -5"));
  const array<double> reals(8, 1.0);
  const double huge = std::numeric_limits<double>::max();
  CHECK_THAT(call(reals.view(), counts.view(), even_bins(-huge, huge)),
             ContainsSubstring("out of the range of the items' type"));
  CHECK_THAT(call(reals.view(), counts.view(), even_bins(std::nan(""), 1.0)),
             ContainsSubstring("not less than"));
  const array<u32> odd(7, 1u);
  CHECK_THAT(refusal([&] {
               lanewise::histogram_of_channels<2>(exec, odd.view(), std::array{counts.view()},
                                                  std::array{even_bins(0, 4)});
             }),
             ContainsSubstring("in has 7 items, which is no multiple of 2 channels"));
  CHECK(in.unchanged());
  CHECK(counts.unchanged());
}
