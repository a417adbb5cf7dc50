// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Histograms on the host spaces, with plain loops as a peer.

#include "histogram.hpp"
#include <lanewise/host.hpp>

namespace lanewise::perf {
namespace {

/// A table for every thread, added up at the end by one of them.
template <class Problem>
void count_plainly(const Problem& p, std::vector<std::vector<std::uint32_t>>& tables) {
  const auto* in = p.in.data();
  const auto* edges = p.edges.data();
  const std::int64_t bins = p.bins;
  auto* all = tables.data();
  in_shares(p.exec, p.n, [=](std::int64_t share, std::int64_t begin, std::int64_t end) {
    auto& table = all[share];
    table.assign(static_cast<std::size_t>(bins), 0);
    for (std::int64_t i = begin; i < end; ++i) {
      const auto x = in[i];
      std::int64_t b;
      if constexpr (Problem::ranges) {
        b = std::upper_bound(edges, edges + bins + 1, x) - edges - 1;
      } else if constexpr (std::is_floating_point_v<typename Problem::item>) {
        b = static_cast<std::int64_t>(
            (x - Problem::lower) * (static_cast<float>(bins) / (Problem::upper - Problem::lower)));
      } else {
        b = static_cast<std::int64_t>((static_cast<std::uint64_t>(x) - Problem::lower) *
                                      static_cast<std::uint64_t>(bins) /
                                      static_cast<std::uint64_t>(Problem::upper - Problem::lower));
      }
      if (b >= 0 && b < bins) ++table[static_cast<std::size_t>(b)];
    }
  });
  for (std::int64_t b = 0; b < bins; ++b) {
    std::uint32_t sum = 0;
    for (const auto& table : tables) sum += table[static_cast<std::size_t>(b)];
    p.counts(b) = sum;
  }
}

}  // namespace

void add_host() {
  for_each_backend([](const auto& exec) {
    using space = std::decay_t<decltype(exec)>;
    if constexpr (on_host<space>) {
      add_histograms<space>();
      for_each_histogram<space>([](auto type) {
        using problem = typename decltype(type)::type;
        add<problem>("std", [](problem& p, auto time) {
          std::vector<std::vector<std::uint32_t>> tables(
              static_cast<std::size_t>(p.exec.concurrency()));
          time([&] { count_plainly(p, tables); });
        });
      });
    }
  });
}

}  // namespace lanewise::perf
