// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#include "radix_census.hpp"
#include "runs.hpp"

namespace kmer_census {

extern template census_times run_census<radix_census<lanewise::emulated>, lanewise::emulated>(
    std::string_view, int, std::size_t);

std::vector<run_function> runs_by_radix() {
  return runs_of<radix_census>(spaces{});
}

}  // namespace kmer_census
