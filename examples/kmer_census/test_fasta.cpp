// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#include "fasta.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>
#include <zlib.h>

using namespace std::string_literals;
using kmer_census::fasta;
using kmer_census::fasta_error;
using kmer_census::read_fasta;

namespace {

/// A file in a directory of its own that goes away at the end of the test.
class temporary_file {
 public:
  explicit temporary_file(std::string_view bytes) {
    std::string name = (std::filesystem::temp_directory_path() / "kmer_census_XXXXXX").string();
    directory_ = mkdtemp(name.data());
    std::ofstream(path(), std::ios::binary) << bytes;
  }
  temporary_file(const temporary_file&) = delete;
  ~temporary_file() { std::filesystem::remove_all(directory_); }

  std::string path() const { return (directory_ / "in.fa").string(); }
  std::string directory() const { return directory_.string(); }

 private:
  std::filesystem::path directory_;
};

fasta parsed(std::string_view bytes) {
  return read_fasta(temporary_file(bytes).path());
}

void check_refused(std::string_view bytes, const std::string& where_and_what) {
  const temporary_file file(bytes);
  CAPTURE(where_and_what);
  CHECK_THROWS_MATCHES(read_fasta(file.path()), fasta_error,
                       Catch::Matchers::Message(file.path() + where_and_what));
}

std::string compressed(std::string_view bytes) {
  const temporary_file file("");
  const gzFile out = gzopen(file.path().c_str(), "wb");
  REQUIRE(gzwrite(out, bytes.data(), static_cast<unsigned>(bytes.size())) ==
          static_cast<int>(bytes.size()));
  REQUIRE(gzclose(out) == Z_OK);
  std::ifstream in(file.path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Letters that compress badly, so that cutting the file anywhere loses some.
std::string irregular(std::size_t size) {
  std::string letters;
  for (unsigned state = 1; letters.size() < size; state = state * 1664525u + 1013904223u) {
    letters += "ACGT"[state >> 30];
    if (letters.size() % 71 == 70) letters += '\n';
  }
  return letters;
}

}  // namespace

TEST_CASE("records are joined by a break and keep their letters and names") {
  const fasta input = parsed(">one of two\nACGT\nacgtN\n>two\nRYK-ACG\n");
  CHECK(input.letters == "ACGTacgtN>RYK-ACG");
  CHECK(input.bases == 11);
  CHECK(input.others == 5);
  REQUIRE(input.records.size() == 2);
  CHECK(input.records[0].name == "one of two");
  CHECK(input.records[0].begin == 0);
  CHECK(input.records[0].length == 9);
  CHECK(input.records[1].name == "two");
  CHECK(input.records[1].begin == 10);
  CHECK(input.records[1].length == 7);
}

TEST_CASE("line ends, blanks and empty lines do not matter") {
  const std::string letters = parsed(">a\nACGT\nTT\n>b\nGG\n").letters;
  CHECK(parsed(">a\r\nACGT\r\nTT\r\n>b\r\nGG\r\n").letters == letters);
  CHECK(parsed(">a\nACGT\nTT\n>b\nGG").letters == letters);
  CHECK(parsed(">a\r\nACGT\r\nTT\r\n>b\r\nGG\r").letters == letters);
  CHECK(parsed("\n\n>a\n\nAC GT\t\n\nTT  \n \n>b\nGG\n\n\n").letters == letters);
  CHECK(parsed(">a\r\nACGT\r\n").records[0].name == "a");
}

TEST_CASE("records may be empty and nameless") {
  const fasta input = parsed(">a\n>\n\n>c\nAC\n>d");
  REQUIRE(input.records.size() == 4);
  CHECK(input.letters == ">>AC>");
  CHECK(input.records[1].name.empty());
  CHECK(input.records[1].length == 0);
  CHECK(input.records[2].length == 2);
  CHECK(input.records[3].name == "d");
  CHECK(input.records[3].length == 0);
}

TEST_CASE("all nucleotide codes of IUPAC, X and gaps are read") {
  const fasta input = parsed(">a\nACGTacgt\nRYSWKMBDHVNUXryswkmbdhvnux-.\n");
  CHECK(input.bases == 8);
  CHECK(input.others == 28);
}

TEST_CASE("names may hold any text") {
  CHECK(parsed(">caf\xC3\xA9 > 1 2 3 | \x01\nA\n").records[0].name == "caf\xC3\xA9 > 1 2 3 | \x01");
}

TEST_CASE("what is no FASTA file is refused with its line") {
  check_refused("", ":1: the file is empty");
  check_refused("\n\n\n", ":4: the file has no record: no line begins with '>'");
  check_refused("ACGT\n>a\nACGT\n", ":1: 'A' stands before the first '>' line");
  check_refused("\n\nN\n", ":3: 'N' stands before the first '>' line");
  check_refused(">a\nACGT\nAC7T\n", ":3: '7' is not a nucleotide code");
  check_refused(">a\r\nACGT\r\n\r\nACET\r\n", ":4: 'E' is not a nucleotide code");
  check_refused(">a\nAC>GT\n", ":2: '>' is not a nucleotide code");
  check_refused(">a\n >b\n", ":2: '>' is not a nucleotide code");
  check_refused(">a\nAC\rGT\r", ":2: a carriage return inside a line");
  check_refused(">a\nACGT\nAC\0GT\n"s, ":3: a NUL byte is not a nucleotide code");
  check_refused(">a\n>b\0c\n"s, ":2: a NUL byte in the name of a record");
  check_refused(">a\nAC\xC3\xA9\n", ":2: byte 0xC3 is not a nucleotide code");
  check_refused("\xEF\xBB\xBF>a\nA\n", ":1: byte 0xEF is not a nucleotide code");
}

TEST_CASE("files that cannot be read are refused") {
  const temporary_file file("");
  CHECK_THROWS_MATCHES(read_fasta(file.directory() + "/none.fa"), fasta_error,
                       Catch::Matchers::Message(file.directory() + "/none.fa: cannot be opened: "
                                                                   "No such file or directory"));
  CHECK_THROWS_MATCHES(
      read_fasta(file.directory()), fasta_error,
      Catch::Matchers::Message(file.directory() + ": cannot be read: Is a directory"));
}

TEST_CASE("compressed files read like plain ones") {
  const std::string text = ">a\r\nACGTNacgt\r\n>b\r\n" + irregular(3'000'000);
  const fasta plain = parsed(text);
  const fasta packed = parsed(compressed(text));
  CHECK(packed.letters == plain.letters);
  CHECK(packed.records.size() == 2);
  // Several compressed members, one after the other, are one file.
  CHECK(parsed(compressed(text) + compressed("ACGT\n")).letters == plain.letters + "ACGT");
}

TEST_CASE("compressed files that are cut short or damaged are refused") {
  const std::string whole = compressed(">a\n" + irregular(400'000));
  // Inside the letters, inside the check sum, and one byte too few.
  for (const std::size_t size : {whole.size() / 2, whole.size() - 5, whole.size() - 1}) {
    const temporary_file file(whole.substr(0, size));
    CHECK_THROWS_MATCHES(read_fasta(file.path()), fasta_error,
                         Catch::Matchers::MessageMatches(Catch::Matchers::EndsWith(
                             "the compressed data ends early: the file is cut short")));
  }
  for (const std::size_t at : {whole.size() / 2, whole.size() - 6}) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(~damaged[at]);
    CHECK_THROWS_AS(read_fasta(temporary_file(damaged).path()), fasta_error);
  }
  // Only the two magic bytes, and the header alone.
  for (const std::size_t size : {2, 10}) {
    CHECK_THROWS_AS(read_fasta(temporary_file(whole.substr(0, size)).path()), fasta_error);
  }
}
