// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/detail/structure_file.hpp>
#include <lanewise/lsm/lsm_dictionary.hpp>
#include <lanewise/search/search_index.hpp>

#include <cstdint>
#include <istream>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// LSMs in files (common/detail/structure_file.hpp). The header says what each level has; the data
// are the keys, tombstones and values of the levels, the newest first. Samples are taken again.

LANEWISE_BEGIN_NAMESPACE
namespace detail {

struct lsm_file_header : file_header {
  std::uint32_t levels = 0;
  std::uint32_t is_clean = 1;
};
struct lsm_file_level {
  std::uint64_t elements;
  std::uint32_t has_values;
  std::uint32_t has_dead;
};

template <class Map>
lsm_file_header lsm_header_of() {
  return {{{'L', 'w', '.', 'l', 's', 'm', ' ', '\n'},
           1,
           Map::has_one_level,
           detail::file_type<typename Map::key_type>(),
           detail::file_type<typename Map::mapped_type>()}};
}
inline std::string text_of_lsm(const file_header& header) {
  return message(header.kind == 0 ? "an lsm_map" : "a sorted_array", " from ",
                 text_of_type(header.key), " to ", text_of_type(header.value));
}

/// A level of a file on the host.
template <class Map>
class lsm_level_in_file {
 public:
  using key = typename Map::key_type;
  using value = typename Map::mapped_type;
  using memory = typename Map::memory_space;

  lsm_level_in_file(file_reader& reader, const lsm_file_level& has)
      : has_(has),
        keys_(reader.read_items<key>(has.elements)),
        dead_(reader.read_items<std::uint32_t>(has.has_dead != 0 ? (has.elements + 31) / 32 : 0)),
        values_(reader.read_items<value>(has.has_values != 0 ? has.elements : 0)) {}

  /// Throws std::runtime_error unless keys do not descend, and ascend in a level that is clean, and
  /// tombstones are elements.
  void check(std::uint32_t level, bool is_clean) const {
    for (std::uint64_t i = 1; i < has_.elements; ++i)
      if (keys_[i] < keys_[i - 1] || (is_clean && keys_[i] == keys_[i - 1]))
        detail::refuse_file("key ", i, " of level ", level, " is ", keys_[i], " and follows ",
                            keys_[i - 1]);
    const std::uint32_t last = has_.elements % 32;
    if (has_.has_dead != 0 && last != 0 && dead_[dead_.size() - 1] >> last != 0)
      refuse_file("level ", level, " has tombstones after its last element");
  }
  typename Map::run run() {
    auto r = Map::run::template allocated<memory>("Lanewise::load",
                                                  static_cast<std::int64_t>(has_.elements),
                                                  has_.has_values != 0, has_.has_dead != 0);
    keys_.move_to(memory_array<key, memory>(r.keys(), keys_.size()));
    dead_.move_to(memory_array<std::uint32_t, memory>(r.dead(), dead_.size()));
    values_.move_to(memory_array<value, memory>(r.values(), values_.size()));
    return r;
  }

 private:
  lsm_file_level has_;
  file_items<key> keys_;
  file_items<std::uint32_t> dead_;
  file_items<value> values_;
};

/// Numbers that no dictionary has, with right checksums.
template <class Map>
void expect_levels(const lsm_file_header& header, const std::vector<lsm_file_level>& levels,
                   std::int64_t most_elements) {
  if (header.is_clean > 1 || (header.is_clean == 0 && levels.empty()))
    refuse_file("the file says ", header.is_clean, " of whether it is clean, and has ",
                levels.size(), " levels");
  for (const auto& level : levels) {
    if (level.elements == 0 || level.elements > static_cast<std::uint64_t>(most_elements))
      refuse_file("a level has ", level.elements, " elements, levels have 1 to ", most_elements);
    if (level.has_values > 1 || level.has_dead > level.has_values ||
        (header.is_clean == 1 && (level.has_values == 0 || level.has_dead == 1)))
      refuse_file("a level has ", level.has_values, " arrays of values and ", level.has_dead,
                  " of tombstones, which no level has");
  }
}

}  // namespace detail
LANEWISE_END_NAMESPACE

LANEWISE_BEGIN_TARGET_NAMESPACE

/// Writes an lsm_map or a sorted_array, or a snapshot of one, to a binary stream. Files do not
/// depend on the backend. **Blocks.** Throws std::runtime_error if the stream fails.
template <class Exec, any_lsm Map>
void save(const Exec& exec, const Map& map, std::ostream& out) {
  exec.fence("Lanewise::save: the levels are read");
  detail::file_writer writer(out);
  auto header = detail::lsm_header_of<Map>();
  header.levels = static_cast<std::uint32_t>(map.levels());
  header.is_clean = map.is_clean();
  writer.write(&header, sizeof(header));
  for (const auto& r : map.runs()) {
    const detail::lsm_file_level level{static_cast<std::uint64_t>(r.level.size()),
                                       r.level.values != nullptr, r.level.dead != nullptr};
    writer.write(&level, sizeof(level));
  }
  writer.seal();
  for (const auto& r : map.runs()) {
    const auto n = static_cast<std::size_t>(r.level.size());
    const auto write = [&writer](const auto* items, std::size_t count) {
      using item = std::remove_pointer_t<decltype(items)>;
      if (items != nullptr)
        writer.write_view(detail::memory_array<item, typename Map::memory_space>(items, count));
    };
    write(r.level.keys(), n);
    write(r.level.dead, (n + 31) / 32);
    write(r.level.values, n);
  }
  writer.seal();
}

/// What save wrote; Map is its type, in memory that the instance can reach. Reads the file to the
/// host, looks at all of it there, and then allocates the levels: the host needs as much memory as
/// the file has bytes. **Blocks.** Throws std::runtime_error if the file has another dictionary,
/// types included, or is of another version. It throws, too, if the file is damaged or cut short,
/// or has levels that are none.
template <any_lsm Map, class Exec>
Map load(const Exec& exec, std::istream& in) {
  detail::file_reader reader(in);
  const auto mine = detail::lsm_header_of<Map>();
  const auto header = reader.read_header(mine, "LSM");
  const std::uint32_t most_levels = Map::has_one_level ? 1 : lsm_most_levels;
  if (header.levels > (header.is_clean == 1 ? 1 : most_levels))
    detail::refuse_file("the file has ", header.levels, " levels, dictionaries have at most ",
                        header.is_clean == 1 ? 1 : most_levels);
  std::vector<detail::lsm_file_level> has(header.levels);
  for (auto& level : has) reader.read(&level, sizeof(level));
  reader.expect_seal("header");
  detail::expect_in_file("the dictionary", detail::text_of_lsm(header), detail::text_of_lsm(mine));
  detail::expect_in_file("the number of its kind", header.kind, mine.kind);
  detail::expect_levels<Map>(header, has, kernels::most_searched_keys);

  std::vector<detail::lsm_level_in_file<Map>> levels;
  levels.reserve(has.size());
  for (const auto& level : has) levels.emplace_back(reader, level);
  reader.expect_seal("data");
  for (std::uint32_t i = 0; i < header.levels; ++i) levels[i].check(i, header.is_clean == 1);
  std::vector<typename Map::run> runs;
  for (auto& level : levels) {
    runs.push_back(level.run());
    kernels::sample_keys(exec, runs.back().level.tree, runs.back().samples());
  }
  exec.fence("Lanewise::load: the levels are sampled");
  Map map;
  map.take(std::move(runs), header.is_clean == 1);
  return map;
}

LANEWISE_END_TARGET_NAMESPACE
