// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#include "fasta.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>
#include <zlib.h>

namespace kmer_census {
namespace {

enum class kind : unsigned char { wrong, base, other, blank, line_end, carriage_return };

constexpr std::array<kind, 256> kinds_of_bytes() {
  std::array<kind, 256> kinds{};  // all wrong
  const auto set = [&](std::string_view bytes, kind k) {
    for (const char c : bytes) kinds[static_cast<unsigned char>(c)] = k;
  };
  set("ACGTacgt", kind::base);
  set("RYSWKMBDHVNUXryswkmbdhvnux-.", kind::other);
  set(" \t", kind::blank);
  set("\n", kind::line_end);
  set("\r", kind::carriage_return);
  return kinds;
}

constexpr std::array<kind, 256> kind_of = kinds_of_bytes();

std::string spelled(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (byte == 0) return "a NUL byte";
  if (byte > ' ' && byte < 0x7F) return std::string{'\'', c, '\''};
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "byte 0x%02X", static_cast<unsigned>(byte));
  return text.data();
}

/// Takes the file byte by byte, so that chunks may end anywhere.
class parser {
 public:
  explicit parser(std::string path) : path_(std::move(path)) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw fasta_error(path_ + ":" + std::to_string(line_) + ": " + what);
  }

  void take(char c) {
    const kind k = kind_of[static_cast<unsigned char>(c)];
    if (after_carriage_return_ && k != kind::line_end) {
      fail("a carriage return inside a line");
    }
    if (k == kind::line_end) {
      ++line_;
      place_ = place::line_start;
      after_carriage_return_ = false;
    } else if (k == kind::carriage_return) {
      after_carriage_return_ = true;
    } else if (place_ == place::name) {
      if (c == '\0') fail("a NUL byte in the name of a record");
      result_.records.back().name += c;
    } else if (c == '>' && place_ == place::line_start) {
      begin_record();
    } else {
      place_ = place::letters;
      take_letter(c, k);
    }
  }

  fasta finish() {
    if (result_.records.empty()) fail("the file has no record: no line begins with '>'");
    end_record();
    return std::move(result_);
  }

 private:
  enum class place { line_start, name, letters };

  void take_letter(char c, kind k) {
    if (k == kind::blank) return;
    if (k == kind::wrong) fail(spelled(c) + " is not a nucleotide code");
    if (result_.records.empty()) fail(spelled(c) + " stands before the first '>' line");
    if (result_.letters.size() == max_letters) {
      fail("more than " + std::to_string(max_letters) + " letters, which is the limit");
    }
    result_.bases += k == kind::base;
    result_.others += k == kind::other;
    result_.letters += c;
  }

  void begin_record() {
    if (!result_.records.empty()) {
      end_record();
      result_.letters += record_break;
    }
    result_.records.push_back({{}, result_.letters.size(), 0});
    place_ = place::name;
  }

  void end_record() {
    fasta_record& record = result_.records.back();
    record.length = result_.letters.size() - record.begin;
  }

  std::string path_;
  std::size_t line_ = 1;
  place place_ = place::line_start;
  bool after_carriage_return_ = false;
  fasta result_;
};

}  // namespace

fasta read_fasta(const std::string& path) {
  errno = 0;
  // zlib hands plain files through unchanged.
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) {
    throw fasta_error(
        path + ": cannot be opened: " + (errno != 0 ? std::strerror(errno) : "out of memory"));
  }
  parser lines(path);
  std::vector<char> chunk(std::size_t{1} << 20);
  std::size_t size = 0;
  for (;;) {
    const int got = gzread(file.get(), chunk.data(), static_cast<unsigned>(chunk.size()));
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
    for (const char c : std::string_view(chunk.data(), static_cast<std::size_t>(got))) {
      lines.take(c);
    }
  }
  const int system_error = errno;
  int code = Z_OK;
  gzerror(file.get(), &code);
  // A compressed file that is cut short looks like its end to gzread; only the code tells.
  if (code == Z_BUF_ERROR) lines.fail("the compressed data ends early: the file is cut short");
  if (code == Z_ERRNO) {
    throw fasta_error(path + ": cannot be read: " + std::strerror(system_error));
  }
  if (code < 0) lines.fail("the compressed data is damaged");
  if (size == 0) lines.fail("the file is empty");
  return lines.finish();
}

}  // namespace kmer_census
