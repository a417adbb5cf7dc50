// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/call/status.hpp>
#include <lanewise/common/detail/table_memory.hpp>
#include <lanewise/data/memory.hpp>
#include <lanewise/team/policy.hpp>

#include <Kokkos_BitManipulation.hpp>
#include <Kokkos_Core.hpp>

#include <cstdint>
#include <vector>

LANEWISE_BEGIN_NAMESPACE

// A pool of 128-byte units that warps allocate from inside kernels (Ashkiani, 5.5). There is no
// lock, and in the best case one atomic for each unit.
//
// Units are grouped into memory blocks of 1024, and those into super blocks of up to 2^14. A
// block's bitmap has a bit per unit, and is itself one unit: 32 words. Every warp has a resident
// window, a word of a bitmap for each of its lanes, which it holds in registers as last seen. It
// takes units from there until the window is full, and then goes on to another one. Windows are as
// wide as the warp: 32 lanes have a whole block, a warp of one lane has one word, and so a scalar
// caller is no special case.

/// One unit: 32 words. Kokkos aligns memory of the host to 64 bytes, which is a cache line there,
/// and memory of a GPU to 128.
struct alignas(64) slab_unit {
  std::uint32_t word[32];
};

/// Units are named by 32-bit numbers relative to the pool: super block, memory block, unit in 8, 14
/// and 10 bits. They reach 2^32 units, 512 GiB, less one block, so that this is none of them.
inline constexpr std::uint32_t no_unit = ~std::uint32_t{0};

namespace detail {

inline constexpr std::uint32_t units_per_block = 1024;
inline constexpr std::uint32_t blocks_per_super_block = 1 << 14;
inline constexpr int super_block_shift = 24;
inline constexpr std::uint32_t most_super_blocks = 256;

/// Blocks that lie together: their bitmaps, then their units.
struct super_block {
  std::uint32_t* bitmaps;  // 32 words for each block
  slab_unit* units;
  std::uint32_t first_block;  // how many blocks all earlier ones have
};

/// What kernels read of a growing pool. Places beyond the last super block begin after all blocks.
struct super_block_table {
  super_block at[most_super_blocks];
  alignas(64) std::uint32_t exhausted;  // 1 while warps find no unit
};

}  // namespace detail

/// What becomes of a pool that is too small.
enum class pool_kind {
  growing,  ///< more super blocks; an address is looked up in the table of them
  light     ///< one array, copied into a larger one; an address is an index in it
};

/// What an allocation can be lacking, and how much of the pool is in use.
struct slab_usage {
  std::int64_t units = 0;      ///< in the pool
  std::int64_t allocated = 0;  ///< of them in use
};

/// The part of a bitmap that a warp takes units from, and the warp's copy of it. Belongs to one
/// warp and one kernel. id is the warp's number in the launch: warps with different ids begin at
/// different windows.
template <class Warp>
struct slab_resident {
  lanes_t<Warp, std::uint32_t> words;   // a word of the window for each lane
  lanes_t<Warp, std::uint32_t> window;  // the same in every lane of a sub-warp
  // The way from window to window, which no other warp shares: warps that come to a full window
  // would go on together, meet ever more others, and leave windows beside their way alone.
  lanes_t<Warp, std::uint32_t> stride;

  LANEWISE_FUNCTION slab_resident() {}
  /// Begins with a full window before the first one, so that nothing is read before it is needed.
  LANEWISE_FUNCTION slab_resident(const Warp& warp, std::uint64_t id) : words(~std::uint32_t{0}) {
    window = warp.map([id](std::uint32_t lane) { return hash(id * 64 + lane); }, warp.lane());
    stride = warp.map([id](std::uint32_t lane) { return hash(~(id * 64 + lane)); }, warp.lane());
  }

  /// A sub-warp's part, and back.
  template <class Sub>
  LANEWISE_FUNCTION slab_resident<Sub> take(const Sub& sub) const {
    slab_resident<Sub> part;
    part.words = sub.take(words);
    part.window = sub.take(window);
    part.stride = sub.take(stride);
    return part;
  }
  template <class Sub>
  LANEWISE_FUNCTION void put(const Sub& sub, const slab_resident<Sub>& part) {
    sub.put(words, part.words);
    sub.put(window, part.window);
  }

 private:
  static LANEWISE_FUNCTION std::uint32_t hash(std::uint64_t number) {
    std::uint64_t x = (number + 1) * 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93u;
    return static_cast<std::uint32_t>(x >> 32);
  }
};

/// A pool inside a kernel: copied by value, valid until the pool grows or ends.
///
/// Memory orders: a bit is taken by a relaxed fetch_or, which no two lanes can win, and given back
/// by a release fetch_and. What a unit's former owner wrote is ordered before what its next one
/// reads only if the user orders it: take with acquire (the template argument) to have it so.
///
/// Exhaustion: a warp that finds all windows full announces that, and looks at all of them once
/// more, by acq_rel exchanges that change nothing. A warp that gives a unit of a full word back
/// exchanges that word, too. After that it looks whether there is an announcement to take back.
/// Whichever of the two exchanges comes second sees the other, so that no announcement stays where
/// a unit is free.
template <pool_kind kind>
class slab_pool {
 public:
  slab_pool() = default;
  slab_pool(const detail::super_block* table, const detail::super_block& first,
            std::uint32_t blocks, std::uint32_t* exhausted)
      : table_(table), first_(first), blocks_(blocks), exhausted_(exhausted) {}

  LANEWISE_FUNCTION slab_unit* unit(std::uint32_t address) const {
    if constexpr (kind == pool_kind::light) {
      return first_.units + address;
    } else {
      return table_[address >> detail::super_block_shift].units +
             (address & ((1u << detail::super_block_shift) - 1));
    }
  }

  /// A unit for every active lane, or no_unit where there is none left: then every window has been
  /// looked at. The whole warp calls.
  template <order taken = order::relaxed, class Warp, class Mask>
  LANEWISE_FUNCTION auto allocate(const Warp& warp, slab_resident<Warp>& mine, Mask wanted) const {
    using words = lanes_t<Warp, std::uint32_t>;
    using bits = typename Warp::bits;
    constexpr std::uint32_t width = Warp::width;
    words got(no_unit);
    bits waiting = warp.ballot(wanted);
    std::uint32_t visited = 0;
    bool announced = false;
    while (waiting != 0) {
      const bits open = warp.ballot(mine.words != ~std::uint32_t{0});
      if (open == 0) {
        // A warp that finds all windows full says so, and looks once more for what was freed
        // meanwhile.
        if (!announced && warp.load(*exhausted_) != 0) break;
        if (visited == windows<Warp>()) {
          if (announced) break;
          warp.template store<order::release>(*exhausted_, 1);
          announced = true;
          visited = 0;
        }
        ++visited;
        move_on(warp, mine, announced);
        continue;
      }
      const window_words at = words_of_window(warp, mine);
      // Lane i takes from word i + shift, so that all lanes take at once and the first one surely
      // finds room: in the first open word from one on that is the warp's own, as others take from
      // the same window.
      const std::uint32_t own = warp.broadcast(mine.stride, 0) >> 16 & (width - 1);
      const bits after = open >> own << own;
      const bits nearest = after != 0 ? after : open;
      const words shift(static_cast<std::uint32_t>(Warp::lowest(nearest) - Warp::lowest(waiting)));
      const words word = (warp.lane() + shift) & words(width - 1);
      const words seen = warp.shuffle(mine.words, word);
      const auto tries =
          warp.template mask_of<std::uint32_t>(waiting) & (seen != ~std::uint32_t{0});
      const words bit = ~seen & (seen + words(1));  // the lowest that is not set
      const words before = warp.template fetch_or<taken>(tries, at.words, word, bit);
      const auto won = tries & ((before & bit) == words(0));
      got = lanewise::select(
          won,
          warp.map(
              [a = at.address](std::uint32_t w, std::uint32_t b) { return a + 32 * w + log2(b); },
              word, bit),
          got);
      waiting &= ~warp.ballot(won);
      mine.words = warp.shuffle(lanewise::select(tries, before | bit, seen), warp.lane() - shift);
    }
    if (announced && waiting == 0) warp.store(*exhausted_, 0);
    return got;
  }

  /// One unit for the whole warp.
  template <order taken = order::relaxed, class Warp>
  LANEWISE_FUNCTION std::uint32_t allocate_one(const Warp& warp, slab_resident<Warp>& mine) const {
    return warp.broadcast(allocate<taken>(warp, mine, warp.first(1)), 0);
  }

  /// Gives the active lanes' units back. They must be allocated, and each is given back once.
  template <class Warp, class Mask>
  LANEWISE_FUNCTION void deallocate(const Warp& warp, Mask active,
                                    const lanes_t<Warp, std::uint32_t>& address) const {
    auto unit = address;
    warp.each(
        active, [this](std::uint32_t a) { give_back(typename Warp::template part<1>(), a); }, unit);
  }
  template <class Warp>
  LANEWISE_FUNCTION void deallocate_one(const Warp& warp, std::uint32_t address) const {
    deallocate(warp, warp.first(1), typename Warp::template lanes<std::uint32_t>(address));
  }

 private:
  /// A window's words, and the address of its first unit.
  struct window_words {
    std::uint32_t* words;
    std::uint32_t address;
  };

  template <class Warp>
  LANEWISE_FUNCTION std::uint64_t windows() const {
    static_assert(Warp::width <= 32, "lanewise: slabs need warps of at most 32 lanes");
    return std::uint64_t{blocks_} * (32 / Warp::width);
  }

  template <class Warp>
  LANEWISE_FUNCTION window_words words_of_window(const Warp& warp,
                                                 const slab_resident<Warp>& mine) const {
    constexpr std::uint32_t per_block = 32 / Warp::width;
    const std::uint32_t window = warp.broadcast(mine.window, 0);
    std::uint32_t block = window / per_block;
    const std::uint32_t word = window % per_block * Warp::width;
    if constexpr (kind == pool_kind::light) {
      return {first_.bitmaps + std::uint64_t{block} * 32 + word,
              block * detail::units_per_block + word * 32};
    } else {
      std::uint32_t s = 0;
      while (s + 1 < detail::most_super_blocks && table_[s + 1].first_block <= block) ++s;
      block -= table_[s].first_block;
      return {table_[s].bitmaps + std::uint64_t{block} * 32 + word,
              s << detail::super_block_shift | (block * detail::units_per_block + word * 32)};
    }
  }

  /// The next window, and a fresh look at it. Odd steps modulo a power of two visit all numbers
  /// below it.
  template <class Warp>
  LANEWISE_FUNCTION void move_on(const Warp& warp, slab_resident<Warp>& mine,
                                 bool announced) const {
    using words = lanes_t<Warp, std::uint32_t>;
    const std::uint64_t there_are = windows<Warp>();
    const std::uint64_t below = (~std::uint64_t{0} >> Kokkos::countl_zero(there_are));
    const std::uint64_t stride = warp.broadcast(mine.stride, 0) | 1u;
    std::uint64_t next = warp.broadcast(mine.window, 0);
    do next = (next + stride) & below;
    while (next >= there_are);
    mine.window = words(static_cast<std::uint32_t>(next));
    std::uint32_t* from = words_of_window(warp, mine).words;
    if (announced) {
      mine.words = warp.template fetch_or<order::acq_rel>(warp.first(Warp::width), from,
                                                          warp.lane(), words(0u));
    } else {
      mine.words = warp.load_relaxed(static_cast<const std::uint32_t*>(from));
    }
  }

  template <class Solo>
  LANEWISE_FUNCTION void give_back(const Solo& solo, std::uint32_t address) const {
    std::uint32_t* word;
    if constexpr (kind == pool_kind::light) {
      word = first_.bitmaps + address / 32;
    } else {
      word = table_[address >> detail::super_block_shift].bitmaps +
             (address & ((1u << detail::super_block_shift) - 1)) / 32;
    }
    const std::uint32_t bit = 1u << (address & 31);
    const std::uint32_t before = solo.template fetch_and<order::release>(*word, ~bit);
    if (before != ~std::uint32_t{0}) return;
    solo.template fetch_or<order::acquire>(*word, 0u);
    if (solo.load(*exhausted_) != 0) solo.store(*exhausted_, 0);
  }

  static LANEWISE_FUNCTION std::uint32_t log2(std::uint32_t bit) {
    return static_cast<std::uint32_t>(31 - Kokkos::countl_zero(bit));
  }

  const detail::super_block* table_ = nullptr;
  detail::super_block first_{};
  std::uint32_t blocks_ = 0;
  std::uint32_t* exhausted_ = nullptr;
};

/// The owner of a pool. Units of a fresh pool hold all ones.
///
/// Memory: 128 bytes per unit, and one bit. On the host large pools lie in huge pages.
template <class MemorySpace, pool_kind kind = pool_kind::growing>
class slab_allocator {
 public:
  using memory_space = MemorySpace;
  using pool = slab_pool<kind>;
  /// Units that one pool can have.
  static constexpr std::int64_t most_units = (std::int64_t{1} << 32) - detail::units_per_block;

  /// A pool of at least `units` units, in whole blocks of 1024. **Blocks.** Throws
  /// std::invalid_argument if `units` is more than there can be.
  template <class Exec>
  slab_allocator(const Exec& exec, std::int64_t units) : slab_allocator() {
    detail::expects(units >= 0 && units <= most_units, "slab_allocator: units is ", units,
                    ", it must be 0 to ", most_units);
    add(exec, units > 0 ? units : 1);
  }

  /// Units that there are: none in a pool that was moved from.
  std::int64_t units() const {
    return memory_.empty() ? 0 : std::int64_t{blocks_} * detail::units_per_block;
  }
  /// Throws std::invalid_argument unless `more` units can be added.
  void expects_growth(std::int64_t more) const {
    expects_memory();
    detail::expects(more > 0 && more <= most_units - units(), "slab_allocator: a pool of ", units(),
                    " units cannot grow by ", more, ", the most is ", most_units);
  }

  /// Adds at least `more` units. Those in use stay where they are and keep their addresses; a light
  /// pool is copied. No kernel may be using the pool. **Blocks.** Throws std::invalid_argument
  /// beyond most_units. Whatever it throws, the pool is as before.
  template <class Exec>
  void grow(const Exec& exec, std::int64_t more) {
    expects_growth(more);
    add(exec, more);
  }

  /// For kernels. Valid until the pool grows or ends.
  pool view() const {
    expects_memory();
    return {table_.data()->at, block_at(memory_[0], 0), blocks_, &table_.data()->exhausted};
  }

  /// This pool, with the same addresses, in another memory space. **Blocks.**
  template <class Other, class Exec>
  slab_allocator<Other, kind> copy_to(const Exec& exec) const {
    std::vector<typename slab_allocator<Other, kind>::memory> copies;
    for (const auto& from : memory_) {
      typename slab_allocator<Other, kind>::memory to(
          Kokkos::view_alloc("Lanewise::slab_allocator", Kokkos::WithoutInitializing),
          from.extent(0));
      detail::use_huge_pages<Other>(to.data(), to.size() * sizeof(slab_unit));
      Kokkos::deep_copy(to, from);
      copies.push_back(to);
    }
    return slab_allocator<Other, kind>::adopt(exec, std::move(copies));
  }

  /// A pool's memory, super block by super block: the bitmaps of its blocks, a unit each, and then
  /// 1024 units for each block.
  using memory = Kokkos::View<slab_unit*, MemorySpace>;
  const std::vector<memory>& super_blocks() const { return memory_; }

  /// A pool without units, to be assigned to. It does not grow, and kernels cannot use it; the same
  /// holds of a pool that was moved from. Both throw std::invalid_argument.
  slab_allocator()
      : table_(Kokkos::view_alloc("Lanewise::slab_allocator::table", Kokkos::WithoutInitializing)) {
  }

  /// Takes memory that was laid out by a pool: a copy, or what a file has. **Blocks.**
  template <class Exec>
  static slab_allocator adopt(const Exec& exec, std::vector<memory> super_blocks) {
    slab_allocator pool;
    pool.become(exec, std::move(super_blocks));
    return pool;
  }

  /// Blocks in a super block's memory.
  static std::uint32_t blocks_in(const memory& m) {
    return static_cast<std::uint32_t>(m.extent(0) / (1 + detail::units_per_block));
  }

 private:
  void expects_memory() const {
    detail::expects(!memory_.empty(),
                    "slab_allocator: the pool has 0 units: it was made without a size, or moved "
                    "from");
  }

  template <class Exec>
  void add(const Exec& exec, std::int64_t more) {
    const auto blocks = static_cast<std::uint32_t>(divide_up(more, detail::units_per_block));
    if constexpr (kind == pool_kind::light) {
      become(exec, {copied_into(exec, blocks_ + blocks)});
    } else {
      become(exec, with_more(exec, blocks));
    }
  }

  template <class Exec>
  static memory allocate(const Exec& exec, std::uint32_t blocks) {
    memory m(Kokkos::view_alloc("Lanewise::slab_allocator", Kokkos::WithoutInitializing),
             std::size_t{blocks} * (1 + detail::units_per_block));
    detail::use_huge_pages<MemorySpace>(m.data(), m.size() * sizeof(slab_unit));
    auto* words = reinterpret_cast<std::uint64_t*>(m.data());
    constexpr std::size_t per_unit = sizeof(slab_unit) / sizeof(*words);
    detail::fill_words<MemorySpace>(exec, words, blocks * per_unit, 0);
    detail::fill_words<MemorySpace>(exec, words + blocks * per_unit, (m.size() - blocks) * per_unit,
                                    ~std::uint64_t{0});
    return m;
  }

  /// A larger array with everything that a light pool has.
  template <class Exec>
  memory copied_into(const Exec& exec, std::uint32_t blocks) const {
    const memory larger = allocate(exec, blocks);
    if (memory_.empty()) return larger;
    detail::copy_units(exec, larger, memory_[0], 0, 0, blocks_);
    detail::copy_units(exec, larger, memory_[0], blocks, blocks_,
                       std::size_t{blocks_} * detail::units_per_block);
    return larger;
  }

  /// The super blocks that there are, and further ones.
  template <class Exec>
  std::vector<memory> with_more(const Exec& exec, std::uint32_t blocks) const {
    // The last block of the last super block would have the address that means no unit.
    const std::int64_t room =
        static_cast<std::int64_t>(detail::most_super_blocks - memory_.size()) *
            detail::blocks_per_super_block -
        1;
    detail::expects(blocks <= room, "slab_allocator: ", memory_.size(),
                    " of 256 super blocks leave room for ", room, " blocks, not for ", blocks);
    std::vector<memory> all = memory_;
    while (blocks > 0) {
      const std::uint32_t here =
          blocks < detail::blocks_per_super_block ? blocks : detail::blocks_per_super_block;
      all.push_back(allocate(exec, here));
      blocks -= here;
    }
    return all;
  }

  static detail::super_block block_at(const memory& m, std::uint32_t first_block) {
    return {m.data()->word, m.data() + blocks_in(m), first_block};
  }

  /// Makes these the pool's super blocks; they begin with the pool's own, or with a copy.
  ///
  /// The table is written while the pool still counts the blocks it had, since writing it can
  /// throw. Kernels do not see the difference: they look up blocks that are counted, and units in
  /// use. Then nothing throws.
  template <class Exec>
  void become(const Exec& exec, std::vector<memory> super_blocks) {
    detail::super_block_table table{};
    std::uint32_t blocks = 0;
    for (std::size_t s = 0; s < detail::most_super_blocks; ++s) {
      const bool exists = s < super_blocks.size();
      table.at[s] = exists ? block_at(super_blocks[s], blocks)
                           : detail::super_block{nullptr, nullptr, ~std::uint32_t{0}};
      blocks += exists ? blocks_in(super_blocks[s]) : 0;
    }
    exec.fence("Lanewise::slab_allocator: the pool changes");
    Kokkos::deep_copy(
        table_,
        Kokkos::View<const detail::super_block_table, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
            &table));
    memory_.swap(super_blocks);
    blocks_ = blocks;
  }

  std::vector<memory> memory_;
  std::uint32_t blocks_ = 0;
  Kokkos::View<detail::super_block_table, MemorySpace> table_;
};

LANEWISE_END_NAMESPACE

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

/// Counters that a kernel adds to and the host then reads.
template <class Exec>
class counters {
 public:
  using numbers = Kokkos::Array<std::uint64_t, 12>;

  explicit counters(const Exec& exec) { backend_of<Exec>::zero(exec, data(), sizeof(numbers)); }
  std::uint64_t* data() const { return reinterpret_cast<std::uint64_t*>(view_.data()); }
  numbers read(const Exec& exec) const {
    exec.fence("Lanewise::slab: counters are read");
    numbers values{};
    detail::copy_to_host<numbers>(exec, &values, view_.data());
    return values;
  }

 private:
  Kokkos::View<numbers, typename Exec::memory_space> view_{
      Kokkos::view_alloc("Lanewise::slab::counters", Kokkos::WithoutInitializing)};
};

/// Adds to sum how many bits of the words are set, of a pool's bitmaps less than 2^32. It has a
/// fifth of the instructions of reduce.
struct count_bits_kernel {
  struct policy : launch_policy {};
  template <class Team>
  struct scratch {};

  const std::uint32_t* words;
  std::int64_t n;
  std::uint64_t* sum;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    constexpr int width = warp_type::width;
    const auto warp = team.warp();
    const index_range mine = team.share(divide_up(n, width));
    lanes_t<warp_type, std::uint32_t> bits(0u);
    for (std::int64_t w = mine.begin + team.warp_index(); w < mine.end; w += Team::warps) {
      const std::int64_t left = n - w * width;
      const auto exist = warp.first(left);
      bits = bits + warp.map(
                        [](std::uint32_t word) {
                          return static_cast<std::uint32_t>(warp_type::popcount(word));
                        },
                        warp.load(exist, words + w * width, 0u));
    }
    const std::uint32_t all = warp.reduce(bits, plus{});
    if (all != 0) warp.fetch_add(*sum, std::uint64_t{all});
  }
};

}  // namespace kernels

/// How many units there are and are in use. One read of the bitmaps. No kernel may be changing
/// them. **Blocks.**
template <class Exec, class MemorySpace, pool_kind kind>
slab_usage usage(const Exec& exec, const slab_allocator<MemorySpace, kind>& allocator) {
  using kernel = kernels::count_bits_kernel;
  static_assert(Kokkos::SpaceAccessibility<typename Exec::memory_space, MemorySpace>::accessible,
                "lanewise: this execution space cannot reach the memory of a slab allocator");
  const kernels::counters<Exec> set(exec);
  for (const auto& m : allocator.super_blocks()) {
    const std::int64_t words = std::int64_t{allocator.blocks_in(m)} * 32;
    const auto league = backend_of<Exec>::template resident_league<kernel>(
        exec,
        lanewise::divide_up(words, warp_t<Exec>::width * team_t<Exec, kernel::policy>::warps));
    lanewise::launch(exec, "Lanewise::slab_allocator::usage", league,
                     kernel{m.data()->word, words, set.data()});
  }
  return {allocator.units(), static_cast<std::int64_t>(set.read(exec)[0])};
}

LANEWISE_END_TARGET_NAMESPACE
