// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/segments/segmented_reduce.hpp>
#include <support/functors.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <limits>

// Reductions of segments given by offsets.

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

template <class T>
using segments_kernel_of =
    lanewise::kernels::segmented_reduce_kernel<lanewise::array_source<T, lanewise::identity>,
                                               lanewise::array_source<i64, lanewise::identity>,
                                               lanewise::array_sink<T>, lanewise::plus, T>;
template <class T>
using sums_of = lanewise::detail::segmented_reduction<
    lanewise::team_t<space, typename segments_kernel_of<T>::policy>, T,
    typename segments_kernel_of<T>::policy>;

/// Segments and items of a tile, taken together.
template <class T>
constexpr i64 steps = sums_of<T>::steps;

/// The number of items that a team may have more than others where teams take few segments whole.
template <class T>
constexpr i64 most_beyond = sums_of<T>::whole::most_beyond;

std::vector<i64> offsets_of(const std::vector<u64>& lengths, i64 first = 0) {
  std::vector<i64> offsets = {first};
  for (const u64 length : lengths) offsets.push_back(offsets.back() + static_cast<i64>(length));
  return offsets;
}

template <class T, class Op>
std::vector<T> reduced(const std::vector<T>& items, const std::vector<i64>& offsets, Op op,
                       T init) {
  std::vector<T> out;
  for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
    T sum = init;
    for (i64 i = offsets[s]; i < offsets[s + 1]; ++i)
      sum = op(sum, items[static_cast<std::size_t>(i)]);
    out.push_back(sum);
  }
  return out;
}

template <class T, class Op>
void check_these(const std::vector<i64>& offsets, Op op, const T& init, i64 after) {
  const auto items = random_items<T>(offsets.back() + after, most_summand<T>());
  const auto segments = static_cast<i64>(offsets.size()) - 1;
  const array<T> in(items, 1);
  const array<i64> offset(offsets);
  const array<T> out(segments + 2, item_of<T>(77));
  const cell<lanewise::status> errors;
  lanewise::segmented_reduce(make_space(), in.const_view(), offset.const_view(), out.view(), op,
                             init, {.errors = errors.view()});
  CHECK(difference(out.items(), reduced(items, offsets, op, init), out.original()) == "");
  CHECK(errors.get().bad_items == 0);
  CHECK(out.guards_intact());
  CHECK(in.unchanged());
  CHECK(offset.unchanged());
}

/// `behind` more items belong to no segment. Segments that may be taken whole are taken in pieces
/// as well: then a segment after them is too long for any number of teams.
template <class T, class Op>
void check_segments(const std::vector<i64>& offsets, Op op, const T& init, i64 after = 0) {
  check_these(offsets, op, init, after);
  if (most_beyond<T> == 0 || offsets.back() > (is_emulated ? 30'000 : 100'000)) return;
  auto longer = offsets;
  longer.push_back(2 * (longer.back() + most_beyond<T>)+1);
  check_these(longer, op, init, after);
}

std::vector<u64> random_lengths(i64 n, u64 mean) {
  return numbers(distribution::uniform, n, 2 * mean, 256, 5);
}

/// Lengths that make trouble, of about `items` items in all.
std::vector<std::vector<u64>> hard_lengths(i64 items) {
  const auto n = static_cast<u64>(items);
  std::vector<std::vector<u64>> result = {{n}, {0, n}, {n, 0}, {0, 0, n, 0, 0, 1, 0}};
  result.emplace_back(n, 0);                      // only empty ones
  result.emplace_back(n, 1);                      // only single items
  result.emplace_back(n / 2, 0).back() = 5;       // items at the very end
  result.emplace_back(n / 2, 0).front() = n / 2;  // a long one, then empty ones
  auto& mixed = result.emplace_back();
  for (u64 i = 0, total = 0; total < n; ++i) {
    mixed.push_back(i % 61 == 7 ? n / 9 : (i % 5 < 2 ? 0 : i % 40));
    total += mixed.back();
  }
  auto& zipf = result.emplace_back();
  for (const u64 k : numbers(distribution::zipf, items / 8, 1000, 1000, 3)) zipf.push_back(k / 8);
  return result;
}

}  // namespace

TEMPLATE_TEST_CASE("Segments are summed up at every number and mean length", "[segments]",
                   u32 MORE_TYPES(std::uint8_t, u64, double)) {
  for (const i64 segments : sizes_around(steps<TestType> / 8)) {
    for (const u64 mean : {1u, 8u, 100u}) {
      if (segments * static_cast<i64>(mean) > (is_emulated ? 20'000 : 1'000'000)) continue;
      CAPTURE(segments, mean);
      check_segments(offsets_of(random_lengths(segments, mean)), lanewise::plus{}, TestType(5));
    }
  }
}

TEMPLATE_TEST_CASE("Segments of any lengths are reduced in order", "[segments][sanitize]",
                   affine MORE_TYPES(matrix)) {
  const TestType init = item_of<TestType>(12345);
  for (const auto& lengths : hard_lengths(2 * steps<TestType> + 77)) {
    CAPTURE(lengths.size(), lengths.front());
    if constexpr (std::is_same_v<TestType, matrix>) {
      check_segments(offsets_of(lengths), product{}, init);
    } else {
      check_segments(offsets_of(lengths), then{}, init);
    }
  }
}

TEMPLATE_TEST_CASE("Segments of any lengths are summed up", "[segments]",
                   u32 MORE_TYPES(std::uint8_t)) {
  for (const auto& lengths : hard_lengths(is_emulated ? 3 * steps<TestType> : 1'000'003))
    check_segments(offsets_of(lengths), lanewise::plus{}, TestType(0));
}

/// Stretches of empty segments, of single items, of short ones and of long ones, in turn.
std::vector<u64> stretches(i64 steps_in_all, u64 seed) {
  auto random = make_random(seed);
  std::vector<u64> lengths;
  for (i64 step = 0; step < steps_in_all;) {
    const u64 kind = random_number(random, 4);
    const u64 most[] = {0, 1, 3, 64, 7000};
    const u64 segments = kind == 4 ? 1 : random_number(random, kind == 0 ? 5000 : 1500);
    for (u64 k = 0; k < segments; ++k) {
      lengths.push_back(kind < 2 ? most[kind] : random_number(random, most[kind]));
      step += 1 + static_cast<i64>(lengths.back());
    }
  }
  return lengths;
}

const u64 most_seeds = is_emulated && !full() ? 3 : 8;

TEMPLATE_TEST_CASE("Stretches of empty and of short segments are summed up", "[segments]",
                   u32 MORE_TYPES(std::uint8_t, double)) {
  for (u64 seed = 1; seed <= most_seeds; ++seed) {
    CAPTURE(seed);
    check_segments(offsets_of(stretches(is_emulated           ? 60'000
                                        : takes_long_inputs() ? 5'000'000
                                                              : 1'000'000,
                                        seed),
                              3),
                   lanewise::plus{}, TestType(5), 9);
  }
}

TEMPLATE_TEST_CASE("Stretches of empty and of short segments are reduced in order", "[segments]",
                   affine MORE_TYPES(matrix)) {
  for (u64 seed = 1; seed <= most_seeds; ++seed) {
    CAPTURE(seed);
    const auto offsets = offsets_of(stretches(is_emulated           ? 60'000
                                              : takes_long_inputs() ? 3'000'000
                                                                    : 1'000'000,
                                              seed));
    if constexpr (std::is_same_v<TestType, matrix>) {
      check_segments(offsets, product{}, item_of<TestType>(12345));
    } else {
      check_segments(offsets, then{}, item_of<TestType>(12345));
    }
  }
}

TEST_CASE("As many segments as a warp looks at together, and one more or less, are empty",
          "[segments][sanitize]") {
  for (const u64 length : {0u, 1u, 5u}) {
    for (const u64 empty : {255u, 256u, 257u, 511u, 512u, 513u, 1024u, 1025u, 3000u}) {
      CAPTURE(length, empty);
      std::vector<u64> lengths = {length};
      for (const u64 between : {length, u64{1}, u64{700}}) {
        lengths.insert(lengths.end(), empty, 0);
        lengths.insert(lengths.end(), 3, between);
      }
      check_segments(offsets_of(lengths), lanewise::plus{}, 7u);
      check_segments(offsets_of(lengths), then{}, affine{3, 4, 1});
    }
  }
}

TEST_CASE("Ends may be farther away than 16 bits tell", "[segments]") {
  check_segments(offsets_of({1'500'000}), lanewise::plus{}, std::uint8_t{1});
  check_segments(
      offsets_of({65'534, 0, 1, 65'536, 65'535, 7, 0, 200'000, 131'072, 0, 0, 700'000, 1}),
      lanewise::plus{}, 1u);
  check_segments(offsets_of({400'000, 0, 65'535, 3}), then{}, affine{3, 4, 1});
}

TEST_CASE("A segment may end at every edge of a tile", "[segments]") {
  for (i64 delta = -3; delta <= 3; ++delta) {
    for (const i64 first : {i64{1}, i64{7}, steps<affine> - 1, steps<affine>, steps<affine> + 1}) {
      CAPTURE(delta, first);
      check_segments(offsets_of({static_cast<u64>(first), 0, 0,
                                 static_cast<u64>(steps<affine> + delta), 0, 5, 0, 0}),
                     then{}, affine{3, 4, 1});
    }
  }
}

TEMPLATE_TEST_CASE("Few segments are taken whole, as many by every team", "[segments][sanitize]",
                   u32, affine MORE_TYPES(std::uint8_t, double)) {
  constexpr auto most = static_cast<u64>(most_beyond<TestType>);
  auto random = make_random(5);
  for (const u64 segments : {1u, 2u, 3u, 7u, 17u, 40u, 64u, 400u, 1500u, 5000u, 12'000u}) {
    for (const u64 longest : {u64{5}, u64{33}, u64{200}, most / 32, most / 4 + 1, most}) {
      if (segments * longest > (is_emulated ? 150'000u : 1'000'000u)) continue;
      CAPTURE(segments, longest);
      std::vector<u64> lengths = {longest};
      while (lengths.size() < segments)
        lengths.push_back(random_number(random, 3) == 0 ? 0 : random_number(random, longest));
      // Packs begin anywhere.
      for (const i64 first : {0, 1, 7}) {
        if constexpr (std::is_same_v<TestType, affine>) {
          check_these(offsets_of(lengths, first), then{}, affine{3, 4, 1}, 1);
        } else {
          check_these(offsets_of(lengths, first), lanewise::plus{}, TestType(5), 1);
        }
      }
    }
  }
}

TEST_CASE("Items in front of the first segment and behind the last belong to none",
          "[segments][sanitize]") {
  check_segments(offsets_of(random_lengths(steps<u32> / 4, 8), 1234), lanewise::plus{}, 0u, 999);
  check_segments(offsets_of({}, 10), lanewise::plus{}, 0u, 5);
  check_segments(offsets_of({0, 0, 0}, 10), lanewise::plus{}, 7u, 5);
}

TEST_CASE(
    "Segments of sources are reduced into sinks, counted on the device, and nothing else is "
    "looked at",
    "[segments][sanitize]") {
  const auto exec = make_space();
  const auto offsets = offsets_of(random_lengths(steps<u64> / 4, 8), 3);
  const i64 n = offsets.back() + 50, segments = static_cast<i64>(offsets.size()) - 1;
  const array<i64> offset(offsets);
  std::vector<u64> squares;
  for (i64 i = 0; i < n; ++i) squares.push_back(static_cast<u64>(i * i));
  for (const i64 used : {i64{0}, i64{1}, segments - 5, segments, segments + 9}) {
    const cell<i64> count(used);
    const i64 k = std::min(used, segments);
    const array<int> reads(n, 0), writes(segments, 0);
    const array<u64> out(segments, u64{77});
    lanewise::segmented_reduce(
        exec, lanewise::generated(n, counting_square{reads.data(), n}), offset.const_view(),
        lanewise::consumed(segments, counting_store{writes.data(), segments, out.data()}),
        lanewise::plus{}, u64{1}, {.count = count.view()});
    const std::vector<i64> front(offsets.begin(), offsets.begin() + k + 1);
    CHECK(difference(out.items(), reduced(squares, front, lanewise::plus{}, u64{1}),
                     out.original()) == "");
    const auto read = reads.items();
    const auto written = writes.items();
    CHECK(reads.guards_intact());
    CHECK(writes.guards_intact());
    for (i64 i = 0; i < n; ++i)
      REQUIRE(read[static_cast<std::size_t>(i)] == (i >= front[0] && i < front.back() ? 1 : 0));
    for (i64 s = 0; s < segments; ++s) REQUIRE(written[static_cast<std::size_t>(s)] == (s < k));
  }
}

/// Segments that are none, of n items.
u64 number_of_bad(const std::vector<i64>& offsets, i64 n) {
  u64 bad = 0;
  for (std::size_t s = 0; s + 1 < offsets.size(); ++s)
    bad += offsets[s] < 0 || offsets[s] > offsets[s + 1] || offsets[s + 1] > n;
  return bad;
}

TEST_CASE("Bad offsets are counted, and harm nothing", "[segments][sanitize]") {
  const auto exec = make_space();
  const i64 n = 3 * steps<u32>;
  const array<u32> in(random_items<u32>(n));
  const cell<lanewise::status> errors;
  auto random = make_random(17);
  const auto run = [&](const std::vector<i64>& offsets) {
    errors.set({});
    const array<i64> offset(offsets);
    const array<u32> out(static_cast<i64>(offsets.size()) - 1, 77u);
    lanewise::segmented_reduce(exec, in.const_view(), offset.const_view(), out.view(),
                               lanewise::plus{}, 0u, {.errors = errors.view()});
    CHECK(out.guards_intact());
    const u64 bad = errors.get().bad_items;
    CHECK(bad == number_of_bad(offsets, n));
    return bad;
  };
  CHECK(run({0, 5, 5, n}) == 0);
  CHECK(run({0, 5, 4, n}) == 1);
  CHECK(run({-3, 5, n}) == 1);
  CHECK(run({0, 5, n + 1}) == 1);
  CHECK(run({0, 5, n + 1, n + 1, n + 7, n}) == 4);
  constexpr i64 lowest = std::numeric_limits<i64>::min(), highest = std::numeric_limits<i64>::max();
  CHECK(run({lowest, 5, highest}) == 2);
  CHECK(run({highest, lowest, highest, lowest}) == 3);
  for (int i = 0; i < 20; ++i) {
    std::vector<i64> few;
    for (int k = 0; k < 40; ++k)
      few.push_back(static_cast<i64>(random_number(random, 60'000)) - 20'000);
    CHECK(run(few) > 0);
    std::sort(few.begin(), few.end());
    CHECK(run(few) > 0);
  }
  std::vector<i64> wild;
  for (int i = 0; i < 2 * steps<u32>; ++i)
    wild.push_back(static_cast<i64>(random_number(random, 1'000'000)) - 500'000);
  CHECK(run(wild) > 0);
  std::reverse(wild.begin(), wild.end());
  CHECK(run(wild) > 0);
}

TEST_CASE("Every bad segment is counted once, however far out of order ends are", "[segments]") {
  auto random = make_random(18);
  const int rounds = is_emulated && !full() ? 150 : 500;
  for (int round = 0; round < rounds; ++round) {
    // Few segments that teams take whole or in pieces, or many short ones.
    const bool many = round % 10 == 0;
    const auto n = static_cast<i64>(1 + random_number(random, many ? 3 * steps<u32> : 6000));
    const auto segments = 1 + random_number(random, many ? steps<u32> / 2 : 40);
    std::vector<i64> offsets(segments + 1);
    for (i64& o : offsets) o = static_cast<i64>(random_number(random, static_cast<u64>(n)));
    if (round % 7 != 0) std::sort(offsets.begin(), offsets.end());
    const auto spoilt = random_number(random, 5);
    for (u64 k = 0; k < spoilt; ++k) {
      const auto at = random_number(random, segments);
      offsets[at] = static_cast<i64>(random()) >> random_number(random, 60);
    }
#if defined(LANEWISE_TEST_SPACE_EMULATED)
    const space exec(seed() + static_cast<u32>(round), 1 + round % 4, mode());
#else
    const space exec;
#endif
    const array<u32> in(n, 1u);
    const array<i64> offset(offsets);
    const array<u32> out(static_cast<i64>(segments), 77u);
    const cell<lanewise::status> errors;
    lanewise::segmented_reduce(exec, in.const_view(), offset.const_view(), out.view(),
                               lanewise::plus{}, 0u, {.errors = errors.view()});
    CAPTURE(round, n, segments);
    CHECK(errors.get().bad_items == number_of_bad(offsets, n));
    CHECK(out.guards_intact());
  }
}

TEST_CASE("The workspace of segmented_reduce is known beforehand", "[segments]") {
  const auto exec = make_space();
  lanewise::workspace work;
  const auto offsets = offsets_of(random_lengths(steps<affine>, 8));
  const array<affine> in(random_items<affine>(offsets.back()));
  const array<i64> offset(offsets);
  const auto segments = static_cast<i64>(offsets.size()) - 1;
  const array<affine> out(segments, affine{});
  lanewise::reserve(exec, work,
                    lanewise::segmented_reduce_workspace<affine, space>(offsets.back(), segments));
  const std::size_t reserved = work.bytes();
  for (int i = 0; i < 2; ++i)
    lanewise::segmented_reduce(exec, in.const_view(), offset.const_view(), out.view(), then{},
                               affine{3, 4, 1}, {.work = &work});
  CHECK(difference(out.items(), reduced(in.original(), offsets, then{}, affine{3, 4, 1})) == "");
  CHECK(work.bytes() == reserved);
  lanewise::check(exec, work);
}

TEST_CASE("segmented_reduce refuses what it cannot do", "[segments]") {
  const auto exec = make_space();
  const array<u32> in(12, 1u), out(2, 77u);
  const array<i64> offsets(4, i64{0});
  CHECK_THAT(
      refusal([&] {
        lanewise::segmented_reduce(exec, in.const_view(), offsets.const_view(), out.view(),
                                   lanewise::plus{}, 0u);
      }),
      ContainsSubstring("lanewise::segmented_reduce: out has 2 places, offsets has 4 items"));
  CHECK_THAT(refusal([&] {
               lanewise::segmented_reduce(exec, in.const_view(), offsets.const_view(), in.view(),
                                          lanewise::plus{}, 0u);
             }),
             ContainsSubstring("lanewise::segmented_reduce: in [") && ContainsSubstring("overlap"));
  CHECK(out.unchanged());
}
