// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fasta.hpp"
#include "result.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace kmer_census {

/// What one backend found, and how long its stages took (the best of all repetitions).
struct backend_run {
  std::string backend;
  std::string machine;
  census_result result;
  std::vector<stage_time> stages;
};

/// One comparison; `difference` says where the two differ first, and is empty where they do not.
struct check {
  std::string what;
  std::string difference;
};

struct census_report {
  std::string path;
  fasta input;
  int k = 0;
  int repetitions = 0;
  double reference_seconds = 0;
  std::vector<backend_run> runs;
  std::vector<check> checks;
};

/// The first place at which `found` differs from `expected`, in words; empty if they are equal.
std::string first_difference(const census_result& found, const census_result& expected, int k);

/// The tables of the report, in Markdown that also reads well on a terminal.
std::string input_table(const census_report& report);
std::string summary_table(const census_result& result, int k);
std::string most_frequent_table(const census_result& result, int k);
std::string throughput_table(const census_report& report);
std::string check_list(const census_report& report);

/// Bars of text, one for each choice of the first (up to two) bases.
std::string bucket_bars(const census_result& result, int k);

/// A bar plot of all buckets as an SVG document.
std::string bucket_plot(const census_result& result, int k, const std::string& subtitle);

/// Writes report.md and buckets.svg into `directory`, which exists. Returns the path of report.md.
/// Throws std::runtime_error naming the file that cannot be written.
std::filesystem::path write_report(const census_report& report,
                                   const std::filesystem::path& directory);

}  // namespace kmer_census
