// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/detail/structure_file.hpp>
#include <lanewise/ordered/ordered_bulk.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <istream>
#include <ostream>
#include <type_traits>
#include <vector>

// Ordered tables in files (common/detail/structure_file.hpp): the number of elements, and the
// leaves as they lie in memory. What lies above the leaves is made again.

LANEWISE_BEGIN_NAMESPACE
namespace detail {

struct ordered_file_header : file_header {
  std::uint64_t elements = 0;
};
/// Enumerations have the order of their underlying types.
template <class Key>
constexpr std::uint32_t file_type_of_key() {
  if constexpr (std::is_enum_v<Key>) return detail::file_type<std::underlying_type_t<Key>>();
  return detail::file_type<Key>();
}
template <class Table>
ordered_file_header ordered_header_of() {
  return {{{'L', 'w', '.', 'o', 'r', 'd', 'r', '\n'},
           1,
           static_cast<std::uint32_t>(Table::kind),
           detail::file_type_of_key<typename Table::key_type>(),
           detail::file_type<typename Table::mapped_type>()}};
}

/// A leaf on the host, as its bytes.
template <class Layout>
class ordered_leaf_bytes {
 public:
  using word = typename Layout::word;
  using value_word = typename Layout::value_word;
  static constexpr std::uint32_t used =
      Layout::elements * (Layout::key_bytes + Layout::value_bytes);

  explicit ordered_leaf_bytes(const ordered_leaf& leaf)
      : bytes_(reinterpret_cast<const char*>(&leaf)) {}

  word key(std::uint32_t e) const { return at<word>(e * Layout::key_bytes); }
  /// Whether slots from e on are as those without an element, and bytes after all slots 0.
  bool is_empty_from(std::uint32_t e) const {
    for (std::uint32_t i = e; i < Layout::elements; ++i)
      if (key(i) != Layout::padding) return false;
    const std::uint32_t values = Layout::elements * Layout::key_bytes;
    for (std::uint32_t b = values + e * Layout::value_bytes; b < Layout::bytes; ++b)
      if (bytes_[b] != 0) return false;
    return true;
  }

 private:
  template <class T>
  T at(std::uint32_t byte) const {
    T x;
    std::memcpy(&x, bytes_ + byte, sizeof(x));
    return x;
  }
  const char* bytes_;
};

/// Looks at all leaves: keys ascend, or do not descend where they may be repeated, and what has no
/// element is empty. Returns their first keys.
template <class Table>
std::vector<typename Table::word> checked_lows(const file_items<ordered_leaf>& leaves,
                                               std::uint64_t elements) {
  using layout = typename Table::layout;
  std::vector<typename Table::word> lows;
  typename Table::word before = 0;
  for (std::uint64_t i = 0; i < elements; i += layout::elements) {
    const ordered_leaf_bytes<layout> leaf(leaves[i / layout::elements]);
    const auto here =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(layout::elements, elements - i));
    lows.push_back(leaf.key(0));
    for (std::uint32_t e = 0; e < here; ++e) {
      const auto key = leaf.key(e);
      if (i + e > 0 && (Table::kind == key_multiplicity::unique ? key <= before : key < before))
        detail::refuse_file("the key word ", key, " of element ", i + e, " follows ", before);
      before = key;
    }
    if (!leaf.is_empty_from(here))
      detail::refuse_file("leaf ", i / layout::elements, " has something after its last element");
  }
  return lows;
}

}  // namespace detail
LANEWISE_END_NAMESPACE

LANEWISE_BEGIN_TARGET_NAMESPACE

/// Writes a table to a binary stream: 128 bytes for each leaf. Files do not depend on the backend.
/// **Blocks.** Throws std::runtime_error if the stream fails.
template <class Exec, any_ordered_table Table>
void save(const Exec& exec, const Table& table, std::ostream& out) {
  using layout = typename Table::layout;
  exec.fence("Lanewise::save: the table is read");
  detail::file_writer writer(out);
  auto header = detail::ordered_header_of<Table>();
  header.elements = static_cast<std::uint64_t>(table.size());
  writer.write(&header, sizeof(header));
  writer.seal();
  const detail::memory_array<const detail::ordered_leaf, typename Table::memory_space> leaves(
      table.leaves(), static_cast<std::size_t>(table.number_of_leaves()));
  writer.write_view(leaves, [](detail::ordered_leaf* leaf, std::size_t n) {
    // Nobody has written these bytes.
    constexpr std::size_t used = detail::ordered_leaf_bytes<layout>::used;
    if constexpr (used < layout::bytes)
      for (std::size_t i = 0; i < n; ++i)
        std::memset(reinterpret_cast<char*>(leaf + i) + used, 0, layout::bytes - used);
  });
  writer.seal();
}

/// The table that save wrote; Table is its type, in the memory of the instance. Reads the file to
/// the host, looks at all of it there, and then allocates the table: the host needs as much memory
/// as the file has bytes. **Blocks.** Throws std::runtime_error if the file has another table,
/// types included, or is of another version. It throws, too, if the file is damaged or cut short,
/// or has leaves that are no table.
template <any_ordered_table Table, class Exec>
Table load(const Exec& exec, std::istream& in) {
  static_assert(std::is_same_v<typename Exec::memory_space, typename Table::memory_space>,
                "lanewise: an ordered table is loaded by instances whose memory space is its own");
  using layout = typename Table::layout;
  using word = typename Table::word;
  detail::file_reader reader(in);
  const auto mine = detail::ordered_header_of<Table>();
  const auto header = reader.read_header(mine, "ordered table");
  reader.expect_seal("header");
  detail::expect_in_file("the table", detail::text_of_table(header), detail::text_of_table(mine));
  detail::expect_in_file("the number of its kind", header.kind, mine.kind);
  if (header.elements > static_cast<std::uint64_t>(Table::most_elements))
    detail::refuse_file("the file has ", header.elements, " elements, a table has at most ",
                        Table::most_elements);
  const auto leaves = static_cast<std::uint64_t>(lanewise::divide_up(
      static_cast<std::int64_t>(header.elements), std::int64_t{layout::elements}));
  auto units = reader.template read_items<detail::ordered_leaf>(leaves);
  reader.expect_seal("data");
  const std::vector<word> lows = detail::checked_lows<Table>(units, header.elements);
  if (leaves == 0) return Table();

  const auto table =
      Table::allocated("Lanewise::load", static_cast<std::uint32_t>(header.elements));
  using memory = typename Table::memory_space;
  units.move_to(detail::memory_array<detail::ordered_leaf, memory>(table.leaves(), leaves));
  Kokkos::deep_copy(detail::memory_array<word, memory>(table.lows(), leaves),
                    detail::memory_array<const word, Kokkos::HostSpace>(lows.data(), leaves));
  kernels::sample_lows(exec, table);
  exec.fence("Lanewise::load: the tree is sampled");
  return table;
}

LANEWISE_END_TARGET_NAMESPACE
