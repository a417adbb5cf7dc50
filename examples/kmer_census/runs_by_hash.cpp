// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#include "hash_census.hpp"
#include "runs.hpp"

namespace kmer_census {

extern template census_times run_census<hash_census<lanewise::emulated>, lanewise::emulated>(
    std::string_view, int, std::size_t);

std::vector<run_function> runs_by_hash() {
  return runs_of<hash_census>(spaces{});
}

}  // namespace kmer_census
