// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/call/workspace.hpp>
#include <lanewise/sort/detail/host/host_radix_range.hpp>
#include <lanewise/tile/split_tile.hpp>
#include <lanewise/tile/stream/tile.hpp>

#include <bit>
#include <cstdint>
#include <tuple>
#include <utility>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// What a team does next of a job: its chunks [begin, end) are counted, placed or copied, or its
/// buckets [begin, end) sorted.
struct host_sort_task {
  enum kind_type : std::int32_t { count, place, copy, sort };
  std::int32_t job;
  kind_type kind;
  std::int64_t begin;
  std::int64_t end;
};

/// The array that holds the items of a range.
enum class sort_array : std::int32_t { input, temporary, output };

/// Cuts keys into a job's buckets: equal parts of [low, low + (parts << shift)), the power of two
/// that holds a sample. The first and the last one also take what lies below and above, unless that
/// range is all there is.
template <class Bits>
struct host_sort_buckets {
  Bits low;
  Bits high;
  int shift;
  std::uint32_t parts;

  LANEWISE_FUNCTION static host_sort_buckets of(Bits low, Bits high, std::int64_t wanted) {
    const int length = detail::bit_length(static_cast<Bits>(low ^ high));
    int bits = bit_length(static_cast<std::uint64_t>(wanted)) - 1;
    bits = bits < length ? bits : length;
    const Bits differ = length == 0
                            ? Bits{0}
                            : static_cast<Bits>(static_cast<Bits>(~Bits{0}) >>
                                                (static_cast<int>(sizeof(Bits) * 8) - length));
    return {static_cast<Bits>(low & static_cast<Bits>(~differ)), static_cast<Bits>(high | differ),
            length - bits, std::uint32_t{1} << bits};
  }
  /// What is below a value, the value, and what is above.
  LANEWISE_FUNCTION static host_sort_buckets around(Bits x) {
    const auto low = static_cast<Bits>(x - (x > 0 ? 1 : 0));
    const auto high = static_cast<Bits>(x + (x < static_cast<Bits>(~Bits{0}) ? 1 : 0));
    return {low, high, 0, static_cast<std::uint32_t>(high - low) + 1};
  }
  LANEWISE_FUNCTION bool takes_all() const {
    return low == 0 && high == static_cast<Bits>(~Bits{0});
  }
  LANEWISE_FUNCTION bool spans(Bits k) const { return low <= k && k <= high; }
  LANEWISE_FUNCTION std::uint32_t operator()(Bits k) const {
    k = k < low ? low : k;
    k = high < k ? high : k;
    return static_cast<std::uint32_t>(static_cast<Bits>(k - low) >> shift);
  }
};

/// The bucket of an item.
template <class Key, bool takes_all>
struct host_sort_bucket_of {
  using bits_type = typename Key::bits_type;
  Key key;
  host_sort_buckets<bits_type> bucket;

  template <class Item>
  LANEWISE_FUNCTION std::uint32_t operator()(const Item& x) const {
    if constexpr (takes_all) return static_cast<std::uint32_t>(key(x) >> bucket.shift);
    if constexpr (!takes_all) return bucket(key(x));
  }
};

/// A range that is too large for one team: all cut it into buckets, by the highest bits in which a
/// sample differs, or by cells if keys gather.
template <class Bits>
struct parallel_partition {
  std::int64_t begin;
  std::int64_t end;
  sort_array from;
  int depth;
  host_sort_buckets<Bits> bucket;
  key_cells<Bits>* cells;  // or null
  std::int64_t chunks;     // runs of tiles
  std::uint32_t* tile_counts;
  std::int64_t* counts;    // of every chunk a row; then where its items go
  std::int64_t* first;     // where the buckets begin, and the last one ends
  std::uint32_t counting;  // chunks that are not counted yet
  std::uint32_t placing;
  std::uint32_t unordered;

  LANEWISE_FUNCTION std::int64_t size() const { return end - begin; }
  LANEWISE_FUNCTION std::uint32_t buckets() const { return bucket.parts; }
  LANEWISE_FUNCTION sort_array to() const {
    return from == sort_array::temporary ? sort_array::output : sort_array::temporary;
  }
};

/// Sizes that follow from the number of items alone.
struct host_sort_plan {
  static constexpr std::int64_t most_parts = most_buckets;
  static constexpr std::int64_t most_chunks = 256;
  static constexpr int most_jobs = 256;
  static constexpr int most_depth = 6;
  static constexpr std::int64_t cells = sizeof(key_cells<std::uint64_t>) / 8;  // entries of a job

  std::int64_t n;
  std::int64_t tile;   // items that a team cuts at a time
  std::int64_t piece;  // items of a bucket that a team sorts in its nearest cache

  LANEWISE_FUNCTION host_sort_plan(std::int64_t items, std::size_t bytes, std::int64_t most_tile)
      : n(items), tile(divide_up(n, 64)), piece(divide_up(n, 32)) {
    // Each task costs all teams that wait for it.
    const std::int64_t size = static_cast<std::int64_t>(bytes), share = divide_up(n, 16);
    const std::int64_t least_tile = share < 4096 ? share : 4096, most = (1 << 15) / size;
    if (tile < least_tile) tile = least_tile;
    if (tile < 4096 / size) tile = 4096 / size;
    if (tile > most_tile) tile = most_tile;
    if (piece > most) piece = most;
    if (piece < 512) piece = 512;
  }
  /// One team needs no more than it can sort without a further cut.
  LANEWISE_FUNCTION std::int64_t parts(std::int64_t size, std::int64_t teams) const {
    const std::int64_t wanted = size / (teams == 1 ? 4 * piece : piece);
    return wanted < 32 ? 32 : wanted > most_parts ? most_parts : wanted;
  }
  LANEWISE_FUNCTION std::int64_t tiles(std::int64_t size) const { return divide_up(size, tile); }
  LANEWISE_FUNCTION std::int64_t chunks(std::int64_t size, std::int64_t wanted) const {
    const std::int64_t some = tiles(size), most = wanted < most_chunks ? wanted : most_chunks;
    return some < most ? some : most;
  }
  /// A bucket of more is cut by all teams.
  LANEWISE_FUNCTION std::int64_t most_alone(std::int64_t teams) const {
    if (teams == 1) return 32 * piece;
    const std::int64_t part = n / (4 * teams), least = piece > 1024 ? 2 * piece : 2048;
    return part > least ? part : least;
  }
  /// The most tasks of a job.
  LANEWISE_FUNCTION std::int64_t tasks(std::int64_t size, std::int64_t chunks) const {
    return 2 * chunks + 4 * (size / piece) + 4;
  }
  /// The counters of a job, in entries of 8 bytes.
  LANEWISE_FUNCTION std::int64_t counters(std::int64_t size, std::int64_t chunks,
                                          std::int64_t buckets) const {
    return (chunks + 1) * buckets + 1 + divide_up(tiles(size) * buckets, 2) + cells;
  }
  // What memory is for: the first job in as many chunks as there may be, and others. A range for
  // which there is none left is sorted by one team.
  LANEWISE_FUNCTION std::int64_t task_places() const {
    return 4 * tasks(n, chunks(n, most_chunks)) + 256;
  }
  LANEWISE_FUNCTION std::int64_t counter_places() const {
    return 3 * counters(n, chunks(n, most_chunks), parts(n, 2)) + 1024;
  }
};

/// Tiles are 2^14 keys of 4 bytes. (16 cores of a Xeon, 2^20 and 2^26 u32: 1.65 and 1.3 Gkeys/s,
/// with twice as many 1.4 and 1.1.)
struct host_sort_policy : launch_policy {
  static constexpr std::int64_t host_tile_bytes = 64 << 10;
};

/// What teams share: tasks that are handed out in the order in which they are pushed. A team that
/// has drawn a ticket waits for its task until there is one or all tasks are done. Who waits, waits
/// for teams that run.
template <class Bits>
struct task_queue {
  struct control {
    std::int64_t n;
    alignas(64) std::uint32_t drawn;
    alignas(64) std::uint32_t pushed;
    alignas(64) std::uint32_t pending;  // pushed and not done
    alignas(64) std::uint32_t promised;
    std::uint32_t jobs;
    std::uint64_t counters;
  };

  control* shared;
  std::uint32_t* ready;
  host_sort_task* tasks;
  parallel_partition<Bits>* jobs;
  std::int64_t* counters;
  std::int64_t task_places;
  std::int64_t counter_places;

  static constexpr std::size_t round_up(std::size_t bytes) { return (bytes + 63) / 64 * 64; }
  static std::size_t bytes(const host_sort_plan& plan) {
    return task_queue().lay_out(plan, nullptr);
  }

  /// Returns how many bytes it takes.
  std::size_t lay_out(const host_sort_plan& plan, char* memory) {
    std::size_t at = 0;
    const auto next = [&]<class T>(T*& array, std::size_t size) {
      array = reinterpret_cast<T*>(memory + at);
      at += round_up(size * sizeof(T));
    };
    task_places = plan.task_places();
    counter_places = plan.counter_places();
    next(shared, 1);
    next(ready, static_cast<std::size_t>(task_places));
    next(tasks, static_cast<std::size_t>(task_places));
    next(jobs, host_sort_plan::most_jobs);
    next(counters, static_cast<std::size_t>(counter_places));
    return at;
  }

  template <class W>
  LANEWISE_FUNCTION void clear(const W& warp, std::int64_t n) const {
    warp.once([&] {
      *shared = {};
      shared->n = n;
      for (std::int64_t t = 0; t < task_places; ++t) ready[t] = 0;
    });
  }
  template <class W>
  LANEWISE_FUNCTION void push(const W& warp, const host_sort_task* some,
                              std::uint32_t count) const {
    if (count == 0) return;
    warp.fetch_add(shared->pending, count);
    const std::uint32_t first = warp.fetch_add(shared->pushed, count);
    for (std::uint32_t i = 0; i < count; ++i) {
      warp.once([&] { tasks[first + i] = some[i]; });
      warp.template store<order::release>(ready[first + i], 1);
    }
  }
  bool has_tasks() const { return shared->pushed > 0; }
  /// False when all is done.
  template <class W>
  LANEWISE_FUNCTION bool draw(const W& warp, host_sort_task& task) const {
    const std::uint32_t ticket = warp.fetch_add(shared->drawn, 1);
    while (ticket >= task_places || warp.template load<order::acquire>(ready[ticket]) == 0) {
      if (warp.template load<order::acquire>(shared->pending) == 0) return false;
      warp.pause();
    }
    task = tasks[ticket];
    return true;
  }
  template <class W>
  LANEWISE_FUNCTION void done(const W& warp) const {
    warp.template fetch_add<order::acq_rel>(shared->pending, ~std::uint32_t{0});
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// Sorts items by all teams, with what they share on the board. The first team, alone, clears the
/// board and pushes the first job; then all teams run until all is done.
template <class Item, class Value, class Key>
struct host_sort_kernel {
  using bits_type = typename Key::bits_type;
  using place = detail::sort_place<Item, Value>;
  using job_type = detail::parallel_partition<bits_type>;
  using task = detail::host_sort_task;
  using array = detail::sort_array;
  using plan_type = detail::host_sort_plan;
  using cells_type = detail::key_cells<bits_type>;
  using buckets_type = detail::host_sort_buckets<bits_type>;
  static constexpr bool has_values = place::has_values;
  static constexpr bool has_cells = sizeof(bits_type) <= 8;

  static constexpr int value_bytes = has_values ? static_cast<int>(sizeof(Value)) : 0;

  using policy = detail::host_sort_policy;

  static constexpr std::int64_t most_tile = detail::host_tile_items<Item, policy>;
  template <class Team>
  using range_sort = detail::host_range_sort<Team, Item, Value, Key>;
  template <class Team>
  struct split : detail::host_split_tile<Team, Item, policy, most_tile> {};
  static constexpr std::uint32_t most_pushed = 32;
  static constexpr std::int64_t sampled = cells_type::sampled;
  /// One thread sorts up to this number of items if they lie in few runs.
  static constexpr std::int64_t few_in_runs = std::int64_t{1} << 14;

  template <class Team>
  struct scratch {
    union {
      typename range_sort<Team>::scratch range;
      typename split<Team>::template scratch<value_bytes> tile;
    };
    task pushed[most_pushed];
    std::uint32_t written;
  };

  Key key;
  place in;
  place out;
  place temporary;
  item_count count;
  std::int64_t bound;
  std::int64_t few;    // one team sorts up to this number of items
  std::int64_t teams;  // that run
  detail::task_queue<bits_type> board;
  bool begins;  // the launch of one team that begins

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const auto warp = team.warp();
    if (begins) {
      const std::int64_t n = count();
      if (bound > few) board.clear(warp, n);
      begin(team, shared, n);
      return;
    }
    task next;
    while (board.draw(warp, next)) {
      run(team, shared, next);
      team.barrier();
      board.done(warp);
    }
  }

  /// Up to few_items(threads) items are sorted by one thread, in one launch. (16 cores of a Xeon,
  /// AVX2, 2^13 u64: 28 to 60 us, by one thread 50 to 140.) A thread that is alone cuts more into
  /// tiles first, as many threads do: four parts at a time are many passes. (Zen 3, AVX2, 2^20 keys
  /// of 4 and 8 bytes: 6.7 and 11.3 ns a key, by four parts 7.6 and 18.4.)
  static std::int64_t few_items(std::int64_t threads) {
    if (threads > 1) {
      const std::int64_t some = (std::int64_t{1} << 15) / threads;
      return some < 2048 ? 2048 : some;
    }
    return (std::int64_t{1} << (Key::takes_all && sizeof(Item) == 4 ? 20 : 19)) /
           static_cast<std::int64_t>(sizeof(Item) + value_bytes);
  }

 private:
  LANEWISE_FUNCTION const place& at(array which) const {
    return which == array::input ? in : which == array::output ? out : temporary;
  }
  LANEWISE_FUNCTION plan_type plan() const {
    return {bound, sizeof(Item) + value_bytes, most_tile};
  }
  /// One thread sorts up to this number of items if they are spread evenly.
  LANEWISE_FUNCTION std::int64_t few_even() const {
    return few * 8 / static_cast<std::int64_t>(sizeof(Item));
  }
  template <class Team>
  LANEWISE_FUNCTION range_sort<Team> sorter(const Team& team, scratch<Team>& shared) const {
    return {team, shared.range, key};
  }

  /// Sorts few items, or begins the first job.
  template <class Team>
  LANEWISE_FUNCTION void begin(const Team& team, scratch<Team>& shared, std::int64_t n) const {
    if (n <= few) {
      if (n > 0) sorter(team, shared).sort(in, n, out, temporary);
      return;
    }
    const auto sort = sorter(team, shared);
    if (n <= few_in_runs && sort.sort_runs(in, n, out, temporary)) return;
    if (n <= few_even() && sort.sort_evenly(in, n, out)) return;
    const array first = in == temporary ? array::temporary : array::input;
    if (!begin_job(team, shared, 0, n, first, 0)) sort_alone(team, shared, 0, n, first);
  }
  template <class Team>
  LANEWISE_FUNCTION void sort_alone(const Team& team, scratch<Team>& shared, std::int64_t begin,
                                    std::int64_t end, array from) const {
    sorter(team, shared).sort(at(from) + begin, end - begin, out + begin, temporary + begin);
  }

  /// Begins to cut a range by all teams. Returns false if there is no memory left for that.
  template <class Team>
  LANEWISE_LOOP_FUNCTION bool begin_job(const Team& team, scratch<Team>& shared, std::int64_t begin,
                                        std::int64_t end, array from, int depth) const {
    const auto warp = team.warp();
    const std::int64_t size = end - begin;
    const plan_type sizes = plan();
    const std::int64_t chunks = sizes.chunks(size, teams == 1 ? 1 : 4 * teams);
    bits_type found[sampled];
    sample(at(from).keys + begin, size, found);
    buckets_type bucket = spanned(found, sizes.parts(size, teams), [](bits_type) { return true; });
    auto [fullest, most] = fullest_bucket(found, bucket);
    // One team cuts what is uneven by samples, in as many steps as it takes.
    if (teams == 1 && most > sampled / 2) return false;
    // What nearly all keys span is cut; the rest goes to the outer buckets.
    while (bucket.parts > 3 && most > sampled - sampled / 8) {
      const auto inside = [&, b = fullest](bits_type k) {
        return bucket.spans(k) && bucket(k) == b;
      };
      bucket = spanned(found, sizes.parts(size, teams), inside);
      std::tie(fullest, most) = fullest_bucket(found, bucket);
    }
    cells_type cut;
    bool by_cells = false;
    if constexpr (has_cells) {
      // One bucket has more than half of a team's share, and than three buckets' shares.
      by_cells = bucket.parts > 3 && most > sampled / (2 * teams) + 3 * sampled / bucket.parts &&
                 cut.cut(found, bucket.parts, static_cast<std::uint32_t>(most / 2));
    }
    // Few values have most of the items.
    if (teams > 1 && size <= 2 * few_even() && !by_cells && most > sampled / 4) return false;
    const std::int64_t buckets = bucket.parts;
    const auto rows = static_cast<std::uint64_t>(sizes.counters(size, chunks, buckets));
    const auto tasks = static_cast<std::uint32_t>(sizes.tasks(size, chunks));
    if (depth > plan_type::most_depth) return false;
    const std::uint32_t promised = warp.fetch_add(board.shared->promised, tasks);
    if (promised + std::int64_t{tasks} > board.task_places) {
      warp.fetch_add(board.shared->promised, ~tasks + 1);
      return false;
    }
    const std::uint64_t row = warp.fetch_add(board.shared->counters, rows);
    if (row + rows > static_cast<std::uint64_t>(board.counter_places)) return false;
    const std::uint32_t number = warp.fetch_add(board.shared->jobs, 1);
    if (number >= static_cast<std::uint32_t>(plan_type::most_jobs)) return false;
    std::int64_t* const counts = board.counters + row;
    auto* const cells =
        by_cells ? reinterpret_cast<cells_type*>(counts + rows - plan_type::cells) : nullptr;
    warp.once([&] {
      if (by_cells) *cells = cut;
      board.jobs[number] = {begin,
                            end,
                            from,
                            depth,
                            bucket,
                            cells,
                            chunks,
                            reinterpret_cast<std::uint32_t*>(counts + (chunks + 1) * buckets + 1),
                            counts,
                            counts + chunks * buckets,
                            static_cast<std::uint32_t>(chunks),
                            static_cast<std::uint32_t>(chunks),
                            0};
    });
    push_chunks(team, shared, number, task::count, chunks);
    return true;
  }

  template <class Team>
  LANEWISE_FUNCTION void push_chunks(const Team& team, scratch<Team>& shared, std::uint32_t number,
                                     task::kind_type kind, std::int64_t chunks) const {
    for (std::int64_t c = 0; c < chunks;) {
      std::uint32_t some = 0;
      for (; some < most_pushed && c < chunks; ++some, ++c)
        shared.pushed[some] = {static_cast<std::int32_t>(number), kind, c, c + 1};
      board.push(team.warp(), shared.pushed, some);
    }
  }

  LANEWISE_LOOP_FUNCTION void sample(const Item* items, std::int64_t n,
                                     bits_type (&found)[sampled]) const {
    for (std::int64_t i = 0; i < sampled; ++i)
      found[i] = key(items[detail::sampled_at(i, n / sampled)]);
  }
  /// Equal parts of what those of a sample span that are inside; three parts around a single value.
  template <class Inside>
  static LANEWISE_LOOP_FUNCTION buckets_type spanned(const bits_type (&found)[sampled],
                                                     std::int64_t parts, const Inside& inside) {
    bits_type low = static_cast<bits_type>(~bits_type{0}), high = 0;
    for (const bits_type k : found) {
      low = inside(k) && k < low ? k : low;
      high = inside(k) && high < k ? k : high;
    }
    return low == high ? buckets_type::around(low) : buckets_type::of(low, high, parts);
  }
  /// The bucket that has most of a sample's keys inside all of them, and how many these are.
  static LANEWISE_LOOP_FUNCTION std::pair<std::uint32_t, std::int64_t> fullest_bucket(
      const bits_type (&found)[sampled], buckets_type bucket) {
    std::int64_t count[most_buckets] = {};
    std::uint32_t fullest = 0;
    for (const bits_type k : found) {
      const std::uint32_t b = bucket(k);
      count[b] += bucket.spans(k) ? 1 : 0;
      if (count[b] > count[fullest]) fullest = b;
    }
    return {fullest, count[fullest]};
  }

  template <class Team>
  LANEWISE_FUNCTION void run(const Team& team, scratch<Team>& shared, const task& what) const {
    job_type& job = board.jobs[what.job];
    const auto number = static_cast<std::uint32_t>(what.job);
    const plan_type sizes = plan();
    const index_range tiles = lanewise::even_share(sizes.tiles(job.size()), what.begin, job.chunks);
    std::int64_t* const row = job.counts + what.begin * job.buckets();
    const auto tile = [&](std::int64_t t) {
      const std::int64_t begin = t * sizes.tile, end = begin + sizes.tile;
      return index_range{job.begin + begin, end < job.size() ? job.begin + end : job.end};
    };
    if (what.kind == task::count) {
      const auto count_all = [&](const auto& bucket) {
        return count_tiles(team, shared, job, tiles, tile, row, bucket);
      };
      if (with_bucket_of(job, count_all)) team.warp().fetch_or(job.unordered, 1);
      if (is_last(team, shared, job.counting)) end_counting(team, shared, job, number);
    } else if (what.kind == task::place) {
      with_bucket_of(job, [&](const auto& bucket) {
        place_tiles(team, shared, job, tiles, tile, row, bucket);
      });
      if (is_last(team, shared, job.placing)) end_placing(team, shared, job, number);
    } else if (what.kind == task::copy) {
      const std::int64_t begin = tile(tiles.begin).begin, end = tile(tiles.end - 1).end;
      (out + begin).copy(at(job.from) + begin, end - begin);
    } else {
      for (std::int64_t b = what.begin; b < what.end; ++b)
        sort_alone(team, shared, job.first[b], job.first[b + 1], job.to());
    }
  }

  /// Whether all chunks of the job are done now.
  template <class Team>
  LANEWISE_FUNCTION bool is_last(const Team& team, scratch<Team>& shared,
                                 std::uint32_t& left) const {
    // What was written past the caches comes first.
    team.warp().template store<order::release>(shared.written, 1);
    return team.warp().template fetch_add<order::acq_rel>(left, ~std::uint32_t{0}) == 1;
  }

  template <class Team>
  LANEWISE_FUNCTION void end_counting(const Team& team, scratch<Team>& shared, job_type& job,
                                      std::uint32_t number) const {
    if (team.warp().load(job.unordered) == 0) {
      if (!(at(job.from) == out)) push_chunks(team, shared, number, task::copy, job.chunks);
      return;
    }
    team.warp().once([&] { add_up(job); });
    push_chunks(team, shared, number, task::place, job.chunks);
  }

  static LANEWISE_LOOP_FUNCTION void add_up(const job_type& job) {
    const std::int64_t buckets = job.buckets();
    std::int64_t* const first = job.first;
    for (std::int64_t b = 0; b <= buckets; ++b) first[b] = 0;
    for (std::int64_t c = 0; c < job.chunks; ++c) {
      for (std::int64_t b = 0; b < buckets; ++b) first[b] += job.counts[c * buckets + b];
    }
    std::int64_t before = job.begin;
    for (std::int64_t b = 0; b <= buckets; ++b) {
      const std::int64_t here = first[b];
      first[b] = before;
      before += here;
    }
    for (std::int64_t c = 0; c < job.chunks; ++c) {
      for (std::int64_t b = 0; b < buckets; ++b) {
        std::int64_t& count = job.counts[c * buckets + b];
        const std::int64_t here = count;
        count = first[b];
        first[b] += here;
      }
    }
    for (std::int64_t b = buckets; b > 0; --b) first[b] = first[b - 1];
    first[0] = job.begin;
  }

  /// Buckets in groups for one team, or as jobs of their own.
  template <class Team>
  LANEWISE_FUNCTION void end_placing(const Team& team, scratch<Team>& shared, const job_type& job,
                                     std::uint32_t number) const {
    const plan_type sizes = plan();
    const std::int64_t alone = sizes.most_alone(teams), buckets = job.buckets();
    std::uint32_t waiting = 0;
    const auto push = [&](std::int64_t begin, std::int64_t end) {
      if (begin == end) return;
      shared.pushed[waiting++] = {static_cast<std::int32_t>(number), task::sort, begin, end};
      if (waiting < most_pushed) return;
      board.push(team.warp(), shared.pushed, waiting);
      waiting = 0;
    };
    // Large ones first.
    std::int64_t begin = 0;
    for (std::int64_t b = 0; b < buckets; ++b) {
      const std::int64_t size = job.first[b + 1] - job.first[b];
      if (size > alone) {
        push(begin, b);
        begin = b + 1;
        board.push(team.warp(), shared.pushed, waiting);
        waiting = 0;
        if (!begin_job(team, shared, job.first[b], job.first[b + 1], job.to(), job.depth + 1))
          push(b, b + 1);
      } else if (job.first[b + 1] - job.first[begin] >= sizes.piece) {
        push(begin, b + 1);
        begin = b + 1;
      }
    }
    push(begin, buckets);
    board.push(team.warp(), shared.pushed, waiting);
  }

  template <class F>
  LANEWISE_FUNCTION auto with_bucket_of(const job_type& job, const F& f) const {
    if constexpr (has_cells) {
      if (job.cells != nullptr)
        return f([cells = job.cells, key = key](const Item& x)
                     LANEWISE_INLINE_LAMBDA { return (*cells)(key(x)); });
    }
    if (job.bucket.takes_all()) return f(detail::host_sort_bucket_of<Key, true>{key, job.bucket});
    return f(detail::host_sort_bucket_of<Key, false>{key, job.bucket});
  }
  LANEWISE_FUNCTION static array_source<Item, identity> source(const place& from,
                                                               const job_type& job) {
    return {from.keys, job.end, identity{}};
  }

  /// Returns whether items are out of order, also with the one before the chunk. Tiles in
  /// order whose ends are in one bucket are counted at once.
  template <class Team, class TileOf, class BucketOf>
  LANEWISE_FUNCTION bool count_tiles(const Team& team, scratch<Team>& shared, const job_type& job,
                                     const index_range& tiles, const TileOf& tile_of,
                                     std::int64_t* row, const BucketOf& bucket) const {
    const std::uint32_t buckets = job.buckets();
    const Item* const items = at(job.from).keys;
    for (std::uint32_t b = 0; b < buckets; ++b) row[b] = 0;
    bool ordered = true;
    for (std::int64_t t = tiles.begin; t < tiles.end; ++t) {
      const index_range tile = tile_of(t);
      const std::int64_t size = tile.end - tile.begin, before = t > 0 ? 1 : 0;
      std::uint32_t* const counts = job.tile_counts + t * buckets;
      const Item* const first = items + tile.begin;
      const auto sort = sorter(team, shared);
      const bool in_order = sort.in_order(first, size) == size;
      ordered = ordered && in_order && (before == 0 || sort.in_order(first - 1, 2) == 2);
      if (in_order && bucket(first[0]) == bucket(first[size - 1])) {
        for (std::uint32_t b = 0; b < buckets; ++b) counts[b] = 0;
        counts[bucket(first[0])] = static_cast<std::uint32_t>(size);
      } else {
        split<Team>::count_items(shared.tile.count, source(at(job.from), job), tile, bucket,
                                 buckets);
        for (std::uint32_t b = 0; b < buckets; ++b) counts[b] = shared.tile.count[0][b];
      }
      for (std::uint32_t b = 0; b < buckets; ++b) row[b] += counts[b];
    }
    return !ordered;
  }

  template <class Team, class TileOf, class BucketOf>
  LANEWISE_FUNCTION void place_tiles(const Team& team, scratch<Team>& shared, const job_type& job,
                                     const index_range& tiles, const TileOf& tile_of,
                                     const std::int64_t* row, const BucketOf& bucket) const {
    const std::uint32_t buckets = job.buckets();
    const auto warp = team.warp();
    const place &from = at(job.from), &to = at(job.to());
    const array_sink<Item> sink{to.keys, job.end};
    const auto place_all = [&](const auto& values, const auto& value_sink) {
      for (std::uint32_t b = 0; b < buckets; ++b) shared.tile.place[b] = row[b];
      split<Team>::begin(shared.tile, buckets);
      for (std::int64_t t = tiles.begin; t < tiles.end; ++t) {
        split<Team>::place_items(warp, shared.tile, source(from, job), tile_of(t), job.size(),
                                 bucket, buckets, job.tile_counts + t * buckets, sink, values,
                                 value_sink);
        warp.fence();
      }
      split<Team>::flush(shared.tile, buckets, sink, values, value_sink);
    };
    if constexpr (has_values) {
      place_all(array_source<Value, identity>{from.values, job.end, identity{}},
                array_sink<Value>{to.values, job.end});
    } else {
      place_all(nullptr, nullptr);
    }
  }
};

/// The arrays of a sort. Values are null where Value is no_value.
///
///   in         read, and never written unless it is another array, too
///   out        receives the result: all of n items; what is there before the end is unspecified
///   temporary  room for n items; none is kept. It may be `in` where `in` is not `out`
///
/// `in` and `out` are the same array, or do not overlap, of keys and of values.
template <class Item, class Value>
struct host_sort_arrays {
  const Item* keys_in;
  Item* keys_out;
  Item* keys_temporary;
  const Value* values_in = nullptr;
  Value* values_out = nullptr;
  Value* values_temporary = nullptr;

  /// These arrays with keys and values that both are in place, or both are not: what was not is
  /// copied.
  host_sort_arrays alike(std::int64_t n) const {
    host_sort_arrays all = *this;
    if constexpr (!std::is_same_v<Value, no_value>) {
      const auto items = static_cast<std::size_t>(n);
      if ((keys_in == keys_out) == (values_in == values_out) || n <= 0) return all;
      if (keys_in != keys_out) {
        std::memcpy(keys_out, keys_in, items * sizeof(Item));
        all.keys_in = keys_out;
      } else {
        std::memcpy(values_out, values_in, items * sizeof(Value));
        all.values_in = values_out;
      }
    }
    return all;
  }
};

template <class Item, class Value>
detail::host_sort_plan host_sort_plan_of(std::int64_t n) {
  return {n, sizeof(Item) + (std::is_same_v<Value, no_value> ? 0 : sizeof(Value)),
          detail::host_tile_items<Item, detail::host_sort_policy>};
}

/// Bytes that host_radix_sort needs beside the arrays, for up to n items; aligned to 64.
template <class KeyOf, class Item, class Value>
std::size_t host_radix_sort_bytes(std::int64_t n) {
  using bits = typename detail::sort_key<KeyOf, Item, false>::bits_type;
  return detail::task_queue<bits>::bytes(kernels::host_sort_plan_of<Item, Value>(n));
}

/// Sorts n() items by a sort_key; items with equal keys keep their order unless the key is plain.
/// One launch for few items. Otherwise one team takes a sample. In a second launch all teams cut
/// ranges that are too large for one of them, until all buckets are sorted. A cut makes up to 256
/// buckets by the highest bits that differ, or by cells if keys gather. 3 n reads and 2 n writes of
/// keys; fewer reads where they are in order. memory: host_radix_sort_bytes(n.bound).
template <class Item, class Value, class Key, class Exec>
void host_sort_by(const Exec& exec, const host_sort_arrays<Item, Value>& given, item_count n,
                  const Key& key, void* memory) {
  using kernel = host_sort_kernel<Item, Value, Key>;
  if (n.bound == 0) return;
  // Launches of hosts are over when they return.
  const auto arrays = given.alike(n());
  const std::int64_t threads = lanewise::resident_teams<kernel>(exec);
  const std::int64_t few = kernel::few_items(threads);
  const auto plan = kernels::host_sort_plan_of<Item, Value>(n.bound);
  const std::int64_t chunks = plan.chunks(n.bound, threads);
  kernel k{key,
           {const_cast<Item*>(arrays.keys_in), const_cast<Value*>(arrays.values_in)},
           {arrays.keys_out, arrays.values_out},
           {arrays.keys_temporary, arrays.values_temporary},
           n,
           n.bound,
           few,
           chunks,
           {},
           true};
  k.board.lay_out(plan, static_cast<char*>(memory));
  lanewise::launch(exec, "Lanewise::radix_sort::begin", 1, k);
  if (n.bound <= few || !k.board.has_tasks()) return;
  k.begins = false;
  lanewise::launch(exec, "Lanewise::radix_sort", chunks, k);
}

/// Sorts n() items by bits [begin_bit, end_bit) of bits_of(item), an unsigned integer, ascending;
/// items with the same bits keep their order. If all bits count and there are no values, bits_of
/// may say that equal bits are equal items: by item_of(bits), its inverse, or by is_identity.
template <class KeyOf, class Item, class Value, class Exec>
void host_radix_sort(const Exec& exec, const host_sort_arrays<Item, Value>& arrays, item_count n,
                     int begin_bit, int end_bit, const KeyOf& bits_of, void* memory) {
  using key = detail::sort_key<KeyOf, Item, false>;
  if constexpr (std::is_same_v<Value, no_value> && detail::has_inverse<KeyOf, Item>) {
    if (begin_bit == 0 && end_bit == static_cast<int>(sizeof(typename key::bits_type) * 8))
      return kernels::host_sort_by(exec, arrays, n, detail::sort_key<KeyOf, Item, true>{bits_of},
                                   memory);
  }
  kernels::host_sort_by(exec, arrays, n, key::by_bits(bits_of, begin_bit, end_bit), memory);
}

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
