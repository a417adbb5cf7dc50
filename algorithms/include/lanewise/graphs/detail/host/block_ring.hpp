// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/graphs/detail/host/vertex_blocks.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// What a block_ring has in memory. Counters and states are 0 before the launch.
template <class Vertex>
struct block_ring_memory {
  /// Vertices. With 64, lattices and roads of 2^20 took 16 threads 1.2 times as long, as what is
  /// less cannot be shared; with 16 random graphs took 1.05 times as long.
  static constexpr int block = 32;

  std::uint64_t* put;     // blocks that were put, or are being
  std::uint64_t* taken;   // of these
  std::uint32_t* idle;    // threads that have found nothing
  std::uint64_t* states;  // of each place for a block: twice the laps, and 1 if it is full
  Vertex* items;
  std::uint64_t capacity;  // in blocks
};

/// Blocks of vertices that threads of a host share, while each goes on by itself: a thread puts
/// what others may take. There is room if at any time no more vertices wait than capacity blocks
/// have, each thread's open one besides.
template <class Team, class Vertex>
class block_ring {
 public:
  using memory = block_ring_memory<Vertex>;
  static constexpr int block = memory::block;

  LANEWISE_FUNCTION block_ring(const Team& team, const memory& m) : team_(team), memory_(m) {}

  /// Puts as many vertices as a block has, one after the other from next().
  template <class F>
  LANEWISE_FUNCTION void put(const F& next) const {
    const std::uint64_t k = team_.warp().fetch_add(*memory_.put, std::uint64_t{1});
    wait_for(k, 0);
    Vertex* const to = items(k);
    for (int i = 0; i < block; ++i) to[i] = next();
    set(k, 1);
  }
  /// Copies a block to `to`, if there is one.
  LANEWISE_FUNCTION bool take(Vertex* to) const {
    const auto warp = team_.warp();
    std::uint64_t k = load(*memory_.taken);
    for (;;) {
      if (k >= load(*memory_.put)) return false;
      const std::uint64_t seen = warp.compare_exchange(*memory_.taken, k, k + 1);
      if (seen == k) break;
      k = seen;
    }
    wait_for(k, 1);
    const Vertex* const from = items(k);
    for (int i = 0; i < block; ++i) to[i] = from[i];
    set(k, 2);
    return true;
  }

  /// As take, but waits for a block until no thread has any. For threads that have nothing.
  ///
  /// No thread ends while a block waits. A thread adds to `idle` only after its take() failed, and
  /// what it has put itself was taken then. A thread subtracts from `idle` before it takes. So
  /// while `idle` is the league's size, every block was taken and its taker has finished with it.
  /// One counter has one order of changes, so one load of it says so, and all threads come to see
  /// it.
  LANEWISE_FUNCTION bool wait(Vertex* to) const {
    const auto warp = team_.warp();
    warp.template fetch_add<order::acq_rel>(*memory_.idle, std::uint32_t{1});
    for (;;) {
      if (load(*memory_.taken) < load(*memory_.put)) {
        warp.template fetch_add<order::acq_rel>(*memory_.idle, ~std::uint32_t{0});
        if (take(to)) return true;
        warp.template fetch_add<order::acq_rel>(*memory_.idle, std::uint32_t{1});
      }
      if (warp.template load<order::acquire, scope::device>(*memory_.idle) == team_.league())
        return false;
      warp.pause();
    }
  }
  LANEWISE_FUNCTION bool someone_waits() const {
    return team_.warp().template load<order::relaxed, scope::device>(*memory_.idle) != 0 &&
           load(*memory_.taken) >= load(*memory_.put);
  }
  /// Nobody waits any more.
  LANEWISE_FUNCTION void restart() const { *memory_.idle = 0; }

 private:
  LANEWISE_FUNCTION std::uint64_t load(const std::uint64_t& x) const {
    return team_.warp().template load<order::acquire, scope::device>(x);
  }
  LANEWISE_FUNCTION Vertex* items(std::uint64_t k) const {
    return memory_.items + k % memory_.capacity * block;
  }
  LANEWISE_FUNCTION std::uint64_t state(std::uint64_t k, std::uint64_t step) const {
    return 2 * (k / memory_.capacity) + step;
  }
  LANEWISE_FUNCTION void wait_for(std::uint64_t k, std::uint64_t step) const {
    while (load(memory_.states[k % memory_.capacity]) != state(k, step)) team_.warp().pause();
  }
  LANEWISE_FUNCTION void set(std::uint64_t k, std::uint64_t step) const {
    team_.warp().template store<order::release, scope::device>(memory_.states[k % memory_.capacity],
                                                               state(k, step));
  }

  const Team& team_;
  memory memory_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
