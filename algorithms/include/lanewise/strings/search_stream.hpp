// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/strings/string_search.hpp>

#include <algorithm>
#include <string_view>
#include <type_traits>

// Searches in a text that comes in chunks, which are cut anywhere: what one call finds in the whole
// text, without waiting between chunks.

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// The seam of two chunks: the last bytes of what came before, and the first of a chunk. What
/// begins in the former is found in them, what begins in the chunk in the chunk itself.
///
///   stream   ... t h e   l a s t | c h u n k   i s   h e r e | ...       a pattern of 5 bytes
///                        l a s t   c h u n                               the seam
///                                                    h e r e             kept for the next one
struct stream_seam {
  unsigned char* bytes;   // bytes that were kept, and room for the chunk's
  unsigned char* next;    // where those go that the next seam begins with
  std::int64_t kept;      // of the stream
  std::int64_t joined;    // of the chunk, after them
  std::int64_t from_old;  // bytes of the kept ones that the next seam begins with
  std::int64_t from_new;  // and of the chunk
  detail::text_bytes chunk;

  /// The text that is searched for patterns of m bytes: none where there is no room for one.
  detail::text_bytes text(std::int64_t m) const {
    const bool has_room = kept + joined >= m;
    return {bytes, has_room ? kept + joined : 0, chunk.begin - kept};
  }
  /// Whether one team prepares and searches it in the shadow of the others.
  LANEWISE_FUNCTION bool is_short() const { return kept + joined <= 4096; }

  /// Part of the copies, each begun by another warp.
  template <class Team>
  LANEWISE_RARE_FUNCTION void prepare(const Team& team, std::int64_t share,
                                      std::int64_t shares) const {
    copy_share(team, 0, even_share(joined, share, shares), chunk.data, bytes + kept);
    copy_share(team, 1, even_share(from_old, share, shares), bytes + (kept - from_old), next);
    copy_share(team, 2, even_share(from_new, share, shares), chunk.data + (chunk.n - from_new),
               next + from_old);
  }

 private:
  template <class Team>
  LANEWISE_FUNCTION static void copy_share(const Team& team, int turn, const index_range& mine,
                                           const unsigned char* from, unsigned char* to) {
    constexpr int width = Team::warp_type::width;
    const auto warp = team.warp();
    for (std::int64_t i = mine.begin + (team.warp_index() + turn) % Team::warps * width;
         i < mine.end; i += Team::warps * width) {
      const auto there = warp.template first<unsigned char>(mine.end - i);
      warp.store(there, to + i, warp.load(there, from + i, static_cast<unsigned char>(0)));
    }
  }
};

/// Long seams are prepared by all teams, in a launch of their own.
struct prepare_seam_kernel {
  struct policy : launch_policy {};
  template <class Team>
  struct scratch {};
  static constexpr std::int64_t bytes_of_team = 1 << 10;

  stream_seam seam;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    seam.prepare(team, team.index(), team.league());
  }
};

/// Counts, or finds the first or last position, in a chunk and its seam. The last team, which has
/// the fewest blocks of the chunk, has a short seam.
template <class Fold>
struct chunk_fold_kernel {
  struct policy : Fold::policy {};
  template <class Team>
  using scratch = typename Fold::template scratch<Team>;

  stream_seam seam;
  typename Fold::search_type of_seam;
  Fold of_chunk;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const bool is_short = seam.is_short();
    const bool has_seam = !is_short || team.index() + 1 == team.league();
    if (has_seam && is_short) {
      seam.prepare(team, 0, 1);
      team.barrier();
    }
    // One loop for both, so that registers are enough.
    for (int pass = has_seam ? 0 : 1; pass < 2; ++pass) {
      const typename Fold::search_type& in = pass == 0 ? of_seam : of_chunk.search;
      const bool is_alone = pass == 0 && is_short;
      of_chunk.fold(team, shared, in, is_alone ? 0 : team.index(), is_alone ? 1 : team.league());
    }
  }
};

/// A search of a chunk and its seam, as pattern_matches. The first blocks are the seam's.
template <bool is_short>
struct stream_matches {
  template <class Team>
  using block = text_block<Team, is_short>;
  using positions_policy = typename pattern_matches<is_short>::positions_policy;

  stream_seam seam;
  pattern_search of_seam, of_chunk;
  std::int64_t blocks;
  const std::int64_t* before;  ///< how many positions were found; null: none
  std::int64_t* after;         ///< how many there are now

  template <class Team>
  LANEWISE_FUNCTION block<Team> block_of(const Team& team, typename block<Team>::scratch& shared,
                                         std::int64_t index) const {
    if (index == 0 && seam.is_short()) {
      seam.prepare(team, 0, 1);
      team.barrier();
    }
    const bool is_seam = index < of_seam.blocks;
    return block<Team>(team, shared, is_seam ? of_seam : of_chunk,
                       is_seam ? index : index - of_seam.blocks);
  }
  LANEWISE_FUNCTION std::int64_t found_before() const { return before == nullptr ? 0 : *before; }
  LANEWISE_FUNCTION void finish(std::int64_t number) const { *after = number; }
};

}  // namespace kernels

/// A search for one pattern in a text that comes in chunks, one call for each of them. The chunks
/// may be cut anywhere and be of any length, shorter than the pattern or without bytes, too; the
/// results are those of one call on the whole text (string_search.hpp). Positions have 64 bits.
///
/// A stream is used for one kind of result: all its chunks go to count, say. Results are those of
/// the chunks so far; an occurrence belongs to the chunk in which it ends. The same Views are given
/// with every chunk, and the first chunk sets them. All calls of a stream are for one instance, or
/// the caller orders them. Nothing blocks, and no chunk is needed after its call has run. One
/// launch for each chunk, two for patterns of more than 2,049 bytes; all but find_all have one more
/// for the first chunk. Work and traffic are those of the call on the chunk, and O(m) for each
/// chunk: at most 2 (m - 1) bytes are searched once more, and as many are copied. The results are
/// the same on every backend. Throws std::invalid_argument where a stream is used for a second kind
/// of result, and as the calls do.
///
/// Memory: 4 (m - 1) bytes and 16 more.
template <class MemorySpace>
class search_stream {
 public:
  using memory_space = MemorySpace;

  /// first: the position of the first byte. **Blocks.** Throws std::invalid_argument where it is
  /// negative.
  explicit search_stream(const pattern<MemorySpace>& what, std::int64_t first = 0)
      : what_(what),
        kept_bytes_(
            Kokkos::view_alloc("lanewise::search_stream::kept", Kokkos::WithoutInitializing),
            static_cast<std::size_t>(4 * most_kept())),
        numbers_("lanewise::search_stream::numbers") {
    reset(first);
  }
  search_stream(const search_stream&) = delete;
  search_stream& operator=(const search_stream&) = delete;
  search_stream(search_stream&&) = default;
  search_stream& operator=(search_stream&&) = default;

  /// The position after the chunks so far.
  std::int64_t end() const { return end_; }
  /// Begins another text, and any kind of result.
  void reset(std::int64_t first = 0) {
    detail::expects(first >= 0, "search_stream: first is ", first, ", less than 0");
    end_ = first;
    kept_ = 0;
    kind_ = "";
  }

  /// How often the pattern occurs, in the rank-0 View result.
  template <execution_space Exec, class Chunk, class... P>
  void count(const Exec& exec, const Chunk& chunk, const Kokkos::View<std::int64_t, P...>& result) {
    std::int64_t* const sum = kernels::result_place<Exec>("search_stream::count", result);
    if (what_.view().is_short()) {
      fold<count_kernel<true>>(exec, "search_stream::count", chunk, sum, sum);
    } else {
      fold<count_kernel<false>>(exec, "search_stream::count", chunk, sum, sum);
    }
  }
  /// The first position, or -1. Chunks after it are hardly read.
  template <execution_space Exec, class Chunk, class... P>
  void find_first(const Exec& exec, const Chunk& chunk,
                  const Kokkos::View<std::int64_t, P...>& result) {
    find_end(exec, "search_stream::find_first", chunk, result, true);
  }
  /// The last position, or -1.
  template <execution_space Exec, class Chunk, class... P>
  void find_last(const Exec& exec, const Chunk& chunk,
                 const Kokkos::View<std::int64_t, P...>& result) {
    find_end(exec, "search_stream::find_last", chunk, result, false);
  }
  /// Appends positions to places, in order; number becomes how many there are. Where places has
  /// fewer places than there are results, the first are written; number counts all of them. The
  /// workspace is that of search_stream_workspace<Exec>(m, n) for chunks of up to n bytes.
  template <execution_space Exec, class Chunk, class Places, class T, class... P>
  void find_all(const Exec& exec, const Chunk& chunk, const Places& places,
                const Kokkos::View<T, P...>& number, const string_search_options& options = {});

 private:
  template <bool is_short>
  using count_kernel = kernels::text_count_kernel<kernels::pattern_matches<is_short>>;

  std::int64_t most_kept() const { return what_.size() - 1; }
  bool is_new() const { return *kind_ == '\0'; }

  template <class Exec, class Chunk>
  kernels::stream_seam seam_of(const Exec&, const char* algorithm, const Chunk& chunk) {
    detail::expects(is_new() || std::string_view(kind_) == algorithm, algorithm,
                    ": the stream is one of ", kind_, "; reset() begins another");
    auto bytes = kernels::text_of<Exec>(algorithm, chunk, what_);
    bytes.begin = end_;
    const std::int64_t from_new = std::min(bytes.n, most_kept());
    const std::int64_t from_old = std::min(kept_, most_kept() - from_new);
    unsigned char* const all = kept_bytes_.data();
    return {all + turn_ * 2 * most_kept(),
            all + (1 - turn_) * 2 * most_kept(),
            kept_,
            from_new,
            from_old,
            from_new,
            bytes};
  }
  template <class Exec>
  void prepare_if_long(const Exec& exec, const kernels::stream_seam& seam) const {
    using kernel = kernels::prepare_seam_kernel;
    if (seam.is_short()) return;
    lanewise::launch(exec, "Lanewise::search_stream::prepare",
                     backend_of<Exec>::template resident_league<kernel>(
                         exec, divide_up(seam.kept + seam.joined, kernel::bytes_of_team)),
                     kernel{seam});
  }
  void go_on_after(const char* algorithm, const kernels::stream_seam& seam) {
    kind_ = algorithm;
    end_ += seam.chunk.n;
    kept_ = seam.from_old + seam.from_new;
    turn_ = 1 - turn_;
  }

  template <class Exec, class Chunk, class... P>
  void find_end(const Exec& exec, const char* algorithm, const Chunk& chunk,
                const Kokkos::View<std::int64_t, P...>& result, bool is_first) {
    const kernels::extreme_position end{kernels::result_place<Exec>(algorithm, result), is_first};
    if (what_.view().is_short()) {
      fold<kernels::search_end_kernel<true>>(exec, algorithm, chunk, end.result, end);
    } else {
      fold<kernels::search_end_kernel<false>>(exec, algorithm, chunk, end.result, end);
    }
  }
  /// target: what the kernel has for its result.
  template <class Fold, class Exec, class Chunk, class Target>
  void fold(const Exec& exec, const char* algorithm, const Chunk& chunk, std::int64_t* result,
            const Target& target) {
    using kernel = kernels::chunk_fold_kernel<Fold>;
    const auto seam = seam_of(exec, algorithm, chunk);
    if (is_new()) kernels::begin_result(exec, result, Fold::nothing);
    prepare_if_long(exec, seam);
    const auto of_seam = search_in(exec, seam.text(what_.size()));
    const auto of_chunk = search_in(exec, seam.chunk);
    const auto mine = of_chunk.template shared_by<kernel>(1);
    lanewise::launch(exec, "Lanewise::search_stream",
                     backend_of<Exec>::template resident_league<kernel>(
                         exec, std::max(of_seam.blocks(), mine.blocks + 1)),
                     kernel{seam, {of_seam.search()}, Fold{{mine}, target}});
    go_on_after(algorithm, seam);
  }
  template <class Exec>
  kernels::search_call<Exec> search_in(const Exec& exec, const detail::text_bytes& text) const {
    return {exec, text, what_.view(), false};
  }

  pattern<MemorySpace> what_;
  Kokkos::View<unsigned char*, MemorySpace> kept_bytes_;  // two seams, in turn
  Kokkos::View<std::int64_t[2], MemorySpace> numbers_;    // of places, in turn
  std::int64_t end_ = 0, kept_ = 0;
  int turn_ = 0;
  const char* kind_ = "";  // the kind of calls that the stream takes
};

/// The workspace that search_stream::find_all needs for a pattern of m bytes and chunks of up to n
/// bytes. Needs no device.
template <class Exec>
workspace_size search_stream_workspace(std::int64_t m, std::int64_t n) {
  // Shorter texts may have more blocks, but none has shorter blocks than the shortest.
  using warp_type = warp_t<Exec>;
  const auto least = kernels::text_partition::make<warp_type>(0, false);
  const std::int64_t blocks =
      least.template blocks<warp_type>(2 * (m - 1)) + least.template blocks<warp_type>(n);
  return {blocks, look_back_chain<std::int64_t>::payload_bytes(blocks)};
}

template <class MemorySpace>
template <execution_space Exec, class Chunk, class Places, class T, class... P>
void search_stream<MemorySpace>::find_all(const Exec& exec, const Chunk& chunk,
                                          const Places& places, const Kokkos::View<T, P...>& number,
                                          const string_search_options& options) {
  constexpr const char* algorithm = "search_stream::find_all";
  const auto seam = seam_of(exec, algorithm, chunk);
  const auto sink = detail::as_sink<Exec>(places);
  detail::expects_memory(sink, algorithm, "places");
  const auto count = kernels::count_place<Exec>(number, algorithm);
  if constexpr (detail::check_results<Exec, std::int64_t, std::decay_t<decltype(sink)>>()) {
    const auto of_seam = search_in(exec, seam.text(what_.size()));
    const auto of_chunk = search_in(exec, seam.chunk);
    const std::int64_t most = of_seam.blocks() + of_chunk.blocks();
    auto work = call_workspace::make<backend_of<Exec>>(
        exec, options.work, {most, look_back_chain<std::int64_t>::payload_bytes(most)}, algorithm);
    prepare_if_long(exec, seam);
    const auto run = [&](auto is_short) {
      using search = kernels::stream_matches<decltype(is_short)::value>;
      using kernel = kernels::text_positions_kernel<search, std::decay_t<decltype(sink)>>;
      const auto mine = of_chunk.template shared_by<kernel>();
      const std::int64_t blocks = of_seam.blocks() + mine.blocks;
      lanewise::launch(
          exec, "Lanewise::search_stream::find_all",
          backend_of<Exec>::template league_for_tiles<kernel>(exec, blocks),
          kernel{
              search{seam, of_seam.search(), mine, blocks,
                     is_new() ? nullptr : numbers_.data() + turn_, numbers_.data() + (1 - turn_)},
              sink, work.get().template make_look_back_chain<std::int64_t>(0), count});
    };
    if (what_.view().is_short()) {
      run(std::true_type{});
    } else {
      run(std::false_type{});
    }
    go_on_after(algorithm, seam);
  }
}

LANEWISE_END_TARGET_NAMESPACE
