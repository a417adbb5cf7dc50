// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#include "census.hpp"
#include "runs.hpp"

namespace kmer_census {

extern template census_times run_census<census<lanewise::emulated>, lanewise::emulated>(
    std::string_view, int, std::size_t);

std::vector<run_function> runs_by_sort() {
  return runs_of<census>(spaces{});
}

}  // namespace kmer_census
