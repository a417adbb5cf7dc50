// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/tile/tile.hpp>
#include <support/environment.hpp>

#if defined(LANEWISE_TEST_LANES)
#include <lanewise/emulated_lanes.hpp>
#elif defined(LANEWISE_TEST_SPACE_EMULATED)
#include <lanewise/emulated.hpp>
#elif !defined(LANEWISE_TEST_SPACE_CUDA)
#include <lanewise/host.hpp>
#endif

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace test {

// The execution space that this program tests.
#if defined(LANEWISE_TEST_SPACE_SERIAL)
using space = Kokkos::Serial;
#elif defined(LANEWISE_TEST_SPACE_OPENMP)
using space = Kokkos::OpenMP;
#elif defined(LANEWISE_TEST_SPACE_THREADS)
using space = Kokkos::Threads;
#elif defined(LANEWISE_TEST_SPACE_CUDA)
using space = Kokkos::Cuda;
#elif defined(LANEWISE_TEST_SPACE_EMULATED) && defined(LANEWISE_TEST_LANES)
using space = lanewise::emulated_lanes;
#elif defined(LANEWISE_TEST_SPACE_EMULATED) && defined(LANEWISE_TEST_HOST_MAPPING)
using space = lanewise::emulated_host;
#elif defined(LANEWISE_TEST_SPACE_EMULATED) && defined(LANEWISE_TEST_WIDTH)
using space = lanewise::emulated_with_width<LANEWISE_TEST_WIDTH>;
#elif defined(LANEWISE_TEST_SPACE_EMULATED)
using space = lanewise::emulated;
#else
#error "Define LANEWISE_TEST_SPACE_{SERIAL,OPENMP,THREADS,CUDA,EMULATED}"
#endif

using memory = space::memory_space;

inline constexpr bool is_emulated = std::is_base_of_v<lanewise::emulated, space>;

/// Whether inputs are long: on a GPU always, on the host where all is tested.
inline bool takes_long_inputs() {
  return full() || !std::is_same_v<memory, Kokkos::HostSpace>;
}

#if defined(LANEWISE_TEST_SPACE_EMULATED)
/// How warps run side by side: LANEWISE_TEST_INTERLEAVING=free, delayed or seeded.
inline lanewise::interleaving mode() {
  const char* given = std::getenv("LANEWISE_TEST_INTERLEAVING");
  const std::string name = given != nullptr ? given : "free";
  return name == "seeded"    ? lanewise::interleaving::seeded
         : name == "delayed" ? lanewise::interleaving::delayed
                             : lanewise::interleaving::free;
}
#endif

/// The instance that a test runs on.
inline space make_space() {
#if defined(LANEWISE_TEST_SPACE_EMULATED)
  return space(seed(), 2, mode());
#else
  return space();
#endif
}

/// Items per tile of a kernel's policy on the tested space.
template <class T, class Policy>
inline constexpr std::int64_t tile_items =
    lanewise::tile_t<lanewise::team_t<space, Policy>, T, Policy>::items;

/// Numbers of items around every edge: lane, warp, tile. The emulated backend is slow and gets few
/// and small ones.
inline std::vector<std::int64_t> sizes_around(std::int64_t tile) {
  std::vector<std::int64_t> sizes = {0,   1,        2,    31,       32,           33,
                                     131, tile - 1, tile, tile + 1, 2 * tile + 17};
  if (!is_emulated) sizes.insert(sizes.end(), {42793, 3 * tile + 1, 300'007});
  if (full()) {
    for (std::int64_t n = 3; n <= 65; ++n) sizes.push_back(n);
    sizes.insert(sizes.end(), {127, 128, 129, 1000, 2 * tile - 1, 2 * tile, 3 * tile - 1});
    if (!is_emulated) sizes.insert(sizes.end(), {1'000'003, (1 << 22) + 3});
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

/// A size with several tiles, the last one ragged.
inline std::int64_t some_tiles(std::int64_t tile) {
  return (is_emulated ? 2 : 3) * tile + 131;
}

template <class T>
std::vector<T> to_host(const T* data, std::int64_t n) {
  std::vector<T> items(static_cast<std::size_t>(n));
  Kokkos::deep_copy(
      Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(items.data(), items.size()),
      Kokkos::View<const T*, memory, Kokkos::MemoryUnmanaged>(data, items.size()));
  return items;
}

template <class T>
void to_space(T* data, const std::vector<T>& items) {
  Kokkos::deep_copy(Kokkos::View<T*, memory, Kokkos::MemoryUnmanaged>(data, items.size()),
                    Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                        items.data(), items.size()));
}

/// n items in the memory of the tested space between two guards. shift moves the first item away
/// from a 256-byte boundary, by that many items. The guards' bytes also serve as poison: whoever
/// reads beyond the items finds them.
template <class T>
class array {
 public:
  using view_type = Kokkos::View<T*, memory, Kokkos::MemoryUnmanaged>;
  using const_view_type = Kokkos::View<const T*, memory, Kokkos::MemoryUnmanaged>;
  static constexpr unsigned char guard_byte = 0xa5;
  static constexpr std::size_t guard_bytes = 256;

  explicit array(std::vector<T> items, int shift = 0) : original_(std::move(items)) {
    const std::size_t bytes = original_.size() * sizeof(T);
    begin_ = guard_bytes + static_cast<std::size_t>(shift) * sizeof(T);
    std::vector<unsigned char> image(begin_ + bytes + guard_bytes, guard_byte);
    if (bytes != 0) std::memcpy(image.data() + begin_, original_.data(), bytes);
    memory_ = Kokkos::View<unsigned char*, memory>(
        Kokkos::view_alloc("test::array", Kokkos::WithoutInitializing), image.size());
    to_space(memory_.data(), image);
  }
  /// All items alike.
  array(std::int64_t n, const T& value, int shift = 0)
      : array(std::vector<T>(static_cast<std::size_t>(n), value), shift) {}

  T* data() const { return reinterpret_cast<T*>(memory_.data() + begin_); }
  view_type view() const { return view_type(data(), original_.size()); }
  const_view_type const_view() const { return const_view_type(data(), original_.size()); }
  /// The items on the host. Waits.
  std::vector<T> items() const {
    Kokkos::fence();
    return to_host(data(), static_cast<std::int64_t>(original_.size()));
  }
  void assign(const std::vector<T>& items) const { to_space(data(), items); }
  const std::vector<T>& original() const { return original_; }

  /// True while nothing was written before the items or after them.
  bool guards_intact() const {
    const auto image = to_host(memory_.data(), static_cast<std::int64_t>(memory_.extent(0)));
    const std::size_t end = image.size() - guard_bytes;
    const auto is_guard = [](unsigned char byte) { return byte == guard_byte; };
    return std::all_of(image.begin(), image.begin() + begin_, is_guard) &&
           std::all_of(image.begin() + end, image.end(), is_guard);
  }
  bool unchanged() const {
    const auto now = items();
    return guards_intact() &&
           (now.empty() || std::memcmp(now.data(), original_.data(), now.size() * sizeof(T)) == 0);
  }

 private:
  std::vector<T> original_;
  std::size_t begin_;
  Kokkos::View<unsigned char*, memory> memory_;
};

/// One value in the memory of the tested space.
template <class T>
class cell {
 public:
  explicit cell(const T& value = {}) : view_("test::cell") { set(value); }
  const Kokkos::View<T, memory>& view() const { return view_; }
  T* data() const { return view_.data(); }
  void set(const T& value) const { to_space(view_.data(), std::vector<T>{value}); }
  T get() const {
    Kokkos::fence();
    return to_host(view_.data(), 1)[0];
  }

 private:
  Kokkos::View<T, memory> view_;
};

}  // namespace test
