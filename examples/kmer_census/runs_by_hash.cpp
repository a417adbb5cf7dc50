// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#include "hash_census.hpp"
#include "runs.hpp"

namespace kmer_census {

std::vector<run_function> runs_by_hash() {
  return runs_of<hash_census>(spaces{});
}

}  // namespace kmer_census
