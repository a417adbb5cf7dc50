// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/hash/slab_statistics.hpp>

#include <array>
#include <cmath>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// For the keys' hashes with the same upper bits: the most leading zeros of the other bits, and one
/// more. Few different keys leave small numbers, however often they come (HyperLogLog; Flajolet,
/// Fusy, Gandouet and Meunier 2007).
template <class Key>
struct different_keys_kernel {
  struct policy : launch_policy {
    static constexpr int warps = 16;
    static constexpr int teams_per_multiprocessor = 4;
  };
  static constexpr int registers = 4096;  // one part of 64 is the standard error
  template <class Team>
  struct scratch {
    std::uint32_t most[registers];
  };

  const Key* keys;
  std::int64_t n;
  std::uint32_t* most;  // zeros before

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using warp_type = typename Team::warp_type;
    using numbers = lanes_t<warp_type, std::uint32_t>;
    constexpr int width = warp_type::width, stride = Team::warps * width;
    const auto warp = team.warp();
    const int begin = team.warp_index() * width;
    for (int i = begin; i < registers; i += stride) warp.store(shared.most + i, numbers(0u));
    team.barrier();
    const index_range mine = team.share(n);
    for (std::int64_t i = mine.begin + begin; i < mine.end; i += stride) {
      const auto exists = warp.first(mine.end - i);
      const auto hash =
          warp.map([](const Key& k) { return hash_of(k); }, warp.load(exists, keys + i, Key{}));
      warp.template fetch_max<order::relaxed, scope::team>(
          exists, shared.most,
          warp.map([](std::uint64_t h) { return static_cast<std::uint32_t>(h >> 52); }, hash),
          warp.map([](std::uint64_t h) { return zeros_and_one(h << 12 | 1u << 11); }, hash));
    }
    team.barrier();
    for (int i = begin; i < registers; i += stride) {
      const auto here = warp.load(shared.most + i);
      warp.fetch_max(here != 0u, most, warp.lane() + numbers(static_cast<std::uint32_t>(i)), here);
    }
  }

 private:
  static LANEWISE_FUNCTION std::uint32_t zeros_and_one(std::uint64_t x) {
    return static_cast<std::uint32_t>(Kokkos::countl_zero(x)) + 1;
  }
  static LANEWISE_FUNCTION std::uint64_t hash_of(const Key& key) {
    using word = std::conditional_t<(sizeof(Key) > 4), std::uint64_t, std::uint32_t>;
    std::uint64_t x = detail::to_word<word>(key) + 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93u;
    x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93u;
    return x ^ (x >> 32);
  }
};

/// What the registers say about how many keys are different.
template <std::size_t registers>
double different_keys_of(const std::array<std::uint32_t, registers>& most) {
  const auto m = static_cast<double>(registers);
  double sum = 0, zeros = 0;
  for (const std::uint32_t r : most) {
    sum += std::ldexp(1.0, -static_cast<int>(r));
    zeros += r == 0;
  }
  const double estimate = 0.7213 / (1 + 1.079 / m) * m * m / sum;
  // Few keys leave registers empty, which says more.
  return estimate < 2.5 * m && zeros > 0 ? m * std::log(m / zeros) : estimate;
}

/// About how many of n keys are different, but for a few percent. Reads the keys. **Blocks.**
template <class Exec, class Key>
std::int64_t different_keys(const Exec& exec, const char* name, const Key* keys, std::int64_t n) {
  using kernel = different_keys_kernel<Key>;
  using backend = backend_of<Exec>;
  constexpr std::size_t bytes = kernel::registers * sizeof(std::uint32_t);
  auto work = call_workspace::make<backend>(exec, nullptr, {0, bytes}, name);
  auto* const most = static_cast<std::uint32_t*>(work.get().plain());
  backend::zero(exec, most, bytes);
  lanewise::launch(exec, "Lanewise::slab_hash::different_keys",
                   backend::template resident_league<kernel>(
                       exec, lanewise::divide_up(n, std::int64_t{1} << 14)),
                   kernel{keys, n, most});
  std::array<std::uint32_t, kernel::registers> found;
  detail::copy_to_host<std::array<std::uint32_t, kernel::registers>>(
      exec, &found, reinterpret_cast<decltype(found)*>(most));
  return static_cast<std::int64_t>(kernels::different_keys_of(found));
}

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
