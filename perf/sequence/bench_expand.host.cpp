// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The problems of expand.hpp on the host spaces, with the standard library, its parallel modes and
// TBB as peers. What the standard library lacks is a plain loop, named std too, in which every
// thread has equally many ranges.

#include "expand.hpp"
#include <lanewise/host.hpp>

#include <algorithm>
#include <iterator>
#include <numeric>

#if defined(LANEWISE_PERF_TBB)
#include <execution>
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#endif

namespace lanewise::perf {
namespace {

using u32 = std::uint32_t;

template <class Problem>
indexed<typename Problem::item> found(const Problem& p, const typename Problem::item* least) {
  return {*least, least - p.in.data()};
}

/// What the standard library has, by one thread.
template <class Exec>
void add_sequential() {
  using differences = difference_problem<Exec, u32>;
  add<differences>("std", [](differences& p, auto time) {
    time([&] { std::adjacent_difference(p.in.data(), p.in.data() + p.n, p.out.data()); });
  });
  using reverse = reverse_scan_problem<Exec, u32>;
  add<reverse>("std", [](reverse& p, auto time) {
    const std::reverse_iterator<const u32*> begin(p.in.data() + p.n), end(p.in.data());
    const std::reverse_iterator<u32*> out(p.out.data() + p.n);
    time([&] { std::inclusive_scan(begin, end, out); });
  });
  using allocation = allocate_problem<Exec, u32>;
  add<allocation>("std", [](allocation& p, auto time) {
    time([&] {
      const u32 *begin = p.in.data(), *end = begin + p.n;
      std::exclusive_scan(begin, end, p.out.data(), std::int64_t{0});
      p.total() = p.out(p.n - 1) + p.in(p.n - 1);
    });
  });
  const auto add_minimum = [](auto type) {
    using minimum = minimum_problem<Exec, typename decltype(type)::type>;
    add<minimum>("std", [](minimum& p, auto time) {
      time([&] { p.result() = found(p, std::min_element(p.in.data(), p.in.data() + p.n)); });
    });
  };
  add_minimum(std::type_identity<u32>{});
  add_minimum(std::type_identity<double>{});
}

template <class Exec>
void add_plain_decoding() {
  using decode = decode_problem<Exec, u32>;
  add<decode>("std", [](decode& p, auto time) {
    const std::int64_t shares = p.exec.concurrency();
    std::vector<std::int64_t> begin(static_cast<std::size_t>(shares) + 1);
    time([&] {
      const auto* lengths = p.lengths.data();
      auto* first = begin.data();
      in_shares(p.exec, p.ranges, [=](std::int64_t s, std::int64_t b, std::int64_t e) {
        first[s + 1] = std::accumulate(lengths + b, lengths + e, std::int64_t{0});
      });
      std::partial_sum(begin.begin(), begin.end(), begin.begin());
      const auto* keys = p.keys.data();
      auto* out = p.out.data();
      in_shares(p.exec, p.ranges, [=](std::int64_t s, std::int64_t b, std::int64_t e) {
        auto* to = out + first[s];
        for (std::int64_t r = b; r < e; ++r) to = std::fill_n(to, lengths[r], keys[r]);
      });
      p.count() = begin.back();
    });
  });
}

template <class Exec, class T>
void add_plain_segments() {
  using segments = segments_problem<Exec, T>;
  add<segments>("std", [](segments& p, auto time) {
    time([&] {
      const auto* offsets = p.offsets.data();
      const auto* in = p.in.data();
      auto* out = p.out.data();
      in_shares(p.exec, p.ranges, [=](std::int64_t, std::int64_t b, std::int64_t e) {
        for (std::int64_t r = b; r < e; ++r)
          out[r] = std::reduce(in + offsets[r], in + offsets[r + 1], T{});
      });
    });
  });
}

template <class Exec>
void add_space() {
  add_copies<Exec>();
  add_expand_lanewise<Exec>();
  add_plain_decoding<Exec>();
  add_plain_segments<Exec, u32>();
  add_plain_segments<Exec, double>();
}

#if defined(LANEWISE_PERF_TBB)
template <class Exec, class T>
void add_tbb_segments() {
  using segments = segments_problem<Exec, T>;
  add<segments>("tbb", [](segments& p, auto time) {
    time([&] {
      const auto* offsets = p.offsets.data();
      const auto* in = p.in.data();
      auto* out = p.out.data();
      tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, p.ranges), [=](const auto& block) {
        for (std::int64_t r = block.begin(); r < block.end(); ++r)
          out[r] = std::reduce(in + offsets[r], in + offsets[r + 1], T{});
      });
    });
  });
}

/// What runs on threads of its own is measured beside the space with as many.
template <class Exec>
void add_parallel_libraries() {
  static const tbb::global_control as_many(tbb::global_control::max_allowed_parallelism,
                                           Exec().concurrency());
  using differences = difference_problem<Exec, u32>;
  add<differences>("std", [](differences& p, auto time) {
    time([&] {
      std::adjacent_difference(std::execution::par_unseq, p.in.data(), p.in.data() + p.n,
                               p.out.data());
    });
  });
  using reverse = reverse_scan_problem<Exec, u32>;
  add<reverse>("std", [](reverse& p, auto time) {
    const std::reverse_iterator<const u32*> begin(p.in.data() + p.n), end(p.in.data());
    const std::reverse_iterator<u32*> out(p.out.data() + p.n);
    time([&] { std::inclusive_scan(std::execution::par_unseq, begin, end, out); });
  });
  using minimum = minimum_problem<Exec, u32>;
  add<minimum>("std", [](minimum& p, auto time) {
    time([&] {
      p.result() =
          found(p, std::min_element(std::execution::par_unseq, p.in.data(), p.in.data() + p.n));
    });
  });
  add_tbb_segments<Exec, u32>();
  add_tbb_segments<Exec, double>();
}
#endif

}  // namespace

void add_expand_host() {
#if defined(KOKKOS_ENABLE_SERIAL)
  add_space<Kokkos::Serial>();
  add_sequential<Kokkos::Serial>();
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
  add_space<Kokkos::OpenMP>();
#if defined(LANEWISE_PERF_TBB)
  add_parallel_libraries<Kokkos::OpenMP>();
#endif
#endif
#define LANEWISE_PERF_STRING(x) #x
#define LANEWISE_PERF_EXPANDED_STRING(x) LANEWISE_PERF_STRING(x)
  describe("simd_target", LANEWISE_PERF_EXPANDED_STRING(LANEWISE_TARGET));
}

}  // namespace lanewise::perf
