// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Compiled for devices older than those that tests run on: what waits by other instructions there
// (tiles in line, staging), and elements of 16 bytes that cannot be exchanged as one word.

#include <lanewise/backend.hpp>
#include <lanewise/hash/slab_hash_map.hpp>
#include <lanewise/sequence/scan.hpp>

namespace {

using exec_space = Kokkos::Cuda;
using keys = Kokkos::View<std::uint64_t*, exec_space::memory_space>;
using map = lanewise::slab_hash_map<std::uint64_t, std::uint64_t, exec_space::memory_space>;

static_assert(!lanewise::backends::cuda::warp<32>::has_wide_exchange);

/// Copies by way of scratch.
struct copy_staged {
  struct policy : lanewise::launch_policy {};
  using source = lanewise::array_source<unsigned, lanewise::identity>;
  static constexpr int items = 1024;
  template <class Team>
  struct scratch {
    typename Team::template staging<unsigned, items> stage;
  };
  source in;
  unsigned* out;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    shared.stage.init(team);
    team.barrier();
    shared.stage.load_async(team, in, 0, items);
    const auto here = shared.stage.wait(team, in, 1);
    team.once([&] {
      for (int i = 0; i < items; ++i) out[i] = here(i);
    });
  }
};

}  // namespace

void stages(const exec_space& exec, const copy_staged& copy) {
  lanewise::launch(exec, "copy_staged", 1, copy);
}

void scans(const exec_space& exec, const keys& items) {
  lanewise::inclusive_scan(exec, items, items, lanewise::plus{});
}

void slabs(const exec_space& exec, map& table, const keys& items) {
  lanewise::insert(exec, table, items, items);
  lanewise::find(exec, table, items, items);
}
