// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#include "census.hpp"
#include "runs.hpp"

namespace kmer_census {

std::vector<run_function> runs_by_sort() {
  return runs_of<census>(spaces{});
}

}  // namespace kmer_census
