// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/papers/detail/names.hpp>
#include <lanewise/sequence/scan_two_level.hpp>

#include <algorithm>
#include <vector>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {

namespace kernels {

/// Items of a level: one for every `per_item` of the call's, rounded up.
struct items_of_level {
  item_count n;
  std::int64_t per_item;

  LANEWISE_FUNCTION std::int64_t operator()() const { return divide_up(n(), per_item); }
};

/// Calls f(b, begin, end) for those blocks of n items that are this team's.
template <class Team, class F>
LANEWISE_FUNCTION void for_each_block(const Team& team, std::int64_t n, std::int64_t block, F f) {
  lanewise::for_each_tile(team, divide_up(n, block), [&](std::int64_t b) {
    const std::int64_t begin = b * block;
    f(b, begin, begin + block < n ? begin + block : n);
  });
}

/// totals[b] is the combination of block b.
template <class Source, class Op, class T>
struct block_reduce_kernel {
  using policy = two_level_policy<T>;
  template <class Team>
  using scratch = reduce_scratch<Team, T>;

  Source in;
  Op op;
  items_of_level n;
  std::int64_t block;
  T* totals;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    kernels::for_each_block(
        team, n(), block, [&](std::int64_t b, std::int64_t begin, std::int64_t end) {
          const maybe<T> all = lanewise::reduce_range<T, policy>(team, shared, in, begin, end, op);
          team.once([&] { totals[b] = all.value; });
        });
  }
};

/// Scans every block: block 0 after `first`, block b after seeds[b - 1] if there are seeds, else
/// after nothing. If totals are asked for, totals[b] is what block b ends with.
template <bool exclusive, class Source, class Sink, class Op, class T>
struct block_scan_kernel {
  using policy = two_level_policy<T>;
  template <class Team>
  using tile_of = tile_t<Team, T, policy>;
  template <class Team>
  using scratch = typename tile_of<Team>::scratch;

  Source in;
  Sink out;
  Op op;
  maybe<T> first;
  items_of_level n;
  std::int64_t block;
  const T* seeds;
  T* totals;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    kernels::for_each_block(
        team, n(), block, [&](std::int64_t b, std::int64_t begin, std::int64_t end) {
          maybe<T> before = first;
          if (b > 0) before = seeds != nullptr ? maybe<T>{seeds[b - 1], true} : maybe<T>{{}, false};
          for (std::int64_t i = begin; i < end; i += tile_of<Team>::items) {
            auto tile = lanewise::load_tile<T, policy>(team, shared, in, i, end);
            tile.prepare(op);
            if constexpr (exclusive) {
              tile.store_exclusive(out, before, op);
            } else {
              tile.store_inclusive(out, before, op);
            }
            before = {tile.end(before, op), true};
            team.barrier();
          }
          if (totals != nullptr) team.once([&] { totals[b] = before.value; });
        });
  }
};

/// x -> seed op x.
template <class Op, class T>
struct after_seed {
  Op op;
  T seed;
  LANEWISE_FUNCTION T operator()(const T& x) const { return op(seed, x); }
};

/// Combines what lies before a block with its items. Block 0 has nothing before it; the
/// first place of an exclusive scan's block is what lies in front.
template <bool exclusive, class Source, class Sink, class Op, class T>
struct propagate_kernel {
  using policy = two_level_policy<T>;
  template <class Team>
  using tile_of = tile_t<Team, T, policy>;
  template <class Team>
  using scratch = typename tile_of<Team>::scratch;

  Source in;
  Sink out;
  Op op;
  items_of_level n;
  std::int64_t block;
  const T* seeds;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    kernels::for_each_block(
        team, n(), block, [&](std::int64_t b, std::int64_t begin, std::int64_t end) {
          if (b == 0) return;
          const T seed = seeds[b - 1];
          const auto after = detail::compose(in, after_seed<Op, T>{op, seed});
          for (std::int64_t i = begin; i < end; i += tile_of<Team>::items) {
            lanewise::load_tile<T, policy>(team, shared, after, i, end).store(out);
            team.barrier();
          }
          if constexpr (exclusive) team.once([&] { out(begin, seed); });
        });
  }
};

/// How n items are cut into blocks: level 0 has the items, every other one an item per block of
/// the level below, and the last one is a single block.
struct scan_levels {
  item_count n;
  std::int64_t block;
  std::vector<std::int64_t> per_item = {1};

  scan_levels(const item_count& items, std::int64_t most_in_block)
      : n(items), block(std::min(most_in_block, std::max<std::int64_t>(items.bound, 2))) {
    while (most(count() - 1) > block) per_item.push_back(per_item.back() * block);
  }
  int count() const { return static_cast<int>(per_item.size()); }
  items_of_level items(int level) const { return {n, of(level)}; }
  std::int64_t most(int level) const { return divide_up(n.bound, of(level)); }
  std::int64_t blocks(int level) const { return divide_up(most(level), block); }
  std::int64_t of(int level) const { return per_item[static_cast<std::size_t>(level)]; }
  /// The most items of all levels but the first.
  std::int64_t most_above() const {
    std::int64_t sum = 0;
    for (int k = 1; k < count(); ++k) sum += most(k);
    return sum;
  }
};

/// How sweeps read and write the items of a level.
struct plain_arrays {
  template <class T>
  static auto source(T* data, std::int64_t n) {
    return array_source<T, identity>{data, n, {}};
  }
  template <class T>
  static auto sink(T* data, std::int64_t n) {
    return array_sink<T>{data, n};
  }
};

/// The launches of a recursive scan.
template <class Exec, class Op, class T, class Arrays>
struct recursive_scan {
  const Exec& exec;
  const char* label;
  scan_levels levels;
  std::vector<T*> at;  // the items of a level; level 0 has none
  Op op;
  maybe<T> first;
  Arrays arrays;

  recursive_scan(const Exec& exec, const char* label, const scan_levels& all, T* room, Op op,
                 const maybe<T>& first, const Arrays& arrays)
      : exec(exec), label(label), levels(all), at{nullptr}, op(op), first(first), arrays(arrays) {
    for (int k = 1; k < levels.count(); ++k) {
      at.push_back(room);
      room += levels.most(k);
    }
  }

  /// By blocks whose local scans are combined with what lies in front when that is known.
  template <bool exclusive, class Source>
  void then_propagate(const Source& in, T* out) const {
    const std::int64_t n = levels.n.bound;
    scan<exclusive>(0, in, arrays.sink(out, n), first, nullptr, above(0));
    for (int k = 1; k < levels.count(); ++k)
      scan<false>(k, source(k), sink(k), {{}, false}, nullptr, above(k));
    for (int k = levels.count() - 2; k > 0; --k) propagate<false>(k, source(k), sink(k));
    if (levels.count() > 1) propagate<exclusive>(0, arrays.source(out, n), arrays.sink(out, n));
  }

  /// By blocks that are folded first, and scanned when it is known what lies in front.
  template <bool exclusive, class Source, class Sink>
  void after_reduction(const Source& in, const Sink& out) const {
    const int top = levels.count() - 1;
    if (top > 0) reduce(0, in);
    for (int k = 1; k < top; ++k) reduce(k, source(k));
    for (int k = top; k > 0; --k) scan<false>(k, source(k), sink(k), first, above(k), nullptr);
    scan<exclusive>(0, in, out, first, above(0), nullptr);
  }

 private:
  T* items(int k) const { return at[static_cast<std::size_t>(k)]; }
  auto source(int k) const { return arrays.source(items(k), levels.most(k)); }
  auto sink(int k) const { return arrays.sink(items(k), levels.most(k)); }
  T* above(int k) const { return k + 1 < levels.count() ? items(k + 1) : nullptr; }

  template <class Kernel>
  void start(int k, const Kernel& kernel) const {
    lanewise::launch(exec, label,
                     backend_of<Exec>::template league_for_tiles<Kernel>(exec, levels.blocks(k)),
                     kernel);
  }
  template <class Source>
  void reduce(int k, const Source& in) const {
    start(k, block_reduce_kernel<Source, Op, T>{in, op, levels.items(k), levels.block, above(k)});
  }
  template <bool exclusive, class Source, class Sink>
  void scan(int k, const Source& in, const Sink& out, const maybe<T>& begin, const T* seeds,
            T* totals) const {
    start(k, block_scan_kernel<exclusive, Source, Sink, Op, T>{in, out, op, begin, levels.items(k),
                                                               levels.block, seeds, totals});
  }
  template <bool exclusive, class Source, class Sink>
  void propagate(int k, const Source& in, const Sink& out) const {
    start(k, propagate_kernel<exclusive, Source, Sink, Op, T>{in, out, op, levels.items(k),
                                                              levels.block, above(k)});
  }
};

/// Calls f(scan, source, sink) with the recursive_scan of a call whose arguments are as they should
/// be. block 0 is a tile.
template <class Exec, class In, class Out, class Init, class Given, class F>
void with_recursive_scan(const Exec& exec, const char* label, const char* algorithm, const In& in,
                         const Out& out, const maybe<Init>& first, const Given& given,
                         const call_options& options, std::int64_t block, F f) {
  using T = detail::accumulated<Given, Init>;
  const auto without = detail::without_accumulation(given);
  static_assert(!detail::in_fixed_order<std::decay_t<decltype(without)>, T>,
                "lanewise: recursive scans associate by blocks; use the scans of scan.hpp");
  detail::expects(block == 0 || block >= 2, algorithm, ": block is ", block, ", less than 2");
  using policy = two_level_policy<T>;
  const std::int64_t used = block > 0 ? block : tile_t<team_t<Exec, policy>, T, policy>::items;
  kernels::with_checked_arrays<T, Exec>(
      algorithm, in, out, options, [&](const auto& source, const auto& sink, const item_count& n) {
        const scan_levels levels(n, used);
        auto work = call_workspace::make<backend_of<Exec>>(
            exec, options.work, {0, static_cast<std::size_t>(levels.most_above()) * sizeof(T)},
            algorithm);
        const auto op = detail::plain_operator(without);
        f(recursive_scan<Exec, std::decay_t<decltype(op)>, T, plain_arrays>(
              exec, label, levels, static_cast<T*>(work.get().plain()), op,
              {static_cast<T>(first.value), first.present}, {}),
          source, sink);
      });
}

template <bool exclusive, class Exec, class In, class Out, class Init, class Given>
void scan_and_propagate(const Exec& exec, const char* label, const char* algorithm, const In& in,
                        const Out& out, const Init& init, const Given& given,
                        const call_options& options, std::int64_t block) {
  kernels::with_recursive_scan(
      exec, label, algorithm, in, out, maybe<Init>{init, exclusive}, given, options, block,
      [](const auto& scan, const auto& source, const auto& sink) {
        using T = detail::accumulated<Given, Init>;
        constexpr bool holds = std::is_same_v<std::decay_t<decltype(sink)>, array_sink<T>>;
        static_assert(
            holds,
            "lanewise::papers::scan_then_propagate: out is read again, so that it is a View of "
            "the type that items are combined as");
        if constexpr (holds) scan.template then_propagate<exclusive>(source, sink.data);
      });
}

template <bool exclusive, class Exec, class In, class Out, class Init, class Given>
void reduce_and_scan(const Exec& exec, const char* label, const char* algorithm, const In& in,
                     const Out& out, const Init& init, const Given& given,
                     const call_options& options, std::int64_t block) {
  kernels::with_recursive_scan(exec, label, algorithm, in, out, maybe<Init>{init, exclusive}, given,
                               options, block,
                               [](const auto& scan, const auto& source, const auto& sink) {
                                 scan.template after_reduction<exclusive>(source, sink);
                               });
}

}  // namespace kernels

// Scans by recursion over blocks of b items, for comparison: L levels, b^(L-1) < n <= b^L, and 2L -
// 1 launches. Each level has one item per block of the level below. block is b, at least 2. 0
// stands for the number of items that a team has at a time, 8192 of 4 bytes on devices. About n /
// (b - 1) items of plain workspace. No team waits for another. Arguments and errors are otherwise
// those of the scans of scan.hpp, but op must not be deterministic(op): sums depend on b and, on
// hosts, on where out begins, but not on the number of teams. (Merrill, 4.3.1 and 4.3.2.)

/// Every block is scanned alone, the blocks' totals are scanned by recursion, and every block is
/// read and written again with what lies before it. With n = b^L, and not counting an item per
/// block: 4b(n-1)/(b-1) - 2b reads and writes, about 2n each. 2b of them per level are saved, as
/// nothing lies before its first block. out is a View of the type that items are combined as. op
/// may be called with a T{} that is no item; what it returns then is not used.
namespace scan_then_propagate {

template <execution_space Exec, class In, class Out, class Op>
void inclusive_scan(const Exec& exec, const In& in, const Out& out, const Op& op,
                    const call_options& options = {}, std::int64_t block = 0) {
  using T = typename decltype(detail::as_source<Exec>(in))::value_type;
  if constexpr (detail::check_scan<Exec, In, Out, Op, T, false>())
    kernels::scan_and_propagate<false>(exec, "Lanewise::scan_then_propagate::inclusive_scan",
                                       "scan_then_propagate::inclusive_scan", in, out, T{}, op,
                                       options, block);
}

template <execution_space Exec, class In, class Out, class T, class Op>
void exclusive_scan(const Exec& exec, const In& in, const Out& out, const Op& op, const T& init,
                    const call_options& options = {}, std::int64_t block = 0) {
  if constexpr (detail::check_exclusive_scan<Exec, In, Out, T, Op, false>())
    kernels::scan_and_propagate<true>(exec, "Lanewise::scan_then_propagate::exclusive_scan",
                                      "scan_then_propagate::exclusive_scan", in, out, init, op,
                                      options, block);
}

}  // namespace scan_then_propagate

/// Every block is folded, the blocks' totals are scanned by recursion, and every block is read
/// again and scanned after what lies before it. With n = b^L, and not counting an item per
/// block: 3b(n-1)/(b-1) - b reads and writes, about 2n and n.
namespace reduce_then_scan {

template <execution_space Exec, class In, class Out, class Op>
void inclusive_scan(const Exec& exec, const In& in, const Out& out, const Op& op,
                    const call_options& options = {}, std::int64_t block = 0) {
  using T = typename decltype(detail::as_source<Exec>(in))::value_type;
  if constexpr (detail::check_scan<Exec, In, Out, Op, T, false>())
    kernels::reduce_and_scan<false>(exec, "Lanewise::reduce_then_scan::inclusive_scan",
                                    "reduce_then_scan::inclusive_scan", in, out, T{}, op, options,
                                    block);
}

template <execution_space Exec, class In, class Out, class T, class Op>
void exclusive_scan(const Exec& exec, const In& in, const Out& out, const Op& op, const T& init,
                    const call_options& options = {}, std::int64_t block = 0) {
  if constexpr (detail::check_exclusive_scan<Exec, In, Out, T, Op, false>())
    kernels::reduce_and_scan<true>(exec, "Lanewise::reduce_then_scan::exclusive_scan",
                                   "reduce_then_scan::exclusive_scan", in, out, init, op, options,
                                   block);
}

}  // namespace reduce_then_scan

}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
