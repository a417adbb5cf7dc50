// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/message.hpp>
#include <lanewise/graphs/csr_graph.hpp>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <istream>
#include <limits>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Lines of a text, read in pieces, and the words of the line that it is at. Refuses what is no
/// such text with the file's name and the line's number.
class text_lines {
 public:
  static constexpr std::size_t longest_line = std::size_t{1} << 20;

  text_lines(const char* call, std::istream& in, const std::string& name)
      : call_(call), name_(name), in_(in), buffer_(longest_line) {}

  /// Goes on to the next line; false after the last one.
  bool next() {
    const char* end = find_end();
    while (end == nullptr && fill()) end = find_end();
    if (end == nullptr && at_ == filled_) return false;
    const char* begin = buffer_.data() + at_;
    const auto length = end != nullptr ? static_cast<std::size_t>(end - begin) : filled_ - at_;
    at_ = end != nullptr ? at_ + length + 1 : filled_;
    rest_ = {begin, length};
    ++line_;
    skip_blanks();
    return true;
  }
  /// Goes on to the next line that has words and does not begin with a mark.
  bool next_but(char comment) {
    while (next())
      if (!rest_.empty() && rest_.front() != comment) return true;
    return false;
  }

  bool is_empty() const { return rest_.empty(); }
  /// The next word of the line, or nothing.
  std::string_view word() {
    std::size_t n = 0;
    while (n < rest_.size() && !is_blank(rest_[n])) ++n;
    const std::string_view word = rest_.substr(0, n);
    rest_.remove_prefix(n);
    skip_blanks();
    return word;
  }
  std::int64_t integer(const char* what, std::int64_t least, std::int64_t most) {
    const std::string_view text = word();
    std::int64_t x = 0;
    if (parse(text, x) && x >= least && x <= most) return x;
    if (least == most) refuse("expected ", what, " ", least, ", found ", quoted(text));
    refuse("expected ", what, " from ", least, " to ", most, ", found ", quoted(text));
  }
  /// For edges without weights, the text has to be a number all the same.
  template <class Weight>
  Weight weight() {
    using number = std::conditional_t<std::is_same_v<Weight, no_weight>, double, Weight>;
    const std::string_view text = word();
    number x{};
    if constexpr (std::is_floating_point_v<number>) {
      if (!parse(text, x) || !std::isfinite(x))
        refuse("expected a weight of ", 8 * sizeof(number), " bits, found ", quoted(text));
    } else {
      using limits = std::numeric_limits<number>;
      if (!parse(text, x))
        refuse("expected a weight that is an integer from ", limits::min(), " to ", limits::max(),
               ", found ", quoted(text));
    }
    if constexpr (std::is_same_v<Weight, no_weight>)
      return {};
    else
      return x;
  }
  void expect_end_of_line() {
    if (!rest_.empty()) refuse("expected the end of the line, found ", quoted(word()));
  }

  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    throw std::runtime_error(
        detail::message("lanewise::", call_, ": ", name_, ", line ", line_, ": ", parts...));
  }
  /// For messages: of a word that is too long, its beginning.
  static std::string quoted(std::string_view text) {
    if (text.empty()) return "nothing";
    return "'" + std::string(text.substr(0, 40)) + (text.size() > 40 ? "...'" : "'");
  }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
  void skip_blanks() {
    while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
  }
  template <class T>
  static bool parse(std::string_view text, T& x) {
    const char* end = text.data() + text.size();
    // Only a sign that is no other is left out, as from_chars does not know it.
    const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
    const auto [after, error] = std::from_chars(text.data() + plus, end, x);
    return error == std::errc() && after == end;
  }

  const char* find_end() const {
    return static_cast<const char*>(std::memchr(buffer_.data() + at_, '\n', filled_ - at_));
  }
  /// Moves what is left to the front and reads on; false where there is no more.
  bool fill() {
    std::memmove(buffer_.data(), buffer_.data() + at_, filled_ - at_);
    filled_ -= at_;
    at_ = 0;
    if (filled_ == buffer_.size()) {
      ++line_;
      refuse("expected a line of less than ", longest_line, " characters");
    }
    in_.read(buffer_.data() + filled_, static_cast<std::streamsize>(buffer_.size() - filled_));
    if (in_.bad()) refuse("the file cannot be read after this line");
    filled_ += static_cast<std::size_t>(in_.gcount());
    return in_.gcount() > 0;
  }

  const char* call_;
  std::string name_;
  std::istream& in_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, filled_ = 0;  // the next line begins at at_
  std::string_view rest_;            // of the line
  std::uint64_t line_ = 0;
};

/// Numbers and words, gathered and written in pieces.
class text_writer {
 public:
  text_writer(const char* call, std::ostream& out) : call_(call), out_(out) {}

  text_writer& operator<<(const char* text) {
    buffer_ += text;
    return *this;
  }
  /// A number that reads back as the same.
  template <class T>
  requires(std::is_arithmetic_v<T>) text_writer& operator<<(T x) {
    char digits[32];
    const auto [end, error] = std::to_chars(digits, digits + sizeof(digits), x);
    (void)error;  // no number has as many
    buffer_.append(digits, end);
    if (buffer_.size() > (std::size_t{1} << 20)) write();
    return *this;
  }
  /// Throws std::runtime_error where the stream fails.
  void finish() {
    write();
    out_.flush();
    if (!out_)
      throw std::runtime_error(message("lanewise::", call_, ": the stream cannot be written"));
  }

 private:
  void write() {
    out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    buffer_.clear();
  }
  const char* call_;
  std::ostream& out_;
  std::string buffer_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
