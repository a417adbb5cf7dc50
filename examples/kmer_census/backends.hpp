// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "result.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace kmer_census {

struct census_times {
  census_result result;
  std::vector<stage_time> stages;
};

struct backend {
  std::string name;
  bool by_default;                       // part of `all`
  std::function<std::string()> machine;  // what it runs on; Kokkos must be initialized for both
  std::function<census_times(method how, std::string_view letters, int k, std::size_t top)> run;
};

/// The backends of this build. Kokkos need not be initialized.
std::vector<backend> backends();

}  // namespace kmer_census
