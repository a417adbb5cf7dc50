// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Counts the canonical k-mers of a FASTA file on every backend that can run here. Checks all counts
// against a sequential pass, and writes a report.

#include "backends.hpp"
#include "fasta.hpp"
#include "reference.hpp"
#include "report.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace kmer_census {
namespace {

enum exit_code { all_equal = 0, counts_differ = 1, bad_input = 2, no_run = 3 };

constexpr const char* usage =
    "usage: kmer_census [options] FILE\n"
    "\n"
    "Counts the canonical k-mers of FILE, a FASTA file, plain or gzip, on the backends of this "
    "build,\n"
    "checks all counts against a sequential pass, and writes a report with a bucket plot. Windows "
    "that\n"
    "hold anything but A, C, G, T are skipped. The script get_genome beside this program's source\n"
    "fetches the genome of a bacterium.\n"
    "\n"
    "  --method M     sort (default), radix or hash: how k-mers are counted\n"
    "  --k N          length of a k-mer, 1 to 16, with --method radix or hash 31 (default 11)\n"
    "  --top N        how many of the most frequent k-mers to list, 0 to 1000 (default 10)\n"
    "  --backend B    serial, openmp, threads, cuda, emulated, or all (default): those of this "
    "build;\n"
    "                 emulated is slow and not part of all\n"
    "  --repeat N     repetitions; the best time of each stage is reported (default 3)\n"
    "  --out DIR      where report.md and buckets.svg go (default kmer_census_report)\n"
    "  --help         this text\n"
    "\n"
    "Options that begin with --kokkos- go to Kokkos.\n"
    "Exit: 0 all counts agree, 1 some differ, 2 bad input or options, 3 the run failed.\n";

struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct options {
  std::string path;
  method how = method::sort;
  int k = 11;
  int top = 10;
  int repetitions = 3;
  std::string backend = "all";
  std::string directory = "kmer_census_report";
  bool help = false;
};

int number_between(std::string_view option, std::string_view text, int low, int high) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < low || value > high) {
    throw usage_error(std::string(option) + " must be a number from " + std::to_string(low) +
                      " to " + std::to_string(high) + ", not '" + std::string(text) + "'");
  }
  return value;
}

options parse(int argc, char** argv) {
  options chosen;
  std::optional<std::string_view> k;
  for (int a = 1; a < argc; ++a) {
    const std::string_view argument = argv[a];
    if (argument.starts_with("--kokkos-")) continue;
    if (argument == "--help" || argument == "-h") {
      chosen.help = true;
      return chosen;
    }
    if (!argument.starts_with("-")) {
      if (!chosen.path.empty()) {
        throw usage_error("one file, please: '" + chosen.path + "' and '" + std::string(argument) +
                          "' are two");
      }
      if (argument.empty()) throw usage_error("the name of the file is empty");
      chosen.path = argument;
      continue;
    }
    const std::size_t equals = argument.find('=');
    const std::string_view name = argument.substr(0, equals);
    const auto value = [&]() -> std::string_view {
      if (equals != argument.npos) return argument.substr(equals + 1);
      if (a + 1 == argc) throw usage_error(std::string(name) + " needs a value");
      return argv[++a];
    };
    if (name == "--k") {
      k = value();
    } else if (name == "--method") {
      const std::string_view how = value();
      if (how != "sort" && how != "radix" && how != "hash") {
        throw usage_error("--method must be sort, radix or hash, not '" + std::string(how) + "'");
      }
      chosen.how = how == "sort" ? method::sort : (how == "radix" ? method::radix : method::hash);
    } else if (name == "--top") {
      chosen.top = number_between(name, value(), 0, 1000);
    } else if (name == "--repeat") {
      chosen.repetitions = number_between(name, value(), 1, 1000);
    } else if (name == "--backend") {
      chosen.backend = value();
    } else if (name == "--out") {
      chosen.directory = value();
      if (chosen.directory.empty()) throw usage_error("--out needs the name of a directory");
    } else {
      throw usage_error("unknown option '" + std::string(argument) + "'");
    }
  }
  if (k) chosen.k = number_between("--k", *k, min_k, max_k(chosen.how));
  if (chosen.path.empty()) throw usage_error("which FASTA file?");
  return chosen;
}

std::vector<backend> choose_backends(const std::string& name) {
  std::vector<backend> chosen;
  std::string built;
  for (const backend& b : backends()) {
    if (b.name == name || (name == "all" && b.by_default)) chosen.push_back(b);
    built += " " + b.name;
  }
  if (chosen.empty()) {
    throw usage_error("this build has no backend '" + name + "'; it has" + built);
  }
  return chosen;
}

void progress(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

backend_run run_backend(const backend& chosen, const fasta& input, const options& set) {
  std::optional<backend_run> best;
  for (int r = 1; r <= set.repetitions; ++r) {
    progress("  " + chosen.name + " (" + chosen.machine() + "), repetition " + std::to_string(r) +
             " of " + std::to_string(set.repetitions));
    census_times times =
        chosen.run(set.how, input.letters, set.k, static_cast<std::size_t>(set.top));
    if (!best) {
      best = {chosen.name, chosen.machine(), std::move(times.result), std::move(times.stages)};
      continue;
    }
    if (times.result != best->result) {
      throw std::runtime_error(chosen.name + ": two repetitions differ: " +
                               first_difference(times.result, best->result, set.k));
    }
    for (std::size_t s = 0; s < best->stages.size(); ++s) {
      best->stages[s].seconds = std::min(best->stages[s].seconds, times.stages[s].seconds);
    }
  }
  return *std::move(best);
}

int run(int argc, char** argv) {
  const options set = parse(argc, argv);
  if (set.help) {
    std::fputs(usage, stdout);
    return all_equal;
  }
  const std::vector<backend> chosen = choose_backends(set.backend);

  census_report report;
  report.path = set.path;
  report.k = set.k;
  report.repetitions = set.repetitions;
  progress("Reading " + set.path);
  report.input = read_fasta(set.path);
  progress("  " + std::to_string(report.input.records.size()) + " records, " +
           std::to_string(report.input.bases) + " bases, " + std::to_string(report.input.others) +
           " other letters");

  // Now, for it would be a pity to find out after the run.
  std::error_code failed;
  std::filesystem::create_directories(set.directory, failed);
  if (failed) {
    throw usage_error("the directory " + set.directory + " cannot be made: " + failed.message());
  }

  const Kokkos::ScopeGuard kokkos(argc, argv);
  progress("Counting " + std::to_string(set.k) + "-mers");
  for (const backend& b : chosen) report.runs.push_back(run_backend(b, report.input, set));

  progress("Checking all counts against a sequential pass");
  const Kokkos::Timer timer;
  const census_result expected =
      reference_census(report.input.letters, set.k, static_cast<std::size_t>(set.top));
  report.reference_seconds = timer.seconds();
  for (const backend_run& r : report.runs) {
    report.checks.push_back(
        {r.backend + " and the sequential pass", first_difference(r.result, expected, set.k)});
  }
  for (std::size_t r = 1; r < report.runs.size(); ++r) {
    const backend_run &first = report.runs.front(), &next = report.runs[r];
    report.checks.push_back({next.backend + " and " + first.backend,
                             first_difference(next.result, first.result, set.k)});
  }

  const census_result& found = report.runs.front().result;
  std::printf("\n%s\n%s\n%s\n%s\n%s\n", summary_table(found, set.k).c_str(),
              most_frequent_table(found, set.k).c_str(), bucket_bars(found, set.k).c_str(),
              throughput_table(report).c_str(), check_list(report).c_str());
  progress("The report is " + write_report(report, set.directory).string() +
           ", with the bucket plot beside it.");
  const bool equal = std::all_of(report.checks.begin(), report.checks.end(),
                                 [](const check& c) { return c.difference.empty(); });
  return equal ? all_equal : counts_differ;
}

}  // namespace
}  // namespace kmer_census

int main(int argc, char** argv) {
  using namespace kmer_census;
  try {
    return run(argc, argv);
  } catch (const usage_error& error) {
    std::fprintf(stderr, "kmer_census: %s (--help shows the options)\n", error.what());
    return bad_input;
  } catch (const fasta_error& error) {
    std::fprintf(stderr, "kmer_census: %s\n", error.what());
    return bad_input;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kmer_census: the run failed: %s\n", error.what());
    return no_run;
  }
}
