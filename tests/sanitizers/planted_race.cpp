// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/emulated.hpp>

#include <atomic>
#include <chrono>
#include <thread>

// Two teams write to one place, the second when the first has long ended, and nothing orders them.
// ThreadSanitizer must say so: what the emulated backend does around kernels must not hide it.

LANEWISE_BEGIN_NAMESPACE
namespace {

struct racing_kernel {
  using policy = launch_policy;
  template <class Team>
  struct scratch {};

  template <class Team>
  void operator()(const Team& team, scratch<Team>&) const {
    if (team.warp_index() != 0) return;
    if (team.index() == 1) {
      while (!written->load(std::memory_order_relaxed)) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    *place = static_cast<int>(team.index());
    written->store(true, std::memory_order_relaxed);
  }

  int* place;
  std::atomic<bool>* written;
};

}  // namespace
LANEWISE_END_NAMESPACE

int main() {
  for (int i = 0; i < 3; ++i) {
    int place = 0;
    std::atomic<bool> written{false};
    lanewise::backends::emulated::backend::launch(lanewise::emulated(), "planted_race", 2,
                                                  lanewise::racing_kernel{&place, &written});
  }
}
