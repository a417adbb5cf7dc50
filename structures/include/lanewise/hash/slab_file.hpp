// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/detail/structure_file.hpp>
#include <lanewise/hash/slab_hash_table.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <istream>
#include <ostream>
#include <vector>

LANEWISE_BEGIN_NAMESPACE

// Tables in files (common/detail/structure_file.hpp). The header has the hash object, too. The data
// are the first slabs, and the pool as it lies in memory, bitmaps included, since links are numbers
// relative to it.

namespace detail {

struct slab_file_header : file_header {
  std::uint32_t hash_bytes = 0;
  std::uint32_t super_blocks = 0;
  std::uint64_t buckets = 0;
  double load = 0;
};

using slab_file_units = file_items<slab_unit>;

/// What a file's slabs must be for a table to work on them. Every link leads to a unit that is in
/// use and that no other link leads to. Every key stands in the list that its hash says, before the
/// first empty slot, once if keys are unique. Units that are not in use are empty.
template <class Table>
class slab_file_check {
 public:
  using layout = typename Table::layout;
  using word = typename layout::word;
  using key_type = typename Table::key_type;
  using locator = typename Table::view_type::locator;

  slab_file_check(const locator& where, const slab_file_units& heads,
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
  void check_list(std::uint32_t list) {
    names_.clear();
    bool ended = false;
    const slab_unit* slab = &heads_[list];
    for (;;) {
      check_slab(list, *slab, ended);
      const std::uint32_t link = slab->word[31];
      if (link == no_unit) break;
      slab = &unit_after(list, link);
    }
    if constexpr (Table::kind == key_multiplicity::unique) {
      std::sort(names_.begin(), names_.end());
      const auto twice = std::adjacent_find(names_.begin(), names_.end());
      if (twice != names_.end())
        detail::refuse_file("list ", list, " has the key word ", *twice, " twice");
    }
  }

  void check_slab(std::uint32_t list, const slab_unit& slab, bool& ended) {
    for (int e = 0; e < layout::elements; ++e) {
      word element[layout::words];
      std::memcpy(
          element,
          reinterpret_cast<const char*>(&slab) + static_cast<std::size_t>(e) * sizeof(element),
          sizeof(element));
      const word name = element[0];
      if (name == layout::empty) {
        ended = true;
        if (element[layout::words - 1] != layout::empty)
          detail::refuse_file("an empty slot in list ", list, " has the value word ",
                              element[layout::words - 1]);
        continue;
      }
      if (ended)
        detail::refuse_file("list ", list, " has the key word ", name, " after an empty slot");
      if (name == layout::deleted) continue;
      if (name >= layout::least_reserved)
        refuse_file("list ", list, " has a slot that was left between two states");
      const auto key = where_.template key_of<key_type>(list, name);
      const auto belongs = where_.bucket_of(key);
      if (belongs != list)
        detail::refuse_file("the key word ", name, " stands in list ", list,
                            " and belongs to list ", belongs);
      // A word may have more bits than the key.
      if (locator::name_of(key) != name)
        detail::refuse_file("list ", list, " has the key word ", name, ", which stands for no key");
      if constexpr (Table::kind == key_multiplicity::unique) names_.push_back(name);
    }
  }

  const slab_unit& unit_after(std::uint32_t list, std::uint32_t link) {
    const std::size_t s = link >> super_block_shift;
    const std::size_t index = link & ((1u << super_block_shift) - 1);
    if (s >= pool_.size() || index >= units_in(s))
      refuse_file("a link of list ", list, " leads to unit ", index, " of super block ", s,
                  ", which does not exist");
    if (!in_use(s, index))
      refuse_file("a link of list ", list, " leads to unit ", index, " of super block ", s,
                  ", which is not in use");
    if (reached_[s][index])
      refuse_file("two links lead to unit ", index, " of super block ", s,
                  ", the second one in list ", list);
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
        refuse_file("unit ", i, " of super block ", s, " is not in use and not empty");
    }
  }

  std::size_t blocks_in(std::size_t s) const { return pool_[s].size() / (1 + units_per_block); }
  std::size_t units_in(std::size_t s) const { return blocks_in(s) * units_per_block; }
  bool in_use(std::size_t s, std::size_t index) const {
    return (pool_[s][index / units_per_block].word[index / 32 % 32] >> (index % 32) & 1) != 0;
  }

  const locator where_;
  const slab_file_units& heads_;
  std::vector<slab_file_units>& pool_;
  std::vector<std::vector<bool>> reached_;
  std::vector<word> names_;
};

/// The header of a file with this table; what depends on its size is left out.
template <class Table>
slab_file_header slab_header_of() {
  // 2: keys and values have types, not sizes alone.
  slab_file_header header{{{'L', 'w', '.', 's', 'l', 'a', 'b', '\n'},
                           2,
                           static_cast<std::uint32_t>(Table::kind),
                           detail::file_type<typename Table::key_type>(),
                           detail::file_type<typename Table::mapped_type>()}};
  header.hash_bytes = sizeof(typename Table::hasher);
  return header;
}

/// The units as a View of their own.
template <class V>
V view_of(slab_file_units& units) {
  const V view(Kokkos::view_alloc("Lanewise::load", Kokkos::WithoutInitializing), units.size());
  detail::use_huge_pages<typename V::memory_space>(view.data(), units.size() * sizeof(slab_unit));
  units.move_to(view);
  return view;
}

/// Numbers that no table has, with right checksums.
inline void expect_possible(const slab_file_header& header,
                            const std::vector<std::uint32_t>& blocks) {
  const auto expect = [](bool right, const char* what, auto found) {
    if (!right) detail::refuse_file("the file has ", found, " as ", what, ", which no table has");
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
template <class Exec, any_slab_table Table>
void save(const Exec& exec, const Table& table, std::ostream& out) {
  exec.fence("Lanewise::save: the table is read");
  detail::file_writer writer(out);
  auto header = detail::slab_header_of<Table>();
  header.super_blocks = static_cast<std::uint32_t>(table.pool().super_blocks().size());
  header.buckets = static_cast<std::uint64_t>(table.buckets());
  header.load = table.load();
  writer.write(&header, sizeof(header));
  writer.write(&table.hash(), sizeof(typename Table::hasher));
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
/// Throws std::runtime_error if the file has another table, types included, or is of another
/// version. It throws, too, if the file is damaged or cut short, or has slabs that are no table.
template <any_slab_table Table, class Exec>
Table load(const Exec& exec, std::istream& in) {
  using memory = typename Table::allocator_type::memory;
  using hash = typename Table::hasher;
  detail::file_reader reader(in);
  const detail::slab_file_header mine = detail::slab_header_of<Table>();
  const auto header = reader.read_header(mine, "slab table");
  detail::expect_in_file("the size of the hash", header.hash_bytes, mine.hash_bytes);
  if (header.super_blocks == 0 || header.super_blocks > detail::most_super_blocks)
    detail::refuse_file("the file has ", header.super_blocks, " super blocks, tables have 1 to ",
                        detail::most_super_blocks);
  hash h{};
  reader.read(&h, sizeof(h));
  std::vector<std::uint32_t> blocks(header.super_blocks);
  for (auto& b : blocks) reader.read(&b, sizeof(b));
  reader.expect_seal("header");
  detail::expect_in_file("the table", detail::text_of_table(header), detail::text_of_table(mine));
  detail::expect_in_file("the number of its kind", header.kind, mine.kind);
  detail::expect_possible(header, blocks);

  detail::slab_file_units heads = reader.template read_items<slab_unit>(header.buckets + 1);
  std::vector<detail::slab_file_units> units;
  for (const std::uint32_t b : blocks)
    units.push_back(
        reader.template read_items<slab_unit>(std::size_t{b} * (1 + detail::units_per_block)));
  reader.expect_seal("data");
  const typename Table::view_type::locator where{static_cast<std::uint32_t>(header.buckets), h};
  detail::slab_file_check<Table>(where, heads, units).run();

  std::vector<memory> super_blocks;
  for (auto& u : units) super_blocks.push_back(detail::view_of<memory>(u));
  return {h, detail::view_of<typename Table::heads_type>(heads),
          Table::allocator_type::adopt(exec, std::move(super_blocks)), header.load};
}

LANEWISE_END_NAMESPACE
