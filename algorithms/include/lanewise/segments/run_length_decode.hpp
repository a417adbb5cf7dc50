// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/call/workspace_layout.hpp>
#include <lanewise/sequence/allocate.hpp>
#include <lanewise/tile/expansion.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

// Decoding in two steps: the runs' lengths are turned into the ends of their places. Then every
// team writes an equally long piece of the path through runs and items.

/// Writes keys to the places of their runs.
template <class Item, class Sink>
struct write_keys {
  /// What is stored may be stored over; a function of the user's is called once for an item.
  static constexpr bool last_call_wins =
      std::is_same_v<Item, typename detail::sink_value<Sink>::type>;

  Sink out;

  template <class W, class Mask, class Keys, class Places>
  LANEWISE_FUNCTION void operator()(const W& warp, const Mask& mask, Keys key, Places place,
                                    std::int64_t first) const {
    if constexpr (last_call_wins) {
      warp.store(mask, out.data + first, key);
    } else {
      warp.each(
          mask, [&](std::int64_t p, const Item& x) { out(p, x); }, place, key);
    }
  }
  template <class W, class Keys>
  LANEWISE_FUNCTION void whole(const W& warp, Keys key, std::int64_t first) const {
    if constexpr (last_call_wins) {
      warp.store(out.data + first, key);
    } else {
      auto lane = warp.lane();
      warp.each([&](std::uint32_t l, const Item& x) { out(first + l, x); }, lane, key);
    }
  }
};

template <class Keys, class Sink>
struct decode_kernel {
  struct policy : launch_policy {
    static constexpr int teams_per_multiprocessor = 6;
  };

  template <class Team>
  using expansion = expansion_t<Team, typename Keys::value_type, policy>;
  template <class Team>
  using scratch = typename expansion<Team>::scratch;

  Keys keys;
  write_keys<typename Keys::value_type, Sink> write;
  item_count n;
  const std::int64_t* ends;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const std::int64_t runs = n();
    const std::int64_t total = runs > 0 ? ends[runs - 1] : 0;
    const std::int64_t places = total < write.out.extent ? total : write.out.extent;
    // Runs that find no room end where the places do.
    const auto end_of = [e = ends, places](std::int64_t run) {
      return e[run] < places ? e[run] : places;
    };
    expansion<Team>::expand(team, shared, end_of, runs, places, keys, write);
  }
};

/// Layout of the workspace: the runs' ends, then the chain's part.
template <class Exec>
struct decode_layout : workspace_layout {
  workspace_array<std::int64_t> ends;
  workspace_array<char> chain;

  explicit decode_layout(std::int64_t runs)
      : workspace_layout(64),
        ends(add<std::int64_t>(runs)),
        chain(add_call(lanewise::allocate_workspace<Exec>(runs))) {}
};

}  // namespace kernels

/// The workspace that run_length_decode needs for `runs` runs, however long they are. Needs no
/// device.
template <class Exec>
workspace_size run_length_decode_workspace(std::int64_t runs) {
  return kernels::decode_layout<Exec>(runs).size();
}

/// Writes keys(0) lengths(0) times, then keys(1) lengths(1) times, and so on to the front of out.
/// Stores the sum of the lengths in the rank-0 View count of integers.
///
/// keys and lengths are contiguous rank-1 Views or sources of equal extent, lengths of integers;
/// out is a View or a sink that overlaps neither. A negative length is taken as 0 and counted in
/// options.errors, else in options.work. A sum that the type of count cannot express is counted
/// there as one bad item; count is then the greatest integer of its type. A sum that reaches 2^63 -
/// 1 is one bad item, too. Where out has fewer places than there are results, the first are
/// written; count counts all of them. options.count is the number of runs. Two launches; every team
/// gets an equal share of the runs and items together, so the runs' lengths do not matter: O(runs +
/// items) work. keys and lengths are read once, signed lengths again from cache where bad ones are
/// counted; 8 bytes per run are written and read, and every item is written once (on the host,
/// places of short runs several times). A source of keys is called once per run and warp that looks
/// at it on CUDA, once per run and team on the host; a sink once per item. The result is the same
/// on every backend. Does not block. Throws std::invalid_argument on wrong extents, overlap, or an
/// option that cannot be reached. (Merrill, 1.3.3 and 6.4.1; the path through runs and items is
/// that of a merge.)
template <execution_space Exec, class Keys, class Lengths, class Out, class T, class... P>
void run_length_decode(const Exec& exec, const Keys& keys, const Lengths& lengths, const Out& out,
                       const Kokkos::View<T, P...>& count, const checked_options& options = {}) {
  const auto key = detail::as_source<Exec>(keys);
  const auto length = detail::as_source<Exec>(lengths);
  const auto sink = detail::as_sink<Exec>(out);
  static_assert(std::is_integral_v<typename decltype(length)::value_type>,
                "lanewise::run_length_decode: lengths are integers");
  detail::expects(length.extent == key.extent, "run_length_decode: lengths has ", length.extent,
                  " items, keys has ", key.extent);
  detail::expects_memory(key, "run_length_decode", "keys");
  detail::expects_memory(length, "run_length_decode", "lengths");
  detail::expects_memory(sink, "run_length_decode", "out");
  detail::expects_no_partial_overlap(key, sink, "run_length_decode", "keys", "out", false);
  detail::expects_no_partial_overlap(length, sink, "run_length_decode", "lengths", "out", false);
  const detail::integers total = kernels::count_place<Exec>(count, "run_length_decode");
  const item_count n = kernels::count_of<Exec>(key.extent, options, "run_length_decode");
  using backend = backend_of<Exec>;
  const kernels::decode_layout<Exec> layout(n.bound);
  auto work = call_workspace::make<backend>(exec, options.work, layout.size(), "run_length_decode");
  auto* const ends = layout.ends.data(work.get());
  kernels::allocate<true>(exec, "Lanewise::run_length_decode::allocate", length,
                          array_sink<std::int64_t>{ends, n.bound}, n, total,
                          Kokkos::min(total.most(), detail::most_places - 1),
                          kernels::errors_of<Exec>(options, work.get()), work.get(),
                          layout.chain.offset);
  if (n.bound == 0 || sink.extent == 0) return;
  using key_source = std::decay_t<decltype(key)>;
  using sink_type = std::decay_t<decltype(sink)>;
  if constexpr (detail::check_results<Exec, typename key_source::value_type, sink_type>()) {
    using kernel = kernels::decode_kernel<key_source, sink_type>;
    constexpr std::int64_t steps =
        kernel::template expansion<team_t<Exec, typename kernel::policy>>::steps;
    lanewise::launch(exec, "Lanewise::run_length_decode",
                     backend::template resident_league<kernel>(
                         exec, lanewise::divide_up(n.bound + sink.extent, steps)),
                     kernel{key, {sink}, n, ends});
  }
}

/// Overload that returns the number of items. **Blocks.** Throws std::length_error where an output
/// has fewer places than there are results: the first are written.
template <execution_space Exec, class Keys, class Lengths, class Out>
std::int64_t run_length_decode(const Exec& exec, const Keys& keys, const Lengths& lengths,
                               const Out& out, const checked_options& options = {}) {
  return kernels::blocking_number(
      exec, "run_length_decode",
      [&](const auto& count) {
        lanewise::run_length_decode(exec, keys, lengths, out, count, options);
      },
      "out", out);
}

LANEWISE_END_TARGET_NAMESPACE
