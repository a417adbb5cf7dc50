// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Histograms, and the variants that every execution space has.

#include "support.hpp"
#include <lanewise/papers/ballot_histogram.hpp>

#include <array>

namespace lanewise::perf {

/// The distribution of the items: anywhere, three quarters of them in one bin, all in one bin, or
/// ascending.
enum class crowding { uniform, skewed, one_bin, sorted };
inline const char* name_of(crowding c) {
  constexpr const char* names[] = {"uniform", "skewed", "one_bin", "sorted"};
  return names[static_cast<int>(c)];
}

/// Items of [0, 2^32 - 1), of [0, 256), or of [0, 1).
template <class T>
struct crowded_item {
  crowding how;
  std::int64_t n;
  KOKKOS_FUNCTION T operator()(std::int64_t i) const {
    std::uint32_t x = static_cast<std::uint32_t>(hash(i));
    if (how == crowding::one_bin || (how == crowding::skewed && hash(~i) % 4 != 0))
      x = (x & 0x3FFu) | 0x5A5A5400u;
    if (how == crowding::sorted) x = static_cast<std::uint32_t>((i << 24) / n) << 8;
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(x >> 8) / T(1 << 24);
    } else {
      return static_cast<T>(x >> (32 - 8 * sizeof(T)));
    }
  }
};
template <class T>
struct levels;
template <>
struct levels<std::uint32_t> {
  using type = std::uint32_t;
  static constexpr type lower = 0, upper = 0xFFFFFFFFu;
};
template <>
struct levels<std::uint8_t> {
  using type = int;
  static constexpr type lower = 0, upper = 256;
};
template <>
struct levels<float> {
  using type = float;
  static constexpr type lower = 0, upper = 1;
};

/// Edges of bins of uneven width.
inline std::vector<std::uint32_t> uneven_edges(std::int64_t bins) {
  std::vector<std::uint32_t> edges;
  const auto width = static_cast<std::uint64_t>(0xFFFFFFFFu / bins);
  for (std::int64_t b = 0; b <= bins; ++b) {
    const std::uint64_t within = b == 0 || b == bins ? 0 : hash(b) % width;
    edges.push_back(static_cast<std::uint32_t>(static_cast<std::uint64_t>(b) * width + within));
  }
  return edges;
}

/// counts(b) = the number of items in bin b.
template <class Exec, class T, bool has_ranges>
struct histogram_problem {
  using exec_space = Exec;
  using item = T;
  using level = typename levels<T>::type;
  static constexpr bool ranges = has_ranges;
  static constexpr level lower = levels<T>::lower, upper = levels<T>::upper;

  struct point {
    std::int64_t n;
    crowding how;
    std::int64_t bins;
  };

  Exec exec{};
  std::int64_t n;
  std::int64_t bins;
  array<Exec, T> in{"perf::in", static_cast<std::size_t>(n)};
  array<Exec, std::uint32_t> counts{"perf::counts", static_cast<std::size_t>(bins)};
  array<Exec, std::uint32_t> edges{"perf::edges", static_cast<std::size_t>(bins) + 1};

  static std::vector<point> points() {
    constexpr bool all = std::is_same_v<T, std::uint32_t> && !ranges;
    std::vector<std::int64_t> numbers{256};
    if (all) numbers = {256, 2048, 8192, 32768, 65536, 2097152};
    std::vector<point> result;
    for (const std::int64_t bins : numbers) {
      for (const crowding how :
           {crowding::uniform, crowding::skewed, crowding::one_bin, crowding::sorted}) {
        auto some = sizes<Exec>(sizeof(T));
        if (how == crowding::uniform || how == crowding::one_bin) {
          for (const int e : {10, 12, 14, 18, 22}) some.push_back(std::int64_t{1} << e);
          std::sort(some.begin(), some.end());
        }
        for (const std::int64_t n : some) result.push_back({n, how, bins});
      }
    }
    // Those of the papers' table.
    if constexpr (ranges || std::is_floating_point_v<T>) {
      for (const std::int64_t bins : {2, 4, 8, 16, 32, 64, 128, 256})
        result.push_back({std::int64_t{1} << 25, crowding::uniform, bins});
    }
    return result;
  }
  static row name(const point& p) {
    return {(ranges ? "histogram.range" : "histogram.even") + std::to_string(p.bins),
            backend_name<Exec>(),
            "",
            type_name<T>(),
            name_of(p.how),
            p.n};
  }
  explicit histogram_problem(const point& p) : n(p.n), bins(p.bins) {
    fill(exec, in, crowded_item<T>{p.how, n});
    const auto of = uneven_edges(bins);
    Kokkos::deep_copy(
        edges, Kokkos::View<const std::uint32_t*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                   of.data(), of.size()));
  }
  std::int64_t bytes() const { return n * sizeof(T); }

  /// With many items, checks only how many are in bins at all: atomics take longer than all else.
  bool correct() const {
    const auto known = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), counts);
    std::int64_t total = 0;
    for (std::int64_t b = 0; b < bins; ++b) total += known(b);
    if (n > 1 << 20) return total <= n && total > n - n / 1000;
    const auto items = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), in);
    const auto edge = uneven_edges(bins);
    std::vector<std::uint32_t> expected(static_cast<std::size_t>(bins), 0);
    for (std::int64_t i = 0; i < n; ++i) {
      std::int64_t b = 0;
      if constexpr (ranges) {
        b = std::upper_bound(edge.begin(), edge.end(), items(i)) - edge.begin() - 1;
      } else if constexpr (std::is_floating_point_v<T>) {
        b = static_cast<std::int64_t>(items(i) * static_cast<float>(bins));
      } else {
        const auto x = static_cast<std::uint64_t>(items(i));
        b = x < static_cast<std::uint64_t>(upper)
                ? static_cast<std::int64_t>(x * static_cast<std::uint64_t>(bins) /
                                            static_cast<std::uint64_t>(upper))
                : bins;
      }
      if (b >= 0 && b < bins) ++expected[static_cast<std::size_t>(b)];
    }
    return std::equal(expected.begin(), expected.end(), known.data());
  }
};

/// As `Problem`, with up to 256 bins.
template <class Problem>
struct few_bins : Problem {
  using Problem::Problem;
  static std::vector<typename Problem::point> points() {
    auto all = Problem::points();
    std::erase_if(all, [](const auto& p) { return p.bins > 256; });
    return all;
  }
};

/// Pixels of four bytes: the first three are counted.
template <class Exec>
struct pixels_problem {
  using exec_space = Exec;
  using point = typename histogram_problem<Exec, std::uint8_t, false>::point;
  using bytes_view = array<Exec, std::uint8_t>;
  static constexpr std::int64_t bins = 256;

  Exec exec{};
  std::int64_t n;  // pixels
  bytes_view in{"perf::in", static_cast<std::size_t>(4 * n)};
  array<Exec, std::uint32_t> counts{"perf::counts", 3 * bins};

  static std::vector<point> points() {
    std::vector<point> result;
    for (const crowding how : {crowding::uniform, crowding::skewed, crowding::one_bin}) {
      for (const int e : {12, 20, 26}) result.push_back({std::int64_t{1} << e, how, bins});
    }
    return result;
  }
  static row name(const point& p) {
    return {"histogram.pixels256", backend_name<Exec>(), "", "u8", name_of(p.how), p.n};
  }
  explicit pixels_problem(const point& p) : n(p.n) {
    fill(exec, in, crowded_item<std::uint8_t>{p.how, 4 * n});
  }
  std::array<array<Exec, std::uint32_t>, 3> outputs() const {
    const auto one = [&](std::int64_t c) {
      return Kokkos::subview(counts,
                             Kokkos::pair<std::int64_t, std::int64_t>(c * bins, (c + 1) * bins));
    };
    return {one(0), one(1), one(2)};
  }
  std::int64_t bytes() const { return 4 * n; }
  bool correct() const {
    const auto known = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), counts);
    const std::int64_t some = n > 1 << 20 ? 0 : n;
    const auto items = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), in);
    std::vector<std::uint32_t> expected(3 * bins, 0);
    for (std::int64_t i = 0; i < some; ++i) {
      for (std::int64_t c = 0; c < 3; ++c)
        ++expected[static_cast<std::size_t>(c * bins + items(4 * i + c))];
    }
    std::int64_t total = 0;
    for (std::int64_t b = 0; b < 3 * bins; ++b) total += known(b);
    return total == 3 * n &&
           (some == 0 || std::equal(expected.begin(), expected.end(), known.data()));
  }
};

/// f(std::type_identity<problem>{}) for every kind of items and bins.
template <class Exec, class F>
void for_each_histogram(const F& f) {
  f(std::type_identity<histogram_problem<Exec, std::uint32_t, false>>{});
  f(std::type_identity<histogram_problem<Exec, std::uint8_t, false>>{});
  f(std::type_identity<histogram_problem<Exec, float, false>>{});
  f(std::type_identity<histogram_problem<Exec, std::uint32_t, true>>{});
}

template <class Exec>
void add_histograms() {
  for_each_histogram<Exec>([](auto type) {
    using problem = typename decltype(type)::type;
    add<problem>("lanewise", [](problem& p, auto time) {
      lanewise::workspace work;
      time([&] {
        if constexpr (problem::ranges) {
          lanewise::histogram(p.exec, p.in, p.counts, lanewise::range_bins(p.edges),
                              {.work = &work});
        } else {
          lanewise::histogram(p.exec, p.in, p.counts,
                              lanewise::even_bins(problem::lower, problem::upper), {.work = &work});
        }
      });
    });
    if constexpr (sizeof(typename problem::item) == 4) {
      add<few_bins<problem>>("lanewise.by_ballots", [](auto& p, auto time) {
        time([&] {
          if constexpr (problem::ranges) {
            lanewise::papers::ballot_histogram(p.exec, p.in, p.counts,
                                               lanewise::range_bins(p.edges));
          } else {
            lanewise::papers::ballot_histogram(p.exec, p.in, p.counts,
                                               lanewise::even_bins(problem::lower, problem::upper));
          }
        });
      });
    }
  });
  add<pixels_problem<Exec>>("lanewise", [](pixels_problem<Exec>& p, auto time) {
    lanewise::workspace work;
    const auto bins = lanewise::even_bins(0, 256);
    time([&] {
      lanewise::histogram_of_channels<4>(p.exec, p.in, p.outputs(), std::array{bins, bins, bins},
                                         {.work = &work});
    });
  });
}

// Each in a unit of its own, beside the peers that exist there.
void add_cuda();
void add_host();

}  // namespace lanewise::perf
