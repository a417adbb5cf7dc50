// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/strings/detail/matches.hpp>

#include <algorithm>
#include <type_traits>
#include <variant>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// How the steps of a text are cut. The filter makes a word of the bits of `steps_per_word` steps.
/// A team works on a block of `steps_per_block` steps at a time. All its warps have equally many.
///
/// After a filter blocks are long, as an empty block takes a team a microsecond. Else they have 8
/// to 256 steps, and each team has equally many blocks, so that no team waits for another's second
/// turn.
struct text_partition {
  static constexpr int kept_steps = 176;  ///< of a block, by found_places

  int steps_per_word;
  int steps_per_block;

  template <class Warp>
  static text_partition make(std::int64_t n, bool is_filtered) {
    const std::int64_t steps = n / detail::text_steps<Warp>::positions;
    text_partition partition{1, 8};
    while (partition.steps_per_word < 32 && steps / partition.steps_per_word > 8000)
      partition.steps_per_word *= 2;
    if (is_filtered) partition.steps_per_block *= partition.steps_per_word;
    const int most = is_filtered ? 2048 : 64, blocks = is_filtered ? 520 : 2000;
    while (partition.steps_per_block < most && steps / partition.steps_per_block > blocks)
      partition.steps_per_block *= 2;
    return partition;
  }
  /// Returns blocks of up to `most` steps, equally many for each of `teams` teams, and no more
  /// blocks than before.
  template <class Warp>
  text_partition shared_by(std::int64_t n, std::int64_t teams, std::int64_t most) const {
    const std::int64_t all = steps<Warp>(n), rounds = divide_up(all, teams * most);
    text_partition partition = *this;
    partition.steps_per_block =
        std::max(steps_per_block, 8 * static_cast<int>(divide_up(all, 8 * teams * rounds)));
    return partition;
  }
  /// Before the text up to 31 bytes belong to the first step.
  template <class Warp>
  static LANEWISE_FUNCTION std::int64_t steps(std::int64_t n) {
    return divide_up(n + 31, std::int64_t{detail::text_steps<Warp>::positions});
  }
  template <class Warp>
  LANEWISE_FUNCTION std::int64_t blocks(std::int64_t n) const {
    return lanewise::divide_up(steps<Warp>(n), std::int64_t{steps_per_block});
  }
  template <class Warp>
  LANEWISE_FUNCTION std::int64_t words(std::int64_t n) const {
    return lanewise::divide_up(steps<Warp>(n), std::int64_t{steps_per_word});
  }
};

/// A pattern, a text, how it is cut, and where the filter has been.
struct pattern_search {
  detail::text_bytes text;
  detail::pattern_view pattern;
  text_partition partition;
  std::int64_t blocks;              ///< of the text
  std::uint32_t* passed = nullptr;  ///< a bit for each step that the filter passes
};

struct search_policy : launch_policy {
  static constexpr int teams_per_multiprocessor = 4;
  static constexpr int host_teams_per_thread = 16;
  static constexpr int most_steps = 512;  ///< of a block where no filter has been
};

/// Finds the steps of a text that the filter passes. It is a kernel of its own as it takes few
/// registers, and comparisons with the pattern many. Measured on an H200: it reads 4.35 TB/s of the
/// 4.5 that a sum reads; one kernel for both read 3.6.
template <detail::pattern_filter::kind how>
struct search_filter_kernel {
  struct policy : launch_policy {
    static constexpr int teams_per_multiprocessor = 4;
    static constexpr int host_teams_per_thread = 16;
  };
  template <class Team>
  struct scratch {};

  pattern_search search;
  std::int64_t* zero;    ///< becomes zero, if it is not null
  std::uint32_t* zeros;  ///< number_of_zeros words that become zero
  std::int64_t number_of_zeros;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    const auto warp = team.warp();
    const std::int64_t words = search.partition.words<typename Team::warp_type>(search.text.n);
    // A thread reads neighbouring words; warps on a device read them side by side.
    constexpr bool by_share = Team::is_single_thread;
    const index_range share = team.share(words);
    const std::int64_t mine =
        by_share ? share.begin : std::int64_t{team.index()} * Team::warps + team.warp_index();
    const std::int64_t end = by_share ? share.end : words;
    for (std::int64_t w = mine; w < end; w += by_share ? 1 : team.league() * Team::warps) {
      const std::uint32_t bits = filter(warp, w);
      warp.once([&] { search.passed[w] = bits; });
      clear(warp, w);
    }
    if (mine == 0 && zero != nullptr) warp.once([&] { *zero = 0; });
  }

 private:
  template <class Warp>
  LANEWISE_FUNCTION std::uint32_t filter(const Warp& warp, std::int64_t word) const {
    using text_steps = detail::text_steps<Warp>;
    const std::int64_t steps_per_word = search.partition.steps_per_word;
    const std::int64_t first = word * steps_per_word * text_steps::positions -
                               text_steps::past(search.text, search.pattern);
    const std::int64_t left = divide_up(search.text.n - first, std::int64_t{text_steps::positions});
    const int number = static_cast<int>(left < steps_per_word ? left : steps_per_word);
    return text_steps(warp, search.text, search.pattern, first, number)
        .template passed<how>(0, number);
  }
  /// Clears the words of zeros that belong to the steps of a word: one for 32 bytes.
  template <class Warp>
  LANEWISE_FUNCTION void clear(const Warp& warp, std::int64_t word) const {
    const std::int64_t each = std::int64_t{search.partition.steps_per_word} * Warp::width;
    for (std::int64_t i = word * each; i < (word + 1) * each && i < number_of_zeros;
         i += Warp::width) {
      const std::int64_t left = number_of_zeros - i;
      warp.store(warp.first(left), zeros + i, typename Warp::template lanes<std::uint32_t>(0u));
    }
  }
};

/// Calls f(s) for the steps that a filter has passed, of `steps` steps from the first one of a word
/// on.
template <class Warp, class F>
LANEWISE_FUNCTION void each_passed(const Warp& warp, const std::uint32_t* passed,
                                   int steps_per_word, int steps, F f) {
  constexpr int width = Warp::width;
  const auto number = static_cast<int>(divide_up(steps, steps_per_word));
  for (int w = 0; w < number; w += width) {
    const int now = number - w < width ? number - w : width;
    const auto words = warp.load(warp.first(now), passed + w, 0u);
    for (auto todo = warp.ballot(words != 0u); todo != 0; todo &= todo - 1) {
      const int lane = Warp::lowest(todo);
      for (std::uint32_t bits = warp.broadcast(words, lane); bits != 0; bits &= bits - 1) {
        const int s = (w + lane) * steps_per_word + Warp::lowest(bits);
        if (s < steps) f(s);
      }
    }
  }
}

/// Calls f(s, position, bits) or f.run(s, run) for the steps whose bits are set in `passed`. Bit 0
/// is step `begin`, counted from position `first` on.
template <class Team, class F>
LANEWISE_SEPARATE_FUNCTION void find_in_steps(const Team& team,
                                              detail::comparison_scratch<Team>& shared,
                                              const pattern_search& search, std::int64_t first,
                                              int begin, std::uint32_t passed, F& f) {
  const auto warp = team.warp();
  const detail::text_bytes text = search.text;
  const detail::pattern_view pattern = search.pattern;
  const detail::match_finder<Team> matches(team, warp, text, pattern, shared, false, first,
                                           begin + 32);
  for (; passed != 0; passed &= passed - 1) {
    const int s = begin + Team::warp_type::lowest(passed);
    matches.report(s, s, f);
  }
}

/// A block of a text. Each warp of a team has some steps of it, one after the other.
template <class Team, bool is_short>
class text_block {
 public:
  using warp_type = typename Team::warp_type;
  using steps_type = detail::text_steps<warp_type>;
  using word = std::uint32_t;
  using words = typename steps_type::words;
  static constexpr int kept_steps = text_partition::kept_steps;

  /// What a block has of the team's scratch.
  using scratch = std::conditional_t<is_short, std::monostate, detail::comparison_scratch<Team>>;

  LANEWISE_FUNCTION text_block(const Team& team, scratch& shared, const pattern_search& search,
                               std::int64_t block)
      : team_(team),
        shared_(shared),
        search_(search),
        step_(block * search.partition.steps_per_block) {}

  /// Returns how many steps a warp has, and its first position.
  LANEWISE_FUNCTION int steps() const { return search_.partition.steps_per_block / Team::warps; }
  LANEWISE_FUNCTION std::int64_t first() const { return search_.text.begin + my_position(); }
  LANEWISE_FUNCTION int places_of_lane() const { return 32; }
  static LANEWISE_FUNCTION words in_order(const warp_type& warp, const words& bits) {
    return steps_type::in_order(warp, bits);
  }

  /// Calls f(step, first, bits) for the steps of this warp; for longer patterns, for the steps that
  /// the filter passes. bits are those of text_steps, from position `first` on. An f that takes
  /// runs gets f.run(step, run) for a step that is part of one run.
  template <class F>
  LANEWISE_FUNCTION void find(F f) const {
    if constexpr (!is_short) {
      if (search_.passed != nullptr) return find_passed(f);
    }
    find_alone(f);
  }
  /// As `find`, without a filter before it. No warp waits for another.
  template <class F>
  LANEWISE_FUNCTION void find_alone(F f) const {
    const auto warp = team_.warp();
    const std::int64_t first = my_position();
    const int here = number_of_steps(first, steps());
    if constexpr (is_short) {
      detail::short_finder<warp_type> matches(warp, search_.text, search_.pattern, first, steps());
      for (int s = 0; s < here; ++s) f(s, position(matches.steps_of(), s), matches.find(s));
    } else {
      forget();
      const steps_type in(warp, search_.text, search_.pattern, first, steps());
      // Threads find stretches as fast as they filter. After a word of steps that all pass, they
      // skip the filter for some words.
      constexpr int unasked = steps_type::k == 1 ? 3 : 0;
      const bool is_cheap = search_.pattern.stretch.exists();
      int spared = 0;
      for (int s = 0; s < here; s += 32) {
        const int number = here - s < 32 ? here - s : 32;
        const std::uint32_t all = ~0u >> (32 - number);
        std::uint32_t passed = all;
        if (spared > 0) {
          --spared;
        } else {
          passed = detail::with_long_kind(
              search_.pattern.filter.how, [&](auto how) LANEWISE_INLINE_LAMBDA {
                return in.template passed<decltype(how)::value>(s, number);
              });
          if (is_cheap && passed == all) spared = unasked;
        }
        if (passed != 0) kernels::find_in_steps(team_, shared_, search_, first, s, passed, f);
      }
    }
  }
  /// The bits of the few positions [first, first + n), n <= W.
  LANEWISE_FUNCTION std::uint32_t find_few(std::int64_t first, int n) const {
    static_assert(is_short);
    const auto warp = team_.warp();
    if (search_.pattern.is_run()) {
      detail::short_finder<warp_type> matches(warp, search_.text, search_.pattern, first, 1);
      return warp.broadcast(matches.find(0), 0) & ~(~0u << n);
    }
    return detail::short_finder<warp_type>(warp, search_.text, search_.pattern, 0, 0)
        .find_few(first, n);
  }

 private:
  /// From this number of bytes on a team compares together: 2^16 bytes take a warp 0.28 ms.
  static constexpr std::int64_t long_pattern = 4096;

  LANEWISE_FUNCTION std::int64_t my_step() const {
    return step_ + std::int64_t{team_.warp_index()} * steps();
  }
  LANEWISE_FUNCTION std::int64_t my_position() const { return position_of(my_step()); }
  LANEWISE_FUNCTION std::int64_t position(const steps_type& steps, int step) const {
    return search_.text.begin + steps.first_of(step);
  }
  LANEWISE_FUNCTION std::int64_t position_of(std::int64_t step) const {
    return step * steps_type::positions - steps_type::past(search_.text, search_.pattern);
  }
  LANEWISE_FUNCTION const std::uint32_t* passed_from(std::int64_t step) const {
    return search_.passed + step / search_.partition.steps_per_word;
  }
  /// How many steps from a position on are in the text.
  LANEWISE_FUNCTION int number_of_steps(std::int64_t first, int most) const {
    const std::int64_t left =
        divide_up(search_.text.n - first, std::int64_t{steps_type::positions});
    return left < most ? static_cast<int>(left) : most;
  }
  LANEWISE_FUNCTION void forget() const {
    const auto warp = team_.warp();
    warp.once([&] { shared_.of_warp[team_.warp_index()] = {}; });
    warp.fence();
  }
  /// Searches the steps that the filter has passed. For long patterns all warps search all steps of
  /// the team, and each reports its own.
  template <class F>
  LANEWISE_FUNCTION void find_passed(F& f) const {
    const auto warp = team_.warp();
    const bool together = search_.pattern.size > long_pattern;
    const int before = together ? team_.warp_index() * steps() : 0;
    const int all = together ? search_.partition.steps_per_block : steps();
    const std::int64_t begin = together ? step_ : my_step();
    const detail::match_finder<Team> matches(team_, warp, search_.text, search_.pattern, shared_,
                                             together, position_of(begin), all);
    matches.forget();
    // All warps make this one call, as it has barriers.
    some_steps<F> own{f, steps()};
    kernels::each_passed(warp, passed_from(begin), search_.partition.steps_per_word,
                         number_of_steps(position_of(begin), all),
                         [&](int s) LANEWISE_INLINE_LAMBDA { matches.report(s, s - before, own); });
  }
  /// Calls f for steps [0, number) alone.
  template <class F>
  struct some_steps {
    F& f;
    int number;

    LANEWISE_FUNCTION void operator()(int step, std::int64_t first, const words& bits) const {
      if (step >= 0 && step < number) f(step, first, bits);
    }
    LANEWISE_FUNCTION void run(
        int step, const detail::position_run& positions) const requires detail::takes_runs<F> {
      if (step >= 0 && step < number) f.run(step, positions);
    }
  };

  const Team& team_;
  scratch& shared_;
  const pattern_search& search_;
  std::int64_t step_;
};

/// A search for one pattern. All searches have these members for the kernels that serve them all.
/// block_of() makes one of `blocks` text blocks, with the members of text_block. found_before()
/// says how many positions were found before the text. finish() takes the number with the text's.
template <bool is_short>
struct pattern_matches : pattern_search {
  template <class Team>
  using block = text_block<Team, is_short>;
  /// Kernels for short patterns scan one step at a time, and need other warps beside them.
  struct count_policy : search_policy {
    static constexpr int teams_per_multiprocessor = is_short ? 6 : 4;
  };
  struct positions_policy : launch_policy {
    static constexpr int teams_per_multiprocessor = is_short ? 5 : 4;
    static constexpr int most_steps = text_partition::kept_steps;
  };

  template <class Team>
  LANEWISE_FUNCTION block<Team> block_of(const Team& team, typename block<Team>::scratch& shared,
                                         std::int64_t index) const {
    return block<Team>(team, shared, *this, index);
  }
  LANEWISE_FUNCTION std::int64_t found_before() const { return 0; }
  LANEWISE_FUNCTION void finish(std::int64_t) const {}
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
