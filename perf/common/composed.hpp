// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Algorithms that are composed of sorts and multisplits, and a multisplit whose function searches.

#include "sort/segment_lengths.hpp"
#include <lanewise/histogram/map_reduce.hpp>
#include <lanewise/sort/multisplit.hpp>
#include <lanewise/sort/segmented_multisplit.hpp>

namespace lanewise::perf {

struct size_of_problem {
  std::int64_t n;
};
template <class Exec>
std::vector<size_of_problem> composed_sizes() {
  std::vector<size_of_problem> result;
  for (const int e : {16, 20, 24}) result.push_back({std::int64_t{1} << e});
  if constexpr (!on_host<Exec>) result.push_back({std::int64_t{1} << 28});
  return result;
}

/// One of 65,536 words, the more often the smaller: the product of two uniform numbers.
struct word_of {
  KOKKOS_FUNCTION std::uint32_t operator()(std::int64_t i) const {
    const std::uint64_t x = hash(i);
    const std::uint64_t product = (x & 0xFFFFu) * ((x >> 16) & 0xFFFFu);
    return static_cast<std::uint32_t>(product >> 16);
  }
};
/// A word weighs its lowest three bits, and one.
struct weighed {
  KOKKOS_FUNCTION lanewise::tuple<std::uint32_t, std::uint32_t> operator()(std::uint32_t x) const {
    return {x, (x & 7u) + 1};
  }
};

/// Every word once, and the sum of its weights.
template <class Exec>
struct words_problem {
  using exec_space = Exec;
  using words = array<Exec, std::uint32_t>;
  static constexpr std::size_t most = 65'536;

  Exec exec{};
  std::int64_t n;
  words in{"perf::in", static_cast<std::size_t>(n)};
  words keys_out{"perf::keys_out", most}, sums_out{"perf::sums_out", most};
  Kokkos::View<std::int64_t, typename Exec::memory_space> number{"perf::number"};
  bool weighs = true;

  static std::vector<size_of_problem> points() { return composed_sizes<Exec>(); }
  static row name(const size_of_problem& p) {
    return {"map_reduce", backend_name<Exec>(), "", "u32", "words", p.n};
  }
  explicit words_problem(const size_of_problem& p) : n(p.n) { fill(exec, in, word_of{}); }
  std::int64_t bytes() const { return n * sizeof(std::uint32_t); }

  bool correct() const {
    const auto items = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), in);
    const auto keys = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), keys_out);
    const auto sums = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sums_out);
    std::vector<std::uint32_t> expected(most, 0);
    for (std::int64_t i = 0; i < n; ++i) expected[items(i)] += weighs ? (items(i) & 7u) + 1 : 1;
    std::int64_t j = 0;
    for (std::uint32_t key = 0; key < most; ++key) {
      if (expected[key] == 0) continue;
      if (keys(j) != key || sums(j) != expected[key]) return false;
      ++j;
    }
    std::int64_t found = 0;
    Kokkos::deep_copy(found, number);
    return found == j;
  }
};

/// As `words_problem`, with words that all weigh one.
template <class Exec>
struct counts_problem : words_problem<Exec> {
  explicit counts_problem(const size_of_problem& p) : words_problem<Exec>(p) {
    this->weighs = false;
  }
  static row name(const size_of_problem& p) {
    return {"sparse_histogram", backend_name<Exec>(), "", "u32", "words", p.n};
  }
};

/// The bucket of a key between splitters: how many of them are no greater. Without a branch.
struct among_splitters {
  const std::uint32_t* splitters;
  static constexpr std::uint32_t number = 100;
  KOKKOS_FUNCTION std::uint32_t operator()(std::uint32_t key) const {
    std::uint32_t below = 0;
    for (std::uint32_t step = 64; step > 0; step /= 2) {
      const std::uint32_t next = below + step;
      below = next <= number && splitters[next - 1] <= key ? next : below;
    }
    return below;
  }
};

/// Keys between 100 splitters of uneven distances.
template <class Exec>
struct splitters_problem {
  using exec_space = Exec;
  using keys_array = array<Exec, std::uint32_t>;
  static constexpr std::int64_t buckets = among_splitters::number + 1;

  Exec exec{};
  std::int64_t n;
  keys_array in{"perf::in", static_cast<std::size_t>(n)};
  keys_array out{"perf::out", static_cast<std::size_t>(n)};
  keys_array splitters{"perf::splitters", among_splitters::number};
  among_splitters bucket_of{splitters.data()};

  struct splitter {
    KOKKOS_FUNCTION std::uint32_t operator()(std::int64_t i) const {
      return static_cast<std::uint32_t>((i + 1) * 42'000'000 + hash(i) % 40'000'000);
    }
  };
  static std::vector<size_of_problem> points() { return composed_sizes<Exec>(); }
  static row name(const size_of_problem& p) {
    return {"multisplit.splitters100", backend_name<Exec>(), "", "u32", "uniform", p.n};
  }
  explicit splitters_problem(const size_of_problem& p) : n(p.n) {
    fill(exec, in, random_item<std::uint32_t>{});
    fill(exec, splitters, splitter{});
  }
  std::int64_t bytes() const { return 2 * n * sizeof(std::uint32_t); }

  struct falls {
    keys_array out;
    among_splitters bucket_of;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const {
      return i > 0 && bucket_of(out(i)) < bucket_of(out(i - 1));
    }
  };
  struct hash_of {
    keys_array items;
    KOKKOS_FUNCTION std::uint64_t operator()(std::int64_t i) const { return hash(items(i)); }
  };
  bool correct() const {
    return sum<std::int64_t>(exec, n, falls{out, bucket_of}) == 0 &&
           sum<std::uint64_t>(exec, n, hash_of{in}) == sum<std::uint64_t>(exec, n, hash_of{out});
  }
};

/// The three highest bits.
struct of_eight {
  KOKKOS_FUNCTION std::uint32_t operator()(std::uint32_t key) const { return key >> 29; }
};

/// Every segment into eight buckets.
template <class Exec>
struct segments_problem {
  using exec_space = Exec;
  using keys_array = array<Exec, std::uint32_t>;
  static constexpr std::int64_t buckets = 8;

  Exec exec{};
  std::int64_t n, segments;
  keys_array in{"perf::in", static_cast<std::size_t>(n)};
  keys_array out{"perf::out", static_cast<std::size_t>(n)};
  array<Exec, std::int64_t> offsets{"perf::offsets", static_cast<std::size_t>(segments + 1)};
  array<Exec, std::uint8_t> begins{"perf::begins", static_cast<std::size_t>(n)};

  static std::vector<segments_point> points() {
    using enum segment_lengths;
    std::vector<segments_point> result;
    for (const auto& [n] : composed_sizes<Exec>()) result.push_back(segments_of(n / 1024, len1024));
    result.push_back(segments_of(10'000, powerlaw));
    if constexpr (!on_host<Exec>) {
      result.push_back(segments_of(1'000, powerlaw));
      result.push_back(segments_of(1'000'000, powerlaw));
    }
    return result;
  }
  static row name(const segments_point& p) {
    return {std::string("segmented_multisplit.m8.") + name_of(p.lengths),
            backend_name<Exec>(),
            "",
            "u32",
            "uniform",
            p.n};
  }
  explicit segments_problem(const segments_point& p) : n(p.n), segments(p.segments) {
    const auto all = offsets_of(p);
    Kokkos::deep_copy(exec, offsets,
                      Kokkos::View<const std::int64_t*, Kokkos::HostSpace>(all.data(), all.size()));
    exec.fence();
    fill(exec, in, random_item<std::uint32_t>{});
    Kokkos::parallel_for("perf::begins", range<Exec>(exec, 0, segments), mark{offsets, begins, n});
  }
  std::int64_t bytes() const { return 2 * n * sizeof(std::uint32_t); }

  struct mark {
    array<Exec, std::int64_t> offsets;
    array<Exec, std::uint8_t> begins;
    std::int64_t n;
    KOKKOS_FUNCTION void operator()(std::int64_t s) const {
      if (offsets(s) < n) begins(offsets(s)) = 1;
    }
  };
  struct falls {
    keys_array out;
    array<Exec, std::uint8_t> begins;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const {
      return begins(i) == 0 && of_eight{}(out(i)) < of_eight{}(out(i - 1));
    }
  };
  struct hash_of {
    keys_array items;
    KOKKOS_FUNCTION std::uint64_t operator()(std::int64_t i) const { return hash(items(i)); }
  };
  bool correct() const {
    return sum<std::int64_t>(exec, n, falls{out, begins}) == 0 &&
           sum<std::uint64_t>(exec, n, hash_of{in}) == sum<std::uint64_t>(exec, n, hash_of{out});
  }
};

template <class Exec>
void add_composed() {
  add<words_problem<Exec>>("lanewise", [](words_problem<Exec>& p, auto time) {
    lanewise::workspace work;
    time([&] {
      lanewise::map_reduce(p.exec, p.in, weighed{}, p.keys_out, p.sums_out, p.number,
                           lanewise::plus{}, {.work = &work});
    });
  });
  add<counts_problem<Exec>>("lanewise", [](counts_problem<Exec>& p, auto time) {
    lanewise::workspace work;
    time([&] {
      lanewise::sparse_histogram(p.exec, p.in, p.keys_out, p.sums_out, p.number, {.work = &work});
    });
  });
  add<splitters_problem<Exec>>("lanewise", [](splitters_problem<Exec>& p, auto time) {
    lanewise::workspace work;
    time([&] {
      lanewise::multisplit(p.exec, p.in, p.out, p.buckets, lanewise::costly(p.bucket_of),
                           {.work = &work});
    });
  });
  add<splitters_problem<Exec>>("lanewise.asked_often", [](splitters_problem<Exec>& p, auto time) {
    lanewise::workspace work;
    time([&] {
      lanewise::multisplit(p.exec, p.in, p.out, p.buckets, p.bucket_of, {.work = &work});
    });
  });
  add<segments_problem<Exec>>("lanewise", [](segments_problem<Exec>& p, auto time) {
    lanewise::workspace work;
    time([&] {
      lanewise::segmented_multisplit(p.exec, p.in, p.offsets, p.out, p.buckets, of_eight{},
                                     {.work = &work});
    });
  });
}

// Peers on CUDA, in a unit of its own.
void add_cuda();

}  // namespace lanewise::perf
