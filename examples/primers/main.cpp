// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Finds primers on both strands of a genome, and prints where they are, as BED.

#include "fasta.hpp"
#include "primer_search.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace primers {
namespace {

enum exit_code { found = 0, not_found = 1, failed = 2 };

constexpr int most_mismatches = lanewise::mismatch_pattern<Kokkos::HostSpace>::most_mismatches;
constexpr const char* usage =
    "usage: primers [--mismatches K] PRIMERS GENOME\n"
    "\n"
    "Prints where primers are on both strands of a genome, as BED: record, begin, end, primer, "
    "how\n"
    "many letters differ, strand. Both files are FASTA, plain or gzip. Letters of either case are\n"
    "equal; primers have A, C, G and T alone.\n"
    "\n"
    "  --mismatches K   so many letters may differ, 0 to 7 (default 0)\n"
    "  --help           this text\n"
    "\n"
    "Options that begin with --kokkos- go to Kokkos.\n"
    "Exit: 0 there is one, 1 there is none, 2 an option or a file is bad.\n";

struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct options {
  std::vector<std::string> files;
  int most = 0;
  bool help = false;
};

options parse(int argc, char** argv) {
  options chosen;
  for (int a = 1; a < argc; ++a) {
    const std::string_view argument = argv[a];
    if (argument.starts_with("--kokkos-")) continue;
    if (argument == "--help") {
      chosen.help = true;
      return chosen;
    }
    if (argument == "--mismatches") {
      const std::string_view value = a + 1 < argc ? argv[++a] : "";
      if (value.size() != 1 || value[0] < '0' || value[0] > '0' + most_mismatches)
        throw usage_error("--mismatches needs a number from 0 to " +
                          std::to_string(most_mismatches) + ", not '" + std::string(value) + "'");
      chosen.most = value[0] - '0';
    } else if (argument.starts_with("-")) {
      throw usage_error("unknown option '" + std::string(argument) + "'");
    } else {
      chosen.files.emplace_back(argument);
    }
  }
  if (chosen.files.size() != 2) throw usage_error("two files, please: of primers and of a genome");
  return chosen;
}

std::string_view first_word(std::string_view name) {
  return name.substr(0, name.find_first_of(" \t"));
}

char capital(char c) {
  return static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
}

/// Primer i as word 2 i, its reverse complement as 2 i + 1.
std::vector<std::string> words_of(const kmer_census::fasta& primers, int most) {
  std::vector<std::string> words;
  for (const auto& record : primers.records) {
    std::string letters = primers.letters.substr(record.begin, record.length);
    std::transform(letters.begin(), letters.end(), letters.begin(), capital);
    const auto other = letters.find_first_not_of("ACGT");
    if (other != std::string::npos)
      throw usage_error("primer '" + record.name + "' has '" + letters[other] +
                        "', which is none of A, C, G, T");
    if (letters.size() <= static_cast<std::size_t>(most))
      throw usage_error("primer '" + record.name + "' has " + std::to_string(letters.size()) +
                        " letters, of which " + std::to_string(most) + " may differ");
    words.push_back(letters);
    words.push_back(reverse_complement(letters));
  }
  return words;
}

/// Prints the hits that lie in one record each; whether there are any.
bool print(const std::vector<hit>& hits, const kmer_census::fasta& primers,
           const std::vector<std::string>& words, const kmer_census::fasta& genome) {
  bool any = false;
  auto record = genome.records.begin();
  for (const hit& h : hits) {
    const std::string& word = words[h.word];
    while (record->begin + record->length <= h.place) ++record;
    if (h.place < record->begin || h.place + word.size() > record->begin + record->length) continue;
    int differ = 0;
    for (std::size_t i = 0; i < word.size(); ++i)
      differ += capital(genome.letters[h.place + i]) != word[i] ? 1 : 0;
    const std::string_view name = first_word(record->name),
                           primer = first_word(primers.records[h.word / 2].name);
    const std::size_t begin = h.place - record->begin;
    std::printf("%.*s\t%zu\t%zu\t%.*s\t%d\t%c\n", static_cast<int>(name.size()), name.data(), begin,
                begin + word.size(), static_cast<int>(primer.size()), primer.data(), differ,
                h.word % 2 == 0 ? '+' : '-');
    any = true;
  }
  return any;
}

int run(int argc, char** argv) {
  const options set = parse(argc, argv);
  if (set.help) {
    std::fputs(usage, stdout);
    return found;
  }
  const kmer_census::fasta primers = kmer_census::read_fasta(set.files[0]),
                           genome = kmer_census::read_fasta(set.files[1]);
  const std::vector<std::string> words = words_of(primers, set.most);
  const Kokkos::ScopeGuard kokkos(argc, argv);
  const std::vector<hit> hits =
      primer_search<Kokkos::DefaultExecutionSpace>(genome.letters).find(words, set.most);
  return print(hits, primers, words, genome) ? found : not_found;
}

}  // namespace
}  // namespace primers

int main(int argc, char** argv) {
  try {
    return primers::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "primers: %s\n", error.what());
    return primers::failed;
  }
}
