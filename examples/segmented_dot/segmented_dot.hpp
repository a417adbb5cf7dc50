// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// An algorithm of a user's, in the user's namespace: kernels, and the call that launches them.

#include <lanewise/backend.hpp>
#include <lanewise/call/status.hpp>
#include <lanewise/call/workspace_layout.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace my {
namespace kernels {

/// The arrays of a call, and the list of segments that are too long for a sub-warp.
template <class T>
struct dot_arrays {
  const std::int64_t* begins;
  std::int64_t segments;
  const T *x, *y;
  std::int64_t n;
  T* out;
  std::uint32_t* long_count;
  std::int64_t* long_segments;
  lanewise::status* errors;  ///< counts bad segments; null: nothing counts them
};

/// Adds up x(i) y(i) of [begin, end), a window at a time: windows `first`, `first + step`, ...
template <class Warp, class T>
LANEWISE_KERNEL_FUNCTION T dot(const Warp& warp, const dot_arrays<T>& a, std::int64_t begin,
                               std::int64_t end, std::int64_t first, std::int64_t step) {
  constexpr std::int64_t width = Warp::width;
  lanewise::lanes_t<Warp, T> sum(T{});
  for (std::int64_t i = begin + first * width; i < end; i += step * width) {
    const auto exist = warp.first(end - i);
    sum = sum + warp.load(exist, a.x + i, T{}) * warp.load(exist, a.y + i, T{});
  }
  return warp.reduce(sum, lanewise::plus{});
}

/// Sums segments, each by w lanes of a warp. Lists those of more than `most` items.
template <class T, int w>
struct dot_by_lanes {
  static constexpr std::int64_t most = 4096;
  struct policy : lanewise::launch_policy {};
  template <class Team>
  struct scratch {};

  dot_arrays<T> a;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    constexpr std::int64_t at_once = Team::warp_type::width / w;
    const auto mine = team.share(lanewise::divide_up(a.segments, at_once));
    for (std::int64_t g = mine.begin + team.warp_index(); g < mine.end; g += Team::warps) {
      team.warp().template split<w>([&](const auto& sub) {
        const std::int64_t s = g * at_once + sub.broadcast(sub.take(team.warp().lane()), 0) / w;
        if (s < a.segments) take(sub, s);
      });
    }
  }

 private:
  template <class Warp>
  LANEWISE_KERNEL_FUNCTION void take(const Warp& sub, std::int64_t s) const {
    const std::int64_t begin = a.begins[s], end = a.begins[s + 1];
    if (begin < 0 || end < begin || end > a.n) {
      if (a.errors != nullptr) sub.fetch_add(a.errors->bad_items, std::uint64_t{1});
      sub.once([&] { a.out[s] = T{}; });
    } else if (end - begin > most) {
      const std::uint32_t place = sub.fetch_add(*a.long_count, 1u);
      sub.once([&] { a.long_segments[place] = s; });
    } else {
      const T sum = kernels::dot(sub, a, begin, end, 0, 1);
      sub.once([&] { a.out[s] = sum; });
    }
  }
};

/// Sums the segments of the list, each by a team.
template <class T>
struct dot_by_teams {
  struct policy : lanewise::launch_policy {};
  template <class Team>
  struct scratch {
    T of_warp[Team::warps];
  };

  dot_arrays<T> a;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const auto warp = team.warp();
    for (std::uint32_t i = team.index(); i < *a.long_count; i += team.league()) {
      const std::int64_t s = a.long_segments[i];
      const T sum =
          kernels::dot(warp, a, a.begins[s], a.begins[s + 1], team.warp_index(), Team::warps);
      warp.once([&] { shared.of_warp[team.warp_index()] = sum; });
      team.barrier();
      team.once([&] {
        T total{};
        for (int v = 0; v < Team::warps; ++v) total += shared.of_warp[v];
        a.out[s] = total;
      });
      team.barrier();
    }
  }
};

}  // namespace kernels

/// The options of segmented_dot.
struct segmented_dot_options {
  lanewise::workspace_ref work =
      {};  ///< without it the call allocates in the order of its instance
};

/// The arrays that a call of `segments` segments has in a workspace.
struct segmented_dot_layout : lanewise::workspace_layout {
  lanewise::workspace_array<std::uint32_t> number;  ///< of long segments
  lanewise::workspace_array<std::int64_t> long_segments;

  explicit segmented_dot_layout(std::int64_t segments) {
    add(number, 1);
    add(long_segments, segments);
  }
};
/// What a call of `segments` segments needs of a workspace.
inline lanewise::workspace_size segmented_dot_workspace(std::int64_t segments) {
  return segmented_dot_layout(segments).size();
}

/// out(s) = the sum of x(i) y(i) for i of [begins(s), begins(s + 1)). begins has one element more
/// than there are segments. A segment that does not lie in x gives 0, and is counted in
/// options.work. Does not block. Throws std::invalid_argument where extents do not fit. Reads each
/// item once; two launches. w: lanes for a segment.
template <int w = 8, lanewise::execution_space Exec, class Begins, class X, class Out>
void segmented_dot(const Exec& exec, const Begins& begins, const X& x, const X& y, const Out& out,
                   const segmented_dot_options& options = {}) {
  using item = typename X::non_const_value_type;
  using backend = lanewise::backend_of<Exec>;
  static_assert(std::is_same_v<typename Begins::non_const_value_type, std::int64_t>);
  const auto extent = [](const auto& view) { return static_cast<std::int64_t>(view.extent(0)); };
  const std::int64_t segments = extent(begins) - 1;
  if (segments < 0 || extent(out) < segments)
    throw std::invalid_argument("segmented_dot: begins has " + std::to_string(extent(begins)) +
                                " elements, out " + std::to_string(extent(out)));
  if (extent(x) != extent(y))
    throw std::invalid_argument("segmented_dot: x has " + std::to_string(extent(x)) + " items, y " +
                                std::to_string(extent(y)));
  if (segments == 0) return;

  const segmented_dot_layout layout(segments);
  auto work =
      lanewise::call_workspace::make<backend>(exec, options.work, layout.size(), "segmented_dot");
  std::uint32_t* const number = layout.number.data(work.get());
  backend::zero(exec, number, sizeof(std::uint32_t));
  const kernels::dot_arrays<item> arrays{
      begins.data(),      segments,   x.data(), y.data(),
      extent(x),          out.data(), number,   layout.long_segments.data(work.get()),
      work.get().errors()};
  using by_lanes = kernels::dot_by_lanes<item, w>;
  using by_teams = kernels::dot_by_teams<item>;
  lanewise::launch(exec, "my::segmented_dot",
                   backend::template resident_league<by_lanes>(exec, segments), by_lanes{arrays});
  lanewise::launch(exec, "my::segmented_dot::long",
                   backend::template resident_league<by_teams>(exec, segments), by_teams{arrays});
}

}  // namespace my
