// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/message.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <istream>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

// What the files of all structures have in common. A file has a header that says what the structure
// is made of, then its data, each guarded by a checksum. All numbers are little-endian.
//
// A file that is wrong may have right checksums. So nothing is allocated because a number of a
// header says so. No structure is made of what was read before all of it was checked.

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// How every file begins.
struct file_header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t kind;   // of the structures that share the magic
  std::uint32_t key;    // file_type
  std::uint32_t value;  // file_type
};

/// What a file says of a type: 256 times its kind, and its size; 0 for void. Other types may have
/// more than 255 bytes.
template <class T>
constexpr std::uint32_t file_type() {
  if constexpr (std::is_void_v<T>) {
    return 0;
  } else {
    constexpr std::uint32_t kind = std::is_floating_point_v<T> ? 3
                                   : !std::is_integral_v<T>    ? 4
                                   : std::is_signed_v<T>       ? 2
                                                               : 1;
    return (kind << 8) + static_cast<std::uint32_t>(sizeof(T));
  }
}
inline std::string text_of_type(std::uint32_t type) {
  static constexpr const char* kinds[] = {"nothing", "unsigned integers", "signed integers",
                                          "floating-point numbers", "other types"};
  if (type == 0) return kinds[0];
  const std::uint32_t kind = std::min(type >> 8, 4u);
  return message(kinds[kind], " of ", type - (kind << 8), " bytes");
}

/// The text for sets, maps and multimaps. Their kind is a key_multiplicity.
inline std::string text_of_table(const file_header& header) {
  const char* name = header.value == 0 ? "set" : "map";
  return message(header.kind == 0 ? "a " : "a multi", name, " from ", text_of_type(header.key),
                 " to ", text_of_type(header.value));
}

template <class... Parts>
[[noreturn]] void refuse_file(const Parts&... what) {
  throw std::runtime_error(detail::message("lanewise::load: ", what...));
}
template <class T>
void expect_in_file(const char* what, const T& found, const T& wanted) {
  if (!(found == wanted))
    detail::refuse_file(what, " is ", found, " in the file, ", wanted, " in the program");
}

/// Depends on every word and on their order.
class checksum {
 public:
  void add(const void* data, std::size_t bytes) {
    const char* p = static_cast<const char*>(data);
    for (; bytes >= 8; p += 8, bytes -= 8) add_word(p, 8);
    if (bytes > 0) add_word(p, bytes);
  }
  std::uint64_t value() const { return sum_; }

 private:
  void add_word(const char* p, std::size_t bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, p, bytes);
    sum_ = (sum_ ^ word) * 0x9E3779B97F4A7C15u;
    sum_ ^= sum_ >> 29;
  }
  std::uint64_t sum_ = 0x1A5E;
};

/// Items that are copied at once: 2 MiB, in units of 8 bytes so that checksums do not depend on it.
template <class T>
inline constexpr std::size_t items_of_piece = ((std::size_t{1} << 21) / sizeof(T) + 8) / 8 * 8;

/// Items on the host, not initialised. A vector of bool has no array.
template <class T>
class file_piece {
 public:
  explicit file_piece(std::size_t n) : items_(std::make_unique_for_overwrite<T[]>(n)), size_(n) {}

  std::size_t size() const { return size_; }
  T* data() const { return items_.get(); }
  /// Its first n items.
  auto first(std::size_t n) const {
    return Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(data(), n);
  }

 private:
  std::unique_ptr<T[]> items_;
  std::size_t size_;
};

class file_writer {
 public:
  explicit file_writer(std::ostream& out) : out_(out) {}

  void write(const void* data, std::size_t bytes) {
    sum_.add(data, bytes);
    out_.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  }
  /// What was written since the last seal, made fast.
  void seal() {
    const std::uint64_t sum = sum_.value();
    write(&sum, sizeof(sum));
    if (!out_) throw std::runtime_error("lanewise::save: the stream cannot be written");
    sum_ = {};
  }
  /// The items of a View, as change(first, n) leaves each piece of them.
  template <class V, class Change>
  void write_view(const V& view, const Change& change) {
    using item = typename V::non_const_value_type;
    constexpr std::size_t piece = items_of_piece<item>;
    const std::size_t items = view.extent(0);
    const file_piece<item> room(std::min(items, piece));
    for (std::size_t first = 0; first < items; first += piece) {
      const std::size_t n = std::min(piece, items - first);
      Kokkos::deep_copy(room.first(n), Kokkos::subview(view, Kokkos::make_pair(first, first + n)));
      change(room.data(), n);
      write(room.data(), n * sizeof(item));
    }
  }
  template <class V>
  void write_view(const V& view) {
    write_view(view, [](void*, std::size_t) {});
  }

 private:
  std::ostream& out_;
  checksum sum_;
};

/// Items of a file on the host, in pieces: there is memory for what was read, whatever the header
/// promises.
template <class T>
class file_items {
 public:
  static constexpr std::size_t piece = items_of_piece<T>;

  explicit file_items(std::size_t items) : items_(items) {}

  std::size_t size() const { return items_; }
  const T& operator[](std::size_t i) const { return pieces_[i / piece].data()[i % piece]; }
  T& operator[](std::size_t i) { return pieces_[i / piece].data()[i % piece]; }
  /// Calls f(piece) for a new piece until there are all items.
  template <class F>
  void fill(const F& f) {
    for (std::size_t n = 0; n < items_; n += piece)
      f(pieces_.emplace_back(std::min(piece, items_ - n)));
  }
  /// Copies the items, which are no longer here, to a View.
  template <class V>
  void move_to(const V& view) {
    std::size_t first = 0;
    for (const file_piece<T>& p : pieces_) {
      Kokkos::deep_copy(Kokkos::subview(view, Kokkos::make_pair(first, first + p.size())),
                        p.first(p.size()));
      first += p.size();
    }
    pieces_.clear();
  }

 private:
  std::size_t items_;
  std::vector<file_piece<T>> pieces_;
};

class file_reader {
 public:
  explicit file_reader(std::istream& in) : in_(in) {}

  void read(void* data, std::size_t bytes) {
    in_.read(static_cast<char*>(data), static_cast<std::streamsize>(bytes));
    if (!in_) refuse_file("the file ends early");
    sum_.add(data, bytes);
  }
  /// The header of a file of the same magic and version as this one; `what` is what they stand for.
  template <class Header>
  Header read_header(const Header& mine, const char* what) {
    Header header;
    read(&header, sizeof(header));
    if (std::memcmp(header.magic, mine.magic, sizeof(mine.magic)) != 0)
      refuse_file("this is no ", what);
    detail::expect_in_file("the layout's version", header.version, mine.version);
    return header;
  }
  void expect_seal(const char* part) {
    const std::uint64_t expected = sum_.value();
    std::uint64_t sum = 0;
    read(&sum, sizeof(sum));
    if (sum != expected) refuse_file("the checksum of the ", part, " is wrong");
    sum_ = {};
  }
  template <class T>
  file_items<T> read_items(std::size_t items) {
    file_items<T> all(items);
    all.fill([&](auto& piece) { read(piece.data(), piece.size() * sizeof(T)); });
    return all;
  }

 private:
  std::istream& in_;
  checksum sum_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
