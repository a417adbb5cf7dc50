// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/options.hpp>
#include <lanewise/data/radix_key.hpp>
#include <lanewise/histogram/bins.hpp>
#include <lanewise/histogram/detail/bin_counting.hpp>

#include <array>

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

/// A GPU with 100 KB of scratch holds one team, and one with 228 KB two.
struct histogram_policy : launch_policy {
  static constexpr int warps = 16;
  static constexpr int teams_per_multiprocessor = 2;
  static constexpr int host_teams_per_thread = 8;
  static constexpr int scratch_bytes = 96 << 10;
};
/// For more bins, where a team can have so much (compute capability 9.0).
struct large_histogram_policy : launch_policy {
  static constexpr int warps = 32;
  static constexpr int scratch_bytes = 224 << 10;
};

/// Every team counts its share of the items.
template <class Call, class Policy = histogram_policy>
struct histogram_kernel {
  using policy = Policy;
  template <class Team>
  using scratch = typename detail::histogram_t<Team, Call, policy>::scratch;

  Call call;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    detail::histogram_t<Team, Call, policy>::count(team, shared, call, call.n());
  }
};

/// Adds up what the teams have counted, if they have not done so.
template <class Call>
struct histogram_sums_kernel {
  using policy = histogram_policy;
  template <class Team>
  struct scratch {};

  Call call;
  std::int64_t teams;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    detail::histogram_t<Team, Call, policy>::sum_up(team, call, teams);
  }
};

}  // namespace kernels

/// Options of histogram.
struct histogram_options {
  /// Memory for temporaries; without it the call allocates in the order of its instance.
  workspace_ref work = {};
  /// A rank-0 View of integers, read on the device when the call runs: the number of items. The
  /// extents are the upper bound.
  option_view<const std::int64_t> count = {};
  /// Counts items that are in none of the bins.
  option_view<status> errors = {};
};

namespace kernels {

template <class Exec, class Call, class Policy = histogram_policy>
using histogram_mapping = detail::histogram_t<team_t<Exec, Policy>, Call, Policy>;

/// The number of teams that count: each has few enough items that no counter could wrap.
template <class Exec, class Call, class Policy = histogram_policy>
std::int64_t histogram_league(const Exec& exec, std::int64_t n, std::int64_t bins) {
  constexpr std::int64_t most_share = std::int64_t{1} << 31;
  using mapping = histogram_mapping<Exec, Call, Policy>;
  const std::int64_t shares =
      std::max(lanewise::divide_up(n, mapping::least_share(bins)), std::int64_t{1});
  return std::max(
      backend_of<Exec>::template resident_league<histogram_kernel<Call, Policy>>(exec, shares),
      divide_up(n, most_share));
}

/// Starts the teams that suit a call.
template <class Exec, class Call>
void launch_histogram(const Exec& exec, std::int64_t league, const Call& call) {
  using large = large_histogram_policy;
  using mapping = histogram_mapping<Exec, Call, large>;
  if constexpr (mapping::has_use_for_more) {
    if (mapping::needs_more(call.in.extent, call.bins, histogram_policy::scratch_bytes) &&
        backend_of<Exec>::scratch_bytes(exec) >= large::scratch_bytes) {
      lanewise::launch(
          exec, "Lanewise::histogram",
          kernels::histogram_league<Exec, Call, large>(exec, call.in.extent, call.bins),
          histogram_kernel<Call, large>{call});
      return;
    }
  }
  lanewise::launch(exec, "Lanewise::histogram", league, histogram_kernel<Call>{call});
}

template <class Exec, class Source, class Weights, class Bins, class Result, std::size_t outputs>
void histogram(const Exec& exec, const Source& in, const Weights& weights, const Bins& bins_of,
               const std::array<Result*, outputs>& out,
               const std::array<std::int64_t, outputs>& bins, const histogram_options& options) {
  using call_type = detail::histogram_call<Source, Weights, Bins, Result>;
  using backend = backend_of<Exec>;
  call_type call{in, weights, {in.extent, options.count.data()}, bins_of, 0, {}, {}, {}, false, {}};
  for (std::size_t t = 0; t < outputs; ++t) {
    call.out[t] = out[t];
    call.first[t] = call.bins;
    call.bins += static_cast<std::uint32_t>(bins[t]);
  }
  call.first[outputs] = call.bins;
  call.errors = options.errors.data();
  using mapping = histogram_mapping<Exec, call_type>;
  const std::int64_t league =
      kernels::histogram_league<Exec, call_type>(exec, in.extent, call.bins);
  auto work = call_workspace::make<backend>(
      exec, options.work,
      {0, static_cast<std::size_t>(mapping::workspace_bytes(league, call.bins))}, "histogram");
  call.tables = static_cast<typename call_type::counter*>(work.get().plain());
  call.is_alone = mapping::is_alone(league, call.bins);
  if (!call.is_alone && !mapping::sums_up) {
    for (std::size_t t = 0; t < outputs; ++t)
      backend::zero(exec, out[t], static_cast<std::size_t>(bins[t]) * sizeof(Result));
  }
  kernels::launch_histogram(exec, league, call);
  if constexpr (mapping::sums_up) {
    using sums = histogram_sums_kernel<call_type>;
    if (!call.is_alone)
      lanewise::launch(
          exec, "Lanewise::histogram::sums",
          backend::template resident_league<sums>(exec, lanewise::divide_up(call.bins, 1024)),
          sums{call, league});
  }
}

/// The place for results, as an unsigned integer if they are integers: sums wrap.
template <class T>
auto* counted(T* out) {
  if constexpr (std::is_integral_v<T>) {
    return reinterpret_cast<std::make_unsigned_t<T>*>(out);
  } else {
    return out;
  }
}

/// Whether an output View holds what is counted.
template <class Exec, class Counts, bool weighted>
constexpr bool check_counts() {
  constexpr bool view = Kokkos::is_view_v<Counts>;
  static_assert(view, "lanewise: the counts of a histogram are a Kokkos::View");
  if constexpr (view) {
    using T = typename Counts::value_type;
    constexpr bool wide = sizeof(T) == 4 || sizeof(T) == 8;
    constexpr bool numbers = std::is_integral_v<T> || (weighted && std::is_floating_point_v<T>);
    static_assert(wide && numbers,
                  "lanewise: the counts of a histogram are integers of 32 or 64 bits; sums of "
                  "weights may be floating-point numbers");
    return detail::check_view_type<Counts>() && wide && numbers;
  }
  return view;
}

/// Refuses an output that is too large, or overlaps an input.
template <class In, class Out>
void expects_bins(const In& in, const Out& out, const char* name) {
  detail::expects(out.extent >= 1 && out.extent <= most_bins, "histogram: counts has ", out.extent,
                  " bins, not in [1, ", most_bins, "]");
  detail::expects_memory(in, "histogram", name);
  detail::expects_memory(out, "histogram", "counts");
  detail::expects_no_partial_overlap(in, out, "histogram", name, "counts", false);
}
template <class V, class Out>
void expects_apart(const bins_between<V>& bins, const Out& out) {
  const array_source<typename V::non_const_value_type, identity> edges{
      bins.edges.data(), static_cast<std::int64_t>(bins.edges.extent(0)), {}};
  detail::expects_no_partial_overlap(edges, out, "histogram", "edges", "counts", false);
}
template <class Bins, class Out>
void expects_apart(const Bins&, const Out&) {}

template <class Bins>
inline constexpr bool are_by_levels = false;
template <class T>
inline constexpr bool are_by_levels<even_bins_between<T>> = true;
template <class V>
inline constexpr bool are_by_levels<bins_between<V>> = true;

/// A source whose items are rounded before something else is computed of them. Halves are compared
/// with levels as float.
template <class Bins, class Source>
auto with_rounded_items(const Source& in) {
  using item = typename Source::value_type;
  if constexpr (are_by_levels<Bins> && is_ieee_float<item>::value &&
                !std::is_floating_point_v<item>) {
    return detail::as<float>(in);
  } else if constexpr (std::is_floating_point_v<item> &&
                       !requires { decltype(in.f)::is_identity; }) {
    return detail::rounded_source<Source>{in};
  } else {
    return in;
  }
}

/// Checks the arguments, and calls count(source, bins of it, output).
template <bool weighted, class Exec, class In, class Counts, class Bins, class Count>
void checked_histogram(const In& in, const Counts& counts, const Bins& bins,
                       const histogram_options& options, Count count) {
  const auto source = kernels::with_rounded_items<Bins>(detail::as_source<Exec>(in));
  using item = typename decltype(source)::value_type;
  if constexpr (kernels::check_counts<Exec, Counts, weighted>() &&
                detail::check_bins<Exec, item>(static_cast<const Bins*>(nullptr))) {
    const auto out = detail::as_sink<Exec>(counts);
    kernels::expects_bins(source, out, "in");
    kernels::expects_apart(bins, out);
    options.count.expects_reachable<Exec>("histogram", "options.count");
    options.errors.expects_reachable<Exec>("histogram", "options.errors");
    const auto bins_of = detail::prepare<item>(bins, out.extent, "histogram");
    count(source, detail::single_bins<std::decay_t<decltype(bins_of)>>{bins_of}, out);
  }
}

/// Neighbouring items of a source as one.
template <class Source, int channels>
struct gathered_channels {
  Source in;
  LANEWISE_FUNCTION auto operator()(std::int64_t i) const {
    detail::channel_items<typename Source::value_type, channels> r;
    LANEWISE_UNROLL
    for (int c = 0; c < channels; ++c) r.item[c] = in(i * channels + c);
    return r;
  }
};
template <int channels, class Source>
auto by_channels(const Source& in) {
  const std::int64_t n = in.extent / channels;
  if constexpr (requires { decltype(in.f)::is_identity; }) {
    using items = detail::channel_items<typename Source::value_type, channels>;
    return array_source<items, identity>{reinterpret_cast<const items*>(in.data), n, {}};
  } else {
    return generated_source<gathered_channels<Source, channels>>{n, {in}};
  }
}

}  // namespace kernels

/// Counts items by bin: counts(b) = the number of i in [0, n) with bin(in(i)) = b, n being in's
/// extent or options.count.
///
/// bins is even_bins(lower, upper), range_bins(edges), or a pure scalar function object from an
/// item to an integer (bins.hpp). Such an object is called at most twice per item. counts is a
/// contiguous rank-1 View of integers of 32 or 64 bits, of 1 to 2^21 bins. It is overwritten, and
/// does not overlap in; counts wrap modulo its type. in is a contiguous rank-1 View or a source.
/// Items that are in no bin, as those out of range and NaN, are skipped, and counted in
/// options.errors if that is given. n reads; O(n) work, O(n log bins) for range_bins. Devices need
/// no workspace, hosts one table of the bins, or four, for every team. On devices one launch up to
/// 2^12 items of more than a byte, else two. The result is the same on every backend. Does not
/// block. Throws std::invalid_argument on wrong extents, bins that are out of the range of their
/// type, overlap, or an option that cannot be reached. (Ashkiani, 3.7.3, with counters in scratch
/// that hardware adds to.)
template <execution_space Exec, class In, class Counts, class Bins>
void histogram(const Exec& exec, const In& in, const Counts& counts, const Bins& bins,
               const histogram_options& options = {}) {
  kernels::checked_histogram<false, Exec>(
      in, counts, bins, options, [&](const auto& source, const auto& bins_of, const auto& out) {
        kernels::histogram(exec, source, detail::no_weights{}, bins_of,
                           std::array{kernels::counted(out.data)}, std::array{out.extent}, options);
      });
}

/// Adds up weights by bin: counts(b) = the sum of weights(i) over i with bin(in(i)) = b. weights is
/// a View or a source of as many numbers as in has items. They are converted to the type of counts,
/// which may be float or double, too, and added in any order: sums of floating-point numbers are
/// not the same on every run. 2 n reads.
template <execution_space Exec, class In, class Weights, class Counts, class Bins>
void histogram(const Exec& exec, const In& in, const Weights& weights, const Counts& counts,
               const Bins& bins, const histogram_options& options = {}) {
  const auto added = detail::as_source<Exec>(weights);
  using weight = typename decltype(added)::value_type;
  static_assert(std::is_arithmetic_v<weight> || detail::is_refused<weight>,
                "lanewise: weights are numbers");
  if constexpr (std::is_arithmetic_v<weight>) {
    kernels::checked_histogram<true, Exec>(
        in, counts, bins, options, [&](const auto& source, const auto& bins_of, const auto& out) {
          detail::expects(added.extent == source.extent, "histogram: weights has ", added.extent,
                          " items, in has ", source.extent);
          kernels::expects_bins(added, out, "weights");
          kernels::histogram(exec, source, added, bins_of, std::array{kernels::counted(out.data)},
                             std::array{out.extent}, options);
        });
  }
}

/// Counts several channels in one pass: in has groups of `channels` neighbouring items, 1 to 4, as
/// pixels of an image. counts[c] and bins[c] are those of item c of each group, for the first one
/// or more channels. Everything else is as in histogram; options.count is a number of groups.
template <int channels, execution_space Exec, class In, class Counts, class Bins,
          std::size_t active>
void histogram_of_channels(const Exec& exec, const In& in, const std::array<Counts, active>& counts,
                           const std::array<Bins, active>& bins,
                           const histogram_options& options = {}) {
  static_assert(active >= 1 && static_cast<int>(active) <= channels && channels <= 4,
                "lanewise: a histogram has 1 to 4 channels, and counts 1 or more of them");
  const auto source = kernels::with_rounded_items<Bins>(detail::as_source<Exec>(in));
  using item = typename decltype(source)::value_type;
  if constexpr (kernels::check_counts<Exec, Counts, false>() &&
                detail::check_bins<Exec, item>(static_cast<const Bins*>(nullptr))) {
    detail::expects(source.extent % channels == 0, "histogram: in has ", source.extent,
                    " items, which is no multiple of ", channels, " channels");
    options.count.expects_reachable<Exec>("histogram", "options.count");
    options.errors.expects_reachable<Exec>("histogram", "options.errors");
    using prepared = decltype(detail::prepare<item>(bins[0], 1, ""));
    detail::channel_bins<prepared, static_cast<int>(active)> bins_of;
    std::array<decltype(kernels::counted(counts[0].data())), active> out;
    std::array<std::int64_t, active> extents;
    std::uint32_t first = 0;
    for (std::size_t c = 0; c < active; ++c) {
      const auto sink = detail::as_sink<Exec>(counts[c]);
      kernels::expects_bins(source, sink, "in");
      for (std::size_t d = 0; d < c; ++d)
        detail::expects_no_partial_overlap(detail::as_sink<Exec>(counts[d]), sink, "histogram",
                                           "counts", "counts", false);
      kernels::expects_apart(bins[c], sink);
      bins_of.bins[c] = detail::prepare<item>(bins[c], sink.extent, "histogram");
      bins_of.first[c] = first;
      first += static_cast<std::uint32_t>(sink.extent);
      out[c] = kernels::counted(sink.data);
      extents[c] = sink.extent;
    }
    kernels::histogram(exec, kernels::by_channels<channels>(source), detail::no_weights{}, bins_of,
                       out, extents, options);
  }
}

/// The workspace that a histogram of n items needs whose counts are of type T. Needs no device.
template <class T, execution_space Exec>
workspace_size histogram_workspace(const Exec& exec, std::int64_t n, std::int64_t bins) {
  const auto need = [&](auto weights) {
    using call =
        detail::histogram_call<array_source<std::uint8_t, identity>, decltype(weights),
                               detail::single_bins<detail::even_integers<std::uint8_t>>, T>;
    using mapping = kernels::histogram_mapping<Exec, call>;
    workspace_size size;
    if constexpr (mapping::sums_up) {
      const std::int64_t league = kernels::histogram_league<Exec, call>(exec, n, bins);
      size.bytes = static_cast<std::size_t>(mapping::workspace_bytes(league, bins));
    }
    return size;
  };
  return lanewise::max(need(detail::no_weights{}), need(array_source<std::uint8_t, identity>{}));
}

LANEWISE_END_TARGET_NAMESPACE
