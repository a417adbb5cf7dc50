// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#include "census.hpp"
#include "hash_census.hpp"
#include "radix_census.hpp"
#include "runs.hpp"

namespace kmer_census {

template census_times run_census<census<lanewise::emulated>, lanewise::emulated>(std::string_view,
                                                                                 int, std::size_t);
template census_times run_census<radix_census<lanewise::emulated>, lanewise::emulated>(
    std::string_view, int, std::size_t);
template census_times run_census<hash_census<lanewise::emulated>, lanewise::emulated>(
    std::string_view, int, std::size_t);

}  // namespace kmer_census
