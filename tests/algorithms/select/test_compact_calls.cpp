// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/segments/reduce_by_key.hpp>
#include <support/functors.hpp>

#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithms/select/check_compact.hpp>

// How selections and calls on runs may be called: counts, room, sources, and what they refuse.

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr std::int64_t selected_tile = compact_tile<u32>;
const std::int64_t ragged_selection = some_tiles(selected_tile);
constexpr some_of kept_half{128};

std::vector<u32> kept_of(const std::vector<u32>& items) {
  std::vector<u32> kept;
  std::copy_if(items.begin(), items.end(), std::back_inserter(kept), kept_half);
  return kept;
}

}  // namespace

TEST_CASE("Counts are returned where no View is given", "[select]") {
  const auto exec = make_space();
  const auto items = random_items<u32>(ragged_selection);
  const auto kept = static_cast<std::int64_t>(kept_of(items).size());
  const auto found = static_cast<std::int64_t>(runs_of(items).first.size());
  const array<u32> in(items), flags(ragged_selection, 1u);
  const array<u32> out(ragged_selection, 77u), other(ragged_selection, 77u);

  CHECK(lanewise::select_if(exec, in.const_view(), out.view(), kept_half) == kept);
  CHECK(lanewise::select_flagged(exec, in.const_view(), flags.const_view(), out.view()) ==
        ragged_selection);
  CHECK(lanewise::partition(exec, in.const_view(), out.view(), other.view(), kept_half) == kept);
  CHECK(lanewise::partition_flagged(exec, in.const_view(), flags.const_view(), out.view(),
                                    other.view()) == ragged_selection);
  CHECK(lanewise::unique(exec, in.const_view(), out.view()) == found);
  CHECK(lanewise::unique_by_key(exec, in.const_view(), flags.const_view(), out.view(),
                                other.view()) == found);
  CHECK(lanewise::run_length_encode(exec, in.const_view(), out.view(), other.view()) == found);
}

TEST_CASE("Of no items none are kept", "[select]") {
  const auto exec = make_space();
  const array<u32> in(std::vector<u32>{}), out(3, 77u), other(3, 77u);
  const cell<std::int64_t> count(-1);
  lanewise::select_if(exec, in.const_view(), out.view(), count.view(), kept_half);
  CHECK(count.get() == 0);
  CHECK(lanewise::partition(exec, in.const_view(), out.view(), other.view(), kept_half) == 0);
  CHECK(lanewise::unique(exec, in.const_view(), out.view()) == 0);
  CHECK(lanewise::run_length_encode(exec, in.const_view(), out.view(), other.view()) == 0);
  CHECK(lanewise::reduce_by_key(exec, in.const_view(), in.const_view(), out.view(), other.view(),
                                lanewise::plus{}) == 0);
  CHECK(out.unchanged());
  CHECK(other.unchanged());
}

TEST_CASE("What finds no place is counted and left out", "[select][sanitize]") {
  const auto exec = make_space();
  const auto items = items_in_runs<u32>(ragged_selection, 3);
  const auto kept = kept_of(items);
  const runs found = runs_of(items);
  const array<u32> in(items), all(ragged_selection, 77u);
  const auto front = [](const auto& full, std::int64_t room) {
    const auto end = std::min<std::int64_t>(room, static_cast<std::int64_t>(full.size()));
    return std::vector<u32>(full.begin(), full.begin() + end);
  };
  for (const std::int64_t room : {std::int64_t{0}, std::int64_t{1}, std::int64_t{33},
                                  selected_tile / 5, ragged_selection / 4, ragged_selection / 2}) {
    CAPTURE(room);
    const array<u32> out(room, 77u), others(room, 77u), keys(room, 77u), lengths(room, 77u);
    const cell<std::int64_t> count;

    lanewise::select_if(exec, in.const_view(), out.view(), count.view(), kept_half);
    CHECK(count.get() == static_cast<std::int64_t>(kept.size()));
    check_front(out, front(kept, room));

    count.set(-1);
    lanewise::partition(exec, in.const_view(), all.view(), others.view(), count.view(), kept_half);
    CHECK(count.get() == static_cast<std::int64_t>(kept.size()));
    std::vector<u32> rejected;
    std::copy_if(items.begin(), items.end(), std::back_inserter(rejected),
                 [](u32 x) { return !kept_half(x); });
    check_front(others, front(rejected, room));

    count.set(-1);
    lanewise::run_length_encode(exec, in.const_view(), keys.view(), lengths.view(), count.view());
    CHECK(count.get() == static_cast<std::int64_t>(found.first.size()));
    check_front(keys, front(oracle::gather(items, found.first), room));
    check_front(lengths, front(found.length, room));
  }
}

TEST_CASE("Selections read the number of items on the device", "[select][sanitize]") {
  const auto exec = make_space();
  const auto items = items_in_runs<u32>(ragged_selection, 3);
  const array<u32> in(items);
  const cell<std::int64_t> n, count;
  for (const std::int64_t given :
       {std::int64_t{-5}, std::int64_t{0}, std::int64_t{1}, selected_tile - 1, selected_tile,
        ragged_selection - 1, ragged_selection + 1}) {
    CAPTURE(given);
    n.set(given);
    const auto used = std::clamp<std::int64_t>(given, 0, ragged_selection);
    const std::vector<u32> front(items.begin(), items.begin() + used);
    const array<u32> out(ragged_selection, 77u), lengths(ragged_selection, 77u),
        sums(ragged_selection, 77u);

    lanewise::select_if(exec, in.const_view(), out.view(), count.view(), kept_half,
                        {.count = n.view()});
    check_front(out, kept_of(front));

    const runs found = runs_of(front);
    lanewise::run_length_encode(exec, in.const_view(), out.view(), lengths.view(), count.view(),
                                lanewise::equal_to{}, {.count = n.view()});
    CHECK(count.get() == static_cast<std::int64_t>(found.first.size()));
    check_front(lengths, std::vector<u32>(found.length.begin(), found.length.end()));

    lanewise::reduce_by_key(
        exec, in.const_view(), lanewise::generated(ragged_selection, u32_plus_three{}), out.view(),
        sums.view(), count.view(), lanewise::minimum{}, lanewise::equal_to{}, {.count = n.view()});
    CHECK(count.get() == static_cast<std::int64_t>(found.first.size()));
    std::vector<u32> firsts(found.first.begin(), found.first.end());
    for (u32& i : firsts) i += 3;
    check_front(sums, firsts);
  }
}

TEST_CASE("Selections fuse sources and sinks", "[select][sanitize]") {
  const auto exec = make_space();
  const array<int> reads(ragged_selection, 0), writes(ragged_selection, 0);
  const array<u64> out(ragged_selection, u64{77});
  const auto source =
      lanewise::generated(ragged_selection, counting_square{reads.data(), ragged_selection});
  const auto sink = lanewise::consumed(ragged_selection,
                                       counting_store{writes.data(), ragged_selection, out.data()});

  const std::int64_t kept = lanewise::select_if(exec, source, sink, some_of{100});

  std::vector<u64> expected;
  for (std::int64_t i = 0; i < ragged_selection; ++i) {
    const auto square = static_cast<u64>(i * i);
    if (some_of{100}(square)) expected.push_back(square);
  }
  CHECK(kept == static_cast<std::int64_t>(expected.size()));
  check_front(out, expected);
  const auto read = reads.items(), written = writes.items();
  CHECK(reads.guards_intact());
  CHECK(std::all_of(read.begin(), read.end(), [](int k) { return k == 1 || k == 2; }));
  CHECK(std::all_of(written.begin(), written.begin() + kept, [](int k) { return k == 1; }));
}

TEST_CASE("Selections and calls on runs share a workspace", "[select]") {
  const auto exec = make_space();
  const auto items = items_in_runs<u32>(ragged_selection, 3);
  const auto found = static_cast<std::int64_t>(runs_of(items).first.size());
  const array<u32> in(items), out(ragged_selection, 77u), other(ragged_selection, 77u);
  lanewise::workspace work;
  lanewise::reserve(exec, work,
                    max(lanewise::compact_workspace<u32, space>(ragged_selection),
                        lanewise::reduce_by_key_workspace<u32, space>(ragged_selection)));
  const std::size_t bytes = work.bytes();
  for (int round = 0; round < 3; ++round) {
    CHECK(lanewise::select_if(exec, in.const_view(), out.view(), kept_half, {.work = &work}) ==
          static_cast<std::int64_t>(kept_of(items).size()));
    CHECK(lanewise::run_length_encode(exec, in.const_view(), out.view(), other.view(),
                                      lanewise::equal_to{}, {.work = &work}) == found);
    CHECK(lanewise::reduce_by_key(exec, in.const_view(), in.const_view(), out.view(), other.view(),
                                  lanewise::plus{}, lanewise::equal_to{},
                                  {.work = &work}) == found);
  }
  CHECK(work.bytes() == bytes);
}

TEST_CASE("Selections refuse what they cannot do", "[select]") {
  const auto exec = make_space();
  const array<u32> all(100, 1u), ten(10, 1u), other(100, 77u);
  const auto part = [&](int from, int to) {
    return Kokkos::subview(all.view(), Kokkos::pair<int, int>(from, to));
  };
  const Kokkos::View<u32*, memory, Kokkos::MemoryUnmanaged> nothing(nullptr, 5);

  CHECK_THAT(refusal([&] { lanewise::select_if(exec, part(0, 60), part(40, 100), kept_half); }),
             ContainsSubstring("lanewise::select_if: in [") && ContainsSubstring("overlap"));
  CHECK_THAT(refusal([&] { lanewise::select_if(exec, nothing, all.view(), kept_half); }),
             ContainsSubstring("lanewise::select_if: in has 5 items and no memory"));
  CHECK_THAT(
      refusal([&] { lanewise::select_flagged(exec, all.view(), ten.const_view(), other.view()); }),
      ContainsSubstring("select_flagged: flags has 10 items, in has 100"));
  CHECK_THAT(refusal([&] {
               lanewise::partition(exec, ten.view(), part(0, 60), part(40, 100), kept_half);
             }),
             ContainsSubstring("lanewise::partition: out [") && ContainsSubstring("rejected ["));
  CHECK_THAT(refusal([&] {
               lanewise::partition_flagged(exec, ten.view(), part(0, 9), part(0, 10), part(20, 30));
             }),
             ContainsSubstring("partition_flagged: flags has 9 items, in has 10"));
  CHECK_THAT(refusal([&] {
               lanewise::partition_flagged(exec, ten.view(), part(20, 30), part(0, 10),
                                           part(29, 39));
             }),
             ContainsSubstring("partition_flagged: flags [") && ContainsSubstring("rejected ["));
  CHECK_THAT(refusal([&] { lanewise::unique(exec, part(0, 60), part(40, 100)); }),
             ContainsSubstring("lanewise::unique: in ["));
  CHECK_THAT(refusal([&] {
               lanewise::unique_by_key(exec, all.view(), ten.view(), other.view(), other.view());
             }),
             ContainsSubstring("unique_by_key: values has 10 items, keys has 100"));
  CHECK_THAT(
      refusal([&] { lanewise::run_length_encode(exec, ten.view(), other.view(), other.view()); }),
      ContainsSubstring("run_length_encode: keys_out [") && ContainsSubstring("lengths_out ["));
  CHECK_THAT(refusal([&] {
               lanewise::reduce_by_key(exec, all.view(), ten.view(), other.view(), other.view(),
                                       lanewise::plus{});
             }),
             ContainsSubstring("reduce_by_key: values has 10 items, keys has 100"));
  const Kokkos::View<std::int64_t, memory, Kokkos::MemoryUnmanaged> no_count(nullptr);
  CHECK_THAT(
      refusal([&] { lanewise::select_if(exec, ten.view(), other.view(), no_count, kept_half); }),
      ContainsSubstring("select_if: count has no memory"));
  CHECK(all.unchanged());
  CHECK(other.unchanged());
}
