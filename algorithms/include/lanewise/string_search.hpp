// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/allocation.hpp>
#include <lanewise/decoupled_look_back.hpp>
#include <lanewise/detail/compact.hpp>
#include <lanewise/detail/strings/matches.hpp>
#include <lanewise/options.hpp>
#include <lanewise/pattern.hpp>

#include <Kokkos_Core.hpp>

// Where one pattern occurs in a text: at which bytes, overlapping occurrences included. The calls
// read the text once, and compare with the whole pattern only where a word of it fits.

LANEWISE_BEGIN_NAMESPACE

/// Options of searches in texts.
struct string_search_options {
  /// Memory for temporaries; without it the call allocates in the order of its instance. Only
  /// find_all needs some.
  workspace_ref work = {};
};

LANEWISE_END_NAMESPACE

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// A piece of a text that a team works on at a time: some steps of match_finder for each warp, one
/// behind the other.
template <class Team>
class text_piece {
  using warp_type = typename Team::warp_type;
  using finder = detail::match_finder<warp_type>;

 public:
  /// Of the team's scratch.
  struct scratch {
    detail::compared_text of_warp[Team::warps];
  };

  LANEWISE_FUNCTION text_piece(const Team& team, scratch& shared, const detail::text_bytes& text,
                               const detail::pattern_view& pattern, int steps, std::int64_t piece)
      : team_(team),
        compared_(shared.of_warp[team.warp_index()]),
        text_(text),
        pattern_(pattern),
        steps_(steps / Team::warps),
        first_((piece * steps + team.warp_index() * steps_) * std::int64_t{finder::places} -
               finder::past(text, pattern)) {}

  /// Calls f(step, bits, matches) for the steps of this warp.
  template <class F>
  LANEWISE_FUNCTION void find(F f) const {
    const auto warp = team_.warp();
    const finder matches(warp, text_, pattern_, compared_, first_, steps_);
    const std::int64_t left = divide_up(text_.n - first_, std::int64_t{finder::places});
    const int steps = left < steps_ ? static_cast<int>(left) : steps_;
    for (int s = 0; s < steps; ++s) f(s, matches.find(s), matches);
  }
  /// How many steps a warp has, and the position of its first place.
  LANEWISE_FUNCTION int steps() const { return steps_; }
  LANEWISE_FUNCTION std::int64_t first() const { return text_.begin + first_; }

 private:
  const Team& team_;
  detail::compared_text& compared_;
  const detail::text_bytes& text_;
  const detail::pattern_view& pattern_;
  int steps_;
  std::int64_t first_;
};

/// How many steps a piece has: so many that there are a thousand pieces, 128 at most. In front of
/// the text up to 15 bytes belong to the first piece.
template <class Warp>
struct text_cuts {
  static constexpr int most_steps = 128;
  static int steps(std::int64_t n) {
    int s = 8;
    while (s < most_steps && n / (detail::match_finder<Warp>::places * s) > 2000) s *= 2;
    return s;
  }
  static LANEWISE_FUNCTION std::int64_t pieces(std::int64_t n, int steps) {
    return divide_up(n + 15, detail::match_finder<Warp>::places * steps);
  }
};

struct search_policy : launch_policy {
  static constexpr int teams_per_multiprocessor = 3;
  static constexpr int host_teams_per_thread = 16;
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

/// Counts all places, or finds the first or the last.
struct search_fold_kernel {
  struct policy : search_policy {};
  template <class Team>
  using scratch = typename text_piece<Team>::scratch;

  enum class wanted { number, first, last };
  static std::int64_t nothing(wanted w) { return w == wanted::number ? 0 : -1; }

  detail::text_bytes text;
  detail::pattern_view pattern;
  int steps;
  wanted what;
  std::int64_t* result;  // of the first: begins with -1, the greatest unsigned number

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    fold(team, shared, text, steps, team.index(), team.league());
  }
  /// Every so many pieces of a text, from one on.
  template <class Team>
  LANEWISE_FUNCTION void fold(const Team& team, scratch<Team>& shared,
                              const detail::text_bytes& searched, int steps_of_piece,
                              std::int64_t first, std::int64_t stride) const {
    using warp_type = typename Team::warp_type;
    const auto warp = team.warp();
    const std::int64_t pieces = text_cuts<warp_type>::pieces(searched.n, steps_of_piece);
    std::uint64_t number = 0;
    for (std::int64_t p = first; p < pieces; p += stride) {
      const text_piece<Team> piece(team, shared, searched, pattern, steps_of_piece,
                                   what == wanted::last ? pieces - 1 - p : p);
      if (what == wanted::number) {
        number += count(warp, piece);
      } else if (is_decided(warp, piece)) {
        break;
      } else {
        piece.find([&](int step, const auto& bits, const auto& matches) LANEWISE_INLINE_LAMBDA {
          take(warp, searched.begin + matches.first_of(step), bits, matches);
        });
      }
    }
    if (number != 0) warp.fetch_add(*reinterpret_cast<std::uint64_t*>(result), number);
  }

 private:
  template <class Warp, class Piece>
  LANEWISE_FUNCTION std::uint64_t count(const Warp& warp, const Piece& piece) const {
    typename Warp::template lanes<std::uint32_t> number(0u);
    piece.find([&](int, const auto& bits, const auto&)
                   LANEWISE_INLINE_LAMBDA { number = number + detail::bits_set(warp, bits); });
    return warp.reduce(number, plus{});
  }
  /// Whether what was found is in front of a piece, or behind it.
  template <class Warp, class Piece>
  LANEWISE_FUNCTION bool is_decided(const Warp& warp, const Piece& piece) const {
    const std::int64_t best = warp.template load<order::relaxed>(*result);
    if (what == wanted::first) return best >= 0 && best < piece.first();
    return best >= piece.first() + piece.steps() * detail::match_finder<Warp>::places;
  }
  template <class Warp, class Words, class Finder>
  LANEWISE_FUNCTION void take(const Warp& warp, std::int64_t place, const Words& bits,
                              const Finder& matches) const {
    if (!warp.any(bits != 0u)) return;
    const Words ordered = matches.in_order(bits);
    const auto lanes = warp.ballot(ordered != 0u);
    const bool is_first = what == wanted::first;
    const int lane = is_first ? Warp::lowest(lanes) : Warp::highest(lanes);
    const std::uint32_t word = warp.broadcast(ordered, lane);
    const std::int64_t at =
        place + 32 * lane + (is_first ? Warp::lowest(word) : Warp::highest(word));
    if (is_first) {
      warp.fetch_min(*reinterpret_cast<std::uint64_t*>(result), static_cast<std::uint64_t>(at));
    } else {
      warp.fetch_max(*result, at);
    }
  }
};

/// Writes a bit for every byte of the text.
struct search_bitmap_kernel {
  struct policy : search_policy {};
  template <class Team>
  using scratch = typename text_piece<Team>::scratch;

  detail::text_bytes text;
  detail::pattern_view pattern;
  int steps;
  std::uint32_t* bits;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const std::int64_t pieces = text_cuts<typename Team::warp_type>::pieces(text.n, steps);
    for (std::int64_t p = team.index(); p < pieces; p += team.league())
      write(team, shared, text_piece<Team>(team, shared, text, pattern, steps, p));
  }

 private:
  /// The places of a step begin `past` bytes too early: words of the bitmap are made of two, the
  /// second of which may be of the next step.
  template <class Team>
  LANEWISE_FUNCTION void write(const Team& team, scratch<Team>& shared,
                               const text_piece<Team>& piece) const {
    using finder = detail::match_finder<typename Team::warp_type>;
    using words = typename finder::words;
    const auto warp = team.warp();
    const int past = finder::past(text, pattern);
    words before(0u);
    std::int64_t at = 0;
    bool is_waiting = false;
    piece.find([&](int step, const auto& found, const auto& matches) LANEWISE_INLINE_LAMBDA {
      const words here = warp.any(found != 0u) ? matches.in_order(found) : words(0u);
      if (is_waiting) store(warp, at, before, warp.broadcast(here, 0), past);
      before = here;
      at = matches.first_of(step) + past;
      is_waiting = true;
    });
    if (!is_waiting) return;
    std::uint32_t behind = 0;
    if (past > 0)
      behind = finder(warp, text, pattern, shared.of_warp[team.warp_index()], 0, 0)
                   .find_few(at - past + finder::places, past);
    store(warp, at, before, behind, past);
  }
  template <class Warp, class Words>
  LANEWISE_FUNCTION void store(const Warp& warp, std::int64_t at, const Words& step,
                               std::uint32_t behind, int past) const {
    const auto next =
        warp.shuffle(select(warp.first(1), Words(behind), step),
                     warp.map([](std::uint32_t lane) { return lane + 1; }, warp.lane()));
    const auto word = warp.map(
        [past](std::uint32_t a, std::uint32_t b) {
          return static_cast<std::uint32_t>((std::uint64_t{b} << 32 | a) >> past);
        },
        step, next);
    const std::int64_t left = divide_up(text.n, std::int64_t{32}) - at / 32;
    if (left > 0)
      warp.store(warp.first(static_cast<int>(left < Warp::width ? left : Warp::width)),
                 bits + at / 32, word);
  }
};

/// The places of a piece, found, and to be written behind those of the pieces in front.
template <class Team>
class found_places {
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;

 public:
  struct scratch {
    typename text_piece<Team>::scratch piece;
    std::uint32_t bits[text_cuts<warp_type>::most_steps * width];
    std::uint32_t of_warp[Team::warps];
  };
  static constexpr bool stores_unscanned = false;

  LANEWISE_FUNCTION found_places(const Team& team, scratch& shared, const text_piece<Team>& piece)
      : team_(team),
        shared_(shared),
        bits_(shared.bits + team.warp_index() * piece.steps() * width),
        first_(piece.first()) {
    const auto warp = team.warp();
    typename warp_type::template lanes<std::uint32_t> number(0u);
    piece.find([&](int step, const auto& bits, const auto& matches) LANEWISE_INLINE_LAMBDA {
      steps_ = step + 1;
      number = number + detail::bits_set(warp, bits);
      warp.store(bits_ + step * width, warp.any(bits != 0u) ? matches.in_order(bits) : bits);
    });
    mine_ = warp.reduce(number, plus{});
    warp.once([&] { shared.of_warp[team.warp_index()] = mine_; });
  }
  LANEWISE_FUNCTION std::int64_t total() {
    team_.barrier();
    std::int64_t all = 0;
    for (int w = 0; w < Team::warps; ++w) {
      if (w == team_.warp_index()) in_front_ = all;
      all += shared_.of_warp[w];
    }
    return all;
  }
  /// Places beyond the sink are left out.
  template <class Sink>
  LANEWISE_FUNCTION void store(const Sink& sink, std::int64_t before) const {
    if (mine_ == 0) return;
    const auto warp = team_.warp();
    std::int64_t at = before + in_front_;
    for (int step = 0; step < steps_; ++step) {
      auto bits = warp.load(bits_ + step * width);
      auto place = allocate(warp, detail::bits_set(warp, bits));
      if (place.total == 0) continue;
      const std::int64_t first = first_ + std::int64_t{step} * 32 * width;
      auto lane = warp.lane();
      warp.each(
          bits != 0u,
          [&](std::uint32_t& word, std::uint32_t& offset, std::uint32_t& l) {
            for (; word != 0; word &= word - 1, ++offset)
              if (at + offset < sink.extent)
                sink(at + offset, first + 32 * l + warp_type::lowest(word));
          },
          bits, place.offset, lane);
      at += place.total;
    }
  }

 private:
  const Team& team_;
  scratch& shared_;
  std::uint32_t* bits_;
  std::int64_t first_;
  int steps_ = 0;
  std::uint32_t mine_ = 0;
  std::int64_t in_front_ = 0;
};

/// Writes all places, in order, and counts them: a single pass with look-back.
template <class Sink>
struct search_places_kernel {
  struct policy : launch_policy {
    static constexpr int teams_per_multiprocessor = 4;
  };
  template <class Team>
  using scratch = decoupled_look_back_scratch<Team, std::int64_t, found_places<Team>>;

  detail::text_bytes text;
  detail::pattern_view pattern;
  int steps;
  Sink places;
  look_back_chain<std::int64_t> link;
  detail::integers number;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const auto pieces =
        static_cast<std::uint32_t>(text_cuts<typename Team::warp_type>::pieces(text.n, steps));
    std::int64_t mine = 0;
    decoupled_look_back(
        team, link, pieces, shared, plus{}, maybe<std::int64_t>{0, true},
        [&](std::uint32_t ticket, auto& place) LANEWISE_INLINE_LAMBDA {
          return found_places<Team>(
              team, place, text_piece<Team>(team, place.piece, text, pattern, steps, ticket));
        },
        [&](auto& found) LANEWISE_INLINE_LAMBDA { return mine = found.total(); },
        [&](auto& found, std::uint32_t ticket, const maybe<std::int64_t>& before)
            LANEWISE_INLINE_LAMBDA {
              found.store(places, before.value);
              if (ticket + 1 == pieces) team.once([&] { number.put(0, before.value + mine); });
            });
  }
};

template <class Exec>
int steps_of(std::int64_t n) {
  return text_cuts<warp_t<Exec>>::steps(n);
}
template <class Exec>
std::int64_t pieces_of(std::int64_t n) {
  return text_cuts<warp_t<Exec>>::pieces(n, steps_of<Exec>(n));
}

/// A text whose bytes calls of Exec can reach.
template <class Exec, class Text, class Memory>
detail::text_bytes text_of(const char* algorithm, const Text& text, const pattern<Memory>&) {
  static_assert(Kokkos::is_view_v<Text> && sizeof(typename Text::value_type) == 1 &&
                    std::is_trivially_copyable_v<typename Text::value_type>,
                "lanewise: a text is a View of bytes: char, unsigned char, std::byte");
  static_assert(
      Kokkos::SpaceAccessibility<typename Exec::memory_space, Memory>::accessible,
      "lanewise: this execution space cannot reach the memory of the pattern; pattern::copy_to "
      "makes a copy that it can");
  const auto source = detail::as_source<Exec>(text);
  detail::expects_memory(source, algorithm, "text");
  return {reinterpret_cast<const unsigned char*>(source.data), source.extent};
}
/// Where the one result of a call goes.
template <class Exec, class... P>
std::int64_t* result_place(const char* algorithm, const Kokkos::View<std::int64_t, P...>& result) {
  detail::check_reachable<Exec, Kokkos::View<std::int64_t, P...>>();
  detail::expects(result.data() != nullptr, algorithm, ": result has no memory");
  return result.data();
}

template <class Exec, class Text, class Memory, class... P>
void fold_search(const Exec& exec, const char* algorithm, const Text& text,
                 const pattern<Memory>& what, const Kokkos::View<std::int64_t, P...>& result,
                 search_fold_kernel::wanted wanted) {
  const auto bytes = text_of<Exec>(algorithm, text, what);
  std::int64_t* const place = result_place<Exec>(algorithm, result);
  launch(exec, "Lanewise::string_search::begin", 1,
         search_begin_kernel{place, search_fold_kernel::nothing(wanted)});
  if (bytes.n < what.size()) return;
  launch(exec, "Lanewise::string_search",
         backend_of<Exec>::template resident_league<search_fold_kernel>(exec,
                                                                        pieces_of<Exec>(bytes.n)),
         search_fold_kernel{bytes, what.view(), steps_of<Exec>(bytes.n), wanted, place});
}

}  // namespace kernels

/// How often a pattern occurs in a text, overlapping occurrences included: stored in the rank-0
/// View result.
///
/// text is a contiguous View of bytes (char, unsigned char, std::byte), which may begin anywhere.
/// One launch behind one that clears the result; reads the text once. O(n + m) work, and m more for
/// each 1 to 16 KiB of a text in which a filter of 4 to 12 bytes passes very many places; with
/// wildcards, O(m) for each of these. Does not block.
template <execution_space Exec, class Text, class Memory, class... P>
void count(const Exec& exec, const Text& text, const pattern<Memory>& what,
           const Kokkos::View<std::int64_t, P...>& result) {
  kernels::fold_search(exec, "count", text, what, result,
                       kernels::search_fold_kernel::wanted::number);
}
/// The same, returned. **Blocks.**
template <execution_space Exec, class Text, class Memory>
std::int64_t count(const Exec& exec, const Text& text, const pattern<Memory>& what) {
  return kernels::returned<std::int64_t>(
      exec, [&](const auto& result) { count(exec, text, what, result); });
}
/// The first place of the text where the pattern begins, or -1. Reads the text up to there, and
/// what is read at the same time. As count.
template <execution_space Exec, class Text, class Memory, class... P>
void find_first(const Exec& exec, const Text& text, const pattern<Memory>& what,
                const Kokkos::View<std::int64_t, P...>& result) {
  kernels::fold_search(exec, "find_first", text, what, result,
                       kernels::search_fold_kernel::wanted::first);
}
template <execution_space Exec, class Text, class Memory>
std::int64_t find_first(const Exec& exec, const Text& text, const pattern<Memory>& what) {
  return kernels::returned<std::int64_t>(
      exec, [&](const auto& result) { find_first(exec, text, what, result); });
}
/// The last place of the text where the pattern begins, or -1. As find_first, from behind.
template <execution_space Exec, class Text, class Memory, class... P>
void find_last(const Exec& exec, const Text& text, const pattern<Memory>& what,
               const Kokkos::View<std::int64_t, P...>& result) {
  kernels::fold_search(exec, "find_last", text, what, result,
                       kernels::search_fold_kernel::wanted::last);
}
template <execution_space Exec, class Text, class Memory>
std::int64_t find_last(const Exec& exec, const Text& text, const pattern<Memory>& what) {
  return kernels::returned<std::int64_t>(
      exec, [&](const auto& result) { find_last(exec, text, what, result); });
}
/// Whether the pattern occurs in the text. As find_first. **Blocks.**
template <execution_space Exec, class Text, class Memory>
bool contains(const Exec& exec, const Text& text, const pattern<Memory>& what) {
  return find_first(exec, text, what) >= 0;
}

/// Bit i % 32 of word i / 32 says whether the pattern begins at byte i of the text: a View of
/// std::uint32_t with a word for every 32 bytes of the text, all of which are written. As count.
template <execution_space Exec, class Text, class Memory, class Bits>
void find_bitmap(const Exec& exec, const Text& text, const pattern<Memory>& what,
                 const Bits& bits) {
  static_assert(Kokkos::is_view_v<Bits> && std::is_same_v<typename Bits::value_type, std::uint32_t>,
                "lanewise: a bitmap is a View of std::uint32_t");
  const auto bytes = kernels::text_of<Exec>("find_bitmap", text, what);
  const auto sink = detail::as_sink<Exec>(bits);
  const std::int64_t words = divide_up(bytes.n, std::int64_t{32});
  detail::expects(sink.extent >= words, "find_bitmap: bits has ", sink.extent, " words, a text of ",
                  bytes.n, " bytes needs ", words);
  detail::expects_memory(sink, "find_bitmap", "bits");
  if (bytes.n == 0) return;
  using kernel = kernels::search_bitmap_kernel;
  launch(
      exec, "Lanewise::find_bitmap",
      backend_of<Exec>::template resident_league<kernel>(exec, kernels::pieces_of<Exec>(bytes.n)),
      kernel{bytes, what.view(), kernels::steps_of<Exec>(bytes.n), sink.data});
}

/// The workspace that find_all needs for a text of n bytes. Needs no device.
template <class Exec>
workspace_size find_all_workspace(std::int64_t n) {
  const std::int64_t pieces = kernels::pieces_of<Exec>(n);
  return {pieces, look_back_chain<std::int64_t>::payload_bytes(pieces)};
}
/// All places of the text where the pattern begins, in order, and their number in the rank-0 View
/// number. places is a View of integers, or a sink; where it has fewer places than there are, the
/// first are written, number tells how many there are, and nothing is written behind. As count, in
/// one launch and one pass.
template <execution_space Exec, class Text, class Memory, class Places, class T, class... P>
void find_all(const Exec& exec, const Text& text, const pattern<Memory>& what, const Places& places,
              const Kokkos::View<T, P...>& number, const string_search_options& with = {}) {
  const auto bytes = kernels::text_of<Exec>("find_all", text, what);
  const auto sink = detail::as_sink<Exec>(places);
  detail::expects_memory(sink, "find_all", "places");
  if constexpr (detail::check_results<Exec, std::int64_t, std::decay_t<decltype(sink)>>()) {
    using kernel = kernels::search_places_kernel<std::decay_t<decltype(sink)>>;
    auto work = call_workspace::make<backend_of<Exec>>(
        exec, with.work, find_all_workspace<Exec>(bytes.n), "find_all");
    launch(exec, "Lanewise::find_all",
           backend_of<Exec>::template league_for_tiles<kernel>(exec,
                                                               kernels::pieces_of<Exec>(bytes.n)),
           kernel{bytes, what.view(), kernels::steps_of<Exec>(bytes.n), sink,
                  work.get().template make_look_back_chain<std::int64_t>(0),
                  kernels::count_place<Exec>(number, "find_all")});
  }
}
/// The same, returning how many there are. **Blocks.**
template <execution_space Exec, class Text, class Memory, class Places>
std::int64_t find_all(const Exec& exec, const Text& text, const pattern<Memory>& what,
                      const Places& places, const string_search_options& with = {}) {
  return kernels::returned<std::int64_t>(
      exec, [&](const auto& number) { find_all(exec, text, what, places, number, with); });
}

LANEWISE_END_TARGET_NAMESPACE
