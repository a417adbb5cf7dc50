// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

LANEWISE_BEGIN_NAMESPACE

/// Memory in banks. Cells of cell_bytes bytes lie in the banks in turn. Lanes of one pass that ask
/// for different cells of one bank wait for each other. All lanes of a pass that ask for the same
/// cell are served at once (Karsin, Casanova and Sitchinava, section 2).
struct bank_model {
  int cell_bytes;
  int banks;
  int lanes_per_pass;
};

/// The scratch of a GPU from sm_50 on, for items of up to 4 bytes and of 8; and the paper's.
inline constexpr bank_model banks_of_4_bytes = {4, 32, 32};
inline constexpr bank_model banks_for_8_bytes = {8, 16, 16};
inline constexpr bank_model banks_of_8_bytes = {8, 32, 32};

/// How often the memory is busy for one access of a warp, whose lanes ask for these bytes in
/// scratch: the most cells that are wanted of one bank, added up over the passes.
inline int wavefronts_of(const bank_model& model, const std::int64_t* at, int lanes) {
  int all = 0;
  for (int first = 0; first < lanes; first += model.lanes_per_pass) {
    const int last = std::min(first + model.lanes_per_pass, lanes);
    int most = 0;
    for (int i = first; i < last; ++i) {
      // Lane i counts if no lane before it asks for its cell.
      const std::int64_t cell = at[i] / model.cell_bytes;
      int of_bank = 1;
      bool is_first = true;
      for (int j = first; j < i; ++j) is_first = is_first && at[j] / model.cell_bytes != cell;
      if (!is_first) continue;
      for (int j = i + 1; j < last; ++j) {
        const std::int64_t other = at[j] / model.cell_bytes;
        if (other % model.banks != cell % model.banks || other == cell) continue;
        bool is_new = true;
        for (int k = i + 1; k < j; ++k) is_new = is_new && at[k] / model.cell_bytes != other;
        if (is_new) ++of_bank;
      }
      most = std::max(most, of_bank);
    }
    all += most;
  }
  return all;
}

/// While one lives, the emulated backend counts what loads and gathers from scratch would cost on
/// memory in banks: those of whole warps; the lanes of sub-warps in step are counted apart. One at
/// a time, else std::logic_error. Kernels of any instance and thread are counted; do not make or
/// end one while they run.
class wavefront_count {
 public:
  explicit wavefront_count(const bank_model& model) : model_(model) {
    wavefront_count* none = nullptr;
    if (!current().compare_exchange_strong(none, this))
      throw std::logic_error("lanewise: wavefront_count: another one is counting");
  }
  ~wavefront_count() { current().store(nullptr); }
  wavefront_count(const wavefront_count&) = delete;
  wavefront_count& operator=(const wavefront_count&) = delete;

  /// Loads and gathers of a warp that read scratch.
  std::uint64_t accesses() const { return accesses_.load(); }
  std::uint64_t wavefronts() const { return wavefronts_.load(); }

  // For the backend.
  static std::atomic<wavefront_count*>& current() {
    static std::atomic<wavefront_count*> count{nullptr};
    return count;
  }
  void add(const std::int64_t* at, int lanes) {
    accesses_.fetch_add(1, std::memory_order_relaxed);
    wavefronts_.fetch_add(static_cast<std::uint64_t>(wavefronts_of(model_, at, lanes)),
                          std::memory_order_relaxed);
  }

 private:
  bank_model model_;
  std::atomic<std::uint64_t> accesses_ = 0;
  std::atomic<std::uint64_t> wavefronts_ = 0;
};

LANEWISE_END_NAMESPACE
