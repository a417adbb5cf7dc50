// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/papers/detail/names.hpp>
#include <lanewise/strings/string_search.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {
namespace kernels {

/// The places that pieces of a text find, in order, and their number: as search_places_kernel. A
/// Piece says how a team searches one, and what it shares for it.
template <template <class Team> class Piece, class Text, class Sink>
struct fingerprint_places_kernel {
  struct policy : launch_policy {
    static constexpr int teams_per_multiprocessor = 4;
  };
  template <class Team>
  using found_by = found_places<Team, Piece<Team>>;
  template <class Team>
  using scratch = decoupled_look_back_scratch<Team, std::int64_t, found_by<Team>>;

  Text text;
  Sink places;
  look_back_chain<std::int64_t> chain;
  detail::integers number;

  template <class Team>
  static LANEWISE_FUNCTION std::int64_t pieces(const Text& text) {
    // One without places where there are none, so that somebody writes the number.
    return text.places > 0 ? Piece<Team>::pieces(text) : 1;
  }

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const auto tickets = static_cast<std::uint32_t>(pieces<Team>(text));
    std::int64_t mine = 0;
    std::uint32_t times = 0;
    Piece<Team>::begin(team, shared.scratch.piece);
    lanewise::decoupled_look_back(
        team, chain, tickets, shared, plus{}, maybe<std::int64_t>{0, true},
        [&](std::uint32_t ticket, auto& place) LANEWISE_INLINE_LAMBDA {
          return found_by<Team>(team, place, Piece<Team>(team, place.piece, text, ticket, ++times));
        },
        [&](auto& found) LANEWISE_INLINE_LAMBDA { return mine = found.total(); },
        [&](auto& found, std::uint32_t ticket, const maybe<std::int64_t>& before)
            LANEWISE_INLINE_LAMBDA {
              found.store(places, before.value);
              if (ticket + 1 == tickets) team.once([&] { number.put(0, before.value + mine); });
            });
  }
};

/// The chain of a search in pieces.
template <template <class Team> class Piece, class Exec, class Text>
std::int64_t fingerprint_pieces(const Text& text) {
  using kernel = fingerprint_places_kernel<Piece, Text, array_sink<std::int64_t>>;
  using team = team_t<Exec, typename kernel::policy>;
  return kernel::template pieces<team>(text);
}
template <template <class Team> class Piece, class Exec, class Text>
workspace_size pieces_workspace(const Text& text) {
  const std::int64_t pieces = kernels::fingerprint_pieces<Piece, Exec>(text);
  return {pieces, look_back_chain<std::int64_t>::payload_bytes(pieces)};
}
template <template <class Team> class Piece, class Exec, class Text, class Sink>
void find_by_pieces(const Exec& exec, const Text& text, const Sink& sink,
                    const detail::integers& number, workspace& work) {
  using kernel = fingerprint_places_kernel<Piece, Text, Sink>;
  lanewise::launch(exec, "Lanewise::by_fingerprints",
                   backend_of<Exec>::template league_for_tiles<kernel>(
                       exec, kernels::fingerprint_pieces<Piece, Exec>(text)),
                   kernel{text, sink, work.make_look_back_chain<std::int64_t>(0), number});
}

/// A search that needs nothing else. Form::text(what, bytes) is what kernels are told of a text.
template <template <class Team> class Piece, class Form>
struct search_by_pieces {
  template <class Exec, class Pattern>
  static workspace_size need(const Pattern& what, const detail::text_bytes& text) {
    return kernels::pieces_workspace<Piece, Exec>(Form::text(what, text));
  }
  template <class Exec, class Pattern, class Sink>
  static void run(const Exec& exec, const Pattern& what, const detail::text_bytes& text,
                  const Sink& sink, const detail::integers& number, workspace& work) {
    kernels::find_by_pieces<Piece>(exec, Form::text(what, text), sink, number, work);
  }
};

}  // namespace kernels
}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
