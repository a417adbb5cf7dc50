// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Warp operations as functions of two arrays of 32 numbers each, written once: what the test of
// generated code counts instructions of, and perf/bench_warp times.

#include <lanewise/warp/warp.hpp>

#include <cstdint>

// clang-format off
// Operations with a counterpart written by hand on every target, all, and those of hosts, whose teams are one thread.
#define LANEWISE_CODEGEN_WRITTEN(X)                                                       \
  X(ballot) X(select_store) X(reduce) X(inclusive_scan) X(exclusive_scan) X(shuffle)      \
  X(shuffle_xor) X(shuffle_up) X(peers_8) X(peers_256) X(rank_8) X(rank_256)              \
  X(histogram_8) X(histogram_256) X(match_any) X(gather) X(scatter) X(compress_store)
#define LANEWISE_CODEGEN_OPERATIONS(X) LANEWISE_CODEGEN_WRITTEN(X)
#define LANEWISE_CODEGEN_HOST(X) X(team_add) X(team_exchange)
// clang-format on

LANEWISE_BEGIN_NAMESPACE
namespace codegen {

using u32 = std::uint32_t;

#define LANEWISE_CODEGEN_OPERATION(name, ...)                                                \
  struct name {                                                                              \
    template <class W>                                                                       \
    LANEWISE_FUNCTION void operator()(const W& warp, const u32* a, const u32* b, u32* out) { \
      using lanes = typename W::template lanes<u32>;                                         \
      [[maybe_unused]] const lanes x = warp.load(a), y = warp.load(b);                       \
      __VA_ARGS__                                                                            \
    }                                                                                        \
  };
// What a warp-uniform result is stored with.
#define LANEWISE_CODEGEN_UNIFORM(value) \
  const u32 result = value;             \
  warp.once([&] { *out = result; });

LANEWISE_CODEGEN_OPERATION(ballot, LANEWISE_CODEGEN_UNIFORM(warp.ballot(x == y)))
LANEWISE_CODEGEN_OPERATION(select_store, warp.store(out, select(x == y, x, x + y));)
LANEWISE_CODEGEN_OPERATION(reduce, LANEWISE_CODEGEN_UNIFORM(warp.reduce(x, plus{})))
LANEWISE_CODEGEN_OPERATION(inclusive_scan, warp.store(out, warp.inclusive_scan(x, plus{}));)
LANEWISE_CODEGEN_OPERATION(exclusive_scan, warp.store(out, warp.exclusive_scan(x, plus{}, 0u));)
LANEWISE_CODEGEN_OPERATION(shuffle, warp.store(out, warp.shuffle(x, y));)
LANEWISE_CODEGEN_OPERATION(shuffle_xor, warp.store(out, warp.shuffle_xor(x, 1));)
LANEWISE_CODEGEN_OPERATION(shuffle_up, warp.store(out, warp.shuffle_up(x, 1));)
LANEWISE_CODEGEN_OPERATION(peers_8, warp.store(out, warp.peers(warp.first(W::width), y, 8));)
LANEWISE_CODEGEN_OPERATION(rank_8,
                           warp.store(out, warp.rank_among_equals(warp.first(W::width), y, 8));)
LANEWISE_CODEGEN_OPERATION(gather, warp.store(out, warp.gather(a, y));)
LANEWISE_CODEGEN_OPERATION(scatter, warp.scatter(out, y, x);)
LANEWISE_CODEGEN_OPERATION(compress_store, warp.compress_store(out, x == y, x);)
LANEWISE_CODEGEN_OPERATION(match_any, warp.store(out, warp.match_any(warp.first(W::width), y));)
LANEWISE_CODEGEN_OPERATION(peers_256, warp.store(out, warp.peers(warp.first(W::width), y, 256));)
LANEWISE_CODEGEN_OPERATION(rank_256,
                           warp.store(out, warp.rank_among_equals(warp.first(W::width), y, 256));)
LANEWISE_CODEGEN_OPERATION(histogram_8,
                           warp.store(out, warp.histogram(warp.first(W::width), y, 8));)
LANEWISE_CODEGEN_OPERATION(histogram_256,
                           warp.store(out, warp.histogram(warp.first(W::width), y, 256));)
LANEWISE_CODEGEN_OPERATION(team_add, warp.template fetch_add<order::relaxed, scope::team>(
                                         warp.first(W::width), out, y, x);)
LANEWISE_CODEGEN_OPERATION(team_exchange,
                           warp.store(out + 32,
                                      warp.template compare_exchange<order::acq_rel, scope::team>(
                                          warp.first(W::width), out, y, x, x + y));)

}  // namespace codegen
LANEWISE_END_NAMESPACE
