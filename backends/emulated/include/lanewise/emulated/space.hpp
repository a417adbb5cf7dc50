// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/emulated/interleaving.hpp>
#include <lanewise/macros.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>

// The execution spaces of the emulated backend, which every unit knows, so that a call on one of
// them says which header has the backend.

LANEWISE_BEGIN_NAMESPACE

/// An execution space without a device: teams of several warps run on std::threads exactly as they
/// would on a GPU, with plain loops for lanes. It exists to test GPU-shaped code where sanitizers
/// work; it is not fast. Views live in HostSpace, calls block. Lanes take effect in an order that
/// the seed chooses, and so do warps if the interleaving is seeded.
///
/// Calls throw emulation_error when a kernel breaks a rule: docs/warp.md says which are checked.
class emulated {
 public:
  using memory_space = Kokkos::HostSpace;

  emulated() = default;
  explicit emulated(std::uint32_t seed, int concurrent_teams = 2,
                    interleaving mode = interleaving::free)
      : seed_(seed), concurrent_teams_(concurrent_teams), mode_(mode) {}

  std::uint32_t seed() const { return seed_; }
  int concurrent_teams() const { return concurrent_teams_; }
  interleaving mode() const { return mode_; }
  void fence(const std::string& = "") const {}
  std::uint32_t impl_instance_id() const { return 0; }
  static const char* name() { return "emulated"; }
  /// There is one instance, with different settings.
  friend bool operator==(const emulated&, const emulated&) { return true; }

 private:
  std::uint32_t seed_ = 1;
  int concurrent_teams_ = 2;
  interleaving mode_ = interleaving::free;
};

/// As `emulated`, with warps of another width: what algorithms compute must not depend on it.
template <int width>
class emulated_with_width : public emulated {
 public:
  static_assert(width >= 8 && width <= 64);
  using emulated::emulated;
};

/// As `emulated`, with teams of one warp that leave their items where they are, as teams of hosts
/// do: brings what is mapped for hosts under the sanitizers.
class emulated_host : public emulated {
 public:
  using emulated::emulated;
};

/// lanewise::emulated with lanes that run for themselves, as the threads of a GPU do: kernels run
/// once per lane, scalars and all. Finds plain scalars that should be warp-uniform and are not,
/// effects outside of once(), and lanes that do not come by the same way. Slow, and not for
/// ThreadSanitizer.
class emulated_lanes : public emulated {
 public:
  using emulated::emulated;
};

LANEWISE_END_NAMESPACE
