// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The papers' negative result: a multisplit by throwing darts, which is not stable (GPU Multisplit,
// 3.5). Every team has the buckets in scratch, each with twice as many slots as it may take items
// (relaxation 2). A lane throws its item at a random slot of its bucket and takes the first free
// one from there on. A bucket that is half full goes out with its empty slots, which are left out
// in the end.

#include "support.hpp"
#include <lanewise/data/zip.hpp>
#include <lanewise/histogram/histogram.hpp>
#include <lanewise/select/select.hpp>
#include <lanewise/sequence/scan.hpp>
#include <lanewise/sequence/transform.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace perf {

/// What is in a slot of bucket b that is empty: a key of another bucket. Two buckets or more.
struct empty_slot {
  int shift;
  KOKKOS_FUNCTION std::uint32_t operator()(std::uint32_t b) const { return (b ^ 1) << shift; }
};

/// The buckets that teams have sent out: segments of as many slots as a bucket has in scratch, and
/// whose they are.
struct sent_buckets {
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};
  std::uint32_t* next;   // of each bucket, its next segment
  std::uint32_t* owner;  // of each segment, its bucket
  std::uint32_t* keys;
  std::uint32_t* values;
};

template <class BucketOf, bool pairs>
struct throw_kernel {
  static constexpr int slots = 8192, most = 256;
  static constexpr std::uint32_t relaxation = 2;
  struct policy : launch_policy {
    static constexpr int teams_per_multiprocessor = 2;
  };
  template <class Team>
  struct scratch {
    std::uint32_t count[most];
    std::uint32_t waits;
    std::uint32_t keys[slots];
    std::uint32_t values[pairs ? slots : 1];
  };

  const std::uint32_t* keys;
  const std::uint32_t* values;
  std::int64_t n;
  BucketOf bucket_of;
  std::uint32_t buckets;
  sent_buckets sent;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    constexpr int width = Team::warp_type::width;
    constexpr std::int64_t items = Team::warps * width;
    const auto warp = team.warp();
    const auto [begin, end] = team.share(divide_up(n, items));
    if (begin == end) return;
    send(team, shared, 0);
    for (std::int64_t t = begin; t < end; ++t) {
      const std::int64_t first = t * items + team.warp_index() * width, left = n - first;
      auto todo = warp.first(left);
      const auto key = warp.load(todo, keys + first, 0u);
      const auto value = pairs ? warp.load(todo, values + first, 0u) : key;
      for (bool again = true; again;) {
        throw_items(team, shared, first, key, value, todo);
        if (warp.any(todo)) warp.template store<order::relaxed, scope::team>(shared.waits, 1u);
        team.barrier();
        again = warp.template load<order::relaxed, scope::team>(shared.waits) != 0;
        send(team, shared, slots / buckets / relaxation);
      }
    }
    send(team, shared, 1);
  }

 private:
  /// Leaves the items in todo that their buckets had no room for.
  template <class Team, class Lanes, class Mask>
  LANEWISE_FUNCTION void throw_items(const Team& team, scratch<Team>& shared, std::int64_t first,
                                     const Lanes& key, const Lanes& value, Mask& todo) const {
    const auto warp = team.warp();
    const std::uint32_t each = slots / buckets;
    const auto bucket = warp.map([&](std::uint32_t k) { return bucket_of(k) & (most - 1); }, key);
    const auto rank =
        warp.template fetch_add<order::relaxed, scope::team>(todo, shared.count, bucket, Lanes(1u));
    const Mask thrown = todo & (rank < each / relaxation);
    const auto empty =
        warp.map([s = bucket_of.shift](std::uint32_t b) { return empty_slot{s}(b); }, bucket);
    auto dart = warp.map(
        [&](std::uint32_t l) { return static_cast<std::uint32_t>(hash(first + l)) & (each - 1); },
        warp.lane());
    Mask flying = thrown;
    while (warp.any(flying)) {
      const auto at = bucket * Lanes(each) + dart;
      const auto found = warp.template compare_exchange<order::relaxed, scope::team>(
          flying, shared.keys, at, empty, key);
      const Mask lands = flying & (found == empty);
      if constexpr (pairs) warp.scatter(lands, shared.values, at, value);
      flying = flying & !lands;
      dart = (dart + Lanes(1u)) & Lanes(each - 1);
    }
    todo = todo & !thrown;
  }

  /// Sends out every bucket with `least` items or more, and empties it; 0: only empties all.
  template <class Team>
  LANEWISE_FUNCTION void send(const Team& team, scratch<Team>& shared, std::uint32_t least) const {
    using lanes = typename Team::warp_type::template lanes<std::uint32_t>;
    constexpr std::uint32_t width = Team::warp_type::width;
    const auto warp = team.warp();
    const std::uint32_t each = slots / buckets;
    team.barrier();
    for (auto b = static_cast<std::uint32_t>(team.warp_index()); b < buckets; b += Team::warps) {
      if (least > 0) {
        if (warp.template load<order::relaxed, scope::team>(shared.count[b]) < least) continue;
        const std::uint32_t segment = warp.fetch_add(sent.next[b], 1u);
        warp.once([&] { sent.owner[segment] = b; });
        const std::int64_t to = std::int64_t{segment} * each;
        for (std::uint32_t i = 0; i < each; i += width) {
          warp.store(sent.keys + to + i, warp.load(shared.keys + b * each + i));
          if constexpr (pairs)
            warp.store(sent.values + to + i, warp.load(shared.values + b * each + i));
        }
      }
      for (std::uint32_t i = 0; i < each; i += width)
        warp.store(shared.keys + b * each + i, lanes(empty_slot{bucket_of.shift}(b)));
      warp.once([&] { shared.count[b] = 0; });
    }
    if (team.warp_index() == 0) warp.once([&] { shared.waits = 0; });
    team.barrier();
  }
};

/// How many segments a bucket may need: the full ones, and one of each team.
struct segments_of_bucket {
  std::uint32_t items_each, teams;
  KOKKOS_FUNCTION std::uint32_t operator()(std::uint32_t count) const {
    return (count + items_each - 1) / items_each + teams;
  }
};
/// Whether a slot has an item: empty ones have keys of other buckets.
template <class BucketOf>
struct is_taken {
  const std::uint32_t *keys, *owner;
  BucketOf bucket_of;
  int shift;
  KOKKOS_FUNCTION bool operator()(std::int64_t i) const {
    return owner[i >> shift] == bucket_of(keys[i]);
  }
};
struct set_to_nobody {
  KOKKOS_FUNCTION std::uint32_t operator()(std::int64_t) const { return sent_buckets::nobody; }
};

/// Up to 256 buckets, a power of two.
template <class Problem>
void time_randomised_insertion(Problem& p, const auto& time) {
  using exec_space = typename Problem::exec_space;
  using bucket_of = decltype(p.bucket_of);
  using kernel = throw_kernel<bucket_of, Problem::pairs>;
  using team = team_t<exec_space, typename kernel::policy>;
  using words = array<exec_space, std::uint32_t>;
  const auto m = static_cast<std::uint32_t>(p.buckets);
  const std::uint32_t each = kernel::slots / m;
  const std::int64_t league = backend_of<exec_space>::template resident_league<kernel>(
      p.exec, divide_up(p.n, team::warps * team::warp_type::width));
  const segments_of_bucket need{each / kernel::relaxation, static_cast<std::uint32_t>(league)};
  const std::int64_t segments = p.n / need.items_each + m + m * league;
  const auto words_of = [](std::int64_t n) {
    return words(Kokkos::view_alloc("perf::words", Kokkos::WithoutInitializing),
                 static_cast<std::size_t>(n));
  };
  const words counts = words_of(m), next = words_of(m), owner = words_of(segments);
  const words keys = words_of(segments * each);
  const words values = words_of(Problem::pairs ? segments * each : 0);
  const Kokkos::View<std::int64_t, typename exec_space::memory_space> kept("perf::kept");
  lanewise::workspace work;
  time([&] {
    lanewise::histogram(p.exec, p.keys, counts, p.bucket_of, {.work = &work});
    lanewise::exclusive_scan(p.exec, lanewise::transformed(counts, need), next, lanewise::plus{},
                             0u, {.work = &work});
    lanewise::transform(p.exec, lanewise::generated(segments, set_to_nobody{}), owner,
                        lanewise::identity{});
    launch(p.exec, "perf::throw", league,
           kernel{p.keys.data(),
                  p.values.data(),
                  p.n,
                  p.bucket_of,
                  m,
                  {next.data(), owner.data(), keys.data(), values.data()}});
    const auto taken = lanewise::generated(
        segments * each,
        is_taken<bucket_of>{keys.data(), owner.data(), p.bucket_of, std::countr_zero(each)});
    if constexpr (Problem::pairs) {
      lanewise::select_flagged(p.exec, lanewise::zipped(keys, values), taken,
                               lanewise::unzipped(p.keys_out, p.values_out), kept, {.work = &work});
    } else {
      lanewise::select_flagged(p.exec, keys, taken, p.keys_out, kept, {.work = &work});
    }
  });
}

}  // namespace perf
LANEWISE_END_NAMESPACE
