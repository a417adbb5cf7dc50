// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/detail/workspace_arrays.hpp>
#include <lanewise/common/options.hpp>
#include <lanewise/league/decoupled_look_back.hpp>
#include <lanewise/select/detail/compact.hpp>
#include <lanewise/strings/detail/found_places.hpp>
#include <lanewise/strings/detail/text_block.hpp>
#include <lanewise/strings/pattern.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>

// Finds the places where one pattern occurs in a text: at which bytes, overlapping occurrences
// included. The calls read the text once, and compare with the whole pattern only where a word of
// it fits.

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

struct search_policy : launch_policy {
  static constexpr int teams_per_multiprocessor = 4;
  static constexpr int host_teams_per_thread = 16;
  static constexpr int most_steps = 512;  ///< of a piece where no filter has been
};
/// Kernels for short patterns look at one step at a time, and need other warps beside them.
template <bool is_short>
struct search_fold_policy : search_policy {
  static constexpr int teams_per_multiprocessor = is_short ? 6 : 4;
};

/// What a fold begins with.
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

/// Counts all places.
template <bool is_short>
struct search_count_kernel {
  struct policy : search_fold_policy<is_short> {};
  template <class Team>
  using scratch = typename text_piece<Team, is_short>::scratch;

  pattern_search search;
  std::int64_t* result;
  static constexpr std::int64_t nothing = 0;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    fold(team, shared, search, team.index(), team.league());
  }
  /// Folds every `stride`-th piece of a text, from piece `begin` on.
  template <class Team>
  LANEWISE_FUNCTION void fold(const Team& team, scratch<Team>& shared, const pattern_search& in,
                              std::int64_t begin, std::int64_t stride) const {
    using piece = text_piece<Team, is_short>;
    const auto warp = team.warp();
    std::uint64_t all = 0;
    for (std::int64_t p = begin; p < in.pieces; p += stride) {
      typename piece::words number(0u);
      piece(team, shared, in, p).find(counter<typename Team::warp_type>{warp, number});
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
    LANEWISE_FUNCTION void run(int, const detail::run_of_places& run) const {
      number = number + lanewise::select(warp.first(1), words(run.number), words(0u));
    }
  };
};

/// Finds the first place or the last.
template <bool is_short>
struct search_end_kernel {
  /// Four steps on their way at once take registers: an H200 reads 0.91 of what a sum reads by
  /// three teams, and 0.88 by four.
  struct policy : search_policy {
    static constexpr int teams_per_multiprocessor = is_short ? 6 : 3;
  };
  template <class Team>
  using scratch = typename text_piece<Team, is_short>::scratch;

  pattern_search search;
  std::int64_t* result;  // of the first: begins with -1, the greatest unsigned number
  bool is_first;
  static constexpr std::int64_t nothing = -1;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    fold(team, shared, search, team.index(), team.league());
  }
  /// Folds every `stride`-th piece of a text, from piece `begin` on.
  template <class Team>
  LANEWISE_FUNCTION void fold(const Team& team, scratch<Team>& shared, const pattern_search& in,
                              std::int64_t begin, std::int64_t stride) const {
    using piece_type = text_piece<Team, is_short>;
    const auto warp = team.warp();
    std::int64_t best = nothing;
    for (std::int64_t p = begin; p < in.pieces; p += stride) {
      const piece_type piece(team, shared, in, is_first ? p : in.pieces - 1 - p);
      if (is_decided(piece, best)) break;
      // Asked for before the piece, and looked at after it: nothing waits for it.
      best = warp.template load<order::relaxed>(*result);
      // One atomic operation for a piece: of the first step with places at once, so that others
      // stop; the last step is known after the piece.
      typename piece_type::words kept(0u);
      std::int64_t kept_first = 0;
      piece.find_alone([&](int, std::int64_t first, const auto& bits) LANEWISE_INLINE_LAMBDA {
        if (!warp.any(bits != 0u) || (is_first && warp.any(kept != 0u))) return;
        kept = bits;
        kept_first = first;
        if (is_first) tell(warp, first, bits);
      });
      if (!is_first && warp.any(kept != 0u)) tell(warp, kept_first, kept);
    }
  }

 private:
  /// Whether what was found is before a piece, or after it.
  template <class Piece>
  LANEWISE_FUNCTION bool is_decided(const Piece& piece, std::int64_t best) const {
    if (is_first) return best >= 0 && best < piece.first();
    return best >= piece.first() + piece.steps() * Piece::steps_type::places;
  }
  template <class Warp, class Words>
  LANEWISE_FUNCTION void tell(const Warp& warp, std::int64_t first, const Words& bits) const {
    const Words ordered = detail::text_steps<Warp>::in_order(warp, bits);
    const auto lanes = warp.ballot(ordered != 0u);
    const int lane = is_first ? Warp::lowest(lanes) : Warp::highest(lanes);
    const std::uint32_t word = warp.broadcast(ordered, lane);
    const std::int64_t at =
        first + 32 * lane + (is_first ? Warp::lowest(word) : Warp::highest(word));
    if (is_first) {
      warp.fetch_min(*reinterpret_cast<std::uint64_t*>(result), static_cast<std::uint64_t>(at));
    } else {
      warp.fetch_max(*result, at);
    }
  }
};

/// Writes a bit for every byte of the text, of patterns of up to 4 bytes.
struct search_bitmap_kernel {
  struct policy : search_policy {};
  template <class Team>
  using scratch = typename text_piece<Team, true>::scratch;

  pattern_search search;
  std::uint32_t* bits;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    for (std::int64_t p = team.index(); p < search.pieces; p += team.league())
      write(team.warp(), text_piece<Team, true>(team, shared, search, p));
  }

 private:
  template <class Warp, class Piece>
  LANEWISE_FUNCTION void write(const Warp& warp, const Piece& piece) const {
    using steps = typename Piece::steps_type;
    const int past = steps::past(search.text, search.pattern);
    if (past > 0) return write_across(warp, piece, past);
    piece.find([&](int, std::int64_t first, const auto& found)
                   LANEWISE_INLINE_LAMBDA { store(warp, first, steps::in_order(warp, found)); });
  }
  /// The places of a step begin `past` bytes too early: words of the bitmap are made of two, and
  /// the second may be of the next step.
  template <class Warp, class Piece>
  LANEWISE_FUNCTION void write_across(const Warp& warp, const Piece& piece, int past) const {
    using steps = typename Piece::steps_type;
    using words = typename Piece::words;
    words before(0u);
    std::int64_t at = 0;
    std::uint32_t after = 0;
    bool is_waiting = false;
    piece.find([&](int step, std::int64_t first, const auto& found) LANEWISE_INLINE_LAMBDA {
      const words here = steps::in_order(warp, found);
      if (is_waiting) store(warp, at, across(warp, before, warp.broadcast(here, 0), past));
      before = here;
      at = first + past;
      is_waiting = true;
      if (step + 1 == piece.steps()) after = piece.find_few(first + steps::places, past);
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
  using scratch = typename text_piece<Team, false>::scratch;

  pattern_search search;
  std::uint32_t* bits;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const auto warp = team.warp();
    for (std::int64_t p = team.index(); p < search.pieces; p += team.league())
      text_piece<Team, false>(team, shared, search, p)
          .find([&](int, std::int64_t first, const auto& found) LANEWISE_INLINE_LAMBDA {
            if (warp.any(found != 0u))
              add(warp, first, detail::text_steps<typename Team::warp_type>::in_order(warp, found));
          });
  }

 private:
  /// A lane's 32 places begin anywhere in a word of the bitmap, and in the first step before
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

/// Writes all places, in order, and counts them: a single pass with look-back.
template <bool is_short, class Sink>
struct search_places_kernel {
  struct policy : launch_policy {
    static constexpr int teams_per_multiprocessor = is_short ? 5 : 4;
    static constexpr int most_steps = text_cuts::kept_steps;
  };
  template <class Team>
  using found = found_places<Team, text_piece<Team, is_short>>;
  template <class Team>
  using scratch = decoupled_look_back_scratch<Team, std::int64_t, found<Team>>;

  pattern_search search;
  Sink places;
  look_back_chain<std::int64_t> link;
  detail::integers number;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const auto pieces = static_cast<std::uint32_t>(search.pieces);
    lanewise::for_each_ticket(
        team, link, pieces, shared.link, [&](auto mine) LANEWISE_INLINE_LAMBDA {
          const text_piece<Team, is_short> piece(team, shared.scratch.piece, search, mine.ticket);
          found<Team> here(team, shared.scratch, piece);
          const std::int64_t all = here.total();
          const std::int64_t before =
              lanewise::publish_and_look_back(team, link, mine, shared.link, all, plus{},
                                              maybe<std::int64_t>{0, true})
                  .value;
          here.store(places, before);
          if (mine.ticket + 1 == pieces) team.once([&] { number.put(0, before + all); });
        });
  }
};

/// From this number of bytes on, the filter is a launch of its own. Then an H200 reads 1.05 to 1.2
/// times as fast, but the second launch takes 15 us, in which it reads 65 MB.
inline constexpr std::int64_t filtered_bytes = std::int64_t{1} << 28;

/// Whether it pays for a text of n bytes; in_order: where pieces wait for those before them. Many
/// threads of a host wait for the slowest of them in every piece, and for none in a filter.
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
        is_filtered_(is_filtered && !pattern.is_short()),
        search_{text, pattern, text_cuts::make<warp_type>(text.n, is_filtered_), 0} {
    search_.pieces = search_.cuts.template pieces<warp_type>(text.n);
  }

  bool is_filtered() const { return is_filtered_; }
  const pattern_search& search() const { return search_; }
  std::int64_t pieces() const { return search_.pieces; }
  /// As a kernel has it: without the filter, each of its teams has as many pieces, but for some
  /// teams that are spared.
  template <class Kernel>
  pattern_search shared_by(std::int64_t spared = 0) const {
    pattern_search mine = search_;
    if (is_filtered_) return mine;
    const std::int64_t teams = backend_of<Exec>::template resident_teams<Kernel>(exec_) - spared;
    mine.cuts = mine.cuts.template shared_by<warp_type>(
        mine.text.n, std::max(teams, std::int64_t{1}), Kernel::policy::most_steps);
    mine.pieces = mine.cuts.template pieces<warp_type>(mine.text.n);
    return mine;
  }
  call_workspace make_workspace(workspace* given, const char* algorithm) const {
    return call_workspace::make<backend_of<Exec>>(exec_, given, parts().size(), algorithm);
  }
  /// Runs the filter. A number and words at `zeros` become zero.
  void filter(const workspace& work, std::int64_t* zero = nullptr, std::uint32_t* zeros = nullptr,
              std::int64_t number = 0) {
    search_.passed =
        workspace_arrays::view<std::uint32_t, Exec>(work, parts().passed_at, words()).data();
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
                     backend_of<Exec>::template resident_league<Kernel>(exec_, mine.pieces),
                     Kernel{mine, args...});
  }
  template <bool is_short, class Sink>
  void run_in_order(const workspace& work, const Sink& sink, const detail::integers& number) const {
    using kernel = search_places_kernel<is_short, Sink>;
    const pattern_search mine = shared_by<kernel>();
    lanewise::launch(
        exec_, "Lanewise::find_all",
        backend_of<Exec>::template league_for_tiles<kernel>(exec_, mine.pieces),
        kernel{mine, sink, work.template make_look_back_chain<std::int64_t>(0), number});
  }

  /// What the workspace holds: the chain's values, then what the filter passes.
  struct memory_parts : workspace_arrays {
    memory_parts(std::int64_t pieces, std::int64_t words)
        : workspace_arrays({pieces, look_back_chain<std::int64_t>::payload_bytes(pieces)}),
          passed_at(add<std::uint32_t>(words)) {}
    std::size_t passed_at;
  };

 private:
  std::int64_t words() const { return search_.cuts.template words<warp_type>(search_.text.n); }
  memory_parts parts() const { return memory_parts(pieces(), words()); }

  const Exec& exec_;
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
/// The place for the one result of a call.
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
                std::int64_t* place, bool is_first) {
  lanewise::launch(exec, "Lanewise::string_search::begin", 1, search_begin_kernel{place, -1});
  if (text.n < what.size) return;
  const search_call<Exec> call(exec, text, what, false);
  if (what.is_short()) {
    call.template run<search_end_kernel<true>>("Lanewise::find_end", place, is_first);
  } else {
    call.template run<search_end_kernel<false>>("Lanewise::find_end", place, is_first);
  }
}
template <class Exec>
void search_count(const Exec& exec, const detail::text_bytes& text,
                  const detail::pattern_view& what, std::int64_t* place,
                  const string_search_options& options) {
  search_call<Exec> call(exec, text, what, kernels::has_own_filter<Exec>(text.n, false));
  if (call.is_filtered()) {
    auto work = call.make_workspace(options.work, "count");
    call.filter(work.get(), place);
    call.template run<search_count_kernel<false>>("Lanewise::count", place);
    return;
  }
  lanewise::launch(exec, "Lanewise::string_search::begin", 1, search_begin_kernel{place, 0});
  if (text.n < what.size) return;
  if (what.is_short()) {
    call.template run<search_count_kernel<true>>("Lanewise::count", place);
  } else {
    call.template run<search_count_kernel<false>>("Lanewise::count", place);
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
  LANEWISE_COMPILED_TEMPLATE void search_end<Exec>(                                                \
      const Exec&, const detail::text_bytes&, const detail::pattern_view&, std::int64_t*, bool);   \
  LANEWISE_COMPILED_TEMPLATE void search_count<Exec>(const Exec&, const detail::text_bytes&,       \
                                                     const detail::pattern_view&, std::int64_t*,   \
                                                     const string_search_options&);                \
  LANEWISE_COMPILED_TEMPLATE void search_bitmap<Exec>(const Exec&, const detail::text_bytes&,      \
                                                      const detail::pattern_view&, std::uint32_t*, \
                                                      const string_search_options&);
LANEWISE_FOR_ALL_SPACES(LANEWISE_COMPILED_SEARCHES)
#undef LANEWISE_COMPILED_SEARCHES
#endif

template <class Exec, class Text, class Memory, class... P>
void find_end(const Exec& exec, const char* algorithm, const Text& text,
              const pattern<Memory>& what, const Kokkos::View<std::int64_t, P...>& result,
              bool is_first) {
  const auto bytes = kernels::text_of<Exec>(algorithm, text, what);
  kernels::search_end(exec, bytes, what.view(), kernels::result_place<Exec>(algorithm, result),
                      is_first);
}

}  // namespace kernels

/// The workspace that count, find_bitmap and find_all need for a text of n bytes: n / 140 bytes
/// at most, and n / 2000 from 2^30 bytes on. Needs no device.
template <class Exec>
workspace_size string_search_workspace(std::int64_t n) {
  using warp_type = warp_t<Exec>;
  const auto filtered = kernels::text_cuts::make<warp_type>(n, true);
  const auto other = kernels::text_cuts::make<warp_type>(n, false);
  return typename kernels::search_call<Exec>::memory_parts(
             std::max(filtered.template pieces<warp_type>(n), other.template pieces<warp_type>(n)),
             filtered.template words<warp_type>(n))
      .size();
}

/// How often a pattern occurs in a text, overlapping occurrences included: stored in the rank-0
/// View result.
///
/// text is a contiguous View of bytes (char, unsigned char, std::byte), which may begin anywhere.
/// Two launches. On devices from 2^28 bytes on, for patterns of more than 4 bytes, the first is a
/// filter that reads the text. The second then compares what the filter passes. Else the first sets
/// the result. O(n + m) work, and m more for each 1 to 64 KiB of a text in which the filter passes
/// very many places; with wildcards, O(m) for each of these. Does not block.
template <execution_space Exec, class Text, class Memory, class... P>
void count(const Exec& exec, const Text& text, const pattern<Memory>& what,
           const Kokkos::View<std::int64_t, P...>& result,
           const string_search_options& options = {}) {
  const auto bytes = kernels::text_of<Exec>("count", text, what);
  kernels::search_count(exec, bytes, what.view(), kernels::result_place<Exec>("count", result),
                        options);
}
/// Overload that returns the result. **Blocks.**
template <execution_space Exec, class Text, class Memory>
std::int64_t count(const Exec& exec, const Text& text, const pattern<Memory>& what,
                   const string_search_options& options = {}) {
  return kernels::blocking_result<std::int64_t>(
      exec, [&](const auto& result) { lanewise::count(exec, text, what, result, options); });
}
/// The first place of the text where the pattern begins, or -1. Reads the text up to there, and
/// what is read at the same time. As count, but without a workspace.
template <execution_space Exec, class Text, class Memory, class... P>
void find_first(const Exec& exec, const Text& text, const pattern<Memory>& what,
                const Kokkos::View<std::int64_t, P...>& result) {
  kernels::find_end(exec, "find_first", text, what, result, true);
}
template <execution_space Exec, class Text, class Memory>
std::int64_t find_first(const Exec& exec, const Text& text, const pattern<Memory>& what) {
  return kernels::blocking_result<std::int64_t>(
      exec, [&](const auto& result) { lanewise::find_first(exec, text, what, result); });
}
/// The last place of the text where the pattern begins, or -1. As find_first, from the back.
template <execution_space Exec, class Text, class Memory, class... P>
void find_last(const Exec& exec, const Text& text, const pattern<Memory>& what,
               const Kokkos::View<std::int64_t, P...>& result) {
  kernels::find_end(exec, "find_last", text, what, result, false);
}
template <execution_space Exec, class Text, class Memory>
std::int64_t find_last(const Exec& exec, const Text& text, const pattern<Memory>& what) {
  return kernels::blocking_result<std::int64_t>(
      exec, [&](const auto& result) { lanewise::find_last(exec, text, what, result); });
}
/// Whether the pattern occurs in the text. As find_first. **Blocks.**
template <execution_space Exec, class Text, class Memory>
bool contains(const Exec& exec, const Text& text, const pattern<Memory>& what) {
  return lanewise::find_first(exec, text, what) >= 0;
}

/// Bit i % 32 of word i / 32 says whether the pattern begins at byte i of the text: a View of
/// std::uint32_t with a word for every 32 bytes of the text. All words are written. As count.
template <execution_space Exec, class Text, class Memory, class Bits>
void find_bitmap(const Exec& exec, const Text& text, const pattern<Memory>& what, const Bits& bits,
                 const string_search_options& options = {}) {
  static_assert(Kokkos::is_view_v<Bits> && std::is_same_v<typename Bits::value_type, std::uint32_t>,
                "lanewise: a bitmap is a View of std::uint32_t");
  const auto bytes = kernels::text_of<Exec>("find_bitmap", text, what);
  const auto sink = detail::as_sink<Exec>(bits);
  const std::int64_t words = lanewise::divide_up(bytes.n, std::int64_t{32});
  detail::expects(sink.extent >= words, "find_bitmap: bits has ", sink.extent, " words, a text of ",
                  bytes.n, " bytes needs ", words);
  detail::expects_memory(sink, "find_bitmap", "bits");
  if (bytes.n == 0) return;
  kernels::search_bitmap(exec, bytes, what.view(), sink.data, options);
}

/// All places of the text where the pattern begins, in order, and their number in the rank-0 View
/// number. places is a View of integers, or a sink; where it has fewer places than there are
/// results, the first are written; number counts all of them. Nothing is written beyond the
/// results. As count, but no launch clears the number; on hosts the filter is a launch of its own
/// from 2^24 bytes on.
template <execution_space Exec, class Text, class Memory, class Places, class T, class... P>
void find_all(const Exec& exec, const Text& text, const pattern<Memory>& what, const Places& places,
              const Kokkos::View<T, P...>& number, const string_search_options& options = {}) {
  const auto bytes = kernels::text_of<Exec>("find_all", text, what);
  const auto sink = detail::as_sink<Exec>(places);
  detail::expects_memory(sink, "find_all", "places");
  if constexpr (detail::check_results<Exec, std::int64_t, std::decay_t<decltype(sink)>>()) {
    const auto count = kernels::count_place<Exec>(number, "find_all");
    kernels::search_call<Exec> call(exec, bytes, what.view(),
                                    kernels::has_own_filter<Exec>(bytes.n, true));
    auto work = call.make_workspace(options.work, "find_all");
    if (call.is_filtered()) call.filter(work.get());
    if (what.view().is_short()) {
      call.template run_in_order<true>(work.get(), sink, count);
    } else {
      call.template run_in_order<false>(work.get(), sink, count);
    }
  }
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
