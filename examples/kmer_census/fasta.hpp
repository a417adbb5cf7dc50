// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace kmer_census {

struct fasta_record {
  std::string name;    // the line after '>', may be empty
  std::size_t begin;   // of its letters in fasta::letters
  std::size_t length;  // may be 0
};

struct fasta {
  std::string letters;  // of all records as they stand in the file, a record_break before each next
  std::vector<fasta_record> records;
  std::size_t bases = 0;   // letters that are A, C, G or T in either case
  std::size_t others = 0;  // letters that are any other nucleotide code
};

inline constexpr char record_break = '>';  // not a letter: no k-mer spans it

// Positions and counts are 32-bit numbers on the device.
inline constexpr std::size_t max_letters = 0xFFFFFFF0u;

/// What is wrong with a file, as "file:line: what".
struct fasta_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Reads a FASTA file, plain or gzip. Throws fasta_error.
///
/// Accepted: upper and lower case nucleotide codes of IUPAC, X and gaps ('-', '.'); blanks and
/// empty lines anywhere; records without letters; LF and CRLF; a last line without an end. Refused:
/// letters before the first '>', anything that is not a nucleotide code, NUL bytes, files without a
/// record, compressed files that are cut short or damaged.
fasta read_fasta(const std::string& path);

}  // namespace kmer_census
