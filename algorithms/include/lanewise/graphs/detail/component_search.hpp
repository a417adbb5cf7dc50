// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/call/status.hpp>
#include <lanewise/data/integers.hpp>
#include <lanewise/graphs/detail/graph_rows.hpp>
#include <lanewise/graphs/detail/union_find.hpp>
#include <lanewise/league/league_sums.hpp>
#include <lanewise/league/queue.hpp>
#include <lanewise/team/team.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// A part of a row that is too long for one warp.
template <class Vertex, class Offset>
struct alignas(16) long_row_piece {
  Offset begin;
  std::uint32_t length;
  std::uint32_t side;  // 1: edges into the vertex
  Vertex vertex;
};
inline constexpr std::uint32_t long_row = 1024;  // edges
/// The most pieces of a graph, both sides taken together.
constexpr std::int64_t most_long_pieces(std::int64_t edges) {
  return 2 * (edges / (long_row / 2) + 1);
}

template <class Vertex, class Offset>
struct components_task {
  graph_rows<Vertex, Offset> out;
  graph_rows<Vertex, Offset> into;  // without begins: not known
  Vertex* labels;
  integers count;  // of components; may be none
  queue<long_row_piece<Vertex, Offset>, Offset> pieces;
  std::uint64_t* meetings;  // zero before the launch, like the queue's counter
  status* errors;
};

/// Connected components by resident teams, with a barrier after each step (Afforest, by Sutton,
/// Ben-Nun and Barak). The first edges of all vertices unite most of a large component.
/// Then vertices that are in it have nothing more to do, as long as the others look at their edges
/// in both directions.
///
///   adopt     a vertex is hung under its first neighbour, if that is less.
///   compress  labels become roots.
///   sample    the first two neighbours are united with the vertex.
///   compress  and each warp guesses which component is the largest.
///   rest      vertices outside of it are united with their other neighbours; long rows go to a
///             queue.
///   pieces    of long rows.
///   compress
template <class Team, class Vertex, class Offset>
class component_search {
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;
  template <class T>
  using lanes = lanes_t<warp_type, T>;
  using mask_type = mask_t<warp_type, std::uint32_t>;
  using rows = graph_rows<Vertex, Offset>;
  static constexpr Vertex no_vertex = static_cast<Vertex>(~Vertex{0});

 public:
  using task = components_task<Vertex, Offset>;
  using piece = long_row_piece<Vertex, Offset>;
  struct scratch {
    league_sums::scratch<Team> sums;
  };

  LANEWISE_KERNEL_FUNCTION component_search(const Team& team, scratch& shared, const task& t)
      : team_(team), shared_(shared), task_(t), meeting_(t.meetings) {
    league_sums::init(team, shared.sums);
  }

  LANEWISE_KERNEL_FUNCTION void run() {
    for_each_window<&component_search::adopt>();
    all_reduce();
    for_each_window<&component_search::compress_window>();
    all_reduce();
    for_each_window<&component_search::sample>();
    all_reduce();
    for_each_window<&component_search::compress_window>();
    if (task_.into.begins != nullptr) guess();
    all_reduce();
    for_each_window<&component_search::take_rest>();
    const Offset pieces = static_cast<Offset>(all_reduce());
    if (pieces != 0) {
      take_pieces(task_.pieces.size(pieces));
      all_reduce();
    }
    if (task_.count.exist() && team_.index() == 0)
      team_.once([&] {
        task_.count.put(
            0, static_cast<std::int64_t>(task_.out.vertices) - static_cast<std::int64_t>(united_));
      });
    for_each_window<&component_search::compress_window>();
  }

 private:
  static constexpr Offset sampled = 2;            // edges of a row
  static constexpr std::uint32_t short_row = 16;  // edges that a lane looks at alone
  // Windows that a warp takes one after the other: a warp that is alone in its team reads ahead
  // along rows.
  static constexpr std::int64_t batch = Team::warps > 1 ? 1 : 64;

  /// Waits for all teams. Returns how many pieces of long rows they have found.
  LANEWISE_KERNEL_FUNCTION std::uint64_t all_reduce() {
    league_sums::add(team_, shared_.sums, {{mine_, pieces_}});
    mine_ = 0;
    pieces_ = 0;
    const auto all = meeting_.all_reduce(team_, shared_.sums);
    united_ += all[0];
    return all[1];
  }

  LANEWISE_KERNEL_FUNCTION std::int64_t warp_rank() const {
    return std::int64_t{team_.index()} * Team::warps + team_.warp_index();
  }
  LANEWISE_KERNEL_FUNCTION std::int64_t warps() const {
    return std::int64_t{team_.league()} * Team::warps;
  }

  /// Calls step(first, mask) for windows of vertices that are this warp's.
  template <void (component_search::*step)(Vertex, const mask_type&)>
  LANEWISE_KERNEL_FUNCTION void for_each_window() {
    const auto n = static_cast<std::int64_t>(task_.out.vertices);
    for (std::int64_t at = warp_rank() * batch * width; at < n; at += warps() * batch * width)
      for (std::int64_t w = at; w < n && w < at + batch * width; w += width)
        (this->*step)(static_cast<Vertex>(w), team_.warp().first(n - w));
  }
  LANEWISE_KERNEL_FUNCTION lanes<Vertex> vertices_from(Vertex first) const {
    return team_.warp().template cast<Vertex>(team_.warp().lane()) + lanes<Vertex>(first);
  }

  LANEWISE_KERNEL_FUNCTION void adopt(Vertex first, const mask_type& there) {
    const auto warp = team_.warp();
    const auto row = task_.out.from(team_.warp(), there, first);
    const auto me = vertices_from(first);
    const auto neighbour =
        warp.gather(there & (row.length != Offset{0}), task_.out.columns, row.begin, no_vertex);
    const auto is_less = there & (neighbour < me);
    warp.store(there, task_.labels + first, lanewise::select(is_less, neighbour, me));
    mine_ += static_cast<std::uint64_t>(warp.count(is_less));
  }
  LANEWISE_KERNEL_FUNCTION void compress_window(Vertex first, const mask_type& there) {
    detail::compress(team_.warp(), task_.labels, first, there);
  }
  LANEWISE_KERNEL_FUNCTION void sample(Vertex first, const mask_type& there) {
    const auto row = task_.out.from(team_.warp(), there, first);
    const auto me = vertices_from(first);
    neighbours near[sampled];
    LANEWISE_UNROLL
    for (Offset k = 0; k < sampled; ++k)
      near[k] = only_vertices(there & (row.length > k), row.begin + lanes<Offset>(k), task_.out);
    // Threads of hosts compare labels first.
    auto label = me;
    if constexpr (Team::is_single_thread)
      label = team_.warp().load_relaxed(there, task_.labels, me, no_vertex);
    // Under a first neighbour that is less a vertex hangs already.
    near[0].there = near[0].there & (near[0].vertex > me);
    LANEWISE_UNROLL
    for (Offset k = 0; k < sampled; ++k) join(near[k].there, label, near[k].vertex);
  }
  /// The component that most of some vertices are in. Roots stay as they are meanwhile, so that all
  /// warps find the same.
  LANEWISE_KERNEL_FUNCTION void guess() {
    const auto warp = team_.warp();
    if (task_.out.vertices == 0) return;
    const auto some = warp.map(
        [n = task_.out.vertices](std::uint32_t l) {
          return static_cast<Vertex>((l + std::uint64_t{1}) * 0x9e3779b97f4a7c15 % n);
        },
        warp.lane());
    const auto all = warp.first(width);
    const auto root = detail::roots_of(warp, task_.labels, all, some);
    const auto alike = warp.map(
        [](typename warp_type::bits b) -> std::uint32_t {
          return static_cast<std::uint32_t>(warp_type::popcount(b));
        },
        warp.match_any(all, root));
    const auto most = warp.reduce(alike, maximum{});
    largest_ = warp.broadcast(root, warp_type::lowest(warp.ballot(alike == most)));
  }

  LANEWISE_KERNEL_FUNCTION void take_rest(Vertex first, const mask_type& there) {
    const auto warp = team_.warp();
    const auto label = warp.load_relaxed(there, task_.labels, vertices_from(first), no_vertex);
    const auto open = there & (label != largest_);
    if (!warp.any(open)) return;
    take_rows(task_.out, 0, sampled, first, open, label);
    if (task_.into.begins != nullptr && task_.into.begins != task_.out.begins)
      take_rows(task_.into, 1, Offset{0}, first, open, label);
  }
  /// Short rows by their lanes, side by side, then longer ones by the warp.
  LANEWISE_KERNEL_FUNCTION void take_rows(const rows& all, std::uint32_t side, Offset skipped,
                                          Vertex first, const mask_type& open,
                                          const lanes<Vertex>& label) {
    const auto warp = team_.warp();
    const auto row = all.from(warp, open, first);
    const mask_type is_short = open & (row.length <= Offset{short_row});
    for (Offset k = skipped; warp.any(is_short & (row.length > k)); ++k) {
      const auto neighbour =
          only_vertices(is_short & (row.length > k), row.begin + lanes<Offset>(k), all);
      join(neighbour.there, label, neighbour.vertex);
    }
    for (auto todo = warp.ballot(open & !is_short); todo != 0; todo &= todo - 1) {
      const int l = warp_type::lowest(todo);
      const Offset begin = static_cast<Offset>(warp.broadcast(row.begin, l) + skipped);
      const Offset length = static_cast<Offset>(warp.broadcast(row.length, l) - skipped);
      const Vertex vertex = static_cast<Vertex>(first + static_cast<Vertex>(l));
      if (length <= long_row)
        take_row(all, warp.broadcast(label, l), begin, length);
      else
        queue_row(side, vertex, begin, length);
    }
  }
  LANEWISE_KERNEL_FUNCTION void take_row(const rows& all, Vertex vertex, Offset begin,
                                         Offset length) {
    const auto warp = team_.warp();
    for (Offset k = 0; k < length; k = static_cast<Offset>(k + width)) {
      const Offset left = static_cast<Offset>(length - k);
      const auto there = warp.first(left);
      const auto edge =
          warp.template cast<Offset>(warp.lane()) + lanes<Offset>(static_cast<Offset>(begin + k));
      const auto neighbour = only_vertices(there, edge, all);
      join(neighbour.there, lanes<Vertex>(vertex), neighbour.vertex);
    }
  }
  LANEWISE_KERNEL_FUNCTION void queue_row(std::uint32_t side, Vertex vertex, Offset begin,
                                          Offset length) {
    const auto warp = team_.warp();
    const Offset pieces = length / long_row + (length % long_row != 0);
    for (Offset k = 0; k < pieces; k = static_cast<Offset>(k + width)) {
      const auto left = static_cast<Offset>(pieces - k);
      const auto piece_of = [=](std::uint32_t l) {
        const auto skip = static_cast<Offset>((k + l) * long_row);
        const Offset rest = skip < length ? static_cast<Offset>(length - skip) : Offset{0};
        return piece{static_cast<Offset>(begin + skip),
                     static_cast<std::uint32_t>(rest < long_row ? rest : long_row), side, vertex};
      };
      task_.pieces.push(warp, warp.first(left), warp.map(piece_of, warp.lane()));
    }
    pieces_ += pieces;
  }
  LANEWISE_KERNEL_FUNCTION void take_pieces(Offset count) {
    for (auto i = static_cast<std::uint64_t>(warp_rank()); i < count;
         i += static_cast<std::uint64_t>(warps())) {
      const piece p = task_.pieces.items[i];
      take_row(p.side == 0 ? task_.out : task_.into, p.vertex, p.begin, p.length);
    }
  }

  struct neighbours {
    lanes<Vertex> vertex;
    mask_type there;
  };
  /// The vertices that the active lanes' edges lead to. Edges that lead nowhere are counted.
  LANEWISE_KERNEL_FUNCTION neighbours only_vertices(const mask_type& mask,
                                                    const lanes<Offset>& edge,
                                                    const rows& all) const {
    const auto warp = team_.warp();
    const auto vertex = warp.gather(mask, all.columns, edge, no_vertex);
    return {vertex, all.only_vertices(warp, mask, vertex, task_.errors)};
  }
  LANEWISE_KERNEL_FUNCTION void join(const mask_type& mask, const lanes<Vertex>& x,
                                     const lanes<Vertex>& y) {
    const auto warp = team_.warp();
    if constexpr (Team::is_single_thread)
      mine_ += static_cast<std::uint64_t>(detail::unite_by_thread(warp, task_.labels, mask, x, y));
    else
      mine_ += static_cast<std::uint64_t>(detail::unite(warp, task_.labels, mask, x, y));
  }

  const Team& team_;
  scratch& shared_;
  const task& task_;
  league_sums meeting_;
  Vertex largest_ = no_vertex;  // a guess
  std::uint64_t mine_ = 0;      // sets that this warp has united since the last barrier
  std::uint64_t pieces_ = 0;
  std::uint64_t united_ = 0;  // in all
};

}  // namespace detail
LANEWISE_END_NAMESPACE
