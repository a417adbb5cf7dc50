// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/slab_hash_table.hpp>

#include <algorithm>
#include <cstring>
#include <istream>
#include <ostream>
#include <stdexcept>
#include <vector>

LANEWISE_BEGIN_NAMESPACE

// Tables in files. A file has a header with the version of the layout, what the table is made of,
// and its hash object; the first slabs; and the pool as it lies in memory, bitmaps included, since
// links are numbers relative to it. Two checksums guard the header, before anything is allocated
// for it, and the data. All numbers are little-endian.

namespace detail {

struct slab_file_header {
  static constexpr std::uint32_t this_version = 1;

  char magic[8] = {'L', 'w', '.', 's', 'l', 'a', 'b', '\n'};
  std::uint32_t version = this_version;
  std::uint32_t kind = 0;
  std::uint32_t key_bytes = 0;
  std::uint32_t value_bytes = 0;
  std::uint32_t hash_bytes = 0;
  std::uint32_t super_blocks = 0;
  std::uint64_t buckets = 0;
  double load = 0;
};

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

class slab_writer {
 public:
  explicit slab_writer(std::ostream& out) : out_(out) {}

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
  template <class V>
  void write_view(const V& view) {
    in_pieces(view.extent(0), [&](std::size_t first, std::size_t n, slab_unit* room) {
      const auto piece = Kokkos::subview(view, Kokkos::make_pair(first, first + n));
      Kokkos::deep_copy(
          Kokkos::View<slab_unit*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(room, n), piece);
      write(room, n * sizeof(slab_unit));
    });
  }

  /// f(first, n, room) for pieces of 2 MiB.
  template <class F>
  static void in_pieces(std::size_t units, const F& f) {
    constexpr std::size_t most = std::size_t{1} << 14;
    std::vector<slab_unit> room(std::min(units, most));
    for (std::size_t first = 0; first < units; first += most)
      f(first, std::min(most, units - first), room.data());
  }

 private:
  std::ostream& out_;
  checksum sum_;
};

class slab_reader {
 public:
  explicit slab_reader(std::istream& in) : in_(in) {}

  void read(void* data, std::size_t bytes) {
    in_.read(static_cast<char*>(data), static_cast<std::streamsize>(bytes));
    if (!in_) throw std::runtime_error("lanewise::load: the file ends early");
    sum_.add(data, bytes);
  }
  void expect_seal(const char* part) {
    const std::uint64_t expected = sum_.value();
    std::uint64_t sum = 0;
    read(&sum, sizeof(sum));
    if (sum != expected)
      throw std::runtime_error(message("lanewise::load: the checksum of the ", part, " is wrong"));
    sum_ = {};
  }
  template <class V>
  void read_view(const V& view) {
    slab_writer::in_pieces(view.extent(0), [&](std::size_t first, std::size_t n, slab_unit* room) {
      read(room, n * sizeof(slab_unit));
      const auto piece = Kokkos::subview(view, Kokkos::make_pair(first, first + n));
      Kokkos::deep_copy(
          piece,
          Kokkos::View<const slab_unit*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(room, n));
    });
  }

 private:
  std::istream& in_;
  checksum sum_;
};

template <class T>
void expect_in_file(const char* what, const T& found, const T& wanted) {
  if (!(found == wanted))
    throw std::runtime_error(message("lanewise::load: ", what, " is ", found, " in the file, ",
                                     wanted, " in the program"));
}

}  // namespace detail

/// Writes a table to a binary stream. No kernel may be changing it. **Blocks.** Throws
/// std::runtime_error if the stream fails.
template <class Exec, class Key, class Value, slab_keys kind, class Memory, class Hash>
void save(const Exec& exec, const slab_hash_table<Key, Value, kind, Memory, Hash>& table,
          std::ostream& out) {
  using layout = typename slab_hash_table<Key, Value, kind, Memory, Hash>::layout;
  exec.fence("Lanewise::save: the table is read");
  detail::slab_writer writer(out);
  detail::slab_file_header header;
  header.kind = static_cast<std::uint32_t>(kind);
  header.key_bytes = layout::key_bytes;
  header.value_bytes = layout::value_bytes;
  header.hash_bytes = sizeof(Hash);
  header.super_blocks = static_cast<std::uint32_t>(table.pool().super_blocks().size());
  header.buckets = static_cast<std::uint64_t>(table.buckets());
  header.load = table.load();
  writer.write(&header, sizeof(header));
  writer.write(&table.hash(), sizeof(Hash));
  for (const auto& m : table.pool().super_blocks()) {
    const std::uint32_t blocks = table.pool().blocks_in(m);
    writer.write(&blocks, sizeof(blocks));
  }
  writer.seal();
  writer.write_view(table.heads());
  for (const auto& m : table.pool().super_blocks()) writer.write_view(m);
  writer.seal();
}

/// The table that save wrote; Table is its type, in any memory space. The hash comes from the file.
/// **Blocks.** Throws std::runtime_error if the file is no such table, is of another version,
/// damaged, or cut short.
template <class Table, class Exec>
Table load(const Exec& exec, std::istream& in) {
  using layout = typename Table::layout;
  using memory = typename Table::allocator_type::memory;
  using hash = typename Table::hasher;
  detail::slab_reader reader(in);
  detail::slab_file_header header;
  const detail::slab_file_header mine;
  reader.read(&header, sizeof(header));
  if (std::memcmp(header.magic, mine.magic, sizeof(mine.magic)) != 0)
    throw std::runtime_error("lanewise::load: this is no slab table");
  detail::expect_in_file("the layout's version", header.version, mine.version);
  detail::expect_in_file("the kind", header.kind, static_cast<std::uint32_t>(Table::kind));
  detail::expect_in_file("the size of keys", header.key_bytes,
                         static_cast<std::uint32_t>(layout::key_bytes));
  detail::expect_in_file("the size of values", header.value_bytes,
                         static_cast<std::uint32_t>(layout::value_bytes));
  detail::expect_in_file("the size of the hash", header.hash_bytes,
                         static_cast<std::uint32_t>(sizeof(hash)));
  if (header.super_blocks > detail::most_super_blocks || header.buckets >> 32 != 0)
    throw std::runtime_error("lanewise::load: the header is damaged");
  hash h{};
  reader.read(&h, sizeof(h));
  std::vector<std::uint32_t> blocks(header.super_blocks);
  for (auto& b : blocks) reader.read(&b, sizeof(b));
  reader.expect_seal("header");

  const auto allocate = [](std::size_t units) {
    memory m(Kokkos::view_alloc("Lanewise::load", Kokkos::WithoutInitializing), units);
    detail::use_huge_pages<typename Table::memory_space>(m.data(), units * sizeof(slab_unit));
    return m;
  };
  const memory heads = allocate(header.buckets + 1);
  reader.read_view(heads);
  std::vector<memory> super_blocks;
  for (const std::uint32_t b : blocks) {
    super_blocks.push_back(allocate(std::size_t{b} * (1 + detail::units_per_block)));
    reader.read_view(super_blocks.back());
  }
  reader.expect_seal("data");
  return {h, heads, Table::allocator_type::adopt(exec, std::move(super_blocks)), header.load};
}

LANEWISE_END_NAMESPACE
