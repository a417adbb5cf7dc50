// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/slab_hash_table.hpp>

#include <algorithm>
#include <cstring>
#include <istream>
#include <ostream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

LANEWISE_BEGIN_NAMESPACE

// Tables in files. A file has a header with the version of the layout, what the table is made of,
// and its hash object; the first slabs; and the pool as it lies in memory, bitmaps included, since
// links are numbers relative to it. Two checksums guard the header and the data. All numbers are
// little-endian.
//
// Whoever can write a file can write its checksums. So nothing is allocated because a number of the
// header says so, and no table is made of slabs before all links and keys were looked at.

namespace detail {

struct slab_file_header {
  /// 2: keys and values have types, not sizes alone.
  static constexpr std::uint32_t this_version = 2;

  char magic[8] = {'L', 'w', '.', 's', 'l', 'a', 'b', '\n'};
  std::uint32_t version = this_version;
  std::uint32_t kind = 0;
  std::uint32_t key = 0;    // slab_file_type
  std::uint32_t value = 0;  // slab_file_type
  std::uint32_t hash_bytes = 0;
  std::uint32_t super_blocks = 0;
  std::uint64_t buckets = 0;
  double load = 0;
};

/// What a file says of a type: 256 times its kind, and its size; 0 for void.
template <class T>
constexpr std::uint32_t slab_file_type() {
  if constexpr (std::is_void_v<T>) {
    return 0;
  } else {
    constexpr std::uint32_t kind = std::is_floating_point_v<T> ? 3
                                   : !std::is_integral_v<T>    ? 4
                                   : std::is_signed_v<T>       ? 2
                                                               : 1;
    return kind << 8 | sizeof(T);
  }
}
inline std::string text_of_type(std::uint32_t type) {
  static constexpr const char* kinds[] = {"nothing", "unsigned integers", "signed integers",
                                          "floating-point numbers", "other types"};
  const std::uint32_t kind = type >> 8;
  if (type == 0) return kinds[0];
  return message(kind < 5 ? kinds[kind] : "an unknown type", " of ", type & 255, " bytes");
}
inline std::string text_of_table(const slab_file_header& header) {
  const char* name = header.value == 0 ? "set" : "map";
  return message(header.kind == 0 ? "a " : "a multi", name, " from ", text_of_type(header.key),
                 " to ", text_of_type(header.value));
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

class slab_writer {
 public:
  static constexpr std::size_t piece = std::size_t{1} << 14;  // units that are copied at once

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
    const std::size_t units = view.extent(0);
    std::vector<slab_unit> room(std::min(units, piece));
    for (std::size_t first = 0; first < units; first += piece) {
      const std::size_t n = std::min(piece, units - first);
      Kokkos::deep_copy(
          Kokkos::View<slab_unit*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(room.data(), n),
          Kokkos::subview(view, Kokkos::make_pair(first, first + n)));
      write(room.data(), n * sizeof(slab_unit));
    }
  }

 private:
  std::ostream& out_;
  checksum sum_;
};

/// A file's units on the host, in pieces: there is memory for what was read, whatever the header
/// promises.
class slab_file_units {
 public:
  explicit slab_file_units(std::size_t units) : units_(units) {}

  std::size_t size() const { return units_; }
  const slab_unit& operator[](std::size_t i) const {
    return pieces_[i / slab_writer::piece][i % slab_writer::piece];
  }
  slab_unit& operator[](std::size_t i) {
    return pieces_[i / slab_writer::piece][i % slab_writer::piece];
  }
  /// Calls f(piece) for a new piece until there are all units.
  template <class F>
  void fill(const F& f) {
    for (std::size_t n = 0; n < units_; n += slab_writer::piece)
      f(pieces_.emplace_back(std::min(slab_writer::piece, units_ - n)));
  }
  /// A View of the units, which are no longer here.
  template <class V>
  V move_to() {
    using memory_space = typename V::memory_space;
    const V view(Kokkos::view_alloc("Lanewise::load", Kokkos::WithoutInitializing), units_);
    use_huge_pages<memory_space>(view.data(), units_ * sizeof(slab_unit));
    std::size_t first = 0;
    for (auto& p : pieces_) {
      Kokkos::deep_copy(Kokkos::subview(view, Kokkos::make_pair(first, first + p.size())),
                        Kokkos::View<const slab_unit*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                            p.data(), p.size()));
      first += p.size();
      p = {};
    }
    return view;
  }

 private:
  std::size_t units_;
  std::vector<std::vector<slab_unit>> pieces_;
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
  slab_file_units read_units(std::size_t units) {
    slab_file_units all(units);
    all.fill([&](auto& piece) { read(piece.data(), piece.size() * sizeof(slab_unit)); });
    return all;
  }

 private:
  std::istream& in_;
  checksum sum_;
};

/// What a file's slabs must be for a table to work on them: every link leads to a unit that is in
/// use and that no other link leads to, every key stands in the list that its hash says, in front
/// of the first empty place, once if keys are unique, and units that are not in use are empty.
template <class Table>
class slab_file_check {
 public:
  using layout = typename Table::layout;
  using word = typename layout::word;
  using key_type = typename Table::key_type;
  using places = typename Table::view_type::places;

  slab_file_check(const places& where, const slab_file_units& heads,
                  std::vector<slab_file_units>& pool)
      : where_(where), heads_(heads), pool_(pool) {
    for (const auto& p : pool) reached_.emplace_back(p.size());
  }

  /// Throws std::runtime_error.
  void run() {
    for (std::uint32_t list = 0; list <= where_.buckets; ++list) check_list(list);
    for (std::size_t s = 0; s < pool_.size(); ++s) check_units(s);
  }

 private:
  template <class... T>
  [[noreturn]] static void refuse(const T&... what) {
    throw std::runtime_error(message("lanewise::load: ", what...));
  }

  void check_list(std::uint32_t list) {
    names_.clear();
    bool ended = false;
    const slab_unit* slab = &heads_[list];
    for (;;) {
      check_slab(list, *slab, ended);
      const std::uint32_t link = slab->word[31];
      if (link == no_unit) break;
      slab = &unit_behind(list, link);
    }
    if constexpr (Table::kind == slab_keys::unique) {
      std::sort(names_.begin(), names_.end());
      const auto twice = std::adjacent_find(names_.begin(), names_.end());
      if (twice != names_.end()) refuse("list ", list, " has the key word ", *twice, " twice");
    }
  }

  void check_slab(std::uint32_t list, const slab_unit& slab, bool& ended) {
    for (int e = 0; e < layout::elements; ++e) {
      word element[layout::words];
      std::memcpy(element, reinterpret_cast<const char*>(&slab) + e * sizeof(element),
                  sizeof(element));
      const word name = element[0];
      if (name == layout::empty) {
        ended = true;
        if (element[layout::words - 1] != layout::empty)
          refuse("an empty place in list ", list, " has the value word ", element[1]);
        continue;
      }
      if (ended) refuse("list ", list, " has the key word ", name, " behind an empty place");
      if (name == layout::deleted) continue;
      if (name >= layout::least_reserved)
        refuse("list ", list, " has a place that was left between two states");
      const auto key = where_.template key_of<key_type>(list, name);
      const auto belongs = where_.bucket_of(key);
      if (belongs != list)
        refuse("the key word ", name, " stands in list ", list, " and belongs to list ", belongs);
      // A word may have more bits than the key.
      if (places::name_of(key) != name)
        refuse("list ", list, " has the key word ", name, ", which stands for no key");
      if constexpr (Table::kind == slab_keys::unique) names_.push_back(name);
    }
  }

  const slab_unit& unit_behind(std::uint32_t list, std::uint32_t link) {
    const std::size_t s = link >> super_block_shift;
    const std::size_t index = link & ((1u << super_block_shift) - 1);
    if (s >= pool_.size() || index >= units_in(s))
      refuse("a link of list ", list, " leads to unit ", index, " of super block ", s,
             ", which does not exist");
    if (!in_use(s, index))
      refuse("a link of list ", list, " leads to unit ", index, " of super block ", s,
             ", which is not in use");
    if (reached_[s][index])
      refuse("two links lead to unit ", index, " of super block ", s, ", the second one in list ",
             list);
    reached_[s][index] = true;
    return pool_[s][blocks_in(s) + index];
  }

  /// Units that are in use and that no list has become free: nothing else would ever free them.
  void check_units(std::size_t s) {
    slab_unit empty;
    std::memset(&empty, 0xff, sizeof(empty));
    for (std::size_t i = 0; i < units_in(s); ++i) {
      slab_unit& unit = pool_[s][blocks_in(s) + i];
      if (in_use(s, i) && !reached_[s][i]) {
        pool_[s][i / units_per_block].word[i / 32 % 32] &= ~(1u << (i % 32));
        unit = empty;
      }
      if (!in_use(s, i) && std::memcmp(&unit, &empty, sizeof(empty)) != 0)
        refuse("unit ", i, " of super block ", s, " is not in use and not empty");
    }
  }

  std::size_t blocks_in(std::size_t s) const { return pool_[s].size() / (1 + units_per_block); }
  std::size_t units_in(std::size_t s) const { return blocks_in(s) * units_per_block; }
  bool in_use(std::size_t s, std::size_t index) const {
    return (pool_[s][index / units_per_block].word[index / 32 % 32] >> (index % 32) & 1) != 0;
  }

  const places where_;
  const slab_file_units& heads_;
  std::vector<slab_file_units>& pool_;
  std::vector<std::vector<bool>> reached_;
  std::vector<word> names_;
};

template <class T>
void expect_in_file(const char* what, const T& found, const T& wanted) {
  if (!(found == wanted))
    throw std::runtime_error(message("lanewise::load: ", what, " is ", found, " in the file, ",
                                     wanted, " in the program"));
}

/// The header of a file with this table; what depends on its size is left out.
template <class Table>
slab_file_header header_of() {
  slab_file_header header;
  header.kind = static_cast<std::uint32_t>(Table::kind);
  header.key = slab_file_type<typename Table::key_type>();
  header.value = slab_file_type<typename Table::mapped_type>();
  header.hash_bytes = sizeof(typename Table::hasher);
  return header;
}

/// Numbers that no table has, with right checksums.
inline void expect_possible(const slab_file_header& header,
                            const std::vector<std::uint32_t>& blocks) {
  const auto expect = [](bool right, const char* what, auto found) {
    if (!right)
      throw std::runtime_error(
          message("lanewise::load: the file has ", found, " as ", what, ", which no table has"));
  };
  using limits = slab_table_options;
  expect(header.buckets > 0 && header.buckets <= static_cast<std::uint64_t>(limits::most_buckets),
         "its number of buckets", header.buckets);
  expect(
      header.load == 0 || (header.load >= limits::least_load && header.load <= limits::most_load),
      "its load", header.load);
  for (std::size_t s = 0; s < blocks.size(); ++s) {
    // The last block of the last super block would have the address that means no unit.
    const std::uint32_t most = blocks_per_super_block - (s + 1 == most_super_blocks ? 1 : 0);
    expect(blocks[s] > 0 && blocks[s] <= most, "the number of blocks of a super block", blocks[s]);
  }
}

}  // namespace detail

/// Writes a table to a binary stream. No kernel may be changing it. **Blocks.** Throws
/// std::runtime_error if the stream fails.
template <class Exec, class Key, class Value, slab_keys kind, class Memory, class Hash>
void save(const Exec& exec, const slab_hash_table<Key, Value, kind, Memory, Hash>& table,
          std::ostream& out) {
  exec.fence("Lanewise::save: the table is read");
  detail::slab_writer writer(out);
  auto header = detail::header_of<slab_hash_table<Key, Value, kind, Memory, Hash>>();
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

/// The table that save wrote; Table is its type, in any memory space. The hash comes from the file,
/// and is called on the host. Reads the file to the host, looks at all of it there, and then
/// allocates the table: 128 bytes of the host's memory for each slab that the file has. **Blocks.**
/// Throws std::runtime_error if the file has another table, types included, is of another version,
/// damaged, or cut short, or has slabs that are no table.
template <class Table, class Exec>
Table load(const Exec& exec, std::istream& in) {
  using memory = typename Table::allocator_type::memory;
  using hash = typename Table::hasher;
  detail::slab_reader reader(in);
  detail::slab_file_header header;
  const detail::slab_file_header mine = detail::header_of<Table>();
  reader.read(&header, sizeof(header));
  if (std::memcmp(header.magic, mine.magic, sizeof(mine.magic)) != 0)
    throw std::runtime_error("lanewise::load: this is no slab table");
  detail::expect_in_file("the layout's version", header.version, mine.version);
  detail::expect_in_file("the size of the hash", header.hash_bytes, mine.hash_bytes);
  if (header.super_blocks == 0 || header.super_blocks > detail::most_super_blocks)
    throw std::runtime_error(detail::message("lanewise::load: the file has ", header.super_blocks,
                                             " super blocks, tables have 1 to ",
                                             detail::most_super_blocks));
  hash h{};
  reader.read(&h, sizeof(h));
  std::vector<std::uint32_t> blocks(header.super_blocks);
  for (auto& b : blocks) reader.read(&b, sizeof(b));
  reader.expect_seal("header");
  detail::expect_in_file("the table", detail::text_of_table(header), detail::text_of_table(mine));
  detail::expect_in_file("the number of its kind", header.kind, mine.kind);
  detail::expect_possible(header, blocks);

  detail::slab_file_units heads = reader.read_units(header.buckets + 1);
  std::vector<detail::slab_file_units> units;
  for (const std::uint32_t b : blocks)
    units.push_back(reader.read_units(std::size_t{b} * (1 + detail::units_per_block)));
  reader.expect_seal("data");
  const typename Table::view_type::places where{static_cast<std::uint32_t>(header.buckets), h};
  detail::slab_file_check<Table>(where, heads, units).run();

  std::vector<memory> super_blocks;
  for (auto& u : units) super_blocks.push_back(u.template move_to<memory>());
  return {h, heads.template move_to<typename Table::heads_type>(),
          Table::allocator_type::adopt(exec, std::move(super_blocks)), header.load};
}

LANEWISE_END_NAMESPACE
