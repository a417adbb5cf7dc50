// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Finds in a read-only table of 128-byte slabs, at several sub-warp widths and depths of cooperate.
// The variant `lanewise` has the warp's own; the others name their width and depth.

#include "slab_probe.hpp"
#include "support.hpp"
#include <lanewise/host.hpp>

#include <cstdlib>
#include <memory>
#include <sys/mman.h>

namespace lanewise::perf {

constexpr double utilisation = 0.6;

/// Distinct keys, odd ones in the table and even ones not; 0 stays free.
struct key_at {
  std::uint32_t missing;
  KOKKOS_FUNCTION std::uint32_t operator()(std::int64_t i) const {
    const std::uint32_t key = (static_cast<std::uint32_t>(i) * 0x9E3779B1u << 1 | 1) + missing;
    return key == 0 ? 2 : key;
  }
};

/// Memory for the table: whole huge pages on the host, where every probe would miss the TLB
/// otherwise.
template <class Exec>
struct table_memory {
  array<Exec, std::uint64_t> words;

  explicit table_memory(const std::vector<std::uint64_t>& from) {
    const Kokkos::View<const std::uint64_t*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> source(
        from.data(), from.size());
    if constexpr (on_host<Exec>) {
      constexpr std::size_t page = std::size_t{2} << 20;
      const std::size_t bytes = (from.size() * sizeof(std::uint64_t) + page - 1) / page * page;
      pages.reset(std::aligned_alloc(page, bytes));
      (void)madvise(pages.get(), bytes, MADV_HUGEPAGE);
      words = array<Exec, std::uint64_t>(static_cast<std::uint64_t*>(pages.get()), from.size());
    } else {
      words = array<Exec, std::uint64_t>(
          Kokkos::view_alloc("perf::table", Kokkos::WithoutInitializing), from.size());
    }
    Kokkos::deep_copy(words, source);
  }

 private:
  struct release {
    void operator()(void* p) const { std::free(p); }
  };
  std::unique_ptr<void, release> pages;
};

/// Queries for every key of the table in random order, or for as many keys that are not there.
template <class Exec, bool hit>
struct probe_problem {
  struct point {
    std::int64_t n;
  };
  static std::vector<point> points() { return {{std::int64_t{1} << 24}}; }
  static row name(const point& p) {
    return {hit ? "slab_probe.hit" : "slab_probe.miss",
            backend_name<Exec>(),
            "",
            "u32.u32",
            "util60",
            p.n};
  }

  Exec exec{};
  std::int64_t n;
  std::uint32_t buckets = 0;
  std::unique_ptr<table_memory<Exec>> table;
  array<Exec, std::uint32_t> queries{"perf::queries", static_cast<std::size_t>(n)};
  array<Exec, std::uint32_t> values{"perf::values", static_cast<std::size_t>(n)};

  explicit probe_problem(const point& p) : n(p.n) {
    std::vector<std::uint32_t> keys(n);
    for (std::int64_t i = 0; i < n; ++i) keys[i] = key_at{0}(i);
    const probe::slab_table built(keys, utilisation);
    buckets = built.buckets;
    table = std::make_unique<table_memory<Exec>>(built.words);
    // n is a power of two, so an odd factor visits every index once, in an order unlike the
    // table's.
    auto host = Kokkos::create_mirror_view(queries);
    for (std::int64_t i = 0; i < n; ++i)
      host(i) = key_at{hit ? 0u : 1u}((hash(7) | 1) * i & (n - 1));
    Kokkos::deep_copy(queries, host);
  }
  std::int64_t bytes() const { return n * (128 + 8); }
  bool correct() const { return sum<std::int64_t>(exec, n, wrong{queries, values}) == 0; }

  struct wrong {
    array<Exec, std::uint32_t> queries, values;
    KOKKOS_FUNCTION bool operator()(std::int64_t i) const {
      return values(i) != (hit ? queries(i) * 3 + 1 : ~std::uint32_t{0});
    }
  };
};

template <class Exec, bool hit, int width, int depth>
void add_probe(const std::string& variant) {
  add<probe_problem<Exec, hit>>(variant.c_str(), [](auto& p, auto time) {
    const probe::probe_kernel<width, depth> kernel{p.table->words.data(), p.buckets,
                                                   p.queries.data(), p.values.data(), p.n};
    const auto league =
        backend_of<Exec>::template resident_league<probe::probe_kernel<width, depth>>(p.exec,
                                                                                      p.n / 32);
    time([&] { launch(p.exec, "Lanewise::slab_probe", league, kernel); });
  });
}

template <class Exec>
void add_probes() {
  constexpr int width = warp_t<Exec>::line_width;
  constexpr int depth = warp_t<Exec>::line_depth;
  add_probe<Exec, true, width, depth>("lanewise");
  add_probe<Exec, false, width, depth>("lanewise");
  add_probe<Exec, true, 16, 1>("lanewise.split16.depth1");
  add_probe<Exec, true, 16, 4>("lanewise.split16.depth4");
  add_probe<Exec, true, 8, 1>("lanewise.split8.depth1");
  add_probe<Exec, true, 8, 4>("lanewise.split8.depth4");
  add_probe<Exec, true, 4, 1>("lanewise.split4.depth1");
  add_probe<Exec, true, 4, 4>("lanewise.split4.depth4");
  add_probe<Exec, false, 16, 1>("lanewise.split16.depth1");
  add_probe<Exec, false, 4, 1>("lanewise.split4.depth1");
}

}  // namespace lanewise::perf

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  lanewise::perf::for_each_backend([](auto exec) { lanewise::perf::add_probes<decltype(exec)>(); });
  return lanewise::perf::run(argc, argv);
}
