// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/memory.hpp>
#include <lanewise/emulated/watch.hpp>
#include <lanewise/team/policy.hpp>

#include <array>
#include <atomic>
#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace backends::emulated {

/// A count of how often it was raised. What a raising thread knew, a waiting one knows afterwards.
template <int raisers, int warps, class Warp>
class signal {
 public:
  void init() {
    raised_ = 0;
    for (auto& epoch : known_) epoch = 0;
  }
  void raise(const Warp& warp) {
    warp.together("signal.raise", [&] {
      phase& mine = this_warp()->now;
      for (int w = 0; w < warps; ++w) lift(known_[w], mine.known_of(w));
      mine.next_epoch();
    });
    warp.template fetch_add<order::acq_rel, scope::team>(raised_, 1u);
  }
  void wait(const Warp& warp, std::uint32_t times) const {
    while (warp.template load<order::acquire, scope::team>(raised_) != times * raisers)
      warp.pause();
    warp.together("signal.wait", [&] { this_warp()->now.learn(told()); });
  }

 private:
  /// Raises the word to x. Relaxed, as all that the shadow knows: raised_ orders memory.
  static void lift(std::uint32_t& word, std::uint32_t x) {
    const std::atomic_ref shared(word);
    std::uint32_t seen = shared.load(std::memory_order_relaxed);
    while (seen < x && !shared.compare_exchange_weak(seen, x, std::memory_order_relaxed)) {
    }
  }

  /// Others may raise it again meanwhile.
  std::array<std::uint32_t, warps> told() const {
    std::array<std::uint32_t, warps> all;
    for (int w = 0; w < warps; ++w) {
      all[static_cast<std::size_t>(w)] =
          std::atomic_ref(const_cast<std::uint32_t&>(known_[w])).load(std::memory_order_relaxed);
    }
    return all;
  }

  std::uint32_t raised_;
  std::uint32_t known_[warps];
};

}  // namespace backends::emulated
LANEWISE_END_NAMESPACE
