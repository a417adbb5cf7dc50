// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/call/workspace_layout.hpp>
#include <lanewise/common/options.hpp>
#include <lanewise/league/decoupled_look_back.hpp>
#include <lanewise/select/detail/compact.hpp>
#include <lanewise/strings/detail/found_places.hpp>
#include <lanewise/strings/detail/text_block.hpp>
#include <lanewise/strings/pattern.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>

// Finds the positions where a pattern occurs in a text, overlapping occurrences included. The calls
// read the text once, and compare all bytes of the pattern only where a word of it fits.

LANEWISE_BEGIN_NAMESPACE

/// Options of searches in texts.
struct string_search_options {
  /// Memory for temporaries (string_search_workspace); without it the call allocates in the order
  /// of its instance.
  workspace_ref work = {};
};

LANEWISE_END_NAMESPACE

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// Writes the value that a count or a search for one position begins with.
struct search_begin_kernel {
  struct policy : launch_policy {};
  template <class Team>
  struct scratch {};

  std::int64_t* result;
  std::int64_t value;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    team.once([&] { *result = value; });
  }
};

template <class Exec>
void begin_result(const Exec& exec, std::int64_t* result, std::int64_t value) {
  lanewise::launch(exec, "Lanewise::string_search::begin", 1, search_begin_kernel{result, value});
}

/// Counts the positions that a matcher finds in a text.
template <class Search>
struct text_count_kernel {
  struct policy : Search::count_policy {};
  template <class Team>
  using scratch = typename Search::template block<Team>::scratch;
  using search_type = Search;

  Search search;
  std::int64_t* result;
  static constexpr std::int64_t nothing = 0;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    fold(team, shared, search, team.index(), team.league());
  }
  /// Folds every `stride`-th block of a text, from block `begin` on.
  template <class Team>
  LANEWISE_FUNCTION void fold(const Team& team, scratch<Team>& shared, const Search& in,
                              std::int64_t begin, std::int64_t stride) const {
    using block = typename Search::template block<Team>;
    const auto warp = team.warp();
    std::uint64_t all = 0;
    for (std::int64_t b = begin; b < in.blocks; b += stride) {
      typename block::words number(0u);
      block(team, shared, in, b).find(counter<typename Team::warp_type>{warp, number});
      all += warp.reduce(number, plus{});
    }
    if (all != 0) warp.fetch_add(*reinterpret_cast<std::uint64_t*>(result), all);
  }

 private:
  template <class Warp>
  struct counter {
    using words = lanes_t<Warp, std::uint32_t>;
    const Warp& warp;
    words& number;

    LANEWISE_FUNCTION void operator()(int, std::int64_t, const words& bits) const {
      number = number + detail::bits_set(warp, bits);
    }
    LANEWISE_FUNCTION void run(int, const detail::position_run& run) const {
      number = number + lanewise::select(warp.first(1), words(run.number), words(0u));
    }
  };
};

/// The first or last position that a league has found so far.
struct extreme_position {
  std::int64_t* result;  ///< of the first: begins with -1, the greatest unsigned number
  bool is_first;

  template <class Warp>
  LANEWISE_FUNCTION std::int64_t load(const Warp& warp) const {
    return warp.template load<order::relaxed>(*result);
  }
  /// Whether no position in [begin, end) can replace `best`.
  LANEWISE_FUNCTION bool is_final(std::int64_t best, std::int64_t begin, std::int64_t end) const {
    return is_first ? best >= 0 && best < begin : best >= end;
  }
  template <class Warp>
  LANEWISE_FUNCTION void update(const Warp& warp, std::int64_t position) const {
    if (is_first) {
      warp.fetch_min(*reinterpret_cast<std::uint64_t*>(result),
                     static_cast<std::uint64_t>(position));
    } else {
      warp.fetch_max(*result, position);
    }
  }
  template <class Warp, class Bits>
  LANEWISE_FUNCTION int outermost(Bits bits) const {
    return is_first ? Warp::lowest(bits) : Warp::highest(bits);
  }
};

/// Finds the first position of a pattern or the last.
template <bool is_short>
struct search_end_kernel {
  /// Four steps on their way at once take registers: an H200 reads 0.91 of what a sum reads by
  /// three teams, and 0.88 by four.
  struct policy : search_policy {
    static constexpr int teams_per_multiprocessor = is_short ? 5 : 3;
  };
  template <class Team>
  using scratch = typename text_block<Team, is_short>::scratch;
  using search_type = pattern_matches<is_short>;

  search_type search;
  extreme_position end;
  static constexpr std::int64_t nothing = -1;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    fold(team, shared, search, team.index(), team.league());
  }
  /// Folds every `stride`-th block of a text, from block `begin` on.
  template <class Team>
  LANEWISE_FUNCTION void fold(const Team& team, scratch<Team>& shared, const search_type& in,
                              std::int64_t begin, std::int64_t stride) const {
    using block_type = text_block<Team, is_short>;
    const auto warp = team.warp();
    std::int64_t best = nothing;
    for (std::int64_t b = begin; b < in.blocks; b += stride) {
      const block_type block(team, shared, in, end.is_first ? b : in.blocks - 1 - b);
      if (end.is_final(best, block.first(),
                       block.first() + block.steps() * block_type::steps_type::positions))
        break;
      // The value is used after the block, so nothing waits for it.
      best = end.load(warp);
      // A block takes one atomic operation: for its first step with positions at once, so that
      // other teams stop, or for its last step at its end.
      typename block_type::words kept(0u);
      std::int64_t kept_first = 0;
      block.find_alone([&](int, std::int64_t first, const auto& bits) LANEWISE_INLINE_LAMBDA {
        if (!warp.any(bits != 0u) || (end.is_first && warp.any(kept != 0u))) return;
        kept = bits;
        kept_first = first;
        if (end.is_first) update(warp, first, bits);
      });
      if (!end.is_first && warp.any(kept != 0u)) update(warp, kept_first, kept);
    }
  }

 private:
  template <class Warp, class Words>
  LANEWISE_FUNCTION void update(const Warp& warp, std::int64_t first, const Words& bits) const {
    const Words ordered = detail::text_steps<Warp>::in_order(warp, bits);
    const int lane = end.outermost<Warp>(warp.ballot(ordered != 0u));
    end.update(warp, first + 32 * lane + end.outermost<Warp>(warp.broadcast(ordered, lane)));
  }
};

/// Writes a bit for every byte of the text, of patterns of up to 4 bytes.
struct search_bitmap_kernel {
  struct policy : search_policy {};
  template <class Team>
  using scratch = typename text_block<Team, true>::scratch;
  using search_type = pattern_matches<true>;

  search_type search;
  std::uint32_t* bits;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    for (std::int64_t b = team.index(); b < search.blocks; b += team.league())
      write(team.warp(), text_block<Team, true>(team, shared, search, b));
  }

 private:
  template <class Warp, class Block>
  LANEWISE_FUNCTION void write(const Warp& warp, const Block& block) const {
    using steps = typename Block::steps_type;
    const int past = steps::past(search.text, search.pattern);
    if (past > 0) return write_across(warp, block, past);
    block.find([&](int, std::int64_t first, const auto& found)
                   LANEWISE_INLINE_LAMBDA { store(warp, first, steps::in_order(warp, found)); });
  }
  /// The positions of a step begin `past` bytes too early: a word of the bitmap joins two words,
  /// and the second may be of the next step.
  template <class Warp, class Block>
  LANEWISE_FUNCTION void write_across(const Warp& warp, const Block& block, int past) const {
    using steps = typename Block::steps_type;
    using words = typename Block::words;
    words before(0u);
    std::int64_t at = 0;
    std::uint32_t after = 0;
    bool is_waiting = false;
    block.find([&](int step, std::int64_t first, const auto& found) LANEWISE_INLINE_LAMBDA {
      const words here = steps::in_order(warp, found);
      if (is_waiting) store(warp, at, across(warp, before, warp.broadcast(here, 0), past));
      before = here;
      at = first + past;
      is_waiting = true;
      if (step + 1 == block.steps()) after = block.find_few(first + steps::positions, past);
    });
    if (is_waiting) store(warp, at, across(warp, before, after, past));
  }
  template <class Warp, class Words>
  static LANEWISE_FUNCTION Words across(const Warp& warp, const Words& step, std::uint32_t after,
                                        int past) {
    const auto next =
        warp.shuffle(lanewise::select(warp.first(1), Words(after), step),
                     warp.map([](std::uint32_t lane) { return lane + 1; }, warp.lane()));
    return warp.map(
        [past](std::uint32_t a, std::uint32_t b) {
          return static_cast<std::uint32_t>((std::uint64_t{b} << 32 | a) >> past);
        },
        step, next);
  }
  template <class Warp, class Words>
  LANEWISE_FUNCTION void store(const Warp& warp, std::int64_t at, const Words& word) const {
    const std::int64_t left = divide_up(search.text.n, std::int64_t{32}) - at / 32;
    if (left > 0) warp.store(warp.first(left), bits + at / 32, word);
  }
};

/// Adds the bits of longer patterns to a bitmap of zeros.
struct search_bits_kernel {
  struct policy : search_policy {};
  template <class Team>
  using scratch = typename text_block<Team, false>::scratch;
  using search_type = pattern_matches<false>;

  search_type search;
  std::uint32_t* bits;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const auto warp = team.warp();
    for (std::int64_t b = team.index(); b < search.blocks; b += team.league())
      text_block<Team, false>(team, shared, search, b)
          .find([&](int, std::int64_t first, const auto& found) LANEWISE_INLINE_LAMBDA {
            if (warp.any(found != 0u))
              add(warp, first, detail::text_steps<typename Team::warp_type>::in_order(warp, found));
          });
  }

 private:
  /// A lane's 32 positions begin anywhere in a word of the bitmap, and in the first step before
  /// it, where no bits are.
  template <class Warp, class Words>
  LANEWISE_FUNCTION void add(const Warp& warp, std::int64_t first, const Words& found) const {
    const auto past = static_cast<std::uint32_t>(first & 31);
    const std::int64_t word = (first - past) / 32;
    const auto at = warp.map([word](std::uint32_t lane) { return word + lane; }, warp.lane());
    const Words low = found << static_cast<int>(past);
    const Words high =
        warp.map([past](std::uint32_t x) { return past == 0 ? 0u : x >> (32 - past); }, found);
    warp.template fetch_or<order::relaxed>(low != 0u, bits, at, low);
    warp.template fetch_or<order::relaxed>(high != 0u, bits + 1, at, high);
  }
};

/// Writes all positions that a matcher finds, in order, and counts them in a single pass with
/// look-back.
template <class Search, class Sink>
struct text_positions_kernel {
  struct policy : Search::positions_policy {};
  template <class Team>
  using found = found_places<Team, typename Search::template block<Team>>;
  template <class Team>
  using scratch = decoupled_look_back_scratch<Team, std::int64_t, found<Team>>;

  Search search;
  Sink places;
  look_back_chain<std::int64_t> chain;
  detail::integers number;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const auto blocks = static_cast<std::uint32_t>(search.blocks);
    const maybe<std::int64_t> begin{search.found_before(), true};
    lanewise::for_each_ticket(
        team, chain, blocks, shared.chain, [&](auto mine) LANEWISE_INLINE_LAMBDA {
          found<Team> here(team, shared.scratch,
                           search.block_of(team, shared.scratch.piece, mine.ticket));
          const std::int64_t all = here.total();
          const std::int64_t before =
              lanewise::publish_and_look_back(team, chain, mine, shared.chain, all, plus{}, begin)
                  .value;
          here.store(places, before);
          if (mine.ticket + 1 == blocks) {
            team.once([&] {
              search.finish(before + all);
              number.put(0, before + all);
            });
          }
        });
  }
};

/// From this number of bytes on, the filter is a launch of its own. Then an H200 reads 1.05 to 1.2
/// times as fast, but the second launch takes 15 us, in which it reads 65 MB.
inline constexpr std::int64_t filtered_bytes = std::int64_t{1} << 28;

/// Whether a filter of its own pays for a text of n bytes. in_order: blocks wait for the blocks
/// before them. Then host threads wait for the slowest in every block, but not in a filter.
template <class Exec>
bool has_own_filter(std::int64_t n, bool in_order) {
  if (warp_t<Exec>::text_words_per_lane > 1) return n >= filtered_bytes;
  return in_order && n >= filtered_bytes / 16;
}

/// The search of a call.
template <class Exec>
class search_call {
  using warp_type = warp_t<Exec>;

 public:
  /// is_filtered: whether the filter may be a launch of its own.
  search_call(const Exec& exec, const detail::text_bytes& text, const detail::pattern_view& pattern,
              bool is_filtered)
      : exec_(exec),
        pattern_(detail::searched_by<warp_type>(pattern)),
        is_filtered_(is_filtered && !is_short()),
        search_{text, pattern_, text_partition::make<warp_type>(text.n, is_filtered_), 0} {
    search_.blocks = search_.partition.template blocks<warp_type>(text.n);
  }

  bool is_filtered() const { return is_filtered_; }
  bool is_short() const { return pattern_.is_short(); }
  const pattern_search& search() const { return search_; }
  std::int64_t blocks() const { return search_.blocks; }
  /// Returns the search as a kernel has it. Without the filter, each of its teams, less `spared`,
  /// has equally many blocks.
  template <class Kernel>
  pattern_search shared_by(std::int64_t spared = 0) const {
    pattern_search mine = search_;
    if (is_filtered_) return mine;
    const std::int64_t teams = backend_of<Exec>::template resident_teams<Kernel>(exec_) - spared;
    mine.partition = mine.partition.template shared_by<warp_type>(
        mine.text.n, std::max(teams, std::int64_t{1}), Kernel::policy::most_steps);
    mine.blocks = mine.partition.template blocks<warp_type>(mine.text.n);
    return mine;
  }
  call_workspace make_workspace(workspace* given, const char* algorithm) const {
    return call_workspace::make<backend_of<Exec>>(exec_, given, layout().size(), algorithm);
  }
  /// Runs the filter. A number and words at `zeros` become zero.
  void filter(const workspace& work, std::int64_t* zero = nullptr, std::uint32_t* zeros = nullptr,
              std::int64_t number = 0) {
    search_.passed = layout().passed.data(work);
    detail::with_long_kind(search_.pattern.filter.how, [&](auto how) {
      using kernel = search_filter_kernel<decltype(how)::value>;
      lanewise::launch(exec_, "Lanewise::string_search::filter",
                       backend_of<Exec>::template resident_league<kernel>(exec_, words()),
                       kernel{search_, zero, zeros, number});
    });
  }
  template <class Kernel, class... Args>
  void run(const char* name, Args... args) const {
    const pattern_search mine = shared_by<Kernel>();
    lanewise::launch(exec_, name,
                     backend_of<Exec>::template resident_league<Kernel>(exec_, mine.blocks),
                     Kernel{{mine}, args...});
  }
  template <class Kernel, class Sink>
  void run_in_order(const workspace& work, const Sink& sink, const detail::integers& number) const {
    const pattern_search mine = shared_by<Kernel>();
    lanewise::launch(
        exec_, "Lanewise::find_all",
        backend_of<Exec>::template league_for_tiles<Kernel>(exec_, mine.blocks),
        Kernel{{mine}, sink, work.template make_look_back_chain<std::int64_t>(0), number});
  }

  /// What the workspace holds: the chain's values, then what the filter passes.
  struct memory_layout : workspace_layout {
    memory_layout(std::int64_t blocks, std::int64_t words)
        : workspace_layout({blocks, look_back_chain<std::int64_t>::payload_bytes(blocks)}),
          passed(add<std::uint32_t>(words)) {}
    workspace_array<std::uint32_t> passed;
  };

 private:
  std::int64_t words() const { return search_.partition.template words<warp_type>(search_.text.n); }
  memory_layout layout() const { return memory_layout(blocks(), words()); }

  const Exec& exec_;
  detail::pattern_view pattern_;
  bool is_filtered_;
  pattern_search search_;
};

/// A text whose bytes calls of Exec can reach.
template <class Exec, class Text, class Pattern>
detail::text_bytes text_of(const char* algorithm, const Text& text, const Pattern&) {
  static_assert(Kokkos::is_view_v<Text> && sizeof(typename Text::value_type) == 1 &&
                    std::is_trivially_copyable_v<typename Text::value_type>,
                "lanewise: a text is a View of bytes: char, unsigned char, std::byte; transform() "
                "writes what a source computes to one");
  static_assert(
      Kokkos::SpaceAccessibility<typename Exec::memory_space,
                                 typename Pattern::memory_space>::accessible,
      "lanewise: this execution space cannot reach the memory of the pattern; pattern::copy_to "
      "makes a copy that it can");
  const auto source = detail::as_source<Exec>(text);
  detail::expects_memory(source, algorithm, "text");
  return {reinterpret_cast<const unsigned char*>(source.data), source.extent};
}
/// Returns where the one result of a call is written to.
template <class Exec, class... P>
std::int64_t* result_place(const char* algorithm, const Kokkos::View<std::int64_t, P...>& result) {
  detail::check_reachable<Exec, Kokkos::View<std::int64_t, P...>>();
  detail::expects(result.data() != nullptr, algorithm, ": result has no memory");
  return result.data();
}

// The searches. The memory spaces of the text and of the pattern do not matter here, so that
// Lanewise::compiled can hold all instantiations.

template <class Exec>
void search_end(const Exec& exec, const detail::text_bytes& text, const detail::pattern_view& what,
                const extreme_position& end) {
  if (text.n < what.size) return;
  const search_call<Exec> call(exec, text, what, false);
  if (call.is_short()) {
    call.template run<search_end_kernel<true>>("Lanewise::find_end", end);
  } else {
    call.template run<search_end_kernel<false>>("Lanewise::find_end", end);
  }
}
template <class Exec>
void search_count(const Exec& exec, const detail::text_bytes& text,
                  const detail::pattern_view& what, std::int64_t* result,
                  const string_search_options& options) {
  search_call<Exec> call(exec, text, what, kernels::has_own_filter<Exec>(text.n, false));
  using long_kernel = text_count_kernel<pattern_matches<false>>;
  if (call.is_filtered()) {
    auto work = call.make_workspace(options.work, "count");
    call.filter(work.get(), result);
    call.template run<long_kernel>("Lanewise::count", result);
    return;
  }
  kernels::begin_result(exec, result, 0);
  if (text.n < what.size) return;
  if (call.is_short()) {
    call.template run<text_count_kernel<pattern_matches<true>>>("Lanewise::count", result);
  } else {
    call.template run<long_kernel>("Lanewise::count", result);
  }
}
template <class Exec>
void search_bitmap(const Exec& exec, const detail::text_bytes& text,
                   const detail::pattern_view& what, std::uint32_t* bits,
                   const string_search_options& options) {
  search_call<Exec> call(exec, text, what, true);
  if (!call.is_filtered()) {
    call.template run<search_bitmap_kernel>("Lanewise::find_bitmap", bits);
  } else {
    auto work = call.make_workspace(options.work, "find_bitmap");
    call.filter(work.get(), nullptr, bits, lanewise::divide_up(text.n, std::int64_t{32}));
    call.template run<search_bits_kernel>("Lanewise::find_bitmap", bits);
  }
}

#if defined(LANEWISE_COMPILED_TEMPLATE)
#define LANEWISE_COMPILED_SEARCHES(Exec)                                                           \
  LANEWISE_COMPILED_TEMPLATE void search_end<Exec>(const Exec&, const detail::text_bytes&,         \
                                                   const detail::pattern_view&,                    \
                                                   const extreme_position&);                       \
  LANEWISE_COMPILED_TEMPLATE void search_count<Exec>(const Exec&, const detail::text_bytes&,       \
                                                     const detail::pattern_view&, std::int64_t*,   \
                                                     const string_search_options&);                \
  LANEWISE_COMPILED_TEMPLATE void search_bitmap<Exec>(const Exec&, const detail::text_bytes&,      \
                                                      const detail::pattern_view&, std::uint32_t*, \
                                                      const string_search_options&);
LANEWISE_FOR_ALL_SPACES(LANEWISE_COMPILED_SEARCHES)
#undef LANEWISE_COMPILED_SEARCHES
#endif

/// Searches a text for a matcher; View is the type that kernels know the matcher by. It has count,
/// find_end (which gets a result that has begun), find_bitmap (of a text with bytes) and find_all.
template <class View>
struct matcher_search;

template <>
struct matcher_search<detail::pattern_view> {
  template <class Exec>
  static void count(const Exec& exec, const detail::text_bytes& text,
                    const detail::pattern_view& what, std::int64_t* result,
                    const string_search_options& options) {
    kernels::search_count(exec, text, what, result, options);
  }
  template <class Exec>
  static void find_end(const Exec& exec, const detail::text_bytes& text,
                       const detail::pattern_view& what, const extreme_position& end) {
    kernels::search_end(exec, text, what, end);
  }
  template <class Exec>
  static void find_bitmap(const Exec& exec, const detail::text_bytes& text,
                          const detail::pattern_view& what, std::uint32_t* bits,
                          const string_search_options& options) {
    kernels::search_bitmap(exec, text, what, bits, options);
  }
  template <class Exec, class Sink>
  static void find_all(const Exec& exec, const char* algorithm, const detail::text_bytes& text,
                       const detail::pattern_view& what, const Sink& sink,
                       const detail::integers& number, const string_search_options& options) {
    search_call<Exec> call(exec, text, what, kernels::has_own_filter<Exec>(text.n, true));
    auto work = call.make_workspace(options.work, algorithm);
    if (call.is_filtered()) call.filter(work.get());
    if (call.is_short()) {
      call.template run_in_order<text_positions_kernel<pattern_matches<true>, Sink>>(work.get(),
                                                                                     sink, number);
    } else {
      call.template run_in_order<text_positions_kernel<pattern_matches<false>, Sink>>(work.get(),
                                                                                      sink, number);
    }
  }
};
template <class Matcher>
using search_for = matcher_search<decltype(std::declval<const Matcher&>().view())>;

template <class Exec, class Text, class Matcher, class... P>
void count_positions(const Exec& exec, const char* algorithm, const Text& text, const Matcher& what,
                     const Kokkos::View<std::int64_t, P...>& result,
                     const string_search_options& options) {
  const auto bytes = kernels::text_of<Exec>(algorithm, text, what);
  search_for<Matcher>::count(exec, bytes, what.view(),
                             kernels::result_place<Exec>(algorithm, result), options);
}
template <class Exec, class Text, class Matcher, class... P>
void find_end(const Exec& exec, const char* algorithm, const Text& text, const Matcher& what,
              const Kokkos::View<std::int64_t, P...>& result, bool is_first) {
  const auto bytes = kernels::text_of<Exec>(algorithm, text, what);
  const extreme_position end{kernels::result_place<Exec>(algorithm, result), is_first};
  kernels::begin_result(exec, end.result, -1);
  search_for<Matcher>::find_end(exec, bytes, what.view(), end);
}
template <class Exec, class Text, class Matcher, class Places, class T, class... P>
void find_positions(const Exec& exec, const char* algorithm, const Text& text, const Matcher& what,
                    const Places& places, const Kokkos::View<T, P...>& number,
                    const string_search_options& options) {
  const auto bytes = kernels::text_of<Exec>(algorithm, text, what);
  const auto sink = detail::as_sink<Exec>(places);
  detail::expects_memory(sink, algorithm, "places");
  if constexpr (detail::check_results<Exec, std::int64_t, std::decay_t<decltype(sink)>>())
    search_for<Matcher>::find_all(exec, algorithm, bytes, what.view(), sink,
                                  kernels::count_place<Exec>(number, algorithm), options);
}

}  // namespace kernels

/// The workspace that count, find_bitmap and find_all need for a text of n bytes: n / 140 bytes
/// at most, and n / 2000 from 2^30 bytes on. Needs no device.
template <class Exec>
workspace_size string_search_workspace(std::int64_t n) {
  using warp_type = warp_t<Exec>;
  const auto filtered = kernels::text_partition::make<warp_type>(n, true);
  const auto other = kernels::text_partition::make<warp_type>(n, false);
  return typename kernels::search_call<Exec>::memory_layout(
             std::max(filtered.template blocks<warp_type>(n), other.template blocks<warp_type>(n)),
             filtered.template words<warp_type>(n))
      .size();
}

/// How often a pattern, or the patterns of a set, occur in a text, overlapping occurrences and
/// equal patterns included: stored in the rank-0 View result.
///
/// text is a contiguous View of bytes (char, unsigned char, std::byte), which may begin anywhere.
/// Does not block. A pattern takes two launches. On devices from 2^28 bytes on, for patterns of
/// more than 4 bytes, the first is a filter that reads the text. The second then compares what the
/// filter passes. Else the first sets the result. O(n + m) work, and m more for each 1 to 64 KiB of
/// a text in which the filter passes very many positions; with wildcards, O(m) for each of these.
/// string_set_search.hpp says what a set takes.
template <execution_space Exec, class Text, text_matcher Matcher, class... P>
void count(const Exec& exec, const Text& text, const Matcher& what,
           const Kokkos::View<std::int64_t, P...>& result,
           const string_search_options& options = {}) {
  kernels::count_positions(exec, "count", text, what, result, options);
}
/// Overload that returns the result. **Blocks.**
template <execution_space Exec, class Text, text_matcher Matcher>
std::int64_t count(const Exec& exec, const Text& text, const Matcher& what,
                   const string_search_options& options = {}) {
  return kernels::blocking_result<std::int64_t>(
      exec, [&](const auto& result) { lanewise::count(exec, text, what, result, options); });
}
/// The first position of the text where the pattern, or any of a set, begins, or -1. Reads the text
/// up to there, and what is read at the same time. As count, but without a workspace.
template <execution_space Exec, class Text, text_matcher Matcher, class... P>
void find_first(const Exec& exec, const Text& text, const Matcher& what,
                const Kokkos::View<std::int64_t, P...>& result) {
  kernels::find_end(exec, "find_first", text, what, result, true);
}
template <execution_space Exec, class Text, text_matcher Matcher>
std::int64_t find_first(const Exec& exec, const Text& text, const Matcher& what) {
  return kernels::blocking_result<std::int64_t>(
      exec, [&](const auto& result) { lanewise::find_first(exec, text, what, result); });
}
/// The last such position, or -1. As find_first, from the back.
template <execution_space Exec, class Text, text_matcher Matcher, class... P>
void find_last(const Exec& exec, const Text& text, const Matcher& what,
               const Kokkos::View<std::int64_t, P...>& result) {
  kernels::find_end(exec, "find_last", text, what, result, false);
}
template <execution_space Exec, class Text, text_matcher Matcher>
std::int64_t find_last(const Exec& exec, const Text& text, const Matcher& what) {
  return kernels::blocking_result<std::int64_t>(
      exec, [&](const auto& result) { lanewise::find_last(exec, text, what, result); });
}
/// Whether the pattern, or any of a set, occurs in the text. As find_first. **Blocks.**
template <execution_space Exec, class Text, text_matcher Matcher>
bool contains(const Exec& exec, const Text& text, const Matcher& what) {
  return lanewise::find_first(exec, text, what) >= 0;
}

/// Bit i % 32 of word i / 32 says whether the pattern, or any of a set, begins at byte i of the
/// text: a View of std::uint32_t with a word for every 32 bytes of the text. All words are written.
/// As count.
template <execution_space Exec, class Text, text_matcher Matcher, class Bits>
void find_bitmap(const Exec& exec, const Text& text, const Matcher& what, const Bits& bits,
                 const string_search_options& options = {}) {
  static_assert(Kokkos::is_view_v<Bits> && std::is_same_v<typename Bits::value_type, std::uint32_t>,
                "lanewise: a bitmap is a View of std::uint32_t");
  const auto bytes = kernels::text_of<Exec>("find_bitmap", text, what);
  const auto sink = detail::as_sink<Exec>(bits);
  const std::int64_t words = lanewise::divide_up(bytes.n, std::int64_t{32});
  detail::expects(sink.extent >= words, "find_bitmap: bits has ", sink.extent, " words, a text of ",
                  bytes.n, " bytes needs ", words);
  detail::expects_memory(sink, "find_bitmap", "bits");
  if (bytes.n > 0)
    kernels::search_for<Matcher>::find_bitmap(exec, bytes, what.view(), sink.data, options);
}

/// All positions of the text where the pattern begins, in order, and their number in the rank-0
/// View number. places is a View of integers, or a sink; where it has fewer places than there are
/// results, the first are written; number counts all of them. Nothing is written beyond the
/// results. As count, but no launch clears the number; on hosts the filter is a launch of its own
/// from 2^24 bytes on.
template <execution_space Exec, class Text, class Memory, class Places, class T, class... P>
void find_all(const Exec& exec, const Text& text, const pattern<Memory>& what, const Places& places,
              const Kokkos::View<T, P...>& number, const string_search_options& options = {}) {
  kernels::find_positions(exec, "find_all", text, what, places, number, options);
}
/// Overload that returns how many there are. **Blocks.** Throws std::length_error where an output
/// has fewer places than there are results: the first are written.
template <execution_space Exec, class Text, class Memory, class Places>
std::int64_t find_all(const Exec& exec, const Text& text, const pattern<Memory>& what,
                      const Places& places, const string_search_options& options = {}) {
  return kernels::blocking_number(
      exec, "find_all",
      [&](const auto& number) { lanewise::find_all(exec, text, what, places, number, options); },
      "places", places);
}

LANEWISE_END_TARGET_NAMESPACE
