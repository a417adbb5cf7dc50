// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Prints the lines of files in which any of some patterns occurs, as grep -F does.

#include "chunks.hpp"
#include "lines.hpp"

#include <Kokkos_Core.hpp>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace lanegrep {
namespace {

enum exit_code { found = 0, not_found = 1, failed = 2 };

constexpr const char* usage =
    "usage: lanegrep [options] PATTERN [FILE...]\n"
    "\n"
    "Prints the lines of the files, or of the standard input, in which PATTERN occurs: bytes, as\n"
    "grep -F takes them in the C locale. A line ends with a line feed, other bytes may be any.\n"
    "A line feed in PATTERN stands between two patterns, of which any may occur.\n"
    "\n"
    "  -e PATTERN       a pattern, as often as you like, in place of the first argument\n"
    "  -f FILE          patterns, each a line of a file; also in place of the first argument\n"
    "  -i               letters of ASCII stand for both cases\n"
    "  -c               print how many lines match, instead of them\n"
    "  -o               print the matches, which do not overlap, each on a line of its own\n"
    "  -n               number of the line in front of each, from 1 on\n"
    "  -b               byte of the file in front of each, from 0 on\n"
    "  -H, -h           name of the file in front of each, or not (default: if there are several)\n"
    "  --chunk BYTES    read so much at once, 1 to 2147483647 (default 67108864)\n"
    "  --help           this text\n"
    "\n"
    "Options that begin with --kokkos- go to Kokkos.\n"
    "Exit: 0 a line matches, 1 none does, 2 an option or a file is bad.\n";

struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct options {
  std::vector<std::string> patterns;
  std::vector<std::string> files;
  std::size_t chunk = std::size_t{1} << 26;
  bool fold_case = false, counts = false, only_matches = false, numbers = false, bytes = false,
       help = false;
  std::optional<bool> names;
};

std::size_t chunk_of(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1 || value >> 31 != 0)
    throw usage_error("--chunk must be a number from 1 to 2147483647, not '" + std::string(text) +
                      "'");
  return value;
}

/// Patterns are lines.
void add_patterns(options& chosen, std::string_view lines) {
  for (;;) {
    const std::size_t end = lines.find('\n');
    chosen.patterns.emplace_back(lines.substr(0, end));
    if (chosen.patterns.back().empty()) throw usage_error("a pattern is empty");
    if (end == std::string_view::npos) return;
    lines.remove_prefix(end + 1);
  }
}
void add_patterns_of_file(options& chosen, const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  if (!file) throw usage_error(name + ": " + std::strerror(errno));
  std::string lines{std::istreambuf_iterator<char>(file), {}};
  if (lines.ends_with('\n')) lines.pop_back();
  if (lines.empty()) throw usage_error(name + " has no patterns");
  add_patterns(chosen, lines);
}

void set_flag(options& chosen, char flag) {
  switch (flag) {
    case 'i':
      chosen.fold_case = true;
      break;
    case 'c':
      chosen.counts = true;
      break;
    case 'o':
      chosen.only_matches = true;
      break;
    case 'n':
      chosen.numbers = true;
      break;
    case 'b':
      chosen.bytes = true;
      break;
    case 'H':
    case 'h':
      chosen.names = flag == 'H';
      break;
    default:
      throw usage_error(std::string("unknown option '-") + flag + "'");
  }
}

options parse(int argc, char** argv) {
  options chosen;
  std::vector<std::string> words;
  bool are_words = false;
  for (int a = 1; a < argc; ++a) {
    const std::string_view argument = argv[a];
    const auto value = [&]() -> std::string {
      if (a + 1 == argc) throw usage_error(std::string(argument) + " needs a value");
      return argv[++a];
    };
    if (are_words || argument == "-" || !argument.starts_with("-")) {
      words.emplace_back(argument);
    } else if (argument == "--") {
      are_words = true;
    } else if (argument == "--help") {
      chosen.help = true;
    } else if (argument == "--chunk") {
      chosen.chunk = chunk_of(value());
    } else if (argument == "-e") {
      add_patterns(chosen, value());
    } else if (argument == "-f") {
      add_patterns_of_file(chosen, value());
    } else if (argument.starts_with("--")) {
      if (!argument.starts_with("--kokkos-"))
        throw usage_error("unknown option '" + std::string(argument) + "'");
    } else {
      for (const char flag : argument.substr(1)) set_flag(chosen, flag);
    }
  }
  if (chosen.help) return chosen;
  auto file = words.begin();
  if (chosen.patterns.empty()) {
    if (words.empty()) throw usage_error("which pattern?");
    add_patterns(chosen, *file++);
  }
  chosen.files.assign(file, words.end());
  if (chosen.files.empty()) chosen.files.emplace_back("-");
  if (!chosen.names) chosen.names = chosen.files.size() > 1;
  return chosen;
}

/// Searches one file after the other.
class searcher {
 public:
  explicit searcher(const options& set) : set_(set), lines_(set.patterns, set.fold_case) {}

  /// Whether a line matches.
  bool search(const std::string& file) {
    const bool is_input = file == "-";
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> opened(
        is_input ? nullptr : std::fopen(file.c_str(), "rb"),
        [](std::FILE* f) { return fclose(f); });
    if (!is_input && opened == nullptr) throw std::runtime_error(std::strerror(errno));
    file_ = is_input ? "(standard input)" : file;
    lines_before_ = bytes_before_ = matching_ = 0;
    for_each_chunk(is_input ? stdin : opened.get(), set_.chunk,
                   [&](std::string_view text) { search_chunk(text); });
    if (set_.counts) std::printf("%s%lld\n", prefix().c_str(), static_cast<long long>(matching_));
    return matching_ > 0;
  }

 private:
  void search_chunk(std::string_view text) {
    lines_.load(text);
    if (set_.counts) {
      matching_ += lines_.matching_lines();
    } else {
      print(text, set_.only_matches ? lines_.select_matches() : lines_.select_lines());
    }
    if (set_.numbers && !set_.counts) lines_before_ += lines_.lines();
    bytes_before_ += static_cast<std::int64_t>(text.size());
  }
  template <class Selected>
  void print(std::string_view text, const Selected& all) {
    std::string out;
    for (std::size_t i = 0; i < all.extent(0); ++i) {
      const selected& s = all(i);
      out += prefix();
      if (set_.numbers) out += std::to_string(lines_before_ + s.line + 1) + ':';
      if (set_.bytes) out += std::to_string(bytes_before_ + s.begin) + ':';
      out += text.substr(s.begin, s.end - s.begin);
      out += '\n';
    }
    std::fwrite(out.data(), 1, out.size(), stdout);
    matching_ += static_cast<std::int64_t>(all.extent(0));
  }
  std::string prefix() const { return *set_.names ? file_ + ':' : std::string(); }

  const options& set_;
  line_search<Kokkos::DefaultExecutionSpace> lines_;
  std::string file_;
  std::int64_t lines_before_ = 0, bytes_before_ = 0, matching_ = 0;
};

int run(int argc, char** argv) {
  const options set = parse(argc, argv);
  if (set.help) {
    std::fputs(usage, stdout);
    return found;
  }
  const Kokkos::ScopeGuard kokkos(argc, argv);
  searcher search(set);
  bool any = false, is_bad = false;
  for (const std::string& file : set.files) {
    try {
      any = search.search(file) || any;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "lanegrep: %s: %s\n", file.c_str(), error.what());
      is_bad = true;
    }
  }
  return is_bad ? failed : any ? found : not_found;
}

}  // namespace
}  // namespace lanegrep

int main(int argc, char** argv) {
  try {
    return lanegrep::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lanegrep: %s\n", error.what());
    return lanegrep::failed;
  }
}
