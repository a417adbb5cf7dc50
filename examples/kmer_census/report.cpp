// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace kmer_census {
namespace {

using table_row = std::vector<std::string>;

/// A Markdown table with aligned columns: the first `left` columns to the left, the rest to the
/// right.
std::string table(const std::vector<table_row>& rows, std::size_t left) {
  std::vector<std::size_t> widths(rows.front().size(), 3);
  for (const table_row& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t c = 0; c < widths.size(); ++c) {
      const std::string room(widths[c] - rows[r][c].size(), ' ');
      text += "| " + (c < left ? rows[r][c] + room : room + rows[r][c]) + ' ';
    }
    text += "|\n";
    if (r > 0) continue;
    for (std::size_t c = 0; c < widths.size(); ++c) {
      text += "| " + std::string(widths[c] - 1, '-') + (c < left ? '-' : ':') + ' ';
    }
    text += "|\n";
  }
  return text;
}

std::string fixed(double value, int digits) {
  std::string text(64, '\0');
  const int size = std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  text.resize(static_cast<std::size_t>(size));
  return text;
}

std::string number(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return digits;
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "-";
  return fixed(100.0 * static_cast<double>(part) / static_cast<double>(whole), 3) + " %";
}

/// Markdown, HTML and SVG alike: names of files and records may hold anything.
std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '|':
        safe += "&#124;";
        break;
      case '`':
        safe += "&#96;";
        break;
      default:
        safe += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return safe;
}

/// What a plot has room for, of a text that may hold anything.
std::string short_ascii(std::string text) {
  constexpr std::size_t room = 110;
  if (text.size() > room) text = text.substr(0, room - 3) + "...";
  for (char& c : text) c = c >= ' ' && c <= '~' ? c : '?';
  return text;
}

std::uint64_t largest(const std::vector<std::uint64_t>& counts) {
  return *std::max_element(counts.begin(), counts.end());
}

/// The smallest of 1, 2, 5, 10, 20, 50, ... that cuts [0, top] into at most five steps.
std::uint64_t tick_step(std::uint64_t top) {
  std::uint64_t step = 1;
  for (const std::uint64_t factor : {2, 5, 10}) {
    if (step * 5 >= top) return step;
    step = factor;
  }
  return 10 * tick_step((top + 9) / 10);
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw std::runtime_error(path.string() + ": cannot be written");
}

}  // namespace

std::string first_difference(const census_result& found, const census_result& expected, int k) {
  const auto differ = [](const std::string& what, auto f, auto e) {
    return what + ": " + std::to_string(f) + " instead of " + std::to_string(e);
  };
  if (found.total != expected.total) return differ("k-mers", found.total, expected.total);
  const std::size_t both = std::min(found.kmers.size(), expected.kmers.size());
  for (std::size_t i = 0; i < both; ++i) {
    if (found.kmers[i] != expected.kmers[i]) {
      return "distinct k-mer number " + std::to_string(i) + ": " + spell(found.kmers[i], k) +
             " instead of " + spell(expected.kmers[i], k);
    }
    if (found.counts[i] != expected.counts[i]) {
      return differ("count of " + spell(found.kmers[i], k), found.counts[i], expected.counts[i]);
    }
  }
  if (found.kmers.size() != expected.kmers.size()) {
    return differ("distinct k-mers", found.kmers.size(), expected.kmers.size());
  }
  if (found.seen_once != expected.seen_once) {
    return differ("k-mers seen once", found.seen_once, expected.seen_once);
  }
  if (found.buckets != expected.buckets) return "the buckets";
  if (found.most_frequent != expected.most_frequent) return "the most frequent k-mers";
  return {};
}

std::string input_table(const census_report& report) {
  const fasta& input = report.input;
  const auto empty = std::count_if(input.records.begin(), input.records.end(),
                                   [](const fasta_record& r) { return r.length == 0; });
  return table({{"input", escaped(report.path)},
                {"records", number(input.records.size())},
                {"records without letters", number(static_cast<std::uint64_t>(empty))},
                {"A, C, G, T", number(input.bases)},
                {"other letters", number(input.others)}},
               1);
}

std::string summary_table(const census_result& result, int k) {
  return table({{"k-mers of k = " + std::to_string(k), number(result.total)},
                {"distinct (canonical)", number(result.kmers.size())},
                {"seen once", number(result.seen_once)}},
               1);
}

std::string most_frequent_table(const census_result& result, int k) {
  std::vector<table_row> rows{{"k-mer", "count", "share"}};
  for (const ranked_kmer& row : result.most_frequent) {
    rows.push_back({spell(row.which, k), number(row.count), percent(row.count, result.total)});
  }
  return table(rows, 1);
}

std::string throughput_table(const census_report& report) {
  std::vector<table_row> rows{{"backend", "stage", "of", "items", "ms", "M items/s"}};
  const auto add = [&](const std::string& backend, const stage_time& stage) {
    rows.push_back(
        {backend, stage.name, stage.unit, number(stage.items), fixed(1e3 * stage.seconds, 3),
         stage.seconds > 0 ? fixed(1e-6 * static_cast<double>(stage.items) / stage.seconds, 1)
                           : "-"});
  };
  for (const backend_run& run : report.runs) {
    for (const stage_time& stage : run.stages) add(run.backend, stage);
    const double all =
        std::accumulate(run.stages.begin(), run.stages.end(), 0.0,
                        [](double sum, const stage_time& s) { return sum + s.seconds; });
    add(run.backend, {"all stages", "letters", report.input.letters.size(), all});
  }
  add("reference",
      {"sequential", "letters", report.input.letters.size(), report.reference_seconds});
  return table(rows, 3);
}

std::string check_list(const census_report& report) {
  std::string text;
  for (const check& c : report.checks) {
    text += "- " + c.what + ": " + (c.difference.empty() ? "equal" : "DIFFERENT, " + c.difference) +
            "\n";
  }
  return text;
}

std::string bucket_bars(const census_result& result, int k) {
  const int bases = std::min(k, 2);
  std::vector<std::uint64_t> bars(std::size_t{1} << (2 * bases));
  const std::size_t buckets_per_bar = result.buckets.size() / bars.size();
  for (std::size_t b = 0; b < result.buckets.size(); ++b) {
    bars[b / buckets_per_bar] += result.buckets[b];
  }
  const std::uint64_t longest = std::max<std::uint64_t>(1, largest(bars));
  constexpr double width = 60;
  std::string text;
  for (std::size_t b = 0; b < bars.size(); ++b) {
    const double share = static_cast<double>(bars[b]) / static_cast<double>(longest);
    std::string count = number(bars[b]);
    count.insert(0, number(longest).size() - count.size(), ' ');
    const std::string bar(static_cast<std::size_t>(std::lround(width * share)), '#');
    text +=
        spell(static_cast<kmer>(b), bases) + "  " + count + (bar.empty() ? "" : "  ") + bar + "\n";
  }
  return text;
}

std::string bucket_plot(const census_result& result, int k, const std::string& subtitle) {
  constexpr double left = 96, top = 64, right = 976, bottom = 384;
  std::string svg =
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 1000 456' width='1000' height='456' "
      "font-family='sans-serif' font-size='13' fill='#333333'>\n"
      "<rect width='1000' height='456' fill='#ffffff'/>\n";
  const auto text = [&](double x, double y, const std::string& attributes,
                        const std::string& content) {
    svg += "<text transform='translate(" + fixed(x, 1) + " " + fixed(y, 1) + ")" + attributes +
           ">" + content + "</text>\n";
  };
  const auto line = [&](double x1, double y1, double x2, double y2, const char* colour) {
    svg += "<path d='M" + fixed(x1, 1) + " " + fixed(y1, 1) + "L" + fixed(x2, 1) + " " +
           fixed(y2, 1) + "' stroke='" + colour + "'/>\n";
  };

  const int bases = bucket_bases(k);
  const std::string first_bases = bases == 1 ? "base" : std::to_string(bases) + " bases";
  text(left, 26, "' font-size='17'",
       "Canonical " + std::to_string(k) + "-mers by their first " + first_bases);
  text(left, 47, "' fill='#666666'", escaped(short_ascii(subtitle)));
  text(22, (top + bottom) / 2, " rotate(-90)' text-anchor='middle'", "k-mers in the bucket");
  text((left + right) / 2, bottom + 46, "' text-anchor='middle'",
       number(result.buckets.size()) + " buckets, in the order of the alphabet");

  const std::uint64_t highest = std::max<std::uint64_t>(1, largest(result.buckets));
  const std::uint64_t step = tick_step(highest);
  const std::uint64_t axis_top = (highest + step - 1) / step * step;
  const auto y_of = [&](std::uint64_t count) {
    return bottom - (bottom - top) * static_cast<double>(count) / static_cast<double>(axis_top);
  };
  for (std::uint64_t tick = 0; tick <= axis_top; tick += step) {
    line(left, y_of(tick), right, y_of(tick), tick == 0 ? "#333333" : "#dddddd");
    text(left - 8, y_of(tick) + 4, "' text-anchor='end'", number(tick));
  }

  // One colour for each first base, safe for colour-blind readers (Okabe and Ito).
  constexpr const char* colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7"};
  const double pitch = (right - left) / static_cast<double>(result.buckets.size());
  for (std::size_t b = 0; b < result.buckets.size(); ++b) {
    const double y = y_of(result.buckets[b]);
    svg += "<rect x='" + fixed(left + pitch * (static_cast<double>(b) + 0.1), 2) + "' y='" +
           fixed(y, 2) + "' width='" + fixed(0.8 * pitch, 2) + "' height='" + fixed(bottom - y, 2) +
           "' fill='" + colours[4 * b / result.buckets.size()] + "'><title>" +
           spell(static_cast<kmer>(b), bases) + ": " + number(result.buckets[b]) +
           "</title></rect>\n";
  }

  // At most 16 labels: the first one or two bases, each in the middle of its buckets.
  const int label_bases = std::min(bases, 2);
  const std::size_t labels = std::size_t{1} << (2 * label_bases);
  const double label_pitch = (right - left) / static_cast<double>(labels);
  for (std::size_t l = 0; l < labels; ++l) {
    const double x = left + label_pitch * static_cast<double>(l);
    line(x, bottom, x, bottom + 6, "#333333");
    text(x + label_pitch / 2, bottom + 20, "' text-anchor='middle'",
         spell(static_cast<kmer>(l), label_bases) + (bases > label_bases ? "..." : ""));
  }
  return svg + "</svg>\n";
}

std::filesystem::path write_report(const census_report& report,
                                   const std::filesystem::path& directory) {
  const census_result& result = report.runs.front().result;
  const std::string first_record = report.input.records.front().name;
  write_file(directory / "buckets.svg",
             bucket_plot(result, report.k,
                         std::filesystem::path(report.path).filename().string() +
                             (first_record.empty() ? "" : ": " + first_record)));

  std::string text =
      "# k-mer census\n\n" + input_table(report) + "\n" + summary_table(result, report.k) +
      "\nA k-mer and its reverse complement are counted as one, under the smaller of "
      "the two. Windows that\nhold another letter than A, C, G, T, or the end of a "
      "record, are skipped.\n\n"
      "## Most frequent k-mers\n\n" +
      most_frequent_table(result, report.k) +
      "\n## Buckets\n\n![k-mers by their first bases](buckets.svg)\n\n```\n" +
      bucket_bars(result, report.k) + "```\n\n## Checks\n\n" + check_list(report) +
      "\n## Throughput\n\n";
  for (const backend_run& run : report.runs) {
    text += "- " + run.backend + ": " + run.machine + "\n";
  }
  text += "\nThe best of " + std::to_string(report.repetitions) +
          " repetitions for each stage.\n\n" + throughput_table(report);
  const std::filesystem::path path = directory / "report.md";
  write_file(path, text);
  return path;
}

}  // namespace kmer_census
